//! Denormal numbers on XLA's CPU threads, which flush them by default; plans need them on every device.

/// Guard that disables flushing on the current thread; dropping it restores the previous setting.
pub struct Known(u64);

impl Known {
    pub fn here() -> Known {
        let before = register::read();
        // SAFETY: Rust expects these bits to be clear.
        unsafe { register::write(before & !register::FLUSHES) };
        Known(before)
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        // SAFETY: this is the thread's previous value.
        unsafe { register::write(self.0) };
    }
}

#[cfg(target_arch = "x86_64")]
mod register {
    use std::arch::asm;

    /// MXCSR bits FTZ (results) and DAZ (operands).
    pub const FLUSHES: u64 = 1 << 15 | 1 << 6;

    pub fn read() -> u64 {
        let mut value = 0u32;
        // SAFETY: stores the register to a variable of its size.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
        value.into()
    }

    /// # Safety
    /// `value` must be a value of the register, apart from the flush bits.
    pub unsafe fn write(value: u64) {
        let value = value as u32;
        // SAFETY: by the caller's promise.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags, readonly)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod register {
    use std::arch::asm;

    /// FPCR bits FZ (32 and 64 bits) and FZ16 (16 bits).
    pub const FLUSHES: u64 = 1 << 24 | 1 << 19;

    pub fn read() -> u64 {
        let value: u64;
        // SAFETY: reads the register.
        unsafe { asm!("mrs {}, fpcr", out(reg) value, options(nostack, nomem, preserves_flags)) };
        value
    }

    /// # Safety
    /// `value` must be a value of the register, apart from the flush bits.
    pub unsafe fn write(value: u64) {
        // SAFETY: by the caller's promise.
        unsafe { asm!("msr fpcr, {}", in(reg) value, options(nostack, nomem, preserves_flags)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod register {
    /// No flush bits are known for this processor.
    pub const FLUSHES: u64 = 0;

    pub fn read() -> u64 {
        0
    }

    pub unsafe fn write(_: u64) {}
}
