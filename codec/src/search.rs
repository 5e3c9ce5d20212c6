//! Search for the quantiser step of a target, by trial encodings.

use crate::codec::Codec;
use crate::error::CodecError;
use crate::image::Image;
use crate::quantise::{Quantiser, Step};
use crate::weights::step_of_quality;

/// Outcome of a trial with one step.
pub struct Trial<R> {
    /// PSNR in dB.
    pub psnr: f64,
    /// Whether the quantisers are the finest possible.
    pub finest: bool,
    pub result: R,
}

/// Whether these are the finest possible quantisers.
pub fn is_finest<'a>(mut quantisers: impl Iterator<Item = &'a Quantiser>) -> bool {
    quantisers.all(|q| q.step == Step(0) || *q == Quantiser::NONE)
}

/// Bytes of a picture at `bits` bits per pixel.
pub fn bytes_of(image: &Image, bits: f64) -> u64 {
    (bits * image.height as f64 * image.width as f64 / 8.0) as u64
}

/// Coarsest quantisation that reaches the wanted PSNR, to a hundredth of a decibel.
///
/// # Errors
/// If no quantisation reaches it, or a trial fails.
pub fn of_psnr<R>(
    codec: &Codec,
    image: &Image,
    wanted: f64,
    mut trial: impl FnMut(f64) -> Result<Trial<R>, CodecError>,
) -> Result<R, CodecError> {
    /// Tolerance in dB.
    const NEAR: f64 = 0.01;
    /// Steps this near are one where the picture is exact: there is no error to compare.
    const NEAR_STEPS: f64 = 1.25;
    let peak = f64::from(image.bits).exp2() - 1.0;
    // Indices of a finer step can pass the largest one, and rounded samples are exact far above it.
    let least = (f64::from(image.bits) - 22.0).exp2();
    let mut step = (0.8 * peak * 12f64.sqrt() * 10f64.powf(-wanted / 20.0)).max(least);
    let constant = is_constant(image);
    let mut good: Option<(f64, f64, R)> = None;
    let mut bad: Option<(f64, f64)> = None;
    let mut reached = 0.0;
    for _ in 0..24 {
        let Trial { psnr, finest, result } = trial(step)?;
        reached = f64::max(reached, psnr);
        if psnr >= wanted {
            good = Some((step, psnr, result));
            // The few coefficients of a constant picture take no room whatever the step.
            if psnr - wanted <= NEAR || constant && psnr.is_infinite() {
                break;
            }
        } else if finest || step <= least {
            break;
        } else {
            bad = Some((step, psnr));
        }
        step = match (&good, bad) {
            (Some((fine, high, _)), Some((coarse, low))) => {
                if coarse / fine < if high.is_finite() { 1.0005 } else { NEAR_STEPS } {
                    break;
                }
                // Linear interpolation towards the middle of the tolerance.
                let share = if high.is_finite() { (high - wanted - NEAR / 2.0) / (high - low) } else { 0.5 };
                fine * (coarse / fine).powf(share.clamp(0.05, 0.95))
            }
            (Some((fine, high, _)), None) => fine * (((high - wanted) / 5.0).min(3.0) + 0.02).exp2(),
            (None, _) => (step * (-((wanted - psnr) / 6.0).min(3.0) - 0.02).exp2()).max(least),
        };
    }
    let wavelet = || codec.scheme.name().to_owned();
    good.map(|(_, _, result)| result).ok_or_else(|| CodecError::TooGood { wanted, reached, wavelet: wavelet() })
}

/// Whether all pixels are equal.
fn is_constant(image: &Image) -> bool {
    let mut pixels = image.samples.chunks_exact(image.components);
    pixels.next().is_none_or(|first| pixels.all(|pixel| pixel == first))
}

/// Best stream of at most `bytes` bytes, approximately.
///
/// # Errors
/// If the smallest stream is larger, or a trial fails.
pub fn of_bytes(
    image: &Image,
    bytes: u64,
    mut trial: impl FnMut(f64) -> Result<Vec<u8>, CodecError>,
) -> Result<Vec<u8>, CodecError> {
    /// Step of bands of norm 1 whose errors vanish when samples are rounded to integers.
    const EXACT: f64 = 0.125;
    let pixels = image.samples.len() as f64;
    let mut step = step_of_quality(100.0, image.bits) * (5.0 - 8.0 * bytes as f64 / pixels).clamp(-2.0, 12.0).exp2();
    step = step.max(EXACT);
    let mut fits: Option<(f64, Vec<u8>)> = None;
    let mut beyond: Option<(f64, usize)> = None;
    let mut least = u64::MAX;
    for _ in 0..20 {
        let stream = trial(step)?;
        least = least.min(stream.len() as u64);
        let length = stream.len() as f64;
        if stream.len() as u64 <= bytes {
            let near = length >= 0.998 * bytes as f64;
            fits = Some((step, stream));
            if near {
                break;
            }
        } else {
            beyond = Some((step, stream.len()));
        }
        step = match (&fits, beyond) {
            (Some((coarse, small)), Some((fine, large))) => {
                if coarse / fine < 1.0005 {
                    break;
                }
                let (small, large) = ((small.len() as f64).ln(), (large as f64).ln());
                let share = (large - (0.9995 * bytes as f64).ln()) / (large - small);
                fine * (coarse / fine).powf(share.clamp(0.02, 0.98))
            }
            // Rounded samples are exact from here on: finer steps cost bytes and gain nothing.
            (Some((coarse, _)), None) if *coarse <= EXACT => break,
            (Some((coarse, small)), None) => (coarse * (small.len() as f64 / bytes as f64).clamp(0.1, 0.9)).max(EXACT),
            (None, _) if step > 1e9 => break,
            (None, _) => step * (length / bytes.max(1) as f64).powf(1.2).clamp(1.1, 16.0),
        };
    }
    fits.map(|(_, stream)| stream).ok_or(CodecError::TooSmall { bytes, least })
}
