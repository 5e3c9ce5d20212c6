//! CUDA C++: `extern "C"` kernels that nvcc and NVRTC compile without any header.

mod helpers;
#[cfg(test)]
mod tests;

use super::c_like::Helper;
use super::dialect::{CLike, fixed_size, overloaded_min_max};
use crate::ir::{BinOp, Builtin, Cache, Feature, Kernel, Lane, Scalar, UnOp};

/// CUDA C++, for nvcc or NVRTC.
#[derive(Clone, Copy, Debug)]
pub struct Cuda;

impl CLike for Cuda {
    fn name(&self) -> &'static str {
        "CUDA C++"
    }

    fn word(&self) -> &'static str {
        "cuda"
    }

    fn extension(&self) -> &'static str {
        "cu"
    }

    /// CUDA has all features; its warps have 32 lanes.
    fn has(&self, _: Feature) -> bool {
        true
    }

    fn reserved(&self) -> &'static [&'static str] {
        RESERVED
    }

    fn type_name(&self, s: Scalar) -> &'static str {
        match s {
            Scalar::U8 => "unsigned char",
            Scalar::I64 => "long long",
            Scalar::U32 => "unsigned",
            Scalar::U64 => "unsigned long long",
            Scalar::F16 | Scalar::Bf16 => "unsigned short",
            s => fixed_size(s),
        }
    }

    fn kernel_head(&self, kernel: &Kernel, name: &str) -> String {
        format!("extern \"C\" __global__ void {} {name}(", bounds(kernel, &kernel.min_blocks.to_string()))
    }

    fn head_helper(&self) -> Option<Helper> {
        Some(Helper::Resident)
    }

    fn function(&self) -> &'static str {
        "static __device__ __forceinline__"
    }

    fn called_function(&self) -> &'static str {
        "static __device__ __noinline__"
    }

    fn restrict(&self) -> &'static str {
        "__restrict__"
    }

    fn shared_array(&self, element: Scalar, name: &str, len: &str) -> Option<String> {
        Some(format!("__shared__ __align__(16) {} {name}[{len}];", self.type_name(element)))
    }

    fn special_float(&self, value: f64, s: Scalar) -> String {
        match s {
            Scalar::F32 => format!("__uint_as_float({:#x}u)", (value as f32).to_bits()),
            _ => format!("__longlong_as_double({:#x}ll)", value.to_bits()),
        }
    }

    fn builtin(&self, b: Builtin, block: [u32; 3]) -> &'static str {
        match b {
            Builtin::ThreadX => "(int)threadIdx.x",
            Builtin::ThreadY => "(int)threadIdx.y",
            Builtin::ThreadZ => "(int)threadIdx.z",
            Builtin::BlockX => "(int)blockIdx.x",
            Builtin::BlockY => "(int)blockIdx.y",
            Builtin::BlockZ => "(int)blockIdx.z",
            Builtin::GridX => "(int)gridDim.x",
            Builtin::GridY => "(int)gridDim.y",
            Builtin::GridZ => "(int)gridDim.z",
            // A warp is 32 consecutive threads: in x, then y, then z.
            Builtin::Lane if block[0].is_multiple_of(32) || block[1] * block[2] == 1 => "(int)(threadIdx.x % 32)",
            Builtin::Lane => "(int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32)",
        }
    }

    /// Operators may be contracted into fused ones; these functions may not.
    fn float_op(&self, op: BinOp, s: Scalar) -> Option<&'static str> {
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

    fn min_max(&self, op: BinOp, s: Scalar) -> Option<&'static str> {
        overloaded_min_max(op, s)
    }

    fn count_bits(&self, op: UnOp, s: Scalar) -> Option<&'static str> {
        Some(match (op, s.bytes()) {
            (UnOp::CountOnes, 4) => "__popc",
            (UnOp::CountOnes, _) => "__popcll",
            (_, 4) => "__clz",
            _ => "__clzll",
        })
    }

    fn converts_each(&self) -> bool {
        false
    }

    fn reinterpret(&self, to: Scalar, text: &str) -> Option<String> {
        match to {
            Scalar::F32 => Some(format!("__uint_as_float({text})")),
            Scalar::U32 => Some(format!("__float_as_uint({text})")),
            _ => None,
        }
    }

    fn barrier(&self) -> Option<&'static str> {
        Some("__syncthreads();")
    }

    fn sync_warp(&self) -> Option<&'static str> {
        Some("__syncwarp();")
    }

    fn shuffle(&self, s: Scalar, value: &str, lane: &Lane, at: &str) -> Option<String> {
        let function = match lane {
            Lane::Up(_) => "__shfl_up_sync",
            Lane::Down(_) => "__shfl_down_sync",
            Lane::Xor(_) => "__shfl_xor_sync",
            Lane::Index(_) => "__shfl_sync",
        };
        let narrow = if s == Scalar::I16 { "(short)" } else { "" };
        Some(format!("{narrow}{function}(0xffffffffu, {value}, {at})"))
    }

    fn ballot(&self, cond: &str) -> Option<String> {
        Some(format!("__ballot_sync(0xffffffffu, {cond})"))
    }

    /// By default the compiler unrolls strided loops until registers spill.
    fn unrolling(&self, unroll: bool) -> Option<&'static str> {
        Some(if unroll { "#pragma unroll" } else { "#pragma unroll 1" })
    }

    fn has_hints(&self) -> bool {
        true
    }

    fn load(&self, cell: &str, cache: Cache) -> String {
        match cache {
            Cache::ReadOnly => format!("__ldg(&{cell})"),
            Cache::Streaming => format!("__ldcs(&{cell})"),
            Cache::Default | Cache::Kept | Cache::KeptIf(_) | Cache::ReadOnlyIf(_) => cell.into(),
        }
    }

    fn store(&self, cell: &str, value: &str, cache: Cache) -> String {
        match cache {
            Cache::Streaming => format!("__stcs(&{cell}, {value});"),
            _ => format!("{cell} = {value};"),
        }
    }

    fn helper_body(&self, helper: Helper) -> Option<String> {
        helpers::body(helper)
    }

    fn helper_calls(&self, helper: Helper) -> Option<Helper> {
        matches!(helper, Helper::Store { element, lanes: 2.., .. } if element.bytes() == 2).then_some(Helper::Word)
    }
}

/// The attribute with a kernel's threads a block, and the resident blocks to ask the compiler for.
pub(super) fn bounds(kernel: &Kernel, blocks: &str) -> String {
    let threads: u32 = kernel.launch.block.iter().product();
    format!("__launch_bounds__({threads}, {}({blocks}))", Helper::Resident.name())
}

/// Words reserved in CUDA C++, in addition to those of C.
const RESERVED: &[&str] = &[
    "blockDim",
    "blockIdx",
    "cudaError_t",
    "cudaStream_t",
    "dim3",
    "gridDim",
    "max",
    "min",
    "threadIdx",
    "warpSize",
    "char1",
    "short2",
    "int2",
    "int4",
    "float2",
    "float4",
    "double2",
    "longlong2",
];
