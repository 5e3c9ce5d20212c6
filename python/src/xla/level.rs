//! XLA handlers of PyWavelets' levels, on a CPU and on CUDA devices.
//!
//! The call's attributes select the level:
//!
//! | attribute | value |
//! |---|---|
//! | `transform` | `forward`, `inverse_adjoint`: data to bands; `inverse`, `adjoint`: bands to data |
//! | `wavelet` | a name, or a text in the language |
//! | `modes` | names for the last axes, separated by commas |
//! | `shape` | lengths of these axes: of bands for `inverse` and `inverse_adjoint`, else of the data |
//!
//! Output bands are windows of the single result. On a GPU, input bands are windows too, of an argument with zeros
//! around them, and restored data fills the result.

use super::{Buffer, Call, Failure, Kept, OnGpu, aligned, api, sample, scheme_of, scratch_bytes, shape, text};
use crate::LiftingError;
use crate::dlpack::contiguous;
use crate::level::{Any, each};
use crate::plan::{self, Operation};
use crate::scheme::Scheme;
use lifting::{Device, SampleType, Strided};
use pyo3::prelude::*;
use std::sync::Arc;

/// Key of a level in the cache.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    wavelet: String,
    modes: String,
    /// The batch axes merged into one, then the transformed axes.
    shape: Vec<usize>,
    sample: SampleType,
    of_bands: bool,
    gpu: Option<usize>,
}

static LEVELS: Kept<Key, Any> = Kept::new();
static PLANS: Kept<Key, plan::Any> = Kept::new();

impl OnGpu for Key {
    fn is_on_gpu(&self) -> bool {
        self.gpu.is_some()
    }
}

impl Key {
    /// The key of a call, for an array of shape `found`.
    fn of(call: &Call<'_>, found: &[usize], sample: SampleType, gpu: Option<usize>) -> Result<Key, Failure> {
        let lengths: Vec<usize> =
            call.string("shape")?.split(',').map(str::parse).collect::<Result<_, _>>().map_err(text)?;
        let Some(batch) = found.len().checked_sub(lengths.len()).map(|axes| found[..axes].iter().product()) else {
            return Err(text(format!("`shape` has {} axes, but the array only {}", lengths.len(), found.len())));
        };
        Ok(Key {
            wavelet: call.string("wavelet")?.to_owned(),
            modes: call.string("modes")?.to_owned(),
            shape: [&[batch], &lengths[..]].concat(),
            sample,
            of_bands: of_bands(call.operation()?),
            gpu,
        })
    }

    fn make(&self) -> Result<Any, String> {
        let scheme = Scheme::from(scheme_of(&self.wavelet)?);
        let modes: Vec<Option<String>> =
            std::iter::once(None).chain(self.modes.split(',').map(|mode| Some(mode.to_owned()))).collect();
        let device = self.gpu.map_or(Ok(Device::cpu()), Device::cuda).map_err(|error| error.to_string())?;
        Any::new(&scheme, &self.shape, &modes, self.sample, self.of_bands, &device)
    }

    /// The level; the first call makes it.
    fn level(self) -> Result<Arc<Any>, String> {
        LEVELS.get(self, Key::make)
    }

    /// The plan of a level on a GPU; the first call makes it.
    fn plan(self) -> Result<Arc<plan::Any>, String> {
        PLANS.get(self, |key| key.make()?.device_plan(key.of_bands))
    }
}

/// Whether `shape` has the lengths of bands.
fn of_bands(operation: Operation) -> bool {
    matches!(operation, Operation::Inverse(_) | Operation::InverseAdjoint)
}

/// Runs a call on a CPU.
pub(super) fn on_cpu(call: &Call<'_>) -> Result<(), Failure> {
    let (given, results) = call.buffers()?;
    let ([first, ..], [result]) = (&given[..], &results[..]) else {
        return Err(text("a level must have at least one argument and exactly one result"));
    };
    let (found, of) = (shape(first), sample(first)?);
    let same = |buffer: &&api::Buffer| shape(buffer) == found && buffer.sample == first.sample && aligned(buffer);
    if of.1 || !given.iter().all(same) || result.sample != first.sample || !aligned(result) {
        return Err(text("arrays of a level must be aligned, of one shape and of one real sample type"));
    }
    let samples = shape(result).iter().product();
    if samples == 0 || given.iter().any(|buffer| buffer.data == result.data) {
        return if samples == 0 { Ok(()) } else { Err(text("an argument and the result share memory")) };
    }
    let operation = call.operation()?;
    let (split, adjoint) = match operation {
        Operation::Forward => (true, false),
        Operation::InverseAdjoint => (true, true),
        Operation::Inverse(_) => (false, false),
        Operation::Adjoint => (false, true),
    };
    let key = Key::of(call, &found, of.0, None)?;
    let given_shape = [&[key.shape[0]], &found[found.len() + 1 - key.shape.len()..]].concat();
    let strides = contiguous(&given_shape);
    each!(&*key.level()?, typed => {
        // SAFETY: XLA owns all arrays, contiguous and of these shapes, and the result is none of the arguments.
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

/// The plan for the arrays of a call on a GPU; `None` if they are empty.
fn planned(call: &Call<'_>, given: &Buffer, result: &Buffer) -> Result<Option<Arc<plan::Any>>, Failure> {
    let (found, (sample, complex)) = (shape(given), sample(given)?);
    if complex || result.sample != given.sample || !aligned(given) || !aligned(result) {
        return Err(text("arrays of a level must be aligned and of one real sample type"));
    }
    if found.contains(&0) || shape(result).contains(&0) {
        return Ok(None);
    }
    let operation = call.operation()?;
    let plan = Key::of(call, &found, sample, Some(call.ordinal()?))?.plan()?;
    let [data, coefficients] = plan::each!(&*plan, typed => [typed.plan.shape(), typed.plan.coefficient_shape()]);
    let expected = match operation {
        Operation::Forward | Operation::InverseAdjoint => [data, coefficients],
        Operation::Inverse(_) | Operation::Adjoint => [coefficients, data],
    };
    for (buffer, expected) in [given, result].into_iter().zip(expected) {
        let axes = shape(buffer);
        let last = axes.len().checked_sub(expected.len() - 1).map(|batch| axes.split_at(batch));
        if last.is_none_or(|(batch, last)| batch.iter().product::<usize>() != expected[0] || last != &expected[1..]) {
            return Err(text(format!("an array of a level must have shape {expected:?}, but has {axes:?}")));
        }
    }
    if given.data == result.data {
        return Err(text("the argument and the result share memory"));
    }
    Ok(Some(plan))
}

/// Makes the plan before graph capture.
pub(super) fn prepare_on_gpu(call: &Call<'_>) -> Result<(), Failure> {
    let (given, results) = call.arrays()?;
    match planned(call, given, results[0])? {
        Some(plan) => scratch_bytes(&plan, call.operation()?).map(drop).map_err(Failure::from),
        None => Ok(()),
    }
}

/// Queues a level on the call's stream.
pub(super) fn on_gpu(call: &Call<'_>) -> Result<(), Failure> {
    let (given, results) = call.arrays()?;
    match planned(call, given, results[0])? {
        // SAFETY: the arrays are on that device, contiguous, of the plan's shapes, and distinct.
        Some(plan) => unsafe { call.queue(&plan, given, &results) },
        None => Ok(()),
    }
}

/// Makes the plan of a level on a CUDA device and returns the bytes of its scratch memory, the call's second result.
/// `shape` has the batch axes merged into one.
#[pyfunction]
pub fn xla_level_scratch_bytes(
    py: Python<'_>,
    transform: &str,
    wavelet: &str,
    modes: &str,
    shape: Vec<usize>,
    sample: &str,
    gpu: usize,
) -> PyResult<usize> {
    py.detach(|| {
        let (sample, operation) = (sample.parse::<SampleType>()?, Operation::named(transform, 0)?);
        let (wavelet, modes, of_bands) = (wavelet.to_owned(), modes.to_owned(), of_bands(operation));
        let key = Key { wavelet, modes, shape, sample, of_bands, gpu: Some(gpu) };
        scratch_bytes(&*key.plan()?, operation)
    })
    .map_err(LiftingError::new_err)
}
