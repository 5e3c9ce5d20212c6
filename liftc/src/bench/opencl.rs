//! OpenCL benchmarks: transforms on a queue, timed by the host and compared with a copy kernel.
//!
//! A time runs from the first of many launches until the queue is empty, so it includes the launch overhead. Each
//! launch uses the next of several sets of arrays.

use super::case::Case;
use super::case::Rows;
use super::data;
use super::report::{DeviceInfo, Measurement, Verified, WITHIN_ROUNDING};
use super::stats::in_turns;
use super::{TimedOperation, sets, with_sample};
use crate::failure::{Failure, Outcome, input, usage};
use lifting::opencl::opencl3::command_queue::CommandQueue;
use lifting::opencl::opencl3::error_codes::ClError;
use lifting::opencl::opencl3::kernel::Kernel;
use lifting::opencl::opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use lifting::opencl::opencl3::program::Program;
use lifting::opencl::opencl3::types::{CL_BLOCKING, cl_ulong};
use lifting::opencl::{OpenClDevice, OpenClWorkspace};
use lifting::{Device, Plan, Sample};
use std::time::Instant;

/// Copy kernel: one 16-byte vector a thread, and one thread for the remaining bytes.
const COPY: &str = r#"__kernel void copy(__global const uint4 *from, __global uint4 *to, ulong bytes) {
    const ulong i = get_global_id(0), vectors = bytes / 16;
    if (i < vectors) {
        to[i] = from[i];
    } else if (i == vectors) {
        for (ulong b = 16 * vectors; b < bytes; b++) ((__global uchar *)to)[b] = ((__global const uchar *)from)[b];
    }
}
"#;

/// Work-group size of the copy.
const THREADS: usize = 256;

/// Shortest measured interval in microseconds; faster transforms are timed together.
const SHORTEST: f64 = 2000.0;

/// An OpenCL device and its reference copy kernel.
pub struct Runner {
    device: OpenClDevice,
    queue: CommandQueue,
    copy: Kernel,
}

fn cannot(what: &'static str) -> impl Fn(ClError) -> Failure {
    move |e| input(format!("the OpenCL device cannot {what}: {e}"))
}

impl Runner {
    /// Compiles the copy kernel.
    pub fn new(device: &OpenClDevice) -> Outcome<Runner> {
        let program = Program::create_and_build_from_source(device.context(), COPY, "")
            .map_err(|log| input(format!("the OpenCL device cannot compile the copy kernel: {log}")))?;
        let copy = Kernel::create(&program, "copy").map_err(cannot("load the copy kernel"))?;
        Ok(Runner { device: device.clone(), queue: device.queue().map_err(input)?, copy })
    }

    fn finish(&self) -> Outcome {
        self.queue.finish().map_err(cannot("finish its queue"))
    }

    /// Enqueues a copy of `bytes`.
    fn copy<T>(&self, from: &Buffer<T>, to: &Buffer<T>, bytes: usize) -> Outcome {
        let failed = cannot("launch the copy kernel");
        let global = (bytes / 16 + 1).next_multiple_of(THREADS);
        // SAFETY: the arguments match the kernel, and both arrays have at least `bytes`.
        unsafe {
            self.copy.set_arg(0, &from.get()).map_err(&failed)?;
            self.copy.set_arg(1, &to.get()).map_err(&failed)?;
            self.copy.set_arg(2, &(bytes as cl_ulong)).map_err(&failed)?;
            let (kernel, none) = (self.copy.get(), std::ptr::null());
            self.queue.enqueue_nd_range_kernel(kernel, 1, none, &global, &THREADS, &[]).map_err(failed)?;
        }
        Ok(())
    }

    /// Uploads samples to a new device array.
    fn upload<T: Sample>(&self, samples: &[T]) -> Outcome<Buffer<T>> {
        let failed = cannot("allocate the arrays");
        // SAFETY: the device allocates the memory, and the blocking write below fills all of it.
        unsafe {
            let context = self.device.context();
            let mut buffer =
                Buffer::create(context, CL_MEM_READ_WRITE, samples.len(), std::ptr::null_mut()).map_err(&failed)?;
            self.queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, samples, &[]).map_err(failed)?;
            Ok(buffer)
        }
    }

    fn download<T: Sample>(&self, from: &Buffer<T>, len: usize) -> Outcome<Vec<T>> {
        let mut to: Vec<T> = data::poisoned(len);
        // SAFETY: the array has at least `len` samples, and the blocking read returns after the copy.
        unsafe { self.queue.enqueue_read_buffer(from, CL_BLOCKING, 0, &mut to, &[]) }
            .map_err(cannot("copy to the host"))?;
        Ok(to)
    }
}

impl super::Runner for Runner {
    fn device(&self) -> DeviceInfo {
        DeviceInfo::OpenCl { name: self.device.name().to_owned(), compute_units: self.device.compute_units() }
    }

    fn measure(&mut self, case: &Case, repeats: usize) -> Outcome<Vec<Measurement>> {
        with_sample!(case.sample, measure(self, case, repeats))
    }
}

/// One set of arrays.
struct Set<T> {
    data: Buffer<T>,
    coefficients: Buffer<T>,
    back: Buffer<T>,
}

/// Timed work: a direction, or `None` for the copy.
type Timing = Option<TimedOperation>;

struct Measuring<'a, T: Sample> {
    runner: &'a Runner,
    plan: &'a Plan<T>,
    workspace: OpenClWorkspace,
    sets: Vec<Set<T>>,
    /// Index of the next set.
    next: usize,
    bytes: usize,
}

impl<T: Sample> Measuring<'_, T> {
    /// Enqueues the work on the set `at`.
    fn enqueue(&mut self, timing: Timing, at: usize) -> Outcome {
        let Measuring { runner, plan, workspace, sets, bytes, .. } = self;
        let Set { data, coefficients, back } = &mut sets[at];
        let on_device = plan.opencl().map_err(input)?;
        match timing {
            None => runner.copy(data, back, *bytes),
            Some(TimedOperation::Forward) => {
                on_device.forward(&runner.queue, data, coefficients, workspace).map_err(input)
            }
            Some(TimedOperation::Inverse) => {
                on_device.inverse(&runner.queue, coefficients, back, workspace).map_err(input)
            }
            Some(TimedOperation::Adjoint | TimedOperation::InverseAdjoint) => Err(no_adjoints()),
        }
    }

    /// Mean time of one launch in microseconds, over `count` launches.
    fn time(&mut self, timing: Timing, count: usize) -> Outcome<f64> {
        let begin = Instant::now();
        for _ in 0..count {
            self.enqueue(timing, self.next)?;
            self.next = (self.next + 1) % self.sets.len();
        }
        self.runner.finish()?;
        Ok(begin.elapsed().as_secs_f64() * 1e6 / count as f64)
    }
}

fn no_adjoints() -> Failure {
    usage("--direction adjoint: OpenCL devices do not support adjoints")
        .help("use --device cpu, or --device cuda with a CUDA device")
}

fn measure<T: Sample>(runner: &Runner, case: &Case, repeats: usize) -> Outcome<Vec<Measurement>> {
    if case.pitch.is_some() {
        return Err(
            usage("--pitch: OpenCL devices support only contiguous rows").help("omit --pitch, or use --device cpu")
        );
    }
    if case.ways.iter().any(|way| way.is_adjoint()) {
        return Err(no_adjoints());
    }
    let device = Device::OpenCl(runner.device.clone());
    let plan = case.plan::<T>(&device)?;
    let on_device = plan.opencl().map_err(input)?;
    let pair = (plan.len() + plan.coefficient_len()) * size_of::<T>();
    let all = pair + plan.len() * size_of::<T>();
    // OpenCL does not report free memory, and a CPU device shares its memory with other programs.
    let half = runner.device.memory_bytes() / 2;
    let count = sets(pair, all, half.saturating_sub(on_device.workspace_bytes())).ok_or_else(|| {
        let needed = all + on_device.workspace_bytes();
        input(format!("out of memory: the arrays need {needed} bytes; half the memory of {device} is {half} bytes"))
            .help("give a smaller --shape or --batch")
    })?;
    let original: Vec<T> = data::random(plan.len(), Rows::GAPLESS);
    let poison: Vec<T> = data::poisoned(plan.coefficient_len().max(plan.len()));
    let set = || {
        let (data, coefficients) = (runner.upload(&original)?, runner.upload(&poison[..plan.coefficient_len()])?);
        Ok(Set { data, coefficients, back: runner.upload(&poison[..plan.len()])? })
    };
    let sets = (0..count).map(|_| set()).collect::<Outcome<Vec<_>>>()?;
    let workspace = on_device.workspace().map_err(input)?;
    let mut all = Measuring { runner, plan: &plan, workspace, sets, next: 0, bytes: case.bytes() };

    all.enqueue(Some(TimedOperation::Forward), count - 1)?;
    all.enqueue(Some(TimedOperation::Inverse), count - 1)?;
    runner.finish()?;
    let last = &all.sets[count - 1];
    let got = runner.download(&last.coefficients, plan.coefficient_len())?;
    let smaller = |shape: &[usize], data: &[T]| {
        let plan = case.plan_of::<T>(shape, &device)?;
        let mut result = data::poisoned(plan.coefficient_len());
        plan.forward(data, &mut result[..]).map_err(input)?;
        Ok(result)
    };
    let forward_shape = data::forward(case, &original, &got, smaller)?;
    let back = runner.download(&last.back, plan.len())?;
    let inverse_error = data::reconstruction(&back, &original, Rows::GAPLESS)?;
    let forward_equals = if case.schedule.has_lifting_bits() { "the CPU plan" } else { WITHIN_ROUNDING };
    let verified = Verified { forward_equals, forward_shape, inverse_error };

    let timed: Vec<Timing> = std::iter::once(None).chain(case.ways.iter().copied().map(Some)).collect();
    let mut calls = Vec::new();
    for &timing in &timed {
        all.time(timing, 1)?;
        let one = all.time(timing, 2)?;
        calls.push((SHORTEST / one.max(1.0)).ceil().clamp(1.0, 10_000.0) as usize);
    }
    let times = in_turns(repeats, &calls, |which, calls| all.time(timed[which], calls))?;
    Ok(Measurement::all(case, times, (count, pair), plan.recipe(), on_device.workspace_bytes(), &verified))
}
