//! Lattices under the periodic rule against the language reference, stage by stage and sample by sample.

use lifting_dsl::geometry::{Geometry, Layout};
use lifting_dsl::oracle::Transform;
use lifting_dsl::{Boundary, PairStage, Scheme, Weight};

fn schemes() -> Vec<Scheme> {
    lifting_dsl::compile(include_str!("lattices.lift")).expect("it compiles").schemes
}

/// Irregular samples.
fn noise(n: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * i * 31 + 7 * i + 3) % 97) as f64 / 7.0 - 5.0).collect()
}

/// y = fl(fl(a·u) + fl(b·v)) on the pairs (x[2k + l − L], x[2k + l − L + 1]) of stage l, cyclically.
macro_rules! by_the_book {
    ($name:ident, $t:ty, $round:ident) => {
        fn $name(rows: &[[[Weight; 2]; 2]], line: &mut [$t], origin: i64) {
            let n = line.len() as i64;
            let stages = rows.len() as i64;
            for (l, rows) in (1..).zip(rows) {
                let before = line.to_vec();
                let at = |position: i64| (position - origin).rem_euclid(n) as usize;
                for k in 0..n / 2 {
                    let (i, j) = (at(2 * k + l - stages), at(2 * k + l - stages + 1));
                    for (to, [a, b]) in [(i, &rows[0]), (j, &rows[1])] {
                        let (left, right) = (a.$round() * before[i], b.$round() * before[j]);
                        line[to] = left + right;
                    }
                }
            }
        }
    };
}
by_the_book!(in_f32, f32, to_f32);
by_the_book!(in_f64, f64, to_f64);

/// Checks the advice given on refusing an even `lattice paper`: the paper's bands, with the high one a sample later.
#[test]
fn a_swap_makes_a_lattice_of_the_paper_odd() {
    let scheme = |body: &str| {
        let text = format!("wavelet w {{ domain real; boundary periodic; {body} }}");
        lifting_dsl::compile(&text).map(|mut compiled| compiled.schemes.remove(0))
    };
    let two = "rotate(3/5, 4/5); reflect(0.9, -0.3);";
    let errors = format!("{:?}", scheme(&format!("lattice paper {{ {two} }}")).expect_err("it is refused"));
    assert!(errors.contains("append `matrix(0, 1, 1, 0);`"), "{errors}");
    let swapped = scheme(&format!("lattice paper {{ {two} matrix(0, 1, 1, 0); }}")).expect("it compiles");
    let plain = scheme(&format!("lattice {{ {two} }}")).expect("it compiles");
    let transform = |scheme: Scheme, line: &mut [f64]| {
        let mut oracle = Transform::new(scheme, Geometry::uniform(&[16], 1).expect("a geometry"));
        oracle.boundary = Boundary::Periodic;
        oracle.forward(line).expect("it runs");
    };
    // The paper's stages are these stages on a signal that begins a sample later.
    let (mut found, mut expected) = (noise(16), noise(16));
    expected.rotate_left(1);
    transform(swapped, &mut found);
    transform(plain, &mut expected);
    found[8..].rotate_left(1);
    assert_eq!(found, expected);
}

/// The matrices of the stages of a scheme.
fn rows(stages: &[PairStage]) -> Vec<[[Weight; 2]; 2]> {
    stages.iter().map(|s| s.rows.clone()).collect()
}

#[test]
fn stages_are_as_written() {
    let stages = schemes()[1].stages(Boundary::Periodic).expect("a lattice");
    let values = stages.iter().map(|s| s.rows.each_ref().map(|r| r.each_ref().map(Weight::to_f64))).collect::<Vec<_>>();
    let root = 3f64.sqrt() / 2.0;
    assert_eq!(values, [[[0.5, root], [-root, 0.5]], [[0.9, -0.3], [-0.3, -0.9]]]);
}

#[test]
fn the_oracle_runs_stage_by_stage() {
    for scheme in schemes() {
        let rows = rows(&scheme.stages(Boundary::Periodic).expect("a lattice"));
        for n in [2, 4, 6, 10, 64] {
            for origin in [0, 1] {
                let geometry = Geometry::new(&[n], &[origin], &[1], &[0]).expect("a geometry");
                let mut oracle = Transform::new(scheme.clone(), geometry);
                (oracle.boundary, oracle.layout) = (Boundary::Periodic, Layout::Interleaved);
                let (mut found, mut expected) = (noise(n), noise(n));
                oracle.forward(&mut found).expect("it runs");
                in_f64(&rows, &mut expected, origin);
                assert_eq!(found, expected, "{} {n} {origin}", scheme.name());
                oracle.inverse(&mut found).expect("it runs");
                let worst = found.iter().zip(noise(n)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(worst < 1e-12, "{} {n} {origin}: {worst}", scheme.name());

                let single = || noise(n).into_iter().map(|x| x as f32).collect::<Vec<f32>>();
                let (mut found, mut expected) = (single(), single());
                oracle.forward(&mut found).expect("it runs");
                in_f32(&rows, &mut expected, origin);
                assert_eq!(found, expected, "{} {n} {origin}", scheme.name());
            }
        }
    }
}

/// Steps of a lattice agree with its stages up to rounding; under other border rules the steps run.
#[test]
fn steps_agree_but_for_rounding() {
    for scheme in schemes() {
        let by_steps = Scheme::from_steps("steps", scheme.domain(), scheme.boundary(), scheme.steps().to_vec());
        let by_steps = by_steps.expect("a scheme");
        for boundary in [Boundary::Periodic, Boundary::Zero] {
            let run = |scheme: &Scheme| {
                let mut oracle = Transform::new(scheme.clone(), Geometry::uniform(&[24], 2).expect("a geometry"));
                oracle.boundary = boundary;
                let mut line = noise(24);
                oracle.forward(&mut line).expect("it runs");
                line
            };
            let (stages, steps) = (run(&scheme), run(&by_steps));
            let scale = steps.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            let worst = stages.iter().zip(&steps).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-11 * scale, "{} {boundary}: {worst} of {scale}", scheme.name());
            assert_eq!(scheme.stages(boundary).is_none(), boundary == Boundary::Zero);
            assert!(boundary == Boundary::Periodic || stages == steps, "{}", scheme.name());
        }
    }
}

#[test]
fn inverse_matrices_are_exact_where_the_stages_are_rational() {
    let stages = schemes()[2].inverse_stages(Boundary::Periodic).expect("a lattice");
    let third = |n: i64, d: i64| Weight::Rational(num_rational::BigRational::new(n.into(), d.into()));
    // The inverse of [[1, 1/3], [-1, 2]], with determinant 7/3: the first stage, so the last to be undone.
    assert_eq!(stages[2].rows, [[third(6, 7), third(-1, 7)], [third(3, 7), third(3, 7)]]);
}
