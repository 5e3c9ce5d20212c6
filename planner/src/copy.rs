//! Copies of boxes, as launches.

use crate::error::ProgramError;
use crate::kernels::Key;
use crate::list::Arg;
use crate::lower::Lowering;
use crate::pass::{Pass, Sites};
use crate::view::{Dim, View, joined, positions};
use lifting_codegen::schedule::copy::Change;
use lifting_dsl::Direction;

impl Lowering<'_> {
    /// Copies a box of `size`. Along an axis where `available` is smaller, the last sample is repeated.
    pub(crate) fn copy(
        &mut self,
        from: View,
        to: View,
        size: &[usize],
        available: &[usize],
    ) -> Result<(), ProgramError> {
        self.change(from, to, size, available, Change::None, &[])
    }

    /// Handles lines of one sample at an odd position under JPEG 2000: analysis doubles it, synthesis halves it, for
    /// reversible and irreversible wavelets (T.800 F.4.6, F.3.6).
    pub(crate) fn lone(&mut self, pass: Pass, sites: Sites) -> Result<(), ProgramError> {
        let gain = i64::from(pass.gain);
        let (from, to) = match pass.direction {
            Direction::Forward => (sites.signal, sites.high),
            Direction::Inverse => (sites.high, sites.signal),
        };
        let (change, extra): (_, &[i64]) = match (pass.direction == Direction::Forward) != self.cx.problem.is_adjoint {
            true => (Change::Up, &[gain + 1]),
            false => (Change::Down, &[1, gain]),
        };
        self.change(from, to, pass.extent, pass.extent, change, extra)
    }

    fn change(
        &mut self,
        from: View,
        to: View,
        size: &[usize],
        available: &[usize],
        change: Change,
        extra: &[i64],
    ) -> Result<(), ProgramError> {
        if size.contains(&0) || available.contains(&0) {
            return Ok(());
        }
        // The last step of a dimension is the number of samples to read.
        let dims = (0..size.len()).map(|a| Dim {
            len: size[a] as i64,
            steps: [from.strides[a], to.strides[a], available[a].min(size[a]) as i64],
            joins: false,
        });
        let (whole, cut): (Vec<_>, Vec<_>) = dims.partition(|d| d.len == d.steps[2]);
        let whole = whole.into_iter().map(|d| Dim { len: d.len, steps: [d.steps[0], d.steps[1]], joins: true });
        let mut dims: Vec<Dim<3>> = joined(whole.collect())
            .into_iter()
            .map(|d| Dim { len: d.len, steps: [d.steps[0], d.steps[1], d.len], joins: false })
            .chain(cut.into_iter().filter(|d| d.len > 1))
            .collect();

        // Threads run along the nearest written samples, then along the nearest read ones.
        let near = |side: usize| move |dims: &[Dim<3>]| (0..dims.len()).min_by_key(|&i| dims[i].steps[side].abs());
        let far = |dims: &[Dim<3>]| (0..dims.len()).max_by_key(|&i| dims[i].len);
        let one = Dim { len: 1, steps: [0, 0, 1], joins: false };
        let mut take = |choose: &dyn Fn(&[Dim<3>]) -> Option<usize>| choose(&dims).map_or(one, |i| dims.remove(i));
        let axes = [take(&near(1)), take(&near(0)), take(&far)];

        let kernel =
            self.cx.kernels.get(self.cx.family_of(0), Key::Copy { from: from.scalar, to: to.scalar, change })?;
        // Launches loop over the remaining axes; a cut axis repeats its last sample there too.
        let indices: Vec<Dim<1>> = dims.iter().map(|d| Dim { len: d.len, steps: [1], joins: false }).collect();
        let lengths: Vec<i64> = indices.iter().map(|d| d.len).collect();
        let before = self.list.launches.len();
        for (n, _) in positions(&indices).enumerate() {
            let (mut rest, mut at) = (n as i64, [from.offset, to.offset]);
            for (dim, len) in dims.iter().zip(&lengths).rev() {
                let index = rest % len;
                rest /= len;
                at[0] += index.min(dim.steps[2] - 1) * dim.steps[0];
                at[1] += index * dim.steps[1];
            }
            self.launch_box(kernel, [Arg::Pointer(from.array, at[0]), Arg::Pointer(to.array, at[1])], axes, extra)?;
        }
        self.list.launches[before..].iter_mut().for_each(|launch| launch.pass = None);
        Ok(())
    }

    /// Appends the launch of a box of three axes, or several over parts of it if it exceeds a launch's limits.
    fn launch_box(
        &mut self,
        kernel: usize,
        pointers: [Arg; 2],
        axes: [Dim<3>; 3],
        extra: &[i64],
    ) -> Result<(), ProgramError> {
        let too_long = axes.iter().any(|d| d.len > i64::from(i32::MAX / 2));
        let args: Vec<Arg> = pointers
            .into_iter()
            .chain(axes.map(|d| Arg::Int(d.len)))
            .chain(axes.map(|d| Arg::Int(d.steps[2])))
            .chain(axes.map(|d| Arg::Int(d.steps[0])))
            .chain(axes.map(|d| Arg::Int(d.steps[1])))
            .chain(extra.iter().map(|&v| Arg::Int(v)))
            .collect();
        let grid = if too_long { None } else { self.grid(kernel, &args).ok() };
        if let Some(grid) = grid {
            return self.push(kernel, args, Ok(grid));
        }
        // Halve the longest axis; its far half begins `half` later, or at the last available sample.
        let longest = (0..3).max_by_key(|&i| axes[i].len).unwrap_or(0);
        let half = axes[longest].len / 2;
        if half == 0 {
            return self.push(kernel, args.clone(), self.grid(kernel, &args));
        }
        let available = axes[longest].steps[2];
        let (mut near, mut far) = (axes, axes);
        near[longest].len = half;
        near[longest].steps[2] = available.min(half);
        far[longest].len -= half;
        far[longest].steps[2] = (available - half).max(1);
        let begin = [half.min(available - 1) * axes[longest].steps[0], half * axes[longest].steps[1]];
        let mut moved = pointers;
        for (arg, by) in moved.iter_mut().zip(begin) {
            if let Arg::Pointer(_, offset) = arg {
                *offset += by;
            }
        }
        self.launch_box(kernel, pointers, near, extra)?;
        self.launch_box(kernel, moved, far, extra)
    }
}
