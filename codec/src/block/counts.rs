//! Symbol counts of a block.

use super::{CONTEXTS, DEPTHS};

/// Symbol counts of a block: the data for choosing and training tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Counts by depth below the highest plane, context and symbol.
    pub symbols: Box<[[[u32; 2]; CONTEXTS]; DEPTHS]>,
    /// Bits of the tail.
    pub tail: u32,
    pub(super) planes: u32,
}

impl Counts {
    /// Whether the block has no planes.
    pub fn is_empty(&self) -> bool {
        self.planes == 0
    }

    /// Adds the symbols of contexts that only `other` has: counts of the same block with other passes.
    pub fn with(mut self, other: &Counts) -> Counts {
        for (mine, theirs) in self.symbols.as_flattened_mut().iter_mut().zip(other.symbols.as_flattened()) {
            if *mine == [0; 2] {
                *mine = *theirs;
            }
        }
        self
    }
}

/// Row of a plane in tables, counted from the block's highest plane down.
pub(super) fn depth(planes: u32, plane: u32) -> usize {
    ((planes - 1 - plane) as usize).min(DEPTHS - 1)
}
