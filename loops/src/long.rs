//! Steps of any number and reach, as data: delay lines in memory.
//!
//! The chains of `chain` keep their delays in registers, with a loop compiled for each shape. Registers end at five
//! steps. Here one loop serves all wavelets of reals: the steps are data. A step is executed for four rows before the
//! next one, so that four independent sums hide one another's latency.
//!
//! Notation: pairs (t, u) arrive, where t is of the phase that the first step updates. Steps update the phases
//! alternately. When pair j arrives, step k updates the sample of pair j − lag(k), and reads samples of the other phase
//! by their *age*: 0 for the latest one, 1 for the one before.

#![allow(clippy::needless_range_loop, reason = "indexes registers by constants")]

use crate::chain::{Chain, Line};
use crate::level::{Level, MAX_READS};
use crate::steps::{Delays, Kind, MAX_AGE, MAX_STEPS, MAX_TERMS, Steps};
use crate::vector::Vector;

/// Registers along a row, for the history of each step: the previous register and the latest one.
const SLOTS: usize = 2 * (MAX_STEPS + 1);

/// [`Steps`] with their weights in registers' width.
#[derive(Clone, Copy)]
pub(crate) struct Long<V> {
    steps: *const Steps,
    weights: [V; MAX_TERMS],
}

impl<V: Vector> Chain<V> for Long<V> {
    const LONG: bool = true;
    const STEPS: usize = 1;
    const SIDES: usize = 1;
    const SCALES: bool = true;
    const PICKS: bool = false;
    const BUFFER: usize = 64;
    const SLOTS: usize = SLOTS;

    fn shape(steps: Option<&Steps>) -> Delays {
        steps.map(|steps| steps.shape).unwrap_or_default()
    }

    #[inline(always)]
    unsafe fn new(level: &Level) -> Self {
        // SAFETY: by the caller's promise.
        unsafe {
            let mut weights = [V::splat(0.0); MAX_TERMS];
            for (to, weight) in weights.iter_mut().zip(&level.long.weights) {
                *to = V::splat(*weight);
            }
            Long { steps: &level.long, weights }
        }
    }

    #[inline(always)]
    unsafe fn apply<L: Line<V>>(&self, _: usize, target: V, _: &[V; MAX_READS]) -> V {
        target
    }

    #[inline(always)]
    unsafe fn across<const R: usize>(&self, x: &mut [[V; 2]; R], memory: *mut V::Lane, late: bool) {
        let (mut target, mut new) = ([x[0][0]; R], [x[0][1]; R]);
        for r in 0..R {
            [target[r], new[r]] = x[r];
        }
        // SAFETY: by the caller's promise; the level outlives the event.
        unsafe {
            let steps = &*self.steps;
            let mut history = History::<V, R> { memory, numbers: lane_numbers::<V::Lane>() };
            if steps.wait > 0 {
                history.keep(&target);
                let late = history.aged(&target, steps.wait);
                history.shift(&target);
                target = late;
                history.next();
            }
            let (mut weights, mut ages) = (&self.weights[..], &steps.ages[..]);
            let last = steps.steps.len() - 1;
            for (k, step) in steps.steps.iter().enumerate() {
                let short = step.is_short();
                let mut delayed = new;
                if short {
                    for r in 0..R {
                        delayed[r] = history.pass(r, new[r]);
                    }
                } else {
                    history.keep(&new);
                }
                let mut sum = target;
                match step.kind {
                    Kind::Two if short => {
                        for r in 0..R {
                            sum[r] = weights[0].mul(delayed[r]).add(weights[1].mul(new[r]));
                        }
                    }
                    Kind::Summed if short => {
                        for r in 0..R {
                            sum[r] = weights[0].mul(delayed[r].add(new[r]));
                        }
                    }
                    Kind::One(0) => {
                        for r in 0..R {
                            sum[r] = weights[0].mul(new[r]);
                        }
                    }
                    Kind::One(_) if short => {
                        for r in 0..R {
                            sum[r] = weights[0].mul(delayed[r]);
                        }
                    }
                    _ => {
                        for (i, ages) in ages[..step.terms].iter().enumerate() {
                            let mut samples = history.aged(&new, ages[0]);
                            for age in &ages[1..] {
                                let more = history.aged(&new, *age);
                                for r in 0..R {
                                    samples[r] = samples[r].add(more[r]);
                                }
                            }
                            for r in 0..R {
                                let product = weights[i].mul(samples[r]);
                                sum[r] = if i == 0 { product } else { sum[r].add(product) };
                            }
                        }
                    }
                }
                let next = step.next + usize::from(late && k == last);
                let mut following = new;
                if next > 0 {
                    following = if short { delayed } else { history.aged(&new, next) };
                }
                if !short {
                    history.shift(&new);
                }
                for r in 0..R {
                    new[r] = target[r].add(sum[r]);
                }
                target = following;
                history.next();
                weights = &weights[step.terms..];
                ages = &ages[step.terms..];
            }
        }
        for r in 0..R {
            x[r] = [new[r], target[r]];
        }
    }

    #[inline(always)]
    unsafe fn down(&self, pairs: [[V; 2]; 2], mut state: *mut V::Lane) -> [[V; 2]; 2] {
        let [[mut t0, mut new0], [mut t1, mut new1]] = pairs;
        // SAFETY: by the caller's promise; the level outlives the event.
        unsafe {
            let steps = &*self.steps;
            if steps.wait > 0 {
                let wait = steps.wait;
                let mut history = [t0; MAX_AGE + 2];
                keep(&mut history, [t0, t1], state, wait);
                (t0, t1) = (history[wait + 1], history[wait]);
                state = state.add(wait * V::LANES);
            }
            let (mut weights, mut first) = (self.weights.as_ptr(), 0);
            for step in &steps.steps {
                let (sum0, sum1, next0, next1);
                if step.kind != Kind::Any && step.depth <= 2 {
                    let (mut one, mut two) = (t0, t0);
                    if step.depth > 0 {
                        one = V::load(state);
                        new1.store(state);
                    }
                    if step.depth > 1 {
                        two = V::load(state.add(V::LANES));
                        new0.store(state.add(V::LANES));
                    }
                    let v = *weights;
                    (sum0, sum1) = match step.kind {
                        Kind::Two => {
                            let w = *weights.add(1);
                            (v.mul(one).add(w.mul(new0)), v.mul(new0).add(w.mul(new1)))
                        }
                        Kind::Summed => (v.mul(one.add(new0)), v.mul(new0.add(new1))),
                        Kind::One(0) => (v.mul(new0), v.mul(new1)),
                        _ => (v.mul(one), v.mul(new0)),
                    };
                    (next0, next1) = match step.next {
                        0 => (new0, new1),
                        1 => (one, new0),
                        _ => (two, one),
                    };
                } else {
                    let mut history = [t0; MAX_AGE + 2];
                    keep(&mut history, [new0, new1], state, step.depth);
                    [sum0, sum1] = sums_of(&history, &steps.ages[first..][..step.terms], weights);
                    (next0, next1) = (history[step.next + 1], history[step.next]);
                }
                (new0, new1) = (t0.add(sum0), t1.add(sum1));
                (t0, t1) = (next0, next1);
                state = state.add(step.depth * V::LANES);
                weights = weights.add(step.terms);
                first += step.terms;
            }
        }
        [[new0, t0], [new1, t1]]
    }
}

/// Numbers from 0, as wide as `T`.
#[inline(always)]
fn lane_numbers<T>() -> *const T {
    static NARROW: [u32; 32] = {
        let mut numbers = [0; 32];
        let mut i = 0;
        while i < 32 {
            numbers[i] = i as u32;
            i += 1;
        }
        numbers
    };
    static WIDE: [u64; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    if size_of::<T>() == 4 { NARROW.as_ptr().cast() } else { WIDE.as_ptr().cast() }
}

/// The sums of a step for two pairs.
#[inline(always)]
unsafe fn sums_of<V: Vector>(history: &[V; MAX_AGE + 2], ages: &[Vec<usize>], weights: *const V) -> [V; 2] {
    let mut sums = [history[0]; 2];
    // SAFETY: by the caller's promise.
    unsafe {
        for (i, ages) in ages.iter().enumerate() {
            for (p, sum) in sums.iter_mut().enumerate() {
                let mut samples = history[ages[0] + 1 - p];
                for age in &ages[1..] {
                    samples = samples.add(history[age + 1 - p]);
                }
                let product = (*weights.add(i)).mul(samples);
                *sum = if i == 0 { product } else { sum.add(product) };
            }
        }
    }
    sums
}

/// The last two samples and the `depth` before them, latest first; the state keeps the `depth` latest.
#[inline(always)]
unsafe fn keep<V: Vector>(history: &mut [V; MAX_AGE + 2], [a, b]: [V; 2], state: *mut V::Lane, depth: usize) {
    (history[0], history[1]) = (b, a);
    // SAFETY: by the caller's promise.
    unsafe {
        for i in 0..depth {
            history[i + 2] = V::load(state.add(i * V::LANES));
        }
        for i in 0..depth {
            history[i].store(state.add(i * V::LANES));
        }
    }
}

/// Registers of a step for each row: the previous one, and the latest one after it.
struct History<V: Vector, const R: usize> {
    memory: *mut V::Lane,
    /// Numbers of the lanes of two registers, as wide as lanes.
    numbers: *const V::Lane,
}

impl<V: Vector, const R: usize> History<V, R> {
    #[inline(always)]
    fn at(&self, r: usize) -> *mut V::Lane {
        self.memory.wrapping_add(2 * r * V::LANES)
    }

    #[inline(always)]
    fn next(&mut self) {
        self.memory = self.memory.wrapping_add(2 * R * V::LANES);
    }

    /// Replaces the previous register; returns the samples of age 1.
    #[inline(always)]
    unsafe fn pass(&self, r: usize, new: V) -> V {
        // SAFETY: by the caller's promise.
        unsafe {
            let delayed = new.after(V::load(self.at(r)), 1);
            new.store(self.at(r));
            delayed
        }
    }

    /// Stores the latest registers after the previous ones, unless `aged` permutes lanes.
    #[inline(always)]
    unsafe fn keep(&self, new: &[V; R]) {
        for r in 0..if V::PICKS { 0 } else { R } {
            // SAFETY: by the caller's promise.
            unsafe { new[r].store(self.at(r).add(V::LANES)) };
        }
    }

    /// Samples of an age, at most that of the previous register's first lane. Reading a register across two that were
    /// just written waits for the stores, so lanes are permuted where one instruction does it.
    #[inline(always)]
    unsafe fn aged(&self, new: &[V; R], age: usize) -> [V; R] {
        let first = V::LANES - age;
        let mut samples = *new;
        // SAFETY: by the caller's promise; the table has the numbers of two registers' lanes.
        unsafe {
            for r in 0..R {
                samples[r] = match const { V::PICKS } {
                    true => V::pick(V::load(self.at(r)), new[r], self.numbers.add(first)),
                    false => V::load(self.at(r).add(first)),
                };
            }
        }
        samples
    }

    /// Replaces the previous registers.
    #[inline(always)]
    unsafe fn shift(&self, new: &[V; R]) {
        for r in 0..R {
            // SAFETY: by the caller's promise.
            unsafe { new[r].store(self.at(r)) };
        }
    }
}
