//! The encoder.

use super::engine::Engine;
use super::scan::Scan;
use super::*;

/// The kernel that codes blocks with the tables and sharing that their tasks say. Its parameters, in order:
/// coefficients (`i32`), blocks ([`Task::fields`] of each), tables ([`probabilities`]), words (`i16`; those of a block
/// from its `first` on, `words` of them at most), results (`i32`: planes and number of words of each block, which may
/// be more than there was room for; of blocks of more than [`MOST_PLANES`], the planes alone), the stride of
/// coefficients, and the number of blocks.
pub fn encoder(passes: Passes) -> Kernel {
    let mut builder = Builder::new(name("encode", passes));
    let b = &mut builder;
    b.doc("Quantised coefficients to words, a warp a codeblock: bitplane coding with parallel coefficients.");
    let scene = Scene::new(b, Way::Encode, passes);
    // Every bit of a magnitude that there is.
    let most = b.let_("most", Scalar::I32, 0);
    b.for_("y", 0, scene.height.clone(), 1, |b, y| {
        for side in [0, 1] {
            b.if_(scene.valid[side as usize].clone(), |b| {
                let (magnitude, _) = coefficient(b, &scene, &y, side);
                b.set(Place::Local(most), Expr::from(most).or(magnitude));
            });
        }
    });
    let planes = b.let_("found_planes", Scalar::I32, 0);
    b.for_("i", 0, MAX_PLANES as i32, 1, |b, i| {
        let there = (Expr::from(most) >> i.clone()).and(1.into()).ne_(0.into());
        let there = b.ballot("there", there);
        let is_there = Expr::from(there).ne_(Expr::int(0, Scalar::U32));
        b.set(Place::Local(planes), is_there.select(i + 1, planes.into()));
    });
    let planes = Expr::from(planes);
    let words = b.let_("words_of_block", Scalar::I32, 0);
    let coded = planes.clone().gt(0.into()).and(planes.clone().le((MOST_PLANES as i32).into()));
    b.if_(coded, |b| {
        fill(b, &scene, &planes);
        let engine = Engine::new(b, Way::Encode);
        Scan { scene: &scene, engine: &engine, way: Way::Encode }.all(b, &planes);
        let all = tail::write(b, &scene, &engine);
        b.set(Place::Local(words), all);
    });
    b.if_(scene.lane.clone().eq_(0.into()), |b| {
        let at = Expr::from(Builtin::BlockX) * 2;
        b.store(scene.results, at.clone(), planes.clone());
        b.store(scene.results, at + 1, words);
    });
    launch(builder)
}

/// A coefficient's magnitude, and whether it is negative.
fn coefficient(b: &mut Builder, scene: &Scene, y: &Expr, side: i32) -> (Expr, Expr) {
    let c = Expr::from(b.load_new("c", Scalar::I32, scene.coefficients, scene.index(y.clone(), side)));
    let negative = c.clone().lt(0.into());
    (negative.clone().select(-c.clone(), c), negative)
}

/// Fills the bitplanes.
fn fill(b: &mut Builder, scene: &Scene, planes: &Expr) {
    scene.clear(b, planes.clone());
    b.for_("i", 0, PLANE_WORDS, 1, |b, i| b.set(Place::Elem(scene.bits, i + SIGNS * PLANE_WORDS), 0));
    b.for_("y", 0, scene.height.clone(), 1, |b, y| {
        let parts = [0, 1].map(|side| {
            let (m, n) = (b.let_("magnitude", Scalar::I32, 0), b.let_("negative", Scalar::I32, 0));
            b.if_(scene.valid[side as usize].clone(), |b| {
                let (magnitude, negative) = coefficient(b, scene, &y, side);
                b.set(Place::Local(m), magnitude);
                b.set(Place::Local(n), negative.cast(Scalar::I32));
            });
            (Expr::from(m), Expr::from(n))
        });
        let [(left, left_negative), (right, right_negative)] = parts;
        scene.add(b, SIGNS, &y, left_negative.or(right_negative << 1));
        b.for_("plane", 0, planes.clone(), 1, |b, plane| {
            let bit = |m: &Expr| (m.clone() >> plane.clone()).and(1.into());
            scene.add(b, plane.clone(), &y, bit(&left).or(bit(&right) << 1));
        });
    });
}
