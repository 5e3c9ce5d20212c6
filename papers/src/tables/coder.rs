//! Enfedaque 2017: table 3.1, with the user's pictures instead of the thesis' own.

use super::table::{Bandwidth, Coding, Row, Table, Unit, What};
use liftc::bench::codec::{LOSSLESS, OpenJpeg};
use liftc::codec::picture;
use liftc::failure::{Outcome, input};
use liftc::media;
use liftc::output::input_name;
use lifting::catalogue;
use lifting_codec::block::{CONTEXTS, Counts, Passes};
use lifting_codec::tables::{MAX_TABLES, Tables};
use lifting_codec::{Codec, Image};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

/// Side of a codeblock, and its number of lanes: a lane has two columns.
const SIDE: usize = 64;
const LANES: f64 = 32.0;

/// Iterations of training.
const TURNS: usize = 8;

/// Contexts of significance in all passes, of signs, and of refinement. See [`Context`](lifting_codec::block::Context).
const KINDS: [std::ops::Range<usize>; 3] = [0..27, 27..32, 32..CONTEXTS];

/// Bits per sample of pictures that were coded.
pub type Known = HashMap<(PathBuf, Coding), f64>;

/// Bits per sample, averaged over pictures.
pub fn bits(pictures: &[PathBuf], coding: Coding, known: &mut Known) -> Outcome<f64> {
    let mut sum = 0.0;
    for path in pictures {
        sum += match known.entry((path.clone(), coding)) {
            Entry::Occupied(bits) => *bits.get(),
            Entry::Vacant(bits) => *bits.insert(of(path, coding).map_err(|failure| failure.at(input_name(path)))?),
        };
    }
    Ok(sum / pictures.len() as f64)
}

/// Checks that a file is a picture.
pub fn check(path: &Path) -> Outcome {
    let read = media::read(path, None).and_then(|read| picture(read, &mut Vec::new()));
    read.map(drop).map_err(|failure| failure.at(input_name(path)))
}

fn of(path: &Path, coding: Coding) -> Outcome<f64> {
    let (image, colour) = picture(media::read(path, None)?, &mut Vec::new())?;
    let samples = image.samples.len() as f64;
    let builder = Codec::builder(&catalogue::find("legall53").map_err(input)?).colour(colour).block(SIDE, SIDE);
    let codec = builder.passes(Passes::Three).build().map_err(input)?;
    let blocks = |image: &Image| codec.symbols(image).map_err(input);
    let bits = match coding {
        Coding::Jpeg2000 => {
            let peer = OpenJpeg::new(&image, 1).map_err(input)?;
            8.0 * peer.measure(LOSSLESS, &image, None)?.3 as f64
        }
        Coding::Own => 8.0 * codec.encode(&image).map_err(input)?.len() as f64,
        Coding::WordPerLane => expected(&blocks(&image)?, Tables::built_in(), LANES),
        Coding::OneWord => expected(&blocks(&image)?, Tables::built_in(), 1.0),
        Coding::Fitted => fitted(&blocks(&image)?),
        Coding::Strict => super::strict::bits(&image, colour)?,
        Coding::OneContext => fitted(&blocks(&image)?.iter().map(merged).collect::<Vec<_>>()),
    };
    Ok(bits / samples)
}

/// Expected bits of the blocks: their symbols, plus a tail. Each of the `words` code words open at a block's end loses
/// 8 bits on average, unless the tail's raw bits fill them.
fn expected(blocks: &[Counts], tables: &Tables, words: f64) -> f64 {
    let block = |counts: &Counts| tables.cheapest(counts).1 + f64::from(counts.tail).max(8.0 * words);
    blocks.iter().filter(|counts| !counts.is_empty()).map(block).sum()
}

/// Expected bits with tables trained on these blocks.
fn fitted(blocks: &[Counts]) -> f64 {
    expected(blocks, &Tables::built_in().trained(blocks, MAX_TABLES, TURNS), LANES)
}

/// Symbol counts with the contexts of each kind merged into one.
fn merged(counts: &Counts) -> Counts {
    let mut counts = counts.clone();
    for contexts in counts.symbols.iter_mut() {
        for kind in KINDS {
            let first = kind.start;
            let sum = contexts[kind.clone()].iter().fold([0, 0], |sum, of| [sum[0] + of[0], sum[1] + of[1]]);
            contexts[kind].fill([0, 0]);
            contexts[first] = sum;
        }
    }
    counts
}

pub fn tables(pictures: &[PathBuf]) -> Outcome<Vec<Table>> {
    // Means over 18 pictures of four kinds: JPEG 2000, BPC-PaCo, one code word, and one context.
    let ways = [
        ("JPEG 2000", Some(5.65), Coding::Jpeg2000),
        ("BPC-PaCo; here, streams with 3 passes", Some(5.70), Coding::Own),
        ("BPC-PaCo strictly, fitted tables", None, Coding::Strict),
        ("a codeword for each lane", None, Coding::WordPerLane),
        ("one codeword for a block", Some(5.66), Coding::OneWord),
        ("a codeword for each lane, fitted tables", None, Coding::Fitted),
        ("the same, one context of a kind", Some(5.99), Coding::OneContext),
    ];
    let mut rows = Vec::new();
    for (way, paper, coding) in ways {
        let what = |pictures: &[PathBuf]| What::Coded { pictures: pictures.to_vec(), coding };
        rows.push(Row::new(format!("mean, {way}"), paper, what(pictures)));
        for path in pictures {
            let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
            rows.push(Row::new(format!("{name}, {way}"), None, what(std::slice::from_ref(path))));
        }
    }
    let title = "Enfedaque 2017, table 3.1: lossless coding, bits a sample";
    let device = ("GeForce GTX TITAN Black", Bandwidth::Measured(234.0));
    Ok(vec![Table { id: "enfedaque-3.1", title, device, unit: Unit::Number, rows, claims: Vec::new() }])
}
