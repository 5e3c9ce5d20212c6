//! Wavelet transform of tile-components, and the places of their bands.

use crate::block::Orientation;
use crate::codestream::Wavelet;
use crate::error::{Error, zeros};
use crate::image::Rect;
use crate::lane::Lane;
use crate::tile::TileComponent;
use lifting::{Device, Format, Plan, catalogue};

/// Plan for a tile-component, or `None` if the transform changes nothing.
fn plan<T: Lane>(wavelet: Wavelet, area: Rect, levels: u32) -> Result<Option<Plan<T>>, Error> {
    if area.is_empty() || levels == 0 {
        return Ok(None);
    }
    let name = match wavelet {
        Wavelet::LeGall53 => "legall53",
        Wavelet::Cdf97 => "cdf97",
    };
    let scheme = catalogue::find(name).map_err(|error| Error::Setting(error.to_string()))?;
    let plan = Plan::builder(&scheme)
        .shape(&[area.height(), area.width()])
        .origins(&[area.y0.into(), area.x0.into()])
        .levels(levels)
        .profile(Format::Jpeg2000)
        .sample::<T>()
        .build(&Device::cpu())?;
    Ok(Some(plan))
}

/// Samples of a tile-component, from its coefficients.
pub fn synthesise<T: Lane>(wavelet: Wavelet, area: Rect, levels: u32, coefficients: Vec<T>) -> Result<Vec<T>, Error> {
    let Some(plan) = plan::<T>(wavelet, area, levels)? else { return Ok(coefficients) };
    let mut samples = zeros(coefficients.len(), "samples")?;
    plan.inverse(&coefficients[..], &mut samples[..])?;
    Ok(samples)
}

/// Coefficients of a tile-component, from its samples.
pub fn analyse<T: Lane>(wavelet: Wavelet, area: Rect, levels: u32, samples: Vec<T>) -> Result<Vec<T>, Error> {
    let Some(plan) = plan::<T>(wavelet, area, levels)? else { return Ok(samples) };
    let mut coefficients = zeros(samples.len(), "coefficients")?;
    plan.forward(&samples[..], &mut coefficients[..])?;
    Ok(coefficients)
}

/// Index of a band's first coefficient: low bands come before high ones, on both axes. Rows have `stride` coefficients.
pub fn start(component: &TileComponent, resolution: u32, orientation: Orientation, stride: usize) -> usize {
    let Some(below) = resolution.checked_sub(1) else { return 0 };
    let low = component.resolutions[below as usize].area;
    match orientation {
        Orientation::Ll => 0,
        Orientation::Hl => low.width(),
        Orientation::Lh => low.height() * stride,
        Orientation::Hh => low.height() * stride + low.width(),
    }
}
