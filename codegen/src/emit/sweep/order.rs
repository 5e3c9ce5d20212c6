//! Steps of a sweep as calls on named values: along a row in registers, and down the columns of a turn.
//!
//! rewrite: "each step is a loop over a block of a row" → one loop over columns, a register at a time. Arriving rows
//! take all steps along the row. Each step lags a few lanes behind the samples it reads, and keeps what it still needs
//! of the previous register. Then the rows take all steps of the turn along columns. The ring is read and written only
//! for rows that stay in it; all others leave at once. Synthesis runs backwards.
//!
//! C and Rust files share this order.

use crate::schedule::rows::{Row, Sweep};
use std::collections::BTreeSet;

/// A step on named values: it updates the target.
pub(super) struct Call {
    /// Index of the step in its direction.
    pub step: usize,
    /// Target.
    pub target: String,
    /// Samples that it reads, by ascending offset.
    pub reads: Vec<String>,
}

/// A line of a function along a row.
pub(super) enum Line {
    /// A named value: another one, delayed by some lanes.
    Later { name: String, of: String, lanes: i32 },
    /// A step.
    Call(Call),
}

/// All steps along a row, on registers `even` and `odd`.
pub(super) struct Along {
    /// The lines, in order.
    pub lines: Vec<Line>,
    /// Names of the results.
    pub results: [String; 2],
    /// Registers kept for the next block of the row.
    pub kept: Vec<String>,
    /// Lag of the results, in lanes.
    pub behind: i32,
}

/// All steps of a turn down columns, on one value of each row.
pub(super) struct Down {
    /// Rows of the ring: those that steps take, then other arriving ones.
    pub rows: Vec<Row>,
    /// The steps, on rows by name.
    pub calls: Vec<Call>,
    /// Rows that the steps take, as indices into `rows`.
    pub taken: Vec<usize>,
    /// Rows that the steps update.
    pub updated: Vec<usize>,
    /// Rows whose new values stay in the ring.
    pub stored: Vec<usize>,
    /// Rows that leave, in order.
    pub left: Vec<usize>,
}

/// Name of a row's value: `even_m1`, `odd`, `even_p2`.
pub(super) fn name(row: Row) -> String {
    let phase = ["even", "odd"][usize::from(row.phase)];
    match row.k {
        0 => phase.into(),
        k if k < 0 => format!("{phase}_m{}", -k),
        k => format!("{phase}_p{k}"),
    }
}

/// Index of the arriving row that this is; `None` for earlier rows.
pub(super) fn arrival(row: Row) -> Option<i32> {
    (row.k >= 0).then_some(2 * row.k + i32::from(row.phase))
}

impl Along {
    /// The steps of a sweep. A step's lag follows from the last sample that it reads.
    pub fn new(sweep: &Sweep) -> Along {
        let phases = ["even", "odd"];
        let mut along = Along { lines: Vec::new(), results: Default::default(), kept: Vec::new(), behind: 0 };
        let mut names: BTreeSet<String> =
            ["even", "odd", "one", "two", "kept", "first", "second"].map(String::from).into();
        let mut now = phases.map(|name| (name.to_string(), 0));
        for (index, step) in sweep.steps.iter().enumerate() {
            let target = step.target.parity() as usize;
            let (ours, theirs) = (now[target].clone(), now[1 - target].clone());
            let behind = step.offsets.iter().map(|o| theirs.1 + o).fold(ours.1, i32::max);
            let reads =
                step.offsets.iter().map(|o| along.later(&mut names, &theirs.0, behind - theirs.1 - o)).collect();
            let name = (2..).map(|i| format!("{}_{i}", phases[target])).find(|name| !names.contains(name));
            let name = name.expect("some number is unused");
            names.insert(name.clone());
            along.delay(name.clone(), &ours.0, behind - ours.1);
            along.lines.push(Line::Call(Call { step: index, target: name.clone(), reads }));
            now[target] = (name, behind);
        }
        along.behind = now[0].1.max(now[1].1);
        let behind = along.behind;
        along.results = now.map(|(name, lag)| along.later(&mut names, &name, behind - lag));
        along
    }

    /// The name of a value that lags another one by some lanes.
    fn later(&mut self, names: &mut BTreeSet<String>, of: &str, lanes: i32) -> String {
        let name = if lanes == 0 { of.to_owned() } else { format!("{of}_m{lanes}") };
        if names.insert(name.clone()) {
            self.delay(name.clone(), of, lanes);
        }
        name
    }

    fn delay(&mut self, name: String, of: &str, lanes: i32) {
        if lanes > 0 && !self.kept.iter().any(|k| k == of) {
            self.kept.push(of.to_owned());
        }
        self.lines.push(Line::Later { name, of: of.to_owned(), lanes });
    }

    /// Whether registers of this many lanes hold the steps. One register is lifted ahead of each result, so the lag and
    /// the halo must fit into it.
    pub fn fits(&self, sweep: &Sweep, lanes: i32) -> bool {
        let most = self.lines.iter().map(|line| if let Line::Later { lanes, .. } = line { *lanes } else { 0 }).max();
        !self.kept.is_empty() && most.unwrap_or(0) <= lanes && self.behind + sweep.halo[0].max(sweep.halo[1]) < lanes
    }
}

impl Down {
    /// The steps of a turn; `None` if it takes too many rows.
    pub fn new(sweep: &Sweep) -> Option<Down> {
        let taken = sweep.turn.as_ref()?;
        let arrives = (0..2 * sweep.pairs).map(|i| Row { k: i / 2, phase: (i % 2) as u8 });
        let mut rows = taken.clone();
        rows.extend(arrives.clone().filter(|row| !taken.contains(row)));
        let (mut calls, mut updated) = (Vec::new(), BTreeSet::new());
        for pair in 0..sweep.pairs {
            for (index, step) in sweep.steps.iter().enumerate() {
                let (k, phase) = (pair - step.behind, step.target.parity() as u8);
                let read = |o: &i32| name(Row { k: k + o, phase: 1 - phase });
                let target = Row { k, phase };
                updated.insert(target);
                calls.push(Call { step: index, target: name(target), reads: step.offsets.iter().map(read).collect() });
            }
        }
        let leaves: Vec<Row> =
            arrives.clone().map(|row| Row { k: row.k - sweep.delay[usize::from(row.phase)], ..row }).collect();
        let at = |row: &Row| rows.iter().position(|r| r == row);
        let left = leaves.iter().map(at).collect::<Option<Vec<usize>>>()?;
        let indices = |keep: &dyn Fn(&Row) -> bool| (0..rows.len()).filter(|&i| keep(&rows[i])).collect::<Vec<usize>>();
        let changes = |row: &Row| updated.contains(row) || arrival(*row).is_some();
        Some(Down {
            taken: indices(&|row| taken.contains(row)),
            updated: indices(&|row| updated.contains(row)),
            stored: indices(&|row| changes(row) && !leaves.contains(row)),
            left,
            calls,
            rows,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sweeps;
    use crate::emit::{Request, natural_samples};
    use crate::ir::Scalar;
    use lifting_dsl::{Boundary, Domain, Step, testing};

    /// The sweeps of steps, on these sample types.
    fn sweeps(domain: Domain, steps: Vec<Step>, samples: &[Scalar]) -> Sweeps {
        let scheme = testing::scheme("wavelet", domain, Boundary::WholeSymmetric, steps);
        let request = Request { samples, ..Request::natural(&scheme, "test") };
        Sweeps::new(&request).expect("the sample types are of the domain").expect("the wavelet has steps")
    }

    /// Each step lags as far as its reads require: the even sample to the right, twice.
    #[test]
    fn results_lag_as_steps_require() {
        let cdf97 = sweeps(Domain::Real, testing::cdf97(), natural_samples(Domain::Real));
        let [along, _] = cdf97.forms.as_ref().expect("it has turns in registers");
        assert_eq!(along.behind, 2);
        assert_eq!(along.kept, ["even", "odd", "odd_2", "even_2", "odd_3"]);
        // Rows that leave are not stored in the ring.
        let down = cdf97.downs[0].as_ref().expect("it has turns");
        assert_eq!(down.left.len(), 4);
        assert!(down.stored.iter().all(|row| !down.left.contains(row)));
        let dd137 = sweeps(Domain::Integer, testing::dd137(), natural_samples(Domain::Integer));
        assert_eq!(dd137.forms.expect("it has turns in registers")[0].behind, 3);
    }

    /// Widened steps, and steps that reach beyond a register, have no turns in registers.
    #[test]
    fn steps_without_registers() {
        use lifting_dsl::{Op, Phase};
        let wide_sum = testing::integer(Phase::Odd, Op::Sub, &[(0, 30000), (1, 30000)], 1, 14);
        let steps = |step| vec![step, testing::legall53().remove(1)];
        let both = [Scalar::I16, Scalar::I32];
        assert_eq!(sweeps(Domain::Integer, steps(wide_sum), &both).in_registers, [false, true]);
        let far = testing::integer(Phase::Odd, Op::Sub, &[(0, 1), (40, 1)], 0, 1);
        assert_eq!(sweeps(Domain::Integer, steps(far), &both).in_registers, [false, false]);
    }
}
