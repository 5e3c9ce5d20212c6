//! Wisdom: which schedules were measured to be fastest, remembered in a file, as FFTW does.
//!
//! An entry belongs to a device, a version of this crate, a scheme (by a digest of its text), a sample type, a border
//! rule, a direction, an order of axes, a number of levels that one launch may take, and a class of shapes: all with
//! the same powers of two. It changes how fast a plan is, never what it computes, and it is not believed blindly: what
//! cannot be read is passed over with a [`WisdomWarning`], an entry that a kernel refuses with a line in the recipe.

use crate::schedule::Way;
use lifting_codegen::schedule::level::Order;
use lifting_codegen::schedule::{Direction, Shape};
use lifting_dsl::print::print_scheme;
use lifting_dsl::sample::SampleType;
use lifting_dsl::{Boundary, Scheme};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was measured, by what it was measured for. Made by `PlanBuilder::tune`, or read from a file.
///
/// ```
/// use lifting::Wisdom;
/// let (wisdom, warnings) = Wisdom::from_json("not what it was");
/// assert!(wisdom.is_empty());
/// println!("{}", warnings[0]); // says what is wrong; plans choose by prediction then
/// assert_eq!(Wisdom::from_json(&wisdom.to_json()), (wisdom, vec![]));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wisdom(BTreeMap<Key, Known>);

/// What an entry is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    device: String,
    version: String,
    wavelet: String,
    scheme: String,
    sample: String,
    boundary: String,
    direction: String,
    order: String,
    gain: bool,
    aligned: bool,
    /// How many levels it is about.
    levels: u32,
    /// Binary digits of width, height and number of images.
    class: [u32; 3],
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    best: Best,
    microseconds: f64,
}

/// The fastest way, as the file has it: `separate`, `lattice`, a schedule and the numbers of a shape; or `apart`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    schedule: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    shape: BTreeMap<String, u32>,
}

/// The fastest way; of several levels, `None` is a launch, or more, for each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
struct Best(Option<Way>);

/// What several levels are that are launched one by one.
const APART: &str = "apart";

impl From<Best> for Written {
    fn from(Best(way): Best) -> Written {
        let numbers = way.and_then(Way::shape).map(|shape| shape.numbers());
        Written {
            schedule: way.map_or(APART, |way| way.schedule().name()).to_owned(),
            shape: numbers.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }
}

impl TryFrom<Written> for Best {
    type Error = String;

    fn try_from(Written { schedule, shape }: Written) -> Result<Best, String> {
        let way = match &schedule[..] {
            APART | "separate" | "lattice" if !shape.is_empty() => return Err(format!("`{schedule}` has no shape")),
            APART => return Ok(Best(None)),
            "separate" => Way::Separate,
            "lattice" => Way::Lattice,
            name => {
                let numbers = shape.iter().map(|(number, value)| (&number[..], *value));
                Way::Launch(Shape::named(name, numbers).map_err(|e| e.to_string())?)
            }
        };
        Ok(Best(Some(way)))
    }
}

/// A level of a plan, or several, as wisdom sees them.
pub(crate) struct Case<'a> {
    pub device: &'a str,
    pub scheme: &'a Scheme,
    pub sample: SampleType,
    pub boundary: Boundary,
    pub direction: Direction,
    pub order: Order,
    /// Axes that the level transforms.
    pub axes: usize,
    pub gain: bool,
    pub aligned: bool,
    /// How many; the rest is of the first.
    pub levels: u32,
    /// Width, height, images.
    pub extent: [i32; 3],
}

impl Key {
    /// How many levels it is about.
    pub fn levels(&self) -> u32 {
        self.levels
    }
}

impl Case<'_> {
    pub(crate) fn key(&self) -> Key {
        let digest = Sha256::digest(print_scheme(self.scheme).as_bytes());
        Key {
            device: self.device.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            wavelet: self.scheme.name().to_owned(),
            scheme: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            sample: self.sample.to_string(),
            boundary: self.boundary.to_string(),
            direction: self.direction.name().to_owned(),
            order: match (self.order, self.axes) {
                (Order::HorizontalFirst, ..3) => "horizontal-first".to_owned(),
                (Order::VerticalFirst, ..3) => "vertical-first".to_owned(),
                (Order::HorizontalFirst, axes) => format!("horizontal-first of {axes}"),
                (Order::VerticalFirst, axes) => format!("vertical-first of {axes}"),
            },
            gain: self.gain,
            aligned: self.aligned,
            levels: self.levels,
            class: self.extent.map(|n| i32::BITS - n.max(0).leading_zeros()),
        }
    }
}

/// Why something in a wisdom file was passed over. Plans then choose by prediction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WisdomWarning {
    /// The file cannot be read.
    #[error(
        "wisdom `{path}` cannot be read ({cause}): schedules are chosen by prediction; tune again, or check LIFTING_WISDOM"
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: String,
    },
    /// The text is not wisdom.
    #[error("this is no wisdom of format {FORMAT} ({cause}): it is ignored; tune again to replace it")]
    Malformed {
        /// What is wrong with it.
        cause: String,
    },
    /// An entry makes no sense.
    #[error("entry {index} of the wisdom makes no sense ({cause}): it is ignored")]
    Entry {
        /// Its place in the list, counted from 0.
        index: usize,
        /// What is wrong with it.
        cause: String,
    },
    /// Entries of other versions of this crate, whose kernels may differ.
    #[error("{count} entries of the wisdom are of another version of lifting: they are ignored; tune again")]
    OtherVersion {
        /// How many.
        count: usize,
    },
}

/// Version of the file's format: 2 since shapes have names and numbers of their schedules'.
const FORMAT: u32 = 2;

/// Most of a file that is read.
const MOST_BYTES: u64 = 16 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(rename = "for")]
    key: Key,
    found: Known,
}

impl Wisdom {
    /// Reads a file's text. What cannot be used is left out, and said.
    pub fn from_json(text: &str) -> (Wisdom, Vec<WisdomWarning>) {
        let malformed = |cause: String| (Wisdom::default(), vec![WisdomWarning::Malformed { cause }]);
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(e) => return malformed(e.to_string()),
        };
        match value.get("lifting_wisdom").and_then(Value::as_u64) {
            Some(format) if format == u64::from(FORMAT) => {}
            Some(other) => return malformed(format!("it is of format {other}")),
            None => return malformed("it has no number `lifting_wisdom`".into()),
        }
        let Some(entries) = value.get("entries").and_then(Value::as_array) else {
            return malformed("it has no list `entries`".into());
        };
        let (mut wisdom, mut warnings, mut others) = (Wisdom::default(), Vec::new(), 0);
        for (index, entry) in entries.iter().enumerate() {
            match Entry::deserialize(entry) {
                Ok(entry) if entry.key.version != env!("CARGO_PKG_VERSION") => others += 1,
                Ok(Entry { key, found }) => match found.check() {
                    Ok(()) => wisdom.keep(key, found),
                    Err(cause) => warnings.push(WisdomWarning::Entry { index, cause: cause.into() }),
                },
                Err(e) => warnings.push(WisdomWarning::Entry { index, cause: e.to_string() }),
            }
        }
        if others > 0 {
            warnings.push(WisdomWarning::OtherVersion { count: others });
        }
        (wisdom, warnings)
    }

    /// As a file's text, the same for the same wisdom.
    pub fn to_json(&self) -> String {
        let entries: Vec<Value> = self.0.iter().map(|(key, found)| json!({ "for": key, "found": found })).collect();
        let text = serde_json::to_string_pretty(&json!({ "lifting_wisdom": FORMAT, "entries": entries }));
        text.expect("strings, numbers and lists of them can be written") + "\n"
    }

    /// Reads a file; one that is not there is no wisdom.
    pub fn load(path: impl AsRef<Path>) -> (Wisdom, Vec<WisdomWarning>) {
        let path = path.as_ref();
        let read = || -> std::io::Result<String> {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut std::io::Read::take(std::fs::File::open(path)?, MOST_BYTES), &mut text)?;
            Ok(text)
        };
        match read() {
            Ok(text) => Wisdom::from_json(&text),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => (Wisdom::default(), Vec::new()),
            Err(e) => {
                let warning = WisdomWarning::Unreadable { path: path.to_owned(), cause: e.to_string() };
                (Wisdom::default(), vec![warning])
            }
        }
    }

    /// Writes a file, whole or not at all; folders on the way are made.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> std::io::Result<()> {
        let path = path.as_ref();
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let beside = path.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&beside, self.to_json())?;
        std::fs::rename(&beside, path).inspect_err(|_| {
            let _ = std::fs::remove_file(&beside);
        })
    }

    /// The file that plans on CUDA devices read where they are not given wisdom: the one that the variable
    /// `LIFTING_WISDOM` names (none if it is empty), else `lifting/wisdom.json` in the user's cache folder.
    pub fn default_path() -> Option<PathBuf> {
        match std::env::var_os("LIFTING_WISDOM") {
            Some(path) if path.is_empty() => None,
            Some(path) => Some(path.into()),
            None => dirs::cache_dir().map(|folder| folder.join("lifting").join("wisdom.json")),
        }
    }

    /// Takes over what another has; where both know, what is faster.
    pub fn merge(&mut self, other: Wisdom) {
        other.0.into_iter().for_each(|(key, found)| self.keep(key, found));
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn keep(&mut self, key: Key, found: Known) {
        let known = self.0.entry(key).or_insert(found);
        if found.microseconds < known.microseconds {
            *known = found;
        }
    }

    /// Notes what was measured last, whatever was known: a way, or that several levels are faster one by one.
    #[doc(hidden)]
    pub fn note(&mut self, key: Key, way: Option<Way>, microseconds: f64) {
        let best = Best(way);
        // A file has no use for more digits, and reads them back as they were.
        let microseconds = (microseconds * 1000.0).round() / 1000.0;
        self.0.insert(key, Known { best, microseconds: microseconds.max(0.001) });
    }

    /// What is known of a case: a way, or, of several levels, that they are faster one by one.
    pub(crate) fn find(&self, key: &Key) -> Option<Option<Way>> {
        self.0.get(key).map(|known| known.best.0)
    }
}

impl Known {
    fn check(&self) -> Result<(), &'static str> {
        let is_time = self.microseconds.is_finite() && self.microseconds > 0.0;
        if is_time { Ok(()) } else { Err("its time is not a positive number") }
    }
}
