//! Data in the middle of longer arrays, as launches: brought there and continued, and back.

use crate::error::ProgramError;
use crate::kernels::Key;
use crate::list::Arg;
use crate::lower::Lowering;
use crate::view::{Dim, MOST, View, joined, positions};
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
        self.copy(source, self.inside(to), data, data)?;
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
        self.copy(self.inside(from), target, data, data)
    }

    /// Where the data is in a box of the coefficients' shape: at its beginning, unless something stands before it.
    fn inside(&self, mut view: View) -> View {
        for axis in 0..self.problem.source_shape.len() {
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
        let rule = match extended.rule {
            _ if extended.is_adjoint && way == Way::Out => Extension::Zero,
            // A line of one sample has no neighbour to be continued from.
            Extension::Reflect | Extension::Smooth | Extension::Antireflect if data[axis] == 1 => Extension::Constant,
            rule => rule,
        };
        let mut at = view;
        for outer in 0..axis {
            at = at.at(outer, self.problem.extended(outer).map_or(0, |extended| extended.first));
        }
        let others = (0..data.len()).filter(|&a| a != axis);
        let lines_of = |a: usize| if a < axis { data[a] } else { whole[a] };
        let dims = others.map(|a| Dim { len: lines_of(a) as i64, steps: [view.strides[a]], joins: true });
        let mut dims = joined(dims.collect());
        let mut take = |choose: &dyn Fn(&[Dim<1>]) -> Option<usize>| {
            choose(&dims).map_or(Dim { len: 1, steps: [0], joins: false }, |i| dims.remove(i))
        };
        // Threads run along what is nearest in memory.
        let lines = take(&|dims| (0..dims.len()).min_by_key(|&i| dims[i].steps[0].abs()));
        let batch = take(&|dims| (0..dims.len()).max_by_key(|&i| dims[i].len));
        let kernel = self.kernels.get(Key::Extend(rule, way, view.scalar))?;
        self.after();
        let before = self.list.launches.len();
        for [start] in positions(&dims) {
            let mut args = vec![Arg::Pointer(at.array, at.offset + start)];
            args.extend([extended.first, data[axis], whole[axis]].map(|n| Arg::Int(n as i64)));
            args.extend([lines.len, view.strides[axis], lines.steps[0], batch.steps[0], batch.len].map(Arg::Int));
            let grid = self.grid(kernel, &args);
            self.push(kernel, args, grid)?;
        }
        self.list.launches[before..].iter_mut().for_each(|launch| launch.pass = None);
        Ok(())
    }
}
