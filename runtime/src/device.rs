//! Where plans execute.

use crate::error::PlanError;

/// What a plan executes on. The CPU is always there and needs nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Device {
    /// This machine's processor.
    Cpu {
        /// How many threads a plan may use; they are rayon's.
        threads: usize,
    },
    /// The kernels that a GPU would run, interpreted on this machine: slow, and every race and stray access is an error.
    Interpreter,
}

impl Device {
    /// The CPU, with as many threads as rayon's current pool has (`RAYON_NUM_THREADS` limits it). Small transforms stay
    /// on the calling thread.
    pub fn cpu() -> Device {
        Device::Cpu { threads: rayon::current_num_threads().max(1) }
    }

    /// The CPU, with at most so many threads; 0 counts as 1. With one thread, execution with a workspace allocates nothing.
    pub fn cpu_with_threads(threads: usize) -> Device {
        Device::Cpu { threads: threads.max(1) }
    }

    /// The fastest device of this machine.
    ///
    /// # Errors
    /// None today; a device that is there but unusable will be reported here.
    pub fn best() -> Result<Device, PlanError> {
        Ok(Device::cpu())
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Device::Cpu { threads: 1 } => f.write_str("cpu, 1 thread"),
            Device::Interpreter => f.write_str("the interpreter of kernels"),
            Device::Cpu { threads } => write!(f, "cpu, {threads} threads"),
        }
    }
}
