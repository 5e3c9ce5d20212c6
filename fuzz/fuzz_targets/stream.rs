//! Streams with one or a few changes, and checksums that fit: the decoder must refuse or decode them, within bounds.
//!
//! Random bytes hardly pass a checksum. So an input is a list of changes to a valid stream: bytes of a part, or
//! characters of the wavelet's text. The checksums are recomputed.
#![no_main]

use lifting_codec::block::Passes;
use lifting_codec::{Codec, Decoder, Header, Image, Metadata, Region};
use std::sync::OnceLock;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// A stream, and its parts in order, each with its checksum: the end of each, and how it is checked.
struct Seed {
    stream: Vec<u8>,
    ends: Vec<(usize, Check)>,
}

/// Checksum of a part.
#[derive(Clone, Copy)]
enum Check {
    Header,
    /// Section of metadata.
    Section,
    /// Index or payload of the packet with this number.
    Packet(u64),
    /// Index of packets, up to its signature.
    Index,
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
            (named("legall53").levels(1).tile(64, 64), 1),
            (named("own").levels(3).fitted(true).layers(2).block(4, 64), 2),
        ];
        let (height, width) = (67, 90);
        codecs
            .into_iter()
            .map(|(codec, components)| {
                let sample = |i: usize| (i * 7 % 251 ^ i / 90 % 97) as i32 & 255;
                let samples = (0..height * width * components).map(sample).collect();
                let image = Image { height, width, components, bits: 8, signed: false, samples };
                let metadata = Metadata { icc: Some(vec![9; 60]), xmp: Some(b"<x/>".into()), ..Metadata::default() };
                let codec = codec.build().unwrap().metadata(&metadata).unwrap();
                let mut streams = vec![codec.encode(&image).unwrap()];
                if let Ok(mut rows) = codec.by_rows(image.format(), Vec::new()) {
                    rows.push(&image.samples).unwrap();
                    streams.push(rows.finish().unwrap());
                }
                streams
            })
            .flatten()
            .map(|stream| Seed { ends: ends(&stream), stream })
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

/// Checksum of a part, without its last four bytes, in a stream of this seed.
fn sum_of(part: &[u8], check: Check, seed: u64) -> [u8; 4] {
    let first = part.first().copied().unwrap_or(0);
    match check {
        Check::Header => (xxh3_64(part) as u32).to_le_bytes(),
        Check::Section => (xxh3_64_with_seed(part, first.into()) as u32).to_le_bytes(),
        Check::Packet(number) => checksum(part, seed.wrapping_add(number)),
        Check::Index => (xxh3_64_with_seed(part, seed) as u32).to_le_bytes(),
    }
}

fn ends(stream: &[u8]) -> Vec<(usize, Check)> {
    let decoder = Decoder::new(stream).unwrap();
    let (head, header) = (decoder.header_length(), decoder.header());
    let word = |at: usize| u32::from_le_bytes(*stream[at..].first_chunk().unwrap()) as usize;
    let (mut at, seed, mut ends) = (head, xxh3_64(&stream[..head - 4]), vec![(head, Check::Header)]);
    while at < head + header.sections {
        at += 9 + word(at + 5) + 4;
        ends.push((at, Check::Section));
    }
    for _ in 0..header.packets() {
        let end = at + 4 + (word(at) & !(1 << 31));
        let sum = |to: usize, number: u64| checksum(&stream[at..to], seed.wrapping_add(number));
        let fits = |to: usize, number: u64| stream[to..].starts_with(&sum(to, number));
        // A deflated packet has one checksum, at its end.
        let all = (at + 4..end).flat_map(|to| (0..header.packets() as u64).map(move |number| (to, number)));
        let (index, number) = all.into_iter().find(|&(to, number)| fits(to, number)).expect("an index");
        ends.push((index + 4, Check::Packet(number)));
        ends.extend((index + 4 < end).then_some((end, Check::Packet(number))));
        at = end;
    }
    if at < stream.len() {
        ends.push((stream.len() - 8, Check::Index));
    }
    ends
}

/// Makes the checksums from part `first` on fit.
fn sign(stream: &mut [u8], ends: &[(usize, Check)], first: usize) {
    let head = ends[0].0;
    let mut seed = xxh3_64(&stream[..head - 4]);
    for part in first..ends.len() {
        let (from, (to, check)) = (if part == 0 { 0 } else { ends[part - 1].0 }, ends[part]);
        let sum = sum_of(&stream[from..to - 4], check, seed);
        stream[to - 4..to].copy_from_slice(&sum);
        if part == 0 {
            seed = xxh3_64(&stream[..head - 4]);
        }
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
    let (before, after) = (seed.ends[0].0, stream.len());
    stream.extend(&seed.stream[before..]);
    let ends: Vec<(usize, Check)> = seed.ends.iter().map(|(end, check)| (end - before + after, *check)).collect();
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
            let from = if part == 0 { 0 } else { seed.ends[part - 1].0 };
            let length = seed.ends[part].0 - 4 - from;
            stream[from + usize::from(u16::from_le_bytes([low, high])) % length] = byte;
            sign(&mut stream, &seed.ends, part);
        }
        stream
    };
    let Ok(decoder) = Decoder::new(&stream) else { return };
    let decoder = decoder.at_most(MOST);
    let _ = (decoder.packets(), decoder.metadata());
    let _ = decoder.clone().region(Region { y: 3, x: 60, height: 9, width: 5 }).and_then(|part| part.decode(1));
    for level in 0..=decoder.header().levels.min(3) {
        let decoded = decoder.decode(level);
        // Random access reads the same picture.
        let source = &stream[..];
        assert_eq!(Decoder::open(&source).and_then(|decoder| decoder.at_most(MOST).decode(level)), decoded);
    }
});
