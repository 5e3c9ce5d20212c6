//! Pictures, as the codec takes and returns them.

use crate::budget;
use crate::error::CodecError;
use crate::format::Format;
use lifting::threads;
use std::ops::Range;

/// Picture of integers of up to 16 bits, row by row, with the components of a pixel adjacent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Rows, at least 1.
    pub height: usize,
    /// Columns, at least 1.
    pub width: usize,
    /// Components of a pixel, 1 to 65535.
    pub components: usize,
    /// Bits of a sample, 1 to 16.
    pub bits: u32,
    /// Whether samples range over −2^(bits−1) to 2^(bits−1) − 1, rather than 0 to 2^bits − 1.
    pub signed: bool,
    /// Samples, height × width × components of them.
    pub samples: Vec<i32>,
}

impl Image {
    /// Least and largest possible sample.
    pub fn range(&self) -> (i32, i32) {
        range(self.bits, self.signed)
    }

    /// Offset subtracted from samples to centre them on 0.
    pub fn shift(&self) -> i32 {
        shift(self.bits, self.signed)
    }

    /// Format: everything but the samples.
    pub fn format(&self) -> Format {
        let Image { height, width, components, bits, signed, .. } = *self;
        Format { height, width, components, bits, signed }
    }

    /// Checks the fields and every sample.
    pub(crate) fn check(&self) -> Result<(), CodecError> {
        let Format { height, width, components, bits, .. } = self.format();
        self.format().check()?;
        let expected = height.checked_mul(width).and_then(|n| n.checked_mul(components));
        if expected != Some(self.samples.len()) {
            return Err(CodecError::Samples { height, width, components, found: self.samples.len() });
        }
        let (low, high) = self.range();
        let is_wrong = |s: &i32| !(low..=high).contains(s);
        // A fast check of all samples; the position is searched only after a failure.
        let pieces: Vec<&[i32]> = self.samples.chunks(1 << 20).collect();
        let wrong = threads::map(&pieces, |piece| piece.iter().fold(false, |any, s| any | is_wrong(s)));
        match wrong.contains(&true) {
            false => Ok(()),
            true => {
                let at = self.samples.iter().position(is_wrong).unwrap_or(0);
                Err(CodecError::Sample { value: self.samples[at], at, bits, low, high })
            }
        }
    }

    /// The given rows and columns of the picture.
    ///
    /// # Errors
    /// [`CodecError::Memory`].
    pub(crate) fn part(&self, [rows, columns]: [Range<usize>; 2]) -> Result<Image, CodecError> {
        let Image { components, bits, signed, .. } = *self;
        let row = |y: usize| {
            let at = (y * self.width + columns.start) * components;
            &self.samples[at..at + columns.len() * components]
        };
        let mut samples = budget::room(rows.len() * columns.len() * components, "samples")?;
        rows.clone().for_each(|y| samples.extend_from_slice(row(y)));
        Ok(Image { height: rows.len(), width: columns.len(), components, bits, signed, samples })
    }

    /// Peak signal-to-noise ratio to another picture of the same format, in dB; infinite if they are equal. The peak is
    /// 2^bits − 1.
    ///
    /// # Panics
    /// If the pictures differ in their number of samples.
    pub fn psnr(&self, other: &Image) -> f64 {
        assert_eq!(self.samples.len(), other.samples.len());
        let error: f64 = self.samples.iter().zip(&other.samples).map(|(&a, &b)| f64::from(a - b).powi(2)).sum();
        let peak = f64::from(self.bits).exp2() - 1.0;
        10.0 * (peak * peak * self.samples.len() as f64 / error).log10()
    }
}

impl Format {
    /// Checks the fields.
    pub(crate) fn check(&self) -> Result<(), CodecError> {
        let Format { height, width, components, bits, .. } = *self;
        if !(1..=16).contains(&bits) {
            return Err(CodecError::Bits { bits });
        }
        if !(1..=usize::from(u16::MAX)).contains(&components) {
            return Err(CodecError::Components { components });
        }
        let side = 1..=i32::MAX as usize;
        if !side.contains(&height) || !side.contains(&width) {
            return Err(CodecError::Sides { height, width });
        }
        Ok(())
    }
}

/// Least and largest sample.
pub(crate) fn range(bits: u32, signed: bool) -> (i32, i32) {
    if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// Offset subtracted from samples to centre them on 0.
pub(crate) fn shift(bits: u32, signed: bool) -> i32 {
    if signed { 0 } else { 1 << (bits - 1) }
}
