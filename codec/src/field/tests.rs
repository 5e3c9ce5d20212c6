//! Fields of every type and shape: bounds that hold, exact samples, and streams that are damaged.

use super::*;
use crate::header::SIGNATURE;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Numbers that only look random (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

const SHAPES: [&[usize]; 14] = [
    &[1],
    &[7],
    &[8],
    &[300],
    &[1, 1],
    &[33, 1],
    &[1, 40],
    &[17, 29],
    &[70, 66],
    &[1, 1, 1],
    &[9, 1, 20],
    &[5, 6, 7],
    &[16, 16, 16],
    &[20, 9, 33],
];

/// Samples of a kind: smooth, noise, sparse, equal, far apart, any bits, and mixtures with special ones.
fn samples<T: Element>(count: usize, kind: u64, random: &mut Random) -> Vec<T> {
    let scale = match T::KIND {
        Kind::F32 => 2f64.powi(random.below(250) as i32 - 125),
        Kind::F64 => 2f64.powi(random.below(2000) as i32 - 1000),
        kind => 2f64.powi(random.below(8 * kind.bytes() as u64) as i32),
    };
    let (a, b) = (random.share() * 0.3, random.share() * 0.3);
    let mut one = |at: usize| match kind {
        0 => T::near((at as f64 * a * 0.1).sin() * scale),
        1 => T::near((at as f64 * a).sin() * scale + random.share() * scale * b),
        2 => T::near(if random.below(20) == 0 { random.share() * scale } else { 0.0 }),
        3 => T::near(scale),
        4 => T::near(random.share() * 2f64.powi(random.below(2000) as i32 - 1000)),
        5 => T::of_bits(random.next()),
        6 => T::near((random.below(200) as f64 - 100.0).round()),
        _ => match random.below(6) {
            0 => T::of_bits(u64::MAX << (random.below(8) * 8)),
            1 => T::near(-0.0),
            2 => T::of_bits(random.below(4)),
            3 => T::near(f64::INFINITY),
            4 => T::of_bits(1 << (8 * T::KIND.bytes() - 1)),
            _ => T::near((at as f64 * a).cos() * scale),
        },
    };
    (0..count).map(&mut one).collect()
}

/// Checks that an error bound holds for all samples, and exactly for special ones.
fn check<T: Element>(samples: &[T], restored: &[T], error: f64, said: &str) {
    assert_eq!(samples.len(), restored.len());
    for (at, (a, b)) in samples.iter().zip(restored).enumerate() {
        let good = if a.is_number() && b.is_number() { a.distance(*b) <= error } else { a.bits() == b.bits() };
        assert!(good, "{said}: sample {at} is {:x}, restored {:x}", a.bits(), b.bits());
    }
}

fn bounds_hold<T: Element>(rounds: u64, seed: u64) -> u64 {
    let mut count = 0;
    for round in 0..rounds {
        let mut random = Random(seed << 32 | round);
        let shape = SHAPES[random.below(SHAPES.len() as u64) as usize];
        let kind = random.below(8);
        let samples: Vec<T> = samples(shape.iter().product(), kind, &mut random);
        let most = samples.iter().filter(|s| s.is_number()).map(|s| s.value().abs()).fold(0.0, f64::max);
        let tolerance = match random.below(8) {
            0 => Tolerance::Lossless,
            1 => Tolerance::Absolute(0.0),
            2 => Tolerance::Absolute(f64::MAX),
            3 => Tolerance::Absolute(f64::from_bits(random.below(1 << 52))),
            4 => Tolerance::Absolute(most.max(1.0) * 2f64.powi(-(random.below(60) as i32))),
            5 => Tolerance::Absolute(random.share() * 20.0),
            _ => Tolerance::Relative(2f64.powi(-(random.below(30) as i32))),
        };
        let said = format!("{} {shape:?} {tolerance:?}, samples {kind}, round {round} of seed {seed}", T::KIND.name());
        let mut codec = FieldCodec::new(tolerance);
        if random.below(3) == 0 {
            let chunk: Vec<usize> = shape.iter().map(|&side| 1 + random.below(side as u64) as usize).collect();
            codec = codec.chunk(&chunk);
        }
        let stream = codec.encode(&samples, shape).unwrap();
        let decoder = FieldDecoder::new(&stream).unwrap();
        let restored: Vec<T> = decoder.decode().unwrap();
        match decoder.header().max_error() {
            Some(error) => check(&samples, &restored, error, &said),
            None => assert!(samples.iter().zip(&restored).all(|(a, b)| a.bits() == b.bits()), "{said}"),
        }
        if let Tolerance::Absolute(error) = tolerance {
            check(&samples, &restored, error, &said);
        }
        count += samples.len() as u64;
    }
    count
}

macro_rules! all_types {
    ($f:ident, $($arguments:expr),*) => {
        [
            $f::<f32>($($arguments),*), $f::<f64>($($arguments),*), $f::<u8>($($arguments),*),
            $f::<i8>($($arguments),*), $f::<u16>($($arguments),*), $f::<i16>($($arguments),*),
            $f::<u32>($($arguments),*), $f::<i32>($($arguments),*), $f::<u64>($($arguments),*),
            $f::<i64>($($arguments),*),
        ]
    };
}

#[test]
fn bounds_hold_for_all_types_and_hostile_samples() {
    // `FIELD_ROUNDS` lengthens the search, from other seeds.
    let rounds = std::env::var("FIELD_ROUNDS").ok().and_then(|n| n.parse().ok());
    let counts = all_types!(bounds_hold, rounds.unwrap_or(40), u64::from(rounds.is_some()));
    println!("{} samples", counts.iter().sum::<u64>());
}

#[test]
fn special_samples_keep_their_bits() {
    let mut samples: Vec<f32> = (0..40 * 50).map(|i| (i as f32 * 0.01).sin()).collect();
    for (i, bits) in
        [0x7fc0_0000, 0xffc0_1234, 0x7f80_0001, 0x7f80_0000, 0xff80_0000, 0x8000_0000].into_iter().enumerate()
    {
        samples[i * 131] = f32::from_bits(bits);
    }
    samples[900..1100].fill(f32::NAN);
    for tolerance in
        [Tolerance::Absolute(0.01), Tolerance::Absolute(1e9), Tolerance::Relative(1e-4), Tolerance::Lossless]
    {
        let stream = FieldCodec::new(tolerance).encode(&samples, &[40, 50]).unwrap();
        let decoder = FieldDecoder::new(&stream).unwrap();
        let restored = decoder.decode::<f32>().unwrap();
        check(&samples, &restored, decoder.header().max_error().unwrap_or(0.0), &format!("{tolerance:?}"));
    }
}

#[test]
fn a_constant_field_takes_few_bytes() {
    let stream = FieldCodec::new(Tolerance::Lossless).encode(&vec![f64::NAN; 1 << 21], &[128, 128, 128]).unwrap();
    assert_eq!(stream.len(), 8 + 4 + 3 * 12 + 1 + 4 + 8 + 4 + 9);
    assert!(
        FieldDecoder::new(&stream).unwrap().decode::<f64>().unwrap().iter().all(|v| v.to_bits() == f64::NAN.to_bits())
    );
}

#[test]
fn regions_are_parts_of_the_field() {
    let shape = [30, 21, 40];
    let samples: Vec<f32> = (0..shape.iter().product()).map(|i| ((i * i) as f32).sqrt().sin()).collect();
    let stream = FieldCodec::new(Tolerance::Relative(1e-3)).chunk(&[16, 9, 13]).encode(&samples, &shape).unwrap();
    let decoder = FieldDecoder::new(&stream).unwrap();
    assert_eq!(decoder.chunks().len(), 2 * 3 * 4);
    let whole = decoder.decode::<f32>().unwrap();
    for (start, size) in
        [([0, 0, 0], [1, 1, 1]), ([15, 8, 12], [2, 2, 2]), ([29, 0, 39], [1, 21, 1]), ([3, 4, 5], [20, 15, 30])]
    {
        let part = decoder.region::<f32>(&start, &size).unwrap();
        assert_eq!(part, &*super::part(&whole, shape, start, size).unwrap());
    }
    // Other chunks may be damaged or missing.
    let first = decoder.chunks().next().unwrap().end;
    let cut = FieldDecoder::new(&stream[..first]).unwrap();
    assert_eq!(
        cut.region::<f32>(&[0, 0, 0], &[16, 9, 13]).unwrap(),
        &*super::part(&whole, shape, [0; 3], [16, 9, 13]).unwrap()
    );
    assert_eq!(cut.decode::<f32>(), Err(CodecError::Cut { bytes: first }));
    for (start, size) in [
        (vec![0, 0], vec![1, 1]),
        (vec![0; 3], vec![1, 22, 1]),
        (vec![0; 3], vec![0, 1, 1]),
        (vec![usize::MAX; 3], vec![1; 3]),
    ] {
        assert!(matches!(decoder.region::<f32>(&start, &size), Err(CodecError::FieldRegion { .. })));
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let codec = FieldCodec::new(Tolerance::Absolute(1.0));
    assert!(matches!(codec.encode(&[1u8; 16], &[2, 2, 2, 2]), Err(CodecError::FieldShape { .. })));
    assert!(matches!(codec.encode::<u8>(&[], &[2, 0]), Err(CodecError::FieldShape { .. })));
    assert!(matches!(codec.encode(&[1u8; 16], &[4, 5]), Err(CodecError::FieldSamples { found: 16, .. })));
    assert!(matches!(codec.clone().chunk(&[4]).encode(&[1u8; 16], &[4, 4]), Err(CodecError::Chunks { .. })));
    assert!(matches!(codec.clone().chunk(&[0, 4]).encode(&[1u8; 16], &[4, 4]), Err(CodecError::Chunks { .. })));
    for value in [-1.0, f64::NAN] {
        for tolerance in [Tolerance::Absolute(value), Tolerance::Relative(value)] {
            let error = FieldCodec::new(tolerance).encode(&[1u8, 2], &[2]).unwrap_err();
            assert!(matches!(error, CodecError::MaxError { .. }));
        }
    }
    let stream = codec.encode(&[1u8; 16], &[16]).unwrap();
    let decoder = FieldDecoder::new(&stream).unwrap();
    assert_eq!(decoder.decode::<i8>(), Err(CodecError::OtherType { found: "uint8", asked: "int8" }));
    assert_eq!(decoder.clone().at_most(15).decode::<u8>(), Err(CodecError::TooLarge { samples: 16, most: 15 }));
    assert_eq!(FieldDecoder::new(&[&stream[..], &[0]].concat()).unwrap_err(), CodecError::Behind { bytes: 1 });
    assert_eq!(FieldDecoder::new(b"no stream").unwrap_err(), CodecError::NotAStream);
}

/// A stream with checksums that match.
fn signed(mut stream: Vec<u8>) -> Option<Vec<u8>> {
    let axes = usize::from(*stream.get(11)?);
    let at = 12usize.checked_add(axes.min(3) * 12)?;
    let levels = |n: u32| if n < 8 { 0 } else { (n.ilog2() - 2).min(16) as usize };
    let chunk = |axis: usize| Some(u32::from_le_bytes(*stream.get(12 + 8 * axes + 4 * axis..)?.first_chunk()?));
    let depth = (0..axes.min(3)).map(|axis| chunk(axis).map(levels)).collect::<Option<Vec<_>>>()?.into_iter().max()?;
    let end = at + 1 + if *stream.get(at)? == 1 { 16 + 4 * depth } else { 0 };
    let seed = xxh3_64(stream.get(..end)?);
    stream.get_mut(end..end + 4)?.copy_from_slice(&(seed as u32).to_le_bytes());
    let sum = |bytes: &[u8], part: u64| (xxh3_64_with_seed(bytes, seed.wrapping_add(part)) as u32).to_le_bytes();
    let header = FieldHeader::read(&stream).ok()?.0;
    let count = Some(header.grid().chunks()).filter(|_| header.samples() < 1 << 40)?;
    let index = end + 4;
    let mut from = index + 8 * count + 4;
    for number in 0..count.min(64) {
        let entry = index + 8 * number;
        let length = u32::from_le_bytes(*stream.get(entry..)?.first_chunk()?) as usize;
        let sum = sum(stream.get(from..from.checked_add(length)?)?, number as u64 + 1);
        stream.get_mut(entry + 4..entry + 8)?.copy_from_slice(&sum);
        from += length;
    }
    let sum = sum(stream.get(index..index + 8 * count)?, 0);
    stream.get_mut(index + 8 * count..index + 8 * count + 4)?.copy_from_slice(&sum);
    Some(stream)
}

#[test]
fn damaged_streams_are_refused_or_decoded_within_bounds() {
    let mut random = Random(5);
    let mut streams = Vec::new();
    for (shape, kind) in [(&[20, 9, 33][..], 1), (&[70, 66], 1), (&[300], 7), (&[16, 16, 16], 0), (&[5, 6, 7], 5)] {
        for tolerance in [Tolerance::Relative(1e-3), Tolerance::Lossless] {
            let count = shape.iter().product();
            let codec = FieldCodec::new(tolerance);
            streams.push(codec.encode(&samples::<f32>(count, kind, &mut random), shape).unwrap());
            streams.push(codec.encode(&samples::<f64>(count, kind, &mut random), shape).unwrap());
            let halves: Vec<usize> = shape.iter().map(|n| n.div_ceil(2)).collect();
            streams.push(codec.chunk(&halves).encode(&samples::<i16>(count, kind, &mut random), shape).unwrap());
        }
    }
    // The checksums are those of the format.
    assert!(streams.iter().all(|stream| signed(stream.clone()).as_ref() == Some(stream)));
    let rounds = std::env::var("FIELD_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(2000);
    let (mut tried, mut decoded) = (0, 0);
    for _ in 0..rounds {
        let mut stream = streams[random.below(streams.len() as u64) as usize].clone();
        for _ in 0..1 + random.below(3) {
            // The header and the beginning of a chunk matter most.
            let within = if random.below(2) == 0 { stream.len() } else { stream.len().min(120) };
            let at = random.below(within as u64) as usize;
            stream[at] = if random.below(2) == 0 { random.next() as u8 } else { stream[at] ^ 1 << random.below(8) };
        }
        if random.below(4) == 0 {
            stream.truncate(random.below(stream.len() as u64) as usize);
        }
        let Some(stream) = signed(stream) else { continue };
        tried += 1;
        if let Ok(decoder) = FieldDecoder::new(&stream) {
            decoded += usize::from(decoder.at_most(1 << 20).any(None).is_ok());
        }
    }
    assert!(tried > rounds / 4 && decoded > rounds / 50, "{tried} {decoded}");
}

#[test]
fn every_prefix_is_an_error() {
    let samples: Vec<f32> = (0..17 * 19).map(|i| (i as f32 * 0.1).sin()).collect();
    let stream = FieldCodec::new(Tolerance::Relative(1e-2)).encode(&samples, &[17, 19]).unwrap();
    for end in 0..stream.len() {
        let result = FieldDecoder::new(&stream[..end]).and_then(|decoder| decoder.decode::<f32>());
        assert!(result.is_err(), "{end}");
    }
    let mut other = stream.clone();
    other[SIGNATURE.len() + 1] = 0;
    assert_eq!(FieldDecoder::new(&other).unwrap_err(), CodecError::NotAField);
}
