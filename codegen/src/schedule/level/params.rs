//! Parameters of kernels that lift all axes of a level.

use super::{Border, Held};
use crate::ir::build::Builder;
use crate::ir::{Access, Expr, LocalId, ParamId, Scalar};
use crate::schedule::{Arithmetic, Extent, Options};
use lifting_dsl::Direction;

/// Parameters of a kernel that lifts all axes of an image or of a volume; the same for every such schedule.
/// [`Fit::arguments`](crate::schedule::Fit::arguments) gives those that depend on the job (`chunk`, `aligned` and
/// `skew`).
///
/// Forward: `src, ll, hl, lh, hh`; inverse: `ll, hl, lh, hh, dst`; then `width, height, parity_x, parity_y,
/// signal_pitch, ll_pitch, band_pitch, signal_stride, ll_stride, band_stride, batch, chunk, aligned, skew[, gain]`. hl
/// is horizontally high and vertically low.
///
/// Bands of a volume have a third letter, for high along z: `lll, hll, lhl, hhl, llh, hlh, lhh, hhh`. `depth` follows
/// `height`, `parity_z` follows `parity_y`, and `src_plane, lll_plane, band_plane` follow the pitches; lll takes the
/// place of ll.
pub struct Params {
    /// The image, or the volume.
    pub signal: ParamId,
    /// ll, hl, lh, hh: index = 2·(vertically high) + (horizontally high); for a volume, + 4·(high along z). For two
    /// levels, see [`Params::declare_twice`]; for all levels, one array.
    pub bands: Vec<ParamId>,
    /// Columns.
    pub width: ParamId,
    /// Rows.
    pub height: ParamId,
    /// Positions of the first column and row, modulo 2.
    pub parity: [ParamId; 2],
    /// Samples from row to row of the signal.
    pub signal_pitch: ParamId,
    /// Samples from row to row of ll, and of the other bands.
    pub band_pitches: [ParamId; 2],
    /// The third axis of a volume.
    pub deep: Option<Deep>,
    /// Samples from image to image of the signal.
    pub signal_stride: ParamId,
    /// Samples from image to image of ll, and of the other bands.
    pub band_strides: [ParamId; 2],
    /// Images.
    pub batch: ParamId,
    /// [`Arguments::chunk`](super::Arguments::chunk).
    pub chunk: ParamId,
    /// [`Arguments::aligned`](super::Arguments::aligned).
    pub aligned: ParamId,
    /// [`Arguments::skew`](super::Arguments::skew).
    pub skew: ParamId,
    /// Bits of headroom, for kernels that take a gain.
    pub gain: Option<ParamId>,
}

/// Parameters of a volume's third axis.
pub struct Deep {
    /// Planes.
    pub depth: ParamId,
    /// Position of the first plane, modulo 2.
    pub parity: ParamId,
    /// Samples from plane to plane: of the signal, lll and the other bands.
    pub planes: [ParamId; 3],
}

/// Names and descriptions of bands of an image or of a volume: index = (horizontally high) + 2·(vertically high) +
/// 4·(high along z).
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
            ("hll", "high along x"),
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
            ("hl_2", "horizontally high, vertically low band of the second level"),
            ("lh_2", "horizontally low, vertically high band of the second level"),
            ("hh_2", "high band of the second level"),
        ],
        Extent::AllLevels => &[("bands", "bands of all levels, in the Mallat layout")],
    }
}

impl Params {
    /// Declares the parameters for an image.
    pub fn declare(b: &mut Builder, options: Options) -> Params {
        Params::of(b, options, Extent::Plane)
    }

    /// Declares the parameters for an image and two levels. The bands are ll of the second, hl, lh, hh of the first,
    /// then of the second.
    pub fn declare_twice(b: &mut Builder, options: Options) -> Params {
        Params::of(b, options, Extent::TwoLevels)
    }

    /// Declares the parameters for an image and all remaining levels. One array has all bands, and `chunk` is the
    /// number of levels.
    pub fn declare_all(b: &mut Builder, options: Options) -> Params {
        Params::of(b, options, Extent::AllLevels)
    }

    /// Declares the parameters for a volume.
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
            Extent::AllLevels => ["unused: the kernel takes any rows"; 2].map(str::to_owned).into(),
            _ => (
                format!(
                    "1: rows of the {image} are aligned to a lane's vector; 2: rows of the bands, to half; 3: both"
                ),
                format!("offset of {side} and each band past a lane's vector, in samples, 6 bits each"),
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

    pub(in crate::schedule) fn has(&self, bit: i32) -> Expr {
        self.aligned.and(bit).ne_(0)
    }

    /// Offsets of an image of the batch: signal, ll, the other bands.
    pub fn offsets(&self, b: &mut Builder, image: Expr) -> [LocalId; 3] {
        let strides = [
            ("signal_base", self.signal_stride),
            ("ll_base", self.band_strides[0]),
            ("band_base", self.band_strides[1]),
        ];
        strides.map(|(name, stride)| b.let_(name, Scalar::I64, image.cast(Scalar::I64) * stride))
    }

    /// Pitches as 32-bit numbers, which [`Job`](super::Job) has checked to fit: a product of two is one instruction.
    pub(in crate::schedule) fn narrow_pitches(&self, b: &mut Builder) -> [LocalId; 3] {
        let pitches =
            [("signal_row", self.signal_pitch), ("ll_row", self.band_pitches[0]), ("band_row", self.band_pitches[1])];
        pitches.map(|(name, pitch)| b.let_(name, Scalar::I32, pitch.cast(Scalar::I32)))
    }

    /// Plane pitches of a volume as 32-bit numbers.
    pub(in crate::schedule) fn narrow_planes(&self, b: &mut Builder) -> [LocalId; 3] {
        let deep = self.deep.as_ref().expect("the parameters are of a volume");
        let names = ["signal_plane", "lll_plane", "band_plane"];
        let narrow = |i: usize| b.let_(names[i], Scalar::I32, deep.planes[i].cast(Scalar::I32));
        [0, 1, 2].map(narrow)
    }

    /// The image, as threads hold its columns.
    pub fn held(&self, options: Options, arith: Arithmetic, border: Border, columns: u32, aligned: bool) -> Held {
        let of = |axis| if border == Border::Untouched { 0.into() } else { self.start(axis, aligned) };
        let [z, depth] = match &self.deep {
            Some(deep) => [deep.parity.into(), deep.depth.into()],
            None => [0.into(), 1.into()],
        };
        let (start, length) = ([of(0), of(1), z], [self.width.into(), self.height.into(), depth]);
        Held { arith, boundary: options.boundary, border, columns, start, length, doubled_ends: options.doubled_ends }
    }

    /// Position of the first sample along an axis (0: x, 1: y).
    pub(in crate::schedule) fn start(&self, axis: usize, aligned: bool) -> Expr {
        if axis == 0 && aligned { 0.into() } else { self.parity[axis].into() }
    }
}
