//! Stationary levels: bits of the oracle's decimated transforms of all shifts, and reconstruction.

use lifting::{Boundary, Lines, Sample, Scheme, Stationary, catalogue, f16};
use lifting_dsl::Domain;
use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;

fn samples<T: Sample>(n: usize) -> Vec<T> {
    (0..n as i64).map(|i| T::from_i64((i * i * 37 + 11 * i) % 201 - 100)).collect()
}

fn bits<T: Sample>(x: &[T]) -> Vec<u64> {
    x.iter().map(|v| v.to_f64().to_bits()).collect()
}

/// Both bands of a line, from the periodic transforms that start at its first and at its second sample.
fn of_shifts<T: Sample>(scheme: &Scheme, line: &[T]) -> [Vec<T>; 2] {
    let n = line.len();
    let geometry = Geometry::uniform(&[n], 1).unwrap();
    let transform = Transform { boundary: Boundary::Periodic, ..Transform::new(scheme.clone(), geometry) };
    let mut bands = [line.to_vec(), line.to_vec()];
    for shift in 0..2 {
        let mut coefficients: Vec<T> = line.iter().cycle().skip(shift).take(n).copied().collect();
        transform.forward(&mut coefficients).unwrap();
        for (band, half) in bands.iter_mut().zip(coefficients.chunks(n / 2)) {
            for (k, x) in half.iter().enumerate() {
                band[2 * k + shift] = *x;
            }
        }
    }
    bands
}

fn check<T: Sample>(scheme: &Scheme, lines: &Lines) {
    let Lines { outer, length, inner, step } = *lines;
    let what = format!("{} {lines:?} {}", scheme.name(), T::KIND);
    let level = Stationary::<T>::new(scheme).unwrap();
    let data = samples::<T>(outer * length * inner);
    let (mut low, mut high) = (data.clone(), data.clone());
    level.forward(&data, [&mut low, &mut high], lines, 1.0, 1);
    let at = |block: usize, row: usize, column: usize| (block * length + row) * inner + column;
    if length % (2 * step) == 0 {
        for (block, first, column) in
            (0..outer).flat_map(|b| (0..step).flat_map(move |f| (0..inner).map(move |c| (b, f, c))))
        {
            let line = |from: &[T]| -> Vec<T> {
                (first..length).step_by(step).map(|row| from[at(block, row, column)]).collect()
            };
            let expected = of_shifts(scheme, &line(&data));
            assert_eq!(bits(&line(&low)), bits(&expected[0]), "{what}");
            assert_eq!(bits(&line(&high)), bits(&expected[1]), "{what}");
        }
    }
    let mut parallel = [data.clone(), data.clone()];
    let [a, d] = &mut parallel;
    level.forward(&data, [a, d], lines, 1.0, 3);
    assert_eq!([bits(a), bits(d)], [bits(&low), bits(&high)], "{what}");
    let mut back = vec![T::from_i64(7); data.len()];
    level.inverse([&low, &high], &mut back, lines, 1.0, 2);
    let bound = [(8, 1e-6), (4, 1e-2), (2, 1.0)].into_iter().find(|(bytes, _)| *bytes == size_of::<T>()).unwrap().1;
    for (x, y) in back.iter().zip(&data) {
        assert!((x.to_f64() - y.to_f64()).abs() < bound, "{what}: {x:?}, not {y:?}");
    }
}

fn all_lines() -> Vec<Lines> {
    let mut all = Vec::new();
    for (outer, length, inner) in
        [(1, 2, 1), (3, 8, 1), (2, 12, 3), (1, 64, 1), (2, 32, 21), (1, 1024, 40), (1, 1 << 15, 1), (5, 7, 2)]
    {
        for step in [1, 2, 4, 16] {
            all.push(Lines { outer, length, inner, step });
        }
    }
    all
}

#[test]
fn the_catalogue_equals_transforms_of_all_shifts() {
    for name in ["haar", "cdf97", "db4", "sym8", "coif2", "bior6.8", "db10"] {
        let scheme = catalogue::find(name).unwrap();
        for lines in all_lines() {
            check::<f64>(&scheme, &lines);
        }
        check::<f32>(&scheme, &Lines { outer: 2, length: 24, inner: 5, step: 2 });
    }
}

/// Storage types round once at the end, as levels of plans do.
#[test]
fn half_precision() {
    check::<f16>(&catalogue::find("haar").unwrap(), &Lines { outer: 1, length: 16, inner: 3, step: 1 });
}

#[test]
fn integers_are_refused() {
    let scheme = catalogue::find("legall53").unwrap();
    assert_eq!(scheme.domain(), Domain::Integer);
    let error = Stationary::<f64>::new(&scheme).unwrap_err().to_string();
    assert!(error.contains("legall53"), "{error}");
    let error = Stationary::<i32>::new(&catalogue::find("haar").unwrap()).unwrap_err().to_string();
    assert!(error.contains("i32"), "{error}");
}
