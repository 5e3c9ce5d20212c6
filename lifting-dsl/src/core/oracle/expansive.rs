//! Reference of one expansive level, which keeps every coefficient that depends on the data: see [`Extension`].

use super::{OracleError, Transform};
use crate::core::extension::{Extension, Window};
use crate::core::geometry::Geometry;
use crate::core::sample::{Arithmetic, Sample};
use crate::core::scheme::{Boundary, Domain, Scheme};
use crate::core::weight::Weight;

/// One level of a real wavelet along some axes of an array that is extended beyond its ends.
///
/// The array is extended axis after axis, the innermost one first. Each sum of samples is evaluated from left to right
/// with every operation rounded once. Then the extended array is transformed as usual.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansive {
    /// The wavelet.
    pub scheme: Scheme,
    /// Length of its filters, in taps: `Scheme::filter_length`.
    pub filter_length: usize,
    /// The rule for each axis; `None` for an axis that is not transformed.
    pub extensions: Vec<Option<Extension>>,
    /// The array's shape; no axis is empty.
    pub shape: Vec<usize>,
}

impl Expansive {
    /// The window of each transformed axis.
    fn windows(&self) -> Result<Vec<Option<Window>>, OracleError> {
        if self.scheme.domain() == Domain::Integer {
            return Err(OracleError::IntegerExtension);
        }
        let too_large = || crate::core::geometry::GeometryError::TooLarge { shape: self.shape.clone() };
        let window = |(&n, rule): (&usize, &Option<Extension>)| {
            let window = |rule| Window::new(&self.scheme, rule, self.filter_length, n).ok_or_else(too_large);
            Ok(rule.map(window).transpose()?)
        };
        self.shape.iter().zip(&self.extensions).map(window).collect()
    }

    fn transform(&self, shape: &[usize]) -> Result<Transform, OracleError> {
        let levels: Vec<u32> = self.extensions.iter().map(|rule| u32::from(rule.is_some())).collect();
        let order: Vec<usize> = (0..shape.len()).rev().filter(|axis| levels[*axis] > 0).collect();
        let geometry = Geometry::new(shape, &vec![0; shape.len()], &levels, &order)?;
        Ok(Transform { boundary: Boundary::Periodic, ..Transform::new(self.scheme.clone(), geometry) })
    }

    /// The kept bands, in Mallat order: along each axis low then high.
    pub fn forward<T: Sample>(&self, data: &[T]) -> Result<Vec<T>, OracleError> {
        let windows = self.windows()?;
        let (mut shape, mut data) = (self.shape.clone(), data.to_vec());
        for (axis, (window, rule)) in windows.iter().zip(&self.extensions).enumerate().rev() {
            let (Some(window), Some(rule)) = (window, rule) else { continue };
            data = along(&data, &mut shape, axis, window.length(), |i| {
                let terms = rule.terms(window.samples, i as i64 - window.first() as i64);
                terms.as_slice().to_vec()
            });
        }
        self.transform(&shape)?.forward(&mut data)?;
        Ok(kept(&windows, &mut shape, data))
    }

    /// The array of shape `shape`, from the output of [`Expansive::forward`].
    pub fn inverse<T: Sample>(&self, bands: &[T]) -> Result<Vec<T>, OracleError> {
        let windows = self.windows()?;
        let (mut data, mut shape) = self.placed(&windows, bands);
        self.transform(&shape)?.inverse(&mut data)?;
        for (axis, window) in windows.iter().enumerate() {
            let Some(window) = window else { continue };
            data = along(&data, &mut shape, axis, window.samples, |i| vec![(1, window.first() + i)]);
        }
        Ok(data)
    }

    /// The adjoint of [`Expansive::forward`]: takes coefficients, in the same order, to an array y* with ⟨T x, y⟩ = ⟨x,
    /// y*⟩ up to rounding. It takes the gradient of a function of the coefficients back to the data.
    ///
    /// Contributions to the extension return to the samples that it consists of: axis after axis, the outermost one
    /// first, from the first position to the last, every operation rounded once.
    pub fn adjoint<T: Sample>(&self, bands: &[T]) -> Result<Vec<T>, OracleError> {
        let windows = self.windows()?;
        let (mut data, mut shape) = self.placed(&windows, bands);
        self.transform(&shape)?.adjoint(&mut data)?;
        for (axis, (window, rule)) in windows.iter().zip(&self.extensions).enumerate() {
            let (Some(window), Some(rule)) = (window, rule) else { continue };
            let extended = data.clone();
            let (first, length) = (window.first(), window.length());
            data = along(&data, &mut shape, axis, window.samples, |i| vec![(1, first + i)]);
            let inner: usize = shape[axis + 1..].iter().product();
            let lines = data.chunks_mut(window.samples * inner).zip(extended.chunks(length * inner));
            for (line, extended) in lines {
                for at in (0..first).chain(first + window.samples..length) {
                    let terms = rule.terms(window.samples, at as i64 - first as i64);
                    for &(factor, index) in terms.as_slice() {
                        for k in 0..inner {
                            let product = product(factor, extended[at * inner + k]);
                            let sample = &mut line[index * inner + k];
                            *sample = T::from_work(sample.to_work().updated(false, product));
                        }
                    }
                }
            }
        }
        Ok(data)
    }

    /// The adjoint of [`Expansive::inverse`]: takes an array of shape `shape` to coefficients.
    pub fn inverse_adjoint<T: Sample>(&self, data: &[T]) -> Result<Vec<T>, OracleError> {
        let windows = self.windows()?;
        let (mut shape, mut data) = (self.shape.clone(), data.to_vec());
        for (axis, window) in windows.iter().enumerate() {
            let Some(window) = window else { continue };
            data = along(&data, &mut shape, axis, window.length(), |i| {
                i.checked_sub(window.first()).filter(|k| *k < window.samples).map(|k| (1, k)).into_iter().collect()
            });
        }
        self.transform(&shape)?.inverse_adjoint(&mut data)?;
        Ok(kept(&windows, &mut shape, data))
    }

    /// The bands in their places in an array of the lifted piece, with zeros elsewhere; and its shape.
    fn placed<T: Sample>(&self, windows: &[Option<Window>], bands: &[T]) -> (Vec<T>, Vec<usize>) {
        let kept = |window: &Option<Window>, n: usize| window.map_or(n, |w| 2 * w.coefficients);
        let mut shape: Vec<usize> = windows.iter().zip(&self.shape).map(|(w, &n)| kept(w, n)).collect();
        let mut data = bands.to_vec();
        for (axis, window) in windows.iter().enumerate() {
            let Some(window) = window else { continue };
            let n = window.coefficients;
            data = along(&data, &mut shape, axis, window.length(), |i| {
                let band =
                    |(high, first): (usize, usize)| i.checked_sub(first).filter(|k| *k < n).map(|k| high * n + k);
                window.bands().into_iter().enumerate().find_map(band).map(|k| (1, k)).into_iter().collect()
            });
        }
        (data, shape)
    }
}

/// The kept bands among all coefficients.
fn kept<T: Sample>(windows: &[Option<Window>], shape: &mut [usize], mut data: Vec<T>) -> Vec<T> {
    for (axis, window) in windows.iter().enumerate() {
        let Some(window) = window else { continue };
        let n = window.coefficients;
        data = along(&data, shape, axis, 2 * n, |i| vec![(1, window.bands()[i / n] + i % n)]);
    }
    data
}

/// An array of `length` along an axis; each sample is a sum of samples along that axis.
fn along<T: Sample>(
    data: &[T],
    shape: &mut [usize],
    axis: usize,
    length: usize,
    terms: impl Fn(usize) -> Vec<(i64, usize)>,
) -> Vec<T> {
    let inner: usize = shape[axis + 1..].iter().product();
    let mut all = Vec::new();
    for line in data.chunks(shape[axis] * inner) {
        for i in 0..length {
            let terms = terms(i);
            all.extend((0..inner).map(|k| {
                let read = |j: usize| line[j * inner + k];
                sum(&terms, read)
            }));
        }
    }
    shape[axis] = length;
    all
}

type Acc<T> = <<T as Sample>::Work as Arithmetic>::Acc;

fn product<T: Sample>(factor: i64, sample: T) -> Acc<T> {
    T::Work::mul(T::Work::real(&Weight::integer(factor)), sample.to_work().widen())
}

/// Σ factor·sample; a single sample with factor 1 is unchanged.
fn sum<T: Sample>(terms: &[(i64, usize)], read: impl Fn(usize) -> T) -> T {
    match terms {
        [] => T::default(),
        [(1, index)] => read(*index),
        [first, rest @ ..] => {
            let product = |&(factor, index): &(i64, usize)| product(factor, read(index));
            let total = rest.iter().fold(product(first), |total, term| T::Work::add(total, product(term)));
            T::from_work(T::Work::default().updated(false, total))
        }
    }
}
