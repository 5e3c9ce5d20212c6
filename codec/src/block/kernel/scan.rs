//! Passes over the planes of a block: what is coded in which order and context, as the definition has it.

use super::Scene;
use super::engine::Code;
use super::flags::{self, CODED, FRESH, NEGATIVE, REFINED, own};
use crate::block::{Context, Passes};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// Which coefficients a pass over significance takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// All.
    Significance,
    /// Those with a significant neighbour.
    Propagation,
    /// What propagation has left.
    Cleanup,
}

/// What a step needs of its row and the rows beside it, in variables of each lane.
struct Row {
    above: LocalId,
    at: LocalId,
    below: LocalId,
    /// Bits of the plane: those that are known, or have been found.
    two: LocalId,
    /// Signs, where they are known.
    negative: LocalId,
}

/// The scan of a block, by an encoder or a decoder.
pub struct Scan<'a> {
    pub scene: &'a Scene,
    pub engine: &'a dyn Code,
    /// Whether symbols are found, and not known.
    pub decodes: bool,
}

impl Scan<'_> {
    /// All symbols that are coded; `done` follows each plane, and is told it and how far below the highest it is.
    pub fn all(&self, b: &mut Builder, planes: &Expr, done: impl FnOnce(&mut Builder, Expr, Expr)) {
        b.for_("depth", 0, planes.clone(), 1, |b, depth| {
            let plane = Expr::from(b.let_("plane", Scalar::I32, planes.clone() - 1 - depth.clone()));
            self.engine.plane(b, self.scene, &depth);
            match self.scene.passes {
                Passes::Two => {
                    self.pass(b, Pass::Significance, &plane, false);
                    self.refine(b, &plane, true);
                }
                Passes::Three => {
                    // Where nothing is significant yet, there is nothing to propagate or refine.
                    b.if_(depth.clone().gt(0.into()), |b| {
                        self.pass(b, Pass::Propagation, &plane, false);
                        b.if_(plane.clone().gt(0.into()), |b| self.refine(b, &plane, false));
                    });
                    self.pass(b, Pass::Cleanup, &plane, true);
                }
            }
            done(b, plane, depth);
        });
    }

    /// The rest of a row: its flags are kept, for the next plane if this one is done with it.
    fn keep(&self, b: &mut Builder, y: Expr, flags: Expr, finishes: bool) {
        let flags = if finishes { flags::finished(&flags) } else { flags };
        b.set(Place::Elem(self.scene.flags, y + 1), flags.cast(Scalar::I16));
    }

    /// A pass over significance (SPP and CP of algorithm 2).
    fn pass(&self, b: &mut Builder, pass: Pass, plane: &Expr, finishes: bool) {
        let scene = self.scene;
        let above = b.let_("above", Scalar::I32, 0);
        let (at, below) = (scene.flags(b, "at", 0.into()), scene.flags(b, "below", 1.into()));
        let next = self.first(b, plane);
        b.for_("y", 0, scene.block.height.clone(), 1, |b, y| {
            // What the next row needs is under way while this one is coded.
            let ahead = scene.flags(b, "ahead", y.clone() + 2);
            let two = self.advance(b, plane, &y, next);
            let negative = if self.decodes { two } else { scene.two(b, super::SIGNS, &y) };
            let row = Row { above, at, below, two, negative };
            for side in [0, 1] {
                self.step(b, pass, plane, &row, side);
            }
            if self.decodes {
                scene.add(b, plane.clone(), &y, two.into());
            }
            self.keep(b, y, at.into(), finishes);
            b.set(Place::Local(above), at);
            b.set(Place::Local(at), below);
            b.set(Place::Local(below), ahead);
        });
    }

    /// The bits of a plane's first row, where they are known.
    fn first(&self, b: &mut Builder, plane: &Expr) -> LocalId {
        match self.decodes {
            false => self.scene.two(b, plane.clone(), &0.into()),
            true => b.let_("two", Scalar::I32, 0),
        }
    }

    /// The bits of a row, which `next` had; those of the row behind it come there.
    fn advance(&self, b: &mut Builder, plane: &Expr, y: &Expr, next: LocalId) -> LocalId {
        let two = b.let_("two", Scalar::I32, next);
        if !self.decodes {
            let following = (y.clone() + 1).min(self.scene.block.height.clone() - 1);
            let following = self.scene.two(b, plane.clone(), &following);
            b.set(Place::Local(next), following);
        }
        two
    }

    /// A step: one column of all lanes.
    fn step(&self, b: &mut Builder, pass: Pass, plane: &Expr, row: &Row, side: i32) {
        let scene = self.scene;
        let Row { above, at, below, two, negative } = *row;
        let here = Expr::from(at);
        let rows = [&above.into(), &here, &below.into()];
        let count = b.let_("count", Scalar::I32, flags::neighbours(rows, side));
        let insignificant = flags::bit(&here, own(side)).eq_(0.into());
        let takes = scene.valid[side as usize].clone().and(insignificant);
        let (takes, context) = match pass {
            Pass::Significance => (takes, Context::significance(0)),
            Pass::Propagation => (takes.and(Expr::from(count).ne_(0.into())), Context::propagation(0)),
            Pass::Cleanup => (takes.and(flags::bit(&here, CODED + side).eq_(0.into())), Context::cleanup(0)),
        };
        let takes = b.let_("takes", Scalar::Bool, takes);
        if pass == Pass::Propagation {
            let visited = Expr::from(takes).select((1 << (CODED + side)).into(), 0.into());
            b.set(Place::Local(at), here.clone().or(visited));
        }
        let code = |b: &mut Builder| {
            let symbol = flags::is(&two.into(), side);
            let context = Expr::from(count) + context.index() as i32;
            let one = self.engine.code(b, scene, takes.into(), context, symbol);
            let one = b.let_("one", Scalar::Bool, one);
            let found = b.ballot("found", one);
            b.if_(Expr::from(found).ne_(Expr::int(0, Scalar::U32)), |b| {
                // Plane 0 leaves signs to the tail.
                b.if_(plane.clone().gt(0.into()), |b| {
                    let known = flags::is(&negative.into(), side);
                    let negative = self.sign(b, rows, one.into(), known, side);
                    let negative = b.ballot("negative", negative);
                    b.set(Place::Local(at), here.clone().or(flags::found(scene, negative.into(), side) << NEGATIVE));
                });
                b.set(Place::Local(at), here.clone().or(flags::found(scene, found.into(), side)));
                if self.decodes {
                    let bit = Expr::from(one).select((1 << side).into(), 0.into());
                    b.set(Place::Local(two), Expr::from(two).or(bit));
                }
            });
        };
        if pass == Pass::Significance {
            return code(b);
        }
        // Many steps of these passes have nothing to code.
        let any = b.ballot("any", takes);
        b.if_(Expr::from(any).ne_(Expr::int(0, Scalar::U32)), code);
    }

    /// The signs of what a step has found: whether they are negative, which encoders know.
    fn sign(&self, b: &mut Builder, [above, at, below]: [&Expr; 3], one: Expr, known: Expr, side: i32) -> Expr {
        let scene = self.scene;
        let column = own(side);
        let sum = |a, c| flags::sign(a, column) + flags::sign(c, column);
        let vertical = b.let_("vertical", Scalar::I32, sum(above, below));
        let beside = flags::sign(at, column - 1) + flags::sign(at, column + 1);
        let beside = b.let_("beside", Scalar::I32, beside);
        let either = |a: LocalId, c: LocalId| scene.block.horizontal.clone().select(a.into(), c.into());
        let along = Expr::from(b.let_("along", Scalar::I32, either(beside, vertical)));
        let across = Expr::from(b.let_("across", Scalar::I32, either(vertical, beside)));
        let none = |e: &Expr| e.clone().eq_(0.into());
        // Contexts as `Context::sign` has them.
        let differ = Expr::binary(BinOp::Xor, along.clone(), across.clone()).lt(0.into());
        let alone = none(&across).select(4.into(), 1.into());
        let both = none(&across).select(2.into(), differ.select(3.into(), 0.into()));
        let kind = none(&along).select(alone, both);
        let predicted = along.clone().lt(0.into()).or(none(&along).and(across.lt(0.into())));
        let predicted = Expr::from(b.let_("predicted", Scalar::Bool, predicted));
        let symbol = match self.decodes {
            false => known.ne_(predicted.clone()),
            true => Expr::Lit(Literal::Bool(false)),
        };
        let (first, _) = Context::sign(1, 1);
        let context = kind + first.index() as i32;
        let flipped = self.engine.code(b, scene, one.clone(), context, symbol);
        flipped.ne_(predicted).and(one)
    }

    /// The refinement pass (MRP of algorithm 2); plane 0 leaves it to the tail.
    fn refine(&self, b: &mut Builder, plane: &Expr, finishes: bool) {
        let scene = self.scene;
        let ahead = scene.flags(b, "ahead", 0.into());
        b.for_("y", 0, scene.block.height.clone(), 1, |b, y| {
            let at = b.let_("at", Scalar::I32, ahead);
            let following = scene.flags(b, "ahead", y.clone() + 1);
            b.set(Place::Local(ahead), following);
            let at = Expr::from(at);
            let any = b.ballot("any", (at.clone() >> REFINED).and(3.into()).ne_(0.into()));
            let refines = Expr::from(any).ne_(Expr::int(0, Scalar::U32)).and(plane.clone().gt(0.into()));
            b.if_(refines, |b| {
                let two = match self.decodes {
                    false => scene.two(b, plane.clone(), &y),
                    true => b.let_("two", Scalar::I32, 0),
                };
                for side in [0, 1] {
                    let takes = b.let_("takes", Scalar::Bool, flags::is(&at, REFINED + side));
                    let later = Context::refinement(false).index() as i32;
                    let context = Expr::from(later) - flags::bit(&at, FRESH + side);
                    let symbol = flags::is(&two.into(), side);
                    let one = self.engine.code(b, scene, takes.into(), context, symbol);
                    if self.decodes {
                        let bit = one.select((1 << side).into(), 0.into());
                        b.set(Place::Local(two), Expr::from(two).or(bit));
                    }
                }
                if self.decodes {
                    scene.add(b, plane.clone(), &y, two.into());
                }
            });
            if finishes {
                self.keep(b, y, at, true);
            }
        });
    }
}
