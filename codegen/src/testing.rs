//! Shared parts of schedule tests: wavelets, their sample types, and seeded samples.

// Each test uses only some of it.
#![allow(dead_code)]

use lifting_codegen::ir::Scalar;
use lifting_codegen::ir::interp::Element;
use lifting_codegen::schedule::ScheduleError;
use lifting_dsl::sample::Sample;
use lifting_dsl::{Boundary, Domain, Scheme, testing};
use lifting_filters::{CATALOGUE, Entry};

/// A small deterministic generator of bits.
pub fn bits(mut seed: u64) -> impl FnMut() -> u64 {
    move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = (seed ^ (seed >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        x ^ (x >> 33)
    }
}

/// Integers of all sizes, often at the ends of their types' ranges.
pub fn integers(seed: u64) -> impl FnMut() -> i64 {
    let mut bits = bits(seed);
    move || match bits() % 8 {
        0 => i64::MIN,
        1 => i64::MAX,
        2 => i64::from(i16::MIN),
        3 => i64::from(i32::MAX),
        _ => bits() as i64,
    }
}

/// Numbers in -256..256 with long fractions.
pub fn reals(seed: u64) -> impl FnMut() -> f64 {
    let mut bits = bits(seed);
    move || (bits() >> 11) as f64 / (1u64 << 53) as f64 * 512.0 - 256.0
}

/// The bits of a sample. All NaNs give the same value: the compiler and the machine choose their bits.
pub fn pattern<T: Sample + Element>(sample: T) -> u64 {
    if sample.to_f64().is_nan() { u64::MAX } else { sample.to_pattern() }
}

/// The sample types of the wavelet's domain.
pub fn types(scheme: &Scheme) -> &'static [Scalar] {
    match scheme.domain() {
        Domain::Integer => &[Scalar::I16, Scalar::I32, Scalar::I64],
        Domain::Real => &[Scalar::F32, Scalar::F64, Scalar::F16, Scalar::Bf16],
    }
}

/// The main test wavelets.
pub fn wavelets() -> [Scheme; 3] {
    [("dd137", testing::dd137()), ("legall53", testing::legall53()), ("cdf97", testing::cdf97())]
        .map(|(name, steps)| testing::wavelet(name, steps))
}

/// Extreme wavelets, which schedules refuse or just hold: one of minimal length, one with a one-sided step, and two
/// whose steps reach 20 and 60 samples.
pub fn extremes() -> [Scheme; 4] {
    let compiled = lifting_dsl::compile(
        "wavelet short { domain integer; odd -= even[0]; even += odd[0]; }
         wavelet lopsided { domain integer; odd -= even[1]; even += odd[0]; }
         wavelet long { domain integer; boundary zero; odd -= even[-20] + even[20]; }
         wavelet far { domain integer; boundary zero; odd -= even[-60] + even[60]; }",
    );
    compiled.expect("they compile").schemes.try_into().expect("four wavelets")
}

/// Whether `LIFTING_FULL=1`: tests run on the whole catalogue instead of a selection.
pub fn full() -> bool {
    std::env::var_os("LIFTING_FULL").is_some_and(|v| v == "1")
}

/// A wavelet of the catalogue.
pub fn compiled(entry: &Entry) -> Scheme {
    let schemes = lifting_dsl::compile(entry.source).expect("the catalogue compiles").schemes;
    schemes.into_iter().find(|scheme| scheme.name() == entry.name).expect("the file has the wavelet")
}

/// Calls `ran` for one wavelet in `one_of` of the catalogue, or for all of them, each under its border rule and another
/// one, with one of its sample types. `ran` returns in how many cases the wavelet ran; there must be more than `few` in
/// all.
pub fn catalogue(one_of: usize, few: usize, mut ran: impl FnMut(usize, &Scheme, Boundary, Scalar) -> usize) {
    let mut all = 0;
    for (i, entry) in CATALOGUE.iter().enumerate().filter(|(i, _)| full() || i % one_of == 0) {
        let scheme = compiled(entry);
        for boundary in [scheme.boundary(), Boundary::ALL[i % Boundary::ALL.len()]] {
            all += ran(i, &scheme, boundary, types(&scheme)[i % types(&scheme).len()]);
        }
    }
    assert!(all > few, "only {all} cases");
}

/// Uncommon steps: asymmetric; within a pair; of one, three and five samples, with a gap; and two of one phase in a
/// row.
pub fn uncommon() -> Vec<Scheme> {
    let compiled = lifting_dsl::compile(
        "wavelet haar { domain integer; odd -= even[0]; even += odd[0] >> 1; }
         wavelet right { domain integer; odd -= even[1]; even += (odd[0] - odd[2]) >> 1; odd += 3*even[-1]; }
         wavelet real { domain real; odd -= 0.3*even[1]; even += 0.5*odd[0] - 0.1*odd[-2]; even *= 1.5; odd -= even[0]; odd *= 0.5; }
         wavelet pair { domain real; odd -= even[0]; even += 0.5*odd[0]; even *= 1.5; odd *= 0.5; }
         wavelet gaps {
             domain integer;
             odd  -= (3*even[-1] + 5*even[0] - 2*even[1] + 4) >> 3;
             odd  += (even[0] - even[2] + 1) >> 1;
             even += (odd[-2] + 2*odd[-1] - 3*odd[0] + odd[1] + 7*odd[2] + 8) >> 4;
             odd  -= even[1] >> 1;
         }",
    );
    compiled.expect("it compiles").schemes
}

/// Calls `$check::<T>($arguments…, samples)` for the Rust type of a scalar, with samples from the seed.
#[macro_export]
macro_rules! with_samples {
    ($scalar:expr, $seed:expr, $check:ident($($argument:expr),*)) => {{
        let (mut int, mut real) = ($crate::testing::integers($seed), $crate::testing::reals($seed));
        match $scalar {
            Scalar::I16 => $check::<i16>($($argument,)* || int() as i16),
            Scalar::I32 => $check::<i32>($($argument,)* || int() as i32),
            Scalar::I64 => $check::<i64>($($argument,)* int),
            Scalar::F32 => $check::<f32>($($argument,)* || real() as f32),
            Scalar::F64 => $check::<f64>($($argument,)* real),
            Scalar::F16 => $check::<half::f16>($($argument,)* || half::f16::from_f64(real())),
            Scalar::Bf16 => $check::<half::bf16>($($argument,)* || half::bf16::from_f64(real())),
            other => panic!("{} is not a sample type", other.name()),
        }
    }};
}

/// Whether a case ran. A refusal must name its limit.
pub fn ran_or_names_a_limit(scheme: &Scheme, ran: Result<bool, ScheduleError>) -> bool {
    match ran {
        Ok(ran) => ran,
        Err(ScheduleError::Reach { required, available, what, .. }) => {
            assert!(required > available, "{}: {what} is {required} of {available}", scheme.name());
            false
        }
        Err(e) => panic!("{}: {e}", scheme.name()),
    }
}
