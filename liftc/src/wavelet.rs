//! Wavelet names on the command line: `dd137`, `my.lift`, `my.lift#db2`.

use crate::failure::{Failure, Outcome, input, usage};
use crate::output::{input_name, is_standard, why};
use lifting::{Scheme, catalogue};
use lifting_dsl::Diagnostic;
use std::path::{Path, PathBuf};

/// Longest text that is read. It far exceeds any wavelet, and large wrong files are refused early.
const MAX_TEXT: u64 = 16 << 20;

/// Text that contains wavelets.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path of the file, or its name in the catalogue.
    pub name: String,
    /// Whole text.
    pub text: String,
}

/// Wavelets named by a word of the command line.
#[derive(Clone, Debug)]
pub struct Named {
    /// Their source.
    pub source: Source,
    /// Wavelets: all of a file, or the named one.
    pub schemes: Vec<Scheme>,
    /// Warnings about the text; none for the catalogue.
    pub warnings: Vec<Diagnostic>,
}

/// Meaning of a word.
enum Word<'a> {
    File(PathBuf, Option<&'a str>),
    Catalogue(&'a str),
}

fn word(text: &str) -> Word<'_> {
    let (path, name) = match text.rsplit_once('#') {
        Some((path, name)) if path.ends_with(".lift") => (path, Some(name)),
        _ => (text, None),
    };
    // Only a pair of lengths (`9/7`) is a name with a separator. A file with a name of the catalogue needs its
    // extension or a `./`.
    let pair = lengths(path).is_some() && !Path::new(path).exists();
    if is_standard(Path::new(path)) || path.ends_with(".lift") || path.contains(['/', '\\']) && !pair {
        Word::File(path.into(), name)
    } else {
        Word::Catalogue(text)
    }
}

/// The word without the folders of its file, so that texts do not depend on the spelling of a path.
pub fn without_folders(text: &str) -> String {
    match word(text) {
        Word::File(path, name) => {
            let file = path.file_name().map_or_else(|| text.into(), |name| name.to_string_lossy());
            name.map_or_else(|| file.to_string(), |name| format!("{file}#{name}"))
        }
        Word::Catalogue(name) => lifting_filters::find(name).map_or(name, |entry| entry.name).to_owned(),
    }
}

/// Filter lengths as names, where the catalogue counts vanishing moments or has several such wavelets.
const LENGTHS: [(&[&str], &str); 3] = [
    (
        &["5/3", "5_3", "53", "cdf5/3", "cdf53", "cdf-5/3", "legall", "le_gall", "legall5/3"],
        "the 5/3 of JPEG 2000 is legall53; in real numbers it is cdf2_2",
    ),
    (
        &["9/7", "9_7", "97", "cdf9/7", "cdf9_7", "cdf-9/7", "bior9/7", "daubechies9/7"],
        "the 9/7 of JPEG 2000 is cdf97; bior4.4 is PyWavelets' form of it, daubechies97 and ccsds97m use integers",
    ),
    (&["13/7", "13_7", "137", "dd13/7"], "the (13,7) of VC-2 is dd137"),
];

/// Help for a name that is a pair of lengths.
fn lengths(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    LENGTHS.iter().find(|(names, _)| names.contains(&name.as_str())).map(|(_, help)| *help)
}

/// Reads a `.lift` file, or standard input.
pub fn read(path: &Path) -> Outcome<Source> {
    read_text(path, "a .lift file").map_err(|f| match f {
        // A picture given here suggests a user new to the language.
        Failure::Input(_) if !path.is_dir() && path.exists() => {
            f.help("a .lift file holds wavelets as text: see `liftc show dd137`")
        }
        f => f,
    })
}

/// Reads a text. `what` names the expected content, as in "a file of numbers".
pub fn read_text(path: &Path, what: &str) -> Outcome<Source> {
    use std::io::Read;
    let at = |f: Failure| f.at(input_name(path));
    let cannot = |e: std::io::Error| at(input(format!("cannot read: {}", why(&e))));
    let mut bytes = Vec::new();
    if is_standard(path) {
        std::io::stdin().lock().take(MAX_TEXT + 1).read_to_end(&mut bytes).map_err(cannot)?;
    } else {
        let file = std::fs::File::open(path).map_err(cannot)?;
        if file.metadata().map_err(cannot)?.is_dir() {
            return Err(at(input(format!("is a directory, not {what}"))));
        }
        file.take(MAX_TEXT + 1).read_to_end(&mut bytes).map_err(cannot)?;
    }
    if bytes.len() as u64 > MAX_TEXT {
        return Err(at(input(format!("is longer than {} MiB: it cannot be {what}", MAX_TEXT >> 20))));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let line = 1 + e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        at(input(format!("is not text in UTF-8 (line {line}), so it cannot be {what}")))
    })?;
    Ok(Source { name: input_name(path), text })
}

/// Compiles a text; `wanted` selects one of its wavelets.
fn compile(source: Source, wanted: Option<&str>) -> Outcome<Named> {
    let Source { name, text } = &source;
    let compiled = lifting_dsl::compile(text).map_err(|diagnostics| Failure::Diagnostics {
        name: name.clone(),
        source: text.clone(),
        diagnostics,
    })?;
    let mut schemes = compiled.schemes;
    if let Some(wanted) = wanted {
        let names: Vec<String> = schemes.iter().map(|s| s.name().to_owned()).collect();
        schemes.retain(|s| s.name() == wanted);
        if schemes.is_empty() {
            return Err(
                input(format!("{name}: has no wavelet `{wanted}`")).help(format!("it has {}", names.join(", ")))
            );
        }
    }
    Ok(Named { source, schemes, warnings: compiled.warnings })
}

/// Wavelets that the word names.
pub fn resolve(text: &str) -> Outcome<Named> {
    match word(text) {
        Word::File(path, name) => compile(read(&path)?, name),
        Word::Catalogue(name) => {
            if let Some(help) = lengths(name) {
                return Err(input(format!("no wavelet `{name}` in the catalogue")).help(help));
            }
            let Some(entry) = lifting_filters::find(name) else {
                let error = catalogue::find(name).err().map_or_else(String::new, |e| e.to_string());
                let path = Path::new(name);
                let help = match path.extension() {
                    Some(_) if path.is_file() => {
                        format!("to transform it: liftc transform {name} -w dd137 -o coeffs.npy")
                    }
                    _ if path.exists() => format!("for the file, write ./{name}"),
                    _ => "`liftc list` prints the catalogue".into(),
                };
                return Err(input(error).help(help));
            };
            let source = Source { name: format!("filters/{}", entry.file), text: entry.source.to_owned() };
            compile(source, Some(entry.name))
        }
    }
}

/// Wavelets for axes and levels that a word names, as in `legall53,dd137+s_transform`: commas separate axes, and plus
/// signs the levels of an axis, the finest first. A file whose name has these characters is one wavelet.
pub fn resolve_lists(text: &str) -> Outcome<Vec<Vec<Named>>> {
    let path = match word(text) {
        Word::File(path, _) => path,
        Word::Catalogue(name) => name.into(),
    };
    if !text.contains([',', '+']) || path.exists() {
        return Ok(vec![vec![resolve_one(text)?]]);
    }
    let one = |word: &str| match word.trim() {
        "" => Err(usage(format!("-w {text}: a name is missing between separators"))
            .help("write a wavelet for each axis, as in legall53,dd137, and for levels, as in dd137+s_transform")),
        word => resolve_one(word),
    };
    text.split(',').map(|levels| levels.split('+').map(one).collect()).collect()
}

/// Single wavelet that the word names.
pub fn resolve_one(text: &str) -> Outcome<Named> {
    let named = resolve(text)?;
    if named.schemes.len() > 1 {
        let names: Vec<_> = named.schemes.iter().map(|s| format!("{text}#{}", s.name())).collect();
        return Err(
            usage(format!("{text} has {} wavelets", names.len())).help(format!("choose one: {}", names.join(", ")))
        );
    }
    Ok(named)
}
