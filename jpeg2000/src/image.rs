//! Pictures: components with their own sampling, precision and sign.

use crate::error::{Error, zeros};
use crate::lane::Lane;
use std::fmt;

/// Rectangle on the reference grid or in the domain of a component: rows `y0..y1`, columns `x0..x1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    /// First column.
    pub x0: u32,
    /// First row.
    pub y0: u32,
    /// Column after the last one.
    pub x1: u32,
    /// Row after the last one.
    pub y1: u32,
}

impl Rect {
    /// Rectangle of a width and a height at the origin.
    pub fn of_size(width: u32, height: u32) -> Rect {
        Rect { x0: 0, y0: 0, x1: width, y1: height }
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.x1.saturating_sub(self.x0) as usize
    }

    /// Number of rows.
    pub fn height(&self) -> usize {
        self.y1.saturating_sub(self.y0) as usize
    }

    /// Whether no sample lies inside.
    pub fn is_empty(&self) -> bool {
        self.x1 <= self.x0 || self.y1 <= self.y0
    }

    /// Common part of two rectangles; may be empty.
    pub fn intersection(&self, other: &Rect) -> Rect {
        let (x0, y0) = (self.x0.max(other.x0), self.y0.max(other.y0));
        Rect { x0, y0, x1: self.x1.min(other.x1).max(x0), y1: self.y1.min(other.y1).max(y0) }
    }

    /// Points of a grid whose spacing is `dx` and `dy` (equations B-2, B-12): each coordinate divided, rounded up.
    pub(crate) fn divided(&self, dx: u32, dy: u32) -> Rect {
        let Rect { x0, y0, x1, y1 } = *self;
        Rect { x0: x0.div_ceil(dx), y0: y0.div_ceil(dy), x1: x1.div_ceil(dx), y1: y1.div_ceil(dy) }
    }

    /// The rectangle in a domain reduced by 2^`levels` (equation B-14).
    pub(crate) fn reduced(&self, levels: u32) -> Rect {
        let half = |x: u32| ((u64::from(x) + ((1 << levels.min(32)) - 1)) >> levels.min(32)) as u32;
        Rect { x0: half(self.x0), y0: half(self.y0), x1: half(self.x1), y1: half(self.y1) }
    }
}

impl fmt::Display for Rect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "columns {}..{}, rows {}..{}", self.x0, self.x1, self.y0, self.y1)
    }
}

/// Component of a picture: samples on a grid of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// Bits of a sample, 1 to [`MAX_BITS`].
    pub bits: u32,
    /// Whether samples range over −2^(bits−1) to 2^(bits−1) − 1, rather than 0 to 2^bits − 1.
    pub signed: bool,
    /// Horizontal distance of samples on the reference grid, 1 to 255.
    pub dx: u32,
    /// Vertical distance of samples on the reference grid, 1 to 255.
    pub dy: u32,
    /// Samples, row by row.
    pub samples: Vec<i32>,
}

/// Most bits of a sample. The standard allows 38.
pub const MAX_BITS: u32 = 26;

impl Component {
    /// Least and largest possible sample.
    pub fn range(&self) -> (i32, i32) {
        if self.signed { (-1 << (self.bits - 1), (1 << (self.bits - 1)) - 1) } else { (0, (1 << self.bits) - 1) }
    }

    /// Offset of samples that centres them on 0 (G.1).
    pub(crate) fn centre(&self) -> i32 {
        if self.signed { 0 } else { 1 << (self.bits - 1) }
    }

    /// Nearest sample to a value around 0. Values may be anything: those out of range saturate.
    pub(crate) fn nearest<T: Lane>(&self) -> impl Fn(T) -> i32 + use<T> {
        let ((low, high), centre) = (self.range(), self.centre());
        move |value| value.integer().clamp(low - centre, high - centre) + centre
    }
}

/// Picture: an area of the reference grid, and components that sample it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Area on the reference grid.
    pub area: Rect,
    /// Components, 1 to 16384 of them.
    pub components: Vec<Component>,
}

impl Image {
    /// Picture of components of one size and precision, from samples with a pixel's components adjacent. `shape` counts
    /// rows, columns and components.
    ///
    /// ```
    /// use lifting_jpeg2000::Image;
    /// // Two pixels, red and blue, of 8 bits without sign.
    /// let image = Image::interleaved([1, 2, 3], 8, false, &[255, 0, 0, 0, 0, 255])?;
    /// assert_eq!(image.components[2].samples, [0, 255]);
    /// # Ok::<(), lifting_jpeg2000::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Image`] if the number of samples is another, or a field is out of range.
    pub fn interleaved(shape: [usize; 3], bits: u32, signed: bool, samples: &[i32]) -> Result<Image, Error> {
        let [height, width, components] = shape;
        let expected = height.checked_mul(width).and_then(|n| n.checked_mul(components));
        if expected != Some(samples.len()) {
            return Err(Error::Image(format!(
                "{} samples for {height} rows of {width} pixels of {components} components",
                samples.len()
            )));
        }
        let of_component = |c: usize| Component {
            height,
            width,
            bits,
            signed,
            dx: 1,
            dy: 1,
            samples: match components {
                1 => samples.to_vec(),
                n => samples.chunks_exact(n).map(|pixel| pixel[c]).collect(),
            },
        };
        let side = |n: usize| u32::try_from(n).map_err(|_| Error::Image(format!("a side of {n} samples")));
        let area = Rect::of_size(side(width)?, side(height)?);
        let image = Image { area, components: (0..components).map(of_component).collect() };
        image.check()?;
        Ok(image)
    }

    /// Samples with a pixel's components adjacent.
    ///
    /// # Errors
    /// [`Error::Image`] if components differ in size ([`Image::enlarged`]), or [`Error::Memory`].
    pub fn into_interleaved(mut self) -> Result<Vec<i32>, Error> {
        if let [component] = &mut self.components[..] {
            return Ok(std::mem::take(&mut component.samples));
        }
        let (count, length) = (self.components.len(), self.components[0].samples.len());
        if self.components.iter().any(|c| c.samples.len() != length) {
            return Err(Error::Image("components of different sizes".into()));
        }
        let mut samples = zeros(count * length, "samples")?;
        for (c, component) in self.components.iter().enumerate() {
            let to = samples[c..].iter_mut().step_by(count);
            to.zip(&component.samples).for_each(|(to, &sample)| *to = sample);
        }
        Ok(samples)
    }

    /// The picture with a sample of each component at each point of the finest component's grid. Samples are repeated.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn enlarged(&self) -> Result<Image, Error> {
        let dx = self.components.iter().map(|c| c.dx).min().unwrap_or(1);
        let dy = self.components.iter().map(|c| c.dy).min().unwrap_or(1);
        let (height, width) = self.components.iter().fold((0, 0), |(h, w), c| (c.height.max(h), c.width.max(w)));
        let enlarge = |c: &Component| -> Result<Component, Error> {
            let mut samples = zeros(height * width, "samples")?;
            let along = |k: usize, spacing: u32, fine: u32, length: usize| {
                (k * fine as usize / spacing as usize).min(length.saturating_sub(1))
            };
            for (y, row) in samples.chunks_mut(width.max(1)).enumerate() {
                let from = along(y, c.dy, dy, c.height) * c.width;
                for (x, sample) in row.iter_mut().enumerate() {
                    *sample = c.samples.get(from + along(x, c.dx, dx, c.width)).copied().unwrap_or(0);
                }
            }
            Ok(Component { height, width, dx, dy, samples, ..c.clone() })
        };
        Ok(Image { area: self.area, components: self.components.iter().map(enlarge).collect::<Result<_, _>>()? })
    }

    /// The picture in red, green and blue, if its first three components are luminance and two centred chrominances of
    /// equal size (sYCC, IEC 61966-2-1, Annex G).
    pub fn rgb_of_ycc(mut self) -> Image {
        if let [y, cb, cr, ..] = &mut self.components[..] {
            let (low, high) = y.range();
            let (blue, red) = (cb.centre(), cr.centre());
            for ((y, cb), cr) in y.samples.iter_mut().zip(&mut cb.samples).zip(&mut cr.samples) {
                let (l, b, r) = (*y as f32, (*cb - blue) as f32, (*cr - red) as f32);
                let rgb = [l + 1.402 * r, l - 0.344_136 * b - 0.714_136 * r, l + 1.772 * b];
                [*y, *cb, *cr] = rgb.map(|value| (value.round() as i32).clamp(low, high));
            }
        }
        self
    }

    /// Checks all fields, and every sample.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let fail = |text: String| Err(Error::Image(text));
        if self.area.is_empty() {
            return fail(format!("no samples: its area is {}", self.area));
        }
        if !(1..=16384).contains(&self.components.len()) {
            return fail(format!("{} components; 1 to 16384 are allowed", self.components.len()));
        }
        for (c, component) in self.components.iter().enumerate() {
            let Component { height, width, bits, dx, dy, .. } = *component;
            if !(1..=MAX_BITS).contains(&bits) {
                return fail(format!("component {c} has samples of {bits} bits; 1 to {MAX_BITS} are allowed"));
            }
            if !(1..=255).contains(&dx) || !(1..=255).contains(&dy) {
                return fail(format!("component {c} has a sample every {dx} × {dy}; 1 to 255 are allowed"));
            }
            let expected = self.area.divided(dx, dy);
            if (expected.height(), expected.width()) != (height, width) {
                return fail(format!(
                    "component {c} has {height} rows of {width} samples; its sampling gives {} rows of {}",
                    expected.height(),
                    expected.width()
                ));
            }
            if height * width != component.samples.len() {
                return fail(format!(
                    "component {c} has {} samples; {height} rows of {width} were announced",
                    component.samples.len()
                ));
            }
            let (low, high) = component.range();
            // A fast check of all samples; the position is searched only after a failure.
            let union = component.samples.iter().fold(0, |union, s| union | s.wrapping_sub(low) as u32);
            let is_wrong = |s: &i32| !(low..=high).contains(s);
            if let Some(at) = (union >> bits != 0).then(|| component.samples.iter().position(is_wrong)).flatten() {
                let (y, x, sample) = (at / width, at % width, component.samples[at]);
                return fail(format!(
                    "component {c} has the sample {sample} in row {y}, column {x}; {bits} bits allow {low} to {high}"
                ));
            }
        }
        Ok(())
    }

    /// Whether the first three components have one size, precision and sign, as colour transforms require.
    pub(crate) fn has_colours(&self) -> bool {
        let format = |c: &Component| (c.height, c.width, c.dx, c.dy, c.bits, c.signed);
        self.components.len() >= 3 && self.components[1..3].iter().all(|c| format(c) == format(&self.components[0]))
    }
}

impl Image {
    /// Peak signal-to-noise ratio to another picture of the same format, in dB; infinite if they are equal. The peak is
    /// that of the component with most bits.
    ///
    /// # Panics
    /// If the pictures differ in their number of components or samples.
    pub fn psnr(&self, other: &Image) -> f64 {
        assert_eq!(self.components.len(), other.components.len());
        let (mut error, mut count, mut peak) = (0.0, 0, 0.0);
        for (a, b) in self.components.iter().zip(&other.components) {
            assert_eq!(a.samples.len(), b.samples.len());
            error += a.samples.iter().zip(&b.samples).map(|(&a, &b)| f64::from(a - b).powi(2)).sum::<f64>();
            count += a.samples.len();
            peak = f64::max(peak, f64::from(a.bits).exp2() - 1.0);
        }
        10.0 * (peak * peak * count as f64 / error).log10()
    }
}
