//! Van der Laan's passes in several block shapes; tables have the fastest on a device.
//!
//! The kernels are those of [`horizontal`] and [`vertical`]. As in the paper, a thread moves words of four bytes: two
//! neighbours, if samples have 16 bits. Lines that are not whole, aligned words move sample by sample. A thread of a
//! slab may have several words, and slabs may be cut into chunks of rows, which the paper does not do.
//!
//! Source: van der Laan, Jalba & Roerdink, "Accelerating Wavelet Lifting on Graphics Hardware Using CUDA", IEEE TPDS
//! 22(1), 2011, sections IV-E and IV-F.

use lifting_codegen::ir::Kernel;
use lifting_codegen::schedule::horizontal::{self, HorizontalShape};
use lifting_codegen::schedule::vertical::{self, VerticalShape};
use lifting_codegen::schedule::{Along, AxisSchedule, Options, ScheduleError, Sides};
use lifting_codegen::window::Window;
use lifting_dsl::Scheme;

/// Block shapes of both passes.
#[derive(Clone, Copy, Debug)]
pub struct SlidingWindow {
    name: &'static str,
    about: &'static str,
    rows: HorizontalShape,
    /// Columns of a slab, threads along x and y, and rows that the window advances by.
    slab: [u32; 4],
    /// Rows of a chunk; 0 does not cut slabs.
    chunk: u32,
}

/// Rows of a slab that is not cut.
const WHOLE: u32 = 1 << 24;

const fn shape(names: [&'static str; 2], rows: [u32; 2], slab: [u32; 4], chunk: u32) -> SlidingWindow {
    let [threads, pairs] = rows;
    SlidingWindow { name: names[0], about: names[1], rows: HorizontalShape { threads, pairs }, slab, chunk }
}

/// Block shapes, the paper's first.
pub const SHAPES: [SlidingWindow; 8] = [
    shape(
        ["window-paper", "A pass an axis: slabs of 32 columns by 16 x 8 threads, uncut (van der Laan 2011)"],
        [256, 1024],
        [32, 16, 8, 16],
        0,
    ),
    shape(["window-32-whole", "Slabs of 32 columns by 32 x 8 threads, uncut"], [256, 512], [32, 32, 8, 32], 0),
    shape(["window-32-256", "Slabs of 32 columns by 32 x 8 threads, 256 rows"], [128, 512], [32, 32, 8, 16], 256),
    shape(["window-32-128", "Slabs of 32 columns by 32 x 8 threads, 128 rows"], [128, 256], [32, 32, 8, 32], 128),
    shape(["window-32-64", "Slabs of 32 columns by 16 x 8 threads, 64 rows"], [64, 256], [32, 16, 8, 32], 64),
    shape(["window-64-256", "Slabs of 64 columns by 64 x 8 threads, 256 rows"], [512, 512], [64, 64, 8, 16], 256),
    shape(["window-64-128", "Slabs of 64 columns by 32 x 8 threads, 128 rows"], [256, 256], [64, 32, 8, 16], 128),
    shape(["window-64-tall", "Slabs of 64 columns by 32 x 16 threads, 512 rows"], [512, 1024], [64, 32, 16, 64], 512),
];

impl AxisSchedule for SlidingWindow {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn kernel(&self, scheme: &Scheme, options: Options, sides: Sides, along: Along) -> Result<Kernel, ScheduleError> {
        self.of_width(scheme, options, sides, along, 1)
    }

    /// Samples of a word of four bytes.
    fn width(&self, sides: Sides) -> u32 {
        (4 / sides.signal.bytes().max(sides.bands.bytes()) as u32).max(1)
    }

    fn whole_kernel(
        &self,
        scheme: &Scheme,
        options: Options,
        sides: Sides,
        along: Along,
    ) -> Result<Kernel, ScheduleError> {
        self.of_width(scheme, options, sides, along, self.width(sides))
    }
}

impl SlidingWindow {
    fn of_width(
        &self,
        scheme: &Scheme,
        options: Options,
        sides: Sides,
        along: Along,
        width: u32,
    ) -> Result<Kernel, ScheduleError> {
        if along == Along::Row {
            return horizontal::kernel_of_width(scheme, options, sides, (self.rows, along), width);
        }
        let window = Window::derive(&options.direction.steps(scheme), options.boundary);
        let [columns, threads_x, threads_y, height] = self.slab;
        let height = height.max((window.kept() as u32).next_multiple_of(8));
        let chunk = if self.chunk == 0 { WHOLE } else { self.chunk }.next_multiple_of(height);
        // A thread has at least a word, so slabs of few columns get wider.
        let columns = columns.max(threads_x * width);
        let shape = VerticalShape { columns, threads_x, threads_y, height, chunk };
        vertical::kernel_of_width(scheme, options, sides, shape, width)
    }
}
