//! Instruction sets.

use std::fmt;
use std::str::FromStr;

/// The widest instructions that loops may use, ordered by width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// The baseline of the architecture: SSE2 on x86-64, NEON on AArch64.
    Baseline,
    /// 256 bits: AVX2 and F16C, with BMI and LZCNT for bits.
    Avx2,
    /// 512 bits: AVX-512 F, BW, DQ and VL.
    Avx512,
}

impl Isa {
    /// The widest set of this machine.
    #[cfg(target_arch = "x86_64")]
    pub fn of_machine() -> Isa {
        use std::arch::is_x86_feature_detected as has;
        // Every machine with AVX2 has the others, but under separate flags.
        let bits = has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
        let avx2 = has!("avx2") && has!("f16c") && bits;
        if avx2 && has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
            Isa::Avx512
        } else if avx2 {
            Isa::Avx2
        } else {
            Isa::Baseline
        }
    }

    /// The widest set of this machine.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn of_machine() -> Isa {
        Isa::Baseline
    }

    /// Runs a task as compiled for the widest set of this machine.
    pub fn run<T: Task>(task: T) -> T::Output {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c,bmi1,bmi2,lzcnt,popcnt")]
            fn avx512<T: Task>(task: T) -> T::Output {
                task.run()
            }
            #[target_feature(enable = "avx2,f16c,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2<T: Task>(task: T) -> T::Output {
                task.run()
            }
            match Isa::of_machine() {
                // SAFETY: the machine has the instructions.
                Isa::Avx512 => return unsafe { avx512(task) },
                // SAFETY: the machine has the instructions.
                Isa::Avx2 => return unsafe { avx2(task) },
                Isa::Baseline => {}
            }
        }
        task.run()
    }
}

/// Work that is compiled once for each instruction set. `run` and what it calls in its loops are `#[inline(always)]`:
/// other functions are compiled for the baseline only.
pub trait Task {
    /// Result of the work.
    type Output;
    /// Does the work.
    fn run(self) -> Self::Output;
}

impl FromStr for Isa {
    type Err = ();

    fn from_str(name: &str) -> Result<Isa, ()> {
        match name {
            "sse2" | "neon" | "baseline" => Ok(Isa::Baseline),
            "avx2" => Ok(Isa::Avx2),
            "avx512" => Ok(Isa::Avx512),
            _ => Err(()),
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Isa::Baseline if cfg!(target_arch = "x86_64") => "sse2",
            Isa::Baseline if cfg!(target_arch = "aarch64") => "neon",
            Isa::Baseline => "baseline",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        })
    }
}
