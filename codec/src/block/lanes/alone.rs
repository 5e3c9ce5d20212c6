//! One coder per lane: intervals (L and S of algorithm 2) as vectors.

use super::vector::Vector;
use super::{CONTEXTS, Digits, Engine, Exhausted, Kind, LANES, Set, Table, depth};

/// Probabilities of 0 in a plane, times 2^9, so that the upper half of a 16-bit product is ⌊S·p / 2^7⌋. Padding lets a
/// vector be loaded from any context on.
type Probabilities = [u16; CONTEXTS + LANES];

/// Intervals of all coders, and the probabilities of the plane.
struct Intervals<'a, V: Vector> {
    proof: V::Proof,
    low: V,
    size: V,
    table: &'a Table,
    planes: u32,
    probabilities: Probabilities,
}

impl<'a, V: Vector> Intervals<'a, V> {
    #[inline(always)]
    fn new(proof: V::Proof, table: &'a Table, planes: u32) -> Self {
        let none = V::splat(proof, 0);
        Intervals { proof, low: none, size: none, table, planes, probabilities: [0; CONTEXTS + LANES] }
    }

    #[inline(always)]
    fn plane(&mut self, plane: u32) {
        let row = self.table.row(depth(self.planes, plane));
        self.probabilities.iter_mut().zip(row).for_each(|(to, &p)| *to = u16::from(p) << 9);
    }

    /// ⌊S·p / 2^7⌋ of all lanes, by their contexts.
    #[inline(always)]
    fn zero<const COUNT: usize>(&self, kind: Kind<COUNT>, contexts: &Digits) -> V {
        let (_, probabilities) = self.probabilities.split_at(kind.first);
        self.size.upper(V::lookup::<COUNT>(self.proof, probabilities, contexts))
    }

    /// Restarts exhausted intervals.
    #[inline(always)]
    fn begin(&mut self, exhausted: Set) {
        self.low = V::splat(self.proof, 0).or_else(exhausted, self.low);
        self.size = V::splat(self.proof, u16::MAX).or_else(exhausted, self.size);
    }

    /// Narrows the intervals to the parts of the symbols.
    #[inline(always)]
    fn narrow(&mut self, zero: V, lanes: Set, ones: Set) {
        let one = zero.plus(V::splat(self.proof, 1));
        let (ones, part) = (ones & lanes, zero.or_else(lanes, self.size));
        self.low = self.low.plus(one).or_else(ones, self.low);
        self.size = self.size.minus(one).or_else(ones, part);
    }
}

/// Calls `with` for each lane of a set, in order.
#[inline(always)]
fn each(mut lanes: Set, mut with: impl FnMut(usize)) {
    while lanes != 0 {
        with(lanes.trailing_zeros() as usize & (LANES - 1));
        lanes &= lanes - 1;
    }
}

/// Words being written by coders.
pub struct Encoding<'a, V: Vector> {
    intervals: Intervals<'a, V>,
    words: &'a mut Vec<u16>,
    places: [u16; LANES],
}

impl<'a, V: Vector> Encoding<'a, V> {
    #[inline(always)]
    pub fn new(proof: V::Proof, table: &'a Table, planes: u32, words: &'a mut Vec<u16>) -> Self {
        Encoding { intervals: Intervals::new(proof, table, planes), words, places: [0; LANES] }
    }

    /// State of each open word: its place, its number so far, and how many more bits it can carry.
    #[inline(always)]
    pub fn finish(self) -> Vec<(usize, u16, u32)> {
        let (low, size) = (self.intervals.low.numbers(), self.intervals.size.numbers());
        let open = (0..LANES).filter(|&lane| size[lane] > 0);
        open.map(|lane| (self.places[lane].into(), low[lane], (u32::from(size[lane]) + 1).ilog2())).collect()
    }
}

impl<V: Vector> Engine for Encoding<'_, V> {
    #[inline(always)]
    fn plane(&mut self, plane: u32) {
        self.intervals.plane(plane);
    }

    #[inline(always)]
    fn words(&self) -> usize {
        self.words.len()
    }

    #[inline(always)]
    fn code<const COUNT: usize>(
        &mut self,
        kind: Kind<COUNT>,
        contexts: &Digits,
        lanes: Set,
        known: Set,
    ) -> Result<Set, Exhausted> {
        let Encoding { intervals, words, places } = self;
        let exhausted = intervals.size.zeros() & lanes;
        if exhausted != 0 {
            intervals.begin(exhausted);
            let mut place = words.len();
            each(exhausted, |lane| {
                places[lane] = place as u16;
                place += 1;
            });
            words.resize(place, 0);
        }
        let zero = intervals.zero(kind, contexts);
        intervals.narrow(zero, lanes, known);
        let full = intervals.size.zeros() & lanes;
        if full != 0 {
            let low = intervals.low.numbers();
            each(full, |lane| words[usize::from(places[lane])] = low[lane]);
        }
        Ok(known)
    }
}

/// Words being read by coders.
pub struct Decoding<'a, V: Vector> {
    intervals: Intervals<'a, V>,
    words: &'a [u16],
    taken: usize,
    /// The word of each coder.
    open: V,
}

impl<'a, V: Vector> Decoding<'a, V> {
    #[inline(always)]
    pub fn new(proof: V::Proof, table: &'a Table, planes: u32, words: &'a [u16]) -> Self {
        let open = V::splat(proof, 0);
        Decoding { intervals: Intervals::new(proof, table, planes), words, taken: 0, open }
    }

    /// Number of words taken, and for each open word its remainder and how many bits that has.
    #[inline(always)]
    pub fn finish(self) -> (usize, Vec<(u16, u32)>) {
        let (left, size) = (self.open.minus(self.intervals.low).numbers(), self.intervals.size.numbers());
        let open = (0..LANES).filter(|&lane| size[lane] > 0);
        (self.taken, open.map(|lane| (left[lane], (u32::from(size[lane]) + 1).ilog2())).collect())
    }
}

impl<V: Vector> Engine for Decoding<'_, V> {
    #[inline(always)]
    fn plane(&mut self, plane: u32) {
        self.intervals.plane(plane);
    }

    #[inline(always)]
    fn code<const COUNT: usize>(
        &mut self,
        kind: Kind<COUNT>,
        contexts: &Digits,
        lanes: Set,
        _known: Set,
    ) -> Result<Set, Exhausted> {
        let exhausted = self.intervals.size.zeros() & lanes;
        if exhausted != 0 {
            let count = exhausted.count_ones() as usize;
            let next = self.words[self.taken..].get(..count).ok_or(Exhausted)?;
            self.open = self.open.fill(exhausted, next);
            self.taken += count;
            self.intervals.begin(exhausted);
        }
        let zero = self.intervals.zero(kind, contexts);
        let ones = self.open.minus(self.intervals.low).above(zero);
        self.intervals.narrow(zero, lanes, ones);
        Ok(ones)
    }
}
