//! Steps of any number and reach, as data.
//!
//! Pairs (t, u) arrive, where t is of the phase that the first step updates. Steps update the phases alternately. When
//! pair j arrives, step k updates the sample of pair j − lag(k), and reads samples of the other phase by their *age*: 0
//! for the latest one, 1 for the one before.

/// Most steps.
pub(crate) const MAX_STEPS: usize = 48;

/// Most sums of samples in all steps together.
pub(crate) const MAX_TERMS: usize = 96;

/// Greatest age.
pub(crate) const MAX_AGE: usize = 12;

/// Delays of a chain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delays {
    /// Delayed registers per line along columns.
    pub down: usize,
    /// Distance in samples of the last result of pair (t, u) before t; the preceding result follows it.
    pub back: usize,
    /// Samples on either side on which a result depends.
    pub reach: usize,
}

/// One weight, and the samples that are added before it is applied.
#[derive(Clone, Debug)]
pub struct Term {
    /// The weight. Subtraction negates it, which gives the same bits.
    pub weight: f64,
    /// Odd offsets of the samples from the one that is updated.
    pub offsets: Vec<isize>,
}

/// A step: the sample that it updates receives the sum of its terms, added in this order.
pub type Sum = Vec<Term>;

/// A step by ages.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) kind: Kind,
    /// Samples of the other phase to keep.
    pub(crate) depth: usize,
    /// Age of the sample of the other phase that is updated or returned next.
    pub(crate) next: usize,
    /// Number of terms, which follow those of the step before.
    pub(crate) terms: usize,
}

impl Step {
    /// Whether it reads and returns nothing older than age 1, in one of the frequent forms.
    #[inline(always)]
    pub(crate) fn is_short(&self) -> bool {
        self.depth <= 1 && self.kind != Kind::Any
    }
}

/// Frequent forms of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Two weights, of ages 1 and 0.
    Two,
    /// One weight, of age 1 or 0.
    One(usize),
    /// One weight of the sum of both.
    Summed,
    Any,
}

/// The steps of a scheme by ages.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    pub(crate) steps: Vec<Step>,
    pub(crate) weights: Vec<f64>,
    pub(crate) ages: Vec<Vec<usize>>,
    /// Age at which the first step updates t.
    pub(crate) wait: usize,
    pub(crate) shape: Delays,
}

impl Steps {
    /// Steps that update the two phases alternately. `None` if they exceed the limits.
    pub fn new(sums: &[Sum]) -> Option<Steps> {
        let terms = sums.iter().map(Vec::len).sum::<usize>();
        if sums.is_empty() || sums.len() > MAX_STEPS || terms > MAX_TERMS {
            return None;
        }
        let mut all = Steps::default();
        // Lags of the phases of t and u, in pairs.
        let mut lag = [0isize; 2];
        let mut waits = Vec::new();
        for (k, sum) in sums.iter().enumerate() {
            let [target, other] = [k % 2, 1 - k % 2];
            let pairs = |offset: &isize| (offset - 1 + 2 * target as isize) / 2;
            let offsets = || sum.iter().flat_map(|term| &term.offsets);
            if offsets().any(|offset| offset % 2 == 0) {
                return None;
            }
            let newest = offsets().map(pairs).max()?;
            // The last result's neighbour leaves with it.
            let leaves = if k + 1 == sums.len() { target as isize } else { isize::MIN };
            let late = lag[target].max(lag[other] + newest).max(lag[other].saturating_add(leaves));
            waits.push((late - lag[target]) as usize);
            lag[target] = late;
            let age = |offset: &isize| (late - lag[other] - pairs(offset)) as usize;
            for term in sum {
                all.weights.push(term.weight);
                all.ages.push(term.offsets.iter().map(age).collect());
            }
            let first = all.ages.len() - sum.len();
            if let [a, b] = &all.ages[first..]
                && a[..] == [0]
                && b[..] == [1]
            {
                // Both orders of two products have the same sum.
                all.ages.swap(first, first + 1);
                all.weights.swap(first, first + 1);
            }
            let ages = &all.ages[first..];
            let kind = match ages {
                [a, b] if a[..] == [1] && b[..] == [0] => Kind::Two,
                [a] if a[..] == [0] || a[..] == [1] => Kind::One(a[0]),
                [a] if a[..] == [1, 0] || a[..] == [0, 1] => Kind::Summed,
                _ => Kind::Any,
            };
            let depth = ages.iter().flatten().copied().max()?;
            all.steps.push(Step { kind, depth, next: 0, terms: sum.len() });
            all.shape.reach += offsets().map(|offset| offset.unsigned_abs()).max()?;
        }
        let last = (sums.len() - 1) % 2;
        let leaving = (lag[last] - lag[1 - last]) as usize - last;
        all.wait = waits[0];
        let next = waits.into_iter().skip(1).chain([leaving]);
        for (k, (step, next)) in all.steps.iter_mut().zip(next).enumerate() {
            // The neighbour on the other side of the last result is one older.
            step.next = next;
            step.depth = step.depth.max(next + usize::from(k + 1 == sums.len()));
        }
        if all.wait > MAX_AGE || all.steps.iter().any(|step| step.depth > MAX_AGE) {
            return None;
        }
        all.shape.down = all.wait + all.steps.iter().map(|step| step.depth).sum::<usize>();
        all.shape.back = 2 * lag[last] as usize - last;
        Some(all)
    }

    /// Greatest age of a sample.
    pub(crate) fn depth(&self) -> usize {
        self.steps.iter().map(|step| step.depth).max().unwrap_or(0).max(self.wait)
    }
}
