//! Columns: a block has a strip of 32 columns and slides a window down it.
//!
//! The window has the dependencies of 8 results a thread, for 8 threads one below the other: 71 rows for the 64 of the
//! 9/7 (67 of them below the border in the first turn). Each turn loads the missing rows into shared memory. Each
//! thread lifts its pairs in registers and stores them. Then the rows that this window shares with the next one move
//! up.

use super::{Part, served};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::{Builtin, Expr, Kernel, Launch, LocalId, Place, Scalar, SharedId, Space};
use lifting_codegen::schedule::level::PHASES;
use lifting_codegen::schedule::{Along, Pass};
use lifting_codegen::schedule::{Options, ScheduleError, Sides};
use lifting_dsl::{Phase, Scheme};

/// Columns of a strip, one a thread; and threads of a column.
const COLUMNS: i32 = 32;
const THREADS_Y: i32 = 8;

/// Writes the pass kernel.
///
/// # Errors
/// If the halo is longer than the window's advance, or the window exceeds shared memory.
pub(super) fn kernel(part: &Part, scheme: &Scheme, options: Options, sides: Sides) -> Result<Kernel, ScheduleError> {
    let (arith, pairs) = (part.arith, part.pairs);
    let (before, after) = (part.halo.before as i32, part.halo.after as i32);
    let (height, kept) = (2 * THREADS_Y * pairs, before + after);
    let refuse = ScheduleError::limit(part.schedule, scheme);
    if kept > height {
        return Err(refuse("rows of a window's halo", kept.into(), height.into()));
    }
    // Threads take whole pairs; their outermost rows may be absent.
    let above = 2 * part.halo.pairs_before() as i32 - before;
    let rows = height + 2 * part.halo.pairs() as i32;
    let bytes = i64::from(rows * COLUMNS) * arith.work.bytes() as i64;
    if bytes > 48 * 1024 {
        return Err(refuse("bytes of shared memory for the window", bytes, 48 * 1024));
    }
    let mut builder = Builder::new(options.pass_name(scheme, &format!("vertical_{}", part.name()), sides));
    let b = &mut builder;
    b.doc(format!("{}, in a sliding window.", part.about(options.direction, "columns")));
    b.doc(format!(
        "{pairs} pairs a thread; a window of {} rows for {height}; border rule {}.",
        height + kept,
        options.boundary
    ));
    let pass = Pass::declare(b, options, sides, arith, Along::Column);
    let cells = b.shared("window", arith.work, (rows * COLUMNS) as u32);
    let line = part.line(&pass, options);
    let own = Builtin::BlockX * COLUMNS + Builtin::ThreadX;
    let column = b.let_("column", Scalar::I32, own);
    let (start, stop, chunks): (Expr, Expr, Expr) = match part.blocks.chunk as i32 {
        0 => (0.into(), pass.pairs(), 1.into()),
        pairs => {
            // Whole windows.
            let chunk = (pairs * 2 / height).max(1) * (height / 2);
            let start = b.let_("chunk_start", Scalar::I32, Builtin::BlockY * chunk);
            let stop = b.let_("chunk_stop", Scalar::I32, (start + chunk).min(pass.pairs()));
            (start.into(), stop.into(), ((pass.pairs() + (chunk - 1)) / chunk).cast(Scalar::I64))
        }
    };
    let active = b.let_("active", Scalar::Bool, column.lt(pass.lines));
    let y = Expr::from(Builtin::ThreadY);
    let cell = |row: Expr| row * COLUMNS + Builtin::ThreadX;

    pass.for_each_image(b, |b, image| {
        let window = b.let_("window_pair", Scalar::I32, start);
        b.while_(window.lt(stop), |b| {
            b.comment("load: the whole window at first, then only new rows");
            // Counted from the first row of the window's storage.
            let fresh = window.eq_(start).select(above, above + kept);
            let top = (window << 1) - (before + above);
            let top = b.let_("top", Scalar::I32, top);
            b.if_(active, |b| {
                b.for_("row", fresh + y, above + height + kept, THREADS_Y, |b, row| {
                    let position = b.let_("position", Scalar::I32, top + row);
                    let inside = position.ge(pass.parity);
                    let inside = inside.and(position.lt(pass.end()));
                    b.if_(!inside, |b| {
                        let served = served(&line, &pass, position.into());
                        b.set(position, served);
                    });
                    let sample = b.declare("sample", arith.work);
                    pass.load(b, &image, column.into(), position.into(), Place::Local(sample));
                    b.store(Space::Shared(cells), cell(row), sample);
                });
            });
            b.barrier();
            let first = b.let_("first_pair", Scalar::I32, window + y * pairs);
            let has_results = active.and(first.lt(pass.pairs()));
            let has_results = b.let_("has_results", Scalar::Bool, has_results);
            b.if_(has_results, |b| {
                let at = |phase: Phase, k: i32| cell(y * (2 * pairs) + (2 * k + phase.parity() as i32));
                let results = part.results(b, (&line, &pass), first.into(), (cells, &at));
                for (k, pair) in (0..).zip(results) {
                    for (phase, value) in PHASES.into_iter().zip(pair) {
                        let position = ((first + k) << 1) + phase.parity() as i32;
                        let inside = position.ge(pass.parity).and(position.lt(pass.end()));
                        b.if_(inside, |b| pass.store(b, &image, column.into(), position, value));
                    }
                }
            });
            b.barrier();
            slide(b, active, (above, height, kept), (cells, arith.work), &cell);
            b.barrier();
            b.set(window, window + height / 2);
        });
        b.barrier();
    });
    let strips = (pass.lines + (COLUMNS - 1)) / COLUMNS;
    let grid = [strips.cast(Scalar::I64), chunks, pass.grid_z()];
    Ok(builder.finish(Launch { block: [COLUMNS as u32, THREADS_Y as u32, 1], grid }))
}

/// Moves up the rows that the next window needs too.
fn slide(
    b: &mut Builder,
    active: LocalId,
    (above, height, kept): (i32, i32, i32),
    (cells, scalar): (SharedId, Scalar),
    cell: &dyn Fn(Expr) -> Expr,
) {
    b.comment("slide: move up the rows that the next window needs");
    b.if_(active, |b| {
        b.for_("row", Expr::from(above) + Builtin::ThreadY, above + kept, THREADS_Y, |b, row| {
            let value = b.load_new("kept", scalar, Space::Shared(cells), cell(row + height));
            b.store(Space::Shared(cells), cell(row), value);
        });
    });
}
