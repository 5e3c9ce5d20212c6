//! Training of the codec's probability tables: `cargo xtask tables`.
//!
//! Blocks of pictures, by several wavelets, lossless and with several quantiser steps, choose among tables. The tables
//! are then fitted to the blocks that chose them. Held-out pictures measure the result.

use image::DynamicImage;
use lifting::catalogue;
use lifting_codec::block::{Counts, Passes};
use lifting_codec::tables::{MAX_TABLES, Table, Tables};
use lifting_codec::{Codec, CodecBuilder, Image};
use std::path::{Path, PathBuf};

/// Arguments of the command.
pub struct Options {
    /// Pictures to learn from.
    pub pictures: Vec<PathBuf>,
    /// Pictures for measuring only.
    pub held_out: Vec<PathBuf>,
    /// Output file of the tables; if `None`, the built-in tables are measured.
    pub output: Option<PathBuf>,
}

/// Training rounds between two splits.
const TURNS: usize = 6;

/// Wavelets and qualities to train with; `None` is lossless.
const SETTINGS: [(&str, Option<f64>); 11] = [
    ("legall53", None),
    ("dd137", None),
    ("s_transform", None),
    ("legall53", Some(75.0)),
    ("cdf97", Some(100.0)),
    ("cdf97", Some(90.0)),
    ("cdf97", Some(82.0)),
    ("cdf97", Some(75.0)),
    ("cdf97", Some(68.0)),
    ("cdf97", Some(60.0)),
    ("cdf97", Some(45.0)),
];

/// Trains, writes, measures.
pub fn run(options: &Options) -> Result<(), String> {
    let mut tables = Tables::built_in().clone();
    if !options.pictures.is_empty() {
        let blocks = blocks(&options.pictures)?;
        println!("{} blocks of {} pictures", blocks.len(), options.pictures.len());
        let none = || "no tables".to_owned();
        tables = Tables::new(vec![Table::EVEN]).ok_or_else(none)?.trained(&blocks, MAX_TABLES, TURNS);
    }
    if let Some(path) = &options.output {
        std::fs::write(path, tables.to_bytes()).map_err(|e| format!("{}: {e}", path.display()))?;
        println!("{}: {} tables; build again to measure them", path.display(), tables.count());
    }
    if !options.held_out.is_empty() && options.output.is_none() {
        measure(&options.held_out)?;
    }
    Ok(())
}

/// The symbols of all blocks of all pictures and settings. Both numbers of passes train the same tables.
fn blocks(pictures: &[PathBuf]) -> Result<Vec<Counts>, String> {
    let mut blocks = Vec::new();
    for path in pictures {
        let image = read(path)?;
        for (wavelet, quality) in SETTINGS {
            let symbols = |passes: Passes| {
                let scheme = catalogue::find(wavelet).map_err(|e| e.to_string())?;
                let builder = Codec::builder(&scheme).passes(passes);
                let builder = quality.map_or(builder.clone().lossless(), |q| builder.quality(q));
                let codec = builder.build().map_err(|e| e.to_string())?;
                codec.symbols(&image).map_err(|e| format!("{}: {e}", path.display()))
            };
            let (two, three) = (symbols(Passes::Two)?, symbols(Passes::Three)?);
            // Each block counts once, whatever the passes: merge the counts of signs and refinements.
            blocks.extend(
                two.into_iter().zip(three).filter(|(two, _)| !two.is_empty()).map(|(two, three)| two.with(&three)),
            );
        }
        println!("{}", path.display());
    }
    Ok(blocks)
}

/// Prints bits per sample, lossless with the 5/3 and at 40 dB with the 9/7, with two passes and three.
fn measure(pictures: &[PathBuf]) -> Result<(), String> {
    println!("{:<28} {:>9} {:>9} {:>9} {:>9}", "bits a sample", "5/3, 2", "5/3, 3", "40 dB, 2", "40 dB, 3");
    for path in pictures {
        let image = read(path)?;
        let mut line = format!("{:<28}", path.file_name().unwrap_or_default().to_string_lossy());
        let lossless: fn(CodecBuilder) -> CodecBuilder = CodecBuilder::lossless;
        for (wavelet, target) in [("legall53", lossless), ("cdf97", |builder| builder.psnr(40.0))] {
            for passes in [Passes::Two, Passes::Three] {
                let scheme = catalogue::find(wavelet).map_err(|e| e.to_string())?;
                let codec = target(Codec::builder(&scheme).passes(passes)).build().map_err(|e| e.to_string())?;
                let stream = codec.encode(&image).map_err(|e| e.to_string())?;
                let back = lifting_codec::decode(&stream).map_err(|e| e.to_string())?;
                if back.psnr(&image) < 40.0 {
                    return Err(format!("{}: {wavelet} comes back with {} dB", path.display(), back.psnr(&image)));
                }
                line += &format!(" {:>9.4}", 8.0 * stream.len() as f64 / image.samples.len() as f64);
            }
        }
        println!("{line}");
    }
    Ok(())
}

/// A picture as 8-bit grey.
fn read(path: &Path) -> Result<Image, String> {
    let picture = image::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let grey = match picture {
        DynamicImage::ImageLuma8(grey) => grey,
        other => other.to_luma8(),
    };
    let (width, height) = (grey.width() as usize, grey.height() as usize);
    let samples = grey.into_raw().into_iter().map(i32::from).collect();
    Ok(Image { height, width, components: 1, bits: 8, signed: false, samples })
}
