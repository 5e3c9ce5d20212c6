//! Two levels of both axes in one pass: warps walk down strips of columns, and the low band between the levels stays on
//! chip.
//!
//! rewrite: two levels of a scheme along both axes of an image → warps that walk down strips of columns, without a low
//! band in memory between the levels
//!
//! A warp owns a strip: [`Shape::columns`] columns a lane, with halo in the outermost lanes. It walks down a chunk of
//! rows, four at a time: two row pairs of the image, which make a row pair of its low band. Asynchronous copies of 16
//! bytes bring rows into a ring buffer in shared memory, several steps ahead. Both levels are lifted as `stream` lifts
//! one: rows by shuffles, columns in a delay line of registers (`schedule::lines`). The second level's lanes have half
//! the columns of the first's. So the image is read once, and every band except the first level's ll is written once. A
//! chunk pays the vertical halo of both levels, a strip the horizontal.
//!
//! The border rule at the low band's own edges. Rows beyond a border are loaded by reflection or repetition, which
//! lifting keeps. So the first level's results also continue beyond the border, as an extension E of its low band x of
//! n rows. Under `whole-symmetric`, with the first position even, E is the reflection about the first row that the
//! second level needs. With an odd number of rows, E also reflects about the last row. With an even number, the image's
//! last row is not in the low band, and E repeats the last one: E[n + i] = x[n - 1 - i]. The second level needs
//! x[n - 2 - i], which is E[n + i + 1]. So beyond that border everything moves by one: the second level is a step
//! behind the first, and takes a row later. Columns need no extension. Rows are whole vectors, so the first and last
//! lane find mirror images among their own columns, at either level. Under `periodic`, E repeats, as required.
//!
//! Synthesis is this walk backwards. Rows of the bands of both levels arrive in the ring buffer, and the second level
//! is lifted first. The first level takes the two resulting rows of the low band with the next row pairs of its own
//! bands. Only the second level walks the halo above a chunk. If a lane's columns are 32 bytes, results pass through
//! the slot just read, so that stores are contiguous whole vectors. Beyond the border, the second level's results are E
//! again. Beyond the last row of an image of even height, the first level needs x[n - 1 - i] = E[n + i - 1]: the row
//! before.
//!
//! 16-bit integers are packed, two columns of a phase in a register, and lifted by dot products, if all steps are dot
//! products. The low columns of a row are then packed for the low band as they are.
//!
//! Only border rules that are extensions work this way: not `edge` and `zero`, and not `whole-symmetric` with an
//! asymmetric step.

mod analysis;
mod cost;
mod kernel;
mod launch;
mod schedule;
mod strip;
mod synthesis;
#[cfg(test)]
mod tests;

pub use schedule::CascadeSchedule;

use super::level::{Axis, Border, Descent, Form, MAX_REGISTERS, Row, check_columns, reflects, zeros};
use super::limits::check_range;
use super::{Arithmetic, Options, ScheduleError};
use crate::ir::build::Builder;
use crate::ir::{BinOp, Expr, LocalId, Scalar};
use crate::window::{Halo, needed};
use lifting_dsl::{Boundary, Direction, Scheme};

/// Bytes of a copy.
const VECTOR: i64 = 16;

/// Group size of lanes with results in analysis: stores are then whole sectors, or nearly.
const GROUP: i64 = 4;

/// Longest halo in row pairs for which memory, not instruction issue, limits walks of packed samples.
const SHORT: i64 = 2;

/// Resident blocks a multiprocessor for packed kernels whose lanes have 16 bytes of columns: measured best
/// (docs/notebook/cascade.md).
const RESIDENT_IN_PAIRS: u32 = 12;

/// Shape of a block, which is a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CascadeShape {
    /// Columns a lane: 16 or 32 bytes of samples, at least 4.
    pub columns: u32,
    /// Steps of four rows in the ring buffer, at least 2.
    pub ring: u32,
}

impl CascadeShape {
    /// The shape for large images: eight columns a lane, but at most 32 bytes. Rows in flight should fit into the L2
    /// cache. Lanes of 32 bytes have deep rings, which leave few blocks resident. Synthesis of reals has shallower
    /// ones, and so do lanes of 16 bytes: their copies of less than 16 bytes pass through the L1 cache, which rings
    /// must leave room for.
    pub fn for_sample(sample: Scalar, direction: Direction) -> CascadeShape {
        let columns = 8.min(32 / sample.bytes() as u32);
        let ring = match (direction, columns as usize * sample.bytes() == 32) {
            (Direction::Forward, true) => 10,
            (Direction::Forward, false) => 5,
            (Direction::Inverse, true) if sample.is_float() => 5,
            (Direction::Inverse, true) => 10,
            (Direction::Inverse, false) => 3,
        };
        CascadeShape { columns, ring }
    }

    /// Shapes worth considering: for large images, and for small ones, where all warps run at once and would all wait
    /// for a deep ring to fill.
    pub fn proposed(sample: Scalar, direction: Direction) -> Vec<CascadeShape> {
        let large = CascadeShape::for_sample(sample, direction);
        let small = match direction {
            Direction::Forward => CascadeShape { ring: 3, ..large },
            Direction::Inverse => CascadeShape { ring: large.ring.min(4), ..large },
        };
        if small == large { vec![large] } else { vec![large, small] }
    }
}

/// A scheme fitted to a walk: all that is derived before code is written.
#[derive(Clone, Debug)]
pub struct CascadeFit {
    options: Options,
    shape: CascadeShape,
    arith: Arithmetic,
    axis: Axis,
    halo: Halo,
    /// Delay lines of the first level and of the second.
    descents: [Descent; 2],
    /// Registers of the delay lines.
    registers: i64,
    /// Halo lanes on the left.
    left: i64,
    /// Lanes that store.
    useful: i64,
    /// Whether samples are packed by phase: 16-bit integers whose steps are dot products.
    packed: bool,
}

/// Fits a scheme to a walk.
///
/// # Errors
/// If the sample type is not in the scheme's domain, or the steps do not keep the border rule as an extension. If a
/// strip is all halo, the delay lines exceed a thread's registers, or the shape does not suit the samples.
pub fn fit(scheme: &Scheme, options: Options, shape: CascadeShape) -> Result<CascadeFit, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?.in_registers();
    let refuse = ScheduleError::limit("cascade", scheme);
    let (c, bytes) = (i64::from(shape.columns), options.sample.bytes() as i64);
    check_columns("cascade", shape.columns, options.sample, 4, VECTOR as u32..=2 * VECTOR as u32)?;
    check_range("cascade", "steps in the ring buffer", shape.ring, 2..=u32::MAX)?;
    let steps = options.direction.steps(scheme);
    let axis = Axis::new(scheme, options);
    match Border::of(options.boundary, &steps) {
        Border::Extend => {}
        Border::Mirror => axis.check_walk(Border::Mirror, &steps, &refuse)?,
        _ => return Err(refuse("steps after which a border is restored", steps.len() as i64, 0)),
    }
    let far = steps.iter().filter(|step| !reflects(step, shape.columns as i32 / 2)).count() as i64;
    if options.boundary != Boundary::Periodic && far > 0 {
        return Err(refuse("steps that read beyond a lane's neighbours", far, 0));
    }
    let halo = Halo::of(&axis.actions, options.boundary);
    let (before, after) = beside(&axis, &halo, options, c);
    let (left, right) = ((before + c - 1) / c, (after + c - 1) / c);
    let group = match options.direction {
        Direction::Forward => GROUP,
        Direction::Inverse => (32 / (c * bytes)).max(1),
    };
    let useful = (32 - left - right) / group * group;
    if useful < 2 * GROUP {
        return Err(refuse("lanes of a strip's halo", left + right, 32 - 2 * GROUP));
    }
    // Whole sectors on every load.
    let sector = (32 / (c * bytes)).max(1);
    let rounded = (left + sector - 1) / sector * sector;
    let left = if rounded + useful + right <= 32 { rounded } else { left };
    let packed = options.sample == Scalar::I16 && axis.is_dots() && c % 8 == 0;
    let of_row = [shape.columns, shape.columns / 2].map(|c| Form::of(packed, c as i32).registers(c as i32) as u32);
    let descents = of_row.map(|of_row| Descent::new(&axis, &halo, options.boundary, Border::Extend, arith, of_row));
    // Rows of the low band wait for a step.
    let waiting = i64::from(of_row[0]) * ((arith.work.bytes() as i64 + 3) / 4);
    let registers = descents.iter().map(|d| d.registers).sum::<i64>() + waiting;
    if registers > MAX_REGISTERS {
        return Err(refuse("registers a thread for the delay lines of both levels", registers, MAX_REGISTERS));
    }
    let walk = CascadeFit { options, shape, arith, axis, halo, descents, registers, left, useful, packed };
    let ring_bytes = i64::from(shape.ring) * i64::from(walk.slot_len()) * bytes;
    if ring_bytes > crate::ir::valid::MAX_SHARED as i64 {
        return Err(refuse("bytes of a block's ring buffer", ring_bytes, crate::ir::valid::MAX_SHARED as i64));
    }
    Ok(walk)
}

/// Columns of the image before and after a lane's that its results depend on. A column of the low band counts as two.
fn beside(axis: &Axis, halo: &Halo, options: Options, columns: i64) -> (i64, i64) {
    if options.direction == Direction::Forward {
        return (3 * halo.before, 3 * halo.after);
    }
    // Only the columns of the low band that the first level reads.
    let of = |results| needed(&axis.actions, options.boundary, results).0;
    let [(first, last), high] = of([(0, columns - 2), (1, columns - 1)]);
    let (first, last) = (first / 2, last / 2);
    let low = of([(first + (first & 1), last - (last & 1)), (first | 1, last - (!last & 1))]);
    let reads = low.map(|(first, last)| (2 * first, 2 * last + 1)).into_iter().chain([high]);
    reads.fold((0, 0), |(before, after), (first, last)| (before.max(-first), after.max(last + 1 - columns)))
}

impl CascadeFit {
    /// Columns of a strip without its halo.
    pub fn strip_columns(&self) -> i64 {
        self.useful * i64::from(self.shape.columns)
    }

    /// Form of a lane's samples of a row of `columns` columns.
    fn form(&self, columns: i32) -> Form {
        Form::of(self.packed, columns)
    }

    /// An array of `count` rows.
    fn rows(&self, b: &mut Builder, name: &str, count: i32, columns: i32) -> LocalId {
        b.array(name, self.arith.work, (count * self.form(columns).registers(columns)) as u32)
    }

    /// An array of `count` rows, all zero.
    fn zeros(&self, b: &mut Builder, name: &str, count: i32, columns: i32) -> LocalId {
        zeros(b, name, self.arith, count * self.form(columns).registers(columns))
    }

    /// A row with its columns in memory's order.
    fn in_order(&self, b: &mut Builder, name: &str, columns: i32) -> Row {
        let array = self.rows(b, name, 1, columns);
        self.as_in_order(array)
    }

    /// A row in an existing array, with columns in memory's order.
    fn as_in_order(&self, array: LocalId) -> Row {
        Row { array, first: 0.into(), form: if self.packed { Form::Beside } else { Form::Single } }
    }

    /// The i-th row of an array.
    fn row(&self, array: LocalId, i: i32, columns: i32) -> Row {
        let form = self.form(columns);
        Row { array, first: (i * form.registers(columns)).into(), form }
    }

    /// Whether 16-bit integers are packed.
    pub fn is_packed(&self) -> bool {
        self.packed
    }

    /// Whether samples are packed and the halo is so long that instruction issue limits walks.
    pub fn is_busy(&self) -> bool {
        self.packed && self.halo.pairs() > SHORT
    }

    /// Resident blocks a multiprocessor to ask for.
    fn min_blocks(&self) -> u32 {
        if self.packed && self.copies() == 1 { RESIDENT_IN_PAIRS } else { 1 }
    }

    /// Elements of a slot of the ring buffer: four rows of the image.
    fn slot_len(&self) -> i32 {
        4 * 32 * self.shape.columns as i32
    }

    /// Copies of a row that a lane makes.
    fn copies(&self) -> i32 {
        self.shape.columns as i32 * self.options.sample.bytes() as i32 / VECTOR as i32
    }

    /// Lead of a step over an even one, in row pairs of the image. It makes the first level's results a row pair of its
    /// low band.
    fn odd(&self) -> i64 {
        self.descents[0].delay % 2
    }

    /// Steps between a low-band row's exit from the first level and its entry into the second: those of the window, and
    /// one more near a border.
    fn seam(&self, at_border: bool) -> i64 {
        (self.descents[0].delay - self.odd()) / 2 + i64::from(at_border)
    }

    /// Steps before a chunk.
    fn above(&self) -> i64 {
        let [first, second] = &self.descents;
        match self.options.direction {
            Direction::Forward => second.above + (first.above + self.odd() + 1) / 2,
            Direction::Inverse => second.above + (first.above + 1) / 2,
        }
    }

    /// Steps at the start of synthesis that only the second level takes, for the first level's rows before a chunk.
    fn alone(&self) -> i64 {
        match self.options.direction {
            Direction::Forward => 0,
            Direction::Inverse => self.descents[1].above + self.descents[1].delay,
        }
    }

    /// Lag of the last results in steps: of the second level, or, in synthesis, of the image.
    fn delay(&self, at_border: bool) -> i64 {
        let [first, second] = &self.descents;
        match self.options.direction {
            Direction::Forward => self.seam(at_border) + second.delay,
            Direction::Inverse => second.delay + (first.delay + 1) / 2,
        }
    }
}

/// A vector's cell in a row of the ring buffer if lanes have two vectors. Every other eight swap with their neighbours,
/// so that neither one vector a lane nor two contiguous ones conflict.
fn swapped(vector: Expr) -> Expr {
    let bit = (vector >> 3).and(1);
    Expr::binary(BinOp::Xor, vector, bit)
}
