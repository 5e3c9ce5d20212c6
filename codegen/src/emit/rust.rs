//! `<wavelet>.rs`: a complete transform in Rust.
//!
//! Safe, but for two calls a sample type: of what was compiled for AVX2, once the processor has said that it has it.

use super::passes::margin;
use super::{EmitError, Passes, Request};
use crate::back::rust;
use lifting_dsl::Boundary;
use std::collections::BTreeSet;

/// What only the periodic border rule asks for: a variant of the error, its text, and the check.
const PERIODIC: [&str; 3] = [
    "    /// Periodic border rule, and an odd number of samples at some level.\n    OddPeriodic,\n",
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

/// The Rust file: a module with a pair of functions for each sample type.
///
/// # Errors
/// If the sample types are not of the wavelet's domain, or none is given.
pub fn rust(request: &Request) -> Result<String, EmitError> {
    request.check()?;
    let mut out = request.opening(&[
        "Schedule: rows (one thread; rows in scratch memory, columns in a sliding window), a pass an axis and level."
            .into(),
        "This is the plain form: functions of C, and plans, go through a level once, and are faster.".into(),
    ]);
    let [variant, text, check] = if request.boundary == Boundary::Periodic { PERIODIC } else { [""; 3] };
    let t = request.template().with("ODD_PERIODIC_VARIANT", variant).with("ODD_PERIODIC_TEXT", text);
    out.push('\n');
    out += &t.with("PERIODIC", check).fill(include_str!("geometry.rs.in"));
    let mut helpers = BTreeSet::new();
    let mut transforms = String::new();
    for &sample in request.samples {
        let kernels = Passes::c(request, sample)?.kernels;
        let names = ["analyse_rows", "analyse_columns", "synthesise_rows", "synthesise_columns"];
        for ((kernel, info), name) in super::prepared(kernels)?.iter().zip(names) {
            transforms.push('\n');
            let name = format!("{name}_{}", sample.name());
            transforms += &rust::write_kernel((kernel, info), &name, &mut helpers)?;
        }
        transforms.push('\n');
        let t = request
            .template()
            .with("T", sample.name())
            .with("EXTRA", margin(request.scheme).to_string())
            .with("MAX_GAIN", request.max_gain(sample).to_string())
            .with("GAIN", if request.gain { "                        gain,\n" } else { "" })
            .with("GAIN_NAME", if request.gain { "gain" } else { "_gain" });
        transforms += &t.fill(include_str!("transform.rs.in"));
    }
    for helper in helpers {
        out.push('\n');
        out += helper.definition();
    }
    out += &transforms;
    Ok(out)
}
