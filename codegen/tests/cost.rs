//! Costs of schedules: the counts agree with the papers' figures.

use lifting_codegen::cost::{Cost, CostError, separable};
use lifting_codegen::ir::Scalar;
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::{Access, Launch};
use lifting_codegen::schedule::{Options, Sides, horizontal, registers, vertical};
use lifting_dsl::geometry::Geometry;
use lifting_dsl::{Boundary, Direction, Scheme};

fn scheme(name: &str) -> Scheme {
    let entry = lifting_filters::find(name).expect("in the catalogue");
    let schemes = lifting_dsl::compile(entry.source).expect("the catalogue compiles").schemes;
    schemes.into_iter().find(|s| s.name() == entry.name).expect("in its file")
}

fn cost(name: &str, sample: Scalar, direction: Direction, geometry: &Geometry) -> Cost {
    let scheme = scheme(name);
    let options = Options::new(sample, Boundary::WholeSymmetric, direction);
    let row = horizontal::kernel(&scheme, options, Default::default()).expect("a kernel");
    let column = vertical::kernel(&scheme, options).expect("a kernel");
    separable(geometry, direction, &row, &column).expect("the kernels are sound")
}

const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Inverse];

/// Separate row and column passes read and write every sample twice: 4M.
#[test]
fn separate_passes_move_4m() {
    let geometry = Geometry::uniform(&[256, 256], 3).expect("a geometry");
    for (name, sample) in [("dd137", Scalar::I16), ("legall53", Scalar::I16), ("cdf97", Scalar::F32)] {
        for direction in DIRECTIONS {
            let cost = cost(name, sample, direction, &geometry);
            assert_eq!(cost.samples, 256 * 256 + 128 * 128 + 64 * 64);
            assert_eq!(cost.per_sample().moved, 4.0, "{name}");
            assert_eq!(cost.per_sample().bytes, 4.0 * sample.bytes() as f64, "{name}");
        }
    }
}

/// Chunks of columns pay for their halo: little, and only where there is more than one chunk.
#[test]
fn chunks_pay_for_their_halo() {
    let geometry = Geometry::uniform(&[1024, 64], 1).expect("a geometry");
    let cost = cost("cdf97", Scalar::F32, Direction::Forward, &geometry);
    let vertical = cost.passes[1].counts.per_sample(cost.passes[1].samples);
    assert!((2.0..2.1).contains(&vertical.moved) && vertical.moved > 2.0, "{}", vertical.moved);
}

/// Columns in slabs of coalesced width touch whole sectors once each: an eighth of a sector per 4-byte sample and
/// direction.
#[test]
fn vertical_passes_are_coalesced() {
    let geometry = Geometry::uniform(&[64, 256], 1).expect("a geometry");
    for direction in DIRECTIONS {
        let cost = cost("cdf97", Scalar::F32, direction, &geometry);
        let pass = cost.passes.iter().find(|p| p.axis == 0).expect("a vertical pass");
        for traffic in [pass.counts.global_loads, pass.counts.global_stores] {
            assert_eq!(traffic.transactions, 64 * 256 / 8);
            assert_eq!(traffic.unique_sectors, 64 * 256 / 8);
        }
        assert_eq!(pass.counts.per_sample(pass.samples).conflicts, 0.0, "a row of the window is a row of banks");
    }
}

/// Passes in registers re-read only the halo: 32 lanes for 28, and 4 pairs per chunk of 10. No barriers, whole sectors.
#[test]
fn passes_in_registers_move_little() {
    let geometry = Geometry::uniform(&[240, 896], 1).expect("a geometry");
    let (scheme, sides) = (scheme("cdf97"), Sides::both(Scalar::F32));
    for direction in DIRECTIONS {
        let options = Options::new(Scalar::F32, Boundary::WholeSymmetric, direction);
        let row = registers::horizontal::RegisterRowShape::of(sides, true, 896);
        let row = registers::horizontal::kernel(&scheme, options, sides, row).expect("a kernel");
        let column =
            registers::vertical::kernel(&scheme, options, sides, registers::vertical::RegisterColumnShape::of(4, 1));
        let cost = separable(&geometry, direction, &row, &column.expect("a kernel")).expect("the kernels are sound");
        for pass in &cost.passes {
            let n = pass.counts.per_sample(pass.samples);
            assert_eq!(n.barriers, 0.0, "{}", pass.kernel);
            assert_eq!(pass.counts.global_stores.transactions, pass.samples / 8, "{}", pass.kernel);
            assert!(n.moved > 2.0 && n.moved < 2.5, "{}: {}", pass.kernel, n.moved);
        }
    }
}

/// 4 steps of one multiplication by a constant and two additions on half of the samples, and two scalings.
#[test]
fn lifting_is_counted() {
    let geometry = Geometry::uniform(&[64, 64], 1).expect("a geometry");
    let cost = cost("cdf97", Scalar::F32, Direction::Forward, &geometry);
    for pass in &cost.passes {
        assert_eq!(pass.counts.per_sample(pass.samples).float, 4.0 * 3.0 / 2.0 + 1.0, "{}", pass.kernel);
    }
}

/// Every axis of a volume, and of an array with more axes.
#[test]
fn more_dimensions() {
    let volume = Geometry::uniform(&[8, 16, 32], 2).expect("a geometry");
    let cost3 = cost("legall53", Scalar::I32, Direction::Forward, &volume);
    assert_eq!(
        cost3.passes.iter().map(|p| (p.level, p.axis)).collect::<Vec<_>>(),
        [(0, 2), (0, 1), (0, 0), (1, 2), (1, 1), (1, 0)]
    );
    assert_eq!(cost3.per_sample().moved, 6.0);
    let levels = [0, 1, 1, 1];
    let batch = Geometry::new(&[3, 6, 10, 20], &[0, 1, 1, 0], &levels, &[3, 2, 1]).expect("a geometry");
    for direction in DIRECTIONS {
        let cost = cost("legall53", Scalar::I32, direction, &batch);
        assert_eq!((cost.samples, cost.passes.len()), (3600, 3));
        assert_eq!(cost.per_sample().moved, 6.0);
    }
    let line = Geometry::uniform(&[1000], 3).expect("a geometry");
    assert_eq!(cost("dd137", Scalar::I16, Direction::Inverse, &line).per_sample().moved, 2.0);
}

#[test]
fn table() {
    let geometry = Geometry::uniform(&[32, 128], 2).expect("a geometry");
    insta::assert_snapshot!(cost("dd137", Scalar::I16, Direction::Forward, &geometry));
}

#[test]
fn refusals() {
    let (sample, direction) = (Scalar::F32, Direction::Forward);
    let options = Options::new(sample, Boundary::WholeSymmetric, direction);
    let good = vertical::kernel(&scheme("cdf97"), options).expect("a kernel");
    let mut b = Builder::new("other");
    b.pointer("src", Scalar::F32, Access::Read, "input");
    let other = b.finish(Launch { block: [1, 1, 1], grid: [1.into(), 1.into(), 1.into()] });
    let geometry = Geometry::uniform(&[32, 32], 1).expect("a geometry");
    let run = |geometry: &Geometry, row| separable(geometry, Direction::Forward, row, &good);
    assert_eq!(run(&geometry, &other), Err(CostError::Parameters { kernel: "other".into() }));
    let large = Geometry::uniform(&[10000, 10000], 1).expect("a geometry");
    assert_eq!(run(&large, &good), Err(CostError::TooLarge { samples: 100_000_000 }));
    let mut invalid = other.clone();
    invalid.launch.block = [0, 1, 1];
    assert!(matches!(run(&geometry, &invalid), Err(CostError::Invalid(_))));
    // The inverse kernel takes its arguments in another order, which causes a fault.
    let inverse = vertical::kernel(&scheme("cdf97"), Options { direction: Direction::Inverse, ..options });
    assert!(matches!(run(&geometry, &inverse.expect("a kernel")), Err(CostError::Fault(_))));
}
