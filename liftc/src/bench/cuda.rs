//! CUDA benchmarks: transforms replayed as a graph, timed by events and compared with a copy kernel.
//!
//! A chain is one graph of many consecutive transforms. Each uses the next of several sets of arrays, so that no data
//! stays in a cache. The copy is a kernel with one 16-byte vector a thread, because the driver's own copies in a graph
//! are slower.

use super::case::Case;
use super::data;
use super::report::{DeviceInfo, Measurement, Verified, WITHIN_ROUNDING};
use super::stats::{Spread, in_turns};
use super::{TimedOperation, sets, with_sample};
use crate::failure::{Failure, Outcome, input};
use lifting::cuda::cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DriverError, sys};
use lifting::cuda::cudarc::nvrtc::Ptx;
use lifting::cuda::{self, CudaDevice, CudaPlan, CudaWorkspace, Transform};
use lifting::{Device, Sample};
use lifting_codec::{CodecBuilder, Decoder, Image};
use lifting_codegen::back::{Cuda, Dialect};
use lifting_codegen::ir::Kernel;
use lifting_codegen::ir::valid::validate;
use std::ffi::c_void;
use std::sync::Arc;
use zerocopy::IntoBytes;

const COPY: &str = r#"extern "C" __global__ void copy(const uint4 *from, uint4 *to, unsigned long long vectors, unsigned int rest) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < vectors) {
        to[i] = from[i];
    } else if (i == vectors) {
        for (unsigned int b = 0; b < rest; b++) {
            ((unsigned char *)(to + i))[b] = ((const unsigned char *)(from + i))[b];
        }
    }
}
"#;

/// Threads per block of the copy.
const THREADS: u64 = 256;

/// Fewest transforms in a chain.
const CHAIN: usize = 32;

/// Shortest measured interval in microseconds; faster chains are replayed within it.
const SHORTEST: f64 = 2000.0;

/// A CUDA device and its reference copy kernel.
pub struct Runner {
    device: CudaDevice,
    stream: Arc<CudaStream>,
    copy: CudaFunction,
}

impl Runner {
    /// Compiles the copy kernel.
    pub fn new(device: &CudaDevice) -> Outcome<Runner> {
        let compiled = cuda::compile(COPY, device.properties().architecture).map_err(input)?;
        let module = device.context().load_module(Ptx::from_binary(compiled.bytes().to_vec()));
        let copy = module.and_then(|m| m.load_function("copy")).map_err(cannot("load the copy kernel"))?;
        Ok(Runner { device: device.clone(), stream: device.new_stream().map_err(input)?, copy })
    }
}

impl Runner {
    /// Times of transfers between host and device, and of copies of the same size on the device. Both rotate through
    /// arrays that exceed any cache together.
    pub fn transfer(&self, transfer: Transfer, repeats: usize) -> Outcome<[Spread; 2]> {
        let Runner { device, stream, .. } = self;
        let Transfer { bytes, pinned, back } = transfer;
        let failed = cannot("copy between host and device");
        let [mut arrays, others] = self.pairs(bytes)?;
        let count = arrays.len();
        let mut pageable = vec![1u8; bytes];
        // SAFETY: any byte is valid, and all are written before they are read.
        let mut locked = unsafe { device.context().alloc_pinned::<u8>(bytes) }.map_err(&failed)?;
        locked.as_mut_slice().map_err(&failed)?.fill(1);
        let mut times = Vec::new();
        // The first two warm up.
        for turn in 0..repeats + 2 {
            let array = &mut arrays[turn % count];
            stream.synchronize().map_err(&failed)?;
            let begin = std::time::Instant::now();
            match pinned {
                true => stream.memcpy_htod(&locked, array),
                false => stream.memcpy_htod(&pageable[..], array),
            }
            .map_err(&failed)?;
            if back {
                match pinned {
                    true => stream.memcpy_dtoh(array, &mut locked),
                    false => stream.memcpy_dtoh(array, &mut pageable[..]),
                }
                .map_err(&failed)?;
            }
            stream.synchronize().map_err(&failed)?;
            if turn >= 2 {
                times.push(begin.elapsed().as_secs_f64() * 1e6);
            }
        }
        Ok([Spread::of(times), self.copies(&[arrays, others], repeats)?])
    }

    /// Source and target arrays of `bytes` each, together larger than any cache.
    fn pairs(&self, bytes: usize) -> Outcome<[Vec<CudaSlice<u8>>; 2]> {
        let Runner { device, stream, .. } = self;
        let failed = cannot("allocate the arrays");
        device.synchronize().map_err(input)?;
        let (free, _) = device.context().mem_get_info().map_err(&failed)?;
        let count = sets(2 * bytes, 2 * bytes, free / 20 * 19).ok_or_else(|| input("out of memory on the device"))?;
        let allocate = || (0..count).map(|_| stream.alloc_zeros::<u8>(bytes)).collect::<Result<Vec<_>, _>>();
        Ok([allocate().map_err(&failed)?, allocate().map_err(&failed)?])
    }

    /// Times of a copy between these arrays.
    fn copies(&self, [from, to]: &[Vec<CudaSlice<u8>>; 2], repeats: usize) -> Outcome<Spread> {
        let Runner { device, stream, copy } = self;
        let failed = cannot("copy arrays");
        let mut chain = Chain::new(device).map_err(&failed)?;
        for _ in 0..CHAIN.div_ceil(from.len()) {
            for (from, to) in from.iter().zip(to) {
                let bytes = from.len() as u64;
                let (from, to) = (from.device_ptr(stream).0, to.device_ptr(stream).0);
                chain.add_copy(copy, from, to, bytes).map_err(&failed)?;
            }
        }
        let chain = chain.finish(stream).map_err(&failed)?;
        chain.time(stream, 1).map_err(&failed)?;
        let times = (0..repeats).map(|_| chain.time(stream, 4).map_err(&failed)).collect::<Outcome<Vec<_>>>()?;
        Ok(Spread::of(times))
    }

    /// Times of the block coder on the device, encoding or decoding a picture, and of a copy of 4-byte coefficients.
    pub fn coder(&self, builder: CodecBuilder, image: &Image, decodes: bool, repeats: usize) -> Outcome<[Spread; 2]> {
        let Runner { device, stream, .. } = self;
        let on = Device::Cuda(device.clone());
        let codec = builder.device(on.clone()).build().map_err(input)?;
        let mut encoder = codec.on_device(image.format(), 1).map_err(input)?;
        encoder.on_stream(stream).map_err(input)?;
        encoder.upload(0, image).map_err(input)?;
        encoder.encode().map_err(input)?;
        let coded = encoder.streams().map_err(input)?.remove(0);
        let decoder = Decoder::new(&coded).and_then(|decoder| decoder.on_device(&on, 1, coded.len()));
        let mut decoder = decoder.map_err(input)?;
        decoder.on_stream(stream).map_err(input)?;
        decoder.upload(0, &coded).map_err(input)?;
        decoder.decode().map_err(input)?;
        let mut code = || if decodes { decoder.decode_blocks() } else { encoder.encode_blocks() };
        let failed = cannot("time the coder");
        let mut time = |launches: u32| {
            let start = stream.record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT)).map_err(&failed)?;
            (0..launches).try_for_each(|_| code()).map_err(input)?;
            let end = stream.record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT)).map_err(&failed)?;
            Ok(f64::from(start.elapsed_ms(&end).map_err(&failed)?) * 1e3 / f64::from(launches))
        };
        time(1)?;
        let launches = (SHORTEST / time(1)?.max(1.0)).ceil().clamp(1.0, 1000.0) as u32;
        let times = (0..repeats).map(|_| time(launches)).collect::<Outcome<Vec<_>>>()?;
        let copies = self.copies(&self.pairs(4 * image.samples.len())?, repeats)?;
        if !decoder.decoded().map_err(input)?[0] {
            return Err(input("the device failed to decode the picture"));
        }
        Ok([Spread::of(times), copies])
    }

    /// Median times of cases that differ in schedule and blocks only, each in its first direction: a short measurement
    /// to choose one, without verification. An error for a case that cannot be planned.
    pub fn compare(&self, cases: &[Case], repeats: usize) -> Outcome<Vec<Outcome<f64>>> {
        let Some(first) = cases.first() else { return Ok(Vec::new()) };
        with_sample!(first.sample, compare(self, cases, repeats))
    }

    /// Registers per thread and occupancy in per cent of a case's analysis kernel.
    pub fn usage(&self, case: &Case) -> Outcome<[f64; 2]> {
        with_sample!(case.sample, usage(self, case))
    }

    /// Registers per thread and occupancy in per cent of a kernel.
    pub fn usage_of(&self, kernel: &Kernel) -> Outcome<[f64; 2]> {
        let info = validate(kernel).map_err(|e| input(e[0].to_string()))?;
        let (source, names) = Cuda.write_with(&[(kernel, &info)], &mut Cuda.namer()).map_err(input)?;
        self.used(&source, &names[0])
    }

    /// Registers per thread and occupancy in per cent of a named kernel in a source.
    fn used(&self, source: &str, name: &str) -> Outcome<[f64; 2]> {
        let device = &self.device;
        let compiled = cuda::compile(source, device.properties().architecture).map_err(input)?;
        let module = device.context().load_module(Ptx::from_binary(compiled.bytes().to_vec()));
        let failed = cannot("report a kernel's resources");
        let kernel = module.and_then(|module| module.load_function(name)).map_err(&failed)?;
        let registers = kernel.num_regs().map_err(&failed)?;
        let threads = kernel.max_threads_per_block().map_err(&failed)? as u32;
        let blocks = kernel.occupancy_max_active_blocks_per_multiprocessor(threads, 0, None).map_err(&failed)?;
        let held = f64::from(blocks * threads) / f64::from(device.properties().threads_per_multiprocessor);
        Ok([f64::from(registers), 100.0 * held])
    }
}

/// A transfer from host to device, and optionally back.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Bytes in one direction.
    pub bytes: usize,
    /// Whether the host memory is pinned.
    pub pinned: bool,
    /// Whether the data returns to the host.
    pub back: bool,
}

fn usage<T: Sample>(runner: &Runner, case: &Case) -> Outcome<[f64; 2]> {
    let device = &runner.device;
    let plan = case.plan::<T>(&Device::Cuda(device.clone()))?;
    let source = plan.cuda().map_err(input)?.source();
    let heads = source.lines().filter(|line| line.contains("__global__")).filter_map(|line| line.rsplit_once('('));
    let mut names = heads.filter_map(|(head, _)| head.rsplit(' ').next());
    let name = names.find(|name| name.contains("_forward_")).ok_or_else(|| input("the plan has no analysis kernel"))?;
    runner.used(source, name)
}

impl super::Runner for Runner {
    fn device(&self) -> DeviceInfo {
        let properties = self.device.properties();
        let mut driver = 0;
        // SAFETY: the driver is initialised, and the call only writes the number.
        let known = unsafe { sys::cuDriverGetVersion(&mut driver) } == sys::CUresult::CUDA_SUCCESS;
        let release = std::fs::read_to_string("/proc/driver/nvidia/version").ok();
        DeviceInfo::Cuda {
            name: properties.name.clone(),
            architecture: properties.architecture.to_string(),
            multiprocessors: properties.multiprocessors,
            memory_bytes: properties.memory_bytes,
            l2_bytes: properties.l2_bytes,
            driver: if known { format!("CUDA {}.{}", driver / 1000, driver % 1000 / 10) } else { "unknown".into() },
            driver_release: release.and_then(|text| text.lines().next().map(str::to_owned)),
        }
    }

    fn measure(&mut self, case: &Case, repeats: usize) -> Outcome<Vec<Measurement>> {
        with_sample!(case.sample, measure(self, case, repeats))
    }
}

fn compare<T: Sample>(runner: &Runner, cases: &[Case], repeats: usize) -> Outcome<Vec<Outcome<f64>>> {
    let Runner { device, stream, .. } = runner;
    device.synchronize().map_err(input)?;
    let (free, _) = device.context().mem_get_info().map_err(cannot("report its free memory"))?;
    let failed = cannot("compare schedules");
    let (bytes, samples) = (cases[0].bytes(), cases[0].samples());
    // Half is for workspaces.
    let count = sets(2 * bytes, 3 * bytes, free / 2).ok_or_else(|| input("out of memory on the device"))?;
    let mut arrays = Arrays::allocate(stream, count, [bytes; 2]).map_err(&failed)?;
    arrays.fill(stream, data::random::<T>(samples, super::case::Rows::GAPLESS).as_bytes()).map_err(&failed)?;
    // Synthesis takes the data for coefficients.
    let at = arrays.addresses(stream);
    let is_inverse = cases[0].ways.first().is_some_and(|way| *way == TimedOperation::Inverse);
    let given = |at: Addresses| if is_inverse { Addresses { coefficients: at.data, ..at } } else { at };
    let at: Vec<Addresses> = at.into_iter().map(given).collect();
    let time = |case: &Case| {
        let plan = case.plan::<T>(&Device::Cuda(device.clone()))?;
        let on_device = plan.cuda().map_err(input)?;
        let mut workspace = on_device.workspace(stream).map_err(input)?;
        let transform = if is_inverse { Transform::Inverse { level: 0 } } else { Transform::Forward };
        let chain = chained(runner, on_device, transform, (&at, 1), &mut workspace)?;
        let replays = replays(stream, &[&chain]).map_err(&failed)?[0];
        let times = (0..repeats).map(|_| chain.time(stream, replays).map_err(&failed)).collect::<Outcome<Vec<_>>>()?;
        Ok(Spread::of(times).median)
    };
    Ok(cases.iter().map(time).collect())
}

fn cannot(what: &'static str) -> impl Fn(DriverError) -> Failure {
    move |e| input(format!("the CUDA device cannot {what}: {e}"))
}

fn measure<T: Sample>(runner: &Runner, case: &Case, repeats: usize) -> Outcome<Vec<Measurement>> {
    let Runner { device, stream, .. } = runner;
    // The previous case's memory is freed only after its work.
    device.synchronize().map_err(input)?;
    let plan = case.plan::<T>(&Device::Cuda(device.clone()))?;
    let on_device = plan.cuda().map_err(input)?;
    let rows = case.rows()?;
    let [data_bytes, coefficient_bytes] = [plan.len(), plan.coefficient_len()].map(|n| n * size_of::<T>());
    let pair = data_bytes + coefficient_bytes;
    let (free, _) = device.context().mem_get_info().map_err(cannot("report its free memory"))?;
    let usable = (free / 20 * 19).saturating_sub(on_device.workspace_bytes());
    let count = sets(pair, pair + data_bytes, usable).ok_or_else(|| {
        let needed = pair + data_bytes + on_device.workspace_bytes();
        input(format!("out of memory on {device}: the arrays need {needed} bytes and {free} are free"))
            .help("give a smaller --shape or --batch")
    })?;
    let mut workspace = on_device.workspace(stream).map_err(input)?;
    let has_adjoints = case.ways.iter().any(|way| way.is_adjoint());
    let mut of_adjoints = match has_adjoints {
        true => Some(on_device.adjoint_workspace(stream).map_err(input)?),
        false => None,
    };
    let original: Vec<T> = data::random(plan.len(), rows);
    let mut arrays =
        Arrays::allocate(stream, count, [data_bytes, coefficient_bytes]).map_err(cannot("allocate the arrays"))?;
    arrays.fill(stream, original.as_bytes()).map_err(cannot("fill the arrays"))?;
    let at = arrays.addresses(stream);

    let rounds = CHAIN.div_ceil(count);
    let replayed = cannot("make a graph");
    let mut chain = |transform: Transform| {
        let workspace = match (transform, &mut of_adjoints) {
            (Transform::Adjoint | Transform::InverseAdjoint, Some(workspace)) => workspace,
            _ => &mut workspace,
        };
        chained(runner, on_device, transform, (&at, rounds), workspace)
    };
    let forward = chain(Transform::Forward)?;
    let inverse = chain(Transform::Inverse { level: 0 })?;
    let adjoints = match has_adjoints {
        true => Some([chain(Transform::Adjoint)?, chain(Transform::InverseAdjoint)?]),
        false => None,
    };
    let mut copy = Chain::new(device).map_err(&replayed)?;
    for at in (0..rounds).flat_map(|_| &at) {
        copy.add_copy(&runner.copy, at.data, at.back, case.bytes() as u64).map_err(&replayed)?;
    }
    let copy = copy.finish(stream).map_err(&replayed)?;

    // Verifies the timed graphs themselves, on poisoned arrays.
    let failed = cannot("run the transforms");
    forward.time(stream, 1).map_err(&failed)?;
    inverse.time(stream, 1).map_err(&failed)?;
    let download = |from: &CudaSlice<u8>, len: usize| {
        let mut to: Vec<T> = data::poisoned(len);
        stream.memcpy_dtoh(from, to.as_mut_bytes()).map_err(&failed)?;
        stream.synchronize().map_err(&failed)?;
        Ok::<_, Failure>(to)
    };
    let got = download(&arrays.coefficients[count - 1], plan.coefficient_len())?;
    let smaller = |shape: &[usize], data: &[T]| {
        let plan = case.plan_of::<T>(shape, &Device::Cuda(device.clone()))?;
        on_slices(&plan, stream, data)
    };
    let verified = if case.transforms() {
        let forward_shape = data::forward(case, &original, &got, smaller)?;
        let back = download(&arrays.back[count - 1], plan.len())?;
        let inverse_error = data::reconstruction(&back, &original, rows)?;
        if let Some([adjoint, inverse_adjoint]) = &adjoints {
            adjoint.time(stream, 1).map_err(&failed)?;
            let gradient = download(&arrays.back[count - 1], plan.len())?;
            data::transposed("the adjoint", [&original, &got], [&got, &gradient], rows)?;
            inverse_adjoint.time(stream, 1).map_err(&failed)?;
            let gradient = download(&arrays.coefficients[count - 1], plan.coefficient_len())?;
            data::transposed("the adjoint of the inverse", [&got, &back], [&original, &gradient], rows)?;
        }
        let forward_equals = if case.schedule.has_lifting_bits() { "the CPU plan" } else { WITHIN_ROUNDING };
        Verified { forward_equals, forward_shape, inverse_error }
    } else {
        Verified { forward_equals: "nothing: not a transform", forward_shape: Vec::new(), inverse_error: 0.0 }
    };

    let chains: Vec<&Chain> = std::iter::once(&copy)
        .chain(case.ways.iter().map(|&way| match (way, &adjoints) {
            (TimedOperation::Forward, _) => &forward,
            (TimedOperation::Adjoint, Some([adjoint, _])) => adjoint,
            (TimedOperation::InverseAdjoint, Some([_, adjoint])) => adjoint,
            _ => &inverse,
        }))
        .collect();
    let replays = replays(stream, &chains).map_err(&failed)?;
    let times = in_turns(repeats, &replays, |which, replays| chains[which].time(stream, replays).map_err(&failed))?;
    Ok(Measurement::all(case, times, (count, pair), plan.recipe(), on_device.workspace_bytes(), &verified))
}

/// Graph of a transform on each of these arrays in turn, some rounds of them.
fn chained<T: Sample>(
    Runner { device, stream, .. }: &Runner,
    plan: &CudaPlan<T>,
    transform: Transform,
    (at, rounds): (&[Addresses], usize),
    workspace: &mut CudaWorkspace,
) -> Outcome<Chain> {
    let replayed = cannot("make a graph");
    let mut chain = Chain::new(device).map_err(&replayed)?;
    let mut parts = Vec::new();
    for at in at {
        let (source, target) = match transform {
            Transform::Forward | Transform::InverseAdjoint => (at.data, at.coefficients),
            _ => (at.coefficients, at.back),
        };
        // SAFETY: the arrays have the plan's sizes and outlive the chain; nothing else uses them while it runs.
        parts.push(unsafe { plan.graph(transform, stream, source, target, workspace) }.map_err(input)?);
    }
    for part in (0..rounds).flat_map(|_| &parts) {
        chain.add_graph(part.handle()).map_err(&replayed)?;
    }
    chain.finish(stream).map_err(&replayed)
}

/// Replays of each chain between two events, for at least [`SHORTEST`].
fn replays(stream: &Arc<CudaStream>, chains: &[&Chain]) -> Result<Vec<u32>, DriverError> {
    let replays = |chain: &&Chain| {
        chain.time(stream, 1)?;
        let one = chain.time(stream, 1)? * chain.length as f64;
        Ok((SHORTEST / one.max(1.0)).ceil().clamp(1.0, 1000.0) as u32)
    };
    chains.iter().map(replays).collect()
}

/// A forward transform of host data in device memory; gaps hold [`data::POISON`].
fn on_slices<T: Sample>(plan: &lifting::Plan<T>, stream: &Arc<CudaStream>, data: &[T]) -> Outcome<Vec<T>> {
    let on_device = plan.cuda().map_err(input)?;
    let failed = cannot("run a smaller transform");
    let source = stream.clone_htod(data.as_bytes()).map_err(&failed)?;
    let mut result: Vec<T> = data::poisoned(plan.coefficient_len());
    let target = stream.clone_htod(result.as_bytes()).map_err(&failed)?;
    let mut workspace = on_device.workspace(stream).map_err(input)?;
    let (from, to) = (source.device_ptr(stream).0, target.device_ptr(stream).0);
    // SAFETY: the arrays have the plan's sizes, are used on this stream alone, and outlive the synchronisation below.
    unsafe { on_device.execute_raw(Transform::Forward, stream, from, to, &mut workspace) }.map_err(input)?;
    stream.memcpy_dtoh(&target, result.as_mut_bytes()).map_err(&failed)?;
    stream.synchronize().map_err(&failed)?;
    Ok(result)
}

/// Sets of arrays: a set is one array of each kind.
struct Arrays {
    data: Vec<CudaSlice<u8>>,
    coefficients: Vec<CudaSlice<u8>>,
    back: Vec<CudaSlice<u8>>,
}

/// Device addresses of a set's arrays.
struct Addresses {
    data: sys::CUdeviceptr,
    coefficients: sys::CUdeviceptr,
    back: sys::CUdeviceptr,
}

impl Arrays {
    /// Allocates sets of arrays, with so many bytes of data and of coefficients each.
    fn allocate(
        stream: &Arc<CudaStream>,
        count: usize,
        [data, coefficients]: [usize; 2],
    ) -> Result<Arrays, DriverError> {
        let allocate = |bytes: usize| {
            // SAFETY: any byte is valid, and all are written before they are read.
            (0..count).map(|_| unsafe { stream.alloc::<u8>(bytes) }).collect::<Result<Vec<_>, _>>()
        };
        Ok(Arrays { data: allocate(data)?, coefficients: allocate(coefficients)?, back: allocate(data)? })
    }

    /// Copies the data to every set, and fills the results with [`data::POISON`].
    fn fill(&mut self, stream: &Arc<CudaStream>, data: &[u8]) -> Result<(), DriverError> {
        let (first, others) = self.data.split_first_mut().expect("there is a set");
        stream.memcpy_htod(data, first)?;
        for other in others {
            stream.memcpy_dtod(first, other)?;
        }
        for array in self.coefficients.iter_mut().chain(&mut self.back) {
            let len = array.len();
            // SAFETY: the array has `len` bytes, and its stream orders the write.
            unsafe { sys::cuMemsetD8Async(array.device_ptr(stream).0, data::POISON, len, stream.cu_stream()) }
                .result()?;
        }
        stream.synchronize()
    }

    fn addresses(&self, stream: &Arc<CudaStream>) -> Vec<Addresses> {
        let at = |array: &CudaSlice<u8>| array.device_ptr(stream).0;
        let sets = self.data.iter().zip(&self.coefficients).zip(&self.back);
        sets.map(|((d, c), b)| Addresses { data: at(d), coefficients: at(c), back: at(b) }).collect()
    }
}

/// A graph of consecutive parts.
struct Chain {
    device: CudaDevice,
    graph: sys::CUgraph,
    executable: sys::CUgraphExec,
    last: Option<sys::CUgraphNode>,
    /// Number of parts.
    length: usize,
}

impl Chain {
    fn new(device: &CudaDevice) -> Result<Chain, DriverError> {
        device.context().bind_to_thread()?;
        let null = std::ptr::null_mut();
        let mut chain =
            Chain { device: device.clone(), graph: null, executable: std::ptr::null_mut(), last: None, length: 0 };
        // SAFETY: the call writes the new graph's handle, and `drop` destroys the graph.
        unsafe { sys::cuGraphCreate(&mut chain.graph, 0) }.result()?;
        Ok(chain)
    }

    fn append(
        &mut self,
        add: impl FnOnce(&mut sys::CUgraphNode, sys::CUgraph, &[sys::CUgraphNode]) -> sys::CUresult,
    ) -> Result<(), DriverError> {
        let mut node = std::ptr::null_mut();
        add(&mut node, self.graph, self.last.as_slice()).result()?;
        self.last = Some(node);
        self.length += 1;
        Ok(())
    }

    /// Appends a clone of a graph.
    fn add_graph(&mut self, part: sys::CUgraph) -> Result<(), DriverError> {
        // SAFETY: the handles belong to this chain and to a live graph.
        self.append(|node, graph, before| unsafe {
            sys::cuGraphAddChildGraphNode(node, graph, before.as_ptr(), before.len(), part)
        })
    }

    /// Appends a copy of `bytes`.
    fn add_copy(
        &mut self,
        kernel: &CudaFunction,
        from: sys::CUdeviceptr,
        to: sys::CUdeviceptr,
        bytes: u64,
    ) -> Result<(), DriverError> {
        let (vectors, rest) = (bytes / 16, (bytes % 16) as u32);
        // One more thread copies the remaining bytes.
        let blocks = (vectors + 1).div_ceil(THREADS) as u32;
        let (mut from, mut to, mut vectors, mut rest) = (from, to, vectors, rest);
        let mut arguments: [*mut c_void; 4] =
            [(&raw mut from).cast(), (&raw mut to).cast(), (&raw mut vectors).cast(), (&raw mut rest).cast()];
        let params = sys::CUDA_KERNEL_NODE_PARAMS {
            func: kernel.cu_function(),
            gridDimX: blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: THREADS as u32,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            kernelParams: arguments.as_mut_ptr(),
            extra: std::ptr::null_mut(),
            kern: std::ptr::null_mut(),
            ctx: std::ptr::null_mut(),
        };
        // SAFETY: the arguments match the kernel, and the call copies them.
        self.append(|node, graph, before| unsafe {
            sys::cuGraphAddKernelNode_v2(node, graph, before.as_ptr(), before.len(), &params)
        })
    }

    fn finish(mut self, stream: &CudaStream) -> Result<Chain, DriverError> {
        // SAFETY: the graph is complete, and `drop` destroys the executable.
        unsafe {
            sys::cuGraphInstantiateWithFlags(&mut self.executable, self.graph, 0).result()?;
            sys::cuGraphUpload(self.executable, stream.cu_stream()).result()?;
        }
        stream.synchronize()?;
        Ok(self)
    }

    /// Mean time of a part in microseconds, over `replays`.
    fn time(&self, stream: &CudaStream, replays: u32) -> Result<f64, DriverError> {
        let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let begin = stream.record_event(flags)?;
        for _ in 0..replays {
            // SAFETY: the chain's arrays outlive it, and the stream is synchronised below.
            unsafe { sys::cuGraphLaunch(self.executable, stream.cu_stream()) }.result()?;
        }
        let end = stream.record_event(flags)?;
        stream.synchronize()?;
        Ok(f64::from(begin.elapsed_ms(&end)?) * 1e3 / (f64::from(replays) * self.length as f64))
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        if self.device.context().bind_to_thread().is_err() {
            return;
        }
        // SAFETY: this chain owns both handles. A failure only leaks them.
        unsafe {
            if !self.executable.is_null() {
                let _ = sys::cuGraphExecDestroy(self.executable);
            }
            if !self.graph.is_null() {
                let _ = sys::cuGraphDestroy(self.graph);
            }
        }
    }
}
