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
fn parts(b: &mut Builder, scene: &Scene, planes: &Expr, body: impl FnOnce(&mut Builder, &Part)) {
    let number = b.let_("words_of_plane", Scalar::I32, (scene.site.block.height.clone() + 15) >> 4);
    let of_tail = b.let_("planes_of_tail", Scalar::I32, planes.clone().min(tail_planes(scene.order).into()));
    let significant = b.array("significant", Scalar::I32, PLANE_WORDS as u32);
    let element = |array: LocalId, at: &Expr| Expr::Elem(array, Box::new(at.clone()));
    b.for_("part", 0, number, 1, |b, part| {
        let all = b.let_("found", Scalar::I32, 0);
        b.for_("plane", of_tail, planes.clone(), 1, |b, plane| {
            let word = element(scene.bits, &(plane * PLANE_WORDS + part.clone()));
            b.set(Place::Local(all), Expr::from(all).or(word));
        });
        b.set(Place::Elem(significant, part), all);
    });
    b.for_("below", 0, of_tail, 1, |b, below| {
        let plane = b.let_("plane", Scalar::I32, Expr::from(of_tail) - 1 - below);
        b.for_("part", 0, number, 1, |b, part| {
            let at = Expr::from(b.let_("at", Scalar::I32, Expr::from(plane) * PLANE_WORDS + part.clone()));
            let before = Expr::from(b.let_("before", Scalar::I32, element(significant, &part)));
            let after = before.clone().or(element(scene.bits, &at));
            let after = Expr::from(b.let_("after", Scalar::I32, after));
            let signs = part.clone() + SIGNS * PLANE_WORDS;
            body(b, &Part { at, signs, before, after: after.clone() });
            b.set(Place::Elem(significant, part), after);
        });
    });
}

/// Calls `body` for each set bit, lowest first.
fn each(b: &mut Builder, bits: &Expr, body: impl FnOnce(&mut Builder, Expr)) {
    let left = b.let_("remaining", Scalar::I32, bits.clone());
    b.while_(Expr::from(left).ne_(0.into()), |b| {
        let lowest = b.let_("lowest", Scalar::I32, Expr::from(left).and(-Expr::from(left)));
        b.set(Place::Local(left), Expr::from(left).and(Expr::from(left) - 1));
        body(b, lowest.into());
    });
}

fn without(bits: &Expr, others: &Expr) -> Expr {
    bits.clone().and(Expr::binary(BinOp::Xor, others.clone(), (-1).into()))
}

fn add(b: &mut Builder, to: LocalId, what: impl Into<Expr>) {
    b.set(Place::Local(to), Expr::from(to) + what.into());
}

/// Writes the tail, and returns the number of words of the block.
pub fn write(b: &mut Builder, scene: &Scene, engine: &Engine, planes: &Expr) -> Expr {
    engine.flush(b, scene);
    // Bits of each lane, first bit highest, and the end of each lane's bits in the tail.
    let most = PLANE_WORDS * tail_planes(scene.order);
    let bits = Space::Shared(b.shared("tail", Scalar::I32, (LANES * most) as u32));
    let ends = Space::Shared(b.shared("ends", Scalar::I32, LANES as u32));
    let (count, pending) = (b.let_("count", Scalar::I32, 0), b.let_("pending", Scalar::I32, 0));
    let own_word = |count: Expr| scene.site.lane.clone() * most + (count >> 5);
    parts(b, scene, planes, |b, part| {
        let element = |at: &Expr| Expr::Elem(scene.bits, Box::new(at.clone()));
        // The sign of a newly significant coefficient; the plane's bit of an older one.
        let bit = part.before.clone().and(element(&part.at)).or(without(&element(&part.signs), &part.before));
        let all = Expr::from(b.let_("all_bits", Scalar::I32, bit));
        each(b, &part.after, |b, lowest| {
            let bit = all.and(lowest).ne_(0.into()).select(1.into(), 0.into());
            b.set(Place::Local(pending), (Expr::from(pending) << 1).or(bit));
            add(b, count, 1);
            b.if_(Expr::from(count).and(31.into()).eq_(0.into()), |b| {
                b.store(bits, own_word(Expr::from(count) - 1), pending);
            });
        });
    });
    let left = b.let_("left", Scalar::I32, Expr::from(count).and(31.into()));
    b.if_(Expr::from(left).ne_(0.into()), |b| {
        b.store(bits, own_word(count.into()), Expr::from(pending) << (Expr::from(32) - Expr::from(left)));
    });
    let (before, all) = sums(b, &scene.site.lane, "sum", count.into());
    b.store(ends, scene.site.lane.clone(), before + count);
    b.push(Stmt::SyncWarp);

    let room = b.let_("room", Scalar::I32, engine.room(scene));
    let (first, rooms) = sums(b, &scene.site.lane, "sum", room.into());
    let value = gather(b, (bits, ends, most), first, room.into());
    let fits = Expr::from(engine.place).lt(scene.site.block.limit.clone());
    b.if_(Expr::from(room).ne_(0.into()).and(fits), |b| {
        engine.store_word(b, scene, engine.place.into(), Expr::from(engine.low) + value);
    });
    let more = b.let_("more", Scalar::I32, ((all - rooms.clone()).max(0.into()) + 15) >> 4);
    b.for_("i", scene.site.lane.clone(), more, LANES, |b, i| {
        let at = b.let_("at", Scalar::I32, Expr::from(engine.taken) + i.clone());
        let value = gather(b, (bits, ends, most), rooms.clone() + i * 16, 16.into());
        b.if_(Expr::from(at).lt(scene.site.block.limit.clone()), |b| engine.store_word(b, scene, at.into(), value));
    });
    Expr::from(engine.taken) + more
}

/// Bits of the tail from `from` on, with 0 after its end. Each lane's bits occupy at most `most` words.
fn gather(b: &mut Builder, (bits, ends, most): (Space, Space, i32), from: Expr, room: Expr) -> Expr {
    let value = b.let_("value", Scalar::I32, 0);
    let (of, begin) = (b.let_("of", Scalar::I32, 0), b.let_("begin", Scalar::I32, 0));
    let end = b.load_new("end", Scalar::I32, ends, 0);
    let from = b.let_("from", Scalar::I32, from);
    b.for_("position", from, Expr::from(from) + room, 1, |b, position| {
        let passed = Expr::from(end).le(position.clone()).and(Expr::from(of).lt(LANES.into()));
        b.while_(passed, |b| {
            add(b, of, 1);
            b.set(Place::Local(begin), end);
            b.if_(Expr::from(of).lt(LANES.into()), |b| b.load(Place::Local(end), ends, of, 1, Cache::Default));
        });
        b.set(Place::Local(value), Expr::from(value) << 1);
        b.if_(Expr::from(of).lt(LANES.into()), |b| {
            let within = b.let_("within", Scalar::I32, position - Expr::from(begin));
            let word = Expr::from(of) * most + (Expr::from(within) >> 5);
            let word = b.load_new("word", Scalar::I32, bits, word);
            let bit = (Expr::from(word) >> (Expr::from(31) - Expr::from(within).and(31.into()))).and(1.into());
            b.set(Place::Local(value), Expr::from(value).or(bit));
        });
    });
    value.into()
}

/// Reads the tail. Returns, for each lane, whether the words have the right length.
pub fn read(b: &mut Builder, scene: &Scene, engine: &Engine, planes: &Expr) -> Expr {
    let room_bits = Space::Shared(b.shared("rooms", Scalar::I32, engine::ROOM_BITS));
    let ok = b.let_("ok", Scalar::Bool, Expr::from(engine.taken).le(scene.site.block.limit.clone()));
    let room = b.let_("room", Scalar::I32, engine.room(scene));
    let carried = engine.low;
    let require = |b: &mut Builder, what: Expr| b.set(Place::Local(ok), Expr::from(ok).and(what));
    let is_open = engine.is_open(scene);
    require(b, (Expr::from(carried) >> Expr::from(room)).eq_(0.into()).or(!is_open));
    let (first, rooms) = sums(b, &scene.site.lane, "sum", room.into());
    b.for_("i", 0, room, 1, |b, i| {
        let bit = (Expr::from(carried) >> (Expr::from(room) - 1 - i.clone())).and(1.into());
        b.store(room_bits, first.clone() + i, bit);
    });
    b.push(Stmt::SyncWarp);

    let count = b.let_("count", Scalar::I32, 0);
    parts(b, scene, planes, |b, part| add(b, count, part.after.clone().count_ones()));
    let (before, all) = sums(b, &scene.site.lane, "sum", count.into());
    let behind = b.let_("behind", Scalar::I32, (all.clone() - rooms.clone()).max(0.into()));
    let more = (Expr::from(behind) + 15) >> 4;
    require(b, (Expr::from(engine.taken) + more).eq_(scene.site.block.limit.clone()));
    // Padding bits must be 0, in open words and in the last one.
    b.for_("i", all + scene.site.lane.clone(), rooms.clone(), LANES, |b, i| {
        let bit = b.load_new("bit", Scalar::I32, room_bits, i);
        require(b, Expr::from(bit).eq_(0.into()));
    });
    b.if_(Expr::from(behind).and(15.into()).ne_(0.into()).and(ok.into()), |b| {
        let last = engine.load_word(b, scene, scene.site.block.limit.clone() - 1);
        require(b, (last << Expr::from(behind).and(15.into())).and(0xffff.into()).eq_(0.into()));
    });

    let position = b.let_("position", Scalar::I32, before);
    parts(b, scene, planes, |b, part| {
        let all = b.let_("all_bits", Scalar::I32, 0);
        each(b, &part.after, |b, lowest| {
            let bit = b.let_("bit", Scalar::I32, 0);
            b.if_else(
                Expr::from(position).lt(rooms.clone()),
                |b| b.load(Place::Local(bit), room_bits, position, 1, Cache::Default),
                |b| {
                    let within = b.let_("within", Scalar::I32, Expr::from(position) - rooms.clone());
                    let word = b.let_("at", Scalar::I32, Expr::from(engine.taken) + (Expr::from(within) >> 4));
                    b.if_(Expr::from(word).lt(scene.site.block.limit.clone()), |b| {
                        let word = engine.load_word(b, scene, word.into());
                        let shift = Expr::from(15) - Expr::from(within).and(15.into());
                        b.set(Place::Local(bit), (word >> shift).and(1.into()));
                    });
                },
            );
            add(b, position, 1);
            let bit = Expr::from(bit).ne_(0.into()).select(lowest, 0.into());
            b.set(Place::Local(all), Expr::from(all).or(bit));
        });
        let mut put = |at: &Expr, bits: Expr| {
            let with = Expr::Elem(scene.bits, Box::new(at.clone())).or(bits);
            b.set(Place::Elem(scene.bits, at.clone()), with);
        };
        put(&part.at, Expr::from(all).and(part.before.clone()));
        put(&part.signs, without(&all.into(), &part.before));
    });
    ok.into()
}
