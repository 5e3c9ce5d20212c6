//! Requests for loops, and what is found.

use crate::isa::Isa;
use crate::kernels::Kernel;
use crate::level::Weights;
use crate::steps::Steps;
use std::any::TypeId;

/// A compiled loop and its properties.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// The function.
    pub kernel: Kernel,
    /// Bytes of [`Event::buffers`](crate::Event::buffers).
    pub buffers: usize,
    /// Samples in a register.
    pub lanes: usize,
    /// Registers of the delay line along columns.
    pub state: usize,
    /// Distance in samples of the last result of a pair before the pair's first sample.
    pub back: usize,
    /// Samples on either side on which a result depends.
    pub reach: usize,
    /// Whether the loop permutes lanes of two registers in one instruction, and so uses [`Level::edges`].
    pub picks: bool,
}

impl Loop {
    /// Most samples beyond the ends of a row that registers have lanes for.
    pub fn around(&self) -> usize {
        let pair = 2 * self.lanes;
        2 * pair + self.back + 2 + (self.back + 1 + self.reach).div_ceil(pair) * pair
    }
}

/// The request for a loop.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The steps, which update the two phases alternately; empty if they read more than nearby samples.
    pub steps: &'a [Weights],
    /// These steps as data, for a long chain of reals.
    pub long: Option<&'a Steps>,
    /// Maximum of [`Weights::sides`].
    pub sides: usize,
    /// Analysis, or else synthesis.
    pub analysis: bool,
    /// Samples per row.
    pub n: usize,
    /// Direction of lifting.
    pub along: Along,
}

/// Direction of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Along rows, one row at a time.
    Rows,
    /// Along columns only, four rows at a time.
    Columns,
    /// Along rows and columns, four rows at a time. Analysis lifts rows first, synthesis columns.
    Both,
    /// Along columns and rows, four rows at a time: [`Along::Both`] in the order of JPEG 2000.
    ColumnsFirst,
}

/// The loop of an instruction set for samples `T`, if there is one; of a narrower set if rows are too short.
pub fn find<T: 'static>(isa: Isa, wanted: Wanted<'_>) -> Option<Loop> {
    crate::sets::find(isa, TypeId::of::<T>(), wanted)
}

impl Wanted<'_> {
    /// Whether step `k` is `x ∓= (a + b + rounding) >> shift`.
    pub(crate) fn is(&self, k: usize, subtract: bool, rounding: f64, shift: u32) -> bool {
        let step = &self.steps[k];
        self.plain(k, subtract) && (step.rounding, step.shift) == (rounding, shift)
    }

    /// Number of steps, and whether the first one reads the sample to the right. `None` unless all steps have two
    /// products, except the first and the last, which read one sample each, on different sides.
    pub(crate) fn ends(&self) -> Option<(usize, bool)> {
        let reads = |step: &Weights| step.weights[0].map(|weight| weight.is_some());
        let [first, middle @ .., last] = self.steps else { return None };
        let two = |step: &Weights| !step.summed && reads(step) == [true; 2];
        match [reads(first), reads(last)] {
            [[left, right], [l, r]] if left != right && [l, r] == [right, left] && middle.iter().all(two) => {
                Some((self.steps.len(), right))
            }
            _ => None,
        }
    }

    /// Whether step `k` is `x ∓= (a + b + rounding) >> shift` with any rounding and shift; no step may read more than
    /// one sample on either side.
    pub(crate) fn plain(&self, k: usize, subtract: bool) -> bool {
        self.steps[k].weights[0] == [Some(1.0); 2] && self.steps[k].subtract == subtract
    }
}
