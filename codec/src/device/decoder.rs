//! Decoder of whole streams on a device.

use super::packets::{self, slots};
use super::resident::{Layout, Planes, Resident, launch, places_in_bands};
use super::{check_numbers, parse, quantise, samples};
use crate::block::kernel::{FIELDS, Status, decoder};
use crate::decode::{Decoder, Picture};
use crate::error::CodecError;
use crate::format::Format;
use crate::header::{CHECKSUM, Header};
use crate::lane::{Lane, Transform};
use crate::packet::places_of_packets;
use crate::quantise::{Quantiser, Step};
use lifting::kernels::{Array, Kernels};
use lifting::{Device, Domain};
use lifting_codegen::ir::Scalar;
use std::sync::Mutex;

// Indices of the kernels.
const HEADER: usize = 0;
const PARSE: usize = 1;
const TASKS: usize = 2;
const HASH: usize = 3;
const CHECK: usize = 4;
const DECODE: usize = 5;
const WRITE: usize = 6;
const DEQUANTISE: usize = 7;

impl Decoder<'_> {
    /// Creates a decoder for batches of streams like this one, from device memory to pictures there: see
    /// [`DeviceDecoder`]. A batch has up to `pictures` streams of at most `bytes` bytes each. Only this stream's header
    /// is used; the others may differ from it in their quantisers.
    ///
    /// # Errors
    /// If the device cannot run kernels or lacks the memory, if there are several layers, or if pictures are too large.
    pub fn on_device(&self, device: &Device, pictures: usize, bytes: usize) -> Result<DeviceDecoder, CodecError> {
        DeviceDecoder::new(self.header(), device, pictures, bytes)
    }
}

/// The decoder of the last stream on a device, with its device, header and capacity: the next stream of the same kind
/// takes it.
static IDLE: Mutex<Option<(Device, Kind, DeviceDecoder)>> = Mutex::new(None);

/// Header without quantisers, and capacity.
type Kind = (Vec<u8>, usize);

/// Frees the kernels and device memory that the last [`Decoder::decode`] on a device keeps for the next one.
pub fn release_device_memory() {
    *IDLE.lock().unwrap_or_else(|e| e.into_inner()) = None;
}

impl Decoder<'_> {
    /// Decodes the whole picture on a device.
    pub(crate) fn decode_on_device(&self, device: &Device, stream: &[u8]) -> Result<Picture, CodecError> {
        let mut header = self.header().clone();
        if let Some(quantisers) = &mut header.quantisers {
            quantisers.fill(Quantiser { step: Step::ONE, offset: 0 });
        }
        // Streams of similar length share a decoder.
        let room = stream.len().next_power_of_two();
        let kind = (header.write()?, if room > 1 << 30 { stream.len() } else { room });
        let idle = || IDLE.lock().unwrap_or_else(|e| e.into_inner());
        let suits = |(of, other, _): &mut (Device, Kind, DeviceDecoder)| of == device && *other == kind;
        let found = idle().take_if(suits);
        let mut decoder = match found {
            Some((_, _, decoder)) => decoder,
            None => {
                release_device_memory();
                self.on_device(device, 1, kind.1)?
            }
        };
        let picture = decoder.decode_one(stream)?;
        *idle() = Some((device.clone(), kind, decoder));
        Ok(picture)
    }
}

/// Arrays for dequantisation.
struct Dequantisation {
    places: Array,
    powers: Array,
    first: usize,
}

/// Decoder of batches of streams of one kind, from device memory to pictures there; made by [`Decoder::on_device`].
/// Pictures equal those of [`Decoder::decode`].
///
/// [`DeviceDecoder::decode`] launches all work without waiting or allocating. Streams may come from untrusted sources:
/// accesses stay within each stream and its picture. Corrupted, truncated and foreign streams are left to the
/// processor, which reports the error when pictures are downloaded.
///
/// ```
/// use lifting::Device;
/// use lifting_codec::{Codec, Decoder, Image};
///
/// let codec = Codec::builder(&lifting::catalogue::find("legall53")?).levels(1).deflated(false).build()?;
/// let samples = (0..16 * 24).map(|i| i * 2 / 3).collect();
/// let image = Image { height: 16, width: 24, components: 1, bits: 8, signed: false, samples };
/// let stream = codec.encode(&image)?;
///
/// // The interpreter of kernels; with a GPU, `Device::cuda(0)?`.
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
    resident: Resident,
    dequantisation: Option<Dequantisation>,
    /// Bytes of the header up to its quantisers, and up to their end.
    quantisers: [usize; 2],
    /// Number of tables.
    tables: usize,
    /// Offset of the first packet.
    start: usize,
    expected: Array,
    shapes: Array,
    parsed: Array,
    tasks: Array,
    results: Array,
    faults: [Array; 3],
}

impl std::fmt::Debug for DeviceDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Resident { format, pictures, .. } = &self.resident;
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
        if header.values.is_some() || header.tiles_first {
            return Err(CodecError::NotOnDevice { what: "ranks of samples, and packets by tiles" });
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
        // SAFETY: kernels check a stream's offsets and lengths before use. With any stream they access only the ranges
        // given by the numbers made here, and these lie within the arrays.
        let kernels = unsafe { Kernels::new(device, list) }?;

        let (plan, tiles) = transform.into_parts();
        let groups = places_of_packets(&tiles, components, levels, block, order);
        let blocks: usize = groups.iter().map(Vec::len).sum();
        let packets = groups.len();
        let expected = header.write()?;
        let tables = header.tables();
        let of_tables = header.tables.as_ref().map_or(0, |tables| 1 + tables.to_bytes().len());
        let quantisers = header.quantisers.as_ref().map_or(0, Vec::len);
        let first = expected.len() - CHECKSUM - of_tables - 3 * quantisers;

        let start = expected.len() + header.sections;
        let capacity = capacity.max(start);
        check_numbers(&[pictures.checked_mul(capacity)])?;
        let layout = Layout {
            format,
            pictures,
            groups: &groups,
            header: expected.len(),
            capacity,
            each: plan.coefficient_len(),
            quantised: header.quantisers.is_some(),
            tables,
        };
        layout.check()?;
        let shapes = layout.tasks(|_| [0, 0])?;
        let ints = |n: usize| kernels.zeroed(Scalar::I32, n);
        let dequantisation = match &header.quantisers {
            Some(_) => Some(Dequantisation {
                places: kernels.upload(places_in_bands(&tiles, &groups).as_flattened())?,
                powers: kernels.upload(&std::array::from_fn::<f64, 32, _>(|e| (e as f64 - 16.0).exp2()))?,
                first,
            }),
            None => None,
        };
        Ok(DeviceDecoder {
            dequantisation,
            quantisers: [first, first + 3 * quantisers],
            tables: tables.count(),
            start,
            expected: kernels.upload(&expected)?,
            shapes: kernels.upload(&shapes)?,
            parsed: ints(parse::PARSED * pictures * blocks)?,
            tasks: ints(FIELDS * pictures * blocks)?,
            results: ints(pictures * blocks)?,
            faults: [ints(pictures)?, ints(pictures * packets)?, ints(2 * pictures * packets)?],
            resident: {
                let transform = planes(kernels.transform(plan)?);
                layout.resident::<T>(kernels, transform)?
            },
        })
    }

    /// Moves all further work to a stream of the caller.
    ///
    /// # Errors
    /// If the decoder is not on the stream's device.
    #[cfg(feature = "cuda")]
    pub fn on_stream(
        &mut self,
        stream: &std::sync::Arc<lifting::cuda::cudarc::driver::CudaStream>,
    ) -> Result<(), CodecError> {
        self.resident.on_stream(stream)
    }

    /// Memory of the streams: the array, the distance between streams in bytes, and the length of each stream (`i32`).
    pub fn memory(&mut self) -> (&mut Array, usize, &mut Array) {
        (&mut self.resident.streams, self.resident.capacity, &mut self.resident.lengths)
    }

    /// Uploads a stream to its place, without its index of packets. Streams in [`DeviceDecoder::memory`] must have none
    /// to be decoded on the device.
    ///
    /// # Errors
    /// If the stream exceeds the capacity, there is no such place, or the device reports an error.
    pub fn upload(&mut self, place: usize, stream: &[u8]) -> Result<(), CodecError> {
        let stream = Decoder::without_index(stream);
        let Resident { kernels, streams, lengths, pictures, capacity, .. } = &mut self.resident;
        if place >= *pictures {
            return Err(CodecError::NoSuchPlace { place, pictures: *pictures });
        }
        if stream.len() > *capacity {
            return Err(CodecError::TooLong { bytes: stream.len(), most: *capacity });
        }
        kernels.write(streams, place * *capacity, stream)?;
        Ok(kernels.write(lengths, place, &[stream.len() as i32])?)
    }

    /// Decodes a batch of one stream.
    pub(crate) fn decode_one(&mut self, stream: &[u8]) -> Result<Picture, CodecError> {
        self.upload(0, stream)?;
        self.decode()?;
        self.pictures()?.remove(0)
    }

    /// Launches the decoding of all streams.
    ///
    /// # Errors
    /// If the device reports an error.
    pub fn decode(&mut self) -> Result<(), CodecError> {
        let Resident { pictures, blocks, packets, header, capacity, stride, format, .. } = self.resident;
        let on = &mut self.resident;
        let [of_headers, of_packets, of_parts] = &mut self.faults;
        let arrays = [&mut on.streams, &mut on.lengths, &mut self.expected, &mut on.secret, &mut on.seeds, of_headers];
        let numbers = [header, self.quantisers[0], self.quantisers[1], capacity, pictures];
        launch(&on.kernels, HEADER, arrays, numbers)?;
        let arrays = [
            &mut on.streams,
            &mut on.lengths,
            &mut self.shapes,
            &mut on.firsts,
            &mut self.parsed,
            &mut on.parts,
            &mut *of_packets,
        ];
        let numbers = [self.start, blocks, packets, self.tables, capacity, pictures * packets];
        launch(&on.kernels, PARSE, arrays, numbers)?;
        let arrays = [
            &mut self.parsed,
            &mut on.parts,
            of_packets,
            &mut on.packet_of,
            &mut self.shapes,
            &mut self.tasks,
            &mut on.choices,
        ];
        launch(&on.kernels, TASKS, arrays, [blocks, packets, capacity, pictures * blocks])?;
        on.hash(HASH)?;
        let arrays = [&mut on.hashes, &mut on.parts, &mut on.secret, &mut on.seeds, &mut on.streams, of_parts];
        let numbers = [2 * packets, slots(capacity, packets), capacity, 2 * pictures * packets];
        launch(&on.kernels, CHECK, arrays, numbers)?;
        self.decode_blocks()?;
        let on = &mut self.resident;
        if let (Some(q), Some(indices)) = (&mut self.dequantisation, &mut on.indices) {
            let arrays =
                [indices, &mut on.streams, &mut q.powers, &mut on.coefficients, &mut self.shapes, &mut q.places];
            launch(&on.kernels, DEQUANTISE, arrays, [q.first, capacity, stride, blocks, pictures * blocks])?;
        }
        on.inverse()?;
        let numbers = [format.pixels(), format.components, pictures * format.pixels()];
        launch(&on.kernels, WRITE, [&mut on.samples, &mut on.planes], numbers)?;
        Ok(())
    }

    /// Launches only the block decoder, on the words found by the last [`DeviceDecoder::decode`]. For timing it alone.
    ///
    /// # Errors
    /// If the device reports an error.
    pub fn decode_blocks(&mut self) -> Result<(), CodecError> {
        let on = &mut self.resident;
        let arrays = [
            on.indices.as_mut().unwrap_or(&mut on.coefficients),
            &mut self.tasks,
            &mut on.choices,
            &mut on.table,
            &mut on.streams,
            &mut self.results,
        ];
        launch(&on.kernels, DECODE, arrays, [on.stride, on.pictures * on.blocks])?;
        Ok(())
    }

    /// Memory of the samples, laid out as in [`DeviceEncoder::samples`](crate::DeviceEncoder::samples).
    pub fn samples(&self) -> &Array {
        &self.resident.samples
    }

    /// Waits, and tells for each stream whether its picture is in [`DeviceDecoder::samples`]. Invalid streams, and
    /// streams with blocks of more than 16 bitplanes, are not decoded on the device.
    ///
    /// # Errors
    /// If a launched operation has failed.
    pub fn decoded(&self) -> Result<Vec<bool>, CodecError> {
        let Resident { kernels, pictures, packets, blocks, .. } = &self.resident;
        let mut fine = vec![true; *pictures];
        let each = [1, *packets, 2 * packets, *blocks];
        let all = self.faults.iter().chain([&self.results]).zip(each);
        for (array, each) in all {
            let found: Vec<i32> = kernels.download(array, 0..array.len())?;
            for (fine, found) in fine.iter_mut().zip(found.chunks(each.max(1))) {
                *fine &= found.iter().all(|n| *n == Status::Decoded as i32);
            }
        }
        Ok(fine)
    }

    /// Waits, and downloads the pictures. Streams left to the processor are decoded there, or reported as errors.
    ///
    /// # Errors
    /// If a launched operation has failed.
    pub fn pictures(&self) -> Result<Vec<Result<Picture, CodecError>>, CodecError> {
        let Resident { kernels, lengths, streams, pictures, capacity, .. } = &self.resident;
        let lengths: Vec<i32> = kernels.download(lengths, 0..*pictures)?;
        let picture = |(place, fine): (usize, bool)| {
            if fine {
                return Ok(Ok(Picture { image: self.resident.get(place)?, complete: true }));
            }
            let length = usize::try_from(lengths[place]).unwrap_or(0).min(*capacity);
            let at = place * capacity;
            let stream: Vec<u8> = kernels.download(streams, at..at + length)?;
            Ok(Decoder::new(&stream).and_then(|decoder| decoder.decode(0)))
        };
        self.decoded()?.into_iter().enumerate().map(picture).collect()
    }
}
