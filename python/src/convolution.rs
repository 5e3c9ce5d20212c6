//! Sparse matrices of levels along an axis: extension and filter in one.
//!
//! Inner rows repeat, so that only those near the ends are stored. The transpose is the adjoint.

use lifting::{Extension, Sample};
use std::ops::{AddAssign, Mul, Range};

/// Samples that matrices multiply.
pub trait Real: Sample + Mul<Output = Self> + AddAssign {
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

/// A row before columns are sorted: columns, possibly repeated, and weights.
type Terms = Vec<(usize, f64)>;

/// A matrix whose inner rows repeat.
pub struct Matrix<T> {
    pub rows: usize,
    columns: usize,
    head: Vec<Row<T>>,
    /// A period of the inner rows.
    period: Vec<Row<T>>,
    /// Columns from a period to the next.
    advance: usize,
    tail: Vec<Row<T>>,
}

/// Definition of a family of matrices by rows of terms; `n` is the length of the data or of a band.
pub struct Family<'a> {
    length: usize,
    rows: usize,
    columns: usize,
    /// The row of a number in the matrix of a length.
    row: Box<dyn Fn(usize, usize) -> Terms + 'a>,
    /// Rows of a period, and the columns that it advances by.
    period: (usize, usize),
}

impl<'a> Family<'a> {
    /// Analysis of `n` samples: two samples per row.
    pub fn analysis(filter: &'a [f64], rule: Extension, n: usize) -> Family<'a> {
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
    pub fn synthesis(filter: &'a [f64], rule: Extension, n: usize) -> Family<'a> {
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
    pub fn circle(filter: &'a [f64], last: usize, factor: f64, n: usize) -> Family<'a> {
        let row = move |n: usize, k: usize| {
            let taps = filter.iter().enumerate();
            let place = |j: usize| ((k + last) as i64 - j as i64).rem_euclid(n as i64) as usize;
            taps.map(|(j, tap)| (place(j), factor * tap)).collect()
        };
        Family { length: filter.len(), rows: n, columns: n, row: Box::new(row), period: (1, 1) }
    }

    /// The matrix, or its transpose. Long ones are stretched from one of a length with all kinds of rows.
    pub fn matrix<T: Real>(&self, n: usize, transposed: bool) -> Matrix<T> {
        let short = 6 * self.length + 6 + n % 2;
        let less = n.saturating_sub(short);
        let (period, advance) = self.period;
        // A row of analysis reads two samples more than the one before.
        let [fewer_rows, fewer_columns] = match self.period {
            (1, 2) => [less / 2, less],
            _ => [less * period, less * advance],
        };
        let (rows, columns) = (self.rows - fewer_rows, self.columns - fewer_columns);
        let mut all: Vec<Terms> = (0..rows).map(|k| (self.row)(n - less, k)).collect();
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
    all: &mut [Terms],
    [few, rows]: [usize; 2],
    [narrow, columns]: [usize; 2],
    (period, advance): (usize, usize),
) -> Matrix<T> {
    let middle = if few == rows { few } else { few / 4 * 2 };
    let row = |terms: &mut Terms, shift: &dyn Fn(usize) -> usize| {
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
    pub fn apply(&self, source: &[T], from: Part, target: &mut [T], to: Part, inner: usize, add: bool) {
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

    /// Multiplies `inner` interleaved lines. Several are copied without gaps first.
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
pub fn band_length(filter_length: usize, rule: Extension, n: usize) -> usize {
    if rule == Extension::Periodization { n.div_ceil(2) } else { (n + filter_length - 1) / 2 }
}

/// Samples that `n` ≥ L/2 coefficients of each band restore.
pub fn restored_length(filter_length: usize, rule: Extension, n: usize) -> usize {
    if rule == Extension::Periodization { 2 * n } else { 2 * n + 2 - filter_length }
}
