//! Shared memory: arrays of the running block.

use super::{Other, Request, Warp, Witness};
use crate::ir::Scalar;
use crate::ir::interp::count::SharedTraffic;
use crate::ir::interp::fault::FaultKind;
use crate::ir::interp::pure::Stop;
use crate::ir::path::StmtId;

/// An access to a shared cell: the thread, the number of its warp's earlier synchronisations, and the statement.
#[derive(Clone, Copy, Default)]
struct Touch {
    thread: u16,
    sync: u32,
    statement: StmtId,
}

/// Accesses to a shared cell, with their epochs. Epochs end at barriers and at the end of a block. Within an epoch,
/// warp synchronisations order the accesses of the warp's own lanes.
#[derive(Clone, Copy, Default)]
struct SharedShadow {
    write_epoch: u32,
    read_epoch: u32,
    /// Epoch of an asynchronous copy to the cell that is still in flight; 0 for none. `write` is the copy.
    flight_epoch: u32,
    write: Touch,
    /// Two lanes (or one twice) of the first warp that read the cell in this epoch, since that warp's last
    /// synchronisation before a read.
    reads: [Touch; 2],
    /// A read by another warp; without one, a read by the same warp.
    elsewhere: Touch,
}

impl SharedShadow {
    /// Records a read in this epoch.
    fn read(&mut self, epoch: &Epoch, touch: Touch) {
        let (first, warp, epoch) = (self.reads[0], |touch: Touch| epoch.warp_of(touch.thread.into()), epoch.now);
        if self.read_epoch != epoch {
            self.read_epoch = epoch;
            (self.reads, self.elsewhere) = ([touch; 2], touch);
        } else if warp(touch) != warp(first) {
            self.elsewhere = touch;
        } else if touch.sync != first.sync {
            self.reads = [touch; 2];
        } else if touch.thread != first.thread && self.reads[1].thread == first.thread {
            self.reads[1] = touch;
        }
    }
}

/// A shared array of the running block.
pub(in crate::ir::interp) struct SharedArray {
    pub(in crate::ir::interp) values: Vec<u64>,
    name: String,
    scalar: Scalar,
    /// Address of the first element.
    address: u64,
    shadow: Vec<SharedShadow>,
}

/// The current point in time, for shared memory.
#[derive(Clone, Debug)]
pub(in crate::ir::interp) struct Epoch {
    /// The current epoch.
    pub(in crate::ir::interp) now: u32,
    /// The first epoch of this block.
    pub(in crate::ir::interp) block: u32,
    /// By warp: the number of its synchronisations in this block.
    pub(in crate::ir::interp) syncs: Vec<u32>,
    /// Lanes of a warp.
    pub(in crate::ir::interp) warp: u32,
}

impl Epoch {
    pub(in crate::ir::interp) fn warp_of(&self, thread: u32) -> usize {
        (thread / self.warp) as usize
    }

    fn touch(&self, thread: u32, statement: StmtId) -> Touch {
        Touch { thread: thread as u16, sync: self.syncs[self.warp_of(thread)], statement }
    }

    /// Whether an earlier access of this epoch is unordered with one made now.
    fn is_concurrent(&self, earlier: Touch, now: Touch) -> bool {
        let warp = |touch: Touch| self.warp_of(touch.thread.into());
        earlier.thread != now.thread && (warp(earlier) != warp(now) || earlier.sync == now.sync)
    }
}

/// Destination cells of a thread's copy in a shared array.
#[derive(Clone, Copy, Debug)]
pub(in crate::ir::interp) struct Cells {
    pub(in crate::ir::interp) first: u32,
    pub(in crate::ir::interp) lanes: u32,
    pub(in crate::ir::interp) statement: StmtId,
}

impl SharedArray {
    pub(in crate::ir::interp) fn new(name: &str, scalar: Scalar, len: usize, address: u64) -> SharedArray {
        SharedArray {
            values: vec![0; len],
            name: name.into(),
            scalar,
            address,
            shadow: vec![SharedShadow::default(); len],
        }
    }

    /// Forgets all epochs.
    pub(in crate::ir::interp) fn reset(&mut self) {
        self.shadow.fill(SharedShadow::default());
    }

    /// Checks and counts a load.
    pub(in crate::ir::interp) fn load(
        &mut self,
        request: Request,
        epoch: &Epoch,
        witness: &impl Witness,
        traffic: &mut SharedTraffic,
    ) -> Result<(), Stop> {
        let SharedArray { values, name, scalar, address, shadow } = self;
        request.warps((name, *scalar, values.len(), 0), |warp| {
            count(&warp, *scalar, *address, traffic);
            for (t, i) in warp.elements() {
                let touch = epoch.touch(t, request.statement);
                let cell = &mut shadow[i];
                cell.landed(epoch).map_err(|rival| in_flight(name, i, false, rival, t, witness))?;
                if cell.write_epoch < epoch.block {
                    let kind = FaultKind::Uninitialised { name: name.clone(), index: Some(i as i64) };
                    return Err(Box::new((kind, t)));
                }
                if cell.write_epoch == epoch.now && epoch.is_concurrent(cell.write, touch) {
                    return Err(race(name, i, false, (true, cell.write), t, witness));
                }
                cell.read(epoch, touch);
            }
            Ok(())
        })
    }

    /// Checks and counts a store.
    pub(in crate::ir::interp) fn store(
        &mut self,
        request: Request,
        epoch: &Epoch,
        witness: &impl Witness,
        traffic: &mut SharedTraffic,
    ) -> Result<(), Stop> {
        self.write(request, epoch, witness, traffic, 0)
    }

    /// Checks and counts the writing side of an asynchronous copy: a store whose cells must not be touched before
    /// [`SharedArray::land`].
    pub(in crate::ir::interp) fn copy(
        &mut self,
        request: Request,
        epoch: &Epoch,
        witness: &impl Witness,
        traffic: &mut SharedTraffic,
    ) -> Result<(), Stop> {
        self.write(request, epoch, witness, traffic, epoch.now)
    }

    fn write(
        &mut self,
        request: Request,
        epoch: &Epoch,
        witness: &impl Witness,
        traffic: &mut SharedTraffic,
        flight_epoch: u32,
    ) -> Result<(), Stop> {
        let SharedArray { values, name, scalar, address, shadow } = self;
        request.warps((name, *scalar, values.len(), 0), |warp| {
            count(&warp, *scalar, *address, traffic);
            for (t, i) in warp.elements() {
                let touch = epoch.touch(t, request.statement);
                let cell = &mut shadow[i];
                cell.landed(epoch).map_err(|rival| in_flight(name, i, true, rival, t, witness))?;
                if let Some(rival) = cell.rival(epoch, touch) {
                    return Err(race(name, i, true, rival, t, witness));
                }
                (cell.write_epoch, cell.write, cell.flight_epoch) = (epoch.now, touch, flight_epoch);
            }
            Ok(())
        })
    }

    /// Completes the copy to these cells, as if the thread wrote them now.
    pub(in crate::ir::interp) fn land(&mut self, cells: Cells, thread: u32, epoch: &Epoch) {
        let first = cells.first as usize;
        for cell in &mut self.shadow[first..first + cells.lanes as usize] {
            cell.flight_epoch = 0;
            (cell.write_epoch, cell.write) = (epoch.now, epoch.touch(thread, cells.statement));
        }
    }
}

impl SharedShadow {
    /// `Ok` if no copy to the cell is in flight; otherwise the copy.
    fn landed(&self, epoch: &Epoch) -> Result<(), Touch> {
        // Copies that an earlier block left in flight do not matter.
        if self.flight_epoch == 0 || self.flight_epoch < epoch.block { Ok(()) } else { Err(self.write) }
    }

    /// An access of this epoch that conflicts with a write now, and whether it writes.
    fn rival(&self, epoch: &Epoch, now: Touch) -> Option<(bool, Touch)> {
        if self.write_epoch == epoch.now && epoch.is_concurrent(self.write, now) {
            return Some((true, self.write));
        }
        if self.read_epoch != epoch.now {
            return None;
        }
        let reads = [self.reads[0], self.reads[1], self.elsewhere];
        reads.into_iter().find(|read| epoch.is_concurrent(*read, now)).map(|read| (false, read))
    }
}

fn in_flight(name: &str, index: usize, writes: bool, copy: Touch, thread: u32, witness: &impl Witness) -> Stop {
    let other = Other { writes: true, statement: copy.statement, thread: copy.thread.into() };
    let (array, other) = (name.to_owned(), witness.in_block(other));
    Box::new((FaultKind::InFlight { array, index: index as i64, writes, other }, thread))
}

fn race(name: &str, index: usize, writes: bool, rival: (bool, Touch), thread: u32, witness: &impl Witness) -> Stop {
    let (other_writes, touch) = rival;
    let other = Other { writes: other_writes, statement: touch.statement, thread: touch.thread.into() };
    let (array, other) = (name.to_owned(), witness.in_block(other));
    Box::new((FaultKind::SharedRace { array, index: index as i64, writes, other }, thread))
}

fn count(warp: &Warp, scalar: Scalar, address: u64, traffic: &mut SharedTraffic) {
    let element = scalar.bytes() as u64;
    let bytes = u64::from(warp.lanes) * element;
    traffic.requests += 1;
    traffic.bytes += warp.threads.len() as u64 * bytes;
    // 8-byte accesses are served half a warp at a time, 16-byte accesses a quarter.
    let group = match bytes {
        0..=4 => 32,
        5..=8 => 16,
        _ => 8,
    };
    let words = bytes.div_ceil(4);
    let mut from = 0;
    for threads in warp.threads.chunk_by(|a, b| a / group == b / group) {
        let first = &warp.first[from..from + threads.len()];
        from += threads.len();
        let word = |i: i64| (address + i as u64 * element) / 4;
        // A group's consecutive elements take at most 128 bytes, so each has its own bank.
        let passes = match warp.consecutive {
            true => 1,
            false => wavefronts(first.iter().flat_map(|&i| word(i)..word(i) + words)),
        };
        traffic.wavefronts += passes;
        traffic.conflicts += passes - 1;
    }
}

/// Passes over the banks for these 4-byte words: the most different words in any one bank.
fn wavefronts(words: impl Iterator<Item = u64> + Clone) -> u64 {
    let (least, most) = words.clone().fold((u64::MAX, 0), |(a, b), w| (a.min(w), b.max(w)));
    if most - least < 32 {
        return 1;
    }
    let mut banks = [[0u64; 32]; 32];
    let mut used = [0usize; 32];
    for word in words {
        let bank = word as usize % 32;
        let seen = &mut banks[bank][..=used[bank].min(31)];
        if !seen[..used[bank]].contains(&word) {
            seen[used[bank]] = word;
            used[bank] += 1;
        }
    }
    used.into_iter().max().unwrap_or(1) as u64
}
