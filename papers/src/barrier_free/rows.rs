//! Rows: a block has one and walks along it.
//!
//! Each turn loads a slice of the row into shared memory, with its halo. Each thread lifts its pairs in registers. The
//! results go to shared memory, and from there to the bands, neighbouring threads to neighbouring samples. Even and odd
//! samples are split. A gap after every 32 samples keeps threads that begin a few samples apart out of each other's
//! banks.

use super::{Part, served};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::{Builtin, Expr, Kernel, Launch, Place, Scalar, Space};
use lifting_codegen::schedule::level::PHASES;
use lifting_codegen::schedule::{Along, Pass};
use lifting_codegen::schedule::{Options, ScheduleError, Sides};
use lifting_dsl::{Direction, Phase, Scheme};

/// Element of sample `k`, gaps counted.
fn spread(k: Expr) -> Expr {
    k + (k >> 5)
}

/// Writes the pass kernel.
///
/// # Errors
/// If the slice exceeds shared memory.
pub(super) fn kernel(part: &Part, scheme: &Scheme, options: Options, sides: Sides) -> Result<Kernel, ScheduleError> {
    let (arith, pairs, threads) = (part.arith, part.pairs, part.blocks.threads as i32);
    let slice = threads * pairs;
    let held = part.held(slice);
    let phase_len = held + (held >> 5) + 1;
    let result_len = slice + (slice >> 5) + 1;
    let bytes = i64::from(2 * (phase_len + result_len)) * arith.work.bytes() as i64;
    if bytes > 48 * 1024 {
        let what = "bytes of shared memory for a slice of a row";
        return Err(ScheduleError::limit(part.schedule, scheme)(what, bytes, 48 * 1024));
    }
    let mut builder = Builder::new(options.pass_name(scheme, &format!("horizontal_{}", part.name()), sides));
    let b = &mut builder;
    b.doc(format!("{}, with their dependencies.", part.about(options.direction, "rows")));
    let taken = 2 * i64::from(pairs) + part.halo.before + part.halo.after;
    b.doc(format!("{pairs} pairs a thread, from {taken} samples; border rule {}.", options.boundary));
    let pass = Pass::declare(b, options, sides, arith, Along::Row);
    let row = b.shared("row", arith.work, (2 * phase_len) as u32);
    let done = b.shared("done", arith.work, (2 * result_len) as u32);
    let line = part.line(&pass, options);
    let (before, thread) = (part.halo.pairs_before() as i32, || Expr::from(Builtin::ThreadX));
    let slot = |phase: Expr, k: Expr, len: i32| phase * len + spread(k);

    let index = Expr::from(Builtin::BlockX);
    pass.for_each_image(b, |b, image| {
        let slices = (pass.pairs() + (slice - 1)) / slice;
        b.for_("slice", 0, slices, 1, |b, turn| {
            let first = b.let_("first_pair", Scalar::I32, turn * slice);
            let origin = b.let_("origin", Scalar::I32, (first - before) << 1);
            b.comment("load: even samples first, then odd samples");
            b.for_("x", thread(), 2 * held, threads, |b, x| {
                let position = b.let_("position", Scalar::I32, origin + x);
                let inside = position.ge(pass.parity).and(position.lt(pass.end()));
                b.if_(!inside, |b| {
                    let served = served(&line, &pass, position.into());
                    b.set(position, served);
                });
                let sample = b.declare("sample", arith.work);
                pass.load(b, &image, index, position.into(), Place::Local(sample));
                b.store(Space::Shared(row), slot(x.and(1), x >> 1, phase_len), sample);
            });
            b.barrier();
            let own = b.let_("own_pair", Scalar::I32, first + thread() * pairs);
            b.if_(own.lt(pass.pairs()), |b| {
                let at = |phase: Phase, k: i32| slot((phase.parity() as i32).into(), thread() * pairs + k, phase_len);
                let results = part.results(b, (&line, &pass), own.into(), (row, &at));
                for (k, pair) in (0..).zip(results) {
                    for (phase, value) in PHASES.into_iter().zip(pair) {
                        let to = slot((phase.parity() as i32).into(), thread() * pairs + k, result_len);
                        b.store(Space::Shared(done), to, value);
                    }
                }
            });
            b.barrier();
            b.comment(match options.direction {
                Direction::Forward => "store the bands",
                Direction::Inverse => "store the signal",
            });
            b.for_("x", thread(), 2 * slice, threads, |b, x| {
                // Forward: the first half of the threads' turns writes low, the second high.
                let (phase, k) = match options.direction {
                    Direction::Forward => {
                        let high = x.ge(slice);
                        let k = high.select(x - slice, x);
                        (high.select(1, 0), k)
                    }
                    Direction::Inverse => (x.and(1), x >> 1),
                };
                let position = ((first + k) << 1) + phase;
                let position = b.let_("position", Scalar::I32, position);
                let inside = position.ge(pass.parity).and(position.lt(pass.end()));
                b.if_(inside, |b| {
                    let value = b.load_new("result", arith.work, Space::Shared(done), slot(phase, k, result_len));
                    pass.store(b, &image, index, position.into(), value.into());
                });
            });
        });
        b.barrier();
    });
    let grid = [pass.lines.cast(Scalar::I64), 1.into(), pass.grid_z()];
    Ok(builder.finish(Launch { block: [threads as u32, 1, 1], grid }))
}
