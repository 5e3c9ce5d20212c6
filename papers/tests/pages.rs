//! Pages of `docs/papers` match the measurements: one table row for each row of `docs/papers/h200.json`. With
//! `LIFTING_BLESS=1`, the test writes headings, tables and block shapes into the pages, and leaves their texts.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/papers").join(name)
}

fn read(name: &str) -> String {
    let path = path(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}"))
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

/// Words in lines of at most 120 columns.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        match last.is_empty() {
            true => *last = word.into(),
            false if last.chars().count() + word.chars().count() < 120 => *last += &format!(" {word}"),
            false => lines.push(word.into()),
        }
    }
    lines.join("\n")
}

/// Opening words of the sentence on block shapes.
const SHAPES: &str = "Fastest of ";

/// The most frequent of the fastest block shapes, by number of shapes compared; empty without any. Older measurements
/// lack the name of the shape.
fn shapes(rows: &[Value]) -> String {
    let mut fastest: BTreeMap<u64, BTreeMap<&str, usize>> = BTreeMap::new();
    for tuning in rows.iter().map(|row| &row["tuning"]).filter(|tuning| !tuning.is_null()) {
        let of = tuning["of"].as_u64().expect("a number of shapes");
        *fastest.entry(of).or_default().entry(tuning["fastest"].as_str().unwrap_or_default()).or_default() += 1;
    }
    let sentence = |(of, names): (&u64, &BTreeMap<&str, usize>)| {
        let rows: usize = names.values().sum();
        let (name, times) = names.iter().max_by_key(|(_, times)| **times).expect("a shape was the fastest");
        match name.is_empty() {
            true => format!("{SHAPES}{of} block shapes in {rows} rows."),
            false => format!("{SHAPES}{of} block shapes in {rows} rows; most often ({times}) `{name}`."),
        }
    };
    fastest.iter().map(sentence).collect::<Vec<_>>().join(" ")
}

/// Heading, table and block shapes of a section.
fn section(table: &Value) -> String {
    let (id, device) = (text(table, "table"), text(table, "paper_device"));
    let article = if device.starts_with("NVS") { "an" } else { "a" };
    let opening =
        format!("`papers {id}`. The paper's figures are for {article} {device}, {}.", text(table, "paper_bandwidth"));
    let unit = match text(table, "unit") {
        "" => String::new(),
        unit => format!(", {}", unit.replace("a sample", "per sample")),
    };
    let mut page = format!("## {}\n\n{}\n\n", text(table, "title"), wrapped(&opening));
    page += &format!("| | paper{unit} | in copies | here{unit} | in copies |\n|---|---|---|---|---|\n");
    let rows = table["rows"].as_array().expect("a table has rows");
    for row in rows {
        let cells = ["paper", "paper_copies", "here", "here_copies"].map(|name| figure(&row[name]));
        page += &format!("| {} | {} |\n", text(row, "label"), cells.join(" | "));
    }
    match shapes(rows) {
        shapes if shapes.is_empty() => page,
        shapes => page + "\n" + &wrapped(&shapes) + "\n",
    }
}

/// The page with this section in place of its own; a new one goes to the end.
fn replaced(page: &str, table: &Value, section: &str) -> String {
    let marker = format!("\n\n`papers {}`.", text(table, "table"));
    let Some(at) = page.find(&marker) else { return format!("{}\n\n{section}", page.trim_end()) };
    let start = page[..at].rfind("\n## ").map_or(0, |at| at + 1);
    let rest = &page[start..];
    let end = rest[3..].find("\n## ").map_or(rest.len(), |at| at + 3);
    let own = &rest[..end];
    // Texts follow the table, and the sentence on block shapes.
    let texts = own.split("\n\n").skip_while(|part| !part.starts_with("| ")).skip(1);
    let texts: Vec<&str> = texts.filter(|part| !part.starts_with(SHAPES)).map(str::trim_end).collect();
    let texts = texts.iter().filter(|part| !part.is_empty()).map(|part| format!("\n{part}\n")).collect::<String>();
    format!("{}{section}{texts}{}", &page[..start], &rest[end..])
}

#[test]
fn pages_show_the_measurements() {
    let data: Value = serde_json::from_str(&read("h200.json")).expect("it is JSON");
    let tables = data["tables"].as_array().expect("there are tables");
    assert!(tables.len() >= 30);
    for table in tables {
        let id = text(table, "table");
        let name = format!("{}.md", id.split('-').next().expect("a name begins with its paper"));
        let (page, section) = (read(&name), section(table));
        if std::env::var_os("LIFTING_BLESS").is_some() {
            std::fs::write(path(&name), replaced(&page, table, &section)).expect("the page is writable");
        } else {
            assert!(page.contains(&section), "{id}: {section}");
        }
    }
}
