//! Samples that occur: pictures with gaps in their histogram are coded by ranks, which have fewer bits.

use crate::budget;
use crate::error::CodecError;
use crate::image::{Image, range};
use crate::number;

/// Samples of a picture for each byte of the list that it must be worth.
const WORTH: usize = 16;

/// Samples that occur in a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// Bits of a sample.
    pub bits: u32,
    /// Whether samples are signed.
    pub signed: bool,
    /// The samples, rising.
    pub list: Vec<i32>,
}

/// Bits of numbers below `count`, at least 1.
fn bits_of(count: usize) -> u32 {
    count.saturating_sub(1).max(1).ilog2() + 1
}

impl Values {
    /// Values of a picture, and the picture of their ranks; `None` if ranks would not have fewer bits.
    ///
    /// # Errors
    /// [`CodecError::Memory`].
    pub(crate) fn of(image: &Image) -> Result<Option<(Values, Image)>, CodecError> {
        let (low, high) = image.range();
        let mut ranks = vec![None; (high - low) as usize + 1];
        let mut found = 0;
        for some in image.samples.chunks(1 << 12) {
            for &sample in some {
                let slot = &mut ranks[(sample - low) as usize];
                found += usize::from(slot.is_none());
                *slot = Some(0);
            }
            // More than half of all values need as many bits as all.
            if found > ranks.len() / 2 {
                return Ok(None);
            }
        }
        let (mut list, mut rank) = (Vec::new(), 0);
        for (value, slot) in (low..).zip(&mut ranks).filter(|(_, slot)| slot.is_some()) {
            list.push(value);
            *slot = Some(rank);
            rank += 1;
        }
        let (Some(first), Some(last)) = (list.first(), list.last()) else { return Ok(None) };
        let (bits, all) = (bits_of(list.len()), bits_of((last - first) as usize + 1));
        // A picture of one value needs no packets.
        if list.len() > 1 && (bits >= all || list.len() > image.samples.len() / WORTH) {
            return Ok(None);
        }
        let mut samples = budget::room(image.samples.len(), "ranks of samples")?;
        samples.extend(image.samples.iter().map(|&sample| ranks[(sample - low) as usize].unwrap_or(0)));
        let values = Values { bits: image.bits, signed: image.signed, list };
        let Image { height, width, components, .. } = *image;
        Ok(Some((values, Image { height, width, components, bits, signed: false, samples })))
    }

    /// The sample, if only one occurs: its stream has no packets.
    pub fn only(&self) -> Option<i32> {
        if let [only] = self.list[..] { Some(only) } else { None }
    }

    /// Picture of samples, from one of ranks.
    pub(crate) fn restore(&self, mut ranks: Image) -> Image {
        let last = self.list.len() - 1;
        ranks.samples.iter_mut().for_each(|sample| *sample = self.list[(*sample).max(0).min(last as i32) as usize]);
        Image { bits: self.bits, signed: self.signed, ..ranks }
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.bits as u8 | if self.signed { 128 } else { 0 });
        number::put(self.list.len() as u64, bytes);
        let mut next = range(self.bits, self.signed).0;
        for &value in &self.list {
            number::put((value - next) as u64, bytes);
            next = value + 1;
        }
    }

    /// Reads the field at the front of `bytes`; `None` if it is invalid.
    pub(crate) fn read(bytes: &mut &[u8]) -> Option<Values> {
        let (&format, rest) = bytes.split_first()?;
        *bytes = rest;
        let (bits, signed) = (u32::from(format & 127), format & 128 != 0);
        if !(1..=16).contains(&bits) {
            return None;
        }
        let (low, high) = range(bits, signed);
        let count = number::take(bytes)?;
        // Each value takes a byte or more.
        let mut list = Vec::with_capacity(usize::try_from(count).ok().filter(|&n| n > 0 && n <= bytes.len())?);
        let mut next = i64::from(low);
        for _ in 0..count {
            let value = next.checked_add(i64::try_from(number::take(bytes)?).ok()?)?;
            list.push(i32::try_from(value).ok().filter(|&value| value <= high)?);
            next = value + 1;
        }
        Some(Values { bits, signed, list })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(samples: Vec<i32>, bits: u32, signed: bool) -> Image {
        Image { height: 1, width: samples.len(), components: 1, bits, signed, samples }
    }

    #[test]
    fn gaps_save_bits() {
        let mask = image([0, 65535].repeat(50), 16, false);
        let (values, ranks) = Values::of(&mask).unwrap().unwrap();
        assert_eq!((ranks.bits, &ranks.samples[..3]), (1, &[0, 1, 0][..]));
        let mut bytes = Vec::new();
        values.write(&mut bytes);
        assert_eq!(bytes, [16, 2, 0, 0xfe, 0xff, 3]);
        let mut rest = &bytes[..];
        assert_eq!(Values::read(&mut rest), Some(values.clone()));
        assert!(rest.is_empty());
        assert_eq!(values.restore(ranks), mask);

        let signed = image((0..800).map(|i| (i % 16) * 200 - 3000).collect(), 13, true);
        let (values, ranks) = Values::of(&signed).unwrap().unwrap();
        assert_eq!(ranks.bits, 4);
        assert_eq!(values.restore(ranks), signed);

        let (values, ranks) = Values::of(&image(vec![-5; 40], 8, true)).unwrap().unwrap();
        assert_eq!((values.only(), ranks.samples), (Some(-5), vec![0; 40]));
    }

    #[test]
    fn full_histograms_are_left() {
        let all = |step: i32, count: i32| image((0..1600).map(|i| i % count * step).collect(), 16, false);
        assert_eq!(Values::of(&all(1, 100)).unwrap(), None);
        assert!(Values::of(&all(2, 100)).unwrap().is_some());
        assert_eq!(Values::of(&all(2, 101)).unwrap(), None, "the list is long for the picture");
    }

    #[test]
    fn invalid_lists_are_refused() {
        for bad in
            [&[][..], &[17, 1, 0], &[0, 1, 0], &[8], &[8, 0], &[8, 2, 0], &[8, 2, 200, 1, 100], &[136, 1, 255, 2]]
        {
            assert_eq!(Values::read(&mut &bad[..]), None, "{bad:?}");
        }
    }
}
