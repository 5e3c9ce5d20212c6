//! Tail: uncoded bits, lane after lane, in the order of the words.

use super::super::MAX_SIDE;
use super::vector::Vector;
use super::{Block, LANES, MOST_PLANES, Row, Set};

/// Bit sequence, first bits lowest.
pub struct Tail {
    bits: Vec<u64>,
    length: usize,
    taken: usize,
}

impl Tail {
    /// Empty tail with room for `planes` bits of each coefficient.
    pub fn new(planes: u32) -> Tail {
        // Room of the open code words, bits of the coefficients, and padding of the last word.
        let most = 16 * LANES + MAX_SIDE * MAX_SIDE * planes.min(MOST_PLANES) as usize + 16;
        Tail { bits: vec![0; most / 64 + 2], length: 0, taken: 0 }
    }

    /// Whether all bits were taken.
    pub fn is_empty(&self) -> bool {
        self.taken >= self.length
    }

    /// Appends up to 32 bits, first one lowest.
    #[inline(always)]
    fn push(&mut self, bits: u32, count: u32) {
        let (at, shift) = (self.length / 64, self.length % 64);
        let both = u128::from(bits) << shift;
        self.bits[at] |= both as u64;
        self.bits[at + 1] |= (both >> 64) as u64;
        self.length += count as usize;
    }

    /// Next bits, at most 32, first one lowest; 0 for missing ones.
    #[inline(always)]
    fn pop(&mut self, count: u32) -> u32 {
        let (at, shift) = (self.taken / 64, self.taken % 64);
        let both = |at: usize| u128::from(self.bits.get(at).copied().unwrap_or(0));
        let bits = (both(at) | both(at + 1) << 64) >> shift;
        self.taken += count as usize;
        (bits & ((1 << count) - 1)) as u32
    }

    /// Appends the lowest `count` bits of a number, 1 to 16, highest first.
    pub fn put(&mut self, bits: u16, count: u32) {
        self.push((bits.reverse_bits() >> (16 - count)).into(), count);
    }

    /// Inverse of [`Tail::put`], with zeros for missing bits.
    pub fn take(&mut self, count: u32) -> u16 {
        (self.pop(count) as u16).reverse_bits() >> (16 - count)
    }

    /// Collects the tail of a coded block.
    #[inline(always)]
    pub fn gather<V: Vector>(proof: V::Proof, block: &Block) -> Tail {
        let plane = |(plane, [before, after]): (usize, [[Row; MAX_SIDE]; 2])| {
            let mut bits = [[0; 2]; MAX_SIDE];
            for (y, bits) in bits.iter_mut().enumerate() {
                for side in [0, 1] {
                    // The sign of a newly significant coefficient; the plane's bit of an older one.
                    let refined = before[y][side];
                    bits[side] = refined & block.magnitudes[plane][y][side] | !refined & block.negative[y][side];
                }
            }
            (by_lane(&after), by_lane(&bits))
        };
        let planes: Vec<_> = block.tail().into_iter().map(plane).collect();
        let mut tail = Tail::new(block.shape.order.tail());
        for lane in 0..block.shape.lanes() {
            for (significant, bits) in planes.iter().flat_map(|(significant, bits)| significant.iter().zip(bits)) {
                let set = significant[lane];
                if set != 0 {
                    tail.push(V::extract(proof, bits[lane], set), set.count_ones());
                }
            }
        }
        tail
    }

    /// Restores a block's tail from these bits and those of the words after them. `None` if there are too few.
    #[inline(always)]
    pub fn scatter<V: Vector>(mut self, proof: V::Proof, block: &mut Block, more: &[u16]) -> Option<()> {
        let planes = block.tail();
        let mut parts: Vec<[[Set; LANES]; 4]> = planes.iter().map(|(_, [_, after])| by_lane(after)).collect();
        let needed: usize = parts.iter().flatten().flatten().map(|set| set.count_ones() as usize).sum();
        if more.len() != needed.saturating_sub(self.length).div_ceil(16) {
            return None;
        }
        more.iter().for_each(|word| self.put(*word, 16));
        for lane in 0..LANES {
            for part in parts.iter_mut().flatten() {
                let set = part[lane];
                part[lane] = V::deposit(proof, self.pop(set.count_ones()), set);
            }
        }
        while !self.is_empty() {
            if self.pop(32) != 0 {
                return None;
            }
        }
        for ((plane, [before, after]), parts) in planes.into_iter().zip(parts) {
            let mut rows = [[0; 2]; MAX_SIDE];
            for (rows, part) in rows.as_chunks_mut::<{ LANES / 2 }>().0.iter_mut().zip(parts) {
                rows.as_flattened_mut().copy_from_slice(&transposed(part));
            }
            for (y, bits) in rows.iter().enumerate() {
                for side in [0, 1] {
                    let refined = before[y][side];
                    let found = after[y][side] & !refined;
                    block.negative[y][side] = block.negative[y][side] & !found | bits[side] & found;
                    block.magnitudes[plane][y][side] |= bits[side] & refined;
                }
            }
        }
        Some(())
    }
}

/// Transposes rows of lanes: 16 rows of each lane, with a bit for each of its two columns, row after row.
#[inline(always)]
fn by_lane(rows: &[Row]) -> [[Set; LANES]; 4] {
    let mut parts = [[0; LANES]; 4];
    for (part, rows) in parts.iter_mut().zip(rows.as_chunks::<{ LANES / 2 }>().0) {
        let mut both = [0; LANES];
        both.copy_from_slice(rows.as_flattened());
        *part = transposed(both);
    }
    parts
}

/// Transpose: bit i of number j becomes bit j of number i (Warren, *Hacker's Delight*, 7-3).
#[inline(always)]
fn transposed(mut matrix: [Set; 32]) -> [Set; 32] {
    let mut mask = 0x0000_ffff;
    let mut distance = 16;
    while distance > 0 {
        for i in (0..32).filter(|i| i & distance == 0) {
            let swapped = (matrix[i] >> distance ^ matrix[i + distance]) & mask;
            matrix[i] ^= swapped << distance;
            matrix[i + distance] ^= swapped;
        }
        distance /= 2;
        mask ^= mask << distance;
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transpose_swaps_bits() {
        let matrix = std::array::from_fn(|i| (i as u32 + 1).wrapping_mul(0x9e37_79b9));
        let turned = transposed(matrix);
        for (i, row) in matrix.iter().enumerate() {
            for (j, column) in turned.iter().enumerate() {
                assert_eq!(row >> j & 1, column >> i & 1, "{i} {j}");
            }
        }
    }

    #[test]
    fn bits_round_trip_in_order() {
        let mut tail = Tail::new(1);
        for i in 0..200u32 {
            tail.put((i % 7) as u16, 3 + i % 5);
        }
        for i in 0..200u32 {
            assert_eq!(tail.take(3 + i % 5), (i % 7) as u16);
        }
        assert!(tail.is_empty());
        assert_eq!(tail.take(16), 0);
    }
}
