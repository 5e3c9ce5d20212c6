//! A deliberately broken kernel for each kind of fault: the interpreter names the fault, its place and its thread.

use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::interp::{self, Arg, Buffer, Fault, Options, Program};
use lifting_codegen::ir::valid::{Level, validate};
use lifting_codegen::ir::*;

use BinOp::*;
use Scalar::*;

/// A kernel with one block of threads over `data` (read and write) and `out` (write), both of `i32`, with a scalar `n`.
struct Broken {
    block: [u32; 3],
    grid: i32,
    data: Vec<i32>,
    out: usize,
    n: i64,
}

impl Broken {
    fn new(threads: u32) -> Broken {
        Broken { block: [threads, 1, 1], grid: 1, data: (1..=64).collect(), out: 64, n: 3 }
    }

    fn run(&self, build: impl FnOnce(&mut Builder, &Scene)) -> Result<interp::Counts, Fault> {
        let mut b = Builder::new("broken");
        let data = Space::Global(b.pointer("data", I32, Access::ReadWrite, "input"));
        let out = Space::Global(b.pointer("out", I32, Access::Write, "output"));
        let n = b.scalar("n", I32, "a number");
        let row = Space::Shared(b.shared("row", I32, 64));
        build(&mut b, &Scene { data, out, n: n.into(), row, t: Builtin::ThreadX.into() });
        let kernel = b.finish(Launch { block: self.block, grid: [self.grid.into(), 1.into(), 1.into()] });
        let info = validate(&kernel).expect("valid, if broken");
        let data = Buffer::new(&self.data);
        let mut args = vec![Arg::Buffer(data), Arg::Buffer(Buffer::zeroed(I32, self.out)), Arg::Scalar(self.n)];
        self.with_source(&mut args, &kernel);
        Program::new(&kernel, &info).run(&mut args, Options { max_steps: 1000 })
    }

    fn with_source(&self, args: &mut Vec<Arg>, kernel: &Kernel) {
        if kernel.params.len() > args.len() {
            args.push(Arg::Buffer(Buffer::new(&self.data[..self.data.len() / 2])));
        }
    }

    fn fault(&self, build: impl FnOnce(&mut Builder, &Scene)) -> String {
        self.run(build).expect_err("the kernel is broken").to_string()
    }
}

struct Scene {
    data: Space,
    out: Space,
    n: Expr,
    row: Space,
    t: Expr,
}

/// Arrays of asynchronous copies: a further parameter of 32 elements and a further shared array.
struct Copying {
    source: ParamId,
    shared: SharedId,
}

impl Copying {
    fn scene() -> Broken {
        Broken::new(8)
    }

    fn declare(b: &mut Builder) -> Copying {
        Copying { source: b.pointer("source", I32, Access::Read, "values to copy"), shared: b.shared("ring", I32, 64) }
    }

    fn row(&self) -> Space {
        Space::Shared(self.shared)
    }

    fn copy(&self, b: &mut Builder, at: &Expr, valid: i32) {
        b.copy_async((self.shared, *at), (self.source, *at), 1, valid);
    }
}

fn elem(array: LocalId, index: impl Into<Expr>) -> Expr {
    array.at(index)
}

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident: $scene:expr, |$b:ident, $s:ident| $body:block)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            let fault = $scene.fault(|$b, $s| $body);
            insta::assert_snapshot!(fault);
        }
    )*};
}

faults! {
    load_out_of_bounds: Broken::new(32), |b, s| {
        let x = b.load_new("x", I32, s.data, s.t * s.n);
        b.store(s.out, s.t, x);
    }
    load_below_bounds: Broken::new(32), |b, s| {
        b.if_(s.t.ge(7), |b| {
            b.load_new("x", I32, s.data, s.t - 8);
        });
    }
    store_out_of_bounds: Broken { grid: 3, ..Broken::new(32) }, |b, s| {
        b.store(s.out, Builtin::BlockX * 32 + s.t, 1);
    }
    wide_load_out_of_bounds: Broken { data: vec![0; 62], ..Broken::new(16) }, |b, s| {
        let w = b.array("w", I32, 4);
        b.load(Place::Elem(w, 0.into()), s.data, s.t * 4, 4, Cache::Default);
    }
    shared_out_of_bounds: Broken::new(32), |b, s| {
        b.store(s.row, s.t * s.n, 1);
    }
    register_array_out_of_bounds: Broken::new(8), |b, s| {
        let w = b.array("w", I32, 5);
        b.set(Place::Elem(w, s.t), 1);
    }
    register_array_read_out_of_bounds: Broken::new(8), |b, s| {
        let w = b.array("w", I32, 5);
        b.for_("i", 0, 5, 1, |b, i| b.set(Place::Elem(w, i), i));
        b.store(s.out, s.t, elem(w, s.n - s.t));
    }
    misaligned: Broken::new(8), |b, s| {
        let w = b.array("w", I32, 4);
        b.load(Place::Elem(w, 0.into()), s.data, s.t * 4 + s.t, 4, Cache::Default);
    }
    misaligned_shared: Broken::new(8), |b, s| {
        let values = vec![Expr::i32(1), Expr::i32(2)];
        b.push(Stmt::Store { space: s.row, index: s.t * 2 + 1, values, cache: Cache::Default });
    }
    uninitialised_scalar: Broken::new(8), |b, s| {
        let x = b.declare("x", I32);
        b.if_(s.t.ne_(5), |b| b.set(x, 1));
        b.store(s.out, s.t, x);
    }
    uninitialised_element: Broken::new(8), |b, s| {
        let w = b.array("w", I32, 3);
        b.for_("i", 0, s.n - 1, 1, |b, i| b.set(Place::Elem(w, i), i));
        b.store(s.out, s.t, elem(w, 0) + elem(w, 2));
    }
    uninitialised_element_by_index: Broken::new(8), |b, s| {
        let w = b.array("w", I32, 3);
        b.set(Place::Elem(w, 0.into()), 1);
        b.store(s.out, s.t, elem(w, s.t % 3));
    }
    uninitialised_again_in_a_loop: Broken::new(8), |b, s| {
        b.for_("i", 0, 2, 1, |b, i| {
            let x = b.declare("x", I32);
            b.if_(i.eq_(0), |b| b.set(x, 1));
            b.store(s.out, s.t, x);
        });
    }
    uninitialised_shared: Broken::new(32), |b, s| {
        b.if_(s.t.lt(16), |b| b.store(s.row, s.t, 1));
        b.barrier();
        b.load_new("x", I32, s.row, Expr::i32(20) - s.t.min(20));
    }
    shared_of_another_block: Broken { grid: 2, ..Broken::new(8) }, |b, s| {
        b.if_(Builtin::BlockX.eq_(0), |b| b.store(s.row, s.t, 1));
        b.barrier();
        b.load_new("x", I32, s.row, s.t);
    }
    shared_race_write_then_read: Broken::new(32), |b, s| {
        b.store(s.row, s.t, s.t);
        b.load_new("x", I32, s.row, Expr::i32(31) - s.t);
    }
    shared_race_read_then_write: Broken::new(32), |b, s| {
        b.store(s.row, s.t, s.t);
        b.barrier();
        let x = b.load_new("x", I32, s.row, s.t);
        b.load_new("neighbour", I32, s.row, (s.t + 1).min(31));
        b.store(s.row, s.t, x + 1);
    }
    shared_race_two_writes: Broken::new(32), |b, s| {
        b.store(s.row, s.t / 2, s.t);
    }
    shared_race_between_iterations: Broken::new(32), |b, s| {
        b.for_("i", 0, 2, 1, |b, _| {
            b.store(s.row, s.t, s.t);
            b.barrier();
            let x = b.load_new("x", I32, s.row, Expr::i32(31) - s.t);
            b.store(s.out, s.t, x);
        });
    }
    /// Another warp needs a barrier.
    shared_race_across_warps: Broken::new(64), |b, s| {
        b.store(s.row, s.t, s.t);
        b.push(Stmt::SyncWarp);
        b.load_new("near", I32, s.row, Expr::binary(Xor, s.t, 1.into()));
        b.load_new("far", I32, s.row, Expr::binary(Xor, s.t, 33.into()));
    }
    /// A read by another warp is not forgotten when the first warp reads again after a synchronisation.
    shared_race_read_elsewhere: Broken::new(64), |b, s| {
        b.store(s.row, s.t, s.t);
        b.barrier();
        b.load_new("far", I32, s.row, s.t % 32);
        b.push(Stmt::SyncWarp);
        b.load_new("near", I32, s.row, s.t % 32);
        b.push(Stmt::SyncWarp);
        b.if_(s.t.eq_(3), |b| b.store(s.row, s.t, 1));
    }
    /// Synchronised too early: the second read is not ordered before the write.
    shared_race_within_a_warp: Broken::new(32), |b, s| {
        b.store(s.row, s.t, s.t);
        b.push(Stmt::SyncWarp);
        b.load_new("x", I32, s.row, Expr::i32(31) - s.t);
        b.store(s.row, s.t, 1);
    }
    copy_read_under_way: Copying::scene(), |b, s| {
        let copying = Copying::declare(b);
        copying.copy(b, &s.t, 1);
        b.push(Stmt::CommitCopies);
        b.load_new("x", I32, copying.row(), s.t);
    }
    copy_not_committed: Copying::scene(), |b, s| {
        let copying = Copying::declare(b);
        copying.copy(b, &s.t, 1);
        b.push(Stmt::WaitCopies(0));
        b.load_new("x", I32, copying.row(), s.t);
    }
    copy_of_a_later_group: Copying::scene(), |b, s| {
        let copying = Copying::declare(b);
        for part in 0..3 {
            copying.copy(b, &(s.t + part * 8), 1);
            b.push(Stmt::CommitCopies);
        }
        b.push(Stmt::WaitCopies(1));
        for part in 0..3 {
            b.load_new("x", I32, copying.row(), s.t + part * 8);
        }
    }
    copy_overwritten: Copying::scene(), |b, s| {
        let copying = Copying::declare(b);
        copying.copy(b, &s.t, 1);
        b.store(copying.row(), s.t, 1);
    }
    copy_twice: Copying::scene(), |b, s| {
        let copying = Copying::declare(b);
        copying.copy(b, &s.t, 1);
        b.push(Stmt::CommitCopies);
        copying.copy(b, &s.t, 1);
    }
    copy_read_by_another: Broken::new(32), |b, s| {
        let copying = Copying::declare(b);
        copying.copy(b, &s.t, 1);
        b.push(Stmt::CommitCopies);
        b.push(Stmt::WaitCopies(0));
        b.load_new("own", I32, copying.row(), s.t);
        b.load_new("other", I32, copying.row(), Expr::binary(Xor, s.t, 1.into()));
    }
    /// The other lanes have read, without a synchronisation since.
    copy_over_a_read: Broken::new(32), |b, s| {
        let copying = Copying::declare(b);
        b.store(copying.row(), s.t, 1);
        b.push(Stmt::SyncWarp);
        b.load_new("other", I32, copying.row(), Expr::binary(Xor, s.t, 1.into()));
        copying.copy(b, &s.t, 1);
    }
    copy_out_of_bounds: Copying::scene(), |b, s| {
        let copying = Copying::declare(b);
        let index = s.t * 4 + 8;
        b.copy_async((copying.shared, s.t * 4), (copying.source, index), 4, 2);
    }
    copy_misaligned: Copying::scene(), |b, s| {
        let copying = Copying::declare(b);
        let index = s.t * 5;
        b.copy_async((copying.shared, s.t * 4), (copying.source, index), 4, 1);
    }
    copy_to_a_misaligned_place: Copying::scene(), |b, s| {
        let copying = Copying::declare(b);
        b.copy_async((copying.shared, s.t * 5), (copying.source, s.t * 4), 4, 0);
    }
    copy_of_too_many: Copying::scene(), |b, s| {
        let copying = Copying::declare(b);
        b.copy_async((copying.shared, s.t * 2), (copying.source, s.t * 2), 2, s.t);
    }
    global_race_two_writes: Broken { grid: 2, ..Broken::new(8) }, |b, s| {
        b.store(s.out, Builtin::BlockX * 7 + s.t, 1);
    }
    global_race_write_then_read: Broken { grid: 2, ..Broken::new(8) }, |b, s| {
        b.store(s.data, Builtin::BlockX * 8 + s.t, 1);
        b.if_(Builtin::BlockX.eq_(1), |b| {
            b.load_new("x", I32, s.data, s.t);
        });
    }
    global_race_read_then_write: Broken::new(8), |b, s| {
        b.load_new("x", I32, s.data, s.t);
        b.load_new("y", I32, s.data, s.t + 1);
        b.store(s.data, s.t, 1);
    }
    division_by_zero: Broken::new(8), |b, s| {
        b.store(s.out, s.t, Expr::i32(100) / (s.t - s.n));
    }
    remainder_by_zero_in_an_arm: Broken::new(8), |b, s| {
        let safe = s.t.gt(0).select(Expr::i32(100) % s.t, 0);
        b.store(s.out, s.t, safe);
    }
    division_overflow: Broken::new(8), |b, s| {
        b.store(s.out, s.t, Expr::i32(i32::MIN.into()) / (s.n - 4));
    }
    shift_out_of_range: Broken::new(8), |b, s| {
        b.store(s.out, s.t, Expr::i32(1) << (s.t + 29));
    }
    shift_below_range: Broken::new(8), |b, s| {
        b.store(s.out, s.t, Expr::i32(1) >> (s.n - s.t));
    }
    float_to_integer_overflow: Broken::new(8), |b, s| {
        let x = s.t.cast(F32) * Expr::Lit(Literal::F32(1e9));
        b.store(s.out, s.t, x.cast(I32));
    }
    nan_to_integer: Broken::new(8), |b, s| {
        let zero = s.n.cast(F64) - Expr::Lit(Literal::F64(3.0));
        b.store(s.out, s.t, Expr::binary(Div, zero, zero).cast(I32));
    }
    loop_does_not_advance: Broken::new(8), |b, s| {
        b.for_("i", 0, 4, s.t - 2, |b, i| b.store(s.out, i, 1));
    }
    loop_variable_overflows: Broken::new(8), |b, s| {
        b.for_("i", i32::MAX - 5, i32::MAX, s.n, |_, _| {});
    }
    extent_below_one: Broken { n: 0, ..Broken::new(8) }, |b, s| {
        b.store(s.out, s.t, Expr::mirror(s.t, s.n));
    }
    endless: Broken::new(8), |b, _s| {
        b.while_(Expr::Lit(Literal::Bool(true)), |_| {});
    }
    endless_for_some: Broken::new(8), |b, s| {
        let x = b.let_("x", I32, s.t);
        b.while_(x.lt(5), |b| {
            b.if_(s.t.ne_(3), |b| b.set(x, x + 1));
        });
    }
}

/// The validator refuses barriers and shuffles that may diverge; the interpreter does not rely on that.
fn without_validator(build: impl FnOnce(&mut Builder)) -> String {
    let shape = |body| Launch { block: [64, 1, 1], grid: [body, 1.into(), 1.into()] };
    let mut b = Builder::new("broken");
    build(&mut b);
    let broken = b.finish(shape(Expr::i32(1)));
    assert!(validate(&broken).is_err());
    // Facts about the same kernel without its body, and no local known to be uniform.
    let mut info = validate(&Kernel { body: Vec::new(), ..broken.clone() }).expect("an empty kernel is valid");
    info.locals.iter_mut().for_each(|l| l.level = Level::Thread);
    interp::run(&broken, &info, &mut []).expect_err("the kernel is broken").to_string()
}

#[test]
fn divergent_barrier() {
    let fault = without_validator(|b| b.if_(Builtin::ThreadX.lt(40), |b| b.barrier()));
    insta::assert_snapshot!(fault);
}

#[test]
fn divergent_shuffle() {
    let fault = without_validator(|b| {
        b.if_(Builtin::ThreadX.lt(40), |b| {
            let x = b.declare("x", I32);
            b.push(Stmt::Shuffle { dst: Place::Local(x), src: 1.into(), lane: Lane::Up(1) });
        });
    });
    insta::assert_snapshot!(fault);
}

#[test]
fn divergent_ballot() {
    let fault = without_validator(|b| {
        b.if_(Builtin::ThreadX.lt(40), |b| {
            b.ballot("bits", Expr::Lit(Literal::Bool(true)));
        });
    });
    insta::assert_snapshot!(fault);
}

#[test]
fn divergent_sync() {
    let fault = without_validator(|b| b.if_(Builtin::ThreadX.lt(40), |b| b.push(Stmt::SyncWarp)));
    insta::assert_snapshot!(fault);
}

/// Sound copies: they may stay unfinished at the end and across a loop, and reading again after a synchronisation is
/// free.
#[test]
fn sound_copies_pass() {
    let sound = Broken { grid: 2, ..Broken::new(32) };
    let counts = sound.run(|b, s| {
        let copying = Copying::declare(b);
        b.for_("i", 0, 3, 1, |b, _| {
            copying.copy(b, &s.t, 1);
            b.push(Stmt::CommitCopies);
            b.push(Stmt::WaitCopies(0));
            b.push(Stmt::SyncWarp);
            b.load_new("own", I32, copying.row(), s.t);
            b.load_new("other", I32, copying.row(), Expr::binary(Xor, s.t, 1.into()));
            b.push(Stmt::SyncWarp);
        });
        b.copy_async((copying.shared, s.t), (copying.source, -5), 1, 0);
        copying.copy(b, &(s.t + 32), 0);
    });
    let counts = counts.expect("a sound kernel");
    assert_eq!((counts.warp_syncs, counts.barriers), (12, 0));
    assert_eq!((counts.global_loads.elements, counts.global_loads.bytes), (2 * 3 * 32, 2 * 3 * 128));
    assert_eq!((counts.global_loads.transactions, counts.global_loads.unique_sectors), (2 * 3 * 4, 4));
    assert_eq!((counts.shared_stores.requests, counts.shared_stores.bytes), (2 * 5, 2 * 5 * 128));
}

#[test]
fn undefined_buffers() {
    let mut b = Builder::new("broken");
    let data = Space::Global(b.pointer("data", I32, Access::ReadWrite, "half defined"));
    let count = b.scalar("count", I32, "number of elements read");
    b.store(data, Builtin::ThreadX, 1);
    b.if_(Builtin::ThreadX.eq_(0), |b| {
        b.for_("i", 0, count, 1, |b, i| {
            let i = i * 8;
            b.load_new("x", I32, data, i);
        })
    });
    let kernel = b.finish(Launch { block: [8, 1, 1], grid: [1.into(), 1.into(), 1.into()] });
    let info = validate(&kernel).expect("valid");
    let run = |count: i64| {
        let mut args = [Arg::Buffer(Buffer::undefined(I32, 16)), Arg::Scalar(count)];
        interp::run(&kernel, &info, &mut args).map(|_| args[0].buffer().is_some_and(Buffer::is_defined))
    };
    assert_eq!(run(1), Ok(false));
    insta::assert_snapshot!(run(2).expect_err("element 8 was never stored"));
}

/// The misalignment of an array counts: it makes the same accesses right or wrong.
#[test]
fn misaligned_base() {
    let mut b = Builder::new("broken");
    let data = Space::Global(b.pointer("data", I16, Access::Read, "input"));
    let w = b.array("w", I16, 4);
    b.load(Place::Elem(w, 0.into()), data, Builtin::ThreadX * 4 + 3, 4, Cache::Default);
    let kernel = b.finish(Launch { block: [8, 1, 1], grid: [1.into(), 1.into(), 1.into()] });
    let info = validate(&kernel).expect("valid");
    let run = |offset| {
        let mut args = [Arg::Buffer(Buffer::new(&[0i16; 40]).misaligned(offset))];
        interp::run(&kernel, &info, &mut args)
    };
    assert!(run(1).is_ok());
    insta::assert_snapshot!(run(0).expect_err("element 3 is not aligned"));
}

#[test]
fn arguments() {
    let mut b = Builder::new("broken");
    b.pointer("data", I32, Access::Read, "input");
    let n = b.scalar("n", I16, "a number");
    let width = b.scalar("width", I32, "a number");
    b.scalar("gain", F32, "a number");
    assert_eq!(n.0, 1);
    let kernel = b.finish(Launch { block: [8, 1, 1], grid: [(width * 2) / 2, 1.into(), 1.into()] });
    let info = validate(&kernel).expect("valid");
    let good = || vec![Arg::Buffer(Buffer::zeroed(I32, 1)), Arg::Scalar(1), Arg::Scalar(0), Arg::F32(1.0)];
    assert_eq!(interp::run(&kernel, &info, &mut good()).expect("nothing to launch").blocks, 0);
    let wrong: [(usize, Arg); 7] = [
        (0, Arg::Scalar(0)),
        (0, Arg::Buffer(Buffer::zeroed(I16, 1))),
        (1, Arg::Scalar(40000)),
        (2, Arg::F32(1.0)),
        (3, Arg::F64(1.0)),
        (2, Arg::Scalar(-1)),
        (2, Arg::Scalar(1 << 30)),
    ];
    let mut text = String::new();
    for (i, arg) in wrong {
        let mut args = good();
        args[i] = arg;
        text += &format!("{}\n", interp::run(&kernel, &info, &mut args).expect_err("a wrong argument"));
    }
    text += &format!("{}\n", interp::run(&kernel, &info, &mut good()[..3]).expect_err("too few arguments"));
    insta::assert_snapshot!(text);
}

/// Sound kernels with these statements raise no false alarm.
#[test]
fn sound_kernels_pass() {
    let sound = Broken { grid: 2, ..Broken::new(32) };
    let counts = sound.run(|b, s| {
        let at = b.let_("at", I32, Builtin::BlockX * 32 + s.t);
        let x = b.load_new("x", I32, s.data, at);
        b.store(s.row, s.t, x);
        b.barrier();
        let y = b.load_new("y", I32, s.row, Expr::i32(31) - s.t);
        b.barrier();
        b.store(s.row, s.t, y + 1);
        let own = b.load_new("own", I32, s.row, s.t);
        b.store(s.data, at, Expr::binary(Add, own.into(), y.into()));
        let again = b.load_new("again", I32, s.data, at);
        b.store(s.out, at, again);
    });
    assert_eq!(counts.expect("a sound kernel").barriers, 4);
}

/// The validator rejects such kernels, so this one is broken after validation.
#[test]
fn not_waited_for_launches() {
    let mut b = Builder::new("early");
    let [here, there] = ["here", "there"].map(|name| b.pointer(name, I32, Access::Read, "input"));
    let out = b.pointer("out", I32, Access::Write, "output");
    let t = Expr::from(Builtin::ThreadX);
    b.settled(here);
    let x = b.load_new("x", I32, Space::Global(here), t);
    b.push(Stmt::WaitLaunches);
    let y = b.load_new("y", I32, Space::Global(there), t);
    b.store(Space::Global(out), t, x + y);
    let kernel = b.finish(Launch { block: [8, 1, 1], grid: [1.into(), 1.into(), 1.into()] });
    let info = validate(&kernel).expect("it waits");
    let run = |wait: usize, settled: &[ParamId]| {
        let mut kernel = Kernel { settled: settled.to_vec(), ..kernel.clone() };
        let at = kernel.body.iter().position(|s| *s == Stmt::WaitLaunches).expect("it waits");
        let statement = kernel.body.remove(at);
        kernel.body.insert(wait, statement);
        let buffer = || Arg::Buffer(Buffer::new(&[1i32; 8]));
        Program::new(&kernel, &info).run(&mut [buffer(), buffer(), buffer()], Options::default())
    };
    let last = kernel.body.len() - 1;
    assert!(run(0, &[]).is_ok() && run(2, &[here]).is_ok());
    for (wait, settled, said) in [
        (
            last - 1,
            vec![here],
            "`there`, which earlier launches may still write, is read here by a thread that has not waited",
        ),
        (
            last,
            vec![here, there],
            "`out`, which earlier launches may still write, is written here by a thread that has not",
        ),
        (2, vec![], "`here`, which earlier launches may still write, is read here"),
    ] {
        let fault = run(wait, &settled).expect_err("it is too early").to_string();
        assert!(fault.contains(said) && fault.contains("block [0, 0, 0], thread [0, 0, 0]"), "{fault}");
    }
}
