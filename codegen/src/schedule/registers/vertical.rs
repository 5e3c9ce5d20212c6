//! Columns of one axis: warps walk down strips of columns, with the window in registers.
//!
//! rewrite: a scheme along columns → warps that walk down strips of columns, with the window in registers
//!
//! The row streaming of [`super::super::stream`], without horizontal lifting. A lane holds a vector of columns.
//! Asynchronous copies bring rows, several pairs ahead, into the lane's own ring buffer in shared memory. The sliding
//! window is a delay line in registers ([`DelayLine`]). Lanes are independent, so there is no halo at the sides and no
//! gathered row. Strips are cut into short chunks of pairs, so that the halo of the next chunk is still in the L2
//! cache.
//!
//! Columns that do not form vectors (an odd number, or unaligned arrays) are taken one a lane: still 128 bytes a warp
//! and row.

use super::{Line, in_and_out};
use crate::ir::build::Builder;
use crate::ir::{Builtin, Cache, Expr, Kernel, Launch, LocalId, Place, Scalar, SharedId, Space};
use crate::schedule::limits::{check_choice, check_range};
use crate::schedule::lines::{
    Border, DelayLine, Descent, Held, MAX_CHUNKS, MAX_REGISTERS, PHASES, WALKS, check_ring, check_warps, walk_down,
};
use crate::schedule::pass::{Along, Pass};
use crate::schedule::{Options, ScheduleError, Sides};
use crate::window::Halo;
use lifting_dsl::{Direction, Phase, Scheme};

/// Shape of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterColumnShape {
    /// Columns a lane: 4, 8 or 16 bytes of the type read, at most 16 of the type written. The number of columns and the
    /// row starts are multiples of it.
    pub columns: u32,
    /// Warps a block, each with its own strip.
    pub warps: u32,
    /// Row pairs in the ring buffer, at least 2.
    pub ring: u32,
    /// Walks that keep the device busy: with fewer columns, chunks are shorter.
    pub walks: u32,
}

impl RegisterColumnShape {
    /// The shape for `columns` columns a lane on a device: four strips a block and a ring of eight row pairs, or one
    /// strip and four pairs if a lane has more than 4 columns.
    pub fn of(columns: u32, multiprocessors: u32) -> RegisterColumnShape {
        let (warps, ring) = if columns > 4 { (1, 4) } else { (4, 8) };
        RegisterColumnShape { columns, warps, ring, walks: WALKS * multiprocessors.clamp(1, MAX_MULTIPROCESSORS) }
    }

    /// Elements of a block's ring.
    fn ring_len(&self) -> u32 {
        self.warps * self.ring * 2 * 32 * self.columns
    }

    /// Columns a lane that a kernel may have, widest first.
    pub fn candidates(direction: Direction, sides: Sides) -> impl Iterator<Item = u32> {
        let [from, to] = in_and_out(direction, sides);
        let fits = move |c: &u32| *c as usize * from.bytes() >= 4 && *c as usize * from.bytes().max(to.bytes()) <= 16;
        [8, 4, 2, 1].into_iter().filter(fits)
    }
}

/// Bound above any real device; the product of two walk counts still fits 32 bits.
const MAX_MULTIPROCESSORS: u32 = 1024;
const NAME: &str = "vertical_registers";

/// Registers of a delay line of reals: beyond the first number nvcc spills some for more resident blocks unless one is
/// asked for, beyond the second in any case. No wavelet of the catalogue spills integers.
const LONG_OF_REALS: i64 = 36;
const MOST_OF_REALS: i64 = 132;

/// Whether a kernel exists for this scheme and shape.
///
/// # Errors
/// If the sample type is not in the scheme's domain, if the border rule needs symmetric steps, or if the window exceeds
/// the registers.
pub fn check(scheme: &Scheme, options: Options, sides: Sides, shape: RegisterColumnShape) -> Result<(), ScheduleError> {
    derive(scheme, options, sides, shape).map(drop)
}

/// Derives a kernel's parameters, if it can exist.
fn derive(
    scheme: &Scheme,
    options: Options,
    sides: Sides,
    shape: RegisterColumnShape,
) -> Result<(Line, Descent), ScheduleError> {
    let line = Line::new(scheme, options)?;
    let Line { options, arith, border, ref axis } = line;
    let RegisterColumnShape { columns, warps, ring, .. } = shape;
    let [from, _] = in_and_out(options.direction, sides);
    let refuse = ScheduleError::limit(NAME, scheme);
    let mut candidates: Vec<u32> = RegisterColumnShape::candidates(options.direction, sides).collect();
    candidates.reverse();
    check_choice(NAME, "columns a lane", columns, candidates)?;
    axis.check_walk(border, &options.direction.steps(scheme), &refuse)?;
    check_range(NAME, "strips walked at once", shape.walks, 1..=WALKS * MAX_MULTIPROCESSORS)?;
    check_ring(NAME, ring)?;
    check_warps(NAME, warps)?;
    let ring_bytes = i64::from(shape.ring_len()) * from.bytes() as i64;
    if ring_bytes > crate::ir::valid::MAX_SHARED as i64 {
        return Err(refuse("bytes of a block's ring buffer", ring_bytes, crate::ir::valid::MAX_SHARED as i64));
    }
    let halo = Halo::of(&axis.actions, options.boundary);
    let descent = Descent::new(axis, &halo, options.boundary, border, arith, columns);
    let most = if arith.work.is_float() { MOST_OF_REALS } else { MAX_REGISTERS };
    if descent.registers > most {
        return Err(refuse("registers a thread for the delay line", descent.registers, most));
    }
    Ok((line, descent))
}

/// Writes the pass kernel.
///
/// # Errors
/// As [`check`].
pub fn kernel(
    scheme: &Scheme,
    options: Options,
    sides: Sides,
    shape: RegisterColumnShape,
) -> Result<Kernel, ScheduleError> {
    let (Line { options, arith, border, axis }, descent) = derive(scheme, options, sides, shape)?;
    let RegisterColumnShape { columns, warps, ring, .. } = shape;
    let c = columns as i32;
    let types = in_and_out(options.direction, sides);
    let (delay, longest) = (descent.delay, descent.longest_chunk());

    let name = if columns == 1 { NAME.to_owned() } else { format!("{NAME}_x{columns}") };
    let mut builder = Builder::new(options.pass_name(scheme, &name, sides));
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Analysis of columns: warps walk down strips of columns, the window in registers.",
        Direction::Inverse => "Synthesis of columns: warps walk down strips of columns, the window in registers.",
    });
    b.doc(format!(
        "{c} columns a lane; {ring} row pairs in flight; results lag {delay} pairs; chunks of at most {longest} pairs; \
         border rule {}.",
        options.boundary
    ));
    let pass = Pass::declare(b, options, sides, arith, Along::Column);
    let cells = b.shared("ring", types[0], shape.ring_len());
    let start = if border == Border::Untouched { Expr::from(0) } else { pass.parity.into() };
    let pairs = || (start + pass.length + 1) >> 1;
    let chunk_len = chunk(&pass, pairs(), shape, longest, |name, value| b.let_(name, Scalar::I32, value).into());
    let lane = Expr::from(Builtin::ThreadX);
    let warp = Expr::from(Builtin::ThreadY);
    let strip = Builtin::BlockX * warps as i32 + warp;
    let column = b.let_("column", Scalar::I32, (strip * 32 + lane) * c);
    b.if_(column.lt(pass.lines), |b| {
        let first = b.let_("first_pair", Scalar::I32, Builtin::BlockY * chunk_len);
        let stop = b.let_("stop_pair", Scalar::I32, (first + chunk_len).min(pairs()));
        let held = Held {
            arith,
            boundary: options.boundary,
            border,
            columns,
            start: [0.into(), start, 0.into()],
            length: [pass.lines.into(), pass.length.into(), 1.into()],
            doubled_ends: options.doubled_ends,
        };
        let cell = b.let_("cell", Scalar::I32, (warp * (ring * 2 * 32) as i32 + lane) * c);
        let from_pair = b.let_("from_pair", Scalar::I32, first - descent.above as i32);
        let to_pair = b.let_("to_pair", Scalar::I32, stop + delay as i32);
        let strip = Strip::new(b, &pass, &held, options, types, (cells, cell), column);
        let line = DelayLine::declare(b, &held, &axis, &descent.window, 1);
        walk_down(
            b,
            (ring, false),
            (from_pair, to_pair),
            |b, pair, slot| strip.request(b, pair, to_pair, slot),
            |b, _, slot| b.part("take_rows", "Moves copied rows to registers.", |b| strip.take(b, slot.into(), &line)),
            |b, pair| {
                line.scale_first(b, pair);
                line.lift(b, pair);
                strip.store(b, &line, pair, first, delay as i32);
                line.shift(b);
            },
        );
    });
    let lanes = 32 * c * warps as i32;
    let strips = (pass.lines + (lanes - 1)) / lanes;
    let end = pass.length + if border == Border::Untouched { Expr::from(0) } else { pass.parity.into() };
    let pairs = (end + 1) >> 1;
    let chunk = chunk(&pass, pairs, shape, longest, |_, value| value);
    let chunks = (pairs + chunk - 1) / chunk;
    let grid = [strips, chunks, pass.batch.into()];
    let mut kernel = builder.finish(Launch { block: [32, warps, 1], grid });
    let is_long = arith.work.is_float() && descent.registers > LONG_OF_REALS;
    kernel.min_blocks = axis.min_blocks().max(is_long.into());
    Ok(kernel)
}

/// Row pairs of a chunk: few enough to keep the device busy, at most `longest` unless the grid would be too high.
/// `name` may bind parts of it to variables.
fn chunk(
    pass: &Pass,
    pairs: Expr,
    shape: RegisterColumnShape,
    longest: i32,
    mut name: impl FnMut(&str, Expr) -> Expr,
) -> Expr {
    let (lanes, wanted) = (32 * shape.columns as i32, shape.walks as i32);
    let strips = (pass.lines + (lanes - 1)) / lanes;
    let walks = name("walks", strips.min(wanted) * pass.batch.min(wanted));
    let chunks = name("chunks", (walks + (wanted - 1)) / walks);
    let fewest = name("fewest", (pairs + (MAX_CHUNKS - 1)) / MAX_CHUNKS);
    name("chunk", (pairs / chunks).min(longest).max(1).max(fewest))
}

/// A lane's columns, and their rows in flight.
struct Strip<'a> {
    pass: &'a Pass,
    held: &'a Held,
    options: Options,
    /// Types read and written.
    types: [Scalar; 2],
    ring: SharedId,
    /// The lane's first element of the ring.
    cell: LocalId,
    /// Index of the lane's first column in the first row of signal, low and high.
    firsts: [LocalId; 3],
    /// Row pitches in samples, of type i32.
    pitches: [LocalId; 3],
}

impl<'a> Strip<'a> {
    fn new(
        b: &mut Builder,
        pass: &'a Pass,
        held: &'a Held,
        options: Options,
        types: [Scalar; 2],
        (ring, cell): (SharedId, LocalId),
        column: LocalId,
    ) -> Strip<'a> {
        let arrays = [("signal", pass.signal), ("low", pass.low), ("high", pass.high)];
        let firsts = arrays.map(|(name, array)| {
            let image = Builtin::BlockZ.cast(Scalar::I64) * array.stride;
            b.let_(&format!("{name}_first"), Scalar::I64, image + column.cast(Scalar::I64))
        });
        // A product of two 32-bit numbers is one instruction.
        let pitches =
            arrays.map(|(name, array)| b.let_(&format!("{name}_row"), Scalar::I32, array.pitch.cast(Scalar::I32)));
        Strip { pass, held, options, types, ring, cell, firsts, pitches }
    }

    /// Index of the lane's first column in a row of an array (0: signal, 1: low, 2: high).
    fn index(&self, array: usize, row: Expr) -> Expr {
        self.firsts[array] + row.cast(Scalar::I64) * self.pitches[array].cast(Scalar::I64)
    }

    fn in_ring(&self, slot: Expr, phase: Phase) -> Expr {
        let row = 32 * self.held.columns();
        self.cell + slot * (2 * row) + phase.parity() as i32 * row
    }

    /// Starts the copies of a pair of rows into a slot of the ring, unless the walk ends before it.
    fn request(&self, b: &mut Builder, pair: Expr, to: LocalId, slot: Expr) {
        let pair = b.let_("next", Scalar::I32, pair);
        b.if_(pair.lt(to), |b| {
            for phase in PHASES {
                let served = self.held.serve_row(b, phase, pair.into());
                let (array, pointer, row) = match (self.options.direction, phase) {
                    (Direction::Forward, _) => (0, self.pass.signal.pointer, served),
                    (Direction::Inverse, _) => {
                        let band = 1 + phase.parity() as usize;
                        (band, self.pass.band(phase).pointer, self.held.band_row(phase, served))
                    }
                };
                let lanes = self.held.columns;
                let index = self.index(array, row);
                b.copy_async((self.ring, self.in_ring(slot, phase)), (pointer, index), lanes, lanes as i32);
            }
        });
    }

    /// Moves the pair of rows in a slot of the ring to the front of the delay line.
    fn take(&self, b: &mut Builder, slot: Expr, line: &DelayLine) {
        for phase in PHASES {
            let raw = b.array("raw", self.types[0], self.held.columns);
            let at = self.in_ring(slot, phase);
            b.load(Place::Elem(raw, 0.into()), Space::Shared(self.ring), at, self.held.columns, Cache::Default);
            for c in 0..self.held.columns() {
                let value = raw.at(c);
                b.set(line.row(phase, 0).place(c), self.pass.taken(value, self.types[0]));
            }
        }
    }

    /// Stores the pair `delay` behind the front, if it belongs to the chunk.
    fn store(&self, b: &mut Builder, line: &DelayLine, front: Expr, first: LocalId, delay: i32) {
        let pair = b.let_("done", Scalar::I32, front - delay);
        let store = |b: &mut Builder| {
            for phase in PHASES {
                let row = b.array(&format!("{}_row", phase.name()), self.held.arith.work, self.held.columns);
                line.result(b, (phase, pair.into()), delay, row);
                let (array, pointer, y) = match (self.options.direction, phase) {
                    (Direction::Forward, Phase::Even) => (1, self.pass.low.pointer, pair - self.held.start(1)),
                    (Direction::Forward, Phase::Odd) => (2, self.pass.high.pointer, pair.into()),
                    (Direction::Inverse, _) => {
                        (0, self.pass.signal.pointer, (pair << 1) + phase.parity() as i32 - self.held.start(1))
                    }
                };
                let exists = self.held.exists(1, phase, pair);
                b.if_(exists, |b| {
                    let values = (0..self.held.columns()).map(|c| self.pass.given(row.at(c), self.types[1])).collect();
                    b.store_wide(Space::Global(pointer), self.index(array, y), values, Cache::Default);
                });
            }
        };
        b.if_(pair.ge(first), |b| b.part("store_pair", "Stores a pair of rows of results.", store));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lifting_dsl::Boundary;

    /// Each refusal of a shape says its number and the allowed ones.
    #[test]
    fn refused_shapes() {
        let [scheme, ..] = crate::testing::extremes();
        let options = Options::new(Scalar::I32, Boundary::Zero, Direction::Forward);
        let usual = RegisterColumnShape { columns: 4, warps: 4, ring: 8, walks: 1 };
        let refused = |shape| {
            let error = check(&scheme, options, Sides::both(Scalar::I32), shape).expect_err("a limit").to_string();
            error.trim_start_matches("schedule `vertical_registers` cannot have this shape: ").to_owned()
        };
        assert_eq!(check(&scheme, options, Sides::both(Scalar::I32), usual), Ok(()));
        assert_eq!(refused(RegisterColumnShape { columns: 3, ..usual }), "columns a lane: found 3, must be 1, 2 or 4");
        assert_eq!(
            refused(RegisterColumnShape { walks: 0, ..usual }),
            "strips walked at once: found 0, must be 1 to 12288"
        );
        assert_eq!(
            refused(RegisterColumnShape { ring: 1, ..usual }),
            "row pairs in the ring buffer: found 1, must be at least 2"
        );
        assert_eq!(refused(RegisterColumnShape { warps: 0, ..usual }), "warps a block: found 0, must be 1 to 32");
        assert_eq!(refused(RegisterColumnShape { warps: 33, ..usual }), "warps a block: found 33, must be 1 to 32");
        assert!(
            refused(RegisterColumnShape { ring: 64, ..usual })
                .contains("bytes of a block's ring buffer: 262144 required")
        );
    }
}
