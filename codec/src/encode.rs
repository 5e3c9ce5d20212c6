//! Pictures to bytes.

use crate::bands::{Band, Place, places};
use crate::block::{self, Encoded, Passes, Prefix};
use crate::colour::Colour;
use crate::device::{BlockCoder, DeviceEncoder};
use crate::error::CodecError;
use crate::header::{self, BLOCK_SIDES, Header, MAX_LAYERS, MAX_LEVELS, band_count, check_tile};
use crate::image::{Format, Image};
use crate::lane::{Lane, Transform};
use crate::packet::PacketId;
use crate::quantise::{self, Excess, Quantiser, Step};
use crate::tables::{TABLE_BYTES, Table, Tables};
use crate::weights::{Weights, step_of_quality};
use crate::{packet, parallel, rate};
use lifting::{Device, Domain, Scheme};
use std::borrow::Cow;
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
    scheme: Scheme,
    levels: u32,
    layers: u32,
    tile: Option<[usize; 2]>,
    target: Target,
    passes: Passes,
    block: [usize; 2],
    colour: bool,
    fitted: bool,
    device: Device,
    coder: Option<Arc<BlockCoder>>,
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
            passes: Passes::Two,
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
        self.0.passes = passes;
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
                codec.coder = BlockCoder::new(&codec.device, codec.passes)?;
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
        match self.scheme.domain() {
            Domain::Integer => Job::<i32>::new(self, image)?.run(),
            Domain::Real => Job::<f32>::new(self, image)?.run(),
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

    pub(crate) fn passes(&self) -> Passes {
        self.passes
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
        places_of_packets(tiles, components, self.levels, self.block, self.passes)
    }

    pub(crate) fn header(&self, format: &Format, tile: [usize; 2], quantisers: Option<Vec<Quantiser>>) -> Header {
        let Format { height, width, components, bits, signed } = *format;
        let Codec { levels, layers, passes, block, .. } = *self;
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
            passes,
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
    passes: Passes,
) -> Vec<Vec<Place>> {
    let of = |id: PacketId| places(&tiles[id.tile], components, id.resolution, block, passes);
    PacketId::all(1, levels, tiles.len()).map(of).collect()
}

/// Coefficients as indices, and how they were quantised.
#[derive(Clone)]
struct Quantised<'a> {
    quantisers: Option<Vec<Quantiser>>,
    indices: Cow<'a, [Vec<i32>]>,
}

/// A picture on its way.
struct Job<'a, T> {
    codec: &'a Codec,
    image: &'a Image,
    tile: [usize; 2],
    transform: Transform<T>,
    coefficients: Vec<Vec<T>>,
    weights: Weights,
}

impl<'a, T: Lane> Job<'a, T> {
    fn new(codec: &'a Codec, image: &'a Image) -> Result<Job<'a, T>, CodecError> {
        let colour = codec.colour_of(image.components);
        let shape = [image.height, image.width];
        let tile = codec.tile_of(shape)?;
        let transform = Transform::<T>::new(&codec.scheme, shape, tile, codec.levels, &codec.device)?;
        let coefficients = transform.analyse(image, colour)?;
        // Where nothing is quantised or cut, nobody asks for weights.
        let weighed = codec.target != Target::Lossless || codec.layers > 1;
        let weights = Weights::new(&codec.scheme, if weighed { codec.levels } else { 0 }, colour);
        Ok(Job { codec, image, tile, transform, coefficients, weights })
    }

    fn run(&self) -> Result<Vec<u8>, CodecError> {
        match self.codec.target {
            Target::Lossless => self.stream(&self.lossless()),
            Target::Quality(quality) => self.stream(&self.quantised(self.step_of(quality))),
            Target::Psnr(decibels) => self.stream(&self.of_psnr(decibels)?),
            Target::BitsPerPixel(bits) => {
                let pixels = self.image.height as f64 * self.image.width as f64;
                self.of_bytes((bits * pixels / 8.0) as u64)
            }
        }
    }

    fn symbols(&self) -> Result<Vec<block::Counts>, CodecError> {
        let quantised = match self.codec.target {
            Target::Lossless => self.lossless(),
            Target::Quality(quality) => self.quantised(self.step_of(quality)),
            Target::Psnr(decibels) => self.of_psnr(decibels)?,
            Target::BitsPerPixel(bits) => return Err(CodecError::SymbolsOfRate { bits }),
        };
        Ok(self.counts(&quantised))
    }

    /// The codeblocks of each packet of a layer.
    fn places(&self) -> Vec<Vec<Place>> {
        self.codec.places(&self.transform.tiles, self.image.components)
    }

    /// The symbols of all codeblocks.
    fn counts(&self, quantised: &Quantised<'_>) -> Vec<block::Counts> {
        parallel::map(&self.places().concat(), |place| {
            block::Counts::of(place.shape, &place.gather(&quantised.indices[place.component]))
        })
    }

    /// Tables for these very coefficients, if they save more than they take in the stream.
    fn fitted(&self, quantised: &Quantised<'_>) -> Option<Tables> {
        let counts: Vec<_> = self.counts(quantised).into_iter().filter(|counts| !counts.is_empty()).collect();
        let bits = |tables: &Tables| parallel::map(&counts, |counts| tables.cheapest(counts).1).iter().sum::<f64>();
        let built_in = Tables::built_in();
        let mut best = (bits(built_in), None);
        // The built-in ones made fit, as many of them as are chosen; or a few that begin from nothing.
        let few = |count| Some(Tables::new(vec![Table::EVEN])?.trained(&counts, count, 2));
        for tables in [Some(built_in.trained(&counts, 1, 2)), few(2), few(8)].into_iter().flatten() {
            let bits = bits(&tables) + 8.0 * (1 + tables.count() * TABLE_BYTES) as f64;
            if bits < best.0 {
                best = (bits, Some(tables));
            }
        }
        best.1
    }

    /// Integers as they are.
    fn lossless(&self) -> Quantised<'_> {
        Quantised { quantisers: None, indices: T::integers(&self.coefficients) }
    }

    /// The step of a quality, for a band of norm 1.
    fn step_of(&self, quality: f64) -> f64 {
        step_of_quality(quality, self.image.bits)
    }

    /// All bands quantised so that a step does to the picture what `step` does in a band of norm 1.
    fn quantised(&self, step: f64) -> Quantised<'_> {
        let each = band_count(self.codec.levels);
        let of_component = |c: usize| self.transform.tiles.iter().flatten().map(move |band| (c, band));
        let all: Vec<(usize, &Band)> = (0..self.image.components).flat_map(of_component).collect();
        let is_whole = T::KIND.domain() == Domain::Integer;
        let step_of = |component: usize, band: &Band| self.weights.step(step, component, band);
        let quantised = parallel::map(&all, |&(component, band)| {
            let step = step_of(component, band);
            let rows = (0..band.shape[0]).map(|y| band.start + y * band.stride);
            let values = rows.flat_map(|at| &self.coefficients[component][at..at + band.shape[1]]);
            if is_whole && step == Step::ONE {
                return (Excess::default(), values.map(|c| c.integer()).collect());
            }
            let inverse = step.inverse();
            let values: Vec<f32> = values.map(|c| c.single() * inverse).collect();
            let indices = quantise::indices(&values, band.shape[1]);
            (Excess::of(&values, &indices), indices)
        });
        let mut indices: Vec<Vec<i32>> = self.coefficients.iter().map(|plane| vec![0; plane.len()]).collect();
        for ((component, band), (_, block)) in all.iter().zip(&quantised) {
            for (y, row) in block.chunks(band.shape[1].max(1)).enumerate() {
                indices[*component][band.start + y * band.stride..][..row.len()].copy_from_slice(row);
            }
        }
        // A band has one quantiser in all tiles.
        let tiles = self.transform.tiles.len();
        let quantisers = (0..self.image.components * each).map(|i| {
            let (component, band) = (i / each, i % each);
            let of_tile = |tile: usize| quantised[(component * tiles + tile) * each + band].0;
            let step = step_of(component, &self.transform.tiles[0][band]);
            Quantiser { step, offset: (0..tiles).map(of_tile).fold(Excess::default(), Excess::and).offset() }
        });
        Quantised { quantisers: Some(quantisers.collect()), indices: indices.into() }
    }

    /// The coarsest quantisation that is as good as asked for, to a hundredth of a decibel.
    fn of_psnr(&self, wanted: f64) -> Result<Quantised<'_>, CodecError> {
        /// So near is near enough.
        const NEAR: f64 = 0.01;
        let peak = f64::from(self.image.bits).exp2() - 1.0;
        let mut step = 0.8 * peak * 12f64.sqrt() * 10f64.powf(-wanted / 20.0);
        let mut good: Option<(f64, f64, Quantised<'_>)> = None;
        let mut bad: Option<(f64, f64)> = None;
        let mut reached = 0.0;
        for _ in 0..24 {
            let quantised = self.quantised(step);
            let psnr = self.picture(&quantised)?.psnr(self.image);
            reached = f64::max(reached, psnr);
            let finest = quantised.quantisers.iter().flatten().all(|q| q.step == Step(0) || *q == Quantiser::NONE);
            if psnr >= wanted {
                good = Some((step, psnr, quantised));
                if psnr - wanted <= NEAR {
                    break;
                }
            } else if finest {
                break;
            } else {
                bad = Some((step, psnr));
            }
            step = match (&good, bad) {
                (Some((fine, high, _)), Some((coarse, low))) => {
                    if coarse / fine < 1.0005 {
                        break;
                    }
                    // Where the curve is as a line, the middle of what would be good enough.
                    let share = if high.is_finite() { (high - wanted - NEAR / 2.0) / (high - low) } else { 0.5 };
                    fine * (coarse / fine).powf(share.clamp(0.05, 0.95))
                }
                (Some((fine, high, _)), None) => fine * (((high - wanted) / 5.0).min(3.0) + 0.02).exp2(),
                (None, _) => step * (-((wanted - psnr) / 6.0).min(3.0) - 0.02).exp2(),
            };
        }
        let wavelet = || self.codec.scheme.name().to_owned();
        good.map(|(_, _, quantised)| quantised).ok_or_else(|| CodecError::TooGood {
            wanted,
            reached,
            wavelet: wavelet(),
        })
    }

    /// The best stream of at most so many bytes, or nearly so.
    fn of_bytes(&self, bytes: u64) -> Result<Vec<u8>, CodecError> {
        let pixels = self.image.samples.len() as f64;
        let mut step = self.step_of(100.0) * (5.0 - 8.0 * bytes as f64 / pixels).clamp(-2.0, 12.0).exp2();
        let mut fits: Option<(f64, Vec<u8>)> = None;
        let mut beyond: Option<(f64, usize)> = None;
        let mut least = u64::MAX;
        for _ in 0..20 {
            let stream = self.stream(&self.quantised(step))?;
            least = least.min(stream.len() as u64);
            let length = stream.len() as f64;
            if stream.len() as u64 <= bytes {
                let near = length >= 0.998 * bytes as f64;
                fits = Some((step, stream));
                if near {
                    break;
                }
            } else {
                beyond = Some((step, stream.len()));
            }
            step = match (&fits, beyond) {
                (Some((coarse, small)), Some((fine, large))) => {
                    if coarse / fine < 1.0005 {
                        break;
                    }
                    let (small, large) = ((small.len() as f64).ln(), (large as f64).ln());
                    let share = (large - (0.9995 * bytes as f64).ln()) / (large - small);
                    fine * (coarse / fine).powf(share.clamp(0.02, 0.98))
                }
                // Finer than this is more than lossless, or than reals have digits.
                (Some((coarse, _)), None) if *coarse < 1e-3 => break,
                (Some((coarse, small)), None) => coarse * (small.len() as f64 / bytes as f64).clamp(0.1, 0.9),
                (None, _) if step > 1e9 => break,
                (None, _) => step * (length / bytes.max(1) as f64).powf(1.2).clamp(1.1, 16.0),
            };
        }
        fits.map(|(_, stream)| stream).ok_or(CodecError::TooSmall { bytes, least })
    }

    /// What a decoder makes of it.
    fn picture(&self, quantised: &Quantised<'_>) -> Result<Image, CodecError> {
        let header = self.header(quantised, None);
        let mut planes: Vec<Vec<T>> = self.coefficients.iter().map(|plane| vec![T::default(); plane.len()]).collect();
        for (component, plane) in planes.iter_mut().enumerate() {
            for (i, band) in self.transform.tiles.iter().flat_map(|bands| bands.iter().enumerate()) {
                let quantiser = header.quantiser(component, i);
                for y in 0..band.shape[0] {
                    let at = band.start + y * band.stride..band.start + y * band.stride + band.shape[1];
                    let indices = &quantised.indices[component][at.clone()];
                    for (to, &q) in plane[at].iter_mut().zip(indices) {
                        *to = T::near(quantiser.coefficient(q.unsigned_abs(), q < 0, 0));
                    }
                }
            }
        }
        self.transform.synthesise(&header, &planes, 0)
    }

    fn header(&self, quantised: &Quantised<'_>, tables: Option<Tables>) -> Header {
        Header { tables, ..self.codec.header(&self.image.format(), self.tile, quantised.quantisers.clone()) }
    }

    /// The whole stream.
    fn stream(&self, quantised: &Quantised<'_>) -> Result<Vec<u8>, CodecError> {
        let tables = if self.codec.fitted { self.fitted(quantised) } else { None };
        let header = self.header(quantised, tables);
        let mut stream = header.write()?;
        let seed = header::seed(&stream);
        let packets = self.places();
        let places = packets.concat();
        let (blocks, ends) = self.blocks(quantised, &header, &places)?;
        let tiles = self.transform.tiles.len();
        let mut from = vec![0; blocks.len()];
        let mut ids = (0..).zip(PacketId::all(header.layers, header.levels, tiles));
        for to in &ends {
            let mut at = 0;
            for places in &packets {
                let Some((number, id)) = ids.next() else { break };
                let here = at..at + places.len();
                let parts = from[here.clone()].iter().zip(&to[here.clone()]).map(|(&from, &to)| from..to);
                packet::write(blocks[here].iter().zip(parts), id.layer, seed.wrapping_add(number), &mut stream)?;
                at += places.len();
            }
            from.clone_from(to);
        }
        Ok(stream)
    }

    /// All blocks, and how many of their words are in each layer and those before.
    fn blocks(
        &self,
        quantised: &Quantised<'_>,
        header: &Header,
        places: &[Place],
    ) -> Result<(Vec<Encoded>, Vec<Vec<usize>>), CodecError> {
        let tables = header.tables();
        let indices = |place: &Place| place.gather(&quantised.indices[place.component]);
        if header.layers == 1 {
            let on_device = match &self.codec.coder {
                Some(coder) => coder.encode(&quantised.indices, places, tables)?,
                None => None,
            };
            let here = || parallel::map(places, |place| block::encode(place.shape, &indices(place), tables));
            let blocks = on_device.unwrap_or_else(here);
            let ends = blocks.iter().map(|block| block.words.len()).collect();
            return Ok((blocks, vec![ends]));
        }
        let coded = parallel::map(places, |place| {
            let (block, prefixes) = block::encode_with_prefixes(place.shape, &indices(place), tables);
            let step = header.quantiser(place.component, place.band).step.value();
            let norm = self.weights.norm(place.component, &self.transform.tiles[0][place.band]);
            (block, (prefixes, (step * norm).powi(2)))
        });
        let (blocks, prefixes): (Vec<Encoded>, Vec<(Vec<Prefix>, f64)>) = coded.into_iter().unzip();
        Ok((blocks, rate::layers(&prefixes, header.layers)))
    }
}
