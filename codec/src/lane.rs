//! Number types of transforms: `i32` for integer wavelets, `f32` for real ones.

use crate::bands::{Band, Tiles};
use crate::budget;
use crate::colour::{self, Colour};
use crate::error::CodecError;
use crate::header::Header;
use crate::image::{Image, range, shift};
use lifting::{Device, Plan, Sample, Scheme};
use lifting_dsl::float::Float;
use lifting_dsl::polyphase::constant_response;
use std::borrow::Cow;

/// Number type of a transform: `i32` or `f32`.
pub trait Lane: Sample + Default + Copy + Send + Sync {
    /// Converts a sample.
    fn of(sample: i32) -> Self;
    /// Value as `f64`.
    fn value(self) -> f64;
    /// Value rounded to `f32`.
    fn single(self) -> f32;
    /// Nearest integer, halves to even.
    fn integer(self) -> i32;
    /// Nearest integers of planes; borrowed if they are integers already.
    fn integers(planes: &[Vec<Self>]) -> Cow<'_, [Vec<i32>]>;
    /// Converts an integer, exactly if it has up to 24 bits or `Self` is `i32`.
    fn exact(integer: i32) -> Self;
    /// Nearest number.
    fn near(value: f64) -> Self;
    /// Colour transform of a pixel.
    fn forward(colours: [Self; 3]) -> [Self; 3];
    /// Inverse colour transform.
    fn inverse(components: [Self; 3]) -> [Self; 3];
}

impl Lane for i32 {
    fn of(sample: i32) -> i32 {
        sample
    }
    fn value(self) -> f64 {
        self.into()
    }
    fn single(self) -> f32 {
        self as f32
    }
    fn integer(self) -> i32 {
        self
    }
    fn integers(planes: &[Vec<i32>]) -> Cow<'_, [Vec<i32>]> {
        planes.into()
    }
    fn exact(integer: i32) -> i32 {
        integer
    }
    fn near(value: f64) -> i32 {
        value.round_ties_even() as i32
    }
    fn forward(colours: [i32; 3]) -> [i32; 3] {
        colour::reversible(colours)
    }
    fn inverse(components: [i32; 3]) -> [i32; 3] {
        colour::reversible_inverse(components)
    }
}

impl Lane for f32 {
    fn of(sample: i32) -> f32 {
        // Exact: samples have at most 16 bits.
        sample as f32
    }
    fn value(self) -> f64 {
        self.into()
    }
    fn single(self) -> f32 {
        self
    }
    fn integer(self) -> i32 {
        self.round_ties_even() as i32
    }
    fn integers(planes: &[Vec<f32>]) -> Cow<'_, [Vec<i32>]> {
        planes.iter().map(|plane| plane.iter().map(|c| c.integer()).collect()).collect()
    }
    fn exact(integer: i32) -> f32 {
        integer as f32
    }
    fn near(value: f64) -> f32 {
        value as f32
    }
    fn forward(colours: [f32; 3]) -> [f32; 3] {
        colour::irreversible(colours)
    }
    fn inverse(components: [f32; 3]) -> [f32; 3] {
        colour::irreversible_inverse(components)
    }
}

/// Transform of pictures of one size.
pub struct Transform<T> {
    plan: Plan<T>,
    /// Bands of a component, for each tile.
    pub tiles: Tiles,
}

impl<T: Lane> Transform<T> {
    /// Creates the transform of pictures of a shape, divided into tiles, on a device.
    pub fn new(
        scheme: &Scheme,
        shape: [usize; 2],
        tile: [usize; 2],
        levels: u32,
        device: &Device,
    ) -> Result<Transform<T>, CodecError> {
        let builder = Plan::builder(scheme).shape(&shape).levels(levels).sample::<T>();
        let builder = if tile == shape { builder } else { builder.tile(&tile) };
        let plan = builder.build(device)?;
        Ok(Transform { tiles: Tiles::new(&plan, tile), plan })
    }

    /// The plan, and the bands of each tile.
    pub fn into_parts(self) -> (Plan<T>, Vec<Vec<Band>>) {
        let tiles = self.tiles.all();
        (self.plan, tiles)
    }

    /// Rows and columns at a level.
    pub fn level_shape(&self, level: u32) -> Result<[usize; 2], CodecError> {
        let shape = self.plan.level_shape(level)?;
        Ok([shape[0], shape[1]])
    }

    /// Coefficients of a picture's components.
    pub fn analyse(&self, image: &Image, colour: Colour) -> Result<Vec<Vec<T>>, CodecError> {
        let shift = image.shift();
        let plane = |c: usize| -> Result<Vec<T>, CodecError> {
            let mut plane = budget::room(image.height * image.width, "samples")?;
            match image.components {
                1 => plane.extend(image.samples.iter().map(|&s| T::of(s - shift))),
                n => plane.extend(image.samples.chunks_exact(n).map(|pixel| T::of(pixel[c] - shift))),
            }
            Ok(plane)
        };
        let mut planes: Vec<Vec<T>> = (0..image.components).map(plane).collect::<Result<_, _>>()?;
        if let ([a, b, c, ..], true) = (&mut planes[..], colour != Colour::None) {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                [*a, *b, *c] = T::forward([*a, *b, *c]);
            }
        }
        // Not in place: lifting into another buffer is faster.
        let coefficients = |plane: Vec<T>| {
            let mut coefficients = budget::zeros(plane.len(), "coefficients")?;
            self.plan.forward(&plane[..], &mut coefficients[..])?;
            Ok(coefficients)
        };
        planes.into_iter().map(coefficients).collect()
    }

    /// Picture at a level, from the coefficients of its components.
    pub fn synthesise(&self, header: &Header, planes: &[Vec<T>], level: u32) -> Result<Image, CodecError> {
        let [height, width] = self.level_shape(level)?;
        // Gain of the low band for a constant picture.
        let gain = if level == 0 { 1.0 } else { low_gain(&header.scheme).powi(2 * level as i32) };
        let mut low = Vec::with_capacity(planes.len());
        for plane in planes {
            let mut samples = budget::zeros(height * width, "samples")?;
            self.plan.inverse_to(level, &plane[..], &mut samples[..])?;
            if gain != 1.0 {
                samples.iter_mut().for_each(|s| *s = T::near(s.value() / gain));
            }
            low.push(samples);
        }
        if let ([a, b, c, ..], true) = (&mut low[..], header.colour != Colour::None) {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                [*a, *b, *c] = T::inverse([*a, *b, *c]);
            }
        }
        let (least, largest) = range(header.bits, header.signed);
        let shift = shift(header.bits, header.signed);
        // Coefficients may be anything: values out of range saturate and do not wrap.
        let sample = |s: T| s.integer().saturating_add(shift).clamp(least, largest);
        let count = low.len();
        let samples = match <[Vec<T>; 1]>::try_from(low) {
            // In place.
            Ok([plane]) => plane.into_iter().map(sample).collect(),
            Err(low) => {
                let mut samples = budget::zeros(height * width * count, "samples")?;
                for (c, plane) in low.iter().enumerate() {
                    let pixels = samples.chunks_exact_mut(count);
                    pixels.zip(plane).for_each(|(pixel, from)| pixel[c] = sample(*from));
                }
                samples
            }
        };
        let Header { components, bits, signed, .. } = *header;
        Ok(Image { height, width, components, bits, signed, samples })
    }
}

/// Gain of one level's low band for a constant signal along an axis; 1 if the low band cancels it.
fn low_gain(scheme: &Scheme) -> f64 {
    let [gain, _] = constant_response::<Float>(scheme.steps()).map(|sum| sum.to_f64());
    if gain.abs() > 1e-6 && gain.is_finite() { gain } else { 1.0 }
}
