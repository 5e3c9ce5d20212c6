//! The playground compared with `liftc`: errors, descriptions, files letter for letter, coefficients and pixels.

use lifting_dsl::analysis::{LevelGains, level_gains};
use lifting_wasm::answer;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;

const WAVELETS: [&str; 10] =
    ["dd137", "legall53", "cdf97", "cdf1_1", "db4", "sym5", "coif2", "bior6_8", "s_transform", "fidelity"];
const HEIGHT: usize = 64;
const WIDTH: usize = 96;
const LEVELS: usize = 3;

fn ask(request: Value, data: &[u8]) -> (Value, Vec<u8>) {
    let (json, bytes) = answer(&request.to_string(), data);
    (serde_json::from_str(&json).unwrap(), bytes)
}

fn ok(request: Value, data: &[u8]) -> (Value, Vec<u8>) {
    let (reply, bytes) = ask(request.clone(), data);
    assert!(reply["error"].is_null(), "{request}: {reply}");
    (reply["ok"].clone(), bytes)
}

fn text(name: &str) -> String {
    ok(json!({ "what": "named", "name": name }), &[]).0["text"].as_str().unwrap().to_owned()
}

/// Runs `liftc` with words and paths.
fn liftc<const N: usize>(words: [&dyn AsRef<std::ffi::OsStr>; N]) {
    let words = words.iter().map(|word| word.as_ref().to_owned());
    let failure = liftc::execute(std::iter::once(OsString::from("liftc")).chain(words)).err();
    assert!(failure.is_none(), "{}", failure.unwrap());
}

/// Samples of a `.npy` file, whose header ends with a line break.
fn npy(path: &Path) -> (Vec<u8>, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap();
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    (bytes[..start].to_vec(), bytes[start..].to_vec())
}

#[test]
fn files_equal_liftc_letter_for_letter() {
    let folder = tempfile::tempdir().unwrap();
    let full = std::env::var_os("LIFTING_FULL").is_some();
    for (i, name) in WAVELETS.into_iter().enumerate() {
        let (text, path) = (text(name), folder.path().join(format!("{name}.lift")));
        std::fs::write(&path, &text).unwrap();
        // CUDA files take seconds.
        for target in ["c", "rust", "opencl", "cuda"].into_iter().filter(|t| *t != "cuda" || full || i < 2) {
            let (file, _) = ok(json!({ "what": "emit", "text": text, "wavelet": name, "target": target }), &[]);
            let own = folder.path().join(target);
            liftc([&path, &"--emit", &target, &"-o", &own]);
            let read = |name: &str| std::fs::read_to_string(own.join(name)).unwrap();
            assert!(read(file["file"].as_str().unwrap()) == file["text"], "{name} as {target}");
            match file["header"].as_str() {
                Some(header) => assert_eq!(read(&format!("{name}.h")), header),
                None => assert_eq!(target, "rust"),
            }
        }
    }
}

#[test]
fn figures_equal_liftc() {
    let folder = tempfile::tempdir().unwrap();
    let (plot, rows) = (folder.path().join("plot.svg"), folder.path().join("rows.svg"));
    let svg = |what: &str| ok(json!({ "what": what, "text": text("cdf97"), "wavelet": "cdf97" }), &[]).0["svg"].clone();
    liftc([&"plot", &"cdf97", &"--width", &"160", &"-o", &plot]);
    liftc([&"explain", &"cdf97", &"--svg", &rows]);
    assert!(std::fs::read_to_string(&plot).unwrap() == svg("figure"));
    assert!(std::fs::read_to_string(&rows).unwrap() == svg("window"));
}

/// A grey picture with edges, a gradient and noise.
fn picture() -> Vec<u8> {
    let pixel = |i: usize| {
        let (y, x) = (i / WIDTH, i % WIDTH);
        let edge = if (y / 16 + x / 24).is_multiple_of(2) { 90 } else { 0 };
        (edge + x + i * 7919 % 11) as u8
    };
    (0..HEIGHT * WIDTH).map(pixel).collect()
}

/// Largest coefficient that the threshold 20 removes, at a place of the pyramid.
fn limit(gains: &[LevelGains], y: usize, x: usize) -> f64 {
    let Some(level) = (1..=LEVELS).find(|l| y >= HEIGHT >> l || x >= WIDTH >> l) else { return 0.0 };
    let LevelGains { low, high } = &gains[level - 1];
    let norm = |is_high: bool| if is_high { high.synthesis_l2 } else { low.synthesis_l2 };
    20.0 / (norm(y >= HEIGHT >> level) * norm(x >= WIDTH >> level))
}

#[test]
fn transforms_equal_liftc_in_every_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let pixels = picture();
    let pgm = [format!("P5 {WIDTH} {HEIGHT} 255\n").as_bytes(), &pixels].concat();
    std::fs::write(path("picture.pgm"), pgm).unwrap();
    for name in WAVELETS {
        let scheme = lifting::catalogue::find(name).unwrap();
        let (coefficients, pyramid) = (path("c.npy"), path("pyramid.pgm"));
        let [words, levels] = ["-w", "-l"];
        liftc([
            &"transform",
            &path("picture.pgm"),
            &words,
            &name,
            &levels,
            &"3",
            &"-o",
            &coefficients,
            &"--picture",
            &pyramid,
            &"--quiet",
        ]);
        let request = |threshold: f64| {
            json!({ "what": "transform", "text": text(name), "wavelet": name, "shape": [HEIGHT, WIDTH, 1],
                "levels": LEVELS, "threshold": threshold, "raw": true })
        };

        let (lossless, bytes) = ok(request(0.0), &pixels);
        let (drawn, rest) = bytes.split_at(pixels.len());
        let (_, raw) = rest.split_at(pixels.len());
        assert!(std::fs::read(&pyramid).unwrap().ends_with(drawn), "{name}: the picture of coefficients");
        let (header, samples) = npy(&coefficients);
        let is_integer = scheme.domain() == lifting::Domain::Integer;
        let real = |at: usize| match is_integer {
            true => f64::from(i16::from_le_bytes(samples[2 * at..][..2].try_into().unwrap())),
            false => f64::from(f32::from_le_bytes(samples[4 * at..][..4].try_into().unwrap())),
        };
        let expected: Vec<f64> = (0..pixels.len()).map(real).collect();
        let bits: Vec<u8> = expected.iter().flat_map(|c| c.to_le_bytes()).collect();
        assert!(bits == raw, "{name}: coefficients");
        if is_integer {
            assert!(lossless["psnr"].is_null(), "{lossless}");
        }

        // The same zeros, and the inverse of liftc.
        let gains = level_gains(&scheme, LEVELS as u32);
        let size = samples.len() / pixels.len();
        let mut kept = samples.clone();
        for (at, c) in expected.iter().enumerate() {
            if c.abs() < limit(&gains, at / WIDTH, at % WIDTH) {
                kept[size * at..][..size].fill(0);
            }
        }
        let zeros = kept.chunks(size).filter(|c| c.iter().all(|b| *b == 0)).count();
        std::fs::write(&coefficients, [header, kept].concat()).unwrap();
        liftc([&"transform", &coefficients, &"--inverse", &"--force", &"-o", &path("back.pgm"), &"--quiet"]);
        let (lossy, bytes) = ok(request(20.0), &pixels);
        assert_eq!(lossy["zeros"], zeros, "{name}");
        let back = &bytes[pixels.len()..2 * pixels.len()];
        assert!(std::fs::read(path("back.pgm")).unwrap().ends_with(back), "{name}: the reconstruction");
        let error: f64 = pixels.iter().zip(back).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum();
        let psnr = 10.0 * (255.0 * 255.0 * pixels.len() as f64 / error).log10();
        assert_eq!(lossy["psnr"], psnr, "{name}");
        assert!((20.0..60.0).contains(&psnr), "{name}: {psnr} dB");
    }
}

#[test]
fn errors_have_places_in_utf_16() {
    let text = "// 𝜓 ≠ φ\nwavelet w { domain real; odd −= even[0]; }";
    let checked = ok(json!({ "what": "check", "text": text }), &[]).0;
    assert_eq!(checked["wavelets"], json!([]));
    let error = &checked["diagnostics"][0];
    assert_eq!((&error["code"], &error["severity"]), (&json!("L0001"), &json!("error")));
    assert_eq!(error["anchor"], "l0001-a-character-that-the-language-does-not-use");
    assert_eq!((&error["message"], &error["help"]), (&json!("`−` is not an operator"), &json!("write `-`")));
    let units: Vec<u16> = text.encode_utf16().collect();
    let [start, end] = ["start", "end"].map(|key| error["places"][0][key].as_u64().unwrap() as usize);
    assert_eq!(String::from_utf16(&units[start..end]).unwrap(), "−");
    assert_eq!(error["places"][0]["line"], 2);
}

#[test]
fn bad_requests_get_errors() {
    let transform = |shape: Value, wavelet: &str, levels: u32| {
        json!({ "what": "transform", "text": text("legall53"), "wavelet": wavelet, "shape": shape, "levels": levels,
            "threshold": 1.0 })
    };
    let half: Vec<u8> = [0.5f64, 1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let nan: Vec<u8> = [f64::NAN, 1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    for (request, data, message) in [
        (json!({ "what": "nothing" }), &[][..], "unknown variant"),
        (transform(json!([2, 2, 1]), "legall53", 1), &[0; 3], "3 bytes do not have the shape [2, 2, 1]"),
        (transform(json!([0, 2, 1]), "legall53", 1), &[], "0 samples: a page transforms 1 to"),
        (transform(json!([u32::MAX, u32::MAX, 3]), "legall53", 1), &[], "samples: a page transforms 1 to"),
        (transform(json!([2, 2, 1]), "other", 1), &[0; 4], "the text has no wavelet `other`"),
        (transform(json!([2, 2, 1]), "legall53", 99), &[0; 4], "level"),
        (transform(json!([2]), "legall53", 1), &half, "0.5: an integer wavelet needs whole numbers"),
        (transform(json!([2]), "legall53", 1), &nan, "NaN: an integer wavelet needs whole numbers"),
        (json!({ "what": "emit", "text": text("dd137"), "wavelet": "dd137", "target": "hip" }), &[], "no target `hip`"),
        (json!({ "what": "show", "text": "wavelet", "wavelet": "w" }), &[], "L0"),
    ] {
        let (reply, bytes) = ask(request, data);
        let error = reply["error"].as_str().unwrap_or_default();
        assert!(error.contains(message) && bytes.is_empty(), "{message}: {reply}");
    }
}

#[test]
fn signals_come_back() {
    let signal: Vec<u8> = (0..1001).flat_map(|i| f64::from(i % 50).to_le_bytes()).collect();
    for (name, padded) in [("dd137", false), ("db4", true)] {
        let request = json!({ "what": "transform", "text": text(name), "wavelet": name, "shape": [1001], "levels": 4,
            "threshold": 0.0 });
        let (reply, _) = ok(request, &signal);
        assert!(reply["psnr"].as_f64().is_none_or(|psnr| psnr > 250.0), "{reply}");
        assert!(reply["svg"].as_str().unwrap().starts_with("<svg"));
        assert_eq!(reply["coefficients"], if padded { 1008 } else { 1001 });
        assert_eq!(reply["notes"].as_array().unwrap().len(), usize::from(padded), "{reply}");
    }
}
