//! The schedules of passes on the interpreter against the oracle, or the exact filter bank: lines of all lengths, of
//! several slices, and of several windows.

use crate::filter_bank::beyond_rounding;
use crate::lines::{Bound, Case, LENGTHS, Subject, check_type, is_legal};
use crate::testing::{types, wavelets};
use lifting_codegen::ir::Scalar;
use lifting_codegen::schedule::{Along, AxisSchedule, Options, Sides};
use lifting_dsl::{Boundary, Domain, Scheme};
use papers::passes;

/// Whether a filter bank takes one of [`wavelets`]; its refusals are tested there.
fn is_filtered(scheme: &Scheme, boundary: Boundary) -> bool {
    scheme.domain() == Domain::Real && matches!(boundary, Boundary::WholeSymmetric | Boundary::Periodic)
}

/// A schedule along an axis, as a subject of [`check_type`].
fn check_passes(
    scheme: &Scheme,
    (schedule, along): (&dyn AxisSchedule, Along),
    boundary: Boundary,
    case: Case,
    scalar: Scalar,
) {
    let write =
        &|scheme: &Scheme, options: Options| schedule.kernel(scheme, options, Sides::both(options.sample), along);
    let bound = (!schedule.has_lifting_bits()).then_some(beyond_rounding as Bound);
    let subject = Subject { name: format!("{} {along:?}", schedule.name()), along, write, bound };
    check_type(scheme, &subject, boundary, case, scalar, case.length as u64);
}

/// Two lines of one length and parity, along rows.
pub fn check_rows(
    scheme: &Scheme,
    schedule: &dyn AxisSchedule,
    boundary: Boundary,
    (length, parity): (usize, usize),
    scalar: Scalar,
) {
    let case = Case::line(length, parity);
    check_passes(scheme, (schedule, Along::Row), boundary, case, scalar);
}

/// The schedules of papers and baselines: lines of all lengths, of several slices, and of several windows.
#[test]
fn passes_equal_the_oracle() {
    // The first and the last shape of each method; tests of plans run all.
    let ends = |shapes: Vec<&'static dyn AxisSchedule>| [shapes[0], shapes[shapes.len() - 1]];
    for schedule in passes().into_iter().flat_map(|(_, shapes)| ends(shapes)) {
        // Schedules that transpose run along rows for both axes.
        let alongs = if schedule.transposes() { &[Along::Row][..] } else { &[Along::Row, Along::Column] };
        for &along in alongs {
            for scheme in wavelets() {
                for (i, boundary) in Boundary::ALL.into_iter().enumerate() {
                    if !schedule.has_lifting_bits() && !is_filtered(&scheme, boundary) {
                        continue;
                    }
                    let long = if along == Along::Row { [2048, 4099, 513] } else { [192, 131, 260] };
                    let lengths = LENGTHS.iter().copied().enumerate().filter(|(j, _)| (i + j) % 2 == 0);
                    for (j, length) in lengths.chain(long.into_iter().enumerate()) {
                        let case = Case {
                            lines: [2, 3, 35][j % 3],
                            batch: 1 + j % 2,
                            gap: j % 3,
                            gain: None,
                            ..Case::line(length, j / 2 % 2)
                        };
                        let case = if length > 260 { Case { lines: 1, ..case } } else { case };
                        if is_legal(boundary, &case) {
                            let scalar = types(&scheme)[j % types(&scheme).len()];
                            check_passes(&scheme, (schedule, along), boundary, case, scalar);
                        }
                    }
                }
            }
        }
    }
}
