//! The text of a device's file: sections of `name = value` lines, a small part of TOML.

use std::collections::BTreeMap;

/// A section's lines by name, without those already taken.
pub(super) struct Section {
    name: String,
    lines: BTreeMap<String, String>,
}

impl Section {
    /// Takes the value of a name.
    pub fn take(&mut self, name: &str) -> Result<String, String> {
        self.lines.remove(name).ok_or_else(|| format!("section [{}] has no line `{name} = …`", self.name))
    }

    /// Checks that no line is left.
    pub fn finish(self) -> Result<(), String> {
        match self.lines.keys().next() {
            Some(name) => Err(format!("section [{}] has a line `{name}`, which nothing reads", self.name)),
            None => Ok(()),
        }
    }
}

/// A file's sections by their names.
pub(super) fn sections(text: &str) -> Result<BTreeMap<String, Section>, String> {
    let mut sections: BTreeMap<String, Section> = BTreeMap::new();
    let mut current = None;
    for (i, line) in text.lines().enumerate() {
        let at = |what: String| format!("line {}: {what}", i + 1);
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            let section = Section { name: name.to_owned(), lines: BTreeMap::new() };
            if sections.insert(name.to_owned(), section).is_some() {
                return Err(at(format!("section [{name}] is there twice")));
            }
            current = Some(name.to_owned());
            continue;
        }
        let (name, value) =
            line.split_once('=').ok_or_else(|| at(format!("`{line}` is neither [section] nor name = value")))?;
        let section = current.as_ref().and_then(|current| sections.get_mut(current));
        let section = section.ok_or_else(|| at("value outside a section: begin with [device]".into()))?;
        let name = name.trim().to_owned();
        if section.lines.insert(name.clone(), value.trim().to_owned()).is_some() {
            return Err(at(format!("`{name}` is there twice")));
        }
    }
    Ok(sections)
}

/// The type of a value.
pub(super) trait Value: Sized {
    fn of(text: String) -> Result<Self, String>;
}

impl Value for String {
    fn of(text: String) -> Result<String, String> {
        let inside = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        inside.map(str::to_owned).ok_or_else(|| format!("{text} is not a text in quotes"))
    }
}

impl Value for f64 {
    fn of(text: String) -> Result<f64, String> {
        let number = text.parse::<f64>().ok().filter(|x| x.is_finite());
        number.ok_or_else(|| format!("{text} is not a finite number"))
    }
}

impl<const N: usize> Value for [f64; N] {
    fn of(text: String) -> Result<[f64; N], String> {
        let inside = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        let inside = inside.ok_or_else(|| format!("{text} is not a list of {N} numbers"))?;
        let numbers = inside.split(',').map(|x| f64::of(x.trim().to_owned())).collect::<Result<Vec<f64>, String>>()?;
        numbers.try_into().map_err(|_| format!("{text} is not a list of {N} numbers"))
    }
}

macro_rules! integers {
    ($($type:ty),*) => {
        $(impl Value for $type {
            fn of(text: String) -> Result<$type, String> {
                text.parse().map_err(|_| format!("{text} is not a whole number in range"))
            }
        })*
    };
}

integers!(i64, u32, u64);
