//! Arguments of an interpreted launch: typed arrays and scalars.
//!
//! Every value is a 64-bit pattern: integers sign- or zero-extended from their type, floats as their bits.

use crate::ir::Scalar;
use half::{bf16, f16};

/// A Rust type for elements of an array. Sealed.
pub trait Element: Copy + private::Sealed {
    /// Its IR type.
    const SCALAR: Scalar;
    /// Its 64-bit pattern.
    fn to_pattern(self) -> u64;
    /// The value of a pattern.
    fn from_pattern(bits: u64) -> Self;
}

mod private {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($t:ident $scalar:ident $to:expr, $from:expr;)*) => {$(
        impl private::Sealed for $t {}
        impl Element for $t {
            const SCALAR: Scalar = Scalar::$scalar;
            #[inline(always)]
            fn to_pattern(self) -> u64 {
                $to(self)
            }
            #[inline(always)]
            fn from_pattern(bits: u64) -> $t {
                $from(bits)
            }
        }
    )*};
}

elements! {
    u8 U8 |v| v as u64, |b| b as u8;
    i16 I16 |v| v as i64 as u64, |b| b as i16;
    i32 I32 |v| v as i64 as u64, |b| b as i32;
    i64 I64 |v| v as u64, |b| b as i64;
    u32 U32 |v| v as u64, |b| b as u32;
    u64 U64 |v| v, |b| b;
    f32 F32 |v: f32| v.to_bits().into(), |b| f32::from_bits(b as u32);
    f64 F64 |v: f64| v.to_bits(), f64::from_bits;
    f16 F16 |v: f16| v.to_bits().into(), |b| f16::from_bits(b as u16);
    bf16 Bf16 |v: bf16| v.to_bits().into(), |b| bf16::from_bits(b as u16);
}

/// An array in global memory.
///
/// Its address is a multiple of 256 bytes, as in device allocations, unless [`Buffer::misaligned`] sets another.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    pub(super) scalar: Scalar,
    pub(super) values: Vec<u64>,
    /// Elements past the aligned address.
    pub(super) offset: usize,
    /// Elements that have a value; `None`: all.
    pub(super) defined: Option<Vec<bool>>,
}

impl Buffer {
    /// A copy of these values.
    pub fn new<T: Element>(values: &[T]) -> Buffer {
        Buffer { scalar: T::SCALAR, values: values.iter().map(|v| v.to_pattern()).collect(), offset: 0, defined: None }
    }

    /// `len` zeros.
    pub fn zeroed(scalar: Scalar, len: usize) -> Buffer {
        Buffer { scalar, values: vec![0; len], offset: 0, defined: None }
    }

    /// `len` elements without a value: loading one that no kernel has stored is a fault.
    pub fn undefined(scalar: Scalar, len: usize) -> Buffer {
        Buffer { defined: Some(vec![false; len]), ..Buffer::zeroed(scalar, len) }
    }

    /// Moves the array `elements` past an aligned address.
    pub fn misaligned(mut self, elements: usize) -> Buffer {
        self.offset = elements;
        self
    }

    /// Misalignment of the array, in bytes.
    pub fn misalignment(&self) -> u64 {
        (self.offset * self.scalar.bytes()) as u64
    }

    /// A copy of the elements from `from` on, as seen by a pointer into the array.
    ///
    /// # Panics
    /// If the array has fewer elements.
    pub fn tail(&self, from: usize) -> Buffer {
        Buffer {
            scalar: self.scalar,
            values: self.values[from..].to_vec(),
            offset: self.offset + from,
            defined: self.defined.as_ref().map(|d| d[from..].to_vec()),
        }
    }

    /// Adopts a kernel's stores through a pointer to element `from`. `before` and `after` are that
    /// [`tail`](Buffer::tail) before and after the launch.
    ///
    /// # Errors
    /// The first element that was changed in another way meanwhile: two pointers alias there.
    pub fn adopt(&mut self, from: usize, before: &Buffer, after: &Buffer) -> Result<(), usize> {
        let defined = |b: &Buffer, i: usize| b.defined.as_ref().is_none_or(|d| d[i]);
        for (i, value) in after.values.iter().enumerate() {
            if *value == before.values[i] && defined(after, i) == defined(before, i) {
                continue;
            }
            let at = from + i;
            if self.values[at] != before.values[i] || defined(self, at) != defined(before, i) {
                return Err(at);
            }
            self.values[at] = *value;
            if let Some(defined) = &mut self.defined {
                defined[at] = true;
            }
        }
        Ok(())
    }

    /// Type of the elements.
    pub fn scalar(&self) -> Scalar {
        self.scalar
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether the array is empty.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether every element has a value.
    pub fn is_defined(&self) -> bool {
        self.defined.as_ref().is_none_or(|d| d.iter().all(|&d| d))
    }

    /// Whether this element has a value.
    pub(super) fn is_element_defined(&self, i: usize) -> bool {
        self.defined.as_ref().is_none_or(|d| d[i])
    }

    /// Whether element `i` has a value.
    ///
    /// # Panics
    /// If the element does not exist.
    pub fn is_defined_at(&self, i: usize) -> bool {
        assert!(i < self.values.len(), "element {i} of {}", self.values.len());
        self.defined.as_ref().is_none_or(|d| d[i])
    }

    /// Sets some elements.
    ///
    /// # Panics
    /// If an element does not exist, or the buffer has another type.
    pub fn set<T: Element>(&mut self, elements: impl IntoIterator<Item = (usize, T)>) {
        assert_eq!(self.scalar, T::SCALAR, "the elements must have the buffer's type");
        for (i, value) in elements {
            self.values[i] = value.to_pattern();
            if let Some(defined) = &mut self.defined {
                defined[i] = true;
            }
        }
    }

    /// The values; `None` for another element type.
    pub fn to_vec<T: Element>(&self) -> Option<Vec<T>> {
        (self.scalar == T::SCALAR).then(|| self.values.iter().map(|&b| T::from_pattern(b)).collect())
    }
}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// For a pointer parameter.
    Buffer(Buffer),
    /// For a scalar parameter of an integer type.
    Scalar(i64),
    /// For a scalar parameter of type `f32`.
    F32(f32),
    /// For a scalar parameter of type `f64`.
    F64(f64),
}

impl Arg {
    /// The buffer, if it is one.
    pub fn buffer(&self) -> Option<&Buffer> {
        match self {
            Arg::Buffer(b) => Some(b),
            _ => None,
        }
    }

    /// The buffer, if it is one.
    pub fn into_buffer(self) -> Option<Buffer> {
        match self {
            Arg::Buffer(b) => Some(b),
            _ => None,
        }
    }
}

impl From<Buffer> for Arg {
    fn from(b: Buffer) -> Arg {
        Arg::Buffer(b)
    }
}

impl From<i64> for Arg {
    fn from(v: i64) -> Arg {
        Arg::Scalar(v)
    }
}

impl From<i32> for Arg {
    fn from(v: i32) -> Arg {
        Arg::Scalar(v.into())
    }
}
