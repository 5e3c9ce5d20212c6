//! The native half of the Python package `lifting`: schemes, plans and levels on arrays that Python owns.
//!
//! `array` reads Python's buffers and, by `dlpack`, arrays of other libraries; `scheme` has wavelets, `plan` plans,
//! `level` levels as PyWavelets has them, `codec` pictures, `xla` what JAX calls. What users see is in `lifting/`, in
//! Python, which also makes the arrays; plans and levels copy nothing.

mod array;
mod codec;
mod dlpack;
mod level;
mod plan;
mod scheme;
mod xla;

use lifting::{CompileError, PlanError};
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(lifting._lifting, LiftingError, PyValueError, "What cannot be done, where, and what to do instead.");
create_exception!(
    lifting._lifting,
    LanguageError,
    LiftingError,
    "Errors of a text in the Lifting language, with their places."
);
create_exception!(
    lifting._lifting,
    DeviceError,
    PyRuntimeError,
    "A device that is missing, or did not do what it was told."
);

/// A plan's error as Python's.
fn plan_error(error: PlanError) -> PyErr {
    match error {
        PlanError::Cuda(_) => DeviceError::new_err(error.to_string()),
        _ => LiftingError::new_err(error.to_string()),
    }
}

/// A text's errors as the compiler shows them.
fn compile_error(name: &str, error: CompileError) -> PyErr {
    match error {
        CompileError::Diagnostics { source_text: source, diagnostics } => {
            let failure = liftc::failure::Failure::Diagnostics { name: name.to_owned(), source, diagnostics };
            LanguageError::new_err(failure.render(false, 100))
        }
        error => LanguageError::new_err(error.to_string()),
    }
}

/// Runs the command line `liftc` with these arguments; what goes wrong is an exception.
#[pyfunction]
fn command_line(py: Python<'_>, arguments: Vec<String>) -> PyResult<()> {
    let arguments = std::iter::once("liftc".to_owned()).chain(arguments).map(Into::into);
    let arguments: Vec<std::ffi::OsString> = arguments.collect();
    py.detach(|| liftc::execute(arguments)).map_err(|failure| LiftingError::new_err(failure.render(false, 100)))
}

#[pymodule]
fn _lifting(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("LiftingError", py.get_type::<LiftingError>())?;
    module.add("LanguageError", py.get_type::<LanguageError>())?;
    module.add("DeviceError", py.get_type::<DeviceError>())?;
    module.add_function(wrap_pyfunction!(command_line, module)?)?;
    module.add_function(wrap_pyfunction!(codec::encode, module)?)?;
    module.add_function(wrap_pyfunction!(codec::decode, module)?)?;
    module.add_function(wrap_pyfunction!(level::level_plan, module)?)?;
    module.add_function(wrap_pyfunction!(xla::xla_handlers, module)?)?;
    module.add_function(wrap_pyfunction!(xla::xla_scratch_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(xla::level::xla_level_scratch_bytes, module)?)?;
    module.add_class::<scheme::Scheme>()?;
    module.add_class::<plan::Plan>()?;
    module.add_class::<level::Level>()
}
