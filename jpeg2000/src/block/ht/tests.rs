//! Vectors, round trips and broken input.

use super::*;
use crate::block::{BrokenBlock, Encoded, Segment, Shape};

/// Block whose bytes and values OpenJPH 0.31 confirmed: its encoder for cleanup passes, its decoder for all passes.
struct Vector {
    height: usize,
    width: usize,
    indices: &'static [i32],
    plane: u32,
    passes: u32,
    /// Length of the cleanup segment.
    cleanup: usize,
    bytes: &'static [u8],
    values: &'static [i32],
}

#[rustfmt::skip]
const VECTORS: [Vector; 6] = [
    Vector {
        height: 1, width: 1, plane: 0, passes: 1, cleanup: 5,
        indices: &[-5],
        bytes: &[0xF9, 0x00, 0x47, 0x74, 0x00],
        values: &[-11],
    },
    Vector {
        height: 3, width: 5, plane: 0, passes: 1, cleanup: 9,
        indices: &[0, 1, 0, 0, -2, 3, 0, 0, 0, 0, 0, -1, 7, 0, 1],
        bytes: &[0xC4, 0xF4, 0x00, 0x9F, 0xDB, 0x7F, 0x0D, 0x77, 0x00],
        values: &[0, 3, 0, 0, -5, 7, 0, 0, 0, 0, 0, -3, 15, 0, 3],
    },
    Vector {
        height: 2, width: 8, plane: 0, passes: 1, cleanup: 18,
        indices: &[0, 0, 900, -17, 0, 0, 0, 4, 0, 0, 0, -536_870_911, 0, 0, 0, 0],
        bytes: &[
            0x06, 0x07, 0x00, 0x20, 0x04, 0x00, 0x00, 0xF4, 0xFF, 0x7F, 0xFF, 0x7E, 0x81, 0x27, 0x2C, 0x00, 0x76, 0x00,
        ],
        values: &[0, 0, 1801, -35, 0, 0, 0, 9, 0, 0, 0, -1_073_741_823, 0, 0, 0, 0],
    },
    Vector {
        height: 6, width: 6, plane: 3, passes: 3, cleanup: 12,
        indices: &[
            2, -4, 3, 6, -11, -12, 0, 2, 2, -9, -8, 0, 21, 16, -1, 26, -6, -6,
            0, 4, -17, -8, 6, 0, 11, 0, 14, 3, -10, 0, 1, 13, 4, -3, -5, 30,
        ],
        bytes: &[
            0xAF, 0x13, 0xC2, 0x80, 0x2A, 0xF9, 0xF7, 0x2D, 0xBA, 0xCF, 0xC9, 0x00, 0x88, 0xAC, 0x12, 0x05, 0x2D, 0x01,
        ],
        values: &[
            0, 0, 0, 12, -20, -28, 0, 0, 0, -20, -20, 0, 44, 36, 0, 52, -12, -12,
            0, 12, -36, -20, 12, 0, 20, 0, 28, 0, -20, 0, 0, 28, 12, 0, -12, 60,
        ],
    },
    Vector {
        height: 5, width: 7, plane: 2, passes: 2, cleanup: 12,
        indices: &[
            4, 3, 0, 0, 2, 6, -1, 5, -5, 5, -4, -7, -2, 6, -1, 1, -7, -1,
            4, -1, -5, 8, -8, -6, 0, -1, 6, -3, 0, -2, 1, -1, 7, -1, 0,
        ],
        bytes: &[0x34, 0x3E, 0xFD, 0x03, 0x45, 0x7B, 0x0E, 0xD6, 0x2B, 0xC6, 0x79, 0x00, 0x02, 0xA5, 0x25],
        values: &[
            12, 6, 0, 0, 6, 12, 0, 12, -12, 12, -12, -12, -6, 12, 0, 0, -12, 0,
            12, 0, -12, 20, -20, -12, 0, 0, 12, -6, 0, -6, 0, 0, 12, 0, 0,
        ],
    },
    Vector {
        height: 6, width: 2, plane: 3, passes: 3, cleanup: 4,
        indices: &[0, 0, 0, 0, 0, 0, 5, 0, 9, 0, -6, -4],
        bytes: &[0xFE, 0xC0, 0x03, 0x00, 0xD1, 0x01, 0x00],
        values: &[0, 0, 0, 0, 0, 0, 12, 0, 20, 0, -12, -12],
    },
];

#[test]
fn vectors_agree() {
    for vector in &VECTORS {
        let shape = Shape { height: vector.height, width: vector.width };
        let encoded = encode(shape, false, vector.indices, vector.plane, vector.passes);
        assert_eq!(encoded.bytes, vector.bytes);
        assert_eq!(encoded.planes, vector.plane + 1);
        assert_eq!(encoded.passes.len(), vector.passes as usize);
        assert_eq!(encoded.passes[0].end, vector.cleanup);
        let mut out = vec![1; vector.indices.len()];
        decode(shape, encoded.planes, false, &segments(&encoded), &mut out).unwrap();
        assert_eq!(out, vector.values);
    }
}

#[test]
fn causal_blocks_decode() {
    // The last vector, whose fourth row now has no significant neighbours.
    let segments =
        [Segment { bytes: &[0xFE, 0xC0, 0x03, 0x00], passes: 1 }, Segment { bytes: &[0x1D, 0x00], passes: 2 }];
    let mut out = [1; 12];
    decode(Shape { height: 6, width: 2 }, 4, true, &segments, &mut out).unwrap();
    assert_eq!(out, [0, 0, 0, 0, 0, 0, 0, 0, 20, 0, -12, -12]);
}

#[test]
fn zeros_need_no_passes() {
    let shape = Shape { height: 2, width: 2 };
    assert_eq!(encode(shape, false, &[0; 4], 0, 1), Encoded::default());
    assert_eq!(encode(shape, false, &[7, -7, 3, 0], 3, 3), Encoded::default());
    let mut out = [1; 4];
    decode(shape, 0, false, &[], &mut out).unwrap();
    assert_eq!(out, [0; 4]);
}

#[test]
fn extreme_indices_saturate() {
    let shape = Shape { height: 1, width: 4 };
    let encoded = encode(shape, false, &[i32::MIN, i32::MAX, 1 << 30, (1 << 30) - 1], 0, 1);
    let mut out = [0; 4];
    decode(shape, 1, false, &segments(&encoded), &mut out).unwrap();
    assert_eq!(out, [-i32::MAX, i32::MAX, i32::MAX, i32::MAX]);
    assert_eq!(encode(shape, false, &[i32::MIN; 4], 30, 3), Encoded::default());
    assert_eq!(encode(shape, false, &[i32::MIN; 4], u32::MAX, 3), Encoded::default());
    assert_eq!(encode(shape, false, &[], 0, 1), Encoded::default());
    assert_eq!(encode(shape, false, &[5], 0, 1), encode(shape, false, &[5, 0, 0, 0], 0, 1));
}

#[test]
fn wrong_sets_are_refused() {
    let shape = Shape { height: 1, width: 1 };
    let bytes = VECTORS[0].bytes;
    let first = Segment { bytes, passes: 1 };
    let refused = |planes, segments: &[Segment<'_>]| -> BrokenBlock {
        decode(shape, planes, false, segments, &mut [0]).unwrap_err()
    };
    refused(0, &[first]);
    refused(31, &[first]);
    refused(1, &[first, first]);
    refused(2, &[first, first, first]);
    refused(2, &[first, Segment { bytes, passes: 3 }]);
    refused(2, &[Segment { bytes, passes: 2 }]);
    refused(1, &[Segment { bytes: &bytes[..1], passes: 1 }]);
    refused(1, &[Segment { bytes: &bytes[..4], passes: 1 }]);
    assert!(decode(shape, 1, false, &[first], &mut []).is_err());
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn shape(&mut self) -> Shape {
        let (height, width) = match self.below(12) {
            0 => (1, 1),
            1 => (4, 1024),
            2 => (1024, 4),
            3 => (1, 64),
            4 => (64, 64),
            _ => (1 + self.below(64) as usize, 1 + self.below(64) as usize),
        };
        Shape { height, width }
    }

    /// Indices of one density and size, at times with blocks of zeros.
    fn indices(&mut self, shape: Shape) -> Vec<i32> {
        let (size, density) = (1 + self.below(30), self.below(9));
        let zeros = self.below(3) == 0;
        (0..shape.height * shape.width)
            .map(|i| {
                if self.below(8) >= density || zeros && (i / 16) % 3 != 0 {
                    return 0;
                }
                let bits = self.below(size + 1);
                let m = (self.next() & ((1 << bits) - 1)) as i32;
                if self.below(2) == 0 { m } else { -m }
            })
            .collect()
    }
}

fn segments(encoded: &Encoded) -> Vec<Segment<'_>> {
    let Some(first) = encoded.passes.first() else { return Vec::new() };
    let mut segments = vec![Segment { bytes: &encoded.bytes[..first.end], passes: 1 }];
    if encoded.passes.len() > 1 {
        segments.push(Segment { bytes: &encoded.bytes[first.end..], passes: encoded.passes.len() as u32 - 1 });
    }
    segments
}

#[test]
fn blocks_survive() {
    let mut random = Random(1);
    for case in 0..3000 {
        let shape = random.shape();
        let indices = random.indices(shape);
        let plane = random.below(4) as u32 * random.below(3) as u32;
        let passes = 1 + random.below(3) as u32;
        let encoded = encode(shape, false, &indices, plane, passes);
        let mut out = vec![1; indices.len()];
        decode(shape, encoded.planes, false, &segments(&encoded), &mut out).unwrap();
        let last = if encoded.passes.len() == 3 { plane - 1 } else { plane };
        for (at, (&index, &value)) in indices.iter().zip(&out).enumerate() {
            let m = index.unsigned_abs();
            let refined = |p: u32| ((2 * (m >> p) + 1) << p) as i32 * index.signum();
            if m >> plane != 0 {
                assert_eq!(value, refined(last), "case {case}, {shape:?}, sample {at}");
            } else if value != 0 {
                assert!(encoded.passes.len() > 1, "case {case}, {shape:?}, sample {at}");
                assert_eq!(value, refined(plane - 1), "case {case}, {shape:?}, sample {at}");
            }
        }
        let error = |out: &dyn Fn(usize) -> i32| -> f64 {
            let exact = |i: i32| f64::from(2 * i + i.signum());
            indices.iter().enumerate().map(|(at, &i)| ((exact(i) - f64::from(out(at))) / 2.0).powi(2)).sum()
        };
        let gain: f64 = encoded.passes.iter().map(|pass| pass.gain).sum();
        let (before, after) = (error(&|_| 0), error(&|at| out[at]));
        assert!((before - after - gain).abs() <= 1e-5 * before, "case {case}: {before} {after} {gain}");
    }
}

#[test]
fn hostile_bytes_do_not_panic() {
    let mut random = Random(2);
    for _ in 0..20_000 {
        let shape = random.shape();
        let mut out = vec![0; shape.height * shape.width];
        let planes = random.below(33) as u32;
        let bytes = |random: &mut Random| -> Vec<u8> {
            let ones = random.below(3);
            let length = random.below(200) as usize;
            let mut bytes: Vec<u8> =
                (0..length).map(|_| (random.next() | if ones == 0 { 0xF7 } else { 0 }) as u8).collect();
            if let [.., low, high] = &mut bytes[..]
                && random.below(4) != 0
            {
                let scup = random.below(length as u64 + 1);
                *high = (scup >> 4) as u8;
                *low = *low & 0xF0 | (scup & 15) as u8;
            }
            bytes
        };
        let (first, second) = (bytes(&mut random), bytes(&mut random));
        let segments =
            [Segment { bytes: &first, passes: 1 }, Segment { bytes: &second, passes: 1 + random.below(2) as u32 }];
        let count = 1 + random.below(2) as usize;
        let _ = decode(shape, planes, random.below(2) == 0, &segments[..count], &mut out);
    }
}

#[test]
fn damaged_blocks_do_not_panic() {
    let mut random = Random(3);
    for _ in 0..2000 {
        let shape = random.shape();
        let indices = random.indices(shape);
        let mut encoded = encode(shape, false, &indices, random.below(8) as u32, 3);
        for _ in 0..random.below(4) {
            if let Some(at) = (random.next() as usize).checked_rem(encoded.bytes.len()) {
                encoded.bytes[at] = random.next() as u8;
            }
        }
        let mut out = vec![0; indices.len()];
        let _ = decode(shape, encoded.planes, false, &segments(&encoded), &mut out);
    }
}
