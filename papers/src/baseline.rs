//! Baselines that papers compare their schedules with: small, plain and slow.
//!
//! [`NaiveColumns`]: rewrite: a scheme along columns → the row schedule, a block for each column. Neighbouring threads
//! load samples a row apart, so accesses hardly coalesce.
//!
//! [`Transposed`]: rewrite: a scheme along columns → a transposed image, rows, and back (`transpose`). Everything is
//! coalesced, but passes through memory three times.
//!
//! Source: van der Laan, Jalba & Roerdink, "Accelerating Wavelet Lifting on Graphics Hardware Using CUDA", IEEE TPDS
//! 22(1), 2011, sections V-B.1 and V-B.2. There, they take 19, and 3 to 8, times as long as the sliding window.

use lifting_codegen::ir::Kernel;
use lifting_codegen::schedule::horizontal::{self, HorizontalShape};
use lifting_codegen::schedule::{Along, AxisSchedule, Options, ScheduleError, Sides};
use lifting_dsl::Scheme;

/// Columns by the row schedule: a block has a slice of one in shared memory.
#[derive(Clone, Copy, Debug)]
pub struct NaiveColumns {
    name: &'static str,
    slice: HorizontalShape,
}

const fn naive(name: &'static str, threads: u32, pairs: u32) -> NaiveColumns {
    NaiveColumns { name, slice: HorizontalShape { threads, pairs } }
}

/// Block shapes.
pub const NAIVE: [NaiveColumns; 3] =
    [naive("naive-columns", 256, 512), naive("naive-columns-256", 128, 256), naive("naive-columns-64", 64, 64)];

impl AxisSchedule for NaiveColumns {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "Baseline: a pass an axis, a block for each column (van der Laan 2011)"
    }

    fn kernel(&self, scheme: &Scheme, options: Options, sides: Sides, along: Along) -> Result<Kernel, ScheduleError> {
        horizontal::kernel_along(scheme, options, sides, self.slice, along)
    }
}

/// Columns as rows of the transposed image.
#[derive(Clone, Copy, Debug)]
pub struct Transposed {
    name: &'static str,
    slice: HorizontalShape,
}

const fn transposed(name: &'static str, threads: u32, pairs: u32) -> Transposed {
    Transposed { name, slice: HorizontalShape { threads, pairs } }
}

/// Block shapes; the last has whole lines of 1920 samples.
pub const TRANSPOSED: [Transposed; 3] = [
    transposed("transposed", 256, 512),
    transposed("transposed-128", 64, 128),
    transposed("transposed-1024", 256, 1024),
];

impl AxisSchedule for Transposed {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "Baseline: a pass an axis, columns transposed (van der Laan 2011)"
    }

    fn transposes(&self) -> bool {
        true
    }

    /// The kernel of rows, for either axis.
    fn kernel(&self, scheme: &Scheme, options: Options, sides: Sides, _: Along) -> Result<Kernel, ScheduleError> {
        horizontal::kernel_between(scheme, options, sides, self.slice)
    }
}
