//! What each schedule moves: its kernels run in the interpreter, and counted.

use lifting::{Boundary, Scheme};
use lifting_codegen::cost;
use lifting_codegen::ir::interp::{Arg, Buffer, Counts, Options as Limits, Program};
use lifting_codegen::ir::{Scalar, valid::validate};
use lifting_codegen::schedule::stream::{self, Array, Job, Order};
use lifting_codegen::schedule::{Direction, Options, horizontal, vertical};
use lifting_dsl::geometry::{Geometry, split};

/// Counts by schedule, in lines of a table; a schedule that refuses the wavelet says why.
pub fn table(scheme: &Scheme, boundary: Boundary, sample: Scalar, geometry: &Geometry) -> String {
    let samples = (0..geometry.depth()).map(|j| geometry.level_shape(j).iter().product::<usize>() as u64).sum();
    let mut text = format!(
        "  {:<24}{:>9}{:>9}{:>12}{:>11}{:>9}{:>8}\n",
        "of each sample", "moved", "sectors", "wavefronts", "barriers", "integer", "float"
    );
    for direction in [Direction::Forward, Direction::Inverse] {
        let name = if direction == Direction::Forward { "forward" } else { "inverse" };
        let options = Options { sample, boundary, direction, gain: false };
        let mut line = |what: &str, counts: Result<Counts, String>| {
            let label = format!("{name}, {what}");
            text += &match counts {
                Ok(counts) => {
                    let n = counts.per_sample(samples);
                    format!(
                        "  {label:<24}{:>9.3}{:>9.4}{:>12.4}{:>11.5}{:>9.2}{:>8.2}\n",
                        n.moved, n.transactions, n.wavefronts, n.barriers, n.integer, n.float
                    )
                }
                Err(why) => format!("  {label:<24}  not possible: {why}\n"),
            };
        };
        match separable(scheme, options, geometry) {
            Ok(cost) => {
                let of = |axis| cost.passes.iter().filter(|p| p.axis == axis).map(|p| p.counts).sum();
                line("rows", Ok(of(1)));
                line("columns", Ok(of(0)));
                line("rows + columns", Ok(cost.total()));
            }
            Err(why) => line("rows + columns", Err(why)),
        }
        line("stream", streamed(scheme, options, geometry));
    }
    text
}

fn separable(scheme: &Scheme, options: Options, geometry: &Geometry) -> Result<cost::Cost, String> {
    let row = horizontal::kernel(scheme, options, horizontal::Shape::default()).map_err(|e| e.to_string())?;
    let column = vertical::kernel(scheme, options).map_err(|e| e.to_string())?;
    cost::separable(geometry, options.direction, &row, &column).map_err(|e| e.to_string())
}

/// All levels by the schedule that lifts both axes in one kernel; every band an array of its own whose rows are aligned.
fn streamed(scheme: &Scheme, options: Options, geometry: &Geometry) -> Result<Counts, String> {
    let shape = stream::Shape::for_sample(options.sample);
    let walk = stream::walk(scheme, options, shape).map_err(|e| e.to_string())?;
    let kernel = stream::kernel(scheme, options, Order::HorizontalFirst, shape).map_err(|e| e.to_string())?;
    let info = validate(&kernel).map_err(|e| e.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    let program = Program::new(&kernel, &info);
    let mut total = Counts::default();
    for level in 0..geometry.depth() {
        let level = geometry.level_shape(level);
        let (height, width) = (level[0], level[1]);
        let pitches = [width, split(width, 0).low, split(width, 0).low].map(|n| n.next_multiple_of(256));
        let rows = [height, split(height, 0).low, split(height, 0).low];
        let array = |i: usize| Array { address: 0, pitch: pitches[i] as i64, stride: 0 };
        let job = Job {
            signal: array(0),
            bands: [array(1), array(2), array(2), array(2)],
            width: width as i32,
            height: height as i32,
            parity: [0, 0],
            batch: 1,
        };
        let tuning = walk.tuning(&job, 1).map_err(|e| e.to_string())?;
        let order = match options.direction {
            Direction::Forward => [0, 1, 2, 2, 2],
            Direction::Inverse => [1, 2, 2, 2, 0],
        };
        let buffer = |i: usize| Arg::Buffer(Buffer::zeroed(options.sample, pitches[i] * rows[i]));
        let mut args: Vec<Arg> = order.map(buffer).into();
        args.extend([width as i64, height as i64, 0, 0].map(Arg::Scalar));
        args.extend(pitches.map(|n| Arg::Scalar(n as i64)));
        args.extend([0, 0, 0, 1].map(Arg::Scalar));
        args.extend([tuning.chunk, tuning.aligned, tuning.skew].map(|n| Arg::Scalar(n.into())));
        let counts = program.run(&mut args, Limits { max_steps: u64::MAX }).map_err(|e| e.to_string())?;
        total = [total, counts].into_iter().sum();
    }
    Ok(total)
}
