//! Strided copy of a box of samples, an element a thread.
//!
//! rewrite: a strided box of samples → another one, an element a thread
//!
//! Plans use it around passes: to reorder data for passes, to pad and to crop, to place bands in a layout, and to
//! convert a storage type. It also scales lone samples ([`Change`]), which no pass lifts.

use super::Arithmetic;
use crate::ir::build::Builder;
use crate::ir::{Access, Builtin, Cache, Expr, Kernel, Launch, Literal, Scalar, Space};

/// Change to a sample on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    /// None.
    None,
    /// Integers: `x << gain`, wrapping. Reals: `2 x`.
    Up,
    /// Integers: `x >> halve`, then `(x + (1 << gain >> 1)) >> gain`. Reals: `x / 2`.
    Down,
}

/// Threads of a block along x and y.
const BLOCK: [u32; 2] = [32, 8];

/// Writes the kernel. Parameters: `src, dst`; `size_x, size_y, size_z`, the box to write; `src_size_x, src_size_y,
/// src_size_z`, the box to read, with its last sample repeated beyond it; `src_step_x, …_z, dst_step_x, …_z`, samples
/// from one element to the next along each axis; with [`Change::Up`] `gain`; with [`Change::Down`] `halve, gain`.
///
/// `None` if a change also converts the sample type, or the samples are unsigned integers.
pub fn kernel(from: Scalar, to: Scalar, change: Change) -> Option<Kernel> {
    let changes = change != Change::None;
    if changes && (from != to || matches!(to, Scalar::U8 | Scalar::Bool)) {
        return None;
    }
    let sum = if to == Scalar::I64 { Scalar::I64 } else { Scalar::I32 };
    let arith = (changes && to.is_integer()).then_some(Arithmetic { storage: to, work: to, sum });
    let mut builder = Builder::new(match change {
        Change::None => format!("copy_{}_to_{}", from.name(), to.name()),
        Change::Up => format!("scale_up_{}", to.name()),
        Change::Down => format!("scale_down_{}", to.name()),
    });
    let b = &mut builder;
    b.doc("Copies a box of samples, a sample a thread. Repeats the last sample beyond the source box.");
    let src = b.pointer("src", from, Access::Read, "the samples");
    let dst = b.pointer("dst", to, Access::Write, "receives them");
    let axes = ["x", "y", "z"];
    let sizes = axes.map(|a| b.scalar(&format!("size_{a}"), Scalar::I32, &format!("samples to write along {a}")));
    let limits = axes.map(|a| b.scalar(&format!("src_size_{a}"), Scalar::I32, &format!("samples to read along {a}")));
    let from_steps = axes.map(|a| b.scalar(&format!("src_step_{a}"), Scalar::I64, "from one to the next in src"));
    let to_steps = axes.map(|a| b.scalar(&format!("dst_step_{a}"), Scalar::I64, "from one to the next in dst"));
    let halve = (change == Change::Down).then(|| b.scalar("halve", Scalar::I32, "1: halve the sample, rounded down"));
    let gain = changes.then(|| b.scalar("gain", Scalar::I32, "bits to shift by"));

    let [across, down] = BLOCK.map(|n| n as i32);
    let columns = (sizes[0] + (across - 1)) / across;
    let rows = (sizes[1] + (down - 1)) / down;
    let tiles = b.let_("tiles", Scalar::I32, columns);
    let x = Builtin::BlockX % tiles * across + Builtin::ThreadX;
    let x = b.let_("x", Scalar::I32, x);
    let y = Builtin::BlockX / tiles * down + Builtin::ThreadY;
    let y = b.let_("y", Scalar::I32, y);
    b.if_(x.lt(sizes[0]).and(y.lt(sizes[1])), |b| {
        b.for_("z", Builtin::BlockZ, sizes[2], Builtin::GridZ, |b, z| {
            let place = [x.into(), y.into(), z];
            let wide = |e: Expr| e.cast(Scalar::I64);
            let mut from_at = Expr::i64(0);
            let mut to_at = Expr::i64(0);
            for (axis, at) in place.into_iter().enumerate() {
                let served = at.min(limits[axis] - 1);
                from_at = from_at + wide(served) * from_steps[axis];
                to_at = to_at + wide(at) * to_steps[axis];
            }
            let sample = b.declare("sample", from);
            b.load(sample, Space::Global(src), from_at, 1, Cache::Default);
            let mut value = Expr::from(sample);
            if let (Some(arith), Some(gain)) = (arith, gain) {
                value = match halve {
                    None => arith.shift_up(value, gain.into()),
                    Some(halve) => arith.shift_down((value.cast(arith.sum) >> halve).cast(to), gain.into()),
                };
            } else if changes {
                let work = if to == Scalar::F64 { Scalar::F64 } else { Scalar::F32 };
                let factor = if change == Change::Up { 2.0 } else { 0.5 };
                let factor =
                    Expr::Lit(if to == Scalar::F64 { Literal::F64(factor) } else { Literal::F32(factor as f32) });
                value = convert(convert(value, from, work) * factor, work, to);
            } else if from != to {
                value = convert(value, from, to);
            }
            b.store(Space::Global(dst), to_at, value);
        });
    });
    let blocks = columns.cast(Scalar::I64) * rows.cast(Scalar::I64);
    let grid = [blocks, 1.into(), sizes[2].min(Expr::i32(65535))];
    Some(builder.finish(Launch { block: [BLOCK[0], BLOCK[1], 1], grid }))
}

/// Storage types convert to other types only through `f32`.
fn convert(value: Expr, from: Scalar, to: Scalar) -> Expr {
    let storage = |s| matches!(s, Scalar::F16 | Scalar::Bf16);
    let value = if storage(from) { value.cast(Scalar::F32) } else { value };
    if to == Scalar::F32 && storage(from) { value } else { value.cast(to) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::interp::{Arg, Buffer, run};
    use crate::ir::valid::validate;

    fn args(src: Buffer, dst: Buffer, sizes: [i64; 6], steps: [i64; 6]) -> Vec<Arg> {
        let scalars = sizes.into_iter().chain(steps).map(Arg::Scalar);
        [Arg::Buffer(src), Arg::Buffer(dst)].into_iter().chain(scalars).collect()
    }

    #[test]
    fn boxes_are_transposed_padded_and_converted() {
        let kernel = kernel(Scalar::F32, Scalar::F64, Change::None).unwrap();
        let info = validate(&kernel).unwrap();
        // 2 × 3 × 4 (z, y, x) becomes 2 × 4 × 5 with x and y exchanged in memory.
        let src: Vec<f32> = (0..24).map(|i| i as f32).collect();
        let dst = Buffer::undefined(Scalar::F64, 40);
        let mut args = args(Buffer::new(&src), dst, [5, 4, 2, 4, 3, 2], [1, 4, 12, 4, 1, 20]);
        run(&kernel, &info, &mut args).unwrap();
        let out = args[1].buffer().unwrap();
        assert!(out.is_defined());
        let out = out.to_vec::<f64>().unwrap();
        for z in 0..2 {
            for y in 0..4 {
                for x in 0..5 {
                    let want = src[z * 12 + y.min(2) * 4 + x.min(3)];
                    assert_eq!(out[z * 20 + x * 4 + y], f64::from(want));
                }
            }
        }
    }

    #[test]
    fn samples_are_scaled() {
        let data = [-32768i16, -5, -4, -1, 0, 1, 6, 32767];
        let scale = |change, extra: &[i64]| {
            let kernel = kernel(Scalar::I16, Scalar::I16, change).unwrap();
            let info = validate(&kernel).unwrap();
            let dst = Buffer::undefined(Scalar::I16, 8);
            let mut args = args(Buffer::new(&data), dst, [8, 1, 1, 8, 1, 1], [1, 0, 0, 1, 0, 0]);
            args.extend(extra.iter().map(|&v| Arg::Scalar(v)));
            run(&kernel, &info, &mut args).unwrap();
            args[1].buffer().unwrap().to_vec::<i16>().unwrap()
        };
        assert_eq!(scale(Change::Up, &[1]), data.map(|x| x.wrapping_shl(1)));
        assert_eq!(scale(Change::Down, &[1, 0]), data.map(|x| x >> 1));
        assert_eq!(scale(Change::Down, &[0, 2]), data.map(|x| ((i32::from(x) + 2) >> 2) as i16));
        assert!(kernel(Scalar::U8, Scalar::U8, Change::Up).is_none());
    }
}
