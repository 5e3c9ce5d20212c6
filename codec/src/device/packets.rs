//! Packet kernels: layout, entries, words and checksums. `docs/format.md` and [`crate::packet`] define packets; here
//! all packets of all pictures are written at once.

use super::hash::Hash;
use super::{Threads, warps};
use crate::block::kernel::{Block, is_coded, raw_word};
use crate::header::CHECKSUM;
use crate::packet::{LENGTH, PIECE, RAW};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// Lanes of a warp.
const LANES: i32 = 32;

/// Bits of a piece's length.
const PIECE_BITS: i32 = PIECE.trailing_zeros() as i32;

/// Bytes of a packet in addition to its index and its payload.
pub const FRAME: usize = LENGTH + 2 * CHECKSUM;

/// Declares a global array.
pub fn global(b: &mut Builder, name: &str, scalar: Scalar, access: Access, doc: &str) -> Space {
    Space::Global(b.pointer(name, scalar, access, doc))
}

// Descriptions of parameters in emitted text.
const STREAMS: &str = "streams, one for each picture";
const ENTRIES: &str = "bytes of entries before each block of a picture, and of all";
const WORDS: &str = "words before each block of a picture, and of all";
const FIRSTS: &str = "the first block of each packet, and the number of blocks";
const PARTS: &str = "first byte and length of each packet's index and of its payload";
const CAPACITY: &str = "bytes from one stream to the next";
const EACH: &str = "blocks of a picture";

/// Loads a number of an array.
pub fn loaded(b: &mut Builder, name: &str, space: Space, at: impl Into<Expr>) -> Expr {
    b.load_new(name, Scalar::I32, space, at).into()
}

pub fn added(b: &mut Builder, sum: LocalId, value: impl Into<Expr>) {
    b.set(sum, sum + value.into());
}

/// Entry of a block.
struct Entry {
    planes: Expr,
    is_raw: Expr,
    /// Words in the payload.
    words: Expr,
    /// Bytes in the index.
    bytes: Expr,
}

impl Entry {
    /// Entry from the encoder's results.
    fn new(b: &mut Builder, block: &Block, results: Space, which: Expr) -> Entry {
        let planes = loaded(b, "planes", results, which * 2);
        let coded = loaded(b, "coded", results, which * 2 + 1);
        let raw = b.let_("raw", Scalar::I32, block.raw_words(planes));
        let is_raw = b.let_("is_raw", Scalar::Bool, raw.le(coded));
        let words = is_coded(planes).select(coded.min(raw), 0);
        let words = b.let_("words_of_block", Scalar::I32, words);
        let number = words.lt(128).select(3, 4);
        let is_short = is_raw.or(words.eq_(0));
        let bytes = b.let_("bytes", Scalar::I32, is_short.select(1, number)).into();
        Entry { planes, is_raw: is_raw.into(), words: words.into(), bytes }
    }
}

/// Threads per picture that lay its blocks out, or per packet that read its index.
pub const LAYERS: i32 = 256;

/// Kernel of prefix sums over a picture's blocks: bytes of index entries and words. A block of threads a picture.
///
/// Parameters, in order:
/// - blocks ([`Task`](crate::block::kernel::Task));
/// - results of the encoder;
/// - bytes of entries, then words, before each block of a picture, ending with the total (`i32`);
/// - number of each picture's blocks left to the processor (`i32`);
/// - blocks of a picture;
/// - number of pictures.
pub fn layout() -> Kernel {
    let mut builder = Builder::new("lay_out_blocks");
    let b = &mut builder;
    b.doc("Prefix sums over a picture's codeblocks: bytes of their entries in indices, and words.");
    let blocks = global(b, "blocks", Scalar::I32, Access::Read, "seven numbers for each block");
    let results = global(b, "results", Scalar::I32, Access::Read, "planes and words of each block");
    let entries = global(b, "entries", Scalar::I32, Access::Write, ENTRIES);
    let words = global(b, "words_before", Scalar::I32, Access::Write, WORDS);
    let left = global(b, "left", Scalar::I32, Access::Write, "blocks that kernels do not code, of each picture");
    let each = b.scalar("each", Scalar::I32, EACH);
    b.scalar("count", Scalar::I32, "number of pictures");
    let thread = b.let_("thread", Scalar::I32, Builtin::ThreadX);
    let part = b.let_("part", Scalar::I32, (each + (LAYERS - 1)) / LAYERS);
    let from = b.let_("from", Scalar::I32, (thread * part).min(each));
    let to = b.let_("to", Scalar::I32, (from + part).min(each));
    let first = b.let_("first_block", Scalar::I32, Builtin::BlockX * each);
    let sums = ["sum_of_bytes", "sum_of_words", "sum_of_left"].map(|name| b.let_(name, Scalar::I32, 0));
    let of = |b: &mut Builder, i: Expr| {
        let which = b.let_("which", Scalar::I32, first + i);
        let block = Block::load(b, blocks, which);
        Entry::new(b, &block, results, which.into())
    };
    b.for_("i", from, to, 1, |b, i| {
        let entry = of(b, i);
        let is_left = entry.planes.ne_(0).and(!is_coded(entry.planes));
        added(b, sums[0], entry.bytes);
        added(b, sums[1], entry.words);
        added(b, sums[2], is_left.cast(Scalar::I32));
    });
    let shared = ["all_bytes", "all_words", "all_left"].map(|name| b.shared(name, Scalar::I32, LAYERS as u32));
    let before = sums_before(b, thread.into(), shared, sums);
    let row = b.let_("row", Scalar::I32, Builtin::BlockX * (each + 1));
    b.if_(thread.eq_(LAYERS - 1), |b| {
        b.store(entries, row + each, sums[0]);
        b.store(words, row + each, sums[1]);
        b.store(left, Builtin::BlockX, sums[2]);
    });
    for (sum, before) in sums.into_iter().zip(before) {
        b.set(sum, before);
    }
    b.for_("i", from, to, 1, |b, i| {
        let entry = of(b, i);
        b.store(entries, row + i, sums[0]);
        b.store(words, row + i, sums[1]);
        added(b, sums[0], entry.bytes);
        added(b, sums[1], entry.words);
    });
    layers(builder)
}

/// Inclusive prefix sums over threads, several at once; returns the exclusive sums. There are as many rounds as a
/// thread's index has bits.
pub fn sums_before<const N: usize>(
    b: &mut Builder,
    thread: Expr,
    shared: [SharedId; N],
    sums: [LocalId; N],
) -> [Expr; N] {
    let own = sums.map(|sum| b.let_("own", Scalar::I32, sum));
    rounds(b, thread, shared, sums, |b, others| {
        for (sum, other) in sums.into_iter().zip(others) {
            added(b, sum, other);
        }
    });
    std::array::from_fn(|i| b.let_("before", Scalar::I32, sums[i] - own[i]).into())
}

/// Scan over threads in rounds: each combines a thread's values with those `distance` threads before, and doubles
/// `distance`.
pub fn rounds<const N: usize>(
    b: &mut Builder,
    thread: Expr,
    shared: [SharedId; N],
    values: [LocalId; N],
    combine: impl Fn(&mut Builder, [Expr; N]),
) {
    let shared = shared.map(Space::Shared);
    for distance in (0..LAYERS.trailing_zeros()).map(|bit| 1 << bit) {
        b.barrier();
        for (space, value) in shared.into_iter().zip(values) {
            b.store(space, thread, value);
        }
        b.barrier();
        b.if_(thread.ge(distance), |b| {
            let others = shared.map(|space| loaded(b, "other", space, thread - distance));
            combine(b, others);
        });
    }
}

/// Finishes a kernel of [`LAYERS`] threads per block; its last parameter is the grid size.
pub fn layers(builder: Builder) -> Kernel {
    let one = Expr::i32(1);
    let mut kernel = builder.finish(Launch { block: [LAYERS as u32, 1, 1], grid: [one, one, one] });
    kernel.launch.grid[0] = Expr::Param(ParamId(kernel.params.len() as u32 - 1));
    kernel
}

/// Place of a packet in its stream.
struct Packet {
    /// Offset of the first byte.
    start: Expr,
    /// Bytes of entries before its first block, and within the packet.
    entries: [Expr; 2],
    /// Words before its first block, and within the packet.
    words: [Expr; 2],
}

impl Packet {
    /// Packet of a picture whose row begins at `row` in `entries` and `words`.
    fn new(b: &mut Builder, [entries, words, firsts]: [Space; 3], row: Expr, packet: Expr, header: Expr) -> Packet {
        let first = loaded(b, "first", firsts, packet);
        let next = loaded(b, "next", firsts, packet + 1);
        let mut both = |space| {
            let before = loaded(b, "before", space, row + first);
            let after = loaded(b, "after", space, row + next);
            let within = b.let_("within", Scalar::I32, after - before);
            [before, within.into()]
        };
        let (entries, words) = (both(entries), both(words));
        let start = header + packet * FRAME as i32 + entries[0] + words[0] * 2;
        Packet { start: b.let_("start", Scalar::I32, start).into(), entries, words }
    }

    /// Offset of the payload.
    fn payload(&self) -> Expr {
        self.start + (LENGTH + CHECKSUM) as i32 + self.entries[1]
    }
}

/// Kernel that writes packets' lengths and computes the places of their parts, a thread a packet.
///
/// Parameters, in order:
/// - bytes of entries, and words, from [`layout`];
/// - the first block of each packet, ending with the number of blocks (`i32`);
/// - streams (`u8`);
/// - parts (`i32`): for each packet the offset and the length of its index, with the packet's length field included,
///   and of its payload;
/// - lengths of streams (`i32`);
/// - bytes of a header;
/// - blocks of a picture;
/// - packets of a picture;
/// - the distance between streams in bytes (`i64`);
/// - packets of all pictures.
pub fn parts() -> Kernel {
    let mut builder = Builder::new("lay_out_packets");
    let b = &mut builder;
    b.doc("Places of packets and their parts in streams, and their length fields; a thread a packet.");
    let entries = global(b, "entries", Scalar::I32, Access::Read, ENTRIES);
    let words = global(b, "words_before", Scalar::I32, Access::Read, WORDS);
    let firsts = global(b, "firsts", Scalar::I32, Access::Read, FIRSTS);
    let streams = global(b, "streams", Scalar::U8, Access::Write, STREAMS);
    let parts = global(b, "parts", Scalar::I32, Access::Write, PARTS);
    let lengths = global(b, "lengths", Scalar::I32, Access::Write, "bytes of each stream");
    let header = b.scalar("header", Scalar::I32, "bytes of a header");
    let each = b.scalar("each", Scalar::I32, EACH);
    let packets = b.scalar("packets", Scalar::I32, "packets of a picture");
    let capacity = b.scalar("capacity", Scalar::I64, CAPACITY);
    let count = b.scalar("count", Scalar::I32, "packets of all pictures");
    let at = Threads::index(b);
    b.if_(at.lt(count), |b| {
        let picture = b.let_("picture", Scalar::I32, at / packets);
        let which = b.let_("packet", Scalar::I32, at - picture * packets);
        let row = b.let_("row", Scalar::I32, picture * (each + 1));
        let packet = Packet::new(b, [entries, words, firsts], row.into(), which.into(), header.into());
        let index = b.let_("index_bytes", Scalar::I32, packet.entries[1]);
        let payload = b.let_("payload_bytes", Scalar::I32, packet.words[1] * 2);
        let length = b.let_("length", Scalar::I32, index + payload + 2 * CHECKSUM as i32);
        let stream = b.let_("stream", Scalar::I64, picture.cast(Scalar::I64) * capacity);
        for byte in 0..LENGTH as i32 {
            let to = stream + (packet.start + byte).cast(Scalar::I64);
            b.store(streams, to, (length >> (8 * byte)).cast(Scalar::U8));
        }
        let own = [packet.start, index + LENGTH as i32, packet.payload(), Expr::from(payload)];
        for (i, value) in (0..).zip(own) {
            b.store(parts, at * 4 + i, value);
        }
        let is_last = which.eq_(packets - 1);
        b.if_(is_last, |b| b.store(lengths, picture, packet.payload() + payload + CHECKSUM as i32));
    });
    Threads::finished(builder)
}

/// Kernel that writes entries and words of blocks to their places, a warp a codeblock. Blocks left to the processor
/// have no words.
///
/// Parameters, in order:
/// - indices (`i32`);
/// - blocks, results and choices of the encoder;
/// - its words (`i16`);
/// - bytes of entries, and words, from [`layout`];
/// - the first block of each packet;
/// - the packet of each block of a picture (`i32`);
/// - streams (`u8`);
/// - bytes of a header;
/// - blocks of a picture;
/// - the distance between streams in bytes (`i64`);
/// - the stride of indices;
/// - the number of blocks.
pub fn writer() -> Kernel {
    let mut builder = Builder::new("write_blocks");
    let b = &mut builder;
    b.doc("Entries and words of blocks into streams, a warp a codeblock. Blocks that coding does not shorten are raw.");
    let indices = global(b, "indices", Scalar::I32, Access::Read, "indices of coefficients");
    let blocks = global(b, "blocks", Scalar::I32, Access::Read, "seven numbers for each block");
    let results = global(b, "results", Scalar::I32, Access::Read, "planes and words of each block");
    let choices = global(b, "choices", Scalar::I32, Access::Read, "table and sharing of each block");
    let words = global(b, "words", Scalar::I16, Access::Read, "words as coders left them");
    let entries_before = global(b, "entries", Scalar::I32, Access::Read, ENTRIES);
    let words_before = global(b, "words_before", Scalar::I32, Access::Read, WORDS);
    let firsts = global(b, "firsts", Scalar::I32, Access::Read, FIRSTS);
    let packets = global(b, "packet_of", Scalar::I32, Access::Read, "the packet of each block");
    let streams = global(b, "streams", Scalar::U8, Access::Write, STREAMS);
    let header = b.scalar("header", Scalar::I32, "bytes of a header");
    let each = b.scalar("each", Scalar::I32, EACH);
    let capacity = b.scalar("capacity", Scalar::I64, CAPACITY);
    let stride = b.scalar("stride", Scalar::I32, "indices from one row to the next");
    b.scalar("count", Scalar::I32, "number of blocks");
    let lane = b.let_("lane", Scalar::I32, Builtin::Lane);
    let block = Block::load(b, blocks, Builtin::BlockX);
    let entry = Entry::new(b, &block, results, Builtin::BlockX.into());
    let picture = b.let_("picture", Scalar::I32, Builtin::BlockX / each);
    let within = Builtin::BlockX - picture * each;
    let within = b.let_("of_picture", Scalar::I32, within);
    let row = b.let_("row", Scalar::I32, picture * (each + 1));
    let packet = loaded(b, "packet", packets, within);
    let packet = Packet::new(b, [entries_before, words_before, firsts], row.into(), packet, header.into());
    let stream = b.let_("stream", Scalar::I64, picture.cast(Scalar::I64) * capacity);
    let before = loaded(b, "own_bytes", entries_before, row + within);
    let at = packet.start + LENGTH as i32 + (before - packet.entries[0]);
    let at = b.let_("entry", Scalar::I64, stream + at.cast(Scalar::I64));
    let before = loaded(b, "own_words", words_before, row + within);
    let payload = packet.payload() + (before - packet.words[0]) * 2;
    let payload = b.let_("payload", Scalar::I64, stream + payload.cast(Scalar::I64));
    b.if_(lane.eq_(0), |b| {
        let put = |b: &mut Builder, i: i64, value: Expr| {
            b.store(streams, at + Expr::i64(i), value.cast(Scalar::U8));
        };
        let is_coded = entry.bytes.gt(1);
        let raw = entry.is_raw.and(entry.words.ne_(0));
        let known = entry.words.ne_(0).select(entry.planes, 0);
        put(b, 0, known.or(raw.select(i32::from(RAW), 0)));
        b.if_(is_coded, |b| {
            let choice = Builtin::BlockX * 2;
            let (class, sharing) = (loaded(b, "class", choices, choice), loaded(b, "sharing", choices, choice + 1));
            put(b, 1, class.or(sharing << 5));
            let is_one = entry.words.lt(128);
            let low = entry.words.and(127);
            put(b, 2, is_one.select(low, low.or(128)));
            b.if_(!is_one, |b| put(b, 3, entry.words >> 7));
        });
    });
    let put = |b: &mut Builder, i: Expr, word: Expr| {
        let word = b.let_("both", Scalar::I32, word);
        let to = b.let_("to", Scalar::I64, payload + (i * 2).cast(Scalar::I64));
        b.store(streams, to, word.cast(Scalar::U8));
        b.store(streams, to + Expr::i64(1), (word >> 8).cast(Scalar::U8));
    };
    b.if_else(
        entry.is_raw,
        |b| {
            b.for_("i", lane, entry.words, LANES, |b, i| {
                let word = raw_word(b, indices, &block, stride.into(), entry.planes, i);
                put(b, i, word.into());
            });
        },
        |b| {
            b.for_("i", lane, entry.words, LANES, |b, i| {
                let word = b.load_new("word", Scalar::I16, words, block.first + i);
                put(b, i, word.cast(Scalar::I32));
            });
        },
    );
    warps(builder)
}

/// Kernel that writes headers into streams and computes the packets' seeds, a warp a picture.
///
/// Parameters, in order: headers without checksums (`u8`), the hash's secret, streams (`u8`), seeds (`u64`), bytes of a
/// header, the distance between streams in bytes (`i64`), and the number of pictures.
pub fn header_writer() -> Kernel {
    let mut builder = Builder::new("write_headers");
    let b = &mut builder;
    b.doc("Headers and their checksums into streams, and the seeds of all other checksums; a warp a picture.");
    let headers = global(b, "headers", Scalar::U8, Access::Read, "headers, picture by picture");
    let secret = global(b, "secret", Scalar::I64, Access::Read, "the hash's secret");
    let streams = global(b, "streams", Scalar::U8, Access::Write, STREAMS);
    let seeds = global(b, "seeds", Scalar::U64, Access::Write, "hashes of headers");
    let header = b.scalar("header", Scalar::I32, "bytes of a header");
    let capacity = b.scalar("capacity", Scalar::I64, CAPACITY);
    b.scalar("count", Scalar::I32, "number of pictures");
    let lane = b.let_("lane", Scalar::I32, Builtin::Lane);
    let picture = Builtin::BlockX.cast(Scalar::I64);
    let start = b.let_("own", Scalar::I64, picture * header.cast(Scalar::I64));
    let stream = b.let_("stream", Scalar::I64, picture * capacity);
    let len = b.let_("checked", Scalar::I32, header - CHECKSUM as i32);
    b.for_("i", lane, len, LANES, |b, i| {
        let i = b.let_("wide", Scalar::I64, i.cast(Scalar::I64));
        let byte = b.load_new("byte", Scalar::U8, headers, start + i);
        b.store(streams, stream + i, byte);
    });
    let seed = Expr::i64(0).cast(Scalar::U64);
    let hash = Hash { bytes: headers, start: start.into(), len: len.into(), secret, seed, lane: lane.into() }.all(b);
    b.if_(lane.eq_(0), |b| b.store(seeds, Builtin::BlockX, hash));
    seal(b, streams, stream + len.cast(Scalar::I64), hash, lane.into());
    warps(builder)
}

/// Writes the lower half of a hash, a byte a lane.
fn seal(b: &mut Builder, streams: Space, at: Expr, hash: LocalId, lane: Expr) {
    b.if_(lane.lt(CHECKSUM as i32), |b| {
        let byte = (hash >> (lane * 8)).cast(Scalar::U8);
        b.store(streams, at + lane.cast(Scalar::I64), byte);
    });
}

/// Part of a packet in checksum kernels.
pub struct Part {
    /// Offset of the first byte in the picture's stream, and number of bytes.
    start: Expr,
    len: Expr,
    pieces: Expr,
    /// Index of its first piece's hash among the picture's.
    slot: Expr,
    seed: Expr,
}

impl Part {
    fn new(b: &mut Builder, [parts, seeds]: [Space; 2], picture: Expr, each: Expr, part: Expr) -> Part {
        let at = b.let_("at", Scalar::I32, (picture * each + part) * 2);
        let start = loaded(b, "start", parts, at);
        let len = loaded(b, "len", parts, at + 1);
        let pieces = b.let_("pieces", Scalar::I32, (len + (PIECE as i32 - 1)) >> PIECE_BITS);
        // Parts do not overlap, so neither do their slots.
        let slot = b.let_("slot", Scalar::I32, (start >> PIECE_BITS) + part);
        let seed = b.load_new("seed", Scalar::U64, seeds, picture);
        let seed = b.let_("seed", Scalar::U64, seed + (part >> 1).cast(Scalar::U64));
        Part { start, len, pieces: pieces.into(), slot: slot.into(), seed: seed.into() }
    }
}

/// A warp's part with its checksum.
pub struct Checked {
    pub lane: Expr,
    /// Hash of the pieces' hashes.
    pub hash: LocalId,
    /// Offset of the byte after the part (`i64`).
    pub end: Expr,
}

impl Part {
    /// Part of the warp. Declares the last parameters: parts of a picture, hashes of a picture, the distance between
    /// streams in bytes (`i64`), and parts in all.
    pub fn of_warp(b: &mut Builder, [hashes, parts, secret, seeds]: [Space; 4]) -> Checked {
        let each = b.scalar("parts_of_picture", Scalar::I32, "parts of a picture's packets");
        let slots = b.scalar("slots", Scalar::I32, "hashes of a picture");
        let capacity = b.scalar("capacity", Scalar::I64, CAPACITY);
        b.scalar("count", Scalar::I32, "parts in all");
        let lane = b.let_("lane", Scalar::I32, Builtin::Lane);
        let picture = b.let_("picture", Scalar::I32, Builtin::BlockX / each);
        let which = Builtin::BlockX - picture * each;
        let which = b.let_("which", Scalar::I32, which);
        let part = Part::new(b, [parts, seeds], picture.into(), each.into(), which.into());
        let start = ((picture * slots + part.slot) * 8).cast(Scalar::I64);
        let start = b.let_("first", Scalar::I64, start).into();
        let len = b.let_("bytes", Scalar::I32, part.pieces * 8).into();
        let hash = Hash { bytes: hashes, start, len, secret, seed: part.seed, lane: lane.into() }.all(b);
        let end = picture.cast(Scalar::I64) * capacity + (part.start + part.len).cast(Scalar::I64);
        Checked { lane: lane.into(), hash, end: b.let_("end", Scalar::I64, end).into() }
    }
}

/// Number of hash slots for a stream of this many bytes and packets.
pub fn slots(bytes: usize, packets: usize) -> usize {
    bytes / PIECE + 2 * packets + 1
}

/// Most warps that hash the pieces of a picture.
pub const MOST_WARPS: usize = 2048;

/// Number of warps that hash the pieces of a picture whose stream has at most this many bytes.
pub fn warps_of(bytes: usize) -> usize {
    (bytes / PIECE + 1).min(MOST_WARPS)
}

/// Kernel that hashes the pieces of all parts of packets, with several warps a picture.
///
/// Parameters, in order:
/// - streams (`u8`);
/// - parts, from [`parts`];
/// - the hash's secret;
/// - seeds (`u64`);
/// - hashes (`u8`, eight bytes each);
/// - parts of a picture;
/// - warps of a picture;
/// - hashes of a picture;
/// - the distance between streams in bytes (`i64`);
/// - warps in all.
pub fn hasher() -> Kernel {
    let mut builder = Builder::new("hash_pieces");
    let b = &mut builder;
    b.doc("Hashes of the pieces of packets' indices and payloads, a warp a piece at a time.");
    let streams = global(b, "streams", Scalar::U8, Access::Read, STREAMS);
    let parts = global(b, "parts", Scalar::I32, Access::Read, PARTS);
    let secret = global(b, "secret", Scalar::I64, Access::Read, "the hash's secret");
    let seeds = global(b, "seeds", Scalar::U64, Access::Read, "hashes of headers");
    let hashes = global(b, "hashes", Scalar::U8, Access::Write, "hashes of pieces");
    let each = b.scalar("parts_of_picture", Scalar::I32, "parts of a picture's packets");
    let warps_each = b.scalar("warps_of_picture", Scalar::I32, "warps of a picture");
    let slots = b.scalar("slots", Scalar::I32, "hashes of a picture");
    let capacity = b.scalar("capacity", Scalar::I64, CAPACITY);
    b.scalar("count", Scalar::I32, "warps in all");
    let lane = b.let_("lane", Scalar::I32, Builtin::Lane);
    let picture = b.let_("picture", Scalar::I32, Builtin::BlockX / warps_each);
    let warp = Builtin::BlockX - picture * warps_each;
    let warp = b.let_("warp", Scalar::I32, warp);
    let stream = b.let_("stream", Scalar::I64, picture.cast(Scalar::I64) * capacity);
    b.for_("part", 0, each, 1, |b, part| {
        let part = Part::new(b, [parts, seeds], picture.into(), each.into(), part);
        b.for_("piece", warp, part.pieces, warps_each, |b, piece| {
            let before = b.let_("before", Scalar::I32, piece << PIECE_BITS);
            let start = stream + (part.start + before).cast(Scalar::I64);
            let start = b.let_("first", Scalar::I64, start).into();
            let len = b.let_("bytes", Scalar::I32, (part.len - before).min(PIECE as i32)).into();
            let hash = Hash { bytes: streams, start, len, secret, seed: part.seed, lane: lane.into() }.all(b);
            b.if_(lane.lt(8), |b| {
                let slot = (picture * slots + part.slot + piece) * 8;
                let byte = (hash >> (lane * 8)).cast(Scalar::U8);
                b.store(hashes, slot + lane, byte);
            });
        });
    });
    warps(builder)
}

/// Kernel that writes the checksums of all parts of packets, a warp each.
///
/// Parameters, in order: hashes of pieces from the [`hasher`], parts, the hash's secret, seeds (`u64`), streams (`u8`),
/// parts of a picture, hashes of a picture, the distance between streams in bytes (`i64`), and parts in all.
pub fn sealer() -> Kernel {
    let mut builder = Builder::new("seal_parts");
    let b = &mut builder;
    b.doc("Checksums of packets' indices and payloads: hashes of the hashes of their pieces; a warp each.");
    let hashes = global(b, "hashes", Scalar::U8, Access::Read, "hashes of pieces");
    let parts = global(b, "parts", Scalar::I32, Access::Read, PARTS);
    let secret = global(b, "secret", Scalar::I64, Access::Read, "the hash's secret");
    let seeds = global(b, "seeds", Scalar::U64, Access::Read, "hashes of headers");
    let streams = global(b, "streams", Scalar::U8, Access::Write, STREAMS);
    let part = Part::of_warp(b, [hashes, parts, secret, seeds]);
    seal(b, streams, part.end, part.hash, part.lane);
    warps(builder)
}
