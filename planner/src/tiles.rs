//! Independent tiles: each has its own borders, like the tiles of JPEG 2000.
//!
//! A problem with tiles splits into a few problems without: along each axis, tiles of the requested length, and perhaps
//! a shorter one at the end. Tiles of one shape form a batch, so each of these problems is an ordinary batched
//! transform in boxes of the arrays.

use crate::list::Array;
use crate::problem::{Problem, contiguous};
use crate::view::View;
use lifting_codegen::ir::Scalar;
use lifting_dsl::geometry::{Geometry, GeometryError, MAX_AXES};

/// Invalid tiles.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TileError {
    /// A number of lengths that differs from the number of axes.
    #[error("a tile has {got} lengths, but the data has {rank} axes: give one for each axis")]
    Count {
        /// Number of lengths.
        got: usize,
        /// Number of axes of the data.
        rank: usize,
    },
    /// A tile without samples.
    #[error("a tile has length 0 along axis {axis}: use at least one sample, or the axis' length")]
    Empty {
        /// The axis.
        axis: usize,
    },
    /// Tiles that would begin at positions of different parity.
    #[error(
        "a tile has length {length} along axis {axis}, which is not a multiple of {multiple} (2^levels): low bands of \
         tiles would not join; choose a multiple, fewer levels, or the axis' length"
    )]
    Multiple {
        /// The axis.
        axis: usize,
        /// Length of the tile.
        length: usize,
        /// 2^levels.
        multiple: usize,
    },
    /// Padding, which tiles do not support.
    #[error(
        "tiles of {shape:?} are not padded to {padded:?}, as the last tiles are shorter: drop the tiles or the padding"
    )]
    Padded {
        /// The data.
        shape: Vec<usize>,
        /// The padded shape.
        padded: Vec<usize>,
    },
    /// Tiles along too many axes.
    #[error("tiles along {cut} axes of {rank}: the sum may be at most {MAX_AXES}; cut along fewer axes")]
    Axes {
        /// Axes with several tiles.
        cut: usize,
        /// Number of axes of the data.
        rank: usize,
    },
}

/// Tiles of one shape.
#[derive(Clone, Debug)]
pub struct Part {
    /// Transform of all of them: an axis of tiles for each axis with several, then the axes of the data.
    pub problem: Problem,
    /// Index of the first tile's first sample.
    pub at: Vec<usize>,
    /// Tiles along each axis.
    pub count: Vec<usize>,
    /// Shape of a tile.
    pub shape: Vec<usize>,
}

impl Part {
    /// A problem without tiles as one part.
    pub fn whole(problem: &Problem) -> Part {
        let shape = problem.geometry.shape().to_vec();
        Part { problem: problem.clone(), at: vec![0; shape.len()], count: vec![1; shape.len()], shape }
    }

    /// Lengths or strides of the part's axes: those of axes of tiles, then those of the data's axes.
    fn axes<V: Copy>(&self, tiles: impl Fn(usize) -> V, own: impl Fn(usize) -> V) -> Vec<V> {
        let cut = (0..self.count.len()).filter(|&axis| self.count[axis] > 1);
        cut.map(tiles).chain((0..self.count.len()).map(own)).collect()
    }

    /// Strides of the part's axes in an array with these strides that holds the low bands of a level of all tiles
    /// (level 0 is the whole). Also returns the offset of the part's first sample.
    pub fn strides(&self, level: u32, strides: &[isize]) -> (Vec<isize>, isize) {
        let levels = self.levels();
        let low = |axis: usize, n: usize| (n >> level.min(levels[axis])) as isize * strides[axis];
        let at = (0..strides.len()).map(|axis| low(axis, self.at[axis])).sum();
        (self.axes(|axis| low(axis, self.shape[axis]), |axis| strides[axis]), at)
    }

    /// Levels of the data's axes.
    fn levels(&self) -> &[u32] {
        let levels = self.problem.geometry.levels();
        &levels[levels.len() - self.count.len()..]
    }

    /// First sample of each tile, row-major.
    pub fn starts(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        (0..self.count.iter().product()).map(|mut index: usize| {
            let mut start = self.at.clone();
            for (axis, &count) in self.count.iter().enumerate().rev() {
                start[axis] += index % count * self.shape[axis];
                index /= count;
            }
            start
        })
    }
}

impl Problem {
    /// Checks the tiles.
    ///
    /// # Errors
    /// If they are invalid.
    pub fn check_tiles(&self) -> Result<(), TileError> {
        let (Some(tile), shape) = (&self.tile, self.geometry.shape()) else { return Ok(()) };
        let rank = shape.len();
        if tile.len() != rank {
            return Err(TileError::Count { got: tile.len(), rank });
        }
        for (axis, &length) in tile.iter().enumerate() {
            let multiple = 1usize.checked_shl(self.geometry.levels()[axis]).unwrap_or(usize::MAX);
            match length {
                0 => return Err(TileError::Empty { axis }),
                _ if length < shape[axis] && length % multiple != 0 => {
                    return Err(TileError::Multiple { axis, length, multiple });
                }
                _ => {}
            }
        }
        if self.pads() {
            return Err(TileError::Padded { shape: self.source_shape.clone(), padded: shape.to_vec() });
        }
        let cut = tile.iter().zip(shape).filter(|(tile, n)| tile < n).count();
        if cut + rank > MAX_AXES { Err(TileError::Axes { cut, rank }) } else { Ok(()) }
    }

    /// Geometry of a single tile.
    ///
    /// # Errors
    /// If the shape is invalid.
    pub fn tile_geometry(&self, shape: &[usize]) -> Result<Geometry, GeometryError> {
        Geometry::new(shape, self.geometry.origins(), self.geometry.levels(), self.geometry.order())
    }

    /// Problems that make up one with tiles, full tiles first; `None` without tiles.
    ///
    /// # Errors
    /// If a geometry is invalid; checked tiles never are.
    pub fn parts(&self) -> Result<Option<Vec<Part>>, GeometryError> {
        let (Some(tile), shape) = (&self.tile, self.geometry.shape()) else { return Ok(None) };
        // First sample, number of tiles and length of a tile, along one axis.
        let mut kinds: Vec<Vec<[usize; 3]>> = vec![Vec::new()];
        for (&n, &tile) in shape.iter().zip(tile) {
            let tile = tile.min(n);
            let (full, rest) = (n / tile, n % tile);
            let along = [[0, full, tile], [full * tile, 1, rest]].into_iter().filter(|[_, count, n]| count * n > 0);
            let grown = |kind: Vec<[usize; 3]>| along.clone().map(move |one| [kind.clone(), vec![one]].concat());
            kinds = kinds.into_iter().flat_map(grown).collect();
        }
        let part = |kind: Vec<[usize; 3]>| {
            let [at, count, shape] = [0, 1, 2].map(|i| kind.iter().map(|axis| axis[i]).collect::<Vec<_>>());
            let cut = count.iter().filter(|&&n| n > 1).count();
            let geometry = &self.geometry;
            let order: Vec<usize> = geometry.order().iter().map(|axis| axis + cut).collect();
            let mut part = Part { problem: Problem { tile: None, ..self.clone() }, at, count, shape };
            let lengths = part.axes(|axis| part.count[axis], |axis| part.shape[axis]);
            let origins = part.axes(|_| 0, |axis| geometry.origins()[axis]);
            let levels = part.axes(|_| 0, |axis| geometry.levels()[axis]);
            part.problem.geometry = Geometry::new(&lengths, &origins, &levels, &order)?;
            part.problem.source_shape = lengths;
            Ok(part)
        };
        kinds.into_iter().map(part).collect::<Result<_, _>>().map(Some)
    }
}

/// Places of a problem's samples in its arrays.
pub(crate) struct Places {
    /// Data.
    pub data: View,
    /// Coefficients.
    pub coefficients: View,
    /// Low bands that synthesis may stop at, from level 1 on.
    pub lows: Vec<View>,
}

impl Places {
    /// Arrays with these strides; low bands without gaps.
    pub fn new(problem: &Problem, scalar: Scalar, data: &[isize], coefficients: &[isize]) -> Places {
        let low = |level| View::strided(Array::Target, scalar, &contiguous(&problem.geometry.level_shape(level)));
        let view = |strides: &[isize]| View::strided(Array::Target, scalar, strides);
        let lows = (1..=problem.geometry.depth()).map(low).collect();
        Places { data: view(data), coefficients: view(coefficients), lows }
    }

    /// Places of a part.
    pub(crate) fn of(&self, part: &Part) -> Places {
        let rank = part.count.len();
        let within = |level: u32, view: &View| {
            let strides: Vec<isize> = view.strides[..rank].iter().map(|&stride| stride as isize).collect();
            let (strides, at) = part.strides(level, &strides);
            let mut own = View::strided(view.array, view.scalar, &strides);
            own.offset = view.offset + at as i64;
            own
        };
        Places {
            data: within(0, &self.data),
            coefficients: within(0, &self.coefficients),
            lows: (1..).zip(&self.lows).map(|(level, low)| within(level, low)).collect(),
        }
    }
}
