//! Row ends in registers, for instruction sets that permute lanes of two registers in one instruction.
//!
//! rewrite: "build an array of the samples around the end, then load from it" → permute lanes of the first and the last
//! register of the row. The plan computes the lane numbers. Loading data just written in other pieces would wait for
//! all earlier stores, and these go to memory.

use crate::vector::{Storage, Vector};

/// Lanes of registers that cross the ends of a row (or band). The samples beyond the ends are lanes of the first and
/// the last register.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    length: usize,
    /// Lane numbers, as wide as lanes: for samples from `-ahead` to the end of the first register, and from the last
    /// register on.
    numbers: Vec<u8>,
    ahead: usize,
}

impl Edges {
    /// Edges of a row (or band) of `length` samples, in registers of `lanes` lanes of `bytes` bytes, for reads up to
    /// `around` samples beyond the ends. `index` gives the position in the row of a sample beyond, or `None` if it is
    /// never used. `None` if a position lies in neither the first nor the last register.
    pub fn new(
        lanes: usize,
        bytes: usize,
        length: usize,
        around: usize,
        index: impl Fn(isize) -> Option<usize>,
    ) -> Option<Edges> {
        let last = length.checked_sub(lanes)?;
        let mut numbers = Vec::new();
        for t in (-(around as isize)..lanes as isize).chain(last as isize..(length + around) as isize) {
            let index = if (0..length as isize).contains(&t) { t as usize } else { index(t).unwrap_or(0) };
            let number = match index {
                first if first < lanes => first,
                index if index >= last => lanes + index - last,
                _ => return None,
            };
            numbers.extend_from_slice(&(number as u64).to_le_bytes()[..bytes]);
        }
        Some(Edges { length, numbers, ahead: around })
    }

    /// The register that begins with sample `s` of a row.
    #[inline(always)]
    pub(crate) unsafe fn load<V: Vector, S: Storage<V>>(&self, row: *const S, s: isize) -> V {
        let last = (self.length - V::LANES) as isize;
        // SAFETY: by the caller's promise.
        unsafe {
            if (0..=last).contains(&s) {
                return S::load(row.offset(s));
            }
            let from = if s < 0 { s } else { s - last + V::LANES as isize };
            let numbers = self.numbers.as_ptr().cast::<V::Lane>().offset(from + self.ahead as isize);
            V::pick(S::load(row), S::load(row.offset(last)), numbers)
        }
    }
}
