//! `liftc plot`: figures that are what they should be, to the pixel where that can be said.

mod common;

use common::Bench;

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
    // Text is drawn, so that no font is needed.
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
fn curves_are_where_they_should_be() {
    let bench = Bench::new();
    bench.run("plot haar --what scaling -o haar.png --dpi 300 --width 120").ok();
    let haar = picture(&bench, "haar.png");
    let blue = |x: u32, y: u32| haar.get_pixel(x, y).0 == [0x00, 0x72, 0xb2];
    // Its scaling function is constant on [0, 1]: one row of the picture has a long blue line, in each half.
    let half = haar.width() / 2;
    for columns in [0..half, half..haar.width()] {
        let longest = (0..haar.height()).map(|y| columns.clone().filter(|x| blue(*x, y)).count()).max().unwrap();
        assert!(longest > half as usize / 2, "{longest} of {half}");
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
fn mistakes_are_told() {
    let bench = Bench::new();
    bench.run("plot dd137").fails(2, "--output");
    bench.run("plot dd137 -o a.pdf").fails(2, "figures are .svg or .png");
    bench.run("plot dd137 -o a.svg,./a.svg").fails(2, "two outputs");
    bench.run("plot dd137 -o a.svg --what waves").fails(2, "scaling");
    bench.run("plot dd137 -o a.svg --width 5").fails(2, "60..=400");
    bench.run("plot nosuch -o a.svg").fails(1, "no wavelet `nosuch`");
    bench.run("plot dd137 -o nowhere/a.svg").fails(1, "cannot write");
}
