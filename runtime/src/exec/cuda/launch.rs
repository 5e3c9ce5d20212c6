//! Lists of launches, submitted to the driver.
//!
//! The planner decides which launches overlap and which blocks run in clusters (`Program::arrange`).

use super::cache::{self, Compiled};
use super::device::{CudaDevice, describe};
use super::error::CudaError;
use super::nvrtc::Target;
use crate::error::PlanError;
use crate::threads;
use cudarc::driver::{CudaFunction, CudaModule, sys};
use cudarc::nvrtc::Ptx;
use lifting_codegen::back::{Cuda, Dialect};
use lifting_codegen::ir::Kernel;
use lifting_codegen::ir::valid::KernelInfo;
use lifting_planner::{Arg, Array, Extent, Launch, List, Machine, Program, Region};
use std::ffi::c_void;
use std::sync::Arc;

/// Upper bound on the parameters of a kernel.
const MOST_PARAMETERS: usize = 32;

/// Compute capability (major) of devices on which block clusters were measured to gain.
const CLUSTERED: u32 = 9;

/// Environment variable that makes all launches overlap (`1`) or none (`0`), for plans of any size.
const OVERLAP: &str = "LIFTING_OVERLAP";

/// Value of the variable, if set.
fn asked() -> Option<bool> {
    match std::env::var_os(OVERLAP)?.to_str()? {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// The next kernel begins when the previous one has ended.
const ORDINARY: sys::CUgraphEdgeData = sys::CUgraphEdgeData { from_port: 0, to_port: 0, type_: 0, reserved: [0; 5] };
/// The next kernel begins once all blocks of the previous one have begun and allow it; it waits by itself.
const OVERLAPPING: sys::CUgraphEdgeData = sys::CUgraphEdgeData {
    from_port: sys::CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC as u8,
    type_: sys::CUgraphDependencyType::CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC as u8,
    ..ORDINARY
};

/// A program with its kernels loaded on a device.
#[derive(Debug)]
pub(super) struct Loaded {
    pub program: Program,
    /// CUDA C++ source of the kernels.
    pub source: String,
    functions: Vec<CudaFunction>,
    /// Whether blocks may run in clusters.
    clusters: bool,
    /// Offset of each part of the workspace, in bytes.
    starts: [usize; Region::COUNT],
    pub workspace_bytes: usize,
}

/// Addresses for a list: first sample of source and target, and the workspace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses {
    pub source: sys::CUdeviceptr,
    pub target: sys::CUdeviceptr,
    pub scratch: sys::CUdeviceptr,
}

/// Arguments of a launch as the driver takes them.
struct Arguments {
    values: [u64; MOST_PARAMETERS],
}

impl Arguments {
    /// Pointers to the values. The driver reads the parameter's size in bytes from the low end: all its hosts are
    /// little-endian.
    fn pointers(&mut self) -> [*mut c_void; MOST_PARAMETERS] {
        let base = self.values.as_mut_ptr();
        std::array::from_fn(|i| base.wrapping_add(i).cast())
    }
}

impl Loaded {
    /// Writes, compiles and loads the kernels of a program. Precompiled `kernels` replace the compiler.
    pub fn new(
        device: &CudaDevice,
        mut program: Program,
        kernels: Option<&Compiled>,
        shape: &[usize],
    ) -> Result<Loaded, PlanError> {
        let too_large = || PlanError::TooLarge { shape: shape.to_vec() };
        let (starts, workspace_bytes) = program.regions.layout().ok_or_else(too_large)?;
        let (mut target, kernels) = (None, kernels.filter(|_| !program.kernels.is_empty()));
        if !program.kernels.is_empty() {
            device.ready()?;
            if kernels.is_none() {
                target = Some(Target::of(device.properties().architecture)?);
            }
        }
        let samples = shape.iter().fold(1, |n: usize, &side| n.saturating_mul(side));
        let can_wait = target.as_ref().is_some_and(Target::can_wait);
        let machine = Machine::of(&device.properties().facts());
        let extent = if can_wait { Extent::of(samples, asked(), &machine) } else { Extent::NONE };
        program.arrange(extent, &machine)?;
        let list: Vec<_> = program.kernels.iter().map(|made| (&made.kernel, &made.info)).collect();
        if let Some((wide, _)) = list.iter().find(|(kernel, _)| kernel.params.len() > MOST_PARAMETERS) {
            let reason = format!("it has more than {MOST_PARAMETERS} parameters");
            return Err(PlanError::Kernel { kernel: wide.name.clone(), reason });
        }
        let (source, names) = Cuda
            .write_with(&list, &mut Cuda.namer())
            .map_err(|e| PlanError::Kernel { kernel: e.kernel.clone(), reason: e.to_string() })?;
        let functions = match (&target, kernels) {
            (Some(target), _) => compile(device, &list, target)?,
            (None, Some(compiled)) => {
                let module = load(device, compiled)?;
                names.iter().map(|name| function_of(&module, name)).collect::<Result<_, _>>()?
            }
            (None, None) => Vec::new(),
        };
        let clusters = target.is_some() && device.properties().architecture.major == CLUSTERED;
        Ok(Loaded { program, source, functions, clusters, starts, workspace_bytes })
    }

    /// Address of an array, and the size of its elements.
    fn array<T>(&self, array: Array, at: Addresses) -> (u64, usize) {
        match array {
            Array::Source => (at.source, size_of::<T>()),
            Array::Target => (at.target, size_of::<T>()),
            Array::Scratch(region) => {
                let index = region.index();
                let bytes = self.program.regions.0[index].map_or(1, |(scalar, _)| scalar.bytes());
                (at.scratch + self.starts[index] as u64, bytes)
            }
        }
    }

    fn arguments<T>(&self, launch: &Launch, at: Addresses) -> Result<Arguments, CudaError> {
        let mut values = [0; MOST_PARAMETERS];
        for (value, arg) in values.iter_mut().zip(&launch.args) {
            *value = match *arg {
                Arg::Int(v) => v as u64,
                Arg::Pointer(array, offset) => {
                    let (base, bytes) = self.array::<T>(array, at);
                    base.wrapping_add_signed(offset * bytes as i64)
                }
            };
        }
        if let (Some(placed), Some(fit)) = (&launch.placed, &self.program.kernels[launch.kernel].fit) {
            let address = |array| self.array::<T>(array, at).0;
            let settled = placed.arguments(&**fit, address).ok_or(CudaError::Misaligned { bytes: size_of::<T>() })?;
            values[placed.at..].iter_mut().zip(settled).for_each(|(value, v)| *value = v as u64);
        }
        Ok(Arguments { values })
    }

    /// Cluster attribute of a launch, if its blocks run in clusters.
    fn cluster(&self, launch: &Launch) -> Option<sys::CUlaunchAttribute> {
        let blocks = if self.clusters { launch.cluster } else { 1 };
        let mut clustered = attribute(sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
        clustered.value.clusterDim.x = blocks;
        clustered.value.clusterDim.y = 1;
        clustered.value.clusterDim.z = 1;
        (blocks > 1).then_some(clustered)
    }

    /// Launches a list in order. Allocates nothing and does not wait.
    ///
    /// # Safety
    /// The addresses must hold the data that the list reads and writes until the stream has executed it.
    pub unsafe fn launch<T>(
        &self,
        device: &CudaDevice,
        list: &List,
        stream: sys::CUstream,
        at: Addresses,
    ) -> Result<(), CudaError> {
        device.ready()?;
        let mut overlapping =
            attribute(sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
        overlapping.value.programmaticStreamSerializationAllowed = 1;
        for launch in &list.at(at.source, at.target).launches {
            let mut arguments = self.arguments::<T>(launch, at)?;
            let mut pointers = arguments.pointers();
            let [bx, by, bz] = self.program.kernels[launch.kernel].kernel.launch.block;
            let [gx, gy, gz] = launch.grid;
            let mut attribute = if launch.overlaps { Some(overlapping) } else { self.cluster(launch) };
            let config = sys::CUlaunchConfig {
                gridDimX: gx,
                gridDimY: gy,
                gridDimZ: gz,
                blockDimX: bx,
                blockDimY: by,
                blockDimZ: bz,
                sharedMemBytes: 0,
                hStream: stream,
                numAttrs: attribute.is_some().into(),
                attrs: attribute.as_mut().map_or(std::ptr::null_mut(), |attribute| attribute),
            };
            // SAFETY: grid, block and arguments are the kernel's; the addresses are the caller's promise.
            unsafe {
                let function = function(&self.functions[launch.kernel]);
                sys::cuLaunchKernelEx(&config, function, pointers.as_mut_ptr(), std::ptr::null_mut()).result()
            }
            .map_err(|e| device.error("launch a kernel", e))?;
        }
        Ok(())
    }

    /// Makes a graph of a list: independent launches may run in parallel.
    ///
    /// # Safety
    /// As for [`Loaded::launch`], for every launch of the graph.
    pub unsafe fn graph<T>(&self, device: &CudaDevice, list: &List, at: Addresses) -> Result<CudaGraph, CudaError> {
        device.ready()?;
        let failed = |e| device.error("make a graph", e);
        let mut graph = CudaGraph {
            device: device.clone(),
            functions: self.functions.clone(),
            graph: std::ptr::null_mut(),
            executable: std::ptr::null_mut(),
        };
        // SAFETY: plain driver calls on handles made here; `graph` destroys them, even after an error.
        unsafe {
            sys::cuGraphCreate(&mut graph.graph, 0).result().map_err(failed)?;
            let mut before = Vec::new();
            for group in list.at(at.source, at.target).launches.chunk_by(|_, next| next.beside_previous) {
                let mut nodes = Vec::new();
                let overlaps = group.iter().all(|launch| launch.overlaps);
                for launch in group {
                    nodes.push(self.node::<T>(device, graph.graph, launch, at)?);
                }
                // In a chain, each kernel waits for its predecessor itself. Otherwise the device waits for all kernels
                // of the group before.
                let in_chain = before.len() == 1 && nodes.len() == 1;
                let edge = if overlaps && in_chain { OVERLAPPING } else { ORDINARY };
                for &from in &before {
                    for to in &nodes {
                        sys::cuGraphAddDependencies_v2(graph.graph, &from, to, &edge, 1).result().map_err(failed)?;
                    }
                }
                before = nodes;
            }
            sys::cuGraphInstantiateWithFlags(&mut graph.executable, graph.graph, 0).result().map_err(failed)?;
        }
        Ok(graph)
    }

    /// Adds a launch as a graph node without dependencies.
    ///
    /// # Safety
    /// As for [`Loaded::graph`].
    unsafe fn node<T>(
        &self,
        device: &CudaDevice,
        graph: sys::CUgraph,
        launch: &Launch,
        at: Addresses,
    ) -> Result<sys::CUgraphNode, CudaError> {
        let mut arguments = self.arguments::<T>(launch, at)?;
        let mut pointers = arguments.pointers();
        let [bx, by, bz] = self.program.kernels[launch.kernel].kernel.launch.block;
        let [gx, gy, gz] = launch.grid;
        let params = sys::CUDA_KERNEL_NODE_PARAMS {
            func: function(&self.functions[launch.kernel]),
            gridDimX: gx,
            gridDimY: gy,
            gridDimZ: gz,
            blockDimX: bx,
            blockDimY: by,
            blockDimZ: bz,
            sharedMemBytes: 0,
            kernelParams: pointers.as_mut_ptr(),
            extra: std::ptr::null_mut(),
            kern: std::ptr::null_mut(),
            ctx: std::ptr::null_mut(),
        };
        let mut node = std::ptr::null_mut();
        // SAFETY: grid, block and arguments are the kernel's, and are copied.
        unsafe { sys::cuGraphAddKernelNode_v2(&mut node, graph, std::ptr::null(), 0, &params) }
            .result()
            .map_err(|e| device.error("make a graph", e))?;
        if let Some(cluster) = self.cluster(launch) {
            // SAFETY: the node was made above, and the value is of this attribute.
            unsafe { sys::cuGraphKernelNodeSetAttribute(node, cluster.id, &cluster.value) }
                .result()
                .map_err(|e| device.error("make a graph", e))?;
        }
        Ok(node)
    }
}

/// A whole transform as one graph launch, bound to its addresses. Made by [`CudaPlan::graph`](super::CudaPlan::graph).
#[derive(Debug)]
pub struct CudaGraph {
    device: CudaDevice,
    /// Keeps the kernels loaded.
    #[allow(dead_code)]
    functions: Vec<CudaFunction>,
    graph: sys::CUgraph,
    executable: sys::CUgraphExec,
}

// SAFETY: only this value owns the handles; the driver's graph calls may come from any thread, one at a time.
unsafe impl Send for CudaGraph {}

impl CudaGraph {
    /// Launches the whole transform on a stream without waiting.
    ///
    /// # Safety
    /// The graph's addresses must still be valid, and nothing else may use them until the stream has executed it.
    ///
    /// # Errors
    /// If the driver refuses, or the context has failed.
    pub unsafe fn launch(&mut self, stream: &cudarc::driver::CudaStream) -> Result<(), CudaError> {
        self.device.ready()?;
        // SAFETY: passed on from the caller.
        unsafe { sys::cuGraphLaunch(self.executable, stream.cu_stream()) }
            .result()
            .map_err(|e| self.device.error("launch a graph", e))
    }

    /// The driver's handle, for use as part of a larger graph (`cuGraphAddChildGraphNode` clones it). It is destroyed
    /// with this value.
    pub fn handle(&self) -> sys::CUgraph {
        self.graph
    }
}

impl Drop for CudaGraph {
    fn drop(&mut self) {
        if self.device.ready().is_err() {
            return;
        }
        // SAFETY: made by this crate and destroyed only here. A failure only leaks them.
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

pub(super) fn load(device: &CudaDevice, compiled: &Compiled) -> Result<Arc<CudaModule>, CudaError> {
    compiled.check()?;
    let module = device.context().load_module(Ptx::from_binary(compiled.bytes().to_vec()));
    module.map_err(|e| match device.error("load a module", e) {
        lost @ CudaError::ContextLost { .. } => lost,
        _ => CudaError::Module { reason: describe(e) },
    })
}

/// Compiles kernels and loads them, each by itself: the threads of the host share them, and the cache finds those that
/// plans have in common.
pub(super) fn compile(
    device: &CudaDevice,
    kernels: &[(&Kernel, &KernelInfo)],
    target: &Target,
) -> Result<Vec<CudaFunction>, PlanError> {
    let compiled = threads::map(kernels, |kernel| -> Result<(Compiled, String), PlanError> {
        let (source, mut names) = Cuda
            .write_with(&[*kernel], &mut Cuda.namer())
            .map_err(|e| PlanError::Kernel { kernel: e.kernel.clone(), reason: e.to_string() })?;
        Ok((cache::compiled(&source, target)?, names.remove(0)))
    });
    let function = |compiled: Result<(Compiled, String), PlanError>| {
        let (compiled, name) = compiled?;
        Ok(function_of(&load(device, &compiled)?, &name)?)
    };
    compiled.into_iter().map(function).collect()
}

/// A kernel of a module.
fn function_of(module: &Arc<CudaModule>, name: &str) -> Result<CudaFunction, CudaError> {
    module.load_function(name).map_err(|e| CudaError::Module {
        reason: format!(
            "it has no kernel `{name}`, so it was made for another plan, device or version: {}",
            describe(e)
        ),
    })
}

/// A launch attribute without a value.
fn attribute(id: sys::CUlaunchAttributeID) -> sys::CUlaunchAttribute {
    sys::CUlaunchAttribute { id, pad: [0; 4], value: sys::CUlaunchAttributeValue { pad: [0; 64] } }
}

/// The driver's handle of a kernel.
fn function(function: &CudaFunction) -> sys::CUfunction {
    function.cu_function()
}

#[cfg(test)]
mod tests {
    use super::super::nvrtc::Architecture;
    use super::super::nvrtc::tests::{SM_90, available};
    use super::*;
    use lifting_codegen::ir::Stmt;
    use lifting_codegen::ir::visit::any_stmt;
    use lifting_dsl::geometry::{Geometry, Layout};
    use lifting_dsl::sample::SampleType;
    use lifting_planner::{Problem, Schedule, Tuning};

    const SM_75: Architecture = Architecture { major: 7, minor: 5 };

    /// NVRTC accepts the kernels of plans, for each kind of arithmetic.
    #[test]
    fn programs_compile() {
        if !available("programs_compile") {
            return;
        }
        let wavelets = [
            ("dd137", SampleType::I16, 1),
            ("legall53", SampleType::I64, 0),
            ("cdf97", SampleType::F32, 0),
            ("cdf97", SampleType::F64, 0),
            ("cdf97", SampleType::F16, 0),
            ("cdf97", SampleType::Bf16, 0),
        ];
        for (name, sample, gain_shift) in wavelets {
            let problem = Problem {
                layout: Layout::Interleaved,
                gain_shift,
                double_lone_odd: gain_shift > 0,
                ..Problem::new(crate::catalogue::find(name).unwrap(), Geometry::uniform(&[1, 40, 50], 2).unwrap())
            };
            let tuning = Tuning::new(Schedule::Auto, Machine::default(), "sm_90".into());
            let strides = [2000, 50, 1];
            let mut programs = vec![Program::new(&problem, sample, &strides, &strides, &tuning).unwrap()];
            // Levels of storage types with three axes are in f32 between passes, and stay separate.
            let storage = matches!(sample, SampleType::F16 | SampleType::Bf16);
            let both = programs[0].kernels.iter().any(|made| made.fit.is_some());
            assert_eq!(both, !storage, "{name} on {sample}");
            if problem.scheme.domain() == lifting_dsl::Domain::Real {
                programs.push(Program::adjoint(&problem, sample, &strides, &strides, &tuning).unwrap());
            }
            for mut program in programs {
                // Kernels wait if the device can.
                program.arrange(Extent::of(1 << 30, Some(true), &tuning.machine), &tuning.machine).unwrap();
                let kernels: Vec<_> = program.kernels.iter().map(|made| (&made.kernel, &made.info)).collect();
                let waits = |kernel: &Kernel| any_stmt(&kernel.body, &|s| *s == Stmt::WaitLaunches);
                assert!(kernels.iter().all(|(kernel, _)| waits(kernel)));
                assert!(kernels.len() >= 3 && kernels.iter().all(|(k, _)| k.params.len() <= MOST_PARAMETERS));
                let (source, names) = Cuda.write_with(&kernels, &mut Cuda.namer()).unwrap();
                for architecture in [SM_90, SM_75] {
                    let target = Target::of(architecture).unwrap();
                    let compiled =
                        cache::compiled(&source, &target).unwrap_or_else(|e| panic!("{name} on {sample}: {e}"));
                    assert!(compiled.bytes().starts_with(b"\x7fELF"));
                    // The module has the kernels' names, all different.
                    let text = String::from_utf8_lossy(compiled.bytes()).into_owned();
                    for (i, name) in names.iter().enumerate() {
                        assert!(text.contains(name.as_str()) && !names[..i].contains(name), "{name}");
                    }
                }
            }
        }
    }
}
