//! `<wavelet>.c`: a complete transform for CPUs.

use super::passes::margin;
use super::sweep::{Language, Sweeps};
use super::template::Template;
use super::{EmitError, Passes, Request, privatised};
use crate::back::{C, CLike, Dialect};
use crate::ir::Scalar;
use lifting_dsl::Boundary;

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

const SCRATCH: &str = "
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
@SWEEP_SCRATCH@    return box_bytes_@S@(shape) + 2 * row_samples_@S@(shape) * sizeof(@T@);
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
    volatile @T@ near_one = 1 + @NEAR@, square = 1 + 2 * @NEAR@, large = 1 / @NEAR@ / @NEAR@ * 16, one = 1, half = (@T@)0.5;
    volatile @T@ least = @LEAST@, fused, moved, small;
    const @T@ a = near_one, b = square, x = large, y = one;
    fused = a * a - b;
    moved = (x + y) - x;
    small = least * half;
    return fused == 0 && moved == 0 && small + small == least;
}
";

const ROUNDS_CHECK: &str = "    if (!rounds_@S@()@ROUNDS_WIDE@) return @U@_FAST_MATH;
";

/// The test of a sample type, and its call; for AVX-512 functions too, as they have fused multiply-adds.
fn rounds(t: Template, sample: Scalar, is_wide: bool) -> Template {
    let [near, least] = match sample {
        Scalar::F32 => ["(float)0.0001220703125", "FLT_MIN"],
        Scalar::F64 => ["7.450580596923828125e-9", "DBL_MIN"],
        _ => return t.with("ROUNDS", "").with("ROUNDS_CHECK", ""),
    };
    let t = t.with("NEAR", near).with("LEAST", least);
    let mut text = t.clone().with("ROUNDS_TARGET", "").with("ROUNDS_NAME", "rounds").fill(ROUNDS);
    if is_wide {
        let target = t.fill("@U@_TARGET ");
        let own = t.clone().with("ROUNDS_TARGET", target).with("ROUNDS_NAME", "rounds_wide").fill(ROUNDS);
        let other = t.fill("#else\n#define @U@_ROUNDS_WIDE_@S@() 1\n#endif\n");
        let used = t.fill("#define @U@_ROUNDS_WIDE_@S@() (!has_wide() || rounds_wide_@S@())\n");
        text += &format!("\n{}{own}{used}{other}", t.fill("#if @U@_WIDE"));
    }
    let wide = if is_wide { t.fill(" || !@U@_ROUNDS_WIDE_@S@()") } else { String::new() };
    let check = t.clone().with("ROUNDS_WIDE", wide).fill(ROUNDS_CHECK);
    t.with("ROUNDS", text).with("ROUNDS_CHECK", check)
}

/// Heads of C's and CUDA's transforms, whose arrays are pointers.
const FORWARD_HEAD: &str = "\
@EXPORT@int @W@_@P@forward_@S@(const @W@_shape *shape, const @T@ *signal, @T@ *bands, void *scratch@STREAM@)
{
    int code = check(shape, sizeof(@T@), @MAX_GAIN@);
    if (code != @U@_OK) return code;
    if (signal == NULL || bands == NULL || (scratch == NULL && @W@_@P@scratch_bytes_@S@(shape) > 0)) return @U@_NULL;
@ROUNDS_CHECK@@SWEEP_FORWARD@    @T@ *const box = (@T@ *)scratch;
";
const INVERSE_HEAD: &str = "\
@EXPORT@int @W@_@P@inverse_@S@(const @W@_shape *shape, const @T@ *bands, @T@ *signal, void *scratch@STREAM@)
{
    int code = check(shape, sizeof(@T@), @MAX_GAIN@);
    if (code != @U@_OK) return code;
    if (signal == NULL || bands == NULL || (scratch == NULL && @W@_@P@scratch_bytes_@S@(shape) > 0)) return @U@_NULL;
@ROUNDS_CHECK@@SWEEP_INVERSE@    @T@ *const box = (@T@ *)scratch;
";

const SWEEP_SCRATCH: &str = "    if (sweeps_@S@(shape)) {
        sweep_@S@ s;
        return divide_@S@(shape, &s, NULL) * sizeof(@T@) * @U@_THREADS + 64;
    }
";
const SWEEP_FORWARD: &str = "    if (sweeps_@S@(shape)) {
        sweep_images_@S@(shape, 1, signal, shape->signal_stride, bands, shape->bands_stride, scratch);
        return @U@_OK;
    }
";
const SWEEP_INVERSE: &str = "    if (sweeps_@S@(shape)) {
        sweep_images_@S@(shape, 0, bands, shape->bands_stride, signal, shape->signal_stride, scratch);
        return @U@_OK;
    }
";

const CONTEXT: &str = "    @T@ *const evens = (@T@ *)(void *)((char *)scratch + box_bytes_@S@(shape));
    @T@ *const odds = evens + row_samples_@S@(shape);
";

/// The C file.
///
/// # Errors
/// If no sample type is given, or one is outside the wavelet's domain.
pub fn c(request: &Request) -> Result<String, EmitError> {
    request.check_cpu("C")?;
    let passes: Vec<Passes> = request.samples.iter().map(|s| Passes::c(request, *s)).collect::<Result<_, _>>()?;
    let kernels = super::prepared(passes.into_iter().flat_map(|p| p.kernels))?;
    let kernels: Vec<_> = kernels.iter().map(|(k, i)| (k, i)).collect();
    let mut namer = C.namer();
    let (text, names) = C.write_with(&kernels, &mut namer)?;
    let sweeps = Sweeps::new(request, Language::C)?;
    let t = request.template();

    let mut schedule = super::sweep::schedule(
        sweeps.is_some(),
        &[
            "For speed: cc -O3. With gcc, loops are compiled for SSE2, AVX2 and AVX-512; the best runs.",
            "With OpenMP (-fopenmp), threads share the images of a batch, or the strips of an image.",
        ],
    );
    schedule.extend(request.fast_math("-ffast-math, -ffp-contract=fast or /fp:fast"));
    let mut out = request.opening(&schedule);
    out.push('\n');
    out += &Dialect::prelude(&C, &kernels);
    if sweeps.is_some() {
        out += "#ifdef __SSE2__\n#include <immintrin.h>\n#endif\n#ifdef _OPENMP\n#include <omp.h>\n#endif\n";
    }
    out.push('\n');
    out += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    let constructors = request.constructors(t.clone());
    let own = [super::API, super::CODES, super::MESSAGE, super::SHAPE, super::ARRAY, EXPORTED]
        .map(|text| constructors.fill(text));
    out += &format!("#ifndef {}_H\n{}#endif\n", t.upper(), own.join("\n"));
    out += &t.fill(EXPORTED_TEXT);
    out.push('\n');
    out += &text;
    out.push('\n');
    let periodic = t.fill(periodic_check(request.boundary));
    out += &t.clone().with("PERIODIC", periodic).with("FORMAT", t.fill(request.format_check())).fill(super::GEOMETRY);
    if let Some(sweeps) = &sweeps {
        out.push('\n');
        out += &sweeps.opening(&t, request.boundary);
    }
    let extra = margin(request.scheme).to_string();
    let mut all = names.clone();
    for (i, (sample, names)) in request.samples.iter().zip(names.chunks(4)).enumerate() {
        let call = |i: usize| format!("{}(\n                ", names[i]);
        let t = common(request, *sample)
            .with("P", "")
            .with("EXPORT", "")
            .with("STREAM", "")
            .with("DEVICE_DOC", "")
            .with("EXTRA", extra.as_str())
            .with("SCRATCH_DOC", SCRATCH_DOC)
            .with("HF", call(0))
            .with("VF", call(1))
            .with("HI", call(2))
            .with("VI", call(3))
            .with("HC", ", evens, odds")
            .with("VC", "")
            .with("AFTER", "")
            .with("CONTEXT", ", evens, odds")
            .with("CONTEXT_COPY", "");
        let t = docs(t);
        if let Some(sweeps) = &sweeps {
            let (text, kernels) = sweeps.transform(request, i, &t, &mut namer)?;
            out += &text;
            all.extend(kernels);
        }
        let t = rounds(t, *sample, sweeps.as_ref().is_some_and(|sweeps| sweeps.is_wide(i)));
        out += &t.fill("@ROUNDS@");
        out += &t.fill(PROTOTYPES);
        let swept = |text: &str| if sweeps.is_some() { t.fill(text) } else { String::new() };
        let t = t
            .clone()
            .with("SWEEP_SCRATCH", swept(SWEEP_SCRATCH))
            .with("SWEEP_FORWARD", swept(SWEEP_FORWARD))
            .with("SWEEP_INVERSE", swept(SWEEP_INVERSE));
        let (context, t) = (t.fill(CONTEXT), pointers(t));
        let t = t
            .clone()
            .with("CONTEXT_PARAM", t.fill(", @T@ *evens, @T@ *odds"))
            .with("CONTEXT_PARAM_COPY", "")
            .with("CONTEXT_FORWARD", context.clone())
            .with("CONTEXT_INVERSE", context)
            .with("SCRATCH", t.fill(SCRATCH.trim()))
            .with(
                "COPY",
                "        for (int64_t r = 0; r < rows; ++r) memcpy(target + r * to_pitch, source + r * from_pitch, bytes);\n",
            );
        out.push('\n');
        out += &request.lone_c(t, *sample).fill(include_str!("transform.c.in"));
    }
    out += "\n#ifdef __cplusplus\n}\n#endif\n";
    Ok(privatised(request, "c", &all, &out))
}
