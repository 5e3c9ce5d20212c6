//! Levels by convolution, for filter banks without lifting steps.
//!
//! A level is a sparse matrix along each axis (`convolution`).

use crate::array::Array;
use crate::convolution::{Family, Matrix, Real, band_length, restored_length};
use crate::stationary::lines_of;
use crate::{LiftingError, stationary};
use lifting::{Extension, Sample};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The filters `dec_lo`, `dec_hi`, `rec_lo` and `rec_hi` of PyWavelets, of one even length.
#[pyclass(frozen, module = "lifting._lifting")]
pub struct Bank {
    filters: [Vec<f64>; 4],
}

#[pymethods]
impl Bank {
    #[new]
    fn new(filters: [Vec<f64>; 4]) -> PyResult<Bank> {
        let length = filters[0].len();
        if length == 0 || length % 2 == 1 || filters.iter().any(|filter| filter.len() != length) {
            return Err(LiftingError::new_err("a bank needs four filters of one even length"));
        }
        Ok(Bank { filters })
    }

    /// Length of the filters.
    #[getter]
    fn filter_length(&self) -> usize {
        self.filters[0].len()
    }
}

/// An axis of a level.
struct Axis<T> {
    /// Length of the data, and of a band.
    data: usize,
    band: usize,
    /// Matrices of the low and the high band, from data and from bands; none for an axis that is not transformed.
    pair: Option<[[Matrix<T>; 2]; 2]>,
}

impl<T: Real> Axis<T> {
    fn new(bank: &Bank, n: usize, rule: Option<Extension>, of_bands: bool) -> Axis<T> {
        let Some(rule) = rule else { return Axis { data: n, band: n, pair: None } };
        let length = bank.filters[0].len();
        let [a, b, c, d] = &bank.filters;
        let (data, band, families) = match of_bands {
            true => (restored_length(length, rule, n), n, [c, d].map(|filter| Family::synthesis(filter, rule, n))),
            false => (n, band_length(length, rule, n), [a, b].map(|filter| Family::analysis(filter, rule, n))),
        };
        let matrices = |transposed| families.each_ref().map(|family| family.matrix(n, transposed));
        Axis { data, band, pair: Some([matrices(of_bands), matrices(!of_bands)]) }
    }

    /// Length of both bands.
    fn both(&self) -> usize {
        if self.pair.is_some() { 2 * self.band } else { self.band }
    }
}

/// A level for samples of one type.
struct Typed<T> {
    axes: Vec<Axis<T>>,
}

impl<T: Real> Typed<T> {
    fn new(bank: &Bank, shape: &[usize], rules: &[Option<Extension>], of_bands: bool) -> Typed<T> {
        Typed { axes: shape.iter().zip(rules).map(|(&n, &rule)| Axis::new(bank, n, rule, of_bands)).collect() }
    }

    fn shape(&self, of: impl Fn(&Axis<T>) -> usize) -> Vec<usize> {
        self.axes.iter().map(of).collect()
    }

    /// Start of a band, whose bits say along which axes it is high.
    fn offsets(&self, band: usize) -> Vec<usize> {
        let mut bit = self.bands();
        let mut offset = |axis: &Axis<T>| {
            if axis.pair.is_none() {
                return 0;
            }
            bit /= 2;
            if band & bit != 0 { axis.band } else { 0 }
        };
        self.axes.iter().map(&mut offset).collect()
    }

    fn bands(&self) -> usize {
        1 << self.axes.iter().filter(|axis| axis.pair.is_some()).count()
    }

    /// Data to bands, or with `join` bands to data, axis by axis.
    fn run(&self, join: bool, mut values: Vec<T>) -> Vec<T> {
        let mut shape = self.shape(|axis| if join { axis.both() } else { axis.data });
        for (i, axis) in self.axes.iter().enumerate() {
            let Some(pair) = &axis.pair else { continue };
            let inner: usize = shape[i + 1..].iter().product();
            let outer: usize = shape[..i].iter().product();
            let [(n, _), (m, _)] =
                if join { [(2 * axis.band, 0), (axis.data, 0)] } else { [(axis.data, 0), (2 * axis.band, 0)] };
            let mut made = vec![T::default(); outer * m * inner];
            for (high, matrix) in pair[usize::from(join)].iter().enumerate() {
                let place = high * axis.band;
                match join {
                    true => matrix.apply(&values, (n, place), &mut made, (m, 0), inner, high == 1),
                    false => matrix.apply(&values, (n, 0), &mut made, (m, place), inner, false),
                }
            }
            values = made;
            shape[i] = m;
        }
        values
    }

    fn split(&self, py: Python<'_>, data: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = Array::<T>::read(data, "the data")?;
        let mut target = Array::<T>::write(target, "the coefficients")?;
        fits(&data, &self.shape(|axis| axis.data), "the data")?;
        fits(&target, &self.shape(Axis::both), "the array of coefficients")?;
        let values = data.packed();
        // SAFETY: the data was copied.
        let target = unsafe { target.slice("the array of coefficients") }?;
        py.detach(|| target.copy_from_slice(&self.run(false, values)));
        Ok(())
    }

    fn join(
        &self,
        py: Python<'_>,
        bands: &[Option<Bound<'_, PyAny>>],
        target: &Bound<'_, PyAny>,
        shape: &[usize],
    ) -> PyResult<()> {
        let (whole, of_band) = (self.shape(Axis::both), self.shape(|axis| axis.band));
        let mut values = vec![T::default(); whole.iter().product()];
        for (number, band) in bands.iter().enumerate().filter_map(|(i, band)| Some((i, band.as_ref()?))) {
            let band = Array::<T>::read(band, "a band")?;
            fits(&band, &of_band, "a band")?;
            place(&band.packed(), &of_band, &mut values, &whole, &self.offsets(number));
        }
        let mut target = Array::<T>::write(target, "the data")?;
        fits(&target, shape, "the array of data")?;
        // SAFETY: the bands were copied.
        let target = unsafe { target.slice("the array of data") }?;
        py.detach(|| {
            let made = self.run(true, values);
            place(&made, &self.shape(|axis| axis.data), target, shape, &vec![0; shape.len()]);
        });
        Ok(())
    }
}

/// Checks an array's shape.
fn fits<T: Sample>(array: &Array<T>, shape: &[usize], what: &str) -> PyResult<()> {
    if array.shape() == shape {
        return Ok(());
    }
    Err(LiftingError::new_err(format!("{what} has the shape {:?}, but {shape:?} is needed", array.shape())))
}

/// Copies an array without gaps into a larger one, from `first` on.
fn place<T: Sample>(from: &[T], shape: &[usize], to: &mut [T], whole: &[usize], first: &[usize]) {
    let ([n, shape @ ..], [_, whole @ ..], [first, rest @ ..]) = (shape, whole, first) else {
        return to.copy_from_slice(from);
    };
    let (part, stride): (usize, usize) = (shape.iter().product(), whole.iter().product());
    if part == 0 {
        return;
    }
    if part == stride {
        return to[first * stride..][..n * stride].copy_from_slice(from);
    }
    for (from, to) in from.chunks_exact(part).zip(to[first * stride..].chunks_exact_mut(stride)) {
        place(from, shape, to, whole, rest);
    }
}

/// A level for one of the sample types.
enum Any {
    F32(Typed<f32>),
    F64(Typed<f64>),
}

macro_rules! each {
    ($any:expr, $typed:ident => $body:expr) => {
        match $any {
            Any::F32($typed) => $body,
            Any::F64($typed) => $body,
        }
    };
}

/// A level by convolution for arrays of one shape and sample type; its methods are those of `Level`.
#[pyclass(frozen, module = "lifting._lifting")]
pub struct BankLevel(Any);

#[pymethods]
impl BankLevel {
    #[new]
    fn new(
        bank: &Bank,
        shape: Vec<usize>,
        modes: Vec<Option<String>>,
        dtype: &str,
        of_bands: bool,
    ) -> PyResult<BankLevel> {
        let rule = |mode: &Option<String>| mode.as_ref().map(|name| name.parse::<Extension>()).transpose();
        let rules: Vec<Option<Extension>> =
            modes.iter().map(rule).collect::<Result<_, _>>().map_err(LiftingError::new_err)?;
        let length = bank.filters[0].len();
        for (axis, (&n, rule)) in shape.iter().zip(&rules).enumerate() {
            let least = match rule {
                Some(rule) if of_bands && *rule != Extension::Periodization => length / 2,
                _ => 1,
            };
            if n < least {
                return Err(LiftingError::new_err(format!("axis {axis} has length {n}, but needs at least {least}")));
            }
        }
        let samples = shape.iter().try_fold(1_usize, |samples, &n| {
            samples.checked_mul(n.checked_add(length)?.checked_mul(2)?).filter(|n| *n < isize::MAX as usize / 8)
        });
        if samples.is_none() || shape.len() != rules.len() {
            return Err(LiftingError::new_err(format!("a level of shape {shape:?} is too large for an array")));
        }
        Ok(BankLevel(match dtype {
            "f32" => Any::F32(Typed::new(bank, &shape, &rules, of_bands)),
            "f64" => Any::F64(Typed::new(bank, &shape, &rules, of_bands)),
            _ => return Err(LiftingError::new_err(format!("unsupported sample type {dtype}: f32 or f64 is needed"))),
        }))
    }

    #[getter]
    fn band_shape(&self) -> Vec<usize> {
        each!(&self.0, typed => typed.shape(|axis| axis.band))
    }

    #[getter]
    fn extended_shape(&self) -> Vec<usize> {
        each!(&self.0, typed => typed.shape(Axis::both))
    }

    #[getter]
    fn restored_shape(&self) -> Vec<usize> {
        each!(&self.0, typed => typed.shape(|axis| axis.data))
    }

    #[getter]
    fn first(&self) -> Vec<usize> {
        each!(&self.0, typed => vec![0; typed.axes.len()])
    }

    #[getter]
    fn offsets(&self) -> Vec<Vec<usize>> {
        each!(&self.0, typed => (0..typed.bands()).map(|band| typed.offsets(band)).collect())
    }

    fn forward(&self, py: Python<'_>, data: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        each!(&self.0, typed => typed.split(py, data, target))
    }

    fn inverse_adjoint(&self, py: Python<'_>, data: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        each!(&self.0, typed => typed.split(py, data, target))
    }

    fn inverse(&self, py: Python<'_>, bands: Vec<Option<Bound<'_, PyAny>>>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        each!(&self.0, typed => typed.join(py, &bands, target, &typed.shape(Axis::both)))
    }

    fn adjoint(&self, py: Python<'_>, bands: Vec<Option<Bound<'_, PyAny>>>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        each!(&self.0, typed => typed.join(py, &bands, target, &typed.shape(|axis| axis.data)))
    }
}

/// Stationary levels for samples of one type, and their matrices by filter, length and gain.
struct Circles<T> {
    filters: [Vec<f64>; 4],
    matrices: Mutex<HashMap<CircleKey, Arc<Matrix<T>>>>,
}

/// Number of the filter, length, and bits of the gain.
type CircleKey = (usize, usize, u64);

/// Matrices that a level keeps.
const KEPT: usize = 64;

/// A level of a stationary transform by convolution; its methods are those of `StationaryLevel`.
#[pyclass(frozen, module = "lifting._lifting")]
pub struct BankStationaryLevel(Stationary);

enum Stationary {
    F32(Circles<f32>),
    F64(Circles<f64>),
}

#[pymethods]
impl BankStationaryLevel {
    #[new]
    fn new(bank: &Bank, dtype: &str) -> PyResult<BankStationaryLevel> {
        let filters = bank.filters.clone();
        Ok(BankStationaryLevel(match dtype {
            "f32" => Stationary::F32(Circles { filters, matrices: Mutex::default() }),
            "f64" => Stationary::F64(Circles { filters, matrices: Mutex::default() }),
            _ => return Err(LiftingError::new_err(format!("unsupported sample type {dtype}: f32 or f64 is needed"))),
        }))
    }

    #[expect(unused_variables, reason = "the signature is that of `StationaryLevel`")]
    fn forward(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        bands: [Bound<'_, PyAny>; 2],
        lines: [usize; 4],
        gain: f64,
        threads: usize,
    ) -> PyResult<()> {
        match &self.0 {
            Stationary::F32(level) => level.split(py, data, &bands, lines, gain),
            Stationary::F64(level) => level.split(py, data, &bands, lines, gain),
        }
    }

    #[expect(unused_variables, reason = "the signature is that of `StationaryLevel`")]
    fn inverse(
        &self,
        py: Python<'_>,
        bands: [Bound<'_, PyAny>; 2],
        data: &Bound<'_, PyAny>,
        lines: [usize; 4],
        gain: f64,
        threads: usize,
    ) -> PyResult<()> {
        match &self.0 {
            Stationary::F32(level) => level.join(py, &bands, data, lines, gain),
            Stationary::F64(level) => level.join(py, &bands, data, lines, gain),
        }
    }
}

impl<T: Real> Circles<T> {
    /// Matrix of a filter on every `step`-th sample, and the length of the other inner axes.
    fn matrix(&self, filter: usize, lines: &lifting::Lines, factor: f64) -> (Arc<Matrix<T>>, usize) {
        let (n, inner) = (lines.length / lines.step, lines.inner * lines.step);
        let mut matrices = self.matrices.lock().unwrap_or_else(PoisonError::into_inner);
        if matrices.len() >= KEPT {
            matrices.clear();
        }
        let make = || {
            let taps = &self.filters[filter];
            let last = taps.len() / 2 - usize::from(filter >= 2);
            Arc::new(Family::circle(taps, last, factor, n).matrix(n, false))
        };
        (matrices.entry((filter, n, factor.to_bits())).or_insert_with(make).clone(), inner)
    }

    fn split(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        bands: &[Bound<'_, PyAny>; 2],
        lines: [usize; 4],
        gain: f64,
    ) -> PyResult<()> {
        let data = Array::<T>::read(data, "the data")?;
        for (filter, band) in bands.iter().enumerate() {
            let mut band = Array::<T>::write(band, "a band")?;
            let lines = stationary::whole_lines(lines_of(lines, &[&data, &band])?)?;
            if data.meets(&band) {
                return Err(LiftingError::new_err("the data and the bands share memory: use separate arrays"));
            }
            // SAFETY: the arrays share no memory.
            let (data, band) = unsafe { (data.samples("the data")?, band.slice("a band")?) };
            py.detach(|| {
                let (matrix, inner) = self.matrix(filter, &lines, gain);
                let part = (matrix.rows, 0);
                matrix.apply(data, part, band, part, inner, false);
            });
        }
        Ok(())
    }

    fn join(
        &self,
        py: Python<'_>,
        bands: &[Bound<'_, PyAny>; 2],
        data: &Bound<'_, PyAny>,
        lines: [usize; 4],
        gain: f64,
    ) -> PyResult<()> {
        let mut data = Array::<T>::write(data, "the data")?;
        for (filter, band) in bands.iter().enumerate() {
            let band = Array::<T>::read(band, "a band")?;
            let lines = stationary::whole_lines(lines_of(lines, &[&data, &band])?)?;
            if data.meets(&band) {
                return Err(LiftingError::new_err("the data and a band share memory: use separate arrays"));
            }
            // SAFETY: the target shares no memory with the band.
            let (data, band) = unsafe { (data.slice("the data")?, band.samples("a band")?) };
            py.detach(|| {
                // Half of the sum of both shifts.
                let (matrix, inner) = self.matrix(2 + filter, &lines, 0.5 * gain);
                let part = (matrix.rows, 0);
                matrix.apply(band, part, data, part, inner, filter == 1);
            });
        }
        Ok(())
    }
}
