//! Sources of banks: names, wavelets of `.lift` files, taps on the command line, and files of numbers.

use crate::cli::FactorArgs;
use crate::failure::{Failure, Outcome, input, no_json, usage};
use crate::media::{self, Data};
use crate::{warn, wavelet};
use lifting_dsl::body::{Filter, MAX_TAPS};
use lifting_dsl::factor::Known;
use lifting_dsl::float::Float;
use lifting_dsl::numbers::numbers;
use lifting_dsl::polyphase::{Bank, check_expansion};
use lifting_dsl::weight::{Weight, rational_of_f64};
use std::path::{Path, PathBuf};

/// Bank, with its source.
pub struct Given {
    /// Name in messages and of the wavelet.
    pub name: String,
    /// Source file.
    pub file: Option<PathBuf>,
    /// The bank.
    pub known: Known,
    /// Whether the low and the high filter may be moved to a position of reconstruction.
    pub free: [bool; 2],
    /// Whether the high-pass was derived from the low-pass.
    pub mirrored: bool,
    /// Synthesis bank, if given, to be checked.
    pub synthesis: Option<Bank<Float>>,
}

/// Taps as read, with the position of the first if given.
#[derive(Clone, Debug, Default)]
struct Taps {
    at: Option<i64>,
    taps: Vec<Weight>,
}

/// Up to four filters.
#[derive(Clone, Debug, Default)]
struct Filters {
    low: Option<Taps>,
    high: Option<Taps>,
    synthesis: [Option<Taps>; 2],
}

/// Bank named by the command line.
pub fn given(args: &FactorArgs) -> Outcome<Given> {
    let at = [args.lowpass_at, args.highpass_at];
    let mut given = match (&args.bank, &args.lowpass) {
        (Some(word), _) => match file_of_numbers(word) {
            Some(path) => {
                let name = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
                let given = read_file(&path)
                    .and_then(|filters| assemble(name, filters, at).map_err(|f| f.at(path.display())))?;
                Given { file: Some(path), ..given }
            }
            None => named(word)?,
        },
        (None, Some(low)) => {
            let taps = |option: &str, text: &str| -> Outcome<Taps> {
                let taps = list(option, text, 0, text)?;
                if taps.is_empty() { Err(usage(format!("{option} has no taps"))) } else { Ok(Taps { at: None, taps }) }
            };
            let high = args.highpass.as_ref().map(|text| taps("--highpass", text)).transpose()?;
            let filters = Filters { low: Some(taps("--lowpass", low)?), high, ..Filters::default() };
            assemble("given".into(), filters, at)?
        }
        (None, None) => return Err(usage("nothing to factor").help("name a wavelet or a file, or give --lowpass")),
    };
    if at.iter().any(Option::is_some) {
        given.known = given.known.placed(at[0], at[1]);
        given.free = at.map(|at| at.is_none());
    }
    Ok(given)
}

/// File of numbers named by a word, by its extension. With a separator in the word, any file except `.lift` counts.
fn file_of_numbers(word: &str) -> Option<PathBuf> {
    let path = Path::new(word);
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    let numbers = matches!(extension.as_deref(), Some("txt" | "json" | "npy" | "csv" | "dat"));
    let lift = extension.as_deref() == Some("lift") || word.contains(".lift#");
    (numbers || word.contains(['/', '\\']) && !lift).then(|| path.to_owned())
}

/// Bank of a name: PyWavelets' wavelets from their generator, all others from their steps.
fn named(word: &str) -> Outcome<Given> {
    let made = |known| Given {
        name: word.to_owned(),
        file: None,
        known,
        free: [true, true],
        mirrored: false,
        synthesis: None,
    };
    if let Ok(known) = Known::named(word) {
        return Ok(made(known));
    }
    let named = wavelet::resolve_one(word)?;
    warn(&named.source.name, &named.source.text, &named.warnings);
    let scheme = &named.schemes[0];
    check_expansion(scheme).map_err(input)?;
    let file = Some(PathBuf::from(&named.source.name)).filter(|_| word.contains(".lift"));
    Ok(Given { file, name: scheme.name().to_owned(), ..made(Known::of_scheme(scheme)) })
}

/// Bank of the filters read. A missing high-pass is the quadrature mirror of the low-pass; a missing position is the
/// default.
fn assemble(name: String, filters: Filters, at: [Option<i64>; 2]) -> Outcome<Given> {
    let Filters { low: Some(low), high, synthesis } = filters else {
        return Err(input("has no low-pass filter").help("begin a line with `lowpass`, or see `liftc factor --help`"));
    };
    let mirrored = high.is_none();
    let high = match high {
        Some(high) => high,
        None => mirror(&low)?,
    };
    for (band, filter) in [("low-pass", &low), ("high-pass", &high)] {
        if filter.taps.len() > MAX_TAPS {
            return Err(input(format!("the {band} filter has {} taps: the limit is {MAX_TAPS}", filter.taps.len())));
        }
    }
    let [a, b] = places(low.taps.len() as i64, high.taps.len() as i64);
    let filter = |f: &Taps, at: i64| Filter { at: f.at.unwrap_or(at) as i32, taps: f.taps.clone() };
    let free = [low.at.is_none() && at[0].is_none(), high.at.is_none() && at[1].is_none()];
    let known = Known::from_filters(&filter(&low, a), &filter(&high, b));
    let synthesis = match synthesis {
        [Some(low), Some(high)] => {
            let [a, b] = places(low.taps.len() as i64, high.taps.len() as i64);
            Some(Known::from_filters(&filter(&low, a), &filter(&high, b)).bank().clone())
        }
        [None, None] => None,
        _ => return Err(input("has a single synthesis filter: give both or none")),
    };
    Ok(Given { name, file: None, known, free, mirrored, synthesis })
}

/// Default positions of filters of these lengths: around 2k and 2k + 1 if both lengths are odd, else as in PyWavelets'
/// `periodization`.
fn places(low: i64, high: i64) -> [i64; 2] {
    if low % 2 == 1 && high % 2 == 1 { [-(low / 2), 1 - high / 2] } else { [1 - low / 2, 1 - high / 2] }
}

/// Quadrature mirror high-pass of an orthogonal bank: the low-pass reversed, with alternating signs.
fn mirror(low: &Taps) -> Outcome<Taps> {
    if low.taps.len() % 2 == 1 {
        return Err(input(format!(
            "a single low-pass of {} taps: only orthogonal banks follow from their low-pass, whose length is even",
            low.taps.len()
        ))
        .help("give the high-pass filter as well"));
    }
    let sign = |(i, w): (usize, &Weight)| if i % 2 == 1 { w.neg() } else { w.clone() };
    Ok(Taps { at: low.at, taps: low.taps.iter().rev().enumerate().map(sign).collect() })
}

fn read_file(path: &Path) -> Outcome<Filters> {
    let at = |f: Failure| f.at(path.display());
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    if extension.as_deref() == Some("npy") {
        let array = media::read(path, None)?;
        return of_array(&array.shape, &array.data).map_err(at);
    }
    let source = wavelet::read_text(path, "a file of numbers")?;
    match extension.as_deref() {
        Some("json") => of_json(&source.text).map_err(at),
        _ => of_text(&source.name, &source.text).map_err(at),
    }
}

/// Reads lines such as `lowpass at -2: 1/8, …`. Without the word, the first line is the low-pass and the second the
/// high-pass.
fn of_text(name: &str, text: &str) -> Outcome<Filters> {
    const WORDS: [&str; 4] = ["synthesis-lowpass", "synthesis-highpass", "lowpass", "highpass"];
    let mut filters = Filters::default();
    let mut start = 0;
    for (number, whole) in text.split_inclusive('\n').enumerate() {
        let line = whole.split(['#', '\n']).next().unwrap_or("");
        let line = line.split("//").next().unwrap_or("");
        let offset = start;
        start += whole.len();
        if line.trim().is_empty() {
            continue;
        }
        let at_line = |f: Failure| f.at(format!("line {}", number + 1));
        let word = WORDS.into_iter().find(|w| line.trim_start().starts_with(w));
        let mut rest = word.map_or(line, |w| &line[line.find(w).unwrap_or(0) + w.len()..]);
        let mut at = None;
        if let Some(place) = rest.trim_start().strip_prefix("at ").filter(|_| word.is_some()) {
            let place = place.trim_start();
            let end = place.find([':', '[', ' ', '\t']).unwrap_or(place.len());
            at = Some(position(&place[..end]).map_err(at_line)?);
            rest = &place[end..];
        }
        let numbers = rest.trim_start().trim_start_matches(':').trim().trim_end_matches(';');
        let numbers = numbers.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(numbers);
        let from = offset + (numbers.as_ptr() as usize - line.as_ptr() as usize);
        let taps = Taps { at, taps: list(name, numbers, from, text)? };
        let slot = match word {
            Some("synthesis-lowpass") => &mut filters.synthesis[0],
            Some("synthesis-highpass") => &mut filters.synthesis[1],
            Some("lowpass") => &mut filters.low,
            Some(_) => &mut filters.high,
            None if filters.low.is_none() => &mut filters.low,
            None => &mut filters.high,
        };
        if slot.replace(taps).is_some() {
            return Err(at_line(input("one filter too many: a bank has a low-pass and a high-pass")));
        }
    }
    Ok(filters)
}

fn position(text: &str) -> Outcome<i64> {
    let at = text.trim().parse().ok().filter(|at: &i64| at.abs() <= 1000);
    at.ok_or_else(|| {
        input(format!("invalid filter position `{}`: it must be a whole number from -1000 to 1000", text.trim()))
    })
}

/// Reads `{"lowpass": […], "highpass": […], "lowpass_at": -2, …}`, or PyWavelets' `dec_lo`, `dec_hi`, `rec_lo` and
/// `rec_hi`.
fn of_json(text: &str) -> Outcome<Filters> {
    use serde_json::Value;
    let value: Value = serde_json::from_str(text).map_err(|e| no_json(&e))?;
    let Value::Object(map) = value else {
        return Err(input("is not a JSON object").help("write {\"lowpass\": [1, 2], \"highpass\": [1, -2]}"));
    };
    const KEYS: [&str; 12] = [
        "lowpass",
        "highpass",
        "synthesis_lowpass",
        "synthesis_highpass",
        "lowpass_at",
        "highpass_at",
        "synthesis_lowpass_at",
        "synthesis_highpass_at",
        "dec_lo",
        "dec_hi",
        "rec_lo",
        "rec_hi",
    ];
    if let Some(key) = map.keys().find(|k| !KEYS.contains(&k.as_str())) {
        return Err(input(format!("has an unknown key `{key}`")).help(format!("the keys are {}", KEYS.join(", "))));
    }
    let taps = |key: &str| -> Outcome<Option<Vec<Weight>>> {
        let Some(value) = map.get(key) else { return Ok(None) };
        let Value::Array(list) = value else { return Err(input(format!("`{key}` is not a list of numbers"))) };
        let tap = |(i, v): (usize, &Value)| -> Outcome<Weight> {
            let text = match v {
                Value::String(text) => text.clone(),
                // Shortest digits of this `f64`, as in the file except for redundant ones.
                Value::Number(n) => n.to_string(),
                other => return Err(input(format!("`{key}`[{i}] is {other}, not a number"))),
            };
            let values = numbers(&text).ok().filter(|v| v.len() == 1);
            let value = values.and_then(|v| v.into_iter().next());
            value.ok_or_else(|| input(format!("`{key}`[{i}] is {v}, not a number")))
        };
        list.iter().enumerate().map(tap).collect::<Outcome<Vec<_>>>().map(Some)
    };
    let at = |key: &str| -> Outcome<Option<i64>> {
        map.get(&format!("{key}_at"))
            .map(|v| position(&v.to_string()).map_err(|f| f.at(format!("`{key}_at`"))))
            .transpose()
    };
    let plain = |key: &str| -> Outcome<Option<Taps>> {
        let at = at(key)?;
        Ok(taps(key)?.map(|taps| Taps { at, taps }))
    };
    // PyWavelets convolves with the decomposition filters, which equals correlation with the reversed ones.
    let theirs = |key: &str, reverse: bool| -> Outcome<Option<Taps>> {
        Ok(taps(key)?.map(|mut taps| {
            if reverse {
                taps.reverse();
            }
            Taps { at: Some(1 - taps.len() as i64 / 2), taps }
        }))
    };
    let either = |a: Option<Taps>, b: Option<Taps>, key: &str| match (a, b) {
        (Some(_), Some(_)) => Err(input(format!("has `{key}` and PyWavelets' filters: use one kind"))),
        (a, b) => Ok(a.or(b)),
    };
    Ok(Filters {
        low: either(plain("lowpass")?, theirs("dec_lo", true)?, "lowpass")?,
        high: either(plain("highpass")?, theirs("dec_hi", true)?, "highpass")?,
        synthesis: [
            either(plain("synthesis_lowpass")?, theirs("rec_lo", false)?, "synthesis_lowpass")?,
            either(plain("synthesis_highpass")?, theirs("rec_hi", false)?, "synthesis_highpass")?,
        ],
    })
}

/// Reads one row as a low-pass, and two rows as a low-pass and a high-pass.
fn of_array(shape: &[usize], data: &Data) -> Outcome<Filters> {
    let values: Vec<f64> = match data {
        Data::F64(v) => v.to_vec(),
        Data::F32(v) => v.iter().map(|x| f64::from(*x)).collect(),
        other => return Err(input(format!("holds {}: taps are float32 or float64", other.element().name()))),
    };
    let weight = |(i, x): (usize, &f64)| {
        rational_of_f64(*x).map(Weight::Rational).ok_or_else(|| input(format!("element {i} is not finite")))
    };
    let values: Vec<Weight> = values.iter().enumerate().map(weight).collect::<Outcome<_>>()?;
    let rows: Vec<&[Weight]> = match shape {
        [_] => vec![&values[..]],
        [2, n] if *n > 0 => values.chunks(*n).collect(),
        _ => return Err(input(format!("has shape {shape:?}: a low-pass is [n], a bank is [2, n]"))),
    };
    let mut filters = rows.iter().map(|row| Taps { at: None, taps: row.to_vec() });
    Ok(Filters { low: filters.next(), high: filters.next(), ..Filters::default() })
}

/// Numbers at offset `from` of a longer text.
fn list(name: &str, text: &str, from: usize, whole: &str) -> Outcome<Vec<Weight>> {
    let plain = text.trim().strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    let from = from + (plain.as_ptr() as usize - text.as_ptr() as usize);
    numbers(plain).map_err(|mut diagnostics| {
        for label in diagnostics.iter_mut().flat_map(|d| &mut d.labels) {
            label.span.start = (label.span.start + from).min(whole.len());
            label.span.end = (label.span.end + from).min(whole.len());
        }
        Failure::Diagnostics { name: name.to_owned(), source: whole.to_owned(), diagnostics }
    })
}
