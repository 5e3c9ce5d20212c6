//! One axis in registers: no barrier, and shared memory only for rows in flight.
//!
//! rewrite: a scheme along one axis → registers: no barrier, and shared memory only for rows in flight
//!
//! The passes for images with one transformed axis, and for the remaining axis of volumes: [`horizontal`] along
//! contiguous rows, [`vertical`] along any other axis. They have the parameters of every pass
//! ([`super::Pass::declare`]), but no loop over images: a launch takes at most [`MAX_BATCH`].
//!
//! Source: Kučis, Barina, Kula & Zemčík, "2-D Discrete Wavelet Transform Using GPU", 2014 (a thread computes several
//! pairs from its own loads, redundant at the seams, no barrier), after Błażewicz et al. 2012. Vectors, shuffles and
//! prefetched rows are ours.

pub mod horizontal;
pub mod vertical;

use super::lines::{Axis, Border, is_local};
use super::{Arithmetic, Options, ScheduleError, Sides};
use crate::action::Action;
use crate::ir::Scalar;
use lifting_dsl::{Boundary, Direction, Scheme};

/// Maximum images of a launch: blocks in z.
pub const MAX_BATCH: i64 = 65535;

/// Maximum samples of a line, and maximum lines of a launch: positions, halo included, are computed in 32 bits.
pub const MAX_SIDE: i64 = 1 << 30;

/// Whether the kernels require lines of even length and even first position. If no step reads beyond its own pair of
/// samples, such lines need no border rule, and the kernels have none.
pub fn needs_pairs(scheme: &Scheme, options: Options) -> bool {
    let actions = || Action::all(scheme, options.direction, options.boundary);
    options.boundary != Boundary::Periodic && actions().iter().all(is_local)
}

/// Parameters that both kernels derive from a scheme.
struct Line {
    /// The options, with border rule `zero` if every step stays within its pair.
    options: Options,
    arith: Arithmetic,
    border: Border,
    axis: Axis,
}

impl Line {
    fn new(scheme: &Scheme, options: Options) -> Result<Line, ScheduleError> {
        let arith = Arithmetic::of(scheme, options)?.in_registers();
        let axis = Axis::new(scheme, options);
        let steps = options.direction.steps(scheme);
        // A rule that no step reads extends nothing, as `zero` does.
        let (options, border) = if needs_pairs(scheme, options) {
            (Options { boundary: Boundary::Zero, ..options }, Border::Untouched)
        } else {
            (options, Border::of(options.boundary, &steps))
        };
        Ok(Line { options, arith, border, axis })
    }
}

/// Types that a kernel reads and writes.
fn in_and_out(direction: Direction, sides: Sides) -> [Scalar; 2] {
    match direction {
        Direction::Forward => [sides.signal, sides.bands],
        Direction::Inverse => [sides.bands, sides.signal],
    }
}
