//! Tiles: the tile-components with their parameters and their partition.

use crate::codestream::{Coding, Order, Parameters, Quantisation, Size, Volume, Wavelet};
use crate::error::Error;
use crate::geometry::{self, Band, Resolution};
use crate::image::Rect;

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
    /// Whether coefficients are integers.
    pub fn is_reversible(&self) -> bool {
        self.coding.wavelet == Wavelet::LeGall53
    }

    /// Bitplanes of a band without a region of interest, Mb (equation E-2), and its quantiser step (equation E-3); the
    /// step is 1 for reversible bands.
    ///
    /// # Errors
    /// [`Error::Broken`] if the stream has no quantiser for the band.
    pub fn quantiser(&self, resolution: u32, band: &Band) -> Result<(u32, f64), Error> {
        let Some([exponent, mantissa]) = self.quantisation.step(self.coding.levels, resolution, band.orientation)
        else {
            let what = format!("no quantiser for band {:?} of resolution {resolution}", band.orientation);
            return Err(Error::Broken { at: 0, what });
        };
        let planes = (self.quantisation.guard + exponent).saturating_sub(1);
        let range = self.bits + band.orientation.gain();
        let step = match self.is_reversible() {
            true => 1.0,
            false => f64::from(range as i32 - exponent as i32).exp2() * (1.0 + f64::from(mantissa) / 2048.0),
        };
        Ok((planes, step))
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
