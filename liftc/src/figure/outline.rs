//! Points and segments of outlines.

/// Point in a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Distance from the left edge.
    pub x: f64,
    /// Distance from the top edge.
    pub y: f64,
}

/// Segment of an outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Start of a subpath.
    Move(Point),
    /// Line to a point.
    Line(Point),
    /// Quadratic Bézier curve with a control point.
    Quad(Point, Point),
    /// Cubic Bézier curve with two control points.
    Cubic(Point, Point, Point),
    /// Line to the start of the subpath.
    Close,
}

impl Command {
    /// Translated by `by`.
    pub fn moved(self, by: Point) -> Command {
        self.map(|p| Point { x: p.x + by.x, y: p.y + by.y })
    }

    /// Rotated left by 90° about the origin.
    pub fn turned(self) -> Command {
        self.map(|p| Point { x: p.y, y: -p.x })
    }

    fn map(self, f: impl Fn(Point) -> Point) -> Command {
        match self {
            Command::Move(p) => Command::Move(f(p)),
            Command::Line(p) => Command::Line(f(p)),
            Command::Quad(a, p) => Command::Quad(f(a), f(p)),
            Command::Cubic(a, b, p) => Command::Cubic(f(a), f(b), f(p)),
            Command::Close => Command::Close,
        }
    }
}
