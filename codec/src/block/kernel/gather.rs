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
    let lane = b.let_("lane", Scalar::I32, Builtin::Lane);
    let at = Builtin::BlockX * 2;
    let planes = b.load_new("planes", Scalar::I32, results, at);
    let coded = b.load_new("coded", Scalar::I32, results, at + 1);
    let to = b.load_new("to", Scalar::I32, offsets, Builtin::BlockX);
    b.if_(is_coded(planes.into()), |b| {
        let raw = b.let_("raw", Scalar::I32, block.raw_words(planes.into()));
        b.if_else(
            coded.lt(raw),
            |b| {
                b.for_("i", lane, coded, LANES, |b, i| {
                    let word = b.load_new("word", Scalar::I16, words, block.first + i);
                    b.store(payload, to + i, word);
                });
            },
            |b| {
                b.for_("i", lane, raw, LANES, |b, i| {
                    let word = raw_word(b, coefficients, &block, stride.into(), planes.into(), i);
                    b.store(payload, to + i, word.cast(Scalar::I16));
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
    planes: Expr,
    i: Expr,
) -> LocalId {
    let each = b.let_("bits_of_one", Scalar::I32, planes + 1);
    let samples = block.height * block.width;
    let word = b.let_("raw_word", Scalar::I32, 0);
    b.for_("bit", 0, 16, 1, |b, bit| {
        let position = b.let_("position", Scalar::I32, i * 16 + bit);
        let of = b.let_("of", Scalar::I32, position / each);
        b.set(word, word << 1);
        b.if_(of.lt(samples), |b| {
            let row = b.let_("y", Scalar::I32, of / block.width);
            let column = of - row * block.width;
            let index = block.start + row * stride + column;
            let c = b.load_new("c", Scalar::I32, coefficients, index);
            let negative = c.lt(0);
            let magnitude = negative.select(-c, c);
            let within = position - of * each;
            let below = b.let_("below", Scalar::I32, planes - within);
            let is_sign = below.eq_(planes);
            let bit = (magnitude >> below).and(1);
            let bit = is_sign.select(negative.cast(Scalar::I32), bit);
            b.set(word, word.or(bit));
        });
    });
    word
}
