//! `ARCHITECTURE.md` and `docs/` against the tree: what they name exists, and what they should name is there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Folders with sources of this project's own: the workspace's members, and what is beside it.
fn rooms() -> Vec<String> {
    let manifest = read("Cargo.toml");
    let members = manifest.split_once("members = [").and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    members.split('"').skip(1).step_by(2).chain(["fuzz"]).map(str::to_owned).collect()
}

/// Files below `folder` with this extension, relative to the root, but neither build output nor what compilers are to refuse.
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

/// The documents that are held against the tree.
fn documents() -> BTreeSet<String> {
    let mut found = BTreeSet::from(["ARCHITECTURE.md".to_owned()]);
    files(Path::new("docs"), "md", &mut found);
    found
}

/// What stands in backticks and is a path into one of the rooms; of patterns, what is before the first sign that stands for others.
fn paths<'a>(text: &'a str, rooms: &[String]) -> Vec<&'a str> {
    let spans = text.split('`').skip(1).step_by(2).filter(|span| !span.contains([' ', '\n']));
    let inside =
        spans.filter(|span| rooms.iter().any(|r| span.strip_prefix(r.as_str()).is_some_and(|s| s.starts_with('/'))));
    inside.map(|span| span.split(['*', '<', '{', '…', ':']).next().unwrap()).collect()
}

/// The targets of links that lead to files of the repository, without their anchors.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let inside = targets.filter(|t| !t.contains("://") && !t.starts_with('#'));
    inside.map(|t| t.split('#').next().unwrap()).collect()
}

#[test]
fn what_documents_name_exists() {
    let rooms = rooms();
    for name in documents() {
        let text = read(&name);
        for path in paths(&text, &rooms) {
            assert!(root().join(path).exists(), "{name} names `{path}`, which is not there");
        }
        let folder = Path::new(&name).parent().unwrap();
        for link in links(&text) {
            assert!(root().join(folder).join(link).exists(), "{name} has a link to {link}, which is not there");
        }
    }
}

#[test]
fn every_room_is_named_and_every_file_says_what_it_is_for() {
    let architecture = read("ARCHITECTURE.md");
    for room in rooms() {
        assert!(architecture.contains(&format!("`{room}`")), "ARCHITECTURE.md does not say what `{room}` is");
        let mut sources = BTreeSet::new();
        files(Path::new(&room), "rs", &mut sources);
        assert!(!sources.is_empty(), "{room} has no sources");
        for file in sources.iter().filter(|f| !f.contains("/emitted/")) {
            assert!(read(file).starts_with("//! "), "{file} does not open with what it is for");
        }
    }
}
