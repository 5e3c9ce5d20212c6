//! Bar chart of a report: a bar for each ratio, a line for the copy.

use super::report::{Report, micros};
use crate::figure::chart::ticks;
use crate::figure::{self, Anchor, Colour, FAINT, HAIR, HIGH, INK, LABEL, LOW, NUMBER, PEN, Point, Scene, TITLE};

/// Width of the plot area.
const WIDTH: f64 = 230.0;
/// Height of a bar, and the gap between transforms.
const BAR: f64 = 7.0;
const GAP: f64 = 4.0;
/// Margins above the plot for title and legend, and below it for the axis.
const TOP: f64 = 32.0;
const BELOW: f64 = 28.0;
/// Margin right of the longest bar for its number.
const NUMBERS: f64 = 24.0;

fn colour(direction: &str) -> Colour {
    if matches!(direction, "forward" | "inverse adjoint") { LOW } else { HIGH }
}

/// Draws a bar for each measurement, coloured by direction.
pub fn draw(report: &Report) -> Scene {
    let results = &report.results;
    let labels: Vec<String> = results.iter().map(|m| figure::literal(&m.label)).collect();
    let left = 8.0 + labels.iter().map(|label| figure::advance(label, LABEL)).fold(60.0, f64::max) + 5.0;
    let longest = results.iter().map(|m| m.ratio).fold(1.0, f64::max);
    let x = |ratio: f64| left + WIDTH * ratio / longest;
    // Bars of one transform touch.
    let new = |i: usize| i == 0 || labels[i] != labels[i - 1];
    let mut tops = Vec::with_capacity(results.len());
    let mut bottom = TOP + GAP / 2.0;
    for i in 0..results.len() {
        bottom += if i > 0 && new(i) { GAP } else { 0.0 };
        tops.push(bottom);
        bottom += BAR;
    }
    bottom += GAP / 2.0;

    let title = figure::literal(&report.device_text());
    let width = (left + WIDTH + NUMBERS).max(figure::advance(&title, TITLE) + 16.0);
    let mut scene = Scene::new(width, bottom + BELOW, "Times of wavelet transforms in units of a copy");
    scene.text(&title, Point { x: width / 2.0, y: 3.0 + TITLE }, TITLE, Anchor::Middle, INK);
    let mut key = left;
    let mut directions: Vec<&str> = results.iter().map(|m| m.direction).collect();
    directions.sort_unstable();
    directions.dedup();
    for direction in directions {
        scene.rectangle(Point { x: key + 4.0, y: TOP - 8.0 }, 8.0, BAR - 1.0, colour(direction), None);
        let at = Point { x: key + 11.0, y: TOP - 8.0 + 0.35 * NUMBER };
        scene.text(direction, at, NUMBER, Anchor::Start, INK);
        key += 50.0;
    }
    let upright = |ratio: f64| [Point { x: x(ratio), y: TOP }, Point { x: x(ratio), y: bottom }];
    for (ratio, text) in ticks(0.0, longest, 8) {
        scene.line(&upright(ratio), FAINT, HAIR);
        let foot = Point { x: x(ratio), y: bottom };
        scene.line(&[foot, Point { y: bottom + 2.0, ..foot }], INK, PEN);
        scene.text(&text, Point { y: bottom + 3.0 + NUMBER, ..foot }, NUMBER, Anchor::Middle, INK);
    }
    for (i, m) in results.iter().enumerate() {
        let (top, end) = (tops[i], x(m.ratio));
        let middle = top + BAR / 2.0;
        if new(i) {
            let pair = results.get(i + 1).is_some_and(|next| next.label == m.label);
            let base = if pair { top + BAR } else { middle } + 0.35 * LABEL;
            scene.text(&labels[i], Point { x: left - 5.0, y: base }, LABEL, Anchor::End, INK);
        }
        let centre = Point { x: (left + end) / 2.0, y: middle };
        scene.rectangle(centre, end - left, BAR - 1.0, colour(m.direction), None);
        let (time, copy) = (micros(m.time()), micros(m.copy()));
        scene.meaning(format!("{}, {}: {time}, a copy {copy}", m.label, m.direction));
        let at = Point { x: end + 3.0, y: middle + 0.35 * NUMBER };
        scene.text(&format!("{:.2}", m.ratio), at, NUMBER, Anchor::Start, INK);
    }
    scene.line(&upright(1.0), INK, PEN);
    scene.meaning("a copy");
    scene.line(
        &[Point { x: left, y: TOP }, Point { x: left, y: bottom }, Point { x: left + WIDTH, y: bottom }],
        INK,
        PEN,
    );
    let below = Point { x: left + WIDTH / 2.0, y: bottom + 5.0 + NUMBER + LABEL };
    scene.text("time, in copies of the same data", below, LABEL, Anchor::Middle, INK);
    scene
}
