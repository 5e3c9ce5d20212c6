//! Instruction sets.

use std::fmt;
use std::str::FromStr;

/// The widest instructions that loops may use, ordered by width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// The baseline of the architecture: SSE2 on x86-64, NEON on AArch64.
    Baseline,
    /// 256 bits: AVX2 and F16C.
    Avx2,
    /// 512 bits: AVX-512 F, BW, DQ and VL.
    Avx512,
}

impl Isa {
    /// The widest set of this machine.
    #[cfg(target_arch = "x86_64")]
    pub fn of_machine() -> Isa {
        use std::arch::is_x86_feature_detected as has;
        // Every machine with AVX2 has 16-bit float conversions, but under a separate flag.
        let avx2 = has!("avx2") && has!("f16c");
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
