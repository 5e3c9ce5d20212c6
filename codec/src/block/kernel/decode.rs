//! Decoder kernel.

use super::engine::{Coding, Engine};
use super::scan::Scan;
use super::*;

/// Value in place of a block's sharing: its words are raw coefficients.
pub const AS_IT_IS: i32 = 6;

/// Kernel that decodes complete blocks.
///
/// Parameters are those of [`encoder`], with these differences:
/// - words are read, as bytes (`u8`), all words of each block;
/// - coefficients are written;
/// - [`AS_IT_IS`] in place of a choice's sharing marks raw coefficients;
/// - results are a [`Status`] for each block.
///
/// For any words, time is bounded by the worst block of the shape and planes, and accesses stay within the block's
/// words and coefficients.
pub fn decoder(order: Order) -> Kernel {
    let mut builder = Builder::new(name("decode", order));
    let b = &mut builder;
    b.doc("Words to quantised coefficients, a warp a codeblock: bitplane coding with parallel coefficients.");
    let coefficients = Space::Global(b.pointer("coefficients", Scalar::I32, Access::Write, COEFFICIENTS));
    let blocks = Space::Global(b.pointer("blocks", Scalar::I32, Access::Read, BLOCKS));
    let choices = Space::Global(b.pointer("choices", Scalar::I32, Access::Read, CHOICES));
    let tables = Space::Global(b.pointer("tables", Scalar::I16, Access::Read, "probabilities of 0 in 128ths"));
    let words = Space::Global(b.pointer("words", Scalar::U8, Access::Read, "bytes of the words of all blocks"));
    let results = Space::Global(b.pointer("results", Scalar::I32, Access::Write, "what became of each block"));
    let site = Site::new(b, coefficients, blocks);
    let scene = Scene::new(b, order, site);
    let status = b.let_("status", Scalar::I32, Status::Left as i32);
    let planes = scene.site.block.planes;
    b.if_(planes.eq_(0), |b| {
        scene.clear(b, 0.into());
        store(b, &scene, planes);
        b.set(status, Status::Decoded as i32);
    });
    b.if_(is_coded(planes), |b| {
        let choice = engine::choice(b, choices);
        let as_it_is = choice[1].eq_(AS_IT_IS);
        let ok = b.let_("is_whole", Scalar::Bool, Expr::Lit(Literal::Bool(true)));
        let engine = Engine::new(b, Coding::Decode, &scene, choice, (tables, words));
        b.if_else(
            as_it_is,
            |b| {
                let whole = copy(b, &scene, &engine, planes);
                b.set(ok, whole);
            },
            |b| {
                scene.clear(b, planes);
                Scan { scene: &scene, engine: &engine, decodes: true }.all(b, planes);
                let whole = tail::read(b, &scene, &engine, planes);
                b.set(ok, whole);
                store(b, &scene, planes);
            },
        );
        let broken = b.ballot("broken", !ok);
        let is_whole = broken.eq_(Expr::int(0, Scalar::U32));
        b.set(status, is_whole.select(Status::Decoded as i32, Status::Broken as i32));
    });
    b.if_(scene.site.lane.eq_(0), |b| b.store(results, Builtin::BlockX, status));
    finished(builder)
}

/// Reads raw coefficients: consecutive signs and magnitudes. Returns whether the words have the right length.
fn copy(b: &mut Builder, scene: &Scene, engine: &Engine, planes: Expr) -> Expr {
    let limit = scene.site.block.limit;
    let each = b.let_("bits_of_each", Scalar::I32, planes + 1);
    let word = |b: &mut Builder, at: Expr| {
        let word = b.let_("raw", Scalar::I32, 0);
        b.if_(at.lt(limit), |b| {
            let loaded = engine.load_word(b, scene, at);
            b.set(word, loaded);
        });
        word
    };
    b.for_("y", 0, scene.site.block.height, 1, |b, y| {
        for side in [0, 1] {
            b.if_(scene.site.valid[side as usize], |b| {
                let index = y * scene.site.block.width + scene.site.lane * 2 + side;
                let at = b.let_("at", Scalar::I32, index * each);
                let (first, second) = (word(b, at >> 4), word(b, (at >> 4) + 1));
                let bits = (first << 16).or(second).cast(Scalar::U32) << at.and(15);
                let value = b.let_("bits_of_one", Scalar::U32, bits >> (Expr::from(32) - each));
                let negative = (value >> planes).ne_(Expr::int(0, Scalar::U32));
                let all = (Expr::from(1) << planes) - 1;
                let magnitude = value.cast(Scalar::I32).and(all);
                let value = negative.select(-magnitude, magnitude);
                b.store(scene.site.coefficients, scene.site.index(y, side), value);
            });
        }
    });
    let bits = b.let_("all_bits", Scalar::I32, scene.site.block.height * scene.site.block.width * each);
    let last = word(b, limit - 1);
    let unused = limit * 16 - bits;
    let fits = unused.ge(0).and(unused.lt(16));
    let rest = (Expr::from(1) << unused.and(15)) - 1;
    fits.and(last.and(rest).eq_(0))
}

/// Assembles the coefficients.
fn store(b: &mut Builder, scene: &Scene, planes: Expr) {
    b.for_("y", 0, scene.site.block.height, 1, |b, y| {
        let at = Expr::from(scene.flags(b, "at", y));
        // Signs of the tail; the flags have those that were coded.
        let signs = Expr::from(scene.two(b, SIGNS, y));
        let magnitudes = ["left", "right"].map(|name| b.let_(name, Scalar::I32, 0));
        b.for_("plane", 0, planes, 1, |b, plane| {
            let two = scene.two(b, plane, y);
            for (side, magnitude) in (0..).zip(magnitudes) {
                let bit = flags::bit(two.into(), side) << plane;
                b.set(magnitude, magnitude.or(bit));
            }
        });
        for (side, magnitude) in (0..).zip(magnitudes) {
            let negative = flags::is(at, flags::NEGATIVE + flags::own(side)).or(flags::is(signs, side));
            let value = negative.select(-magnitude, magnitude);
            b.if_(scene.site.valid[side as usize], |b| {
                b.store(scene.site.coefficients, scene.site.index(y, side), value);
            });
        }
    });
}
