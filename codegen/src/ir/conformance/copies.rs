//! Asynchronous copies to shared memory, and synchronisation within a warp.

use super::*;

pub(super) fn add(suite: &mut Suite) {
    partial(suite);
    ring(suite);
    among_lanes(suite);
}

const ONE: fn() -> [Expr; 3] = || [1.into(), 1.into(), 1.into()];

/// Copies of every type and width that read some, all or none of their elements. Those that read none have an arbitrary
/// address.
fn partial(suite: &mut Suite) {
    macro_rules! partial {
        ($t:ident, $make:expr) => {
            let make: fn(i32) -> $t = $make;
            for lanes in [1i32, 2, 4, 8] {
                let scalar = <$t as Element>::SCALAR;
                if !matches!(lanes as usize * scalar.bytes(), 4 | 8 | 16) {
                    continue;
                }
                let threads = 40;
                // No thread reads the end of the last group.
                let values: Vec<$t> = (0..threads * lanes - lanes + 1).map(|i| make(i * 37 - 400)).collect();
                let expected: Vec<$t> = (0..threads * lanes)
                    .map(|i| match i % lanes < read(i / lanes, lanes) {
                        true => values[i as usize],
                        false => <$t>::from_pattern(0),
                    })
                    .collect();
                let args = |out: Buffer| vec![Buffer::new(&values).into(), out.into()];
                let filled = vec![<$t>::from_pattern(0x55); expected.len()];
                let (before, after) = (args(Buffer::new(&filled)), args(Buffer::new(&expected)));
                let name = format!("copy_async_{}_{lanes}", scalar.name());
                suite.case(&name, [threads as u32, 1, 1], ONE(), before, after, |b| {
                    let src = b.pointer("src", scalar, Access::Read, "groups");
                    let dst = Space::Global(b.pointer("dst", scalar, Access::Write, "their first elements"));
                    let row = b.shared("row", scalar, (threads * lanes) as u32);
                    let t = Expr::from(Builtin::ThreadX);
                    let at = b.let_("at", Scalar::I32, t.clone() * lanes);
                    let valid = b.let_("valid", Scalar::I32, valid(t, lanes));
                    let nothing = valid.eq_(0);
                    let index = nothing.select(Expr::i32(-1001), at);
                    b.copy_async((row, at), (src, index), lanes as u32, valid);
                    b.push(Stmt::CommitCopies);
                    b.push(Stmt::WaitCopies(0));
                    for e in 0..lanes {
                        let x = b.load_new("x", scalar, Space::Shared(row), at + e);
                        b.store(dst, at + e, x);
                    }
                });
            }
        };
    }
    /// Number of elements that thread `t` reads: none, one, … all, in turn; one for the last thread.
    fn read(t: i32, lanes: i32) -> i32 {
        if t == 39 { 1 } else { t % (lanes + 1) }
    }
    fn valid(t: Expr, lanes: i32) -> Expr {
        t.eq_(39).select(1, t % (lanes + 1))
    }
    partial!(i16, |i| (i * 31) as i16);
    partial!(i32, |i| i * 65537);
    partial!(i64, |i| i64::from(i) << 33);
    partial!(u32, |i| i as u32);
    partial!(u64, |i| i as u64);
    partial!(f16, |i| f16::from_f32(i as f32 / 4.0));
    partial!(bf16, |i| bf16::from_f32(i as f32 / 4.0));
    partial!(f32, |i| i as f32 / 3.0);
    partial!(f64, |i| f64::from(i) / 3.0);
}

/// Three rows in flight at a time; each is read across the lanes of a warp once it has arrived.
fn ring(suite: &mut Suite) {
    let (threads, rows, depth) = (64usize, 11usize, 4i32);
    let values: Vec<i32> = (0..(threads * rows) as i32).map(|i| i * 7919 % 1009).collect();
    let mut expected = vec![0; threads * rows];
    for r in 0..rows {
        for t in 0..threads {
            expected[r * threads + t] = values[r * threads + (t ^ 21)] - values[r * threads + t];
        }
    }
    let args = |out: Buffer| vec![Buffer::new(&values).into(), out.into(), Arg::Scalar(rows as i64)];
    let (before, after) = (args(Buffer::zeroed(Scalar::I32, values.len())), args(Buffer::new(&expected)));
    suite.case("copy_async_ring", [threads as u32, 1, 1], ONE(), before, after, |b| {
        let src = b.pointer("src", Scalar::I32, Access::Read, "rows");
        let dst = Space::Global(b.pointer("dst", Scalar::I32, Access::Write, "differences between lanes"));
        let rows = b.scalar("rows", Scalar::I32, "number of rows");
        let ring = b.shared("ring", Scalar::I32, depth as u32 * threads as u32);
        let t = Expr::from(Builtin::ThreadX);
        let row_of = |r: Expr| r * threads as i32 + t;
        let request = |b: &mut Builder, r: Expr| {
            let exists = r.lt(rows).select(1, 0);
            b.copy_async((ring, row_of(r % depth)), (src, row_of(r)), 1, exists);
            b.push(Stmt::CommitCopies);
        };
        b.unrolled("r", 0, depth - 1, 1, |b, r| request(b, r));
        b.for_("r", 0, rows, 1, |b, r| {
            b.push(Stmt::WaitCopies(depth as u32 - 2));
            b.push(Stmt::SyncWarp);
            let slot = r % depth * threads as i32;
            let at = |t: Expr| slot + t;
            let own = b.load_new("own", Scalar::I32, Space::Shared(ring), at(t));
            let across = Expr::binary(BinOp::Xor, t, 21.into());
            let other = b.load_new("other", Scalar::I32, Space::Shared(ring), at(across));
            // The slot filled next was read one row ago; the synchronisation above lies between.
            request(b, r + (depth - 1));
            b.store(dst, row_of(r), other - own);
        });
    });
}

/// Lanes of a warp exchange through shared memory without a barrier, repeatedly. Warps do not touch each other's part.
fn among_lanes(suite: &mut Suite) {
    let (threads, rounds) = (96usize, 6);
    let values: Vec<i32> = (0..threads as i32).map(|i| i * 13 - 50).collect();
    let mut expected = values.clone();
    for round in 0..rounds {
        expected = (0..threads).map(|t| expected[t] * 2 - expected[t ^ (round + 1)]).collect();
    }
    let args = |out: Buffer| vec![Buffer::new(&values).into(), out.into(), Arg::Scalar(rounds as i64)];
    let (before, after) = (args(Buffer::zeroed(Scalar::I32, threads)), args(Buffer::new(&expected)));
    suite.case("sync_warp", [32, threads as u32 / 32, 1], ONE(), before, after, |b| {
        let src = Space::Global(b.pointer("src", Scalar::I32, Access::Read, "one value per thread"));
        let dst = Space::Global(b.pointer("dst", Scalar::I32, Access::Write, "results"));
        let rounds = b.scalar("rounds", Scalar::I32, "number of rounds");
        let row = Space::Shared(b.shared("row", Scalar::I32, threads as u32));
        let t = b.let_("t", Scalar::I32, Builtin::ThreadY * 32 + Builtin::ThreadX);
        let x = b.load_new("x", Scalar::I32, src, t);
        b.for_("round", 0, rounds, 1, |b, round| {
            b.store(row, t, x);
            b.push(Stmt::SyncWarp);
            let partner = Expr::binary(BinOp::Xor, t.into(), round + 1);
            let y = b.load_new("y", Scalar::I32, row, partner);
            b.set(x, x * 2 - y);
            b.push(Stmt::SyncWarp);
        });
        b.store(dst, t, x);
    });
}
