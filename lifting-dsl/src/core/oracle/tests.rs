//! Tests of the oracle against a second, slower implementation of the language reference, and by round trips.

use super::*;
use crate::core::scheme::{Op, Phase, RoundingMode};
use crate::core::testing::{self, any_scheme, wavelet};
use half::{bf16, f16};
use proptest::prelude::*;

/// A read at any position, as the reference words it.
fn read<T: Copy + Default>(line: &[T], first: i64, boundary: Boundary, mut q: i64) -> T {
    let (n, last) = (line.len() as i64, first + line.len() as i64 - 1);
    // Ends of the phase that is read.
    let phase = [first + (q - first).rem_euclid(2), last - (last - q).rem_euclid(2)];
    while q < first || q > last {
        q = match boundary {
            Boundary::WholeSymmetric if q < first => 2 * first - q,
            Boundary::WholeSymmetric => 2 * last - q,
            Boundary::HalfSymmetric if q < first => 2 * (phase[0] - 1) - q,
            Boundary::HalfSymmetric => 2 * (phase[1] + 1) - q,
            Boundary::Periodic => q + if q < first { n } else { -n },
            Boundary::Edge => q + if q < first { 2 } else { -2 },
            Boundary::Zero => return T::default(),
        };
    }
    line[(q - first) as usize]
}

/// The correction of a sum before its shift, as the language reference states it.
fn correction(mode: RoundingMode, sum: i32, shift: u32) -> i32 {
    let (unit, half) = (1i32 << shift, (1i32 << shift) / 2);
    match mode {
        RoundingMode::Floor => 0,
        RoundingMode::Truncate => {
            if sum < 0 {
                unit - 1
            } else {
                0
            }
        }
        RoundingMode::HalfEven => half - 1 + sum.div_euclid(unit).rem_euclid(2),
        RoundingMode::HalfAway => {
            if sum < 0 {
                half - 1
            } else {
                half
            }
        }
    }
}

/// The steps on a line from position `first`, target by target, in i16 with 32-bit sums.
fn plain_i16(steps: &[Step], boundary: Boundary, first: i64, line: &mut [i16]) {
    for step in steps {
        let before = line.to_vec();
        for (i, x) in line.iter_mut().enumerate() {
            let position = first + i as i64;
            if position.rem_euclid(2) != step.target().parity() || before.len() == 1 {
                continue;
            }
            let k = position.div_euclid(2);
            let Step::Integer(s) = step else {
                *x = 0i16.wrapping_sub(*x);
                continue;
            };
            let mut sum = s.rounding;
            for tap in &s.taps {
                let q = 2 * (k + i64::from(tap.offset)) + s.target.other().parity();
                let product = tap.weight.wrapping_mul(i32::from(read(&before, first, boundary, q)));
                sum = sum.wrapping_add(product);
            }
            let value = (i64::from(sum.wrapping_add(correction(s.mode, sum, s.shift))) >> s.shift) as i16;
            *x = if s.op == Op::Add { x.wrapping_add(value) } else { x.wrapping_sub(value) };
        }
    }
}

/// [`plain_i16`] in f32.
fn plain_f32(steps: &[Step], boundary: Boundary, first: i64, line: &mut [f32]) {
    for step in steps {
        let before = line.to_vec();
        for (i, x) in line.iter_mut().enumerate() {
            let position = first + i as i64;
            if position.rem_euclid(2) != step.target().parity() || before.len() == 1 {
                continue;
            }
            let k = position.div_euclid(2);
            match step {
                Step::Scale(s) => *x *= s.factor.to_f32(),
                Step::Real(s) => {
                    let mut total = None;
                    for group in &s.groups {
                        let at = |o: &i32| {
                            read(&before, first, boundary, 2 * (k + i64::from(*o)) + s.target.other().parity())
                        };
                        let sum = group.offsets.iter().map(at).reduce(|a, b| a + b).unwrap();
                        let term = match () {
                            () if group.weight.is_one() => sum,
                            () if group.weight.is_minus_one() => -sum,
                            () => group.weight.to_f32() * sum,
                        };
                        total = Some(total.map_or(term, |t: f32| t + term));
                    }
                    *x = if s.op == Op::Add { *x + total.unwrap() } else { *x - total.unwrap() };
                }
                Step::Integer(_) => panic!("real steps only"),
            }
        }
    }
}

/// A whole transform into Mallat layout by lines, with `lift` for one line in place and `end` after each level.
fn plain<T: Copy + Default>(t: &Transform, data: &mut [T], lift: impl Fn(i64, &mut [T]), end: impl Fn(&mut T)) {
    let shape = t.geometry.shape();
    let mut strides = vec![1; shape.len()];
    (1..shape.len()).rev().for_each(|a| strides[a - 1] = strides[a] * shape[a]);
    for level in 0..t.geometry.depth() {
        let (extent, origins) = (t.geometry.level_shape(level), t.geometry.level_origins(level));
        let cells: Vec<usize> = (0..extent.iter().product())
            .map(|mut i: usize| (0..shape.len()).rev().map(|a| (i % extent[a] * strides[a], i /= extent[a]).0).sum())
            .collect();
        for axis in t.geometry.axes_at(level) {
            let n = extent[axis];
            for start in cells.iter().filter(|c| (*c / strides[axis]).is_multiple_of(shape[axis])) {
                let at = |i: usize| start + i * strides[axis];
                let mut line: Vec<T> = (0..n).map(|i| data[at(i)]).collect();
                lift(origins[axis], &mut line);
                let odd = |i: &usize| (origins[axis] + *i as i64) % 2 != 0;
                let order = (0..n).filter(|i| !odd(i)).chain((0..n).filter(odd));
                order.enumerate().for_each(|(to, i)| data[at(to)] = line[i]);
            }
        }
        cells.iter().for_each(|c| end(&mut data[*c]));
    }
}

/// Up to three axes of odd sizes, origins, levels, orders.
fn geometry() -> impl Strategy<Value = Geometry> {
    let one = prop::collection::vec(1..=70usize, 1..=1);
    let more = prop::collection::vec(1..=12usize, 2..=3);
    prop_oneof![one, more].prop_flat_map(|shape| {
        let rank = shape.len();
        let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
        (Just(shape), prop::collection::vec(-9..9i64, rank), prop::collection::vec(0..=4u32, rank), order)
            .prop_map(|(shape, origins, levels, order)| Geometry::new(&shape, &origins, &levels, &order).unwrap())
    })
}

/// A random transform. A periodic rule that meets an odd length is replaced.
fn transform(domain: Domain) -> impl Strategy<Value = Transform> {
    (any_scheme(domain), geometry(), any::<bool>()).prop_map(|(scheme, geometry, interleaved)| {
        let mut t = Transform::new(scheme, geometry);
        if t.geometry.check_boundary(t.boundary).is_err() {
            t.boundary = Boundary::Zero;
        }
        if interleaved {
            t.layout = Layout::Interleaved;
        }
        t
    })
}

/// Integer samples of every size, with frequent extremes.
fn samples(n: usize, seed: u64) -> Vec<i64> {
    let mut state = seed | 1;
    let next = |state: &mut u64| {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *state >> 16
    };
    let kind = next(&mut state) % 3;
    (0..n)
        .map(|_| match (kind, next(&mut state)) {
            (0, r) => r as i64 % 256,
            (1, r) => [i64::MIN, i64::MAX, i64::from(i32::MIN), i64::from(i16::MAX)][r as usize % 4],
            (_, r) => (r << 20) as i64 ^ r as i64,
        })
        .collect()
}

fn cast<T: Sample>(values: &[i64]) -> Vec<T> {
    values.iter().map(|v| T::from_i64(*v)).collect()
}

fn returns<T: Sample>(t: &Transform, values: &[i64]) -> Result<(), TestCaseError> {
    let data: Vec<T> = cast(values);
    let mut work = data.clone();
    t.forward(&mut work).unwrap();
    t.inverse(&mut work).unwrap();
    prop_assert_eq!(work, data);
    Ok(())
}

/// Mallat coefficients rearranged to the transform's own layout.
fn arranged<T: Sample>(t: &Transform, mallat: &[T]) -> Vec<T> {
    let g = &t.geometry;
    let index = |band: &crate::core::geometry::Band, mut i: usize| {
        let (mut at, mut stride) = (0, 1);
        for axis in (0..g.rank()).rev() {
            at += (band.offset[axis] + i % band.shape[axis] * band.step[axis]) * stride;
            i /= band.shape[axis];
            stride *= g.shape()[axis];
        }
        at
    };
    let mut out = mallat.to_vec();
    for (from, to) in g.bands(Layout::Mallat).iter().zip(&g.bands(t.layout)) {
        for i in 0..from.shape.iter().product() {
            out[index(to, i)] = mallat[index(from, i)];
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn integers_equal_the_plain_reading_and_come_back(t in transform(Domain::Integer), seed in any::<u64>()) {
        let values = samples(t.geometry.samples(), seed);
        let mut expected: Vec<i16> = cast(&values);
        let mut found = expected.clone();
        let steps = t.scheme.steps();
        plain(&t, &mut expected, |u, line| plain_i16(steps, t.boundary, u, line), |_| {});
        t.forward(&mut found).unwrap();
        prop_assert_eq!(found, arranged(&t, &expected));
        returns::<i16>(&t, &values)?;
        returns::<i32>(&t, &values)?;
        returns::<i64>(&t, &values)?;
    }

    #[test]
    fn reals_equal_the_plain_reading_bit_for_bit(t in transform(Domain::Real), seed in any::<u64>()) {
        let values: Vec<i64> = samples(t.geometry.samples(), seed).iter().map(|v| v % 1000).collect();
        let steps = t.scheme.steps();
        let lift = |u: i64, line: &mut [f32]| plain_f32(steps, t.boundary, u, line);
        let bits = |data: &[f32]| data.iter().map(|x| x.to_bits()).collect::<Vec<_>>();

        let mut expected: Vec<f32> = values.iter().map(|v| *v as f32 / 7.0).collect();
        let mut found = expected.clone();
        plain(&t, &mut expected, lift, |_| {});
        t.forward(&mut found).unwrap();
        prop_assert_eq!(bits(&found), bits(&arranged(&t, &expected)));

        // Storage types: f32 within a level, one rounding at its end.
        let mut halves: Vec<f16> = values.iter().map(|v| f16::from_f32(*v as f32 / 7.0)).collect();
        let mut expected: Vec<f32> = halves.iter().map(|x| x.to_f32()).collect();
        plain(&t, &mut expected, lift, |x| *x = f16::from_f32(*x).to_f32());
        t.forward(&mut halves).unwrap();
        let halves: Vec<f32> = halves.iter().map(|x| x.to_f32()).collect();
        let finite = expected.iter().all(|x| x.is_finite());
        prop_assert!(!finite || bits(&halves) == bits(&arranged(&t, &expected)));
    }

    #[test]
    fn reals_come_back_closely(t in transform(Domain::Real), seed in any::<u64>()) {
        let values: Vec<i64> = samples(t.geometry.samples(), seed).iter().map(|v| v % 1000).collect();
        let data: Vec<f64> = cast(&values);
        let mut work = data.clone();
        t.forward(&mut work).unwrap();
        let largest = work.iter().fold(1000.0, |m: f64, x| m.max(x.abs()));
        t.inverse(&mut work).unwrap();
        // Rounding errors are relative to the largest value met. Each inverse step may amplify them by its sum of
        // |weights|, at most 6: 5 steps, up to 4 levels, up to 3 axes. The bound holds with a wide margin.
        for (x, y) in data.iter().zip(&work) {
            prop_assert!((x - y).abs() <= largest * 1e-7, "{} came back as {}, largest {}", x, y, largest);
        }
    }

    #[test]
    fn reduced_resolution_is_the_low_band_of_fewer_levels(t in transform(Domain::Integer), seed in any::<u64>()) {
        let data: Vec<i32> = cast(&samples(t.geometry.samples(), seed));
        for level in 0..=t.geometry.depth() {
            // Synthesis down to a level undoes exactly the coarser levels.
            let fewer: Vec<u32> = t.geometry.levels().iter().map(|l| *l.min(&level)).collect();
            let g = &t.geometry;
            let few = Geometry::new(g.shape(), g.origins(), &fewer, g.order()).unwrap();
            let mut expected = data.clone();
            Transform { geometry: few, ..t.clone() }.forward(&mut expected).unwrap();
            let mut found = data.clone();
            t.forward(&mut found).unwrap();
            t.inverse_to(level, &mut found).unwrap();
            prop_assert_eq!(&found, &expected);
        }
    }

    #[test]
    fn a_line_is_a_transform_of_one_level(s in any_scheme(Domain::Integer), n in 1..70usize, u in -9..9i64, seed in any::<u64>()) {
        let data: Vec<i16> = cast(&samples(n, seed));
        let mut t = Transform::new(s, Geometry::new(&[n], &[u], &[1], &[0]).unwrap());
        t.layout = Layout::Interleaved;
        let mut line = data.clone();
        if t.geometry.check_boundary(t.boundary).is_err() {
            prop_assert!(analyse_line(t.scheme.steps(), t.boundary, u, &mut line).is_err());
            return Ok(());
        }
        let mut expected = data.clone();
        t.forward(&mut expected).unwrap();
        analyse_line(t.scheme.steps(), t.boundary, u, &mut line).unwrap();
        prop_assert_eq!(&line, &expected);
        synthesise_line(t.scheme.steps(), t.boundary, u, &mut line).unwrap();
        prop_assert_eq!(line, data);
    }
}

#[test]
fn extremes_come_back_from_known_wavelets() {
    for scheme in [wavelet("dd137", testing::dd137()), wavelet("legall53", testing::legall53())] {
        for n in 1..40 {
            let t = Transform::new(scheme.clone(), Geometry::uniform(&[n, 7], 4).unwrap());
            for pattern in [[i16::MIN; 3], [i16::MAX; 3], [i16::MIN, i16::MAX, -1]] {
                let data: Vec<i16> = (0..7 * n).map(|i| pattern[i % 3]).collect();
                let mut work = data.clone();
                t.forward(&mut work).unwrap();
                t.inverse(&mut work).unwrap();
                assert_eq!(work, data);
            }
        }
    }
}

#[test]
fn gain_shift_brings_samples_back_and_precision_in() {
    let mut t = Transform::new(wavelet("dd137", testing::dd137()), Geometry::uniform(&[16, 24], 3).unwrap());
    t.gain_shift = 1;
    t.boundary = Boundary::Edge;
    let data: Vec<i32> = (0..16 * 24).map(|i| (i * 37) % 256).collect();
    let mut work = data.clone();
    t.forward(&mut work).unwrap();
    let mut again = work.clone();
    t.inverse(&mut work).unwrap();
    assert_eq!(work, data);
    // One level of a constant with gain s multiplies the low band by 2^s.
    t.geometry = Geometry::uniform(&[16, 24], 1).unwrap();
    again.fill(5);
    t.forward(&mut again).unwrap();
    assert_eq!(&again[..12], [10; 12]);
    assert_eq!(&again[12..24], [0; 12]);
    // Synthesis rounds: 11 >> 1 is 6 after adding a half.
    t.geometry = Geometry::uniform(&[1, 1], 1).unwrap();
    let mut lone = [11];
    t.inverse(&mut lone).unwrap();
    assert_eq!(lone, [6]);
}

#[test]
fn a_lone_sample() {
    let geometry = |u| Geometry::new(&[1, 1], &[u, 0], &[1, 1], &[0, 1]).unwrap();
    for (u, double, expected) in [(0, true, 9), (1, false, 9), (1, true, 18), (-3, true, 18)] {
        let mut t = Transform::new(wavelet("legall53", testing::legall53()), geometry(u));
        t.double_lone_odd = double;
        let mut data = [9i16];
        t.forward(&mut data).unwrap();
        assert_eq!(data, [expected]);
        t.inverse(&mut data).unwrap();
        assert_eq!(data, [9]);
    }
    let mut t = Transform::new(wavelet("cdf97", testing::cdf97()), geometry(1));
    let mut data = [bf16::from_f32(3.0)];
    t.forward(&mut data).unwrap();
    assert_eq!(data[0].to_f32(), 3.0, "scaling leaves a lone sample alone, too");
    t.double_lone_odd = true;
    t.forward(&mut data).unwrap();
    assert_eq!(data[0].to_f32(), 6.0);
}

#[test]
fn the_order_of_axes_matters_to_integers() {
    let data: Vec<i16> = (0..64).map(|i| ((i * i * 31) % 251) as i16).collect();
    let run = |order: &[usize]| {
        let g = Geometry::new(&[8, 8], &[0, 0], &[1, 1], order).unwrap();
        let mut work = data.clone();
        Transform::new(wavelet("legall53", testing::legall53()), g).forward(&mut work).unwrap();
        work
    };
    assert_ne!(run(&[0, 1]), run(&[1, 0]));
}

#[test]
fn errors_name_fault_and_remedy() {
    let t = Transform::new(wavelet("legall53", testing::legall53()), Geometry::uniform(&[6, 4], 2).unwrap());
    assert_eq!(
        t.forward(&mut [0f32; 24]).unwrap_err().to_string(),
        "the wavelet is integer, but the samples are f32: choose i16, i32 or i64"
    );
    assert_eq!(t.forward(&mut [0i16; 23]).unwrap_err().to_string(), "shape [6, 4] has 24 samples, but the data has 23");
    assert_eq!(
        t.inverse_to(3, &mut [0i16; 24]).unwrap_err().to_string(),
        "invalid level 3: the transform has 2 levels, and 0 is full size"
    );
    let periodic = Transform { boundary: Boundary::Periodic, ..t.clone() };
    let error = periodic.forward(&mut [0i16; 24]).unwrap_err().to_string();
    assert!(error.starts_with("axis 0 has 3 samples at level 1"), "{error}");
    let gain = Transform { gain_shift: 15, ..t.clone() };
    assert!(gain.forward(&mut [0i16; 24]).unwrap_err().to_string().contains("at most 14 bits"));
    assert!(gain.forward(&mut [0i32; 24]).is_ok());
    let real = Transform { scheme: wavelet("cdf97", testing::cdf97()), gain_shift: 1, ..t };
    assert!(real.forward(&mut [0f32; 24]).unwrap_err().to_string().contains("integer wavelets"));
    assert!(real.forward(&mut [0i16; 24]).unwrap_err().to_string().contains("choose f32"));
}

#[test]
fn an_update_may_come_first() {
    // A scheme whose first step updates: the inverse starts with the last step.
    let update_first = testing::scheme(
        "lazy",
        Domain::Integer,
        Boundary::Edge,
        vec![
            testing::integer(Phase::Even, Op::Add, &[(-4, 3), (5, -7)], 1, 3),
            testing::integer(Phase::Even, Op::Sub, &[(0, 1)], 0, 0),
            testing::integer(Phase::Odd, Op::Sub, &[(6, 1)], 0, 2),
        ],
    );
    for n in 2..20 {
        let data: Vec<i16> = (0..n).map(|i| (i * 1237) as i16).collect();
        let mut line = data.clone();
        analyse_line(update_first.steps(), Boundary::Edge, 1, &mut line).unwrap();
        synthesise_line(update_first.steps(), Boundary::Edge, 1, &mut line).unwrap();
        assert_eq!(line, data);
    }
}
