//! Pages of `docs/papers` match the measurements: one table row for each row of `docs/papers/h200.json`, and of
//! `h100.json`.

use serde_json::Value;
use std::path::Path;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/papers").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A figure in the format of the pages.
fn figure(value: &Value) -> String {
    match value.as_f64() {
        None => "–".into(),
        Some(x) if x.abs() >= 100.0 => format!("{x:.0}"),
        Some(x) if x.abs() >= 10.0 => format!("{x:.1}"),
        Some(x) if x.abs() >= 1.0 => format!("{x:.2}"),
        Some(x) => format!("{x:.3}"),
    }
}

#[test]
fn pages_show_the_measurements() {
    let data = ["h200.json", "h100.json"].map(|name| serde_json::from_str::<Value>(&read(name)).expect("it is JSON"));
    let [most, more] = data.each_ref().map(|data| data["tables"].as_array().expect("there are tables"));
    assert!(most.len() >= 10 && more.len() >= 6);
    for table in most.iter().chain(more) {
        let id = table["table"].as_str().expect("a table has a name");
        let page = read(&format!("{}.md", id.split('-').next().expect("a name begins with its paper")));
        let heading = format!("## {}\n\n`papers {id}`.", table["title"].as_str().expect("a title"));
        let section = page.split_once(&heading).unwrap_or_else(|| panic!("no section of {id}")).1;
        let section = section.split("\n## ").next().expect("a section has text");
        let rows = table["rows"].as_array().expect("a table has rows");
        for row in rows {
            let cells = ["paper", "paper_copies", "here", "here_copies"].map(|name| figure(&row[name]));
            let line = format!("| {} | {} |\n", row["label"].as_str().expect("a label"), cells.join(" | "));
            assert!(format!("{section}\n").contains(&line), "{id}: {line}");
        }
        assert_eq!(section.lines().filter(|line| line.starts_with("| ")).count(), rows.len() + 1, "{id}");
    }
}
