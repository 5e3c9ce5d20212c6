//! Encoders and decoders of all settings.

use crate::pictures::{KINDS, Random, random_picture, samples, smooth};
use lifting_jpeg2000::{Coder, Component, Decoder, Encoder, Image, Progression, Rect, Style, Target, transcode};

/// Encoder with random settings.
fn random_encoder(coder: Coder, random: &mut Random) -> (Encoder, String) {
    let block = random.pick(&[(64, 64), (32, 32), (4, 4), (16, 128), (4, 1024), (1024, 4)]);
    let levels = random.pick(&[0, 1, 2, 3, 5, 8, 32]);
    let progression = random.pick(&Progression::ALL);
    let mut text = format!("{coder:?} {levels} levels, blocks {block:?}, {}", progression.name());
    let mut encoder = Encoder::default().coder(coder).levels(levels).block(block.0, block.1).progression(progression);
    if random.chance(40) {
        let tile = random.pick(&[(32, 32), (17, 40), (64, 23)]);
        text += &format!(", tiles {tile:?}");
        encoder = encoder.tile(tile.0, tile.1);
    }
    if random.chance(40) {
        let precincts = random.pick(&[vec![(16, 16)], vec![(64, 32), (8, 16)], vec![(4, 128)]]);
        text += &format!(", precincts {precincts:?}");
        encoder = encoder.precincts(&precincts);
    }
    if random.chance(30) {
        encoder = encoder.resync_markers(random.chance(50), random.chance(50)).lengths(true, true);
    }
    let style = match coder {
        Coder::Ht => Style { causal: random.chance(30), ..Style::default() },
        Coder::Ebcot => {
            let mut flag = || random.chance(30);
            Style {
                bypass: flag(),
                reset: flag(),
                terminate: flag(),
                causal: flag(),
                predictable: flag(),
                segmentation: flag(),
            }
        }
    };
    let layers = if coder == Coder::Ebcot { random.pick(&[1, 1, 2, 5]) } else { 1 };
    text += &format!(", {style:?}, {layers} layers");
    (encoder.style(style).layers(layers).colour(random.chance(70)), text)
}

#[test]
fn lossless_pictures_come_back() {
    let mut random = Random(1);
    for case in 0..250 {
        let image = random_picture(&mut random);
        let coder = random.pick(&[Coder::Ht, Coder::Ebcot]);
        let (encoder, text) = random_encoder(coder, &mut random);
        let stream = encoder.encode(&image).unwrap_or_else(|e| panic!("case {case}, {text}: {e}"));
        let decoded = Decoder::new(&stream).unwrap().decode().unwrap_or_else(|e| panic!("case {case}, {text}: {e}"));
        assert!(decoded.complete && decoded.broken_blocks == 0, "case {case}, {text}");
        assert!(decoded.image == image, "case {case}, {text}, area {}", image.area);
    }
}

#[test]
fn targets_are_met() {
    let mut random = Random(2);
    for coder in [Coder::Ht, Coder::Ebcot] {
        for kind in 0..KINDS {
            let samples = samples(kind, [120, 130], (0, 255), &mut random);
            let image = Image::interleaved([120, 130, 1], 8, false, &samples).unwrap();
            for wanted in [25.0, 40.0, 55.0] {
                let stream = Encoder::default().coder(coder).psnr(wanted).encode(&image).unwrap();
                let found = Decoder::new(&stream).unwrap().decode().unwrap().image.psnr(&image);
                assert!(found >= wanted, "{coder:?}, kind {kind}: {found} dB where {wanted} are asked for");
            }
            for bits in [0.3, 1.0, 4.0] {
                let stream = Encoder::default().coder(coder).bits_per_pixel(bits).encode(&image).unwrap();
                let budget = (bits * 120.0 * 130.0 / 8.0) as usize;
                assert!(stream.len() <= budget, "{coder:?}, kind {kind}: {} of {budget} bytes", stream.len());
                Decoder::new(&stream).unwrap().decode().unwrap();
            }
        }
    }
}

#[test]
fn errors_are_near_the_step() {
    let image = smooth(200, 150);
    for step in [0.5, 2.0, 8.0] {
        let stream = Encoder::default().target(Target::Step(step)).encode(&image).unwrap();
        let decoded = Decoder::new(&stream).unwrap().decode().unwrap().image;
        let error = |(a, b): (&i32, &i32)| (a - b).abs();
        let most = decoded.components[0].samples.iter().zip(&image.components[0].samples).map(error).max().unwrap();
        assert!(f64::from(most) <= 4.0 * step + 1.0, "{most} with a step of {step}");
    }
}

#[test]
fn reductions_are_those_of_the_transform() {
    // The low band of the reversible wavelet of a constant picture is that constant.
    let image = Image::interleaved([77, 50, 1], 8, false, &[93; 77 * 50]).unwrap();
    for coder in [Coder::Ht, Coder::Ebcot] {
        let stream = Encoder::default().coder(coder).levels(4).encode(&image).unwrap();
        for reduce in 0..=4 {
            let small = Decoder::new(&stream).unwrap().reduce(reduce).decode().unwrap().image;
            let Component { height, width, samples, .. } = &small.components[0];
            assert_eq!((*height, *width), (77usize.div_ceil(1 << reduce), 50usize.div_ceil(1 << reduce)));
            assert!(samples.iter().all(|&s| s == 93), "{coder:?}, {reduce}");
        }
        let error = Decoder::new(&stream).unwrap().reduce(5).decode().unwrap_err();
        assert!(error.to_string().contains("has 4 decomposition levels"), "{error}");
    }
}

#[test]
fn regions_are_parts_of_the_picture() {
    let mut random = Random(5);
    let image = smooth(150, 170);
    let lossy = Encoder::default().target(Target::Step(0.7));
    let with = |encoder: &Encoder, tile: (u32, u32)| encoder.clone().block(8, 16).tile(tile.0, tile.1);
    for (encoder, tile) in
        [(&Encoder::default(), (150, 170)), (&lossy, (150, 170)), (&lossy, (64, 64)), (&lossy, (33, 20))]
    {
        let stream = with(encoder, tile).encode(&image).unwrap();
        let image = Decoder::new(&stream).unwrap().decode().unwrap().image;
        for _ in 0..20 {
            let (x0, y0) = (random.below(170) as u32, random.below(150) as u32);
            let region = Rect { x0, y0, x1: x0 + 1 + random.below(60) as u32, y1: y0 + 1 + random.below(60) as u32 };
            let part = Decoder::new(&stream).unwrap().region(region).decode().unwrap().image;
            let Component { height, width, samples, .. } = &part.components[0];
            let whole = &image.components[0];
            assert_eq!(*width, (region.x1.min(170) - x0) as usize);
            for y in 0..*height {
                let from = (y + y0 as usize) * whole.width + x0 as usize;
                assert_eq!(samples[y * width..][..*width], whole.samples[from..][..*width]);
            }
        }
        let outside = Rect { x0: 170, y0: 0, x1: 180, y1: 9 };
        Decoder::new(&stream).unwrap().region(outside).decode().unwrap_err();
    }
}

#[test]
fn layers_and_prefixes_improve_the_picture() {
    let image = smooth(128, 128);
    let encoder = Encoder::default().coder(Coder::Ebcot).layers(6).progression(Progression::Lrcp);
    let stream = encoder.encode(&image).unwrap();
    let psnr = |image: &Image, other: &Image| image.psnr(other);
    let mut last = 0.0;
    for layers in 1..=6 {
        let decoded = Decoder::new(&stream).unwrap().layers(layers).decode().unwrap();
        assert!(decoded.complete);
        let found = psnr(&decoded.image, &image);
        assert!(found > last, "{found} dB with {layers} layers, {last} with one less");
        last = found;
    }
    assert!(last.is_infinite());
    let mut last = 0.0;
    for share in [4, 8, 12, 15] {
        let decoded = Decoder::new(&stream[..stream.len() * share / 16]).unwrap().decode().unwrap();
        assert!(!decoded.complete);
        let found = psnr(&decoded.image, &image);
        assert!(found > last && found > 20.0, "{found} dB with {share}/16 of the stream, {last} with less");
        last = found;
    }
}

#[test]
fn transcoding_keeps_every_coefficient() {
    let mut random = Random(3);
    for case in 0..80 {
        let image = random_picture(&mut random);
        let coders = random.pick(&[[Coder::Ebcot, Coder::Ht], [Coder::Ht, Coder::Ebcot]]);
        let (encoder, text) = random_encoder(coders[0], &mut random);
        let encoder = match random.below(3) {
            0 => encoder,
            1 => encoder.target(Target::Step(1.7)),
            _ => encoder.bits_per_pixel(2.0),
        };
        let Ok(old) = encoder.encode(&image) else { continue };
        let decode = |stream: &[u8]| Decoder::new(stream).unwrap().decode().unwrap();
        let wanted = decode(&old).image;
        let new = transcode(&old, coders[1]).unwrap_or_else(|e| panic!("case {case}, {text}: {e}"));
        assert!(decode(&new).image == wanted, "case {case}, {text}");
        let back = transcode(&new, coders[0]).unwrap();
        assert!(decode(&back).image == wanted, "case {case}, {text}");
    }
}

#[test]
fn files_keep_their_boxes() {
    use lifting_jpeg2000::file::{Boxes, ColourSpace, Definition};
    let image = Image::interleaved([3, 4, 2], 8, false, &(0..24).collect::<Vec<_>>()).unwrap();
    let boxes = Boxes {
        colour: ColourSpace::Icc(vec![1, 2, 3, 4]),
        definitions: vec![
            Definition { channel: 0, kind: 0, association: 1 },
            Definition { channel: 1, kind: 1, association: 0 },
        ],
        resolution: Some([2835.0, 11811.0]),
        palette: None,
        others: vec![(*b"xml ", b"<a/>".to_vec()), (*b"uuid", vec![7; 20])],
    };
    for coder in [Coder::Ht, Coder::Ebcot] {
        let file = Encoder::default().coder(coder).encode_file(&image, &boxes).unwrap();
        let other = if coder == Coder::Ht { Coder::Ebcot } else { Coder::Ht };
        for file in [transcode(&file, other).unwrap(), file] {
            let decoder = Decoder::new(&file).unwrap();
            assert_eq!(decoder.decode().unwrap().image, image);
            assert_eq!(decoder.file().unwrap().boxes, boxes);
        }
    }
}

#[test]
fn palettes_are_applied() {
    use lifting_jpeg2000::file::{Boxes, ColourSpace, Palette};
    let indices = Image::interleaved([1, 4, 1], 2, false, &[0, 1, 2, 3]).unwrap();
    let palette = Palette {
        formats: vec![(8, false), (10, true)],
        entries: vec![10, -1, 20, -2, 30, 511],
        channels: vec![(0, Some(0)), (0, Some(1)), (0, None)],
    };
    let boxes = Boxes { colour: ColourSpace::Enumerated(16), palette: Some(palette), ..Boxes::default() };
    let file = Encoder::default().encode_file(&indices, &boxes).unwrap();
    let decoder = Decoder::new(&file).unwrap();
    assert_eq!(decoder.file().unwrap().boxes, boxes);
    let image = decoder.decode().unwrap().image;
    // The last entry stands for indices beyond the palette.
    assert_eq!(image.components[0].samples, [10, 20, 30, 30]);
    assert_eq!(image.components[1].samples, [-1, -2, 511, 511]);
    assert_eq!(image.components[2].samples, [0, 1, 2, 3]);
}

#[test]
fn settings_are_checked() {
    let image = smooth(20, 20);
    let fail = |encoder: Encoder| encoder.encode(&image).unwrap_err().to_string();
    let default = Encoder::default;
    assert!(fail(default().levels(33)).contains("at most 32"));
    assert!(fail(default().block(48, 64)).contains("powers of two"));
    assert!(fail(default().block(128, 64)).contains("4096"));
    assert!(fail(default().layers(2)).contains("coder of Part 1"));
    assert!(fail(default().psnr(0.0)).contains("0 dB"));
    assert!(fail(default().tile(0, 4)).contains("without samples"));
    assert!(fail(default().style(Style { reset: true, ..Style::default() })).contains("only `causal`"));
    assert!(fail(default().bits_per_pixel(0.01)).contains("smallest one"));
    let mut wrong = image.clone();
    wrong.components[0].samples[25] = 256;
    let error = Encoder::default().encode(&wrong).unwrap_err().to_string();
    assert!(error.contains("256 in row 1, column 5"), "{error}");
}
