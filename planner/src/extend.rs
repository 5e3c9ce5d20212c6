//! Border extension as launches: data is copied into a longer array and extended, and back.

use crate::error::ProgramError;
use crate::kernels::Key;
use crate::lower::Lowering;
use crate::view::{MOST, View};
use lifting_codegen::schedule::extend::ExtensionWay;
use lifting_dsl::extension::Extension;

impl Lowering<'_> {
    /// Copies data into a box of the coefficients' shape and extends it by the problem's rules, innermost axis first.
    pub(crate) fn pad(&mut self, source: View, to: View) -> Result<(), ProgramError> {
        let problem = self.cx.problem;
        let data = &problem.source_shape;
        if problem.extended.is_empty() {
            return self.copy(source, to, problem.geometry.shape(), data);
        }
        self.copy(source, self.inside(to, data.len()), data, data)?;
        for axis in (0..data.len()).rev() {
            self.beyond(axis, to, ExtensionWay::Out)?;
        }
        self.after();
        Ok(())
    }

    /// Copies data out of such a box. For an adjoint, the extension is folded back first, outermost axis first.
    pub(crate) fn crop(&mut self, from: View, target: View) -> Result<(), ProgramError> {
        let data = &self.cx.problem.source_shape;
        for axis in (0..data.len()).filter(|&axis| self.cx.problem.extended(axis).is_some_and(|e| e.is_adjoint)) {
            self.beyond(axis, from, ExtensionWay::Back)?;
        }
        self.after();
        self.copy(self.inside(from, data.len()), target, data, data)
    }

    /// The data's place in a box of the coefficients' shape, along the first axes: at the beginning, unless an
    /// extension precedes it.
    fn inside(&self, mut view: View, axes: usize) -> View {
        for axis in 0..axes {
            view = view.at(axis, self.cx.problem.extended(axis).map_or(0, |extended| extended.first));
        }
        view
    }

    /// Extends the data along an axis, or folds the extension back. Outer axes cover the data only, inner axes
    /// everything.
    fn beyond(&mut self, axis: usize, view: View, way: ExtensionWay) -> Result<(), ProgramError> {
        let Some(extended) = self.cx.problem.extended(axis) else { return Ok(()) };
        let (data, whole) = (&self.cx.problem.source_shape, self.cx.problem.geometry.shape());
        if data[axis] == whole[axis] {
            return Ok(());
        }
        if whole[axis] as i64 > MOST / 2 {
            return Err(ProgramError::AxisTooLong { axis, length: whole[axis], most: MOST as usize / 2 });
        }
        let is_zero = extended.is_adjoint && way == ExtensionWay::Out;
        let rule = if is_zero { Extension::Zero } else { extended.rule.of_length(data[axis]) };
        let lengths = [&data[..axis], &whole[axis..]].concat();
        let own = [extended.first, data[axis], whole[axis]].map(|n| n as i64);
        let before = self.list.launches.len();
        let kernel = (self.cx.family_of(0), Key::Extend(rule, way, view.scalar));
        self.each_line(kernel, self.inside(view, axis), axis, &lengths, &own)?;
        self.list.launches[before..].iter_mut().for_each(|launch| launch.pass = None);
        Ok(())
    }
}
