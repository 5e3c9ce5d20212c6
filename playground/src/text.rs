//! Texts: their errors, and descriptions, figures and files of their wavelets, as `liftc` prints them.

use lifting::{Schedule, Scheme};
use lifting_codegen::emit::{self, EmitError, Request, Section, TARGETS};
use lifting_codegen::schedule::ScheduleError;
use lifting_dsl::{Compiled, Diagnostic, Severity, codes, print_scheme};
use lifting_planner::emit::{Count, FileError, General, general};
use lifting_planner::{Machine, Tuning};
use serde_json::{Value, json};

/// Levels of bands and ranges, as `liftc show` has them by default.
const LEVELS: u32 = 5;
/// Width of figures, in millimetres.
const WIDTH: f64 = 160.0;

/// Names and families of the catalogue.
pub fn catalogue() -> Value {
    lifting_filters::CATALOGUE.iter().map(|entry| json!({ "name": entry.name, "family": entry.family })).collect()
}

/// Text of a wavelet of the catalogue, as `liftc show --text` prints it.
pub fn named(name: &str) -> Result<Value, String> {
    let scheme = lifting::catalogue::find(name).map_err(|e| e.to_string())?;
    Ok(json!({ "text": print_scheme(&scheme) }))
}

/// Wavelets of a text, if it has no errors; its errors and warnings.
pub fn check(text: &str) -> Value {
    let (schemes, diagnostics) = match lifting_dsl::compile(text) {
        Ok(Compiled { schemes, warnings }) => (schemes, warnings),
        Err(diagnostics) => (Vec::new(), diagnostics),
    };
    let wavelets: Vec<Value> = schemes
        .iter()
        .map(|s| json!({ "name": s.name(), "domain": s.domain().name(), "boundary": s.boundary().name() }))
        .collect();
    let diagnostics: Vec<Value> = diagnostics.iter().map(|d| diagnostic(d, text)).collect();
    json!({ "wavelets": wavelets, "diagnostics": diagnostics })
}

/// An error or warning. Places count UTF-16 units, as text fields of pages do; the subject is first.
fn diagnostic(diagnostic: &Diagnostic, text: &str) -> Value {
    let units = |byte: usize| text.get(..byte).unwrap_or(text).encode_utf16().count();
    let line = |byte: usize| 1 + text.get(..byte).unwrap_or(text).matches('\n').count();
    let mut labels: Vec<_> = diagnostic.labels.iter().collect();
    labels.sort_by_key(|label| !label.primary);
    let place = |label: &&lifting_dsl::Label| {
        let span = label.span;
        json!({ "start": units(span.start), "end": units(span.end), "line": line(span.start), "remark": label.text })
    };
    json!({
        "code": diagnostic.code,
        "anchor": codes::entry(diagnostic.code).map(|entry| anchor(&entry)),
        "severity": match diagnostic.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "message": diagnostic.message,
        "help": diagnostic.help,
        "places": labels.iter().map(place).collect::<Vec<_>>(),
    })
}

/// Anchor of a code's entry on the site's page of the language, as MkDocs derives it from the heading.
fn anchor(entry: &codes::Entry) -> String {
    let heading = format!("{}: {}", entry.code, entry.title).to_lowercase();
    let kept: String =
        heading.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_' || " -".contains(*c)).collect();
    kept.split([' ', '-']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// The wavelet `name` of a text.
pub fn scheme(text: &str, name: &str) -> Result<(Scheme, String), String> {
    let lines = |all: Vec<Diagnostic>| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let schemes = lifting_dsl::compile(text).map_err(lines)?.schemes;
    let file = format!("{}.lift", schemes.first().map_or("", |first| first.name()));
    let word = if schemes.len() == 1 { file } else { format!("{file}#{name}") };
    let found = schemes.into_iter().find(|scheme| scheme.name() == name);
    found.map(|scheme| (scheme, word)).ok_or_else(|| format!("the text has no wavelet `{name}`"))
}

/// The output of `liftc show`.
pub fn show(text: &str, name: &str) -> Result<Value, String> {
    let (scheme, word) = scheme(text, name)?;
    let text = liftc::describe(&scheme, LEVELS).map_err(|e| e.to_string())?;
    Ok(json!({ "text": text, "command": format!("liftc show {word}") }))
}

/// The figure of `liftc plot`.
pub fn figure(text: &str, name: &str) -> Result<Value, String> {
    let (scheme, word) = scheme(text, name)?;
    let svg = liftc::svg(&scheme, WIDTH).map_err(|e| e.to_string())?;
    Ok(json!({ "svg": svg, "command": format!("liftc plot {word} --width {WIDTH} -o {name}.svg") }))
}

/// The diagram and the text of `liftc explain`.
pub fn window(text: &str, name: &str) -> Result<Value, String> {
    let (scheme, word) = scheme(text, name)?;
    let svg = liftc::rows_svg(&scheme).map_err(|e| e.to_string())?;
    let text = liftc::window(&scheme).map_err(|e| e.to_string())?;
    Ok(json!({ "svg": svg, "text": text, "command": format!("liftc explain {word} --svg {name}-rows.svg") }))
}

/// A file of `liftc --emit`, letter for letter.
pub fn emit(text: &str, name: &str, target: &str) -> Result<Value, String> {
    let (scheme, word) = scheme(text, name)?;
    let target = TARGETS.into_iter().find(|t| t.name == target).ok_or_else(|| format!("no target `{target}`"))?;
    let command = format!("liftc {word} --emit {}", target.name);
    let request = Request {
        scheme: &scheme,
        boundary: scheme.boundary(),
        samples: emit::natural_samples(scheme.domain()),
        gain: false,
        profile: None,
        prefix: None,
        command: &command,
    };
    let (text, notes) = if target == &emit::CUDA {
        let tuning = Tuning::new(Schedule::Auto, Machine::default(), String::new());
        let options = General { count: Count::Usual, columns_first: false, tuning: &tuning };
        let file = general(&request, &options).map_err(|e| match e {
            FileError::Emit(EmitError::Schedule(ScheduleError::Reach { .. })) => {
                format!("{e}; C and Rust files hold every wavelet")
            }
            e => e.to_string(),
        })?;
        (file.text, file.replaced)
    } else {
        let emitted = (target.write)(&request).map_err(|e| e.to_string())?;
        (emitted.text, emitted.replaced)
    };
    let file = format!("{}.{}", request.file_name(), target.extension);
    let header = target.has_header().then(|| emit::header_of(&request, &[Section::new(&request, target, true, "")]));
    Ok(json!({ "file": file, "text": text, "header": header, "notes": notes, "command": command }))
}
