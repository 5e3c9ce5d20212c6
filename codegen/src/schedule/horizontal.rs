//! One axis along contiguous rows: slices of a row in shared memory, a barrier after each step.
//!
//! rewrite: a scheme along contiguous rows → slices of a row in shared memory, a barrier after each step
//!
//! A block owns a slice of one row, in whole pairs, and loads it with the halo of the steps ([`Halo`]). Several blocks
//! share a row longer than a slice. Even and odd samples are split in shared memory, so that a step's accesses are
//! consecutive and free of bank conflicts, and the bands leave in order. Every step updates the slice and the rest of
//! its halo in place: it reads only the other phase. Border slices serve each read by the border rule.
//!
//! Source: van der Laan, Jalba & Roerdink, "Accelerating Wavelet Lifting on Graphics Hardware Using CUDA", IEEE TPDS
//! 22(1), 2011, section IV-E, where a block has a whole row. Slices of a row, and their halo, are ours.

use super::lift::{Arithmetic, step_value};
use super::pass::{Along, Image, Pass, resident};
use super::{Options, ScheduleError, Sides, lattice};
use crate::ir::build::Builder;
use crate::ir::{Builtin, Cache, Expr, Kernel, Launch, LocalId, Place, Scalar, SharedId, Space};
use crate::window::Halo;
use lifting_dsl::{Boundary, Direction, Scheme, Step};

/// Shape of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HorizontalShape {
    /// Threads a block.
    pub threads: u32,
    /// Pairs of samples a block.
    pub pairs: u32,
}

impl Default for HorizontalShape {
    fn default() -> HorizontalShape {
        HorizontalShape { threads: 256, pairs: 512 }
    }
}

/// Steps of a long kernel. Its steps' bounds, if computed before the loop over images, would not fit into registers.
const LONG: usize = 24;

/// Writes the pass kernel.
///
/// # Errors
/// If the sample type is not in the scheme's domain, or the halo is wider than a slice.
pub fn kernel(scheme: &Scheme, options: Options, shape: HorizontalShape) -> Result<Kernel, ScheduleError> {
    kernel_between(scheme, options, Sides::both(options.sample), shape)
}

/// Writes the pass kernel between arrays of two types.
///
/// # Errors
/// As [`kernel`].
pub fn kernel_between(
    scheme: &Scheme,
    options: Options,
    sides: Sides,
    shape: HorizontalShape,
) -> Result<Kernel, ScheduleError> {
    kernel_along(scheme, options, sides, shape, Along::Row)
}

/// [`kernel_between`] along either axis. A block then has one column: a baseline of papers.
pub fn kernel_along(
    scheme: &Scheme,
    options: Options,
    sides: Sides,
    shape: HorizontalShape,
    along: Along,
) -> Result<Kernel, ScheduleError> {
    kernel_of_width(scheme, options, sides, (shape, along), 1)
}

/// [`kernel_along`] rows with `width` neighbouring samples per access. The first position is even; bands of a row have
/// a multiple of as many samples, and begin at one.
///
/// # Errors
/// As [`kernel`].
pub fn kernel_of_width(
    scheme: &Scheme,
    options: Options,
    sides: Sides,
    (shape, along): (HorizontalShape, Along),
    width: u32,
) -> Result<Kernel, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?;
    if let Some(stages) = options.direction.stages(scheme, options.boundary) {
        return lattice::runs::kernel(scheme, options, sides, along, &stages);
    }
    let steps = options.direction.steps(scheme);
    let halo = Halo::of(&steps, options.boundary);
    // Accesses of several samples begin at multiples of their width.
    let whole = |pairs: i64| (pairs as u64).next_multiple_of(width.into()) as i64;
    let (before, after) = (whole(halo.pairs_before()), whole(halo.pairs_after()));
    if before.max(after) > i64::from(shape.pairs) {
        return Err(ScheduleError::Reach {
            schedule: "horizontal",
            wavelet: scheme.name().to_owned(),
            what: "pairs of a slice's halo",
            required: before.max(after),
            available: shape.pairs.into(),
        });
    }
    let phase_len = (i64::from(shape.pairs) + before + after) as u32;

    let name = if along == Along::Row { "horizontal" } else { "vertical_naive" };
    let name = if width == 1 { name.to_owned() } else { format!("{name}_x{width}") };
    let mut builder = Builder::new(options.pass_name(scheme, &name, sides));
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Analysis of rows: a block lifts a slice of a row in shared memory.",
        Direction::Inverse => "Synthesis of rows: a block lifts a slice of a row in shared memory.",
    });
    b.doc(format!(
        "A slice is {} pairs, with a halo of {before} before and {after} after; border rule {}.",
        shape.pairs, options.boundary
    ));
    let pass = Pass::declare(b, options, sides, arith, along);
    let row = b.shared("row", arith.work, 2 * phase_len);

    let pairs = shape.pairs as i32;
    let slices = b.let_("slices", Scalar::I32, (pass.pairs() + (pairs - 1)) / pairs);
    let line = b.let_("line", Scalar::I32, Builtin::BlockX / slices);
    let first = b.let_("first_pair", Scalar::I32, Builtin::BlockX % slices * pairs);
    let origin = b.let_("origin", Scalar::I32, (first - before as i32) << 1);
    let border = pass.mirrors().then(|| {
        let starts = origin.lt(pass.parity);
        let ends = (origin + 2 * phase_len as i32).gt(pass.end());
        b.let_("border", Scalar::Bool, starts.or(ends))
    });
    let tile = Tile { row, phase_len: phase_len as i32, first, before: before as i32, arith, pass: &pass, border };

    pass.for_each_image(b, |b, image| {
        if steps.len() > LONG {
            b.comment("adds 0, which compilers cannot know: so they compute bounds where needed, and do not spill");
            b.set(first, first + Builtin::BlockY);
        }
        b.comment("load: even samples first, then odd samples");
        if width > 1 {
            tile.load_wide(b, &image, (line, origin), (options, shape), width);
        } else {
            tile.load(b, &image, (line, origin), (options, shape));
        }
        b.barrier();
        b.if_(pass.length.gt(1), |b| {
            for (step, reach) in steps.iter().zip(&halo.steps) {
                tile.step(b, step, *reach, shape);
            }
        });
        b.comment(match options.direction {
            Direction::Forward => "store the bands",
            Direction::Inverse => "store the signal",
        });
        if width > 1 {
            tile.store_wide(b, &image, line, (options, shape), width);
        } else {
            tile.store(b, options, shape, |b, position, value| pass.store(b, &image, line.into(), position, value));
        }
        b.barrier();
    });

    let blocks = (pass.pairs() + (pairs - 1)) / pairs;
    let blocks = blocks.cast(Scalar::I64) * pass.lines.cast(Scalar::I64);
    let grid = [blocks, 1.into(), pass.grid_z()];
    let launch = Launch { block: [shape.threads, 1, 1], grid };
    let mut kernel = builder.finish(launch);
    kernel.min_blocks = resident(&steps);
    Ok(kernel)
}

/// A slice of a row in shared memory.
struct Tile<'a> {
    row: SharedId,
    phase_len: i32,
    first: LocalId,
    before: i32,
    arith: Arithmetic,
    pass: &'a Pass,
    border: Option<LocalId>,
}

impl Tile<'_> {
    /// Element of index `k` of a phase.
    fn slot(&self, phase: lifting_dsl::Phase, k: Expr) -> Expr {
        k - self.first + (self.before + phase.parity() as i32 * self.phase_len)
    }

    /// Loads the slice and its halo.
    fn load(
        &self,
        b: &mut Builder,
        image: &Image,
        (line, origin): (LocalId, LocalId),
        (options, shape): (Options, HorizontalShape),
    ) {
        b.for_("x", Builtin::ThreadX, 2 * self.phase_len, shape.threads as i32, |b, x| {
            let position = b.let_("position", Scalar::I32, origin + x);
            let slot = x.and(1) * self.phase_len + (x >> 1);
            self.inside(b, options, position, |b, position| {
                let sample = b.declare("sample", self.arith.work);
                self.pass.load(b, image, line.into(), position, Place::Local(sample));
                b.store(Space::Shared(self.row), slot, sample);
            });
        });
    }

    /// Runs `load` for a position, served by the border rule if that is periodic, or if it is inside the signal.
    fn inside(&self, b: &mut Builder, options: Options, position: LocalId, load: impl FnOnce(&mut Builder, Expr)) {
        if options.boundary == Boundary::Periodic {
            let position = b.let_("served", Scalar::I32, self.pass.serve(position.into()));
            load(b, position.into());
        } else {
            let inside = position.ge(self.pass.parity).and(position.lt(self.pass.end()));
            b.if_(inside, |b| load(b, position.into()));
        }
    }

    /// [`Tile::load`] with `width` neighbours per access: of the signal's, or of a band's.
    fn load_wide(
        &self,
        b: &mut Builder,
        image: &Image,
        (line, origin): (LocalId, LocalId),
        (options, shape): (Options, HorizontalShape),
        width: u32,
    ) {
        let w = width as i32;
        b.for_("word", Builtin::ThreadX, 2 * self.phase_len / w, shape.threads as i32, |b, word| {
            // Analysis: consecutive samples. Synthesis: samples of the low band, then of the high band.
            let (position, slots) = match options.direction {
                Direction::Forward => (origin + word * w, word * (w / 2)),
                Direction::Inverse => {
                    let half = self.phase_len / w;
                    let high = word.ge(half);
                    let k = high.select(word - half, word) * w;
                    (origin + (k << 1) + high.select(1, 0), word * w)
                }
            };
            let position = b.let_("position", Scalar::I32, position);
            self.inside(b, options, position, |b, position| {
                let samples = self.pass.load_wide(b, image, (line.into(), position), width);
                let each = |from: i32, step: usize| (from..w).step_by(step).map(|c| samples.at(c)).collect();
                let mut keep = |slot: Expr, values| b.store_wide(Space::Shared(self.row), slot, values, Cache::Default);
                match options.direction {
                    Direction::Forward => {
                        keep(slots, each(0, 2));
                        keep(slots + self.phase_len, each(1, 2));
                    }
                    Direction::Inverse => keep(slots, each(0, 1)),
                }
            });
        });
    }

    /// [`Tile::store`] with `width` neighbours per access.
    fn store_wide(
        &self,
        b: &mut Builder,
        image: &Image,
        line: LocalId,
        (options, shape): (Options, HorizontalShape),
        width: u32,
    ) {
        let (w, pairs) = (width as i32, shape.pairs as i32);
        b.for_("word", Builtin::ThreadX, 2 * pairs / w, shape.threads as i32, |b, word| {
            let (position, phase) = match options.direction {
                Direction::Forward => {
                    let half = pairs / w;
                    let high = b.let_("high", Scalar::I32, word.ge(half).select(1, 0));
                    let k = (word - high * half) * w;
                    (((self.first + k) << 1) + high, Expr::from(high))
                }
                Direction::Inverse => ((self.first << 1) + word * w, 0.into()),
            };
            let position = b.let_("position", Scalar::I32, position);
            let inside = position.ge(self.pass.parity).and(position.lt(self.pass.end()));
            b.if_(inside, |b| {
                let slot = (position >> 1) - self.first + self.before + phase * self.phase_len;
                let kept = |b: &mut Builder, slot: Expr, count: u32| {
                    let values = b.array("results", self.arith.work, count);
                    let space = Space::Shared(self.row);
                    b.load(Place::Elem(values, 0.into()), space, slot, count, Cache::Default);
                    values
                };
                let values = match options.direction {
                    Direction::Forward => {
                        let values = kept(b, slot, width);
                        (0..w).map(|c| values.at(c)).collect()
                    }
                    Direction::Inverse => {
                        let [even, odd] = [slot, slot + self.phase_len].map(|slot| kept(b, slot, width / 2));
                        (0..w).map(|c| if c % 2 == 0 { even } else { odd }.at(c / 2)).collect()
                    }
                };
                self.pass.store_wide(b, image, (line.into(), position.into()), values);
            });
        });
    }

    /// One step on the slice and the part of the halo that later steps need.
    fn step(&self, b: &mut Builder, step: &Step, (before, after): (i64, i64), shape: HorizontalShape) {
        let target = step.target();
        let p = target.parity();
        b.comment(crate::describe::step(step));
        // Targets 2k + p from 2·first − before to 2·(first + pairs) − 1 + after.
        let lo = self.first - ((before + p) / 2) as i32;
        let hi = self.first + (i64::from(shape.pairs) + (after - 1 - p).div_euclid(2)) as i32;
        let (lo, hi) = match self.pass.periodic() {
            true => (lo, hi),
            false => (lo.max(self.pass.first_index(target)), hi.min(self.pass.last_index(target))),
        };
        let lift = |b: &mut Builder, k: Expr| {
            let slot = b.let_("slot", Scalar::I32, self.slot(target, k));
            let old = b.load_new(target.name(), self.arith.work, Space::Shared(self.row), slot);
            let mut read = |offset: i32| {
                self.pass.read(b, self.arith, target.other(), k + offset, self.border, |b, k, place| {
                    b.load(place, Space::Shared(self.row), self.slot(target.other(), k), 1, Default::default());
                })
            };
            let value = step_value(step, self.arith, old.into(), &mut read);
            b.store(Space::Shared(self.row), slot, value);
        };
        b.part("lift_slice", "Runs a lifting step on a slice of a row.", |b| {
            b.for_("k", lo + Builtin::ThreadX, hi + 1, shape.threads as i32, lift);
        });
        b.barrier();
    }

    /// Passes every sample of the slice to `put`, band by band (forward) or in order (inverse).
    fn store(&self, b: &mut Builder, options: Options, shape: HorizontalShape, put: impl Fn(&mut Builder, Expr, Expr)) {
        let pairs = shape.pairs as i32;
        b.for_("x", Builtin::ThreadX, 2 * pairs, shape.threads as i32, |b, x| {
            // Forward: the first half of the threads' turns writes low, the second high.
            let position = match options.direction {
                Direction::Forward => {
                    let high = x.ge(pairs);
                    let k = high.select(x - pairs, x);
                    ((self.first + k) << 1) + high.select(1, 0)
                }
                Direction::Inverse => (self.first << 1) + x,
            };
            let position = b.let_("position", Scalar::I32, position);
            let inside = position.ge(self.pass.parity).and(position.lt(self.pass.end()));
            b.if_(inside, |b| {
                let k = (position >> 1) - self.first;
                let slot = k + self.before + position.and(1) * self.phase_len;
                let value = b.load_new("result", self.arith.work, Space::Shared(self.row), slot);
                put(b, position.into(), value.into());
            });
        });
    }
}
