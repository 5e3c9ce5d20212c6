//! Samples kept apart from the transform, bit for bit: NaN, infinities, −0, and those that the bound cannot be met for.

use super::bytes::{Bytes, corrupted};
use super::element::Element;
use super::integers::{self, Band};
use crate::budget;
use crate::error::CodecError;

/// Most different patterns that samples name by a byte.
const MAX_PALETTE: usize = 256;

/// Writes the samples that `kept` marks.
pub fn write<T: Element>(samples: &[T], shape: [usize; 3], kept: &[bool], out: &mut Vec<u8>) {
    let few = || samples.iter().zip(kept).filter(|(_, kept)| **kept).map(|(sample, _)| sample.bits());
    if few().next().is_none() {
        out.push(0);
        return;
    }
    let mut palette: Vec<u64> = Vec::new();
    for bits in few() {
        if let Err(at) = palette.binary_search(&bits) {
            if palette.len() == MAX_PALETTE {
                palette.clear();
                break;
            }
            palette.insert(at, bits);
        }
    }
    let put = |bits: u64, out: &mut Vec<u8>| out.extend(&bits.to_le_bytes()[..T::KIND.bytes()]);
    out.push(1);
    out.extend((palette.len() as u16).to_le_bytes());
    palette.iter().for_each(|&bits| put(bits, out));
    // A change of the mask from each sample to the next: areas cost their borders.
    let before = |at: usize| at > 0 && kept[at - 1];
    integers::write(&[Band::whole(shape)], |_, at| i64::from(kept[at]) - i64::from(before(at)), out);
    match palette.len() {
        0 => few().for_each(|bits| put(bits, out)),
        1 => {}
        _ => out.extend(few().filter_map(|bits| palette.binary_search(&bits).ok()).map(|at| at as u8)),
    }
}

/// Samples kept apart: their indices and bits, in order.
pub fn read<T: Element>(shape: [usize; 3], bytes: &mut Bytes<'_>) -> Result<Vec<(usize, T)>, CodecError> {
    match bytes.byte()? {
        0 => return Ok(Vec::new()),
        1 => {}
        other => return Err(corrupted(format!("an unknown kind of kept samples {other}"))),
    }
    let length = T::KIND.bytes();
    let one = |bytes: &[u8]| {
        let mut all = [0; 8];
        all[..length].copy_from_slice(bytes);
        T::of_bits(u64::from_le_bytes(all))
    };
    let colours = usize::from(u16::from_le_bytes(bytes.array()?));
    if colours > MAX_PALETTE {
        return Err(corrupted(format!("{colours} patterns of kept samples, and at most {MAX_PALETTE} are allowed")));
    }
    let palette: Vec<T> = bytes.take(colours * length)?.chunks_exact(length).map(one).collect();
    let mut changes: Vec<i8> = budget::zeros(shape.iter().product(), "a mask")?;
    integers::read(&[Band::whole(shape)], bytes, |_, at, change| changes[at] = change.signum() as i8)?;
    let mut inside = 0;
    let kept = changes.iter().map(|change| {
        inside = (inside + change).clamp(0, 1);
        inside == 1
    });
    let at: Vec<usize> = kept.enumerate().filter(|(_, kept)| *kept).map(|(at, _)| at).collect();
    let values: Vec<T> = match colours {
        0 => bytes.take(at.len() * length)?.chunks_exact(length).map(one).collect(),
        1 => vec![palette[0]; at.len()],
        _ => {
            let named = bytes.take(at.len())?.iter().map(|&i| palette.get(usize::from(i)).copied());
            named.collect::<Option<_>>().ok_or_else(|| corrupted("a kept sample of no pattern"))?
        }
    };
    Ok(at.into_iter().zip(values).collect())
}

/// Values of the numbers among samples; those between two numbers of a row are on the line from one to the other.
pub fn filled<T: Element, V: Copy>(
    samples: &[T],
    width: usize,
    kept: &[bool],
    value: impl Fn(T) -> V,
    between: impl Fn(V, V, f64) -> V,
    zero: V,
) -> Result<Vec<V>, CodecError> {
    let mut values = budget::room(samples.len(), "samples")?;
    let mut last = samples.iter().zip(kept).find(|(_, kept)| !**kept).map_or(zero, |(sample, _)| value(*sample));
    for (samples, kept) in samples.chunks(width).zip(kept.chunks(width)) {
        let mut x = 0;
        while x < samples.len() {
            if !kept[x] {
                last = value(samples[x]);
                values.push(last);
                x += 1;
                continue;
            }
            let end = kept[x..].iter().position(|kept| !kept).map(|count| x + count);
            let next = end.map_or(last, |end| value(samples[end]));
            let from = if x == 0 { next } else { last };
            let count = end.unwrap_or(samples.len()) - x;
            values.extend((1..=count).map(|i| between(from, next, i as f64 / (count + 1) as f64)));
            x += count;
        }
    }
    Ok(values)
}
