//! What a table of a paper is: rows, each with the paper's figure and what is done here for it.

use super::coder::Coding;
use super::paco::Coder;
use crate::bench::cuda::Transfer;
use crate::bench::{Case, Way};
use crate::failure::Outcome;
use crate::wavelet;
use lifting::{BlockShape, SampleType, Schedule, Scheme};
use lifting_codegen::ir::interp::{Counts, SharedTraffic};
use std::path::PathBuf;

/// A table, or a figure.
pub struct Table {
    /// What the command calls it.
    pub id: &'static str,
    /// Author, year and number there.
    pub title: &'static str,
    /// The device that the paper's figures are of, and the bytes a second, in 10⁹, that its memory moves: what a copy
    /// there is taken to take.
    pub device: (&'static str, f64),
    /// Of the figures.
    pub unit: Unit,
    pub rows: Vec<Row>,
    /// What the paper concludes.
    pub claims: Vec<Claim>,
}

/// Of figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    Milliseconds,
    Microseconds,
    /// Picoseconds a sample.
    Picoseconds,
    /// A number of itself.
    Number,
}

impl Unit {
    /// Microseconds of a figure, of so many samples.
    pub fn microseconds(self, figure: f64, samples: usize) -> Option<f64> {
        match self {
            Unit::Milliseconds => Some(figure * 1e3),
            Unit::Microseconds => Some(figure),
            Unit::Picoseconds => Some(figure * samples as f64 * 1e-6),
            Unit::Number => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Unit::Milliseconds => "ms",
            Unit::Microseconds => "µs",
            Unit::Picoseconds => "ps a sample",
            Unit::Number => "",
        }
    }

    /// A time in this unit.
    pub fn of(self, microseconds: f64, samples: usize) -> f64 {
        match self {
            Unit::Milliseconds => microseconds * 1e-3,
            Unit::Microseconds | Unit::Number => microseconds,
            Unit::Picoseconds => microseconds * 1e6 / samples as f64,
        }
    }
}

/// A row.
pub struct Row {
    /// As the paper calls it, and what it is here.
    pub label: String,
    /// The paper's figure, where it prints one.
    pub paper: Option<f64>,
    /// Bytes of a sample there, if not those here.
    pub stored: Option<usize>,
    pub what: What,
}

impl Row {
    pub fn new(label: impl Into<String>, paper: impl Into<Option<f64>>, what: What) -> Row {
        Row { label: label.into(), paper: paper.into(), stored: None, what }
    }
}

/// What is done for a row.
pub enum What {
    /// A transform that is timed.
    Transform(Box<Case>),
    /// Data that goes from the host to the device, and perhaps back.
    Transfer(Transfer),
    /// A copy of what a transform reads, as it stands beside it.
    Copy(Box<Case>),
    /// What the interpreter counts of a transform of one level, over so many levels, in thousands.
    Counted { case: Box<Case>, levels: u32, of: Counter },
    /// What the device's compiler gives its kernel of analysis.
    Used { case: Box<Case>, of: Usage },
    /// Bits a sample of pictures.
    Coded { pictures: Vec<PathBuf>, coding: Coding },
    /// The coder on a device.
    Coder(Coder),
    /// A number that follows from shapes.
    Derived(f64),
}

impl What {
    /// Whether a device is needed for it.
    pub fn is_measured(&self) -> bool {
        !matches!(self, What::Derived(_) | What::Counted { .. } | What::Coded { .. })
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Instructions of warps: operations of the kernel as it is written, what compilers make of it not included.
    Instructions,
    /// 32-byte sectors that requests to global memory touch.
    Transactions,
}

/// What compilers give kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// Registers a thread.
    Registers,
    /// The percentage of the threads that a multiprocessor can hold which it then holds.
    Occupancy,
}

impl Counter {
    pub fn of(self, counts: &Counts) -> f64 {
        let requests = |traffic: SharedTraffic| traffic.requests as f64;
        let Counts { global_loads, global_stores, .. } = *counts;
        match self {
            Counter::Instructions => {
                counts.operations.total() as f64 / 32.0
                    + (global_loads.requests + global_stores.requests + counts.shuffles + counts.warp_syncs) as f64
                    + requests(counts.shared_loads)
                    + requests(counts.shared_stores)
            }
            Counter::Transactions => (global_loads.transactions + global_stores.transactions) as f64,
        }
    }
}

/// That one row takes less than another.
pub struct Claim {
    pub less: String,
    /// A row, or [`Claim::COPY`].
    pub more: String,
    /// The first takes so many times the second, at most; `None`: as many copies as the paper's.
    pub most: Option<f64>,
    /// What is said where it is not so here.
    pub else_: &'static str,
}

impl Claim {
    /// Stands for a copy of a row's data.
    pub const COPY: &'static str = "a copy";

    /// That one row is faster than another.
    pub fn new(faster: impl Into<String>, slower: impl Into<String>, else_: &'static str) -> Claim {
        Claim::within(1.0, faster, slower, else_)
    }

    /// That a row takes no more copies than there.
    pub fn no_more_copies(label: impl Into<String>, else_: &'static str) -> Claim {
        Claim { less: label.into(), more: Claim::COPY.into(), most: None, else_ }
    }

    /// That one row takes no more than so many times what another takes.
    pub fn within(most: f64, less: impl Into<String>, more: impl Into<String>, else_: &'static str) -> Claim {
        Claim { less: less.into(), more: more.into(), most: Some(most), else_ }
    }
}

/// Those that are lattices, as `liftc factor NAME --as lattice` writes them.
const LATTICES: &str = include_str!("lattices.lift");

/// A wavelet of the catalogue, or one of [`LATTICES`].
fn scheme(name: &str) -> Outcome<Scheme> {
    let lattices = lifting_dsl::compile(LATTICES).map_or(Vec::new(), |compiled| compiled.schemes);
    match lattices.into_iter().find(|scheme| scheme.name() == name) {
        Some(scheme) => Ok(scheme),
        None => Ok(wavelet::resolve_one(name)?.schemes[0].clone()),
    }
}

/// A transform by the name of its wavelet.
#[derive(Clone)]
pub struct Spec {
    pub wavelet: &'static str,
    pub sample: SampleType,
    pub shape: Vec<usize>,
    pub levels: u32,
    pub way: Way,
    pub schedule: &'static str,
    pub axes: Option<Vec<usize>>,
    pub tile: Option<Vec<usize>>,
    pub blocks: Option<(&'static str, Vec<(&'static str, u32)>)>,
    /// Bytes of a sample in the paper, if not those here.
    pub stored: Option<usize>,
}

impl Spec {
    /// Of one level and analysis, as plans choose.
    pub fn new(wavelet: &'static str, sample: SampleType, shape: &[usize]) -> Spec {
        Spec {
            wavelet,
            sample,
            shape: shape.to_vec(),
            levels: 1,
            way: Way::Forward,
            schedule: "auto",
            axes: None,
            tile: None,
            blocks: None,
            stored: None,
        }
    }

    fn case(&self) -> Outcome<Box<Case>> {
        let scheme = scheme(self.wavelet)?;
        let schedule: Schedule = self.schedule.parse().map_err(crate::failure::input)?;
        let blocks = self.blocks.as_ref().map(|(name, numbers)| BlockShape::named(name, numbers.iter().copied()));
        let blocks = blocks.transpose().map_err(crate::failure::input)?;
        let case = Case::new(scheme, self.sample, self.shape.clone(), self.levels);
        let (axes, tile, ways) = (self.axes.clone(), self.tile.clone(), vec![self.way]);
        Ok(Box::new(Case { schedule, blocks, axes, tile, ways, ..case }))
    }

    /// That is timed.
    pub fn row(&self, label: impl Into<String>, paper: impl Into<Option<f64>>) -> Outcome<Row> {
        let what = What::Transform(self.case()?);
        Ok(Row { stored: self.stored, ..Row::new(label, paper, what) })
    }

    /// A copy of its data.
    pub fn copy(&self, label: impl Into<String>, paper: impl Into<Option<f64>>) -> Outcome<Row> {
        let what = What::Copy(self.case()?);
        Ok(Row { stored: self.stored, ..Row::new(label, paper, what) })
    }

    /// What is used of a device.
    pub fn used(&self, of: Usage, label: impl Into<String>, paper: impl Into<Option<f64>>) -> Outcome<Row> {
        Ok(Row::new(label, paper, What::Used { case: self.case()?, of }))
    }

    /// Of one level, counted over so many.
    pub fn counted(
        &self,
        (of, levels): (Counter, u32),
        label: impl Into<String>,
        paper: impl Into<Option<f64>>,
    ) -> Outcome<Row> {
        Ok(Row::new(label, paper, What::Counted { case: self.case()?, levels, of }))
    }
}
