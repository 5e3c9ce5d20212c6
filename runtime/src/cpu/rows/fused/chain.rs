//! The steps of a scheme on pairs of samples that arrive one after another: along columns a register is part of a row,
//! along rows it is a run of pairs.
//!
//! rewrite: "a step on all samples of a line, then the next step" → every step on each pair as it arrives. A pair is a
//! sample t of the phase that the first step updates, and the sample u after it. A step with T samples on either side
//! of the one that it updates runs T − 1 pairs late on those, so what it reads are the last 2T samples of the other
//! phase, and what the next step updates are those samples, T pairs late: delays are all that there is.

#![allow(clippy::needless_range_loop, reason = "what is indexed is in registers, by numbers that compilers know")]

use super::vector::{Bits, Vector};

/// The most samples on either side of one that a step updates.
pub(super) const MAX_SIDES: usize = 2;

/// The most steps.
pub(super) const MAX_STEPS: usize = 4;

/// Room for what is delayed.
const MAX_SLOTS: usize = 8;

/// A step in numbers: `target ∓= (Σ weight·(pair of samples) + rounding) >> shift`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weights {
    /// Of the nearest samples on either side first.
    pub weights: [f64; MAX_SIDES],
    pub rounding: f64,
    pub shift: u32,
    /// Of integers; real weights are negative instead, which gives the same bits.
    pub subtract: bool,
}

/// The arithmetic of one step.
pub(super) trait Op<V>: Copy {
    /// Samples on either side.
    const SIDES: usize;
    /// # Safety
    /// The machine has the instructions.
    unsafe fn new(step: &Weights) -> Self;
    /// `last` are the samples that the step reads, the last one first.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn apply(self, target: V, last: &[V; MAX_SLOTS]) -> V;
}

/// All steps.
pub(super) trait Chain<V: Vector>: Copy {
    const STEPS: usize;
    const SIDES: usize;
    /// Whether samples are multiplied after the last step (before the first one, in synthesis).
    const SCALES: bool;
    /// # Safety
    /// The machine has the instructions.
    unsafe fn new(steps: &[Weights; MAX_STEPS]) -> Self;
    /// # Safety
    /// The machine has the instructions.
    unsafe fn apply(&self, step: usize, target: V, last: &[V; MAX_SLOTS]) -> V;

    /// Registers that a line along columns delays.
    const DOWN: usize = Self::SIDES - 1 + Self::STEPS * (2 * Self::SIDES - 1);
    /// The last result of pair (t, u) is so many samples before t, and the one before it follows that.
    const BACK: usize = 2 * Self::STEPS * (Self::SIDES - 1) + Self::STEPS - 1;
    /// A result depends on so many samples on either side.
    const REACH: usize = Self::STEPS * (2 * Self::SIDES - 1);

    /// The next pair arrives; of the results that it leads to, the one of the last step, and the one after it.
    ///
    /// # Safety
    /// The machine has the instructions.
    #[inline(always)]
    unsafe fn run<L: Line<V>>(&self, t: V, u: V, line: &mut L) -> (V, V) {
        let (mut target, mut new) = (t, u);
        let mut last = [u; MAX_SLOTS];
        // SAFETY: by the caller's promise.
        unsafe {
            if Self::SIDES > 1 {
                target = line.pass(t, Self::SIDES - 1)[Self::SIDES - 1];
            }
            for step in 0..Self::STEPS {
                last = line.pass(new, 2 * Self::SIDES - 1);
                new = self.apply(step, target, &last);
                target = last[2 * Self::SIDES - 1];
            }
        }
        (new, last[Self::SIDES - 1])
    }
}

/// A line that delays.
pub(super) trait Line<V> {
    /// A new sample, and the `depth` ones before it.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn pass(&mut self, new: V, depth: usize) -> [V; MAX_SLOTS];
}

/// A line along columns: what is delayed are registers.
pub(super) struct Down<V> {
    pub slots: [V; MAX_SLOTS],
    pub at: usize,
}

impl<V: Vector> Line<V> for Down<V> {
    #[inline(always)]
    unsafe fn pass(&mut self, new: V, depth: usize) -> [V; MAX_SLOTS] {
        let mut last = [new; MAX_SLOTS];
        for k in 0..depth {
            last[k + 1] = self.slots[self.at + k];
            self.slots[self.at + k] = last[k];
        }
        self.at += depth;
        last
    }
}

/// A line along rows: what is delayed are lanes, from one register to the next.
pub(super) struct Across<'a, V> {
    pub slots: &'a mut [V; MAX_STEPS + 1],
    pub at: usize,
}

impl<V: Vector> Line<V> for Across<'_, V> {
    #[inline(always)]
    unsafe fn pass(&mut self, new: V, depth: usize) -> [V; MAX_SLOTS] {
        let mut last = [new; MAX_SLOTS];
        for k in 1..depth + 1 {
            // SAFETY: passed on from the caller.
            last[k] = unsafe { new.after(self.slots[self.at], k) };
        }
        self.slots[self.at] = new;
        self.at += 1;
        last
    }
}

/// `N` steps of real numbers, each of one weight.
#[derive(Clone, Copy)]
pub(super) struct Real<V, const N: usize>([V; N]);

impl<V: Vector, const N: usize> Chain<V> for Real<V, N> {
    const STEPS: usize = N;
    const SIDES: usize = 1;
    const SCALES: bool = true;

    #[inline(always)]
    unsafe fn new(steps: &[Weights; MAX_STEPS]) -> Self {
        // SAFETY: by the caller's promise.
        unsafe {
            let mut all = [V::splat(0.0); N];
            for (weight, step) in all.iter_mut().zip(steps) {
                *weight = V::splat(step.weights[0]);
            }
            Real(all)
        }
    }

    #[inline(always)]
    unsafe fn apply(&self, step: usize, target: V, last: &[V; MAX_SLOTS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe { target.add(self.0[step].mul(last[1].add(last[0]))) }
    }
}

/// Two steps of integers.
#[derive(Clone, Copy)]
pub(super) struct Two<A, B>(A, B);

impl<V: Vector, A: Op<V>, B: Op<V>> Chain<V> for Two<A, B> {
    const STEPS: usize = 2;
    const SIDES: usize = A::SIDES;
    const SCALES: bool = false;

    #[inline(always)]
    unsafe fn new(steps: &[Weights; MAX_STEPS]) -> Self {
        // SAFETY: by the caller's promise.
        unsafe { Two(A::new(&steps[0]), B::new(&steps[1])) }
    }

    #[inline(always)]
    unsafe fn apply(&self, step: usize, target: V, last: &[V; MAX_SLOTS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe {
            match step {
                0 => self.0.apply(target, last),
                _ => self.1.apply(target, last),
            }
        }
    }
}

/// ⌊(a + b) / 2⌋ without a bit more.
#[inline(always)]
unsafe fn average<V: Bits>(a: V, b: V) -> V {
    // SAFETY: by the caller's promise.
    unsafe { a.and(b).add(a.xor(b).shr(1)) }
}

#[inline(always)]
unsafe fn update<V: Vector, const SUBTRACT: bool>(target: V, delta: V) -> V {
    // SAFETY: by the caller's promise.
    unsafe { if SUBTRACT { target.sub(delta) } else { target.add(delta) } }
}

/// `target ∓= (a + b) >> 1`
#[derive(Clone, Copy)]
pub(super) struct Half<const SUBTRACT: bool>;

impl<V: Bits, const SUBTRACT: bool> Op<V> for Half<SUBTRACT> {
    const SIDES: usize = 1;
    #[inline(always)]
    unsafe fn new(_: &Weights) -> Self {
        Half
    }
    #[inline(always)]
    unsafe fn apply(self, target: V, last: &[V; MAX_SLOTS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe { update::<V, SUBTRACT>(target, average(last[0], last[1])) }
    }
}

/// `target ∓= (a + b + 2) >> 2`
#[derive(Clone, Copy)]
pub(super) struct Quarter<V, const SUBTRACT: bool>(V);

impl<V: Bits, const SUBTRACT: bool> Op<V> for Quarter<V, SUBTRACT> {
    const SIDES: usize = 1;
    #[inline(always)]
    unsafe fn new(_: &Weights) -> Self {
        // SAFETY: by the caller's promise.
        unsafe { Quarter(V::splat(1.0)) }
    }
    #[inline(always)]
    unsafe fn apply(self, target: V, last: &[V; MAX_SLOTS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe {
            let half = average(last[0], last[1]);
            update::<V, SUBTRACT>(target, half.shr(1).add(half.and(self.0)))
        }
    }
}

/// Any step on 16-bit integers whose arithmetic fits 16 bits: see [`Narrow`](super::super::axis::Narrow).
#[derive(Clone, Copy)]
pub(super) struct Narrow<V, const SIDES: usize> {
    weights: [V; SIDES],
    rounding: V,
    mask: V,
    shift: u32,
    /// −1 to subtract, 0 to add.
    sign: V,
}

impl<V: Bits, const SIDES: usize> Op<V> for Narrow<V, SIDES> {
    const SIDES: usize = SIDES;
    #[inline(always)]
    unsafe fn new(step: &Weights) -> Self {
        // SAFETY: by the caller's promise.
        unsafe {
            let mut weights = [V::splat(0.0); SIDES];
            for (to, weight) in weights.iter_mut().zip(step.weights) {
                *to = V::splat(weight);
            }
            Narrow {
                weights,
                rounding: V::splat(step.rounding),
                mask: V::splat(f64::from((1u32 << step.shift) - 1)),
                shift: step.shift,
                sign: V::splat(if step.subtract { -1.0 } else { 0.0 }),
            }
        }
    }
    #[inline(always)]
    unsafe fn apply(self, target: V, last: &[V; MAX_SLOTS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe {
            let (mut highs, mut lows) = (V::splat(0.0), self.rounding);
            for (side, weight) in self.weights.iter().enumerate() {
                let (a, b) = (last[SIDES - 1 - side], last[SIDES + side]);
                let high = a.shr(self.shift).add(b.shr(self.shift));
                let low = a.and(self.mask).add(b.and(self.mask));
                highs = highs.add(weight.mul(high));
                lows = lows.add(weight.mul(low));
            }
            let delta = highs.add(lows.shr(self.shift));
            target.add(delta.xor(self.sign).sub(self.sign))
        }
    }
}
