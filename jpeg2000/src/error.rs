//! Errors of encoders and decoders.

use crate::block::BrokenBlock;
use lifting::PlanError;

/// Error of an encoder or a decoder.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Data that is neither a codestream nor a file of the JP2 family.
    #[error(
        "not JPEG 2000: the data begins with {found:02x?}; a codestream begins with ff 4f ff 51, a file with \
         00 00 00 0c 6a 50 20 20"
    )]
    Signature {
        /// The first bytes.
        found: Vec<u8>,
    },
    /// Data that breaks the standard.
    #[error("broken stream at byte {at}: {what}")]
    Broken {
        /// Position in the data.
        at: usize,
        /// The fault.
        what: String,
    },
    /// A feature of the standard that this decoder lacks.
    #[error("unsupported stream at byte {at}: {what}")]
    Unsupported {
        /// Position in the data.
        at: usize,
        /// The feature.
        what: String,
    },
    /// A codeblock that cannot have been made by an encoder.
    #[error("broken codeblock in tile {tile}, component {component}, resolution {resolution}: {fault}")]
    Block {
        /// Index of the tile.
        tile: usize,
        /// Index of the component.
        component: usize,
        /// Resolution of the block's band.
        resolution: u32,
        /// The fault.
        fault: BrokenBlock,
    },
    /// A stream that asks for more samples than its length justifies.
    #[error(
        "the stream has {bytes} bytes and asks for {samples} samples, more than {most}: raise the limit if it can be \
         trusted"
    )]
    TooLarge {
        /// Length of the stream.
        bytes: usize,
        /// Samples of all components.
        samples: u128,
        /// The limit.
        most: u128,
    },
    /// Memory that the machine does not have.
    #[error("not enough memory for {bytes} bytes of {what}")]
    Memory {
        /// Use of the memory.
        what: &'static str,
        /// Its size.
        bytes: u128,
    },
    /// A number of discarded resolutions that a tile lacks.
    #[error("invalid reduction {reduce}: the stream has {levels} decomposition levels in every tile")]
    Reduction {
        /// Requested number of discarded resolutions.
        reduce: u32,
        /// The least number of levels.
        levels: u32,
    },
    /// A region without samples of the picture.
    #[error("the region {region} lies outside the picture {picture}")]
    Region {
        /// The region.
        region: crate::Rect,
        /// The picture's area on the reference grid.
        picture: crate::Rect,
    },
    /// A picture that cannot be encoded.
    #[error("invalid picture: {0}")]
    Image(String),
    /// A setting of the encoder that is out of range or contradicts another.
    #[error("invalid setting: {0}")]
    Setting(String),
    /// A transform that cannot be built.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Vector of `count` default values; an error instead of an abort where memory does not suffice.
pub(crate) fn zeros<T: Clone + Default>(count: usize, what: &'static str) -> Result<Vec<T>, Error> {
    let bytes = count as u128 * size_of::<T>() as u128;
    // Asked for twice: pages of zeros need no writing, and only the first request may fail.
    let mut room = Vec::<T>::new();
    room.try_reserve_exact(count).map_err(|_| Error::Memory { what, bytes })?;
    drop(room);
    Ok(vec![T::default(); count])
}
