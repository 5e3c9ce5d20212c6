//! Lossless chunks: an integer for each sample, and their transform by `legall53`.

use super::bytes::{Bytes, Packer, Unpacker, corrupted, low_mask};
use super::element::Element;
use super::transform::Transform;
use super::{integers, special};
use crate::budget;
use crate::error::CodecError;
use lifting::Sample;

/// The wavelet.
const WAVELET: &str = "legall53";

/// Integers of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Map {
    /// The value of an integer, or the signed magnitude of a float's pattern, without so many lowest bits, which are 0.
    Whole { shift: u8 },
    /// A float in units of 2^exponent. Integers of less than `precision` bits are completed to it by further bits of
    /// the float, which follow uncoded.
    Grid { exponent: i16, precision: u8 },
}

/// Coefficients of an integer transform.
trait Lane: Sample + Default + Into<i64> {
    /// The lowest bits.
    fn wrap(value: i64) -> Self;
}

impl Lane for i32 {
    fn wrap(value: i64) -> i32 {
        value as i32
    }
}

impl Lane for i64 {
    fn wrap(value: i64) -> i64 {
        value
    }
}

/// 2^exponent, for exponents of `f64`.
fn power(exponent: i16) -> f64 {
    let exponent = i32::from(exponent);
    // Subnormal powers are products of two others, exactly.
    let normal = |exponent: i32| f64::from_bits(((1023 + exponent) as u64) << 52);
    if exponent < -1000 { normal(-1000) * normal(exponent + 1000) } else { normal(exponent) }
}

/// Exponents that streams may have.
const EXPONENTS: std::ops::RangeInclusive<i16> = -1074..=1023;

/// Most bits of a float's integer.
const MAX_PRECISION: u8 = 53;

/// Exponent of the least number of a float type.
fn least<T: Element>() -> i16 {
    if T::KIND.bytes() == 4 { -149 } else { -1074 }
}

/// Number as an integer, in units of a power of two with that exponent.
fn parts(value: f64) -> (i16, u64) {
    let bits = value.to_bits();
    let (exponent, mantissa) = ((bits >> 52 & 0x7ff) as i16, bits & ((1 << 52) - 1));
    if exponent == 0 { (-1074, mantissa) } else { (exponent - 1075, mantissa | 1 << 52) }
}

/// Length of a number in bits.
fn length(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

impl Map {
    /// Maps that suit these samples: all that `kept` does not mark are numbers.
    fn all<T: Element>(samples: &[T], kept: &[bool]) -> Vec<Map> {
        if !T::KIND.is_real() {
            return vec![Map::Whole { shift: 0 }];
        }
        let numbers = || samples.iter().zip(kept).filter(|(_, kept)| !**kept).map(|(sample, _)| *sample);
        let bits = numbers().fold(0, |bits, sample| bits | sample.whole().unsigned_abs());
        let shift = if bits == 0 { 0 } else { bits.trailing_zeros() as u8 };
        // Exponents of the least unit that all have in common, and of the highest bit; bits of the longest.
        let (mut common, mut highest, mut precision) = (i16::MAX, i16::MIN, 0);
        for (exponent, integer) in numbers().map(|sample| parts(sample.value())).filter(|(_, integer)| *integer != 0) {
            common = common.min(exponent + integer.trailing_zeros() as i16);
            highest = highest.max(exponent + length(integer) as i16 - 1);
            precision = precision.max(length(integer) - integer.trailing_zeros());
        }
        if precision == 0 {
            return vec![Map::Whole { shift }];
        }
        let last = highest + 1 - precision as i16;
        let precision = if common < last { precision as u8 } else { 0 };
        vec![Map::Whole { shift }, Map::Grid { exponent: common.max(last), precision }]
    }

    /// Integer of a number, and its bits below the grid.
    fn of<T: Element>(self, sample: T) -> (i64, u64) {
        match self {
            Map::Whole { shift } => {
                let whole = sample.whole();
                let magnitude = whole.unsigned_abs() >> shift;
                (if whole < 0 { (magnitude as i64).wrapping_neg() } else { magnitude as i64 }, 0)
            }
            Map::Grid { exponent, .. } => {
                let (own, integer) = parts(sample.value());
                // No number is finer than its own unit, and no grid finer than that of the largest number.
                let places = (i32::from(exponent) - i32::from(own)).max(0) as u32;
                let magnitude = integer.checked_shr(places).unwrap_or(0);
                let whole = if sample.value() < 0.0 { -(magnitude as i64) } else { magnitude as i64 };
                let bits = self.below::<T>(whole);
                (whole, integer.checked_shr(places.saturating_sub(bits)).unwrap_or(0) & low_mask(bits))
            }
        }
    }

    fn sample<T: Element>(self, value: i64, low: u64) -> T {
        match self {
            Map::Whole { shift } => T::of_whole(value.wrapping_shl(shift.into())),
            Map::Grid { exponent, .. } => {
                let bits = self.below::<T>(value);
                let size = (value.unsigned_abs() << bits | low) as f64 * power(exponent - bits as i16);
                T::near(if value < 0 { -size } else { size })
            }
        }
    }

    /// Number of bits below the grid, which follow uncoded.
    fn below<T: Element>(self, value: i64) -> u32 {
        match self {
            Map::Grid { exponent, precision } if value != 0 => {
                let finest = u32::from(exponent.abs_diff(least::<T>().min(exponent)));
                u32::from(precision).saturating_sub(length(value.unsigned_abs())).min(finest)
            }
            _ => 0,
        }
    }
}

/// Chunk as integers.
struct Mapped {
    map: Map,
    kept: Vec<bool>,
    wholes: Vec<i64>,
    /// Bits below the grid, packed.
    lowest: Vec<u8>,
}

impl Mapped {
    fn new<T: Element>(samples: &[T], width: usize, map: Map, mut kept: Vec<bool>) -> Result<Mapped, CodecError> {
        let mut bits = Packer::default();
        for (sample, kept) in samples.iter().zip(&mut kept).filter(|(_, kept)| !**kept) {
            let (value, low) = map.of(*sample);
            if map.sample::<T>(value, low).bits() != sample.bits() {
                *kept = true;
            } else {
                bits.put(low, map.below::<T>(value));
            }
        }
        let middle =
            |a: i64, b: i64, share: f64| a.wrapping_add(((i128::from(b) - i128::from(a)) as f64 * share) as i64);
        let wholes = special::filled(samples, width, &kept, |sample| map.of(sample).0, middle, 0)?;
        Ok(Mapped { map, kept, wholes, lowest: bits.finish() })
    }

    fn is_wide(&self) -> bool {
        self.wholes.iter().any(|&whole| i32::try_from(whole).is_err())
    }

    /// Bytes that the chunk takes, approximately.
    fn estimate<T: Element>(&self, shape: [usize; 3]) -> Result<u64, CodecError> {
        let bits = |all: &mut dyn Iterator<Item = i64>| {
            all.map(|c| u64::from(u64::BITS - c.unsigned_abs().leading_zeros())).sum::<u64>()
        };
        let bits = match self.is_wide() {
            false => bits(&mut coefficients::<i32>(&self.wholes, shape)?.1.into_iter().map(i64::from)),
            true => bits(&mut coefficients::<i64>(&self.wholes, shape)?.1.into_iter()),
        };
        let kept = self.kept.iter().filter(|kept| **kept).count() * (T::KIND.bytes() + 1);
        Ok(bits / 8 + (self.lowest.len() + kept) as u64)
    }
}

/// Writes a chunk, without the byte of its kind.
pub fn write<T: Element>(samples: &[T], shape: [usize; 3]) -> Result<Vec<u8>, CodecError> {
    let kept: Vec<bool> = samples.iter().map(|sample| !sample.is_number()).collect();
    let maps = Map::all(samples, &kept);
    let mut mapped = Mapped::new(samples, shape[2], maps[0], kept.clone())?;
    if let [_, other] = maps[..] {
        let other = Mapped::new(samples, shape[2], other, kept)?;
        if other.estimate::<T>(shape)? < mapped.estimate::<T>(shape)? {
            mapped = other;
        }
    }
    let mut out = Vec::new();
    special::write(samples, shape, &mapped.kept, &mut out);
    out.push(mapped.is_wide().into());
    match mapped.map {
        Map::Whole { shift } => out.extend([0, shift]),
        Map::Grid { exponent, precision } => {
            out.extend([1, precision]);
            out.extend(exponent.to_le_bytes());
        }
    }
    match mapped.is_wide() {
        false => put(coefficients::<i32>(&mapped.wholes, shape)?, &mut out),
        true => put(coefficients::<i64>(&mapped.wholes, shape)?, &mut out),
    }
    out.extend(mapped.lowest);
    Ok(out)
}

/// Transform, and its coefficients of integers.
fn coefficients<L: Lane>(wholes: &[i64], shape: [usize; 3]) -> Result<(Transform<L>, Vec<L>), CodecError> {
    let transform = Transform::<L>::new(WAVELET, shape)?;
    let mut values = budget::room(wholes.len(), "samples")?;
    values.extend(wholes.iter().map(|&whole| L::wrap(whole)));
    let coefficients = transform.forward(values)?;
    Ok((transform, coefficients))
}

fn put<L: Lane>((transform, coefficients): (Transform<L>, Vec<L>), out: &mut Vec<u8>) {
    integers::write(&transform.bands, |_, at| coefficients[at].into(), out);
}

/// Reads a chunk.
pub fn read<T: Element>(shape: [usize; 3], bytes: &mut Bytes<'_>) -> Result<Vec<T>, CodecError> {
    let kept = special::read::<T>(shape, bytes)?;
    let is_wide = match bytes.byte()? {
        wide @ (0 | 1) => wide == 1,
        other => return Err(corrupted(format!("an unknown width of integers {other}"))),
    };
    let map = match bytes.byte()? {
        0 => Map::Whole { shift: bytes.byte()? },
        1 => Map::Grid { precision: bytes.byte()?, exponent: i16::from_le_bytes(bytes.array()?) },
        other => return Err(corrupted(format!("an unknown map of samples to integers {other}"))),
    };
    match map {
        Map::Whole { shift } if shift >= 64 => return Err(corrupted(format!("a shift by {shift}"))),
        Map::Grid { exponent, precision }
            if !EXPONENTS.contains(&exponent) || precision > MAX_PRECISION || !T::KIND.is_real() =>
        {
            return Err(corrupted(format!("a grid of integers, or of exponent {exponent} and precision {precision}")));
        }
        _ => {}
    }
    match is_wide {
        false => samples::<T, i32>(shape, map, &kept, bytes),
        true => samples::<T, i64>(shape, map, &kept, bytes),
    }
}

fn samples<T: Element, L: Lane>(
    shape: [usize; 3],
    map: Map,
    kept: &[(usize, T)],
    bytes: &mut Bytes<'_>,
) -> Result<Vec<T>, CodecError> {
    let transform = Transform::<L>::new(WAVELET, shape)?;
    let mut values: Vec<L> = budget::zeros(shape.iter().product(), "coefficients")?;
    integers::read(&transform.bands, bytes, |_, at, value| values[at] = L::wrap(value))?;
    let values = transform.inverse(values)?;
    let mut samples = budget::room(values.len(), "samples")?;
    let mut bits = Unpacker::new(bytes.0);
    let mut kept = kept.iter().peekable();
    for (at, value) in values.into_iter().enumerate() {
        if let Some((_, sample)) = kept.next_if(|(place, _)| *place == at) {
            samples.push(*sample);
            continue;
        }
        let value = value.into();
        let low = bits.get(map.below::<T>(value)).ok_or_else(|| corrupted("a part that ends early"))?;
        samples.push(map.sample::<T>(value, low));
    }
    bytes.0 = bits.rest();
    Ok(samples)
}
