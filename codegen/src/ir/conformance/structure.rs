//! Control flow, scopes, names, parameters, builtins and shuffles.

use super::*;

pub(super) fn add(suite: &mut Suite) {
    branches(suite);
    loops(suite);
    scopes(suite);
    scalars(suite);
    builtins(suite);
    serial_blocks(suite);
    warps(suite, WARP);
    launches(suite);
    empty(suite);
}

/// A launch alone has nothing to wait for; settled arrays are read first.
fn launches(suite: &mut Suite) {
    let [a, b]: [Vec<i32>; 2] = [(0..40).collect(), (0..40).map(|i| i * i).collect()];
    let expected: Vec<i32> = a.iter().zip(&b).map(|(a, b)| if *a < 20 { a + b } else { *a }).collect();
    let args = |out: Buffer| vec![Buffer::new(&a).into(), Buffer::new(&b).into(), out.into()];
    let (before, after) = (args(Buffer::new(&[-1i32; 40])), args(Buffer::new(&expected)));
    let one = [1.into(), 1.into(), 1.into()];
    suite.case("overlapping_launches", [40, 1, 1], one, before, after, |builder| {
        let [a, b] = ["a", "b"].map(|name| builder.pointer(name, Scalar::I32, Access::Read, "a summand"));
        let out = builder.pointer("out", Scalar::I32, Access::Write, "sums");
        let t = Expr::from(Builtin::ThreadX);
        builder.settled(a);
        builder.push(Stmt::AllowLaunch);
        let x = builder.load_new("x", Scalar::I32, Space::Global(a), t);
        builder.if_else(
            t.lt(20),
            |builder| {
                builder.push(Stmt::WaitLaunches);
                let y = builder.load_new("y", Scalar::I32, Space::Global(b), t);
                builder.set(x, x + y);
            },
            |builder| builder.push(Stmt::WaitLaunches),
        );
        builder.store(Space::Global(out), t, x);
    });
}

fn branches(suite: &mut Suite) {
    let a: Vec<i32> = (-20..50).collect();
    let expected: Vec<i32> = (a.iter())
        .map(|&x| match x {
            ..0 => -1,
            0..10 if x % 2 == 0 => x * 10,
            0..10 => x,
            10..30 => 7,
            _ => x - 7,
        })
        .collect();
    suite.elementwise("branches", &[Buffer::new(&a)], &expected, |b, x| {
        let x = &x[0];
        let y = b.declare("y", Scalar::I32);
        let set = |b: &mut Builder, e: Expr| b.set(y, e);
        b.if_else(
            (*x).lt(0),
            |b| set(b, (-1).into()),
            |b| {
                b.if_else(
                    (*x).lt(10),
                    |b| {
                        set(b, *x);
                        b.if_((*x % 2).eq_(0), |b| set(b, y * 10));
                    },
                    |b| {
                        set(b, *x - 7);
                        b.if_else((*x).ge(30), |b| b.comment("unchanged"), |b| set(b, 7.into()));
                    },
                );
            },
        );
        y.into()
    });
}

fn loops(suite: &mut Suite) {
    let a: Vec<i32> = (0..60).collect();
    // Trip counts that differ between threads, including zero.
    let expected: Vec<i32> = a.iter().map(|&x| (x / 2..x).step_by(3).map(|i| i * i).sum()).collect();
    suite.elementwise("for_bounds", &[Buffer::new(&a)], &expected, |b, x| {
        let sum = b.let_("sum", Scalar::I32, 0);
        let x = x[0];
        b.for_("i", x / 2, x, 3, |b, i| b.set(sum, sum + i * i));
        sum.into()
    });
    let expected: Vec<i32> = (a.iter()).map(|&x| (0..4).flat_map(|i| (i..4).map(move |j| i * j + x)).sum()).collect();
    suite.elementwise("for_nested", &[Buffer::new(&a)], &expected, |b, x| {
        let sum = b.let_("sum", Scalar::I32, 0);
        b.unrolled("i", 0, 4, 1, |b, i| {
            b.for_("j", i, 4, 1, |b, j| {
                b.set(sum, sum + i * j + x[0]);
            });
        });
        sum.into()
    });
    let expected: Vec<i64> = a.iter().map(|&x| (0..3).map(|k| (1i64 << 33) + k * 5 + i64::from(x)).sum()).collect();
    suite.elementwise("for_i64", &[Buffer::new(&a)], &expected, |b, x| {
        let sum = b.let_("sum", Scalar::I64, Expr::i64(0));
        let from = 1i64 << 33;
        let x = x[0].cast(Scalar::I64);
        b.for_wide("k", (Expr::i64(from), Expr::i64(from + 15), Expr::i64(5)), |b, k| {
            b.set(sum, sum + k + x);
        });
        sum.into()
    });
    let collatz = |x: i32| {
        let (mut v, mut steps) = (i64::from(x), 0);
        while v > 1 {
            v = if v % 2 == 0 { v / 2 } else { 3 * v + 1 };
            steps += 1;
        }
        steps
    };
    let expected: Vec<i32> = a.iter().map(|&x| collatz(x)).collect();
    suite.elementwise("while_collatz", &[Buffer::new(&a)], &expected, |b, x| {
        let v = b.let_("v", Scalar::I64, x[0].cast(Scalar::I64));
        let steps = b.let_("steps", Scalar::I32, 0);
        b.while_(v.gt(Expr::i64(1)), |b| {
            let even = (v % Expr::i64(2)).eq_(Expr::i64(0));
            let next = even.select(v / Expr::i64(2), v * Expr::i64(3) + Expr::i64(1));
            b.set(v, next);
            b.set(steps, steps + 1);
        });
        steps.into()
    });
}

/// One name for several locals, names with a meaning in C, CUDA or Rust, and a reused parameter name.
fn scopes(suite: &mut Suite) {
    let a: Vec<i32> = (0..30).collect();
    let expected: Vec<i32> = a.iter().map(|&x| x * 3 + 16 + x % 2 * 5).collect();
    suite.elementwise("names", &[Buffer::new(&a)], &expected, |b, x| {
        let x = x[0];
        let reserved = [
            "int",
            "float",
            "short",
            "double",
            "register",
            "restrict",
            "threadIdx",
            "fn",
            "let",
            "mut",
            "match",
            "abs",
            "min",
            "main",
        ];
        let ids: Vec<LocalId> = reserved.iter().map(|name| b.let_(name, Scalar::I32, 1)).collect();
        let sum = ids.into_iter().map(Expr::from).reduce(|a, b| a + b).unwrap_or(0.into());
        let outer = b.let_("count", Scalar::I32, x * 2 + sum);
        let odd = b.let_("count", Scalar::I32, x % 2);
        b.if_else(
            odd.eq_(0),
            |b| {
                let t = b.let_("t", Scalar::I32, 1);
                b.set(outer, outer + t);
            },
            |b| {
                let t = b.let_("t", Scalar::I32, 6);
                b.set(outer, outer + t);
            },
        );
        let t = b.let_("t", Scalar::I32, 1);
        outer + t + x
    });
}

/// A scalar parameter of every type.
fn scalars(suite: &mut Suite) {
    use Scalar::*;
    let n = 5usize;
    let sum = -7.0 + 100000.0 - 8589934592.0 + 4294967295.0 + 1099511627776.0 + 0.5 - 0.25;
    let expected: Vec<f64> = (0..n).map(|i| sum + i as f64).collect();
    let args = |out: Buffer| {
        let (f, d) = (Arg::F32(0.5), Arg::F64(-0.25));
        let ints = [-7, 100000, -8589934592, 4294967295, 1099511627776].map(Arg::Scalar);
        [out.into()].into_iter().chain(ints).chain([f, d]).collect::<Vec<Arg>>()
    };
    let (before, after) = (args(Buffer::zeroed(F64, n)), args(Buffer::new(&expected)));
    for (name, block) in [("scalars_threads", n as u32), ("scalars_loop", 1)] {
        let grid = || [1.into(), 1.into(), 1.into()];
        suite.case(name, [block, 1, 1], grid(), before.clone(), after.clone(), |b| {
            let out = Space::Global(b.pointer("out", F64, Access::Write, "sums"));
            let params = [I16, I32, I64, U32, U64, F32].map(|s| b.scalar(&format!("{}_value", s.name()), s, "a term"));
            let last = b.scalar("f64_value", F64, "a term");
            let sum = params.into_iter().map(|p| p.cast(F64)).reduce(|a, b| a + b);
            let sum = b.let_("sum", F64, sum.unwrap_or(Expr::Lit(Literal::F64(0.0))) + last);
            let one = |b: &mut Builder, i: Expr| b.store(out, i, sum + i.cast(F64));
            match block {
                1 => b.for_("i", 0, n as i32, 1, |b, i| one(b, i)),
                _ => one(b, Builtin::ThreadX.into()),
            }
        });
    }
}

/// Every builtin of every thread, in three dimensions.
fn builtins(suite: &mut Suite) {
    let (block, grid) = ([5u32, 3, 4], [2u32, 3, 2]);
    let threads: u32 = block.iter().product();
    let blocks: u32 = grid.iter().product();
    let mut expected = Vec::new();
    for b in 0..blocks {
        for t in 0..threads {
            let thread = [t % block[0], t / block[0] % block[1], t / block[0] / block[1]];
            let place = [b % grid[0], b / grid[0] % grid[1], b / grid[0] / grid[1]];
            expected.extend(thread.iter().chain(&place).chain(&grid).chain(&[t % 32]).map(|v| *v as i32));
        }
    }
    let (before, after) =
        (vec![Buffer::zeroed(Scalar::I32, expected.len()).into()], vec![Buffer::new(&expected).into()]);
    suite.case("builtins", block, grid.map(|d| Expr::i32(d.into())), before, after, |b| {
        use Builtin::*;
        let out = Space::Global(b.pointer("out", Scalar::I32, Access::Write, "builtins of each thread"));
        let linear = |x: Expr, y: Expr, z: Expr, size: [u32; 3]| (z * size[1] as i32 + y) * size[0] as i32 + x;
        let thread = linear(ThreadX.into(), ThreadY.into(), ThreadZ.into(), block);
        let place = linear(BlockX.into(), BlockY.into(), BlockZ.into(), grid);
        let at = b.let_("at", Scalar::I32, (place * threads as i32 + thread) * 10);
        let all = [ThreadX, ThreadY, ThreadZ, BlockX, BlockY, BlockZ, GridX, GridY, GridZ, Lane];
        for (i, builtin) in (0..).zip(all) {
            b.store(out, at + i, builtin);
        }
    });
}

/// Many blocks of one thread, in a grid computed from parameters.
fn serial_blocks(suite: &mut Suite) {
    let (rows, columns) = (7i64, 5i64);
    let expected: Vec<i32> = (0..35).map(|i| i / 5 * 100 + i % 5 + 57).collect();
    let args = |out: Buffer| vec![out.into(), Arg::Scalar(rows), Arg::Scalar(columns)];
    let (before, after) = (args(Buffer::zeroed(Scalar::I32, 35)), args(Buffer::new(&expected)));
    let grid = [Expr::from(ParamId(2)).cast(Scalar::I32), Expr::from(ParamId(1)), 1.into()];
    suite.case("serial_blocks", [1, 1, 1], grid, before, after, |b| {
        let out = Space::Global(b.pointer("out", Scalar::I32, Access::Write, "row and column"));
        b.scalar("rows", Scalar::I32, "rows");
        let columns = b.scalar("columns", Scalar::I64, "columns");
        let (row, column) = (Expr::from(Builtin::BlockY), Expr::from(Builtin::BlockX));
        let at = row.cast(Scalar::I64) * columns + column.cast(Scalar::I64);
        let size = Builtin::GridY * 10 - Builtin::GridX * 3 + Builtin::GridZ + Builtin::ThreadX;
        b.store(out, at, row * 100 + column + size + Builtin::Lane + 1);
    });
}

/// Every kind of shuffle for every type that has one, in warps of this size; the last one in place.
fn shuffles(suite: &mut Suite, warp: usize) {
    let threads = 3 * warp;
    macro_rules! shuffle {
        ($($t:ident $make:expr;)*) => {$({
            let make: fn(i32) -> $t = $make;
            let scalar = <$t as Element>::SCALAR;
            let values: Vec<$t> = (0..threads as i32).map(make).collect();
            let from = |t: usize, source: usize| values[t / warp * warp + source];
            let mut expected = Vec::new();
            for t in 0..threads {
                let lane = t % warp;
                expected.extend([
                    from(t, if lane >= 3 { lane - 3 } else { lane }),
                    from(t, if lane + 5 < warp { lane + 5 } else { lane }),
                    from(t, lane ^ 12),
                    from(t, (lane * 7 + 35) % warp),
                    from(t, warp - 1),
                ]);
            }
            let args = |out: Buffer| vec![Buffer::new(&values).into(), out.into()];
            let (before, after) = (args(Buffer::zeroed(scalar, expected.len())), args(Buffer::new(&expected)));
            let name = of_warps(&format!("shuffle_{}", scalar.name()), warp as u32);
            suite.case_of_warps(warp as u32, &name, [warp as u32, 3, 1], [1.into(), 1.into(), 1.into()], before, after, |b| {
                let src = Space::Global(b.pointer("src", scalar, Access::Read, "one value per thread"));
                let out = Space::Global(b.pointer("out", scalar, Access::Write, "received values"));
                let at = b.let_("at", Scalar::I32, Builtin::ThreadY * warp as i32 + Builtin::ThreadX);
                let x = b.load_new("x", scalar, src, at);
                let lane = Expr::from(Builtin::Lane);
                let lanes = [Lane::Up(3), Lane::Down(5), Lane::Xor(12), Lane::Index(lane * 7 + 35)];
                for (i, lane) in (0..).zip(lanes) {
                    let y = b.declare("y", scalar);
                    b.push(Stmt::Shuffle { dst: Place::Local(y), src: x.into(), lane });
                    b.store(out, at * 5 + i, y);
                }
                b.push(Stmt::Shuffle { dst: Place::Local(x), src: x.into(), lane: Lane::Index((-1).into()) });
                b.store(out, at * 5 + 4, x);
            });
        })*};
    }
    shuffle! {
        i16 |i| (i * 321 - 9000) as i16;
        i32 |i| i * 7654321;
        i64 |i| i64::from(i) * 0x123456789ab - 77;
        u32 |i| u32::MAX - i as u32;
        u64 |i| u64::MAX - (i as u64) * 0x1_0000_0001;
        f32 |i| i as f32 / 3.0;
        f64 |i| f64::from(i) / -3.0;
    }
}

/// Cases that depend on the warp size.
pub(super) fn warps(suite: &mut Suite, lanes: u32) {
    shuffles(suite, lanes as usize);
    sums(suite, lanes as usize);
    ballots(suite, lanes as usize);
}

/// The name of a case for this warp size.
fn of_warps(name: &str, lanes: u32) -> String {
    if lanes == WARP { name.to_owned() } else { format!("{name}_of_{lanes}") }
}

/// Shuffles in branches and loops that are uniform per warp, on elements of register arrays.
fn sums(suite: &mut Suite, lanes_of_warp: usize) {
    let threads = 4 * lanes_of_warp;
    let values: Vec<i32> = (0..threads as i32).map(|i| i * i % 101).collect();
    let expected: Vec<i32> = (values.chunks(lanes_of_warp).enumerate())
        .flat_map(|(warp, lanes)| {
            let total: i32 = lanes.iter().sum();
            lanes.iter().map(move |v| if warp < 3 { total * (warp as i32 + 1) } else { -v }).collect::<Vec<i32>>()
        })
        .collect();
    let args = |out: Buffer| vec![Buffer::new(&values).into(), out.into()];
    let (before, after) = (args(Buffer::zeroed(Scalar::I32, threads)), args(Buffer::new(&expected)));
    let distances: Vec<u32> = (0..lanes_of_warp.ilog2()).rev().map(|bit| 1 << bit).collect();
    let (lanes, block, one) = (lanes_of_warp as u32, [threads as u32, 1, 1], [1.into(), 1.into(), 1.into()]);
    suite.case_of_warps(lanes, &of_warps("warps", lanes), block, one, before, after, |b| {
        let src = Space::Global(b.pointer("src", Scalar::I32, Access::Read, "one value per thread"));
        let out = Space::Global(b.pointer("out", Scalar::I32, Access::Write, "sums over warps"));
        let t = Expr::from(Builtin::ThreadX);
        let x = b.load_new("x", Scalar::I32, src, t);
        let warp = b.let_("warp", Scalar::I32, t / lanes as i32);
        b.if_else(
            warp.lt(3),
            |b| {
                let part = b.array("part", Scalar::I32, 2);
                let elem = |i: i32| part.at(i);
                b.set(Place::Elem(part, 0.into()), x);
                for distance in distances {
                    let (dst, lane) = (Place::Elem(part, 1.into()), Lane::Xor(distance));
                    b.push(Stmt::Shuffle { dst, src: elem(0), lane });
                    b.set(Place::Elem(part, 0.into()), elem(0) + elem(1));
                }
                let sum = b.let_("sum", Scalar::I32, 0);
                b.for_("i", 0, warp + 1, 1, |b, _| {
                    let first = b.declare("first", Scalar::I32);
                    b.push(Stmt::Shuffle { dst: Place::Local(first), src: elem(0), lane: Lane::Index(0.into()) });
                    b.set(sum, sum + first);
                });
                b.store(out, t, sum);
            },
            |b| b.store(out, t, -x),
        );
    });
}

/// A partition in three warps: odd values go to the front of the warp's part, the others behind them. The loop runs
/// while a ballot finds something.
fn ballots(suite: &mut Suite, warp: usize) {
    let (threads, lanes) = (3 * warp, warp as u32);
    let values: Vec<i32> = (0..threads as i32).map(|i| i * i % 101 - 50 + i / warp as i32).collect();
    let expected: Vec<i32> = (values.chunks(warp))
        .flat_map(|values| {
            let (odd, even): (Vec<i32>, Vec<i32>) = values.iter().partition(|v| **v & 1 == 1);
            let rounds = values.iter().map(|v| v.max(&0) / 16).max().unwrap_or(0);
            odd.into_iter().chain(even).map(move |v| v + 1000 * rounds)
        })
        .collect();
    let args = |out: Buffer| vec![Buffer::new(&values).into(), out.into()];
    let (before, after) = (args(Buffer::zeroed(Scalar::I32, threads)), args(Buffer::new(&expected)));
    let (block, one) = ([threads as u32, 1, 1], [1.into(), 1.into(), 1.into()]);
    let mask = if lanes > 32 { Scalar::U64 } else { Scalar::U32 };
    suite.case_of_warps(lanes, &of_warps("ballots", lanes), block, one, before, after, |b| {
        let src = Space::Global(b.pointer("src", Scalar::I32, Access::Read, "one value per thread"));
        let out = Space::Global(b.pointer("out", Scalar::I32, Access::Write, "values, odd ones first in a warp"));
        let t = Expr::from(Builtin::ThreadX);
        let x = b.load_new("x", Scalar::I32, src, t);
        let is_odd = x.and(1).eq_(1);
        let odd = b.ballot("odd", is_odd);
        let below = b.let_("below", mask, (Expr::int(1, mask) << Expr::from(Builtin::Lane)) - Expr::int(1, mask));
        let ones = |bits: Expr| bits.count_ones().cast(Scalar::I32);
        let rank = b.let_("rank", Scalar::I32, ones(odd.and(below)));
        let behind = ones(odd.into()) + Builtin::Lane - rank;
        let place = b.let_("place", Scalar::I32, is_odd.select(rank, behind));
        let rounds = b.let_("rounds", Scalar::I32, 0);
        let left = b.array("left", mask, 1);
        let left = |i: i32| (Place::Elem(left, i.into()), left.at(i));
        b.push(Stmt::Ballot { dst: left(0).0, cond: x.ge(16) });
        b.while_(left(0).1.ne_(Expr::int(0, mask)), |b| {
            b.set(rounds, rounds + 1);
            let next = (rounds + 1) * 16;
            b.push(Stmt::Ballot { dst: left(0).0, cond: x.ge(next) });
        });
        let first = t - Builtin::Lane;
        b.store(out, first + place, x + rounds * 1000);
    });
}

/// An empty launch.
fn empty(suite: &mut Suite) {
    for (name, block) in [("empty_threads", 32), ("empty_loop", 1)] {
        let args = || vec![Buffer::new(&[5i32]).into(), Arg::Scalar(0)];
        suite.case(name, [block, 1, 1], [Expr::from(ParamId(1)), 1.into(), 1.into()], args(), args(), |b| {
            let out = Space::Global(b.pointer("out", Scalar::I32, Access::Write, "never written"));
            b.scalar("blocks", Scalar::I32, "number of blocks");
            b.store(out, Builtin::ThreadX, 9);
        });
    }
}
