//! Plans against the oracle: the same bits for every border rule, layout, origin, order of axes, sample type and
//! stride.

use crate::support::{self, lattices, noise, scheme};
use lifting::{
    Boundary, Device, Exactness, Format, Layout, Pad, Plan, PlanError, Sample, Scheme, bf16, catalogue, f16,
};
use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;

struct Case {
    shape: Vec<usize>,
    levels: Vec<u32>,
    order: Vec<usize>,
    origins: Vec<i64>,
    boundary: Boundary,
    layout: Layout,
}

fn check<T: Sample>(scheme: &Scheme, case: &Case, threads: usize) {
    let Case { shape, levels, order, origins, boundary, layout } = case;
    let geometry = Geometry::new(shape, origins, levels, order).unwrap();
    let n = shape.iter().product();
    let data: Vec<T> = noise(n, n as u64);
    let what =
        format!("{} {:?} {shape:?} {levels:?} {order:?} {origins:?} {boundary} {layout:?}", scheme.name(), T::KIND);
    let plan = Plan::builder(scheme)
        .shape(shape)
        .levels_per_axis(levels)
        .axis_order(order)
        .origins(origins)
        .boundary(*boundary)
        .layout(*layout)
        .sample::<T>()
        .build(&Device::cpu_with_threads(threads));
    if geometry.check_boundary(*boundary).is_err() {
        assert!(matches!(plan, Err(PlanError::Geometry(_))), "{what}");
        return;
    }
    let plan = plan.unwrap();
    let mut oracle =
        Transform { boundary: *boundary, layout: *layout, ..Transform::new(scheme.clone(), geometry.clone()) };
    oracle.gain_shift = 0;
    let mut expected = data.clone();
    oracle.forward(&mut expected).unwrap();

    let mut coefficients = vec![T::default(); n];
    plan.forward(&data, &mut coefficients).unwrap();
    assert_eq!(coefficients, expected, "forward {what}");
    let mut in_place = data.clone();
    plan.forward_in_place(&mut in_place).unwrap();
    assert_eq!(in_place, expected, "in place {what}");

    for level in 0..=plan.depth() {
        let mut whole = expected.clone();
        oracle.inverse_to(level, &mut whole).unwrap();
        let low = geometry.low_band(level, *layout);
        let shape = plan.level_shape(level).unwrap().to_vec();
        assert_eq!(low.shape, shape);
        let count: usize = shape.iter().product();
        let mut out = vec![T::default(); count];
        plan.inverse_to(level, &coefficients, &mut out).unwrap();
        let expected: Vec<T> = (0..count)
            .map(|index| {
                let (mut rest, mut at, mut stride) = (index, 0, 1);
                for axis in (0..shape.len()).rev() {
                    at += (low.offset[axis] + rest % shape[axis] * low.step[axis]) * stride;
                    rest /= shape[axis];
                    stride *= case.shape[axis];
                }
                whole[at]
            })
            .collect();
        assert_eq!(out, expected, "inverse to {level} {what}");
    }
    plan.inverse_in_place(&mut in_place).unwrap();
    if scheme.domain() == lifting::Domain::Integer {
        assert_eq!(in_place, data, "lossless {what}");
    }
}

fn cases() -> Vec<Case> {
    let case = |((shape, levels, order, origins), boundary, layout): support::Case| Case {
        shape: shape.to_vec(),
        levels: levels.to_vec(),
        order: order.to_vec(),
        origins: origins.to_vec(),
        boundary,
        layout,
    };
    support::cases().map(case).collect()
}

#[test]
fn integers_equal_the_oracle() {
    for name in ["dd137", "legall53", "fidelity", "daubechies97", "haar_vc2_0"] {
        let scheme = scheme(name);
        for case in cases() {
            check::<i16>(&scheme, &case, 1);
            check::<i32>(&scheme, &case, 1);
            check::<i64>(&scheme, &case, 1);
        }
    }
}

#[test]
fn reals_equal_the_oracle() {
    for name in ["cdf97", "cdf2_4", "cdf3_5"] {
        let scheme = scheme(name);
        for case in cases() {
            check::<f32>(&scheme, &case, 1);
            check::<f64>(&scheme, &case, 1);
            check::<f16>(&scheme, &case, 1);
            check::<bf16>(&scheme, &case, 1);
        }
    }
}

#[test]
fn lattices_equal_the_oracle() {
    for scheme in lattices() {
        for case in cases().into_iter().filter(|case| case.boundary == Boundary::Periodic) {
            check::<f32>(&scheme, &case, 1);
            check::<f64>(&scheme, &case, 1);
            check::<bf16>(&scheme, &case, 1);
        }
    }
}

#[test]
fn threads_change_nothing() {
    let case = |shape: &[usize], levels: &[u32], order: &[usize]| Case {
        shape: shape.to_vec(),
        levels: levels.to_vec(),
        order: order.to_vec(),
        origins: vec![0; shape.len()],
        boundary: Boundary::WholeSymmetric,
        layout: Layout::Mallat,
    };
    for case in [case(&[301, 457], &[3, 3], &[1, 0]), case(&[201, 157, 3], &[2, 2, 0], &[0, 1])] {
        for threads in [2, 3, 16] {
            check::<i16>(&scheme("dd137"), &case, threads);
            check::<f32>(&scheme("cdf97"), &case, threads);
            check::<f16>(&scheme("cdf97"), &case, threads);
        }
    }
}

#[test]
fn strides_pitches_and_negative_strides() {
    let (h, w, pitch) = (13, 10, 17isize);
    let scheme = scheme("legall53");
    let dense = Plan::builder(&scheme).shape(&[h, w]).levels(2).sample::<i32>().build(&Device::cpu()).unwrap();
    let data: Vec<i32> = noise(h * w, 3);
    let mut expected = vec![0; h * w];
    dense.forward(&data, &mut expected).unwrap();

    // Rows from the bottom up with a pitch; coefficients column-major.
    let plan = Plan::builder(&scheme)
        .shape(&[h, w])
        .levels(2)
        .strides(&[-pitch, 1])
        .coefficient_strides(&[1, h as isize])
        .sample::<i32>()
        .build(&Device::cpu())
        .unwrap();
    assert_eq!(plan.len(), 12 * 17 + 10);
    let mut flipped = vec![-7; plan.len()];
    for y in 0..h {
        for x in 0..w {
            flipped[(h - 1 - y) * 17 + x] = data[y * w + x];
        }
    }
    let mut columns = vec![0; plan.coefficient_len()];
    plan.forward(&flipped, &mut columns).unwrap();
    for y in 0..h {
        for x in 0..w {
            assert_eq!(columns[x * h + y], expected[y * w + x]);
        }
    }
    let band = plan.subband("HL1").unwrap();
    let in_dense = dense.subband("HL1").unwrap();
    assert!(band.samples(&columns).eq(in_dense.samples(&expected)));

    let mut back = vec![-7; plan.len()];
    plan.inverse(&columns, &mut back).unwrap();
    assert_eq!(back, flipped, "gaps between rows are unchanged");
}

#[test]
fn ndarray_views_in_and_out() {
    use ndarray::{Array2, ArrayD, s};
    let scheme = scheme("cdf97");
    let plan = Plan::builder(&scheme).shape(&[12, 9]).levels(2).sample::<f64>().build(&Device::cpu()).unwrap();
    let big = Array2::from_shape_vec((24, 9), noise::<f64>(24 * 9, 5)).unwrap();
    let view = big.slice(s![..;-2, ..]);
    let mut coefficients = Array2::zeros((9, 12)).reversed_axes();
    plan.forward(&view, &mut coefficients).unwrap();
    let dense: Vec<f64> = view.iter().copied().collect();
    let mut expected = vec![0.0; 108];
    plan.forward(&dense, &mut expected).unwrap();
    assert!(coefficients.iter().eq(&expected));
    for band in plan.subbands() {
        assert!(band.view(&coefficients).iter().eq(band.samples(&expected)), "{}", band.name);
    }
    let mut back = ArrayD::zeros(vec![12, 9]);
    plan.inverse(&coefficients, &mut back).unwrap();
    assert!(back.iter().zip(&dense).all(|(a, b)| (a - b).abs() < 1e-9));
    let wrong = plan.forward(&big, &mut back);
    assert!(matches!(wrong, Err(PlanError::ShapeMismatch { .. })), "{wrong:?}");
}

#[test]
fn profiles_set_their_formats_conventions() {
    let wavelet = scheme("dd137");
    let builder = Plan::builder(&wavelet).shape(&[16, 24]).levels(3).profile(Format::Vc2).sample::<i32>();
    let plan = builder.clone().build(&Device::cpu()).unwrap();
    let recipe = plan.recipe();
    assert_eq!((recipe.boundary, recipe.gain_shift, &recipe.axis_order[..]), (Boundary::Edge, 1, &[1, 0][..]));
    let data: Vec<i32> = noise::<i32>(16 * 24, 1).iter().map(|x| x >> 16).collect();
    let mut coefficients = vec![0; 16 * 24];
    plan.forward(&data, &mut coefficients).unwrap();
    let mut oracle = Transform::new(wavelet.clone(), Geometry::uniform(&[16, 24], 3).unwrap());
    (oracle.boundary, oracle.gain_shift) = (Boundary::Edge, 1);
    let mut expected = data.clone();
    oracle.forward(&mut expected).unwrap();
    assert_eq!(coefficients, expected);
    let mut back = vec![0; 16 * 24];
    plan.inverse(&coefficients, &mut back).unwrap();
    assert_eq!(back, data);

    let odd = builder.clone().shape(&[300, 451]);
    let error = odd.build(&Device::cpu()).unwrap_err();
    assert_eq!(error, PlanError::NotAMultiple { format: Format::Vc2, axis: 0, length: 300, multiple: 8 });
    assert!(error.to_string().contains("pad"), "{error}");
    let padded = odd.pad(Pad::Edge).build(&Device::cpu()).unwrap();
    assert_eq!(padded.coefficient_shape(), [304, 456]);

    let wavelet = scheme("legall53");
    let plan = Plan::builder(&wavelet).shape(&[1, 7]).levels(2).origins(&[1, 1]).profile(Format::Jpeg2000);
    let plan = plan.sample::<i16>().build(&Device::cpu()).unwrap();
    assert_eq!(plan.recipe().axis_order, [0, 1]);
    let mut data: Vec<i16> = (0..7).collect();
    plan.forward_in_place(&mut data).unwrap();
    let mut oracle = Transform::new(wavelet, Geometry::new(&[1, 7], &[1, 1], &[2, 2], &[0, 1]).unwrap());
    oracle.double_lone_odd = true;
    let mut expected: Vec<i16> = (0..7).collect();
    oracle.forward(&mut expected).unwrap();
    assert_eq!(data, expected);
    plan.inverse_in_place(&mut data).unwrap();
    assert_eq!(data, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn padding_repeats_the_border_and_the_inverse_crops() {
    let wavelet = scheme("legall53");
    let build = |shape: &[usize], pad| {
        let mut b = Plan::builder(&wavelet).shape(shape).levels(2).boundary(Boundary::Periodic);
        if pad {
            b = b.pad(Pad::Edge);
        }
        b.sample::<i16>().build(&Device::cpu())
    };
    assert!(matches!(build(&[5, 7], false), Err(PlanError::Geometry(_))));
    let (padded, whole) = (build(&[5, 7], true).unwrap(), build(&[8, 8], false).unwrap());
    let data: Vec<i16> = noise(35, 2);
    let by_hand: Vec<i16> = (0..64).map(|i: usize| data[(i / 8).min(4) * 7 + (i % 8).min(6)]).collect();
    let (mut a, mut b) = (vec![0; 64], vec![0; 64]);
    padded.forward(&data, &mut a).unwrap();
    whole.forward(&by_hand, &mut b).unwrap();
    assert_eq!(a, b);
    let mut back = vec![0; 35];
    padded.inverse(&a, &mut back).unwrap();
    assert_eq!(back, data);
    let (mut low_a, mut low_b) = (vec![0; 16], vec![0; 16]);
    padded.inverse_to(1, &a, &mut low_a).unwrap();
    whole.inverse_to(1, &b, &mut low_b).unwrap();
    assert_eq!(low_a, low_b);
    assert!(matches!(padded.forward_in_place(&mut a), Err(PlanError::PaddedInPlace { .. })));
}

#[test]
fn padding_that_multiplies_the_data_is_refused() {
    let wavelet = scheme("legall53");
    let build = |shape: &[usize], levels: &[u32]| {
        let builder = Plan::builder(&wavelet).shape(shape).levels_per_axis(levels).pad(Pad::Edge);
        builder.sample::<i16>().build(&Device::cpu()).map(|plan| plan.coefficient_shape().to_vec())
    };
    // The maximum useful number of levels on every axis, at any cost.
    assert_eq!(build(&[512, 300, 3], &[9, 9, 2]), Ok(vec![512, 512, 4]));
    assert_eq!(build(&[5, 5, 5], &[3, 3, 3]), Ok(vec![8, 8, 8]));
    assert_eq!(build(&[1, 1], &[1, 1]), Ok(vec![2, 2]));
    // Small pictures are padded to the size that a format requires.
    assert_eq!(build(&[1, 3], &[4, 4]), Ok(vec![16, 16]));
    // One level more, as long as it does not multiply the data.
    assert_eq!(build(&[512, 8], &[10, 0]), Ok(vec![1024, 8]));
    for (shape, levels, axis, most) in [
        ([512, 512], [20, 20], 0, 9),
        ([512, 512], [13, 13], 0, 9),
        ([512, 512], [9, 11], 1, 9),
        ([4096, 3], [0, 32], 1, 2),
        ([1 << 40, 1], [32, 2], 1, 1),
    ] {
        let error = build(&shape, &levels).unwrap_err();
        assert!(matches!(&error, PlanError::Padding { axis: a, most: m, .. } if (*a, *m) == (axis, most)), "{error}");
    }
    let said = build(&[512, 512], &[20, 20]).unwrap_err().to_string();
    assert!(said.contains("[1048576, 1048576]") && said.contains("enough for at most 9 levels"), "{said}");
}

#[test]
fn the_best_device_explains_the_choice() {
    let (device, why) = Device::best_and_why();
    assert_eq!(Device::best().unwrap(), device);
    assert_eq!(device == Device::cpu(), why.is_some());
    if let Some(why) = why {
        assert!(matches!(why, PlanError::Cuda(_)), "{why}");
    }
}

#[test]
fn ranges_are_proved_or_flagged() {
    let wavelet = scheme("dd137");
    let build = |levels, range: std::ops::RangeInclusive<i64>| {
        let plan = Plan::builder(&wavelet).shape(&[64, 64]).levels(levels).range(range);
        plan.sample::<i16>().build(&Device::cpu())
    };
    assert!(matches!(build(3, 0..=255).unwrap().recipe().exactness, Some(Exactness::Exact { .. })));
    assert!(matches!(build(1, -32768..=32767).unwrap().recipe().exactness, Some(Exactness::MayWrap { level: 1, .. })));
    assert!(matches!(build(1, 0..=65535), Err(PlanError::Range { .. })));
}

#[test]
fn mistakes_are_reported() {
    let (integer, real) = (scheme("dd137"), scheme("cdf97"));
    let cpu = Device::cpu();
    let text = |e: PlanError| e.to_string();
    let e = text(Plan::builder(&integer).shape(&[8]).sample::<f32>().build(&cpu).unwrap_err());
    assert!(e.contains("dd137") && e.contains("i16, i32 or i64"), "{e}");
    let e = text(Plan::builder(&real).shape(&[8]).sample::<i16>().build(&cpu).unwrap_err());
    assert!(e.contains("f32, f64, f16 or bf16"), "{e}");
    assert_eq!(Plan::builder(&real).sample::<f32>().build(&cpu).unwrap_err(), PlanError::NoShape);
    let e = text(Plan::builder(&real).shape(&[8]).profile(Format::Vc2).sample::<f32>().build(&cpu).unwrap_err());
    assert!(e.contains("no profile vc2"), "{e}");
    for bad in [&[][..], &[0, 3], &[1; 9], &[usize::MAX, 2]] {
        assert!(Plan::builder(&real).shape(bad).sample::<f32>().build(&cpu).is_err(), "{bad:?}");
    }
    assert!(Plan::builder(&real).shape(&[1 << 62]).sample::<f64>().build(&cpu).is_err());
    assert!(Plan::builder(&real).shape(&[9]).levels(99).sample::<f32>().build(&cpu).is_err());
    assert!(Plan::builder(&real).shape(&[9]).axes(&[1]).sample::<f32>().build(&cpu).is_err());
    assert!(Plan::builder(&real).shape(&[9, 9]).axes(&[1, 1]).sample::<f32>().build(&cpu).is_err());
    assert!(Plan::builder(&real).shape(&[9, 9]).levels_per_axis(&[1]).sample::<f32>().build(&cpu).is_err());
    assert!(Plan::builder(&real).shape(&[9, 9]).strides(&[8, 1]).sample::<f32>().build(&cpu).is_err());
    assert!(Plan::builder(&real).shape(&[9, 9]).strides(&[9]).sample::<f32>().build(&cpu).is_err());

    let plan = Plan::builder(&real).shape(&[9, 9]).levels(2).sample::<f32>().build(&cpu).unwrap();
    let (data, mut short) = (vec![0.0; 81], vec![0.0; 80]);
    let error = plan.forward(&data, &mut short).unwrap_err();
    assert!(matches!(error, PlanError::TooShort { needed: 81, got: 80, .. }));
    let mut long = vec![0.0; 82];
    for error in
        [plan.forward(&data, &mut long), plan.inverse(&long, &mut data.clone()), plan.forward_in_place(&mut long)]
    {
        let error = error.unwrap_err();
        assert!(matches!(error, PlanError::TooLong { needed: 81, got: 82, .. }));
        assert!(text(error).contains("shape [9, 9] has 81 samples, but the slice has 82"));
    }
    let mut corner = vec![0.0; 26];
    assert!(matches!(plan.inverse_to(1, &data, &mut corner), Err(PlanError::TooLong { needed: 25, got: 26, .. })));
    // Rows with gaps may also have one after the last row.
    let pitched = Plan::builder(&real).shape(&[9, 9]).strides(&[16, 1]).sample::<f32>().build(&cpu).unwrap();
    let mut out = vec![0.0; 81];
    assert_eq!(pitched.forward(&vec![1.0; 144], &mut out), Ok(()));
    assert!(matches!(
        pitched.forward(&vec![1.0; 136], &mut out),
        Err(PlanError::TooShort { needed: 137, got: 136, .. })
    ));
    assert!(matches!(plan.inverse_to(3, &data, &mut short), Err(PlanError::NoSuchLevel { level: 3, depth: 2 })));
    let other = Plan::builder(&real).shape(&[90, 9]).sample::<f32>().build(&cpu).unwrap();
    let mut out = vec![0.0; 81];
    let error = plan.forward_with(&data, &mut out, &mut other.workspace());
    assert_eq!(error, Err(PlanError::ForeignWorkspace));
}

#[test]
fn plans_travel() {
    fn everywhere<T: Send + Sync + Clone + 'static>(_: &T) {}
    let wavelet = scheme("cdf97");
    let plan = Plan::builder(&wavelet).shape(&[9, 9]).sample::<f32>().build(&Device::best().unwrap()).unwrap();
    everywhere(&plan);
    let shown = plan.recipe().to_string();
    assert!(
        shown.contains("wavelet    cdf97 on f32")
            && (shown.contains("9 lines of 9") || shown.contains("images of [9, 9]")),
        "{shown}"
    );
    assert_eq!(plan.workspace().bytes(), plan.workspace_bytes());
}

/// Periodic borders are the measure; the whole-symmetric rule suits symmetric steps only. Tiles count by the worst one.
#[test]
fn conditions_of_borders() {
    let of = |name: &str, boundary: Boundary, shape: &[usize], levels: u32, tile: Option<&[usize]>| {
        let wavelet = catalogue::find(name).unwrap();
        let builder = Plan::builder(&wavelet).shape(shape).levels(levels).boundary(boundary);
        let builder = tile.iter().fold(builder, |builder, tile| builder.tile(tile));
        builder.sample::<f64>().build(&Device::cpu()).unwrap().condition()
    };
    for n in [2, 3, 21, 101, 1000] {
        for (name, boundary) in
            [("cdf97", Boundary::WholeSymmetric), ("bior4.4", Boundary::Edge), ("haar", Boundary::Zero)]
        {
            let found = of(name, boundary, &[n, n + 1], 1, None);
            assert!((1.0..30.0).contains(&found), "{name} {n}: {found}");
        }
    }
    assert_eq!(of("db4", Boundary::Periodic, &[64], 3, None), 1.0);
    let db4 = of("db4", Boundary::WholeSymmetric, &[1001], 5, None);
    assert!((100.0..1e4).contains(&db4), "{db4}");
    assert!(of("coif2", Boundary::WholeSymmetric, &[1001], 5, None) > 1e4);
    let tile = of("db4", Boundary::WholeSymmetric, &[64], 3, Some(&[32]));
    assert_eq!(tile, of("db4", Boundary::WholeSymmetric, &[32], 3, None));
}

/// Scratch memory does not grow with the square of the reach, and values stay the oracle's.
#[test]
fn far_steps_take_memory_in_proportion() {
    let pair = "odd -= (even[-1024] + even[1000]) >> 1; even += (odd[-1001] + odd[1024] + 1) >> 2;";
    let text = format!("wavelet far {{ domain integer; {} }}", pair.repeat(32));
    let far = lifting::compile(&text).unwrap().remove(0);
    for boundary in Boundary::ALL {
        for shape in [[16, 64], [64, 16]] {
            let builder = Plan::builder(&far).shape(&shape).levels(2).boundary(boundary);
            let plan = builder.sample::<i32>().build(&Device::cpu_with_threads(2)).unwrap();
            assert!(plan.workspace_bytes() < 32 << 20, "{boundary} {shape:?}: {}", plan.workspace_bytes());
            let (levels, order) = (vec![2, 2], vec![1, 0]);
            let case =
                Case { shape: shape.to_vec(), levels, order, origins: vec![0, 0], boundary, layout: Layout::Mallat };
            check::<i32>(&far, &case, 1);
        }
    }
}

/// Scratch memory of a column is a line of it and its low bands, however many threads there are.
#[test]
fn columns_take_memory_in_proportion() {
    let wavelet = scheme("cdf97");
    let bytes = |shape: [usize; 2]| {
        let builder = Plan::builder(&wavelet).shape(&shape).levels(5);
        builder.sample::<f32>().build(&Device::cpu_with_threads(4)).unwrap().workspace_bytes()
    };
    let samples = 1 << 20;
    for shape in [[samples, 1], [1, samples], [1 << 10, 1 << 10]] {
        assert!(bytes(shape) < samples * 9, "{shape:?}: {}", bytes(shape));
    }
}
