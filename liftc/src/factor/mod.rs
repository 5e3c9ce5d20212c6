//! `liftc factor`: filter banks to lifting steps or a lattice; the best factorisation found, or a chosen one.

mod read;

use crate::cli::FactorArgs;
use crate::failure::{Failure, Outcome, input, usage};
use crate::output::{check_distinct, print, write_file};
use lifting::Boundary;
use lifting_dsl::body::Factor;
use lifting_dsl::factor::{
    Candidate, FactorError, How, Known, Options, Precision, candidates, check_orthogonal, check_pair,
};
use lifting_dsl::polyphase::Bank;
use lifting_dsl::{MAX_NAME, Step, print_scheme};
use read::Given;
use std::path::Path;

/// Candidate with its round-trip errors under the border rule.
struct Measured {
    candidate: Candidate,
    f32: f64,
    f64: f64,
}

impl Measured {
    fn error(&self, precision: Precision) -> f64 {
        match precision {
            Precision::F32 => self.f32,
            Precision::F64 => self.f64,
        }
    }

    fn serves(&self, precision: Precision) -> bool {
        self.error(precision) <= precision.limit()
    }
}

/// Factors a bank.
pub fn run(args: &FactorArgs) -> Outcome {
    let given = read::given(args)?;
    let known = aligned(&given);
    let factor = args.into.factor();
    let bank = known.bank();
    known.check().map_err(|e| match check_orthogonal(bank, 1e-9) {
        // The derived high-pass is not at fault.
        Err(e) if given.mirrored && e.nearest().is_none() => fault(&given.name, &e)
            .help("a single low-pass implies an orthogonal bank: give the high-pass too, with --highpass"),
        _ => fault(&given.name, &e),
    })?;
    if let Some(synthesis) = &given.synthesis {
        check_pair(bank, synthesis, 1e-9).map_err(|e| fault(&given.name, &e))?;
    }
    let found = candidates(&known, factor, Options::default().beam).map_err(|e| fault(&given.name, &e))?;
    let boundary = args.boundary.unwrap_or_else(|| known.boundary());
    let measured: Vec<Measured> = found
        .into_iter()
        .map(|candidate| Measured {
            f32: candidate.error(boundary, Precision::F32),
            f64: candidate.error(boundary, Precision::F64),
            candidate,
        })
        .collect();
    if args.list {
        return print(&list(&given.name, &known, boundary, &measured));
    }
    let precision = args.sample.precision();
    let index = match args.pick {
        Some(n) if (1..=measured.len()).contains(&n) => n - 1,
        Some(n) => {
            let there = measured.len();
            return Err(usage(format!("invalid factorisation {n}: {there} found")).help("--list prints them"));
        }
        None => measured.iter().position(|m| m.serves(precision)).unwrap_or(0),
    };
    let chosen = &measured[index];
    if !chosen.serves(precision) {
        return Err(refusal(&given.name, &known, factor, boundary, args.pick, &measured[..], index, precision));
    }
    let name = match &args.name {
        Some(name) => name.clone(),
        None => identifier(&given.name),
    };
    let scheme = chosen.candidate.scheme(&name, boundary).map_err(|errors| {
        let all: Vec<_> = errors.iter().map(|e| e.message.as_str()).collect();
        usage(all.join("; ")).help("set another name with --name")
    })?;
    let docs = docs(&given.name, bank, boundary, chosen, (index + 1, measured.len()));
    let text = print_scheme(&scheme.with_docs(&docs));
    match &args.output {
        Some(path) if path != Path::new("-") => {
            let inputs: Vec<&Path> = given.file.iter().map(AsRef::as_ref).collect();
            check_distinct(&inputs, &[path])?;
            write_file(path, |w| w.write_all(text.as_bytes()))
        }
        _ => print(&text),
    }
}

/// The bank with its free filters moved to positions of reconstruction, if such exist.
fn aligned(given: &Given) -> Known {
    let known = &given.known;
    let Err(error) = known.check() else { return known.clone() };
    let bank = known.bank();
    match given.free {
        [false, false] => known.clone(),
        [true, true] => error.nearest().map_or_else(|| known.clone(), |a| known.placed(Some(a.low), Some(a.high))),
        [low_is_free, _] => {
            // The other filter stays. Two samples multiply the determinant by z, so only the parity matters.
            let moved = |by: i64, from: &Known| match low_is_free {
                true => from.placed(Some(from.bank().low.low() + by), None),
                false => from.placed(None, Some(from.bank().high.low() + by)),
            };
            let tries = [0, 1, -1].into_iter().filter_map(|parity| {
                let one = moved(parity, known);
                match one.check() {
                    Ok(()) => Some(one),
                    Err(FactorError::Misaligned { delay, .. }) => Some(moved(-2 * delay, &one)),
                    Err(_) => None,
                }
            });
            let distance =
                |k: &Known| (k.bank().low.low() - bank.low.low()).abs() + (k.bank().high.low() - bank.high.low()).abs();
            let working = tries.filter(|k| k.check().is_ok()).min_by_key(distance);
            working.unwrap_or_else(|| known.clone())
        }
    }
}

/// Error of a bank, with a remedy in terms of the command line.
fn fault(name: &str, error: &FactorError) -> Failure {
    let (fault, remedy) = error.fault_and_remedy();
    let failure = input(fault).at(name);
    match (error.nearest(), error) {
        (Some(a), _) => failure.help(format!(
            "the same filters reconstruct with --lowpass-at {} --highpass-at {}: check which position is meant",
            a.low, a.high
        )),
        (None, FactorError::NotOrthogonal { .. }) => {
            failure.help("a lattice needs an orthogonal bank: use --as lifting")
        }
        (None, _) => match remedy {
            Some(remedy) => failure.help(remedy),
            None => failure,
        },
    }
}

#[allow(clippy::too_many_arguments)]
fn refusal(
    name: &str,
    known: &Known,
    factor: Factor,
    boundary: Boundary,
    pick: Option<usize>,
    all: &[Measured],
    index: usize,
    precision: Precision,
) -> Failure {
    // Unless one was chosen, the most accurate of the insufficient ones.
    let best = match pick {
        Some(_) => &all[index],
        None => all.iter().min_by(|a, b| a.error(precision).total_cmp(&b.error(precision))).unwrap_or(&all[index]),
    };
    let which = match pick {
        Some(n) => format!("factorisation {n}"),
        None => format!("the best of {} factorisations", all.len()),
    };
    let message = format!(
        "{name}: {precision} cannot carry it: under {boundary}, {which} loses {:.1e} of the signal in a round trip, \
         where {:.0e} is allowed (its largest coefficient is {:.3})",
        best.error(precision),
        precision.limit(),
        best.candidate.cost.largest
    );
    let mut remedies = Vec::new();
    if pick.is_some() && all.iter().any(|m| m.serves(precision)) {
        remedies.push("another factorisation is accurate enough: see --list".to_owned());
    }
    if factor == Factor::Lifting && known.is_orthogonal() {
        remedies.push("the bank is orthogonal: --as lattice has coefficients of at most 1".to_owned());
    }
    if precision == Precision::F32 && best.serves(Precision::F64) {
        remedies.push(format!("--sample f64 is accurate enough, with an error of {:.1e}", best.f64));
    }
    let failure = input(message);
    if remedies.is_empty() { failure } else { failure.help(remedies.join("; ")) }
}

/// Name in the language for a common name: `bior4.4` → `bior4_4`.
fn identifier(name: &str) -> String {
    let stem =
        Path::new(name).file_stem().filter(|_| name.contains(['/', '\\'])).map(|s| s.to_string_lossy().into_owned());
    let plain = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '_' };
    let text = stem.as_deref().unwrap_or(name).chars().map(plain);
    // Leave space for a leading letter.
    let mut left = MAX_NAME - 1;
    let text: String = text.take_while(|c| left.checked_sub(c.len_utf8()).inspect(|l| left = *l).is_some()).collect();
    if text.starts_with(|c: char| c.is_ascii_digit()) || text.is_empty() { format!("w{text}") } else { text }
}

fn filters(bank: &Bank<lifting_dsl::float::Float>) -> String {
    let taps = |n: usize| if n == 1 { "1 tap".to_owned() } else { format!("{n} taps") };
    let (low, high) = (&bank.low, &bank.high);
    format!(
        "low-pass of {} from {}, high-pass of {} from {}",
        taps(low.width()),
        low.low(),
        taps(high.width()),
        high.low()
    )
}

fn docs(
    name: &str,
    bank: &Bank<lifting_dsl::float::Float>,
    boundary: Boundary,
    m: &Measured,
    (n, all): (usize, usize),
) -> String {
    let c = &m.candidate;
    let kind = if c.how == How::Stages { "lattice" } else { "lifting steps" };
    // Differences below all digits of an irrational weight come from high-precision comparisons.
    let nearness = if c.off < 1e-100 { "exactly".into() } else { format!("to {:.0e}", c.off) };
    format!(
        "{name} as {kind}, found by {}: {n} of {all}.\n\n{}; the taps are kept {nearness}.\n\
         {} operations a pair of samples, largest coefficient {:.3}, round trip under {boundary} to {:.0e} in f32, \
         {:.0e} in f64.",
        c.how,
        capital(&filters(bank)),
        c.cost.operations,
        c.cost.largest,
        m.f32,
        m.f64,
    )
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// Most candidates whose steps are printed below the table.
const SHOWN: usize = 3;

fn list(name: &str, known: &Known, boundary: Boundary, all: &[Measured]) -> String {
    let bank = known.bank();
    let determinant = bank.matrix().determinant();
    let c = determinant.largest().map_or(0.0, |(_, c)| c.to_f64());
    let orthogonal = if known.is_orthogonal() { "orthogonal" } else { "biorthogonal" };
    let digits = if known.is_exact() { ", known exactly" } else { "" };
    let mut text = format!("{name}: {}; {orthogonal}, determinant {}{digits}\n\n", filters(bank), trimmed(c));
    text += "                                                            round trip       under any rule\n";
    text += "    #  found by                   steps  ops   largest  reach      f32      f64      f32\n";
    for (i, m) in all.iter().enumerate() {
        let c = &m.candidate;
        let scalings = c.steps.iter().filter(|s| matches!(s, Step::Scale(_))).count();
        text += &format!(
            "  {:>3}  {:<24} {:>4}+{scalings} {:>4} {:>9} {:>6} {:>8} {:>8} {:>8}{}\n",
            i + 1,
            c.how.to_string(),
            c.steps.len() - scalings,
            c.cost.operations,
            short(c.cost.largest),
            c.cost.support,
            format!("{:.0e}", m.f32),
            format!("{:.0e}", m.f64),
            format!("{:.0e}", c.cost.error_f32),
            match (m.serves(Precision::F32), m.serves(Precision::F64)) {
                (true, _) => "",
                (false, true) => "  f64 only",
                (false, false) => "  unusable",
            },
        );
    }
    text += &format!(
        "\n  steps: lifting + scaling; ops: additions and multiplications a pair of samples; reach: positions read, \
         summed over\n  the steps; round trip: largest error of two levels and two axes under {boundary}, relative to \
         the largest sample\n"
    );
    for (i, m) in all.iter().enumerate().take(SHOWN) {
        text += &format!("\n  {}\n", i + 1);
        text += &m
            .candidate
            .steps
            .iter()
            .map(|s| format!("    {}\n", lifting_codegen::describe::step(s)))
            .collect::<String>();
    }
    if all.len() > SHOWN {
        text += "\n  --pick N writes any of them\n";
    }
    text
}

fn short(x: f64) -> String {
    if x < 1e4 { format!("{x:.3}") } else { format!("{x:.1e}") }
}

fn trimmed(x: f64) -> String {
    let text = format!("{x:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
