//! Lattices: cascades of 2×2 stages on pairs of neighbouring samples.

use std::sync::OnceLock;

/// One stage: a matrix on a pair (u, v) of neighbouring samples.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage<C> {
    /// The paper's S: \[\[a, b\], \[−b, a\]\].
    Rotate {
        /// Both diagonal entries.
        a: C,
        /// The upper right entry.
        b: C,
    },
    /// The paper's C: \[\[a, b\], \[b, −a\]\].
    Reflect {
        /// The upper left entry.
        a: C,
        /// Both entries off the diagonal.
        b: C,
    },
    /// Any invertible \[\[a, b\], \[c, d\]\].
    Matrix {
        /// The rows.
        rows: [[C; 2]; 2],
    },
}

impl<C> Stage<C> {
    /// The spelling in a `.lift` file.
    pub fn name(&self) -> &'static str {
        match self {
            Stage::Rotate { .. } => "rotate",
            Stage::Reflect { .. } => "reflect",
            Stage::Matrix { .. } => "matrix",
        }
    }

    /// The coefficients in the order of the text: a and b, or a, b, c and d.
    pub fn coefficients(&self) -> Vec<&C> {
        match self {
            Stage::Rotate { a, b } | Stage::Reflect { a, b } => vec![a, b],
            Stage::Matrix { rows } => rows.iter().flatten().collect(),
        }
    }

    /// The matrix of the stage, from its coefficients and their negatives.
    pub(crate) fn rows_by(&self, negative: impl Fn(&C) -> C) -> [[C; 2]; 2]
    where
        C: Clone,
    {
        match self {
            Stage::Rotate { a, b } => [[a.clone(), b.clone()], [negative(b), a.clone()]],
            Stage::Reflect { a, b } => [[a.clone(), b.clone()], [b.clone(), negative(a)]],
            Stage::Matrix { rows } => rows.clone(),
        }
    }

    /// This stage with mapped coefficients.
    pub fn map<D>(&self, f: impl Fn(&C) -> D) -> Stage<D> {
        match self {
            Stage::Rotate { a, b } => Stage::Rotate { a: f(a), b: f(b) },
            Stage::Reflect { a, b } => Stage::Reflect { a: f(a), b: f(b) },
            Stage::Matrix { rows } => Stage::Matrix { rows: rows.each_ref().map(|r| r.each_ref().map(&f)) },
        }
    }
}

/// Cache of the inverse of each stage of a lattice. Exact inverses are slow, and the choice among schedules asks
/// repeatedly.
#[derive(Clone, Debug)]
pub(crate) struct Inverses<C>(OnceLock<Vec<[[C; 2]; 2]>>);

impl<C> Inverses<C> {
    /// The cached inverses; `find` computes them on first use.
    pub(crate) fn get(&self, find: impl FnOnce() -> Vec<[[C; 2]; 2]>) -> &[[[C; 2]; 2]] {
        self.0.get_or_init(find)
    }
}

impl<C> Default for Inverses<C> {
    fn default() -> Inverses<C> {
        Inverses(OnceLock::new())
    }
}

/// Always equal: inverses follow from the stages, which are compared.
impl<C> PartialEq for Inverses<C> {
    fn eq(&self, _: &Inverses<C>) -> bool {
        true
    }
}

/// A cascade of stages; the first one acts first.
#[derive(Clone, Debug, PartialEq)]
pub struct Lattice<C> {
    /// The stages in order of execution.
    pub stages: Vec<Stage<C>>,
}

impl<C> Lattice<C> {
    /// This lattice with mapped coefficients.
    pub fn map<D>(&self, f: impl Fn(&C) -> D) -> Lattice<D> {
        Lattice { stages: self.stages.iter().map(|s| s.map(&f)).collect() }
    }

    /// Whether stage `index` (from 0) acts on (even\[k\], odd\[k\]); else it acts on (odd\[k\], even\[k+1\]).
    pub fn on_even_pairs(&self, index: usize) -> bool {
        (self.stages.len() - 1 - index).is_multiple_of(2)
    }
}
