//! `liftc explain`: properties that the compiler derives from a wavelet, in the papers' terms and diagrams.

#[cfg(feature = "cli")]
mod command;
mod diagram;
#[cfg(feature = "cli")]
mod moves;

use crate::failure::{Outcome, input};
#[cfg(feature = "cli")]
pub use command::run;
use diagram::Diagram;
use lifting::{Boundary, Domain, SampleType, Scheme};
use lifting_codegen::describe;
use lifting_codegen::emit::Operations;
use lifting_codegen::window::effective_support;
use lifting_dsl::Step;
use lifting_dsl::analysis::band_gains;
use lifting_dsl::analysis::range::{Setting, exact_bits};
use lifting_dsl::polyphase::check_expansion;

/// Height of windows, in rows, unless the command line sets another.
const HEIGHT: u32 = 8;
/// Levels of ranges, unless the command line sets others.
const LEVELS: u32 = 3;

/// Text of `liftc explain` without the counts of schedules, for the wavelet's own border rule.
///
/// # Errors
/// If its filters take too long to compute.
pub fn window(scheme: &Scheme) -> Outcome<String> {
    check_expansion(scheme).map_err(input)?;
    text(scheme, scheme.boundary(), HEIGHT.into(), LEVELS)
}

/// SVG of a wavelet's row diagrams, in windows of 8 rows under its own border rule.
///
/// # Errors
/// If its filters take too long to compute.
pub fn rows_svg(scheme: &Scheme) -> Outcome<String> {
    check_expansion(scheme).map_err(input)?;
    let diagram = |steps| Diagram::new(steps, scheme.boundary(), HEIGHT.into());
    let (forward, inverse) = (diagram(scheme.steps()), diagram(&scheme.inverse_steps()));
    let both = [("Forward", &forward), ("Inverse", &inverse)];
    Ok(diagram::draw(scheme.name(), scheme.boundary(), &both).svg())
}

/// Steps, windows, operations and ranges.
fn text(scheme: &Scheme, boundary: Boundary, height: i64, levels: u32) -> Outcome<String> {
    let both = [(scheme.steps().to_vec(), "forward"), (scheme.inverse_steps(), "inverse")];
    let diagrams = both.each_ref().map(|(steps, _)| Diagram::new(steps, boundary, height));
    let mut text = format!("{}: {}, border rule {boundary}\n", scheme.name(), domain(scheme));
    for ((steps, name), diagram) in both.iter().zip(&diagrams) {
        text += &format!("\nSteps, {name}\n{}", table_of_steps(steps, boundary, diagram));
    }
    text += &format!("\nWindow, positions\n{}", table_of_windows(&both, &diagrams, height));
    for ((_, name), diagram) in both.iter().zip(&diagrams) {
        text += &format!("\nRows of the window, {name} (a column a step)\n{}", diagram.text());
    }
    text += "\n  × updated in this window, ● read for that, ○ read only where the signal ends nearby\n";
    let operations = Operations::of(scheme.steps());
    let total = operations.additions + operations.multiplications + operations.shifts;
    text += &format!("\nOperations\n  {operations} a pair: {} a sample and axis\n", total as f64 / 2.0);
    text += &match scheme.domain() {
        Domain::Integer => ranges(scheme, boundary, levels)?,
        Domain::Real => gains(scheme, levels),
    };
    Ok(text)
}

fn domain(scheme: &Scheme) -> &'static str {
    match scheme.domain() {
        Domain::Integer => "integer",
        Domain::Real => "real",
    }
}

fn interval(support: Option<(i64, i64)>) -> String {
    support.map_or_else(|| "-".into(), |(lo, hi)| format!("{lo}..{hi}"))
}

fn table_of_steps(steps: &[Step], boundary: Boundary, diagram: &Diagram) -> String {
    let mut text = String::from("  step   reads      at borders   lag\n");
    for (i, (step, place)) in steps.iter().zip(&diagram.window().steps).enumerate() {
        let [reads, served] = [step.support(), effective_support(step, boundary)].map(interval);
        text += &format!("  {:>4}   {reads:<10} {served:<12} {:>3}   {}\n", i + 1, place.lag, describe::step(step));
    }
    text
}

fn table_of_windows(both: &[(Vec<Step>, &str); 2], diagrams: &[Diagram; 2], height: i64) -> String {
    let mut text = String::from("             top  overlap  height  bottom    rows    kept\n");
    for ((_, name), diagram) in both.iter().zip(diagrams) {
        let w = diagram.window();
        text += &format!("  {name:<9}{:>5}{:>9}{height:>8}{:>8}", w.top, w.overlap, w.bottom);
        text += &format!("{:>8}{:>8}\n", w.rows(height), w.kept());
    }
    text
}

/// Exact input ranges, by sample type and level.
fn ranges(scheme: &Scheme, boundary: Boundary, levels: u32) -> Outcome<String> {
    let types = [SampleType::I16, SampleType::I32, SampleType::I64];
    let table = |boundary: Boundary, gain_shift: u32| -> Outcome<String> {
        let mut text = String::from("  levels         i16         i32         i64\n");
        for levels in 1..=levels {
            text += &format!("  {levels:>6}");
            for t in types {
                let setting = Setting { boundary, levels, axes: 2, gain_shift };
                let bits = |signed| exact_bits(scheme.steps(), t, signed, &setting).map_err(input);
                text += &format!("{:>12}", format!("{} / {}", bits(true)?, bits(false)?));
            }
            text += "\n";
        }
        Ok(text)
    };
    let mut text = String::from("\nInput range, in bits, signed / unsigned, both axes\n");
    text += &table(boundary, 0)?;
    text +=
        "  Nothing wraps for these inputs: coefficients are those of exact arithmetic. Wider ones are lossless too:\n";
    text += "  what wraps in analysis wraps back in synthesis.\n";
    for profile in scheme.profiles().iter().filter(|p| p.gain_shift > 0) {
        let rule = profile.boundary.unwrap_or(boundary);
        let (name, shift) = (profile.format.name(), profile.gain_shift);
        text += &format!("\nInput range with profile {name}: border rule {rule}, a gain shift of {shift} a level\n");
        text += &table(rule, shift)?;
        text += "  The shift leaves headroom for rounding; losslessness is certain only for these inputs.\n";
    }
    Ok(text)
}

/// Growth of coefficients for real steps, which have no exact range.
fn gains(scheme: &Scheme, levels: u32) -> String {
    let mut text =
        String::from("\nInput range: real steps round, so that synthesis returns the input up to rounding\n");
    text += "  largest coefficient of samples up to 1 in magnitude, one axis:";
    for gain in band_gains(scheme, levels) {
        text += &format!(" {}{} {:.3}", if gain.high { "H" } else { "L" }, gain.level, gain.analysis_l1);
    }
    text + "\n"
}
