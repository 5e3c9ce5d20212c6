//! One axis on a CPU: loops over contiguous memory, one thread.
//!
//! rewrite: a scheme along one axis → loops over contiguous memory, one thread
//!
//! `horizontal` splits a row into its two phases in scratch memory. It extends the phase that a step reads by the
//! border rule, then runs the step as one branch-free loop. `vertical` never splits. Its inner loop runs over
//! neighbouring columns. The lags of the sliding window ([`crate::window::Window`]) let every step work on rows still
//! in the cache, in place in the bands (forward) or in the signal (inverse). Both are written for compilers to
//! vectorise. `in_place` replaces lines of any stride by their bands, for machines without room for a second array.
//! `sweep` has both axes of a level in one pass over its rows.
//!
//! Source: the sliding window of van der Laan, Jalba & Roerdink 2011, section IV-F, with a height of one pair. Loops
//! over columns follow Chaver et al., "Wavelet Transform for Large Scale Image Processing on Modern Microprocessors",
//! VECPAR 2002.

mod horizontal;
mod sweep;
mod vertical;

pub use horizontal::{Margins, horizontal, in_place};
pub(crate) use sweep::BLOCK_BYTES;
pub use sweep::{Row, Sweep, SweepStep};
pub use vertical::vertical;

use super::border::within_phase;
use super::{Arithmetic, Options, ScheduleError};
use crate::ir::build::Builder;
use crate::ir::{Access, Expr, Launch, LocalId, ParamId, Scalar, Space};
use lifting_dsl::{Boundary, Direction, Phase, Scheme};

/// One array: a pointer, and the distances between its rows and between its images, in samples.
#[derive(Clone, Copy)]
struct RowArray {
    pointer: ParamId,
    pitch: ParamId,
    stride: ParamId,
}

impl RowArray {
    fn space(self) -> Space {
        Space::Global(self.pointer)
    }
}

/// The parameters of a pass, in the order that all schedules have them (see [`super::Pass::declare`]).
struct Params {
    options: Options,
    arith: Arithmetic,
    signal: RowArray,
    low: RowArray,
    high: RowArray,
    length: ParamId,
    /// Position of the first sample: 0 if even, 1 if odd.
    parity: Expr,
    lines: ParamId,
    batch: ParamId,
    gain: Option<ParamId>,
    /// One past the last k of each phase.
    ends: [LocalId; 2],
}

/// Names, access and descriptions of a pass's arrays. `in_place` kernels also read their output.
fn access(direction: Direction, in_place: bool) -> [(&'static str, Access, &'static str); 3] {
    let out = if in_place { Access::ReadWrite } else { Access::Write };
    match direction {
        Direction::Forward => [
            ("src", Access::Read, "the signal"),
            ("low", out, "receives the low band"),
            ("high", out, "receives the high band"),
        ],
        Direction::Inverse => [
            ("low", Access::Read, "the low band"),
            ("high", Access::Read, "the high band"),
            ("dst", out, "receives the signal"),
        ],
    }
}

impl Params {
    fn declare(
        b: &mut Builder,
        scheme: &Scheme,
        options: Options,
        lines: &str,
        in_place: bool,
    ) -> Result<Params, ScheduleError> {
        let arith = arithmetic(scheme, options)?;
        let names = access(options.direction, in_place);
        let pointers = names.map(|(name, access, doc)| b.pointer(name, options.sample, access, doc));
        let length = b.scalar("length", Scalar::I32, "samples along the axis, at least 1");
        let parity = b.scalar("parity", Scalar::I32, "position of the first sample: 0 if even, 1 if odd").into();
        let lines = b.scalar("lines", Scalar::I32, lines);
        let distance = |b: &mut Builder, suffix: &str, what: &str| {
            names.map(|(name, ..)| {
                let doc = format!("samples from one {what} of {name} to the next");
                b.scalar(&format!("{name}_{suffix}"), Scalar::I64, &doc)
            })
        };
        let pitches = distance(b, "pitch", "row");
        let strides = distance(b, "stride", "image");
        let batch = b.scalar("batch", Scalar::I32, "number of images");
        let gain = Params::declare_gain(b, options);
        let array = |i: usize| RowArray { pointer: pointers[i], pitch: pitches[i], stride: strides[i] };
        let (signal, low, high) = match options.direction {
            Direction::Forward => (array(0), array(1), array(2)),
            Direction::Inverse => (array(2), array(0), array(1)),
        };
        Ok(Params { options, arith, signal, low, high, length, parity, lines, batch, gain, ends: [LocalId(0); 2] })
    }

    /// The parameters of lines in place: samples of a line are `stride` apart, lines `pitch`, and the first sample is
    /// even. Signal and bands are one array.
    fn declare_in_place(b: &mut Builder, scheme: &Scheme, options: Options) -> Result<Params, ScheduleError> {
        let arith = arithmetic(scheme, options)?;
        let pointer = b.pointer("data", options.sample, Access::ReadWrite, "the first sample of the first line");
        let mut scalar = |name: &str, what: &str| b.scalar(name, Scalar::I32, what);
        let length = scalar("length", "samples of a line, at least 1");
        let stride = scalar("stride", "distance of a line's samples in the array");
        let lines = scalar("lines", "number of lines");
        let pitch = scalar("pitch", "distance of lines in the array");
        let gain = Params::declare_gain(b, options);
        let [signal, low, high] = [RowArray { pointer, pitch, stride }; 3];
        let (parity, batch, ends) = (0.into(), lines, [LocalId(0); 2]);
        Ok(Params { options, arith, signal, low, high, length, parity, lines, batch, gain, ends })
    }

    fn declare_gain(b: &mut Builder, options: Options) -> Option<ParamId> {
        let what = "bits of headroom that this pass adds (forward) or removes (inverse); else 0";
        options.gain.then(|| b.scalar("gain", Scalar::I32, what))
    }

    /// Sets the variables that the kernel's body starts from.
    fn begin(&mut self, b: &mut Builder) {
        let end = self.parity + self.length;
        let even = b.let_("even_end", Scalar::I32, (end + 1) / 2);
        let odd = b.let_("odd_end", Scalar::I32, end / 2);
        self.ends = [even, odd];
    }

    /// Smallest k of a phase with a sample, and one past the largest.
    fn range(&self, phase: Phase) -> (Expr, Expr) {
        let first = match phase {
            Phase::Even => self.parity,
            Phase::Odd => 0.into(),
        };
        (first, self.ends[phase.parity() as usize].into())
    }

    /// Index within its band of the phase's sample k.
    fn band_index(&self, phase: Phase, k: Expr) -> Expr {
        match phase {
            Phase::Even => k - self.parity,
            Phase::Odd => k,
        }
    }

    /// Index within the signal of the phase's sample k.
    fn signal_index(&self, phase: Phase, k: Expr) -> Expr {
        k * 2 + phase.parity() as i32 - self.parity
    }

    fn band(&self, phase: Phase) -> RowArray {
        match phase {
            Phase::Even => self.low,
            Phase::Odd => self.high,
        }
    }

    /// The k inside the signal that serves a read of `phase` at any k. Under `zero`, the nearest one; its value is not
    /// used.
    fn serve(&self, phase: Phase, k: Expr, first: Expr, last: Expr) -> Expr {
        let (p, length) = (phase.parity() as i32, || self.length);
        let back = |index: Expr| (index + (self.parity - p)) / 2;
        let index = self.signal_index(phase, k);
        match self.options.boundary {
            Boundary::WholeSymmetric => back(Expr::mirror(index, length())),
            Boundary::Periodic => back(Expr::wrap(index, length())),
            rule => within_phase(rule, k, first, last),
        }
    }

    /// Runs `body` for each image, with the offsets of the image in signal, low and high.
    fn for_each_image(&self, b: &mut Builder, body: impl FnOnce(&mut Builder, Bases)) {
        b.for_("image", 0, self.batch, 1, |b, image| {
            let forward = self.options.direction == Direction::Forward;
            let base = |b: &mut Builder, name: &str, a: RowArray| {
                b.let_(name, Scalar::I64, image.cast(Scalar::I64) * a.stride)
            };
            let signal = base(b, if forward { "src_image" } else { "dst_image" }, self.signal);
            let low = base(b, "low_image", self.low);
            let high = base(b, "high_image", self.high);
            body(b, Bases { signal, low, high });
        });
    }

    /// A sample as the first pass of a level loads it: with the gain.
    fn taken(&self, value: Expr) -> Expr {
        match (self.gain, self.options.direction) {
            (Some(gain), Direction::Forward) => self.arith.shift_up(value, gain.into()),
            _ => value,
        }
    }

    /// A sample as the last pass of a level stores it: without the gain.
    fn given(&self, value: Expr) -> Expr {
        match (self.gain, self.options.direction) {
            (Some(gain), Direction::Inverse) => self.arith.shift_down(value, gain.into()),
            _ => value,
        }
    }
}

/// Types of arithmetic; these kernels compute in the sample type itself.
fn arithmetic(scheme: &Scheme, options: Options) -> Result<Arithmetic, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?;
    if arith.storage == arith.work {
        return Ok(arith);
    }
    Err(ScheduleError::Storage { schedule: "rows", sample: arith.storage.name(), work: arith.work.name() })
}

/// Offsets of an image, or of a row of it, in the three arrays.
#[derive(Clone, Copy)]
struct Bases {
    signal: LocalId,
    low: LocalId,
    high: LocalId,
}

impl Bases {
    fn band(&self, phase: Phase) -> LocalId {
        match phase {
            Phase::Even => self.low,
            Phase::Odd => self.high,
        }
    }
}

/// Variable name of a step's read by its offset: `even_m1`, `odd`, `odd_p2`.
fn read_name(phase: Phase, offset: i32) -> String {
    match offset {
        0 => phase.name().into(),
        o if o < 0 => format!("{}_m{}", phase.name(), -o),
        o => format!("{}_p{o}", phase.name()),
    }
}

fn one_thread() -> Launch {
    Launch { block: [1, 1, 1], grid: [1.into(), 1.into(), 1.into()] }
}

const PHASES: [Phase; 2] = [Phase::Even, Phase::Odd];
