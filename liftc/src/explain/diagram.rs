//! The sliding window as a column of cells, one column a step: van der Laan, Jalba & Roerdink 2011, section 4.2.
//!
//! Rows are positions; row 0 is the first of the working area. A step crosses what it updates in this window and bullets what
//! it reads for that.

use lifting::Boundary;
use lifting_codegen::window::{StepWindow, Window};
use lifting_dsl::{Phase, Step};

/// What one step does with one row of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Idle,
    Updated,
    Read,
    /// Read only where the signal ends within the window and the border rule serves it from here.
    Border,
}

impl Cell {
    fn text(self) -> char {
        match self {
            Cell::Idle => '·',
            Cell::Updated => '×',
            Cell::Read => '●',
            Cell::Border => '○',
        }
    }
}

/// A window with its steps.
pub struct Diagram {
    window: Window,
    height: i64,
    /// One column a step, each from the top row on.
    columns: Vec<Vec<Cell>>,
}

impl Diagram {
    /// The window of these steps when it advances by `height` rows.
    pub fn new(steps: &[Step], boundary: Boundary, height: i64) -> Diagram {
        let window = Window::derive(steps, boundary);
        let first = -(window.top + window.overlap);
        let columns = steps.iter().zip(&window.steps).map(|(step, place)| {
            let reads = reads(step);
            let cell = |row| cell(&reads, place, row, height);
            (first..first + window.rows(height)).map(cell).collect()
        });
        Diagram { columns: columns.collect(), window, height }
    }

    /// The window.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Rows, each with its position and area.
    fn rows(&self) -> impl Iterator<Item = (usize, i64, &'static str)> {
        let (above, height, top) = (self.window.top + self.window.overlap, self.height, self.window.top);
        (0..self.window.rows(height)).map(move |i| {
            let area = match i {
                _ if i < top => "top",
                _ if i < above => "overlap",
                _ if i < above + height => "working area",
                _ => "bottom",
            };
            (i as usize, i - above, area)
        })
    }

    /// As text: a line a row.
    pub fn text(&self) -> String {
        let mut text = String::from("  row        ");
        (1..=self.columns.len()).for_each(|n| text += &format!("{n:>4}"));
        text += "\n";
        let mut last = "";
        for (i, row, area) in self.rows() {
            let phase = if row.rem_euclid(2) == 0 { Phase::Even } else { Phase::Odd };
            text += &format!("  {row:>3}  {:<6}", phase.name());
            for column in &self.columns {
                text += &format!("   {}", column[i].text());
            }
            if area != last {
                text += &format!("    {area}");
            }
            text += "\n";
            last = area;
        }
        text
    }

    /// Width and height of the drawing.
    pub fn size(&self) -> (i64, i64) {
        (LEFT + STEP * self.columns.len() as i64 + 110, TOP + SIDE * self.window.rows(self.height) + 12)
    }

    /// As the elements of an SVG, `y` below its top.
    pub fn svg(&self, title: &str, y: i64) -> String {
        let mut svg = format!("<g transform=\"translate(0 {y})\">\n<text x=\"8\" y=\"18\">{title}</text>\n");
        for n in 0..self.columns.len() as i64 {
            let x = LEFT + STEP * n + SIDE / 2;
            svg += &format!("<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", TOP - 6, n + 1);
        }
        let mut last = "";
        for (i, row, area) in self.rows() {
            let y = TOP + SIDE * i as i64;
            let middle = y + SIDE / 2;
            let text = middle + 4;
            svg += &format!("<text x=\"{}\" y=\"{text}\" text-anchor=\"end\">{row}</text>\n", LEFT - 10);
            let fill = match area {
                "working area" => "#fff",
                "overlap" => "#e3ecf7",
                _ => "#eee",
            };
            for (n, column) in self.columns.iter().enumerate() {
                let x = LEFT + STEP * n as i64;
                svg += &format!("<rect x=\"{x}\" y=\"{y}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"{fill}\"/>\n");
                let (cx, r) = (x + SIDE / 2, SIDE / 4);
                svg += &match column[i] {
                    Cell::Idle => String::new(),
                    Cell::Updated => {
                        let [l, r, t, b] = [x, x + SIDE, y, y + SIDE];
                        format!("<path d=\"M{l} {t}L{r} {b}M{r} {t}L{l} {b}\"/>\n")
                    }
                    Cell::Read => format!("<circle cx=\"{cx}\" cy=\"{middle}\" r=\"{r}\" fill=\"#000\"/>\n"),
                    Cell::Border => format!("<circle cx=\"{cx}\" cy=\"{middle}\" r=\"{r}\" fill=\"none\"/>\n"),
                };
            }
            if area != last {
                let right = LEFT + STEP * self.columns.len() as i64;
                svg += &format!("<path d=\"M{} {y}H{}\"/>\n", LEFT - 6, right + 90);
                svg += &format!("<text x=\"{right}\" y=\"{text}\">{area}</text>\n");
            }
            last = area;
        }
        svg + "</g>\n"
    }
}

/// Side of a cell, distance of columns, and where the first cell is.
const SIDE: i64 = 16;
const STEP: i64 = 28;
const LEFT: i64 = 48;
const TOP: i64 = 48;

/// A complete SVG of several diagrams, one below the other.
pub fn svg(diagrams: &[(String, &Diagram)]) -> String {
    let width = diagrams.iter().map(|(title, d)| d.size().0.max(16 + 8 * title.len() as i64)).max().unwrap_or(0);
    let mut y = 0;
    let mut body = String::new();
    for (title, diagram) in diagrams {
        body += &diagram.svg(title, y);
        y += diagram.size().1;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{y}\" viewBox=\"0 0 {width} {y}\">\n\
         <style>text {{ font: 12px sans-serif }} rect, path, circle {{ stroke: #000 }}</style>\n\
         <rect width=\"{width}\" height=\"{y}\" fill=\"#fff\" style=\"stroke: none\"/>\n{body}</svg>\n"
    )
}

/// What a step reads away from borders, in positions relative to its target.
fn reads(step: &Step) -> Vec<i64> {
    let offsets: Vec<i32> = match step {
        Step::Integer(s) => s.taps.iter().map(|t| t.offset).collect(),
        Step::Real(s) => s.groups.iter().flat_map(|g| g.offsets.iter().copied()).collect(),
        Step::Scale(_) => Vec::new(),
    };
    let target = step.target();
    offsets.into_iter().map(|o| 2 * i64::from(o) + target.other().parity() - target.parity()).collect()
}

/// What a step that stands at `place` does with a row.
fn cell(reads: &[i64], place: &StepWindow, row: i64, height: i64) -> Cell {
    let parity = place.target.parity();
    let targets = || (parity - place.lag..height - place.lag).step_by(2);
    if row.rem_euclid(2) == parity {
        return if targets().any(|t| t == row) { Cell::Updated } else { Cell::Idle };
    }
    if targets().any(|t| reads.contains(&(row - t))) {
        return Cell::Read;
    }
    let within = |t: i64| place.support.is_some_and(|(lo, hi)| (lo..=hi).contains(&(row - t)));
    if targets().any(within) { Cell::Border } else { Cell::Idle }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row that a step touches is in the window, and the outermost rows are touched: the window is as small as it can be.
    #[test]
    fn windows_hold_what_their_steps_touch_and_no_more() {
        for entry in lifting_filters::CATALOGUE {
            let scheme = lifting::catalogue::scheme(entry).unwrap();
            for boundary in Boundary::ALL {
                for steps in [scheme.steps().to_vec(), scheme.inverse_steps()] {
                    let d = Diagram::new(&steps, boundary, 64);
                    let first = -(d.window.top + d.window.overlap);
                    let beyond = |row| {
                        let touched = |(s, p): (&Step, &StepWindow)| cell(&reads(s), p, row, 64) != Cell::Idle;
                        steps.iter().zip(&d.window.steps).any(touched)
                    };
                    let end = 64 + d.window.bottom;
                    assert!((1..40).all(|n| !beyond(first - n) && !beyond(end + n - 1)), "{} {boundary}", entry.name);
                    assert!(d.window.top == 0 || beyond(first), "{} {boundary}", entry.name);
                    assert!(d.window.bottom == 0 || beyond(end - 1), "{} {boundary}", entry.name);
                }
            }
        }
    }
}
