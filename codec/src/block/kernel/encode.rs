//! Encoder kernel.

use super::engine::{Coding, Engine};
use super::scan::Scan;
use super::*;

/// Kernel that encodes blocks.
///
/// Parameters, in order:
/// - coefficients (`i32`);
/// - blocks ([`Task::fields`] of each);
/// - choices of the [`chooser`];
/// - tables ([`probabilities`]);
/// - words (`i16`), at most `words` of them for a block, from its `first` on;
/// - results (`i32`): planes and number of words of each block. The number may exceed the room. Blocks of more than
///   [`MOST_PLANES`] have planes only;
/// - the stride of coefficients;
/// - the number of blocks.
pub fn encoder(order: Order) -> Kernel {
    let mut builder = Builder::new(name("encode", order));
    let b = &mut builder;
    b.doc("Quantised coefficients to words, a warp a codeblock: bitplane coding with parallel coefficients.");
    let coefficients = Space::Global(b.pointer("coefficients", Scalar::I32, Access::Read, COEFFICIENTS));
    let blocks = Space::Global(b.pointer("blocks", Scalar::I32, Access::Read, BLOCKS));
    let choices = Space::Global(b.pointer("choices", Scalar::I32, Access::Read, CHOICES));
    let tables = Space::Global(b.pointer("tables", Scalar::I16, Access::Read, "probabilities of 0 in 128ths"));
    let words = Space::Global(b.pointer("words", Scalar::I16, Access::Write, "words of all blocks"));
    let results = Space::Global(b.pointer("results", Scalar::I32, Access::Write, "planes and words of each block"));
    let site = Site::new(b, coefficients, blocks);
    let planes = site.survey(b);
    let lane = site.lane;
    let count = b.let_("words_of_block", Scalar::I32, 0);
    b.if_(is_coded(planes), |b| {
        let scene = Scene::new(b, order, site);
        fill(b, &scene, planes);
        let choice = engine::choice(b, choices);
        let engine = Engine::new(b, Coding::Encode, &scene, choice, (tables, words));
        Scan { scene: &scene, engine: &engine, decodes: false }.all(b, planes);
        let all = tail::write(b, &scene, &engine, planes);
        b.set(count, all);
    });
    b.if_(lane.eq_(0), |b| {
        let at = Builtin::BlockX * 2;
        b.store(results, at, planes);
        b.store(results, at + 1, count);
    });
    finished(builder)
}

/// Fills the bitplanes.
fn fill(b: &mut Builder, scene: &Scene, planes: Expr) {
    scene.clear(b, planes);
    b.for_("first", 0, scene.site.block.height, AT_ONCE, |b, first| {
        for (i, row) in (0..).zip(scene.site.rows::<{ AT_ONCE as usize }>(b, first)) {
            let y = b.let_("y", Scalar::I32, first + i);
            let [left, right] = row.each_ref().map(|c| b.let_("magnitude", Scalar::I32, magnitude(*c)));
            let [left_negative, right_negative] = row.map(|c| c.lt(0).cast(Scalar::I32));
            scene.add(b, SIGNS, y.into(), left_negative.or(right_negative << 1));
            b.for_("plane", 0, planes, 1, |b, plane| {
                let bit = |m: Expr| (m >> plane).and(1);
                scene.add(b, plane, y.into(), bit(left.into()).or(bit(right.into()) << 1));
            });
        }
    });
}
