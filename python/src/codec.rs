//! Native functions of the image codec.

use crate::LiftingError;
use crate::array::Array;
use crate::scheme::Scheme;
use lifting_codec::block::Passes;
use lifting_codec::field::{FieldCodec, FieldDecoder, Samples, Tolerance, is_field};
use lifting_codec::{Codec, CodecError, Decoder, Image, Metadata, Region, Target};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;

fn codec_error(error: CodecError) -> PyErr {
    match error {
        CodecError::Memory { .. } => PyMemoryError::new_err(error.to_string()),
        _ => LiftingError::new_err(error.to_string()),
    }
}

/// Rows, columns and components of an image.
pub fn image_shape(array: &Array<i32>) -> PyResult<[usize; 3]> {
    let error = || LiftingError::new_err("an image must have three axes: rows, columns and components");
    array.shape().try_into().map_err(|_| error())
}

/// Samples as bytes of int32.
pub fn bytes_of<'py>(py: Python<'py>, samples: &[i32]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, samples.len() * 4, |bytes| {
        for (to, sample) in bytes.chunks_exact_mut(4).zip(samples) {
            to.copy_from_slice(&sample.to_ne_bytes());
        }
        Ok(())
    })
}

/// The stream of an image: an int32 array of shape (height, width, components). `target` is `lossless`, `psnr`, `bpp`
/// or `quality`, and `value` its value; `tile` is (rows, columns). `metadata` has blocks by name: `icc`, `exif`, `xmp`
/// and `tiff`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the Python wrapper passes them all")]
pub fn encode<'py>(
    py: Python<'py>,
    scheme: &Scheme,
    samples: &Bound<'py, PyAny>,
    bits: u32,
    signed: bool,
    levels: u32,
    target: &str,
    value: f64,
    passes: u32,
    fast: u32,
    colour: bool,
    layers: u32,
    tile: Option<(usize, usize)>,
    component_axis: bool,
    metadata: BTreeMap<String, Vec<u8>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut blocks = Metadata::default();
    for (name, block) in metadata {
        match blocks_of(&mut blocks).into_iter().find(|(known, _)| *known == name) {
            Some((_, to)) => *to = Some(block),
            None => {
                let text = format!("unknown metadata `{name}`: use icc, exif, xmp or tiff");
                return Err(LiftingError::new_err(text));
            }
        }
    }
    let mut array = Array::<i32>::write(samples, "the image")?;
    let [height, width, components] = image_shape(&array)?;
    let target = match target {
        "lossless" => Target::Lossless,
        "psnr" => Target::Psnr(value),
        "bpp" => Target::BitsPerPixel(value),
        _ => Target::Quality(value),
    };
    let passes = match passes {
        2 => Passes::Two,
        3 => Passes::Three,
        _ => return Err(LiftingError::new_err(format!("invalid number of passes {passes}: choose 2 or 3"))),
    };
    // SAFETY: the Python wrapper made the array and shares it with nobody.
    let shared = unsafe { array.slice("the image") }?;
    let mut samples = Vec::new();
    let bytes = size_of_val(shared);
    let short = |_| codec_error(CodecError::Memory { what: "samples", bytes: bytes as u128 });
    samples.try_reserve_exact(shared.len()).map_err(short)?;
    samples.extend_from_slice(shared);
    let image = Image { height, width, components, bits, signed, samples };
    let builder = Codec::builder(&scheme.inner).levels(levels).target(target).passes(passes).fast(fast);
    let builder = builder.colour(colour).layers(layers);
    let builder = tile.into_iter().fold(builder, |builder, (height, width)| builder.tile(height, width));
    let encoded = || builder.build()?.component_axis(component_axis).metadata(&blocks)?.encode(&image);
    let stream = py.detach(encoded).map_err(codec_error)?;
    Ok(PyBytes::new(py, &stream))
}

/// Blocks of metadata with their names.
fn blocks_of(metadata: &mut Metadata) -> [(&'static str, &mut Option<Vec<u8>>); 4] {
    let Metadata { icc, exif, xmp, tiff } = metadata;
    [("icc", icc), ("exif", exif), ("xmp", xmp), ("tiff", tiff)]
}

/// The metadata of an image's stream.
#[pyfunction]
pub fn metadata<'py>(py: Python<'py>, stream: &[u8]) -> PyResult<BTreeMap<&'static str, Bound<'py, PyBytes>>> {
    let mut metadata = Decoder::new(stream).and_then(|decoder| decoder.metadata()).map_err(codec_error)?;
    let present = blocks_of(&mut metadata).into_iter().filter_map(|(name, block)| Some((name, block.take()?)));
    Ok(present.map(|(name, block)| (name, PyBytes::new(py, &block))).collect())
}

/// Decoded image: samples as bytes of int32, shape, bits, whether samples are signed, whether the stream was complete,
/// and whether the array has an axis for a single component.
pub type Decoded<'py> = (Bound<'py, PyBytes>, (usize, usize, usize), u32, bool, bool, bool);

/// The image of a stream at a level (0 is full size), optionally from its first layers only, or of a region: first row,
/// first column, rows and columns.
#[pyfunction]
pub fn decode<'py>(
    py: Python<'py>,
    stream: &[u8],
    level: u32,
    layers: Option<u32>,
    region: Option<(usize, usize, usize, usize)>,
    most: u64,
) -> PyResult<Decoded<'py>> {
    let decoded = || {
        let mut decoder = Decoder::new(stream)?.at_most(most.into());
        if let Some(layers) = layers {
            decoder = decoder.layers(layers)?;
        }
        if let Some((y, x, height, width)) = region {
            decoder = decoder.region(Region { y, x, height, width })?;
        }
        Ok((decoder.decode(level)?, decoder.header().component_axis))
    };
    let (picture, component_axis) = py.detach(decoded).map_err(codec_error)?;
    let Image { height, width, components, bits, signed, samples } = picture.image;
    let bytes = bytes_of(py, &samples)?;
    Ok((bytes, (height, width, components), bits, signed, picture.complete, component_axis))
}

/// The stream of a field: `samples` are the bytes of an array that nobody else uses, of the type with NumPy's name
/// `kind` and this shape. `relative` bounds are shares of the range; without a bound, the field is restored exactly.
#[pyfunction]
pub fn encode_field<'py>(
    py: Python<'py>,
    samples: &Bound<'py, PyAny>,
    kind: &str,
    shape: Vec<usize>,
    bound: Option<f64>,
    relative: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let buffer = PyBuffer::<u8>::get(samples)?;
    let (address, bytes) = (buffer.buf_ptr(), buffer.len_bytes());
    let tolerance = match bound {
        None => Tolerance::Lossless,
        Some(share) if relative => Tolerance::Relative(share),
        Some(error) => Tolerance::Absolute(error),
    };
    macro_rules! of_kind {
        ($($t:ty, $name:literal;)*) => {
            match kind {
                $($name => {
                    if !buffer.is_c_contiguous() || !(address as usize).is_multiple_of(align_of::<$t>()) {
                        return Err(LiftingError::new_err("the samples of a field are not contiguous and aligned"));
                    }
                    // SAFETY: the buffer has these bytes, they are aligned, and the wrapper shares them with nobody.
                    let samples: &[$t] = unsafe { std::slice::from_raw_parts(address.cast(), bytes / size_of::<$t>()) };
                    py.detach(|| FieldCodec::new(tolerance).encode(samples, &shape))
                })*
                _ => {
                    let text = "a field has float32, float64, or integers of 8 to 64 bits: convert the array";
                    return Err(LiftingError::new_err(format!("unsupported samples {kind}; {text}")));
                }
            }
        };
    }
    let stream = of_kind! {
        f32, "float32"; f64, "float64"; u8, "uint8"; i8, "int8"; u16, "uint16"; i16, "int16"; u32, "uint32";
        i32, "int32"; u64, "uint64"; i64, "int64";
    };
    Ok(PyBytes::new(py, &stream.map_err(codec_error)?))
}

/// Decoded field: bytes, NumPy's name of the type, and shape.
pub type DecodedField<'py> = (Bound<'py, PyBytes>, &'static str, Vec<usize>);

/// Field of a stream, or a region of it (first sample and length along each axis). `None` if the stream
/// has no field.
#[pyfunction]
pub fn decode_field<'py>(
    py: Python<'py>,
    stream: &[u8],
    region: Option<(Vec<usize>, Vec<usize>)>,
    most: u64,
) -> PyResult<Option<DecodedField<'py>>> {
    if !is_field(stream) {
        return Ok(None);
    }
    let decoder = FieldDecoder::new(stream).map_err(codec_error)?.at_most(most.into());
    let part = region.as_ref().map(|(start, size)| (&start[..], &size[..]));
    let samples = py.detach(|| decoder.any(part)).map_err(codec_error)?;
    let header = decoder.header();
    macro_rules! bytes {
        ($($variant:ident)*) => {
            match &samples {
                $(Samples::$variant(samples) => {
                    PyBytes::new_with(py, size_of_val(&samples[..]), |bytes| {
                        let each = bytes.chunks_exact_mut(size_of_val(&samples[0]));
                        each.zip(samples).for_each(|(to, sample)| to.copy_from_slice(&sample.to_ne_bytes()));
                        Ok(())
                    })
                })*
            }
        };
    }
    let bytes = bytes!(F32 F64 U8 I8 U16 I16 U32 I32 U64 I64)?;
    let shape = part.map_or(header.shape(), |(_, size)| size).to_vec();
    Ok(Some((bytes, header.kind().name(), shape)))
}
