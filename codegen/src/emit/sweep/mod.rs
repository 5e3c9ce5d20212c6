//! Sweeps in C and Rust files: the parts that depend on the wavelet. The language's templates are the rest.

mod border;
pub(super) mod c;
mod order;
mod rust;
mod steps;

use super::{EmitError, Request};
use crate::ir::Scalar;
use crate::schedule::rows::{BLOCK_BYTES, Sweep};
use lifting_dsl::{Boundary, Direction};
use order::{Along, Down};
use steps::Arithmetic;

/// Rows between two levels, per row pair of a turn: those of two turns.
const HANDED_TURNS: i32 = 4;

/// The sweeps of a file.
pub(super) struct Sweeps {
    /// Analysis and synthesis, per sample type.
    ways: Vec<[Sweep; 2]>,
    /// Different steps, each once for both directions.
    steps: Vec<Form>,
    /// Steps of analysis and synthesis: index in `steps`, and sign.
    uses: [Vec<(usize, Option<char>)>; 2],
    /// Steps of a turn down columns.
    downs: [Option<Down>; 2],
    /// Steps along a row, where some sample type has turns in registers.
    forms: Option<[Along; 2]>,
    /// Sample types that have turns in registers.
    in_registers: Vec<bool>,
}

/// A step, for both directions.
struct Form {
    /// Name: `PREDICT`, or `PREDICT_2`.
    name: String,
    /// Description.
    text: String,
    /// Arithmetic on each sample type.
    arithmetic: Vec<Arithmetic>,
    /// Arithmetic on each sample type, in Rust.
    rust: Vec<Arithmetic>,
}

impl Sweeps {
    /// The sweeps of a request; `None` for the periodic border rule and for wavelets without steps.
    ///
    /// # Errors
    /// If a sample type is outside the wavelet's domain.
    pub(super) fn new(request: &Request) -> Result<Option<Sweeps>, EmitError> {
        if request.boundary == Boundary::Periodic || request.scheme.steps().is_empty() {
            return Ok(None);
        }
        let sweep = |sample, direction| Sweep::new(request.scheme, request.options(sample, direction));
        let both = |&sample| Ok([sweep(sample, Direction::Forward)?, sweep(sample, Direction::Inverse)?]);
        let ways: Vec<[Sweep; 2]> = request.samples.iter().map(both).collect::<Result<_, EmitError>>()?;
        let (steps, uses) = forms(request.samples, &ways)?;
        let downs = [0, 1].map(|way| Down::new(&ways[0][way]));
        let alongs = [0, 1].map(|way| Along::new(&ways[0][way]));
        let in_registers: Vec<bool> = (request.samples.iter().enumerate())
            .map(|(i, sample)| {
                let lanes = 64 / sample.bytes() as i32;
                downs.iter().all(Option::is_some)
                    && steps.iter().all(|step| step.arithmetic[i].is_narrow)
                    && alongs.iter().zip(&ways[0]).all(|(along, sweep)| along.fits(sweep, lanes))
            })
            .collect();
        let forms = in_registers.contains(&true).then_some(alongs);
        Ok(Some(Sweeps { ways, steps, uses, downs, forms, in_registers }))
    }

    /// The steps of a request under the periodic border rule, as Rust files have them; `None` for other rules and for
    /// wavelets without steps. Steps do not depend on the border rule.
    ///
    /// # Errors
    /// If a sample type is outside the wavelet's domain.
    pub(super) fn cyclic(request: &Request) -> Result<Option<Sweeps>, EmitError> {
        if request.boundary != Boundary::Periodic || request.scheme.stages(request.boundary).is_some() {
            return Ok(None);
        }
        let sweeps = Sweeps::new(&Request { boundary: Boundary::HalfSymmetric, ..*request })?;
        Ok(sweeps.map(|sweeps| Sweeps { forms: None, ..sweeps }))
    }

    /// The most rows that one level hands to the next: those of two turns, plus the lead of one phase.
    fn handed(&self) -> i32 {
        let ahead = self.all().map(|sweep| 2 * (sweep.delay[0] - sweep.delay[1]).abs()).max().unwrap_or(0);
        HANDED_TURNS * self.ways[0][0].pairs + ahead
    }

    /// Whether a sample type has turns in registers.
    pub(super) fn is_wide(&self, index: usize) -> bool {
        self.in_registers[index]
    }

    /// Whether any sample type has turns in registers.
    pub(super) fn has_registers(&self) -> bool {
        self.forms.is_some()
    }

    /// Whether all sample types have turns in registers.
    pub(super) fn all_have_registers(&self) -> bool {
        !self.in_registers.contains(&false)
    }

    /// Bytes of one phase of a row that are lifted at a time.
    fn block_bytes(&self) -> usize {
        self.all().map(|sweep| sweep.margin as usize * 8).max().unwrap_or(0).max(BLOCK_BYTES)
    }

    /// A step of a direction.
    fn form(&self, way: usize, index: usize) -> &Form {
        &self.steps[self.uses[way][index].0]
    }

    /// The sign of a step of a direction.
    fn sign(&self, way: usize, index: usize) -> Option<char> {
        self.uses[way][index].1
    }

    /// The most samples that a step reads; at least 1.
    fn reads(&self) -> usize {
        let steps = self.all().flat_map(|sweep| &sweep.steps);
        steps.map(|step| step.offsets.len()).max().unwrap_or(0).max(1)
    }

    /// All sweeps.
    fn all(&self) -> impl Iterator<Item = &Sweep> {
        self.ways.iter().flatten()
    }
}

/// Steps of analysis and synthesis: indices of forms, and signs.
type Uses = [Vec<(usize, Option<char>)>; 2];

/// The different steps of both directions, and their uses.
fn forms(samples: &[Scalar], ways: &[[Sweep; 2]]) -> Result<(Vec<Form>, Uses), EmitError> {
    let (mut steps, mut uses): (Vec<Form>, Uses) = (Vec::new(), Default::default());
    for way in 0..2 {
        for (index, step) in ways[0][way].steps.iter().enumerate() {
            let of = samples.iter().zip(ways).map(|(s, ways)| Arithmetic::new(&ways[way].steps[index], *s));
            let of: Vec<[Arithmetic; 2]> = of.collect::<Result<_, _>>()?;
            let (arithmetic, rust): (Vec<_>, Vec<_>) = of.into_iter().map(|[c, rust]| (c, rust)).unzip();
            let sign = arithmetic[0].sign;
            // Both directions share a step that only adds or subtracts the same sum.
            let same = |form: &Form| {
                let pairs = || form.arithmetic.iter().zip(&arithmetic);
                pairs().all(|(a, b)| Arithmetic { sign: b.sign, ..a.clone() } == *b)
                    && pairs().all(|(a, b)| a.sign.is_some() == b.sign.is_some())
            };
            let at = steps.iter().position(same).unwrap_or_else(|| {
                let kind = c::step_kind(step);
                let number = 1 + steps.iter().filter(|form: &&Form| form.name.starts_with(kind)).count();
                let name = if number == 1 { kind.to_owned() } else { format!("{kind}_{number}") };
                steps.push(Form { name, text: step.text.clone(), arithmetic, rust });
                steps.len() - 1
            });
            uses[way].push((at, sign));
        }
    }
    Ok((steps, uses))
}

/// Notes on a file's schedule. `fast` says how to compile it for speed.
pub(super) fn schedule(sweeps: bool, fast: &[&str]) -> Vec<String> {
    let lines = if sweeps {
        let sweeps = [
            "Schedule: rows. Levels of the last two axes are one sweep over the rows, in a ring buffer that stays",
            "in cache; other transforms go axis by axis (rows in scratch memory, columns in a sliding window).",
        ];
        [&sweeps, fast].concat()
    } else {
        vec!["Schedule: rows (one thread; rows in scratch memory, columns in a sliding window)."]
    };
    lines.iter().map(|line| line.to_string()).collect()
}

/// Whether no step reads anything, because all are scalings. Compilers warn about unused parameters.
fn is_unread(sweep: &Sweep) -> bool {
    sweep.steps.iter().all(|step| step.offsets.is_empty())
}
