//! Source excerpts of diagnostics: very long lines are shortened to the text near labels.

use lifting_dsl::{Diagnostic, Span};
use miette::{MietteError, MietteSpanContents, NamedSource, SourceCode, SourceSpan, SpanContents};
use std::ops::Range;

/// Bytes of the longest line that is shown whole.
const LONG: usize = 240;
/// Bytes of a longer line shown on either side of the ends of a label.
const NEAR: usize = 60;
const CUT: &str = "…";

/// Source text with shortened long lines.
#[derive(Debug)]
pub struct Excerpt {
    text: NamedSource<String>,
    /// Kept pieces: byte ranges of the source, and their offsets in the excerpt.
    kept: Vec<(Range<usize>, usize)>,
    /// Line and column of the primary label in the source.
    line: usize,
    column: usize,
}

impl Excerpt {
    /// Excerpt for one diagnostic.
    pub fn new(name: &str, source: &str, diagnostic: &Diagnostic) -> Excerpt {
        let places: Vec<usize> = diagnostic.labels.iter().flat_map(|l| [l.span.start, l.span.end]).collect();
        let (mut text, mut kept): (String, Vec<(Range<usize>, usize)>) = (String::new(), Vec::new());
        let mut from = 0;
        for line in source.split_inclusive('\n') {
            let whole = from..from + line.len();
            from = whole.end;
            if line.len() <= LONG {
                kept.push((whole, text.len()));
                text += line;
                continue;
            }
            let end = whole.end - usize::from(line.ends_with('\n'));
            let near = places.iter().filter(|p| (whole.start..=end).contains(p));
            let mut pieces: Vec<Range<usize>> = near.map(|p| p.saturating_sub(NEAR)..p + NEAR).collect();
            if pieces.is_empty() {
                pieces.push(whole.start..whole.start + NEAR);
            }
            pieces.sort_by_key(|piece| piece.start);
            let mut at = whole.start;
            for piece in pieces {
                let start = (at..=piece.start.clamp(at, end)).rev().find(|p| source.is_char_boundary(*p)).unwrap_or(at);
                let stop = (piece.end.clamp(start, end)..=end).find(|p| source.is_char_boundary(*p)).unwrap_or(end);
                if start > at {
                    text += CUT;
                }
                kept.push((start..stop, text.len()));
                text += &source[start..stop];
                at = stop;
            }
            if at < end {
                text += CUT;
            }
            text += &source[end..whole.end];
        }
        kept.push((source.len()..source.len(), text.len()));
        let Span { start, .. } = diagnostic.span();
        let before = source.get(..start).unwrap_or("");
        let line = before.matches('\n').count();
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        Excerpt { text: NamedSource::new(name, text), kept, line, column }
    }

    /// Offset in the excerpt of an offset in the source.
    pub fn place(&self, at: usize) -> usize {
        let piece = self.kept.iter().find(|(piece, _)| at <= piece.end);
        piece.map_or(0, |(piece, start)| start + at.saturating_sub(piece.start))
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let contents = self.text.read_span(span, before, after)?;
        if before + after > 0 {
            return Ok(contents);
        }
        // Without context lines, miette asks for the location in the heading.
        Ok(Box::new(MietteSpanContents::new_named(
            self.text.name().to_owned(),
            contents.data(),
            *contents.span(),
            self.line,
            self.column,
            contents.line_count(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(source: &str, spans: &[Span]) -> (String, Vec<String>) {
        let mut d = Diagnostic::error("L0101", "", spans[0], "");
        for span in &spans[1..] {
            d = d.note(*span, "");
        }
        let excerpt = Excerpt::new("x.lift", source, &d);
        let text = excerpt.text.inner().clone();
        let shown = spans.iter().map(|s| text[excerpt.place(s.start)..excerpt.place(s.end)].to_owned()).collect();
        (text, shown)
    }

    #[test]
    fn short_lines_are_whole() {
        let source = "wavelet w {\n  odd += x;\n}\n";
        assert_eq!(about(source, &[Span::new(21, 22)]), (source.to_owned(), vec!["x".to_owned()]));
    }

    #[test]
    fn long_lines_are_cut_around_labels() {
        let source = format!("a\n{}HERE{}THERE{}\nz", "é".repeat(3000), "1, ".repeat(3000), "ü".repeat(3000));
        let at = |word: &str| source.find(word).map(|p| Span::new(p, p + word.len())).unwrap();
        let (text, shown) =
            about(&source, &[at("HERE"), at("THERE"), Span::new(0, 1), Span::new(source.len() - 1, source.len())]);
        assert_eq!(shown, ["HERE", "THERE", "a", "z"]);
        assert!(text.len() < 700 && text.lines().count() == 3, "{text}");
        let (text, shown) = about(&source, &[at("HERE").to(at("THERE"))]);
        assert!(text.len() < 500 && shown[0].starts_with("HERE1") && shown[0].ends_with("THERE"), "{shown:?}");
        assert!(about(&source, &[Span::new(0, 1)]).0.len() < 100);
    }
}
