//! `cargo xtask site`: the documentation as a website in `site/`, made by MkDocs.
//!
//! The pages are the repository's documents, copied with other links ([`links`]); the Python package's docstrings
//! ([`python`]); a browser of the catalogue ([`wavelets`]); and the compiler in a page ([`playground`]). MkDocs'
//! settings, styles and scripts are in `xtask/site`, with the versions of its packages. The site works from the file
//! system and loads nothing from elsewhere.

mod links;
mod nav;
mod playground;
mod python;
mod wavelets;

use crate::toolchain::{root, run, target, venv};
use nav::Nav;
use regex::Regex;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The PyPI packages of MkDocs, its theme and mkdocstrings.
const PACKAGES: &str = include_str!("../../site/packages.txt");
const SETTINGS: &str = include_str!("../../site/mkdocs.yml");
/// Files that all pages load.
const ASSETS: [(&str, &str); 4] = [
    ("icon.svg", include_str!("../../site/icon.svg")),
    ("iframe-worker.js", include_str!("../../site/iframe-worker.js")),
    ("site.css", include_str!("../../site/site.css")),
    ("wavelets.js", include_str!("../../site/wavelets.js")),
];

/// Builds the site; with `rust`, also the documentation of the crates.
pub fn build(rust: bool) -> Result<(), String> {
    let mkdocs = venv("mkdocs", PACKAGES, "MkDocs")?.join("bin/mkdocs");
    let (work, output) = (target().join("site"), root().join("site"));
    let docs = work.join("docs");
    if docs.exists() {
        std::fs::remove_dir_all(&docs).map_err(|e| format!("{}: {e}", docs.display()))?;
    }
    for (name, text) in ASSETS {
        write(&docs.join("site").join(name), text)?;
    }
    let nav: String = Site { docs: &docs }.pages(rust)?.iter().map(|item| item.yaml(1)).collect();
    let settings = work.join("mkdocs.yml");
    write(&settings, format!("{SETTINGS}site_dir: {output:?}\nnav:\n{nav}"))?;
    let mut command = Command::new(mkdocs);
    command.args(["build", "--strict", "--config-file"]).arg(&settings).env("NO_MKDOCS_2_WARNING", "1");
    command.env("PYTHON_SOURCES", root().join("python")).env("DOCTESTS", root().join("xtask/site/doctests.py"));
    run(&mut command)?;
    let pages = check(&output)?;
    println!("{pages} pages: {}", output.join("index.html").display());
    Ok(())
}

/// The sources of the site, being written.
struct Site<'a> {
    docs: &'a Path,
}

impl Site<'_> {
    /// Writes all pages; returns the navigation.
    fn pages(&self, rust: bool) -> Result<Vec<Nav>, String> {
        let mut reference = vec![
            self.document("docs/language.md")?,
            self.document("docs/format.md")?,
            self.document("docs/jpeg2000.md")?,
            self.document("docs/pywavelets.md")?,
            python::write(root(), self.docs)?,
        ];
        if rust {
            reference.push(self.crates()?);
        }
        let performance = vec![
            self.document("docs/performance.md")?,
            self.folder("Schedules", "docs/schedules")?,
            self.folder("Papers", "docs/papers")?,
            self.document("docs/curves/README.md")?,
        ];
        let mut project = ["ARCHITECTURE.md", "CONTRIBUTING.md", "RELEASE.md", "SECURITY.md", "CHANGELOG.md"]
            .map(|name| self.document(name))
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?;
        project.extend([self.folder("Decisions", "docs/decisions")?, self.folder("Notebook", "docs/notebook")?]);
        project.push(Nav::page(env!("CARGO_PKG_REPOSITORY")).titled("Repository"));
        Ok(vec![
            Nav::page("index.md").titled("Home"),
            Nav::Group("Guides".into(), self.guides()?),
            wavelets::write(root(), self.docs)?,
            playground::write(self.docs, &self.docs.join("wavelets/picture.png"))?,
            Nav::Group("Reference".into(), reference),
            Nav::Group("Performance".into(), performance),
            Nav::Group("Project".into(), project),
        ])
    }

    /// Splits README.md into the first page and a guide for each other section, and adds the other guides.
    fn guides(&self) -> Result<Vec<Nav>, String> {
        let readme = read(&root().join("README.md"))?;
        let mut sections = readme.split("\n## ");
        let mut front = format!("---\nhide: [navigation]\n---\n\n{}", sections.next().unwrap_or_default());
        let mut guides = Vec::new();
        for section in sections {
            let title = section.lines().next().unwrap_or_default();
            if matches!(title, "Install" | "More") {
                front += &format!("\n## {section}");
                continue;
            }
            let words: Vec<&str> = title.split_whitespace().map(|w| w.trim_matches(',')).collect();
            let page = format!("guides/{}.md", words.join("-").to_lowercase());
            guides.push(self.page("README.md", &page, &format!("# {section}"))?);
        }
        self.page("README.md", "index.md", &front)?;
        guides.extend([
            self.document("python/README.md")?.titled("The Python package"),
            self.document("examples/cuda/README.md")?,
            self.examples()?,
        ]);
        Ok(guides)
    }

    /// The examples of the Rust library, as one page.
    fn examples(&self) -> Result<Nav, String> {
        let mut text = "# Examples in Rust\n".to_owned();
        for path in listed(&root().join("runtime/examples"), "rs")? {
            let source = read(&path)?;
            let (about, code): (Vec<&str>, Vec<&str>) = source.lines().partition(|line| line.starts_with("//!"));
            let about: String = about.iter().map(|line| line.trim_start_matches("//!").to_owned() + "\n").collect();
            let name = path.file_stem().unwrap_or_default().display();
            text += &format!("\n## {name}\n\n{about}\n```rust\n{}\n```\n", code.join("\n").trim());
        }
        self.page("README.md", "guides/examples.md", &text)
    }

    /// The crates' own documentation, by rustdoc.
    fn crates(&self) -> Result<Nav, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        run(Command::new(cargo).current_dir(root()).args(["doc", "--workspace", "--no-deps", "--quiet"]))?;
        run(Command::new("cp").arg("-r").arg(target().join("doc")).arg(self.docs.join("rust")))?;
        Ok(Nav::page("rust/lifting/index.html").titled("Rust"))
    }

    /// The README.md of a folder and its other documents, by name.
    fn folder(&self, title: &str, folder: &str) -> Result<Nav, String> {
        let mut pages = vec![self.document(&format!("{folder}/README.md"))?];
        for path in listed(&root().join(folder), "md")? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name != "README.md" {
                pages.push(self.document(&format!("{folder}/{name}"))?);
            }
        }
        Ok(Nav::Group(title.into(), pages))
    }

    /// A document of the repository, as the page that [`links::page_of`] gives it.
    fn document(&self, source: &str) -> Result<Nav, String> {
        let page = links::page_of(source).ok_or_else(|| format!("{source}: not a document of the site"))?;
        self.page(source, &page, &read(&root().join(source))?)
    }

    /// A page of text from the document `source`, with its pictures.
    fn page(&self, source: &str, page: &str, text: &str) -> Result<Nav, String> {
        let document = links::rewrite(root(), source, page, text)?;
        for picture in &document.pictures {
            let bytes = std::fs::read(root().join(picture)).map_err(|e| format!("{picture}: {e}"))?;
            write(&self.docs.join(links::picture(picture)), bytes)?;
        }
        write(&self.docs.join(page), &document.text)?;
        Ok(Nav::page(page))
    }
}

/// Checks that no page loads anything from another host; returns the number of pages.
fn check(output: &Path) -> Result<usize, String> {
    let foreign = Regex::new(r#"<(?:link|script|img|iframe)\b[^>]*\b(?:href|src)="?(?:https?:)?//[^"> ]*"#)
        .expect("a valid pattern");
    let (mut pages, mut folders) = (0, vec![output.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))? {
            let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "html") {
                pages += 1;
                if let Some(found) = foreign.find(&read(&path)?) {
                    return Err(format!("{}: loads from another host: {}", path.display(), found.as_str()));
                }
            }
        }
    }
    Ok(pages)
}

/// Files of a folder with this extension, by name.
fn listed(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == extension));
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Writes a file, and its folder.
fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, contents));
    written.map_err(|e| format!("{}: {e}", path.display()))
}
