//! The arithmetic coders of all lanes (thesis §3.2.3, algorithms 2 and 3): a symbol of each lane at a time.

use super::{CONTEXTS, DEPTHS, LANES, Scene};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// Bits of a probability.
const PROBABILITY_BITS: i32 = super::super::arithmetic::PROBABILITY_BITS as i32;

/// S of an interval that nothing has been coded in.
const WHOLE: i32 = u16::MAX as i32;

/// What is done with the symbols of a step.
pub trait Code {
    /// Begins a plane, so far below the highest one.
    fn plane(&self, b: &mut Builder, scene: &Scene, depth: &Expr) {
        let _ = (b, scene, depth);
    }

    /// Codes a symbol of each lane that wants to, in its context; whether it is 1. Encoders are told it; to decoders
    /// `symbol` says nothing.
    fn code(&self, b: &mut Builder, scene: &Scene, wants: Expr, context: Expr, symbol: Expr) -> Expr;
}

/// Whether words are written or read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Encode,
    Decode,
}

/// The coders: a variable of each lane but for `taken`. Lanes that share one have the same values.
pub struct Engine {
    way: Way,
    tables: Space,
    words: Space,
    /// Probabilities of the plane at hand, by context.
    row: Space,
    /// The first probability of the block's table.
    table: Expr,
    /// Lanes to a coder.
    turns: Expr,
    /// The lanes below, a bit each.
    below: Expr,
    /// L of algorithm 2.
    pub low: LocalId,
    /// S.
    pub size: LocalId,
    /// Of encoders: where the open word stands. Of decoders: the open word.
    pub open: LocalId,
    /// Words that coders have taken.
    pub taken: LocalId,
}

/// Table and sharing of the block.
pub fn choice(b: &mut Builder, choices: Space) -> [Expr; 2] {
    let at = Expr::from(Builtin::BlockX) * 2;
    ["class", "sharing"].map(|name| {
        let at = at.clone() + i32::from(name == "sharing");
        b.load_new(name, Scalar::I32, choices, at).into()
    })
}

impl Engine {
    pub fn new(
        b: &mut Builder,
        way: Way,
        scene: &Scene,
        [class, sharing]: [Expr; 2],
        (tables, words): (Space, Space),
    ) -> Engine {
        let row = Space::Shared(b.shared("row", Scalar::I32, CONTEXTS as u32));
        let table = b.let_("table", Scalar::I32, class * (DEPTHS * CONTEXTS) as i32).into();
        let turns = b.let_("turns", Scalar::I32, Expr::from(1) << sharing).into();
        let one = || Expr::int(1, Scalar::U32);
        let below = b.let_("below", Scalar::U32, (one() << scene.lane.clone()) - one()).into();
        let mut zero = |name| b.let_(name, Scalar::I32, 0);
        let open = if way == Way::Encode { "place" } else { "word" };
        let (low, size, open, taken) = (zero("low"), zero("size"), zero(open), zero("taken"));
        Engine { way, tables, words, row, table, turns, below, low, size, open, taken }
    }
}

impl Code for Engine {
    fn plane(&self, b: &mut Builder, scene: &Scene, depth: &Expr) {
        let of_table = depth.clone().min((DEPTHS as i32 - 1).into()) * CONTEXTS as i32;
        let from = b.let_("from", Scalar::I32, self.table.clone() + of_table + scene.lane.clone());
        b.push(Stmt::SyncWarp);
        let p = b.load_new("p", Scalar::I16, self.tables, from);
        b.store(self.row, scene.lane.clone(), Expr::from(p).cast(Scalar::I32));
        b.if_(scene.lane.clone().lt((CONTEXTS as i32 - LANES).into()), |b| {
            let p = b.load_new("p", Scalar::I16, self.tables, Expr::from(from) + LANES);
            b.store(self.row, scene.lane.clone() + LANES, Expr::from(p).cast(Scalar::I32));
        });
        b.push(Stmt::SyncWarp);
    }

    fn code(&self, b: &mut Builder, scene: &Scene, wants: Expr, context: Expr, symbol: Expr) -> Expr {
        let p = b.load_new("p", Scalar::I32, self.row, context);
        let ones = b.let_("ones", Scalar::Bool, symbol);
        let turns = || self.turns.clone();
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
}

impl Engine {
    /// One turn: a symbol of each lane that has a coder to itself.
    fn step(&self, b: &mut Builder, scene: &Scene, wants: Expr, p: Expr, ones: LocalId) {
        let Engine { low, size, open, taken, .. } = *self;
        let exhausted = b.let_("exhausted", Scalar::Bool, wants.clone().and(Expr::from(size).eq_(0.into())));
        let beginning = b.ballot("beginning", exhausted);
        b.if_(Expr::from(beginning).ne_(Expr::int(0, Scalar::U32)), |b| {
            let ones = |bits: Expr| bits.count_ones().cast(Scalar::I32);
            let rank = ones(Expr::from(beginning).and(self.below.clone()));
            let next = b.let_("next", Scalar::I32, Expr::from(taken) + rank);
            let replace = |b: &mut Builder, id: LocalId, value: Expr| {
                b.set(Place::Local(id), Expr::from(exhausted).select(value, id.into()));
            };
            match self.way {
                Way::Encode => replace(b, open, next.into()),
                Way::Decode => {
                    let there = Expr::from(next).lt(scene.block.limit.clone());
                    b.if_(Expr::from(exhausted).and(there), |b| {
                        let word = self.load_word(b, scene, next.into());
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
            let above = (Expr::from(open) - low).gt(zero.into());
            b.set(Place::Local(ones), wants.clone().select(above, ones.into()));
        }
        let one = wants.clone().and(ones.into());
        let upper = Expr::from(size) - Expr::from(zero) - 1;
        b.set(Place::Local(low), one.clone().select(Expr::from(low) + Expr::from(zero) + 1, low.into()));
        let part = one.select(upper, zero.into());
        b.set(Place::Local(size), wants.clone().select(part, size.into()));
        if self.way == Way::Encode {
            let full = wants.and(Expr::from(size).eq_(0.into())).and(Expr::from(open).lt(scene.block.limit.clone()));
            b.if_(full, |b| self.store_word(b, scene, open.into(), low.into()));
        }
    }

    /// Whether a lane has a coder, its group's first, that has begun a word and not ended it.
    pub fn is_open(&self, scene: &Scene) -> Expr {
        let first = scene.lane.clone().and(self.turns.clone() - 1).eq_(0.into());
        first.and(Expr::from(self.size).ne_(0.into()))
    }

    /// Bits that an open word can still carry: ⌊log2(S + 1)⌋; none where there is no open word.
    pub fn room(&self, scene: &Scene) -> Expr {
        let room = Expr::from(31) - (Expr::from(self.size) + 1).leading_zeros();
        self.is_open(scene).select(room, 0.into())
    }

    /// Loads a word of the block, which decoders find in bytes.
    pub fn load_word(&self, b: &mut Builder, scene: &Scene, at: Expr) -> Expr {
        let at = Expr::from(b.let_("first_byte", Scalar::I32, scene.block.first.clone() + at * 2));
        let [low, high] = [0, 1].map(|i| {
            let byte = b.load_new("loaded", Scalar::U8, self.words, at.clone() + i);
            Expr::from(byte).cast(Scalar::I32)
        });
        b.let_("whole", Scalar::I32, low.or(high << 8)).into()
    }

    /// Stores a word of the block.
    pub fn store_word(&self, b: &mut Builder, scene: &Scene, at: Expr, word: Expr) {
        b.store(self.words, scene.block.first.clone() + at, word.cast(Scalar::I16));
    }
}

/// Cells for the bits that open words can carry: fewer than 16 each.
pub const ROOM_BITS: u32 = 16 * LANES as u32;
