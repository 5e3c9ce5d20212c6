//! Device memory of whole-stream coders: pictures, planes, coefficients, blocks and streams.

use super::packets::{self, slots};
use super::{check_numbers, hash, samples};
use crate::bands::{Band, BlockPlace};
use crate::block::kernel::{FIELDS, Task, probabilities};
use crate::error::CodecError;
use crate::format::Format;
use crate::image::{Image, range};
use crate::lane::Lane;
use crate::tables::Tables;
use lifting::PlanError;
use lifting::kernels::{Arg, Array, Kernels};
use lifting::threads;
use lifting_codegen::ir::Scalar;

/// Transform in one of the two number types.
pub enum Planes {
    /// For integer wavelets.
    Integer(lifting::kernels::Transform<i32>),
    /// For real wavelets.
    Real(lifting::kernels::Transform<f32>),
}

/// Batch of pictures of one format, with their streams.
pub struct Resident {
    pub kernels: Kernels,
    pub transform: Planes,
    pub format: Format,
    pub pictures: usize,
    /// Per picture: blocks, packets, bytes of the header, bytes of room for the stream, and warps that hash.
    pub blocks: usize,
    pub packets: usize,
    pub header: usize,
    pub capacity: usize,
    pub warps: usize,
    /// Distance between rows, and coefficients per component.
    pub stride: usize,
    pub each: usize,
    pub samples: Array,
    pub planes: Array,
    pub coefficients: Array,
    /// Indices of coefficients, if quantised.
    pub indices: Option<Array>,
    pub choices: Array,
    pub table: Array,
    pub firsts: Array,
    pub packet_of: Array,
    pub parts: Array,
    pub lengths: Array,
    pub secret: Array,
    pub seeds: Array,
    pub hashes: Array,
    pub streams: Array,
}

/// Properties of a stream known before encoding.
pub struct Layout<'a> {
    pub format: Format,
    pub pictures: usize,
    /// Blocks of each packet.
    pub groups: &'a [Vec<BlockPlace>],
    /// Bytes of the header, and of room for the stream.
    pub header: usize,
    pub capacity: usize,
    /// Coefficients per component.
    pub each: usize,
    pub quantised: bool,
    pub tables: &'a Tables,
}

impl Layout<'_> {
    /// Number of coefficients of all pictures.
    ///
    /// # Errors
    /// If this number, or another count, exceeds 32 bits.
    pub fn check(&self) -> Result<usize, CodecError> {
        let Layout { pictures, groups, capacity, each, .. } = *self;
        let (blocks, packets): (usize, _) = (groups.iter().map(Vec::len).sum(), groups.len());
        let all = pictures.checked_mul(self.format.components).and_then(|n| n.checked_mul(each));
        check_numbers(&[
            all,
            pictures.checked_mul(8 * slots(capacity, packets)),
            pictures.checked_mul(packets::MOST_WARPS.max(FIELDS * (blocks + 1))),
            Some(capacity),
        ])?;
        Ok(all.unwrap_or(0))
    }

    /// Task rows of the blocks of all pictures. `words` returns the place and the number of a block's words.
    ///
    /// # Errors
    /// If a number exceeds 31 bits.
    pub fn tasks(&self, mut words: impl FnMut(&BlockPlace) -> [usize; 2]) -> Result<Vec<i32>, CodecError> {
        let Layout { format, pictures, groups, each, .. } = *self;
        let mut tasks = Vec::new();
        for picture in 0..pictures {
            for place in groups.iter().flatten() {
                let start = (picture * format.components + place.component) * each + place.start;
                let [first, words] = words(place);
                let task = Task { start, shape: place.shape, first, words, planes: 0 }.fields();
                tasks.extend(task.ok_or(CodecError::NotOnDevice { what: "pictures this large" })?);
            }
        }
        Ok(tasks)
    }

    /// Allocates all memory.
    ///
    /// # Errors
    /// If the device lacks the memory, or a count is too large.
    pub fn resident<T: Lane>(&self, kernels: Kernels, transform: Planes) -> Result<Resident, CodecError> {
        let Layout { format, pictures, groups, header, capacity, each, .. } = *self;
        let all = self.check()?;
        let (firsts, packet_of) = packets_of(groups);
        let (blocks, packets) = (packet_of.len(), groups.len());
        let ints = |n: usize| kernels.zeroed(Scalar::I32, n);
        Ok(Resident {
            samples: kernels.zeroed(samples::scalar(&format), pictures * format.samples())?,
            planes: kernels.zeroed(T::SCALAR, pictures * format.samples())?,
            coefficients: kernels.zeroed(T::SCALAR, all)?,
            indices: if self.quantised { Some(ints(all)?) } else { None },
            choices: ints(2 * pictures * blocks)?,
            table: kernels.upload(&probabilities(self.tables))?,
            firsts: kernels.upload(&firsts)?,
            packet_of: kernels.upload(&packet_of)?,
            parts: ints(4 * pictures * packets)?,
            lengths: ints(pictures)?,
            secret: kernels.upload(&hash::secret())?,
            seeds: kernels.zeroed(Scalar::U64, pictures)?,
            hashes: kernels.zeroed(Scalar::U8, 8 * pictures * slots(capacity, packets))?,
            streams: kernels.zeroed(Scalar::U8, pictures * capacity)?,
            stride: groups.iter().flatten().next().map_or(1, |place| place.stride),
            warps: packets::warps_of(capacity),
            kernels,
            transform,
            format,
            pictures,
            blocks,
            packets,
            header,
            capacity,
            each,
        })
    }
}

impl Resident {
    /// Moves all further work to a stream of the caller.
    ///
    /// # Errors
    /// If the kernels are not on the stream's device.
    #[cfg(feature = "cuda")]
    pub fn on_stream(
        &mut self,
        stream: &std::sync::Arc<lifting::cuda::cudarc::driver::CudaStream>,
    ) -> Result<(), CodecError> {
        Ok(self.kernels.on_stream(stream)?)
    }

    /// Hashes the pieces of all packets, with the given kernel.
    pub fn hash(&mut self, kernel: usize) -> Result<(), CodecError> {
        let Resident { pictures, packets, capacity, warps, .. } = *self;
        let arrays = [&mut self.streams, &mut self.parts, &mut self.secret, &mut self.seeds, &mut self.hashes];
        let numbers = [2 * packets, warps, slots(capacity, packets), capacity, pictures * warps];
        Ok(launch(&self.kernels, kernel, arrays, numbers)?)
    }

    /// Transforms the planes of all pictures to coefficients.
    pub fn forward(&mut self) -> Result<(), CodecError> {
        let Resident { kernels, transform, planes, coefficients, each, .. } = self;
        for plane in 0..self.pictures * self.format.components {
            let source = (&*planes, plane * self.format.pixels());
            match transform {
                Planes::Integer(transform) => kernels.forward(transform, source, (coefficients, plane * *each))?,
                Planes::Real(transform) => kernels.forward(transform, source, (coefficients, plane * *each))?,
            }
        }
        Ok(())
    }

    /// Transforms coefficients to the planes of all pictures.
    pub fn inverse(&mut self) -> Result<(), CodecError> {
        let Resident { kernels, transform, planes, coefficients, each, .. } = self;
        for plane in 0..self.pictures * self.format.components {
            let (source, target) = ((&*coefficients, plane * *each), plane * self.format.pixels());
            match transform {
                Planes::Integer(transform) => kernels.inverse(transform, source, (planes, target))?,
                Planes::Real(transform) => kernels.inverse(transform, source, (planes, target))?,
            }
        }
        Ok(())
    }

    /// Uploads the samples of a picture to its place.
    pub fn put(&mut self, place: usize, values: &[i32]) -> Result<(), CodecError> {
        let at = place * self.format.samples();
        match samples::scalar(&self.format) {
            Scalar::U8 => self.kernels.write(&mut self.samples, at, &threads::map(values, |&v| v as u8))?,
            _ => self.kernels.write(&mut self.samples, at, &threads::map(values, |&v| v as i16))?,
        }
        Ok(())
    }

    /// Downloads a picture from its place. Samples out of the depth's range saturate.
    pub fn get(&self, place: usize) -> Result<Image, CodecError> {
        let Format { height, width, components, bits, signed } = self.format;
        let at = place * self.format.samples();
        let here = at..at + self.format.samples();
        let (least, largest) = range(bits, signed);
        let clamped = |sample: i32| sample.clamp(least, largest);
        let Resident { kernels, samples: array, .. } = self;
        let samples = match (samples::scalar(&self.format), signed) {
            (Scalar::U8, false) => threads::map(&kernels.download::<u8>(array, here)?, |&v| clamped(v.into())),
            (Scalar::U8, true) => threads::map(&kernels.download::<u8>(array, here)?, |&v| clamped((v as i8).into())),
            (_, false) => threads::map(&kernels.download::<i16>(array, here)?, |&v| clamped((v as u16).into())),
            (_, true) => threads::map(&kernels.download::<i16>(array, here)?, |&v| clamped(v.into())),
        };
        Ok(Image { height, width, components, bits, signed, samples })
    }
}

/// Launches a kernel, with arrays and then numbers as parameters.
pub fn launch<const N: usize, const M: usize>(
    kernels: &Kernels,
    kernel: usize,
    arrays: [&mut Array; N],
    numbers: [usize; M],
) -> Result<(), PlanError> {
    let numbers = numbers.map(|n| Arg::Int(n as i64));
    kernels.launch(kernel, &mut arrays.map(Arg::Array).into_iter().chain(numbers).collect::<Vec<_>>())
}

/// First block of each packet, ending with the number of blocks; and the packet of each block.
fn packets_of(groups: &[Vec<BlockPlace>]) -> (Vec<i32>, Vec<i32>) {
    let (mut firsts, mut packet_of) = (vec![0], Vec::new());
    for (number, group) in (0..).zip(groups) {
        packet_of.extend(std::iter::repeat_n(number, group.len()));
        firsts.push(packet_of.len() as i32);
    }
    (firsts, packet_of)
}

/// Position of each block in its band, with the band's quantiser, for the quantisation kernels. At each resolution,
/// packets go tile by tile.
pub fn places_in_bands(tiles: &[Vec<Band>], groups: &[Vec<BlockPlace>]) -> Vec<[i32; super::quantise::PLACE]> {
    let place = |bands: &[Band], place: &BlockPlace| {
        let band = &bands[place.band];
        let first = place.start - band.start;
        let quantiser = place.component * bands.len() + place.band;
        [first / band.stride, first % band.stride, band.shape[0], band.shape[1], quantiser].map(|n| n as i32)
    };
    let of = |(number, group): (usize, &Vec<BlockPlace>)| {
        let bands = &tiles[number % tiles.len()];
        group.iter().map(|p| place(bands, p)).collect::<Vec<_>>()
    };
    groups.iter().enumerate().flat_map(of).collect()
}
