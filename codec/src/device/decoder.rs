//! Pictures out of whole streams, on a device.

use super::encoder::{Planes, get, launch, packets_of, places_in_bands, with_tiles};
use super::packets::{self, slots};
use super::{check_numbers, hash, parse, quantise, samples};
use crate::block::kernel::{FIELDS, Status, Task, decoder, probabilities};
use crate::decode::{Decoder, Picture};
use crate::encode::places_of_packets;
use crate::error::CodecError;
use crate::header::{CHECKSUM, Header};
use crate::image::Format;
use crate::lane::{Lane, Transform};
use lifting::kernels::{Array, Kernels};
use lifting::{Device, Domain};
use lifting_codegen::ir::Scalar;

// The kernels, by their places.
const HEADER: usize = 0;
const PARSE: usize = 1;
const TASKS: usize = 2;
const HASH: usize = 3;
const CHECK: usize = 4;
const DECODE: usize = 5;
const WRITE: usize = 6;
const DEQUANTISE: usize = 7;

/// What dequantisation takes.
struct Dequantisation {
    indices: Array,
    places: Array,
    powers: Array,
    first: usize,
}

/// Decodes streams of one kind, some of them at once, from a device's memory to pictures there; made by
/// [`Decoder::on_device`]. Pictures are those of [`Decoder::decode`].
///
/// [`DeviceDecoder::decode`] launches everything and waits for nothing; all memory was taken when the decoder was made.
/// A stream may come from anyone: nothing is read or written beyond it and its picture, and what is broken, cut, or of
/// another kind is decoded by the processor, which says what is wrong, when pictures are asked for.
///
/// ```
/// use lifting::Device;
/// use lifting_codec::{Codec, Decoder, Image};
///
/// let codec = Codec::builder(&lifting::catalogue::find("legall53")?).levels(1).build()?;
/// let samples = (0..16 * 24).map(|i| i % 24 * 10).collect();
/// let image = Image { height: 16, width: 24, components: 1, bits: 8, signed: false, samples };
/// let stream = codec.encode(&image)?;
///
/// // The interpreter of kernels; where there is one, `Device::cuda(0)?`.
/// let mut decoder = Decoder::new(&stream)?.on_device(&Device::Interpreter, 2, stream.len())?;
/// decoder.upload(0, &stream)?;
/// decoder.upload(1, &stream)?;
/// decoder.decode()?;
/// for picture in decoder.pictures()? {
///     assert_eq!(picture?.image, image);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DeviceDecoder {
    format: Format,
    pictures: usize,
    kernels: Kernels,
    transform: Planes,
    dequantisation: Option<Dequantisation>,
    /// Of a picture: blocks, packets, bytes of the header, those of quantisers among them, warps that hash.
    blocks: usize,
    packets: usize,
    header: usize,
    quantisers: [usize; 2],
    warps: usize,
    capacity: usize,
    tables: usize,
    stride: usize,
    streams: Array,
    lengths: Array,
    expected: Array,
    secret: Array,
    seeds: Array,
    firsts: Array,
    packet_of: Array,
    shapes: Array,
    parsed: Array,
    parts: Array,
    hashes: Array,
    tasks: Array,
    choices: Array,
    table: Array,
    results: Array,
    faults: [Array; 3],
    coefficients: Array,
    planes: Array,
    samples: Array,
}

impl std::fmt::Debug for DeviceDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let DeviceDecoder { format, pictures, .. } = self;
        f.debug_struct("DeviceDecoder").field("format", format).field("pictures", pictures).finish_non_exhaustive()
    }
}

impl DeviceDecoder {
    pub(crate) fn new(
        header: &Header,
        device: &Device,
        pictures: usize,
        capacity: usize,
    ) -> Result<DeviceDecoder, CodecError> {
        if header.layers > 1 {
            return Err(CodecError::NotOnDevice { what: "more than one quality layer" });
        }
        let shape = [header.height, header.width];
        match header.scheme.domain() {
            Domain::Integer => {
                let transform = Transform::<i32>::new(&header.scheme, shape, header.tile, header.levels, device)?;
                DeviceDecoder::of_lane(header, device, pictures, capacity, transform, Planes::Integer)
            }
            Domain::Real => {
                let transform = Transform::<f32>::new(&header.scheme, shape, header.tile, header.levels, device)?;
                DeviceDecoder::of_lane(header, device, pictures, capacity, transform, Planes::Real)
            }
        }
    }

    fn of_lane<T: Lane>(
        header: &Header,
        device: &Device,
        pictures: usize,
        capacity: usize,
        transform: Transform<T>,
        planes: impl FnOnce(lifting::kernels::Transform<T>) -> Planes,
    ) -> Result<DeviceDecoder, CodecError> {
        let kind = T::SCALAR;
        let Header { height, width, components, bits, signed, colour, levels, block, order, .. } = *header;
        let format = Format { height, width, components, bits, signed };
        let mut list = vec![
            parse::header_reader(),
            parse::parser(),
            parse::tasks(),
            packets::hasher(),
            parse::checker(),
            decoder(order),
            samples::writer(&format, kind, colour),
        ];
        if header.quantisers.is_some() {
            list.push(quantise::dequantiser(kind));
        }
        #[allow(unsafe_code)]
        // SAFETY: whatever streams hold, kernels touch what the numbers made here say, which is within the arrays: what
        // streams say of places and lengths is held against these first.
        let kernels = unsafe { Kernels::new(device, list) }?;

        let (plan, tiles) = transform.into_parts();
        let groups = places_of_packets(&tiles, components, levels, block, order);
        let (firsts, packet_of) = packets_of(&groups);
        let placed = with_tiles(&groups, tiles.len());
        let (blocks, packets) = (placed.len(), groups.len());
        let stride = placed.first().map_or(1, |(_, place)| place.stride);
        let expected = header.write()?;
        let tables = header.tables();
        let of_tables = header.tables.as_ref().map_or(0, |tables| 1 + tables.to_bytes().len());
        let quantisers = header.quantisers.as_ref().map_or(0, Vec::len);
        let first = expected.len() - CHECKSUM - of_tables - 3 * quantisers;

        let each = plan.coefficient_len();
        let capacity = capacity.max(expected.len());
        let all = pictures.checked_mul(components).and_then(|n| n.checked_mul(each));
        let limits = [
            all,
            pictures.checked_mul(capacity),
            pictures.checked_mul(8 * slots(capacity, packets)),
            pictures.checked_mul(packets::MOST_WARPS.max(FIELDS * (blocks + 1))),
        ];
        check_numbers(&limits)?;
        let all = all.unwrap_or(0);
        let mut shapes = Vec::with_capacity(pictures * blocks * FIELDS);
        for picture in 0..pictures {
            for (_, place) in &placed {
                let start = (picture * components + place.component) * each + place.start;
                let task = Task { start, shape: place.shape, first: 0, words: 0, planes: 0 }.fields();
                shapes.extend(task.ok_or(CodecError::NotOnDevice { what: "so large a picture" })?);
            }
        }
        let ints = |n: usize| kernels.zeroed(Scalar::I32, n);
        let dequantisation = match &header.quantisers {
            Some(_) => Some(Dequantisation {
                indices: ints(all)?,
                places: kernels.upload(places_in_bands(&tiles, &placed).as_flattened())?,
                powers: kernels.upload(&std::array::from_fn::<f64, 32, _>(|e| (e as f64 - 16.0).exp2()))?,
                first,
            }),
            None => None,
        };
        Ok(DeviceDecoder {
            streams: kernels.zeroed(Scalar::U8, pictures * capacity)?,
            lengths: ints(pictures)?,
            expected: kernels.upload(&expected)?,
            secret: kernels.upload(&hash::secret())?,
            seeds: kernels.zeroed(Scalar::U64, pictures)?,
            firsts: kernels.upload(&firsts)?,
            packet_of: kernels.upload(&packet_of)?,
            shapes: kernels.upload(&shapes)?,
            parsed: ints(parse::PARSED * pictures * blocks)?,
            parts: ints(4 * pictures * packets)?,
            hashes: kernels.zeroed(Scalar::U8, 8 * pictures * slots(capacity, packets))?,
            tasks: ints(FIELDS * pictures * blocks)?,
            choices: ints(2 * pictures * blocks)?,
            table: kernels.upload(&probabilities(tables))?,
            results: ints(pictures * blocks)?,
            faults: [ints(pictures)?, ints(pictures * packets)?, ints(2 * pictures * packets)?],
            coefficients: kernels.zeroed(kind, all)?,
            planes: kernels.zeroed(kind, pictures * format.samples())?,
            samples: kernels.zeroed(samples::scalar(&format), pictures * format.samples())?,
            transform: planes(kernels.transform(plan)?),
            header: expected.len(),
            tables: tables.count(),
            format,
            pictures,
            kernels,
            dequantisation,
            blocks,
            packets,
            quantisers: [first, first + 3 * quantisers],
            warps: packets::warps_of(capacity),
            capacity,
            stride,
        })
    }

    /// Lets everything from now on go to a stream of the caller.
    ///
    /// # Errors
    /// If the decoder is not on the stream's device.
    #[cfg(feature = "cuda")]
    pub fn on_stream(
        &mut self,
        stream: &std::sync::Arc<lifting::cuda::cudarc::driver::CudaStream>,
    ) -> Result<(), CodecError> {
        Ok(self.kernels.on_stream(stream)?)
    }

    /// Where streams are to be, each so many bytes from the one before, and how long each is (`i32`).
    pub fn memory(&mut self) -> (&mut Array, usize, &mut Array) {
        (&mut self.streams, self.capacity, &mut self.lengths)
    }

    /// Puts a stream where it is to be.
    ///
    /// # Errors
    /// If it is longer than was said, there is no such place, or the device refuses.
    pub fn upload(&mut self, place: usize, stream: &[u8]) -> Result<(), CodecError> {
        if stream.len() > self.capacity || place >= self.pictures {
            return Err(CodecError::OfOtherKind { place, pictures: self.pictures });
        }
        self.kernels.write(&mut self.streams, place * self.capacity, stream)?;
        Ok(self.kernels.write(&mut self.lengths, place, &[stream.len() as i32])?)
    }

    /// The picture of the only stream.
    pub(crate) fn decode_one(&mut self, stream: &[u8]) -> Result<Picture, CodecError> {
        self.upload(0, stream)?;
        self.decode()?;
        self.pictures()?.remove(0)
    }

    /// Launches everything that makes pictures of the streams.
    ///
    /// # Errors
    /// If the device refuses.
    pub fn decode(&mut self) -> Result<(), CodecError> {
        let DeviceDecoder { kernels, pictures, blocks, packets, header, capacity, warps, .. } = self;
        let (pictures, blocks, packets, header, capacity) = (*pictures, *blocks, *packets, *header, *capacity);
        let [of_headers, of_packets, of_parts] = &mut self.faults;
        let arrays =
            [&mut self.streams, &mut self.lengths, &mut self.expected, &mut self.secret, &mut self.seeds, of_headers];
        launch(kernels, HEADER, arrays, [header, self.quantisers[0], self.quantisers[1], capacity, pictures])?;
        let arrays = [
            &mut self.streams,
            &mut self.lengths,
            &mut self.shapes,
            &mut self.firsts,
            &mut self.parsed,
            &mut self.parts,
            &mut *of_packets,
        ];
        launch(kernels, PARSE, arrays, [header, blocks, packets, self.tables, capacity, pictures * packets])?;
        let arrays = [
            &mut self.parsed,
            &mut self.parts,
            of_packets,
            &mut self.packet_of,
            &mut self.shapes,
            &mut self.tasks,
            &mut self.choices,
        ];
        launch(kernels, TASKS, arrays, [blocks, packets, capacity, pictures * blocks])?;
        let slots = slots(capacity, packets);
        let arrays = [&mut self.streams, &mut self.parts, &mut self.secret, &mut self.seeds, &mut self.hashes];
        launch(kernels, HASH, arrays, [2 * packets, *warps, slots, capacity, pictures * *warps])?;
        let arrays =
            [&mut self.hashes, &mut self.parts, &mut self.secret, &mut self.seeds, &mut self.streams, of_parts];
        launch(kernels, CHECK, arrays, [2 * packets, slots, capacity, 2 * pictures * packets])?;
        let arrays = [
            self.dequantisation.as_mut().map_or(&mut self.coefficients, |q| &mut q.indices),
            &mut self.tasks,
            &mut self.choices,
            &mut self.table,
            &mut self.streams,
            &mut self.results,
        ];
        launch(kernels, DECODE, arrays, [self.stride, pictures * blocks])?;
        if let Some(q) = &mut self.dequantisation {
            let arrays = [
                &mut q.indices,
                &mut self.streams,
                &mut q.powers,
                &mut self.coefficients,
                &mut self.shapes,
                &mut q.places,
            ];
            launch(kernels, DEQUANTISE, arrays, [q.first, capacity, self.stride, blocks, pictures * blocks])?;
        }
        let (pixels, components) = (self.format.pixels(), self.format.components);
        let each = self.coefficients.len() / (pictures * components).max(1);
        for plane in 0..pictures * components {
            let (source, target) = ((&self.coefficients, plane * each), (&mut self.planes, plane * pixels));
            match &mut self.transform {
                Planes::Integer(transform) => kernels.inverse(transform, source, target)?,
                Planes::Real(transform) => kernels.inverse(transform, source, target)?,
            }
        }
        let arrays = [&mut self.samples, &mut self.planes];
        launch(kernels, WRITE, arrays, [pixels, components, pictures * pixels])?;
        Ok(())
    }

    /// Where samples come to be, as [`DeviceEncoder::samples`](crate::DeviceEncoder::samples) has them.
    pub fn samples(&self) -> &Array {
        &self.samples
    }

    /// Waits, and says of each stream whether its picture is among [`DeviceDecoder::samples`]. If not, something is
    /// wrong with it, or it has blocks of more than 16 bitplanes.
    ///
    /// # Errors
    /// If something that was launched has failed.
    pub fn decoded(&self) -> Result<Vec<bool>, CodecError> {
        let mut fine = vec![true; self.pictures];
        let each = [1, self.packets, 2 * self.packets, self.blocks];
        let all = self.faults.iter().chain([&self.results]).zip(each);
        for (array, each) in all {
            let found: Vec<i32> = self.kernels.download(array, 0..array.len())?;
            for (fine, found) in fine.iter_mut().zip(found.chunks(each.max(1))) {
                *fine &= found.iter().all(|n| *n == Status::Decoded as i32);
            }
        }
        Ok(fine)
    }

    /// Waits, and copies the pictures. What the device leaves to the processor is decoded there; what is wrong with a
    /// stream is said of it.
    ///
    /// # Errors
    /// If something that was launched has failed.
    pub fn pictures(&self) -> Result<Vec<Result<Picture, CodecError>>, CodecError> {
        let lengths: Vec<i32> = self.kernels.download(&self.lengths, 0..self.pictures)?;
        let picture = |(place, fine): (usize, bool)| {
            if fine {
                let image = get(&self.kernels, &self.samples, place * self.format.samples(), &self.format)?;
                return Ok(Ok(Picture { image, complete: true }));
            }
            let length = usize::try_from(lengths[place]).unwrap_or(0).min(self.capacity);
            let at = place * self.capacity;
            let stream: Vec<u8> = self.kernels.download(&self.streams, at..at + length)?;
            Ok(Decoder::new(&stream).and_then(|decoder| decoder.decode(0)))
        };
        self.decoded()?.into_iter().enumerate().map(picture).collect()
    }
}
