//! Levels and rows, as data of the loops.

use crate::edges::Edges;
use crate::steps::Steps;

/// Most samples that a step reads on either side of its target.
pub(crate) const MAX_SIDES: usize = 4;

/// Most steps of a loop.
pub const MAX_STEPS: usize = 5;

/// Most samples that a step reads.
pub(crate) const MAX_READS: usize = 2 * MAX_SIDES;

/// Rows that arrive together.
pub const ROWS: usize = 4;

/// The parameters of a step: `target ∓= (Σ weight·sample + rounding) >> shift`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weights {
    /// Weights of the samples to the left and right, nearest first.
    pub weights: [[Option<f64>; 2]; MAX_SIDES],
    /// Whether samples to the left and right are added before the multiplication.
    pub summed: bool,
    /// A whole number for integer samples; 0 for real samples.
    pub rounding: f64,
    /// Shift in bits, less than those of a sample; 0 for real samples.
    pub shift: u32,
    /// Whether an integer step subtracts. Real weights are negated instead, which gives the same bits.
    pub subtract: bool,
}

/// Parameters of a level.
#[derive(Clone, Debug)]
pub struct Level {
    /// The steps, in order; unused entries are ignored.
    pub steps: [Weights; MAX_STEPS],
    /// The steps of a long chain.
    pub long: Steps,
    /// Scaling factors, applied along columns and again along rows. Analysis: of results of the last step, and of the
    /// others. Synthesis: of samples that the first step updates, and of the others.
    pub factors: [f64; 2],
    /// Samples per row.
    pub n: usize,
    /// Whether the first sample of a row is not a result of the last step.
    pub late: bool,
    /// Indices in their rows (or bands) of the samples before the first one, nearest first.
    pub left: Vec<usize>,
    /// Indices of the samples after the last one, nearest first.
    pub right: Vec<usize>,
    /// Lane permutations for the ends of rows, or of the two bands that form them.
    pub edges: [Edges; 2],
}

/// Four rows: sources, targets and state.
pub struct Event {
    /// Rows in analysis, bands in synthesis; the band of the samples that the first step updates comes first.
    pub from: [[*const u8; 2]; ROWS],
    /// Sources of the next rows, for prefetching.
    pub next: [[*const u8; 2]; ROWS],
    /// Whether to prefetch these.
    pub fetch: bool,
    /// Results of the last step, and the other results, twice: in analysis bands in that order, in synthesis rows.
    pub to: [[*mut u8; 2]; ROWS],
    /// Targets that use non-temporal stores: by rows, then bands.
    pub stream: [[bool; 2]; 2],
    /// Bytes for the ends of rows, as many as [`Loop::buffers`](crate::Loop::buffers) says.
    pub buffers: *mut u8,
    /// Delay lines along columns.
    pub state: *mut u8,
    /// Lanes of the first register before the first result; makes stores start at cache lines.
    pub skip: usize,
    /// Range of registers along a row, for a single row.
    pub range: (usize, usize),
}
