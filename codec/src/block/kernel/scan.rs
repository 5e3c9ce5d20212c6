//! Scan of a block's planes in the reference's order, with its contexts.

use super::engine::Engine;
use super::flags::{self, CODED, FRESH, NEGATIVE, REFINED, own};
use super::{PLANE_WORDS, SIGNS, Scene, tail_planes};
use crate::block::{Context, Order, Passes};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// Kind of a pass over significance: its coefficients and contexts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// All insignificant coefficients.
    Significance,
    /// Coefficients with a significant neighbour.
    Propagation,
    /// Coefficients that propagation left out.
    Cleanup,
}

/// Variables of a step: its row, with the rows above and below.
struct Row<'a> {
    above: LocalId,
    at: LocalId,
    below: LocalId,
    /// See [`flags::beside`].
    beside: LocalId,
    bits: &'a Bits,
}

/// Words of bits that contain the current row. `plane` and `signs` are shifted so that the row's bits are lowest, where
/// they are known. A decoder collects its findings in `found`, at the row's `shift`.
struct Bits {
    plane: Option<LocalId>,
    signs: Option<LocalId>,
    found: Option<LocalId>,
    shift: Expr,
}

impl Bits {
    /// Whether a bit is set in a known word.
    fn known(word: Option<LocalId>, side: i32) -> Expr {
        let bit = |word: LocalId| word.and(Expr::int(1 << side, Scalar::U32)).ne_(Expr::int(0, Scalar::U32));
        word.map_or(Expr::Lit(Literal::Bool(false)), bit)
    }

    /// Adds a finding.
    fn add(&self, b: &mut Builder, one: Expr, side: i32) {
        if let Some(found) = self.found {
            let word = |v| Expr::int(v, Scalar::U32);
            let bit = one.select(word(1 << side), word(0)) << self.shift;
            b.set(found, found.or(bit));
        }
    }
}

/// Scan of a block, by an encoder or a decoder.
pub struct Scan<'a> {
    pub scene: &'a Scene,
    pub engine: &'a Engine,
    /// Whether symbols are decoded.
    pub decodes: bool,
}

impl Scan<'_> {
    /// Codes all symbols outside the tail.
    pub fn all(&self, b: &mut Builder, planes: Expr) {
        b.for_("depth", 0, planes, 1, |b, depth| {
            let plane = b.let_("plane", Scalar::I32, planes - 1 - depth);
            self.engine.plane(b, self.scene, depth);
            let once = |b: &mut Builder| self.pass(b, Pass::Significance, plane.into(), false);
            let three = |b: &mut Builder| {
                // Nothing is significant in the first plane, so there is nothing to propagate or refine.
                b.if_(depth.gt(0), |b| {
                    self.pass(b, Pass::Propagation, plane.into(), false);
                    b.if_(self.has_all(plane.into()), |b| self.refine(b, plane.into(), false));
                });
                self.pass(b, Pass::Cleanup, plane.into(), true);
            };
            match self.scene.order {
                Order { passes: Passes::Two, .. } => {
                    once(b);
                    b.if_(self.has_all(plane.into()), |b| self.refine(b, plane.into(), true));
                }
                Order { passes: Passes::Three, fast: 0 } => three(b),
                Order { passes: Passes::Three, .. } => b.if_else(self.has_all(plane.into()), three, once),
            }
        });
    }

    /// Whether a plane codes its signs and refinements, rather than leaving them to the tail.
    fn has_all(&self, plane: Expr) -> Expr {
        plane.ge(tail_planes(self.scene.order))
    }

    /// Stores a row's flags, updated for the next plane if this is the row's last pass in the plane.
    fn keep(&self, b: &mut Builder, y: Expr, flags: Expr, finishes: bool) {
        let flags = if finishes { flags::finished(flags) } else { flags };
        b.set(Place::Elem(self.scene.flags, y + 1), flags.cast(Scalar::I16));
    }

    /// Pass over significance (SPP and CP of algorithm 2).
    fn pass(&self, b: &mut Builder, pass: Pass, plane: Expr, finishes: bool) {
        let scene = self.scene;
        let above = b.let_("above", Scalar::I32, 0);
        let (at, below) = (scene.flags(b, "at", 0.into()), scene.flags(b, "below", 1.into()));
        self.parts(b, plane, |b, y, bits| {
            // Prefetches the next row's flags.
            let ahead = scene.flags(b, "ahead", y + 2);
            let beside = b.let_("beside", Scalar::I32, flags::beside(above.into(), below.into()));
            let row = Row { above, at, below, beside, bits };
            for side in [0, 1] {
                self.step(b, pass, plane, &row, side);
            }
            self.keep(b, y, at.into(), finishes);
            b.set(above, at);
            b.set(at, below);
            b.set(below, ahead);
        });
    }

    /// Sweeps all rows, grouped by word of bits.
    fn parts(&self, b: &mut Builder, plane: Expr, row: impl FnOnce(&mut Builder, Expr, &Bits)) {
        let scene = self.scene;
        let height = scene.site.block.height;
        b.for_("part", 0, (height + 15) >> 4, 1, |b, part| {
            let place = |plane: Expr| scene.bits.at(plane * PLANE_WORDS + part);
            let word = |b: &mut Builder, name, value: Expr| b.let_(name, Scalar::U32, value.cast(Scalar::U32));
            let known = match self.decodes {
                false => [plane, SIGNS.into()].map(|plane| Some(word(b, "known", place(plane)))),
                true => [None, None],
            };
            let found = self.decodes.then(|| word(b, "found", 0.into()));
            let first = part * 16;
            b.for_("y", first, height.min(first + 16), 1, |b, y| {
                let bits = Bits { plane: known[0], signs: known[1], found, shift: y.and(15) * 2 };
                row(b, y, &bits);
                for word in known.into_iter().flatten() {
                    b.set(word, word >> 2);
                }
            });
            if let Some(found) = found {
                let at = plane * PLANE_WORDS + part;
                let all = place(plane).or(found.cast(Scalar::I32));
                b.set(Place::Elem(scene.bits, at), all);
            }
        });
    }

    /// Step: one column of all lanes.
    fn step(&self, b: &mut Builder, pass: Pass, plane: Expr, row: &Row<'_>, side: i32) {
        let scene = self.scene;
        let Row { above, at, below, beside, bits } = *row;
        let here = at;
        let rows = [above, here, below].map(Expr::from);
        let count = b.let_("count", Scalar::I32, flags::neighbours(beside.into(), here.into(), side));
        let insignificant = flags::bit(here.into(), own(side)).eq_(0);
        let takes = scene.site.valid[side as usize].and(insignificant);
        let (takes, context) = match pass {
            Pass::Significance => (takes, Context::significance(0)),
            Pass::Propagation => (takes.and(count.ne_(0)), Context::propagation(0)),
            Pass::Cleanup => (takes.and(flags::bit(here.into(), CODED + side).eq_(0)), Context::cleanup(0)),
        };
        let takes = b.let_("takes", Scalar::Bool, takes);
        if pass == Pass::Propagation {
            let visited = takes.select(1 << (CODED + side), 0);
            b.set(at, here.or(visited));
        }
        let code = |b: &mut Builder| {
            let p = self.engine.probability(b, count + context.index() as i32);
            let symbol = Bits::known(bits.plane, side);
            let one = self.engine.code(b, scene, takes.into(), p, symbol);
            let found = b.ballot("found", one);
            b.if_(found.ne_(Expr::int(0, Scalar::U32)), |b| {
                b.if_(self.has_all(plane), |b| {
                    let (p, predicted) = self.engine.sign(b, rows, side);
                    let predicted = b.let_("predicted", Scalar::Bool, predicted);
                    let symbol = Bits::known(bits.signs, side).ne_(predicted);
                    let flipped = self.engine.code(b, scene, one, p, symbol);
                    let negative = match bits.signs {
                        Some(_) => Bits::known(bits.signs, side),
                        None => flipped.ne_(predicted),
                    };
                    let negative = b.ballot("negative", negative.and(one));
                    b.set(at, here.or(flags::found(scene, negative.into(), side) << NEGATIVE));
                });
                b.set(at, here.or(flags::found(scene, found.into(), side)));
                bits.add(b, one, side);
            });
        };
        if pass == Pass::Significance {
            return code(b);
        }
        // Many steps of these passes have nothing to code.
        let any = b.ballot("any", takes);
        b.if_(any.ne_(Expr::int(0, Scalar::U32)), code);
    }

    /// Refinement pass (MRP of algorithm 2).
    fn refine(&self, b: &mut Builder, plane: Expr, finishes: bool) {
        let scene = self.scene;
        let ahead = scene.flags(b, "ahead", 0.into());
        self.parts(b, plane, |b, y, bits| {
            let at = b.let_("at", Scalar::I32, ahead);
            let following = scene.flags(b, "ahead", y + 1);
            b.set(ahead, following);
            let any = b.ballot("any", (at >> REFINED).and(3).ne_(0));
            b.if_(any.ne_(Expr::int(0, Scalar::U32)), |b| {
                for side in [0, 1] {
                    let takes = b.let_("takes", Scalar::Bool, flags::is(at.into(), REFINED + side));
                    let p = self.engine.refinement(flags::is(at.into(), FRESH + side));
                    let one = self.engine.code(b, scene, takes.into(), p, Bits::known(bits.plane, side));
                    bits.add(b, one, side);
                }
            });
            if finishes {
                self.keep(b, y, at.into(), true);
            }
        });
    }
}
