//! Lattice stages along one axis of a periodic signal in registers, a few pairs a thread.
//!
//! rewrite: the stages of a lattice along one axis of a periodic signal → a few pairs a thread, in registers
//!
//! A stage needs one sample more on each side than it leaves. So a thread that leaves [`PAIRS`] pairs loads these and L
//! − 1 more samples on each side, wrapped around the ends of the line. It runs the L stages on a run that shrinks by a
//! sample a side each time. Neighbours load and compute the extra samples again. In return there is no barrier and no
//! shared memory, and a line may have any even length. Threads take many lines at once, along x for columns. Low and
//! high bands are stored separately.
//!
//! Stages are those of Yatsymirskyy, Puchala & Szczępaniak 2015, whose kernel holds whole vectors and has a barrier
//! between stages: see `schedule::lattice`. Redundant registers are as in `schedule::warp`. `schedule::horizontal` and
//! `schedule::vertical` return these kernels for lattices, so that launchers see no difference.

use crate::ir::build::Builder;
use crate::ir::{Builtin, Expr, Kernel, Launch, Place, Scalar};
use crate::schedule::lift::{Arithmetic, pair_values, set_pair};
use crate::schedule::pass::{Along, Pass};
use crate::schedule::{Options, ScheduleError, Sides};
use lifting_dsl::{Direction, PairStage, Scheme};

/// Pairs of results a thread.
const PAIRS: i32 = 4;

/// Maximum stages: more would exceed a thread's registers.
const MAX_STAGES: i64 = 64;

/// Threads of a block along its second axis; along the first they are a warp.
const WARPS: i32 = 4;

/// Writes the pass kernel of these stages.
///
/// # Errors
/// If the sample type is not in the scheme's domain, or there are too many stages.
pub fn kernel(
    scheme: &Scheme,
    options: Options,
    sides: Sides,
    along: Along,
    stages: &[PairStage],
) -> Result<Kernel, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?;
    let schedule = match along {
        Along::Row => "horizontal",
        Along::Column => "vertical",
    };
    if stages.len() as i64 > MAX_STAGES {
        return Err(ScheduleError::Reach {
            schedule,
            wavelet: scheme.name().to_owned(),
            what: "stages of the lattice",
            required: stages.len() as i64,
            available: MAX_STAGES,
        });
    }
    let mut builder = Builder::new(options.pass_name(scheme, schedule, sides));
    let b = &mut builder;
    let what = if along == Along::Row { "rows" } else { "columns" };
    b.doc(match options.direction {
        Direction::Forward => format!("Analysis of {what}: a thread runs the stages of the lattice on a few pairs."),
        Direction::Inverse => format!("Synthesis of {what}: a thread runs the stages of the lattice on a few pairs."),
    });
    let halo = stages.len() as i32 - 1;
    b.doc(format!("{PAIRS} pairs a thread, and {halo} samples before and after them; border rule periodic."));
    let pass = Pass::declare(b, options, sides, arith, along);
    let pairs = pass.length / 2;
    let runs = (pairs + (PAIRS - 1)) / PAIRS;
    let lines = Expr::from(pass.lines);
    let x = || Builtin::BlockX * 32 + Builtin::ThreadX;
    let y = || Builtin::BlockY * WARPS + Builtin::ThreadY;
    // Neighbouring lanes take neighbouring runs of a row, or neighbouring columns.
    let (size_x, size_y) = match along {
        Along::Row => (runs, lines),
        Along::Column => (lines, runs),
    };
    let across = b.let_("x", Scalar::I32, x());
    // The last stage's pairs begin at even or at odd positions.
    let phase = stages.last().map_or(0, |stage| stage.first.parity() as i32);
    pass.for_each_image(b, |b, image| {
        b.if_(across.lt(size_x), |b| {
            b.for_("y", y(), size_y, Builtin::GridY * WARPS, |b, down| {
                let (line, run) = match along {
                    Along::Row => (down, across.into()),
                    Along::Column => (across.into(), down),
                };
                let first = b.let_("first_pair", Scalar::I32, run * PAIRS);
                let start = b.let_("start", Scalar::I32, (first << 1) + (phase - halo));
                let len = 2 * (PAIRS + halo);
                let samples = b.array("samples", arith.work, len as u32);
                let at = |i: Expr| samples.at(i);
                let served = |b: &mut Builder, i: Expr| b.let_("position", Scalar::I32, pass.serve(start + i));
                b.unrolled("i", 0, len, 1, |b, i| {
                    let position = served(b, i);
                    pass.load(b, &image, line, position.into(), Place::Elem(samples, i));
                });
                for (s, stage) in stages.iter().enumerate() {
                    let s = s as i32;
                    b.comment(crate::describe::stage(stage));
                    b.unrolled("i", s, len - s, 2, |b, i| {
                        let values = pair_values(stage, arith, at(i), at(i + 1));
                        let pair = [i, i + 1].map(|i| Place::Elem(samples, i));
                        set_pair(b, arith, pair, values);
                    });
                }
                b.unrolled("i", 0, 2 * PAIRS, 1, |b, i| {
                    let pair = first + (i >> 1);
                    b.if_(pair.lt(pairs), |b| {
                        let position = served(b, i + halo);
                        pass.store(b, &image, line, position.into(), at(i + halo));
                    });
                });
            });
        });
    });
    let blocks = |size: Expr, unit: i32| (size + (unit - 1)) / unit;
    let grid = [blocks(size_x, 32), blocks(size_y, WARPS).min(65535), pass.grid_z()];
    let mut kernel = builder.finish(Launch { block: [32, WARPS as u32, 1], grid });
    // Without a request, nvcc spills registers for more resident blocks.
    kernel.min_blocks = 1;
    Ok(kernel)
}
