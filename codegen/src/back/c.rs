//! Portable C99: single-threaded kernels as static functions.

use super::dialect::CLike;
use crate::ir::valid::KernelInfo;
use crate::ir::{Feature, Kernel, Scalar};

/// Prelude of every emitted C file, after its opening comment: no fused multiply-adds, the headers, and assumptions
/// about the implementation, each checked at compile time.
pub const PRELUDE: &str = "\
/* Every operation is rounded once: a*b + c must not become a fused multiply-add. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize(\"fp-contract=off\")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <float.h>

/* Sums of samples wrap: they are computed in unsigned types and converted back, modulo 2^32 or 2^64. A right shift of a
   negative number is arithmetic. C99 leaves both to the implementation, so they are checked here, as is the width of
   int. */
typedef char check_int_is_32_bits[sizeof(int) == 4 ? 1 : -1];
typedef char check_conversion_wraps[(int32_t)0xffffffffu == -1 && (int16_t)0x18000 == INT16_MIN ? 1 : -1];
typedef char check_shift_is_arithmetic[(-1 >> 1) == -1 && ((int64_t)-3 >> 1) == -2 ? 1 : -1];
";

/// The keyword `restrict` of kernels.
pub const RESTRICT: &str = "\
/* The file also compiles as C++ and with MSVC, which spell the keyword differently. */
#if (defined(__cplusplus) || defined(_MSC_VER)) && !defined(restrict)
#define restrict __restrict
#endif

";

/// Further checks, for files that compute with floats.
pub const FLOAT_PRELUDE: &str = "\
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__) || \
    defined(_M_FP_FAST)
#error \"fast-math changes results: compile without -ffast-math, -Ofast, -funsafe-math-optimizations and /fp:fast\"
#endif
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16 /* 16: affects _Float16 only */
#error \"floats are evaluated in a wider type: compile for SSE2 (-msse2 -mfpmath=sse)\"
#endif
";

/// Portable C99.
#[derive(Clone, Copy, Debug)]
pub struct C;

impl CLike for C {
    fn name(&self) -> &'static str {
        "C99"
    }

    fn word(&self) -> &'static str {
        "c"
    }

    fn extension(&self) -> &'static str {
        "c"
    }

    /// A single thread has no such features.
    fn has(&self, _: Feature) -> bool {
        false
    }

    /// The prelude, with the check of floats if any local of the kernels is one.
    fn prelude(&self, kernels: &[(&Kernel, &KernelInfo)]) -> String {
        let floats = kernels.iter().any(|(k, _)| k.locals.iter().any(|l| l.scalar.is_float()));
        format!("{PRELUDE}{RESTRICT}{}", if floats { FLOAT_PRELUDE } else { "" })
    }

    fn type_name(&self, s: Scalar) -> &'static str {
        match s {
            Scalar::Bool => "bool",
            Scalar::U8 => "uint8_t",
            Scalar::I16 => "int16_t",
            Scalar::I32 => "int32_t",
            Scalar::I64 => "int64_t",
            Scalar::U32 => "uint32_t",
            Scalar::U64 => "uint64_t",
            Scalar::F16 | Scalar::Bf16 => "uint16_t",
            Scalar::F32 => "float",
            Scalar::F64 => "double",
        }
    }

    fn kernel_head(&self, _: &Kernel, name: &str) -> String {
        format!("static void {name}(")
    }

    fn warns_of_unused(&self) -> bool {
        true
    }
}
