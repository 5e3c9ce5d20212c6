//! rewrite: a scheme along both axes of an image → blocks that a warp holds in registers whole, halo and all
//!
//! A warp loads [`Shape::rows`] rows of 32·[`Shape::columns`] columns at once, so that all its loads are in flight
//! together. Rows are lifted with the edge values of neighbouring lanes exchanged by shuffles (`schedule::lines`),
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
//! Border rules are those of `schedule::lines`: blocks at a border load samples one by one, each where the rule finds
//! it, and what lifting would not keep is restored after each step. As a block holds all that its results depend on,
//! `whole-symmetric` is possible for steps that are not symmetric, too.
//!
//! Rows that begin anywhere, or whose bands do ([`RowAlignment::Image`]: an odd number of columns in the Mallat
//! layout), are loaded and stored as whole vectors at their own addresses all the same, and shuffled to where lanes
//! hold them (`level::shift::Runs`). So a block stores the vectors that begin in its columns: what belongs to it of a row begins by
//! the row's shift before its first lane, and ends by that before its last lane's end. At borders of the image samples
//! are loaded and stored one by one.

mod block;
mod cost;
mod launch;
mod load;
mod schedule;
mod shape;
mod store;
#[cfg(test)]
mod tests;

pub use super::level::RowAlignment;
use block::write;
pub use schedule::Schedule;
pub use shape::Shape;

use super::level::{Axis, Border, Held, Order, Params, check_columns, check_warps, is_symmetric};
use super::{Arithmetic, Direction, Options, ScheduleError};
use crate::action::Action;
use crate::ir::{Kernel, Scalar};
use crate::window::Halo;
use lifting_dsl::{Boundary, Scheme, Step};

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
    fit_within(scheme, options, shape, ("warp", MAX_REGISTERS))
}

/// The same under a schedule's name, with so many registers of samples at most.
///
/// # Errors
/// As for [`fit`].
pub(super) fn fit_within(
    scheme: &Scheme,
    options: Options,
    shape: Shape,
    (schedule, most): (&'static str, i64),
) -> Result<Fit, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?.in_registers();
    let refuse = ScheduleError::limit(schedule, scheme);
    let (c, rows) = (i64::from(shape.columns), i64::from(shape.rows));
    check_columns(shape.columns, options.sample, &refuse)?;
    check_warps(shape.warps, &refuse)?;
    if rows % 2 != 0 {
        return Err(refuse("the number of rows of a block, which is even,", rows, rows - 1));
    }
    let registers = if shape.packed { c * rows / 2 } else { c * rows * words(arith.work) };
    if registers > most {
        return Err(refuse("the block, in registers a thread,", registers, most));
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
    /// The kernel.
    pub(super) fn kernel(&self, scheme: &Scheme, order: Order) -> Kernel {
        write(self, scheme, order)
    }

    /// The same blocks, of a kernel that makes no step.
    pub(super) fn without_steps(&self) -> Fit {
        Fit { axis: Axis { first: Vec::new(), actions: Vec::new(), last: Vec::new() }, ..self.clone() }
    }

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
