//! Delay lines: the steps of a scheme on a stream of pairs of samples.
//!
//! Along columns a register is part of a row; along rows it is a run of pairs.
//!
//! rewrite: "a step on all samples of a line, then the next step" → every step on each pair as it arrives. A pair is a
//! sample t of the phase that the first step updates, and the next sample u. A step with T samples on either side of
//! its target runs T − 1 pairs late. It reads the last 2T samples of the other phase, and the next step updates those
//! samples, T pairs late. So the only state is delays.

#![allow(clippy::needless_range_loop, reason = "indexes registers by constants")]

use crate::level::{Level, MAX_READS, MAX_STEPS, Weights};
use crate::steps::{Delays, Steps};
use crate::vector::{Bits, Vector, Whole};

/// Slots of the delay line along columns.
const MAX_SLOTS: usize = 18;

impl Weights {
    /// Most samples on either side.
    pub fn sides(&self) -> usize {
        self.weights.iter().rposition(|pair| *pair != [None; 2]).map_or(0, |side| side + 1)
    }

    /// Whether left and right weights are equal, so that the step commutes with reflection.
    pub fn symmetric(&self) -> bool {
        self.weights.iter().all(|[left, right]| left == right)
    }
}

/// The arithmetic of one step.
pub(crate) trait Op<V>: Copy {
    /// Samples on either side of the target.
    const SIDES: usize;
    /// Whether samples are scaled after the last step (in synthesis, before the first one).
    const SCALES: bool;
    /// # Safety
    /// The machine has the instructions.
    unsafe fn new(step: &Weights) -> Self;
    /// Applies the step; `last` holds the samples that it reads, latest first.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn apply(self, target: V, last: &[V; MAX_READS]) -> V;
    /// [`Op::apply`] along a row, where each of `last` is its predecessor with lanes moved up by one.
    ///
    /// # Safety
    /// The machine has the instructions.
    #[inline(always)]
    unsafe fn apply_across(self, target: V, last: &[V; MAX_READS]) -> V {
        // SAFETY: passed on from the caller.
        unsafe { self.apply(target, last) }
    }
}

/// All steps of a scheme.
pub(crate) trait Chain<V: Vector>: Copy {
    const STEPS: usize;
    const SIDES: usize;
    /// Whether samples are scaled after the last step (in synthesis, before the first one).
    const SCALES: bool;
    /// Whether the steps are data: then `across` and `down` execute them, and no function below.
    const LONG: bool = false;
    /// Whether lanes are permuted at the ends of rows.
    const PICKS: bool = V::PICKS;
    /// Registers of the buffers of a row: a head and a tail, and slack for whole registers copied past the head and
    /// before the tail.
    const BUFFER: usize = 16;
    /// Registers of delays along a row that are in memory.
    const SLOTS: usize = 0;

    /// Delays; those of `steps` if the chain is long.
    #[inline(always)]
    fn shape(_: Option<&Steps>) -> Delays {
        Delays { down: Self::DOWN, back: Self::BACK, reach: Self::REACH }
    }

    /// # Safety
    /// The machine has the instructions.
    unsafe fn new(level: &Level) -> Self;

    /// Takes a pair of each of `R` rows; returns the new result of the last step and its neighbour: the one before it
    /// if `late`, else the one after it. `memory` holds `SLOTS` registers for each row.
    ///
    /// # Safety
    /// The machine has the instructions, and the memory is valid.
    unsafe fn across<const R: usize>(&self, _: &mut [[V; 2]; R], _memory: *mut V::Lane, _late: bool) {
        unreachable!("only where LONG says so")
    }

    /// Takes two pairs along columns; returns for each the new result of the last step, and the one after it. `state`
    /// holds `Shape::down` registers.
    ///
    /// # Safety
    /// The machine has the instructions, and the state is valid.
    unsafe fn down(&self, _pairs: [[V; 2]; 2], _state: *mut V::Lane) -> [[V; 2]; 2] {
        unreachable!("only where LONG says so")
    }

    /// # Safety
    /// The machine has the instructions.
    unsafe fn apply<L: Line<V>>(&self, step: usize, target: V, last: &[V; MAX_READS]) -> V;

    /// Delayed registers per line along columns.
    const DOWN: usize = Self::SIDES - 1 + Self::STEPS * (2 * Self::SIDES - 1);
    /// Distance in samples of the last result of pair (t, u) before t; the preceding result follows it.
    const BACK: usize = 2 * Self::STEPS * (Self::SIDES - 1) + Self::STEPS - 1;
    /// Samples on either side on which a result depends.
    const REACH: usize = Self::STEPS * (2 * Self::SIDES - 1);

    /// Takes the next pair; returns the new result of the last step, the one after it, and the one before it.
    ///
    /// # Safety
    /// The machine has the instructions.
    #[inline(always)]
    unsafe fn run<L: Line<V>>(&self, t: V, u: V, line: &mut L) -> [V; 3] {
        let (mut target, mut new) = (t, u);
        let mut last = [u; MAX_READS];
        // Unrolled by hand: compilers do not unroll a loop of long steps, and its delays then stay in memory.
        macro_rules! steps {
            ($($step:literal)*) => {$(
                if $step < Self::STEPS {
                    last = line.pass(new, 2 * Self::SIDES - 1);
                    new = self.apply::<L>($step, target, &last);
                    target = last[2 * Self::SIDES - 1];
                }
            )*};
        }
        // SAFETY: by the caller's promise.
        unsafe {
            if Self::SIDES > 1 {
                target = line.pass(t, Self::SIDES - 1)[Self::SIDES - 1];
            }
            steps! { 0 1 2 3 4 }
        }
        [new, last[Self::SIDES - 1], last[Self::SIDES]]
    }
}

/// A delay line.
pub(crate) trait Line<V> {
    /// A new sample, and the `depth` samples before it.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn pass(&mut self, new: V, depth: usize) -> [V; MAX_READS];
    /// # Safety
    /// The machine has the instructions.
    unsafe fn apply<O: Op<V>>(op: O, target: V, last: &[V; MAX_READS]) -> V;
}

/// A delay line along columns, of registers.
pub(crate) struct Down<V> {
    pub slots: [V; MAX_SLOTS],
    pub at: usize,
}

impl<V: Vector> Line<V> for Down<V> {
    #[inline(always)]
    unsafe fn pass(&mut self, new: V, depth: usize) -> [V; MAX_READS] {
        let mut last = [new; MAX_READS];
        for k in 0..depth {
            last[k + 1] = self.slots[self.at + k];
            self.slots[self.at + k] = last[k];
        }
        self.at += depth;
        last
    }
    #[inline(always)]
    unsafe fn apply<O: Op<V>>(op: O, target: V, last: &[V; MAX_READS]) -> V {
        // SAFETY: passed on from the caller.
        unsafe { op.apply(target, last) }
    }
}

/// A delay line along rows, of lanes carried from one register to the next.
pub(crate) struct Across<'a, V> {
    pub slots: &'a mut [V; MAX_STEPS + 1],
    pub at: usize,
}

impl<V: Vector> Line<V> for Across<'_, V> {
    #[inline(always)]
    unsafe fn pass(&mut self, new: V, depth: usize) -> [V; MAX_READS] {
        let mut last = [new; MAX_READS];
        for k in 1..depth + 1 {
            // SAFETY: passed on from the caller.
            last[k] = unsafe { new.after(self.slots[self.at], k) };
        }
        self.slots[self.at] = new;
        self.at += 1;
        last
    }
    #[inline(always)]
    unsafe fn apply<O: Op<V>>(op: O, target: V, last: &[V; MAX_READS]) -> V {
        // SAFETY: passed on from the caller.
        unsafe { op.apply_across(target, last) }
    }
}

/// `N` steps of one kind.
#[derive(Clone, Copy)]
pub(crate) struct All<O, const N: usize>([O; N]);

impl<V: Vector, O: Op<V>, const N: usize> Chain<V> for All<O, N> {
    const STEPS: usize = N;
    const SIDES: usize = O::SIDES;
    const SCALES: bool = O::SCALES;

    #[inline(always)]
    unsafe fn new(level: &Level) -> Self {
        let steps = &level.steps;
        // SAFETY: by the caller's promise.
        unsafe {
            let mut all = [O::new(&steps[0]); N];
            for step in 1..N {
                all[step] = O::new(&steps[step]);
            }
            All(all)
        }
    }

    #[inline(always)]
    unsafe fn apply<L: Line<V>>(&self, step: usize, target: V, last: &[V; MAX_READS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe { L::apply(self.0[step], target, last) }
    }
}

/// `target += w·(a + b)`
#[derive(Clone, Copy)]
pub(crate) struct Summed<V>(V);

impl<V: Vector> Op<V> for Summed<V> {
    const SIDES: usize = 1;
    const SCALES: bool = true;
    #[inline(always)]
    unsafe fn new(step: &Weights) -> Self {
        // SAFETY: by the caller's promise.
        unsafe { Summed(V::splat(step.weights[0][0].unwrap_or_default())) }
    }
    #[inline(always)]
    unsafe fn apply(self, target: V, last: &[V; MAX_READS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe { target.add(self.0.mul(last[1].add(last[0]))) }
    }
}

/// `target += v·a + w·b`; one product may be absent. Its sample is then replaced by 0 and its weight by −1: adding −0
/// changes no sum.
#[derive(Clone, Copy)]
pub(crate) struct Single<V> {
    weights: [V; 2],
    masks: [V; 2],
}

impl<V: Vector> Op<V> for Single<V> {
    const SIDES: usize = 1;
    const SCALES: bool = true;
    #[inline(always)]
    unsafe fn new(step: &Weights) -> Self {
        let [left, right] = step.weights[0];
        // SAFETY: by the caller's promise.
        unsafe {
            Single {
                weights: [V::splat(left.unwrap_or(-1.0)), V::splat(right.unwrap_or(-1.0))],
                masks: [V::mask(left.is_some()), V::mask(right.is_some())],
            }
        }
    }
    #[inline(always)]
    unsafe fn apply(self, target: V, last: &[V; MAX_READS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe {
            let left = self.weights[0].mul(last[1].and(self.masks[0]));
            let right = self.weights[1].mul(last[0].and(self.masks[1]));
            target.add(left.add(right))
        }
    }
}

/// `N` steps of two products each, except the first and the last. The first has one product, of the sample to the right
/// (or left); the last has one, of the sample on the other side.
#[derive(Clone, Copy)]
pub(crate) struct Ends<V, const N: usize, const RIGHT: bool>([[V; 2]; N]);

impl<V: Vector, const N: usize, const RIGHT: bool> Chain<V> for Ends<V, N, RIGHT> {
    const STEPS: usize = N;
    const SIDES: usize = 1;
    const SCALES: bool = true;

    #[inline(always)]
    unsafe fn new(level: &Level) -> Self {
        let steps = &level.steps;
        // SAFETY: by the caller's promise.
        unsafe {
            let mut all = [[V::splat(0.0); 2]; N];
            for step in 0..N {
                let [left, right] = steps[step].weights[0];
                all[step] = [V::splat(left.unwrap_or_default()), V::splat(right.unwrap_or_default())];
            }
            Ends(all)
        }
    }

    #[inline(always)]
    unsafe fn apply<L: Line<V>>(&self, step: usize, target: V, last: &[V; MAX_READS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe {
            let ([v, w], [right, left, ..]) = (self.0[step], *last);
            target.add(match (step == 0, step == N - 1) {
                (false, false) => v.mul(left).add(w.mul(right)),
                (first, _) if first == RIGHT => w.mul(right),
                _ => v.mul(left),
            })
        }
    }
}

/// Two integer steps.
#[derive(Clone, Copy)]
pub(crate) struct Two<A, B>(A, B);

impl<V: Vector, A: Op<V>, B: Op<V>> Chain<V> for Two<A, B> {
    const STEPS: usize = 2;
    const SIDES: usize = A::SIDES;
    const SCALES: bool = A::SCALES;

    #[inline(always)]
    unsafe fn new(level: &Level) -> Self {
        let steps = &level.steps;
        // SAFETY: by the caller's promise.
        unsafe { Two(A::new(&steps[0]), B::new(&steps[1])) }
    }

    #[inline(always)]
    unsafe fn apply<L: Line<V>>(&self, step: usize, target: V, last: &[V; MAX_READS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe {
            match step {
                0 => L::apply(self.0, target, last),
                _ => L::apply(self.1, target, last),
            }
        }
    }
}

/// ⌊(a + b) / 2⌋ without an extra bit.
#[inline(always)]
unsafe fn average<V: Bits>(a: V, b: V) -> V {
    // SAFETY: by the caller's promise.
    unsafe { a.and(b).add(a.xor(b).half()) }
}

#[inline(always)]
unsafe fn update<V: Vector, const SUBTRACT: bool>(target: V, delta: V) -> V {
    // SAFETY: by the caller's promise.
    unsafe { if SUBTRACT { target.sub(delta) } else { target.add(delta) } }
}

/// `target ∓= (a + b) >> 1`
#[derive(Clone, Copy)]
pub(crate) struct Half<const SUBTRACT: bool>;

impl<V: Bits, const SUBTRACT: bool> Op<V> for Half<SUBTRACT> {
    const SIDES: usize = 1;
    const SCALES: bool = false;
    #[inline(always)]
    unsafe fn new(_: &Weights) -> Self {
        Half
    }
    #[inline(always)]
    unsafe fn apply(self, target: V, last: &[V; MAX_READS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe { update::<V, SUBTRACT>(target, average(last[0], last[1])) }
    }
}

/// `target ∓= (a + b + 2) >> 2`
#[derive(Clone, Copy)]
pub(crate) struct Quarter<V, const SUBTRACT: bool>(V);

impl<V: Bits, const SUBTRACT: bool> Op<V> for Quarter<V, SUBTRACT> {
    const SIDES: usize = 1;
    const SCALES: bool = false;
    #[inline(always)]
    unsafe fn new(_: &Weights) -> Self {
        // SAFETY: by the caller's promise.
        unsafe { Quarter(V::splat(1.0)) }
    }
    #[inline(always)]
    unsafe fn apply(self, target: V, last: &[V; MAX_READS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe {
            let half = average(last[0], last[1]);
            update::<V, SUBTRACT>(target, half.half().add(half.and(self.0)))
        }
    }
}

/// Any step on 16-bit integers with 16-bit weights. One instruction multiplies and adds two neighbouring samples in 32
/// bits; the lower 16 are kept. Along columns, interleaved lanes of two registers form the pairs. Along a row
/// they are adjacent: the register itself has the pairs of odd lanes, its copy moved up by one those of even lanes.
///
/// rewrite: `x − ((Σ + r) >> s)` → `x + ((−Σ − r + 2ˢ − 1) >> s)`, so that all steps add.
#[derive(Clone, Copy)]
pub(crate) struct Dot<V, const SIDES: usize> {
    /// Even lanes: weights of samples `2k + 1` of `last`; odd lanes: weights of samples `2k`.
    weights: [V; SIDES],
    rounding: V,
    shift: u32,
}

impl<V: Bits, const SIDES: usize> Op<V> for Dot<V, SIDES> {
    const SIDES: usize = SIDES;
    const SCALES: bool = false;
    #[inline(always)]
    unsafe fn new(step: &Weights) -> Self {
        // SAFETY: by the caller's promise.
        unsafe {
            let mut of_last = [0; MAX_READS];
            let (sign, rounding) = match step.subtract {
                true => (-1.0, f64::from((1u32 << step.shift) - 1) - step.rounding),
                false => (1.0, step.rounding),
            };
            for (side, [left, right]) in step.weights.into_iter().enumerate().take(SIDES) {
                let bits = |weight: Option<f64>| u32::from((sign * weight.unwrap_or_default()) as i16 as u16);
                (of_last[SIDES + side], of_last[SIDES - 1 - side]) = (bits(left), bits(right));
            }
            let mut weights = [V::splat(0.0); SIDES];
            for k in 0..SIDES {
                weights[k] = V::splat_pairs(of_last[2 * k + 1] | of_last[2 * k] << 16);
            }
            Dot { weights, rounding: V::splat_pairs(rounding as i64 as u32), shift: step.shift }
        }
    }
    #[inline(always)]
    unsafe fn apply(self, target: V, last: &[V; MAX_READS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe {
            let mut sums = [self.rounding; 2];
            for k in 0..SIDES {
                let (low, high) = V::zip(last[2 * k + 1], last[2 * k]);
                sums[0] = sums[0].add_pairs(low.dot(self.weights[k]));
                sums[1] = sums[1].add_pairs(high.dot(self.weights[k]));
            }
            target.add(V::low_halves(sums[0], sums[1], self.shift))
        }
    }
    #[inline(always)]
    unsafe fn apply_across(self, target: V, last: &[V; MAX_READS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe {
            let (mut even, mut odd) = (self.rounding, self.rounding);
            for k in 0..SIDES {
                even = even.add_pairs(last[2 * k + 1].dot(self.weights[k]));
                odd = odd.add_pairs(last[2 * k].dot(self.weights[k]));
            }
            target.add(V::low_halves_in_turn(even, odd, self.shift))
        }
    }
}

/// `target ∓= (a + b + rounding) >> shift`, in 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct Pair<V, const SUBTRACT: bool> {
    rounding: V,
    shift: u32,
}

impl<V: Whole, const SUBTRACT: bool> Op<V> for Pair<V, SUBTRACT> {
    const SIDES: usize = 1;
    const SCALES: bool = false;
    #[inline(always)]
    unsafe fn new(step: &Weights) -> Self {
        // SAFETY: by the caller's promise.
        unsafe { Pair { rounding: V::splat(step.rounding), shift: step.shift } }
    }
    #[inline(always)]
    unsafe fn apply(self, target: V, last: &[V; MAX_READS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe { update::<V, SUBTRACT>(target, last[0].add(last[1]).add(self.rounding).shift(self.shift)) }
    }
}

/// Any step on 32-bit integers. `MIRRORED`: samples to the left and right have equal weights, and are added before the
/// multiplication.
#[derive(Clone, Copy)]
pub(crate) struct Products<V, const SIDES: usize, const MIRRORED: bool> {
    /// Weights of the left and of the right.
    weights: [[V; 2]; SIDES],
    rounding: V,
    shift: u32,
    /// −1 to subtract, 0 to add.
    sign: V,
}

impl<V: Whole, const SIDES: usize, const MIRRORED: bool> Op<V> for Products<V, SIDES, MIRRORED> {
    const SIDES: usize = SIDES;
    const SCALES: bool = false;
    #[inline(always)]
    unsafe fn new(step: &Weights) -> Self {
        // SAFETY: by the caller's promise.
        unsafe {
            let mut weights = [[V::splat(0.0); 2]; SIDES];
            for (to, [left, right]) in weights.iter_mut().zip(step.weights) {
                *to = [V::splat(left.unwrap_or_default()), V::splat(right.unwrap_or_default())];
            }
            Products {
                weights,
                rounding: V::splat(step.rounding),
                shift: step.shift,
                sign: V::splat(if step.subtract { -1.0 } else { 0.0 }),
            }
        }
    }
    #[inline(always)]
    unsafe fn apply(self, target: V, last: &[V; MAX_READS]) -> V {
        // SAFETY: by the caller's promise.
        unsafe {
            let mut sum = self.rounding;
            for side in 0..SIDES {
                let ([v, w], left, right) = (self.weights[side], last[SIDES + side], last[SIDES - 1 - side]);
                sum = sum.add(match MIRRORED {
                    true => v.mul(left.add(right)),
                    false => v.mul(left).add(w.mul(right)),
                });
            }
            let delta = sum.shift(self.shift);
            target.add(delta.xor(self.sign).sub(self.sign))
        }
    }
}
