//! Encoder: pictures to streams.

use crate::block;
use crate::budget;
use crate::codec::{Codec, Target};
use crate::decode::{CONSTANT, Decoder, PROPORTION, SMALL};
use crate::device::DeviceEncoder;
use crate::error::CodecError;
use crate::format::Format;
use crate::image::Image;
use crate::job::Job;
use crate::search::{self, Trial};
use crate::values::Values;
use lifting::Domain;
use std::sync::Arc;

impl Codec {
    /// Encodes a picture.
    ///
    /// # Errors
    /// If the picture does not match its fields, does not suit the wavelet's border rule or the tiles, or cannot reach
    /// the target.
    pub fn encode(&self, image: &Image) -> Result<Vec<u8>, CodecError> {
        image.check()?;
        // Planes, coefficients, words and the stream; quantised coefficients in addition, and a picture to compare.
        let each = match self.target {
            Target::Lossless => 20,
            Target::Quality(_) | Target::BitsPerPixel(_) => 26,
            Target::Psnr(_) => 38,
        };
        budget::check_memory(image.samples.len() as u128 * each, "the picture's coefficients")?;
        let mut stream = self.stream_of(image)?;
        // No stream is made that decoders refuse.
        if self.deflated && image.samples.len() as u128 > SMALL + PROPORTION * stream.len() as u128 {
            stream = Codec { deflated: false, ..self.clone() }.stream_of(image)?;
        }
        budget::check(&self.scheme, image.samples.len() as u128, stream.len(), None)?;
        Ok(stream)
    }

    fn stream_of(&self, image: &Image) -> Result<Vec<u8>, CodecError> {
        if self.target == Target::Lossless
            && let Some((values, ranks)) = Values::of(image)?
        {
            let is_small = ranks.samples.len() as u128 <= CONSTANT;
            match values.only() {
                Some(_) if !is_small => {}
                only => {
                    let codec = Codec { values: Some(Arc::new(values)), ..self.clone() };
                    return if only.is_some() { codec.head(&ranks) } else { codec.stream_of_samples(&ranks) };
                }
            }
        }
        self.stream_of_samples(image)
    }

    /// Stream without packets.
    fn head(&self, image: &Image) -> Result<Vec<u8>, CodecError> {
        let mut stream = self.header(&image.format(), self.tile_of([image.height, image.width])?, None).write()?;
        stream.extend_from_slice(&self.sections);
        Ok(stream)
    }

    fn stream_of_samples(&self, image: &Image) -> Result<Vec<u8>, CodecError> {
        if self.coder.is_some() && self.layers == 1 && !self.fitted {
            match self.encode_on_device(image) {
                Err(CodecError::NotOnDevice { .. }) => {}
                done => return done,
            }
        }
        match self.scheme.domain() {
            Domain::Integer => Job::<i32>::new(self, image)?.run(),
            Domain::Real => Job::<f32>::new(self, image)?.run(),
        }
    }

    /// Encodes a picture entirely on the device.
    fn encode_on_device(&self, image: &Image) -> Result<Vec<u8>, CodecError> {
        // Trials replace this quality.
        let trials = || {
            let codec = self.with_target(Target::Quality(50.0));
            let mut encoder = codec.on_device(image.format(), 1)?;
            encoder.upload(0, image)?;
            Ok::<_, CodecError>(encoder)
        };
        match self.target {
            Target::Lossless | Target::Quality(_) => {
                let format = image.format();
                let mut encoder = self.idle.take(format).map_or_else(|| self.on_device(format, 1), Ok)?;
                let stream = encoder.only(image)?;
                self.idle.keep(encoder);
                Ok(stream)
            }
            Target::BitsPerPixel(bits) => {
                let mut encoder = trials()?;
                search::of_bytes(image, search::bytes_of(image, bits), |step| encoder.by_step(step))
            }
            Target::Psnr(decibels) => {
                let (mut encoder, mut decoder) = (trials()?, None);
                search::of_psnr(self, image, decibels, |step| {
                    let stream = encoder.by_step(step)?;
                    let read = Decoder::new(&stream)?;
                    let decoder = match &mut decoder {
                        Some(decoder) => decoder,
                        empty => empty.insert(read.on_device(&self.device, 1, encoder.capacity())?),
                    };
                    let psnr = decoder.decode_one(&stream)?.image.psnr(image);
                    let finest = search::is_finest(read.header().quantisers.iter().flatten());
                    Ok(Trial { psnr, finest, result: stream })
                })
            }
        }
    }

    /// Symbol counts of all codeblocks: training data for [`Tables`](crate::tables::Tables).
    ///
    /// # Errors
    /// As for [`Codec::encode`], and if the target is a rate, as a rate does not determine the quantiser step.
    pub fn symbols(&self, image: &Image) -> Result<Vec<block::Counts>, CodecError> {
        image.check()?;
        match self.scheme.domain() {
            Domain::Integer => Job::<i32>::new(self, image)?.symbols(),
            Domain::Real => Job::<f32>::new(self, image)?.symbols(),
        }
    }

    /// Creates an encoder for batches of `pictures` pictures of one format, from device memory to streams there: see
    /// [`DeviceEncoder`].
    ///
    /// # Errors
    /// If the device cannot run kernels or lacks the memory, or if a setting needs the processor: a target of PSNR or
    /// rate, several layers, fitted tables, or pictures too large.
    pub fn on_device(&self, format: Format, pictures: usize) -> Result<DeviceEncoder, CodecError> {
        DeviceEncoder::new(self, format, pictures)
    }
}
