//! One axis along columns: slabs of coalesced width, with a window in shared memory that slides down.
//!
//! rewrite: a scheme along columns → slabs of coalesced width, with a window in shared memory that slides down
//!
//! A block owns a slab of columns and a chunk of their rows. The window ([`Window`]) holds `top + overlap + height +
//! bottom` rows. Each turn loads `height` new rows, runs every step at its lag, stores the finished rows and moves the
//! kept rows up: every row is read once and written once. A chunk that does not start at the border starts its window
//! early enough ([`Halo`]) for its first results to be correct. The row pitch may be that of any axis of an
//! n-dimensional array.
//!
//! Source: van der Laan, Jalba & Roerdink, "Accelerating Wavelet Lifting on Graphics Hardware Using CUDA", IEEE TPDS
//! 22(1), 2011, section IV-F, Algorithm 1; cutting columns into chunks is ours.

use super::lift::{Arithmetic, step_value};
use super::pass::{Along, Image, Pass, resident};
use super::{Options, ScheduleError, Sides, lattice};
use crate::ir::build::Builder;
use crate::ir::{Builtin, Cache, Expr, Kernel, Launch, LocalId, Place, Scalar, SharedId, Space};
use crate::window::{Halo, Window};
use lifting_dsl::{Boundary, Direction, Scheme, Step};

/// Shape of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VerticalShape {
    /// Columns of a slab: a multiple of the threads along x.
    pub columns: u32,
    /// Threads along x. With fewer threads than columns, a thread has several columns, `threads_x` apart.
    pub threads_x: u32,
    /// Threads along y.
    pub threads_y: u32,
    /// Advance of the window in rows. Even.
    pub height: u32,
    /// Rows of a chunk. A multiple of `height`.
    pub chunk: u32,
}

impl VerticalShape {
    /// The shape for a window: a slab of 128 bytes, an advance of 16 rows (or more, up to the rows it keeps), and
    /// chunks of at least 256 rows.
    pub fn for_window(window: &Window, sample: Scalar) -> VerticalShape {
        let height = 16.max((window.kept() as u32).div_ceil(8) * 8);
        let columns = if sample.bytes() == 2 { 64 } else { 32 };
        VerticalShape { columns, threads_x: columns, threads_y: 8, height, chunk: 256u32.div_ceil(height) * height }
    }
}

/// Writes the pass kernel, with the shape that [`Shape::for_window`] proposes.
///
/// # Errors
/// See [`kernel_with`].
pub fn kernel(scheme: &Scheme, options: Options) -> Result<Kernel, ScheduleError> {
    let window = Window::derive(&options.direction.steps(scheme), options.boundary);
    kernel_with(scheme, options, VerticalShape::for_window(&window, options.sample))
}

/// Writes the pass kernel.
///
/// # Errors
/// If the sample type is not in the scheme's domain. If the window keeps more rows than it advances by, or exceeds 48
/// KiB of shared memory.
pub fn kernel_with(scheme: &Scheme, options: Options, shape: VerticalShape) -> Result<Kernel, ScheduleError> {
    kernel_between(scheme, options, Sides::both(options.sample), shape)
}

/// Writes the pass kernel between arrays of two types.
///
/// # Errors
/// As [`kernel_with`].
pub fn kernel_between(
    scheme: &Scheme,
    options: Options,
    sides: Sides,
    shape: VerticalShape,
) -> Result<Kernel, ScheduleError> {
    kernel_of_width(scheme, options, sides, shape, 1)
}

/// [`kernel_between`] with `width` neighbouring columns per access. The number of columns and the row starts are
/// multiples of it, as is `shape.columns` of a thread.
///
/// # Errors
/// As [`kernel_with`].
pub fn kernel_of_width(
    scheme: &Scheme,
    options: Options,
    sides: Sides,
    shape: VerticalShape,
    width: u32,
) -> Result<Kernel, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?;
    if let Some(stages) = options.direction.stages(scheme, options.boundary) {
        return lattice::runs::kernel(scheme, options, sides, Along::Column, &stages);
    }
    let steps = options.direction.steps(scheme);
    let window = Window::derive(&steps, options.boundary);
    let halo = Halo::of(&steps, options.boundary);
    let too_long = |what, required: i64, available: i64| ScheduleError::Reach {
        schedule: "vertical",
        wavelet: scheme.name().to_owned(),
        what,
        required,
        available,
    };
    if window.kept() > i64::from(shape.height) {
        return Err(too_long("rows that a window keeps", window.kept(), shape.height.into()));
    }
    let cells = window.rows(shape.height.into()) * i64::from(shape.columns);
    let bytes = cells * arith.work.bytes() as i64;
    if bytes > 48 * 1024 {
        return Err(too_long("bytes of shared memory for the window", bytes, 48 * 1024));
    }

    let name = if width == 1 { "vertical".to_owned() } else { format!("vertical_x{width}") };
    let mut builder = Builder::new(options.pass_name(scheme, &name, sides));
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Analysis of columns: a window slides down a slab of columns.",
        Direction::Inverse => "Synthesis of columns: a window slides down a slab of columns.",
    });
    b.doc(format!(
        "Window: top {} + overlap {} + height {} + bottom {} = {} rows of {} columns; \
         chunks of {} rows; border rule {}.",
        window.top,
        window.overlap,
        shape.height,
        window.bottom,
        window.rows(shape.height.into()),
        shape.columns,
        shape.chunk,
        options.boundary
    ));
    let pass = Pass::declare(b, options, sides, arith, Along::Column);
    let cells = b.shared("window", arith.work, cells as u32);

    let (columns, chunk) = (shape.columns as i32, shape.chunk as i32);
    let slabs = b.let_("slabs", Scalar::I32, (pass.lines + (columns - 1)) / columns);
    let column = Builtin::BlockX % slabs * columns + across(width);
    let column = b.let_("column", Scalar::I32, column);
    let offsets = (0..shape.columns).step_by((shape.threads_x * width) as usize);
    let columns_of = offsets.map(|offset| Column::declare(b, column, offset as i32, &pass)).collect();
    let start = b.let_("chunk_start", Scalar::I32, Builtin::BlockX / slabs * chunk);
    let end = b.let_("end", Scalar::I32, pass.parity + pass.length);
    let stop = b.let_("chunk_stop", Scalar::I32, (start + chunk).min(end));
    let above = (window.top + window.overlap) as i32;
    // The window starts far enough above the chunk to include the halo.
    let lead = (halo.before as i32 - above).max(0);
    let lead = lead + lead % 2;
    let periodic = options.boundary == Boundary::Periodic;
    let front0 = if lead == 0 {
        start.into()
    } else if periodic {
        start - lead
    } else {
        // No rows exist above the first chunk.
        start.eq_(0).select(0, start - lead)
    };
    let front0 = b.let_("first_front", Scalar::I32, front0);
    let (window, halo, pass) = (&window, &halo, &pass);
    let slab = Slab { cells, window, halo, shape, width, arith, pass, columns: columns_of, start, end, above };

    pass.for_each_image(b, |b, image| {
        let front = b.let_("front", Scalar::I32, front0);
        b.while_((front - window.overlap as i32).lt(stop), |b| {
            let border = pass.mirrors().then(|| {
                let starts = (front - above).lt(pass.parity);
                let ends = (front + (shape.height as i32 + window.bottom as i32)).gt(end);
                b.let_("border", Scalar::Bool, starts.or(ends))
            });
            slab.load(b, &image, front, front0);
            b.barrier();
            b.if_(pass.length.gt(1), |b| {
                for step in steps.iter().enumerate() {
                    slab.step(b, step, front, front0, border);
                }
            });
            slab.store(b, &image, front, stop);
            slab.slide(b, front);
            b.set(front, front + shape.height as i32);
            b.barrier();
        });
    });

    let slabs = ((pass.lines + (columns - 1)) / columns).cast(Scalar::I64);
    let chunks = (pass.parity + pass.length + (chunk - 1)) / chunk;
    let grid = [slabs * chunks.cast(Scalar::I64), 1.into(), pass.grid_z()];
    let mut kernel = builder.finish(Launch { block: [shape.threads_x, shape.threads_y, 1], grid });
    kernel.min_blocks = resident(&steps);
    Ok(kernel)
}

/// First of a thread's columns in the slab.
fn across(width: u32) -> Expr {
    if width == 1 { Builtin::ThreadX.into() } else { Builtin::ThreadX * width as i32 }
}

/// A column of a thread, or the first of neighbours.
#[derive(Clone, Copy)]
struct Column {
    index: LocalId,
    /// Whether it is inside the image.
    active: LocalId,
    /// Columns after the thread's first.
    offset: i32,
}

impl Column {
    fn declare(b: &mut Builder, first: LocalId, offset: i32, pass: &Pass) -> Column {
        let index = if offset == 0 { first } else { b.let_("column", Scalar::I32, first + offset) };
        let active = b.let_("active", Scalar::Bool, index.lt(pass.lines));
        Column { index, active, offset }
    }
}

/// A slab of columns and its window in shared memory.
struct Slab<'a> {
    cells: SharedId,
    window: &'a Window,
    halo: &'a Halo,
    shape: VerticalShape,
    /// Neighbouring columns per access.
    width: u32,
    arith: Arithmetic,
    pass: &'a Pass,
    /// The thread's columns, or the first of each group of neighbours.
    columns: Vec<Column>,
    start: LocalId,
    end: LocalId,
    /// Rows of the window above its front.
    above: i32,
}

impl Slab<'_> {
    /// Runs `body` for the thread's columns and its rows among `from..to` (positions).
    fn rows(&self, b: &mut Builder, from: Expr, to: Expr, step: i32, body: impl Fn(&mut Builder, Expr, Column)) {
        let from = from + Builtin::ThreadY * step;
        let by = self.shape.threads_y as i32 * step;
        match self.columns[..] {
            [column] => b.if_(column.active, |b| b.for_("row", from, to, by, |b, row| body(b, row, column))),
            _ => b.for_("row", from, to, by, |b, row| {
                self.columns.iter().for_each(|&column| b.if_(column.active, |b| body(b, row, column)));
            }),
        }
    }

    /// Element of a row of the window.
    fn cell(&self, front: LocalId, position: Expr, column: Column) -> Expr {
        let cell = (position - front + self.above) * self.shape.columns as i32 + across(self.width);
        if column.offset == 0 { cell } else { cell + column.offset }
    }

    /// Restricts rows to those inside the signal, unless it is extended periodically.
    fn clip(&self, from: Expr, to: Expr) -> (Expr, Expr) {
        match self.pass.periodic() {
            true => (from, to),
            false => (from.max(self.pass.parity), to.min(self.end)),
        }
    }

    /// The row inside the image that a row of the window is loaded from.
    fn served(&self, b: &mut Builder, row: Expr) -> Expr {
        match self.pass.periodic() {
            true => b.let_("served", Scalar::I32, self.pass.serve(row)).into(),
            false => row,
        }
    }

    /// Neighbours of an access.
    fn each(&self) -> std::ops::Range<i32> {
        0..self.width as i32
    }

    /// Loads neighbouring columns of a row of the window into a new array.
    fn neighbours(&self, b: &mut Builder, name: &str, cell: Expr) -> LocalId {
        let values = b.array(name, self.arith.work, self.width);
        b.load(Place::Elem(values, 0.into()), Space::Shared(self.cells), cell, self.width, Cache::Default);
        values
    }

    /// Stores neighbouring columns in a row of the window.
    fn keep(&self, b: &mut Builder, cell: Expr, values: Vec<Expr>) {
        b.store_wide(Space::Shared(self.cells), cell, values, Cache::Default);
    }

    fn load(&self, b: &mut Builder, image: &Image, front: LocalId, front0: LocalId) {
        b.comment("load: the whole window at first, then only new rows");
        let fresh = front + self.window.bottom as i32;
        let from = front.eq_(front0).select(front - self.above, fresh);
        let to = front + (self.shape.height as i32 + self.window.bottom as i32);
        let (from, to) = self.clip(from, to);
        self.rows(b, from, to, 1, |b, row, column| {
            if self.width > 1 {
                let served = self.served(b, row);
                let samples = self.pass.load_wide(b, image, (column.index.into(), served), self.width);
                self.keep(b, self.cell(front, row, column), self.each().map(|c| samples.at(c)).collect());
                return;
            }
            let sample = b.declare("sample", self.arith.work);
            let served = self.served(b, row);
            self.pass.load(b, image, column.index.into(), served, Place::Local(sample));
            b.store(Space::Shared(self.cells), self.cell(front, row, column), sample);
        });
    }

    fn step(
        &self,
        b: &mut Builder,
        (index, step): (usize, &Step),
        front: LocalId,
        front0: LocalId,
        border: Option<LocalId>,
    ) {
        let target = step.target();
        let p = target.parity() as i32;
        let lag = self.window.steps[index].lag as i32;
        let before = self.halo.steps[index].0 as i32;
        let behind = match lag {
            0 => String::new(),
            _ => format!(", {lag} rows behind the front"),
        };
        b.comment(format!("{}{behind}", crate::describe::step(step)));
        // The first window of a chunk goes back as far as later steps need, before the lags set in.
        let first = front.eq_(front0);
        let from = first.select(self.start - before, front - lag);
        let (from, to) = self.clip(from, front + (self.shape.height as i32 - lag));
        // The first row of the target's phase at or after `from`.
        let from = if p == 0 { ((from + 1) >> 1) << 1 } else { ((from >> 1) << 1) + 1 };
        let lift = |b: &mut Builder, row: Expr, column: Column| {
            let cell = b.let_("cell", Scalar::I32, self.cell(front, row, column));
            if self.width > 1 {
                return self.lift_neighbours(b, step, (front, row, column), cell, border);
            }
            let old = b.load_new(target.name(), self.arith.work, Space::Shared(self.cells), cell);
            let mut read = |offset: i32| {
                let k = (row >> 1) + offset;
                self.pass.read(b, self.arith, target.other(), k, border, |b, k, place| {
                    let position = (k << 1) + (1 - p);
                    b.load(place, Space::Shared(self.cells), self.cell(front, position, column), 1, Default::default());
                })
            };
            let value = step_value(step, self.arith, old.into(), &mut read);
            b.store(Space::Shared(self.cells), cell, value);
        };
        b.part("lift_rows", "Runs a lifting step on rows of the window.", |b| self.rows(b, from, to, 2, lift));
        b.barrier();
    }

    /// One step on neighbouring columns of a row.
    fn lift_neighbours(
        &self,
        b: &mut Builder,
        step: &Step,
        (front, row, column): (LocalId, Expr, Column),
        cell: LocalId,
        border: Option<LocalId>,
    ) {
        let target = step.target();
        let p = target.parity() as i32;
        let old = self.neighbours(b, target.name(), cell.into());
        // Neighbours read the same rows.
        let mut known: Vec<(i32, LocalId)> = Vec::new();
        let values = self.each().map(|c| {
            let mut read = |offset: i32| {
                if let Some((_, values)) = known.iter().find(|(of, _)| *of == offset) {
                    return values.at(c);
                }
                let k = (row >> 1) + offset;
                let values =
                    self.pass.read_wide(b, self.arith, (target.other(), k), border, self.width, |b, k, place| {
                        let position = (k << 1) + (1 - p);
                        let cell = self.cell(front, position, column);
                        b.load(place, Space::Shared(self.cells), cell, self.width, Cache::Default);
                    });
                known.push((offset, values));
                values.at(c)
            };
            step_value(step, self.arith, old.at(c), &mut read)
        });
        let values = values.collect();
        self.keep(b, cell.into(), values);
    }

    fn store(&self, b: &mut Builder, image: &Image, front: LocalId, stop: LocalId) {
        b.comment("store the finished rows");
        let done = front - self.window.overlap as i32;
        let from = done.max(self.start).max(self.pass.parity);
        let to = (done + self.shape.height as i32).min(stop);
        self.rows(b, from, to, 1, |b, row, column| {
            let cell = self.cell(front, row, column);
            if self.width > 1 {
                let results = self.neighbours(b, "results", cell);
                let values = self.each().map(|c| results.at(c)).collect();
                return self.pass.store_wide(b, image, (column.index.into(), row), values);
            }
            let value = b.load_new("result", self.arith.work, Space::Shared(self.cells), cell);
            self.pass.store(b, image, column.index.into(), row, value.into());
        });
    }

    fn slide(&self, b: &mut Builder, front: LocalId) {
        let kept = self.window.kept() as i32;
        if kept == 0 {
            return;
        }
        b.barrier();
        b.comment("slide: move up the rows that the next window needs");
        let from = front + (self.shape.height as i32 - self.above);
        let (from, to) = self.clip(from, from + kept);
        self.rows(b, from, to, 1, |b, row, column| {
            let cell = b.let_("cell", Scalar::I32, self.cell(front, row, column));
            let up = (self.shape.height * self.shape.columns) as i32;
            if self.width > 1 {
                let kept = self.neighbours(b, "kept", cell.into());
                return self.keep(b, cell - up, self.each().map(|c| kept.at(c)).collect());
            }
            let value = b.load_new("kept", self.arith.work, Space::Shared(self.cells), cell);
            b.store(Space::Shared(self.cells), cell - up, value);
        });
    }
}
