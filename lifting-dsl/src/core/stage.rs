//! Execution of lattices: stage by stage, on pairs of neighbouring samples.
//!
//! Under the periodic rule a lattice runs as stages. Under the others it runs as the equivalent lifting steps
//! ([`Scheme::steps`]), since a stage on a pair that lacks a sample is undefined.

use crate::core::lattice::{Lattice, Stage};
use crate::core::scheme::{Boundary, Group, Op, Phase, RealStep, ScaleStep, Scheme, Step};
use crate::core::weight::Weight;

/// A stage ready to execute, cyclically, on every pair (u, v) of neighbouring samples: u' = fl(fl(a·u) + fl(b·v)) and
/// v' = fl(fl(c·u) + fl(d·v)).
#[derive(Clone, Debug, PartialEq)]
pub struct PairStage {
    /// The phase of u: even if the pairs are (even\[k\], odd\[k\]), odd if they are (odd\[k\], even\[k+1\]).
    pub first: Phase,
    /// \[\[a, b\], \[c, d\]\].
    pub rows: [[Weight; 2]; 2],
}

impl PairStage {
    /// The index offset of v from u, each in its phase.
    pub fn offset(&self) -> i32 {
        self.first.parity() as i32
    }

    /// The new u (0) or v (1) as two steps on a copy of it: multiply by its own weight, then add the product of the
    /// other, read at offset 0 from the old value.
    pub fn steps(&self, which: usize) -> [Step; 2] {
        let target = if which == 0 { self.first } else { self.first.other() };
        let factor = self.rows[which][which].clone();
        let groups = vec![Group { weight: self.rows[which][1 - which].clone(), offsets: vec![0] }];
        [Step::Scale(ScaleStep { target, factor }), Step::Real(RealStep { target, op: Op::Add, groups })]
    }
}

impl Scheme {
    /// The stages of analysis in order of execution, if the wavelet runs as a lattice under this border rule.
    ///
    /// ```
    /// use lifting_dsl::{Boundary, Phase};
    /// let text = "wavelet l { domain real; boundary periodic; lattice { rotate(3/5, 4/5); rotate(4/5, 3/5); } }";
    /// let scheme = lifting_dsl::compile(text).unwrap().schemes.remove(0);
    /// let stages = scheme.stages(Boundary::Periodic).unwrap();
    /// assert_eq!([stages[0].first, stages[1].first], [Phase::Odd, Phase::Even]);
    /// assert_eq!(scheme.stages(Boundary::Zero), None);
    /// ```
    pub fn stages(&self, boundary: Boundary) -> Option<Vec<PairStage>> {
        let lattice = self.lattice().filter(|_| boundary == Boundary::Periodic)?;
        Some(on_pairs(lattice, lattice.stages.iter().map(rows)))
    }

    /// The stages of synthesis: the inverse matrices in reverse order; `None` as for [`Scheme::stages`].
    pub fn inverse_stages(&self, boundary: Boundary) -> Option<Vec<PairStage>> {
        let lattice = self.lattice().filter(|_| boundary == Boundary::Periodic)?;
        let inverses = self.inverses.get(|| lattice.stages.iter().map(inverse).collect());
        let mut stages = on_pairs(lattice, inverses.iter().cloned());
        stages.reverse();
        Some(stages)
    }
}

fn on_pairs(lattice: &Lattice<Weight>, rows: impl Iterator<Item = [[Weight; 2]; 2]>) -> Vec<PairStage> {
    let stage = |(index, rows): (usize, _)| {
        let first = if lattice.on_even_pairs(index) { Phase::Even } else { Phase::Odd };
        PairStage { first, rows }
    };
    rows.enumerate().map(stage).collect()
}

/// The matrix with each coefficient as written, so that it is rounded once.
fn rows(stage: &Stage<Weight>) -> [[Weight; 2]; 2] {
    stage.rows_by(Weight::neg)
}

impl Lattice<Weight> {
    /// The inverse of the transpose of each stage; an orthogonal stage is unchanged.
    pub(crate) fn inverse_transpose(&self) -> Lattice<Weight> {
        let turned = |stage: &Stage<Weight>| {
            let [[a, b], [c, d]] = inverse(stage);
            Stage::Matrix { rows: [[a, c], [b, d]] }
        };
        Lattice { stages: self.stages.iter().map(turned).collect() }
    }
}

/// The inverse: exact if the stage is rational, else the nearest `f64`.
fn inverse(stage: &Stage<Weight>) -> [[Weight; 2]; 2] {
    let [[a, b], [c, d]] = rows(stage).map(|row| row.map(|w| w.to_rational()));
    let determinant = &a * &d - &b * &c;
    let exact = stage.coefficients().into_iter().all(|w| matches!(w, Weight::Rational(_)));
    [[d, -b], [-c, a]].map(|row| {
        row.map(|entry| {
            // A scheme's stages have inverses.
            let entry = Weight::Rational(entry / &determinant);
            if exact { entry } else { Weight::Irrational(entry.to_f64()) }
        })
    })
}
