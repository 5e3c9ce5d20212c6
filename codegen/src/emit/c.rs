//! `<wavelet>.c`: a complete transform for CPUs.

use super::passes::{margin, with_calls};
use super::private::{CAPITALS, PREFIX};
use super::sweep::Sweeps;
use super::template::Template;
use super::{EmitError, Passes, Request, kernel_name, privatised};
use crate::back::{C, CLike, Dialect, FLOAT_PRELUDE, PRELUDE, RESTRICT};
use crate::ir::Scalar;
use lifting_dsl::Boundary;
use std::collections::BTreeSet;

/// The C type of samples.
pub fn sample_type(s: Scalar) -> &'static str {
    C.type_name(s)
}

/// Check of the periodic border rule: an even number of samples at every level.
pub fn periodic_check(boundary: Boundary) -> &'static str {
    match boundary {
        Boundary::Periodic => {
            "    for (int level = 0; level < depth_of(shape); ++level) {\n        \
                 const level_shape l = level_at(shape, level);\n        \
                 for (int i = 0; i < l.passes; ++i) {\n            \
                     if (l.size[l.order[i]] % 2 != 0) return @U@_ODD_PERIODIC;\n        \
                 }\n    \
             }\n"
        }
        _ => "",
    }
}

pub(super) const FORWARD_DOC: &str = "\
/* Analysis: signal to bands. `signal` and `bands` are arrays of the given shape; they must not overlap. `scratch` holds
   @W@_@P@scratch_bytes_@S@(shape) bytes, aligned as malloc aligns.@DEVICE_DOC@ Returns @U@_OK or an error code. */";

pub(super) const INVERSE_DOC: &str = "\
/* Synthesis: bands to signal. Bands are only read. Arguments and result are those of @W@_@P@forward_@S@. */";

/// Comment of the scratch functions.
pub const SCRATCH_DOC: &str = "\
/* Scratch memory for a transform of this shape, in bytes; 0 also if the shape is invalid. */";

/// Comment on device memory, for CUDA functions.
pub const DEVICE_DOC: &str = "
   All three are device memory. The work is queued on `stream`, a cudaStream_t (NULL: the default stream); the call does
   not wait for it.";

/// Prototypes with their comments. Function names begin with the template's prefix.
pub(super) fn prototypes(t: &Template) -> String {
    t.fill(&format!(
        "{SCRATCH_DOC}\n@API@size_t @W@_@P@scratch_bytes_@S@(const @W@_shape *shape);\n\n\
         {FORWARD_DOC}\n@API@int @W@_@P@forward_@S@(const @W@_shape *shape, const @T@ *signal, @T@ *bands, void *scratch@STREAM@);\n\n\
         {INVERSE_DOC}\n@API@int @W@_@P@inverse_@S@(const @W@_shape *shape, const @T@ *bands, @T@ *signal, void *scratch@STREAM@);\n"
    ))
}

/// A template with the placeholders that all C targets fill alike.
pub fn common(request: &Request, sample: Scalar) -> Template {
    request
        .template()
        .with("S", sample.name())
        .with("T", sample_type(sample))
        .with("MAX_GAIN", request.max_gain(sample).to_string())
        .with("GAIN", if request.gain { ", gain" } else { "" })
        .with("GAIN_UNUSED", if request.gain { "" } else { "    (void)gain;\n" })
}

/// Arrays as pointers, and the heads of transforms that take them.
pub(super) fn pointers(t: Template) -> Template {
    let (forward, inverse) = (t.fill(FORWARD_HEAD), t.fill(INVERSE_HEAD));
    let (from, to) = (t.fill("const @T@ *"), t.fill("@T@ *"));
    t.with("IN", from).with("OUT", to).with("FORWARD_HEAD", forward).with("INVERSE_HEAD", inverse)
}

/// Comments above the definitions.
pub fn docs(t: Template) -> Template {
    let (forward, inverse) = (t.fill(FORWARD_DOC), t.fill(INVERSE_DOC));
    t.with("FORWARD_DOC", forward).with("INVERSE_DOC", inverse)
}

/// Functions for callers that do not compile the header.
const EXPORTED: &str = "\
/* @W@_array and @W@_message as exported functions, for callers that cannot compile this header, for
   instance Python's ctypes. */
@U@_API void @W@_set_array(@W@_shape *shape, int axes, const int64_t *size, int levels);
@U@_API const char *@W@_message_of(int code);
";

const EXPORTED_TEXT: &str = "
void @W@_set_array(@W@_shape *shape, int axes, const int64_t *size, int levels)
{
    *shape = @W@_array(axes, size, levels);
}

const char *@W@_message_of(int code)
{
    return @W@_message(code);
}
";

/// Declarations for the header: exported constructors, or the functions of a sample type.
pub(super) fn declarations(request: &Request, sample: Option<Scalar>) -> String {
    let Some(sample) = sample else { return request.template().fill(EXPORTED) };
    let api = request.template().fill("@U@_API ");
    prototypes(&common(request, sample).with("API", api).with("P", "").with("STREAM", "").with("DEVICE_DOC", ""))
}

/// Scratch memory of files without sweeps.
const SCRATCH: &str = "\
static size_t box_bytes_@S@(const @W@_shape *shape)
{
    return ((size_t)box_samples(shape) * sizeof(@T@) + 63) / 64 * 64;
}

/* Length of each of the two row buffers, in samples. */
static size_t row_samples_@S@(const @W@_shape *shape)
{
    return (size_t)(shape->size[shape->axes - 1] / 2) + @EXTRA@;
}

@SCRATCH_DOC@
size_t @W@_scratch_bytes_@S@(const @W@_shape *shape)
{
    if (check(shape, sizeof(@T@), @MAX_GAIN@) != @U@_OK) return 0;
    return box_bytes_@S@(shape) + 2 * row_samples_@S@(shape) * sizeof(@T@);
}
";

/// The header's prototypes, for files without it: compilers warn of functions without any.
const PROTOTYPES: &str = "
#ifndef @U@_H
@U@_API size_t @W@_scratch_bytes_@S@(const @W@_shape *shape);
@U@_API int @W@_forward_@S@(const @W@_shape *shape, const @T@ *signal, @T@ *bands, void *scratch);
@U@_API int @W@_inverse_@S@(const @W@_shape *shape, const @T@ *bands, @T@ *signal, void *scratch);
#endif
";

/// Run-time test for options that change results and define no macro.
const ROUNDS: &str = "
/* Whether each operation is rounded once: no fused multiply-add, no other order of additions, no flush to zero. */
@ROUNDS_TARGET@static int @ROUNDS_NAME@_@S@(void)
{
    const @T@ near = 1 / (@T@)(sizeof(@T@) == 4 ? 8192 : 134217728);
    volatile @T@ near_one = 1 + near, square = 1 + 2 * near, large = 1 / near / near * 16, one = 1, half = (@T@)0.5;
    volatile @T@ least = sizeof(@T@) == 4 ? (@T@)FLT_MIN : (@T@)DBL_MIN, fused, moved, small;
    const @T@ a = near_one, b = square, x = large, y = one;
    fused = a * a - b;
    moved = (x + y) - x;
    small = least * half;
    return fused == 0 && moved == 0 && small + small == least;
}
";

/// The test of sample types, also for AVX-512 functions, as they have fused multiply-adds; and the placeholder of its
/// call.
fn rounds(t: Template, is_real: bool, is_wide: bool) -> (String, Template) {
    if !is_real {
        return (String::new(), t.with("ROUNDS_CHECK", ""));
    }
    let named = |name: &str, target: &str| {
        t.clone().with("ROUNDS_TARGET", t.fill(target)).with("ROUNDS_NAME", name).fill(ROUNDS)
    };
    let mut text = named("rounds", "");
    let mut check = t.fill("    if (!rounds_@S@()) return @U@_FAST_MATH;\n");
    if is_wide {
        let guarded = |text: &str| format!("{}{text}#endif\n", t.fill("#if @WIDE_IF@\n"));
        text += &format!("\n{}", guarded(named("rounds_wide", "@U@_TARGET ").trim_start()));
        check += &guarded(&t.fill("    if (has_wide() && !rounds_wide_@S@()) return @U@_FAST_MATH;\n"));
    }
    (text, t.with("ROUNDS_CHECK", check))
}

/// Heads of C's and CUDA's transforms, whose arrays are pointers.
const FORWARD_HEAD: &str = "\
@EXPORT@int @W@_@P@forward_@S@(const @W@_shape *shape, const @T@ *signal, @T@ *bands, void *scratch@STREAM@)
{
    int code = check(shape, sizeof(@T@), @MAX_GAIN@);
    if (code != @U@_OK) return code;
    if (signal == NULL || bands == NULL || (scratch == NULL && @W@_@P@scratch_bytes_@S@(shape) > 0)) return @U@_NULL;
@ROUNDS_CHECK@    @T@ *const box = (@T@ *)scratch;
";
const INVERSE_HEAD: &str = "\
@EXPORT@int @W@_@P@inverse_@S@(const @W@_shape *shape, const @T@ *bands, @T@ *signal, void *scratch@STREAM@)
{
    int code = check(shape, sizeof(@T@), @MAX_GAIN@);
    if (code != @U@_OK) return code;
    if (signal == NULL || bands == NULL || (scratch == NULL && @W@_@P@scratch_bytes_@S@(shape) > 0)) return @U@_NULL;
@ROUNDS_CHECK@    @T@ *const box = (@T@ *)scratch;
";

/// Scratch rows of files without sweeps.
const ROWS: &str = "    @T@ *const evens = (@T@ *)(void *)((char *)scratch + box_bytes_@S@(shape));
    @T@ *const odds = evens + row_samples_@S@(shape);
";

/// Lines of one sample at an odd position, in files that sweep.
const LONE: &str = "        /* JPEG 2000 doubles a line of one sample at an odd position (T.800 F.4.6, F.3.6). */
        for (int32_t line = 0; length == 1 && parity == 1 && line < lines; ++line) {
            @T@ *const one = start + line * (along ? pitch : 1);
            @T@ *const half = bands[1] + line * (along ? band_pitch[1] : 1);
            if (s->forward) {
                *half = @LONE_UP@;
            } else {
                *one = @LONE_DOWN@;
            }
        }
        if (length == 1 && parity == 1) continue;
";
const LONE_VALUES: [[&str; 2]; 2] = [
    ["*one * 2", "*half / 2"],
    ["(@T@)((@SUM@)*one << (gain + 1))", "(@T@)((((@SIGNED@)*half >> 1) + (((@SIGNED@)1 << gain) >> 1)) >> gain)"],
];

/// Walks over all lines of a box, in files that sweep.
const OTHERS: &str = "
/* Number of places in a box along all axes but two. */
static int64_t others(int axes, const int64_t *size, int axis, int across)
{
    int64_t count = 1;
    for (int a = 0; a < axes; ++a) count *= a == axis || a == across ? 1 : size[a];
    return count;
}

/* Offset of one of these places. */
static int64_t offset_of(int axes, const int64_t *size, int axis, int across, int64_t place, const int64_t *stride)
{
    int64_t offset = 0;
    for (int a = axes - 1; a >= 0; --a) {
        if (a == axis || a == across) continue;
        offset += place % size[a] * stride[a];
        place /= size[a];
    }
    return offset;
}
";

const COPY: &str =
    "        for (int64_t r = 0; r < rows; ++r) memcpy(target + r * to_pitch, source + r * from_pitch, bytes);\n";

/// Inclusion of the file in itself.
pub(super) const INCLUSION: &str = "\
/* ---- Sample types ----
   The rest of this file is compiled once for each sample type: the file includes itself. If it has another name, define
   it: -D@M@_FILE='\"name.c\"'. */
#ifndef @M@_FILE
#define @M@_FILE \"@FILE@\"
#endif
#ifdef __has_include
#if !__has_include(@M@_FILE)
#error \"this file includes itself: name it @FILE@, or define @M@_FILE as its name in double quotes\"
#endif
#endif
";

/// The C file.
///
/// # Errors
/// If no sample type is given, or one is outside the wavelet's domain.
pub fn c(request: &Request) -> Result<String, EmitError> {
    request.check_cpu("C")?;
    let sweeps = Sweeps::new(request)?;
    let t = request.template();
    let is_real = request.samples.iter().any(|sample| !sample.is_integer());
    let mut schedule = super::sweep::schedule(
        sweeps.is_some(),
        &[
            "For speed: cc -O3. With gcc, loops are compiled for SSE2, AVX2 and AVX-512; the best runs.",
            "With OpenMP (-fopenmp), threads share the images of a batch, or the strips of an image.",
        ],
    );
    schedule.extend(request.fast_math("-ffast-math, -ffp-contract=fast or /fp:fast"));
    let is_shared = request.samples.len() > 1;
    let mut out = request.opening(&schedule);
    out.push('\n');
    if is_shared {
        out += &t.fill("#ifndef @U@_T\n");
    }
    out += PRELUDE;
    if is_real {
        out += FLOAT_PRELUDE;
    }
    if sweeps.is_some() {
        out += "#ifdef __SSE2__\n#include <immintrin.h>\n#endif\n#ifdef _OPENMP\n#include <omp.h>\n#endif\n";
    }
    out += "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n/* ---- Interface ---- */\n\n";
    let constructors = request.constructors(t.clone());
    let own = [super::API, super::CODES, super::MESSAGE, super::SHAPE, super::ARRAY, EXPORTED]
        .map(|text| constructors.fill(text));
    out += &format!("#ifndef {}_H\n{}#endif\n", t.upper(), own.join("\n"));
    out += &t.fill(EXPORTED_TEXT);
    let title = "/* ---- Rows and columns ---- */\n\n";
    let (mut helpers, mut shared) = (String::new(), String::new());
    if sweeps.is_none() {
        let of_all = kernels(request, request.samples)?;
        let one = match request.samples {
            &[a, b] => united([&kernels(request, &[a])?[1], &kernels(request, &[b])?[1]], [a, b]),
            _ => None,
        };
        let [functions, all] = of_all;
        helpers = format!("\n{RESTRICT}{functions}");
        match one {
            Some(one) => shared = format!("{title}{one}\n"),
            None => helpers += &format!("{title}{all}"),
        }
    }
    out += "\n/* ---- Shapes, levels and axes ---- */\n\n";
    let periodic = t.fill(periodic_check(request.boundary));
    let geometry = match &sweeps {
        Some(_) => concat!(include_str!("geometry.c.in"), "\n", include_str!("boxes.c.in")).to_owned() + OTHERS,
        None => super::GEOMETRY.to_owned(),
    };
    out += &t.clone().with("PERIODIC", periodic).with("FORMAT", t.fill(request.format_check())).fill(&geometry);
    match &sweeps {
        Some(sweeps) => {
            out += "\n/* ---- Instruction sets, threads and memory ---- */\n\n";
            out += &sweeps.opening(&t, request.boundary);
        }
        None => out += &helpers,
    }
    let end = "\n#ifdef __cplusplus\n}\n#endif\n";
    let defined = |index: usize| defined(request, sweeps.as_ref(), index);
    let section = macros_for_names(&shared, &CAPITALS.to_string()) + &section(request, sweeps.as_ref());
    if is_shared {
        out += &t.clone().with("M", t.upper()).with("FILE", format!("{}.c", request.file_name())).fill(INCLUSION);
        for index in 0..request.samples.len() {
            out += &t.fill(&(defined(index) + "#include @U@_FILE\n"));
        }
        let names = out.lines().filter_map(|line| line.strip_prefix("#define ")?.split([' ', '(']).next());
        let own = |name: &&str| defined(0).contains(&format!("#define {name}"));
        let mut undefined: Vec<&str> = names.filter(own).collect();
        undefined.sort_unstable();
        undefined.dedup();
        let undefined: String = undefined.iter().map(|name| format!("#undef {name}\n")).collect();
        out += &format!("{end}\n#else\n\n{section}\n{undefined}#endif\n");
    } else {
        out += &format!("\n/* ---- Sample type ---- */\n{}\n{section}{end}", t.fill(&defined(0)));
    }
    Ok(super::with_contents(&privatised(request, "c", &[], &out)))
}

/// Stands for the name of a sample type that macros give.
pub(super) const ANY: char = '\u{3}';

/// The definitions of a sample type.
fn defined(request: &Request, sweeps: Option<&Sweeps>, index: usize) -> String {
    let sample = request.samples[index];
    let (name, bits) = (sample.name(), 8 * sample.bytes());
    let mut text = format!("\n/* {name} */\n#define @U@_T {}\n", sample_type(sample));
    text += &format!("#define @U@_(name) @W@_c_##name##_{name}\n#define @U@_OF(name) @W@_##name##_{name}\n");
    if sweeps.is_none() && request.samples.len() == 2 {
        text += &format!("#define @U@_OR(a, b) {}\n", ["a", "b"][index]);
    }
    if let Some(sweeps) = sweeps {
        let [sum, signed] = match sample {
            Scalar::I64 => ["uint64_t", "int64_t"],
            sample if sample.is_integer() => ["uint32_t", "int32_t"],
            sample => [sample_type(sample); 2],
        };
        text += &format!("#define @U@_SUM {sum}\n");
        if request.gain {
            text += &format!("#define @U@_SIGNED {signed}\n");
        }
        if sweeps.has_registers() {
            text += &format!("#define @U@_BITS(a, b) a##{bits}##b\n");
        }
        if sweeps.has_registers() && !sweeps.all_have_registers() {
            text += &format!("#define @U@_REGISTERS {}\n", u8::from(sweeps.is_wide(index)));
        }
        text += &sweeps.macros(index, &request.template());
    }
    request.template().fill(&text)
}

/// Placeholders of any sample type, by the macros of [`defined`].
fn typed(request: &Request, sweeps: Option<&Sweeps>) -> Template {
    let t = request.template().with("S", ANY).with("T", "\u{2}_T");
    let max_gain = if request.gain { t.fill("8 * (int)sizeof(@T@) - 2") } else { "0".into() };
    let unsigned = if request.samples[0].is_integer() { "@U@_BITS(uint, _t)" } else { "@U@_T" };
    let wide = if sweeps.is_some_and(Sweeps::all_have_registers) { "@U@_WIDE" } else { "@U@_WIDE && @U@_REGISTERS" };
    let [unsigned, wide] = [unsigned, wide].map(|text| t.fill(text));
    t.with("SUM", "\u{2}_SUM")
        .with("SIGNED", "\u{2}_SIGNED")
        .with("UNSIGNED", unsigned)
        .with("INDEX", "\u{2}_BITS(int, _t)")
        .with("LANES", "\u{2}_BITS(\u{2}_LANES_, )")
        .with("PICK", "\u{2}_BITS(_mm512_permutex2var_epi, )")
        .with("WIDE_IF", wide)
        .with("MAX_GAIN", max_gain)
}

/// Names that end in [`ANY`] as macros that add the sample type; without it in comments. `prefix` begins the macros.
pub(super) fn macros_for_names(text: &str, prefix: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | PREFIX | CAPITALS);
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(ANY) {
        let start = rest[..at].rfind(|c| !is_word(c)).map_or(0, |i| i + 1);
        out += &rest[..start];
        let name = rest[start..at].trim_end_matches('_');
        let in_comment = out.rfind("/*") > out.rfind("*/");
        out += &match name.strip_prefix(PREFIX) {
            _ if in_comment => name.to_owned(),
            Some(public) => format!("{prefix}_OF({})", public.trim_start_matches('_')),
            None => format!("{prefix}_({name})"),
        };
        rest = &rest[at + ANY.len_utf8()..];
    }
    out + rest
}

/// Text of the kernels of files without sweeps: helper functions, and the kernels.
fn kernels(request: &Request, samples: &[Scalar]) -> Result<[String; 2], EmitError> {
    let mut kernels = Vec::new();
    for &sample in samples {
        kernels.extend(Passes::c(request, sample)?.kernels);
    }
    // Parameters are described once.
    let mut described = BTreeSet::new();
    for param in kernels.iter_mut().flat_map(|kernel| &mut kernel.params) {
        if !described.insert(param.name.clone()) {
            param.doc.clear();
        }
    }
    let kernels = super::prepared(kernels)?;
    let kernels: Vec<_> = kernels.iter().map(|(k, i)| (k, i)).collect();
    let (mut text, names) = C.write_with(&kernels, &mut C.namer())?;
    for name in &names {
        let own = kernel_name(request, name);
        text = text.replace(name, own.strip_prefix(&format!("{}_", request.prefix())).unwrap_or(name));
    }
    let first = kernels[0].0.docs.first().map_or(String::new(), |doc| format!("// {doc}\n"));
    let (helpers, rest) = text.split_at(text.find(&first).unwrap_or(0));
    Ok([helpers.to_owned(), rest.to_owned()])
}

/// The kernels of two sample types as one text, if they differ only in types, names and numbers. `OR(a, b)` is a number
/// of the first type or of the second.
fn united(texts: [&str; 2], samples: [Scalar; 2]) -> Option<String> {
    let [one, other] = texts.map(words);
    if one.len() != other.len() {
        return None;
    }
    let suffix = samples.map(|sample| format!("_{}", sample.name()));
    let types = samples.map(sample_type);
    let mut out = String::new();
    for (a, b) in one.into_iter().zip(other) {
        let names = [a.strip_suffix(&suffix[0]), b.strip_suffix(&suffix[1])];
        out += &match names {
            // Longer names break lines elsewhere.
            _ if a == b || a.trim().is_empty() && b.trim().is_empty() => a.to_owned(),
            _ if [a, b] == types => format!("{CAPITALS}_T"),
            [Some(a), Some(b)] if a == b => format!("{a}_{ANY}"),
            _ if [a, b].iter().all(|word| word.starts_with(|c: char| c.is_ascii_digit())) => {
                format!("{CAPITALS}_OR({a}, {b})")
            }
            _ => return None,
        };
    }
    Some(out)
}

/// Words of C text, and what is between them: white space, and other characters. A number is a word, with its point and
/// exponent.
fn words(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (mut end, mut last) = (first.len_utf8(), first);
        if first.is_whitespace() {
            end = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
        } else if first.is_ascii_alphanumeric() || first == '_' {
            let is_number = first.is_ascii_digit();
            for c in rest.chars().skip(1) {
                let signs = is_number && last == 'e' && matches!(c, '+' | '-');
                if !(c.is_ascii_alphanumeric() || c == '_' || is_number && c == '.' || signs) {
                    break;
                }
                (end, last) = (end + 1, c);
            }
        }
        let (word, after) = rest.split_at(end);
        out.push(word);
        rest = after;
    }
    out
}

/// The functions of a sample type.
fn section(request: &Request, sweeps: Option<&Sweeps>) -> String {
    let is_real = !request.samples[0].is_integer();
    let t = typed(request, sweeps).with("P", "").with("DEVICE_DOC", "");
    let t = docs(t.clone().with("SCRATCH_DOC", t.fill(SCRATCH_DOC)));
    let (rounds, t) = rounds(t, is_real, sweeps.is_some_and(Sweeps::has_registers));
    let prototypes = t.fill(PROTOTYPES);
    let text = match sweeps {
        Some(sweeps) => {
            let [up, down] = LONE_VALUES[usize::from(!is_real)].map(|text| t.fill(text));
            let lone = t.clone().with("LONE_UP", up).with("LONE_DOWN", down).fill(LONE);
            let t = t.with("LONE", if request.doubles_lone_odd() { &lone } else { "" });
            sweeps.transform(request, &t, &(rounds + &prototypes))
        }
        None => {
            let call = |name: &str| t.fill(&format!("{name}_@S@(\n                "));
            let t = t
                .clone()
                .with("EXPORT", "")
                .with("STREAM", "")
                .with("AFTER", "")
                .with("GAIN", if request.gain { ", gain" } else { "" })
                .with("GAIN_UNUSED", if request.gain { "" } else { "    (void)gain;\n" })
                .with("EXTRA", margin(request.scheme).to_string())
                .with("COPY", COPY)
                .with("HF", call("rows_forward"))
                .with("VF", call("columns_forward"))
                .with("HI", call("rows_inverse"))
                .with("VI", call("columns_inverse"))
                .with("HC", ", evens, odds")
                .with("VC", "")
                .with("CONTEXT", ", evens, odds")
                .with("CONTEXT_PARAM", t.fill(", @T@ *evens, @T@ *odds"))
                .with("CONTEXT_COPY", "")
                .with("CONTEXT_PARAM_COPY", "")
                .with("CONTEXT_FORWARD", t.fill(ROWS))
                .with("CONTEXT_INVERSE", t.fill(ROWS));
            let t = t.clone().with("SCRATCH", t.fill(SCRATCH).trim());
            let lone = request.lone_c(pointers(with_calls(t)), request.samples[0]);
            rounds + &prototypes + "\n/* ---- Transforms ---- */\n\n" + &lone.fill(include_str!("transform.c.in"))
        }
    };
    macros_for_names(&text, &CAPITALS.to_string())
}
