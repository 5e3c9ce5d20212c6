//! The shapes of blocks, chosen.
//!
//! A block is straight-line code: all loads, all lifting, all stores. Large images pay for what a block loads besides
//! what it stores, its halo, and for its registers, as what hides the loads of one warp is other warps. Small images,
//! whose blocks all run at once, pay for the time of one block, which grows with its rows.
//!
//! Measured best (docs/notebook/levels.md), for halos of 2 to 6 row pairs alike: a row pair of results more than there
//! are of halo, so that a block loads two rows for each that it stores, with lanes as wide as loads can be for large
//! images and of 8 bytes for those in between; and for small ones 8 bytes and next to no results.
//!
//! Two 16-bit integers in a register ([`Shape::packed`]) leave room for more warps, or for lanes of 8 columns where
//! halos are long.
//!
//! No lanes are left idle so that stores are whole sectors ([`Shape::whole_sectors`]): parts of sectors meet in the
//! second-level cache, and idle lanes are lost. Only where bands begin anywhere, in analysis of 4-byte samples, lanes
//! that the kernel for all rows would not have either are: 9 µs of 147 (9/7 f32, 8191 × 8193, rows at multiples of 32
//! bytes).

use super::{Axis, LONG_HALO, MAX_PACKED, MAX_REGISTERS, SHORT_HALO, fit, words};
use crate::ir::Scalar;
use crate::machine::Machine;
use crate::schedule::level::{Form, RowAlignment};
use crate::schedule::{Arithmetic, Direction, Options, ScheduleError};
use crate::window::Halo;
use lifting_dsl::Scheme;

/// Shape of a block of samples, and of a block of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Columns a lane: a power of two of at least 2, of at most 16 bytes.
    pub columns: u32,
    /// Rows, halo included; even.
    pub rows: u32,
    /// Warps a block of threads, each with a block of samples of its own; they stand below one another.
    pub warps: u32,
    /// Resident blocks a multiprocessor to ask for; 0: what the samples' registers leave, up to 16 warps.
    pub min_blocks: u32,
    /// Whether fewer lanes store than could, so that each store of a warp is whole 32-byte sectors.
    pub whole_sectors: bool,
    /// Whether 16-bit integers stand in pairs and are lifted by dot products: half the registers, and fewer
    /// instructions. Lanes then have a multiple of 4 columns.
    pub packed: bool,
    /// Which rows the kernel takes; all but [`RowAlignment::Any`] ask for a first row at an even position, too.
    pub takes: RowAlignment,
}

impl Shape {
    /// Whether the kernel takes only images whose first column and row are at even positions, and whose rows are
    /// aligned.
    pub(super) fn is_even(self) -> bool {
        self.takes != RowAlignment::Any
    }

    /// How samples stand in registers when they have been loaded, and when they are stored.
    pub(super) fn forms(self, direction: Direction) -> [Form; 2] {
        let [image, bands] = match self.packed {
            true => [Form::Beside, Form::ByPhase(self.columns as i32)],
            false => [Form::Single; 2],
        };
        match direction {
            Direction::Forward => [image, bands],
            Direction::Inverse => [bands, image],
        }
    }

    /// Most columns by which a lane's run of a row may be off its vector in memory, where rows may begin anywhere: of
    /// rows that are stored, in whole pairs, and of rows that are loaded.
    pub(super) fn shifts(self, direction: Direction) -> [i64; 2] {
        let columns = i64::from(self.columns);
        let [pairs, signal] = if self.takes == RowAlignment::Any { [columns, columns - 1] } else { [0; 2] };
        // A band has a column of each pair.
        let bands = if self.takes.is_aligned() { 0 } else { columns - 2 };
        match direction {
            Direction::Forward => [bands, signal],
            Direction::Inverse => [pairs, bands],
        }
    }
}

impl Shape {
    /// 64 x 20 samples, 60 or 56 columns of which are stored by the 5/3 and the 9/7: the paper's.
    pub fn paper() -> Shape {
        Shape {
            columns: 2,
            rows: 20,
            warps: 4,
            min_blocks: 0,
            whole_sectors: false,
            packed: false,
            takes: RowAlignment::Any,
        }
    }

    /// The shape for large images whose rows may begin anywhere: of the width that loads the fewest samples for each
    /// that it stores, and of equals the widest.
    ///
    /// # Errors
    /// If no shape holds the scheme: what stands against the widest.
    pub fn of(scheme: &Scheme, options: Options) -> Result<Shape, ScheduleError> {
        let shapes = Shape::proposed(scheme, options)?;
        Ok(shapes.iter().find(|shape| !shape.packed).copied().unwrap_or(shapes[0]))
    }

    /// The shapes worth considering: first those whose samples stand in pairs, which rows that begin anywhere take only
    /// where the halo is short; then those for all rows. Of each the one that loads the fewest samples comes first.
    ///
    /// # Errors
    /// As [`Shape::of`].
    pub fn proposed(scheme: &Scheme, options: Options) -> Result<Vec<Shape>, ScheduleError> {
        let pairs = if options.sample == Scalar::I16 { Shape::of_form(scheme, options, true).ok() } else { None };
        match (pairs, Shape::of_form(scheme, options, false)) {
            (None, singles) => singles,
            (Some(pairs), singles) => Ok(pairs.into_iter().chain(singles.into_iter().flatten()).collect()),
        }
    }

    /// The shape for launches of many samples whose rows, or those of bands, may begin anywhere, where this one is for
    /// large images and its blocks take such rows. Each row that is loaded costs more there, so blocks have more row
    /// pairs of results: two of pairs with short halos, one of analysis of single samples of 4 bytes with halos in
    /// between. Of others it has not been measured to gain (docs/notebook/odd-rows.md).
    pub fn for_rows_anywhere(
        self,
        scheme: &Scheme,
        options: Options,
        (takes, samples): (RowAlignment, i64),
        machine: &Machine,
    ) -> Option<Shape> {
        let (bytes, least) = (options.sample.bytes(), &machine.constants().warp_steps);
        let (many, halos, taller) = match (self.packed, takes) {
            (true, RowAlignment::Image | RowAlignment::Any) => {
                (least.paired_samples, 1..=SHORT_HALO, Shape { rows: self.rows + 4, ..self })
            }
            // Of threads with 128 registers, 5 blocks of 3 warps are resident as well as 4 of 4.
            (false, RowAlignment::Any) if options.direction == Direction::Forward && bytes == 4 => {
                (least.samples, SHORT_HALO + 1..=LONG_HALO, Shape { rows: self.rows + 2, warps: 3, ..self })
            }
            _ => return None,
        };
        if self.columns as usize * bytes != 16 || samples < many {
            return None;
        }
        let block = fit(scheme, options, Shape { takes, ..taller }).ok()?;
        let is_suited = halos.contains(&block.halo.pairs()) && (self.packed || block.is_plain());
        is_suited.then_some(taller)
    }

    /// Those of samples that stand in pairs, or of those that do not.
    fn of_form(scheme: &Scheme, options: Options, packed: bool) -> Result<Vec<Shape>, ScheduleError> {
        let arith = Arithmetic::of(scheme, options)?.in_registers();
        let bytes = options.sample.bytes() as i64;
        let halo = Halo::of(&Axis::new(scheme, options).actions, options.boundary);
        let sides = halo.pairs();
        let shape = |columns: i64, pairs: i64| {
            let samples = match packed {
                true => 2 * MAX_PACKED[usize::from(options.direction == Direction::Inverse)],
                false => MAX_REGISTERS / words(arith.work),
            };
            let most = (samples / columns) & !1;
            Shape { columns: columns as u32, rows: (2 * (sides + pairs)).min(most) as u32, packed, ..Shape::paper() }
        };
        // Of the rows that are the most.
        let whole = |shape: Shape| fit(scheme, options, Shape { takes: RowAlignment::Whole, ..shape });
        // Rows are loaded 8 or 16 bytes a lane at a time.
        let large = [8, 4, 2].into_iter().filter(|&c| (8..=16).contains(&(c * bytes)));
        // In between, and small.
        let narrow = (8 / bytes).max(2);
        let between = (options.sample == Scalar::I16).then_some((2 * sides + 1) / 3);
        let others = between.into_iter().chain([(sides + 2) / 4]).map(|pairs| shape(narrow, pairs.max(1)));
        let (mut held, mut refusal): (Vec<(f64, Shape)>, _) = (Vec::new(), None);
        for shape in large.map(|columns| shape(columns, sides + 1)) {
            match whole(shape) {
                Ok(block) => held.push((block.reads(), shape)),
                Err(e) => {
                    refusal.get_or_insert(e);
                }
            }
        }
        // Of equals the first stays first.
        held.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        // Registers may have left next to nothing of the widest.
        let most = held.first().map_or(f64::INFINITY, |(reads, _)| 1.5 * reads);
        let mut shapes: Vec<Shape> = held.into_iter().filter(|(reads, _)| *reads <= most).map(|(_, s)| s).collect();
        for other in others {
            if !shapes.contains(&other) && whole(other).is_ok() {
                shapes.push(other);
            }
        }
        match refusal {
            Some(e) if shapes.is_empty() => Err(e),
            _ => Ok(shapes),
        }
    }
}
