//! Parser kernels for untrusted streams: headers, packet lengths, indices and checksums.
//!
//! Anything invalid under `docs/format.md`, or incomplete, is left to the processor, which reports the error. For any
//! bytes, reads stay within the stream.

use super::hash::Hash;
use super::packets::{LAYERS, Part, added, global, layers, loaded, rounds, sums_before};
use super::{Threads, warps};
use crate::block::kernel::{AS_IT_IS, Block, FIELDS, MOST_PLANES};
use crate::header::CHECKSUM;
use crate::packet::{LENGTH, OPEN, RAW};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// Lanes of a warp.
const LANES: i32 = 32;

/// Numbers of the [`parser`] per block: planes, table, sharing, first byte in the payload, words.
pub const PARSED: usize = 5;

const CAPACITY: &str = "bytes from one stream to the next";
const LENGTHS: &str = "bytes of each stream";
const STREAMS: &str = "streams, one for each picture";

/// Byte of a stream as a number.
fn byte(b: &mut Builder, streams: Space, at: Expr) -> Expr {
    let byte = b.load_new("byte", Scalar::U8, streams, at);
    b.let_("number", Scalar::I32, byte.cast(Scalar::I32)).into()
}

fn wide(value: Expr) -> Expr {
    value.cast(Scalar::I64)
}

/// Kernel that compares headers, except quantisers, with the decoder's, and computes the packets' seeds. A warp a
/// picture.
///
/// Parameters, in order:
/// - streams (`u8`);
/// - lengths of streams (`i32`);
/// - the header (`u8`);
/// - the hash's secret;
/// - seeds (`u64`);
/// - faults of each picture (`i32`: 1 for a fault);
/// - bytes of a header;
/// - the offsets of its first quantiser and of the byte after the last;
/// - the distance between streams in bytes (`i64`);
/// - the number of pictures.
pub fn header_reader() -> Kernel {
    let mut builder = Builder::new("read_headers");
    let b = &mut builder;
    b.doc("Whether headers are those that a decoder was made for, and the seeds of all checksums; a warp a picture.");
    let streams = global(b, "streams", Scalar::U8, Access::Read, STREAMS);
    let lengths = global(b, "lengths", Scalar::I32, Access::Read, LENGTHS);
    let expected = global(b, "expected", Scalar::U8, Access::Read, "the header");
    let secret = global(b, "secret", Scalar::I64, Access::Read, "the hash's secret");
    let seeds = global(b, "seeds", Scalar::U64, Access::Write, "hashes of headers");
    let faults = global(b, "faults", Scalar::I32, Access::Write, "whether a header differs");
    let header = b.scalar("header", Scalar::I32, "bytes of a header");
    let first = b.scalar("first", Scalar::I32, "the first byte of quantisers");
    let last = b.scalar("last", Scalar::I32, "the first byte behind quantisers");
    let capacity = b.scalar("capacity", Scalar::I64, CAPACITY);
    b.scalar("count", Scalar::I32, "number of pictures");
    let lane = b.let_("lane", Scalar::I32, Builtin::Lane);
    let length = loaded(b, "length", lengths, Builtin::BlockX);
    let start = b.let_("own", Scalar::I64, wide(Builtin::BlockX.into()) * capacity);
    let len = b.let_("checked", Scalar::I32, header - CHECKSUM as i32);
    let seed = Expr::i64(0).cast(Scalar::U64);
    let bytes = streams;
    let hash = Hash { bytes, start: start.into(), len: len.into(), secret, seed, lane: lane.into() }.all(b);
    let differs = b.let_("differs", Scalar::Bool, length.lt(header));
    for (from, to) in [(Expr::i32(0), Expr::from(first)), (last.into(), len.into())] {
        b.for_("i", from + lane, to, LANES, |b, i| {
            let found = byte(b, streams, start + wide(i));
            let wanted = byte(b, expected, i);
            b.set(differs, differs.or(found.ne_(wanted)));
        });
    }
    b.if_(lane.lt(CHECKSUM as i32), |b| {
        let found = byte(b, streams, start + wide(len + lane));
        let wanted = (hash >> (lane * 8)).cast(Scalar::I32).and(255);
        b.set(differs, differs.or(found.ne_(wanted)));
    });
    let any = b.ballot("any", differs);
    b.if_(lane.eq_(0), |b| {
        b.store(seeds, Builtin::BlockX, hash);
        b.store(faults, Builtin::BlockX, any.ne_(Expr::int(0, Scalar::U32)).cast(Scalar::I32));
    });
    warps(builder)
}

/// Bytes of an index that a thread reads at a time.
const PIECE: i32 = 32;

/// Most bytes of an entry.
const ENTRY: i32 = 4;

/// Entry, as decoded from its bytes.
struct Entry {
    head: Expr,
    mode: Expr,
    is_short: Expr,
    /// Number of words; the shape determines that of raw blocks.
    many: Expr,
    bytes: Expr,
}

impl Entry {
    /// Words of a block with this entry, its planes, its words if raw, and whether it is.
    fn shape(&self, b: &mut Builder, blocks: Space, block: Expr) -> (LocalId, LocalId, LocalId, LocalId) {
        let planes = b.let_("planes", Scalar::I32, self.head.and(i32::from(RAW - 1)));
        let shape = Block::load(b, blocks, block);
        let raw = b.let_("raw", Scalar::I32, shape.raw_words(planes.into()));
        let is_raw = self.head.and(i32::from(RAW)).ne_(0);
        let is_raw = b.let_("is_raw", Scalar::Bool, is_raw);
        let words = b.let_("own_words", Scalar::I32, is_raw.select(raw, self.many));
        (words, planes, raw, is_raw)
    }
}

/// Index bytes of a packet: its stream, and the end of the bytes to read.
struct Index {
    streams: Space,
    stream: Expr,
    stop: Expr,
}

impl Index {
    /// Byte at an offset; 0 after the end.
    fn byte(&self, b: &mut Builder, at: Expr) -> Expr {
        let value = b.let_("of_entry", Scalar::I32, 0);
        b.if_(at.lt(self.stop), |b| {
            let read = byte(b, self.streams, self.stream + wide(at));
            b.set(value, read);
        });
        value.into()
    }

    /// First byte of the entry at `at`, whether the entry is that byte alone, its third byte, and its length.
    fn length(&self, b: &mut Builder, at: Expr) -> [Expr; 4] {
        let (head, low) = (self.byte(b, at), self.byte(b, at + 2));
        let is_short = head.and(i32::from(RAW)).ne_(0).or(head.eq_(0));
        let is_short = b.let_("is_short", Scalar::Bool, is_short);
        let long = low.ge(128).select(ENTRY, ENTRY - 1);
        let bytes = b.let_("bytes", Scalar::I32, is_short.select(1, long));
        [head, is_short.into(), low, bytes.into()]
    }

    fn entry(&self, b: &mut Builder, at: Expr) -> Entry {
        let [head, is_short, low, bytes] = self.length(b, at);
        let (mode, high) = (self.byte(b, at + 1), self.byte(b, at + 3));
        let high = low.ge(128).select(high, 0);
        let many = is_short.select(0, low.and(127).or(high << 7));
        Entry { head, mode, is_short, many, bytes }
    }
}

/// Walks from packet to packet by their length fields. Returns the first byte of a packet and the one after it;
/// `fine` becomes false if a packet does not fit the stream.
fn bounds(
    b: &mut Builder,
    (streams, stream): (Space, LocalId),
    header: ParamId,
    (packet, limit): (LocalId, LocalId),
    fine: LocalId,
) -> (LocalId, LocalId) {
    let require = |b: &mut Builder, what: Expr| b.set(fine, fine.and(what));
    let (start, end) = (b.let_("start", Scalar::I32, 0), b.let_("end", Scalar::I32, header));
    b.for_("before", 0, packet + 1, 1, |b, _| {
        b.set(start, end);
        let room = limit - start - LENGTH as i32;
        let room = b.let_("room", Scalar::I32, room);
        require(b, room.ge(0));
        b.if_(fine, |b| {
            let length = b.let_("length", Scalar::I32, 0);
            for i in 0..LENGTH as i32 {
                let part = byte(b, streams, stream + wide(start + i));
                b.set(length, length.or(part << (8 * i)));
            }
            require(b, length.ge(0).and(length.le(room)));
            b.if_(fine, |b| b.set(end, start + LENGTH as i32 + length));
        });
    });
    (start, end)
}

/// Maps of a thread's piece, one for each byte where an entry may begin: the offset of the first entry after the piece
/// in the low bits, and the number of entries that begin in the piece.
fn maps_of_piece(b: &mut Builder, index: &Index, piece: LocalId, size: LocalId) -> [LocalId; ENTRY as usize] {
    std::array::from_fn(|from| {
        let (at, found) = (b.let_("at", Scalar::I32, from as i32), b.let_("found", Scalar::I32, 0));
        b.while_(at.lt(size), |b| {
            let [.., bytes] = index.length(b, piece + at);
            added(b, at, bytes);
            added(b, found, 1);
        });
        let behind = (at - PIECE).max(0);
        b.let_("map", Scalar::I32, behind.or(found << 2))
    })
}

/// Composes each thread's maps with those of all earlier threads, and leaves them in shared memory.
fn compose(b: &mut Builder, thread: LocalId, maps: [SharedId; ENTRY as usize], own: [LocalId; ENTRY as usize]) {
    rounds(b, thread.into(), maps, own, |b, others| {
        let all = others.map(|other| {
            let through = other.and(ENTRY - 1);
            let then = (1i32..)
                .zip(&own[1..])
                .fold(Expr::from(own[0]), |others, (from, map)| through.eq_(from).select(*map, others));
            let then = b.let_("then", Scalar::I32, then);
            let found = other - through + (then - then.and(ENTRY - 1));
            b.let_("both", Scalar::I32, then.and(ENTRY - 1).or(found))
        });
        for (map, both) in own.into_iter().zip(all) {
            b.set(map, both);
        }
    });
    b.barrier();
    for (map, space) in own.into_iter().zip(maps) {
        b.store(Space::Shared(space), thread, map);
    }
    b.barrier();
}

/// The map of all pieces up to a thread's, for entries that begin at `offset` of the first.
fn through(b: &mut Builder, maps: [SharedId; ENTRY as usize], offset: LocalId, thread: Expr) -> LocalId {
    let map = b.let_("map", Scalar::I32, 0);
    for (from, space) in (0..).zip(maps) {
        b.if_(offset.eq_(from), |b| {
            b.load(map, Space::Shared(space), thread, 1, Cache::Default);
        });
    }
    map
}

/// Entries that begin in a thread's piece.
struct Entries<'a> {
    index: &'a Index,
    piece: LocalId,
    size: LocalId,
    /// Map of all earlier pieces.
    before: LocalId,
    /// Block of the first entry of the chunk.
    block: LocalId,
    /// Block after the packet's last.
    next: Expr,
}

impl Entries<'_> {
    /// Visits each entry with its offset and its block.
    fn visit(&self, b: &mut Builder, body: impl FnOnce(&mut Builder, Entry, Expr, Expr)) {
        let Entries { index, piece, size, before, block, next } = *self;
        let at = b.let_("at", Scalar::I32, before.and(ENTRY - 1));
        let which = b.let_("which", Scalar::I32, block + (before >> 2));
        let goes_on = at.lt(size).and(which.lt(next));
        b.while_(goes_on, |b| {
            let here = b.let_("here", Scalar::I32, piece + at);
            let entry = index.entry(b, here.into());
            added(b, at, entry.bytes);
            body(b, entry, here.into(), which.into());
            added(b, which, 1);
        });
    }
}

/// Kernel that reads the index of a packet, with a block of threads each. A packet with a fault gets empty parts, and
/// the numbers of its blocks are meaningless.
///
/// Parameters, in order:
/// - streams (`u8`);
/// - lengths of streams (`i32`);
/// - blocks ([`Task`](crate::block::kernel::Task), for their shapes);
/// - the first block of each packet, ending with the number of blocks;
/// - parsed entries ([`PARSED`] numbers per block);
/// - parts, as in [`parts`](super::packets::parts);
/// - faults of each packet (`i32`);
/// - bytes of a header;
/// - blocks of a picture;
/// - packets of a picture;
/// - tables;
/// - the distance between streams in bytes (`i64`);
/// - packets of all pictures.
///
/// An entry's offset depends on all earlier ones. So each thread computes a map for its piece: for each byte where an
/// entry may begin, the offset of the first entry after the piece, and the number of entries that begin before. These
/// maps compose in a parallel scan.
pub fn parser() -> Kernel {
    let mut builder = Builder::new("read_indices");
    let b = &mut builder;
    b.doc("Entries of packets' indices, a piece a thread, a block of threads a packet.");
    let streams = global(b, "streams", Scalar::U8, Access::Read, STREAMS);
    let lengths = global(b, "lengths", Scalar::I32, Access::Read, LENGTHS);
    let blocks = global(b, "blocks", Scalar::I32, Access::Read, "seven numbers for each block");
    let firsts = global(b, "firsts", Scalar::I32, Access::Read, "the first block of each packet");
    let parsed = global(b, "parsed", Scalar::I32, Access::Write, "five numbers for each block");
    let parts = global(b, "parts", Scalar::I32, Access::Write, "indices and payloads of packets");
    let faults = global(b, "faults", Scalar::I32, Access::Write, "whether a packet has a fault");
    let header = b.scalar("header", Scalar::I32, "bytes of a header");
    let each = b.scalar("each", Scalar::I32, "blocks of a picture");
    let packets = b.scalar("packets", Scalar::I32, "packets of a picture");
    let tables = b.scalar("tables", Scalar::I32, "number of tables");
    let capacity = b.scalar("capacity", Scalar::I64, CAPACITY);
    b.scalar("count", Scalar::I32, "packets of all pictures");
    let thread = b.let_("thread", Scalar::I32, Builtin::ThreadX);
    let picture = b.let_("picture", Scalar::I32, Builtin::BlockX / packets);
    let packet = b.let_("packet", Scalar::I32, Builtin::BlockX - picture * packets);
    let stream = b.let_("stream", Scalar::I64, wide(picture.into()) * capacity);
    let limit = loaded(b, "said", lengths, picture);
    let limit = b.let_("limit", Scalar::I32, limit.min(capacity.cast(Scalar::I32)));
    let first = loaded(b, "first", firsts, packet);
    let next = loaded(b, "next", firsts, packet + 1);
    let fine = b.let_("fine", Scalar::Bool, Expr::Lit(Literal::Bool(true)));
    let (start, end) = bounds(b, (streams, stream), header, (packet, limit), fine);
    let is_last = packet.eq_(packets - 1);
    b.set(fine, fine.and((!is_last).or(end.eq_(limit))));

    let begin = b.let_("begin", Scalar::I32, start + LENGTH as i32);
    let most = b.let_("most", Scalar::I32, (next - first) * ENTRY);
    let stop = fine.select(end.min(begin + most), 0);
    let index = Index { streams, stream: stream.into(), stop: b.let_("stop", Scalar::I32, stop).into() };
    // State after the pieces read so far: offset of the next entry, its block, and its first word.
    let (offset, block, words) =
        (b.let_("offset", Scalar::I32, 0), b.let_("of_block", Scalar::I32, first), b.let_("words", Scalar::I32, 0));
    let (wrong, finish) = (b.let_("wrong", Scalar::I32, 0), b.let_("finish", Scalar::I32, 0));
    let maps = ["from_0", "from_1", "from_2", "from_3"].map(|name| b.shared(name, Scalar::I32, LAYERS as u32));
    let of_words = b.shared("all_words", Scalar::I32, LAYERS as u32);
    b.for_("chunk", 0, (most + (PIECE * LAYERS - 1)) / (PIECE * LAYERS), 1, |b, chunk| {
        let piece = b.let_("piece", Scalar::I32, begin + (chunk * LAYERS + thread) * PIECE);
        let size = b.let_("size", Scalar::I32, (index.stop - piece).min(PIECE));
        let own = maps_of_piece(b, &index, piece, size);
        compose(b, thread, maps, own);
        let before = b.let_("before", Scalar::I32, offset);
        b.if_(thread.gt(0), |b| {
            let map = through(b, maps, offset, thread - 1);
            b.set(before, map);
        });
        let all = through(b, maps, offset, (LAYERS - 1).into());

        // Visited twice, to count words and to store the results.
        let entries = Entries { index: &index, piece, size, before, block, next };
        let of_picture = picture * each;
        let counted = b.let_("counted", Scalar::I32, 0);
        let shape = |b: &mut Builder, entry: &Entry, which: Expr| entry.shape(b, blocks, of_picture + which);
        entries.visit(b, |b, entry, here, which| {
            let (number, planes, raw, is_raw) = shape(b, &entry, which);
            let Entry { head, mode, is_short, bytes, .. } = entry;
            let fits = (here + bytes).le(end).and(head.lt(i32::from(OPEN)));
            let fits = fits.and(planes.le(MOST_PLANES as i32));
            let is_coded = (!is_short).and(number.gt(0)).and(number.lt(raw));
            let known = mode.and(31).lt(tables).and(mode.lt(192));
            let right = is_raw.or(is_coded.and(known)).and(planes.gt(0)).or(head.eq_(0));
            added(b, wrong, (!fits.and(right)).cast(Scalar::I32));
            added(b, counted, number);
            let is_last = which.eq_(next - 1);
            b.if_(is_last, |b| b.set(finish, here + bytes));
        });
        let [own_words] = sums_before(b, thread.into(), [of_words], [counted]);
        let byte = b.let_("first_byte", Scalar::I32, (words + own_words) * 2);
        entries.visit(b, |b, entry, _, which| {
            let (number, planes, _, is_raw) = shape(b, &entry, which);
            let class = is_raw.select(0, entry.mode.and(31));
            let sharing = is_raw.select(AS_IT_IS, entry.mode >> 5);
            for (i, value) in (0..).zip([planes.into(), class, sharing, byte.into(), number.into()]) {
                b.store(parsed, (of_picture + which) * PARSED as i32 + i, value);
            }
            added(b, byte, number * 2);
        });
        b.barrier();
        b.store(Space::Shared(of_words), thread, counted);
        b.barrier();
        let more = loaded(b, "more", Space::Shared(of_words), LAYERS - 1);
        added(b, words, more);
        b.set(offset, all.and(ENTRY - 1));
        added(b, block, all >> 2);
    });
    // Exactly one thread has met the last entry.
    sums_before(b, thread.into(), [maps[0], maps[1]], [wrong, finish]);
    let behind = b.let_("behind", Scalar::I32, finish);
    let at = b.let_("last", Scalar::I32, first.eq_(next).select(begin, behind));
    let payload = b.let_("payload", Scalar::I32, words * 2);
    let is_whole = (at + 2 * CHECKSUM as i32 + payload).eq_(end);
    let is_right = wrong.eq_(0).and(block.ge(next));
    let ok = b.let_("ok", Scalar::Bool, fine.and(is_whole).and(is_right));
    b.if_(thread.eq_(LAYERS - 1), |b| {
        let own = [start.into(), at - start, at + CHECKSUM as i32, Expr::from(payload)];
        for (i, value) in (0..).zip(own) {
            b.store(parts, Builtin::BlockX * 4 + i, ok.select(value, 0));
        }
        b.store(faults, Builtin::BlockX, ok.select(0, 1));
    });
    layers(builder)
}

/// Kernel that prepares the block decoder's tasks from parsed entries, a thread a block. Blocks of a packet with a
/// fault are zeros.
///
/// Parameters, in order:
/// - entries from the [`parser`];
/// - parts;
/// - faults of packets;
/// - the packet of each block of a picture (`i32`);
/// - blocks for the picture's shape ([`Task`](crate::block::kernel::Task));
/// - the same blocks with words and planes (output);
/// - choices (`i32`);
/// - blocks of a picture;
/// - packets of a picture;
/// - the distance between streams in bytes;
/// - the number of blocks.
pub fn tasks() -> Kernel {
    let mut builder = Builder::new("prepare_blocks");
    let b = &mut builder;
    b.doc("Tasks of the block decoder, from indices; a thread a block.");
    let parsed = global(b, "parsed", Scalar::I32, Access::Read, "five numbers for each block");
    let parts = global(b, "parts", Scalar::I32, Access::Read, "indices and payloads of packets");
    let faults = global(b, "faults", Scalar::I32, Access::Read, "whether a packet has a fault");
    let packet_of = global(b, "packet_of", Scalar::I32, Access::Read, "the packet of each block");
    let shapes = global(b, "shapes", Scalar::I32, Access::Read, "seven numbers for each block");
    let blocks = global(b, "blocks", Scalar::I32, Access::Write, "the same with words and planes");
    let choices = global(b, "choices", Scalar::I32, Access::Write, "table and sharing of each block");
    let each = b.scalar("each", Scalar::I32, "blocks of a picture");
    let packets = b.scalar("packets", Scalar::I32, "packets of a picture");
    let capacity = b.scalar("capacity", Scalar::I32, CAPACITY);
    let count = b.scalar("count", Scalar::I32, "number of blocks");
    let at = Threads::index(b);
    b.if_(at.lt(count), |b| {
        let picture = b.let_("picture", Scalar::I32, at / each);
        let packet = loaded(b, "of_packet", packet_of, at - picture * each);
        let packet = b.let_("packet", Scalar::I32, picture * packets + packet);
        let payload = loaded(b, "payload", parts, packet * 4 + 2);
        let fault = loaded(b, "fault", faults, packet);
        let said = ["planes", "class", "sharing", "byte", "words"].map(|name| b.let_(name, Scalar::I32, 0));
        b.if_(fault.eq_(0), |b| {
            for (i, to) in (0..).zip(said) {
                b.load(to, parsed, at * PARSED as i32 + i, 1, Cache::Default);
            }
        });
        let [planes, class, sharing, byte, words] = said.map(Expr::from);
        for i in 0..4 {
            let same = loaded(b, "same", shapes, at * FIELDS as i32 + i);
            b.store(blocks, at * FIELDS as i32 + i, same);
        }
        for (i, value) in (4..).zip([picture * capacity + payload + byte, words, planes]) {
            b.store(blocks, at * FIELDS as i32 + i, value);
        }
        b.store(choices, at * 2, class);
        b.store(choices, at * 2 + 1, sharing);
    });
    Threads::finished(builder)
}

/// Kernel that compares the checksums of parts of packets with those in streams, a warp each.
///
/// Parameters are those of [`sealer`](super::packets::sealer), with streams read, and then faults of each part (`i32`).
pub fn checker() -> Kernel {
    let mut builder = Builder::new("check_parts");
    let b = &mut builder;
    b.doc("Whether checksums of packets' indices and payloads are right; a warp each.");
    let hashes = global(b, "hashes", Scalar::U8, Access::Read, "hashes of pieces");
    let parts = global(b, "parts", Scalar::I32, Access::Read, "indices and payloads of packets");
    let secret = global(b, "secret", Scalar::I64, Access::Read, "the hash's secret");
    let seeds = global(b, "seeds", Scalar::U64, Access::Read, "hashes of headers");
    let streams = global(b, "streams", Scalar::U8, Access::Read, STREAMS);
    let faults = global(b, "faults", Scalar::I32, Access::Write, "whether a checksum differs");
    let scene = Part::of_warp(b, [hashes, parts, secret, seeds]);
    let differs = b.let_("differs", Scalar::Bool, Expr::Lit(Literal::Bool(false)));
    b.if_(scene.lane.lt(CHECKSUM as i32), |b| {
        let found = byte(b, streams, scene.end + wide(scene.lane));
        let wanted = (scene.hash >> (scene.lane * 8)).cast(Scalar::I32).and(255);
        b.set(differs, found.ne_(wanted));
    });
    let any = b.ballot("any", differs);
    b.if_(scene.lane.eq_(0), |b| {
        b.store(faults, Builtin::BlockX, any.ne_(Expr::int(0, Scalar::U32)).cast(Scalar::I32));
    });
    warps(builder)
}
