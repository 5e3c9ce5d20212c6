//! Symbol counts of a block, without a sequential scan.
//!
//! An encoder knows which coefficients are significant at the start and at the end of a pass. A step sees some
//! neighbours as the pass leaves them: the row above and, for right columns, the left columns of its own row. It sees
//! the others as the pass found them. So all contexts of a plane are known at once. Rows are sets of columns, and
//! bitwise adders count contexts, as on the processor ([`lanes`](crate::block::lanes)).

use super::*;

/// Sets of a row's left and right columns, with a bit for each lane.
type Row = [Expr; 2];

/// The two rows of a lane.
type Rows = [Row; 2];

const NONE: i64 = 0;
const ALL: i64 = u32::MAX as i64;

fn word(v: i64) -> Expr {
    Expr::int(v, Scalar::U32)
}

fn xor(a: Expr, c: Expr) -> Expr {
    Expr::binary(BinOp::Xor, a, c)
}

fn and(a: Expr, c: Expr) -> Expr {
    a.and(c)
}

fn or(a: Expr, c: Expr) -> Expr {
    a.or(c)
}

fn without(a: Expr, c: Expr) -> Expr {
    a.and(xor(c, word(ALL)))
}

fn set(b: &mut Builder, name: &str, value: Expr) -> Expr {
    b.let_(name, Scalar::U32, value).into()
}

fn rows(b: &mut Builder, name: &str, of: impl Fn(usize, usize) -> Expr) -> Rows {
    [0, 1].map(|row| [0, 1].map(|side| set(b, name, of(row, side))))
}

/// Mutable sets.
fn variables(b: &mut Builder, name: &str) -> [[LocalId; 2]; 2] {
    [0, 1].map(|_| [0, 1].map(|_| b.let_(name, Scalar::U32, word(NONE))))
}

fn values(ids: [[LocalId; 2]; 2]) -> Rows {
    ids.map(|row| row.map(Expr::from))
}

fn assign(b: &mut Builder, ids: [[LocalId; 2]; 2], rows: &Rows) {
    for (id, value) in ids.as_flattened().iter().zip(rows.as_flattened()) {
        b.set(Place::Local(*id), *value);
    }
}

/// Sum of three one-bit numbers per column.
fn add(b: &mut Builder, x: Expr, y: Expr, z: Expr) -> [Expr; 2] {
    let ones = set(b, "ones", xor(xor(x, y), z));
    let twos = set(b, "twos", or(and(x, y), and(z, xor(x, y))));
    [ones, twos]
}

/// Neighbourhood of a step: its row, the rows above and below, and their negative coefficients.
struct Around {
    side: usize,
    above: [Row; 2],
    beside: [Expr; 2],
    below: [Row; 2],
}

impl Around {
    /// The neighbouring columns of the other side that belong to the adjacent lane.
    fn far(&self, other: Expr) -> Expr {
        if self.side == 0 { other << 1 } else { other >> 1 }
    }

    /// φ of eq. 3.1, as binary digits.
    fn neighbours(&self, b: &mut Builder) -> [Expr; 4] {
        let (own, other) = (self.side, 1 - self.side);
        let ([above, _], [below, _]) = (&self.above, &self.below);
        let [one, two] = add(b, above[other], self.beside[0], below[other]);
        let [ones, carry] = add(b, one, self.far(one), above[own]);
        let more = set(b, "more", and(ones, below[own]));
        let ones = set(b, "ones", xor(ones, below[own]));
        let [twos, fours] = add(b, two, self.far(two), carry);
        let again = set(b, "again", and(twos, more));
        [ones, xor(twos, more), xor(fours, again), and(fours, again)].map(|digit| set(b, "digit", digit))
    }

    /// Whether there is a significant neighbour.
    fn any(&self) -> Expr {
        let (own, other) = (self.side, 1 - self.side);
        let ([above, _], [below, _]) = (&self.above, &self.below);
        let one = or(or(above[other], self.beside[0]), below[other]);
        or(or(one, self.far(one)), or(above[own], below[own]))
    }

    /// Columns of each sign context, and those with a negative prediction.
    fn signs(&self, b: &mut Builder, horizontal: Expr) -> ([Expr; 5], Expr) {
        let own = self.side;
        let mut both = |[x, y]: [Expr; 2], [minus_x, minus_y]: [Expr; 2]| {
            let plus = set(b, "plus", or(without(x, minus_x), without(y, minus_y)));
            let minus = set(b, "minus", or(and(x, minus_x), and(y, minus_y)));
            [set(b, "positive", without(plus, minus)), set(b, "negative", without(minus, plus))]
        };
        let of = |part: usize| [self.above[part][own], self.below[part][own]];
        let vertical = both(of(0), of(1));
        let of = |part: usize| [self.beside[part], self.far(self.beside[part])];
        let beside = both(of(0), of(1));
        let mut either = |x: &[Expr; 2], y: &[Expr; 2]| [0, 1].map(|i| set(b, "either", horizontal.select(x[i], y[i])));
        let (along, across) = (either(&beside, &vertical), either(&vertical, &beside));
        let has_along = set(b, "has_along", or(along[0], along[1]));
        let has_across = set(b, "has_across", or(across[0], across[1]));
        let differ = set(b, "differ", or(and(along[0], across[1]), and(along[1], across[0])));
        let contexts = [
            without(and(has_along, has_across), differ),
            without(has_across, has_along),
            without(has_along, has_across),
            differ,
            xor(or(has_along, has_across), word(ALL)),
        ];
        let predicted = or(along[1], without(across[1], has_along));
        (contexts, set(b, "predicted", predicted))
    }
}

/// Coefficients of a block, as sets, and the counts of its symbols.
pub struct Count<'a> {
    site: &'a Site,
    order: Order,
    /// Bitplanes, by plane, row and side.
    planes: LocalId,
    /// Columns within the block.
    valid: Rows,
    negative: Rows,
    negative_above: Row,
    negative_below: Row,
    /// Counts of each lane's rows, by context: 1 for each symbol, and another 2¹⁶ for each that is 1.
    pub counts: LocalId,
}

impl Count<'_> {
    /// Loads a block of the given number of planes.
    pub fn new<'a>(b: &mut Builder, site: &'a Site, order: Order, planes: Expr) -> Count<'a> {
        let sets = b.array("sets", Scalar::U32, 4 * MOST_PLANES);
        b.for_("i", 0, planes * 4, 1, |b, i| b.set(Place::Elem(sets, i), word(NONE)));
        let counts = b.array("counts", Scalar::I32, CONTEXTS as u32);
        b.for_("i", 0, CONTEXTS as i32, 1, |b, i| b.set(Place::Elem(counts, i), 0));
        let columns = site.valid.each_ref().map(|valid| b.ballot("columns", *valid));
        let height = site.block.height;
        let there = [0, 1].map(|row| (site.lane * 2 + row).lt(height));
        let valid = rows(b, "valid", |row, side| there[row].select(columns[side], word(NONE)));
        let negative = variables(b, "minus");
        b.for_("first", 0, height, AT_ONCE, |b, first| {
            let loaded = site.rows::<{ AT_ONCE as usize }>(b, first);
            for (i, pair) in (0..).zip(loaded.as_chunks::<2>().0) {
                let mine = site.lane.eq_((first >> 1) + i);
                let mine = b.let_("mine", Scalar::Bool, mine);
                let mut magnitudes = Vec::new();
                for (id, c) in negative.as_flattened().iter().zip(pair.as_flattened()) {
                    let all = b.ballot("all", (*c).lt(0));
                    b.set(Place::Local(*id), mine.select(all, *id));
                    magnitudes.push(b.let_("magnitude", Scalar::I32, magnitude(*c)));
                }
                b.for_("plane", 0, planes, 1, |b, plane| {
                    let bit = b.let_("bit", Scalar::I32, Expr::from(1) << plane);
                    let all = magnitudes.iter().map(|m| b.ballot("all", (*m).and(bit).ne_(0)));
                    let all: Vec<LocalId> = all.collect();
                    b.if_(mine, |b| {
                        for (at, all) in (0..).zip(all) {
                            b.set(Place::Elem(sets, plane * 4 + at), all);
                        }
                    });
                });
            }
        });
        let negative = values(negative);
        let negative_above = Count::above(b, site, &negative[1]);
        let negative_below = Count::below(b, site, &negative[0]);
        Count { site, order, planes: sets, valid, negative, negative_above, negative_below, counts }
    }

    /// Row above a lane's first, from the last rows of all lanes.
    fn above(b: &mut Builder, site: &Site, last: &Row) -> Row {
        Count::beyond(b, "above", last, Lane::Up(1), site.lane.gt(0))
    }

    /// Row below a lane's last, from the first rows of all lanes.
    fn below(b: &mut Builder, site: &Site, first: &Row) -> Row {
        Count::beyond(b, "below", first, Lane::Down(1), site.lane.lt(LANES - 1))
    }

    /// Row of another lane, empty if that lane does not exist.
    fn beyond(b: &mut Builder, name: &str, rows: &Row, lane: Lane, there: Expr) -> Row {
        rows.each_ref().map(|row| {
            let other = b.shuffle("other", Scalar::U32, *row, lane);
            set(b, name, there.select(other, word(NONE)))
        })
    }

    /// Neighbourhood of a step, from the adjacent lanes' rows and the significance at the start and the end of the
    /// pass.
    fn around(&self, (row, side): (usize, usize), [above, below]: [&Row; 2], before: &Rows, after: &Rows) -> Around {
        let (over, minus_over) = if row == 0 { (above, &self.negative_above) } else { (&after[0], &self.negative[0]) };
        let (under, minus_under) =
            if row == 0 { (&before[1], &self.negative[1]) } else { (below, &self.negative_below) };
        let beside = if side == 0 { &before[row][1] } else { &after[row][0] };
        Around {
            side,
            above: [*over, *minus_over],
            beside: [*beside, self.negative[row][1 - side]],
            below: [*under, *minus_under],
        }
    }

    /// Counts symbols of contexts from `first` on: the columns of each context, and those whose symbol is 1.
    fn count<const N: usize>(&self, b: &mut Builder, first: usize, columns: [Vec<Expr>; N], ones: &[Expr]) {
        for (context, columns) in (first as i32..).zip(columns) {
            let number = |set: Expr| set.count_ones().cast(Scalar::I32);
            let all = columns.iter().map(|c| number(*c)).reduce(|x, y| x + y);
            let one = columns.iter().zip(ones).map(|(c, ones)| number(and(*c, *ones))).reduce(|x, y| x + y);
            let Some((all, one)) = all.zip(one) else { continue };
            b.set(Place::Elem(self.counts, context.into()), self.counts.at(context) + all + (one << 16));
        }
    }

    /// Whether a plane codes its signs and refinements, rather than leaving them to the tail.
    fn has_all(&self, plane: Expr) -> Expr {
        plane.ge(tail_planes(self.order))
    }

    /// Counts a pass over significance whose contexts begin with `first`. The arguments are significance before and
    /// after it, the coefficients it codes, and the plane's bits.
    fn pass(&self, b: &mut Builder, first: usize, [before, after, takes, bits]: [&Rows; 4], plane: Expr) {
        let (above, below) = (Count::above(b, self.site, &after[1]), Count::below(b, self.site, &before[0]));
        let places = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let arounds = places.map(|place| self.around(place, [&above, &below], before, after));
        let mut columns: [Vec<Expr>; 9] = Default::default();
        for ((row, side), around) in places.into_iter().zip(&arounds) {
            let [ones, twos, fours, eight] = around.neighbours(b);
            let takes = &takes[row][side];
            let few = set(b, "few", without(without(*takes, fours), eight));
            let many = set(b, "many", and(*takes, fours));
            for (of, some) in [few, many].iter().enumerate() {
                let parts = [
                    without(without(*some, twos), ones),
                    without(and(*some, ones), twos),
                    without(and(*some, twos), ones),
                    and(and(*some, twos), ones),
                ];
                for (at, part) in parts.into_iter().enumerate() {
                    columns[4 * of + at].push(set(b, "columns", part));
                }
            }
            columns[8].push(set(b, "columns", and(*takes, eight)));
        }
        self.count(b, first, columns, bits.as_flattened());
        b.if_(self.has_all(plane), |b| {
            let (mut columns, mut symbols): ([Vec<Expr>; 5], _) = (Default::default(), Vec::new());
            for ((row, side), around) in places.into_iter().zip(&arounds) {
                let found = set(b, "found", and(takes[row][side], bits[row][side]));
                let (contexts, predicted) = around.signs(b, self.site.block.horizontal);
                symbols.push(set(b, "symbols", xor(self.negative[row][side], predicted)));
                for (columns, context) in columns.iter_mut().zip(contexts) {
                    columns.push(set(b, "columns", and(found, context)));
                }
            }
            self.count(b, Context::sign(1, 1).0.index(), columns, &symbols);
        });
    }

    /// Coefficients that propagation visits, and those that it finds significant. Each step depends on earlier
    /// findings, so the sweeps repeat until they find nothing more.
    fn propagated(&self, b: &mut Builder, before: &Rows, takes: &Rows, bits: &Rows) -> [Rows; 2] {
        let (visited, found) = (variables(b, "visited"), variables(b, "found"));
        let below = Count::below(b, self.site, &before[0]);
        let more = b.let_("more", Scalar::U32, word(1));
        b.while_(more.ne_(word(NONE)), |b| {
            let last = [0, 1].map(|side| or(before[1][side], found[1][side].into()));
            let above = Count::above(b, self.site, &last);
            let grows = b.let_("grows", Scalar::Bool, Expr::Lit(Literal::Bool(false)));
            for (row, side) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let after = [0, 1].map(|row| [0, 1].map(|side| or(before[row][side], found[row][side].into())));
                let any = self.around((row, side), [&above, &below], before, &after).any();
                let now = set(b, "now", and(takes[row][side], any));
                let ones = set(b, "ones", and(now, bits[row][side]));
                let differs = ones.ne_(found[row][side]);
                b.set(grows, grows.or(differs));
                b.set(Place::Local(visited[row][side]), now);
                b.set(Place::Local(found[row][side]), ones);
            }
            b.push(Stmt::Ballot { dst: Place::Local(more), cond: grows.into() });
        });
        [values(visited), values(found)]
    }

    /// Counts the symbols of all planes, and returns the number of bits of the tail. `done` runs after each plane, with
    /// the plane and its depth below the highest.
    pub fn all(&self, b: &mut Builder, planes: Expr, done: impl FnOnce(&mut Builder, Expr, Expr)) -> Expr {
        // Significant before the current plane, and before the one above it.
        let (significant, older) = (variables(b, "significant"), variables(b, "older"));
        let tail = b.let_("bits_of_tail", Scalar::I32, 0);
        b.for_("depth", 0, planes, 1, |b, depth| {
            let plane = b.let_("plane", Scalar::I32, planes - 1 - depth);
            let bits = rows(b, "bits", |row, side| self.planes.at(plane * 4 + (2 * row + side) as i32));
            let before = values(significant);
            let after = rows(b, "after", |row, side| or(before[row][side], bits[row][side]));
            let takes = rows(b, "takes", |row, side| without(self.valid[row][side], before[row][side]));
            let once = |b: &mut Builder| {
                let first = Context::significance(0).index();
                self.pass(b, first, [&before, &after, &takes, &bits], plane.into());
            };
            let twice = |b: &mut Builder| {
                let [visited, found] = self.propagated(b, &before, &takes, &bits);
                let between = rows(b, "between", |row, side| or(before[row][side], found[row][side]));
                let first = Context::propagation(0).index();
                self.pass(b, first, [&before, &between, &visited, &bits], plane.into());
                let left = rows(b, "left", |row, side| without(takes[row][side], visited[row][side]));
                self.pass(b, Context::cleanup(0).index(), [&between, &after, &left, &bits], plane.into());
            };
            match self.order {
                Order { passes: Passes::Two, .. } => once(b),
                Order { passes: Passes::Three, fast: 0 } => twice(b),
                Order { passes: Passes::Three, .. } => b.if_else(self.has_all(plane.into()), twice, once),
            }
            b.if_(self.has_all(plane.into()), |b| {
                let columns = [false, true].map(|is_later| {
                    let pairs = before.as_flattened().iter().zip(older.as_flattened());
                    let of = |(before, older): (&Expr, &LocalId)| match is_later {
                        false => without(*before, (*older).into()),
                        true => (*older).into(),
                    };
                    pairs.map(of).collect::<Vec<Expr>>()
                });
                self.count(b, Context::refinement(true).index(), columns, bits.as_flattened());
            });
            b.if_(!self.has_all(plane.into()), |b| {
                let sum = after.as_flattened().iter().map(|set| (*set).count_ones().cast(Scalar::I32));
                let sum = sum.fold(Expr::from(tail), |x, y| x + y);
                b.set(tail, sum);
            });
            assign(b, older, &before);
            assign(b, significant, &after);
            done(b, plane.into(), depth);
        });
        sums(b, self.site.lane, "sum", tail.into()).1
    }
}
