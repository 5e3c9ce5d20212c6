//! Lifting diagram: a line for each phase, a box for each step, and the steps as formulas.
//!
//! Of many steps, only the first and the last are drawn. Long formulas become charts of weights.

use crate::figure::chart::{Area, BELOW, Chart, Curve, LEFT, RIGHT, Style};
use crate::figure::{self, Anchor, CURVE, HIGH, INK, LABEL, LOW, NUMBER, PAPER, PEN, Point, Scene};
use lifting::Scheme;
use lifting_codegen::describe;
use lifting_dsl::{Group, Op, Phase, RealStep, Step, Weight};
use std::ops::Range;

/// Distance between steps, and between the two lines.
const STEP: f64 = 25.0;
const GAP: f64 = 36.0;
/// Height of a row of steps, and of a line of text.
const ROW: f64 = GAP + 26.0;
const LINE: f64 = 9.0;
/// Width of the words at both ends.
const ENDS: f64 = 24.0;
/// Most rows of steps that are drawn. Of more, the first two and the last are drawn.
const MOST_ROWS: usize = 4;
/// Most steps with formulas, and most lines of a formula.
const MOST_SPELT: usize = 16;
const MOST_LINES: usize = 4;
/// Height of a chart of weights.
const CHART: f64 = 50.0;

/// Height of the diagram of a scheme.
pub fn height(scheme: &Scheme, width: f64) -> f64 {
    let rows: f64 = rows(scheme.steps().len(), a_row(width)).iter().map(Row::height).sum();
    let legend: f64 = legend(scheme, width).iter().map(Entry::height).sum();
    rows + legend + 4.0
}

fn a_row(width: f64) -> usize {
    (((width - 2.0 * ENDS) / STEP) as usize).max(1)
}

/// Vertical parts of the diagram.
#[derive(Clone, Debug, PartialEq)]
enum Row {
    /// Row of steps.
    Steps(Range<usize>),
    /// Number of steps left out.
    Skipped(usize),
}

impl Row {
    fn height(&self) -> f64 {
        match self {
            Row::Steps(_) => ROW,
            Row::Skipped(_) => 14.0,
        }
    }
}

fn rows(steps: usize, a_row: usize) -> Vec<Row> {
    let whole = |range: Range<usize>| {
        let starts = range.clone().step_by(a_row);
        starts.map(move |start| Row::Steps(start..(start + a_row).min(range.end)))
    };
    if steps <= MOST_ROWS * a_row {
        return if steps == 0 { vec![Row::Steps(0..0)] } else { whole(0..steps).collect() };
    }
    let skipped = steps - 3 * a_row;
    whole(0..2 * a_row).chain([Row::Skipped(skipped)]).chain(whole(steps - a_row..steps)).collect()
}

/// Draws the diagram of analysis with its top left corner at `at`.
pub fn draw(scene: &mut Scene, scheme: &Scheme, at: Point, width: f64) {
    let steps = scheme.steps();
    let names = names(steps);
    let mut top = at.y;
    for row in rows(steps.len(), a_row(width)) {
        match &row {
            Row::Steps(range) => draw_row(scene, steps, &names, range.clone(), Point { y: top + 12.0, ..at }),
            Row::Skipped(count) => {
                let text = format!("… {count} steps …");
                scene.text(&text, Point { x: at.x + width / 2.0, y: top + 6.0 }, NUMBER, Anchor::Middle, INK);
            }
        }
        top += row.height();
    }
    for entry in legend(scheme, width) {
        match &entry {
            Entry::Line(line) => {
                scene.text(line, Point { x: at.x, y: top + NUMBER }, NUMBER, Anchor::Start, INK);
            }
            Entry::Weights(chart) => {
                let area = Area { x: at.x + LEFT, y: top + 6.0, width: width - LEFT - RIGHT, height: CHART };
                chart.draw(scene, area);
            }
        }
        top += entry.height();
    }
}

/// Draws a range of the steps; the even line begins at `at`.
fn draw_row(scene: &mut Scene, steps: &[Step], names: &[String], range: Range<usize>, at: Point) {
    let (even, odd) = (at.y, at.y + GAP);
    let (left, right) = (at.x + ENDS, at.x + ENDS + STEP * range.len() as f64);
    for (y, phase, band, colour) in [(even, "even", "low", LOW), (odd, "odd", "high", HIGH)] {
        scene.line(&[Point { x: left, y }, Point { x: right + 4.0, y }], colour, CURVE);
        scene.arrow_head(Point { x: right + 7.0, y }, 1.0, 0.0, 4.5, colour);
        let middle = y + 0.35 * LABEL;
        let start = if range.start == 0 { phase } else { "…" };
        scene.text(start, Point { x: left - 3.0, y: middle }, LABEL, Anchor::End, INK);
        let end = if range.end == steps.len() { band } else { "…" };
        scene.text(end, Point { x: right + 9.5, y: middle }, LABEL, Anchor::Start, INK);
    }
    for (n, i) in range.enumerate() {
        let x = left + STEP * (n as f64 + 0.5);
        draw_step(scene, &steps[i], &names[i], x, even, odd);
    }
}

fn draw_step(scene: &mut Scene, step: &Step, name: &str, x: f64, even: f64, odd: f64) {
    let target = if step.target() == Phase::Even { even } else { odd };
    let op = match step {
        Step::Integer(s) => s.op,
        Step::Real(s) if is_flipped(s) => s.op.inverse(),
        Step::Real(s) => s.op,
        Step::Scale(_) => {
            let centre = Point { x, y: target };
            scene.rectangle(centre, 16.0, 12.0, PAPER, Some((INK, PEN)));
            scene.text(name, Point { x, y: target + 2.5 }, LABEL, Anchor::Middle, INK);
            return;
        }
    };
    let source = even + odd - target;
    let towards = (target - source).signum();
    scene.circle(Point { x, y: source }, 1.3, INK, None);
    scene.line(&[Point { x, y: source }, Point { x, y: target - 8.0 * towards }], INK, PEN);
    scene.arrow_head(Point { x, y: target - 4.0 * towards }, 0.0, towards, 4.5, INK);
    let centre = Point { x, y: (even + odd) / 2.0 };
    scene.rectangle(centre, 16.0, 12.0, PAPER, Some((INK, PEN)));
    scene.text(name, Point { x, y: centre.y + 2.5 }, LABEL, Anchor::Middle, INK);
    scene.circle(Point { x, y: target }, 4.0, PAPER, Some((INK, PEN)));
    let bar = |dx: f64, dy: f64| [Point { x: x - dx, y: target - dy }, Point { x: x + dx, y: target + dy }];
    scene.line(&bar(2.2, 0.0), INK, PEN);
    if op == Op::Add {
        scene.line(&bar(0.0, 2.2), INK, PEN);
    }
}

/// Names of steps: P₁, U₁, … for predicts of the odd phase and updates of the even one; K₀ and K₁ for scalings.
fn names(steps: &[Step]) -> Vec<String> {
    let (mut predicts, mut updates) = (0, 0);
    let name = |step: &Step| match (step, step.target()) {
        (Step::Scale(_), phase) => format!("*K*_{}", phase.parity()),
        (_, Phase::Odd) => {
            predicts += 1;
            format!("*P*_{{{predicts}}}")
        }
        (_, Phase::Even) => {
            updates += 1;
            format!("*U*_{{{updates}}}")
        }
    };
    steps.iter().map(name).collect()
}

/// Part of the legend below the diagram.
enum Entry {
    Line(String),
    Weights(Chart),
}

impl Entry {
    fn height(&self) -> f64 {
        match self {
            Entry::Line(_) => LINE,
            Entry::Weights(_) => 6.0 + CHART + BELOW,
        }
    }
}

/// Formulas of the steps, broken into lines that fit, or charts of their weights.
fn legend(scheme: &Scheme, width: f64) -> Vec<Entry> {
    let steps = scheme.steps();
    if steps.len() > MOST_SPELT {
        let line = format!("`liftc show {}` has the numbers", figure::literal(scheme.name()));
        return vec![Entry::Weights(weights_of_all(steps)), Entry::Line(line)];
    }
    let mut entries = Vec::new();
    for (step, name) in steps.iter().zip(names(steps)) {
        let lines = figure::broken(&format!("{name}: {}", spelt(step)), NUMBER, width, "      ");
        if lines.len() <= MOST_LINES {
            entries.extend(lines.into_iter().map(Entry::Line));
        } else {
            let (target, source) = (step.target().name(), step.target().other().name());
            let offsets = || terms(step).into_iter().map(|(offset, _)| offset);
            let end = |n: Option<i32>| {
                let n = n.unwrap_or(0);
                format!("*w*_{{{n}}} {source}[*k*{n:+}]").replace('-', "−")
            };
            let (first, last) = (end(offsets().min()), end(offsets().max()));
            entries.push(Entry::Line(format!("{name}: {target}[*k*] += {first} + … + {last}")));
            entries.push(Entry::Weights(weights_of(step)));
        }
    }
    entries
}

/// Offsets and weights that a step adds, without rounding; the factor of a scaling.
fn terms(step: &Step) -> Vec<(i32, f64)> {
    let sign = |op: Op| if op == Op::Add { 1.0 } else { -1.0 };
    match step {
        Step::Integer(s) => {
            let unit = sign(s.op) / f64::from(s.shift).exp2();
            s.taps.iter().map(|t| (t.offset, unit * f64::from(t.weight))).collect()
        }
        Step::Real(s) => {
            let group = |g: &Group| {
                let weight = sign(s.op) * g.weight.to_f64();
                g.offsets.iter().map(move |o| (*o, weight)).collect::<Vec<_>>()
            };
            s.groups.iter().flat_map(group).collect()
        }
        Step::Scale(s) => vec![(0, s.factor.to_f64())],
    }
}

fn stems(points: Vec<(f64, f64)>, target: Phase, name: &'static str) -> Curve {
    let (colour, style) = if target == Phase::Even { (LOW, Style::Stems) } else { (HIGH, Style::OpenStems) };
    Curve { points, colour, style, name }
}

/// Chart of a step's weights over their offsets.
fn weights_of(step: &Step) -> Chart {
    let mut points: Vec<(f64, f64)> = terms(step).into_iter().map(|(o, w)| (f64::from(o), w)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ends = (points[0].0 - 1.0, points[points.len() - 1].0 + 1.0);
    weights("*n*", "*w_n*", ends, 0.0, vec![stems(points, step.target(), "")])
}

/// Chart of the weights of all steps, side by side within each step.
fn weights_of_all(steps: &[Step]) -> Chart {
    let of = |phase: Phase, name| {
        let steps = steps.iter().enumerate().filter(|(_, s)| s.target() == phase);
        let points = steps.flat_map(|(i, step)| {
            let terms = terms(step);
            let middle = (terms.len() as f64 - 1.0) / 2.0;
            let beside = move |(j, (_, w)): (usize, (i32, f64))| (i as f64 + 1.0 + 0.3 * (j as f64 - middle), w);
            terms.into_iter().enumerate().map(beside).collect::<Vec<_>>()
        });
        stems(points.collect(), phase, name)
    };
    let curves = vec![of(Phase::Even, "added to even"), of(Phase::Odd, "added to odd")];
    weights("step", "weight", (0.0, steps.len() as f64 + 1.0), 0.3, curves)
}

/// Chart of stems, with space for a legend above them: the share `above` of their range.
fn weights(x_label: &'static str, y_label: &'static str, x: (f64, f64), above: f64, curves: Vec<Curve>) -> Chart {
    let values = || curves.iter().flat_map(|c| &c.points).map(|p| p.1);
    let (bottom, top) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
    let y = (bottom, top + above * (top - bottom));
    Chart { x_label, y_label, x, y, ticks: Vec::new(), curves, note: None }
}

/// Whether a step is drawn with the other operator, because its only weight is negative.
fn is_flipped(s: &RealStep) -> bool {
    s.groups.len() == 1 && s.groups[0].weight.to_f64() < 0.0
}

fn spelt(step: &Step) -> String {
    let sign = |op: Op| if op == Op::Add { "+=" } else { "−=" };
    match step {
        // `*` would begin italics.
        Step::Integer(_) => describe::step(step).replace('*', "·").replace('-', "−"),
        Step::Scale(s) => format!("{} ×= {}", s.target.name(), weight(&s.factor)),
        Step::Real(s) => {
            let read = |o: &i32| match o {
                0 => format!("{}[*k*]", s.target.other().name()),
                o => format!("{}[*k*{o:+}]", s.target.other().name()).replace('-', "−"),
            };
            // `+= −a x` is easier to read as `−= a x`.
            let flipped = is_flipped(s);
            let group = |(i, g): (usize, &Group)| {
                let negative = (g.weight.to_f64() < 0.0) != flipped;
                let g = if flipped { &Group { weight: g.weight.neg(), offsets: g.offsets.clone() } } else { g };
                let size = if negative { g.weight.neg() } else { g.weight.clone() };
                let reads: Vec<String> = g.offsets.iter().map(read).collect();
                let sum = if reads.len() > 1 { format!("({})", reads.join(" + ")) } else { reads.join("") };
                let times = if size.is_one() { String::new() } else { format!("{} ", weight(&size)) };
                let sign = match (i, negative) {
                    (0, false) => "",
                    (0, true) => "−",
                    (_, false) => "+ ",
                    (_, true) => "− ",
                };
                format!("{sign}{times}{sum}")
            };
            let sum: Vec<String> = s.groups.iter().enumerate().map(group).collect();
            format!("{}[*k*] {} {}", s.target.name(), sign(if flipped { s.op.inverse() } else { s.op }), sum.join(" "))
        }
    }
}

/// Number with six digits, or a short fraction.
fn weight(w: &Weight) -> String {
    let text = match w {
        Weight::Rational(r) if r.to_string().len() <= 7 => r.to_string(),
        w if (1e-3..1e5).contains(&w.to_f64().abs()) => format!("{:.5}", w.to_f64()),
        w => format!("{:.4e}", w.to_f64()),
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_last_steps_are_drawn() {
        assert_eq!(rows(0, 7), [Row::Steps(0..0)]);
        assert_eq!(rows(9, 7), [Row::Steps(0..7), Row::Steps(7..9)]);
        assert_eq!(rows(28, 7).len(), 4);
        let long = [Row::Steps(0..7), Row::Steps(7..14), Row::Skipped(83), Row::Steps(97..104)];
        assert_eq!(rows(104, 7), long);
    }

    #[test]
    fn chart_weights_match_steps() {
        let scheme = lifting::catalogue::find("legall53").unwrap();
        assert_eq!(terms(&scheme.steps()[0]), [(0, -0.5), (1, -0.5)]);
        assert_eq!(terms(&scheme.steps()[1]), [(-1, 0.25), (0, 0.25)]);
        for entry in lifting_filters::CATALOGUE {
            let scheme = lifting::catalogue::find(entry.name).unwrap();
            let count: usize = scheme.steps().iter().map(|s| terms(s).len()).sum();
            let drawn: usize = weights_of_all(scheme.steps()).curves.iter().map(|c| c.points.len()).sum();
            assert_eq!(count, drawn, "{}", entry.name);
        }
    }
}
