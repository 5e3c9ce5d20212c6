//! Counts of single accesses, against the hardware's rules.

use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::interp::{self, Arg, Buffer, Counts, Operations};
use lifting_codegen::ir::valid::validate;
use lifting_codegen::ir::*;

/// A block of 64 threads that runs `body` over a global array of 4096 elements, misaligned by `offset` elements, and a
/// shared array.
fn count(scalar: Scalar, offset: usize, body: impl FnOnce(&mut Builder, Space, Space, Expr)) -> Counts {
    let mut b = Builder::new("counted");
    let data = Space::Global(b.pointer("data", scalar, Access::ReadWrite, "an array"));
    let cells = Space::Shared(b.shared("cells", scalar, 2048));
    body(&mut b, data, cells, Builtin::ThreadX.into());
    let kernel = b.finish(Launch { block: [64, 1, 1], grid: [1.into(), 1.into(), 1.into()] });
    let info = validate(&kernel).expect("valid");
    let mut args = [Arg::Buffer(Buffer::zeroed(scalar, 4096).misaligned(offset))];
    interp::run(&kernel, &info, &mut args).expect("sound")
}

/// Sectors that two warps move when they load at an index.
fn sectors(scalar: Scalar, offset: usize, lanes: u32, index: impl Fn(Expr) -> Expr) -> (u64, u64) {
    let counts = count(scalar, offset, |b, data, _, t| {
        let w = b.array("w", scalar, lanes);
        b.load(Place::Elem(w, 0.into()), data, index(t), lanes, Cache::Default);
    });
    let traffic = counts.global_loads;
    assert_eq!((traffic.requests, traffic.elements), (2, 64 * u64::from(lanes)));
    assert_eq!(traffic.bytes, traffic.elements * scalar.bytes() as u64);
    (traffic.transactions, traffic.unique_sectors)
}

#[test]
fn global_sectors() {
    use Scalar::*;
    assert_eq!(sectors(F32, 0, 1, |t| t), (8, 8), "64 samples of 4 bytes");
    assert_eq!(sectors(I16, 0, 1, |t| t), (4, 4));
    assert_eq!(sectors(F64, 0, 1, |t| t), (16, 16));
    assert_eq!(sectors(F32, 0, 4, |t| t * 4), (32, 32), "16 bytes per thread");
    assert_eq!(sectors(F32, 1, 1, |t| t), (10, 9), "each warp straddles a sector; both touch the middle one");
    assert_eq!(sectors(F32, 0, 1, |t| t + 1), (10, 9));
    assert_eq!(sectors(F32, 0, 1, |t| t * 2), (16, 16));
    assert_eq!(sectors(F32, 0, 1, |t| t * 8), (64, 64), "a sector each");
    assert_eq!(sectors(F32, 0, 1, |t| t * 64), (64, 64));
    assert_eq!(sectors(F32, 0, 1, |_| 5.into()), (2, 1), "one for all");
    assert_eq!(sectors(F32, 0, 1, |t| Expr::i32(63) - t), (8, 8), "the order of lanes does not matter");
    assert_eq!(sectors(F32, 0, 1, |t| (t % 4) * 8), (8, 4));
}

/// Wavefronts and conflicts of two warps that store at an index.
fn banks(scalar: Scalar, lanes: u32, index: impl Fn(Expr) -> Expr) -> (u64, u64) {
    let counts = count(scalar, 0, |b, _, cells, t| {
        let zero = if scalar == Scalar::F32 { Expr::from(0).cast(scalar) } else { t.cast(scalar) };
        let values = vec![zero; lanes as usize];
        b.push(Stmt::Store { space: cells, index: index(t), values, cache: Cache::Default });
    });
    let traffic = counts.shared_stores;
    assert_eq!((traffic.requests, traffic.bytes), (2, 64 * u64::from(lanes) * scalar.bytes() as u64));
    (traffic.wavefronts, traffic.conflicts)
}

#[test]
fn shared_banks() {
    use Scalar::*;
    assert_eq!(banks(I32, 1, |t| t), (2, 0));
    assert_eq!(banks(I32, 1, |t| t * 2), (4, 2), "every other bank");
    assert_eq!(banks(I32, 1, |t| t * 3), (2, 0), "odd strides have no conflicts");
    assert_eq!(banks(I32, 1, |t| t * 32), (64, 62), "one bank");
    assert_eq!(banks(I32, 1, |t| t * 31), (2, 0));
    assert_eq!(banks(I16, 1, |t| t), (2, 0), "two lanes share a word");
    assert_eq!(banks(I16, 1, |t| t * 2), (2, 0));
    assert_eq!(banks(I16, 1, |t| t * 4), (4, 2));
    assert_eq!(banks(I64, 1, |t| t), (4, 0), "half a warp at a time");
    assert_eq!(banks(I64, 1, |t| t * 2), (8, 4));
    assert_eq!(banks(I32, 2, |t| t * 2), (4, 0), "8 bytes per thread");
    assert_eq!(banks(I32, 4, |t| t * 4), (8, 0), "16 bytes per thread, a quarter of a warp at a time");
    assert_eq!(banks(I32, 4, |t| t * 32), (64, 56));
    assert_eq!(banks(F32, 1, |t| t % 32 * 32 + t / 32), (64, 62));
}

#[test]
fn broadcasts_are_free() {
    let counts = count(Scalar::I32, 0, |b, _, cells, t| {
        b.store(cells, t, t);
        b.barrier();
        b.load_new("x", Scalar::I32, cells, 7);
        b.load_new("y", Scalar::I32, cells, t / 8 * 8);
    });
    assert_eq!((counts.shared_loads.wavefronts, counts.shared_loads.conflicts), (4, 0));
    assert_eq!((counts.barriers, counts.blocks, counts.threads, counts.launches), (1, 1, 64, 1));
}

/// Only active threads count; a warp counts if one of its threads is active.
#[test]
fn masks() {
    let counts = count(Scalar::F32, 0, |b, data, _, t| {
        b.if_(t.lt(20), |b| {
            b.load_new("x", Scalar::F32, data, t);
        });
        b.if_((t % 16).eq_(3), |b| {
            b.load_new("y", Scalar::F32, data, t);
        });
    });
    let traffic = counts.global_loads;
    assert_eq!((traffic.requests, traffic.transactions, traffic.elements), (1 + 2, 3 + 4, 20 + 4));
}

#[test]
fn operations() {
    let counts = count(Scalar::F32, 0, |b, _, _, t| {
        let x = b.let_("x", Scalar::F32, t.cast(Scalar::F32) * Expr::Lit(Literal::F32(2.0)));
        b.set(x, -x + x);
        b.let_("i", Scalar::I32, t.lt(5).select(t * 3 + 1, Expr::mirror(t, 9)));
        b.for_("j", 0, 3, 1, |_, _| {});
    });
    let expected = Operations { integer: 2 + Operations::FOLD + 3, float: 3, logic: 2 + 3, cast: 1 };
    assert_eq!(counts.operations, expected.times(64));
    assert_eq!(counts.operations.total(), 64 * (9 + 3 + 5 + 1));
}

#[test]
fn sums() {
    let one = count(Scalar::F32, 0, |b, data, _, t| {
        b.load_new("x", Scalar::F32, data, t);
    });
    let two: Counts = [one, one].into_iter().sum();
    assert_eq!((two.launches, two.global_loads.transactions), (2, 16));
    assert_eq!(two.per_sample(128).moved, 1.0);
    assert_eq!(two.per_sample(0).moved, 0.0);
}
