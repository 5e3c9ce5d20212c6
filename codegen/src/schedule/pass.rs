//! Pass parameters shared by all pass kernels, and sample access through them.

use super::border::within_phase;
use super::{Arithmetic, Options, Sides};
use crate::ir::build::Builder;
use crate::ir::{Access, Builtin, Cache, Expr, LocalId, ParamId, Place, Scalar, Space};
use lifting_dsl::{Boundary, Direction, Phase, Step};

/// One array of a pass: a pointer, and the distances between rows and between images, in samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassArray {
    pub(super) pointer: ParamId,
    pub(super) pitch: ParamId,
    pub(super) stride: ParamId,
    pub(super) scalar: Scalar,
}

/// Direction of the transformed axis in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Samples of a line are contiguous; lines are `pitch` apart.
    Row,
    /// Samples of a line are `pitch` apart; lines are contiguous.
    Column,
}

/// Parameters of a pass kernel (see the crate's ABI in [`Pass::declare`]), and the border rule in terms of them.
pub struct Pass {
    options: Options,
    arith: Arithmetic,
    along: Along,
    /// `src` or `dst`: the interleaved side.
    pub(super) signal: PassArray,
    pub(super) low: PassArray,
    pub(super) high: PassArray,
    /// Samples along the axis.
    pub length: ParamId,
    /// Position of the first sample, 0 or 1.
    pub parity: ParamId,
    /// Number of lines.
    pub lines: ParamId,
    /// Number of images.
    pub batch: ParamId,
    pub(super) gain: Option<ParamId>,
}

impl Pass {
    /// Declares the parameters. Forward: `src, low, high, length, parity, lines, src_pitch, low_pitch, high_pitch,
    /// src_stride, low_stride, high_stride, batch[, gain]`; inverse: `low, high, dst, length, parity, lines, low_pitch,
    /// high_pitch, dst_pitch, low_stride, high_stride, dst_stride, batch[, gain]`. Pitches and strides count samples
    /// and may be negative.
    pub fn declare(b: &mut Builder, options: Options, sides: Sides, arith: Arithmetic, along: Along) -> Pass {
        let forward = options.direction == Direction::Forward;
        let names: [(&str, Access, &str); 3] = if forward {
            [
                ("src", Access::Read, "the signal"),
                ("low", Access::Write, "receives the low band"),
                ("high", Access::Write, "receives the high band"),
            ]
        } else {
            [
                ("low", Access::Read, "the low band"),
                ("high", Access::Read, "the high band"),
                ("dst", Access::Write, "receives the signal"),
            ]
        };
        let types =
            if forward { [sides.signal, sides.bands, sides.bands] } else { [sides.bands, sides.bands, sides.signal] };
        let mut typed = types.into_iter();
        let pointers =
            names.map(|(name, access, doc)| b.pointer(name, typed.next().expect("a type for each array"), access, doc));
        let length = b.scalar("length", Scalar::I32, "samples along the axis, at least 1");
        let parity = b.scalar("parity", Scalar::I32, "position of the first sample: 0 if even, 1 if odd");
        let lines = b.scalar(
            "lines",
            Scalar::I32,
            match along {
                Along::Row => "number of rows",
                Along::Column => "number of columns",
            },
        );
        let pitches = names.map(|(name, ..)| {
            b.scalar(&format!("{name}_pitch"), Scalar::I64, &format!("samples from one row of {name} to the next"))
        });
        let strides = names.map(|(name, ..)| {
            b.scalar(&format!("{name}_stride"), Scalar::I64, &format!("samples from one image of {name} to the next"))
        });
        let batch = b.scalar("batch", Scalar::I32, "number of images");
        let gain = options.gain.then(|| {
            b.scalar("gain", Scalar::I32, "bits of headroom that this pass adds (forward) or removes (inverse); else 0")
        });
        let array =
            |i: usize| PassArray { pointer: pointers[i], pitch: pitches[i], stride: strides[i], scalar: types[i] };
        let (signal, low, high) = if forward { (array(0), array(1), array(2)) } else { (array(2), array(0), array(1)) };
        Pass { options, arith, along, signal, low, high, length, parity, lines, batch, gain }
    }

    /// Runs `body` for each image of this block: `for (image = blockIdx.z; image < batch; image += gridDim.z)`.
    pub fn for_each_image(&self, b: &mut Builder, body: impl FnOnce(&mut Builder, Image)) {
        let batch = self.batch;
        b.for_("image", Builtin::BlockZ, batch, Builtin::GridZ, |b, image| {
            let base = |b: &mut Builder, name: &str, a: PassArray| {
                b.let_(name, Scalar::I64, image.cast(Scalar::I64) * a.stride)
            };
            let forward = self.options.direction == Direction::Forward;
            let signal = base(b, if forward { "src_base" } else { "dst_base" }, self.signal);
            let low = base(b, "low_base", self.low);
            let high = base(b, "high_base", self.high);
            body(b, Image { signal, low, high });
        });
    }

    /// Blocks along z: one for each image, within the hardware's limit.
    pub fn grid_z(&self) -> Expr {
        self.batch.min(Expr::i32(65535))
    }

    /// One past the last position.
    pub fn end(&self) -> Expr {
        self.parity + self.length
    }

    /// Number of pairs that the positions parity..parity+length touch.
    pub fn pairs(&self) -> Expr {
        (self.parity + self.length + 1) / 2
    }

    fn index(&self, array: PassArray, base: LocalId, line: Expr, i: Expr) -> Expr {
        let wide = |e: Expr| e.cast(Scalar::I64);
        let (across, along) = match self.along {
            Along::Row => (wide(line) * array.pitch, wide(i)),
            Along::Column => (wide(i) * array.pitch, wide(line)),
        };
        base + across + along
    }

    /// The array of a phase's band.
    pub(super) fn band(&self, phase: Phase) -> PassArray {
        match phase {
            Phase::Even => self.low,
            Phase::Odd => self.high,
        }
    }

    /// A loaded sample of type `from`, converted for the steps, with gain.
    pub(super) fn taken(&self, value: Expr, from: Scalar) -> Expr {
        let v = if from == self.arith.work { value } else { value.cast(self.arith.work) };
        match (self.gain, self.options.direction) {
            (Some(gain), Direction::Forward) => self.arith.shift_up(v, gain.into()),
            _ => v,
        }
    }

    /// A result of type `work`, converted for an array of type `to`, without gain.
    pub(super) fn given(&self, value: Expr, to: Scalar) -> Expr {
        let v = match (self.gain, self.options.direction) {
            (Some(gain), Direction::Inverse) => self.arith.shift_down(value, gain.into()),
            _ => value,
        };
        if to == self.arith.work { v } else { v.cast(to) }
    }

    /// Loads the steps' input at a position inside the signal into `place` of type `work`. Forward: the signal's
    /// sample; inverse: the sample of the band that the position's phase belongs to.
    pub fn load(&self, b: &mut Builder, image: &Image, line: Expr, position: Expr, place: Place) {
        let parity = self.parity;
        self.load_with(b, place, position, |b, value| match self.options.direction {
            Direction::Forward => self.fetch(b, self.signal, image.signal, line, position - parity, value),
            Direction::Inverse => b.if_else(
                is_even(position),
                |b| self.fetch(b, self.low, image.low, line, (position >> 1) - parity, value),
                |b| self.fetch(b, self.high, image.high, line, position >> 1, value),
            ),
        });
    }

    /// [`Pass::load`] for the n-th sample of a phase in the signal.
    pub fn load_nth(&self, b: &mut Builder, image: &Image, line: Expr, phase: Phase, n: Expr, place: Place) {
        let position = self.place(phase, n) + self.parity;
        self.load_with(b, place, position, |b, value| match (self.options.direction, phase) {
            (Direction::Forward, _) => self.fetch(b, self.signal, image.signal, line, self.place(phase, n), value),
            (Direction::Inverse, Phase::Even) => self.fetch(b, self.low, image.low, line, n, value),
            (Direction::Inverse, Phase::Odd) => self.fetch(b, self.high, image.high, line, n, value),
        });
    }

    /// Offset from the signal's start of the n-th sample of a phase, in samples.
    fn place(&self, phase: Phase, n: Expr) -> Expr {
        match phase {
            Phase::Even => (n << 1) + self.parity,
            Phase::Odd => (n << 1) + 1 - self.parity,
        }
    }

    fn fetch(&self, b: &mut Builder, array: PassArray, base: LocalId, line: Expr, i: Expr, value: LocalId) {
        let index = self.index(array, base, line, i);
        b.load(value, Space::Global(array.pointer), index, 1, Cache::Default);
    }

    fn load_with(&self, b: &mut Builder, place: Place, position: Expr, fetch: impl FnOnce(&mut Builder, LocalId)) {
        let scalar = match self.options.direction {
            Direction::Forward => self.signal.scalar,
            Direction::Inverse => self.low.scalar,
        };
        let value = b.declare("value", scalar);
        fetch(b, value);
        b.set(place, self.of_end(self.taken(value.into(), scalar), position, 2.0));
    }

    /// A sample of type `work` at a position inside the signal, multiplied by `factor` if it is the first or the last
    /// and ends are doubled.
    fn of_end(&self, value: Expr, position: Expr, factor: f64) -> Expr {
        if !self.options.doubled_ends {
            return value;
        }
        let is_first = position.eq_(self.parity);
        let is_end = is_first.or(position.eq_(self.end() - 1));
        value * is_end.select(self.arith.number(factor), self.arith.number(1.0))
    }

    /// Stores the steps' result of type `work` for a position inside the signal. Forward: to the position's band;
    /// inverse: to the signal.
    pub fn store(&self, b: &mut Builder, image: &Image, line: Expr, position: Expr, value: Expr) {
        let v = self.stored(value, position);
        let parity = self.parity;
        match self.options.direction {
            Direction::Forward => b.if_else(
                is_even(position),
                |b| self.put(b, self.low, image.low, line, (position >> 1) - parity, v),
                |b| self.put(b, self.high, image.high, line, position >> 1, v),
            ),
            Direction::Inverse => self.put(b, self.signal, image.signal, line, position - parity, v),
        }
    }

    /// [`Pass::store`] for the n-th sample of a phase in the signal.
    pub fn store_nth(&self, b: &mut Builder, image: &Image, line: Expr, phase: Phase, n: Expr, value: Expr) {
        let v = self.stored(value, self.place(phase, n) + self.parity);
        match (self.options.direction, phase) {
            (Direction::Forward, Phase::Even) => self.put(b, self.low, image.low, line, n, v),
            (Direction::Forward, Phase::Odd) => self.put(b, self.high, image.high, line, n, v),
            (Direction::Inverse, _) => self.put(b, self.signal, image.signal, line, self.place(phase, n), v),
        }
    }

    /// Loads `width` neighbours from the steps' input into a new array of type `work`. Along columns, they are samples
    /// of as many lines at `position`; along rows, consecutive samples of the signal or of a band.
    pub(super) fn load_wide(
        &self,
        b: &mut Builder,
        image: &Image,
        (line, position): (Expr, Expr),
        width: u32,
    ) -> LocalId {
        let scalar = match self.options.direction {
            Direction::Forward => self.signal.scalar,
            Direction::Inverse => self.low.scalar,
        };
        let raw = b.array("values", scalar, width);
        let fetch = |b: &mut Builder, array: PassArray, base: LocalId, i: Expr| {
            let index = self.index(array, base, line, i);
            b.load(Place::Elem(raw, 0.into()), Space::Global(array.pointer), index, width, Cache::Default);
        };
        match self.options.direction {
            Direction::Forward => fetch(b, self.signal, image.signal, position - self.parity),
            Direction::Inverse => b.if_else(
                is_even(position),
                |b| fetch(b, self.low, image.low, (position >> 1) - self.parity),
                |b| fetch(b, self.high, image.high, position >> 1),
            ),
        }
        let samples = b.array("samples", self.arith.work, width);
        let step = self.step_of_neighbours(self.options.direction == Direction::Inverse);
        for c in 0..width as i32 {
            let sample = self.of_end(self.taken(raw.at(c), scalar), position + c * step, 2.0);
            b.set(Place::Elem(samples, c.into()), sample);
        }
        samples
    }

    /// Stores neighbouring results of type `work`: the counterpart of [`Pass::load_wide`].
    pub(super) fn store_wide(&self, b: &mut Builder, image: &Image, (line, position): (Expr, Expr), values: Vec<Expr>) {
        let step = self.step_of_neighbours(self.options.direction == Direction::Forward);
        let values: Vec<Expr> =
            (0i32..).zip(values).map(|(c, value)| self.stored(value, position + c * step)).collect();
        let put = |b: &mut Builder, array: PassArray, base: LocalId, i: Expr| {
            let index = self.index(array, base, line, i);
            b.store_wide(Space::Global(array.pointer), index, values.clone(), Cache::Default);
        };
        match self.options.direction {
            Direction::Forward => b.if_else(
                is_even(position),
                |b| put(b, self.low, image.low, (position >> 1) - self.parity),
                |b| put(b, self.high, image.high, position >> 1),
            ),
            Direction::Inverse => put(b, self.signal, image.signal, position - self.parity),
        }
    }

    /// Positions from one neighbour in memory to the next.
    fn step_of_neighbours(&self, in_band: bool) -> i32 {
        match (self.along, in_band) {
            (Along::Column, _) => 0,
            (Along::Row, false) => 1,
            (Along::Row, true) => 2,
        }
    }

    fn put(&self, b: &mut Builder, array: PassArray, base: LocalId, line: Expr, i: Expr, value: Expr) {
        let index = self.index(array, base, line, i);
        b.store(Space::Global(array.pointer), index, value);
    }

    /// A result of type `work`, converted for memory.
    fn stored(&self, value: Expr, position: Expr) -> Expr {
        let scalar = match self.options.direction {
            Direction::Forward => self.low.scalar,
            Direction::Inverse => self.signal.scalar,
        };
        self.given(self.of_end(value, position, 0.5), scalar)
    }

    /// The position inside the signal that serves a read at `position` by reflection or repetition. Other rules leave
    /// the position unchanged: they serve by phase ([`Pass::serve_index`]) or not at all.
    pub fn serve(&self, position: Expr) -> Expr {
        let (parity, length) = (self.parity, self.length);
        match self.options.boundary {
            Boundary::WholeSymmetric => Expr::mirror(position - parity, length) + parity,
            Boundary::Periodic => Expr::wrap(position - parity, length) + parity,
            _ => position,
        }
    }

    /// The phase index inside the signal that serves a read of `phase` at index `k`; not for `zero` and `periodic`.
    pub fn serve_index(&self, phase: Phase, k: Expr) -> Expr {
        match self.options.boundary {
            Boundary::WholeSymmetric => self.serve((k << 1) + phase.parity() as i32) >> 1,
            Boundary::Periodic | Boundary::Zero => k,
            rule => within_phase(rule, k, self.first_index(phase), self.last_index(phase)),
        }
    }

    /// Whether loading extends the signal periodically, so that no step meets a border.
    pub fn periodic(&self) -> bool {
        self.options.boundary == Boundary::Periodic
    }

    /// Whether reads beyond a border are served from inside the signal, so that border tiles need other code.
    pub fn mirrors(&self) -> bool {
        !matches!(self.options.boundary, Boundary::Periodic | Boundary::Zero)
    }

    /// The value of `phase` at index `k`, of type `work`, under the border rule. `fetch` loads from inside the tile.
    /// `border` tells whether the current tile touches a border at all.
    pub fn read(
        &self,
        b: &mut Builder,
        arith: Arithmetic,
        phase: Phase,
        k: Expr,
        border: Option<LocalId>,
        fetch: impl FnOnce(&mut Builder, Expr, Place),
    ) -> Expr {
        match (self.options.boundary, border) {
            (Boundary::Zero, _) => {
                let index = b.let_("i", Scalar::I32, k);
                let value = b.let_("x", arith.work, arith.zero());
                let i = index;
                b.if_(i.ge(self.first_index(phase)).and(i.le(self.last_index(phase))), |b| {
                    fetch(b, i.into(), Place::Local(value));
                });
                value.into()
            }
            (_, Some(border)) => {
                let index = b.let_("i", Scalar::I32, border.select(self.serve_index(phase, k), k));
                let value = b.declare("x", arith.work);
                fetch(b, index.into(), Place::Local(value));
                value.into()
            }
            (_, None) => {
                let value = b.declare("x", arith.work);
                fetch(b, k, Place::Local(value));
                value.into()
            }
        }
    }

    /// [`Pass::read`] of `width` neighbours at once, into a new array.
    pub(super) fn read_wide(
        &self,
        b: &mut Builder,
        arith: Arithmetic,
        (phase, k): (Phase, Expr),
        border: Option<LocalId>,
        width: u32,
        fetch: impl FnOnce(&mut Builder, Expr, Place),
    ) -> LocalId {
        let values = b.array("x", arith.work, width);
        let place = Place::Elem(values, 0.into());
        match (self.options.boundary, border) {
            (Boundary::Zero, _) => {
                let i = b.let_("i", Scalar::I32, k);
                let is_inside = i.ge(self.first_index(phase)).and(i.le(self.last_index(phase)));
                b.if_else(
                    is_inside,
                    |b| fetch(b, i.into(), place),
                    |b| (0..width as i32).for_each(|c| b.set(Place::Elem(values, c.into()), arith.zero())),
                );
            }
            (_, Some(border)) => {
                let i = b.let_("i", Scalar::I32, border.select(self.serve_index(phase, k), k));
                fetch(b, i.into(), place);
            }
            (_, None) => fetch(b, k, place),
        }
        values
    }

    /// Smallest k of a phase with a sample.
    pub fn first_index(&self, phase: Phase) -> Expr {
        match phase {
            Phase::Even => self.parity.into(),
            Phase::Odd => 0.into(),
        }
    }

    /// Largest k of a phase with a sample.
    pub fn last_index(&self, phase: Phase) -> Expr {
        let last = self.parity + self.length - 1;
        (last - phase.parity() as i32) >> 1
    }
}

/// The offsets of the current image in the three arrays.
pub struct Image {
    signal: LocalId,
    low: LocalId,
    high: LocalId,
}

/// Whether a position is even.
pub fn is_even(position: Expr) -> Expr {
    position.and(Expr::i32(1)).eq_(Expr::i32(0))
}

/// Samples that a step reads.
pub(super) fn taps(step: &Step) -> usize {
    match step {
        Step::Integer(s) => s.taps.len(),
        Step::Real(s) => s.groups.iter().map(|g| g.offsets.len()).sum(),
        Step::Scale(_) => 0,
    }
}

/// Resident blocks to ask the compiler for, of a pass through shared memory: nvcc spills registers of long wavelets for
/// more of them, unless one is asked for.
pub(super) fn resident(steps: &[Step]) -> u32 {
    (steps.len() > 64 || steps.iter().any(|step| taps(step) > 8)).into()
}
