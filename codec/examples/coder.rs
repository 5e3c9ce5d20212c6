//! Measures the coder on a CUDA device, and compares its output with the processor's:
//!
//! ```sh
//! cargo run --release -p lifting-codec --example coder -- mosaic4096.raw 4096 16
//! ```
//!
//! The file has 8-bit grey samples, row by row, as many rows as columns.
//!
//! For 5/3 lossless and 9/7 at 40 dB, with two passes, three passes and fast planes, the program prints:
//! - bits per sample;
//! - milliseconds of the kernels that choose tables, encode, gather and decode (medians of rounds of launches, by
//!   device events);
//! - gigasamples per second of encoding and of decoding alone.
//!
//! Then it times whole streams on the device, from pictures to streams and back, for one picture and for a batch of the
//! size in the last argument; `waited` is the time seen by the processor. Last, it times the whole codec between host
//! memory and host memory, by wall clock. All words and bytes are compared, and lossless streams are decoded.

use lifting::cuda::cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use lifting::kernels::Kernels;
use lifting::{Device, Plan, Sample, catalogue};
use lifting_codec::block::kernel::{
    AS_IT_IS, FIELDS, MOST_PLANES, Status, Task, chooser, costs, decoder, encoder, gatherer, launch, probabilities,
};
use lifting_codec::block::{BlockShape, Order, Passes, SignAxis, encode, raw_words};
use lifting_codec::tables::Tables;
use lifting_codec::{Codec, CodecBuilder, CodecError, Decoder, Image, decode};
use lifting_codegen::ir::Scalar;
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;

/// Rounds of launches, and launches in each.
const ROUNDS: usize = 7;
const LAUNCHES: usize = 5;

/// Measured coding orders.
const ORDERS: [Order; 5] = [
    Order { passes: Passes::Two, fast: 0 },
    Order { passes: Passes::Three, fast: 0 },
    Order { passes: Passes::Two, fast: 2 },
    Order { passes: Passes::Two, fast: 4 },
    Order { passes: Passes::Two, fast: MOST_PLANES },
];

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, side, pictures @ ..] = &args[..] else {
        return Err("coder FILE SIDE [PICTURES]: 8-bit grey samples, side × side; PICTURES per batch".into());
    };
    let side: usize = side.parse()?;
    let pictures: usize = pictures.first().map_or(Ok(1), |n| n.parse())?;
    let samples: Vec<i32> = std::fs::read(file)?.into_iter().map(i32::from).collect();
    let image = Image { height: side, width: side, components: 1, bits: 8, signed: false, samples };
    let device = Device::cuda(0)?;
    println!("{file}: {side}²\n{device}");
    println!("coder      passes  bits    choose   code     gather   decode   code Gs/s  decode Gs/s");
    let lossy = at_decibels(Codec::builder(&catalogue::find("cdf97")?), &image, 40.0)?;
    let stream = lossy.clone().device(device.clone()).build()?.encode(&image)?;
    let header = Decoder::new(&stream)?.header().clone();
    for order in ORDERS {
        let integers = coefficients::<i32>(&device, "legall53", &image, |_, c| c)?;
        coder(&device, "5/3", order, side, &integers)?;
        // Index 1 starts slightly above half a step, as in the codec.
        let index = |band, c: f32| {
            let size = f64::from(c.abs()) / header.quantiser(0, band).step.value();
            let magnitude = if size < 0.75 { 0 } else { (size + 0.42) as i32 };
            if c < 0.0 { -magnitude } else { magnitude }
        };
        coder(&device, "9/7 lossy", order, side, &coefficients::<f32>(&device, "cdf97", &image, index)?)?;
    }
    let lossless = Codec::builder(&catalogue::find("legall53")?);
    println!("device to device       bits   pictures  encode ms  Gs/s   waited ms  Gs/s   decode ms  Gs/s");
    for count in if pictures > 1 { vec![1, pictures] } else { vec![1] } {
        for (what, codec) in [("5/3 lossless", &lossless), ("9/7 lossy", &lossy)] {
            for order in ORDERS {
                resident(&device, what, &image, count, order, codec)?;
            }
        }
    }
    whole(&device, "5/3 lossless", &image, lossless)?;
    whole(&device, "9/7 lossy", &image, lossy)?;
    Ok(())
}

/// Finds the quality that gives a PSNR, to a hundredth of a decibel.
fn at_decibels(codec: CodecBuilder, image: &Image, wanted: f64) -> Result<CodecBuilder, Failure> {
    let mut quality = 75.0;
    for _ in 0..12 {
        let lossy = codec.clone().quality(quality);
        let found = decode(&lossy.clone().build()?.encode(image)?)?.psnr(image);
        if (found - wanted).abs() < 0.01 {
            println!("9/7 at {found:.2} dB: quality {quality:.2}");
            return Ok(lossy);
        }
        // Half the step is worth 8 in quality, and about 5 dB.
        quality += (wanted - found) * 8.0 / 5.0;
    }
    Err(format!("no quality gives {wanted} dB").into())
}

/// Blocks of a picture's bands, with the indices of all coefficients.
struct Blocks {
    indices: Vec<i32>,
    places: Vec<(usize, usize, usize, SignAxis)>,
}

fn coefficients<T: Sample + From<i16>>(
    device: &Device,
    wavelet: &str,
    image: &Image,
    index: impl Fn(usize, T) -> i32,
) -> Result<Blocks, Failure> {
    let scheme = catalogue::find(wavelet)?;
    let plan = Plan::builder(&scheme).shape(&[image.height, image.width]).levels(5).sample::<T>().build(device)?;
    let mut samples: Vec<T> = image.samples.iter().map(|s| T::from((*s - 128) as i16)).collect();
    plan.forward_in_place(&mut samples[..])?;
    let (mut places, mut indices) = (Vec::new(), vec![0; samples.len()]);
    for (at, band) in plan.subbands().enumerate() {
        for row in (0..band.shape[0]).map(|y| band.start + y * image.width) {
            let row = row..row + band.shape[1];
            indices[row.clone()].iter_mut().zip(&samples[row]).for_each(|(to, c)| *to = index(at, *c));
        }
        let direction = if band.high[..] == [true, false] { SignAxis::Horizontal } else { SignAxis::Vertical };
        for y in (0..band.shape[0]).step_by(64) {
            for x in (0..band.shape[1]).step_by(64) {
                let (height, width) = (64.min(band.shape[0] - y), 64.min(band.shape[1] - x));
                places.push((band.start + y * image.width + x, height, width, direction));
            }
        }
    }
    Ok(Blocks { indices, places })
}

/// Milliseconds per launch on the device: the median of several rounds, after a warm-up round.
fn time<E: Into<Failure>>(device: &Device, mut work: impl FnMut() -> Result<(), E>) -> Result<f64, Failure> {
    let Device::Cuda(device) = device else { return Err("only a CUDA device can be timed".into()) };
    let stream = device.stream();
    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        let start = stream.record_event(Some(CU_EVENT_DEFAULT))?;
        for _ in 0..LAUNCHES {
            work().map_err(Into::into)?;
        }
        let end = stream.record_event(Some(CU_EVENT_DEFAULT))?;
        if round > 0 {
            rounds.push(f64::from(start.elapsed_ms(&end)?) / LAUNCHES as f64);
        }
    }
    Ok(median(rounds))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Passes, and fast planes if any.
fn order_text(Order { passes, fast }: Order) -> String {
    let passes = if passes == Passes::Two { 2 } else { 3 };
    if fast == 0 { passes.to_string() } else { format!("{passes}, {fast}") }
}

/// Times the block coder alone.
fn coder(device: &Device, what: &str, order: Order, side: usize, blocks: &Blocks) -> Result<(), Failure> {
    let tables = Tables::built_in();
    // SAFETY: tasks stay within the arrays below.
    let kernels = unsafe { Kernels::new(device, vec![chooser(order), encoder(order), gatherer(), decoder(order)]) }?;
    let shape = |&(_, height, width, direction): &_| BlockShape { height, width, direction, order };
    let room = raw_words(BlockShape { height: 64, width: 64, direction: SignAxis::Vertical, order }, MOST_PLANES);
    let count = blocks.places.len();
    let task = |(i, place): (usize, &(usize, usize, usize, SignAxis)), first, words, planes| {
        Task { start: place.0, shape: shape(place), first, words, planes }.fields().ok_or_else(|| format!("block {i}"))
    };
    let mut fields = Vec::new();
    for (i, place) in blocks.places.iter().enumerate() {
        fields.extend(task((i, place), i * room, room, 0)?);
    }
    let mut indices = kernels.upload(&blocks.indices)?;
    let mut tasks = kernels.upload(&fields)?;
    let mut costs = kernels.upload(&costs(tables))?;
    let mut table = kernels.upload(&probabilities(tables))?;
    let mut choices = kernels.zeroed(Scalar::I32, 2 * count)?;
    let mut words = kernels.zeroed(Scalar::I16, room * count)?;
    let mut results = kernels.zeroed(Scalar::I32, 2 * count)?;
    let numbers = [side, count];
    let choose = time(device, || launch(&kernels, 0, [&mut indices, &mut tasks, &mut costs, &mut choices], numbers))?;
    let code = time(device, || {
        let arrays = [&mut indices, &mut tasks, &mut choices, &mut table, &mut words, &mut results];
        launch(&kernels, 1, arrays, numbers)
    })?;
    let found: Vec<i32> = kernels.download(&results, 0..2 * count)?;
    let chosen: Vec<i32> = kernels.download(&choices, 0..2 * count)?;
    let (mut offsets, mut total, mut back) = (Vec::new(), 0, Vec::new());
    let mut back_choices = Vec::new();
    for (i, place) in blocks.places.iter().enumerate() {
        let (planes, coded) = (found[2 * i] as u32, found[2 * i + 1] as usize);
        let raw = raw_words(shape(place), planes);
        offsets.push(total as i32);
        if planes > 0 {
            // Decoders address bytes.
            back.extend(task((i, place), 2 * total, coded.min(raw), planes)?);
            let is_coded = coded < raw;
            back_choices.extend(if is_coded { [chosen[2 * i], chosen[2 * i + 1]] } else { [0, AS_IT_IS] });
            total += coded.min(raw);
        }
    }
    let mut offsets = kernels.upload(&offsets)?;
    let mut payload = kernels.zeroed(Scalar::I16, total)?;
    let gather = time(device, || {
        let arrays = [&mut indices, &mut tasks, &mut results, &mut offsets, &mut words, &mut payload];
        launch(&kernels, 2, arrays, numbers)
    })?;
    let words: Vec<i16> = kernels.download(&payload, 0..total)?;
    let mut bytes = kernels.upload(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())?;
    let mut decoded = kernels.zeroed(Scalar::I32, blocks.indices.len())?;
    let (mut tasks, mut choices) = (kernels.upload(&back)?, kernels.upload(&back_choices)?);
    let blocks_back = back.len() / FIELDS;
    let mut statuses = kernels.zeroed(Scalar::I32, blocks_back)?;
    let decode = time(device, || {
        let arrays = [&mut decoded, &mut tasks, &mut choices, &mut table, &mut bytes, &mut statuses];
        launch(&kernels, 3, arrays, [side, blocks_back])
    })?;
    let statuses: Vec<i32> = kernels.download(&statuses, 0..blocks_back)?;
    assert!(statuses.iter().all(|s| *s == Status::Decoded as i32), "all blocks are decoded");
    let decoded: Vec<i32> = kernels.download(&decoded, 0..blocks.indices.len())?;
    assert!(decoded == blocks.indices, "indices come back");
    compare(blocks, side, &shape, tables, &words);
    let samples = (side * side) as f64;
    println!(
        "{what:<10} {:>6}  {:<6.3}  {choose:<7.3}  {code:<7.3}  {gather:<7.3}  {decode:<7.3}  {:<9.1}  {:<9.1}",
        order_text(order),
        16.0 * total as f64 / samples,
        samples / code / 1e6,
        samples / decode / 1e6,
    );
    Ok(())
}

/// Compares all words with the processor's.
fn compare(
    blocks: &Blocks,
    side: usize,
    shape: &(impl Fn(&(usize, usize, usize, SignAxis)) -> BlockShape + Sync),
    tables: &Tables,
    payload: &[i16],
) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = blocks.places.len().div_ceil(threads);
    let coded = std::thread::scope(|scope| {
        let parts: Vec<_> = blocks.places.chunks(part).collect();
        let threads: Vec<_> = parts
            .into_iter()
            .map(|places| {
                scope.spawn(move || {
                    let block = |place: &(usize, usize, usize, SignAxis)| {
                        let rows = (0..place.1).flat_map(|y| &blocks.indices[place.0 + y * side..][..place.2]);
                        let encoded = encode(shape(place), &rows.copied().collect::<Vec<_>>(), tables);
                        assert!(encoded.planes <= MOST_PLANES);
                        encoded.words
                    };
                    places.iter().flat_map(block).collect::<Vec<u16>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|t| t.join().expect("a thread that compares")).collect::<Vec<u16>>()
    });
    assert!(coded.iter().map(|w| *w as i16).eq(payload.iter().copied()), "words are those of the processor");
}

/// Times a batch of pictures, from the device's memory to streams there.
fn resident(
    device: &Device,
    what: &str,
    image: &Image,
    count: usize,
    order: Order,
    codec: &CodecBuilder,
) -> Result<(), Failure> {
    let codec = codec.clone().passes(order.passes).fast(order.fast);
    let on_device = codec.clone().device(device.clone()).build()?;
    let mut encoder = on_device.on_device(image.format(), count)?;
    // Pictures differ: rows are rotated.
    let picture = |place: usize| {
        let mut image = image.clone();
        image.samples.rotate_left(place * 97 % image.height * image.width);
        image
    };
    for place in 0..count {
        encoder.upload(place, &picture(place))?;
    }
    let milliseconds = time(device, || encoder.encode())?;
    let mut waits = Vec::new();
    for _ in 0..ROUNDS * LAUNCHES {
        let start = Instant::now();
        encoder.encode()?;
        assert!(encoder.lengths()?.iter().all(|length| *length > 0), "all pictures are coded by the device");
        waits.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let wait = median(waits);
    let streams = encoder.streams()?;
    let on_processor = codec.build()?;
    for (place, stream) in streams.iter().enumerate().filter(|(place, _)| [0, count - 1].contains(place)) {
        let image = picture(place);
        assert!(*stream == on_processor.encode(&image)?, "bytes are those of the processor");
        let decoded = decode(stream)?;
        assert!(!Decoder::new(stream)?.header().is_lossless() || decoded == image, "pictures come back");
    }
    let longest = streams.iter().map(Vec::len).max().unwrap_or(0);
    let mut decoder = Decoder::new(&streams[0])?.on_device(device, count, longest)?;
    for (place, stream) in streams.iter().enumerate() {
        decoder.upload(place, stream)?;
    }
    let back = time(device, || decoder.decode())?;
    assert!(decoder.decoded()?.iter().all(|decoded| *decoded), "all pictures are decoded by the device");
    for (place, found) in
        decoder.pictures()?.into_iter().enumerate().filter(|(place, _)| [0, count - 1].contains(place))
    {
        assert!(found?.image == decode(&streams[place])?, "samples are those of the processor");
    }
    let samples = (count * image.samples.len()) as f64;
    let order = order_text(order);
    let bits = 8.0 * streams.iter().map(Vec::len).sum::<usize>() as f64 / samples;
    let speed = |milliseconds: f64| format!("{milliseconds:<10.3} {:<6.1}", samples / milliseconds / 1e6);
    let [milliseconds, wait, back] = [milliseconds, wait, back].map(speed);
    println!("{what:<12} {order:<7} {bits:<6.3} {count:<9} {milliseconds} {wait} {back}");
    Ok(())
}

/// Result of a piece of work, and its time in milliseconds.
fn wall<R>(work: impl FnOnce() -> Result<R, CodecError>) -> Result<(R, f64), CodecError> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed().as_secs_f64() * 1e3))
}

/// Times the whole codec, from host memory to host memory.
fn whole(device: &Device, what: &str, image: &Image, builder: CodecBuilder) -> Result<(), Failure> {
    let (on_cpu, on_device) = (builder.clone().build()?, builder.device(device.clone()).build()?);
    let (expected, cpu) = wall(|| on_cpu.encode(image))?;
    // The first run on a device is not representative.
    on_device.encode(image)?;
    let (stream, gpu) = wall(|| on_device.encode(image))?;
    assert!(stream == expected, "bytes are those of the processor");
    let decoder = Decoder::new(&stream)?;
    let (one, cpu_back) = wall(|| decoder.decode(0))?;
    let decoder = decoder.on(device)?;
    decoder.decode(0)?;
    let (other, gpu_back) = wall(|| decoder.decode(0))?;
    assert!(one == other, "samples are those of the processor");
    println!(
        "whole, {what}: {:.3} bits, {:.2} dB; encode {gpu:.0} ms (processor {cpu:.0}), decode {gpu_back:.0} ms \
         (processor {cpu_back:.0})",
        8.0 * stream.len() as f64 / image.samples.len() as f64,
        other.image.psnr(image),
    );
    Ok(())
}
