//! Round trips, truncation and broken input.

use super::{decode, encode, ends_segment};
use crate::block::{Encoded, Orientation, Segment, Shape, Style};

const ORIENTATIONS: [Orientation; 4] = [Orientation::Ll, Orientation::Hl, Orientation::Lh, Orientation::Hh];

/// Pseudorandom numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Indices of random magnitudes; a random share is 0.
    fn indices(&mut self, shape: Shape) -> Vec<i32> {
        let bits = 1 + self.below(30) as u32;
        let share = [1, 2, 8, 50][self.below(4)];
        let wide = self.below(2) == 0;
        let index = |_| {
            let bits = if wide { bits } else { 1 + self.below(bits as usize) as u32 };
            let magnitude = (self.next() as u32 & ((1u32 << bits) - 1)) as i32;
            if self.below(share) > 0 {
                0
            } else if self.next() & 1 == 0 {
                magnitude
            } else {
                -magnitude
            }
        };
        (0..shape.height * shape.width).map(index).collect()
    }
}

fn style(flags: usize) -> Style {
    Style {
        bypass: flags & 1 != 0,
        reset: flags & 2 != 0,
        terminate: flags & 4 != 0,
        causal: flags & 8 != 0,
        predictable: flags & 16 != 0,
        segmentation: flags & 32 != 0,
    }
}

/// Segments of a block's first passes, cut after the last of them.
fn segments(encoded: &Encoded, passes: usize) -> Vec<Segment<'_>> {
    let mut segments = Vec::new();
    let (mut start, mut first) = (0, 0);
    for (index, pass) in encoded.passes[..passes].iter().enumerate() {
        if pass.terminated || index + 1 == passes {
            segments.push(Segment { bytes: &encoded.bytes[start..pass.end], passes: (index + 1 - first) as u32 });
            (start, first) = (pass.end, index + 1);
        }
    }
    segments
}

/// Segments of a block's first passes, not cut.
fn uncut(encoded: &Encoded, passes: usize) -> Vec<Segment<'_>> {
    let mut segments = segments(encoded, encoded.passes.len());
    let mut left = passes as u32;
    segments.retain_mut(|segment| {
        segment.passes = segment.passes.min(left);
        left -= segment.passes;
        segment.passes > 0
    });
    segments
}

fn check(shape: Shape, orientation: Orientation, style: Style, indices: &[i32], cuts: bool) {
    let context = format!("{shape:?} {orientation:?} {style:?}");
    let encoded = encode(shape, orientation, style, indices);
    let most = indices.iter().map(|index| index.unsigned_abs()).max().unwrap_or(0);
    assert_eq!(encoded.planes, 32 - most.leading_zeros(), "{context}");
    assert_eq!(encoded.passes.len() as u32, (3 * encoded.planes).saturating_sub(2), "{context}");
    assert_eq!(encoded.passes.last().map_or(0, |pass| pass.end), encoded.bytes.len(), "{context}");
    let mut out = vec![0; indices.len()];
    let mut all = vec![1; indices.len()];
    let mut gain = 0.0;
    assert!(encoded.passes.is_sorted_by_key(|pass| pass.end), "{context}");
    let power: f64 = indices.iter().map(|&index| f64::from(index) * f64::from(index)).sum();
    for (index, pass) in encoded.passes.iter().enumerate() {
        let last = index + 1 == encoded.passes.len();
        assert_eq!(pass.terminated, last || ends_segment(style, index as u32), "{context}");
        assert!(pass.end == 0 || encoded.bytes[pass.end - 1] != 0xff, "{context}");
        gain += pass.gain;
        if !cuts && !last {
            continue;
        }
        decode(shape, orientation, style, encoded.planes, &segments(&encoded, index + 1), &mut out).expect(&context);
        decode(shape, orientation, style, encoded.planes, &uncut(&encoded, index + 1), &mut all).expect(&context);
        assert!(out == all, "{context} pass {index}");
        let error: f64 = indices.iter().zip(&out).map(|(&a, &b)| f64::from(a - b / 2).powi(2)).sum();
        assert!((power - gain - error).abs() <= 1e-9 * power, "{context} pass {index}: {power} {gain} {error}");
    }
    if encoded.planes == 0 {
        decode(shape, orientation, style, 0, &[], &mut out).unwrap();
    }
    let expected: Vec<i32> = indices.iter().map(|&i| i.signum() * (2 * i.abs() + 1)).collect();
    assert!(out == expected, "{context}");
}

#[test]
fn all_styles() {
    let mut random = Random(1);
    for flags in 0..64 {
        for orientation in ORIENTATIONS {
            let shape = Shape { height: 1 + random.below(24), width: 1 + random.below(24) };
            let indices = random.indices(shape);
            check(shape, orientation, style(flags), &indices, true);
        }
    }
}

#[test]
fn all_shapes() {
    let mut random = Random(2);
    for height in 1..=64 {
        for width in 1..=64 {
            let shape = Shape { height, width };
            let indices = random.indices(shape);
            check(shape, ORIENTATIONS[random.below(4)], style(random.below(64)), &indices, false);
        }
    }
    for (height, width) in [(1024, 4), (4, 1024), (1024, 1), (1, 1024), (3, 1024), (1024, 3)] {
        let shape = Shape { height, width };
        let indices = random.indices(shape);
        check(shape, ORIENTATIONS[random.below(4)], style(random.below(64)), &indices, false);
    }
}

#[test]
fn extremes() {
    let shape = Shape { height: 9, width: 7 };
    for index in [0, 1, -1, 1 << 29, -(1 << 29), (1 << 30) - 1, 1 - (1 << 30)] {
        for flags in 0..64 {
            check(shape, Orientation::Hh, style(flags), &[index; 63], true);
        }
    }
    let encoded = encode(shape, Orientation::Ll, Style::default(), &[i32::MIN; 63]);
    assert_eq!(encoded.planes, 32);
}

#[test]
fn broken() {
    let mut random = Random(3);
    for _ in 0..20_000 {
        let shape = Shape { height: 1 + random.below(12), width: 1 + random.below(12) };
        let mut bytes = vec![0; random.below(60)];
        for byte in &mut bytes {
            *byte = if random.below(4) == 0 { 0xff } else { random.next() as u8 };
        }
        let planes = random.below(33) as u32;
        let mut segments = Vec::new();
        let mut rest = &bytes[..];
        for _ in 0..random.below(6) {
            let (bytes, after) = rest.split_at(random.below(rest.len() + 1));
            segments.push(Segment { bytes, passes: random.below(20) as u32 });
            rest = after;
        }
        let mut out = vec![0; shape.height * shape.width];
        let _ = decode(shape, ORIENTATIONS[random.below(4)], style(random.below(64)), planes, &segments, &mut out);
    }
    let style = Style::default();
    let segment = |passes| [Segment { bytes: &[], passes }];
    let one = Shape { height: 1, width: 1 };
    for (shape, planes, passes, length) in [
        (one, 31, 1, 1),
        (one, 2, 5, 1),
        (one, 0, 1, 1),
        (one, 30, u32::MAX, 1),
        (one, 1, 1, 2),
        (Shape { height: 0, width: 1 }, 1, 1, 0),
        (Shape { height: usize::MAX, width: usize::MAX }, 1, 1, 1),
    ] {
        let mut out = vec![0; length];
        assert!(decode(shape, Orientation::Ll, style, planes, &segment(passes), &mut out).is_err());
        assert!(shape == one || encode(shape, Orientation::Ll, style, &[1]).planes == 0);
    }
    let bypass = Style { bypass: true, ..style };
    assert!(decode(one, Orientation::Ll, bypass, 5, &segment(11), &mut [0]).is_err());
    let segmentation = Style { segmentation: true, ..style };
    assert!(decode(one, Orientation::Ll, segmentation, 1, &segment(1), &mut [0]).is_err());
}

/// Blocks that OpenJPEG 2.5.0 and Grok 10.0.5 decode to these indices.
#[test]
fn vectors() {
    let shape = Shape { height: 7, width: 9 };
    let index = |at: i32| {
        let (row, column) = (at / 9, at % 9);
        let number = (5 * row * row + 7 * column + 3 * row * column) % 23;
        [number * number / 4, -number / 5, 0][number as usize % 3]
    };
    let indices: Vec<i32> = (0..63).map(index).collect();
    for (orientation, flags, bytes) in [
        (Orientation::Ll, 0, "224163d7a700797653c0e1f4f0f3fe002032fbd9ea1a1b7d235e22846ed470247708eb4a72050b2b"),
        (Orientation::Hl, 0, "224163d88714efbf9192f7e8ab5f355170594ec729df8adc46bfd2f3f765c4276d28817fe18b51b72f"),
        (Orientation::Lh, 0, "224163d7a700797653c0e1f4f0f3fe002032fbd9ea1a1b7d235e22846ed470247708eb4a72050b2b"),
        (
            Orientation::Hh,
            0,
            "225f2f1ad1a4c44ab8921c9a0f4a554947919d6a4f649753ec7324a7dd75f014937f41a524caca68624b1c17",
        ),
        (
            Orientation::Hl,
            1,
            "224163d88714efbf9192f7e8ab5f3551705f1803000018001e787f0c327fd7fbd00cb040103f1806600002e7443a3f",
        ),
        (
            Orientation::Ll,
            9,
            "224163d61927bef5c21c24fbe53f89c03e1b18060000600079e10c327fd7fbd00cb040103f1806600002e7443a3f",
        ),
        (
            Orientation::Hh,
            63,
            "225f2f176aa2d716861287fda5d1f8e4ee43a1a64b497ca4cccea11806000060003cf0aa420c327fd7fbd00cb1100405b61\
             806600a00\
             173a21d0b6",
        ),
    ] {
        let encoded = encode(shape, orientation, style(flags), &indices);
        let hex: String = encoded.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, bytes, "{orientation:?} {flags}");
        check(shape, orientation, style(flags), &indices, true);
    }
}
