//! Codec fuzzing: no bytes make the decoder panic, loop forever, or trust a false length. Streams are tried unchanged,
//! and with checksums corrected after changes.
#![no_main]

use lifting_codec::{Decoder, Header, Region};
use lifting_codec::block::{BlockShape, Mode, Order, Passes, SignAxis, decode, decode_sequentially};
use lifting_codec::tables::Tables;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(decoder) = Decoder::new(bytes) {
        let _ = (decoder.packets(), decoder.metadata());
        let Header { height, width, .. } = *decoder.header();
        let region = Region { y: height / 2, x: width / 3, height: height.div_ceil(4), width: width.div_ceil(5) };
        let _ = decoder.clone().region(region).and_then(|decoder| decoder.layers(1)?.decode(1));
        for level in 0..=decoder.header().levels {
            let decoded = decoder.decode(level);
            // Random access reads the same picture.
            assert_eq!(Decoder::open(&bytes).and_then(|decoder| decoder.decode(level)), decoded);
        }
    }
    // A single block: its shape, its mode, and its words.
    let Some((head, words)) = bytes.split_first_chunk::<5>() else { return };
    let shape = BlockShape {
        height: 1 + usize::from(head[0] & 63),
        width: 1 + usize::from(head[1] & 63),
        direction: if head[0] & 64 == 0 { SignAxis::Vertical } else { SignAxis::Horizontal },
        order: Order {
            passes: if head[1] & 64 == 0 { Passes::Two } else { Passes::Three },
            fast: u32::from(head[4] >> 1 & 31),
        },
    };
    let words: Vec<u16> = words.as_chunks().0.iter().map(|word| u16::from_le_bytes(*word)).collect();
    let (planes, class, sharing) = (u32::from(head[2]), head[3] & 31, head[3] >> 5);
    let mode = if head[4] & 1 == 0 { Mode::Raw } else { Mode::Coded { class, sharing } };
    let tables = Tables::built_in();
    for complete in [false, true] {
        let decoded = decode(shape, planes, mode, &words, complete, tables);
        if matches!(mode, Mode::Coded { .. }) && (1..32).contains(&planes) && sharing <= 5 {
            let defined = decode_sequentially(shape, planes, sharing, &words, complete, &tables[class]);
            assert_eq!(decoded.is_ok(), defined.is_ok());
            if let (Ok(decoded), Ok(defined)) = (decoded, defined) {
                assert!(decoded.coefficients().eq(defined.coefficients()));
            }
        }
    }
});
