//! Kernel that chooses each block's table and sharing, bit for bit as [`Choice`](crate::block::Choice).

use super::count::Count;
use super::*;

/// Cost above any real one.
const NEVER: f64 = 1e300;

/// Kernel that chooses a table and a sharing for each block.
///
/// Parameters, in order:
/// - coefficients (`i32`);
/// - blocks ([`Task::fields`] of each);
/// - costs ([`costs`], `f64`);
/// - choices (`i32`: table and sharing of each block; 0 for blocks that are all zeros or have more than
///   [`MOST_PLANES`]);
/// - the stride of coefficients;
/// - the number of blocks.
pub fn chooser(order: Order) -> Kernel {
    let mut builder = Builder::new(name("choose", order));
    let b = &mut builder;
    b.doc("The table and the sharing of coders that code each block in the fewest bits, a warp a codeblock.");
    let coefficients = Space::Global(b.pointer("coefficients", Scalar::I32, Access::Read, COEFFICIENTS));
    let blocks = Space::Global(b.pointer("blocks", Scalar::I32, Access::Read, BLOCKS));
    let costs = Space::Global(b.pointer("costs", Scalar::F64, Access::Read, "bits of symbols 0 and 1, by table"));
    let choices = Space::Global(b.pointer("choices", Scalar::I32, Access::Write, "table and sharing of each block"));
    let site = Site::new(b, coefficients, blocks);
    let planes = site.survey(b);
    let (class, sharing) = (b.let_("class", Scalar::I32, 0), b.let_("sharing", Scalar::I32, 0));
    b.if_(is_coded(planes), |b| {
        let count = Count::new(b, &site, order, planes);
        let kept = b.array("kept", Scalar::I32, CONTEXTS as u32);
        let bits = b.let_("bits", Scalar::F64, Expr::Lit(Literal::F64(0.0)));
        let tail = count.all(b, planes, |b, plane, depth| {
            // Significance contexts of two passes, of three, or of both.
            let others = match order {
                Order { passes: Passes::Two, .. } => 9..27,
                Order { passes: Passes::Three, fast: 0 } => 0..9,
                Order { passes: Passes::Three, .. } => 0..0,
            };
            for contexts in [0..others.start, others.end..CONTEXTS] {
                b.for_("context", contexts.start as i32, contexts.end as i32, 1, |b, context| {
                    let places = (costs, count.counts, kept);
                    add_costs(b, &site, (plane, depth, context), places, bits);
                });
            }
        });
        let (least, table) = cheapest(b, &site, bits);
        b.set(class, table);
        let shared = shared(b, &site, least, tail);
        b.set(sharing, shared);
    });
    b.if_(site.lane.eq_(0), |b| {
        let at = Builtin::BlockX * 2;
        b.store(choices, at, class);
        b.store(choices, at + 1, sharing);
    });
    finished(builder)
}

/// Costs of symbols as the kernel reads them: by depth, context and symbol, with one number for each lane's table.
/// Missing tables cost more than any other.
pub fn costs(tables: &Tables) -> Vec<f64> {
    tables.costs().as_flattened().to_vec()
}

/// Adds the cost of a context's symbols in a plane, by each lane's table, to the lane's bits, and resets the counts.
///
/// Planes far below the highest share their counts, which accumulate until the last of them. Sums have the reference's
/// order.
fn add_costs(
    b: &mut Builder,
    site: &Site,
    (plane, depth, context): (Expr, Expr, Expr),
    (costs, counts, kept): (Space, LocalId, LocalId),
    bits: LocalId,
) {
    let deepest = Expr::from(DEPTHS as i32 - 1);
    let element = |array: LocalId| array.at(context);
    let sum = b.let_("sum", Scalar::I32, element(counts));
    b.set(Place::Elem(counts, context), 0);
    for distance in [16, 8, 4, 2, 1] {
        let other = b.shuffle("other", Scalar::I32, sum, Lane::Xor(distance));
        b.set(sum, sum + other);
    }
    b.if_(depth.gt(deepest), |b| b.set(sum, sum + element(kept)));
    b.if_(depth.ge(deepest), |b| b.set(Place::Elem(kept, context), sum));
    let is_last = plane.eq_(0).or(depth.lt(deepest));
    b.if_(is_last.and(sum.ne_(0)), |b| {
        let ones = b.let_("ones", Scalar::I32, sum >> 16);
        let all = sum.and(0xffff);
        let row = (depth.min(deepest) * CONTEXTS as i32 + context) * (2 * LANES);
        let at = b.let_("at", Scalar::I32, row + site.lane);
        let of = |b: &mut Builder, name: &str, at: Expr, count: Expr| {
            let cost = b.load_new(name, Scalar::F64, costs, at);
            count.cast(Scalar::F64) * cost
        };
        let zeros = of(b, "zero", at.into(), all - ones);
        let ones = of(b, "one", at + LANES, ones.into());
        b.set(bits, bits + (zeros + ones));
    });
}

/// Least bits over all lanes, and the first lane with that cost.
fn cheapest(b: &mut Builder, site: &Site, bits: LocalId) -> (Expr, Expr) {
    let least = b.let_("least", Scalar::F64, bits);
    let table = b.let_("table", Scalar::I32, site.lane);
    for distance in [16, 8, 4, 2, 1] {
        let other = b.shuffle("other", Scalar::F64, least, Lane::Xor(distance));
        let of = b.shuffle("of", Scalar::I32, table, Lane::Xor(distance));
        let equal = other.eq_(least).and(of.lt(table));
        let better = b.let_("better", Scalar::Bool, other.lt(least).or(equal));
        b.set(least, better.select(other, least));
        b.set(table, better.select(of, table));
    }
    (least.into(), table.into())
}

/// Sharing of a block with these bits of symbols and of tail, as in [`Choice::of`](crate::block::Choice::of).
fn shared(b: &mut Builder, site: &Site, coded: Expr, tail: Expr) -> Expr {
    let lanes = b.let_("lanes", Scalar::I32, (site.block.width + 1) >> 1);
    let double = |v: f64| Expr::Lit(Literal::F64(v));
    let larger = |b: &mut Builder, x: Expr, y: Expr| {
        let (x, y) = (b.let_("x", Scalar::F64, x), b.let_("y", Scalar::F64, y));
        x.lt(y).select(y, x)
    };
    let least = b.let_("fewest", Scalar::F64, double(NEVER));
    let mut all = Vec::new();
    for sharing in 0..=5 {
        let coders = (lanes + ((1 << sharing) - 1)) >> sharing;
        let coders = b.let_("coders", Scalar::F64, coders.cast(Scalar::F64));
        let open = larger(b, tail.cast(Scalar::F64), double(8.0) * coders);
        let bits = larger(b, coded + open, double(16.0) * coders);
        // Sharing beyond the number of lanes has no effect.
        let there = if sharing == 0 { Expr::Lit(Literal::Bool(true)) } else { lanes.gt(1 << (sharing - 1)) };
        let bits = b.let_("with", Scalar::F64, there.select(bits, double(NEVER)));
        b.set(least, bits.lt(least).select(bits, least));
        all.push(bits);
    }
    let limit = b.let_("limit", Scalar::F64, least * double(1.0 + 1.0 / 64.0));
    let choice = b.let_("choice", Scalar::I32, 0);
    for (sharing, bits) in (0i32..6).zip(all).rev() {
        let does = bits.le(limit);
        b.set(choice, does.select(sharing, choice));
    }
    choice.into()
}
