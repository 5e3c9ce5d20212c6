//! Vectorised block coder: 32 lanes at once. Sets of lanes are 32-bit words with a bit per lane, and bitwise adders
//! count contexts ([`Block::scan`]). Coders are vectors of 32 numbers of 16 bits ([`vector`]). The words equal the
//! reference's ([`scan`](super::scan)), bit for bit.
//!
//! Magnitudes have at most 16 bits here; blocks of more planes use the reference.

mod alone;
mod shared;
mod steps;
mod tail;
mod vector;

use super::arithmetic::Exhausted;
use super::counts::{Counts, depth};
use super::{BlockError, BlockShape, CONTEXTS, Decoded, Encoded, MAX_SIDE, Mode, Order, Passes, SignAxis};
use crate::tables::Table;
use steps::Steps;
use tail::Tail;
use vector::{Portable, Vector};

/// Most planes of a block that is coded here.
pub const MOST_PLANES: u32 = 16;

const LANES: usize = MAX_SIDE / 2;

/// Set of lanes, a bit each.
type Set = u32;

/// Left and right columns of all lanes in a row.
type Row = [Set; 2];

/// Number of each lane: bit i of each is in set i.
type Digits = [Set; 4];

/// Kind of contexts: the index of the first, and their `COUNT`.
#[derive(Clone, Copy)]
struct Kind<const COUNT: usize> {
    first: usize,
}

const SIGNIFICANCE: Kind<9> = Kind { first: 0 };
const PROPAGATION: Kind<9> = Kind { first: 9 };
const CLEANUP: Kind<9> = Kind { first: 18 };
const SIGN: Kind<5> = Kind { first: 27 };
const REFINEMENT: Kind<2> = Kind { first: 32 };

/// Consumer or source of a step's symbols: those of some lanes, in contexts of a kind.
trait Engine {
    /// Begins a plane.
    fn plane(&mut self, plane: u32);

    /// Begins a pass whose contexts start at `first`.
    fn pass(&mut self, _first: usize) {}

    /// Number of words begun so far.
    fn words(&self) -> usize {
        0
    }

    /// Codes symbols, and returns the lanes whose symbol is 1.
    fn code<const COUNT: usize>(
        &mut self,
        kind: Kind<COUNT>,
        contexts: &Digits,
        lanes: Set,
        known: Set,
    ) -> Result<Set, Exhausted>;
}

/// Sum of three one-bit numbers per lane.
#[inline(always)]
fn add(a: Set, b: Set, c: Set) -> (Set, Set) {
    (a ^ b ^ c, a & b | c & (a ^ b))
}

/// Rows above, at and below row `y`, which is stored at `y + 1`.
#[inline(always)]
fn rows(rows: &[Row; MAX_SIDE + 2], y: usize) -> [Row; 3] {
    [rows[y], rows[y + 1], rows[y + 2]]
}

/// End of a pass: its place in the words, and what is known by then.
pub struct PassEnd {
    /// Words begun by the end of the pass.
    pub words: usize,
    /// The plane.
    pub plane: u32,
    /// Whether coefficients that were significant before the plane have been refined in it.
    pub refined: bool,
    /// Whether the plane's significance is complete.
    pub whole: bool,
    significant: [Row; MAX_SIDE + 2],
}

impl PassEnd {
    /// Significance of a row's coefficients.
    pub fn significant(&self, y: usize) -> impl Iterator<Item = bool> {
        let [left, right] = self.significant[y + 1];
        (0..LANES).flat_map(move |lane| [left >> lane & 1 != 0, right >> lane & 1 != 0])
    }
}

/// Coefficients with their coding state, as rows of lanes.
pub struct Block {
    shape: BlockShape,
    planes: u32,
    /// Magnitudes, by plane and row.
    magnitudes: Vec<[Row; MAX_SIDE]>,
    negative: [Row; MAX_SIDE],
    /// Significant before this plane, and before the one above. In the tail's planes, before the highest of them.
    refined: [Row; MAX_SIDE],
    older: [Row; MAX_SIDE],
    /// Visited in this plane.
    visited: [Row; MAX_SIDE],
    /// Plane begun last.
    plane: u32,
    /// Significance, with a row before the first and after the last.
    significant: [Row; MAX_SIDE + 2],
    /// Significant coefficients known to be negative.
    minus: [Row; MAX_SIDE + 2],
    /// Columns within the block.
    valid: Row,
    /// Ends of passes, if requested. The tail's planes have none, as they cannot be decoded without the tail.
    pub ends: Option<Vec<PassEnd>>,
}

impl Block {
    fn new(shape: BlockShape, planes: u32) -> Block {
        let columns = |count: usize| (u64::MAX >> (64 - count.max(1)) as u32) as u32 * u32::from(count > 0);
        Block {
            shape,
            planes,
            magnitudes: vec![[[0; 2]; MAX_SIDE]; planes as usize],
            negative: [[0; 2]; MAX_SIDE],
            refined: [[0; 2]; MAX_SIDE],
            older: [[0; 2]; MAX_SIDE],
            visited: [[0; 2]; MAX_SIDE],
            plane: planes,
            significant: [[0; 2]; MAX_SIDE + 2],
            minus: [[0; 2]; MAX_SIDE + 2],
            valid: [columns(shape.width.div_ceil(2)), columns(shape.width / 2)],
            ends: None,
        }
    }

    #[inline(always)]
    fn of<V: Vector>(proof: V::Proof, shape: BlockShape, coefficients: &[i32], planes: u32) -> Block {
        let mut block = Block::new(shape, planes);
        let mut row = [0; MAX_SIDE];
        for (y, coefficients) in coefficients.chunks(shape.width).enumerate() {
            row[..shape.width].copy_from_slice(coefficients);
            for side in [0, 1] {
                let mut magnitudes = [0; LANES];
                let mut signs = [0; LANES];
                for ((magnitude, sign), pair) in magnitudes.iter_mut().zip(&mut signs).zip(row.as_chunks::<2>().0) {
                    *magnitude = pair[side].unsigned_abs() as u16;
                    *sign = (pair[side] >> 16) as u16;
                }
                let magnitudes = V::new(proof, &magnitudes);
                for plane in 0..planes {
                    block.magnitudes[plane as usize][y][side] = magnitudes.bit(plane);
                }
                block.negative[y][side] = V::new(proof, &signs).bit(15);
            }
        }
        block
    }

    /// Decoded coefficients of a complete block.
    #[inline(always)]
    fn decoded<V: Vector>(&self, proof: V::Proof) -> Decoded {
        let BlockShape { width, .. } = self.shape;
        let samples = self.shape.samples();
        let (mut magnitudes, mut negative) = (vec![0; samples], vec![false; samples]);
        let rows = magnitudes.chunks_mut(width).zip(negative.chunks_mut(width));
        for (y, (magnitudes, negative)) in rows.enumerate() {
            let mut row = [[0u32; 2]; LANES];
            for side in [0, 1] {
                let mut all = V::splat(proof, 0);
                for (plane, rows) in self.magnitudes.iter().enumerate() {
                    all = all.with(rows[y][side], 1 << plane);
                }
                row.iter_mut().zip(all.numbers()).for_each(|(to, magnitude)| to[side] = magnitude.into());
            }
            magnitudes.copy_from_slice(&row.as_flattened()[..width]);
            let signs = self.negative[y];
            negative.iter_mut().enumerate().for_each(|(x, to)| *to = signs[x % 2] >> (x / 2) & 1 != 0);
        }
        Decoded { magnitudes, negative, unknown: vec![0; samples] }
    }

    /// Decoded coefficients of a block whose words ended early.
    #[inline(always)]
    fn decoded_in_part<V: Vector>(&self, proof: V::Proof) -> Decoded {
        let mut decoded = self.decoded::<V>(proof);
        for (y, row) in decoded.unknown.chunks_mut(self.shape.width).enumerate() {
            for (x, unknown) in row.iter_mut().enumerate() {
                let visited = self.visited[y][x % 2] >> (x / 2) & 1;
                *unknown = (self.plane + 1 - visited).min(self.planes) as u8;
            }
        }
        decoded
    }

    /// Scans all symbols down to plane `last`, in the reference's order.
    #[inline(always)]
    fn scan<E: Engine>(&mut self, last: u32, engine: &mut E) -> Result<(), Exhausted> {
        let Order { passes, fast } = self.shape.order;
        for plane in (last..self.planes).rev() {
            engine.plane(plane);
            self.plane = plane;
            self.visited = [[0; 2]; MAX_SIDE];
            if plane + 1 >= self.shape.order.tail() {
                for y in 0..self.shape.height {
                    self.older[y] = self.refined[y];
                    self.refined[y] = self.significant[y + 1];
                }
            }
            if passes == Passes::Three && plane >= fast {
                if plane + 1 < self.planes {
                    self.pass::<E, true>(PROPAGATION, plane, engine)?;
                    self.refine(plane, engine)?;
                }
                self.pass::<E, false>(CLEANUP, plane, engine)?;
            } else {
                self.pass::<E, false>(SIGNIFICANCE, plane, engine)?;
                self.refine(plane, engine)?;
            }
        }
        Ok(())
    }

    /// Records the end of a pass.
    #[inline(always)]
    fn ends(&mut self, refined: bool, whole: bool) {
        let Block { plane, significant, .. } = *self;
        if let Some(ends) = self.ends.as_mut().filter(|_| plane >= self.shape.order.tail()) {
            ends.push(PassEnd { words: 0, plane, refined, whole, significant });
        }
    }

    #[inline(always)]
    fn pass<E: Engine, const PROPAGATES: bool>(
        &mut self,
        kind: Kind<9>,
        plane: u32,
        engine: &mut E,
    ) -> Result<(), Exhausted> {
        engine.pass(kind.first);
        for y in 0..self.shape.height {
            for side in [0, 1] {
                let neighbours = self.neighbours(y, side);
                let mut lanes = self.valid[side] & !(self.significant[y + 1][side] | self.visited[y][side]);
                if PROPAGATES {
                    lanes &= neighbours.iter().fold(0, |any, digit| any | digit);
                }
                if lanes == 0 {
                    continue;
                }
                let known = self.magnitudes[plane as usize][y][side];
                let found = engine.code(kind, &neighbours, lanes, known)? & lanes;
                if found == 0 {
                    self.visited[y][side] |= lanes;
                    continue;
                }
                if plane >= self.shape.order.tail() {
                    let (contexts, predicted) = self.sign_contexts(y, side);
                    let negative = &mut self.negative[y][side];
                    let sign = engine.code(SIGN, &contexts, found, *negative ^ predicted)? ^ predicted;
                    *negative = *negative & !found | sign & found;
                    self.minus[y + 1][side] |= sign & found;
                }
                self.visited[y][side] |= lanes;
                self.magnitudes[plane as usize][y][side] |= found;
                self.significant[y + 1][side] |= found;
            }
        }
        // Cleanup is the last of three passes.
        self.ends(kind.first == CLEANUP.first, !PROPAGATES);
        Ok(())
    }

    #[inline(always)]
    fn refine<E: Engine>(&mut self, plane: u32, engine: &mut E) -> Result<(), Exhausted> {
        if plane < self.shape.order.tail() {
            return Ok(());
        }
        engine.pass(REFINEMENT.first);
        for y in 0..self.shape.height {
            for side in [0, 1] {
                let lanes = self.refined[y][side];
                if lanes == 0 {
                    continue;
                }
                let known = self.magnitudes[plane as usize][y][side];
                // Of the two contexts, 0 is a coefficient's first refinement.
                let contexts = [self.older[y][side], 0, 0, 0];
                let ones = engine.code(REFINEMENT, &contexts, lanes, known)?;
                self.visited[y][side] |= lanes;
                self.magnitudes[plane as usize][y][side] |= ones & lanes;
            }
        }
        self.ends(true, self.shape.order.passes == Passes::Two);
        Ok(())
    }

    /// Planes of the tail, highest first, with significance before each and at its end.
    #[inline(always)]
    fn tail(&self) -> Vec<(usize, [[Row; MAX_SIDE]; 2])> {
        let mut before = self.refined;
        let plane = |plane: u32| {
            let mut after = before;
            for (after, found) in
                after.as_flattened_mut().iter_mut().zip(self.magnitudes[plane as usize].as_flattened())
            {
                *after |= found;
            }
            (plane as usize, [std::mem::replace(&mut before, after), after])
        };
        (0..self.shape.order.tail().min(self.planes)).rev().map(plane).collect()
    }

    /// Horizontal neighbours of a side: the lane's own other column, and that of the adjacent lane.
    #[inline(always)]
    fn beside(other: Set, side: usize) -> (Set, Set) {
        (other, if side == 0 { other << 1 } else { other >> 1 })
    }

    /// φ of eq. 3.1 for all lanes of a step.
    #[inline(always)]
    fn neighbours(&self, y: usize, side: usize) -> Digits {
        let [above, at, below] = rows(&self.significant, y);
        let other = 1 - side;
        let (one, two) = add(above[other], at[other], below[other]);
        let (near, far) = Block::beside(one, side);
        let (ones, carry) = add(near, far, above[side]);
        let (ones, more) = (ones ^ below[side], ones & below[side]);
        let (near, far) = Block::beside(two, side);
        let (twos, fours) = add(near, far, carry);
        let (twos, again) = (twos ^ more, twos & more);
        [ones, twos, fours ^ again, fours & again]
    }

    /// Sign contexts of eq. 3.2 for all lanes of a step, and lanes with a negative prediction.
    #[inline(always)]
    fn sign_contexts(&self, y: usize, side: usize) -> (Digits, Set) {
        let [above, at, below] = rows(&self.significant, y);
        let [minus_above, minus_at, minus_below] = rows(&self.minus, y);
        // Lanes with a positive neighbour and no negative one, and the reverse.
        let signs = |[a, b]: [Set; 2], [minus_a, minus_b]: [Set; 2]| {
            let (plus, minus) = (a & !minus_a | b & !minus_b, minus_a | minus_b);
            (plus & !minus, minus & !plus)
        };
        let vertical = signs([above[side], below[side]], [minus_above[side], minus_below[side]]);
        let (near, far) = Block::beside(at[1 - side], side);
        let (minus_near, minus_far) = Block::beside(minus_at[1 - side], side);
        let horizontal = signs([near, far], [minus_near, minus_far]);
        let (along, across) = match self.shape.direction {
            SignAxis::Vertical => (vertical, horizontal),
            SignAxis::Horizontal => (horizontal, vertical),
        };
        let (has_along, has_across) = (along.0 | along.1, across.0 | across.1);
        let differ = along.0 & across.1 | along.1 & across.0;
        let contexts =
            [has_across & !has_along | differ, has_along & !has_across | differ, !has_along & !has_across, 0];
        (contexts, along.1 | across.1 & !has_along)
    }
}

/// Block prepared for encoding: its steps are known.
pub struct Ready {
    block: Block,
    steps: Steps,
}

impl Ready {
    /// Ends of passes, if requested. They have their places once the block has been encoded.
    pub fn ends(self) -> Vec<PassEnd> {
        self.block.ends.unwrap_or_default()
    }
}

/// Encodes a prepared block.
#[inline(always)]
fn encode_body<V: Vector>(proof: V::Proof, ready: &mut Ready, class: u8, sharing: u8, table: &Table) -> Encoded {
    let Ready { block, steps } = ready;
    let ends = block.ends.as_deref_mut().unwrap_or_default();
    let mut words = Vec::with_capacity(2048);
    let rooms = if sharing == 0 {
        let mut coding = alone::Encoding::<V>::new(proof, table, block.planes, &mut words);
        // Encoders need no words.
        let coded = steps.replay(&mut coding, ends);
        debug_assert!(coded.is_ok());
        coding.finish()
    } else {
        let mut coding = shared::Encoding::new(table, block.planes, sharing, &mut words);
        let coded = steps.replay(&mut coding, ends);
        debug_assert!(coded.is_ok());
        coding.finish()
    };
    let mut tail = Tail::gather::<V>(proof, block);
    for (place, low, room) in rooms {
        words[place] = low + tail.take(room);
    }
    while !tail.is_empty() {
        words.push(tail.take(16));
    }
    // All blocks of a picture are held until the stream is written.
    words.shrink_to_fit();
    Encoded { planes: block.planes, mode: Mode::Coded { class, sharing }, words }
}

/// [`decode`](super::decode) for a block of at most [`MOST_PLANES`].
#[inline(always)]
fn decode_body<V: Vector>(
    proof: V::Proof,
    shape: BlockShape,
    planes: u32,
    sharing: u8,
    words: &[u16],
    complete: bool,
    table: &Table,
) -> Result<Decoded, BlockError> {
    let mut block = Block::new(shape, planes);
    // Planes whose signs are in the tail cannot be decoded without it.
    let last = if complete { 0 } else { shape.order.tail() };
    let (scanned, (taken, rooms)) = if sharing == 0 {
        let mut coding = alone::Decoding::<V>::new(proof, table, planes, words);
        (block.scan(last, &mut coding), coding.finish())
    } else {
        let mut coding = shared::Decoding::new(table, planes, sharing, words);
        (block.scan(last, &mut coding), coding.finish())
    };
    if !complete {
        return Ok(block.decoded_in_part::<V>(proof));
    }
    scanned.map_err(|Exhausted| BlockError::Length)?;
    let mut tail = Tail::new(shape.order.tail());
    for (bits, room) in rooms {
        if u32::from(bits) >> room != 0 {
            return Err(BlockError::Length);
        }
        tail.put(bits, room);
    }
    tail.scatter::<V>(proof, &mut block, &words[taken..]).ok_or(BlockError::Length)?;
    Ok(block.decoded::<V>(proof))
}

/// Defines a function with versions for the processor's instruction sets.
macro_rules! versions {
    ($(#[$doc:meta])* $name:ident, $body:ident, ($($arg:ident: $type:ty),*) -> $result:ty) => {
        $(#[$doc])*
        pub fn $name($($arg: $type),*) -> $result {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(
                    enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,avx512vpopcntdq,avx2,bmi1,bmi2,popcnt,lzcnt"
                )]
                fn avx512(proof: vector::HasAvx512, $($arg: $type),*) -> $result {
                    $body::<vector::Avx512>(proof, $($arg),*)
                }
                #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
                fn avx2(proof: vector::HasAvx2, $($arg: $type),*) -> $result {
                    $body::<vector::Avx2>(proof, $($arg),*)
                }
                #[allow(unsafe_code)]
                // SAFETY: there is a proof that the processor has the instructions.
                unsafe {
                    if let Some(proof) = vector::HasAvx512::detect() {
                        return avx512(proof, $($arg),*);
                    }
                    if let Some(proof) = vector::HasAvx2::detect() {
                        return avx2(proof, $($arg),*);
                    }
                }
            }
            $body::<Portable>((), $($arg),*)
        }
    };
}

#[inline(always)]
fn ready_body<V: Vector>(proof: V::Proof, shape: BlockShape, coefficients: &[i32], planes: u32, ends: bool) -> Ready {
    let mut block = Block::of::<V>(proof, shape, coefficients, planes);
    block.ends = ends.then(Vec::new);
    let mut steps = Steps::new(shape.order.tail());
    let scanned = block.scan(0, &mut steps);
    debug_assert!(scanned.is_ok());
    Ready { block, steps }
}

#[inline(always)]
fn count_body<V: Vector>(_: V::Proof, ready: &Ready) -> Counts {
    let mut counts = ready.steps.count(ready.block.planes);
    let number = |(_, [_, after]): (usize, [[Row; MAX_SIDE]; 2])| -> u32 {
        after.as_flattened().iter().map(|set| set.count_ones()).sum()
    };
    counts.tail = ready.block.tail().into_iter().map(number).sum();
    counts
}

versions! {
    /// Prepares a block of at most [`MOST_PLANES`]; keeps the ends of passes on request.
    ready, ready_body, (shape: BlockShape, coefficients: &[i32], planes: u32, ends: bool) -> Ready
}
versions! {
    /// Encodes a block with this table.
    encode, encode_body, (ready: &mut Ready, class: u8, sharing: u8, table: &Table) -> Encoded
}
versions! {
    /// Decodes a block of at most [`MOST_PLANES`].
    decode, decode_body,
    (shape: BlockShape, planes: u32, sharing: u8, words: &[u16], complete: bool, table: &Table)
        -> Result<Decoded, BlockError>
}
versions! {
    /// Counts the symbols of a block.
    count, count_body, (ready: &Ready) -> Counts
}

#[cfg(test)]
mod tests {
    use super::super::{decode_sequentially, encode_sequentially};
    use super::*;
    use crate::tables::Tables;

    /// Checks that words and coefficients equal the reference's, with one kind of vector.
    fn matches_the_reference<V: Vector>(proof: V::Proof) {
        let tables = Tables::built_in();
        let mut state = 7u32;
        for (at, (height, width)) in [(64, 64), (64, 63), (5, 1), (33, 18), (1, 64)].into_iter().enumerate() {
            for (passes, fast) in
                [(Passes::Two, 0), (Passes::Three, 0), (Passes::Two, 4), (Passes::Three, 1), (Passes::Three, 16)]
            {
                let direction = if at % 2 == 0 { SignAxis::Vertical } else { SignAxis::Horizontal };
                let shape = BlockShape { height, width, direction, order: Order { passes, fast } };
                let random = |_| {
                    state = state.wrapping_mul(1664525).wrapping_add(1013904223);
                    (state as i32) >> (17 + (state >> 8) % 14)
                };
                let coefficients: Vec<i32> = (0..shape.samples()).map(random).collect();
                let planes = coefficients.iter().fold(0, |all, c| all | c.unsigned_abs()).ilog2() + 1;
                let mut ready = ready_body::<V>(proof, shape, &coefficients, planes, false);
                assert_eq!(count_body::<V>(proof, &ready), Counts::sequentially(shape, &coefficients));
                for sharing in [0, 1, 5] {
                    let table = &tables[3 + sharing];
                    let expected = encode_sequentially(shape, &coefficients, 0, sharing, table);
                    let words = &expected.words;
                    assert!(encode_body::<V>(proof, &mut ready, 0, sharing, table) == expected, "{shape:?} {sharing}");
                    let decoded = decode_body::<V>(proof, shape, planes, sharing, words, true, table).unwrap();
                    assert!(decoded.coefficients().eq(coefficients.iter().copied()));
                    let mut broken = words.clone();
                    broken[words.len() / 2] ^= 0x80;
                    let values = |d: &Decoded| d.coefficients().collect::<Vec<_>>();
                    let both = |words: &[u16], complete: bool| {
                        let decoded = decode_body::<V>(proof, shape, planes, sharing, words, complete, table);
                        let expected = decode_sequentially(shape, planes, sharing, words, complete, table);
                        assert_eq!(decoded.as_ref().map(values), expected.as_ref().map(values));
                        expected.and(decoded)
                    };
                    let _ = both(&broken, true);
                    // Truncated words: the known bits equal the reference's as well.
                    for sixth in 0..=6 {
                        let part = &words[..words.len() * sixth / 6];
                        let decoded = both(part, false).unwrap();
                        let expected = decode_sequentially(shape, planes, sharing, part, false, table).unwrap();
                        assert_eq!(decoded.unknown, expected.unknown, "{shape:?} {sharing} {sixth}");
                    }
                }
            }
        }
    }

    #[test]
    fn portable_vectors_match_the_reference() {
        matches_the_reference::<Portable>(());
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn native_vectors_match_the_reference() {
        if let Some(proof) = vector::HasAvx2::detect() {
            matches_the_reference::<vector::Avx2>(proof);
        }
        if let Some(proof) = vector::HasAvx512::detect() {
            matches_the_reference::<vector::Avx512>(proof);
        }
    }
}
