//! Partial decoding: quality layers, tiles and regions.

use crate::codec::picture;
use lifting::{catalogue, compile};
use lifting_codec::block::Passes;
use lifting_codec::{Codec, CodecBuilder, CodecError, Decoder, Image, Region, decode};
use std::ops::Range;

fn named(name: &str) -> CodecBuilder {
    Codec::builder(&catalogue::find(name).unwrap())
}

fn stream(codec: CodecBuilder, image: &Image) -> Vec<u8> {
    codec.build().unwrap().encode(image).unwrap()
}

/// Rows and columns of a picture.
fn part(image: &Image, rows: Range<usize>, columns: Range<usize>) -> Image {
    let mut part = Image { height: rows.len(), width: columns.len(), samples: Vec::new(), ..*image };
    for y in rows {
        let row = &image.samples[y * image.width * image.components..][..image.width * image.components];
        part.samples.extend(&row[columns.start * image.components..columns.end * image.components]);
    }
    part
}

/// Each layer improves the picture, all of them meet the target, and layers take little extra space.
#[test]
fn layers_improve_the_picture() {
    let image = picture(200, 230, 3, 8, false);
    let lossless = named("legall53").passes(Passes::Three);
    for (codec, layers) in [
        (lossless.clone(), 6),
        (lossless.fast(3), 5),
        (named("cdf97").psnr(45.0), 4),
        (named("cdf97").bits_per_pixel(3.0), 12),
    ] {
        let alone = stream(codec.clone(), &image);
        let layered = stream(codec.layers(layers), &image);
        assert!(layered.len() < alone.len() + 250 * layers as usize, "{} and {}", layered.len(), alone.len());
        let decoder = Decoder::new(&layered).unwrap();
        assert_eq!(decoder.header().layers, layers);
        let (mut last, mut end) = (0.0, decoder.header_length());
        for layer in 0..layers {
            let picture = decoder.clone().layers(layer + 1).unwrap().decode(0).unwrap();
            assert!(picture.complete);
            let psnr = picture.image.psnr(&image);
            assert!(psnr >= last, "{psnr} dB with layer {layer}, {last} without");
            last = psnr;
            // A stream truncated after the layer gives the same picture.
            let packets = decoder.packets().unwrap();
            end += packets.iter().filter(|p| p.id.layer == layer).map(|p| p.bytes).sum::<usize>();
            let cut = Decoder::new(&layered[..end]).unwrap().decode(0).unwrap();
            assert_eq!((cut.image, cut.complete), (picture.image, layer + 1 == layers));
        }
        let index = end;
        assert!((40..200).contains(&(layered.len() - index)), "{} bytes of the index", layered.len() - index);
        let whole = decode(&layered).unwrap();
        assert!(whole == decode(&alone).unwrap() || alone.len() != layered.len() && last > 30.0);
        assert!(matches!(decoder.clone().layers(0), Err(CodecError::NoSuchLayer { asked: 0, .. })));
        assert!(decoder.layers(layers + 1).is_err());
    }
}

/// With layers, half of a stream is much better than without.
#[test]
fn prefixes_of_layers_are_pictures() {
    let image = picture(256, 256, 1, 8, false);
    let of = |layers, share: f64| {
        let stream = stream(named("legall53").layers(layers), &image);
        let cut = &stream[..(stream.len() as f64 * share) as usize];
        Decoder::new(cut).unwrap().decode(0).unwrap().image.psnr(&image)
    };
    for share in [0.1, 0.3, 0.5, 0.7] {
        let (without, with) = (of(1, share), of(8, share));
        assert!(with > without + 3.0, "{share}: {with} and {without} dB");
    }
}

#[test]
fn tiles_are_independent() {
    for (name, levels, components) in [("legall53", 3, 1), ("dd137", 6, 3), ("s_transform", 0, 2)] {
        let image = picture(150, 200, components, 8, false);
        let codec = named(name).levels(levels).layers(2);
        let tiled = stream(codec.clone().tile(64, 128), &image);
        assert_eq!(decode(&tiled).unwrap(), image, "{name}");
        let decoder = Decoder::new(&tiled).unwrap();
        assert_eq!(decoder.header().tiles(), [3, 2]);
        // At each level, a tile decodes as it does alone.
        for (rows, columns) in [(0..64, 0..128), (64..128, 128..200), (128..150, 0..128)] {
            let tile = part(&image, rows.clone(), columns.clone());
            let alone = stream(codec.clone(), &tile);
            for level in 0..=levels {
                let at = |axis: &Range<usize>| axis.start >> level..axis.end.div_ceil(1 << level);
                let whole = decoder.decode(level).unwrap().image;
                assert_eq!([whole.height, whole.width], [150, 200].map(|n: usize| n.div_ceil(1 << level)));
                let alone = Decoder::new(&alone).unwrap().decode(level).unwrap().image;
                assert!(part(&whole, at(&rows), at(&columns)) == alone, "{name} at level {level}");
            }
        }
    }
    let lossy = stream(named("cdf97").psnr(42.0).tile(64, 1000), &picture(150, 200, 3, 8, false));
    assert!(decode(&lossy).unwrap().psnr(&picture(150, 200, 3, 8, false)) >= 42.0);
}

#[test]
fn invalid_tiles_are_refused() {
    let image = picture(150, 200, 1, 8, false);
    let encode = |codec: CodecBuilder| codec.build().unwrap().encode(&image).unwrap_err().to_string();
    assert!(encode(named("legall53").tile(32, 64)).contains("tiles of 32 × 64"));
    assert!(encode(named("legall53").tile(64, 80)).contains("a multiple of 32"));
    assert!(encode(named("legall53").tile(0, 64)).contains("at least 64"));
    assert!(matches!(named("legall53").layers(0).build(), Err(CodecError::Layers { layers: 0, most: 255 })));
    assert!(named("legall53").layers(256).build().is_err());
}

/// A region equals that part of the picture, sample by sample, for any wavelet, border rule, tiles and level.
#[test]
fn regions_are_parts_of_the_picture() {
    let text = "wavelet wrapped { domain integer; boundary periodic; odd -= (even[0] + even[1]) >> 1; \
                even += (odd[-1] + odd[0] + 2) >> 2; }";
    let wrapped = Codec::builder(&compile(text).unwrap().remove(0));
    let codecs = [
        (named("legall53").levels(4).block(16, 8), [180, 210]),
        (named("legall53").levels(3).block(8, 8).tile(64, 64), [180, 210]),
        (named("dd137").levels(2).block(8, 16).layers(3), [150, 131]),
        (named("cdf97").levels(3).block(8, 8).quality(60.0), [180, 210]),
        (named("cdf97").levels(1).block(4, 4).quality(80.0).tile(128, 64), [180, 130]),
        (wrapped.levels(2).block(8, 8), [128, 192]),
    ];
    for (codec, [height, width]) in codecs {
        let stream = stream(codec, &picture(height, width, 2, 8, false));
        let decoder = Decoder::new(&stream).unwrap();
        let whole: Vec<Image> = (0..=2).filter_map(|level| Some(decoder.decode(level).ok()?.image)).collect();
        let regions = [
            (0, 0, 1, 1),
            (0, width - 9, 30, 9),
            (63, 64, 2, 1),
            (77, 50, 33, 70),
            (height - 1, width - 1, 1, 1),
            (0, 0, height, width),
        ];
        for (y, x, h, w) in regions {
            let of_region = decoder.clone().region(Region { y, x, height: h, width: w }).unwrap();
            for (level, whole) in whole.iter().enumerate() {
                let rows = y >> level..(y + h).div_ceil(1 << level);
                let columns = x >> level..(x + w).div_ceil(1 << level);
                let found = of_region.decode(level as u32).unwrap();
                assert!(found.complete);
                let name = decoder.header().scheme.name();
                assert!(found.image == part(whole, rows, columns), "{name} {:?} at {level}", (y, x, h, w));
            }
        }
    }
}

/// Data that a region does not depend on may be corrupted, and memory is allocated for its tiles only.
#[test]
fn regions_ignore_other_data() {
    let image = picture(256, 300, 1, 8, false);
    let mut stream = stream(named("legall53").tile(64, 64).levels(2), &image);
    let region = Region { y: 70, x: 130, height: 20, width: 40 };
    let packets = Decoder::new(&stream).unwrap().packets().unwrap();
    let end = packets.iter().map(|packet| packet.bytes).sum::<usize>();
    stream[end] ^= 1;
    assert!(matches!(decode(&stream), Err(CodecError::Checksum { .. })));
    let decoder = Decoder::new(&stream).unwrap().at_most(64 * 64).region(region).unwrap();
    assert_eq!(decoder.decode(0).unwrap().image, part(&image, 70..90, 130..170));
    let wide = decoder.clone().region(Region { width: 100, ..region }).unwrap();
    assert!(matches!(wide.decode(0), Err(CodecError::TooLarge { .. })));
    for region in [
        Region { width: 0, ..region },
        Region { y: 256, ..region },
        Region { x: 290, ..region },
        Region { height: usize::MAX, ..region },
    ] {
        assert!(matches!(decoder.clone().region(region), Err(CodecError::Region { rows: 256, columns: 300, .. })));
    }
}
