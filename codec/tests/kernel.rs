//! The coder's kernels, run by the interpreter, against the definition: the same words, the same coefficients, and the
//! same of words that are broken.

use lifting_codec::block::kernel::{FIELDS, MOST_PLANES, Status, Task, decoder, encoder, probabilities};
use lifting_codec::block::{Direction, Mode, Passes, Shape, decode_sequentially, encode_sequentially};
use lifting_codec::tables::Tables;
use lifting_codegen::ir::interp::{Arg, Buffer, Options, Program};
use lifting_codegen::ir::valid::validate;
use lifting_codegen::ir::{Kernel, Scalar};

/// A sequence of numbers that look random.
struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1664525).wrapping_add(1013904223);
        self.0 >> 8
    }

    /// A coefficient: most of them small, as `scale` bits have it.
    fn coefficient(&mut self, scale: u32) -> i32 {
        let magnitude = (self.next() % (1 << scale)) >> (self.next() % (scale + 1));
        let sign = if self.next() & 1 == 1 { -1 } else { 1 };
        sign * magnitude as i32
    }
}

/// A block to be coded, with the table and sharing that it is coded by.
struct Sample {
    shape: Shape,
    coefficients: Vec<i32>,
    class: u8,
    sharing: u8,
}

/// From one row of coefficients to the next.
const STRIDE: usize = 150;
/// From one block's coefficients to the next block's.
const APART: usize = 64 * STRIDE + 1;
/// From one block's words to the next block's.
const ROOM: usize = 5000;

fn samples(passes: Passes) -> Vec<Sample> {
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
        let direction = if i % 2 == 0 { Direction::Vertical } else { Direction::Horizontal };
        let shape = Shape { height, width, direction, passes };
        let coefficients = (0..height * width).map(|_| random.coefficient(scale)).collect();
        Sample { shape, coefficients, class: (i % 32) as u8, sharing }
    };
    sizes.into_iter().enumerate().map(sample).collect()
}

impl Sample {
    fn task(&self, at: usize, words: usize, planes: u32) -> Task {
        let Sample { shape, class, sharing, .. } = *self;
        Task { start: at * APART, shape, class, sharing, first: at * ROOM, words, planes }
    }
}

fn tasks(tasks: impl Iterator<Item = Task>) -> Vec<i32> {
    tasks.flat_map(|task| task.fields().unwrap()).collect()
}

/// Runs a kernel; gives the arguments as they are then.
fn run(kernel: &Kernel, coefficients: Buffer, blocks: &[i32], words: Buffer, results: usize) -> Vec<Arg> {
    let info = validate(kernel).unwrap_or_else(|e| panic!("{}", e[0]));
    let mut args = vec![
        coefficients.into(),
        Buffer::new(blocks).into(),
        Buffer::new(&probabilities(Tables::built_in())).into(),
        words.into(),
        Buffer::undefined(Scalar::I32, results).into(),
        Arg::Scalar(STRIDE as i64),
        Arg::Scalar((blocks.len() / FIELDS) as i64),
    ];
    Program::new(kernel, &info).run(&mut args, Options::default()).unwrap_or_else(|e| panic!("{e}"));
    args
}

fn numbers<T: lifting_codegen::ir::interp::Element>(arg: &Arg) -> Vec<T> {
    arg.buffer().unwrap().to_vec().unwrap()
}

/// Words of all blocks, and what the encoder says of them: planes and number of words.
fn encoded(samples: &[Sample], most: usize) -> (Vec<u16>, Vec<i32>) {
    let mut coefficients = vec![-77; samples.len() * APART];
    for (at, sample) in samples.iter().enumerate() {
        for (y, row) in sample.coefficients.chunks(sample.shape.width).enumerate() {
            coefficients[at * APART + y * STRIDE..][..row.len()].copy_from_slice(row);
        }
    }
    let blocks = tasks(samples.iter().enumerate().map(|(at, sample)| sample.task(at, most, 0)));
    let words = Buffer::new(&vec![0x5555i16; samples.len() * ROOM]);
    let kernel = encoder(samples[0].shape.passes);
    let args = run(&kernel, Buffer::new(&coefficients), &blocks, words, 2 * samples.len());
    (numbers::<i16>(&args[3]).into_iter().map(|w| w as u16).collect(), numbers(&args[4]))
}

/// Coefficients of all blocks, and what the decoder says of them.
fn decoded(samples: &[Sample], words: &[u16], counts: &[(usize, u32)]) -> (Vec<Vec<i32>>, Vec<i32>) {
    let blocks = samples.iter().enumerate().zip(counts);
    let blocks = tasks(blocks.map(|((at, sample), &(words, planes))| sample.task(at, words, planes)));
    let words: Vec<i16> = words.iter().map(|w| *w as i16).collect();
    let coefficients = Buffer::new(&vec![-77; samples.len() * APART]);
    let kernel = decoder(samples[0].shape.passes);
    let args = run(&kernel, coefficients, &blocks, Buffer::new(&words), samples.len());
    let all: Vec<i32> = numbers(&args[0]);
    let block = |(at, sample): (usize, &Sample)| -> Vec<i32> {
        (0..sample.shape.height).flat_map(|y| all[at * APART + y * STRIDE..][..sample.shape.width].to_vec()).collect()
    };
    (samples.iter().enumerate().map(block).collect(), numbers(&args[4]))
}

#[test]
fn kernels_are_the_definition() {
    let tables = Tables::built_in();
    for passes in [Passes::Two, Passes::Three] {
        let samples = samples(passes);
        let (words, results) = encoded(&samples, ROOM);
        let mut counts = Vec::new();
        for (at, sample) in samples.iter().enumerate() {
            let table = &tables[sample.class];
            let expected = encode_sequentially(sample.shape, &sample.coefficients, sample.class, sample.sharing, table);
            let found = (results[2 * at] as u32, results[2 * at + 1] as usize);
            assert_eq!(found, (expected.planes, expected.words.len()), "{:?}", sample.shape);
            assert!(words[at * ROOM..][..found.1] == expected.words, "{:?}", sample.shape);
            assert_eq!(words[at * ROOM + found.1], 0x5555, "nothing stands behind the words");
            counts.push((found.1, found.0));
        }
        let (coefficients, statuses) = decoded(&samples, &words, &counts);
        for (at, sample) in samples.iter().enumerate() {
            if counts[at].1 == 0 {
                assert_eq!(statuses[at], Status::Left as i32);
                continue;
            }
            assert_eq!(statuses[at], Status::Decoded as i32, "{:?}", sample.shape);
            assert!(coefficients[at] == sample.coefficients, "{:?}", sample.shape);
        }
    }
}

/// Of a block that does not fit, no word stands behind the room that there is, and the number of its words is right.
#[test]
fn room_is_kept() {
    let samples = samples(Passes::Two);
    let (whole, lengths) = encoded(&samples, ROOM);
    let (words, results) = encoded(&samples, 20);
    assert_eq!(results, lengths);
    for at in 0..samples.len() {
        let there = (lengths[2 * at + 1] as usize).min(20);
        assert_eq!(words[at * ROOM..][..there], whole[at * ROOM..][..there]);
        assert!(words[at * ROOM + 20..][..ROOM - 20].iter().all(|w| *w == 0x5555));
    }
}

/// Words that are changed, too many or too few: what the definition makes of them, and never a fault.
#[test]
fn broken_words_are_what_the_definition_says() {
    let tables = Tables::built_in();
    let mut random = Random(99);
    for passes in [Passes::Two, Passes::Three] {
        let samples: Vec<Sample> =
            samples(passes).into_iter().filter(|s| s.coefficients.iter().any(|c| *c != 0)).collect();
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
                match decode_sequentially(sample.shape, planes, sample.sharing, words, table) {
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
fn large_coefficients_are_left() {
    let shape = Shape { height: 3, width: 5, direction: Direction::Vertical, passes: Passes::Two };
    let sample = |largest| Sample { shape, coefficients: vec![0, 5, largest, -1, 0].repeat(3), class: 0, sharing: 0 };
    let samples = [sample(1 << MOST_PLANES), sample(i32::MIN), sample((1 << MOST_PLANES) - 1)];
    let (_, results) = encoded(&samples, ROOM);
    assert_eq!([results[0], results[1], results[2], results[3]], [17, 0, 32, 0]);
    assert_eq!(results[4], 16);
    let (_, statuses) = decoded(&samples, &vec![0; 3 * ROOM], &[(3, 17), (3, 32), (0, 0)]);
    assert_eq!(statuses, [Status::Left as i32; 3]);
    assert_eq!(Task::coded(Mode::Raw), None);
}
