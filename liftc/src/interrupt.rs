//! Signal handling: removes temporary files, then ends the program by the signal.

#[cfg(unix)]
use crate::failure::input;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Existing temporary files. Holding the lock delays signals, so that related files can be moved to their places
/// together.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Guard that delays signals; hold it only briefly.
pub struct Uninterrupted(MutexGuard<'static, Vec<PathBuf>>);

impl Uninterrupted {
    /// Delays signals until it is dropped.
    pub fn new() -> Uninterrupted {
        // The list stays valid even if a holder panicked.
        Uninterrupted(TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Registers a temporary file.
    pub fn add(&mut self, path: &Path) {
        self.0.push(path.to_owned());
    }

    /// Unregisters a file that was removed or moved to its place.
    pub fn remove(&mut self, path: &Path) {
        self.0.retain(|p| p != path);
    }
}

/// Makes SIGINT, SIGQUIT, SIGTERM and SIGHUP remove temporary files before they end the program. Signals ignored by the
/// parent (`nohup`) stay ignored. SIGKILL cannot be handled: after it, `.liftc-*` files may stay.
///
/// SIGBUS reports a mapped file that another program has truncated: it ends the program with an error.
#[cfg(unix)]
pub fn install() -> io::Result<()> {
    use signal_hook::consts::{SIGBUS, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let signals: Vec<i32> =
        [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGBUS].into_iter().filter(|&s| !is_ignored(s)).collect();
    if signals.contains(&SIGBUS) {
        // The standard library's handler, which the new one would call first, ends the program without a word.
        // SAFETY: no other thread runs yet, and the default action needs no code.
        unsafe { libc::signal(SIGBUS, libc::SIG_DFL) };
    }
    let mut signals = signal_hook::iterator::Signals::new(signals)?;
    // With a handler, exceeding the file size limit is an error like a full disk, and does not end the program.
    let unused = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    signal_hook::flag::register(libc::SIGXFSZ, unused)?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        let Some(signal) = signals.forever().next() else { return };
        let temporary = Uninterrupted::new();
        for path in temporary.0.iter() {
            // The program ends even if this fails.
            let _ = std::fs::remove_file(path);
        }
        if signal == SIGBUS {
            // The thread that failed repeats its access until the program ends.
            let failure = input("an input file became shorter while it was read");
            failure.help("read it again when no other program writes to it").show();
            std::process::exit(1);
        }
        // Shells and `make` see the signal. A signal cannot end process 1.
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
    // SAFETY: without a new action, the call only writes the old one, which is plain data and valid when zeroed.
    let (result, action) =
        unsafe { (libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()), action.assume_init()) };
    result == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// Other systems end programs without notice.
#[cfg(not(unix))]
pub fn install() -> io::Result<()> {
    Ok(())
}
