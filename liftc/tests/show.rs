//! `liftc show`: printed text, and numbers compared with independent computations.

use crate::common::Bench;
use serde_json::Value;

fn json(bench: &Bench, line: &str) -> Value {
    let text = bench.run(line).ok().stdout;
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn near(value: &Value, expected: f64, by: f64) {
    let x = value.as_f64().unwrap_or_else(|| panic!("{value}"));
    assert!((x - expected).abs() <= by, "{x} for {expected}");
}

#[test]
fn wavelets_are_shown_as_files_that_compile() {
    let bench = Bench::new();
    for name in ["legall53 -l 3", "bior2.2 -l 2", "db4 -l 2"] {
        let shown = bench.run(&format!("show {name}")).ok().stdout;
        let compiled = lifting_dsl::compile(&shown).unwrap();
        let text = bench.run(&format!("show --text {}", name.split(' ').next().unwrap())).ok().stdout;
        assert!(shown.starts_with(&text) && compiled.schemes.len() == 1);
        insta::assert_snapshot!(format!("show_{}", compiled.schemes[0].name()), shown);
    }
    let two = bench.run("show --text dd137 legall53").ok().stdout;
    assert!(lifting_dsl::compile(&two).unwrap().schemes.len() == 2 && !two.contains("\n// "), "{two}");
    bench.run("show dd137 --json --text").fails(2, "cannot be used with");
    bench.run("show dd137 --levels 17").fails(2, "it must be 1 to 16");
    bench.run("show nosuch").fails(1, "no wavelet `nosuch`");
}

/// Reference values from numpy: singular values of the matrix of one periodic level of PyWavelets on 256 samples; norms
/// of `pywt.upcoef`.
#[test]
fn numbers_are_those_of_pywavelets_and_numpy() {
    let bench = Bench::new();
    let all = json(&bench, "show bior4.4 bior2.2 db4 rbio3.5 -l 3 --json");
    let expected = [
        (
            [1.020017629, 0.983471304, 1.019621394],
            [0.991440193, 1.015185928, 1.025715858],
            [0.7566641642, 1.3215902739],
        ),
        ([1.198957881, 0.960143218, 0.890487928], [0.866025404, 0.829156198, 0.819679816], [0.5, 2.0]),
        ([1.0; 3], [1.0; 3], [1.0; 2]),
        ([0.790569415, 1.415060629, 1.752005374], [1.425626062, 1.663176743, 1.759239571], [0.25, 4.0]),
    ];
    for (wavelet, (high, low, frame)) in all.as_array().unwrap().iter().zip(expected) {
        for (level, (high, low)) in wavelet["levels"].as_array().unwrap().iter().zip(high.into_iter().zip(low)) {
            near(&level["high"]["synthesis_l2"], high, 1e-9);
            near(&level["low"]["synthesis_l2"], low, 1e-9);
            let two = &level["synthesis_l2_two_axes"];
            near(&two["ll"], low * low, 1e-8);
            near(&two["hl_and_lh"], low * high, 1e-8);
            near(&two["hh"], high * high, 1e-8);
        }
        near(&wavelet["frame"]["lower"], frame[0], 1e-9);
        near(&wavelet["frame"]["upper"], frame[1], 1e-9);
        near(&wavelet["frame"]["condition"], (frame[1] / frame[0]).sqrt(), 1e-9);
    }
    near(&all[0]["orthogonality"], 0.07259686473, 1e-10);
    assert_eq!(all[0]["vanishing_moments"], serde_json::json!({"analysis": 4, "synthesis": 4, "exact": false}));
    assert_eq!(all[2]["analysis"]["low"]["at"], -3);
    assert!(all[2]["analysis"]["low"].get("exact").is_none());
}

/// Reference norms from OpenJPEG's tables.
#[test]
fn norms_are_those_of_jpeg_2000() {
    let bench = Bench::new();
    let legall = &json(&bench, "show legall53 -l 3 --json")[0];
    assert_eq!(legall["analysis"]["low"]["exact"], serde_json::json!(["-1/8", "1/4", "3/4", "1/4", "-1/8"]));
    assert_eq!(legall["reconstruction"], serde_json::json!({"exact": true, "bound": 0.0}));
    assert_eq!(legall["operations"]["lifting"], 3.5);
    for (level, [ll, hl, hh]) in [[1.5, 1.038, 0.7186], [2.75, 1.592, 0.9218], [5.375, 2.919, 1.586]].iter().enumerate()
    {
        let two = &legall["levels"][level]["synthesis_l2_two_axes"];
        near(&two["ll"], *ll, 1e-3);
        near(&two["hh"], *hh, 1e-3);
        near(&two["hl_and_lh"], *hl, 1e-3);
    }
    // 8-bit pictures fit 16 bits; 16-bit pictures do not.
    let ranges = legall["ranges"].as_array().unwrap();
    let of = |bits: u64| ranges.iter().find(|r| r["bits"] == bits && r["signed"] == false).unwrap();
    assert_eq!((of(8)["sample"].as_str(), of(16)["sample"].as_str()), (Some("i16"), Some("i32")));
    assert_eq!(of(8)["high"][0], 10, "four times ±127.5: {}", of(8));
    assert_eq!(json(&bench, "show cdf97 --json")[0]["ranges"], serde_json::json!([]));
}

/// Filters that would take minutes are refused, by every command that needs them.
#[test]
fn filters_that_take_too_long_are_refused() {
    let bench = Bench::new();
    let pair = "odd -= (even[-1024] + even[1024]) >> 1; even += (odd[-1024] + odd[1024] + 1) >> 2;";
    bench.write("far.lift", format!("wavelet far {{ domain integer; {} }}", pair.repeat(32)));
    for line in ["show far.lift", "explain far.lift", "plot far.lift -o far.svg", "factor far.lift"] {
        bench.run(line).fails(1, "the filters of `far` have up to 262");
    }
    assert!(!bench.exists("far.svg"));
    bench.run("check far.lift").ok();
}
