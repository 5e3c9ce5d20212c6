//! Border rules in C and Rust sweeps: bodies of `serve`, which gives the index that serves a read of index `k`.

use lifting_dsl::Boundary;

/// C's body. Under `zero` it is −1 for a read beyond the line.
pub(super) fn serve_c(boundary: Boundary) -> String {
    let outside = match boundary {
        Boundary::WholeSymmetric => {
            return "    int32_t i = 2 * k + phase - parity;\n    \
                    while (i < 0 || i >= length) i = i < 0 ? -i : 2 * (length - 1) - i;\n    \
                    return (i + parity - phase) / 2;\n"
                .to_owned();
        }
        Boundary::HalfSymmetric => {
            "while (k < first || k > last) k = k < first ? 2 * first - 1 - k : 2 * last + 1 - k;\n    return k;"
        }
        Boundary::Zero => "return k < first || k > last ? -1 : k;",
        // A periodic line has no border.
        Boundary::Edge | Boundary::Periodic => "return k < first ? first : k > last ? last : k;",
    };
    format!(
        "    const int32_t first = phase == 0 ? parity : 0, last = (parity + length + 1 - phase) / 2 - 1;\n    \
         {outside}\n"
    )
}

/// C's value of a read along a row beyond its ends.
pub(super) fn beyond_c(boundary: Boundary) -> &'static str {
    match boundary {
        Boundary::Zero => "0",
        _ => "source[serve(k, 1 - p, parity, l->columns) - from]",
    }
}

/// Rust's body. Under `zero` it is `None` for a read beyond the line.
pub(super) fn serve_rust(boundary: Boundary) -> String {
    let outside = match boundary {
        Boundary::WholeSymmetric => {
            return "    Some((mirror(2 * k + phase - parity, length) + parity - phase) / 2)\n".to_owned();
        }
        Boundary::HalfSymmetric => {
            "let n = last + 1 - first;\n    let there = (k - first).rem_euclid(2 * n);\n    \
             Some(there.min(2 * n - 1 - there) + first)"
        }
        Boundary::Zero => "(first..=last).contains(&k).then_some(k)",
        // A periodic line has no border.
        Boundary::Edge | Boundary::Periodic => "Some(k.clamp(first, last))",
    };
    format!(
        "    let first = if phase == 0 {{ parity }} else {{ 0 }};\n    \
         let last = (parity + length + 1 - phase) / 2 - 1;\n    {outside}\n"
    )
}
