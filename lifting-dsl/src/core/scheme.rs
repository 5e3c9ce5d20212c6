//! The validated wavelet, [`Scheme`]: everything downstream of the language works on it alone.
//!
//! Only [`crate::language::validate`] (from parsed text), [`Scheme::from_steps`] and a few functions of this crate make
//! a [`Scheme`], so users may rely on the invariants of its fields.
//!
//! Positions: a signal of n samples with origin u occupies positions u, u+1, …, u+n−1. `even[k]` is position 2k,
//! `odd[k]` is position 2k+1. A step's *support* is the interval of the offsets that it reads, in positions, relative
//! to the position that it updates.

use crate::core::body::{Body, Factored};
use crate::core::lattice::{Inverses, Lattice};
use crate::core::weight::Weight;

/// Most steps of a wavelet.
pub const MAX_STEPS: usize = 1024;

/// Longest name of a wavelet or a constant, in bytes. Files and functions are named after it, and C compilers need only
/// distinguish the first 63 letters of a name (C99, section 5.2.4.1).
pub const MAX_NAME: usize = 63;
/// Largest shift of an integer step, and largest gain shift.
pub const MAX_SHIFT: u32 = 30;
/// Largest index offset of a read, to either side.
pub const MAX_OFFSET: i32 = 1024;

/// Kind of the samples; decides the arithmetic of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Two's complement integers; steps are `(Σ w·x + r) >> s`, wrapping, hence always invertible. Scalings are by −1.
    Integer,
    /// Floating point; steps are weighted sums, each operation rounded once.
    Real,
}

/// Even or odd positions. After analysis the even phase holds the low band, the odd phase the high band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Positions 2k.
    Even,
    /// Positions 2k+1.
    Odd,
}

impl Phase {
    /// The other phase.
    pub fn other(self) -> Phase {
        match self {
            Phase::Even => Phase::Odd,
            Phase::Odd => Phase::Even,
        }
    }

    /// Position modulo 2: 0 for even, 1 for odd.
    pub fn parity(self) -> i64 {
        match self {
            Phase::Even => 0,
            Phase::Odd => 1,
        }
    }

    /// `even` or `odd`, as the language spells it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Even => "even",
            Phase::Odd => "odd",
        }
    }
}

/// The value that a step reads where the signal has no sample. Applies to each step's reads, at each level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Boundary {
    /// Reflect about the first and the last position, repeatedly (JPEG 2000; PyWavelets calls it `reflect`).
    WholeSymmetric,
    /// Reflect within the phase that is read: its end sample is repeated. A step after an S transform so reads the
    /// half-sample symmetric extension of the low band (2/6 and 2/10: Said and Pearlman 1996).
    HalfSymmetric,
    /// The signal repeats; even lengths only.
    Periodic,
    /// The nearest sample of the phase that is read (VC-2, Dirac).
    Edge,
    /// Zero.
    Zero,
}

impl Boundary {
    /// All border rules, in the order of the language reference.
    pub const ALL: [Boundary; 5] =
        [Boundary::WholeSymmetric, Boundary::HalfSymmetric, Boundary::Periodic, Boundary::Edge, Boundary::Zero];

    /// The spelling in a `.lift` file.
    pub fn name(self) -> &'static str {
        match self {
            Boundary::WholeSymmetric => "whole-symmetric",
            Boundary::HalfSymmetric => "half-symmetric",
            Boundary::Periodic => "periodic",
            Boundary::Edge => "edge",
            Boundary::Zero => "zero",
        }
    }
}

impl std::fmt::Display for Boundary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Boundary {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Boundary::ALL.into_iter().find(|b| b.name() == s).ok_or_else(|| {
            format!("unknown border rule `{s}`; choose one of {}", Boundary::ALL.map(Boundary::name).join(", "))
        })
    }
}

/// `+=` or `-=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `target += expression`.
    Add,
    /// `target -= expression`.
    Sub,
}

impl Op {
    /// The operator that undoes this one.
    pub fn inverse(self) -> Op {
        match self {
            Op::Add => Op::Sub,
            Op::Sub => Op::Add,
        }
    }
}

/// One tap of an integer step: `weight · other[k + offset]`, `offset` in indices of the other phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tap {
    /// Index offset in the phase that is read.
    pub offset: i32,
    /// Weight; never 0.
    pub weight: i32,
}

/// Direction in which an integer step rounds its sum divided by 2^shift.
///
/// The step computes `(sum + c) >> shift` with a correction c, and the sum wraps. Rounding up, and to nearest with ties
/// up, need no mode: the step's rounding term does both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RoundingMode {
    /// Down: the plain `>>`; c is 0.
    #[default]
    Floor,
    /// Toward zero, as C divides: c is 2^shift − 1 if the sum is negative, otherwise 0.
    Truncate,
    /// To nearest, ties to even: c is 2^(shift−1) − 1, plus the lowest bit of `sum >> shift`.
    HalfEven,
    /// To nearest, ties away from zero, as C's `round`: c is 2^(shift−1), less 1 if the sum is negative.
    HalfAway,
}

impl RoundingMode {
    /// All modes.
    pub const ALL: [RoundingMode; 4] =
        [RoundingMode::Floor, RoundingMode::Truncate, RoundingMode::HalfEven, RoundingMode::HalfAway];

    /// The function around a step's shift that selects it in a `.lift` file; `floor` may be left out.
    pub fn name(self) -> &'static str {
        match self {
            RoundingMode::Floor => "floor",
            RoundingMode::Truncate => "trunc",
            RoundingMode::HalfEven => "half_even",
            RoundingMode::HalfAway => "half_away",
        }
    }
}

/// `target[k] op= (Σ weight·other[k+offset] + rounding) >> shift`, rounded as its mode says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IntegerStep {
    /// The phase that is updated; the other one is read.
    pub target: Phase,
    /// Add or subtract.
    pub op: Op,
    /// Taps, by ascending offset, offsets distinct, at least one.
    pub taps: Vec<Tap>,
    /// Added before the shift.
    pub rounding: i32,
    /// Arithmetic right shift, 0 to 30.
    pub shift: u32,
    /// Rounding of the shift; [`RoundingMode::Floor`] if there is none.
    pub mode: RoundingMode,
}

/// Offsets that share one weight: they are summed first, and multiplied once.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The weight; never 0. Weights 1 and −1 cost no multiplication.
    pub weight: Weight,
    /// Index offsets in the phase that is read, ascending, at least one.
    pub offsets: Vec<i32>,
}

/// `target[k] op= Σ_groups weight · (Σ other[k+offset])`, evaluated left to right, every operation rounded once.
#[derive(Clone, Debug, PartialEq)]
pub struct RealStep {
    /// The phase that is updated; the other one is read.
    pub target: Phase,
    /// Add or subtract.
    pub op: Op,
    /// Groups, by ascending lowest offset, at least one.
    pub groups: Vec<Group>,
}

/// `target[k] *= factor`; in the integer domain the factor is −1, and wraps.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaleStep {
    /// The phase that is scaled.
    pub target: Phase,
    /// The factor; never 0.
    pub factor: Weight,
}

/// One step of a scheme.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Integer predict or update.
    Integer(IntegerStep),
    /// Real predict or update.
    Real(RealStep),
    /// Scaling of one phase.
    Scale(ScaleStep),
}

impl Step {
    /// The phase that this step updates.
    pub fn target(&self) -> Phase {
        match self {
            Step::Integer(s) => s.target,
            Step::Real(s) => s.target,
            Step::Scale(s) => s.target,
        }
    }

    /// Whether all weights are rational, so that polynomials made of them are exact; integer steps count by their
    /// linear part.
    pub fn is_rational(&self) -> bool {
        let rational = |w: &Weight| matches!(w, Weight::Rational(_));
        match self {
            Step::Integer(_) => true,
            Step::Real(s) => s.groups.iter().all(|g| rational(&g.weight)),
            Step::Scale(s) => rational(&s.factor),
        }
    }

    /// Lowest and highest index offset read in the other phase; `None` for a scaling, which reads nothing else.
    pub fn index_support(&self) -> Option<(i32, i32)> {
        match self {
            Step::Integer(s) => Some((s.taps[0].offset, s.taps[s.taps.len() - 1].offset)),
            Step::Real(s) => {
                let offsets = || s.groups.iter().flat_map(|g| g.offsets.iter().copied());
                Some((offsets().min()?, offsets().max()?))
            }
            Step::Scale(_) => None,
        }
    }

    /// The negation of a phase: the one scaling of the integer domain, and its own inverse.
    pub fn negation(target: Phase) -> Step {
        Step::Scale(ScaleStep { target, factor: Weight::integer(-1) })
    }

    /// Whether this is [`Step::negation`] of either phase.
    pub fn is_negation(&self) -> bool {
        matches!(self, Step::Scale(s) if s.factor == Weight::integer(-1))
    }

    /// Support in positions (interleaved offsets) relative to the updated position; `None` for a scaling.
    ///
    /// An odd target at 2k+1 that reads `even[k+o]` reads position 2(k+o), offset 2o−1; an even target at 2k that
    /// reads `odd[k+o]` has offset 2o+1.
    pub fn support(&self) -> Option<(i64, i64)> {
        let shift = 1 - 2 * self.target().parity();
        self.index_support().map(|(lo, hi)| (2 * i64::from(lo) + shift, 2 * i64::from(hi) + shift))
    }
}

/// A named format's additions to a wavelet (`profile vc2 { boundary edge; gain shift 1; }`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The format.
    pub format: Format,
    /// The format's border rule for this wavelet, if the profile states one.
    pub boundary: Option<Boundary>,
    /// Left shift of the samples once per level, in bits.
    pub gain_shift: u32,
}

/// Named formats whose conventions the language supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// ISO/IEC 15444-1.
    Jpeg2000,
    /// SMPTE ST 2042-1 (Dirac Pro).
    Vc2,
    /// CCSDS 122.0-B.
    Ccsds122,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 3] = [Format::Jpeg2000, Format::Vc2, Format::Ccsds122];

    /// The spelling in a `.lift` file.
    pub fn name(self) -> &'static str {
        match self {
            Format::Jpeg2000 => "jpeg2000",
            Format::Vc2 => "vc2",
            Format::Ccsds122 => "ccsds122",
        }
    }
}

/// A validated wavelet.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    pub(crate) name: String,
    pub(crate) docs: Vec<String>,
    pub(crate) domain: Domain,
    pub(crate) boundary: Boundary,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) body: Body,
    pub(crate) steps: Vec<Step>,
    pub(crate) inverses: Inverses<Weight>,
}

impl Scheme {
    /// A wavelet of checked steps: no docs, no profiles, neither lattice nor bank.
    pub(crate) fn of_checked(name: String, domain: Domain, boundary: Boundary, steps: Vec<Step>) -> Scheme {
        let (docs, profiles) = (Vec::new(), Vec::new());
        Scheme { name, docs, domain, boundary, profiles, body: Body::Lifting, steps, inverses: Inverses::default() }
    }

    /// The identifier after `wavelet`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The lines of its doc comment, without `///` and one leading space.
    pub fn docs(&self) -> &[String] {
        &self.docs
    }

    /// Integer or real.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// The default border rule: the stated one, else `whole-symmetric`.
    pub fn boundary(&self) -> Boundary {
        self.boundary
    }

    /// The profiles: one for each format that adds to this wavelet.
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }

    /// The profile of one format.
    pub fn profile(&self, format: Format) -> Option<&Profile> {
        self.profiles.iter().find(|p| p.format == format)
    }

    /// Its form: steps, a lattice or a filter bank.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The lattice, if it was given as one or as a bank that factors into one.
    pub fn lattice(&self) -> Option<&Lattice<Weight>> {
        match &self.body {
            Body::Lattice { lattice, .. } | Body::Bank { factored: Factored::Lattice(lattice), .. } => Some(lattice),
            Body::Lifting | Body::Bank { factored: Factored::Lifting, .. } => None,
        }
    }

    /// The analysis steps, in order of execution; for a lattice or a bank, equivalent steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The synthesis steps: the analysis steps backwards with `+=` and `-=` exchanged, and every scaling by c
    /// replaced by a scaling by 1/c.
    pub fn inverse_steps(&self) -> Vec<Step> {
        inverse(&self.steps)
    }
}

/// The steps that undo `steps`: see [`Scheme::inverse_steps`].
pub fn inverse(steps: &[Step]) -> Vec<Step> {
    let undo = |step: &Step| match step {
        Step::Integer(s) => Step::Integer(IntegerStep { op: s.op.inverse(), ..s.clone() }),
        Step::Real(s) => Step::Real(RealStep { op: s.op.inverse(), ..s.clone() }),
        Step::Scale(s) => Step::Scale(ScaleStep { factor: s.factor.recip(), ..s.clone() }),
    };
    steps.iter().rev().map(undo).collect()
}
