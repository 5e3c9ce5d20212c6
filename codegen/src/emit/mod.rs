//! Whole files: kernels, the functions that call them, and a record of how they were made.
//!
//! `<wavelet>.cu` holds kernels and host functions, and so does `<wavelet>.opencl.c`. `<wavelet>.c` is a complete
//! transform for CPUs; `<wavelet>.h` declares the functions for C programs. The code around the kernels (levels, axes,
//! strides) is shared: it is in this folder's `.in` files, and [`c`], [`cuda`] and [`opencl`] fill in the
//! differences. [`TARGETS`] lists the languages.

mod c;
mod cuda;
mod opencl;
mod operations;
mod passes;
mod private;
mod profile;
mod rust;
mod sweep;
mod target;
mod template;

use crate::back::namer::identifier;
use crate::back::{Unsupported, comment_line};
use crate::ir::valid::{KernelInfo, ValidationError, validate};
use crate::ir::{Kernel, Scalar};
use crate::schedule::{Options, ScheduleError};
use crate::window::{Halo, Window};
use lifting_dsl::{Boundary, Direction, Domain, Profile, Scheme};

pub use c::{DEVICE_DOC, SCRATCH_DOC, c, common, docs, periodic_check, sample_type};
pub use cuda::{FAST_MATH, STREAM, cuda};
pub use opencl::opencl;
pub use operations::Operations;
pub use passes::Passes;
pub use private::{in_namespace, kernel_name, namespace, namespace_end, privatised};
pub use rust::rust;
pub use target::{C, CUDA, OPENCL, RUST, TARGETS, Target};
pub use template::Template;

/// A file to emit: the wavelet, its border rule and its sample types.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The wavelet.
    pub scheme: &'a Scheme,
    /// The border rule.
    pub boundary: Boundary,
    /// Sample types, each once. Function names end in them.
    pub samples: &'a [Scalar],
    /// Whether transforms take a gain shift.
    pub gain: bool,
    /// The format whose rules the file follows: order of axes, gain, lines of one sample, shapes.
    pub profile: Option<&'a Profile>,
    /// The start of all C names, if it is not the wavelet's name.
    pub prefix: Option<&'a str>,
    /// The command that makes the file, for its opening comment.
    pub command: &'a str,
}

/// Reasons for which a file cannot be emitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// The request names no sample type.
    #[error("no sample type: name at least one, e.g. i16 or f32")]
    NoSamples,
    /// A sample type that a language's files do not hold.
    #[error("{language} files hold no {sample} samples: use f32, or a CUDA or OpenCL file")]
    Storage {
        /// Language.
        language: &'static str,
        /// The requested type.
        sample: &'static str,
    },
    /// A schedule cannot carry the wavelet.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A schedule built a kernel that breaks the IR's rules: a fault of the compiler, not of the wavelet.
    #[error("internal error: {}", .0.iter().map(|e| e.to_string()).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<ValidationError>),
    /// A target cannot express a kernel.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
}

/// Default sample types of a domain.
pub fn natural_samples(domain: Domain) -> &'static [Scalar] {
    match domain {
        Domain::Integer => &[Scalar::I16, Scalar::I32],
        Domain::Real => &[Scalar::F32, Scalar::F64],
    }
}

/// A header's functions of one file. Commands that write other files keep them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The file.
    pub file: String,
    /// The comment with the file's command, and the prototypes.
    pub text: String,
}

impl Section {
    /// The section of a target's file; `others` are prototypes besides the target's own.
    pub fn new(request: &Request, target: &Target, own: bool, others: &str) -> Section {
        let file = format!("{}.{}", request.file_name(), target.extension);
        let samples: Vec<&str> = request.samples.iter().map(|s| s.name()).collect();
        let mut text = format!(
            "{}{file}, made by:\n       {}\n   Samples {}; border rule {}. */\n",
            Section::START,
            comment_line(request.command),
            samples.join(", "),
            request.boundary
        );
        let all = std::iter::once(None).chain(request.samples.iter().copied().map(Some));
        let declared = all.filter(|_| own).map(|sample| target.declared(request, sample));
        let parts: Vec<String> = declared.chain([others.to_owned()]).filter(|text| !text.is_empty()).collect();
        text += &parts.join("\n");
        text += &format!("\n{}{file}. */\n", Section::END);
        Section { file, text: private::spelled(request, &text) }
    }

    /// First words of a section, before the file's name.
    const START: &str = "/* Functions of ";
    /// First words of its last line.
    const END: &str = "/* End of ";

    /// The sections of a header.
    pub fn all_of(header: &str) -> Vec<Section> {
        let section = |text: &str| {
            let (file, _) = text.split_once(", made by:\n")?;
            let last = format!("\n{}{file}. */\n", Section::END);
            let (text, _) = text.split_once(&last)?;
            Some(Section { file: file.to_owned(), text: format!("{}{text}{last}", Section::START) })
        };
        header.split(Section::START).skip(1).filter_map(section).collect()
    }

    /// The command that made the file.
    pub fn command(&self) -> &str {
        self.text.lines().nth(1).unwrap_or_default().trim()
    }
}

/// The header of the files that these targets make for a request.
pub fn header(request: &Request, declared: &[&Target]) -> String {
    header_with(request, declared, "")
}

/// The header of [`header`], followed by prototypes of other functions in the CUDA file.
pub fn header_with(request: &Request, declared: &[&Target], others: &str) -> String {
    let section = |target: &Target| {
        let own = declared.contains(&target);
        let others = if target == &CUDA { others } else { "" };
        (own && target.has_header() || !others.is_empty()).then(|| Section::new(request, target, own, others))
    };
    header_of(request, &TARGETS.iter().filter_map(|target| section(target)).collect::<Vec<_>>())
}

/// The header with these sections. Their files follow one format, or none.
pub fn header_of(request: &Request, sections: &[Section]) -> String {
    let version = env!("CARGO_PKG_VERSION").split(['.', '-']).take(3).map(|part| part.parse().unwrap_or(0));
    let version: u32 = version.zip([10_000, 100, 1]).map(|(part, unit): (u32, u32)| part * unit).sum();
    let t = request.constructors(request.template()).with("VERSION", version.to_string());
    let guard = format!("{}_H", t.upper());
    let mut lines = request.title();
    lines.push(format!("Made by lifting {}; each file's command precedes its functions.", env!("CARGO_PKG_VERSION")));
    lines.push("Do not edit: change the wavelet or the commands, and regenerate.".into());
    lines.push(String::new());
    lines.extend(request.profile_doc());
    lines.push(format!("Domain {}.", request.domain()));
    lines.extend(request.fast_math("-ffast-math, -ffp-contract=fast, /fp:fast, --use_fast_math or --ftz=true"));
    let mut out = request.commented(lines, &[]);
    out += &format!(
        "#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n"
    );
    out += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    let parts = [VERSION, API, CODES, MESSAGE, SHAPE, ARRAY, include_str!("image.h.in")];
    let shape = format!("{}_shape *", request.prefix());
    let any = sections.iter().any(|section| section.text.contains(&shape));
    let has_codes =
        sections.iter().any(|section| section.text.contains(&format!("{}_OK", request.prefix().to_uppercase())));
    let parts = &parts[..match (any, has_codes) {
        (true, _) => 7,
        (_, true) => 4,
        _ => 2,
    }];
    out += &t.fill(&parts.join("\n"));
    for section in sections {
        out.push('\n');
        out += &section.text;
    }
    out += "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    private::spelled(request, &out)
}

/// An emitted file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// The file.
    pub text: String,
    /// Schedules that cannot have their usual shape, each with its replacement: one line each, also written in the
    /// file.
    pub replaced: Vec<String>,
}

impl Emitted {
    /// A file without replacements.
    fn plain(text: String) -> Emitted {
        Emitted { text, replaced: Vec::new() }
    }
}

/// Kernels after the final optimisations, with the facts that back ends need.
///
/// # Errors
/// If one breaks the rules of the IR.
pub fn prepared(kernels: impl IntoIterator<Item = Kernel>) -> Result<Vec<(Kernel, KernelInfo)>, EmitError> {
    let prepare = |kernel| {
        let kernel = crate::opt::prepare(kernel);
        let info = validate(&kernel).map_err(EmitError::Invalid)?;
        Ok((kernel, info))
    };
    kernels.into_iter().map(prepare).collect()
}

/// Start of a section's title, in C and in Rust.
const SECTIONS: [&str; 2] = ["/* ---- ", "// ---- "];

/// The file with the lines of its sections in the comment at its top.
fn with_contents(text: &str) -> String {
    let title = |line: &str| {
        let title = SECTIONS.iter().find_map(|start| line.strip_prefix(start))?;
        Some(title.split(" ----").next().unwrap_or_default().to_owned())
    };
    let Some((top, rest)) = text.split_once("\n */\n") else { return text.to_owned() };
    let found: Vec<(usize, String)> =
        text.lines().enumerate().filter_map(|(line, text)| Some((line, title(text)?))).collect();
    // Lines count from 1, and these lines come before all sections.
    let line = |(at, title): &(usize, String)| {
        let (first, rest) = title.split_at(title.chars().next().map_or(0, char::len_utf8));
        format!("\n *     line {}: {}{rest}", at + 2 + found.len(), first.to_lowercase())
    };
    let contents: String = found.iter().map(line).collect();
    format!("{top}\n * Contents:{contents}\n */\n{rest}")
}

/// Macro for the version, in headers.
const VERSION: &str = "\
/* Version of lifting that made this file: 10000 times the major one, 100 times the minor one, and the patch. */
#define @U@_VERSION (@VERSION@)
";
/// Macro for the linkage of C functions.
pub const API: &str = "\
/* Linkage of the functions in C files. For a shared library, define it e.g. as __declspec(dllexport). */
#ifndef @U@_API
#define @U@_API
#endif
";

/// Return codes, and the shape type.
const CODES: &str = include_str!("codes.h.in");
const SHAPE: &str = include_str!("shape.h.in");
/// Messages of return codes, and the constructor of shapes.
const MESSAGE: &str = include_str!("message.h.in");
const ARRAY: &str = include_str!("array.h.in");

/// Levels and checks of shapes. `@PERIODIC@` is the border rule's check.
pub const LEVELS: &str = include_str!("geometry.c.in");
/// [`LEVELS`], and passes along one axis.
const GEOMETRY: &str =
    concat!(include_str!("geometry.c.in"), "\n", include_str!("boxes.c.in"), "\n", include_str!("passes.c.in"));

/// Types that header and source share. A program that includes both gets them from the header.
pub fn shape(t: &Template) -> String {
    format!("#ifndef {}_H\n{}\n{}#endif\n", t.upper(), t.fill(CODES), t.fill(SHAPE))
}

/// The return codes alone, guarded in the same way.
pub fn codes(t: &Template) -> String {
    format!("#ifndef {}_H\n{}#endif\n", t.upper(), t.fill(CODES))
}

impl<'a> Request<'a> {
    /// Defaults for a wavelet: its own border rule, its natural sample types, and a gain if one of its profiles has
    /// one.
    pub fn natural(scheme: &'a Scheme, command: &'a str) -> Request<'a> {
        let gain = scheme.profiles().iter().any(|profile| profile.gain_shift > 0);
        Request {
            scheme,
            boundary: scheme.boundary(),
            samples: natural_samples(scheme.domain()),
            gain,
            profile: None,
            prefix: None,
            command,
        }
    }
}

impl Request<'_> {
    fn check(&self) -> Result<(), EmitError> {
        if self.samples.is_empty() { Err(EmitError::NoSamples) } else { Ok(()) }
    }

    /// The check of files for CPUs, which compute in the sample type itself.
    fn check_cpu(&self, language: &'static str) -> Result<(), EmitError> {
        self.check()?;
        let is_real = self.scheme.domain() == Domain::Real;
        match self.samples.iter().find(|s| is_real && matches!(s, Scalar::F16 | Scalar::Bf16)) {
            Some(sample) => Err(EmitError::Storage { language, sample: sample.name() }),
            None => Ok(()),
        }
    }

    fn options(&self, sample: Scalar, direction: Direction) -> Options {
        Options { gain: self.gain, ..Options::new(sample, self.boundary, direction) }
    }

    /// Placeholders with the file's prefix.
    pub fn template(&self) -> Template {
        Template::default()
    }

    /// The start of all C names.
    pub fn prefix(&self) -> String {
        identifier(self.file_name())
    }

    /// Name of the request's files, before their extension.
    pub fn file_name(&self) -> &str {
        self.prefix.unwrap_or_else(|| self.scheme.name())
    }

    /// Opening comment of a file: its command, its wavelet, and notes on its schedules.
    pub fn opening(&self, schedule: &[String]) -> String {
        let mut lines = self.title();
        lines.push(format!("Made by lifting {}:", env!("CARGO_PKG_VERSION")));
        lines.push(format!("    {}", comment_line(self.command)));
        lines.push("Do not edit: change the wavelet or the command, and regenerate.".into());
        lines.push(String::new());
        lines.extend(self.profile_doc());
        let samples: Vec<&str> = self.samples.iter().map(|s| s.name()).collect();
        let domain = self.domain();
        lines.push(format!("Domain {domain}; samples {}; border rule {}.", samples.join(", "), self.boundary));
        if let Some(stages) = self.scheme.stages(self.boundary) {
            lines.push("Analysis, stage by stage, on all pairs of samples, cyclically:".into());
            lines.extend(stages.iter().map(|s| format!("    {}", crate::describe::stage(s))));
            lines.push("Operations per pair of samples and stage: 4 multiplications, 2 additions.".into());
            return self.commented(lines, schedule);
        }
        lines.push("Analysis steps:".into());
        lines.extend(self.scheme.steps().iter().map(|s| format!("    {}", crate::describe::step(s))));
        let operations = Operations::of(self.scheme.steps());
        lines.push(format!("Operations per pair of samples: {operations}."));
        for direction in [Direction::Forward, Direction::Inverse] {
            let steps = direction.steps(self.scheme);
            let (w, h) = (Window::derive(&steps, self.boundary), Halo::of(&steps, self.boundary));
            let lags: Vec<String> = w.steps.iter().map(|s| s.lag.to_string()).collect();
            lines.push(format!(
                "Window, {}: top {}, overlap {}, bottom {}; lags {}; halo {} before, {} after.",
                direction.name(),
                w.top,
                w.overlap,
                w.bottom,
                if lags.is_empty() { "none".into() } else { lags.join(" ") },
                h.before,
                h.after
            ));
        }
        self.commented(lines, schedule)
    }

    /// First lines of an opening comment: the wavelet's name and its description.
    fn title(&self) -> Vec<String> {
        let mut lines = vec![self.scheme.name().to_string()];
        lines.extend(self.scheme.docs().iter().map(|d| comment_line(d)));
        lines.push(String::new());
        lines
    }

    fn domain(&self) -> &'static str {
        match self.scheme.domain() {
            Domain::Integer => "integer",
            Domain::Real => "real",
        }
    }

    /// The sentence on compilers' options that change results, for files that compute with floats.
    pub fn fast_math(&self, options: &str) -> Option<String> {
        let is_real = self.scheme.domain() == Domain::Real;
        is_real.then(|| format!("Compile without {options}: such options change results."))
    }

    fn commented(&self, mut lines: Vec<String>, schedule: &[String]) -> String {
        lines.extend(schedule.iter().map(|s| comment_line(s)));
        let mut out = String::from("/*\n");
        for line in lines {
            out += format!(" * {line}").trim_end();
            out.push('\n');
        }
        out + " */\n"
    }

    /// The largest gain that leaves the samples two bits.
    fn max_gain(&self, sample: Scalar) -> usize {
        if self.gain { sample.bytes() * 8 - 2 } else { 0 }
    }
}
