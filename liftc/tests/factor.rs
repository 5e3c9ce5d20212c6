//! `liftc factor`: banks by name, as taps and from files, and errors for banks that cannot be factored.

use crate::common::{Bench, npy};
use lifting_dsl::body::Filter;
use lifting_dsl::factor::Known;
use lifting_dsl::float::Float;
use lifting_dsl::polyphase::of_scheme;
use lifting_dsl::{Scheme, Step, Weight, compile};

const LEGALL: [&str; 4] = ["--lowpass", "-1/8 1/4 3/4 1/4 -1/8", "--highpass", "-1/2 1 -1/2"];

fn written(text: &str) -> Scheme {
    let mut compiled = compile(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    assert!(compiled.warnings.is_empty() && compiled.schemes.len() == 1, "{text}");
    compiled.schemes.remove(0)
}

/// Largest difference between a tap and the bank's.
fn off(scheme: &Scheme, known: &Known) -> f64 {
    of_scheme::<Float>(scheme).distance(&known.bank().matrix())
}

fn weights(scheme: &Scheme) -> Vec<f64> {
    let of = |step: &Step| match step {
        Step::Real(s) => s.groups.iter().map(|g| g.weight.to_f64().abs()).collect(),
        Step::Scale(s) => vec![s.factor.to_f64().abs()],
        Step::Integer(_) => panic!("a real wavelet"),
    };
    scheme.steps().iter().flat_map(of).collect()
}

fn near(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len(), "{a:?} and {b:?}");
    assert!(a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-13), "{a:?} and {b:?}");
}

#[test]
fn written_steps_have_the_banks_taps() {
    let bench = Bench::new();
    for name in
        ["haar", "bior1.5", "bior2.4", "rbio3.7", "bior4.4", "bior5.5", "rbio6.8", "sym4", "coif2", "db7", "db30"]
    {
        let known = Known::named(name).unwrap();
        let scheme = written(&bench.run_args(&["factor", name]).ok().stdout);
        assert!(off(&scheme, &known) < 3e-15, "{name}: {:e}", off(&scheme, &known));
        assert_eq!(scheme.name(), name.replace('.', "_"));
        if known.is_orthogonal() {
            let scheme = written(&bench.run_args(&["factor", name, "--as", "lattice"]).ok().stdout);
            assert!(scheme.lattice().is_some() && off(&scheme, &known) < 1e-14, "{name}");
        }
    }
    // The catalogue's steps come from the same search.
    let ours = lifting::catalogue::find("db7").unwrap();
    assert_eq!(written(&bench.run("factor db7").ok().stdout).steps(), ours.steps());
}

#[test]
fn known_steps_are_found() {
    let bench = Bench::new();
    let published = [1.586134342059924, 0.052980118572961, 0.882911075530934, 0.443506852043971];
    let root2 = 2f64.sqrt();
    for (name, gain) in [("cdf97", 1.0), ("bior4.4", root2)] {
        let steps = weights(&written(&bench.run_args(&["factor", name]).ok().stdout));
        let k = 1.230174104914001;
        near(&steps[..4], &published);
        near(&steps[4..], &[gain / k, k / gain]);
    }
    // In Daubechies and Sweldens, the low-pass begins at 0.
    let s = 3f64.sqrt();
    let steps = weights(&written(&bench.run("factor db2 --lowpass-at 0").ok().stdout));
    near(&steps, &[s, (2.0 - s) / 4.0, s / 4.0, 1.0, (s - 1.0) / root2, (s + 1.0) / root2]);
    insta::assert_snapshot!("factor_bior4_4", bench.run("factor bior4.4").ok().stdout);
    insta::assert_snapshot!("factor_db2_list", bench.run("factor db2 --list").ok().stdout);
    let third = bench.run("factor db2 --pick 3 --name third").ok().stdout;
    assert!(third.contains("3 of ") && written(&third).steps().len() == 4, "{third}");
}

#[test]
fn banks_from_taps_and_files() {
    let bench = Bench::new();
    let legall = bench.run_args(&[&["factor"], &LEGALL[..], &["--name", "same"]].concat()).ok().stdout;
    let steps = written(&legall).steps().to_vec();
    assert!(legall.contains("the taps are kept exactly"), "{legall}");
    bench.write(
        "named.txt",
        "# the bank of JPEG 2000\nhighpass at 0: [-1/2, 1, -1/2];\nlowpass at -2: -1/8 1/4 3/4 1/4 -1/8 // five\n",
    );
    bench.write("plain.txt", "-0.125 0.25 0.75 0.25 -0.125\n-0.5 1 -0.5\n");
    bench.write(
        "own.json",
        r#"{"lowpass": ["-1/8", 0.25, 0.75, 0.25, -0.125], "highpass": [-0.5, 1, -0.5], "highpass_at": 0}"#,
    );
    bench.write(
        "w.lift",
        "wavelet a { domain real; odd -= even[0]; }
         wavelet b { domain integer; odd -= (even[0] + even[1]) >> 1; even += (odd[-1] + odd[0] + 2) >> 2; }",
    );
    for file in ["named.txt", "plain.txt", "./own.json", "w.lift#b"] {
        assert_eq!(written(&bench.run_args(&["factor", file]).ok().stdout).steps(), steps, "{file}");
    }
    bench.run("factor w.lift").fails(2, "w.lift#a, w.lift#b");
    bench.run("factor named.txt -o named.txt").fails(2, "it is an input");
    assert_eq!(bench.run("factor named.txt -o out.lift").ok().stdout, "");
    assert_eq!(written(std::str::from_utf8(&bench.read("out.lift")).unwrap()).name(), "named");

    // The low-pass alone, as an expression and as an array.
    let db2 = "(1+sqrt(3))/(4*sqrt(2)) (3+sqrt(3))/(4*sqrt(2)) (3-sqrt(3))/(4*sqrt(2)) (1-sqrt(3))/(4*sqrt(2))";
    let one = written(&bench.run_args(&["factor", "--lowpass", db2]).ok().stdout);
    let taps = [0.48296291314453414, 0.8365163037378079, 0.2241438680420134, -0.12940952255126037f64];
    let bytes: Vec<u8> = taps.iter().flat_map(|x| x.to_le_bytes()).collect();
    bench.write("db2.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }", &bytes));
    let two = written(&bench.run("factor db2.npy").ok().stdout);
    // PyWavelets' lists, which are for convolution.
    let [a, b, c, d] = taps;
    let text = |rec_hi: [f64; 4]| {
        format!(
            "{{\"dec_lo\": {:?}, \"dec_hi\": {:?}, \"rec_lo\": {:?}, \"rec_hi\": {rec_hi:?}}}",
            [d, c, b, a],
            [-a, b, -c, d],
            [a, b, c, d]
        )
    };
    bench.write("pywt.json", text([d, -c, b, -a]));
    bench.write("wrong.json", text([-d, c, -b, a]));
    let three = written(&bench.run("factor pywt.json").ok().stdout);
    for scheme in [one, two, three] {
        assert!(off(&scheme, &Known::named("db2").unwrap()) < 1e-15);
    }
    bench.run("factor wrong.json").fails(1, "alias");
}

#[test]
fn positions_are_found_unless_given() {
    let bench = Bench::new();
    let legall = |more: &[&str]| bench.run_args(&[&["factor"], &LEGALL[..], more].concat());
    let moved = legall(&["--lowpass-at", "-4"]).ok().stdout;
    assert!(moved.contains("Low-pass of 5 taps from -4, high-pass of 3 taps from 2"), "{moved}");
    let filter = |at, taps: &[f64]| Filter { at, taps: taps.iter().map(|x| Weight::Irrational(*x)).collect() };
    let bank = Known::from_filters(&filter(-4, &[-0.125, 0.25, 0.75, 0.25, -0.125]), &filter(2, &[-0.5, 1.0, -0.5]));
    assert_eq!(off(&written(&moved), &bank), 0.0);
    legall(&["--lowpass-at", "-2", "--highpass-at", "4"]).fails(1, "1.000000·z^2");
    legall(&["--lowpass-at", "-2", "--highpass-at", "4"]).fails(1, "--lowpass-at -2 --highpass-at 0");
    // An odd shift is not a delay: the bank does not reconstruct at these positions.
    legall(&["--lowpass-at", "-2", "--highpass-at", "1"]).fails(1, "--lowpass-at -2 --highpass-at 0");
    legall(&["--lowpass-at", "5000"]).fails(2, "it must be -1000 to 1000");
}

#[test]
fn errors_state_the_size_of_the_failure() {
    let bench = Bench::new();
    let taps = |low: &str, high: &str, more: &[&str]| {
        bench.run_args(&[&["factor", "--lowpass", low, "--highpass", high], more].concat())
    };
    taps("1 2 1", "1 -2 1", &[]).fails(1, "it has -6.000000·z^0 and -1.000e0·z^-1");
    taps("1 1", "2 2", &[]).fails(1, "the determinant of its polyphase matrix is zero");
    taps("1 1", "-1 1", &["--as", "lattice"]).fails(1, "its energy is 2.000000000, not 1");
    taps("1 1", "-1 1", &["--as", "lattice"]).fails(1, "multiply its taps by 0.707106781186547");
    taps("0 0", "-1 1", &[]).fails(1, "no tap other than zero");
    taps("1 1 x", "-1 1", &[]).fails(1, "unknown constant `x`");
    taps("", "-1 1", &[]).fails(2, "--lowpass has no taps");
    bench.run("factor bior4.4 --as lattice").fails(1, "the lowpass filter shifted by 2 samples is -7.260e-2, not 0");
    bench.run("factor bior4.4 --as lattice").fails(1, "--as lifting");
    bench.run_args(&["factor", "--lowpass", "1 2 3"]).fails(1, "give the high-pass filter as well");
    bench.run_args(&["factor", "--lowpass", "1 2 3 4"]).fails(1, "shifted by 2 samples is 1.1");
    bench.run_args(&["factor", "--lowpass", "1 1", "--name", "odd"]).fails(2, "reserved");
    bench.run("factor").fails(2, "WAVELET|FILE");
    bench.run("factor nosuch").fails(1, "no wavelet `nosuch`");
    bench.run("factor bior4.4 --pick 99").fails(2, "16 found");
    bench.run("factor db3 --list --pick 1").fails(2, "cannot be used with");

    bench.write("pair.txt", "lowpass: 1/2 1/2\nhighpass: -1 1\nsynthesis-lowpass: 1 1\nsynthesis-highpass: 1/2 -1/2\n");
    bench.run("factor pair.txt").fails(1, "analysis and synthesis alias: a term of");
    bench.write(
        "late.txt",
        "lowpass at 0: 1/2 1/2\nhighpass at 0: -1 1\nsynthesis-lowpass at 2: 1 1\nsynthesis-highpass at 2: -1/2 1/2\n",
    );
    bench.run("factor late.txt").fails(1, "is 1.000000·z^2");
    bench.write("three.txt", "1 1\n1 -1\n1 1\n").run("factor three.txt").fails(1, "line 3: one filter too many");
    bench.write("at.txt", "lowpass at x: 1 1\n").run("factor at.txt").fails(1, "invalid filter position `x`");
    bench.write("bad.txt", "lowpass at 0: 1 1\nhighpass at 0: 1, ,1\n").run("factor bad.txt").fails(1, "bad.txt:2:");
    bench.write("a.json", "{\"lowpas\": [1]}").run("factor a.json").fails(1, "unknown key `lowpas`");
    bench.write("b.json", "{\"lowpass\": [1, null]}").run("factor b.json").fails(1, "`lowpass`[1] is null");
    bench.write("c.json", "[1").run("factor c.json").fails(1, "is not valid JSON");
    bench.write("d.json", "{\"highpass\": [1]}").run("factor d.json").fails(1, "no low-pass filter");
    let shape = |shape: &str| npy(&format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"), &[0; 48]);
    bench.write("a.npy", shape("(3, 2)")).run("factor a.npy").fails(1, "shape [3, 2]");
    bench.run("factor nosuch.txt").fails(1, "cannot read");
    bench.write("long.txt", "1 ".repeat(130) + "\n1 -1\n").run("factor long.txt").fails(1, "130 taps");
}

#[test]
fn precision_errors_suggest_an_alternative() {
    let bench = Bench::new();
    bench.write(
        "steep.lift",
        "wavelet steep { domain real; odd += 4*even[0] - 3*even[1]; even -= 4*odd[-1] - 3*odd[0]; }",
    );
    let refused = bench.run("factor steep.lift");
    assert!(refused.stdout.is_empty());
    refused.fails(1, "f32 cannot carry it");
    bench.run("factor steep.lift").fails(1, "--sample f64");
    assert_eq!(written(&bench.run("factor steep.lift --sample f64").ok().stdout).steps().len(), 2);
    assert!(bench.run("factor steep.lift --list").ok().stdout.contains("f64 only"));
}

#[test]
fn json_errors_have_positions() {
    let bench = Bench::new();
    for (text, message) in [
        ("{\"lowpass\": [1,2", "is not valid JSON, from line 1, column 16: it is truncated"),
        ("{\"lowpass\": [1,]}", "is not valid JSON, from line 1, column 16: trailing comma"),
        ("{'lowpass': [1]}", "is not valid JSON, from line 1, column 2: key must be a string"),
        ("{\"lowpass\": \"x\"}", "`lowpass` is not a list of numbers"),
    ] {
        bench.write("a.json", text).run("factor a.json").fails(1, message);
    }
}
