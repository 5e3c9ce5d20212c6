//! The program `papers`: the list of tables, and the output without a device.

use crate::common::Bench;

#[test]
fn tables_are_listed() {
    let list = Bench::new().run("--list").ok().stdout;
    let longest = "enfedaque-2.3-registers";
    for id in [
        "laan-3",
        "kucis-1",
        "kucis-4",
        "enfedaque-2.1",
        longest,
        "enfedaque-3.1",
        "enfedaque-4.6",
        "matela-1",
        "lattice-1",
    ] {
        assert!(list.lines().any(|line| line.split_whitespace().next() == Some(id)), "{id}\n{list}");
    }
}

/// The papers' figures and derived numbers are printed with and without a device.
#[test]
fn figures_of_papers_are_printed() {
    let bench = Bench::new();
    let run = bench.run("kucis-1 enfedaque-2.1 --json found.json --svg drawn").ok();
    let text = run.stdout;
    assert!(text.contains("Horiz-Blazewicz2012-4, 1 Mpel"), "{text}");
    for figure in ["103.0", "95.4", "56.0", "2.333", "2.905"] {
        assert!(text.contains(figure), "{figure}\n{text}");
    }
    let json: serde_json::Value = serde_json::from_slice(&bench.read("found.json")).unwrap();
    let tables = json["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 2);
    let rows = tables[0]["rows"].as_array().unwrap();
    let of = |label: &str| rows.iter().find(|row| row["label"].as_str().is_some_and(|l| l.starts_with(label))).unwrap();
    let laan = of("Horiz-Laan2009");
    assert_eq!(laan["paper"], 103.0);
    // 103 ps per sample, in copies of 8 bytes per sample at 85 % of 192.4 GB/s.
    let copies = laan["paper_copies"].as_f64().unwrap();
    assert!((copies - 103.0 / (8.0 / 0.85 / 0.1924)).abs() < 1e-9, "{copies}");
    for id in ["kucis-1", "enfedaque-2.1"] {
        assert!(bench.read(&format!("drawn/{id}.svg")).starts_with(b"<svg"), "{id}");
    }
    if laan["here"].is_null() {
        assert!(run.stderr.contains("measuring needs a CUDA device"), "{}", run.stderr);
        assert!(of("plan, 1 Mpel")["predicted_copies"].as_f64().is_some_and(|copies| copies > 1.0));
    }
}

/// Tables of coders use the given pictures: fewer contexts take more bits, and fewer code words fewer.
#[test]
fn coders_code_pictures() {
    let bench = Bench::new();
    let text = bench.run("enfedaque-3.1").ok().stdout;
    assert!(text.contains("mean, JPEG 2000") && text.contains("5.650"), "{text}");
    bench.copy("camera.png").copy("chelsea.png");
    // JPEG 2000 is measured if OpenJPEG is installed.
    bench.run("enfedaque-3.1 --pictures camera.png chelsea.png --json coded.json");
    let json: serde_json::Value = serde_json::from_slice(&bench.read("coded.json")).unwrap();
    let rows = json["tables"][0]["rows"].as_array().unwrap();
    let here = |label: &str| {
        let row = rows.iter().find(|row| row["label"].as_str().is_some_and(|l| l.starts_with(label))).unwrap();
        row["here"].as_f64().unwrap_or_else(|| panic!("{label}: {row}"))
    };
    for picture in ["mean", "camera.png", "chelsea.png"] {
        let bits = |way: &str| here(&format!("{picture}, {way}"));
        let (own, lanes, one) = (bits("BPC-PaCo;"), bits("a codeword for each lane"), bits("one codeword"));
        assert!(one < lanes && one > 0.97 * own && lanes < 1.02 * own, "{picture}: {own} {lanes} {one}");
        let (fitted, merged) = (bits("a codeword for each lane, fitted"), bits("the same, one context"));
        assert!(fitted < lanes && merged > 1.02 * fitted, "{picture}: {fitted} {merged}");
        // The thesis' coder loses the unused bits of its code words.
        let strict = bits("BPC-PaCo strictly");
        assert!(strict > fitted && strict < 1.02 * own, "{picture}: {own} {strict}");
    }
}

#[test]
fn unknown_tables_are_reported() {
    let bench = Bench::new();
    bench.run("kucis-9").fails(2, "unknown table `kucis-9`");
    bench.run("kucis-1 --rows Horz").fails(2, "no row contains `Horz`");
    bench.run("kucis-1 --device cpu").fails(2, "measures on GPUs only");
}
