//! Sub-bands: where in the coefficients each one is.

use lifting_dsl::geometry::Band;

/// One sub-band of a plan's coefficients.
///
/// Sample (k₀, k₁, …) of the band stands at index `start + Σ kᵢ·strides[i]` of the coefficient slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subband {
    /// As codecs name them: `LL3`, `HL1` (horizontally high), `LH1`, `HH1`; in general a letter for each transformed
    /// axis, innermost first, and the level.
    pub name: String,
    /// The level, 1 is the finest.
    pub level: u32,
    /// Per axis: whether the band is high along it.
    pub high: Vec<bool>,
    /// Per axis: index of the band's first sample in the coefficients.
    pub offset: Vec<usize>,
    /// Per axis: number of samples; may be 0.
    pub shape: Vec<usize>,
    /// Per axis: steps between the band's samples, in indices of the coefficients: 1 in the Mallat layout.
    pub step: Vec<usize>,
    /// Index of the band's first sample in a coefficient slice that is laid out by the plan's strides.
    pub start: usize,
    /// Per axis: samples of that slice from one of the band's samples to the next.
    pub strides: Vec<isize>,
}

/// A tile that knows nothing of the others, and its sub-bands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Per axis: index of its first sample, in data and coefficients.
    pub offset: Vec<usize>,
    /// Per axis: number of samples.
    pub shape: Vec<usize>,
    /// Its sub-bands, coarsest first, with their places in the coefficients.
    pub subbands: Vec<Subband>,
}

impl Subband {
    /// The band of coefficients with these strides, the first of which is sample `base` of its slice.
    pub(crate) fn new(band: Band, base: usize, strides: &[isize]) -> Subband {
        let empty = band.shape.contains(&0);
        let at: isize = band.offset.iter().zip(strides).map(|(&o, &s)| o as isize * s).sum();
        Subband {
            start: if empty { 0 } else { base.wrapping_add_signed(at) },
            // A band of one sample along an axis has no second one to step to.
            strides: band
                .step
                .iter()
                .zip(strides)
                .zip(&band.shape)
                .map(|((&step, &s), &n)| if n > 1 { step as isize * s } else { s })
                .collect(),
            name: band.name,
            level: band.level,
            high: band.high,
            offset: band.offset,
            shape: band.shape,
            step: band.step,
        }
    }

    /// Number of samples in the band.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the band has no samples, as a band of a very short axis may.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The band's samples, in row-major order, of `coefficients` laid out by the plan's strides.
    ///
    /// # Panics
    /// If `coefficients` is shorter than the plan's coefficients are.
    pub fn samples<'a, T>(&'a self, coefficients: &'a [T]) -> impl ExactSizeIterator<Item = &'a T> + 'a {
        (0..self.len()).map(move |mut index| {
            let mut at = self.start as isize;
            for (&n, &stride) in self.shape.iter().zip(&self.strides).rev() {
                at += (index % n) as isize * stride;
                index /= n;
            }
            &coefficients[at as usize]
        })
    }

    /// The band as an `ndarray` view of `coefficients`, an array of the plan's coefficient shape.
    ///
    /// # Panics
    /// If the array has another shape.
    #[cfg(feature = "ndarray")]
    pub fn view<'a, T, S, D>(&self, coefficients: &'a ndarray::ArrayBase<S, D>) -> ndarray::ArrayViewD<'a, T>
    where
        S: ndarray::Data<Elem = T>,
        D: ndarray::Dimension,
    {
        use ndarray::{Axis, Slice};
        let mut view = coefficients.view().into_dyn();
        for axis in 0..self.shape.len() {
            let (offset, n, step) = (self.offset[axis], self.shape[axis], self.step[axis]);
            let end = if n == 0 { offset } else { offset + (n - 1) * step + 1 };
            view.slice_axis_inplace(Axis(axis), Slice::new(offset as isize, Some(end as isize), step as isize));
        }
        view
    }
}
