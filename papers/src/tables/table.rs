//! Tables of papers: rows, each with the paper's figure and the measurement that reproduces it.

use liftc::bench::cuda::Transfer;
use liftc::bench::{Case, TimedOperation};
use liftc::failure::{Outcome, input};
use liftc::wavelet;
use lifting::{BlockShape, SampleType, Scheme};
use lifting_codec::block::Passes;
use lifting_codegen::ir::interp::{Counts, SharedTraffic};
use std::fmt;
use std::path::PathBuf;

/// Measured property of the coder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Time of encoding all code blocks, including the choice of tables.
    Encoding,
    /// Time of decoding all code blocks.
    Decoding,
    /// Resources of the encoding kernel as compiled.
    Used(Usage),
}

/// A picture to code on the device.
#[derive(Clone, Debug)]
pub struct Coder {
    /// Source of the samples, repeated to the size. Without a picture nothing is measured.
    pub picture: Option<PathBuf>,
    pub side: usize,
    pub block: [usize; 2],
    pub passes: Passes,
    pub of: Of,
}

/// A lossless coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coding {
    /// JPEG 2000, by OpenJPEG.
    Jpeg2000,
    /// Streams of `liftc encode --lossless --passes 3`.
    Own,
    /// The thesis' coder without extensions, with tables of the picture itself.
    Strict,
    /// Two columns of a block share a code word.
    WordPerLane,
    /// A block has a single code word.
    OneWord,
    /// Tables trained on the picture; two columns share a code word.
    Fitted,
    /// Trained tables with one context each for significance, signs and refinement.
    OneContext,
}

/// A table or figure of a paper.
pub struct Table {
    /// Name of the table on the command line.
    pub id: &'static str,
    /// Author, year, and number of the table.
    pub title: &'static str,
    /// Device of the paper's figures, and its bandwidth, from which the time of a copy follows.
    pub device: (&'static str, Bandwidth),
    /// Unit of the figures.
    pub unit: Unit,
    pub rows: Vec<Row>,
    /// Claims of the paper.
    pub claims: Vec<Claim>,
}

impl Table {
    /// Keeps rows by their labels, and the claims about them.
    pub fn keep(&mut self, keeps: impl Fn(&str) -> bool) {
        self.rows.retain(|row| keeps(&row.label));
        let known = |label: &str| label == Claim::COPY || keeps(label);
        self.claims.retain(|claim| known(&claim.less) && known(&claim.more));
    }
}

/// Bandwidth of a device, in 10⁹ bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bandwidth {
    /// A measured copy's.
    Measured(f64),
    /// By its data sheet.
    Theoretical(f64),
}

/// Share of the theoretical bandwidth that a copy reaches, where no copy was measured.
const REACHED: f64 = 0.85;

impl Bandwidth {
    /// Bandwidth of a copy: what it reads and writes.
    pub fn of_copies(self) -> f64 {
        match self {
            Bandwidth::Measured(measured) => measured,
            Bandwidth::Theoretical(peak) => REACHED * peak,
        }
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_copies = self.of_copies();
        match self {
            Bandwidth::Measured(_) => write!(f, "{of_copies:.1} · 10⁹ bytes per second, measured there"),
            Bandwidth::Theoretical(peak) => {
                write!(f, "{of_copies:.1} · 10⁹ bytes per second, {:.0} % of its {peak}", 100.0 * REACHED)
            }
        }
    }
}

/// Unit of a table's figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    Milliseconds,
    Microseconds,
    /// Picoseconds per sample.
    Picoseconds,
    /// A number without a unit.
    Number,
}

impl Unit {
    /// Converts a figure for `samples` samples to microseconds.
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

    /// Converts microseconds to this unit.
    pub fn of(self, microseconds: f64, samples: usize) -> f64 {
        match self {
            Unit::Milliseconds => microseconds * 1e-3,
            Unit::Microseconds | Unit::Number => microseconds,
            Unit::Picoseconds => microseconds * 1e6 / samples as f64,
        }
    }
}

/// Row of a table.
pub struct Row {
    /// The paper's name of the row, and the corresponding method here.
    pub label: String,
    /// The paper's figure, if printed.
    pub paper: Option<f64>,
    /// Bytes per sample in the paper, if different from here.
    pub stored: Option<usize>,
    pub what: What,
}

impl Row {
    pub fn new(label: impl Into<String>, paper: impl Into<Option<f64>>, what: What) -> Row {
        Row { label: label.into(), paper: paper.into(), stored: None, what }
    }
}

/// Measurement of a row.
pub enum What {
    /// Time of a transform, by the fastest of its block shapes on the device: a case for each shape, the paper's first.
    /// They differ in schedule and blocks only.
    Transform(Vec<Case>),
    /// Time of a transform by a plan on the host's CPU, with all its threads. A copy there is the unit.
    OnCpu(Box<Case>),
    /// Time of a transfer from the host to the device, and optionally back.
    Transfer(Transfer),
    /// Time of a copy of a transform's input.
    Copy(Box<Case>),
    /// Operations of a one-level transform, in thousands, counted by the interpreter and scaled to `levels` levels.
    Counted { case: Box<Case>, levels: u32, of: Counter },
    /// Resources of the analysis kernel, as compiled for the device.
    Used { case: Box<Case>, of: Usage },
    /// Bits per sample of coded pictures.
    Coded { pictures: Vec<PathBuf>, coding: Coding },
    /// Time or resources of the block coder on a device.
    Coder(Coder),
    /// A number derived from shapes.
    Derived(f64),
}

impl What {
    /// Whether the row needs a device.
    pub fn is_measured(&self) -> bool {
        !matches!(self, What::Derived(_) | What::Counted { .. } | What::Coded { .. })
    }
}

/// Counted operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Warp instructions: operations of the kernel's IR, before compilation.
    Instructions,
    /// 32-byte sectors that requests to global memory touch.
    Transactions,
    /// Workspace in multiples of the image, for all levels at once; not in thousands.
    Workspace,
}

/// Resource of a compiled kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// Registers per thread.
    Registers,
    /// Resident threads of a multiprocessor, in per cent of the maximum.
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
            Counter::Workspace => 0.0,
        }
    }
}

/// Claim that one row takes less time than another.
pub struct Claim {
    pub less: String,
    /// Label of the other row, or [`Claim::COPY`].
    pub more: String,
    /// Upper bound of the ratio of the two rows; `None` means the paper's number of copies.
    pub most: Option<f64>,
    /// Explanation printed if the claim does not hold here.
    pub else_: &'static str,
}

impl Claim {
    /// Stands for a copy of a row's data.
    pub const COPY: &'static str = "a copy";

    /// Claims that one row is faster than another.
    pub fn new(faster: impl Into<String>, slower: impl Into<String>, else_: &'static str) -> Claim {
        Claim::within(1.0, faster, slower, else_)
    }

    /// Claims that a row takes no more copies than in the paper.
    pub fn no_more_copies(label: impl Into<String>, else_: &'static str) -> Claim {
        Claim { less: label.into(), more: Claim::COPY.into(), most: None, else_ }
    }

    /// Claims that one row takes at most `most` times the time of another.
    pub fn within(most: f64, less: impl Into<String>, more: impl Into<String>, else_: &'static str) -> Claim {
        Claim { less: less.into(), more: more.into(), most: Some(most), else_ }
    }
}

/// Lattices, as `liftc factor NAME --as lattice` writes them.
const LATTICES: &str = include_str!("lattices.lift");

/// Wavelet of the catalogue, or one of [`LATTICES`].
fn scheme(name: &str) -> Outcome<Scheme> {
    let lattices = lifting_dsl::compile(LATTICES).map_or(Vec::new(), |compiled| compiled.schemes);
    match lattices.into_iter().find(|scheme| scheme.name() == name) {
        Some(scheme) => Ok(scheme),
        None => Ok(wavelet::resolve_one(name)?.schemes[0].clone()),
    }
}

/// Description of a transform, with the name of its wavelet.
#[derive(Clone)]
pub struct Spec {
    pub wavelet: &'static str,
    pub sample: SampleType,
    pub shape: Vec<usize>,
    pub levels: u32,
    pub way: TimedOperation,
    pub schedule: &'static str,
    pub axes: Option<Vec<usize>>,
    pub tile: Option<Vec<usize>>,
    /// Block shapes to choose from; none leaves the choice to the schedule.
    pub blocks: Vec<BlockShape>,
    /// Bytes per sample in the paper, if different from here.
    pub stored: Option<usize>,
}

impl Spec {
    /// Analysis of one level, with the planner's choices.
    pub fn new(wavelet: &'static str, sample: SampleType, shape: &[usize]) -> Spec {
        Spec {
            wavelet,
            sample,
            shape: shape.to_vec(),
            levels: 1,
            way: TimedOperation::Forward,
            schedule: "auto",
            axes: None,
            tile: None,
            blocks: Vec::new(),
            stored: None,
        }
    }

    /// Cases in all block shapes.
    fn cases(&self) -> Outcome<Vec<Case>> {
        let scheme = scheme(self.wavelet)?;
        let case = Case::new(scheme, self.sample, self.shape.clone(), self.levels);
        let (axes, tile, ways) = (self.axes.clone(), self.tile.clone(), vec![self.way]);
        let case = Case { axes, tile, ways, ..case };
        let in_blocks = |&blocks: &BlockShape| Case { blocks: Some(blocks), ..case.clone() };
        Ok(match self.blocks[..] {
            [] => {
                let schedules = crate::family(self.schedule).map_err(input)?.into_iter();
                schedules.map(|schedule| Case { schedule, ..case.clone() }).collect()
            }
            ref blocks => blocks.iter().map(in_blocks).collect(),
        })
    }

    /// The case in the first block shape.
    fn case(&self) -> Outcome<Box<Case>> {
        Ok(Box::new(self.cases()?.swap_remove(0)))
    }

    /// Row that times the transform.
    pub fn row(&self, label: impl Into<String>, paper: impl Into<Option<f64>>) -> Outcome<Row> {
        let what = What::Transform(self.cases()?);
        Ok(Row { stored: self.stored, ..Row::new(label, paper, what) })
    }

    /// Row that times a copy of the transform's data.
    pub fn copy(&self, label: impl Into<String>, paper: impl Into<Option<f64>>) -> Outcome<Row> {
        let what = What::Copy(self.case()?);
        Ok(Row { stored: self.stored, ..Row::new(label, paper, what) })
    }

    /// Row that times a plan on the host's CPU.
    pub fn on_cpu(&self, label: impl Into<String>) -> Outcome<Row> {
        Ok(Row::new(label, None, What::OnCpu(self.case()?)))
    }

    /// Row for a resource of the transform's kernel.
    pub fn used(&self, of: Usage, label: impl Into<String>, paper: impl Into<Option<f64>>) -> Outcome<Row> {
        Ok(Row::new(label, paper, What::Used { case: self.case()?, of }))
    }

    /// Row that counts operations of one level, scaled to `levels` levels.
    pub fn counted(
        &self,
        (of, levels): (Counter, u32),
        label: impl Into<String>,
        paper: impl Into<Option<f64>>,
    ) -> Outcome<Row> {
        Ok(Row::new(label, paper, What::Counted { case: self.case()?, levels, of }))
    }
}
