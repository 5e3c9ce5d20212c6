//! Memory traffic and operations of each schedule, counted by running its kernels in the interpreter.

use lifting::{Boundary, Scheme};
use lifting_codegen::cost::{self, CostError};
use lifting_codegen::ir::{Scalar, interp::Counts};
use lifting_codegen::schedule::level::{Order, RowAlignment};
use lifting_codegen::schedule::{
    Extent, LaunchSchedule, Options, SCHEDULES, Sides, horizontal, lattice, registers, vertical,
};
use lifting_dsl::Direction;
use lifting_dsl::geometry::Geometry;
use serde::Serialize;

/// Counts for each sample.
#[derive(Debug, Serialize)]
struct PerSample {
    /// Samples loaded and stored.
    moved: f64,
    /// Sectors of 32 bytes.
    sectors: f64,
    /// Wavefronts of shared memory.
    wavefronts: f64,
    barriers: f64,
    /// Integer operations, index arithmetic included.
    integer: f64,
    float: f64,
}

impl PerSample {
    fn of(counts: &Counts, samples: u64) -> PerSample {
        let n = counts.per_sample(samples);
        PerSample {
            moved: n.moved,
            sectors: n.transactions,
            wavefronts: n.wavefronts,
            barriers: n.barriers,
            integer: n.integer,
            float: n.float,
        }
    }
}

/// Counts of a schedule in one direction, for each sample.
#[derive(Debug, Serialize)]
pub struct Moves {
    direction: &'static str,
    schedule: String,
    #[serde(flatten)]
    counts: Option<PerSample>,
    /// Reason that the schedule refuses the wavelet.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// Table of the counts. A schedule that refuses the wavelet shows the reason.
pub fn table(moves: &[Moves]) -> String {
    let mut text = format!(
        "  {:<24}{:>9}{:>9}{:>12}{:>11}{:>9}{:>8}\n",
        "of each sample", "moved", "sectors", "wavefronts", "barriers", "integer", "float"
    );
    for Moves { direction, schedule, counts, refused } in moves {
        let label = format!("{direction}, {schedule}");
        text += &match counts {
            Some(n) => format!(
                "  {label:<24}{:>9.3}{:>9.4}{:>12.4}{:>11.5}{:>9.2}{:>8.2}\n",
                n.moved, n.sectors, n.wavefronts, n.barriers, n.integer, n.float
            ),
            None => format!("  {label:<24}  not possible: {}\n", refused.as_deref().unwrap_or_default()),
        };
    }
    text
}

/// Counts by schedule.
pub fn all(scheme: &Scheme, boundary: Boundary, sample: Scalar, geometry: &Geometry) -> Vec<Moves> {
    let samples = (0..geometry.depth()).map(|j| geometry.level_shape(j).iter().product::<usize>() as u64).sum();
    let mut all = Vec::new();
    for direction in [Direction::Forward, Direction::Inverse] {
        let name = if direction == Direction::Forward { "forward" } else { "inverse" };
        let options = Options::new(sample, boundary, direction);
        let mut line = |what: &str, counts: Result<Counts, String>| {
            let refused = counts.as_ref().err().cloned();
            let counts = counts.ok().map(|counts| PerSample::of(&counts, samples));
            all.push(Moves { direction: name, schedule: what.to_owned(), counts, refused });
        };
        match separable(scheme, options, geometry) {
            Ok(cost) => {
                let of = |axis| cost.passes.iter().filter(|p| p.axis == axis).map(|p| p.counts).sum();
                line("rows", Ok(of(1)));
                line("columns", Ok(of(0)));
                line("rows + columns", Ok(cost.total()));
            }
            Err(why) => line("rows + columns", Err(why.to_string())),
        }
        let registers = passes_in_registers(scheme, options, geometry);
        line("in registers", registers.map(|cost| cost.total()).map_err(|e| e.to_string()));
        for schedule in SCHEDULES.iter().filter(|schedule| schedule.extent() == Extent::Plane) {
            let counts = in_one_pass(*schedule, scheme, options, geometry);
            line(schedule.name(), counts.map_err(|e| e.to_string()));
        }
        if scheme.lattice().is_some() {
            line("lattice", whole_vectors(scheme, options, geometry).map_err(|e| e.to_string()));
        }
    }
    all
}

fn separable(scheme: &Scheme, options: Options, geometry: &Geometry) -> Result<cost::Cost, CostError> {
    let row = horizontal::kernel(scheme, options, horizontal::HorizontalShape::default())?;
    let column = vertical::kernel(scheme, options)?;
    cost::separable(geometry, options.direction, &row, &column)
}

/// All levels by one pass per axis with strips in registers; with vector loads if all levels consist of whole vectors.
fn passes_in_registers(scheme: &Scheme, options: Options, geometry: &Geometry) -> Result<cost::Cost, CostError> {
    let sides = Sides::both(options.sample);
    let width = |level| geometry.level_shape(level).last().copied().unwrap_or(1);
    let whole = |columns: u32| (0..=geometry.depth()).all(|level| width(level) % columns as usize == 0);
    let row =
        registers::horizontal::RegisterRowShape::of(sides, whole(16 / options.sample.bytes() as u32), width(0) as i64);
    let row = registers::horizontal::kernel(scheme, options, sides, row)?;
    let candidates =
        registers::vertical::RegisterColumnShape::candidates(options.direction, sides).filter(|&c| whole(c));
    let columns = registers::vertical::RegisterColumnShape::of(candidates.max().unwrap_or(1), 1);
    let column = registers::vertical::kernel(scheme, options, sides, columns)?;
    cost::separable(geometry, options.direction, &row, &column)
}

/// All levels by kernels that hold whole rows and columns.
fn whole_vectors(scheme: &Scheme, options: Options, geometry: &Geometry) -> Result<Counts, CostError> {
    let [height, width] = geometry.shape() else { return Err(CostError::NotAnImage) };
    let [row, column] = lattice::pair(scheme, options, [*width, *height])?;
    Ok(cost::separable(geometry, options.direction, &row, &column)?.total())
}

/// All levels by the kernels of a schedule, both axes in one pass.
fn in_one_pass(
    schedule: &dyn LaunchSchedule,
    scheme: &Scheme,
    options: Options,
    geometry: &Geometry,
) -> Result<Counts, CostError> {
    let shape = schedule.usual(scheme, options)?;
    let fit = schedule.fit(scheme, options, shape, RowAlignment::Any)?;
    let kernel = fit.kernel(scheme, Order::HorizontalFirst)?;
    cost::both_axes(geometry, options, &kernel, &*fit)
}
