//! Cache of compiled kernels: in memory for the process, on disk for the next one.
//!
//! An entry's name is the hash of its inputs: source text, options, architecture and NVRTC version. The file holds a
//! magic number, that hash again, and a checksum of the payload. An entry that fails any check is recompiled and
//! replaced. Files are written to a temporary name and renamed, so other processes see all or nothing.
//!
//! The folder is `LIFTING_CACHE_DIR` (empty: no disk cache), else `lifting` in the user's cache folder. A folder that
//! cannot be written only costs time.

use super::error::CudaError;
use super::nvrtc::{self, Architecture, Target};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

const MAGIC: &[u8; 8] = b"LIFTBIN1";
const HEADER: usize = 8 + 32 + 32;
type Hash = [u8; 32];

/// Compiled kernels that the driver can load: a cubin, a fat binary, or PTX text.
///
/// Plans compile their own kernels. With precompiled ones, a plan needs no NVRTC: see
/// [`CudaDevice::with_kernels`](super::CudaDevice::with_kernels).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled(Arc<[u8]>);

impl Compiled {
    /// Takes the bytes of a `.cubin`, `.fatbin` or `.ptx` file.
    pub fn new(mut bytes: Vec<u8>) -> Compiled {
        // The driver reads PTX as a string.
        if !bytes.starts_with(ELF) && !bytes.starts_with(FAT) && bytes.last() != Some(&0) {
            bytes.push(0);
        }
        Compiled(bytes.into())
    }

    /// Reads a `.cubin`, `.fatbin` or `.ptx` file.
    ///
    /// # Errors
    /// If it cannot be read, or is empty.
    pub fn load(path: impl AsRef<Path>) -> Result<Compiled, CudaError> {
        let path = path.as_ref();
        let reason = |what: String| CudaError::Module { reason: format!("{}: {what}", path.display()) };
        let bytes = std::fs::read(path).map_err(|e| reason(e.to_string()))?;
        if bytes.is_empty() { Err(reason("the file is empty".into())) } else { Ok(Compiled::new(bytes)) }
    }

    /// Checks that a binary is complete. The driver trusts its headers and reads beyond the end of a truncated file.
    ///
    /// # Errors
    /// [`CudaError::Module`] if it is truncated.
    pub(super) fn check(&self) -> Result<(), CudaError> {
        let cut = || CudaError::Module { reason: "the binary is truncated: its headers announce more bytes".into() };
        if is_whole(&self.0).unwrap_or(false) { Ok(()) } else { Err(cut()) }
    }

    /// Bytes for the driver; PTX ends in a zero byte.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Magic numbers of a cubin and of a fat binary.
const ELF: &[u8] = b"\x7fELF";
const FAT: &[u8] = b"\x50\xed\x55\xba";

/// Whether all parts announced by the headers of a cubin (ELF-64) or a fat binary are present; `None` if a header
/// itself is truncated. PTX has no header.
fn is_whole(bytes: &[u8]) -> Option<bool> {
    fn number(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
        let field = bytes.get(at..at.checked_add(len)?)?;
        Some(field.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
    }
    let ends_inside = |start: u64, len: u64| start.checked_add(len).is_some_and(|end| end <= bytes.len() as u64);
    if bytes.starts_with(ELF) {
        // Segment and section tables: offset, entry size, count.
        for (at, size, count) in [(32, 54, 56), (40, 58, 60)] {
            let len = number(bytes, size, 2)? * number(bytes, count, 2)?;
            if !ends_inside(number(bytes, at, 8)?, len) {
                return Some(false);
            }
        }
        let (table, size, count) = (number(bytes, 40, 8)?, number(bytes, 58, 2)?, number(bytes, 60, 2)?);
        for section in 0..count {
            let at = usize::try_from(table + section * size).ok()?;
            // Sections of kind 8 (NOBITS) take no room in the file.
            let (kind, start, len) =
                (number(bytes, at + 4, 4)?, number(bytes, at + 24, 8)?, number(bytes, at + 32, 8)?);
            if kind != 8 && !ends_inside(start, len) {
                return Some(false);
            }
        }
    } else if bytes.starts_with(FAT) {
        return Some(ends_inside(number(bytes, 6, 2)?, number(bytes, 8, 8)?));
    }
    Some(true)
}

/// Compiles CUDA C++ text for an architecture with NVRTC, without fast math, or finds it in the cache.
///
/// # Errors
/// If NVRTC is missing or rejects the text; the error has its log.
pub fn compile(source: &str, architecture: Architecture) -> Result<Compiled, CudaError> {
    compiled(source, &Target::of(architecture)?)
}

/// [`compile`] for a target.
pub(super) fn compiled(source: &str, target: &Target) -> Result<Compiled, CudaError> {
    static MEMORY: OnceLock<Mutex<HashMap<Hash, Compiled>>> = OnceLock::new();
    let memory = MEMORY.get_or_init(Mutex::default);
    let key = key(source, target);
    let remembered = || memory.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(found) = remembered().get(&key) {
        return Ok(found.clone());
    }
    let compiled = from_disk_or(folder().as_deref(), &key, || nvrtc::compile(source, target))?;
    remembered().insert(key, compiled.clone());
    Ok(compiled)
}

/// Folder of the disk cache.
fn folder() -> Option<PathBuf> {
    folder_from(|name| std::env::var_os(name).map(PathBuf::from), dirs::cache_dir())
}

fn folder_from(var: impl Fn(&str) -> Option<PathBuf>, platform: Option<PathBuf>) -> Option<PathBuf> {
    match var("LIFTING_CACHE_DIR") {
        Some(folder) if folder.as_os_str().is_empty() => None,
        Some(folder) => Some(folder),
        None => platform.map(|folder| folder.join("lifting")),
    }
}

/// Hash of all inputs, each part preceded by its length.
fn key(source: &str, target: &Target) -> Hash {
    let mut hash = hmac_sha256::Hash::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(b"lifting kernels 1");
    for option in target.options() {
        part(option.as_bytes());
    }
    part(&target.version.0.to_le_bytes());
    part(&target.version.1.to_le_bytes());
    part(source.as_bytes());
    hash.finalize()
}

fn hex(hash: &Hash) -> String {
    hash.iter().map(|b| format!("{b:02x}")).collect()
}

/// Reads the entry of `key` from disk, or stores the result of `make`.
fn from_disk_or(
    folder: Option<&Path>,
    key: &Hash,
    make: impl FnOnce() -> Result<Vec<u8>, CudaError>,
) -> Result<Compiled, CudaError> {
    let path = folder.map(|f| f.join(format!("{}.bin", hex(key))));
    if let Some(payload) = path.as_deref().and_then(|p| read(p, key)) {
        return Ok(Compiled(payload.into()));
    }
    let payload = make()?;
    if let Some(path) = path {
        // A cache that cannot be written is not an error.
        let _ = write(&path, key, &payload);
    }
    Ok(Compiled(payload.into()))
}

/// Payload of an entry, if the file is intact and matches its name.
fn read(path: &Path, key: &Hash) -> Option<Vec<u8>> {
    let bytes = std::fs::read(path).ok()?;
    let (header, payload) = bytes.split_at_checked(HEADER)?;
    let sum: Hash = hmac_sha256::Hash::hash(payload);
    let sound = &header[..8] == MAGIC && &header[8..40] == key && header[40..] == sum && !payload.is_empty();
    sound.then(|| payload.to_vec())
}

fn write(path: &Path, key: &Hash, payload: &[u8]) -> std::io::Result<()> {
    let sum: Hash = hmac_sha256::Hash::hash(payload);
    let bytes = [MAGIC, key.as_slice(), sum.as_slice(), payload].concat();
    lifting_planner::replace_file(path, &bytes)
}

#[cfg(test)]
mod tests {
    use super::super::nvrtc::tests::{SM_90, available};
    use super::*;
    use std::cell::Cell;

    fn target(arch: &str) -> Target {
        Target { arch: arch.into(), version: (13, 0) }
    }

    /// Looks an entry up and counts how often it had to be made.
    fn lookup(folder: &Path, key: &Hash, made: &Cell<u32>) -> Compiled {
        let make = || {
            made.set(made.get() + 1);
            Ok(b"\x7fELF machine code".to_vec())
        };
        from_disk_or(Some(folder), key, make).unwrap()
    }

    #[test]
    fn truncated_binaries_are_refused() {
        // A header of 64 bytes and one section of 8 bytes at 64, described at 72.
        let mut elf = vec![0; 136];
        elf[..4].copy_from_slice(b"\x7fELF");
        elf[40] = 72;
        (elf[58], elf[60]) = (64, 1);
        (elf[72 + 4], elf[72 + 24], elf[72 + 32]) = (1, 64, 8);
        let check = |bytes: &[u8]| Compiled::new(bytes.to_vec()).check();
        assert_eq!(check(&elf), Ok(()));
        for len in [4, 60, 64, 100, 135] {
            assert!(check(&elf[..len]).unwrap_err().to_string().contains("truncated"), "{len}");
        }
        elf[72 + 32] = 200;
        assert!(check(&elf).is_err());
        elf[72 + 4] = 8;
        assert_eq!(check(&elf), Ok(()));
        let mut fat = [0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4].to_vec();
        assert_eq!(check(&fat), Ok(()));
        fat.pop();
        assert!(check(&fat).is_err());
        assert_eq!(check(b".version 8.0"), Ok(()));
    }

    #[test]
    fn entries_are_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let (made, key) = (Cell::new(0), key("text", &target("sm_90")));
        let first = lookup(folder.path(), &key, &made);
        assert_eq!(first, lookup(folder.path(), &key, &made));
        assert_eq!(made.get(), 1);
        assert_eq!(first.bytes(), b"\x7fELF machine code");
        // Only the entry remains.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_key_covers_all_inputs() {
        let base = key("text", &target("sm_90"));
        assert_ne!(base, key("text2", &target("sm_90")));
        assert_ne!(base, key("text", &target("sm_80")));
        assert_ne!(base, key("text", &Target { version: (13, 1), ..target("sm_90") }));
    }

    #[test]
    fn damaged_and_foreign_entries_are_recompiled() {
        let folder = tempfile::tempdir().unwrap();
        let (made, key) = (Cell::new(0), key("text", &target("sm_90")));
        lookup(folder.path(), &key, &made);
        let path = folder.path().join(format!("{}.bin", hex(&key)));
        let whole = std::fs::read(&path).unwrap();
        let mut expected = 1;
        let mut damage = |bytes: Vec<u8>| {
            std::fs::write(&path, bytes).unwrap();
            lookup(folder.path(), &key, &made);
            expected += 1;
            assert_eq!(made.get(), expected);
            // The damage is repaired.
            lookup(folder.path(), &key, &made);
            assert_eq!(made.get(), expected);
        };
        for at in [0, 7, 8, 39, 40, 71, 72, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            damage(bytes);
        }
        for len in [0, 10, HEADER, whole.len() - 1] {
            damage(whole[..len].to_vec());
        }
        damage([whole.clone(), vec![0]].concat());
        // An entry of another key under this name.
        let other = super::key("other", &target("sm_90"));
        lookup(folder.path(), &other, &made);
        expected += 1;
        let foreign = std::fs::read(folder.path().join(format!("{}.bin", hex(&other)))).unwrap();
        std::fs::write(&path, foreign).unwrap();
        lookup(folder.path(), &key, &made);
        assert_eq!(made.get(), expected + 1);
    }

    #[test]
    fn unwritable_cache_folders_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, b"in the way").unwrap();
        let (made, key) = (Cell::new(0), key("text", &target("sm_90")));
        lookup(&file, &key, &made);
        lookup(&file, &key, &made);
        assert_eq!(made.get(), 2);
        assert!(from_disk_or(None, &key, || Ok(vec![1])).is_ok());
    }

    #[test]
    fn racing_writers_leave_a_whole_entry() {
        let folder = tempfile::tempdir().unwrap();
        let key = key("text", &target("sm_90"));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let made = Cell::new(0);
                        assert_eq!(lookup(folder.path(), &key, &made).bytes(), b"\x7fELF machine code");
                        let _ = write(&folder.path().join(format!("{}.bin", hex(&key))), &key, b"\x7fELF machine code");
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// Environment variable that marks a process of [`racing_processes_leave_a_whole_entry`], with its folder.
    const RACER: &str = "LIFTING_TEST_CACHE_RACER";

    /// Processes look up, damage and write the same entry concurrently: each reads it whole, and no other file remains.
    #[test]
    fn racing_processes_leave_a_whole_entry() {
        let key = key("text", &target("sm_90"));
        if let Some(folder) = std::env::var_os(RACER).map(PathBuf::from) {
            let path = folder.join(format!("{}.bin", hex(&key)));
            for i in 0..200 {
                assert_eq!(lookup(&folder, &key, &Cell::new(0)).bytes(), b"\x7fELF machine code");
                if i % 20 == 19 {
                    // State left by a process that writes in place and is killed halfway.
                    let _ = std::fs::write(&path, &MAGIC[..4]);
                }
                let _ = write(&path, &key, b"\x7fELF machine code");
            }
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (_, module) = module_path!().split_once("::").unwrap();
        let racers: Vec<_> = (0..4)
            .map(|_| {
                let mut command = std::process::Command::new(std::env::current_exe().unwrap());
                command.args(["--exact", &format!("{module}::racing_processes_leave_a_whole_entry")]);
                command.env(RACER, folder.path()).stdout(std::process::Stdio::null()).spawn().unwrap()
            })
            .collect();
        for mut racer in racers {
            assert!(racer.wait().unwrap().success());
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let found = from_disk_or(Some(folder.path()), &key, || unreachable!("it is on disk")).unwrap();
        assert_eq!(found.bytes(), b"\x7fELF machine code");
    }

    #[test]
    fn the_folder_is_the_users_choice() {
        let platform = || Some(PathBuf::from("/home/someone/.cache"));
        assert_eq!(folder_from(|_| None, platform()), Some(PathBuf::from("/home/someone/.cache/lifting")));
        assert_eq!(folder_from(|_| Some("/elsewhere".into()), platform()), Some(PathBuf::from("/elsewhere")));
        assert_eq!(folder_from(|_| Some("".into()), platform()), None);
        assert_eq!(folder_from(|_| None, None), None);
    }

    #[test]
    fn modules_from_outside() {
        assert_eq!(Compiled::new(b".version 8.0".to_vec()).bytes(), b".version 8.0\0");
        assert_eq!(Compiled::new(b"\x7fELF...".to_vec()).bytes(), b"\x7fELF...");
        assert!(Compiled::load("/nonexistent.cubin").unwrap_err().to_string().contains("/nonexistent.cubin"));
    }

    #[test]
    fn kernels_are_compiled_once() {
        if !available("kernels_are_compiled_once") {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let source = "extern \"C\" __global__ void f(int *x) { x[threadIdx.x] = 1; }";
        let target = Target::of(SM_90).unwrap();
        let key = key(source, &target);
        let compiled = from_disk_or(Some(folder.path()), &key, || nvrtc::compile(source, &target)).unwrap();
        assert!(compiled.bytes().starts_with(b"\x7fELF"));
        let again = from_disk_or(Some(folder.path()), &key, || unreachable!("it is on disk")).unwrap();
        assert_eq!(compiled, again);
        let broken = from_disk_or(Some(folder.path()), &super::key("x", &target), || nvrtc::compile("x", &target));
        assert!(matches!(broken, Err(CudaError::Compile { .. })));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
