//! Operators, casts and literals: values at the edges of every type.

use super::*;

pub(super) fn add(suite: &mut Suite) {
    integers(suite);
    floats(suite);
    casts(suite);
    folds(suite);
    halves(suite);
    dots(suite);
    logic(suite);
    literals(suite);
    precedence(suite);
}

fn integers(suite: &mut Suite) {
    macro_rules! integer {
        ($t:ident, $values:expr) => {{
            let scalar = <$t as Element>::SCALAR;
            let name = |op: &str| format!("{op}_{}", scalar.name());
            let values: &[$t] = &$values;
            let (a, b) = pairs(values, |_, _| true);
            let mut binary = |op: &str, code: BinOp, f: fn($t, $t) -> $t| {
                let expected: Vec<$t> = a.iter().zip(&b).map(|(&a, &b)| f(a, b)).collect();
                suite.elementwise(&name(op), &[Buffer::new(&a), Buffer::new(&b)], &expected, |_, x| {
                    Expr::binary(code, x[0].clone(), x[1].clone())
                });
            };
            binary("add", BinOp::Add, $t::wrapping_add);
            binary("sub", BinOp::Sub, $t::wrapping_sub);
            binary("mul", BinOp::Mul, $t::wrapping_mul);
            binary("min", BinOp::Min, $t::min);
            binary("max", BinOp::Max, $t::max);
            binary("and", BinOp::And, |a, b| a & b);
            binary("or", BinOp::Or, |a, b| a | b);
            binary("xor", BinOp::Xor, |a, b| a ^ b);
            let (a, b) = pairs(values, |a: $t, b: $t| a.checked_div(b).is_some());
            for (op, code, f) in [
                ("div", BinOp::Div, $t::wrapping_div as fn($t, $t) -> $t),
                ("rem", BinOp::Rem, $t::wrapping_rem as fn($t, $t) -> $t),
            ] {
                let expected: Vec<$t> = a.iter().zip(&b).map(|(&a, &b)| f(a, b)).collect();
                suite.elementwise(&name(op), &[Buffer::new(&a), Buffer::new(&b)], &expected, |_, x| {
                    Expr::binary(code, x[0].clone(), x[1].clone())
                });
            }
            let counts = [0i32, 1, 2, 7, $t::BITS as i32 / 2, $t::BITS as i32 - 1];
            let (a, n): (Vec<$t>, Vec<i32>) = values.iter().flat_map(|&a| counts.iter().map(move |&n| (a, n))).unzip();
            for (op, code, f) in [
                ("shl", BinOp::Shl, $t::wrapping_shl as fn($t, u32) -> $t),
                ("shr", BinOp::Shr, $t::wrapping_shr as fn($t, u32) -> $t),
            ] {
                let expected: Vec<$t> = a.iter().zip(&n).map(|(&a, &n)| f(a, n as u32)).collect();
                suite.elementwise(&name(op), &[Buffer::new(&a), Buffer::new(&n)], &expected, |_, x| {
                    Expr::binary(code, x[0].clone(), x[1].clone())
                });
            }
            if scalar != Scalar::I16 {
                for (op, code, f) in [
                    ("count_ones", UnOp::CountOnes, $t::count_ones as fn($t) -> u32),
                    ("leading_zeros", UnOp::LeadingZeros, $t::leading_zeros as fn($t) -> u32),
                ] {
                    let expected: Vec<$t> = values.iter().map(|v| f(*v) as $t).collect();
                    suite.elementwise(&name(op), &[Buffer::new(values)], &expected, |_, x| {
                        Expr::Unary(code, x[0].clone().into())
                    });
                }
            }
            let expected: Vec<$t> = values.iter().map(|v| v.wrapping_neg()).collect();
            suite.elementwise(&name("neg"), &[Buffer::new(values)], &expected, |_, x| -x[0].clone());
            compare(suite, &name("compare"), values);
        }};
    }
    integer!(i16, [0, 1, -1, 2, -2, 3, -5, 100, -100, 181, 12345, -12345, i16::MAX, i16::MIN, i16::MIN + 1]);
    integer!(i32, [0, 1, -1, 2, -2, 3, -5, 1000, 46341, -46341, 65536, 0x1234567, i32::MAX, i32::MIN, i32::MIN + 1]);
    integer!(i64, [0, 1, -1, 2, -2, 3, -5, 1 << 31, 1 << 32, -(1 << 33), 3037000500, i64::MAX, i64::MIN, i64::MIN + 1]);
    integer!(u32, [0, 1, 2, 3, 5, 255, 65535, 65536, 46341, 0x7fff_ffff, 0x8000_0000, u32::MAX - 1, u32::MAX]);
    integer!(
        u64,
        [0, 1, 2, 3, 5, u32::MAX as u64, 1 << 32, 3037000500, i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX]
    );
}

/// All six comparisons of all pairs, as bits of one number.
fn compare<T: Element + PartialOrd>(suite: &mut Suite, name: &str, values: &[T]) {
    let (a, b) = pairs(values, |_, _| true);
    let bits = |a: &T, b: &T| {
        let results = [a == b, a != b, a < b, a <= b, a > b, a >= b];
        results.iter().enumerate().map(|(i, r)| i32::from(*r) << i).sum()
    };
    let expected: Vec<i32> = a.iter().zip(&b).map(|(a, b)| bits(a, b)).collect();
    suite.elementwise(name, &[Buffer::new(&a), Buffer::new(&b)], &expected, |_, x| {
        use BinOp::*;
        let bit = |(i, op)| Expr::Binary(op, x[0].into(), x[1].into()).cast(Scalar::I32) << i;
        let bits = (0..).zip([Eq, Ne, Lt, Le, Gt, Ge]).map(bit);
        bits.reduce(|a, b| Expr::binary(Or, a, b)).unwrap_or(0.into())
    });
}

fn floats(suite: &mut Suite) {
    macro_rules! float {
        ($t:ident) => {{
            let scalar = <$t as Element>::SCALAR;
            let name = |op: &str| format!("{op}_{}", scalar.name());
            let third = 1.0 / 3.0;
            let values: &[$t] = &[
                0.0,
                -0.0,
                1.0,
                -1.5,
                third,
                -1e-3,
                1e10,
                $t::EPSILON,
                1.0 + $t::EPSILON,
                $t::MAX,
                $t::MIN_POSITIVE,
                $t::MIN_POSITIVE / 8.0,
                $t::INFINITY,
                $t::NEG_INFINITY,
                $t::NAN,
            ];
            let (a, b) = pairs(values, |_, _| true);
            for (op, code, f) in [
                ("add", BinOp::Add, (|a, b| a + b) as fn($t, $t) -> $t),
                ("sub", BinOp::Sub, |a, b| a - b),
                ("mul", BinOp::Mul, |a, b| a * b),
                ("div", BinOp::Div, |a, b| a / b),
            ] {
                let expected: Vec<$t> = a.iter().zip(&b).map(|(&a, &b)| f(a, b)).collect();
                suite.elementwise(&name(op), &[Buffer::new(&a), Buffer::new(&b)], &expected, |_, x| {
                    Expr::binary(code, x[0].clone(), x[1].clone())
                });
            }
            let expected: Vec<$t> = values.iter().map(|v| -v).collect();
            suite.elementwise(&name("neg"), &[Buffer::new(values)], &expected, |_, x| -x[0].clone());
            compare(suite, &name("compare"), values);
            // Rounded once, the product differs from a fused multiply-add; sums keep their written order.
            let one = 1.0 + $t::EPSILON;
            let a: Vec<$t> = vec![one, 3.0, 0.1, one, third, 1e8];
            let b: Vec<$t> = vec![one, third, 0.1, 1.0 - $t::EPSILON, 3.0, third];
            let c: Vec<$t> = vec![-1.0 - 2.0 * $t::EPSILON, -1.0, -0.01, -1.0, -1.0, -33333333.0];
            let inputs = [Buffer::new(&a), Buffer::new(&b), Buffer::new(&c)];
            let rows = || a.iter().zip(&b).zip(&c).map(|((&a, &b), &c)| (a, b, c));
            let expected: Vec<$t> = rows().map(|(a, b, c)| a * b + c).collect();
            suite.elementwise(&name("multiply_add"), &inputs, &expected, |_, x| {
                x[0].clone() * x[1].clone() + x[2].clone()
            });
            let expected: Vec<$t> = rows().map(|(a, b, c)| c - a * b).collect();
            suite.elementwise(&name("multiply_subtract"), &inputs, &expected, |_, x| {
                x[2].clone() - x[0].clone() * x[1].clone()
            });
            let expected: Vec<$t> = rows().map(|(a, b, c)| a + (b + c) - (a - (b - c))).collect();
            suite.elementwise(&name("associate"), &inputs, &expected, |_, x| {
                let [a, b, c] = [0, 1, 2].map(|i| x[i].clone());
                a.clone() + (b.clone() + c.clone()) - (a - (b - c))
            });
        }};
    }
    float!(f32);
    float!(f64);
}

fn casts(suite: &mut Suite) {
    // From each integer type to each arithmetic type.
    macro_rules! from_integer {
        ($from:ident, $values:expr => $($to:ident)*) => {{
            let values: &[$from] = &$values;
            $(
                let to = <$to as Element>::SCALAR;
                let expected: Vec<$to> = values.iter().map(|v| *v as $to).collect();
                let name = format!("cast_{}_{}", <$from as Element>::SCALAR.name(), to.name());
                suite.elementwise(&name, &[Buffer::new(values)], &expected, |_, x| x[0].clone().cast(to));
            )*
        }};
    }
    from_integer!(i16, [0, 1, -1, 300, i16::MAX, i16::MIN] => i32 i64 u32 u64 f32 f64);
    from_integer!(i32, [0, 1, -1, 70000, 16777217, -33554435, i32::MAX, i32::MIN] => i16 i64 u32 u64 f32 f64);
    from_integer!(i64, [0, 1, -1, 1 << 40, (1 << 53) + 1, (1 << 24) + 1, i64::MAX, i64::MIN] => i16 i32 u32 u64 f32 f64);
    from_integer!(u32, [0, 1, 70000, 16777217, 1 << 31, u32::MAX] => i16 i32 i64 u64 f32 f64);
    from_integer!(u64, [0, 1, 1 << 40, (1 << 53) + 1, 1 << 63, u64::MAX] => i16 i32 i64 u32 f32 f64);
    // Bytes: bits above the lowest eight are dropped.
    from_integer!(u8, [0, 1, 127, 128, 255] => i16 i32 i64 u32 u64);
    from_integer!(i16, [0, -1, 300, i16::MIN] => u8);
    from_integer!(i32, [0, 1, -1, 255, 256, 70000, i32::MIN] => u8);
    from_integer!(i64, [0, -1, 1 << 40, 511] => u8);
    from_integer!(u32, [0, 128, 70000, u32::MAX] => u8);
    from_integer!(u64, [0, 128, 1 << 40, u64::MAX] => u8);
    // From floats: truncated.
    macro_rules! from_float {
        ($from:ident, $($to:ident $values:expr;)*) => {$(
            let (values, to): (&[$from], _) = (&$values, <$to as Element>::SCALAR);
            let expected: Vec<$to> = values.iter().map(|v| *v as $to).collect();
            let name = format!("cast_{}_{}", <$from as Element>::SCALAR.name(), to.name());
            suite.elementwise(&name, &[Buffer::new(values)], &expected, |_, x| x[0].clone().cast(to));
        )*};
    }
    from_float!(f32,
        i16 [0.0, -0.9, 1.9, -1.9, 32767.9, -32768.9];
        i32 [0.0, -0.9, 2.5, -2147483648.0, 2147483520.0];
        i64 [0.0, -0.9, 1e18, -9223372036854775808.0];
        u32 [0.0, -0.9, 0.9, 4294967040.0];
        u64 [0.0, -0.9, 1.8446743e19];
        f64 [0.0, -0.0, 0.1, f32::MAX, f32::MIN_POSITIVE / 4.0, f32::INFINITY, f32::NAN];
    );
    from_float!(f64,
        i16 [0.0, -0.9, 1.9, 32767.9, -32768.9];
        i32 [0.0, -0.9, 2147483647.9, -2147483648.9];
        i64 [0.0, -1.5, 9.2e18, -9223372036854775808.0];
        u32 [0.0, -0.9, 4294967295.9];
        u64 [0.0, 0.9, 1.8e19];
        f32 [0.0, -0.0, 0.1, 1e300, 1e-300, 16777217.0, 1.0 + 2f64.powi(-24), f64::INFINITY, f64::NAN];
    );
    // Storage types: widened exactly, rounded to nearest even.
    let values = [
        0.0,
        -0.0,
        1.0,
        -2.5,
        0.1,
        65504.0,
        65520.0,
        1e-7,
        6e-8,
        3e-8,
        1e30,
        f32::MAX,
        2049.0,
        2051.0,
        f32::INFINITY,
        f32::NAN,
    ];
    let expected: Vec<f16> = values.iter().map(|v| f16::from_f32(*v)).collect();
    suite.elementwise("cast_f32_f16", &[Buffer::new(&values)], &expected, |_, x| x[0].cast(Scalar::F16));
    let back: Vec<f32> = expected.iter().map(|v| v.to_f32()).collect();
    suite.elementwise("cast_f16_f32", &[Buffer::new(&expected)], &back, |_, x| x[0].cast(Scalar::F32));
    let expected: Vec<bf16> = values.iter().map(|v| bf16::from_f32(*v)).collect();
    suite.elementwise("cast_f32_bf16", &[Buffer::new(&values)], &expected, |_, x| x[0].cast(Scalar::Bf16));
    let back: Vec<f32> = expected.iter().map(|v| v.to_f32()).collect();
    suite.elementwise("cast_bf16_f32", &[Buffer::new(&expected)], &back, |_, x| x[0].cast(Scalar::F32));
}

fn folds(suite: &mut Suite) {
    let (mut index, mut extent) = (Vec::new(), Vec::new());
    for n in [1, 2, 3, 4, 7, 1000, i32::MAX] {
        for i in (-15..=15).chain([n - 1, n, n / 2 * 2, -n, i32::MIN, i32::MAX]) {
            index.push(i);
            extent.push(n);
        }
    }
    // Step by step, reflecting at each end that is passed.
    let mirror = |i: i32, n: i32| {
        let (mut i, n) = (i64::from(i), i64::from(n));
        if n == 1 {
            return 0;
        }
        i %= 2 * (n - 1);
        while !(0..n).contains(&i) {
            i = if i < 0 { -i } else { 2 * (n - 1) - i };
        }
        i as i32
    };
    let inputs = [Buffer::new(&index), Buffer::new(&extent)];
    let rows = || index.iter().zip(&extent);
    let expected: Vec<i32> = rows().map(|(&i, &n)| mirror(i, n)).collect();
    suite.elementwise("mirror", &inputs, &expected, |_, x| Expr::Mirror(x[0].into(), x[1].into()));
    let expected: Vec<i32> = rows().map(|(i, n)| i.rem_euclid(*n)).collect();
    suite.elementwise("wrap", &inputs, &expected, |_, x| Expr::Wrap(x[0].into(), x[1].into()));
}

/// Two low halves packed into a word, and each unpacked again.
fn halves(suite: &mut Suite) {
    let (a, b) = pairs(&[0, 1, -1, 0x7fff, 0x8000, -0x8000, 0x1234_5678, i32::MIN, i32::MAX], |_, _| true);
    let inputs = [Buffer::new(&a), Buffer::new(&b)];
    let expected: Vec<i32> = a.iter().zip(&b).map(|(a, b)| (a & 0xffff) | (b << 16)).collect();
    suite.elementwise("pack", &inputs, &expected, |_, x| x[0].pack(x[1]));
    let expected: Vec<i32> = a.iter().zip(&b).map(|(a, b)| i32::from(*a as i16) - i32::from(*b as i16)).collect();
    suite.elementwise("unpack", &inputs, &expected, |_, x| {
        let word = || x[0].pack(x[1]);
        word().cast(Scalar::I16).cast(Scalar::I32) - (word() >> 16)
    });
    for (low, high) in [(0, 2), (2, 0), (2, 2), (0, 1), (1, 1), (2, 1)] {
        let part = |v: &i32, byte: u8| v >> (8 * byte) & 0xffff;
        let expected: Vec<i32> = a.iter().zip(&b).map(|(a, b)| part(a, low) | (part(b, high) << 16)).collect();
        suite.elementwise(&format!("pack_{low}{high}"), &inputs, &expected, |_, x| x[0].pack_from(low, x[1], high));
    }
}

/// Both halves of a word times weights, and a sum that wraps.
fn dots(suite: &mut Suite) {
    let words = [0, 1, -1, 0x7fff, 0x8000, -0x8000, 0x7fff_7fff, -0x7fff_8000, 0x1234_5678, i32::MIN, i32::MAX];
    let (a, b) = pairs(&words, |_, _| true);
    let inputs = [Buffer::new(&a), Buffer::new(&b)];
    for (n, (low, high)) in [(1, 0), (0, -1), (-9, 1), (127, 127), (-128, 127), (-128, -128)].into_iter().enumerate() {
        let dot = |pair: i32, sum: i32| {
            let (first, second) = (i32::from(pair as i16), i32::from((pair >> 16) as i16));
            sum.wrapping_add(first * i32::from(low)).wrapping_add(second * i32::from(high))
        };
        let expected: Vec<i32> = a.iter().zip(&b).map(|(&a, &b)| dot(a, b)).collect();
        suite.elementwise(&format!("dot_{n}"), &inputs, &expected, |_, x| x[1].dot(x[0], [low, high]));
    }
}

fn logic(suite: &mut Suite) {
    let (a, b) = pairs(&[-3, 0, 4, 9], |_, _| true);
    let inputs = [Buffer::new(&a), Buffer::new(&b)];
    let rows = || a.iter().zip(&b).map(|(&a, &b): (&i32, &i32)| (a, b));
    let expected: Vec<i32> = rows().map(|(a, b)| if a > 0 && b <= 0 || a == b { a } else { b - 1 }).collect();
    suite.elementwise("logic_and_select", &inputs, &expected, |_, x| {
        let positive = |i: usize| x[i].gt(0);
        let either = positive(0).and(!positive(1)).or(x[0].eq_(x[1]));
        either.select(x[0], x[1] - 1)
    });
    let expected: Vec<i32> =
        rows().map(|(a, b)| i32::from((a > 0) == (b > 0)) + i32::from((a > 3) != (b > 3)) * 2).collect();
    suite.elementwise("bool_locals", &inputs, &expected, |b, x| {
        let positive = [0, 1].map(|i| b.let_("positive", Scalar::Bool, x[i].gt(0)));
        let same = positive[0].eq_(positive[1]);
        let large = |i: usize| x[i].gt(3);
        same.select(1, 0) + large(0).ne_(large(1)).cast(Scalar::I32) * 2
    });
}

fn literals(suite: &mut Suite) {
    macro_rules! literal {
        ($t:ident, $make:expr, $($v:expr),*) => {$(
            let make: fn($t) -> Expr = $make;
            let name = format!("literal_{}_{}", <$t as Element>::SCALAR.name(), suite.cases.len());
            let (unused, expected): ([$t; 2], [$t; 2]) = ([1 as $t; 2], [$v; 2]);
            suite.elementwise(&name, &[Buffer::new(&unused)], &expected, |_, _| make($v));
        )*};
    }
    literal!(i16, |v| Expr::int(v.into(), Scalar::I16), -1, i16::MAX, i16::MIN);
    literal!(i32, |v| Expr::i32(v.into()), -1, i32::MAX, i32::MIN);
    literal!(i64, Expr::i64, -1, 1 << 31, i64::MAX, i64::MIN);
    literal!(u32, |v| Expr::int(v.into(), Scalar::U32), 0, 1 << 31, u32::MAX);
    literal!(u64, |v| Expr::int(v as i64, Scalar::U64), 0, 1 << 32, i64::MAX as u64);
    literal!(f32, |v| Expr::Lit(Literal::F32(v)), 0.0, -0.0, 0.1, -1.0, 1e-45, f32::MAX, f32::MIN_POSITIVE, 16777216.0);
    literal!(f64, |v| Expr::Lit(Literal::F64(v)), 0.0, -0.0, 0.1, -1.0, 5e-324, f64::MAX, f64::MIN_POSITIVE, 1e22);
}

/// Expressions whose text needs its parentheses.
fn precedence(suite: &mut Suite) {
    let a = [7, -7, 1000, 3, -20, 12];
    let b = [3, 5, -9, 3, 7, -11];
    let c = [2, 1, 3, 4, 6, 5];
    let inputs = [Buffer::new(&a), Buffer::new(&b), Buffer::new(&c)];
    type Reference = fn(i32, i32, i32) -> i32;
    type Build = fn(Expr, Expr, Expr) -> Expr;
    let table: [(&str, Reference, Build); 14] = [
        ("minus_minus", |a, b, c| a - (b - c), |a, b, c| a - (b - c)),
        ("minus_left", |a, b, c| (a - b) - c, |a, b, c| (a - b) - c),
        ("sum_product", |a, b, c| (a + b) * c, |a, b, c| (a + b) * c),
        ("product_quotient", |a, b, c| a * (b / c), |a, b, c| a * (b / c)),
        ("quotient_product", |a, b, c| a / (b * c), |a, b, c| a / (b * c)),
        ("quotient_rem", |a, b, c| a / c % (b | 1), |a, b, c| a / c % b.or(1)),
        ("shift_sum", |a, b, c| (a + b) >> c, |a, b, c| (a + b) >> c),
        ("sum_shift", |a, b, c| a + (b >> c), |a, b, c| a + (b >> c)),
        ("shift_shift", |a, b, c| a << (c >> 1) >> (b & 3), |a, b, c| (a << (c >> 1)) >> b.and(3)),
        (
            "masks",
            |a, b, c| (a & (b | c)) ^ (a | (b & c)),
            |a, b, c| {
                let left = a.and(b.or(c));
                Expr::binary(BinOp::Xor, left, a.or(b.and(c)))
            },
        ),
        ("negations", |a, b, c| -(-a) - -(b - c), |a, b, c| -(-a) - -(b - c)),
        (
            "negative_literals",
            |a, b, c| a * -3 - (b - -5) * c,
            |a, b, c| {
                let minus = |v| Expr::i32(v);
                a * minus(-3) - Expr::Binary(BinOp::Sub, b.into(), minus(-5).into()) * c
            },
        ),
        (
            "compared",
            |a, b, c| i32::from((a < b) == (b < c)) + i32::from(a & 1 == b & 1),
            |a, b, c| {
                let odd = |e: Expr| e.and(1);
                let both = a.lt(b).eq_(b.lt(c));
                both.cast(Scalar::I32) + odd(a).eq_(odd(b)).cast(Scalar::I32)
            },
        ),
        (
            "nested_select",
            |a, b, c| if a > b { if b > c { 1 } else { 2 } } else { a.min(b.max(c)) + 3 },
            |a, b, c| {
                let inner = b.gt(c).select(1, 2);
                a.gt(b).select(inner, a.min(b.max(c)) + 3)
            },
        ),
    ];
    for (name, reference, build) in table {
        let expected: Vec<i32> = (0..a.len()).map(|i| reference(a[i], b[i], c[i])).collect();
        suite.elementwise(&format!("precedence_{name}"), &inputs, &expected, |_, x| build(x[0], x[1], x[2]));
    }
}
