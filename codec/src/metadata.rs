//! Metadata of pictures: compressed sections between header and packets. `docs/format.md` defines them.

use crate::error::CodecError;
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Most bytes of a section's content.
const MOST: usize = 1 << 28;

/// Bytes of a section before its compressed content.
const HEAD: usize = 9;

/// Blocks of metadata, byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// ICC colour profile.
    pub icc: Option<Vec<u8>>,
    /// EXIF, from the header of its TIFF on.
    pub exif: Option<Vec<u8>>,
    /// XMP, a text.
    pub xmp: Option<Vec<u8>>,
    /// Tags of a TIFF: georeferences, and the value of missing data.
    pub tiff: Option<Vec<u8>>,
}

impl Metadata {
    /// Names of the blocks.
    pub fn names(&self) -> Vec<&'static str> {
        let Metadata { icc, exif, xmp, tiff } = self;
        let all = [(icc, "ICC colour profile"), (exif, "EXIF"), (xmp, "XMP"), (tiff, "TIFF tags")];
        all.into_iter().filter(|(block, _)| block.is_some()).map(|(_, name)| name).collect()
    }

    /// Sections of a stream; empty without metadata.
    ///
    /// # Errors
    /// If a block is too long.
    pub(crate) fn write(&self) -> Result<Vec<u8>, CodecError> {
        let Metadata { icc, exif, xmp, tiff } = self;
        let mut stream = Vec::new();
        for (kind, content) in (1..).zip([icc, exif, xmp, tiff]) {
            let Some(content) = content else { continue };
            if content.len() > MOST {
                let why = format!("a block has {} bytes, and at most {MOST} are allowed", content.len());
                return Err(CodecError::Metadata { why });
            }
            let begin = stream.len();
            let compressed = compress_to_vec_zlib(content, 9);
            stream.push(kind);
            stream.extend((content.len() as u32).to_le_bytes());
            stream.extend((compressed.len() as u32).to_le_bytes());
            stream.extend(compressed);
            let sum = xxh3_64_with_seed(&stream[begin..], kind.into()) as u32;
            stream.extend(sum.to_le_bytes());
        }
        Ok(stream)
    }

    /// Reads the sections of a stream.
    ///
    /// # Errors
    /// If they are invalid or corrupted.
    pub(crate) fn read(mut stream: &[u8]) -> Result<Metadata, CodecError> {
        let broken = |why: &str| CodecError::Metadata { why: why.into() };
        let mut metadata = Metadata::default();
        let mut last = 0;
        while !stream.is_empty() {
            let head: &[u8; HEAD] = stream.first_chunk().ok_or_else(|| broken("a section ends early"))?;
            let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
            let (kind, bytes) = (head[0], word(1));
            let (section, rest) = HEAD
                .checked_add(word(5))
                .and_then(|length| stream.split_at_checked(length))
                .ok_or_else(|| broken("a section ends early"))?;
            let (sum, rest) = rest.split_first_chunk().ok_or_else(|| broken("a section ends early"))?;
            if (xxh3_64_with_seed(section, kind.into()) as u32).to_le_bytes() != *sum {
                return Err(CodecError::Checksum { what: format!("section {kind} of the metadata") });
            }
            if kind <= last || bytes > MOST {
                return Err(broken("a section has an invalid kind or length"));
            }
            let content = decompress_to_vec_zlib_with_limit(&section[HEAD..], bytes).ok();
            let content = content.filter(|content| content.len() == bytes);
            let content = content.ok_or_else(|| broken("a section cannot be decompressed"))?;
            match kind {
                1 => metadata.icc = Some(content),
                2 => metadata.exif = Some(content),
                3 => metadata.xmp = Some(content),
                4 => metadata.tiff = Some(content),
                _ => return Err(broken("a section has an unknown kind")),
            }
            (last, stream) = (kind, rest);
        }
        Ok(metadata)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_round_trip() {
        let metadata = Metadata { icc: Some(vec![7; 5000]), exif: None, xmp: Some(Vec::new()), tiff: Some(vec![1, 2]) };
        let stream = metadata.write().unwrap();
        assert!(stream.len() < 150, "{}", stream.len());
        assert_eq!(Metadata::read(&stream).unwrap(), metadata);
        assert_eq!(metadata.names(), ["ICC colour profile", "XMP", "TIFF tags"]);
        assert_eq!(Metadata::default().write().unwrap(), [0; 0]);
        for cut in 1..stream.len() {
            let read = Metadata::read(&stream[..cut]);
            assert!(read.is_err() || read.is_ok_and(|read| read != metadata), "{cut}");
        }
        for at in 0..stream.len() {
            let mut broken = stream.clone();
            broken[at] ^= 4;
            assert!(Metadata::read(&broken).is_err(), "{at}");
        }
        // Sections are in order.
        let twice = [&stream[..], &stream].concat();
        assert!(matches!(Metadata::read(&twice), Err(CodecError::Metadata { .. })));
    }
}
