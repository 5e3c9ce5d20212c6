//! Streams of fields with a few changes, and checksums that fit: the decoder must refuse or decode them, within bounds.
#![no_main]

use lifting_codec::field::{FieldCodec, FieldDecoder, Tolerance};
use std::sync::OnceLock;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Most samples that are decoded.
const MOST: u128 = 1 << 18;

/// Streams of one chunk, and the end of their headers, without the checksum.
fn seeds() -> &'static [(Vec<u8>, usize)] {
    static SEEDS: OnceLock<Vec<(Vec<u8>, usize)>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let mut samples: Vec<f32> = (0..9 * 20 * 33).map(|i| (i as f32 / 7.0).sin() + (i % 11) as f32 * 0.01).collect();
        (samples[3], samples[1000], samples[1001]) = (f32::NAN, -0.0, f32::INFINITY);
        let wide: Vec<f64> = samples.iter().map(|&s| f64::from(s) / 3.0).collect();
        let whole: Vec<i16> = samples.iter().map(|&s| (s * 1000.0) as i16).collect();
        let codecs = [Tolerance::Relative(1e-3), Tolerance::Lossless].map(FieldCodec::new);
        let streams = codecs.iter().flat_map(|codec| {
            [
                codec.encode(&samples, &[9, 20, 33]).unwrap(),
                codec.encode(&wide, &[180, 33]).unwrap(),
                codec.encode(&whole, &[5940]).unwrap(),
            ]
        });
        // The index has one entry: a length, a checksum, and its own checksum.
        streams
            .map(|stream| {
                let chunk = FieldDecoder::new(&stream).unwrap().chunks().next().unwrap().start;
                (stream, chunk - 16)
            })
            .collect()
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(decoder) = FieldDecoder::new(bytes) {
        let _ = decoder.at_most(MOST).any(None);
    }
    let Some((which, changes)) = bytes.split_first() else { return };
    let (stream, head) = &seeds()[usize::from(*which) % seeds().len()];
    let (mut stream, head) = (stream.clone(), *head);
    for &[low, high, byte] in changes.as_chunks::<3>().0 {
        let at = usize::from(u16::from_le_bytes([low, high])) % stream.len();
        stream[at] = byte;
    }
    let seed = xxh3_64(&stream[..head]);
    let sum = |part: &[u8], number: u64| (xxh3_64_with_seed(part, seed.wrapping_add(number)) as u32).to_le_bytes();
    let chunk = sum(&stream[head + 16..], 1);
    stream[head..head + 4].copy_from_slice(&(seed as u32).to_le_bytes());
    stream[head + 8..head + 12].copy_from_slice(&chunk);
    let index = sum(&stream[head + 4..head + 12], 0);
    stream[head + 12..head + 16].copy_from_slice(&index);
    if let Ok(decoder) = FieldDecoder::new(&stream) {
        let _ = decoder.at_most(MOST).any(None);
    }
});
