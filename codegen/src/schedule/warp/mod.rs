//! Both axes in one pass: a warp holds a whole block, halo included, in registers.
//!
//! rewrite: a scheme along both axes of an image → blocks that a warp holds whole in registers, halo included
//!
//! A warp loads [`Shape::rows`] rows of 32·[`Shape::columns`] columns at once, so that all its loads are in flight
//! together. Rows are lifted with shuffles that exchange the edge values of neighbouring lanes (`schedule::lines`),
//! columns within each lane (`Slab`). There is no barrier and no shared memory. A block loads and lifts its halo again
//! ([`Halo`]: the supports summed, in rows and in columns). J lifting pairs of support ±1 need 2J a side.
//!
//! | block of 64×20 | stored | samples moved per sample, reads and writes |
//! |---|---|---|
//! | 5/3 | 60×16 | 2.33 |
//! | 9/7 | 56×12 | 2.90 |
//! | two passes | | 4 |
//!
//! From Enfedaque, Aulí-Llinàs & Moure 2015, "Implementation of the DWT in a GPU through a Register-based Strategy"
//! (sections 3 and 4). [`Shape::paper`] is theirs; plans consider others ([`Shape::proposed`]). 16-bit integers take a
//! 32-bit register each. Large blocks pack two in one register except while they are lifted ([`Shape::packed`]).
//!
//! Border rules are those of `schedule::lines`. Blocks at a border load samples one by one, each from where the rule
//! finds it. Samples that lifting would not keep are restored after each step. A block holds every sample its results
//! depend on, so `whole-symmetric` also works with asymmetric steps.
//!
//! Unaligned rows or bands ([`RowAlignment::Image`]: an odd number of columns in the Mallat layout) are still loaded
//! and stored as whole vectors at their own addresses, then shuffled to their lanes (`level::shift::Runs`). A block
//! stores the vectors that begin in its columns. So its part of a row begins the row's shift before its first lane, and
//! ends as far before its last lane's end. At borders of the image, samples are loaded and stored one by one.

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
pub use schedule::WarpSchedule;
pub use shape::WarpShape;

use super::level::{Axis, Border, Held, Params, check_columns, check_warps, is_symmetric};
use super::limits::unfit;
use super::pass::taps;
use super::{Arithmetic, Options, ScheduleError};
use crate::action::Action;
use crate::ir::Scalar;
use crate::window::Halo;
use lifting_dsl::{Boundary, Direction, Scheme};

/// Maximum registers for a thread's samples. Addresses and arithmetic take up to 130 more; a thread has 255.
const MAX_REGISTERS: i64 = 104;

/// Maximum registers for packed samples, in analysis and in synthesis. When synthesis lifts rows, only those of results
/// are left.
const MAX_PACKED: [i64; 2] = [80, 88];

/// Warps a multiprocessor that hide latency, for 32-bit samples; half as many for 64-bit ones.
const RESIDENT: i64 = 16;
/// Warps a multiprocessor that hide latency, for packed samples.
const RESIDENT_PACKED: i64 = 24;
/// Registers of packed samples beyond which synthesis spills at [`RESIDENT_PACKED`] warps.
const TALL_PAIRS: i64 = 48;
/// Longest halo in row pairs for which registers are capped to gain occupancy. Steps of longer ones hold too much.
const LONG_HALO: i64 = 4;
/// Longest halo in row pairs for which packed unaligned rows win over single samples: the 5/3, not the DD(13,7).
const SHORT_HALO: i64 = 2;
/// Registers of a multiprocessor for each lane of a warp.
const REGISTERS: i64 = 65536 / 32;
/// Estimated registers beyond samples: a base, more per extra tap, and more for asymmetric steps or kept borders, where
/// nvcc shares less. Fitted so that no wavelet of the catalogue spills.
const BESIDES: i64 = 48;
const A_TAP: i64 = 12;
const UNEVEN: i64 = 56;

/// A scheme fitted to a block shape: all that is derived before code is written.
#[derive(Clone, Debug)]
pub struct WarpFit {
    options: Options,
    shape: WarpShape,
    arith: Arithmetic,
    border: Border,
    axis: Axis,
    /// Halo of the lifting steps.
    halo: Halo,
    /// Halo lanes on the left.
    left: i64,
    /// Lanes that store.
    useful: i64,
    /// Row pairs of results.
    pairs: i64,
    /// Largest shift in columns of stored rows (`gives`) and of loaded rows (`has`).
    gives: i64,
    has: i64,
}

/// Fits a scheme to a block shape.
///
/// # Errors
/// If the sample type is not in the scheme's domain, if the shape does not suit the samples, if it has more samples
/// than registers, or if it is all halo.
pub fn fit(scheme: &Scheme, options: Options, shape: WarpShape) -> Result<WarpFit, ScheduleError> {
    fit_within(scheme, options, shape, ("warp", MAX_REGISTERS))
}

/// [`fit`] under another schedule's name and register limit.
///
/// # Errors
/// As for [`fit`].
pub fn fit_within(
    scheme: &Scheme,
    options: Options,
    shape: WarpShape,
    (schedule, most): (&'static str, i64),
) -> Result<WarpFit, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?.in_registers();
    let refuse = ScheduleError::limit(schedule, scheme);
    let (c, rows) = (i64::from(shape.columns), i64::from(shape.rows));
    check_columns(schedule, shape.columns, options.sample, 2, 0..=16)?;
    check_warps(schedule, shape.warps)?;
    if rows % 2 != 0 {
        return Err(unfit(schedule, "rows of a block", shape.rows, "an even number"));
    }
    let registers = if shape.packed { c * rows / 2 } else { c * rows * words(arith.work) };
    if registers > most {
        return Err(refuse("registers a thread for the block's samples", registers, most));
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
        return Err(refuse("rows of a block, halo included", 2 * sides + 2, rows));
    }
    // Lanes take shifted samples from all lanes but the last, and give them to all but the first.
    let beside = |[gives, has]: [i64; 2]| [(halo.before + gives + c - 1) / c, (halo.after + has + c - 1) / c];
    let [gives, has] = shape.shifts(options.direction);
    let [left, right] = beside([gives, has]);
    let (lanes, sector) = (32 - left - right, sector_lanes(options, c));
    // Sectors stay whole if that costs no more lanes than the kernel for all rows loses.
    let of_any = || beside(WarpShape { takes: RowAlignment::Any, ..shape }.shifts(options.direction));
    let is_free = || lanes / sector * sector >= 32 - of_any().iter().sum::<i64>();
    let unit = if shape.whole_sectors || parts_cost(shape.takes, options) && is_free() { sector } else { 1 };
    let useful = lanes / unit * unit;
    if useful < unit {
        return Err(refuse("lanes of a block's halo", left + right, 32 - unit));
    }
    Ok(WarpFit { options, shape, arith, border, axis, halo, left, useful, pairs, gives, has })
}

/// Whether samples can be packed.
///
/// # Errors
/// The reason against it.
fn check_pairs(
    shape: WarpShape,
    options: Options,
    (axis, border, halo): (&Axis, Border, &Halo),
) -> Result<(), ScheduleError> {
    let what = match () {
        _ if options.sample != Scalar::I16 => "16-bit integers",
        _ if !shape.columns.is_multiple_of(4) => "a multiple of 4 columns a lane",
        _ if shape.takes == RowAlignment::Any && !(is_short(halo) && options.boundary == Boundary::WholeSymmetric) => {
            "aligned image rows, or a short halo and the border rule whole-symmetric"
        }
        _ if !matches!(border, Border::Extend | Border::Untouched) => "a border rule whose extension the steps keep",
        _ if !axis.is_dots() => {
            "steps that are dot products: weights of 8 bits, or twice as much, and sums that do not wrap"
        }
        _ => return Ok(()),
    };
    Err(ScheduleError::Launch { schedule: "warp", what: format!("packed samples require {what}") })
}

/// Whether the halo is short enough for packed unaligned rows to gain.
fn is_short(halo: &Halo) -> bool {
    halo.pairs() <= SHORT_HALO
}

/// 32-bit registers that a value takes.
fn words(work: Scalar) -> i64 {
    (work.bytes() as i64 + 3) / 4
}

/// Whether partial sectors were measured to cost more than the kernel for all rows (docs/notebook/odd-rows.md): in
/// analysis of 4-byte samples with unaligned bands.
fn parts_cost(takes: RowAlignment, options: Options) -> bool {
    takes == RowAlignment::Image && options.direction == Direction::Forward && options.sample.bytes() == 4
}

/// Lanes whose samples fill whole sectors in every stored array.
fn sector_lanes(options: Options, columns: i64) -> i64 {
    let stored = match options.direction {
        Direction::Forward => columns / 2,
        Direction::Inverse => columns,
    };
    (32 / (stored * options.sample.bytes() as i64)).max(1)
}

impl WarpFit {
    /// This block shape for a kernel without lifting steps.
    pub fn without_steps(&self) -> WarpFit {
        WarpFit { axis: Axis { first: Vec::new(), actions: Vec::new(), last: Vec::new() }, ..self.clone() }
    }

    /// Columns of a block without its halo.
    pub fn columns(&self) -> i64 {
        self.useful * i64::from(self.shape.columns)
    }

    /// Rows of a block without its halo.
    pub fn rows(&self) -> i64 {
        2 * self.pairs
    }

    /// Whether partial-sector stores cost more than the kernel for all rows.
    pub fn breaks_sectors(&self) -> bool {
        let sector = sector_lanes(self.options, self.shape.columns.into());
        parts_cost(self.shape.takes, self.options) && self.useful % sector != 0
    }

    fn has_long_halo(&self) -> bool {
        self.halo.pairs() > LONG_HALO
    }

    /// Whether borders need no code that the inside lacks.
    fn is_plain(&self) -> bool {
        self.border == Border::Extend && self.axis.actions.iter().filter_map(Action::step).all(is_symmetric)
    }

    /// Whether memory, not instruction issue, limits analysis of large images, as measured (docs/notebook/cache.md):
    /// 4-byte or packed samples, symmetric steps and a short halo.
    pub fn is_limited_by_memory(&self) -> bool {
        let Options { sample, direction, .. } = self.options;
        let is_light = self.shape.packed || sample.bytes() == 4;
        direction == Direction::Forward && is_light && self.is_plain() && !self.has_long_halo()
    }

    /// Resident blocks to ask for: what registers allow, up to 16 warps a multiprocessor (24 if packed). Without a
    /// request nvcc guesses a number and spills for it.
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

    /// Estimated registers beyond packed samples. Synthesis needs fewer, as it lifts only rows of results last. Fitted
    /// so that no wavelet of the catalogue spills.
    fn besides_pairs(&self, more_taps: i64) -> i64 {
        let least = if self.options.direction == Direction::Forward { 20 } else { 14 };
        let longer = 20 * (more_taps - 2).max(0) + 8 * (self.axis.actions.len() as i64 - 2).max(0);
        let extends = if self.options.boundary == Boundary::WholeSymmetric { 0 } else { UNEVEN };
        // At a border, unaligned samples are loaded one by one, all at once.
        let rows = match self.shape.takes {
            RowAlignment::Whole => 0,
            RowAlignment::Aligned => 16,
            // With short halos nvcc needs fewer registers for that.
            RowAlignment::Image | RowAlignment::Any if is_short(&self.halo) && extends == 0 => 40,
            RowAlignment::Image | RowAlignment::Any => 64,
        };
        least + longer + extends + rows
    }

    /// The image, as lanes hold its columns.
    fn held(&self, params: &Params) -> Held {
        let WarpFit { options, arith, border, shape, .. } = *self;
        let held = params.held(options, arith, border, shape.columns, shape.is_even());
        if shape.is_even() { held.at_even_positions() } else { held }
    }

    /// Whether a warp that reaches beyond a border holds the extension of the columns there: it has at least the halo
    /// of the other side and one lane of the image.
    fn finds_all(&self) -> bool {
        let uneven = (self.halo.before - self.halo.after).abs();
        uneven < i64::from(self.shape.columns) && 2 * self.left < 32
    }

    /// Whether steps beyond a border read only a lane's own columns, so that no extension is stored.
    fn reflects(&self) -> bool {
        self.shape.takes == RowAlignment::Whole
            && self.axis.reflects(self.options.boundary, self.border, self.shape.columns)
    }

    /// Samples loaded for each sample stored.
    pub fn reads(&self) -> f64 {
        let loaded = 32 * i64::from(self.shape.columns) * i64::from(self.shape.rows);
        loaded as f64 / (self.columns() * self.rows()) as f64
    }
}
