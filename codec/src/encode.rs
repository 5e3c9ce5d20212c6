//! Pictures to bytes.

use crate::bands::{Band, Place, places};
use crate::block::{self, Encoded, Passes};
use crate::colour::Colour;
use crate::device::BlockCoder;
use crate::error::CodecError;
use crate::header::{self, BLOCK_SIDES, Header, MAX_LEVELS, band_count};
use crate::image::Image;
use crate::lane::{Lane, Transform};
use crate::quantise::{self, Quantiser, Step};
use crate::tables::{TABLE_BYTES, Table, Tables};
use crate::{packet, parallel};
use lifting::{Device, Domain, Scheme};
use lifting_dsl::analysis::{LevelGains, level_gains};
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
    /// If the picture is not what its fields say, does not suit the wavelet's border rule, or cannot reach the target.
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

/// Coefficients as indices, and how they were quantised.
#[derive(Clone)]
struct Quantised {
    quantisers: Option<Vec<Quantiser>>,
    indices: Vec<Vec<i32>>,
}

/// A picture on its way.
struct Job<'a, T> {
    codec: &'a Codec,
    image: &'a Image,
    transform: Transform<T>,
    coefficients: Vec<Vec<T>>,
    colour: Colour,
    gains: Vec<LevelGains>,
}

impl<'a, T: Lane> Job<'a, T> {
    fn new(codec: &'a Codec, image: &'a Image) -> Result<Job<'a, T>, CodecError> {
        let colour = match codec.scheme.domain() {
            _ if image.components < 3 || !codec.colour => Colour::None,
            Domain::Integer => Colour::Reversible,
            Domain::Real => Colour::Irreversible,
        };
        let transform = Transform::<T>::new(&codec.scheme, [image.height, image.width], codec.levels, &codec.device)?;
        let coefficients = transform.analyse(image, colour)?;
        let gains = match codec.target {
            Target::Lossless => Vec::new(),
            _ => level_gains(&codec.scheme, codec.levels),
        };
        Ok(Job { codec, image, transform, coefficients, colour, gains })
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

    /// The symbols of all codeblocks.
    fn counts(&self, quantised: &Quantised) -> Vec<block::Counts> {
        let Codec { levels, block, passes, .. } = *self.codec;
        let all = |resolution| places(&self.transform.bands, self.image.components, resolution, block, passes);
        let places: Vec<_> = (0..=levels).flat_map(all).collect();
        parallel::map(&places, |place| {
            block::Counts::of(place.shape, &place.gather(&quantised.indices[place.component]))
        })
    }

    /// Tables for these very coefficients, if they save more than they take in the stream.
    fn fitted(&self, quantised: &Quantised) -> Option<Tables> {
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
    fn lossless(&self) -> Quantised {
        let integers = |plane: &Vec<T>| plane.iter().map(|c| c.integer()).collect();
        Quantised { quantisers: None, indices: self.coefficients.iter().map(integers).collect() }
    }

    /// The step of a quality, for a band of norm 1.
    fn step_of(&self, quality: f64) -> f64 {
        ((100.0 - quality) / 8.0 + f64::from(self.image.bits) - 8.0).exp2()
    }

    /// What an error of 1 in a coefficient of a band does to the picture.
    fn norm(&self, component: usize, band: &Band) -> f64 {
        let axis = |high: bool| match (band.level, high) {
            (0, _) => 1.0,
            (level, true) => self.gains[level as usize - 1].high.synthesis_l2,
            (level, false) => self.gains[level as usize - 1].low.synthesis_l2,
        };
        self.colour.norm(component) * axis(band.high[0]) * axis(band.high[1])
    }

    /// All bands quantised so that a step does to the picture what `step` does in a band of norm 1.
    fn quantised(&self, step: f64) -> Quantised {
        let bands = &self.transform.bands;
        let all: Vec<(usize, &Band)> =
            (0..self.image.components).flat_map(|c| bands.iter().map(move |band| (c, band))).collect();
        let quantised = parallel::map(&all, |&(component, band)| {
            let wanted = step / self.norm(component, band);
            let whole = T::KIND.domain() == Domain::Integer && wanted < 1.5;
            let mut quantiser = Quantiser { step: if whole { Step::ONE } else { Step::below(wanted) }, offset: 0 };
            let rows = (0..band.shape[0]).map(|y| band.start + y * band.stride);
            let values = rows.flat_map(|at| &self.coefficients[component][at..at + band.shape[1]]);
            let indices = if whole {
                values.map(|c| c.integer()).collect()
            } else {
                let values: Vec<f64> = values.map(|c| c.value() / quantiser.step.value()).collect();
                let indices = quantise::indices(&values, band.shape[1]);
                quantiser.offset = quantise::offset(&values, &indices);
                indices
            };
            (quantiser, indices)
        });
        let mut indices: Vec<Vec<i32>> = self.coefficients.iter().map(|plane| vec![0; plane.len()]).collect();
        for ((component, band), (_, block)) in all.iter().zip(&quantised) {
            for (y, row) in block.chunks(band.shape[1].max(1)).enumerate() {
                indices[*component][band.start + y * band.stride..][..row.len()].copy_from_slice(row);
            }
        }
        Quantised { quantisers: Some(quantised.iter().map(|(quantiser, _)| *quantiser).collect()), indices }
    }

    /// The coarsest quantisation that is as good as asked for, to a hundredth of a decibel.
    fn of_psnr(&self, wanted: f64) -> Result<Quantised, CodecError> {
        /// So near is near enough.
        const NEAR: f64 = 0.01;
        let peak = f64::from(self.image.bits).exp2() - 1.0;
        let mut step = 0.8 * peak * 12f64.sqrt() * 10f64.powf(-wanted / 20.0);
        let mut good: Option<(f64, f64, Quantised)> = None;
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
    fn picture(&self, quantised: &Quantised) -> Result<Image, CodecError> {
        let header = self.header(quantised, None);
        let mut planes: Vec<Vec<T>> = self.coefficients.iter().map(|plane| vec![T::default(); plane.len()]).collect();
        for (component, plane) in planes.iter_mut().enumerate() {
            for (i, band) in self.transform.bands.iter().enumerate() {
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

    fn header(&self, quantised: &Quantised, tables: Option<Tables>) -> Header {
        let Image { height, width, components, bits, signed, .. } = *self.image;
        let Codec { levels, passes, block, .. } = *self.codec;
        debug_assert_eq!(self.transform.bands.len(), band_count(levels));
        Header {
            height,
            width,
            components,
            bits,
            signed,
            colour: self.colour,
            levels,
            block,
            passes,
            scheme: self.codec.scheme.clone(),
            quantisers: quantised.quantisers.clone(),
            tables,
        }
    }

    /// The whole stream.
    fn stream(&self, quantised: &Quantised) -> Result<Vec<u8>, CodecError> {
        let tables = if self.codec.fitted { self.fitted(quantised) } else { None };
        let header = self.header(quantised, tables);
        let mut stream = header.write()?;
        let seed = header::seed(&stream);
        let Header { components, block, passes, .. } = header;
        let of = |resolution| places(&self.transform.bands, components, resolution, block, passes);
        let resolutions: Vec<Vec<Place>> = (0..=header.levels).map(of).collect();
        let mut on_device = match &self.codec.coder {
            Some(coder) => coder.encode(&quantised.indices, &resolutions.concat(), header.tables())?,
            None => None,
        }
        .map(Vec::into_iter);
        for (resolution, places) in (0..).zip(&resolutions) {
            let blocks: Vec<Encoded> = match &mut on_device {
                Some(blocks) => blocks.take(places.len()).collect(),
                None => parallel::map(places, |place| {
                    block::encode(place.shape, &place.gather(&quantised.indices[place.component]), header.tables())
                }),
            };
            packet::write(&blocks, seed, resolution, &mut stream);
        }
        Ok(stream)
    }
}
