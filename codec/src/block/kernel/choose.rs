//! Which table and which sharing a block takes: what [`Choice`](crate::block::Choice) says, bit for bit.

use super::scan::Scan;
use super::*;

/// A symbol that is 1, beside the count of all symbols of a lane in a context and plane, of which there are 128.
const ONE: i32 = 1 << 8;

/// What is never the least.
const NEVER: f64 = 1e300;

/// The kernel that chooses for blocks. Its parameters, in order: coefficients (`i32`), blocks ([`Task::fields`] of
/// each), costs ([`costs`], `f64`), choices (`i32`: table and sharing of each block; 0 for those that are all zeros or
/// have more than [`MOST_PLANES`]), the stride of coefficients, and the number of blocks.
pub fn chooser(passes: Passes) -> Kernel {
    let mut builder = Builder::new(name("choose", passes));
    let b = &mut builder;
    b.doc("The table and the sharing of coders that code each block in the fewest bits, a warp a codeblock.");
    let coefficients = Space::Global(b.pointer("coefficients", Scalar::I32, Access::Read, COEFFICIENTS));
    let blocks = Space::Global(b.pointer("blocks", Scalar::I32, Access::Read, BLOCKS));
    let costs = Space::Global(b.pointer("costs", Scalar::F64, Access::Read, "bits of symbols 0 and 1, by table"));
    let choices = Space::Global(b.pointer("choices", Scalar::I32, Access::Write, "table and sharing of each block"));
    let scene = Scene::new(b, passes, coefficients, blocks);
    let (planes, nonzero) = encode::survey(b, &scene);
    let (class, sharing) = (b.let_("class", Scalar::I32, 0), b.let_("sharing", Scalar::I32, 0));
    b.if_(is_coded(&planes), |b| {
        encode::fill(b, &scene, &planes);
        let counts = Space::Shared(b.shared("counts", Scalar::I16, CONTEXTS as u32 * LANES as u32));
        b.for_("i", 0, CONTEXTS as i32, 1, |b, i| {
            b.store(counts, i * LANES + scene.lane.clone(), Expr::int(0, Scalar::I16));
        });
        let kept = b.array("kept", Scalar::I32, CONTEXTS as u32);
        let bits = b.let_("bits", Scalar::F64, Expr::Lit(Literal::F64(0.0)));
        Scan { scene: &scene, engine: &Count(counts), decodes: false }.all(b, &planes, |b, plane, depth| {
            add_costs(b, &scene, costs, (plane, depth), (counts, kept), bits);
        });
        let (least, table) = cheapest(b, &scene, bits);
        b.set(Place::Local(class), table);
        let (_, tail) = sums(b, &scene.lane, "sum", nonzero.clone());
        let shared = shared(b, &scene, least, tail);
        b.set(Place::Local(sharing), shared);
    });
    b.if_(scene.lane.clone().eq_(0.into()), |b| {
        let at = Expr::from(Builtin::BlockX) * 2;
        b.store(choices, at.clone(), class);
        b.store(choices, at + 1, sharing);
    });
    finished(builder)
}

/// What symbols cost, as the kernel reads it: by depth, context and symbol, in each a number for each lane's table.
/// Tables that there are not cost more than any other.
pub fn costs(tables: &Tables) -> Vec<f64> {
    tables.costs().as_flattened().to_vec()
}

/// Counts symbols, in each lane apart.
struct Count(Space);

impl engine::Code for Count {
    fn code(&self, b: &mut Builder, scene: &Scene, wants: Expr, context: Expr, symbol: Expr) -> Expr {
        let (one, wants) = (b.let_("one", Scalar::Bool, symbol.and(wants.clone())), wants);
        b.if_(wants, |b| {
            let at = b.let_("cell", Scalar::I32, context * LANES + scene.lane.clone());
            let old = b.load_new("old", Scalar::I16, self.0, at);
            let more = Expr::from(one).select((ONE + 1).into(), 1.into());
            b.store(self.0, at, (Expr::from(old).cast(Scalar::I32) + more).cast(Scalar::I16));
        });
        one.into()
    }
}

/// Adds what the symbols of a plane cost by each lane's table to its bits, in the order of the definition, and forgets
/// them. Planes far below the highest have their counts in common, which are kept until the last of them.
fn add_costs(
    b: &mut Builder,
    scene: &Scene,
    costs: Space,
    (plane, depth): (Expr, Expr),
    (counts, kept): (Space, LocalId),
    bits: LocalId,
) {
    let deepest = || Expr::from(DEPTHS as i32 - 1);
    let row = depth.clone().min(deepest()) * (CONTEXTS as i32 * 2 * LANES);
    let from = b.let_("from", Scalar::I32, row + scene.lane.clone());
    b.for_("context", 0, CONTEXTS as i32, 1, |b, context| {
        let cell = b.let_("cell", Scalar::I32, context.clone() * LANES + scene.lane.clone());
        let count = b.load_new("count", Scalar::I16, counts, cell);
        b.store(counts, cell, Expr::int(0, Scalar::I16));
        let count = Expr::from(count).cast(Scalar::I32);
        let apart = count.clone().and((ONE - 1).into()).or((count >> 8).and((ONE - 1).into()) << 16);
        let sum = b.let_("sum", Scalar::I32, apart);
        for distance in [16, 8, 4, 2, 1] {
            let other = b.shuffle("other", Scalar::I32, sum, Lane::Xor(distance));
            b.set(Place::Local(sum), Expr::from(sum) + other);
        }
        let kept_sum = Expr::Elem(kept, context.clone().into());
        b.if_(depth.clone().gt(deepest()), |b| b.set(Place::Local(sum), Expr::from(sum) + kept_sum));
        b.if_(depth.clone().ge(deepest()), |b| b.set(Place::Elem(kept, context.clone()), sum));
        let is_last = plane.clone().eq_(0.into()).or(depth.clone().lt(deepest()));
        b.if_(is_last.and(Expr::from(sum).ne_(0.into())), |b| {
            let ones = Expr::from(sum) >> 16;
            let all = Expr::from(sum).and(0xffff.into());
            let at = Expr::from(from) + context * (2 * LANES);
            let of = |b: &mut Builder, name: &str, at: Expr, count: Expr| {
                let cost = b.load_new(name, Scalar::F64, costs, at);
                count.cast(Scalar::F64) * cost
            };
            let zeros = of(b, "zero", at.clone(), all - ones.clone());
            let ones = of(b, "one", at + LANES, ones);
            b.set(Place::Local(bits), Expr::from(bits) + (zeros + ones));
        });
    });
}

/// The least bits of all lanes, and the first lane that has them.
fn cheapest(b: &mut Builder, scene: &Scene, bits: LocalId) -> (Expr, Expr) {
    let least = b.let_("least", Scalar::F64, bits);
    let table = b.let_("table", Scalar::I32, scene.lane.clone());
    for distance in [16, 8, 4, 2, 1] {
        let other = Expr::from(b.shuffle("other", Scalar::F64, least, Lane::Xor(distance)));
        let of = Expr::from(b.shuffle("of", Scalar::I32, table, Lane::Xor(distance)));
        let equal = other.clone().eq_(least.into()).and(of.clone().lt(table.into()));
        let better = b.let_("better", Scalar::Bool, other.clone().lt(least.into()).or(equal));
        b.set(Place::Local(least), Expr::from(better).select(other, least.into()));
        b.set(Place::Local(table), Expr::from(better).select(of, table.into()));
    }
    (least.into(), table.into())
}

/// The sharing for a block of so many bits of symbols and of tail, as [`Choice::of`](crate::block::Choice::of) has it.
fn shared(b: &mut Builder, scene: &Scene, coded: Expr, tail: Expr) -> Expr {
    let lanes = b.let_("lanes", Scalar::I32, (scene.block.width.clone() + 1) >> 1);
    let double = |v: f64| Expr::Lit(Literal::F64(v));
    let larger = |b: &mut Builder, x: Expr, y: Expr| {
        let (x, y) = (b.let_("x", Scalar::F64, x), b.let_("y", Scalar::F64, y));
        Expr::from(x).lt(y.into()).select(y.into(), x.into())
    };
    let least = b.let_("fewest", Scalar::F64, double(NEVER));
    let mut all = Vec::new();
    for sharing in 0..=5 {
        let coders = (Expr::from(lanes) + ((1 << sharing) - 1)) >> sharing;
        let coders = b.let_("coders", Scalar::F64, coders.cast(Scalar::F64));
        let open = larger(b, tail.clone().cast(Scalar::F64), double(8.0) * coders);
        let bits = larger(b, coded.clone() + open, double(16.0) * coders);
        // More lanes than there are share nothing more.
        let there = if sharing == 0 {
            Expr::Lit(Literal::Bool(true))
        } else {
            Expr::from(lanes).gt((1 << (sharing - 1)).into())
        };
        let bits = b.let_("with", Scalar::F64, there.select(bits, double(NEVER)));
        b.set(Place::Local(least), Expr::from(bits).lt(least.into()).select(bits.into(), least.into()));
        all.push(bits);
    }
    let limit = b.let_("limit", Scalar::F64, Expr::from(least) * double(1.0 + 1.0 / 64.0));
    let choice = b.let_("choice", Scalar::I32, 0);
    for (sharing, bits) in (0i32..6).zip(all).rev() {
        let does = Expr::from(bits).le(limit.into());
        b.set(Place::Local(choice), does.select(sharing.into(), choice.into()));
    }
    choice.into()
}
