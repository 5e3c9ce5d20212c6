//! The definition of one level that keeps all that depends on the data: see [`Extension`].

use super::{OracleError, Transform};
use crate::core::extension::{Extension, Window};
use crate::core::geometry::Geometry;
use crate::core::sample::{Arithmetic, Sample};
use crate::core::scheme::{Boundary, Domain, Scheme};
use crate::core::weight::Weight;

/// One level of a real wavelet along some axes of an array, which goes on beyond its ends by a rule.
///
/// The array is extended axis after axis, the innermost one first, each sum of samples evaluated from left to right
/// with every operation rounded once; and then transformed as any other.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansive {
    /// The wavelet.
    pub scheme: Scheme,
    /// The length of its filters: `Scheme::filter_length`.
    pub filter_length: usize,
    /// The rule for each axis; `None` for those that are not transformed.
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

    /// The bands that are kept, in Mallat order: along each axis low then high.
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
        for (axis, window) in windows.iter().enumerate() {
            let Some(window) = window else { continue };
            let n = window.coefficients;
            data = along(&data, &mut shape, axis, 2 * n, |i| vec![(1, window.bands()[i / n] + i % n)]);
        }
        Ok(data)
    }

    /// The array of that `shape` from what [`Expansive::forward`] made of it.
    pub fn inverse<T: Sample>(&self, bands: &[T]) -> Result<Vec<T>, OracleError> {
        let windows = self.windows()?;
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
        self.transform(&shape)?.inverse(&mut data)?;
        for (axis, window) in windows.iter().enumerate() {
            let Some(window) = window else { continue };
            data = along(&data, &mut shape, axis, window.samples, |i| vec![(1, window.first() + i)]);
        }
        Ok(data)
    }
}

/// The array whose sample i along an axis, of `length`, is a sum of samples along it.
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

/// Σ factor·sample; a lone sample as it is.
fn sum<T: Sample>(terms: &[(i64, usize)], read: impl Fn(usize) -> T) -> T {
    type Acc<T> = <<T as Sample>::Work as Arithmetic>::Acc;
    let product = |&(factor, index): &(i64, usize)| -> Acc<T> {
        T::Work::mul(T::Work::real(&Weight::integer(factor)), read(index).to_work().widen())
    };
    match terms {
        [] => T::default(),
        [(1, index)] => read(*index),
        [first, rest @ ..] => {
            let total = rest.iter().fold(product(first), |total, term| T::Work::add(total, product(term)));
            T::from_work(T::Work::default().updated(false, total))
        }
    }
}
