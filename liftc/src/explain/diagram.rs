//! Diagram of the sliding window as cells, one column per step (van der Laan, Jalba & Roerdink 2011, section IV-F).
//!
//! Rows are positions; row 0 is the first of the working area. A cross marks a row that the step updates in this
//! window, and a bullet a row that it reads for that.

use crate::figure::{self, Anchor, FAINT, HAIR, HIGH, INK, LABEL, LOW, NUMBER, PEN, Point, SHADE, Scene, TITLE};
use lifting::Boundary;
use lifting_codegen::window::{StepWindow, Window};
use lifting_dsl::{Phase, Step};

/// Role of a row of the window in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Idle,
    Updated,
    Read,
    /// Read only where the signal ends within the window, by the border rule.
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

/// Window with its steps.
pub struct Diagram {
    window: Window,
    height: i64,
    /// One column per step, from the top row down.
    columns: Vec<Vec<Cell>>,
}

impl Diagram {
    /// Window of these steps that advances by `height` rows.
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

    /// Rows with their position and area.
    fn rows(&self) -> impl Iterator<Item = (usize, i64, &'static str)> {
        let (above, height, top) = (self.window.top + self.window.overlap, self.height, self.window.top);
        (0..self.window.rows(height)).map(move |i| {
            let area = match i {
                _ if i < top => "top",
                _ if i < above => "overlap",
                _ if i < above + height => WORKING,
                _ => "bottom",
            };
            (i as usize, i - above, area)
        })
    }

    /// Text, one line per row.
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

    /// Draws the cells with their top left corner at `at`. Numbers are on the left and above, area names on the right.
    fn draw(&self, scene: &mut Scene, at: Point, cells: Cells) {
        let Cells { side, pitch } = cells;
        let rows: Vec<_> = self.rows().collect();
        let (width, columns) = (pitch * self.columns.len() as f64, self.columns.len());
        let right = at.x + width;
        let y = |row: usize| at.y + side * row as f64;
        let line = |y: f64, from: f64, to: f64| [Point { x: from, y }, Point { x: to, y }];

        // Areas: shades, and lines between them.
        let starts: Vec<usize> =
            (0..rows.len()).filter(|&i| i == 0 || rows[i].2 != rows[i - 1].2).chain([rows.len()]).collect();
        let mut below = f64::NEG_INFINITY;
        for area in starts.windows(2) {
            let (first, end, name) = (area[0], area[1], rows[area[0]].2);
            let middle = (y(first) + y(end)) / 2.0;
            if name != WORKING {
                let centre = Point { x: at.x + width / 2.0, y: middle };
                scene.rectangle(centre, width, y(end) - y(first), SHADE, None);
            }
            // Names of narrow areas move down so as not to overlap.
            let base = (middle + 0.35 * LABEL).max(below + LABEL + 1.5);
            scene.text(name, Point { x: right + 5.0, y: base }, LABEL, Anchor::Start, INK);
            below = base;
        }
        let grid: Vec<[Point; 2]> = (1..rows.len()).map(|i| line(y(i), at.x, right)).collect();
        scene.segments(&grid, FAINT, HAIR);
        let borders: Vec<[Point; 2]> = starts.iter().map(|&i| line(y(i), at.x - 3.0, right + 3.0)).collect();
        scene.segments(&borders, INK, PEN);

        let every = |room: f64, needed: f64| [1, 2, 5, 10, 20].into_iter().find(|n| room * *n as f64 >= needed);
        let shown = every(side, if side > NUMBER { 0.0 } else { 2.0 * NUMBER }).unwrap_or(50);
        for (i, row, _) in rows.iter().filter(|r| r.1.rem_euclid(shown) == 0) {
            let text = row.to_string().replace('-', "−");
            let base = y(*i) + side / 2.0 + 0.35 * NUMBER;
            scene.text(&text, Point { x: at.x - 5.0, y: base }, NUMBER, Anchor::End, INK);
        }
        let shown = every(pitch, 0.6 * NUMBER * columns.to_string().len() as f64 + 1.5).unwrap_or(50);
        for (n, column) in self.columns.iter().enumerate() {
            let x = at.x + pitch * (n as f64 + 0.5);
            let number = n as i64 + 1;
            if number % shown == 0 || columns < 5 {
                scene.text(&number.to_string(), Point { x, y: at.y - 4.0 }, NUMBER, Anchor::Middle, INK);
            }
            self.draw_step(scene, n, column, |row| Point { x, y: y(row) + side / 2.0 }, side);
        }
    }

    /// Draws a column: updated rows as one shape, rows read as others. `centre` returns the centre of a row's cell.
    fn draw_step(&self, scene: &mut Scene, n: usize, column: &[Cell], centre: impl Fn(usize) -> Point, side: f64) {
        let of = |kind: Cell| -> Vec<(i64, Point)> {
            let rows = self.rows().filter(|(i, ..)| column[*i] == kind);
            rows.map(|(i, row, _)| (row, centre(i))).collect()
        };
        let rows = |cells: &[(i64, Point)]| cells.iter().map(|c| c.0.to_string()).collect::<Vec<_>>().join(", ");
        let mut mark = |kind: Cell, verb: &str| {
            let cells = of(kind);
            if !cells.is_empty() {
                let points: Vec<Point> = cells.iter().map(|c| c.1).collect();
                draw_cells(scene, kind, self.window.steps[n].target, &points, side);
                scene.meaning(format!("step {} {verb} {}", n + 1, rows(&cells)));
            }
        };
        mark(Cell::Updated, "updates");
        mark(Cell::Read, "reads");
        mark(Cell::Border, "reads at borders");
    }
}

/// Name of the area being processed.
const WORKING: &str = "working area";

/// Draws marks of one kind in cells of this side. Crosses have the colour of the updated phase.
fn draw_cells(scene: &mut Scene, kind: Cell, target: Phase, centres: &[Point], side: f64) {
    match kind {
        Cell::Idle => {}
        Cell::Updated => {
            let arm = 0.36 * side;
            let cross = |c: &Point| {
                let end = |dx: f64, dy: f64| Point { x: c.x + dx, y: c.y + dy };
                [[end(-arm, -arm), end(arm, arm)], [end(-arm, arm), end(arm, -arm)]]
            };
            let colour = if target == Phase::Even { LOW } else { HIGH };
            scene.segments(&centres.iter().flat_map(cross).collect::<Vec<_>>(), colour, (0.1 * side).clamp(HAIR, 0.9));
        }
        Cell::Read => scene.circles(centres, 0.24 * side, Some(INK), None),
        Cell::Border => scene.circles(centres, 0.24 * side, None, Some((INK, (0.08 * side).clamp(HAIR, PEN)))),
    }
}

/// Size of cells: height of a row and distance of columns, in points.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cells {
    side: f64,
    pitch: f64,
}

impl Cells {
    /// Size limited for readability above and by the page below.
    fn of(rows: i64, columns: usize) -> Cells {
        let (rows, columns) = (rows.max(1) as f64, columns.max(1) as f64);
        let side = (PAGE[1] / rows).min(PAGE[0] / columns).clamp(SMALLEST, LARGEST);
        Cells { side, pitch: (PAGE[0] / columns).clamp(side, 2.0 * side) }
    }
}

/// Largest width and height of the cells, in points: a page without margins and labels.
const PAGE: [f64; 2] = [420.0, 560.0];
/// Limits of a cell's side.
const SMALLEST: f64 = 3.0;
const LARGEST: f64 = 11.0;
/// Space to the left of the cells for numbers, and to their right for area names.
const NUMBERS: f64 = 24.0;
const AREAS: f64 = 54.0;
/// Space above the cells for the direction and for numbers, and below them.
const HEADS: f64 = 26.0;
const BELOW: f64 = 10.0;
/// Space for the title, and for the legend.
const NAME: f64 = 24.0;
const LEGEND: f64 = 16.0;
/// Largest width of a figure with its diagrams side by side.
const WIDEST: f64 = 520.0;

/// Figure of several named diagrams of a wavelet, side by side if there is space.
pub fn draw(wavelet: &str, boundary: Boundary, diagrams: &[(&str, &Diagram)]) -> Scene {
    let rows = diagrams.iter().map(|(_, d)| d.window.rows(d.height)).max().unwrap_or(0);
    let columns = diagrams.iter().map(|(_, d)| d.columns.len()).max().unwrap_or(0);
    let cells = Cells::of(rows, columns);
    let one = [NUMBERS + cells.pitch * columns as f64 + AREAS, HEADS + cells.side * rows as f64 + BELOW];
    let beside = one[0] * diagrams.len() as f64 <= WIDEST;
    let [across, down] = if beside { [diagrams.len(), 1] } else { [1, diagrams.len()] };
    let title = format!("{}: the sliding window of its steps", figure::literal(wavelet));
    let notes = format!("border rule {boundary}; a row a position, a column a step, in the order of execution");
    let marks = [
        (Cell::Updated, "updated in this window"),
        (Cell::Read, "read for that"),
        (Cell::Border, "read only where the signal ends nearby"),
    ];
    let used = |kind: Cell| diagrams.iter().any(|(_, d)| d.columns.iter().any(|column| column.contains(&kind)));
    let marks: Vec<_> = marks.into_iter().filter(|(kind, _)| used(*kind)).collect();
    let keys: Vec<f64> = marks.iter().map(|(kind, text)| key(*kind) + figure::advance(text, NUMBER) + 12.0).collect();
    let texts = [figure::advance(&title, TITLE), figure::advance(&notes, NUMBER), keys.iter().sum()];
    let width = texts.into_iter().fold(one[0] * across as f64, f64::max) + 8.0;
    let height = NAME + one[1] * down as f64 + LEGEND;

    let mut scene = Scene::new(width, height, &format!("The sliding window of the wavelet {wavelet}"));
    let middle = width / 2.0;
    scene.text(&title, Point { x: middle, y: 3.0 + TITLE }, TITLE, Anchor::Middle, INK);
    scene.text(&notes, Point { x: middle, y: 6.0 + TITLE + NUMBER }, NUMBER, Anchor::Middle, INK);
    let left = middle - one[0] * across as f64 / 2.0;
    for (i, (name, diagram)) in diagrams.iter().enumerate() {
        let (column, row) = if beside { (i, 0) } else { (0, i) };
        let corner = Point { x: left + one[0] * column as f64 + NUMBERS, y: NAME + one[1] * row as f64 + HEADS };
        let centre = corner.x + cells.pitch * diagram.columns.len() as f64 / 2.0;
        scene.text(name, Point { x: centre, y: corner.y - 14.0 }, LABEL, Anchor::Middle, INK);
        diagram.draw(&mut scene, corner, cells);
    }
    let y = height - LEGEND / 2.0;
    let mut x = middle - keys.iter().sum::<f64>() / 2.0;
    for ((kind, text), width) in marks.into_iter().zip(keys) {
        let side = 8.0;
        draw_cells(&mut scene, kind, Phase::Even, &[Point { x: x + side / 2.0, y }], side);
        if kind == Cell::Updated {
            draw_cells(&mut scene, kind, Phase::Odd, &[Point { x: x + 1.5 * side, y }], side);
        }
        scene.text(text, Point { x: x + key(kind), y: y + 0.35 * NUMBER }, NUMBER, Anchor::Start, INK);
        x += width;
    }
    scene
}

/// Space for a mark of the legend; crosses show both phases.
fn key(kind: Cell) -> f64 {
    if kind == Cell::Updated { 20.0 } else { 12.0 }
}

/// Positions that a step reads away from borders, relative to its target.
fn reads(step: &Step) -> Vec<i64> {
    let offsets: Vec<i32> = match step {
        Step::Integer(s) => s.taps.iter().map(|t| t.offset).collect(),
        Step::Real(s) => s.groups.iter().flat_map(|g| g.offsets.iter().copied()).collect(),
        Step::Scale(_) => Vec::new(),
    };
    let target = step.target();
    offsets.into_iter().map(|o| 2 * i64::from(o) + target.other().parity() - target.parity()).collect()
}

/// Role of a row in a step at `place`.
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

    #[test]
    fn figures_fit_on_a_page() {
        assert_eq!(Cells::of(14, 2), Cells { side: 11.0, pitch: 22.0 });
        for (rows, columns) in [(1, 1), (14, 2), (60, 41), (130, 104), (64, 6)] {
            let Cells { side, pitch } = Cells::of(rows, columns);
            assert!(
                side * rows as f64 <= PAGE[1] + 1e-9 && pitch * columns as f64 <= PAGE[0] + 1e-9,
                "{rows} {columns}"
            );
            assert!((SMALLEST..=LARGEST).contains(&side) && pitch >= side, "{rows} {columns}");
        }
    }

    /// Windows are minimal: they contain every row that a step touches, and their outermost rows are touched.
    #[test]
    fn windows_are_minimal() {
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
