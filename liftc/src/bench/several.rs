//! `bench --devices`: transforms and codec frames on several CUDA devices, compared with one.

use super::case::Rows;
use super::data::{random, same};
use super::stats::Spread;
use super::{Case, host, with_sample};
use crate::cli::BenchArgs;
use crate::failure::{Outcome, eprint_quietly, input};
use crate::output::print;
use lifting::cuda::CudaDevice;
use lifting::{Device, Plan, Sample, SlabArrays, catalogue};
use lifting_codec::{Codec, DeviceEncoder};
use std::time::Instant;

/// Transforms between two waits.
const CALLS: usize = 16;

/// Arrays in flight: the halos of one are exchanged while the other is transformed.
const ARRAYS: usize = 2;

/// Side of the codec's pictures, and frames between two waits.
const FRAME: usize = 4096;
const FRAMES: usize = 24;
/// Encoders of each device, each with a stream.
const ENCODERS: usize = 3;

/// Measures every case on one device and on `devices`, after a comparison of all bits.
pub fn run(args: &BenchArgs, devices: u16, cases: &[Case]) -> Outcome {
    // A machine with fewer devices still compares the bits: a device then holds several slabs.
    let count = CudaDevice::count().map_err(input)?.max(1);
    let device = |i: usize| Device::cuda(i % count).map_err(input);
    let all = (0..usize::from(devices)).map(device).collect::<Outcome<Vec<_>>>()?;
    let one = Device::several(&all[..1]).map_err(input)?;
    let several = Device::several(&all).map_err(input)?;
    let say = |text: String| {
        if !args.quiet {
            eprint_quietly(&format!("{text}\n"));
        }
    };
    let repeats = usize::from(args.repeats);
    let mut text = format!("{devices} slabs on {} devices, the first {}", count.min(all.len()), all[0]);
    text += &format!("; milliseconds, medians of {repeats}\n\n");
    text += &format!("{:<44}{:>9}{:>9}{:>9}{:>9}{:>9}\n", "", "one", "several", "times", "larger", "weak");
    for case in cases {
        let rows = with_sample!(case.sample, measure(case, [&one, &several], repeats)).map_err(|f| f.at(case))?;
        for (name, [one, several, larger, latency]) in ["forward", "inverse"].into_iter().zip(rows) {
            let (times, weak) = (one / several, one / larger);
            text += &format!(
                "{:<44}{one:>9.3}{several:>9.3}{times:>9.2}{larger:>9.3}{weak:>9.3}",
                format!("{case} {name}")
            );
            text += &format!("  alone {latency:.3}\n");
        }
        say(format!("{case}: measured"));
    }
    text += "\nlarger: as many times the rows as devices; weak: one / larger; alone: one transform and a wait\n\n";
    for (name, quality) in [("5/3, lossless", None), ("9/7, quality 64", Some(64.0))] {
        let [one, several] = [&all[..1], &all[..]].map(|devices| frames(devices, quality, repeats));
        let (one, several) = (one?, several?);
        let name = format!("codec, {FRAME} × {FRAME}, {name}: ms a frame");
        text += &format!("{name:<44}{one:>9.3}{several:>9.3}{:>9.2}\n", one / several);
    }
    if let Device::Cuda(device) = &all[0] {
        text += &format!("\n{:<60}{:>10}{:>10}\n", "from host memory, ms", "first", "usual");
        text += &host::rows(device, &all, repeats)?;
    }
    print(&text)
}

/// Milliseconds of analysis and synthesis: on one device, on several, a larger array on several, and with a wait after
/// each.
fn measure<T: Sample>(case: &Case, devices: [&Device; 2], repeats: usize) -> Outcome<[[f64; 4]; 2]> {
    let [one, several] = devices.map(|device| case.plan::<T>(device));
    let (one, several) = (one?, several?);
    let mut times = [[0.0; 4]; 2];
    let data = random::<T>(one.len(), Rows::GAPLESS);
    let (coefficients, back) = {
        let mut arrays = filled(&one, &data)?;
        let results = results(&one, &mut arrays[0])?;
        for (way, times) in times.iter_mut().enumerate() {
            times[0] = timed(&one, &mut arrays, way, repeats, CALLS)?;
        }
        results
    };
    {
        let mut arrays = filled(&several, &data)?;
        let (found, found_back) = results(&several, &mut arrays[0])?;
        same("analysis on several devices", &found, &coefficients)?;
        same("synthesis on several devices", &found_back, &back)?;
        for (way, times) in times.iter_mut().enumerate() {
            times[1] = timed(&several, &mut arrays, way, repeats, CALLS)?;
            times[3] = timed(&several, &mut arrays, way, repeats, 1)?;
        }
    }
    let mut shape = case.shape.clone();
    shape[0] *= several.slabs().map_err(input)?.devices().len();
    let larger = case.plan_of::<T>(&shape, devices[1])?;
    let slabs = larger.slabs().map_err(input)?;
    let mut arrays = (0..ARRAYS).map(|_| slabs.arrays().map_err(input)).collect::<Outcome<Vec<_>>>()?;
    for (way, times) in times.iter_mut().enumerate() {
        times[2] = timed(&larger, &mut arrays, way, repeats, CALLS)?;
    }
    Ok(times)
}

/// Arrays with the same data.
fn filled<T: Sample>(plan: &Plan<T>, data: &[T]) -> Outcome<Vec<SlabArrays<T>>> {
    let slabs = plan.slabs().map_err(input)?;
    let array = |_| {
        let mut arrays = slabs.arrays().map_err(input)?;
        slabs.upload(data, &mut arrays).map_err(input)?;
        Ok(arrays)
    };
    (0..ARRAYS).map(array).collect()
}

/// Coefficients of the data in the arrays, and their synthesis.
fn results<T: Sample>(plan: &Plan<T>, arrays: &mut SlabArrays<T>) -> Outcome<(Vec<T>, Vec<T>)> {
    let slabs = plan.slabs().map_err(input)?;
    let (mut coefficients, mut back) = (vec![T::default(); plan.coefficient_len()], vec![T::default(); plan.len()]);
    slabs.forward(arrays).map_err(input)?;
    slabs.download_coefficients(arrays, &mut coefficients[..]).map_err(input)?;
    slabs.inverse(arrays).map_err(input)?;
    slabs.download(arrays, &mut back[..]).map_err(input)?;
    Ok((coefficients, back))
}

/// Milliseconds of a transform, with a wait after each `calls`.
fn timed<T: Sample>(
    plan: &Plan<T>,
    arrays: &mut [SlabArrays<T>],
    way: usize,
    repeats: usize,
    calls: usize,
) -> Outcome<f64> {
    let slabs = plan.slabs().map_err(input)?;
    let mut times = Vec::new();
    for _ in 0..=repeats {
        let start = Instant::now();
        for call in 0..calls {
            let arrays = &mut arrays[call % ARRAYS];
            match way {
                0 => slabs.forward(arrays),
                _ => slabs.inverse(arrays),
            }
            .map_err(input)?;
        }
        for arrays in &*arrays {
            arrays.synchronize().map_err(input)?;
        }
        times.push(start.elapsed().as_secs_f64() * 1e3 / calls as f64);
    }
    // The first round warms up.
    Ok(Spread::of(times.split_off(1)).median)
}

/// Milliseconds of encoding a frame that is on its device; frames go to the devices in turn.
fn frames(devices: &[Device], quality: Option<f64>, repeats: usize) -> Outcome<f64> {
    let wavelet = catalogue::find(if quality.is_some() { "cdf97" } else { "legall53" }).map_err(input)?;
    let image = host::image(FRAME);
    let mut encoders: Vec<Vec<DeviceEncoder>> = Vec::new();
    let mut expected: Option<Vec<u8>> = None;
    for device in devices {
        let builder = Codec::builder(&wavelet).device(device.clone());
        let builder = if let Some(quality) = quality { builder.quality(quality) } else { builder.lossless() };
        let codec = builder.build().map_err(input)?;
        let mut own = Vec::new();
        for _ in 0..ENCODERS {
            let mut encoder = codec.on_device(image.format(), 1).map_err(input)?;
            if let Device::Cuda(device) = device {
                encoder.on_stream(&device.new_stream().map_err(input)?).map_err(input)?;
            }
            encoder.upload(0, &image).map_err(input)?;
            encoder.encode().map_err(input)?;
            let stream = encoder.streams().map_err(input)?.remove(0);
            if *expected.get_or_insert_with(|| stream.clone()) != stream {
                return Err(input("streams of two devices differ"));
            }
            own.push(encoder);
        }
        encoders.push(own);
    }
    let each = FRAMES / devices.len();
    let mut times = Vec::new();
    for _ in 0..=repeats {
        let start = Instant::now();
        // A thread for each device.
        std::thread::scope(|scope| {
            let run = |own: &mut Vec<DeviceEncoder>| -> Outcome {
                for frame in 0..each {
                    own[frame % ENCODERS].encode().map_err(input)?;
                }
                own.iter().try_for_each(|encoder| encoder.wait().map_err(input))
            };
            let threads: Vec<_> = encoders.iter_mut().map(|own| scope.spawn(move || run(own))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| input("a thread failed"))?)
        })?;
        times.push(start.elapsed().as_secs_f64() * 1e3 / (each * devices.len()) as f64);
    }
    Ok(Spread::of(times.split_off(1)).median)
}
