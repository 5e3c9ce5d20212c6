//! Quantisation kernels, a warp a codeblock, equivalent to [`crate::quantise`].

use super::{round, warps};
use crate::block::kernel::FIELDS;
use crate::quantise::{FIRST, LARGEST, NEXT, UNIT};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// Numbers for a block's position in its band: its first row and column, the band's rows and columns, and the index of
/// the band's quantiser. They are the same for all pictures.
pub const PLACE: usize = 5;

/// Lanes of a warp.
const LANES: i32 = 32;

fn real(v: f64) -> Expr {
    Expr::Lit(Literal::F64(v))
}

/// Block in both kernels.
struct Block {
    start: Expr,
    height: Expr,
    width: Expr,
    /// Position in the band: see [`PLACE`].
    place: [Expr; PLACE],
    stride: Expr,
    /// Index of the picture.
    picture: Expr,
    lane: Expr,
}

impl Block {
    /// Declares the parameters for blocks ([`Task`](crate::block::kernel::Task)) and places.
    fn arrays(b: &mut Builder) -> [Space; 2] {
        let blocks = Space::Global(b.pointer("blocks", Scalar::I32, Access::Read, "seven numbers for each block"));
        let places = Space::Global(b.pointer("places", Scalar::I32, Access::Read, "where blocks are in their bands"));
        [blocks, places]
    }

    /// Declares the last parameters: the stride of coefficients, the blocks of a picture, and the number of blocks in
    /// all.
    fn new(b: &mut Builder, [blocks, places]: [Space; 2]) -> Block {
        let stride = b.scalar("stride", Scalar::I32, "coefficients from one row to the next").into();
        let each = b.scalar("each", Scalar::I32, "blocks of a picture");
        b.scalar("count", Scalar::I32, "number of blocks");
        let lane = b.let_("lane", Scalar::I32, Builtin::Lane);
        let mut load = |name: &str, space: Space, at: Expr| b.load_new(name, Scalar::I32, space, at);
        let [start, height, width] = [("start", 0), ("height", 1), ("width", 2)]
            .map(|(name, field)| load(name, blocks, Builtin::BlockX * FIELDS as i32 + field));
        let names = ["first_row", "first_column", "rows", "columns", "quantiser"];
        let picture = Builtin::BlockX / each;
        let of_picture = Builtin::BlockX - picture * each;
        let place = std::array::from_fn(|i| load(names[i], places, of_picture * PLACE as i32 + i as i32).into());
        Block {
            start: start.into(),
            height: height.into(),
            width: width.into(),
            place,
            stride,
            picture,
            lane: lane.into(),
        }
    }

    fn at(&self, y: Expr, x: Expr) -> Expr {
        self.start + y * self.stride + x
    }

    /// Loops over all coefficients, a column a lane.
    fn for_each(&self, b: &mut Builder, body: impl FnOnce(&mut Builder, Expr, Expr)) {
        b.for_("y", 0, self.height, 1, |b, y| {
            b.for_("x", self.lane, self.width, LANES, |b, x| body(b, y, x));
        });
    }
}

fn single(v: f32) -> Expr {
    Expr::Lit(Literal::F32(v))
}

fn absolute(value: Expr) -> Expr {
    value.lt(single(0.0)).select(-value, value)
}

/// A neighbour's magnitude, limited to 2.
fn small(value: Expr) -> Expr {
    let size = absolute(value);
    size.lt(single(2.0)).select(size, single(2.0))
}

/// Rows of coefficients, two columns a lane. They extend beyond the block where the band does.
struct Rows<'a> {
    block: &'a Block,
    coefficients: Space,
    kind: Scalar,
    inverse: Expr,
}

/// A lane's two columns of a row.
struct Row {
    /// Coefficients in steps.
    values: [Expr; 2],
    /// For each column, the sum of limited magnitudes of its row's three columns.
    sums: [Expr; 2],
}

impl Rows<'_> {
    /// Loads a lane's two columns of a row and, for the first and the last lane, the next column outside; 0 outside the
    /// band.
    fn fetch(&self, b: &mut Builder, y: Expr) -> [Expr; 3] {
        let Block { lane, place: [first_row, first_column, rows, columns, _], .. } = self.block;
        let y = b.let_("row", Scalar::I32, y);
        let row = b.let_("row_of_band", Scalar::I32, *first_row + y);
        let is_row = b.let_("is_row", Scalar::Bool, row.ge(0).and(row.lt(*rows)));
        let zero = || if self.kind == Scalar::F32 { single(0.0) } else { 0.into() };
        let fetched = |b: &mut Builder, x: Expr, is_wanted: Expr| {
            let column = b.let_("column", Scalar::I32, *first_column + x);
            let is_column = column.ge(0).and(column.lt(*columns));
            let c = b.let_("c", self.kind, zero());
            b.if_(is_row.and(is_column).and(is_wanted), |b| {
                let at = self.block.at(y.into(), x);
                b.load(c, self.coefficients, at, 1, Cache::Default);
            });
            c
        };
        let [left, right] = [0, 1].map(|side| fetched(b, *lane * 2 + side, Expr::Lit(Literal::Bool(true))));
        let beyond = self.is_first().select(-1, 2 * LANES);
        let beyond = fetched(b, beyond, self.is_first().or(self.is_last()));
        [Expr::from(left), right.into(), Expr::from(beyond)]
    }

    fn is_first(&self) -> Expr {
        self.block.lane.eq_(0)
    }

    fn is_last(&self) -> Expr {
        self.block.lane.eq_(LANES - 1)
    }

    /// Computes a row from its loaded coefficients.
    fn row(&self, b: &mut Builder, fetched: [Expr; 3]) -> Row {
        let mut value = |c: Expr| b.let_("value", Scalar::F32, c.cast(Scalar::F32) * self.inverse).into();
        let [first, second, beyond]: [Expr; 3] = fetched.map(&mut value);
        let [left, right, beyond] = [&first, &second, &beyond].map(|value| b.let_("small", Scalar::F32, small(*value)));
        let before = b.shuffle("before", Scalar::F32, right, Lane::Up(1));
        let behind = b.shuffle("behind", Scalar::F32, left, Lane::Down(1));
        let before = self.is_first().select(beyond, before);
        let behind = self.is_last().select(beyond, behind);
        let sums = [before + left + right, left + right + behind];
        let sums = sums.map(|sum| b.let_("sum_of_row", Scalar::F32, sum).into());
        Row { values: [first, second], sums }
    }
}

/// Kernel from coefficients to indices. Integers with a step of 1 stay unchanged.
///
/// Parameters, in order:
/// - coefficients (`i32` or `f32`);
/// - the reciprocal of each quantiser's step (`f32`);
/// - indices (`i32`);
/// - sums of the excesses over the indices (`i32`, one per block, in units of 1/[`UNIT`] of a step);
/// - numbers of nonzero indices (`i32`);
/// - blocks;
/// - places ([`PLACE`] numbers for each block of a picture);
/// - the stride of coefficients;
/// - the blocks of a picture;
/// - the number of blocks.
pub fn quantiser(kind: Scalar) -> Kernel {
    let mut builder = Builder::new(format!("quantise_{}", kind.name()));
    let b = &mut builder;
    b.doc("Coefficients to indices, with a dead zone that depends on neighbours, a warp a codeblock.");
    let coefficients = Space::Global(b.pointer("coefficients", kind, Access::Read, "coefficients"));
    let inverses = Space::Global(b.pointer("inverses", Scalar::F32, Access::Read, "1 over quantiser steps"));
    let indices = Space::Global(b.pointer("indices", Scalar::I32, Access::Write, "indices of coefficients"));
    let sums = Space::Global(b.pointer("sums", Scalar::I32, Access::Write, "excess over indices, block by block"));
    let counts = Space::Global(b.pointer("counts", Scalar::I32, Access::Write, "nonzero indices, block by block"));
    let arrays = Block::arrays(b);
    let block = Block::new(b, arrays);
    let inverse = b.load_new("inverse", Scalar::F32, inverses, block.place[4]);
    let (sum, count) = (b.let_("sum", Scalar::I32, 0), b.let_("some", Scalar::I32, 0));
    let quantised = |b: &mut Builder| {
        let rows = Rows { block: &block, coefficients, kind, inverse: inverse.into() };
        // Each lane holds the threshold of index 1 for one sum of neighbours.
        let first = (0i32..)
            .zip(FIRST)
            .fold(single(FIRST[FIRST.len() - 1]), |others, (i, value)| block.lane.eq_(i).select(single(value), others));
        let first = b.let_("first", Scalar::F32, first);
        let [above, here] = [-1, 0].map(|y| {
            let fetched = rows.fetch(b, y.into());
            rows.row(b, fetched)
        });
        // Prefetches the next row.
        let ahead = rows.fetch(b, 1.into()).map(|c| b.let_("ahead", kind, c));
        let mut variables = |name: &str, row: [Expr; 2]| row.map(|value| b.let_(name, Scalar::F32, value));
        let (above, own) = (variables("above", above.sums), variables("own", here.sums));
        let values = variables("value", here.values);
        b.for_("y", 0, block.height, 1, |b, y| {
            let fetched = rows.fetch(b, y + 2);
            let next = rows.row(b, ahead.map(Expr::from));
            for side in [0, 1] {
                let value = values[side];
                let size = b.let_("size", Scalar::F32, absolute(value.into()));
                let around = above[side] + own[side] + next.sums[side];
                let around = around - small(value.into());
                let nearest = round(b, around, 0.0, (FIRST.len() - 1) as f64, Scalar::F32);
                let threshold = b.shuffle("threshold", Scalar::F32, first, Lane::Index(nearest));
                let magnitude = b.let_("magnitude", Scalar::I32, size.ge(threshold).cast(Scalar::I32));
                b.if_(size.ge(single(FIRST[0])), |b| {
                    let moved = b.let_("moved", Scalar::F32, size + single(NEXT));
                    let fits = moved.lt(single(LARGEST)).select(moved, single(LARGEST));
                    b.set(magnitude, fits.cast(Scalar::I32).max(1));
                });
                let x = b.let_("x", Scalar::I32, block.lane * 2 + side as i32);
                b.if_(x.lt(block.width), |b| {
                    let at = block.at(y, x.into());
                    b.store(indices, at, value.lt(single(0.0)).select(-magnitude, magnitude));
                    b.if_(magnitude.ne_(0), |b| {
                        let beyond = b.let_("beyond", Scalar::F32, size - magnitude.cast(Scalar::F32));
                        let least = beyond.lt(single(-1.0)).select(single(-1.0), beyond);
                        let least = b.let_("bounded", Scalar::F32, least);
                        let both = least.gt(single(1.0)).select(single(1.0), least);
                        b.set(sum, sum + (both * single(UNIT)).cast(Scalar::I32));
                        b.set(count, count + 1);
                    });
                });
            }
            for (ahead, fetched) in ahead.into_iter().zip(fetched) {
                b.set(ahead, fetched);
            }
            for side in [0, 1] {
                b.set(Place::Local(above[side]), own[side]);
                b.set(Place::Local(own[side]), next.sums[side]);
                b.set(Place::Local(values[side]), next.values[side]);
            }
        });
    };
    if kind.is_integer() {
        b.if_else(
            inverse.eq_(single(1.0)),
            |b| {
                block.for_each(b, |b, y, x| {
                    let at = b.let_("at", Scalar::I32, block.at(y, x));
                    let c = b.load_new("c", kind, coefficients, at);
                    b.store(indices, at, c);
                });
            },
            quantised,
        );
    } else {
        quantised(b);
    }
    for distance in [16, 8, 4, 2, 1] {
        for all in [sum, count] {
            let other = b.shuffle("other", Scalar::I32, all, Lane::Xor(distance));
            b.set(all, all + other);
        }
    }
    b.if_(block.lane.eq_(0), |b| {
        b.store(sums, Builtin::BlockX, sum);
        b.store(counts, Builtin::BlockX, count);
    });
    warps(builder)
}

/// Kernel that computes each band's reconstruction offset and writes it into headers.
///
/// Parameters, in order:
/// - sums and counts of the [`quantiser`];
/// - the blocks of each quantiser, consecutive (`i32`, within a picture);
/// - the first of each quantiser's blocks, ending with their number;
/// - headers (`u8`);
/// - the offset of the first quantiser in a header;
/// - bytes of a header;
/// - blocks of a picture;
/// - quantisers of a picture;
/// - quantisers of all pictures.
pub fn offsets() -> Kernel {
    let mut builder = Builder::new("put_offsets");
    let b = &mut builder;
    b.doc("Mean excess of coefficients over their indices, in 256ths, into headers; a warp a quantiser.");
    let sums = Space::Global(b.pointer("sums", Scalar::I32, Access::Read, "excess over indices, block by block"));
    let counts = Space::Global(b.pointer("counts", Scalar::I32, Access::Read, "nonzero indices, block by block"));
    let members = Space::Global(b.pointer("members", Scalar::I32, Access::Read, "blocks by their quantisers"));
    let begins = Space::Global(b.pointer("begins", Scalar::I32, Access::Read, "first block of each quantiser"));
    let headers = Space::Global(b.pointer("headers", Scalar::U8, Access::Write, "headers, picture by picture"));
    let first = b.scalar("first", Scalar::I32, "the first quantiser's byte");
    let length = b.scalar("length", Scalar::I32, "bytes of a header");
    let each = b.scalar("each", Scalar::I32, "blocks of a picture");
    let quantisers = b.scalar("quantisers", Scalar::I32, "quantisers of a picture");
    b.scalar("count", Scalar::I32, "quantisers in all");
    let lane = b.let_("lane", Scalar::I32, Builtin::Lane);
    let picture = b.let_("picture", Scalar::I32, Builtin::BlockX / quantisers);
    let which = b.let_("which", Scalar::I32, Builtin::BlockX - picture * quantisers);
    let from = b.load_new("from", Scalar::I32, begins, which);
    let to = b.load_new("to", Scalar::I32, begins, which + 1);
    let (sum, count) = (b.let_("sum", Scalar::I64, Expr::i64(0)), b.let_("some", Scalar::I64, Expr::i64(0)));
    b.for_("i", from + lane, to, LANES, |b, i| {
        let member = b.load_new("member", Scalar::I32, members, i);
        let block = b.let_("block", Scalar::I32, picture * each + member);
        let one = b.load_new("one", Scalar::I32, sums, block);
        b.set(sum, sum + one.cast(Scalar::I64));
        let one = b.load_new("more", Scalar::I32, counts, block);
        b.set(count, count + one.cast(Scalar::I64));
    });
    for distance in [16, 8, 4, 2, 1] {
        for all in [sum, count] {
            let other = b.shuffle("other", Scalar::I64, all, Lane::Xor(distance));
            b.set(all, all + other);
        }
    }
    let number = |v: LocalId| v.cast(Scalar::F64);
    let counted = count.gt(Expr::i64(0));
    let mean = number(sum) / real(UNIT.into()) / counted.select(number(count), real(1.0));
    let scaled = b.let_("scaled", Scalar::F64, mean * real(256.0) + real(0.5));
    let least = scaled.lt(real(0.0)).select(real(0.0), scaled);
    let offset = least.cast(Scalar::I32).min(255);
    b.if_(lane.eq_(0), |b| {
        let at = picture * length + first + which * 3 + 2;
        b.store(headers, at, offset.cast(Scalar::U8));
    });
    warps(builder)
}

/// Kernel from indices to coefficients.
///
/// Parameters, in order:
/// - indices (`i32`);
/// - headers (`u8`);
/// - powers of two by the exponent of a step (`f64`);
/// - coefficients (`i32` or `f32`);
/// - blocks;
/// - places;
/// - the offset of the first quantiser in a header;
/// - the distance between headers in bytes (`i64`);
/// - the stride of coefficients;
/// - the blocks of a picture;
/// - the number of blocks.
pub fn dequantiser(kind: Scalar) -> Kernel {
    let mut builder = Builder::new(format!("dequantise_{}", kind.name()));
    let b = &mut builder;
    b.doc("Indices to coefficients, a warp a codeblock.");
    let indices = Space::Global(b.pointer("indices", Scalar::I32, Access::Read, "indices of coefficients"));
    let headers = Space::Global(b.pointer("headers", Scalar::U8, Access::Read, "headers, picture by picture"));
    let powers = Space::Global(b.pointer("powers", Scalar::F64, Access::Read, "powers of two, by exponent"));
    let coefficients = Space::Global(b.pointer("coefficients", kind, Access::Write, "coefficients"));
    let arrays = Block::arrays(b);
    let first = b.scalar("first", Scalar::I32, "the first quantiser's byte");
    let apart = b.scalar("apart", Scalar::I64, "bytes from one header to the next");
    let block = Block::new(b, arrays);
    let at = block.picture.cast(Scalar::I64) * apart + (first + block.place[4] * 3).cast(Scalar::I64);
    let at = b.let_("triple", Scalar::I64, at);
    let [low, high, offset] = [0, 1, 2].map(|i| {
        let byte = b.load_new("byte", Scalar::U8, headers, at + Expr::i64(i));
        b.let_("number", Scalar::I32, byte.cast(Scalar::I32))
    });
    let mantissa = low.or(high.and(7) << 8).cast(Scalar::F64) / real(2048.0);
    let power = b.load_new("power", Scalar::F64, powers, high >> 3);
    let step = b.let_("step", Scalar::F64, (real(1.0) + mantissa) * power);
    let within = b.let_("within", Scalar::F64, offset.cast(Scalar::F64) / real(256.0));
    block.for_each(b, |b, y, x| {
        let at = b.let_("at", Scalar::I32, block.at(y, x));
        let index = b.load_new("index", Scalar::I32, indices, at);
        let negative = index.lt(0);
        let magnitude = negative.select(-index, index).cast(Scalar::F64);
        let value = b.let_("value", Scalar::F64, (magnitude + within) * step);
        let value = index.eq_(0).select(real(0.0), negative.select(-value, value));
        let value = match kind {
            Scalar::F32 => value.cast(kind),
            _ => round(b, value, i32::MIN.into(), i32::MAX.into(), Scalar::F64),
        };
        b.store(coefficients, at, value);
    });
    warps(builder)
}
