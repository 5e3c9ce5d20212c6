//! Loads and stores of every width and type, hints, shared memory, register arrays.

use super::*;

pub(super) fn add(suite: &mut Suite) {
    wide(suite);
    in_place(suite);
    indices(suite);
    register_arrays(suite);
    shared_reverse(suite);
    shared_transpose(suite);
    shared_wide(suite);
    shared_types(suite);
}

const ONE: fn() -> [Expr; 3] = || [1.into(), 1.into(), 1.into()];

/// Groups of elements, loaded at once, reversed, and stored at once.
fn wide(suite: &mut Suite) {
    macro_rules! wide {
        ($t:ident, $make:expr) => {
            let make: fn(i32) -> $t = $make;
            for lanes in [1u32, 2, 4, 8, 16] {
                let scalar = <$t as Element>::SCALAR;
                if lanes as usize * scalar.bytes() > 16 {
                    continue;
                }
                let groups = 21usize;
                let values: Vec<$t> = (0..groups as i32 * lanes as i32).map(|i| make(i * 37 - 400)).collect();
                let mut expected = values.clone();
                expected.chunks_mut(lanes as usize).for_each(|g| g.reverse());
                for (suffix, block) in [("threads", groups as u32), ("loop", 1)] {
                    let name = format!("wide_{}_{lanes}_{suffix}", scalar.name());
                    let args = |out: Buffer| vec![Buffer::new(&values).into(), out.into()];
                    let (before, after) = (args(Buffer::zeroed(scalar, values.len())), args(Buffer::new(&expected)));
                    suite.case(&name, [block, 1, 1], ONE(), before, after, |b| {
                        let src = b.pointer("src", scalar, Access::Read, "groups");
                        let dst = b.pointer("dst", scalar, Access::Write, "groups, each reversed");
                        let one = |b: &mut Builder, group: Expr| {
                            let at = b.let_("at", Scalar::I32, group * lanes as i32);
                            let row = b.array("row", scalar, lanes);
                            let cache = [Cache::Default, Cache::ReadOnly, Cache::Streaming][lanes as usize % 3];
                            b.load(Place::Elem(row, 0.into()), Space::Global(src), at, lanes, cache);
                            let values = (0..lanes as i32).rev().map(|i| row.at(i)).collect();
                            let kind = lanes.ilog2() + scalar.bytes().ilog2() + block.min(2);
                            let cache = [Cache::Default, Cache::Streaming, Cache::Kept][kind as usize % 3];
                            b.push(Stmt::Store { space: Space::Global(dst), index: at.into(), values, cache });
                        };
                        match block {
                            1 => b.for_("group", 0, groups as i32, 1, |b, i| one(b, i)),
                            _ => one(b, Builtin::ThreadX.into()),
                        }
                    });
                }
            }
        };
    }
    wide!(i16, |i| (i * 31) as i16);
    wide!(i32, |i| i * 65537);
    wide!(i64, |i| i64::from(i) << 33);
    wide!(u32, |i| i as u32);
    wide!(u64, |i| i as u64);
    wide!(f16, |i| f16::from_f32(i as f32 / 4.0));
    wide!(bf16, |i| bf16::from_f32(i as f32 / 4.0));
    wide!(f32, |i| i as f32 / 3.0);
    wide!(f64, |i| f64::from(i) / 3.0);
}

/// An array that is read and written.
fn in_place(suite: &mut Suite) {
    let values: Vec<i32> = (0..50).collect();
    let expected: Vec<i32> = values.iter().map(|v| (v * 3 + 1) * 3 + 1).collect();
    for (name, block) in [("in_place_threads", 50), ("in_place_loop", 1)] {
        let (before, after) = (vec![Buffer::new(&values).into()], vec![Buffer::new(&expected).into()]);
        suite.case(name, [block, 1, 1], ONE(), before, after, |b| {
            let data = Space::Global(b.pointer("data", Scalar::I32, Access::ReadWrite, "updated twice"));
            let one = |b: &mut Builder, i: Expr| {
                for name in ["first", "second"] {
                    let x = b.load_new(name, Scalar::I32, data, i);
                    b.store(data, i, x * 3 + 1);
                }
            };
            match block {
                1 => b.for_("i", 0, 50, 1, |b, i| one(b, i)),
                _ => one(b, Builtin::ThreadX.into()),
            }
        });
    }
}

/// 64-bit indices, a negative pitch, and a batch.
fn indices(suite: &mut Suite) {
    let (rows, columns, batch) = (5usize, 7usize, 3usize);
    let values: Vec<i16> = (0..(rows * columns * batch) as i16).map(|v| v * 5 - 100).collect();
    let mut expected = Vec::new();
    for image in values.chunks(rows * columns) {
        image.chunks(columns).rev().for_each(|row| expected.extend_from_slice(row));
    }
    let scalars: Vec<Arg> = vec![Arg::Scalar(columns as i64), Arg::Scalar(-(columns as i64)), Arg::Scalar(35)];
    for (name, block, grid) in [
        ("signed_pitch_threads", [8, 4, 1], [1, 2, batch as i32]),
        ("signed_pitch_loop", [1, 1, 1], [1, 1, batch as i32]),
    ] {
        let args = |out: Buffer| -> Vec<Arg> {
            [Buffer::new(&values).into(), out.into()].into_iter().chain(scalars.clone()).collect()
        };
        let (before, after) = (args(Buffer::zeroed(Scalar::I16, values.len())), args(Buffer::new(&expected)));
        suite.case(name, block, grid.map(Expr::from), before, after, |b| {
            let src = b.pointer("src", Scalar::I16, Access::Read, "images");
            let dst = b.pointer("dst", Scalar::I16, Access::Write, "the images upside down");
            let src_pitch = b.scalar("src_pitch", Scalar::I64, "samples from row to row");
            let dst_pitch = b.scalar("dst_pitch", Scalar::I64, "samples from row to row");
            let stride = b.scalar("stride", Scalar::I64, "samples from image to image");
            let image = b.let_("image", Scalar::I64, Builtin::BlockZ.cast(Scalar::I64) * stride);
            let one = |b: &mut Builder, row: Expr, column: Expr| {
                let (row, column) = (row.cast(Scalar::I64), column.cast(Scalar::I64));
                let from = image + row * src_pitch + column;
                let x = b.load_new("x", Scalar::I16, Space::Global(src), from);
                let last = Expr::i64((rows - 1) as i64 * columns as i64);
                b.store(Space::Global(dst), image + last + row * dst_pitch + column, x);
            };
            if block == [1, 1, 1] {
                b.for_("row", 0, rows as i32, 1, |b, row| {
                    b.for_("column", 0, columns as i32, 1, |b, column| one(b, row, column));
                });
            } else {
                let row = b.let_("row", Scalar::I32, Builtin::BlockY * 4 + Builtin::ThreadY);
                let column = Expr::from(Builtin::ThreadX);
                let inside = row.lt(rows as i32).and(column.lt(columns as i32));
                b.if_(inside, |b| one(b, row.into(), column));
            }
        });
    }
}

/// Elements at constant, looped, and data-dependent indices.
fn register_arrays(suite: &mut Suite) {
    let a: Vec<i32> = (0..40).map(|i| i * 7 % 23 - 11).collect();
    let expected: Vec<i32> = (a.iter())
        .map(|&x| {
            let mut w = [0; 6];
            (0..6).for_each(|i| w[i as usize] = x * (i + 1) - i);
            for i in 0..5 {
                w[i + 1] += w[i] >> 1;
            }
            w[x.rem_euclid(6) as usize] = 1000;
            w[5] + w[(x + 1).rem_euclid(6) as usize] * 3 - w[0]
        })
        .collect();
    suite.elementwise("register_array", &[Buffer::new(&a)], &expected, |b, x| {
        let w = b.array("w", Scalar::I32, 6);
        let x = x[0];
        let elem = |i: Expr| w.at(i);
        b.for_("i", 0, 6, 1, |b, i| b.set(Place::Elem(w, i), x * (i + 1) - i));
        b.unrolled("i", 0, 5, 1, |b, i| {
            b.set(Place::Elem(w, i + 1), elem(i + 1) + (elem(i) >> 1));
        });
        let wrap = |e: Expr| Expr::Wrap(e.into(), Expr::from(6).into());
        b.set(Place::Elem(w, wrap(x)), 1000);
        elem(5.into()) + elem(wrap(x + 1)) * 3 - elem(0.into())
    });
}

/// A slice of a row reversed through shared memory, twice: barriers in a loop.
fn shared_reverse(suite: &mut Suite) {
    let (block, rounds) = (40u32, 3);
    let n = block as usize * 2;
    let values: Vec<i32> = (0..n as i32).map(|i| i * i).collect();
    let mut expected: Vec<i32> = values.clone();
    for _ in 0..rounds {
        expected.chunks_mut(block as usize).for_each(|row| {
            row.reverse();
            row.iter_mut().enumerate().for_each(|(i, v)| *v += i as i32);
        });
    }
    let args = |out: Buffer| vec![Buffer::new(&values).into(), out.into(), Arg::Scalar(rounds.into())];
    let (before, after) = (args(Buffer::zeroed(Scalar::I32, n)), args(Buffer::new(&expected)));
    suite.case("shared_reverse", [block, 1, 1], [2.into(), 1.into(), 1.into()], before, after, |b| {
        let src = b.pointer("src", Scalar::I32, Access::Read, "rows");
        let dst = b.pointer("dst", Scalar::I32, Access::Write, "results");
        let rounds = b.scalar("rounds", Scalar::I32, "number of rounds");
        let row = Space::Shared(b.shared("row", Scalar::I32, block));
        let t = Expr::from(Builtin::ThreadX);
        let at = b.let_("at", Scalar::I32, Builtin::BlockX * block as i32 + t);
        let x = b.load_new("x", Scalar::I32, Space::Global(src), at);
        b.for_("round", 0, rounds, 1, |b, _| {
            b.store(row, t, x);
            b.barrier();
            b.load(x, row, Expr::i32(block as i64 - 1) - t, 1, Cache::Default);
            b.set(x, x + t);
            b.barrier();
        });
        b.store(Space::Global(dst), at, x);
    });
}

/// A matrix transposed through two shared arrays of different types, in two-dimensional blocks.
fn shared_transpose(suite: &mut Suite) {
    let n = 16usize;
    let values: Vec<f32> = (0..n * n).map(|i| i as f32 / 8.0).collect();
    let expected: Vec<f32> = (0..n * n).map(|i| values[i % n * n + i / n] + (i / n) as f32).collect();
    let args = |out: Buffer| vec![Buffer::new(&values).into(), out.into()];
    let (before, after) = (args(Buffer::zeroed(Scalar::F32, n * n)), args(Buffer::new(&expected)));
    suite.case("shared_transpose", [16, 8, 1], ONE(), before, after, |b| {
        let src = b.pointer("src", Scalar::F32, Access::Read, "matrix");
        let dst = b.pointer("dst", Scalar::F32, Access::Write, "transposed");
        let tag = Space::Shared(b.shared("tag", Scalar::I16, 16));
        let tile = Space::Shared(b.shared("tile", Scalar::F32, 16 * 17));
        let (x, y) = (Expr::from(Builtin::ThreadX), Expr::from(Builtin::ThreadY));
        b.if_(y.eq_(0), |b| b.store(tag, x, x.cast(Scalar::I16)));
        b.for_("r", y, 16, 8, |b, r| {
            let v = b.load_new("v", Scalar::F32, Space::Global(src), r * 16 + x);
            b.store(tile, r * 17 + x, v);
        });
        b.barrier();
        b.for_("r", y, 16, 8, |b, r| {
            let v = b.load_new("v", Scalar::F32, tile, x * 17 + r);
            let row = b.load_new("row", Scalar::I16, tag, r);
            b.store(Space::Global(dst), r * 16 + x, v + row.cast(Scalar::F32));
        });
    });
}

/// Wide accesses of shared memory, after an array of odd length.
fn shared_wide(suite: &mut Suite) {
    let values: Vec<i16> = (0..128).map(|i| i * 11 - 500).collect();
    let mut expected = vec![0i16; 128];
    for t in 0..16 {
        (0..8).for_each(|j| expected[t * 8 + j] = values[(15 - t) * 8 + j] + t as i16);
    }
    let args = |out: Buffer| vec![Buffer::new(&values).into(), out.into()];
    let (before, after) = (args(Buffer::zeroed(Scalar::I16, 128)), args(Buffer::new(&expected)));
    suite.case("shared_wide", [16, 1, 1], ONE(), before, after, |b| {
        let src = Space::Global(b.pointer("src", Scalar::I16, Access::Read, "groups of 8"));
        let dst = Space::Global(b.pointer("dst", Scalar::I16, Access::Write, "groups in reverse order"));
        let odd = Space::Shared(b.shared("odd", Scalar::I16, 17));
        let row = Space::Shared(b.shared("row", Scalar::I16, 128));
        let t = Expr::from(Builtin::ThreadX);
        let (v, w) = (b.array("v", Scalar::I16, 8), b.array("w", Scalar::I16, 8));
        let all = |a: LocalId| (0..8).map(|i| a.at(i)).collect::<Vec<Expr>>();
        b.load(Place::Elem(v, 0.into()), src, t * 8, 8, Cache::Default);
        let store = |space, index, values| Stmt::Store { space, index, values, cache: Cache::Default };
        b.push(store(row, t * 8, all(v)));
        b.store(odd, t, t.cast(Scalar::I16));
        b.barrier();
        b.load(Place::Elem(w, 0.into()), row, (Expr::i32(15) - t) * 8, 8, Cache::Default);
        let tag = b.load_new("tag", Scalar::I16, odd, t);
        let sums = all(w).into_iter().map(|e| e + tag).collect();
        b.push(store(dst, t * 8, sums));
    });
}

/// A shared array of every type, all in one kernel.
fn shared_types(suite: &mut Suite) {
    let n = 9;
    let expected: Vec<f64> = (0..n).map(|t| f64::from((n - 1 - t) * 9)).collect();
    let (before, after) = (vec![Buffer::zeroed(Scalar::F64, 9).into()], vec![Buffer::new(&expected).into()]);
    suite.case("shared_types", [n as u32, 1, 1], ONE(), before, after, |b| {
        use Scalar::*;
        let dst = Space::Global(b.pointer("dst", F64, Access::Write, "sums"));
        let scalars = [I16, I32, I64, U32, U64, F16, Bf16, F32, F64];
        let t = Expr::from(Builtin::ThreadX);
        let arrays = scalars.map(|s| (s, Space::Shared(b.shared(&format!("of_{}", s.name()), s, 9))));
        let storage = |s| matches!(s, F16 | Bf16);
        for (s, array) in arrays {
            let value = if storage(s) { t.cast(F32).cast(s) } else { t.cast(s) };
            b.store(array, t, value);
        }
        b.barrier();
        let sum = b.let_("sum", F64, Expr::Lit(Literal::F64(0.0)));
        for (s, array) in arrays {
            let x = b.load_new("x", s, array, Expr::i32(8) - t);
            let x = if storage(s) { x.cast(F32) } else { Expr::from(x) };
            b.set(sum, sum + if s == F64 { x } else { x.cast(F64) });
        }
        b.store(dst, t, sum);
    });
}
