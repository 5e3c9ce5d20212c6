//! Bit-exact tests of CPU plans against the oracle: every instruction set of the machine, and the edge cases of blocks,
//! rings and chunks.

use super::Cpu;
use crate::data::{RawView, RawViewMut, contiguous};
use crate::exec::{Executor, Workspace};
use crate::{Boundary, Layout, Sample, Scheme, bf16, catalogue, f16};
use lifting_dsl::Direction;
use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;
use lifting_dsl::sample::SampleType;
use lifting_loops::Isa;
use lifting_planner::Problem;
use std::sync::Arc;

/// Instruction sets of this machine.
fn sets() -> impl Iterator<Item = Isa> {
    [Isa::Baseline, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| *isa <= Isa::of_machine())
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// All bits of integers, often extremes; reals that stay finite in `f16`.
    fn samples<T: Sample>(&mut self, n: usize) -> Vec<T> {
        let extreme = self.below(3) == 0;
        let mut one = || {
            let bits = (self.below(1 << 31) as i64) << 33 | (self.below(1 << 31) as i64) << 3;
            let value = match T::KIND.bytes() {
                _ if !matches!(T::KIND, SampleType::I16 | SampleType::I32 | SampleType::I64) => bits >> 33 & 31,
                bytes if extreme => self.of(&[i64::MIN, i64::MAX, -1]) >> (64 - 8 * bytes),
                bytes => bits >> (64 - 8 * bytes),
            };
            <T as lifting_dsl::sample::Sample>::from_i64(value)
        };
        (0..n).map(|_| one()).collect()
    }
}

/// Asserts equal bits; any NaN equals any other.
fn assert_same<T: Sample>(found: &[T], expected: &[T], what: &str) {
    #[expect(clippy::eq_op, reason = "NaN differs from itself")]
    let same = |a: &T, b: &T| a.as_bytes() == b.as_bytes() || (a != a && b != b);
    if let Some(i) = (0..expected.len()).find(|&i| !same(&found[i], &expected[i])) {
        panic!("{what}: sample {i} is {:?}, not {:?}", found[i], expected[i]);
    }
}

fn view<T>(samples: &[T], shape: &[usize]) -> RawView<T> {
    RawView::new(samples.as_ptr(), shape, &contiguous(shape))
}

fn view_mut<T>(samples: &mut [T], shape: &[usize]) -> RawViewMut<T> {
    RawViewMut::new(samples.as_mut_ptr(), shape, &contiguous(shape))
}

/// Checks one problem in both directions, out of place and in place, on all instruction sets, with one and two threads.
fn check<T: Sample>(problem: Problem, random: &mut Random) {
    let problem = Arc::new(problem);
    let Problem { scheme, boundary, geometry, layout, gain_shift, double_lone_odd, .. } = &*problem;
    let what = format!("{} on {} {geometry:?} {boundary} {layout:?} gain {gain_shift}", scheme.name(), T::KIND);
    let shape = geometry.shape();
    let data: Vec<T> = random.samples(geometry.samples());
    let oracle = Transform {
        boundary: *boundary,
        layout: *layout,
        gain_shift: *gain_shift,
        double_lone_odd: *double_lone_odd,
        ..Transform::new(scheme.clone(), geometry.clone())
    };
    let mut coefficients = data.clone();
    oracle.forward(&mut coefficients).unwrap();
    let mut whole = coefficients.clone();
    oracle.inverse(&mut whole).unwrap();

    for (isa, threads) in sets().flat_map(|isa| [(isa, 1), (isa, 2)]) {
        let what = format!("{what}, {isa}, {threads} threads");
        let cpu = Cpu::<T>::with(problem.clone(), threads, isa).unwrap();
        let mut workspace = Workspace::new(cpu.workspace_size());
        // Any alignment within a cache line.
        let mut room = vec![T::default(); data.len() + 80];
        let any = random.below(64);
        let skew = random.of(&[0, 4, 8, any]) + room.as_ptr().align_offset(64).min(16);
        let found = &mut room[skew..][..data.len()];
        // SAFETY: arrays of the problem's shape.
        unsafe {
            cpu.forward(view(&data, shape), view_mut(found, shape), &mut workspace).unwrap();
            assert_same(found, &coefficients, &format!("analysis of {what}"));
            cpu.inverse(0, view(&coefficients, shape), view_mut(found, shape), &mut workspace).unwrap();
            assert_same(found, &whole, &format!("synthesis of {what}"));
            found.copy_from_slice(&data);
            let mut workspace = Workspace::new(cpu.in_place_size());
            cpu.forward_in_place(view_mut(found, shape), &mut workspace).unwrap();
            assert_same(found, &coefficients, &format!("analysis in place of {what}"));
            cpu.inverse_in_place(view_mut(found, shape), &mut workspace).unwrap();
            assert_same(found, &whole, &format!("synthesis in place of {what}"));
        }
        if scheme.domain() == crate::Domain::Real {
            let (mut back, mut forth) = (data.clone(), data.clone());
            oracle.adjoint(&mut back).unwrap();
            oracle.inverse_adjoint(&mut forth).unwrap();
            for (of, expected) in [(Direction::Forward, back), (Direction::Inverse, forth)] {
                // SAFETY: views of whole arrays of the shape.
                unsafe { cpu.adjoint(of, view(&data, shape), view_mut(found, shape), &mut workspace).unwrap() };
                assert_same(found, &expected, &format!("adjoint of {of:?} of {what}"));
            }
        }
    }
}

/// A random problem with one of these shapes.
fn problem(scheme: &Scheme, random: &mut Random, shapes: &[&[usize]]) -> Problem {
    let boundary = random.of(&Boundary::ALL);
    let mut shape = random.of(shapes).to_vec();
    let rank = shape.len();
    let most = 1 + random.below(4) as u32;
    let mut levels: Vec<u32> = vec![most; rank];
    match random.below(6) {
        0 => levels[random.below(rank)] = 0,
        1 => levels[random.below(rank)] = 1 + random.below(5) as u32,
        _ => {}
    }
    let mut origins: Vec<i64> = (0..rank).map(|_| random.of(&[0, 0, 1, -3])).collect();
    if boundary == Boundary::Periodic {
        for (n, levels) in shape.iter_mut().zip(&levels) {
            *n = n.next_multiple_of(1 << levels);
        }
        origins.iter_mut().for_each(|u| *u = u.div_euclid(2) * 2 * 32);
    }
    let mut order: Vec<usize> = (0..rank).rev().collect();
    match random.below(3) {
        0 => order.reverse(),
        1 => order.rotate_left(1),
        _ => {}
    }
    let geometry = Geometry::new(&shape, &origins, &levels, &order).unwrap();
    let integer = scheme.domain() == crate::Domain::Integer;
    Problem {
        boundary,
        layout: random.of(&[Layout::Mallat, Layout::Mallat, Layout::Interleaved]),
        gain_shift: if integer { random.of(&[0, 0, 1]) } else { 0 },
        double_lone_odd: random.below(4) == 0,
        ..Problem::new(scheme.clone(), geometry)
    }
}

const SHAPES: [&[usize]; 32] = [
    &[1],
    &[2],
    &[3],
    &[37],
    &[64],
    &[1025],
    &[4099],
    &[1, 1],
    &[1, 19],
    &[19, 1],
    &[64, 1],
    &[3, 40, 1],
    &[2, 2],
    &[2, 3],
    &[3, 2],
    &[5, 7],
    &[8, 16],
    &[13, 31],
    &[16, 64],
    &[17, 65],
    &[31, 127],
    &[33, 130],
    &[64, 48],
    &[67, 3],
    &[3, 67],
    &[257, 5],
    &[3, 18, 20],
    &[18, 20, 3],
    &[5, 9, 6],
    &[1, 4, 33],
    &[2, 1, 1],
    &[3, 2, 5, 4],
];

/// Shapes wider than a block, or above the single-thread threshold.
const WIDE: [&[usize]; 7] = [&[7, 1031], &[9, 4111], &[301, 130], &[40, 1100], &[70003], &[37, 33, 40], &[14, 25, 100]];

/// Shape wide enough for loops that run all steps on four rows at once.
fn wide(random: &mut Random) -> [usize; 2] {
    let (rows, narrow, more) = (random.of(&[6, 20, 60]), random.of(&[20, 40, 80, 150]), random.of(&[8, 70, 200]));
    [2 + random.below(rows), narrow + random.below(more)]
}

fn schemes(names: &[&str]) -> Vec<Scheme> {
    names.iter().map(|name| catalogue::find(name).unwrap()).collect()
}

#[test]
fn integers_equal_the_oracle() {
    let mut random = Random(1);
    for scheme in schemes(&["legall53", "dd137", "fidelity", "haar_vc2_0", "daubechies97", "dd97"]) {
        for _ in 0..40 {
            check::<i16>(problem(&scheme, &mut random, &SHAPES), &mut random);
            check::<i32>(problem(&scheme, &mut random, &SHAPES), &mut random);
            check::<i64>(problem(&scheme, &mut random, &SHAPES), &mut random);
        }
        for _ in 0..2 {
            check::<i16>(problem(&scheme, &mut random, &WIDE), &mut random);
            check::<i32>(problem(&scheme, &mut random, &WIDE), &mut random);
        }
    }
}

#[test]
fn reals_equal_the_oracle() {
    let mut random = Random(2);
    let mut all = schemes(&["cdf97", "cdf2_4", "cdf3_5", "db4", "haar"]);
    all.extend(lifting_dsl::compile(include_str!("../../../lifting-dsl/tests/lattices.lift")).unwrap().schemes);
    for scheme in all {
        for _ in 0..20 {
            check::<f32>(problem(&scheme, &mut random, &SHAPES), &mut random);
            check::<f64>(problem(&scheme, &mut random, &SHAPES), &mut random);
            check::<f16>(problem(&scheme, &mut random, &SHAPES), &mut random);
            check::<bf16>(problem(&scheme, &mut random, &SHAPES), &mut random);
        }
        for _ in 0..2 {
            check::<f32>(problem(&scheme, &mut random, &WIDE), &mut random);
            check::<f16>(problem(&scheme, &mut random, &WIDE), &mut random);
        }
    }
}

/// Wavelets of reals with more or longer steps than the loops of fixed shapes have.
const LONG: [&str; 11] =
    ["db5", "db8", "db10", "sym6", "sym8", "sym10", "coif2", "coif3", "bior1_5", "bior3_3", "bior6_8"];

/// Delay lines of any length and reach: orthogonal families, long symmetric filters, and steps far away.
#[test]
fn long_chains_equal_the_oracle() {
    let mut random = Random(5);
    let mut all = schemes(&LONG);
    let text = "
        wavelet far {
            domain real;
            even += 0.5*odd[-4] + 0.25*odd[1] - 0.75*odd[-1];
            odd -= 0.5*(even[3] + even[-2] + even[0]);
            even += 0.5*odd[2];
            odd += 0.5*even[0] + 0.25*even[1];
            even -= 0.125*(odd[-1] + odd[0]);
        }
        wavelet one { domain real; odd -= 0.5*even[-3] + 0.25*even[2]; }
    ";
    all.extend(lifting_dsl::compile(text).unwrap().schemes);
    for scheme in all {
        for boundary in [Boundary::Periodic, Boundary::WholeSymmetric] {
            let one = |shape: &[usize], levels: u32| Problem {
                boundary,
                ..Problem::new(scheme.clone(), Geometry::uniform(shape, levels).unwrap())
            };
            for _ in 0..4 {
                let [height, width] = wide(&mut random).map(|n| n.next_multiple_of(4));
                check::<f32>(one(&[height, width], 2), &mut random);
                check::<f64>(one(&[height, width], 1), &mut random);
            }
            check::<f32>(one(&[256, 400], 3), &mut random);
            check::<f64>(one(&[1000], 2), &mut random);
            check::<f32>(one(&[12, 24, 200], 2), &mut random);
        }
    }
}

/// Lines, images and volumes of a few samples, of all paths. They are small enough for Miri, and use no vectors beyond
/// those of the baseline there.
#[test]
fn small_shapes() {
    let text = "
        wavelet whole { domain integer; odd -= (even[0] + even[1]) >> 1; even += (odd[-1] + odd[0] + 2) >> 2; }
        wavelet real { domain real; odd -= 0.5*(even[0] + even[1]); even += 0.25*(odd[-1] + odd[0]); odd *= 0.5; }
        wavelet far { domain real; odd -= 0.5*even[-3] + 0.25*even[2]; even += 0.125*odd[-1]; }
    ";
    let shapes: [&[usize]; 7] = [&[12], &[8, 20], &[4, 8, 12], &[9], &[5, 18], &[3, 6, 10], &[1, 7]];
    // Miri takes minutes: it gets one border rule a wavelet, four shapes, and the shortest types.
    let shapes = if cfg!(miri) { &shapes[..4] } else { &shapes[..] };
    let boundaries = [Boundary::WholeSymmetric, Boundary::Periodic, Boundary::Zero];
    let mut random = Random(7);
    for (k, scheme) in lifting_dsl::compile(text).unwrap().schemes.into_iter().enumerate() {
        for &boundary in if cfg!(miri) { &boundaries[k..=k] } else { &boundaries[..] } {
            for &shape in shapes {
                if boundary == Boundary::Periodic && shape.iter().any(|n| n % 4 != 0) {
                    continue;
                }
                let geometry = Geometry::uniform(shape, 2).unwrap();
                let problem = || Problem { boundary, ..Problem::new(scheme.clone(), geometry.clone()) };
                if scheme.domain() == crate::Domain::Integer {
                    check::<i16>(problem(), &mut random);
                } else {
                    check::<f32>(problem(), &mut random);
                }
                if cfg!(miri) {
                    continue;
                }
                if scheme.domain() == crate::Domain::Integer {
                    check::<i32>(problem(), &mut random);
                } else {
                    check::<f64>(problem(), &mut random);
                    check::<f16>(problem(), &mut random);
                }
            }
        }
    }
}

/// Many threads take little more memory than one, and transforms in place have no low bands.
#[test]
fn scratch_of_large_images_is_small() {
    let scheme = catalogue::find("legall53").unwrap();
    let problem = Problem::new(scheme, Geometry::uniform(&[20_000, 20_000], 5).unwrap());
    for threads in [1, 2, 64, 256] {
        let cpu = Cpu::<i32>::with(Arc::new(problem.clone()), threads, Isa::Baseline).unwrap();
        let share = cpu.in_place_size().bytes::<i32>() as f64 / (4.0 * 20_000.0 * 20_000.0);
        assert!(share < 0.05, "{threads} threads take {share} of the image");
    }
}

/// Schedule of the first level of an image.
fn schedule<T: Sample>(wavelet: &str, shape: &[usize], boundary: Boundary, isa: Isa) -> &'static str {
    schedule_of::<T>(wavelet, Geometry::uniform(shape, 1).unwrap(), boundary, isa)
}

#[cfg(target_arch = "x86_64")]
fn schedule_of<T: Sample>(wavelet: &str, geometry: Geometry, boundary: Boundary, isa: Isa) -> &'static str {
    let problem = Problem { boundary, ..Problem::new(catalogue::find(wavelet).unwrap(), geometry) };
    Cpu::<T>::with(Arc::new(problem), 1, isa).unwrap().passes()[0].schedule
}

#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn common_shapes_are_one_loop() {
    for isa in sets() {
        let one_loop = &format!("rows in one loop, {isa}");
        let planes = &format!("planes, {isa}");
        for boundary in [Boundary::WholeSymmetric, Boundary::Periodic] {
            for wavelet in ["legall53", "dd137", "dd97", "fidelity", "daubechies97"] {
                assert_eq!(schedule::<i16>(wavelet, &[2, 170], boundary, isa), one_loop);
                let fused = isa > Isa::Baseline && wavelet != "daubechies97";
                assert_eq!(schedule::<i32>(wavelet, &[2, 170], boundary, isa) == one_loop, fused);
            }
            for wavelet in ["cdf97", "cdf2_2"] {
                assert_eq!(schedule::<f32>(wavelet, &[2, 160], boundary, isa), one_loop);
                assert_eq!(schedule::<f64>(wavelet, &[2, 160], boundary, isa) == one_loop, isa > Isa::Baseline);
                assert_eq!(schedule::<f16>(wavelet, &[2, 160], boundary, isa), one_loop);
                assert_eq!(schedule::<bf16>(wavelet, &[2, 160], boundary, isa), one_loop);
            }
        }
        // Steps within pairs need no border rule, unless a border cuts a pair.
        for boundary in Boundary::ALL {
            assert_eq!(schedule::<f32>("haar", &[2, 160], boundary, isa), one_loop);
        }
        assert_ne!(schedule::<f32>("haar", &[3, 160], Boundary::Edge, isa), one_loop);
        // The order of JPEG 2000.
        let columns_first = Geometry::new(&[80, 170], &[0, 0], &[1, 1], &[0, 1]).unwrap();
        let whole = Boundary::WholeSymmetric;
        assert_eq!(schedule_of::<i16>("legall53", columns_first.clone(), whole, isa), one_loop);
        assert_eq!(schedule_of::<f32>("cdf97", columns_first.clone(), whole, isa), one_loop);
        assert_eq!(schedule_of::<i32>("legall53", columns_first, whole, isa) == one_loop, isa > Isa::Baseline);
        for wavelet in ["haar", "db2", "db4"] {
            assert_eq!(schedule::<f32>(wavelet, &[160, 160], Boundary::Periodic, isa), one_loop);
            let fused = isa > Isa::Baseline;
            assert_eq!(schedule::<f64>(wavelet, &[160, 160], Boundary::Periodic, isa) == one_loop, fused);
        }
        for wavelet in LONG {
            let fused = schedule::<f32>(wavelet, &[40, 400], Boundary::Periodic, isa) == one_loop;
            assert_eq!(fused, isa > Isa::Baseline, "{wavelet}, {isa}");
        }
        let symmetric = schedule::<f64>("bior6_8", &[41, 401], Boundary::WholeSymmetric, isa);
        assert_eq!(symmetric == one_loop, isa > Isa::Baseline);
        assert_ne!(schedule::<f32>("cdf97", &[90, 90], Boundary::Zero, isa), one_loop);
        assert_eq!(schedule::<f32>("cdf97", &[4, 4, 4], Boundary::WholeSymmetric, isa), planes);
    }
}

/// Columns of single samples are lines: they take the loops and the memory of a row.
#[test]
fn columns_of_single_samples_are_lines() {
    let cpu = |shape: &[usize], levels: u32, threads: usize| {
        let geometry = Geometry::uniform(shape, levels).unwrap();
        let problem = Problem::new(catalogue::find("legall53").unwrap(), geometry);
        Cpu::<i16>::with(Arc::new(problem), threads, Isa::Baseline).unwrap()
    };
    for (levels, threads) in [(1, 1), (5, 1), (5, 2)] {
        let of = |shape: &[usize]| {
            let cpu = cpu(shape, levels, threads);
            let rows = cpu.rows.as_ref().expect("lines have row programs");
            (rows.name(0), rows.work(), rows.low())
        };
        let line = of(&[1 << 22]);
        for shape in [&[1 << 22, 1][..], &[1, 1 << 22], &[1, 1 << 22, 1], &[1 << 22, 1, 1]] {
            assert_eq!(of(shape), line, "{shape:?}");
        }
    }
    let mut random = Random(8);
    for scheme in schemes(&["legall53", "daubechies97", "cdf97", "db4", "haar"]) {
        for n in [24, 300] {
            for shape in [&[n, 1][..], &[1, n], &[1, n, 1], &[n, 1, 1], &[2, n, 1]] {
                if scheme.domain() == crate::Domain::Integer {
                    check::<i16>(problem(&scheme, &mut random, &[shape]), &mut random);
                } else {
                    check::<f32>(problem(&scheme, &mut random, &[shape]), &mut random);
                    check::<f16>(problem(&scheme, &mut random, &[shape]), &mut random);
                }
            }
        }
    }
    // Lines above the single-thread threshold.
    let scheme = catalogue::find("legall53").unwrap();
    check::<i16>(problem(&scheme, &mut random, &[&[33_000, 1]]), &mut random);
}

#[test]
fn fused_rows_equal_the_oracle() {
    let mut random = Random(4);
    for scheme in schemes(&["legall53", "dd137", "haar_vc2_0", "dd97", "fidelity", "daubechies97"]) {
        for i in 0..50 {
            let shape = wide(&mut random);
            check::<i16>(problem(&scheme, &mut random, &[&shape]), &mut random);
            if i % 3 == 0 {
                check::<i32>(problem(&scheme, &mut random, &[&shape]), &mut random);
            }
        }
    }
    for scheme in schemes(&["cdf97", "cdf2_2", "cdf2_4", "cdf3_5", "db2", "db4", "haar"]) {
        for i in 0..50 {
            let shape = wide(&mut random);
            check::<f32>(problem(&scheme, &mut random, &[&shape]), &mut random);
            if i % 3 == 0 {
                check::<f64>(problem(&scheme, &mut random, &[&shape]), &mut random);
            }
        }
    }
    for scheme in schemes(&["cdf97", "cdf2_2"]) {
        for _ in 0..25 {
            let shape = wide(&mut random);
            check::<f16>(problem(&scheme, &mut random, &[&shape]), &mut random);
            check::<bf16>(problem(&scheme, &mut random, &[&shape]), &mut random);
        }
    }
    // Weights that fit 16 bits with sums that do not, on one or both sides of the sample.
    let text = "
        wavelet heavy { domain integer;
            odd -= (30000*(even[0] + even[1]) + 8) >> 14;
            even += (5000*odd[-1] + odd[0]) >> 13;
        }
        wavelet wrong { domain integer;
            even += (32767*odd[0] - 32767*odd[-1]) >> 15;
            odd += (20000*even[1] + 3) >> 16;
        }
        wavelet far { domain integer;
            odd -= (even[-2] + 7*even[3] + 1) >> 3;
            even += (odd[-3] - odd[1] + 5*odd[0]) >> 2;
        }
    ";
    for scheme in lifting_dsl::compile(text).unwrap().schemes {
        for _ in 0..30 {
            let shape = wide(&mut random);
            check::<i16>(problem(&scheme, &mut random, &[&shape]), &mut random);
            check::<i32>(problem(&scheme, &mut random, &[&shape]), &mut random);
        }
    }
}

#[test]
fn lines_and_volumes_equal_the_oracle() {
    fn all<T: Sample>(names: &[&str], random: &mut Random) {
        for scheme in schemes(names) {
            for _ in 0..20 {
                let line = [60 + random.below(1500)];
                let [rows, columns] = wide(random);
                let volume = [2 + random.below(14), 2 + random.below(12), 2 + random.below(100)];
                let volumes = [2, 2 + random.below(9), 2 + random.below(9), 2 + random.below(50)];
                for shape in [&line[..], &[3, rows, columns], &volume, &volumes] {
                    check::<T>(problem(&scheme, random, &[shape]), random);
                }
            }
        }
    }
    let mut random = Random(5);
    all::<i16>(&["legall53", "dd137", "fidelity"], &mut random);
    all::<i32>(&["dd137"], &mut random);
    all::<f32>(&["cdf97", "cdf2_2", "db4"], &mut random);
    all::<f64>(&["cdf97"], &mut random);
    all::<f16>(&["cdf97"], &mut random);
    // Planes on several threads.
    for scheme in schemes(&["cdf97", "db4"]) {
        for boundary in [Boundary::WholeSymmetric, Boundary::Periodic] {
            let mut problem = problem(&scheme, &mut random, &[&[24, 24, 80]]);
            problem.boundary = boundary;
            problem.geometry = Geometry::new(&[24, 24, 80], &[0; 3], &[2; 3], &[2, 1, 0]).unwrap();
            problem.source_shape = vec![24, 24, 80];
            check::<f32>(problem, &mut random);
        }
    }
}

/// Step shapes with and without specialised loops: few and many taps, few and many weights, both signs.
#[test]
fn steps_of_any_shape_equal_the_oracle() {
    let text = "
        wavelet one { domain integer; odd -= even[0]; even += (odd[0] + 1) >> 1; }
        wavelet ceil { domain integer; odd -= (even[0] + even[1] + 1) >> 1; even += (odd[-1] + odd[0]) >> 2; }
        wavelet minus { domain integer; odd += (-even[0] - even[1] + 1) >> 1; even -= (3*odd[-1] - 2*odd[0] + 7) >> 3; }
        wavelet heavy { domain integer;
            odd -= (30000*(even[0] + even[1]) + 8) >> 14;
            even += (5000*odd[-1] + odd[0]) >> 13;
        }
        wavelet long { domain integer;
            odd -= (150*(even[0] + even[1]) - 25*(even[-1] + even[2]) + 3*(even[-2] + even[3]) + 128) >> 8;
            even += (odd[-3] + 2*odd[-1] + 7*odd[0] - 3*odd[2] + 9*odd[4] + 16) >> 5;
        }
        wavelet far { domain integer; odd -= (even[-5] + even[7]) >> 1; even += (odd[6] + 2) >> 2; odd += even[1]; }
    ";
    let mut random = Random(3);
    for scheme in lifting_dsl::compile(text).unwrap().schemes {
        for _ in 0..20 {
            check::<i16>(problem(&scheme, &mut random, &SHAPES), &mut random);
            check::<i32>(problem(&scheme, &mut random, &SHAPES), &mut random);
        }
    }
    let text = "
        wavelet mixed { domain real;
            even += 0.25*odd[0] - 0.5*odd[-1]; odd *= 1.5; odd -= even[0] + 0.125*(even[-1] + even[1] + even[2]);
            even -= -odd[0]; odd *= 0.75; even *= 2; even *= 0.3;
            even += 0.1*(odd[-2] + odd[1]) + 0.7*(odd[-1] + odd[0]);
        }
        wavelet many { domain real;
            odd -= 0.5*(even[-2] + even[-1] + even[0] + even[1] + even[2] + even[3]) + 0.25*even[4];
            even += 0.1*odd[-4] + 0.2*odd[-3] + 0.3*odd[-2] + 0.4*odd[-1] + 0.5*odd[0] + 0.6*odd[1];
        }
    ";
    for scheme in lifting_dsl::compile(text).unwrap().schemes {
        for _ in 0..20 {
            check::<f32>(problem(&scheme, &mut random, &SHAPES), &mut random);
            check::<f64>(problem(&scheme, &mut random, &SHAPES), &mut random);
        }
    }
}
