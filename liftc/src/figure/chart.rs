//! Charts: curves in a frame with ticks and labels.

use super::{Anchor, CURVE, Colour, FAINT, HAIR, INK, LABEL, NUMBER, PEN, Point, Scene, advance};

/// Space to the left of a chart's area, for numbers and label.
pub const LEFT: f64 = 29.0;
/// Space to the right of an area.
pub const RIGHT: f64 = 5.0;
/// Space below an area for numbers, label and the gap to the next part.
pub const BELOW: f64 = 28.0;

/// Rectangle to draw into, in points.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// Style of a curve's points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Style {
    /// Line through the points.
    Line,
    /// Dashed line, for prints without colours.
    Dashed,
    /// Stem from zero to each point.
    Stems,
    /// Stem with an open circle.
    OpenStems,
}

/// Curve.
pub struct Curve {
    /// Points, by ascending x.
    pub points: Vec<(f64, f64)>,
    /// Colour.
    pub colour: Colour,
    /// Style.
    pub style: Style,
    /// Name in the legend; empty for none.
    pub name: &'static str,
}

/// Set of curves over one axis.
pub struct Chart {
    /// Label of the horizontal axis.
    pub x_label: &'static str,
    /// Label of the vertical axis.
    pub y_label: &'static str,
    /// Range of the horizontal axis.
    pub x: (f64, f64),
    /// Lowest and highest visible value.
    pub y: (f64, f64),
    /// Positions and texts of ticks; empty for whole numbers.
    pub ticks: Vec<(f64, &'static str)>,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Optional note at the top.
    pub note: Option<String>,
}

impl Chart {
    /// Draws the chart; numbers and labels are outside the area.
    pub fn draw(&self, scene: &mut Scene, area: Area) {
        let (x0, x1) = self.x;
        let steps = ticks(self.y.0, self.y.1, 4);
        // Slightly more than the data, so that no curve runs along the frame.
        let margin = 0.06 * (self.y.1 - self.y.0).max(1e-12);
        let (y0, y1) = (self.y.0 - margin, self.y.1 + margin);
        let place = |x: f64, y: f64| Point {
            x: area.x + area.width * (x - x0) / (x1 - x0),
            y: area.y + area.height * (1.0 - (y - y0) / (y1 - y0)),
        };
        let bottom = area.y + area.height;
        for (y, text) in &steps {
            let at = place(x0, *y);
            scene.line(&[at, place(x1, *y)], FAINT, HAIR);
            scene.text(text, Point { x: at.x - 3.5, y: at.y + 0.35 * NUMBER }, NUMBER, Anchor::End, INK);
        }
        let named = self.ticks.iter().map(|(x, text)| (*x, (*text).to_owned()));
        let whole = if self.ticks.is_empty() { ticks(x0, x1, 5) } else { Vec::new() };
        for (x, text) in named.chain(whole) {
            let at = Point { y: bottom, ..place(x, y0) };
            scene.line(&[Point { y: area.y, ..at }, at], FAINT, HAIR);
            scene.line(&[at, Point { y: bottom + 2.0, ..at }], INK, PEN);
            scene.text(&text, Point { y: bottom + 3.0 + NUMBER, ..at }, NUMBER, Anchor::Middle, INK);
        }
        for curve in &self.curves {
            let points: Vec<Point> = curve.points.iter().map(|(x, y)| place(*x, *y)).collect();
            curve.draw(scene, &points, place(x0, 0.0).y);
        }
        let frame = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)].map(|(x, y)| place(x, y));
        scene.line(&frame, INK, PEN);
        let centre = area.x + area.width / 2.0;
        let below = Point { x: centre, y: bottom + 4.5 + NUMBER + LABEL };
        scene.text(self.x_label, below, LABEL, Anchor::Middle, INK);
        let beside = Point { x: area.x - 20.0, y: area.y + area.height / 2.0 };
        scene.upward_text(self.y_label, beside, LABEL, Anchor::Middle, INK);
        let named: Vec<&Curve> = self.curves.iter().filter(|c| !c.name.is_empty()).collect();
        for (i, curve) in named.iter().enumerate() {
            let (key, gap) = (11.0, 3.0);
            let whole = key + gap + advance(curve.name, NUMBER);
            let x = area.x + area.width * (i as f64 + 0.5) / named.len() as f64 - whole / 2.0;
            let y = area.y + 6.0;
            match curve.style {
                Style::Line | Style::Dashed => {
                    curve.draw(scene, &[Point { x, y }, Point { x: x + key, y }], y);
                }
                Style::Stems | Style::OpenStems => {
                    curve.draw(scene, &[Point { x: x + key / 2.0, y: y - 2.5 }], y + 2.5);
                }
            }
            let at = Point { x: x + key + gap, y: y + 0.35 * NUMBER };
            scene.text(curve.name, at, NUMBER, Anchor::Start, INK);
        }
        if let Some(note) = &self.note {
            scene.text(note, Point { x: area.x + 3.0, y: area.y + 2.0 + NUMBER }, NUMBER, Anchor::Start, INK);
        }
    }
}

impl Curve {
    /// Draws placed points; stems start at `zero`.
    fn draw(&self, scene: &mut Scene, points: &[Point], zero: f64) {
        match self.style {
            Style::Line => scene.line(points, self.colour, CURVE),
            Style::Dashed => scene.dashed(points, self.colour, CURVE, 2.4),
            Style::Stems | Style::OpenStems => {
                let stems: Vec<[Point; 2]> = points.iter().map(|p| [Point { y: zero, ..*p }, *p]).collect();
                scene.segments(&stems, self.colour, PEN);
                if self.style == Style::Stems {
                    scene.circles(points, 1.1, Some(self.colour), None);
                } else {
                    scene.circles(points, 1.0, Some(super::PAPER), Some((self.colour, PEN)));
                }
            }
        }
    }
}

/// Round values within a range, at most `count` + 1 of them, with their texts.
pub fn ticks(low: f64, high: f64, count: u32) -> Vec<(f64, String)> {
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return vec![(low, format!("{low}"))];
    }
    let power = 10f64.powf((span / f64::from(count)).log10().floor());
    let within = |step: f64| ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    let steps = [1.0, 2.0, 5.0, 10.0, 20.0].map(|m| m * power);
    let fits = |step: &f64| {
        let (first, last) = within(*step);
        last - first <= i64::from(count)
    };
    let step = steps.into_iter().find(fits).unwrap_or(20.0 * power);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let (first, last) = within(step);
    let tick = |i: i64| {
        let text = format!("{:.digits$}", i as f64 * step);
        (i as f64 * step, text.replace('-', "−"))
    };
    (first..=last).map(tick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        let texts = |a, b| ticks(a, b, 4).into_iter().map(|t| t.1).collect::<Vec<_>>();
        assert_eq!(texts(0.0, 1.5), ["0.0", "0.5", "1.0", "1.5"]);
        assert_eq!(texts(-3.0, 4.0), ["−2", "0", "2", "4"]);
        assert_eq!(texts(-0.03, 0.01), ["−0.03", "−0.02", "−0.01", "0.00", "0.01"]);
        // One more than requested, rather than two.
        assert_eq!(texts(-1.15, 0.9), ["−1.0", "−0.5", "0.0", "0.5"]);
        assert_eq!(texts(2.0, 2.0), ["2"]);
        assert!(texts(0.0, 1e-9).len() > 2 && texts(0.0, 7e12).len() > 2);
    }
}
