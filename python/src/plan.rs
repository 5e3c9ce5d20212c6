//! The native class of plans, for any sample type.

use crate::array::Array;
use crate::dlpack::Place;
use crate::scheme::Scheme;
use crate::{LiftingError, plan_error};
use half::{bf16, f16};
use lifting::cuda::Transform;
use lifting::{Boundary, Device, Format, Layout, Pad, PlanBuilder, PlanError, Sample, SampleType, Strided, StridedMut};
use pyo3::prelude::*;

/// A plan.
pub struct Typed<T: Sample> {
    pub plan: lifting::Plan<T>,
}

/// Transform to execute.
#[derive(Clone, Copy)]
pub enum Operation {
    Forward,
    Inverse(u32),
    Adjoint,
    InverseAdjoint,
}

impl<T: Sample> From<lifting::Plan<T>> for Typed<T> {
    fn from(plan: lifting::Plan<T>) -> Typed<T> {
        Typed { plan }
    }
}

impl<T: Sample> Typed<T> {
    pub fn execute(
        &self,
        operation: Operation,
        source: &Strided<'_, T>,
        target: &mut StridedMut<'_, T>,
    ) -> Result<(), PlanError> {
        match operation {
            Operation::Forward => self.plan.forward(source, target),
            Operation::Inverse(0) => self.plan.inverse(source, target),
            Operation::Inverse(level) => self.plan.inverse_to(level, source, target),
            Operation::Adjoint => self.plan.adjoint(source, target),
            Operation::InverseAdjoint => self.plan.inverse_adjoint(source, target),
        }
    }

    fn run_in_place(&self, operation: Operation, target: &mut StridedMut<'_, T>) -> Result<(), PlanError> {
        match operation {
            Operation::Forward => self.plan.forward_in_place(target),
            _ => self.plan.inverse_in_place(target),
        }
    }

    fn on_host(
        &self,
        py: Python<'_>,
        operation: Operation,
        in_place: bool,
        source: &Array<T>,
        mut target: Array<T>,
    ) -> PyResult<()> {
        py.detach(|| {
            // SAFETY: the arrays share no memory, or are the same one; then only the target is used.
            let mut view = unsafe { target.target() };
            if in_place {
                self.run_in_place(operation, &mut view)
            } else {
                self.execute(operation, &source.source(), &mut view)
            }
        })
        .map_err(plan_error)
    }

    /// Queues a transform of GPU arrays on the stream with that handle.
    fn on_device(
        &self,
        py: Python<'_>,
        transform: Transform,
        arrays: [&Array<T>; 2],
        ordinal: usize,
        stream: usize,
        scratch: u64,
    ) -> PyResult<()> {
        let device = &self.plan.recipe().device;
        let Ok(plan) = self.plan.cuda() else {
            let advice = format!("make it with device=\"cuda:{ordinal}\", or copy them to host memory");
            return Err(wrong(format!("the arrays are on GPU {ordinal}, but the plan is on {device}: {advice}")));
        };
        if plan.device().ordinal() != ordinal {
            return Err(wrong(format!(
                "the arrays are on GPU {ordinal}, but the plan is on {device}: copy them there"
            )));
        }
        let (data, coefficients) = (self.plan.shape(), self.plan.coefficient_shape());
        let shapes = match transform {
            Transform::Forward | Transform::InverseAdjoint => [data, coefficients],
            Transform::Inverse { level: 0 } | Transform::Adjoint => [coefficients, data],
            Transform::Inverse { level } => [coefficients, self.plan.level_shape(level).map_err(plan_error)?],
            Transform::ForwardInPlace | Transform::InverseInPlace => [coefficients; 2],
        };
        for (array, shape) in arrays.into_iter().zip(shapes) {
            if array.shape() != shape {
                let found = array.shape();
                return Err(wrong(format!("an array on the GPU must have shape {shape:?}, but has {found:?}")));
            }
            if !array.is_contiguous() {
                return Err(wrong(
                    "arrays on a GPU must be contiguous: copy them with `.contiguous()` or \
                     `cupy.ascontiguousarray`"
                        .into(),
                ));
            }
        }
        if scratch == 0 && plan.scratch_bytes(transform).map_err(plan_error)? != 0 {
            return Err(wrong("the transform needs scratch memory on the GPU".into()));
        }
        let [source, target] = arrays.map(|array| array.address() as u64);
        // SAFETY: shapes, device and layout were checked; the arrays' library frees memory in stream order.
        py.detach(|| unsafe { plan.execute_with_scratch(transform, stream as _, source, target, scratch) })
            .map_err(plan_error)
    }
}

impl Operation {
    pub fn named(name: &str, level: u32) -> Result<Operation, String> {
        Ok(match name {
            "forward" => Operation::Forward,
            "inverse" => Operation::Inverse(level),
            "adjoint" => Operation::Adjoint,
            "inverse_adjoint" => Operation::InverseAdjoint,
            _ => return Err(format!("unknown transform `{name}`")),
        })
    }

    /// Names of source and target in errors.
    fn ends(self) -> [&'static str; 2] {
        match self {
            Operation::Forward | Operation::InverseAdjoint => ["the data", "the coefficients"],
            Operation::Inverse(_) | Operation::Adjoint => ["the coefficients", "the data"],
        }
    }

    pub fn transform(self, in_place: bool) -> Transform {
        match (self, in_place) {
            (Operation::Forward, false) => Transform::Forward,
            (Operation::Forward, true) => Transform::ForwardInPlace,
            (Operation::Inverse(_), true) => Transform::InverseInPlace,
            (Operation::Inverse(level), false) => Transform::Inverse { level },
            (Operation::Adjoint, _) => Transform::Adjoint,
            (Operation::InverseAdjoint, _) => Transform::InverseAdjoint,
        }
    }
}

/// A plan for any sample type.
pub enum Any {
    F16(Typed<f16>),
    Bf16(Typed<bf16>),
    F32(Typed<f32>),
    F64(Typed<f64>),
    I16(Typed<i16>),
    I32(Typed<i32>),
    I64(Typed<i64>),
}

/// Evaluates an expression for the plan of any sample type.
macro_rules! each {
    ($any:expr, $typed:ident => $body:expr) => {
        match $any {
            $crate::plan::Any::F16($typed) => $body,
            $crate::plan::Any::Bf16($typed) => $body,
            $crate::plan::Any::F32($typed) => $body,
            $crate::plan::Any::F64($typed) => $body,
            $crate::plan::Any::I16($typed) => $body,
            $crate::plan::Any::I32($typed) => $body,
            $crate::plan::Any::I64($typed) => $body,
        }
    };
}
pub(crate) use each;

impl Any {
    /// Builds a plan for samples of that type.
    pub fn build(builder: PlanBuilder<'_>, kind: SampleType, device: &Device) -> Result<Any, PlanError> {
        macro_rules! build {
            ($variant:ident) => {
                Any::$variant(Typed::from(builder.sample().build(device)?))
            };
        }
        Ok(match kind {
            SampleType::F16 => build!(F16),
            SampleType::Bf16 => build!(Bf16),
            SampleType::F32 => build!(F32),
            SampleType::F64 => build!(F64),
            SampleType::I16 => build!(I16),
            SampleType::I32 => build!(I32),
            SampleType::I64 => build!(I64),
        })
    }
}

/// A prepared transform for arrays of one shape and sample type.
#[pyclass(frozen, module = "lifting._lifting")]
pub struct Plan {
    any: Any,
}

impl From<Any> for Plan {
    fn from(any: Any) -> Plan {
        Plan { any }
    }
}

/// Sub-band: name, level, and per axis whether it is high, offset, shape and step.
type Band = (String, u32, Vec<bool>, Vec<usize>, Vec<usize>, Vec<usize>);

fn band(b: lifting::Subband) -> Band {
    (b.name, b.level, b.high, b.offset, b.shape, b.step)
}

fn wrong(message: String) -> PyErr {
    LiftingError::new_err(message)
}

/// Finds a device by name: `cpu`, `cuda`, `cuda:1`, `best` or `interpreter`.
pub fn device(name: &str, threads: Option<usize>) -> PyResult<Device> {
    match (name, name.strip_prefix("cuda:").map(str::parse)) {
        ("cpu", _) => Ok(threads.map_or_else(Device::cpu, Device::cpu_with_threads)),
        ("best", _) => Device::best().map_err(plan_error),
        ("interpreter", _) => Ok(Device::Interpreter),
        ("cuda", _) => Device::cuda(0).map_err(plan_error),
        (_, Some(Ok(ordinal))) => Device::cuda(ordinal).map_err(plan_error),
        _ => Err(wrong(format!("unknown device `{name}`; choose one of cpu, cuda, cuda:N, best, interpreter"))),
    }
}

#[pymethods]
impl Plan {
    /// Builds a plan; `levels` has an entry per axis.
    #[new]
    #[pyo3(signature = (scheme, shape, levels, dtype, *, boundary=None, axis_order=None, origins=None, profile=None,
                        layout="mallat", pad=false, tile=None, device="cpu", threads=None))]
    #[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
    fn new(
        py: Python<'_>,
        scheme: &Scheme,
        shape: Vec<usize>,
        levels: Vec<u32>,
        dtype: &str,
        boundary: Option<&str>,
        axis_order: Option<Vec<usize>>,
        origins: Option<Vec<i64>>,
        profile: Option<&str>,
        layout: &str,
        pad: bool,
        tile: Option<Vec<usize>>,
        device: &str,
        threads: Option<usize>,
    ) -> PyResult<Plan> {
        let mut builder = lifting::Plan::builder(&scheme.inner).shape(&shape).levels_per_axis(&levels);
        if let Some(name) = boundary {
            builder = builder.boundary(name.parse::<Boundary>().map_err(wrong)?);
        }
        if let Some(order) = &axis_order {
            builder = builder.axis_order(order);
        }
        if let Some(origins) = &origins {
            builder = builder.origins(origins);
        }
        if let Some(name) = profile {
            let format = Format::ALL.into_iter().find(|format| format.name() == name);
            let known =
                || format!("unknown profile `{name}`; choose one of {}", Format::ALL.map(Format::name).join(", "));
            builder = builder.profile(format.ok_or_else(|| wrong(known()))?);
        }
        builder = builder.layout(match layout {
            "mallat" => Layout::Mallat,
            "interleaved" => Layout::Interleaved,
            _ => return Err(wrong(format!("unknown layout `{layout}`; choose one of mallat, interleaved"))),
        });
        if pad {
            builder = builder.pad(Pad::Edge);
        }
        if let Some(lengths) = &tile {
            builder = builder.tile(lengths);
        }
        let device = self::device(device, threads)?;
        let kind = dtype.parse::<SampleType>().map_err(wrong)?;
        let any = py.detach(|| Any::build(builder, kind, &device)).map_err(plan_error)?;
        Ok(Plan { any })
    }

    #[getter]
    fn shape(&self) -> Vec<usize> {
        each!(&self.any, typed => typed.plan.shape().to_vec())
    }

    #[getter]
    fn coefficient_shape(&self) -> Vec<usize> {
        each!(&self.any, typed => typed.plan.coefficient_shape().to_vec())
    }

    /// Shape of the low band after `level` levels.
    fn level_shape(&self, level: u32) -> PyResult<Vec<usize>> {
        each!(&self.any, typed => typed.plan.level_shape(level).map(<[usize]>::to_vec)).map_err(plan_error)
    }

    /// Sub-bands, coarsest first.
    fn subbands(&self) -> Vec<Band> {
        each!(&self.any, typed => typed.plan.subbands().map(band).collect())
    }

    /// Offset, shape and sub-bands of each tile.
    fn tiles(&self) -> Vec<(Vec<usize>, Vec<usize>, Vec<Band>)> {
        let tile = |t: lifting::Tile| (t.offset, t.shape, t.subbands.into_iter().map(band).collect());
        each!(&self.any, typed => typed.plan.tiles().map(tile).collect())
    }

    /// The plan's decisions and their reasons, as text.
    fn recipe(&self) -> String {
        each!(&self.any, typed => typed.plan.recipe().to_string())
    }

    #[getter]
    fn boundary(&self) -> &'static str {
        each!(&self.any, typed => typed.plan.recipe().boundary.name())
    }

    #[getter]
    fn device(&self) -> String {
        each!(&self.any, typed => typed.plan.recipe().device.clone())
    }

    /// Number of the plan's CUDA device.
    #[getter]
    fn gpu(&self) -> Option<usize> {
        each!(&self.any, typed => typed.plan.cuda().ok().map(|plan| plan.device().ordinal()))
    }

    /// Bytes of scratch memory that a transform needs on a CUDA device.
    fn scratch_bytes(&self, name: &str, level: u32) -> PyResult<usize> {
        let operation = Operation::named(name, level).map_err(wrong)?;
        each!(&self.any, typed => {
            let on_device = typed.plan.cuda().map_err(plan_error)?;
            on_device.scratch_bytes(operation.transform(false)).map_err(plan_error)
        })
    }

    /// Runs the transform of that name. Work on GPU arrays is queued on `stream` and not waited for; `scratch` is the
    /// address of the transform's scratch memory there.
    #[pyo3(signature = (name, source, target, level=0, stream=None, scratch=0))]
    #[expect(clippy::too_many_arguments, reason = "the Python wrapper passes them all")]
    fn run(
        &self,
        py: Python<'_>,
        name: &str,
        source: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
        level: u32,
        stream: Option<usize>,
        scratch: u64,
    ) -> PyResult<()> {
        let operation = Operation::named(name, level).map_err(wrong)?;
        let [from, to] = operation.ends();
        each!(&self.any, typed => {
            let (source, target) = (Array::anywhere(source, from, stream)?, Array::anywhere(target, to, stream)?);
            target.writable(to)?;
            let in_place = matches!(operation, Operation::Forward | Operation::Inverse(0)) && source.is(&target);
            if !in_place && source.meets(&target) {
                let which = format!("{from} and {to} share memory");
                return Err(wrong(format!("{which}, but are not the same array: pass another `out`")));
            }
            match (source.place(), target.place()) {
                (Place::Host, Place::Host) => typed.on_host(py, operation, in_place, &source, target),
                (Place::Cuda(a), Place::Cuda(b)) if a == b => {
                    let stream = stream.unwrap_or(0);
                    typed.on_device(py, operation.transform(in_place), [&source, &target], a, stream, scratch)
                }
                (Place::Host, _) => Err(wrong(format!("{from} is in host memory, but {to} is on a GPU"))),
                _ => Err(wrong(format!("{from} is on a GPU, but {to} is not on the same one"))),
            }
        })
    }
}
