//! Frames in flight: upload, kernels and download of consecutive pictures overlap.

use crate::codec::Codec;
use crate::device::DeviceEncoder;
use crate::error::CodecError;
use crate::format::Format;
use crate::image::Image;
use lifting::Device;
use lifting::kernels::Pinned;
use std::collections::VecDeque;

/// Frames of each device: one is uploaded, one encoded, one downloaded.
const IN_FLIGHT: usize = 3;

/// Encoder of a sequence of pictures on one or several devices; made by [`Codec::frames`]. Frames go to the devices in
/// turn, and their streams come back in order. They restore the samples that those
/// of [`Codec::encode`] restore, which may be deflated or have ranks.
///
/// ```
/// use lifting::Device;
/// use lifting_codec::{Codec, Format};
/// // The interpreter of kernels twice; with GPUs, `Device::cuda(0)?` and `Device::cuda(1)?`.
/// let devices = [Device::Interpreter, Device::Interpreter];
/// let codec = Codec::builder(&lifting::catalogue::find("legall53")?).levels(1).build()?;
/// let format = Format { height: 16, width: 24, components: 1, bits: 8, signed: false };
///
/// let mut frames = codec.frames(format, &devices)?;
/// let mut streams = Vec::new();
/// for number in 0..5 {
///     frames.next_frame()?.fill(number);
///     streams.extend(frames.send()?);
/// }
/// while let Some(stream) = frames.receive()? {
///     streams.push(stream);
/// }
/// assert_eq!(streams.len(), 5);
/// assert!(lifting_codec::decode(&streams[3])?.samples.iter().all(|&sample| sample == 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FrameEncoder {
    codec: Codec,
    format: Format,
    slots: Vec<Slot>,
    devices: usize,
    /// Slot of the next frame.
    next: usize,
    /// Slots of frames in flight, oldest first, with the length of each stream whose download has begun.
    in_flight: VecDeque<(usize, Option<usize>)>,
}

/// An encoder with pinned memory of the host.
#[derive(Debug)]
struct Slot {
    encoder: DeviceEncoder,
    samples: Pinned,
    numbers: Pinned,
    stream: Pinned,
}

impl Codec {
    /// Encoder for a sequence of pictures of one format, in pinned memory of the host, on these devices: see
    /// [`FrameEncoder`].
    ///
    /// # Errors
    /// As for [`Codec::on_device`], and if there are no devices.
    pub fn frames(&self, format: Format, devices: &[Device]) -> Result<FrameEncoder, CodecError> {
        if devices.is_empty() {
            return Err(CodecError::NotOnDevice { what: "frames without a device" });
        }
        let mut slots = Vec::new();
        for _ in 0..IN_FLIGHT {
            for device in devices {
                slots.push(Slot::new(self.for_device(device)?.on_device(format, 1)?)?);
            }
        }
        let (codec, devices) = (self.on_processor(), devices.len());
        Ok(FrameEncoder { codec, format, slots, devices, next: 0, in_flight: VecDeque::new() })
    }
}

impl Slot {
    fn new(mut encoder: DeviceEncoder) -> Result<Slot, CodecError> {
        encoder.on_new_stream()?;
        let format = encoder.format();
        let samples = encoder.pinned(format.samples() * if format.bits > 8 { 2 } else { 1 })?;
        // Grows with the streams.
        Ok(Slot { numbers: encoder.pinned(8)?, stream: encoder.pinned(format.samples() / 2)?, samples, encoder })
    }

    /// Waits for the encoder, and begins the download of its stream; 0 leaves the picture to the processor.
    fn begin_download(&mut self) -> Result<usize, CodecError> {
        self.encoder.wait()?;
        let numbers = self.numbers.bytes()?;
        let number = |at: usize| i32::from_le_bytes([numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]]);
        let (length, left) = (number(0), number(4));
        let length = if left == 0 { usize::try_from(length).unwrap_or(0) } else { 0 };
        if length > self.stream.len() {
            self.stream = self.encoder.pinned(length + length / 4)?;
        }
        self.encoder.fetch_stream(&mut self.stream, length)?;
        Ok(length)
    }
}

impl FrameEncoder {
    /// Samples of the next frame, to be filled: laid out as in [`DeviceEncoder::samples`], 16-bit samples in
    /// little-endian order.
    ///
    /// # Errors
    /// If a device has failed.
    pub fn next_frame(&mut self) -> Result<&mut [u8], CodecError> {
        Ok(self.slots[self.next].samples.bytes_mut()?)
    }

    /// Sends the next frame, and returns the stream of an earlier one, once enough are in flight. With one device,
    /// it is that of the frame two before.
    ///
    /// # Errors
    /// If a device has failed.
    pub fn send(&mut self) -> Result<Option<Vec<u8>>, CodecError> {
        let slot = &mut self.slots[self.next];
        slot.encoder.upload_pinned(&slot.samples)?;
        slot.encoder.encode()?;
        slot.encoder.fetch_numbers(&mut slot.numbers)?;
        self.in_flight.push_back((self.next, None));
        self.next = (self.next + 1) % self.slots.len();
        // The newest frame of each device is being encoded; the one before it is downloaded meanwhile.
        let encoded = self.in_flight.len().saturating_sub(self.devices);
        self.download(encoded)?;
        if self.in_flight.len() >= self.slots.len() { self.receive() } else { Ok(None) }
    }

    /// Begins the download of the oldest `count` frames.
    fn download(&mut self, count: usize) -> Result<(), CodecError> {
        for (slot, length) in self.in_flight.iter_mut().take(count) {
            if length.is_none() {
                *length = Some(self.slots[*slot].begin_download()?);
            }
        }
        Ok(())
    }

    /// Waits for the oldest frame in flight, and returns its stream; `None` if there is none.
    ///
    /// # Errors
    /// If a device has failed.
    pub fn receive(&mut self) -> Result<Option<Vec<u8>>, CodecError> {
        self.download(1)?;
        let Some((slot, Some(length))) = self.in_flight.pop_front() else { return Ok(None) };
        let slot = &self.slots[slot];
        if length == 0 {
            return self.codec.encode(&self.image(slot.samples.bytes()?)).map(Some);
        }
        Ok(Some(slot.stream.bytes()?[..length].to_vec()))
    }

    /// The picture of these samples. Samples out of the depth's range are those that the device would code.
    fn image(&self, bytes: &[u8]) -> Image {
        let Format { height, width, components, bits, signed } = self.format;
        let pairs = || bytes.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
        let samples = match (bits > 8, signed) {
            (false, false) => bytes.iter().map(|&byte| byte.into()).collect(),
            (false, true) => bytes.iter().map(|&byte| (byte as i8).into()).collect(),
            (true, false) => pairs().map(|pair| u16::from_le_bytes(pair).into()).collect(),
            (true, true) => pairs().map(|pair| i16::from_le_bytes(pair).into()).collect(),
        };
        Image { height, width, components, bits, signed, samples }
    }
}
