//! Global memory: the arrays of pointer parameters.

use super::{Other, Request, Warp, Witness};
use crate::ir::interp::buffer::Buffer;
use crate::ir::interp::count::GlobalTraffic;
use crate::ir::interp::fault::FaultKind;
use crate::ir::interp::pure::Stop;
use crate::ir::path::StmtId;
use crate::ir::{Access, MAX_WARP};

/// Unit of global memory traffic, in bytes.
const SECTOR: u64 = 32;

/// Accesses to an element of global memory in this launch. Threads are numbered over the launch, from 1; 0 means none.
#[derive(Clone, Copy, Default)]
struct GlobalShadow {
    writer: u32,
    written_in: StmtId,
    reader: u32,
    read_in: StmtId,
    /// A second reader, if there is one.
    reader2: u32,
    read2_in: StmtId,
}

/// One bit per sector.
struct Sectors(Vec<u64>);

impl Sectors {
    /// Adds a sector; returns whether it is new.
    fn insert(&mut self, sector: u64) -> bool {
        let (word, bit) = (&mut self.0[sector as usize / 64], 1 << (sector % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}

/// The array of a pointer parameter.
pub(in crate::ir::interp) struct GlobalArray {
    pub(in crate::ir::interp) buffer: Buffer,
    name: String,
    /// Only kept for arrays that may be written.
    shadow: Vec<GlobalShadow>,
    loaded: Sectors,
    stored: Sectors,
}

impl GlobalArray {
    pub(in crate::ir::interp) fn new(buffer: Buffer, name: &str, access: Access) -> GlobalArray {
        let sectors = || {
            let bytes = (buffer.len() + buffer.offset) as u64 * buffer.scalar.bytes() as u64;
            Sectors(vec![0; bytes.div_ceil(SECTOR).div_ceil(64) as usize])
        };
        let shadowed = if access == Access::Read { 0 } else { buffer.len() };
        let (loaded, stored) = (sectors(), sectors());
        GlobalArray { buffer, name: name.into(), shadow: vec![GlobalShadow::default(); shadowed], loaded, stored }
    }

    /// Checks and counts a load; `first` is the number of the block's first thread in the launch.
    pub(in crate::ir::interp) fn load(
        &mut self,
        request: Request,
        first: u32,
        witness: &impl Witness,
        traffic: &mut GlobalTraffic,
    ) -> Result<(), Stop> {
        let GlobalArray { buffer, name, shadow, loaded, .. } = self;
        let array = (name.as_str(), buffer.scalar, buffer.len(), buffer.offset);
        request.warps(array, |warp| {
            count(&warp, buffer, loaded, traffic);
            if buffer.defined.is_some()
                && let Some((t, i)) = warp.elements().find(|(_, i)| !buffer.is_element_defined(*i))
            {
                let kind = FaultKind::Uninitialised { name: name.clone(), index: Some(i as i64) };
                return Err(Box::new((kind, t)));
            }
            if shadow.is_empty() {
                return Ok(());
            }
            for (t, i) in warp.elements() {
                let me = first + t + 1;
                let cell = &mut shadow[i];
                if cell.writer != 0 && cell.writer != me {
                    let other = Other { writes: true, statement: cell.written_in, thread: cell.writer - 1 };
                    let (array, index, other) = (name.clone(), i as i64, witness.in_launch(other));
                    return Err(Box::new((FaultKind::GlobalRace { array, index, writes: false, other }, t)));
                }
                if cell.reader == 0 {
                    (cell.reader, cell.read_in) = (me, request.statement);
                } else if cell.reader != me && cell.reader2 == 0 {
                    (cell.reader2, cell.read2_in) = (me, request.statement);
                }
            }
            Ok(())
        })
    }

    /// Checks and counts a store.
    pub(in crate::ir::interp) fn store(
        &mut self,
        request: Request,
        first: u32,
        witness: &impl Witness,
        traffic: &mut GlobalTraffic,
    ) -> Result<(), Stop> {
        let GlobalArray { buffer, name, shadow, stored, .. } = self;
        let array = (name.as_str(), buffer.scalar, buffer.len(), buffer.offset);
        request.warps(array, |warp| {
            count(&warp, buffer, stored, traffic);
            for (t, i) in warp.elements() {
                let me = first + t + 1;
                let cell = &mut shadow[i];
                if let Some(other) = cell.rival(me) {
                    let (array, index, other) = (name.clone(), i as i64, witness.in_launch(other));
                    return Err(Box::new((FaultKind::GlobalRace { array, index, writes: true, other }, t)));
                }
                (cell.writer, cell.written_in) = (me, request.statement);
                if let Some(defined) = &mut buffer.defined {
                    defined[i] = true;
                }
            }
            Ok(())
        })
    }
}

impl GlobalShadow {
    /// An access by another thread than `me`.
    fn rival(&self, me: u32) -> Option<Other> {
        let alien = |thread: u32| thread != 0 && thread != me;
        let (writes, thread, statement) = if alien(self.writer) {
            (true, self.writer, self.written_in)
        } else if alien(self.reader) {
            (false, self.reader, self.read_in)
        } else if alien(self.reader2) {
            (false, self.reader2, self.read2_in)
        } else {
            return None;
        };
        Some(Other { writes, statement, thread: thread - 1 })
    }
}

fn count(warp: &Warp, buffer: &Buffer, touched: &mut Sectors, traffic: &mut GlobalTraffic) {
    let (element, offset) = (buffer.scalar.bytes() as u64, buffer.offset as u64);
    let sector = |first: i64| (first as u64 + offset) * element / SECTOR;
    let elements = warp.extent.iter().sum::<i64>() as u64;
    traffic.requests += 1;
    traffic.elements += elements;
    traffic.bytes += elements * element;
    // No thread touches more than one sector, since accesses of up to 16 bytes are aligned to their size.
    if warp.consecutive {
        let sectors = sector(warp.first[0])..=sector(warp.first[warp.first.len() - 1]);
        traffic.transactions += sectors.end() - sectors.start() + 1;
        sectors.for_each(|s| traffic.unique_sectors += u64::from(touched.insert(s)));
        return;
    }
    let mut seen = [0u64; MAX_WARP as usize];
    let mut n = 0;
    for &first in warp.first {
        let sector = sector(first);
        if !seen[..n].iter().rev().any(|s| *s == sector) {
            seen[n] = sector;
            n += 1;
            traffic.unique_sectors += u64::from(touched.insert(sector));
        }
    }
    traffic.transactions += n as u64;
}
