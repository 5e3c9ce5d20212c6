//! Tiles: the tile-components with their parameters and their partition.

use crate::block::{Orientation, Shape};
use crate::codestream::{Coding, Order, Parameters, Quantisation, Size, Volume};
use crate::error::Error;
use crate::geometry::{self, Band, Resolution};
use crate::image::Rect;
use crate::transform;

/// Tile of a picture.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Index.
    pub index: u32,
    /// Area on the reference grid.
    pub area: Rect,
    /// Style of the packets.
    pub order: Order,
    /// The components in this tile.
    pub components: Vec<TileComponent>,
    /// Progressions, one after the other.
    pub volumes: Vec<Volume>,
}

/// Component of a tile.
#[derive(Clone, Debug)]
pub struct TileComponent {
    /// Area in the component's domain (equation B-12).
    pub area: Rect,
    /// Horizontal and vertical distance of samples on the reference grid.
    pub spacing: [u32; 2],
    /// Bits of a sample.
    pub bits: u32,
    /// Coding style.
    pub coding: Coding,
    /// Quantiser.
    pub quantisation: Quantisation,
    /// Shift of the region of interest.
    pub shift: u32,
    /// Resolutions, coarsest first.
    pub resolutions: Vec<Resolution>,
}

/// Place of a codeblock in its tile-component.
#[derive(Clone, Copy, Debug)]
pub struct BlockPlace {
    /// Resolution.
    pub resolution: u32,
    /// Precinct.
    pub precinct: usize,
    /// Index of the band in its resolution.
    pub band: usize,
    /// Index of the block in its precinct and band.
    pub index: usize,
    /// Orientation of the band.
    pub orientation: Orientation,
    /// Area in the band.
    pub area: Rect,
    /// Index of its first coefficient.
    pub at: usize,
}

impl BlockPlace {
    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        Shape { height: self.area.height(), width: self.area.width() }
    }
}

impl Tile {
    /// The tile `index`, with the parameters of the main header as far as the tile does not replace them.
    ///
    /// # Errors
    /// [`Error::Broken`] if a parameter is missing.
    pub fn new(size: &Size, main: &Parameters, own: &Parameters, index: u32) -> Result<Tile, Error> {
        let missing = |what: &str| Error::Broken { at: 0, what: format!("tile {index} has no {what}") };
        let area = size.tile_area(index);
        let order = main.order(own).ok_or_else(|| missing("coding style"))?;
        let component = |(c, format): (usize, &crate::image::Component)| {
            let coding = main.coding(own, c).ok_or_else(|| missing("coding style"))?.clone();
            let quantisation = main.quantisation(own, c).ok_or_else(|| missing("quantiser"))?.clone();
            let area = area.divided(format.dx, format.dy);
            let resolutions = geometry::resolutions(area, &coding);
            Ok(TileComponent {
                area,
                spacing: [format.dx, format.dy],
                bits: format.bits,
                shift: main.shift(own, c),
                coding,
                quantisation,
                resolutions,
            })
        };
        let components: Vec<TileComponent> =
            size.components.iter().enumerate().map(component).collect::<Result<_, Error>>()?;
        let whole = Volume {
            resolutions: 0..33,
            components: 0..components.len(),
            layers: order.layers,
            progression: order.progression,
        };
        let volumes = [&own.volumes, &main.volumes].into_iter().find(|volumes| !volumes.is_empty());
        Ok(Tile { index, area, order, components, volumes: volumes.cloned().unwrap_or_else(|| vec![whole]) })
    }

    /// Number of precincts of all components and resolutions.
    pub fn precincts(&self) -> u128 {
        self.components.iter().flat_map(|c| &c.resolutions).map(|r| r.count() as u128).sum()
    }

    /// Least number of levels of all components.
    pub fn levels(&self) -> u32 {
        self.components.iter().map(|c| c.coding.levels).min().unwrap_or(0)
    }
}

impl TileComponent {
    /// Bitplanes of a band without a region of interest, Mb (equation E-2), and its quantiser step (equation E-3); the
    /// step is 1 for reversible bands.
    ///
    /// # Errors
    /// [`Error::Broken`] if the stream has no quantiser for the band.
    pub fn quantiser(&self, resolution: u32, band: &Band) -> Result<(u32, f64), Error> {
        let missing = || {
            let what = format!("no quantiser for band {:?} of resolution {resolution}", band.orientation);
            Error::Broken { at: 0, what }
        };
        self.quantisation.quantiser(&self.coding, resolution, band.orientation, self.bits).ok_or_else(missing)
    }

    /// Codeblocks of resolutions up to `levels`: by resolution, precinct, band and row. Rows of coefficients have
    /// `stride` of them.
    pub fn blocks(&self, levels: u32, stride: usize) -> Vec<BlockPlace> {
        let mut places = Vec::new();
        for (r, resolution) in (0..=levels).zip(&self.resolutions) {
            for precinct in 0..resolution.count() {
                for (b, band) in resolution.bands.iter().enumerate() {
                    let blocks = band.blocks(precinct, resolution.precincts[0]);
                    let start = transform::start(self, r, band.orientation, stride);
                    places.extend((0..blocks.count()).map(|index| {
                        let area = blocks.area(index);
                        let offset = (area.y0 - band.area.y0) as usize * stride + (area.x0 - band.area.x0) as usize;
                        let orientation = band.orientation;
                        BlockPlace { resolution: r, precinct, band: b, index, orientation, area, at: start + offset }
                    }));
                }
            }
        }
        places
    }

    /// Most bitplanes of any band, a region of interest included; bands without a quantiser do not count.
    pub fn most_planes(&self) -> u32 {
        let of_resolution = |(r, resolution): (u32, &Resolution)| {
            let planes = |band| self.quantiser(r, band).map_or(0, |(planes, _)| planes);
            resolution.bands.iter().map(planes).max().unwrap_or(0)
        };
        (0..).zip(&self.resolutions).map(of_resolution).max().unwrap_or(0) + self.shift
    }
}
