//! Block shapes of the `warp` schedule and their choice.
//!
//! A block is straight-line code: all loads, all lifting, all stores. Large images pay for the halo that a block loads
//! and for its registers, as other warps hide the latency of one warp's loads. Small images, whose blocks all run at
//! once, pay for the time of one block, which grows with its rows.
//!
//! Measured best (docs/notebook/levels.md) for halos of 2 to 6 row pairs alike: one row pair of results more than the
//! halo has, so that a block loads two rows for each row it stores.
//!
//! | image | bytes a lane loads | results |
//! |---|---|---|
//! | large | the widest load | halo + 1 row pairs |
//! | medium | 8 | halo + 1 row pairs |
//! | small | 8 | next to none |
//!
//! Two 16-bit integers in a register ([`Shape::packed`]) leave room for more warps, or for lanes of 8 columns with long
//! halos.
//!
//! No lanes idle to make stores whole sectors ([`Shape::whole_sectors`]): partial sectors merge in the L2 cache, and
//! idle lanes are lost. The exception is analysis of 4-byte samples with unaligned bands, and only for lanes that the
//! kernel for all rows would leave idle too. It saves 9 µs of 147 (9/7 f32, 8191 × 8193, rows at multiples of 32
//! bytes).

use super::{Axis, LONG_HALO, MAX_PACKED, MAX_REGISTERS, SHORT_HALO, fit, words};
use crate::ir::Scalar;
use crate::machine::Machine;
use crate::schedule::level::{Form, RowAlignment};
use crate::schedule::{Arithmetic, Options, ScheduleError};
use crate::window::Halo;
use lifting_dsl::{Direction, Scheme};

/// Shape of a block of samples and of a thread block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WarpShape {
    /// Columns a lane: a power of two, at least 2 columns and at most 16 bytes.
    pub columns: u32,
    /// Rows, halo included; even.
    pub rows: u32,
    /// Warps a thread block. Each has its own block of samples, one below the other.
    pub warps: u32,
    /// Resident blocks a multiprocessor to ask for. 0 asks for what the samples' registers allow, up to 16 warps.
    pub min_blocks: u32,
    /// Whether some lanes idle so that each store of a warp covers whole 32-byte sectors.
    pub whole_sectors: bool,
    /// Whether 16-bit integers are packed in pairs and lifted by dot products: half the registers and fewer
    /// instructions. Lanes then hold a multiple of 4 columns.
    pub packed: bool,
    /// Row alignment the kernel requires. All but [`RowAlignment::Any`] also require the first row at an even position.
    pub takes: RowAlignment,
}

impl WarpShape {
    /// Whether the kernel requires the first column and row at even positions.
    pub(super) fn is_even(self) -> bool {
        self.takes != RowAlignment::Any
    }

    /// Register form of samples as loaded and as stored.
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

    /// Largest shift in columns of a lane's run against its vector in memory, for unaligned rows: of stored rows, in
    /// whole pairs, and of loaded rows.
    pub(super) fn shifts(self, direction: Direction) -> [i64; 2] {
        let columns = i64::from(self.columns);
        let [pairs, signal] = if self.takes == RowAlignment::Any { [columns, columns - 1] } else { [0; 2] };
        // A band has one column of each pair.
        let bands = if self.takes.is_aligned() { 0 } else { columns - 2 };
        match direction {
            Direction::Forward => [bands, signal],
            Direction::Inverse => [pairs, bands],
        }
    }
}

impl WarpShape {
    /// The paper's shape: 64 × 20 samples. The 5/3 stores 60 of the columns, the 9/7 stores 56.
    pub fn paper() -> WarpShape {
        WarpShape {
            columns: 2,
            rows: 20,
            warps: 4,
            min_blocks: 0,
            whole_sectors: false,
            packed: false,
            takes: RowAlignment::Any,
        }
    }

    /// The shape for large images with unaligned rows: the width that loads the fewest samples for each stored sample.
    /// The widest wins ties.
    ///
    /// # Errors
    /// If no shape holds the scheme: the reason against the widest.
    pub fn of(scheme: &Scheme, options: Options) -> Result<WarpShape, ScheduleError> {
        let shapes = WarpShape::proposed(scheme, options)?;
        Ok(shapes.iter().find(|shape| !shape.packed).copied().unwrap_or(shapes[0]))
    }

    /// The shapes worth considering. Packed shapes come first; they take unaligned rows only with a short halo. Shapes
    /// for all rows follow. In each group the shape that loads the fewest samples comes first.
    ///
    /// # Errors
    /// As [`Shape::of`].
    pub fn proposed(scheme: &Scheme, options: Options) -> Result<Vec<WarpShape>, ScheduleError> {
        let pairs = if options.sample == Scalar::I16 { WarpShape::of_form(scheme, options, true).ok() } else { None };
        match (pairs, WarpShape::of_form(scheme, options, false)) {
            (None, singles) => singles,
            (Some(pairs), singles) => Ok(pairs.into_iter().chain(singles.into_iter().flatten()).collect()),
        }
    }

    /// A taller shape for launches of many samples with unaligned rows or bands, if this shape is for large images and
    /// its blocks take such rows. Each loaded row costs more there, so blocks have more row pairs of results. Packed
    /// samples with short halos get two more, analysis of 4-byte samples with medium halos one more. No gain was
    /// measured elsewhere (docs/notebook/odd-rows.md).
    pub fn for_rows_anywhere(
        self,
        scheme: &Scheme,
        options: Options,
        (takes, samples): (RowAlignment, i64),
        machine: &Machine,
    ) -> Option<WarpShape> {
        let (bytes, least) = (options.sample.bytes(), &machine.constants().warp_steps);
        let (many, halos, taller) = match (self.packed, takes) {
            (true, RowAlignment::Image | RowAlignment::Any) => {
                (least.paired_samples, 1..=SHORT_HALO, WarpShape { rows: self.rows + 4, ..self })
            }
            // With 128 registers a thread, 5 blocks of 3 warps are resident as well as 4 of 4.
            (false, RowAlignment::Any) if options.direction == Direction::Forward && bytes == 4 => {
                (least.samples, SHORT_HALO + 1..=LONG_HALO, WarpShape { rows: self.rows + 2, warps: 3, ..self })
            }
            _ => return None,
        };
        if self.columns as usize * bytes != 16 || samples < many {
            return None;
        }
        let block = fit(scheme, options, WarpShape { takes, ..taller }).ok()?;
        let is_suited = halos.contains(&block.halo.pairs()) && (self.packed || block.is_plain());
        is_suited.then_some(taller)
    }

    /// Shapes of packed samples only, or of unpacked samples only.
    fn of_form(scheme: &Scheme, options: Options, packed: bool) -> Result<Vec<WarpShape>, ScheduleError> {
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
            WarpShape {
                columns: columns as u32,
                rows: (2 * (sides + pairs)).min(most) as u32,
                packed,
                ..WarpShape::paper()
            }
        };
        // Whole rows admit the most shapes.
        let whole = |shape: WarpShape| fit(scheme, options, WarpShape { takes: RowAlignment::Whole, ..shape });
        // A lane loads 8 or 16 bytes of a row at a time.
        let large = [8, 4, 2].into_iter().filter(|&c| (8..=16).contains(&(c * bytes)));
        // Medium and small images.
        let narrow = (8 / bytes).max(2);
        let between = (options.sample == Scalar::I16).then_some((2 * sides + 1) / 3);
        let others = between.into_iter().chain([(sides + 2) / 4]).map(|pairs| shape(narrow, pairs.max(1)));
        let (mut held, mut refusal): (Vec<(f64, WarpShape)>, _) = (Vec::new(), None);
        for shape in large.map(|columns| shape(columns, sides + 1)) {
            match whole(shape) {
                Ok(block) => held.push((block.reads(), shape)),
                Err(e) => {
                    refusal.get_or_insert(e);
                }
            }
        }
        // The sort is stable: ties keep their order.
        held.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        // Registers may leave next to no results for the widest shape.
        let most = held.first().map_or(f64::INFINITY, |(reads, _)| 1.5 * reads);
        let mut shapes: Vec<WarpShape> = held.into_iter().filter(|(reads, _)| *reads <= most).map(|(_, s)| s).collect();
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
