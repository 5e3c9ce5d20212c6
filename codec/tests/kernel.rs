//! Block kernels in the interpreter against the reference: words, coefficients, and results for corrupted words.

use crate::codec::picture;
use crate::streams::checksum;
use lifting::{Device, catalogue};
use lifting_codec::block::kernel::{
    FIELDS, MOST_PLANES, Status, Task, chooser, costs, decoder, encoder, probabilities,
};
use lifting_codec::block::{
    BlockShape, Choice, Counts, Order, Passes, SignAxis, decode_sequentially, encode_sequentially,
};
use lifting_codec::tables::Tables;
use lifting_codec::{Codec, CodecBuilder, Decoder, Image};
use lifting_codegen::ir::interp::{Arg, Buffer, Options, Program};
use lifting_codegen::ir::valid::validate;
use lifting_codegen::ir::{Kernel, Scalar};

/// Pseudo-random numbers.
struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1664525).wrapping_add(1013904223);
        self.0 >> 8
    }

    /// Coefficient, mostly small, of up to `scale` bits.
    fn coefficient(&mut self, scale: u32) -> i32 {
        let magnitude = (self.next() % (1 << scale)) >> (self.next() % (scale + 1));
        let sign = if self.next() & 1 == 1 { -1 } else { 1 };
        sign * magnitude as i32
    }
}

/// Block with its table and sharing.
struct Sample {
    shape: BlockShape,
    coefficients: Vec<i32>,
    class: u8,
    sharing: u8,
}

/// Distance between rows of coefficients.
const STRIDE: usize = 150;
/// Distance between blocks of coefficients.
const APART: usize = 64 * STRIDE + 1;
/// Distance between the words of blocks.
const ROOM: usize = 5000;

/// Two and three passes, with some fast planes, and with more than the block's planes.
const ORDERS: [Order; 5] = [
    Order { passes: Passes::Two, fast: 0 },
    Order { passes: Passes::Three, fast: 0 },
    Order { passes: Passes::Two, fast: 3 },
    Order { passes: Passes::Three, fast: 1 },
    Order { passes: Passes::Three, fast: 32 },
];

fn samples(order: Order) -> Vec<Sample> {
    let mut random = Random(7);
    let mut sizes = vec![(5, 7, 3, 0), (4, 64, 6, 2), (16, 16, 9, 0), (33, 17, 4, 5), (64, 2, 8, 0), (1, 1, 2, 0)];
    sizes.extend([(9, 33, 15, 1), (64, 64, 5, 0), (8, 12, 0, 0), (6, 6, 16, 0), (3, 20, 1, 4)]);
    if std::env::var_os("LIFTING_FULL").is_some_and(|v| v == "1") {
        for i in 0..60 {
            let side = |random: &mut Random| 1 + random.next() as usize % 64;
            sizes.push((side(&mut random), side(&mut random), i % 17, random.next() as u8 % 6));
        }
    }
    let sample = |(i, (height, width, scale, sharing))| {
        let direction = if i % 2 == 0 { SignAxis::Vertical } else { SignAxis::Horizontal };
        let shape = BlockShape { height, width, direction, order };
        let coefficients = (0..height * width).map(|_| random.coefficient(scale)).collect();
        Sample { shape, coefficients, class: (i % 32) as u8, sharing }
    };
    sizes.into_iter().enumerate().map(sample).collect()
}

impl Sample {
    fn task(&self, at: usize, words: usize, planes: u32) -> Task {
        Task { start: at * APART, shape: self.shape, first: at * ROOM, words, planes }
    }
}

fn tasks(tasks: impl Iterator<Item = Task>) -> Vec<i32> {
    tasks.flat_map(|task| task.fields().unwrap()).collect()
}

/// Runs a kernel on arrays, the stride and the number of blocks; returns the arguments after the run.
fn run(kernel: &Kernel, arrays: Vec<Buffer>, count: usize) -> Vec<Arg> {
    let info = validate(kernel).unwrap_or_else(|e| panic!("{}", e[0]));
    let mut args: Vec<Arg> = arrays.into_iter().map(Arg::from).collect();
    args.extend([STRIDE, count].map(|n| Arg::Scalar(n as i64)));
    Program::new(kernel, &info).run(&mut args, Options::default()).unwrap_or_else(|e| panic!("{e}"));
    args
}

/// Tables and sharings of blocks.
fn choices(samples: &[Sample]) -> Buffer {
    let all: Vec<i32> = samples.iter().flat_map(|s| [s.class.into(), s.sharing.into()]).collect();
    Buffer::new(&all)
}

fn numbers<T: lifting_codegen::ir::interp::Element>(arg: &Arg) -> Vec<T> {
    arg.buffer().unwrap().to_vec().unwrap()
}

/// Coefficients of all blocks, laid out for kernels.
fn coefficients(samples: &[Sample]) -> Buffer {
    let mut coefficients = vec![-77; samples.len() * APART];
    for (at, sample) in samples.iter().enumerate() {
        for (y, row) in sample.coefficients.chunks(sample.shape.width).enumerate() {
            coefficients[at * APART + y * STRIDE..][..row.len()].copy_from_slice(row);
        }
    }
    Buffer::new(&coefficients)
}

/// Words of all blocks, and the encoder's results: planes and number of words.
fn encoded(samples: &[Sample], most: usize) -> (Vec<u16>, Vec<i32>) {
    let blocks = tasks(samples.iter().enumerate().map(|(at, sample)| sample.task(at, most, 0)));
    let arrays = vec![
        coefficients(samples),
        Buffer::new(&blocks),
        choices(samples),
        Buffer::new(&probabilities(Tables::built_in())),
        Buffer::new(&vec![0x5555i16; samples.len() * ROOM]),
        Buffer::undefined(Scalar::I32, 2 * samples.len()),
    ];
    let args = run(&encoder(samples[0].shape.order), arrays, blocks.len() / FIELDS);
    (numbers::<i16>(&args[4]).into_iter().map(|w| w as u16).collect(), numbers(&args[5]))
}

/// Coefficients of all blocks, and the decoder's results.
fn decoded(samples: &[Sample], words: &[u16], counts: &[(usize, u32)]) -> (Vec<Vec<i32>>, Vec<i32>) {
    let blocks = samples.iter().enumerate().zip(counts);
    let task = |((at, sample), &(words, planes)): ((usize, &Sample), &(usize, u32))| {
        let task = sample.task(at, words, planes);
        Task { first: 2 * task.first, ..task }
    };
    let blocks = tasks(blocks.map(task));
    let words: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let arrays = vec![
        Buffer::new(&vec![-77; samples.len() * APART]),
        Buffer::new(&blocks),
        choices(samples),
        Buffer::new(&probabilities(Tables::built_in())),
        Buffer::new(&words),
        Buffer::undefined(Scalar::I32, samples.len()),
    ];
    let args = run(&decoder(samples[0].shape.order), arrays, blocks.len() / FIELDS);
    let all: Vec<i32> = numbers(&args[0]);
    let block = |(at, sample): (usize, &Sample)| -> Vec<i32> {
        (0..sample.shape.height).flat_map(|y| all[at * APART + y * STRIDE..][..sample.shape.width].to_vec()).collect()
    };
    (samples.iter().enumerate().map(block).collect(), numbers(&args[5]))
}

/// The kernel's choices equal the reference's, with many tables and with few.
#[test]
fn choices_match_the_reference() {
    let few = Tables::built_in().to_bytes();
    let few = Tables::from_bytes(&few[..3 * lifting_codec::tables::TABLE_BYTES]).unwrap();
    let mut shared = 0;
    for (i, order) in ORDERS.into_iter().enumerate() {
        let (samples, tables) = (samples(order), if i % 2 == 0 { Tables::built_in() } else { &few });
        let blocks = tasks(samples.iter().enumerate().map(|(at, sample)| sample.task(at, ROOM, 0)));
        let choices = Buffer::undefined(Scalar::I32, 2 * samples.len());
        let arrays = vec![coefficients(&samples), Buffer::new(&blocks), Buffer::new(&costs(tables)), choices];
        let args = run(&chooser(order), arrays, samples.len());
        let found: Vec<i32> = numbers(&args[3]);
        for (sample, found) in samples.iter().zip(found.chunks(2)) {
            let counts = Counts::of(sample.shape, &sample.coefficients);
            if counts.is_empty() {
                assert_eq!(found, [0, 0]);
                continue;
            }
            let Choice { class, sharing, .. } = Choice::of(sample.shape, &counts, tables);
            assert_eq!(found, [i32::from(class), i32::from(sharing)], "{:?}", sample.shape);
            shared += i32::from(sharing > 0);
        }
    }
    assert!(shared > 6, "{shared}");
}

#[test]
fn kernels_match_the_reference() {
    let tables = Tables::built_in();
    for order in ORDERS {
        let samples = samples(order);
        let (words, results) = encoded(&samples, ROOM);
        let mut counts = Vec::new();
        for (at, sample) in samples.iter().enumerate() {
            let table = &tables[sample.class];
            let expected = encode_sequentially(sample.shape, &sample.coefficients, sample.class, sample.sharing, table);
            let found = (results[2 * at] as u32, results[2 * at + 1] as usize);
            assert_eq!(found, (expected.planes, expected.words.len()), "{:?}", sample.shape);
            assert!(words[at * ROOM..][..found.1] == expected.words, "{:?}", sample.shape);
            assert_eq!(words[at * ROOM + found.1], 0x5555, "no write after the words");
            counts.push((found.1, found.0));
        }
        let (coefficients, statuses) = decoded(&samples, &words, &counts);
        for (at, sample) in samples.iter().enumerate() {
            assert_eq!(statuses[at], Status::Decoded as i32, "{:?}", sample.shape);
            assert!(coefficients[at] == sample.coefficients, "{:?}", sample.shape);
        }
    }
}

/// A block that exceeds its room writes no words after it, and its number of words is right.
#[test]
fn output_stays_within_its_room() {
    let samples = samples(Passes::Two.into());
    let (whole, lengths) = encoded(&samples, ROOM);
    let (words, results) = encoded(&samples, 20);
    assert_eq!(results, lengths);
    for at in 0..samples.len() {
        let there = (lengths[2 * at + 1] as usize).min(20);
        assert_eq!(words[at * ROOM..][..there], whole[at * ROOM..][..there]);
        assert!(words[at * ROOM + 20..][..ROOM - 20].iter().all(|w| *w == 0x5555));
    }
}

/// Changed, excess and missing words have the reference's results and never cause a fault.
#[test]
fn broken_words_match_the_reference() {
    let tables = Tables::built_in();
    let mut random = Random(99);
    for order in ORDERS {
        let samples: Vec<Sample> =
            samples(order).into_iter().filter(|s| s.coefficients.iter().any(|c| *c != 0)).collect();
        let (words, results) = encoded(&samples, ROOM);
        let mut broken = 0;
        for round in 0..4 {
            let mut words = words.clone();
            let mut counts = Vec::new();
            for at in 0..samples.len() {
                let (mut count, mut planes) = (results[2 * at + 1] as usize, results[2 * at] as u32);
                match round {
                    0 => count += 1,
                    1 => count -= 1,
                    2 => planes = 1 + random.next() % MOST_PLANES,
                    _ => words[at * ROOM + random.next() as usize % count] ^= 1 << (random.next() % 16),
                }
                counts.push((count, planes));
            }
            let (coefficients, statuses) = decoded(&samples, &words, &counts);
            for (at, sample) in samples.iter().enumerate() {
                let (count, planes) = counts[at];
                let (table, words) = (&tables[sample.class], &words[at * ROOM..][..count]);
                match decode_sequentially(sample.shape, planes, sample.sharing, words, true, table) {
                    Ok(expected) => {
                        assert_eq!(statuses[at], Status::Decoded as i32, "{:?} in round {round}", sample.shape);
                        assert!(coefficients[at].iter().copied().eq(expected.coefficients()));
                    }
                    Err(_) => {
                        assert_eq!(statuses[at], Status::Broken as i32, "{:?} in round {round}", sample.shape);
                        broken += 1;
                    }
                }
            }
        }
        assert!(broken > samples.len(), "{broken}");
    }
}

/// Blocks of more planes are left to the processor.
#[test]
fn large_coefficients_are_left_to_the_processor() {
    let shape = BlockShape { height: 3, width: 5, direction: SignAxis::Vertical, order: Passes::Two.into() };
    let sample = |largest| Sample { shape, coefficients: [0, 5, largest, -1, 0].repeat(3), class: 0, sharing: 0 };
    let samples = [sample(1 << MOST_PLANES), sample(i32::MIN), sample((1 << MOST_PLANES) - 1)];
    let (_, results) = encoded(&samples, ROOM);
    assert_eq!([results[0], results[1], results[2], results[3]], [17, 0, 32, 0]);
    assert_eq!(results[4], 16);
    let (_, statuses) = decoded(&samples, &vec![0; 3 * ROOM], &[(3, 17), (3, 32), (0, 0)]);
    assert_eq!(statuses, [Status::Left as i32, Status::Left as i32, Status::Decoded as i32]);
}

/// The whole codec on a device gives the processor's bytes and samples.
fn is_the_same_on(device: &Device, codec: &CodecBuilder, image: &Image) {
    // Deflated packets are decoded by the processor.
    let deflated = codec.clone().build().unwrap().encode(image).unwrap();
    let decoder = Decoder::new(&deflated).unwrap();
    assert_eq!(decoder.clone().on(device).unwrap().decode(0).unwrap(), decoder.decode(0).unwrap());
    let codec = codec.clone().deflated(false);
    let stream = codec.clone().build().unwrap().encode(image).unwrap();
    let on_device = codec.clone().device(device.clone()).build().unwrap().encode(image).unwrap();
    assert!(on_device == stream, "{} and {} bytes", on_device.len(), stream.len());
    let decoder = Decoder::new(&stream).unwrap();
    for level in [0, 1] {
        let expected = decoder.decode(level).unwrap();
        assert_eq!(decoder.clone().on(device).unwrap().decode(level).unwrap(), expected);
    }
    // With half of the stream, the last packet is decoded by the processor.
    let half = &stream[..(decoder.header_length() + stream.len()) / 2];
    let half = Decoder::new(half).unwrap();
    assert_eq!(half.clone().on(device).unwrap().decode(0).unwrap(), half.decode(0).unwrap());
}

#[test]
fn pictures_are_the_same_by_kernels() {
    let wavelet = |name: &str| Codec::builder(&catalogue::find(name).unwrap()).levels(2).block(32, 32);
    let mut noise = picture(40, 36, 1, 8, false);
    let mut random = Random(3);
    noise.samples.iter_mut().for_each(|s| *s = (random.next() % 256) as i32);
    let device = Device::Interpreter;
    is_the_same_on(&device, &wavelet("legall53"), &picture(45, 70, 3, 8, false));
    is_the_same_on(&device, &wavelet("legall53").passes(Passes::Three).fast(2), &noise);
    is_the_same_on(&device, &wavelet("cdf97").quality(60.0), &picture(50, 40, 1, 12, true));
    // Targets that need trials.
    is_the_same_on(&device, &wavelet("cdf97").psnr(35.0), &picture(40, 33, 1, 8, false));
    is_the_same_on(&device, &wavelet("cdf97").bits_per_pixel(1.5), &picture(40, 33, 3, 8, false));
    // Tables fitted on the processor, with blocks coded by kernels.
    is_the_same_on(&device, &wavelet("legall53").fitted(true), &picture(33, 40, 1, 8, false));
    // More planes than kernels support.
    let mut wild = picture(16, 16, 1, 16, false);
    wild.samples.iter_mut().enumerate().for_each(|(i, s)| *s = if (i / 16 + i) % 2 == 0 { 0 } else { 65535 });
    is_the_same_on(&device, &wavelet("legall53").block(8, 8), &wild);
}

/// First CUDA device, if any; LIFTING_REQUIRE_GPU=1 requires one.
pub fn cuda(test: &str) -> Option<Device> {
    match Device::cuda(0) {
        Ok(device) => Some(device),
        Err(why) => {
            assert!(std::env::var("LIFTING_REQUIRE_GPU").as_deref() != Ok("1"), "{why}");
            eprintln!("{test}: skipped: {why}");
            None
        }
    }
}

#[test]
fn pictures_are_the_same_on_cuda() {
    let Some(device) = cuda("pictures_are_the_same_on_cuda") else { return };
    for passes in [Passes::Two, Passes::Three] {
        let wavelet = |name: &str| Codec::builder(&catalogue::find(name).unwrap()).passes(passes);
        is_the_same_on(&device, &wavelet("legall53"), &picture(500, 701, 3, 8, false));
        is_the_same_on(&device, &wavelet("legall53").levels(3), &picture(333, 257, 1, 16, false));
        is_the_same_on(&device, &wavelet("cdf97").psnr(40.0), &picture(512, 640, 1, 8, false));
        is_the_same_on(&device, &wavelet("cdf97").quality(20.0).block(16, 32), &picture(300, 400, 3, 8, false));
    }
}

#[test]
fn broken_streams_are_detected_on_cuda() {
    if let Some(device) = cuda("broken_streams_are_detected_on_cuda") {
        broken_streams_are_the_same_on(&device, [200, 300], 60);
    }
}

/// Streams with changed words in the last packet, and a right checksum.
fn broken(stream: &[u8], random: &mut Random) -> Vec<u8> {
    let decoder = Decoder::new(stream).unwrap();
    let (head, levels) = (decoder.header_length(), decoder.header().levels);
    let end = stream.len() - 4;
    let seed = xxhash_rust::xxh3::xxh3_64(&stream[..head - 4]).wrapping_add(levels.into());
    let sum = |bytes: &[u8]| checksum(bytes, seed).to_le_bytes();
    let payload = (head..end).find(|from| sum(&stream[*from..end]) == stream[end..]).unwrap();
    let mut broken = stream.to_vec();
    for _ in 0..1 + random.next() % 3 {
        broken[payload + random.next() as usize % (end - payload)] ^= 1 << (random.next() % 8);
    }
    let sum = sum(&broken[payload..end]);
    broken[end..].copy_from_slice(&sum);
    broken
}

/// Corrupted streams have the processor's result: an error, or another picture.
fn broken_streams_are_the_same_on(device: &Device, size: [usize; 2], count: usize) {
    let mut random = Random(5);
    let image = picture(size[0], size[1], 1, 8, false);
    for passes in [Passes::Two, Passes::Three] {
        let codec = Codec::builder(&catalogue::find("legall53").unwrap()).levels(1).passes(passes);
        let stream = codec.build().unwrap().encode(&image).unwrap();
        let mut errors = 0;
        for _ in 0..count {
            let broken = broken(&stream, &mut random);
            let decoder = Decoder::new(&broken).unwrap();
            let expected = decoder.decode(0);
            errors += usize::from(expected.is_err());
            assert_eq!(decoder.on(device).unwrap().decode(0), expected);
        }
        assert!(errors > 0);
    }
}

#[test]
fn broken_streams_are_detected_by_kernels() {
    broken_streams_are_the_same_on(&Device::Interpreter, [40, 50], 4);
}
