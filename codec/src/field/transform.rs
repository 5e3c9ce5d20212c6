//! Wavelet transforms of chunks, and their bands.

use super::integers::Band;
use crate::block::SignAxis;
use crate::budget;
use crate::error::CodecError;
use lifting::{Device, Plan, Sample, catalogue};

/// Most levels along an axis.
pub const MAX_LEVELS: u32 = 16;

/// Levels along an axis of this length: the low band keeps 4 to 8 samples.
pub fn levels(length: usize) -> u32 {
    if length < 8 { 0 } else { (length.ilog2() - 2).min(MAX_LEVELS) }
}

/// Transform of chunks of one shape.
pub struct Transform<T> {
    /// `None` if every axis is too short for a level.
    plan: Option<Plan<T>>,
    /// The bands of the coefficients, coarsest first.
    pub bands: Vec<Band>,
    /// For each band and axis, the level and whether the band is high; level 0 without a transform.
    pub kinds: Vec<[(u32, bool); 3]>,
}

impl<T: Sample + Default> Transform<T> {
    /// Transform by a wavelet of the catalogue.
    pub fn new(wavelet: &str, shape: [usize; 3]) -> Result<Transform<T>, CodecError> {
        let levels = shape.map(levels);
        if levels == [0; 3] {
            return Ok(Transform { plan: None, bands: vec![Band::whole(shape)], kinds: vec![[(0, false); 3]] });
        }
        let scheme = catalogue::find(wavelet).map_err(|e| CodecError::Wavelet { why: e.to_string() })?;
        let plan = Plan::builder(&scheme).shape(&shape).levels_per_axis(&levels).sample::<T>();
        let plan = plan.build(&Device::cpu())?;
        let (mut bands, mut kinds) = (Vec::new(), Vec::new());
        for band in plan.subbands().filter(|band| !band.shape.contains(&0)) {
            let high: [bool; 3] = std::array::from_fn(|axis| band.high[axis]);
            let horizontal = high[1] && !high[2];
            bands.push(Band {
                shape: std::array::from_fn(|axis| band.shape[axis]),
                start: band.start,
                strides: std::array::from_fn(|axis| band.strides[axis].unsigned_abs()),
                direction: if horizontal { SignAxis::Horizontal } else { SignAxis::Vertical },
            });
            kinds.push(std::array::from_fn(|axis| (band.level.min(levels[axis]), high[axis])));
        }
        Ok(Transform { plan: Some(plan), bands, kinds })
    }

    /// Coefficients of samples.
    pub fn forward(&self, samples: Vec<T>) -> Result<Vec<T>, CodecError> {
        let Some(plan) = &self.plan else { return Ok(samples) };
        let mut coefficients = budget::zeros(samples.len(), "coefficients")?;
        plan.forward(&samples[..], &mut coefficients[..])?;
        Ok(coefficients)
    }

    /// Samples of coefficients.
    pub fn inverse(&self, coefficients: Vec<T>) -> Result<Vec<T>, CodecError> {
        let Some(plan) = &self.plan else { return Ok(coefficients) };
        let mut samples = budget::zeros(coefficients.len(), "samples")?;
        plan.inverse(&coefficients[..], &mut samples[..])?;
        Ok(samples)
    }
}
