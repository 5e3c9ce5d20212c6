//! Decoding windows: the tiles of a region, and the coefficients that it needs of them.

use crate::bands::{Band, BlockPlace};
use crate::error::CodecError;
use crate::header::Header;
use lifting::Scheme;
use lifting_dsl::{Boundary, Step};
use std::ops::Range;

/// Rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First row.
    pub y: usize,
    /// First column.
    pub x: usize,
    /// Rows, at least 1.
    pub height: usize,
    /// Columns, at least 1.
    pub width: usize,
}

impl Region {
    fn axes(self) -> [Range<usize>; 2] {
        [self.y..self.y.saturating_add(self.height), self.x..self.x.saturating_add(self.width)]
    }
}

/// Tiles that a region touches, treated as a picture, with the wanted part of them.
#[derive(Clone, Debug)]
pub struct Window {
    /// Tiles along each axis.
    tiles: [Range<usize>; 2],
    /// Tiles of the whole picture along axis 1.
    across: usize,
    /// Rows and columns of a tile.
    tile: [usize; 2],
    /// Rows and columns of these tiles together.
    pub shape: [usize; 2],
    /// Wanted part along each axis.
    wanted: [Range<usize>; 2],
}

impl Window {
    /// Window of a region, or of the whole picture.
    ///
    /// # Errors
    /// If the region is empty or exceeds the picture.
    pub fn new(header: &Header, region: Option<Region>) -> Result<Window, CodecError> {
        let Header { height: rows, width: columns, tile, .. } = *header;
        let region = region.unwrap_or(Region { y: 0, x: 0, height: rows, width: columns });
        let axes = region.axes();
        if axes.iter().zip([rows, columns]).any(|(axis, n)| axis.is_empty() || axis.end > n) {
            let Region { y, x, height, width } = region;
            return Err(CodecError::Region { y, x, height, width, rows, columns });
        }
        let tiles = [0, 1].map(|a| axes[a].start / tile[a]..axes[a].end.div_ceil(tile[a]));
        let pixels = [0, 1].map(|a| tiles[a].start * tile[a]..[rows, columns][a].min(tiles[a].end * tile[a]));
        Ok(Window {
            across: header.tiles()[1],
            tile,
            shape: [0, 1].map(|a| pixels[a].len()),
            wanted: [0, 1].map(|a| axes[a].start - pixels[a].start..axes[a].end - pixels[a].start),
            tiles,
        })
    }

    /// Index within the window of the picture's tile `number`; `None` if it lies outside.
    pub fn tile(&self, number: usize) -> Option<usize> {
        let [y, x] = [number / self.across, number % self.across];
        let is_here = self.tiles[0].contains(&y) && self.tiles[1].contains(&x);
        is_here.then(|| (y - self.tiles[0].start) * self.tiles[1].len() + x - self.tiles[1].start)
    }

    /// Number of tiles.
    pub fn count(&self) -> usize {
        self.tiles[0].len() * self.tiles[1].len()
    }

    /// Wanted part at a level, along each axis: all pixels of the level that the region touches.
    pub fn at_level(&self, level: u32) -> [Range<usize>; 2] {
        self.wanted.clone().map(|axis| axis.start >> level..axis.end.div_ceil(1 << level))
    }

    /// Whether the wanted part of a tile at a level depends on this codeblock.
    pub fn needs(&self, scheme: &Scheme, tile: usize, band: &Band, place: &BlockPlace, level: u32) -> bool {
        let number = [tile / self.tiles[1].len(), tile % self.tiles[1].len()];
        let first = place.start - band.start;
        let (at, size) = ([first / band.stride, first % band.stride], [place.shape.height, place.shape.width]);
        (0..2).all(|axis| {
            let start = number[axis] * self.tile[axis];
            let length = self.tile[axis].min(self.shape[axis] - start);
            let wanted = &self.wanted[axis];
            let wanted = wanted.start.saturating_sub(start)..wanted.end.saturating_sub(start).min(length);
            let needed =
                reach(scheme, wanted.start >> level..wanted.end.div_ceil(1 << level), length, level..band.level);
            needed.start < at[axis] + size[axis] && at[axis] < needed.end
        })
    }
}

/// Range of coefficients, in a band of the last level, that samples at the first level depend on. `length` is the
/// axis's length at full size. The range may be too large but never too small.
fn reach(scheme: &Scheme, mut samples: Range<usize>, length: usize, levels: Range<u32>) -> Range<usize> {
    // Farthest sample of the other phase that a step reads.
    let of_step = |step: &Step| {
        let (low, high) = step.index_support().unwrap_or((0, 0));
        low.unsigned_abs().max(high.unsigned_abs()) as usize + 1
    };
    let far: usize = scheme.steps().iter().map(of_step).sum::<usize>() + 1;
    for level in levels {
        // Length of the longer band.
        let count = length.div_ceil(1 << (level + 1));
        let (start, end) = (samples.start / 2, samples.end.div_ceil(2) + far);
        // Border rules other than periodic read only samples near the border.
        if scheme.boundary() == Boundary::Periodic && (start < far || end > count) {
            return 0..usize::MAX;
        }
        samples = start.saturating_sub(far)..end.min(count);
    }
    samples
}
