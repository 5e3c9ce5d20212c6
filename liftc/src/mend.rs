//! Errors of the command line, in the user's words: near guesses, other programs' terms, and no details of parsing.

use crate::cli::Cli;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, Error};
use lifting_dsl::suggest::did_you_mean;
use std::error::Error as _;
use std::ffi::OsString;

/// Options, with other programs' names for them.
const OPTIONS: [(&str, &[&str]); 10] = [
    ("boundary", &["border", "mode", "extension", "edge", "border-rule"]),
    ("sample", &["dtype", "type", "precision", "samples", "sample-type"]),
    ("levels", &["depth", "nlevels", "scales", "decompositions"]),
    ("level", &["resolution", "reduce", "scale", "zoom"]),
    ("pad", &["padding"]),
    ("emit", &["target", "lang", "language", "backend"]),
    ("output", &["dest", "directory", "outfile", "file"]),
    ("wavelet", &["filter", "kernel", "name"]),
    ("shape", &["size", "dims"]),
    ("array", &["key", "variable"]),
];

/// Values by option, with other programs' names for them.
const VALUES: [(&str, &str, &[&str]); 18] = [
    ("sample", "i16", &["int16", "i2", "short"]),
    ("sample", "i32", &["int32", "i4", "int"]),
    ("sample", "i64", &["int64", "i8", "long"]),
    ("sample", "f16", &["float16", "f2", "half"]),
    ("sample", "f32", &["float32", "f4", "float", "single"]),
    ("sample", "f64", &["float64", "f8", "double"]),
    ("sample", "bf16", &["bfloat16"]),
    ("profile", "jpeg2000", &["j2k", "jp2", "jpeg-2000", "jpeg", "jpx", "htj2k"]),
    ("profile", "vc2", &["dirac", "vc-2", "smpte2042"]),
    ("profile", "ccsds122", &["ccsds", "ccsds-122", "ccsds-idc"]),
    ("layout", "interleaved", &["inplace", "in-place", "lifted"]),
    ("layout", "mallat", &["pyramid", "bands", "subbands"]),
    ("format", "tiff", &["tif"]),
    ("emit", "cuda", &["cu"]),
    ("emit", "opencl", &["cl"]),
    ("emit", "rust", &["rs"]),
    ("emit", "scheme", &["lift"]),
    ("emit", "c", &["c99", "h", "cpp", "c++"]),
];

/// Tips for values of other programs, by option.
const TIPS: [(&str, &[&str], &str); 10] = [
    (
        "boundary",
        &["reflect", "symw", "mirror", "reflect101", "reflect-101", "whole", "ws"],
        "`whole-symmetric` is what PyWavelets and numpy call `reflect`: the border sample is not repeated",
    ),
    (
        "boundary",
        &["symmetric", "sym", "symh", "half", "hs", "half-sample-symmetric"],
        "`symmetric` of PyWavelets and numpy repeats the signal's border sample, which is not supported; \
         `whole-symmetric`, their `reflect`, does not repeat it; `half-symmetric` repeats the end of a phase",
    ),
    (
        "boundary",
        &["periodization", "per", "wrap", "circular", "ppd", "cyclic"],
        "`periodic` is what PyWavelets calls `periodization`",
    ),
    (
        "boundary",
        &["constant", "replicate", "nearest", "clamp", "spd", "sp0"],
        "`edge` repeats the border sample, as `constant` of PyWavelets and `edge` of numpy",
    ),
    ("boundary", &["zpd", "zeros", "none", "zero-padding"], "`zero` reads zeros beyond the border"),
    (
        "boundary",
        &["smooth", "antisymmetric", "antireflect", "asym", "asymh", "asymw", "sp1"],
        "not supported: `whole-symmetric` is the rule for smooth signals",
    ),
    (
        "pad",
        &[
            "zero",
            "constant",
            "symmetric",
            "reflect",
            "whole-symmetric",
            "periodic",
            "wrap",
            "true",
            "yes",
            "replicate",
        ],
        "padding repeats the last sample; --boundary sets the border extension",
    ),
    (
        "sample",
        &["u8", "i8", "u16", "u32", "u64", "uint8", "uint16", "uint32", "uint64"],
        "coefficients have a sign and grow: i16 holds pictures of 8 bits, i32 those of 16",
    ),
    ("format", &["jpg", "jpeg", "webp", "gif", "heic", "avif"], "lossy formats would change the result"),
    ("emit", &["hip", "metal", "wgsl", "ptx"], "not supported: use cuda, c, opencl or rust"),
];

/// Error as shown for this command line.
pub fn mend(error: Error, args: &[OsString]) -> Error {
    let mut root = Cli::command();
    root.build();
    let named = args.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let command = match root.find_subcommand(named) {
        Some(command) => command.clone(),
        None => root,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => unknown(error, command),
        ErrorKind::InvalidValue => value(error),
        ErrorKind::ValueValidation => number(error, &command),
        _ => error,
    }
}

fn said(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    }
}

fn tip(error: &mut Error, text: &str) {
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(text.to_owned())]));
}

/// Unknown option, with the closest one of this command.
fn unknown(mut error: Error, mut command: Command) -> Error {
    let Some(word) = said(&error, ContextKind::InvalidArg) else { return error };
    let guess = match word.strip_prefix("--") {
        Some(long) => {
            // A file of this name is unlikely to be meant.
            if let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) {
                tips.retain(|tip| !tip.to_string().starts_with("to pass "));
                if !tips.is_empty() {
                    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
                }
            }
            let longs = command.get_arguments().flat_map(|arg| arg.get_long_and_visible_aliases().unwrap_or_default());
            let longs: Vec<&str> = longs.collect();
            let synonym = || OPTIONS.iter().find(|(_, others)| others.contains(&long)).map(|(ours, _)| *ours);
            let guess = nearest(long, &longs).or_else(|| synonym().filter(|ours| longs.contains(ours)));
            guess.map(|guess| format!("--{guess}"))
        }
        None => {
            let letter = word.strip_prefix('-').unwrap_or_default();
            if letter.starts_with(|c: char| c.is_ascii_digit()) {
                error.remove(ContextKind::Suggested);
            }
            let mut shorts = command.get_arguments().filter_map(|arg| arg.get_short());
            let other = shorts.find(|short| short.to_string() != letter && short.eq_ignore_ascii_case(&first(letter)));
            other.map(|short| format!("-{short}"))
        }
    };
    error.remove(ContextKind::SuggestedArg);
    // The usage was made for another guess.
    error.insert(ContextKind::Usage, ContextValue::StyledStr(command.render_usage()));
    if let Some(guess) = guess {
        error.remove(ContextKind::Suggested);
        error.insert(ContextKind::SuggestedArg, ContextValue::String(guess));
    }
    error
}

fn first(letters: &str) -> char {
    letters.chars().next().unwrap_or(' ')
}

/// Name of the option in an error, without dashes and value: `boundary` for `--boundary <RULE>`.
fn option(error: &Error) -> String {
    let arg = said(error, ContextKind::InvalidArg).unwrap_or_default();
    arg.trim_start_matches('-').split(' ').next().unwrap_or_default().to_owned()
}

/// Unknown value.
fn value(mut error: Error) -> Error {
    let (Some(word), option) = (said(&error, ContextKind::InvalidValue), option(&error)) else { return error };
    error.remove(ContextKind::SuggestedValue);
    let plain = word.to_lowercase().replace('_', "-");
    if let Some((_, _, text)) = TIPS.iter().find(|(of, names, _)| *of == option && names.contains(&plain.as_str())) {
        tip(&mut error, text);
        return error;
    }
    let values = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) => values.clone(),
        _ => Vec::new(),
    };
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let synonym = VALUES.iter().find(|(of, _, others)| *of == option && others.contains(&plain.as_str()));
    let guess = synonym.map(|(_, ours, _)| *ours).or_else(|| nearest(&plain, &values)).map(str::to_owned);
    if let Some(guess) = guess {
        error.insert(ContextKind::SuggestedValue, ContextValue::String(guess));
    }
    error
}

/// Malformed or out-of-range number; the standard library's messages describe parsing.
fn number(error: Error, command: &Command) -> Error {
    let source = error.source().map(ToString::to_string).unwrap_or_default();
    let text = match source.split_once(" is not in ") {
        Some((_, range)) => match range.split_once("..") {
            Some((from, "")) => format!("it must be at least {from}"),
            Some((from, to)) => format!("it must be {from} to {}", to.trim_start_matches('=')),
            None => return error,
        },
        None if source == "number too large to fit in target type" => "the number is too large".into(),
        None if source == "number too small to fit in target type" => "the number is too small".into(),
        None if source == "invalid digit found in string" || source == "cannot parse integer from empty string" => {
            "it must be a whole number".into()
        }
        None => return error,
    };
    // Rebuilt to drop the source.
    let mut mended = Error::new(error.kind()).with_cmd(command);
    for (kind, value) in error.context() {
        mended.insert(kind, value.clone());
    }
    tip(&mut mended, &text);
    mended
}

/// Closest name to a word: few letters differ, or the word is a prefix of one name only.
pub fn nearest<'a>(word: &str, names: &[&'a str]) -> Option<&'a str> {
    let mut begun = names.iter().copied().filter(|name| word.len() >= 3 && name.starts_with(word));
    let beginning = begun.next().filter(|_| begun.next().is_none());
    beginning.or_else(|| did_you_mean(word, names.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_are_near() {
        let names = ["levels", "level", "picture", "transform", "check", "explain", "version", "i16", "f16"];
        for (word, name) in [
            ("lvels", "levels"),
            ("pict", "picture"),
            ("transfrom", "transform"),
            ("cehck", "check"),
            ("I16", "i16"),
            ("levls", "levels"),
        ] {
            assert_eq!(nearest(word, &names), Some(name), "{word}");
        }
        for word in ["verbose", "x", "compile", "forty-two"] {
            assert_eq!(nearest(word, &names), None, "{word}");
        }
    }

    #[test]
    fn other_names_are_not_our_own() {
        let mut root = Cli::command();
        root.build();
        let commands: Vec<Command> = root.get_subcommands().cloned().chain([root.clone()]).collect();
        let longs = |command: &Command| -> Vec<String> {
            command.get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned)).collect()
        };
        for (ours, _) in OPTIONS {
            assert!(commands.iter().any(|command| longs(command).iter().any(|long| long == ours)), "{ours}");
        }
        let values = |option: &str| -> Vec<String> {
            let args = commands.iter().flat_map(Command::get_arguments).filter(|arg| arg.get_long() == Some(option));
            args.flat_map(|arg| arg.get_possible_values()).map(|value| value.get_name().to_owned()).collect()
        };
        for (option, ours, others) in VALUES {
            let values = values(option);
            assert!(values.iter().any(|value| value == ours), "{option} {ours}");
            assert!(others.iter().all(|other| !values.contains(&(*other).to_owned())), "{option} {ours}");
        }
        for (option, others, _) in TIPS {
            let values = values(option);
            assert!(
                !values.is_empty() && others.iter().all(|other| !values.contains(&(*other).to_owned())),
                "{option}"
            );
        }
    }
}
