//! `bench --codec`: encode and decode speed, compared with OpenJPEG if it is installed.

use super::report::Report;
use super::stats::Spread;
use super::{Runner, cpu};
use crate::cli::BenchArgs;
use crate::codec::{array, picture};
use crate::failure::{Outcome, eprint_quietly, input};
use crate::media::image::{Format, Picture};
use crate::media::metadata::Metadata;
use crate::media::{self, Colour};
use crate::output::{input_name, print};
use lifting::{Device, catalogue};
use lifting_codec::block::Passes;
use lifting_codec::{Codec, Decoder, Image};
use std::process::Command;
use std::time::Instant;

/// Label of the lossless 5/3 row.
pub const LOSSLESS: &str = "5/3, lossless";
const LOSSLESS_THREE: &str = "5/3, lossless, 3 passes";
const LOSSLESS_FAST: [(&str, u32); 3] =
    [("5/3, lossless, 2 fast planes", 2), ("5/3, lossless, 4", 4), ("5/3, lossless, 8", 8)];
const LOSSY: &str = "9/7, quality 64";

/// A table row: times in milliseconds, and the stream's size in bytes.
struct Row {
    name: String,
    encode: Vec<f64>,
    decode: Vec<f64>,
    bytes: usize,
}

/// Times encoding and decoding of every picture. Each round measures every row once.
pub fn run(args: &BenchArgs, device: &Device) -> Outcome {
    let runner = cpu::Runner::new(args.threads)?;
    let processor = Report::new(runner.device()).device_text();
    let device_text = if let Device::Cpu { .. } = device { processor } else { format!("{device}, {processor}") };
    let mut text = format!("{device_text}; medians of {}, ± half the interquartile range\n", args.repeats);
    for path in &args.codec {
        let (image, colour) = picture(media::read(path, None)?, &mut Vec::new()).map_err(|f| f.at(input_name(path)))?;
        let rows = runner.install(|| measure(args, &image, colour, device)).map_err(|f| f.at(input_name(path)))?;
        let samples = image.samples.len() as f64;
        text += &format!("\n{}: {} × {} × {}\n", input_name(path), image.height, image.width, image.components);
        let [bits, encode, decode] = ["bits/sample", "encode, Ms/s", "decode, Ms/s"];
        text += &format!("{:<32}{bits:>13}{encode:>15}{:>8}{decode:>15}{:>8}\n", "", "±", "±");
        for Row { name, encode, decode, bytes } in rows {
            let [encode, decode] = [encode, decode].map(Spread::of);
            let speed = |times: &Spread| samples / times.median / 1e3;
            text += &format!(
                "{name:<32}{:>13.3}{:>15.1}{:>7.1}%{:>15.1}{:>7.1}%\n",
                8.0 * bytes as f64 / samples,
                speed(&encode),
                encode.percent(),
                speed(&decode),
                decode.percent()
            );
        }
    }
    print(&text)
}

fn measure(args: &BenchArgs, image: &Image, colour: bool, device: &Device) -> Outcome<Vec<Row>> {
    let codec = |name: &'static str| {
        let wavelet = if name == LOSSY { "cdf97" } else { "legall53" };
        let builder = Codec::builder(&catalogue::find(wavelet).map_err(input)?).colour(colour).device(device.clone());
        let builder = match name {
            LOSSY => builder.quality(64.0),
            LOSSLESS_THREE => builder.passes(Passes::Three),
            _ => {
                let fast = LOSSLESS_FAST.iter().find(|(other, _)| *other == name);
                builder.fast(fast.map_or(0, |(_, planes)| *planes))
            }
        };
        Ok((name, builder.build().map_err(input)?))
    };
    let mut rows = Vec::new();
    let names = [LOSSLESS, LOSSLESS_THREE].into_iter().chain(LOSSLESS_FAST.map(|(name, _)| name)).chain([LOSSY]);
    let codecs = names.map(codec).collect::<Outcome<Vec<_>>>()?;
    let peer = OpenJpeg::new(image, rayon::current_num_threads());
    if let Err(why) = &peer
        && !args.quiet
    {
        eprint_quietly(&format!("OpenJPEG is skipped: {why}\n"));
    }
    for round in 0..=args.repeats {
        let mut measured = Vec::new();
        for (name, codec) in &codecs {
            let start = Instant::now();
            let stream = codec.encode(image).map_err(input)?;
            let encode = start.elapsed().as_secs_f64() * 1e3;
            let start = Instant::now();
            let back = Decoder::new(&stream).and_then(|d| d.on(device)?.decode(0)).map_err(input)?;
            let decode = start.elapsed().as_secs_f64() * 1e3;
            if *name != LOSSY && back.image != *image {
                return Err(input("the decoded picture differs from the original"));
            }
            measured.push((format!("Lifting {name}"), encode, decode, stream.len()));
        }
        if let Ok(peer) = &peer {
            let bytes = measured[codecs.len() - 1].3;
            measured.push(peer.measure(LOSSLESS, image, None)?);
            measured.push(peer.measure("9/7, as small", image, Some(bytes))?);
        }
        // The first round warms up.
        rows.resize_with(measured.len(), || Row { name: String::new(), encode: vec![], decode: vec![], bytes: 0 });
        for (row, (name, encode, decode, bytes)) in rows.iter_mut().zip(measured).filter(|_| round > 0) {
            (row.name, row.bytes) = (name, bytes);
            row.encode.push(encode);
            row.decode.push(decode);
        }
    }
    Ok(rows)
}

/// OpenJPEG's programs. The times that they print exclude file access.
pub struct OpenJpeg {
    folder: tempfile::TempDir,
    threads: usize,
}

impl OpenJpeg {
    /// Writes the picture to a temporary file, and tries the encoder.
    pub fn new(image: &Image, threads: usize) -> Result<OpenJpeg, String> {
        let colour = match (image.components, image.signed) {
            (1, false) => Colour::Grey,
            (3, false) => Colour::Rgb,
            _ => return Err("the comparison supports only unsigned grey and RGB pictures".into()),
        };
        let (shape, data) = array(image.clone(), false).map_err(|_| "memory is short")?;
        let maxval = Some(((1u32 << image.bits) - 1) as u16);
        let file =
            Picture { shape, colour, data, maxval, stack: false, premultiplied: false, metadata: Metadata::default() }
                .encode(Format::AnyPnm);
        let file = file.map_err(|_| "the picture cannot be written as PNM")?;
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        std::fs::write(folder.path().join("picture.pnm"), file).map_err(|e| e.to_string())?;
        let peer = OpenJpeg { folder, threads };
        match peer.time("opj_compress", &["-i", "picture.pnm", "-o", "picture.j2k"]) {
            Some(_) => Ok(peer),
            None => Err("opj_compress is not installed, or does not print its time".into()),
        }
    }

    /// Runs a program, and returns the time in milliseconds that it prints.
    fn time(&self, program: &str, arguments: &[&str]) -> Option<f64> {
        let threads = self.threads.to_string();
        let mut command = Command::new(program);
        command.args(arguments).args(["-threads", &threads]).current_dir(&self.folder);
        let said = command.output().ok()?.stdout;
        let said = String::from_utf8_lossy(&said).into_owned();
        said.split_once("code time: ")?.1.split_whitespace().next()?.parse().ok()
    }

    /// Encodes and decodes once: to about `bytes`, or losslessly. Returns the label, both times in milliseconds, and
    /// the stream's bytes.
    pub fn measure(&self, name: &str, image: &Image, bytes: Option<usize>) -> Outcome<(String, f64, f64, usize)> {
        let mut arguments = vec!["-i".to_owned(), "picture.pnm".into(), "-o".into(), "picture.j2k".into()];
        if let Some(bytes) = bytes {
            let raw = image.samples.len() * image.bits as usize;
            arguments.extend(["-I".into(), "-r".into(), (raw as f64 / (8 * bytes) as f64).to_string()]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let times = [("opj_compress", &arguments[..]), ("opj_decompress", &["-i", "picture.j2k", "-o", "back.pnm"])]
            .map(|(program, arguments)| self.time(program, arguments));
        let bytes = std::fs::metadata(self.folder.path().join("picture.j2k")).map(|file| file.len() as usize);
        match (times, bytes) {
            ([Some(encode), Some(decode)], Ok(bytes)) => Ok((format!("OpenJPEG {name}"), encode, decode, bytes)),
            _ => Err(input("opj_compress or opj_decompress failed")),
        }
    }
}
