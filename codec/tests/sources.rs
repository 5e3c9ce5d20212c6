//! Random access and encoding by rows.

use crate::codec::picture;
use lifting::catalogue;
use lifting_codec::{Codec, CodecBuilder, CodecError, Decoder, Image, Metadata, ReadAt, Region, Seekable, decode};
use std::io::{self, Cursor};
use std::sync::atomic::{AtomicU64, Ordering};

fn named(name: &str) -> CodecBuilder {
    Codec::builder(&catalogue::find(name).unwrap()).levels(4)
}

/// Stream that counts the bytes and the requests of its readers.
struct Counted<'a>(&'a [u8], AtomicU64, AtomicU64);

impl ReadAt for Counted<'_> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.1.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.2.fetch_add(1, Ordering::Relaxed);
        self.0.read_at(offset, buffer)
    }
}

fn part(image: &Image, region: Region) -> Vec<i32> {
    let row = |y: usize| &image.samples[y * image.width + region.x..][..region.width];
    (region.y..region.y + region.height).flat_map(row).copied().collect()
}

/// A region of 1 % of a picture reads less than 2 % of its stream, in whichever order packets are.
#[test]
fn regions_read_their_bytes() {
    let image = picture(1500, 1700, 1, 8, false);
    let codec = named("legall53").tile(64, 64).build().unwrap();
    let mut rows = codec.by_rows(image.format(), Vec::new()).unwrap();
    image.samples.chunks(1700 * 7).for_each(|some| rows.push(some).unwrap());
    let region = Region { y: 700, x: 900, height: 100, width: 100 };
    for stream in [codec.encode(&image).unwrap(), rows.finish().unwrap()] {
        let source = Counted(&stream, AtomicU64::new(0), AtomicU64::new(0));
        let decoder = Decoder::open(&source).unwrap().region(region).unwrap();
        assert_eq!(decoder.decode(0).unwrap().image.samples, part(&image, region));
        let (read, requests) = (source.1.into_inner(), source.2.into_inner());
        assert!(read * 50 < stream.len() as u64, "{read} of {} bytes", stream.len());
        assert!(requests < 30, "{requests} requests");
        // Lower resolutions take less.
        let source = Counted(&stream, AtomicU64::new(0), AtomicU64::new(0));
        let quarter = Decoder::open(&source).unwrap().region(region).unwrap().decode(2).unwrap().image;
        assert_eq!((quarter.height, quarter.width), (25, 25));
        assert!(source.1.into_inner() * 2 < read);
    }
}

/// All sources give the same pictures, also of prefixes, and with layers.
#[test]
fn sources_agree() {
    let image = picture(150, 200, 3, 8, false);
    let metadata = Metadata { exif: Some(vec![3; 900]), ..Metadata::default() };
    let codec = named("cdf97").quality(80.0).tile(64, 128).layers(3).build().unwrap().metadata(&metadata).unwrap();
    let mut rows = codec.by_rows(image.format(), Vec::new()).unwrap();
    rows.push(&image.samples).unwrap();
    for stream in [codec.encode(&image).unwrap(), rows.finish().unwrap()] {
        let whole = Decoder::new(&stream).unwrap();
        assert_eq!(whole.metadata().unwrap(), metadata);
        for length in (0..stream.len()).step_by(97).chain([stream.len() - 1, stream.len()]) {
            let cut = &stream[..length];
            let file = Seekable::new(Cursor::new(cut));
            let decode = |decoder: Decoder<'_>| {
                let region = Region { y: 50, x: 60, height: 70, width: 80 };
                let part = decoder.clone().layers(2)?.region(region)?.decode(1)?;
                Ok::<_, CodecError>((decoder.metadata(), decoder.decode(0)?, part))
            };
            let bytes = Decoder::new(cut).and_then(decode);
            assert_eq!(Decoder::open(&file).and_then(decode), bytes, "{length}");
            if let Ok((_, picture, _)) = bytes {
                assert_eq!(picture.complete, length == stream.len(), "{length} of {}", stream.len());
            }
        }
    }
}

/// Streams by rows decode to the same samples; lossy ones to about the same quality.
#[test]
fn rows_are_pictures() {
    for (height, width, components, tile) in [(200, 150, 1, [64, 64]), (65, 70, 3, [64, 70]), (64, 64, 2, [64, 64])] {
        let image = picture(height, width, components, 12, false);
        let codec = named("legall53").tile(tile[0], tile[1]).build().unwrap();
        let mut rows = codec.by_rows(image.format(), Vec::new()).unwrap();
        for some in image.samples.chunks(width * components * 13) {
            rows.push(some).unwrap();
        }
        let stream = rows.finish().unwrap();
        assert_eq!(decode(&stream).unwrap(), image);
        let codec = named("cdf97").quality(70.0).tile(tile[0], tile[1]).build().unwrap();
        let mut rows = codec.by_rows(image.format(), Vec::new()).unwrap();
        rows.push(&image.samples).unwrap();
        let psnr = |stream: &[u8]| decode(stream).unwrap().psnr(&image);
        let (rows, whole) = (psnr(&rows.finish().unwrap()), psnr(&codec.encode(&image).unwrap()));
        assert!((rows - whole).abs() < 0.5, "{rows} and {whole} dB");
    }
}

#[test]
fn wrong_rows_are_refused() {
    let image = picture(100, 80, 1, 8, false);
    let rows = |codec: CodecBuilder| codec.build().unwrap().by_rows(image.format(), Vec::new());
    for codec in [named("cdf97").psnr(40.0), named("cdf97").bits_per_pixel(1.0), named("legall53").fitted(true)] {
        assert!(matches!(rows(codec), Err(CodecError::NotByRows { .. })));
    }
    let mut started = rows(named("legall53").tile(64, 64)).unwrap();
    assert!(matches!(started.push(&[0; 79]), Err(CodecError::Rows { found: 79, .. })));
    assert!(matches!(started.push(&[300; 80 * 64]), Err(CodecError::Sample { value: 300, .. })));
    let mut started = rows(named("legall53").tile(64, 64)).unwrap();
    assert!(started.push(&image.samples[80..]).is_ok());
    assert!(matches!(started.push(&image.samples[..160]), Err(CodecError::Rows { found: 160, .. })));
    assert!(matches!(started.finish(), Err(CodecError::Rows { found: 0, .. })));
}

/// Masks take a bit a sample at most, and pictures of one sample nearly nothing.
#[test]
fn gaps_take_no_room() {
    let mut mask = picture(512, 512, 1, 16, false);
    mask.samples.iter_mut().enumerate().for_each(|(i, s)| *s = 65535 * i32::from((i % 512).pow(2) + i / 512 > 90000));
    let codec = named("legall53").build().unwrap();
    let stream = codec.encode(&mask).unwrap();
    assert_eq!(decode(&stream).unwrap(), mask);
    assert!(stream.len() < 600, "{} bytes", stream.len());
    let mut constant = picture(2000, 1000, 3, 8, true);
    constant.samples.fill(-7);
    let stream = codec.encode(&constant).unwrap();
    assert!(stream.len() < 80, "{} bytes", stream.len());
    assert_eq!(decode(&stream).unwrap(), constant);
    let region = Region { y: 3, x: 5, height: 10, width: 12 };
    let part = Decoder::new(&stream).unwrap().region(region).unwrap().decode(1).unwrap();
    assert_eq!((part.image.height, part.image.width, part.complete), (6, 7, true));
    assert!(part.image.samples.iter().all(|&s| s == -7));
    // Too large for a stream without packets.
    let (height, width) = (4097, 4096);
    let large = Image { height, width, components: 1, bits: 8, signed: false, samples: vec![9; height * width] };
    assert_eq!(decode(&codec.encode(&large).unwrap()).unwrap(), large);
}
