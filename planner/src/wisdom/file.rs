//! JSON file format of wisdom.

use super::{Best, FORMAT, Key, Known, Wisdom, WisdomWarning};
use crate::schedule::Way;
use lifting_codegen::schedule::Shape;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The fastest candidate in a file: `separate`, `lattice`, a schedule with the numbers of a shape, or `apart`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    schedule: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    shape: BTreeMap<String, u32>,
}

/// Name for several levels that are launched one by one.
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

/// Maximum number of bytes read from a file.
const MOST_BYTES: u64 = 16 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(rename = "for")]
    key: Key,
    found: Known,
}

impl Wisdom {
    /// Parses a file's text. Unusable parts are skipped with warnings.
    ///
    /// ```
    /// use lifting::Wisdom;
    /// let (wisdom, warnings) = Wisdom::from_json("not what it was");
    /// assert!(wisdom.is_empty());
    /// println!("{}", warnings[0]); // the fault; plans then choose by prediction
    /// assert_eq!(Wisdom::from_json(&wisdom.to_json()), (wisdom, vec![]));
    /// ```
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

    /// Text of a file; equal wisdom gives equal text.
    pub fn to_json(&self) -> String {
        let entries: Vec<Value> = self.0.iter().map(|(key, found)| json!({ "for": key, "found": found })).collect();
        let text = serde_json::to_string_pretty(&json!({ "lifting_wisdom": FORMAT, "entries": entries }));
        text.expect("strings, numbers and lists of them can be written") + "\n"
    }

    /// Reads a file; a missing file is empty wisdom.
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

    /// Writes a file whole or not at all; missing folders are created.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> std::io::Result<()> {
        replace_file(path.as_ref(), self.to_json().as_bytes())
    }

    /// Default file for plans on CUDA devices without explicit wisdom: the path in the variable `LIFTING_WISDOM` (none
    /// if empty), else `lifting/wisdom.json` in the user's cache folder.
    pub fn default_path() -> Option<PathBuf> {
        match std::env::var_os("LIFTING_WISDOM") {
            Some(path) if path.is_empty() => None,
            Some(path) => Some(path.into()),
            None => dirs::cache_dir().map(|folder| folder.join("lifting").join("wisdom.json")),
        }
    }
}

/// Writes a file whole or not at all; missing folders are created. The temporary file next to it has a random name, is
/// new (no link is followed), and is removed if the write fails.
///
/// # Errors
/// If it cannot be written.
pub fn replace_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".lifting-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The usual mode, reduced by the umask: other users may read the file.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|e| e.error)
}

impl Known {
    fn check(&self) -> Result<(), &'static str> {
        let is_time = self.microseconds.is_finite() && self.microseconds > 0.0;
        if is_time { Ok(()) } else { Err("its time is not a positive number") }
    }
}
