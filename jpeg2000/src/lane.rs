//! Number types of transforms: `i32` for the reversible wavelet, `f32` for the irreversible one.

use lifting::Sample;

/// Number type of a transform.
pub trait Lane: Sample + Default + Copy + Send + Sync {
    /// Sample, centred on 0.
    fn of(sample: i32) -> Self;
    /// Nearest integer.
    fn integer(self) -> i32;
    /// Coefficient of a block decoder's value, twice a magnitude with a sign. `half` is half the quantiser step.
    fn dequantise(doubled: i32, half: f32) -> Self;
    /// Quantiser index of a coefficient; `inverse` is the reciprocal of the quantiser step.
    fn quantise(self, inverse: f32) -> i32;
    /// Colour transform of a pixel (equations G-1, G-6).
    fn forward(colours: [Self; 3]) -> [Self; 3];
    /// Inverse colour transform (equations G-2, G-9).
    fn inverse(components: [Self; 3]) -> [Self; 3];
    /// L2 norm of the synthesis vector of component `c` of the colour transform.
    fn colour_norm(c: usize) -> f64;
}

impl Lane for i32 {
    fn of(sample: i32) -> i32 {
        sample
    }
    fn integer(self) -> i32 {
        self
    }
    fn dequantise(doubled: i32, _half: f32) -> i32 {
        doubled / 2
    }
    fn quantise(self, _inverse: f32) -> i32 {
        self
    }
    fn forward([r, g, b]: [i32; 3]) -> [i32; 3] {
        [(r + 2 * g + b) >> 2, b - g, r - g]
    }
    /// Arithmetic wraps, as a stream may hold any values.
    fn inverse([y, u, v]: [i32; 3]) -> [i32; 3] {
        let g = y.wrapping_sub(u.wrapping_add(v) >> 2);
        [v.wrapping_add(g), g, u.wrapping_add(g)]
    }
    fn colour_norm(c: usize) -> f64 {
        [3f64.sqrt(), 0.6875f64.sqrt(), 0.6875f64.sqrt()].get(c).copied().unwrap_or(1.0)
    }
}

impl Lane for f32 {
    fn of(sample: i32) -> f32 {
        sample as f32
    }
    fn integer(self) -> i32 {
        self.round_ties_even() as i32
    }
    fn dequantise(doubled: i32, half: f32) -> f32 {
        doubled as f32 * half
    }
    fn quantise(self, inverse: f32) -> i32 {
        (self * inverse) as i32
    }
    fn forward([r, g, b]: [f32; 3]) -> [f32; 3] {
        let y = 0.299 * r + 0.587 * g + 0.114 * b;
        [y, -0.168_736 * r - 0.331_264 * g + 0.5 * b, 0.5 * r - 0.418_688 * g - 0.081_312 * b]
    }
    fn inverse([y, cb, cr]: [f32; 3]) -> [f32; 3] {
        [y + 1.402 * cr, y - 0.344_136 * cb - 0.714_136 * cr, y + 1.772 * cb]
    }
    fn colour_norm(c: usize) -> f64 {
        let norm = |a: f64, b: f64| (a * a + b * b).sqrt();
        [3f64.sqrt(), norm(0.344_136, 1.772), norm(1.402, 0.714_136)].get(c).copied().unwrap_or(1.0)
    }
}

/// Replaces the first three planes, pixel by pixel, by a colour transform; without effect on fewer planes.
pub fn for_pixels<T: Copy>(planes: &mut [Vec<T>], transform: impl Fn([T; 3]) -> [T; 3]) {
    if let [a, b, c, ..] = planes {
        for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
            [*a, *b, *c] = transform([*a, *b, *c]);
        }
    }
}
