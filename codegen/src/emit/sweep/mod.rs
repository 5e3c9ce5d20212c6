//! Sweeps in C and Rust files: what depends on the wavelet. The text around it is the languages'.

mod c;
mod rust;
mod wide;

use super::{EmitError, Request};
use crate::ir::Scalar;
use crate::schedule::Direction;
use crate::schedule::rows::Sweep;
use lifting_dsl::Boundary;
pub(super) use wide::Language;
use wide::Wide;

/// Rows that one level hands to the next, at most so many at a time: those of two turns.
const HANDED_TURNS: i32 = 4;

/// The sweeps of a file.
pub(super) struct Sweeps {
    /// For each sample type, analysis and synthesis.
    ways: Vec<[Sweep; 2]>,
    /// And their loops in wide registers, where these can have them.
    wide: Vec<Option<[Wide; 2]>>,
}

impl Sweeps {
    /// None if the border rule has none, or there is nothing to do.
    ///
    /// # Errors
    /// If a sample type is not of the wavelet's domain.
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

    /// Rows that one level hands to the next, at most: those of two turns, and what one phase is ahead of the other.
    fn handed(&self) -> i32 {
        let ahead = self.all().map(|sweep| 2 * (sweep.delay[0] - sweep.delay[1]).abs()).max().unwrap_or(0);
        HANDED_TURNS * self.ways[0][0].pairs + ahead
    }

    /// All sweeps.
    fn all(&self) -> impl Iterator<Item = &Sweep> {
        self.ways.iter().flatten()
    }
}

/// What a file says of how it goes about it; `fast` is how it is fast.
pub(super) fn schedule(sweeps: bool, fast: &[&str]) -> Vec<String> {
    let lines = if sweeps {
        let sweeps = [
            "Schedule: rows. Levels of the last two axes are one sweep over their rows, in a ring of rows that stays",
            "in cache; all other transforms go axis by axis (rows in scratch memory, columns in a sliding window).",
        ];
        [&sweeps, fast].concat()
    } else {
        vec!["Schedule: rows (one thread; rows in scratch memory, columns in a sliding window)."]
    };
    lines.iter().map(|line| line.to_string()).collect()
}

/// Whether no step reads anything: all of them are scalings. Compilers warn of parameters that nobody uses.
fn is_unread(sweep: &Sweep) -> bool {
    sweep.steps.iter().all(|step| step.offsets.is_empty())
}
