//! Extensions of a line beyond its ends: PyWavelets' modes, which keep every coefficient that depends on the data.
//!
//! The border rules of [`Boundary`](crate::Boundary) belong to steps, and keep the number of samples. An [`Extension`]
//! belongs to the signal: the line is extended as it is loaded, and the steps run over the extension. Each band keeps
//! ⌊(n + L − 1)/2⌋ coefficients, for filters of L taps. A [`Window`] is the piece of the extended line that is lifted.
//! It is so long that nothing beyond it reaches the kept coefficients, so any border rule would do. The periodic rule
//! is used, under which lattices run as lattices.

use crate::core::scheme::{Boundary, Phase, Scheme, Step};

/// Continuation of a line of samples on both sides; the names are PyWavelets'.
///
/// ```
/// use lifting_dsl::extension::Extension;
/// let next = |rule: Extension| rule.terms(4, 4).as_slice().to_vec(); // the sample behind a line of 4
/// assert_eq!(next(Extension::Symmetric), [(1, 3)]); // … a b c d | d c b a …
/// assert_eq!(next(Extension::Reflect), [(1, 2)]); // … a b c d | c b a b …
/// assert_eq!(next(Extension::Smooth), [(2, 3), (-1, 2)]); // on along the line through c and d
/// assert_eq!(next(Extension::Zero), []);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extension {
    /// Zeros.
    Zero,
    /// The sample at the end, repeated.
    Constant,
    /// Reflected about the edge of the last sample, which is repeated (half-sample symmetric).
    Symmetric,
    /// Reflected about the last sample, which is not repeated (whole-sample symmetric).
    Reflect,
    /// The line repeats.
    Periodic,
    /// The straight line through the last two samples.
    Smooth,
    /// Like [`Extension::Symmetric`], with the sign changed.
    Antisymmetric,
    /// Like [`Extension::Reflect`], also negated about the last sample's value.
    Antireflect,
    /// The line repeats, an odd one first extended by its last sample; ⌈n/2⌉ coefficients are kept, so none is added.
    Periodization,
}

/// A sample as a sum of samples of the line: factors and indices, at most three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    terms: [(i64, usize); 3],
    count: usize,
}

impl Terms {
    fn of(terms: &[(i64, usize)]) -> Terms {
        let mut all = Terms::default();
        for &(factor, index) in terms.iter().filter(|term| term.0 != 0) {
            all.terms[all.count] = (factor, index);
            all.count += 1;
        }
        all
    }

    /// The terms, in the order of addition; no factor is zero.
    pub fn as_slice(&self) -> &[(i64, usize)] {
        &self.terms[..self.count]
    }
}

impl Extension {
    /// All rules, in the order of PyWavelets' list.
    pub const ALL: [Extension; 9] = [
        Extension::Zero,
        Extension::Constant,
        Extension::Symmetric,
        Extension::Periodic,
        Extension::Smooth,
        Extension::Periodization,
        Extension::Reflect,
        Extension::Antisymmetric,
        Extension::Antireflect,
    ];

    /// PyWavelets' name.
    pub fn name(self) -> &'static str {
        match self {
            Extension::Zero => "zero",
            Extension::Constant => "constant",
            Extension::Symmetric => "symmetric",
            Extension::Reflect => "reflect",
            Extension::Periodic => "periodic",
            Extension::Smooth => "smooth",
            Extension::Antisymmetric => "antisymmetric",
            Extension::Antireflect => "antireflect",
            Extension::Periodization => "periodization",
        }
    }

    /// The effective rule for a line of `n` ≥ 1: a single sample has no neighbour to continue from.
    pub fn of_length(self, n: usize) -> Extension {
        match self {
            Extension::Reflect | Extension::Smooth | Extension::Antireflect if n == 1 => Extension::Constant,
            rule => rule,
        }
    }

    /// Sample `i` of a line of `n` ≥ 1; `i` may lie before the first or behind the last.
    pub fn terms(self, n: usize, i: i64) -> Terms {
        let (length, last) = (n as i64, n as i64 - 1);
        let one = |index: i64| Terms::of(&[(1, index as usize)]);
        if (0..length).contains(&i) {
            return one(i);
        }
        let nearest = i.clamp(0, last);
        match self.of_length(n) {
            Extension::Zero => Terms::default(),
            Extension::Constant => one(nearest),
            Extension::Periodic => one(i.rem_euclid(length)),
            Extension::Periodization => one(i.rem_euclid(length + length % 2).min(last)),
            Extension::Symmetric | Extension::Antisymmetric => {
                let there = i.rem_euclid(2 * length);
                let index = there.min(2 * length - 1 - there);
                let turned = self == Extension::Antisymmetric && there >= length;
                Terms::of(&[(if turned { -1 } else { 1 }, index as usize)])
            }
            Extension::Reflect => {
                let there = i.rem_euclid(2 * last);
                one(there.min(2 * last - there))
            }
            Extension::Smooth => {
                let (inner, beyond) = if i < 0 { (1, -i) } else { (last - 1, i - last) };
                Terms::of(&[(1 + beyond, nearest as usize), (-beyond, inner as usize)])
            }
            Extension::Antireflect => {
                // There and back again, the line has risen by twice the difference of its ends.
                let (times, there) = (i.div_euclid(2 * last), i.rem_euclid(2 * last));
                let back = there > last;
                let (sign, index) = if back { (-1, 2 * last - there) } else { (1, there) };
                let at_end = 2 * times + if back { 2 } else { 0 };
                Terms::of(&[(at_end, last as usize), (-2 * times, 0), (sign, index as usize)])
            }
        }
    }
}

impl std::fmt::Display for Extension {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Extension {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Extension::ALL.into_iter().find(|e| e.name() == s).ok_or_else(|| {
            let names: Vec<_> = Extension::ALL.iter().map(|e| e.name()).collect();
            format!("unknown mode `{s}`; choose one of {}", names.join(", "))
        })
    }
}

/// The piece of an extended line that is lifted.
///
/// Coefficient k of the low band has position 2k, of the high band 2k + 1; positions 0 to 2·`coefficients` − 1 are
/// kept. The line's first sample has position `origin`. The piece goes from position −`left` to 2·`coefficients` +
/// `right` − 1. Both margins are even, so its first sample is an even one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Samples of the line.
    pub samples: usize,
    /// Coefficients of each band that are kept.
    pub coefficients: usize,
    /// Samples of the line that synthesis restores: `samples`, or one more.
    pub restored: usize,
    /// Position of the first sample.
    pub origin: usize,
    /// Positions before 0 on which the kept coefficients depend.
    pub left: usize,
    /// Positions behind the last kept one on which the kept coefficients depend.
    pub right: usize,
}

impl Window {
    /// The window of a line of `samples` ≥ 1 under a wavelet with filters of `filter_length` taps; `None` if it exceeds
    /// the address range, or the length is below 2.
    pub fn new(scheme: &Scheme, extension: Extension, filter_length: usize, samples: usize) -> Option<Window> {
        if extension == Extension::Periodization {
            let coefficients = samples.div_ceil(2);
            let restored = coefficients.checked_mul(2)?;
            return Some(Window { samples, coefficients, restored, origin: 0, left: 0, right: 0 });
        }
        let coefficients = Window::coefficients(filter_length, samples)?;
        Window::of(scheme, filter_length, samples, coefficients)
    }

    /// The window whose bands have `coefficients` coefficients: synthesis does not know the line.
    pub fn of_coefficients(
        scheme: &Scheme,
        extension: Extension,
        filter_length: usize,
        coefficients: usize,
    ) -> Option<Window> {
        let samples = coefficients.checked_mul(2)?;
        if extension == Extension::Periodization {
            return Some(Window { samples, coefficients, restored: samples, origin: 0, left: 0, right: 0 });
        }
        let samples = (samples + 2).checked_sub(filter_length).filter(|n| *n > 0)?;
        Window::of(scheme, filter_length, samples, coefficients)
    }

    fn of(scheme: &Scheme, filter_length: usize, samples: usize, coefficients: usize) -> Option<Window> {
        let (left, right) = reach(scheme);
        let even = |n: usize| n + n % 2;
        let window = Window {
            samples,
            coefficients,
            restored: coefficients.checked_mul(2)?.checked_add(2)?.checked_sub(filter_length)?,
            origin: (filter_length / 2).checked_sub(1)?,
            left: even(left),
            right: even(right),
        };
        let length = window.left.checked_add(window.right)?.checked_add(coefficients.checked_mul(2)?)?;
        // Data and restored samples are inside: executors index them unchecked.
        let inside = |samples: usize| window.first().checked_add(samples).is_some_and(|end| end <= length);
        (inside(samples) && inside(window.restored)).then_some(window)
    }

    /// ⌊(samples + L − 1)/2⌋: PyWavelets' `dwt_coeff_len`.
    fn coefficients(filter_length: usize, samples: usize) -> Option<usize> {
        Some(samples.checked_add(filter_length)?.checked_sub(1)? / 2)
    }

    /// The window for synthesis: without margins if the restored samples depend on the kept coefficients alone. Then no
    /// rule is needed beyond them.
    pub fn of_synthesis(&self, scheme: &Scheme) -> Window {
        // Computed in numbers that hold twice the length of any line.
        let (first, last) = (self.origin as i128, self.origin as i128 + self.restored as i128 - 1);
        let inside = (0..2).zip(synthesis_reach(scheme)).all(|(parity, (low, high))| {
            let (first, last) = (first + (first + parity) % 2, last - (last + parity) % 2);
            first + i128::from(low) >= 0 && last + i128::from(high) < 2 * self.coefficients as i128
        });
        if inside { Window { left: 0, right: 0, ..*self } } else { *self }
    }

    /// Samples of the piece; even.
    pub fn length(&self) -> usize {
        self.left + 2 * self.coefficients + self.right
    }

    /// Index in the piece of the line's first sample.
    pub fn first(&self) -> usize {
        self.left + self.origin
    }

    /// Indices in the bands of the piece, low half first, of the first kept coefficient of the low and the high band.
    pub fn bands(&self) -> [usize; 2] {
        [self.left / 2, self.length() / 2 + self.left / 2]
    }
}

/// Distances before and behind a position of the samples that it depends on, in analysis and in synthesis.
fn reach(scheme: &Scheme) -> (usize, usize) {
    if let Some(stages) = scheme.stages(Boundary::Periodic) {
        return (stages.len(), stages.len());
    }
    let supports = scheme.steps().iter().filter_map(Step::support);
    supports.fold((0, 0), |(left, right), (low, high)| {
        (left + low.min(0).unsigned_abs() as usize, right + high.max(0) as usize)
    })
}

/// The range of offsets on which an even (an odd) sample depends in synthesis.
fn synthesis_reach(scheme: &Scheme) -> [(i64, i64); 2] {
    let mut reach = [(0, 0); 2];
    let hull = |a: (i64, i64), by: (i64, i64), b: (i64, i64)| (a.0.min(by.0 + b.0), a.1.max(by.1 + b.1));
    if let Some(stages) = scheme.inverse_stages(Boundary::Periodic) {
        for stage in stages {
            let [u, v] = if stage.first == Phase::Even { [0, 1] } else { [1, 0] };
            (reach[u], reach[v]) = (hull(reach[u], (1, 1), reach[v]), hull(reach[v], (-1, -1), reach[u]));
        }
        return reach;
    }
    for step in scheme.inverse_steps() {
        let target = step.target().parity() as usize;
        if let Some(support) = step.support() {
            reach[target] = hull(reach[target], support, reach[1 - target]);
        }
    }
    reach
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definitions, found by walking.
    fn walk(rule: Extension, x: &[i64], i: i64) -> i64 {
        let (n, last) = (x.len() as i64, x.len() as i64 - 1);
        if (0..n).contains(&i) {
            return x[i as usize];
        }
        let (end, inward) = if i < 0 { (0, 1) } else { (last, -1) };
        let near = x[end as usize];
        match rule {
            Extension::Zero => 0,
            Extension::Constant => near,
            Extension::Periodic => walk(rule, x, if i < 0 { i + n } else { i - n }),
            Extension::Periodization if n % 2 == 1 && i == n => near,
            Extension::Periodization => walk(rule, x, if i < 0 { i + n + n % 2 } else { i - n - n % 2 }),
            Extension::Symmetric => walk(rule, x, 2 * end - inward - i),
            Extension::Antisymmetric => -walk(rule, x, 2 * end - inward - i),
            Extension::Reflect | Extension::Smooth | Extension::Antireflect if n == 1 => near,
            Extension::Reflect => walk(rule, x, 2 * end - i),
            Extension::Smooth => near + (i - end).abs() * (near - x[(end + inward) as usize]),
            Extension::Antireflect => 2 * near - walk(rule, x, 2 * end - i),
        }
    }

    #[test]
    fn terms_equal_walking() {
        for rule in Extension::ALL {
            assert_eq!(rule.name().parse(), Ok(rule));
            for n in 1..8usize {
                let x: Vec<i64> = (0..n as i64).map(|i| 100 + i * i * 7 - 3 * i).collect();
                for i in -40..40 {
                    let terms = rule.terms(n, i);
                    let sum: i64 = terms.as_slice().iter().map(|&(c, j)| c * x[j]).sum();
                    assert_eq!(sum, walk(rule, &x, i), "{rule} n {n} i {i}");
                }
            }
        }
    }
}
