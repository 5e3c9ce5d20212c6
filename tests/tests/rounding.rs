//! Roundings, signs and swaps of integer steps: by hand, under gain shifts, through `lifting!` and emitted C and Rust.

use lifting::{Device, Plan};
use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::{Transform, analyse_line, synthesise_line};
use lifting_dsl::{Boundary, Domain, Format, Profile, Scheme, compile, print_scheme, testing};
use lifting_tests::random::Random;
use lifting_tests::samples::TestSample;

fn compiled(text: &str) -> Scheme {
    compile(text).unwrap_or_else(|e| panic!("{e:#?}\n{text}")).schemes.remove(0)
}

/// The high sample x₁ − F(x₀ >> 2) at x₁ = 0, negated.
fn quotient(function: &str, x: i16) -> i16 {
    let scheme = compiled(&format!("wavelet w {{ domain integer; odd -= {function}(even[0] >> 2); }}"));
    assert_eq!(compiled(&print_scheme(&scheme)), scheme, "{function}");
    let mut line = [x, 0];
    analyse_line(scheme.steps(), Boundary::WholeSymmetric, 0, &mut line).unwrap();
    let high = line[1];
    synthesise_line(scheme.steps(), Boundary::WholeSymmetric, 0, &mut line).unwrap();
    assert_eq!(line, [x, 0], "{function}");
    -high
}

#[test]
fn functions_round_as_the_reference_says() {
    let functions = ["floor", "ceil", "trunc", "half_up", "half_even", "half_away"];
    for (x, quotients) in [
        (-10, [-3, -2, -2, -2, -2, -3]),
        (-7, [-2, -1, -1, -2, -2, -2]),
        (-6, [-2, -1, -1, -1, -2, -2]),
        (-5, [-2, -1, -1, -1, -1, -1]),
        (-4, [-1; 6]),
        (-2, [-1, 0, 0, 0, 0, -1]),
        (-1, [-1, 0, 0, 0, 0, 0]),
        (0, [0; 6]),
        (1, [0, 1, 0, 0, 0, 0]),
        (2, [0, 1, 0, 1, 0, 1]),
        (5, [1, 2, 1, 1, 1, 1]),
        (6, [1, 2, 1, 2, 2, 2]),
        (10, [2, 3, 2, 3, 2, 3]),
        (i16::MIN, [-8192; 6]),
        (i16::MAX, [8191, 8192, 8191, 8192, 8192, 8192]),
    ] {
        assert_eq!(functions.map(|function| quotient(function, x)), quotients, "{x} / 4");
    }
}

/// Functions that only change the rounding term print as that term, so the texts of one scheme have one hash.
#[test]
fn printed_texts_have_one_form() {
    let printed = |step: &str| print_scheme(&compiled(&format!("wavelet w {{ domain integer; {step} }}")));
    let plain = |step: &str| printed(step).contains(step);
    assert!(plain("odd -= trunc((even[0] + even[1]) >> 1);"));
    assert!(plain("odd -= half_even((3*even[0] - even[1] + 2) >> 2);"));
    assert!(plain("even += half_away(odd[0] >> 3);"));
    assert!(plain("odd *= -1;"));
    for (step, sum) in [
        ("odd -= floor(even[0] >> 2);", "odd -= even[0] >> 2;"),
        ("odd -= floor(even[0] >> 0);", "odd -= even[0];"),
        ("odd -= ceil(even[0] >> 2);", "odd -= (even[0] + 3) >> 2;"),
        ("odd -= half_up((even[0] + even[1] - 1) >> 2);", "odd -= (even[0] + even[1] + 1) >> 2;"),
    ] {
        assert_eq!(printed(step), printed(sum));
        assert!(plain(sum), "{sum}");
    }
    // Names of functions are free for constants.
    assert_eq!(printed("const trunc = 3; odd -= trunc*even[0];"), printed("odd -= 3*even[0];"));
}

#[test]
fn swaps_exchange_pairs_and_are_undone_at_odd_lengths() {
    let steps = compiled("wavelet w { domain integer; swap; }").steps().to_vec();
    let mut line = [i16::MIN, i16::MAX, 3, i16::MIN, -1, 7];
    analyse_line(&steps, Boundary::WholeSymmetric, 0, &mut line).unwrap();
    assert_eq!(line, [i16::MAX, i16::MIN, i16::MIN, 3, 7, -1]);
    for boundary in Boundary::ALL.into_iter().filter(|b| *b != Boundary::Periodic) {
        for origin in 0..2 {
            let line = [i16::MIN, i16::MAX, 3, i16::MIN, -1];
            let mut found = line;
            analyse_line(&steps, boundary, origin, &mut found).unwrap();
            synthesise_line(&steps, boundary, origin, &mut found).unwrap();
            assert_eq!(found, line, "{boundary} from {origin}");
        }
    }
}

/// Signs before the first step and after the last one, together with a gain shift, along both axes.
fn under_a_gain_shift<T: TestSample + lifting::Sample>(device: &Device, random: &mut Random) {
    let scheme = testing::scheme("w", Domain::Integer, Boundary::WholeSymmetric, testing::rounded_steps());
    for gain_shift in 0..3 {
        let profile = Profile { format: Format::Vc2, boundary: Some(Boundary::Edge), gain_shift };
        let scheme = scheme.clone().with_profiles(vec![profile]).unwrap();
        for (shape, levels) in [([16, 24], 2), ([4, 256], 1), ([64, 8], 2)] {
            let signal: Vec<T> = (0..shape[0] * shape[1]).map(|i| T::random(random, i % 7 == 0)).collect();
            let mut oracle = Transform::new(scheme.clone(), Geometry::uniform(&shape, levels).unwrap());
            (oracle.boundary, oracle.gain_shift) = (Boundary::Edge, gain_shift);
            let plan = Plan::builder(&scheme).shape(&shape).levels(levels).profile(Format::Vc2).sample::<T>();
            let plan = plan.build(device).unwrap();
            let (mut expected, mut found) = (signal.clone(), signal.clone());
            oracle.forward(&mut expected).unwrap();
            plan.forward_in_place(&mut found).unwrap();
            let what = format!("{} {device} {shape:?} shifted by {gain_shift}", T::KIND);
            assert!(T::same(&found, &expected), "forward, {what}");
            oracle.inverse(&mut expected).unwrap();
            plan.inverse_in_place(&mut found).unwrap();
            assert!(T::same(&found, &expected), "inverse, {what}");
            assert!(gain_shift > 0 || found == signal, "lossless, {what}");
        }
    }
}

#[test]
fn signs_and_gain_shifts() {
    let mut random = Random::new(5);
    for device in [Device::cpu(), Device::Interpreter] {
        under_a_gain_shift::<i16>(&device, &mut random);
        under_a_gain_shift::<i32>(&device, &mut random);
    }
    under_a_gain_shift::<i64>(&Device::cpu(), &mut random);
}

lifting::lifting! {
    /// Every rounding, a swap and a sign.
    pub wavelet rounded {
        domain integer;
        swap;
        odd  -= trunc((even[0] + even[1]) >> 1);
        even += half_even((odd[-1] + odd[0]) >> 2);
        odd  += half_away((even[0] + even[1] - 1) >> 3);
        even -= ceil(3*odd[0] >> 2);
        odd  *= -1;
    }
}

#[test]
fn the_macro_takes_them() {
    let scheme: &Scheme = &rounded;
    let text = print_scheme(scheme);
    assert_eq!(compiled(&text).steps(), scheme.steps(), "{text}");
    let signal: Vec<i16> = (0..33 * 20).map(|i| (i * i * 977) as i16).collect();
    let mut expected = signal.clone();
    let oracle = Transform::new(scheme.clone(), Geometry::uniform(&[33, 20], 2).unwrap());
    oracle.forward(&mut expected).unwrap();
    let plan = Plan::builder(scheme).shape(&[33, 20]).levels(2).sample::<i16>().build(&Device::cpu()).unwrap();
    let mut found = signal.clone();
    plan.forward_in_place(&mut found).unwrap();
    assert_eq!(found, expected);
    plan.inverse_in_place(&mut found).unwrap();
    assert_eq!(found, signal);
}
