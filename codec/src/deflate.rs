//! Deflated packets: coefficients as zlib streams, for pictures whose patterns repeat. `docs/format.md` defines them.

use crate::bands::Band;
use crate::budget;
use crate::error::CodecError;
use crate::header::CHECKSUM;
use crate::number;
use crate::packet::{LENGTH, PacketId, checksum};
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

/// Flag in a packet's length.
pub const DEFLATED: u32 = 1 << 31;

/// Coefficients of a packet that are compressed first, as a sample of all.
const SAMPLE: usize = 1 << 12;

/// Bands of a packet's resolution.
pub fn bands(tile: &[Band], resolution: u32) -> impl Iterator<Item = &Band> + Clone {
    tile.iter().filter(move |band| band.resolution == resolution)
}

/// Coefficients of a packet: component by component, band by band, row by row.
fn coefficients<'a>(planes: &'a [Vec<i32>], tile: &'a [Band], resolution: u32) -> impl Iterator<Item = i32> + 'a {
    let of_band = |plane: &'a [i32], band: &'a Band| {
        (0..band.shape[0]).flat_map(move |y| plane[band.start + y * band.stride..][..band.shape[1]].iter().copied())
    };
    planes.iter().flat_map(move |plane| bands(tile, resolution).flat_map(move |band| of_band(plane, band)))
}

/// Signs in the lowest bits.
fn folded(value: i32) -> u32 {
    number::folded(value.into()) as u32
}

/// Bytes of coefficients: the number of bytes each, then all lowest bytes, all second ones, and so on.
fn bytes_of(values: &[u32]) -> Vec<u8> {
    let each = 4 - values.iter().fold(0, |all, value| all | value).leading_zeros() / 8;
    let mut bytes = vec![each as u8];
    (0..each).for_each(|byte| bytes.extend(values.iter().map(|value| (value >> (8 * byte)) as u8)));
    bytes
}

/// Deflated packet of a tile at a resolution, if it has less than `most` bytes.
///
/// # Errors
/// [`CodecError::Memory`].
pub fn write(
    planes: &[Vec<i32>],
    tile: &[Band],
    resolution: u32,
    seed: u64,
    most: usize,
) -> Result<Option<Vec<u8>>, CodecError> {
    let count = planes.len() * bands(tile, resolution).map(|band| band.shape[0] * band.shape[1]).sum::<usize>();
    // Some rows of the largest band tell whether the rest is worth its time.
    let largest = bands(tile, resolution).max_by_key(|band| band.shape[0] * band.shape[1]);
    if let Some(band) = largest.filter(|_| count > 4 * SAMPLE) {
        let size = |third: usize| {
            let rows = band.shape[0] * third / 3..band.shape[0];
            let of_row = |y: usize| &planes[third % planes.len()][band.start + y * band.stride..][..band.shape[1]];
            let sample: Vec<u32> = rows.flat_map(of_row).take(SAMPLE).map(|&value| folded(value)).collect();
            compress_to_vec_zlib(&bytes_of(&sample), 3).len() * count / sample.len().max(1)
        };
        if size(1) + size(2) > 4 * most {
            return Ok(None);
        }
    }
    let mut values = budget::room(count, "coefficients of a packet")?;
    values.extend(coefficients(planes, tile, resolution).map(folded));
    let content = compress_to_vec_zlib(&bytes_of(&values), 8);
    let length = content.len() + CHECKSUM;
    if LENGTH + length >= most || length >= DEFLATED as usize {
        return Ok(None);
    }
    let mut packet = (DEFLATED | length as u32).to_le_bytes().to_vec();
    packet.extend(content);
    packet.extend(checksum(&packet, seed));
    Ok(Some(packet))
}

/// Whether a packet begins as a deflated one.
pub fn is_deflated(packet: &[u8]) -> bool {
    packet.get(LENGTH - 1).is_some_and(|byte| byte & 128 != 0)
}

/// Reads a whole deflated packet with `count` coefficients: the coefficients as [`values`] takes them.
///
/// # Errors
/// If it is corrupted.
pub fn read(packet: &[u8], count: usize, id: PacketId, seed: u64) -> Result<Vec<u8>, CodecError> {
    let broken = |why: &str| CodecError::Index { packet: id.to_string(), why: why.into() };
    let Some((checked, sum)) = packet.split_last_chunk::<CHECKSUM>() else { return Err(broken("it is too short")) };
    if checksum(checked, seed) != *sum {
        return Err(CodecError::Checksum { what: id.to_string() });
    }
    let content = checked.get(LENGTH..).ok_or_else(|| broken("it is too short"))?;
    let bytes = decompress_to_vec_zlib_with_limit(content, 1 + 4 * count).ok();
    let is_whole =
        |bytes: &Vec<u8>| bytes.first().is_some_and(|&each| each <= 4 && bytes.len() == 1 + usize::from(each) * count);
    bytes.filter(is_whole).ok_or_else(|| broken("its coefficients cannot be decompressed"))
}

/// Coefficients of a deflated packet, in order.
pub fn values(bytes: &[u8], count: usize) -> impl Iterator<Item = i32> + '_ {
    let each = bytes.first().map_or(0, |&each| usize::from(each));
    (0..count).map(move |i| {
        let folded = (0..each).fold(0, |value, byte| value | u32::from(bytes[1 + byte * count + i]) << (8 * byte));
        number::unfolded(folded.into()) as i32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_round_trip() {
        for numbers in [vec![0; 9], vec![0, -1, 1, 127, -128], vec![70_000, -3], vec![i32::MIN, i32::MAX, 5]] {
            let bytes = bytes_of(&numbers.iter().map(|&n| folded(n)).collect::<Vec<_>>());
            assert_eq!(values(&bytes, numbers.len()).collect::<Vec<_>>(), numbers);
        }
        assert_eq!(bytes_of(&[0; 9]), [0]);
    }
}
