//! Codestreams: marker segments of main and tile-part headers (ISO/IEC 15444-1, Annex A; 15444-15, Annex A).

mod marker;
mod read;
mod write;

pub use marker::{Marker, name_of};
pub use read::{Codestream, TileStream};

pub(crate) use marker::*;
pub(crate) use write::{Writer, magnitude_field};

use crate::block::{Orientation, Style};
use crate::image::{Component, Rect};
use std::collections::BTreeMap;
use std::ops::Range;

/// Size of the picture, its tiles and components (SIZ).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// Capabilities that a decoder needs, `Rsiz`.
    pub profile: u16,
    /// Area of the picture on the reference grid.
    pub area: Rect,
    /// The first tile, with its full size. It may begin before the picture.
    pub tile: Rect,
    /// Precision and sampling of the components; without samples.
    pub components: Vec<Component>,
}

impl Size {
    /// Tiles along both axes: columns, then rows (equation B-5).
    pub fn tiles(&self) -> [u32; 2] {
        let [x, y] = [self.area.x1 - self.tile.x0, self.area.y1 - self.tile.y0];
        [x.div_ceil(self.tile.width() as u32), y.div_ceil(self.tile.height() as u32)]
    }

    /// Area of a tile on the reference grid (equations B-7 to B-10).
    pub fn tile_area(&self, tile: u32) -> Rect {
        let [columns, _] = self.tiles();
        let (p, q) = (tile % columns, tile / columns);
        let along = |start: u32, length: usize, k: u32| {
            let from = u64::from(start) + u64::from(k) * length as u64;
            let end = from + length as u64;
            [from, end].map(|x| x.min(u64::from(u32::MAX)) as u32)
        };
        let [x0, x1] = along(self.tile.x0, self.tile.width(), p);
        let [y0, y1] = along(self.tile.y0, self.tile.height(), q);
        Rect { x0, y0, x1, y1 }.intersection(&self.area)
    }
}

/// Order of packets (Table A.16). The letters are of layers, resolutions, components and positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progression {
    /// Layer, resolution, component, position.
    Lrcp,
    /// Resolution, layer, component, position.
    Rlcp,
    /// Resolution, position, component, layer.
    Rpcl,
    /// Position, component, resolution, layer.
    Pcrl,
    /// Component, position, resolution, layer.
    Cprl,
}

impl Progression {
    /// All progressions, in the order of their codes.
    pub const ALL: [Progression; 5] =
        [Progression::Lrcp, Progression::Rlcp, Progression::Rpcl, Progression::Pcrl, Progression::Cprl];

    /// The four letters.
    pub fn name(self) -> &'static str {
        ["LRCP", "RLCP", "RPCL", "PCRL", "CPRL"][self as usize]
    }
}

/// Coding style of a whole tile (COD, Table A.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Order of packets.
    pub progression: Progression,
    /// Quality layers, 1 to 65535.
    pub layers: u32,
    /// Whether the first three components are coded as luminance and chrominance.
    pub colour: bool,
    /// Whether packets may begin with an SOP marker segment.
    pub sop: bool,
    /// Whether packet headers end with an EPH marker.
    pub eph: bool,
}

/// Block coder of a tile-component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coder {
    /// The arithmetic coder of Part 1.
    Ebcot,
    /// The high-throughput coder of Part 15.
    Ht,
}

/// Wavelet of a tile-component (Table A.20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wavelet {
    /// 9/7, irreversible.
    Cdf97,
    /// 5/3, reversible.
    LeGall53,
}

/// Coding style of a tile-component (COD, COC, Table A.15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coding {
    /// Decomposition levels, 0 to 32.
    pub levels: u32,
    /// Base-2 logarithms of a codeblock's columns and rows.
    pub block: [u32; 2],
    /// Codeblock style.
    pub style: Style,
    /// Block coder.
    pub coder: Coder,
    /// Wavelet.
    pub wavelet: Wavelet,
    /// Base-2 logarithms of a precinct's columns and rows at each resolution; 15 everywhere if empty.
    pub precincts: Vec<[u32; 2]>,
}

impl Coding {
    /// Base-2 logarithms of a precinct's columns and rows.
    pub fn precinct(&self, resolution: u32) -> [u32; 2] {
        self.precincts.get(resolution as usize).copied().unwrap_or([15; 2])
    }
}

/// Quantiser of a tile-component (QCD, QCC).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantisation {
    /// Guard bits, 0 to 7.
    pub guard: u32,
    /// Steps of the bands.
    pub steps: Steps,
}

/// Quantiser steps (Table A.28).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steps {
    /// Exponents of reversible bands, coarsest first.
    Reversible(Vec<u32>),
    /// Exponent and mantissa of the LL band; those of others follow from them.
    Derived([u32; 2]),
    /// Exponents and mantissas of all bands, coarsest first.
    Each(Vec<[u32; 2]>),
}

impl Quantisation {
    /// Bitplanes of a band without a region of interest, Mb (equation E-2), and its quantiser step (equation E-3) for
    /// samples of `bits` bits; the step of a reversible band is 1. `None` if the stream lacks them.
    pub fn quantiser(&self, coding: &Coding, resolution: u32, band: Orientation, bits: u32) -> Option<(u32, f64)> {
        let [exponent, mantissa] = self.step(coding.levels, resolution, band)?;
        let range = bits + band.gain();
        let step = match coding.wavelet {
            Wavelet::LeGall53 => 1.0,
            Wavelet::Cdf97 => f64::from(range as i32 - exponent as i32).exp2() * (1.0 + f64::from(mantissa) / 2048.0),
        };
        Some(((self.guard + exponent).saturating_sub(1), step))
    }

    /// Exponent and mantissa of a band (equation E-5); `None` if the stream lacks them.
    pub fn step(&self, levels: u32, resolution: u32, orientation: Orientation) -> Option<[u32; 2]> {
        let index = match orientation {
            Orientation::Ll => 0,
            band => 3 * (resolution as usize - 1) + band as usize,
        };
        match &self.steps {
            Steps::Reversible(exponents) => exponents.get(index).map(|&e| [e, 0]),
            Steps::Each(steps) => steps.get(index).copied(),
            &Steps::Derived([exponent, mantissa]) => {
                let level = if resolution == 0 { levels } else { levels - resolution + 1 };
                (exponent + level).checked_sub(levels).map(|e| [e, mantissa])
            }
        }
    }
}

/// Change of progression (POC): packets of these resolutions, components and layers, as far as they have not come yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Resolutions.
    pub resolutions: Range<u32>,
    /// Components.
    pub components: Range<usize>,
    /// Layer after the last one.
    pub layers: u32,
    /// Order of the packets.
    pub progression: Progression,
}

/// Parameters of a main header, or those that a tile replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Style of whole tiles.
    pub order: Option<Order>,
    /// Style of all components.
    pub coding: Option<Coding>,
    /// Styles of single components.
    pub coding_of: BTreeMap<usize, Coding>,
    /// Quantiser of all components.
    pub quantisation: Option<Quantisation>,
    /// Quantisers of single components.
    pub quantisation_of: BTreeMap<usize, Quantisation>,
    /// Shifts of regions of interest (RGN) of single components.
    pub shift_of: BTreeMap<usize, u32>,
    /// Changes of progression.
    pub volumes: Vec<Volume>,
}

impl Parameters {
    /// Style of a tile, where `self` is the main header's and `tile` is the tile's (A.6.1).
    pub fn order(&self, tile: &Parameters) -> Option<Order> {
        tile.order.or(self.order)
    }

    /// Style of a tile-component. A tile's segments go before those of the main header, COC before COD.
    pub fn coding<'a>(&'a self, tile: &'a Parameters, component: usize) -> Option<&'a Coding> {
        let of = |header: &'a Parameters| header.coding_of.get(&component).or(header.coding.as_ref());
        of(tile).or_else(|| of(self))
    }

    /// Quantiser of a tile-component. A tile's segments go before those of the main header, QCC before QCD.
    pub fn quantisation<'a>(&'a self, tile: &'a Parameters, component: usize) -> Option<&'a Quantisation> {
        let of = |header: &'a Parameters| header.quantisation_of.get(&component).or(header.quantisation.as_ref());
        of(tile).or_else(|| of(self))
    }

    /// Shift of a tile-component's region of interest.
    pub fn shift(&self, tile: &Parameters, component: usize) -> u32 {
        tile.shift_of.get(&component).or(self.shift_of.get(&component)).copied().unwrap_or(0)
    }
}
