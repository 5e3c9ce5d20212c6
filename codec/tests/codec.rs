//! Round trips of pictures: lossless, to a PSNR, to a size, at each level, and from truncated streams. Corrupted
//! streams are errors.

use lifting::{Scheme, catalogue, compile};
use lifting_codec::block::{Order, Passes};
use lifting_codec::{Codec, CodecBuilder, CodecError, Decoder, Image, decode};
use proptest::prelude::*;

fn wavelet(name: &str) -> Scheme {
    catalogue::find(name).unwrap()
}

/// Picture with edges, slopes and noise.
pub fn picture(height: usize, width: usize, components: usize, bits: u32, signed: bool) -> Image {
    let mut image = Image { height, width, components, bits, signed, samples: Vec::new() };
    let (low, high) = image.range();
    let range = f64::from(high - low);
    let mut noise = 1u32;
    for i in 0..height * width * components {
        let (y, x, c) = (i / components / width, i / components % width, i % components);
        noise = noise.wrapping_mul(1664525).wrapping_add(1013904223);
        let slope = (x as f64 / width as f64 + (y as f64 / 23.0).sin() * 0.3 + c as f64 * 0.1).rem_euclid(1.0);
        let edge = if (x / 17 + y / 29) % 3 == 0 { 0.4 } else { 0.0 };
        let value = range * (0.5 * slope + edge) + f64::from(noise >> 24) / 256.0 * range / 32.0;
        image.samples.push((low + value as i32).clamp(low, high));
    }
    image
}

fn there_and_back(codec: CodecBuilder, image: &Image) -> Image {
    decode(&codec.build().unwrap().encode(image).unwrap()).unwrap()
}

#[test]
fn integers_round_trip_exactly() {
    for (bits, signed) in [(1, false), (2, true), (8, false), (8, true), (12, false), (16, false), (16, true)] {
        for components in [1, 2, 3, 4, 5] {
            let image = picture(67, 101, components, bits, signed);
            let codec = Codec::builder(&wavelet("legall53")).levels(3);
            assert_eq!(there_and_back(codec, &image), image, "{bits} {signed} {components}");
        }
    }
    for name in ["s_transform", "dd137", "cdsy44", "legall53_vc2", "ccsds97m"] {
        let image = picture(130, 70, 3, 8, false);
        for passes in [Passes::Two, Passes::Three] {
            let codec = Codec::builder(&wavelet(name)).levels(4).passes(passes).block(32, 16);
            assert_eq!(there_and_back(codec, &image), image, "{name}");
        }
    }
}

/// Fast planes take slightly more space; more of them than the block's planes change nothing.
#[test]
fn fast_planes_round_trip() {
    let image = picture(200, 256, 1, 8, false);
    for passes in [Passes::Two, Passes::Three] {
        let codec = Codec::builder(&wavelet("legall53")).levels(3).passes(passes);
        let mut last = 0;
        for fast in [0, 1, 2, 4, 16, 32] {
            let stream = codec.clone().fast(fast).build().unwrap().encode(&image).unwrap();
            assert_eq!(decode(&stream).unwrap(), image, "{fast}");
            assert_eq!(Decoder::new(&stream).unwrap().header().order, Order { passes, fast });
            assert!(stream.len() * 200 > last * 199, "{fast}: {} bytes, {last} before", stream.len());
            last = stream.len();
        }
        let none = codec.build().unwrap().encode(&image).unwrap().len();
        assert!(none < last && last < none * 106 / 100, "{none} and {last} bytes");
    }
    let lossy = Codec::builder(&wavelet("cdf97")).psnr(45.0).fast(2);
    assert!(there_and_back(lossy, &image).psnr(&image) >= 45.0);
    // Blocks of more planes than the vectorised coder supports.
    let mut wild = picture(16, 16, 1, 16, false);
    wild.samples.iter_mut().enumerate().for_each(|(i, s)| *s = if (i / 16 + i) % 2 == 0 { 0 } else { 65535 });
    assert_eq!(there_and_back(Codec::builder(&wavelet("legall53")).levels(2).block(8, 8).fast(17), &wild), wild);
    let error = Codec::builder(&wavelet("legall53")).fast(33).build().unwrap_err();
    assert!(matches!(error, CodecError::Fast { planes: 33, most: 32 }), "{error}");
}

#[test]
fn small_and_odd_pictures_round_trip() {
    for (height, width) in [(1, 1), (1, 7), (9, 1), (2, 2), (3, 5), (64, 65), (1, 200)] {
        for levels in [0, 1, 5, 16] {
            let image = picture(height, width, 3, 8, false);
            let codec = Codec::builder(&wavelet("legall53")).levels(levels);
            assert_eq!(there_and_back(codec, &image), image, "{height} × {width}, {levels} levels");
            let codec = Codec::builder(&wavelet("cdf97")).levels(levels).psnr(45.0);
            assert!(there_and_back(codec, &image).psnr(&image) >= 45.0);
        }
    }
}

/// A stream carries the text of its wavelet, with roundings, signs and swaps.
#[test]
fn wavelets_may_round_in_other_ways() {
    let text = "wavelet mine { domain integer; swap; odd -= trunc((even[0] + even[1]) >> 1); odd *= -1;
                even += half_even((odd[-1] + odd[0]) >> 2); odd += half_away(even[0] >> 3); even *= -1; }";
    let scheme = compile(text).unwrap().remove(0);
    for (bits, signed) in [(1, false), (8, false), (16, true)] {
        let image = picture(67, 90, 3, bits, signed);
        assert_eq!(there_and_back(Codec::builder(&scheme).levels(3), &image), image, "{bits} bits");
    }
    let image = picture(70, 90, 1, 8, false);
    let stream = Codec::builder(&scheme).levels(2).build().unwrap().encode(&image).unwrap();
    assert!(stream.windows(11).any(|w| w == b"odd *= -1;\n"));
}

#[test]
fn wavelets_may_be_text() {
    let text =
        "wavelet mine { domain integer; boundary edge; odd -= (3*even[0] + even[1]) >> 2; even += odd[0] >> 1; }";
    let scheme = compile(text).unwrap().remove(0);
    let image = picture(70, 90, 1, 8, false);
    let stream = Codec::builder(&scheme).levels(2).build().unwrap().encode(&image).unwrap();
    assert!(stream.windows(12).any(|w| w == b"wavelet mine"));
    assert_eq!(decode(&stream).unwrap(), image);
    // A wavelet with another's name is still a different wavelet.
    let text = text.replace("mine", "legall53");
    let scheme = compile(&text).unwrap().remove(0);
    let stream = Codec::builder(&scheme).levels(2).build().unwrap().encode(&image).unwrap();
    assert_eq!(decode(&stream).unwrap(), image);
}

#[test]
fn psnr_targets_are_met() {
    for (name, components, bits) in
        [("cdf97", 1, 8), ("cdf97", 3, 8), ("cdf97", 1, 12), ("db4", 1, 8), ("legall53", 1, 8), ("dd137", 3, 8)]
    {
        let image = picture(128, 160, components, bits, false);
        let mut last = usize::MAX;
        for wanted in [60.0, 45.0, 35.0] {
            let codec = Codec::builder(&wavelet(name)).levels(4).psnr(wanted).build().unwrap();
            let stream = codec.encode(&image).unwrap();
            let psnr = decode(&stream).unwrap().psnr(&image);
            assert!(psnr >= wanted && stream.len() < last, "{name}: {psnr} for {wanted}, {} bytes", stream.len());
            // The finest step of an integer wavelet is 1; with few wrong samples, each one counts.
            assert!(psnr < wanted + 0.05 || name != "cdf97" || wanted > 50.0, "{name}: {psnr} for {wanted}");
            last = stream.len();
        }
    }
}

#[test]
fn rate_targets_are_met() {
    let image = picture(200, 150, 3, 8, false);
    for name in ["cdf97", "legall53"] {
        for bits in [6.0, 2.0, 0.5] {
            let stream = Codec::builder(&wavelet(name)).bits_per_pixel(bits).build().unwrap().encode(&image).unwrap();
            let got = 8.0 * stream.len() as f64 / 30000.0;
            assert!(got <= bits && got > 0.97 * bits, "{name}: {got} for {bits}");
        }
    }
    let codec = Codec::builder(&wavelet("cdf97")).bits_per_pixel(0.001).build().unwrap();
    let error = codec.encode(&image).unwrap_err();
    assert!(matches!(error, CodecError::TooSmall { bytes: 3, .. }), "{error}");
}

/// A checkerboard is unlike any picture in the tables' training set.
#[test]
fn fitted_tables_save_space() {
    let mut image = picture(256, 256, 1, 8, false);
    image.samples.iter_mut().enumerate().for_each(|(i, s)| *s = ((i / 256 / 3 + i % 256 / 5) % 2 * 200 + i % 7) as i32);
    for (name, passes) in [("legall53", Passes::Two), ("s_transform", Passes::Three)] {
        let codec = Codec::builder(&wavelet(name)).passes(passes).deflated(false);
        let usual = codec.clone().build().unwrap().encode(&image).unwrap();
        let fitted = codec.clone().fitted(true).build().unwrap().encode(&image).unwrap();
        assert!(fitted.len() < usual.len(), "{name}: {} and {} bytes", fitted.len(), usual.len());
        assert!(Decoder::new(&fitted).unwrap().header().tables.is_some());
        assert_eq!(decode(&fitted).unwrap(), image);
        // A small picture offers no saving.
        let small = picture(16, 16, 1, 8, false);
        let fitted = codec.clone().fitted(true).build().unwrap().encode(&small).unwrap();
        assert_eq!(fitted, codec.build().unwrap().encode(&small).unwrap());
    }
}

#[test]
fn quality_grows_with_size() {
    let image = picture(128, 128, 1, 8, false);
    let mut last = (usize::MAX, f64::INFINITY);
    for quality in [100.0, 90.0, 75.0, 50.0, 20.0, 1.0] {
        let stream = Codec::builder(&wavelet("cdf97")).quality(quality).build().unwrap().encode(&image).unwrap();
        let psnr = decode(&stream).unwrap().psnr(&image);
        assert!(stream.len() < last.0 && psnr < last.1, "{quality}: {} bytes, {psnr} dB", stream.len());
        last = (stream.len(), psnr);
    }
}

#[test]
fn invalid_settings_are_refused() {
    let build = |builder: CodecBuilder| builder.build().unwrap_err().to_string();
    let cdf97 = wavelet("cdf97");
    assert!(build(Codec::builder(&cdf97)).contains("needs an integer wavelet"));
    assert!(build(Codec::builder(&cdf97).psnr(f64::NAN)).contains("a PSNR of NaN"));
    assert!(build(Codec::builder(&cdf97).quality(0.0)).contains("from 1 to 100"));
    assert!(build(Codec::builder(&cdf97).psnr(40.0).levels(17)).contains("at most 16"));
    assert!(build(Codec::builder(&cdf97).psnr(40.0).block(64, 65)).contains("64 × 65"));
    let codec = Codec::builder(&wavelet("legall53")).build().unwrap();
    let encode = |image: Image| codec.encode(&image).unwrap_err().to_string();
    let image = || picture(4, 4, 1, 8, false);
    assert!(encode(Image { bits: 17, ..image() }).contains("17 bits"));
    assert!(encode(Image { width: 5, ..image() }).contains("16 samples do not fill 4 × 5"));
    assert!(encode(Image { bits: 1, ..image() }).contains("samples of 1 bits are 0 to 1"));
    assert!(encode(Image { components: 0, ..image() }).contains("number of components 0"));
}

/// Resolutions look like the picture: the mean error to averages of half the size is small.
#[test]
fn levels_are_smaller_pictures() {
    let mut image = picture(96, 128, 3, 8, false);
    // Without noise and edges, averages are near the low band.
    image.samples.iter_mut().enumerate().for_each(|(i, s)| *s = ((i / 3 % 128) + (i / 384) + 10 * (i % 3)) as i32);
    for name in ["legall53", "cdf97", "s_transform", "cdf2_2"] {
        let codec = Codec::builder(&wavelet(name)).levels(3);
        let codec = if name == "cdf97" || name == "cdf2_2" { codec.psnr(70.0) } else { codec };
        let stream = codec.build().unwrap().encode(&image).unwrap();
        let decoder = Decoder::new(&stream).unwrap();
        for level in 0..=3 {
            let small = decoder.decode(level).unwrap().image;
            assert_eq!((small.height, small.width), (96 >> level, 128 >> level));
            let step = 1 << level;
            let worst = small.samples.iter().enumerate().map(|(i, s)| {
                let (y, x, c) = (i / 3 / small.width * step, i / 3 % small.width * step, i % 3);
                (s - image.samples[(y * 128 + x) * 3 + c]).abs()
            });
            assert!(worst.max().unwrap() <= 2 * step as i32, "{name}, level {level}");
        }
        assert!(matches!(decoder.decode(4), Err(CodecError::NoSuchLevel { level: 4, levels: 3 })));
    }
}

/// Longer prefixes give better pictures, and every prefix with the header decodes.
#[test]
fn truncated_streams_decode_in_part() {
    let image = picture(150, 170, 1, 8, false);
    for (name, passes) in [("legall53", Passes::Two), ("cdf97", Passes::Three)] {
        let codec = Codec::builder(&wavelet(name)).levels(4).passes(passes).psnr(50.0).build().unwrap();
        let stream = codec.encode(&image).unwrap();
        let head = Decoder::new(&stream).unwrap().header_length();
        for length in 0..head {
            let error = Decoder::new(&stream[..length]).unwrap_err();
            assert!(matches!(error, CodecError::NotAStream | CodecError::NoHeader { .. }), "{error}");
        }
        let mut last = 0.0;
        for tenths in 0..10 {
            let length = head + (stream.len() - head) * tenths / 10;
            let cut = Decoder::new(&stream[..length]).unwrap().decode(0).unwrap();
            assert!(!cut.complete);
            let psnr = cut.image.psnr(&image);
            assert!(psnr > last - 0.5, "{name}: {psnr} dB with {tenths} tenths, {last} before");
            last = psnr;
        }
        assert!(last > 25.0, "{last}");
        assert!(matches!(decode(&stream[..stream.len() - 1]), Err(CodecError::Cut { .. })));
        let behind = [&stream[..], &[0]].concat();
        assert!(matches!(decode(&behind), Err(CodecError::Behind { bytes: 1 })));
    }
}

#[test]
fn every_changed_byte_is_detected() {
    let image = picture(40, 50, 3, 8, false);
    for (name, quality) in [("legall53", 100.0), ("cdf97", 70.0)] {
        let codec = Codec::builder(&wavelet(name)).levels(2).quality(quality).build().unwrap();
        let stream = codec.encode(&image).unwrap();
        for at in 0..stream.len() {
            for bit in [0, 3, 7] {
                let mut broken = stream.clone();
                broken[at] ^= 1 << bit;
                assert!(decode(&broken).is_err(), "bit {bit} of byte {at} of {}", stream.len());
            }
        }
    }
}

/// Makes the header's checksum right again; it is `length` bytes long.
fn reseal(stream: &mut [u8], length: usize) {
    let sum = xxhash_rust::xxh3::xxh3_64(&stream[..length - 4]).to_le_bytes();
    stream[length - 4..length].copy_from_slice(&sum[..4]);
}

#[test]
fn forged_headers_are_refused() {
    let image = picture(8, 8, 1, 8, false);
    let stream = Codec::builder(&wavelet("legall53")).levels(1).build().unwrap().encode(&image).unwrap();
    // Height and width, and those of tiles, follow signature, version, kind, length, flags, colour, bits and
    // components.
    let mut large = stream.clone();
    large[20..36].copy_from_slice(&[0, 0, 0, 1].repeat(4));
    assert!(matches!(decode(&large), Err(CodecError::Checksum { .. })));
    let length = Decoder::new(&stream).unwrap().header_length();
    reseal(&mut large, length);
    assert!(matches!(decode(&large), Err(CodecError::Disproportionate { .. })), "{:?}", decode(&large));
    assert!(matches!(
        Decoder::new(&stream).unwrap().at_most(63).decode(0),
        Err(CodecError::TooLarge { samples: 64, .. })
    ));
    let mut newer = stream.clone();
    newer[8] = 6;
    assert_eq!(decode(&newer), Err(CodecError::Version { version: 6, known: 5 }));
    newer[8..10].copy_from_slice(&[5, 1]);
    assert_eq!(decode(&newer), Err(CodecError::NotAPicture));
    // Fast planes follow the wavelet's name and its checksum.
    let fast = Codec::builder(&wavelet("legall53")).levels(1).fast(3).build().unwrap().encode(&image).unwrap();
    for planes in [0, 33] {
        let mut fast = fast.clone();
        assert_eq!(fast[53], 3);
        fast[53] = planes;
        reseal(&mut fast, length + 1);
        let why = format!("it has {planes} fast planes, and 1 to 32 are allowed");
        assert_eq!(decode(&fast), Err(CodecError::Header { why }));
    }
    // The axis of a single component is flag 64.
    let three = Codec::builder(&wavelet("legall53")).levels(1).build().unwrap();
    let mut three = three.encode(&picture(8, 8, 3, 8, false)).unwrap();
    three[14] |= 64;
    reseal(&mut three, length);
    let why = "the flag of a single component with 3 components".into();
    assert_eq!(decode(&three), Err(CodecError::Header { why }));
    assert!(matches!(decode(b"P5 1 1 255 x"), Err(CodecError::NotAStream)));
    assert!(matches!(decode(b""), Err(CodecError::NotAStream)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Pictures of any samples, through any integer wavelet.
    #[test]
    fn any_picture_round_trips(
        (height, width, components) in (1usize..70, 1usize..70, 1usize..4),
        bits in 1u32..=16,
        signed in any::<bool>(),
        name in prop::sample::select(vec!["legall53", "s_transform", "dd137", "cdsy62"]),
        levels in 0u32..6,
        seed in any::<u32>(),
    ) {
        let mut image = Image { height, width, components, bits, signed, samples: Vec::new() };
        let (low, high) = image.range();
        let mut state = seed;
        image.samples = (0..height * width * components).map(|_| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            low + (i64::from(state >> 8) % (i64::from(high) - i64::from(low) + 1)) as i32
        }).collect();
        prop_assert_eq!(&there_and_back(Codec::builder(&wavelet(name)).levels(levels), &image), &image);
    }

    /// No bytes after a valid header cause a panic, with or without right checksums.
    #[test]
    fn arbitrary_streams_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        name in prop::sample::select(vec!["legall53", "cdf97"]),
    ) {
        let image = picture(33, 41, 1, 8, false);
        let codec = Codec::builder(&wavelet(name)).levels(2).quality(80.0).build().unwrap();
        let stream = codec.encode(&image).unwrap();
        let head = Decoder::new(&stream).unwrap().header_length();
        let mut broken = [&stream[..head], &bytes].concat();
        let _ = Decoder::new(&broken).and_then(|d| d.decode(0));
        broken.splice(..head, lifting_codec::SIGNATURE);
        let _ = Decoder::new(&broken).and_then(|d| d.decode(0));
    }
}

/// A rate does not determine a quantiser step, so its symbols are undefined.
#[test]
fn symbols_of_a_rate_are_refused() {
    let image = picture(30, 40, 1, 8, false);
    let codec = |codec: CodecBuilder| codec.build().unwrap().symbols(&image);
    let named = Codec::builder(&wavelet("cdf97"));
    assert_eq!(codec(named.clone().bits_per_pixel(2.0)), Err(CodecError::SymbolsOfRate { bits: 2.0 }));
    let symbols = |quality| codec(named.clone().quality(quality)).unwrap().iter().map(|c| c.tail).sum::<u32>();
    assert!(symbols(30.0) < symbols(70.0));
}

/// A PSNR beyond the largest quantiser index is an exact picture, as one below it is.
#[test]
fn the_highest_psnr_is_exact() {
    let mut image = picture(96, 80, 1, 16, false);
    let mut noise = 1u32;
    for sample in &mut image.samples {
        noise = noise.wrapping_mul(1664525).wrapping_add(1013904223);
        *sample = (noise >> 16) as i32;
    }
    for decibels in [150.0, 190.0, 200.0] {
        let back = there_and_back(Codec::builder(&wavelet("cdf97")).psnr(decibels), &image);
        assert!(back.psnr(&image) >= decibels, "{decibels}: {}", back.psnr(&image));
    }
}

/// A rate above that of exact samples is not filled up.
#[test]
fn more_bits_than_samples_have_are_not_spent() {
    let image = picture(128, 128, 1, 8, false);
    let bytes = |codec: CodecBuilder| codec.build().unwrap().encode(&image).unwrap().len();
    let lossless = bytes(Codec::builder(&wavelet("legall53")));
    assert_eq!(bytes(Codec::builder(&wavelet("legall53")).bits_per_pixel(100.0)).abs_diff(lossless) / 64, 0);
    let real = Codec::builder(&wavelet("cdf97")).bits_per_pixel(100.0);
    assert_eq!(there_and_back(real.clone(), &image).psnr(&image), f64::INFINITY);
    assert!(bytes(real) < image.samples.len() * 100 / 8 / 8);
}

/// A constant picture takes few trials.
#[test]
fn a_constant_picture_reaches_any_psnr() {
    let image = Image { height: 300, width: 300, components: 1, bits: 8, signed: false, samples: vec![77; 90_000] };
    let stream = Codec::builder(&wavelet("cdf97")).psnr(60.0).build().unwrap().encode(&image).unwrap();
    assert_eq!(decode(&stream).unwrap(), image);
    assert!(stream.len() < 500, "{}", stream.len());
}

/// Squared errors of blocks with indices of 31 bits have more than 64 bits.
#[test]
fn layers_of_the_largest_indices_are_ranked() {
    use lifting_codec::block::{BlockShape, encode_with_prefixes};
    let shape = BlockShape {
        height: 64,
        width: 64,
        direction: lifting_codec::block::SignAxis::Vertical,
        order: Passes::Two.into(),
    };
    let (_, prefixes) = encode_with_prefixes(shape, &vec![i32::MAX; 4096], lifting_codec::tables::Tables::built_in());
    assert_eq!(prefixes[0].error, 4096.0 * f64::from(i32::MAX).powi(2));
}
