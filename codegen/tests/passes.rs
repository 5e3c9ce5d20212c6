//! Pass kernels on the interpreter against the oracle: every border rule, awkward sizes, both parities, every sample
//! type, both directions, batches and pitches.

use crate::lines::{self, Case, LENGTHS, Subject, is_legal};
use crate::testing::{compiled, full, ran_or_names_a_limit, types, wavelets};
use lifting_codegen::ir::{Kernel, Scalar};
use lifting_codegen::schedule::{Along, Options, ScheduleError, Sides, horizontal, lattice, registers, vertical};
use lifting_dsl::{Boundary, Direction, Domain, Scheme, testing};
use proptest::prelude::*;

/// The pass schedules. The one for whole vectors takes lattices only.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PassSchedule {
    Horizontal,
    Vertical,
    Lattice(Along, lattice::LatticeShape),
    /// Rows in registers: whether only aligned ones, and strips per warp.
    Lines(bool, u32),
    /// Columns in registers: the number per lane.
    Columns(u32),
}

const BOTH: [PassSchedule; 2] = [PassSchedule::Horizontal, PassSchedule::Vertical];

fn kernel(scheme: &Scheme, schedule: PassSchedule, options: Options) -> Result<Kernel, ScheduleError> {
    match schedule {
        PassSchedule::Horizontal => {
            horizontal::kernel(scheme, options, horizontal::HorizontalShape { threads: 64, pairs: 32 })
        }
        PassSchedule::Vertical => vertical::kernel(scheme, options),
        PassSchedule::Lines(aligned, strips) => {
            let sides = Sides::both(options.sample);
            let shape = registers::horizontal::RegisterRowShape {
                strips,
                ..registers::horizontal::RegisterRowShape::of(sides, aligned, 0)
            };
            registers::horizontal::kernel(scheme, options, sides, shape)
        }
        PassSchedule::Columns(columns) => {
            let shape = registers::vertical::RegisterColumnShape::of(columns, 132);
            registers::vertical::kernel(scheme, options, Sides::both(options.sample), shape)
        }
        PassSchedule::Lattice(along, shape) => {
            lattice::kernel(scheme, options, Sides::both(options.sample), along, shape)
        }
    }
}

fn check_type(scheme: &Scheme, schedule: PassSchedule, boundary: Boundary, case: Case, scalar: Scalar, seed: u64) {
    let along = match schedule {
        PassSchedule::Horizontal | PassSchedule::Lines(..) => Along::Row,
        PassSchedule::Vertical | PassSchedule::Columns(_) => Along::Column,
        PassSchedule::Lattice(along, _) => along,
    };
    let write = &|scheme: &Scheme, options| kernel(scheme, schedule, options);
    let subject = Subject { name: format!("{schedule:?}"), along, write, bound: None };
    lines::check_type(scheme, &subject, boundary, case, scalar, seed);
}

fn all(schedule: PassSchedule) {
    for scheme in wavelets() {
        for boundary in Boundary::ALL {
            for (i, length) in LENGTHS.into_iter().enumerate() {
                for parity in [0, 1] {
                    let case = Case::line(length, parity);
                    if !is_legal(boundary, &case) {
                        continue;
                    }
                    // The sample types take turns over the lengths; each meets every border rule and wavelet.
                    let types = types(&scheme);
                    for turn in 0..2 {
                        let scalar = types[(i + parity + turn * 2) % types.len()];
                        check_type(&scheme, schedule, boundary, case, scalar, length as u64);
                    }
                }
            }
        }
    }
}

#[test]
fn horizontal_equals_the_oracle() {
    all(PassSchedule::Horizontal);
}

#[test]
fn vertical_equals_the_oracle() {
    all(PassSchedule::Vertical);
}

#[test]
fn pitches_batches_and_many_lines() {
    for scheme in wavelets() {
        for schedule in BOTH {
            for (lines, batch, gap) in [(1, 3, 1), (33, 1, 5), (65, 2, 0), (3, 2, 7)] {
                let case = Case { length: 35, parity: 1, lines, batch, gap, gain: None };
                check_type(&scheme, schedule, Boundary::WholeSymmetric, case, types(&scheme)[0], 7);
                check_type(&scheme, schedule, Boundary::Edge, case, types(&scheme)[1], 8);
            }
        }
    }
}

/// Gains on samples that include both ends of their range: overflow wraps exactly where the language says.
#[test]
fn gain_shifts() {
    for scheme in wavelets().iter().filter(|s| s.domain() == Domain::Integer) {
        for schedule in BOTH {
            for (gain, parity) in [(0, 0), (1, 0), (1, 1), (3, 0)] {
                let case = Case { gain: Some(gain), ..Case::line(48, parity) };
                for scalar in types(scheme) {
                    check_type(scheme, schedule, Boundary::Edge, case, *scalar, gain.into());
                }
            }
        }
    }
}

/// Columns longer than a chunk, rows of several slices.
#[test]
fn long_lines() {
    for scheme in wavelets() {
        for schedule in BOTH {
            for boundary in Boundary::ALL {
                for (length, parity) in [(512, 0), (514, 0), (600, 1), (257, 1), (769, 0)] {
                    let case = Case { lines: 1, ..Case::line(length, parity) };
                    if is_legal(boundary, &case) {
                        check_type(&scheme, schedule, boundary, case, types(&scheme)[0], 11);
                    }
                }
            }
        }
    }
}

/// Lattices run stage by stage under the periodic rule, and as lifting steps under the others.
#[test]
fn lattices() {
    let compiled = lifting_dsl::compile(include_str!("../../lifting-dsl/tests/lattices.lift"));
    for scheme in compiled.expect("it compiles").schemes {
        for schedule in BOTH {
            for (i, length) in [2, 4, 6, 8, 10, 38, 66, 300].into_iter().enumerate() {
                for parity in [0, 1] {
                    let case = Case { lines: [1, 3, 40][i % 3], batch: 1 + i % 2, ..Case::line(length, parity) };
                    check_type(&scheme, schedule, Boundary::Periodic, case, types(&scheme)[i % 4], length as u64);
                    check_type(
                        &scheme,
                        schedule,
                        Boundary::ALL[i % Boundary::ALL.len()],
                        case,
                        types(&scheme)[0],
                        length as u64,
                    );
                }
            }
        }
    }
}

/// The schedules in registers that take a case: unaligned rows, aligned rows, and columns, with the most and the fewest
/// per lane.
fn in_registers(case: &Case, scalar: Scalar) -> Vec<PassSchedule> {
    let sides = Sides::both(scalar);
    let vector = 16 / scalar.bytes();
    let aligned = case.parity == 0 && case.gap.is_multiple_of(vector) && case.length.is_multiple_of(2 * vector);
    let columns: Vec<u32> = registers::vertical::RegisterColumnShape::candidates(Direction::Forward, sides)
        .filter(|&c| case.lines.is_multiple_of(c as usize) && case.gap.is_multiple_of(c as usize))
        .collect();
    let ends = [columns.first(), columns.last().filter(|_| columns.len() > 1)];
    let columns = ends.into_iter().flatten().map(|&c| PassSchedule::Columns(c));
    let aligned = if aligned { [1, 2, 4].map(|n| PassSchedule::Lines(true, n)).to_vec() } else { Vec::new() };
    [PassSchedule::Lines(false, 1), PassSchedule::Lines(false, 3)].into_iter().chain(aligned).chain(columns).collect()
}

/// Passes in registers, on all cases of the shared-memory passes that they take.
#[test]
fn registers_equal_the_oracle() {
    let haar = lifting_dsl::compile(lifting_filters::find("cdf1_1").expect("in the catalogue").source);
    let haar = haar.expect("the catalogue compiles").schemes.into_iter().find(|s| s.name() == "cdf1_1");
    let mut counts = [0; 4];
    for scheme in wavelets().into_iter().chain(haar) {
        for boundary in Boundary::ALL {
            for (i, length) in LENGTHS.into_iter().chain([512, 600, 1024, 2080]).enumerate().skip(1) {
                // One of the parities; both with `LIFTING_FULL=1`.
                for parity in [0, 1].into_iter().filter(|parity| full() || (i + boundary as usize) % 2 == *parity) {
                    let types = types(&scheme);
                    let scalar = types[(i + parity + boundary as usize / 2) % types.len()];
                    // A long row runs alone.
                    let (lines, gap) = match length {
                        512.. => [(1, 0), (8, 16)][(i + parity) % 2],
                        _ => [(1, 0), (4, 0), (8, 16), (33, 3), (264, 8)][(i + parity) % 5],
                    };
                    let gain = (scheme.domain() == Domain::Integer && i % 3 == 0).then_some(i as u32 % 2);
                    let case = Case { lines, gap, batch: 1 + i % 2, gain, ..Case::line(length, parity) };
                    let options = Options::new(scalar, boundary, Direction::Forward);
                    let pairs = length % 2 == 0 && parity == 0;
                    if !is_legal(boundary, &case) || registers::needs_pairs(&scheme, options) && !pairs {
                        continue;
                    }
                    for schedule in in_registers(&case, scalar) {
                        // A walk down columns refuses the rule.
                        if boundary == Boundary::HalfSymmetric && matches!(schedule, PassSchedule::Columns(_)) {
                            continue;
                        }
                        counts[match schedule {
                            PassSchedule::Lines(aligned, _) => usize::from(aligned),
                            PassSchedule::Columns(columns) => 2 + usize::from(columns > 1),
                            _ => unreachable!("not in registers"),
                        }] += 1;
                        check_type(&scheme, schedule, boundary, case, scalar, length as u64);
                    }
                }
            }
        }
    }
    assert!(counts.iter().all(|&n| n > 20), "{counts:?}");
}

/// Only the shared-memory pass along columns takes asymmetric steps: its windows serve each read.
#[test]
fn registers_refuse_in_words() {
    let options = |boundary| Options::new(Scalar::F32, boundary, Direction::Forward);
    let refused = |name: &str, boundary, schedule| {
        let scheme = compiled(lifting_filters::find(name).expect("in the catalogue"));
        kernel(&scheme, schedule, options(boundary)).expect_err("it is refused").to_string()
    };
    assert_eq!(
        [
            refused("cdf1_3", Boundary::WholeSymmetric, PassSchedule::Columns(4)),
            refused("cdf97", Boundary::HalfSymmetric, PassSchedule::Columns(4)),
            refused("cdf97", Boundary::Zero, PassSchedule::Columns(8)),
        ],
        [
            "schedule `vertical_registers` cannot hold wavelet `cdf1_3`: asymmetric steps \
             under whole-symmetric: 2 required, 0 available; use another schedule",
            "schedule `vertical_registers` cannot hold wavelet `cdf97`: steps under half-symmetric: 6 required, 0 \
             available; use another schedule",
            "schedule `vertical_registers` cannot have this shape: columns a lane: found 8, must be 1, 2 or 4",
        ]
    );
}

/// Lattices in registers, where stages meet lanes and windows.
#[test]
fn lattices_in_registers() {
    let texts = [
        include_str!("../../lifting-dsl/tests/lattices.lift"),
        include_str!("../../lifting-dsl/tests/orthogonal.lift"),
    ];
    let mut ran = 0;
    let schemes = texts.into_iter().flat_map(|text| lifting_dsl::compile(text).expect("it compiles").schemes);
    for (s, scheme) in schemes.enumerate() {
        for (i, length) in [2, 4, 6, 10, 38, 130, 300].into_iter().enumerate() {
            // One of the parities; both with `LIFTING_FULL=1`.
            for parity in [0, 1].into_iter().filter(|parity| full() || (i + s) % 2 == *parity) {
                let scalar = types(&scheme)[(i + s / 2) % 4];
                let (lines, gap) = [(1, 0), (8, 16), (33, 3), (264, 8)][(i + parity) % 4];
                let case = Case { lines, gap, batch: 1 + i % 2, ..Case::line(length, parity) };
                for schedule in in_registers(&case, scalar) {
                    ran += 1;
                    check_type(&scheme, schedule, Boundary::Periodic, case, scalar, length as u64);
                }
            }
        }
    }
    assert!(ran > 200, "only {ran} cases");
}

/// Blocks of whole vectors: proposed shapes, and awkward ones.
#[test]
fn lattices_of_whole_vectors() {
    let compiled = lifting_dsl::compile(include_str!("../../lifting-dsl/tests/lattices.lift"));
    for scheme in compiled.expect("it compiles").schemes {
        for (i, length) in [2, 4, 6, 8, 10, 38, 66, 300, 2062].into_iter().enumerate() {
            for along in [Along::Row, Along::Column] {
                for parity in [0, 1] {
                    let scalar = types(&scheme)[(i + parity) % 4];
                    let work = if scalar == Scalar::F64 { Scalar::F64 } else { Scalar::F32 };
                    let proposed = lattice::LatticeShape::for_length(&scheme, along, length, work).expect("it fits");
                    let needed = length as u32 / 2;
                    let awkward = lattice::LatticeShape { vectors: 3, threads: 7, pairs: needed.div_ceil(7) };
                    for shape in [proposed, awkward].into_iter().filter(|s| s.capacity() < 1200) {
                        let case = Case {
                            lines: [1, 3, 40][i % 3],
                            batch: 1 + i % 2,
                            gap: i % 3,
                            ..Case::line(length, parity)
                        };
                        let schedule = PassSchedule::Lattice(along, shape);
                        check_type(&scheme, schedule, Boundary::Periodic, case, scalar, length as u64);
                    }
                }
            }
        }
    }
}

#[test]
fn whole_vectors_are_lattices_that_fit() {
    let compiled = lifting_dsl::compile(include_str!("../../lifting-dsl/tests/lattices.lift"));
    let scheme = &compiled.expect("it compiles").schemes[1];
    for along in [Along::Row, Along::Column] {
        for (work, most) in [(Scalar::F32, 24576), (Scalar::F64, 12288)] {
            for length in (2..64).chain((64..=most).step_by(274)).chain([most]) {
                let shape = lattice::LatticeShape::for_length(scheme, along, length, work).expect("it fits");
                let lattice::LatticeShape { vectors, threads, pairs } = shape;
                assert!(shape.capacity() as usize >= length / 2, "{length}: {shape:?}");
                let bytes = vectors * threads * pairs * work.bytes() as u32;
                assert!(vectors * threads <= 768 && bytes <= 48 << 10 && pairs <= 16, "{length}: {shape:?}");
            }
            let error = lattice::LatticeShape::for_length(scheme, along, most + 2, work).expect_err("it does not fit");
            assert!(error.to_string().contains(&format!("{} required, {most} available", most + 2)), "{error}");
        }
    }
    let shape = lattice::LatticeShape { vectors: 1, threads: 32, pairs: 4 };
    let refused = |scheme: &Scheme, boundary, shape| {
        let options = Options::new(Scalar::F32, boundary, Direction::Forward);
        let error = lattice::kernel(scheme, options, Sides::both(Scalar::F32), Along::Row, shape);
        error.expect_err("it is refused").to_string()
    };
    let [_, _, cdf97] = wavelets();
    let many = lattice::LatticeShape { vectors: 33, ..shape };
    let large = lattice::LatticeShape { pairs: 385, ..shape };
    let texts = [
        refused(&cdf97, Boundary::Periodic, shape),
        refused(scheme, Boundary::Zero, shape),
        refused(scheme, Boundary::Periodic, many),
        refused(scheme, Boundary::Periodic, lattice::LatticeShape { pairs: 0, ..shape }),
        refused(scheme, Boundary::Periodic, large),
    ];
    let expected = [
        "schedule `lattice` cannot run this launch: `cdf97` is not written as a lattice; use another schedule",
        "schedule `lattice` cannot run this launch: under zero a lattice runs as lifting steps; use another schedule",
        "schedule `lattice` cannot have this shape: threads a block: found 1056, must be 1 to 1024",
        "schedule `lattice` cannot have this shape: pairs a thread: found 0, must be at least 1",
        "schedule `lattice` cannot hold wavelet `pair`: bytes of shared memory for a block's vectors: \
         49280 required, 49152 available; use another schedule",
    ];
    assert_eq!(texts, expected);
}

/// Steps from which on only every eighth wavelet of the catalogue is tested.
const LONG: usize = 12;

/// The wavelets of the catalogue, under their own border rule and one other.
#[test]
fn the_catalogue() {
    for (i, entry) in lifting_filters::CATALOGUE.iter().enumerate() {
        let scheme = &compiled(entry);
        if scheme.steps().len() > LONG && i % 8 != 0 && !full() {
            continue;
        }
        for schedule in BOTH {
            for (length, parity) in [(1, 1), (2, 0), (6, 1), (38, 0), (70, 0), (77, 1)] {
                let case = Case { lines: 1, ..Case::line(length, parity) };
                for boundary in [scheme.boundary(), Boundary::ALL[i % Boundary::ALL.len()]] {
                    if !is_legal(boundary, &case) {
                        continue;
                    }
                    let sample = types(scheme)[i % types(scheme).len()];
                    let options = Options::new(sample, boundary, Direction::Forward);
                    if ran_or_names_a_limit(scheme, kernel(scheme, schedule, options).map(|_| true)) {
                        check_type(scheme, schedule, boundary, case, sample, i as u64);
                    } else {
                        // Only if a level reads further than a warp is wide.
                        let supports = scheme.steps().iter().filter_map(|step| step.index_support());
                        let halo: i32 = supports.map(|(lo, hi)| hi.max(0) - lo.min(0)).sum();
                        assert!(halo > 32, "{} {schedule:?} {boundary}: {halo}", scheme.name());
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn random_schemes(
        scheme in prop_oneof![testing::any_scheme(Domain::Integer), testing::any_scheme(Domain::Real)],
        length in 1usize..=140,
        parity in 0usize..=1,
        which in 0usize..4,
        seed in any::<u64>(),
    ) {
        let case = Case { lines: 1, ..Case::line(length, parity) };
        let types = types(&scheme);
        let case = Case { lines: 2, ..case };
        let options = Options::new(types[which % types.len()], scheme.boundary(), Direction::Forward);
        let pairs = length % 2 == 0 && parity == 0;
        let takes = length > 1 && (pairs || !registers::needs_pairs(&scheme, options));
        let in_registers = if takes { in_registers(&case, options.sample) } else { Vec::new() };
        for schedule in BOTH.into_iter().chain(in_registers) {
            let boundary = scheme.boundary();
            if !is_legal(boundary, &case) {
                continue;
            }
            // Windows of the two directions differ.
            let both = [Direction::Forward, Direction::Inverse].map(|direction| Options { direction, ..options });
            match both.into_iter().try_for_each(|options| kernel(&scheme, schedule, options).map(drop)) {
                Ok(()) => check_type(&scheme, schedule, boundary, case, options.sample, seed),
                // A window may be too tall for shared memory or registers; the error says so.
                Err(ScheduleError::Reach { required, available, .. }) => prop_assert!(required > available),
                Err(e) => return Err(TestCaseError::fail(e.to_string())),
            }
        }
    }
}
