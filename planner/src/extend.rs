//! Data in the middle of longer arrays, as launches: brought there and continued, and back.

use crate::error::ProgramError;
use crate::kernels::Key;
use crate::lower::Lowering;
use crate::view::{MOST, View};
use lifting_codegen::schedule::extend::Way;
use lifting_dsl::extension::Extension;

impl Lowering<'_> {
    /// Brings data into a box of the coefficients' shape, where it goes on as the problem says, along the innermost
    /// axis first.
    pub(crate) fn pad(&mut self, source: View, to: View) -> Result<(), ProgramError> {
        let problem = self.problem;
        let data = &problem.source_shape;
        if problem.extended.is_empty() {
            return self.copy(source, to, problem.geometry.shape(), data);
        }
        self.copy(source, self.inside(to, data.len()), data, data)?;
        for axis in (0..data.len()).rev() {
            self.beyond(axis, to, Way::Out)?;
        }
        self.after();
        Ok(())
    }

    /// Takes data out of such a box. Of an adjoint, what stands beyond it goes back first, along the outermost axis
    /// first.
    pub(crate) fn crop(&mut self, from: View, target: View) -> Result<(), ProgramError> {
        let data = &self.problem.source_shape;
        for axis in (0..data.len()).filter(|&axis| self.problem.extended(axis).is_some_and(|e| e.is_adjoint)) {
            self.beyond(axis, from, Way::Back)?;
        }
        self.after();
        self.copy(self.inside(from, data.len()), target, data, data)
    }

    /// Where the data is in a box of the coefficients' shape, along the first axes: at its beginning, unless something
    /// stands before it.
    fn inside(&self, mut view: View, axes: usize) -> View {
        for axis in 0..axes {
            view = view.at(axis, self.problem.extended(axis).map_or(0, |extended| extended.first));
        }
        view
    }

    /// What stands beyond the data along an axis. Along those before it there is data alone, along those behind it all.
    fn beyond(&mut self, axis: usize, view: View, way: Way) -> Result<(), ProgramError> {
        let Some(extended) = self.problem.extended(axis) else { return Ok(()) };
        let (data, whole) = (&self.problem.source_shape, self.problem.geometry.shape());
        if data[axis] == whole[axis] {
            return Ok(());
        }
        if whole[axis] as i64 > MOST / 2 {
            return Err(ProgramError::AxisTooLong { axis, length: whole[axis], most: MOST as usize / 2 });
        }
        let is_zero = extended.is_adjoint && way == Way::Out;
        let rule = if is_zero { Extension::Zero } else { extended.rule.of_length(data[axis]) };
        let lengths = [&data[..axis], &whole[axis..]].concat();
        let own = [extended.first, data[axis], whole[axis]].map(|n| n as i64);
        let before = self.list.launches.len();
        self.each_line(Key::Extend(rule, way, view.scalar), self.inside(view, axis), axis, &lengths, &own)?;
        self.list.launches[before..].iter_mut().for_each(|launch| launch.pass = None);
        Ok(())
    }
}
