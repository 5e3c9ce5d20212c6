//! Arrays in memory, with their shadow: for each element who touched it and when. And the counting of traffic.

use super::buffer::Buffer;
use super::count::{GlobalTraffic, SharedTraffic};
use super::fault::{FaultKind, Rival};
use super::pure::{Active, Column, Stop, each};
use crate::ir::path::StmtId;
use crate::ir::{Access, Scalar};

/// Bytes of the unit in which global memory moves.
const SECTOR: u64 = 32;

/// Another access, as the shadow remembers it: statement, and number of the thread in the block or the launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Other {
    pub(super) writes: bool,
    pub(super) statement: StmtId,
    pub(super) thread: u32,
}

/// The kernel's view of a shadow: turns what it remembers into words.
pub(super) trait Witness {
    /// An access by a thread of this block.
    fn in_block(&self, other: Other) -> Rival;
    /// An access by a thread of this launch.
    fn in_launch(&self, other: Other) -> Rival;
}

/// An access that all active threads make: element `index` of each thread, and the `lanes` − 1 after it.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) active: &'a Active,
    pub(super) index: Column<'a>,
    pub(super) lanes: u32,
    pub(super) statement: StmtId,
}

impl Request<'_> {
    fn index(&self, t: u32) -> i64 {
        self.index.get(t) as i64
    }

    /// Checks bounds, and the alignment of wide accesses, for an array that begins `offset` elements past an aligned address.
    fn check(&self, name: &str, scalar: Scalar, len: usize, offset: usize) -> Result<(), Stop> {
        self.check_extent(name, scalar, len, offset, |_| self.lanes)
    }

    /// The same for accesses as wide, of which each thread touches only the first few elements, at least one.
    fn check_extent(
        &self,
        name: &str,
        scalar: Scalar,
        len: usize,
        offset: usize,
        extent: impl Fn(u32) -> u32,
    ) -> Result<(), Stop> {
        let lanes = i64::from(self.lanes);
        each!(self.active, t => {
            let index = self.index(t);
            if index < 0 || index > len as i64 - i64::from(extent(t)) {
                let kind = FaultKind::OutOfBounds { array: name.into(), index, lanes: extent(t), len };
                return Err(Box::new((kind, t)));
            }
            if lanes > 1 && (index + offset as i64) % lanes != 0 {
                let element = scalar.bytes() as u64;
                let address = (index as u64 + offset as u64) * element;
                let kind = FaultKind::Misaligned {
                    array: name.into(),
                    index,
                    lanes: self.lanes,
                    address,
                    bytes: element * lanes as u64,
                };
                return Err(Box::new((kind, t)));
            }
        });
        Ok(())
    }
}

/// Who touched an element of global memory in this launch. Threads are numbered over the launch, from 1; 0 is nobody.
#[derive(Clone, Copy, Default)]
struct GlobalShadow {
    writer: u32,
    written_in: StmtId,
    reader: u32,
    read_in: StmtId,
    /// A reader other than the first, if there was one.
    reader2: u32,
    read2_in: StmtId,
}

/// One bit a sector.
struct Sectors(Vec<u64>);

impl Sectors {
    /// Whether the sector was not there before.
    fn insert(&mut self, sector: u64) -> bool {
        let (word, bit) = (&mut self.0[sector as usize / 64], 1 << (sector % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}

/// The array of a pointer parameter.
pub(super) struct GlobalArray {
    pub(super) buffer: Buffer,
    name: String,
    /// Kept only for arrays that may be written.
    shadow: Vec<GlobalShadow>,
    loaded: Sectors,
    stored: Sectors,
}

impl GlobalArray {
    pub(super) fn new(buffer: Buffer, name: &str, access: Access) -> GlobalArray {
        let sectors = || {
            let bytes = (buffer.len() + buffer.offset) as u64 * buffer.scalar.bytes() as u64;
            Sectors(vec![0; bytes.div_ceil(SECTOR).div_ceil(64) as usize])
        };
        let shadowed = if access == Access::Read { 0 } else { buffer.len() };
        let (loaded, stored) = (sectors(), sectors());
        GlobalArray { buffer, name: name.into(), shadow: vec![GlobalShadow::default(); shadowed], loaded, stored }
    }

    fn count(&mut self, request: Request, write: bool, traffic: &mut GlobalTraffic) {
        let (element, offset) = (self.buffer.scalar.bytes() as u64, self.buffer.offset as u64);
        let touched = if write { &mut self.stored } else { &mut self.loaded };
        request.active.warps(|lanes| {
            traffic.requests += 1;
            // No lane touches more than one sector: accesses of up to 16 bytes are aligned to their size.
            let mut seen = [0u64; 32];
            let mut n = 0;
            for &t in lanes {
                let sector = (request.index(t) as u64 + offset) * element / SECTOR;
                if !seen[..n].iter().rev().any(|s| *s == sector) {
                    seen[n] = sector;
                    n += 1;
                    traffic.unique_sectors += u64::from(touched.insert(sector));
                }
            }
            traffic.transactions += n as u64;
        });
        let elements = request.active.len() as u64 * u64::from(request.lanes);
        traffic.elements += elements;
        traffic.bytes += elements * element;
    }

    /// Checks and counts the reading side of an asynchronous copy; `valid` is the number of elements that each active thread reads, at least one.
    pub(super) fn copy(&mut self, request: Request, valid: Column, traffic: &mut GlobalTraffic) -> Result<(), Stop> {
        let (scalar, offset) = (self.buffer.scalar, self.buffer.offset);
        request.check_extent(&self.name, scalar, self.buffer.len(), offset, |t| valid.get(t) as u32)?;
        self.count(Request { lanes: 0, ..request }, false, traffic);
        each!(request.active, t => {
            traffic.elements += valid.get(t);
            traffic.bytes += valid.get(t) * scalar.bytes() as u64;
            let from = request.index(t);
            if let Some(i) = (from..from + valid.get(t) as i64).find(|i| !self.buffer.is_element_defined(*i as usize)) {
                let kind = FaultKind::Uninitialised { name: self.name.clone(), index: Some(i) };
                return Err(Box::new((kind, t)));
            }
        });
        Ok(())
    }

    /// Checks and counts a load; `first` is the number of the block's first thread in the launch.
    pub(super) fn load(
        &mut self,
        request: Request,
        first: u32,
        witness: &impl Witness,
        traffic: &mut GlobalTraffic,
    ) -> Result<(), Stop> {
        request.check(&self.name, self.buffer.scalar, self.buffer.len(), self.buffer.offset)?;
        self.count(request, false, traffic);
        if self.buffer.defined.is_some() {
            each!(request.active, t => {
                let from = request.index(t);
                let undefined = |i: &i64| !self.buffer.is_element_defined(*i as usize);
                if let Some(i) = (from..from + i64::from(request.lanes)).find(undefined) {
                    let kind = FaultKind::Uninitialised { name: self.name.clone(), index: Some(i) };
                    return Err(Box::new((kind, t)));
                }
            });
        }
        if self.shadow.is_empty() {
            return Ok(());
        }
        let statement = request.statement;
        each!(request.active, t => {
            let me = first + t + 1;
            for i in request.index(t)..request.index(t) + i64::from(request.lanes) {
                let cell = &mut self.shadow[i as usize];
                if cell.writer != 0 && cell.writer != me {
                    let other = Other { writes: true, statement: cell.written_in, thread: cell.writer - 1 };
                    let (array, other) = (self.name.clone(), witness.in_launch(other));
                    return Err(Box::new((FaultKind::GlobalRace { array, index: i, writes: false, other }, t)));
                }
                if cell.reader == 0 {
                    (cell.reader, cell.read_in) = (me, statement);
                } else if cell.reader != me && cell.reader2 == 0 {
                    (cell.reader2, cell.read2_in) = (me, statement);
                }
            }
        });
        Ok(())
    }

    /// Checks and counts a store.
    pub(super) fn store(
        &mut self,
        request: Request,
        first: u32,
        witness: &impl Witness,
        traffic: &mut GlobalTraffic,
    ) -> Result<(), Stop> {
        request.check(&self.name, self.buffer.scalar, self.buffer.len(), self.buffer.offset)?;
        self.count(request, true, traffic);
        let statement = request.statement;
        each!(request.active, t => {
            let me = first + t + 1;
            for i in request.index(t)..request.index(t) + i64::from(request.lanes) {
                let cell = &mut self.shadow[i as usize];
                let rival = [
                    (true, cell.writer, cell.written_in),
                    (false, cell.reader, cell.read_in),
                    (false, cell.reader2, cell.read2_in),
                ];
                if let Some((writes, thread, statement)) = rival.into_iter().find(|r| r.1 != 0 && r.1 != me) {
                    let other = witness.in_launch(Other { writes, statement, thread: thread - 1 });
                    let array = self.name.clone();
                    return Err(Box::new((FaultKind::GlobalRace { array, index: i, writes: true, other }, t)));
                }
                (cell.writer, cell.written_in) = (me, statement);
                if let Some(defined) = &mut self.buffer.defined {
                    defined[i as usize] = true;
                }
            }
        });
        Ok(())
    }
}

/// An access to a shared cell: the thread, the number of its warp's synchronisations before, and the statement.
#[derive(Clone, Copy, Default)]
struct Touch {
    thread: u16,
    sync: u32,
    statement: StmtId,
}

/// Who touched a shared cell, and in which epoch: epochs end at barriers and at the end of a block. Synchronisations of a warp
/// order what its own lanes do within an epoch.
#[derive(Clone, Copy, Default)]
struct SharedShadow {
    write_epoch: u32,
    read_epoch: u32,
    /// The epoch in which an asynchronous copy to the cell was started that nobody has waited for; 0 for none. `write` is the copy.
    flight_epoch: u32,
    write: Touch,
    /// Two lanes (or twice one) of the first warp that read the cell in this epoch, since that warp's last synchronisation before a read.
    reads: [Touch; 2],
    /// A read by another warp; one by the same warp if there was none.
    elsewhere: Touch,
}

impl SharedShadow {
    /// Notes a read in this epoch.
    fn read(&mut self, epoch: u32, touch: Touch) {
        let first = self.reads[0];
        if self.read_epoch != epoch {
            self.read_epoch = epoch;
            (self.reads, self.elsewhere) = ([touch; 2], touch);
        } else if touch.thread / 32 != first.thread / 32 {
            self.elsewhere = touch;
        } else if touch.sync != first.sync {
            self.reads = [touch; 2];
        } else if touch.thread != first.thread && self.reads[1].thread == first.thread {
            self.reads[1] = touch;
        }
    }
}

/// A shared array of the block that runs.
pub(super) struct SharedArray {
    pub(super) values: Vec<u64>,
    name: String,
    scalar: Scalar,
    /// Address of the first element.
    address: u64,
    shadow: Vec<SharedShadow>,
}

/// Now, for shared memory.
#[derive(Clone, Debug)]
pub(super) struct Epoch {
    /// The current epoch.
    pub(super) now: u32,
    /// The first epoch of this block.
    pub(super) block: u32,
    /// By warp: the number of its synchronisations in this block.
    pub(super) syncs: Vec<u32>,
}

impl Epoch {
    fn touch(&self, thread: u32, statement: StmtId) -> Touch {
        Touch { thread: thread as u16, sync: self.syncs[thread as usize / 32], statement }
    }

    /// Whether an earlier access of this epoch is not ordered before one that is made now.
    fn is_concurrent(&self, earlier: Touch, now: Touch) -> bool {
        earlier.thread != now.thread && (earlier.thread / 32 != now.thread / 32 || earlier.sync == now.sync)
    }
}

/// Cells of a shared array that a thread copies to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    pub(super) first: u32,
    pub(super) lanes: u32,
    pub(super) statement: StmtId,
}

impl SharedArray {
    pub(super) fn new(name: &str, scalar: Scalar, len: usize, address: u64) -> SharedArray {
        SharedArray {
            values: vec![0; len],
            name: name.into(),
            scalar,
            address,
            shadow: vec![SharedShadow::default(); len],
        }
    }

    /// Forgets all epochs.
    pub(super) fn reset(&mut self) {
        self.shadow.fill(SharedShadow::default());
    }

    fn count(&self, request: Request, traffic: &mut SharedTraffic) {
        let bytes = u64::from(request.lanes) * self.scalar.bytes() as u64;
        // 8-byte accesses are served half a warp at a time, 16-byte accesses a quarter.
        let group = match bytes {
            0..=4 => 32,
            5..=8 => 16,
            _ => 8,
        };
        let words = bytes.div_ceil(4);
        request.active.warps(|lanes| {
            traffic.requests += 1;
            for lanes in lanes.chunk_by(|a, b| a % 32 / group == b % 32 / group) {
                let word = |t: u32| (self.address + request.index(t) as u64 * self.scalar.bytes() as u64) / 4;
                let passes = wavefronts(lanes.iter().flat_map(|&t| word(t)..word(t) + words));
                traffic.wavefronts += passes;
                traffic.conflicts += passes - 1;
            }
        });
        traffic.bytes += request.active.len() as u64 * bytes;
    }

    /// Checks and counts a load.
    pub(super) fn load(
        &mut self,
        request: Request,
        epoch: &Epoch,
        witness: &impl Witness,
        traffic: &mut SharedTraffic,
    ) -> Result<(), Stop> {
        request.check(&self.name, self.scalar, self.values.len(), 0)?;
        self.count(request, traffic);
        each!(request.active, t => {
            let touch = epoch.touch(t, request.statement);
            for i in request.index(t)..request.index(t) + i64::from(request.lanes) {
                let cell = self.shadow[i as usize];
                self.landed(cell, i, false, t, epoch, witness)?;
                if cell.write_epoch < epoch.block {
                    let kind = FaultKind::Uninitialised { name: self.name.clone(), index: Some(i) };
                    return Err(Box::new((kind, t)));
                }
                if cell.write_epoch == epoch.now && epoch.is_concurrent(cell.write, touch) {
                    return Err(self.race(i, false, (true, cell.write), t, witness));
                }
                self.shadow[i as usize].read(epoch.now, touch);
            }
        });
        Ok(())
    }

    /// Checks and counts a store.
    pub(super) fn store(
        &mut self,
        request: Request,
        epoch: &Epoch,
        witness: &impl Witness,
        traffic: &mut SharedTraffic,
    ) -> Result<(), Stop> {
        request.check(&self.name, self.scalar, self.values.len(), 0)?;
        self.count(request, traffic);
        each!(request.active, t => {
            let touch = epoch.touch(t, request.statement);
            for i in request.index(t)..request.index(t) + i64::from(request.lanes) {
                let cell = self.shadow[i as usize];
                self.landed(cell, i, true, t, epoch, witness)?;
                let (wrote, read) = (cell.write_epoch == epoch.now, cell.read_epoch == epoch.now);
                let rivals = [
                    (wrote, true, cell.write),
                    (read, false, cell.reads[0]),
                    (read, false, cell.reads[1]),
                    (read, false, cell.elsewhere),
                ];
                if let Some(rival) = rivals.into_iter().find(|r| r.0 && epoch.is_concurrent(r.2, touch)) {
                    return Err(self.race(i, true, (rival.1, rival.2), t, witness));
                }
                let cell = &mut self.shadow[i as usize];
                (cell.write_epoch, cell.write) = (epoch.now, touch);
            }
        });
        Ok(())
    }

    /// Checks and counts the writing side of an asynchronous copy: a store whose cells nobody may touch before [`SharedArray::land`].
    pub(super) fn copy(
        &mut self,
        request: Request,
        epoch: &Epoch,
        witness: &impl Witness,
        traffic: &mut SharedTraffic,
    ) -> Result<(), Stop> {
        self.store(request, epoch, witness, traffic)?;
        each!(request.active, t => {
            let first = request.index(t) as usize;
            for cell in &mut self.shadow[first..first + request.lanes as usize] {
                cell.flight_epoch = epoch.now;
            }
        });
        Ok(())
    }

    /// The copy to these cells is done: it is as if the thread wrote them now.
    pub(super) fn land(&mut self, cells: Cells, thread: u32, epoch: &Epoch) {
        let first = cells.first as usize;
        for cell in &mut self.shadow[first..first + cells.lanes as usize] {
            cell.flight_epoch = 0;
            (cell.write_epoch, cell.write) = (epoch.now, epoch.touch(thread, cells.statement));
        }
    }

    /// No copy to the cell is under way.
    fn landed(
        &self,
        cell: SharedShadow,
        index: i64,
        writes: bool,
        thread: u32,
        epoch: &Epoch,
        witness: &impl Witness,
    ) -> Result<(), Stop> {
        // What a block left under way is of no concern to the next.
        if cell.flight_epoch == 0 || cell.flight_epoch < epoch.block {
            return Ok(());
        }
        let other = Other { writes: true, statement: cell.write.statement, thread: cell.write.thread.into() };
        let (array, other) = (self.name.clone(), witness.in_block(other));
        Err(Box::new((FaultKind::InFlight { array, index, writes, other }, thread)))
    }

    fn race(&self, index: i64, writes: bool, rival: (bool, Touch), thread: u32, witness: &impl Witness) -> Stop {
        let (other_writes, touch) = rival;
        let other = Other { writes: other_writes, statement: touch.statement, thread: touch.thread.into() };
        let (array, other) = (self.name.clone(), witness.in_block(other));
        Box::new((FaultKind::SharedRace { array, index, writes, other }, thread))
    }
}

/// Passes over the banks that it takes to serve these 4-byte words: as many as the most wanted bank has different words.
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
