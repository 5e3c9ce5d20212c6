//! The pyramid as people draw it: the low band as it is, details stretched around grey, bands outlined.

use super::convert::Stored;
use super::sidecar::Settings;
use crate::failure::{Outcome, usage};
use crate::media::image::{Format, Picture};
use crate::media::{Colour, Data, Origin};
use crate::output::write_file;
use lifting::{Layout, Plan, Scheme, Subband};
use lifting_dsl::{Step, Weight};
use std::path::Path;

/// Bands smaller than this along an axis are not outlined: the lines would hide them.
const SMALLEST_OUTLINED: usize = 6;
/// Brightness of the outlines.
const OUTLINE: u8 = 255;
/// This share of a band's details is shown without saturation.
const STRETCHED: f64 = 0.99;

/// What the low band of `levels` levels multiplies a constant signal by, gain shift included, along `axes` axes.
pub fn low_gain(scheme: &Scheme, gain_shift: u32, levels: u32, axes: usize) -> f64 {
    let mut phases = [1.0, 1.0];
    for step in scheme.steps() {
        let target = step.target().parity() as usize;
        let read: f64 = phases[1 - target];
        let real = |w: &Weight, n: usize| w.to_f64() * n as f64;
        let delta = match step {
            // Rounding aside: it does not grow with the signal.
            Step::Integer(s) => {
                let sum: f64 = s.taps.iter().map(|t| f64::from(t.weight)).sum();
                sum / f64::from(s.shift).exp2() * if s.op == lifting_dsl::Op::Sub { -read } else { read }
            }
            Step::Real(s) => {
                let sum: f64 = s.groups.iter().map(|g| real(&g.weight, g.offsets.len())).sum();
                sum * if s.op == lifting_dsl::Op::Sub { -read } else { read }
            }
            Step::Scale(s) => phases[target] * (s.factor.to_f64() - 1.0),
        };
        phases[target] += delta;
    }
    // A low band that loses the mean is no picture; it is shown unscaled.
    let line = if phases[0].abs() > 1e-6 { phases[0] } else { 1.0 };
    (line.powi(axes as i32) * f64::from(gain_shift).exp2()).powi(levels as i32)
}

/// Draws coefficients into a file; what is to be said of it.
pub fn write<T: Stored>(
    path: &Path,
    format: Format,
    settings: &Settings,
    plan: &Plan<T>,
    coefficients: &[T],
    origin: &Origin,
) -> Outcome<Vec<String>> {
    let (picture, notes) = draw(settings, plan, coefficients, origin)?;
    let bytes = picture.encode(format).map_err(|f| f.at(path.display()))?;
    write_file(path, |w| w.write_all(&bytes))?;
    Ok(notes)
}

/// Draws coefficients with two transformed axes; batch axes are shown at index 0, but the channels of a picture in colour.
/// Also what is to be said of it.
fn draw<T: Stored>(
    settings: &Settings,
    plan: &Plan<T>,
    coefficients: &[T],
    origin: &Origin,
) -> Outcome<(Picture, Vec<String>)> {
    let shape = plan.coefficient_shape();
    let recipe = plan.recipe();
    let axes: Vec<usize> = (0..shape.len()).filter(|&a| recipe.levels[a] > 0).collect();
    let &[vertical, horizontal] = axes.as_slice() else {
        return Err(usage(format!("a picture shows two transformed axes, and here are {}", axes.len()))
            .help("choose them with --axes, or leave --picture away"));
    };
    let (height, width) = (shape[vertical], shape[horizontal]);
    // Alpha is not drawn.
    let channels = match origin.colour() {
        Some(Colour::Rgb | Colour::Rgba) if horizontal + 1 < shape.len() => 3,
        _ => 1,
    };
    let colours = origin.colour().filter(|&c| c != Colour::Grey && !axes.contains(&(shape.len() - 1))).is_some();
    let batch = shape.len() - usize::from(colours);
    let mut notes: Vec<String> = (0..batch)
        .filter(|a| !axes.contains(a) && shape[*a] > 1)
        .map(|a| format!("of the {} along axis {a} only the first one is drawn", shape[a]))
        .collect();
    let mut pixels = vec![0u8; height * width * channels];
    let mut undefined = 0;

    // Bands are drawn apart, wherever they are in the array.
    let places = Settings { layout: Layout::Mallat, ..settings.clone() };
    let places = places.plan::<T>(Some(1)).map_err(usage)?;
    for (band, place) in plan.subbands().zip(places.subbands()) {
        let detail = band.high.contains(&true);
        let value = |y: usize, x: usize, channel: usize| {
            let at = band.start as isize
                + y as isize * band.strides[vertical]
                + x as isize * band.strides[horizontal]
                + if channels > 1 { channel as isize } else { 0 };
            coefficients[at as usize].to_f64()
        };
        let (rows, columns) = (band.shape[vertical], band.shape[horizontal]);
        let all = || (0..rows).flat_map(move |y| (0..columns).flat_map(move |x| (0..channels).map(move |c| (y, x, c))));
        let shade: Box<dyn Fn(f64) -> f64> = if detail {
            let mut sizes: Vec<f64> = all().map(|(y, x, c)| value(y, x, c).abs()).filter(|v| v.is_finite()).collect();
            let largest = percentile(&mut sizes, STRETCHED);
            let scale = if largest > 0.0 { 127.0 / largest } else { 0.0 };
            Box::new(move |v| 128.0 + v * scale)
        } else {
            low_shade(settings, recipe.gain_shift, plan.depth(), origin, all().map(|(y, x, c)| value(y, x, c)))
        };
        for (y, x, c) in all() {
            let (row, column) = (place.offset[vertical] + y, place.offset[horizontal] + x);
            let value = value(y, x, c);
            undefined += usize::from(!value.is_finite());
            pixels[(row * width + column) * channels + c] = shade(value).round().clamp(0.0, 255.0) as u8;
        }
    }
    for band in places.subbands() {
        outline(&band, vertical, horizontal, |y, x| {
            pixels[(y * width + x) * channels..][..channels].fill(OUTLINE);
        });
    }
    let colour = if channels == 3 { Colour::Rgb } else { Colour::Grey };
    let shape = if channels == 3 { vec![height, width, 3] } else { vec![height, width] };
    if undefined > 0 {
        notes.push(format!("{undefined} coefficients are NaN, drawn black, or infinite, drawn black or white"));
    }
    Ok((Picture { shape, colour, data: Data::from(pixels), maxval: None, stack: false }, notes))
}

/// How the low band is shown: as the picture that it is, at its nominal range; an array's from its least value to its largest.
fn low_shade(
    settings: &Settings,
    gain_shift: u32,
    depth: u32,
    origin: &Origin,
    values: impl Iterator<Item = f64>,
) -> Box<dyn Fn(f64) -> f64> {
    if let Some(white) = origin.white() {
        let levels = settings.levels.iter().filter(|&&l| l > 0);
        // Axes may have levels of their own: each contributes its gain.
        let gain: f64 = levels.map(|&l| low_gain(&settings.scheme, 0, l, 1)).product();
        let gain = gain * f64::from(gain_shift * depth).exp2();
        return Box::new(move |v| v / gain * 255.0 / white);
    }
    let (low, high) = values
        .filter(|v| v.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let scale = if high > low { 255.0 / (high - low) } else { 0.0 };
    let (low, flat) = if low.is_finite() { (low, if high > low { 0.0 } else { 128.0 }) } else { (0.0, 128.0) };
    Box::new(move |v| flat + (v - low) * scale)
}

/// The value below which `share` of them are; 0 if there are none.
fn percentile(values: &mut [f64], share: f64) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let index = (((values.len() - 1) as f64) * share).ceil() as usize;
    let (_, &mut value, rest) = values.select_nth_unstable_by(index, f64::total_cmp);
    // A sparse band has mostly zeros: then its largest value counts.
    if value > 0.0 { value } else { rest.iter().copied().fold(0.0, f64::max) }
}

/// The lines between a level's four bands: at the first row and column of the high ones.
fn outline(band: &Subband, vertical: usize, horizontal: usize, mut dot: impl FnMut(usize, usize)) {
    let (rows, columns) = (band.shape[vertical], band.shape[horizontal]);
    if rows < SMALLEST_OUTLINED || columns < SMALLEST_OUTLINED {
        return;
    }
    let (top, left) = (band.offset[vertical], band.offset[horizontal]);
    if band.high[vertical] {
        (0..columns).for_each(|x| dot(top, left + x));
    }
    if band.high[horizontal] {
        (0..rows).for_each(|y| dot(top + y, left));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lifting::catalogue::find;

    #[test]
    fn gains_of_low_bands() {
        let gain = |name: &str, shift, levels| low_gain(&find(name).unwrap(), shift, levels, 2);
        assert_eq!(gain("dd137", 0, 3), 1.0);
        assert_eq!(gain("dd137", 1, 3), 8.0);
        assert!((gain("cdf97", 0, 2) - 1.0).abs() < 1e-6);
        assert!((gain("haar", 0, 1) - 2.0).abs() < 1e-6);
    }

    #[test]
    fn constants_stay_constant_at_every_resolution() {
        for entry in lifting::catalogue::entries() {
            let scheme = lifting::catalogue::scheme(entry).unwrap();
            if scheme.domain() != lifting::Domain::Integer {
                continue;
            }
            let plan = Plan::builder(&scheme).shape(&[64, 64]).levels(3).sample::<i32>();
            let plan = plan.build(&lifting::Device::cpu_with_threads(1)).unwrap();
            let mut coefficients = vec![0; plan.coefficient_len()];
            plan.forward(&vec![1000; 64 * 64][..], &mut coefficients).unwrap();
            for level in 1..=3 {
                let mut samples = vec![0; (64 >> level) * (64 >> level)];
                plan.inverse_to(level, &coefficients, &mut samples).unwrap();
                let gain = low_gain(&scheme, 0, level, 2);
                let worst = samples.iter().map(|&x| (f64::from(x) / gain - 1000.0).abs()).fold(0.0, f64::max);
                assert!(worst <= 1.5 * f64::from(level), "{} at level {level}: off by {worst}", scheme.name());
            }
        }
    }

    #[test]
    fn percentiles() {
        assert_eq!(percentile(&mut [], 0.9), 0.0);
        assert_eq!(percentile(&mut [1.0, 5.0, 3.0], 0.5), 3.0);
        assert_eq!(percentile(&mut [0.0, 0.0, 0.0, 0.0, 4.0], 0.5), 4.0);
    }
}
