//! Passes along one axis in a file for any shape, for arrays that no kernel over both axes takes.

use super::FileError;
use super::general::{Draft, Facts};
use super::survey::Survey;
use crate::kernels::{Key, Made};
use lifting_codegen::emit::{self, EmitError};
use lifting_codegen::ir::valid::validate;
use lifting_codegen::opt;
use lifting_codegen::schedule::Sides;
use lifting_codegen::schedule::registers::{horizontal, vertical};
use lifting_dsl::Direction;

/// Kernel indices of the passes along one axis.
pub(super) struct Passes {
    pub lines: [i64; 3],
    pub columns: [i64; 2],
    pub wide: u32,
    pub needs_pairs: bool,
    pub shared: [i64; 2],
    /// For lines of one sample at an odd position, under JPEG 2000; else negative.
    pub lone: i64,
}

impl<'a> Draft<'a> {
    /// The least row length, in samples, that counts as long.
    pub fn long_line(&self, sides: Sides) -> i64 {
        let is_long = |length: &i64| horizontal::RegisterRowShape::of(sides, true, *length).strips > 1;
        (0..40).map(|power| 1 << power).find(is_long).unwrap_or(i64::MAX)
    }

    /// The index of the kernel of a pass along one axis; -1 if this schedule does not run the wavelet.
    fn axis(
        &mut self,
        survey: &Survey<'a>,
        key: Key,
        schedule: &'static str,
        purpose: String,
    ) -> Result<i64, FileError> {
        let index = match survey.get(key) {
            Ok(index) => index,
            Err(crate::ProgramError::Schedule(_)) => return Ok(-1),
            Err(e) => return Err(e.into()),
        };
        let made = survey.made(index);
        Ok(self.add_plain(&made, schedule, purpose))
    }

    /// Adds a kernel of one axis, which has no facts.
    fn add_plain(&mut self, made: &Made, schedule: &'static str, purpose: String) -> i64 {
        let at = self.kernels.add_kernel(made, schedule, None, purpose);
        if at == self.facts.len() {
            self.facts.push(Facts::new("ROWS_ANY, 2, USUAL, 0, 0, INT64_MAX, 0".into()));
        }
        at as i64
    }

    /// The kernels of passes in one direction, for one sample type.
    pub fn passes(
        &mut self,
        survey: &Survey<'a>,
        direction: Direction,
        sides: Sides,
        what: &str,
    ) -> Result<Passes, FileError> {
        let long = self.long_line(sides);
        let shapes = [(true, long), (true, 2), (false, 2)];
        let mut lines = [-1; 3];
        // A file of few kernels leaves rows and columns to the kernels that take any wavelet.
        let is_few = self.is_few();
        for (line, (aligned, length)) in lines.iter_mut().zip(shapes).filter(|_| !is_few) {
            let kind = if !aligned {
                "any rows"
            } else if length > 2 {
                "long rows of whole vectors"
            } else {
                "rows of whole vectors"
            };
            let key = Key::Lines(direction, sides, horizontal::RegisterRowShape::of(sides, aligned, length));
            *line = self.axis(survey, key, "horizontal_registers", format!("{what}: {kind}."))?;
        }
        let (mut columns, mut wide) = ([-1; 2], 1);
        let candidates: Vec<u32> = vertical::RegisterColumnShape::candidates(direction, sides).collect();
        for (at, wanted) in [(0, true), (1, false)].into_iter().filter(|_| !is_few) {
            for &count in candidates.iter().filter(|c| (**c > 1) == wanted) {
                let kind = if wanted { "columns side by side" } else { "single columns" };
                let key = Key::Columns(direction, sides, count);
                columns[at] = self.axis(survey, key, "vertical_registers", format!("{what}: {kind}."))?;
                if columns[at] >= 0 {
                    wide = if wanted { count } else { wide };
                    break;
                }
            }
        }
        let needs_pairs = survey.family.needs_pairs(direction, sides);
        // Analysis kernels come first, then those of synthesis.
        let shared = emit::Passes::cuda(self.request, sides.signal).map_err(EmitError::from)?;
        let first = if direction == Direction::Forward { 0 } else { 2 };
        if first == 0 {
            self.replaced.extend(shared.replaced);
        }
        let mut own = shared.kernels.into_iter().skip(first);
        let mut next = |schedule, kind: &str| {
            let kernel = opt::prepare(own.next().expect("there are four"));
            let info = validate(&kernel).map_err(EmitError::Invalid)?;
            let made = Made { kernel, info, fit: None };
            Ok::<i64, FileError>(self.add_plain(&made, schedule, format!("{what}: {kind} that no other kernel takes.")))
        };
        let shared = [next("horizontal", "rows")?, next("vertical", "columns")?];
        let lone = self.request.lone_kernels(sides.signal)?;
        let lone = match lone.into_iter().nth(usize::from(direction == Direction::Inverse)) {
            None => -1,
            Some(kernel) => {
                let kernel = opt::prepare(kernel);
                let info = validate(&kernel).map_err(EmitError::Invalid)?;
                self.add_plain(&Made { kernel, info, fit: None }, "copy", format!("{what}: lines of one odd sample."))
            }
        };
        Ok(Passes { lines, columns, wide, needs_pairs, shared, lone })
    }
}
