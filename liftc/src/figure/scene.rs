//! Figures as shapes, in points (1/72 inch), y pointing down; written as SVG.

use super::outline::{Command, Point};
use super::{PAPER, font};
use std::fmt::Write;

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// Anchor point of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchor {
    /// Start.
    Start,
    /// Middle.
    Middle,
    /// End.
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Outline {
    pub(super) outline: Vec<Command>,
    pub(super) fill: Option<Colour>,
    /// Colour, width and length of dashes; 0 for a solid line.
    pub(super) stroke: Option<(Colour, f64, f64)>,
    /// Text or meaning for assistive technology, programs and tooltips.
    said: Option<Said>,
}

#[derive(Clone, Debug)]
enum Said {
    /// Text drawn.
    Text(String),
    /// Meaning of a shape.
    Meaning(String),
}

/// Figure.
#[derive(Clone, Debug)]
pub struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    title: String,
    pub(super) shapes: Vec<Outline>,
}

impl Scene {
    /// Empty figure; its title is for assistive technology.
    pub fn new(width: f64, height: f64, title: &str) -> Scene {
        Scene { width, height, title: title.to_owned(), shapes: Vec::new() }
    }

    /// Draws a line through points.
    pub fn line(&mut self, points: &[Point], colour: Colour, width: f64) {
        self.dashed(points, colour, width, 0.0);
    }

    /// Draws a dashed line through points.
    pub fn dashed(&mut self, points: &[Point], colour: Colour, width: f64, dash: f64) {
        let rest = points.iter().skip(1).map(|p| Command::Line(*p));
        let outline: Vec<Command> = points.first().map(|p| Command::Move(*p)).into_iter().chain(rest).collect();
        if outline.len() > 1 {
            self.shapes.push(Outline { outline, fill: None, stroke: Some((colour, width, dash)), said: None });
        }
    }

    /// Fills and outlines a polygon.
    pub fn polygon(&mut self, points: &[Point], fill: Colour, stroke: Option<(Colour, f64)>) {
        let rest = points.iter().skip(1).map(|p| Command::Line(*p)).chain([Command::Close]);
        let outline = points.first().map(|p| Command::Move(*p)).into_iter().chain(rest).collect();
        self.shapes.push(Outline { outline, fill: Some(fill), stroke: stroke.map(|(c, w)| (c, w, 0.0)), said: None });
    }

    /// Draws a rectangle around a centre.
    pub fn rectangle(&mut self, centre: Point, width: f64, height: f64, fill: Colour, stroke: Option<(Colour, f64)>) {
        let corner = |sx: f64, sy: f64| Point { x: centre.x + sx * width / 2.0, y: centre.y + sy * height / 2.0 };
        self.polygon(&[corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)], fill, stroke);
    }

    /// Draws a circle.
    pub fn circle(&mut self, centre: Point, radius: f64, fill: Colour, stroke: Option<(Colour, f64)>) {
        self.circles(&[centre], radius, Some(fill), stroke);
    }

    /// Draws circles of one kind as one shape.
    pub fn circles(&mut self, centres: &[Point], radius: f64, fill: Option<Colour>, stroke: Option<(Colour, f64)>) {
        // Four cubics, within 3·10⁻⁴ of the radius of a circle.
        let (r, k) = (radius, 0.5523 * radius);
        let circle = |centre: &Point| {
            let at = |x: f64, y: f64| Point { x: centre.x + x, y: centre.y + y };
            [
                Command::Move(at(r, 0.0)),
                Command::Cubic(at(r, k), at(k, r), at(0.0, r)),
                Command::Cubic(at(-k, r), at(-r, k), at(-r, 0.0)),
                Command::Cubic(at(-r, -k), at(-k, -r), at(0.0, -r)),
                Command::Cubic(at(k, -r), at(r, -k), at(r, 0.0)),
                Command::Close,
            ]
        };
        let outline = centres.iter().flat_map(circle).collect();
        self.shapes.push(Outline { outline, fill, stroke: stroke.map(|(c, w)| (c, w, 0.0)), said: None });
    }

    /// Draws separate segments as one shape.
    pub fn segments(&mut self, ends: &[[Point; 2]], colour: Colour, width: f64) {
        let outline = ends.iter().flat_map(|[a, b]| [Command::Move(*a), Command::Line(*b)]).collect();
        self.shapes.push(Outline { outline, fill: None, stroke: Some((colour, width, 0.0)), said: None });
    }

    /// Sets the meaning of the last shape.
    pub fn meaning(&mut self, text: impl Into<String>) {
        if let Some(shape) = self.shapes.last_mut() {
            shape.said = Some(Said::Meaning(text.into()));
        }
    }

    /// Draws an arrow head at `tip`, pointing along (dx, dy).
    pub fn arrow_head(&mut self, tip: Point, dx: f64, dy: f64, size: f64, colour: Colour) {
        let at = |along: f64, across: f64| Point {
            x: tip.x - size * (along * dx - across * dy),
            y: tip.y - size * (along * dy + across * dx),
        };
        self.polygon(&[tip, at(1.0, 0.38), at(0.75, 0.0), at(1.0, -0.38)], colour, None);
    }

    /// Draws a line of text on a base line; see [`font::lay_out`].
    pub fn text(&mut self, text: &str, at: Point, size: f64, anchor: Anchor, colour: Colour) {
        let line = font::lay_out(text, size);
        let by = Point { x: at.x - line.advance * part(anchor), y: at.y };
        self.outlines(text, line.outline.into_iter().map(|c| c.moved(by)), colour);
    }

    /// Draws a line of text upwards.
    pub fn upward_text(&mut self, text: &str, at: Point, size: f64, anchor: Anchor, colour: Colour) {
        let line = font::lay_out(text, size);
        let by = Point { x: at.x, y: at.y + line.advance * part(anchor) };
        self.outlines(text, line.outline.into_iter().map(|c| c.turned().moved(by)), colour);
    }

    fn outlines(&mut self, text: &str, outline: impl Iterator<Item = Command>, colour: Colour) {
        let said = Some(Said::Text(font::letters(text)));
        self.shapes.push(Outline { outline: outline.collect(), fill: Some(colour), stroke: None, said });
    }

    /// SVG at its intended print size.
    pub fn svg(&self) -> String {
        let (w, h) = (number(self.width), number(self.height));
        let title = escaped(&self.title);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}pt\" height=\"{h}pt\" viewBox=\"0 0 {w} {h}\">\n\
             <title>{title}</title>\n<rect width=\"{w}\" height=\"{h}\" fill=\"{}\"/>\n",
            hex(PAPER)
        );
        for shape in &self.shapes {
            let fill = shape.fill.map_or_else(|| "none".into(), hex);
            let _ = write!(svg, "<path fill=\"{fill}\"");
            if let Some(Said::Text(text)) = &shape.said {
                let _ = write!(svg, " role=\"img\" aria-label=\"{}\"", escaped(text));
            }
            if let Some((colour, width, dash)) = shape.stroke {
                let _ = write!(svg, " stroke=\"{}\" stroke-width=\"{}\"", hex(colour), number(width));
                let _ = write!(svg, " stroke-linejoin=\"round\"");
                if dash > 0.0 {
                    let _ = write!(svg, " stroke-dasharray=\"{}\"", number(dash));
                }
            }
            svg += " d=\"";
            for command in &shape.outline {
                let pair = |p: &Point| format!("{} {}", number(p.x), number(p.y));
                svg += &match command {
                    Command::Move(p) => format!("M{}", pair(p)),
                    Command::Line(p) => format!("L{}", pair(p)),
                    Command::Quad(a, p) => format!("Q{} {}", pair(a), pair(p)),
                    Command::Cubic(a, b, p) => format!("C{} {} {}", pair(a), pair(b), pair(p)),
                    Command::Close => "Z".into(),
                };
            }
            svg += "\"";
            svg += &match &shape.said {
                Some(Said::Meaning(text)) => format!("><title>{}</title></path>\n", escaped(text)),
                _ => "/>\n".into(),
            };
        }
        svg + "</svg>\n"
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn part(anchor: Anchor) -> f64 {
    match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5,
        Anchor::End => 1.0,
    }
}

fn hex(Colour(r, g, b): Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Hundredths of a point, without trailing zeros.
fn number(x: f64) -> String {
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.to_owned() }
}
