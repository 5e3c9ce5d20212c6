//! Whole streams on a device, where the pictures are.

use super::packets::{self, slots};
use super::quantise::PLACE;
use super::{check_numbers, hash, quantise, samples};
use crate::bands::{Band, Place};
use crate::block::kernel::{FIELDS, MOST_PLANES, Task, chooser, costs, encoder, probabilities};
use crate::block::raw_words;
use crate::encode::Codec;
use crate::error::CodecError;
use crate::header::CHECKSUM;
use crate::image::{Format, Image, range};
use crate::lane::{Lane, Transform};
use crate::quantise::{Quantiser, Step};
use crate::tables::Tables;
use crate::weights::Weights;
use lifting::kernels::{Arg, Array, Cell, Kernels};
use lifting::{Domain, PlanError};
use lifting_codegen::ir::Scalar;

// The kernels, by their places.
const READ: usize = 0;
const CHOOSE: usize = 1;
const ENCODE: usize = 2;
const LAYOUT: usize = 3;
const PARTS: usize = 4;
const WRITE: usize = 5;
const HEADER: usize = 6;
const HASH: usize = 7;
const SEAL: usize = 8;
const QUANTISE: usize = 9;
const OFFSETS: usize = 10;

/// A transform, of one of the two kinds of numbers.
pub enum Planes {
    /// Of integer wavelets.
    Integer(lifting::kernels::Transform<i32>),
    /// Of real ones.
    Real(lifting::kernels::Transform<f32>),
}

/// Arrays of what quantisation takes.
struct Quantisation {
    indices: Array,
    inverses: Array,
    sums: Array,
    counts: Array,
    members: Array,
    begins: Array,
    places: Array,
    quantisers: usize,
    /// Byte of a header that the first quantiser has.
    first: usize,
    bands: WeighedBands,
    tile: [usize; 2],
}

/// The bands of each component of a tile, with what their quantiser steps are made of.
struct WeighedBands {
    weights: Weights,
    bands: Vec<(usize, Band)>,
}

impl WeighedBands {
    /// Steps that do to the picture what `step` does in a band of norm 1.
    fn steps(&self, step: f64) -> Vec<Step> {
        self.bands.iter().map(|(component, band)| self.weights.step(step, *component, band)).collect()
    }
}

/// Codes pictures of one kind, some of them at once, from a device's memory to streams there; made by
/// [`Codec::on_device`]. The streams are those of [`Codec::encode`], byte for byte.
///
/// Pictures are put into [`DeviceEncoder::samples`], on the device or by [`DeviceEncoder::upload`].
/// [`DeviceEncoder::encode`] launches everything and waits for nothing, on a stream of the caller if one was given; all
/// memory was taken when the encoder was made. Frames in flight are encoders on streams of their own.
///
/// ```
/// use lifting::Device;
/// use lifting_codec::{Codec, Image};
///
/// // The interpreter of kernels; where there is one, `Device::cuda(0)?`.
/// let device = Device::Interpreter;
/// let codec = Codec::builder(&lifting::catalogue::find("legall53")?).levels(1).device(device).build()?;
/// let samples = (0..16 * 24).map(|i| i % 24 * 10).collect();
/// let image = Image { height: 16, width: 24, components: 1, bits: 8, signed: false, samples };
///
/// let mut encoder = codec.on_device(image.format(), 2)?;
/// encoder.upload(0, &image)?;
/// encoder.upload(1, &image)?;
/// encoder.encode()?;
/// assert_eq!(encoder.streams()?, vec![codec.encode(&image)?; 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DeviceEncoder {
    codec: Codec,
    format: Format,
    pictures: usize,
    kernels: Kernels,
    transform: Planes,
    quantisation: Option<Quantisation>,
    /// Of a picture: blocks, packets, bytes of the header, bytes that its stream has room for, warps that hash.
    blocks: usize,
    packets: usize,
    header: usize,
    capacity: usize,
    warps: usize,
    stride: usize,
    samples: Array,
    planes: Array,
    coefficients: Array,
    tasks: Array,
    costs: Array,
    table: Array,
    choices: Array,
    words: Array,
    results: Array,
    entries: Array,
    words_before: Array,
    left: Array,
    firsts: Array,
    packet_of: Array,
    parts: Array,
    lengths: Array,
    headers: Array,
    secret: Array,
    seeds: Array,
    hashes: Array,
    streams: Array,
}

impl std::fmt::Debug for DeviceEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let DeviceEncoder { format, pictures, .. } = self;
        f.debug_struct("DeviceEncoder").field("format", format).field("pictures", pictures).finish_non_exhaustive()
    }
}

/// Launches a kernel: arrays come first among its parameters, then numbers.
pub fn launch<const N: usize, const M: usize>(
    kernels: &Kernels,
    kernel: usize,
    arrays: [&mut Array; N],
    numbers: [usize; M],
) -> Result<(), PlanError> {
    let numbers = numbers.map(|n| Arg::Int(n as i64));
    kernels.launch(kernel, &mut arrays.map(Arg::Array).into_iter().chain(numbers).collect::<Vec<_>>())
}

/// Most bytes of a block's entry in an index.
const ENTRY: usize = 4;

impl DeviceEncoder {
    pub(crate) fn new(codec: &Codec, format: Format, pictures: usize) -> Result<DeviceEncoder, CodecError> {
        format.check()?;
        let step = codec.step_on_device(format.bits)?;
        let shape = [format.height, format.width];
        let tile = codec.tile_of(shape)?;
        let device = codec.device();
        match codec.scheme().domain() {
            Domain::Integer => {
                let transform = Transform::<i32>::new(codec.scheme(), shape, tile, codec.levels(), device)?;
                DeviceEncoder::of_lane(codec, format, pictures, step, tile, transform, Planes::Integer)
            }
            Domain::Real => {
                let transform = Transform::<f32>::new(codec.scheme(), shape, tile, codec.levels(), device)?;
                DeviceEncoder::of_lane(codec, format, pictures, step, tile, transform, Planes::Real)
            }
        }
    }

    fn of_lane<T: Lane>(
        codec: &Codec,
        format: Format,
        pictures: usize,
        step: Option<f64>,
        tile: [usize; 2],
        transform: Transform<T>,
        planes: impl FnOnce(lifting::kernels::Transform<T>) -> Planes,
    ) -> Result<DeviceEncoder, CodecError> {
        let kind = T::SCALAR;
        let colour = codec.colour_of(format.components);
        let order = codec.order();
        let mut list = vec![
            samples::reader(&format, kind, colour),
            chooser(order),
            encoder(order),
            packets::layout(),
            packets::parts(),
            packets::writer(),
            packets::header_writer(),
            packets::hasher(),
            packets::sealer(),
        ];
        if step.is_some() {
            list.extend([quantise::quantiser(kind), quantise::offsets()]);
        }
        #[allow(unsafe_code)]
        // SAFETY: whatever samples are, kernels touch what the numbers made here say, which is within the arrays; the
        // words of a block and what its entry takes are bounded by its shape.
        let kernels = unsafe { Kernels::new(codec.device(), list) }?;

        let (plan, tiles) = transform.into_parts();
        let groups = codec.places(&tiles, format.components);
        let (firsts, packet_of) = packets_of(&groups);
        let places = groups.concat();
        let (blocks, packets) = (places.len(), groups.len());
        let stride = places.first().map_or(1, |place| place.stride);
        let weights = Weights::new(codec.scheme(), if step.is_some() { codec.levels() } else { 0 }, colour);
        let of_component = |component| tiles[0].iter().map(move |band| (component, band.clone()));
        let bands = WeighedBands { weights, bands: (0..format.components).flat_map(of_component).collect() };
        let steps = step.map(|step| bands.steps(step));
        let header = codec.header(&format, tile, steps.as_deref().map(quantisers_of)).write()?;

        let room: usize = places.iter().map(|place| raw_words(place.shape, MOST_PLANES)).sum();
        let capacity = header.len() + packets * packets::FRAME + blocks * ENTRY + 2 * room;
        let each = plan.coefficient_len();
        let limits = [
            pictures.checked_mul(format.components.max(1)).and_then(|n| n.checked_mul(each)),
            pictures.checked_mul(room),
            pictures.checked_mul(8 * slots(capacity, packets)),
            pictures.checked_mul(packets::MOST_WARPS.max(FIELDS * (blocks + 1))),
            Some(capacity),
        ];
        check_numbers(&limits)?;
        let mut tasks = Vec::with_capacity(pictures * blocks * FIELDS);
        let mut first = 0;
        for picture in 0..pictures {
            for place in &places {
                let words = raw_words(place.shape, MOST_PLANES);
                let start = (picture * format.components + place.component) * each + place.start;
                let task = Task { start, shape: place.shape, first, words, planes: 0 }.fields();
                tasks.extend(task.ok_or(CodecError::NotOnDevice { what: "so large a picture" })?);
                first += words;
            }
        }
        let quantisation = match steps {
            Some(steps) => {
                let places = places_in_bands(&tiles, &with_tiles(&groups, tiles.len()));
                let all = pictures * format.components * each;
                let of = (bands, tile);
                Some(Quantisation::new(&kernels, &places, &inverses_of(&steps), (pictures, all), header.len(), of)?)
            }
            None => None,
        };
        let tables = Tables::built_in();
        let all = pictures * format.components * each;
        let ints = |n: usize| kernels.zeroed(Scalar::I32, n);
        Ok(DeviceEncoder {
            samples: kernels.zeroed(samples::scalar(&format), pictures * format.samples())?,
            planes: kernels.zeroed(kind, pictures * format.samples())?,
            coefficients: kernels.zeroed(kind, all)?,
            tasks: kernels.upload(&tasks)?,
            costs: kernels.upload(&costs(tables))?,
            table: kernels.upload(&probabilities(tables))?,
            choices: ints(2 * pictures * blocks)?,
            words: kernels.zeroed(Scalar::I16, pictures * room)?,
            results: ints(2 * pictures * blocks)?,
            entries: ints(pictures * (blocks + 1))?,
            words_before: ints(pictures * (blocks + 1))?,
            left: ints(pictures)?,
            firsts: kernels.upload(&firsts)?,
            packet_of: kernels.upload(&packet_of)?,
            parts: ints(4 * pictures * packets)?,
            lengths: ints(pictures)?,
            headers: kernels.upload(&header.repeat(pictures))?,
            secret: kernels.upload(&hash::secret())?,
            seeds: kernels.zeroed(Scalar::U64, pictures)?,
            hashes: kernels.zeroed(Scalar::U8, 8 * pictures * slots(capacity, packets))?,
            streams: kernels.zeroed(Scalar::U8, pictures * capacity)?,
            transform: planes(kernels.transform(plan)?),
            warps: packets::warps_of(capacity),
            header: header.len(),
            codec: codec.clone(),
            format,
            pictures,
            kernels,
            quantisation,
            blocks,
            packets,
            capacity,
            stride,
        })
    }

    /// Lets everything from now on go to a stream of the caller.
    ///
    /// # Errors
    /// If the encoder is not on the stream's device.
    #[cfg(feature = "cuda")]
    pub fn on_stream(
        &mut self,
        stream: &std::sync::Arc<lifting::cuda::cudarc::driver::CudaStream>,
    ) -> Result<(), CodecError> {
        Ok(self.kernels.on_stream(stream)?)
    }

    /// Where samples are to be: of each picture height × width × components of them, row by row, the components of a
    /// pixel together; bytes for samples of up to 8 bits, else 16 bits each. Signed ones are two's complement. Samples
    /// that the depth does not have are coded as they are.
    pub fn samples(&mut self) -> &mut Array {
        &mut self.samples
    }

    /// Puts a picture where it is to be.
    ///
    /// # Errors
    /// If it is of another kind, there is no such place, or the device refuses.
    pub fn upload(&mut self, place: usize, image: &Image) -> Result<(), CodecError> {
        image.check()?;
        if image.format() != self.format || place >= self.pictures {
            return Err(CodecError::OfOtherKind { place, pictures: self.pictures });
        }
        let at = place * self.format.samples();
        put(&self.kernels, &mut self.samples, at, &image.samples, samples::scalar(&self.format))
    }

    /// The stream of the only picture.
    pub(crate) fn only(mut self, image: &Image) -> Result<Vec<u8>, CodecError> {
        self.upload(0, image)?;
        self.encode()?;
        Ok(self.streams()?.remove(0))
    }

    /// The stream of the only picture, with bands quantised so that a step does to the picture what this one does in a
    /// band of norm 1.
    pub(crate) fn by_step(&mut self, step: f64) -> Result<Vec<u8>, CodecError> {
        if let Some(q) = &mut self.quantisation {
            let steps = q.bands.steps(step);
            let header = self.codec.header(&self.format, q.tile, Some(quantisers_of(&steps))).write()?;
            self.kernels.write(&mut self.headers, 0, &header)?;
            self.kernels.write(&mut q.inverses, 0, &inverses_of(&steps))?;
        }
        self.encode()?;
        if self.lengths()? == [0] {
            return Err(CodecError::NotOnDevice { what: "a block of more than 16 bitplanes" });
        }
        Ok(self.streams()?.remove(0))
    }

    /// Launches everything that makes streams of the pictures.
    ///
    /// # Errors
    /// If the device refuses.
    pub fn encode(&mut self) -> Result<(), CodecError> {
        self.transform()?;
        self.code()?;
        self.pack()
    }

    /// Samples to indices.
    fn transform(&mut self) -> Result<(), CodecError> {
        let DeviceEncoder { kernels, format, pictures, blocks, header, stride, .. } = self;
        let (pixels, components) = (format.pixels(), format.components);
        let numbers = [pixels, components, *pictures * pixels];
        launch(kernels, READ, [&mut self.samples, &mut self.planes], numbers)?;
        for plane in 0..*pictures * components {
            let (source, to) =
                ((&self.planes, plane * pixels), plane * (self.coefficients.len() / (*pictures * components)));
            match &mut self.transform {
                Planes::Integer(transform) => kernels.forward(transform, source, (&mut self.coefficients, to))?,
                Planes::Real(transform) => kernels.forward(transform, source, (&mut self.coefficients, to))?,
            }
        }
        let Some(q) = &mut self.quantisation else { return Ok(()) };
        let arrays = [
            &mut self.coefficients,
            &mut q.inverses,
            &mut q.indices,
            &mut q.sums,
            &mut q.counts,
            &mut self.tasks,
            &mut q.places,
        ];
        launch(kernels, QUANTISE, arrays, [*stride, *blocks, *pictures * *blocks])?;
        let arrays = [&mut q.sums, &mut q.counts, &mut q.members, &mut q.begins, &mut self.headers];
        launch(kernels, OFFSETS, arrays, [q.first, *header, *blocks, q.quantisers, *pictures * q.quantisers])?;
        Ok(())
    }

    /// Indices to words.
    fn code(&mut self) -> Result<(), CodecError> {
        let DeviceEncoder { kernels, pictures, blocks, stride, .. } = self;
        let numbers = [*stride, *pictures * *blocks];
        let indices = self.quantisation.as_mut().map_or(&mut self.coefficients, |q| &mut q.indices);
        launch(kernels, CHOOSE, [indices, &mut self.tasks, &mut self.costs, &mut self.choices], numbers)?;
        let indices = self.quantisation.as_mut().map_or(&mut self.coefficients, |q| &mut q.indices);
        let arrays = [indices, &mut self.tasks, &mut self.choices, &mut self.table, &mut self.words, &mut self.results];
        launch(kernels, ENCODE, arrays, numbers)?;
        Ok(())
    }

    /// Words to streams.
    fn pack(&mut self) -> Result<(), CodecError> {
        let DeviceEncoder { kernels, pictures, blocks, packets, header, capacity, warps, stride, .. } = self;
        let (pictures, blocks, packets, header, capacity) = (*pictures, *blocks, *packets, *header, *capacity);
        let arrays = [&mut self.headers, &mut self.secret, &mut self.streams, &mut self.seeds];
        launch(kernels, HEADER, arrays, [header, capacity, pictures])?;
        let arrays = [&mut self.tasks, &mut self.results, &mut self.entries, &mut self.words_before, &mut self.left];
        launch(kernels, LAYOUT, arrays, [blocks, pictures])?;
        let arrays = [
            &mut self.entries,
            &mut self.words_before,
            &mut self.firsts,
            &mut self.streams,
            &mut self.parts,
            &mut self.lengths,
        ];
        launch(kernels, PARTS, arrays, [header, blocks, packets, capacity, pictures * packets])?;
        let arrays = [
            self.quantisation.as_mut().map_or(&mut self.coefficients, |q| &mut q.indices),
            &mut self.tasks,
            &mut self.results,
            &mut self.choices,
            &mut self.words,
            &mut self.entries,
            &mut self.words_before,
            &mut self.firsts,
            &mut self.packet_of,
            &mut self.streams,
        ];
        launch(kernels, WRITE, arrays, [header, blocks, capacity, *stride, pictures * blocks])?;
        let slots = slots(capacity, packets);
        let arrays = [&mut self.streams, &mut self.parts, &mut self.secret, &mut self.seeds, &mut self.hashes];
        launch(kernels, HASH, arrays, [2 * packets, *warps, slots, capacity, pictures * *warps])?;
        let arrays = [&mut self.hashes, &mut self.parts, &mut self.secret, &mut self.seeds, &mut self.streams];
        launch(kernels, SEAL, arrays, [2 * packets, slots, capacity, 2 * pictures * packets])?;
        Ok(())
    }

    /// Waits until everything that was launched is done.
    ///
    /// # Errors
    /// If something has failed.
    pub fn wait(&self) -> Result<(), CodecError> {
        Ok(self.kernels.wait()?)
    }

    /// Where streams are, each [`DeviceEncoder::capacity`] bytes from the one before.
    pub fn memory(&self) -> &Array {
        &self.streams
    }

    /// Bytes that a stream has room for, more than it can have.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Waits, and says how many bytes each stream has; 0 for a picture with blocks of more than 16 bitplanes, which the
    /// device leaves to the processor.
    ///
    /// # Errors
    /// If something has failed.
    pub fn lengths(&self) -> Result<Vec<usize>, CodecError> {
        let lengths: Vec<i32> = self.kernels.download(&self.lengths, 0..self.pictures)?;
        let left: Vec<i32> = self.kernels.download(&self.left, 0..self.pictures)?;
        Ok(lengths.iter().zip(left).map(|(&length, left)| if left == 0 { length as usize } else { 0 }).collect())
    }

    /// Waits, and copies the streams. What the device leaves to the processor is coded there.
    ///
    /// # Errors
    /// If something has failed.
    pub fn streams(&self) -> Result<Vec<Vec<u8>>, CodecError> {
        let stream = |(place, length)| match length {
            0 => self.codec.on_processor().encode(&self.image(place)?),
            length => {
                let at = place * self.capacity;
                Ok(self.kernels.download(&self.streams, at..at + length)?)
            }
        };
        self.lengths()?.into_iter().enumerate().map(stream).collect()
    }

    /// A picture that was to be coded.
    fn image(&self, place: usize) -> Result<Image, CodecError> {
        get(&self.kernels, &self.samples, place * self.format.samples(), &self.format)
    }
}

/// The first block of each packet, and the number of blocks; and the packet of each block.
pub fn packets_of(groups: &[Vec<Place>]) -> (Vec<i32>, Vec<i32>) {
    let (mut firsts, mut packet_of) = (vec![0], Vec::new());
    for (number, group) in (0..).zip(groups) {
        packet_of.extend(std::iter::repeat_n(number, group.len()));
        firsts.push(packet_of.len() as i32);
    }
    (firsts, packet_of)
}

/// Quantisers of these steps, whose offsets are not known yet.
fn quantisers_of(steps: &[Step]) -> Vec<Quantiser> {
    steps.iter().map(|&step| Quantiser { step, offset: 0 }).collect()
}

fn inverses_of(steps: &[Step]) -> Vec<f32> {
    steps.iter().map(|step| step.inverse()).collect()
}

/// Samples into an array of them.
pub fn put(kernels: &Kernels, array: &mut Array, at: usize, values: &[i32], scalar: Scalar) -> Result<(), CodecError> {
    fn of<T: Cell>(values: &[i32], cell: impl Fn(i32) -> T) -> Vec<T> {
        values.iter().map(|&value| cell(value)).collect()
    }
    match scalar {
        Scalar::U8 => kernels.write(array, at, &of(values, |v| v as u8))?,
        _ => kernels.write(array, at, &of(values, |v| v as i16))?,
    }
    Ok(())
}

/// A picture out of an array of samples, from one on. Samples that the depth does not have come to the end of its
/// range.
pub fn get(kernels: &Kernels, array: &Array, at: usize, format: &Format) -> Result<Image, CodecError> {
    let here = at..at + format.samples();
    let (least, largest) = range(format.bits, format.signed);
    let samples: Vec<i32> = match (samples::scalar(format), format.signed) {
        (Scalar::U8, false) => kernels.download::<u8>(array, here)?.into_iter().map(i32::from).collect(),
        (Scalar::U8, true) => kernels.download::<u8>(array, here)?.into_iter().map(|v| (v as i8).into()).collect(),
        (_, false) => kernels.download::<i16>(array, here)?.into_iter().map(|v| (v as u16).into()).collect(),
        (_, true) => kernels.download::<i16>(array, here)?.into_iter().map(i32::from).collect(),
    };
    let samples = samples.into_iter().map(|sample| sample.clamp(least, largest)).collect();
    let Format { height, width, components, bits, signed } = *format;
    Ok(Image { height, width, components, bits, signed, samples })
}

/// Where blocks are in their bands, as kernels of quantisation take it, and the quantiser of each.
pub fn places_in_bands(tiles: &[Vec<Band>], places: &[(usize, &Place)]) -> Vec<[i32; PLACE]> {
    let place = |(tile, place): &(usize, &Place)| {
        let band = &tiles[*tile][place.band];
        let first = place.start - band.start;
        let quantiser = place.component * tiles[*tile].len() + place.band;
        [first / band.stride, first % band.stride, band.shape[0], band.shape[1], quantiser].map(|n| n as i32)
    };
    places.iter().map(place).collect()
}

/// Which tile each block is of: packets go tile by tile at each resolution.
pub fn with_tiles<'a>(groups: &'a [Vec<Place>], tiles: usize) -> Vec<(usize, &'a Place)> {
    let of = |(number, group): (usize, &'a Vec<Place>)| group.iter().map(move |place| (number % tiles, place));
    groups.iter().enumerate().flat_map(of).collect()
}

impl Quantisation {
    fn new(
        kernels: &Kernels,
        places: &[[i32; PLACE]],
        inverses: &[f32],
        (pictures, coefficients): (usize, usize),
        header: usize,
        (bands, tile): (WeighedBands, [usize; 2]),
    ) -> Result<Quantisation, CodecError> {
        let quantisers = inverses.len();
        let (mut members, mut begins) = (Vec::new(), vec![0]);
        for quantiser in 0..quantisers as i32 {
            let own = (0i32..).zip(places).filter(|(_, place)| place[4] == quantiser);
            members.extend(own.map(|(block, _)| block));
            begins.push(members.len() as i32);
        }
        let blocks = pictures * places.len();
        Ok(Quantisation {
            indices: kernels.zeroed(Scalar::I32, coefficients)?,
            inverses: kernels.upload(inverses)?,
            sums: kernels.zeroed(Scalar::I32, blocks)?,
            counts: kernels.zeroed(Scalar::I32, blocks)?,
            members: kernels.upload(&members)?,
            begins: kernels.upload(&begins)?,
            places: kernels.upload(places.as_flattened())?,
            quantisers,
            first: header - CHECKSUM - 3 * quantisers,
            bands,
            tile,
        })
    }
}
