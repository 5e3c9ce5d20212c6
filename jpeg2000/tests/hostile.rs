//! Streams that no encoder makes: errors, never panics, and no work beyond their size.

use crate::pictures::{Random, random_picture};
use lifting_jpeg2000::{Coder, Decoder, Encoder, Error, transcode};

/// Decodes whatever comes.
fn attempt(data: &[u8]) {
    if let Ok(decoder) = Decoder::new(data) {
        let _ = decoder.decode();
    }
    let _ = transcode(data, Coder::Ht);
}

#[test]
fn damaged_streams_do_not_panic() {
    let mut random = Random(11);
    for _ in 0..40 {
        let image = random_picture(&mut random);
        let coder = random.pick(&[Coder::Ht, Coder::Ebcot]);
        let encoder = Encoder::default().coder(coder).levels(3).block(16, 16).tile(40, 40);
        let stream = match random.chance(50) {
            true => encoder.encode_file(&image, &Default::default()).unwrap(),
            false => encoder.encode(&image).unwrap(),
        };
        for _ in 0..12 {
            let mut broken = stream.clone();
            for _ in 0..1 + random.below(3) {
                // Headers are hit as often as blocks.
                let end = if random.chance(50) { broken.len().min(200) } else { broken.len() };
                let at = random.below(end);
                broken[at] = if random.chance(50) { broken[at] ^ 1 << random.below(8) } else { random.next() as u8 };
            }
            attempt(&broken);
            attempt(&broken[..random.below(broken.len())]);
        }
    }
}

#[test]
fn every_prefix_decodes_or_says_why() {
    let image = crate::pictures::smooth(50, 40);
    for coder in [Coder::Ht, Coder::Ebcot] {
        let stream = Encoder::default().coder(coder).tile(25, 40).encode(&image).unwrap();
        for end in 0..stream.len() {
            match Decoder::new(&stream[..end]) {
                Ok(decoder) => assert!(!decoder.decode().unwrap().complete, "{coder:?}, {end} bytes"),
                Err(Error::Broken { .. } | Error::Signature { .. }) => {}
                Err(error) => panic!("{coder:?}, {end} bytes: {error}"),
            }
        }
    }
}

#[test]
fn sizes_are_bounded_by_the_stream() {
    let image = crate::pictures::smooth(8, 8);
    let mut stream = Encoder::default().encode(&image).unwrap();
    // Xsiz and Ysiz, and the sides of the tile.
    for at in [8, 12, 24, 28] {
        stream[at..at + 4].copy_from_slice(&1_000_000u32.to_be_bytes());
    }
    let error = Decoder::new(&stream).unwrap().decode().unwrap_err();
    assert!(matches!(error, Error::TooLarge { samples: 1_000_000_000_000, .. }), "{error}");
    let error = lifting_jpeg2000::transcode(&stream, Coder::Ebcot).unwrap_err();
    assert!(matches!(error, Error::TooLarge { samples: 1_000_000_000_000, .. }), "{error}");
}

#[test]
fn other_data_is_named() {
    for data in [&b""[..], b"\xff", b"\x89PNG\r\n\x1a\n", &[0; 100]] {
        assert!(matches!(Decoder::new(data).unwrap_err(), Error::Signature { .. }));
    }
}
