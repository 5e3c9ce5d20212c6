//! Instruction sets: detected when a plan is made, restricted by `LIFTING_CPU`.
//!
//! rewrite: one loop over slices → the same loop compiled once for each instruction set, and a jump to the widest set
//! of the machine. The loops are plain Rust that compilers vectorise. They fuse no multiplication with an addition, so
//! all sets give the same bits.

use crate::error::PlanError;
use lifting_loops::Isa;
use std::ffi::OsStr;

/// Environment variable that restricts the instruction sets.
const VARIABLE: &str = "LIFTING_CPU";

/// Widest instruction set of the machine that `LIFTING_CPU` allows.
///
/// # Errors
/// If the variable does not name an instruction set.
pub(crate) fn detect() -> Result<Isa, PlanError> {
    allowed(std::env::var_os(VARIABLE).as_deref())
}

/// [`detect`] for a given value of the variable; an empty value restricts nothing.
fn allowed(value: Option<&OsStr>) -> Result<Isa, PlanError> {
    let allowed = match value.filter(|value| !value.is_empty()) {
        Some(value) => {
            let known = value.to_str().and_then(|name| name.parse().ok());
            known.ok_or_else(|| PlanError::Variable {
                name: VARIABLE,
                value: value.to_string_lossy().into_owned(),
                known: "baseline (or sse2, neon), avx2 or avx512; unset it to use all that the processor supports",
            })?
        }
        None => Isa::Avx512,
    };
    Ok(allowed.min(Isa::of_machine()))
}

/// Whether the processor combines non-temporal stores of half cache lines that other stores separate: AMD's do.
/// On a Xeon, analysis of 8192² samples in halves took 2.5 times as long as with ordinary stores.
pub(crate) fn combines_half_lines() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        static COMBINES: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| {
            let id = std::arch::x86_64::__cpuid(0);
            let vendor = [id.ebx, id.edx, id.ecx].map(u32::to_le_bytes).concat();
            matches!(&vendor[..], b"AuthenticAMD" | b"HygonGenuine")
        });
        *COMBINES
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    false
}

/// Functions compiled once for each instruction set, which is their first argument. All hot callees must be inlined
/// into them, or they are not compiled for the set.
macro_rules! for_each_isa {
    ($(
        $(#[$attribute:meta])*
        pub fn $name:ident<$($generic:ident: $bound:path),*>($($argument:ident: $type:ty),* $(,)?) $body:block
    )*) => {$(
        $(#[$attribute])*
        #[allow(clippy::too_many_arguments)]
        pub fn $name<$($generic: $bound),*>(isa: lifting_loops::Isa, $($argument: $type),*) {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn all<$($generic: $bound),*>($($argument: $type),*) $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c,bmi2")]
                #[allow(clippy::too_many_arguments)]
                fn avx512<$($generic: $bound),*>($($argument: $type),*) {
                    all($($argument),*)
                }
                #[target_feature(enable = "avx2,f16c")]
                #[allow(clippy::too_many_arguments)]
                fn avx2<$($generic: $bound),*>($($argument: $type),*) {
                    all($($argument),*)
                }
                // SAFETY: only sets that `Isa::of_machine` found are named.
                match isa {
                    // SAFETY: as above.
                    lifting_loops::Isa::Avx512 => return unsafe { avx512($($argument),*) },
                    // SAFETY: as above.
                    lifting_loops::Isa::Avx2 => return unsafe { avx2($($argument),*) },
                    lifting_loops::Isa::Baseline => {}
                }
            }
            #[cfg(not(target_arch = "x86_64"))]
            let _ = isa;
            all($($argument),*)
        }
    )*};
}
pub(crate) use for_each_isa;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
            assert_eq!(isa.to_string().parse(), Ok(isa));
        }
        assert_eq!("mmx".parse::<Isa>(), Err(()));
        assert!(Isa::of_machine() >= Isa::Baseline);
    }

    #[test]
    fn the_variable_is_used_or_refused() {
        let allowed = |value: &str| super::allowed(Some(value.as_ref()));
        assert_eq!(super::allowed(None), Ok(Isa::of_machine()));
        assert_eq!(allowed(""), Ok(Isa::of_machine()));
        assert_eq!(allowed("baseline"), Ok(Isa::Baseline));
        assert_eq!(allowed("avx2"), Ok(Isa::Avx2.min(Isa::of_machine())));
        let error = allowed("AVX2").unwrap_err().to_string();
        assert!(error.contains("LIFTING_CPU") && error.contains("`AVX2`") && error.contains("avx512"), "{error}");
    }
}
