//! Adjoints of plans as launches, for gradients.
//!
//! If borders need no folds ([`Problem::adjoint`]), the adjoint is the program of another wavelet, the scheme's
//! adjoint. Its synthesis is the adjoint of analysis; its analysis is that of synthesis.
//!
//! Otherwise a level is copied into scratch with its phases interleaved, lifted there axis by axis by
//! [`schedule::adjoint`](lifting_codegen::schedule::adjoint), and copied out. These are simple launches for every
//! layout and stride, not optimised for speed.

use crate::context::Context;
use crate::error::ProgramError;
use crate::kernels::{Kernels, Key, Tuning};
use crate::list::{Array, List, Region, Regions};
use crate::lower::{BandPlace, Lowering, anywhere};
use crate::problem::Problem;
use crate::program::Program;
use crate::recipe;
use crate::scalar::{scalar_of, work_of};
use crate::tiles::Places;
use crate::view::{MOST, View};
use lifting_dsl::Direction;
use lifting_dsl::geometry::Band;
use lifting_dsl::sample::SampleType;

impl Program {
    /// Makes the adjoint program: its `forward` (data to coefficients) is the adjoint of synthesis, its `inverse` that
    /// of analysis.
    ///
    /// # Errors
    /// If the arrays exceed the limits of kernels.
    pub fn adjoint(
        problem: &Problem,
        sample: SampleType,
        data: &[isize],
        coefficients: &[isize],
        tuning: &Tuning,
    ) -> Result<Program, ProgramError> {
        let places = Places::new(problem, scalar_of(sample), data, coefficients);
        Program::of_parts(problem, &places, |problem, places| Program::adjoint_of(problem, sample, places, tuning))
    }

    /// Launches of the adjoint of a direction, in an adjoint program.
    pub fn adjoint_list(&self, of: Direction) -> &List {
        match of {
            Direction::Forward => &self.inverse[0],
            Direction::Inverse => &self.forward,
        }
    }

    /// Makes the adjoint program for boxes of arrays.
    fn adjoint_of(
        problem: &Problem,
        sample: SampleType,
        places: &Places,
        tuning: &Tuning,
    ) -> Result<Program, ProgramError> {
        let of = |array, view: &View| View { array, ..*view };
        let (data, coefficients) = (&places.data, &places.coefficients);
        let (kernels, mut regions) = (Kernels::default(), Regions::default());
        let (source, target) = (of(Array::Source, data), of(Array::Target, coefficients));
        let (from, to) = (of(Array::Source, coefficients), of(Array::Target, data));
        let (forward, inverse) = match problem.adjoint() {
            Some(adjoint) => {
                // The requested schedule applies to the transform, not to its adjoint.
                let cx = Context::new(&adjoint, sample, tuning, &kernels).lenient();
                let forward = anywhere(cx, &mut regions, |l| l.forward(source, target))?;
                (forward, anywhere(cx, &mut regions, |l| l.inverse(0, from, to))?)
            }
            None => {
                let cx = Context::new(problem, sample, tuning, &kernels);
                let forward = Lowering::new(cx, &mut regions).adjoint_of_synthesis(source, target)?;
                (forward, Lowering::new(cx, &mut regions).adjoint_of_analysis(from, to)?)
            }
        };
        let (forward_in_place, inverse_in_place, inverse) = (None, None, vec![inverse]);
        let kernels = kernels.finish();
        Ok(Program { kernels, regions, forward, forward_in_place, inverse, inverse_in_place }.without_unused())
    }
}

impl Lowering<'_> {
    /// Adjoint of analysis: coefficients to data.
    fn adjoint_of_analysis(mut self, source: View, target: View) -> Result<List, ProgramError> {
        let geometry = &self.cx.problem.geometry;
        let depth = geometry.depth();
        let mut low = BandPlace::from(&geometry.low_band(depth, self.cx.problem.layout)).within(source);
        if depth == 0 {
            let shape = geometry.shape();
            self.copy(low, target, shape, shape)?;
        }
        for level in (0..depth).rev() {
            let shape = geometry.level_shape(level);
            let scratch = self.interleaved(level);
            self.after();
            let next = geometry.level_shape(level + 1);
            self.copy(low, self.phases(level, scratch, &vec![false; shape.len()]), &next, &next)?;
            for band in self.details(level) {
                let to = self.phases(level, scratch, &band.high);
                self.copy(BandPlace::from(&band).within(source), to, &band.shape, &band.shape)?;
            }
            for axis in geometry.axes_at(level).into_iter().rev() {
                self.adjoint_pass(Direction::Forward, level, axis, scratch)?;
            }
            self.after();
            low = if level == 0 { target } else { self.low(level, &order(shape.len())) };
            self.copy(scratch, low, &shape, &shape)?;
        }
        Ok(self.list)
    }

    /// Adjoint of synthesis: data to coefficients.
    fn adjoint_of_synthesis(mut self, source: View, target: View) -> Result<List, ProgramError> {
        let geometry = &self.cx.problem.geometry;
        let depth = geometry.depth();
        let mut low = source;
        if depth == 0 {
            let shape = geometry.shape();
            self.copy(source, target, shape, shape)?;
        }
        for level in 0..depth {
            let shape = geometry.level_shape(level);
            let scratch = self.interleaved(level);
            self.after();
            self.copy(low, scratch, &shape, &shape)?;
            for axis in geometry.axes_at(level) {
                self.adjoint_pass(Direction::Inverse, level, axis, scratch)?;
            }
            self.after();
            for band in self.details(level) {
                let from = self.phases(level, scratch, &band.high);
                self.copy(from, BandPlace::from(&band).within(target), &band.shape, &band.shape)?;
            }
            let next = geometry.level_shape(level + 1);
            low = if level + 1 == depth {
                BandPlace::from(&geometry.low_band(depth, self.cx.problem.layout)).within(target)
            } else {
                self.low(level + 1, &order(shape.len()))
            };
            self.copy(self.phases(level, scratch, &vec![false; shape.len()]), low, &next, &next)?;
        }
        Ok(self.list)
    }

    /// Scratch for a level with its phases interleaved.
    fn interleaved(&mut self, level: u32) -> View {
        let shape = self.cx.problem.geometry.level_shape(level);
        self.scratch(Region::Between(0), work_of(self.cx.sample), &shape, &order(shape.len()), 0)
    }

    /// Bands added by a level.
    fn details(&self, level: u32) -> Vec<Band> {
        let bands = self.cx.problem.geometry.bands(self.cx.problem.layout).into_iter();
        bands.filter(|b| b.level == level + 1 && b.high.contains(&true) && !b.shape.contains(&0)).collect()
    }

    /// View of a band's samples among interleaved phases.
    fn phases(&self, level: u32, mut view: View, high: &[bool]) -> View {
        let origins = self.cx.problem.geometry.level_origins(level);
        let shape = self.cx.problem.geometry.level_shape(level);
        for axis in self.cx.problem.geometry.axes_at(level) {
            let parity = (origins[axis] & 1) as usize;
            let first = if high[axis] { 1 - parity } else { parity };
            if first < shape[axis] {
                view = view.at(axis, first);
            }
            view.strides[axis] *= 2;
        }
        view
    }

    /// Appends the adjoint of one axis, in place.
    fn adjoint_pass(&mut self, direction: Direction, level: u32, axis: usize, view: View) -> Result<(), ProgramError> {
        let shape = self.cx.problem.geometry.level_shape(level);
        let length = shape[axis];
        if shape.contains(&0) {
            return Ok(());
        }
        if length < 2 {
            let parity = self.cx.problem.geometry.level_origins(level)[axis] & 1;
            return match self.cx.problem.double_lone_odd && parity == 1 {
                false => Ok(()),
                true => Err(ProgramError::Kernel {
                    kernel: "adjoint".into(),
                    reason: format!(
                        "lines of one sample along axis {axis} have none under this border rule of JPEG 2000"
                    ),
                }),
            };
        }
        if let Some(axis) = shape.iter().position(|&n| n as i64 > MOST) {
            return Err(ProgramError::AxisTooLong { axis, length: shape[axis], most: MOST as usize });
        }
        let parity = self.cx.problem.geometry.level_origins(level)[axis] & 1;
        let count = (0..shape.len()).filter(|&a| a != axis).map(|a| shape[a]).product();
        let (axes, lengths) = (vec![axis], vec![length]);
        self.list.passes.push(recipe::Pass { level: level + 1, axes, lengths, count, schedule: "adjoint" });
        let kernel = (self.cx.family(axis, level), Key::Adjoint(direction, view.scalar));
        self.each_line(kernel, view, axis, &shape, &[length as i64, parity])
    }
}

fn order(rank: usize) -> Vec<usize> {
    (0..rank).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Machine, Problem, Program, Schedule, Tuning, contiguous};
    use lifting_dsl::Boundary;
    use lifting_dsl::Direction;
    use lifting_dsl::geometry::Geometry;
    use lifting_dsl::sample::SampleType;
    use std::collections::BTreeSet;

    /// Schedules of the adjoints of analysis and of synthesis.
    fn schedules(name: &str, boundary: Boundary, shape: &[usize]) -> [BTreeSet<&'static str>; 2] {
        let geometry = Geometry::uniform(shape, 3).unwrap();
        let problem = Problem { boundary, ..Problem::new(crate::tests::scheme(name), geometry) };
        let tuning = Tuning::new(Schedule::Auto, Machine::default(), String::new());
        let strides = contiguous(shape);
        let program = Program::adjoint(&problem, SampleType::F32, &strides, &strides, &tuning).unwrap();
        let lists = [Direction::Forward, Direction::Inverse].map(|of| program.adjoint_list(of));
        lists.map(|list| list.passes.iter().map(|pass| pass.schedule).collect())
    }

    #[test]
    fn adjoints_take_the_schedules_of_transforms() {
        for (shape, schedule) in
            [(&[512, 512][..], "warp"), (&[64, 64, 64], "volume"), (&[4096], "horizontal_registers")]
        {
            for (name, boundary) in [("cdf97", Boundary::Zero), ("haar", Boundary::WholeSymmetric)] {
                for taken in schedules(name, boundary, shape) {
                    assert!(taken.contains(schedule), "{name} {boundary} {shape:?}: {taken:?}");
                }
            }
            for (name, boundary) in [("cdf97", Boundary::WholeSymmetric), ("db4", Boundary::Periodic)] {
                for taken in schedules(name, boundary, shape) {
                    assert!(!taken.is_empty() && !taken.contains("adjoint"), "{name} {boundary} {shape:?}: {taken:?}");
                }
            }
        }
        // A border splits pairs, and reads beyond it are folded back.
        for taken in schedules("haar", Boundary::WholeSymmetric, &[511, 512]) {
            assert_eq!(taken, BTreeSet::from(["adjoint"]));
        }
    }
}
