//! Arrays as they come from files: samples of any element type, a shape, and where they are from.

pub mod image;
pub mod npy;
pub mod npz;

use crate::failure::{Outcome, input};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

/// Most axes that an array file may have.
pub const MAX_AXES: usize = 4;

/// Most bytes that a compressed file may grow to: what a header claims is not believed beyond it.
pub const MAX_UNPACKED: u64 = 16 << 30;

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
            $($variant(Vec<$t>),)*
        }

        impl Element {
            /// numpy's type code without byte order: `u1`, `i2`, `f4`, …
            pub fn code(self) -> &'static str {
                match self {
                    $(Element::$variant => $code,)*
                }
            }

            /// The element type of that code.
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

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        $(impl From<Vec<$t>> for Data {
            fn from(v: Vec<$t>) -> Data {
                Data::$variant(v)
            }
        })*
    };
}
with_elements!(define);

impl Element {
    /// As numpy calls it: `uint8`, `int16`, `float32`, …
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

    /// Floating point.
    pub fn is_real(self) -> bool {
        self.code().starts_with('f')
    }
}

/// An array from a file, in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Axis lengths, outermost first.
    pub shape: Vec<usize>,
    /// The samples.
    pub data: Data,
    /// What kind of file it is from.
    pub origin: Origin,
}

/// What kind of file an array is from: enough to write it back as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Origin {
    /// A picture.
    Image {
        /// `png`, `jpeg`, `tiff`, `pnm`.
        format: String,
        /// Its channels.
        colour: Colour,
        /// Type of the channels' samples.
        element: Element,
    },
    /// A numpy array.
    Array {
        /// Type of its elements.
        element: Element,
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
    /// Type of the elements in the file.
    pub fn element(&self) -> Element {
        match self {
            Origin::Image { element, .. } | Origin::Array { element } => *element,
        }
    }

    /// The channels of a picture; its last axis unless grey.
    pub fn colour(&self) -> Option<Colour> {
        match self {
            Origin::Image { colour, .. } => Some(*colour),
            Origin::Array { .. } => None,
        }
    }
}

/// Reads any file that we know: by its first bytes, whatever its name. `member` names an array of a `.npz`.
pub fn read(path: &Path, member: Option<&str>) -> Outcome<Array> {
    let at = |f: crate::failure::Failure| f.at(path.display());
    let mut file = File::open(path).map_err(|e| at(input(format!("cannot read: {e}"))))?;
    let metadata = file.metadata().map_err(|e| at(input(format!("cannot read: {e}"))))?;
    if metadata.is_dir() {
        return Err(at(input("is a directory, not a picture or an array")));
    }
    let mut magic = [0; 6];
    let mut known = 0;
    while known < magic.len() {
        match file.read(&mut magic[known..]).map_err(|e| at(input(format!("cannot read: {e}"))))? {
            0 => break,
            n => known += n,
        }
    }
    if known == 0 {
        return Err(at(input("is empty")));
    }
    file.rewind().map_err(|e| at(input(format!("cannot read: {e}; only ordinary files can be transformed"))))?;
    let result = if magic == *npy::MAGIC {
        let mut reader = std::io::BufReader::new(file);
        npy::read(&mut reader, Some(metadata.len()).filter(|_| metadata.is_file()))
    } else if magic.starts_with(b"PK\x03\x04") || magic.starts_with(b"PK\x05\x06") {
        npz::read(file, member)
    } else {
        image::read(std::io::BufReader::new(file))
    };
    result.map_err(at)
}

/// `300 × 451 × 3`.
pub fn shape_text(shape: &[usize]) -> String {
    let lengths: Vec<_> = shape.iter().map(usize::to_string).collect();
    lengths.join(" × ")
}
