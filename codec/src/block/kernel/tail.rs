//! Tail: one bit of each significant coefficient, stored in the rest of the open words and in further words.

use super::engine::Engine;
use super::{LANES, PLANE_WORDS, SIGNS, Scene, engine, sums, tail_planes};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// A lane's bits of 16 rows of a plane, two per row: indices of the words of bits and of signs, significance before the
/// plane, and significance at its end.
struct Part {
    at: Expr,
    signs: Expr,
    before: Expr,
    after: Expr,
}

/// Visits a lane's part of the tail in order.
fn parts(b: &mut Builder, scene: &Scene, planes: Expr, body: impl FnOnce(&mut Builder, &Part)) {
    let number = b.let_("words_of_plane", Scalar::I32, (scene.site.block.height + 15) >> 4);
    let of_tail = b.let_("planes_of_tail", Scalar::I32, planes.min(tail_planes(scene.order)));
    let significant = b.array("significant", Scalar::I32, PLANE_WORDS as u32);
    let element = |array: LocalId, at: Expr| array.at(at);
    b.for_("part", 0, number, 1, |b, part| {
        let all = b.let_("found", Scalar::I32, 0);
        b.for_("plane", of_tail, planes, 1, |b, plane| {
            let word = element(scene.bits, plane * PLANE_WORDS + part);
            b.set(all, all.or(word));
        });
        b.set(Place::Elem(significant, part), all);
    });
    b.for_("below", 0, of_tail, 1, |b, below| {
        let plane = b.let_("plane", Scalar::I32, of_tail - 1 - below);
        b.for_("part", 0, number, 1, |b, part| {
            let at = b.let_("at", Scalar::I32, plane * PLANE_WORDS + part);
            let before = b.let_("before", Scalar::I32, element(significant, part));
            let after = before.or(element(scene.bits, at.into()));
            let after = b.let_("after", Scalar::I32, after);
            let signs = part + SIGNS * PLANE_WORDS;
            body(b, &Part { at: at.into(), signs, before: before.into(), after: after.into() });
            b.set(Place::Elem(significant, part), after);
        });
    });
}

/// Calls `body` for each set bit, lowest first.
fn each(b: &mut Builder, bits: Expr, body: impl FnOnce(&mut Builder, Expr)) {
    let left = b.let_("remaining", Scalar::I32, bits);
    b.while_(left.ne_(0), |b| {
        let lowest = b.let_("lowest", Scalar::I32, left.and(-left));
        b.set(left, left.and(left - 1));
        body(b, lowest.into());
    });
}

fn without(bits: Expr, others: Expr) -> Expr {
    bits.and(Expr::binary(BinOp::Xor, others, (-1).into()))
}

fn add(b: &mut Builder, to: LocalId, what: impl Into<Expr>) {
    b.set(to, to + what.into());
}

/// Writes the tail, and returns the number of words of the block.
pub fn write(b: &mut Builder, scene: &Scene, engine: &Engine, planes: Expr) -> Expr {
    engine.flush(b, scene);
    // Bits of each lane, first bit highest, and the end of each lane's bits in the tail.
    let most = PLANE_WORDS * tail_planes(scene.order);
    let bits = Space::Shared(b.shared("tail", Scalar::I32, (LANES * most) as u32));
    let ends = Space::Shared(b.shared("ends", Scalar::I32, LANES as u32));
    let (count, pending) = (b.let_("count", Scalar::I32, 0), b.let_("pending", Scalar::I32, 0));
    let own_word = |count: Expr| scene.site.lane * most + (count >> 5);
    parts(b, scene, planes, |b, part| {
        let element = |at: Expr| scene.bits.at(at);
        // The sign of a newly significant coefficient; the plane's bit of an older one.
        let bit = part.before.and(element(part.at)).or(without(element(part.signs), part.before));
        let all = b.let_("all_bits", Scalar::I32, bit);
        each(b, part.after, |b, lowest| {
            let bit = all.and(lowest).ne_(0).select(1, 0);
            b.set(pending, (pending << 1).or(bit));
            add(b, count, 1);
            b.if_(count.and(31).eq_(0), |b| {
                b.store(bits, own_word(count - 1), pending);
            });
        });
    });
    let left = b.let_("left", Scalar::I32, count.and(31));
    b.if_(left.ne_(0), |b| {
        b.store(bits, own_word(count.into()), pending << (Expr::from(32) - left));
    });
    let (before, all) = sums(b, scene.site.lane, "sum", count.into());
    b.store(ends, scene.site.lane, before + count);
    b.push(Stmt::SyncWarp);

    let room = b.let_("room", Scalar::I32, engine.room(scene));
    let (first, rooms) = sums(b, scene.site.lane, "sum", room.into());
    let value = gather(b, (bits, ends, most), first, room.into());
    let fits = engine.place.lt(scene.site.block.limit);
    b.if_(room.ne_(0).and(fits), |b| {
        engine.store_word(b, scene, engine.place.into(), engine.low + value);
    });
    let more = b.let_("more", Scalar::I32, ((all - rooms).max(0) + 15) >> 4);
    b.for_("i", scene.site.lane, more, LANES, |b, i| {
        let at = b.let_("at", Scalar::I32, engine.taken + i);
        let value = gather(b, (bits, ends, most), rooms + i * 16, 16.into());
        b.if_(at.lt(scene.site.block.limit), |b| engine.store_word(b, scene, at.into(), value));
    });
    engine.taken + more
}

/// Bits of the tail from `from` on, with 0 after its end. Each lane's bits occupy at most `most` words.
fn gather(b: &mut Builder, (bits, ends, most): (Space, Space, i32), from: Expr, room: Expr) -> Expr {
    let value = b.let_("value", Scalar::I32, 0);
    let (of, begin) = (b.let_("of", Scalar::I32, 0), b.let_("begin", Scalar::I32, 0));
    let end = b.load_new("end", Scalar::I32, ends, 0);
    let from = b.let_("from", Scalar::I32, from);
    b.for_("position", from, from + room, 1, |b, position| {
        let passed = end.le(position).and(of.lt(LANES));
        b.while_(passed, |b| {
            add(b, of, 1);
            b.set(begin, end);
            b.if_(of.lt(LANES), |b| b.load(end, ends, of, 1, Cache::Default));
        });
        b.set(value, value << 1);
        b.if_(of.lt(LANES), |b| {
            let within = b.let_("within", Scalar::I32, position - begin);
            let word = of * most + (within >> 5);
            let word = b.load_new("word", Scalar::I32, bits, word);
            let bit = (word >> (Expr::from(31) - within.and(31))).and(1);
            b.set(value, value.or(bit));
        });
    });
    value.into()
}

/// Reads the tail. Returns, for each lane, whether the words have the right length.
pub fn read(b: &mut Builder, scene: &Scene, engine: &Engine, planes: Expr) -> Expr {
    let room_bits = Space::Shared(b.shared("rooms", Scalar::I32, engine::ROOM_BITS));
    let ok = b.let_("ok", Scalar::Bool, engine.taken.le(scene.site.block.limit));
    let room = b.let_("room", Scalar::I32, engine.room(scene));
    let carried = engine.low;
    let require = |b: &mut Builder, what: Expr| b.set(ok, ok.and(what));
    let is_open = engine.is_open(scene);
    require(b, (carried >> room).eq_(0).or(!is_open));
    let (first, rooms) = sums(b, scene.site.lane, "sum", room.into());
    b.for_("i", 0, room, 1, |b, i| {
        let bit = (carried >> (room - 1 - i)).and(1);
        b.store(room_bits, first + i, bit);
    });
    b.push(Stmt::SyncWarp);

    let count = b.let_("count", Scalar::I32, 0);
    parts(b, scene, planes, |b, part| add(b, count, part.after.count_ones()));
    let (before, all) = sums(b, scene.site.lane, "sum", count.into());
    let behind = b.let_("behind", Scalar::I32, (all - rooms).max(0));
    let more = (behind + 15) >> 4;
    require(b, (engine.taken + more).eq_(scene.site.block.limit));
    // Padding bits must be 0, in open words and in the last one.
    b.for_("i", all + scene.site.lane, rooms, LANES, |b, i| {
        let bit = b.load_new("bit", Scalar::I32, room_bits, i);
        require(b, bit.eq_(0));
    });
    b.if_(behind.and(15).ne_(0).and(ok), |b| {
        let last = engine.load_word(b, scene, scene.site.block.limit - 1);
        require(b, (last << behind.and(15)).and(0xffff).eq_(0));
    });

    let position = b.let_("position", Scalar::I32, before);
    parts(b, scene, planes, |b, part| {
        let all = b.let_("all_bits", Scalar::I32, 0);
        each(b, part.after, |b, lowest| {
            let bit = b.let_("bit", Scalar::I32, 0);
            b.if_else(
                position.lt(rooms),
                |b| b.load(bit, room_bits, position, 1, Cache::Default),
                |b| {
                    let within = b.let_("within", Scalar::I32, position - rooms);
                    let word = b.let_("at", Scalar::I32, engine.taken + (within >> 4));
                    b.if_(word.lt(scene.site.block.limit), |b| {
                        let word = engine.load_word(b, scene, word.into());
                        let shift = Expr::from(15) - within.and(15);
                        b.set(bit, (word >> shift).and(1));
                    });
                },
            );
            add(b, position, 1);
            let bit = bit.ne_(0).select(lowest, 0);
            b.set(all, all.or(bit));
        });
        let mut put = |at: Expr, bits: Expr| {
            let with = scene.bits.at(at).or(bits);
            b.set(Place::Elem(scene.bits, at), with);
        };
        put(part.at, all.and(part.before));
        put(part.signs, without(all.into(), part.before));
    });
    ok.into()
}
