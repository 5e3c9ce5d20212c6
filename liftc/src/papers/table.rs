//! What a table of a paper is: rows, each with the paper's figure and what is done here for it.

use crate::bench::{Case, Way};
use crate::failure::Outcome;
use crate::wavelet;
use lifting::{BlockShape, SampleType, Schedule, Scheme};

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
    pub what: What,
}

/// What is done for a row.
pub enum What {
    /// A transform that is timed.
    Transform(Box<Case>),
    /// A copy from the host to the device, of so many bytes, of memory that is pinned or not.
    Transfer { bytes: usize, pinned: bool },
    /// A number that follows from shapes.
    Derived(f64),
}

/// That one row is faster than another.
pub struct Claim {
    pub faster: String,
    pub slower: String,
    /// What is said where it is not so here.
    pub else_: &'static str,
}

impl Claim {
    pub fn new(faster: impl Into<String>, slower: impl Into<String>, else_: &'static str) -> Claim {
        Claim { faster: faster.into(), slower: slower.into(), else_ }
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
        }
    }

    pub fn case(&self) -> Outcome<What> {
        let scheme = scheme(self.wavelet)?;
        let schedule: Schedule = self.schedule.parse().map_err(crate::failure::input)?;
        let blocks = self.blocks.as_ref().map(|(name, numbers)| BlockShape::named(name, numbers.iter().copied()));
        let blocks = blocks.transpose().map_err(crate::failure::input)?;
        let case = Case::new(scheme, self.sample, self.shape.clone(), self.levels);
        let (axes, tile, ways) = (self.axes.clone(), self.tile.clone(), vec![self.way]);
        Ok(What::Transform(Box::new(Case { schedule, blocks, axes, tile, ways, ..case })))
    }

    pub fn row(&self, label: impl Into<String>, paper: impl Into<Option<f64>>) -> Outcome<Row> {
        Ok(Row { label: label.into(), paper: paper.into(), what: self.case()? })
    }
}
