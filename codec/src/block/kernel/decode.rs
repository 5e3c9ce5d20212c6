//! The decoder.

use super::engine::Engine;
use super::scan::Scan;
use super::*;

/// The kernel that decodes complete blocks. Its parameters are those of [`encoder`], but that it reads words, all those
/// that a block has, and writes coefficients; of results it writes a [`Status`] for each block. Whatever the words
/// are, it takes as long as blocks of these shapes and planes can take, and touches their words and coefficients alone.
pub fn decoder(passes: Passes) -> Kernel {
    let mut builder = Builder::new(name("decode", passes));
    let b = &mut builder;
    b.doc("Words to quantised coefficients, a warp a codeblock: bitplane coding with parallel coefficients.");
    let scene = Scene::new(b, Way::Decode, passes);
    let status = b.let_("status", Scalar::I32, Status::Left as i32);
    let planes = scene.planes.clone();
    let coded = planes.clone().gt(0.into()).and(planes.clone().le((MOST_PLANES as i32).into()));
    b.if_(coded, |b| {
        scene.clear(b, planes.clone());
        let engine = Engine::new(b, Way::Decode);
        Scan { scene: &scene, engine: &engine, way: Way::Decode }.all(b, &planes);
        let ok = tail::read(b, &scene, &engine);
        let broken = b.ballot("broken", !ok);
        let is_whole = Expr::from(broken).eq_(Expr::int(0, Scalar::U32));
        b.set(Place::Local(status), is_whole.select((Status::Decoded as i32).into(), (Status::Broken as i32).into()));
        store(b, &scene, &planes);
    });
    b.if_(scene.lane.clone().eq_(0.into()), |b| b.store(scene.results, Builtin::BlockX, status));
    launch(builder)
}

/// Puts the coefficients together.
fn store(b: &mut Builder, scene: &Scene, planes: &Expr) {
    b.for_("y", 0, scene.height.clone(), 1, |b, y| {
        let at = Expr::from(scene.flags(b, "at", y.clone()));
        let magnitudes = ["left", "right"].map(|name| b.let_(name, Scalar::I32, 0));
        b.for_("plane", 0, planes.clone(), 1, |b, plane| {
            let two = scene.two(b, plane.clone(), &y);
            for (side, magnitude) in (0..).zip(magnitudes) {
                let bit = flags::bit(&two.into(), side) << plane.clone();
                b.set(Place::Local(magnitude), Expr::from(magnitude).or(bit));
            }
        });
        for (side, magnitude) in (0..).zip(magnitudes) {
            let magnitude = Expr::from(magnitude);
            let negative = flags::is(&at, flags::NEGATIVE + flags::own(side));
            let value = negative.select(-magnitude.clone(), magnitude);
            b.if_(scene.valid[side as usize].clone(), |b| {
                b.store(scene.coefficients, scene.index(y.clone(), side), value);
            });
        }
    });
}
