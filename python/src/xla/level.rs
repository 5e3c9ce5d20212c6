//! Levels as PyWavelets has them, as XLA calls them on a CPU.
//!
//! Attributes say which level is wanted: `transform` (`forward` and `inverse_adjoint` take an array to bands, `inverse`
//! and `adjoint` bands to an array), `wavelet`, `modes` (names for the last axes, with commas), and `shape`, the
//! lengths of these axes, of bands for `inverse` and `inverse_adjoint`, else of the data. Bands are
//! windows of the one result.

use super::{Call, Failure, aligned, api, sample, scheme_of, shape, text};
use crate::dlpack::contiguous;
use crate::level::{Any, each};
use crate::scheme::Scheme;
use lifting::{SampleType, Strided};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What tells a level from others.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    wavelet: String,
    modes: String,
    /// All axes that are not transformed as one, and those that are.
    shape: Vec<usize>,
    sample: SampleType,
    of_bands: bool,
}

static LEVELS: Mutex<Option<HashMap<Key, Arc<Any>>>> = Mutex::new(None);

impl Key {
    /// The level, made at the first call.
    fn level(self) -> Result<Arc<Any>, String> {
        let lock = || LEVELS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(level) = lock().get_or_insert_default().get(&self) {
            return Ok(level.clone());
        }
        let scheme = Scheme::from(scheme_of(&self.wavelet)?);
        let modes: Vec<Option<String>> =
            std::iter::once(None).chain(self.modes.split(',').map(|mode| Some(mode.to_owned()))).collect();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let level = Arc::new(Any::new(&scheme, &self.shape, &modes, self.sample, self.of_bands, threads)?);
        Ok(lock().get_or_insert_default().entry(self).or_insert(level).clone())
    }
}

/// Runs a call.
pub fn on_cpu(call: &Call<'_>) -> Result<(), Failure> {
    let (given, results) = call.buffers()?;
    let ([first, ..], [result]) = (&given[..], &results[..]) else {
        return Err(text("a level takes an array, or bands, and makes one array"));
    };
    let (found, of) = (shape(first), sample(first)?);
    let same = |buffer: &&api::Buffer| shape(buffer) == found && buffer.sample == first.sample && aligned(buffer);
    if of.1 || !given.iter().all(same) || result.sample != first.sample || !aligned(result) {
        return Err(text("arrays of a level have one shape, and one type of real samples"));
    }
    let samples = shape(result).iter().product();
    if samples == 0 || given.iter().any(|buffer| buffer.data == result.data) {
        return if samples == 0 { Ok(()) } else { Err(text("what is given and the result share memory")) };
    }
    let lengths: Vec<usize> =
        call.string("shape")?.split(',').map(str::parse).collect::<Result<_, _>>().map_err(text)?;
    let Some(batch) = found.len().checked_sub(lengths.len()).map(|axes| found[..axes].iter().product()) else {
        return Err(text(format!("{} axes of an array that has {}", lengths.len(), found.len())));
    };
    let transform = call.string("transform")?;
    let (split, adjoint, of_bands) = match transform {
        "forward" => (true, false, false),
        "inverse_adjoint" => (true, true, true),
        "inverse" => (false, false, true),
        "adjoint" => (false, true, false),
        _ => return Err(text(format!("no transform of a level is called `{transform}`"))),
    };
    let key = Key {
        wavelet: call.string("wavelet")?.to_owned(),
        modes: call.string("modes")?.to_owned(),
        shape: [&[batch], &lengths[..]].concat(),
        sample: of.0,
        of_bands,
    };
    let given_shape = [&[batch], &found[found.len() - lengths.len()..]].concat();
    let strides = contiguous(&given_shape);
    each!(&*key.level()?, typed => {
        // SAFETY: XLA owns all arrays, dense and of these shapes, and what is written is none of the others.
        let (views, target) = unsafe {
            let view = |buffer: &&api::Buffer| Strided::new(buffer.data.cast_const().cast(), &given_shape, &strides);
            (given.iter().map(view).collect::<Vec<_>>(), std::slice::from_raw_parts_mut(result.data.cast(), samples))
        };
        if split {
            typed.split_to(adjoint, &views[0], target).map_err(text)
        } else {
            typed.join_to(adjoint, &views.iter().map(Some).collect::<Vec<_>>(), target).map_err(text)
        }
    })
}
