//! `liftc plot`: scaling functions and wavelets, frequency responses and the lifting diagram, as a figure for a paper.

mod diagram;

use crate::failure::{Outcome, input};
use crate::figure::chart::{Area, BELOW, Chart, Curve, LEFT, RIGHT, Style};
use crate::figure::{self, Anchor, Colour, HIGH, INK, LABEL, LOW, MILLIMETRE, Point, Scene, TITLE};
#[cfg(feature = "cli")]
use crate::{cli::PlotArgs, output::check_distinct, warn, wavelet};
use lifting::Scheme;
use lifting_dsl::analysis::synthesised;
use lifting_dsl::float::Float;
use lifting_dsl::laurent::Laurent;
use lifting_dsl::polyphase::{Bank, Filters, check_expansion};
#[cfg(feature = "cli")]
use std::path::Path;

/// Space for the wavelet's name.
const NAME: f64 = 15.0;
/// Space for the headings of the columns.
const HEAD: f64 = 12.0;
/// Smallest visible share of a function's largest value; below it, the curve is thinner than its line.
const VISIBLE: f64 = 1.0 / 200.0;

/// `--what` of `liftc plot`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Panel {
    /// Scaling functions of analysis and synthesis
    Scaling,
    /// Wavelets of analysis and synthesis
    Wavelet,
    /// Frequency responses of both banks
    Response,
    /// The lifting steps of analysis
    Diagram,
}

/// Default panels.
const ALL: [Panel; 4] = [Panel::Scaling, Panel::Wavelet, Panel::Response, Panel::Diagram];

/// Draws one wavelet into all named files.
#[cfg(feature = "cli")]
pub fn run(args: &PlotArgs) -> Outcome {
    let named = wavelet::resolve_one(&args.wavelet)?;
    warn(&named.source.name, &named.source.text, &named.warnings);
    let outputs: Vec<&Path> = args.output.iter().map(AsRef::as_ref).collect();
    outputs.iter().try_for_each(|path| figure::Format::of(path).map(drop))?;
    check_distinct(&[Path::new(&named.source.name)], &outputs)?;
    check_expansion(&named.schemes[0]).map_err(input)?;
    let panels: &[Panel] = if args.what.is_empty() { &ALL } else { &args.what };
    let scene = draw(&named.schemes[0], panels, f64::from(args.width) * MILLIMETRE);
    outputs.into_iter().try_for_each(|path| figure::write(path, &scene, args.dpi))
}

/// SVG of a wavelet's whole figure, `millimetres` wide.
///
/// # Errors
/// If its filters take too long to compute.
pub fn svg(scheme: &Scheme, millimetres: f64) -> Outcome<String> {
    check_expansion(scheme).map_err(input)?;
    Ok(draw(scheme, &ALL, millimetres * MILLIMETRE).svg())
}

fn draw(scheme: &Scheme, panels: &[Panel], width: f64) -> Scene {
    let filters = Filters::<Float>::of_scheme(scheme);
    let sides = sides(&filters);
    let panel_width = (width - 2.0 * (LEFT + RIGHT)) / 2.0;
    let panel_height = 0.6 * panel_width;
    let charts = panels.iter().filter(|p| !matches!(p, Panel::Diagram)).count() as f64;
    let head = NAME + if charts > 0.0 { HEAD } else { 0.0 };
    let drawn: f64 =
        panels.iter().filter(|p| matches!(p, Panel::Diagram)).map(|_| diagram::height(scheme, width - 8.0)).sum();
    let height = head + charts * (panel_height + BELOW) + drawn;
    let mut scene = Scene::new(width, height, &format!("The wavelet {}", scheme.name()));
    let name = figure::literal(scheme.name());
    scene.text(&name, Point { x: width / 2.0, y: 3.0 + TITLE }, TITLE, Anchor::Middle, INK);
    let column = |side: usize| LEFT + side as f64 * (panel_width + LEFT + RIGHT);
    if charts > 0.0 {
        for (side, name) in ["Analysis", "Synthesis"].into_iter().enumerate() {
            let at = Point { x: column(side) + panel_width / 2.0, y: NAME + LABEL };
            scene.text(name, at, LABEL, Anchor::Middle, INK);
        }
    }
    let mut y = head;
    for panel in panels {
        if matches!(panel, Panel::Diagram) {
            diagram::draw(&mut scene, scheme, Point { x: 4.0, y }, width - 8.0);
            y += diagram::height(scheme, width - 8.0);
            continue;
        }
        for (side, bank) in sides.iter().enumerate() {
            let chart = match panel {
                Panel::Scaling => function(&bank.low, &bank.low, "*φ*(*t*)", LOW),
                Panel::Wavelet => function(&bank.low, &bank.high, "*ψ*(*t*)", HIGH),
                Panel::Response | Panel::Diagram => response(bank),
            };
            chart.draw(&mut scene, Area { x: column(side), y, width: panel_width, height: panel_height });
        }
        y += panel_height + BELOW;
    }
    scene
}

/// Banks of both sides in `f64`, normalised for functions: low-passes have the sum √2, and the high-passes of analysis
/// and synthesis have equal norms. Gains that a scheme moves between the sides do not change the functions.
fn sides(filters: &Filters<Float>) -> [Bank<Float>; 2] {
    let (a, s) = (&filters.analysis, &filters.synthesis);
    let scaled = |p: &Laurent<Float>, by: f64| match Float::from_f64(by).filter(|_| by.is_finite() && by != 0.0) {
        Some(by) => p.scaled(&by),
        None => p.clone(),
    };
    let unit = |p: &Laurent<Float>| scaled(p, 2f64.sqrt() / p.sum().to_f64());
    let balance = (s.high.energy().to_f64() / a.high.energy().to_f64()).powf(0.25);
    [
        Bank { low: unit(&a.low), high: scaled(&a.high, balance) },
        Bank { low: unit(&s.low), high: scaled(&s.high, 1.0 / balance) },
    ]
}

/// Scaling function or wavelet by the cascade algorithm, at the visible resolution.
fn function(low: &Laurent<Float>, band: &Laurent<Float>, label: &'static str, colour: Colour) -> Chart {
    let width = low.width().max(band.width()).max(2);
    let levels = (4096 / width).ilog2().clamp(4, 9);
    let curve = |levels: u32| {
        let (start, values) = synthesised(low, band, levels);
        let (unit, gain) = (f64::from(levels).exp2().recip(), (f64::from(levels) / 2.0).exp2());
        // Functions are zero outside their support.
        let inner = values.iter().enumerate().map(|(i, v)| ((start + i as i64) as f64 * unit, v * gain));
        let (first, last) = (start as f64 * unit, (start + values.len() as i64 - 1) as f64 * unit);
        let mut points = vec![(first - unit, 0.0)];
        points.extend(inner);
        points.push((last + unit, 0.0));
        points
    };
    let peak = |points: &[(f64, f64)]| points.iter().fold(0.0f64, |m, p| m.max(p.1.abs()));
    let (points, before) = (curve(levels), curve(levels - 1));
    let growth = peak(&points) / peak(&before);
    // The cascade of a continuous function has converged by now.
    let note = if !growth.is_finite() || low.sum().to_f64() == 0.0 {
        Some("none: the low-pass sums to 0".into())
    } else if growth > 1.1 {
        Some(format!("level {levels}; no limit"))
    } else {
        None
    };
    let (first, last) = visible(&points);
    let margin = 0.04 * (last - first);
    let x = (first - margin, last + margin);
    let points: Vec<(f64, f64)> = points.into_iter().filter(|p| (x.0..=x.1).contains(&p.0)).collect();
    let extreme = |f: fn(f64, f64) -> f64| points.iter().fold(0.0, |m, p| f(m, p.1));
    let (bottom, mut top) = (extreme(f64::min), extreme(f64::max));
    if note.is_some() {
        top += 0.18 * (top - bottom);
    }
    Chart {
        x_label: "*t*",
        y_label: label,
        x,
        y: (bottom, top),
        ticks: Vec::new(),
        curves: vec![Curve { points, colour, style: Style::Line, name: "" }],
        note,
    }
}

/// Visible support of a function; all of it if nothing is visible.
fn visible(points: &[(f64, f64)]) -> (f64, f64) {
    let peak = points.iter().fold(0.0f64, |m, p| m.max(p.1.abs()));
    let seen = |p: &(f64, f64)| p.1.abs() > VISIBLE * peak;
    // Include the neighbouring points, where the function is zero.
    let first = points.iter().position(seen).map_or(0, |i| i.saturating_sub(1));
    let last = points.iter().rposition(seen).map_or(points.len() - 1, |i| (i + 1).min(points.len() - 1));
    (points[first].0, points[last].0)
}

/// Magnitude responses of both filters of a bank.
fn response(bank: &Bank<Float>) -> Chart {
    const POINTS: usize = 256;
    let curve = |p: &Laurent<Float>| -> Vec<(f64, f64)> {
        let taps: Vec<(f64, f64)> = p.terms().map(|(n, c)| (n as f64, c.to_f64())).collect();
        let magnitude = |i: usize| {
            let w = std::f64::consts::PI * i as f64 / POINTS as f64;
            let (re, im) =
                taps.iter().fold((0.0, 0.0), |(re, im), (n, c)| (re + c * (w * n).cos(), im + c * (w * n).sin()));
            (i as f64 / POINTS as f64, f64::hypot(re, im))
        };
        (0..=POINTS).map(magnitude).collect()
    };
    let curves = vec![
        Curve { points: curve(&bank.low), colour: LOW, style: Style::Line, name: "low" },
        Curve { points: curve(&bank.high), colour: HIGH, style: Style::Dashed, name: "high" },
    ];
    let top = curves.iter().flat_map(|c| &c.points).fold(0.0f64, |m, p| m.max(p.1));
    Chart {
        x_label: "*ω*",
        y_label: "|*H*(*ω*)|",
        x: (0.0, 1.0),
        // Leave space for the legend above the curves.
        y: (0.0, 1.2 * top),
        ticks: vec![(0.0, "0"), (0.25, "π/4"), (0.5, "π/2"), (0.75, "3π/4"), (1.0, "π")],
        curves,
        note: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_shown_on_their_support() {
        let points = |values: &[f64]| values.iter().enumerate().map(|(i, v)| (i as f64, *v)).collect::<Vec<_>>();
        assert_eq!(visible(&points(&[0.0, 0.001, -0.002, 0.3, 1.0, -0.1, 0.001, 0.0, 0.0])), (2.0, 6.0));
        assert_eq!(visible(&points(&[0.0, 1.0, 1.0, 0.0])), (0.0, 3.0));
        assert_eq!(visible(&points(&[0.0, 0.0, 0.0])), (0.0, 2.0));
        assert_eq!(visible(&points(&[1.0])), (0.0, 0.0));
    }
}
