//! Conversion between element types of files and sample types of plans.

use crate::failure::{Failure, Outcome, input, usage};
use crate::media::{Data, Element, Samples, zeros};
use lifting::{Domain, Sample, SampleType, f16};

/// Sample types that files support: all except `bf16`, which numpy lacks.
pub trait Stored: Sample + bytemuck::Pod {
    /// Nearest value.
    fn from_real(x: f64) -> Self;
    /// Exact value of an integer sample.
    fn to_integer(self) -> Option<i64>;
    /// Converts samples to an array's data.
    fn into_data(samples: Vec<Self>) -> Data;
    /// Samples from an array's data of this type; returns data of another type unchanged.
    fn from_data(data: Data) -> Result<Samples<Self>, Data>;
}

macro_rules! stored {
    ($($t:ty, $variant:ident, |$x:ident| $from:expr, $to:expr;)*) => {$(
        impl Stored for $t {
            fn from_real($x: f64) -> $t {
                $from
            }
            fn to_integer(self) -> Option<i64> {
                let $x = self;
                $to
            }
            fn into_data(samples: Vec<$t>) -> Data {
                Data::$variant(samples.into())
            }
            fn from_data(data: Data) -> Result<Samples<$t>, Data> {
                match data {
                    Data::$variant(samples) => Ok(samples),
                    other => Err(other),
                }
            }
        }
    )*};
}

stored! {
    i16, I16, |x| x as i16, Some(i64::from(x));
    i32, I32, |x| x as i32, Some(i64::from(x));
    i64, I64, |x| x as i64, Some(x);
    f16, F16, |x| f16::from_f64(x), { let _ = x; None };
    f32, F32, |x| x as f32, { let _ = x; None };
    f64, F64, |x| x, { let _ = x; None };
}

/// Calls a generic function with the Rust type of a sample type.
macro_rules! dispatch {
    ($sample:expr, $f:ident($($arg:expr),* $(,)?)) => {
        match $sample {
            lifting::SampleType::I16 => $f::<i16>($($arg),*),
            lifting::SampleType::I32 => $f::<i32>($($arg),*),
            lifting::SampleType::I64 => $f::<i64>($($arg),*),
            lifting::SampleType::F16 => $f::<lifting::f16>($($arg),*),
            lifting::SampleType::F32 => $f::<f32>($($arg),*),
            lifting::SampleType::F64 => $f::<f64>($($arg),*),
            lifting::SampleType::Bf16 => Err($crate::transform::convert::no_bf16()),
        }
    };
}
pub(crate) use dispatch;

/// Error for `bf16` samples, which files do not support.
pub fn no_bf16() -> Failure {
    usage("bf16 samples cannot be written: numpy has no such type").help("use --sample f16 or f32")
}

/// Element type of a file for samples of this type.
pub fn element_of(sample: SampleType) -> Option<Element> {
    Some(match sample {
        SampleType::I16 => Element::I16,
        SampleType::I32 => Element::I32,
        SampleType::I64 => Element::I64,
        SampleType::F16 => Element::F16,
        SampleType::F32 => Element::F32,
        SampleType::F64 => Element::F64,
        SampleType::Bf16 => return None,
    })
}

/// Default sample type for a file's elements: the narrowest that holds them all. A profile's gain shifts need `shift`
/// spare bits, and then two more for the wavelet's growth.
pub fn default_sample(element: Element, domain: Domain, shift: u32) -> Outcome<SampleType> {
    use Element::*;
    if domain == Domain::Real {
        return Ok(match element {
            U8 | U16 | I8 | I16 | F32 => SampleType::F32,
            U32 | I32 | I64 | F64 => SampleType::F64,
            F16 => SampleType::F16,
        });
    }
    let bits = match element {
        U8 => 9,
        I8 => 8,
        I16 => 16,
        U16 => 17,
        I32 => 32,
        U32 => 33,
        I64 => 64,
        F16 | F32 | F64 => {
            let name = element.name();
            return Err(input(format!("an integer wavelet cannot transform {name} elements"))
                .help("choose a real wavelet, such as -w cdf97, or convert the array to integers first"));
        }
    };
    let needed = if shift > 0 { bits + shift + 2 } else { bits };
    Ok(match needed {
        0..=16 => SampleType::I16,
        17..=32 => SampleType::I32,
        _ => SampleType::I64,
    })
}

/// Converted samples, with notes.
#[derive(Debug)]
pub struct Converted<T: Stored> {
    /// Samples; the file's own, if the types match.
    pub samples: Samples<T>,
    /// Number of samples that are NaN or infinite; `None` if nothing was converted, so nobody counted.
    pub undefined: Option<usize>,
    /// Losses of the conversion.
    pub notes: Vec<String>,
}

/// Bits of a significand, with the implicit one; 64 for integers.
fn digits(sample: SampleType) -> u32 {
    match sample {
        SampleType::I16 | SampleType::I32 | SampleType::I64 => 64,
        SampleType::Bf16 => 8,
        SampleType::F16 => 11,
        SampleType::F32 => 24,
        SampleType::F64 => 53,
    }
}

/// Converts file elements to samples. Overflow is an error, and avoidable rounding is noted. Elements are freed as
/// their samples are made.
pub fn to_samples<T: Stored>(data: Data) -> Outcome<Converted<T>> {
    let data = match T::from_data(data) {
        Ok(samples) => return Ok(Converted { samples, undefined: None, notes: Vec::new() }),
        Err(other) => other,
    };
    let (element, count) = (data.element(), data.len());
    if element.is_real() && T::KIND.domain() == Domain::Integer {
        return Err(usage(format!("{} elements cannot be {} samples", element.name(), T::KIND))
            .help("choose --sample f32 or f64 and a real wavelet, or convert the array to integers first"));
    }
    let refuse = |value: String| {
        let help = "choose a wider one with --sample";
        Err(input(format!("holds {value}, which does not fit {} samples", T::KIND)).help(help))
    };
    let limit = (T::KIND.domain() == Domain::Integer).then(|| i64::MAX >> (64 - 8 * T::KIND.bytes()));
    let digits = digits(T::KIND);
    let (mut inexact, mut vanished, mut undefined) = (0, 0, 0);
    let mut integer = |x: i64| {
        match limit {
            Some(limit) if x > limit || x < !limit => return refuse(x.to_string()),
            Some(_) => return Ok(T::from_i64(x)),
            None => {}
        }
        let sample = T::from_i64(x);
        if !sample.to_f64().is_finite() {
            return refuse(x.to_string());
        }
        let size = x.unsigned_abs();
        inexact += usize::from(size != 0 && 64 - size.leading_zeros() - size.trailing_zeros() > digits);
        Ok(sample)
    };
    let mut real = |x: f64| {
        let sample = T::from_real(x);
        if x.is_finite() && !sample.to_f64().is_finite() {
            return refuse(format!("{x:e}"));
        }
        vanished += usize::from(x != 0.0 && sample.to_f64() == 0.0);
        undefined += usize::from(!x.is_finite());
        Ok(sample)
    };
    let mut samples: Vec<T> = zeros(count)?;
    macro_rules! each {
        ($v:expr, |$x:ident| $sample:expr) => {
            $v.consume(|at, part| {
                for (sample, &$x) in samples[at..].iter_mut().zip(part) {
                    *sample = $sample?;
                }
                Ok(())
            })?
        };
    }
    match data {
        Data::U8(v) => each!(v, |x| integer(x.into())),
        Data::U16(v) => each!(v, |x| integer(x.into())),
        Data::U32(v) => each!(v, |x| integer(x.into())),
        Data::I8(v) => each!(v, |x| integer(x.into())),
        Data::I16(v) => each!(v, |x| integer(x.into())),
        Data::I32(v) => each!(v, |x| integer(x.into())),
        Data::I64(v) => each!(v, |x| integer(x)),
        Data::F16(v) => each!(v, |x| real(x.to_f64())),
        Data::F32(v) => each!(v, |x| real(x.into())),
        Data::F64(v) => each!(v, |x| real(x)),
    }
    let mut notes = Vec::new();
    if inexact > 0 {
        notes.push(format!(
            "{inexact} of {count} integers are rounded: {} samples hold {digits} bits exactly{}",
            T::KIND,
            if T::KIND == SampleType::F64 { "" } else { "; choose a wider type with --sample" }
        ));
    }
    if vanished > 0 {
        notes.push(format!("{vanished} of {count} values are too small for {} samples, and become 0", T::KIND));
    }
    Ok(Converted { samples: samples.into(), undefined: Some(undefined), notes })
}

/// `1 sample is` or `2 samples are`, as the start of a sentence.
fn counted(count: usize, what: &str, [one, more]: [&str; 2]) -> String {
    if count == 1 { format!("1 {what} {one}") } else { format!("{count} {what}s {more}") }
}

/// Number of values that are NaN or infinite.
pub fn undefined<T: Stored>(values: &[T]) -> usize {
    if T::KIND.domain() == Domain::Integer { 0 } else { values.iter().filter(|x| !x.to_f64().is_finite()).count() }
}

/// Note on samples that stay NaN or infinite, if any.
pub fn undefined_samples<T: Stored>(samples: &[T]) -> Option<String> {
    let bad = undefined(samples);
    (bad > 0).then(|| format!("{} NaN or infinite", counted(bad, "sample", ["is", "are"])))
}

/// Note on coefficients that are NaN or infinite, if any. The cause depends on the number of such samples.
pub fn not_finite<T: Stored>(undefined_samples: impl FnOnce() -> usize, coefficients: &[T]) -> Option<String> {
    let (bad, all) = (undefined(coefficients), coefficients.len());
    if bad == 0 {
        return None;
    }
    match undefined_samples() {
        0 => Some(format!(
            "{bad} of {all} coefficients are beyond the range of {}, and infinite or NaN: their data cannot be \
             restored; choose a wider type with --sample",
            T::KIND
        )),
        n => Some(format!(
            "{} NaN or infinite, and so {} {bad} of {all} coefficients",
            counted(n, "sample", ["is", "are"]),
            if n == 1 { "becomes" } else { "become" }
        )),
    }
}

/// File elements restored from samples, with notes.
#[derive(Debug, PartialEq)]
pub struct Restored {
    /// Elements.
    pub data: Data,
    /// Losses of the conversion.
    pub notes: Vec<String>,
}

/// Converts samples to file elements: divides by `gain` (1 is exact), rounds and clamps to integers, up to `maxval` if
/// the file has one. Samples are freed as their elements are made.
///
/// # Errors
/// If memory is short.
pub fn from_samples<T: Stored>(samples: Vec<T>, element: Element, gain: f64, maxval: Option<u16>) -> Outcome<Restored> {
    let (mut clamped, mut undefined, mut overflowed) = (0, 0, 0);
    let mut whole = |x: T, low: i64, high: i64| -> i64 {
        let high = maxval.map_or(high, |m| high.min(m.into()));
        let (value, beyond) = match x.to_integer() {
            Some(value) if gain == 1.0 => (value, false),
            _ => {
                let value = (x.to_f64() / gain).round_ties_even();
                undefined += usize::from(value.is_nan());
                // `as` converts NaN to 0 and saturates.
                (value as i64, value >= -(i64::MIN as f64) || value < i64::MIN as f64)
            }
        };
        clamped += usize::from(beyond || value < low || value > high);
        value.clamp(low, high)
    };
    let mut real = |x: T, finite: fn(f64) -> bool| -> f64 {
        let value = x.to_f64() / gain;
        overflowed += usize::from(value.is_finite() && !finite(value));
        value
    };
    let same = element_of(T::KIND) == Some(element) && gain == 1.0 && element.is_real();
    macro_rules! each {
        ($to:ty, |$x:ident| $element:expr) => {{
            let mut elements: Vec<$to> = zeros(samples.len())?;
            Samples::from(samples).consume(|at, part| {
                elements[at..].iter_mut().zip(part).for_each(|(element, &$x)| *element = $element);
                Ok(())
            })?;
            elements.into()
        }};
    }
    let data: Data = match element {
        _ if same => T::into_data(samples),
        Element::F16 => each!(f16, |x| f16::from_f64(real(x, |x| f16::from_f64(x).is_finite()))),
        Element::F32 => each!(f32, |x| real(x, |x| (x as f32).is_finite()) as f32),
        Element::F64 => each!(f64, |x| real(x, f64::is_finite)),
        Element::U8 => each!(u8, |x| whole(x, 0, 0xff) as u8),
        Element::U16 => each!(u16, |x| whole(x, 0, 0xffff) as u16),
        Element::U32 => each!(u32, |x| whole(x, 0, 0xffff_ffff) as u32),
        Element::I8 => each!(i8, |x| whole(x, i8::MIN.into(), i8::MAX.into()) as i8),
        Element::I16 => each!(i16, |x| whole(x, i16::MIN.into(), i16::MAX.into()) as i16),
        Element::I32 => each!(i32, |x| whole(x, i32::MIN.into(), i32::MAX.into()) as i32),
        Element::I64 => each!(i64, |x| whole(x, i64::MIN, i64::MAX)),
    };
    let range = match maxval {
        Some(maxval) => format!("0 to {maxval}"),
        None => element.name(),
    };
    let notes = [
        (clamped, format!("out of range for {range}, and clamped")),
        (undefined, "NaN, and became 0".into()),
        (overflowed, format!("out of range for {range}, and became infinite")),
    ];
    let say = |(n, what): (usize, String)| format!("{} {what}", counted(n, "sample", ["was", "were"]));
    let notes = notes.into_iter().filter(|(n, _)| *n > 0).map(say).collect();
    Ok(Restored { data, notes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there<T: Stored>(data: impl Into<Data>) -> (Vec<T>, Vec<String>) {
        let Converted { samples, notes, .. } = to_samples::<T>(data.into()).unwrap();
        (samples.into_vec().unwrap(), notes)
    }

    fn refused<T: Stored>(data: impl Into<Data>) -> String {
        to_samples::<T>(data.into()).unwrap_err().render(false, 200)
    }

    fn back<T: Stored>(samples: Vec<T>, element: Element, gain: f64, maxval: Option<u16>) -> (Data, String) {
        let Restored { data, notes } = from_samples(samples, element, gain, maxval).unwrap();
        (data, notes.join("; "))
    }

    #[test]
    fn samples_round_trip() {
        let none = String::new();
        let data: Data = vec![0u8, 1, 128, 255].into();
        assert_eq!(back(there::<i16>(data.clone()).0, Element::U8, 1.0, None), (data.clone(), none.clone()));
        assert_eq!(back(there::<f32>(data.clone()).0, Element::U8, 1.0, None), (data, none.clone()));
        let data: Data = vec![i64::MIN, -1, i64::MAX].into();
        assert_eq!(back(there::<i64>(data.clone()).0, Element::I64, 1.0, None), (data, none.clone()));
        assert_eq!(back(vec![510i32, 7], Element::U8, 2.0, None), (vec![255u8, 4].into(), none.clone()));
        assert_eq!(back(vec![2.5f32], Element::U8, 1.0, None), (vec![2u8].into(), none.clone()));
        assert_eq!(back(vec![2.5f32, 1e30], Element::F32, 1.0, None), (vec![2.5f32, 1e30].into(), none));
    }

    #[test]
    fn lossy_restoration_is_noted() {
        let (data, said) = back(vec![-3i16, 255, 256], Element::U8, 1.0, None);
        assert_eq!(
            (data, said.as_str()),
            (vec![0u8, 255, 255].into(), "2 samples were out of range for uint8, and clamped")
        );
        let (data, said) = back(vec![-3i16, 100, 101], Element::U8, 1.0, Some(100));
        assert_eq!(
            (data, said.as_str()),
            (vec![0u8, 100, 100].into(), "2 samples were out of range for 0 to 100, and clamped")
        );
        let (data, said) = back(vec![f32::NAN, f32::INFINITY, 1e30, -1e30], Element::U8, 1.0, None);
        assert_eq!(data, vec![0u8, 255, 255, 0].into());
        assert_eq!(said, "3 samples were out of range for uint8, and clamped; 1 sample was NaN, and became 0");
        let (data, said) = back(vec![-1e30f64, 9.3e18, 9.2e18], Element::I64, 1.0, None);
        assert_eq!(data, vec![i64::MIN, i64::MAX, 9_200_000_000_000_000_000].into());
        assert_eq!(said, "2 samples were out of range for int64, and clamped");
        let (data, said) = back(vec![1e5f32, -2.0, f32::INFINITY], Element::F16, 1.0, None);
        assert_eq!(data, vec![f16::INFINITY, f16::from_f32(-2.0), f16::INFINITY].into());
        assert_eq!(said, "1 sample was out of range for float16, and became infinite");
    }

    #[test]
    fn overflow_is_refused() {
        assert!(refused::<i16>(vec![40_000u16]).contains("holds 40000, which does not fit i16 samples"));
        assert_eq!(there::<i16>(vec![i16::MIN, i16::MAX]), (vec![i16::MIN, i16::MAX], vec![]));
        assert!(refused::<i32>(vec![i64::from(i32::MAX) + 1]).contains("does not fit i32"));
        assert!(refused::<i32>(vec![1.0f32]).contains("float32 elements cannot be i32 samples"));
        assert!(refused::<f32>(vec![1e39f64]).contains("holds 1e39, which does not fit f32 samples"));
        assert!(refused::<f16>(vec![65_535u16]).contains("holds 65535, which does not fit f16 samples"));
        assert!(refused::<f16>(vec![-7e4f32]).contains("does not fit f16"));
        let (samples, notes) = there::<f16>(vec![2048u16, 2049, 4098, 4097]);
        assert_eq!(samples.iter().map(|x| x.to_f32()).collect::<Vec<_>>(), [2048.0, 2048.0, 4096.0, 4096.0]);
        assert_eq!(
            notes,
            ["3 of 4 integers are rounded: f16 samples hold 11 bits exactly; choose a wider type with --sample"]
        );
        let (_, notes) = there::<f64>(vec![(1i64 << 60) + 1, 1 << 60]);
        assert_eq!(notes, ["1 of 2 integers are rounded: f64 samples hold 53 bits exactly"]);
        let (_, notes) = there::<f32>(vec![1e-300f64, 0.0, f64::NAN, f64::INFINITY]);
        assert_eq!(notes, ["1 of 4 values are too small for f32 samples, and become 0"]);
        let whole = [f32::NAN, 1.0];
        assert!(not_finite(|| undefined(&whole), &[f32::NAN, 0.0]).unwrap().starts_with("1 sample is NaN"));
        assert_eq!(undefined_samples(&[f64::NAN, 1.0, f64::INFINITY]).unwrap(), "2 samples are NaN or infinite");
        assert_eq!(undefined_samples(&[7i16]), None);
        assert!(not_finite(|| 0, &[f32::INFINITY]).unwrap().contains("beyond the range of f32"));
        assert_eq!(not_finite(|| 0, &[2.0f32]), None);
        let counted = |data: Data| to_samples::<f32>(data).unwrap().undefined;
        assert_eq!(counted(vec![f64::NAN, 1.0, f64::INFINITY].into()), Some(2));
        assert_eq!(counted(vec![7u8].into()), Some(0));
        assert_eq!(counted(vec![f32::NAN].into()), None);
    }

    #[test]
    fn default_samples() {
        let of = |e, d, s| default_sample(e, d, s).unwrap();
        assert_eq!(of(Element::U8, Domain::Integer, 0), SampleType::I16);
        assert_eq!(of(Element::U8, Domain::Integer, 3), SampleType::I16);
        assert_eq!(of(Element::U8, Domain::Integer, 6), SampleType::I32);
        assert_eq!(of(Element::U16, Domain::Integer, 0), SampleType::I32);
        assert_eq!(of(Element::U32, Domain::Integer, 0), SampleType::I64);
        assert_eq!(of(Element::U16, Domain::Real, 0), SampleType::F32);
        assert!(default_sample(Element::F32, Domain::Integer, 0).is_err());
    }
}
