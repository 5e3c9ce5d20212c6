//! `liftc explain`: what is printed and drawn.

mod common;

use common::Bench;

/// Reads far on one side only, and updates the even phase first.
const SKEWED: &str = "\
wavelet skewed {
    domain integer;
    boundary edge;
    even += (odd[0] + 3*odd[2] + 2) >> 2;
    odd -= (even[-3] + even[0]) >> 1;
}
";

#[test]
fn wavelets_are_explained() {
    let bench = Bench::new();
    bench.write("skewed.lift", SKEWED);
    insta::assert_snapshot!("dd137", bench.run("explain dd137 --svg dd137.svg").ok().stdout);
    insta::assert_snapshot!("dd137_svg", String::from_utf8(bench.read("dd137.svg")).unwrap());
    insta::assert_snapshot!("cdf97", bench.run("explain cdf97 --height 16 --shape 40x70 -l 2").ok().stdout);
    insta::assert_snapshot!("skewed", bench.run("explain skewed.lift -l 1 --sample i32").ok().stdout);
    bench.run("factor db2 --as lattice -o db2.lift").ok();
    insta::assert_snapshot!("lattice", bench.run("explain db2.lift -l 2 --shape 64x32").ok().stdout);
    let own = bench.run("explain skewed.lift -l 1").ok().stdout;
    let zero = bench.run("explain skewed.lift -l 1 --boundary zero").ok().stdout;
    assert!(own.contains('○') && zero.matches('○').count() < own.matches('○').count(), "{zero}");
}

#[test]
fn every_wavelet_of_the_catalogue_can_be_explained() {
    let bench = Bench::new();
    for entry in lifting_filters::CATALOGUE {
        let text = bench.run_args(&["explain", entry.name, "-l", "1", "--shape", "16x16"]).ok().stdout;
        assert!(text.contains("working area") && text.contains("forward, rows + columns"), "{text}");
    }
}

#[test]
fn mistakes_are_explained_too() {
    let bench = Bench::new();
    bench.run("explain dd137 --height 7").fails(2, "an even number from 2 to 64");
    bench.run("explain dd137 --shape 64").fails(2, "write height and width as 480x640");
    bench.run("explain dd137 --sample f32").fails(2, "take i16, i32 or i64");
    bench.run("explain dd137 --boundary periodic --shape 12x16").fails(2, "not even at each of 3 levels");
    bench.run("explain nosuch").fails(1, "nosuch");
    bench.write("skewed.lift", SKEWED).run("explain skewed.lift --svg skewed.lift").fails(2, "it is an input");
    assert_eq!(bench.read("skewed.lift"), SKEWED.as_bytes());
}
