//! Wisdom: which schedules were measured to be fastest, remembered in a file, as FFTW does.
//!
//! An entry belongs to a device, a version of this crate, a scheme (by a digest of its text), a sample type, a border
//! rule, a direction, an order of axes, a number of levels that one launch may take, and a class of shapes: all with
//! the same powers of two. It changes how fast a plan is, never what it computes, and it is not believed blindly: what
//! cannot be read is passed over with a [`WisdomWarning`], an entry that a kernel refuses with a line in the recipe.

use crate::schedule::Way;
use lifting_codegen::schedule::Direction;
use lifting_codegen::schedule::level::Order;
use lifting_dsl::print::print_scheme;
use lifting_dsl::sample::SampleType;
use lifting_dsl::{Boundary, Scheme};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[cfg(feature = "wisdom")]
mod file;

/// What was measured, by what it was measured for. Made by `PlanBuilder::tune`, or read from a file.
///
/// Files of it are read and written with feature `wisdom`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wisdom(BTreeMap<Key, Known>);

/// What an entry is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "wisdom", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
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
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "wisdom", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct Known {
    best: Best,
    microseconds: f64,
}

/// The fastest way; of several levels, `None` is a launch, or more, for each.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "wisdom",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "file::Written", into = "file::Written")
)]
struct Best(Option<Way>);

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
        let digest = hmac_sha256::Hash::hash(print_scheme(self.scheme).as_bytes());
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

impl Wisdom {
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
