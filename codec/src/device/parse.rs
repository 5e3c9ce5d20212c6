//! Streams that came from anyone, read on a device: headers, the lengths of packets, indices and checksums. What is
//! not as `docs/format.md` has it, or not whole, is left to the processor, which says what it is. Nothing is read
//! beyond a stream's bytes, whatever they are.

use super::hash::Hash;
use super::packets::{Part, global, loaded};
use super::{Threads, warps};
use crate::block::kernel::{AS_IT_IS, Block, FIELDS, MOST_PLANES, sums};
use crate::header::CHECKSUM;
use crate::packet::{LENGTH, OPEN, RAW};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// Lanes of a warp.
const LANES: i32 = 32;

/// Numbers that the [`parser`] says of a block: planes, table, sharing, first byte in the payload, words.
pub const PARSED: usize = 5;

const CAPACITY: &str = "bytes from one stream to the next";
const LENGTHS: &str = "bytes of each stream";
const STREAMS: &str = "streams, one for each picture";

/// A byte of a stream as a number.
fn byte(b: &mut Builder, streams: Space, at: Expr) -> Expr {
    let byte = b.load_new("byte", Scalar::U8, streams, at);
    b.let_("number", Scalar::I32, Expr::from(byte).cast(Scalar::I32)).into()
}

fn wide(value: Expr) -> Expr {
    value.cast(Scalar::I64)
}

/// The kernel that holds headers against the one that a decoder was made for, but for their quantisers, and finds what
/// packets are checked with: a warp a picture. Its parameters, in order: streams (`u8`), lengths of streams (`i32`),
/// the header (`u8`), the hash's secret, seeds (`u64`), faults of each picture (`i32`: 1 if there is one), bytes of a
/// header, its first byte of quantisers and the first one behind them, bytes from one stream to the next (`i64`), and
/// the number of pictures.
pub fn header_reader() -> Kernel {
    let mut builder = Builder::new("read_headers");
    let b = &mut builder;
    b.doc("Whether headers are those that a decoder was made for, and the seeds of all checksums; a warp a picture.");
    let streams = global(b, "streams", Scalar::U8, Access::Read, STREAMS);
    let lengths = global(b, "lengths", Scalar::I32, Access::Read, LENGTHS);
    let expected = global(b, "expected", Scalar::U8, Access::Read, "the header");
    let secret = global(b, "secret", Scalar::I64, Access::Read, "the hash's secret");
    let seeds = global(b, "seeds", Scalar::U64, Access::Write, "hashes of headers");
    let faults = global(b, "faults", Scalar::I32, Access::Write, "whether a header is another one");
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

/// The kernel that reads the index of a packet, a warp each. Its parameters, in order: streams (`u8`), lengths of
/// streams (`i32`), blocks ([`Task`](crate::block::kernel::Task), of which the shapes are read), the first block of
/// each packet and the number of blocks, what it says of blocks ([`PARSED`] numbers each), parts as
/// [`parts`](super::packets::parts) has them, faults of each packet (`i32`), bytes of a header, blocks of a picture,
/// packets of a picture, tables, bytes from one stream to the next (`i64`), and packets of all pictures. A packet with
/// a fault has parts without bytes.
pub fn parser() -> Kernel {
    let mut builder = Builder::new("read_indices");
    let b = &mut builder;
    b.doc("What packets' indices say of their blocks, 32 bytes at a time, a warp a packet.");
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
    let lane = Expr::from(b.let_("lane", Scalar::I32, Builtin::Lane));
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
    // From packet to packet, by what they say of their lengths.
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

    let at = b.let_("at", Scalar::I32, Expr::from(start) + LENGTH as i32);
    let block = b.let_("of_block", Scalar::I32, first);
    let words = b.let_("words", Scalar::I32, 0);
    let below = (Expr::int(1, Scalar::U32) << lane.clone()) - Expr::int(1, Scalar::U32);
    let below = Expr::from(b.let_("below", Scalar::U32, below));
    let more = Expr::from(fine).and(Expr::from(block).lt(next.clone()));
    b.while_(more, |b| {
        let own = Expr::from(b.let_("from", Scalar::I32, Expr::from(at) + lane.clone()));
        let bytes: [LocalId; 4] = std::array::from_fn(|i| {
            let value = b.let_("of_entry", Scalar::I32, 0);
            let there = (own.clone() + i as i32).lt(end.into());
            b.if_(there, |b| {
                let read = byte(b, streams, stream.clone() + wide(own.clone() + i as i32));
                b.set(Place::Local(value), read);
            });
            value
        });
        let [head, mode, low, high] = bytes.map(Expr::from);
        let is_raw = Expr::from(b.let_("is_raw", Scalar::Bool, head.clone().and(i32::from(RAW).into()).ne_(0.into())));
        let planes = Expr::from(b.let_("planes", Scalar::I32, head.clone().and(i32::from(RAW - 1).into())));
        let is_short = is_raw.clone().or(head.clone().eq_(0.into()));
        let is_short = Expr::from(b.let_("is_short", Scalar::Bool, is_short));
        let two = Expr::from(b.let_("two", Scalar::Bool, low.clone().ge(128.into())));
        let long = two.clone().select(4.into(), 3.into());
        let bytes = Expr::from(b.let_("bytes", Scalar::I32, is_short.clone().select(1.into(), long)));
        // Where entries begin: the first one here, and each behind the one before.
        let short = b.ballot("short", is_short.clone());
        let long = b.ballot("long", bytes.clone().eq_(4.into()));
        let (passed, begins) =
            (b.let_("passed", Scalar::I32, 0), b.let_("begins", Scalar::U32, Expr::int(0, Scalar::U32)));
        let found = b.let_("found", Scalar::I32, 0);
        let left = Expr::from(b.let_("left", Scalar::I32, next.clone() - block));
        let goes_on = Expr::from(passed).lt(LANES.into()).and(Expr::from(found).lt(left));
        b.while_(goes_on, |b| {
            let bit =
                |of: LocalId| (Expr::from(of) >> Expr::from(passed)).and(Expr::int(1, Scalar::U32)).cast(Scalar::I32);
            let length = b.let_("length", Scalar::I32, Expr::from(3) - bit(short) * 2 + bit(long));
            b.set(Place::Local(begins), Expr::from(begins).or(Expr::int(1, Scalar::U32) << Expr::from(passed)));
            b.set(Place::Local(passed), Expr::from(passed) + length);
            b.set(Place::Local(found), Expr::from(found) + 1);
        });
        let mine = (Expr::from(begins) >> lane.clone()).and(Expr::int(1, Scalar::U32)).ne_(Expr::int(0, Scalar::U32));
        let mine = Expr::from(b.let_("mine", Scalar::Bool, mine));
        let (good, count) = (b.let_("good", Scalar::Bool, !mine.clone()), b.let_("own_words", Scalar::I32, 0));
        let rank = Expr::from(begins).and(below.clone()).count_ones().cast(Scalar::I32);
        let which = picture.clone() * each.clone() + Expr::from(block) + rank;
        let which = Expr::from(b.let_("which", Scalar::I32, which));
        b.if_(mine.clone(), |b| {
            let shape = Block::load(b, blocks, which.clone());
            let most = Expr::from(b.let_("most", Scalar::I32, shape.raw_words(&planes)));
            let many = low.clone().and(127.into()).or(two.select(high, 0.into()) << 7);
            let coded = is_short.clone().select(0.into(), many);
            b.set(Place::Local(count), is_raw.clone().select(most.clone(), coded));
            let fits = (own + bytes).le(end.into()).and(head.clone().lt(i32::from(OPEN).into()));
            let fits = fits.and(planes.clone().le((MOST_PLANES as i32).into()));
            let there = planes.clone().gt(0.into());
            let number = Expr::from(count);
            let is_coded = number.clone().gt(0.into()).and(number.lt(most));
            let known = mode.clone().and(31.into()).lt(tables.clone()).and(mode.clone().lt(192.into()));
            let right = is_raw.clone().or(is_coded.and(known)).and(there).or(head.eq_(0.into()));
            b.set(Place::Local(good), fits.and(right));
        });
        let wrong = b.ballot("wrong", !Expr::from(good));
        require(b, Expr::from(wrong).eq_(Expr::int(0, Scalar::U32)));
        let (before, all) = sums(b, &lane, "sum", count.into());
        b.if_(mine.and(fine.into()), |b| {
            let class = is_raw.clone().select(0.into(), mode.clone().and(31.into()));
            let sharing = is_raw.select(AS_IT_IS.into(), mode >> 5);
            let byte = (Expr::from(words) + before) * 2;
            for (i, value) in (0..).zip([planes, class, sharing, byte, count.into()]) {
                b.store(parsed, which.clone() * PARSED as i32 + i, value);
            }
        });
        b.set(Place::Local(words), Expr::from(words) + all);
        b.set(Place::Local(at), Expr::from(at) + passed);
        b.set(Place::Local(block), Expr::from(block) + found);
    });
    let payload = Expr::from(b.let_("payload", Scalar::I32, Expr::from(words) * 2));
    let is_whole = (Expr::from(at) + 2 * CHECKSUM as i32 + payload.clone()).eq_(end.into());
    let ok = b.let_("ok", Scalar::Bool, Expr::from(fine).and(is_whole));
    let ok = || Expr::from(ok);
    b.if_(lane.eq_(0.into()), |b| {
        let behind = Expr::from(at) + CHECKSUM as i32;
        let own = [start.into(), Expr::from(at) - start, behind, payload];
        for (i, value) in (0..).zip(own) {
            b.store(parts, Expr::from(Builtin::BlockX) * 4 + i, ok().select(value, 0.into()));
        }
        b.store(faults, Builtin::BlockX, ok().select(0.into(), 1.into()));
    });
    warps(builder)
}

/// The kernel that tells the coder of blocks what indices say of them: a thread a block. Its parameters, in order: what
/// the [`parser`] says of blocks, parts, faults of packets, the packet of each block of a picture (`i32`), blocks as
/// they are made for a picture's shape ([`Task`](crate::block::kernel::Task)), the same with words and planes, choices
/// (`i32`), blocks of a picture, packets of a picture, bytes from one stream to the next, and the number of blocks.
/// Blocks of a packet with a fault are zeros.
pub fn tasks() -> Kernel {
    let mut builder = Builder::new("prepare_blocks");
    let b = &mut builder;
    b.doc("What decoders are told of blocks, by indices; a thread a block.");
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

/// The kernel that holds checksums of parts of packets against streams, a warp each. Its parameters are those of
/// [`sealer`](super::packets::sealer), but that it reads streams; behind them come faults of each part (`i32`).
pub fn checker() -> Kernel {
    let mut builder = Builder::new("check_parts");
    let b = &mut builder;
    b.doc("Whether checksums of packets' indices and payloads are right; a warp each.");
    let hashes = global(b, "hashes", Scalar::U8, Access::Read, "hashes of pieces");
    let parts = global(b, "parts", Scalar::I32, Access::Read, "indices and payloads of packets");
    let secret = global(b, "secret", Scalar::I64, Access::Read, "the hash's secret");
    let seeds = global(b, "seeds", Scalar::U64, Access::Read, "hashes of headers");
    let streams = global(b, "streams", Scalar::U8, Access::Read, STREAMS);
    let faults = global(b, "faults", Scalar::I32, Access::Write, "whether a checksum is another one");
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
