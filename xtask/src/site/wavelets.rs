//! The wavelet browser: a table of the catalogue, and a page for each wavelet with its text, filters and figures.

use super::nav::Nav;
use crate::toolchain::target;
use lifting::{Domain, Scheme, catalogue};
use lifting_codegen::describe;
use lifting_dsl::analysis::{Analysis, MOST_MOMENTS, analyse};
use lifting_dsl::coefficient::Coefficient;
use lifting_dsl::float::Float;
use lifting_dsl::laurent::Laurent;
use lifting_dsl::print_scheme;
use lifting_filters::{CATALOGUE, Entry};
use regex::{Captures, Regex};
use std::collections::HashSet;
use std::path::Path;
use std::sync::LazyLock;

/// The page with the table, and that of a wavelet; braces hold names of parts.
const TABLE: &str = include_str!("../../site/wavelets.md");
const PAGE: &str = include_str!("../../site/wavelet.md");
/// Width of figures, in millimetres.
const WIDTH: f64 = 160.0;
/// Levels of the pyramids.
const LEVELS: &str = "3";
/// Side of the picture that is transformed, in samples: even at each level, for every border rule.
const SIDE: u32 = 256;
/// Differences below this share of the largest tap are rounding.
const ROUNDING: f64 = 1e-9;

/// Columns of the table.
const COLUMNS: [&str; 11] = [
    "Wavelet",
    "Other names",
    "Family",
    "Domain",
    "Border rule",
    "Taps",
    "Moments",
    "Support",
    "Symmetry",
    "Orthogonal",
    "Operations",
];

/// Names of PyWavelets' discrete wavelets, as the catalogue spells them.
static PYWAVELETS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(haar|dmey|db[0-9]+|sym[0-9]+|coif[0-9]+|r?bior?[0-9]_[0-9])$").expect("a valid pattern")
});

/// A wavelet of the catalogue, with its properties.
struct Wavelet {
    entry: &'static Entry,
    scheme: Scheme,
    analysis: Analysis,
}

/// Writes the table, the pages and their pictures below `docs/wavelets`; returns their navigation.
pub fn write(root: &Path, docs: &Path) -> Result<Nav, String> {
    let folder = docs.join("wavelets");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let picture = folder.join("picture.png");
    crop(&root.join("tests/data/chelsea.png"), &picture)?;
    let all = CATALOGUE.iter().map(Wavelet::new).collect::<Result<Vec<_>, _>>()?;
    super::write(&folder.join("index.md"), table(&all))?;
    let mut families: Vec<(&str, Vec<Nav>)> = Vec::new();
    for wavelet in &all {
        let name = wavelet.entry.name;
        wavelet.draw(&folder, &picture)?;
        super::write(&folder.join(format!("{name}.md")), wavelet.page())?;
        let page = Nav::page(&format!("wavelets/{name}.md"));
        match families.last_mut() {
            Some((family, pages)) if *family == wavelet.entry.family => pages.push(page),
            _ => families.push((wavelet.entry.family, vec![page])),
        }
    }
    let mut items = vec![Nav::page("wavelets/index.md")];
    items.extend(families.into_iter().map(|(family, pages)| Nav::Group(family.into(), pages)));
    Ok(Nav::Group("Wavelets".into(), items))
}

/// A grey square of the test picture.
fn crop(from: &Path, to: &Path) -> Result<(), String> {
    let picture = image::open(from).map_err(|e| format!("{}: {e}", from.display()))?;
    let grey = picture.crop_imm(60, 20, SIDE, SIDE).into_luma8();
    grey.save(to).map_err(|e| format!("{}: {e}", to.display()))
}

/// The page with the table.
fn table(all: &[Wavelet]) -> String {
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rows: String = all.iter().map(|w| row(&w.cells())).collect();
    let heads = row(&COLUMNS.map(String::from)) + &row(&COLUMNS.map(|_| "---".into()));
    TABLE.replace("{table}", &(heads + &rows))
}

impl Wavelet {
    fn new(entry: &'static Entry) -> Result<Wavelet, String> {
        let scheme = catalogue::scheme(entry).map_err(|e| format!("{}: {e}", entry.name))?;
        Ok(Wavelet { entry, analysis: analyse(&scheme), scheme })
    }

    /// Low-pass and high-pass of analysis, then of synthesis.
    fn filters(&self) -> [(&'static str, &Laurent<Float>); 4] {
        let f = &self.analysis.filters;
        [
            ("analysis_low", &f.analysis.low),
            ("analysis_high", &f.analysis.high),
            ("synthesis_low", &f.synthesis.low),
            ("synthesis_high", &f.synthesis.high),
        ]
    }

    /// Names in PyWavelets of exactly this wavelet.
    fn pywavelets(&self) -> Vec<String> {
        let names = std::iter::once(&self.entry.name).chain(self.entry.aliases);
        names.filter(|name| PYWAVELETS.is_match(name)).map(|name| name.replace('_', ".")).collect()
    }

    fn other_names(&self) -> Vec<String> {
        let own = self.pywavelets().into_iter().filter(|name| name != self.entry.name);
        let rest = self.entry.aliases.iter().filter(|name| !PYWAVELETS.is_match(name)).map(ToString::to_string);
        own.chain(rest).collect()
    }

    fn taps(&self) -> [usize; 2] {
        let bank = &self.analysis.filters.analysis;
        [&bank.low, &bank.high].map(|p| p.coefficients().len())
    }

    fn moments(&self) -> String {
        let count =
            |n: u32| if !self.analysis.exact_moments && n == MOST_MOMENTS { format!("{n}+") } else { n.to_string() };
        format!("{}/{}", count(self.analysis.moments), count(self.analysis.dual_moments))
    }

    fn symmetry(&self) -> &'static str {
        if self.filters().iter().all(|(_, filter)| is_symmetric(filter)) { "symmetric" } else { "none" }
    }

    fn is_orthogonal(&self) -> bool {
        self.analysis.orthogonality < ROUNDING
    }

    fn cells(&self) -> [String; 11] {
        let [low, high] = self.taps();
        let name = self.entry.name;
        [
            format!("[{name}]({name}.md)"),
            self.other_names().join(", "),
            self.entry.family.into(),
            self.scheme.domain().name().into(),
            self.scheme.boundary().name().into(),
            format!("{low}/{high}"),
            self.moments(),
            format!("{:.1}", (low + high) as f64 / 2.0 - 1.0),
            self.symmetry().into(),
            if self.is_orthogonal() { "yes" } else { "no" }.into(),
            format!("{:.1}", self.analysis.cost.lifting),
        ]
    }

    /// Figures, rows of the window and the pyramid, as files in `folder`.
    fn draw(&self, folder: &Path, picture: &Path) -> Result<(), String> {
        let name = self.entry.name;
        let failed = |failure: liftc::failure::Failure| format!("{name}: {}", failure.render(false, 100));
        super::write(&folder.join(format!("{name}.svg")), liftc::svg(&self.scheme, WIDTH).map_err(failed)?)?;
        super::write(&folder.join(format!("{name}-rows.svg")), liftc::rows_svg(&self.scheme).map_err(failed)?)?;
        let coefficients = target().join("site/coefficients.npy");
        let pyramid = folder.join(format!("{name}-pyramid.png"));
        let words = ["liftc", "transform", "-w", name, "-l", LEVELS, "--quiet", "-o"].map(std::ffi::OsString::from);
        let paths = [coefficients.into(), "--picture".into(), pyramid.into(), picture.into()];
        liftc::execute(words.into_iter().chain(paths)).map_err(failed)
    }

    fn page(&self) -> String {
        let Wavelet { entry: Entry { name, family, .. }, scheme, analysis: a } = self;
        let [low, high] = self.taps();
        let profiles: Vec<String> = scheme.profiles().iter().map(|p| p.format.name().to_owned()).collect();
        let facts = [
            ("Family", (*family).to_owned()),
            ("Other names", code(&self.other_names())),
            ("PyWavelets' names", code(&self.pywavelets())),
            ("Domain", scheme.domain().name().into()),
            ("Border rule", scheme.boundary().name().into()),
            ("Profiles", code(&profiles)),
            ("Taps of analysis, low and high", format!("{low} and {high}")),
            ("Vanishing moments, analysis/synthesis", self.moments()),
            ("Symmetry of the filters", self.symmetry().into()),
            ("Orthogonal", if self.is_orthogonal() { "yes" } else { "no" }.into()),
            ("Gains, constant and alternating signal", format!("{:.4} and {:.4}", a.dc_gain, a.nyquist_gain)),
            ("Condition number of a level", format!("{:.4}", a.frame.condition())),
            (
                "Operations a sample and axis",
                format!("{:.1}, {:.1} by convolution", a.cost.lifting, a.cost.convolution),
            ),
            ("Reconstruction", if scheme.domain() == Domain::Integer { "lossless" } else { "to rounding" }.into()),
        ];
        let facts: String = facts.iter().map(|(name, value)| format!("| {name} | {value} |\n")).collect();
        let text = print_scheme(scheme);
        let source: String = text.lines().filter(|line| !line.starts_with("///")).map(|l| format!("{l}\n")).collect();
        let steps: String = scheme.steps().iter().map(|step| describe::step(step) + "\n").collect();
        let filters: String = self.filters().iter().map(|(name, filter)| taps(name, filter)).collect();
        let parts = [
            ("{docs}", linked(&scheme.docs().join("\n"), name)),
            ("{facts}", facts),
            ("{sources}", super::links::SOURCES.into()),
            ("{file}", self.entry.file.into()),
            ("{source}", source),
            ("{steps}", steps),
            ("{filters}", filters),
            ("{levels}", LEVELS.into()),
            ("{name}", (*name).to_owned()),
        ];
        parts.iter().fold(PAGE.to_owned(), |page, (key, part)| page.replace(key, part))
    }
}

/// Names between backticks, or a dash.
fn code(names: &[String]) -> String {
    match names {
        [] => "–".into(),
        names => format!("`{}`", names.join("`, `")),
    }
}

/// Whether a filter equals its mirror image, or the negative of it.
fn is_symmetric(filter: &Laurent<Float>) -> bool {
    let taps: Vec<f64> = filter.coefficients().iter().map(Coefficient::to_f64).collect();
    let largest = taps.iter().fold(0.0, |m: f64, t| m.max(t.abs()));
    let mirrored =
        |sign: f64| taps.iter().zip(taps.iter().rev()).all(|(a, b)| (a - sign * b).abs() <= ROUNDING * largest);
    mirrored(1.0) || mirrored(-1.0)
}

/// A filter as a list of Python.
fn taps(name: &str, filter: &Laurent<Float>) -> String {
    let taps: Vec<String> = filter.coefficients().iter().map(|c| format!("{:?},", c.to_f64())).collect();
    let taps: String = taps.chunks(3).map(|line| format!("    {}\n", line.join(" "))).collect();
    format!("{name} = [  # n = {}\n{taps}]\n", filter.low())
}

/// A doc comment with links to other wavelets that it names.
fn linked(docs: &str, own: &str) -> String {
    static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new("`([a-z0-9_]+)`").expect("a valid pattern"));
    let names: HashSet<&str> = CATALOGUE.iter().map(|entry| entry.name).filter(|name| *name != own).collect();
    let link = |found: &Captures| match names.get(&found[1]) {
        Some(name) => format!("[{}]({name}.md)", &found[0]),
        None => found[0].to_owned(),
    };
    NAME.replace_all(docs, link).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_wavelet_and_every_name_of_pywavelets() {
        let all: Vec<Wavelet> = CATALOGUE.iter().map(|entry| Wavelet::new(entry).unwrap()).collect();
        let table = table(&all);
        for entry in CATALOGUE {
            assert!(table.contains(&format!("| [{0}]({0}.md) |", entry.name)), "{}", entry.name);
        }
        let rows: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), CATALOGUE.len() + 2);
        assert!(rows.iter().all(|row| row.matches(" | ").count() == COLUMNS.len() - 1));
        // haar, 38 db, 19 sym, 17 coif, 15 bior, 15 rbio, dmey.
        assert_eq!(all.iter().flat_map(Wavelet::pywavelets).collect::<HashSet<_>>().len(), 106);
    }

    #[test]
    fn rows_have_the_properties() {
        let row = |name| Wavelet::new(lifting_filters::find(name).unwrap()).unwrap().cells().join(" | ");
        assert_eq!(
            row("cdf97"),
            "[cdf97](cdf97.md) | jpeg2000_9_7 | JPEG 2000 | real | whole-symmetric | 9/7 | 4/4 | 7.0 | symmetric | no | 7.0"
        );
        assert_eq!(
            row("db2"),
            "[db2](db2.md) | sym2 | Daubechies | real | periodic | 4/4 | 2/2 | 3.0 | none | yes | 5.0"
        );
    }

    #[test]
    fn doc_comments_link_to_other_wavelets() {
        assert_eq!(linked("`db2`, `db3` and `x`", "db3"), "[`db2`](db2.md), `db3` and `x`");
    }
}
