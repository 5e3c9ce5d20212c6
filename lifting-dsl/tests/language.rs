//! The meaning of texts, and lossless printing.

use lifting_dsl::ast::*;
use lifting_dsl::factor;
use lifting_dsl::float::Float;
use lifting_dsl::scheme::{self, Group, IntegerStep, Op, RealStep, RoundingMode, ScaleStep, Tap};
use lifting_dsl::{Body, Boundary, Domain, Format, Phase, Scheme, Weight, compile, parse, print, print_scheme};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeMap;

fn one(source: &str) -> Scheme {
    let compiled = compile(source).unwrap_or_else(|e| panic!("{e:#?}\n{source}"));
    assert_eq!(compiled.schemes.len(), 1);
    compiled.schemes.into_iter().next().unwrap()
}

fn real(body: &str) -> Vec<scheme::Step> {
    one(&format!("wavelet w {{ domain real; {body} }}")).steps().to_vec()
}

fn integer(body: &str) -> Vec<scheme::Step> {
    one(&format!("wavelet w {{ domain integer; {body} }}")).steps().to_vec()
}

fn groups(body: &str) -> Vec<Group> {
    match &real(body)[0] {
        scheme::Step::Real(s) => s.groups.clone(),
        other => panic!("{other:?}"),
    }
}

fn ratio(n: i64, d: i64) -> Weight {
    Weight::Rational(num_rational::BigRational::new(n.into(), d.into()))
}

const DD137: &str = "
/// Deslauriers–Dubuc (13,7), integer to integer (VC-2 wavelet index 2).
///
///   With a second paragraph.
wavelet dd137 {
    domain integer;
    boundary whole-symmetric;           // default border rule
    profile vc2 { boundary edge; gain shift 1; }

    odd  -= (9*(even[0] + even[1]) - (even[-1] + even[2]) + 8) >> 4;
    even += (9*(odd[-1] + odd[0]) - (odd[-2] + odd[1]) + 16) >> 5;
}
";

#[test]
fn the_example_of_the_reference() {
    let s = one(DD137);
    assert_eq!(s.name(), "dd137");
    assert_eq!(
        s.docs(),
        ["Deslauriers–Dubuc (13,7), integer to integer (VC-2 wavelet index 2).", "", "  With a second paragraph."]
    );
    assert_eq!((s.domain(), s.boundary()), (Domain::Integer, Boundary::WholeSymmetric));
    let vc2 = s.profile(Format::Vc2).unwrap();
    assert_eq!((vc2.boundary, vc2.gain_shift), (Some(Boundary::Edge), 1));
    let taps = |list: &[(i32, i32)]| list.iter().map(|&(offset, weight)| Tap { offset, weight }).collect::<Vec<_>>();
    let step = |target, op, list, rounding, shift| {
        scheme::Step::Integer(IntegerStep { target, op, taps: taps(list), rounding, shift, mode: RoundingMode::Floor })
    };
    assert_eq!(
        s.steps(),
        [
            step(Phase::Odd, Op::Sub, &[(-1, -1), (0, 9), (1, 9), (2, -1)], 8, 4),
            step(Phase::Even, Op::Add, &[(-2, -1), (-1, 9), (0, 9), (1, -1)], 16, 5),
        ]
    );
    insta::assert_snapshot!(print_scheme(&s));
}

#[test]
fn cdf97_prints_as_it_is_written() {
    let s = one("
        wavelet cdf97 {
            domain real;
            const alpha = -1.586134342059924;
            const beta = -0.052980118572961;
            const K = 1.230174104914001;
            odd += alpha*(even[0] + even[1]);
            even += beta *(odd[-1] + odd[0]);
            odd -= (-2*even[3] + even[1])/3 - sqrt(3)/4*even[0] - even[2];
            even *= 1/K;
            odd *= K;
        }");
    insta::assert_snapshot!(print_scheme(&s));
    assert_eq!(one(&print_scheme(&s)), s);
}

#[test]
fn weights_form_groups() {
    // Equal weights share a group; groups are ordered by lowest offset; offsets ascend.
    let g = groups("odd += 2*even[3] + even[1]*3 + (even[-2] + even[5])*2 - -even[0]*(1 + 2) - even[2];");
    let group = |weight, offsets: &[i32]| Group { weight: Weight::integer(weight), offsets: offsets.to_vec() };
    assert_eq!(g, [group(2, &[-2, 3, 5]), group(3, &[0, 1]), group(-1, &[2])]);
    // Reads of one sample add up.
    assert_eq!(groups("odd += even[0] + even[0]/2;"), [Group { weight: ratio(3, 2), offsets: vec![0] }]);
}

#[test]
fn constants_are_exact() {
    let weight = |text: &str| groups(&format!("const a = 2/3; odd += ({text})*even[0];"))[0].weight.clone();
    assert_eq!(weight("0.1 + 0.2"), ratio(3, 10));
    assert_eq!(weight("1/3*3"), ratio(1, 1));
    assert_eq!(weight("-a*a"), ratio(-4, 9));
    assert_eq!(weight("1 - -a"), ratio(5, 3));
    assert_eq!(weight("8/2/2"), ratio(2, 1));
    assert_eq!(weight("sqrt(9/4)"), ratio(3, 2));
    assert_eq!(weight("sqrt(sqrt(16))"), ratio(2, 1));
    assert_eq!(weight("1_0.5e-1_0"), ratio(21, 20_000_000_000));
    assert_eq!(weight("sqrt(2)"), Weight::Irrational(2f64.sqrt()));
    assert_eq!(weight("(1 + sqrt(3))/(4*sqrt(2))"), Weight::Irrational((1.0 + 3f64.sqrt()) / (4.0 * 2f64.sqrt())));
    assert_eq!(weight("f64(1/3)"), Weight::Irrational(1.0 / 3.0));
}

#[test]
fn integer_steps() {
    let step = |body: &str| match &integer(body)[0] {
        scheme::Step::Integer(s) => {
            (s.taps.iter().map(|t| (t.offset, t.weight)).collect::<Vec<_>>(), s.rounding, s.shift)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(step("odd -= even[0];"), (vec![(0, 1)], 0, 0));
    assert_eq!(step("odd -= (even[0] + even[1]) >> 1;"), (vec![(0, 1), (1, 1)], 0, 1));
    // `+` binds tighter than `>>`, as in Rust.
    assert_eq!(step("odd -= even[0] + even[1] >> 1;"), (vec![(0, 1), (1, 1)], 0, 1));
    assert_eq!(step("odd -= (-(even[0] + even[1]) + 2) >> 2;"), (vec![(0, -1), (1, -1)], 2, 2));
    assert_eq!(step("const s = 4; odd -= 0.5*(6*even[0] - 2*s) >> s - 1;"), (vec![(0, 3)], -4, 3));
    assert_eq!(step("odd -= -2147483648*even[0] + 0x7fff_ffff >> 30;"), (vec![(0, i32::MIN)], i32::MAX, 30));
}

#[test]
fn several_wavelets_and_loose_layout() {
    let source = "\u{feff}//! A file.\r\n//// not a doc\r\n/// A.\r\nwavelet a{domain real;odd+=even[ - 1 ]-even[+0];}wavelet B_2 { domain real ; boundary whole -\nsymmetric ; odd += even [ 0 ] ; }";
    let compiled = compile(source).unwrap();
    assert_eq!(compiled.warnings, []);
    let names: Vec<_> = compiled.schemes.iter().map(|s| s.name()).collect();
    assert_eq!(names, ["a", "B_2"]);
    assert_eq!(compiled.schemes[0].docs(), ["A."]);
}

#[test]
fn spans_point_into_the_text() {
    let (file, errors) = parse(DD137);
    assert_eq!(errors, []);
    let w = &file.wavelets[0];
    assert_eq!(w.name.span.text(DD137), "dd137");
    assert!(w.span.text(DD137).starts_with("wavelet dd137 {") && w.span.text(DD137).ends_with('}'));
    let Item::Step(step) = &w.items[3] else { panic!() };
    assert!(step.span.text(DD137).starts_with("odd  -= (9") && step.span.text(DD137).ends_with(">> 4"));
}

const BANKS: &str = "
    wavelet db2_lifting {
        domain real;
        boundary periodic;
        const s = 4*sqrt(2);
        bank {
            lowpass at -1 [(1 - sqrt(3))/s, (3 - sqrt(3))/s, (3 + sqrt(3))/s, (1 + sqrt(3))/s];
            highpass at -1 [-(1 + sqrt(3))/s, (3 + sqrt(3))/s, -(3 - sqrt(3))/s, (1 - sqrt(3))/s];
        }
        factor lifting;
    }
    wavelet db2_lattice {
        domain real;
        boundary periodic;
        const s = 4*sqrt(2);
        bank {
            lowpass at -1 [(1 - sqrt(3))/s, (3 - sqrt(3))/s, (3 + sqrt(3))/s, (1 + sqrt(3))/s];
            highpass at -1 [-(1 + sqrt(3))/s, (3 + sqrt(3))/s, -(3 - sqrt(3))/s, (1 - sqrt(3))/s];
        }
        factor lattice;
    }
    wavelet legall53 {
        domain real;
        bank { lowpass at -2 [-1/8, 1/4, 3/4, 1/4, -1/8]; highpass at 0 [-1/2, 1, -1/2]; }
    }
    wavelet turns {
        domain real;
        boundary periodic;
        lattice paper { rotate(3/5, -4/5); matrix(1, 2, 0.5, f64(-0.75)); reflect(sqrt(2), 0); }
    }
";

/// `low[k] = Σ taps[i] · x[2k + at + i]` on a periodic line.
fn correlate(f: &lifting_dsl::body::Filter, x: &[f64]) -> Vec<f64> {
    let at = |i: i64| x[i.rem_euclid(x.len() as i64) as usize];
    let taps = || f.taps.iter().map(Weight::to_f64).enumerate();
    (0..x.len() as i64 / 2).map(|k| taps().map(|(i, h)| h * at(2 * k + i64::from(f.at) + i as i64)).sum()).collect()
}

#[test]
fn banks_and_lattices_equal_their_definitions() {
    let schemes = compile(BANKS).unwrap().schemes;
    let x: Vec<f64> = (0..16).map(|i| f64::from(i * i % 11) - 3.25).collect();
    for s in &schemes {
        let mut line = x.clone();
        lifting_dsl::oracle::analyse_line(s.steps(), Boundary::Periodic, 0, &mut line).unwrap();
        let expected: Vec<f64> = match s.body() {
            Body::Bank { low, high, .. } => {
                correlate(low, &x).into_iter().zip(correlate(high, &x)).flat_map(|(l, h)| [l, h]).collect()
            }
            Body::Lattice { lattice, .. } => {
                // The definition: stage l of L, from 1, on the pairs (x[2k+l−L], x[2k+l−L+1]), cyclically.
                let mut y = x.clone();
                for (l, stage) in lattice.stages.iter().enumerate() {
                    let [[a, b], [c, d]] = stage.map(|w| Float::from_f64(w.to_f64()).unwrap()).rows();
                    let [a, b, c, d] = [a, b, c, d].map(|w| w.to_f64());
                    for k in 0..8 {
                        let u = (2 * k + l as i64 + 1 - lattice.stages.len() as i64).rem_euclid(16) as usize;
                        let v = (u + 1) % 16;
                        (y[u], y[v]) = (a * y[u] + b * y[v], c * y[u] + d * y[v]);
                    }
                }
                y
            }
            Body::Lifting => panic!(),
        };
        for (got, expected) in line.iter().zip(&expected) {
            assert!((got - expected).abs() < 1e-12, "{}: {line:?} is not {expected:?}", s.name());
        }
    }
    // A rational bank is factored exactly.
    let scheme::Step::Real(predict) = &schemes[2].steps()[0] else { panic!() };
    assert_eq!(predict.groups, [Group { weight: ratio(1, 2), offsets: vec![0, 1] }]);
    assert!(schemes[0].lattice().is_none() && schemes[1].lattice().is_some_and(|l| l.stages.len() == 2));
}

#[test]
fn banks_and_lattices_print() {
    let schemes = compile(BANKS).unwrap().schemes;
    let text: Vec<String> = schemes.iter().map(print_scheme).collect();
    insta::assert_snapshot!(text.join("\n"));
    assert_eq!(compile(&text.join("\n")).unwrap().schemes, schemes);
    insta::assert_snapshot!("banks_and_lattices_as_trees", print(&parse(BANKS).0));
}

// Random trees and schemes.

fn word() -> impl Strategy<Value = Word> {
    let text = prop_oneof!["[a-z][a-z0-9_]{0,6}x", "[A-Zα-ω]{1,3}q", "_[a-z]{1,3}9"];
    text.prop_map(|text| Word { text, span: Default::default() })
}

fn rule() -> impl Strategy<Value = Word> {
    let text = prop_oneof![Just("whole-symmetric".to_string()), "[a-z]{1,5}(-[a-z]{1,5}){0,2}"];
    text.prop_map(|text| Word { text, span: Default::default() })
}

fn docs() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[^\r\n]{0,20}", 0..3)
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{1,5}",
        "[0-9][0-9_]{0,5}",
        "[0-9]{1,3}\\.[0-9]{0,4}",
        "[0-9]{1,3}(\\.[0-9]{1,3})?[eE][+-]?[0-9]{1,2}",
        "0x[0-9a-f]{1,4}",
        "0b[01]{1,4}",
        "0o[0-7]{1,4}",
    ]
}

fn expr() -> impl Strategy<Value = Expr> {
    let wrap = |kind| Expr { kind, span: Default::default() };
    let leaf = prop_oneof![
        number().prop_map(ExprKind::Number),
        word().prop_map(|w| ExprKind::Name(w.text)),
        (any::<bool>(), -1024..=1024i32)
            .prop_map(|(even, offset)| ExprKind::Read { phase: if even { Phase::Even } else { Phase::Odd }, offset }),
    ];
    leaf.prop_map(wrap).prop_recursive(4, 24, 4, move |inner| {
        let add = prop_oneof![Just(AddOp::Add), Just(AddOp::Sub)];
        let mul = prop_oneof![Just(MulOp::Mul), Just(MulOp::Div)];
        let boxed = || inner.clone().prop_map(Box::new);
        let kind = prop_oneof![
            boxed().prop_map(ExprKind::Neg),
            (boxed(), prop::collection::vec((add, inner.clone()), 1..4))
                .prop_map(|(first, rest)| ExprKind::Sum { first, rest }),
            (boxed(), prop::collection::vec((mul, inner.clone()), 1..4))
                .prop_map(|(first, rest)| ExprKind::Product { first, rest }),
            (boxed(), boxed()).prop_map(|(value, amount)| ExprKind::Shift { value, amount }),
            (word(), prop::collection::vec(inner.clone(), 0..3)).prop_map(|(name, args)| ExprKind::Call { name, args }),
        ];
        kind.prop_map(wrap)
    })
}

fn item() -> impl Strategy<Value = Item> {
    let profile_item = prop_oneof![rule().prop_map(ProfileItem::Boundary), expr().prop_map(ProfileItem::GainShift)];
    let op = prop_oneof![Just(StepOp::Add), Just(StepOp::Sub), Just(StepOp::Scale)];
    prop_oneof![
        rule().prop_map(Item::Domain),
        rule().prop_map(Item::Boundary),
        (rule(), prop::collection::vec(profile_item, 0..3)).prop_map(|(name, items)| Item::Profile(Profile {
            name,
            items,
            span: Default::default()
        })),
        (word(), expr()).prop_map(|(name, value)| Item::Const(Const { name, value })),
        (any::<bool>(), prop::collection::vec((word(), prop::collection::vec(expr(), 0..3)), 0..3)).prop_map(
            |(paper, stages)| {
                let stages = stages.into_iter().map(|(kind, args)| Stage { kind, args, span: Default::default() });
                Item::Lattice(Lattice { paper, stages: stages.collect(), span: Default::default() })
            }
        ),
        prop::collection::vec((word(), -1024..=1024i32, prop::collection::vec(expr(), 0..3)), 0..3).prop_map(
            |filters| {
                let filters =
                    filters.into_iter().map(|(kind, at, taps)| Filter { kind, at, taps, span: Default::default() });
                Item::Bank(Bank { filters: filters.collect(), span: Default::default() })
            }
        ),
        rule().prop_map(Item::Factor),
        Just(Item::Swap(Default::default())),
        (any::<bool>(), op, expr()).prop_map(|(even, op, expr)| {
            let target = if even { Phase::Even } else { Phase::Odd };
            Item::Step(Step { target, op, expr, span: Default::default() })
        }),
    ]
}

pub fn any_file() -> impl Strategy<Value = File> {
    let wavelet = (docs(), word(), prop::collection::vec(item(), 0..5)).prop_map(|(docs, name, items)| Wavelet {
        docs,
        name,
        items,
        span: Default::default(),
    });
    prop::collection::vec(wavelet, 0..3).prop_map(|wavelets| File { wavelets })
}

fn weight() -> impl Strategy<Value = Weight> {
    let finite = any::<f64>().prop_filter("range", |x| x.is_finite() && *x != 0.0 && x.recip().is_finite());
    prop_oneof![
        (-9..9i64, 1..9i64).prop_map(|(n, d)| ratio(if n == 0 { 1 } else { n }, d)),
        (any::<i32>(), any::<i32>()).prop_map(|(n, d)| ratio(i64::from(n) | 1, i64::from(d) | 1)),
        finite.prop_map(Weight::Irrational),
        (1..9i64).prop_map(|n| Weight::Irrational(n as f64 / 4.0)),
        any::<f64>()
            .prop_filter("normal", |x| x.is_normal() && x.recip().is_normal())
            .prop_map(|x| Weight::Rational(lifting_dsl::weight::rational_of_f64(x).unwrap())),
    ]
}

pub fn any_lattice() -> impl Strategy<Value = Scheme> {
    use lifting_dsl::factor::Stage;
    let weight = || {
        prop_oneof![
            (-9..9i64, 1..9i64).prop_map(|(n, d)| ratio(n, d)),
            (-9.0..9.0f64).prop_map(Weight::Irrational),
            Just(Weight::integer(0)),
        ]
    };
    let stage = prop_oneof![
        (weight(), weight()).prop_map(|(a, b)| Stage::Rotate { a, b }),
        (weight(), weight()).prop_map(|(a, b)| Stage::Reflect { a, b }),
        [weight(), weight(), weight(), weight()].prop_map(|[a, b, c, d]| Stage::Matrix { rows: [[a, b], [c, d]] }),
    ];
    (word(), prop::sample::select(Boundary::ALL.to_vec()), prop::collection::vec(stage, 1..12))
        .prop_filter_map("singular stages", |(name, boundary, stages)| {
            Scheme::from_lattice(name.text, boundary, factor::Lattice { stages }).ok()
        })
}

pub fn any_scheme() -> impl Strategy<Value = Scheme> {
    let phase = || prop_oneof![Just(Phase::Even), Just(Phase::Odd)];
    let op = || prop_oneof![Just(Op::Add), Just(Op::Sub)];
    let offset = || prop_oneof![4 => -4..=4i32, 1 => -1024..=1024i32];
    let real_taps = prop::collection::btree_map(offset(), weight(), 1..6);
    let real_step = prop_oneof![
        4 => (phase(), op(), real_taps, any::<bool>()).prop_map(|(target, op, taps, equal)| {
            let first = taps.values().next().unwrap().clone();
            let taps = taps.into_iter().map(|(o, w)| (o, if equal { first.clone() } else { w }));
            scheme::Step::Real(RealStep::from_taps(target, op, taps))
        }),
        1 => (phase(), weight()).prop_map(|(target, factor)| scheme::Step::Scale(ScaleStep { target, factor })),
    ];
    let nonzero = any::<i32>().prop_map(|w| if w == 0 { 1 } else { w });
    let weights = prop_oneof![nonzero, prop_oneof![Just(1i32), Just(-1), Just(9)]];
    let taps = prop::collection::btree_map(offset(), weights, 1..6);
    let rounding = prop_oneof![Just(0i32), any::<i32>()];
    let mode = prop::sample::select(RoundingMode::ALL.to_vec());
    let lift =
        (phase(), op(), taps, rounding, 0..=30u32, mode).prop_map(|(target, op, taps, rounding, shift, mode)| {
            let mode = if shift == 0 { RoundingMode::Floor } else { mode };
            let taps = taps.into_iter().map(|(offset, weight)| Tap { offset, weight }).collect();
            scheme::Step::Integer(IntegerStep { target, op, taps, rounding, shift, mode })
        });
    let integer_step = prop_oneof![6 => lift, 1 => phase().prop_map(scheme::Step::negation)];
    let boundary = || prop::sample::select(Boundary::ALL.to_vec());
    let profiles = prop::collection::btree_map(0..3usize, (prop::option::of(boundary()), 0..=30u32), 0..3);
    let steps = prop_oneof![
        prop::collection::vec(real_step, 1..5).prop_map(|s| (Domain::Real, s)),
        prop::collection::vec(integer_step, 1..5).prop_map(|s| (Domain::Integer, s)),
    ];
    (word(), docs(), boundary(), profiles, steps).prop_map(|(name, docs, boundary, profiles, (domain, steps))| {
        let profiles: BTreeMap<_, _> = profiles;
        let profiles = profiles.into_iter().map(|(format, (boundary, gain))| scheme::Profile {
            format: Format::ALL[format],
            boundary,
            gain_shift: if domain == Domain::Real { 0 } else { gain },
        });
        let s = Scheme::from_steps(name.text, domain, boundary, steps).unwrap();
        s.with_docs(&docs.join("\n")).with_profiles(profiles.collect()).unwrap()
    })
}

/// Settings of tests with generated texts.
pub fn config() -> ProptestConfig {
    ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(137), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn printed_trees_parse_to_themselves(file in any_file()) {
        let text = print(&file);
        let (mut parsed, errors) = parse(&text);
        prop_assert_eq!(errors, vec![], "{}", text);
        parsed.erase_spans();
        prop_assert_eq!(&parsed, &file, "{}", text);
        prop_assert_eq!(print(&parsed), text);
    }

    #[test]
    fn printed_schemes_compile_to_themselves(s in prop_oneof![3 => any_scheme(), 1 => any_lattice()]) {
        let text = print_scheme(&s);
        let compiled = compile(&text).map_err(|e| TestCaseError::fail(format!("{e:#?}\n{text}")))?;
        prop_assert_eq!(&compiled.schemes, &vec![s], "{}", text);
    }
}
