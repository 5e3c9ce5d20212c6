//! Pictures: PNG, JPEG, TIFF, PGM and PPM in; PNG, TIFF, PGM and PPM out. Channels are the last axis.

use super::{Array, Colour, Data, Element, Origin};
use crate::failure::{Outcome, input, usage};
use image::{DynamicImage, ImageBuffer, ImageError, ImageFormat, ImageReader, Limits, Pixel};
use std::io::{self, BufRead, Cursor, Seek, Write};
use std::path::Path;

/// Most bytes that a decoder may allocate.
const MAX_DECODED: u64 = 4 << 30;

/// Most bytes that a decoder may allocate for each byte of the file, beside 4 MiB: no format packs that well, so that what a
/// short file claims is not believed.
const MAX_RATIO: u64 = 4096;

const FORMATS: [(ImageFormat, &str); 4] =
    [(ImageFormat::Png, "png"), (ImageFormat::Jpeg, "jpeg"), (ImageFormat::Tiff, "tiff"), (ImageFormat::Pnm, "pnm")];

/// Reads a picture, of the format that its first bytes say.
pub fn read<R: BufRead + Seek>(mut reader: R) -> Outcome<Array> {
    let unreadable = |e: io::Error| input(format!("cannot read: {e}"));
    let bytes = reader.seek(io::SeekFrom::End(0)).map_err(unreadable)?;
    reader.rewind().map_err(unreadable)?;
    let most = bytes.saturating_mul(MAX_RATIO).saturating_add(4 << 20).min(MAX_DECODED);
    let mut reader = ImageReader::new(reader).with_guessed_format().map_err(unreadable)?;
    let Some((_, format)) = FORMATS.into_iter().find(|(f, _)| Some(*f) == reader.format()) else {
        return Err(input("is no file that can be transformed").help(
            "pictures in PNG, JPEG, TIFF, PGM or PPM, and arrays in .npy or .npz; the content decides, not the name",
        ));
    };
    let mut limits = Limits::default();
    limits.max_alloc = Some(most);
    reader.limits(limits);
    let picture = reader.decode().map_err(|e| match e {
        ImageError::Limits(_) => {
            input(format!("the picture would take more than the {} MiB that a file of {bytes} bytes may", most >> 20))
        }
        e => input(format!("the picture cannot be decoded: {e}")),
    })?;
    let (w, h) = (picture.width() as usize, picture.height() as usize);
    if w == 0 || h == 0 {
        return Err(input(format!("the picture has no pixels: {w} × {h}")));
    }
    let (colour, data): (Colour, Data) = match picture {
        DynamicImage::ImageLuma8(p) => (Colour::Grey, p.into_raw().into()),
        DynamicImage::ImageLumaA8(p) => (Colour::GreyAlpha, p.into_raw().into()),
        DynamicImage::ImageRgb8(p) => (Colour::Rgb, p.into_raw().into()),
        DynamicImage::ImageRgba8(p) => (Colour::Rgba, p.into_raw().into()),
        DynamicImage::ImageLuma16(p) => (Colour::Grey, p.into_raw().into()),
        DynamicImage::ImageLumaA16(p) => (Colour::GreyAlpha, p.into_raw().into()),
        DynamicImage::ImageRgb16(p) => (Colour::Rgb, p.into_raw().into()),
        DynamicImage::ImageRgba16(p) => (Colour::Rgba, p.into_raw().into()),
        DynamicImage::ImageRgb32F(p) => (Colour::Rgb, p.into_raw().into()),
        DynamicImage::ImageRgba32F(p) => (Colour::Rgba, p.into_raw().into()),
        _ => return Err(input("the picture has samples of an unknown kind")),
    };
    let mut shape = vec![h, w];
    if colour != Colour::Grey {
        shape.push(colour.channels());
    }
    let origin = Origin::Image { format: format.to_owned(), colour, element: data.element() };
    Ok(Array { shape, data, origin })
}

/// The picture format that a file name asks for.
pub fn format_of(path: &Path) -> Outcome<ImageFormat> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "png" => Ok(ImageFormat::Png),
        "tif" | "tiff" => Ok(ImageFormat::Tiff),
        "pgm" | "ppm" | "pnm" => Ok(ImageFormat::Pnm),
        "jpg" | "jpeg" => Err(usage(format!("{}: JPEG would lose what the transform kept", path.display()))
            .help("write .png, .tiff, .pgm or .ppm")),
        _ => Err(usage(format!("{}: the name says no format that can be written", path.display()))
            .help("end it in .png, .tiff, .pgm, .ppm or .npy")),
    }
}

/// The file extension for a picture that was read as `format`, without loss.
pub fn extension_for(format: &str, colour: Colour) -> &'static str {
    match (format, colour) {
        ("tiff", _) => "tiff",
        ("pnm", Colour::Grey) => "pgm",
        ("pnm", Colour::Rgb) => "ppm",
        _ => "png",
    }
}

/// Channels of an array of that shape, if it can be a picture.
pub fn colour_of(shape: &[usize]) -> Option<Colour> {
    match shape {
        [_, _] => Some(Colour::Grey),
        [_, _, 2] => Some(Colour::GreyAlpha),
        [_, _, 3] => Some(Colour::Rgb),
        [_, _, 4] => Some(Colour::Rgba),
        _ => None,
    }
}

/// Encodes samples of 8 or 16 bits (or `f32` colours, as TIFF) as a picture.
pub fn encode(format: ImageFormat, shape: &[usize], colour: Colour, data: Data) -> Outcome<Vec<u8>> {
    fn picture<P: Pixel>(w: u32, h: u32, samples: Vec<P::Subpixel>) -> Option<DynamicImage>
    where
        DynamicImage: From<ImageBuffer<P, Vec<P::Subpixel>>>,
    {
        ImageBuffer::<P, _>::from_raw(w, h, samples).map(DynamicImage::from)
    }
    let element = data.element();
    let size = |n: usize| u32::try_from(n).map_err(|_| input(format!("{n} pixels a side are too many for a picture")));
    let (h, w) = (size(shape[0])?, size(shape[1])?);
    if format == ImageFormat::Pnm {
        return pnm(w, h, colour, &data);
    }
    let picture = match (data, colour) {
        (Data::U8(v), Colour::Grey) => picture::<image::Luma<u8>>(w, h, v),
        (Data::U8(v), Colour::GreyAlpha) => picture::<image::LumaA<u8>>(w, h, v),
        (Data::U8(v), Colour::Rgb) => picture::<image::Rgb<u8>>(w, h, v),
        (Data::U8(v), Colour::Rgba) => picture::<image::Rgba<u8>>(w, h, v),
        (Data::U16(v), Colour::Grey) => picture::<image::Luma<u16>>(w, h, v),
        (Data::U16(v), Colour::GreyAlpha) => picture::<image::LumaA<u16>>(w, h, v),
        (Data::U16(v), Colour::Rgb) => picture::<image::Rgb<u16>>(w, h, v),
        (Data::U16(v), Colour::Rgba) => picture::<image::Rgba<u16>>(w, h, v),
        (Data::F32(v), Colour::Rgb) => picture::<image::Rgb<f32>>(w, h, v),
        (Data::F32(v), Colour::Rgba) => picture::<image::Rgba<f32>>(w, h, v),
        _ => None,
    };
    let picture = picture.ok_or_else(|| {
        input(format!("{} samples cannot be written as a picture", element.name())).help("write an array: -o NAME.npy")
    })?;
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).map_err(|e| {
        input(format!("the picture cannot be encoded: {e}")).help("write .png, or an array: -o NAME.npy")
    })?;
    Ok(bytes.into_inner())
}

/// A binary PGM or PPM. `image` would write PAM, which few programs read.
fn pnm(w: u32, h: u32, colour: Colour, data: &Data) -> Outcome<Vec<u8>> {
    let kind = match colour {
        Colour::Grey => 5,
        Colour::Rgb => 6,
        Colour::GreyAlpha | Colour::Rgba => {
            return Err(input("PGM and PPM have no alpha channel").help("write .png or .tiff"));
        }
    };
    let (largest, samples) = match data {
        Data::U8(v) => (u16::from(u8::MAX), v.clone()),
        Data::U16(v) => (u16::MAX, v.iter().flat_map(|x| x.to_be_bytes()).collect()),
        other => {
            return Err(input(format!("{} samples cannot be written as PGM or PPM", other.element().name()))
                .help("write an array: -o NAME.npy"));
        }
    };
    Ok([format!("P{kind}\n{w} {h}\n{largest}\n").into_bytes(), samples].concat())
}

/// Writes bytes that are ready.
pub fn write(w: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    w.write_all(bytes)
}

/// Whether pictures hold elements of this type.
pub fn holds(element: Element) -> bool {
    matches!(element, Element::U8 | Element::U16)
}
