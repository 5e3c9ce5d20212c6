//! Streams on a device.
//!
//! `blocks` codes the codeblocks of a picture for a stream that the processor assembles.
//!
//! `encoder` makes whole streams on the device. Each stage is a kernel or a plan: `samples`, the transform, `quantise`,
//! the block coder ([`crate::block::kernel`]), and `packets`, with checksums by `hash`. `decoder` runs the stages in
//! reverse, after `parse` has validated the streams. `resident` holds the memory of both.

mod blocks;
mod decoder;
mod encoder;
mod hash;
mod packets;
mod parse;
mod quantise;
mod resident;
mod samples;

pub use blocks::BlockCoder;
pub use decoder::{DeviceDecoder, release_device_memory};
pub use encoder::DeviceEncoder;

use crate::block::kernel::finished as warps;
use crate::error::CodecError;
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// Checks that counts, padded to whole blocks of threads, fit 32-bit numbers; `None` is an overflowed count.
fn check_numbers(counts: &[Option<usize>]) -> Result<(), CodecError> {
    let most = i32::MAX as usize - Threads::BLOCK as usize;
    if counts.iter().any(|n| n.is_none_or(|n| n > most)) {
        return Err(CodecError::NotOnDevice { what: "pictures this large, or this many at once" });
    }
    Ok(())
}

/// Kernels with one thread per element; the last parameter is the number of elements.
struct Threads;

impl Threads {
    /// Threads per block.
    const BLOCK: i32 = 256;

    /// Index of a thread; the last threads may exceed the last parameter.
    fn index(b: &mut Builder) -> Expr {
        let at = Builtin::BlockX * Threads::BLOCK + Builtin::ThreadX;
        b.let_("index", Scalar::I32, at).into()
    }

    fn finished(builder: Builder) -> Kernel {
        let one = Expr::i32(1);
        let block = [Threads::BLOCK as u32, 1, 1];
        let mut kernel = builder.finish(Launch { block, grid: [one, one, one] });
        let count = Expr::Param(ParamId(kernel.params.len() as u32 - 1));
        kernel.launch.grid[0] = (count + (Threads::BLOCK - 1)) / Threads::BLOCK;
        kernel
    }
}

/// Nearest integer of a real number, halves to even, after clamping to the bounds; 0 for NaN. The bounds are integers
/// of less than 22 bits, or 33 for `f64`.
fn round(b: &mut Builder, value: Expr, least: f64, largest: f64, kind: Scalar) -> Expr {
    let real = |v: f64| Expr::Lit(if kind == Scalar::F64 { Literal::F64(v) } else { Literal::F32(v as f32) });
    // Large enough to have no fractional bits: adding it rounds.
    let whole = || real(if kind == Scalar::F64 { 1.5 * (1u64 << 52) as f64 } else { 1.5 * (1u64 << 23) as f64 });
    let value = b.let_("real", kind, value);
    let number = value.eq_(value).select(value, real(0.0));
    let number = b.let_("real", kind, number);
    let high = number.lt(real(least)).select(real(least), number);
    let high = b.let_("real", kind, high);
    let both = high.gt(real(largest)).select(real(largest), high);
    let sum = b.let_("sum", kind, both + whole());
    Expr::from(b.let_("rounded", Scalar::I32, (sum - whole()).cast(Scalar::I32)))
}
