//! rewrite: a scheme along both axes of an image → blocks that a warp holds in registers whole, halo and all
//!
//! A warp loads [`Shape::rows`] rows of 32·[`Shape::columns`] columns at once, so that all its loads are in flight
//! together. Rows are lifted with the edge values of neighbouring lanes exchanged by shuffles (`schedule::level`),
//! columns within each lane (`Slab`). There is no barrier and no shared memory. What a block needs around itself
//! ([`Halo`]: the supports summed, in rows and in columns) it loads and lifts again: for J lifting pairs of support ±1,
//! 2J a side. So a block of 64×20 samples gives 60×16 for the 5/3 and 56×12 for the 9/7, and moves 2.33 and 2.90
//! samples for each, reads and writes together, where two passes move 4.
//!
//! From Enfedaque, Aulí-Llinàs & Moure 2015, "Implementation of the DWT in a GPU through a Register-based Strategy"
//! (sections 3 and 4). Theirs is [`Shape::paper`]; plans consider others ([`Shape::proposed`]). 16-bit integers are
//! held in 32-bit registers, and in large blocks two of them in one wherever they are not being lifted
//! ([`Shape::packed`]).
//!
//! Border rules are those of `schedule::level`: blocks at a border load samples one by one, each where the rule finds
//! it, and what lifting would not keep is restored after each step. As a block holds all that its results depend on,
//! `whole-symmetric` is possible for steps that are not symmetric, too.
//!
//! Rows that begin anywhere, or whose bands do ([`RowAlignment::Image`]: an odd number of columns in the Mallat
//! layout), are loaded and stored as whole vectors at their own addresses all the same, and shuffled to where lanes
//! hold them ([`Runs`]). So a block stores the vectors that begin in its columns: what belongs to it of a row begins by
//! the row's shift before its first lane, and ends by that before its last lane's end. At borders of the image samples
//! are loaded and stored one by one.

mod cost;
mod launch;
mod schedule;
mod shape;
#[cfg(test)]
mod tests;

pub use super::level::RowAlignment;
pub use schedule::Schedule;
pub use shape::Shape;

use super::level::{
    Across, Axis, Border, Form, Frame, Held, Lanes, Order, PHASES, Params, Row, Runs, Sink, Slab, Source,
    check_columns, check_warps, is_symmetric, served_column, store_band, store_band_at, store_signal, store_signal_at,
};
use super::{Arithmetic, Direction, Options, ScheduleError};
use crate::action::Action;
use crate::ir::build::Builder;
use crate::ir::{Builtin, Expr, Kernel, Launch, LocalId, Place, Scalar, Space};
use crate::window::Halo;
use lifting_dsl::{Boundary, Phase, Scheme, Step};

/// Most registers that the samples of a thread may take. What addresses and arithmetic take comes on top, up to 130
/// more, and 255 are all.
const MAX_REGISTERS: i64 = 104;

/// The same of samples that stand in pairs, in analysis and in synthesis: there, when rows are lifted, only those of
/// results are left.
const MAX_PACKED: [i64; 2] = [80, 88];

/// Warps of a multiprocessor that are enough to hide what others wait for, of 32-bit samples; half of 64-bit ones.
const RESIDENT: i64 = 16;
/// The same where samples stand in pairs.
const RESIDENT_PACKED: i64 = 24;
/// Registers of samples in pairs beyond which synthesis spills where as many warps as that are asked for.
const TALL_PAIRS: i64 = 48;
/// Samples that a lane of 8 columns asks for at once where it gathers them for pairs: as many as registers hold beside
/// those that are there.
const GATHERED_AT_ONCE: u32 = 56;
/// Row pairs of halo beyond which a thread holds so much between steps that no warps are given up for others.
const LONG_HALO: i64 = 4;
/// Row pairs of halo up to which pairs of rows that begin anywhere are faster than single samples: of the 5/3 they are,
/// of the DD(13,7) not.
const SHORT_HALO: i64 = 2;
/// Registers of a multiprocessor for each lane of a warp.
const REGISTERS: i64 = 65536 / 32;
/// Values of a thread besides its samples: where no step reads more than two samples, for each that one reads more, and
/// where steps are not symmetric or borders are kept, so that nvcc finds less to share. Fitted so that no wavelet of
/// the catalogue spills.
const BESIDES: i64 = 48;
const A_TAP: i64 = 12;
const UNEVEN: i64 = 56;

/// How a scheme meets a block: what is derived from it before any code is written.
#[derive(Clone, Debug)]
pub struct Fit {
    options: Options,
    shape: Shape,
    arith: Arithmetic,
    border: Border,
    axis: Axis,
    /// Of the lifting steps.
    halo: Halo,
    /// Halo lanes on the left.
    left: i64,
    /// Lanes that store.
    useful: i64,
    /// Row pairs of results.
    pairs: i64,
    /// Most columns by which rows that are stored are shifted, and rows that are loaded.
    gives: i64,
    has: i64,
}

/// Derives how a scheme meets a block.
///
/// # Errors
/// If the sample type is not of the scheme's domain, if the shape does not suit the samples, if it has more samples
/// than registers, or if it is all halo.
pub fn fit(scheme: &Scheme, options: Options, shape: Shape) -> Result<Fit, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?.in_registers();
    let refuse = ScheduleError::limit("warp", scheme);
    let (c, rows) = (i64::from(shape.columns), i64::from(shape.rows));
    check_columns(shape.columns, options.sample, &refuse)?;
    check_warps(shape.warps, &refuse)?;
    if rows % 2 != 0 {
        return Err(refuse("the number of rows of a block, which is even,", rows, rows - 1));
    }
    let registers = if shape.packed { c * rows / 2 } else { c * rows * words(arith.work) };
    if registers > MAX_REGISTERS {
        return Err(refuse("the block, in registers a thread,", registers, MAX_REGISTERS));
    }
    let steps = options.direction.steps(scheme);
    let axis = Axis::new(scheme, options);
    let border = Border::of(options.boundary, &steps);
    let halo = Halo::of(&axis.actions, options.boundary);
    if shape.packed {
        check_pairs(shape, options, (&axis, border, &halo))?;
    }
    let sides = halo.pairs();
    let pairs = rows / 2 - sides;
    if pairs < 1 {
        return Err(refuse("the height of a block that has results", 2 * sides + 2, rows));
    }
    // What is shifted is had of all lanes but the last, and given by all but the first.
    let beside = |[gives, has]: [i64; 2]| [(halo.before + gives + c - 1) / c, (halo.after + has + c - 1) / c];
    let [gives, has] = shape.shifts(options.direction);
    let [left, right] = beside([gives, has]);
    let (lanes, sector) = (32 - left - right, sector_lanes(options, c));
    // No sector is stored in parts where that costs if it leaves no fewer lanes than there are for all rows.
    let of_any = || beside(Shape { takes: RowAlignment::Any, ..shape }.shifts(options.direction));
    let is_free = || lanes / sector * sector >= 32 - of_any().iter().sum::<i64>();
    let unit = if shape.whole_sectors || parts_cost(shape.takes, options) && is_free() { sector } else { 1 };
    let useful = lanes / unit * unit;
    if useful < unit {
        return Err(refuse("the halo of a block, in lanes,", left + right, 32 - unit));
    }
    Ok(Fit { options, shape, arith, border, axis, halo, left, useful, pairs, gives, has })
}

/// Whether samples can stand in pairs.
///
/// # Errors
/// What stands against it.
fn check_pairs(
    shape: Shape,
    options: Options,
    (axis, border, halo): (&Axis, Border, &Halo),
) -> Result<(), ScheduleError> {
    let what = match () {
        _ if options.sample != Scalar::I16 => "samples are 16-bit integers",
        _ if !shape.columns.is_multiple_of(4) => "lanes have a multiple of 4 columns",
        _ if shape.takes == RowAlignment::Any && !(is_short(halo) && options.boundary == Boundary::WholeSymmetric) => {
            "rows of the image are aligned, or the halo is short and the border rule whole-symmetric"
        }
        _ if !matches!(border, Border::Extend | Border::Untouched) => "the border rule is an extension that steps keep",
        _ if !axis.is_dots() => {
            "steps are dot products: of weights of 8 bits, or twice as much, with sums that do not wrap"
        }
        _ => return Ok(()),
    };
    Err(ScheduleError::Launch { schedule: "warp", what: format!("samples stand in pairs only where {what}") })
}

/// Whether a block has so little halo that pairs of rows that begin anywhere gain by it.
fn is_short(halo: &Halo) -> bool {
    halo.pairs() <= SHORT_HALO
}

/// Samples that a step reads.
fn taps(step: &Step) -> usize {
    match step {
        Step::Integer(s) => s.taps.len(),
        Step::Real(s) => s.groups.iter().map(|g| g.offsets.len()).sum(),
        Step::Scale(_) => 0,
    }
}

/// 32-bit registers that a value takes.
fn words(work: Scalar) -> i64 {
    (work.bytes() as i64 + 3) / 4
}

/// Whether parts of sectors were measured to cost more than what the kernel for all rows does besides
/// (docs/notebook/odd-rows.md): in analysis of samples of 4 bytes where bands begin anywhere.
fn parts_cost(takes: RowAlignment, options: Options) -> bool {
    takes == RowAlignment::Image && options.direction == Direction::Forward && options.sample.bytes() == 4
}

/// Lanes whose samples fill whole sectors in every array that is stored to.
fn sector_lanes(options: Options, columns: i64) -> i64 {
    let stored = match options.direction {
        Direction::Forward => columns / 2,
        Direction::Inverse => columns,
    };
    (32 / (stored * options.sample.bytes() as i64)).max(1)
}

impl Fit {
    /// Columns of a block, halo left out.
    pub fn columns(&self) -> i64 {
        self.useful * i64::from(self.shape.columns)
    }

    /// Rows of a block, halo left out.
    pub fn rows(&self) -> i64 {
        2 * self.pairs
    }

    /// Whether blocks store parts of sectors where that costs more than the kernel for all rows does.
    pub fn breaks_sectors(&self) -> bool {
        let sector = sector_lanes(self.options, self.shape.columns.into());
        parts_cost(self.shape.takes, self.options) && self.useful % sector != 0
    }

    fn has_long_halo(&self) -> bool {
        self.halo.pairs() > LONG_HALO
    }

    /// Whether nothing at a border differs from what is inside.
    fn is_plain(&self) -> bool {
        self.border == Border::Extend && self.axis.actions.iter().filter_map(Action::step).all(is_symmetric)
    }

    /// Whether memory limits analysis of large images, not what warps execute, as measured (docs/notebook/cache.md):
    /// samples of 4 bytes or in pairs, symmetric steps and a short halo.
    pub fn is_limited_by_memory(&self) -> bool {
        let Options { sample, direction, .. } = self.options;
        let is_light = self.shape.packed || sample.bytes() == 4;
        direction == Direction::Forward && is_light && self.is_plain() && !self.has_long_halo()
    }

    /// Resident blocks to ask for: what registers leave, up to 16 warps a multiprocessor. Left alone, nvcc guesses a
    /// number, and spills for it.
    fn resident_blocks(&self) -> u32 {
        if !self.shape.packed && self.has_long_halo() || self.axis.min_blocks() > 0 {
            return 1;
        }
        let steps = || self.axis.actions.iter().filter_map(Action::step);
        let more_taps = steps().map(taps).max().unwrap_or(0).saturating_sub(2) as i64;
        let words = words(self.arith.work);
        let samples = i64::from(self.shape.columns * self.shape.rows);
        let (values, most) = match self.shape.packed {
            true => {
                let tall = self.options.direction == Direction::Inverse && samples / 2 > TALL_PAIRS;
                let most = if tall { RESIDENT } else { RESIDENT_PACKED };
                (samples / 2 + self.besides_pairs(more_taps), most)
            }
            false => {
                (samples + BESIDES + A_TAP * more_taps + if self.is_plain() { 0 } else { UNEVEN }, RESIDENT / words)
            }
        };
        let warps = (REGISTERS / (values * words)).min(most);
        (warps / i64::from(self.shape.warps)).max(1) as u32
    }

    /// Registers of a thread besides samples in pairs: in synthesis, where only rows of results are lifted last, fewer.
    /// Fitted so that no wavelet of the catalogue spills.
    fn besides_pairs(&self, more_taps: i64) -> i64 {
        let least = if self.options.direction == Direction::Forward { 20 } else { 14 };
        let longer = 20 * (more_taps - 2).max(0) + 8 * (self.axis.actions.len() as i64 - 2).max(0);
        let extends = if self.options.boundary == Boundary::WholeSymmetric { 0 } else { UNEVEN };
        // What stands anywhere is loaded a sample at a time at a border, all of them at once.
        let rows = match self.shape.takes {
            RowAlignment::Whole => 0,
            RowAlignment::Aligned => 16,
            // Of short halos, nvcc needs fewer for that.
            RowAlignment::Image | RowAlignment::Any if is_short(&self.halo) && extends == 0 => 40,
            RowAlignment::Image | RowAlignment::Any => 64,
        };
        least + longer + extends + rows
    }

    /// The image, as lanes hold columns of it.
    fn held(&self, params: &Params) -> Held {
        let Fit { options, arith, border, shape, .. } = *self;
        let held = params.held(options, arith, border, shape.columns, shape.is_even());
        if shape.is_even() { held.at_even_positions() } else { held }
    }

    /// Whether a warp that reaches beyond a border has what stands for the columns there: it has as much of the image
    /// as a halo on the other side and a lane.
    fn finds_all(&self) -> bool {
        let uneven = (self.halo.before - self.halo.after).abs();
        uneven < i64::from(self.shape.columns) && 2 * self.left < 32
    }

    /// Whether steps find what they read beyond a border among a lane's own columns, so that nothing need stand there.
    fn reflects(&self) -> bool {
        self.shape.takes == RowAlignment::Whole
            && self.axis.reflects(self.options.boundary, self.border, self.shape.columns)
    }

    /// Samples that are loaded for each that is stored.
    pub fn reads(&self) -> f64 {
        let loaded = 32 * i64::from(self.shape.columns) * i64::from(self.shape.rows);
        loaded as f64 / (self.columns() * self.rows()) as f64
    }
}

/// The kernel of a fit.
fn write(plan: &Fit, scheme: &Scheme, order: Order) -> Kernel {
    let (options, shape) = (plan.options, plan.shape);
    let mut builder = Builder::new(options.kernel_name(scheme, &shape.takes.kernel("warp")));
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Analysis of both axes in one pass: a warp holds a block of the image in registers.",
        Direction::Inverse => "Synthesis of both axes in one pass: a warp holds a block of the image in registers.",
    });
    let (columns, rows) = (32 * shape.columns, shape.rows);
    b.doc(format!(
        "Of {columns} x {rows} samples that are loaded, {} x {} are stored; {} columns a lane; border rule {}.",
        plan.columns(),
        plan.rows(),
        shape.columns,
        options.boundary
    ));
    let params = Params::declare(b, options);
    let held = plan.held(&params);
    let (end_x, end_y) = (held.end(0), held.end(1));
    let shifts = shape.takes == RowAlignment::Any || plan.gives + plan.has > 0;
    let before = if shifts { shape.columns as i32 } else { 0 };
    let (lanes, useful) = Lanes::of_tile(b, held, (plan.left, plan.useful), before);
    let pairs_y = (end_y.clone() + 1) >> 1;
    // Warps of a block stand below one another: rows that two of them read are in the cache of their multiprocessor.
    let warp = Expr::from(Builtin::BlockY) * shape.warps as i32 + Expr::from(Builtin::ThreadY);
    let pitches = params.narrow_pitches(b);
    let (warps, pairs) = (shape.warps as i32, plan.pairs as i32);
    let steps = (&plan.axis, &plan.halo);
    let first = b.let_("first_pair", Scalar::I32, warp * pairs);
    b.if_(Expr::from(first).lt(pairs_y.clone()), |b| {
        let offsets = params.offsets(b, &Builtin::BlockZ.into());
        let frame = Frame { options, lanes, takes: shape.takes, params: &params, useful, offsets, pitches };
        let [loaded, stored] = shape.forms(options.direction);
        let slab = Slab::declare_as(b, "block", &frame.lanes.held, steps, (first.into(), pairs), loaded);
        Tile { frame: &frame, slab, plan }.lift(b, order, stored);
    });
    let strip = plan.columns() as i32;
    // The last vector of a row may begin in the columns after the last.
    let blocks = (pairs_y + (pairs - 1)) / pairs;
    let grid = [(end_x + (strip - 1 + plan.gives as i32)) / strip, (blocks + (warps - 1)) / warps, params.batch.into()];
    let mut kernel = builder.finish(Launch { block: [32, shape.warps, 1], grid });
    kernel.min_blocks = if shape.min_blocks > 0 { shape.min_blocks } else { plan.resident_blocks() };
    kernel
}

/// The block at hand.
struct Tile<'a> {
    frame: &'a Frame<'a>,
    slab: Slab<'a>,
    plan: &'a Fit,
}

impl Tile<'_> {
    /// Loads the block, lifts it, stores its results, which then stand in registers as `stored` says.
    fn lift(&self, b: &mut Builder, order: Order, stored: Form) {
        let slab = &self.slab;
        let columns = self.frame.lanes.held.columns();
        let done = Tile { slab: Slab { form: stored, ..*slab }, ..*self };
        let lift = |b: &mut Builder, (from, to): (i32, i32), lanes: &Lanes| {
            let across = Across { lanes, axis: slab.axis };
            b.unrolled("row", from, to, 1, |b, k| {
                for phase in PHASES {
                    let row = slab.row(phase, k.clone());
                    if row.form == Form::Single {
                        across.lift(b, &row);
                        continue;
                    }
                    let array = b.array("pairs", Scalar::I32, columns as u32 / 2);
                    let pairs = Row { array, first: 0.into(), form: Form::ByPhase(columns) };
                    pairs.copy(b, &row, columns);
                    across.lift(b, &pairs);
                    done.slab.row(phase, k.clone()).copy(b, &pairs, columns);
                }
            });
        };
        let rows = |b: &mut Builder, from: i32, to: i32| {
            let lanes = &self.frame.lanes;
            if !self.plan.reflects() {
                return lift(b, (from, to), lanes);
            }
            b.if_else(
                self.frame.lanes.at_border,
                |b| {
                    let lanes = lanes.reflecting(b);
                    lift(b, (from, to), &lanes);
                },
                |b| lift(b, (from, to), lanes),
            );
        };
        let across_first = order.across_first(self.frame.options.direction);
        self.load(b);
        if across_first {
            rows(b, 0, slab.height());
            done.slab.lift(b);
        } else {
            slab.lift(b);
            rows(b, slab.first(), slab.first() + slab.pairs);
        }
        done.store(b);
    }

    /// Loads all rows.
    fn load(&self, b: &mut Builder) {
        let frame = self.frame;
        if self.plan.reflects() {
            // Lanes beyond a border load any vector that there is: no step reads it.
            let x = frame.lanes.inner_x(b);
            return self.load_vectors(b, x);
        }
        if frame.takes == RowAlignment::Whole && self.plan.finds_all() {
            let (left, useful) = (self.plan.left, self.plan.useful);
            match frame.lanes.narrow(left.max(32 - left - useful) as i32) {
                Some(narrow) => {
                    let why = "the image is as narrow as what lies beyond its borders";
                    b.if_else(narrow, |b| self.gather(b, why), |b| self.load_whole(b));
                }
                None => self.load_whole(b),
            }
            return;
        }
        let shifted = self.plan.has > 0 || frame.takes == RowAlignment::Any;
        b.if_else(
            frame.lanes.at_border,
            |b| self.gather(b, "at a border"),
            |b| if shifted { self.load_shifted(b) } else { self.load_vectors(b, frame.lanes.x) },
        );
    }

    /// Rows that begin anywhere: all vectors first, then to where they belong.
    fn load_shifted(&self, b: &mut Builder) {
        let (frame, slab) = (self.frame, &self.slab);
        let (sources, height) = (Source::all(frame), slab.height());
        let room = |b: &mut Builder| -> Vec<LocalId> {
            sources.iter().map(|source| source.raw_rows(b, frame, height)).collect()
        };
        let place = |source: &Source, raw: LocalId, k: &Expr| Place::Elem(raw, k.clone() * source.samples(frame));
        let see = |b: &mut Builder, source: &Source, raw: LocalId, shift: &dyn Fn(&mut Builder, &Expr) -> LocalId| {
            let all = |b: &mut Builder, is_shifted: bool| {
                b.unrolled("row", 0, height, 1, |b, k| {
                    let shift = is_shifted.then(|| shift(b, &k));
                    let row = slab.row(source.row, k.clone());
                    source.see_shifted(b, frame, &row, (raw, k * source.samples(frame)), shift);
                });
            };
            match self.is_shifted(&source.sink()) {
                Some(is_shifted) => b.if_else(is_shifted, |b| all(b, true), |b| all(b, false)),
                None => all(b, true),
            }
        };
        b.if_else(
            slab.at_edge,
            |b| {
                let room = room(b);
                let shifts: Vec<LocalId> =
                    sources.iter().map(|_| b.array("shift_of", Scalar::I32, height as u32)).collect();
                let all = || sources.iter().zip(&room).zip(&shifts);
                b.unrolled("row", 0, height, 1, |b, k| {
                    for ((source, raw), shifts) in all() {
                        let row = source.served_row(b, frame, Expr::from(slab.front) + k.clone());
                        let runs = Runs::from(b, frame, &source.sink(), row);
                        source.fetch_vector(b, frame, runs.first_vector().into(), place(source, *raw, &k));
                        b.set(Place::Elem(*shifts, k.clone()), runs.first_shift());
                    }
                });
                for ((source, raw), shifts) in all() {
                    see(b, source, *raw, &|b, k| {
                        b.let_("shift", Scalar::I32, Expr::Elem(*shifts, Box::new(k.clone())))
                    });
                }
            },
            |b| {
                let (room, sinks) = (room(b), sources.iter().map(Source::sink).collect::<Vec<Sink>>());
                let runs = self.runs(b, &sinks, slab.front.into());
                let all = || sources.iter().zip(&room).zip(&runs);
                let below = |source: &Source, k: &Expr| source.sink().below(k);
                b.unrolled("row", 0, height, 1, |b, k| {
                    for ((source, raw), runs) in all() {
                        let index = runs.vector(frame, below(source, &k));
                        source.fetch_vector(b, frame, index, place(source, *raw, &k));
                    }
                });
                for ((source, raw), runs) in all() {
                    see(b, source, *raw, &|b, k| runs.shift(b, frame, below(source, k)));
                }
            },
        );
    }

    /// Whether rows of an array are shifted, where it pays to ask: of an image whose rows are aligned the low band is
    /// not, and so is every second other one.
    fn is_shifted(&self, sink: &Sink) -> Option<Expr> {
        (self.frame.takes == RowAlignment::Image).then(|| !Runs::stand_aligned(self.frame, sink))
    }

    /// The lane's runs of rows from a pair on: of an image, even and odd rows are of one array.
    fn runs(&self, b: &mut Builder, sinks: &[Sink], pair: Expr) -> Vec<Runs> {
        let mut runs: Vec<Runs> = Vec::new();
        for sink in sinks {
            let shared = runs.first().filter(|_| sink.columns.is_none()).copied();
            let these = || Runs::from(b, self.frame, sink, sink.row_of(self.frame, pair.clone()));
            runs.push(shared.unwrap_or_else(these));
        }
        runs
    }

    /// All pairs of rows, and what they are loaded from.
    fn each_row(&self, b: &mut Builder, body: &dyn Fn(&mut Builder, Expr, &Source)) {
        b.unrolled("row", 0, self.slab.height(), 1, |b, k| {
            for source in Source::all(self.frame) {
                body(b, k.clone(), &source);
            }
        });
    }

    /// Rows of whole vectors: all lanes load vectors, those beyond a border any that there are, and then take from
    /// others what stands for theirs.
    fn load_whole(&self, b: &mut Builder) {
        let (frame, slab) = (self.frame, &self.slab);
        let x = frame.lanes.inner_x(b);
        self.load_vectors(b, x);
        let pairs = 0..slab.height();
        let rows: Vec<Row> = pairs.flat_map(|k| PHASES.map(|phase| slab.row(phase, k.into()))).collect();
        frame.lanes.extend(b, &rows);
    }

    /// Rows that are aligned, as vectors from position `x` on.
    fn load_vectors(&self, b: &mut Builder, x: LocalId) {
        let (frame, slab) = (self.frame, &self.slab);
        b.if_else(
            slab.at_edge,
            |b| {
                let load = |b: &mut Builder, start: &dyn Fn(&mut Builder, &Source, Expr) -> LocalId| {
                    if frame.options.direction == Direction::Forward {
                        return self.each_row(b, &|b, k, source| {
                            let start = start(b, source, k.clone());
                            source.vector_from(b, frame, &slab.row(source.row, k), start, x);
                        });
                    }
                    self.load_by_time(b, x, start);
                };
                let any = |b: &mut Builder| load(b, &|b, source, k| self.served_start(b, source, k));
                match self.is_near() {
                    Some(near) => b.if_else(near, |b| load(b, &|b, source, k| self.near_start(b, source, k)), any),
                    None => any(b),
                }
            },
            |b| self.load_inside(b, x),
        );
    }

    /// Rows of bands, each from where it starts: first what is there before the level before has ended, then what that
    /// leaves.
    fn load_by_time(&self, b: &mut Builder, x: LocalId, start: &dyn Fn(&mut Builder, &Source, Expr) -> LocalId) {
        let (frame, slab) = (self.frame, &self.slab);
        let [there, left] = Source::by_time(frame);
        let first = there.len();
        let all = [0, self.slab.height()];
        let rows = self.rooms(b, there.into_iter().chain(left).collect(), all);
        let (there, left) = rows.split_at(first);
        for stage in [there, left] {
            b.unrolled("row", 0, slab.height(), 1, |b, k| {
                for (source, raw) in stage {
                    let start = start(b, source, k.clone());
                    let index = Expr::from(start) + source.first(frame, x).cast(Scalar::I64);
                    let place = Place::Elem(*raw, k.clone() * source.samples(frame));
                    source.fetch_vector(b, frame, index, place);
                }
            });
        }
        self.see(b, &rows, all);
    }

    /// Whether one reflection, or one period, leads from any row of the block to one of the image: the image is higher
    /// than the block.
    fn is_near(&self) -> Option<Expr> {
        let extends = matches!(self.frame.lanes.held.boundary, Boundary::WholeSymmetric | Boundary::Periodic);
        (extends && self.plan.border != Border::Untouched)
            .then(|| self.frame.lanes.held.length(1).gt((2 * self.slab.height()).into()))
    }

    /// The same as [`Tile::served_start`] where that is so.
    fn near_start(&self, b: &mut Builder, source: &Source, k: Expr) -> LocalId {
        let position = ((Expr::from(self.slab.front) + k) << 1) + source.row.parity() as i32;
        let served = Expr::from(self.frame.lanes.held.serve_near(b, position));
        let row = if source.columns.is_some() { self.frame.lanes.held.band_row(source.row, served) } else { served };
        b.let_("row_start", Scalar::I64, self.frame.index(source.array(), row, 0.into()))
    }

    /// Rows that are all inside the image.
    fn load_inside(&self, b: &mut Builder, x: LocalId) {
        let slab = &self.slab;
        Source::vectors(b, self.frame, x, (slab.front, slab.height()), |phase, k| slab.row(phase, k.into()));
    }

    /// Index of the first sample of the row that serves pair `k` of the block.
    fn served_start(&self, b: &mut Builder, source: &Source, k: Expr) -> LocalId {
        let pair = self.frame.lanes.held.serve(1, source.row, Expr::from(self.slab.front) + k);
        source.row_start(b, self.frame, pair)
    }

    /// Each sample where the border rule finds it.
    fn gather(&self, b: &mut Builder, why: &str) {
        let (frame, slab) = (self.frame, &self.slab);
        b.comment(why);
        let served: Vec<LocalId> = (0..frame.lanes.held.columns()).map(|c| served_column(b, frame, c)).collect();
        if slab.form != Form::Single {
            return self.gather_pairs(b, &served);
        }
        self.each_row(b, &|b, k, source| {
            let start = self.served_start(b, source, k.clone());
            source.gather(b, frame, &slab.row(source.row, k), start, &served);
        });
    }

    /// The same of pairs: many samples first, so that none is waited for before others are asked for; all of narrow
    /// lanes.
    fn gather_pairs(&self, b: &mut Builder, served: &[LocalId]) {
        let (frame, slab) = (self.frame, &self.slab);
        let height = match self.plan.shape.columns {
            // Large images take these, and wait for few blocks at borders.
            columns @ 8.. => {
                let parts = (columns * self.plan.shape.rows).div_ceil(GATHERED_AT_ONCE) as i32;
                (slab.height() + parts - 1) / parts
            }
            _ => slab.height(),
        };
        for first in (0..slab.height()).step_by(height as usize) {
            let rows = [first, (first + height).min(slab.height())];
            let rooms = self.rooms(b, Source::all(frame), rows);
            b.unrolled("row", rows[0], rows[1], 1, |b, k| {
                for (source, raw) in &rooms {
                    let start = self.served_start(b, source, k.clone());
                    let room = (k.clone() - first) * source.samples(frame);
                    source.fetch_each(b, frame, (*raw, room), &start.into(), served);
                }
            });
            self.see(b, &rooms, rows);
        }
    }

    /// Sources, and room for the lane's samples of rows of each: the first, and the first that is not.
    fn rooms(&self, b: &mut Builder, sources: Vec<Source>, [first, end]: [i32; 2]) -> Vec<(Source, LocalId)> {
        let room = |source: Source| {
            let raw = source.raw_rows(b, self.frame, end - first);
            (source, raw)
        };
        sources.into_iter().map(room).collect()
    }

    /// What stands there, as the steps see it.
    fn see(&self, b: &mut Builder, rooms: &[(Source, LocalId)], [first, end]: [i32; 2]) {
        let (frame, slab) = (self.frame, &self.slab);
        b.unrolled("row", first, end, 1, |b, k| {
            for (source, raw) in rooms {
                let row = slab.row(source.row, k.clone());
                let room = (k.clone() - first) * source.samples(frame);
                source.see_shifted(b, frame, &row, (*raw, room), None);
            }
        });
    }

    fn store(&self, b: &mut Builder) {
        let (frame, slab) = (self.frame, &self.slab);
        let first = || Expr::from(slab.front) + slab.first();
        let ends = (first() + (slab.pairs - 1)).le(frame.lanes.held.last_index(1, Phase::Odd));
        let inside = match self.plan.shape.is_even() {
            true => ends,
            false => first().ge(frame.lanes.held.first_index(1, Phase::Even)).and(ends),
        };
        if self.plan.gives > 0 || frame.takes == RowAlignment::Any {
            let inside = inside.and(!Expr::from(frame.lanes.at_border));
            return b.if_else(inside, |b| self.store_shifted(b), |b| self.store_owned(b));
        }
        let inside =
            if frame.takes == RowAlignment::Whole { inside } else { inside.and(!Expr::from(frame.lanes.at_border)) };
        b.if_(frame.useful, |b| {
            b.if_else(inside, |b| self.store_all(b), |b| self.store_rows(b));
        });
    }

    /// Stores all rows, where all exist and the block is inside the image: first all that moves, by all lanes; then
    /// vectors as they stand in memory.
    fn store_shifted(&self, b: &mut Builder) {
        let (frame, slab) = (self.frame, &self.slab);
        let sinks = Sink::all(frame);
        let runs = self.runs(b, &sinks, Expr::from(slab.front) + slab.first());
        let row = |sink: &Sink, k: &Expr| slab.row(sink.row, k.clone() + slab.first());
        for (sink, runs) in sinks.iter().zip(&runs) {
            let all = |b: &mut Builder| {
                b.unrolled("row", 0, slab.pairs, 1, |b, k| {
                    let shift = runs.shift(b, frame, sink.below(&k));
                    sink.shift(b, frame, &row(sink, &k), shift);
                });
            };
            match self.is_shifted(sink) {
                Some(is_shifted) => b.if_(is_shifted, all),
                None => all(b),
            }
        }
        b.if_(frame.useful, |b| {
            b.unrolled("row", 0, slab.pairs, 1, |b, k| {
                for (sink, runs) in sinks.iter().zip(&runs) {
                    sink.store_vector(b, frame, &row(sink, &k), runs, sink.below(&k));
                }
            });
        });
    }

    /// Stores the samples that exist, and that no block beside stores, one by one; of the rows that exist.
    fn store_owned(&self, b: &mut Builder) {
        let (frame, slab) = (self.frame, &self.slab);
        let lanes = |n: i64| n as i32 * frame.lanes.held.columns();
        b.comment("at a border");
        b.unrolled("row", slab.first(), slab.first() + slab.pairs, 1, |b, k| {
            let pair = b.let_("done", Scalar::I32, Expr::from(slab.front) + k.clone());
            for sink in Sink::all(frame) {
                let columns = sink.columns(frame);
                let exists = frame.lanes.held.exists(1, sink.row, pair);
                let values = sink.values(frame, &slab.row(sink.row, k.clone()));
                let (pointer, cache) = sink.memory(frame);
                b.if_(exists, |b| {
                    let row = sink.row_of(frame, pair.into());
                    let runs = Runs::from(b, frame, &sink, row);
                    let shift = || Expr::from(runs.first_shift());
                    let index = b.let_("out", Scalar::I64, Expr::from(runs.first_vector()) + shift().cast(Scalar::I64));
                    // In columns, of which an array has all or half.
                    let earlier = shift() * (frame.lanes.held.columns() / columns.len() as i32);
                    let first = Expr::from(frame.lanes.base) + lanes(self.plan.left) - earlier;
                    let first = b.let_("first", Scalar::I32, first);
                    for (e, (c, value)) in columns.into_iter().zip(values).enumerate() {
                        // Of a band, what belongs to a block is counted in pairs of columns.
                        let unit = if sink.columns.is_some() { c & !1 } else { c };
                        let own = Expr::from(frame.lanes.x) + unit - Expr::from(first);
                        let x = || Expr::from(frame.lanes.x) + c;
                        let own = own.clone().ge(0.into()).and(own.lt(lanes(self.plan.useful).into()));
                        b.if_(own.and(x().ge(frame.lanes.held.start(0)).and(x().lt(frame.lanes.held.end(0)))), |b| {
                            let at = Expr::from(index) + Expr::i64(e as i64);
                            b.store_wide(Space::Global(pointer), at, vec![frame.lanes.held.arith.narrow(value)], cache);
                        });
                    }
                });
            }
        });
    }

    /// Stores all rows, where all exist and their positions begin at 0.
    fn store_all(&self, b: &mut Builder) {
        let (frame, slab) = (self.frame, &self.slab);
        let first = b.let_("done", Scalar::I32, Expr::from(slab.front) + slab.first());
        let rows = (0..slab.pairs).map(|k| (k, slab.first() + k));
        match frame.options.direction {
            Direction::Forward => {
                let starts = [1, 2].map(|array| {
                    let index = frame.index(array, first.into(), Expr::from(frame.lanes.x) >> 1);
                    b.let_("out", Scalar::I64, index)
                });
                for (below, k) in rows {
                    for (phase, columns) in PHASES.into_iter().flat_map(|phase| PHASES.map(|columns| (phase, columns)))
                    {
                        let array = if (phase, columns) == (Phase::Even, Phase::Even) { 1 } else { 2 };
                        let index = frame.below(array, starts[array - 1], below);
                        store_band_at(b, frame, &slab.row(phase, k.into()), (phase, columns), index, true);
                    }
                }
            }
            Direction::Inverse => {
                let index = frame.index(0, Expr::from(first) << 1, frame.lanes.x.into());
                let start = b.let_("out", Scalar::I64, index);
                for (below, k) in rows {
                    for phase in PHASES {
                        let index = frame.below(0, start, 2 * below + phase.parity() as i32);
                        store_signal_at(b, frame, &slab.row(phase, k.into()), index, true);
                    }
                }
            }
        }
    }

    /// Stores the rows that exist.
    fn store_rows(&self, b: &mut Builder) {
        let (frame, slab) = (self.frame, &self.slab);
        b.unrolled("row", slab.first(), slab.first() + slab.pairs, 1, |b, k| {
            let pair = b.let_("done", Scalar::I32, Expr::from(slab.front) + k.clone());
            for phase in PHASES {
                let ends = Expr::from(pair).le(frame.lanes.held.last_index(1, phase));
                let starts = || Expr::from(pair).ge(frame.lanes.held.first_index(1, phase));
                let inside = if self.plan.shape.is_even() { ends } else { starts().and(ends) };
                let wanted = inside.and(frame.useful.into());
                let row = slab.row(phase, k.clone());
                b.if_(wanted, |b| match frame.options.direction {
                    Direction::Forward => {
                        for columns in PHASES {
                            store_band(b, frame, &row, phase, columns, pair);
                        }
                    }
                    Direction::Inverse => store_signal(b, frame, &row, phase, pair),
                });
            }
        });
    }
}
