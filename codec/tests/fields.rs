//! Stored streams of fields: their samples must not change. `tests/vectors/fields` has streams of
//! all transforms; an independent decoder, written from docs/format.md, restores the same bits.

use lifting_codec::field::{FieldDecoder, Samples};
use xxhash_rust::xxh3::xxh3_64;

/// XXH3-64 of the bytes of samples.
fn hash(samples: &Samples) -> u64 {
    macro_rules! bytes {
        ($($variant:ident)*) => {
            match samples {
                $(Samples::$variant(samples) => samples.iter().flat_map(|s| s.to_le_bytes()).collect::<Vec<u8>>(),)*
            }
        };
    }
    xxh3_64(&bytes!(F32 F64 U8 I8 U16 I16 U32 I32 U64 I64))
}

#[test]
fn stored_fields_decode_unchanged() {
    macro_rules! vectors {
        ($($name:literal $hash:literal)*) => {
            [$(($name, &include_bytes!(concat!("vectors/fields/", $name, ".lpc"))[..], $hash)),*]
        };
    }
    let vectors = vectors! {
        "single" 0x71bb8ffede6e47cd_u64
        "double" 0xcd3e1abeccbb19af_u64
        "integers" 0xb1cfd97fbc6e3cca_u64
        "exact" 0x30dbecf39578c707_u64
        "line" 0xde6578e835ab046c_u64
        "grid" 0xd77bc92d436ea537_u64
        "thin" 0x8b5bdb2ab9e10d83_u64
    };
    let found = vectors.map(|(name, stream, _)| {
        let samples = FieldDecoder::new(stream).unwrap().any(None).unwrap();
        format!("{name} {:#018x}", hash(&samples))
    });
    assert_eq!(found, vectors.map(|(name, _, hash)| format!("{name} {hash:#018x}")));
}
