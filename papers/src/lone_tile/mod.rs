//! Both axes of a small image in one pass: a thread block holds all of it in shared memory.
//!
//! rewrite: a scheme along both axes of a small image → a thread block that has all of it in shared memory
//!
//! The image is a tile of JPEG 2000 with its own borders: plans form a grid of them (`PlanBuilder::tile`), for one
//! launch. A block has half as many threads as the tile has samples, one for each even and odd sample pair.
//! Neighbouring threads have neighbouring columns for loads, stores and lifting along columns. For rows the two axes of
//! threads swap, so that threads cover all pairs of all rows. Half a row of threads stores a row of each band, low
//! samples by the first half, so that accesses are coalesced. After each step all threads wait.
//!
//! Source: Matela 2009, "GPU-Based DWT Acceleration for JPEG2000", section 5, where a tile is a block that ignores its
//! neighbours. Here its borders follow the border rule, as those of a tile of JPEG 2000, and a column of padding keeps
//! samples of a column in different banks.

mod schedule;

pub use schedule::LoneTileSchedule;

use lifting_codegen::action::Action;
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::valid::MAX_SHARED;
use lifting_codegen::ir::{Builtin, Cache, Expr, Kernel, Launch, LocalId, Place, Scalar, SharedId, Space};
use lifting_codegen::schedule::level::{Border, Held, Order, PHASES, Params};
use lifting_codegen::schedule::{Arithmetic, Options, ScheduleError, pair_values, set_pair, step_value, unfit};
use lifting_dsl::{Boundary, Direction, Phase, Scheme};

/// Maximum threads of a block.
const MAX_THREADS: u32 = 1024;

/// A scheme fitted to a tile.
#[derive(Clone, Debug)]
pub struct LoneTileFit {
    options: Options,
    arith: Arithmetic,
    /// Maximum rows and columns of a tile.
    side: u32,
    actions: Vec<Action>,
}

/// Fits a scheme to a tile: every scheme whose samples fit.
///
/// # Errors
/// If the sample type is not in the scheme's domain, or a tile exceeds shared memory.
pub fn fit(scheme: &Scheme, options: Options, side: u32) -> Result<LoneTileFit, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?.in_registers();
    let refuse = ScheduleError::limit("lone-tile", scheme);
    if side < 2 || !side.is_multiple_of(2) {
        return Err(unfit("lone-tile", "side of a tile", side, "a positive even number"));
    }
    let bytes = i64::from((side + 1) * (side + 1)) * arith.work.bytes() as i64;
    if bytes > MAX_SHARED as i64 {
        return Err(refuse("bytes of shared memory for a tile", bytes, MAX_SHARED as i64));
    }
    if options.doubled_ends {
        let what = "it cannot double the ends of lines on load".to_owned();
        return Err(ScheduleError::Launch { schedule: "lone-tile", what });
    }
    let actions = Action::all(scheme, options.direction, options.boundary);
    Ok(LoneTileFit { options, arith, side, actions })
}

impl LoneTileFit {
    /// Threads of a block along x and y: one for two samples, up to the maximum of a block.
    fn threads(&self) -> [u32; 2] {
        [self.side, (self.side / 2).min(MAX_THREADS / self.side).max(1)]
    }
}

/// The axis of a step, which also assigns threads.
#[derive(Clone, Copy, PartialEq)]
enum Axis {
    X,
    Y,
}

/// A tile in shared memory.
struct Tile<'a> {
    fit: &'a LoneTileFit,
    params: &'a Params,
    held: Held,
    cells: SharedId,
    /// Offsets of the current tile in the signal, in ll and in the other bands.
    offsets: [LocalId; 3],
}

/// Writes the kernel of a fit.
fn write(fit: &LoneTileFit, scheme: &Scheme, order: Order) -> Kernel {
    let LoneTileFit { options, arith, side, .. } = *fit;
    let mut builder = Builder::new(options.kernel_name(scheme, "lone_tile"));
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Analysis of both axes of independent tiles, in shared memory.",
        Direction::Inverse => "Synthesis of both axes of independent tiles, in shared memory.",
    });
    b.doc(format!("A tile is at most {side} x {side} samples, two a thread; border rule {}.", options.boundary));
    b.doc("The grid has all tiles, `chunk` in a row; their rows lie directly below each other.");
    let params = Params::declare(b, options);
    // Every step reads samples beyond a border from inside the tile.
    let held = params.held(options, arith, Border::Extend, 1, false);
    let cells = b.shared("tile", arith.work, (side + 1) * (side + 1));
    let offsets = of_tile(b, &params);
    let tile = Tile { fit, params: &params, held, cells, offsets };
    let axes = if order.across_first(options.direction) { [Axis::X, Axis::Y] } else { [Axis::Y, Axis::X] };
    tile.each_sample(b, &|b, space, index, cell| {
        let value = b.load_new("value", options.sample, space, index);
        let value = arith.widen(value.into());
        let value = match (params.gain, options.direction) {
            (Some(gain), Direction::Forward) => arith.shift_up(value, gain.into()),
            _ => value,
        };
        b.store(Space::Shared(cells), cell, value);
    });
    b.barrier();
    for axis in axes {
        fit.actions.iter().for_each(|action| tile.lift(b, action, axis));
    }
    tile.each_result(b, &|b, space, index, cell| {
        let value = b.load_new("result", arith.work, Space::Shared(cells), cell);
        let value = match (params.gain, options.direction) {
            (Some(gain), Direction::Inverse) => arith.shift_down(value.into(), gain.into()),
            _ => value.into(),
        };
        b.store_wide(space, index, vec![arith.narrow(value)], Cache::Default);
    });
    let [x, y] = fit.threads();
    builder.finish(Launch { block: [x, y, 1], grid: [params.batch.into(), 1.into(), 1.into()] })
}

/// Offsets of the block's tile: signal, ll, the other bands.
fn of_tile(b: &mut Builder, params: &Params) -> [LocalId; 3] {
    let column = b.let_("tile_column", Scalar::I32, Builtin::BlockX % params.chunk);
    let row = b.let_("tile_row", Scalar::I32, Builtin::BlockX / params.chunk);
    let offsets = params.offsets(b, column.into());
    let above = b.let_("rows_above", Scalar::I64, (row * params.height).cast(Scalar::I64));
    let pitches = [params.signal_pitch, params.band_pitches[0], params.band_pitches[1]];
    for (offset, pitch) in offsets.into_iter().zip(pitches) {
        b.set(offset, offset + above * pitch);
    }
    offsets
}

type Each<'a> = &'a dyn Fn(&mut Builder, Space, Expr, Expr);

impl Tile<'_> {
    /// Element of the sample at a position.
    fn cell(&self, x: Expr, y: Expr) -> Expr {
        y * (self.fit.side as i32 + 1) + x
    }

    /// Index in an array (0: signal, 1: ll, 2: the other bands) of a row and a column.
    fn index(&self, array: usize, row: Expr, column: Expr) -> Expr {
        let pitch = [self.params.signal_pitch, self.params.band_pitches[0], self.params.band_pitches[1]][array];
        let row = row.cast(Scalar::I64) * pitch;
        self.offsets[array] + row + column.cast(Scalar::I64)
    }

    /// Runs `each` for every sample that the kernel reads, with its element in shared memory.
    fn each_sample(&self, b: &mut Builder, each: Each) {
        match self.fit.options.direction {
            Direction::Forward => self.each_of_signal(b, each),
            Direction::Inverse => self.each_of_bands(b, each),
        }
    }

    /// Runs `each` for every sample that the kernel writes.
    fn each_result(&self, b: &mut Builder, each: Each) {
        match self.fit.options.direction {
            Direction::Forward => self.each_of_bands(b, each),
            Direction::Inverse => self.each_of_signal(b, each),
        }
    }

    fn each_of_signal(&self, b: &mut Builder, each: Each) {
        let step = self.fit.threads()[1] as i32;
        let x = Expr::from(Builtin::ThreadX);
        b.if_(x.lt(self.held.length(0)), |b| {
            b.for_("y", Builtin::ThreadY, self.held.length(1), step, |b, y| {
                let cell = self.cell(x + self.held.start(0), y + self.held.start(1));
                each(b, Space::Global(self.params.signal), self.index(0, y, x), cell);
            });
        });
    }

    /// Even rows come first. In a row the first half of the threads has the low samples.
    fn each_of_bands(&self, b: &mut Builder, each: Each) {
        let [across, step] = self.fit.threads().map(|n| n as i32);
        let half = across / 2;
        // With an odd first position or an odd length, one phase has one more sample.
        let turns = half + 1;
        for rows in PHASES {
            let count =
                |axis: usize, phase: Phase| self.held.last_index(axis, phase) - self.held.first_index(axis, phase) + 1;
            b.for_("y", Builtin::ThreadY, count(1, rows), step, |b, y| {
                let high = b.let_("high", Scalar::Bool, Builtin::ThreadX.ge(half));
                let k0 = high.select(Builtin::ThreadX - half, Builtin::ThreadX);
                b.for_("x", k0, turns, half, |b, x| {
                    let one = |b: &mut Builder, columns: Phase| {
                        b.if_(x.lt(count(0, columns)), |b| {
                            let band = 2 * rows.parity() as usize + columns.parity() as usize;
                            let at = |axis: usize, phase: Phase, n: Expr| {
                                ((n + self.held.first_index(axis, phase)) << 1) + phase.parity() as i32
                            };
                            let cell = self.cell(at(0, columns, x), at(1, rows, y));
                            let index = self.index(1 + band.min(1), y, x);
                            each(b, Space::Global(self.params.bands[band]), index, cell);
                        });
                    };
                    b.if_else(high, |b| one(b, Phase::Odd), |b| one(b, Phase::Even));
                });
            });
        }
    }

    /// A step or stage along an axis of all lines. Along rows the threads' axes swap.
    fn lift(&self, b: &mut Builder, action: &Action, axis: Axis) {
        let [across, down] = self.fit.threads().map(|n| n as i32);
        let (along, other) = if axis == Axis::X { (0, 1) } else { (1, 0) };
        b.comment(match action {
            Action::Step(step) => lifting_codegen::describe::step(step),
            Action::Stage(stage) => lifting_codegen::describe::stage(stage),
        });
        let line = b.let_("line", Scalar::I32, self.held.start(other) + Builtin::ThreadX);
        let cell = |phase: Phase, k: Expr| {
            let position = (k << 1) + phase.parity() as i32;
            if axis == Axis::X { self.cell(position, line.into()) } else { self.cell(line.into(), position) }
        };
        let (target, last) = match action {
            Action::Step(step) => (step.target(), self.held.last_index(along, step.target())),
            Action::Stage(stage) => (stage.first, self.held.last_index(along, stage.first)),
        };
        debug_assert!(across >= 2 && down >= 1);
        b.if_(line.lt(self.held.end(other)), |b| {
            let first = self.held.first_index(along, target) + Builtin::ThreadY;
            b.for_("k", first, last + 1, down, |b, k| match action {
                Action::Step(step) => {
                    let to = b.let_("to", Scalar::I32, cell(target, k));
                    let old = self.load(b, target.name(), to.into());
                    let mut read = |offset: i32| self.read(b, (along, target.other()), k + offset, &cell);
                    let value = step_value(step, self.fit.arith, old, &mut read);
                    b.store(Space::Shared(self.cells), to, value);
                }
                Action::Stage(stage) => {
                    let served = self.held.serve(along, stage.first.other(), k + stage.offset());
                    let places = [cell(stage.first, k), cell(stage.first.other(), served)];
                    let places = places.map(|at| b.let_("at", Scalar::I32, at));
                    let pair = places.map(|at| {
                        let value = b.load_new("sample", self.fit.arith.work, Space::Shared(self.cells), at);
                        Place::Local(value)
                    });
                    let [u, v] = pair.each_ref().map(|place| Expr::from(place.local()));
                    let values = pair_values(stage, self.fit.arith, u, v);
                    set_pair(b, self.fit.arith, pair, values);
                    for (at, place) in places.into_iter().zip(&pair) {
                        b.store(Space::Shared(self.cells), at, place.local());
                    }
                }
            });
        });
        b.barrier();
    }

    fn load(&self, b: &mut Builder, name: &str, at: Expr) -> Expr {
        b.load_new(name, self.fit.arith.work, Space::Shared(self.cells), at).into()
    }

    /// The sample of a phase along an axis at index `k`, as the border rule serves it.
    fn read(
        &self,
        b: &mut Builder,
        (along, phase): (usize, Phase),
        k: Expr,
        cell: &dyn Fn(Phase, Expr) -> Expr,
    ) -> Expr {
        let index = b.let_("i", Scalar::I32, k);
        let exists = self.held.exists(along, phase, index);
        if self.fit.options.boundary == Boundary::Zero {
            let value = b.let_("x", self.fit.arith.work, self.fit.arith.zero());
            b.if_(exists, |b| {
                b.load(value, Space::Shared(self.cells), cell(phase, index.into()), 1, Cache::Default);
            });
            return value.into();
        }
        b.if_(!exists, |b| {
            let served = self.held.serve(along, phase, index.into());
            b.set(index, served);
        });
        self.load(b, "x", cell(phase, index.into()))
    }
}
