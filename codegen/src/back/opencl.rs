//! OpenCL C 1.2, as every implementation since has it. Double precision is an extension that nearly all have.
//!
//! A host has no pointers into a device's memory. So a kernel takes each array as a buffer and the element at which to
//! begin in it, one after the other.

use super::c_like::Helper;
use super::dialect::{CLike, Memory, fixed_size, overloaded_min_max};
use crate::ir::valid::KernelInfo;
use crate::ir::{BinOp, Builtin, Feature, Kernel, ParamKind, Scalar, UnOp};

/// OpenCL C without sub-groups: barriers and shared memory, no warps.
#[derive(Clone, Copy, Debug)]
pub struct OpenCl;

impl CLike for OpenCl {
    fn name(&self) -> &'static str {
        "OpenCL C"
    }

    fn word(&self) -> &'static str {
        "opencl"
    }

    fn extension(&self) -> &'static str {
        "cl"
    }

    /// Copies are done at once, and a queue in order runs one launch after another: what asks for these is written
    /// out. Lanes of a warp cannot be counted on.
    fn has(&self, feature: Feature) -> bool {
        !matches!(feature, Feature::Warps | Feature::Shuffles | Feature::Ballots)
    }

    fn reserved(&self) -> &'static [&'static str] {
        RESERVED
    }

    fn prelude(&self, kernels: &[(&Kernel, &KernelInfo)]) -> String {
        let mut out = String::from(
            "// Every operation is rounded once: a * b + c must not become a fused multiply-add.\n\
             #pragma OPENCL FP_CONTRACT OFF\n",
        );
        let doubles = |(kernel, _): &(&Kernel, &KernelInfo)| {
            let of = |kind| matches!(kind, ParamKind::Pointer(Scalar::F64, _) | ParamKind::Scalar(Scalar::F64));
            kernel.locals.iter().any(|l| l.scalar == Scalar::F64) || kernel.params.iter().any(|p| of(p.kind))
        };
        if kernels.iter().any(doubles) {
            out += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
        }
        out
    }

    fn type_name(&self, s: Scalar) -> &'static str {
        match s {
            Scalar::U8 => "uchar",
            Scalar::I64 => "long",
            Scalar::U32 => "uint",
            Scalar::U64 => "ulong",
            Scalar::F16 | Scalar::Bf16 => "ushort",
            s => fixed_size(s),
        }
    }

    fn kernel_head(&self, kernel: &Kernel, name: &str) -> String {
        let [x, y, z] = kernel.launch.block;
        format!("__kernel __attribute__((reqd_work_group_size({x}, {y}, {z})))\nvoid {name}(")
    }

    fn arrays_have_offsets(&self) -> bool {
        true
    }

    fn memory(&self, memory: Memory) -> &'static str {
        match memory {
            Memory::Global => "__global ",
            Memory::Shared => "__local ",
        }
    }

    fn shared_array(&self, element: Scalar, name: &str, len: u32) -> Option<String> {
        Some(format!("__local {} {name}[{len}] __attribute__((aligned(16)));", self.type_name(element)))
    }

    fn suffix(&self, s: Scalar) -> &'static str {
        match s {
            Scalar::I64 => "L",
            Scalar::U32 => "u",
            Scalar::U64 => "UL",
            _ => "",
        }
    }

    fn special_float(&self, value: f64, s: Scalar) -> String {
        match s {
            Scalar::F32 => format!("as_float({:#x}u)", (value as f32).to_bits()),
            _ => format!("as_double({:#x}UL)", value.to_bits()),
        }
    }

    fn builtin(&self, b: Builtin, _: [u32; 3]) -> &'static str {
        match b {
            Builtin::ThreadX => "(int)get_local_id(0)",
            Builtin::ThreadY => "(int)get_local_id(1)",
            Builtin::ThreadZ => "(int)get_local_id(2)",
            Builtin::BlockX => "(int)get_group_id(0)",
            Builtin::BlockY => "(int)get_group_id(1)",
            Builtin::BlockZ => "(int)get_group_id(2)",
            Builtin::GridX => "(int)get_num_groups(0)",
            Builtin::GridY => "(int)get_num_groups(1)",
            Builtin::GridZ => "(int)get_num_groups(2)",
            Builtin::Lane => "(int)get_sub_group_local_id()",
        }
    }

    fn min_max(&self, op: BinOp, s: Scalar) -> Option<&'static str> {
        overloaded_min_max(op, s)
    }

    fn count_bits(&self, op: UnOp, _: Scalar) -> Option<&'static str> {
        Some(if op == UnOp::CountOnes { "popcount" } else { "clz" })
    }

    fn converts_each(&self) -> bool {
        false
    }

    fn reinterpret(&self, to: Scalar, text: &str) -> Option<String> {
        match to {
            Scalar::F32 => Some(format!("as_float({text})")),
            Scalar::U32 => Some(format!("as_uint({text})")),
            _ => None,
        }
    }

    fn barrier(&self) -> Option<&'static str> {
        Some("barrier(CLK_LOCAL_MEM_FENCE);")
    }

    fn unrolling(&self, unroll: bool) -> Option<&'static str> {
        Some(if unroll { "#pragma unroll" } else { "#pragma unroll 1" })
    }

    /// Wide accesses are vectors' own: what is read or written begins where such a vector may.
    fn helper_body(&self, helper: Helper) -> Option<String> {
        match helper {
            Helper::Load { element, lanes: lanes @ 2.., memory, .. } => {
                let (t, memory) = (self.type_name(element), self.memory(memory.unwrap_or(Memory::Global)));
                let mut out = format!("    const {t}{lanes} v = *(const {memory}{t}{lanes} *)from;\n");
                for i in 0..lanes {
                    out += &format!("    to[{i}] = v.s{i:x};\n");
                }
                Some(out)
            }
            Helper::Store { element, lanes: lanes @ 2.., memory, .. } => {
                let (t, memory) = (self.type_name(element), self.memory(memory.unwrap_or(Memory::Global)));
                let values: Vec<String> = (0..lanes).map(|i| format!("v{i}")).collect();
                Some(format!("    *({memory}{t}{lanes} *)to = ({t}{lanes})({});\n", values.join(", ")))
            }
            _ => None,
        }
    }
}

/// What OpenCL C adds to the words of C.
const RESERVED: &[&str] = &[
    "as_double",
    "as_float",
    "as_int",
    "as_uint",
    "barrier",
    "clamp",
    "clz",
    "constant",
    "event_t",
    "get_global_id",
    "get_group_id",
    "get_local_id",
    "get_num_groups",
    "global",
    "half",
    "image2d_t",
    "kernel",
    "local",
    "max",
    "min",
    "mix",
    "popcount",
    "private",
    "read_only",
    "read_write",
    "rotate",
    "sampler_t",
    "select",
    "sign",
    "size_t",
    "step",
    "uchar",
    "uint",
    "ulong",
    "ushort",
    "write_only",
];
