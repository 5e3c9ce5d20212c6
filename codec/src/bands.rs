//! Band layout of a picture's components, and their codeblocks in stream order.

use crate::block::{BlockShape, Order, SignAxis};
use lifting::{Plan, Sample};

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
pub struct BlockPlace {
    /// Index of the component.
    pub component: usize,
    /// Index of the band.
    pub band: usize,
    /// Index of its first coefficient in the component's.
    pub start: usize,
    /// Distance between rows, in coefficients.
    pub stride: usize,
    /// Size and coding order.
    pub shape: BlockShape,
}

/// Tiles of a plan of two axes, whose bands are computed when they are asked for: a short stream may claim millions of
/// tiles.
#[derive(Clone, Debug)]
pub struct Tiles {
    /// Rows and columns of the picture, and of a full tile.
    shape: [usize; 2],
    tile: [usize; 2],
    /// Coefficients from one row to the next.
    stride: usize,
    /// For each shape of tiles, its bands, which begin where the tile does.
    shapes: Vec<([usize; 2], Vec<Band>)>,
}

impl Tiles {
    /// Tiles of a plan whose full tiles have these rows and columns.
    pub fn new<T: Sample>(plan: &Plan<T>, tile: [usize; 2]) -> Tiles {
        let stride = plan.coefficient_shape()[1];
        let shapes = plan.first_tiles().map(|tile| {
            let at = tile.offset[0] * stride + tile.offset[1];
            let bands = tile.subbands.into_iter().map(|band| {
                let high = [band.high[0], band.high[1]];
                Band {
                    resolution: if high == [false; 2] { 0 } else { plan.depth() - band.level + 1 },
                    shape: [band.shape[0], band.shape[1]],
                    // An empty band begins nowhere.
                    start: band.start.saturating_sub(at),
                    stride,
                    level: band.level,
                    high,
                }
            });
            ([tile.shape[0], tile.shape[1]], bands.collect())
        });
        Tiles { shape: [plan.shape()[0], plan.shape()[1]], tile, stride, shapes: shapes.collect() }
    }

    /// Number of tiles.
    pub fn count(&self) -> usize {
        self.across() * self.shape[0].div_ceil(self.tile[0])
    }

    fn across(&self) -> usize {
        self.shape[1].div_ceil(self.tile[1])
    }

    /// Bands of tile number `number`, counted row by row, coarsest first.
    pub fn bands(&self, number: usize) -> Vec<Band> {
        let at = [number / self.across() * self.tile[0], number % self.across() * self.tile[1]];
        let shape = [0, 1].map(|axis| self.tile[axis].min(self.shape[axis] - at[axis]));
        let bands = self.shapes.iter().find(|(of, _)| *of == shape).map_or(&[][..], |(_, bands)| bands);
        let start = at[0] * self.stride + at[1];
        bands.iter().map(|band| Band { start: start + band.start, ..band.clone() }).collect()
    }

    /// Bands of all tiles.
    pub fn all(&self) -> Vec<Vec<Band>> {
        (0..self.count()).map(|number| self.bands(number)).collect()
    }
}

/// Codeblocks of one resolution of a tile: component by component, band by band, row by row.
pub fn places(bands: &[Band], components: usize, resolution: u32, block: [usize; 2], order: Order) -> Vec<BlockPlace> {
    let mut places = Vec::new();
    for component in 0..components {
        for (index, band) in bands.iter().enumerate().filter(|(_, band)| band.resolution == resolution) {
            let direction = if band.high == [true, false] { SignAxis::Horizontal } else { SignAxis::Vertical };
            for y in (0..band.shape[0]).step_by(block[0]) {
                for x in (0..band.shape[1]).step_by(block[1]) {
                    let (height, width) = (block[0].min(band.shape[0] - y), block[1].min(band.shape[1] - x));
                    places.push(BlockPlace {
                        component,
                        band: index,
                        start: band.start + y * band.stride + x,
                        stride: band.stride,
                        shape: BlockShape { height, width, direction, order },
                    });
                }
            }
        }
    }
    places
}

impl BlockPlace {
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
