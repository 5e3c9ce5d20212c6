//! Signals: temporary files go, and then the program ends as the signal says.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Temporary files that are there now. Whoever holds the lock cannot be interrupted: files that belong together take
/// their places under it.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What keeps signals from ending the program; nothing slow may be done meanwhile.
pub struct Uninterrupted(MutexGuard<'static, Vec<PathBuf>>);

impl Uninterrupted {
    /// From now on, until it is dropped.
    pub fn new() -> Uninterrupted {
        // What the list holds is true whatever became of whoever held it.
        Uninterrupted(TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A file that has to go if a signal comes.
    pub fn add(&mut self, path: &Path) {
        self.0.push(path.to_owned());
    }

    /// It is gone, or has taken its place.
    pub fn remove(&mut self, path: &Path) {
        self.0.retain(|p| p != path);
    }
}

/// From now on SIGINT, SIGTERM and SIGHUP remove temporary files before they end the program. Those that whoever
/// started it ignores (`nohup`) stay ignored.
#[cfg(unix)]
pub fn install() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let signals: Vec<i32> = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&s| !is_ignored(s)).collect();
    let mut signals = signal_hook::iterator::Signals::new(signals)?;
    // A limit on the size of files is then an error like a full disk, and no end.
    let unused = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    signal_hook::flag::register(libc::SIGXFSZ, unused)?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        let Some(signal) = signals.forever().next() else { return };
        let temporary = Uninterrupted::new();
        for path in temporary.0.iter() {
            // Whether it goes or not, the program ends.
            let _ = std::fs::remove_file(path);
        }
        // Shells and `make` see which signal it was; what runs as process 1 cannot be ended by one.
        if std::process::id() != 1 {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
        std::process::exit(128 + signal);
    })?;
    Ok(())
}

#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action it only fills in the old one, which is plain data and valid when zeroed.
    let (result, action) =
        unsafe { (libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()), action.assume_init()) };
    result == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// Elsewhere programs end without being asked.
#[cfg(not(unix))]
pub fn install() -> io::Result<()> {
    Ok(())
}
