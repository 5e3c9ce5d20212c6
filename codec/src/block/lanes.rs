//! The coder again, 32 lanes at once: what is done to a lane of a step is done to all of them, by operations on arrays
//! that compilers make vectors of. The words are those of the definition ([`scan`](super::scan)), bit for bit.
//!
//! Magnitudes have 16 bits here; blocks of more planes, and words that end early, are left to the definition.

use super::arithmetic::Exhausted;
use super::encode::{Counts, depth};
use super::raw::Reader;
use super::{BlockError, CONTEXTS, DEPTHS, Decoded, Direction, Encoded, MAX_SIDE, Mode, Passes, Shape};
use crate::tables::Table;

/// Most planes of a block that is coded here.
pub const MOST_PLANES: u32 = 16;

const LANES: usize = MAX_SIDE / 2;

/// A number, or a mask of zeros or ones, for each lane.
type All = [u16; LANES];

/// A number for each lane, and 0 on either side.
type Bordered = [u16; LANES + 2];

const NONE: All = [0; LANES];

/// Contexts of one kind: the first one, and how many there are.
#[derive(Clone, Copy)]
struct Kind<const COUNT: usize> {
    first: usize,
}

const SIGNIFICANCE: Kind<9> = Kind { first: 0 };
const PROPAGATION: Kind<9> = Kind { first: 9 };
const CLEANUP: Kind<9> = Kind { first: 18 };
const SIGN: Kind<5> = Kind { first: 27 };
const REFINEMENT: Kind<2> = Kind { first: 32 };

/// What is done with the symbols of a step: those of the lanes in a mask, in contexts of a kind.
trait Engine {
    /// Begins a plane.
    fn plane(&mut self, plane: u32);

    /// Codes them; gives their symbols back as a mask.
    fn code<const COUNT: usize>(
        &mut self,
        kind: Kind<COUNT>,
        contexts: &All,
        lanes: &All,
        known: &All,
    ) -> Result<All, Exhausted>;
}

#[inline(always)]
fn mask(set: bool) -> u16 {
    if set { u16::MAX } else { 0 }
}

#[inline(always)]
fn each(f: impl Fn(usize) -> u16) -> All {
    let mut all = NONE;
    for (lane, value) in all.iter_mut().enumerate() {
        *value = f(lane);
    }
    all
}

#[inline(always)]
fn any(all: &All) -> bool {
    all.iter().fold(0, |any, x| any | x) != 0
}

/// The two columns of all lanes.
#[derive(Clone, Copy)]
struct Row<T>([T; 2]);

/// The rows above, at and below row `y` of a map with a border.
#[inline(always)]
fn around(map: &[Row<Bordered>], y: usize) -> (&[Bordered; 2], &[Bordered; 2], &[Bordered; 2]) {
    let map = &map[y..y + 3];
    (&map[0].0, &map[1].0, &map[2].0)
}

/// Coefficients and what is known of them, a row of lanes together.
struct Block {
    shape: Shape,
    magnitudes: Vec<Row<All>>,
    negative: Vec<Row<All>>,
    /// Significant before this plane.
    refined: Vec<Row<All>>,
    /// Visited by propagation.
    coded: Vec<Row<All>>,
    /// 1 where significant; a row before the first and behind the last.
    significant: Vec<Row<Bordered>>,
    /// 1 and −1 where significant, as 16 bits.
    signs: Vec<Row<Bordered>>,
    /// Columns that there are.
    valid: [All; 2],
}

impl Block {
    fn new(shape: Shape) -> Block {
        let Shape { height, width, passes, .. } = shape;
        let rows = || vec![Row([NONE; 2]); height];
        let bordered = || vec![Row([[0; LANES + 2]; 2]); height + 2];
        Block {
            shape,
            magnitudes: rows(),
            negative: rows(),
            refined: rows(),
            coded: if passes == Passes::Three { rows() } else { Vec::new() },
            significant: bordered(),
            signs: bordered(),
            valid: [0, 1].map(|side| each(|lane| mask(2 * lane + side < width))),
        }
    }

    fn of(shape: Shape, coefficients: &[i32]) -> Block {
        let mut block = Block::new(shape);
        for (y, row) in coefficients.chunks(shape.width).enumerate() {
            for (x, &c) in row.iter().enumerate() {
                block.magnitudes[y].0[x % 2][x / 2] = c.unsigned_abs() as u16;
                block.negative[y].0[x % 2][x / 2] = mask(c < 0);
            }
        }
        block
    }

    /// All symbols, as the definition has them.
    #[inline(always)]
    fn scan<E: Engine>(&mut self, planes: u32, engine: &mut E) -> Result<(), Exhausted> {
        for plane in (0..planes).rev() {
            engine.plane(plane);
            if self.shape.passes == Passes::Three {
                if plane + 1 < planes {
                    self.pass::<E, true>(PROPAGATION, plane, engine)?;
                    self.refine(plane, engine)?;
                }
                self.pass::<E, false>(CLEANUP, plane, engine)?;
                self.coded.iter_mut().for_each(|row| row.0 = [NONE; 2]);
            } else {
                self.pass::<E, false>(SIGNIFICANCE, plane, engine)?;
                self.refine(plane, engine)?;
            }
            for (refined, significant) in self.refined.iter_mut().zip(&self.significant[1..]) {
                for side in [0, 1] {
                    refined.0[side] = each(|lane| significant.0[side][lane + 1].wrapping_neg());
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn pass<E: Engine, const PROPAGATES: bool>(
        &mut self,
        kind: Kind<9>,
        plane: u32,
        engine: &mut E,
    ) -> Result<(), Exhausted> {
        let three = self.shape.passes == Passes::Three;
        for y in 0..self.shape.height {
            for side in [0, 1] {
                let neighbours = self.neighbours(y, side);
                let significant = &self.significant[y + 1].0[side];
                let valid = &self.valid[side];
                let mut lanes = each(|lane| significant[lane + 1].wrapping_sub(1) & valid[lane]);
                if PROPAGATES {
                    lanes = each(|lane| lanes[lane] & mask(neighbours[lane] != 0));
                    self.coded[y].0[side] = lanes;
                } else if three {
                    let coded = &self.coded[y].0[side];
                    lanes = each(|lane| lanes[lane] & !coded[lane]);
                }
                if !any(&lanes) {
                    continue;
                }
                let magnitudes = &self.magnitudes[y].0[side];
                let known = each(|lane| (magnitudes[lane] >> plane & 1).wrapping_neg());
                let ones = engine.code(kind, &neighbours, &lanes, &known)?;
                let found = each(|lane| ones[lane] & lanes[lane]);
                if any(&found) {
                    self.found(y, side, plane, &found, engine)?;
                }
            }
        }
        Ok(())
    }

    /// Makes coefficients of a step significant, and codes their signs.
    #[inline(always)]
    fn found<E: Engine>(
        &mut self,
        y: usize,
        side: usize,
        plane: u32,
        found: &All,
        engine: &mut E,
    ) -> Result<(), Exhausted> {
        if plane > 0 {
            let (contexts, predicted) = self.sign_contexts(y, side);
            let negative = &mut self.negative[y].0[side];
            let known = each(|lane| negative[lane] ^ predicted[lane]);
            let flipped = engine.code(SIGN, &contexts, found, &known)?;
            let signs = &mut self.signs[y + 1].0[side];
            for lane in 0..LANES {
                let sign = flipped[lane] ^ predicted[lane];
                negative[lane] = negative[lane] & !found[lane] | sign & found[lane];
                signs[lane + 1] |= (sign | 1) & found[lane];
            }
        }
        let magnitudes = &mut self.magnitudes[y].0[side];
        let significant = &mut self.significant[y + 1].0[side];
        for lane in 0..LANES {
            magnitudes[lane] |= found[lane] & 1 << plane;
            significant[lane + 1] |= found[lane] & 1;
        }
        Ok(())
    }

    #[inline(always)]
    fn refine<E: Engine>(&mut self, plane: u32, engine: &mut E) -> Result<(), Exhausted> {
        if plane == 0 {
            return Ok(());
        }
        for y in 0..self.shape.height {
            for side in [0, 1] {
                let lanes = &self.refined[y].0[side];
                if !any(lanes) {
                    continue;
                }
                let magnitudes = &mut self.magnitudes[y].0[side];
                // Context 0 of the two is a coefficient's first refinement.
                let contexts = each(|lane| u16::from(magnitudes[lane] >> plane >> 1 != 1));
                let known = each(|lane| (magnitudes[lane] >> plane & 1).wrapping_neg());
                let ones = engine.code(REFINEMENT, &contexts, lanes, &known)?;
                for lane in 0..LANES {
                    magnitudes[lane] |= ones[lane] & lanes[lane] & 1 << plane;
                }
            }
        }
        Ok(())
    }

    /// φ of eq. 3.1 for all lanes of a step.
    #[inline(always)]
    fn neighbours(&self, y: usize, side: usize) -> All {
        let (above, at, below) = around(&self.significant, y);
        let other = 1 - side;
        let mut columns = [0; LANES + 2];
        for (lane, sum) in columns.iter_mut().enumerate() {
            *sum = above[other][lane] + at[other][lane] + below[other][lane];
        }
        // Left columns have the lane's own right one and that of the lane to the left; right ones the other way round.
        let shift = 2 * side;
        each(|lane| above[side][lane + 1] + below[side][lane + 1] + columns[lane + 1] + columns[lane + shift])
    }

    /// φ of eq. 3.2 for all lanes of a step, and which of them predict a negative sign.
    #[inline(always)]
    fn sign_contexts(&self, y: usize, side: usize) -> (All, All) {
        let (above, at, below) = around(&self.signs, y);
        let (own, other, shift) = (side, &at[1 - side], 2 * side);
        let vertical = each(|lane| above[own][lane + 1].wrapping_add(below[own][lane + 1]));
        let horizontal = each(|lane| other[lane + 1].wrapping_add(other[lane + shift]));
        let (along, across) = match self.shape.direction {
            Direction::Vertical => (vertical, horizontal),
            Direction::Horizontal => (horizontal, vertical),
        };
        let contexts = each(|lane| {
            let (a, c) = (along[lane], across[lane]);
            let (a_none, c_none) = (mask(a == 0), mask(c == 0));
            // The highest bit of the difference: signs that are not the same.
            let differ = mask((a ^ c) as i16 >> 15 != 0);
            let both = !a_none & !c_none;
            a_none & c_none & 4 | a_none & !c_none & 1 | !a_none & c_none & 2 | both & differ & 3
        });
        let predicted = each(|lane| {
            let (a, c) = (along[lane], across[lane]);
            mask((a as i16) < 0) | mask(a == 0) & mask((c as i16) < 0)
        });
        (contexts, predicted)
    }

    /// Goes through the coefficients that are significant, lane by lane: their magnitudes and signs.
    #[inline(always)]
    fn tail<E>(&mut self, mut each: impl FnMut(&mut u16, &mut u16) -> Result<(), E>) -> Result<(), E> {
        for lane in 0..self.shape.lanes() {
            for (magnitudes, negative) in self.magnitudes.iter_mut().zip(&mut self.negative) {
                for side in [0, 1] {
                    // What is significant has a magnitude, as far as it is known: in plane 0 as well.
                    if magnitudes.0[side][lane] != 0 {
                        each(&mut magnitudes.0[side][lane], &mut negative.0[side][lane])?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Intervals of all coders (L and S of algorithm 2), and probabilities of the plane at hand.
struct Intervals {
    low: All,
    size: All,
    /// Probabilities of 0, times 2^9: of a product with 16 bits, the upper half is ⌊S·p / 2^7⌋.
    probabilities: [u16; CONTEXTS],
    sharing: u8,
}

impl Intervals {
    fn new(sharing: u8) -> Intervals {
        Intervals { low: NONE, size: NONE, probabilities: [0; CONTEXTS], sharing }
    }

    fn plane(&mut self, table: &Table, depth: usize) {
        for (to, &p) in self.probabilities.iter_mut().zip(table.row(depth)) {
            *to = u16::from(p) << 9;
        }
    }

    /// The probabilities of contexts.
    #[inline(always)]
    fn of<const COUNT: usize>(&self, kind: Kind<COUNT>, contexts: &All) -> All {
        let mut all = NONE;
        for i in 0..COUNT {
            let p = self.probabilities[kind.first + i];
            for lane in 0..LANES {
                all[lane] |= p & mask(contexts[lane] == i as u16);
            }
        }
        all
    }

    /// ⌊S·p / 2^7⌋.
    #[inline(always)]
    fn zero(size: u16, p: u16) -> u16 {
        ((u32::from(size) * u32::from(p)) >> 16) as u16
    }

    /// Takes the parts of the intervals that stand for symbols.
    #[inline(always)]
    fn narrow(&mut self, p: &All, lanes: &All, ones: &All) {
        for lane in 0..LANES {
            let zero = Intervals::zero(self.size[lane], p[lane]);
            let one = zero.wrapping_add(1);
            let size = ones[lane] & self.size[lane].wrapping_sub(one) | !ones[lane] & zero;
            self.size[lane] = lanes[lane] & size | !lanes[lane] & self.size[lane];
            self.low[lane] = self.low[lane].wrapping_add(lanes[lane] & ones[lane] & one);
        }
    }

    /// Lanes in the order in which they are coded, where they share coders.
    fn turns(&self, lanes: &All) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (lanes, sharing, turns) = (*lanes, self.sharing, 1usize << self.sharing);
        let order = (0..turns).flat_map(move |turn| (turn..LANES).step_by(turns));
        order.filter(move |&lane| lanes[lane] != 0).map(move |lane| (lane, lane >> sharing))
    }
}

struct Encoding<'a> {
    intervals: Intervals,
    table: &'a Table,
    planes: u32,
    words: Vec<u16>,
    places: [u16; LANES],
}

impl Engine for Encoding<'_> {
    #[inline(always)]
    fn plane(&mut self, plane: u32) {
        self.intervals.plane(self.table, depth(self.planes, plane));
    }

    #[inline(always)]
    fn code<const COUNT: usize>(
        &mut self,
        kind: Kind<COUNT>,
        contexts: &All,
        lanes: &All,
        known: &All,
    ) -> Result<All, Exhausted> {
        let p = self.intervals.of(kind, contexts);
        let Encoding { intervals, words, places, .. } = self;
        if intervals.sharing > 0 {
            for (lane, coder) in intervals.turns(lanes) {
                let (low, size) = (&mut intervals.low[coder], &mut intervals.size[coder]);
                if *size == 0 {
                    places[coder] = words.len() as u16;
                    words.push(0);
                    (*low, *size) = (0, u16::MAX);
                }
                let zero = Intervals::zero(*size, p[lane]);
                (*low, *size) = if known[lane] != 0 { (*low + zero + 1, *size - zero - 1) } else { (*low, zero) };
                if *size == 0 {
                    words[usize::from(places[coder])] = *low;
                }
            }
            return Ok(*known);
        }
        let size = &intervals.size;
        let exhausted = each(|lane| mask(size[lane] == 0) & lanes[lane]);
        if any(&exhausted) {
            for lane in 0..LANES {
                if exhausted[lane] != 0 {
                    places[lane] = words.len() as u16;
                    words.push(0);
                    (intervals.low[lane], intervals.size[lane]) = (0, u16::MAX);
                }
            }
        }
        intervals.narrow(&p, lanes, known);
        let size = &intervals.size;
        let full = each(|lane| mask(size[lane] == 0) & lanes[lane]);
        if any(&full) {
            for lane in 0..LANES {
                if full[lane] != 0 {
                    words[usize::from(places[lane])] = intervals.low[lane];
                }
            }
        }
        Ok(*known)
    }
}

/// [`encode_with`](super::encode_with), for a block of [`MOST_PLANES`] at most.
#[inline(always)]
fn encode_body(shape: Shape, coefficients: &[i32], planes: u32, class: u8, sharing: u8, table: &Table) -> Encoded {
    let mut block = Block::of(shape, coefficients);
    let intervals = Intervals::new(sharing);
    let mut encoding = Encoding { intervals, table, planes, words: Vec::with_capacity(2048), places: [0; LANES] };
    // Encoders need no words.
    let scanned = block.scan(planes, &mut encoding);
    debug_assert!(scanned.is_ok());
    let Encoding { intervals, mut words, places, .. } = encoding;
    let mut tail = Vec::with_capacity(shape.samples());
    let gathered: Result<(), Exhausted> = block.tail(|magnitude, negative| {
        tail.push(if *magnitude == 1 { *negative & 1 } else { *magnitude & 1 });
        Ok(())
    });
    debug_assert!(gathered.is_ok());
    let mut tail = tail.into_iter();
    for coder in 0..LANES {
        let size = intervals.size[coder];
        if size > 0 {
            let room = (u32::from(size) + 1).ilog2();
            let bits = (0..room).fold(0, |bits, _| bits << 1 | tail.next().unwrap_or(0));
            words[usize::from(places[coder])] = intervals.low[coder] + bits;
        }
    }
    for bits in tail.as_slice().chunks(16) {
        words.push(bits.iter().fold(0, |word, bit| word << 1 | bit) << (16 - bits.len()));
    }
    Encoded { planes, mode: Mode::Coded { class, sharing }, words }
}

struct Decoding<'a> {
    intervals: Intervals,
    table: &'a Table,
    planes: u32,
    words: &'a [u16],
    taken: usize,
    /// The word of each coder.
    open: All,
}

impl Decoding<'_> {
    #[inline(always)]
    fn begin(&mut self, coder: usize) -> Result<(), Exhausted> {
        self.open[coder] = *self.words.get(self.taken).ok_or(Exhausted)?;
        self.taken += 1;
        (self.intervals.low[coder], self.intervals.size[coder]) = (0, u16::MAX);
        Ok(())
    }
}

impl Engine for Decoding<'_> {
    #[inline(always)]
    fn plane(&mut self, plane: u32) {
        self.intervals.plane(self.table, depth(self.planes, plane));
    }

    #[inline(always)]
    fn code<const COUNT: usize>(
        &mut self,
        kind: Kind<COUNT>,
        contexts: &All,
        lanes: &All,
        _known: &All,
    ) -> Result<All, Exhausted> {
        let p = self.intervals.of(kind, contexts);
        if self.intervals.sharing > 0 {
            let mut ones = NONE;
            for (lane, coder) in self.intervals.turns(lanes) {
                if self.intervals.size[coder] == 0 {
                    self.begin(coder)?;
                }
                let (low, size) = (&mut self.intervals.low[coder], &mut self.intervals.size[coder]);
                let zero = Intervals::zero(*size, p[lane]);
                if self.open[coder] - *low > zero {
                    ones[lane] = u16::MAX;
                    (*low, *size) = (*low + zero + 1, *size - zero - 1);
                } else {
                    *size = zero;
                }
            }
            return Ok(ones);
        }
        let size = &self.intervals.size;
        let exhausted = each(|lane| mask(size[lane] == 0) & lanes[lane]);
        if any(&exhausted) {
            for (lane, exhausted) in exhausted.iter().enumerate() {
                if *exhausted != 0 {
                    self.begin(lane)?;
                }
            }
        }
        let (Intervals { low, size, .. }, open) = (&self.intervals, &self.open);
        let ones = each(|lane| mask(open[lane].wrapping_sub(low[lane]) > Intervals::zero(size[lane], p[lane])));
        self.intervals.narrow(&p, lanes, &ones);
        Ok(ones)
    }
}

/// [`decode`](super::decode), for a complete block of [`MOST_PLANES`] at most.
#[inline(always)]
fn decode_body(shape: Shape, planes: u32, sharing: u8, words: &[u16], table: &Table) -> Result<Decoded, BlockError> {
    let mut block = Block::new(shape);
    let intervals = Intervals::new(sharing);
    let mut decoding = Decoding { intervals, table, planes, words, taken: 0, open: NONE };
    block.scan(planes, &mut decoding).map_err(|Exhausted| BlockError::Length)?;
    let Decoding { intervals, taken, open, .. } = decoding;
    let mut rooms = Vec::with_capacity(16 * LANES);
    for ((word, low), size) in open.iter().zip(intervals.low).zip(intervals.size) {
        if size > 0 {
            let (bits, room) = (word - low, (u32::from(size) + 1).ilog2());
            if u32::from(bits) >> room != 0 {
                return Err(BlockError::Length);
            }
            rooms.extend((0..room).rev().map(|bit| bits >> bit & 1));
        }
    }
    let mut rooms = rooms.into_iter();
    let mut more = Reader::new(&words[taken..]);
    block.tail(|magnitude, negative| {
        let bit = match rooms.next() {
            Some(bit) => bit,
            None => more.take(1).ok_or(BlockError::Length)? as u16,
        };
        if *magnitude == 1 {
            *negative = bit.wrapping_neg();
        } else {
            *magnitude |= bit;
        }
        Ok(())
    })?;
    if rooms.any(|bit| bit != 0) || !more.ends_here() {
        return Err(BlockError::Length);
    }
    let (mut magnitudes, mut negative) = (Vec::with_capacity(shape.samples()), Vec::with_capacity(shape.samples()));
    for (m, n) in block.magnitudes.iter().zip(&block.negative) {
        magnitudes.extend((0..shape.width).map(|x| u32::from(m.0[x % 2][x / 2])));
        negative.extend((0..shape.width).map(|x| n.0[x % 2][x / 2] != 0));
    }
    Ok(Decoded { magnitudes, negative, unknown: vec![0; shape.samples()] })
}

/// Counts of a plane, for each lane apart: a lane has 128 coefficients at most.
struct Counting<'a> {
    counts: &'a mut Counts,
    planes: u32,
    depth: usize,
    /// By context: all symbols, and those that are 1.
    sums: Box<[[All; 2]; CONTEXTS]>,
}

impl Counting<'_> {
    fn finish(&mut self) {
        for (to, sums) in self.counts.symbols[self.depth].iter_mut().zip(self.sums.iter_mut()) {
            let [all, ones] = sums.map(|sum| sum.iter().map(|&n| u32::from(n)).sum::<u32>());
            to[0] += all - ones;
            to[1] += ones;
            *sums = [NONE; 2];
        }
    }
}

impl Engine for Counting<'_> {
    #[inline(always)]
    fn plane(&mut self, plane: u32) {
        if plane + 1 < self.planes {
            self.finish();
        }
        self.depth = depth(self.planes, plane);
    }

    #[inline(always)]
    fn code<const COUNT: usize>(
        &mut self,
        kind: Kind<COUNT>,
        contexts: &All,
        lanes: &All,
        known: &All,
    ) -> Result<All, Exhausted> {
        for i in 0..COUNT {
            let [all, ones] = &mut self.sums[kind.first + i];
            for lane in 0..LANES {
                let here = lanes[lane] & mask(contexts[lane] == i as u16);
                all[lane] = all[lane].wrapping_sub(here);
                ones[lane] = ones[lane].wrapping_sub(here & known[lane]);
            }
        }
        Ok(*known)
    }
}

/// [`Counts::of`], for a block of [`MOST_PLANES`] at most.
#[inline(always)]
fn count_body(shape: Shape, coefficients: &[i32], planes: u32) -> Counts {
    let mut counts = Counts { symbols: Box::new([[[0; 2]; CONTEXTS]; DEPTHS]), tail: 0, planes };
    let mut block = Block::of(shape, coefficients);
    let sums = Box::new([[NONE; 2]; CONTEXTS]);
    let mut counting = Counting { counts: &mut counts, planes, depth: 0, sums };
    let scanned = block.scan(planes, &mut counting);
    debug_assert!(scanned.is_ok());
    counting.finish();
    counts.tail = coefficients.iter().filter(|&&c| c != 0).count() as u32;
    counts
}

/// A function in two versions: for AVX2, where there is that, and for any processor.
macro_rules! versions {
    ($(#[$doc:meta])* $name:ident, $body:ident, ($($arg:ident: $type:ty),*) -> $result:ty) => {
        $(#[$doc])*
        pub fn $name($($arg: $type),*) -> $result {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $type),*) -> $result {
                    $body($($arg),*)
                }
                if is_x86_feature_detected!("avx2") {
                    #[allow(unsafe_code)]
                    // SAFETY: there is AVX2.
                    return unsafe { avx2($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}

versions! {
    /// Codes a block of [`MOST_PLANES`] at most with this table.
    encode, encode_body,
    (shape: Shape, coefficients: &[i32], planes: u32, class: u8, sharing: u8, table: &Table) -> Encoded
}
versions! {
    /// Decodes a complete block of [`MOST_PLANES`] at most.
    decode, decode_body,
    (shape: Shape, planes: u32, sharing: u8, words: &[u16], table: &Table) -> Result<Decoded, BlockError>
}
versions! {
    /// Counts the symbols of a block of [`MOST_PLANES`] at most.
    count, count_body, (shape: Shape, coefficients: &[i32], planes: u32) -> Counts
}
