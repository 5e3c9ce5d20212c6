//! BPC-PaCo as the thesis has it, without the extensions of `lifting_codec::block`: the size of a lossless picture.
//!
//! Sections 3.2.1 to 3.2.4: three passes; one context of refinement and four of signs, whose symbols are the signs
//! themselves; a table of probabilities for each band, plane and context, rounded down to 7 bits; a code word of 16
//! bits for each stripe of two columns, whose unused bits are lost. The thesis trains its tables on other pictures of a
//! kind. Here they are those of the picture itself, so the size is a lower bound. A block has a header of three bytes.

use liftc::failure::{Outcome, input};
use lifting::{Device, Plan, catalogue};
use lifting_codec::{Image, reversible};
use std::collections::HashMap;

/// Side of a code block.
const SIDE: usize = 64;
/// Levels of the 5/3.
const LEVELS: u32 = 5;
/// Bytes of a block's header.
const HEADER: usize = 3;
/// Contexts: 9 of significance (eq. 3.1), 4 of signs (eq. 3.2), one of refinement.
const CONTEXTS: usize = 14;

/// A band: component, level and orientation.
type Band = [usize; 3];

/// Counts of symbols 0 and 1, by band and plane, for each context.
type Counts = HashMap<(Band, u32), [[u64; 2]; CONTEXTS]>;

/// Quantised coefficients of a code block, row by row.
struct Block {
    band: Band,
    width: usize,
    height: usize,
    coefficients: Vec<i32>,
}

/// Bits of a picture's lossless stream, without its header. The first three components may be colours.
pub fn bits(image: &Image, colour: bool) -> Outcome<f64> {
    let blocks = blocks(image, colour)?;
    let mut counts = Counts::new();
    for block in &blocks {
        block.scan(&mut |_, plane, context, one| {
            counts.entry((block.band, plane)).or_default()[context][usize::from(one)] += 1;
        });
    }
    let probability = |band: Band, plane: u32, context: usize| {
        let [zeros, ones] = counts[&(band, plane)][context];
        // Equation 3.5, in its range 0 to 2^7 − 1.
        (128 * zeros / (zeros + ones)).min(127) as u32
    };
    let mut words = 0;
    for block in &blocks {
        // Sizes less one of the stripes' intervals.
        let mut sizes = [0u32; SIDE / 2];
        block.scan(&mut |stripe, plane, context, one| {
            let size = &mut sizes[stripe];
            if *size == 0 {
                words += 1;
                *size = 0xffff;
            }
            let zero = (*size * probability(block.band, plane, context)) >> 7;
            *size = if one { *size - zero - 1 } else { zero };
        });
    }
    Ok((16 * words + 8 * HEADER * blocks.len()) as f64)
}

/// Code blocks of all components' bands.
fn blocks(image: &Image, colour: bool) -> Outcome<Vec<Block>> {
    let (height, width, components) = (image.height, image.width, image.components);
    let shift = image.shift();
    let component = |c: usize| image.samples.iter().skip(c).step_by(components).map(|&x| x - shift).collect();
    let mut planes: Vec<Vec<i32>> = (0..components).map(component).collect();
    if colour && components >= 3 {
        let [red, green, blue] = &mut planes[..3] else { unreachable!("there are three components") };
        for ((red, green), blue) in red.iter_mut().zip(green).zip(blue) {
            [*red, *green, *blue] = reversible([*red, *green, *blue]);
        }
    }
    let scheme = catalogue::find("legall53").map_err(input)?;
    let plan = Plan::builder(&scheme).shape(&[height, width]).levels(LEVELS).sample::<i32>();
    let plan = plan.build(&Device::cpu_with_threads(1)).map_err(input)?;
    let mut blocks = Vec::new();
    for (c, plane) in planes.iter().enumerate() {
        let mut coefficients = vec![0; plane.len()];
        plan.forward(plane, &mut coefficients).map_err(input)?;
        let (mut rows, mut columns) = (height, width);
        for level in 0..LEVELS as usize {
            let [low_rows, low_columns] = [rows, columns].map(|n| n.div_ceil(2));
            let first = usize::from(level + 1 < LEVELS as usize);
            for orientation in first..4 {
                let [down, across] = [orientation / 2, orientation % 2];
                let rows = if down == 0 { 0..low_rows } else { low_rows..rows };
                let columns = if across == 0 { 0..low_columns } else { low_columns..columns };
                for top in rows.clone().step_by(SIDE) {
                    for left in columns.clone().step_by(SIDE) {
                        let (bottom, right) = (rows.end.min(top + SIDE), columns.end.min(left + SIDE));
                        let row = |y: usize| coefficients[y * width + left..y * width + right].iter().copied();
                        blocks.push(Block {
                            band: [c, level, orientation],
                            width: right - left,
                            height: bottom - top,
                            coefficients: (top..bottom).flat_map(row).collect(),
                        });
                    }
                }
            }
            (rows, columns) = (low_rows, low_columns);
        }
    }
    Ok(blocks)
}

/// Columns of a map with a border of one coefficient.
const STRIDE: usize = SIDE + 2;

/// State of a block's coefficients.
struct State<'a> {
    block: &'a Block,
    /// χ with a border: the sign of significant coefficients, else 0.
    signs: Vec<i8>,
    /// Coefficients that were significant before the plane, and those that propagation coded in it.
    before: Vec<bool>,
    coded: Vec<bool>,
}

/// A pass over significance.
#[derive(Clone, Copy, PartialEq)]
enum Pass {
    Propagation,
    Cleanup,
}

impl Block {
    /// Passes all symbols to `emit`, as stripe, plane, context and symbol, in the order of algorithm 2: all stripes
    /// take a step at once.
    fn scan(&self, emit: &mut impl FnMut(usize, u32, usize, bool)) {
        let largest = self.coefficients.iter().map(|x| x.unsigned_abs()).max().unwrap_or(0);
        let planes = u32::BITS - largest.leading_zeros();
        let samples = self.coefficients.len();
        let signs = vec![0; STRIDE * (self.height + 2)];
        let mut state = State { block: self, signs, before: vec![false; samples], coded: vec![false; samples] };
        for plane in (0..planes).rev() {
            state.coded.fill(false);
            if plane + 1 < planes {
                state.significance(Pass::Propagation, plane, emit);
                state.refinement(plane, emit);
            }
            state.significance(Pass::Cleanup, plane, emit);
            for (index, before) in state.before.iter_mut().enumerate() {
                *before = self.coefficients[index].unsigned_abs() >> plane != 0;
            }
        }
    }
}

/// Coefficients of each step of a block: stripe, index, and place in the map.
fn steps(width: usize, height: usize) -> impl Iterator<Item = impl Iterator<Item = (usize, usize, usize)>> {
    let steps = (0..height).flat_map(|y| [(y, 0), (y, 1)]);
    steps.map(move |(y, side)| {
        let columns = (side..width).step_by(2);
        columns.map(move |x| (x / 2, y * width + x, (y + 1) * STRIDE + x + 1))
    })
}

impl State<'_> {
    fn significance(&mut self, pass: Pass, plane: u32, emit: &mut impl FnMut(usize, u32, usize, bool)) {
        let mut found = Vec::new();
        for step in steps(self.block.width, self.block.height) {
            for (stripe, index, at) in step {
                let neighbours = self.neighbours(at);
                if self.signs[at] != 0 || self.coded[index] || pass == Pass::Propagation && neighbours == 0 {
                    continue;
                }
                self.coded[index] = true;
                let one = self.block.coefficients[index].unsigned_abs() >> plane & 1 == 1;
                emit(stripe, plane, neighbours, one);
                if one {
                    found.push((stripe, index, at));
                }
            }
            // Coefficients of a step are not neighbours.
            for (stripe, index, at) in found.drain(..) {
                let is_positive = self.block.coefficients[index] > 0;
                emit(stripe, plane, 9 + self.sign_context(at), is_positive);
                self.signs[at] = if is_positive { 1 } else { -1 };
            }
        }
    }

    fn refinement(&self, plane: u32, emit: &mut impl FnMut(usize, u32, usize, bool)) {
        for (stripe, index, _) in steps(self.block.width, self.block.height).flatten() {
            if self.before[index] {
                let one = self.block.coefficients[index].unsigned_abs() >> plane & 1 == 1;
                emit(stripe, plane, CONTEXTS - 1, one);
            }
        }
    }

    /// Equation 3.1.
    fn neighbours(&self, at: usize) -> usize {
        let around = [at - STRIDE - 1, at - STRIDE, at - STRIDE + 1, at - 1, at + 1];
        let below = [at + STRIDE - 1, at + STRIDE, at + STRIDE + 1];
        around.iter().chain(&below).filter(|&&at| self.signs[at] != 0).count()
    }

    /// Equation 3.2.
    fn sign_context(&self, at: usize) -> usize {
        let vertical = self.signs[at - STRIDE] + self.signs[at + STRIDE];
        let horizontal = self.signs[at - 1] + self.signs[at + 1];
        match (vertical.signum(), horizontal.signum()) {
            (v, h) if v != 0 && v == h => 0,
            (0, h) if h != 0 => 1,
            (v, 0) if v != 0 => 2,
            _ => 3,
        }
    }
}
