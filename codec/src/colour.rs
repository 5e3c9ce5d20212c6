//! Colour transforms of JPEG 2000 (ISO/IEC 15444-1, Annex G), on samples around 0.

/// Colour transform of the first three components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Nothing.
    None,
    /// The reversible transform (G.2), of integers.
    Reversible,
    /// The irreversible transform (G.3), of reals: YCbCr.
    Irreversible,
}

impl Colour {
    /// L2 norm of the synthesis vector of component `c`: the picture's error for an error of 1 in it.
    pub fn norm(self, c: usize) -> f64 {
        let norm = |v: [f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        match (self, c) {
            (Colour::None, _) | (_, 3..) => 1.0,
            (_, 0) => norm([1.0, 1.0, 1.0]),
            (Colour::Reversible, _) => norm([-0.25, -0.25, 0.75]),
            (Colour::Irreversible, 1) => norm([0.0, GREEN_FROM_BLUE, BLUE]),
            (Colour::Irreversible, _) => norm([RED, GREEN_FROM_RED, 0.0]),
        }
    }
}

/// Matrix from R, G, B to Y, Cb, Cr (equation G-6).
pub const FORWARD: [[f32; 3]; 3] =
    [[0.299, 0.587, 0.114], [-0.168_736, -0.331_264, 0.5], [0.5, -0.418_688, -0.081_312]];
/// Weight of Cr in R (equation G-9).
pub const RED: f64 = 1.402;
/// Weight of Cb in G.
pub const GREEN_FROM_BLUE: f64 = -0.344136;
/// Weight of Cr in G.
pub const GREEN_FROM_RED: f64 = -0.714136;
/// Weight of Cb in B.
pub const BLUE: f64 = 1.772;

/// R, G, B to Y, U, V (equation G-1).
pub fn reversible([r, g, b]: [i32; 3]) -> [i32; 3] {
    [(r + 2 * g + b) >> 2, b - g, r - g]
}

/// Y, U, V to R, G, B (equation G-2). Arithmetic wraps, as a stream may hold any values.
pub fn reversible_inverse([y, u, v]: [i32; 3]) -> [i32; 3] {
    let g = y.wrapping_sub(u.wrapping_add(v) >> 2);
    [v.wrapping_add(g), g, u.wrapping_add(g)]
}

/// R, G, B to Y, Cb, Cr (equation G-6).
pub fn irreversible([r, g, b]: [f32; 3]) -> [f32; 3] {
    FORWARD.map(|[of_red, of_green, of_blue]| of_red * r + of_green * g + of_blue * b)
}

/// Y, Cb, Cr to R, G, B (equation G-9).
pub fn irreversible_inverse([y, cb, cr]: [f32; 3]) -> [f32; 3] {
    [y + RED as f32 * cr, y + GREEN_FROM_BLUE as f32 * cb + GREEN_FROM_RED as f32 * cr, y + BLUE as f32 * cb]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_round_trip() {
        for r in [-32768, -129, -1, 0, 1, 77, 32767] {
            for g in [-32768, -128, 0, 3, 32767] {
                for b in [-32768, -7, 0, 255, 32767] {
                    assert_eq!(reversible_inverse(reversible([r, g, b])), [r, g, b]);
                    let there = irreversible([r as f32, g as f32, b as f32]);
                    let back = irreversible_inverse(there);
                    let near = |a: f32, b: i32| (a - b as f32).abs() <= 1e-5 * 65536.0;
                    assert!(near(back[0], r) && near(back[1], g) && near(back[2], b), "{back:?}");
                }
            }
        }
        assert!((Colour::Irreversible.norm(1) - 1.805).abs() < 1e-3);
        assert!((Colour::Irreversible.norm(2) - 1.573).abs() < 1e-3);
    }
}
