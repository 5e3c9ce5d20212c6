//! Errors of the validator, in its words, and kernels that it must accept.

use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::valid::{Level, validate};
use lifting_codegen::ir::*;

use Scalar::*;

struct Scene {
    src: Space,
    dst: Space,
    n: ParamId,
    row: Space,
    t: Expr,
    builder: Builder,
}

fn scene(name: &str) -> Scene {
    let mut b = Builder::new(name);
    let src = Space::Global(b.pointer("src", F32, Access::Read, "input"));
    let dst = Space::Global(b.pointer("dst", F32, Access::Write, "output"));
    let n = b.scalar("n", I32, "a number");
    let row = Space::Shared(b.shared("row", F32, 64));
    Scene { src, dst, n, row, t: Builtin::ThreadX.into(), builder: b }
}

fn launch(block: [u32; 3]) -> Launch {
    Launch { block, grid: [1.into(), 1.into(), 1.into()] }
}

fn errors(kernel: &Kernel) -> String {
    let errors = validate(kernel).expect_err("the kernel is not valid");
    errors.iter().map(|e| format!("{e}\n")).collect()
}

fn f32(v: f32) -> Expr {
    Expr::Lit(Literal::F32(v))
}

#[test]
fn types() {
    let Scene { src, dst, n, row, t, builder: mut b } = scene("types");
    b.let_("a", F32, n);
    b.let_("b", I32, n + f32(1.0));
    b.let_("c", I64, Expr::i64(1) << Expr::i64(2));
    b.let_("d", F32, Expr::Binary(BinOp::Min, f32(1.0).into(), f32(2.0).into()));
    b.let_("e", Bool, !n);
    b.let_("f", I32, n.select(1, 2));
    b.let_("g", I32, f32(1.0).lt(f32(2.0)).select(1, f32(2.0)));
    b.let_("h", F16, n.cast(F16));
    b.let_("i", Bool, n.cast(Bool));
    b.let_("j", F32, f32(1.0).lt(f32(2.0)).cast(F32));
    b.let_("k", I32, Expr::mirror(Expr::i64(1), n));
    let half = b.load_new("half", F16, src, 0);
    b.let_("l", F16, half + half);
    b.store(dst, f32(1.0), f32(1.0));
    b.store(dst, 0, n);
    b.store(row, Expr::i64(1), f32(1.0));
    b.if_(n, |_| {});
    b.while_(t, |_| {});
    b.for_("m", Expr::i64(0), f32(2.0), 1, |_, _| {});
    let w = b.array("w", F32, 4);
    b.set(Place::Elem(w, Expr::i64(0)), f32(1.0));
    let flag = b.let_("flag", Bool, Expr::Lit(Literal::Bool(true)));
    let other = b.declare("other", Bool);
    b.push(Stmt::Shuffle { dst: Place::Local(other), src: flag.into(), lane: Lane::Index(f32(0.0)) });
    b.push(Stmt::Ballot { dst: Place::Local(other), cond: Expr::from(n) });
    b.let_("ones", I16, Expr::int(3, I16).count_ones());
    b.let_("zeros", F32, f32(1.0).leading_zeros());
    insta::assert_snapshot!(errors(&b.finish(launch([32, 1, 1]))));
}

/// Bytes can only be loaded, stored and cast to integers.
#[test]
fn bytes_are_for_storage() {
    let mut b = Builder::new("bytes");
    let src = Space::Global(b.pointer("src", U8, Access::Read, "bytes"));
    let byte = b.load_new("byte", U8, src, 0);
    b.let_("number", I32, byte.cast(I32) + 1);
    let good = b.finish(launch([1, 1, 1]));
    assert!(validate(&good).is_ok());

    let mut b = Builder::new("bytes");
    let src = Space::Global(b.pointer("src", U8, Access::Read, "bytes"));
    let byte = b.load_new("byte", U8, src, 0);
    b.let_("sum", U8, byte + byte);
    b.let_("real", F32, byte.cast(F32));
    let four = b.array("four", U8, 4);
    b.load(Place::Elem(four, 0.into()), src, 0, 4, Cache::Default);
    let said = errors(&b.finish(launch([1, 1, 1])));
    for part in ["u8", "cannot cast from u8 to f32", "elements of u8 must be moved one at a time"] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(said.trim().lines().count(), 3, "{said}");
}

#[test]
fn literals_and_widths() {
    let Scene { src, dst, n, row, t, builder: mut b } = scene("widths");
    let lit = |v, s| Expr::Lit(Literal::Int(v, s));
    b.let_("a", I16, lit(40000, I16));
    b.let_("b", U32, lit(-1, U32));
    b.let_("c", F32, f32(f32::NAN));
    b.let_("d", F64, Expr::Lit(Literal::F64(f64::INFINITY)));
    b.let_("e", I32, n << 32);
    b.let_("f", I16, lit(1, I16) >> Expr::i32(-1));
    b.let_("g", I32, Expr::Binary(BinOp::Div, Expr::from(n).into(), lit(0, I32).into()));
    b.let_("h", I32, Expr::wrap(n, lit(0, I32)));
    let w = b.array("w", F32, 8);
    let x = b.declare("x", F32);
    let at = |i: i32| Place::Elem(w, i.into());
    b.load(at(0), src, 0, 3, Cache::Default);
    b.load(at(0), src, 0, 8, Cache::Default);
    b.load(at(6), src, 0, 4, Cache::Default);
    b.load(x, src, 0, 4, Cache::Default);
    b.load(at(8), src, 0, 1, Cache::Default);
    b.load(at(0), row, 62, 4, Cache::Default);
    b.store(row, 64, f32(0.0));
    b.set(at(-1), f32(0.0));
    b.load(at(0), dst, 0, 1, Cache::Default);
    b.store(src, t, f32(0.0));
    b.push(Stmt::Store { space: dst, index: t, values: Vec::new(), cache: Cache::Default });
    b.push(Stmt::Shuffle { dst: Place::Local(x), src: f32(0.0), lane: Lane::Xor(32) });
    insta::assert_snapshot!(errors(&b.finish(launch([32, 1, 1]))));
}

#[test]
fn scopes() {
    let Scene { src, dst, n, t, builder: mut b, .. } = scene("scopes");
    let mut inner = None;
    b.if_(t.lt(3), |b| inner = Some(b.let_("inner", F32, f32(1.0))));
    let inner = inner.expect("set in the body");
    b.store(dst, 0, inner);
    let mut var = None;
    b.for_("i", 0, 4, 1, |b, i| {
        if let Expr::Local(id) = i {
            var = Some(id);
            b.set(id, 1);
        }
    });
    b.let_("after", I32, Expr::from(var.expect("set in the body")));
    let own = b.declare("own", F32);
    b.push(Stmt::Let(own, Expr::from(own)));
    let w = b.array("w", F32, 4);
    b.push(Stmt::Let(w, f32(1.0)));
    b.store(dst, 0, w);
    b.set(w, f32(1.0));
    b.set(Place::Elem(own, 0.into()), f32(1.0));
    b.store(dst, 0, LocalId(99));
    b.store(dst, 0, ParamId(98));
    b.store(dst, 0, ParamId(0));
    b.store(Space::Global(ParamId(97)), 0, f32(1.0));
    b.store(Space::Shared(SharedId(96)), 0, f32(1.0));
    b.load(own, Space::Global(n), 0, 1, Cache::Default);
    let missing = b.let_("k", I32, 0);
    b.push(Stmt::For { var: missing, from: 0.into(), to: 4.into(), step: 1.into(), unroll: false, body: Vec::new() });
    b.load(own, src, 0, 1, Cache::Default);
    insta::assert_snapshot!(errors(&b.finish(launch([32, 1, 1]))));
}

#[test]
fn loops() {
    let Scene { n, builder: mut b, .. } = scene("loops");
    b.for_("i", 0, 4, 0, |_, _| {});
    b.for_("j", 0, 4, -1, |_, _| {});
    let k = b.declare("k", F32);
    let body = Vec::new();
    b.push(Stmt::For { var: k, from: 0.into(), to: 4.into(), step: 1.into(), unroll: false, body });
    let mut kernel = b.finish(launch([1, 1, 1]));
    kernel.locals.push(Local { name: "m".into(), scalar: I32, len: None });
    let var = LocalId(kernel.locals.len() as u32 - 1);
    let (from, to, step) = (0.into(), n.into(), 1.into());
    kernel.body.push(Stmt::For { var, from, to, step, unroll: true, body: Vec::new() });
    insta::assert_snapshot!(errors(&kernel));
}

#[test]
fn heads() {
    let mut b = Builder::new("heads");
    b.pointer("flags", Bool, Access::Read, "no such thing");
    b.scalar("half", F16, "no such thing");
    let f = b.scalar("gain", F32, "fine");
    b.shared("none", F32, 0);
    b.shared("flags", Bool, 3);
    b.shared("large", F64, 6200);
    b.array("empty", F32, 0);
    let grid = [Builtin::BlockX.into(), f.into(), Expr::i32(1) + Expr::i64(1)];
    insta::assert_snapshot!(errors(&b.finish(Launch { block: [32, 32, 2], grid })));
}

/// `if cond { effect }` in a block of this shape.
fn guarded(block: [u32; 3], cond: impl FnOnce(&mut Builder) -> Expr, shuffle: bool) -> Result<(), String> {
    let Scene { builder: mut b, .. } = scene("guarded");
    let x = b.let_("x", F32, f32(1.0));
    let cond = cond(&mut b);
    b.if_(cond, |b| {
        if shuffle {
            b.push(Stmt::Shuffle { dst: Place::Local(x), src: x.into(), lane: Lane::Up(1) });
        } else {
            b.barrier();
        }
    });
    let kernel = b.finish(launch(block));
    validate(&kernel).map(|_| ()).map_err(|_| errors(&kernel))
}

#[test]
fn uniformity() {
    use Builtin::*;
    let positive = |b: Builtin| move |_: &mut Builder| b.gt(0);
    // Barriers: uniform over the block.
    for b in [BlockX, BlockY, BlockZ, GridX, GridY, GridZ] {
        assert_eq!(guarded([64, 2, 2], positive(b), false), Ok(()));
    }
    for b in [ThreadX, ThreadY, ThreadZ, Lane] {
        assert!(guarded([64, 2, 2], positive(b), false).is_err());
        assert_eq!(guarded([1, 1, 1], positive(b), false), Ok(()), "one thread is always uniform");
    }
    assert_eq!(guarded([64, 1, 2], positive(ThreadY), false), Ok(()), "the only row");
    assert_eq!(guarded([64, 2, 2], |_| Expr::from(ParamId(2)).gt(0), false), Ok(()));
    // Shuffles: uniform over the warp.
    assert_eq!(guarded([32, 4, 1], positive(ThreadY), true), Ok(()));
    assert_eq!(guarded([32, 4, 4], positive(ThreadZ), true), Ok(()));
    assert_eq!(guarded([16, 4, 4], positive(ThreadZ), true), Ok(()), "planes of 64 threads");
    assert!(guarded([16, 4, 4], positive(ThreadY), true).is_err());
    assert!(guarded([32, 4, 1], positive(ThreadX), true).is_err());
    let over = |n: i32| move |_: &mut Builder| (Expr::from(ThreadX) / n).gt(0);
    assert_eq!(guarded([128, 1, 1], over(32), true), Ok(()));
    assert_eq!(guarded([128, 1, 1], over(64), true), Ok(()));
    assert!(guarded([128, 1, 1], over(16), true).is_err());
    assert!(guarded([48, 2, 1], over(32), true).is_err(), "rows are not whole warps");
    // Through locals, and with the thread's number in a two-dimensional block.
    let through = |b: &mut Builder| {
        let t = b.let_("t", I32, Expr::from(ThreadY) * 64 + ThreadX);
        let warp = b.let_("warp", I32, t >> 5);
        warp.lt(2)
    };
    assert_eq!(guarded([64, 2, 1], through, true), Ok(()));
    let skewed = |b: &mut Builder| {
        let t = b.let_("t", I32, Expr::from(ThreadY) * 63 + ThreadX);
        (t / 32).lt(2)
    };
    assert!(guarded([64, 2, 1], skewed, true).is_err());
    // Locals assigned under divergent control differ, even with equal values.
    let assigned = |outside: bool| {
        move |b: &mut Builder| {
            let flag = b.let_("flag", I32, 0);
            b.if_(Expr::from(if outside { BlockX } else { ThreadX }).gt(3), |b| b.set(flag, 1));
            flag.eq_(0)
        }
    };
    assert_eq!(guarded([64, 1, 1], assigned(true), false), Ok(()));
    assert!(guarded([64, 1, 1], assigned(false), false).is_err());
    // A loop carries late assignments to early reads.
    let carried = |b: &mut Builder| {
        let (a, c) = (b.let_("a", I32, 0), b.let_("c", I32, 0));
        b.for_("i", 0, 3, 1, |b, _| {
            b.set(a, c);
            b.set(c, ThreadX);
        });
        a.eq_(0)
    };
    assert!(guarded([64, 1, 1], carried, false).is_err());
    // Loads from one place of an array that nothing writes are uniform.
    let loaded = |at: Expr| move |b: &mut Builder| b.load_new("v", F32, Space::Global(ParamId(0)), at).gt(f32(0.0));
    assert_eq!(guarded([64, 1, 1], loaded(BlockX.into()), false), Ok(()));
    assert!(guarded([64, 1, 1], loaded(ThreadX.into()), false).is_err());
    let stored = |b: &mut Builder| {
        let row = b.shared("row", F32, 1);
        b.load_new("v", F32, Space::Shared(row), 0).gt(f32(0.0))
    };
    assert!(guarded([64, 1, 1], stored, false).is_err());
    // A ballot is uniform over its warp.
    let found = |b: &mut Builder| {
        let bits = b.ballot("bits", Expr::from(ThreadX).gt(3));
        bits.ne_(Expr::int(0, U32))
    };
    assert_eq!(guarded([64, 1, 1], found, true), Ok(()));
    assert!(guarded([64, 1, 1], found, false).is_err());
    assert_eq!(guarded([32, 1, 1], found, false), Ok(()), "the only warp");
    assert!(guarded([40, 1, 1], positive(BlockX), true).is_err(), "not a whole number of warps");
}

#[test]
fn divergence() {
    let Scene { n, t, builder: mut b, .. } = scene("divergence");
    let x = b.let_("x", I32, 0);
    let shuffle = |b: &mut Builder| b.push(Stmt::Shuffle { dst: Place::Local(x), src: x.into(), lane: Lane::Down(1) });
    b.for_("i", 0, n, 1, |b, _| b.barrier());
    b.for_("i", 0, t, 1, |b, _| b.barrier());
    b.if_else(t.lt(5), |_| {}, |b| b.if_(n.gt(0), |b| b.barrier()));
    b.while_(Builtin::ThreadY.lt(n), |b| {
        shuffle(b);
        b.barrier();
    });
    b.while_(x.lt(n), shuffle);
    insta::assert_snapshot!(errors(&b.finish(launch([32, 4, 1]))));
}

#[test]
fn copies() {
    let mut b = Builder::new("copies");
    let src = b.pointer("src", F32, Access::Read, "input");
    let both = b.pointer("both", F32, Access::ReadWrite, "in place");
    let n = b.scalar("n", I32, "a number");
    let (row, narrow) = (b.shared("row", F32, 64), b.shared("narrow", I16, 64));
    b.copy_async((row, 0), (src, 0), 4, n);
    b.copy_async((row, 62), (src, 0), 4, 5);
    b.copy_async((narrow, 0), (src, 0), 4, 4);
    b.copy_async((row, 0), (both, 0), 4, 4);
    b.copy_async((row, Expr::i64(0)), (n, 0), 4, f32(1.0));
    b.copy_async((row, 0), (src, 0), 3, 0);
    b.copy_async((row, 0), (src, 0), 8, 0);
    let halves = b.pointer("halves", I16, Access::Read, "input");
    b.copy_async((narrow, 0), (halves, 0), 1, 0);
    insta::assert_snapshot!(errors(&b.finish(launch([32, 1, 1]))));
}

#[test]
fn divergent_synchronisation() {
    let Scene { n, t, builder: mut b, .. } = scene("divergent_synchronisation");
    let sync = |b: &mut Builder| b.push(Stmt::SyncWarp);
    b.if_(t.lt(5), sync);
    b.if_(Builtin::ThreadY.lt(n), sync);
    let mut kernel = b.finish(launch([32, 2, 1]));
    let mut text = errors(&kernel);
    kernel.launch.block = [24, 2, 1];
    kernel.body.remove(0);
    text += &errors(&kernel);
    insta::assert_snapshot!(text);
}

#[test]
fn info() {
    let Scene { src, dst, n, t, builder: mut b, .. } = scene("info");
    b.shared("odd", I16, 3);
    b.shared("last", F64, 2);
    let column = b.let_("column", I32, Builtin::BlockX * 32 + t);
    let folded = b.let_("folded", I32, Expr::mirror(column, n));
    let x = b.load_new("x", F32, src, folded);
    b.for_("i", 0, n, 1, |b, i| {
        b.barrier();
        b.set(x, x + i.cast(F32));
    });
    b.store(dst, column, x);
    let info = validate(&b.finish(launch([32, 1, 1]))).expect("valid");
    assert_eq!((info.uses_mirror, info.uses_wrap, info.barriers, info.shuffles), (true, false, 1, 0));
    assert_eq!((info.shared_offsets.as_slice(), info.shared_bytes), ([0, 256, 272].as_slice(), 288));
    assert_eq!(info.builtins, [Builtin::ThreadX, Builtin::BlockX]);
    let facts = |l: LocalId| (info.local(l).reads, info.local(l).writes, info.local(l).constant, info.local(l).level);
    assert_eq!(facts(column), (2, 1, true, Level::Consecutive));
    assert_eq!(facts(folded), (1, 1, true, Level::Thread));
    assert_eq!(facts(x), (2, 2, false, Level::Thread));
    assert_eq!(facts(LocalId(x.0 + 1)), (1, 1, false, Level::Block));
}

/// A kernel that waits for launches anywhere must, on every path, do so before it touches memory that they may write.
#[test]
fn waiting_for_launches() {
    let waits = |b: &mut Builder| b.push(Stmt::WaitLaunches);
    let on = |build: &dyn Fn(&mut Builder, Space, Space, Expr), settled: bool| {
        let Scene { src, dst, t, builder: mut b, .. } = scene("waits");
        if settled {
            b.settled(ParamId(0));
        }
        build(&mut b, src, dst, t);
        b.finish(launch([32, 1, 1]))
    };
    let copy = |b: &mut Builder, src, dst, t: &Expr| {
        let x = b.load_new("x", F32, src, *t);
        waits(b);
        b.store(dst, *t, x);
    };
    // No wait, a wait at the start, waits in all branches.
    validate(&on(&|b, _, dst, t| b.store(dst, t, f32(1.0)), false)).expect("it never overlaps earlier launches");
    validate(&on(&|b, src, dst, t| copy(b, src, dst, &t), true)).expect("it reads settled arrays");
    let in_branches = |both: bool| {
        on(
            &|b, _, dst, t| {
                b.if_else(t.lt(5), waits, |b| {
                    if both {
                        waits(b)
                    }
                });
                b.store(dst, t, f32(1.0));
            },
            false,
        )
    };
    validate(&in_branches(true)).expect("both wait");
    let said = errors(&in_branches(false));
    assert!(
        said.contains("it writes `dst`, which earlier launches may still write, without having waited for them"),
        "{said}"
    );
    let said = errors(&on(&|b, src, dst, t| copy(b, src, dst, &t), false));
    assert!(said.contains("statement 2, `x = load src[thread.x]`: it reads `src`"), "{said}");
    // A loop may run zero times.
    let looped = on(
        &|b, _, dst, t| {
            b.for_("i", 0, t, 1, |b, _| waits(b));
            b.store(dst, t, f32(1.0));
        },
        false,
    );
    assert!(errors(&looped).contains("it writes `dst`"));
    let mut written = on(&|b, _, dst, t| b.store(dst, t, f32(1.0)), false);
    written.settled = vec![ParamId(1), ParamId(9)];
    let said = errors(&written);
    assert!(said.contains("parameter `dst`: a settled array must be a read-only pointer"), "{said}");
    assert!(said.contains("settled arrays: parameter 9 does not exist"), "{said}");
}

/// The text of a kernel with every construct.
#[test]
fn printed() {
    let Scene { src, dst, n, row, t, builder: mut b } = scene("printed");
    b.doc("Shows how a kernel is printed.");
    b.doc("In two lines.");
    let ring = b.shared("ring", F32, 128);
    let w = b.array("w", F32, 4);
    let x = b.let_("x", F32, f32(0.5) * (f32(1.0) - f32(-2.0)));
    b.load(Place::Elem(w, 0.into()), src, t * 4, 4, Cache::ReadOnly);
    b.comment("a comment");
    b.if_else(
        t.lt(5).and(!n.eq_(7)),
        |b| {
            b.store(row, t, x);
            b.for_("i", 0, n, 2, |b, i| b.set(Place::Elem(w, i % 4), -x));
        },
        |b| {
            let x = b.let_("x", I64, Expr::i64(3) << ((t + 1) * 2));
            b.while_(x.lt(Expr::i64(5)), |_| {});
        },
    );
    b.barrier();
    b.copy_async((ring, t * 4), (ParamId(0), t * 4), 4, n);
    b.push(Stmt::CommitCopies);
    b.push(Stmt::WaitCopies(2));
    b.push(Stmt::SyncWarp);
    b.push(Stmt::AllowLaunch);
    b.unrolled("i", 0, 4, 1, |b, i| {
        let src = Expr::Elem(w, i.into());
        b.push(Stmt::Shuffle { dst: Place::Elem(w, i), src, lane: Lane::Down(1) });
    });
    let values = (0..4).map(|i| w.at(i)).collect();
    b.push(Stmt::Store { space: dst, index: t * 4, values, cache: Cache::Streaming });
    let mut kernel = b.finish(Launch { block: [32, 4, 1], grid: [(n + 31) / 32, 1.into(), 1.into()] });
    kernel.min_blocks = 2;
    validate(&kernel).expect("valid");
    insta::assert_snapshot!(print::kernel(&kernel));
}
