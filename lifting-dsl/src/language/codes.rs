//! Codes of errors and warnings: cause, cure and, if short, an example.
//!
//! The source is `codes.md` in this folder. It is the last chapter of the language reference, `docs/language.md`, and
//! `liftc explain L0301` prints one of its entries. A code keeps its meaning from version to version.

/// The index of codes, in Markdown: `### CODE: title`, cause, cure, example.
pub const INDEX: &str = include_str!("codes.md");

/// The entry of one code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The code, e.g. `L0301`.
    pub code: &'static str,
    /// Its meaning: "a step that reads the phase that it updates".
    pub title: &'static str,
    /// Cause, cure and optionally an example, in Markdown.
    pub text: &'static str,
}

/// All codes, in order.
pub fn entries() -> impl Iterator<Item = Entry> {
    INDEX.split("### ").skip(1).filter_map(|entry| {
        let (heading, text) = entry.split_once('\n')?;
        let (code, title) = heading.split_once(": ")?;
        Some(Entry { code, title, text: text.trim() })
    })
}

/// The entry of one code.
///
/// ```
/// let entry = lifting_dsl::codes::entry("L0301").unwrap();
/// assert_eq!(entry.title, "a step that reads the phase that it updates");
/// assert!(entry.text.contains("Cure:"));
/// ```
pub fn entry(code: &str) -> Option<Entry> {
    entries().find(|entry| entry.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_have_cause_and_cure() {
        let all: Vec<Entry> = entries().collect();
        assert_eq!(all.len(), INDEX.matches("### ").count());
        assert!(all.windows(2).all(|w| w[0].code < w[1].code));
        for Entry { code, text, .. } in all {
            assert!(code.len() == 5 && code.starts_with('L'), "{code}");
            assert!(text.starts_with("Cause: ") && text.contains("\n\nCure: "), "{code}");
        }
    }
}
