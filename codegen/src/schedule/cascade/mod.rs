//! rewrite: two levels of a scheme along both axes of an image → warps that walk down strips of columns, with no low
//! band between the levels in memory
//!
//! A warp owns a strip: [`Shape::columns`] columns a lane, of which the outermost lanes are halo. It walks down a chunk
//! of rows, four at a time: two row pairs of the image, which make a row pair of its low band. Rows arrive in a ring in
//! shared memory, several steps ahead, by asynchronous copies of 16 bytes. Both levels are lifted as `stream` lifts
//! one: rows by shuffles, columns in a delay line of registers (`schedule::lines`); the second level's lanes have half
//! the columns of the first's. So all but the low band's low band is written once and the image read once; a chunk pays
//! the vertical halo of both levels, a strip the horizontal.
//!
//! The border rule at the low band's own edges. Rows beyond a border are loaded by reflection or repetition, which lifting keeps: so the first level's results go
//! on beyond the border, too, as an extension E of its low band x of n rows. Under `whole-symmetric`, with the first position even, E is the reflection about the first row that the
//! second level wants. If the number of rows is odd, so it is about the last. If it is even, the image ends with a row that is not of the low band, and E repeats the last one:
//! E[n + i] = x[n - 1 - i], where x[n - 2 - i] is wanted, which is E[n + i + 1]. So beyond that border everything moves by one: the second level is a step behind the first, and takes
//! a row later. Columns need no extension: rows are whole vectors, so the first lane and the last find the mirror images of what lies beyond among their own columns, at either level.
//! Under `periodic` E repeats, and so it should.
//!
//! Synthesis is the same walk backwards: rows of the bands of both levels arrive in the ring, the second level is
//! lifted first, and the two rows of the low band that it leaves are those that the first takes with the next row pairs
//! of its own bands. The halo above a chunk is walked by the second level alone. Where a lane's columns are 32 bytes,
//! results go through the slot of the ring that has just been read, so that stores are whole vectors beside one
//! another. What the second level leaves beyond the border is E again, and what the first wants beyond the last row of
//! an image of even height is x[n - 1 - i] = E[n + i - 1]: the row before.
//!
//! 16-bit integers stand in pairs, two columns of a phase in a register, and are lifted by dot products, where all
//! steps are dot products. The low columns of a row are then pairs of the low band as they stand.
//!
//! Only border rules that are extensions can be kept so: not `edge` and `zero`, and not `whole-symmetric` if a step is
//! not symmetric.

mod analysis;
mod cost;
mod launch;
mod schedule;
mod strip;
mod synthesis;
#[cfg(test)]
mod tests;

pub use schedule::Schedule;

use super::level::{Axis, Border, Descent, Form, MAX_REGISTERS, Row, reflects, zeros};
use super::{Arithmetic, Direction, Options, ScheduleError};
use crate::ir::build::Builder;
use crate::ir::{BinOp, Expr, LocalId, Scalar};
use crate::window::{Halo, needed};
use lifting_dsl::{Boundary, Scheme};

/// Bytes of a copy.
const VECTOR: i64 = 16;

/// Lanes in groups of which they have results in analysis, so that stores are whole sectors, or nearly.
const GROUP: i64 = 4;

/// Row pairs of halo up to which memory limits walks of samples in pairs, too, not what they execute.
const SHORT: i64 = 2;

/// Resident blocks a multiprocessor that kernels in pairs are compiled for, where a lane's columns are 16 bytes:
/// measured best (docs/notebook/cascade.md).
const RESIDENT_IN_PAIRS: u32 = 12;

/// Shape of a block, which is a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Columns a lane: 16 or 32 bytes of samples, at least 4.
    pub columns: u32,
    /// Steps of four rows in flight and at hand, at least 2.
    pub ring: u32,
}

impl Shape {
    /// Eight columns a lane where these are 32 bytes or less, for large images. What is in flight at one time is to fit
    /// into the second-level cache: deep rings, which leave few blocks resident, where a lane's columns are 32 bytes;
    /// but shallower ones in synthesis of reals, and of lanes of 16 bytes, whose copies of less than 16 bytes go
    /// through the first-level cache, to which rings leave room.
    pub fn for_sample(sample: Scalar, direction: Direction) -> Shape {
        let columns = 8.min(32 / sample.bytes() as u32);
        let ring = match (direction, columns as usize * sample.bytes() == 32) {
            (Direction::Forward, true) => 10,
            (Direction::Forward, false) => 5,
            (Direction::Inverse, true) if sample.is_float() => 5,
            (Direction::Inverse, true) => 10,
            (Direction::Inverse, false) => 3,
        };
        Shape { columns, ring }
    }

    /// Those worth considering: for large images, and for small ones, where all warps run at once and would all wait
    /// for a deep ring to fill.
    pub fn proposed(sample: Scalar, direction: Direction) -> Vec<Shape> {
        let large = Shape::for_sample(sample, direction);
        let small = match direction {
            Direction::Forward => Shape { ring: 3, ..large },
            Direction::Inverse => Shape { ring: large.ring.min(4), ..large },
        };
        if small == large { vec![large] } else { vec![large, small] }
    }
}

/// How a scheme walks: what is derived from it before any code is written.
#[derive(Clone, Debug)]
pub struct Fit {
    options: Options,
    shape: Shape,
    arith: Arithmetic,
    axis: Axis,
    halo: Halo,
    /// Of the first level, and of the second.
    descents: [Descent; 2],
    /// Registers of the delay lines.
    registers: i64,
    /// Halo lanes on the left.
    left: i64,
    /// Lanes that store.
    useful: i64,
    /// Whether samples stand in pairs, by phase: 16-bit integers, where steps are dot products.
    packed: bool,
}

/// Derives how a scheme walks.
///
/// # Errors
/// If the sample type is not of the scheme's domain, if the border rule is no extension that the steps keep, if a strip
/// is all halo, if the delay lines are too long for the registers of a thread, or if the shape does not suit the
/// samples.
pub fn fit(scheme: &Scheme, options: Options, shape: Shape) -> Result<Fit, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?.in_registers();
    let refuse = ScheduleError::limit("cascade", scheme);
    let (c, bytes) = (i64::from(shape.columns), options.sample.bytes() as i64);
    if !shape.columns.is_power_of_two() || c < 4 || !(VECTOR..=2 * VECTOR).contains(&(c * bytes)) {
        let what = "bytes of a lane's columns (16 or 32, at least 4 samples)";
        return Err(refuse(what, c * bytes, 2 * VECTOR));
    }
    if shape.ring < 2 {
        return Err(refuse("steps in the ring buffer", 2, shape.ring.into()));
    }
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
    let walk = Fit { options, shape, arith, axis, halo, descents, registers, left, useful, packed };
    let ring_bytes = i64::from(shape.ring) * i64::from(walk.slot_len()) * bytes;
    if ring_bytes > crate::ir::valid::MAX_SHARED as i64 {
        return Err(refuse("bytes of a block's ring buffer", ring_bytes, crate::ir::valid::MAX_SHARED as i64));
    }
    Ok(walk)
}

/// Columns of the image before a lane's and after them that its results depend on: a column of the low band is two.
fn beside(axis: &Axis, halo: &Halo, options: Options, columns: i64) -> (i64, i64) {
    if options.direction == Direction::Forward {
        return (3 * halo.before, 3 * halo.after);
    }
    // Of the low band's columns only those that the first level reads.
    let of = |results| needed(&axis.actions, options.boundary, results).0;
    let [(first, last), high] = of([(0, columns - 2), (1, columns - 1)]);
    let (first, last) = (first / 2, last / 2);
    let low = of([(first + (first & 1), last - (last & 1)), (first | 1, last - (!last & 1))]);
    let reads = low.map(|(first, last)| (2 * first, 2 * last + 1)).into_iter().chain([high]);
    reads.fold((0, 0), |(before, after), (first, last)| (before.max(-first), after.max(last + 1 - columns)))
}

impl Fit {
    /// Columns of a strip, halo left out.
    pub fn strip_columns(&self) -> i64 {
        self.useful * i64::from(self.shape.columns)
    }

    /// How a lane's samples of a row of so many columns stand in registers.
    fn form(&self, columns: i32) -> Form {
        Form::of(self.packed, columns)
    }

    /// An array of so many rows.
    fn rows(&self, b: &mut Builder, name: &str, count: i32, columns: i32) -> LocalId {
        b.array(name, self.arith.work, (count * self.form(columns).registers(columns)) as u32)
    }

    /// The same, all zero.
    fn zeros(&self, b: &mut Builder, name: &str, count: i32, columns: i32) -> LocalId {
        zeros(b, name, self.arith, count * self.form(columns).registers(columns))
    }

    /// A row whose columns stand in registers in their order, as in memory.
    fn in_order(&self, b: &mut Builder, name: &str, columns: i32) -> Row {
        let array = self.rows(b, name, 1, columns);
        self.as_in_order(array)
    }

    /// The same in an array that there is.
    fn as_in_order(&self, array: LocalId) -> Row {
        Row { array, first: 0.into(), form: if self.packed { Form::Beside } else { Form::Single } }
    }

    /// The i-th row of an array.
    fn row(&self, array: LocalId, i: i32, columns: i32) -> Row {
        let form = self.form(columns);
        Row { array, first: (i * form.registers(columns)).into(), form }
    }

    /// Whether 16-bit integers stand in pairs.
    pub fn is_packed(&self) -> bool {
        self.packed
    }

    /// Whether they do, and the halo is so long that what is executed limits walks.
    pub fn is_busy(&self) -> bool {
        self.packed && self.halo.pairs() > SHORT
    }

    /// Resident blocks a multiprocessor that the compiler is asked for.
    fn min_blocks(&self) -> u32 {
        if self.packed && self.copies() == 1 { RESIDENT_IN_PAIRS } else { 1 }
    }

    /// Elements of a slot of the ring: four rows of the image.
    fn slot_len(&self) -> i32 {
        4 * 32 * self.shape.columns as i32
    }

    /// Copies of a row that a lane makes.
    fn copies(&self) -> i32 {
        self.shape.columns as i32 * self.options.sample.bytes() as i32 / VECTOR as i32
    }

    /// By how many row pairs of the image a step is ahead of the even one: so that the first level's results are a row
    /// pair of its low band.
    fn odd(&self) -> i64 {
        self.descents[0].delay % 2
    }

    /// Steps between the rows of the low band that leave the first level and those that enter the second: of the
    /// window, and one where a border may be.
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

    /// Steps at the beginning that only the second level takes, for what the first wants before a chunk: of synthesis.
    fn alone(&self) -> i64 {
        match self.options.direction {
            Direction::Forward => 0,
            Direction::Inverse => self.descents[1].above + self.descents[1].delay,
        }
    }

    /// Steps by which the last results are behind: of the second level, or, of synthesis, of the image.
    fn delay(&self, at_border: bool) -> i64 {
        let [first, second] = &self.descents;
        match self.options.direction {
            Direction::Forward => self.seam(at_border) + second.delay,
            Direction::Inverse => second.delay + (first.delay + 1) / 2,
        }
    }
}

/// A vector's cell in a row of the ring where lanes have two vectors: every other eight swap with their neighbours, so
/// that neither a vector a lane nor two beside one another conflict.
fn swapped(vector: Expr) -> Expr {
    let bit = (vector.clone() >> 3).and(1.into());
    Expr::binary(BinOp::Xor, vector, bit)
}
