//! Passes over one axis of a box, as launches.

use crate::error::ProgramError;
use crate::kernels::Key;
use crate::list::{Arg, Array, Launch, MOST_LAUNCHES, Region};
use crate::lower::Lowering;
use crate::problem::MAX_RANK;
use crate::recipe;
use crate::schedule::Way;
use crate::view::{Dim, MOST, View, joined, positions};
use lifting_codegen::ir::{ParamKind, Scalar, launch};
use lifting_codegen::schedule::{Along, Sides};
use lifting_dsl::Direction;

/// Operation of a pass, without its arrays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass<'a> {
    pub direction: Direction,
    /// The analysed level, or the result level of synthesis.
    pub level: u32,
    pub axis: usize,
    /// Samples along the axis; along the others, the range that the pass covers.
    pub extent: &'a [usize],
    /// Parity of the axis' first position.
    pub parity: usize,
    pub gain: u32,
    /// Candidate for one axis.
    pub way: Way,
}

/// Arrays that a pass reads and writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sites {
    pub signal: View,
    pub low: View,
    pub high: View,
}

impl Sites {
    /// All three views, further along an axis that the pass does not transform.
    pub fn at(self, axis: usize, index: usize) -> Sites {
        let Sites { signal, low, high } = self;
        Sites { signal: signal.at(axis, index), low: low.at(axis, index), high: high.at(axis, index) }
    }
}

/// Layout of the lines of a pass.
pub(crate) struct LineLayout<'a> {
    /// Whether the samples of a line are consecutive in every array.
    pub rows: bool,
    /// Row pitches of the signal, the low band and the high band.
    pub pitches: [i64; 3],
    /// Views of the same three.
    pub views: [View; 3],
    pub lines: &'a Dim<3>,
    pub batch: &'a Dim<3>,
    /// Dimensions that launches loop over.
    pub rest: &'a [Dim<3>],
}

/// The kernel of a pass.
pub(crate) struct Taken {
    pub kernel: usize,
    pub schedule: &'static str,
    /// Whether it needs the user's arrays to be aligned to vectors.
    pub vectors: bool,
    /// Maximum lines and images of a launch.
    pub most: [i64; 2],
}

impl Taken {
    /// A kernel that supports every pass.
    pub fn anywhere(kernel: usize, schedule: &'static str) -> Taken {
        Taken { kernel, schedule, vectors: false, most: [MOST; 2] }
    }
}

impl LineLayout<'_> {
    /// Whether the first samples of all rows, in all launches, are at multiples of `samples` in each array.
    pub fn is_aligned(&self, samples: [i64; 3], one_row: bool) -> bool {
        let steps = |i: usize| {
            let pitch = (!one_row).then_some(self.pitches[i]);
            let batch = (self.batch.len > 1).then_some(self.batch.steps[i]);
            let rest = self.rest.iter().map(move |d| d.steps[i]);
            rest.chain(pitch).chain(batch).chain([self.views[i].offset])
        };
        (0..3).all(|i| steps(i).all(|step| step % samples[i] == 0))
    }

    /// Whether source or target are among the arrays, which may be unaligned.
    pub fn is_users(&self) -> bool {
        self.views.iter().any(|view| !matches!(view.array, Array::Scratch(_)))
    }
}

/// A transposition of array lines to rows of scratch, or back.
struct Turn {
    /// Array: 0 is the signal, 1 the low band, 2 the high band.
    index: usize,
    kernel: usize,
    /// Number of lines, and samples in each.
    size: [i64; 2],
    batch: i64,
    /// Place in the array: strides from sample to sample of a line, and from image to image.
    array: (View, [i64; 2]),
    /// Place as rows: strides from row to row, and from image to image.
    rows: (View, [i64; 2]),
}

impl Lowering<'_> {
    /// Appends the launches of a pass. They may all run in parallel.
    pub(crate) fn pass(&mut self, pass: Pass, sites: Sites) -> Result<(), ProgramError> {
        let Pass { direction, axis, extent, parity, gain, .. } = pass;
        if extent.contains(&0) {
            return Ok(());
        }
        let length = extent[axis];
        if length as i64 > MOST {
            return Err(ProgramError::AxisTooLong { axis, length, most: MOST as usize });
        }
        if length == 1 && parity == 1 && self.cx.problem.double_lone_odd {
            self.note(pass, "copy");
            return self.lone(pass, sites);
        }
        let Sites { signal, low, high } = sites;
        let (reads, writes): (&[View], &[View]) = match direction {
            Direction::Forward => (&[signal], &[low, high]),
            Direction::Inverse => (&[low, high], &[signal]),
        };
        debug_assert!(
            reads.iter().all(|r| writes.iter().all(|w| r.array != w.array)),
            "a launch never reads the array that it writes"
        );

        let lows = (length + 1 - parity) / 2;
        let contiguous = |view: &View, samples: usize| samples <= 1 || view.strides[axis] == 1;
        let rows = contiguous(&signal, length) && contiguous(&low, lows) && contiguous(&high, length - lows);
        let dims = (0..extent.len()).filter(|&a| a != axis).map(|a| Dim {
            len: extent[a] as i64,
            steps: [signal.strides[a], low.strides[a], high.strides[a]],
            joins: true,
        });
        let mut dims = joined(dims.collect());
        // Lines first, then the batch; launches loop over the rest.
        let take_largest = |dims: &mut Vec<Dim<3>>, fits: fn(&Dim<3>) -> bool| {
            let best = (0..dims.len()).filter(|&i| fits(&dims[i])).max_by_key(|&i| dims[i].len);
            best.map(|i| dims.remove(i)).unwrap_or(Dim { len: 1, steps: [0; 3], joins: false })
        };
        let lines = take_largest(&mut dims, if rows { |_| true } else { |d| d.steps == [1; 3] });
        let batch = take_largest(&mut dims, |_| true);
        let pitches = if rows { lines.steps } else { [signal, low, high].map(|v| v.strides[axis]) };

        let sides = Sides { signal: signal.scalar, bands: low.scalar };
        let views = [signal, low, high];
        let layout = LineLayout { rows, pitches, views, lines: &lines, batch: &batch, rest: &dims };
        if let (Way::Axis(schedule), false) = (pass.way, rows)
            && schedule.transposes()
        {
            return self.transposed(pass, (sides, views), (&lines, &batch, &dims));
        }
        let family = self.cx.family(axis, pass.level);
        let taken = match pass.way {
            Way::Lattice => {
                let along = if rows { Along::Row } else { Along::Column };
                let key = Key::Lattice(direction, sides, along, family.vectors(sides, along, length)?);
                Taken::anywhere(self.cx.kernels.get(family, key)?, "lattice")
            }
            Way::Axis(schedule) => {
                let along = if rows { Along::Row } else { Along::Column };
                let whole = self.is_whole(&layout, schedule.width(sides), (length, parity));
                let kernel = self.cx.kernels.get(family, Key::Axis(schedule, direction, sides, along, whole))?;
                let vectors = whole && layout.is_users();
                Taken { vectors, ..Taken::anywhere(kernel, schedule.name()) }
            }
            _ => match self.in_registers(family, pass, sides, &layout)? {
                Some(taken) => taken,
                None if rows => {
                    Taken::anywhere(self.cx.kernels.get(family, Key::Horizontal(direction, sides))?, "horizontal")
                }
                None => Taken::anywhere(self.cx.kernels.get(family, Key::Vertical(direction, sides))?, "vertical"),
            },
        };
        let Taken { kernel, vectors, most, .. } = taken;
        self.note(pass, taken.schedule);
        // Kernels take the signal first in analysis, last in synthesis.
        let order = match direction {
            Direction::Forward => [0, 1, 2],
            Direction::Inverse => [1, 2, 0],
        };
        for at in positions(&dims) {
            for (start, lines_len) in pieces(lines.len, most[0]) {
                for (first, batch_len) in pieces(batch.len, most[1]) {
                    let offset = |i: usize| views[i].offset + at[i] + start * lines.steps[i] + first * batch.steps[i];
                    let mut args = order.map(|i| Arg::Pointer(views[i].array, offset(i))).to_vec();
                    args.extend([length as i64, parity as i64, lines_len].map(Arg::Int));
                    args.extend(order.map(|i| Arg::Int(pitches[i])));
                    args.extend(order.map(|i| Arg::Int(batch.steps[i])));
                    args.push(Arg::Int(batch_len));
                    if self.cx.has_gain() {
                        args.push(Arg::Int(gain.into()));
                    }
                    let before = self.list.launches.len();
                    self.launch_lines(kernel, args, order.map(|i| lines.steps[i]))?;
                    self.list.launches[before..].iter_mut().for_each(|launch| launch.vectors = vectors);
                }
            }
        }
        Ok(())
    }

    /// Whether lines are whole vectors of `width` samples in all arrays, and these are aligned.
    fn is_whole(&self, layout: &LineLayout, width: u32, (length, parity): (usize, usize)) -> bool {
        let width = i64::from(width);
        let lengths = if layout.rows { parity == 0 && length as i64 % (2 * width) == 0 } else { true };
        let lines = layout.rows || layout.lines.len % width == 0;
        let anywhere = self.cx.misaligned && layout.is_users();
        width > 1 && lengths && lines && !anywhere && layout.is_aligned([width; 3], false)
    }

    /// Appends a pass along columns that is transposed into rows in scratch, and back.
    fn transposed(
        &mut self,
        pass: Pass,
        (sides, views): (Sides, [View; 3]),
        (lines, batch, rest): (&Dim<3>, &Dim<3>, &[Dim<3>]),
    ) -> Result<(), ProgramError> {
        let Pass { direction, axis, extent, parity, .. } = pass;
        let (length, lows) = (extent[axis], (extent[axis] + 1 - parity) / 2);
        let samples = length * lines.len as usize * batch.len as usize;
        // In scratch: a plane of rows, and a batch of planes.
        let mut strides = [0; MAX_RANK];
        strides[..3].copy_from_slice(&[length as i64 * lines.len, length as i64, 1]);
        let mut room = |side: usize, scalar: Scalar| {
            let region = Region::Transposed(2 * usize::from(scalar != self.cx.sample) + side);
            self.regions.request(region, scalar, samples);
            View { array: Array::Scratch(region), scalar, offset: 0, strides }
        };
        let (signal, low) = (room(0, sides.signal), room(1, sides.bands));
        let high = View { offset: lows as i64, ..low };
        let sites = Sites { signal, low, high };
        let rows = [batch.len as usize, lines.len as usize, length];
        let lengths = [length, lows, length - lows].map(|n| n as i64);
        let family = self.cx.family(axis, pass.level);
        let kernels =
            [sides.signal, sides.bands, sides.bands].map(|scalar| self.cx.kernels.get(family, Key::Transpose(scalar)));
        let [one, two, three] = kernels;
        let kernels = [one?, two?, three?];
        let turns = [signal, low, high].into_iter().enumerate().map(|(i, rows)| Turn {
            index: i,
            kernel: kernels[i],
            size: [lines.len, lengths[i]],
            batch: batch.len,
            array: (views[i], [views[i].strides[axis], batch.steps[i]]),
            rows: (rows, [strides[1], strides[0]]),
        });
        let turns: Vec<Turn> = turns.filter(|turn| turn.size[1] > 0).collect();
        let comes = |turn: &&Turn| (turn.index == 0) == (direction == Direction::Forward);
        let noted = self.list.passes.len();
        self.note(pass, "transposed");
        for at in positions(rest) {
            for turn in turns.iter().filter(comes) {
                self.turn(turn, at, true)?;
            }
            self.after();
            self.pass(Pass { axis: 2, extent: &rows, ..pass }, sites)?;
            // Only one of these passes is reported.
            self.list.passes.truncate(noted + 1);
            let launches = self.list.launches.iter_mut().rev().take_while(|launch| launch.pass > Some(noted));
            launches.for_each(|launch| launch.pass = Some(noted));
            self.after();
            for turn in turns.iter().filter(|turn| !comes(turn)) {
                self.turn(turn, at, false)?;
            }
            self.after();
        }
        Ok(())
    }

    /// Transposes lines into rows, or back; the array's lines are those at `at`.
    fn turn(&mut self, turn: &Turn, at: [i64; 3], to_rows: bool) -> Result<(), ProgramError> {
        let (array, rows) = (turn.array, turn.rows);
        let array = (View { offset: array.0.offset + at[turn.index], ..array.0 }, array.1);
        let [width, height] = turn.size;
        let ([(from, from_steps), (to, to_steps)], size) =
            if to_rows { ([array, rows], [width, height]) } else { ([rows, array], [height, width]) };
        let mut args = [from, to].map(|view| Arg::Pointer(view.array, view.offset)).to_vec();
        args.extend(size.map(Arg::Int));
        args.extend((0..2).flat_map(|i| [from_steps[i], to_steps[i]]).map(Arg::Int));
        args.push(Arg::Int(turn.batch));
        let grid = self.grid(turn.kernel, &args);
        self.push(turn.kernel, args, grid)
    }

    /// Records a pass for the recipe.
    fn note(&mut self, pass: Pass, schedule: &'static str) {
        let Pass { level, axis, extent, .. } = pass;
        let count = (0..extent.len()).filter(|&a| a != axis).map(|a| extent[a]).product();
        let (axes, lengths) = (vec![axis], vec![extent[axis]]);
        self.list.passes.push(recipe::Pass { level: level + 1, axes, lengths, count, schedule });
    }

    /// Appends a pass launch, or several over fewer lines each if its grid exceeds the hardware's limits. `steps` are
    /// the arrays' strides from line to line, in the order of the arguments.
    fn launch_lines(&mut self, kernel: usize, mut args: Vec<Arg>, steps: [i64; 3]) -> Result<(), ProgramError> {
        const LINES: usize = 5;
        let Arg::Int(lines) = args[LINES] else { unreachable!("the sixth parameter of a pass is its lines") };
        match self.grid(kernel, &args) {
            Err(launch::GridError::Limit { .. }) if lines > 1 => {
                let half = lines / 2;
                args[LINES] = Arg::Int(half);
                self.launch_lines(kernel, args.clone(), steps)?;
                args[LINES] = Arg::Int(lines - half);
                for (arg, step) in args.iter_mut().zip(steps) {
                    if let Arg::Pointer(_, offset) = arg {
                        *offset += half * step;
                    }
                }
                self.launch_lines(kernel, args, steps)
            }
            grid => self.push(kernel, args, grid),
        }
    }

    /// The grid of a launch with these arguments.
    pub(crate) fn grid(&self, kernel: usize, args: &[Arg]) -> Result<[u64; 3], launch::GridError> {
        let kernel = &self.cx.kernels.made(kernel).kernel;
        debug_assert_eq!(kernel.params.len(), args.len(), "arguments of `{}`", kernel.name);
        let scalars: Vec<i64> = kernel
            .params
            .iter()
            .zip(args)
            .filter_map(|(param, arg)| match (param.kind, arg) {
                (ParamKind::Scalar(_), Arg::Int(v)) => Some(*v),
                _ => None,
            })
            .collect();
        launch::grid(kernel, &scalars)
    }

    /// Appends a launch with that grid, unless it is empty.
    pub(crate) fn push(
        &mut self,
        kernel: usize,
        args: Vec<Arg>,
        grid: Result<[u64; 3], launch::GridError>,
    ) -> Result<(), ProgramError> {
        let refused =
            |reason: String| ProgramError::Kernel { kernel: self.cx.kernels.made(kernel).kernel.name.clone(), reason };
        let grid = grid.map_err(|e| refused(e.to_string()))?;
        if grid.contains(&0) {
            return Ok(());
        }
        if self.list.launches.len() == MOST_LAUNCHES {
            let shape = self.cx.problem.geometry.shape().to_vec();
            return Err(ProgramError::TooManyLaunches { shape, most: MOST_LAUNCHES });
        }
        let grid = grid.map(|n| n as u32);
        let beside_previous = self.beside;
        self.beside = true;
        self.list.launches.push(Launch {
            kernel,
            args,
            grid,
            beside_previous,
            overlaps: false,
            cluster: 1,
            pass: self.list.passes.len().checked_sub(1),
            vectors: false,
            placed: None,
        });
        Ok(())
    }
}

/// Cuts a length above a kernel's maximum into pieces: (first, length).
fn pieces(len: i64, most: i64) -> impl Iterator<Item = (i64, i64)> {
    (0..(len + most - 1) / most).map(move |i| (i * most, most.min(len - i * most)))
}
