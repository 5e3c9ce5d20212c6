//! Portable C99: kernels of one thread as static functions.

use super::dialect::Dialect;
use super::namer::Namer;
use super::{Unsupported, c_like, helpers};
use crate::ir::valid::KernelInfo;
use crate::ir::{Kernel, Scalar};
use std::collections::BTreeSet;

/// What every emitted C file opens with, after its description: guards against fused multiply-adds, the headers, and
/// the assumptions about the implementation, each checked by the compiler.
pub const PRELUDE: &str = "\
/* Every operation is rounded once: a*b + c must not become a fused multiply-add. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize(\"fp-contract=off\")
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <float.h>

/* The file is C++ as well, which has the word under this name. */
#if defined(__cplusplus) && !defined(restrict)
#define restrict __restrict
#endif

/* Sums of samples wrap: they are computed in unsigned types and converted back, which every compiler does modulo
   2^32 or 2^64. A right shift of a negative number is arithmetic, as every compiler has it. C99 leaves both to the
   implementation, so they are checked here, as is the width of int. */
typedef char check_int_is_32_bits[sizeof(int) == 4 ? 1 : -1];
typedef char check_conversion_wraps[(int32_t)0xffffffffu == -1 && (int16_t)0x18000 == INT16_MIN ? 1 : -1];
typedef char check_shift_is_arithmetic[(-1 >> 1) == -1 && ((int64_t)-3 >> 1) == -2 ? 1 : -1];
";

/// The further check for files that compute with floats.
pub const FLOAT_PRELUDE: &str = "\
#if FLT_EVAL_METHOD != 0
#error \"floats are evaluated in a wider type: compile for SSE2 (-msse2 -mfpmath=sse)\"
#endif
";

/// The text of some kernels with the helper functions that they call, without the prelude.
pub fn write_with(kernels: &[(&Kernel, &KernelInfo)], namer: &mut Namer) -> Result<(String, Vec<String>), Unsupported> {
    let names: Vec<String> = kernels.iter().map(|(k, _)| namer.name(&k.name)).collect();
    let mut used = BTreeSet::new();
    let mut text = String::new();
    for (kernel, name) in kernels.iter().zip(&names) {
        text.push('\n');
        text += &c_like::write_kernel(*kernel, name, Dialect::C, namer, &mut used)?;
    }
    let helpers = helpers::write(&used, Dialect::C);
    Ok((format!("{helpers}{}", text.strip_prefix('\n').unwrap_or(&text)), names))
}

/// The prelude, with what floats need if any local of the kernels is one.
pub fn prelude(kernels: &[(&Kernel, &KernelInfo)]) -> String {
    let float = |s: Scalar| s.is_float();
    let floats = kernels.iter().any(|(k, _)| k.locals.iter().any(|l| float(l.scalar)));
    format!("{PRELUDE}{}", if floats { FLOAT_PRELUDE } else { "" })
}

/// The text of some kernels: a translation unit of static functions.
pub fn write(kernels: &[(&Kernel, &KernelInfo)]) -> Result<String, Unsupported> {
    let (text, _) = write_with(kernels, &mut namer())?;
    Ok(format!("{}\n{text}", prelude(kernels)))
}

/// A namer for the file scope of a `.c`.
pub fn namer() -> Namer {
    Dialect::C.namer()
}
