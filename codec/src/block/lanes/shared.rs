//! Shared coders: lanes take turns, one symbol at a time, in blocks with few symbols.

use super::super::arithmetic::{Decoder, Encoder};
use super::{Digits, Engine, Exhausted, Kind, LANES, Set, Table, depth};

/// Lanes in coding order, with their contexts of a kind.
#[inline(always)]
fn turns(
    sharing: u8,
    lanes: Set,
    contexts: &Digits,
    mut each: impl FnMut(usize, usize) -> Result<(), Exhausted>,
) -> Result<(), Exhausted> {
    // Every 2^sharing-th lane from the first one on.
    let first = (0..LANES).step_by(1 << sharing).fold(0, |set, lane| set | 1 << lane);
    for turn in 0..1 << sharing {
        let mut lanes: Set = lanes & first << turn;
        while lanes != 0 {
            let lane = lanes.trailing_zeros();
            let digits = contexts.iter().enumerate();
            each(lane as usize, digits.fold(0, |context, (i, set)| context | ((set >> lane & 1) as usize) << i))?;
            lanes &= lanes - 1;
        }
    }
    Ok(())
}

/// Coding parameters of a plane.
struct Plane<'a> {
    table: &'a Table,
    planes: u32,
    depth: usize,
    sharing: u8,
}

/// Words being written by coders.
pub struct Encoding<'a> {
    plane: Plane<'a>,
    encoder: Encoder,
    words: &'a mut Vec<u16>,
}

impl<'a> Encoding<'a> {
    pub fn new(table: &'a Table, planes: u32, sharing: u8, words: &'a mut Vec<u16>) -> Self {
        let encoder = Encoder::new(LANES >> sharing);
        Encoding { plane: Plane { table, planes, depth: 0, sharing }, encoder, words }
    }

    /// State of each open word, as in [`alone`](super::alone).
    pub fn finish(self) -> Vec<(usize, u16, u32)> {
        *self.words = self.encoder.words;
        let open = self.encoder.coders.iter().filter(|(interval, _)| !interval.is_exhausted());
        open.map(|(interval, place)| (*place, interval.low, interval.room())).collect()
    }
}

impl Engine for Encoding<'_> {
    fn plane(&mut self, plane: u32) {
        self.plane.depth = depth(self.plane.planes, plane);
    }

    fn words(&self) -> usize {
        self.encoder.words.len()
    }

    #[inline(always)]
    fn code<const COUNT: usize>(
        &mut self,
        kind: Kind<COUNT>,
        contexts: &Digits,
        lanes: Set,
        known: Set,
    ) -> Result<Set, Exhausted> {
        let Plane { table, depth, sharing, .. } = self.plane;
        let row = &table.row(depth)[kind.first..kind.first + COUNT];
        turns(sharing, lanes, contexts, |lane, context| {
            self.encoder.code(lane >> sharing, known >> lane & 1 == 1, row[context]);
            Ok(())
        })?;
        Ok(known)
    }
}

/// Words being read by coders.
pub struct Decoding<'a> {
    plane: Plane<'a>,
    decoder: Decoder<'a>,
}

impl<'a> Decoding<'a> {
    pub fn new(table: &'a Table, planes: u32, sharing: u8, words: &'a [u16]) -> Self {
        let decoder = Decoder::new(words, LANES >> sharing);
        Decoding { plane: Plane { table, planes, depth: 0, sharing }, decoder }
    }

    /// Remainder of each open word, as in [`alone`](super::alone).
    pub fn finish(self) -> (usize, Vec<(u16, u32)>) {
        let open = self.decoder.coders.iter().filter(|(interval, _)| !interval.is_exhausted());
        (self.decoder.taken, open.map(|(interval, word)| (word - interval.low, interval.room())).collect())
    }
}

impl Engine for Decoding<'_> {
    fn plane(&mut self, plane: u32) {
        self.plane.depth = depth(self.plane.planes, plane);
    }

    #[inline(always)]
    fn code<const COUNT: usize>(
        &mut self,
        kind: Kind<COUNT>,
        contexts: &Digits,
        lanes: Set,
        _known: Set,
    ) -> Result<Set, Exhausted> {
        let Plane { table, depth, sharing, .. } = self.plane;
        let row = &table.row(depth)[kind.first..kind.first + COUNT];
        let mut ones = 0;
        turns(sharing, lanes, contexts, |lane, context| {
            ones |= Set::from(self.decoder.code(lane >> sharing, row[context])?) << lane;
            Ok(())
        })?;
        Ok(ones)
    }
}
