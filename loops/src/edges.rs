//! The ends of rows in registers, for sets that pick lanes of two registers in one instruction.
//!
//! rewrite: "an array of the samples beyond the end and those beside it, which is then read" → a register that is
//! picked from the first register of the row and the last one. The numbers of lanes were found when the plan was made.
//! What is read soon after it was written in other pieces would wait for all stores before it, and these go to memory.

use crate::vector::{Storage, Vector};

/// Lanes of registers that are not all in a row (or band). Samples before the first one and after the last one are put
/// together from the first register and the last one.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    length: usize,
    /// Numbers of lanes, as wide as lanes: for samples from `-ahead` on to the end of the first register, and from the
    /// last register on.
    numbers: Vec<u8>,
    ahead: usize,
}

impl Edges {
    /// For a row (or band) of `length` samples, of which registers have `lanes` lanes of `bytes` bytes, and where samples
    /// so far beyond the ends are read. `index` says where these are in the row, if anyone looks at them. `None` if that
    /// is not in the registers.
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
