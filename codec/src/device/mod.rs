//! Streams by a device. `blocks` codes the codeblocks of one picture there, for a stream that the processor puts
//! together. `encoder` makes whole streams where pictures are, in these steps, each a kernel or a plan: `samples`, the
//! transform, `quantise`, the coder ([`crate::block::kernel`]), `packets`, with checksums by `hash`. `decoder` goes the
//! same way back, after `parse` has held streams against what they may be. What both keep is `resident`.

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
pub use decoder::DeviceDecoder;
pub use encoder::DeviceEncoder;

use crate::block::kernel::finished as warps;
use crate::error::CodecError;
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// Checks that threads' numbers, of 32 bits, count so many of each thing, with what the last block of threads has
/// beyond; `None` is more than this machine counts.
fn check_numbers(counts: &[Option<usize>]) -> Result<(), CodecError> {
    let most = i32::MAX as usize - Threads::BLOCK as usize;
    if counts.iter().any(|n| n.is_none_or(|n| n > most)) {
        return Err(CodecError::NotOnDevice { what: "so large a picture, or so many at once" });
    }
    Ok(())
}

/// Kernels of a thread for each of so many things as the last parameter says.
struct Threads;

impl Threads {
    /// Threads of a block.
    const BLOCK: i32 = 256;

    /// A thread's number; the last ones may be beyond the last parameter.
    fn index(b: &mut Builder) -> Expr {
        let at = Expr::from(Builtin::BlockX) * Threads::BLOCK + Expr::from(Builtin::ThreadX);
        b.let_("index", Scalar::I32, at).into()
    }

    fn finished(builder: Builder) -> Kernel {
        let one = || Expr::i32(1);
        let block = [Threads::BLOCK as u32, 1, 1];
        let mut kernel = builder.finish(Launch { block, grid: [one(), one(), one()] });
        let count = Expr::Param(ParamId(kernel.params.len() as u32 - 1));
        kernel.launch.grid[0] = (count + (Threads::BLOCK - 1)) / Threads::BLOCK;
        kernel
    }
}

/// The nearest integer of a real number of that type, halves to even, after what is beyond these bounds has come to
/// them; 0 if it is none. The bounds are integers of less than 22 bits, or 33 where the type is `f64`.
fn round(b: &mut Builder, value: Expr, least: f64, largest: f64, kind: Scalar) -> Expr {
    let real = |v: f64| Expr::Lit(if kind == Scalar::F64 { Literal::F64(v) } else { Literal::F32(v as f32) });
    // A number so large has no bits behind the point: what is added to it is rounded.
    let whole = || real(if kind == Scalar::F64 { 1.5 * (1u64 << 52) as f64 } else { 1.5 * (1u64 << 23) as f64 });
    let value = Expr::from(b.let_("real", kind, value));
    let number = value.clone().eq_(value.clone()).select(value, real(0.0));
    let number = Expr::from(b.let_("real", kind, number));
    let high = number.clone().lt(real(least)).select(real(least), number);
    let high = Expr::from(b.let_("real", kind, high));
    let both = high.clone().gt(real(largest)).select(real(largest), high);
    let sum = b.let_("sum", kind, both + whole());
    Expr::from(b.let_("rounded", Scalar::I32, (Expr::from(sum) - whole()).cast(Scalar::I32)))
}
