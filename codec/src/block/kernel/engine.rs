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
pub enum Way {
    Encode,
    Decode,
}

/// Coder state, in variables of each lane except `taken`. Lanes that share a coder have equal values.
pub struct Engine {
    way: Way,
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
    let at = Expr::from(Builtin::BlockX) * 2;
    ["class", "sharing"].map(|name| {
        let at = at.clone() + i32::from(name == "sharing");
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
        way: Way,
        scene: &Scene,
        [class, sharing]: [Expr; 2],
        (tables, words): (Space, Space),
    ) -> Engine {
        let signs = Space::Shared(b.shared("signs", Scalar::I16, SURROUNDINGS as u32));
        b.for_("around", scene.site.lane.clone(), SURROUNDINGS, LANES, |b, around| {
            let entry = surrounding(b, &around, &scene.site.block.horizontal);
            b.store(signs, around, entry.cast(Scalar::I16));
        });
        b.push(Stmt::SyncWarp);
        let table = b.let_("table", Scalar::I32, class * (DEPTHS * CONTEXTS) as i32).into();
        let turns = Expr::from(b.let_("turns", Scalar::I32, Expr::from(1) << sharing.min(MOST_SHARING.into())));
        let group = Expr::int(u32::MAX.into(), Scalar::U32) >> (Expr::from(LANES) - turns.clone());
        let group = b.let_("group", Scalar::U32, group).into();
        let leader = scene.site.lane.clone() - scene.site.lane.clone().and(turns.clone() - 1);
        let leader = Expr::from(b.let_("leader", Scalar::I32, leader));
        let below = b.let_("below", Scalar::U32, (one() << leader.clone()) - one()).into();
        let mut zero = |name| b.let_(name, Scalar::I32, 0);
        let (row, refinement) = (zero("row"), [zero("first_refinement"), zero("later_refinement")]);
        let (low, size, taken) = (zero("low"), zero("size"), zero("taken"));
        // No coder has a word yet.
        let place = b.let_("place", Scalar::I32, scene.site.block.limit.clone());
        Engine {
            way,
            tables,
            words,
            row,
            refinement,
            signs,
            table,
            turns,
            group,
            leader,
            below,
            low,
            size,
            place,
            taken,
        }
    }

    /// Begins a plane, `depth` planes below the highest.
    pub fn plane(&self, b: &mut Builder, scene: &Scene, depth: &Expr) {
        let from = self.table.clone() + depth.clone().min((DEPTHS as i32 - 1).into()) * CONTEXTS as i32;
        let from = Expr::from(b.let_("from", Scalar::I32, from));
        let mut load = |to: LocalId, at: Expr| {
            let p = b.load_new("p", Scalar::I16, self.tables, from.clone() + at);
            b.set(Place::Local(to), Expr::from(p).cast(Scalar::I32));
        };
        load(self.row, scene.site.lane.clone());
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
        is_first.select(self.refinement[0].into(), self.refinement[1].into())
    }

    /// Probability that the predicted sign of a step is right, and whether that sign is negative, by the flags of the
    /// rows above, at and below.
    pub fn sign(&self, b: &mut Builder, rows: [&Expr; 3], side: i32) -> (Expr, Expr) {
        let entry = b.load_new("entry", Scalar::I16, self.signs, flags::surrounding(rows, side));
        let entry = Expr::from(b.let_("context", Scalar::I32, Expr::from(entry).cast(Scalar::I32)));
        let p = self.probability(b, entry.clone());
        (p, entry.and(PREDICTED.into()).ne_(0.into()))
    }

    /// Codes a symbol of each lane in `wants`, where `p` is its probability of 0. Returns whether it is 1. Encoders
    /// write `symbol`; decoders ignore it.
    pub fn code(&self, b: &mut Builder, scene: &Scene, wants: Expr, p: Expr, symbol: Expr) -> Expr {
        let p = b.let_("likely", Scalar::I32, wants.clone().select(p, CERTAIN.into()));
        let known = match self.way {
            Way::Encode => symbol.and(wants.clone()),
            Way::Decode => Expr::Lit(Literal::Bool(false)),
        };
        let ones = b.let_("ones", Scalar::Bool, known);
        let turns = || self.turns.clone();
        b.if_else(
            turns().eq_(1.into()),
            |b| {
                let found = self.step(b, scene, (wants.clone(), None), p.into(), ones.into());
                b.set(Place::Local(ones), found);
            },
            |b| {
                let slow = b.let_("slow", Scalar::U32, one());
                match self.way {
                    Way::Encode => {
                        b.push(Stmt::Ballot { dst: Place::Local(slow), cond: ones.into() });
                        b.if_(!is_any(slow), |b| self.zeros(b, (&wants, p), slow));
                    }
                    Way::Decode => self.zeros(b, (&wants, p), slow),
                }
                b.if_(is_any(slow), |b| self.turns(b, scene, wants.clone(), p, ones));
            },
        );
        ones.into()
    }

    /// Fast path for shared coders: codes the lanes' symbols if all are 0 and exhaust no coder, the usual case.
    /// Otherwise nothing changes and `slow` is set.
    fn zeros(&self, b: &mut Builder, (wants, p): (&Expr, LocalId), slow: LocalId) {
        let size = b.let_("left", Scalar::I32, self.size);
        let of = |turn: Expr| Lane::Index(self.leader.clone() + turn);
        let now = b.shuffle("now", Scalar::I32, p, of(0.into()));
        b.for_("turn", 1, self.turns.clone() + 1, 1, |b, turn| {
            // Prefetches the next turn's probability.
            let next = b.shuffle("next", Scalar::I32, p, of(turn));
            b.set(Place::Local(size), (Expr::from(size) * now) >> PROBABILITY_BITS);
            b.set(Place::Local(now), next);
        });
        // The size only shrinks, so a fit at the end implies a fit before.
        let fails = Expr::from(size).eq_(0.into());
        let fails = match self.way {
            Way::Encode => fails,
            Way::Decode => fails.or(Expr::from(self.low).gt(size.into())),
        };
        b.push(Stmt::Ballot { dst: Place::Local(slow), cond: wants.clone().and(fails) });
        b.if_(!is_any(slow), |b| b.set(Place::Local(self.size), size));
    }

    /// Codes the symbols of lanes that share coders. All lanes of a coder execute the symbol of the lane whose turn it
    /// is.
    fn turns(&self, b: &mut Builder, scene: &Scene, wants: Expr, p: LocalId, ones: LocalId) {
        let symbols = Expr::from(p).or(Expr::from(ones).select((2 * CERTAIN).into(), 0.into()));
        let symbols = b.let_("symbols", Scalar::I32, symbols);
        let waiting = b.ballot("waiting", wants);
        for half in [16, 8, 4, 2, 1] {
            let both = Expr::from(waiting).or(Expr::from(waiting) >> half);
            let merged = self.turns.clone().le(half.into()).select(both, waiting.into());
            b.set(Place::Local(waiting), merged);
        }
        b.set(Place::Local(waiting), Expr::from(waiting).and(self.group.clone()));
        b.while_(is_any(waiting), |b| {
            let first = Expr::from(waiting).and(Expr::int(0, Scalar::U32) - Expr::from(waiting));
            let turn = Expr::from(31) - first.leading_zeros().cast(Scalar::I32);
            let of = Expr::from(b.let_("of", Scalar::I32, self.leader.clone() + turn));
            b.set(Place::Local(waiting), Expr::from(waiting).and(Expr::from(waiting) - one()));
            let symbol = Expr::from(b.shuffle("symbol", Scalar::I32, symbols, Lane::Index(of.clone())));
            let p = Expr::from(b.let_("p", Scalar::I32, symbol.clone().and((2 * CERTAIN - 1).into())));
            let is_one = symbol.ge((2 * CERTAIN).into());
            let wants = p.clone().lt(CERTAIN.into());
            let found = self.step(b, scene, (wants, Some(self.leads(scene))), p, is_one);
            if self.way == Way::Decode {
                let mine = scene.site.lane.clone().eq_(of);
                b.set(Place::Local(ones), mine.select(found, ones.into()));
            }
        });
    }

    /// Codes a symbol of each coder in `wants`, and returns whether it is 1. One lane leads those that share a coder.
    fn step(&self, b: &mut Builder, scene: &Scene, (wants, leads): (Expr, Option<Expr>), p: Expr, one: Expr) -> Expr {
        let Engine { low, size, place, taken, .. } = *self;
        let exhausted = b.let_("exhausted", Scalar::Bool, wants.and(Expr::from(size).eq_(0.into())));
        let begins = leads.iter().cloned().fold(exhausted.into(), Expr::and);
        let beginning = b.ballot("beginning", begins.clone());
        b.if_(is_any(beginning), |b| {
            let count = |bits: Expr| bits.count_ones().cast(Scalar::I32);
            let rank = count(Expr::from(beginning).and(self.below.clone()));
            let next = b.let_("next", Scalar::I32, Expr::from(taken) + rank);
            let replace = |b: &mut Builder, id: LocalId, value: Expr| {
                b.set(Place::Local(id), Expr::from(exhausted).select(value, id.into()));
            };
            let there = |place: LocalId| Expr::from(place).lt(scene.site.block.limit.clone());
            match self.way {
                Way::Encode => {
                    // The previous word is complete.
                    b.if_(begins.and(there(place)), |b| self.store_word(b, scene, place.into(), low.into()));
                    replace(b, place, next.into());
                    replace(b, low, 0.into());
                }
                Way::Decode => b.if_(Expr::from(exhausted).and(there(next)), |b| {
                    let word = self.load_word(b, scene, next.into());
                    b.set(Place::Local(low), word);
                }),
            }
            replace(b, size, WHOLE.into());
            b.set(Place::Local(taken), Expr::from(taken) + count(beginning.into()));
        });
        let zero = Expr::from(b.let_("zero", Scalar::I32, (Expr::from(size) * p) >> PROBABILITY_BITS));
        let one = match self.way {
            Way::Encode => one,
            Way::Decode => Expr::from(b.let_("one", Scalar::Bool, Expr::from(low).gt(zero.clone()))),
        };
        let above = match self.way {
            Way::Encode => Expr::from(low) + zero.clone() + 1,
            Way::Decode => Expr::from(low) - zero.clone() - 1,
        };
        b.set(Place::Local(low), one.clone().select(above, low.into()));
        let upper = Expr::from(size) - zero.clone() - 1;
        b.set(Place::Local(size), one.clone().select(upper, zero));
        one
    }

    /// Stores complete words of an encoder, after all symbols.
    pub fn flush(&self, b: &mut Builder, scene: &Scene) {
        let complete = self.leads(scene).and(Expr::from(self.size).eq_(0.into()));
        b.if_(complete.and(Expr::from(self.place).lt(scene.site.block.limit.clone())), |b| {
            self.store_word(b, scene, self.place.into(), self.low.into());
        });
    }

    fn leads(&self, scene: &Scene) -> Expr {
        scene.site.lane.clone().eq_(self.leader.clone())
    }

    /// Whether a lane is its coder's first and the coder has an open word.
    pub fn is_open(&self, scene: &Scene) -> Expr {
        self.leads(scene).and(Expr::from(self.size).ne_(0.into()))
    }

    /// Bits that an open word can still carry, ⌊log2(S + 1)⌋; 0 without an open word.
    pub fn room(&self, scene: &Scene) -> Expr {
        let room = Expr::from(31) - (Expr::from(self.size) + 1).leading_zeros();
        self.is_open(scene).select(room, 0.into())
    }

    /// Loads a word of the block from the decoder's bytes.
    pub fn load_word(&self, b: &mut Builder, scene: &Scene, at: Expr) -> Expr {
        let at = Expr::from(b.let_("first_byte", Scalar::I32, scene.site.block.first.clone() + at * 2));
        let [low, high] = [0, 1].map(|i| {
            let byte = b.load_new("loaded", Scalar::U8, self.words, at.clone() + i);
            Expr::from(byte).cast(Scalar::I32)
        });
        b.let_("whole", Scalar::I32, low.or(high << 8)).into()
    }

    /// Stores a word of the block.
    pub fn store_word(&self, b: &mut Builder, scene: &Scene, at: Expr, word: Expr) {
        b.store(self.words, scene.site.block.first.clone() + at, word.cast(Scalar::I16));
    }
}

/// Cells for the bits that open words can carry: fewer than 16 each.
pub const ROOM_BITS: u32 = 16 * LANES as u32;

/// Context of a sign, with [`PREDICTED`] if the prediction is negative, by its neighbourhood ([`flags::surrounding`]).
/// Matches `Context::sign`.
fn surrounding(b: &mut Builder, around: &Expr, horizontal: &Expr) -> Expr {
    let sign = |at: i32| flags::sign(around, at);
    let vertical = b.let_("vertical", Scalar::I32, sign(1) + sign(3));
    let beside = b.let_("beside", Scalar::I32, sign(0) + sign(2));
    let either = |x: LocalId, y: LocalId| horizontal.clone().select(x.into(), y.into());
    let along = Expr::from(b.let_("along", Scalar::I32, either(beside, vertical)));
    let across = Expr::from(b.let_("across", Scalar::I32, either(vertical, beside)));
    let none = |e: &Expr| e.clone().eq_(0.into());
    let differ = Expr::binary(BinOp::Xor, along.clone(), across.clone()).lt(0.into());
    let alone = none(&across).select(4.into(), 1.into());
    let both = none(&across).select(2.into(), differ.select(3.into(), 0.into()));
    let kind = none(&along).select(alone, both);
    let predicted = along.clone().lt(0.into()).or(none(&along).and(across.lt(0.into())));
    let (first, _) = Context::sign(1, 1);
    kind + first.index() as i32 + predicted.select(PREDICTED.into(), 0.into())
}
