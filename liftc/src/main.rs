//! `liftc`: see the library of this package.

use std::process::ExitCode;

/// Test of the standard output before Rust's runtime starts, which opens `/dev/null` in place of a closed one.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_vendor = "apple"))]
mod start {
    use std::sync::atomic::{AtomicBool, Ordering};

    static CLOSED: AtomicBool = AtomicBool::new(false);

    extern "C" fn test() {
        // SAFETY: it reads the flags of a descriptor, and fails if that is closed.
        let closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1;
        CLOSED.store(closed, Ordering::Relaxed);
    }

    // SAFETY: the section lists functions without arguments, which the loader calls; this one needs no runtime.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static TEST: extern "C" fn() = test;

    /// Whether the standard output was closed.
    pub fn is_closed() -> bool {
        CLOSED.load(Ordering::Relaxed)
    }
}

fn main() -> ExitCode {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_vendor = "apple"))]
    if start::is_closed() {
        liftc::close_standard();
    }
    liftc::main(std::env::args_os())
}
