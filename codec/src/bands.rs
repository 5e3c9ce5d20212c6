//! Band layout of a picture's components, and their codeblocks in stream order.

use crate::block::{Direction, Order, Shape};
use lifting::{Plan, Sample, Subband};

/// Band of a component, within a tile.
#[derive(Clone, Debug)]
pub struct Band {
    /// Resolution: 0 for the low band, `levels − level + 1` for the others.
    pub resolution: u32,
    /// Rows and columns; may be 0.
    pub shape: [usize; 2],
    /// Index of its first coefficient in the component's.
    pub start: usize,
    /// Distance between rows, in coefficients.
    pub stride: usize,
    /// Transform level.
    pub level: u32,
    /// Whether the band is high along columns (axis 0) and along rows (axis 1).
    pub high: [bool; 2],
}

/// Codeblock: its band, and its place in the component's coefficients.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Index of the component.
    pub component: usize,
    /// Index of the band.
    pub band: usize,
    /// Index of its first coefficient in the component's.
    pub start: usize,
    /// Distance between rows, in coefficients.
    pub stride: usize,
    /// Size and coding order.
    pub shape: Shape,
}

/// Bands of a 2-D plan, coarsest first, for each tile; tiles go row by row.
pub fn bands<T: Sample>(plan: &Plan<T>) -> Vec<Vec<Band>> {
    let band = |band: Subband| {
        let high = [band.high[0], band.high[1]];
        Band {
            resolution: if high == [false; 2] { 0 } else { plan.depth() - band.level + 1 },
            shape: [band.shape[0], band.shape[1]],
            start: band.start,
            stride: plan.coefficient_shape()[1],
            level: band.level,
            high,
        }
    };
    let mut tiles: Vec<_> = plan.tiles().collect();
    tiles.sort_by(|a, b| a.offset.cmp(&b.offset));
    tiles.into_iter().map(|tile| tile.subbands.into_iter().map(band).collect()).collect()
}

/// Codeblocks of one resolution of a tile: component by component, band by band, row by row.
pub fn places(bands: &[Band], components: usize, resolution: u32, block: [usize; 2], order: Order) -> Vec<Place> {
    let mut places = Vec::new();
    for component in 0..components {
        for (index, band) in bands.iter().enumerate().filter(|(_, band)| band.resolution == resolution) {
            let direction = if band.high == [true, false] { Direction::Horizontal } else { Direction::Vertical };
            for y in (0..band.shape[0]).step_by(block[0]) {
                for x in (0..band.shape[1]).step_by(block[1]) {
                    let (height, width) = (block[0].min(band.shape[0] - y), block[1].min(band.shape[1] - x));
                    places.push(Place {
                        component,
                        band: index,
                        start: band.start + y * band.stride + x,
                        stride: band.stride,
                        shape: Shape { height, width, direction, order },
                    });
                }
            }
        }
    }
    places
}

impl Place {
    /// Copies the block's coefficients, row by row, out of a component's.
    pub fn gather<T: Copy>(&self, from: &[T]) -> Vec<T> {
        let mut block = Vec::with_capacity(self.shape.samples());
        for y in 0..self.shape.height {
            block.extend_from_slice(&from[self.start + y * self.stride..][..self.shape.width]);
        }
        block
    }

    /// Writes the block's coefficients back.
    pub fn scatter<T>(&self, block: impl IntoIterator<Item = T>, to: &mut [T]) {
        let mut block = block.into_iter();
        for y in 0..self.shape.height {
            let row = &mut to[self.start + y * self.stride..][..self.shape.width];
            row.iter_mut().zip(&mut block).for_each(|(to, from)| *to = from);
        }
    }
}
