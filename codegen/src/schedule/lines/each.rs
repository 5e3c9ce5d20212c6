//! Kernels with one line a thread, for lines in any layout.

use crate::ir::build::Builder;
use crate::ir::{Builtin, Expr, Launch, ParamId, Scalar};

/// Threads of a block.
const BLOCK: u32 = 128;

/// Parameters that locate lines.
pub(in crate::schedule) struct EachLine {
    lines: ParamId,
    /// Samples from one sample of a line to the next.
    pub(in crate::schedule) step: ParamId,
    pitch: ParamId,
    stride: ParamId,
    batch: ParamId,
}

impl EachLine {
    /// Declares them, in this order: `lines, step, pitch, stride, batch`.
    pub(in crate::schedule) fn declare(b: &mut Builder) -> EachLine {
        EachLine {
            lines: b.scalar("lines", Scalar::I32, "number of lines"),
            step: b.scalar("step", Scalar::I64, "samples from one to the next of a line"),
            pitch: b.scalar("pitch", Scalar::I64, "samples from one line to the next"),
            stride: b.scalar("stride", Scalar::I64, "samples from one batch of lines to the next"),
            batch: b.scalar("batch", Scalar::I32, "number of batches"),
        }
    }

    /// Runs `body` for each of the thread's lines, with the index of its first sample.
    pub(in crate::schedule) fn run(&self, b: &mut Builder, body: impl FnOnce(&mut Builder, Expr)) {
        let x = Builtin::BlockX * BLOCK as i32 + Builtin::ThreadX;
        let x = b.let_("line", Scalar::I32, x);
        b.if_(x.lt(self.lines), |b| {
            b.for_("image", Builtin::BlockZ, self.batch, Builtin::GridZ, |b, image| {
                let wide = |e: Expr| e.cast(Scalar::I64);
                let base = wide(x.into()) * self.pitch + wide(image) * self.stride;
                let base: Expr = b.let_("base", Scalar::I64, base).into();
                body(b, base);
            });
        });
    }

    /// The launch with `rows` rows of blocks, each over all lines.
    pub(in crate::schedule) fn launch(&self, rows: Expr) -> Launch {
        let blocks = (self.lines + (BLOCK as i32 - 1)) / BLOCK as i32;
        Launch { block: [BLOCK, 1, 1], grid: [blocks, rows, self.batch.min(Expr::i32(65535))] }
    }
}
