//! Native extension of the Python package `lifting`: wavelets, plans and levels on Python's arrays.
//!
//! `array` reads Python's buffers, and arrays of other libraries by `dlpack`. `scheme` has wavelets, `plan` plans,
//! `level` PyWavelets' levels, `bank` levels by convolution, `codec` the image codec, and `xla` the handlers for JAX.
//! The public interface is Python code in `lifting/`, which also allocates the arrays. Plans and levels of lifting
//! steps copy nothing.

mod array;
mod bank;
mod codec;
mod convolution;
mod dlpack;
mod jpeg2000;
mod level;
mod plan;
mod scheme;
mod stationary;
mod xla;

use lifting::{CompileError, PlanError};
use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(lifting._lifting, LiftingError, PyValueError, "Invalid input, with its place and remedy.");
create_exception!(
    lifting._lifting,
    LanguageError,
    LiftingError,
    "Errors of a text in the Lifting language, with their positions."
);
create_exception!(lifting._lifting, DeviceError, PyRuntimeError, "A device that is missing or failed.");

/// Converts a plan's error into a Python exception.
fn plan_error(error: PlanError) -> PyErr {
    match error {
        PlanError::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        PlanError::Cuda(_) => DeviceError::new_err(error.to_string()),
        _ => LiftingError::new_err(error.to_string()),
    }
}

/// Converts a text's errors into a Python exception, rendered as by the compiler.
fn compile_error(name: &str, error: CompileError) -> PyErr {
    match error {
        CompileError::Diagnostics { source_text: source, diagnostics } => {
            let failure = liftc::failure::Failure::Diagnostics { name: name.to_owned(), source, diagnostics };
            LanguageError::new_err(failure.render(false, 100))
        }
        error => LanguageError::new_err(error.to_string()),
    }
}

/// Runs the command line `liftc` with these arguments; errors become exceptions.
#[pyfunction]
fn command_line(py: Python<'_>, arguments: Vec<String>) -> PyResult<()> {
    let arguments = std::iter::once("liftc".to_owned()).chain(arguments).map(Into::into);
    let arguments: Vec<std::ffi::OsString> = arguments.collect();
    py.detach(|| liftc::execute(arguments)).map_err(|failure| LiftingError::new_err(failure.render(false, 100)))
}

/// Frees scratch memory that is kept for the next execution.
#[pyfunction]
fn clear_scratch() {
    level::clear_scratch();
    lifting::clear_workspaces();
}

#[pymodule]
fn _lifting(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("LiftingError", py.get_type::<LiftingError>())?;
    module.add("LanguageError", py.get_type::<LanguageError>())?;
    module.add("DeviceError", py.get_type::<DeviceError>())?;
    module.add_function(wrap_pyfunction!(command_line, module)?)?;
    module.add_function(wrap_pyfunction!(clear_scratch, module)?)?;
    module.add_function(wrap_pyfunction!(codec::encode, module)?)?;
    module.add_function(wrap_pyfunction!(codec::decode, module)?)?;
    module.add_function(wrap_pyfunction!(codec::metadata, module)?)?;
    module.add_function(wrap_pyfunction!(codec::encode_field, module)?)?;
    module.add_function(wrap_pyfunction!(codec::decode_field, module)?)?;
    module.add_function(wrap_pyfunction!(jpeg2000::encode_jpeg2000, module)?)?;
    module.add_function(wrap_pyfunction!(jpeg2000::decode_jpeg2000, module)?)?;
    module.add_function(wrap_pyfunction!(jpeg2000::transcode_jpeg2000, module)?)?;
    module.add_function(wrap_pyfunction!(level::level_plan, module)?)?;
    module.add_function(wrap_pyfunction!(xla::xla_handlers, module)?)?;
    module.add_function(wrap_pyfunction!(xla::xla_scratch_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(xla::level::xla_level_scratch_bytes, module)?)?;
    module.add_class::<scheme::Scheme>()?;
    module.add_class::<plan::Plan>()?;
    module.add_class::<stationary::StationaryLevel>()?;
    module.add_class::<bank::Bank>()?;
    module.add_class::<bank::BankLevel>()?;
    module.add_class::<bank::BankStationaryLevel>()?;
    module.add_class::<level::Level>()
}
