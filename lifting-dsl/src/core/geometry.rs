//! Positions of the samples of every level and band: pure arithmetic, shared by the oracle, the plans and the tools.
//!
//! Along an axis with origin u, sample i has position u + i. Analysis sends even positions 2k to the low band, index k,
//! and odd positions 2k+1 to the high band, index k. So the low band of a level has the origin ⌈u/2⌉, and parity is
//! kept through the levels, as JPEG 2000 tile-components need it.
//!
//! ```
//! use lifting_dsl::geometry::{Geometry, Layout};
//!
//! let g = Geometry::uniform(&[5, 7], 2).unwrap();
//! let bands: Vec<_> = g.bands(Layout::Mallat).iter().map(|b| format!("{} {:?} at {:?}", b.name, b.shape, b.offset)).collect();
//! assert_eq!(bands[0], "LL2 [2, 2] at [0, 0]");
//! assert_eq!(bands[4], "HL1 [3, 3] at [0, 4]"); // horizontally high, vertically low
//! assert_eq!(bands.len(), 7);
//! ```

use crate::core::scheme::Boundary;

/// Most levels along one axis; JPEG 2000's limit.
pub const MAX_LEVELS: u32 = 32;
/// Most axes of an array.
pub const MAX_AXES: usize = 8;

/// The two halves of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Samples of the low band: even positions.
    pub low: usize,
    /// Samples of the high band: odd positions.
    pub high: usize,
    /// Origin of the low band, i.e. the index of its first sample: ⌈u/2⌉.
    pub low_origin: i64,
    /// Origin of the high band: ⌊u/2⌋.
    pub high_origin: i64,
}

/// The division of a line of `n` samples, whose first has position `origin`, by one level.
///
/// ```
/// use lifting_dsl::geometry::split;
/// assert_eq!((split(5, 0).low, split(5, 0).high), (3, 2));
/// assert_eq!((split(5, -3).low, split(5, -3).high), (2, 3)); // positions −3 … 1
/// ```
pub fn split(n: usize, origin: i64) -> Split {
    let parity = (origin & 1) as usize;
    Split {
        low: n / 2 + (n & 1 & !parity),
        high: n / 2 + (n & parity),
        low_origin: half_up(origin),
        high_origin: origin >> 1,
    }
}

/// ⌈u/2⌉ without overflow.
fn half_up(u: i64) -> i64 {
    (u >> 1) + (u & 1)
}

/// Arrangement of the bands in the array of coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Layout {
    /// Bands apart: along each axis low then high, nested; LL at the origin, as in every codec.
    #[default]
    Mallat,
    /// Each coefficient where lifting in place leaves it: level j's low band at the multiples of 2^j positions.
    Interleaved,
}

/// A sub-band, or the low band of a level, as a strided window of the array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// Codec names in 2-D (`LL3`, `HL1`: horizontally high); in general a letter for each transformed axis, innermost
    /// first, and the level.
    pub name: String,
    /// Level of the band: 1 is the finest.
    pub level: u32,
    /// Whether it is high, per axis.
    pub high: Vec<bool>,
    /// Index of its first sample, per axis.
    pub offset: Vec<usize>,
    /// Its extent in samples, per axis; may be 0.
    pub shape: Vec<usize>,
    /// Distance between two of its samples, per axis, in samples of the array: 1 in [`Layout::Mallat`].
    pub step: Vec<usize>,
    /// The position of its first sample in the band's own coordinates, per axis.
    pub origin: Vec<i64>,
}

/// An invalid shape, origin, number of levels or order of axes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GeometryError {
    /// No axes, or too many.
    #[error("the array has {rank} axes: 1 to {MAX_AXES} are supported")]
    Rank {
        /// The number of axes.
        rank: usize,
    },
    /// `origins` or `levels` does not have an entry for each axis.
    #[error("{got} {what} for {rank} axes: give one for each axis")]
    Count {
        /// `origins` or `levels`.
        what: &'static str,
        /// Entries given.
        got: usize,
        /// Axes of the array.
        rank: usize,
    },
    /// An axis without samples.
    #[error("axis {axis} has length 0: a transform needs at least one sample along every axis")]
    Empty {
        /// The axis.
        axis: usize,
    },
    /// The number of samples does not fit the machine's index type.
    #[error("an array of shape {shape:?} has more samples than this machine can index")]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
    },
    /// More levels than [`MAX_LEVELS`].
    #[error("axis {axis} has {levels} levels: at most {MAX_LEVELS} are allowed")]
    Levels {
        /// The axis.
        axis: usize,
        /// The levels asked for.
        levels: u32,
    },
    /// An origin whose positions would leave the range of 64 bits.
    #[error("axis {axis} has origin {origin}: origins must lie within ±2^62")]
    Origin {
        /// The axis.
        axis: usize,
        /// Its origin.
        origin: i64,
    },
    /// The order of analysis names an axis that does not exist.
    #[error("the order of axes {order:?} names axis {axis}, but the array has {rank} (counted from 0)")]
    NoSuchAxis {
        /// The order.
        order: Vec<usize>,
        /// The axis.
        axis: usize,
        /// Axes of the array.
        rank: usize,
    },
    /// The order of analysis names an axis twice.
    #[error("the order of axes {order:?} names axis {axis} more than once")]
    Repeated {
        /// The order.
        order: Vec<usize>,
        /// The axis.
        axis: usize,
    },
    /// The order of analysis leaves out a transformed axis.
    #[error("axis {axis} has levels, but the order of axes {order:?} leaves it out: name it, or give it 0 levels")]
    NotOrdered {
        /// The order.
        order: Vec<usize>,
        /// The axis.
        axis: usize,
    },
    /// The periodic border rule on a line of odd length.
    #[error(
        "axis {axis} has {length} samples at level {level}, and the periodic border rule needs an even number: \
         choose {}another border rule, or pad the axis to a multiple of {multiple}",
        if *level > 0 { format!("at most {level} levels, ") } else { String::new() }
    )]
    OddPeriodic {
        /// The axis.
        axis: usize,
        /// The level whose low band is analysed; 0 is the array itself.
        level: u32,
        /// Its length along the axis.
        length: usize,
        /// 2^levels of the axis; the length must be a multiple of it.
        multiple: u64,
    },
}

/// Shape, origins, levels per axis and order of axes of a multi-level transform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    shape: Vec<usize>,
    origins: Vec<i64>,
    levels: Vec<u32>,
    order: Vec<usize>,
}

impl Geometry {
    /// A checked geometry.
    ///
    /// `shape`, `origins` (position of the first sample) and `levels` have one entry per axis, outermost first. An axis
    /// of 0 levels is a batch axis. `order` lists the axes in their order within a level of analysis; it names every
    /// axis with levels.
    pub fn new(shape: &[usize], origins: &[i64], levels: &[u32], order: &[usize]) -> Result<Geometry, GeometryError> {
        let rank = shape.len();
        if rank == 0 || rank > MAX_AXES {
            return Err(GeometryError::Rank { rank });
        }
        for (what, got) in [("origins", origins.len()), ("levels", levels.len())] {
            if got != rank {
                return Err(GeometryError::Count { what, got, rank });
            }
        }
        for axis in 0..rank {
            if shape[axis] == 0 {
                return Err(GeometryError::Empty { axis });
            }
            if levels[axis] > MAX_LEVELS {
                return Err(GeometryError::Levels { axis, levels: levels[axis] });
            }
            if origins[axis].unsigned_abs() > 1 << 62 {
                return Err(GeometryError::Origin { axis, origin: origins[axis] });
            }
        }
        let samples = shape.iter().try_fold(1usize, |product, n| product.checked_mul(*n));
        if samples.is_none_or(|n| isize::try_from(n).is_err()) {
            return Err(GeometryError::TooLarge { shape: shape.to_vec() });
        }
        for (i, axis) in order.iter().enumerate() {
            if *axis >= rank {
                return Err(GeometryError::NoSuchAxis { order: order.to_vec(), axis: *axis, rank });
            }
            if order[..i].contains(axis) {
                return Err(GeometryError::Repeated { order: order.to_vec(), axis: *axis });
            }
        }
        if let Some(axis) = (0..rank).find(|axis| levels[*axis] > 0 && !order.contains(axis)) {
            return Err(GeometryError::NotOrdered { order: order.to_vec(), axis });
        }
        Ok(Geometry {
            shape: shape.to_vec(),
            origins: origins.to_vec(),
            levels: levels.to_vec(),
            order: order.to_vec(),
        })
    }

    /// Equal axes: origin 0, `levels` levels each, innermost axis first.
    pub fn uniform(shape: &[usize], levels: u32) -> Result<Geometry, GeometryError> {
        let order: Vec<usize> = (0..shape.len()).rev().collect();
        Geometry::new(shape, &vec![0; shape.len()], &vec![levels; shape.len()], &order)
    }

    /// The array's extent, outermost axis first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.shape.iter().product()
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Position of the first sample, per axis.
    pub fn origins(&self) -> &[i64] {
        &self.origins
    }

    /// Levels, per axis.
    pub fn levels(&self) -> &[u32] {
        &self.levels
    }

    /// The axes in the order of analysis.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The most levels of any axis.
    pub fn depth(&self) -> u32 {
        self.levels.iter().copied().max().unwrap_or(0)
    }

    /// Length and origin of the low band along one axis after `level` levels, or after all that the axis has.
    fn low(&self, axis: usize, level: u32) -> (usize, i64) {
        (0..level.min(self.levels[axis])).fold((self.shape[axis], self.origins[axis]), |(n, u), _| {
            let s = split(n, u);
            (s.low, s.low_origin)
        })
    }

    /// Shape of the low band after `level` levels; 0 gives the array's own.
    pub fn level_shape(&self, level: u32) -> Vec<usize> {
        (0..self.rank()).map(|axis| self.low(axis, level).0).collect()
    }

    /// Origins of the low band after `level` levels.
    pub fn level_origins(&self, level: u32) -> Vec<i64> {
        (0..self.rank()).map(|axis| self.low(axis, level).1).collect()
    }

    /// The axes that are analysed between level `level` and the next, in the order of analysis.
    pub fn axes_at(&self, level: u32) -> Vec<usize> {
        self.order.iter().copied().filter(|axis| self.levels[*axis] > level).collect()
    }

    /// Checks every line of every level against the border rule: `periodic` needs even lengths.
    pub fn check_boundary(&self, boundary: Boundary) -> Result<(), GeometryError> {
        if boundary != Boundary::Periodic {
            return Ok(());
        }
        for level in 0..self.depth() {
            for axis in self.axes_at(level) {
                let (length, _) = self.low(axis, level);
                if length % 2 != 0 {
                    let multiple = 1 << self.levels[axis];
                    return Err(GeometryError::OddPeriodic { axis, level, length, multiple });
                }
            }
        }
        Ok(())
    }

    /// Offset, length, step and origin along one axis of the band that is low or high after `level` levels.
    pub(crate) fn place(&self, axis: usize, level: u32, high: bool, layout: Layout) -> (usize, usize, usize, i64) {
        let level = level.min(self.levels[axis]);
        let (length, origin, low) = if high {
            let (n, u) = self.low(axis, level - 1);
            let s = split(n, u);
            (s.high, s.high_origin, s.low)
        } else {
            let (n, u) = self.low(axis, level);
            (n, u, 0)
        };
        match layout {
            Layout::Mallat => (low, length, 1, origin),
            Layout::Interleaved => {
                // The band's sample k has position 2^level·k, a high one half a step later. i128 prevents overflow.
                let step = 1i128 << level;
                let first =
                    step * i128::from(origin) + if high { step / 2 } else { 0 } - i128::from(self.origins[axis]);
                // A band without samples has no first one; a band of one has no step.
                let offset = if length == 0 { 0 } else { first as usize };
                (offset, length, usize::try_from(step).unwrap_or(usize::MAX), origin)
            }
        }
    }

    /// A band from its level and the axes along which it is high.
    fn band(&self, level: u32, high: Vec<bool>, layout: Layout) -> Band {
        let named = |axis: &usize| self.levels[*axis] > 0 || self.depth() == 0;
        let letters: String =
            (0..self.rank()).rev().filter(named).map(|axis| if high[axis] { 'H' } else { 'L' }).collect();
        let mut band = Band {
            name: format!("{letters}{level}"),
            level,
            high,
            offset: Vec::new(),
            shape: Vec::new(),
            step: Vec::new(),
            origin: Vec::new(),
        };
        for axis in 0..self.rank() {
            let (offset, length, step, origin) = self.place(axis, level, band.high[axis], layout);
            band.offset.push(offset);
            band.shape.push(length);
            band.step.push(step);
            band.origin.push(origin);
        }
        band
    }

    /// The low band after `level` levels (at most [`Geometry::depth`]), which an inverse down to that level leaves.
    pub fn low_band(&self, level: u32, layout: Layout) -> Band {
        self.band(level.min(self.depth()), vec![false; self.rank()], layout)
    }

    /// All sub-bands, coarsest first: the low band, then for each level its high bands, the innermost axis's first
    /// (LL2, HL2, LH2, HH2, HL1, LH1, HH1).
    pub fn bands(&self, layout: Layout) -> Vec<Band> {
        let mut bands = vec![self.low_band(self.depth(), layout)];
        for level in (1..=self.depth()).rev() {
            let axes: Vec<usize> = (0..self.rank()).rev().filter(|axis| self.levels[*axis] >= level).collect();
            for bits in 1..1u32 << axes.len() {
                let mut high = vec![false; self.rank()];
                axes.iter().enumerate().for_each(|(i, axis)| high[*axis] = bits >> i & 1 == 1);
                bands.push(self.band(level, high, layout));
            }
        }
        bands
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn codec_names_shapes_and_offsets() {
        let g = Geometry::uniform(&[5, 7], 2).unwrap();
        let bands = g.bands(Layout::Mallat);
        let names: Vec<_> = bands.iter().map(|b| b.name.as_str()).collect();
        assert_eq!(names, ["LL2", "HL2", "LH2", "HH2", "HL1", "LH1", "HH1"]);
        assert_eq!((&bands[1].offset[..], &bands[1].shape[..]), (&[0, 2][..], &[2, 2][..]));
        assert_eq!((&bands[5].offset[..], &bands[5].shape[..]), (&[3, 0][..], &[2, 4][..]));
        assert_eq!(g.level_shape(1), [3, 4]);
        assert_eq!(g.axes_at(0), [1, 0]);
    }

    #[test]
    fn levels_of_their_own_for_each_axis() {
        let g = Geometry::new(&[3, 8, 16], &[0; 3], &[0, 1, 3], &[1, 2]).unwrap();
        let names: Vec<_> = g.bands(Layout::Mallat).into_iter().map(|b| b.name).collect();
        assert_eq!(names, ["LL3", "HL3", "HL2", "HL1", "LH1", "HH1"]);
        assert_eq!(g.level_shape(3), [3, 4, 2]);
        assert_eq!(g.axes_at(0), [1, 2]);
        assert_eq!(g.axes_at(1), [2]);
        let g = Geometry::uniform(&[4, 4], 0).unwrap();
        assert_eq!(g.bands(Layout::Mallat).len(), 1);
        assert_eq!(g.bands(Layout::Mallat)[0].name, "LL0");
    }

    #[test]
    fn a_lone_odd_sample_is_high() {
        let g = Geometry::new(&[1], &[7], &[2], &[0]).unwrap();
        assert_eq!(g.level_shape(1), [0]);
        let bands = g.bands(Layout::Interleaved);
        assert_eq!(bands.iter().map(|b| b.shape[0]).collect::<Vec<_>>(), [0, 0, 1]);
    }

    #[test]
    fn impossible_geometries_say_why() {
        let error = |shape: &[usize], origins: &[i64], levels: &[u32], order: &[usize]| {
            Geometry::new(shape, origins, levels, order).unwrap_err().to_string()
        };
        assert_eq!(error(&[], &[], &[], &[]), "the array has 0 axes: 1 to 8 are supported");
        assert_eq!(error(&[2; 9], &[], &[], &[]), "the array has 9 axes: 1 to 8 are supported");
        assert_eq!(error(&[4, 4], &[0], &[1, 1], &[0, 1]), "1 origins for 2 axes: give one for each axis");
        assert!(error(&[4, 0], &[0, 0], &[1, 1], &[0, 1]).starts_with("axis 1 has length 0"));
        assert!(error(&[usize::MAX, 3], &[0, 0], &[1, 1], &[0, 1]).contains("more samples"));
        assert!(error(&[4], &[0], &[33], &[0]).contains("at most 32"));
        assert!(error(&[4], &[i64::MIN], &[3], &[0]).contains("2^62"));
        assert!(error(&[4], &[0], &[3], &[1]).contains("names axis 1"));
        assert!(error(&[4], &[0], &[3], &[0, 0]).contains("more than once"));
        assert!(error(&[4, 4], &[0, 0], &[3, 1], &[0]).contains("axis 1 has levels"));
        let odd = Geometry::uniform(&[8, 20], 3).unwrap().check_boundary(Boundary::Periodic).unwrap_err();
        assert_eq!(
            odd.to_string(),
            "axis 1 has 5 samples at level 2, and the periodic border rule needs an even number: choose at most 2 \
             levels, another border rule, or pad the axis to a multiple of 8"
        );
        assert_eq!(Geometry::uniform(&[8, 16], 3).unwrap().check_boundary(Boundary::Periodic), Ok(()));
    }

    proptest! {
        /// Both layouts are permutations: every cell belongs to exactly one band.
        #[test]
        fn bands_cover_the_array(shape in prop::collection::vec(1usize..20, 1..4), seed in any::<u64>()) {
            let rank = shape.len();
            let origins: Vec<i64> = (0..rank).map(|a| (seed >> (8 * a)) as i8 as i64).collect();
            let levels: Vec<u32> = (0..rank).map(|a| (seed >> (32 + 4 * a)) as u32 % 6).collect();
            let order: Vec<usize> = (0..rank).collect();
            let g = Geometry::new(&shape, &origins, &levels, &order).unwrap();
            for layout in [Layout::Mallat, Layout::Interleaved] {
                let mut seen = vec![0u8; g.samples()];
                for band in g.bands(layout) {
                    let samples: usize = band.shape.iter().product();
                    for mut i in 0..samples {
                        let (mut index, mut stride) = (0, 1);
                        for axis in (0..rank).rev() {
                            let k = i % band.shape[axis];
                            i /= band.shape[axis];
                            let at = band.offset[axis] + k * band.step[axis];
                            prop_assert!(at < shape[axis]);
                            if layout == Layout::Interleaved && levels[axis] > 0 {
                                // Level j's low band has multiples of 2^j as positions, its high band the midpoints.
                                let level = band.level.min(levels[axis]);
                                let position = (origins[axis] + at as i64).rem_euclid(1 << level);
                                prop_assert_eq!(position, if band.high[axis] { 1 << (level - 1) } else { 0 });
                            }
                            index += at * stride;
                            stride *= shape[axis];
                        }
                        seen[index] += 1;
                    }
                }
                prop_assert!(seen.iter().all(|n| *n == 1));
            }
        }
    }
}
