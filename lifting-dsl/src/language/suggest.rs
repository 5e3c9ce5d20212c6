//! Suggestions for misspelt words.

/// The candidate that `word` was probably meant to be.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Long words are unlikely to be typing errors, and the distance costs the product of the lengths.
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    let lower = word.to_lowercase();
    let distance = |c: &str| strsim::damerau_levenshtein(&lower, &c.to_lowercase());
    candidates
        .into_iter()
        .filter(|c| c.len() <= LONGEST)
        .map(|c| (distance(c), c))
        .filter(|(d, c)| *d <= (c.chars().count() / 3).max(1) && *d < c.chars().count())
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions() {
        assert_eq!(did_you_mean("apha", ["beta", "alpha"]), Some("alpha"));
        assert_eq!(did_you_mean("Integer", ["integer", "real"]), Some("integer"));
        assert_eq!(did_you_mean("x", ["y"]), None);
        assert_eq!(did_you_mean("lambda", ["alpha"]), None);
    }
}
