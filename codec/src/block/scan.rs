//! Scan of a block: order and contexts of its symbols, shared by encoder, decoder and counts.

use super::arithmetic::Exhausted;
use super::{BlockShape, Context, MAX_SIDE, Order, Passes, SignAxis};

/// Consumer or source of a block's symbols.
pub trait Symbols {
    /// Codes a symbol of a lane in a plane. Encoders write `known`; decoders ignore it and return the decoded symbol.
    ///
    /// # Errors
    /// If a decoder has no word left for it.
    fn code(&mut self, lane: usize, plane: u32, context: Context, known: bool) -> Result<bool, Exhausted>;
}

/// Columns of the maps, with a border of one on either side.
const STRIDE: usize = MAX_SIDE + 2;

/// Coefficients, with their coding state.
pub struct Block {
    shape: BlockShape,
    /// Magnitudes: complete in an encoder, as far as decoded in a decoder.
    pub magnitudes: Vec<u32>,
    /// Whether a coefficient is negative, once known.
    pub negative: Vec<bool>,
    /// Φ of eq. 3.1, with a border of zeros.
    significant: Vec<u8>,
    /// χ of eq. 3.2: 1 or −1, and 0 for insignificant coefficients, with a border.
    signs: Vec<i8>,
    /// Coefficients that were significant before the current plane.
    refined: Vec<bool>,
    /// Lowest plane in which a coefficient's bit is known.
    pub known: Vec<u8>,
}

/// Kind of a pass over significance: its coefficients and contexts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// All insignificant coefficients.
    Significance,
    /// Coefficients with a significant neighbour.
    Propagation,
    /// Coefficients that propagation left out.
    Cleanup,
}

impl Block {
    /// Uncoded block.
    pub fn new(shape: BlockShape, magnitudes: Vec<u32>, negative: Vec<bool>, planes: u32) -> Block {
        let (samples, map) = (shape.samples(), (shape.height + 2) * STRIDE);
        Block {
            shape,
            magnitudes,
            negative,
            significant: vec![0; map],
            signs: vec![0; map],
            refined: vec![false; samples],
            known: vec![planes as u8; samples],
        }
    }

    /// Scans all coded symbols, plane by plane down to `last`; `2^sharing` lanes take turns. Signs and refinements of
    /// the lowest planes belong to the tail.
    ///
    /// # Errors
    /// If a decoder lacks words for a step. The block keeps what was decoded before.
    pub fn scan<S: Symbols>(&mut self, planes: u32, last: u32, sharing: u8, symbols: &mut S) -> Result<(), Exhausted> {
        let Order { passes, fast } = self.shape.order;
        let turns = 1usize << sharing;
        let lanes = self.shape.lanes();
        let order: Vec<usize> = (0..turns).flat_map(|turn| (turn..lanes).step_by(turns)).collect();
        let three = passes == Passes::Three;
        let mut coded = vec![false; if three { self.shape.samples() } else { 0 }];
        for plane in (last..planes).rev() {
            if three && plane >= fast {
                // Nothing is significant in the first plane, so propagation would be empty.
                coded.fill(false);
                self.pass(Pass::Propagation, plane, &order, &mut coded, symbols)?;
                self.refine(plane, &order, symbols)?;
                self.pass(Pass::Cleanup, plane, &order, &mut coded, symbols)?;
            } else {
                self.pass(Pass::Significance, plane, &order, &mut coded, symbols)?;
                self.refine(plane, &order, symbols)?;
            }
            for (index, refined) in self.refined.iter_mut().enumerate() {
                let (y, x) = (index / self.shape.width, index % self.shape.width);
                *refined = self.significant[(y + 1) * STRIDE + x + 1] != 0;
            }
        }
        Ok(())
    }

    /// Pass over significance (SPP and CP of algorithm 2).
    fn pass<S: Symbols>(
        &mut self,
        pass: Pass,
        plane: u32,
        order: &[usize],
        coded: &mut [bool],
        symbols: &mut S,
    ) -> Result<(), Exhausted> {
        let BlockShape { height, width, .. } = self.shape;
        // Coefficients of a step, and those that become significant.
        let (mut visited, mut found) = (Vec::with_capacity(order.len()), Vec::with_capacity(order.len()));
        for (y, side) in (0..height).flat_map(|y| [(y, 0), (y, 1)]) {
            visited.clear();
            found.clear();
            for &lane in order {
                let x = 2 * lane + side;
                let (index, at) = (y * width + x, (y + 1) * STRIDE + x + 1);
                if x >= width || self.significant[at] != 0 || pass == Pass::Cleanup && coded[index] {
                    continue;
                }
                let neighbours = self.neighbours(at);
                let context = match pass {
                    Pass::Significance => Context::significance(neighbours),
                    Pass::Propagation if neighbours == 0 => continue,
                    Pass::Propagation => Context::propagation(neighbours),
                    Pass::Cleanup => Context::cleanup(neighbours),
                };
                if symbols.code(lane, plane, context, self.magnitudes[index] >> plane & 1 == 1)? {
                    found.push((lane, index, at));
                }
                visited.push(index);
            }
            // Coefficients of a step are never neighbours, so their contexts do not depend on these signs.
            let mut signs = Vec::with_capacity(found.len());
            for &(lane, index, at) in found.iter().filter(|_| plane >= self.shape.order.tail()) {
                let (context, predicted) = self.sign(at);
                signs.push(symbols.code(lane, plane, context, self.negative[index] != predicted)? != predicted);
            }
            // A step is known as a whole, or not at all.
            for &index in &visited {
                self.known[index] = plane as u8;
                if pass == Pass::Propagation {
                    coded[index] = true;
                }
            }
            for &(_, index, at) in &found {
                self.significant[at] = 1;
                self.magnitudes[index] |= 1 << plane;
            }
            for (&(_, index, at), negative) in found.iter().zip(signs) {
                self.negative[index] = negative;
                self.signs[at] = if negative { -1 } else { 1 };
            }
        }
        Ok(())
    }

    /// Refinement pass (MRP of algorithm 2).
    fn refine<S: Symbols>(&mut self, plane: u32, order: &[usize], symbols: &mut S) -> Result<(), Exhausted> {
        if plane < self.shape.order.tail() {
            return Ok(());
        }
        let BlockShape { height, width, .. } = self.shape;
        let mut visited = Vec::with_capacity(order.len());
        for (y, side) in (0..height).flat_map(|y| [(y, 0), (y, 1)]) {
            visited.clear();
            for &lane in order {
                let x = 2 * lane + side;
                let index = y * width + x;
                if x >= width || !self.refined[index] {
                    continue;
                }
                let magnitude = self.magnitudes[index];
                let context = Context::refinement(magnitude >> plane >> 1 == 1);
                visited.push((index, symbols.code(lane, plane, context, magnitude >> plane & 1 == 1)?));
            }
            for &(index, one) in &visited {
                self.magnitudes[index] = self.magnitudes[index] & !(1 << plane) | u32::from(one) << plane;
                self.known[index] = plane as u8;
            }
        }
        Ok(())
    }

    /// The tail's bits, lane by lane and plane by plane: index of a coefficient significant at the plane's end, the
    /// plane, and whether the bit is a sign.
    pub fn tail(&self, planes: u32) -> impl Iterator<Item = (usize, u32, bool)> + '_ {
        let BlockShape { height, width, order, .. } = self.shape;
        let each = move |left: usize, plane: u32| {
            let columns = left..width.min(left + 2);
            let places = (0..height).flat_map(move |y| columns.clone().map(move |x| y * width + x));
            places.filter_map(move |index| {
                let above = self.magnitudes[index] >> plane;
                (above != 0).then_some((index, plane, above == 1))
            })
        };
        let of_lane = move |left| (0..order.tail().min(planes)).rev().flat_map(move |plane| each(left, plane));
        (0..width).step_by(2).flat_map(of_lane)
    }

    /// φ of eq. 3.1.
    fn neighbours(&self, at: usize) -> u8 {
        let row = |at: usize| self.significant[at - 1] + self.significant[at] + self.significant[at + 1];
        row(at - STRIDE) + row(at + STRIDE) + self.significant[at - 1] + self.significant[at + 1]
    }

    /// Context of eq. 3.2, and the predicted sign.
    fn sign(&self, at: usize) -> (Context, bool) {
        let vertical = self.signs[at - STRIDE] + self.signs[at + STRIDE];
        let horizontal = self.signs[at - 1] + self.signs[at + 1];
        match self.shape.direction {
            SignAxis::Vertical => Context::sign(vertical, horizontal),
            SignAxis::Horizontal => Context::sign(horizontal, vertical),
        }
    }
}
