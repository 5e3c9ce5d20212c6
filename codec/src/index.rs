//! Index of packets, behind the last one: their lengths. `docs/format.md` defines it.

use crate::error::CodecError;
use crate::header::CHECKSUM;
use crate::number;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Signature at the end of an index.
const SIGNATURE: [u8; 8] = *b"\x89LPI\r\n\x1a\n";

/// Bytes after the lengths: their number, the checksum, and the signature.
pub const FOOT: usize = 4 + CHECKSUM + 8;

/// Appends the index of packets of these lengths in bytes.
pub fn write(lengths: &[u64], seed: u64, stream: &mut Vec<u8>) {
    let begin = stream.len();
    let mut last = 0;
    for &length in lengths {
        number::put(number::folded(length.wrapping_sub(last) as i64), stream);
        last = length;
    }
    let bytes = (stream.len() - begin) as u32;
    stream.extend(bytes.to_le_bytes());
    let sum = xxh3_64_with_seed(&stream[begin..], seed) as u32;
    stream.extend(sum.to_le_bytes());
    stream.extend(SIGNATURE);
}

/// Bytes of the index that ends with `foot`, foot included; `None` if there is none.
pub fn length(foot: &[u8]) -> Option<u64> {
    let foot: &[u8; FOOT] = foot.last_chunk()?;
    let bytes = u32::from_le_bytes([foot[0], foot[1], foot[2], foot[3]]);
    foot.ends_with(&SIGNATURE).then_some(u64::from(bytes) + FOOT as u64)
}

/// Lengths of `packets` packets, which take `bytes` bytes, from an index.
///
/// # Errors
/// If the index is corrupted or invalid.
pub fn read(index: &[u8], seed: u64, packets: u128, bytes: u64) -> Result<Vec<u64>, CodecError> {
    let what = || "the index of packets".to_owned();
    let broken = |why: &str| CodecError::Index { packet: what(), why: why.into() };
    let (checked, sum) = index.split_at(index.len() - CHECKSUM - SIGNATURE.len());
    if !sum.starts_with(&(xxh3_64_with_seed(checked, seed) as u32).to_le_bytes()) {
        return Err(CodecError::Checksum { what: what() });
    }
    let mut rest = &checked[..checked.len() - 4];
    if packets > rest.len() as u128 {
        return Err(broken("there are too few lengths"));
    }
    let mut lengths = Vec::with_capacity(packets as usize);
    let (mut last, mut sum) = (0i64, 0u64);
    while !rest.is_empty() {
        let more = number::take(&mut rest).ok_or_else(|| broken("a length is invalid"))?;
        last = last.wrapping_add(number::unfolded(more));
        sum = sum.saturating_add(last as u64);
        lengths.push(last as u64);
    }
    if lengths.len() as u128 != packets || sum != bytes {
        return Err(broken("the lengths do not add up to the stream's"));
    }
    Ok(lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_round_trip() {
        let lengths = [12, 500, 500, 499, 70_000, 13];
        let mut stream = vec![9; 30];
        write(&lengths, 77, &mut stream);
        let index = &stream[30..];
        assert_eq!(index.len(), 1 + 2 + 1 + 1 + 3 + 3 + FOOT);
        assert_eq!(length(&stream), Some(index.len() as u64));
        let sum = lengths.iter().sum();
        assert_eq!(read(index, 77, 6, sum).unwrap(), lengths);
        for (seed, packets, bytes) in [(78, 6, sum), (77, 5, sum), (77, 60, sum), (77, 6, sum + 1)] {
            assert!(read(index, seed, packets, bytes).is_err());
        }
        assert_eq!(length(&stream[..stream.len() - 1]), None);
    }
}
