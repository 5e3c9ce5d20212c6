//! Sets of probability tables: the built-in set, and those that a stream carries.
//!
//! A table has a probability for each plane and context, with planes counted from a block's highest. Probabilities are
//! stationary and trained on pictures beforehand (§3.2.2 of the thesis, eq. 3.3). A block names its table in the set,
//! so no band, level or quantiser step is needed: similar blocks share a table.

use crate::block::{CONTEXTS, Context, Counts, DEPTHS};
use std::ops::Index;
use std::sync::{LazyLock, OnceLock};

/// Most tables in a set: the number that a block's byte can name along with its sharing.
pub const MAX_TABLES: usize = 32;

/// Length of a table, in bytes.
pub const TABLE_BYTES: usize = DEPTHS * CONTEXTS;

/// Allowed probabilities of symbol 0, in 128ths.
const RANGE: std::ops::RangeInclusive<u8> = 1..=127;

/// Probabilities of symbol 0 in 128ths, by depth below the block's highest plane and by context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table([[u8; CONTEXTS]; DEPTHS]);

impl Table {
    /// Equal probabilities of both symbols.
    pub const EVEN: Table = Table([[64; CONTEXTS]; DEPTHS]);

    /// Probability of symbol 0 in 128ths, 1 to 127.
    #[inline]
    pub(crate) fn probability(&self, depth: usize, context: Context) -> u8 {
        self.0[depth][context.index()]
    }

    /// Probabilities of a plane.
    pub(crate) fn row(&self, depth: usize) -> &[u8; CONTEXTS] {
        &self.0[depth]
    }

    /// Table that codes these symbols in the fewest bits, blended with `prior` where there are few.
    pub fn fitted(symbols: &Symbols, prior: &Table) -> Table {
        /// Weight of the prior, in symbols.
        const WEIGHT: f64 = 4.0;
        let mut table = prior.clone();
        for (depth, contexts) in symbols.iter().enumerate() {
            for (context, &[zeros, ones]) in contexts.iter().enumerate() {
                let believed = f64::from(prior.0[depth][context]) / 128.0;
                let (zeros, all) = (f64::from(zeros), f64::from(zeros) + f64::from(ones));
                let p = (zeros + WEIGHT * believed) / (all + WEIGHT);
                table.0[depth][context] = ((128.0 * p).round() as u8).clamp(*RANGE.start(), *RANGE.end());
            }
        }
        table
    }
}

/// Cost in bits of symbols 0 and 1, by the probability of 0.
static COSTS: LazyLock<[[f64; 2]; 128]> =
    LazyLock::new(|| std::array::from_fn(|p| [p, 128 - p].map(|share| -(share.max(1) as f64 / 128.0).log2())));

/// Counts of symbols by depth, context and value.
type Symbols = [[[u32; 2]; CONTEXTS]; DEPTHS];

/// Cost of a symbol in bits, by table; above any real one for missing tables.
type Costs = [f64; MAX_TABLES];

/// Set of tables.
#[derive(Clone, Debug)]
pub struct Tables {
    all: Vec<Table>,
    /// Costs by depth, context and symbol; computed on first use.
    costs: OnceLock<Vec<Costs>>,
}

impl PartialEq for Tables {
    fn eq(&self, other: &Tables) -> bool {
        self.all == other.all
    }
}

impl Eq for Tables {}

/// Tables of format version 4.
static BUILT_IN: LazyLock<Tables> =
    LazyLock::new(|| Tables::from_bytes(include_bytes!("tables.bin")).unwrap_or(Tables::of(vec![Table::EVEN])));

impl Tables {
    /// Built-in tables, trained by `cargo xtask tables`.
    pub fn built_in() -> &'static Tables {
        &BUILT_IN
    }

    /// Set of 1 to [`MAX_TABLES`] tables.
    pub fn new(tables: Vec<Table>) -> Option<Tables> {
        (1..=MAX_TABLES).contains(&tables.len()).then(|| Tables::of(tables))
    }

    fn of(all: Vec<Table>) -> Tables {
        Tables { all, costs: OnceLock::new() }
    }

    /// Reads a set as streams have it: by table, depth and context, a byte of 1 to 127 for each probability. `None` if
    /// the bytes are not such a set.
    pub fn from_bytes(bytes: &[u8]) -> Option<Tables> {
        let (tables, rest) = bytes.as_chunks::<TABLE_BYTES>();
        if !rest.is_empty() || !bytes.iter().all(|p| RANGE.contains(p)) {
            return None;
        }
        let table = |bytes: &[u8; TABLE_BYTES]| {
            Table(std::array::from_fn(|depth| std::array::from_fn(|context| bytes[depth * CONTEXTS + context])))
        };
        Tables::new(tables.iter().map(table).collect())
    }

    /// Inverse of [`Tables::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        self.all.iter().flat_map(|table| table.0.iter().flatten().copied()).collect()
    }

    /// Number of tables.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Table of a class.
    pub fn get(&self, class: u8) -> Option<&Table> {
        self.all.get(usize::from(class))
    }

    /// Costs of symbols, by depth, context and symbol.
    pub(crate) fn costs(&self) -> &[Costs] {
        self.costs.get_or_init(|| {
            let mut costs = vec![[1e30; MAX_TABLES]; 2 * TABLE_BYTES];
            for (i, table) in self.all.iter().enumerate() {
                let probabilities = table.0.as_flattened().iter();
                for (costs, &p) in costs.as_chunks_mut::<2>().0.iter_mut().zip(probabilities) {
                    [costs[0][i], costs[1][i]] = COSTS[usize::from(p)];
                }
            }
            costs
        })
    }

    /// Table that codes a block in the fewest bits, and this number of bits without the tail.
    pub fn cheapest(&self, counts: &Counts) -> (usize, f64) {
        let mut bits = [0.0; MAX_TABLES];
        let symbols = counts.symbols.as_flattened();
        for (&[zeros, ones], [zero, one]) in symbols.iter().zip(self.costs().as_chunks::<2>().0) {
            if zeros | ones != 0 {
                let (zeros, ones) = (f64::from(zeros), f64::from(ones));
                bits.iter_mut().zip(zero.iter().zip(one)).for_each(|(sum, (z, o))| *sum += zeros * z + ones * o);
            }
        }
        let bits = bits.into_iter().take(self.count()).enumerate();
        bits.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
    }

    /// Trains a set of at most `count` tables for these blocks, starting from this one.
    ///
    /// Blocks choose tables, and tables are refitted to the blocks that chose them, in turns (Linde, Buzo and Gray
    /// 1980). While there are too few tables, the most expensive ones are split.
    pub fn trained(&self, blocks: &[Counts], count: usize, turns: usize) -> Tables {
        let mut tables = self.clone();
        // This many doublings are enough. Tables that no block chooses are dropped, so the target may not be reached.
        for round in (0..=2 * MAX_TABLES.ilog2()).rev() {
            for _ in 0..turns {
                tables = tables.refitted(blocks);
            }
            if round == 0 || tables.count() >= count.min(MAX_TABLES) {
                break;
            }
            tables = tables.split(blocks, count.min(MAX_TABLES));
        }
        tables
    }

    /// One turn of training; drops tables that no block chooses.
    fn refitted(&self, blocks: &[Counts]) -> Tables {
        let mut sums: Vec<Option<Box<Symbols>>> = vec![None; self.count()];
        for counts in blocks {
            let sum = sums[self.cheapest(counts).0].get_or_insert_with(|| Box::new([[[0; 2]; CONTEXTS]; DEPTHS]));
            add(sum, &counts.symbols);
        }
        let fitted: Vec<Table> =
            sums.iter().zip(&self.all).filter_map(|(sum, prior)| Some(Table::fitted(sum.as_deref()?, prior))).collect();
        Tables::new(fitted).unwrap_or_else(|| self.clone())
    }

    /// Doubles the set, to at most `most`: the most expensive tables get a twin with less certain probabilities.
    fn split(&self, blocks: &[Counts], most: usize) -> Tables {
        let mut bits = vec![0.0; self.count()];
        for counts in blocks {
            let (class, cost) = self.cheapest(counts);
            bits[class] += cost;
        }
        let mut order: Vec<usize> = (0..self.count()).collect();
        order.sort_by(|&a, &b| bits[b].total_cmp(&bits[a]));
        let twin = |table: &Table| {
            Table(table.0.map(|row| row.map(|p| (64 + (i16::from(p) - 64) * 3 / 4).clamp(1, 127) as u8)))
        };
        let twins: Vec<Table> = order.iter().take(most - self.count()).map(|&i| twin(&self.all[i])).collect();
        Tables::of(self.all.iter().cloned().chain(twins).collect())
    }
}

/// Adds counts.
fn add(sum: &mut Symbols, counts: &Symbols) {
    for (sum, count) in sum.as_flattened_mut().as_flattened_mut().iter_mut().zip(counts.as_flattened().as_flattened()) {
        *sum = sum.saturating_add(*count);
    }
}

impl Index<u8> for Tables {
    type Output = Table;

    fn index(&self, class: u8) -> &Table {
        &self.all[usize::from(class)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_tables_are_complete() {
        let tables = Tables::from_bytes(include_bytes!("tables.bin")).unwrap();
        assert_eq!(&tables, Tables::built_in());
        assert_eq!(tables.count(), MAX_TABLES);
        assert_eq!(Tables::from_bytes(&tables.to_bytes()), Some(tables.clone()));
        let mut bytes = tables.to_bytes();
        assert_eq!(Tables::from_bytes(&bytes[1..]), None);
        bytes[7] = 128;
        assert_eq!(Tables::from_bytes(&bytes), None);
        assert_eq!(Tables::from_bytes(&[]), None);
    }
}
