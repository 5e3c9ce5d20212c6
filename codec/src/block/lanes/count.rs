//! Symbols, counted.

use super::super::{CONTEXTS, DEPTHS};
use super::{Block, Counts, Digits, Engine, Exhausted, Kind, Set, depth};

struct Counting {
    counts: Counts,
    depth: usize,
}

impl Engine for Counting {
    #[inline(always)]
    fn plane(&mut self, plane: u32) {
        self.depth = depth(self.counts.planes, plane);
    }

    #[inline(always)]
    fn code<const COUNT: usize>(
        &mut self,
        kind: Kind<COUNT>,
        contexts: &Digits,
        lanes: Set,
        known: Set,
    ) -> Result<Set, Exhausted> {
        let counts = &mut self.counts.symbols[self.depth][kind.first..kind.first + COUNT];
        let mut left = lanes;
        for (i, counts) in counts.iter_mut().enumerate().rev() {
            // The larger numbers are gone: what is left of a power of two has its digit.
            let digits = (0..4).filter(|digit| i >> digit & 1 == 1);
            let here = digits.fold(left, |here, digit| here & contexts[digit]);
            left &= !here;
            counts[0] += (here & !known).count_ones();
            counts[1] += (here & known).count_ones();
        }
        Ok(known)
    }
}

/// Counts the symbols of a block.
#[inline(always)]
pub fn count(block: &mut Block) -> Counts {
    let counts = Counts { symbols: Box::new([[[0; 2]; CONTEXTS]; DEPTHS]), tail: 0, planes: block.planes };
    let mut counting = Counting { counts, depth: 0 };
    let scanned = block.scan(&mut counting);
    debug_assert!(scanned.is_ok());
    let mut counts = counting.counts;
    counts.tail = block.significant.as_flattened().iter().map(|set| set.count_ones()).sum();
    counts
}
