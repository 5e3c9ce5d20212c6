//! Execution of compiled code, block by block.

use super::buffer::{Arg, Buffer, Element};
use super::code::{Code, Dest, From, Inst, Slot};
use super::count::Counts;
use super::fault::{Fault, FaultKind, Rival};
use super::memory::{Cells, Epoch, GlobalArray, Other, Request, SharedArray, Witness};
use super::pure::{Active, Registers, Stop, each};
use super::{KernelInfo, Options};
use crate::ir::path::{StmtId, describe};
use crate::ir::print::Names;
use crate::ir::visit::any_stmt;
use crate::ir::{Builtin, Kernel, ParamId, ParamKind, SharedId, Space, Stmt};
use std::collections::VecDeque;

/// Runs a launch whose arguments have been checked.
pub(super) fn launch(
    kernel: &Kernel,
    info: &KernelInfo,
    code: &Code,
    grid: [u64; 3],
    args: &mut [Arg],
    options: Options,
) -> Result<Counts, Fault> {
    let names = Names::new(kernel);
    let threads = info.threads as usize;
    let registers = Registers::new(kernel, &names, code, threads);
    for &(slot, bits) in &code.constants {
        registers.set_uniform(slot, bits);
    }
    for &(param, slot) in &code.params {
        registers.set_uniform(
            slot,
            match args[param.0 as usize] {
                Arg::Scalar(v) => v as u64,
                Arg::F32(v) => v.to_pattern(),
                Arg::F64(v) => v.to_pattern(),
                Arg::Buffer(_) => unreachable!("arguments have been checked"),
            },
        );
    }
    let arrays = kernel.params.iter().zip(args.iter_mut());
    let arrays = arrays
        .map(|(param, arg)| match (param.kind, arg) {
            (ParamKind::Pointer(scalar, access), Arg::Buffer(b)) => {
                let buffer = std::mem::replace(b, Buffer::zeroed(scalar, 0));
                Some(GlobalArray::new(buffer, &param.name, access))
            }
            _ => None,
        })
        .collect();
    let shared = kernel.shared.iter().zip(&info.shared_offsets);
    let shared = shared.map(|(s, &at)| SharedArray::new(&s.name, s.scalar, s.len as usize, at.into())).collect();
    let mut machine = Machine {
        place: Location { kernel, grid, block: [0; 3] },
        code,
        threads: threads as u32,
        registers,
        arrays,
        shared,
        epoch: Epoch { now: 1, block: 1, syncs: vec![0; threads.div_ceil(kernel.warp as usize)], warp: kernel.warp },
        copies: vec![Copies::default(); threads],
        waits: any_stmt(&kernel.body, &|s| *s == Stmt::WaitLaunches),
        waited: vec![false; threads],
        first: 0,
        here: StmtId(0),
        steps: 0,
        options,
        counts: Counts { launches: 1, ..Counts::default() },
        indices: Vec::new(),
    };
    let result = machine.grid();
    for (arg, array) in args.iter_mut().zip(machine.arrays) {
        if let (Arg::Buffer(b), Some(array)) = (arg, array) {
            *b = array.buffer;
        }
    }
    let (here, place) = (machine.here, machine.place);
    result.map(|()| machine.counts).map_err(|stop| {
        let (kind, thread) = *stop;
        Fault {
            kernel: kernel.name.clone(),
            statement: describe(kernel, here),
            block: place.block,
            thread: place.thread(thread),
            kind: Box::new(kind),
        }
    })
}

/// The block that runs.
#[derive(Clone, Copy)]
struct Location<'a> {
    kernel: &'a Kernel,
    grid: [u64; 3],
    block: [u32; 3],
}

impl Location<'_> {
    /// Coordinates of a thread of a block.
    fn thread(&self, t: u32) -> [u32; 3] {
        let [x, y, _] = self.kernel.launch.block;
        [t % x, t / x % y, t / x / y]
    }
}

impl Witness for Location<'_> {
    fn in_block(&self, other: Other) -> Rival {
        let statement = describe(self.kernel, other.statement);
        Rival { writes: other.writes, statement, block: self.block, thread: self.thread(other.thread) }
    }

    fn in_launch(&self, other: Other) -> Rival {
        let threads: u32 = self.kernel.launch.block.iter().product();
        let block = u64::from(other.thread / threads);
        let [x, y, _] = self.grid;
        let block = [block % x, block / x % y, block / x / y].map(|b| b as u32);
        Rival { block, ..Location { block, ..*self }.in_block(Other { thread: other.thread % threads, ..other }) }
    }
}

/// The asynchronous copies of a thread.
#[derive(Clone, Default)]
struct Copies {
    /// Copies in flight, oldest first: group, array, cells.
    under_way: VecDeque<(u32, SharedId, Cells)>,
    /// Number of closed groups, which is the number of the open one.
    groups: u32,
}

struct Machine<'a> {
    place: Location<'a>,
    code: &'a Code,
    threads: u32,
    registers: Registers<'a>,
    /// By parameter.
    arrays: Vec<Option<GlobalArray>>,
    shared: Vec<SharedArray>,
    epoch: Epoch,
    /// By thread of the block.
    copies: Vec<Copies>,
    /// Whether the kernel waits for earlier launches, and which threads of the block have done so.
    waits: bool,
    waited: Vec<bool>,
    /// Number of the block's first thread in the launch.
    first: u32,
    here: StmtId,
    steps: u64,
    options: Options,
    counts: Counts,
    /// Scratch: values that threads offer to a shuffle, or the indices that they access.
    indices: Vec<u64>,
}

impl Machine<'_> {
    fn grid(&mut self) -> Result<(), Stop> {
        let [x, y, z] = self.place.grid.map(|d| d as u32);
        for &(builtin, slot) in &self.code.builtins {
            let column = self.registers.column(slot);
            for t in 0..self.threads {
                let thread = self.place.thread(t);
                column.set(
                    t,
                    u64::from(match builtin {
                        Builtin::ThreadX => thread[0],
                        Builtin::ThreadY => thread[1],
                        Builtin::ThreadZ => thread[2],
                        Builtin::Lane => t % self.place.kernel.warp,
                        Builtin::GridX => x,
                        Builtin::GridY => y,
                        Builtin::GridZ => z,
                        // Set before each block.
                        Builtin::BlockX | Builtin::BlockY | Builtin::BlockZ => 0,
                    }),
                );
            }
        }
        let code = self.code;
        for block in (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z]))) {
            self.place.block = block;
            for &(builtin, slot) in &code.builtins {
                let axis = match builtin {
                    Builtin::BlockX => 0,
                    Builtin::BlockY => 1,
                    Builtin::BlockZ => 2,
                    _ => continue,
                };
                self.registers.column(slot).set(0, block[axis].into());
            }
            if self.epoch.now > u32::MAX / 2 {
                self.shared.iter_mut().for_each(SharedArray::reset);
                self.epoch.now = 0;
            }
            self.epoch.now += 1;
            self.epoch.block = self.epoch.now;
            self.epoch.syncs.fill(0);
            for copies in &mut self.copies {
                copies.under_way.clear();
                copies.groups = 0;
            }
            self.waited.fill(false);
            self.counts.blocks += 1;
            self.counts.threads += u64::from(self.threads);
            self.body(&code.body, &Active::Range(0, self.threads))?;
            self.first += self.threads;
        }
        Ok(())
    }

    fn step(&mut self, active: &Active) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps > self.options.max_steps {
            return Err(Box::new((FaultKind::Steps(self.options.max_steps), active.first())));
        }
        Ok(())
    }

    fn body(&mut self, body: &[Inst], active: &Active) -> Result<(), Stop> {
        for inst in body {
            match inst {
                Inst::Begin { id, operations } => {
                    self.here = *id;
                    self.step(active)?;
                    self.counts.operations += operations.times(active.len() as u64);
                }
                Inst::Pure(op) => self.registers.evaluate(op, active)?,
                Inst::Forget { local } => self.registers.forget(*local, active),
                Inst::Set { dest, a } => {
                    let a = self.registers.column(*a);
                    self.write(*dest, 1, active, |t, _| a.get(t))?;
                }
                Inst::Load { space, index, lanes, dest } => self.load(*space, *index, *lanes, *dest, active)?,
                Inst::Store { space, index, values } => self.store(*space, *index, values, active)?,
                Inst::Shuffle { dest, a, from } => self.shuffle(*dest, *a, *from, active)?,
                Inst::Ballot { dest, a } => self.ballot(*dest, *a, active)?,
                Inst::Copy { shared, at, global, index, lanes, valid } => {
                    self.copy((*shared, *at), (*global, *index), *lanes, *valid, active)?;
                }
                Inst::Commit => each!(active, t => { self.copies[t as usize].groups += 1 }),
                Inst::Wait(n) => self.wait(*n, active),
                Inst::SyncWarp => self.sync_warp(active)?,
                Inst::Barrier => {
                    if active.len() != self.threads as usize {
                        let kind = FaultKind::DivergentBarrier { active: active.len(), threads: self.threads as usize };
                        return Err(Box::new((kind, active.first())));
                    }
                    self.epoch.now += 1;
                    self.counts.barriers += 1;
                }
                Inst::WaitLaunches => each!(active, t => { self.waited[t as usize] = true }),
                Inst::AllowLaunch => {}
                Inst::If { cond, then, otherwise } => {
                    let column = self.registers.column(*cond);
                    if cond.is_uniform() {
                        let branch = if column.get(0) != 0 { then } else { otherwise };
                        self.body(branch, active)?;
                        continue;
                    }
                    let (yes, no) = active.split(|t| column.get(t) != 0);
                    for (active, branch) in [(yes, then), (no, otherwise)] {
                        if let Some(active) = active {
                            self.body(branch, &active)?;
                        }
                    }
                }
                Inst::For { .. } => self.for_(inst, active)?,
                Inst::While { test, cond, body } => {
                    let mut active = Some(active.clone());
                    while let Some(now) = &active {
                        self.body(test, now)?;
                        let column = self.registers.column(*cond);
                        active = now.split(|t| column.get(t) != 0).0;
                        if let Some(now) = &active {
                            self.body(body, now)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn for_(&mut self, inst: &Inst, active: &Active) -> Result<(), Stop> {
        let Inst::For { id, var, scalar, from, to, step, each, body } = inst else { return Ok(()) };
        let registers = &self.registers;
        let column = registers.column(*step);
        each!(active, t => {
            if column.get(t) as i64 <= 0 {
                return Err(Box::new((FaultKind::LoopStep(column.get(t) as i64), t)));
            }
        });
        let start = registers.column(*from);
        let value = registers.column(*var);
        each!(active, t => { value.set(t, start.get(t)) });
        let mut active = active.clone();
        loop {
            let (value, end) = (self.registers.column(*var), self.registers.column(*to));
            let runs = |t| (value.get(t) as i64) < end.get(t) as i64;
            if var.is_uniform() && to.is_uniform() {
                if !runs(0) {
                    return Ok(());
                }
            } else {
                match active.split(runs).0 {
                    Some(now) => active = now,
                    None => return Ok(()),
                }
            }
            self.here = *id;
            self.step(&active)?;
            self.counts.operations += each.times(active.len() as u64);
            self.body(body, &active)?;
            self.here = *id;
            let (value, step) = (self.registers.column(*var), self.registers.column(*step));
            let advance = |t: u32| {
                let next = (value.get(t) as i64).checked_add(step.get(t) as i64).filter(|next| scalar.holds(*next));
                next.map(|next| next as u64).ok_or_else(|| Box::new((FaultKind::LoopOverflow, t)))
            };
            if var.is_uniform() {
                value.set(0, advance(active.first())?);
            } else {
                each!(&active, t => { value.set(t, advance(t)?) });
            }
        }
    }

    /// Writes `lanes` elements for every active thread.
    fn write(&self, dest: Dest, lanes: u32, active: &Active, value: impl Fn(u32, u32) -> u64) -> Result<(), Stop> {
        let Dest { place, index } = dest;
        let index = index.map(|slot| self.registers.column(slot));
        // The index may itself be in the written array, so it is read before anything is set.
        let mut firsts = Vec::new();
        if let Some(index) = index {
            each!(active, t => {
                let index = index.get(t) as i64;
                if index < 0 || index + i64::from(lanes) > i64::from(place.len) {
                    let (array, len) = (self.registers.names.local(place.local), place.len as usize);
                    return Err(Box::new((FaultKind::OutOfBounds { array, index, lanes, len }, t)));
                }
                firsts.push(index as u32);
            });
        }
        let uniform = firsts.first().is_none_or(|first| firsts.iter().all(|f| f == first));
        for lane in 0..lanes {
            if uniform {
                let element = firsts.first().copied().unwrap_or(place.first) + lane;
                let column = self.registers.column(place.base.plus(element));
                each!(active, t => {
                    column.set(t, value(t, lane));
                    if place.tracked {
                        self.registers.mark(place.local, element, t);
                    }
                });
                continue;
            }
            let mut first = firsts.iter();
            each!(active, t => {
                let element = first.next().map_or(0, |f| f + lane);
                self.registers.column(place.base.plus(element)).set(t, value(t, lane));
                if place.tracked {
                    self.registers.mark(place.local, element, t);
                }
            });
        }
        Ok(())
    }

    /// Checks an access to global memory: threads that have not waited for earlier launches may only read settled
    /// arrays.
    fn touch(&self, array: ParamId, writes: bool, active: &Active) -> Result<(), Stop> {
        if self.waits && (writes || !self.place.kernel.settled.contains(&array)) {
            each!(active, t => {
                if !self.waited[t as usize] {
                    let array = self.registers.names.param(array);
                    return Err(Box::new((FaultKind::NotWaited { array, writes }, t)));
                }
            });
        }
        Ok(())
    }

    fn load(&mut self, space: Space, index: Slot, lanes: u32, dest: Dest, active: &Active) -> Result<(), Stop> {
        let index = self.registers.column(index);
        let request =
            Request { active, index, lanes, extent: None, warp: self.place.kernel.warp, statement: self.here };
        match space {
            Space::Global(p) => {
                self.touch(p, false, active)?;
                let array = self.arrays[p.0 as usize].as_mut().expect("arguments have been checked");
                array.load(request, self.first, &self.place, &mut self.counts.global_loads)?;
            }
            Space::Shared(s) => {
                let array = &mut self.shared[s.0 as usize];
                array.load(request, &self.epoch, &self.place, &mut self.counts.shared_loads)?;
            }
        }
        // The destination may be the index, so every thread's index is read before anything is set.
        let mut indices = std::mem::take(&mut self.indices);
        indices.resize(self.threads as usize, 0);
        each!(active, t => { indices[t as usize] = request.index.get(t) });
        let values = match space {
            Space::Global(p) => &self.arrays[p.0 as usize].as_ref().expect("arguments have been checked").buffer.values,
            Space::Shared(s) => &self.shared[s.0 as usize].values,
        };
        let result = self.write(dest, lanes, active, |t, lane| values[indices[t as usize] as usize + lane as usize]);
        self.indices = indices;
        result
    }

    fn store(&mut self, space: Space, index: Slot, values: &[Slot], active: &Active) -> Result<(), Stop> {
        let index = self.registers.column(index);
        let lanes = values.len() as u32;
        let request =
            Request { active, index, lanes, extent: None, warp: self.place.kernel.warp, statement: self.here };
        let cells = match space {
            Space::Global(p) => {
                self.touch(p, true, active)?;
                let array = self.arrays[p.0 as usize].as_mut().expect("arguments have been checked");
                array.store(request, self.first, &self.place, &mut self.counts.global_stores)?;
                &mut array.buffer.values
            }
            Space::Shared(s) => {
                let array = &mut self.shared[s.0 as usize];
                array.store(request, &self.epoch, &self.place, &mut self.counts.shared_stores)?;
                &mut array.values
            }
        };
        for (lane, value) in values.iter().enumerate() {
            let value = self.registers.column(*value);
            each!(active, t => { cells[index.get(t) as usize + lane] = value.get(t) });
        }
        Ok(())
    }

    /// The values arrive at once; the shadow of the cells tracks whether they were waited for.
    fn copy(
        &mut self,
        (shared, at): (SharedId, Slot),
        (global, index): (ParamId, Slot),
        lanes: u32,
        valid: Slot,
        active: &Active,
    ) -> Result<(), Stop> {
        let [at, index, valid] = [at, index, valid].map(|slot| self.registers.column(slot));
        each!(active, t => {
            let valid = valid.get(t) as i64;
            if !(0..=i64::from(lanes)).contains(&valid) {
                return Err(Box::new((FaultKind::CopyExtent { valid, lanes }, t)));
            }
        });
        self.touch(global, false, active)?;
        let from = self.arrays[global.0 as usize].as_mut().expect("arguments have been checked");
        let (reading, _) = active.split(|t| valid.get(t) != 0);
        if let Some(reading) = &reading {
            let request = Request {
                active: reading,
                index,
                lanes,
                extent: Some(valid),
                warp: self.place.kernel.warp,
                statement: self.here,
            };
            from.load(request, self.first, &self.place, &mut self.counts.global_loads)?;
        }
        let to = &mut self.shared[shared.0 as usize];
        let request =
            Request { active, index: at, lanes, extent: None, warp: self.place.kernel.warp, statement: self.here };
        to.copy(request, &self.epoch, &self.place, &mut self.counts.shared_stores)?;
        each!(active, t => {
            let (first, source) = (at.get(t) as usize, index.get(t) as usize);
            for i in 0..lanes as usize {
                // Zero has zero bits in every type.
                let value = if i < valid.get(t) as usize { from.buffer.values[source + i] } else { 0 };
                to.values[first + i] = value;
            }
            let copies = &mut self.copies[t as usize];
            copies.under_way.push_back((copies.groups, shared, Cells { first: first as u32, lanes, statement: self.here }));
        });
        Ok(())
    }

    /// Completes the copies of all closed groups but the latest `n`.
    fn wait(&mut self, n: u32, active: &Active) {
        each!(active, t => {
            let copies = &mut self.copies[t as usize];
            let end = copies.groups.saturating_sub(n);
            while let Some(&(_, shared, cells)) = copies.under_way.front().filter(|copy| copy.0 < end) {
                self.shared[shared.0 as usize].land(cells, t, &self.epoch);
                copies.under_way.pop_front();
            }
        });
    }

    fn sync_warp(&mut self, active: &Active) -> Result<(), Stop> {
        let all = self.place.kernel.warp;
        active.warps(all, |lanes| {
            let warp = self.epoch.warp_of(lanes[0]);
            self.epoch.syncs[warp] += 1;
            self.counts.warp_syncs += 1;
            if lanes.len() == all as usize {
                return Ok(());
            }
            Err(Box::new((FaultKind::DivergentSync { warp, active: lanes.len(), lanes: all }, lanes[0])))
        })
    }

    fn ballot(&mut self, dest: Dest, a: Slot, active: &Active) -> Result<(), Stop> {
        let all = self.place.kernel.warp;
        let a = self.registers.column(a);
        // By warp of the block.
        let mut bits = vec![0u64; self.epoch.syncs.len()];
        active.warps(all, |lanes| {
            self.counts.shuffles += 1;
            let warp = self.epoch.warp_of(lanes[0]);
            if lanes.len() != all as usize {
                let kind = FaultKind::DivergentBallot { warp, active: lanes.len(), lanes: all };
                return Err(Box::new((kind, lanes[0])));
            }
            bits[warp] = lanes.iter().map(|t| u64::from(a.get(*t) != 0) << (t % all)).sum();
            Ok(())
        })?;
        self.write(dest, 1, active, |t, _| bits[self.epoch.warp_of(t)])
    }

    fn shuffle(&mut self, dest: Dest, a: Slot, from: From, active: &Active) -> Result<(), Stop> {
        let all = self.place.kernel.warp;
        active.warps(all, |lanes| {
            self.counts.shuffles += 1;
            if lanes.len() == all as usize {
                return Ok(());
            }
            let warp = self.epoch.warp_of(lanes[0]);
            let kind = FaultKind::DivergentShuffle { warp, active: lanes.len(), lanes: all };
            Err(Box::new((kind, lanes[0])))
        })?;
        let mut offers = std::mem::take(&mut self.indices);
        offers.resize(self.threads as usize, 0);
        let a = self.registers.column(a);
        each!(active, t => { offers[t as usize] = a.get(t) });
        let index = match from {
            From::Index(slot) => Some(self.registers.column(slot)),
            _ => None,
        };
        // The destination may be the lane index.
        let mut sources = vec![0; self.threads as usize];
        each!(active, t => {
            let lane = t % all;
            let source = match from {
                From::Up(n) => lane.checked_sub(n),
                From::Down(n) => Some(lane + n).filter(|l| *l < all),
                From::Xor(n) => Some(lane ^ n),
                From::Index(_) => index.map(|i| i.get(t) as u32 % all),
            };
            sources[t as usize] = t - lane + source.unwrap_or(lane);
        });
        let result = self.write(dest, 1, active, |t, _| offers[sources[t as usize] as usize]);
        self.indices = offers;
        result
    }
}
