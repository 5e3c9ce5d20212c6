//! Wavelet transform of tile-components, and the places of their bands.

use crate::block::Orientation;
use crate::error::{Error, zeros};
use crate::image::Rect;
use crate::lane::Lane;
use crate::tile::TileComponent;
use lifting::{Device, Format, Plan, Scheme, catalogue};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Plans of a picture's tile-components.
#[derive(Default)]
pub struct Plans {
    integers: Cache<i32>,
    reals: Cache<f32>,
}

/// Shape, origin and levels of a plan.
type Key = ([usize; 2], [i64; 2], u32);

/// Plans of one number type.
pub struct Cache<T>(Mutex<HashMap<Key, Plan<T>>>);

impl<T> Default for Cache<T> {
    fn default() -> Cache<T> {
        Cache(Mutex::default())
    }
}

/// Number type with its wavelet and its plans.
pub trait Transformed: Lane {
    /// Name of the wavelet in the catalogue.
    const WAVELET: &str;
    /// Plans of this type.
    fn plans(plans: &Plans) -> &Cache<Self>;
}

impl Transformed for i32 {
    const WAVELET: &str = "legall53";
    fn plans(plans: &Plans) -> &Cache<i32> {
        &plans.integers
    }
}

impl Transformed for f32 {
    const WAVELET: &str = "cdf97";
    fn plans(plans: &Plans) -> &Cache<f32> {
        &plans.reals
    }
}

/// The wavelet of a number type.
pub fn scheme<T: Transformed>() -> Result<Scheme, Error> {
    catalogue::find(T::WAVELET).map_err(|error| Error::Setting(error.to_string()))
}

impl Plans {
    /// Plan for a tile-component, or `None` if the transform changes nothing.
    fn of<T: Transformed>(&self, area: Rect, levels: u32) -> Result<Option<Plan<T>>, Error> {
        /// Most plans that are kept.
        const MOST: usize = 64;
        if area.is_empty() || levels == 0 {
            return Ok(None);
        }
        // Only the remainder of an origin matters.
        let origin = |start: u32| i64::from(start) % (1 << levels);
        let key = ([area.height(), area.width()], [origin(area.y0), origin(area.x0)], levels);
        let lock = || T::plans(self).0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = lock().get(&key) {
            return Ok(Some(plan.clone()));
        }
        let scheme = scheme::<T>()?;
        let builder = Plan::builder(&scheme).shape(&key.0).origins(&key.1).levels(levels).profile(Format::Jpeg2000);
        let plan = builder.sample::<T>().build(&Device::cpu())?;
        let mut cache = lock();
        if cache.len() >= MOST {
            cache.clear();
        }
        cache.insert(key, plan.clone());
        Ok(Some(plan))
    }

    /// Samples of a tile-component, from its coefficients.
    pub fn synthesise<T: Transformed>(&self, area: Rect, levels: u32, coefficients: Vec<T>) -> Result<Vec<T>, Error> {
        let Some(plan) = self.of::<T>(area, levels)? else { return Ok(coefficients) };
        let mut samples = zeros(coefficients.len(), "samples")?;
        plan.inverse(&coefficients[..], &mut samples[..])?;
        Ok(samples)
    }

    /// Coefficients of a tile-component, from its samples.
    pub fn analyse<T: Transformed>(&self, area: Rect, levels: u32, samples: Vec<T>) -> Result<Vec<T>, Error> {
        let Some(plan) = self.of::<T>(area, levels)? else { return Ok(samples) };
        let mut coefficients = zeros(samples.len(), "coefficients")?;
        plan.forward(&samples[..], &mut coefficients[..])?;
        Ok(coefficients)
    }
}

/// Index of a band's first coefficient: low bands come before high ones, on both axes. Rows have `stride` coefficients.
pub fn start(component: &TileComponent, resolution: u32, orientation: Orientation, stride: usize) -> usize {
    let Some(below) = resolution.checked_sub(1) else { return 0 };
    let low = component.resolutions[below as usize].area;
    let [right, down] = orientation.high().map(usize::from);
    right * low.width() + down * low.height() * stride
}
