//! Arithmetic coders of all lanes (thesis §3.2.3, algorithms 2 and 3), one symbol per lane at a time.

use super::{CONTEXTS, Context, DEPTHS, LANES, Scene, flags};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// Bits of a probability.
const PROBABILITY_BITS: i32 = super::super::arithmetic::PROBABILITY_BITS as i32;

/// S of a fresh interval.
const WHOLE: i32 = u16::MAX as i32;

/// Probability of a certain symbol 0, which leaves the interval unchanged. Idle lanes code it.
const CERTAIN: i32 = 1 << PROBABILITY_BITS;

/// Number of sign combinations of four neighbours.
const SURROUNDINGS: i32 = 256;

/// Largest sharing: all 32 lanes share one coder.
const MOST_SHARING: i32 = 5;

/// Flag next to a sign context: the predicted sign is negative.
const PREDICTED: i32 = 64;

/// Direction: encoding or decoding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    Encode,
    Decode,
}

/// Coder state, in variables of each lane except `taken`. Lanes that share a coder have equal values.
pub struct Engine {
    way: Coding,
    tables: Space,
    words: Space,
    /// Probabilities of the current plane: each lane has that of the context with its number, and those of refinement.
    row: LocalId,
    refinement: [LocalId; 2],
    /// Sign contexts, by neighbourhood.
    signs: Space,
    /// Index of the block's table in the probabilities.
    table: Expr,
    /// Lanes per coder.
    turns: Expr,
    /// The coder's lanes, a bit each, and its first lane.
    group: Expr,
    leader: Expr,
    /// Lanes below the first one, a bit each.
    below: Expr,
    /// Encoder: L of algorithm 2. Decoder: the open word less L.
    pub low: LocalId,
    /// S.
    pub size: LocalId,
    /// Place of the coder's last word (encoder only).
    pub place: LocalId,
    /// Number of words taken by coders.
    pub taken: LocalId,
}

/// Table and sharing of the block.
pub fn choice(b: &mut Builder, choices: Space) -> [Expr; 2] {
    let at = Builtin::BlockX * 2;
    ["class", "sharing"].map(|name| {
        let at = at + i32::from(name == "sharing");
        b.load_new(name, Scalar::I32, choices, at).into()
    })
}

fn one() -> Expr {
    Expr::int(1, Scalar::U32)
}

fn is_any(bits: impl Into<Expr>) -> Expr {
    bits.into().ne_(Expr::int(0, Scalar::U32))
}

impl Engine {
    pub fn new(
        b: &mut Builder,
        way: Coding,
        scene: &Scene,
        [class, sharing]: [Expr; 2],
        (tables, words): (Space, Space),
    ) -> Engine {
        let signs = Space::Shared(b.shared("signs", Scalar::I16, SURROUNDINGS as u32));
        b.for_("around", scene.site.lane, SURROUNDINGS, LANES, |b, around| {
            let entry = surrounding(b, around, scene.site.block.horizontal);
            b.store(signs, around, entry.cast(Scalar::I16));
        });
        b.push(Stmt::SyncWarp);
        let table = b.let_("table", Scalar::I32, class * (DEPTHS * CONTEXTS) as i32).into();
        let turns = b.let_("turns", Scalar::I32, Expr::from(1) << sharing.min(MOST_SHARING));
        let group = Expr::int(u32::MAX.into(), Scalar::U32) >> (Expr::from(LANES) - turns);
        let group = b.let_("group", Scalar::U32, group).into();
        let leader = scene.site.lane - scene.site.lane.and(turns - 1);
        let leader = b.let_("leader", Scalar::I32, leader);
        let below = b.let_("below", Scalar::U32, (one() << leader) - one()).into();
        let mut zero = |name| b.let_(name, Scalar::I32, 0);
        let (row, refinement) = (zero("row"), [zero("first_refinement"), zero("later_refinement")]);
        let (low, size, taken) = (zero("low"), zero("size"), zero("taken"));
        // No coder has a word yet.
        let place = b.let_("place", Scalar::I32, scene.site.block.limit);
        Engine {
            way,
            tables,
            words,
            row,
            refinement,
            signs,
            table,
            turns: turns.into(),
            group,
            leader: leader.into(),
            below,
            low,
            size,
            place,
            taken,
        }
    }

    /// Begins a plane, `depth` planes below the highest.
    pub fn plane(&self, b: &mut Builder, scene: &Scene, depth: Expr) {
        let from = self.table + depth.min(DEPTHS as i32 - 1) * CONTEXTS as i32;
        let from = b.let_("from", Scalar::I32, from);
        let mut load = |to: LocalId, at: Expr| {
            let p = b.load_new("p", Scalar::I16, self.tables, from + at);
            b.set(to, p.cast(Scalar::I32));
        };
        load(self.row, scene.site.lane);
        for (to, context) in self.refinement.into_iter().zip(Context::refinement(true).index() as i32..) {
            load(to, context.into());
        }
    }

    /// Probability of 0 in each lane's context, which is not one of refinement.
    pub fn probability(&self, b: &mut Builder, context: Expr) -> Expr {
        b.shuffle("p", Scalar::I32, self.row, Lane::Index(context)).into()
    }

    /// Probability of 0 of a refinement, by whether it is the coefficient's first.
    pub fn refinement(&self, is_first: Expr) -> Expr {
        is_first.select(self.refinement[0], self.refinement[1])
    }

    /// Probability that the predicted sign of a step is right, and whether that sign is negative, by the flags of the
    /// rows above, at and below.
    pub fn sign(&self, b: &mut Builder, rows: [Expr; 3], side: i32) -> (Expr, Expr) {
        let entry = b.load_new("entry", Scalar::I16, self.signs, flags::surrounding(rows, side));
        let entry = b.let_("context", Scalar::I32, entry.cast(Scalar::I32));
        let p = self.probability(b, entry.into());
        (p, entry.and(PREDICTED).ne_(0))
    }

    /// Codes a symbol of each lane in `wants`, where `p` is its probability of 0. Returns whether it is 1. Encoders
    /// write `symbol`; decoders ignore it.
    pub fn code(&self, b: &mut Builder, scene: &Scene, wants: Expr, p: Expr, symbol: Expr) -> Expr {
        let p = b.let_("likely", Scalar::I32, wants.select(p, CERTAIN));
        let known = match self.way {
            Coding::Encode => symbol.and(wants),
            Coding::Decode => Expr::Lit(Literal::Bool(false)),
        };
        let ones = b.let_("ones", Scalar::Bool, known);
        let turns = self.turns;
        b.if_else(
            turns.eq_(1),
            |b| {
                let found = self.step(b, scene, (wants, None), p.into(), ones.into());
                b.set(ones, found);
            },
            |b| {
                let slow = b.let_("slow", Scalar::U32, one());
                match self.way {
                    Coding::Encode => {
                        b.push(Stmt::Ballot { dst: Place::Local(slow), cond: ones.into() });
                        b.if_(!is_any(slow), |b| self.zeros(b, (wants, p), slow));
                    }
                    Coding::Decode => self.zeros(b, (wants, p), slow),
                }
                b.if_(is_any(slow), |b| self.turns(b, scene, wants, p, ones));
            },
        );
        ones.into()
    }

    /// Fast path for shared coders: codes the lanes' symbols if all are 0 and exhaust no coder, the usual case.
    /// Otherwise nothing changes and `slow` is set.
    fn zeros(&self, b: &mut Builder, (wants, p): (Expr, LocalId), slow: LocalId) {
        let size = b.let_("left", Scalar::I32, self.size);
        let of = |turn: Expr| Lane::Index(self.leader + turn);
        let now = b.shuffle("now", Scalar::I32, p, of(0.into()));
        b.for_("turn", 1, self.turns + 1, 1, |b, turn| {
            // Prefetches the next turn's probability.
            let next = b.shuffle("next", Scalar::I32, p, of(turn));
            b.set(size, (size * now) >> PROBABILITY_BITS);
            b.set(now, next);
        });
        // The size only shrinks, so a fit at the end implies a fit before.
        let fails = size.eq_(0);
        let fails = match self.way {
            Coding::Encode => fails,
            Coding::Decode => fails.or(self.low.gt(size)),
        };
        b.push(Stmt::Ballot { dst: Place::Local(slow), cond: wants.and(fails) });
        b.if_(!is_any(slow), |b| b.set(self.size, size));
    }

    /// Codes the symbols of lanes that share coders. All lanes of a coder execute the symbol of the lane whose turn it
    /// is.
    fn turns(&self, b: &mut Builder, scene: &Scene, wants: Expr, p: LocalId, ones: LocalId) {
        let symbols = p.or(ones.select(2 * CERTAIN, 0));
        let symbols = b.let_("symbols", Scalar::I32, symbols);
        let waiting = b.ballot("waiting", wants);
        for half in [16, 8, 4, 2, 1] {
            let both = waiting.or(waiting >> half);
            let merged = self.turns.le(half).select(both, waiting);
            b.set(waiting, merged);
        }
        b.set(waiting, waiting.and(self.group));
        b.while_(is_any(waiting), |b| {
            let first = waiting.and(Expr::int(0, Scalar::U32) - waiting);
            let turn = Expr::from(31) - first.leading_zeros().cast(Scalar::I32);
            let of = b.let_("of", Scalar::I32, self.leader + turn);
            b.set(waiting, waiting.and(waiting - one()));
            let symbol = b.shuffle("symbol", Scalar::I32, symbols, Lane::Index(of.into()));
            let p = b.let_("p", Scalar::I32, symbol.and(2 * CERTAIN - 1));
            let is_one = symbol.ge(2 * CERTAIN);
            let wants = p.lt(CERTAIN);
            let found = self.step(b, scene, (wants, Some(self.leads(scene))), p.into(), is_one);
            if self.way == Coding::Decode {
                let mine = scene.site.lane.eq_(of);
                b.set(ones, mine.select(found, ones));
            }
        });
    }

    /// Codes a symbol of each coder in `wants`, and returns whether it is 1. One lane leads those that share a coder.
    fn step(&self, b: &mut Builder, scene: &Scene, (wants, leads): (Expr, Option<Expr>), p: Expr, one: Expr) -> Expr {
        let Engine { low, size, place, taken, .. } = *self;
        let exhausted = b.let_("exhausted", Scalar::Bool, wants.and(size.eq_(0)));
        let begins = leads.iter().cloned().fold(exhausted.into(), Expr::and);
        let beginning = b.ballot("beginning", begins);
        b.if_(is_any(beginning), |b| {
            let count = |bits: Expr| bits.count_ones().cast(Scalar::I32);
            let rank = count(beginning.and(self.below));
            let next = b.let_("next", Scalar::I32, taken + rank);
            let replace = |b: &mut Builder, id: LocalId, value: Expr| {
                b.set(id, exhausted.select(value, id));
            };
            let there = |place: LocalId| place.lt(scene.site.block.limit);
            match self.way {
                Coding::Encode => {
                    // The previous word is complete.
                    b.if_(begins.and(there(place)), |b| self.store_word(b, scene, place.into(), low.into()));
                    replace(b, place, next.into());
                    replace(b, low, 0.into());
                }
                Coding::Decode => b.if_(exhausted.and(there(next)), |b| {
                    let word = self.load_word(b, scene, next.into());
                    b.set(low, word);
                }),
            }
            replace(b, size, WHOLE.into());
            b.set(taken, taken + count(beginning.into()));
        });
        let zero = b.let_("zero", Scalar::I32, (size * p) >> PROBABILITY_BITS);
        let one = match self.way {
            Coding::Encode => one,
            Coding::Decode => Expr::from(b.let_("one", Scalar::Bool, low.gt(zero))),
        };
        let above = match self.way {
            Coding::Encode => low + zero + 1,
            Coding::Decode => low - zero - 1,
        };
        b.set(low, one.select(above, low));
        let upper = size - zero - 1;
        b.set(size, one.select(upper, zero));
        one
    }

    /// Stores complete words of an encoder, after all symbols.
    pub fn flush(&self, b: &mut Builder, scene: &Scene) {
        let complete = self.leads(scene).and(self.size.eq_(0));
        b.if_(complete.and(self.place.lt(scene.site.block.limit)), |b| {
            self.store_word(b, scene, self.place.into(), self.low.into());
        });
    }

    fn leads(&self, scene: &Scene) -> Expr {
        scene.site.lane.eq_(self.leader)
    }

    /// Whether a lane is its coder's first and the coder has an open word.
    pub fn is_open(&self, scene: &Scene) -> Expr {
        self.leads(scene).and(self.size.ne_(0))
    }

    /// Bits that an open word can still carry, ⌊log2(S + 1)⌋; 0 without an open word.
    pub fn room(&self, scene: &Scene) -> Expr {
        let room = Expr::from(31) - (self.size + 1).leading_zeros();
        self.is_open(scene).select(room, 0)
    }

    /// Loads a word of the block from the decoder's bytes.
    pub fn load_word(&self, b: &mut Builder, scene: &Scene, at: Expr) -> Expr {
        let at = b.let_("first_byte", Scalar::I32, scene.site.block.first + at * 2);
        let [low, high] = [0, 1].map(|i| {
            let byte = b.load_new("loaded", Scalar::U8, self.words, at + i);
            byte.cast(Scalar::I32)
        });
        b.let_("whole", Scalar::I32, low.or(high << 8)).into()
    }

    /// Stores a word of the block.
    pub fn store_word(&self, b: &mut Builder, scene: &Scene, at: Expr, word: Expr) {
        b.store(self.words, scene.site.block.first + at, word.cast(Scalar::I16));
    }
}

/// Cells for the bits that open words can carry: fewer than 16 each.
pub const ROOM_BITS: u32 = 16 * LANES as u32;

/// Context of a sign, with [`PREDICTED`] if the prediction is negative, by its neighbourhood ([`flags::surrounding`]).
/// Matches `Context::sign`.
fn surrounding(b: &mut Builder, around: Expr, horizontal: Expr) -> Expr {
    let sign = |at: i32| flags::sign(around, at);
    let vertical = b.let_("vertical", Scalar::I32, sign(1) + sign(3));
    let beside = b.let_("beside", Scalar::I32, sign(0) + sign(2));
    let either = |x: LocalId, y: LocalId| horizontal.select(x, y);
    let along = b.let_("along", Scalar::I32, either(beside, vertical));
    let across = b.let_("across", Scalar::I32, either(vertical, beside));
    let none = |e: Expr| e.eq_(0);
    let differ = Expr::binary(BinOp::Xor, along.into(), across.into()).lt(0);
    let alone = none(across.into()).select(4, 1);
    let both = none(across.into()).select(2, differ.select(3, 0));
    let kind = none(along.into()).select(alone, both);
    let predicted = along.lt(0).or(none(along.into()).and(across.lt(0)));
    let (first, _) = Context::sign(1, 1);
    kind + first.index() as i32 + predicted.select(PREDICTED, 0)
}
