//! Untrusted streams: a corrupted stream is an error or a picture, never a panic or an excessive allocation.

use crate::codec::picture;
use lifting::catalogue;
use lifting_codec::block::Passes;
use lifting_codec::{Codec, CodecError, Decoder, Header, Image, Region};
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

struct Random(u64);

impl Random {
    /// Number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Checksum of a part of a packet, from the format's text.
pub fn checksum(part: &[u8], seed: u64) -> u32 {
    let hashes = part.chunks(1 << 14).flat_map(|piece| xxh3_64_with_seed(piece, seed).to_le_bytes());
    xxh3_64_with_seed(&hashes.collect::<Vec<u8>>(), seed) as u32
}

/// Parts of a stream with checksums: the beginning, the end, and the seed of each. The last one is the index of
/// packets.
pub fn checked_parts(stream: &[u8]) -> Vec<(usize, usize, Option<u64>)> {
    let head = Decoder::new(stream).unwrap().header_length();
    let mut parts = vec![(0, head - 4, None)];
    let first = xxh3_64(&stream[..head - 4]);
    let (mut at, mut seed) = (head, first);
    let foot = stream.len() - 16;
    let (numbers, signature) = (u32::from_le_bytes(*stream[foot..].first_chunk().unwrap()), &stream[foot + 8..]);
    let last = if signature == b"\x89LPI\r\n\x1a\n" { foot - numbers as usize } else { stream.len() };
    while at < last {
        let length = u32::from_le_bytes(*stream[at..].first_chunk().unwrap());
        let end = at + 4 + (length & !(1 << 31)) as usize;
        if length >> 31 == 1 {
            assert_eq!(stream[end - 4..end], checksum(&stream[at..end - 4], seed).to_le_bytes());
            parts.push((at, end - 4, Some(seed)));
            (at, seed) = (end, seed.wrapping_add(1));
            continue;
        }
        let fits = |from: usize, to: usize| checksum(&stream[from..to], seed).to_le_bytes();
        let index = (at + 4..end).find(|&to| stream[to..].starts_with(&fits(at, to))).expect("an index");
        assert_eq!(stream[end - 4..end], fits(index + 4, end - 4));
        parts.extend([(at, index, Some(seed)), (index + 4, end - 4, Some(seed))]);
        (at, seed) = (end, seed.wrapping_add(1));
    }
    if last < stream.len() {
        parts.push((last, foot + 4, Some(first)));
    }
    parts
}

/// Changed, missing and added bytes, with right and wrong checksums.
#[test]
fn broken_streams_never_panic() {
    let named = |name: &str| Codec::builder(&catalogue::find(name).unwrap());
    let codecs = [
        (named("legall53").levels(2).layers(3).block(16, 16), picture(70, 90, 1, 8, false)),
        (
            named("cdf97").levels(1).quality(70.0).tile(64, 64).passes(Passes::Three).fast(2),
            picture(70, 90, 3, 8, false),
        ),
        (named("s_transform").levels(3).fitted(true).layers(2).block(4, 64), picture(40, 67, 2, 16, true)),
    ];
    let mut random = Random(2026);
    let (mut errors, mut pictures) = (0, 0);
    for (codec, image) in codecs {
        let stream = codec.build().unwrap().encode(&image).unwrap();
        let parts = checked_parts(&stream);
        for round in 0..1500 {
            let mut broken = stream.clone();
            // Most of a stream is payload, so a part is chosen first.
            let (from, to, seed) = parts[random.below(parts.len())];
            for _ in 0..1 + random.below(3) {
                let at = from + random.below(to - from);
                if at < broken.len() {
                    broken[at] = match random.below(3) {
                        0 => broken[at] ^ 1 << random.below(8),
                        1 => random.below(256) as u8,
                        _ => 255 * (random.below(2) as u8),
                    };
                }
            }
            if round % 4 > 0 {
                let sum = match seed {
                    Some(seed) if to == stream.len() - 12 => xxh3_64_with_seed(&broken[from..to], seed) as u32,
                    Some(seed) => checksum(&broken[from..to], seed),
                    None => xxh3_64(&broken[from..to]) as u32,
                };
                broken[to..to + 4].copy_from_slice(&sum.to_le_bytes());
            }
            match random.below(8) {
                0 => broken.truncate(random.below(stream.len())),
                1 => drop(broken.splice(from..from, [random.below(256) as u8])),
                2 => drop(broken.splice(from..(from + random.below(5)).min(to), [])),
                _ => {}
            }
            let decoded = Decoder::new(&broken).and_then(|decoder| {
                let _ = decoder.packets();
                let _ = decoder.clone().layers(1)?.region(Region { y: 3, x: 60, height: 9, width: 5 })?.decode(1);
                let _ = decoder.metadata();
                let source = &broken[..];
                let opened = Decoder::open(&source)?.at_most(1 << 16).decode(0);
                assert_eq!(opened, decoder.clone().at_most(1 << 16).decode(0));
                // Decodes what a header promises if it is small.
                decoder.at_most(1 << 16).decode(0)
            });
            match decoded {
                Ok(_) => pictures += 1,
                Err(_) => errors += 1,
            }
        }
    }
    assert!(errors > 1000 && pictures > 100, "{errors} errors, {pictures} pictures");
}

/// Every prefix is a picture, or ends in the header.
#[test]
fn every_prefix_decodes() {
    let codec = Codec::builder(&catalogue::find("legall53").unwrap()).levels(2).layers(3).tile(64, 64).block(16, 16);
    let stream = codec.build().unwrap().encode(&picture(65, 70, 1, 8, false)).unwrap();
    let head = Decoder::new(&stream).unwrap().header_length();
    for length in (0..stream.len()).step_by(7) {
        match Decoder::new(&stream[..length]) {
            Ok(decoder) => assert!(!decoder.decode(0).unwrap().complete),
            Err(_) => assert!(length < head),
        }
    }
}

/// A text of 64 steps that read 1,024 samples away: their filters have a hundred thousand taps.
fn far(pairs: usize) -> lifting::Scheme {
    let pair = "odd -= (even[-1024] + even[1024]) >> 1; even += (odd[-1024] + odd[1024] + 1) >> 2;";
    let text = format!("wavelet far {{ domain integer; {} }}", pair.repeat(pairs));
    lifting::compile(&text).unwrap().remove(0)
}

/// Neither memory nor time grow with the reach of a stream's wavelet.
#[test]
fn far_steps_are_decoded() {
    let begun = Instant::now();
    let image = picture(64, 64, 1, 8, false);
    let stream = Codec::builder(&far(32)).levels(2).build().unwrap().encode(&image).unwrap();
    let decoder = Decoder::new(&stream).unwrap();
    assert_eq!(decoder.decode(0).unwrap().image, image);
    assert_eq!(decoder.decode(1).unwrap().image.width, 32);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

/// Quantisers depend on filters: too long ones are an error.
#[test]
fn far_steps_are_not_quantised() {
    let codec = Codec::builder(&far(32)).levels(2).quality(50.0).build().unwrap();
    let error = codec.encode(&picture(64, 64, 1, 8, false)).unwrap_err();
    assert!(matches!(error, CodecError::Filters { .. }), "{error}");
    assert!(error.to_string().contains("the filters of `far` have up to"), "{error}");
}

/// Many small steps are refused where the stream is out of proportion to their work.
#[test]
fn work_is_bounded() {
    let pair = "odd -= (even[0] + even[1]) >> 1; even += (odd[-1] + odd[0] + 2) >> 2;";
    let long = lifting::compile(&format!("wavelet long {{ domain integer; {} }}", pair.repeat(512))).unwrap().remove(0);
    let (height, width) = (2048, 2048);
    let mut image = Image { height, width, components: 1, bits: 8, signed: false, samples: vec![7; height * width] };
    image.samples[5] = 200;
    image.samples[9] = 90;
    let stream = Codec::builder(&catalogue::find("legall53").unwrap()).build().unwrap().encode(&image).unwrap();
    let header = Decoder::new(&stream).unwrap().header().clone();
    let mut lie = Header { scheme: long, ..header }.write().unwrap();
    lie.resize(lie.len() + 100, 0);
    let decoder = Decoder::new(&lie).unwrap();
    let error = decoder.decode(0).unwrap_err();
    assert!(matches!(error, CodecError::TooMuchWork { each: 6144, .. }), "{error}");
    // A part of the picture is less work.
    let part = decoder.region(Region { y: 0, x: 0, height: 8, width: 8 }).unwrap();
    assert!(matches!(part.decode(0), Err(CodecError::TooMuchWork { .. })), "one tile is transformed as a whole");
}

/// Tiles are not listed before their packets are there.
#[test]
fn claimed_tiles_take_no_memory() {
    let image = picture(1, 128, 1, 8, false);
    let codec = Codec::builder(&catalogue::find("legall53").unwrap()).levels(6).tile(64, 64).build().unwrap();
    let header = Decoder::new(&codec.encode(&image).unwrap()).unwrap().header().clone();
    let mut lie = Header { width: 16_000_000, tile: [1, 64], ..header }.write().unwrap();
    lie.resize(4000, 0);
    let begun = Instant::now();
    for _ in 0..20 {
        let decoder = Decoder::new(&lie).unwrap();
        assert_eq!(decoder.header().tiles(), [1, 250_000]);
        assert!(decoder.packets().is_err(), "zeros as packets");
        assert!(decoder.decode(0).is_err());
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}
