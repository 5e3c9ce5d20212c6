//! Stored streams: their decoded pictures must not change, and lossless ones must be re-encoded byte for byte.
//!
//! `UPDATE=1 cargo test -p lifting-codec --test suite vectors` rewrites them. Only do so for a new version of the
//! format.

use crate::codec::picture;
use lifting::{catalogue, compile};
use lifting_codec::block::Passes;
use lifting_codec::{Codec, Decoder, Image, Metadata};
use std::path::PathBuf;
use xxhash_rust::xxh3::xxh3_64;

/// Name, codec and picture of each stream.
fn vectors() -> Vec<(&'static str, Codec, Image)> {
    let named = |name: &str| catalogue::find(name).unwrap();
    let text =
        "wavelet mine { domain integer; boundary periodic; odd -= (even[0] + even[1]) >> 1; even += odd[0] >> 2; }";
    let mine = compile(text).unwrap().remove(0);
    let noise = |bits: u32| {
        let mut image = picture(40, 70, 1, bits, false);
        let mut state = 1u32;
        image.samples.iter_mut().for_each(|sample| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            *sample = (state >> (32 - bits)) as i32;
        });
        image
    };
    let two = Codec::builder(&named("legall53"));
    let blocks = Metadata { icc: Some(vec![7; 300]), exif: None, xmp: Some(b"<x/>".into()), tiff: Some(vec![1, 2, 3]) };
    let metadata = two.clone().levels(2).build().unwrap().metadata(&blocks).unwrap();
    let mut values = picture(70, 150, 1, 12, true);
    values.samples.iter_mut().for_each(|sample| *sample = *sample / 100 * 100);
    let mut constant = picture(90, 100, 3, 8, false);
    constant.samples.fill(77);
    let tiles = || two.clone().levels(3).tile(64, 64).build().unwrap();
    vec![
        ("grey", two.clone().build().unwrap(), picture(150, 131, 1, 8, false)),
        ("rgb", two.clone().levels(3).build().unwrap(), picture(67, 45, 3, 8, false)),
        (
            "three-passes",
            two.clone().passes(Passes::Three).block(16, 64).build().unwrap(),
            picture(65, 70, 1, 12, true),
        ),
        ("fast", two.clone().levels(3).fast(3).build().unwrap(), picture(90, 75, 1, 8, false)),
        ("layers", two.clone().levels(4).layers(5).build().unwrap(), picture(120, 136, 1, 8, false)),
        ("tiles", two.clone().levels(2).layers(2).tile(64, 128).build().unwrap(), picture(70, 140, 3, 8, false)),
        ("noise", two.clone().levels(1).build().unwrap(), noise(16)),
        ("metadata", metadata, picture(30, 41, 1, 8, false)),
        ("values", tiles(), values),
        ("constant", two.clone().build().unwrap(), constant),
        ("text", Codec::builder(&mine).levels(2).build().unwrap(), picture(36, 52, 2, 10, false)),
        ("lossy", Codec::builder(&named("cdf97")).psnr(38.0).build().unwrap(), picture(130, 90, 3, 8, false)),
        ("sparse", Codec::builder(&named("cdf97")).quality(35.0).build().unwrap(), picture(128, 192, 1, 8, false)),
        (
            "near-lossless",
            Codec::builder(&named("dd137")).levels(4).psnr(48.0).build().unwrap(),
            picture(64, 64, 1, 8, false),
        ),
    ]
}

/// XXH3-64 of a picture's samples.
fn hash_of(image: &Image) -> u64 {
    xxh3_64(&image.samples.iter().flat_map(|s| s.to_le_bytes()).collect::<Vec<u8>>())
}

/// Hashes of a decoded stream, at each level and with fewer layers.
fn hashes(stream: &[u8]) -> Vec<String> {
    let decoder = Decoder::new(stream).unwrap();
    let hash = |level| {
        let picture = decoder.decode(level).unwrap();
        assert!(picture.complete);
        format!("{:016x}", hash_of(&picture.image))
    };
    let of_layer = |layers| {
        let picture = decoder.clone().layers(layers).unwrap().decode(0).unwrap();
        format!("{layers}:{:016x}", hash_of(&picture.image))
    };
    (0..=decoder.header().levels).map(hash).chain((1..decoder.header().layers).map(of_layer)).collect()
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors"))
}

#[test]
fn stored_streams_decode_unchanged() {
    let folder = folder();
    let update = std::env::var_os("UPDATE").is_some();
    let mut lines = String::new();
    for (name, codec, image) in vectors() {
        let path = folder.join(name).with_extension("lpc");
        if update {
            std::fs::write(&path, codec.encode(&image).unwrap()).unwrap();
        }
        let stream = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        lines += &format!("{name} {}\n", hashes(&stream).join(" "));
        let decoder = Decoder::new(&stream).unwrap();
        assert_eq!(decoder.header().version, 5);
        if decoder.header().is_lossless() {
            assert_eq!(decoder.decode(0).unwrap().image, image, "{name}");
            assert!(codec.encode(&image).unwrap() == stream, "{name} is written otherwise");
        }
    }
    let list = folder.join("samples.txt");
    if update {
        std::fs::write(&list, &lines).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&list).unwrap(), lines);
}

/// Version 4, which is not written any more.
#[test]
fn old_streams_decode_unchanged() {
    let folder = folder().join("version-4");
    let list = std::fs::read_to_string(folder.join("samples.txt")).unwrap();
    assert_eq!(list.lines().count(), 11);
    for line in list.lines() {
        let name = line.split(' ').next().unwrap();
        let stream = std::fs::read(folder.join(name).with_extension("lpc")).unwrap();
        assert_eq!(line, format!("{name} {}", hashes(&stream).join(" ")));
        let header = Decoder::new(&stream).unwrap().header().clone();
        assert_eq!(header.version, 4);
        let written = header.write().unwrap();
        assert_eq!(written, stream[..written.len()]);
    }
}
