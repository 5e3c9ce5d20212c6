//! `<wavelet>.rs`: a complete transform in Rust.
//!
//! Safe, but for two calls a sample type: of what was compiled for AVX2, once the processor has said that it has it.

use super::{EmitError, Request};
use crate::back;
use crate::schedule::Direction;
use crate::schedule::rows::{self, Margins};
use lifting_dsl::Boundary;

/// The Rust file: a module with a pair of functions for each sample type.
///
/// # Errors
/// If the sample types are not of the wavelet's domain, or none is given.
pub fn rust(request: &Request) -> Result<String, EmitError> {
    request.check()?;
    let mut out =
        request.opening(&["Schedule: rows (one thread; rows in scratch memory, columns in a sliding window).".into()]);
    let periodic = (request.boundary == Boundary::Periodic).to_string();
    out.push('\n');
    out += &request.template().with("PERIODIC", periodic).fill(include_str!("geometry.rs.in"));
    out.push('\n');
    out += back::rust::HELPERS;
    for &sample in request.samples {
        let mut kernels = Vec::new();
        let mut extra = 0;
        for direction in [Direction::Forward, Direction::Inverse] {
            let options = request.options(sample, direction);
            kernels.extend([rows::horizontal(request.scheme, options)?, rows::vertical(request.scheme, options)?]);
            extra = extra.max(Margins::of(&direction.steps(request.scheme)).extra());
        }
        let names = ["analyse_rows", "analyse_columns", "synthesise_rows", "synthesise_columns"];
        for ((kernel, info), name) in super::prepared(kernels)?.iter().zip(names) {
            out.push('\n');
            out += &back::rust::write_kernel((kernel, info), &format!("{name}_{}", sample.name()))?;
        }
        out.push('\n');
        let t = request
            .template()
            .with("T", sample.name())
            .with("EXTRA", extra.to_string())
            .with("MAX_GAIN", request.max_gain(sample).to_string())
            .with("GAIN", if request.gain { "                        gain,\n" } else { "" })
            .with("GAIN_NAME", if request.gain { "gain" } else { "_gain" });
        out += &t.fill(include_str!("transform.rs.in"));
    }
    Ok(out)
}
