//! Errors of pictures, codecs and streams.

use crate::block::BlockError;
use crate::format::Format;
use lifting::PlanError;

/// Reason that a picture could not be encoded, or a stream not be decoded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// Unsupported sample depth.
    #[error("unsupported samples of {bits} bits: 1 to 16 are allowed")]
    Bits {
        /// Requested depth.
        bits: u32,
    },
    /// Unsupported number of components.
    #[error("unsupported number of components {components}: 1 to 65535 are allowed")]
    Components {
        /// Requested number.
        components: usize,
    },
    /// Picture without pixels, or with a side that is too long.
    #[error("invalid picture of {height} × {width} pixels: each side must be 1 to 2147483647")]
    Sides {
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
    /// Number of samples that does not match the shape.
    #[error("{found} samples do not fill {height} × {width} pixels of {components} components")]
    Samples {
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
        /// Components.
        components: usize,
        /// Samples given.
        found: usize,
    },
    /// Sample outside the range of its depth.
    #[error("sample {at} is {value}: samples of {bits} bits are {low} to {high}")]
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
    /// More levels than a stream can have.
    #[error("too many levels ({levels}): at most {most} are allowed")]
    Levels {
        /// Requested levels.
        levels: u32,
        /// [`MAX_LEVELS`](crate::MAX_LEVELS).
        most: u32,
    },
    /// No quality layer, or more than a stream can have.
    #[error("invalid number of quality layers {layers}: 1 to {most} are allowed")]
    Layers {
        /// Requested layers.
        layers: u32,
        /// [`MAX_LAYERS`](crate::MAX_LAYERS).
        most: u32,
    },
    /// More fast planes than a block can have.
    #[error("invalid number of fast planes {planes}: 0 to {most} are allowed")]
    Fast {
        /// Requested planes.
        planes: u32,
        /// [`MAX_PLANES`](crate::block::MAX_PLANES).
        most: u32,
    },
    /// Tiles that are too small, or not multiples of 2^levels.
    #[error(
        "invalid tiles of {height} × {width}: each side must be the picture's, or a multiple of {multiple}, at least 64"
    )]
    Tile {
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
        /// 2^levels.
        multiple: usize,
    },
    /// Unsupported size of codeblocks.
    #[error("invalid codeblocks of {height} × {width}: each side must be 4, 8, 16, 32 or 64")]
    Codeblock {
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
    /// Lossless coding with a real wavelet, which cannot restore samples exactly.
    #[error(
        "lossless coding needs an integer wavelet, and `{wavelet}` is real: use one such as legall53, or ask for a \
         PSNR, a rate or a quality"
    )]
    RealLossless {
        /// The wavelet.
        wavelet: String,
    },
    /// Target that is not a number, or out of range.
    #[error("invalid target, {what} of {value}: it must be a number {expected}")]
    Target {
        /// Kind of target.
        what: &'static str,
        /// Requested value.
        value: f64,
        /// Allowed values.
        expected: &'static str,
    },
    /// Symbol counts requested for a rate, which does not determine the quantiser step.
    #[error(
        "symbols cannot be counted at {bits} bits per pixel: they depend on a quantiser step, which a rate does not \
         set; ask for lossless, a PSNR or a quality"
    )]
    SymbolsOfRate {
        /// The rate.
        bits: f64,
    },
    /// Size below that of the smallest stream.
    #[error("{bytes} bytes are too few for this picture: at least {least} are needed")]
    TooSmall {
        /// Requested size.
        bytes: u64,
        /// Size of the header and empty blocks.
        least: u64,
    },
    /// PSNR too high for the wavelet.
    #[error("{wanted} dB cannot be reached with `{wavelet}`: at most {reached:.2} dB can")]
    TooGood {
        /// Requested PSNR.
        wanted: f64,
        /// Best PSNR reached.
        reached: f64,
        /// The wavelet.
        wavelet: String,
    },
    /// Filters that quantisers are chosen by take too long to compute.
    #[error("{why}; lossless coding in one quality layer needs no filters")]
    Filters {
        /// The wavelet, and the length of its filters.
        why: String,
    },
    /// An array that the system has no memory for.
    #[error(
        "not enough memory for {bytes} bytes of {what}: encode parts of the picture, decode a region, or decode at a \
         lower resolution"
    )]
    Memory {
        /// Contents of the array.
        what: &'static str,
        /// Its size.
        bytes: u128,
    },
    /// More work than a stream of its size may ask for.
    #[error(
        "a stream of {bytes} bytes asks for {work} operations, and at most {most} are allowed: its wavelet takes \
         {each} for each sample; take a wavelet of fewer steps"
    )]
    TooMuchWork {
        /// Bytes of the stream.
        bytes: usize,
        /// Operations of the inverse transform.
        work: u128,
        /// Limit.
        most: u128,
        /// Operations a sample.
        each: u128,
    },
    /// Transform that does not suit the picture.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Bytes that do not begin as a stream does.
    #[error("not a stream of the Lifting codec: its signature is missing")]
    NotAStream,
    /// Unknown version of the format.
    #[error("the stream has format version {version}, and this program reads up to {known}: use a later one")]
    Version {
        /// The stream's version.
        version: u8,
        /// Latest supported version.
        known: u8,
    },
    /// Stream of a field where one of a picture is needed.
    #[error("the stream has a field, not a picture")]
    NotAPicture,
    /// Metadata that cannot be stored or read.
    #[error("the metadata is invalid: {why}")]
    Metadata {
        /// Reason.
        why: String,
    },
    /// Reader of a stream that fails.
    #[error("the stream cannot be read: {why}")]
    Read {
        /// Reason.
        why: String,
    },
    /// Writer of a stream that fails.
    #[error("the stream cannot be written: {why}")]
    Write {
        /// Reason.
        why: String,
    },
    /// Setting that encoding by rows does not support.
    #[error(
        "pictures cannot be encoded by rows with {what}: ask for lossless or a quality, and divide them into tiles"
    )]
    NotByRows {
        /// The setting.
        what: &'static str,
    },
    /// Rows that do not fill the picture.
    #[error("{found} samples are not whole rows that a picture of {expected} lacks")]
    Rows {
        /// Samples given.
        found: usize,
        /// Format of the picture.
        expected: Format,
    },
    /// Stream that ends within its header.
    #[error("the stream ends in its header, after {bytes} bytes: no part of the picture can be decoded")]
    NoHeader {
        /// Length of the stream.
        bytes: usize,
    },
    /// Truncated stream where the whole picture was requested.
    #[error("the stream is truncated: it ends after {bytes} bytes, before the picture is complete")]
    Cut {
        /// Length of the stream.
        bytes: usize,
    },
    /// Invalid field of the header.
    #[error("the stream's header is invalid: {why}")]
    Header {
        /// Reason.
        why: String,
    },
    /// Packet longer than its length field allows.
    #[error("one resolution takes {bytes} bytes, too many for a packet: divide the picture into tiles")]
    Packet {
        /// Length of the packet.
        bytes: usize,
    },
    /// Invalid index of a packet.
    #[error("the stream is corrupted: in the index of {packet}, {why}")]
    Index {
        /// Layer, resolution and tile.
        packet: String,
        /// Reason.
        why: String,
    },
    /// Unusable text or name of a wavelet.
    #[error("the stream's wavelet cannot be used: {why}")]
    Wavelet {
        /// Reason.
        why: String,
    },
    /// Checksum that does not match the bytes.
    #[error("the stream is corrupted: the checksum of {what} does not match")]
    Checksum {
        /// Checked part.
        what: String,
    },
    /// Invalid block whose checksum matches.
    #[error("the stream is corrupted: {block}")]
    Block {
        /// Reason.
        #[from]
        block: BlockError,
    },
    /// Bytes after the end of the stream.
    #[error("{bytes} excess bytes after the end of the stream")]
    Behind {
        /// Number of bytes.
        bytes: usize,
    },
    /// Picture too large for the length of its stream.
    #[error("a stream of {bytes} bytes cannot hold {samples} samples")]
    Disproportionate {
        /// Length of the stream.
        bytes: usize,
        /// Samples that its header promises.
        samples: u128,
    },
    /// Picture larger than the limit.
    #[error("the picture has {samples} samples, more than the limit of {most}")]
    TooLarge {
        /// Samples of the picture.
        samples: u128,
        /// The limit.
        most: u128,
    },
    /// Empty region, or one beyond the picture.
    #[error(
        "invalid region of {height} × {width} pixels from row {y} and column {x}: it must have pixels, and lie within \
         a picture of {rows} × {columns} pixels"
    )]
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
    /// More layers than the stream has.
    #[error("invalid number of layers {asked}: 1 to {layers} of this stream can be decoded")]
    NoSuchLayer {
        /// Requested layers.
        asked: u32,
        /// Layers of the stream.
        layers: u32,
    },
    /// Setting that encoding and decoding entirely on a device do not support.
    #[error("not supported on the device: {what}; use the encoder or decoder of the processor")]
    NotOnDevice {
        /// The setting.
        what: &'static str,
    },
    /// Place beyond a batch on a device.
    #[error("invalid place {place} in a batch of {pictures}: places count from 0")]
    NoSuchPlace {
        /// Requested place.
        place: usize,
        /// Pictures or streams of the batch.
        pictures: usize,
    },
    /// Picture of another format than the device encoder's.
    #[error("the encoder takes pictures of {expected}, and this one has {found}: make an encoder for each format")]
    OtherFormat {
        /// Format of the encoder.
        expected: Format,
        /// Format of the picture.
        found: Format,
    },
    /// Stream longer than the device decoder's limit.
    #[error("the stream has {bytes} bytes, and the decoder takes at most {most}: make a decoder for longer streams")]
    TooLong {
        /// Length of the stream.
        bytes: usize,
        /// Most bytes of a stream.
        most: usize,
    },
    /// Level that the stream does not have.
    #[error("invalid level {level}: this picture has levels 0 (full size) to {levels}")]
    NoSuchLevel {
        /// Requested level.
        level: u32,
        /// Levels of the stream.
        levels: u32,
    },
    /// Field without samples, or with too many axes.
    #[error(
        "invalid shape {shape:?} of a field: one to three axes are allowed, each with at least one sample; reshape it"
    )]
    FieldShape {
        /// The shape.
        shape: Vec<usize>,
    },
    /// Number of samples that does not match the shape of a field.
    #[error("{found} samples do not fill a field of shape {shape:?}")]
    FieldSamples {
        /// The shape.
        shape: Vec<usize>,
        /// Samples given.
        found: usize,
    },
    /// Chunks that are too large, or not within the field.
    #[error(
        "invalid chunks {chunk:?} of a field of shape {shape:?}: give a length for each axis, at least 1, and at most \
         {most} samples in all"
    )]
    Chunks {
        /// Shape of the field.
        shape: Vec<usize>,
        /// Samples of a chunk along each axis.
        chunk: Vec<usize>,
        /// Most samples of a chunk.
        most: usize,
    },
    /// Negative error bound, or none.
    #[error("invalid error bound {value}: it must be a number of at least 0")]
    MaxError {
        /// The bound.
        value: f64,
    },
    /// Stream of a picture where one of a field is needed.
    #[error("the stream has a picture or is of another version, not a field of version 5")]
    NotAField,
    /// Invalid content of a field's stream.
    #[error("the field's stream is invalid: it has {why}")]
    FieldStream {
        /// Reason.
        why: String,
    },
    /// Field of another type than the one asked for.
    #[error("the field has samples {found}, not {asked}")]
    OtherType {
        /// Type of the samples.
        found: &'static str,
        /// Type that was asked for.
        asked: &'static str,
    },
    /// Empty region of a field, or one beyond it.
    #[error(
        "invalid region of {size:?} samples from {start:?} in a field of shape {shape:?}: it must have samples, and \
         lie within the field"
    )]
    FieldRegion {
        /// First sample along each axis.
        start: Vec<usize>,
        /// Samples along each axis.
        size: Vec<usize>,
        /// Shape of the field.
        shape: Vec<usize>,
    },
}
