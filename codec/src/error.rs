//! What can be wrong with a picture, a codec, or a stream.

use crate::block::BlockError;
use lifting::PlanError;

/// Why a picture could not be coded, or a stream not be decoded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// Samples of a depth that is not coded.
    #[error("samples of {bits} bits: 1 to 16 can be coded")]
    Bits {
        /// What was said.
        bits: u32,
    },
    /// No components, or too many.
    #[error("{components} components: 1 to 65535 can be coded")]
    Components {
        /// What was said.
        components: usize,
    },
    /// A picture without pixels, or with a side that is too long.
    #[error("a picture of {height} × {width} pixels: each side must have 1 to 2147483647")]
    Sides {
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
    /// Not as many samples as the shape says.
    #[error("{found} samples for {height} × {width} pixels of {components} components")]
    Samples {
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
        /// Components.
        components: usize,
        /// Samples that there are.
        found: usize,
    },
    /// A sample that the depth does not have.
    #[error("sample {at} is {value}, and samples of {bits} bits are {low} to {high}")]
    Sample {
        /// The sample.
        value: i32,
        /// Its index.
        at: usize,
        /// Bits of samples.
        bits: u32,
        /// The least.
        low: i32,
        /// The largest.
        high: i32,
    },
    /// More levels than a stream can say.
    #[error("{levels} levels: at most {most} can be coded")]
    Levels {
        /// What was asked for.
        levels: u32,
        /// [`MAX_LEVELS`](crate::MAX_LEVELS).
        most: u32,
    },
    /// No quality layer, or more than a stream can say.
    #[error("{layers} quality layers: 1 to {most} can be coded")]
    Layers {
        /// What was asked for.
        layers: u32,
        /// [`MAX_LAYERS`](crate::MAX_LAYERS).
        most: u32,
    },
    /// More fast planes than a block can have; or none, in a header that says that there are some.
    #[error("{planes} planes that are gone through once: at most {most} can be, and 0 is not said")]
    Fast {
        /// What was asked for.
        planes: u32,
        /// [`MAX_PLANES`](crate::block::MAX_PLANES).
        most: u32,
    },
    /// Tiles that are too small, or whose levels would not meet.
    #[error(
        "tiles of {height} × {width}: each side must be the picture's, or a multiple of {multiple} and 64 at least"
    )]
    Tile {
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
        /// 2^levels.
        multiple: usize,
    },
    /// Codeblocks of a size that is not coded.
    #[error("codeblocks of {height} × {width}: each side must be 4, 8, 16, 32 or 64")]
    Codeblock {
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
    /// A real wavelet cannot give samples back to the bit.
    #[error(
        "lossless coding needs an integer wavelet, and `{wavelet}` is a real one: take legall53, or say how good the \
         picture has to be"
    )]
    RealLossless {
        /// The wavelet.
        wavelet: String,
    },
    /// A target that is no number, or out of all proportion.
    #[error("{what} of {value}: it must be a number {expected}")]
    Target {
        /// Which one.
        what: &'static str,
        /// What was asked for.
        value: f64,
        /// What it can be.
        expected: &'static str,
    },
    /// Symbols were asked for, and a rate: which step a rate leads to, only streams tell.
    #[error(
        "the symbols of a picture at {bits} bits a pixel: a rate says no quantiser step, which they depend on; ask for \
         lossless, a PSNR or a quality"
    )]
    SymbolsOfRate {
        /// The rate.
        bits: f64,
    },
    /// So small a stream cannot be made.
    #[error("{bytes} bytes are too few for this picture: {least} are the least")]
    TooSmall {
        /// What was asked for.
        bytes: u64,
        /// What is needed for the header and empty blocks.
        least: u64,
    },
    /// So good a picture cannot be had with this wavelet.
    #[error("{wanted} dB cannot be reached with `{wavelet}`: {reached:.2} dB is the most")]
    TooGood {
        /// What was asked for.
        wanted: f64,
        /// What there is.
        reached: f64,
        /// The wavelet.
        wavelet: String,
    },
    /// The transform does not suit the picture.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// It does not begin as a stream does.
    #[error("this is no stream of the Lifting codec: it does not begin with its signature")]
    NotAStream,
    /// A version of the format that is not known.
    #[error("the stream is of version {version} of its format, and {known} is known: take a newer version")]
    Version {
        /// What it says.
        version: u8,
        /// What is known.
        known: u8,
    },
    /// It ends before its header does.
    #[error("the stream ends in its header, after {bytes} bytes: nothing of the picture is there")]
    NoHeader {
        /// Bytes that there are.
        bytes: usize,
    },
    /// It ends before the picture does, and all of it was asked for.
    #[error("the stream ends after {bytes} bytes, before the picture does")]
    Cut {
        /// Bytes that there are.
        bytes: usize,
    },
    /// A field of the header that cannot be.
    #[error("the stream's header is broken: {why}")]
    Header {
        /// What is wrong.
        why: String,
    },
    /// A packet that is longer than its length can say.
    #[error("{bytes} bytes of one resolution are too many for a stream: cut the picture into tiles")]
    Packet {
        /// Bytes of it.
        bytes: usize,
    },
    /// An index that cannot be.
    #[error("the stream is corrupted: in the index of {packet}, {why}")]
    Index {
        /// Which packet.
        packet: String,
        /// What is wrong.
        why: String,
    },
    /// The wavelet's text, or its name, means nothing.
    #[error("the stream's wavelet cannot be used: {why}")]
    Wavelet {
        /// What is wrong.
        why: String,
    },
    /// A checksum that is not that of the bytes.
    #[error("the stream is corrupted: the checksum of {what} does not fit")]
    Checksum {
        /// Which part.
        what: String,
    },
    /// A block that is none, though its checksum fits.
    #[error("the stream is corrupted: {block}")]
    Block {
        /// What is wrong.
        #[from]
        block: BlockError,
    },
    /// Bytes where the stream has its end.
    #[error("{bytes} bytes stand behind the end of the stream")]
    Behind {
        /// How many.
        bytes: usize,
    },
    /// A picture that is out of proportion to its stream.
    #[error("a stream of {bytes} bytes cannot hold {samples} samples")]
    Disproportionate {
        /// Bytes of the stream.
        bytes: usize,
        /// Samples that its header promises.
        samples: u128,
    },
    /// A picture that is larger than was allowed.
    #[error("the picture has {samples} samples, and at most {most} are allowed")]
    TooLarge {
        /// Samples of the picture.
        samples: u128,
        /// What was allowed.
        most: u128,
    },
    /// A region without pixels, or beyond the picture.
    #[error("rows {y} to {y} + {height} and columns {x} to {x} + {width} are no part of {rows} × {columns} pixels")]
    Region {
        /// First row.
        y: usize,
        /// First column.
        x: usize,
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
        /// Rows of the picture.
        rows: usize,
        /// Columns of the picture.
        columns: usize,
    },
    /// Layers that the stream does not have.
    #[error("{asked} layers of a stream that has {layers}: at least one can be decoded, at most all")]
    NoSuchLayer {
        /// What was asked for.
        asked: u32,
        /// Layers that there are.
        layers: u32,
    },
    /// Something that whole streams cannot be made with on a device.
    #[error("{what} needs the processor: `Codec::encode` takes it")]
    NotOnDevice {
        /// What it is.
        what: &'static str,
    },
    /// A picture of another kind than an encoder on a device was made for, or one picture too many.
    #[error("picture {place} is of another kind, or is not one of the {pictures} that there is room for")]
    OfOtherKind {
        /// Which one.
        place: usize,
        /// Pictures at once.
        pictures: usize,
    },
    /// A level that the stream does not have.
    #[error("level {level} of a picture that has {levels}: 0 is full size")]
    NoSuchLevel {
        /// What was asked for.
        level: u32,
        /// Levels that there are.
        levels: u32,
    },
}
