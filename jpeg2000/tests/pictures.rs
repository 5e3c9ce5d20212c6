//! Pictures for tests, and a generator of random numbers.

use lifting_jpeg2000::{Component, Image, Rect};

/// Generator of pseudo-random numbers (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Kinds of pictures: smooth with noise, noise, constant, extremes.
pub const KINDS: usize = 4;

/// Samples of a picture of a kind, row by row.
pub fn samples(kind: usize, [height, width]: [usize; 2], (low, high): (i32, i32), random: &mut Random) -> Vec<i32> {
    let range = f64::from(high) - f64::from(low);
    let constant = low + random.below((range as usize).max(1)) as i32;
    let sample = |i: usize| {
        let (y, x) = ((i / width) as f64, (i % width) as f64);
        let noise = random.below(1 << 20) as f64 / f64::from(1 << 20);
        let value = match kind {
            0 => 0.5 + 0.2 * ((x / 9.0).sin() + (y / 7.0).cos()) + 0.03 * (noise - 0.5),
            1 => noise,
            2 => return constant,
            _ => f64::from(u8::from((x as usize / 5 + y as usize / 3).is_multiple_of(2))),
        };
        (f64::from(low) + (value * range).round()).clamp(f64::from(low), f64::from(high)) as i32
    };
    (0..height * width).map(sample).collect()
}

/// Random picture with an area, sampling, bits and signs of its own.
pub fn random_picture(random: &mut Random) -> Image {
    let (x0, y0) = if random.chance(30) { (random.below(40) as u32, random.below(40) as u32) } else { (0, 0) };
    let side = |random: &mut Random| random.pick(&[1, 2, 3, 7, 16, 33, 64, 65, 100]) + random.below(3) as u32;
    let area = Rect { x0, y0, x1: x0 + side(random), y1: y0 + side(random) };
    let count = random.pick(&[1, 1, 2, 3, 3, 4]);
    let (bits, signed) = (random.pick(&[1, 4, 8, 8, 8, 10, 12, 16, 20]), random.chance(20));
    let is_mixed = random.chance(20);
    let kind = random.below(KINDS);
    let component = |_| {
        let (bits, signed) = match is_mixed {
            true => (random.pick(&[3, 8, 11, 16]), random.chance(50)),
            false => (bits, signed),
        };
        let (dx, dy) = if is_mixed { (random.pick(&[1, 2, 3]), random.pick(&[1, 2])) } else { (1, 1) };
        let along = |from: u32, to: u32, spacing: u32| (to.div_ceil(spacing) - from.div_ceil(spacing)) as usize;
        let (height, width) = (along(area.y0, area.y1, dy), along(area.x0, area.x1, dx));
        let mut component = Component { height, width, bits, signed, dx, dy, samples: Vec::new() };
        component.samples = samples(kind, [height, width], component.range(), random);
        component
    };
    Image { area, components: (0..count).map(component).collect() }
}

/// Smooth picture of one component of 8 bits.
pub fn smooth(height: usize, width: usize) -> Image {
    let samples = samples(0, [height, width], (0, 255), &mut Random(7));
    Image::interleaved([height, width, 1], 8, false, &samples).unwrap()
}
