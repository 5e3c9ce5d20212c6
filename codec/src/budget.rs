//! Bounds on what a stream may ask for: operations of the inverse transform, and memory.

use crate::error::CodecError;
use lifting::Scheme;
use lifting_dsl::Step;

/// Operations a sample that any stream may ask for. The longest wavelet of the catalogue takes half of it.
const EACH: u128 = 512;

/// Operations that a stream with a longer wavelet may always ask for: seconds.
const SMALL: u128 = 1 << 32;

/// Operations that each byte of such a stream may ask for.
const PROPORTION: u128 = 1 << 17;

/// Operations a sample of the inverse transform: a tap or an update each, along two axes.
pub fn operations(scheme: &Scheme) -> u128 {
    let of_step = |step: &Step| match step {
        Step::Integer(s) => s.taps.len() + 1,
        Step::Real(s) => s.groups.iter().map(|group| group.offsets.len()).sum::<usize>() + 1,
        Step::Scale(_) => 1,
    };
    2 * scheme.steps().iter().map(of_step).sum::<usize>() as u128
}

/// Whether a stream of `bytes` bytes may ask for so many samples by a wavelet; `most` replaces the usual limit.
///
/// # Errors
/// [`CodecError::TooMuchWork`].
pub fn check(scheme: &Scheme, samples: u128, bytes: usize, most: Option<u128>) -> Result<(), CodecError> {
    let each = operations(scheme);
    let work = samples.saturating_mul(each);
    let most = match most {
        Some(most) => most,
        None if each <= EACH => return Ok(()),
        None => SMALL + PROPORTION * bytes as u128,
    };
    if work <= most { Ok(()) } else { Err(CodecError::TooMuchWork { bytes, work, most, each }) }
}

/// `count` default values; an error instead of an abort where memory does not suffice.
///
/// # Errors
/// [`CodecError::Memory`].
pub fn zeros<T: Clone + Default>(count: usize, what: &'static str) -> Result<Vec<T>, CodecError> {
    // Asked for twice: pages of zeros need no writing, and only the first request may fail.
    drop(room::<T>(count, what)?);
    Ok(vec![T::default(); count])
}

/// Checks that the system has so many bytes at once, where it can tell: later requests of the same work are many.
///
/// # Errors
/// [`CodecError::Memory`].
pub fn check_memory(bytes: u128, what: &'static str) -> Result<(), CodecError> {
    let none = CodecError::Memory { what, bytes };
    room::<u8>(usize::try_from(bytes).map_err(|_| none.clone())?, what).map(drop).map_err(|_| none)
}

/// Empty vector with room for `count` values.
///
/// # Errors
/// [`CodecError::Memory`].
pub fn room<T>(count: usize, what: &'static str) -> Result<Vec<T>, CodecError> {
    let mut values = Vec::new();
    let bytes = count as u128 * size_of::<T>() as u128;
    values.try_reserve_exact(count).map_err(|_| CodecError::Memory { what, bytes })?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(pairs: usize) -> Scheme {
        let text = "odd -= (even[0] + even[1]) >> 1; even += (odd[-1] + odd[0] + 2) >> 2;".repeat(pairs);
        lifting::compile(&format!("wavelet long {{ domain integer; {text} }}")).unwrap().remove(0)
    }

    #[test]
    fn work_is_in_proportion_to_the_stream() {
        assert_eq!(operations(&steps(1)), 12);
        // Usual wavelets have no limit but that of samples.
        check(&steps(40), 1 << 40, 100, None).unwrap();
        let long = steps(512);
        check(&long, 1 << 16, 100, None).unwrap();
        check(&long, 1 << 22, 1 << 20, None).unwrap();
        let error = check(&long, 1 << 22, 15_000, None).unwrap_err();
        assert!(matches!(error, CodecError::TooMuchWork { each: 6144, .. }), "{error}");
        check(&long, 1 << 22, 15_000, Some(u128::MAX)).unwrap();
        check(&steps(1), 1 << 10, 100, Some(1 << 10)).unwrap_err();
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        assert_eq!(zeros::<u8>(3, "samples"), Ok(vec![0; 3]));
        let error = zeros::<u64>(usize::MAX / 16, "samples").unwrap_err();
        assert!(error.to_string().contains("not enough memory for 9223372036854775800 bytes of samples"), "{error}");
    }
}
