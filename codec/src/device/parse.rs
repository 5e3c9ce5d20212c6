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
    b.let_("number", Scalar::I32, Expr::from(byte).cast(Scalar::I32)).into()
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
    let header = Expr::from(b.scalar("header", Scalar::I32, "bytes of a header"));
    let first = Expr::from(b.scalar("first", Scalar::I32, "the first byte of quantisers"));
    let last = Expr::from(b.scalar("last", Scalar::I32, "the first byte behind quantisers"));
    let capacity = Expr::from(b.scalar("capacity", Scalar::I64, CAPACITY));
    b.scalar("count", Scalar::I32, "number of pictures");
    let lane = Expr::from(b.let_("lane", Scalar::I32, Builtin::Lane));
    let length = loaded(b, "length", lengths, Builtin::BlockX);
    let start = Expr::from(b.let_("own", Scalar::I64, wide(Builtin::BlockX.into()) * capacity));
    let len = Expr::from(b.let_("checked", Scalar::I32, header.clone() - CHECKSUM as i32));
    let seed = Expr::i64(0).cast(Scalar::U64);
    let bytes = streams;
    let hash = Hash { bytes, start: start.clone(), len: len.clone(), secret, seed, lane: lane.clone() }.all(b);
    let differs = b.let_("differs", Scalar::Bool, length.lt(header));
    for (from, to) in [(Expr::i32(0), first), (last, len.clone())] {
        b.for_("i", from + lane.clone(), to, LANES, |b, i| {
            let found = byte(b, streams, start.clone() + wide(i.clone()));
            let wanted = byte(b, expected, i);
            b.set(Place::Local(differs), Expr::from(differs).or(found.ne_(wanted)));
        });
    }
    b.if_(lane.clone().lt((CHECKSUM as i32).into()), |b| {
        let found = byte(b, streams, start + wide(len + lane.clone()));
        let wanted = (Expr::from(hash) >> (lane.clone() * 8)).cast(Scalar::I32).and(255.into());
        b.set(Place::Local(differs), Expr::from(differs).or(found.ne_(wanted)));
    });
    let any = b.ballot("any", differs);
    b.if_(lane.eq_(0.into()), |b| {
        b.store(seeds, Builtin::BlockX, hash);
        b.store(faults, Builtin::BlockX, Expr::from(any).ne_(Expr::int(0, Scalar::U32)).cast(Scalar::I32));
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
        b.if_(at.clone().lt(self.stop.clone()), |b| {
            let read = byte(b, self.streams, self.stream.clone() + wide(at));
            b.set(Place::Local(value), read);
        });
        value.into()
    }

    /// First byte of the entry at `at`, whether the entry is that byte alone, its third byte, and its length.
    fn length(&self, b: &mut Builder, at: &Expr) -> [Expr; 4] {
        let (head, low) = (self.byte(b, at.clone()), self.byte(b, at.clone() + 2));
        let is_short = head.clone().and(i32::from(RAW).into()).ne_(0.into()).or(head.clone().eq_(0.into()));
        let is_short = Expr::from(b.let_("is_short", Scalar::Bool, is_short));
        let long = low.clone().ge(128.into()).select(ENTRY.into(), (ENTRY - 1).into());
        let bytes = b.let_("bytes", Scalar::I32, is_short.clone().select(1.into(), long));
        [head, is_short, low, bytes.into()]
    }

    fn entry(&self, b: &mut Builder, at: &Expr) -> Entry {
        let [head, is_short, low, bytes] = self.length(b, at);
        let (mode, high) = (self.byte(b, at.clone() + 1), self.byte(b, at.clone() + 3));
        let high = low.clone().ge(128.into()).select(high, 0.into());
        let many = is_short.clone().select(0.into(), low.and(127.into()).or(high << 7));
        Entry { head, mode, is_short, many, bytes }
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
    let header = Expr::from(b.scalar("header", Scalar::I32, "bytes of a header"));
    let each = Expr::from(b.scalar("each", Scalar::I32, "blocks of a picture"));
    let packets = Expr::from(b.scalar("packets", Scalar::I32, "packets of a picture"));
    let tables = Expr::from(b.scalar("tables", Scalar::I32, "number of tables"));
    let capacity = Expr::from(b.scalar("capacity", Scalar::I64, CAPACITY));
    b.scalar("count", Scalar::I32, "packets of all pictures");
    let thread = Expr::from(b.let_("thread", Scalar::I32, Builtin::ThreadX));
    let picture = Expr::from(b.let_("picture", Scalar::I32, Expr::from(Builtin::BlockX) / packets.clone()));
    let packet = Expr::from(Builtin::BlockX) - picture.clone() * packets.clone();
    let packet = Expr::from(b.let_("packet", Scalar::I32, packet));
    let stream = Expr::from(b.let_("stream", Scalar::I64, wide(picture.clone()) * capacity.clone()));
    let limit = loaded(b, "said", lengths, picture.clone());
    let limit = Expr::from(b.let_("limit", Scalar::I32, limit.min(capacity.cast(Scalar::I32))));
    let first = loaded(b, "first", firsts, packet.clone());
    let next = loaded(b, "next", firsts, packet.clone() + 1);
    let fine = b.let_("fine", Scalar::Bool, Expr::Lit(Literal::Bool(true)));
    let require = |b: &mut Builder, what: Expr| b.set(Place::Local(fine), Expr::from(fine).and(what));
    // From packet to packet, by their length fields.
    let (start, end) = (b.let_("start", Scalar::I32, 0), b.let_("end", Scalar::I32, header));
    b.for_("before", 0, packet.clone() + 1, 1, |b, _| {
        b.set(Place::Local(start), end);
        let room = limit.clone() - start - LENGTH as i32;
        let room = Expr::from(b.let_("room", Scalar::I32, room));
        require(b, room.clone().ge(0.into()));
        b.if_(fine, |b| {
            let length = b.let_("length", Scalar::I32, 0);
            for i in 0..LENGTH as i32 {
                let part = byte(b, streams, stream.clone() + wide(Expr::from(start) + i));
                b.set(Place::Local(length), Expr::from(length).or(part << (8 * i)));
            }
            require(b, Expr::from(length).ge(0.into()).and(Expr::from(length).le(room)));
            b.if_(fine, |b| b.set(Place::Local(end), Expr::from(start) + LENGTH as i32 + length));
        });
    });
    let is_last = packet.clone().eq_(packets - 1);
    require(b, (!is_last).or(Expr::from(end).eq_(limit)));

    let begin = Expr::from(b.let_("begin", Scalar::I32, Expr::from(start) + LENGTH as i32));
    let most = Expr::from(b.let_("most", Scalar::I32, (next.clone() - first.clone()) * ENTRY));
    let stop = Expr::from(fine).select(Expr::from(end).min(begin.clone() + most.clone()), 0.into());
    let index = Index { streams, stream, stop: b.let_("stop", Scalar::I32, stop).into() };
    // State after the pieces read so far: offset of the next entry, its block, and its first word.
    let (offset, block, words) = (
        b.let_("offset", Scalar::I32, 0),
        b.let_("of_block", Scalar::I32, first.clone()),
        b.let_("words", Scalar::I32, 0),
    );
    let (wrong, finish) = (b.let_("wrong", Scalar::I32, 0), b.let_("finish", Scalar::I32, 0));
    let maps = ["from_0", "from_1", "from_2", "from_3"].map(|name| b.shared(name, Scalar::I32, LAYERS as u32));
    let of_words = b.shared("all_words", Scalar::I32, LAYERS as u32);
    b.for_("chunk", 0, (most + (PIECE * LAYERS - 1)) / (PIECE * LAYERS), 1, |b, chunk| {
        let piece = begin.clone() + (chunk * LAYERS + thread.clone()) * PIECE;
        let piece = Expr::from(b.let_("piece", Scalar::I32, piece));
        let size = Expr::from(b.let_("size", Scalar::I32, (index.stop.clone() - piece.clone()).min(PIECE.into())));
        let own: [LocalId; ENTRY as usize] = std::array::from_fn(|from| {
            let (at, found) = (b.let_("at", Scalar::I32, from as i32), b.let_("found", Scalar::I32, 0));
            b.while_(Expr::from(at).lt(size.clone()), |b| {
                let [.., bytes] = index.length(b, &(piece.clone() + at));
                added(b, at, bytes);
                added(b, found, 1);
            });
            let behind = (Expr::from(at) - PIECE).max(0.into());
            b.let_("map", Scalar::I32, behind.or(Expr::from(found) << 2))
        });
        rounds(b, &thread, maps, own, |b, others| {
            let all = others.map(|other| {
                let through = other.clone().and((ENTRY - 1).into());
                let then = (1i32..).zip(&own[1..]).fold(Expr::from(own[0]), |others, (from, map)| {
                    through.clone().eq_(from.into()).select((*map).into(), others)
                });
                let then = Expr::from(b.let_("then", Scalar::I32, then));
                let found = other - through + (then.clone() - then.clone().and((ENTRY - 1).into()));
                b.let_("both", Scalar::I32, then.and((ENTRY - 1).into()).or(found))
            });
            for (map, both) in own.into_iter().zip(all) {
                b.set(Place::Local(map), both);
            }
        });
        b.barrier();
        for (map, space) in own.into_iter().zip(maps) {
            b.store(Space::Shared(space), thread.clone(), map);
        }
        b.barrier();
        let through = |b: &mut Builder, thread: Expr| {
            let map = b.let_("map", Scalar::I32, 0);
            for (from, space) in (0..).zip(maps) {
                b.if_(Expr::from(offset).eq_(from.into()), |b| {
                    b.load(Place::Local(map), Space::Shared(space), thread.clone(), 1, Cache::Default);
                });
            }
            Expr::from(map)
        };
        let before = b.let_("before", Scalar::I32, offset);
        b.if_(thread.clone().gt(0.into()), |b| {
            let map = through(b, thread.clone() - 1);
            b.set(Place::Local(before), map);
        });
        let all = through(b, (LAYERS - 1).into());

        // Visits the entries that begin in the piece; run twice, to count words and to store the results.
        let entries = |b: &mut Builder, body: &dyn Fn(&mut Builder, Entry, &Expr, &Expr)| {
            let at = b.let_("at", Scalar::I32, Expr::from(before).and((ENTRY - 1).into()));
            let which = b.let_("which", Scalar::I32, Expr::from(block) + (Expr::from(before) >> 2));
            let goes_on = Expr::from(at).lt(size.clone()).and(Expr::from(which).lt(next.clone()));
            b.while_(goes_on, |b| {
                let here = Expr::from(b.let_("here", Scalar::I32, piece.clone() + at));
                let entry = index.entry(b, &here);
                added(b, at, entry.bytes.clone());
                body(b, entry, &here, &which.into());
                added(b, which, 1);
            });
        };
        let of_picture = picture.clone() * each.clone();
        let counted = b.let_("counted", Scalar::I32, 0);
        // Words of a block, its planes, and its words if raw.
        let shape = |b: &mut Builder, entry: &Entry, which: &Expr| {
            let planes = Expr::from(b.let_("planes", Scalar::I32, entry.head.clone().and(i32::from(RAW - 1).into())));
            let shape = Block::load(b, blocks, of_picture.clone() + which.clone());
            let raw = Expr::from(b.let_("raw", Scalar::I32, shape.raw_words(&planes)));
            let is_raw = entry.head.clone().and(i32::from(RAW).into()).ne_(0.into());
            let is_raw = Expr::from(b.let_("is_raw", Scalar::Bool, is_raw));
            let words = b.let_("own_words", Scalar::I32, is_raw.clone().select(raw.clone(), entry.many.clone()));
            (Expr::from(words), planes, raw, is_raw)
        };
        entries(b, &|b, entry, here, which| {
            let (number, planes, raw, is_raw) = shape(b, &entry, which);
            let Entry { head, mode, is_short, bytes, .. } = entry;
            let fits = (here.clone() + bytes.clone()).le(end.into()).and(head.clone().lt(i32::from(OPEN).into()));
            let fits = fits.and(planes.clone().le((MOST_PLANES as i32).into()));
            let is_coded = (!is_short).and(number.clone().gt(0.into())).and(number.clone().lt(raw));
            let known = mode.clone().and(31.into()).lt(tables.clone()).and(mode.lt(192.into()));
            let right = is_raw.or(is_coded.and(known)).and(planes.gt(0.into())).or(head.eq_(0.into()));
            added(b, wrong, (!fits.and(right)).cast(Scalar::I32));
            added(b, counted, number);
            let is_last = which.clone().eq_(next.clone() - 1);
            b.if_(is_last, |b| b.set(Place::Local(finish), here.clone() + bytes));
        });
        let [own_words] = sums_before(b, &thread, [of_words], [counted]);
        let byte = b.let_("first_byte", Scalar::I32, (Expr::from(words) + own_words) * 2);
        entries(b, &|b, entry, _, which| {
            let (number, planes, _, is_raw) = shape(b, &entry, which);
            let class = is_raw.clone().select(0.into(), entry.mode.clone().and(31.into()));
            let sharing = is_raw.select(AS_IT_IS.into(), entry.mode >> 5);
            for (i, value) in (0..).zip([planes, class, sharing, byte.into(), number.clone()]) {
                b.store(parsed, (of_picture.clone() + which.clone()) * PARSED as i32 + i, value);
            }
            added(b, byte, number * 2);
        });
        b.barrier();
        b.store(Space::Shared(of_words), thread.clone(), counted);
        b.barrier();
        let more = loaded(b, "more", Space::Shared(of_words), LAYERS - 1);
        added(b, words, more);
        b.set(Place::Local(offset), all.clone().and((ENTRY - 1).into()));
        added(b, block, all >> 2);
    });
    // Exactly one thread has met the last entry.
    sums_before(b, &thread, [maps[0], maps[1]], [wrong, finish]);
    let at = Expr::from(b.let_("behind", Scalar::I32, finish));
    let at = first.eq_(next.clone()).select(begin, at);
    let at = Expr::from(b.let_("last", Scalar::I32, at));
    let payload = Expr::from(b.let_("payload", Scalar::I32, Expr::from(words) * 2));
    let is_whole = (at.clone() + 2 * CHECKSUM as i32 + payload.clone()).eq_(end.into());
    let is_right = Expr::from(wrong).eq_(0.into()).and(Expr::from(block).ge(next));
    let ok = Expr::from(b.let_("ok", Scalar::Bool, Expr::from(fine).and(is_whole).and(is_right)));
    b.if_(thread.eq_((LAYERS - 1).into()), |b| {
        let own = [start.into(), at.clone() - start, at + CHECKSUM as i32, payload];
        for (i, value) in (0..).zip(own) {
            b.store(parts, Expr::from(Builtin::BlockX) * 4 + i, ok.clone().select(value, 0.into()));
        }
        b.store(faults, Builtin::BlockX, ok.select(0.into(), 1.into()));
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
    let each = Expr::from(b.scalar("each", Scalar::I32, "blocks of a picture"));
    let packets = Expr::from(b.scalar("packets", Scalar::I32, "packets of a picture"));
    let capacity = Expr::from(b.scalar("capacity", Scalar::I32, CAPACITY));
    let count = Expr::from(b.scalar("count", Scalar::I32, "number of blocks"));
    let at = Threads::index(b);
    b.if_(at.clone().lt(count), |b| {
        let picture = Expr::from(b.let_("picture", Scalar::I32, at.clone() / each.clone()));
        let packet = loaded(b, "of_packet", packet_of, at.clone() - picture.clone() * each);
        let packet = Expr::from(b.let_("packet", Scalar::I32, picture.clone() * packets + packet));
        let payload = loaded(b, "payload", parts, packet.clone() * 4 + 2);
        let fault = loaded(b, "fault", faults, packet);
        let said = ["planes", "class", "sharing", "byte", "words"].map(|name| b.let_(name, Scalar::I32, 0));
        b.if_(fault.eq_(0.into()), |b| {
            for (i, to) in (0..).zip(said) {
                b.load(Place::Local(to), parsed, at.clone() * PARSED as i32 + i, 1, Cache::Default);
            }
        });
        let [planes, class, sharing, byte, words] = said.map(Expr::from);
        for i in 0..4 {
            let same = loaded(b, "same", shapes, at.clone() * FIELDS as i32 + i);
            b.store(blocks, at.clone() * FIELDS as i32 + i, same);
        }
        for (i, value) in (4..).zip([picture * capacity + payload + byte, words, planes]) {
            b.store(blocks, at.clone() * FIELDS as i32 + i, value);
        }
        b.store(choices, at.clone() * 2, class);
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
    b.if_(scene.lane.clone().lt((CHECKSUM as i32).into()), |b| {
        let found = byte(b, streams, scene.end.clone() + wide(scene.lane.clone()));
        let wanted = (Expr::from(scene.hash) >> (scene.lane.clone() * 8)).cast(Scalar::I32).and(255.into());
        b.set(Place::Local(differs), found.ne_(wanted));
    });
    let any = b.ballot("any", differs);
    b.if_(scene.lane.eq_(0.into()), |b| {
        b.store(faults, Builtin::BlockX, Expr::from(any).ne_(Expr::int(0, Scalar::U32)).cast(Scalar::I32));
    });
    warps(builder)
}
