//! Bounded chunks: `cdf97`, a uniform quantiser, and corrections of all samples outside of the bound.
//!
//! S. Li, P. Lindstrom and J. Clyne, *Lossy Scientific Data Compression With SPERR* (IPDPS 2023), correct outliers in
//! the same way. The encoder runs the decoder's arithmetic, which has the same bits everywhere. A sample that no
//! correction brings within the bound is kept bit for bit.

use super::bytes::Bytes;
use super::element::Element;
use super::integers::{self, Band};
use super::special;
use super::transform::Transform;
use crate::budget;
use crate::error::CodecError;
use crate::quantise::Step;
use lifting::{Sample, catalogue};
use lifting_dsl::analysis::level_gains;

/// The wavelet.
const WAVELET: &str = "cdf97";

/// Largest index of a coefficient, and largest correction: both are exact in `f64`.
const LARGEST: f64 = (1u64 << 52) as f64;

/// Settings of bounded chunks; all but the bound are in streams.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Largest absolute error.
    pub error: f64,
    /// Step of corrections.
    pub correction: f64,
    /// Relative steps of the low and the high band of each level of an axis.
    pub weights: Vec<[Step; 2]>,
}

/// Choices of the encoder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Quantiser step of a band of norm 1, in half steps of corrections.
    pub step: f64,
    /// Rounding offset of the quantiser: 0.5 rounds to the nearest, less widens the interval around 0.
    pub rounding: f64,
    /// Whether lossless coding may take less space.
    pub exact: bool,
}

/// Coefficients of a real transform.
pub trait Lane: Sample + Default {
    /// Nearest number.
    fn near(value: f64) -> Self;
    /// The value.
    fn value(self) -> f64;
}

impl Lane for f32 {
    fn near(value: f64) -> f32 {
        value as f32
    }
    fn value(self) -> f64 {
        self.into()
    }
}

impl Lane for f64 {
    fn near(value: f64) -> f64 {
        value
    }
    fn value(self) -> f64 {
        self
    }
}

impl Bound {
    /// Settings for an absolute bound; `None` if only lossless coding keeps it.
    pub fn new<T: Element>(error: f64, levels: u32) -> Result<Option<Bound>, CodecError> {
        let correction = 2.0 * T::limits(error)[1];
        if T::limits(error)[0] < f64::MIN_POSITIVE {
            return Ok(None);
        }
        let scheme = catalogue::find(WAVELET).map_err(|e| CodecError::Wavelet { why: e.to_string() })?;
        let gains = level_gains(&scheme, levels);
        let weights = gains.iter().map(|gains| [&gains.low, &gains.high].map(|g| Step::below(1.0 / g.synthesis_l2)));
        Ok(Some(Bound { error, correction, weights: weights.collect() }))
    }

    /// Steps of bands, from that of a band of norm 1.
    fn steps(&self, base: f64, kinds: &[[(u32, bool); 3]]) -> Vec<f64> {
        let weight = |(level, high): (u32, bool)| match level {
            0 => 1.0,
            level => self.weights[level as usize - 1][usize::from(high)].value(),
        };
        kinds.iter().map(|axes| axes.iter().fold(base, |step, &axis| step * weight(axis))).collect()
    }
}

/// Whether `f32` is precise enough for these samples: its rounding errors should be far below the bound.
pub fn is_single<T: Element>(samples: &[T], error: f64) -> bool {
    let most =
        samples.iter().filter(|sample| sample.is_number()).map(|sample| sample.value().abs()).fold(0.0, f64::max);
    // Smaller steps and larger samples could leave the range of `f32`.
    most < 1e30 && error > 1e-30 && error > most / f64::from(1 << 18)
}

/// Writes a chunk, without the byte of its kind; `None` if the arithmetic cannot represent it.
pub fn write<T: Element, L: Lane>(
    samples: &[T],
    shape: [usize; 3],
    bound: &Bound,
    choice: Choice,
) -> Result<Option<Vec<u8>>, CodecError> {
    let mut kept: Vec<bool> = samples.iter().map(|sample| !sample.is_number()).collect();
    let transform = Transform::<L>::new(WAVELET, shape)?;
    let between = |a: L, b: L, share: f64| L::near(a.value() * (1.0 - share) + b.value() * share);
    let values = special::filled(samples, shape[2], &kept, |s| L::near(s.value()), between, L::default())?;
    let mut coefficients = transform.forward(values)?;
    let base = choice.step * bound.correction / 2.0;
    let steps = bound.steps(base, &transform.kinds);
    let finest = steps.iter().copied().fold(f64::INFINITY, f64::min);
    let fits = |c: &L| c.value().abs() < finest * LARGEST;
    if !(finest >= f64::MIN_POSITIVE && base.is_finite() && coefficients.iter().all(fits)) {
        return Ok(None);
    }
    let index = |coefficient: L, step: f64| {
        let size = (coefficient.value().abs() / step + choice.rounding) as i64;
        if coefficient.value() < 0.0 { -size } else { size }
    };
    let mut indices = Vec::new();
    integers::write(&transform.bands, |band, at| index(coefficients[at], steps[band]), &mut indices);
    for (band, &step) in transform.bands.iter().zip(&steps) {
        band.each(|at| coefficients[at] = near::<L>(index(coefficients[at], step), step));
    }
    let near = transform.inverse(coefficients)?;

    let limit = T::limits(bound.error)[0];
    let mut corrections: Vec<i64> = budget::zeros(samples.len(), "corrections")?;
    let mut corrected = false;
    for (at, (&sample, near)) in samples.iter().zip(&near).enumerate() {
        let is_good = |correction: i64| {
            let restored: T = restored(near.value(), correction, bound.correction);
            restored.is_number() && restored.distance(sample) <= limit
        };
        if kept[at] || is_good(0) {
            continue;
        }
        let wanted = ((sample.value() - near.value()) / bound.correction).round();
        if wanted.abs() < LARGEST && is_good(wanted as i64) {
            (corrections[at], corrected) = (wanted as i64, true);
        } else {
            kept[at] = true;
        }
    }
    let mut out = Vec::new();
    special::write(samples, shape, &kept, &mut out);
    out.extend(base.to_le_bytes());
    out.extend(indices);
    out.push(corrected.into());
    if corrected {
        integers::write(&[Band::whole(shape)], |_, at| corrections[at], &mut out);
    }
    Ok(Some(out))
}

/// Coefficient of an index.
fn near<L: Lane>(index: i64, step: f64) -> L {
    if index == 0 { L::default() } else { L::near(index as f64 * step) }
}

/// Sample of the inverse transform, after its correction.
fn restored<T: Element>(near: f64, correction: i64, step: f64) -> T {
    T::near(if correction == 0 { near } else { near + correction as f64 * step })
}

/// Reads a chunk.
pub fn read<T: Element, L: Lane>(
    shape: [usize; 3],
    bound: &Bound,
    bytes: &mut Bytes<'_>,
) -> Result<Vec<T>, CodecError> {
    let kept = special::read::<T>(shape, bytes)?;
    let base = bytes.positive()?;
    let transform = Transform::<L>::new(WAVELET, shape)?;
    let steps = bound.steps(base, &transform.kinds);
    let mut coefficients: Vec<L> = budget::zeros(shape.iter().product(), "coefficients")?;
    integers::read(&transform.bands, bytes, |band, at, index| coefficients[at] = near(index, steps[band]))?;
    let near = transform.inverse(coefficients)?;
    let mut samples: Vec<T> = budget::room(near.len(), "samples")?;
    samples.extend(near.iter().map(|near| restored::<T>(near.value(), 0, bound.correction)));
    if bytes.byte()? != 0 {
        integers::read(&[Band::whole(shape)], bytes, |_, at, correction| {
            samples[at] = restored(near[at].value(), correction, bound.correction);
        })?;
    }
    kept.into_iter().for_each(|(at, sample)| samples[at] = sample);
    Ok(samples)
}
