//! Documents, and their positions: lines from 0, and columns in units of UTF-16.

use lifting_dsl::Span;
use serde_json::{Value, json};

/// An open document.
#[derive(Debug, Default)]
pub struct Document {
    pub text: String,
    pub version: Option<i64>,
    /// First byte of each line.
    lines: Vec<usize>,
    /// Units of UTF-16 before each [`STRIDE`]th byte, so that long lines are not counted again for each position.
    units: Vec<usize>,
}

/// Bytes between two counts of units.
const STRIDE: usize = 256;

/// Units of UTF-16 that begin in these bytes of UTF-8. Characters of four bytes have two.
fn units(bytes: &[u8]) -> usize {
    bytes.iter().map(|byte| usize::from(*byte & 0xc0 != 0x80) + usize::from(*byte >= 0xf0)).sum()
}

impl Document {
    pub fn new(text: &str) -> Document {
        let mut document = Document { text: text.to_owned(), ..Document::default() };
        document.measure();
        document
    }

    /// Lines end with `\n`, `\r\n` or `\r`.
    fn measure(&mut self) {
        let bytes = self.text.as_bytes();
        self.units = vec![0];
        for chunk in bytes.chunks(STRIDE) {
            self.units.push(self.units[self.units.len() - 1] + units(chunk));
        }
        let ends = |i: usize| bytes[i] == b'\n' || bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n');
        self.lines = std::iter::once(0).chain((0..bytes.len()).filter(|i| ends(*i)).map(|i| i + 1)).collect();
    }

    /// Applies a change of a range, or of the whole text.
    pub fn change(&mut self, change: &Value) {
        let Some(new) = change["text"].as_str() else { return };
        let range = &change["range"];
        match (self.byte(&range["start"]), self.byte(&range["end"])) {
            (Some(start), Some(end)) => self.text.replace_range(start.min(end)..end.max(start), new),
            _ if range.is_null() => self.text = new.to_owned(),
            // A range without its ends is nothing to go by.
            _ => return,
        }
        self.measure();
    }

    /// Units of UTF-16 before a byte.
    fn units_before(&self, byte: usize) -> usize {
        let from = byte / STRIDE;
        self.units[from] + units(&self.text.as_bytes()[from * STRIDE..byte])
    }

    /// The byte of a position; beyond the end of a line, or of the text, that end. `None` for what is not a position.
    pub fn byte(&self, position: &Value) -> Option<usize> {
        let (line, character) = (position["line"].as_u64()?, position["character"].as_u64()?);
        let Some(&start) = usize::try_from(line).ok().and_then(|line| self.lines.get(line)) else {
            return Some(self.text.len());
        };
        let mut column = 0;
        for (i, c) in self.text[start..].char_indices() {
            column += c.len_utf16() as u64;
            // A position between surrogates is that of their character.
            if column > character || c == '\n' || c == '\r' {
                return Some(start + i);
            }
        }
        Some(self.text.len())
    }

    /// The position of a byte.
    pub fn position(&self, byte: usize) -> Value {
        let byte = (0..=byte.min(self.text.len())).rev().find(|i| self.text.is_char_boundary(*i)).unwrap_or(0);
        let line = self.lines.partition_point(|start| *start <= byte).saturating_sub(1);
        let column = self.units_before(byte) - self.units_before(self.lines[line]);
        json!({ "line": line, "character": column })
    }

    pub fn range(&self, span: Span) -> Value {
        json!({ "start": self.position(span.start), "end": self.position(span.end) })
    }

    /// The word around a byte; with hyphens if `hyphens` is set.
    pub fn word(&self, at: usize, hyphens: bool) -> Span {
        let belongs = |c: char| c == '_' || c.is_alphanumeric() || hyphens && c == '-';
        let before = self.text[..at].chars().rev().take_while(|c| belongs(*c)).map(char::len_utf8).sum::<usize>();
        let after = self.text[at..].chars().take_while(|c| belongs(*c)).map(char::len_utf8).sum::<usize>();
        Span::new(at - before, at + after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions() {
        let document = Document::new("a𝄞b\r\né\rlast\n");
        for (byte, line, character) in
            [(0, 0, 0), (1, 0, 1), (5, 0, 3), (6, 0, 4), (8, 1, 0), (10, 1, 1), (11, 2, 0), (16, 3, 0)]
        {
            let position = json!({ "line": line, "character": character });
            assert_eq!((document.position(byte), document.byte(&position)), (position.clone(), Some(byte)));
        }
        let long = Document::new(&"aé𝄞".repeat(999));
        assert_eq!(long.position(7 * 999 - 4), json!({ "line": 0, "character": 4 * 999 - 2 }));
        // Between surrogates, beyond a line, beyond the text, within a character.
        assert_eq!(document.byte(&json!({ "line": 0, "character": 2 })), Some(1));
        assert_eq!(document.byte(&json!({ "line": 0, "character": 99 })), Some(6));
        assert_eq!(document.byte(&json!({ "line": 1u64 << 40, "character": 0 })), Some(16));
        assert_eq!(document.position(3), json!({ "line": 0, "character": 1 }));
        assert_eq!(document.position(999), json!({ "line": 3, "character": 0 }));
        assert_eq!((document.byte(&json!({ "line": -1, "character": 0 })), document.byte(&Value::Null)), (None, None));
    }

    #[test]
    fn changes() {
        let mut document = Document::new("a𝄞b\nc");
        let range = |a: u32, b: u32, text: &str| {
            let [start, end] = [a, b].map(|character| json!({ "line": 0, "character": character }));
            json!({ "range": { "start": start, "end": end }, "text": text })
        };
        document.change(&range(1, 3, "xy"));
        assert_eq!(document.text, "axyb\nc");
        document.change(&range(3, 1, ""));
        assert_eq!(document.text, "ab\nc");
        document.change(&json!({ "text": "new\n" }));
        assert_eq!((document.text.as_str(), document.position(4)), ("new\n", json!({ "line": 1, "character": 0 })));
        document.change(&json!({}));
        document.change(&json!({ "range": { "start": null }, "text": "x" }));
        assert_eq!(document.text, "new\n");
    }
}
