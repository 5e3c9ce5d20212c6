//! `<wavelet>.opencl.c`: kernels in OpenCL C, and C functions that compile and launch them.
//!
//! Kernels use shared memory, one pass per axis, as the CUDA file's `shared` kernels do. The functions around them are
//! those of the C and CUDA files. A place in an array is a buffer and an offset; the file packs both into one number,
//! so that levels and passes share their text with the other files.

use super::c::{
    ANY, FORWARD_DOC, INCLUSION, INVERSE_DOC, SCRATCH_DOC, common, docs, macros_for_names, periodic_check, sample_type,
};
use super::passes::with_calls;
use super::private::CAPITALS;
use super::{EmitError, Emitted, Passes, Request, privatised};
use crate::back::{C, Dialect, OpenCl, wrap_list, write_host_expression};
use crate::ir::valid::KernelInfo;
use crate::ir::{Kernel, ParamKind, Scalar};
use lifting_dsl::c_identifier;
use std::collections::BTreeSet;

/// OpenCL's return codes beyond the common ones, and their messages.
const CODES: &str = "\
/* OpenCL's objects: cl_context points to the first, and so on. */
struct _cl_context;
struct _cl_device_id;
struct _cl_command_queue;
struct _cl_mem;
struct _cl_program;
struct _cl_kernel;

/* Further return codes of OpenCL functions. */
enum {
    @U@_BUFFER = 20,    /* a buffer is too small for the shape */
    @U@_QUEUE = 21,     /* the queue does not run in order */
    @U@_INEXACT = 22,   /* the device lacks the samples' precision, subnormal numbers or rounding to nearest */
    @U@_COMPILER = 23   /* the device's compiler rejects the kernels: see clGetProgramBuildInfo of `program` */
};

/* The meaning of these return codes. */
static inline const char *@W@_opencl_message(int code)
{
    switch (code) {
    case @U@_BUFFER: return \"a buffer is too small for the shape\";
    case @U@_QUEUE: return \"the queue does not run in order\";
    case @U@_INEXACT: return \"the device lacks the samples' precision, subnormal numbers or rounding to nearest\";
    case @U@_COMPILER: return \"the device's compiler rejects the kernels\";
    default: return @W@_message(code);
    }
}
";

const OPENED: &str = "\
/* Kernels for @S@ samples, compiled for one device. `status` is OpenCL's last status. */
typedef struct @W@_opencl_@S@ {
    struct _cl_program *program;
    struct _cl_kernel *kernel[@KERNELS@];
    int32_t status;
} @W@_opencl_@S@;

/* Compiles the kernels for a device of a context. Returns @U@_OK or an error code; close `opened` in either case. */
int @W@_opencl_open_@S@(
    @W@_opencl_@S@ *opened, struct _cl_context *context, struct _cl_device_id *device);

/* Releases the kernels. */
void @W@_opencl_close_@S@(@W@_opencl_@S@ *opened);
";

const DEVICE_DOC: &str = "
   All three are buffers of the context of `opened`; scratch may be NULL if it needs 0 bytes. The work is queued on
   `queue`, which runs in order; the call does not wait for it. Only one thread at a time may use `opened`: kernels hold
   their arguments.";

/// Declarations for the header of one sample type; `None`: those before all types.
pub(super) fn declarations(request: &Request, sample: Option<Scalar>) -> String {
    let Some(sample) = sample else { return request.template().fill(CODES) };
    let kernels = if request.doubles_lone_odd() { "6" } else { "4" };
    let t = common(request, sample).with("P", "opencl_").with("DEVICE_DOC", DEVICE_DOC).with("KERNELS", kernels);
    let function = |doc: &str, way, from, to| {
        let t = t.clone().with("WAY", way).with("FROM", from).with("TO", to);
        t.fill(&format!("{doc}\n{};\n", head("struct _cl_mem *", "struct _cl_command_queue *")))
    };
    [
        t.fill(OPENED),
        t.fill(&format!("{SCRATCH_DOC}\nsize_t @W@_opencl_scratch_bytes_@S@(const @W@_shape *shape);\n")),
        function(FORWARD_DOC, "forward", "signal", "bands"),
        function(INVERSE_DOC, "inverse", "bands", "signal"),
    ]
    .join("\n")
}

/// The head of a transform, with the given types of buffers and queues.
fn head(memory: &str, queue: &str) -> String {
    format!(
        "int @W@_opencl_@WAY@_@S@(\n    @W@_opencl_@S@ *opened, const @W@_shape *shape, {memory}@FROM@_buffer, \
         {memory}@TO@_buffer,\n    {memory}scratch_buffer, {queue}queue)"
    )
}

const OPENING: &str = "
{
    int code = check(shape, sizeof(@T@), @MAX_GAIN@);
    if (code != @U@_OK) return code;
    const size_t scratch_bytes = @W@_opencl_scratch_bytes_@S@(shape);
    if (opened == NULL || opened->program == NULL || queue == NULL || signal_buffer == NULL || bands_buffer == NULL
        || (scratch_buffer == NULL && scratch_bytes > 0)) return @U@_NULL;
    if (!holds(signal_buffer, shape, shape->signal_stride, sizeof(@T@))
        || !holds(bands_buffer, shape, shape->bands_stride, sizeof(@T@))
        || !has_bytes(scratch_buffer, scratch_bytes)) return @U@_BUFFER;
    if (!in_order(queue)) return @U@_QUEUE;
    opened->status = CL_SUCCESS;
    const work all = {opened->kernel, {signal_buffer, bands_buffer, scratch_buffer}, queue, &opened->status};
    const work *const w = &all;
    const place signal = begin_of(SIGNAL), bands = begin_of(BANDS), box = begin_of(SCRATCH);
";

const SCRATCH: &str = "\
@SCRATCH_DOC@
size_t @W@_opencl_scratch_bytes_@S@(const @W@_shape *shape)
{
    if (check(shape, sizeof(@T@), @MAX_GAIN@) != @U@_OK) return 0;
    return (size_t)box_samples(shape) * sizeof(@T@);
}
";

const COPY: &str = "        const cl_mem in = w->buffer[buffer_of(source)], out = w->buffer[buffer_of(target)];
        const size_t begin[3] = {(size_t)sample_of(source) * sizeof(@T@), 0, 0};
        const size_t into[3] = {(size_t)sample_of(target) * sizeof(@T@), 0, 0};
        const size_t region[3] = {bytes, (size_t)rows, 1};
        if (*w->status == CL_SUCCESS && (rows == 1 || (from_pitch >= size[axes - 1] && to_pitch >= size[axes - 1]))) {
            *w->status = clEnqueueCopyBufferRect(
                w->queue, in, out, begin, into, region, rows == 1 ? 0 : (size_t)from_pitch * sizeof(@T@), 0,
                rows == 1 ? 0 : (size_t)to_pitch * sizeof(@T@), 0, 0, NULL, NULL);
        } else {
            for (int64_t r = 0; r < rows && *w->status == CL_SUCCESS; ++r) {
                *w->status = clEnqueueCopyBuffer(
                    w->queue, in, out, (size_t)sample_of(source + r * from_pitch) * sizeof(@T@),
                    (size_t)sample_of(target + r * to_pitch) * sizeof(@T@), bytes, 0, NULL, NULL);
            }
        }
        if (*w->status != CL_SUCCESS) return @U@_DEVICE;
";

const ROUNDS: &str = "
/* Whether a device rounds to nearest and keeps subnormal numbers; its results then equal those of all others. */
static int rounds(cl_device_id device, cl_device_info config)
{
    const cl_device_fp_config needed = CL_FP_DENORM | CL_FP_ROUND_TO_NEAREST;
    cl_device_fp_config has = 0;
    if (clGetDeviceInfo(device, config, sizeof has, &has, NULL) != CL_SUCCESS) return 0;
    return (has & needed) == needed;
}
";

/// A host function that launches a kernel: `launch_<kernel>(arguments, work)`.
fn launcher((kernel, info): (&Kernel, &KernelInfo), name: &str, number: usize) -> String {
    let (mut params, mut sets, mut index) = (Vec::new(), String::new(), 0);
    for p in &kernel.params {
        match p.kind {
            ParamKind::Scalar(s) => {
                params.push(format!("{} {}", sample_type(s), p.name));
                sets += &format!("    set(w, kernel, {index}, sizeof {0}, &{0});\n", p.name);
                index += 1;
            }
            ParamKind::Pointer(..) => {
                params.push(format!("place {}", p.name));
                sets += &format!("    set_place(w, kernel, {index}, {});\n", p.name);
                index += 2;
            }
        }
    }
    params.push("const work *w".into());
    let [x, y, z] = [0, 1, 2].map(|i| write_host_expression((kernel, info), &C, &kernel.launch.grid[i]));
    let [bx, by, bz] = kernel.launch.block;
    let head = wrap_list(&format!("static int launch_{name}("), &params, ")");
    format!(
        "{head}\n{{\n    const cl_kernel kernel = w->kernel[{number}];\n    \
         const int64_t blocks[3] = {{{x}, {y}, {z}}};\n    const size_t threads[3] = {{{bx}, {by}, {bz}}};\n\
         {sets}    return launch(w, kernel, blocks, threads);\n}}\n"
    )
}

/// Text as string literals, one per line.
fn literals(text: &str) -> String {
    text.lines().map(|line| format!("    \"{}\\n\",\n", line.replace('\\', "\\\\").replace('"', "\\\""))).collect()
}

/// The OpenCL file.
///
/// # Errors
/// If no sample type is given, one is outside the wavelet's domain, no schedule holds the wavelet, or OpenCL C cannot
/// express a kernel.
pub fn opencl(request: &Request) -> Result<Emitted, EmitError> {
    request.check()?;
    let t = request.template();
    let (mut parts, mut replaced, mut described) = (Vec::new(), Vec::new(), BTreeSet::new());
    for sample in request.samples {
        let passes = Passes::cuda(request, *sample)?;
        replaced.extend(passes.replaced);
        let mut kernels: Vec<Kernel> = passes.kernels.into_iter().chain(request.lone_kernels(*sample)?).collect();
        // Parameters are described once.
        for param in kernels.iter_mut().flat_map(|kernel| &mut kernel.params) {
            if !described.insert(param.name.clone()) {
                param.doc.clear();
            }
        }
        let kernels = super::prepared(kernels)?;
        let kernels: Vec<_> = kernels.iter().map(|(k, i)| (k, i)).collect();
        parts.push(Part::new(request, *sample, &kernels)?);
    }
    let is_shared = parts.len() > 1 && parts.iter().all(|part| part.host == parts[0].host);
    let same_launches = parts.iter().all(|part| part.launchers == parts[0].launchers);
    let mut body = String::new();
    if is_shared {
        let m = format!("{CAPITALS}_CL");
        body += &t.clone().with("M", &*m).with("FILE", format!("{}.opencl.c", request.file_name())).fill(INCLUSION);
        for (part, sample) in parts.iter().zip(request.samples) {
            let (name, of) = (sample.name(), sample_type(*sample));
            let launchers = if same_launches { String::new() } else { part.launchers.replace(ANY, name) + "\n" };
            body += &format!("\n{}\n{launchers}#define {m}_T {of}\n", part.sources);
            body += &t.fill(&format!(
                "#define {m}_(name) @W@_cl_##name##_{name}\n#define {m}_OF(name) @W@_##name##_{name}\n"
            ));
            body += &format!("#include {m}_FILE\n");
        }
        let launchers = if same_launches { format!("{}\n", parts[0].launchers) } else { String::new() };
        let host = macros_for_names(&(launchers + &parts[0].host), &m);
        body += &format!("\n#else\n\n/* ---- Functions of a sample type ---- */\n\n{host}\n");
        body += &format!("#undef {m}_T\n#undef {m}_\n#undef {m}_OF\n#endif\n");
    } else {
        for (part, sample) in parts.iter().zip(request.samples) {
            let host = part.host.replace(ANY, sample.name()).replace(T, sample_type(*sample));
            body += &format!("\n{}\n{}\n{host}", part.sources, part.launchers.replace(ANY, sample.name()));
        }
    }
    let mut schedule = vec!["Schedules: horizontal and vertical, both in shared memory; OpenCL C 1.2.".to_string()];
    schedule.extend(replaced.iter().cloned());
    let mut out = request.opening(&schedule);
    if is_shared {
        out += &format!("#ifndef {T}\n");
    }
    out += "#ifndef CL_TARGET_OPENCL_VERSION\n#define CL_TARGET_OPENCL_VERSION 120\n#endif\n";
    out += "#ifdef __APPLE__\n#include <OpenCL/cl.h>\n#else\n#include <CL/cl.h>\n#endif\n";
    out += &format!("#include \"{}.h\"\n\n", request.file_name());
    out += &t.fill(include_str!("opencl.c.in"));
    if request.samples.iter().any(|s| !s.is_integer()) {
        out += ROUNDS;
    }
    out.push('\n');
    out += &t
        .clone()
        .with("PERIODIC", t.fill(periodic_check(request.boundary)))
        .with("FORMAT", t.fill(request.format_check()))
        .fill(super::GEOMETRY);
    let text = out + "\n" + &body;
    Ok(Emitted { text: super::with_contents(&privatised(request, "cl", &[], &text)), replaced })
}

/// Sample type of host functions: a macro in files of several types.
const T: &str = "\u{2}_CL_T";

/// The part of one sample type.
struct Part {
    /// Kernels as strings.
    sources: String,
    /// Functions that launch the kernels.
    launchers: String,
    /// Other host functions; names end in [`ANY`] and samples are [`T`].
    host: String,
}

impl Part {
    fn new(request: &Request, sample: Scalar, kernels: &[(&Kernel, &KernelInfo)]) -> Result<Part, EmitError> {
        let dialect: &dyn Dialect = &OpenCl::PORTABLE;
        let (text, names) = dialect.write_with(kernels, &mut dialect.namer())?;
        let text = format!("{}\n{text}", dialect.prelude(kernels));
        let listed: String = names.iter().map(|n| format!("    \"{n}\",\n")).collect();
        let (s, count) = (sample.name(), names.len());
        let sources = format!(
            "/* The kernels for {s} samples. */\nstatic const char *source_{s}[] = {{\n{}}};\n\n\
             static const char *const names_{s}[{count}] = {{\n{listed}}};\n",
            literals(&text)
        );
        // Functions are named after kernels, without wavelet and sample type.
        let own = format!("{}_", c_identifier(request.scheme.name()));
        let plain = |name: &String| {
            let name = name.strip_prefix(&own).unwrap_or(name);
            format!("{}_{ANY}", name.strip_suffix(&format!("_{s}")).unwrap_or(name))
        };
        let names: Vec<String> = names.iter().map(plain).collect();
        let launchers = kernels.iter().zip(&names).enumerate();
        let launchers = launchers.map(|(i, (kernel, name))| launcher(*kernel, name, i)).collect::<Vec<_>>().join("\n");
        let launchers = request.template().fill(&launchers);
        Ok(Part { sources, launchers, host: host(request, sample, &names) })
    }
}

/// The host functions of a sample type.
fn host(request: &Request, sample: Scalar, names: &[String]) -> String {
    let call = |i: usize| format!("const int code = launch_{}(\n                ", names[i]);
    let config = "sizeof(@T@) == 8 ? CL_DEVICE_DOUBLE_FP_CONFIG : CL_DEVICE_SINGLE_FP_CONFIG";
    let rounds = format!("    if (!rounds(device, {config})) return @U@_INEXACT;\n");
    let rounds = if sample.is_integer() { "" } else { &rounds };
    let max_gain = if request.gain { format!("8 * (int)sizeof({T}) - 2") } else { "0".into() };
    let t = request
        .template()
        .with("S", ANY)
        .with("T", T)
        .with("MAX_GAIN", max_gain)
        .with("GAIN", if request.gain { ", gain" } else { "" })
        .with("GAIN_UNUSED", if request.gain { "" } else { "    (void)gain;\n" })
        .with("KERNELS", names.len().to_string())
        .with("P", "opencl_")
        .with("DEVICE_DOC", DEVICE_DOC)
        .with("SCRATCH_DOC", SCRATCH_DOC)
        .with("IN", "place ")
        .with("OUT", "place ")
        .with("HF", call(0))
        .with("VF", call(1))
        .with("HI", call(2))
        .with("VI", call(3))
        .with("HC", ", w")
        .with("VC", ", w")
        .with("CONTEXT", ", w")
        .with("CONTEXT_COPY", ", w")
        .with("CONTEXT_PARAM", ", const work *w")
        .with("CONTEXT_PARAM_COPY", ", const work *w")
        .with("CONTEXT_FORWARD", "")
        .with("CONTEXT_INVERSE", "");
    let way = |way, from, to| {
        let t = t.clone().with("WAY", way).with("FROM", from).with("TO", to);
        t.fill(&(head("cl_mem ", "cl_command_queue ") + OPENING))
    };
    let (forward, inverse) = (way("forward", "signal", "bands"), way("inverse", "bands", "signal"));
    let t = docs(t.clone())
        .with("FORWARD_HEAD", forward)
        .with("INVERSE_HEAD", inverse)
        .with("ROUNDS", t.fill(rounds))
        .with("AFTER", t.fill("\n            if (code != @U@_OK) return code;"))
        .with("SCRATCH", t.fill(SCRATCH))
        .with("COPY", t.fill(COPY));
    let t = with_calls(t);
    let mut out = String::new();
    out += &t.fill(include_str!("opencl_sample.c.in"));
    out.push('\n');
    out + &request.lone_launched(t, &names[4..]).fill(include_str!("transform.c.in"))
}
