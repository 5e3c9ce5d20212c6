//! `liftc plot`: contents of figures, to the pixel where possible.

use crate::common::Bench;

fn picture(bench: &Bench, name: &str) -> image::RgbImage {
    image::load_from_memory(&bench.read(name)).unwrap().into_rgb8()
}

#[test]
fn svg_and_png_are_one_figure() {
    let bench = Bench::new();
    bench.run("plot cdf97 -o a.svg,a.png -o b.png --dpi 150").ok();
    let svg = String::from_utf8(bench.read("a.svg")).unwrap();
    assert!(
        svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n") && svg.contains("<title>The wavelet cdf97</title>")
    );
    // Text is drawn as paths, so no font is needed.
    assert!(!svg.contains("<text") && svg.matches("<path").count() > 100);
    let number = |name: &str| -> f64 {
        let from = svg.find(name).unwrap() + name.len();
        svg[from..].split("pt").next().unwrap().parse().unwrap()
    };
    let (width, height) = (number(" width=\""), number(" height=\""));
    assert!((width - 88.0 * 72.0 / 25.4).abs() < 0.01, "{width}");
    let a = picture(&bench, "a.png");
    let pixels = |points: f64| points * 150.0 / 72.0;
    assert!(
        (f64::from(a.width()) - pixels(width)).abs() < 1.01 && (f64::from(a.height()) - pixels(height)).abs() < 1.1
    );
    assert_eq!(a, picture(&bench, "b.png"));
    for colour in [[0x00, 0x72, 0xb2], [0xd5, 0x5e, 0x00], [255; 3]] {
        assert!(a.pixels().any(|p| p.0 == colour), "{colour:?}");
    }
}

#[test]
fn positions_of_curves() {
    let bench = Bench::new();
    bench.run("plot haar --what scaling -o haar.png --dpi 300 --width 120").ok();
    let haar = picture(&bench, "haar.png");
    let blue = |x: u32, y: u32| haar.get_pixel(x, y).0 == [0x00, 0x72, 0xb2];
    // Its scaling function is constant on [0, 1]: a row of pixels in each half has a long blue line.
    let half = haar.width() / 2;
    for columns in [0..half, half..haar.width()] {
        let longest = (0..haar.height()).map(|y| columns.clone().filter(|x| blue(*x, y)).count()).max().unwrap();
        assert!(longest > half as usize / 2, "{longest} of {half}");
    }
}

/// Texts in a figure.
fn said(bench: &Bench, name: &str) -> Vec<String> {
    let svg = String::from_utf8(bench.read(name)).unwrap();
    let texts = svg.split("aria-label=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    texts.collect()
}

#[test]
fn functions_fill_their_charts() {
    let bench = Bench::new();
    // Most of the 102 taps have no visible effect.
    bench.run("plot coif17 --what scaling,wavelet -o c.png,c.svg --dpi 150").ok();
    let texts = said(&bench, "c.svg");
    assert!(texts.iter().any(|t| t == "coif17") && texts.iter().any(|t| t == "ψ(t)"));
    assert!(!texts.iter().any(|t| ["50", "−50"].contains(&t.as_str())), "{texts:?}");
    let figure = picture(&bench, "c.png");
    let half = figure.width() / 2;
    let rows = |x: u32, colour: [u8; 3]| -> Vec<u32> {
        (0..figure.height()).filter(|y| figure.get_pixel(x, *y).0 == colour).collect()
    };
    for colour in [[0x00, 0x72, 0xb2], [0xd5, 0x5e, 0x00]] {
        let columns: Vec<Vec<u32>> = (0..half).map(|x| rows(x, colour)).filter(|r| !r.is_empty()).collect();
        // The whole support would leave it a sixth of the width.
        let zero = columns[0][0];
        let away = columns.iter().filter(|r| r.iter().any(|y| y.abs_diff(zero) > 2)).count();
        assert!(3 * away > columns.len(), "{away} of {}", columns.len());
    }
}

#[test]
fn long_wavelets_are_readable() {
    let bench = Bench::new();
    for (name, skipped) in [("coif17", "… 83 steps …"), ("db20", "… 20 steps …")] {
        bench.run(&format!("plot {name} -o w.svg")).ok();
        let texts = said(&bench, "w.svg");
        let has = |text: &str| texts.iter().any(|t| t == text);
        for text in [name, skipped, "P1", "U7", "low", "high", "added to even", "added to odd", "weight", "step"] {
            assert!(has(text), "{name} lacks {text}: {texts:?}");
        }
        assert!(has(&format!("`liftc show {name}` has the numbers")));
        assert!(height(&bench, "w.svg") < 600.0);
    }
    // Two steps of forty taps each: one chart per step instead of lines of numbers.
    let weight = |k: i32| format!("f64({:.9})", 1.0 / (1.0 + f64::from((2 * k - 1).abs())));
    let step = |phase: &str, from: i32| -> String {
        (1..=40).map(|k| format!("{}*{phase}[{}]", weight(k - 20), from + k)).collect::<Vec<_>>().join(" + ")
    };
    let (odd, even) = (step("even", -20), step("odd", -21));
    bench.write("forty.lift", format!("wavelet forty {{ domain real; odd -= {odd}; even += {even}; }}"));
    bench.run("plot forty.lift --what diagram -o f.svg").ok();
    let texts = said(&bench, "f.svg");
    assert!(texts.contains(&"P1: odd[k] += w−19 even[k−19] + … + w20 even[k+20]".to_owned()), "{texts:?}");
    assert_eq!(texts.iter().filter(|t| *t == "wn").count(), 2);
    assert!(texts.len() < 60 && height(&bench, "f.svg") < 300.0);
}

fn height(bench: &Bench, name: &str) -> f64 {
    let svg = String::from_utf8(bench.read(name)).unwrap();
    svg.split(" height=\"").nth(1).unwrap().split("pt").next().unwrap().parse().unwrap()
}

#[test]
fn names_are_drawn_unchanged() {
    let bench = Bench::new();
    bench.run("plot s_transform_2_10 --what diagram -o s.svg").ok();
    assert!(said(&bench, "s.svg").contains(&"s_transform_2_10".to_owned()));
}

/// A pyramid of a sky: noise with a few stars. The stars are visible, and the noise is not.
#[test]
fn noise_does_not_fill_a_pyramid() {
    let bench = Bench::new();
    let side = 256;
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31)
    };
    let mut sky = image::GrayImage::from_fn(side, side, |_, _| {
        let noise: f64 = (0..12).map(|_| random()).sum::<f64>() - 6.0;
        image::Luma([(30.0 + 4.0 * noise).clamp(0.0, 255.0) as u8])
    });
    let stars: Vec<[u32; 2]> = (0..20u32).map(|i| [(37 * i + 11) % side, (91 * i + 45) % side]).collect();
    stars.iter().for_each(|[x, y]| sky.put_pixel(*x, *y, image::Luma([255])));
    sky.save(bench.path("sky.png")).unwrap();
    bench.run("transform sky.png -w cdf97 -l 2 -o sky.npy --picture pyramid.png").ok();
    let pyramid = image::load_from_memory(&bench.read("pyramid.png")).unwrap().into_luma8();
    let half = side / 2;
    for (left, top) in [(half, 0), (0, half), (half, half)] {
        // Exclude the outlines.
        let band: Vec<f64> = (top + 1..top + half)
            .flat_map(|y| (left + 1..left + half).map(move |x| (x, y)))
            .map(|(x, y)| f64::from(pyramid.get_pixel(x, y).0[0]))
            .collect();
        let mut away: Vec<f64> = band.iter().map(|v| (v - 128.0).abs()).collect();
        away.sort_by(f64::total_cmp);
        let part = |share: f64| away[(share * (away.len() - 1) as f64) as usize];
        assert!(part(0.5) < 13.0 && part(0.95) < 40.0, "{left} {top}: {} {}", part(0.5), part(0.95));
        assert!(part(0.9995) > 80.0, "{left} {top}: stars are not seen: {}", part(0.9995));
    }
}

#[test]
fn every_family_can_be_drawn() {
    let bench = Bench::new();
    bench.write("odd.lift", "wavelet odd_one { domain real; odd += 2*even[0]; even *= -3; }");
    for name in ["dd137", "haar", "db38", "bior3.1", "coif17", "s_transform_2_10", "dmey", "odd.lift"] {
        bench.run_args(&["plot", name, "-o", "w.svg"]).ok();
        let svg = String::from_utf8(bench.read("w.svg")).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
    }
    let small = bench.run("plot dd137 --what diagram --width 60 -o d.svg").ok();
    assert_eq!(small.stdout, "");
    assert!(bench.read("d.svg").len() < bench.read("w.svg").len());
}

#[test]
fn mistakes_are_reported() {
    let bench = Bench::new();
    bench.run("plot dd137").fails(2, "--output");
    bench.run("plot dd137 -o a.pdf").fails(2, "figures are .svg or .png");
    bench.run("plot dd137 -o a.svg,./a.svg").fails(2, "two outputs");
    bench.run("plot dd137 -o a.svg --what waves").fails(2, "scaling");
    bench.run("plot dd137 -o a.svg --width 5").fails(2, "it must be 60 to 400");
    bench.run("plot nosuch -o a.svg").fails(1, "no wavelet `nosuch`");
    bench.run("plot dd137 -o nowhere/a.svg").fails(1, "cannot write");
}
