//! Sub-bands: places of the bands in the coefficients.

use lifting_dsl::geometry::Band;

/// One sub-band of a plan's coefficients.
///
/// Sample (k₀, k₁, …) of the band is at index `start + Σ kᵢ·strides[i]` of the coefficient slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subband {
    /// Codec name: `LL3`, `HL1` (horizontally high), `LH1`, `HH1`; in general a letter for each transformed axis,
    /// innermost first, and the level.
    pub name: String,
    /// Level, counted from 1, the finest.
    pub level: u32,
    /// Whether the band is high, for each axis.
    pub high: Vec<bool>,
    /// Index of the band's first sample in the coefficients, for each axis.
    pub offset: Vec<usize>,
    /// Number of samples along each axis; may be 0.
    pub shape: Vec<usize>,
    /// Steps between the band's samples along each axis, in indices of the coefficients: 1 in the Mallat layout.
    pub step: Vec<usize>,
    /// Index of the band's first sample in a coefficient slice with the plan's strides.
    pub start: usize,
    /// Strides in that slice between the band's samples, for each axis.
    pub strides: Vec<isize>,
}

/// An independent tile and its sub-bands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Index of its first sample in data and coefficients, for each axis.
    pub offset: Vec<usize>,
    /// Number of samples along each axis.
    pub shape: Vec<usize>,
    /// Sub-bands of the tile, coarsest first, with their places in the coefficients.
    pub subbands: Vec<Subband>,
}

impl Subband {
    /// The band of coefficients with these strides, whose first sample is at index `base` of the slice.
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

    /// Whether the band has no samples; possible along a very short axis.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Samples of the band in row-major order, from `coefficients` with the plan's strides.
    ///
    /// # Panics
    /// If `coefficients` is shorter than the plan's coefficients.
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
