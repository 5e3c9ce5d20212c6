//! The Python package's reference: pages that mkdocstrings fills from the sources, without importing them.

use super::nav::Nav;
use regex::Regex;
use std::path::Path;

/// Public modules besides the package itself.
const MODULES: [&str; 6] = ["data", "torch", "jax", "dask", "zarr", "numcodecs"];
/// Private modules with public names, and their headings.
const PARTS: [(&str, &str); 18] = [
    ("_plan", "Plans"),
    ("_mixed", "Plans of several wavelets"),
    ("_wavelet", "Wavelets"),
    ("_families", "Names of wavelets"),
    ("_codec", "Image codec"),
    ("_dwt", "Transforms of one level"),
    ("_multilevel", "Transforms of several levels"),
    ("_swt", "Stationary transforms"),
    ("_packets", "Wavelet packets"),
    ("_mra", "Multiresolution analysis"),
    ("_cwt", "Continuous transforms"),
    ("_continuous", "Continuous wavelets"),
    ("_dtcwt", "Dual-tree complex transforms"),
    ("_dtcwt_levels", "Coefficients of dual trees"),
    ("_operator", "Linear operators"),
    ("_threshold", "Thresholds"),
    ("_cache", "Cache"),
    ("_lifting", "Errors"),
];
/// Options of a module whose page has its name as title.
const BARE: &str =
    "    options:\n      show_root_heading: false\n      show_root_toc_entry: false\n      heading_level: 2\n";

/// Writes the pages below `docs/python`; returns their navigation.
pub fn write(root: &Path, docs: &Path) -> Result<Nav, String> {
    let package = root.join("python/lifting");
    let mut pages = Vec::new();
    let mut page = |name: &str, title: String, text: String| {
        let path = format!("python/{name}.md");
        super::write(&docs.join(&path), format!("# {title}\n\n{text}"))?;
        pages.push(Nav::page(&path));
        Ok::<(), String>(())
    };
    page("index", "Python package".into(), front(&package)?)?;
    for module in MODULES {
        page(module, format!("lifting.{module}"), format!("::: lifting.{module}\n{BARE}"))?;
    }
    Ok(Nav::Group("Python".into(), pages))
}

/// The package's front page: its docstring, then the public names that it takes from its private modules.
fn front(package: &Path) -> Result<String, String> {
    let init = super::read(&package.join("__init__.py"))?;
    let exports = exports(&init);
    if let Some((module, _)) = exports.iter().find(|(module, _)| PARTS.iter().all(|(part, _)| part != module)) {
        return Err(format!("python/lifting/{module}.py has no heading: add it to PARTS in xtask/src/site/python.rs"));
    }
    let mut text = format!("::: lifting\n{BARE}      members: false\n");
    for (part, heading) in PARTS {
        text += &format!("\n## {heading}\n");
        for (module, names) in exports.iter().filter(|(module, _)| *module == part) {
            let public = names.iter().filter(|name| !name.starts_with('_'));
            text.extend(public.map(|name| format!("\n::: lifting.{module}.{name}\n")));
        }
    }
    Ok(text)
}

/// Private modules and the names that the package takes from them, in order.
fn exports<'a>(init: &'a str) -> Vec<(&'a str, Vec<&'a str>)> {
    let import = Regex::new(r"(?m)^from \.(_\w+) import (?:\(([^)]*)\)|(.*))$").expect("a valid pattern");
    let parts = |found: regex::Captures<'a>| {
        let list = found.get(2).or(found.get(3)).map_or("", |list| list.as_str());
        let names = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        (found.get(1).map_or("", |module| module.as_str()), names)
    };
    import.captures_iter(init).map(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_are_read_from_imports() {
        let init = "from ._a import B, __version__\nfrom . import data\nfrom ._c import (\n    d,\n    e,\n)\n";
        assert_eq!(exports(init), [("_a", vec!["B", "__version__"]), ("_c", vec!["d", "e"])]);
    }

    #[test]
    fn every_private_module_has_a_heading() {
        front(&crate::toolchain::root().join("python/lifting")).unwrap();
    }
}
