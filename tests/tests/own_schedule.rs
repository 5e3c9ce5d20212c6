//! A user-defined schedule, in no table: the traits to implement, and a plan that uses it.
//!
//! Each thread has a square of two by two samples. So the schedule supports wavelets whose steps stay within a pair of
//! samples, such as Haar's, and images of even sides, where no border splits a pair.

use lifting::{Device, Plan, PlanError, Reason, Sample, Schedule, catalogue};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::{Builtin, Cache, Expr, Kernel, Launch, LocalId, ParamId, Scalar, Space};
use lifting_codegen::machine::Machine;
use lifting_codegen::schedule::demand::Demand;
use lifting_codegen::schedule::level::{Job, MAX_BATCH, Order, Params, RowAlignment};
use lifting_codegen::schedule::{self, Arithmetic, Extent, Field, Fit, Options, ScheduleError, Shape, step_value};
use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;
use lifting_dsl::{Direction, Phase, Scheme, Step};
use std::fmt;
use std::sync::Arc;

/// Squares of two by two samples, one per thread.
struct Squares;

const SQUARES: Schedule = Schedule::Launch(&Squares);

/// Place of sample (i, j) of a square: array and index.
type At<'a> = dyn Fn(i32, i32) -> (ParamId, Expr) + 'a;

/// The schedule's data for a scheme.
#[derive(Debug)]
struct SquaresFit {
    options: Options,
    arith: Arithmetic,
    steps: Vec<Step>,
    warps: u32,
}

impl schedule::LaunchSchedule for Squares {
    fn name(&self) -> &'static str {
        "squares"
    }

    fn about(&self) -> &'static str {
        "Both axes in one pass: squares of two by two samples, one a thread"
    }

    fn extent(&self) -> Extent {
        Extent::Plane
    }

    fn fields(&self) -> &'static [Field] {
        &[Field::WARPS]
    }

    fn describe(&self, shape: &Shape, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "squares, {} warps", shape.get("warps").unwrap_or(0))
    }

    fn alignments(&self) -> &'static [RowAlignment] {
        &[RowAlignment::Any]
    }

    fn fit(
        &self,
        scheme: &Scheme,
        options: Options,
        shape: Shape,
        _rows: RowAlignment,
    ) -> Result<Arc<dyn Fit>, ScheduleError> {
        let arith = Arithmetic::of(scheme, options)?;
        let steps = options.direction.steps(scheme);
        let is_far = |step: &&Step| step.index_support().is_some_and(|support| support != (0, 0));
        let far = steps.iter().filter(is_far).count();
        if far > 0 || options.direction.stages(scheme, options.boundary).is_some() {
            let (schedule, wavelet) = (self.name(), scheme.name().to_owned());
            let what = "the number of steps that read beyond their own pair";
            return Err(ScheduleError::Reach { schedule, wavelet, what, required: far as i64, available: 0 });
        }
        Ok(Arc::new(SquaresFit { options, arith, steps, warps: shape.get("warps").unwrap_or(1) }))
    }

    fn proposed(
        &self,
        scheme: &Scheme,
        options: Options,
        _job: &Job,
        _machine: &Machine,
    ) -> Result<Vec<Shape>, ScheduleError> {
        self.usual(scheme, options).map(|shape| vec![shape])
    }

    fn usual(&self, _scheme: &Scheme, _options: Options) -> Result<Shape, ScheduleError> {
        Ok(Shape::new(&Squares, &[4]))
    }
}

impl Fit for SquaresFit {
    fn alignment(&self) -> RowAlignment {
        RowAlignment::Any
    }

    fn block(&self) -> [i64; 2] {
        [64, 2 * i64::from(self.warps)]
    }

    fn placement(&self, job: &Job) -> Result<[i32; 2], ScheduleError> {
        let cut = [job.width, job.height, job.parity[0], job.parity[1]].iter().any(|n| n % 2 != 0);
        if cut || job.batch > MAX_BATCH {
            let what = "a side or a first position is odd, or the batch too large".into();
            return Err(ScheduleError::Launch { schedule: "squares", what });
        }
        Ok([0, 0])
    }

    fn chunk(&self, _job: &Job, _machine: &Machine) -> i32 {
        1
    }

    /// Moves all samples once, with few instructions.
    fn demand(&self, _job: &Job, _chunk: u32, _machine: &Machine) -> Demand {
        Demand { moved: 1.0, instructions: 20.0 + self.steps.len() as f64, latency: 1.0, power: 2.0, slower: 1.0 }
    }

    fn kernel(&self, scheme: &Scheme, order: Order) -> Result<Kernel, ScheduleError> {
        let Options { sample, direction, .. } = self.options;
        let mut builder = Builder::new(self.options.kernel_name(scheme, "squares"));
        let b = &mut builder;
        b.doc("Both axes in one pass: a square of two by two samples a thread.");
        let params = Params::declare(b, self.options);
        let x = Builtin::BlockX * 32 + Builtin::ThreadX;
        let y = Builtin::BlockY * self.warps as i32 + Builtin::ThreadY;
        let (x, y) = (b.let_("x", Scalar::I32, x), b.let_("y", Scalar::I32, y));
        let half = |side: ParamId| side >> 1;
        let is_inside = x.lt(half(params.width)).and(y.lt(half(params.height)));
        b.if_(is_inside, |b| {
            let bases = params.offsets(b, Builtin::BlockZ.into());
            let wide = |e: Expr| e.cast(Scalar::I64);
            let at = |base: LocalId, pitch: ParamId, row: Expr, column: Expr| base + wide(row) * pitch + wide(column);
            // Sample (i, j) of the square, in the image and in the bands.
            let signal = |i: i32, j: i32| {
                let [row, column] = [(y, i), (x, j)].map(|(k, i)| (k << 1) + i);
                (params.signal, at(bases[0], params.signal_pitch, row, column))
            };
            let band = |i: i32, j: i32| {
                let (index, other) = ((2 * i + j) as usize, usize::from(i + j > 0));
                (params.bands[index], at(bases[1 + other], params.band_pitches[other], y.into(), x.into()))
            };
            let (from, to): (&At, &At) = match direction {
                Direction::Forward => (&signal, &band),
                Direction::Inverse => (&band, &signal),
            };
            let square = [0, 1].map(|i| {
                [0, 1].map(|j| {
                    let (array, index) = from(i, j);
                    let loaded = b.declare("loaded", sample);
                    b.load(loaded, Space::Global(array), index, 1, Cache::Default);
                    let value = b.declare("sample", self.arith.work);
                    let widened = self.arith.widen(loaded.into());
                    b.set(
                        value,
                        match (params.gain, direction) {
                            (Some(gain), Direction::Forward) => self.arith.shift_up(widened, gain.into()),
                            _ => widened,
                        },
                    );
                    value
                })
            });
            let [[a, c], [d, e]] = square;
            let (rows, columns) = ([[a, c], [d, e]], [[a, d], [c, e]]);
            let axes = if order.across_first(direction) { [rows, columns] } else { [columns, rows] };
            axes.into_iter().flatten().for_each(|pair| self.lift(b, pair));
            for (i, row) in square.into_iter().enumerate() {
                for (j, value) in row.into_iter().enumerate() {
                    let (array, index) = to(i as i32, j as i32);
                    let value = match (params.gain, direction) {
                        (Some(gain), Direction::Inverse) => self.arith.shift_down(value.into(), gain.into()),
                        _ => value.into(),
                    };
                    b.store(Space::Global(array), index, self.arith.narrow(value));
                }
            }
        });
        let warps = self.warps as i32;
        let columns = (half(params.width) + 31) / 32;
        let rows = (half(params.height) + (warps - 1)) / warps;
        Ok(builder.finish(Launch { block: [32, self.warps, 1], grid: [columns, rows, params.batch.into()] }))
    }
}

impl SquaresFit {
    /// All steps on one pair.
    fn lift(&self, b: &mut Builder, [even, odd]: [LocalId; 2]) {
        for step in &self.steps {
            let (own, other) = if step.target() == Phase::Even { (even, odd) } else { (odd, even) };
            let value = step_value(step, self.arith, own.into(), &mut |_| other.into());
            b.set(own, value);
        }
    }
}

/// Compares a plan in squares with the oracle: every bit of both directions.
fn same_as_the_oracle<T: Sample>(wavelet: &str, shape: &[usize], levels: u32, order: [usize; 2]) {
    let scheme = catalogue::find(wavelet).expect("the catalogue has it");
    let batch = shape.len() - 2;
    let axes: Vec<usize> = order.iter().map(|axis| axis + batch).collect();
    let per_axis: Vec<u32> = (0..shape.len()).map(|axis| if axis < batch { 0 } else { levels }).collect();
    let plan = Plan::builder(&scheme).shape(shape).levels_per_axis(&per_axis).axis_order(&axes).sample::<T>();
    let plan = plan.schedule(SQUARES).build(&Device::Interpreter).unwrap_or_else(|e| panic!("{wavelet}: {e}"));
    for choice in &plan.recipe().choices {
        assert_eq!((choice.taken.way.schedule(), choice.reason), (SQUARES, Reason::Asked), "{choice}");
        assert!(choice.to_string().contains("squares, 4 warps: 1 launch"), "{choice}");
    }
    let data: Vec<T> = (0..plan.len()).map(|i| T::from_i64((i * i * 31 % 2003) as i64 - 1001)).collect();
    let geometry = Geometry::new(shape, &vec![0; shape.len()], &per_axis, &axes).expect("a geometry");
    let oracle = Transform::new(scheme.clone(), geometry);
    let mut expected = data.clone();
    oracle.forward(&mut expected).expect("the oracle runs");
    let (mut found, mut back) = (vec![T::default(); data.len()], vec![T::default(); data.len()]);
    plan.forward(&data, &mut found).expect("it runs");
    assert!(found == expected, "{wavelet} {shape:?}");
    oracle.inverse(&mut expected).expect("the oracle runs");
    plan.inverse(&found, &mut back).expect("it runs");
    assert!(back == expected, "{wavelet} {shape:?}");
}

#[test]
fn plans_accept_a_user_defined_schedule() {
    for order in [[0, 1], [1, 0]] {
        same_as_the_oracle::<f32>("cdf1_1", &[64, 96], 3, order);
        same_as_the_oracle::<f64>("cdf1_1", &[2, 2], 1, order);
        same_as_the_oracle::<i16>("s_transform", &[36, 68], 2, order);
        same_as_the_oracle::<i32>("s_transform", &[3, 24, 40], 2, order);
        same_as_the_oracle::<i64>("haar_vc2_0", &[6, 262], 1, order);
    }
}

#[test]
fn unsupported_wavelets_and_shapes_are_refused() {
    let refused = |wavelet: &str, shape: &[usize]| -> String {
        let scheme = catalogue::find(wavelet).expect("the catalogue has it");
        let plan = Plan::builder(&scheme).shape(shape).schedule(SQUARES).sample::<f32>();
        let error = plan.build(&Device::Interpreter).expect_err("it is refused");
        assert!(matches!(error, PlanError::Refused { schedule, .. } if schedule == SQUARES), "{error}");
        error.to_string()
    };
    let long = refused("cdf97", &[64, 64]);
    assert!(long.contains("the number of steps that read beyond their own pair: 4 required"), "{long}");
    assert!(refused("cdf1_1", &[64, 63]).contains("a side or a first position is odd"));
}
