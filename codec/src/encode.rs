//! Pictures to bytes.

use crate::bands::{Band, Place, places};
use crate::block::{self, Order, Passes};
use crate::colour::Colour;
use crate::decode::Decoder;
use crate::device::{BlockCoder, DeviceEncoder};
use crate::error::CodecError;
use crate::header::{BLOCK_SIDES, Header, MAX_LAYERS, MAX_LEVELS, check_tile};
use crate::image::{Format, Image};
use crate::job::Job;
use crate::packet::PacketId;
use crate::quantise::Quantiser;
use crate::search::{self, Trial};
use crate::weights::step_of_quality;
use lifting::{Device, Domain, Scheme};
use std::sync::Arc;

/// How good a picture has to be, or how small its stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Every sample comes back as it was: of integer wavelets.
    Lossless,
    /// Peak signal-to-noise ratio in dB, of all components together: at least.
    Psnr(f64),
    /// Bits for each pixel, header included: at most.
    BitsPerPixel(f64),
    /// From 1 (worst) to 100; 8 less doubles the error. What it gives for a picture depends on the picture.
    Quality(f64),
}

/// Codes pictures; made by [`Codec::builder`].
#[derive(Clone, Debug)]
pub struct Codec {
    pub(crate) scheme: Scheme,
    pub(crate) levels: u32,
    pub(crate) layers: u32,
    tile: Option<[usize; 2]>,
    pub(crate) target: Target,
    order: Order,
    block: [usize; 2],
    colour: bool,
    pub(crate) fitted: bool,
    pub(crate) device: Device,
    pub(crate) coder: Option<Arc<BlockCoder>>,
}

/// Collects how pictures are to be coded.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `.build()`"]
pub struct CodecBuilder(Codec);

impl Codec {
    /// With this wavelet: 5 levels, lossless, two passes, codeblocks of 64 × 64, unless something else is said.
    ///
    /// ```
    /// use lifting_codec::{Codec, Image, decode};
    /// let samples = (0..32 * 48).map(|i| i % 48 * 5).collect();
    /// let image = Image { height: 32, width: 48, components: 1, bits: 8, signed: false, samples };
    /// let codec = Codec::builder(&lifting::catalogue::find("legall53")?).levels(3).build()?;
    /// let stream = codec.encode(&image)?;
    /// assert!(stream.len() < 32 * 48 / 2);
    /// assert_eq!(decode(&stream)?, image);
    ///
    /// let codec = Codec::builder(&lifting::catalogue::find("cdf97")?).psnr(40.0).build()?;
    /// assert!(decode(&codec.encode(&image)?)?.psnr(&image) >= 40.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(scheme: &Scheme) -> CodecBuilder {
        CodecBuilder(Codec {
            scheme: scheme.clone(),
            levels: 5,
            layers: 1,
            tile: None,
            target: Target::Lossless,
            order: Passes::Two.into(),
            block: [block::MAX_SIDE; 2],
            colour: true,
            fitted: false,
            device: Device::cpu(),
            coder: None,
        })
    }
}

impl CodecBuilder {
    /// Levels of the transform, 0 to [`MAX_LEVELS`].
    pub fn levels(mut self, levels: u32) -> Self {
        self.0.levels = levels;
        self
    }

    /// Quality layers, 1 to [`MAX_LAYERS`]; 1, if nothing is said. Each but the last one halves what those up to the
    /// next one take, or less if there are more than 9. The picture is as good, or as small, as the target says with
    /// all of them; with fewer it is as good as so many bits of these allow
    /// ([`Decoder::layers`](crate::Decoder::layers)). Where there are several, the processor codes the blocks.
    pub fn layers(mut self, layers: u32) -> Self {
        self.0.layers = layers;
        self
    }

    /// Rows and columns of tiles, which know nothing of one another: 64 at least and multiples of 2^levels, or not
    /// below the picture's. The picture is one tile, if nothing is said.
    pub fn tile(mut self, height: usize, width: usize) -> Self {
        self.0.tile = Some([height, width]);
        self
    }

    /// How good or how small.
    pub fn target(mut self, target: Target) -> Self {
        self.0.target = target;
        self
    }

    /// [`Target::Lossless`].
    pub fn lossless(self) -> Self {
        self.target(Target::Lossless)
    }

    /// [`Target::Psnr`].
    pub fn psnr(self, decibels: f64) -> Self {
        self.target(Target::Psnr(decibels))
    }

    /// [`Target::BitsPerPixel`].
    pub fn bits_per_pixel(self, bits: f64) -> Self {
        self.target(Target::BitsPerPixel(bits))
    }

    /// [`Target::Quality`].
    pub fn quality(self, quality: f64) -> Self {
        self.target(Target::Quality(quality))
    }

    /// How often a bitplane is gone through: three passes take a little less room and more time.
    pub fn passes(mut self, passes: Passes) -> Self {
        self.0.order.passes = passes;
        self
    }

    /// Complexity: so many of each block's lowest bitplanes, 0 to [`block::MAX_PLANES`], are gone through once, and
    /// their signs and refinements stand as they are. More of them take less time and a little more room, and cannot be
    /// cut: quality layers end above them. None, if nothing is said.
    pub fn fast(mut self, planes: u32) -> Self {
        self.0.order.fast = planes;
        self
    }

    /// Rows and columns of a codeblock: 4, 8, 16, 32 or 64.
    pub fn block(mut self, height: usize, width: usize) -> Self {
        self.0.block = [height, width];
        self
    }

    /// Whether the first three components are red, green and blue, and are coded as brightness and colour; if there are
    /// three at least. They are, if nothing is said.
    pub fn colour(mut self, colour: bool) -> Self {
        self.0.colour = colour;
        self
    }

    /// Whether tables of probabilities are fitted to the picture, and travel with the stream where that saves room. It
    /// takes more time. They are not, if nothing is said.
    pub fn fitted(mut self, fitted: bool) -> Self {
        self.0.fitted = fitted;
        self
    }

    /// Where pictures are transformed, and blocks are coded: the processor, if nothing is said, or a CUDA device. The
    /// bytes are the same. Blocks of more than 16 bitplanes are the processor's in any case.
    pub fn device(mut self, device: Device) -> Self {
        self.0.device = device;
        self
    }

    /// Checks everything.
    ///
    /// # Errors
    /// If something asked for cannot be, such as lossless coding with a real wavelet; or the device runs no kernels.
    pub fn build(self) -> Result<Codec, CodecError> {
        let mut codec = self.0;
        if codec.levels > MAX_LEVELS {
            return Err(CodecError::Levels { levels: codec.levels, most: MAX_LEVELS });
        }
        if !(1..=MAX_LAYERS).contains(&codec.layers) {
            return Err(CodecError::Layers { layers: codec.layers, most: MAX_LAYERS });
        }
        if codec.order.fast > block::MAX_PLANES {
            return Err(CodecError::Fast { planes: codec.order.fast, most: block::MAX_PLANES });
        }
        if codec.block.iter().any(|side| !BLOCK_SIDES.contains(side)) {
            return Err(CodecError::Codeblock { height: codec.block[0], width: codec.block[1] });
        }
        let wrong = |what, value, expected| Err(CodecError::Target { what, value, expected });
        match codec.target {
            Target::Lossless if codec.scheme.domain() == Domain::Real => {
                Err(CodecError::RealLossless { wavelet: codec.scheme.name().into() })
            }
            Target::Psnr(x) if !(x > 0.0 && x <= 200.0) => wrong("a PSNR", x, "of decibels above 0, up to 200"),
            Target::BitsPerPixel(x) if !(x > 0.0 && x.is_finite()) => wrong("a rate", x, "of bits above 0"),
            Target::Quality(x) if !(1.0..=100.0).contains(&x) => wrong("a quality", x, "from 1 to 100"),
            _ => {
                codec.coder = BlockCoder::new(&codec.device, codec.order)?;
                Ok(codec)
            }
        }
    }
}

impl Codec {
    /// Codes a picture.
    ///
    /// # Errors
    /// If the picture is not what its fields say, does not suit the wavelet's border rule or the tiles, or cannot reach
    /// the target.
    pub fn encode(&self, image: &Image) -> Result<Vec<u8>, CodecError> {
        image.check()?;
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

    /// The same, all the way on the device.
    fn encode_on_device(&self, image: &Image) -> Result<Vec<u8>, CodecError> {
        // Trials begin with any quality.
        let trials = || {
            let codec = Codec { target: Target::Quality(50.0), ..self.clone() };
            let mut encoder = codec.on_device(image.format(), 1)?;
            encoder.upload(0, image)?;
            Ok::<_, CodecError>(encoder)
        };
        match self.target {
            Target::Lossless | Target::Quality(_) => self.on_device(image.format(), 1)?.only(image),
            Target::BitsPerPixel(bits) => {
                let mut encoder = trials()?;
                search::of_bytes(image, search::bytes_of(image, bits), |step| encoder.by_step(step))
            }
            Target::Psnr(decibels) => {
                let (mut encoder, mut decoder) = (trials()?, None);
                search::of_psnr(self, image.bits, decibels, |step| {
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

    /// The symbols of all codeblocks as they would be coded: what [`Tables`](crate::tables::Tables) are trained with.
    ///
    /// # Errors
    /// As for [`Codec::encode`]; and if the target is a rate, which says no quantiser step.
    pub fn symbols(&self, image: &Image) -> Result<Vec<block::Counts>, CodecError> {
        image.check()?;
        match self.scheme.domain() {
            Domain::Integer => Job::<i32>::new(self, image)?.symbols(),
            Domain::Real => Job::<f32>::new(self, image)?.symbols(),
        }
    }
}

/// What streams of all ways have in common.
impl Codec {
    /// A coder of so many pictures of one kind at once, from the memory of the codec's device to streams there: see
    /// [`DeviceEncoder`].
    ///
    /// # Errors
    /// If the device runs no kernels or does not have the memory, or what is asked for needs the processor: a target of
    /// PSNR or rate, layers, fitted tables, or pictures too large.
    pub fn on_device(&self, format: Format, pictures: usize) -> Result<DeviceEncoder, CodecError> {
        DeviceEncoder::new(self, format, pictures)
    }

    pub(crate) fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    pub(crate) fn levels(&self) -> u32 {
        self.levels
    }

    pub(crate) fn order(&self) -> Order {
        self.order
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The step that a device quantises bands of norm 1 with, `None` if integers stay as they are.
    ///
    /// # Errors
    /// If what is asked for needs the processor.
    pub(crate) fn step_on_device(&self, bits: u32) -> Result<Option<f64>, CodecError> {
        let needs = |what| Err(CodecError::NotOnDevice { what });
        match self.target {
            _ if self.layers > 1 => needs("more than one quality layer"),
            _ if self.fitted => needs("tables fitted to the picture"),
            Target::Lossless => Ok(None),
            Target::Quality(quality) => Ok(Some(step_of_quality(quality, bits))),
            Target::Psnr(_) | Target::BitsPerPixel(_) => needs("a target of PSNR or rate, which takes many trials"),
        }
    }

    /// The same codec on the processor.
    pub(crate) fn on_processor(&self) -> Codec {
        Codec { device: Device::cpu(), coder: None, ..self.clone() }
    }

    pub(crate) fn colour_of(&self, components: usize) -> Colour {
        match self.scheme.domain() {
            _ if components < 3 || !self.colour => Colour::None,
            Domain::Integer => Colour::Reversible,
            Domain::Real => Colour::Irreversible,
        }
    }

    pub(crate) fn tile_of(&self, shape: [usize; 2]) -> Result<[usize; 2], CodecError> {
        let tile = self.tile.map_or(shape, |tile| [tile[0].min(shape[0]), tile[1].min(shape[1])]);
        check_tile(tile, shape, self.levels)?;
        Ok(tile)
    }

    /// The codeblocks of each packet of a layer.
    pub(crate) fn places(&self, tiles: &[Vec<Band>], components: usize) -> Vec<Vec<Place>> {
        places_of_packets(tiles, components, self.levels, self.block, self.order)
    }

    pub(crate) fn header(&self, format: &Format, tile: [usize; 2], quantisers: Option<Vec<Quantiser>>) -> Header {
        let Format { height, width, components, bits, signed } = *format;
        let Codec { levels, layers, order, block, .. } = *self;
        let (colour, scheme) = (self.colour_of(components), self.scheme.clone());
        Header {
            height,
            width,
            components,
            bits,
            signed,
            colour,
            levels,
            layers,
            tile,
            block,
            order,
            scheme,
            quantisers,
            tables: None,
        }
    }
}

/// The codeblocks of each packet of a layer.
pub(crate) fn places_of_packets(
    tiles: &[Vec<Band>],
    components: usize,
    levels: u32,
    block: [usize; 2],
    order: Order,
) -> Vec<Vec<Place>> {
    let of = |id: PacketId| places(&tiles[id.tile], components, id.resolution, block, order);
    PacketId::all(1, levels, tiles.len()).map(of).collect()
}
