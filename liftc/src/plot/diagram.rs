//! The lifting diagram: two lines for the phases, a box for what a step makes of the other phase, and the steps spelt out.

use super::chart::{LABEL, NUMBER};
use super::font;
use super::scene::{Anchor, HIGH, INK, LOW, PAPER, Point, Scene};
use lifting::Scheme;
use lifting_codegen::describe;
use lifting_dsl::{Group, Op, Phase, RealStep, Step, Weight};

/// Distance of steps, and of the two lines.
const STEP: f64 = 25.0;
const GAP: f64 = 36.0;
/// Height of a row of steps, and of a line of text.
const ROW: f64 = GAP + 26.0;
const LINE: f64 = 9.0;
/// Width of the words at both ends.
const ENDS: f64 = 24.0;
/// So many steps are drawn, and so many spelt out.
const MOST_DRAWN: usize = 21;
const MOST_SPELT: usize = 16;

/// The height of the diagram of a scheme.
pub fn height(scheme: &Scheme, width: f64) -> f64 {
    let drawn = scheme.steps().len().min(MOST_DRAWN);
    let rows = drawn.div_ceil(a_row(width)).max(1) as f64;
    rows * ROW + LINE * legend(scheme, width).len() as f64 + 4.0
}

fn a_row(width: f64) -> usize {
    (((width - 2.0 * ENDS) / STEP) as usize).max(1)
}

/// Draws the diagram of analysis with its top left corner at `at`.
pub fn draw(scene: &mut Scene, scheme: &Scheme, at: Point, width: f64) {
    let names = names(scheme.steps());
    let steps: Vec<(&Step, &String)> = scheme.steps().iter().zip(&names).take(MOST_DRAWN).collect();
    let rows: Vec<_> = steps.chunks(a_row(width)).collect();
    let mut top = at.y + 12.0;
    for (i, row) in rows.iter().enumerate() {
        let (even, odd) = (top, top + GAP);
        let (left, right) = (at.x + ENDS, at.x + ENDS + STEP * row.len() as f64);
        let (first, last) = (i == 0, i + 1 == rows.len() && scheme.steps().len() <= MOST_DRAWN);
        for (y, phase, band, colour) in [(even, "even", "low", LOW), (odd, "odd", "high", HIGH)] {
            scene.line(&[Point { x: left, y }, Point { x: right + 4.0, y }], colour, 0.9);
            scene.arrow_head(Point { x: right + 7.0, y }, 1.0, 0.0, 4.5, colour);
            let middle = y + 0.35 * LABEL;
            let start = if first { phase } else { "…" };
            scene.text(start, Point { x: left - 3.0, y: middle }, LABEL, Anchor::End, INK);
            let end = if last { band } else { "…" };
            scene.text(end, Point { x: right + 9.5, y: middle }, LABEL, Anchor::Start, INK);
        }
        for (n, (step, name)) in row.iter().enumerate() {
            let x = left + STEP * (n as f64 + 0.5);
            draw_step(scene, step, name, x, even, odd);
        }
        top += ROW;
    }
    for (i, line) in legend(scheme, width).iter().enumerate() {
        let y = at.y + ROW * rows.len().max(1) as f64 + LINE * i as f64 + NUMBER;
        scene.text(line, Point { x: at.x, y }, NUMBER, Anchor::Start, INK);
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
            scene.rectangle(centre, 16.0, 12.0, PAPER, Some((INK, 0.6)));
            scene.text(name, Point { x, y: target + 2.5 }, LABEL, Anchor::Middle, INK);
            return;
        }
    };
    let source = even + odd - target;
    let towards = (target - source).signum();
    scene.circle(Point { x, y: source }, 1.3, INK, None);
    scene.line(&[Point { x, y: source }, Point { x, y: target - 8.0 * towards }], INK, 0.6);
    scene.arrow_head(Point { x, y: target - 4.0 * towards }, 0.0, towards, 4.5, INK);
    let centre = Point { x, y: (even + odd) / 2.0 };
    scene.rectangle(centre, 16.0, 12.0, PAPER, Some((INK, 0.6)));
    scene.text(name, Point { x, y: centre.y + 2.5 }, LABEL, Anchor::Middle, INK);
    scene.circle(Point { x, y: target }, 4.0, PAPER, Some((INK, 0.6)));
    let bar = |dx: f64, dy: f64| [Point { x: x - dx, y: target - dy }, Point { x: x + dx, y: target + dy }];
    scene.line(&bar(2.2, 0.0), INK, 0.7);
    if op == Op::Add {
        scene.line(&bar(0.0, 2.2), INK, 0.7);
    }
}

/// P₁, U₁, … for predicts of the odd phase and updates of the even one; K₀ and K₁ for scalings.
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

/// The steps spelt out, each broken into lines that fit.
fn legend(scheme: &Scheme, width: f64) -> Vec<String> {
    let steps = scheme.steps();
    if steps.len() > MOST_SPELT {
        let drawn = steps.len().min(MOST_DRAWN);
        let rest = if drawn < steps.len() { format!("{drawn} of {} steps; ", steps.len()) } else { String::new() };
        return vec![format!("{rest}`liftc show {}` has the numbers", scheme.name())];
    }
    let mut lines = Vec::new();
    for (step, name) in steps.iter().zip(names(steps)) {
        let mut line = format!("{name}:");
        for word in spelt(step).split(' ') {
            let longer = format!("{line} {word}");
            if font::lay_out(&longer, NUMBER).advance > width && !line.ends_with(':') {
                lines.push(std::mem::replace(&mut line, format!("      {word}")));
            } else {
                line = longer;
            }
        }
        lines.push(line);
    }
    lines
}

/// Whether a step is drawn with the other operator, its only weight being negative.
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
            // `+= −a x` reads better as `−= a x`.
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

/// Six digits, or a short fraction.
fn weight(w: &Weight) -> String {
    let text = match w {
        Weight::Rational(r) if r.to_string().len() <= 7 => r.to_string(),
        w if (1e-3..1e5).contains(&w.to_f64().abs()) => format!("{:.5}", w.to_f64()),
        w => format!("{:.4e}", w.to_f64()),
    };
    text.replace('-', "−")
}
