//! Wisdom: the measured fastest schedules, stored in a file like FFTW's.
//!
//! The key of an entry names the device, the version of this crate, and the scheme (by a digest of its text). It also
//! has sample type, border rule, direction, order of axes, number of levels in one launch, and a class of shapes: those
//! with the same powers of two. It changes the speed of a plan, never its results. Invalid input is not trusted:
//! unreadable entries are skipped with a [`WisdomWarning`], and an entry that a kernel refuses gets a line in the
//! recipe.

use crate::schedule::Way;
use lifting_codegen::schedule::level::Order;
use lifting_dsl::print::print_scheme;
use lifting_dsl::sample::SampleType;
use lifting_dsl::{Boundary, Direction, Scheme};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[cfg(feature = "wisdom")]
mod file;
#[cfg(feature = "wisdom")]
pub use file::replace_file;

/// Measurements by case. Made by `PlanBuilder::tune`, or read from a file.
///
/// The feature `wisdom` enables reading and writing of files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wisdom(BTreeMap<Key, Known>);

/// Key of an entry.
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
    /// Number of levels.
    levels: u32,
    /// Number of binary digits of width, height and number of images.
    class: [u32; 3],
}

/// Measured result.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "wisdom", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct Known {
    best: Best,
    microseconds: f64,
}

/// The fastest candidate; `None` for several levels that are faster one by one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "wisdom",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "file::Written", into = "file::Written")
)]
struct Best(Option<Way>);

/// One or several levels of a plan, with the properties that wisdom distinguishes.
pub(crate) struct Case<'a> {
    pub device: &'a str,
    pub scheme: &'a Scheme,
    pub sample: SampleType,
    pub boundary: Boundary,
    pub direction: Direction,
    pub order: Order,
    /// Number of transformed axes.
    pub axes: usize,
    pub gain: bool,
    pub aligned: bool,
    /// Number of levels; the other fields describe the first.
    pub levels: u32,
    /// Width, height, images.
    pub extent: [i32; 3],
}

impl Key {
    /// Number of levels.
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

/// Warning about skipped parts of a wisdom file. Plans then choose by prediction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WisdomWarning {
    /// The file cannot be read.
    #[error(
        "cannot read wisdom `{path}` ({cause}): schedules are chosen by prediction; tune again, or check \
         LIFTING_WISDOM"
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's message.
        cause: String,
    },
    /// The text is not wisdom.
    #[error("the file is not wisdom of format {FORMAT} ({cause}) and is ignored: tune again to replace it")]
    Malformed {
        /// The fault.
        cause: String,
    },
    /// An invalid entry.
    #[error("wisdom entry {index} is invalid ({cause}) and is ignored")]
    Entry {
        /// Index in the list, counted from 0.
        index: usize,
        /// The fault.
        cause: String,
    },
    /// Entries of other versions of this crate, whose kernels may differ.
    #[error("{count} wisdom entries are from another version of lifting and are ignored: tune again")]
    OtherVersion {
        /// Number of entries.
        count: usize,
    },
}

/// Version of the file format: 2 since shapes use names and numbers of their schedules.
const FORMAT: u32 = 2;

impl Wisdom {
    /// Adds the entries of another wisdom; the faster one wins.
    pub fn merge(&mut self, other: Wisdom) {
        other.0.into_iter().for_each(|(key, found)| self.keep(key, found));
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn keep(&mut self, key: Key, found: Known) {
        let known = self.0.entry(key).or_insert(found);
        if found.microseconds < known.microseconds {
            *known = found;
        }
    }

    /// Records the latest measurement, replacing an older one: a candidate, or that several levels are faster one by
    /// one.
    #[doc(hidden)]
    pub fn note(&mut self, key: Key, way: Option<Way>, microseconds: f64) {
        let best = Best(way);
        // More digits would be useless, and these survive a round trip through a file.
        let microseconds = (microseconds * 1000.0).round() / 1000.0;
        self.0.insert(key, Known { best, microseconds: microseconds.max(0.001) });
    }

    /// Known result for a case: a candidate, or, for several levels, that they are faster one by one.
    pub(crate) fn find(&self, key: &Key) -> Option<Option<Way>> {
        self.0.get(key).map(|known| known.best.0)
    }
}
