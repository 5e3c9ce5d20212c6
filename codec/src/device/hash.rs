//! XXH3-64 (Y. Collet, xxHash 0.8) in the IR: a warp hashes a byte range of an array, with a seed.

use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

const PRIME32: [u64; 3] = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d];
const PRIME64: [u64; 5] =
    [0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0x85ebca77c2b2ae63, 0x27d4eb2f165667c5];
const MIX: [u64; 2] = [0x165667919e3779f9, 0x9fb21c651e98df25];

/// Bytes of a stripe: a word for each of 8 lanes.
const STRIPE: i32 = 64;
/// Stripes between scrambles.
const STRIPES: i32 = 16;

/// The default secret, as little-endian words.
const SECRET: [u64; 24] = [
    0xbe4ba423396cfeb8,
    0x1cad21f72c81017c,
    0xdb979083e96dd4de,
    0x1f67b3b7a4a44072,
    0x78e5c0cc4ee679cb,
    0x2172ffcc7dd05a82,
    0x8e2443f7744608b8,
    0x4c263a81e69035e0,
    0xcb00c391bb52283c,
    0xa32e531b8b65d088,
    0x4ef90da297486471,
    0xd8acdea946ef1938,
    0x3f349ce33f76faa8,
    0x1d4f0bc7c7bbdcf9,
    0x3159b4cd4be0518a,
    0x647378d9c97e9fc8,
    0xc3ebd33483acc5ea,
    0xeb6313faffa081c5,
    0x49daf0b751dd0d17,
    0x9e68d429265516d3,
    0xfca1477d58be162b,
    0xce31d07ad1b8f88f,
    0x280416958f3acb45,
    0x7e404bbbcafbd7af,
];

/// The secret, as a kernel argument.
pub fn secret() -> [i64; 24] {
    SECRET.map(|word| word as i64)
}

/// 64-bit constant; literals have at most 63 bits.
fn constant(value: u64) -> Expr {
    Expr::i64(value as i64).cast(Scalar::U64)
}

fn wide(value: Expr) -> Expr {
    value.cast(Scalar::U64)
}

fn xor(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    Expr::binary(BinOp::Xor, a.into(), b.into())
}

fn low(value: impl Into<Expr>) -> Expr {
    value.into().and(Expr::int(0xffff_ffff, Scalar::U64))
}

/// Inputs of a hash.
pub struct Hash {
    /// The bytes.
    pub bytes: Space,
    /// Offset of the first byte (`i64`).
    pub start: Expr,
    /// Number of bytes (`i32`); like `start`, equal in all lanes of a warp.
    pub len: Expr,
    /// The array of [`secret`].
    pub secret: Space,
    /// Seed (`u64`).
    pub seed: Expr,
    /// The thread's lane.
    pub lane: Expr,
}

impl Hash {
    /// The hash, in a variable of every lane.
    pub fn all(&self, b: &mut Builder) -> LocalId {
        let hash = b.let_("hash", Scalar::U64, constant(0));
        let len = self.len;
        let set = |b: &mut Builder, value: Expr| b.set(hash, value);
        b.if_else(
            len.gt(240),
            |b| {
                let value = self.long(b);
                set(b, value);
            },
            |b| {
                b.if_else(
                    len.gt(16),
                    |b| {
                        let value = self.middle(b);
                        set(b, value);
                    },
                    |b| {
                        let value = self.short(b);
                        set(b, value);
                    },
                );
            },
        );
        hash
    }

    /// Little-endian number of `count` bytes at an offset.
    fn read(&self, b: &mut Builder, at: impl Into<Expr>, count: i32) -> LocalId {
        let at = b.let_("from", Scalar::I64, self.start + at.into().cast(Scalar::I64));
        let mut value = None;
        for i in 0..count {
            let byte = b.load_new("byte", Scalar::U8, self.bytes, at + Expr::i64(i.into()));
            let byte = wide(byte.into()) << (8 * i);
            value = Some(value.map_or(byte, |value: Expr| value.or(byte)));
        }
        b.let_("value", Scalar::U64, value.unwrap_or_else(|| constant(0)))
    }

    /// 8 bytes of the secret, beginning `past` bytes into this word.
    fn secret(&self, b: &mut Builder, word: impl Into<Expr>, past: i32, derived: bool) -> Expr {
        let word = b.let_("word", Scalar::I32, word);
        let mut load = |at: Expr| {
            let at = b.let_("at", Scalar::I32, at);
            let key = b.load_new("key", Scalar::I64, self.secret, at);
            let key = wide(key.into());
            if !derived {
                return key;
            }
            let is_even = at.and(1).eq_(0);
            Expr::from(b.let_("key", Scalar::U64, is_even.select(key + self.seed, key - self.seed)))
        };
        let first = load(word.into());
        if past == 0 {
            return first;
        }
        let second = load(word + 1);
        (first >> (8 * past)).or(second << (64 - 8 * past))
    }

    /// Hash of up to 16 bytes.
    fn short(&self, b: &mut Builder) -> Expr {
        let len = self.len;
        let fixed = |a: usize, c: usize| constant(SECRET[a] ^ SECRET[c]);
        let hash = b.let_("few", Scalar::U64, constant(0));
        let set = |b: &mut Builder, value: Expr| b.set(hash, value);
        b.if_(len.eq_(0), |b| {
            let value = avalanche64(b, xor(self.seed, fixed(7, 8)));
            set(b, value);
        });
        b.if_(len.gt(0).and(len.lt(4)), |b| {
            let [first, middle, last] = [0.into(), len >> 1, len - 1].map(|at| self.read(b, at, 1));
            let all = (first << 16).or(middle << 24);
            let all = all.or(last).or(wide(len) << 8);
            let flip = constant((SECRET[0] & 0xffff_ffff) ^ SECRET[0] >> 32) + self.seed;
            let value = avalanche64(b, xor(all, flip));
            set(b, value);
        });
        b.if_(len.ge(4).and(len.le(8)), |b| {
            let (first, last) = (self.read(b, 0, 4), self.read(b, len - 4, 4));
            let byte = |i: i32| (self.seed >> (8 * i)).and(constant(255));
            let swapped = (byte(0) << 24).or(byte(1) << 16).or(byte(2) << 8).or(byte(3));
            let flip = fixed(1, 2) - xor(self.seed, swapped << 32);
            let value = b.let_("h", Scalar::U64, xor(last + (first << 32), flip));
            let turned = |n: i32| (value << n).or(value >> (64 - n));
            let mixed = b.let_("h", Scalar::U64, xor(xor(value, turned(49)), turned(24)) * constant(MIX[1]));
            let mixed = b.let_("h", Scalar::U64, xor(mixed, (mixed >> 35) + wide(len)) * constant(MIX[1]));
            set(b, xor(mixed, mixed >> 28));
        });
        b.if_(len.ge(9).and(len.le(16)), |b| {
            let (first, last) = (self.read(b, 0, 8), self.read(b, len - 8, 8));
            let first = b.let_("first", Scalar::U64, xor(first, fixed(3, 4) + self.seed));
            let last = b.let_("last", Scalar::U64, xor(last, fixed(5, 6) - self.seed));
            let byte = |i: i32| (first >> (8 * i)).and(constant(255));
            let swapped = (0..8).map(|i| byte(i) << (56 - 8 * i)).reduce(Expr::or).unwrap_or_else(|| constant(0));
            let product = fold(b, first.into(), last.into());
            let value = avalanche(b, wide(len) + swapped + last + product);
            set(b, value);
        });
        hash.into()
    }

    /// Mixes 16 bytes with 16 bytes of the secret.
    fn mix(&self, b: &mut Builder, at: Expr, word: Expr, past: i32) -> Expr {
        let at = b.let_("of", Scalar::I32, at);
        let (first, second) = (self.read(b, at, 8), self.read(b, at + 8, 8));
        let word = b.let_("pair", Scalar::I32, word);
        let keys = [self.secret(b, word, past, false), self.secret(b, word + 1, past, false)];
        let [one, other] = keys;
        fold(b, xor(first, one + self.seed), xor(second, other - self.seed))
    }

    /// Hash of 17 to 240 bytes.
    fn middle(&self, b: &mut Builder) -> Expr {
        let len = self.len;
        let sum = b.let_("sum", Scalar::U64, wide(len) * constant(PRIME64[0]));
        let add = |b: &mut Builder, value: Expr| b.set(sum, sum + value);
        b.if_else(
            len.le(128),
            |b| {
                b.for_("pair", 0, (len + 31) >> 5, 1, |b, i| {
                    let value = self.mix(b, i * 16, i * 4, 0);
                    add(b, value);
                    let value = self.mix(b, len - 16 - i * 16, i * 4 + 2, 0);
                    add(b, value);
                });
            },
            |b| {
                b.for_("i", 0, 8, 1, |b, i| {
                    let value = self.mix(b, i * 16, i * 2, 0);
                    add(b, value);
                });
                let value = avalanche(b, sum.into());
                b.set(sum, value);
                b.for_("i", 8, len >> 4, 1, |b, i| {
                    let value = self.mix(b, i * 16, (i - 8) * 2, 3);
                    add(b, value);
                });
                let value = self.mix(b, len - 16, 14.into(), 7);
                add(b, value);
            },
        );
        avalanche(b, sum.into())
    }

    /// Contributions of a lane's word of a stripe: to its neighbour's accumulator and to its own.
    fn word(&self, b: &mut Builder, at: Expr, key: Expr, there: Option<Expr>) -> [LocalId; 2] {
        let (value, product) = (b.let_("own", Scalar::U64, constant(0)), b.let_("product", Scalar::U64, constant(0)));
        let read = |b: &mut Builder| {
            let read = self.read(b, at, 8);
            b.set(value, read);
            let keyed = b.let_("keyed", Scalar::U64, xor(read, key));
            b.set(product, low(keyed) * (keyed >> 32));
        };
        match there {
            Some(there) => b.if_(there, read),
            None => read(b),
        }
        [value, product]
    }

    /// Hash of more than 240 bytes: eight lanes hold the accumulators, and four stripes are read at once.
    fn long(&self, b: &mut Builder) -> Expr {
        let len = self.len;
        let column = b.let_("column", Scalar::I32, self.lane.and(7));
        let row = b.let_("row", Scalar::I32, self.lane >> 3);
        let first = [PRIME32[2], PRIME64[0], PRIME64[1], PRIME64[2], PRIME64[3], PRIME32[1], PRIME64[4], PRIME32[0]];
        let begin = (0i32..).zip(first).fold(constant(0), |all, (i, value)| column.eq_(i).select(constant(value), all));
        let sum = b.let_("sum", Scalar::U64, begin);
        let block = STRIPE * STRIPES;
        let blocks = b.let_("blocks", Scalar::I32, (len - 1) / block);
        // Accumulates the stripes of a block from a byte on, limited to the first `count`.
        let stripes = |b: &mut Builder, from: Expr, count: Option<Expr>| {
            let part = b.let_("part", Scalar::U64, constant(0));
            b.for_("group", 0, STRIPES / 4, 1, |b, group| {
                let stripe = b.let_("stripe", Scalar::I32, group * 4 + row);
                let key = self.secret(b, stripe + column, 0, true);
                let at = from + stripe * STRIPE + column * 8;
                let there = count.map(|count| stripe.lt(count));
                let [value, product] = self.word(b, at, key, there);
                let other = b.shuffle("other", Scalar::U64, value, Lane::Xor(1));
                b.set(part, part + other + product);
            });
            for distance in [8, 16] {
                let other = b.shuffle("other", Scalar::U64, part, Lane::Xor(distance));
                b.set(part, part + other);
            }
            b.set(sum, sum + part);
        };
        let scramble = self.secret(b, column + STRIPES, 0, true);
        let scramble = b.let_("scramble", Scalar::U64, scramble);
        b.for_("block", 0, blocks, 1, |b, i| {
            stripes(b, i * block, None);
            let mixed = xor(xor(sum, sum >> 47), scramble);
            b.set(sum, mixed * constant(PRIME32[0]));
        });
        let behind = b.let_("behind", Scalar::I32, blocks * block);
        let count = b.let_("count", Scalar::I32, (len - 1 - behind) / STRIPE);
        stripes(b, behind.into(), Some(count.into()));
        // The last stripe may overlap its predecessor.
        let key = self.secret(b, column + 15, 1, true);
        let [value, product] = self.word(b, len - STRIPE + column * 8, key, None);
        let other = b.shuffle("other", Scalar::U64, value, Lane::Xor(1));
        b.set(sum, sum + other + product);
        // Pairs of accumulators merge into one number.
        let other = b.shuffle("other", Scalar::U64, sum, Lane::Xor(1));
        let is_even = column.and(1).eq_(0);
        let pair = b.let_("pair", Scalar::I32, (column >> 1) * 2);
        let one = is_even.select(sum, other);
        let two = is_even.select(other, sum);
        let keys = [self.secret(b, pair + 1, 3, true), self.secret(b, pair + 2, 3, true)];
        let [first, second] = keys;
        let product = fold(b, xor(one, first), xor(two, second));
        let all = b.let_("all", Scalar::U64, product);
        for distance in [2, 4] {
            let other = b.shuffle("other", Scalar::U64, all, Lane::Xor(distance));
            b.set(all, all + other);
        }
        avalanche(b, wide(len) * constant(PRIME64[0]) + all)
    }
}

/// Exclusive or of the halves of a 128-bit product.
fn fold(b: &mut Builder, a: Expr, c: Expr) -> Expr {
    let mut name = |name: &str, value: Expr| b.let_(name, Scalar::U64, value);
    let (a, c) = (name("a", a), name("c", c));
    let parts = |x: Expr| (low(x), x >> 32);
    let ((a0, a1), (c0, c1)) = (parts(a.into()), parts(c.into()));
    let lowest = name("lowest", a0 * c0);
    let crossed = name("crossed", a1 * c0);
    let middle = name("middle", (lowest >> 32) + low(crossed) + a0 * c1);
    let upper = (crossed >> 32) + (middle >> 32) + a1 * c1;
    Expr::from(name("folded", xor((middle << 32).or(low(lowest)), upper)))
}

/// Final mixing step of XXH3.
fn avalanche(b: &mut Builder, value: Expr) -> Expr {
    let h = b.let_("h", Scalar::U64, value);
    let h = b.let_("h", Scalar::U64, xor(h, h >> 37) * constant(MIX[0]));
    xor(h, h >> 32)
}

/// Final mixing step of XXH64.
fn avalanche64(b: &mut Builder, value: Expr) -> Expr {
    let h = b.let_("h", Scalar::U64, value);
    let h = b.let_("h", Scalar::U64, xor(h, h >> 33) * constant(PRIME64[1]));
    let h = b.let_("h", Scalar::U64, xor(h, h >> 29) * constant(PRIME64[2]));
    xor(h, h >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lifting_codegen::ir::interp::{Arg, Buffer, run};
    use lifting_codegen::ir::valid::validate;
    use xxhash_rust::xxh3::xxh3_64_with_seed;

    /// Kernel in which each warp hashes the number of bytes given for its block.
    fn kernel(lengths: &[i32]) -> Kernel {
        let mut builder = Builder::new("hash");
        let b = &mut builder;
        let bytes = Space::Global(b.pointer("bytes", Scalar::U8, Access::Read, "bytes"));
        let secret = Space::Global(b.pointer("secret", Scalar::I64, Access::Read, "the secret"));
        let counts = Space::Global(b.pointer("counts", Scalar::I32, Access::Read, "how many"));
        let seeds = Space::Global(b.pointer("seeds", Scalar::U64, Access::Read, "seeds"));
        let hashes = Space::Global(b.pointer("hashes", Scalar::U64, Access::Write, "hashes"));
        let lane = b.let_("lane", Scalar::I32, Builtin::Lane);
        let len = b.load_new("len", Scalar::I32, counts, Builtin::BlockX).into();
        let seed = b.load_new("seed", Scalar::U64, seeds, Builtin::BlockX).into();
        let start = Builtin::BlockX.cast(Scalar::I64);
        let hash = Hash { bytes, start, len, secret, seed, lane: lane.into() }.all(b);
        b.if_(lane.eq_(0), |b| b.store(hashes, Builtin::BlockX, hash));
        let grid = [Expr::i32(lengths.len() as i64), Expr::i32(1), Expr::i32(1)];
        builder.finish(Launch { block: [32, 1, 1], grid })
    }

    #[test]
    fn hashes_are_xxh3() {
        let lengths = [
            0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 97, 128, 129, 144, 159, 200, 239,
            240, 241, 255, 256, 320, 1023, 1024, 1025, 1100, 2047, 2048, 2049, 3333,
        ];
        let bytes: Vec<u8> = (0..4000u32).map(|i| (i.wrapping_mul(2654435761) >> 11) as u8).collect();
        let seeds: Vec<u64> =
            (0..lengths.len() as u64).map(|i| if i % 5 == 4 { 0 } else { i.wrapping_mul(PRIME64[0]) }).collect();
        let kernel = kernel(&lengths);
        let info = validate(&kernel).unwrap_or_else(|e| panic!("{}", e[0]));
        let hashes = Buffer::undefined(Scalar::U64, lengths.len());
        let arrays = [Buffer::new(&bytes), Buffer::new(&secret()), Buffer::new(&lengths), Buffer::new(&seeds), hashes];
        let mut args: Vec<Arg> = arrays.into_iter().map(Arg::from).collect();
        run(&kernel, &info, &mut args).unwrap_or_else(|e| panic!("{e}"));
        let found: Vec<u64> = args[4].buffer().and_then(|b| b.to_vec()).unwrap();
        for (i, (&len, &seed)) in lengths.iter().zip(&seeds).enumerate() {
            assert_eq!(found[i], xxh3_64_with_seed(&bytes[i..i + len as usize], seed), "{len} bytes");
        }
    }
}
