//! Tag trees (B.10.2): the least of all values below each node, coded from the root.

use super::bits::{BitReader, BitWriter};

/// Tag tree over a grid of leaves.
#[derive(Clone, Debug)]
pub struct TagTree {
    /// Columns of each level, leaves first, and the index of its first node.
    levels: Vec<(usize, usize)>,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Lower bound that is coded so far.
    low: u32,
    /// Whether the bound is known to be the value.
    known: bool,
    /// The value; set by encoders only.
    value: u32,
}

impl TagTree {
    /// Tree over `columns` × `rows` leaves.
    pub fn new([columns, rows]: [u32; 2]) -> TagTree {
        let (mut columns, mut rows) = (columns as usize, rows as usize);
        let (mut levels, mut start) = (Vec::new(), 0);
        while columns * rows > 0 {
            levels.push((columns, start));
            start += columns * rows;
            if columns * rows == 1 {
                break;
            }
            (columns, rows) = (columns.div_ceil(2), rows.div_ceil(2));
        }
        TagTree { levels, nodes: vec![Node::default(); start] }
    }

    /// Tree over leaves with known values, for an encoder.
    pub fn of_values(grid: [u32; 2], values: &[u32]) -> TagTree {
        let mut tree = TagTree::new(grid);
        tree.nodes.iter_mut().for_each(|node| node.value = u32::MAX);
        for (leaf, &value) in values.iter().enumerate() {
            for node in tree.path(leaf) {
                let least = &mut tree.nodes[node].value;
                *least = (*least).min(value);
            }
        }
        tree
    }

    /// Nodes from a leaf to the root.
    fn path(&self, leaf: usize) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let columns = self.levels.first().map_or(1, |&(columns, _)| columns);
        let (x, y) = (leaf % columns, leaf / columns);
        let node = |(level, &(columns, start)): (usize, &(usize, usize))| start + (y >> level) * columns + (x >> level);
        self.levels.iter().enumerate().map(node).collect::<Vec<_>>().into_iter()
    }

    /// Reads bits until it is known whether a leaf's value is below `threshold`.
    pub fn read(&mut self, leaf: usize, threshold: u32, bits: &mut BitReader<'_>) -> bool {
        let (mut low, mut below) = (0, false);
        for index in self.path(leaf).rev() {
            let node = &mut self.nodes[index];
            node.low = node.low.max(low);
            while node.low < threshold && !node.known {
                match bits.bit() {
                    true => node.known = true,
                    false => node.low += 1,
                }
            }
            low = node.low;
            below = node.known && node.low < threshold;
        }
        below
    }

    /// Writes the bits that [`TagTree::read`] needs.
    pub fn write(&mut self, leaf: usize, threshold: u32, bits: &mut BitWriter) {
        let mut low = 0;
        for index in self.path(leaf).rev() {
            let node = &mut self.nodes[index];
            node.low = node.low.max(low);
            while node.low < threshold && !node.known {
                node.known = node.value == node.low;
                bits.bit(node.known);
                node.low += u32::from(!node.known);
            }
            low = node.low;
        }
    }
}
