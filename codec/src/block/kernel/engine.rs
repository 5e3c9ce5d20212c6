//! The arithmetic coders of all lanes (thesis §3.2.3, algorithms 2 and 3): a symbol of each lane at a time.

use super::{LANES, Scene, Way};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// Bits of a probability.
const PROBABILITY_BITS: i32 = super::super::arithmetic::PROBABILITY_BITS as i32;

/// S of an interval that nothing has been coded in.
const WHOLE: i32 = u16::MAX as i32;

/// The coders: a variable of each lane but for `taken`. Lanes that share one have the same values.
pub struct Engine {
    way: Way,
    /// L of algorithm 2.
    pub low: LocalId,
    /// S.
    pub size: LocalId,
    /// Of encoders: where the open word stands. Of decoders: the open word.
    pub open: LocalId,
    /// Words that coders have taken.
    pub taken: LocalId,
}

impl Engine {
    pub fn new(b: &mut Builder, way: Way) -> Engine {
        let mut zero = |name| b.let_(name, Scalar::I32, 0);
        let open = if way == Way::Encode { "place" } else { "word" };
        Engine { way, low: zero("low"), size: zero("size"), open: zero(open), taken: zero("taken") }
    }

    /// Codes a symbol of each lane that wants to, in its context; whether it is 1. Encoders are told it; to decoders
    /// `symbol` says nothing.
    pub fn code(&self, b: &mut Builder, scene: &Scene, wants: Expr, context: Expr, symbol: Expr) -> Expr {
        let p = b.load_new("p", Scalar::I32, scene.row, context);
        let ones = b.let_("ones", Scalar::Bool, symbol);
        let turns = || scene.turns.clone();
        b.if_else(
            turns().eq_(1.into()),
            |b| self.step(b, scene, wants.clone(), p.into(), ones),
            |b| {
                b.for_("turn", 0, turns(), 1, |b, turn| {
                    let within = scene.lane.clone().and(turns() - 1);
                    let mine = b.let_("mine", Scalar::Bool, wants.clone().and(within.clone().eq_(turn.clone())));
                    self.step(b, scene, mine.into(), p.into(), ones);
                    let from = b.let_("from", Scalar::I32, scene.lane.clone() - within + turn);
                    for state in [self.low, self.size, self.open] {
                        let lane = Lane::Index(from.into());
                        b.push(Stmt::Shuffle { dst: Place::Local(state), src: state.into(), lane });
                    }
                });
            },
        );
        Expr::from(ones).and(wants)
    }

    /// One turn: a symbol of each lane that has a coder to itself.
    fn step(&self, b: &mut Builder, scene: &Scene, wants: Expr, p: Expr, ones: LocalId) {
        let Engine { low, size, open, taken, .. } = *self;
        let exhausted = b.let_("exhausted", Scalar::Bool, wants.clone().and(Expr::from(size).eq_(0.into())));
        let beginning = b.ballot("beginning", exhausted);
        b.if_(Expr::from(beginning).ne_(Expr::int(0, Scalar::U32)), |b| {
            let ones = |bits: Expr| bits.count_ones().cast(Scalar::I32);
            let rank = ones(Expr::from(beginning).and(scene.below.clone()));
            let next = b.let_("next", Scalar::I32, Expr::from(taken) + rank);
            let replace = |b: &mut Builder, id: LocalId, value: Expr| {
                b.set(Place::Local(id), Expr::from(exhausted).select(value, id.into()));
            };
            match self.way {
                Way::Encode => replace(b, open, next.into()),
                Way::Decode => {
                    let there = Expr::from(next).lt(scene.limit.clone());
                    b.if_(Expr::from(exhausted).and(there), |b| {
                        let word = load_word(b, scene, next.into());
                        b.set(Place::Local(open), word);
                    });
                }
            }
            replace(b, low, 0.into());
            replace(b, size, WHOLE.into());
            b.set(Place::Local(taken), Expr::from(taken) + ones(beginning.into()));
        });
        let zero = b.let_("zero", Scalar::I32, (Expr::from(size) * p) >> PROBABILITY_BITS);
        if self.way == Way::Decode {
            let above = (Expr::from(open) - low_of(self)).gt(zero.into());
            b.set(Place::Local(ones), wants.clone().select(above, ones.into()));
        }
        let one = wants.clone().and(ones.into());
        let upper = Expr::from(size) - Expr::from(zero) - 1;
        b.set(Place::Local(low), one.clone().select(low_of(self) + Expr::from(zero) + 1, low.into()));
        let part = one.select(upper, zero.into());
        b.set(Place::Local(size), wants.clone().select(part, size.into()));
        if self.way == Way::Encode {
            let full = wants.and(Expr::from(size).eq_(0.into())).and(Expr::from(open).lt(scene.limit.clone()));
            b.if_(full, |b| store_word(b, scene, open.into(), low.into()));
        }
    }

    /// Whether a lane has a coder, its group's first, that has begun a word and not ended it.
    pub fn is_open(&self, scene: &Scene) -> Expr {
        let first = scene.lane.clone().and(scene.turns.clone() - 1).eq_(0.into());
        first.and(Expr::from(self.size).ne_(0.into()))
    }

    /// Bits that an open word can still carry: ⌊log2(S + 1)⌋; none where there is no open word.
    pub fn room(&self, scene: &Scene) -> Expr {
        let room = Expr::from(31) - (Expr::from(self.size) + 1).leading_zeros();
        self.is_open(scene).select(room, 0.into())
    }
}

fn low_of(engine: &Engine) -> Expr {
    engine.low.into()
}

/// Loads a word of the block.
pub fn load_word(b: &mut Builder, scene: &Scene, at: Expr) -> Expr {
    let word = b.load_new("loaded", Scalar::I16, scene.words, scene.first.clone() + at);
    Expr::from(word).cast(Scalar::I32).and(0xffff.into())
}

/// Stores a word of the block.
pub fn store_word(b: &mut Builder, scene: &Scene, at: Expr, word: Expr) {
    b.store(scene.words, scene.first.clone() + at, word.cast(Scalar::I16));
}

/// Cells for the bits that open words can carry: fewer than 16 each.
pub const ROOM_BITS: u32 = 16 * LANES as u32;
