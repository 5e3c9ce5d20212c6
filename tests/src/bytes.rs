//! Arguments of conformance cases as bytes, for programs in other languages.

use half::{bf16, f16};
use lifting_codegen::ir::Scalar;
use lifting_codegen::ir::interp::{Arg, Buffer, Element};

/// The bytes of a defined buffer, in memory order.
///
/// # Panics
/// If an element is undefined; conformance cases have none.
pub fn of_buffer(b: &Buffer) -> Vec<u8> {
    fn bytes<T: Element>(b: &Buffer) -> Vec<u8> {
        let size = T::SCALAR.bytes();
        let values = b.to_vec::<T>().expect("conformance cases are defined throughout");
        values.into_iter().flat_map(|v| v.to_pattern().to_le_bytes()[..size].to_vec()).collect()
    }
    match b.scalar() {
        Scalar::U8 => bytes::<u8>(b),
        Scalar::I16 => bytes::<i16>(b),
        Scalar::I32 => bytes::<i32>(b),
        Scalar::I64 => bytes::<i64>(b),
        Scalar::U32 => bytes::<u32>(b),
        Scalar::U64 => bytes::<u64>(b),
        Scalar::F16 => bytes::<f16>(b),
        Scalar::Bf16 => bytes::<bf16>(b),
        Scalar::F32 => bytes::<f32>(b),
        Scalar::F64 => bytes::<f64>(b),
        Scalar::Bool => Vec::new(),
    }
}

/// A buffer of type `scalar` from bytes.
pub fn to_buffer(scalar: Scalar, bytes: &[u8]) -> Buffer {
    fn buffer<T: Element>(bytes: &[u8]) -> Buffer {
        let values: Vec<T> = bytes
            .chunks_exact(T::SCALAR.bytes())
            .map(|c| {
                let mut word = [0; 8];
                word[..c.len()].copy_from_slice(c);
                T::from_pattern(u64::from_le_bytes(word))
            })
            .collect();
        Buffer::new(&values)
    }
    match scalar {
        Scalar::U8 => buffer::<u8>(bytes),
        Scalar::I16 => buffer::<i16>(bytes),
        Scalar::I32 => buffer::<i32>(bytes),
        Scalar::I64 => buffer::<i64>(bytes),
        Scalar::U32 => buffer::<u32>(bytes),
        Scalar::U64 => buffer::<u64>(bytes),
        Scalar::F16 => buffer::<f16>(bytes),
        Scalar::Bf16 => buffer::<bf16>(bytes),
        Scalar::F32 => buffer::<f32>(bytes),
        Scalar::F64 | Scalar::Bool => buffer::<f64>(bytes),
    }
}

/// The bytes of a scalar argument of type `scalar`.
///
/// # Panics
/// If the argument is a buffer.
pub fn of_scalar(arg: &Arg, scalar: Scalar) -> Vec<u8> {
    match arg {
        Arg::Scalar(v) => v.to_le_bytes()[..scalar.bytes()].to_vec(),
        Arg::F32(v) => v.to_le_bytes().to_vec(),
        Arg::F64(v) => v.to_le_bytes().to_vec(),
        Arg::Buffer(_) => panic!("a buffer is not a scalar argument"),
    }
}

/// Bytes as `1,2,…`, for array literals of C and Rust.
pub fn list(bytes: &[u8]) -> String {
    bytes.iter().map(|b| b.to_string()).collect::<Vec<_>>().join(",")
}
