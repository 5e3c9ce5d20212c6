//! The coder as kernels of the IR, a warp a codeblock: what devices run, and what the interpreter holds against the
//! definition. The words are those of the definition ([`scan`](super::scan)), bit for bit.
//!
//! A lane has two columns. Of each row it keeps a word of flags ([`flags`]), its own and those of its neighbours that
//! contexts ask for; what a step finds, a ballot tells all lanes. Magnitudes stand as bitplanes, two bits for each row.
//! Both are arrays of a thread, which devices keep in their first-level cache.
//!
//! Blocks of more than [`MOST_PLANES`] are left to the processor; the results say so.

mod decode;
mod encode;
mod engine;
mod flags;
mod scan;
mod tail;

pub use decode::decoder;
pub use encode::encoder;

use super::{CONTEXTS, DEPTHS, Direction, MAX_PLANES, MAX_SIDE, Mode, Passes, Shape};
use crate::tables::Tables;
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// Most planes of a block that a kernel codes.
pub const MOST_PLANES: u32 = 16;

/// Numbers that say of a block what a kernel must know: see [`Task`].
pub const FIELDS: usize = 9;

/// Lanes of a warp.
const LANES: i32 = MAX_SIDE as i32 / 2;

/// Words of a bitplane of a lane: 64 rows of two bits.
const PLANE_WORDS: i32 = 4;

/// The bitplane that has the signs: behind the others.
const SIGNS: i32 = MOST_PLANES as i32;

/// A block as kernels are told of it, for encoders without planes and with the most words that it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Index of its first coefficient.
    pub start: usize,
    /// Its size and how signs are predicted; the kernel knows the passes.
    pub shape: Shape,
    /// The table.
    pub class: u8,
    /// Lanes that share a coder, as a power of two.
    pub sharing: u8,
    /// Index of its first word.
    pub first: usize,
    /// How many words it has, or may have.
    pub words: usize,
    /// Bitplanes, for decoders.
    pub planes: u32,
}

impl Task {
    /// The row of numbers for it. `None` if one of them is beyond 31 bits.
    pub fn fields(&self) -> Option<[i32; FIELDS]> {
        let number = |n: usize| i32::try_from(n).ok();
        Some([
            number(self.start)?,
            number(self.shape.height)?,
            number(self.shape.width)?,
            i32::from(self.shape.direction == Direction::Horizontal),
            self.class.into(),
            self.sharing.into(),
            number(self.first)?,
            number(self.words)?,
            self.planes as i32,
        ])
    }

    /// How an entry of a stream is read: its table and sharing, unless it is raw.
    pub fn coded(mode: Mode) -> Option<(u8, u8)> {
        match mode {
            Mode::Raw => None,
            Mode::Coded { class, sharing } => Some((class, sharing)),
        }
    }
}

/// A set of tables as kernels read it.
pub fn probabilities(tables: &Tables) -> Vec<i16> {
    tables.to_bytes().into_iter().map(i16::from).collect()
}

/// What a decoder says of a block: its words are those of a block, they are not, or it is left to the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Status {
    Decoded = 0,
    Broken = 1,
    Left = 2,
}

/// What a kernel has at hand of its block, the same for all lanes but where it says so.
struct Scene {
    passes: Passes,
    coefficients: Space,
    tables: Space,
    words: Space,
    results: Space,
    stride: Expr,
    /// Of each lane.
    lane: Expr,
    /// The lanes below, a bit each; of each lane.
    below: Expr,
    /// Whether a lane has a left and a right column.
    valid: [Expr; 2],
    start: Expr,
    height: Expr,
    horizontal: Expr,
    table: Expr,
    /// Lanes to a coder.
    turns: Expr,
    first: Expr,
    limit: Expr,
    planes: Expr,
    /// Probabilities of the plane at hand, by context.
    row: Space,
    /// Flags of each row, with one before the first and one behind the last; of each lane.
    flags: LocalId,
    /// Bitplanes of each lane.
    bits: LocalId,
}

/// Whether a kernel reads coefficients or writes them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Encode,
    Decode,
}

impl Scene {
    fn new(b: &mut Builder, way: Way, passes: Passes) -> Scene {
        let (reads, writes) = match way {
            Way::Encode => (Access::Read, Access::Write),
            Way::Decode => (Access::Write, Access::Read),
        };
        let coefficients = Space::Global(b.pointer("coefficients", Scalar::I32, reads, "indices of quantised bands"));
        let blocks = Space::Global(b.pointer("blocks", Scalar::I32, Access::Read, "nine numbers for each block"));
        let tables = Space::Global(b.pointer("tables", Scalar::I16, Access::Read, "probabilities of 0 in 128ths"));
        let words = Space::Global(b.pointer("words", Scalar::I16, writes, "words of all blocks"));
        let results = Space::Global(b.pointer("results", Scalar::I32, Access::Write, "what became of each block"));
        let stride = b.scalar("stride", Scalar::I32, "coefficients from one row to the next").into();
        b.scalar("count", Scalar::I32, "number of blocks");
        let lane = Expr::from(b.let_("lane", Scalar::I32, Builtin::Lane));
        let below =
            b.let_("below", Scalar::U32, (Expr::int(1, Scalar::U32) << lane.clone()) - Expr::int(1, Scalar::U32));
        let names = ["start", "height", "width", "horizontal", "class", "sharing", "first", "limit", "planes"];
        let [start, height, width, horizontal, class, sharing, first, limit, planes] =
            std::array::from_fn(|i| (i as i32, names[i])).map(|(i, name)| {
                Expr::from(b.load_new(name, Scalar::I32, blocks, Expr::from(Builtin::BlockX) * FIELDS as i32 + i))
            });
        let valid = ["has_left", "has_right"].map(|name| b.declare(name, Scalar::Bool));
        for (side, valid) in (0..).zip(valid) {
            b.set(Place::Local(valid), (lane.clone() * 2 + side).lt(width.clone()));
        }
        let table = b.let_("table", Scalar::I32, class * (DEPTHS * CONTEXTS) as i32);
        let turns = b.let_("turns", Scalar::I32, Expr::from(1) << sharing);
        let row = Space::Shared(b.shared("row", Scalar::I32, CONTEXTS as u32));
        let flags = b.array("flags", Scalar::I16, MAX_SIDE as u32 + 2);
        b.for_("y", 0, height.clone() + 2, 1, |b, y| b.set(Place::Elem(flags, y), Expr::int(0, Scalar::I16)));
        let bits = b.array("bits", Scalar::I32, ((SIGNS + 1) * PLANE_WORDS) as u32);
        Scene {
            passes,
            coefficients,
            tables,
            words,
            results,
            stride,
            lane,
            below: below.into(),
            valid: valid.map(Expr::from),
            start,
            height,
            horizontal: horizontal.eq_(1.into()),
            table: table.into(),
            turns: turns.into(),
            first,
            limit,
            planes,
            row,
            flags,
            bits,
        }
    }

    /// The index of a lane's coefficient.
    fn index(&self, y: Expr, side: i32) -> Expr {
        self.start.clone() + y * self.stride.clone() + self.lane.clone() * 2 + side
    }

    /// Where the two bits of a row stand in a bitplane: the word, and the shift.
    fn place(plane: impl Into<Expr>, y: &Expr) -> (Expr, Expr) {
        (plane.into() * PLANE_WORDS + (y.clone() >> 4), y.clone().and(15.into()) * 2)
    }

    /// The two bits of a row in a bitplane.
    fn two(&self, b: &mut Builder, plane: impl Into<Expr>, y: &Expr) -> LocalId {
        let (word, shift) = Scene::place(plane, y);
        b.let_("two", Scalar::I32, (Expr::Elem(self.bits, word.into()) >> shift).and(3.into()))
    }

    /// Adds bits to a row of a bitplane.
    fn add(&self, b: &mut Builder, plane: impl Into<Expr>, y: &Expr, two: Expr) {
        let (word, shift) = Scene::place(plane, y);
        let word = b.let_("word", Scalar::I32, word);
        let old = Expr::Elem(self.bits, Expr::from(word).into());
        b.set(Place::Elem(self.bits, word.into()), old.or(two << shift));
    }

    /// Sets bitplanes to nothing.
    fn clear(&self, b: &mut Builder, planes: Expr) {
        b.for_("i", 0, planes * PLANE_WORDS, 1, |b, i| b.set(Place::Elem(self.bits, i), 0));
    }

    /// The flags of a row, as a number from 0 on.
    fn flags(&self, b: &mut Builder, name: &str, y: Expr) -> LocalId {
        let flags = Expr::Elem(self.flags, Box::new(y + 1));
        b.let_(name, Scalar::I32, flags.cast(Scalar::I32).and(0xffff.into()))
    }

    /// Goes through the planes from the highest one on; `body` takes the plane and how far below the highest it is.
    fn planes(&self, b: &mut Builder, planes: &Expr, body: impl FnOnce(&mut Builder, Expr, Expr)) {
        b.for_("depth", 0, planes.clone(), 1, |b, depth| {
            let plane = b.let_("plane", Scalar::I32, planes.clone() - 1 - depth.clone());
            let of_table = depth.clone().min((DEPTHS as i32 - 1).into()) * CONTEXTS as i32;
            let from = b.let_("from", Scalar::I32, self.table.clone() + of_table + self.lane.clone());
            b.push(Stmt::SyncWarp);
            let p = b.load_new("p", Scalar::I16, self.tables, from);
            b.store(self.row, self.lane.clone(), Expr::from(p).cast(Scalar::I32));
            b.if_(self.lane.clone().lt((CONTEXTS as i32 - LANES).into()), |b| {
                let p = b.load_new("p", Scalar::I16, self.tables, Expr::from(from) + LANES);
                b.store(self.row, self.lane.clone() + LANES, Expr::from(p).cast(Scalar::I32));
            });
            b.push(Stmt::SyncWarp);
            body(b, plane.into(), depth);
        });
    }
}

/// A block of one warp, and as many of them as there are codeblocks.
fn launch(kernel: Builder) -> Kernel {
    // `count` is the last parameter.
    kernel.finish(Launch { block: [LANES as u32, 1, 1], grid: [Expr::Param(ParamId(6)), 1.into(), 1.into()] })
}

/// How a kernel is called.
fn name(what: &str, passes: Passes) -> String {
    match passes {
        Passes::Two => format!("{what}_blocks_two_passes"),
        Passes::Three => format!("{what}_blocks_three_passes"),
    }
}

/// The sum over the lanes below, and over all of them.
fn sums(b: &mut Builder, scene: &Scene, name: &str, value: Expr) -> (Expr, Expr) {
    let sum = b.let_(name, Scalar::I32, value.clone());
    for distance in [1, 2, 4, 8, 16] {
        let from = b.shuffle("other", Scalar::I32, sum, Lane::Up(distance));
        let reaches = scene.lane.clone().ge((distance as i32).into());
        b.set(Place::Local(sum), Expr::from(sum) + reaches.select(from.into(), 0.into()));
    }
    let all = b.shuffle("all", Scalar::I32, sum, Lane::Index((LANES - 1).into()));
    (Expr::from(sum) - value, all.into())
}
