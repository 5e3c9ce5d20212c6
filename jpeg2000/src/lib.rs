//! JPEG 2000 (ISO/IEC 15444-1) and HTJ2K (ISO/IEC 15444-15): codestreams and files, encoded and decoded with the
//! transforms of [`lifting`].
//!
//! ```
//! use lifting_jpeg2000::{Decoder, Encoder, Image};
//!
//! let samples: Vec<i32> = (0..100 * 120).map(|i| (i / 120 + i % 120) & 255).collect();
//! let image = Image::interleaved([100, 120, 1], 8, false, &samples)?;
//! let stream = Encoder::default().encode(&image)?;
//! assert_eq!(Decoder::new(&stream)?.decode()?.image, image);
//! # Ok::<(), lifting_jpeg2000::Error>(())
//! ```
//!
//! The stages of an encoder, each with its module:
//!
//! | module | stage |
//! |---|---|
//! | [`tile`] | the picture is divided into tiles, each with its components |
//! | [`transform`], [`lane`] | colour transform and wavelet of a tile-component |
//! | [`geometry`] | bands are divided into precincts and codeblocks |
//! | [`block`] | indices of a codeblock become bytes, in passes |
//! | [`rate`] | quantiser steps and passes are chosen for the target |
//! | [`packet`], [`stream`] | the bytes go into packets, and these into tile-parts |
//! | [`codestream`], [`file`] | marker segments, and boxes of files |
//!
//! `encode.rs` has the settings, `job.rs` the order of the stages; `decode.rs` has the reverse order.
//!
//! Streams may come from untrusted sources. A truncated stream decodes to what it holds, and says so; a corrupted one
//! is an error, or leaves out broken blocks and counts them. Allocations stay in proportion to the stream's length.
//!
//! # Features
//!
//! - `threads` (default): codes blocks on rayon's thread pool. The bytes are the same without it.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod block;
pub mod codestream;
mod decode;
mod encode;
mod error;
pub mod file;
mod geometry;
mod image;
mod job;
mod lane;
mod packet;
mod rate;
mod stream;
mod tile;
mod transcode;
mod transform;

pub use block::Style;
pub use codestream::{Coder, Progression};
pub use decode::{Decoder, Picture};
pub use encode::{Encoder, MAX_LAYERS, Target};
pub use error::Error;
pub use image::{Component, Image, MAX_BITS, Rect};
pub use transcode::{transcode, transcode_to};

/// The example of README.md, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
