//! Border extension on the CPU, and its adjoint.

use super::Expansive;
use crate::sample::Sample;
use lifting_dsl::Weight;
use lifting_dsl::extension::{Extension, Window};
use lifting_dsl::sample::{self, Arithmetic};

impl<T: Sample> Expansive<T> {
    /// Extends an array whose rows are already extended along all other axes, inner axes first.
    pub(super) fn extend(&self, array: &mut [T]) {
        for axis in (0..self.shape.len() - 1).rev().filter(|axis| !self.margins[*axis].is_empty()) {
            self.extend_axis(0, axis, array);
        }
    }

    /// Fills the extension along an axis; the array begins at axis `outer`.
    pub(super) fn extend_axis(&self, outer: usize, axis: usize, array: &mut [T]) {
        self.each_piece(outer, axis, array, &mut |stride, array| {
            for Margin { at, is } in &self.margins[axis] {
                let to = at * stride;
                match is {
                    Beyond::Zero => array[to..][..stride].fill(T::default()),
                    Beyond::Sample(index) if stride == 1 => array[to] = array[*index],
                    Beyond::Sample(index) => array.copy_within(index * stride..(index + 1) * stride, to),
                    Beyond::Sum(terms) => {
                        for k in 0..stride {
                            array[to + k] = sum(terms, |index| array[index * stride + k]);
                        }
                    }
                }
            }
        });
    }

    /// The adjoint of [`extend_axis`](Expansive::extend_axis): adds each extension sample back to its sources.
    pub(super) fn fold_axis(&self, axis: usize, array: &mut [T]) {
        self.each_piece(0, axis, array, &mut |stride, array| {
            let mut add = |at: usize, index: usize, factor: Factor<T>| {
                for k in 0..stride {
                    let product = T::Work::mul(factor, array[at * stride + k].to_work().widen());
                    let sample = &mut array[index * stride + k];
                    *sample = T::from_work(sample.to_work().updated(false, product));
                }
            };
            for Margin { at, is } in &self.margins[axis] {
                match is {
                    Beyond::Zero => {}
                    Beyond::Sample(index) => add(*at, *index, T::Work::ONE),
                    Beyond::Sum(terms) => terms.iter().for_each(|&(factor, index)| add(*at, index, factor)),
                }
            }
        });
    }

    /// Calls `run` with the stride of an axis and each piece of the array that spans this axis and the inner ones.
    /// There is one piece for each data index along the outer axes, from axis `outer` on.
    fn each_piece(&self, outer: usize, axis: usize, array: &mut [T], run: &mut impl FnMut(usize, &mut [T])) {
        let stride = self.strides[outer] as usize;
        if outer == axis {
            return run(stride, array);
        }
        let pieces = array[self.start(outer)..].chunks_exact_mut(stride).take(self.shape[outer]);
        pieces.for_each(|piece| self.each_piece(outer + 1, axis, piece, run));
    }
}

/// A position of an extended axis outside the data.
#[derive(Debug)]
pub(super) struct Margin<T: Sample> {
    pub at: usize,
    pub is: Beyond<T>,
}

/// Value of an extension sample; indices are of the extended axis.
#[derive(Debug)]
pub(super) enum Beyond<T: Sample> {
    Zero,
    Sample(usize),
    Sum(Vec<(Factor<T>, usize)>),
}

pub(super) fn margins<T: Sample>(window: Option<&Window>, rule: Option<Extension>) -> Vec<Margin<T>> {
    let Some((window, rule)) = window.zip(rule) else { return Vec::new() };
    let (first, n) = (window.first(), window.samples);
    let beyond = |at: usize| match *rule.terms(n, at as i64 - first as i64).as_slice() {
        [] => Beyond::Zero,
        [(1, index)] => Beyond::Sample(first + index),
        ref terms => {
            let factor = |&(c, index): &(i64, usize)| (T::Work::real(&Weight::integer(c)), first + index);
            Beyond::Sum(terms.iter().map(factor).collect())
        }
    };
    (0..first).chain(first + n..window.length()).map(|at| Margin { at, is: beyond(at) }).collect()
}

/// Type of weights for samples `T`.
type Factor<T> = <<T as sample::Sample>::Work as Arithmetic>::Acc;

/// Σ factor·sample, from left to right, every operation rounded once.
fn sum<T: Sample>(terms: &[(Factor<T>, usize)], read: impl Fn(usize) -> T) -> T {
    let mut products = terms.iter().map(|&(factor, index)| T::Work::mul(factor, read(index).to_work().widen()));
    let first = products.next().unwrap_or_default();
    T::from_work(T::Work::default().updated(false, products.fold(first, T::Work::add)))
}
