//! From a problem to lists of launches: level by level, axis by axis.
//!
//! Analysis of a level: its first pass reads the level's low band where it is (the source, or the target where the
//! level before left it), passes hand on through scratch, and the last one writes low and high into the target, whose
//! low band the next level reads. Synthesis is the same backwards, except that the bands stand in the source, which is
//! not written, and the low band where the coarser level left it: the first pass reads the two in launches of their
//! own.
//!
//! No launch may read an array that it writes. Where a level is a single launch (one transformed axis), low bands go
//! from level to level through scratch, from one part to the other; where it has to read the target in place, it is
//! copied to scratch first.

use crate::choose::{Chosen, Question, Stage};
use crate::error::ProgramError;
use crate::kernels::{Kernels, Made, Tuning};
use crate::list::{Array, List, Region, Regions, VECTOR};
use crate::model::Model;
use crate::pair::{Pair, Quad, Span};
use crate::pass::{Pass, Sites};
use crate::problem::Problem;
use crate::recipe::Choice;
use crate::tiles::Places;
use crate::view::View;
use lifting_codegen::ir::Scalar;
use lifting_codegen::schedule::Direction;
use lifting_dsl::geometry::{Band, Layout, split};
use lifting_dsl::sample::SampleType;
use std::collections::BTreeSet;

/// All that a plan launches: kernels, workspace, and a list for each thing that it can do.
#[derive(Debug)]
pub struct Program {
    /// The kernels, each once.
    pub kernels: Vec<Made>,
    /// The workspace.
    pub regions: Regions,
    /// Data to coefficients.
    pub forward: List,
    /// Target only; `None` where the plan pads.
    pub forward_in_place: Option<List>,
    /// To each level: 0 is the whole.
    pub inverse: Vec<List>,
    /// As `forward_in_place`.
    pub inverse_in_place: Option<List>,
}

impl Program {
    /// All lists.
    pub fn lists(&self) -> impl Iterator<Item = &List> {
        let in_place = self.forward_in_place.iter().chain(&self.inverse_in_place);
        let lists = std::iter::once(&self.forward).chain(&self.inverse).chain(in_place);
        lists.flat_map(|list| std::iter::successors(Some(list), |list| list.otherwise.as_deref()))
    }

    /// For data and coefficients with these strides; low bands of higher levels are contiguous.
    ///
    /// # Errors
    /// If a schedule that was asked for cannot carry a level, or the arrays are beyond what kernels take.
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

    /// The same in boxes of arrays.
    fn of(problem: &Problem, sample: SampleType, places: &Places, tuning: &Tuning) -> Result<Program, ProgramError> {
        let of = |array, view: &View| View { array, ..*view };
        let mut lowering = Lowering::new(problem, sample, tuning);
        let (source, target) = (of(Array::Source, &places.data), of(Array::Target, &places.coefficients));
        let forward = lowering.anywhere(|l| l.forward(source, target))?;
        let in_place = !problem.pads();
        lowering.lenient = true;
        let forward_in_place = in_place.then(|| lowering.anywhere(|l| l.forward(target, target))).transpose()?;
        let mut inverse = Vec::new();
        let source = of(Array::Source, &places.coefficients);
        for (level, low) in (0..).zip(std::iter::once(&places.data).chain(&places.lows)) {
            // What was asked for is asked of the whole transform.
            lowering.lenient = level > 0;
            inverse.push(lowering.anywhere(|l| l.inverse(level, source, of(Array::Target, low)))?);
        }
        lowering.lenient = true;
        let inverse_in_place = in_place.then(|| lowering.anywhere(|l| l.inverse(0, target, target))).transpose()?;
        Ok(lowering.finish(forward, forward_in_place, inverse, inverse_in_place))
    }
}

impl Program {
    /// Leaves out the kernels that were made to see whether they can be, and that no list launches.
    fn drop_unused(&mut self) {
        let used: BTreeSet<usize> = self.lists().flat_map(|list| &list.launches).map(|launch| launch.kernel).collect();
        let mut index = 0..self.kernels.len();
        self.kernels.retain(|_| index.next().is_some_and(|i| used.contains(&i)));
        let in_place = self.forward_in_place.iter_mut().chain(&mut self.inverse_in_place);
        for list in std::iter::once(&mut self.forward).chain(&mut self.inverse).chain(in_place) {
            list.renumber(&|kernel| used.range(..kernel).count());
        }
    }

    /// What was chosen for analysis and for synthesis.
    pub fn choices(&self) -> Vec<Choice> {
        self.forward.choices.iter().chain(&self.inverse[0].choices).cloned().collect()
    }
}

/// The IR's name for a sample type.
pub fn scalar_of(sample: SampleType) -> Scalar {
    match sample {
        SampleType::I16 => Scalar::I16,
        SampleType::I32 => Scalar::I32,
        SampleType::I64 => Scalar::I64,
        SampleType::F32 => Scalar::F32,
        SampleType::F64 => Scalar::F64,
        SampleType::F16 => Scalar::F16,
        SampleType::Bf16 => Scalar::Bf16,
    }
}

/// The sample type of that name; none of what is never a sample.
pub fn sample_of(scalar: Scalar) -> Option<SampleType> {
    let all = [SampleType::I16, SampleType::I32, SampleType::I64];
    let reals = [SampleType::F16, SampleType::Bf16, SampleType::F32, SampleType::F64];
    all.into_iter().chain(reals).find(|&sample| scalar_of(sample) == scalar)
}

/// What a level is computed in.
pub(crate) fn work_of(sample: Scalar) -> Scalar {
    match sample {
        Scalar::F16 | Scalar::Bf16 => Scalar::F32,
        s => s,
    }
}

/// A program being made.
pub(crate) struct Lowering<'a> {
    pub problem: &'a Problem,
    pub kind: SampleType,
    pub sample: Scalar,
    pub kernels: Kernels<'a>,
    pub regions: Regions,
    pub list: List,
    /// Whether the next launch may run beside the last one.
    pub beside: bool,
    /// Whether levels that cannot take the schedule that was asked for may take another.
    pub lenient: bool,
    /// Whether source and target are taken to begin at no multiple of a vector.
    pub misaligned: bool,
}

/// A batch axis shorter than this is no good to run threads along.
const SHORT: usize = 16;

impl<'a> Lowering<'a> {
    pub fn new(problem: &'a Problem, sample: SampleType, tuning: &'a Tuning) -> Lowering<'a> {
        Lowering {
            problem,
            kind: sample,
            sample: scalar_of(sample),
            kernels: Kernels::new(&problem.scheme, problem.boundary, problem.gain_shift > 0, tuning),
            regions: Regions::default(),
            list: List::default(),
            beside: false,
            lenient: false,
            misaligned: false,
        }
    }

    /// The program of these lists, which were all made here.
    pub fn finish(
        self,
        forward: List,
        forward_in_place: Option<List>,
        inverse: Vec<List>,
        inverse_in_place: Option<List>,
    ) -> Program {
        let Lowering { kernels, regions, .. } = self;
        let kernels = kernels.finish();
        let mut program = Program { kernels, regions, forward, forward_in_place, inverse, inverse_in_place };
        program.drop_unused();
        program
    }
}

impl Lowering<'_> {
    /// What follows depends on what was launched so far.
    pub fn after(&mut self) {
        self.beside = false;
    }

    pub fn model(&self) -> Model<'_> {
        let Kernels { scheme, boundary, tuning, .. } = self.kernels;
        Model { machine: &tuning.machine, scheme, boundary, sample: self.sample }
    }

    /// A list, and another one for arrays that begin anywhere if it needs aligned ones.
    fn anywhere(&mut self, make: impl Fn(&mut Self) -> Result<List, ProgramError>) -> Result<List, ProgramError> {
        let mut list = make(self)?;
        let moved = |array| if matches!(array, Array::Scratch(_)) { 0 } else { self.sample.bytes() as u64 };
        let stands = list.launches.iter().all(|launch| match (&launch.placed, &self.kernels.made(launch.kernel).fit) {
            (Some(placed), Some(fit)) => placed.arguments(&**fit, moved).is_some(),
            _ => !launch.vectors,
        });
        if !stands {
            let lenient = std::mem::replace(&mut self.lenient, true);
            self.misaligned = true;
            list.otherwise = Some(Box::new(make(self)?));
            (self.lenient, self.misaligned) = (lenient, false);
        }
        Ok(list)
    }

    /// A part of the workspace as a box whose rows begin at multiples of a vector, as far as that does not waste much;
    /// the first sample of a row stands at `parity` modulo 2. Also the number of elements.
    fn room(&self, region: Region, scalar: Scalar, shape: &[usize], order: &[usize], parity: usize) -> (View, usize) {
        let mut padded = shape.to_vec();
        let vector = VECTOR as usize / scalar.bytes();
        let mut lead = 0;
        if let Some(&axis) = order.last()
            && shape[axis] + parity >= 4 * vector
        {
            lead = parity;
            padded[axis] = (shape[axis] + parity).next_multiple_of(vector);
        }
        let view = View::packed(Array::Scratch(region), scalar, &padded, order);
        (View { offset: lead as i64, ..view }, padded.iter().product())
    }

    pub fn scratch(&mut self, region: Region, scalar: Scalar, shape: &[usize], order: &[usize], parity: usize) -> View {
        let (view, len) = self.room(region, scalar, shape, order, parity);
        self.regions.request(region, scalar, len);
        view
    }

    /// Parity of the first position of level `level` along the innermost axis.
    fn parity(&self, level: u32, order: &[usize]) -> usize {
        order.last().map_or(0, |&axis| (self.problem.geometry.level_origins(level)[axis] & 1) as usize)
    }

    /// The low band of level `level` on its way.
    fn low_room(&self, level: u32, order: &[usize]) -> (View, usize) {
        let region = Region::Low((level as usize + 1) % 2);
        let shape = self.problem.geometry.level_shape(level);
        self.room(region, self.sample, &shape, order, self.parity(level, order))
    }

    pub fn low(&mut self, level: u32, order: &[usize]) -> View {
        let (view, len) = self.low_room(level, order);
        let Array::Scratch(region) = view.array else { unreachable!("low bands on their way are in the workspace") };
        self.regions.request(region, self.sample, len);
        view
    }

    /// Where a level is copied that would be read where it is written.
    fn copied_room(&self, level: u32, order: &[usize], parity: usize) -> View {
        self.room(Region::Packed, self.sample, &self.problem.geometry.level_shape(level), order, parity).0
    }

    fn copied(&mut self, level: u32, from: View, order: &[usize], parity: usize) -> Result<View, ProgramError> {
        let shape = self.problem.geometry.level_shape(level);
        let copy = self.scratch(Region::Packed, self.sample, &shape, order, parity);
        self.after();
        self.copy(from, copy, &shape, &shape)?;
        self.after();
        Ok(copy)
    }

    /// The axis along which threads run: one with consecutive samples. A short batch axis (such as interleaved colours)
    /// is none.
    fn threads_axis(&self, view: &View, shape: &[usize]) -> Option<usize> {
        let short = |axis: usize| self.problem.geometry.levels()[axis] == 0 && shape[axis] < SHORT;
        view.unit_axis(shape).filter(|&axis| !short(axis) || shape.iter().product::<usize>() == shape[axis])
    }

    /// Whether passes can take the box as it is.
    fn suits(&self, view: &View, shape: &[usize]) -> bool {
        self.threads_axis(view, shape).is_some() || shape.iter().all(|&n| n <= 1)
    }

    /// The order of axes in scratch: that of a box, its short batch axes outermost.
    fn order(&self, view: &View, shape: &[usize]) -> Vec<usize> {
        let levels = self.problem.geometry.levels();
        let mut order: Vec<usize> = (0..shape.len()).collect();
        let short = |axis: usize| levels[axis] == 0 && shape[axis] < SHORT;
        order.sort_by_key(|&axis| (!short(axis), std::cmp::Reverse(view.strides[axis].unsigned_abs())));
        order
    }

    /// Analysis from one box to another, or in place if both are the same.
    pub(crate) fn forward(&mut self, source: View, target: View) -> Result<List, ProgramError> {
        self.list = List::default();
        self.after();
        let problem = self.problem;
        let shape = problem.geometry.shape();
        let depth = problem.geometry.depth();
        let same = source.array == target.array;
        if depth == 0 {
            if !same {
                self.copy(source, target, shape, &problem.source_shape)?;
            }
            return Ok(std::mem::take(&mut self.list));
        }
        let order = self.order(&target, shape);
        let direct = problem.layout == Layout::Mallat && self.suits(&target, shape);
        let whole = if direct { target } else { self.scratch(Region::Whole, self.sample, shape, &order, 0) };
        let (mut low, packs) = (source, self.packs(&source, &whole, shape));
        let parity = self.parity(0, &order);
        if packs && !problem.pads() {
            low = self.scratch(Region::Packed, self.sample, shape, &order, parity);
            self.copy(source, low, shape, shape)?;
        } else if problem.pads() {
            // Decided as if it were packed, which it is if the first level is one pass.
            low = self.copied_room(0, &order, parity);
        }
        let chosen = self.choose_analysis(low, whole, &order)?;
        if problem.pads() {
            low = whole;
            // A pass over both axes reads rows that are aligned.
            if chosen[0].is_single() || matches!(chosen[0].stages[0], Stage::Launch { .. }) {
                low = self.scratch(Region::Packed, self.sample, shape, &order, parity);
            }
            self.copy(source, low, shape, &problem.source_shape)?;
        }
        let mut level = 0;
        for chosen in chosen {
            let levels = chosen.levels;
            low = self.analyse(level, chosen, low, whole, &order)?;
            level += levels;
        }
        if !direct {
            self.after();
            self.spread(0, whole, target)?;
        }
        Ok(std::mem::take(&mut self.list))
    }

    /// Whether data has to be brought into the order of the coefficients first.
    fn packs(&self, source: &View, whole: &View, shape: &[usize]) -> bool {
        !self.suits(source, shape) || self.threads_axis(source, shape) != self.threads_axis(whole, shape)
    }

    /// The schedules of all levels, finest first.
    fn choose_analysis(&mut self, data: View, whole: View, order: &[usize]) -> Result<Vec<Chosen>, ProgramError> {
        let depth = self.problem.geometry.depth();
        let mut all: Vec<Chosen> = Vec::new();
        let mut sources = Vec::new();
        let mut from = data;
        for level in 0..depth {
            sources.push(from);
            let copies = from.array == whole.array;
            let question = Question { direction: Direction::Forward, level, order, copies };
            let chosen = self.choose(&question, |lowering, parts, part, pair| {
                let single = parts == 1;
                let between = |i: usize| lowering.between_room(i, parts, pair.extent, order).0;
                let out = if part + 1 == parts { whole } else { between(part) };
                let low = if single && level + 1 < depth { lowering.low_room(level + 1, order).0 } else { out };
                let signal = match part {
                    0 if single && copies => lowering.copied_room(level, order, lowering.parity(level, order)),
                    0 => from,
                    _ => between(part - 1),
                };
                Quad::new(pair, signal, low, out)
            })?;
            from = if chosen.is_single() { self.low_room(level + 1, order).0 } else { whole };
            all.push(chosen);
        }
        let question = Question { direction: Direction::Forward, level: 0, order, copies: data.array == whole.array };
        self.all_levels(&mut all, &question, &sources, whole)?;
        self.two_levels(&mut all, &question, |lowering, pair| {
            let low = if depth > 2 { lowering.low_room(2, order).0 } else { whole };
            Quad::new(pair, data, low, whole)
        })?;
        Ok(all)
    }

    /// One level of analysis; gives the place of the low band for the next.
    fn analyse(
        &mut self,
        level: u32,
        chosen: Chosen,
        from: View,
        whole: View,
        order: &[usize],
    ) -> Result<View, ProgramError> {
        let geometry = &self.problem.geometry;
        let shape = geometry.level_shape(level);
        let origins = geometry.level_origins(level);
        let next = level + chosen.levels;
        let last_level = next == geometry.depth();
        let (single, parts) = (chosen.is_single(), chosen.stages.len());
        let mut from = from;
        if single && from.array == whole.array {
            from = self.copied(level, from, order, self.parity(level, order))?;
        }
        self.list.choices.push(chosen.choice);
        for (i, stage) in chosen.stages.into_iter().enumerate() {
            let last = i + 1 == parts;
            let to = if last { whole } else { self.between(i, parts, &shape, order) };
            // A level of one pass leaves its low band where the next one can read it without writing there.
            let low = if single && !last_level { self.low(next, order) } else { to };
            let gain = if i == 0 { self.problem.gain_shift } else { 0 };
            self.after();
            match stage {
                Stage::Axis(axis, way) => {
                    let halves = split(shape[axis], origins[axis]);
                    let high = if halves.high > 0 { to.at(axis, halves.low) } else { to };
                    let parity = (origins[axis] & 1) as usize;
                    let pass = Pass { direction: Direction::Forward, level, axis, extent: &shape, parity, gain, way };
                    self.pass(pass, Sites { signal: from, low, high })?;
                }
                Stage::Launch { axes, order, deep, shape: blocks, chunk, .. } => {
                    let parity_of = |axis: usize| (origins[axis] & 1) as usize;
                    let (parity, deep) = (axes.map(parity_of), deep.map(|axis| (axis, parity_of(axis))));
                    let direction = Direction::Forward;
                    let span = Span::of(blocks, chosen.levels);
                    let pair = Pair { direction, level, axes, order, deep, span, extent: &shape, parity, gain };
                    self.pair(pair, Quad::new(&pair, from, low, to), (blocks, chunk))?;
                }
            }
            from = if last { low } else { to };
        }
        Ok(from)
    }

    /// Scratch between pass `i` of `passes` and the next.
    fn between_room(&self, i: usize, passes: usize, shape: &[usize], order: &[usize]) -> (View, usize) {
        // The last hand-over is always through the first part, so that two passes need no other.
        let region = Region::Between((passes - 2 - i) % 2);
        self.room(region, work_of(self.sample), shape, order, 0)
    }

    fn between(&mut self, i: usize, passes: usize, shape: &[usize], order: &[usize]) -> View {
        let (view, len) = self.between_room(i, passes, shape, order);
        let Array::Scratch(region) = view.array else { unreachable!("passes hand on through the workspace") };
        self.regions.request(region, view.scalar, len);
        view
    }

    /// Synthesis from the coarsest level to `level`.
    pub(crate) fn inverse(&mut self, level: u32, source: View, target: View) -> Result<List, ProgramError> {
        self.list = List::default();
        self.after();
        let problem = self.problem;
        let geometry = &problem.geometry;
        let (depth, shape) = (geometry.depth(), geometry.level_shape(level));
        let pads = level == 0 && problem.pads();
        let wanted = if pads { problem.source_shape.clone() } else { shape.clone() };
        let same = source.array == target.array;
        if level == depth {
            if !same {
                // The low band, which in either layout is a box of its own.
                let from = Place::from(&geometry.low_band(level, problem.layout)).within(source);
                self.copy(from, target, &wanted, &shape)?;
            }
            return Ok(std::mem::take(&mut self.list));
        }
        let full = geometry.shape();
        let order = self.order(&source, full);
        let direct = problem.layout == Layout::Mallat && self.suits(&source, full);
        let whole = if direct { source } else { self.scratch(Region::Whole, self.sample, full, &order, 0) };
        if !direct {
            self.gather(level, source, whole)?;
        }
        // Threads run along the same axis everywhere; the low band's own strides decide where its box is flat.
        let fits = self.suits(&target, &wanted)
            && (wanted.iter().all(|&n| n <= 1)
                || self.threads_axis(&target, &wanted) == self.threads_axis(&whole, full));
        let staged = pads || !fits;
        let parity = self.parity(level, &order);
        let result = if staged { self.scratch(Region::Packed, self.sample, &shape, &order, parity) } else { target };

        let chosen = self.choose_synthesis(level, whole, result, &order)?;
        let mut low = whole;
        let all: Vec<(u32, &Chosen)> = (level..depth).zip(&chosen).filter(|(_, chosen)| chosen.levels > 0).collect();
        for (i, &(j, chosen_j)) in all.iter().enumerate().rev() {
            // A level of one pass neither writes where it reads nor leaves its result where the next one writes; a pass
            // over both axes reads rows that are aligned.
            let above = i.checked_sub(1).map(|i| all[i].1);
            let on_its_way = above.is_some_and(|c| c.is_single() || c.ends_with_both() || chosen_j.is_single());
            let to = if on_its_way { self.low(j, &order) } else { result };
            self.synthesise(j, chosen_j, low, whole, to, &order)?;
            low = to;
        }
        self.list.choices = chosen.into_iter().map(|c| c.choice).collect();
        if staged {
            self.after();
            self.copy(result, target, &wanted, &shape)?;
        }
        Ok(std::mem::take(&mut self.list))
    }

    /// The schedules of the levels from `level` on, finest first.
    fn choose_synthesis(
        &mut self,
        level: u32,
        whole: View,
        result: View,
        order: &[usize],
    ) -> Result<Vec<Chosen>, ProgramError> {
        let depth = self.problem.geometry.depth();
        let (mut all, mut targets) = (Vec::new(), Vec::new());
        for j in level..depth {
            let to = if j == level { result } else { self.low_room(j, order).0 };
            targets.push(to);
            let copies = to.array == whole.array;
            let question = Question { direction: Direction::Inverse, level: j, order, copies };
            all.push(self.choose(&question, |lowering, parts, part, pair| {
                let between = |i: usize| lowering.between_room(i, parts, pair.extent, order).0;
                let turn = parts - 1 - part;
                let signal = if turn + 1 == parts { to } else { between(turn) };
                let bands = match turn {
                    0 if parts == 1 && copies => lowering.copied_room(j, order, 0),
                    0 => whole,
                    _ => between(turn - 1),
                };
                let low = if turn > 0 || j + 1 == depth { bands } else { lowering.low_room(j + 1, order).0 };
                Quad::new(pair, signal, low, bands)
            })?);
        }
        let question = Question { direction: Direction::Inverse, level, order, copies: result.array == whole.array };
        self.all_levels(&mut all, &question, &targets, whole)?;
        self.two_levels(&mut all, &question, |lowering, pair| {
            let low = if level + 2 < depth { lowering.low_room(level + 2, order).0 } else { whole };
            Quad::new(pair, result, low, whole)
        })?;
        Ok(all)
    }

    /// One level of synthesis: the low band of level `level + 1` and the level's bands in `whole` become the low band
    /// of `level`.
    fn synthesise(
        &mut self,
        level: u32,
        chosen: &Chosen,
        low: View,
        whole: View,
        to: View,
        order: &[usize],
    ) -> Result<(), ProgramError> {
        let geometry = &self.problem.geometry;
        let shape = geometry.level_shape(level);
        let next = geometry.level_shape(level + 1);
        let axes = geometry.axes_at(level);
        let parts = chosen.stages.len();
        let (mut low, mut whole) = (low, whole);
        if parts == 1 && whole.array == to.array {
            let beside = low.array != whole.array;
            whole = self.copied(level, whole, order, 0)?;
            low = if beside { low } else { whole };
        }
        let mut from = whole;
        for (i, stage) in chosen.stages.iter().rev().enumerate() {
            let last = i + 1 == parts;
            let to = if last { to } else { self.between(i, parts, &shape, order) };
            let gain = if last { self.problem.gain_shift } else { 0 };
            self.after();
            // What is low along all axes comes from the level below, all else from the coefficients.
            let mut extent = shape.clone();
            if i == 0 && low.array != whole.array {
                let others = axes.iter().filter(|axis| match stage {
                    Stage::Axis(own, _) => *axis != own,
                    Stage::Launch { axes: own, deep, .. } => !own.contains(axis) && deep != &Some(**axis),
                });
                for &other in others {
                    let mut rest = extent.clone();
                    rest[other] = shape[other] - next[other];
                    if rest[other] > 0 {
                        let at = (other, next[other]);
                        self.synthesise_part(level, stage, gain, &rest, at, (from, from, to))?;
                    }
                    extent[other] = next[other];
                }
                self.synthesise_part(level, stage, gain, &extent, (axes[0], 0), (low, from, to))?;
            } else {
                self.synthesise_part(level, stage, gain, &extent, (axes[0], 0), (from, from, to))?;
            }
            from = to;
        }
        Ok(())
    }

    /// A stage of synthesis on a part of the level that begins further along an axis.
    fn synthesise_part(
        &mut self,
        level: u32,
        stage: &Stage,
        gain: u32,
        extent: &[usize],
        (along, index): (usize, usize),
        (low, bands, to): (View, View, View),
    ) -> Result<(), ProgramError> {
        let origins = self.problem.geometry.level_origins(level);
        let direction = Direction::Inverse;
        match *stage {
            Stage::Axis(axis, way) => {
                let halves = split(extent[axis], origins[axis]);
                let parity = (origins[axis] & 1) as usize;
                let high = if halves.high > 0 { bands.at(axis, halves.low) } else { bands };
                let pass = Pass { direction, level, axis, extent, parity, gain, way };
                self.pass(pass, Sites { signal: to, low, high }.at(along, index))
            }
            Stage::Launch { axes, order, deep, shape: blocks, chunk, .. } => {
                let parity_of = |axis: usize| (origins[axis] & 1) as usize;
                let (parity, deep) = (axes.map(parity_of), deep.map(|axis| (axis, parity_of(axis))));
                let span = Span::of(blocks, self.problem.geometry.depth() - level);
                let pair = Pair { direction, level, axes, order, deep, span, extent, parity, gain };
                self.pair(pair, Quad::new(&pair, to, low, bands).at(along, index), (blocks, chunk))
            }
        }
    }

    /// Copies the bands from the Mallat layout to the plan's layout.
    fn spread(&mut self, level: u32, whole: View, target: View) -> Result<(), ProgramError> {
        self.bands(level, |lowering, apart, placed, shape| {
            lowering.copy(apart.within(whole), placed.within(target), shape, shape)
        })
    }

    /// Copies what lies below `level` from the plan's layout to the Mallat layout.
    fn gather(&mut self, level: u32, source: View, whole: View) -> Result<(), ProgramError> {
        self.bands(level, |lowering, apart, placed, shape| {
            lowering.copy(placed.within(source), apart.within(whole), shape, shape)
        })
    }

    fn bands(
        &mut self,
        level: u32,
        mut each: impl FnMut(&mut Self, Place, Place, &[usize]) -> Result<(), ProgramError>,
    ) -> Result<(), ProgramError> {
        let geometry = &self.problem.geometry;
        if self.problem.layout == Layout::Mallat {
            let shape = geometry.level_shape(level);
            let whole = Place { offset: vec![0; shape.len()], step: vec![1; shape.len()] };
            return each(self, whole.clone(), whole, &shape);
        }
        let (apart, placed) = (geometry.bands(Layout::Mallat), geometry.bands(self.problem.layout));
        for (apart, placed) in apart.into_iter().zip(placed) {
            if apart.level > level && !apart.shape.contains(&0) {
                each(self, Place::from(&apart), Place::from(&placed), &apart.shape)?;
            }
        }
        Ok(())
    }
}

/// A band's place in an array.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    offset: Vec<usize>,
    step: Vec<usize>,
}

impl From<&Band> for Place {
    fn from(band: &Band) -> Place {
        Place { offset: band.offset.clone(), step: band.step.clone() }
    }
}

impl Place {
    pub fn within(&self, mut view: View) -> View {
        for (axis, (&offset, &step)) in self.offset.iter().zip(&self.step).enumerate() {
            view.offset += offset as i64 * view.strides[axis];
            // A band of one sample has no step; it may be any number.
            view.strides[axis] = view.strides[axis].wrapping_mul(step as i64);
        }
        view
    }
}
