//! What differs between the C-like targets.

use super::namer::{C_RESERVED, CUDA_RESERVED, HELPERS, Namer};
use crate::ir::{BinOp, Builtin, Scalar};

/// A C-like target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// CUDA C++, by nvcc or NVRTC.
    Cuda,
    /// Portable C99.
    C,
}

impl Dialect {
    /// How errors call it.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Cuda => "CUDA C++",
            Dialect::C => "C99",
        }
    }

    /// A namer that knows the target's reserved words.
    pub fn namer(self) -> Namer {
        match self {
            Dialect::Cuda => Namer::new(&[C_RESERVED, CUDA_RESERVED, HELPERS]),
            Dialect::C => Namer::new(&[C_RESERVED, HELPERS]),
        }
    }

    /// The type's spelling. `f16` and `bf16` are their bits.
    pub fn type_name(self, s: Scalar) -> &'static str {
        match (self, s) {
            (_, Scalar::Bool) => "bool",
            (_, Scalar::F32) => "float",
            (_, Scalar::F64) => "double",
            (Dialect::Cuda, Scalar::I16) => "short",
            (Dialect::Cuda, Scalar::I32) => "int",
            (Dialect::Cuda, Scalar::I64) => "long long",
            (Dialect::Cuda, Scalar::U32) => "unsigned",
            (Dialect::Cuda, Scalar::U64) => "unsigned long long",
            (Dialect::Cuda, Scalar::F16 | Scalar::Bf16) => "unsigned short",
            (Dialect::C, Scalar::I16) => "int16_t",
            (Dialect::C, Scalar::I32) => "int32_t",
            (Dialect::C, Scalar::I64) => "int64_t",
            (Dialect::C, Scalar::U32) => "uint32_t",
            (Dialect::C, Scalar::U64) => "uint64_t",
            (Dialect::C, Scalar::F16 | Scalar::Bf16) => "uint16_t",
        }
    }

    /// The unsigned type in which arithmetic on a signed one wraps.
    pub fn unsigned_of(self, s: Scalar) -> &'static str {
        self.type_name(if s == Scalar::I64 { Scalar::U64 } else { Scalar::U32 })
    }

    /// Whether operands of an unsigned operation are converted one by one, which compilers that warn of implicit
    /// conversions ask for; else the language converts the other operand of an unsigned one.
    pub fn converts_each(self) -> bool {
        self == Dialect::C
    }

    /// The qualifier for pointers that nothing else in the kernel aliases.
    pub fn restrict(self) -> &'static str {
        match self {
            Dialect::Cuda => "__restrict__",
            Dialect::C => "restrict",
        }
    }

    /// What stands before a helper function.
    pub fn helper_prefix(self) -> &'static str {
        match self {
            Dialect::Cuda => "static __device__ __forceinline__",
            Dialect::C => "static inline",
        }
    }

    /// The function that rounds a float operation once and is never fused with another; `None` where the operator does.
    pub fn float_op(self, op: BinOp, s: Scalar) -> Option<&'static str> {
        if self == Dialect::C {
            return None;
        }
        Some(match (op, s) {
            (BinOp::Add, Scalar::F32) => "__fadd_rn",
            (BinOp::Sub, Scalar::F32) => "__fsub_rn",
            (BinOp::Mul, Scalar::F32) => "__fmul_rn",
            (BinOp::Div, Scalar::F32) => "__fdiv_rn",
            (BinOp::Add, Scalar::F64) => "__dadd_rn",
            (BinOp::Sub, Scalar::F64) => "__dsub_rn",
            (BinOp::Mul, Scalar::F64) => "__dmul_rn",
            (BinOp::Div, Scalar::F64) => "__ddiv_rn",
            _ => return None,
        })
    }

    /// A float literal that has no digits: infinities and the like.
    pub fn special_float(self, value: f64, s: Scalar) -> String {
        match (self, s) {
            (Dialect::Cuda, Scalar::F32) => format!("__uint_as_float({:#x}u)", (value as f32).to_bits()),
            (Dialect::Cuda, _) => format!("__longlong_as_double({:#x}ll)", value.to_bits()),
            (Dialect::C, _) if value.is_nan() => "NAN".into(),
            (Dialect::C, _) if value < 0.0 => "-INFINITY".into(),
            (Dialect::C, _) => "INFINITY".into(),
        }
    }

    /// A builtin, for a block of the given shape. On a CPU there is one block of one thread.
    pub fn builtin(self, b: Builtin, block: [u32; 3]) -> &'static str {
        use Builtin::*;
        match (self, b) {
            (Dialect::C, GridX | GridY | GridZ) => "1",
            (Dialect::C, _) => "0",
            (Dialect::Cuda, ThreadX) => "(int)threadIdx.x",
            (Dialect::Cuda, ThreadY) => "(int)threadIdx.y",
            (Dialect::Cuda, ThreadZ) => "(int)threadIdx.z",
            (Dialect::Cuda, BlockX) => "(int)blockIdx.x",
            (Dialect::Cuda, BlockY) => "(int)blockIdx.y",
            (Dialect::Cuda, BlockZ) => "(int)blockIdx.z",
            (Dialect::Cuda, GridX) => "(int)gridDim.x",
            (Dialect::Cuda, GridY) => "(int)gridDim.y",
            (Dialect::Cuda, GridZ) => "(int)gridDim.z",
            // A warp is 32 threads consecutive in x, then y, then z.
            (Dialect::Cuda, Lane) if block[0].is_multiple_of(32) || block[1] * block[2] == 1 => {
                "(int)(threadIdx.x % 32)"
            }
            (Dialect::Cuda, Lane) => {
                "(int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32)"
            }
        }
    }
}
