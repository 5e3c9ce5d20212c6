//! Image transposition, tile by tile through shared memory, so that loads and stores are coalesced.
//!
//! rewrite: images → transposed images, tile by tile through shared memory, with both sides coalesced
//!
//! A block has a tile of 32 × 32 samples. A column of padding keeps a column's samples in different banks.

use crate::ir::build::Builder;
use crate::ir::{Access, Builtin, Expr, Kernel, Launch, Scalar, Space};

/// Side of a tile, and rows of a block's threads.
const TILE: i32 = 32;
const THREADS_Y: i32 = 8;

/// Writes the kernel. Parameters: `src, dst`; `width, height` of a source image; `src_pitch, dst_pitch`, from row to
/// row of each; `src_stride, dst_stride`, from image to image; `batch`.
pub fn kernel(sample: Scalar) -> Kernel {
    let mut builder = Builder::new(format!("transpose_{}", sample.name()));
    let b = &mut builder;
    b.doc("Transposes images: a block has a tile of 32 x 32 samples.");
    let src = b.pointer("src", sample, Access::Read, "the images");
    let dst = b.pointer("dst", sample, Access::Write, "receives them transposed");
    let [width, height] = ["width", "height"].map(|name| b.scalar(name, Scalar::I32, "of a source image"));
    let [src_pitch, dst_pitch] =
        ["src", "dst"].map(|side| b.scalar(&format!("{side}_pitch"), Scalar::I64, "samples from row to row"));
    let [src_stride, dst_stride] =
        ["src", "dst"].map(|side| b.scalar(&format!("{side}_stride"), Scalar::I64, "samples from image to image"));
    let batch = b.scalar("batch", Scalar::I32, "number of images");
    let tile = b.shared("tile", sample, ((TILE + 1) * TILE) as u32);

    let across = b.let_("across", Scalar::I32, (width + (TILE - 1)) / TILE);
    let [x0, y0] = [("x0", Builtin::BlockX % across * TILE), ("y0", Builtin::BlockX / across * TILE)]
        .map(|(name, value)| b.let_(name, Scalar::I32, value));
    let wide = |e: Expr| e.cast(Scalar::I64);
    let thread = Expr::from(Builtin::ThreadX);
    b.for_("image", Builtin::BlockZ, batch, Builtin::GridZ, |b, image| {
        let base = |stride| wide(image) * stride;
        b.for_("y", Builtin::ThreadY, TILE, THREADS_Y, |b, y| {
            let (column, row) = (x0 + thread, y0 + y);
            b.if_(column.lt(width).and(row.lt(height)), |b| {
                let at = base(src_stride) + wide(row) * src_pitch + wide(column);
                let sample = b.load_new("sample", sample, Space::Global(src), at);
                b.store(Space::Shared(tile), y * (TILE + 1) + thread, sample);
            });
        });
        b.barrier();
        b.for_("y", Builtin::ThreadY, TILE, THREADS_Y, |b, y| {
            let (column, row) = (y0 + thread, x0 + y);
            b.if_(column.lt(height).and(row.lt(width)), |b| {
                let sample = b.load_new("sample", sample, Space::Shared(tile), thread * (TILE + 1) + y);
                let at = base(dst_stride) + wide(row) * dst_pitch + wide(column);
                b.store(Space::Global(dst), at, sample);
            });
        });
        b.barrier();
    });
    let tiles = |n: Expr| ((n + (TILE - 1)) / TILE).cast(Scalar::I64);
    let grid = [tiles(width.into()) * tiles(height.into()), 1.into(), batch.min(Expr::i32(65535))];
    builder.finish(Launch { block: [TILE as u32, THREADS_Y as u32, 1], grid })
}
