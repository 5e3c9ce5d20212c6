//! Native functions of JPEG 2000 and HTJ2K.

use crate::LiftingError;
use crate::array::Array;
use crate::codec::{Decoded, bytes_of, image_shape};
use lifting_jpeg2000::file::Boxes;
use lifting_jpeg2000::{Coder, Decoder, Encoder, Error, Image, Rect, Target};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

fn error(error: Error) -> PyErr {
    match error {
        Error::Memory { .. } => PyMemoryError::new_err(error.to_string()),
        Error::Reduction { reduce, levels } => {
            LiftingError::new_err(format!("invalid level {reduce}: this picture has levels 0 (full size) to {levels}"))
        }
        _ => LiftingError::new_err(error.to_string()),
    }
}

/// The stream of an image: an int32 array of shape (height, width, components), in a file if `is_file`. `target` is
/// `lossless`, `psnr`, `bpp` or `quality`, and `value` its value; `tile` is (rows, columns).
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the Python wrapper passes them all")]
pub fn encode_jpeg2000<'py>(
    py: Python<'py>,
    samples: &Bound<'py, PyAny>,
    bits: u32,
    signed: bool,
    is_ht: bool,
    is_file: bool,
    levels: Option<u32>,
    target: &str,
    value: f64,
    colour: bool,
    layers: u32,
    tile: Option<(u32, u32)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut array = Array::<i32>::write(samples, "the image")?;
    let shape = image_shape(&array)?;
    let target = match target {
        "lossless" => Target::Lossless,
        "psnr" => Target::Psnr(value),
        "bpp" => Target::BitsPerPixel(value),
        _ => Target::of_quality(value, bits)
            .ok_or_else(|| LiftingError::new_err(format!("invalid quality {value}: choose 1 to 100")))?,
    };
    // SAFETY: the Python wrapper made the array and shares it with nobody.
    let shared = unsafe { array.slice("the image") }?;
    let image = Image::interleaved(shape, bits, signed, shared).map_err(error)?;
    let coder = if is_ht { Coder::Ht } else { Coder::Ebcot };
    let encoder = Encoder::default().coder(coder).target(target).colour(colour).layers(layers);
    let encoder = match levels {
        Some(levels) => encoder.levels(levels),
        None => encoder,
    };
    let encoder = match tile {
        Some((height, width)) => encoder.tile(height, width),
        None => encoder,
    };
    let stream = py.detach(|| match is_file {
        true => encoder.encode_file(&image, &Boxes::default()),
        false => encoder.encode(&image),
    });
    Ok(PyBytes::new(py, &stream.map_err(error)?))
}

/// Samples as the bytes of an int32 array of shape (height, width, components), then the shape, bits, sign, whether the
/// stream was whole, and false. Components of fewer samples are enlarged.
#[pyfunction]
pub fn decode_jpeg2000<'py>(
    py: Python<'py>,
    stream: &[u8],
    level: u32,
    layers: Option<u32>,
    region: Option<(u32, u32, u32, u32)>,
    most: u64,
) -> PyResult<Decoded<'py>> {
    let decoded = || {
        let mut decoder = Decoder::new(stream)?.reduce(level).most_samples(most.into());
        if let Some(layers) = layers {
            decoder = decoder.layers(layers);
        }
        if let Some((y, x, height, width)) = region {
            let area = decoder.codestream().size.area;
            let (x0, y0) = (area.x0.saturating_add(x), area.y0.saturating_add(y));
            decoder = decoder.region(Rect { x0, y0, x1: x0.saturating_add(width), y1: y0.saturating_add(height) });
        }
        let picture = decoder.decode()?;
        let first = (picture.image.components[0].dx, picture.image.components[0].dy);
        let image = match picture.image.components.iter().all(|c| (c.dx, c.dy) == first) {
            true => picture.image,
            false => picture.image.enlarged()?,
        };
        let first = &image.components[0];
        let shape = (first.height, first.width, image.components.len());
        let bits = image.components.iter().map(|c| c.bits).max().unwrap_or(8);
        let signed = image.components.iter().any(|c| c.signed);
        let complete = picture.complete && picture.broken_blocks == 0;
        Ok((image.into_interleaved()?, shape, bits, signed, complete))
    };
    let (samples, shape, bits, signed, complete) = py.detach(decoded).map_err(error)?;
    Ok((bytes_of(py, &samples)?, shape, bits, signed, complete, false))
}

/// The stream with the other block coder; in a file if `is_file`.
#[pyfunction]
pub fn transcode_jpeg2000<'py>(
    py: Python<'py>,
    stream: &[u8],
    is_ht: bool,
    is_file: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let coder = if is_ht { Coder::Ht } else { Coder::Ebcot };
    let transcoded = || lifting_jpeg2000::transcode_to(stream, coder, is_file);
    Ok(PyBytes::new(py, &py.detach(transcoded).map_err(error)?))
}
