//! Partition of a tile into tile-components, resolutions, bands, precincts and codeblocks (Annex B).

use crate::block::Orientation;
use crate::codestream::Coding;
use crate::image::Rect;

/// Resolution of a tile-component.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// Its area in the component's domain, reduced (equation B-14).
    pub area: Rect,
    /// Base-2 logarithms of a precinct's columns and rows.
    precinct: [u32; 2],
    /// Precincts: columns, rows (equation B-16).
    pub precincts: [u32; 2],
    /// LL at resolution 0; otherwise HL, LH and HH.
    pub bands: Vec<Band>,
}

/// Band of a resolution.
#[derive(Clone, Copy, Debug)]
pub struct Band {
    /// Orientation.
    pub orientation: Orientation,
    /// Its area (equation B-15).
    pub area: Rect,
    /// Base-2 logarithms of a codeblock's columns and rows (equations B-17, B-18).
    block: [u32; 2],
    /// Base-2 logarithms of a precinct's columns and rows in the band.
    precinct: [u32; 2],
    /// Precinct indices of the first precinct.
    first: [u32; 2],
}

/// Codeblocks of a band inside a precinct.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// Area of the precinct in the band.
    area: Rect,
    block: [u32; 2],
    /// Codeblocks: columns, rows.
    pub grid: [u32; 2],
}

impl Blocks {
    /// Number of codeblocks.
    pub fn count(&self) -> usize {
        self.grid[0] as usize * self.grid[1] as usize
    }

    /// Area of a codeblock in its band; blocks count row by row.
    pub fn area(&self, index: usize) -> Rect {
        let place = [index % self.grid[0] as usize, index / self.grid[0] as usize];
        let along = |axis: usize, start: u32| {
            let cell = u64::from(start >> self.block[axis]) + place[axis] as u64;
            [cell, cell + 1].map(|k| (k << self.block[axis]).min(u64::from(u32::MAX)) as u32)
        };
        let ([x0, x1], [y0, y1]) = (along(0, self.area.x0), along(1, self.area.y0));
        Rect { x0, y0, x1, y1 }.intersection(&self.area)
    }
}

/// Resolutions of a tile-component, coarsest first.
pub fn resolutions(area: Rect, coding: &Coding) -> Vec<Resolution> {
    let of = |r: u32| {
        let below = coding.levels - r;
        let reduced = area.reduced(below);
        let precinct = coding.precinct(r);
        let cells = |from: u32, to: u32, log: u32| {
            if to <= from { 0 } else { ceil_shift(to, log) - (from >> log) }
        };
        let precincts = match reduced.is_empty() {
            true => [0; 2],
            false => [cells(reduced.x0, reduced.x1, precinct[0]), cells(reduced.y0, reduced.y1, precinct[1])],
        };
        let first = [reduced.x0 >> precinct[0], reduced.y0 >> precinct[1]];
        let orientations: &[_] = match r {
            0 => &[Orientation::Ll],
            _ => &[Orientation::Hl, Orientation::Lh, Orientation::Hh],
        };
        // Precincts of the bands of a level have half the sides of those of its resolution.
        let precinct_of_band = if r == 0 { precinct } else { precinct.map(|log| log.saturating_sub(1)) };
        let band = |&orientation: &Orientation| Band {
            orientation,
            area: band_area(area, if r == 0 { below } else { below + 1 }, orientation),
            block: [0, 1].map(|axis| coding.block[axis].min(precinct_of_band[axis])),
            precinct: precinct_of_band,
            first,
        };
        Resolution { area: reduced, precinct, precincts, bands: orientations.iter().map(band).collect() }
    };
    (0..=coding.levels).map(of).collect()
}

/// Area of a band of a level, counted from 1, the finest (equation B-15).
fn band_area(area: Rect, level: u32, orientation: Orientation) -> Rect {
    let [high_x, high_y] = orientation.high();
    let along = |x: u32, high: bool| {
        let offset = if high { 1u64 << (level - 1) } else { 0 };
        let shifted = u64::from(x).saturating_sub(offset);
        ((shifted + (1u64 << level) - 1) >> level) as u32
    };
    Rect {
        x0: along(area.x0, high_x),
        y0: along(area.y0, high_y),
        x1: along(area.x1, high_x),
        y1: along(area.y1, high_y),
    }
}

fn ceil_shift(x: u32, log: u32) -> u32 {
    ((u64::from(x) + (1 << log) - 1) >> log) as u32
}

impl Resolution {
    /// Number of precincts.
    pub fn count(&self) -> usize {
        self.precincts[0] as usize * self.precincts[1] as usize
    }

    /// First point of a precinct on the reference grid: column, row. `tile` is the tile's area, `below` the number of
    /// levels between this resolution and the full one (the conditions of B.12.1.3).
    pub fn point(&self, index: usize, tile: Rect, below: u32, [dx, dy]: [u32; 2]) -> [u64; 2] {
        let place = [index % self.precincts[0] as usize, index / self.precincts[0] as usize];
        let along = |axis: usize, start: u32, of_tile: u32, spacing: u32| match place[axis] {
            // The first precinct is met at the tile's edge, unless it begins at a multiple of its side.
            0 if !start.is_multiple_of((1u64 << self.precinct[axis]).min(1 << 31) as u32) => u64::from(of_tile),
            k => {
                let cell = u64::from(start >> self.precinct[axis]) + k as u64;
                ((cell << self.precinct[axis]) << below) * u64::from(spacing)
            }
        };
        [along(0, self.area.x0, tile.x0, dx), along(1, self.area.y0, tile.y0, dy)]
    }
}

impl Band {
    /// Codeblocks in precinct `index` of a resolution with `columns` columns of precincts.
    pub fn blocks(&self, index: usize, columns: u32) -> Blocks {
        let place = [index % columns as usize, index / columns as usize];
        let along = |axis: usize| {
            let cell = u64::from(self.first[axis]) + place[axis] as u64;
            [cell, cell + 1].map(|k| (k << self.precinct[axis]).min(u64::from(u32::MAX)) as u32)
        };
        let ([x0, x1], [y0, y1]) = (along(0), along(1));
        let area = Rect { x0, y0, x1, y1 }.intersection(&self.area);
        let block = self.block;
        let grid = match area.is_empty() {
            true => [0; 2],
            false => [
                ceil_shift(area.x1, block[0]) - (area.x0 >> block[0]),
                ceil_shift(area.y1, block[1]) - (area.y0 >> block[1]),
            ],
        };
        Blocks { area, block, grid }
    }
}
