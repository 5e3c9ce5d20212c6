//! Test utilities of this workspace: deterministic random numbers, samples, the machine's compilers, the IR's suite as
//! programs, and the compiled catalogue.

pub mod bytes;
pub mod compilers;
pub mod conformance;
pub mod equals_oracle;
pub mod random;
pub mod samples;

use lifting_dsl::Scheme;

/// Whether `LIFTING_FULL=1`: run every case instead of a selection.
pub fn full() -> bool {
    std::env::var("LIFTING_FULL").is_ok_and(|v| v == "1")
}

/// A wavelet of the catalogue, compiled.
///
/// # Panics
/// If the catalogue lacks the name, or the wavelet does not compile.
pub fn wavelet(name: &str) -> Scheme {
    let entry = lifting_filters::find(name).unwrap_or_else(|| panic!("no wavelet `{name}` in the catalogue"));
    let compiled = lifting_dsl::compile(entry.source).unwrap_or_else(|errors| panic!("{}: {errors:#?}", entry.file));
    compiled.schemes.into_iter().find(|scheme| scheme.name() == entry.name).expect("the entry's file holds it")
}

/// Reproducible samples in ±`span`: the 64-bit linear congruential generator of `reference/generate.py`.
pub fn noise(count: usize, span: i64) -> Vec<i64> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as i64 % (2 * span + 1) - span
    };
    (0..count).map(|_| next()).collect()
}
