//! `ARCHITECTURE.md` against the tree: what it names exists, and no folder of sources goes unnamed.
//!
//! `UPDATE=1 cargo test -p lifting-tests --test architecture` writes the list of files anew, from the first sentence of
//! each file.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const CRATES: [(&str, &str); 9] = [
    ("lifting-dsl", "the language, its algebra, and the oracle"),
    ("codegen", "`lifting-codegen`: from schemes to kernels to text"),
    ("lifting-macros", "`lifting!`"),
    ("runtime", "`lifting`: plans"),
    ("filters", "`lifting-filters`: the catalogue"),
    ("liftc", "the command line"),
    ("tests", "tests that need more than one crate"),
    ("xtask", "development tasks"),
    ("fuzz", "fuzz targets"),
];
const START: &str = "<!-- files -->\n";
const END: &str = "<!-- /files -->";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Rust files below `folder`, relative to the root, but not build output or what compilers are to refuse.
fn sources(folder: &Path, found: &mut BTreeSet<String>) {
    let Ok(entries) = std::fs::read_dir(root().join(folder)) else { return };
    for entry in entries.map(Result::unwrap) {
        let path = folder.join(entry.file_name());
        let name = path.to_string_lossy().replace('\\', "/");
        if entry.file_type().unwrap().is_dir() {
            if !["target", "data", "snapshots", "ui"].contains(&entry.file_name().to_string_lossy().as_ref()) {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") {
            found.insert(name);
        }
    }
}

/// The first sentence of a file's documentation.
fn sentence(file: &str) -> String {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    let lines = text.lines().map_while(|l| l.strip_prefix("//!")).map(str::trim).take_while(|l| !l.is_empty());
    let paragraph = lines.collect::<Vec<_>>().join(" ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |end| end + 1);
    // Links within a crate's documentation lead nowhere from here.
    paragraph[..end].replace("](crate::ast)", "").replace("](lifting_dsl::Scheme)", "").replace(['[', ']'], "")
}

fn list() -> String {
    let mut text = String::new();
    for (folder, about) in CRATES {
        writeln!(text, "\n### `{folder}`: {about}\n").unwrap();
        let mut files = BTreeSet::new();
        sources(Path::new(folder), &mut files);
        for file in files {
            writeln!(text, "- `{file}`: {}", sentence(&file)).unwrap();
        }
    }
    text + "\n"
}

#[test]
fn the_list_of_files_is_true() {
    let path = root().join("ARCHITECTURE.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(START).expect("the start of the list");
    let (listed, after) = rest.split_once(END).expect("the end of the list");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, format!("{before}{START}{}{END}{after}", list())).unwrap();
        return;
    }
    let names: BTreeSet<&str> =
        listed.lines().filter_map(|line| line.strip_prefix("- `")?.split_once('`')).map(|(name, _)| name).collect();
    for name in &names {
        assert!(
            root().join(name).is_file(),
            "ARCHITECTURE.md names {name}, which is not there: run this with UPDATE=1"
        );
    }
    let folder = |file: &str| file.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let known: BTreeSet<_> = names.iter().filter_map(|name| folder(name)).collect();
    for (krate, _) in CRATES {
        let mut files = BTreeSet::new();
        sources(Path::new(krate), &mut files);
        for file in files {
            assert!(
                known.contains(&folder(&file).unwrap()),
                "no file of {file}'s folder is named: run this with UPDATE=1"
            );
        }
    }
}
