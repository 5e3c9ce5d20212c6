//! Programmatic dependent launch: launches that begin while earlier ones still run.
//!
//! Small launches overlap if they can: each kernel begins while the previous one still runs, and waits for its end
//! before touching its results. Small levels gain most, as they take little longer than their launches. Large levels
//! lose the constant-data cache. Every thread that touches memory waits. So a kernel ends only after all earlier ones:
//! the next can reuse a workspace, and ordinary launches begin when everything has ended.
//!
//! Synthesis need not wait for the bands in the source: nothing writes it while a list runs. But the source may have
//! been written just before. So if any kernel of a list reads without waiting, the first launch begins only after all
//! earlier work. The same holds for the first launch of a program whose last launches let others begin early: in call
//! after call, it would crowd them (docs/notebook/files.md).
//!
//! Only kernels written to wait may be launched like this, compiled for compute capability 9.0 or newer. The executor
//! is responsible for that; this module only states that a launch may begin early.

use crate::cluster;
use crate::error::ProgramError;
use crate::kernels::Made;
use crate::list::{Arg, Array, Launch, List};
use crate::program::Program;
use lifting_codegen::ir::valid::validate;
use lifting_codegen::ir::{Access, ParamId, ParamKind};
use lifting_codegen::machine::{Machine, OverlapSteps};
use lifting_codegen::opt::{self, Allows, Overlap};
use std::collections::HashSet;

/// Launches that overlap with earlier ones: those of up to a number of samples.
#[derive(Clone, Copy, Debug)]
pub struct Extent(Option<usize>);

impl Extent {
    /// No overlap: kernels do not wait.
    pub const NONE: Extent = Extent(None);

    /// Extent for a plan of `samples` samples whose kernels can wait: all launches of small plans, small launches of
    /// larger ones. `asked` forces all or none.
    pub fn of(samples: usize, asked: Option<bool>, machine: &Machine) -> Extent {
        let steps = &machine.constants().overlap_steps;
        match asked {
            Some(false) => Extent::NONE,
            None if samples as u64 > steps.small_plan => Extent(Some(steps.small_launch as usize)),
            Some(true) | None => Extent(Some(usize::MAX)),
        }
    }

    /// Whether a launch overlaps.
    fn has(self, launch: &Launch) -> bool {
        self.0.is_some_and(|most| samples(launch).unwrap_or(usize::MAX) <= most)
    }
}

impl Program {
    /// Decides which launches begin early and which blocks run in clusters, on a device. Kernels of early launches get
    /// the statements for that. A kernel needed in several versions is present several times under one name. Call it
    /// once, on a new program.
    ///
    /// # Errors
    /// If a kernel with these statements breaks the rules: a bug in this crate.
    pub fn arrange(&mut self, extent: Extent, machine: &Machine) -> Result<(), ProgramError> {
        let overlaps = versions(self, extent, machine);
        let in_place = self.forward_in_place.iter_mut().chain(&mut self.inverse_in_place);
        for list in std::iter::once(&mut self.forward).chain(&mut self.inverse).chain(in_place) {
            let mut next = Some(list);
            while let Some(list) = next {
                for launch in &mut list.launches {
                    launch.cluster = cluster::blocks(launch, &self.kernels[launch.kernel], machine);
                }
                next = list.otherwise.as_deref_mut();
            }
        }
        for (made, overlap) in self.kernels.iter_mut().zip(&overlaps) {
            let Some(overlap) = overlap else { continue };
            made.kernel = opt::overlap(made.kernel.clone(), overlap);
            made.info = validate(&made.kernel).map_err(|errors| ProgramError::Kernel {
                kernel: made.kernel.name.clone(),
                reason: errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
            })?;
        }
        Ok(())
    }
}

/// Marks each launch of a program that overlaps with the previous one, and returns the version of each kernel. Kernels
/// with several versions are duplicated.
fn versions(program: &mut Program, extent: Extent, machine: &Machine) -> Vec<Option<Overlap>> {
    let kernels = std::mem::take(&mut program.kernels);
    let mut versions = Versions { extent, machine, kernels, all: Vec::new() };
    // The whole transform comes first: other lists should need no other versions of the same kernels.
    versions.list(&mut program.forward, true);
    for (i, list) in program.inverse.iter_mut().enumerate() {
        versions.list(list, i == 0);
    }
    for list in program.forward_in_place.iter_mut().chain(&mut program.inverse_in_place) {
        versions.list(list, false);
    }
    let whole = || std::iter::once(&program.forward).chain(program.inverse.first());
    if whole().filter_map(|list| list.launches.last()).any(|launch| versions.hurries(launch)) {
        let in_place = program.forward_in_place.iter_mut().chain(&mut program.inverse_in_place);
        for list in std::iter::once(&mut program.forward).chain(&mut program.inverse).chain(in_place) {
            let mut next = Some(list);
            while let Some(list) = next {
                let first = first_group(list);
                list.launches[..first].iter_mut().for_each(|launch| launch.overlaps = false);
                next = list.otherwise.as_deref_mut();
            }
        }
    }
    program.kernels = versions.all.iter().map(|(kernel, _)| versions.kernels[*kernel].clone()).collect();
    versions.all.into_iter().map(|(_, overlap)| overlap).collect()
}

/// Versions of a program's kernels.
struct Versions<'a> {
    extent: Extent,
    machine: &'a Machine,
    kernels: Vec<Made>,
    /// Index of a kernel, and how it overlaps.
    all: Vec<(usize, Option<Overlap>)>,
}

impl Versions<'_> {
    /// Settles the launches of a list: the whole transform gets its best versions, other lists reuse existing ones.
    fn list(&mut self, list: &mut List, is_whole: bool) {
        let wanted = self.wanted(list);
        let at = first_group(list);
        let (first, rest) = list.launches.split_at_mut(at);
        let (wanted_first, wanted_rest) = wanted.split_at(at);
        let mut reads_early = false;
        for (launch, wanted) in rest.iter_mut().zip(wanted_rest) {
            self.settle(launch, wanted.as_ref(), is_whole, |version| version == wanted.as_ref());
            let version = self.all[launch.kernel].1.as_ref();
            reads_early |= launch.overlaps && version.is_some_and(|version| !version.settled.is_empty());
        }
        for (launch, wanted) in first.iter_mut().zip(wanted_first) {
            let allows = |overlap: Option<&Overlap>| overlap.map(|overlap| overlap.allows);
            // If a kernel reads without waiting, the first launches do not overlap. They may then share a version with
            // others, whose instructions are in the cache.
            self.settle(launch, wanted.as_ref(), is_whole, |version| {
                version == wanted.as_ref() || reads_early && allows(version) == allows(wanted.as_ref())
            });
            launch.overlaps &= !reads_early;
        }
        if let Some(otherwise) = &mut list.otherwise {
            self.list(otherwise, false);
        }
    }

    /// Gives a launch a version of its kernel: one that is `right`, or else any existing one outside the whole
    /// transform.
    fn settle(
        &mut self,
        launch: &mut Launch,
        wanted: Option<&Overlap>,
        is_whole: bool,
        right: impl Fn(Option<&Overlap>) -> bool,
    ) {
        let mut versions = self.all.iter().enumerate().filter(|(_, (kernel, _))| *kernel == launch.kernel);
        let mut others = versions.clone();
        let found = versions.find(|(_, (_, version))| right(version.as_ref()));
        // A waiting kernel may be launched in any way.
        let any = || others.find(|(_, (_, version))| !is_whole && (version.is_some() || wanted.is_none()));
        let found = found.or_else(any).map(|(i, _)| i);
        let found = found.unwrap_or_else(|| {
            self.all.push((launch.kernel, wanted.cloned()));
            self.all.len() - 1
        });
        let is_settled =
            |(version, here): (&Overlap, &Overlap)| version.settled.iter().all(|p| here.settled.contains(p));
        launch.overlaps = self.all[found].1.as_ref().zip(wanted).is_some_and(is_settled);
        launch.kernel = found;
    }

    /// Best overlap of each launch of a list.
    fn wanted(&self, list: &List) -> Vec<Option<Overlap>> {
        let mut written = HashSet::new();
        let first = first_group(list);
        let settled = list.launches.iter().enumerate().map(|(i, launch)| {
            let made = &self.kernels[launch.kernel];
            let mut settled = Vec::new();
            if i >= first && self.loads_by_time(launch) {
                let there = pointers(launch).filter(|(id, array)| is_read(made, *id) && !written.contains(array));
                settled.extend(there.map(|(id, _)| id));
            }
            written.extend(pointers(launch).filter(|(id, _)| !is_read(made, *id)).map(|(_, array)| array));
            settled
        });
        let settled: Vec<Vec<ParamId>> = settled.collect();
        let mut wanted: Vec<Option<Overlap>> = Vec::new();
        for (i, launch) in list.launches.iter().enumerate() {
            let allows = match list.launches.get(i + 1) {
                Some(next) => {
                    let is_last = i + 2 == list.launches.len();
                    self.allows(launch, next, (!settled[i + 1].is_empty(), is_last))
                }
                // No later launch can gain: use the previous launch's kernel.
                None => match wanted.last() {
                    Some(Some(before)) if list.launches[i - 1].kernel == launch.kernel => before.allows,
                    _ => Allows::BeforeStoring,
                },
            };
            let settled = settled[i].clone();
            wanted.push(self.extent.has(launch).then_some(Overlap { settled, allows }));
        }
        wanted
    }

    /// When a launch lets the next one begin, given whether that one reads without waiting and is the last: early if
    /// that was measured to gain (docs/performance.md).
    fn allows(&self, launch: &Launch, next: &Launch, (reads_early, is_last): (bool, bool)) -> Allows {
        let part = |launch: &Launch| {
            let resident = self.machine.multiprocessors * self.kernels[launch.kernel].kernel.min_blocks.max(1);
            launch.grid.iter().map(|n| f64::from(*n)).product::<f64>() / f64::from(resident)
        };
        let OverlapSteps { early_bytes, early_part, .. } = self.machine.constants().overlap_steps;
        let is_short = |launch: &Launch| bytes(&self.kernels[launch.kernel], launch).is_some_and(|n| n <= early_bytes);
        if reads_early {
            let most = if is_last { 1.0 } else { early_part };
            if is_short(next) && part(next) <= most { Allows::AtOnce } else { Allows::BeforeStoring }
        } else if next.kernel == launch.kernel && self.loads_by_time(launch) && is_short(launch) && part(launch) <= 1.0
        {
            Allows::AfterWaiting
        } else {
            Allows::BeforeStoring
        }
    }

    /// Whether all blocks of a launch's kernel load the previous level's results last, so they may load the rest early.
    fn loads_by_time(&self, launch: &Launch) -> bool {
        self.kernels[launch.kernel].fit.as_ref().is_some_and(|fit| fit.loads_by_time())
    }

    /// Whether a launch, whose kernel is settled, lets the next one begin before its own stores.
    fn hurries(&self, launch: &Launch) -> bool {
        self.all[launch.kernel].1.as_ref().is_some_and(|overlap| overlap.allows != Allows::BeforeStoring)
    }
}

/// Bytes that a launch reads, if known.
fn bytes(made: &Made, launch: &Launch) -> Option<u64> {
    let scalars = made.kernel.params.iter().filter_map(|param| match param.kind {
        ParamKind::Pointer(scalar, _) => Some(scalar.bytes()),
        ParamKind::Scalar(_) => None,
    });
    let (samples, each) = samples(launch).zip(scalars.max())?;
    samples.checked_mul(each).map(|bytes| bytes as u64)
}

/// Samples that a launch reads, if known.
fn samples(launch: &Launch) -> Option<usize> {
    let job = launch.placed.as_ref()?.job;
    let sides = [job.width, job.height, job.batch, job.planes.map_or(1, |planes| planes.depth)];
    sides.iter().try_fold(1usize, |n, side| n.checked_mul(usize::try_from(*side).ok()?))
}

/// Number of first launches that run in parallel.
fn first_group(list: &List) -> usize {
    let rest = list.launches.iter().skip(1).take_while(|launch| launch.beside_previous);
    list.launches.len().min(1 + rest.count())
}

/// Pointer parameters of a launch, and their arrays.
fn pointers(launch: &Launch) -> impl Iterator<Item = (ParamId, Array)> + '_ {
    (0..).zip(&launch.args).filter_map(|(i, arg)| match arg {
        Arg::Pointer(array, _) => Some((ParamId(i), *array)),
        Arg::Int(_) => None,
    })
}

/// Whether a kernel only reads an array.
fn is_read(made: &Made, id: ParamId) -> bool {
    matches!(made.kernel.params[id.0 as usize].kind, ParamKind::Pointer(_, Access::Read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Tuning;
    use crate::problem::{Problem, contiguous};
    use crate::schedule::Schedule;
    use lifting_codegen::ir::Stmt;
    use lifting_codegen::ir::visit::any_stmt;
    use lifting_dsl::geometry::Geometry;
    use lifting_dsl::sample::SampleType;

    fn program(name: &str, sample: SampleType, schedule: Schedule, shape: &[usize], levels: u32) -> Program {
        let problem = Problem::new(crate::tests::scheme(name), Geometry::uniform(shape, levels).unwrap());
        let tuning = Tuning::new(schedule, Machine::default(), "sm_90".into());
        let strides = contiguous(shape);
        Program::new(&problem, sample, &strides, &strides, &tuning).unwrap()
    }

    /// In large plans, kernels of large levels do not wait, and all launches of small levels overlap.
    #[test]
    fn launches_overlap_if_kernels_wait() {
        let machine = Machine::default();
        let OverlapSteps { small_plan, small_launch, .. } = machine.constants().overlap_steps;
        let waiting = |side: usize, asked: Option<bool>| {
            let mut program = program("cdf97", SampleType::F32, Schedule::WARP, &[side, side], 5);
            let samples = side * side;
            let extent = Extent::of(samples, asked, &machine);
            program.arrange(extent, &machine).unwrap();
            let waits = |made: &Made| any_stmt(&made.kernel.body, &|s| *s == Stmt::WaitLaunches);
            if asked.is_none() {
                for launch in program.lists().flat_map(|list| &list.launches) {
                    let is_short = super::samples(launch).is_some_and(|n| n as u64 <= small_launch)
                        || samples as u64 <= small_plan;
                    assert_eq!(extent.has(launch), is_short);
                    assert!(waits(&program.kernels[launch.kernel]) || !is_short);
                    assert!(!launch.overlaps || is_short);
                }
            }
            (program.kernels.iter().filter(|made| waits(made)).count(), program.kernels.len())
        };
        for asked in [None, Some(true)] {
            let (some, all) = waiting(4096, asked);
            assert_eq!(some, all);
        }
        assert_eq!(waiting(4096, Some(false)).0, 0);
        let (some, all) = waiting(8192, None);
        assert!((1..all).contains(&some), "{some}");
        let (some, all) = waiting(8192, Some(true));
        assert_eq!(some, all);
    }

    /// No early read touches data that an earlier launch may write; the launches are the chosen ones.
    #[test]
    fn early_reads_find_finished_data() {
        let shapes: [(&[usize], u32); 7] = [
            (&[1080, 1920], 3),
            (&[1081, 1921], 3),
            (&[1024, 1024], 4),
            (&[4096, 4096], 5),
            (&[8192, 8192], 5),
            (&[4, 512, 512], 2),
            (&[70000], 4),
        ];
        let (mut early, machine) = (0, Machine::default());
        for (name, sample) in [("cdf97", SampleType::F32), ("legall53", SampleType::I16), ("dd137", SampleType::I16)] {
            for (shape, levels) in shapes {
                for schedule in [Schedule::Auto, Schedule::WARP, Schedule::Separate] {
                    if schedule == Schedule::WARP && shape.len() != 2 {
                        continue;
                    }
                    let plain = program(name, sample, schedule, shape, levels);
                    let mut program = program(name, sample, schedule, shape, levels);
                    let samples = shape.iter().product();
                    let overlaps = versions(&mut program, Extent::of(samples, None, &machine), &machine);
                    let kernel = |program: &Program, launch: &Launch| program.kernels[launch.kernel].kernel.clone();
                    for (list, was) in program.lists().zip(plain.lists()) {
                        assert_eq!(list.launches.len(), was.launches.len());
                        let reads = |launch: &Launch| {
                            let overlap = overlaps[launch.kernel].as_ref().filter(|_| launch.overlaps);
                            overlap.map_or(&[][..], |overlap| &overlap.settled)
                        };
                        let first = first_group(list);
                        let any = list.launches.iter().any(|launch| !reads(launch).is_empty());
                        for (i, (launch, was)) in list.launches.iter().zip(&was.launches).enumerate() {
                            assert_eq!(kernel(&program, launch), kernel(&plain, was));
                            assert_eq!((&launch.args, launch.grid), (&was.args, was.grid));
                            assert!(
                                !(any && i < first && launch.overlaps),
                                "the first launch waits for all earlier ones"
                            );
                            for &id in reads(launch) {
                                early += 1;
                                let (_, array) = pointers(launch).find(|(other, _)| *other == id).expect("an array");
                                for before in &list.launches[..i] {
                                    let made = &program.kernels[before.kernel];
                                    let mut written = pointers(before).filter(|(id, _)| !is_read(made, *id));
                                    assert!(written.all(|(_, other)| other != array), "{name} {shape:?}: {array:?}");
                                }
                            }
                        }
                    }
                }
            }
        }
        assert!(early > 100, "{early}");
    }

    /// When launches let the next begin, in order: early if that was measured to gain.
    #[test]
    fn launches_begin_early_if_that_gains() {
        let machine = Machine::default();
        let allowed = |name: &str, sample, shape: &[usize], levels| {
            let mut program = program(name, sample, Schedule::Auto, shape, levels);
            let extent = Extent::of(shape.iter().product(), None, &machine);
            let overlaps = versions(&mut program, extent, &machine);
            let of = |list: &List| -> Vec<Option<Allows>> {
                list.launches.iter().map(|launch| overlaps[launch.kernel].as_ref().map(|o| o.allows)).collect()
            };
            (of(&program.forward), of(&program.inverse[0]))
        };
        let [once, waited, late] = [Allows::AtOnce, Allows::AfterWaiting, Allows::BeforeStoring].map(Some);
        let (f32, i16) = (SampleType::F32, SampleType::I16);
        let (forward, inverse) = allowed("cdf97", f32, &[1080, 1920], 3);
        assert_eq!((forward, &inverse[..2]), (vec![late; 3], &[once, late][..]));
        let (forward, inverse) = allowed("legall53", i16, &[1080, 1920], 3);
        assert_eq!((forward, &inverse[..2]), (vec![late, waited, waited], &[once, once][..]));
        let (_, inverse) = allowed("cdf97", f32, &[1024, 1024], 3);
        assert_eq!(inverse[..2], [once, once]);
        let (_, inverse) = allowed("cdf97", f32, &[4096, 4096], 5);
        assert_eq!(inverse[..4], [once, late, late, late]);
        // The last launch has two levels.
        let (_, inverse) = allowed("legall53", i16, &[4096, 4096], 5);
        assert_eq!(inverse[..3], [once, once, late]);
        // Two levels in one launch would not load early; that gain decides if they are small.
        let (forward, inverse) = allowed("legall53", i16, &[2048, 2048], 5);
        assert_eq!((forward.len(), inverse.len()), (4, 5));
        assert_eq!(allowed("legall53", i16, &[2048, 2048], 2).1.len(), 1);
        // The first launch does not overlap if the last one lets another begin early.
        let overlaps = |name, sample, shape: &[usize], levels| {
            let mut program = program(name, sample, Schedule::Auto, shape, levels);
            versions(&mut program, Extent::of(shape.iter().product(), None, &machine), &machine);
            program.forward.launches[0].overlaps
        };
        assert!(!overlaps("legall53", i16, &[4096, 4096], 5) && !overlaps("legall53", i16, &[1080, 1920], 3));
        assert!(overlaps("cdf97", f32, &[1080, 1920], 3));
        // Large levels do not overlap.
        let (forward, inverse) = allowed("dd137", i16, &[8192, 8192], 5);
        assert_eq!((forward[0], inverse[4]), (None, None));
    }
}
