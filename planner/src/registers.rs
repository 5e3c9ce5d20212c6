//! Register passes: whether the layout of its arrays lets a pass over one axis stay in registers.

use crate::error::ProgramError;
use crate::kernels::{Family, Key};
use crate::lower::Lowering;
use crate::pass::{LineLayout, Pass, Taken};
use lifting_codegen::schedule::Sides;
use lifting_codegen::schedule::registers::{MAX_BATCH, MAX_SIDE, horizontal, vertical};
use lifting_dsl::{Boundary, Direction};

impl Lowering<'_> {
    /// A register kernel for the pass, if one supports it.
    pub(crate) fn in_registers(
        &self,
        family: Family,
        pass: Pass,
        sides: Sides,
        layout: &LineLayout,
    ) -> Result<Option<Taken>, ProgramError> {
        let Pass { direction, axis, extent, parity, .. } = pass;
        let length = extent[axis] as i64;
        let pairs = length % 2 == 0 && parity == 0;
        let refused = !family.takes_registers()
            || !(2..=MAX_SIDE).contains(&length)
            || (family.needs_pairs(direction, sides) && !pairs)
            || (family.boundary == Boundary::Periodic && length % 2 != 0);
        if refused {
            return Ok(None);
        }
        // Arrays aligned to one sample only.
        let anywhere = self.cx.misaligned && layout.is_users();
        if layout.rows {
            self.lines(family, direction, sides, layout, (length, parity, anywhere))
        } else {
            self.columns(family, direction, sides, layout, anywhere)
        }
    }

    fn lines(
        &self,
        family: Family,
        direction: Direction,
        sides: Sides,
        layout: &LineLayout,
        (length, parity, anywhere): (i64, usize, bool),
    ) -> Result<Option<Taken>, ProgramError> {
        let columns = 16 / sides.signal.bytes().max(sides.bands.bytes()) as i64;
        let half = columns / 2;
        let aligned = parity == 0 && !anywhere && layout.is_aligned([columns, half, half], layout.lines.len == 1);
        // Warps are counted in 32 bits, and a strip has at least 4 lanes.
        let strips = length / (4 * columns) + 2;
        let most = [i64::from(i32::MAX - (1 << 16)) / strips, MAX_BATCH];
        let schedule = "horizontal_registers";
        for aligned in [aligned, false] {
            let shape = horizontal::RegisterRowShape::of(sides, aligned, length);
            if let Some(kernel) = self.fitting(family, Key::Lines(direction, sides, shape))? {
                return Ok(Some(Taken { kernel, schedule, vectors: aligned && layout.is_users(), most }));
            }
        }
        Ok(None)
    }

    fn columns(
        &self,
        family: Family,
        direction: Direction,
        sides: Sides,
        layout: &LineLayout,
        anywhere: bool,
    ) -> Result<Option<Taken>, ProgramError> {
        if layout.pitches.iter().any(|&pitch| i32::try_from(pitch).is_err()) {
            return Ok(None);
        }
        for columns in vertical::RegisterColumnShape::candidates(direction, sides) {
            let c = i64::from(columns);
            if c > 1 && (anywhere || layout.lines.len % c != 0 || !layout.is_aligned([c; 3], false)) {
                continue;
            }
            if let Some(kernel) = self.fitting(family, Key::Columns(direction, sides, columns))? {
                let most = [MAX_SIDE, MAX_BATCH];
                let vectors = columns > 1 && layout.is_users();
                return Ok(Some(Taken { kernel, schedule: "vertical_registers", vectors, most }));
            }
        }
        Ok(None)
    }

    /// The kernel, unless the scheme does not suit it.
    fn fitting(&self, family: Family, key: Key) -> Result<Option<usize>, ProgramError> {
        match self.cx.kernels.get(family, key) {
            Ok(kernel) => Ok(Some(kernel)),
            Err(ProgramError::Schedule(_)) => Ok(None),
            Err(e) => Err(e),
        }
    }
}
