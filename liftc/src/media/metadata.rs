//! Metadata of picture files that some formats keep.

use super::image::ICC;

/// Blocks of metadata, byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// ICC colour profile.
    pub icc: Option<Vec<u8>>,
    /// EXIF, from the header of its TIFF on.
    pub exif: Option<Vec<u8>>,
    /// XMP, a text.
    pub xmp: Option<Vec<u8>>,
}

impl Metadata {
    /// Names of the blocks, as in notes.
    pub fn names(&self) -> Vec<&'static str> {
        let all = [(&self.icc, ICC), (&self.exif, "EXIF"), (&self.xmp, "XMP")];
        all.into_iter().filter(|(block, _)| block.is_some()).map(|(_, name)| name).collect()
    }
}

/// Note on metadata that is not kept; `None` if there is none.
pub fn ignored(names: &[&str]) -> Option<String> {
    match names {
        [] => None,
        [only] => Some(format!("its {only} is ignored")),
        [others @ .., last] => Some(format!("its {} and {last} are ignored", others.join(", "))),
    }
}
