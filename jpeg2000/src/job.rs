//! Encoding of one picture.

use crate::block::{Encoded, Orientation, Shape, ebcot, ht};
use crate::codestream::{Coder, Order, Parameters, Quantisation, Size, Steps, Wavelet};
use crate::encode::{Encoder, Target};
use crate::error::Error;
use crate::image::{Image, Rect};
use crate::lane::for_pixels;
use crate::tile::{BlockPlace, Tile, TileComponent};
use crate::transform::{Plans, Transformed, scheme};
use crate::{rate, stream};
use lifting::threads;
use lifting_dsl::analysis::{LevelGains, level_gains};

/// Encoding of one picture, after its transform.
pub struct Job<'a, T> {
    encoder: &'a Encoder,
    image: &'a Image,
    size: Size,
    order: Order,
    /// Parameters of the main header; the quantiser is replaced after the blocks are coded.
    parameters: Parameters,
    tiles: Vec<TileData<T>>,
    gains: Vec<LevelGains>,
    plans: Plans,
}

/// Tile with the coefficients of its components.
struct TileData<T> {
    tile: Tile,
    coefficients: Vec<Vec<T>>,
}

/// Codeblock of a picture.
#[derive(Clone, Copy)]
struct Block {
    tile: usize,
    component: usize,
    place: BlockPlace,
}

/// Coded blocks of a picture, in the order of [`Job::places`].
struct Coded {
    places: Vec<Block>,
    blocks: Vec<Encoded>,
    quantisation: Quantisation,
}

impl<'a, T: Transformed> Job<'a, T> {
    /// Transforms a picture.
    pub fn new(encoder: &'a Encoder, image: &'a Image) -> Result<Job<'a, T>, Error> {
        let (size, order, coding) = (encoder.size(image)?, encoder.order(image), encoder.coding());
        let parameters = Parameters {
            order: Some(order),
            coding: Some(coding),
            quantisation: Some(Quantisation { guard: 0, steps: Steps::Reversible(Vec::new()) }),
            ..Parameters::default()
        };
        let [columns, rows] = size.tiles();
        let plans = Plans::default();
        let indices: Vec<u32> = (0..columns * rows).collect();
        let tiles = threads::map(&indices, |&index| {
            let tile = Tile::new(&size, &parameters, &Parameters::default(), index)?;
            let coefficients = analyse(image, &tile, &plans)?;
            Ok(TileData { tile, coefficients })
        });
        let tiles: Vec<TileData<T>> = tiles.into_iter().collect::<Result<_, Error>>()?;
        let gains = level_gains(&scheme::<T>()?, encoder.depth());
        Ok(Job { encoder, image, size, order, parameters, tiles, gains, plans })
    }

    /// Encodes the codestream.
    pub fn run(&self) -> Result<Vec<u8>, Error> {
        match self.encoder.target {
            Target::Lossless => self.stream(&self.coded(1.0), None),
            Target::Step(step) => self.stream(&self.coded(step), None),
            Target::Psnr(decibels) => self.stream(&self.coded(self.step_of_psnr(decibels)?), None),
            Target::BitsPerPixel(bits) => self.of_rate(bits),
        }
    }

    /// L2 norm of the picture's error for an error of 1 in a coefficient.
    fn norm(&self, component: usize, resolution: u32, orientation: Orientation) -> f64 {
        let level = if resolution == 0 { self.encoder.depth() } else { self.encoder.depth() - resolution + 1 };
        // There are gains for the levels of any real picture; deeper ones have single samples.
        let of_level = (level as usize).min(self.gains.len()).checked_sub(1).map(|k| &self.gains[k]);
        let axis = |high: bool| match of_level {
            None => 1.0,
            Some(gains) if high => gains.high.synthesis_l2,
            Some(gains) => gains.low.synthesis_l2,
        };
        let [right, down] = orientation.high().map(axis);
        right * down * if self.order.colour { T::colour_norm(component) } else { 1.0 }
    }

    /// Exponent and mantissa of each band's step, coarsest first: the largest that affects the picture at most as
    /// `step` does in a band of norm 1 (equation E-3). All components have the steps of the first one.
    fn quantisation(&self, step: f64, guard: u32) -> Quantisation {
        let levels = self.encoder.depth();
        let bits = self.size.components.iter().map(|c| c.bits).max().unwrap_or(8);
        let bands = (0..=levels).flat_map(|r| {
            let all = [Orientation::Ll, Orientation::Hl, Orientation::Lh, Orientation::Hh];
            all.into_iter().filter(move |&o| (o == Orientation::Ll) == (r == 0)).map(move |o| (r, o))
        });
        let steps = match self.encoder.wavelet() {
            // A bit more than the nominal range: the differences of the colour transform have it.
            Wavelet::LeGall53 => {
                Steps::Reversible(bands.map(|(_, o)| bits + o.gain() + u32::from(self.order.colour)).collect())
            }
            Wavelet::Cdf97 => {
                Steps::Each(bands.map(|(r, o)| coded_step(step / self.norm(0, r, o), bits + o.gain())).collect())
            }
        };
        Quantisation { guard, steps }
    }

    /// All codeblocks, tile by tile.
    fn places(&self) -> Vec<Block> {
        let of_tile = |(tile, data): (usize, &TileData<T>)| -> Vec<Block> {
            let components = data.tile.components.iter().enumerate();
            let of_component = |(component, c): (usize, &TileComponent)| -> Vec<Block> {
                c.blocks(c.coding.levels, c.area.width())
                    .into_iter()
                    .map(|place| Block { tile, component, place })
                    .collect()
            };
            components.flat_map(of_component).collect()
        };
        self.tiles.iter().enumerate().flat_map(of_tile).collect()
    }

    /// Bitplanes and quantiser step of the block's band.
    fn quantiser(&self, quantisation: &Quantisation, block: &Block) -> (u32, f64) {
        let component = &self.tiles[block.tile].tile.components[block.component];
        let BlockPlace { resolution, orientation, .. } = block.place;
        quantisation.quantiser(&component.coding, resolution, orientation, component.bits).unwrap_or_default()
    }

    /// Rows of a block's coefficients.
    fn rows(&self, block: &Block) -> impl Iterator<Item = &[T]> {
        let data = &self.tiles[block.tile];
        let plane = &data.coefficients[block.component];
        let (at, stride) = (block.place.at, data.tile.components[block.component].area.width());
        let Shape { height, width } = block.place.shape();
        (0..height).map(move |y| &plane[at + y * stride..][..width])
    }

    /// Codes all blocks, quantised by `step`.
    fn coded(&self, step: f64) -> Coded {
        let mut quantisation = self.quantisation(step, 1);
        let places = self.places();
        let style = self.encoder.coding().style;
        let coded = threads::map(&places, |block| {
            let (shape, orientation) = (block.place.shape(), block.place.orientation);
            let inverse = (1.0 / self.quantiser(&quantisation, block).1) as f32;
            let mut indices = Vec::with_capacity(shape.height * shape.width);
            self.rows(block).for_each(|row| indices.extend(row.iter().map(|c| c.quantise(inverse))));
            let largest = 32 - indices.iter().fold(0, |all, index| all | index.unsigned_abs()).leading_zeros();
            let block = match self.encoder.coder {
                Coder::Ht => ht::encode(shape, style.causal, &indices, 0, 1),
                Coder::Ebcot => ebcot::encode(shape, orientation, style, &indices),
            };
            (block, largest)
        });
        let (blocks, largest): (Vec<Encoded>, Vec<u32>) = coded.into_iter().unzip();
        // Guard bits for the largest index of any block.
        let missing = |(block, largest): (&Block, &u32)| largest.saturating_sub(self.quantiser(&quantisation, block).0);
        quantisation.guard += places.iter().zip(&largest).map(missing).max().unwrap_or(0);
        Coded { places, blocks, quantisation }
    }

    /// PSNR that a decoder reaches with this step.
    fn psnr(&self, step: f64) -> Result<f64, Error> {
        let quantisation = self.quantisation(step, 1);
        let places = self.places();
        let mut planes: Vec<Vec<Vec<T>>> = self
            .tiles
            .iter()
            .map(|t| t.coefficients.iter().map(|plane| vec![T::default(); plane.len()]).collect())
            .collect();
        for block in &places {
            let (_, step) = self.quantiser(&quantisation, block);
            let (inverse, half) = ((1.0 / step) as f32, (step * 0.5) as f32);
            let to = &mut planes[block.tile][block.component];
            let stride = self.tiles[block.tile].tile.components[block.component].area.width();
            for (y, row) in self.rows(block).enumerate() {
                let to = &mut to[block.place.at + y * stride..][..row.len()];
                for (to, c) in to.iter_mut().zip(row) {
                    let index = c.quantise(inverse);
                    *to = T::dequantise(2 * index + index.signum(), half);
                }
            }
        }
        let (mut error, mut peak, mut count) = (0.0, 0.0, 0);
        for (TileData { tile, .. }, planes) in self.tiles.iter().zip(planes) {
            let synthesise = |(component, plane): (&TileComponent, Vec<T>)| {
                self.plans.synthesise(component.area, component.coding.levels, plane)
            };
            let mut samples: Vec<Vec<T>> =
                tile.components.iter().zip(planes).map(synthesise).collect::<Result<_, _>>()?;
            if self.order.colour {
                for_pixels(&mut samples, T::inverse);
            }
            for (c, plane) in samples.iter().enumerate() {
                let area = tile.components[c].area;
                let component = &self.image.components[c];
                let ((low, high), nearest) = (component.range(), component.nearest::<T>());
                for (row, plane) in rows_of(self.image, c, area).zip(plane.chunks(area.width().max(1))) {
                    for (&sample, value) in row.iter().zip(plane) {
                        error += f64::from(sample - nearest(*value)).powi(2);
                    }
                    count += row.len();
                }
                peak = f64::max(peak, f64::from(high) - f64::from(low));
            }
        }
        Ok(10.0 * (peak * peak * count as f64 / error).log10())
    }

    /// Coarsest step that reaches a PSNR, to a hundredth of a decibel.
    fn step_of_psnr(&self, wanted: f64) -> Result<f64, Error> {
        let bits = self.size.components.iter().map(|c| c.bits).max().unwrap_or(8);
        let peak = f64::from(bits).exp2() - 1.0;
        let finest = (f64::from(bits) - 24.0).exp2();
        let step = (peak * 12f64.sqrt() * 10f64.powf(-wanted / 20.0)).max(finest);
        rate::coarsest(step, finest, wanted, |step| self.psnr(step))
    }

    /// Best codestream of at most `bits` bits per pixel.
    fn of_rate(&self, bits: f64) -> Result<Vec<u8>, Error> {
        let area = self.size.area;
        let budget = (bits * area.width() as f64 * area.height() as f64 / 8.0) as usize;
        let precision = self.size.components.iter().map(|c| c.bits).max().unwrap_or(8);
        // Rounded samples are exact below this step.
        let exact = 0.25;
        let start = f64::from(precision).exp2() * (-bits.min(30.0) / self.size.components.len() as f64).exp2();
        match self.encoder.coder {
            Coder::Ht => rate::largest(start, exact, budget, |step| self.stream(&self.coded(step), None)),
            // Fine steps, and the least useful passes left out.
            Coder::Ebcot => {
                let mut step = (start / 4.0).max(exact);
                loop {
                    let coded = self.coded(step);
                    let bytes: usize = coded.blocks.iter().map(|block| block.bytes.len()).sum();
                    if bytes > budget || step <= exact {
                        break rate::truncated(budget, bytes, |bytes| self.stream(&coded, Some(bytes)));
                    }
                    step = (step / 4.0).max(exact);
                }
            }
        }
    }

    /// Writes the codestream. The last layer takes all passes, or the best of `bytes` bytes.
    fn stream(&self, coded: &Coded, bytes: Option<usize>) -> Result<Vec<u8>, Error> {
        let weight = |block: &Block| {
            let (_, step) = self.quantiser(&coded.quantisation, block);
            (step * self.norm(block.component, block.place.resolution, block.place.orientation)).powi(2)
        };
        let weights: Vec<f64> = coded.places.iter().map(weight).collect();
        let layers = rate::layers(&coded.blocks, &weights, self.order.layers, bytes);
        let parameters = Parameters { quantisation: Some(coded.quantisation.clone()), ..self.parameters.clone() };
        let passes = |i: usize| layers.iter().map(|layer| layer[i]).collect();
        let mut blocks = (0..).zip(&coded.blocks).map(|(i, block)| (block, passes(i)));
        let own = Parameters::default();
        let mut tiles = Vec::new();
        for TileData { tile, .. } in &self.tiles {
            let tile = Tile::new(&self.size, &parameters, &own, tile.index)?;
            let packets = stream::packets(&tile, &mut blocks)?;
            tiles.push((tile, own.clone(), packets));
        }
        Ok(stream::write(&self.size, &parameters, &tiles, self.encoder.markers))
    }
}

/// Coefficients of a tile's components.
fn analyse<T: Transformed>(image: &Image, tile: &Tile, plans: &Plans) -> Result<Vec<Vec<T>>, Error> {
    let mut planes: Vec<Vec<T>> = Vec::new();
    for (c, component) in image.components.iter().enumerate() {
        let centre = component.centre();
        let area = tile.components[c].area;
        let mut plane = Vec::new();
        let bytes = (area.height() * area.width() * size_of::<T>()) as u128;
        plane.try_reserve_exact(area.height() * area.width()).map_err(|_| Error::Memory { what: "samples", bytes })?;
        rows_of(image, c, area).for_each(|row| plane.extend(row.iter().map(|&s| T::of(s - centre))));
        planes.push(plane);
    }
    if tile.order.colour {
        for_pixels(&mut planes, T::forward);
    }
    let analysed = tile
        .components
        .iter()
        .zip(planes)
        .map(|(component, plane)| plans.analyse(component.area, component.coding.levels, plane));
    analysed.collect()
}

/// Rows of a component inside an area of its domain.
fn rows_of(image: &Image, component: usize, area: Rect) -> impl Iterator<Item = &[i32]> {
    let component = &image.components[component];
    let whole = image.area.divided(component.dx, component.dy);
    let x = (area.x0 - whole.x0) as usize;
    (area.y0..area.y1).map(move |y| &component.samples[(y - whole.y0) as usize * component.width + x..][..area.width()])
}

/// Exponent and mantissa of the largest step of at most `step` that the stream can hold, for a band of `range` bits.
fn coded_step(step: f64, range: u32) -> [u32; 2] {
    let exponent = step.log2().floor();
    let coded = (f64::from(range) - exponent).clamp(0.0, 31.0);
    let power = (f64::from(range) - coded).exp2();
    let mantissa = ((step / power - 1.0) * 2048.0).floor().clamp(0.0, 2047.0);
    [coded as u32, mantissa as u32]
}
