//! Text with `@NAME@` placeholders.

use super::private::{CAPITALS, PREFIX};

/// Values of placeholders.
#[derive(Clone)]
pub struct Template {
    values: Vec<(&'static str, String)>,
}

impl Default for Template {
    /// A template with `@W@`, the file's prefix, and `@U@`, the prefix in capitals, as the complete file spells them.
    fn default() -> Template {
        Template { values: vec![("U", CAPITALS.into()), ("W", PREFIX.into())] }
    }
}

impl Template {
    /// Adds a placeholder.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Template {
        self.values.push((name, value.into()));
        self
    }

    /// The prefix in capitals.
    pub fn upper(&self) -> &str {
        &self.values[0].1
    }

    /// The text with every placeholder replaced.
    pub fn fill(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() * 2);
        let mut rest = text;
        while let Some(start) = rest.find('@') {
            let (before, after) = rest.split_at(start);
            out += before;
            let end = after[1..].find('@').map(|i| i + 1);
            let value =
                end.and_then(|end| self.values.iter().find(|(name, _)| *name == &after[1..end]).map(|v| (end, v)));
            let (end, (_, value)) = value.unwrap_or_else(|| panic!("unknown placeholder at {:.20}", after));
            out += value;
            rest = &after[end + 1..];
        }
        out + rest
    }
}
