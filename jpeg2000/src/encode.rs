//! Encoder settings.

use crate::block::Style;
use crate::codestream::{Coder, Coding, Order, Progression, Size, Wavelet};
use crate::error::Error;
use crate::file;
use crate::image::{Component, Image, Rect};
use crate::job::Job;
use crate::stream::Markers;

/// Quality of the picture, or size of its stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Every sample is restored exactly, by the reversible wavelet.
    Lossless,
    /// Least peak signal-to-noise ratio of all components together, in dB.
    Psnr(f64),
    /// Most bits per pixel of the codestream, headers included.
    BitsPerPixel(f64),
    /// Quantiser step of a band whose synthesis vectors have norm 1, in units of a sample. Half of it is about the
    /// largest error.
    Step(f64),
}

impl Target {
    /// Target of a quality from 1 to 100 for samples of `bits` bits: 8 less doubles the error. `None` for others.
    pub fn of_quality(quality: f64, bits: u32) -> Option<Target> {
        let step = ((100.0 - quality) / 8.0 + f64::from(bits) - 8.0).exp2();
        (1.0..=100.0).contains(&quality).then_some(Target::Step(step))
    }
}

/// Decomposition levels of large pictures.
const LEVELS: u32 = 5;

/// Most quality layers that an encoder writes.
pub const MAX_LAYERS: u32 = 255;

/// Encoder for pictures. Defaults: HTJ2K, lossless, 5 levels, codeblocks of 64 × 64, one tile, one layer, RPCL.
///
/// ```
/// use lifting_jpeg2000::{Coder, Decoder, Encoder, Image};
/// let samples: Vec<i32> = (0..64 * 64 * 3).map(|i| i / 3 % 64 * 2 + i % 3).collect();
/// let image = Image::interleaved([64, 64, 3], 8, false, &samples)?;
/// let stream = Encoder::default().coder(Coder::Ebcot).psnr(40.0).encode(&image)?;
/// let decoded = Decoder::new(&stream)?.decode()?.image;
/// assert!(decoded.psnr(&image) >= 40.0);
/// # Ok::<(), lifting_jpeg2000::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "an encoder does nothing until `.encode()`"]
pub struct Encoder {
    pub(crate) coder: Coder,
    pub(crate) target: Target,
    levels: Option<u32>,
    pub(crate) layers: u32,
    block: [usize; 2],
    precincts: Vec<[usize; 2]>,
    tile: Option<[u32; 2]>,
    style: Style,
    progression: Progression,
    colour: bool,
    sop: bool,
    eph: bool,
    pub(crate) markers: Markers,
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder {
            coder: Coder::Ht,
            target: Target::Lossless,
            levels: None,
            layers: 1,
            block: [64; 2],
            precincts: Vec::new(),
            tile: None,
            style: Style::default(),
            progression: Progression::Rpcl,
            colour: true,
            sop: false,
            eph: false,
            markers: Markers::default(),
        }
    }
}

impl Encoder {
    /// Sets the block coder: that of Part 15 (HTJ2K, default), or that of Part 1, which every decoder reads.
    pub fn coder(mut self, coder: Coder) -> Self {
        self.coder = coder;
        self
    }

    /// Sets quality or size.
    pub fn target(mut self, target: Target) -> Self {
        self.target = target;
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

    /// Sets the decomposition levels, 0 to 32. The default is 5, or fewer for pictures with a side below 32.
    pub fn levels(mut self, levels: u32) -> Self {
        self.levels = Some(levels);
        self
    }

    /// Sets the number of quality layers, 1 (default) to [`MAX_LAYERS`]; Part 1 only. Each layer holds half of the
    /// bytes of the next one.
    pub fn layers(mut self, layers: u32) -> Self {
        self.layers = layers;
        self
    }

    /// Sets rows and columns of a codeblock: powers of two from 4 to 1024, at most 4096 samples.
    pub fn block(mut self, height: usize, width: usize) -> Self {
        self.block = [width, height];
        self
    }

    /// Sets rows and columns of precincts, powers of two, the finest resolution first. The last pair holds for all
    /// coarser ones. By default a precinct has 32768 × 32768 samples.
    pub fn precincts(mut self, sides: &[(usize, usize)]) -> Self {
        self.precincts = sides.iter().map(|&(height, width)| [width, height]).collect();
        self
    }

    /// Sets rows and columns of tiles on the reference grid. By default the picture is one tile.
    pub fn tile(mut self, height: u32, width: u32) -> Self {
        self.tile = Some([width, height]);
        self
    }

    /// Sets the codeblock style. Part 15 knows only [`Style::causal`].
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// Sets the order of the packets.
    pub fn progression(mut self, progression: Progression) -> Self {
        self.progression = progression;
        self
    }

    /// Sets whether the first three components are red, green and blue, to be coded as luminance and chrominance. On by
    /// default; without effect below three components or where they differ in size.
    pub fn colour(mut self, colour: bool) -> Self {
        self.colour = colour;
        self
    }

    /// Sets whether packets begin with SOP segments and their headers end with EPH markers.
    pub fn resync_markers(mut self, sop: bool, eph: bool) -> Self {
        (self.sop, self.eph) = (sop, eph);
        self
    }

    /// Sets whether the lengths of packets (PLT) and of tile-parts (TLM) are written, for decoders of regions.
    pub fn lengths(mut self, packets: bool, tiles: bool) -> Self {
        self.markers = Markers { packet_lengths: packets, tile_lengths: tiles };
        self
    }

    /// Encodes a picture as a codestream.
    ///
    /// # Errors
    /// [`Error::Setting`], [`Error::Image`] or [`Error::Memory`].
    pub fn encode(&self, image: &Image) -> Result<Vec<u8>, Error> {
        image.check()?;
        self.check()?;
        let least = image.components.iter().map(|c| c.height.min(c.width)).min().unwrap_or(1).max(1);
        let encoder = Encoder { levels: self.levels.or(Some(least.ilog2().min(LEVELS))), ..self.clone() };
        match self.wavelet() {
            Wavelet::LeGall53 => Job::<i32>::new(&encoder, image)?.run(),
            Wavelet::Cdf97 => Job::<f32>::new(&encoder, image)?.run(),
        }
    }

    /// Encodes a picture as a file: JPH for Part 15, JP2 for Part 1.
    ///
    /// # Errors
    /// As for [`Encoder::encode`].
    pub fn encode_file(&self, image: &Image, boxes: &file::Boxes) -> Result<Vec<u8>, Error> {
        Ok(boxes.write(image.area, &image.components, self.coder, &self.encode(image)?))
    }

    pub(crate) fn depth(&self) -> u32 {
        self.levels.unwrap_or(LEVELS)
    }

    pub(crate) fn wavelet(&self) -> Wavelet {
        if self.target == Target::Lossless { Wavelet::LeGall53 } else { Wavelet::Cdf97 }
    }

    /// Checks what does not depend on the picture.
    fn check(&self) -> Result<(), Error> {
        let fail = |text: String| Err(Error::Setting(text));
        let is_side = |side: &usize, most: usize| side.is_power_of_two() && (4..=most).contains(side);
        let [width, height] = self.block;
        if !is_side(&width, 1024) || !is_side(&height, 1024) || width * height > 4096 {
            return fail(format!(
                "codeblocks of {height} × {width}; sides are powers of two from 4 to 1024, for at most 4096 samples"
            ));
        }
        if let Some([width, height]) =
            self.precincts.iter().find(|sides| !sides.iter().all(|side| is_side(side, 32768)))
        {
            return fail(format!("precincts of {height} × {width}; sides are powers of two from 4 to 32768"));
        }
        if let Some(levels @ 33..) = self.levels {
            return fail(format!("{levels} levels; at most 32 are allowed"));
        }
        if !(1..=MAX_LAYERS).contains(&self.layers) {
            return fail(format!("{} layers; 1 to {MAX_LAYERS} are allowed", self.layers));
        }
        if self.tile.is_some_and(|sides| sides.contains(&0)) {
            return fail("tiles without samples".into());
        }
        if self.coder == Coder::Ht {
            if self.layers > 1 {
                return fail(format!("{} layers with HTJ2K; use 1, or the coder of Part 1", self.layers));
            }
            if (Style { causal: false, ..self.style }) != Style::default() {
                return fail("a codeblock style of Part 1 with HTJ2K, which knows only `causal`".into());
            }
        }
        match self.target {
            Target::Psnr(x) if !(x > 0.0 && x <= 200.0) => {
                fail(format!("a PSNR of {x} dB; use more than 0, up to 200"))
            }
            Target::BitsPerPixel(x) if !(x > 0.0 && x.is_finite()) => {
                fail(format!("a rate of {x} bits per pixel; use more than 0"))
            }
            Target::Step(x) if !(x > 0.0 && x.is_finite()) => fail(format!("a quantiser step of {x}; use more than 0")),
            _ => Ok(()),
        }
    }

    pub(crate) fn size(&self, image: &Image) -> Result<Size, Error> {
        let area = image.area;
        let [width, height] = self.tile.unwrap_or([area.x1, area.y1]);
        // The tile at the origin; the first one of a picture that begins farther on holds its first sample.
        let first = |start: u32, side: u32| start / side * side;
        let (x0, y0) = (first(area.x0, width), first(area.y0, height));
        let far = |start: u32, side: u32| start.saturating_add(side);
        let tile = Rect { x0, y0, x1: far(x0, width), y1: far(y0, height) };
        let empty = |c: &Component| Component { samples: Vec::new(), ..c.clone() };
        let profile = if self.coder == Coder::Ht { 0x4000 } else { 0 };
        let size = Size { profile, area, tile, components: image.components.iter().map(empty).collect() };
        let [columns, rows] = size.tiles();
        match u64::from(columns) * u64::from(rows) {
            0..=65535 => Ok(size),
            _ => Err(Error::Setting(format!("{columns} × {rows} tiles; at most 65535 are allowed: use larger ones"))),
        }
    }

    pub(crate) fn order(&self, image: &Image) -> Order {
        Order {
            progression: self.progression,
            layers: self.layers,
            colour: self.colour && image.has_colours(),
            sop: self.sop,
            eph: self.eph,
        }
    }

    pub(crate) fn coding(&self) -> Coding {
        let log = |sides: [usize; 2]| sides.map(usize::ilog2);
        let precinct = |resolution: u32| {
            let below = (self.depth() - resolution) as usize;
            log(self.precincts[below.min(self.precincts.len() - 1)])
        };
        let precincts = match self.precincts.is_empty() {
            true => Vec::new(),
            false => (0..=self.depth()).map(precinct).collect(),
        };
        Coding {
            levels: self.depth(),
            block: log(self.block),
            style: self.style,
            coder: self.coder,
            wavelet: self.wavelet(),
            precincts,
        }
    }
}
