//! One level as PyWavelets has it: extended data, and every coefficient that depends on it.

use crate::array::Array;
use crate::plan::{self, Plan};
use crate::scheme::Scheme;
use crate::{LiftingError, plan_error};
use half::{bf16, f16};
use lifting::{Device, Direction, Expansive, Extension, PlanError, Sample, SampleType, Strided, Workspace};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::Mutex;

thread_local! {
    /// Where extended arrays are made: of one size after the other, so that memory is not asked for each time.
    static SCRATCH: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Scratch of more bytes is given back after use.
const KEPT: usize = 256 << 20;

/// Calls `run` with so many samples of scratch, which hold anything.
fn scratch<T: Sample, R>(samples: usize, run: impl FnOnce(&mut [T]) -> R) -> R {
    SCRATCH.with_borrow_mut(|words| {
        let needed = (samples * size_of::<T>()).div_ceil(8);
        if words.len() < needed {
            // The old contents are of no use.
            words.clear();
            words.resize(needed, 0);
        }
        // SAFETY: as many samples have room there, aligned for u64, and samples are plain bits.
        let result = run(unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), samples) });
        if words.len() * 8 > KEPT {
            *words = Vec::new();
        }
        result
    })
}

/// A level, and workspaces that no execution has at the moment.
pub struct Typed<T: Sample> {
    pub level: Expansive<T>,
    spare: Mutex<Vec<Workspace<T>>>,
}

impl<T: Sample> Typed<T> {
    /// Calls `run` with so many samples of scratch and a workspace.
    fn with<R>(&self, samples: usize, run: impl FnOnce(&mut [T], &mut Workspace<T>) -> R) -> R {
        let lock = || self.spare.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let spare = lock().pop();
        let mut workspace = spare.unwrap_or_else(|| self.level.workspace());
        let result = scratch(samples, |scratch| run(scratch, &mut workspace));
        lock().push(workspace);
        result
    }

    /// Bands of an array, as windows of the result: by analysis, or by the adjoint of synthesis.
    fn split(&self, py: Python<'_>, adjoint: bool, data: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        let (data, mut target) = (Array::<T>::read(data, "the data")?, Array::write(target, "the coefficients")?);
        if data.meets(&target) {
            return Err(LiftingError::new_err("the data and the coefficients share memory"));
        }
        // SAFETY: the two do not meet.
        let target = unsafe { target.slice("the array of coefficients") }?;
        py.detach(|| self.split_to(adjoint, &data.source(), target)).map_err(plan_error)
    }

    pub fn split_to(&self, adjoint: bool, data: &Strided<'_, T>, target: &mut [T]) -> Result<(), PlanError> {
        let level = &self.level;
        self.with(level.extended_len(), |scratch, workspace| match adjoint {
            false => level.forward_with(data, target, scratch, workspace),
            true => level.inverse_adjoint_with(data, target, scratch, workspace),
        })
    }

    /// An array of bands: by synthesis, or by the adjoint of analysis.
    fn join(
        &self,
        py: Python<'_>,
        adjoint: bool,
        bands: &[Option<Bound<'_, PyAny>>],
        target: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let read = |band: &Option<Bound<'_, PyAny>>| band.as_ref().map(|b| Array::<T>::read(b, "a band")).transpose();
        let bands: Vec<Option<Array<T>>> = bands.iter().map(read).collect::<PyResult<_>>()?;
        let mut target = Array::write(target, "the data")?;
        if bands.iter().flatten().any(|band| band.meets(&target)) {
            return Err(LiftingError::new_err("the data and a band share memory"));
        }
        // SAFETY: it meets none of the others.
        let target = unsafe { target.slice("the array of data") }?;
        py.detach(|| {
            let views: Vec<Option<Strided<'_, T>>> =
                bands.iter().map(|band| band.as_ref().map(Array::source)).collect();
            let views: Vec<Option<&Strided<'_, T>>> = views.iter().map(Option::as_ref).collect();
            self.join_to(adjoint, &views, target)
        })
        .map_err(plan_error)
    }

    pub fn join_to(&self, adjoint: bool, bands: &[Option<&Strided<'_, T>>], target: &mut [T]) -> Result<(), PlanError> {
        let level = &self.level;
        let samples = if adjoint { 2 * level.extended_len() } else { level.synthesis_scratch_len() };
        self.with(samples, |scratch, workspace| match adjoint {
            false => level.inverse_with(bands, target, scratch, workspace),
            true => level.adjoint_with(bands, target, scratch, workspace),
        })
    }
}

/// A level for one of the types of samples.
pub enum Any {
    F16(Typed<f16>),
    Bf16(Typed<bf16>),
    F32(Typed<f32>),
    F64(Typed<f64>),
}

macro_rules! each {
    ($any:expr, $typed:ident => $body:expr) => {
        match $any {
            $crate::level::Any::F16($typed) => $body,
            $crate::level::Any::Bf16($typed) => $body,
            $crate::level::Any::F32($typed) => $body,
            $crate::level::Any::F64($typed) => $body,
        }
    };
}
pub(crate) use each;

impl Any {
    /// For data of that shape, or, if `of_bands`, for bands; `modes` has an entry for each axis.
    pub fn new(
        scheme: &Scheme,
        shape: &[usize],
        modes: &[Option<String>],
        kind: SampleType,
        of_bands: bool,
        device: &Device,
    ) -> Result<Any, String> {
        let rule = |mode: &Option<String>| mode.as_ref().map(|name| name.parse::<Extension>()).transpose();
        let rules: Vec<Option<Extension>> = modes.iter().map(rule).collect::<Result<_, _>>()?;
        macro_rules! build {
            ($variant:ident) => {{
                let make = if of_bands { Expansive::of_bands } else { Expansive::new };
                let level = make(&scheme.inner, scheme.filter_length(), shape, &rules, device);
                let level = level.map_err(|error| error.to_string())?;
                Any::$variant(Typed { level, spare: Mutex::default() })
            }};
        }
        Ok(match kind {
            SampleType::F16 => build!(F16),
            SampleType::Bf16 => build!(Bf16),
            SampleType::F32 => build!(F32),
            SampleType::F64 => build!(F64),
            _ => return Err(format!("levels have samples f16, bf16, f32 or f64, not {kind}")),
        })
    }

    /// The plan of a level that is for a device.
    pub fn device_plan(&self, of_bands: bool) -> Result<plan::Any, String> {
        let direction = if of_bands { Direction::Inverse } else { Direction::Forward };
        macro_rules! plan {
            ($typed:ident, $variant:ident) => {
                $typed.level.device_plan(direction).map(|plan| plan::Any::$variant(plan.clone().into()))
            };
        }
        let plan = match self {
            Any::F16(typed) => plan!(typed, F16),
            Any::Bf16(typed) => plan!(typed, Bf16),
            Any::F32(typed) => plan!(typed, F32),
            Any::F64(typed) => plan!(typed, F64),
        };
        plan.ok_or_else(|| "a level on the CPU is no plan: name another device".into())
    }
}

/// A level of arrays of one shape and type of samples.
#[pyclass(frozen, module = "lifting._lifting")]
pub struct Level {
    any: Any,
}

#[pymethods]
impl Level {
    /// For data of that shape, or, if `of_bands`, for bands. `modes` has an entry for each axis.
    #[new]
    #[pyo3(signature = (scheme, shape, modes, dtype, of_bands=false, threads=1))]
    fn new(
        scheme: &Scheme,
        shape: Vec<usize>,
        modes: Vec<Option<String>>,
        dtype: &str,
        of_bands: bool,
        threads: usize,
    ) -> PyResult<Level> {
        let kind = dtype.parse::<SampleType>().map_err(LiftingError::new_err)?;
        let device = Device::cpu_with_threads(threads);
        let any = Any::new(scheme, &shape, &modes, kind, of_bands, &device).map_err(LiftingError::new_err)?;
        Ok(Level { any })
    }

    /// Shape of every band.
    #[getter]
    fn band_shape(&self) -> Vec<usize> {
        each!(&self.any, typed => typed.level.band_shape().to_vec())
    }

    /// Shape of the arrays that results are windows of.
    #[getter]
    fn extended_shape(&self) -> Vec<usize> {
        each!(&self.any, typed => typed.level.extended_shape().to_vec())
    }

    /// Shape of what synthesis makes.
    #[getter]
    fn restored_shape(&self) -> Vec<usize> {
        each!(&self.any, typed => typed.level.restored_shape().to_vec())
    }

    /// Where in its array the result of synthesis begins.
    #[getter]
    fn first(&self) -> Vec<usize> {
        each!(&self.any, typed => typed.level.first())
    }

    /// Where in its array each band begins.
    #[getter]
    fn offsets(&self) -> Vec<Vec<usize>> {
        each!(&self.any, typed => (0..typed.level.bands()).map(|band| typed.level.offsets(band)).collect())
    }

    fn forward(&self, py: Python<'_>, data: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        each!(&self.any, typed => typed.split(py, false, data, target))
    }

    fn inverse(&self, py: Python<'_>, bands: Vec<Option<Bound<'_, PyAny>>>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        each!(&self.any, typed => typed.join(py, false, &bands, target))
    }

    /// The gradient of bands, taken back to the data, which is the target.
    fn adjoint(&self, py: Python<'_>, bands: Vec<Option<Bound<'_, PyAny>>>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        each!(&self.any, typed => typed.join(py, true, &bands, target))
    }

    /// The gradient of what synthesis makes, taken back to the bands, which are windows of the target.
    fn inverse_adjoint(&self, py: Python<'_>, data: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        each!(&self.any, typed => typed.split(py, true, data, target))
    }
}

/// A level as a plan of a device that is no CPU, for arrays in its memory: of analysis, which takes data to an array of
/// which bands are windows, or, if `of_bands`, of synthesis, which takes such an array, with zeros around the bands.
/// Arguments are those of `Level`, and windows those that it says.
#[pyfunction]
pub fn level_plan(
    py: Python<'_>,
    scheme: &Scheme,
    shape: Vec<usize>,
    modes: Vec<Option<String>>,
    dtype: &str,
    of_bands: bool,
    device: &str,
) -> PyResult<Plan> {
    let device = plan::device(device, None)?;
    let kind = dtype.parse::<SampleType>().map_err(LiftingError::new_err)?;
    let any = py.detach(|| Any::new(scheme, &shape, &modes, kind, of_bands, &device)).map_err(LiftingError::new_err)?;
    any.device_plan(of_bands).map(Plan::from).map_err(LiftingError::new_err)
}
