//! Image codec: any wavelet of Lifting, quantisation by band norms, and bitplane coding with parallel coefficients
//! (BPC-PaCo), on CPUs and GPUs.
//!
//! ```
//! use lifting_codec::{Codec, Decoder, Image};
//!
//! let samples = (0..100 * 120).map(|i| (i / 120 + i % 120) & 255).collect();
//! let image = Image { height: 100, width: 120, components: 1, bits: 8, signed: false, samples };
//! let codec = Codec::builder(&lifting::catalogue::find("legall53")?).lossless().build()?;
//! let stream = codec.encode(&image)?;
//!
//! let decoder = Decoder::new(&stream)?;
//! assert_eq!(decoder.decode(0)?.image, image);
//! let quarter = decoder.decode(2)?.image;
//! assert_eq!((quarter.height, quarter.width), (25, 30));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The encoder's stages: samples around 0, colour transform, wavelet (a [`lifting::Plan`]), dead-zone quantisation,
//! codeblocks in each band (coded by [`block`]), and packets. A stream holds its quality layers one after the other,
//! and the resolutions in each layer. `docs/format.md` defines every byte.
//!
//! Any prefix of a stream decodes to a picture. So do its first layers ([`Decoder::layers`]), a resolution, and a
//! region ([`Decoder::region`]); only the codeblocks that these depend on are decoded.
//!
//! ```
//! use lifting_codec::{Codec, Decoder, Image, Region};
//!
//! let samples = (0..200 * 300).map(|i| (i / 300 + i % 300) & 255).collect();
//! let image = Image { height: 200, width: 300, components: 1, bits: 8, signed: false, samples };
//! let codec = Codec::builder(&lifting::catalogue::find("legall53")?).layers(6).tile(128, 128).build()?;
//! let stream = codec.encode(&image)?;
//!
//! let rough = Decoder::new(&stream)?.layers(2)?.decode(0)?;
//! let part = Decoder::new(&stream)?.region(Region { y: 100, x: 20, height: 64, width: 48 })?.decode(1)?;
//! assert_eq!((rough.image.width, part.image.height, part.image.width), (300, 32, 24));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Large pictures: [`Decoder::open`] reads only the bytes that a region needs, from a file or any [`ReadAt`], and
//! [`Codec::by_rows`] encodes a picture that memory cannot hold. [`Codec::metadata`] adds profiles and georeferences.
//!
//! Arrays of floats and integers within an error bound, of one to three axes, have streams of their own: [`field`].
//!
//! Streams may come from untrusted sources. A truncated stream decodes to what it holds, and a corrupted one is an
//! error. Allocations stay in proportion to the stream's length.
//!
//! Devices: [`CodecBuilder::device`] and [`Decoder::on`] move the work to a CUDA device, with the same samples, and the
//! same bytes apart from deflated packets. Layers, fitted tables, levels and regions need the processor; only the
//! transform and the codeblocks then run on the device. For pictures in device memory, [`Codec::on_device`] and
//! [`Decoder::on_device`] encode and decode batches of whole streams there.
//!
//! # Features
//!
//! - `cuda` (default): CUDA devices. Harmless on machines without CUDA.
//! - `threads` (default): codes blocks on rayon's thread pool. The bytes are the same without it.

#![warn(missing_docs)]
#![deny(unsafe_code)]

mod bands;
pub mod block;
mod budget;
mod codec;
mod colour;
mod decode;
mod deflate;
mod device;
mod encode;
mod error;
pub mod field;
mod format;
mod frames;
mod header;
mod image;
mod index;
mod job;
mod lane;
mod metadata;
mod number;
mod packet;
mod quantise;
mod rate;
mod rows;
mod search;
mod source;
pub mod tables;
mod values;
mod weights;
mod window;

pub use codec::{Codec, CodecBuilder, Target};
pub use colour::{Colour, reversible};
pub use decode::{Decoder, PacketInfo, Picture, decode};
pub use device::{DeviceDecoder, DeviceEncoder, release_device_memory};
pub use error::CodecError;
pub use format::Format;
pub use frames::FrameEncoder;
pub use header::{Header, MAX_LAYERS, MAX_LEVELS, MIN_TILE, OLDEST, SIGNATURE, VERSION};
pub use image::Image;
pub use metadata::Metadata;
pub use packet::PacketId;
pub use quantise::{Quantiser, Step};
pub use rows::RowEncoder;
pub use source::{ReadAt, Seekable};
pub use values::Values;
pub use window::Region;

/// The example of README.md, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
