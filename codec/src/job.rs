//! Encoding of one picture on the processor.

use crate::bands::{Band, BlockPlace};
use crate::block::{self, Encoded, Prefix};
use crate::budget;
use crate::codec::{Codec, Target};
use crate::deflate;
use crate::error::CodecError;
use crate::header::{self, Header, band_count};
use crate::image::Image;
use crate::index;
use crate::lane::{Lane, Transform};
use crate::packet::PacketId;
use crate::quantise::{self, Excess, Quantiser, Step};
use crate::search::{self, Trial};
use crate::tables::{TABLE_BYTES, Table, Tables};
use crate::weights::{Weights, step_of_quality};
use crate::{packet, rate};
use lifting::Domain;
use lifting::threads;
use std::borrow::Cow;
use std::ops::Range;

/// Reconstruction point of quantisers that are chosen before the coefficients are known.
const USUAL_OFFSET: u8 = 16;

/// Quantised coefficients with their quantisers.
#[derive(Clone)]
struct Quantised<'a> {
    quantisers: Option<Vec<Quantiser>>,
    indices: Cow<'a, [Vec<i32>]>,
}

/// Encoding of one picture, after its transform.
pub struct Job<'a, T> {
    codec: &'a Codec,
    image: &'a Image,
    tile: [usize; 2],
    transform: Transform<T>,
    /// The bands of a component, of each tile.
    tiles: Vec<Vec<Band>>,
    coefficients: Vec<Vec<T>>,
    weights: Weights,
}

impl<'a, T: Lane> Job<'a, T> {
    /// Transforms a picture.
    pub fn new(codec: &'a Codec, image: &'a Image) -> Result<Job<'a, T>, CodecError> {
        let colour = codec.colour_of(image.components);
        let shape = [image.height, image.width];
        let tile = codec.tile_of(shape)?;
        let transform = Transform::<T>::new(&codec.scheme, shape, tile, codec.levels, &codec.device)?;
        let coefficients = transform.analyse(image, colour)?;
        // Weights matter only for quantisation and layers.
        let weighed = codec.target != Target::Lossless || codec.layers > 1;
        let weights = Weights::new(&codec.scheme, if weighed { codec.levels } else { 0 }, colour)?;
        let tiles = transform.tiles.all();
        Ok(Job { codec, image, tile, transform, tiles, coefficients, weights })
    }

    /// Encodes the stream.
    pub fn run(&self) -> Result<Vec<u8>, CodecError> {
        match self.codec.target {
            Target::Lossless => self.stream(&self.lossless()),
            Target::Quality(quality) => self.stream(&self.quantised(self.step_of(quality))?),
            Target::Psnr(decibels) => self.stream(&self.of_psnr(decibels)?),
            Target::BitsPerPixel(bits) => self.of_bytes(search::bytes_of(self.image, bits)),
        }
    }

    /// Symbol counts of the codeblocks.
    pub fn symbols(&self) -> Result<Vec<block::Counts>, CodecError> {
        let quantised = match self.codec.target {
            Target::Lossless => self.lossless(),
            Target::Quality(quality) => self.quantised(self.step_of(quality))?,
            Target::Psnr(decibels) => self.of_psnr(decibels)?,
            Target::BitsPerPixel(bits) => return Err(CodecError::SymbolsOfRate { bits }),
        };
        Ok(self.counts(&quantised))
    }

    /// Codeblocks of each packet of a layer.
    fn places(&self) -> Vec<Vec<BlockPlace>> {
        self.codec.places(&self.tiles, self.image.components)
    }

    /// Symbol counts of all codeblocks.
    fn counts(&self, quantised: &Quantised<'_>) -> Vec<block::Counts> {
        threads::map(&self.places().concat(), |place| {
            block::Counts::of(place.shape, &place.gather(&quantised.indices[place.component]))
        })
    }

    /// Tables fitted to these coefficients, if they save more than their own size.
    fn fitted(&self, quantised: &Quantised<'_>) -> Option<Tables> {
        let counts: Vec<_> = self.counts(quantised).into_iter().filter(|counts| !counts.is_empty()).collect();
        let bits = |tables: &Tables| threads::map(&counts, |counts| tables.cheapest(counts).1).iter().sum::<f64>();
        let built_in = Tables::built_in();
        let mut best = (bits(built_in), None);
        // Candidates: the built-in tables refitted, or a few trained from even probabilities.
        let few = |count| Some(Tables::new(vec![Table::EVEN])?.trained(&counts, count, 2));
        for tables in [Some(built_in.trained(&counts, 1, 2)), few(2), few(8)].into_iter().flatten() {
            let bits = bits(&tables) + 8.0 * (1 + tables.count() * TABLE_BYTES) as f64;
            if bits < best.0 {
                best = (bits, Some(tables));
            }
        }
        best.1
    }

    /// Integers, unquantised.
    fn lossless(&self) -> Quantised<'_> {
        Quantised { quantisers: None, indices: T::integers(&self.coefficients) }
    }

    /// Step of a quality, for a band of norm 1.
    fn step_of(&self, quality: f64) -> f64 {
        step_of_quality(quality, self.image.bits)
    }

    /// Quantises all bands so that each affects the picture as `step` does in a band of norm 1.
    ///
    /// # Errors
    /// [`CodecError::Memory`].
    fn quantised(&self, step: f64) -> Result<Quantised<'_>, CodecError> {
        let each = band_count(self.codec.levels);
        let of_component = |c: usize| self.tiles.iter().flatten().map(move |band| (c, band));
        let all: Vec<(usize, &Band)> = (0..self.image.components).flat_map(of_component).collect();
        let is_whole = T::KIND.domain() == Domain::Integer;
        let step_of = |component: usize, band: &Band| self.weights.step(step, component, band);
        let quantised = threads::map(&all, |&(component, band)| {
            let step = step_of(component, band);
            let rows = (0..band.shape[0]).map(|y| band.start + y * band.stride);
            let coefficients = rows.flat_map(|at| &self.coefficients[component][at..at + band.shape[1]]);
            let count = band.shape[0] * band.shape[1];
            let mut indices = budget::room(count, "quantised coefficients")?;
            if is_whole && step == Step::ONE {
                indices.extend(coefficients.map(|c| c.integer()));
                return Ok((Excess::default(), indices));
            }
            let inverse = step.inverse();
            let mut values: Vec<f32> = budget::room(count, "coefficients in steps")?;
            values.extend(coefficients.map(|c| c.single() * inverse));
            indices.extend(quantise::indices(&values, band.shape[1]));
            Ok((Excess::of(&values, &indices), indices))
        });
        let quantised: Vec<(Excess, Vec<i32>)> = quantised.into_iter().collect::<Result<_, CodecError>>()?;
        let zeros = |plane: &Vec<T>| budget::zeros(plane.len(), "quantised coefficients");
        let mut indices: Vec<Vec<i32>> = self.coefficients.iter().map(zeros).collect::<Result<_, _>>()?;
        for ((component, band), (_, block)) in all.iter().zip(&quantised) {
            for (y, row) in block.chunks(band.shape[1].max(1)).enumerate() {
                indices[*component][band.start + y * band.stride..][..row.len()].copy_from_slice(row);
            }
        }
        // A band has the same quantiser in all tiles.
        let tiles = self.tiles.len();
        let quantisers = (0..self.image.components * each).map(|i| {
            let (component, band) = (i / each, i % each);
            let of_tile = |tile: usize| quantised[(component * tiles + tile) * each + band].0;
            let step = step_of(component, &self.tiles[0][band]);
            Quantiser { step, offset: (0..tiles).map(of_tile).fold(Excess::default(), Excess::and).offset() }
        });
        Ok(Quantised { quantisers: Some(quantisers.collect()), indices: indices.into() })
    }

    /// Coarsest quantisation that reaches the wanted PSNR.
    fn of_psnr(&self, wanted: f64) -> Result<Quantised<'_>, CodecError> {
        search::of_psnr(self.codec, self.image, wanted, |step| {
            let quantised = self.quantised(step)?;
            let psnr = self.picture(&quantised)?.psnr(self.image);
            let finest = search::is_finest(quantised.quantisers.iter().flatten());
            Ok(Trial { psnr, finest, result: quantised })
        })
    }

    /// Best stream of at most `bytes` bytes, approximately.
    fn of_bytes(&self, bytes: u64) -> Result<Vec<u8>, CodecError> {
        search::of_bytes(self.image, bytes, |step| self.stream(&self.quantised(step)?))
    }

    /// Picture that a decoder reconstructs.
    fn picture(&self, quantised: &Quantised<'_>) -> Result<Image, CodecError> {
        let header = self.header(quantised, None);
        let zeros = |plane: &Vec<T>| budget::zeros(plane.len(), "coefficients");
        let mut planes: Vec<Vec<T>> = self.coefficients.iter().map(zeros).collect::<Result<_, _>>()?;
        for (component, plane) in planes.iter_mut().enumerate() {
            for (i, band) in self.tiles.iter().flat_map(|bands| bands.iter().enumerate()) {
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

    /// Writes the whole stream.
    fn stream(&self, quantised: &Quantised<'_>) -> Result<Vec<u8>, CodecError> {
        let tables = if self.codec.fitted { self.fitted(quantised) } else { None };
        let header = self.header(quantised, tables);
        let mut stream = header.write()?;
        let seed = header::seed(&stream);
        stream.extend_from_slice(&self.codec.sections);
        let lengths = self.packets(quantised, &header, (seed, 0), &mut stream)?;
        if header.is_indexed() {
            index::write(&lengths, seed, &mut stream);
        }
        Ok(stream)
    }

    /// Writes the packets of tiles from number `first` of a picture on, and returns their lengths in bytes.
    fn packets(
        &self,
        quantised: &Quantised<'_>,
        header: &Header,
        (seed, first): (u64, usize),
        stream: &mut Vec<u8>,
    ) -> Result<Vec<u64>, CodecError> {
        let packets = self.places();
        let places = packets.concat();
        let (blocks, ends) = self.blocks(quantised, header, &places)?;
        let mut from = vec![0; blocks.len()];
        let mut ids = PacketId::all(header.layers, header.levels, self.tiles.len());
        let mut lengths = Vec::new();
        for to in &ends {
            let mut at = 0;
            let place = |(places, id): (&Vec<BlockPlace>, PacketId)| {
                at += places.len();
                (at - places.len()..at, id)
            };
            let layer: Vec<(Range<usize>, PacketId)> = packets.iter().zip(ids.by_ref()).map(place).collect();
            let written = threads::map(&layer, |(here, id)| -> Result<Vec<u8>, CodecError> {
                let number = PacketId { tile: first + id.tile, ..*id }.number(header);
                let seed = seed.wrapping_add(number);
                let parts = from[here.clone()].iter().zip(&to[here.clone()]).map(|(&from, &to)| from..to);
                let mut packet = Vec::new();
                packet::write(blocks[here.clone()].iter().zip(parts), id.layer, seed, &mut packet)?;
                if !self.codec.deflated || header.layers > 1 {
                    return Ok(packet);
                }
                let bands = &self.tiles[id.tile];
                let short = deflate::write(&quantised.indices, bands, id.resolution, seed, packet.len())?;
                Ok(short.unwrap_or(packet))
            });
            for packet in written {
                let packet = packet?;
                lengths.push(packet.len() as u64);
                stream.extend(packet);
            }
            from.clone_from(to);
        }
        Ok(lengths)
    }

    /// Writes the packets of a row of tiles, quantised as the header of the whole picture says.
    pub fn row_of_tiles(
        &self,
        header: &Header,
        (seed, first): (u64, usize),
        stream: &mut Vec<u8>,
    ) -> Result<Vec<u64>, CodecError> {
        let quantised = match self.codec.target {
            Target::Quality(quality) => self.quantised(self.step_of(quality))?,
            _ => self.lossless(),
        };
        self.packets(&quantised, header, (seed, first), stream)
    }

    /// Quantisers of a quality for any picture.
    pub fn usual_quantisers(&self) -> Option<Vec<Quantiser>> {
        let Target::Quality(quality) = self.codec.target else { return None };
        let step = self.step_of(quality);
        let of_component = |c: usize| self.tiles[0].iter().map(move |band| (c, band));
        let all = (0..self.image.components).flat_map(of_component);
        let quantiser = |(c, band)| match self.weights.step(step, c, band) {
            Step::ONE if T::KIND.domain() == Domain::Integer => Quantiser::NONE,
            step => Quantiser { step, offset: USUAL_OFFSET },
        };
        Some(all.map(quantiser).collect())
    }

    /// Encodes all blocks, with the cumulative number of their words up to each layer.
    fn blocks(
        &self,
        quantised: &Quantised<'_>,
        header: &Header,
        places: &[BlockPlace],
    ) -> Result<(Vec<Encoded>, Vec<Vec<usize>>), CodecError> {
        let tables = header.tables();
        let indices = |place: &BlockPlace| place.gather(&quantised.indices[place.component]);
        if header.layers == 1 {
            let on_device = match &self.codec.coder {
                Some(coder) => coder.encode(&quantised.indices, places, tables)?,
                None => None,
            };
            let here = || threads::map(places, |place| block::encode(place.shape, &indices(place), tables));
            let blocks = on_device.unwrap_or_else(here);
            let ends = blocks.iter().map(|block| block.words.len()).collect();
            return Ok((blocks, vec![ends]));
        }
        let coded = threads::map(places, |place| {
            let (block, prefixes) = block::encode_with_prefixes(place.shape, &indices(place), tables);
            let step = header.quantiser(place.component, place.band).step.value();
            let norm = self.weights.norm(place.component, &self.tiles[0][place.band]);
            (block, (prefixes, (step * norm).powi(2)))
        });
        let (blocks, prefixes): (Vec<Encoded>, Vec<(Vec<Prefix>, f64)>) = coded.into_iter().unzip();
        Ok((blocks, rate::layers(&prefixes, header.layers)))
    }
}
