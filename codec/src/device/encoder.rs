//! Encoder of whole streams on a device.

use super::packets::{self, slots};
use super::quantise::PLACE;
use super::resident::{Layout, Planes, Resident, launch, places_in_bands};
use super::{check_numbers, quantise, samples};
use crate::bands::Band;
use crate::block::kernel::{MOST_PLANES, chooser, costs, encoder};
use crate::block::raw_words;
use crate::codec::Codec;
use crate::decode::Decoder;
use crate::error::CodecError;
use crate::format::Format;
use crate::header::CHECKSUM;
use crate::image::Image;
use crate::lane::{Lane, Transform};
use crate::quantise::{Quantiser, Step};
use crate::tables::Tables;
use crate::weights::Weights;
use lifting::Domain;
use lifting::kernels::{Array, Kernels, Pinned};
use lifting_codegen::ir::Scalar;

// Indices of the kernels.
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

/// Arrays for quantisation.
struct Quantisation {
    inverses: Array,
    sums: Array,
    counts: Array,
    members: Array,
    begins: Array,
    places: Array,
    quantisers: usize,
    /// Offset of the first quantiser in a header.
    first: usize,
    bands: WeighedBands,
    tile: [usize; 2],
}

/// Bands of each component of a tile, with the weights for their quantiser steps.
struct WeighedBands {
    weights: Weights,
    bands: Vec<(usize, Band)>,
}

impl WeighedBands {
    /// Steps that affect the picture as `step` does in a band of norm 1.
    fn steps(&self, step: f64) -> Vec<Step> {
        self.bands.iter().map(|(component, band)| self.weights.step(step, *component, band)).collect()
    }
}

/// Encoder of batches of pictures of one format, from device memory to streams there; made by [`Codec::on_device`]. The
/// streams equal those of [`Codec::encode`], byte for byte.
///
/// Pictures are written to [`DeviceEncoder::samples`] on the device, or uploaded by [`DeviceEncoder::upload`].
/// [`DeviceEncoder::encode`] launches all work without waiting or allocating, on the caller's stream if given. To
/// overlap frames, use several encoders with a stream each.
///
/// ```
/// use lifting::Device;
/// use lifting_codec::{Codec, Image};
///
/// // The interpreter of kernels; with a GPU, `Device::cuda(0)?`.
/// let device = Device::Interpreter;
/// let codec = Codec::builder(&lifting::catalogue::find("legall53")?).levels(1).device(device).build()?;
/// let samples = (0..16 * 24).map(|i| i % 24 * 10).collect();
/// let image = Image { height: 16, width: 24, components: 1, bits: 8, signed: false, samples };
///
/// let mut encoder = codec.on_device(image.format(), 2)?;
/// encoder.upload(0, &image)?;
/// encoder.upload(1, &image)?;
/// encoder.encode()?;
/// for stream in encoder.streams()? {
///     assert_eq!(lifting_codec::decode(&stream)?, image);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DeviceEncoder {
    codec: Codec,
    resident: Resident,
    quantisation: Option<Quantisation>,
    tasks: Array,
    costs: Array,
    words: Array,
    results: Array,
    entries: Array,
    words_before: Array,
    left: Array,
    headers: Array,
}

impl std::fmt::Debug for DeviceEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Resident { format, pictures, .. } = &self.resident;
        f.debug_struct("DeviceEncoder").field("format", format).field("pictures", pictures).finish_non_exhaustive()
    }
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
        // SAFETY: for any samples, kernels access only the ranges given by the numbers made here, and these lie within
        // the arrays. A block's shape bounds its words and the size of its entry.
        let kernels = unsafe { Kernels::new(codec.device(), list) }?;

        let (plan, tiles) = transform.into_parts();
        let groups = codec.places(&tiles, format.components);
        let places = || groups.iter().flatten();
        let blocks = places().count();
        let weights = Weights::new(codec.scheme(), if step.is_some() { codec.levels() } else { 0 }, colour)?;
        let of_component = |component| tiles[0].iter().map(move |band| (component, band.clone()));
        let bands = WeighedBands { weights, bands: (0..format.components).flat_map(of_component).collect() };
        let steps = step.map(|step| bands.steps(step));
        let header = codec.header(&format, tile, steps.as_deref().map(quantisers_of)).write()?;
        let tables = Tables::built_in();

        let room: usize = places().map(|place| raw_words(place.shape, MOST_PLANES)).sum();
        check_numbers(&[pictures.checked_mul(room)])?;
        let layout = Layout {
            format,
            pictures,
            groups: &groups,
            header: header.len(),
            capacity: header.len() + codec.sections.len() + groups.len() * packets::FRAME + blocks * ENTRY + 2 * room,
            each: plan.coefficient_len(),
            quantised: steps.is_some(),
            tables,
        };
        layout.check()?;
        let mut first = 0;
        let tasks = layout.tasks(|place| {
            let words = raw_words(place.shape, MOST_PLANES);
            first += words;
            [first - words, words]
        })?;
        let quantisation = match steps {
            Some(steps) => {
                let places = places_in_bands(&tiles, &groups);
                Some(Quantisation::new(&kernels, &places, &inverses_of(&steps), pictures, header.len(), (bands, tile))?)
            }
            None => None,
        };
        let ints = |n: usize| kernels.zeroed(Scalar::I32, n);
        Ok(DeviceEncoder {
            codec: codec.clone(),
            quantisation,
            tasks: kernels.upload(&tasks)?,
            costs: kernels.upload(&costs(tables))?,
            words: kernels.zeroed(Scalar::I16, pictures * room)?,
            results: ints(2 * pictures * blocks)?,
            entries: ints(pictures * (blocks + 1))?,
            words_before: ints(pictures * (blocks + 1))?,
            left: ints(pictures)?,
            headers: kernels.upload(&header.repeat(pictures))?,
            resident: {
                let transform = planes(kernels.transform(plan)?);
                let mut resident = layout.resident::<T>(kernels, transform)?;
                let Resident { kernels, streams, header, capacity, .. } = &mut resident;
                for place in 0..if codec.sections.is_empty() { 0 } else { pictures } {
                    kernels.write(streams, place * *capacity + *header, &codec.sections)?;
                }
                resident
            },
        })
    }

    /// Moves all further work to a stream of the caller.
    ///
    /// # Errors
    /// If the encoder is not on the stream's device.
    #[cfg(feature = "cuda")]
    pub fn on_stream(
        &mut self,
        stream: &std::sync::Arc<lifting::cuda::cudarc::driver::CudaStream>,
    ) -> Result<(), CodecError> {
        self.resident.on_stream(stream)
    }

    /// Format of the pictures.
    pub fn format(&self) -> Format {
        self.resident.format
    }

    /// Memory of the samples: height × width × components for each picture, row by row, with the components of a pixel
    /// adjacent.
    ///
    /// Samples of up to 8 bits are bytes, others have 16 bits each; signed ones are in two's complement. Samples out of
    /// the depth's range are coded as they are.
    pub fn samples(&mut self) -> &mut Array {
        &mut self.resident.samples
    }

    /// Uploads a picture to its place.
    ///
    /// # Errors
    /// If the picture has another format, there is no such place, or the device reports an error.
    pub fn upload(&mut self, place: usize, image: &Image) -> Result<(), CodecError> {
        image.check()?;
        let Resident { format, pictures, .. } = self.resident;
        if place >= pictures {
            return Err(CodecError::NoSuchPlace { place, pictures });
        }
        if image.format() != format {
            return Err(CodecError::OtherFormat { expected: format, found: image.format() });
        }
        self.resident.put(place, &image.samples)
    }

    /// Encodes a batch of one picture.
    pub(crate) fn only(&mut self, image: &Image) -> Result<Vec<u8>, CodecError> {
        self.upload(0, image)?;
        self.encode()?;
        Ok(self.streams()?.remove(0))
    }

    /// Encodes a batch of one picture, with bands quantised so that each affects the picture as `step` does in a band
    /// of norm 1.
    pub(crate) fn by_step(&mut self, step: f64) -> Result<Vec<u8>, CodecError> {
        if let Some(q) = &mut self.quantisation {
            let steps = q.bands.steps(step);
            let Resident { kernels, format, .. } = &self.resident;
            let header = self.codec.header(format, q.tile, Some(quantisers_of(&steps))).write()?;
            kernels.write(&mut self.headers, 0, &header)?;
            kernels.write(&mut q.inverses, 0, &inverses_of(&steps))?;
        }
        self.encode()?;
        if self.lengths()? == [0] {
            return Err(CodecError::NotOnDevice { what: "a block of more than 16 bitplanes" });
        }
        Ok(self.streams()?.remove(0))
    }

    /// Moves all further work to a new stream.
    pub(crate) fn on_new_stream(&mut self) -> Result<(), CodecError> {
        Ok(self.resident.kernels.on_new_stream()?)
    }

    /// Pinned memory of the host.
    pub(crate) fn pinned(&self, bytes: usize) -> Result<Pinned, CodecError> {
        Ok(self.resident.kernels.pinned(bytes)?)
    }

    /// Uploads the samples of a batch of one picture, without waiting.
    pub(crate) fn upload_pinned(&mut self, samples: &Pinned) -> Result<(), CodecError> {
        Ok(self.resident.kernels.write_pinned(&mut self.resident.samples, samples)?)
    }

    /// Downloads the length of the first stream, and whether it is left to the processor, without waiting.
    pub(crate) fn fetch_numbers(&self, to: &mut Pinned) -> Result<(), CodecError> {
        let kernels = &self.resident.kernels;
        kernels.read_pinned(&self.resident.lengths, 4, to, 0)?;
        Ok(kernels.read_pinned(&self.left, 4, to, 4)?)
    }

    /// Downloads the first bytes of the first stream, without waiting.
    pub(crate) fn fetch_stream(&self, to: &mut Pinned, length: usize) -> Result<(), CodecError> {
        Ok(self.resident.kernels.read_pinned(&self.resident.streams, length, to, 0)?)
    }

    /// Launches the encoding of all pictures.
    ///
    /// # Errors
    /// If the device reports an error.
    pub fn encode(&mut self) -> Result<(), CodecError> {
        self.transform()?;
        self.encode_blocks()?;
        self.pack()
    }

    /// Launches the stages from samples to indices.
    fn transform(&mut self) -> Result<(), CodecError> {
        let Resident { pictures, blocks, header, stride, format, .. } = self.resident;
        let numbers = [format.pixels(), format.components, pictures * format.pixels()];
        let on = &mut self.resident;
        launch(&on.kernels, READ, [&mut on.samples, &mut on.planes], numbers)?;
        on.forward()?;
        let (Some(q), Some(indices)) = (&mut self.quantisation, &mut on.indices) else { return Ok(()) };
        let arrays = [
            &mut on.coefficients,
            &mut q.inverses,
            indices,
            &mut q.sums,
            &mut q.counts,
            &mut self.tasks,
            &mut q.places,
        ];
        launch(&on.kernels, QUANTISE, arrays, [stride, blocks, pictures * blocks])?;
        let arrays = [&mut q.sums, &mut q.counts, &mut q.members, &mut q.begins, &mut self.headers];
        launch(&on.kernels, OFFSETS, arrays, [q.first, header, blocks, q.quantisers, pictures * q.quantisers])?;
        Ok(())
    }

    /// Launches only the block encoder, on the indices of the last [`DeviceEncoder::encode`]. For timing it alone.
    ///
    /// # Errors
    /// If the device reports an error.
    pub fn encode_blocks(&mut self) -> Result<(), CodecError> {
        let on = &mut self.resident;
        let numbers = [on.stride, on.pictures * on.blocks];
        let indices = on.indices.as_mut().unwrap_or(&mut on.coefficients);
        let arrays = [&mut *indices, &mut self.tasks, &mut self.costs, &mut on.choices];
        launch(&on.kernels, CHOOSE, arrays, numbers)?;
        let arrays = [indices, &mut self.tasks, &mut on.choices, &mut on.table, &mut self.words, &mut self.results];
        launch(&on.kernels, ENCODE, arrays, numbers)?;
        Ok(())
    }

    /// Launches the stages from words to streams.
    fn pack(&mut self) -> Result<(), CodecError> {
        let Resident { pictures, blocks, packets, header, capacity, stride, .. } = self.resident;
        // Packets begin after the metadata.
        let start = header + self.codec.sections.len();
        let on = &mut self.resident;
        let arrays = [&mut self.headers, &mut on.secret, &mut on.streams, &mut on.seeds];
        launch(&on.kernels, HEADER, arrays, [header, capacity, pictures])?;
        let arrays = [&mut self.tasks, &mut self.results, &mut self.entries, &mut self.words_before, &mut self.left];
        launch(&on.kernels, LAYOUT, arrays, [blocks, pictures])?;
        let arrays = [
            &mut self.entries,
            &mut self.words_before,
            &mut on.firsts,
            &mut on.streams,
            &mut on.parts,
            &mut on.lengths,
        ];
        launch(&on.kernels, PARTS, arrays, [start, blocks, packets, capacity, pictures * packets])?;
        let arrays = [
            on.indices.as_mut().unwrap_or(&mut on.coefficients),
            &mut self.tasks,
            &mut self.results,
            &mut on.choices,
            &mut self.words,
            &mut self.entries,
            &mut self.words_before,
            &mut on.firsts,
            &mut on.packet_of,
            &mut on.streams,
        ];
        launch(&on.kernels, WRITE, arrays, [start, blocks, capacity, stride, pictures * blocks])?;
        on.hash(HASH)?;
        let arrays = [&mut on.hashes, &mut on.parts, &mut on.secret, &mut on.seeds, &mut on.streams];
        let numbers = [2 * packets, slots(capacity, packets), capacity, 2 * pictures * packets];
        launch(&on.kernels, SEAL, arrays, numbers)?;
        Ok(())
    }

    /// Waits for all launched work.
    ///
    /// # Errors
    /// If a launched operation has failed.
    pub fn wait(&self) -> Result<(), CodecError> {
        Ok(self.resident.kernels.wait()?)
    }

    /// Memory of the streams, [`DeviceEncoder::capacity`] bytes apart.
    pub fn memory(&self) -> &Array {
        &self.resident.streams
    }

    /// Room per stream in bytes, above the length of any stream.
    pub fn capacity(&self) -> usize {
        self.resident.capacity
    }

    /// Waits, and returns the length of each stream in bytes. 0 marks a picture with blocks of more than 16 bitplanes,
    /// which the device leaves to the processor.
    ///
    /// # Errors
    /// If a launched operation has failed.
    pub fn lengths(&self) -> Result<Vec<usize>, CodecError> {
        let Resident { kernels, lengths, pictures, .. } = &self.resident;
        let lengths: Vec<i32> = kernels.download(lengths, 0..*pictures)?;
        let left: Vec<i32> = kernels.download(&self.left, 0..*pictures)?;
        Ok(lengths.iter().zip(left).map(|(&length, left)| if left == 0 { length as usize } else { 0 }).collect())
    }

    /// Waits, and downloads the streams. Adds an index of packets where the processor does. Pictures left to the
    /// processor are encoded there.
    ///
    /// # Errors
    /// If a launched operation has failed.
    pub fn streams(&self) -> Result<Vec<Vec<u8>>, CodecError> {
        let stream = |(place, length)| match length {
            0 => self.codec.on_processor().encode(&self.resident.get(place)?),
            length => {
                let at = place * self.resident.capacity;
                Decoder::indexed(self.resident.kernels.download(&self.resident.streams, at..at + length)?)
            }
        };
        self.lengths()?.into_iter().enumerate().map(stream).collect()
    }
}

/// Quantisers of these steps, with offsets still unset.
fn quantisers_of(steps: &[Step]) -> Vec<Quantiser> {
    steps.iter().map(|&step| Quantiser { step, offset: 0 }).collect()
}

fn inverses_of(steps: &[Step]) -> Vec<f32> {
    steps.iter().map(|step| step.inverse()).collect()
}

impl Quantisation {
    fn new(
        kernels: &Kernels,
        places: &[[i32; PLACE]],
        inverses: &[f32],
        pictures: usize,
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
