//! Provoked device faults: each must give an error with its cause and leave host data unchanged. Afterwards the plan
//! works again, or reports that it cannot.
//!
//! Faults that lose a context, or need another environment, run in a child process: this program, started again with
//! the name of the fault.

use super::compare::{same, samples};
use lifting::cuda::cudarc::driver::{CudaSlice, DriverError, sys};
use lifting::cuda::cudarc::nvrtc::Ptx;
use lifting::cuda::{Compiled, CudaDevice, CudaError};
use lifting::{Device, Plan, PlanError};
use lifting_tests::wavelet;
use std::path::Path;
use std::process::{Command, ExitCode};

type Result<T = ()> = std::result::Result<T, String>;

/// An action with its name.
type Named = (&'static str, fn() -> Result);

/// The faults.
const FAULTS: [Named; 6] = [
    ("out of memory", out_of_memory),
    ("foreign kernels", foreign_kernels),
    ("kernels compiled elsewhere", kernels_from_elsewhere),
    ("no visible device", no_visible_device),
    ("a failed context", failed_context),
    ("a damaged cache, and processes that race for it", cache),
];

/// Actions that run in a child process.
const CHILDREN: [Named; 4] = [
    ("child-no-device", child_no_device),
    ("child-failed-context", child_failed_context),
    ("child-transform", child_transform),
    ("child-given-kernels", child_given_kernels),
];

/// `faults`, or one of the children.
pub fn main(args: &[String]) -> ExitCode {
    if let Some((_, child)) = CHILDREN.iter().find(|(name, _)| args.first().is_some_and(|a| a == name)) {
        return match child() {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                println!("{why}");
                ExitCode::FAILURE
            }
        };
    }
    if let Err(e) = Device::cuda(0) {
        eprintln!("gpu-conformance: {e}");
        return ExitCode::from(2);
    }
    let mut failed = 0;
    for (name, fault) in FAULTS {
        match fault() {
            Ok(()) => println!("ok   {name}"),
            Err(why) => {
                failed += 1;
                println!("FAIL {name}: {why}");
            }
        }
    }
    println!("{} faults, {failed} with a wrong outcome", FAULTS.len());
    println!("{}", if failed == 0 { "PASS" } else { "FAIL" });
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn text(e: impl std::fmt::Display) -> String {
    e.to_string()
}

fn cuda() -> Result<CudaDevice> {
    CudaDevice::open(0).map_err(text)
}

/// A plan that is quick to make, on any device.
fn plan(shape: &[usize], device: &Device) -> std::result::Result<Plan<i16>, PlanError> {
    Plan::builder(&wavelet("legall53")).shape(shape).levels(2).sample().build(device)
}

/// Checks that the plan transforms as one on the CPU does.
fn works(plan: &Plan<i16>) -> Result {
    let data: Vec<i16> = samples(plan.len());
    let (mut got, mut expected) = (vec![0; data.len()], vec![0; data.len()]);
    plan.forward(&data[..], &mut got[..]).map_err(text)?;
    self::plan(plan.shape(), &Device::cpu()).and_then(|p| p.forward(&data[..], &mut expected[..])).map_err(text)?;
    same("forward", &got, &expected)
}

/// Checks that the error is the expected one and the target is unchanged.
fn refuses(plan: &Plan<i16>, is: impl Fn(&PlanError) -> bool) -> Result {
    let data: Vec<i16> = samples(plan.len());
    let (mut source, mut target) = (data.clone(), data.clone());
    let error = match plan.forward(&source[..], &mut target[..]) {
        Ok(()) => return Err("the transform succeeded".into()),
        Err(e) => e,
    };
    println!("     says: {error}");
    same("the source", &source, &data)?;
    same("the target", &target, &data)?;
    if let Ok(()) = plan.forward_in_place(&mut source[..]) {
        return Err("the transform in place succeeded".into());
    }
    same("the data in place", &source, &data)?;
    if is(&error) { Ok(()) } else { Err(format!("another error: {error:?}")) }
}

/// Foreign data fills the device; after it is freed the plan works.
fn out_of_memory() -> Result {
    let device = cuda()?;
    let plan = plan(&[8192, 8192], &Device::Cuda(device.clone())).map_err(text)?;
    let stream = device.new_stream().map_err(text)?;
    let mut held: Vec<CudaSlice<u8>> = Vec::new();
    let mut piece = 8usize << 30;
    // Fill until less remains than the plan needs.
    while piece >= 16 << 20 {
        // SAFETY: never read.
        match unsafe { stream.alloc::<u8>(piece) } {
            Ok(memory) => held.push(memory),
            Err(_) => piece /= 2,
        }
    }
    stream.synchronize().map_err(text)?;
    refuses(&plan, |e| matches!(e, PlanError::Cuda(CudaError::OutOfMemory { bytes, .. }) if *bytes > 0))?;
    let on_device = plan.cuda().map_err(text)?;
    if on_device.workspace_bytes() > 0
        && !matches!(
            on_device.workspace(&stream),
            Err(PlanError::Cuda(CudaError::OutOfMemory { what: "the workspace", .. }))
        )
    {
        return Err("the workspace was allocated".into());
    }
    if !on_device.is_usable() {
        return Err("the plan reports that it is unusable".into());
    }
    drop(held);
    stream.synchronize().map_err(text)?;
    works(&plan)
}

/// Modules that are invalid, truncated, or of other kernels are refused, and the device works on.
fn foreign_kernels() -> Result {
    let device = cuda()?;
    let architecture = device.properties().architecture;
    let other = lifting::cuda::compile("extern \"C\" __global__ void other(int *x) { *x = 1; }", architecture);
    let other = other.map_err(text)?;
    let cut = Compiled::new(other.bytes()[..other.bytes().len() / 2].to_vec());
    let rubbish = Compiled::new(b"this is not a module".to_vec());
    for (kernels, word) in [(rubbish, "CUDA_ERROR"), (cut, "truncated"), (other, "it has no kernel")] {
        match plan(&[64, 64], &Device::Cuda(device.with_kernels(kernels))) {
            Err(PlanError::Cuda(CudaError::Module { reason })) if reason.contains(word) => {
                println!("     says: {}", CudaError::Module { reason });
            }
            Err(e) => return Err(format!("another error: {e:?}")),
            Ok(_) => return Err("foreign kernels made a plan".into()),
        }
    }
    works(&plan(&[64, 64], &Device::Cuda(device)).map_err(text)?)
}

/// Modules compiled in advance (by nvcc if installed, else by NVRTC) replace the compiler, which must not be called.
fn kernels_from_elsewhere() -> Result {
    let device = cuda()?;
    let plan = plan(&[64, 64], &Device::Cuda(device.clone())).map_err(text)?;
    let source = plan.cuda().map_err(text)?.source().to_owned();
    let architecture = device.properties().architecture;
    let folder = tempfile::tempdir().map_err(text)?;
    let file = |name: &str| folder.path().join(name);
    std::fs::write(file("kernels.cu"), &source).map_err(text)?;
    std::fs::write(file("kernels.bin"), lifting::cuda::compile(&source, architecture).map_err(text)?.bytes())
        .map_err(text)?;
    let mut files = vec![file("kernels.bin")];
    for kind in ["ptx", "cubin"] {
        let to = file(&format!("kernels.{kind}"));
        let arguments = [format!("-{kind}"), format!("-arch={architecture}"), "-fmad=false".into(), "-o".into()];
        match Command::new("nvcc").args(&arguments).arg(&to).arg(file("kernels.cu")).output() {
            Ok(output) if output.status.success() => files.push(to),
            Ok(output) => return Err(format!("nvcc: {}", String::from_utf8_lossy(&output.stderr))),
            Err(e) => println!("     without nvcc ({e})"),
        }
    }
    for file in files {
        let cache = folder.path().join("cache");
        child("child-given-kernels", &[("LIFTING_CACHE_DIR", &cache), ("KERNELS", &file)])?;
        if cache.exists() {
            return Err("the compiler was called nevertheless".into());
        }
    }
    Ok(())
}

fn child_given_kernels() -> Result {
    let file = std::env::var_os("KERNELS").ok_or("KERNELS names the module")?;
    let kernels = Compiled::load(file).map_err(text)?;
    works(&plan(&[64, 64], &Device::Cuda(cuda()?.with_kernels(kernels))).map_err(text)?)
}

/// Runs this program again, and passes on its output if it fails.
fn child(name: &str, variables: &[(&str, &Path)]) -> Result {
    let program = std::env::current_exe().map_err(text)?;
    let output = Command::new(program).args(["faults", name]).envs(variables.iter().copied()).output().map_err(text)?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    said.lines().filter(|line| line.contains("says:")).for_each(|line| println!("{line}"));
    if said.contains("panicked") || !output.status.success() { Err(format!("{name}: {said}")) } else { Ok(()) }
}

fn no_visible_device() -> Result {
    child("child-no-device", &[("CUDA_VISIBLE_DEVICES", Path::new(""))])
}

fn child_no_device() -> Result {
    match Device::cuda(0) {
        Err(e @ PlanError::Cuda(CudaError::NoDevice)) => println!("     says: {e}"),
        other => return Err(format!("{other:?}")),
    }
    if Device::best().map_err(text)? == Device::cpu() { Ok(()) } else { Err("a device was found".into()) }
}

fn failed_context() -> Result {
    child("child-failed-context", &[])
}

/// A foreign kernel writes to an invalid address: the context is lost, for plans as well.
fn child_failed_context() -> Result {
    let device = cuda()?;
    let plan = plan(&[64, 64], &Device::Cuda(device.clone())).map_err(text)?;
    works(&plan)?;
    let kernel = "extern \"C\" __global__ void stray() { *(volatile int *)16 = 1; }";
    let compiled = lifting::cuda::compile(kernel, device.properties().architecture).map_err(text)?;
    let stray = |e: DriverError| format!("the stray kernel: {e}");
    let module = device.context().load_module(Ptx::from_binary(compiled.bytes().to_vec())).map_err(stray)?;
    let function = module.load_function("stray").map_err(stray)?;
    let stream = device.new_stream().map_err(text)?;
    let null = std::ptr::null_mut();
    // SAFETY: a kernel without arguments. Its effect on the context is the point of this test.
    unsafe {
        sys::cuLaunchKernel(function.cu_function(), 1, 1, 1, 1, 1, 1, 0, stream.cu_stream(), std::ptr::null_mut(), null)
    }
    .result()
    .map_err(stray)?;
    let lost = |e: &PlanError| matches!(e, PlanError::Cuda(CudaError::ContextLost { .. }));
    refuses(&plan, lost)?;
    if plan.cuda().map_err(text)?.is_usable() || device.is_usable() {
        return Err("the plan does not report that it is unusable".into());
    }
    // Another attempt reports it again, and so does another plan.
    refuses(&plan, lost)?;
    match self::plan(&[32, 96], &Device::Cuda(device)) {
        Err(e) => println!("     says: {e}"),
        Ok(plan) => refuses(&plan, lost)?,
    }
    Ok(())
}

fn child_transform() -> Result {
    works(&plan(&[96, 160], &Device::Cuda(cuda()?)).map_err(text)?)
}

/// Damaged, truncated or foreign cache entries are recompiled; processes started together all get theirs.
fn cache() -> Result {
    let folder = tempfile::tempdir().map_err(text)?;
    let cache = folder.path().join("cache");
    let run = || child("child-transform", &[("LIFTING_CACHE_DIR", &cache)]);
    let results: Vec<Result> = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        racers.into_iter().map(|r| r.join().unwrap_or_else(|_| Err("panicked".into()))).collect()
    });
    results.into_iter().collect::<Result<Vec<()>>>()?;
    let entries = || -> Result<Vec<std::path::PathBuf>> {
        let entries = std::fs::read_dir(&cache).map_err(text)?;
        entries.map(|e| e.map(|e| e.path()).map_err(text)).collect()
    };
    let whole = entries()?;
    if whole.is_empty() || whole.iter().any(|path| path.extension().is_none_or(|e| e != "bin")) {
        return Err(format!("the cache holds {whole:?}"));
    }
    let read = |path: &Path| std::fs::read(path).map_err(text);
    let good: Vec<Vec<u8>> = whole.iter().map(|path| read(path)).collect::<Result<_>>()?;
    type Damage = fn(&[u8]) -> Vec<u8>;
    let damages: [Damage; 4] = [
        |_| Vec::new(),
        |bytes| bytes[..bytes.len() / 2].to_vec(),
        |bytes| bytes.iter().enumerate().map(|(i, b)| if i == bytes.len() - 9 { b ^ 4 } else { *b }).collect(),
        |_| b"LIFTBIN1 and then something else altogether, not a module".repeat(3),
    ];
    for damage in damages {
        for (path, bytes) in whole.iter().zip(&good) {
            std::fs::write(path, damage(bytes)).map_err(text)?;
        }
        run()?;
        for (path, bytes) in whole.iter().zip(&good) {
            if read(path)? == damage(bytes) {
                return Err(format!("{} was not recompiled", path.display()));
            }
        }
    }
    Ok(())
}
