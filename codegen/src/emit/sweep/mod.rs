//! Sweeps in C and Rust files: the parts that depend on the wavelet. The language's templates are the rest.

mod border;
mod c;
mod rust;
mod wide;

use super::{EmitError, Request};
use crate::ir::Scalar;
use crate::schedule::rows::Sweep;
use lifting_dsl::{Boundary, Direction};
pub(super) use wide::Language;
use wide::Wide;

/// Rows between two levels, per row pair of a turn: those of two turns.
const HANDED_TURNS: i32 = 4;

/// The sweeps of a file.
pub(super) struct Sweeps {
    /// Analysis and synthesis, per sample type.
    ways: Vec<[Sweep; 2]>,
    /// Their AVX-512 loops, where they have any.
    wide: Vec<Option<[Wide; 2]>>,
}

impl Sweeps {
    /// The sweeps of a request; `None` for the periodic border rule and for wavelets without steps.
    ///
    /// # Errors
    /// If a sample type is outside the wavelet's domain.
    pub(super) fn new(request: &Request, language: Language) -> Result<Option<Sweeps>, EmitError> {
        if request.boundary == Boundary::Periodic || request.scheme.steps().is_empty() {
            return Ok(None);
        }
        let sweep = |sample, direction| Sweep::new(request.scheme, request.options(sample, direction));
        let both = |&sample| Ok([sweep(sample, Direction::Forward)?, sweep(sample, Direction::Inverse)?]);
        let ways: Vec<[Sweep; 2]> = request.samples.iter().map(both).collect::<Result<_, EmitError>>()?;
        let wide = |(sample, [forward, inverse]): (&Scalar, &[Sweep; 2])| {
            let ways = Wide::new(forward, *sample, language)?.zip(Wide::new(inverse, *sample, language)?);
            Ok(ways.map(|(forward, inverse)| [forward, inverse]))
        };
        let wide = request.samples.iter().zip(&ways).map(wide).collect::<Result<_, EmitError>>()?;
        Ok(Some(Sweeps { ways, wide }))
    }

    /// The most rows that one level hands to the next: those of two turns, plus the lead of one phase.
    fn handed(&self) -> i32 {
        let ahead = self.all().map(|sweep| 2 * (sweep.delay[0] - sweep.delay[1]).abs()).max().unwrap_or(0);
        HANDED_TURNS * self.ways[0][0].pairs + ahead
    }

    /// Whether a sample type has AVX-512 loops.
    pub(super) fn is_wide(&self, index: usize) -> bool {
        self.wide[index].is_some()
    }

    /// All sweeps.
    fn all(&self) -> impl Iterator<Item = &Sweep> {
        self.ways.iter().flatten()
    }
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
