//! Dependencies of this crate's modules point one way: core ← algebra ← language, without cycles within a layer. Unit
//! tests are exempt.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const LAYERS: [&str; 3] = ["core", "algebra", "language"];

/// A file or folder of a layer, as in `core::oracle`.
type Module = String;

/// All `crate::…` paths in the code of a file, without tests and comments.
fn uses(source: &str) -> Vec<&str> {
    let code = source.split("#[cfg(test)]\nmod ").next().expect("never empty");
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let paths = lines.flat_map(|line| line.split("crate::").skip(1));
    paths.map(|rest| rest.split(|c| !is_path(c)).next().expect("never empty")).collect()
}

fn files(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources").map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            found.push(path.to_str().expect("our own names").replace('\\', "/"));
        }
    }
}

/// The modules that each module uses.
fn arrows() -> BTreeMap<Module, BTreeSet<Module>> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    LAYERS.iter().for_each(|layer| files(&src.join(layer), &mut found));
    let mut arrows: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for file in found {
        let mut parts = file.rsplit_once("/src/").expect("below src").1.trim_end_matches(".rs").split('/');
        let (layer, module) = (parts.next().unwrap(), parts.next().unwrap());
        if module == "mod" {
            continue;
        }
        let from = format!("{layer}::{module}");
        for path in uses(&std::fs::read_to_string(&file).unwrap()) {
            let mut parts = path.split("::");
            let (layer, module) = (parts.next().unwrap(), parts.next().unwrap_or(""));
            assert!(LAYERS.contains(&layer), "{file}: `crate::{path}` lacks a layer: write the full path");
            assert!(!module.is_empty(), "{file}: `crate::{path}…` lacks a module: write one `use` per module");
            arrows.entry(from.clone()).or_default().insert(format!("{layer}::{module}"));
        }
    }
    arrows.iter_mut().for_each(|(from, uses)| _ = uses.remove(from));
    arrows
}

fn rank(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| module.split("::").next() == Some(layer))
}

#[test]
fn layers_use_only_lower_layers() {
    let arrows = arrows();
    assert!(arrows.len() > 20, "too few modules found: {arrows:?}");
    for (from, uses) in &arrows {
        for module in uses {
            assert!(rank(module) <= rank(from), "{from} uses {module}, which is above it");
        }
    }
    // All three layers exist, and use each other.
    assert!(
        arrows["language::validate"].contains("algebra::construct")
            && arrows["algebra::factor"].contains("core::oracle")
    );
}

#[test]
fn no_modules_use_each_other() {
    let mut arrows = arrows();
    // Repeatedly remove modules that use none of the remaining ones; a cycle stays.
    loop {
        let left: BTreeSet<Module> = arrows.keys().cloned().collect();
        let before = arrows.len();
        arrows.retain(|_, uses| uses.iter().any(|module| left.contains(module)));
        if arrows.len() == before {
            break;
        }
    }
    assert!(arrows.is_empty(), "these modules form or use a cycle: {arrows:#?}");
}
