//! Levels by convolution, for filter banks without lifting steps.
//!
//! A level is a sparse matrix along each axis: extension and filter in one. Its inner rows repeat, so that only those
//! near the ends are stored. The transpose is the adjoint.

use crate::array::Array;
use crate::stationary::lines_of;
use crate::{LiftingError, stationary};
use lifting::{Extension, Sample};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::ops::{AddAssign, Mul, Range};
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

/// Samples that matrices multiply.
trait Real: Sample + Mul<Output = Self> + AddAssign {
    fn of(value: f64) -> Self;
}

impl Real for f32 {
    fn of(value: f64) -> f32 {
        value as f32
    }
}

impl Real for f64 {
    fn of(value: f64) -> f64 {
        value
    }
}

/// A row: weights of neighbouring columns, from a first column on.
type Row<T> = Vec<(usize, Vec<T>)>;

/// A matrix whose inner rows repeat.
struct Matrix<T> {
    rows: usize,
    columns: usize,
    head: Vec<Row<T>>,
    /// A period of the inner rows.
    period: Vec<Row<T>>,
    /// Columns from a period to the next.
    advance: usize,
    tail: Vec<Row<T>>,
}

/// Definition of a family of matrices by rows of terms; `n` is the length of the data or of a band.
struct Family<'a> {
    length: usize,
    rows: usize,
    columns: usize,
    row: Box<dyn Fn(usize, usize) -> Vec<(usize, f64)> + 'a>,
    /// Rows of a period, and the columns that it advances by.
    period: (usize, usize),
}

impl<'a> Family<'a> {
    /// Analysis of `n` samples: two samples per row.
    fn analysis(filter: &'a [f64], rule: Extension, n: usize) -> Family<'a> {
        let (length, periodized) = (filter.len(), rule == Extension::Periodization);
        let last = if periodized { length / 2 } else { 1 };
        let row = move |n: usize, k: usize| {
            let taps = filter.iter().enumerate();
            let terms = taps.flat_map(|(j, tap)| {
                let extended = rule.terms(n, (2 * k + last) as i64 - j as i64);
                extended.as_slice().iter().map(|(factor, index)| (*index, *factor as f64 * tap)).collect::<Vec<_>>()
            });
            terms.collect()
        };
        Family { length, rows: band_length(length, rule, n), columns: n, row: Box::new(row), period: (1, 2) }
    }

    /// Synthesis of `n` coefficients: two rows per coefficient.
    fn synthesis(filter: &'a [f64], rule: Extension, n: usize) -> Family<'a> {
        let (length, periodized) = (filter.len(), rule == Extension::Periodization);
        let last = if periodized { length / 2 - 1 } else { length - 2 };
        let row = move |n: usize, m: usize| {
            let places = filter.iter().enumerate().map(|(j, tap)| ((m + last) as i64 - j as i64, *tap));
            let terms = places.filter(|(place, _)| place % 2 == 0);
            terms.map(|(place, tap)| ((place / 2).rem_euclid(n as i64) as usize, tap)).collect()
        };
        Family { length, rows: restored_length(length, rule, n), columns: n, row: Box::new(row), period: (2, 1) }
    }

    /// Convolution of a circle of `n` samples, with the filter's tap `last` at the sample itself.
    fn circle(filter: &'a [f64], last: usize, factor: f64, n: usize) -> Family<'a> {
        let row = move |n: usize, k: usize| {
            let taps = filter.iter().enumerate();
            let place = |j: usize| ((k + last) as i64 - j as i64).rem_euclid(n as i64) as usize;
            taps.map(|(j, tap)| (place(j), factor * tap)).collect()
        };
        Family { length: filter.len(), rows: n, columns: n, row: Box::new(row), period: (1, 1) }
    }

    /// The matrix, or its transpose. Long ones are stretched from one of a length with all kinds of rows.
    fn matrix<T: Real>(&self, n: usize, transposed: bool) -> Matrix<T> {
        let short = 6 * self.length + 6 + n % 2;
        let less = n.saturating_sub(short);
        let (period, advance) = self.period;
        // Data lengths count single samples, of which a row of analysis reads two.
        let [fewer_rows, fewer_columns] = match self.period {
            (1, 2) => [less / 2, less],
            _ => [less * period, less * advance],
        };
        let (rows, columns) = (self.rows - fewer_rows, self.columns - fewer_columns);
        let mut all: Vec<Vec<(usize, f64)>> = (0..rows).map(|k| (self.row)(n - less, k)).collect();
        if !transposed {
            return stretched(&mut all, [rows, self.rows], [columns, self.columns], (period, advance));
        }
        let mut turned = vec![Vec::new(); columns];
        all.iter().enumerate().for_each(|(k, row)| row.iter().for_each(|&(c, weight)| turned[c].push((k, weight))));
        stretched(&mut turned, [columns, self.columns], [rows, self.rows], (advance, period))
    }
}

/// A matrix from all rows of a shorter one: its middle row is repeated, and columns keep their distance from the ends.
fn stretched<T: Real>(
    all: &mut [Vec<(usize, f64)>],
    [few, rows]: [usize; 2],
    [narrow, columns]: [usize; 2],
    (period, advance): (usize, usize),
) -> Matrix<T> {
    let middle = if few == rows { few } else { few / 4 * 2 };
    let row = |terms: &mut Vec<(usize, f64)>, shift: &dyn Fn(usize) -> usize| {
        terms.sort_by_key(|term| term.0);
        let mut runs: Row<f64> = Vec::new();
        for &(column, weight) in terms.iter() {
            match runs.last_mut() {
                Some((first, weights)) if *first + weights.len() == column + 1 => weights[column - *first] += weight,
                Some((first, weights)) if *first + weights.len() == column => weights.push(weight),
                _ => runs.push((column, vec![weight])),
            }
        }
        let cast = |(first, weights): (usize, Vec<f64>)| (shift(first), weights.into_iter().map(T::of).collect());
        runs.into_iter().map(cast).collect()
    };
    let (quarter, wider) = (narrow / 4, columns - narrow);
    let near_start = |column| if column >= narrow - quarter { column + wider } else { column };
    let near_end = |column| if column >= quarter { column + wider } else { column };
    let mut rows_of = |range: Range<usize>, shift: &dyn Fn(usize) -> usize| {
        all[range].iter_mut().map(|terms| row(terms, shift)).collect::<Vec<Row<T>>>()
    };
    let repeated = if few == rows { 0..0 } else { middle..middle + period };
    Matrix {
        rows,
        columns,
        head: rows_of(0..middle, &near_start),
        period: rows_of(repeated, &|column| column),
        advance,
        tail: rows_of(middle..few, &near_end),
    }
}

/// Columns of a block of neighbouring lines.
const BLOCK: usize = 256;

/// Interleaved lines up to this number are copied, one after the other.
const FEW: usize = 8;

/// Part of an axis: its length, and its first index.
type Part = (usize, usize);

impl<T: Real> Matrix<T> {
    /// Calls `run` with the number, the row and the shift of each row.
    fn each(&self, mut run: impl FnMut(usize, &Row<T>, usize)) {
        let head = self.head.len();
        self.head.iter().enumerate().for_each(|(k, row)| run(k, row, 0));
        let end = self.rows - self.tail.len();
        if !self.period.is_empty() {
            for k in head..end {
                let (periods, place) = ((k - head) / self.period.len(), (k - head) % self.period.len());
                run(k, &self.period[place], periods * self.advance);
            }
        }
        self.tail.iter().enumerate().for_each(|(k, row)| run(end + k, row, 0));
    }

    /// Multiplies lines along an axis: `from` and `to` are parts of axes, `outer` and `inner` the other axes.
    fn apply(&self, source: &[T], from: Part, target: &mut [T], to: Part, inner: usize, add: bool) {
        let ((n, first), (m, begin)) = (from, to);
        if inner == 0 {
            return;
        }
        for (source, target) in source.chunks_exact(n * inner).zip(target.chunks_exact_mut(m * inner)) {
            let source = &source[first * inner..][..self.columns * inner];
            let target = &mut target[begin * inner..][..self.rows * inner];
            if inner <= FEW {
                self.apply_lines(source, target, inner, add);
                continue;
            }
            for start in (0..inner).step_by(BLOCK) {
                let width = BLOCK.min(inner - start);
                self.each(|k, row, shift| {
                    let target = &mut target[k * inner + start..][..width];
                    if !add {
                        target.fill(T::default());
                    }
                    for (first, weights) in row {
                        let line = |c: usize| &source[(first + shift + c) * inner + start..][..width];
                        let whole = weights.len() / 4 * 4;
                        for c in (0..whole).step_by(4) {
                            let ([p, q, r, s], w) = ([line(c), line(c + 1), line(c + 2), line(c + 3)], &weights[c..]);
                            for (i, y) in target.iter_mut().enumerate() {
                                let mut sum = w[0] * p[i];
                                sum += w[1] * q[i];
                                sum += w[2] * r[i];
                                sum += w[3] * s[i];
                                *y += sum;
                            }
                        }
                        for (c, &weight) in weights.iter().enumerate().skip(whole) {
                            target.iter_mut().zip(line(c)).for_each(|(y, &x)| *y += weight * x);
                        }
                    }
                });
            }
        }
    }

    /// Multiplies `inner` interleaved lines, each of which is copied without gaps if there are several.
    fn apply_lines(&self, source: &[T], target: &mut [T], inner: usize, add: bool) {
        let mut line = vec![T::default(); if inner > 1 { self.columns } else { 0 }];
        for i in 0..inner {
            line.iter_mut().enumerate().for_each(|(k, x)| *x = source[k * inner + i]);
            let line = if inner > 1 { &line } else { source };
            self.each(|k, row, shift| {
                let target = &mut target[k * inner + i];
                let mut sum = if add { *target } else { T::default() };
                row.iter().for_each(|(first, weights)| sum += dot(weights, &line[first + shift..]));
                *target = sum;
            });
        }
    }
}

/// Σ weight·sample, in eight interleaved sums.
fn dot<T: Real>(weights: &[T], samples: &[T]) -> T {
    let samples = &samples[..weights.len()];
    let mut sums = [T::default(); 8];
    let (weights, samples) = (weights.chunks_exact(8), samples.chunks_exact(8));
    let mut sum = T::default();
    weights.remainder().iter().zip(samples.remainder()).for_each(|(&w, &x)| sum += w * x);
    for (weights, samples) in weights.zip(samples) {
        (0..8).for_each(|i| sums[i] += weights[i] * samples[i]);
    }
    sums.into_iter().for_each(|one| sum += one);
    sum
}

/// Coefficients of a band of `n` samples.
fn band_length(filter_length: usize, rule: Extension, n: usize) -> usize {
    if rule == Extension::Periodization { n.div_ceil(2) } else { (n + filter_length - 1) / 2 }
}

/// Samples that `n` ≥ L/2 coefficients of each band restore.
fn restored_length(filter_length: usize, rule: Extension, n: usize) -> usize {
    if rule == Extension::Periodization { 2 * n } else { 2 * n + 2 - filter_length }
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
    matrices: Mutex<HashMap<(usize, usize, u64), Arc<Matrix<T>>>>,
}

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
