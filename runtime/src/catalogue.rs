//! The built-in wavelets, by name.

use crate::text::{self, CompileError};
use lifting_dsl::Scheme;
use lifting_filters::{CATALOGUE, Entry};

/// Error: the catalogue has no such name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no wavelet `{name}` in the catalogue{}", suggestion(similar))]
pub struct NotFound {
    /// The requested name.
    pub name: String,
    /// Similar names, most similar first.
    pub similar: Vec<String>,
}

fn suggestion(similar: &[String]) -> String {
    match similar {
        [] => "".into(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}

/// Finds a wavelet by name: `dd137`, `legall53`, `cdf97`, …. Case does not matter; aliases and common spellings
/// (`bior4.4`) are found too.
///
/// ```
/// let wavelet = lifting::catalogue::find("cdf97")?;
/// assert_eq!(wavelet.name(), "cdf97");
/// assert!(lifting::catalogue::find("cdf79").is_err()); // the error suggests cdf97
/// # Ok::<(), lifting::catalogue::NotFound>(())
/// ```
///
/// # Errors
/// [`NotFound`], with similar names.
pub fn find(name: &str) -> Result<Scheme, NotFound> {
    let not_found = || NotFound { name: name.to_owned(), similar: similar(name) };
    let entry = lifting_filters::find(name).ok_or_else(not_found)?;
    scheme(entry).map_err(|_| not_found())
}

/// Compiles a catalogue entry.
///
/// # Errors
/// If its text does not compile; the crate's tests exclude this.
pub fn scheme(entry: &Entry) -> Result<Scheme, CompileError> {
    text::compile(entry.source).and_then(|schemes| text::pick(schemes, Some(entry.name), entry.file))
}

/// All entries, grouped by family.
pub fn entries() -> &'static [Entry] {
    CATALOGUE
}

/// At most three names and aliases similar to `name`.
fn similar(name: &str) -> Vec<String> {
    let key = |s: &str| s.to_lowercase().replace(['.', '_', '-', ' '], "");
    let wanted = key(name);
    // Ties go to the name with the same letters in another order.
    let letters = |s: &str| {
        let mut letters: Vec<char> = s.chars().collect();
        letters.sort_unstable();
        letters.into_iter().collect::<String>()
    };
    // A distance above a third of the letters means another name, not a typing error.
    let score = |candidate: &str| {
        let candidate = key(candidate);
        let distance = strsim::osa_distance(&wanted, &candidate);
        let near = distance <= (candidate.len() / 3).max(1) && distance < wanted.len().min(candidate.len());
        near.then(|| (distance, strsim::osa_distance(&letters(&wanted), &letters(&candidate))))
    };
    // The distance costs the product of the lengths, and no name is this long.
    if wanted.len() > 64 {
        return Vec::new();
    }
    let mut scored: Vec<((usize, usize), &str)> = CATALOGUE
        .iter()
        .filter_map(|entry| {
            let names = std::iter::once(entry.name).chain(entry.aliases.iter().copied());
            names.filter_map(|name| score(name).map(|s| (s, name))).min()
        })
        .collect();
    scored.sort();
    scored.truncate(3);
    scored.into_iter().map(|(_, n)| n.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_compiles_under_its_name_and_aliases() {
        for entry in entries() {
            assert_eq!(scheme(entry).unwrap().name(), entry.name);
            for alias in entry.aliases {
                assert_eq!(find(alias).unwrap().name(), entry.name, "{alias}");
            }
        }
    }

    #[test]
    fn typing_errors_are_forgiven() {
        assert_eq!(find("dd173").unwrap_err().similar[0], "dd137");
        assert_eq!(find("cdf79").unwrap_err().similar[0], "cdf97");
        // Suggestions use the user's spelling, whatever the catalogue calls the wavelet.
        assert_eq!(find("haarr").unwrap_err().similar, ["haar"]);
        assert_eq!(find("bior9.9").unwrap_err().similar[0], "bior3_9");
        assert!(find("db").unwrap_err().similar.contains(&"db2".to_owned()));
        for far in ["nothing-like-it", "xyz", "q", "foo", "bar", "ab", "lena.png", ""] {
            assert_eq!(find(far).unwrap_err().similar, [""; 0], "{far}");
        }
    }
}
