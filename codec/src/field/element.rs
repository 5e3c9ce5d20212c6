//! Sample types of fields: bit patterns, values, and distances between samples.

/// Type of a field's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// 32-bit floats.
    F32,
    /// 64-bit floats.
    F64,
    /// Unsigned integers of 8 bits.
    U8,
    /// Signed integers of 8 bits.
    I8,
    /// Unsigned integers of 16 bits.
    U16,
    /// Signed integers of 16 bits.
    I16,
    /// Unsigned integers of 32 bits.
    U32,
    /// Signed integers of 32 bits.
    I32,
    /// Unsigned integers of 64 bits.
    U64,
    /// Signed integers of 64 bits.
    I64,
}

impl Kind {
    /// All types, in the order of their codes in streams.
    pub const ALL: [Kind; 10] =
        [Kind::F32, Kind::F64, Kind::U8, Kind::I8, Kind::U16, Kind::I16, Kind::U32, Kind::I32, Kind::U64, Kind::I64];

    /// Name, as in NumPy.
    pub fn name(self) -> &'static str {
        match self {
            Kind::F32 => "float32",
            Kind::F64 => "float64",
            Kind::U8 => "uint8",
            Kind::I8 => "int8",
            Kind::U16 => "uint16",
            Kind::I16 => "int16",
            Kind::U32 => "uint32",
            Kind::I32 => "int32",
            Kind::U64 => "uint64",
            Kind::I64 => "int64",
        }
    }

    /// Length of a sample, in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Kind::U8 | Kind::I8 => 1,
            Kind::U16 | Kind::I16 => 2,
            Kind::F32 | Kind::U32 | Kind::I32 => 4,
            Kind::F64 | Kind::U64 | Kind::I64 => 8,
        }
    }

    /// Whether samples are floats.
    pub fn is_real(self) -> bool {
        matches!(self, Kind::F32 | Kind::F64)
    }
}

mod sealed {
    pub trait Sealed {}
}

/// Sample of a field: `f32`, `f64`, or an integer of 8 to 64 bits. The trait is sealed.
pub trait Element: sealed::Sealed + Copy + Default + PartialEq + Send + Sync + 'static {
    /// The type.
    const KIND: Kind;

    /// Bit pattern, with 0 above it.
    #[doc(hidden)]
    fn bits(self) -> u64;

    /// Sample of the lowest bits of a pattern.
    #[doc(hidden)]
    fn of_bits(bits: u64) -> Self;

    /// Nearest `f64`.
    #[doc(hidden)]
    fn value(self) -> f64;

    /// Nearest sample: halves to even, integers clamped to their range, and zeros positive.
    #[doc(hidden)]
    fn near(value: f64) -> Self;

    /// Whether the sample is a finite number other than −0.
    #[doc(hidden)]
    fn is_number(self) -> bool;

    /// Distance of two numbers, or a little more if `f64` cannot hold it.
    #[doc(hidden)]
    fn distance(self, other: Self) -> f64;

    /// Largest distance that is within a bound for certain, and half the step of corrections.
    #[doc(hidden)]
    fn limits(bound: f64) -> [f64; 2];

    /// Integer of a number, in its order: the value of integers, and the signed magnitude of floats' patterns.
    #[doc(hidden)]
    fn whole(self) -> i64;

    /// Inverse of [`Element::whole`]; for other integers, any sample.
    #[doc(hidden)]
    fn of_whole(whole: i64) -> Self;
}

/// Largest half step: twice as much is finite.
const LARGEST: f64 = f64::MAX / 4.0;

macro_rules! float {
    ($t:ty, $bits:ty, $kind:ident, $margin:expr) => {
        impl sealed::Sealed for $t {}

        impl Element for $t {
            const KIND: Kind = Kind::$kind;

            fn bits(self) -> u64 {
                self.to_bits().into()
            }

            fn of_bits(bits: u64) -> $t {
                <$t>::from_bits(bits as $bits)
            }

            fn value(self) -> f64 {
                self.into()
            }

            fn near(value: f64) -> $t {
                // −0 becomes 0.
                value as $t + 0.0
            }

            fn is_number(self) -> bool {
                self.is_finite() && self.to_bits() != <$t>::to_bits(-0.0)
            }

            fn distance(self, other: $t) -> f64 {
                (f64::from(self) - f64::from(other)).abs()
            }

            fn limits(bound: f64) -> [f64; 2] {
                // Differences that are rounded to the sample type stay within the bound, too.
                [(bound * (1.0 - $margin)).min(LARGEST); 2]
            }

            fn whole(self) -> i64 {
                let magnitude = self.abs().to_bits() as i64;
                if self < 0.0 { -magnitude } else { magnitude }
            }

            fn of_whole(whole: i64) -> $t {
                let magnitude = <$t>::from_bits(whole.unsigned_abs() as $bits);
                if whole < 0 { -magnitude } else { magnitude }
            }
        }
    };
}

float!(f32, u32, F32, 1.0 / f64::from(1u32 << 22));
float!(f64, u64, F64, 1.0 / (1u64 << 50) as f64);

macro_rules! integer {
    ($($t:ty, $bits:ty, $kind:ident;)*) => {$(
        impl sealed::Sealed for $t {}

        impl Element for $t {
            const KIND: Kind = Kind::$kind;

            fn bits(self) -> u64 {
                (self as $bits).into()
            }

            fn of_bits(bits: u64) -> $t {
                bits as $t
            }

            fn value(self) -> f64 {
                self as f64
            }

            fn near(value: f64) -> $t {
                value.round_ties_even() as $t
            }

            fn is_number(self) -> bool {
                true
            }

            fn distance(self, other: $t) -> f64 {
                let distance = u64::from(self.abs_diff(other));
                let value = distance as f64;
                if distance > 1 << 53 { value.next_up() } else { value }
            }

            fn limits(bound: f64) -> [f64; 2] {
                let whole = bound.floor().min(LARGEST);
                [whole, whole + 0.5]
            }

            fn whole(self) -> i64 {
                self as i64
            }

            fn of_whole(whole: i64) -> $t {
                whole as $t
            }
        }
    )*};
}

integer! {
    u8, u8, U8;
    i8, u8, I8;
    u16, u16, U16;
    i16, u16, I16;
    u32, u32, U32;
    i32, u32, I32;
    u64, u64, U64;
    i64, u64, I64;
}
