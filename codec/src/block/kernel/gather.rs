//! Kernel that moves the words of all blocks from their buffers to their places in a stream.

use super::*;

/// Kernel that concatenates the words of blocks. Blocks that coding does not shorten are stored raw. Blocks of more
/// than [`MOST_PLANES`] are skipped.
///
/// Parameters, in order:
/// - coefficients (`i32`);
/// - blocks ([`Task::fields`] of each);
/// - results of the [`encoder`];
/// - offset of each block's words in the payload (`i32`);
/// - the coder's words (`i16`);
/// - the payload (`i16`);
/// - the stride of coefficients;
/// - the number of blocks.
pub fn gatherer() -> Kernel {
    let mut builder = Builder::new("gather_blocks");
    let b = &mut builder;
    b.doc("Words of blocks to one payload, a warp a codeblock. Blocks that coding does not shorten are stored raw.");
    let coefficients = Space::Global(b.pointer("coefficients", Scalar::I32, Access::Read, COEFFICIENTS));
    let blocks = Space::Global(b.pointer("blocks", Scalar::I32, Access::Read, BLOCKS));
    let results = Space::Global(b.pointer("results", Scalar::I32, Access::Read, "planes and words of each block"));
    let offsets = Space::Global(b.pointer("offsets", Scalar::I32, Access::Read, "first words in the payload"));
    let words = Space::Global(b.pointer("words", Scalar::I16, Access::Read, "words as coders left them"));
    let payload = Space::Global(b.pointer("payload", Scalar::I16, Access::Write, "words one after the other"));
    let block = Block::load(b, blocks, Builtin::BlockX);
    let stride = b.scalar("stride", Scalar::I32, STRIDE);
    b.scalar("count", Scalar::I32, "number of blocks");
    let lane = Expr::from(b.let_("lane", Scalar::I32, Builtin::Lane));
    let at = Expr::from(Builtin::BlockX) * 2;
    let planes = Expr::from(b.load_new("planes", Scalar::I32, results, at.clone()));
    let coded = Expr::from(b.load_new("coded", Scalar::I32, results, at + 1));
    let to = Expr::from(b.load_new("to", Scalar::I32, offsets, Builtin::BlockX));
    b.if_(is_coded(&planes), |b| {
        let raw = b.let_("raw", Scalar::I32, block.raw_words(&planes));
        b.if_else(
            coded.clone().lt(raw.into()),
            |b| {
                b.for_("i", lane.clone(), coded, LANES, |b, i| {
                    let word = b.load_new("word", Scalar::I16, words, block.first.clone() + i.clone());
                    b.store(payload, to.clone() + i, word);
                });
            },
            |b| {
                b.for_("i", lane.clone(), raw, LANES, |b, i| {
                    let word = raw_word(b, coefficients, &block, stride.into(), &planes, i.clone());
                    b.store(payload, to.clone() + i, Expr::from(word).cast(Scalar::I16));
                });
            },
        );
    });
    finished(builder)
}

/// Word of a raw block. Each coefficient, row by row, has a sign and then its magnitude, highest bit first.
pub(crate) fn raw_word(
    b: &mut Builder,
    coefficients: Space,
    block: &Block,
    stride: Expr,
    planes: &Expr,
    i: Expr,
) -> LocalId {
    let each = Expr::from(b.let_("bits_of_one", Scalar::I32, planes.clone() + 1));
    let samples = block.height.clone() * block.width.clone();
    let word = b.let_("raw_word", Scalar::I32, 0);
    b.for_("bit", 0, 16, 1, |b, bit| {
        let position = b.let_("position", Scalar::I32, i * 16 + bit);
        let of = b.let_("of", Scalar::I32, Expr::from(position) / each.clone());
        b.set(Place::Local(word), Expr::from(word) << 1);
        b.if_(Expr::from(of).lt(samples), |b| {
            let row = b.let_("y", Scalar::I32, Expr::from(of) / block.width.clone());
            let column = Expr::from(of) - Expr::from(row) * block.width.clone();
            let index = block.start.clone() + Expr::from(row) * stride + column;
            let c = Expr::from(b.load_new("c", Scalar::I32, coefficients, index));
            let negative = c.clone().lt(0.into());
            let magnitude = negative.clone().select(-c.clone(), c);
            let within = Expr::from(position) - Expr::from(of) * each;
            let below = b.let_("below", Scalar::I32, planes.clone() - within);
            let is_sign = Expr::from(below).eq_(planes.clone());
            let bit = (magnitude >> Expr::from(below)).and(1.into());
            let bit = is_sign.select(negative.cast(Scalar::I32), bit);
            b.set(Place::Local(word), Expr::from(word).or(bit));
        });
    });
    word
}
