//! Fields: arrays of floats and integers within an error bound, or exactly.

use crate::cli::{EncodeArgs, MaxError};
use crate::failure::{Outcome, incomplete, input, usage};
use crate::media::{Array, Data, Element, shape_text};
use lifting_codec::CodecError;
use lifting_codec::field::{FieldCodec, FieldDecoder, Samples, Tolerance};
use std::fmt::Write;

/// Tolerance of an array's stream; `None` if it is coded as a picture.
pub fn tolerance(args: &EncodeArgs, array: &Array) -> Option<Tolerance> {
    if let Some(error) = args.max_error {
        return Some(match error {
            MaxError::Absolute(error) => Tolerance::Absolute(error),
            MaxError::Percent(percent) => Tolerance::Relative(percent / 100.0),
        });
    }
    let lossy = args.psnr.is_some() || args.bpp.is_some() || args.quality.is_some();
    let narrow = matches!(array.data.element(), Element::U8 | Element::I8 | Element::U16 | Element::I16);
    (!lossy && (!narrow || array.shape.len() == 1)).then_some(Tolerance::Lossless)
}

/// Stream of an array, and a text about its error.
pub fn encode(array: Array, tolerance: Tolerance) -> Outcome<(Vec<u8>, String)> {
    let Array { shape, data, .. } = array;
    let codec = FieldCodec::new(tolerance);
    macro_rules! encode {
        ($($variant:ident)*) => {
            match &data {
                $(Data::$variant(samples) => codec.encode(&samples[..], &shape),)*
                Data::F16(_) => {
                    return Err(input("has float16 samples, which streams cannot have").help("a.astype('f4')"));
                }
            }
        };
    }
    let stream = encode!(U8 U16 U32 I8 I16 I32 I64 F32 F64).map_err(|e| match &e {
        CodecError::FieldShape { .. } => input(&e).help("join axes: a.reshape(-1, *a.shape[-2:])"),
        CodecError::MaxError { .. } => usage(&e),
        _ => input(&e),
    })?;
    let error = FieldDecoder::new(&stream).map_err(input)?.header().max_error();
    let error = error.map_or_else(|| "lossless".into(), |error| format!("errors of at most {error:e}"));
    Ok((stream, error))
}

/// Array of a stream, or a region of it: the first sample along each axis, then the lengths.
pub fn decode(stream: &[u8], region: Option<&[usize]>, most: u128) -> Outcome<(Vec<usize>, Data)> {
    let decoder = FieldDecoder::new(stream).map_err(input)?.at_most(most);
    let shape = decoder.header().shape();
    let region = region.map(|numbers| numbers.split_at(numbers.len() / 2));
    let samples = decoder.any(region).map_err(|e| match &e {
        CodecError::FieldRegion { .. } => usage(&e),
        CodecError::Cut { .. } => incomplete(&e),
        _ => input(&e),
    })?;
    let data = match samples {
        Samples::F32(v) => v.into(),
        Samples::F64(v) => v.into(),
        Samples::U8(v) => v.into(),
        Samples::I8(v) => v.into(),
        Samples::U16(v) => v.into(),
        Samples::I16(v) => v.into(),
        Samples::U32(v) => v.into(),
        Samples::I32(v) => v.into(),
        Samples::I64(v) => v.into(),
        Samples::U64(_) => {
            return Err(input("has uint64 samples, which only Python can decode").help("lifting.decode(stream)"));
        }
    };
    Ok((region.map_or(shape, |(_, size)| size).to_vec(), data))
}

/// Header and chunks of a stream, in lines.
pub fn describe(stream: &[u8]) -> Outcome<String> {
    let decoder = FieldDecoder::new(stream).map_err(input)?;
    let header = decoder.header();
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<13}{value}");
    };
    line("field", format!("{}, {}", shape_text(header.shape()), header.kind().name()));
    line("error", header.max_error().map_or("none: lossless".into(), |error| format!("at most {error:e}")));
    let raw = header.samples() * header.kind().bytes() as u128;
    let bytes = stream.len();
    let bits = 8.0 * bytes as f64 / header.samples() as f64;
    line("size", format!("{bytes} bytes, {bits:.3} bits a sample, ratio {:.2}", raw as f64 / bytes as f64));
    let chunks: Vec<usize> = decoder.chunks().map(|range| range.len()).collect();
    let (least, most) = (chunks.iter().min().copied().unwrap_or(0), chunks.iter().max().copied().unwrap_or(0));
    line("chunks", format!("{} of {}, {least} to {most} bytes", chunks.len(), shape_text(header.chunk())));
    let end = decoder.chunks().map(|range| range.end).max().unwrap_or(0);
    if end > bytes {
        line("cut", format!("{} of {end} bytes are missing", end - bytes));
    }
    Ok(text)
}
