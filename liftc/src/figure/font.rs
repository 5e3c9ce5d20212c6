//! Text as outlines, from bundled fonts: figures look the same on every machine.

use super::glyphs::Face;
use super::outline::{Command, Point};
use std::sync::LazyLock;

static REGULAR: LazyLock<Face> = LazyLock::new(|| face(include_bytes!("../../fonts/Roboto-Regular.ttf")));
static ITALIC: LazyLock<Face> = LazyLock::new(|| face(include_bytes!("../../fonts/Roboto-Italic.ttf")));

fn face(bytes: &'static [u8]) -> Face {
    Face::new(bytes).expect("the fonts of this program are fonts")
}

/// Text laid out from the origin to the right along y = 0; y points down.
pub struct Line {
    /// Outlines of all letters.
    pub outline: Vec<Command>,
    /// Position of the next letter.
    pub advance: f64,
}

/// Lays out a line. `*…*` is italic; `_x` and `^x` lower and raise the next character or `{…}` group. A `\\` escapes
/// the next character.
pub fn lay_out(text: &str, size: f64) -> Line {
    let mut line = Line { outline: Vec::new(), advance: 0.0 };
    let (mut italic, mut shift, mut group) = (false, None, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek().is_some() => {
                let (size, y) = placed(shift, size);
                letter(&mut line, if italic { &ITALIC } else { &REGULAR }, chars.next().unwrap_or(c), size, y);
            }
            '*' => italic = !italic,
            '_' | '^' if shift.is_none() && chars.peek().is_some() => {
                shift = Some(if c == '_' { 0.18 } else { -0.38 });
                group = chars.next_if_eq(&'{').is_some();
            }
            '}' if group => (shift, group) = (None, false),
            _ => {
                let (size, y) = placed(shift, size);
                letter(&mut line, if italic { &ITALIC } else { &REGULAR }, c, size, y);
                if !group {
                    shift = None;
                }
            }
        }
    }
    line
}

/// Size of a lowered or raised letter, and its shift.
fn placed(shift: Option<f64>, size: f64) -> (f64, f64) {
    shift.map_or((size, 0.0), |by| (0.7 * size, by * size))
}

/// Width of a line.
pub fn advance(text: &str, size: f64) -> f64 {
    lay_out(text, size).advance
}

/// Text with all markup escaped.
pub fn literal(text: &str) -> String {
    let mut drawn = String::new();
    for c in text.chars() {
        if "*_^{}\\".contains(c) {
            drawn.push('\\');
        }
        drawn.push(c);
    }
    drawn
}

/// Letters of a line, without markup.
pub fn letters(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::new();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.extend(chars.next()),
            '*' | '_' | '^' | '{' | '}' => {}
            _ => plain.push(c),
        }
    }
    plain
}

/// Breaks a line between words into parts that fit `width`; parts after the first are indented by `indent`.
pub fn broken(text: &str, size: f64, width: f64, indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if line.is_empty() {
            line = word.to_owned();
            continue;
        }
        let longer = format!("{line} {word}");
        if advance(&longer, size) > width && line != *indent {
            lines.push(std::mem::replace(&mut line, format!("{indent}{word}")));
        } else {
            line = longer;
        }
    }
    lines.push(line);
    lines
}

fn letter(line: &mut Line, face: &Face, c: char, size: f64, y: f64) {
    // Missing glyphs are drawn as the font's box.
    let glyph = face.glyph(c).unwrap_or_default();
    let scale = size / face.units_per_em;
    let left = line.advance;
    let place = |[dx, dy]: [f64; 2]| Point { x: left + scale * dx, y: y - scale * dy };
    face.outline(glyph, &place, &mut line.outline);
    line.advance += face.advance(glyph) * scale;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_of_a_figure_has_an_outline() {
        for c in "abcxyzABCXYZ0123456789+-−×·/()[]=|∞≤≥≈αβγδπωφψτ…".chars() {
            for face in [&REGULAR, &ITALIC] {
                assert!(face.glyph(c).is_some(), "{c}");
            }
        }
        let plain = lay_out("ab", 10.0);
        assert!(plain.advance > 8.0 && plain.advance < 16.0, "{}", plain.advance);
        assert!(lay_out("*ab*", 10.0).outline != plain.outline);
        assert!(lay_out("a_b", 10.0).advance < plain.advance);
        assert_eq!(lay_out("a_{bc}d", 10.0).advance, lay_out("a_b", 10.0).advance + lay_out("_cd", 10.0).advance);
        assert_eq!(lay_out("", 10.0).advance, 0.0);
        assert!(lay_out("_", 10.0).advance > 0.0);
    }

    /// Contours are closed, within the line, and of the letter's form.
    #[test]
    fn outlines_are_those_of_the_letters() {
        let box_of = |text: &str| {
            let line = lay_out(text, 2048.0);
            let points = line.outline.iter().flat_map(|command| match *command {
                Command::Move(p) | Command::Line(p) => vec![p],
                Command::Quad(a, p) => vec![a, p],
                Command::Cubic(a, b, p) => vec![a, b, p],
                Command::Close => vec![],
            });
            let closed = line.outline.iter().filter(|command| **command == Command::Close).count();
            let none = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
            let sides = points.fold(none, |[l, t, r, b], p| [l.min(p.x), t.min(p.y), r.max(p.x), b.max(p.y)]);
            (closed, sides, line.advance)
        };
        // Roboto's own numbers, in 2048 units of its size: contours, box with y down, advance.
        assert_eq!(box_of("l"), (1, [156.0, -1536.0, 342.0, 0.0], 498.0));
        assert_eq!(box_of("B").0, 3);
        assert_eq!(box_of("8").0, 3);
        // Composite: a letter and its accent.
        let (plain, composite) = (box_of("o"), box_of("ö"));
        assert_eq!((composite.0, composite.2), (plain.0 + 2, plain.2));
        assert_eq!(composite.1[3], plain.1[3]);
        assert!(composite.1[1] < plain.1[1]);
        assert_eq!(box_of(" ").0, 0);
    }

    #[test]
    fn names_are_drawn_verbatim() {
        let name = "s_transform_2_10";
        let drawn = literal(name);
        assert_eq!(letters(&drawn), name);
        assert_eq!(letters("*P*_{12}"), "P12");
        let each: f64 = name.chars().map(|c| advance(&literal(&c.to_string()), 10.0)).sum();
        assert!((advance(&drawn, 10.0) - each).abs() < 1e-9);
        assert!(advance(name, 10.0) < each);
    }

    #[test]
    fn long_lines_are_broken() {
        let text = "one two three four";
        assert_eq!(broken(text, 10.0, 1e3, "  "), [text]);
        let lines = broken(text, 10.0, advance("one two", 10.0) + 0.1, "  ");
        assert_eq!(lines[0], "one two");
        assert_eq!(lines.iter().map(|l| l.trim()).collect::<Vec<_>>().join(" "), text);
        assert_eq!(broken(text, 10.0, 0.0, "").len(), 4);
    }
}
