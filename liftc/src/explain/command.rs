//! The command `liftc explain`, and its output as JSON.

use super::diagram::{self, Diagram};
use super::domain;
use super::moves::{self, Moves};
use crate::cli::ExplainArgs;
use crate::failure::{Outcome, input, usage};
use crate::output::{check_distinct, print, print_json};
use crate::{compile::scalar, figure, warn, wavelet};
use lifting::{Boundary, Domain, SampleType, Scheme};
use lifting_codegen::describe;
use lifting_codegen::emit::Operations;
use lifting_codegen::window::{StepWindow, effective_support};
use lifting_dsl::analysis::range::{Setting, exact_bits};
use lifting_dsl::geometry::Geometry;
use lifting_dsl::polyphase::check_expansion;
use lifting_dsl::{Step, codes};
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

    let text = super::text(scheme, boundary, args.height.into(), args.levels)?;
    print(&format!(
        "{text}\nWhat the schedules move: {height}x{width}, {} level{}, {}\n{}  moved: samples loaded and stored; \
         sectors: of 32 bytes; wavefronts: of shared memory;\n  integer: index arithmetic included; stream: chunks as \
         for one multiprocessor,\n  short on a small image, so that the rows around them weigh more than on a large \
         one\n",
        args.levels,
        if args.levels == 1 { "" } else { "s" },
        sample.name(),
        moves::table(&moves)
    ))
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
