//! JPEG 2000 streams with a few changes: the decoder must refuse or decode them, within bounds.
//!
//! An input chooses a valid stream, and bytes to replace in it; or it is a stream itself.
#![no_main]

use lifting_jpeg2000::{Coder, Decoder, Encoder, Image, Style, transcode};
use std::sync::OnceLock;

/// Most samples that are decoded.
const MOST: u128 = 1 << 16;

fn seeds() -> &'static [Vec<u8>] {
    static SEEDS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let (height, width) = (67, 90);
        let samples: Vec<i32> = (0..height * width * 3).map(|i| (i * 7 % 251 ^ i / 90 % 97) as i32 & 255).collect();
        let image = Image::interleaved([height, width, 3], 8, false, &samples).unwrap();
        let style = Style { bypass: true, terminate: true, segmentation: true, ..Style::default() };
        let part_1 = Encoder::default().coder(Coder::Ebcot);
        [
            Encoder::default().levels(2).block(16, 16),
            Encoder::default().psnr(40.0).tile(40, 40).lengths(true, true),
            part_1.clone().layers(3).precincts(&[(32, 32)]).resync_markers(true, true),
            part_1.style(style).bits_per_pixel(4.0),
        ]
        .iter()
        .map(|encoder| encoder.encode_file(&image, &Default::default()).unwrap())
        .collect()
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&which, changes)) = bytes.split_first() else { return };
    let seeds = seeds();
    let stream = match seeds.get(usize::from(which) % (seeds.len() + 1)) {
        None => changes.to_vec(),
        Some(seed) => {
            let mut stream = seed.clone();
            for &[low, high, byte] in changes.as_chunks::<3>().0 {
                let at = usize::from(u16::from_le_bytes([low, high])) % stream.len();
                stream[at] = byte;
            }
            stream
        }
    };
    let Ok(decoder) = Decoder::new(&stream) else { return };
    for reduce in 0..3 {
        let _ = decoder.clone().most_samples(MOST).reduce(reduce).decode();
    }
    if stream.len() < 1 << 12 {
        let _ = transcode(&stream, Coder::Ht);
    }
});
