//! Launches as data.

use crate::pair::arrays_of;
use crate::recipe::{Choice, Pass};
use lifting_codegen::ir::Scalar;
use lifting_codegen::schedule::Fit;
use lifting_codegen::schedule::level::Job;

/// The arrays that launches read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Array {
    /// What the transform reads; absent in place.
    Source,
    /// What it writes.
    Target,
    /// A part of the workspace.
    Scratch(Region),
}

/// Parts of the workspace, each for one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// Low bands between levels that are one launch each; they alternate.
    Low(usize),
    /// A level between its passes; they alternate.
    Between(usize),
    /// The source, or the result, brought into an order that passes take; what a launch must not read where it writes.
    Packed,
    /// Coefficients in the Mallat layout, where the target has another one.
    Whole,
    /// A pass's arrays, transposed: its signal and its bands, of samples or of what a level is computed in.
    Transposed(usize),
}

impl Region {
    /// How many there are.
    pub const COUNT: usize = 10;

    /// Its place among them.
    pub fn index(self) -> usize {
        match self {
            Region::Low(i) => i,
            Region::Between(i) => 2 + i,
            Region::Packed => 4,
            Region::Whole => 5,
            Region::Transposed(i) => 6 + i,
        }
    }
}

/// Type and number of elements of each part of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Regions(pub [Option<(Scalar, usize)>; Region::COUNT]);

/// Parts of the workspace begin at multiples of so many bytes.
const ALIGNMENT: usize = 256;

impl Regions {
    /// Makes a part large enough. Its type is always the same.
    pub fn request(&mut self, region: Region, scalar: Scalar, len: usize) {
        let entry = self.0[region.index()].get_or_insert((scalar, 0));
        debug_assert_eq!(entry.0, scalar, "a part of the workspace has one type");
        entry.1 = entry.1.max(len);
    }

    /// Makes each part large enough for others, too, which have the same types.
    pub(crate) fn join(&mut self, other: &Regions) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            if let Some((scalar, len)) = *other {
                let entry = own.get_or_insert((scalar, 0));
                debug_assert_eq!(entry.0, scalar, "a part of the workspace has one type");
                entry.1 = entry.1.max(len);
            }
        }
    }

    /// Where each part begins in one allocation, in bytes, and the whole's size; `None` if it cannot be addressed.
    pub fn layout(&self) -> Option<([usize; Region::COUNT], usize)> {
        let (mut starts, mut end) = ([0; Region::COUNT], 0usize);
        for (start, region) in starts.iter_mut().zip(&self.0) {
            *start = end;
            if let Some((scalar, len)) = region {
                let bytes = len.checked_mul(scalar.bytes())?.checked_next_multiple_of(ALIGNMENT)?;
                end = end.checked_add(bytes)?;
            }
        }
        (end <= isize::MAX as usize).then_some((starts, end))
    }
}

/// An argument of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// A pointer to an element of an array.
    Pointer(Array, i64),
    /// A scalar; its type is the parameter's.
    Int(i64),
}

/// One launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Index of the kernel in its program.
    pub kernel: usize,
    /// One for each parameter.
    pub args: Vec<Arg>,
    /// Blocks along x, y, z; none is 0.
    pub grid: [u32; 3],
    /// Whether it may run beside the launch before it: they touch nothing that the other writes.
    pub beside_previous: bool,
    /// Whether it may begin before the launch before it has ended: on devices, where it pays.
    pub overlaps: bool,
    /// Blocks beside one another that are to run as a cluster, on devices where that pays; 1: each by itself.
    pub cluster: u32,
    /// Index of the pass that it is part of, in its list; none of copies.
    pub pass: Option<usize>,
    /// Whether it needs source or target to begin at a multiple of [`VECTOR`] bytes.
    pub vectors: bool,
    /// What depends on where the arrays are.
    pub placed: Option<Placed>,
}

/// Two arguments that say how arrays are aligned, and so are known only when their addresses are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Index of the argument `aligned`; `skew` follows it.
    pub at: usize,
    /// The arrays of the signal and of the bands.
    pub arrays: Vec<Array>,
    /// The launch; its addresses are bytes from the beginning of each array, modulo 2⁶⁴.
    pub job: Job,
}

impl Placed {
    /// The job with arrays at these addresses.
    pub fn job(&self, address: impl Fn(Array) -> u64) -> Job {
        let mut job = self.job;
        for (array, owner) in arrays_of(&mut job).zip(&self.arrays) {
            array.address = array.address.wrapping_add(address(*owner));
        }
        job
    }

    /// The two arguments; `None` where the kernel cannot run with arrays at these addresses.
    pub fn arguments(&self, fit: &dyn Fit, address: impl Fn(Array) -> u64) -> Option<[i64; 2]> {
        Some(fit.placement(&self.job(address)).ok()?.map(i64::from))
    }
}

/// The most launches of a list: far beyond what anybody waits for, and few enough to be written down.
pub const MOST_LAUNCHES: usize = 1 << 16;

/// Launches in order, and what they are in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct List {
    /// In the order in which they begin.
    pub launches: Vec<Launch>,
    /// The same for people: passes over axes.
    pub passes: Vec<Pass>,
    /// What was chosen for each level, finest first.
    pub choices: Vec<Choice>,
    /// What to launch where source or target begin at no multiple of [`VECTOR`] bytes and these launches need that.
    pub otherwise: Option<Box<List>>,
}

/// Bytes that a lane loads or stores at once, at most.
pub const VECTOR: u64 = 16;

impl List {
    /// Gives all kernels another index.
    pub fn renumber(&mut self, index: &impl Fn(usize) -> usize) {
        self.launches.iter_mut().for_each(|launch| launch.kernel = index(launch.kernel));
        if let Some(otherwise) = &mut self.otherwise {
            otherwise.renumber(index);
        }
    }

    /// The list for arrays at these addresses.
    pub fn at(&self, source: u64, target: u64) -> &List {
        match &self.otherwise {
            Some(otherwise) if !source.is_multiple_of(VECTOR) || !target.is_multiple_of(VECTOR) => otherwise,
            _ => self,
        }
    }
}
