//! The functions that emitted text may call: each is defined in a file only if something in it calls it.

use super::dialect::Dialect;
use crate::ir::{Cache, Scalar};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A helper function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Helper {
    /// `mirror(i, n)`.
    Mirror,
    /// `mirror_far(i, n)`: a function that is called, for where one reflection is not enough.
    MirrorFar,
    /// `mirror_near(i, n)`: the same as `mirror`, which tries one reflection and else calls.
    MirrorNear,
    /// `wrap(i, n)`.
    Wrap,
    /// `min_i32(a, b)` and its like; CUDA has its own.
    Min(Scalar),
    /// `max_i32(a, b)` and its like; CUDA has its own.
    Max(Scalar),
    /// Storage to arithmetic: `f16_to_f32`, `bf16_to_f32`.
    Widen(Scalar),
    /// Arithmetic to storage: `f32_to_f16`, `f32_to_bf16`.
    Narrow(Scalar),
    /// Two 16-bit values in a 32-bit word: what is stored at once; CUDA only.
    Word,
    /// The same of 16 bits of two others, from a byte on of each.
    Pack(u8, u8),
    /// `dot(pair, low, high, sum)`.
    Dot,
    /// `load_f32x4(to, from)`.
    Load(Scalar, u32, Hint),
    /// `store_f32x4(to, from values…)`.
    Store(Scalar, u32, Hint),
    /// `copy_async_f32x4(to, from, valid)`; CUDA only, as the two below.
    CopyAsync(Scalar, u32),
    /// `commit_copies()`.
    CommitCopies,
    /// `wait_copies_2()`.
    WaitCopies(u32),
    /// `allow_launch()`; CUDA only, as the one below.
    AllowLaunch,
    /// `wait_launches()`.
    WaitLaunches,
}

/// [`Cache`] with an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Hint {
    None,
    Streaming,
    ReadOnly,
    Kept,
}

impl From<Cache> for Hint {
    fn from(c: Cache) -> Hint {
        match c {
            Cache::Default => Hint::None,
            Cache::Streaming => Hint::Streaming,
            Cache::ReadOnly => Hint::ReadOnly,
            Cache::Kept => Hint::Kept,
        }
    }
}

impl Hint {
    fn suffix(self) -> &'static str {
        match self {
            Hint::None => "",
            Hint::Streaming => "_streaming",
            Hint::ReadOnly => "_read_only",
            Hint::Kept => "_kept",
        }
    }
}

impl Helper {
    /// The function's name.
    pub fn name(self) -> String {
        match self {
            Helper::Mirror => "mirror".into(),
            Helper::MirrorFar => "mirror_far".into(),
            Helper::MirrorNear => "mirror_near".into(),
            Helper::Wrap => "wrap".into(),
            Helper::Min(s) => format!("min_{}", s.name()),
            Helper::Max(s) => format!("max_{}", s.name()),
            Helper::Widen(s) => format!("{}_to_f32", s.name()),
            Helper::Narrow(s) => format!("f32_to_{}", s.name()),
            Helper::Word => "pack".into(),
            Helper::Pack(low, high) => format!("pack_{low}{high}"),
            Helper::Dot => "dot".into(),
            Helper::Load(s, lanes, hint) => format!("load_{}x{lanes}{}", s.name(), hint.suffix()),
            Helper::Store(s, lanes, hint) => format!("store_{}x{lanes}{}", s.name(), hint.suffix()),
            Helper::CopyAsync(s, lanes) => format!("copy_async_{}x{lanes}", s.name()),
            Helper::CommitCopies => "commit_copies".into(),
            Helper::WaitCopies(n) => format!("wait_copies_{n}"),
            Helper::AllowLaunch => "allow_launch".into(),
            Helper::WaitLaunches => "wait_launches".into(),
        }
    }
}

/// The definitions of the helpers asked for, each followed by an empty line.
pub fn write(helpers: &BTreeSet<Helper>, dialect: Dialect) -> String {
    let mut all = helpers.clone();
    if dialect == Dialect::Cuda && all.iter().any(|h| matches!(h, Helper::Store(s, 2.., _) if s.bytes() == 2)) {
        all.insert(Helper::Word);
    }
    if all.contains(&Helper::MirrorNear) {
        all.insert(Helper::MirrorFar);
    }
    let mut out = String::new();
    for h in &all {
        out += &definition(*h, dialect);
        out.push('\n');
    }
    out
}

fn definition(h: Helper, d: Dialect) -> String {
    let prefix = d.helper_prefix();
    let name = h.name();
    let (int, uint) = (d.type_name(Scalar::I32), d.type_name(Scalar::U32));
    // What reflects however often it takes.
    let far = format!(
        "if (n == 1) return 0;\n    \
         const {uint} period = 2 * ({uint})(n - 1);\n    \
         const {uint} j = (i < 0 ? 0 - ({uint})i : ({uint})i) % period;\n    \
         return ({int})(j < ({uint})n ? j : period - j);\n"
    );
    match h {
        Helper::Mirror => format!(
            "// Index i reflected about 0 and n - 1 until it lies between them (n >= 1).\n\
             {prefix} {int} {name}({int} i, {int} n)\n{{\n    \
                 if (i >= 0 && i < n) return i;\n    \
                 {far}}}\n"
        ),
        Helper::MirrorFar => format!(
            "// Index i reflected about 0 and n - 1 until it lies between them (n >= 1), however far away it is.\n\
             static __device__ __noinline__ {int} {name}({int} i, {int} n)\n{{\n    \
                 {far}}}\n"
        ),
        Helper::MirrorNear => format!(
            "// Index i reflected about 0 and n - 1 until it lies between them (n >= 1): once is nearly always enough.\n\
             {prefix} {int} {name}({int} i, {int} n)\n{{\n    \
                 if (i >= 0 && i < n) return i;\n    \
                 // What is negative is large here.\n    \
                 const {uint} once = i < 0 ? 0 - ({uint})i : 2 * ({uint})(n - 1) - ({uint})i;\n    \
                 return once < ({uint})n ? ({int})once : {far}(i, n);\n}}\n",
            far = Helper::MirrorFar.name()
        ),
        Helper::Wrap => format!(
            "// i modulo n, in 0 .. n - 1.\n\
             {prefix} {int} {name}({int} i, {int} n)\n{{\n    \
                 const {int} r = i % n;\n    \
                 return r < 0 ? r + n : r;\n}}\n"
        ),
        Helper::Min(s) | Helper::Max(s) => {
            let t = d.type_name(s);
            let op = if matches!(h, Helper::Min(_)) { '<' } else { '>' };
            format!("{prefix} {t} {name}({t} a, {t} b)\n{{\n    return a {op} b ? a : b;\n}}\n")
        }
        Helper::Widen(s) => widen(s, d, prefix, &name),
        Helper::Narrow(s) => narrow(s, d, prefix, &name),
        Helper::Word => format!(
            "// Two 16-bit samples in one word, the first in the low half.\n\
             {prefix} {int} {name}({int} a, {int} b)\n{{\n    \
                 return ({int})((({uint})a & 0xffffu) | (({uint})b << 16));\n}}\n"
        ),
        Helper::Pack(low, high) => {
            let value = match d {
                Dialect::Cuda => {
                    let selector = [high + 5, high + 4, low + 1, low].map(|byte| byte.to_string()).concat();
                    format!("({int})__byte_perm(({uint})a, ({uint})b, 0x{selector}u)")
                }
                Dialect::C => format!(
                    "({int})((({uint})a >> {} & 0xffffu) | (({uint})b >> {} << 16))",
                    8 * u32::from(low),
                    8 * u32::from(high)
                ),
            };
            format!(
                "// Two 16-bit samples in one word, which are in others: the first from byte {low} on, the second from byte {high} on.\n\
                 {prefix} {int} {name}({int} a, {int} b)\n{{\n    return {value};\n}}\n"
            )
        }
        Helper::Dot => {
            let value = match d {
                Dialect::Cuda => "__dp2a_lo(pair, (low & 255) | (high & 255) << 8, sum)".to_owned(),
                Dialect::C => {
                    let short = d.type_name(Scalar::I16);
                    format!(
                        "({int})(({uint})sum + ({uint})(({short})pair * low) + ({uint})(({short})(({uint})pair >> 16) * high))"
                    )
                }
            };
            format!(
                "// sum + low * a + high * b of the two 16-bit samples a and b in a word; weights of 8 bits.\n\
                 {prefix} {int} {name}({int} pair, {int} low, {int} high, {int} sum)\n{{\n    return {value};\n}}\n"
            )
        }
        Helper::Load(s, lanes, hint) => load(s, lanes, hint, d, &name),
        Helper::Store(s, lanes, hint) => store(s, lanes, hint, d, &name),
        Helper::CopyAsync(s, lanes) => copy_async(s, lanes, d, &name),
        Helper::CommitCopies => instruction(
            "Closes the group of the copies started so far.",
            800,
            "cp.async.commit_group;",
            &format!("{prefix} void {name}()"),
        ),
        Helper::WaitCopies(n) => instruction(
            &match n {
                0 => "Waits for all groups of copies.".into(),
                1 => "Waits for all groups of copies but the latest.".into(),
                n => format!("Waits for all groups of copies but the latest {n}."),
            },
            800,
            &format!("cp.async.wait_group {n};"),
            &format!("{prefix} void {name}()"),
        ),
        Helper::AllowLaunch => instruction(
            "Lets the next launch begin when all blocks of this one have, where launches overlap.",
            900,
            "griddepcontrol.launch_dependents;",
            &format!("{prefix} void {name}()"),
        ),
        Helper::WaitLaunches => instruction(
            "Waits until all launches before have ended and what they wrote can be read.",
            900,
            "griddepcontrol.wait;",
            &format!("{prefix} void {name}()"),
        ),
    }
}

/// A function that is one instruction from an architecture on, and nothing before, where copies are done at once and
/// launches do not overlap.
fn instruction(comment: &str, since: u32, text: &str, head: &str) -> String {
    format!(
        "// {comment}\n{head}\n{{\n\
         #if __CUDA_ARCH__ >= {since}\n    asm volatile(\"{text}\" ::: \"memory\");\n#endif\n}}\n"
    )
}

fn copy_async(s: Scalar, lanes: u32, d: Dialect, name: &str) -> String {
    let t = d.type_name(s);
    let bytes = s.bytes() as u32 * lanes;
    // Only 16-byte copies can pass by the first-level cache.
    let cache = if bytes == 16 { "cg" } else { "ca" };
    let size = s.bytes();
    let mask = bytes - 1;
    format!(
        "// Starts copying {lanes} samples to shared memory, of which only the first `valid` are read and the others become zero.\n\
         // Both sides are aligned to {bytes} bytes; where nothing is read, `from` may be anything.\n\
         {prefix} void {name}({t} *to, const {t} *from, int valid)\n{{\n\
         #if __CUDA_ARCH__ >= 800\n    \
             const unsigned target = (unsigned)__cvta_generic_to_shared(to);\n    \
             const size_t source = __cvta_generic_to_global(from) & ~(size_t){mask};\n    \
             asm volatile(\"cp.async.{cache}.shared.global [%0], [%1], {bytes}, %2;\"\n        \
                          :: \"r\"(target), \"l\"(source), \"r\"(valid * {size}) : \"memory\");\n\
         #else\n    \
             for (int i = 0; i < {lanes}; ++i) to[i] = i < valid ? from[i] : ({t})0;\n\
         #endif\n}}\n",
        prefix = d.helper_prefix(),
    )
}

/// The vector type that carries `lanes` samples, and the 32- or 64-bit elements that it has.
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

fn load(s: Scalar, lanes: u32, hint: Hint, d: Dialect, name: &str) -> String {
    let t = d.type_name(s);
    let mut out = format!("{} void {name}({t} *to, const {t} *from)\n{{\n", d.helper_prefix());
    if d == Dialect::C {
        for i in 0..lanes {
            let _ = writeln!(out, "    to[{i}] = from[{i}];");
        }
        return out + "}\n";
    }
    let (v, elements) = vector(s, lanes);
    let address = format!("reinterpret_cast<const {v} *>(from)");
    let value = match hint {
        Hint::None | Hint::Kept => format!("*{address}"),
        Hint::Streaming => format!("__ldcs({address})"),
        Hint::ReadOnly => format!("__ldg({address})"),
    };
    let _ = writeln!(out, "    const {v} v = {value};");
    for i in 0..lanes {
        let _ = match (s.bytes(), i % 2) {
            (2, 0) => writeln!(out, "    to[{i}] = ({t})v{};", field(elements, i / 2)),
            (2, _) => writeln!(out, "    to[{i}] = ({t})(v{} >> 16);", field(elements, i / 2)),
            _ => writeln!(out, "    to[{i}] = v{};", field(elements, i)),
        };
    }
    out + "}\n"
}

fn store(s: Scalar, lanes: u32, hint: Hint, d: Dialect, name: &str) -> String {
    let t = d.type_name(s);
    let args: Vec<String> = (0..lanes).map(|i| format!("{t} v{i}")).collect();
    let mut out = String::new();
    if hint == Hint::Kept {
        out += "// A launch that follows reads this: the second-level cache is to give it up last.\n";
    }
    out += &format!("{} void {name}({t} *to, {})\n{{\n", d.helper_prefix(), args.join(", "));
    if d == Dialect::C {
        for i in 0..lanes {
            let _ = writeln!(out, "    to[{i}] = v{i};");
        }
        return out + "}\n";
    }
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
            // What an element of the vector is to the assembler.
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
        Hint::None | Hint::ReadOnly => out += &format!("    *{address} = {value};\n"),
    }
    out + "}\n"
}

fn widen(s: Scalar, d: Dialect, prefix: &str, name: &str) -> String {
    let bits = d.type_name(s);
    let uint = d.type_name(Scalar::U32);
    match (s, d) {
        (Scalar::Bf16, Dialect::Cuda) => {
            format!("{prefix} float {name}({bits} h)\n{{\n    return __uint_as_float(({uint})h << 16);\n}}\n")
        }
        (Scalar::Bf16, Dialect::C) => format!(
            "{prefix} float {name}({bits} h)\n{{\n    \
                 const {uint} u = ({uint})h << 16;\n    \
                 float f;\n    \
                 memcpy(&f, &u, sizeof f);\n    \
                 return f;\n}}\n"
        ),
        (_, Dialect::Cuda) => format!(
            "{prefix} float {name}({bits} h)\n{{\n    \
                 float f;\n    \
                 asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(h));\n    \
                 return f;\n}}\n"
        ),
        (_, Dialect::C) => format!(
            "// IEEE binary16 to binary32, exactly.\n\
             {prefix} float {name}({bits} h)\n{{\n    \
                 const {uint} sign = ({uint})(h & 0x8000u) << 16;\n    \
                 const {uint} exponent = (h >> 10) & 0x1fu;\n    \
                 const {uint} mantissa = h & 0x3ffu;\n    \
                 {uint} u;\n    \
                 float f;\n    \
                 if (exponent == 0) {{\n        \
                     f = (float)mantissa * 5.9604644775390625e-8f;\n        \
                     memcpy(&u, &f, sizeof u);\n        \
                     u |= sign;\n    \
                 }} else if (exponent == 31) {{\n        \
                     u = sign | 0x7f800000u | mantissa << 13;\n    \
                 }} else {{\n        \
                     u = sign | (exponent + 112) << 23 | mantissa << 13;\n    \
                 }}\n    \
                 memcpy(&f, &u, sizeof f);\n    \
                 return f;\n}}\n"
        ),
    }
}

fn narrow(s: Scalar, d: Dialect, prefix: &str, name: &str) -> String {
    let bits = d.type_name(s);
    let uint = d.type_name(Scalar::U32);
    let to_bits = match d {
        Dialect::Cuda => format!("    const {uint} u = __float_as_uint(f);\n"),
        Dialect::C => format!("    {uint} u;\n    memcpy(&u, &f, sizeof u);\n"),
    };
    match (s, d) {
        (Scalar::Bf16, _) => format!(
            "// binary32 to bfloat16, to nearest, ties to even.\n\
             {prefix} {bits} {name}(float f)\n{{\n{to_bits}    \
                 if ((u & 0x7fffffffu) > 0x7f800000u) return ({bits})(u >> 16 | 0x40u);\n    \
                 return ({bits})((u + 0x7fffu + (u >> 16 & 1u)) >> 16);\n}}\n"
        ),
        (_, Dialect::Cuda) => format!(
            "{prefix} {bits} {name}(float f)\n{{\n    \
                 {bits} h;\n    \
                 asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(f));\n    \
                 return h;\n}}\n"
        ),
        (_, Dialect::C) => format!(
            "// binary32 to IEEE binary16, to nearest, ties to even.\n\
             {prefix} {bits} {name}(float f)\n{{\n{to_bits}    \
                 const {uint} sign = u >> 16 & 0x8000u;\n    \
                 u &= 0x7fffffffu;\n    \
                 if (u > 0x7f800000u) return ({bits})(sign | 0x7e00u);\n    \
                 if (u >= 0x477ff000u) return ({bits})(sign | 0x7c00u);  // rounds to 65536 or more: infinite\n    \
                 if (u < 0x38800000u) {{                                 // below 2^-14: subnormal, in units of 2^-24\n        \
                     const {uint} shift = 126 - (u >> 23);\n        \
                     if (shift > 24) return ({bits})sign;\n        \
                     const {uint} m = (u & 0x7fffffu) | 0x800000u;\n        \
                     const {uint} rest = m & (((({uint})1) << shift) - 1), half = (({uint})1) << (shift - 1);\n        \
                     const {uint} q = m >> shift;\n        \
                     return ({bits})(sign | (q + (rest > half || (rest == half && (q & 1u)))));\n    \
                 }}\n    \
                 u += 0xfffu + (u >> 13 & 1u);\n    \
                 return ({bits})(sign | ((u - 0x38000000u) >> 13));\n}}\n"
        ),
    }
}
