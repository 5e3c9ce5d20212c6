//! Expansive levels: bits of the oracle, and reconstruction.

use lifting::{Device, Expansive, Extension, Sample, SampleType, Scheme, Strided, catalogue, f16};
use lifting_dsl::oracle;

fn samples<T: Sample>(n: usize) -> Vec<T> {
    (0..n as i64).map(|i| T::from_i64((i * i * 37 + 11 * i) % 201 - 100)).collect()
}

fn bits<T: Sample>(x: &[T]) -> Vec<u64> {
    x.iter().map(|v| v.to_f64().to_bits()).collect()
}

/// Window of an array.
fn window<T: Sample>(array: &[T], extended: &[usize], at: &[usize], shape: &[usize]) -> Vec<T> {
    (0..shape.iter().product())
        .map(|mut index: usize| {
            let (mut place, mut stride) = (0, 1);
            for axis in (0..shape.len()).rev() {
                place += (at[axis] + index % shape[axis]) * stride;
                (index, stride) = (index / shape[axis], stride * extended[axis]);
            }
            array[place]
        })
        .collect()
}

fn check<T: Sample>(scheme: &Scheme, shape: &[usize], rules: &[Option<Extension>], device: &Device) {
    check_with::<T>(scheme, shape, rules, device, 0.0);
}

/// Adjoints may differ from the definition by `bound`, relative to the largest sample; 0 compares bits.
fn check_with<T: Sample>(
    scheme: &Scheme,
    shape: &[usize],
    rules: &[Option<Extension>],
    device: &Device,
    bound_of_adjoints: f64,
) {
    let same = |found: &[T], expected: &[T], what: &str| {
        if bound_of_adjoints == 0.0 {
            return assert_eq!(bits(found), bits(expected), "{what}");
        }
        let largest = expected.iter().map(|x| x.to_f64().abs()).fold(0.0, f64::max);
        assert_eq!(found.len(), expected.len(), "{what}");
        for (a, b) in found.iter().zip(expected) {
            assert!((a.to_f64() - b.to_f64()).abs() <= bound_of_adjoints * largest, "{what}: {a:?}, not {b:?}");
        }
    };
    let what = || format!("{} {shape:?} {rules:?} {}", scheme.name(), T::KIND);
    let definition = oracle::Expansive {
        scheme: scheme.clone(),
        filter_length: scheme.filter_length(),
        extensions: rules.to_vec(),
        shape: shape.to_vec(),
    };
    let data = samples::<T>(shape.iter().product());
    let expected = definition.forward(&data).unwrap();
    let ours = Expansive::<T>::new(scheme, scheme.filter_length(), shape, rules, device).unwrap();
    let len = ours.extended_len();
    // Scratch and results hold arbitrary old values.
    let (mut coefficients, mut scratch) = (samples::<T>(len), samples::<T>(len));
    ours.forward(&data[..], &mut coefficients, &mut scratch).unwrap();

    let n = ours.band_shape().to_vec();
    let whole: Vec<usize> = n.iter().zip(rules).map(|(&n, rule)| if rule.is_some() { 2 * n } else { n }).collect();
    let mut bands = Vec::new();
    for band in 0..ours.bands() {
        let samples = window(&coefficients, ours.extended_shape(), &ours.offsets(band), &n);
        let at = places(&n, rules, band);
        assert_eq!(bits(&samples), bits(&window(&expected, &whole, &at, &n)), "{} band {band}", what());
        bands.push(samples);
    }

    // Synthesis from bands alone.
    let back = Expansive::<T>::of_bands(scheme, scheme.filter_length(), &n, rules, device).unwrap();
    let strides = strides(&n);
    // SAFETY: the bands are contiguous arrays of that shape.
    let views: Vec<Strided<T>> = bands.iter().map(|b| unsafe { Strided::new(b.as_ptr(), &n, &strides) }).collect();
    let views: Vec<Option<&Strided<T>>> = views.iter().map(Some).collect();
    let (mut restored, mut scratch) = (samples::<T>(back.extended_len()), samples::<T>(back.extended_len()));
    back.inverse(&views, &mut restored, &mut scratch).unwrap();
    let restored = window(&restored, back.extended_shape(), &back.first(), shape);
    assert_eq!(bits(&restored), bits(&definition.inverse(&expected).unwrap()), "{}", what());
    let bound = match T::KIND {
        SampleType::F64 => 1e-9,
        SampleType::F32 => 1e-2,
        _ => 8.0,
    };
    for (a, b) in restored.iter().zip(&data) {
        assert!((a.to_f64() - b.to_f64()).abs() < bound, "{}: {a:?} for {b:?}", what());
    }

    // Gradients with respect to the bands and to the synthesised data.
    let mut gradient = samples::<T>(data.len());
    let (mut scratch, mut workspace) = (samples::<T>(2 * len), ours.workspace());
    ours.adjoint_with(&views, &mut gradient, &mut scratch, &mut workspace).unwrap();
    same(&gradient, &definition.adjoint(&expected).unwrap(), &format!("{} adjoint", what()));
    if back.restored_shape() == shape {
        let mut scratch = samples::<T>(back.extended_len());
        let mut coefficients = scratch.clone();
        back.inverse_adjoint_with(&data, &mut coefficients, &mut scratch, &mut back.workspace()).unwrap();
        let expected = definition.inverse_adjoint(&data).unwrap();
        for band in 0..back.bands() {
            let samples = window(&coefficients, back.extended_shape(), &back.offsets(band), &n);
            let expected = window(&expected, &whole, &places(&n, rules, band), &n);
            same(&samples, &expected, &format!("{} adjoint of synthesis, band {band}", what()));
        }
    }
}

/// Start of band number `band` in an array of adjacent bands.
fn places(n: &[usize], rules: &[Option<Extension>], band: usize) -> Vec<usize> {
    let mut bit = 1 << rules.iter().flatten().count();
    let at = |(&n, rule): (&usize, &Option<Extension>)| {
        bit = if rule.is_some() { bit / 2 } else { bit };
        if rule.is_some() && band & bit != 0 { n } else { 0 }
    };
    n.iter().zip(rules).map(at).collect()
}

fn strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    (1..shape.len()).rev().for_each(|axis| strides[axis - 1] = strides[axis] * shape[axis] as isize);
    strides
}

/// CPUs with one and two threads.
const ONE: Device = Device::Cpu { threads: 1 };
const TWO: Device = Device::Cpu { threads: 2 };

const WAVELETS: [&str; 8] = ["haar", "db2", "db5", "sym8", "bior2.2", "bior4.4", "rbio3.1", "coif2"];

#[test]
fn lines_equal_the_oracle_and_reconstruct() {
    for name in WAVELETS {
        let scheme = catalogue::find(name).unwrap();
        for rule in Extension::ALL {
            for n in [1, 2, 3, 4, 7, 16, 33] {
                // In the periodized modes, an odd line is extended by one sample.
                check::<f64>(&scheme, &[n], &[Some(rule)], &ONE);
            }
            check::<f32>(&scheme, &[50], &[Some(rule)], &ONE);
            check::<f16>(&scheme, &[21], &[Some(rule)], &ONE);
        }
    }
}

#[test]
fn arrays_equal_the_oracle_and_reconstruct() {
    for name in WAVELETS {
        let scheme = catalogue::find(name).unwrap();
        for rule in Extension::ALL {
            let other = Extension::ALL[(rule as usize + 4) % 9];
            check::<f32>(&scheme, &[6, 9], &[Some(rule), Some(rule)], &ONE);
            check::<f64>(&scheme, &[5, 12], &[Some(rule), Some(other)], &ONE);
            check::<f64>(&scheme, &[5, 12], &[None, Some(rule)], &TWO);
            check::<f32>(&scheme, &[11, 4], &[Some(rule), None], &ONE);
            check::<f64>(&scheme, &[3, 8, 5], &[Some(rule), None, Some(other)], &ONE);
            check::<f32>(&scheme, &[4, 6, 5], &[Some(rule); 3], &ONE);
            // Rows long enough for wider margins.
            check::<f32>(&scheme, &[3, 701], &[Some(rule); 2], &ONE);
            check::<f64>(&scheme, &[2, 300], &[None, Some(rule)], &ONE);
        }
        check::<f32>(&scheme, &[200, 300], &[Some(Extension::Symmetric); 2], &TWO);
    }
}

/// GPU kernels extend the data themselves.
#[test]
fn kernels_equal_the_oracle() {
    let scheme = catalogue::find("bior2.2").unwrap();
    for rule in Extension::ALL {
        let other = Extension::ALL[(rule as usize + 4) % 9];
        for n in [1, 2, 3, 8] {
            check::<f64>(&scheme, &[n], &[Some(rule)], &Device::Interpreter);
        }
        check::<f16>(&scheme, &[21], &[Some(rule)], &Device::Interpreter);
        check::<f32>(&scheme, &[7, 9], &[Some(rule), Some(other)], &Device::Interpreter);
        check::<f32>(&scheme, &[3, 5, 4], &[Some(rule), None, Some(other)], &Device::Interpreter);
    }
    // Rows long enough for wider margins; filters longer than the line.
    check::<f32>(&scheme, &[2, 600], &[None, Some(Extension::Antireflect)], &Device::Interpreter);
    let db10 = catalogue::find("db10").unwrap();
    for rule in [Extension::Symmetric, Extension::Periodic, Extension::Antireflect] {
        check::<f64>(&db10, &[3], &[Some(rule)], &Device::Interpreter);
    }
}

/// Extended at once, these arrays would have 1.1 and 1.2 million samples, a few more than are extended at once. Longer
/// filters would only keep the oracle busy for longer.
#[test]
fn short_axes_equal_the_oracle() {
    let rules = [Some(Extension::Symmetric), Some(Extension::Zero), Some(Extension::Reflect)];
    let others = [rules[0], None, Some(Extension::Constant), rules[0]];
    let (long, short) = (catalogue::find("sym20").unwrap(), catalogue::find("db14").unwrap());
    let level = Expansive::<f64>::new(&long, long.filter_length(), &[5, 3, 4], &rules, &ONE).unwrap();
    assert_eq!((level.analysis_scratch_len(), level.first()), (0, vec![0; 3]));
    assert_eq!(level.extended_shape(), level.band_shape().iter().map(|n| 2 * n).collect::<Vec<_>>());
    let level = Expansive::<f32>::new(&short, short.filter_length(), &[2, 3, 2, 6], &others, &ONE).unwrap();
    assert_eq!(level.analysis_scratch_len(), 0);
    // Analysis and synthesis have the same bits. The adjoint adds up the samples of a border before the next axis.
    check_with::<f64>(&long, &[5, 3, 4], &rules, &Device::cpu(), 1e-14);
    check_with::<f32>(&short, &[2, 3, 2, 6], &others, &Device::cpu(), 1e-5);
}

/// Without rounding, the adjoint equals the transpose bit for bit.
#[test]
fn adjoints_are_transposes() {
    let text = "wavelet exact { domain real; odd -= 1/2*even[0] + 1/2*even[1]; even += 1/4*odd[-1] + 1/2*odd[0]; }";
    let scheme = lifting::compile(text).unwrap().remove(0);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for rule in Extension::ALL {
        for shape in [[1, 2], [3, 4], [7, 9], [8, 40]] {
            let rules = [Some(rule); 2];
            let transform = oracle::Expansive {
                scheme: scheme.clone(),
                filter_length: scheme.filter_length(),
                extensions: rules.to_vec(),
                shape: shape.to_vec(),
            };
            let x = samples::<f64>(shape[0] * shape[1]);
            let tx = transform.forward(&x).unwrap();
            let y: Vec<f64> = samples::<f64>(tx.len() + 5)[5..].to_vec();
            let ty = transform.adjoint(&y).unwrap();
            assert_eq!(dot(&tx, &y), dot(&x, &ty), "{rule} {shape:?}");
            let (sy, sx) = (transform.inverse(&y).unwrap(), transform.inverse_adjoint(&x).unwrap());
            assert_eq!(dot(&sy, &x), dot(&y, &sx), "{rule} {shape:?}");
        }
    }
}

/// With factors other than ±1, the sum depends on its order; long extensions of short lines go far.
#[test]
fn long_filters_wrap_around_short_lines() {
    for name in ["db38", "coif17", "sym20", "bior6.8", "dmey"] {
        let scheme = catalogue::find(name).unwrap();
        for rule in Extension::ALL {
            check::<f64>(&scheme, &[5, 2], &[Some(rule), Some(rule)], &ONE);
        }
    }
}

#[test]
fn filter_lengths_equal_pywavelets() {
    for (name, length) in [
        ("haar", 2),
        ("db2", 4),
        ("db38", 76),
        ("sym20", 40),
        ("coif1", 6),
        ("coif17", 102),
        ("bior1.3", 6),
        ("bior2.2", 6),
        ("bior3.1", 4),
        ("bior4.4", 10),
        ("bior5.5", 12),
        ("bior6.8", 18),
        ("rbio1.5", 10),
        ("rbio3.9", 20),
        ("rbio5.5", 12),
        ("dmey", 62),
    ] {
        assert_eq!(catalogue::find(name).unwrap().filter_length(), length, "{name}");
    }
}

#[test]
fn invalid_expansive_levels_are_reported() {
    let said = |result: Result<Expansive<f32>, lifting::PlanError>| result.unwrap_err().to_string();
    let (db4, legall) = (catalogue::find("db4").unwrap(), catalogue::find("legall53").unwrap());
    let rule = Some(Extension::Smooth);
    assert!(said(Expansive::new(&legall, 6, &[8], &[rule], &ONE)).contains("`legall53` is an integer wavelet"));
    assert!(said(Expansive::new(&db4, 8, &[8, 0], &[rule, None], &ONE)).contains("axis 1 has length 0"));
    assert!(said(Expansive::new(&db4, 8, &[8, 8], &[rule], &ONE)).contains("1 extensions for 2 axes"));
    let short = said(Expansive::of_bands(&db4, 8, &[3], &[rule], &ONE));
    assert_eq!(short, "bands have 3 coefficients along axis 0, but `db4` makes at least 4");
    assert!(said(Expansive::new(&db4, 8, &[1, usize::MAX / 2], &[None, rule], &ONE)).contains("more samples than"));
    let dwt = Expansive::<f32>::new(&db4, 8, &[8], &[rule], &ONE).unwrap();
    let error = dwt.forward(&[0.0; 8], &mut [0.0; 9], &mut [0.0; 9]).unwrap_err().to_string();
    assert_eq!(error, "the scratch: shape [22] needs 22 samples, but the slice has 9");
    let error = dwt.inverse::<[f32]>(&[None], &mut [], &mut []).unwrap_err().to_string();
    assert_eq!(error, "1 bands given, but the transform has 2; pass missing ones as `None`");
}
