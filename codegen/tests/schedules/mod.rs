//! Every schedule of a table on the interpreter against the oracle: all border rules, awkward sizes, origins, sample
//! types, both directions, orders of axes, lengths of chunks, alignments, batches, gains.
//!
//! A schedule declares its blocks ([`Fit::block`]) and its small shapes
//! ([`Schedule::miniatures`](lifting_codegen::schedule::Schedule::miniatures)); the sizes around its blocks follow.
//! Each schedule's own folder tests its refusals and proposals. The table is the program's `SCHEDULES`: those of this
//! crate, or of another that includes this file.

pub mod launch;

use crate::testing::{bits, types, uncommon, wavelets};
use crate::{ANY_WARP, SCHEDULES};
use launch::{Case, Kernels, Outcome, Rows, Try};
use lifting_codegen::ir::Scalar;
use lifting_codegen::machine::Machine;
use lifting_codegen::schedule::level::{Array, Job, Order};
use lifting_codegen::schedule::{Extent, Field, LaunchSchedule, Options, Shape};
use lifting_dsl::{Boundary, Direction, Domain, Scheme, testing};
use proptest::prelude::*;

pub type Of = &'static dyn LaunchSchedule;

const ORDERS: [Order; 2] = [Order::HorizontalFirst, Order::VerticalFirst];

fn options(sample: Scalar, boundary: Boundary) -> Options {
    Options::new(sample, boundary, Direction::Forward)
}

/// Its name, padded to a column.
fn column(schedule: Of) -> String {
    format!("{:7} ", schedule.name())
}

/// The first miniature.
pub fn small(schedule: Of, scheme: &Scheme, sample: Scalar, boundary: Boundary) -> Option<Shape> {
    schedule.miniatures(scheme, options(sample, boundary)).into_iter().next()
}

/// The shapes that plans consider for a large image or volume.
pub fn proposed(schedule: Of, scheme: &Scheme, sample: Scalar, boundary: Boundary) -> Vec<Shape> {
    let array = Array { address: 0, pitch: 512, stride: 0 };
    let job = Job::image(array, [array; 4], 512, 512);
    schedule.proposed(scheme, options(sample, boundary), &job, &Machine::default()).unwrap_or_default()
}

/// Columns and rows of a block, and a lane's columns, if the shape holds the scheme.
fn block(shape: Shape, scheme: &Scheme, sample: Scalar, boundary: Boundary) -> Option<[usize; 3]> {
    let schedule = shape.schedule();
    let mut fits = schedule.alignments().iter().rev().filter_map(|&rows| {
        let fit = schedule.fit(scheme, options(sample, boundary), shape, rows).ok()?;
        Some(fit.block())
    });
    let [columns, rows] = fits.next()?.map(|n| n as usize);
    Some([columns, rows, shape.get(Field::COLUMNS.name).unwrap_or(2) as usize])
}

/// The least awkward size: two blocks along either axis, if a schedule can have several.
fn two_blocks(schedule: Of, [columns, rows, lane]: [usize; 3]) -> [usize; 3] {
    match schedule.extent() {
        Extent::Plane if schedule.holds_whole() => [1, rows, columns - 2],
        Extent::Plane | Extent::TwoLevels => [1, (rows + 2).next_multiple_of(4), columns + lane],
        Extent::AllLevels => [1, rows, columns - 2],
        Extent::Volume => [6, rows + 2, columns + lane],
    }
}

/// Sizes around one block and two, and inside a third; if a block holds a whole image, sizes up to that.
fn around(schedule: Of, [columns, rows, lane]: [usize; 3]) -> [[usize; 2]; 10] {
    let (r, c) = (rows, columns);
    if schedule.holds_whole() {
        let [h, w] = [r / 2, c / 2];
        return [
            [r, c],
            [r - 1, c],
            [r, c - 1],
            [2, c],
            [r, 3],
            [r - 2, 7],
            [h, w],
            [h - 1, w + 1],
            [h, c],
            [r - 3, c - 2],
        ];
    }
    let widths = [c - lane, c - 1, c, c + 1, c + lane, 2 * c - lane, 2 * c - 1, 2 * c, 2 * c + lane, 3 * c];
    let heights = [2 * r, r - 1, r + 1, r, 2, 2 * r + 1, r + 2, 2 * r - 1, r.saturating_sub(2), 3 * r];
    std::array::from_fn(|i| [heights[i].max(2), widths[i].max(2)])
}

/// Sizes that give awkward ends of blocks, windows and lanes.
const SMALL: [[usize; 2]; 17] = [
    [2, 2],
    [2, 3],
    [3, 2],
    [40, 2],
    [2, 40],
    [4, 4],
    [7, 5],
    [8, 8],
    [13, 9],
    [10, 12],
    [6, 16],
    [16, 17],
    [36, 24],
    [33, 31],
    [34, 32],
    [21, 39],
    [40, 40],
];

/// Depths to go with them.
const DEPTHS: [usize; 7] = [2, 3, 5, 4, 8, 9, 6];

/// Sides of an image or volume for a schedule under a border rule.
fn sized(schedule: Of, boundary: Boundary, [height, width]: [usize; 2], turn: usize) -> [usize; 3] {
    let depth = DEPTHS[turn % DEPTHS.len()];
    match (schedule.extent(), boundary) {
        (Extent::Volume, Boundary::Periodic) => [depth.next_multiple_of(2), height, width],
        (Extent::Volume, _) => [depth, height, width],
        (Extent::TwoLevels, Boundary::Periodic) => [1, height.next_multiple_of(4), width],
        _ => [1, height, width],
    }
}

/// A case of this size, whose other properties follow from a number. The schedule may take all of them. The order of
/// axes is fixed for a type and a border rule, so that many cases share a kernel.
pub fn any_case(schedule: Of, (scalar, boundary): (Scalar, Boundary), sides: [usize; 3], turn: usize) -> Case {
    let mut bits = bits(turn as u64);
    let mut pick = move |n: u64| (bits() % n) as usize;
    let periodic = boundary == Boundary::Periodic;
    let mut parity = if pick(2) == 0 { [pick(2), 0, 0] } else { [pick(2), pick(2), pick(2)] };
    let mut rows = [Rows::Anywhere, Rows::OfImageAligned, Rows::Aligned][pick(3)];
    if periodic {
        parity[2] = 0;
        rows = [rows, Rows::Aligned][pick(2)];
    }
    let case = Case {
        parity,
        rows,
        order: ORDERS[(scalar as usize + boundary as usize) % 2],
        chunk: [1, 3, 8, 64, 0][pick(5)],
        ..Case::new(sides)
    };
    let most = sides[1].min(sides[2]).saturating_sub(1).max(1).ilog2() + 1;
    match schedule.extent() {
        Extent::Plane => Case { parity: [0, parity[1], parity[2]], ..case },
        Extent::Volume => case,
        Extent::TwoLevels => Case { parity: [0; 3], rows: Rows::Aligned, ..case },
        Extent::AllLevels => Case { parity: [0; 3], levels: 1 + pick(most.into()) as u32, ..case },
    }
}

/// Runs tries; returns how many ran.
pub fn ran(scheme: &Scheme, tries: &[Try]) -> usize {
    launch::run(scheme, tries).iter().filter(|outcome| outcome.ran()).count()
}

/// Runs tries that a schedule must take, unless no shape holds the scheme or a periodic border cuts a pair.
fn all_run(scheme: &Scheme, tries: &[Try]) -> Vec<Outcome> {
    let outcomes = launch::run(scheme, tries);
    for (one, outcome) in tries.iter().zip(&outcomes) {
        let schedule = one.shape.schedule();
        let takes_all = matches!(schedule.extent(), Extent::Plane | Extent::Volume) && !schedule.holds_whole();
        let must = takes_all && one.boundary != Boundary::Periodic;
        assert!(!must || outcome.ran() || outcome.beyond_limits, "{} {one:?}: {outcome:?}", scheme.name());
    }
    outcomes
}

/// One line per schedule, wavelet and border rule: tries that ran, launches, and tries in shapes that do not hold the
/// scheme.
fn counted(of: impl Fn(Of, &Scheme, Boundary) -> Vec<Try>, schemes: &[Scheme]) -> String {
    let mut text = String::new();
    for &schedule in SCHEDULES {
        for scheme in schemes {
            text += &format!("{}{:10}", column(schedule), scheme.name());
            for boundary in Boundary::ALL {
                let tries = of(schedule, scheme, boundary);
                let outcomes = all_run(scheme, &tries);
                let ran = outcomes.iter().filter(|outcome| outcome.ran()).count();
                let launches: usize = outcomes.iter().flat_map(|outcome| outcome.launches).sum();
                let beyond = outcomes.iter().filter(|outcome| outcome.beyond_limits).count();
                text += &format!(" {ran:3} of {:3} in {launches:3}", tries.len());
                text += &if beyond > 0 { format!(" ({beyond:2} refused)") } else { " ".repeat(13) };
            }
            text = text.trim_end().to_owned() + "\n";
        }
    }
    text
}

/// Small images and volumes, whose blocks are rarely whole, in every schedule that takes them.
#[test]
fn small_sizes() {
    let of = |schedule: Of, scheme: &Scheme, boundary| {
        let sizes = if schedule.extent() == Extent::TwoLevels { &[][..] } else { &SMALL };
        let one = |(i, &size): (usize, &[usize; 2])| {
            let scalar = types(scheme)[i % types(scheme).len()];
            let (turn, shape) = (31 * i + boundary as usize, small(schedule, scheme, scalar, boundary)?);
            let case = any_case(schedule, (scalar, boundary), sized(schedule, boundary, size, turn), turn);
            Some(Try { shape, boundary, scalar, case, kernels: Kernels::All, seed: turn as u64 })
        };
        sizes.iter().enumerate().filter_map(one).collect()
    };
    insta::assert_snapshot!(counted(of, &wavelets()));
}

/// Sizes around one block and two.
#[test]
fn around_blocks() {
    let of = |schedule: Of, scheme: &Scheme, boundary| {
        let of_type = |&scalar: &Scalar| {
            let shape = small(schedule, scheme, scalar, boundary)?;
            let block = block(shape, scheme, scalar, boundary)?;
            let one = move |(i, size)| {
                let turn = 7 * i + 100 * boundary as usize + 1000 * scalar as usize;
                let case = any_case(schedule, (scalar, boundary), sized(schedule, boundary, size, turn), turn);
                Try { shape, boundary, scalar, case, kernels: Kernels::All, seed: turn as u64 }
            };
            // Each type has every third size; with two levels, every size.
            let (from, step) = if schedule.extent() == Extent::TwoLevels { (0, 1) } else { (scalar as usize % 3, 3) };
            Some(around(schedule, block).into_iter().enumerate().map(one).skip(from).step_by(step))
        };
        types(scheme).iter().filter_map(of_type).flatten().collect()
    };
    insta::assert_snapshot!(counted(of, &wavelets()));
}

/// Every sample type in the shapes that plans propose, and in all miniatures.
#[test]
fn shapes() {
    let of = |schedule: Of, scheme: &Scheme, boundary: Boundary| {
        let of_type = |(i, &scalar): (usize, &Scalar)| {
            let miniatures = schedule.miniatures(scheme, options(scalar, boundary)).into_iter().skip(1);
            let mut shapes: Vec<Shape> = miniatures.collect();
            shapes.extend(proposed(schedule, scheme, scalar, boundary));
            let one = move |(j, shape): (usize, Shape)| {
                // Two border rules each.
                let takes_turn = (i + j + boundary as usize).is_multiple_of(2);
                let block = block(shape, scheme, scalar, boundary).filter(|_| takes_turn)?;
                let sides = two_blocks(schedule, block);
                let case = any_case(schedule, (scalar, boundary), sides, i + 10 * j);
                // Kernels for few alignments take aligned rows.
                let case = Case { rows: Rows::Aligned, parity: [case.parity[0], 0, 0], ..case };
                Some(Try { shape, boundary, scalar, case, kernels: Kernels::All, seed: (i + 10 * j) as u64 })
            };
            shapes.into_iter().enumerate().filter_map(one).collect::<Vec<_>>()
        };
        types(scheme).iter().enumerate().flat_map(of_type).collect()
    };
    insta::assert_snapshot!(counted(of, &wavelets()));
}

/// Batches, and gains added at each level.
#[test]
fn batches_and_gains() {
    let of = |schedule: Of, scheme: &Scheme, boundary| {
        let one = |(i, rows): (usize, Rows)| {
            let scalar = types(scheme)[i % types(scheme).len()];
            let shape = small(schedule, scheme, scalar, boundary)?;
            let sides = match schedule.extent() {
                Extent::TwoLevels => two_blocks(schedule, block(shape, scheme, scalar, boundary)?),
                _ => sized(schedule, boundary, [14, 24], 6),
            };
            let gain = (scheme.domain() == Domain::Integer).then_some(1 + i as u32);
            let case = Case { batch: 3, gain, rows, order: ORDERS[i % 2], ..Case::new(sides) };
            Some(Try { shape, boundary, scalar, case, kernels: Kernels::All, seed: 5 })
        };
        [Rows::Aligned, Rows::Anywhere].into_iter().enumerate().filter_map(one).collect()
    };
    insta::assert_snapshot!(counted(of, &wavelets()));
}

/// Asymmetric steps, also under `whole-symmetric`, where reads beyond a border see the mirror image at every step.
/// Steps within a pair, which need no border rule, but are refused where a border cuts a pair and a walk has no rule
/// for that. Steps with gaps.
#[test]
fn uncommon_steps() {
    let mut text = String::new();
    for &schedule in SCHEDULES {
        for scheme in uncommon() {
            let mut all = 0;
            for boundary in Boundary::ALL {
                let shapes = |scalar| {
                    let first = proposed(schedule, &scheme, scalar, boundary).into_iter().next();
                    [small(schedule, &scheme, scalar, boundary), first].into_iter().flatten()
                };
                let mut tries = Vec::new();
                for (i, &scalar) in types(&scheme).iter().enumerate() {
                    for (j, shape) in shapes(scalar).enumerate() {
                        let Some(block) = block(shape, &scheme, scalar, boundary) else { continue };
                        let (least, step) =
                            (SMALL.into_iter().chain(around(schedule, block)), if j == 0 { 6 } else { 9 });
                        let sizes = least.enumerate().filter(|(n, _)| (n + i) % step == 0);
                        tries.extend(sizes.map(|(n, size)| {
                            let turn = n + 40 * i + 200 * j;
                            let case =
                                any_case(schedule, (scalar, boundary), sized(schedule, boundary, size, turn), turn);
                            Try { shape, boundary, scalar, case, kernels: Kernels::one(turn / 3), seed: turn as u64 }
                        }));
                    }
                }
                all += ran(&scheme, &tries);
            }
            text += &format!("{}{:10} {all:3}\n", column(schedule), scheme.name());
        }
    }
    insta::assert_snapshot!(text);
}

/// Warps, or sub-groups, of 16 and of 64 lanes: schedules derive their kernels for these, or name what prevents it.
#[test]
fn other_warps() {
    let mut taken = Vec::new();
    for &schedule in SCHEDULES {
        let mut outcomes = Vec::new();
        for scheme in wavelets() {
            for (i, &scalar) in types(&scheme).iter().enumerate() {
                for (j, boundary) in Boundary::ALL.into_iter().enumerate() {
                    let lanes = [16, 64][(i + j) % 2];
                    let Some(shape) = small(schedule, &scheme, scalar, boundary) else { continue };
                    let shape = shape.of_lanes(lanes);
                    let block = block(shape, &scheme, scalar, boundary).unwrap_or([32, 32, 2]);
                    let case = any_case(schedule, (scalar, boundary), two_blocks(schedule, block), 10 * i + j);
                    let one = Try { shape, boundary, scalar, case, kernels: Kernels::All, seed: j as u64 };
                    outcomes.extend(all_run(&scheme, &[one]));
                }
            }
        }
        if outcomes.iter().any(Outcome::ran) {
            taken.push(schedule.name());
        } else {
            assert!(outcomes.iter().all(|outcome| outcome.beyond_limits), "{}", schedule.name());
        }
    }
    assert_eq!(taken, ANY_WARP);
}

/// Lattices: stage by stage under the periodic rule, and as lifting steps under another.
#[test]
fn lattices() {
    let texts = [
        include_str!("../../../lifting-dsl/tests/lattices.lift"),
        include_str!("../../../lifting-dsl/tests/orthogonal.lift"),
    ];
    let schemes = texts.into_iter().flat_map(|text| lifting_dsl::compile(text).expect("it compiles").schemes);
    let sizes = [[2, 8], [4, 8], [6, 16], [36, 24], [2, 40], [10, 56], [64, 64], [20, 128], [14, 240], [8, 264]];
    let mut text = String::new();
    for scheme in schemes {
        for &schedule in SCHEDULES {
            let mut tries = Vec::new();
            for (i, &scalar) in types(&scheme).iter().enumerate() {
                // Each type has every third size.
                for (n, size) in sizes.into_iter().enumerate().filter(|(n, _)| (n + i) % 3 == 0) {
                    if schedule.extent() == Extent::Volume && size[0] * size[1] > 2000 {
                        continue;
                    }
                    let boundary = if n == 9 - i { Boundary::Zero } else { Boundary::Periodic };
                    let shape = match n / 3 % 2 {
                        0 => small(schedule, &scheme, scalar, boundary),
                        _ => proposed(schedule, &scheme, scalar, boundary).into_iter().next(),
                    };
                    let Some(shape) = shape else { continue };
                    let turn = 40 * i + n;
                    let case = any_case(schedule, (scalar, boundary), sized(schedule, boundary, size, turn), turn);
                    let case = Case { rows: Rows::Aligned, batch: 1 + turn % 5 / 4, ..case };
                    tries.push(Try {
                        shape,
                        boundary,
                        scalar,
                        case,
                        kernels: Kernels::one(turn / 3),
                        seed: turn as u64,
                    });
                }
            }
            text +=
                &format!("{:8}{:12} {:3} of {:3}\n", schedule.name(), scheme.name(), ran(&scheme, &tries), tries.len());
        }
    }
    insta::assert_snapshot!(text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// Random schemes, sizes, origins and so on, in each schedule.
    #[test]
    fn random_schemes(
        scheme in prop_oneof![testing::any_scheme(Domain::Integer), testing::any_scheme(Domain::Real)],
        (height, width) in (2usize..=40, 2usize..=70),
        (which, chosen) in (0usize..4, prop::option::of(0usize..4)),
        seed in any::<u32>(),
    ) {
        let (boundary, scalar) = (scheme.boundary(), types(&scheme)[which % types(&scheme).len()]);
        for &schedule in SCHEDULES {
            let shapes = chosen.map(|chosen| (chosen, proposed(schedule, &scheme, scalar, boundary)));
            let shape = match shapes {
                Some((chosen, shapes)) if !shapes.is_empty() => Some(shapes[chosen % shapes.len()]),
                _ => small(schedule, &scheme, scalar, boundary),
            };
            let Some(shape) = shape else { continue };
            let mut size = match block(shape, &scheme, scalar, boundary) {
                Some([_, rows, lane]) if schedule.extent() == Extent::TwoLevels => [rows + height, 4 * lane * width.min(28)],
                Some([columns, rows, _]) if schedule.extent() == Extent::AllLevels => {
                    [2 + height % (rows - 1), 2 + width % (columns - 1)]
                }
                _ => [height, width],
            };
            if boundary == Boundary::Periodic {
                size = size.map(|n| n.next_multiple_of(4));
            }
            let sides = sized(schedule, boundary, size, seed as usize);
            let case = any_case(schedule, (scalar, boundary), sides, seed as usize);
            launch::run(&scheme, &[Try { shape, boundary, scalar, case, kernels: Kernels::one(chosen.unwrap_or(which)), seed: seed.into() }]);
        }
    }
}
