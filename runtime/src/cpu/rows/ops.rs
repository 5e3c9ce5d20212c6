//! Operations on rows in cache: split, step, merge, store; slice loops compiled for each instruction set.
//!
//! A step is a loop specialised for its shape (how many weights, how many samples share one), with the weights as
//! arguments. So wavelets read at run time are as fast as those of the catalogue. A step without a specialised shape is
//! summed tap by tap, some samples at a time.

use super::axis::{Lift, Narrow};
use crate::cpu::isa::for_each_isa;
use crate::sample::{Arithmetic, Stored};
use lifting_dsl::RoundingMode;
use zerocopy::{FromBytes, IntoBytes};

/// Samples summed together in a step without a specialised shape.
const CHUNK: usize = 64;

for_each_isa! {
    /// Runs a step on the samples of a row; `reads` are the rows that it reads, in the order of its taps.
    ///
    /// Each of `reads` must be valid for the length of `target` and not overlap it.
    pub fn lift<W: Arithmetic>(step: &Lift<W>, target: &mut [W], reads: &[*const W]) {
        if let Some(narrow) = &step.narrow {
            // Only steps of 16-bit integers are narrow.
            let target = <[i16]>::mut_from_bytes(target.as_mut_bytes()).expect("samples of 16 bits are `i16`");
            lift_narrow(step, narrow, target, reads);
        } else {
            lift_wide(step, target, reads);
        }
    }

    /// Multiplies every sample by a factor.
    pub fn scale<W: Arithmetic>(factor: W::Acc, target: &mut [W]) {
        for x in target {
            *x = x.scaled(factor);
        }
    }

    /// Applies a lattice stage to the pairs (u, v).
    pub fn pair<W: Arithmetic>(rows: &[[W::Acc; 2]; 2], u: &mut [W], v: &mut [W]) {
        let [[a, b], [c, d]] = *rows;
        for (u, v) in u.iter_mut().zip(v) {
            let (x, y) = (*u, *v);
            *u = x.scaled(a).updated(false, W::mul(b, y.widen()));
            *v = y.scaled(d).updated(false, W::mul(c, x.widen()));
        }
    }

    /// Converts samples to the work type, shifts them left, and multiplies them.
    pub fn load<W: Arithmetic, S: Stored<W>>(from: &[S], to: &mut [W], gain: u32, factor: Option<W::Acc>) {
        S::load_all(from, to);
        prepare(to, gain, factor);
    }

    /// Splits samples alternately into `first` and `second`, with the conversion of `load`; one may be longer by one.
    pub fn split<W: Arithmetic, S: Stored<W>>(
        from: &[S],
        first: &mut [W],
        second: &mut [W],
        gain: u32,
        factors: [Option<W::Acc>; 2],
    ) {
        let (pairs, rest) = from.as_chunks::<2>();
        let (evens, last) = first.split_at_mut(pairs.len());
        for ((pair, a), b) in pairs.iter().zip(evens).zip(&mut *second) {
            *a = pair[0].load();
            *b = pair[1].load();
        }
        if let ([x], [a]) = (rest, last) {
            *a = x.load();
        }
        prepare(first, gain, factors[0]);
        prepare(second, gain, factors[1]);
    }

    /// Merges samples alternately from `first` and `second`, multiplied and shifted right: the reverse of `split`.
    pub fn merge<W: Arithmetic, D: Stored<W>>(
        first: &mut [W],
        second: &mut [W],
        to: &mut [D],
        gain: u32,
        factors: [Option<W::Acc>; 2],
    ) {
        finish(first, gain, factors[0]);
        finish(second, gain, factors[1]);
        let (pairs, rest) = to.as_chunks_mut::<2>();
        let (evens, last) = first.split_at(pairs.len());
        for ((pair, a), b) in pairs.iter_mut().zip(evens).zip(&*second) {
            *pair = [D::store(*a), D::store(*b)];
        }
        if let ([x], [a]) = (rest, last) {
            *x = D::store(*a);
        }
    }

    /// Converts samples from the work type, multiplied or shifted right.
    pub fn store<W: Arithmetic, D: Stored<W>>(
        from: &[W],
        to: &mut [D],
        gain: u32,
        factor: Option<W::Acc>,
    ) {
        match factor {
            None if gain == 0 => D::store_all(from, to),
            None => {
                for (y, x) in to.iter_mut().zip(from) {
                    *y = D::store(x.ungain(gain));
                }
            }
            // Without a gain shift, and for reals, the second operation is the identity.
            Some(factor) => {
                for (y, x) in to.iter_mut().zip(from) {
                    *y = D::store(x.scaled(factor).ungain(gain));
                }
            }
        }
    }
}

// The loops below are statements: a closure that is not inlined would not be compiled for the set.

/// Applies the load-time shift and factor.
#[inline(always)]
fn prepare<W: Arithmetic>(samples: &mut [W], gain: u32, factor: Option<W::Acc>) {
    if gain > 0 {
        for x in &mut *samples {
            *x = x.gain(gain);
        }
    }
    if let Some(factor) = factor {
        for x in samples {
            *x = x.scaled(factor);
        }
    }
}

/// Applies the store-time factor and shift.
#[inline(always)]
fn finish<W: Arithmetic>(samples: &mut [W], gain: u32, factor: Option<W::Acc>) {
    if let Some(factor) = factor {
        for x in &mut *samples {
            *x = x.scaled(factor);
        }
    }
    if gain > 0 {
        for x in samples {
            *x = x.ungain(gain);
        }
    }
}

/// Samples `from..from + n` of the row at `reads[i]`.
#[inline(always)]
fn row<'a, V, W>(reads: &[*const W], i: usize, from: usize, n: usize) -> &'a [V] {
    // SAFETY: callers of `lift` promise rows of this length; `V` is `W`, or both are `i16`.
    unsafe { std::slice::from_raw_parts(reads[i].cast::<V>().add(from), n) }
}

/// `target[i] ∓= delta`.
macro_rules! update {
    ($subtract:expr, $target:expr, $i:ident => $delta:expr) => {
        if $subtract {
            for ($i, x) in $target.iter_mut().enumerate() {
                *x = minus(*x, $delta);
            }
        } else {
            for ($i, x) in $target.iter_mut().enumerate() {
                *x = plus(*x, $delta);
            }
        }
    };
}

#[inline(always)]
fn lift_wide<W: Arithmetic>(step: &Lift<W>, target: &mut [W], reads: &[*const W]) {
    #[inline(always)]
    fn plus<W: Arithmetic>(x: W, delta: W::Acc) -> W {
        x.updated(false, delta)
    }
    #[inline(always)]
    fn minus<W: Arithmetic>(x: W, delta: W::Acc) -> W {
        x.updated(true, delta)
    }
    #[inline(always)]
    fn two<W: Arithmetic>(a: W, b: W) -> W::Acc {
        W::add(a.widen(), b.widen())
    }
    #[inline(always)]
    fn end<W: Arithmetic>(sum: W::Acc, rounding: W::Acc, shift: u32) -> W::Acc {
        if W::REAL { sum } else { W::shift(W::add(sum, rounding), shift) }
    }
    let Lift { subtract, groups, plain, rounding, shift, mode, .. } = step;
    let (subtract, r, s, n) = (*subtract, *rounding, *shift, target.len());
    let down = *mode == RoundingMode::Floor;
    // Steps that round otherwise are rare: they have the general loop alone.
    let special = if down { &groups[..] } else { &[] };
    match *special {
        [(_, 1)] if *plain => {
            let a: &[W] = row(reads, 0, 0, n);
            update!(subtract, target, i => end::<W>(a[i].widen(), r, s));
        }
        [(w, 1)] => {
            let a: &[W] = row(reads, 0, 0, n);
            update!(subtract, target, i => end::<W>(W::mul(w, a[i].widen()), r, s));
        }
        [(_, 2)] if *plain => {
            let (a, b): (&[W], &[W]) = (row(reads, 0, 0, n), row(reads, 1, 0, n));
            update!(subtract, target, i => end::<W>(two(a[i], b[i]), r, s));
        }
        [(w, 2)] => {
            let (a, b): (&[W], &[W]) = (row(reads, 0, 0, n), row(reads, 1, 0, n));
            update!(subtract, target, i => end::<W>(W::mul(w, two(a[i], b[i])), r, s));
        }
        [(v, 1), (w, 1)] => {
            let (a, b): (&[W], &[W]) = (row(reads, 0, 0, n), row(reads, 1, 0, n));
            update!(subtract, target, i => end::<W>(W::add(W::mul(v, a[i].widen()), W::mul(w, b[i].widen())), r, s));
        }
        [(v, 2), (w, 2)] => {
            let (a, b): (&[W], &[W]) = (row(reads, 0, 0, n), row(reads, 1, 0, n));
            let (c, d): (&[W], &[W]) = (row(reads, 2, 0, n), row(reads, 3, 0, n));
            update!(subtract, target, i => {
                end::<W>(W::add(W::mul(v, two(a[i], b[i])), W::mul(w, two(c[i], d[i]))), r, s)
            });
        }
        _ => {
            for (chunk, target) in target.chunks_mut(CHUNK).enumerate() {
                let (from, n) = (chunk * CHUNK, target.len());
                let (mut totals, mut sums) = ([W::Acc::default(); CHUNK], [W::Acc::default(); CHUNK]);
                let (totals, sums) = (&mut totals[..n], &mut sums[..n]);
                let mut tap = 0;
                for (g, &(weight, taps)) in groups.iter().enumerate() {
                    for (sum, x) in sums.iter_mut().zip(row::<W, W>(reads, tap, from, n)) {
                        *sum = x.widen();
                    }
                    for tap in tap + 1..tap + taps {
                        for (sum, x) in sums.iter_mut().zip(row::<W, W>(reads, tap, from, n)) {
                            *sum = W::add(*sum, x.widen());
                        }
                    }
                    tap += taps;
                    for (total, sum) in totals.iter_mut().zip(&*sums) {
                        let product = W::mul(weight, *sum);
                        *total = if g == 0 { product } else { W::add(*total, product) };
                    }
                }
                if down {
                    update!(subtract, target, i => end::<W>(totals[i], r, s));
                } else {
                    update!(subtract, target, i => W::rounded(W::add(totals[i], r), s, *mode));
                }
            }
        }
    }
}

/// ⌊(a + b) / 2⌋ without a 17th bit.
#[inline(always)]
fn average(a: i16, b: i16) -> i16 {
    (a & b).wrapping_add((a ^ b) >> 1)
}

/// Narrow form of a step; see [`Narrow`].
#[inline(always)]
fn lift_narrow<W: Arithmetic>(step: &Lift<W>, narrow: &Narrow, target: &mut [i16], reads: &[*const W]) {
    #[inline(always)]
    fn plus(x: i16, delta: i16) -> i16 {
        x.wrapping_add(delta)
    }
    #[inline(always)]
    fn minus(x: i16, delta: i16) -> i16 {
        x.wrapping_sub(delta)
    }
    /// Sums of two samples' parts above and below the shift.
    #[inline(always)]
    fn two(a: i16, b: i16, s: u32, mask: i16) -> (i16, i16) {
        (a.wrapping_shr(s).wrapping_add(b.wrapping_shr(s)), (a & mask).wrapping_add(b & mask))
    }
    #[inline(always)]
    fn end(highs: i16, lows: i16, r: i16, s: u32) -> i16 {
        highs.wrapping_add(lows.wrapping_add(r).wrapping_shr(s))
    }
    let Lift { subtract, groups, plain, shift, .. } = step;
    let (subtract, s, n) = (*subtract, *shift, target.len());
    let Narrow { weights, rounding } = narrow;
    let (r, mask) = (*rounding, (1i16 << s) - 1);
    match (&weights[..], groups[0].1, groups.last().map_or(0, |g| g.1)) {
        ([_], 2, _) if *plain && s == 1 && (r == 0 || r == 1) => {
            let (a, b): (&[i16], &[i16]) = (row(reads, 0, 0, n), row(reads, 1, 0, n));
            if r == 0 {
                update!(subtract, target, i => average(a[i], b[i]));
            } else {
                update!(subtract, target, i => (a[i] | b[i]).wrapping_sub((a[i] ^ b[i]) >> 1));
            }
        }
        ([_], 2, _) if *plain && s == 2 && r == 2 => {
            let (a, b): (&[i16], &[i16]) = (row(reads, 0, 0, n), row(reads, 1, 0, n));
            update!(subtract, target, i => {
                let half = average(a[i], b[i]);
                (half >> 1).wrapping_add(half & 1)
            });
        }
        (&[w], 1, _) => {
            let a: &[i16] = row(reads, 0, 0, n);
            update!(subtract, target, i => {
                end(w.wrapping_mul(a[i].wrapping_shr(s)), w.wrapping_mul(a[i] & mask), r, s)
            });
        }
        (&[w], 2, _) => {
            let (a, b): (&[i16], &[i16]) = (row(reads, 0, 0, n), row(reads, 1, 0, n));
            update!(subtract, target, i => {
                let (high, low) = two(a[i], b[i], s, mask);
                end(w.wrapping_mul(high), w.wrapping_mul(low), r, s)
            });
        }
        (&[v, w], 2, 2) => {
            let (a, b): (&[i16], &[i16]) = (row(reads, 0, 0, n), row(reads, 1, 0, n));
            let (c, d): (&[i16], &[i16]) = (row(reads, 2, 0, n), row(reads, 3, 0, n));
            update!(subtract, target, i => {
                let (outer, inner) = (two(a[i], b[i], s, mask), two(c[i], d[i], s, mask));
                let high = v.wrapping_mul(outer.0).wrapping_add(w.wrapping_mul(inner.0));
                end(high, v.wrapping_mul(outer.1).wrapping_add(w.wrapping_mul(inner.1)), r, s)
            });
        }
        _ => {
            for (chunk, target) in target.chunks_mut(CHUNK).enumerate() {
                let (from, n) = (chunk * CHUNK, target.len());
                let (mut highs, mut lows) = ([0i16; CHUNK], [0i16; CHUNK]);
                let (highs, lows) = (&mut highs[..n], &mut lows[..n]);
                let mut tap = 0;
                for (weight, group) in weights.iter().zip(groups) {
                    for tap in tap..tap + group.1 {
                        let x: &[i16] = row(reads, tap, from, n);
                        for ((high, low), x) in highs.iter_mut().zip(&mut *lows).zip(x) {
                            *high = high.wrapping_add(weight.wrapping_mul(x.wrapping_shr(s)));
                            *low = low.wrapping_add(weight.wrapping_mul(x & mask));
                        }
                    }
                    tap += group.1;
                }
                update!(subtract, target, i => end(highs[i], lows[i], r, s));
            }
        }
    }
}
