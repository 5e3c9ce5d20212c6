//! OpenCL C 1.2, which every later implementation supports. Double precision is an extension that nearly all have.
//!
//! A host has no pointers into device memory. So a kernel takes each array as two parameters: a buffer and the index of
//! its first element.
//!
//! Warps are sub-groups on devices whose sub-groups have shuffles. These need extensions of OpenCL C 3.0:
//! `cl_khr_subgroup_shuffle`, `cl_khr_subgroup_ballot`, and `cl_intel_required_subgroup_size`, which sets
//! their size.

use super::c_like::Helper;
use super::dialect::{CLike, Memory, fixed_size, overloaded_min_max};
use crate::ir::valid::KernelInfo;
use crate::ir::{BinOp, Builtin, Feature, Kernel, Lane, ParamKind, Scalar, UnOp, WARP};

/// OpenCL C, with or without sub-groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenCl {
    /// Lanes of a sub-group.
    lanes: Option<u32>,
}

impl OpenCl {
    /// Barriers and shared memory but no warps: every implementation has these.
    pub const PORTABLE: OpenCl = OpenCl { lanes: None };

    /// Warps are sub-groups with the IR's usual number of lanes.
    pub const SUB_GROUPS: OpenCl = OpenCl::with_sub_groups(WARP);

    /// Extensions that a device needs, in addition to OpenCL C 3.0, for warps as sub-groups.
    pub const EXTENSIONS: [&str; 3] =
        ["cl_khr_subgroup_ballot", "cl_khr_subgroup_shuffle", "cl_intel_required_subgroup_size"];

    /// Warps are sub-groups of `lanes` lanes: a power of two, at most 64.
    pub const fn with_sub_groups(lanes: u32) -> OpenCl {
        OpenCl { lanes: Some(lanes) }
    }

    /// Lanes of a sub-group; `None` without sub-groups.
    pub const fn lanes(&self) -> Option<u32> {
        self.lanes
    }

    /// The compiler option that names the language version of these kernels.
    pub fn standard<'a>(&self, kernels: impl IntoIterator<Item = &'a Kernel>) -> &'static str {
        if kernels.into_iter().any(has_warps) { "-cl-std=CL3.0" } else { "-cl-std=CL1.2" }
    }
}

/// Whether lanes of a warp communicate.
fn has_warps(kernel: &Kernel) -> bool {
    kernel.features().iter().any(is_of_warps)
}

fn is_of_warps(feature: &Feature) -> bool {
    matches!(feature, Feature::Warps | Feature::Shuffles | Feature::Ballots)
}

impl CLike for OpenCl {
    fn name(&self) -> &'static str {
        if self.lanes.is_some() { "OpenCL C with sub-groups" } else { "OpenCL C" }
    }

    fn word(&self) -> &'static str {
        if self.lanes.is_some() { "opencl-sub-groups" } else { "opencl" }
    }

    fn extension(&self) -> &'static str {
        "cl"
    }

    /// Only warps may be missing. Copies are made at once, and an in-order queue runs one launch after another, so the
    /// portable bodies serve.
    fn has(&self, feature: Feature) -> bool {
        self.lanes.is_some() || !is_of_warps(&feature)
    }

    fn warp(&self) -> u32 {
        self.lanes.unwrap_or(WARP)
    }

    /// The implementation chooses how rows of a work-group form sub-groups.
    fn warps_are_in_rows(&self) -> bool {
        true
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
        // Extensions that only add functions are not enabled: compilers warn about such pragmas.
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
        let lanes = match self.lanes {
            Some(lanes) if has_warps(kernel) => format!(" __attribute__((intel_reqd_sub_group_size({lanes})))"),
            _ => String::new(),
        };
        format!("__kernel __attribute__((reqd_work_group_size({x}, {y}, {z}))){lanes}\nvoid {name}(")
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

    fn shared_array(&self, element: Scalar, name: &str, len: &str) -> Option<String> {
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

    fn sync_warp(&self) -> Option<&'static str> {
        Some("sub_group_barrier(CLK_LOCAL_MEM_FENCE);")
    }

    /// A shuffle from a lane that does not exist is undefined, so such a lane reads its own value.
    fn shuffle(&self, _: Scalar, value: &str, lane: &Lane, at: &str) -> Option<String> {
        let (own, lanes) = ("get_sub_group_local_id()", self.warp());
        Some(match lane {
            Lane::Up(_) => format!("sub_group_shuffle({value}, {own} - ({own} < {at}u ? 0u : {at}u))"),
            Lane::Down(n) => {
                let last = lanes.saturating_sub(*n);
                format!("sub_group_shuffle({value}, {own} + ({own} < {last}u ? {at}u : 0u))")
            }
            Lane::Xor(_) => format!("sub_group_shuffle_xor({value}, {at}u)"),
            Lane::Index(_) => format!("sub_group_shuffle({value}, (uint)({at}) % {lanes}u)"),
        })
    }

    fn ballot(&self, cond: &str) -> Option<String> {
        let bits = format!("sub_group_ballot({cond})");
        Some(if self.warp() > 32 { format!("as_ulong({bits}.xy)") } else { format!("{bits}.x") })
    }

    fn unrolling(&self, unroll: bool) -> Option<&'static str> {
        Some(if unroll { "#pragma unroll" } else { "#pragma unroll 1" })
    }

    /// Wide accesses use vector types; their addresses are aligned for these.
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

/// Words reserved in OpenCL C, in addition to those of C.
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
    "get_sub_group_local_id",
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
    "sub_group_ballot",
    "sub_group_barrier",
    "sub_group_shuffle",
    "sub_group_shuffle_xor",
    "uchar",
    "uint",
    "ulong",
    "ushort",
    "write_only",
];
