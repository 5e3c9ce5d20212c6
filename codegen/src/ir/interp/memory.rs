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
        let lanes = i64::from(self.lanes);
        each!(self.active, t => {
            let index = self.index(t);
            if index < 0 || index > len as i64 - lanes {
                let kind = FaultKind::OutOfBounds { array: name.into(), index, lanes: self.lanes, len };
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
        if let Some(defined) = &self.buffer.defined {
            each!(request.active, t => {
                let from = request.index(t);
                if let Some(i) = (from..from + i64::from(request.lanes)).find(|i| !defined[*i as usize]) {
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

/// Who touched a shared cell, and in which epoch: epochs end at barriers and at the end of a block.
#[derive(Clone, Copy, Default)]
struct SharedShadow {
    write_epoch: u32,
    read_epoch: u32,
    writer: u16,
    reader: u16,
    /// A reader other than `reader`; the same if there was none.
    reader2: u16,
    written_in: StmtId,
    read_in: StmtId,
    read2_in: StmtId,
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

/// Now, for shared memory: the current epoch, and the first of this block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    pub(super) now: u32,
    pub(super) block: u32,
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
        epoch: Epoch,
        witness: &impl Witness,
        traffic: &mut SharedTraffic,
    ) -> Result<(), Stop> {
        request.check(&self.name, self.scalar, self.values.len(), 0)?;
        self.count(request, traffic);
        let statement = request.statement;
        each!(request.active, t => {
            let me = t as u16;
            for i in request.index(t)..request.index(t) + i64::from(request.lanes) {
                let cell = &mut self.shadow[i as usize];
                if cell.write_epoch < epoch.block {
                    let kind = FaultKind::Uninitialised { name: self.name.clone(), index: Some(i) };
                    return Err(Box::new((kind, t)));
                }
                if cell.write_epoch == epoch.now && cell.writer != me {
                    let other = Other { writes: true, statement: cell.written_in, thread: cell.writer.into() };
                    let (array, other) = (self.name.clone(), witness.in_block(other));
                    return Err(Box::new((FaultKind::SharedRace { array, index: i, writes: false, other }, t)));
                }
                if cell.read_epoch != epoch.now {
                    cell.read_epoch = epoch.now;
                    (cell.reader, cell.reader2, cell.read_in) = (me, me, statement);
                } else if cell.reader != me && cell.reader2 == cell.reader {
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
        epoch: Epoch,
        witness: &impl Witness,
        traffic: &mut SharedTraffic,
    ) -> Result<(), Stop> {
        request.check(&self.name, self.scalar, self.values.len(), 0)?;
        self.count(request, traffic);
        let statement = request.statement;
        each!(request.active, t => {
            let me = t as u16;
            for i in request.index(t)..request.index(t) + i64::from(request.lanes) {
                let cell = &mut self.shadow[i as usize];
                let (wrote, read) = (cell.write_epoch == epoch.now, cell.read_epoch == epoch.now);
                let rival = [
                    (wrote && cell.writer != me, true, cell.writer, cell.written_in),
                    (read && cell.reader != me, false, cell.reader, cell.read_in),
                    (read && cell.reader2 != me, false, cell.reader2, cell.read2_in),
                ];
                if let Some((_, writes, thread, statement)) = rival.into_iter().find(|r| r.0) {
                    let other = witness.in_block(Other { writes, statement, thread: thread.into() });
                    let array = self.name.clone();
                    return Err(Box::new((FaultKind::SharedRace { array, index: i, writes: true, other }, t)));
                }
                (cell.write_epoch, cell.writer, cell.written_in) = (epoch.now, me, statement);
            }
        });
        Ok(())
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
