//! The catalogue: wavelets by name, as `.lift` text. No dependencies; `lifting-dsl` compiles the text.
//!
//! ```
//! let entry = lifting_filters::find("CDF2.4").unwrap();
//! assert_eq!((entry.name, entry.file), ("cdf2_4", "cdf.lift"));
//! assert!(entry.source.contains("wavelet cdf2_4 {"));
//! assert_eq!(lifting_filters::find("bior2.4"), Some(entry)); // PyWavelets' name of the same filter
//! ```

/// One wavelet of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Identifier of the wavelet in the file.
    pub name: &'static str,
    /// Other names of exactly this wavelet, spelt as identifiers.
    pub aliases: &'static [&'static str],
    /// The family, for lists.
    pub family: &'static str,
    /// The file, relative to `filters/`.
    pub file: &'static str,
    /// The whole text of the file, which may hold other wavelets too.
    pub source: &'static str,
}

/// Entries of one file; aliases follow the name after `=`.
macro_rules! catalogue {
    ($($file:literal $family:literal { $($name:literal $(= $($alias:literal)+)?),+ $(,)? })*) => {
        /// All wavelets, family by family.
        pub const CATALOGUE: &[Entry] = &[$($(Entry {
            name: $name,
            aliases: &[$($($alias),+)?],
            family: $family,
            file: $file,
            source: include_str!(concat!("../", $file)),
        },)+)*];
    };
}

catalogue! {
    "dd137.lift" "VC-2" { "dd137" = "dd13_7" "vc2_2" }
    "vc2.lift" "VC-2" {
        "dd97" = "dd9_7" "vc2_0",
        "legall53_vc2" = "vc2_1",
        "haar_vc2_0" = "vc2_3",
        "haar_vc2_1" = "vc2_4",
        "fidelity" = "vc2_5",
        "daubechies97" = "vc2_6",
    }
    "jpeg2000.lift" "JPEG 2000" {
        "legall53" = "legall5_3" "jpeg2000_5_3",
        "cdf97" = "jpeg2000_9_7",
    }
    "ccsds.lift" "CCSDS 122.0" { "ccsds97m" = "ccsds9_7m" }
    "cdsy.lift" "CDSY" {
        "cdsy22" = "cdsy2_2",
        "cdsy24" = "cdsy2_4",
        "cdsy42" = "cdsy4_2",
        "cdsy44" = "cdsy4_4",
        "cdsy62" = "cdsy6_2",
        "cdsy222" = "cdsy2_2_2",
    }
    "s_transform.lift" "S-transform" {
        "s_transform",
        "ts" = "ts_transform" "s_transform_2_6",
        "s_transform_2_10",
    }
    "cdf.lift" "CDF" {
        "cdf1_1" = "bior1_1" "haar" "db1" "rbio1_1",
        "cdf1_3" = "bior1_3",
        "cdf1_5" = "bior1_5",
        "cdf2_2" = "bior2_2",
        "cdf2_4" = "bior2_4",
        "cdf2_6" = "bior2_6",
        "cdf2_8" = "bior2_8",
        "cdf3_1" = "bior3_1",
        "cdf3_3" = "bior3_3",
        "cdf3_5" = "bior3_5",
        "cdf3_7" = "bior3_7",
        "cdf3_9" = "bior3_9",
        "cdf4_2",
        "cdf4_4",
        "cdf4_6",
        "cdf5_1",
        "cdf5_3",
        "cdf5_5",
        "cdf6_2",
        "cdf6_4",
        "cdf6_6",
        "bior4_4",
    }
    "biorthogonal.lift" "Biorthogonal" {
        "bior5_5",
        "bior6_8",
        "rbio1_3",
        "rbio1_5",
        "rbio2_2",
        "rbio2_4",
        "rbio2_6",
        "rbio2_8",
        "rbio3_1",
        "rbio3_3",
        "rbio3_5",
        "rbio3_7",
        "rbio3_9",
        "rbio4_4",
        "rbio5_5",
        "rbio6_8",
    }
    "daubechies.lift" "Daubechies" {
        "db2" = "sym2",
        "db3" = "sym3",
        "db4",
        "db5",
        "db6",
        "db7",
        "db8",
        "db9",
        "db10",
        "db11",
        "db12",
        "db13",
        "db14",
        "db15",
        "db16",
        "db17",
        "db18",
        "db19",
        "db20",
        "db21",
        "db22",
        "db23",
        "db24",
        "db25",
        "db26",
        "db27",
        "db28",
        "db29",
        "db30",
        "db31",
        "db32",
        "db33",
        "db34",
        "db35",
        "db36",
        "db37",
        "db38",
    }
    "symlets.lift" "Symlets" {
        "sym4",
        "sym5",
        "sym6",
        "sym7",
        "sym8",
        "sym9",
        "sym10",
        "sym11",
        "sym12",
        "sym13",
        "sym14",
        "sym15",
        "sym16",
        "sym17",
        "sym18",
        "sym19",
        "sym20",
    }
    "coiflets.lift" "Coiflets" {
        "coif1",
        "coif2",
        "coif3",
        "coif4",
        "coif5",
        "coif6",
        "coif7",
        "coif8",
        "coif9",
        "coif10",
        "coif11",
        "coif12",
        "coif13",
        "coif14",
        "coif15",
        "coif16",
        "coif17",
    }
    "meyer.lift" "Meyer" { "dmey" }
}

/// The wavelet with the name or alias `name`, in any case, with `.`, `-`, `/` or a blank for `_`.
pub fn find(name: &str) -> Option<&'static Entry> {
    let plain = |c: char| if matches!(c, '.' | '-' | '/' | ' ') { '_' } else { c.to_ascii_lowercase() };
    let wanted: String = name.trim().chars().map(plain).collect();
    CATALOGUE.iter().find(|entry| entry.name == wanted || entry.aliases.contains(&wanted.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_lists_every_wavelet_of_the_files() {
        for entry in CATALOGUE {
            let in_file: BTreeSet<_> =
                entry.source.lines().filter_map(|line| line.strip_prefix("wavelet ")?.strip_suffix(" {")).collect();
            let in_table: BTreeSet<_> = CATALOGUE.iter().filter(|e| e.file == entry.file).map(|e| e.name).collect();
            assert_eq!(in_file, in_table, "{}", entry.file);
        }
        let mut files: Vec<_> = std::fs::read_dir(env!("CARGO_MANIFEST_DIR"))
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .filter(|file| file.ends_with(".lift"))
            .collect();
        files.sort();
        let listed: BTreeSet<_> = CATALOGUE.iter().map(|e| e.file.to_string()).collect();
        assert_eq!(files, listed.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn names_are_identifiers_and_mean_one_wavelet() {
        let mut seen = BTreeSet::new();
        for entry in CATALOGUE {
            for name in entry.aliases.iter().chain([&entry.name]) {
                assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'), "{name}");
                assert!(seen.insert(*name), "{name} means two wavelets");
                assert_eq!(find(name), Some(entry));
            }
        }
    }

    #[test]
    fn people_spell_names_their_way() {
        for (spelling, name) in
            [("bior4.4", "bior4_4"), ("DD137", "dd137"), ("bior1.3", "cdf1_3"), (" legall5/3", "legall53")]
        {
            assert_eq!(find(spelling).map(|e| e.name), Some(name));
        }
        for unknown in ["", "dd13", "cdf", "wavelet", "dd137 {"] {
            assert_eq!(find(unknown), None);
        }
    }
}
