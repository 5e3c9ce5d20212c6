//! Arrays from files: samples of any element type, a shape, and their origin.

pub mod image;
pub mod jpeg;
pub mod metadata;
pub mod npy;
pub mod npz;
pub mod pnm;
pub mod rows;
mod samples;
pub mod tiff;

use crate::failure::{Failure, Outcome, input, usage};
use crate::output::{input_name, is_standard, why};
use metadata::Metadata;
pub use samples::Samples;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::Path;

/// Most axes of an array file: the most that plans support.
pub const MAX_AXES: usize = lifting::MAX_RANK;

/// Limit on the unpacked size of a compressed file in bytes, whatever its header claims.
pub const MAX_UNPACKED: u64 = 16 << 30;

/// Note about a picture whose colours are multiplied by alpha.
pub(crate) const PREMULTIPLIED: &str = "its colours are premultiplied by alpha";

/// Empty vector with room for `count` values.
///
/// # Errors
/// If memory is short.
pub(crate) fn room<T>(count: usize) -> Outcome<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| {
        let bytes = count as u128 * size_of::<T>() as u128;
        input(format!("out of memory: {count} values need {bytes} bytes"))
            .help("free memory, or divide the data and process its parts one by one")
    })?;
    Ok(values)
}

/// Vector of `count` zeros.
///
/// # Errors
/// If memory is short.
pub(crate) fn zeros<T: Clone + Default>(count: usize) -> Outcome<Vec<T>> {
    // Asked for twice: pages of zeros need no writing, and only the first request may fail.
    drop(room::<T>(count)?);
    Ok(vec![T::default(); count])
}

/// Calls a macro with all element types: variant, Rust type, numpy's type code.
macro_rules! with_elements {
    ($m:ident) => {
        $m! {
            U8 u8, "u1"; U16 u16, "u2"; U32 u32, "u4";
            I8 i8, "i1"; I16 i16, "i2"; I32 i32, "i4"; I64 i64, "i8";
            F16 half::f16, "f2"; F32 f32, "f4"; F64 f64, "f8";
        }
    };
}
pub(crate) use with_elements;

macro_rules! define {
    ($($variant:ident $t:ty, $code:literal;)*) => {
        /// Element types of arrays in files.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        #[allow(missing_docs)]
        pub enum Element {
            $($variant,)*
        }

        /// Samples of one element type.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)]
        pub enum Data {
            $($variant(Samples<$t>),)*
        }

        impl Element {
            /// numpy's type code without byte order: `u1`, `i2`, `f4`, …
            pub fn code(self) -> &'static str {
                match self {
                    $(Element::$variant => $code,)*
                }
            }

            /// Element type of a code.
            pub fn from_code(code: &str) -> Option<Element> {
                match code {
                    $($code => Some(Element::$variant),)*
                    _ => None,
                }
            }

            /// Size of one element in bytes.
            pub fn bytes(self) -> usize {
                match self {
                    $(Element::$variant => size_of::<$t>(),)*
                }
            }
        }

        impl Data {
            /// The type of the elements.
            pub fn element(&self) -> Element {
                match self {
                    $(Data::$variant(_) => Element::$variant,)*
                }
            }

            /// Number of elements.
            pub fn len(&self) -> usize {
                match self {
                    $(Data::$variant(v) => v.len(),)*
                }
            }

            /// Whether there are no elements.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Bytes of the elements, in this machine's byte order.
            pub fn native_bytes(&self) -> &[u8] {
                match self {
                    $(Data::$variant(v) => bytemuck::cast_slice(v),)*
                }
            }

            /// Appends elements; `false` if they are of another type.
            pub fn append(&mut self, more: Data) -> bool {
                match (self, more) {
                    $((Data::$variant(v), Data::$variant(more)) => {
                        v.owned().extend_from_slice(&more);
                        true
                    })*
                    _ => false,
                }
            }

            /// Interleaves consecutive planes into pixels with adjacent channels.
            pub fn interleaved(self, planes: usize) -> Data {
                match self {
                    $(Data::$variant(v) => {
                        let plane = v.len() / planes;
                        let pixels = (0..plane).flat_map(|i| v[i..].iter().step_by(plane).take(planes).copied());
                        pixels.collect::<Vec<$t>>().into()
                    })*
                }
            }
        }

        $(impl From<Vec<$t>> for Data {
            fn from(v: Vec<$t>) -> Data {
                Data::$variant(v.into())
            }
        })*
    };
}
with_elements!(define);

impl Data {
    /// Colours divided by alpha, the last channel; unchanged without alpha. Where alpha is 0, so are colours.
    #[must_use]
    pub fn divided(self, colour: Colour) -> Data {
        fn whole<T: Copy + Into<u64> + TryFrom<u64>>(samples: &mut [T], channels: usize, white: u64) {
            for pixel in samples.chunks_exact_mut(channels) {
                let (colours, alpha) = pixel.split_at_mut(channels - 1);
                let alpha: u64 = alpha[0].into();
                for sample in colours {
                    let value: u64 = (*sample).into();
                    let divided = (value * white + alpha / 2).checked_div(alpha).unwrap_or(0).min(white);
                    *sample = T::try_from(divided).unwrap_or(*sample);
                }
            }
        }
        fn real<T: Copy + Into<f64>>(samples: &mut [T], channels: usize, narrow: impl Fn(f64) -> T) {
            for pixel in samples.chunks_exact_mut(channels) {
                let (colours, alpha) = pixel.split_at_mut(channels - 1);
                let alpha: f64 = alpha[0].into();
                for sample in colours {
                    *sample = narrow(if alpha == 0.0 { 0.0 } else { (*sample).into() / alpha });
                }
            }
        }
        let channels = colour.channels();
        let mut data = self;
        match (&mut data, colour) {
            (_, Colour::Grey | Colour::Rgb) => {}
            (Data::U8(v), _) => whole(v.owned(), channels, u8::MAX.into()),
            (Data::U16(v), _) => whole(v.owned(), channels, u16::MAX.into()),
            (Data::U32(v), _) => whole(v.owned(), channels, u32::MAX.into()),
            (Data::F16(v), _) => real(v.owned(), channels, half::f16::from_f64),
            (Data::F32(v), _) => real(v.owned(), channels, |x| x as f32),
            (Data::F64(v), _) => real(v.owned(), channels, |x| x),
            // Signed alpha has no white to divide by.
            (Data::I8(_) | Data::I16(_) | Data::I32(_) | Data::I64(_), _) => {}
        }
        data
    }
}

impl Element {
    /// Name in numpy: `uint8`, `int16`, `float32`, …
    pub fn name(self) -> String {
        let code = self.code();
        let (kind, bytes) = code.split_at(1);
        let word = match kind {
            "u" => "uint",
            "i" => "int",
            _ => "float",
        };
        format!("{word}{}", 8 * bytes.parse::<u32>().unwrap_or(0))
    }

    /// Whether the type is floating point.
    pub fn is_real(self) -> bool {
        self.code().starts_with('f')
    }
}

/// Array from a file, in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Axis lengths, outermost first.
    pub shape: Vec<usize>,
    /// Samples.
    pub data: Data,
    /// Kind of its file.
    pub origin: Origin,
    /// Remarks on how the samples were read, each as a clause.
    pub notes: Vec<String>,
    /// Names of the file's metadata, which the samples do not carry.
    pub ignored: Vec<&'static str>,
    /// The metadata that some formats keep.
    pub metadata: Metadata,
    /// Parts of the file that are missing or changed, each as a clause. A lossless copy of it is impossible.
    pub lost: Vec<(Loss, String)>,
}

/// Kinds of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Loss {
    /// Kind of alpha: premultiplied colours are divided by it
    Alpha,
    /// Channels beyond the colours
    Channels,
    /// Inks of CMYK, which become red, green and blue
    Cmyk,
    /// Damaged parts
    Damage,
    /// Metadata
    Metadata,
    /// Pages and frames after the first
    Pages,
}

impl Array {
    /// Array without remarks and metadata.
    pub fn new(shape: Vec<usize>, data: Data, origin: Origin) -> Array {
        let (notes, ignored, lost) = Default::default();
        Array { shape, data, origin, notes, ignored, metadata: Metadata::default(), lost }
    }

    /// Losses, notes and ignored metadata as one text; empty if there are none.
    pub fn remarks(&self) -> String {
        let ignored = metadata::ignored(&self.ignored);
        let lost = self.lost.iter().map(|(_, text)| text);
        lost.chain(&self.notes).chain(&ignored).map(String::as_str).collect::<Vec<_>>().join("; ")
    }
}

/// Remarks on a file, collected while it is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remarks {
    notes: Vec<String>,
    lost: Vec<(Loss, String)>,
    ignored: Vec<&'static str>,
    metadata: Metadata,
}

impl Remarks {
    /// The array with these remarks and this metadata.
    pub fn about(self, array: Array) -> Array {
        let Remarks { notes, lost, ignored, metadata } = self;
        Array { notes, lost, ignored, metadata, ..array }
    }

    /// Adds a note, once.
    pub fn note(&mut self, text: impl Into<String>) {
        add(&mut self.notes, text.into());
    }

    /// Adds a loss, once.
    pub fn lost(&mut self, loss: Loss, text: impl Into<String>) {
        add(&mut self.lost, (loss, text.into()));
    }

    /// Adds metadata that samples do not carry, once.
    pub fn ignored(&mut self, what: &'static str) {
        add(&mut self.ignored, what);
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// Request for an array of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ask<'a> {
    /// Name of the array in a `.npz`.
    pub member: Option<&'a str>,
    /// Whether a damaged JPEG is read as far as it goes.
    pub salvage: bool,
}

impl<'a> From<Option<&'a str>> for Ask<'a> {
    fn from(member: Option<&'a str>) -> Ask<'a> {
        Ask { member, salvage: false }
    }
}

/// Kind of file that an array comes from: enough to write it back unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Origin {
    /// A picture, or a stack of pictures.
    Image {
        /// `png`, `jpeg`, `tiff`, `pnm` (PGM and PPM), `pbm`, `pam`.
        format: String,
        /// Channels.
        colour: Colour,
        /// Type of the channels' samples.
        element: Element,
        /// White level, if the file specifies it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        maxval: Option<u16>,
        /// Whether axis 0 counts pages.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stack: bool,
        /// Whether colours are already multiplied by alpha.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        premultiplied: bool,
    },
    /// A numpy array.
    Array {
        /// Element type.
        element: Element,
        /// Name of the array in a `.npz`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        member: Option<String>,
    },
}

/// Channels of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Colour {
    /// One channel, and no axis for it.
    Grey,
    /// Grey and alpha.
    GreyAlpha,
    /// Red, green, blue.
    Rgb,
    /// Red, green, blue, alpha.
    Rgba,
}

impl Colour {
    /// Number of channels.
    pub fn channels(self) -> usize {
        match self {
            Colour::Grey => 1,
            Colour::GreyAlpha => 2,
            Colour::Rgb => 3,
            Colour::Rgba => 4,
        }
    }
}

impl Origin {
    /// Element type in the file.
    pub fn element(&self) -> Element {
        match self {
            Origin::Image { element, .. } | Origin::Array { element, .. } => *element,
        }
    }

    /// Channels of a picture; its last axis unless grey.
    pub fn colour(&self) -> Option<Colour> {
        match self {
            Origin::Image { colour, .. } => Some(*colour),
            Origin::Array { .. } => None,
        }
    }

    /// Whether its colours are already multiplied by alpha.
    pub fn is_premultiplied(&self) -> bool {
        matches!(self, Origin::Image { premultiplied: true, .. })
    }

    /// Height and width of a picture, among the axes of its array.
    pub fn picture_axes(&self) -> Option<[usize; 2]> {
        match self {
            Origin::Image { stack, .. } => Some([0, 1].map(|axis| axis + usize::from(*stack))),
            Origin::Array { .. } => None,
        }
    }

    /// Largest sample that the file specifies, if not the largest of the element type.
    pub fn maxval(&self) -> Option<u16> {
        match self {
            Origin::Image { maxval, .. } => *maxval,
            Origin::Array { .. } => None,
        }
    }

    /// White level of a picture.
    pub fn white(&self) -> Option<f64> {
        match self {
            Origin::Image { maxval: Some(white), .. } => Some(f64::from(*white)),
            Origin::Image { element: Element::U8, .. } => Some(255.0),
            Origin::Image { element: Element::U16, .. } => Some(65535.0),
            // Other pictures are measurements without a white level.
            _ => None,
        }
    }

    /// Name of the array in a `.npz`.
    pub fn member(&self) -> Option<&str> {
        match self {
            Origin::Array { member, .. } => member.as_deref(),
            Origin::Image { .. } => None,
        }
    }

    /// Extension of a file format that holds all of it: `.npy`, `.tiff`.
    pub fn extension(&self) -> &'static str {
        match self {
            Origin::Image { format, colour, .. } => match (format.as_str(), colour) {
                ("tiff", _) => ".tiff",
                ("pbm", _) => ".pbm",
                ("pam", _) => ".pam",
                ("pnm", Colour::Grey) => ".pgm",
                ("pnm", Colour::Rgb) => ".ppm",
                _ => ".png",
            },
            Origin::Array { member: Some(_), .. } => ".npz",
            Origin::Array { .. } => ".npy",
        }
    }
}

/// Reads any supported file; its first bytes determine the format. `-` is standard input, and `member` names an array
/// of a `.npz`.
///
/// Large `.npy` files are mapped if possible: see [`Samples`].
///
/// # Errors
/// If the file cannot be read, or is not of a supported format.
pub fn read<'a>(path: &Path, ask: impl Into<Ask<'a>>) -> Outcome<Array> {
    Ok(read_with_rest(path, ask.into(), 0)?.0)
}

/// [`read`], with up to `most` bytes after the data of a `.npy`.
///
/// # Errors
/// As for [`read`].
pub fn read_with_rest(path: &Path, ask: Ask<'_>, most: u64) -> Outcome<(Array, Vec<u8>)> {
    let at = |f: Failure| f.at(input_name(path));
    if is_standard(path) {
        return read_stream(&mut io::stdin().lock(), ask, most).map_err(at);
    }
    let unreadable = |e: io::Error| at(input(format!("cannot read: {}", why(&e))));
    let mut file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(at(input("is a directory, not a picture or an array")));
    }
    if !metadata.is_file() {
        return read_stream(&mut file, ask, most).map_err(at);
    }
    let magic = magic(&mut file).map_err(at)?;
    file.rewind().map_err(unreadable)?;
    if !magic.starts_with(npy::MAGIC) {
        return Ok((read_kind(&magic, file, ask).map_err(at)?, Vec::new()));
    }
    no_members(ask.member).map_err(at)?;
    let mut again = file.try_clone().map_err(unreadable)?;
    let array = npy::open(file, metadata.len()).map_err(at)?;
    let mut rest = Vec::new();
    if most > 0 {
        again.rewind().map_err(unreadable)?;
        let end = npy::end(&mut BufReader::new(&again), metadata.len()).map_err(at)?;
        again.seek(io::SeekFrom::Start(end)).map_err(unreadable)?;
        again.take(most).read_to_end(&mut rest).map_err(unreadable)?;
    }
    Ok((array, rest))
}

/// Reads any supported file from a stream that cannot be rewound, to its end.
fn read_stream(stream: &mut dyn Read, ask: Ask<'_>, most: u64) -> Outcome<(Array, Vec<u8>)> {
    let magic = magic(stream)?;
    let whole = Cursor::new(magic.clone()).chain(stream);
    let unreadable = |e: io::Error| input(format!("cannot read: {}", why(&e)));
    let mut bytes = Vec::new();
    if magic.starts_with(npy::MAGIC) {
        no_members(ask.member)?;
        let mut reader = BufReader::new(whole);
        let array = npy::read(&mut reader, None)?;
        reader.take(most).read_to_end(&mut bytes).map_err(unreadable)?;
        return Ok((array, bytes));
    }
    // Check first: the stream may be endless.
    if !is_archive(&magic) {
        image::known(&magic)?;
    }
    whole.take(MAX_UNPACKED + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_UNPACKED {
        return Err(input(format!("is more than {} GiB", MAX_UNPACKED >> 30)));
    }
    Ok((read_kind(&magic, Cursor::new(bytes), ask)?, Vec::new()))
}

/// Reads any format except `.npy`.
fn read_kind<R: Read + Seek>(magic: &[u8], file: R, ask: Ask<'_>) -> Outcome<Array> {
    if is_archive(magic) {
        npz::read(file, ask.member)
    } else {
        no_members(ask.member)?;
        image::read_salvaging(BufReader::new(file), ask.salvage)
    }
}

fn is_archive(magic: &[u8]) -> bool {
    magic.starts_with(b"PK\x03\x04") || magic.starts_with(b"PK\x05\x06")
}

/// Refuses an array name for a file that has one unnamed array.
fn no_members(member: Option<&str>) -> Outcome {
    match member {
        None => Ok(()),
        Some(name) => Err(usage(format!("is not a .npz file, so it has no array `{name}`")).help("leave out --array")),
    }
}

/// First bytes of a file, which identify it.
fn magic(file: &mut dyn Read) -> Outcome<Vec<u8>> {
    let mut magic = Vec::new();
    file.take(image::MAGIC_BYTES).read_to_end(&mut magic).map_err(|e| input(format!("cannot read: {}", why(&e))))?;
    if magic.is_empty() {
        return Err(input("is empty"));
    }
    Ok(magic)
}

/// Array file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayFormat {
    /// Single array.
    Npy,
    /// Archive that contains one array.
    Npz,
}

impl ArrayFormat {
    /// Array format of a file name, if any; a name without extension is a `.npy`.
    pub fn of(path: &Path) -> Option<ArrayFormat> {
        match path.extension().map(|e| e.to_string_lossy().to_lowercase()).as_deref() {
            None | Some("npy") => Some(ArrayFormat::Npy),
            Some("npz") => Some(ArrayFormat::Npz),
            Some(_) => None,
        }
    }

    /// Format of a file for coefficients.
    ///
    /// # Errors
    /// If the extension is not one of an array file.
    pub fn of_coefficients(path: &Path) -> Outcome<ArrayFormat> {
        ArrayFormat::of(path).ok_or_else(|| {
            usage(format!("{}: coefficients are arrays, and are written as .npy or .npz", path.display()))
                .help("-o NAME.npy; for a picture of them add --picture NAME.png")
        })
    }
}

/// Writes an array file. `member` is the array's name in a `.npz`; the default is `arr_0`, as in numpy.
///
/// # Errors
/// If writing fails.
pub fn write_array(
    w: &mut dyn io::Write,
    format: ArrayFormat,
    shape: &[usize],
    data: &Data,
    member: Option<&str>,
) -> io::Result<()> {
    match format {
        ArrayFormat::Npy => npy::write(w, shape, data),
        ArrayFormat::Npz => npz::write(w, member.unwrap_or("arr_0"), shape, data),
    }
}

/// Text of a shape, such as `300 × 451 × 3`.
pub fn shape_text(shape: &[usize]) -> String {
    let lengths: Vec<_> = shape.iter().map(usize::to_string).collect();
    lengths.join(" × ")
}
