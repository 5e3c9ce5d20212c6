//! `liftc explain`: printed text and figures.

use crate::common::Bench;

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
    insta::assert_snapshot!("dd137", bench.run("explain dd137").ok().stdout);
    insta::assert_snapshot!("cdf97", bench.run("explain cdf97 --height 16 --shape 40x70 -l 2").ok().stdout);
    insta::assert_snapshot!("skewed", bench.run("explain skewed.lift -l 1 --sample i32").ok().stdout);
    bench.run("factor db2 --as lattice -o db2.lift").ok();
    insta::assert_snapshot!("lattice", bench.run("explain db2.lift -l 2 --shape 64x32").ok().stdout);
    let own = bench.run("explain skewed.lift -l 1").ok().stdout;
    let zero = bench.run("explain skewed.lift -l 1 --boundary zero").ok().stdout;
    assert!(own.contains('○') && zero.matches('○').count() < own.matches('○').count(), "{zero}");
}

/// Meanings of the shapes in a window's figure, from the SVG: `step 1 updates 1, 3` and so on, in the order of the
/// columns.
fn meanings(text: &str) -> Vec<String> {
    let mut meanings = Vec::new();
    for table in text.split("\nRows of the window, ").skip(1) {
        let rows: Vec<(&str, Vec<&str>)> = table
            .lines()
            .skip(2)
            .map_while(|line| {
                let mut words = line.split_whitespace();
                let row = words.next()?;
                Some((row, words.skip(1).take_while(|w| ["·", "×", "●", "○"].contains(w)).collect()))
            })
            .collect();
        for step in 0..rows[0].1.len() {
            for (mark, verb) in [("×", "updates"), ("●", "reads"), ("○", "reads at borders")] {
                let marked: Vec<&str> = rows.iter().filter(|r| r.1[step] == mark).map(|r| r.0).collect();
                if !marked.is_empty() {
                    meanings.push(format!("step {} {verb} {}", step + 1, marked.join(", ")));
                }
            }
        }
    }
    meanings
}

#[test]
fn window_figure_agrees_with_its_text() {
    let bench = Bench::new();
    bench.write("skewed.lift", SKEWED);
    for (wavelet, name) in [("dd137", "dd137"), ("db20", "db20"), ("skewed.lift", "skewed")] {
        let line = format!("explain {wavelet} -l 1 --shape 16x16 --svg w.svg");
        let expected = meanings(&bench.run(&line).ok().stdout);
        let svg = String::from_utf8(bench.read("w.svg")).unwrap();
        let shown: Vec<&str> = svg.split("><title>").skip(1).map(|s| s.split("</title>").next().unwrap()).collect();
        assert!(expected.len() > 3);
        assert_eq!(shown, expected, "{wavelet}");
        assert!(svg.contains(&format!("<title>The sliding window of the wavelet {name}</title>")));
        let said = |text: &str| svg.contains(&format!("aria-label=\"{text}\""));
        assert!(said(&format!("{name}: the sliding window of its steps")) && said("Forward") && said("Inverse"));
        // The legend names all kinds of shapes.
        assert!(said("updated in this window") && said("read for that") && said("working area"));
        let served = expected.iter().any(|m| m.contains("reads at borders"));
        assert_eq!(said("read only where the signal ends nearby"), served);
    }
    bench.run("explain dd137 -l 1 --shape 16x16 --svg w.png").ok();
    let picture = image::load_from_memory(&bench.read("w.png")).unwrap().into_rgb8();
    for colour in [[0x00, 0x72, 0xb2], [0xd5, 0x5e, 0x00], [0x22; 3], [255; 3]] {
        assert!(picture.pixels().any(|p| p.0 == colour), "{colour:?}");
    }
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
fn mistakes_are_reported() {
    let bench = Bench::new();
    bench.run("explain dd137 --height 7").fails(2, "an even number from 2 to 64");
    bench.run("explain dd137 --shape 64").fails(2, "write height and width as 480x640");
    bench.run("explain dd137 --sample f32").fails(2, "take i16, i32 or i64");
    bench.run("explain dd137 --boundary periodic --shape 12x16").fails(2, "not even at each of 3 levels");
    bench.run("explain nosuch").fails(1, "nosuch");
    bench.run("explain dd137 --svg w.pdf").fails(2, "figures are .svg or .png");
    bench.write("skewed.svg", SKEWED).run("explain ./skewed.svg --svg skewed.svg").fails(2, "it is an input");
    assert_eq!(bench.read("skewed.svg"), SKEWED.as_bytes());
}

#[test]
fn codes_are_explained() {
    let bench = Bench::new();
    for entry in lifting_dsl::codes::entries() {
        let text = bench.run_args(&["explain", entry.code]).ok().stdout;
        assert!(text.starts_with(&format!("{}: {}\n\nCause: ", entry.code, entry.title)), "{text}");
        assert!(text.contains("\nCure: ") && !text.contains("```"), "{text}");
    }
    bench.run("explain l0301").ok();
    bench.run("explain L0300").fails(1, "L0301, L0302");
    bench.run("explain L99").fails(1, "L0001 to L0907");
}
