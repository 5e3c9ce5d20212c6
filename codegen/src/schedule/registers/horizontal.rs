//! Rows of one axis: a warp takes a strip of a row, with its samples in registers.
//!
//! rewrite: a scheme along contiguous rows → a warp for each strip of a row, with its samples in registers
//!
//! A warp holds 32 lanes' columns of one row, a vector a lane, with halo in the outermost lanes. Lanes exchange edge
//! values by shuffles ([`Across`]) and store their halves of the two bands. A warp waits only for its own load. As many
//! warps as fit are resident, each with one vector a lane in flight, which keeps the memory as busy as a copy does.
//!
//! In long rows a warp does several neighbouring strips. They share the work besides lifting: addresses, the position
//! in the row, border tests. Border strips gather their samples one by one, as do all strips of unaligned rows.

use super::{Line, in_and_out};
use crate::ir::build::Builder;
use crate::ir::{Builtin, Cache, Expr, Kernel, Launch, Literal, LocalId, Place, Scalar, Space};
use crate::schedule::limits::check_range;
use crate::schedule::lines::{Across, Border, Held, Lanes, PHASES, Row, check_columns, check_warps, useful_lanes};
use crate::schedule::pass::{Along, Pass};
use crate::schedule::{Options, ScheduleError, Sides};
use crate::window::Halo;
use lifting_dsl::{Direction, Phase, Scheme};

/// Shape of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterRowShape {
    /// Columns a lane: a power of two, at least 2 columns and at most 16 bytes of the wider type.
    pub columns: u32,
    /// Warps a block.
    pub warps: u32,
    /// Whether the kernel requires rows that begin at multiples of a lane's vector, at an even position, and bands at
    /// multiples of half of it.
    pub aligned: bool,
    /// Neighbouring strips that a warp does, all loads first; their common values are computed once.
    pub strips: u32,
}

/// Strips a warp in long rows, and the number of such groups that makes a row long. The group at either end does its
/// strips one after the other.
const STRIPS: u32 = 4;
const LONG: i64 = 4;

impl RegisterRowShape {
    /// The shape with 16 bytes a lane, for rows of `length` samples.
    pub fn of(sides: Sides, aligned: bool, length: i64) -> RegisterRowShape {
        let columns = (16 / sides.signal.bytes().max(sides.bands.bytes())) as u32;
        let long = i64::from(STRIPS) * LONG * i64::from(32 * columns);
        RegisterRowShape { columns, warps: 4, aligned, strips: if aligned && length >= long { STRIPS } else { 1 } }
    }
}

const NAME: &str = "horizontal_registers";

/// Steps on several strips of doubles beyond which nvcc spills some for more resident blocks, unless one is asked for.
const MOST_ACTIONS: usize = 5;

/// Whether a kernel exists for this scheme and shape.
///
/// # Errors
/// If the sample type is not in the scheme's domain, or if a strip would be all halo.
pub fn check(scheme: &Scheme, options: Options, sides: Sides, shape: RegisterRowShape) -> Result<(), ScheduleError> {
    derive(scheme, options, sides, shape).map(drop)
}

/// Derives a kernel's parameters, if it can exist, with the halo lanes on the left and the lanes that store.
fn derive(
    scheme: &Scheme,
    options: Options,
    sides: Sides,
    shape: RegisterRowShape,
) -> Result<(Line, i64, i64), ScheduleError> {
    let line = Line::new(scheme, options)?;
    let RegisterRowShape { columns, warps, strips, .. } = shape;
    let widest = if sides.signal.bytes() > sides.bands.bytes() { sides.signal } else { sides.bands };
    check_columns(NAME, columns, widest, 2, 0..=16)?;
    check_warps(NAME, warps)?;
    check_range(NAME, "strips a warp", strips, 1..=16)?;
    let halo = Halo::of(&line.axis.actions, line.options.boundary);
    let narrowest = sides.signal.bytes().min(sides.bands.bytes()) as i64;
    match useful_lanes(&halo, columns.into(), narrowest, 0) {
        Ok((left, useful)) => Ok((line, left, useful)),
        Err((required, available)) => {
            Err(ScheduleError::limit(NAME, scheme)("lanes of a strip's halo", required, available))
        }
    }
}

/// Grid of a launch.
fn grid(pass: &Pass, even: bool, strip_columns: i32, together: i32, warps: u32) -> [Expr; 3] {
    let end = pass.length + if even { Expr::from(0) } else { pass.parity.into() };
    let strips = ((end + (strip_columns - 1)) / strip_columns).cast(Scalar::I64);
    let warps = i64::from(warps);
    let groups = (strips + Expr::i64(i64::from(together) - 1)) / Expr::i64(together.into());
    let blocks = (groups * pass.lines.cast(Scalar::I64) + Expr::i64(warps - 1)) / Expr::i64(warps);
    [blocks, 1.into(), pass.batch.into()]
}

/// Writes the pass kernel.
///
/// # Errors
/// As [`check`].
pub fn kernel(
    scheme: &Scheme,
    options: Options,
    sides: Sides,
    shape: RegisterRowShape,
) -> Result<Kernel, ScheduleError> {
    let (Line { options, arith, border, axis }, left, useful) = derive(scheme, options, sides, shape)?;
    let RegisterRowShape { columns, warps, aligned, strips: together } = shape;
    let c = columns as i32;
    let layout = if aligned { "_aligned" } else { "" };
    let name = if together > 1 { format!("{NAME}{layout}_x{together}") } else { format!("{NAME}{layout}") };
    let mut builder = Builder::new(options.pass_name(scheme, &name, sides));
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Analysis of rows: a warp lifts a strip of a row in registers.",
        Direction::Inverse => "Synthesis of rows: a warp lifts a strip of a row in registers.",
    });
    b.doc(format!(
        "A strip is {useful} lanes of {c} columns (and {left} halo lanes left, {} right); border rule {}.",
        32 - left - useful,
        options.boundary
    ));
    let pass = Pass::declare(b, options, sides, arith, Along::Row);
    // Aligned signals begin at an even position; untouched borders are never read.
    let even = aligned || border == Border::Untouched;
    let start = if even { Expr::from(0) } else { pass.parity.into() };
    let end = start + pass.length;
    let strip_columns = useful as i32 * c;
    let strips = b.let_("strips", Scalar::I32, (end + (strip_columns - 1)) / strip_columns);
    let together = together as i32;
    let groups = match together {
        1 => strips,
        _ => b.let_("groups", Scalar::I32, (strips + (together - 1)) / together),
    };
    let warp = b.let_("warp", Scalar::I32, Builtin::BlockX * warps as i32 + Builtin::ThreadY);
    let line = b.let_("line", Scalar::I32, warp / groups);
    b.if_(line.lt(pass.lines), |b| {
        let lane = Expr::from(Builtin::ThreadX);
        let in_strip = lane.ge(left as i32).and(lane.lt((left + useful) as i32));
        let base_of = |strip: Expr| strip * strip_columns - left as i32 * c;
        let lanes = |b: &mut Builder, base: Expr, inside: bool| {
            let base = b.let_("base", Scalar::I32, base);
            let x = b.let_("x", Scalar::I32, base + lane * c);
            let outside = base.lt(start).or((base + 32 * c).gt(end));
            let outside = if inside { Expr::Lit(Literal::Bool(false)) } else { outside };
            let at_border = b.let_("at_border", Scalar::Bool, outside);
            let held = Held {
                arith,
                boundary: options.boundary,
                border,
                columns,
                start: [start, 0.into(), 0.into()],
                length: [pass.length.into(), 1.into(), 1.into()],
                doubled_ends: options.doubled_ends && !inside,
            };
            Lanes::new(b, held, [base, x, at_border])
        };
        let samples = |b: &mut Builder| Row::single(b.array("samples", arith.work, columns), 0);
        let one = |b: &mut Builder, strip: Expr| {
            let lanes = lanes(b, base_of(strip), false);
            let strip = Strip { pass: &pass, options, sides, lanes: &lanes, line, aligned, inside: false };
            let row = samples(b);
            strip.load(b, &row);
            Across { lanes: &lanes, axis: &axis }.lift(b, &row);
            b.if_(in_strip.and(lanes.x.lt(end)), |b| strip.store(b, &row));
        };
        let first = (warp - line * groups) * together;
        if together == 1 {
            return one(b, first);
        }
        let first = b.let_("first_strip", Scalar::I32, first);
        let base = b.let_("first_base", Scalar::I32, base_of(first.into()));
        let last = base + ((together - 1) * strip_columns + 32 * c);
        // A strip with a doubled end counts as a border strip.
        let doubled = i32::from(options.doubled_ends);
        let inside = base.ge(start + doubled).and((last + doubled).le(end));
        b.if_else(
            inside,
            |b| {
                let all: Vec<Lanes> = (0..together).map(|i| lanes(b, base + i * strip_columns, true)).collect();
                let strip = |lanes| Strip { pass: &pass, options, sides, lanes, line, aligned, inside: true };
                let rows: Vec<Row> = all
                    .iter()
                    .map(|lanes| {
                        let row = samples(b);
                        strip(lanes).load(b, &row);
                        row
                    })
                    .collect();
                for (lanes, row) in all.iter().zip(&rows) {
                    Across { lanes, axis: &axis }.lift(b, row);
                }
                b.if_(in_strip, |b| {
                    all.iter().zip(&rows).for_each(|(lanes, row)| strip(lanes).store(b, row));
                });
            },
            |b| {
                let stop = (first + together).min(strips);
                b.for_("strip", first, stop, 1, one);
            },
        );
    });
    let grid = grid(&pass, even, strip_columns, together, warps);
    let mut kernel = builder.finish(Launch { block: [32, shape.warps, 1], grid });
    let is_long = together > 1 && arith.work == Scalar::F64 && axis.actions.len() > MOST_ACTIONS;
    kernel.min_blocks = axis.min_blocks().max(is_long.into());
    Ok(kernel)
}

/// A strip of a row.
struct Strip<'a> {
    pass: &'a Pass,
    options: Options,
    sides: Sides,
    lanes: &'a Lanes,
    line: LocalId,
    aligned: bool,
    /// Whether the strip is known to lie within the row.
    inside: bool,
}

impl Strip<'_> {
    /// Start of the current row in the signal (`None`) or in a band.
    fn row_start(&self, b: &mut Builder, band: Option<Phase>) -> LocalId {
        let array = band.map_or(self.pass.signal, |phase| self.pass.band(phase));
        let wide = |e: Expr| e.cast(Scalar::I64);
        let image = wide(Builtin::BlockZ.into()) * array.stride;
        let line = wide(self.line.into()) * array.pitch;
        b.let_("row_start", Scalar::I64, image + line)
    }

    /// Position of a phase's sample k in its row of the signal or of the band.
    fn place(&self, in_signal: bool, phase: Phase, k: Expr) -> Expr {
        match (in_signal, phase) {
            (true, _) => (k << 1) + phase.parity() as i32 - self.lanes.held.start(0),
            (false, Phase::Even) => k - self.lanes.held.start(0),
            (false, Phase::Odd) => k,
        }
    }

    /// The bands, or the signal, each with its columns of a lane.
    fn streams(&self, in_signal: bool) -> Vec<(Option<Phase>, Vec<i32>)> {
        let c = self.lanes.held.columns();
        if in_signal {
            return vec![(None, (0..c).collect())];
        }
        PHASES.map(|phase| (Some(phase), (0..c / 2).map(|e| 2 * e + phase.parity() as i32).collect())).into()
    }

    fn load(&self, b: &mut Builder, row: &Row) {
        let in_signal = self.options.direction == Direction::Forward;
        let [from, _] = in_and_out(self.options.direction, self.sides);
        for (band, columns) in self.streams(in_signal) {
            let start = self.row_start(b, band);
            b.part("load_strip", "Loads a lane's samples of a row.", |b| {
                let space = Space::Global(band.map_or(self.pass.signal, |phase| self.pass.band(phase)).pointer);
                let raw = b.array("raw", from, columns.len() as u32);
                let one_by_one = |b: &mut Builder, served: bool| {
                    for (i, column) in columns.iter().enumerate() {
                        let phase = PHASES[*column as usize % 2];
                        let k = (self.lanes.x >> 1) + *column / 2;
                        let k = if served { self.lanes.held.serve(0, phase, k) } else { k };
                        let at = start + self.place(in_signal, phase, k).cast(Scalar::I64);
                        b.load(Place::Elem(raw, (i as i32).into()), space, at, 1, Cache::Default);
                    }
                };
                let within = |b: &mut Builder| {
                    if !self.aligned {
                        return one_by_one(b, false);
                    }
                    let first = self.place(in_signal, PHASES[columns[0] as usize % 2], self.lanes.x >> 1);
                    let at = start + first.cast(Scalar::I64);
                    b.load(Place::Elem(raw, 0.into()), space, at, columns.len() as u32, Cache::Default);
                };
                if self.inside {
                    within(b);
                } else {
                    b.if_else(self.lanes.at_border, |b| one_by_one(b, true), within);
                }
                for (i, column) in columns.iter().enumerate() {
                    let value = raw.at(i as i32);
                    b.set(row.place(*column), self.pass.taken(value, from));
                }
            });
        }
    }

    /// Stores a lane's columns: at once if all are inside and rows are aligned.
    fn store(&self, b: &mut Builder, row: &Row) {
        let in_signal = self.options.direction == Direction::Inverse;
        let [_, to] = in_and_out(self.options.direction, self.sides);
        let x = self.lanes.x;
        for (band, columns) in self.streams(in_signal) {
            let start = self.row_start(b, band);
            let space = Space::Global(band.map_or(self.pass.signal, |phase| self.pass.band(phase)).pointer);
            b.part("store_strip", "Stores a lane's samples of a row.", |b| {
                let first = self.place(in_signal, PHASES[columns[0] as usize % 2], x >> 1);
                let out = b.let_("out", Scalar::I64, start + first.cast(Scalar::I64));
                let values: Vec<Expr> = columns.iter().map(|c| self.pass.given(row.at(*c), to)).collect();
                let one_by_one = |b: &mut Builder, values: &[Expr]| {
                    for (i, (column, value)) in columns.iter().zip(values).enumerate() {
                        let here = x + *column;
                        b.if_(here.ge(self.lanes.held.start(0)).and(here.lt(self.lanes.held.end(0))), |b| {
                            b.store(space, out + Expr::i64(i as i64), *value);
                        });
                    }
                };
                if !self.aligned {
                    return one_by_one(b, &values);
                }
                if self.inside {
                    return b.store_wide(space, out, values, Cache::Default);
                }
                // A lane that stores begins at position 0 or later.
                let whole = (x + self.lanes.held.columns()).le(self.lanes.held.end(0));
                b.if_else(
                    whole,
                    |b| b.store_wide(space, out, values.clone(), Cache::Default),
                    |b| one_by_one(b, &values),
                );
            });
        }
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
        let usual = RegisterRowShape { columns: 4, warps: 4, aligned: true, strips: 1 };
        let refused = |shape| {
            let error = check(&scheme, options, Sides::both(Scalar::I32), shape).expect_err("a limit").to_string();
            error.trim_start_matches(&format!("schedule `{NAME}` cannot have this shape: ")).to_owned()
        };
        assert_eq!(check(&scheme, options, Sides::both(Scalar::I32), usual), Ok(()));
        assert_eq!(refused(RegisterRowShape { columns: 8, ..usual }), "columns a lane: found 8, must be 2 or 4");
        assert_eq!(refused(RegisterRowShape { columns: 1, ..usual }), "columns a lane: found 1, must be 2 or 4");
        assert_eq!(refused(RegisterRowShape { warps: 0, ..usual }), "warps a block: found 0, must be 1 to 32");
        assert_eq!(refused(RegisterRowShape { strips: 17, ..usual }), "strips a warp: found 17, must be 1 to 16");
    }
}
