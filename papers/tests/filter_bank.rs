//! Filtering schedules against an exact filter bank: lines are extended beyond their ends, and sums have 512 bits. The
//! bound on rounding errors is derived ([`Rounding`]). Lifting's results must keep it too, which shows that the filters
//! and the extension are those of the scheme.

use crate::testing::{compiled, full, types};
use lifting_codegen::schedule::{Along, AxisSchedule, Options, Sides};
use lifting_dsl::float::Float;
use lifting_dsl::geometry::{Geometry, Layout};
use lifting_dsl::laurent::Laurent;
use lifting_dsl::oracle::Transform;
use lifting_dsl::polyphase::Filters;
use lifting_dsl::rounding::Rounding;
use lifting_dsl::sample::SampleType;
use lifting_dsl::{Boundary, Direction, Domain, Scheme};
use papers::barrier_free::convolution::SHAPES;

/// A line, and the parity of its first position.
struct Line<'a> {
    samples: &'a [f64],
    parity: i64,
    boundary: Boundary,
}

impl Line<'_> {
    /// The sample at a position of the extended line.
    fn at(&self, position: i64) -> Float {
        let (n, x) = (self.samples.len() as i64, position - self.parity);
        let index = match self.boundary {
            Boundary::Periodic => x.rem_euclid(n),
            // The reflected extension has the period 2(n − 1).
            Boundary::WholeSymmetric => {
                let x = x.rem_euclid(2 * (n - 1));
                x.min(2 * (n - 1) - x)
            }
            Boundary::HalfSymmetric | Boundary::Edge | Boundary::Zero => {
                panic!("{} is not an extension", self.boundary)
            }
        };
        Float::from_f64(self.samples[index as usize]).expect("samples are finite")
    }

    fn positions(&self) -> std::ops::Range<i64> {
        self.parity..self.parity + self.samples.len() as i64
    }

    /// low[k] = Σ low(n) · x[2k + n]; likewise for the high band.
    fn analysed(&self, position: i64, filters: &Filters<Float>) -> Float {
        let bank = &filters.analysis;
        let filter = if position % 2 == 0 { &bank.low } else { &bank.high };
        let first = position - position % 2;
        sum(filter.terms().map(|(n, tap)| tap * &self.at(first + n)))
    }

    /// Band sample k adds low[k] · low(n) to x[2k + n]; likewise for the high band.
    fn synthesised(&self, position: i64, filters: &Filters<Float>) -> Float {
        let band = |filter: &Laurent<Float>, phase: i64| {
            let taps = filter.terms().filter(|(n, _)| (position - n) % 2 == 0);
            sum(taps.map(|(n, tap)| tap * &self.at(position - n + phase)))
        };
        &band(&filters.synthesis.low, 0) + &band(&filters.synthesis.high, 1)
    }
}

fn sum(terms: impl Iterator<Item = Float>) -> Float {
    terms.fold(Float::zero(), |sum, term| &sum + &term)
}

/// The first sample of a transformed line whose error exceeds the rounding bound. Bands are interleaved.
pub fn beyond_rounding(
    scheme: &Scheme,
    (direction, boundary, parity): (Direction, Boundary, usize),
    sample: SampleType,
    [samples, found]: [&[f64]; 2],
) -> Option<String> {
    let line = Line { samples, parity: parity as i64, boundary };
    let filters = Filters::<Float>::of_scheme(scheme);
    let rounding = match direction {
        Direction::Forward => Rounding::of_analysis(scheme),
        Direction::Inverse => Rounding::of_synthesis(scheme),
    };
    let rounding = rounding.expect("a real scheme");
    let geometry = Geometry::new(&[samples.len()], &[line.parity], &[1], &[0]).expect("a geometry");
    let mut transform = Transform::new(rounding.magnitudes().clone(), geometry);
    (transform.boundary, transform.layout) = (boundary, Layout::Interleaved);
    let mut magnitudes: Vec<f64> = samples.iter().map(|x| x.abs()).collect();
    match direction {
        Direction::Forward => transform.forward(&mut magnitudes).expect("the oracle runs"),
        Direction::Inverse => transform.inverse(&mut magnitudes).expect("the oracle runs"),
    }
    let share = rounding.share(sample, 1);
    line.positions().zip(found).zip(magnitudes).find_map(|((position, &found), magnitude)| {
        let exact = match (samples.len(), direction) {
            // Lines of one sample stay unchanged.
            (1, _) => Float::from_f64(samples[0]).expect("samples are finite"),
            (_, Direction::Forward) => line.analysed(position, &filters),
            (_, Direction::Inverse) => line.synthesised(position, &filters),
        };
        let off = Float::from_f64(found).map_or(f64::INFINITY, |found| (&found - &exact).to_f64().abs());
        let bound = share * magnitude;
        (off > bound).then(|| format!("at {position} {found}, not {}: off by {off:e} of {bound:e}", exact.to_f64()))
    })
}

/// The real wavelets of the catalogue, or a selection, and the border rules that each refuses.
#[test]
fn the_catalogue_is_filtered_or_refused_by_name() {
    let schedule = &SHAPES[0];
    let mut ran = [0; 2];
    for (i, entry) in lifting_filters::CATALOGUE.iter().enumerate() {
        let scheme = compiled(entry);
        if !full() && i % 5 != 0 && entry.name != "cdf97" {
            continue;
        }
        for boundary in Boundary::ALL {
            let sample = types(&scheme)[i % types(&scheme).len()];
            let options = Options::new(sample, boundary, Direction::Forward);
            match schedule.kernel(&scheme, options, Sides::both(sample), Along::Row) {
                Ok(_) => {
                    ran[0] += 1;
                    for (length, parity) in [(2, 1), (6, 0), (38, 1), (600, 0)] {
                        crate::passes::check_rows(&scheme, schedule, boundary, (length, parity), sample);
                    }
                }
                Err(e) => {
                    ran[1] += 1;
                    let text = e.to_string();
                    let reason = match scheme.domain() {
                        Domain::Integer => "round integers one after another, which no filter does",
                        Domain::Real if text.contains("do not read an extension") => {
                            assert_ne!(boundary, Boundary::Periodic, "{text}");
                            "do not read an extension of the line"
                        }
                        Domain::Real => "registers a thread for its samples: ",
                    };
                    assert!(text.contains(reason) && text.contains(scheme.name()), "{text}");
                }
            }
        }
    }
    assert!(ran.iter().all(|&n| n >= 20), "{ran:?}");
}
