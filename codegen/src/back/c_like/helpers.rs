//! Helper functions of emitted text: a file defines only those it calls.

use crate::back::dialect::{CLike, Memory};
use crate::ir::{Cache, Scalar};
use std::collections::BTreeSet;

/// A helper function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Helper {
    /// `mirror(i, n)`.
    Mirror,
    /// `mirror_far(i, n)`: a called function, for when one reflection is not enough.
    MirrorFar,
    /// `mirror_near(i, n)`: `mirror`, but it tries one reflection first and calls `mirror_far` otherwise.
    MirrorNear,
    /// `wrap(i, n)`.
    Wrap,
    /// `min_i32(a, b)`, and likewise for other types.
    Min(Scalar),
    /// `max_i32(a, b)`, and likewise for other types.
    Max(Scalar),
    /// `count_ones_u32(a)`, and likewise for other types.
    CountOnes(Scalar),
    /// `leading_zeros_u32(a)`, and likewise for other types.
    LeadingZeros(Scalar),
    /// Storage to arithmetic: `f16_to_f32`, `bf16_to_f32`.
    Widen(Scalar),
    /// Arithmetic to storage: `f32_to_f16`, `f32_to_bf16`.
    Narrow(Scalar),
    /// Two 16-bit values in a 32-bit word, for a single store. Only other helpers call it.
    Word,
    /// Two 16-bit values in a 32-bit word, each taken from a word, from a byte on.
    Pack(u8, u8),
    /// `dot(pair, low, high, sum)`.
    Dot,
    /// `load_f32x4(to, from)`.
    Load {
        /// Element type.
        element: Scalar,
        /// Number of elements.
        lanes: u32,
        /// Cache hint.
        hint: Hint,
        /// Memory to load from, in languages whose pointer types name it.
        memory: Option<Memory>,
    },
    /// `store_f32x4(to, from values…)`.
    Store {
        /// Element type.
        element: Scalar,
        /// Number of elements.
        lanes: u32,
        /// Cache hint.
        hint: Hint,
        /// Memory to store to, in languages whose pointer types name it.
        memory: Option<Memory>,
    },
    /// `copy_async_f32x4(to, from, valid)`.
    CopyAsync(Scalar, u32),
    /// `commit_copies()`.
    CommitCopies,
    /// `wait_copies_2()`.
    WaitCopies(u32),
    /// `allow_launch()`.
    AllowLaunch,
    /// `wait_launches()`.
    WaitLaunches,
    /// `resident(blocks)`, a constant of a kernel's head.
    Resident,
}

/// [`Cache`], with an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Hint {
    None,
    Streaming,
    ReadOnly,
    Kept,
    KeptIf,
    ReadOnlyIf,
}

impl From<Cache> for Hint {
    fn from(c: Cache) -> Hint {
        match c {
            Cache::Default => Hint::None,
            Cache::Streaming => Hint::Streaming,
            Cache::ReadOnly => Hint::ReadOnly,
            Cache::Kept => Hint::Kept,
            Cache::KeptIf(_) => Hint::KeptIf,
            Cache::ReadOnlyIf(_) => Hint::ReadOnlyIf,
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
            Hint::KeptIf => "_kept_if",
            Hint::ReadOnlyIf => "_read_only_if",
        }
    }
}

/// Definitions of these helpers, each followed by an empty line.
pub(crate) fn write(helpers: &BTreeSet<Helper>, dialect: &dyn CLike) -> String {
    let mut all = helpers.clone();
    all.extend(helpers.iter().filter_map(|h| h.choices()).flatten());
    all.extend(all.clone().iter().filter_map(|h| dialect.helper_calls(*h)));
    if all.contains(&Helper::MirrorNear) {
        all.insert(Helper::MirrorFar);
    }
    all.iter().map(|h| h.definition(dialect) + "\n").collect()
}

impl Helper {
    /// The helpers that this one calls for its two hints, the hinted one first.
    pub(crate) fn choices(self) -> Option<[Helper; 2]> {
        match self {
            Helper::Load { element, lanes, hint: Hint::ReadOnlyIf, memory } => {
                Some([Hint::ReadOnly, Hint::None].map(|hint| Helper::Load { element, lanes, hint, memory }))
            }
            Helper::Store { element, lanes, hint: Hint::KeptIf, memory } => {
                Some([Hint::Kept, Hint::None].map(|hint| Helper::Store { element, lanes, hint, memory }))
            }
            _ => None,
        }
    }

    /// The function's name.
    pub fn name(self) -> String {
        let place = |memory| if memory == Some(Memory::Shared) { "_shared" } else { "" };
        match self {
            Helper::Mirror => "mirror".into(),
            Helper::MirrorFar => "mirror_far".into(),
            Helper::MirrorNear => "mirror_near".into(),
            Helper::Wrap => "wrap".into(),
            Helper::Min(s) => format!("min_{}", s.name()),
            Helper::Max(s) => format!("max_{}", s.name()),
            Helper::CountOnes(s) => format!("count_ones_{}", s.name()),
            Helper::LeadingZeros(s) => format!("leading_zeros_{}", s.name()),
            Helper::Widen(s) => format!("{}_to_f32", s.name()),
            Helper::Narrow(s) => format!("f32_to_{}", s.name()),
            Helper::Word => "pack".into(),
            Helper::Pack(low, high) => format!("pack_{low}{high}"),
            Helper::Dot => "dot".into(),
            Helper::Load { element, lanes, hint, memory } => {
                format!("load_{}x{lanes}{}{}", element.name(), hint.suffix(), place(memory))
            }
            Helper::Store { element, lanes, hint, memory } => {
                format!("store_{}x{lanes}{}{}", element.name(), hint.suffix(), place(memory))
            }
            Helper::CopyAsync(s, lanes) => format!("copy_async_{}x{lanes}", s.name()),
            Helper::CommitCopies => "commit_copies".into(),
            Helper::WaitCopies(n) => format!("wait_copies_{n}"),
            Helper::AllowLaunch => "allow_launch".into(),
            Helper::WaitLaunches => "wait_launches".into(),
            Helper::Resident => "resident".into(),
        }
    }

    fn definition(self, d: &dyn CLike) -> String {
        let own = d.helper_body(self);
        let comment: String = self.comment(own.is_some()).lines().map(|line| format!("// {line}\n")).collect();
        let kind = match self {
            Helper::MirrorFar => d.called_function().to_owned(),
            Helper::Resident => "static __host__ __device__ constexpr".into(),
            Helper::Load { hint: Hint::ReadOnlyIf, .. } | Helper::Store { hint: Hint::KeptIf, .. } => {
                format!("template <bool IS>\n{}", d.function())
            }
            _ => d.function().to_owned(),
        };
        let (result, parameters) = self.signature(d);
        let body = own.unwrap_or_else(|| self.body(d));
        format!("{comment}{kind} {result} {}({parameters})\n{{\n{body}}}\n", self.name())
    }

    /// The helper's comment, in lines; conversions mention their rounding unless it is written out.
    fn comment(self, own: bool) -> String {
        match self {
            Helper::Mirror => "Index i reflected about 0 and n - 1 until it lies between them (n >= 1).".into(),
            Helper::MirrorFar => "Index i reflected about 0 and n - 1 until it lies between them (n >= 1), \
                                  from any distance."
                .into(),
            Helper::MirrorNear => "Index i reflected about 0 and n - 1 until it lies between them (n >= 1): \
                                   one reflection is nearly always enough."
                .into(),
            Helper::Wrap => "i modulo n, in 0 .. n - 1.".into(),
            Helper::Min(_) | Helper::Max(_) => String::new(),
            Helper::CountOnes(_) => "Number of bits that are 1.".into(),
            Helper::LeadingZeros(_) => "Number of 0 bits above the highest 1.".into(),
            Helper::Widen(Scalar::F16) if !own => "IEEE binary16 to binary32, exactly.".into(),
            Helper::Narrow(Scalar::F16) if !own => "binary32 to IEEE binary16, to nearest, ties to even.".into(),
            Helper::Narrow(Scalar::Bf16) => "binary32 to bfloat16, to nearest, ties to even.".into(),
            Helper::Widen(_) | Helper::Narrow(_) => String::new(),
            Helper::Word => "Two 16-bit samples in one word, the first in the low half.".into(),
            Helper::Pack(low, high) => format!(
                "Two 16-bit samples in one word: the first begins at byte {low} of a, the second at byte {high} of b."
            ),
            Helper::Dot => {
                "sum + low * a + high * b, where pair holds the 16-bit samples a and b; weights have 8 bits.".into()
            }
            Helper::Store { hint: Hint::Kept, .. } => {
                "The next launch reads this: the L2 cache should evict it last.".into()
            }
            Helper::Load { .. } | Helper::Store { .. } => String::new(),
            Helper::CopyAsync(s, lanes) => format!(
                "Starts copying {lanes} samples to shared memory. Only the first `valid` are read; the others become \
                 zero.\n\
                 Both sides are aligned to {} bytes; if nothing is read, `from` may be anything.",
                s.bytes() as u32 * lanes
            ),
            Helper::CommitCopies => "Closes the group of copies started so far.".into(),
            Helper::WaitCopies(0) => "Waits for all groups of copies.".into(),
            Helper::WaitCopies(1) => "Waits for all groups of copies but the latest.".into(),
            Helper::WaitCopies(n) => format!("Waits for all groups of copies but the latest {n}."),
            Helper::AllowLaunch => {
                "Where launches overlap: the next one may begin when all blocks of this one have called this.".into()
            }
            Helper::WaitLaunches => "Waits until all earlier launches have ended and their results can be read.".into(),
            Helper::Resident => {
                "Resident blocks to ask the compiler for (0: as it likes); fewer for Blackwell, whose code needs more\n\
                 registers."
                    .into()
            }
        }
    }

    /// Result type and parameters.
    fn signature(self, d: &dyn CLike) -> (&'static str, String) {
        let (int, float) = (d.type_name(Scalar::I32), d.type_name(Scalar::F32));
        let at = |memory: Option<Memory>| memory.map_or("", |memory| d.memory(memory));
        match self {
            Helper::Mirror | Helper::MirrorFar | Helper::MirrorNear | Helper::Wrap => {
                (int, format!("{int} i, {int} n"))
            }
            Helper::Min(s) | Helper::Max(s) => {
                let t = d.type_name(s);
                (t, format!("{t} a, {t} b"))
            }
            Helper::CountOnes(s) | Helper::LeadingZeros(s) => {
                let t = d.type_name(s);
                (t, format!("{t} a"))
            }
            Helper::Widen(s) => (float, format!("{} h", d.type_name(s))),
            Helper::Narrow(s) => (d.type_name(s), format!("{float} f")),
            Helper::Word | Helper::Pack(..) => (int, format!("{int} a, {int} b")),
            Helper::Dot => (int, format!("{int} pair, {int} low, {int} high, {int} sum")),
            Helper::Load { element, memory, .. } => {
                let t = d.type_name(element);
                ("void", format!("{t} *to, {}const {t} *from", at(memory)))
            }
            Helper::Store { element, lanes, memory, .. } => {
                let t = d.type_name(element);
                let values: Vec<String> = (0..lanes).map(|i| format!("{t} v{i}")).collect();
                ("void", format!("{}{t} *to, {}", at(memory), values.join(", ")))
            }
            Helper::CopyAsync(s, _) => {
                let (t, from, to) = (d.type_name(s), d.memory(Memory::Global), d.memory(Memory::Shared));
                ("void", format!("{to}{t} *to, {from}const {t} *from, int valid"))
            }
            Helper::CommitCopies | Helper::WaitCopies(_) | Helper::AllowLaunch | Helper::WaitLaunches => {
                ("void", String::new())
            }
            Helper::Resident => (int, format!("{int} blocks")),
        }
    }

    /// The portable body. Copies are made at once, and launches do not overlap.
    fn body(self, d: &dyn CLike) -> String {
        let (int, uint) = (d.type_name(Scalar::I32), d.type_name(Scalar::U32));
        // Any number of reflections.
        let far = format!(
            "    if (n == 1) return 0;\n    \
             const {uint} period = 2 * ({uint})(n - 1);\n    \
             const {uint} j = (i < 0 ? 0 - ({uint})i : ({uint})i) % period;\n    \
             return ({int})(j < ({uint})n ? j : period - j);\n"
        );
        match self {
            Helper::Mirror => format!("    if (i >= 0 && i < n) return i;\n{far}"),
            Helper::MirrorFar => far,
            Helper::MirrorNear => format!(
                "    if (i >= 0 && i < n) return i;\n    \
                 // Negative values wrap to large ones.\n    \
                 const {uint} once = i < 0 ? 0 - ({uint})i : 2 * ({uint})(n - 1) - ({uint})i;\n    \
                 return once < ({uint})n ? ({int})once : {far}(i, n);\n",
                far = Helper::MirrorFar.name()
            ),
            Helper::Wrap => format!("    const {int} r = i % n;\n    return r < 0 ? r + n : r;\n"),
            Helper::Min(_) => "    return a < b ? a : b;\n".into(),
            Helper::Max(_) => "    return a > b ? a : b;\n".into(),
            Helper::CountOnes(s) | Helper::LeadingZeros(s) => {
                let unsigned = if s.bytes() == 8 { Scalar::U64 } else { Scalar::U32 };
                let (t, bits) = (d.type_name(s), d.type_name(unsigned));
                let counts = match self {
                    Helper::CountOnes(_) => format!("    {t} n = 0;\n    for (; x != 0; x &= x - 1) ++n;\n"),
                    _ => format!("    {t} n = {};\n    for (; x != 0; x >>= 1) --n;\n", 8 * s.bytes()),
                };
                format!("    {bits} x = ({bits})a;\n{counts}    return n;\n")
            }
            Helper::Widen(s) => widen(s, d),
            Helper::Narrow(s) => narrow(s, d),
            Helper::Word => format!("    return ({int})((({uint})a & 0xffffu) | (({uint})b << 16));\n"),
            Helper::Pack(low, high) => {
                let [low, high] = [low, high].map(|byte| 8 * u32::from(byte));
                format!("    return ({int})((({uint})a >> {low} & 0xffffu) | (({uint})b >> {high} << 16));\n")
            }
            Helper::Dot => {
                let short = d.type_name(Scalar::I16);
                let (a, b) = (format!("({short})pair"), format!("({short})(({uint})pair >> 16)"));
                format!("    return ({int})(({uint})sum + ({uint})({a} * low) + ({uint})({b} * high));\n")
            }
            Helper::Load { lanes, .. } => (0..lanes).map(|i| format!("    to[{i}] = from[{i}];\n")).collect(),
            Helper::Store { lanes, .. } => (0..lanes).map(|i| format!("    to[{i}] = v{i};\n")).collect(),
            Helper::CopyAsync(s, lanes) => {
                format!("    for (int i = 0; i < {lanes}; ++i) to[i] = i < valid ? from[i] : ({})0;\n", d.type_name(s))
            }
            Helper::CommitCopies | Helper::WaitCopies(_) | Helper::AllowLaunch | Helper::WaitLaunches => String::new(),
            Helper::Resident => "    return blocks;\n".into(),
        }
    }
}

/// The statement that copies the bits of `from` into `to`.
fn copy_bits(d: &dyn CLike, to: &str, s: Scalar, from: &str) -> String {
    match d.reinterpret(s, from) {
        Some(value) => format!("{to} = {value};"),
        None => format!("memcpy(&{to}, &{from}, sizeof {to});"),
    }
}

fn widen(s: Scalar, d: &dyn CLike) -> String {
    let uint = d.type_name(Scalar::U32);
    let f = copy_bits(d, "f", Scalar::F32, "u");
    if s == Scalar::Bf16 {
        return format!("    const {uint} u = ({uint})h << 16;\n    float f;\n    {f}\n    return f;\n");
    }
    let u = copy_bits(d, "u", Scalar::U32, "f");
    format!(
        "    const {uint} sign = ({uint})(h & 0x8000u) << 16;\n    \
         const {uint} exponent = (h >> 10) & 0x1fu;\n    \
         const {uint} mantissa = h & 0x3ffu;\n    \
         {uint} u;\n    \
         float f;\n    \
         if (exponent == 0) {{\n        \
             f = (float)mantissa * 5.9604644775390625e-8f;\n        \
             {u}\n        \
             u |= sign;\n    \
         }} else if (exponent == 31) {{\n        \
             u = sign | 0x7f800000u | mantissa << 13;\n    \
         }} else {{\n        \
             u = sign | (exponent + 112) << 23 | mantissa << 13;\n    \
         }}\n    \
         {f}\n    \
         return f;\n"
    )
}

fn narrow(s: Scalar, d: &dyn CLike) -> String {
    let bits = d.type_name(s);
    let uint = d.type_name(Scalar::U32);
    let u = match d.reinterpret(Scalar::U32, "f") {
        Some(value) if s == Scalar::Bf16 => format!("    const {uint} u = {value};\n"),
        _ => format!("    {uint} u;\n    {}\n", copy_bits(d, "u", Scalar::U32, "f")),
    };
    if s == Scalar::Bf16 {
        return format!(
            "{u}    \
             if ((u & 0x7fffffffu) > 0x7f800000u) return ({bits})(u >> 16 | 0x40u);\n    \
             return ({bits})((u + 0x7fffu + (u >> 16 & 1u)) >> 16);\n"
        );
    }
    let below = "                                 // below 2^-14: subnormal, in units of 2^-24";
    format!(
        "{u}    \
         const {uint} sign = u >> 16 & 0x8000u;\n    \
         u &= 0x7fffffffu;\n    \
         if (u > 0x7f800000u) return ({bits})(sign | 0x7e00u);\n    \
         if (u >= 0x477ff000u) return ({bits})(sign | 0x7c00u);  // rounds to 65536 or more: infinite\n    \
         if (u < 0x38800000u) {{{below}\n        \
             const {uint} shift = 126 - (u >> 23);\n        \
             if (shift > 24) return ({bits})sign;\n        \
             const {uint} m = (u & 0x7fffffu) | 0x800000u;\n        \
             const {uint} rest = m & (((({uint})1) << shift) - 1), tie = (({uint})1) << (shift - 1);\n        \
             const {uint} q = m >> shift;\n        \
             return ({bits})(sign | (q + (rest > tie || (rest == tie && (q & 1u)))));\n    \
         }}\n    \
         u += 0xfffu + (u >> 13 & 1u);\n    \
         return ({bits})(sign | ((u - 0x38000000u) >> 13));\n"
    )
}
