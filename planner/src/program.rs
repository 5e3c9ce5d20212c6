//! Programs: all that a device executes for a problem, as data.

use crate::context::Context;
use crate::error::ProgramError;
use crate::kernels::{Kernels, Made, Tuning};
use crate::list::{Array, List, MOST_LAUNCHES, Regions};
use crate::lower::anywhere;
use crate::problem::Problem;
use crate::recipe::Choice;
use crate::scalar::scalar_of;
use crate::tiles::Places;
use crate::view::View;
use lifting_dsl::sample::SampleType;
use std::collections::BTreeSet;

/// Launches of a plan: kernels, workspace, and a list for each operation.
#[derive(Debug)]
pub struct Program {
    /// Kernels, without duplicates.
    pub kernels: Vec<Made>,
    /// The workspace.
    pub regions: Regions,
    /// Data to coefficients.
    pub forward: List,
    /// In-place analysis on the target; `None` if the plan pads.
    pub forward_in_place: Option<List>,
    /// Synthesis to each level: 0 is the whole.
    pub inverse: Vec<List>,
    /// In-place synthesis on the target; `None` if the plan pads.
    pub inverse_in_place: Option<List>,
}

impl Program {
    /// All lists.
    pub fn lists(&self) -> impl Iterator<Item = &List> {
        let in_place = self.forward_in_place.iter().chain(&self.inverse_in_place);
        let lists = std::iter::once(&self.forward).chain(&self.inverse).chain(in_place);
        lists.flat_map(|list| std::iter::successors(Some(list), |list| list.otherwise.as_deref()))
    }

    /// Makes a program for data and coefficients with these strides; low bands of higher levels are contiguous.
    ///
    /// # Errors
    /// If a requested schedule does not support a level, or the arrays exceed the limits of kernels.
    pub fn new(
        problem: &Problem,
        sample: SampleType,
        data: &[isize],
        coefficients: &[isize],
        tuning: &Tuning,
    ) -> Result<Program, ProgramError> {
        let places = Places::new(problem, scalar_of(sample), data, coefficients);
        Program::of_parts(problem, &places, |problem, places| Program::of(problem, sample, places, tuning))
    }

    /// Makes a program for boxes of arrays.
    fn of(problem: &Problem, sample: SampleType, places: &Places, tuning: &Tuning) -> Result<Program, ProgramError> {
        let of = |array, view: &View| View { array, ..*view };
        let (kernels, mut regions) = (Kernels::default(), Regions::default());
        let cx = Context::new(problem, sample, tuning, &kernels);
        let (source, target) = (of(Array::Source, &places.data), of(Array::Target, &places.coefficients));
        let forward = anywhere(cx, &mut regions, |l| l.forward(source, target))?;
        let in_place = (!problem.pads()).then(|| cx.lenient());
        let forward_in_place =
            in_place.map(|cx| anywhere(cx, &mut regions, |l| l.forward(target, target))).transpose()?;
        let mut inverse = Vec::new();
        let source = of(Array::Source, &places.coefficients);
        for (level, low) in (0..).zip(std::iter::once(&places.data).chain(&places.lows)) {
            // A requested schedule applies to the whole transform only.
            let cx = if level > 0 { cx.lenient() } else { cx };
            inverse.push(anywhere(cx, &mut regions, |l| l.inverse(level, source, of(Array::Target, low)))?);
        }
        let inverse_in_place =
            in_place.map(|cx| anywhere(cx, &mut regions, |l| l.inverse(0, target, target))).transpose()?;
        let kernels = kernels.finish();
        Ok(Program { kernels, regions, forward, forward_in_place, inverse, inverse_in_place }.without_unused())
    }

    /// The program without kernels that were only tried and that no list launches.
    pub(crate) fn without_unused(mut self) -> Program {
        let used: BTreeSet<usize> = self.lists().flat_map(|list| &list.launches).map(|launch| launch.kernel).collect();
        let mut index = 0..self.kernels.len();
        self.kernels.retain(|_| index.next().is_some_and(|i| used.contains(&i)));
        let in_place = self.forward_in_place.iter_mut().chain(&mut self.inverse_in_place);
        for list in std::iter::once(&mut self.forward).chain(&mut self.inverse).chain(in_place) {
            list.renumber(&|kernel| used.range(..kernel).count());
        }
        self
    }

    /// Choices for analysis and for synthesis.
    pub fn choices(&self) -> Vec<Choice> {
        self.forward.choices.iter().chain(&self.inverse[0].choices).cloned().collect()
    }
}

impl Program {
    /// A program, or those of all parts merged into one.
    pub(crate) fn of_parts(
        problem: &Problem,
        places: &Places,
        make: impl Fn(&Problem, &Places) -> Result<Program, ProgramError>,
    ) -> Result<Program, ProgramError> {
        let Some(parts) = problem.parts().expect("the tiles were checked") else { return make(problem, places) };
        let mut programs = parts.iter().map(|part| make(&part.problem, &places.of(part)));
        let mut whole = programs.next().expect("there is a tile")?;
        for program in programs {
            whole.join(program?);
        }
        if whole.lists().any(|list| list.launches.len() > MOST_LAUNCHES) {
            let shape = problem.geometry.shape().to_vec();
            return Err(ProgramError::TooManyLaunches { shape, most: MOST_LAUNCHES });
        }
        Ok(whole)
    }

    /// Appends another program, to run afterwards.
    fn join(&mut self, mut other: Program) {
        let mut indices = Vec::new();
        // A name includes its kernel's fingerprint.
        for made in std::mem::take(&mut other.kernels) {
            let known = self.kernels.iter().position(|known| known.kernel.name == made.kernel.name);
            indices.push(known.unwrap_or(self.kernels.len()));
            if known.is_none() {
                self.kernels.push(made);
            }
        }
        self.regions.join(&other.regions);
        let lists = |program: Program| {
            let in_place = [program.forward_in_place, program.inverse_in_place];
            [program.forward].into_iter().chain(program.inverse).chain(in_place.into_iter().flatten())
        };
        let in_place = self.forward_in_place.iter_mut().chain(&mut self.inverse_in_place);
        let own = std::iter::once(&mut self.forward).chain(&mut self.inverse).chain(in_place);
        for (own, mut list) in own.zip(lists(other)) {
            list.renumber(&|kernel| indices[kernel]);
            own.join(list);
        }
    }
}
