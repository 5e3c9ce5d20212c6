//! Pictures of coefficients: low band unchanged, details stretched around grey, bands outlined.
//!
//! Each detail band has its own scale, and grey is linear in the coefficients. The scale shows nearly all of a band
//! without saturation ([`STRETCHED`]), keeps pure noise near grey ([`NOISE`]), and does not magnify the rounding of a
//! smooth picture ([`FINEST`]).

use lifting::{Plan, Sample, Scheme, Subband};
use lifting_dsl::{Step, Weight};

/// Least side of an outlined band; lines would hide smaller ones.
const SMALLEST_OUTLINED: usize = 6;
/// Brightness of the outlines.
const OUTLINE: u8 = 255;
/// Share of a band's details shown without saturation.
const STRETCHED: f64 = 0.995;
/// Half the range of grey, in standard deviations of a band's noise.
const NOISE: f64 = 12.0;
/// Median magnitude of normal noise, in standard deviations (Donoho and Johnstone 1994, section 4.2).
const MEDIAN: f64 = 0.6745;
/// Largest noise, as a share of the low band's range. Anything larger and widespread is texture, and is shown.
const LOUDEST: f64 = 1.0 / 2.0;
/// Smallest scale of details, as a share of the low band's range.
const FINEST: f64 = 1.0 / 64.0;

/// Part of the coefficients that is drawn, and its meaning.
pub struct View<'a> {
    /// Vertical and horizontal axis; other axes are shown at index 0.
    pub axes: [usize; 2],
    /// 1, or 3 for colours along the last axis.
    pub channels: usize,
    /// White of a picture, as a sample; `None` for arrays.
    pub white: Option<f64>,
    /// Gain of the low band of a number of levels for a constant picture.
    pub gain: &'a dyn Fn(u32) -> f64,
}

/// Gain of the low band of `levels` levels for a constant signal along `axes` axes, gain shift included.
pub fn low_gain(scheme: &Scheme, gain_shift: u32, levels: u32, axes: usize) -> f64 {
    let mut phases = [1.0, 1.0];
    for step in scheme.steps() {
        let target = step.target().parity() as usize;
        let read: f64 = phases[1 - target];
        let real = |w: &Weight, n: usize| w.to_f64() * n as f64;
        let delta = match step {
            // Rounding is left out, as it does not grow with the signal.
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
    // A low band that cancels the mean is not a picture, and is shown unscaled.
    let line = if phases[0].abs() > 1e-6 { phases[0] } else { 1.0 };
    (line.powi(axes as i32) * f64::from(gain_shift).exp2()).powi(levels as i32)
}

/// Pixels row by row, with their channels, and the number of coefficients that are NaN or infinite. The plan `places`
/// has Mallat's layout, where bands are drawn.
pub fn pixels<T: Sample>(plan: &Plan<T>, places: &Plan<T>, coefficients: &[T], view: &View) -> (Vec<u8>, usize) {
    let &View { axes: [vertical, horizontal], channels, .. } = view;
    let (height, width) = (plan.coefficient_shape()[vertical], plan.coefficient_shape()[horizontal]);
    let mut pixels = vec![0u8; height * width * channels];
    let mut undefined = 0;

    let bands = |plan: &Plan<T>| plan.tiles().flat_map(|tile| tile.subbands).collect::<Vec<_>>();
    let (bands, places) = (bands(plan), bands(places));
    // A band has one scale in all tiles.
    let of_tiles = |like: &Subband| {
        let (level, high) = (like.level, like.high.clone());
        let like = bands.iter().zip(&places).filter(move |(band, _)| band.level == level && band.high == high);
        like.flat_map(|(band, place)| {
            let (row, column) = (place.offset[vertical], place.offset[horizontal]);
            let values = values(band, [vertical, horizontal], channels, coefficients);
            values.map(move |([y, x, c], v)| ([row + y, column + x, c], v))
        })
    };
    let low = plan.subbands().find(|band| !band.high.contains(&true)).expect("every plan has a low band");
    let range = low_range(view, plan.depth(), of_tiles(&low));
    for band in plan.subbands() {
        let all = || of_tiles(&band);
        let shade: Box<dyn Fn(f64) -> f64> = if band.high.contains(&true) {
            let mut sizes: Vec<f64> = all().map(|(_, v)| v.abs()).filter(|v| v.is_finite()).collect();
            let range = (range.1 - range.0) * (view.gain)(band.level) / (view.gain)(plan.depth());
            let scale = scale(&mut sizes, range.abs());
            Box::new(move |v| 128.0 + 127.0 * v / scale)
        } else {
            // Negative if the low band is inverted.
            let size = range.1 - range.0;
            Box::new(move |v| if size != 0.0 { 255.0 * (v - range.0) / size } else { 128.0 })
        };
        for ([y, x, c], v) in all() {
            undefined += usize::from(!v.is_finite());
            pixels[(y * width + x) * channels + c] = shade(v).round().clamp(0.0, 255.0) as u8;
        }
    }
    for band in &places {
        outline(band, vertical, horizontal, |y, x| {
            pixels[(y * width + x) * channels..][..channels].fill(OUTLINE);
        });
    }
    (pixels, undefined)
}

/// Samples of a band with row, column and channel; axes that are not drawn are fixed at index 0.
fn values<T: Sample>(
    band: &Subband,
    [vertical, horizontal]: [usize; 2],
    channels: usize,
    coefficients: &[T],
) -> impl Iterator<Item = ([usize; 3], f64)> {
    let (rows, columns) = (band.shape[vertical], band.shape[horizontal]);
    let (start, down, right) = (band.start as isize, band.strides[vertical], band.strides[horizontal]);
    let places = (0..rows).flat_map(move |y| (0..columns).flat_map(move |x| (0..channels).map(move |c| [y, x, c])));
    places.map(move |[y, x, c]| {
        let at = start + y as isize * down + x as isize * right + c as isize;
        ([y, x, c], coefficients[at as usize].to_f64())
    })
}

/// Values shown as black and as white in the low band: a picture's nominal range, or an array's least and largest
/// value.
fn low_range(view: &View, depth: u32, values: impl Iterator<Item = ([usize; 3], f64)>) -> (f64, f64) {
    if let Some(white) = view.white {
        return (0.0, white * (view.gain)(depth));
    }
    let values = values.map(|(_, v)| v).filter(|v| v.is_finite());
    let range = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if range.0 <= range.1 { range } else { (0.0, 0.0) }
}

/// Magnitude of a detail that is shown as white or black, from all magnitudes in a band. `range` is that of the picture
/// in the low band of the same level.
fn scale(sizes: &mut [f64], range: f64) -> f64 {
    let noise = (NOISE / MEDIAN * percentile(sizes, 0.5)).min(LOUDEST * range);
    let scale = percentile(sizes, STRETCHED).max(noise).max(FINEST * range);
    // An array with a flat low band may still have a few details.
    let largest = || sizes.iter().copied().fold(0.0, f64::max);
    if scale > 0.0 { scale } else { Some(largest()).filter(|s| *s > 0.0).unwrap_or(1.0) }
}

/// Value below which a share of the values lies; 0 if there are none.
fn percentile(values: &mut [f64], share: f64) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let index = (((values.len() - 1) as f64) * share).ceil() as usize;
    *values.select_nth_unstable_by(index, f64::total_cmp).1
}

/// Draws the lines between a level's four bands, at the first row and column of the high ones.
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
    }

    /// Scales of bands of an 8-bit picture.
    #[test]
    fn noise_stays_near_grey_and_edges_show() {
        let scale = |sizes: &[f64]| scale(&mut sizes.to_vec(), 255.0);
        // Magnitudes of normal noise with a standard deviation of 3 (Box and Muller), and a few stars.
        let normal = |i: i32| {
            let (u, turn) = ((f64::from(i) + 0.5) / 1000.0, f64::from(i) * 0.618_033_988);
            (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
        };
        let mut sky: Vec<f64> = (0..1000).map(|i| 3.0 * normal(i).abs()).collect();
        sky.extend([150.0; 3]);
        assert!((30.0..63.0).contains(&scale(&sky)), "{}", scale(&sky));
        // Edges on even ground: nearly all of them are within the range.
        let mut edges = vec![0.5; 900];
        edges.extend((0..100).map(f64::from));
        assert!((90.0..100.0).contains(&scale(&edges)), "{}", scale(&edges));
        // A widespread texture, and the rounding of a smooth picture.
        assert_eq!(scale(&[120.0; 64]), 127.5);
        assert_eq!(scale(&[200.0; 64]), 200.0);
        assert!((4.0..16.0).contains(&scale(&[0.25; 64])));
        assert_eq!(scale(&[0.0; 64]), 255.0 / 64.0);
    }

    #[test]
    fn details_of_flat_arrays_are_shown() {
        assert_eq!(scale(&mut [0.0, 0.0, 7.0, 0.0].repeat(100), 0.0), 7.0);
        let mut one = vec![0.0; 999];
        one.push(4.0);
        assert_eq!(scale(&mut one, 0.0), 4.0);
        assert_eq!(scale(&mut [0.0; 9], 0.0), 1.0);
        assert_eq!(scale(&mut [], 0.0), 1.0);
    }
}
