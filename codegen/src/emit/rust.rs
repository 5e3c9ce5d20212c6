//! `<wavelet>.rs`: a complete transform in Rust.
//!
//! The code is safe, except for two things: calls of functions compiled for AVX2 or AVX-512, after a check of the
//! processor; and non-temporal loads and stores.

use super::passes::margin;
use super::private::spelled;
use super::sweep::Sweeps;
use super::{EmitError, Passes, Request};
use crate::back::rust;
use lifting_dsl::Boundary;
use std::collections::BTreeSet;

/// Parts that only the periodic border rule needs: an error variant, its text, and the check.
const PERIODIC: [&str; 3] = [
    "    /// The periodic border rule, with an odd number of samples at some level.\n    OddPeriodic,\n",
    "            Error::OddPeriodic => \"the periodic border rule needs even lengths at every level\",\n",
    "        \
     for level in 0..self.depth() {
            let level = Level::of(self, level);
            if level.order.iter().any(|&a| level.size[a] & 1 == 1) {
                return Err(Error::OddPeriodic);
            }
        }
",
];

/// The Rust file: a module with a pair of functions per sample type.
///
/// # Errors
/// If no sample type is given, or one is outside the wavelet's domain.
pub fn rust(request: &Request) -> Result<String, EmitError> {
    request.check_cpu("Rust")?;
    let sweeps = match request.boundary {
        Boundary::Periodic => Sweeps::cyclic(request)?,
        _ => Sweeps::new(request)?,
    };
    let is_swept = sweeps.is_some() && request.boundary != Boundary::Periodic;
    let mut out = request.opening(&super::sweep::schedule(
        is_swept,
        &["For speed: rustc -O. Loops are compiled for SSE2, AVX2 and AVX-512; the best runs.", "Single-threaded."],
    ));
    let [variant, text, check] = if request.boundary == Boundary::Periodic { PERIODIC } else { [""; 3] };
    let t = request.template().with("ODD_PERIODIC_VARIANT", variant).with("ODD_PERIODIC_TEXT", text);
    out.push('\n');
    let t = request
        .constructors(t)
        .with("PERIODIC", check)
        .with("FORMAT", request.format_check_rust())
        .with("EACH", if sweeps.is_some() && !is_swept { "" } else { request.each_rust() });
    out += &t.fill(include_str!("geometry.rs.in"));
    let mut helpers = BTreeSet::new();
    let mut transforms = String::new();
    if let Some(sweeps) = &sweeps {
        transforms += &sweeps.rust(request, &mut helpers);
    }
    for &sample in request.samples.iter().filter(|_| sweeps.is_none()) {
        let t = request.template().with("T", sample.name());
        let kernels = Passes::c(request, sample)?.kernels;
        let names = ["analyse_rows", "analyse_columns", "synthesise_rows", "synthesise_columns"];
        for ((kernel, info), name) in super::prepared(kernels)?.iter().zip(names) {
            transforms.push('\n');
            let name = format!("{name}_{}", sample.name());
            transforms += &rust::write_kernel((kernel, info), &name, &mut helpers)?;
        }
        transforms.push('\n');
        let t = t
            .with("EXTRA", margin(request.scheme).to_string())
            .with("MAX_GAIN", request.max_gain(sample).to_string())
            .with("GAIN", if request.gain { "                        gain,\n" } else { "" })
            .with("GAIN_NAME", if request.gain { "gain" } else { "_gain" });
        transforms += &request.lone_rust(t, sample).fill(include_str!("transform.rs.in"));
    }
    for helper in helpers {
        out.push('\n');
        out += helper.definition();
    }
    out += &transforms;
    Ok(super::with_contents(&spelled(request, &out)))
}
