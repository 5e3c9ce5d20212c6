//! `liftc show`: a wavelet as the compiler understands it, with its properties.

use crate::failure::{Outcome, input};
#[cfg(feature = "cli")]
use crate::{
    cli::ShowArgs,
    output::{print, print_json},
    warn, wavelet,
};
use lifting::{Domain, Scheme};
use lifting_codegen::describe;
use lifting_codegen::window::Window;
use lifting_dsl::analysis::range::{Growth, Interval, Setting};
use lifting_dsl::analysis::{Analysis, LevelGains, MOST_MOMENTS, analyse, level_gains};
use lifting_dsl::coefficient::Coefficient;
use lifting_dsl::float::Float;
use lifting_dsl::laurent::Laurent;
use lifting_dsl::polyphase::{Bank, Filters, Reconstruction, check_expansion, is_exactly_expandable};
use lifting_dsl::print_scheme;
use serde::Serialize;

/// Input widths in bits for which ranges are printed: those of cameras, scanners and medical devices.
const WIDTHS: [u32; 5] = [8, 10, 12, 14, 16];

/// Shows all wavelets.
#[cfg(feature = "cli")]
pub fn run(args: &ShowArgs) -> Outcome {
    let (mut texts, mut reports) = (Vec::new(), Vec::new());
    for word in &args.wavelets {
        let named = wavelet::resolve(word)?;
        warn(&named.source.name, &named.source.text, &named.warnings);
        for scheme in &named.schemes {
            let text = print_scheme(scheme);
            if args.text {
                texts.push(text);
                continue;
            }
            let report = Report::of(scheme, text, args.levels)?;
            if !args.json {
                texts.push(report.text(scheme));
            }
            reports.push(report);
        }
    }
    if args.json {
        return print_json(&reports);
    }
    print(&texts.join("\n"))
}

/// Text that [`run`] prints for a wavelet: its source, filters and properties, with gains of `levels` levels.
///
/// # Errors
/// If its ranges cannot be computed.
pub fn describe(scheme: &Scheme, levels: u32) -> Outcome<String> {
    Ok(Report::of(scheme, print_scheme(scheme), levels)?.text(scheme))
}

/// Most taps of a filter in a summary.
const MOST_TAPS: usize = 16;

/// Summary of a wavelet for editors, in Markdown: filters, moments, window and operations.
pub fn summary(scheme: &Scheme, docs: &[String]) -> Outcome<String> {
    check_expansion(scheme).map_err(input)?;
    let a = analyse(scheme);
    let exact = is_exactly_expandable(scheme).then(|| Filters::of_scheme(scheme).analysis);
    let filter = |name: &str, taps: &Laurent<Float>, exact: Option<&Laurent<num_rational::BigRational>>| {
        let filter = Filter::of(taps, exact);
        let count = filter.taps.len();
        let short = |tap: String| match tap.contains('.') {
            true => tap.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => tap,
        };
        let list: Vec<String> = (filter.at..).take(count.min(MOST_TAPS)).map(|n| short(filter.tap(n))).collect();
        let more = if count > MOST_TAPS { ", …" } else { "" };
        format!("- {name}: {count} taps from {}: {}{more}\n", filter.at, list.join(", "))
    };
    let (low, high) = (&a.filters.analysis.low, &a.filters.analysis.high);
    let w = Window::derive(scheme.steps(), scheme.boundary());
    let docs = docs.join("\n");
    Ok(format!(
        "**{}**: {}, border rule {}\n\n{docs}{}{}{}- vanishing moments: {} of analysis, {} of synthesis\n- window, in \
         positions: {} above, {} of overlap, {} below\n- operations: {} a sample and axis by lifting, {} by \
         convolution\n",
        scheme.name(),
        scheme.domain().name(),
        scheme.boundary(),
        if docs.is_empty() { "" } else { "\n\n" },
        filter("low-pass", low, exact.as_ref().map(|bank| &bank.low)),
        filter("high-pass", high, exact.as_ref().map(|bank| &bank.high)),
        a.moments,
        a.dual_moments,
        w.top,
        w.overlap,
        w.bottom,
        a.cost.lifting,
        a.cost.convolution,
    ))
}

/// Properties of a wavelet.
#[derive(Debug, Serialize)]
struct Report {
    name: String,
    domain: &'static str,
    boundary: &'static str,
    /// Source text in the language.
    text: String,
    steps: Vec<String>,
    analysis: FilterPair,
    synthesis: FilterPair,
    reconstruction: Proof,
    vanishing_moments: Moments,
    /// Largest deviation of a coefficient of M·M* from the identity.
    orthogonality: f64,
    dc_gain: f64,
    nyquist_gain: f64,
    frame: FrameBounds,
    operations: Operations,
    levels: Vec<Level>,
    /// Coefficient ranges, for integer wavelets.
    ranges: Vec<Range>,
}

#[derive(Debug, Serialize)]
struct FilterPair {
    low: Filter,
    high: Filter,
}

#[derive(Debug, Serialize)]
struct Filter {
    /// Position of the first tap, relative to 2k.
    at: i64,
    taps: Vec<f64>,
    /// Taps as fractions, if they are rational.
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct Proof {
    exact: bool,
    /// Largest error, relative to the largest sample.
    bound: f64,
}

#[derive(Debug, Serialize)]
struct Moments {
    analysis: u32,
    synthesis: u32,
    /// Whether the moments vanish exactly. Otherwise they vanish to 11 digits, and at most 20 are counted.
    exact: bool,
}

#[derive(Debug, Serialize)]
struct FrameBounds {
    lower: f64,
    upper: f64,
    condition: f64,
}

#[derive(Debug, Serialize)]
struct Operations {
    lifting: f64,
    convolution: f64,
}

/// One level along one axis, with the norms of the four bands of two axes.
#[derive(Debug, Serialize)]
struct Level {
    level: u32,
    low: Band,
    high: Band,
    synthesis_l2_two_axes: TwoAxes,
}

#[derive(Debug, Serialize)]
struct Band {
    analysis_l1: f64,
    analysis_l2: f64,
    synthesis_l1: f64,
    synthesis_l2: f64,
    /// Extra bits that coefficients can need beyond those of the samples, without rounding.
    growth_bits: u32,
}

#[derive(Debug, Serialize)]
struct TwoAxes {
    ll: f64,
    hl_and_lh: f64,
    hh: f64,
}

/// Signed bits of coefficients, for samples of `bits` bits along two axes under the wavelet's border rule.
#[derive(Debug, Serialize)]
struct Range {
    bits: u32,
    signed: bool,
    low: Vec<u32>,
    high: Vec<u32>,
    /// Narrowest sample type without wrapping at any level.
    sample: Option<&'static str>,
}

impl Report {
    fn of(scheme: &Scheme, text: String, levels: u32) -> Outcome<Report> {
        check_expansion(scheme).map_err(input)?;
        let a = analyse(scheme);
        let exact = is_exactly_expandable(scheme).then(|| Filters::of_scheme(scheme));
        let pair = |bank: &Bank<Float>, exact: Option<&Bank<num_rational::BigRational>>| FilterPair {
            low: Filter::of(&bank.low, exact.map(|b| &b.low)),
            high: Filter::of(&bank.high, exact.map(|b| &b.high)),
        };
        Ok(Report {
            name: scheme.name().to_owned(),
            domain: scheme.domain().name(),
            boundary: scheme.boundary().name(),
            text,
            steps: scheme.steps().iter().map(describe::step).collect(),
            analysis: pair(&a.filters.analysis, exact.as_ref().map(|f| &f.analysis)),
            synthesis: pair(&a.filters.synthesis, exact.as_ref().map(|f| &f.synthesis)),
            reconstruction: proof(&a, scheme),
            vanishing_moments: Moments { analysis: a.moments, synthesis: a.dual_moments, exact: a.exact_moments },
            orthogonality: a.orthogonality,
            dc_gain: a.dc_gain,
            nyquist_gain: a.nyquist_gain,
            frame: FrameBounds { lower: a.frame.lower, upper: a.frame.upper, condition: a.frame.condition() },
            operations: Operations { lifting: a.cost.lifting, convolution: a.cost.convolution },
            levels: level_gains(scheme, levels).iter().map(Level::of).collect(),
            ranges: if scheme.domain() == Domain::Integer { ranges(scheme, levels)? } else { Vec::new() },
        })
    }
}

/// Integer steps are invertible for all inputs.
fn proof(a: &Analysis, scheme: &Scheme) -> Proof {
    match a.reconstruction {
        _ if scheme.domain() == Domain::Integer => Proof { exact: true, bound: 0.0 },
        Reconstruction::Exact => Proof { exact: true, bound: 0.0 },
        Reconstruction::Bounded(bound) => Proof { exact: false, bound },
    }
}

impl Filter {
    fn of(p: &Laurent<Float>, exact: Option<&Laurent<num_rational::BigRational>>) -> Filter {
        Filter {
            at: p.low(),
            taps: p.coefficients().iter().map(Coefficient::to_f64).collect(),
            exact: exact.map(|p| p.coefficients().iter().map(ToString::to_string).collect()),
        }
    }

    /// Tap at a position, as a short fraction or in decimals.
    fn tap(&self, n: i64) -> String {
        let Some(i) = usize::try_from(n - self.at).ok().filter(|i| *i < self.taps.len()) else { return String::new() };
        let fraction = self.exact.as_ref().map(|e| &e[i]).filter(|text| text.len() <= 12);
        fraction.cloned().unwrap_or_else(|| format!("{:.16}", self.taps[i]))
    }
}

impl Level {
    fn of(g: &LevelGains) -> Level {
        let band = |g: &lifting_dsl::analysis::BandGain| Band {
            analysis_l1: g.analysis_l1,
            analysis_l2: g.analysis_l2,
            synthesis_l1: g.synthesis_l1,
            synthesis_l2: g.synthesis_l2,
            growth_bits: g.bits(),
        };
        let (l, h) = (g.low.synthesis_l2, g.high.synthesis_l2);
        let synthesis_l2_two_axes = TwoAxes { ll: l * l, hl_and_lh: l * h, hh: h * h };
        Level { level: g.low.level, low: band(&g.low), high: band(&g.high), synthesis_l2_two_axes }
    }
}

fn ranges(scheme: &Scheme, levels: u32) -> Outcome<Vec<Range>> {
    let setting = Setting { boundary: scheme.boundary(), levels, axes: 2, gain_shift: 0 };
    let range = |(bits, signed): (u32, bool)| {
        let growth = Growth::of(scheme.steps(), &Interval::bits(bits, signed), &setting).map_err(input)?;
        Ok(Range {
            bits,
            signed,
            low: growth.levels.iter().map(|l| l.low.signed_bits()).collect(),
            high: growth.levels.iter().map(|l| l.high.signed_bits()).collect(),
            sample: growth.narrowest().map(|t| t.name()),
        })
    };
    WIDTHS.into_iter().flat_map(|bits| [(bits, false), (bits, true)]).map(range).collect()
}

impl Report {
    /// Tables of norms and of bits.
    fn bands(&self) -> Vec<String> {
        let mut lines =
            vec![String::new(), "Bands, one axis; a band of several axes has the products".into(), String::new()];
        lines.push(format!(
            "{:>5}  {:>12}  {:>12}  {:>13}  {:>13}  {:>11}",
            "band", "analysis L1", "analysis L2", "synthesis L1", "synthesis L2", "growth bits"
        ));
        let band = |name: String, b: &Band| {
            format!(
                "{name:>5}  {:>12.6}  {:>12.6}  {:>13.6}  {:>13.6}  {:>11}",
                b.analysis_l1, b.analysis_l2, b.synthesis_l1, b.synthesis_l2, b.growth_bits
            )
        };
        for l in &self.levels {
            lines.push(band(format!("H{}", l.level), &l.high));
            lines.push(band(format!("L{}", l.level), &l.low));
        }
        lines.extend([String::new(), "Norms of synthesis, two axes".into(), String::new()]);
        lines.push(format!("{:>5}  {:>12}  {:>12}  {:>12}", "level", "LL", "HL and LH", "HH"));
        for l in &self.levels {
            let TwoAxes { ll, hl_and_lh, hh } = l.synthesis_l2_two_axes;
            lines.push(format!("{:>5}  {ll:>12.6}  {hl_and_lh:>12.6}  {hh:>12.6}", l.level));
        }
        if !self.ranges.is_empty() {
            let n = self.levels.len();
            let heading = format!(
                "Bits of coefficients, two axes, border rule {}; the narrowest type in which nothing wraps",
                self.boundary
            );
            lines.extend([String::new(), heading, String::new()]);
            let levels: String = (1..=n).map(|l| format!("{:>8}", format!("level {l}"))).collect();
            lines.push(format!("{:<16}{levels}   type", "samples"));
            for r in &self.ranges {
                let kind = if r.signed { "signed" } else { "unsigned" };
                let bits: String =
                    r.low.iter().zip(&r.high).map(|(l, h)| format!("{:>8}", format!("{l} / {h}"))).collect();
                lines.push(format!("{:<16}{bits}   {}", format!("{} {kind}", r.bits), r.sample.unwrap_or("none")));
            }
            lines.push(
                "low / high bands, as signed numbers; wider inputs stay lossless: what wraps in analysis wraps back"
                    .into(),
            );
        }
        lines
    }

    /// The wavelet in the language, followed by its properties as comments.
    fn text(&self, scheme: &Scheme) -> String {
        let mut lines: Vec<String> =
            vec![String::new(), "Filters of one level, away from borders".into(), String::new()];
        lines.push(format!(
            "{:>5}  {:>20}  {:>20}  {:>20}  {:>20}",
            "", "analysis low", "analysis high", "synthesis low", "synthesis high"
        ));
        let filters = [&self.analysis.low, &self.analysis.high, &self.synthesis.low, &self.synthesis.high];
        let low = filters.iter().map(|f| f.at).min().unwrap_or(0);
        let end = filters.iter().map(|f| f.at + f.taps.len() as i64).max().unwrap_or(0);
        for n in low..end {
            let taps: Vec<String> = filters.iter().map(|f| format!("{:>20}", f.tap(n))).collect();
            lines.push(format!("{n:>5}  {}", taps.join("  ")));
        }
        lines.push(String::new());
        let mut fact = |name: &str, text: String| lines.push(format!("{name:<22}{text}"));
        fact(
            "reconstruction",
            match (scheme.domain(), &self.reconstruction) {
                (Domain::Integer, _) => "exact, for every input, wrapped or not: each step undoes itself".into(),
                (_, Proof { exact: true, .. }) => {
                    "exact: synthesis times analysis is the identity, as polynomials over the rationals".into()
                }
                (_, Proof { bound, .. }) if *bound < 1e-100 => "exact: synthesis times analysis is the identity".into(),
                (_, Proof { bound, .. }) => {
                    format!("to {bound:.1e} of the largest sample: the reciprocals of scalings are rounded")
                }
            },
        );
        fact(
            "vanishing moments",
            match &self.vanishing_moments {
                Moments { analysis, synthesis, exact: true } => {
                    format!("{analysis} of analysis, {synthesis} of synthesis")
                }
                Moments { analysis, synthesis, exact: false } => {
                    let more = |n: u32| if n == MOST_MOMENTS { format!("{n} or more") } else { n.to_string() };
                    format!("{} of analysis, {} of synthesis, to 11 digits", more(*analysis), more(*synthesis))
                }
            },
        );
        fact(
            "orthogonality",
            if self.orthogonality < 1e-9 {
                format!("orthonormal, to {:.0e}", self.orthogonality)
            } else {
                format!("biorthogonal: off orthonormal by {:.4}", self.orthogonality)
            },
        );
        fact(
            "gains",
            format!(
                "{:.6} of a constant in the low band, {:.6} of +1, -1, … in the high one",
                self.dc_gain, self.nyquist_gain
            ),
        );
        let FrameBounds { lower, upper, condition } = self.frame;
        fact(
            "frame bounds",
            format!("{lower:.6} to {upper:.6} (energy, one level of one axis); condition number {condition:.6}"),
        );
        let Operations { lifting, convolution } = self.operations;
        fact("operations", format!("{lifting} a sample and axis by lifting, {convolution} by convolution"));

        lines.extend(self.bands());
        let comment = |line: &String| format!("// {line}").trim_end().to_owned() + "\n";
        self.text.clone() + &lines.iter().map(comment).collect::<String>()
    }
}
