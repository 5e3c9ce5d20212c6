//! Settings of an encoder.

use crate::bands::{Band, BlockPlace};
use crate::block::{self, Order, Passes};
use crate::colour::Colour;
use crate::device::{BlockCoder, DeviceEncoder};
use crate::error::CodecError;
use crate::format::Format;
use crate::header::{BLOCK_SIDES, Header, MAX_LAYERS, MAX_LEVELS, VERSION, check_tile};
use crate::metadata::Metadata;
use crate::packet::places_of_packets;
use crate::quantise::Quantiser;
use crate::values::Values;
use crate::weights::step_of_quality;
use lifting::{Device, Domain, Scheme};
use std::sync::{Arc, Mutex};

/// Quality of the picture, or size of its stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Every sample is restored exactly. Needs an integer wavelet.
    Lossless,
    /// Least peak signal-to-noise ratio of all components together, in dB.
    Psnr(f64),
    /// Most bits per pixel, header included.
    BitsPerPixel(f64),
    /// Quality from 1 (worst) to 100; 8 less doubles the error. The resulting size and PSNR depend on the picture.
    Quality(f64),
}

/// Encoder for pictures; made by [`Codec::builder`].
#[derive(Clone, Debug)]
pub struct Codec {
    pub(crate) scheme: Scheme,
    pub(crate) levels: u32,
    pub(crate) layers: u32,
    pub(crate) tile: Option<[usize; 2]>,
    pub(crate) target: Target,
    pub(crate) order: Order,
    pub(crate) block: [usize; 2],
    pub(crate) colour: bool,
    pub(crate) component_axis: bool,
    pub(crate) fitted: bool,
    pub(crate) deflated: bool,
    pub(crate) device: Device,
    pub(crate) coder: Option<Arc<BlockCoder>>,
    /// Sections of metadata.
    pub(crate) sections: Arc<[u8]>,
    /// Values whose ranks are coded.
    pub(crate) values: Option<Arc<Values>>,
    pub(crate) tiles_first: bool,
    pub(crate) idle: IdleEncoder,
}

/// The encoder of the last picture on a device, which the next one of the same format takes. A copy of a codec has none
/// at first, as its settings may become others.
#[derive(Debug, Default)]
pub(crate) struct IdleEncoder(Mutex<Option<Box<DeviceEncoder>>>);

impl Clone for IdleEncoder {
    fn clone(&self) -> IdleEncoder {
        IdleEncoder::default()
    }
}

impl IdleEncoder {
    /// Takes the encoder if it has this format.
    pub fn take(&self, format: Format) -> Option<DeviceEncoder> {
        let mut idle = self.0.lock().unwrap_or_else(|e| e.into_inner());
        if idle.as_ref().is_some_and(|encoder| encoder.format() == format) {
            idle.take().map(|encoder| *encoder)
        } else {
            None
        }
    }

    /// Keeps an encoder.
    pub fn keep(&self, encoder: DeviceEncoder) {
        *self.0.lock().unwrap_or_else(|e| e.into_inner()) = Some(Box::new(encoder));
    }
}

/// Builder of a [`Codec`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `.build()`"]
pub struct CodecBuilder(Codec);

impl Codec {
    /// Starts a codec with this wavelet. Defaults: 5 levels, lossless, two passes, codeblocks of 64 × 64.
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
            component_axis: false,
            fitted: false,
            deflated: true,
            device: Device::cpu(),
            coder: None,
            sections: Arc::default(),
            values: None,
            tiles_first: false,
            idle: IdleEncoder::default(),
        })
    }
}

impl CodecBuilder {
    /// Sets the levels of the transform, 0 to [`MAX_LEVELS`].
    pub fn levels(mut self, levels: u32) -> Self {
        self.0.levels = levels;
        self
    }

    /// Sets the number of quality layers, 1 (default) to [`MAX_LAYERS`].
    ///
    /// Each layer's cumulative size is half of the next one's, or a larger share with more than 9 layers. All layers
    /// together meet the target; fewer give the best picture for their bits
    /// ([`Decoder::layers`](crate::Decoder::layers)). With several layers, the processor codes the blocks.
    pub fn layers(mut self, layers: u32) -> Self {
        self.0.layers = layers;
        self
    }

    /// Sets rows and columns of the independent tiles. Each is at least 64 and a multiple of 2^levels, or not below the
    /// picture's. By default the whole picture is one tile.
    pub fn tile(mut self, height: usize, width: usize) -> Self {
        self.0.tile = Some([height, width]);
        self
    }

    /// Sets quality or size.
    pub fn target(mut self, target: Target) -> Self {
        self.0.target = target;
        self
    }

    /// Replaces the wavelet.
    pub fn wavelet(mut self, scheme: &Scheme) -> Self {
        self.0.scheme = scheme.clone();
        self
    }

    /// Sets [`Target::Lossless`].
    pub fn lossless(self) -> Self {
        self.target(Target::Lossless)
    }

    /// Sets [`Target::Psnr`].
    pub fn psnr(self, decibels: f64) -> Self {
        self.target(Target::Psnr(decibels))
    }

    /// Sets [`Target::BitsPerPixel`].
    pub fn bits_per_pixel(self, bits: f64) -> Self {
        self.target(Target::BitsPerPixel(bits))
    }

    /// Sets [`Target::Quality`].
    pub fn quality(self, quality: f64) -> Self {
        self.target(Target::Quality(quality))
    }

    /// Sets the number of passes per bitplane. Three passes take slightly less space and more time.
    pub fn passes(mut self, passes: Passes) -> Self {
        self.0.order.passes = passes;
        self
    }

    /// Sets the number of fast planes, 0 (default) to [`block::MAX_PLANES`].
    ///
    /// Each block's fast planes, its lowest ones, have a single pass; their signs and refinements are stored raw. More
    /// fast planes take less time and slightly more space. Quality layers cannot end inside them.
    pub fn fast(mut self, planes: u32) -> Self {
        self.0.order.fast = planes;
        self
    }

    /// Sets rows and columns of a codeblock: 4, 8, 16, 32 or 64.
    pub fn block(mut self, height: usize, width: usize) -> Self {
        self.0.block = [height, width];
        self
    }

    /// Sets whether the first three components are red, green and blue, to be coded as luminance and chrominance. On by
    /// default; without effect below three components.
    pub fn colour(mut self, colour: bool) -> Self {
        self.0.colour = colour;
        self
    }

    /// Sets whether probability tables are fitted to the picture. They go into the stream where that saves space. Takes
    /// more time; off by default.
    pub fn fitted(mut self, fitted: bool) -> Self {
        self.0.fitted = fitted;
        self
    }

    /// Sets whether packets are deflated where that saves space, as it does for pictures with repeated patterns and few
    /// details. On by default; without effect with several layers, and in streams that a device makes.
    pub fn deflated(mut self, deflated: bool) -> Self {
        self.0.deflated = deflated;
        self
    }

    /// Sets the device that transforms pictures and codes blocks: a CUDA device, or the processor (default). The bytes
    /// are the same, apart from deflated packets. Blocks of more than 16 bitplanes always run on the processor.
    ///
    /// On a CUDA device, the codec keeps kernels and memory of the last picture for the next one of the same format.
    /// [`Codec::frames`] overlaps pictures.
    pub fn device(mut self, device: Device) -> Self {
        self.0.device = device;
        self
    }

    /// Checks the settings and builds the codec.
    ///
    /// # Errors
    /// If settings exclude one another, such as lossless coding with a real wavelet, or if the device cannot run
    /// kernels.
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
    /// Sets whether streams of one component record that the array had an axis for it: (height, width, 1).
    pub fn component_axis(self, component_axis: bool) -> Codec {
        Codec { component_axis, idle: IdleEncoder::default(), ..self }
    }

    /// Sets rows and columns of the tiles: see [`CodecBuilder::tile`].
    pub fn tile(self, height: usize, width: usize) -> Codec {
        Codec { tile: Some([height, width]), idle: IdleEncoder::default(), ..self }
    }

    /// Sets the metadata of streams.
    ///
    /// # Errors
    /// If it is too long.
    pub fn metadata(self, metadata: &Metadata) -> Result<Codec, CodecError> {
        Ok(Codec { sections: metadata.write()?.into(), idle: IdleEncoder::default(), ..self })
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

    /// Quantiser step on a device for bands of norm 1; `None` if integers stay unquantised.
    ///
    /// # Errors
    /// If a setting needs the processor.
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

    /// Copy of the codec on another device.
    pub(crate) fn for_device(&self, device: &Device) -> Result<Codec, CodecError> {
        let coder = BlockCoder::new(device, self.order)?;
        Ok(Codec { device: device.clone(), coder, ..self.clone() })
    }

    /// Copy of the codec with another target.
    pub(crate) fn with_target(&self, target: Target) -> Codec {
        Codec { target, ..self.clone() }
    }

    /// Copy of the codec that runs on the processor.
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

    /// Codeblocks of each packet of a layer.
    pub(crate) fn places(&self, tiles: &[Vec<Band>], components: usize) -> Vec<Vec<BlockPlace>> {
        places_of_packets(tiles, components, self.levels, self.block, self.order)
    }

    pub(crate) fn header(&self, format: &Format, tile: [usize; 2], quantisers: Option<Vec<Quantiser>>) -> Header {
        let Format { height, width, components, bits, signed } = *format;
        let Codec { levels, layers, order, block, component_axis, .. } = *self;
        let (colour, scheme) = (self.colour_of(components), self.scheme.clone());
        Header {
            version: VERSION,
            height,
            width,
            components,
            component_axis: component_axis && components == 1,
            bits,
            signed,
            values: self.values.as_deref().cloned(),
            colour,
            levels,
            layers,
            tile,
            tiles_first: self.tiles_first,
            sections: self.sections.len(),
            block,
            order,
            scheme,
            quantisers,
            tables: None,
        }
    }
}
