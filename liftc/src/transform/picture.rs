//! Pictures of coefficients as files: [`pyramid`] draws them.

use super::convert::Stored;
use super::sidecar::Settings;
use crate::failure::{Outcome, usage};
use crate::media::image::{Format, Picture};
use crate::media::metadata::Metadata;
use crate::media::{Colour, Data, Origin};
use crate::output::{Files, output_name};
use crate::pyramid::{self, View, low_gain};
use lifting::{Layout, Plan};
use std::path::Path;

/// Draws coefficients into a file, and returns notes.
#[allow(clippy::too_many_arguments)]
pub fn write<T: Stored>(
    files: &mut Files,
    path: &Path,
    format: Format,
    settings: &Settings,
    plan: &Plan<T>,
    coefficients: &[T],
    origin: &Origin,
) -> Outcome<Vec<String>> {
    let (picture, notes) = draw(settings, plan, coefficients, origin)?;
    let bytes = picture.encode(format).map_err(|f| f.at(output_name(path)))?;
    files.add(path, |w| w.write_all(&bytes))?;
    Ok(notes)
}

/// Draws coefficients along two transformed axes. Other axes are shown at index 0, except the channels of a colour
/// picture. Also returns notes.
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
        return Err(usage(format!("a picture shows two transformed axes, but {} are transformed", axes.len()))
            .help("choose them with --axes, or leave out --picture"));
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
        .map(|a| format!("only the first of the {} along axis {a} is drawn", shape[a]))
        .collect();
    // Bands are drawn separately, wherever they are in the array.
    let places = Settings { layout: Layout::Mallat, ..settings.clone() };
    let places = places.plan::<T>(&lifting::Device::cpu_with_threads(1)).map_err(usage)?;
    let gain = |level| gain(settings, recipe.gain_shift, level);
    let view = View { axes: [vertical, horizontal], channels, white: origin.white(), gain: &gain };
    let (pixels, undefined) = pyramid::pixels(plan, &places, coefficients, &view);
    let colour = if channels == 3 { Colour::Rgb } else { Colour::Grey };
    let shape = if channels == 3 { vec![height, width, 3] } else { vec![height, width] };
    if undefined > 0 {
        notes.push(format!("{undefined} coefficients are NaN, drawn black, or infinite, drawn black or white"));
    }
    Ok((
        Picture {
            shape,
            colour,
            data: Data::from(pixels),
            maxval: None,
            stack: false,
            premultiplied: false,
            metadata: Metadata::default(),
        },
        notes,
    ))
}

/// Gain of the low band of `level` levels for a constant picture. Axes may differ in their levels.
pub fn gain(settings: &Settings, gain_shift: u32, level: u32) -> f64 {
    let of_axis = |(axis, &levels): (usize, &u32)| {
        (0..levels.min(level)).map(|level| low_gain(settings.wavelet(axis, level), 0, 1, 1)).product::<f64>()
    };
    settings.levels.iter().enumerate().map(of_axis).product::<f64>() * f64::from(gain_shift * level).exp2()
}
