//! Checks of `ARCHITECTURE.md` and `docs/` against the tree. Paths, links and identifiers must exist, every folder must
//! be described, and the tables of `docs/performance.md` must match `docs/figures/`.
//!
//! `UPDATE=1 cargo test -p lifting-tests --test suite architecture` rewrites the tables.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Folders of this project's sources: the workspace's members, and the folders outside it.
fn rooms() -> Vec<String> {
    let manifest = read("Cargo.toml");
    let members = manifest.split_once("members = [").and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    members.split('"').skip(1).step_by(2).chain(["fuzz"]).map(str::to_owned).collect()
}

/// Files below `folder` with this extension, relative to the root. Excludes build output and texts that compilers must
/// refuse.
fn files(folder: &Path, extension: &str, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(root().join(folder)).unwrap().map(Result::unwrap) {
        let path = folder.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            if !["target", "data", "snapshots", "ui"].contains(&entry.file_name().to_string_lossy().as_ref()) {
                files(&path, extension, found);
            }
        } else if path.extension().is_some_and(|e| e == extension) {
            found.insert(path.to_string_lossy().replace('\\', "/"));
        }
    }
}

/// The documents to check.
fn documents() -> BTreeSet<String> {
    let mut found = BTreeSet::from(["ARCHITECTURE.md".to_owned()]);
    files(Path::new("docs"), "md", &mut found);
    found
}

/// Paths into one of the rooms in backticks. A pattern counts up to its first wildcard.
fn paths<'a>(text: &'a str, rooms: &[String]) -> Vec<&'a str> {
    let spans = text.split('`').skip(1).step_by(2).filter(|span| !span.contains([' ', '\n']));
    let inside =
        spans.filter(|span| rooms.iter().any(|r| span.strip_prefix(r.as_str()).is_some_and(|s| s.starts_with('/'))));
    inside.map(|span| span.split(['*', '<', '{', '…', ':']).next().unwrap()).collect()
}

/// The targets of links to files of the repository, without their anchors.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let inside = targets.filter(|t| !t.contains("://") && !t.starts_with('#'));
    inside.map(|t| t.split('#').next().unwrap()).collect()
}

#[test]
fn paths_in_documents_exist() {
    let rooms = rooms();
    for name in documents() {
        let text = read(&name);
        for path in paths(&text, &rooms) {
            assert!(root().join(path).exists(), "{name} names `{path}`, which does not exist");
        }
        let folder = Path::new(&name).parent().unwrap();
        for link in links(&text) {
            assert!(root().join(folder).join(link).exists(), "{name} has a link to {link}, which does not exist");
        }
    }
}

/// Identifiers in backticks with the form of Rust: a capitalised name, or names joined by `::`.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_rust = move |span: &&str| {
        let capitalised = span.starts_with(|c: char| c.is_ascii_uppercase()) && span.contains(char::is_lowercase);
        (capitalised || span.contains("::")) && span.split("::").all(is_name)
    };
    text.split('`').skip(1).step_by(2).filter(is_rust)
}

/// Words of the sources' code: comments, and this file, name nothing.
fn words() -> BTreeSet<String> {
    let mut sources = BTreeSet::new();
    for room in rooms() {
        ["rs", "py", "in"].iter().for_each(|extension| files(Path::new(&room), extension, &mut sources));
    }
    sources.remove("tests/tests/architecture.rs");
    let mut words = BTreeSet::new();
    for source in sources {
        for line in read(&source).lines() {
            let code = if line.contains("://") { line } else { line.split("//").next().unwrap() };
            words.extend(code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(str::to_owned));
        }
    }
    words
}

#[test]
fn identifiers_in_documents_exist() {
    let words = words();
    let mut count = 0;
    for name in documents() {
        for identifier in identifiers(&read(&name)) {
            let unknown = identifier.split("::").find(|part| !words.contains(*part));
            assert_eq!(unknown, None, "{name} names `{identifier}`, which no source has");
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
    assert_eq!(
        identifiers("`RowAlignment` `a::b` `one` `a b` `T::` `X`").collect::<Vec<_>>(),
        ["RowAlignment", "a::b"]
    );
}

#[test]
fn every_room_is_named_and_every_file_has_a_header() {
    let architecture = read("ARCHITECTURE.md");
    for room in rooms() {
        assert!(architecture.contains(&format!("`{room}`")), "ARCHITECTURE.md does not describe `{room}`");
        let mut sources = BTreeSet::new();
        files(Path::new(&room), "rs", &mut sources);
        assert!(!sources.is_empty(), "{room} has no sources");
        for file in sources.iter().filter(|f| !f.contains("/emitted/")) {
            assert!(read(file).starts_with("//! "), "{file} does not begin with a `//! ` header");
        }
    }
}

/// A single test program never compiles a file that it does not name.
#[test]
fn every_file_of_tests_is_in_a_program() {
    let mut suites = 0;
    for room in rooms().iter().filter(|r| root().join(r).join("tests/suite.rs").exists()) {
        let suite = read(&format!("{room}/tests/suite.rs"));
        let manifest = read(&format!("{room}/Cargo.toml"));
        for file in std::fs::read_dir(root().join(room).join("tests")).unwrap().map(|e| e.unwrap().path()) {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            let named = name == "suite"
                || suite.contains(&format!("\nmod {name};\n"))
                || manifest.contains(&format!("[[test]]\nname = \"{name}\"\n"));
            let source = file.extension().is_some_and(|e| e == "rs");
            assert!(named || !source, "{room}/tests/suite.rs does not name {name}");
        }
        suites += 1;
    }
    assert!(suites > 0);
}

/// Width of text in documents.
const COLUMNS: usize = 120;

#[test]
fn lines_of_documents_fit() {
    for name in documents() {
        let text = read(&name);
        let mut code = false;
        for (i, line) in text.lines().enumerate() {
            code ^= line.trim_start().starts_with("```");
            let free = code || line.starts_with('|') || line.starts_with("![");
            assert!(free || line.chars().count() <= COLUMNS, "{name}:{}: more than {COLUMNS} columns", i + 1);
        }
    }
}

/// The table of a file of figures, with its title and source.
fn table(name: &str) -> String {
    let figures: Value = serde_json::from_str(&read(&format!("docs/figures/{name}.json"))).unwrap();
    let text = |key: &str| {
        figures[key].as_str().filter(|t| !t.is_empty()).unwrap_or_else(|| panic!("{name}.json does not say its {key}"))
    };
    let digits = figures["digits"].as_u64().map(|d| d as usize);
    let number = |value: &Value| match (value.as_f64(), digits) {
        (Some(x), Some(digits)) if !value.is_u64() => format!("{x:.digits$}"),
        (Some(_), _) => value.to_string(),
        (None, _) => panic!("{name}.json: {value} is not a figure"),
    };
    let cell = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(both) => both.iter().map(number).collect::<Vec<_>>().join(" / "),
        value => number(value),
    };
    let line = |cells: Vec<String>| format!("|{}\n", cells.iter().map(|c| format!(" {c} |")).collect::<String>());
    let columns: Vec<&str> = figures["columns"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    let mut table = line(columns.iter().map(|c| (*c).to_owned()).collect());
    table += &format!("|{}\n", "---|".repeat(columns.len()));
    for row in figures["rows"].as_array().unwrap() {
        let keys = row.as_object().unwrap().keys();
        keys.for_each(|key| assert!(columns.contains(&key.as_str()), "{name}.json: unknown column {key}"));
        table += &line(columns.iter().map(|c| cell(&row[*c])).collect());
    }
    let about = format!(
        "{}; {}. {}, {}; spread {}; `{}`.",
        text("about"),
        text("unit"),
        text("device"),
        text("date"),
        text("spread"),
        text("command")
    );
    let mut said = String::new();
    let mut column = 0;
    for word in about.split(' ') {
        let width = word.chars().count();
        let separator = match column {
            0 => "",
            c if c + 1 + width > COLUMNS => "\n",
            _ => " ",
        };
        column = if separator == " " { column + 1 + width } else { width };
        said += separator;
        said += word;
    }
    format!("{said}\n\n{table}")
}

#[test]
fn tables_of_figures_are_those_of_their_files() {
    const END: &str = "<!-- /figures -->";
    let name = "docs/performance.md";
    let old = read(name);
    let mut new = String::new();
    let mut shown = BTreeSet::new();
    let mut parts = old.split("<!-- figures: ");
    new += parts.next().unwrap();
    for part in parts {
        let (figures, rest) = part.split_once(" -->\n").unwrap();
        let (_, rest) = rest.split_once(END).unwrap_or_else(|| panic!("{name}: the figures of {figures} do not end"));
        new += &format!("<!-- figures: {figures} -->\n{}{END}{rest}", table(figures));
        shown.insert(format!("docs/figures/{figures}.json"));
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(root().join(name), new).unwrap();
    } else {
        assert!(old == new, "{name} differs from docs/figures: run this with UPDATE=1");
    }
    let mut there = BTreeSet::new();
    files(Path::new("docs/figures"), "json", &mut there);
    assert_eq!(shown, there, "{name} does not show exactly the files of docs/figures");
}
