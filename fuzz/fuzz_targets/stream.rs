//! Streams with one or a few changes, and checksums that fit: the decoder must refuse or decode them, within bounds.
//!
//! Random bytes hardly pass a checksum. So an input is a list of changes to a valid stream: bytes of a part, or
//! characters of the wavelet's text. The checksums are recomputed.
#![no_main]

use lifting_codec::block::Passes;
use lifting_codec::{Codec, Decoder, Header, Image, Region};
use std::sync::OnceLock;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// A stream, and the ends of its parts: header, then index and payload of each packet, each with its checksum.
struct Seed {
    stream: Vec<u8>,
    ends: Vec<usize>,
}

/// Most samples that are decoded.
const MOST: u128 = 1 << 16;

fn seeds() -> &'static [Seed] {
    static SEEDS: OnceLock<Vec<Seed>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let named = |name: &str| Codec::builder(&wavelet(name));
        let codecs = [
            (named("legall53").levels(2).layers(3).block(16, 16), 1),
            (named("cdf97").levels(1).quality(70.0).tile(64, 64).passes(Passes::Three).fast(2), 3),
            (named("own").levels(3).fitted(true).layers(2).block(4, 64), 2),
        ];
        let (height, width) = (67, 90);
        codecs
            .into_iter()
            .map(|(codec, components)| {
                let sample = |i: usize| (i * 7 % 251 ^ i / 90 % 97) as i32 & 255;
                let samples = (0..height * width * components).map(sample).collect();
                let image = Image { height, width, components, bits: 8, signed: false, samples };
                let stream = codec.build().unwrap().encode(&image).unwrap();
                Seed { ends: ends(&stream), stream }
            })
            .collect()
    })
}

/// A wavelet of the catalogue; `own` travels as text.
fn wavelet(name: &str) -> lifting_dsl::Scheme {
    let text = match name {
        "own" => "wavelet own { domain integer; odd -= (even[-1] + even[2]) >> 1; even += (odd[-1] + odd[0] + 2) >> 2; }",
        name => lifting_filters::find(name).expect("a wavelet of the catalogue").source,
    };
    let mut schemes = lifting_dsl::compile(text).unwrap().schemes;
    let at = schemes.iter().position(|scheme| scheme.name() == name).unwrap();
    schemes.swap_remove(at)
}

/// The checksum of a part of a packet.
fn checksum(part: &[u8], seed: u64) -> [u8; 4] {
    let hashes = part.chunks(1 << 14).flat_map(|piece| xxh3_64_with_seed(piece, seed).to_le_bytes());
    (xxh3_64_with_seed(&hashes.collect::<Vec<u8>>(), seed) as u32).to_le_bytes()
}

fn ends(stream: &[u8]) -> Vec<usize> {
    let head = Decoder::new(stream).unwrap().header_length();
    let (mut at, mut seed, mut ends) = (head, xxh3_64(&stream[..head - 4]), vec![head]);
    while at < stream.len() {
        let end = at + 4 + u32::from_le_bytes(*stream[at..].first_chunk().unwrap()) as usize;
        let fits = |to: &usize| stream[*to..].starts_with(&checksum(&stream[at..*to], seed));
        let index = (at + 4..end).find(fits).expect("an index");
        ends.extend([index + 4, end]);
        (at, seed) = (end, seed.wrapping_add(1));
    }
    ends
}

/// Makes the checksums from part `first` on fit.
fn sign(stream: &mut [u8], ends: &[usize], first: usize) {
    let head = ends[0];
    if first == 0 {
        let sum = (xxh3_64(&stream[..head - 4]) as u32).to_le_bytes();
        stream[head - 4..head].copy_from_slice(&sum);
    }
    let seed = xxh3_64(&stream[..head - 4]);
    for part in first.max(1)..ends.len() {
        let (from, to) = (ends[part - 1], ends[part]);
        let sum = checksum(&stream[from..to - 4], seed.wrapping_add((part as u64 - 1) / 2));
        stream[to - 4..to].copy_from_slice(&sum);
    }
}

/// The stream with another text of its wavelet, if that compiles.
fn rewritten(seed: &Seed, changes: &[[u8; 4]]) -> Option<Vec<u8>> {
    let decoder = Decoder::new(&seed.stream).unwrap();
    let mut text = lifting_dsl::print_scheme(&decoder.header().scheme).into_bytes();
    for [_, low, high, byte] in changes {
        let at = usize::from(u16::from_le_bytes([*low, *high])) % text.len();
        match byte >> 7 {
            0 => text[at] = *byte,
            _ => {
                // A piece of the text again: more steps, further reads.
                let piece = text[at..].iter().take(usize::from(byte & 127)).copied().collect::<Vec<u8>>();
                text.splice(at..at, piece);
            }
        }
    }
    let mut schemes = lifting_dsl::compile(std::str::from_utf8(&text).ok()?).ok()?.schemes;
    let header = Header { scheme: schemes.pop()?, ..decoder.header().clone() };
    let mut stream = header.write().ok()?;
    let (before, after) = (seed.ends[0], stream.len());
    stream.extend(&seed.stream[before..]);
    let ends: Vec<usize> = seed.ends.iter().map(|end| end - before + after).collect();
    sign(&mut stream, &ends, 0);
    Some(stream)
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&[which, kind], changes)) = bytes.split_first_chunk::<2>() else { return };
    let seeds = seeds();
    let seed = &seeds[usize::from(which) % seeds.len()];
    let changes = changes.as_chunks::<4>().0;
    let stream = if kind % 4 == 0 {
        let Some(stream) = rewritten(seed, changes) else { return };
        stream
    } else {
        let mut stream = seed.stream.clone();
        for &[part, low, high, byte] in changes {
            let part = usize::from(part) % seed.ends.len();
            let from = if part == 0 { 0 } else { seed.ends[part - 1] };
            let length = seed.ends[part] - 4 - from;
            stream[from + usize::from(u16::from_le_bytes([low, high])) % length] = byte;
            sign(&mut stream, &seed.ends, part);
        }
        stream
    };
    let Ok(decoder) = Decoder::new(&stream) else { return };
    let decoder = decoder.at_most(MOST);
    let _ = decoder.packets();
    let _ = decoder.clone().region(Region { y: 3, x: 60, height: 9, width: 5 }).and_then(|part| part.decode(1));
    for level in 0..=decoder.header().levels.min(3) {
        let _ = decoder.decode(level);
    }
});
