//! NVRTC: compiles CUDA C++ text to machine code for one architecture.

use super::error::CudaError;
use super::probe;
use cudarc::nvrtc::{result, sys};
use std::ffi::CString;
use std::fmt;
use std::str::FromStr;

/// A compute capability: `sm_90`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Architecture {
    /// Major number: 9 for `sm_90`.
    pub major: u32,
    /// Minor number: 0 for `sm_90`.
    pub minor: u32,
}

impl Architecture {
    fn number(self) -> i32 {
        (self.major * 10 + self.minor) as i32
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.major, self.minor)
    }
}

impl FromStr for Architecture {
    type Err = String;

    fn from_str(s: &str) -> Result<Architecture, String> {
        let number: Option<u32> = s.strip_prefix("sm_").and_then(|n| n.parse().ok());
        match number {
            Some(n @ 10..=999) => Ok(Architecture { major: n / 10, minor: n % 10 }),
            _ => Err(format!("`{s}` is not an architecture: write it like sm_90")),
        }
    }
}

/// NVRTC options other than the architecture. No fast math: every operation is rounded once.
const OPTIONS: [&str; 5] =
    ["--std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--extra-device-vectorization"];

/// Inputs of a compilation other than the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The architecture option: machine code for a known device, else portable code for the newest known one.
    pub arch: String,
    /// NVRTC's version.
    pub version: (i32, i32),
}

impl Target {
    /// Target of this machine's NVRTC for a device.
    pub fn of(device: Architecture) -> Result<Target, CudaError> {
        let version = probe::nvrtc()?;
        Ok(Target { arch: choose(device, &supported()?), version })
    }

    /// All options, in order.
    pub fn options(&self) -> Vec<String> {
        let arch = format!("--gpu-architecture={}", self.arch);
        std::iter::once(arch).chain(OPTIONS.iter().map(|o| (*o).to_owned())).collect()
    }

    /// Whether a kernel can wait for its predecessors: from compute capability 9.0 on.
    pub fn can_wait(&self) -> bool {
        let digits = self.arch.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.parse().is_ok_and(|number: u32| number >= 90)
    }

    /// Whether the result is machine code, not PTX.
    pub fn is_binary(&self) -> bool {
        self.arch.starts_with("sm_")
    }
}

/// Chooses machine code if NVRTC knows the device; else PTX for the newest older architecture, which the driver
/// translates.
fn choose(device: Architecture, supported: &[i32]) -> String {
    let n = device.number();
    if supported.contains(&n) {
        return format!("sm_{n}");
    }
    match supported.iter().filter(|&&s| s < n).max() {
        Some(s) => format!("compute_{s}"),
        // Older than all architectures that NVRTC knows: it reports the error.
        None => format!("sm_{n}"),
    }
}

fn supported() -> Result<Vec<i32>, CudaError> {
    let mut count = 0;
    // SAFETY: the library was probed; the array has the requested size.
    unsafe {
        sys::nvrtcGetNumSupportedArchs(&mut count).result().map_err(internal)?;
        let mut archs = vec![0; usize::try_from(count).unwrap_or(0)];
        sys::nvrtcGetSupportedArchs(archs.as_mut_ptr()).result().map_err(internal)?;
        Ok(archs)
    }
}

fn internal(e: result::NvrtcError) -> CudaError {
    CudaError::Compile { cause: format!("{:?}", e.0), options: String::new(), log: "no log".into() }
}

/// A program that is destroyed on drop.
struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: made by `create_program` and destroyed only here. A failure only leaks it.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

/// Compiles to bytes for the driver: a cubin, or PTX that ends in a zero byte.
pub(super) fn compile(source: &str, target: &Target) -> Result<Vec<u8>, CudaError> {
    probe::nvrtc()?;
    let options = target.options();
    let refused = |cause: String, log: String| CudaError::Compile { cause, options: options.join(" "), log };
    let text = CString::new(source).map_err(|_| refused("zero byte".into(), "the text has a zero byte".into()))?;
    let program = Program(result::create_program(&text, Some(c"lifting.cu")).map_err(internal)?);
    // SAFETY: the program was just created, and `text` outlives it.
    unsafe {
        if let Err(e) = result::compile_program(program.0, &options) {
            let log = result::get_program_log(program.0).map_err(internal)?;
            let log: Vec<u8> = log.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
            return Err(refused(format!("{:?}", e.0), String::from_utf8_lossy(&log).into_owned()));
        }
        if !target.is_binary() {
            let ptx = result::get_ptx(program.0).map_err(internal)?;
            return Ok(ptx.into_iter().map(|c| c as u8).collect());
        }
        let mut size = 0;
        sys::nvrtcGetCUBINSize(program.0, &mut size).result().map_err(internal)?;
        let mut cubin = vec![0u8; size];
        sys::nvrtcGetCUBIN(program.0, cubin.as_mut_ptr().cast()).result().map_err(internal)?;
        Ok(cubin)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Whether NVRTC is available. Without it, a test reports that it is skipped, or fails if LIFTING_REQUIRE_NVRTC is
    /// set.
    pub fn available(test: &str) -> bool {
        match probe::nvrtc() {
            Ok(_) => true,
            Err(e) if std::env::var_os("LIFTING_REQUIRE_NVRTC").is_some() => panic!("{test}: {e}"),
            Err(e) => {
                eprintln!("skipped: {test}: {e}");
                false
            }
        }
    }

    pub const SM_90: Architecture = Architecture { major: 9, minor: 0 };
    const KERNEL: &str = "extern \"C\" __global__ void f(float *x, float a) { x[threadIdx.x] = x[0] * a + 1.0f; }";

    #[test]
    fn architectures_are_chosen() {
        assert_eq!(choose(SM_90, &[75, 80, 90, 100]), "sm_90");
        assert_eq!(choose(Architecture { major: 13, minor: 0 }, &[75, 90, 121]), "compute_121");
        assert_eq!(choose(Architecture { major: 5, minor: 0 }, &[75, 90]), "sm_50");
        assert_eq!("sm_121".parse(), Ok(Architecture { major: 12, minor: 1 }));
        assert!("90".parse::<Architecture>().is_err());
        assert_eq!(SM_90.to_string(), "sm_90");
    }

    /// Portable code for an older architecture does not wait, even on a newer device.
    #[test]
    fn kernels_wait_from_hopper_on() {
        let can_wait = |arch: &str| Target { arch: arch.into(), version: (13, 0) }.can_wait();
        assert!(["sm_90", "sm_100", "compute_90", "compute_120"].into_iter().all(can_wait));
        assert!(!["sm_75", "sm_89", "compute_89"].into_iter().any(can_wait));
    }

    #[test]
    fn text_becomes_machine_code() {
        if !available("text_becomes_machine_code") {
            return;
        }
        let target = Target::of(SM_90).unwrap();
        assert_eq!(target.arch, "sm_90");
        let cubin = compile(KERNEL, &target).unwrap();
        assert_eq!(&cubin[..4], b"\x7fELF");
        let portable = Target { arch: "compute_90".into(), ..target };
        let ptx = compile(KERNEL, &portable).unwrap();
        assert!(String::from_utf8_lossy(&ptx).contains(".entry f"));
        assert_eq!(ptx.last(), Some(&0));
        // Products and sums are not fused.
        assert!(!String::from_utf8_lossy(&ptx).contains("fma."));
    }

    #[test]
    fn errors_carry_the_log() {
        if !available("errors_carry_the_log") {
            return;
        }
        let target = Target::of(SM_90).unwrap();
        let error = compile("extern \"C\" __global__ void f() { undefined_name = 1; }", &target).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("undefined_name") && text.contains("--gpu-architecture=sm_90"), "{text}");
        assert!(compile("zero \0 byte", &target).unwrap_err().to_string().contains("zero byte"));
        let unknown = compile(KERNEL, &Target { arch: "sm_10".into(), ..target }).unwrap_err();
        assert!(matches!(unknown, CudaError::Compile { .. }));
    }
}
