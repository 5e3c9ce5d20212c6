//! Benchmark data: random samples, and the comparison of results.

use super::case::{Case, Rows, shape_text};
use crate::failure::{Outcome, input};
use lifting::{Device, Domain, Plan, Sample, SampleType};
use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;
use lifting_dsl::rounding::Rounding;
use rayon::prelude::*;
use zerocopy::IntoBytes;

/// Fill byte of arrays before they are written, gaps between rows included.
pub const POISON: u8 = 0xa5;

/// Largest transform, in samples, that the CPU repeats in full for comparison.
pub const AFFORDABLE: usize = 1 << 27;

/// Size, in samples, of the CPU comparison for larger transforms.
pub const SMALLER: usize = 1 << 22;

/// Size, in samples, of a comparison with the oracle, which is slow.
const SMALLEST: usize = 1 << 18;

/// Random samples: all bits for integers, whole numbers within ±512 for reals. Gaps hold [`POISON`].
pub fn random<T: Sample>(len: usize, rows: Rows) -> Vec<T> {
    let mut data = poisoned(len);
    let integer = T::KIND.domain() == Domain::Integer;
    data.par_chunks_mut(rows.pitch).enumerate().for_each(|(row, chunk)| {
        let mut state = (row as u64).wrapping_mul(0xd134_2543_de82_ef95) ^ 0x5eed;
        for sample in chunk.iter_mut().take(rows.length) {
            let bits = split_mix(&mut state) as i64;
            *sample = <T as lifting_dsl::sample::Sample>::from_i64(if integer { bits } else { bits >> 54 });
        }
    });
    data
}

/// Samples filled with [`POISON`].
pub fn poisoned<T: Sample>(len: usize) -> Vec<T> {
    let mut sample = T::default();
    sample.as_mut_bytes().fill(POISON);
    vec![sample; len]
}

/// SplitMix64 (Steele, Lea & Flood 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Compares arrays bit for bit, gaps included.
pub fn same<T: Sample>(what: &str, got: &[T], expected: &[T]) -> Outcome {
    let bytes = |x: &T| x.as_bytes().to_vec();
    if got.as_bytes() == expected.as_bytes() {
        return Ok(());
    }
    let differs = |i: &usize| bytes(&got[*i]) != bytes(&expected[*i]);
    let indices = || (0..expected.len().min(got.len())).filter(differs);
    let Some(first) = indices().next() else { return Err(input(format!("{what} is wrong: its length differs"))) };
    Err(input(format!(
        "{what} is wrong: {} of {} samples differ, the first at index {first}: {:?} instead of {:?}",
        indices().count(),
        expected.len(),
        got[first],
        expected[first]
    )))
}

/// Compares a reconstruction with the data. Integers must agree bit for bit. Returns the largest error of reals,
/// relative to the largest sample.
pub fn reconstruction<T: Sample>(back: &[T], data: &[T], rows: Rows) -> Outcome<f64> {
    let what = "inverse(forward(x))";
    if T::KIND.domain() == Domain::Integer {
        same(what, back, data)?;
        return Ok(0.0);
    }
    let pieces = back.par_chunks(rows.pitch).zip(data.par_chunks(rows.pitch));
    let worst = pieces
        .map(|(back, data)| {
            let rows = back.iter().zip(data).take(rows.length);
            // A NaN counts as an infinite error.
            let off = |(b, d): (&T, &T)| (b.to_f64() - d.to_f64()).abs();
            rows.map(off).fold(0.0f64, |a, b| if b.is_nan() { f64::INFINITY } else { a.max(b) })
        })
        .reduce(|| 0.0, f64::max);
    let relative = worst / 512.0;
    // Allows for rounding in every step and level; a wrong sample is off by about 1.
    let allowed = match T::KIND.bytes() {
        2 => 0.25,
        4 => 1e-4,
        _ => 1e-12,
    };
    if relative > allowed {
        return Err(input(format!("{what} is wrong: a sample is off by {relative:.1e} of the largest sample")));
    }
    Ok(relative)
}

/// Compares an adjoint with its map: ⟨Tx, y⟩ = ⟨x, T*y⟩ up to rounding.
pub fn transposed<T: Sample>(what: &str, [x, tx]: [&[T]; 2], [y, ty]: [&[T]; 2], rows: Rows) -> Outcome {
    let dot = |a: &[T], b: &[T]| -> f64 {
        let pieces = a.par_chunks(rows.pitch).zip(b.par_chunks(rows.pitch));
        pieces.map(|(a, b)| a.iter().zip(b).take(rows.length).map(|(a, b)| a.to_f64() * b.to_f64()).sum::<f64>()).sum()
    };
    let off = (dot(tx, y) - dot(x, ty)).abs() / (dot(tx, tx) * dot(y, y)).sqrt();
    let allowed = match T::KIND.bytes() {
        2 => 0.05,
        4 => 1e-4,
        _ => 1e-12,
    };
    // A NaN fails the comparison.
    if off <= allowed { Ok(()) } else { Err(input(format!("{what} is wrong: inner products are off by {off:.1e}"))) }
}

/// Compares `got`, the measured forward transform of `data`, with a plan on the CPU. For a transform above
/// [`AFFORDABLE`], `smaller` transforms a smaller array and the CPU repeats that. Returns the compared shape.
pub fn forward<T: Sample>(
    case: &Case,
    data: &[T],
    got: &[T],
    smaller: impl FnOnce(&[usize], &[T]) -> Outcome<Vec<T>>,
) -> Outcome<Vec<usize>> {
    let cpu = |plan: &Plan<T>, data: &[T]| {
        let mut expected = poisoned(plan.coefficient_len());
        plan.forward(data, &mut expected[..]).map_err(input)?;
        Ok(expected)
    };
    let device = Device::cpu();
    if case.samples() <= AFFORDABLE {
        agree("the forward transform", case, &case.shape, data, (got, &cpu(&case.plan(&device)?, data)?))?;
        return Ok(case.shape.clone());
    }
    let shape = case.affordable(SMALLER);
    let plan = case.plan_of::<T>(&shape, &device)?;
    let data = random(plan.len(), case.rows_of(&shape)?);
    let text = shape_text(&shape);
    let results = (&smaller(&shape, &data)?[..], &cpu(&plan, &data)?[..]);
    agree(&format!("the forward transform of {text}"), case, &shape, &data, results)?;
    Ok(shape)
}

/// Compares coefficients of `data` with those of lifting. They agree bit for bit, or within the rounding bound if the
/// schedule reorders the arithmetic.
pub fn agree<T: Sample>(what: &str, case: &Case, shape: &[usize], data: &[T], (got, lifted): (&[T], &[T])) -> Outcome {
    if case.schedule.has_lifting_bits() {
        return same(what, got, lifted);
    }
    let rounding =
        Rounding::of_analysis(&case.scheme).ok_or_else(|| input("this schedule supports only real wavelets"))?;
    let axes = case.axes.as_ref().map_or(shape.len(), Vec::len) as u32;
    let share = rounding.share(T::KIND, case.levels * axes);
    // The transform of magnitudes, with the same pitch in samples.
    let pitch = case.pitch.map(|bytes| bytes / T::KIND.bytes() * SampleType::F64.bytes());
    let scheme = rounding.magnitudes().clone();
    let boundary = Some(case.boundary());
    let plan = Case { scheme, sample: SampleType::F64, pitch, boundary, ..case.clone() };
    let plan = plan.plan_of::<f64>(shape, &Device::cpu())?;
    let sizes: Vec<f64> = data.iter().map(|x| x.to_f64().abs()).collect();
    let mut magnitudes = poisoned(plan.coefficient_len());
    plan.forward(&sizes, &mut magnitudes[..]).map_err(input)?;
    let pairs = got.iter().zip(lifted).zip(&magnitudes);
    for (i, ((got, lifted), magnitude)) in pairs.enumerate() {
        let (off, bound) = ((got.to_f64() - lifted.to_f64()).abs(), 2.0 * share * magnitude.abs());
        if off.is_nan() || off > bound {
            return Err(input(format!(
                "{what} is wrong: at index {i} it is {got:?} instead of {lifted:?}: off by {off:.1e}, but rounding \
                 allows at most {bound:.1e}"
            )));
        }
    }
    Ok(())
}

/// Compares a plan of the case with the oracle, on a small shape. Returns that shape.
pub fn equals_oracle<T: Sample>(case: &Case, device: &Device) -> Outcome<Vec<usize>> {
    let shape = case.affordable(SMALLEST);
    let plan = Case { pitch: None, ..case.clone() }.plan_of::<T>(&shape, device)?;
    let data = random(plan.len(), Rows::GAPLESS);
    let mut got = poisoned(plan.coefficient_len());
    plan.forward(&data[..], &mut got[..]).map_err(input)?;
    let recipe = plan.recipe();
    let geometry = Geometry::new(&shape, &recipe.origins, &recipe.levels, &recipe.axis_order).map_err(input)?;
    let mut transform = Transform::new(case.scheme.clone(), geometry);
    transform.boundary = recipe.boundary;
    let mut expected = data;
    transform.forward(&mut expected).map_err(input)?;
    let text = shape_text(&shape);
    same(&format!("the forward transform of {text}"), &got, &expected)?;
    Ok(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_between_rows_stay_poisoned() {
        let rows = Rows { length: 5, pitch: 8 };
        let data: Vec<i16> = random(5 + 3 * 8, rows);
        let gaps = data.iter().enumerate().filter(|(i, _)| i % 8 >= 5);
        assert!(gaps.clone().count() == 9 && gaps.clone().all(|(_, &s)| s == i16::from_ne_bytes([POISON; 2])));
        assert_ne!(data[..5], data[8..13]);
        let reals: Vec<f32> = random(1000, Rows::GAPLESS);
        assert!(reals.iter().all(|x| x.abs() <= 512.0) && reals.iter().any(|x| *x < -100.0));
    }

    #[test]
    fn differences_are_found() {
        assert!(same("it", &[1.0f32, 0.0], &[1.0, 0.0]).is_ok());
        let text = same("it", &[1.0f32, -0.0, 3.0], &[1.0, 0.0, 2.0]).unwrap_err().render(false, 200);
        assert!(text.contains("2 of 3 samples differ, the first at index 1: -0.0 instead of 0.0"), "{text}");
        let rows = Rows { length: 1, pitch: 2 };
        assert!(reconstruction(&[1i16, 2], &[1, 2], rows).is_ok());
        assert!(reconstruction(&[1i16, 2], &[3, 2], rows).is_err());
        assert!(reconstruction(&[1.0f32, 9.0, f32::NAN], &[1.0, 2.0, 3.0], rows).is_err());
        assert!(reconstruction(&[1.00001f32, 9.0], &[1.0, 2.0], rows).is_ok());
    }
}
