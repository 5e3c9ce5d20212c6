//! Documents as pages: their paths on the site, their links and their code fences.

use regex::{Captures, Regex};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Folder with the sources of files that are not pages, on the web.
pub const SOURCES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/tree/main");

/// Code between backticks, or the target of a link, or the definition of one.
static LINK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"`[^`\n]+`|(\]\(|^\[[^\]]+\]: )([^)\s]+)").expect("a valid pattern"));

/// A document as a page.
#[derive(Debug)]
pub struct Document {
    /// Text with the links of the site.
    pub text: String,
    /// Pictures that the document shows, as paths in the repository.
    pub pictures: Vec<String>,
}

/// The page of a document in the repository, if it has one. A folder's page is that of its README.md.
pub fn page_of(source: &str) -> Option<String> {
    let page = match source {
        "README.md" => "index.md".into(),
        "python/README.md" => "guides/python.md".into(),
        "examples/cuda/README.md" => "guides/cuda.md".into(),
        _ => match source.strip_prefix("docs/") {
            Some(path) => path.replace("README.md", "index.md"),
            None => format!("project/{}", source.to_lowercase()),
        },
    };
    let is_root = !source.contains('/') && source.ends_with(".md");
    (page.ends_with(".md") && (is_root || !page.starts_with("project/"))).then_some(page)
}

/// The path on the site of a picture in the repository.
pub fn picture(path: &str) -> String {
    format!("pictures/{}", path.trim_start_matches("docs/"))
}

/// Rewrites the document `source` of the repository at `root` for a page: links and code fences.
///
/// # Errors
/// A link whose target does not exist.
pub fn rewrite(root: &Path, source: &str, page: &str, text: &str) -> Result<Document, String> {
    let mut document = Document { text: String::new(), pictures: Vec::new() };
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let opened = fence;
        if let Some(info) = line.strip_prefix("```") {
            fence = if fence.is_none() { Some(info) } else { None };
            // Highlighters know one word only. The language's text resembles Rust.
            let word = info.split([' ', ',']).next().unwrap_or_default();
            document.text += &format!("```{}\n", if word == "lifting" { "rust" } else { word });
            continue;
        }
        match opened {
            // Lines that rustdoc hides.
            Some(info) if info.starts_with("rust") && line.starts_with("# ") => continue,
            Some(_) => document.text += line,
            None => {
                let mut error = None;
                document.text += &LINK.replace_all(line, |found: &Captures| match (found.get(1), found.get(2)) {
                    (Some(head), Some(target)) => {
                        let to = resolve(root, source, page, target.as_str(), &mut document.pictures);
                        let to = to.unwrap_or_else(|message| error.insert(message).clone());
                        format!("{}{to}", head.as_str())
                    }
                    _ => found[0].to_owned(),
                });
                if let Some(message) = error {
                    return Err(message);
                }
            }
        }
        document.text.push('\n');
    }
    Ok(document)
}

/// The target of a link on a page: another page, a picture on the site, or a source file on the web.
fn resolve(root: &Path, source: &str, page: &str, link: &str, pictures: &mut Vec<String>) -> Result<String, String> {
    if link.starts_with('#') || link.contains("://") || link.starts_with("mailto:") {
        return Ok(link.into());
    }
    let (file, anchor) = link.find('#').map_or((link, ""), |at| link.split_at(at));
    let mut path = join(Path::new(source).parent().unwrap_or(Path::new("")), file);
    if !root.join(&path).exists() {
        return Err(format!("{source}: the link to {link} has no target"));
    }
    let front = format!("{path}/README.md");
    if page_of(&front).is_some() && root.join(&front).exists() {
        path = front;
    }
    if let Some(target) = page_of(&path) {
        return Ok(relative(page, &target) + anchor);
    }
    if path.ends_with(".svg") || path.ends_with(".png") {
        pictures.push(path.clone());
        return Ok(relative(page, &picture(&path)));
    }
    Ok(format!("{SOURCES}/{path}{anchor}"))
}

/// A path below a folder of the repository, without `..`.
fn join(folder: &Path, path: &str) -> String {
    let mut joined = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            std::path::Component::ParentDir => drop(joined.pop()),
            part => joined.push(part),
        }
    }
    joined.to_string_lossy().into_owned()
}

/// The relative link from one page to another.
pub fn relative(from: &str, to: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (from.split('/').collect(), to.split('/').collect());
    let shared = from.iter().zip(&to[..to.len() - 1]).take_while(|(a, b)| a == b).count();
    "../".repeat(from.len() - 1 - shared) + &to[shared..].join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::root;

    fn rewritten(source: &str, text: &str) -> String {
        rewrite(root(), source, &page_of(source).unwrap(), text).unwrap().text
    }

    #[test]
    fn documents_have_pages() {
        for (source, page) in [
            ("README.md", Some("index.md")),
            ("docs/language.md", Some("language.md")),
            ("docs/schedules/README.md", Some("schedules/index.md")),
            ("CHANGELOG.md", Some("project/changelog.md")),
            ("codec/README.md", None),
            ("docs/figures/gpu-plans.json", None),
        ] {
            assert_eq!(page_of(source).as_deref(), page, "{source}");
        }
    }

    #[test]
    fn links_lead_to_pages_or_sources() {
        for (source, link, target) in [
            ("README.md", "docs/language.md#steps", "language.md#steps"),
            ("README.md", "docs/schedules", "schedules/index.md"),
            ("docs/schedules/tile.md", "../performance.md", "../performance.md"),
            ("docs/schedules/tile.md", "../../README.md", "../index.md"),
            ("docs/schedules/tile.md", "warp.md", "warp.md"),
            ("CONTRIBUTING.md", "docs/curves/moon.svg", "../pictures/curves/moon.svg"),
            ("docs/language.md", "#steps", "#steps"),
            ("docs/language.md", "https://example.org/a.md", "https://example.org/a.md"),
            ("docs/format.md", "../codec/src", &format!("{SOURCES}/codec/src")),
            ("docs/format.md", "../LICENSE-MIT", &format!("{SOURCES}/LICENSE-MIT")),
        ] {
            assert_eq!(rewritten(source, &format!("a [b]({link}).")), format!("a [b]({target}).\n"));
        }
        assert_eq!(rewritten("docs/format.md", "[`x`]: language.md"), "[`x`]: language.md\n");
        let dead = rewrite(root(), "README.md", "index.md", "[a](nothing.md)").unwrap_err();
        assert_eq!(dead, "README.md: the link to nothing.md has no target");
    }

    #[test]
    fn code_is_kept() {
        assert_eq!(rewritten("README.md", "`[a](b)`"), "`[a](b)`\n");
        let fenced = "```rust,no_run\n[a](b)\n# Ok::<(), ()>(())\n#[test]\n```\n";
        assert_eq!(rewritten("README.md", fenced), "```rust\n[a](b)\n#[test]\n```\n");
        assert_eq!(rewritten("README.md", "```lifting L0001\n# a\n```\n"), "```rust\n# a\n```\n");
    }

    #[test]
    fn pictures_are_collected() {
        let document = rewrite(root(), "README.md", "index.md", "![a](docs/images/pyramid.png)").unwrap();
        assert_eq!(document.text, "![a](pictures/images/pyramid.png)\n");
        assert_eq!(document.pictures, ["docs/images/pyramid.png"]);
    }
}
