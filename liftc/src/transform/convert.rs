//! Between the element types of files and the sample types of plans.

use crate::failure::{Failure, Outcome, input, usage};
use crate::media::{Data, Element};
use lifting::{Domain, Sample, SampleType, f16};

/// A sample type that files can hold: all but `bf16`, which numpy does not have.
pub trait Stored: Sample {
    /// The nearest value.
    fn from_real(x: f64) -> Self;
    /// The exact value of an integer sample.
    fn to_integer(self) -> Option<i64>;
    /// As an array's data.
    fn into_data(samples: Vec<Self>) -> Data;
    /// An array's data of this very type.
    fn from_data(data: Data) -> Option<Vec<Self>>;
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
                Data::$variant(samples)
            }
            fn from_data(data: Data) -> Option<Vec<$t>> {
                match data {
                    Data::$variant(samples) => Some(samples),
                    _ => None,
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

/// Files cannot hold it.
pub fn no_bf16() -> Failure {
    usage("bf16 samples cannot be written: numpy has no such type").help("use --sample f16 or f32")
}

/// The element type of a file that holds samples of this type.
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

/// The sample type for elements of a file: the narrowest that holds them all, with `shift` bits to spare for the
/// gain shifts of a profile (and then two more for the wavelet's own growth).
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

/// File elements as samples; integers must fit.
pub fn to_samples<T: Stored>(data: Data) -> Outcome<Vec<T>> {
    let element = data.element();
    if element.is_real() && T::KIND.domain() == Domain::Integer {
        return Err(usage(format!("{} elements are no {} samples", element.name(), T::KIND))
            .help("choose --sample f32 or f64 and a real wavelet, or convert the array to integers first"));
    }
    let limit = (T::KIND.domain() == Domain::Integer).then(|| i64::MAX >> (64 - 8 * T::KIND.bytes()));
    let integer = |x: i64| match limit {
        Some(limit) if x > limit || x < !limit => {
            let help = "choose a wider one with --sample";
            Err(input(format!("holds {x}, which does not fit {} samples", T::KIND)).help(help))
        }
        _ => Ok(T::from_i64(x)),
    };
    match data {
        Data::U8(v) => v.into_iter().map(|x| integer(x.into())).collect(),
        Data::U16(v) => v.into_iter().map(|x| integer(x.into())).collect(),
        Data::U32(v) => v.into_iter().map(|x| integer(x.into())).collect(),
        Data::I8(v) => v.into_iter().map(|x| integer(x.into())).collect(),
        Data::I16(v) => v.into_iter().map(|x| integer(x.into())).collect(),
        Data::I32(v) => v.into_iter().map(|x| integer(x.into())).collect(),
        Data::I64(v) => v.into_iter().map(integer).collect(),
        Data::F16(v) => Ok(v.into_iter().map(|x| T::from_real(x.to_f64())).collect()),
        Data::F32(v) => Ok(v.into_iter().map(|x| T::from_real(x.into())).collect()),
        Data::F64(v) => Ok(v.into_iter().map(T::from_real).collect()),
    }
}

/// Samples as elements of a file, each divided by `gain` (1: exact), rounded and clamped to integers. Also says how many
/// were clamped.
pub fn from_samples<T: Stored>(samples: Vec<T>, element: Element, gain: f64) -> (Data, usize) {
    let mut clamped = 0;
    let mut whole = |x: T, low: i64, high: i64| -> i64 {
        let value = match x.to_integer() {
            Some(value) if gain == 1.0 => value,
            // NaN becomes 0.
            _ => (x.to_f64() / gain).round_ties_even() as i64,
        };
        clamped += usize::from(value < low || value > high);
        value.clamp(low, high)
    };
    let data = match element {
        Element::F16 => Data::F16(samples.into_iter().map(|x| f16::from_f64(x.to_f64() / gain)).collect()),
        Element::F32 => Data::F32(samples.into_iter().map(|x| (x.to_f64() / gain) as f32).collect()),
        Element::F64 => Data::F64(samples.into_iter().map(|x| x.to_f64() / gain).collect()),
        Element::U8 => Data::U8(samples.into_iter().map(|x| whole(x, 0, 0xff) as u8).collect()),
        Element::U16 => Data::U16(samples.into_iter().map(|x| whole(x, 0, 0xffff) as u16).collect()),
        Element::U32 => Data::U32(samples.into_iter().map(|x| whole(x, 0, 0xffff_ffff) as u32).collect()),
        Element::I8 => Data::I8(samples.into_iter().map(|x| whole(x, -0x80, 0x7f) as i8).collect()),
        Element::I16 => {
            Data::I16(samples.into_iter().map(|x| whole(x, i16::MIN.into(), i16::MAX.into()) as i16).collect())
        }
        Element::I32 => {
            Data::I32(samples.into_iter().map(|x| whole(x, i32::MIN.into(), i32::MAX.into()) as i32).collect())
        }
        Element::I64 => Data::I64(samples.into_iter().map(|x| whole(x, i64::MIN, i64::MAX)).collect()),
    };
    (data, clamped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_back_as_they_were() {
        let data: Data = vec![0u8, 1, 128, 255].into();
        let samples = to_samples::<i16>(data.clone()).unwrap();
        assert_eq!(from_samples(samples, Element::U8, 1.0), (data.clone(), 0));
        let samples = to_samples::<f32>(data.clone()).unwrap();
        assert_eq!(from_samples(samples, Element::U8, 1.0), (data, 0));
        let data: Data = vec![i64::MIN, -1, i64::MAX].into();
        assert_eq!(from_samples(to_samples::<i64>(data.clone()).unwrap(), Element::I64, 1.0), (data, 0));
        assert_eq!(from_samples(vec![-3i16, 255, 256], Element::U8, 1.0), (vec![0u8, 255, 255].into(), 2));
        assert_eq!(from_samples(vec![2.5f32, f32::NAN], Element::U8, 1.0), (vec![2u8, 0].into(), 0));
        assert_eq!(from_samples(vec![510i32, 7], Element::U8, 2.0), (vec![255u8, 4].into(), 0));
    }

    #[test]
    fn what_does_not_fit_is_told() {
        assert!(to_samples::<i16>(vec![40_000u16].into()).is_err());
        assert!(to_samples::<i16>(vec![i16::MIN, i16::MAX].into()).is_ok());
        assert!(to_samples::<i32>(vec![i64::from(i32::MAX) + 1].into()).is_err());
        assert!(to_samples::<i32>(vec![1.0f32].into()).is_err());
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
