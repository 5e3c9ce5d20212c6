//! Lists of numbers for command lines and data files: constant expressions of the language, separated by commas or
//! blanks.

use crate::core::diag::Diagnostic;
use crate::core::scheme::Domain;
use crate::core::weight::Weight;
use crate::language::constant::Arithmetic;
use crate::language::linear::Reducer;
use crate::language::parse::parse_numbers;
use crate::language::sink::Sink;
use std::collections::BTreeMap;

/// The values of a list such as `1/8, -0.25 3/4` or `(1 + sqrt(3))/(4*sqrt(2)), …`. A blank separates numbers only
/// between two of them, so `1 - 2` is one number and `1 -2` are two.
///
/// # Errors
/// Every part that is not a constant expression, with its place; and numbers beyond the range of `f64`.
///
/// ```
/// use lifting_dsl::{Weight, numbers::numbers};
/// let taps = numbers("-1/8 1/4, 0.75 1/4 -1/8").unwrap();
/// assert_eq!(taps.iter().map(Weight::to_f64).collect::<Vec<_>>(), [-0.125, 0.25, 0.75, 0.25, -0.125]);
/// assert_eq!(numbers("1, even[0]").unwrap_err()[0].labels[0].span.start, 3);
/// ```
pub fn numbers(text: &str) -> Result<Vec<Weight>, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    let list = parse_numbers(&separated(text), &mut sink);
    let mut arithmetic = Arithmetic::default();
    let mut reducer = Reducer {
        sink: &mut sink,
        arithmetic: &mut arithmetic,
        domain: Some(Domain::Real),
        constants: BTreeMap::new(),
        later: BTreeMap::new(),
    };
    let values: Vec<Weight> =
        list.iter().filter_map(|e| crate::language::validate::coefficient(e, "a number", &mut reducer)).collect();
    let diagnostics = sink.into_sorted();
    if diagnostics.iter().any(Diagnostic::is_error) { Err(diagnostics) } else { Ok(values) }
}

/// The text with a comma in place of the last blank between two numbers; the length is unchanged.
fn separated(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut depth = 0i32;
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth > 0 || !byte.is_ascii_whitespace() {
            continue;
        }
        let Some(after) = bytes.get(i + 1).filter(|b| !b.is_ascii_whitespace()) else { continue };
        let before = bytes[..i].iter().rev().find(|b| !b.is_ascii_whitespace());
        let ends = before.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b')' | b'.' | b'_'));
        // A sign that is not followed by a blank belongs to the number after it.
        let sign = matches!(after, b'-' | b'+') && bytes.get(i + 2).is_some_and(|b| !b.is_ascii_whitespace());
        if ends && (sign || after.is_ascii_alphanumeric() || matches!(after, b'(' | b'.')) {
            out[i] = b',';
        }
    }
    // Only blanks, which are ASCII, were replaced.
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<f64> {
        numbers(text).unwrap_or_else(|e| panic!("{text}: {e:?}")).iter().map(Weight::to_f64).collect()
    }

    #[test]
    fn blanks_and_commas_separate() {
        assert_eq!(values("1 2 3"), [1.0, 2.0, 3.0]);
        assert_eq!(values(" 1,2 ,\n 3 , "), [1.0, 2.0, 3.0]);
        assert_eq!(values("1 -2"), [1.0, -2.0]);
        assert_eq!(values("1 - 2"), [-1.0]);
        assert_eq!(values("1 / 2  3/4"), [0.5, 0.75]);
        assert_eq!(values("(1 + 2) (4 - 1)/2 sqrt(4 + 5)"), [3.0, 1.5, 3.0]);
        assert_eq!(values("1e-3 -2E2 .5".replace(".5", "0.5").as_str()), [1e-3, -200.0, 0.5]);
        assert_eq!(values(""), [] as [f64; 0]);
    }

    #[test]
    fn errors_have_places() {
        for text in ["x", "1 +", "1,,2", "even[0]", "1/0", "sqrt(-1)", "1e999", "§", "1;2", "(1", "é 1"] {
            let errors = numbers(text).unwrap_err();
            assert!(!errors.is_empty() && errors[0].labels[0].span.end <= text.len() + 1, "{text}: {errors:?}");
        }
    }
}
