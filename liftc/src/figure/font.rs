//! Text as outlines, from bundled fonts: figures look the same on every machine.

use super::scene::{Command, Point};
use std::sync::LazyLock;
use ttf_parser::{Face, OutlineBuilder};

static REGULAR: LazyLock<Face> = LazyLock::new(|| face(include_bytes!("../../fonts/Roboto-Regular.ttf")));
static ITALIC: LazyLock<Face> = LazyLock::new(|| face(include_bytes!("../../fonts/Roboto-Italic.ttf")));

fn face(bytes: &'static [u8]) -> Face<'static> {
    Face::parse(bytes, 0).expect("the fonts of this program are fonts")
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
    let glyph = face.glyph_index(c).unwrap_or_default();
    let scale = size / f64::from(face.units_per_em());
    let mut outline = Outline { commands: &mut line.outline, scale, at: Point { x: line.advance, y } };
    face.outline_glyph(glyph, &mut outline);
    line.advance += f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
}

struct Outline<'a> {
    commands: &'a mut Vec<Command>,
    scale: f64,
    at: Point,
}

impl Outline<'_> {
    fn point(&self, x: f32, y: f32) -> Point {
        Point { x: self.at.x + self.scale * f64::from(x), y: self.at.y - self.scale * f64::from(y) }
    }
}

impl OutlineBuilder for Outline<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let to = self.point(x, y);
        self.commands.push(Command::Move(to));
    }
    fn line_to(&mut self, x: f32, y: f32) {
        let to = self.point(x, y);
        self.commands.push(Command::Line(to));
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (by, to) = (self.point(x1, y1), self.point(x, y));
        self.commands.push(Command::Quad(by, to));
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (a, b, to) = (self.point(x1, y1), self.point(x2, y2), self.point(x, y));
        self.commands.push(Command::Cubic(a, b, to));
    }
    fn close(&mut self) {
        self.commands.push(Command::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_of_a_figure_has_an_outline() {
        for c in "abcxyzABCXYZ0123456789+-−×·/()[]=|∞≤≥≈αβγδπωφψτ…".chars() {
            for face in [&REGULAR, &ITALIC] {
                assert!(face.glyph_index(c).is_some(), "{c}");
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
