//! Pictures to bytes and back: any wavelet of Lifting, quantisation by band norms, and bitplane coding with parallel
//! coefficients (BPC-PaCo), which GPUs can do as well as processors.
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
//! From a picture to bytes: samples around 0, colour transform, wavelet (a [`lifting::Plan`]), quantisation with a dead
//! zone, codeblocks in each band ([`block`], where the coder is defined), and a stream that has quality layers one
//! after the other, and in each the resolutions. `docs/format.md` defines every byte of it.
//!
//! Of a stream, any prefix is a picture; so are its first layers ([`Decoder::layers`]), a resolution, and a region
//! ([`Decoder::region`]), for which no more is decoded than it depends on.
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
//! A stream may come from anyone. One that has been cut decodes to what it holds, a broken one is an error, and no
//! memory is taken that its length does not vouch for.
//!
//! Devices: [`CodecBuilder::device`] and [`Decoder::on`] take pictures to a CUDA device. Where layers, fitted tables,
//! levels or regions need the processor, they take only the transform and the codeblocks there. The bytes, and the
//! samples, are the same. Where pictures are on the device, [`Codec::on_device`] makes whole streams there, of several
//! pictures at once, and [`Decoder::on_device`] pictures of streams.
//!
//! # Features
//!
//! - `cuda` (default): CUDA devices; harmless where there is no CUDA.
//! - `threads` (default): blocks are coded by all threads, by rayon. The bytes are the same without.

#![warn(missing_docs)]
#![deny(unsafe_code)]

mod bands;
pub mod block;
mod colour;
mod decode;
mod device;
mod encode;
mod error;
mod header;
mod image;
mod job;
mod lane;
mod packet;
mod parallel;
mod quantise;
mod rate;
mod search;
pub mod tables;
mod weights;
mod window;

pub use colour::Colour;
pub use decode::{Decoder, PacketInfo, Picture, decode};
pub use device::{DeviceDecoder, DeviceEncoder};
pub use encode::{Codec, CodecBuilder, Target};
pub use error::CodecError;
pub use header::{Header, MAX_LAYERS, MAX_LEVELS, MIN_TILE, SIGNATURE, VERSION};
pub use image::{Format, Image};
pub use packet::PacketId;
pub use quantise::{Quantiser, Step};
pub use window::Region;

/// The example of README.md, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
