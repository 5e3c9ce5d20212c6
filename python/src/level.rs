//! One level of PyWavelets' transforms: data is extended, and all coefficients that depend on it are kept.

use crate::array::Array;
use crate::plan::{self, Plan};
use crate::scheme::Scheme;
use crate::{LiftingError, plan_error};
use half::{bf16, f16};
use lifting::{Device, Expansive, Extension, PlanError, Sample, SampleType, Spare, Strided, Workspace};
use lifting_dsl::Direction;
use pyo3::prelude::*;
use std::cell::RefCell;

thread_local! {
    /// Scratch for extended arrays, reused to avoid an allocation per call.
    static SCRATCH: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Largest scratch in bytes that is kept after use.
const KEPT: usize = 256 << 20;

/// Frees the calling thread's scratch.
pub fn clear_scratch() {
    SCRATCH.with_borrow_mut(|words| *words = Vec::new());
}

/// Calls `run` with `samples` samples of scratch of arbitrary contents.
fn scratch<T: Sample>(samples: usize, run: impl FnOnce(&mut [T]) -> Result<(), PlanError>) -> Result<(), PlanError> {
    SCRATCH.with_borrow_mut(|words| {
        let needed = samples.saturating_mul(size_of::<T>()).div_ceil(8);
        if words.len() < needed {
            // Avoids copying the old contents.
            words.clear();
            let bytes = samples.saturating_mul(size_of::<T>());
            words
                .try_reserve_exact(needed)
                .map_err(|_| PlanError::OutOfMemory { what: "the extended array", bytes })?;
            words.resize(needed, 0);
        }
        // SAFETY: the memory has room for the samples, is aligned for u64, and samples are plain bits.
        let result = run(unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), samples) });
        if words.len() * 8 > KEPT {
            *words = Vec::new();
        }
        result
    })
}

/// A level and its idle workspaces.
pub struct Typed<T: Sample> {
    pub level: Expansive<T>,
    spare: Spare<T>,
}

impl<T: Sample> Typed<T> {
    /// Calls `run` with `samples` samples of scratch and a workspace.
    fn with(
        &self,
        samples: usize,
        run: impl FnOnce(&mut [T], &mut Workspace<T>) -> Result<(), PlanError>,
    ) -> Result<(), PlanError> {
        let work = |workspace: &mut Workspace<T>| scratch(samples, |scratch| run(scratch, workspace));
        self.spare.with(|| self.level.lazy_workspace(), work)
    }

    /// Analysis, or the adjoint of synthesis; the bands are windows of the target.
    fn split(&self, py: Python<'_>, adjoint: bool, data: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        let (data, mut target) = (Array::<T>::read(data, "the data")?, Array::write(target, "the coefficients")?);
        if data.meets(&target) {
            return Err(LiftingError::new_err("the data and the coefficients share memory: use separate arrays"));
        }
        // SAFETY: the arrays share no memory.
        let target = unsafe { target.slice("the array of coefficients") }?;
        py.detach(|| self.split_to(adjoint, &data.source(), target)).map_err(plan_error)
    }

    pub fn split_to(&self, adjoint: bool, data: &Strided<'_, T>, target: &mut [T]) -> Result<(), PlanError> {
        let level = &self.level;
        self.with(level.analysis_scratch_len(), |scratch, workspace| match adjoint {
            false => level.forward_with(data, target, scratch, workspace),
            true => level.inverse_adjoint_with(data, target, scratch, workspace),
        })
    }

    /// Synthesis, or the adjoint of analysis, from bands to data.
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
            return Err(LiftingError::new_err("the data and a band share memory: use separate arrays"));
        }
        // SAFETY: the target shares no memory with the bands.
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
        let samples = if adjoint { 2 * level.analysis_scratch_len() } else { level.synthesis_scratch_len() };
        self.with(samples, |scratch, workspace| match adjoint {
            false => level.inverse_with(bands, target, scratch, workspace),
            true => level.adjoint_with(bands, target, scratch, workspace),
        })
    }
}

/// A level for any sample type.
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
    /// A level for data of that shape, or for bands if `of_bands`; `modes` has an entry per axis.
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
                let level = make(&scheme.inner, scheme.length()?, shape, &rules, device);
                let level = level.map_err(|error| error.to_string())?;
                Any::$variant(Typed { level, spare: Spare::default() })
            }};
        }
        Ok(match kind {
            SampleType::F16 => build!(F16),
            SampleType::Bf16 => build!(Bf16),
            SampleType::F32 => build!(F32),
            SampleType::F64 => build!(F64),
            _ => return Err(format!("unsupported sample type {kind}: levels need f16, bf16, f32 or f64")),
        })
    }

    /// The device plan of a level; an error for levels on the CPU.
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
        plan.ok_or_else(|| "levels on the CPU have no device plan: choose another device".into())
    }
}

/// A level for arrays of one shape and sample type.
#[pyclass(frozen, module = "lifting._lifting")]
pub struct Level {
    any: Any,
}

#[pymethods]
impl Level {
    /// A level for data of that shape, or for bands if `of_bands`. `modes` has an entry per axis.
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

    /// Shape of the extended array; results are windows of it.
    #[getter]
    fn extended_shape(&self) -> Vec<usize> {
        each!(&self.any, typed => typed.level.extended_shape().to_vec())
    }

    /// Shape of the data that synthesis restores.
    #[getter]
    fn restored_shape(&self) -> Vec<usize> {
        each!(&self.any, typed => typed.level.restored_shape().to_vec())
    }

    /// Index of the restored data's first sample in the extended array.
    #[getter]
    fn first(&self) -> Vec<usize> {
        each!(&self.any, typed => typed.level.first())
    }

    /// Index of each band's first coefficient in the extended array.
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

    /// The adjoint of `forward`: maps a gradient of the bands to one of the data, the target.
    fn adjoint(&self, py: Python<'_>, bands: Vec<Option<Bound<'_, PyAny>>>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        each!(&self.any, typed => typed.join(py, true, &bands, target))
    }

    /// The adjoint of `inverse`: maps a gradient of the data to one of the bands, windows of the target.
    fn inverse_adjoint(&self, py: Python<'_>, data: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        each!(&self.any, typed => typed.split(py, true, data, target))
    }
}

/// A level as a plan of a device other than the CPU, for arrays in its memory.
///
/// By default it is analysis, from data to an array with the bands as windows. With `of_bands` it is synthesis, from
/// such an array with zeros around the bands. Arguments and windows are those of `Level`.
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
