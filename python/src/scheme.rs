//! The native class of wavelets: lookup, compilation, filters and reports.

use crate::{LanguageError, LiftingError, compile_error};
use lifting_dsl::polyphase::check_expansion;
use pyo3::prelude::*;
use std::sync::OnceLock;

/// A validated wavelet.
#[pyclass(frozen, module = "lifting._lifting")]
pub struct Scheme {
    pub inner: lifting::Scheme,
    /// Cached because computing it takes longer than planning a level.
    filter_length: OnceLock<usize>,
}

impl From<lifting::Scheme> for Scheme {
    fn from(inner: lifting::Scheme) -> Scheme {
        Scheme { inner, filter_length: OnceLock::new() }
    }
}

impl Scheme {
    /// Length of its filters.
    ///
    /// # Errors
    /// If they take too long to compute.
    pub fn length(&self) -> Result<usize, String> {
        self.expandable()?;
        Ok(*self.filter_length.get_or_init(|| self.inner.filter_length()))
    }

    fn expandable(&self) -> Result<(), String> {
        check_expansion(&self.inner).map_err(|error| error.to_string())
    }
}

#[pymethods]
impl Scheme {
    /// Finds a wavelet of the catalogue by name.
    #[staticmethod]
    fn find(name: &str) -> PyResult<Scheme> {
        let found = lifting::catalogue::find(name);
        found.map(Scheme::from).map_err(|error| {
            let remedy = match &error.similar[..] {
                [] => "`lifting.wavelist()` and `lifting.catalogue()` list the names".to_owned(),
                names => format!("did you mean {}?", names.join(" or ")),
            };
            LiftingError::new_err(format!("unknown wavelet `{}`; {remedy}", error.name))
        })
    }

    /// Compiles a text into its wavelets; errors call the text `name`.
    #[staticmethod]
    fn compile(text: &str, name: &str) -> PyResult<Vec<Scheme>> {
        let schemes = lifting::compile(text).map_err(|error| compile_error(name, error))?;
        Ok(schemes.into_iter().map(Scheme::from).collect())
    }

    /// Name, family and aliases of each wavelet of the catalogue.
    #[staticmethod]
    fn catalogue() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
        lifting::catalogue::entries().iter().map(|entry| (entry.name, entry.family, entry.aliases.to_vec())).collect()
    }

    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn domain(&self) -> &'static str {
        self.inner.domain().name()
    }

    #[getter]
    fn boundary(&self) -> &'static str {
        self.inner.boundary().name()
    }

    #[getter]
    fn docs(&self) -> String {
        self.inner.docs().join("\n")
    }

    #[getter]
    fn profiles(&self) -> Vec<&'static str> {
        self.inner.profiles().iter().map(|profile| profile.format.name()).collect()
    }

    /// Text in the Lifting language.
    #[getter]
    fn text(&self) -> String {
        lifting_dsl::print_scheme(&self.inner)
    }

    #[getter]
    fn filter_length(&self) -> PyResult<usize> {
        self.length().map_err(LiftingError::new_err)
    }

    /// Halo in samples: the farthest sample, to either side, that the steps together read; an even number.
    #[getter]
    fn reach(&self) -> i64 {
        let pairs = |(first, last): (i32, i32)| i64::from(first).abs().max(i64::from(last).abs()) + 1;
        2 * self.inner.steps().iter().filter_map(lifting_dsl::Step::index_support).map(pairs).sum::<i64>()
    }

    /// Condition of a border rule for an axis of `n` samples whose first one has position `origin`.
    fn condition(&self, py: Python<'_>, boundary: &str, n: usize, origin: i64, levels: u32) -> PyResult<f64> {
        let boundary = boundary.parse().map_err(LiftingError::new_err)?;
        Ok(py.detach(|| self.inner.condition(boundary, n, origin, levels)))
    }

    /// Analysis and synthesis filters, low then high: position of the first tap, and taps.
    fn filters(&self) -> PyResult<[(i64, Vec<f64>); 4]> {
        self.expandable().map_err(LiftingError::new_err)?;
        Ok(self.inner.filters())
    }

    /// Vanishing moments of analysis and of synthesis, and the deviation from orthonormality.
    fn moments(&self) -> PyResult<(u32, u32, f64)> {
        self.expandable().map_err(LiftingError::new_err)?;
        let analysis = lifting_dsl::analysis::analyse(&self.inner);
        Ok((analysis.moments, analysis.dual_moments, analysis.orthogonality))
    }

    /// A report as text, with gains of `levels` levels.
    fn show(&self, levels: u32) -> PyResult<String> {
        liftc::describe(&self.inner, levels).map_err(|failure| LanguageError::new_err(failure.render(false, 100)))
    }

    /// SVG figure of functions, frequency responses and steps.
    fn svg(&self, millimetres: f64) -> PyResult<String> {
        liftc::svg(&self.inner, millimetres).map_err(|failure| LanguageError::new_err(failure.render(false, 100)))
    }
}
