//! CUDA bodies of helper functions for which devices have instructions.

use super::Cuda;
use crate::back::c_like::{Helper, Hint};
use crate::back::dialect::CLike;
use crate::ir::Scalar;
use std::fmt::Write;

/// The body, where an instruction is faster than the portable one.
pub(super) fn body(h: Helper) -> Option<String> {
    let value = |text: String| format!("    return {text};\n");
    if let Some([hinted, plain]) = h.choices() {
        let arguments = match h {
            Helper::Store { lanes, .. } => (0..lanes).map(|i| format!(", v{i}")).collect::<String>(),
            _ => ", from".into(),
        };
        return Some(format!(
            "    if (IS) {}(to{arguments});\n    else {}(to{arguments});\n",
            hinted.name(),
            plain.name()
        ));
    }
    Some(match h {
        Helper::Pack(low, high) => {
            let selector = [high + 5, high + 4, low + 1, low].map(|byte| byte.to_string()).concat();
            value(format!("(int)__byte_perm((unsigned)a, (unsigned)b, 0x{selector}u)"))
        }
        Helper::Dot => value("__dp2a_lo(pair, (low & 255) | (high & 255) << 8, sum)".into()),
        Helper::Widen(Scalar::Bf16) => value("__uint_as_float((unsigned)h << 16)".into()),
        Helper::Widen(_) => {
            "    float f;\n    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(h));\n    return f;\n".into()
        }
        Helper::Narrow(Scalar::F16) => "    unsigned short h;\n    \
             asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(f));\n    \
             return h;\n"
            .into(),
        Helper::Load { element, lanes, hint, .. } => load(element, lanes, hint),
        Helper::Store { element, lanes, hint, .. } => store(element, lanes, hint),
        Helper::CopyAsync(s, lanes) => copy_async(s, lanes),
        Helper::CommitCopies => instruction(800, "cp.async.commit_group;"),
        Helper::WaitCopies(n) => instruction(800, &format!("cp.async.wait_group {n};")),
        Helper::AllowLaunch => instruction(900, "griddepcontrol.launch_dependents;"),
        Helper::WaitLaunches => instruction(900, "griddepcontrol.wait;"),
        Helper::Resident => "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000\n    \
             return blocks > 1 ? blocks - 1 : 1;\n\
             #else\n    \
             return blocks;\n\
             #endif\n"
            .into(),
        _ => return None,
    })
}

/// One instruction, from an architecture on. Older ones need nothing: their copies are synchronous, and launches do not
/// overlap.
fn instruction(since: u32, text: &str) -> String {
    format!("#if __CUDA_ARCH__ >= {since}\n    asm volatile(\"{text}\" ::: \"memory\");\n#endif\n")
}

fn copy_async(s: Scalar, lanes: u32) -> String {
    let t = Cuda.type_name(s);
    let bytes = s.bytes() as u32 * lanes;
    // Only 16-byte copies can bypass the L1 cache.
    let cache = if bytes == 16 { "cg" } else { "ca" };
    let size = s.bytes();
    let mask = bytes - 1;
    format!(
        "#if __CUDA_ARCH__ >= 800\n    \
             const unsigned target = (unsigned)__cvta_generic_to_shared(to);\n    \
             const size_t source = __cvta_generic_to_global(from) & ~(size_t){mask};\n    \
             asm volatile(\"cp.async.{cache}.shared.global [%0], [%1], {bytes}, %2;\"\n        \
                          :: \"r\"(target), \"l\"(source), \"r\"(valid * {size}) : \"memory\");\n\
         #else\n    \
             for (int i = 0; i < {lanes}; ++i) to[i] = i < valid ? from[i] : ({t})0;\n\
         #endif\n"
    )
}

/// The vector type of `lanes` samples, and its number of elements.
fn vector(s: Scalar, lanes: u32) -> (&'static str, u32) {
    match (s, s.bytes() as u32 * lanes) {
        (Scalar::I64, 16) => ("longlong2", 2),
        (Scalar::U64, 16) => ("ulonglong2", 2),
        (Scalar::F64, 16) => ("double2", 2),
        (Scalar::F32, 8) => ("float2", 2),
        (Scalar::F32, 16) => ("float4", 4),
        (Scalar::U32, 8) => ("uint2", 2),
        (Scalar::U32, 16) => ("uint4", 4),
        (_, 4) => ("int", 1),
        (_, 8) => ("int2", 2),
        _ => ("int4", 4),
    }
}

const FIELDS: [&str; 4] = [".x", ".y", ".z", ".w"];

fn field(elements: u32, i: u32) -> &'static str {
    if elements == 1 { "" } else { FIELDS[i as usize] }
}

fn load(s: Scalar, lanes: u32, hint: Hint) -> String {
    let t = Cuda.type_name(s);
    let (v, elements) = vector(s, lanes);
    let address = format!("reinterpret_cast<const {v} *>(from)");
    let value = match hint {
        Hint::None | Hint::Kept | Hint::KeptIf | Hint::ReadOnlyIf => format!("*{address}"),
        Hint::Streaming => format!("__ldcs({address})"),
        Hint::ReadOnly => format!("__ldg({address})"),
    };
    let mut out = format!("    const {v} v = {value};\n");
    for i in 0..lanes {
        let _ = match (s.bytes(), i % 2) {
            (2, 0) => writeln!(out, "    to[{i}] = ({t})v{};", field(elements, i / 2)),
            (2, _) => writeln!(out, "    to[{i}] = ({t})(v{} >> 16);", field(elements, i / 2)),
            _ => writeln!(out, "    to[{i}] = v{};", field(elements, i)),
        };
    }
    out
}

fn store(s: Scalar, lanes: u32, hint: Hint) -> String {
    let t = Cuda.type_name(s);
    let mut out = String::new();
    let (v, elements) = match lanes {
        1 => (t, 1),
        _ => vector(s, lanes),
    };
    let parts: Vec<String> = (0..elements)
        .map(|i| match s.bytes() {
            2 if lanes > 1 => format!("pack(v{}, v{})", 2 * i, 2 * i + 1),
            _ => format!("v{i}"),
        })
        .collect();
    let value = if elements == 1 { parts.concat() } else { format!("make_{v}({})", parts.join(", ")) };
    let address = format!("reinterpret_cast<{v} *>(to)");
    match hint {
        Hint::Streaming => out += &format!("    __stcs({address}, {value});\n"),
        Hint::Kept => {
            // The assembler's constraint and type of an element.
            let (constraint, kind) = match (s, s.bytes() as u32 * lanes / elements) {
                (Scalar::F32, _) => ("f", "f32"),
                (Scalar::F64, _) => ("d", "f64"),
                (_, 2) => ("h", "b16"),
                (_, 4) => ("r", "b32"),
                _ => ("l", "b64"),
            };
            let list = |each: &dyn Fn(u32) -> String| (0..elements).map(each).collect::<Vec<_>>().join(", ");
            let (many, operands) = match elements {
                1 => (String::new(), "%2".into()),
                n => (format!(".v{n}"), format!("{{{}}}", list(&|i| format!("%{}", i + 2)))),
            };
            let values = list(&|i| format!("\"{constraint}\"(v{})", field(elements, i)));
            out += &format!(
                "    const {v} v = {value};\n\
                 #if __CUDA_ARCH__ >= 800\n    \
                     unsigned long long policy;\n    \
                     asm(\"createpolicy.fractional.L2::evict_last.b64 %0, 1.0;\" : \"=l\"(policy));\n    \
                     asm volatile(\"st.global.L2::cache_hint{many}.{kind} [%0], {operands}, %1;\"\n        \
                              :: \"l\"(__cvta_generic_to_global(to)), \"l\"(policy), {values} : \"memory\");\n\
                 #else\n    \
                     *{address} = v;\n\
                 #endif\n"
            );
        }
        Hint::None | Hint::ReadOnly | Hint::KeptIf | Hint::ReadOnlyIf => out += &format!("    *{address} = {value};\n"),
    }
    out
}
