//! `liftc explain`: properties that the compiler derives from a wavelet, in the papers' terms and diagrams.

mod diagram;
mod moves;

use crate::cli::ExplainArgs;
use crate::failure::{Outcome, input, usage};
use crate::output::{check_distinct, print, print_json};
use crate::{compile::scalar, figure, warn, wavelet};
use diagram::Diagram;
use lifting::{Boundary, Domain, SampleType, Scheme};
use lifting_codegen::describe;
use lifting_codegen::emit::Operations;
use lifting_codegen::window::{StepWindow, effective_support};
use lifting_dsl::analysis::band_gains;
use lifting_dsl::analysis::range::{Setting, exact_bits};
use lifting_dsl::geometry::Geometry;
use lifting_dsl::polyphase::check_expansion;
use lifting_dsl::{Step, codes};
use moves::Moves;
use serde::Serialize;
use std::path::Path;

/// Explains a wavelet, or a code of an error or a warning.
pub fn run(args: &ExplainArgs) -> Outcome {
    if is_code(&args.wavelet) {
        let entry = code(&args.wavelet)?;
        if args.json {
            return print_json(&Entry { code: entry.code, title: entry.title, text: entry.text });
        }
        return print(&entry_text(&entry));
    }
    let named = wavelet::resolve_one(&args.wavelet)?;
    warn(&named.source.name, &named.source.text, &named.warnings);
    if let Some(path) = &args.svg {
        figure::Format::of(path)?;
        check_distinct(&[Path::new(&named.source.name)], &[path])?;
    }
    let scheme = &named.schemes[0];
    check_expansion(scheme).map_err(input)?;
    let boundary = args.boundary.unwrap_or_else(|| scheme.boundary());
    let (default, wanted) = match scheme.domain() {
        Domain::Integer => (SampleType::I16, "i16, i32 or i64"),
        Domain::Real => (SampleType::F32, "f16, bf16, f32 or f64"),
    };
    let sample = args.sample.unwrap_or(default);
    if sample.domain() != scheme.domain() {
        return Err(
            usage(format!("{} has no steps for {}", scheme.name(), sample.name())).help(format!("take {wanted}"))
        );
    }
    let [height, width] = args.shape;
    if boundary == Boundary::Periodic && [height, width].iter().any(|n| n % (1 << args.levels) != 0) {
        return Err(usage(format!(
            "{height}x{width} is not even at each of {} levels: periodic needs that",
            args.levels
        ))
        .help("give another --shape, or fewer --levels"));
    }
    let geometry = Geometry::uniform(&args.shape, args.levels).map_err(input)?;
    let forward = (scheme.steps().to_vec(), "forward");
    let both = [forward, (scheme.inverse_steps(), "inverse")];
    let diagrams = both.each_ref().map(|(steps, _)| Diagram::new(steps, boundary, args.height.into()));

    let moves = moves::all(scheme, boundary, scalar(sample), &geometry);
    if let Some(path) = &args.svg {
        let scene = diagram::draw(scheme.name(), boundary, &[("Forward", &diagrams[0]), ("Inverse", &diagrams[1])]);
        figure::write(path, &scene, figure::DPI)?;
    }
    if args.json {
        return print_json(&explanation(args, scheme, boundary, sample, (&both, &diagrams), moves)?);
    }

    let mut text = format!("{}: {}, border rule {boundary}\n", scheme.name(), domain(scheme));
    for ((steps, name), diagram) in both.iter().zip(&diagrams) {
        text += &format!("\nSteps, {name}\n{}", table_of_steps(steps, boundary, diagram));
    }
    text += &format!("\nWindow, positions\n{}", table_of_windows(&both, &diagrams, args.height.into()));
    for ((_, name), diagram) in both.iter().zip(&diagrams) {
        text += &format!("\nRows of the window, {name} (a column a step)\n{}", diagram.text());
    }
    text += "\n  × updated in this window, ● read for that, ○ read only where the signal ends nearby\n";
    let operations = Operations::of(scheme.steps());
    let total = operations.additions + operations.multiplications + operations.shifts;
    text += &format!("\nOperations\n  {operations} a pair: {} a sample and axis\n", total as f64 / 2.0);
    text += &match scheme.domain() {
        Domain::Integer => ranges(scheme, boundary, args.levels)?,
        Domain::Real => gains(scheme, args.levels),
    };
    text += &format!(
        "\nWhat the schedules move: {height}x{width}, {} level{}, {}\n{}  moved: samples loaded and stored; sectors: \
         of 32 bytes; wavefronts: of shared memory;\n  integer: index arithmetic included; stream: chunks as for one \
         multiprocessor,\n  short on a small image, so that the rows around them weigh more than on a large one\n",
        args.levels,
        if args.levels == 1 { "" } else { "s" },
        sample.name(),
        moves::table(&moves)
    );
    print(&text)
}

/// The explanation as data.
fn explanation<'a>(
    args: &ExplainArgs,
    scheme: &'a Scheme,
    boundary: Boundary,
    sample: SampleType,
    (both, diagrams): (&[(Vec<Step>, &'static str); 2], &[Diagram; 2]),
    moves: Vec<Moves>,
) -> Outcome<Explanation<'a>> {
    let directions = both.iter().zip(diagrams).map(|((steps, name), diagram)| {
        let (w, height) = (diagram.window(), args.height.into());
        let step = |(step, place): (&Step, &StepWindow)| ExplainedStep {
            text: describe::step(step),
            reads: step.support(),
            reads_at_borders: effective_support(step, boundary),
            lag: place.lag,
        };
        Explained {
            direction: name,
            steps: steps.iter().zip(&w.steps).map(step).collect(),
            window: WindowRows {
                top: w.top,
                overlap: w.overlap,
                height,
                bottom: w.bottom,
                rows: w.rows(height),
                kept: w.kept(),
            },
        }
    });
    let Operations { additions, multiplications, shifts } = Operations::of(scheme.steps());
    Ok(Explanation {
        name: scheme.name(),
        domain: domain(scheme),
        boundary: boundary.name(),
        shape: args.shape,
        levels: args.levels,
        sample: sample.name(),
        directions: directions.collect(),
        operations_a_pair: Counted { additions, multiplications, shifts },
        input_bits: if scheme.domain() == Domain::Integer { bits(scheme, boundary, args.levels)? } else { Vec::new() },
        moves,
    })
}

/// SVG of a wavelet's row diagrams, in windows of 8 rows under its own border rule.
///
/// # Errors
/// If its filters take too long to compute.
pub fn rows_svg(scheme: &Scheme) -> Outcome<String> {
    check_expansion(scheme).map_err(input)?;
    let diagram = |steps| Diagram::new(steps, scheme.boundary(), 8);
    let (forward, inverse) = (diagram(scheme.steps()), diagram(&scheme.inverse_steps()));
    let both = [("Forward", &forward), ("Inverse", &inverse)];
    Ok(diagram::draw(scheme.name(), scheme.boundary(), &both).svg())
}

/// Whether a word has the form of a code such as `L0301`. No wavelet has such a name.
fn is_code(word: &str) -> bool {
    word.strip_prefix(['L', 'l']).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Entry of a code in the language's reference.
fn code(word: &str) -> Outcome<codes::Entry> {
    let wanted = word.to_uppercase();
    let Some(entry) = codes::entry(&wanted) else {
        let all: Vec<_> = codes::entries().map(|e| e.code).collect();
        let near: Vec<_> = all.iter().copied().filter(|c| wanted.starts_with(&c[..3])).collect();
        let help = match near.as_slice() {
            [] => format!("codes are {} to {}", all[0], all[all.len() - 1]),
            near => format!("similar codes are {}", near.join(", ")),
        };
        return Err(input(format!("unknown error or warning `{word}`")).help(help));
    };
    Ok(entry)
}

fn entry_text(entry: &codes::Entry) -> String {
    let mut text = format!("{}: {}\n\n", entry.code, entry.title);
    let mut example = false;
    for line in entry.text.lines() {
        if line.starts_with("```") {
            example = !example;
        } else if example {
            text += &format!("    {line}\n");
        } else {
            text += &format!("{line}\n");
        }
    }
    text
}

/// Entry of a code, for `--json`.
#[derive(Debug, Serialize)]
struct Entry {
    code: &'static str,
    title: &'static str,
    /// Cause, cure and example, in Markdown.
    text: &'static str,
}

/// A wavelet, for `--json`.
#[derive(Debug, Serialize)]
struct Explanation<'a> {
    name: &'a str,
    domain: &'static str,
    boundary: &'static str,
    shape: [usize; 2],
    levels: u32,
    sample: &'static str,
    directions: Vec<Explained<'a>>,
    operations_a_pair: Counted,
    /// Exact input ranges, for integer wavelets.
    input_bits: Vec<InputBits>,
    moves: Vec<moves::Moves>,
}

/// Analysis or synthesis.
#[derive(Debug, Serialize)]
struct Explained<'a> {
    direction: &'a str,
    steps: Vec<ExplainedStep>,
    window: WindowRows,
}

#[derive(Debug, Serialize)]
struct ExplainedStep {
    text: String,
    /// First and last offset that it reads.
    reads: Option<(i64, i64)>,
    reads_at_borders: Option<(i64, i64)>,
    /// Lag behind the youngest row.
    lag: i64,
}

/// Rows of the sliding window.
#[derive(Debug, Serialize)]
struct WindowRows {
    top: i64,
    overlap: i64,
    height: i64,
    bottom: i64,
    rows: i64,
    kept: i64,
}

#[derive(Debug, Serialize)]
struct Counted {
    additions: usize,
    multiplications: usize,
    shifts: usize,
}

/// Widest inputs, in bits, for which nothing wraps.
#[derive(Debug, Serialize)]
struct InputBits {
    levels: u32,
    sample: &'static str,
    signed: u32,
    unsigned: u32,
}

/// Exact input ranges for both axes, without a gain shift.
fn bits(scheme: &Scheme, boundary: Boundary, levels: u32) -> Outcome<Vec<InputBits>> {
    let types = [SampleType::I16, SampleType::I32, SampleType::I64];
    let all = (1..=levels).flat_map(|levels| types.map(|t| (levels, t)));
    all.map(|(levels, t)| {
        let setting = Setting { boundary, levels, axes: 2, gain_shift: 0 };
        let bits = |signed| exact_bits(scheme.steps(), t, signed, &setting).map_err(input);
        Ok(InputBits { levels, sample: t.name(), signed: bits(true)?, unsigned: bits(false)? })
    })
    .collect()
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
