//! Launches of kernels with a line per thread.

use crate::error::ProgramError;
use crate::kernels::{Family, Key};
use crate::list::Arg;
use crate::lower::Lowering;
use crate::view::{Dim, View, joined, positions};

impl Lowering<'_> {
    /// Launches a kernel on all lines along an axis of a view; `lengths` are those of the other axes. Its arguments are
    /// the lines' first samples, `own` ones, and the lines' strides.
    pub(crate) fn each_line(
        &mut self,
        (family, key): (Family, Key),
        view: View,
        axis: usize,
        lengths: &[usize],
        own: &[i64],
    ) -> Result<(), ProgramError> {
        let others = (0..lengths.len()).filter(|&a| a != axis);
        let dims = others.map(|a| Dim { len: lengths[a] as i64, steps: [view.strides[a]], joins: true });
        let mut dims = joined(dims.collect());
        let mut take = |choose: &dyn Fn(&[Dim<1>]) -> Option<usize>| {
            choose(&dims).map_or(Dim { len: 1, steps: [0], joins: false }, |i| dims.remove(i))
        };
        // Threads run along the nearest axis in memory.
        let lines = take(&|dims| (0..dims.len()).min_by_key(|&i| dims[i].steps[0].abs()));
        let batch = take(&|dims| (0..dims.len()).max_by_key(|&i| dims[i].len));
        let kernel = self.cx.kernels.get(family, key)?;
        self.after();
        for [at] in positions(&dims) {
            let mut args = vec![Arg::Pointer(view.array, view.offset + at)];
            args.extend(own.iter().map(|&n| Arg::Int(n)));
            args.extend([lines.len, view.strides[axis], lines.steps[0], batch.steps[0], batch.len].map(Arg::Int));
            let grid = self.grid(kernel, &args);
            self.push(kernel, args, grid)?;
        }
        Ok(())
    }
}
