//! Text as outlines, from fonts that come with the program: figures look the same on every machine.

use super::scene::{Command, Point};
use std::sync::LazyLock;
use ttf_parser::{Face, OutlineBuilder};

static REGULAR: LazyLock<Face> = LazyLock::new(|| face(include_bytes!("../../fonts/Roboto-Regular.ttf")));
static ITALIC: LazyLock<Face> = LazyLock::new(|| face(include_bytes!("../../fonts/Roboto-Italic.ttf")));

fn face(bytes: &'static [u8]) -> Face<'static> {
    Face::parse(bytes, 0).expect("the fonts of this program are fonts")
}

/// Text laid out from the origin rightwards along y = 0, y pointing down.
pub struct Line {
    /// The outlines of all letters.
    pub outline: Vec<Command>,
    /// Where the next letter would stand.
    pub advance: f64,
}

/// Lays out a line. `*…*` is italic, `_x` and `^x` lower and raise the next character or the `{…}` after them.
pub fn lay_out(text: &str, size: f64) -> Line {
    let mut line = Line { outline: Vec::new(), advance: 0.0 };
    let (mut italic, mut shift, mut group) = (false, None, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '*' => italic = !italic,
            '_' | '^' if shift.is_none() && chars.peek().is_some() => {
                shift = Some(if c == '_' { 0.18 } else { -0.38 });
                group = chars.next_if_eq(&'{').is_some();
            }
            '}' if group => (shift, group) = (None, false),
            _ => {
                let (size, y) = shift.map_or((size, 0.0), |by: f64| (0.7 * size, by * size));
                letter(&mut line, if italic { &ITALIC } else { &REGULAR }, c, size, y);
                if !group {
                    shift = None;
                }
            }
        }
    }
    line
}

fn letter(line: &mut Line, face: &Face, c: char, size: f64, y: f64) {
    // What the fonts do not have is drawn as their box.
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
        for c in "abcxyzABCXYZ0123456789+-−×·/()[]=|∞≤≥≈αβγδπωφψτ".chars() {
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
}
