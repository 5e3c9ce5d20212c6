//! Rows of `bench --devices` for data that begins in host memory.

use super::case::Rows;
use super::data::{random, same};
use super::stats::Spread;
use crate::failure::{Outcome, input};
use lifting::cuda::CudaDevice;
use lifting::cuda::cudarc::driver::{DriverError, PinnedHostSlice};
use lifting::{Device, Plan, catalogue};
use lifting_codec::{Codec, Decoder, Format, Image};
use std::time::Instant;

/// Side of the pictures, and their number.
const SIDE: usize = 4096;
const PICTURES: usize = 16;

fn driver(e: DriverError) -> crate::failure::Failure {
    input(format!("pinned memory: {e}"))
}

/// Milliseconds of a call, the median after a first one.
fn timed(repeats: usize, mut call: impl FnMut() -> Outcome) -> Outcome<[f64; 2]> {
    let mut times = Vec::new();
    for _ in 0..=repeats {
        let start = Instant::now();
        call()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok([times[0], Spread::of(times.split_off(1)).median])
}

/// Rows for one device: copies and transforms of pictures, and the codec.
pub fn rows(device: &CudaDevice, devices: &[Device], repeats: usize) -> Outcome<String> {
    let mut text = String::new();
    let mut row = |name: &str, [first, usual]: [f64; 2]| text += &format!("{name:<60}{first:>10.2}{usual:>10.2}\n");
    pictures(device, repeats, &mut row)?;
    codec(&devices[0], devices, repeats, &mut row)?;
    Ok(text)
}

/// Pinned memory with these samples.
fn pinned(device: &CudaDevice, samples: usize) -> Outcome<PinnedHostSlice<f32>> {
    // SAFETY: it is filled before anything reads it.
    let mut memory = unsafe { device.context().alloc_pinned_with_flags::<f32>(samples, 0) }.map_err(driver)?;
    memory.as_mut_slice().map_err(driver)?.fill(0.0);
    Ok(memory)
}

fn pictures(device: &CudaDevice, repeats: usize, row: &mut impl FnMut(&str, [f64; 2])) -> Outcome {
    let all = PICTURES * SIDE * SIDE;
    let data = random::<f32>(all, Rows::GAPLESS);
    let (mut from, mut to) = (pinned(device, all)?, pinned(device, all)?);
    from.as_mut_slice().map_err(driver)?.copy_from_slice(&data);
    let stream = device.new_stream().map_err(input)?;
    let failed = |e| input(format!("a copy: {e}"));
    {
        // Both directions at once, on two streams.
        let other = device.new_stream().map_err(input)?;
        let mut there = stream.alloc_zeros::<f32>(all).map_err(failed)?;
        let back = other.alloc_zeros::<f32>(all).map_err(failed)?;
        let times = timed(repeats, || {
            stream.memcpy_htod(&from, &mut there).map_err(failed)?;
            other.memcpy_dtoh(&back, &mut to).map_err(failed)?;
            stream.synchronize().map_err(failed)?;
            other.synchronize().map_err(failed)
        })?;
        row(&format!("copies of {PICTURES} × {SIDE}² f32 up and down, pinned"), times);
    }
    let wavelet = catalogue::find("cdf97").map_err(input)?;
    let builder = Plan::builder(&wavelet).shape(&[PICTURES, SIDE, SIDE]).levels_per_axis(&[0, 3, 3]).sample::<f32>();
    let plan = builder.build(&Device::Cuda(device.clone())).map_err(input)?;
    let mut pageable = vec![0.0f32; all];
    let times = timed(repeats, || plan.forward(&data, &mut pageable).map_err(input))?;
    row(&format!("9/7 L3 of {PICTURES} × {SIDE}² f32, pageable"), times);
    let (source, target) = (from.as_slice().map_err(driver)?, to.as_mut_slice().map_err(driver)?);
    let times = timed(repeats, || plan.forward(source, target).map_err(input))?;
    row(&format!("9/7 L3 of {PICTURES} × {SIDE}² f32, pinned"), times);
    same("a transform of pinned memory", target, &pageable)?;
    let one = Plan::builder(&wavelet).shape(&[SIDE, SIDE]).levels(3).sample::<f32>();
    let one = one.build(&Device::Cuda(device.clone())).map_err(input)?;
    let picture = SIDE * SIDE;
    let times = timed(repeats, || one.forward(&data[..picture], &mut pageable[..picture]).map_err(input))?;
    row(&format!("9/7 L3 of {SIDE}² f32, pageable"), times);
    let times = timed(repeats, || one.forward(&source[..picture], &mut target[..picture]).map_err(input))?;
    row(&format!("9/7 L3 of {SIDE}² f32, pinned"), times);
    same("a transform of pinned memory", &target[..picture], &pageable[..picture])
}

/// Smooth samples with some noise.
pub fn image(side: usize) -> Image {
    let sample = |i: usize| (i % side / 32 + i / side / 64 + ((i * 2_654_435_761) >> 7) % 9) as i32 % 256;
    let samples = (0..side * side).map(sample).collect();
    Image { height: side, width: side, components: 1, bits: 8, signed: false, samples }
}

fn codec(device: &Device, devices: &[Device], repeats: usize, row: &mut impl FnMut(&str, [f64; 2])) -> Outcome {
    let image = image(SIDE);
    let wavelet = catalogue::find("legall53").map_err(input)?;
    let codec = Codec::builder(&wavelet).device(device.clone()).build().map_err(input)?;
    let mut stream = Vec::new();
    let times = timed(repeats, || {
        stream = codec.encode(&image).map_err(input)?;
        Ok(())
    })?;
    row(&format!("codec, {SIDE}² lossless: encode one picture"), times);
    let mut back = None;
    let times = timed(repeats, || {
        let decoder = Decoder::new(&stream).and_then(|decoder| decoder.on(device)).map_err(input)?;
        back = Some(decoder.decode(0).map_err(input)?.image);
        Ok(())
    })?;
    row(&format!("codec, {SIDE}² lossless: decode one picture"), times);
    if back.as_ref() != Some(&image) {
        return Err(input("the decoded picture differs from the original"));
    }
    let bytes: Vec<u8> = image.samples.iter().map(|&sample| sample as u8).collect();
    for devices in [&devices[..1], devices] {
        let format = Format { height: SIDE, width: SIDE, components: 1, bits: 8, signed: false };
        let mut frames = codec.frames(format, devices).map_err(input)?;
        // A camera writes into the pinned memory; here it already holds the picture.
        for _ in 0..3 * devices.len() {
            frames.next_frame().map_err(input)?.copy_from_slice(&bytes);
            if let Some(found) = frames.send().map_err(input)?
                && found != stream
            {
                return Err(input("the stream of a frame differs"));
            }
        }
        while frames.receive().map_err(input)?.is_some() {}
        let times = timed(repeats, || {
            for _ in 0..PICTURES {
                frames.next_frame().map_err(input)?;
                frames.send().map_err(input)?;
            }
            while frames.receive().map_err(input)?.is_some() {}
            Ok(())
        })?;
        row(&format!("codec, {PICTURES} frames of {SIDE}² lossless, pinned, {} devices", devices.len()), times);
    }
    Ok(())
}
