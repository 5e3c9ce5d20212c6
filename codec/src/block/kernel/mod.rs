//! Block coder as IR kernels, a warp a codeblock. Devices run them, and the interpreter tests them against the
//! reference ([`scan`](super::scan)): the words are the same, bit for bit.
//!
//! A lane has two columns. For each row it keeps a word of flags ([`flags`]): its own, and those of neighbours that
//! contexts need. Ballots tell all lanes what a step finds. Magnitudes are kept as bitplanes, two bits for each row.
//! Both are arrays of a thread, which devices keep in their L1 cache.
//!
//! Blocks of more than [`MOST_PLANES`] are left to the processor, and the results flag them.

mod choose;
mod count;
mod decode;
mod encode;
mod engine;
mod flags;
mod gather;
mod scan;
mod tail;

pub use choose::{chooser, costs};
pub use decode::{AS_IT_IS, decoder};
pub use encode::encoder;
pub use gather::gatherer;
pub(crate) use gather::raw_word;

use super::{BlockShape, CONTEXTS, Context, DEPTHS, MAX_SIDE, Order, Passes, SignAxis};
use crate::tables::Tables;
use lifting::PlanError;
use lifting::kernels::{Arg, Array, Kernels};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// Most planes of a block that kernels code.
pub const MOST_PLANES: u32 = 16;

/// Numbers per block in a kernel's task list: see [`Task`].
pub const FIELDS: usize = 7;

/// Lanes of a warp.
const LANES: i32 = MAX_SIDE as i32 / 2;

/// Words of a lane's bitplane: 64 rows of two bits.
const PLANE_WORDS: i32 = 4;

/// Index of the bitplane of signs, after all others.
const SIGNS: i32 = MOST_PLANES as i32;

/// Block description for kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Index of its first coefficient.
    pub start: usize,
    /// Size and direction; the kernel is specific to the order.
    pub shape: BlockShape,
    /// Index of its first word, or for decoders, of that word's first byte.
    pub first: usize,
    /// Number of words: available room for encoders, all words for decoders.
    pub words: usize,
    /// Bitplanes, for decoders.
    pub planes: u32,
}

impl Task {
    /// The task's row of numbers; `None` if one exceeds 31 bits.
    pub fn fields(&self) -> Option<[i32; FIELDS]> {
        let number = |n: usize| i32::try_from(n).ok();
        Some([
            number(self.start)?,
            number(self.shape.height)?,
            number(self.shape.width)?,
            i32::from(self.shape.direction == SignAxis::Horizontal),
            number(self.first)?,
            number(self.words)?,
            self.planes as i32,
        ])
    }
}

/// Set of tables, as kernels read it.
pub fn probabilities(tables: &Tables) -> Vec<i16> {
    tables.to_bytes().into_iter().map(i16::from).collect()
}

/// Result of decoding a block: decoded, corrupted, or left to the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Status {
    Decoded = 0,
    Broken = 1,
    Left = 2,
}

// Descriptions of parameters in emitted text.
const COEFFICIENTS: &str = "indices of quantised bands";
const BLOCKS: &str = "seven numbers for each block";
const CHOICES: &str = "table and sharing of each block";
const STRIDE: &str = "coefficients from one row to the next";

/// Fields of a task, in variables that are equal for all lanes.
pub(crate) struct Block {
    pub start: Expr,
    pub height: Expr,
    pub width: Expr,
    horizontal: Expr,
    pub first: Expr,
    limit: Expr,
    planes: Expr,
}

impl Block {
    pub fn load(b: &mut Builder, blocks: Space, which: impl Into<Expr>) -> Block {
        let which = b.let_("block", Scalar::I32, which);
        let names = ["start", "height", "width", "horizontal", "first", "limit", "planes"];
        let fields: [Expr; FIELDS] = std::array::from_fn(|i| {
            let at = which * FIELDS as i32 + i as i32;
            b.load_new(names[i], Scalar::I32, blocks, at).into()
        });
        let [start, height, width, horizontal, first, limit, planes] = fields;
        Block { start, height, width, horizontal: horizontal.eq_(1), first, limit, planes }
    }

    /// Number of words of the raw block, with this many planes.
    pub fn raw_words(&self, planes: Expr) -> Expr {
        (self.height * self.width * (planes + 1) + 15) >> 4
    }
}

/// Position of a warp: its block, and its lanes' columns.
struct Site {
    coefficients: Space,
    block: Block,
    stride: Expr,
    /// Index of the lane.
    lane: Expr,
    /// Whether a lane has a left and a right column.
    valid: [Expr; 2],
}

impl Site {
    /// Loads the block from arrays that are declared already; declares the last two parameters.
    fn new(b: &mut Builder, coefficients: Space, blocks: Space) -> Site {
        let stride = b.scalar("stride", Scalar::I32, STRIDE).into();
        b.scalar("count", Scalar::I32, "number of blocks");
        let lane = b.let_("lane", Scalar::I32, Builtin::Lane);
        let block = Block::load(b, blocks, Builtin::BlockX);
        let valid = ["has_left", "has_right"].map(|name| b.declare(name, Scalar::Bool));
        for (side, valid) in (0..).zip(valid) {
            b.set(valid, (lane * 2 + side).lt(block.width));
        }
        Site { coefficients, block, stride, lane: lane.into(), valid: valid.map(Expr::from) }
    }

    /// Index of a lane's coefficient.
    fn index(&self, y: Expr, side: i32) -> Expr {
        self.block.start + y * self.stride + self.lane * 2 + side
    }

    /// A lane's coefficients in `N` rows from `y` on; 0 outside the block. The loads overlap.
    fn rows<const N: usize>(&self, b: &mut Builder, y: Expr) -> [[Expr; 2]; N] {
        std::array::from_fn(|i| {
            let row = b.let_("row", Scalar::I32, y + i as i32);
            [0, 1].map(|side| {
                let c = b.let_("c", Scalar::I32, 0);
                b.if_(self.valid[side as usize].and(row.lt(self.block.height)), |b| {
                    let index = self.index(row.into(), side);
                    b.load(c, self.coefficients, index, 1, Cache::Default);
                });
                c.into()
            })
        })
    }

    /// Number of bitplanes of the block.
    fn survey(&self, b: &mut Builder) -> Expr {
        let most = b.let_("most", Scalar::I32, 0);
        b.for_("y", 0, self.block.height, AT_ONCE, |b, y| {
            for c in self.rows::<{ AT_ONCE as usize }>(b, y).into_iter().flatten() {
                b.set(most, most.or(magnitude(c)));
            }
        });
        let most = most.cast(Scalar::U32);
        let planes = b.let_("found_planes", Scalar::I32, 0);
        for more in [16, 8, 4, 2, 1, 1] {
            let reaches = (most >> (planes + (more - 1))).ne_(Expr::int(0, Scalar::U32));
            let any = b.ballot("any", reaches);
            let more = any.ne_(Expr::int(0, Scalar::U32)).select(more, 0);
            b.set(planes, planes + more);
        }
        planes.into()
    }
}

/// Rows loaded at once.
const AT_ONCE: i32 = 4;

fn magnitude(c: Expr) -> Expr {
    c.lt(0).select(-c, c)
}

/// State of a kernel that scans a block.
struct Scene {
    site: Site,
    order: Order,
    /// Flags of each row of a lane, with one row before the first and two after the last.
    flags: LocalId,
    /// Bitplanes of a lane.
    bits: LocalId,
}

impl Scene {
    fn new(b: &mut Builder, order: Order, site: Site) -> Scene {
        let flags = b.array("flags", Scalar::I16, MAX_SIDE as u32 + 3);
        b.for_("y", 0, site.block.height + 3, 1, |b, y| b.set(Place::Elem(flags, y), Expr::int(0, Scalar::I16)));
        let bits = b.array("bits", Scalar::I32, ((SIGNS + 1) * PLANE_WORDS) as u32);
        Scene { site, order, flags, bits }
    }

    /// Word and shift of a row's two bits in a bitplane.
    fn place(plane: impl Into<Expr>, y: Expr) -> (Expr, Expr) {
        (plane.into() * PLANE_WORDS + (y >> 4), y.and(15) * 2)
    }

    /// The two bits of a row in a bitplane.
    fn two(&self, b: &mut Builder, plane: impl Into<Expr>, y: Expr) -> LocalId {
        let (word, shift) = Scene::place(plane, y);
        b.let_("two", Scalar::I32, (Expr::Elem(self.bits, word.into()) >> shift).and(3))
    }

    /// Adds bits to a row of a bitplane.
    fn add(&self, b: &mut Builder, plane: impl Into<Expr>, y: Expr, two: Expr) {
        let (word, shift) = Scene::place(plane, y);
        let word = b.let_("word", Scalar::I32, word);
        let old = self.bits.at(word);
        b.set(Place::Elem(self.bits, word.into()), old.or(two << shift));
    }

    /// Clears `planes` bitplanes, and that of signs.
    fn clear(&self, b: &mut Builder, planes: Expr) {
        b.for_("i", 0, planes * PLANE_WORDS, 1, |b, i| b.set(Place::Elem(self.bits, i), 0));
        b.for_("i", 0, PLANE_WORDS, 1, |b, i| b.set(Place::Elem(self.bits, i + SIGNS * PLANE_WORDS), 0));
    }

    /// Flags of row `y`, counted from 0.
    fn flags(&self, b: &mut Builder, name: &str, y: Expr) -> LocalId {
        let flags = self.flags.at(y + 1);
        b.let_(name, Scalar::I32, flags.cast(Scalar::I32))
    }
}

/// Whether kernels code a block of this many planes.
pub(crate) fn is_coded(planes: Expr) -> Expr {
    planes.gt(0).and(planes.le(MOST_PLANES as i32))
}

/// Launches one of these kernels with its arrays, the stride of coefficients and the number of blocks.
///
/// # Errors
/// If the arrays do not suit the kernel, or the device reports an error.
pub fn launch<const N: usize>(
    kernels: &Kernels,
    kernel: usize,
    arrays: [&mut Array; N],
    [stride, blocks]: [usize; 2],
) -> Result<(), PlanError> {
    let numbers = [stride, blocks].map(|n| Arg::Int(n as i64));
    kernels.launch(kernel, &mut arrays.map(Arg::Array).into_iter().chain(numbers).collect::<Vec<_>>())
}

/// Finishes a kernel of one warp per block; its last parameter is the grid size.
pub(crate) fn finished(builder: Builder) -> Kernel {
    let one = Expr::i32(1);
    let mut kernel = builder.finish(Launch { block: [LANES as u32, 1, 1], grid: [one, one, one] });
    kernel.launch.grid[0] = Expr::Param(ParamId(kernel.params.len() as u32 - 1));
    kernel
}

/// Name of a kernel.
fn name(what: &str, order: Order) -> String {
    let passes = if order.passes == Passes::Two { "two" } else { "three" };
    let fast = if order.fast == 0 { String::new() } else { format!("_fast_{}", order.fast) };
    format!("{what}_blocks_{passes}_passes{fast}")
}

/// Planes of the tail, at most [`MOST_PLANES`].
fn tail_planes(order: Order) -> i32 {
    order.tail().min(MOST_PLANES) as i32
}

/// Sums over the lanes below this one, and over all lanes.
pub(crate) fn sums(b: &mut Builder, lane: Expr, name: &str, value: Expr) -> (Expr, Expr) {
    let sum = b.let_(name, Scalar::I32, value);
    for distance in [1, 2, 4, 8, 16] {
        let from = b.shuffle("other", Scalar::I32, sum, Lane::Up(distance));
        let reaches = lane.ge(distance as i32);
        b.set(sum, sum + reaches.select(from, 0));
    }
    let all = b.shuffle("all", Scalar::I32, sum, Lane::Index((LANES - 1).into()));
    (sum - value, all.into())
}
