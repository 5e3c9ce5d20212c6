//! What schedules share that lift in registers: a warp's columns, lifting across them and down them; and, of those that lift both axes of a level in one
//! kernel, the parameters.

mod across;
mod cells;
mod descent;
mod dots;
mod down;
mod extend;
mod job;
mod row;
mod shift;
mod sink;
mod slab;
mod source;

pub(super) use across::{Across, reflects};
pub(super) use cells::{Cells, Column, beside, cell_of};
pub(super) use descent::{Descent, MAX_CHUNKS, MAX_REGISTERS, WALKS, walk_down};
pub(super) use dots::Dots;
pub(super) use down::DelayLine;
pub use job::{Arguments, Array, Job, MAX_BATCH, MAX_SIDE, Planes};
pub(super) use row::{Form, Row, word, zeros};
pub(super) use shift::Runs;
pub(super) use sink::Sink;
pub(super) use slab::Slab;
pub(super) use source::{Source, scaled, served_column, served_index, vectors_or_served};

use super::demand::work;
use super::{Arithmetic, Direction, Extent, Options, ScheduleError};
use crate::action::Action;
use crate::ir::build::Builder;
use crate::ir::{Access, Builtin, Expr, LocalId, ParamId, Scalar};
use crate::window::Halo;
use lifting_dsl::{Boundary, Phase, Scheme, Step};

/// Which axis is lifted first in analysis. Synthesis undoes the axes in reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Rows first, then columns (VC-2, CCSDS, the papers).
    HorizontalFirst,
    /// Columns first, then rows (JPEG 2000).
    VerticalFirst,
}

impl Order {
    /// Whether a direction lifts rows before columns. Analysis undoes nothing: the plan's first axis first. Synthesis starts with the axis that came last.
    pub fn across_first(self, direction: Direction) -> bool {
        (self == Order::HorizontalFirst) == (direction == Direction::Forward)
    }
}

/// Rows that a kernel takes: the fewer, the faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowAlignment {
    /// All.
    Any,
    /// Those whose image begins where a lane's vector begins, with the first column at an even position; bands begin anywhere. A schedule that has no kernel for them has
    /// one for [`RowAlignment::Any`].
    Image,
    /// Those of them whose bands begin where half a lane's vector begins, too.
    Aligned,
    /// Those of them that consist of whole vectors.
    Whole,
}

impl RowAlignment {
    /// All kinds, the fastest first.
    pub const ALL: [RowAlignment; 4] =
        [RowAlignment::Whole, RowAlignment::Aligned, RowAlignment::Image, RowAlignment::Any];

    /// Whether all arrays are known to be aligned.
    pub fn is_aligned(self) -> bool {
        matches!(self, RowAlignment::Aligned | RowAlignment::Whole)
    }

    /// What a schedule's kernel is called that takes such rows.
    pub(super) fn kernel(self, schedule: &str) -> String {
        match self {
            RowAlignment::Any => schedule.to_owned(),
            RowAlignment::Image => format!("{schedule}_image"),
            RowAlignment::Aligned => format!("{schedule}_aligned"),
            RowAlignment::Whole => format!("{schedule}_whole"),
        }
    }
}

/// Both phases, in order.
pub(super) const PHASES: [Phase; 2] = [Phase::Even, Phase::Odd];

/// How a border rule is kept while steps run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Border {
    /// What is loaded beyond the border is an extension that the steps keep consistent.
    Extend,
    /// After each step, what lies beyond the border becomes the nearest sample of its phase.
    Edge,
    /// What lies beyond the border is zero after each step.
    Zero,
    /// After each step, what lies beyond the border becomes the mirror image of what lies within.
    Mirror,
    /// Nothing beyond the border is ever read: steps stay within their own pair ([`is_local`]), and the border cuts no pair.
    Untouched,
}

impl Border {
    /// `periodic`, and `whole-symmetric` with steps that are symmetric about their target, are extensions that lifting keeps.
    pub(super) fn of(boundary: Boundary, steps: &[Step]) -> Border {
        match boundary {
            Boundary::Periodic => Border::Extend,
            Boundary::WholeSymmetric if steps.iter().all(is_symmetric) => Border::Extend,
            Boundary::WholeSymmetric => Border::Mirror,
            Boundary::Edge => Border::Edge,
            Boundary::Zero => Border::Zero,
        }
    }
}

/// One axis of the kernel: its steps, split into what scales at the ends and what lifts in between; or the stages of a lattice.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Scaling of the samples as they arrive, by phase.
    pub(super) first: Vec<Step>,
    /// Lifting steps, or stages.
    pub(super) actions: Vec<Action>,
    /// Scaling of the results, by phase.
    pub(super) last: Vec<Step>,
}

impl Axis {
    pub(super) fn new(scheme: &Scheme, options: Options) -> Axis {
        let actions = Action::all(scheme, options.direction, options.boundary);
        let head = actions.iter().take_while(|a| a.is_scaling()).count();
        let tail = actions[head..].iter().rev().take_while(|a| a.is_scaling()).count();
        let (first, rest) = actions.split_at(head);
        let (actions, last) = rest.split_at(rest.len() - tail);
        let steps = |actions: &[Action]| actions.iter().filter_map(Action::step).cloned().collect();
        Axis { first: steps(first), actions: actions.to_vec(), last: steps(last) }
    }

    /// Whether 16-bit integers can be lifted in pairs: all steps are dot products.
    pub(super) fn is_dots(&self) -> bool {
        self.first.is_empty()
            && self.last.is_empty()
            && self.actions.iter().all(|action| action.step().and_then(Dots::of).is_some())
    }

    /// Resident blocks to ask the compiler for where nothing else is asked: left alone, nvcc spills registers of lattices to have more of them resident.
    pub(super) fn min_blocks(&self) -> u32 {
        u32::from(matches!(self.actions.first(), Some(Action::Stage(_))))
    }

    /// Whether what lies beyond a border stays what the border rule says while a walk passes it ([`DelayLine`]).
    ///
    /// # Errors
    /// What `refuse` makes of the steps that do not keep it.
    pub(super) fn check_walk(
        &self,
        border: Border,
        steps: &[Step],
        refuse: &impl Fn(&'static str, i64, i64) -> ScheduleError,
    ) -> Result<(), ScheduleError> {
        if border == Border::Mirror {
            let asymmetric = steps.iter().filter(|s| !is_symmetric(s)).count() as i64;
            return Err(refuse("the number of steps that are not symmetric, under whole-symmetric,", asymmetric, 0));
        }
        let between = self.scalings_between();
        if border == Border::Edge && between > 0 {
            return Err(refuse("the number of scalings between lifting steps, under edge,", between, 0));
        }
        Ok(())
    }

    /// Whether under a border rule the steps find what they read beyond a border among a lane's own columns, so that nothing need stand there.
    pub(super) fn reflects(&self, boundary: Boundary, border: Border, columns: u32) -> bool {
        let near = |action: &Action| action.step().is_some_and(|step| reflects(step, columns as i32));
        (boundary, border) == (Boundary::WholeSymmetric, Border::Extend) && self.actions.iter().all(near)
    }

    /// Instructions of lifting for a pair of samples.
    pub(super) fn operations(&self) -> f64 {
        let [operations, _] = work(&self.actions);
        operations + (self.first.len() + self.last.len()) as f64
    }

    /// How many scalings stand between lifting steps.
    pub(super) fn scalings_between(&self) -> i64 {
        self.actions.iter().filter(|a| a.is_scaling()).count() as i64
    }
}

/// Whether a lane's columns are a vector.
///
/// # Errors
/// What `refuse` makes of their number.
pub(super) fn check_columns(
    columns: u32,
    sample: Scalar,
    refuse: &impl Fn(&'static str, i64, i64) -> ScheduleError,
) -> Result<(), ScheduleError> {
    let most = 16 / sample.bytes() as u32;
    if columns.is_power_of_two() && (2..=most).contains(&columns) {
        return Ok(());
    }
    Err(refuse("the number of columns a lane, a power of two of at least 2,", columns.into(), most.into()))
}

/// Whether a block can have so many warps.
///
/// # Errors
/// What `refuse` makes of their number.
pub(super) fn check_warps(
    warps: u32,
    refuse: &impl Fn(&'static str, i64, i64) -> ScheduleError,
) -> Result<(), ScheduleError> {
    if (1..=32).contains(&warps) {
        return Ok(());
    }
    Err(refuse("the number of warps a block, at least 1,", warps.into(), 32))
}

/// Whether a step reads the mirror image of what it reads on each side, with the same arithmetic in either direction.
pub(super) fn is_symmetric(step: &Step) -> bool {
    // Offset o mirrors to −1 − o about an even target's, to 1 − o about an odd target's position.
    let mirror = |o: i32| if step.target() == Phase::Even { -1 - o } else { 1 - o };
    match step {
        Step::Integer(s) => {
            s.taps.iter().all(|t| s.taps.iter().any(|u| u.offset == mirror(t.offset) && u.weight == t.weight))
        }
        // A sum of two is the same backwards; a longer one is rounded differently.
        Step::Real(s) => s.groups.iter().all(|g| g.offsets.len() == 2 && g.offsets[0] == mirror(g.offsets[1])),
        Step::Scale(_) => true,
    }
}

/// Whether a step or a stage reads nothing beyond its own pair of samples.
pub(super) fn is_local(action: &Action) -> bool {
    match action {
        Action::Step(step) => step.index_support().is_none_or(|support| support == (0, 0)),
        Action::Stage(stage) => stage.offset() == 0,
    }
}

/// Halo lanes on the left of a warp, and lanes that store, for vectors of so many samples of so many bytes; vectors that are read may begin up to `skew` columns before a lane's.
///
/// # Errors
/// Lanes of halo, and how many there may be at most, where too few are left.
pub(super) fn useful_lanes(halo: &Halo, columns: i64, bytes: i64, skew: i64) -> Result<(i64, i64), (i64, i64)> {
    let left = (halo.before + columns - 1) / columns;
    let right = (halo.after + skew + columns - 1) / columns;
    // Whole 32-byte sectors on every store: a lane stores half its columns to a band.
    let sector = (32 / (bytes * columns / 2)).clamp(1, 32);
    let useful = if halo.before + halo.after == 0 { 32 } else { (32 - left - right) / sector * sector };
    if useful < sector.max(4) {
        return Err((left + right, 32 - sector.max(4)));
    }
    // Whole sectors on every load, too, where that costs no lane.
    let sector = (32 / (bytes * columns)).max(1);
    let rounded = (left + sector - 1) / sector * sector;
    Ok((if rounded + useful + right <= 32 { rounded } else { left }, useful))
}

/// Parameters of a kernel that lifts all axes of an image or of a volume; every such schedule has the same. What
/// depends on the job (`chunk`, `aligned` and `skew`), its [`Fit::arguments`](super::Fit::arguments) gives.
///
/// Forward: `src, ll, hl, lh, hh`; inverse: `ll, hl, lh, hh, dst`; then `width, height, parity_x, parity_y, signal_pitch,
/// ll_pitch, band_pitch, signal_stride, ll_stride, band_stride, batch, chunk, aligned, skew[, gain]`. hl is horizontally high and vertically low.
///
/// Of a volume, bands have a third letter, for high along z: `lll, hll, lhl, hhl, llh, hlh, lhh, hhh`. `depth` follows `height`, `parity_z` `parity_y`, and
/// `src_plane, lll_plane, band_plane` the pitches; what is said of ll is said of lll.
pub struct Params {
    /// The image, or the volume.
    pub signal: ParamId,
    /// ll, hl, lh, hh: index = 2·(vertically high) + (horizontally high); of a volume, + 4·(high along z). Of two
    /// levels, [`Params::declare_twice`]; of all, one array.
    pub bands: Vec<ParamId>,
    /// Columns.
    pub width: ParamId,
    /// Rows.
    pub height: ParamId,
    /// Positions of the first column and row, modulo 2.
    pub parity: [ParamId; 2],
    /// Samples from row to row of the signal.
    pub signal_pitch: ParamId,
    /// The same of ll, and of the other bands.
    pub band_pitches: [ParamId; 2],
    /// What a volume has besides.
    pub deep: Option<Deep>,
    /// Samples from image to image of the signal.
    pub signal_stride: ParamId,
    /// The same of ll, and of the other bands.
    pub band_strides: [ParamId; 2],
    /// Images.
    pub batch: ParamId,
    /// [`Arguments::chunk`].
    pub chunk: ParamId,
    /// [`Arguments::aligned`].
    pub aligned: ParamId,
    /// [`Arguments::skew`].
    pub skew: ParamId,
    /// Bits of headroom, of kernels that take a gain.
    pub gain: Option<ParamId>,
}

/// What a volume has and an image has not.
pub struct Deep {
    /// Planes.
    pub depth: ParamId,
    /// Position of the first plane, modulo 2.
    pub parity: ParamId,
    /// Samples from plane to plane: of the signal, lll and the other bands.
    pub planes: [ParamId; 3],
}

/// Bands of an image, or of a volume: index = (horizontally high) + 2·(vertically high) + 4·(high along z); their names,
/// and what they are.
fn bands_of(extent: Extent) -> &'static [(&'static str, &'static str)] {
    match extent {
        Extent::Plane => &[
            ("ll", "low band"),
            ("hl", "horizontally high, vertically low band"),
            ("lh", "horizontally low, vertically high band"),
            ("hh", "high band"),
        ],
        Extent::Volume => &[
            ("lll", "low band"),
            ("hll", "band that is high along x"),
            ("lhl", "high along y"),
            ("hhl", "high along x and y"),
            ("llh", "high along z"),
            ("hlh", "high along x and z"),
            ("lhh", "high along y and z"),
            ("hhh", "high along all axes"),
        ],
        Extent::TwoLevels => &[
            ("ll", "low band of the second level"),
            ("hl", "horizontally high, vertically low band of the first level"),
            ("lh", "horizontally low, vertically high band of the first level"),
            ("hh", "high band of the first level"),
            ("hl_2", "the same of the second level"),
            ("lh_2", "the same of the second level"),
            ("hh_2", "the same of the second level"),
        ],
        Extent::AllLevels => &[("bands", "bands of all levels, in the Mallat layout")],
    }
}

/// Bit of `aligned`: position 0 of every row of the signal stands at a multiple of a lane's vector of samples (or would stand there, where the row
/// begins at position 1).
pub const SIGNAL_ALIGNED: i32 = 1;
/// Bit of `aligned`: the same for the rows of all bands, and half a lane's vector.
pub const BANDS_ALIGNED: i32 = 2;
/// Bits of an array in `skew`.
pub(super) const SKEW_BITS: i32 = 6;

impl Params {
    /// Of an image.
    pub fn declare(b: &mut Builder, options: Options) -> Params {
        Params::of(b, options, Extent::Plane)
    }

    /// Of an image and two levels: the bands are ll of the second, hl, lh, hh of the first, then of the second.
    pub fn declare_twice(b: &mut Builder, options: Options) -> Params {
        Params::of(b, options, Extent::TwoLevels)
    }

    /// Of an image and all levels that are left: the only array besides the image is that of the bands, and `chunk` is the number of levels.
    pub fn declare_all(b: &mut Builder, options: Options) -> Params {
        Params::of(b, options, Extent::AllLevels)
    }

    /// Of a volume.
    pub fn declare_deep(b: &mut Builder, options: Options) -> Params {
        Params::of(b, options, Extent::Volume)
    }

    fn of(b: &mut Builder, options: Options, extent: Extent) -> Params {
        use Access::*;
        let deep = extent == Extent::Volume;
        let all = extent == Extent::AllLevels;
        let s = options.sample;
        let (signal_access, band_access) = match options.direction {
            Direction::Forward => (Read, Write),
            Direction::Inverse => (Write, Read),
        };
        let forward = options.direction == Direction::Forward;
        let (image, images) = if deep { ("volume", "volumes") } else { ("image", "images") };
        let before = forward.then(|| b.pointer("src", s, signal_access, &format!("the {image}")));
        let names = bands_of(extent);
        let bands = names.iter().map(|(name, doc)| b.pointer(name, s, band_access, doc)).collect();
        let signal = before.unwrap_or_else(|| b.pointer("dst", s, signal_access, &format!("receives the {image}")));
        let side = if forward { "src" } else { "dst" };
        let (low, high) = match extent {
            Extent::Volume => ("lll", Some("any other band")),
            Extent::Plane | Extent::TwoLevels => ("ll", Some("hl, lh or hh")),
            Extent::AllLevels => ("bands", None),
        };
        let low_name = if all { "the bands" } else { low };
        let mut i32s = |name: &str, doc: &str| b.scalar(name, Scalar::I32, doc);
        let width = i32s("width", "columns, at least 2");
        let height = i32s("height", "rows, at least 2");
        let depth = deep.then(|| i32s("depth", "planes, at least 2"));
        let parities = if all { "0, even at all levels" } else { "0 if even, 1 if odd" };
        let parity = [
            i32s("parity_x", &format!("position of the first column: {parities}")),
            i32s("parity_y", &format!("position of the first row: {parities}")),
        ];
        let parity_z = deep.then(|| i32s("parity_z", "position of the first plane: 0 if even, 1 if odd"));
        let mut i64s = |name: &str, doc: &str| b.scalar(name, Scalar::I64, doc);
        let mut steps = |what: &str, unit: &str| {
            let signal =
                i64s(&format!("{side}_{what}"), &format!("samples from one {unit} of the {image} to the next"));
            let low = i64s(&format!("{low}_{what}"), &format!("samples from one {unit} of {low_name} to the next"));
            let of = |high| i64s(&format!("band_{what}"), &format!("samples from one {unit} of {high} to the next"));
            [signal, low, high.map_or(low, of)]
        };
        let [signal_pitch, ll_pitch, band_pitch] = steps("pitch", "row");
        let planes = deep.then(|| steps("plane", "plane"));
        let deep = depth.zip(parity_z).zip(planes).map(|((depth, parity), planes)| Deep { depth, parity, planes });
        let signal_stride =
            i64s(&format!("{side}_stride"), &format!("samples from one {image} of the batch to the next"));
        let others = if deep.is_some() { "the other bands" } else { "hl, lh and hh" };
        let low_stride = i64s(&format!("{low}_stride"), &format!("the same for {low_name}"));
        let other_stride = high.map(|_| i64s("band_stride", &format!("the same for {others}")));
        let band_strides = [low_stride, other_stride.unwrap_or(low_stride)];
        let mut i32s = |name: &str, doc: &str| b.scalar(name, Scalar::I32, doc);
        let batch = i32s("batch", &format!("number of {images}"));
        let (name, walks) = match extent {
            Extent::Plane => ("chunk", "row pairs a warp walks down"),
            Extent::Volume => ("chunk", "plane pairs a block walks along"),
            Extent::TwoLevels => ("chunk", "row pairs of the second level a warp walks down"),
            Extent::AllLevels => ("levels", "levels"),
        };
        let chunk = i32s(name, &format!("{walks}, at least 1"));
        let (alignment, skews) = match extent {
            Extent::AllLevels => ["not needed: any rows will do"; 2].map(str::to_owned).into(),
            _ => (
                format!(
                    "1: rows of the {image} are aligned to a lane's vector; 2: rows of the bands, to half; 3: both"
                ),
                format!("of {side} and each band, 6 bits each: samples by which it begins past a lane's vector"),
            ),
        };
        let aligned = i32s("aligned", &alignment);
        let skew = i32s("skew", &skews);
        let gain = options.gain.then(|| {
            b.scalar("gain", Scalar::I32, "bits of headroom that this level adds (forward) or removes (inverse)")
        });
        Params {
            signal,
            bands,
            width,
            height,
            parity,
            signal_pitch,
            band_pitches: [ll_pitch, band_pitch],
            deep,
            signal_stride,
            band_strides,
            batch,
            chunk,
            aligned,
            skew,
            gain,
        }
    }

    pub(super) fn has(&self, bit: i32) -> Expr {
        Expr::from(self.aligned).and(bit.into()).ne_(0.into())
    }

    /// Offsets of an image of the batch: signal, ll, the other bands.
    pub fn offsets(&self, b: &mut Builder, image: &Expr) -> [LocalId; 3] {
        let strides = [
            ("signal_base", self.signal_stride),
            ("ll_base", self.band_strides[0]),
            ("band_base", self.band_strides[1]),
        ];
        strides.map(|(name, stride)| b.let_(name, Scalar::I64, image.clone().cast(Scalar::I64) * Expr::from(stride)))
    }

    /// Pitches as 32-bit numbers, which [`Job`] has checked them to be: a product of two such is one instruction.
    pub(super) fn narrow_pitches(&self, b: &mut Builder) -> [LocalId; 3] {
        let pitches =
            [("signal_row", self.signal_pitch), ("ll_row", self.band_pitches[0]), ("band_row", self.band_pitches[1])];
        pitches.map(|(name, pitch)| b.let_(name, Scalar::I32, Expr::from(pitch).cast(Scalar::I32)))
    }

    /// The same of planes of a volume.
    pub(super) fn narrow_planes(&self, b: &mut Builder) -> [LocalId; 3] {
        let deep = self.deep.as_ref().expect("the parameters are of a volume");
        let names = ["signal_plane", "lll_plane", "band_plane"];
        let narrow = |i: usize| b.let_(names[i], Scalar::I32, Expr::from(deep.planes[i]).cast(Scalar::I32));
        [0, 1, 2].map(narrow)
    }

    /// The image, as threads hold columns of it.
    pub(super) fn held(
        &self,
        options: Options,
        arith: Arithmetic,
        border: Border,
        columns: u32,
        aligned: bool,
    ) -> Held {
        let of = |axis| if border == Border::Untouched { 0.into() } else { self.start(axis, aligned) };
        let [z, depth] = match &self.deep {
            Some(deep) => [deep.parity.into(), deep.depth.into()],
            None => [0.into(), 1.into()],
        };
        let (start, length) = ([of(0), of(1), z], [self.width.into(), self.height.into(), depth]);
        Held { arith, boundary: options.boundary, border, columns, start, length }
    }

    /// Position of the first sample along an axis (0: x, 1: y).
    pub(super) fn start(&self, axis: usize, aligned: bool) -> Expr {
        if axis == 0 && aligned { 0.into() } else { self.parity[axis].into() }
    }
}

/// What registers hold: a run of columns a thread, their arithmetic, and the image that they are of.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) arith: Arithmetic,
    pub(super) boundary: Boundary,
    pub(super) border: Border,
    /// Columns a thread; a power of two where lanes have them beside one another.
    pub(super) columns: u32,
    /// First position along each axis (0: x, 1: y, 2: z).
    pub(super) start: [Expr; 3],
    /// Samples along each axis.
    pub(super) length: [Expr; 3],
}

impl Held {
    /// The same, where the first column and row are known to be at even positions.
    pub(super) fn at_even_positions(self) -> Held {
        let [_, _, z] = self.start;
        Held { start: [0.into(), 0.into(), z], ..self }
    }

    pub(super) fn columns(&self) -> i32 {
        self.columns as i32
    }

    /// First position of the signal along an axis (0: x, 1: y, 2: z).
    pub(super) fn start(&self, axis: usize) -> Expr {
        self.start[axis].clone()
    }

    /// Samples along an axis.
    pub(super) fn length(&self, axis: usize) -> Expr {
        self.length[axis].clone()
    }

    /// One past the last position along an axis.
    pub(super) fn end(&self, axis: usize) -> Expr {
        self.start(axis) + self.length(axis)
    }

    /// Smallest index of a phase along an axis.
    pub(super) fn first_index(&self, axis: usize, phase: Phase) -> Expr {
        match phase {
            Phase::Even => self.start(axis),
            Phase::Odd => 0.into(),
        }
    }

    /// Largest index of a phase along an axis.
    pub(super) fn last_index(&self, axis: usize, phase: Phase) -> Expr {
        (self.end(axis) - 1 - phase.parity() as i32) >> 1
    }

    /// Whether the sample of index k of a phase along an axis is inside the signal.
    pub(super) fn exists(&self, axis: usize, phase: Phase, k: impl Into<Expr>) -> Expr {
        let k = k.into();
        k.clone().ge(self.first_index(axis, phase)).and(k.le(self.last_index(axis, phase)))
    }

    /// The index, inside the signal, of the sample that stands for index k of a phase when samples are loaded.
    pub(super) fn serve(&self, axis: usize, phase: Phase, k: Expr) -> Expr {
        let length = || Box::new(self.length(axis));
        let p = phase.parity() as i32;
        let offset = |k: Expr| Box::new((k << 1) + p - self.start(axis));
        match self.boundary {
            Boundary::WholeSymmetric => (Expr::Mirror(offset(k), length()) + self.start(axis)) >> 1,
            Boundary::Periodic => (Expr::Wrap(offset(k), length()) + self.start(axis)) >> 1,
            Boundary::Edge | Boundary::Zero => k.max(self.first_index(axis, phase)).min(self.last_index(axis, phase)),
        }
    }

    /// The index, counted from the signal's first sample, of the one that stands for a position when samples are loaded.
    pub(super) fn serve_position(&self, axis: usize, position: Expr) -> Expr {
        let from_start = |position: Expr| position - self.start(axis);
        let length = || Box::new(self.length(axis));
        match self.boundary {
            Boundary::WholeSymmetric => Expr::Mirror(Box::new(from_start(position)), length()),
            Boundary::Periodic => Expr::Wrap(Box::new(from_start(position)), length()),
            Boundary::Edge | Boundary::Zero => {
                let [even, odd] = PHASES.map(|phase| {
                    from_start((self.serve(axis, phase, position.clone() >> 1) << 1) + phase.parity() as i32)
                });
                position.and(1.into()).eq_(0.into()).select(even, odd)
            }
        }
    }

    /// The same of a row under an extension, where one reflection or one period leads to the signal.
    pub(super) fn serve_near(&self, b: &mut Builder, position: Expr) -> LocalId {
        let row = b.let_("row", Scalar::I32, position - self.start(1));
        let (row, height) = (|| Expr::from(row), || self.length(1));
        if self.boundary == Boundary::Periodic {
            let below = row().lt(0.into()).select(row() + height(), row());
            return b.let_("served", Scalar::I32, row().ge(height()).select(row() - height(), below));
        }
        let away = b.let_("away", Scalar::I32, row().max(-row()));
        b.let_("served", Scalar::I32, Expr::from(away).min((height() - 1) * 2 - Expr::from(away)))
    }

    /// Where index k of a phase along an axis stands in that phase's band, counted from the first.
    pub(super) fn in_band(&self, axis: usize, phase: Phase, k: Expr) -> Expr {
        match phase {
            Phase::Even => k - self.start(axis),
            Phase::Odd => k,
        }
    }

    /// The row of a phase's band that holds a row of the image, counted from the first.
    pub(super) fn band_row(&self, phase: Phase, row: Expr) -> Expr {
        match phase {
            Phase::Even => (row - self.start(1)) >> 1,
            Phase::Odd => (row + self.start(1)) >> 1,
        }
    }

    /// The row, counted from the first, that stands for row k of a phase when samples are loaded. It is computed for every row: reflections are
    /// tried cheaply first.
    pub(super) fn serve_row(&self, b: &mut Builder, phase: Phase, k: Expr) -> Expr {
        let p = phase.parity() as i32;
        if self.border == Border::Untouched {
            return (k << 1) + p;
        }
        if let Boundary::Edge | Boundary::Zero = self.boundary {
            return (self.serve(1, phase, k) << 1) + p - self.start(1);
        }
        let row = b.let_("row", Scalar::I32, (k << 1) + p - self.start(1));
        let (row, height) = (|| Expr::from(row), || self.length(1));
        if self.boundary == Boundary::Periodic {
            return Expr::Wrap(Box::new(row()), Box::new(height()));
        }
        let away = b.let_("away", Scalar::I32, row().max(-row()));
        let folded = b.let_("folded", Scalar::I32, Expr::from(away).min((height() - 1) * 2 - Expr::from(away)));
        let again = Expr::Mirror(Box::new(row()), Box::new(height()));
        Expr::from(folded).ge(0.into()).select(folded.into(), again)
    }
}

/// The columns of a warp.
#[derive(Clone)]
pub(super) struct Lanes {
    pub(super) held: Held,
    /// First position of this warp's lanes; even.
    pub(super) base: LocalId,
    /// First position of this lane; even.
    pub(super) x: LocalId,
    /// Whether the warp's columns reach beyond the image (warp-uniform).
    pub(super) at_border: LocalId,
    /// Whether the lane's first column is the image's first, and its last the last, if steps are to look for what lies beyond among the lane's own columns.
    pub(super) ends: Option<[LocalId; 2]>,
}

impl Lanes {
    /// Those of a tile, and whether a lane has results: blocks beside one another have tiles beside one another, each of so many lanes with results, after halo lanes on the left.
    /// A border is near if it is so many columns `before` the first lane's.
    pub(super) fn of_tile(b: &mut Builder, held: Held, (left, useful): (i64, i64), before: i32) -> (Lanes, LocalId) {
        let (c, left, useful) = (held.columns(), left as i32, useful as i32);
        let lane = || Expr::from(Builtin::ThreadX);
        let base = b.let_("base", Scalar::I32, Expr::from(Builtin::BlockX) * (useful * c) - left * c);
        let x = b.let_("x", Scalar::I32, Expr::from(base) + lane() * c);
        let starts = Expr::from(base).lt(held.start(0) + before);
        let ends = (Expr::from(base) + b.warp() * c).gt(held.end(0));
        let at_border = b.let_("at_border", Scalar::Bool, starts.or(ends));
        let in_tile = lane().ge(left.into()).and(lane().lt((left + useful).into()));
        let useful = b.let_("useful", Scalar::Bool, in_tile.and(Expr::from(x).lt(held.end(0))));
        (Lanes { held, base, x, at_border, ends: None }, useful)
    }

    /// The same of an image that begins at position 0 and whose lanes have all or none of their columns, where steps are to look for what lies beyond a border among a lane's own columns.
    pub(super) fn reflecting(&self, b: &mut Builder) -> Lanes {
        let first = Expr::from(self.x).eq_(0.into());
        let last = (Expr::from(self.x) + self.held.columns()).eq_(self.held.length(0));
        let ends = [b.let_("is_first", Scalar::Bool, first), b.let_("is_last", Scalar::Bool, last)];
        Lanes { ends: Some(ends), ..self.clone() }
    }
}

/// A warp's columns, and the arrays that they come from and go to.
pub(super) struct Frame<'a> {
    pub(super) options: Options,
    pub(super) lanes: Lanes,
    /// What is known of rows.
    pub(super) takes: RowAlignment,
    pub(super) params: &'a Params,
    /// Whether this lane stores.
    pub(super) useful: LocalId,
    /// Offset of the image at hand: signal, ll, the other bands.
    pub(super) offsets: [LocalId; 3],
    /// Samples from row to row, of type i32: signal, ll, the other bands.
    pub(super) pitches: [LocalId; 3],
}

impl<'a> Frame<'a> {
    /// The columns of a warp of a block's tile: blocks beside one another have tiles beside one another, each of so many lanes, after halo lanes on the left.
    pub(super) fn of_tile(
        b: &mut Builder,
        (options, params): (Options, &'a Params),
        held: Held,
        takes: RowAlignment,
        (left, useful): (i64, i64),
        image: &Expr,
    ) -> Frame<'a> {
        let (lanes, useful) = Lanes::of_tile(b, held, (left, useful), 0);
        let offsets = params.offsets(b, image);
        let pitches = params.narrow_pitches(b);
        Frame { options, lanes, takes, params, useful, offsets, pitches }
    }

    /// Whether rows are known to be aligned, with the first column at an even position.
    pub(super) fn is_aligned(&self) -> bool {
        self.takes.is_aligned()
    }

    /// Whether the warp's rows are loaded as vectors: they are aligned, and it reaches beyond no border.
    pub(super) fn vectors(&self, b: &mut Builder) -> LocalId {
        let aligned = match self.options.direction {
            Direction::Forward => SIGNAL_ALIGNED,
            Direction::Inverse => BANDS_ALIGNED,
        };
        let inside = !Expr::from(self.lanes.at_border);
        let vectors = if self.is_aligned() { inside } else { self.params.has(aligned).and(inside) };
        b.let_("vectors", Scalar::Bool, vectors)
    }

    /// Index of the sample in a row and a column of an array (0: signal, 1: ll, 2: the other bands). What does not change from row to row stands
    /// together.
    pub(super) fn index(&self, array: usize, row: Expr, column: Expr) -> Expr {
        let lane = Expr::from(self.offsets[array]) + column.cast(Scalar::I64);
        lane + row.cast(Scalar::I64) * Expr::from(self.pitches[array]).cast(Scalar::I64)
    }

    /// Index of the sample so many rows below the one of index `start`.
    pub(super) fn below(&self, array: usize, start: LocalId, rows: i32) -> Expr {
        if rows == 0 {
            return start.into();
        }
        Expr::from(start) + Expr::i64(rows.into()) * Expr::from(self.pitches[array]).cast(Scalar::I64)
    }
}
