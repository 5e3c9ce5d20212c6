//! Arrays of more than 2³¹ bytes and more than 2³¹ samples.
//!
//! The host never holds one. The device generates the data, each sample a hash of its index, and compares
//! inverse(forward(x)) with it. Coefficients are read in windows at the beginning, in the middle and at the end. Each
//! window is compared with a CPU plan of the window alone, away from its cut sides.

use lifting::cuda::cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DriverError, sys};
use lifting::cuda::cudarc::nvrtc::Ptx;
use lifting::cuda::{CudaDevice, Transform};
use lifting::{Device, Plan, PlanError, Sample, Schedule, Scheme};
use lifting_tests::wavelet;
use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;
use zerocopy::IntoBytes;

/// Outcome of a case.
pub enum Outcome {
    /// It ran.
    Done(Result<(), String>),
    /// Time or memory was insufficient, which is printed.
    LeftOut,
}

struct Case {
    wavelet: &'static str,
    /// `i16` or `f32`.
    real: bool,
    shape: &'static [usize],
    /// Levels along every axis except a batch.
    levels: u32,
    /// Whether the first axis is a batch.
    batch: bool,
    schedule: Schedule,
}

/// Longest axis of a kernel.
const LONGEST: usize = i32::MAX as usize - (1 << 16);

const fn case(wavelet: &'static str, real: bool, shape: &'static [usize], levels: u32) -> Case {
    Case { wavelet, real, shape, levels, batch: false, schedule: Schedule::Auto }
}

const CASES: [Case; 8] = [
    // 46341² is the first square beyond 2³¹ samples.
    case("legall53", false, &[46341, 46342], 2),
    Case { schedule: Schedule::Separate, ..case("dd137", false, &[46342, 46341], 1) },
    Case { schedule: Schedule::STREAM, ..case("dd137", false, &[46342, 46341], 1) },
    // More than 2³¹ bytes.
    case("cdf97", true, &[23201, 23205], 2),
    Case { batch: true, ..case("legall53", false, &[2113, 1024, 1001], 1) },
    case("legall53", false, &[1291, 1292, 1293], 1),
    case("legall53", false, &[LONGEST], 1),
    // Rows of more than 2³¹ bytes.
    case("cdf97", true, &[3, 600_000_001], 1),
];

/// Runs all cases that fit the time.
pub fn run(device: &CudaDevice, until: Instant) -> Vec<(String, Outcome)> {
    let tools = Tools::new(device);
    let mut outcomes = Vec::new();
    for case in &CASES {
        let sample = if case.real { "f32" } else { "i16" };
        let Case { wavelet, shape, levels, schedule, .. } = case;
        let name = format!("huge: {wavelet} {sample} {shape:?}, {levels} levels, {schedule}");
        let outcome = match &tools {
            _ if Instant::now() > until => Outcome::LeftOut,
            Err(e) => Outcome::Done(Err(e.clone())),
            Ok(tools) => {
                let result = if case.real {
                    round_trip::<f32>(device, tools, case)
                } else {
                    round_trip::<i16>(device, tools, case)
                };
                match result {
                    Ok(()) => Outcome::Done(Ok(())),
                    Err(Stop::Failed(why)) => Outcome::Done(Err(why)),
                    Err(Stop::Memory(why)) if std::env::var_os("LIFTING_REQUIRE_GPU").is_some() => {
                        Outcome::Done(Err(why))
                    }
                    Err(Stop::Memory(why)) => {
                        println!("skipped: {name}: {why}");
                        Outcome::LeftOut
                    }
                }
            }
        };
        outcomes.push((name, outcome));
    }
    outcomes
}

/// Reason why a case did not pass.
enum Stop {
    Failed(String),
    /// The device is too small.
    Memory(String),
}

impl From<String> for Stop {
    fn from(why: String) -> Stop {
        Stop::Failed(why)
    }
}

impl From<PlanError> for Stop {
    fn from(e: PlanError) -> Stop {
        Stop::Failed(e.to_string())
    }
}

impl From<DriverError> for Stop {
    fn from(e: DriverError) -> Stop {
        Stop::Failed(e.to_string())
    }
}

/// Sample `i` of the data; the kernels and `value` agree.
const KERNELS: &str = r#"
__device__ int value(unsigned long long i) {
    unsigned long long z = i * 0x9e3779b97f4a7c15ull;
    z ^= z >> 29;
    z *= 0xbf58476d1ce4e5b9ull;
    return (int)(z >> 56) - 128;
}
template <typename T> __device__ void fill(T *data, unsigned long long n) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n) data[i] = (T)value(i);
}
template <typename T> __device__ void differ(const T *data, unsigned long long n, unsigned long long *found) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    // Whole numbers survive integer steps exactly and real ones up to rounding; NaN always differs.
    if (i < n && !(fabsf((float)data[i] - (float)value(i)) < 0.01f)) atomicAdd(found, 1ull);
}
extern "C" __global__ void fill_i16(short *data, unsigned long long n) { fill(data, n); }
extern "C" __global__ void fill_f32(float *data, unsigned long long n) { fill(data, n); }
extern "C" __global__ void differ_i16(const short *data, unsigned long long n, unsigned long long *found) { differ(data, n, found); }
extern "C" __global__ void differ_f32(const float *data, unsigned long long n, unsigned long long *found) { differ(data, n, found); }
"#;

fn value(i: u64) -> i64 {
    let mut z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z ^= z >> 29;
    z = z.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z >> 56) as i64 - 128
}

struct Tools {
    fill: [CudaFunction; 2],
    differ: [CudaFunction; 2],
}

impl Tools {
    fn new(device: &CudaDevice) -> Result<Tools, String> {
        let text = |e: DriverError| e.to_string();
        let compiled = lifting::cuda::compile(KERNELS, device.properties().architecture).map_err(|e| e.to_string())?;
        let module = device.context().load_module(Ptx::from_binary(compiled.bytes().to_vec())).map_err(text)?;
        let load = |name: &str| module.load_function(name).map_err(text);
        Ok(Tools { fill: [load("fill_i16")?, load("fill_f32")?], differ: [load("differ_i16")?, load("differ_f32")?] })
    }
}

/// Launches one thread for each of `n` samples.
///
/// # Safety
/// The arguments must be the kernel's.
unsafe fn launch(
    function: &CudaFunction,
    stream: &CudaStream,
    n: usize,
    arguments: &mut [*mut c_void],
) -> Result<(), DriverError> {
    let blocks = n.div_ceil(256) as u32;
    let (function, stream, null) = (function.cu_function(), stream.cu_stream(), std::ptr::null_mut());
    // SAFETY: the caller's promise.
    unsafe { sys::cuLaunchKernel(function, blocks, 1, 1, 256, 1, 1, 0, stream, arguments.as_mut_ptr(), null) }.result()
}

fn plan<T: Sample>(
    scheme: &Scheme,
    case: &Case,
    shape: &[usize],
    device: &Device,
    schedule: Schedule,
) -> Result<Plan<T>, PlanError> {
    let mut levels = vec![case.levels; shape.len()];
    levels[0] = if case.batch { 0 } else { levels[0] };
    Plan::builder(scheme).shape(shape).levels_per_axis(&levels).schedule(schedule).sample().build(device)
}

fn round_trip<T: Sample>(device: &CudaDevice, tools: &Tools, case: &Case) -> Result<(), Stop> {
    device.synchronize().map_err(|e| e.to_string())?;
    let scheme = wavelet(case.wavelet);
    let gpu: Plan<T> = plan(&scheme, case, case.shape, &Device::Cuda(device.clone()), case.schedule)?;
    let on_device = gpu.cuda()?;
    let (samples, bytes) = (gpu.len(), gpu.len() * size_of::<T>());
    let needed = 2 * bytes + on_device.workspace_bytes();
    let (free, _) = device.context().mem_get_info()?;
    if needed > free / 100 * 98 {
        return Err(Stop::Memory(format!("{needed} bytes of device memory are needed and {free} are free")));
    }
    let stream = device.new_stream().map_err(|e| e.to_string())?;
    // SAFETY: bytes have no invalid value; all are written before they are read.
    let (data, coefficients) = unsafe { (stream.alloc::<u8>(bytes)?, stream.alloc::<u8>(bytes)?) };
    let mut workspace = on_device.workspace(&stream)?;
    let found: CudaSlice<u64> = stream.alloc_zeros(1)?;
    let (mut from, to) = (data.device_ptr(&stream).0, coefficients.device_ptr(&stream).0);
    let (mut n, mut counter) = (samples as u64, found.device_ptr(&stream).0);
    let mut arguments: [*mut c_void; 3] = [(&raw mut from).cast(), (&raw mut n).cast(), (&raw mut counter).cast()];
    // SAFETY: arrays of the plan's sizes, used by this stream alone and alive until it is synchronised; the data
    // returns to its place.
    unsafe {
        launch(&tools.fill[usize::from(case.real)], &stream, samples, &mut arguments[..2])?;
        sys::cuMemsetD8Async(to, 0xa5, bytes, stream.cu_stream()).result()?;
        on_device.execute_raw(Transform::Forward, &stream, from, to, &mut workspace)?;
        sys::cuMemsetD8Async(from, 0x5a, bytes, stream.cu_stream()).result()?;
        on_device.execute_raw(Transform::Inverse { level: 0 }, &stream, to, from, &mut workspace)?;
        launch(&tools.differ[usize::from(case.real)], &stream, samples, &mut arguments)?;
    }
    let differ = stream.clone_dtoh(&found)?[0];
    stream.synchronize()?;
    if differ > 0 {
        return Err(Stop::Failed(format!("{differ} of {samples} samples did not come back")));
    }
    for at in [0.0, 0.5, 1.0] {
        window(&scheme, case, &gpu, &stream, &coefficients, at)?;
    }
    Ok(())
}

/// Samples of a band near a cut that the cut may affect.
const MARGIN: usize = 16;

/// Compares a window of the coefficients; `at` places it along every axis.
fn window<T: Sample>(
    scheme: &Scheme,
    case: &Case,
    gpu: &Plan<T>,
    stream: &Arc<CudaStream>,
    coefficients: &CudaSlice<u8>,
    at: f64,
) -> Result<(), Stop> {
    let rank = case.shape.len();
    let side = [4096, 256, 96][rank - 1];
    let grain = 1usize << case.levels;
    let (mut starts, mut lengths) = (Vec::new(), Vec::new());
    for (axis, &n) in case.shape.iter().enumerate() {
        let wanted = if case.batch && axis == 0 { 1 } else { side.min(n) };
        let grain = if case.batch && axis == 0 { 1 } else { grain };
        let start = ((n - wanted) as f64 * at) as usize / grain * grain;
        starts.push(start);
        lengths.push(if at == 1.0 { n - start } else { wanted });
    }
    let cpu: Plan<T> = plan(scheme, case, &lengths, &Device::cpu(), Schedule::Auto)?;
    let data: Vec<T> = (0..cpu.len())
        .map(|mut i| {
            let (mut index, mut stride) = (0, 1);
            for axis in (0..rank).rev() {
                index += (starts[axis] + i % lengths[axis]) * stride;
                i /= lengths[axis];
                stride *= case.shape[axis];
            }
            <T as lifting_dsl::sample::Sample>::from_i64(value(index as u64))
        })
        .collect();
    let mut expected = vec![T::default(); cpu.coefficient_len()];
    cpu.forward(&data[..], &mut expected[..])?;
    for (small, large) in cpu.subbands().zip(gpu.subbands()) {
        let batch = |axis: usize| case.batch && axis == 0;
        // The part of the band that equals the whole transform's, and its position there.
        let valid: Vec<std::ops::Range<usize>> = (0..rank)
            .map(|axis| {
                let cut_before = starts[axis] > 0 && !batch(axis);
                let cut_behind = starts[axis] + lengths[axis] < case.shape[axis] && !batch(axis);
                let margin = |cut: bool| if cut { MARGIN } else { 0 };
                margin(cut_before)..small.shape[axis].saturating_sub(margin(cut_behind))
            })
            .collect();
        let first: Vec<usize> =
            (0..rank).map(|a| if batch(a) { starts[a] } else { starts[a] >> small.level }).collect();
        if small.name != large.name || valid.iter().any(|r| r.is_empty()) {
            return Err(Stop::Failed(format!("the window at {starts:?} has nothing to compare in {}", small.name)));
        }
        let last = rank - 1;
        let rows: usize = valid[..last].iter().map(|r| r.len()).product();
        let mut row = vec![T::default(); valid[last].len()];
        for mut i in 0..rows {
            let mut here = small.start + valid[last].start;
            let mut there = large.start + first[last] + valid[last].start;
            for axis in (0..last).rev() {
                let k = valid[axis].start + i % valid[axis].len();
                i /= valid[axis].len();
                here += k * small.strides[axis] as usize;
                there += (first[axis] + k) * large.strides[axis] as usize;
            }
            let bytes = there * size_of::<T>()..(there + row.len()) * size_of::<T>();
            stream.memcpy_dtoh(&coefficients.slice(bytes), row.as_mut_bytes())?;
            stream.synchronize()?;
            let what = format!("{}, window at {starts:?}, from coefficient {there}", small.name);
            super::compare::same(&what, &row, &expected[here..here + row.len()])?;
        }
    }
    Ok(())
}
