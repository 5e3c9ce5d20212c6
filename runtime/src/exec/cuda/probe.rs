//! Probes for the driver and NVRTC, before anything calls them.
//!
//! cudarc panics if a library or one of its symbols is absent, so every path into cudarc starts here.

use super::error::CudaError;
use cudarc::driver::sys as driver_sys;
use cudarc::nvrtc::sys as nvrtc_sys;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Oldest driver version with every function used here: CUDA 12.8.
pub(super) const OLDEST_DRIVER: i32 = 12080;

/// Loads the driver, checks its version and initialises it. Returns the CUDA version it supports.
/// In a process that was forked later it is an error.
pub(super) fn driver() -> Result<i32, CudaError> {
    static FOUND: OnceLock<(u32, Result<i32, CudaError>)> = OnceLock::new();
    let (process, found) = FOUND.get_or_init(|| {
        let load = || {
            // SAFETY: loading the system's driver library runs its initialisers; using CUDA implies this.
            if !unsafe { driver_sys::is_culib_present() } {
                return Err(CudaError::NoDriver { needed: OLDEST_DRIVER });
            }
            let mut version = 0;
            // SAFETY: every driver has this function, and it may be called before initialisation.
            let result = unsafe { driver_sys::cuDriverGetVersion(&mut version) };
            check_version(result == driver_sys::CUresult::CUDA_SUCCESS, version)?;
            cudarc::driver::result::init().map_err(|e| match e.0 {
                driver_sys::CUresult::CUDA_ERROR_NO_DEVICE => CudaError::NoDevice,
                driver_sys::CUresult::CUDA_ERROR_STUB_LIBRARY => CudaError::NoDriver { needed: OLDEST_DRIVER },
                _ => CudaError::Refused { ordinal: 0, what: "be initialised", cause: e.to_string() },
            })?;
            Ok(version)
        };
        (std::process::id(), load())
    });
    // The driver's state does not survive `fork`.
    if found.is_ok() && *process != std::process::id() { Err(CudaError::Forked) } else { found.clone() }
}

fn check_version(known: bool, version: i32) -> Result<(), CudaError> {
    match version {
        _ if !known => Err(CudaError::NoDriver { needed: OLDEST_DRIVER }),
        v if v < OLDEST_DRIVER => Err(CudaError::DriverTooOld { found: v, needed: OLDEST_DRIVER }),
        _ => Ok(()),
    }
}

/// Loads NVRTC. Returns its version as (major, minor).
///
/// If the dynamic linker does not find it, the usual places of CUDA toolkits are tried.
pub(super) fn nvrtc() -> Result<(i32, i32), CudaError> {
    static FOUND: OnceLock<Result<(i32, i32), CudaError>> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            let places = toolkit_libraries();
            // SAFETY: as for the driver, here and below.
            if !unsafe { nvrtc_sys::is_culib_present() } && !places.iter().any(preload) {
                let mut searched = vec!["the linker's paths".to_owned()];
                searched.extend(places.iter().map(|p| p.display().to_string()));
                return Err(CudaError::NoNvrtc { searched: searched.join(", ") });
            }
            let (mut major, mut minor) = (0, 0);
            // SAFETY: the library is there, and every NVRTC has this function.
            let result = unsafe { nvrtc_sys::nvrtcVersion(&mut major, &mut minor) };
            match result {
                nvrtc_sys::nvrtcResult::NVRTC_SUCCESS => Ok((major, minor)),
                other => Err(CudaError::NoNvrtc { searched: format!("the linker's paths; it answers {other:?}") }),
            }
        })
        .clone()
}

/// Folders that may hold the libraries of a CUDA toolkit.
fn toolkit_libraries() -> Vec<PathBuf> {
    let homes = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let usual = ["/usr/local/cuda", "/opt/cuda"].into_iter().map(PathBuf::from);
    let mut folders = Vec::new();
    for home in homes.chain(usual) {
        for sub in ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"] {
            let folder = home.join(sub);
            if folder.is_dir() && !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
    folders
}

/// Loads NVRTC from a folder and keeps it: later look-ups by name find this copy.
fn preload(folder: &PathBuf) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    let mut names: Vec<PathBuf> = entries
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| {
            let name = p.file_name().and_then(|n| n.to_str()).unwrap_or("");
            name.starts_with("libnvrtc.so") && name.matches('.').count() <= 2
        })
        .collect();
    names.sort();
    names.iter().any(|path| {
        // SAFETY: as for the driver.
        let library = unsafe { libloading::Library::new(path) };
        match library {
            Ok(library) => {
                std::mem::forget(library);
                // SAFETY: as for the driver.
                unsafe { nvrtc_sys::is_culib_present() }
            }
            Err(_) => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared() {
        assert_eq!(check_version(true, OLDEST_DRIVER), Ok(()));
        assert_eq!(check_version(true, 13000), Ok(()));
        let old = check_version(true, 11040).unwrap_err();
        assert_eq!(
            old.to_string(),
            "the NVIDIA driver supports CUDA 11.4, but CUDA 12.8 is required: update the driver"
        );
        assert!(check_version(false, 0).unwrap_err().to_string().contains("install the NVIDIA driver"));
    }

    /// On every machine, the probes answer without a panic, and answer the same twice.
    #[test]
    fn probing_never_panics() {
        assert_eq!(driver(), driver());
        assert_eq!(nvrtc(), nvrtc());
    }

    #[test]
    fn folders_without_a_compiler_are_skipped() {
        assert!(!preload(&PathBuf::from("/nonexistent")));
        assert!(!preload(&std::env::temp_dir()));
    }
}
