//! The oracle against independent implementations: `reference/*.py`, written from the standards' own formulations.
//! `reference/generate.py` wrote the expected coefficients.

use lifting_dsl::geometry::{Geometry, Layout};
use lifting_dsl::oracle::{Transform, analyse_line};
use lifting_dsl::{Boundary, Format};
use lifting_tests::{noise, wavelet};
use std::path::PathBuf;

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

/// A picture's channel.
struct Picture {
    height: usize,
    width: usize,
    samples: Vec<i32>,
}

impl Picture {
    fn open(name: &str, channel: usize) -> Picture {
        let image = image::open(data(name)).unwrap();
        let channels = usize::from(image.color().channel_count());
        let (width, height) = (image.width() as usize, image.height() as usize);
        let samples = image.as_bytes().iter().skip(channel).step_by(channels).map(|b| i32::from(*b)).collect();
        Picture { height, width, samples }
    }

    fn crop(&self, top: usize, left: usize, height: usize, width: usize) -> Picture {
        let row = |y: usize| &self.samples[(top + y) * self.width + left..][..width];
        Picture { height, width, samples: (0..height).flat_map(row).copied().collect() }
    }

    fn shape(&self) -> [usize; 2] {
        [self.height, self.width]
    }
}

/// Integer coefficients as `generate.py` saved them.
fn integers(name: &str) -> Vec<i32> {
    let bytes = std::fs::read(data(&format!("reference/{name}.npy"))).unwrap();
    let file = npyz::NpyFile::new(&bytes[..]).unwrap();
    match file.try_data::<i16>() {
        Ok(samples) => samples.map(|x| i32::from(x.unwrap())).collect(),
        Err(file) => file.into_vec().unwrap(),
    }
}

fn reals(name: &str) -> Vec<f64> {
    let bytes = std::fs::read(data(&format!("reference/{name}.npy"))).unwrap();
    npyz::NpyFile::new(&bytes[..]).unwrap().into_vec().unwrap()
}

/// FNV-1a of the little-endian samples.
fn fnv(samples: &[i32]) -> String {
    let byte = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x100000001b3);
    let hash = samples.iter().flat_map(|x| x.to_le_bytes()).fold(0xcbf29ce484222325, byte);
    format!("{hash:016x}")
}

fn checksum(name: &str) -> String {
    let text = std::fs::read_to_string(data("reference/checksums.txt")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap_or_else(|| panic!("no checksum of {name}")).to_string()
}

fn close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= 1e-12 * y.abs().max(1.0), "{what}: coefficient {i} is {x}, not {y}");
    }
}

/// A transform by the profile `vc2`.
fn vc2(name: &str, shape: &[usize], levels: u32) -> Transform {
    let scheme = wavelet(name);
    let profile = scheme.profile(Format::Vc2).unwrap().clone();
    let mut t = Transform::new(scheme, Geometry::uniform(shape, levels).unwrap());
    t.boundary = profile.boundary.unwrap();
    t.gain_shift = profile.gain_shift;
    t
}

/// A transform by the profile `jpeg2000`: vertical first, with the tile's origin.
fn jpeg2000(name: &str, shape: &[usize], levels: u32, origins: [i64; 2]) -> Transform {
    let geometry = Geometry::new(shape, &origins, &[levels; 2], &[0, 1]).unwrap();
    let mut t = Transform::new(wavelet(name), geometry);
    t.boundary = t.scheme.profile(Format::Jpeg2000).unwrap().boundary.unwrap();
    t.double_lone_odd = true;
    t
}

#[test]
fn vc2_coefficients_are_the_standards() {
    let camera = Picture::open("camera.png", 0);
    let crop = camera.crop(96, 200, 32, 40);
    for name in ["dd97", "legall53_vc2", "dd137", "haar_vc2_0", "haar_vc2_1", "fidelity", "daubechies97"] {
        let t = vc2(name, &crop.shape(), 3);
        let mut found = crop.samples.clone();
        t.forward(&mut found).unwrap();
        assert_eq!(found, integers(&format!("vc2-{name}")), "{name}");
        t.inverse(&mut found).unwrap();
        assert_eq!(found, crop.samples, "{name}");

        let mut whole = camera.samples.clone();
        vc2(name, &camera.shape(), 3).forward(&mut whole).unwrap();
        assert_eq!(fnv(&whole), checksum(&format!("vc2-{name}-camera")), "{name}");

        // Synthesis of coefficients that do not come from a picture.
        let mut noise: Vec<i32> = noise(48 * 64, 2000).into_iter().map(|x| x as i32).collect();
        vc2(name, &[48, 64], 4).inverse(&mut noise).unwrap();
        assert_eq!(fnv(&noise), checksum(&format!("vc2-{name}-noise")), "{name}");
    }
}

#[test]
fn reversible_jpeg2000_at_any_tile_origin() {
    let crop = Picture::open("chelsea.png", 1).crop(100, 201, 37, 29);
    for origins in [[0, 0], [1, 0], [0, 1], [5, 3], [10, 7]] {
        let t = jpeg2000("legall53", &crop.shape(), 3, origins);
        let mut found = crop.samples.clone();
        t.forward(&mut found).unwrap();
        assert_eq!(found, integers(&format!("jpeg2000-53-{}-{}", origins[0], origins[1])), "{origins:?}");
        t.inverse(&mut found).unwrap();
        assert_eq!(found, crop.samples);
    }
    let camera = Picture::open("camera.png", 0);
    let mut found = camera.samples.clone();
    jpeg2000("legall53", &camera.shape(), 5, [0, 0]).forward(&mut found).unwrap();
    assert_eq!(fnv(&found), checksum("jpeg2000-53-camera"));
    for channel in 0..3 {
        let chelsea = Picture::open("chelsea.png", channel);
        let t = jpeg2000("legall53", &chelsea.shape(), 3, [1, 1]);
        let mut found: Vec<i16> = chelsea.samples.iter().map(|x| *x as i16).collect();
        t.forward(&mut found).unwrap();
        let wide: Vec<i32> = found.iter().map(|x| i32::from(*x)).collect();
        assert_eq!(fnv(&wide), checksum(&format!("jpeg2000-53-chelsea-{channel}")));
        t.inverse(&mut found).unwrap();
        assert!(found.iter().zip(&chelsea.samples).all(|(x, y)| i32::from(*x) == *y));
    }
}

#[test]
fn irreversible_jpeg2000_to_rounding() {
    let crop = Picture::open("chelsea.png", 1).crop(100, 201, 37, 29);
    for origins in [[0, 0], [5, 3]] {
        let mut found: Vec<f64> = crop.samples.iter().map(|x| f64::from(*x)).collect();
        jpeg2000("cdf97", &crop.shape(), 3, origins).forward(&mut found).unwrap();
        let name = format!("jpeg2000-97-{}-{}", origins[0], origins[1]);
        close(&found, &reals(&name), &name);
    }
}

#[test]
fn thin_jpeg2000_tiles() {
    let row = Picture::open("chelsea.png", 1).crop(100, 201, 1, 11);
    for v0 in [0, 1] {
        let t = jpeg2000("legall53", &row.shape(), 3, [v0, 3]);
        let mut found = row.samples.clone();
        t.forward(&mut found).unwrap();
        assert_eq!(found, integers(&format!("jpeg2000-thin-{v0}")));
        t.inverse(&mut found).unwrap();
        assert_eq!(found, row.samples);
        let mut found: Vec<f64> = row.samples.iter().map(|x| f64::from(*x)).collect();
        jpeg2000("cdf97", &row.shape(), 3, [v0, 3]).forward(&mut found).unwrap();
        close(&found, &reals(&format!("jpeg2000-thin97-{v0}")), "thin");
    }
}

#[test]
fn ccsds_coefficients_are_the_standards() {
    let camera = Picture::open("camera.png", 0);
    let transform = |picture: &Picture| {
        let t = Transform::new(wavelet("ccsds97m"), Geometry::uniform(&picture.shape(), 3).unwrap());
        let mut found = picture.samples.clone();
        t.forward(&mut found).unwrap();
        found
    };
    assert_eq!(transform(&camera.crop(40, 300, 48, 64)), integers("ccsds"));
    assert_eq!(fnv(&transform(&camera.crop(0, 0, 256, 320))), checksum("ccsds-camera"));
}

#[test]
fn pywavelets_names_mean_pywavelets_numbers() {
    let text = std::fs::read_to_string(data("reference/pywavelets.json")).unwrap();
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    let numbers = |v: &serde_json::Value| v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>();
    let x = numbers(&file["x"]);
    let split = |name: &str, boundary: Boundary, n: usize| {
        let mut line = x[..n].to_vec();
        analyse_line(wavelet(name).steps(), boundary, 0, &mut line).unwrap();
        let low: Vec<f64> = line.iter().copied().step_by(2).collect();
        let high: Vec<f64> = line.iter().copied().skip(1).step_by(2).collect();
        (low, high)
    };
    // The samples are in ±1000.
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-9);

    let periodization = file["periodization"].as_object().unwrap();
    assert_eq!(periodization.len(), 16);
    for (name, bands) in periodization {
        let (low, high) = split(name, Boundary::Periodic, 32);
        assert!(near(&low, &numbers(&bands[0])) && low.len() == 16, "{name} low: {low:?}");
        assert!(near(&high, &numbers(&bands[1])) && high.len() == 16, "{name} high: {high:?}");
    }
    // `reflect` returns more coefficients than samples; ours are the middle ones.
    let reflect = file["reflect"].as_object().unwrap();
    assert_eq!(reflect.len(), 10);
    for (key, bands) in reflect {
        let (name, n) = key.split_once(' ').unwrap();
        let (low, high) = split(name, Boundary::WholeSymmetric, n.parse().unwrap());
        let (all_low, all_high) = (numbers(&bands[0]), numbers(&bands[1]));
        let fits =
            |k: usize| k + low.len() <= all_low.len() && near(&low, &all_low[k..]) && near(&high, &all_high[k..]);
        assert!((0..8).any(fits), "{key}: {low:?} is not in {all_low:?}");
    }
}

#[test]
fn interleaved_coefficients_are_mallats_in_place() {
    let crop = Picture::open("camera.png", 0).crop(10, 10, 21, 34);
    let mut t = jpeg2000("legall53", &crop.shape(), 3, [3, 6]);
    let mut mallat = crop.samples.clone();
    t.forward(&mut mallat).unwrap();
    let bands = t.geometry.bands(Layout::Mallat);
    t.layout = Layout::Interleaved;
    let mut interleaved = crop.samples.clone();
    t.forward(&mut interleaved).unwrap();
    for (apart, within) in bands.iter().zip(t.geometry.bands(Layout::Interleaved)) {
        for y in 0..apart.shape[0] {
            for x in 0..apart.shape[1] {
                let a = (apart.offset[0] + y) * 34 + apart.offset[1] + x;
                let b = (within.offset[0] + y * within.step[0]) * 34 + within.offset[1] + x * within.step[1];
                assert_eq!(mallat[a], interleaved[b], "{} at {y}, {x}", apart.name);
            }
        }
    }
}
