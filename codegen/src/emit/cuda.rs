//! `<wavelet>.cu`: kernels, and host functions that launch them.

use super::c::{DEVICE_DOC, common, docs, periodic_check, pointers, prototypes, sample_type};
use super::passes::with_calls;
use super::{EmitError, Emitted, Passes, Request, privatised};
use crate::back::{Cuda, Dialect, wrap_list, write_host_expression};
use crate::ir::valid::KernelInfo;
use crate::ir::{Access, Kernel, ParamKind, Scalar};

/// Stream parameter of functions that queue work.
pub const STREAM: &str = ", void *stream";

pub(super) fn declarations(request: &Request, sample: Scalar) -> String {
    prototypes(
        &common(request, sample)
            .with("API", "")
            .with("P", "cuda_")
            .with("STREAM", STREAM)
            .with("DEVICE_DOC", DEVICE_DOC),
    )
}

const SCRATCH: &str = "
/* Scratch memory for a transform of this shape, in bytes; 0 also if the shape is invalid. */
extern \"C\" size_t @W@_cuda_scratch_bytes_@S@(const @W@_shape *shape)
{
    if (check(shape, sizeof(@T@), @MAX_GAIN@) != @U@_OK) return 0;
    return (size_t)box_samples(shape) * sizeof(@T@);
}
";

/// nvcc's options that change results: they flush subnormal numbers to zero.
pub const FAST_MATH: &str = "--use_fast_math or --ftz=true";

const COPY: &str = "        cudaError_t error = cudaSuccess;
        if (rows > 1 && from_pitch >= size[axes - 1] && to_pitch >= size[axes - 1] && from_pitch < (1 << 27) && to_pitch < (1 << 27)) {
            error = cudaMemcpy2DAsync(
                target, (size_t)to_pitch * sizeof(@T@), source, (size_t)from_pitch * sizeof(@T@), bytes, (size_t)rows,
                cudaMemcpyDeviceToDevice, stream);
        } else {
            for (int64_t r = 0; r < rows && error == cudaSuccess; ++r) {
                error = cudaMemcpyAsync(
                    target + r * to_pitch, source + r * from_pitch, bytes, cudaMemcpyDeviceToDevice, stream);
            }
        }
        if (error != cudaSuccess) return @U@_DEVICE;
";

/// A host function that launches a kernel: `launch_<kernel>(arguments, stream)`.
fn launcher((kernel, info): (&Kernel, &KernelInfo), name: &str, upper: &str) -> String {
    let host = |s: Scalar| sample_type(s);
    let mut params = Vec::new();
    let mut args = Vec::new();
    for p in &kernel.params {
        match p.kind {
            ParamKind::Scalar(s) => {
                params.push(format!("{} {}", host(s), p.name));
                args.push(p.name.clone());
            }
            ParamKind::Pointer(s, access) => {
                let constness = if access == Access::Read { "const " } else { "" };
                params.push(format!("{constness}{} *{}", host(s), p.name));
                // int64_t and long long may be different types.
                args.push(match s {
                    Scalar::I64 => format!("({constness}long long *){}", p.name),
                    _ => p.name.clone(),
                });
            }
        }
    }
    params.push("cudaStream_t stream".into());
    let [x, y, z] = [0, 1, 2].map(|i| write_host_expression((kernel, info), &Cuda, &kernel.launch.grid[i]));
    let [bx, by, bz] = kernel.launch.block;
    let head = wrap_list(&format!("static int launch_{name}("), &params, ")");
    let call = wrap_list(
        &format!("    {name}<<<dim3((unsigned)blocks_x, (unsigned)blocks_y, (unsigned)blocks_z), dim3({bx}, {by}, {bz}), 0, stream>>>("),
        &args,
        ");",
    )
    .replace("\n    ", "\n        ");
    format!(
        "{head}\n{{\n    \
             const long long blocks_x = {x}, blocks_y = {y}, blocks_z = {z};\n    \
             if (blocks_x < 1 || blocks_y < 1 || blocks_z < 1) return {upper}_OK;\n    \
             if (blocks_x > 2147483647 || blocks_y > 65535 || blocks_z > 65535) return {upper}_TOO_LARGE;\n\
         {call}\n    \
             return cudaGetLastError() == cudaSuccess ? {upper}_OK : {upper}_DEVICE;\n}}\n"
    )
}

/// The CUDA file.
///
/// # Errors
/// If no sample type is given, one is outside the wavelet's domain, or no schedule holds the wavelet.
pub fn cuda(request: &Request) -> Result<Emitted, EmitError> {
    request.check()?;
    let (mut kernels, mut replaced) = (Vec::new(), Vec::new());
    for sample in request.samples {
        let passes = Passes::cuda(request, *sample)?;
        kernels.extend(passes.kernels);
        kernels.extend(request.lone_kernels(*sample)?);
        replaced.extend(passes.replaced);
    }
    let kernels = super::prepared(kernels)?;
    let all: Vec<_> = kernels.iter().map(|(k, i)| (k, i)).collect();
    let (text, names) = Cuda.write_with(&all, &mut Cuda.namer())?;
    let t = request.template();

    let mut schedule = vec![match request.scheme.stages(request.boundary) {
        None => "Schedules: horizontal and vertical, both in shared memory.".to_string(),
        Some(_) => "Schedules: the stages of the lattice in registers, along rows and along columns.".to_string(),
    }];
    schedule.extend(request.fast_math(FAST_MATH));
    schedule.extend(replaced.iter().cloned());
    for ((kernel, info), name) in all.iter().zip(&names) {
        let [x, y, z] = kernel.launch.block;
        let shared = info.shared_bytes;
        let [gx, gy, gz] = [0, 1, 2].map(|i| write_host_expression((kernel, info), &Cuda, &kernel.launch.grid[i]));
        schedule.push(format!("{name}: {x} x {y} x {z} threads, {shared} bytes of shared memory,"));
        schedule.push(format!("    blocks ({gx}, {gy}, {gz})"));
    }
    let mut out = request.opening(&schedule);
    out.push('\n');
    out += &text;
    out += "\n/* Host functions: not for NVRTC, which compiles kernels only. */\n#ifndef __CUDACC_RTC__\n\n";
    out += "#include <cuda_runtime_api.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n";
    out += &super::shape(&t);
    out.push('\n');
    let periodic = t.fill(periodic_check(request.boundary));
    out += &t.clone().with("PERIODIC", periodic).with("FORMAT", t.fill(request.format_check())).fill(super::GEOMETRY);
    let per_sample = all.len() / request.samples.len();
    for (i, sample) in request.samples.iter().enumerate() {
        for j in per_sample * i..per_sample * (i + 1) {
            out.push('\n');
            out += &launcher(all[j], &names[j], t.upper());
        }
        let call = |j: usize| format!("const int code = launch_{}(\n                ", names[per_sample * i + j]);
        let t = common(request, *sample)
            .with("P", "cuda_")
            .with("EXPORT", "extern \"C\" ")
            .with("STREAM", STREAM)
            .with("DEVICE_DOC", DEVICE_DOC)
            .with("HF", call(0))
            .with("VF", call(1))
            .with("HI", call(2))
            .with("VI", call(3))
            .with("HC", ", stream")
            .with("VC", ", stream")
            .with("CONTEXT", ", (cudaStream_t)stream")
            .with("CONTEXT_COPY", ", (cudaStream_t)stream")
            .with("CONTEXT_PARAM", ", cudaStream_t stream")
            .with("CONTEXT_PARAM_COPY", ", cudaStream_t stream")
            .with("ROUNDS_CHECK", "")
            .with("CONTEXT_FORWARD", "")
            .with("CONTEXT_INVERSE", "");
        let t = pointers(docs(t));
        let after = t.fill("\n            if (code != @U@_OK) return code;");
        let t = with_calls(t.clone().with("AFTER", after));
        let t = t.clone().with("SCRATCH", t.fill(SCRATCH.trim())).with("COPY", t.fill(COPY));
        out.push('\n');
        let lone = &names[per_sample * i + 4..per_sample * (i + 1)];
        out += &request.lone_launched(t, lone).fill(include_str!("transform.c.in"));
    }
    out += "\n#endif\n";
    Ok(Emitted { text: privatised(request, "cu", &names, &out), replaced })
}
