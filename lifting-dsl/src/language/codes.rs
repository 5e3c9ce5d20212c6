//! The codes of errors and warnings, with cause, cure and, where it is short, a text that gives them.
//!
//! `codes.md` beside this file is the one source. The language reference, `docs/language.md`, has it as its last
//! chapter, and `liftc explain L0301` prints an entry of it. A code keeps its meaning from version to version.

/// The index of codes, in Markdown: `### CODE: what it stands for`, its cause, its cure, and an example.
pub const INDEX: &str = include_str!("codes.md");

/// What is known of one code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As in `L0301`.
    pub code: &'static str,
    /// What it stands for: "a step that reads the phase that it updates".
    pub title: &'static str,
    /// Cause, cure and perhaps an example, in Markdown.
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
