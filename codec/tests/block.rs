//! Round trips of blocks, and robustness of the decoder against any words.

use lifting_codec::block::{
    BlockShape, Counts, Encoded, MAX_SIDE, Mode, Order, Passes, Prefix, SignAxis, decode, decode_sequentially, encode,
    encode_sequentially, encode_with, encode_with_prefixes,
};
use lifting_codec::tables::{TABLE_BYTES, Table, Tables};
use proptest::prelude::*;

fn shapes() -> impl Strategy<Value = BlockShape> {
    let passes = prop_oneof![Just(Passes::Two), Just(Passes::Three)];
    let direction = prop_oneof![Just(SignAxis::Vertical), Just(SignAxis::Horizontal)];
    let sides = prop_oneof![Just((64, 64)), (1..=MAX_SIDE, 1..=MAX_SIDE)];
    let fast = prop_oneof![Just(0), 0..=32u32];
    (sides, direction, passes, fast).prop_map(|((height, width), direction, passes, fast)| BlockShape {
        height,
        width,
        direction,
        order: Order { passes, fast },
    })
}

/// Zero blocks need no words in any mode.
#[test]
fn zeros_take_no_words() {
    let tables = Tables::built_in();
    for (height, width) in [(1, 1), (3, 5), (64, 64)] {
        for passes in [Passes::Two, Passes::Three] {
            let shape = BlockShape { height, width, direction: SignAxis::Vertical, order: passes.into() };
            let zeros = vec![0; shape.samples()];
            for sharing in 0..=5 {
                let encoded = encode_with(shape, &zeros, 1, sharing, &tables[1]);
                assert_eq!((encoded.planes, encoded.words.len()), (0, 0));
                assert_eq!(encoded, encode_sequentially(shape, &zeros, 1, sharing, &tables[1]));
                assert_eq!(decoded(shape, &encoded, tables), zeros);
            }
            assert_eq!(decoded(shape, &encode(shape, &zeros, tables), tables), zeros);
        }
    }
}

/// Coefficients, mostly small, up to the full 32-bit range.
fn coefficients(samples: usize) -> impl Strategy<Value = Vec<i32>> {
    let sparse = prop::collection::vec(prop_oneof![30 => Just(0), 1 => -3..=3], samples);
    let laplacian = prop::collection::vec((0u32..12, any::<i32>()), samples)
        .prop_map(|all| all.into_iter().map(|(bits, x)| x >> (20 + bits).min(31)).collect());
    let any = prop::collection::vec(any::<i32>(), samples);
    let extreme = prop::collection::vec(prop::sample::select(vec![0, 1, -1, i32::MIN, i32::MAX]), samples);
    prop_oneof![2 => sparse, 4 => laplacian, 1 => any, 1 => extreme]
}

fn blocks() -> impl Strategy<Value = (BlockShape, Vec<i32>)> {
    shapes().prop_flat_map(|shape| (Just(shape), coefficients(shape.samples())))
}

/// Valid and invalid modes.
fn modes() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Raw), (0u8..40, 0u8..8).prop_map(|(class, sharing)| Mode::Coded { class, sharing })]
}

/// Tables of arbitrary probabilities.
fn tables() -> impl Strategy<Value = Tables> {
    prop::collection::vec(1u8..=127, 3 * TABLE_BYTES).prop_map(|bytes| Tables::from_bytes(&bytes).unwrap())
}

fn decoded(shape: BlockShape, encoded: &Encoded, tables: &Tables) -> Vec<i32> {
    let Encoded { planes, mode, words } = encoded;
    let decoded = decode(shape, *planes, *mode, words, true, tables).unwrap();
    assert!(decoded.unknown.iter().all(|n| *n == 0));
    decoded.coefficients().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn blocks_round_trip((shape, coefficients) in blocks(), tables in tables(), sharing in 0u8..=5) {
        for set in [&tables, Tables::built_in()] {
            let encoded = encode(shape, &coefficients, set);
            prop_assert_eq!(&decoded(shape, &encoded, set), &coefficients);
            let most = shape.samples() * (encoded.planes as usize + 1);
            prop_assert!(16 * encoded.words.len() <= most + 15, "no more than as it is");
        }
        if coefficients.iter().any(|c| *c != 0) {
            let encoded = encode_with(shape, &coefficients, 2, sharing, &tables[2]);
            prop_assert_eq!(decoded(shape, &encoded, &tables), coefficients);
        }
    }

    /// The vectorised coder equals the sequential one: words, counts, and results for corrupted words.
    #[test]
    fn vectors_match_the_reference(
        (shape, coefficients) in blocks(),
        tables in tables(),
        sharing in 0u8..=5,
        at in any::<prop::sample::Index>(),
        bits in any::<u16>(),
    ) {
        prop_assert_eq!(Counts::of(shape, &coefficients), Counts::sequentially(shape, &coefficients));
        let table = &tables[1];
        let mut encoded = encode_with(shape, &coefficients, 1, sharing, table);
        prop_assert_eq!(&encoded, &encode_sequentially(shape, &coefficients, 1, sharing, table));
        prop_assume!(!encoded.words.is_empty() && encoded.planes < 32);
        let changed = at.index(encoded.words.len());
        for bits in [0, bits] {
            encoded.words[changed] ^= bits;
            let Encoded { planes, mode, words } = &encoded;
            let decoded = decode(shape, *planes, *mode, words, true, &tables);
            let defined = decode_sequentially(shape, *planes, sharing, words, true, table);
            let signs = |d: &lifting_codec::block::Decoded| d.coefficients().collect::<Vec<_>>();
            prop_assert_eq!(decoded.as_ref().map(signs), defined.as_ref().map(signs));
        }
    }

    /// A prefix yields fewer bits of each coefficient, and these are right.
    #[test]
    fn prefixes_decode_to_correct_bits((shape, coefficients) in blocks(), share in 0f64..1.0) {
        let tables = Tables::built_in();
        let Encoded { planes, mode, words } = encode(shape, &coefficients, tables);
        let length = (share * words.len() as f64) as usize;
        let prefix = decode(shape, planes, mode, &words[..length], false, tables).unwrap();
        for (i, &c) in coefficients.iter().enumerate() {
            let (magnitude, unknown) = (prefix.magnitudes[i], u32::from(prefix.unknown[i]));
            let known = c.unsigned_abs().checked_shr(unknown).and_then(|m| m.checked_shl(unknown)).unwrap_or(0);
            // In plane 0, a newly significant coefficient is unknown until its sign.
            prop_assert!(magnitude == known || magnitude == 0 && known == 1, "{magnitude} of {c}, {unknown} unknown");
            prop_assert!(magnitude == 0 || prefix.negative[i] == (c < 0));
        }
    }

    /// Any words are a block, a part of one, or an error.
    #[test]
    fn arbitrary_words_never_panic(
        shape in shapes(),
        planes in 0u32..=40,
        mode in modes(),
        words in prop::collection::vec(prop_oneof![any::<u16>(), Just(0), Just(u16::MAX)], 0..600),
        complete in any::<bool>(),
    ) {
        let tables = Tables::built_in();
        if let Ok(decoded) = decode(shape, planes, mode, &words, complete, tables) {
            prop_assert_eq!(decoded.magnitudes.len(), shape.samples());
            prop_assert!(planes <= 32 && decoded.unknown.iter().all(|n| u32::from(*n) <= planes));
        }
    }

    /// A block with a changed, excess or missing word is another block or an error, never a panic.
    #[test]
    fn changed_blocks_are_safe((shape, coefficients) in blocks(), at in any::<prop::sample::Index>(), bits in 1u16..) {
        let tables = Tables::built_in();
        let Encoded { planes, mode, mut words } = encode(shape, &coefficients, tables);
        prop_assume!(!words.is_empty());
        let changed = at.index(words.len());
        words.push(0);
        prop_assert!(decode(shape, planes, mode, &words, true, tables).is_err(), "a word too many");
        words.truncate(words.len() - 2);
        prop_assert!(decode(shape, planes, mode, &words, true, tables).is_err(), "a word too few");
        let mut words = encode(shape, &coefficients, tables).words;
        words[changed] ^= bits;
        let _ = decode(shape, planes, mode, &words, true, tables);
    }
}

#[test]
fn every_size_round_trips() {
    let tables = Tables::built_in();
    for height in 1..=MAX_SIDE {
        for width in 1..=MAX_SIDE {
            let passes = if (height + width) % 2 == 0 { Passes::Two } else { Passes::Three };
            let shape = BlockShape { height, width, direction: SignAxis::Horizontal, order: passes.into() };
            let value = |i: usize| ((i * i * 7919 + i * 31) % 61) as i32 - 30;
            let coefficients: Vec<i32> = (0..shape.samples()).map(|i| value(i) / (1 + (i % 13) as i32)).collect();
            assert_eq!(decoded(shape, &encode(shape, &coefficients, tables), tables), coefficients, "{height}×{width}");
        }
    }
}

#[test]
fn nothing_takes_no_words() {
    let shape = BlockShape { height: 64, width: 64, direction: SignAxis::Vertical, order: Passes::Two.into() };
    let encoded = encode(shape, &[0; 4096], Tables::built_in());
    assert_eq!((encoded.planes, encoded.words.len()), (0, 0));
    assert_eq!(decoded(shape, &encoded, Tables::built_in()), vec![0; 4096]);
}

/// With even probabilities every symbol takes a bit, so lengths can be counted by hand.
#[test]
fn even_symbols_take_a_bit_each() {
    let tables = Tables::new(vec![Table::EVEN]).unwrap();
    let shape = BlockShape { height: 64, width: 2, direction: SignAxis::Vertical, order: Passes::Two.into() };
    // Three planes of at most 128 significance symbols: 7 is significant in the first, then refined.
    let coefficients = vec![7; 128];
    let encoded = encode_with(shape, &coefficients, 0, 0, &tables[0]);
    // Significance and sign in plane 2, refinement in plane 1; the refinement in plane 0 is in the tail.
    assert_eq!(encoded.words.len(), (128 + 128 + 128) / 16 + 128 / 16);
    // Coded in order: 1 (significant), 0 (as predicted or positive), and so on, then the tail of ones.
    assert_eq!(encoded.words[0], 0b1010_1010_1010_1010);
    assert!(encoded.words[24..].iter().all(|w| *w == u16::MAX));
}

/// A block cut at a prefix has at most the prefix's error, as open words decode slightly further.
#[test]
fn prefix_errors_are_accurate() {
    let tables = Tables::built_in();
    for (passes, scale) in [(Passes::Two, 300.0), (Passes::Three, 40.0), (Passes::Three, 4.0)] {
        let shape = BlockShape { height: 64, width: 61, direction: SignAxis::Vertical, order: passes.into() };
        let value = |i: usize| ((i * 7919 + i * i * 31) % 1009) as f64 / 504.0 - 1.0;
        let coefficients: Vec<i32> = (0..shape.samples()).map(|i| (value(i).powi(5) * scale) as i32).collect();
        let (encoded, prefixes) = encode_with_prefixes(shape, &coefficients, tables);
        assert_eq!(encoded, encode(shape, &coefficients, tables));
        assert_eq!(prefixes[prefixes.len() - 1], Prefix { words: encoded.words.len(), error: 0.0 });
        let passes_of_plane = if passes == Passes::Three { 3 } else { 2 };
        assert!(prefixes.len() > passes_of_plane * (encoded.planes as usize - 2), "{}", prefixes.len());
        let all: f64 = coefficients.iter().map(|&c| f64::from(c).powi(2)).sum();
        for Prefix { words, error } in prefixes {
            let is_whole = words == encoded.words.len();
            let decoded =
                decode(shape, encoded.planes, encoded.mode, &encoded.words[..words], is_whole, tables).unwrap();
            let mut found = 0.0;
            for (i, &c) in coefficients.iter().enumerate() {
                let middle = if decoded.magnitudes[i] > 0 { f64::from(1 << decoded.unknown[i] >> 1) } else { 0.0 };
                found += (f64::from(c.unsigned_abs()) - f64::from(decoded.magnitudes[i]) - middle).powi(2);
            }
            assert!(found <= 1.005 * error && found > 0.6 * error - 0.01 * all, "{words} words: {found}, {error} said");
        }
    }
}
