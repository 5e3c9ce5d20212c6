//! Whole streams on a device, by the interpreter: the processor's streams, byte for byte.

use crate::codec::picture;
use crate::kernel::cuda;
use crate::streams::{checked_parts, checksum};
use lifting::{Device, catalogue};
use lifting_codec::block::Passes;
use lifting_codec::{Codec, CodecBuilder, CodecError, Decoder, Image};

fn wavelet(name: &str) -> CodecBuilder {
    Codec::builder(&catalogue::find(name).unwrap())
}

/// Encodes pictures with a device's encoder.
fn streams_on(device: &Device, codec: &CodecBuilder, images: &[Image]) -> Vec<Vec<u8>> {
    let codec = codec.clone().device(device.clone()).build().unwrap();
    let mut encoder = codec.on_device(images[0].format(), images.len()).unwrap();
    for (place, image) in images.iter().enumerate() {
        encoder.upload(place, image).unwrap();
    }
    encoder.encode().unwrap();
    encoder.streams().unwrap()
}

fn is_the_same_on(device: &Device, codec: &CodecBuilder, images: &[Image]) {
    let codec = &codec.clone().deflated(false);
    let on_processor = codec.clone().build().unwrap();
    let found = streams_on(device, codec, images);
    assert_eq!(found.len(), images.len());
    for (image, found) in images.iter().zip(found) {
        let expected = on_processor.encode(image).unwrap();
        let differs = expected.iter().zip(&found).position(|(a, b)| a != b);
        assert!(found == expected, "{} and {} bytes, first other one {differs:?}", found.len(), expected.len());
    }
    let streams: Vec<Vec<u8>> = images.iter().map(|image| on_processor.encode(image).unwrap()).collect();
    come_back_on(device, &streams);
}

/// Decodes streams with a device's decoder, and compares with the processor. Returns the number decoded on the device.
fn come_back_on(device: &Device, streams: &[Vec<u8>]) -> usize {
    let longest = streams.iter().map(Vec::len).max().unwrap();
    let mut decoder = Decoder::new(&streams[0]).unwrap().on_device(device, streams.len(), longest).unwrap();
    for (place, stream) in streams.iter().enumerate() {
        decoder.upload(place, stream).unwrap();
    }
    decoder.decode().unwrap();
    for (stream, found) in streams.iter().zip(decoder.pictures().unwrap()) {
        assert_eq!(found, Decoder::new(stream).and_then(|decoder| decoder.decode(0)));
    }
    decoder.decoded().unwrap().into_iter().filter(|decoded| *decoded).count()
}

/// Complete, truncated and changed streams, with right and wrong checksums: pictures, or the processor's errors. The
/// interpreter detects accesses beyond arrays.
#[test]
fn broken_streams_are_detected_on_a_device() {
    broken_streams_are_detected_on(&Device::Interpreter);
}

#[test]
fn broken_streams_are_detected_on_cuda() {
    if let Some(device) = cuda("broken_streams_are_detected_on_cuda") {
        broken_streams_are_detected_on(&device);
    }
}

#[test]
fn streams_match_the_processor_on_cuda() {
    let Some(device) = cuda("streams_match_the_processor_on_cuda") else { return };
    for passes in [Passes::Two, Passes::Three] {
        let named = |name: &str| wavelet(name).passes(passes);
        let some = [picture(700, 901, 1, 8, false), noise(700, 901, 1, 8), picture(700, 901, 1, 8, false)];
        is_the_same_on(&device, &named("legall53"), &some);
        is_the_same_on(&device, &named("cdf97").quality(77.0), &some);
        is_the_same_on(&device, &named("legall53").fast(3), &some);
        is_the_same_on(&device, &named("legall53").fast(32), &some);
        is_the_same_on(&device, &named("legall53").levels(3).tile(128, 128), &[picture(333, 257, 4, 12, true)]);
        is_the_same_on(&device, &named("cdf97").quality(40.0).block(16, 32), &[picture(300, 400, 3, 8, false)]);
    }
}

fn broken_streams_are_detected_on(device: &Device) {
    let image = picture(33, 40, 1, 8, false);
    for codec in [wavelet("legall53").levels(1).block(16, 16), wavelet("cdf97").levels(1).block(16, 16).quality(60.0)] {
        let stream = codec.deflated(false).build().unwrap().encode(&image).unwrap();
        let head = Decoder::new(&stream).unwrap().header_length();
        let mut streams = vec![stream.clone()];
        for end in [0, 3, head, head + 2, head + 9, stream.len() / 2, stream.len() - 1] {
            streams.push(stream[..end].to_vec());
        }
        let parts = checked_parts(&stream);
        let mut state = 7u32;
        let mut next = |below: usize| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            (state >> 8) as usize % below
        };
        for i in 0..40 {
            let mut broken = stream.clone();
            let (from, to, seed) = parts[next(parts.len())];
            let at = from + next(to - from);
            broken[at] = if i % 3 == 0 { 255 } else { broken[at] ^ 1 << next(8) };
            if let (Some(seed), true) = (seed, i % 4 > 0) {
                let sum = checksum(&broken[from..to], seed);
                broken[to..to + 4].copy_from_slice(&sum.to_le_bytes());
            }
            streams.push(broken);
        }
        // A stream of another kind, and one with excess bytes.
        streams.push(wavelet("legall53").levels(2).build().unwrap().encode(&image).unwrap());
        streams.push([&stream[..], &[0; 9]].concat());
        let decoded = come_back_on(device, &streams);
        assert!((1..streams.len() - 12).contains(&decoded), "{decoded} of {}", streams.len());
    }
}

/// Random samples.
fn noise(height: usize, width: usize, components: usize, bits: u32) -> Image {
    let mut image = picture(height, width, components, bits, false);
    let mut state = 3u32;
    for sample in &mut image.samples {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        *sample = (state >> (32 - bits)) as i32;
    }
    image
}

#[test]
fn streams_match_the_processor() {
    let device = Device::Interpreter;
    let small = |name: &str| wavelet(name).levels(2).block(32, 32);
    // Raw and coded blocks, two pictures at once, components beyond the colours.
    let pair = [picture(37, 51, 1, 8, false), noise(37, 51, 1, 8)];
    is_the_same_on(&device, &small("legall53"), &pair);
    is_the_same_on(&device, &small("legall53").levels(1), &[picture(20, 33, 4, 12, true)]);
    is_the_same_on(&device, &small("legall53").passes(Passes::Three).levels(0), &[picture(9, 70, 1, 8, true)]);
    is_the_same_on(&device, &small("legall53").fast(3), &pair);
    // Payloads of several pieces.
    is_the_same_on(&device, &small("legall53").levels(1).block(64, 64), &[noise(96, 128, 1, 16)]);
    // Tiles, some with empty bands.
    is_the_same_on(&device, &small("legall53").tile(64, 64), &[picture(65, 70, 1, 8, false)]);
}

#[test]
fn quantised_streams_match_the_processor() {
    let device = Device::Interpreter;
    let small = |name: &str, quality| wavelet(name).levels(2).block(32, 32).quality(quality);
    let pair = [picture(40, 50, 1, 8, false), noise(40, 50, 1, 8)];
    is_the_same_on(&device, &small("cdf97", 70.0), &pair);
    is_the_same_on(&device, &small("cdf97", 45.0), &[picture(33, 45, 3, 8, false)]);
    is_the_same_on(&device, &small("cdf97", 80.0).tile(64, 64), &[picture(66, 64, 1, 12, true)]);
    // Integers, with some bands unquantised.
    is_the_same_on(&device, &small("legall53", 88.0), &[noise(33, 40, 1, 8)]);
}

/// Blocks of more planes than kernels support still give the processor's streams.
/// Codecs and decoders that keep kernels and memory of earlier pictures, also of other formats and qualities.
#[test]
fn pictures_in_turn_match_the_processor() {
    let images = [noise(20, 24, 1, 8), noise(24, 16, 1, 8), noise(20, 24, 1, 8)];
    for builder in [wavelet("legall53").levels(1), wavelet("cdf97").levels(1).quality(70.0)] {
        let codec = builder.clone().device(Device::Interpreter).build().unwrap();
        let on_processor = builder.build().unwrap();
        for image in &images {
            let stream = codec.encode(image).unwrap();
            assert_eq!(stream, on_processor.encode(image).unwrap());
            let decoder = Decoder::new(&stream).unwrap().on(&Device::Interpreter).unwrap();
            assert_eq!(decoder.decode(0).unwrap(), Decoder::new(&stream).unwrap().decode(0).unwrap());
        }
    }
    lifting_codec::release_device_memory();
}

/// Frames on two devices: streams in order, those left to the processor too.
#[test]
fn frames_in_flight_are_restored_in_order() {
    let codec = wavelet("legall53").levels(1).build().unwrap();
    let flat = |i| Image { samples: vec![i; 16 * 12], ..noise(16, 12, 1, 16) };
    let mut images: Vec<Image> = (0..8).map(flat).collect();
    // More than 16 bitplanes.
    images[3].samples.iter_mut().enumerate().for_each(|(i, sample)| *sample = [0, 65535][(i / 12 + i) % 2]);
    for devices in [&[Device::Interpreter][..], &[Device::Interpreter, Device::Interpreter]] {
        let mut frames = codec.frames(images[0].format(), devices).unwrap();
        let mut streams = Vec::new();
        for image in &images {
            let pairs = frames.next_frame().unwrap().chunks_exact_mut(2);
            pairs.zip(&image.samples).for_each(|(to, sample)| to.copy_from_slice(&(*sample as u16).to_le_bytes()));
            streams.extend(frames.send().unwrap());
        }
        while let Some(stream) = frames.receive().unwrap() {
            streams.push(stream);
        }
        assert_eq!(streams.len(), images.len());
        for (stream, image) in streams.iter().zip(&images) {
            assert_eq!(lifting_codec::decode(stream).unwrap(), *image);
        }
    }
    assert!(codec.frames(images[0].format(), &[]).is_err());
}

#[test]
fn unsupported_blocks_fall_back_to_the_processor() {
    let mut wild = picture(16, 16, 1, 16, false);
    wild.samples.iter_mut().enumerate().for_each(|(i, s)| *s = if (i / 16 + i) % 2 == 0 { i as i32 } else { 65535 });
    is_the_same_on(&Device::Interpreter, &wavelet("legall53").levels(2).block(8, 8), &[wild]);
}

#[test]
fn processor_only_settings_are_refused() {
    let image = picture(32, 32, 1, 8, false);
    let on_device = |codec: CodecBuilder| {
        codec.device(Device::Interpreter).build().unwrap().on_device(image.format(), 1).map(drop).unwrap_err()
    };
    for codec in [wavelet("cdf97").psnr(40.0), wavelet("cdf97").bits_per_pixel(1.0), wavelet("legall53").layers(2)] {
        let error = on_device(codec);
        assert!(matches!(error, CodecError::NotOnDevice { .. }), "{error}");
    }
    let codec = wavelet("legall53").device(Device::Interpreter).build().unwrap();
    let mut encoder = codec.on_device(image.format(), 1).unwrap();
    assert_eq!(encoder.upload(1, &image), Err(CodecError::NoSuchPlace { place: 1, pictures: 1 }));
    let other = encoder.upload(0, &picture(32, 31, 1, 8, false)).unwrap_err();
    assert!(other.to_string().contains("and this one has 32 × 31 × 1 samples of 8 bits"), "{other}");
    // A picture that was never uploaded is all zeros.
    encoder.encode().unwrap();
    assert_eq!(encoder.streams().unwrap().len(), 1);
    let on_processor = wavelet("legall53").build().unwrap();
    assert!(on_processor.on_device(image.format(), 1).is_err());
}
