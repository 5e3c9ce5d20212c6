//! Launches as data.

use crate::recipe::{Choice, Pass};
use lifting_codegen::ir::Scalar;
use lifting_codegen::schedule::Fit;
use lifting_codegen::schedule::level::{self, Job};

/// Arrays that launches read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Array {
    /// The source of the transform; absent in place.
    Source,
    /// The target of the transform.
    Target,
    /// A part of the workspace.
    Scratch(Region),
}

/// Parts of the workspace, each for one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// Low bands between single-launch levels; two alternate.
    Low(usize),
    /// A level between its passes; two alternate.
    Between(usize),
    /// The source or the result, copied into an order that passes support, or because a launch must not read the array
    /// that it writes.
    Packed,
    /// Coefficients in the Mallat layout, if the target has another one.
    Whole,
    /// Transposed arrays of a pass: its signal and its bands, of samples or of the work type.
    Transposed(usize),
}

impl Region {
    /// Number of parts.
    pub const COUNT: usize = 10;

    /// Index of the part.
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

/// Alignment of workspace parts, in bytes.
const ALIGNMENT: usize = 256;

impl Regions {
    /// Makes a part large enough. Its type is always the same.
    pub fn request(&mut self, region: Region, scalar: Scalar, len: usize) {
        let entry = self.0[region.index()].get_or_insert((scalar, 0));
        debug_assert_eq!(entry.0, scalar, "a part of the workspace has one type");
        entry.1 = entry.1.max(len);
    }

    /// Enlarges each part to the size of another's, which has the same types.
    pub(crate) fn join(&mut self, other: &Regions) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            if let Some((scalar, len)) = *other {
                let entry = own.get_or_insert((scalar, 0));
                debug_assert_eq!(entry.0, scalar, "a part of the workspace has one type");
                entry.1 = entry.1.max(len);
            }
        }
    }

    /// Offset of each part in one allocation, in bytes, and the total size; `None` if it cannot be addressed.
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
    /// Arguments, one for each parameter.
    pub args: Vec<Arg>,
    /// Blocks along x, y, z; none is 0.
    pub grid: [u32; 3],
    /// Whether it may run in parallel with the previous launch: neither touches data that the other writes.
    pub beside_previous: bool,
    /// Whether it may begin before the previous launch has ended: on devices, if it pays.
    pub overlaps: bool,
    /// Cluster size in neighbouring blocks, on devices where it pays; 1 for no cluster.
    pub cluster: u32,
    /// Index of its pass in the list; `None` for copies.
    pub pass: Option<usize>,
    /// Whether source or target must begin at a multiple of [`VECTOR`] bytes.
    pub vectors: bool,
    /// Arguments that depend on the arrays' addresses.
    pub placed: Option<Placed>,
}

/// Two arguments for the alignment of arrays, known only with their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Index of the argument `aligned`; `skew` follows it.
    pub at: usize,
    /// Arrays of the signal and of the bands.
    pub arrays: Vec<Array>,
    /// The job; its addresses are bytes from the start of each array, modulo 2⁶⁴.
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

    /// The two arguments; `None` if the kernel does not support arrays at these addresses.
    pub fn arguments(&self, fit: &dyn Fit, address: impl Fn(Array) -> u64) -> Option<[i64; 2]> {
        Some(fit.placement(&self.job(address)).ok()?.map(i64::from))
    }
}

/// Upper bound on the launches of a list: far beyond practical use, and few enough to store.
pub const MOST_LAUNCHES: usize = 1 << 16;

/// Launches in order, with a description.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct List {
    /// Launches in the order in which they begin.
    pub launches: Vec<Launch>,
    /// Description for users: passes over axes.
    pub passes: Vec<Pass>,
    /// Choice for each level, finest first.
    pub choices: Vec<Choice>,
    /// Alternative for unaligned source or target: these launches need multiples of [`VECTOR`] bytes.
    pub otherwise: Option<Box<List>>,
}

/// Largest load or store of a lane, in bytes.
pub const VECTOR: u64 = 16;

impl List {
    /// Renumbers all kernels.
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

impl List {
    /// Appends another list, to run afterwards. The choices stay those of the first.
    pub(crate) fn join(&mut self, mut other: List) {
        let otherwise = (self.otherwise.take(), other.otherwise.take());
        self.otherwise = match otherwise {
            (None, None) => None,
            (own, others) => {
                let mut list = own.unwrap_or_else(|| Box::new(self.clone()));
                list.join(others.map_or_else(|| other.clone(), |list| *list));
                Some(list)
            }
        };
        let passes = self.passes.len();
        for launch in &mut other.launches {
            launch.pass = launch.pass.map(|pass| pass + passes);
        }
        // The lists share scratch.
        if let Some(first) = other.launches.first_mut() {
            first.beside_previous = false;
        }
        self.launches.extend(other.launches);
        self.passes.extend(other.passes);
    }
}

/// Arrays of a job: the signal and all bands.
pub(crate) fn arrays_of(job: &mut Job) -> impl Iterator<Item = &mut level::Array> {
    let high = job.planes.as_mut().map(|planes| &mut planes.high).into_iter().flatten();
    std::iter::once(&mut job.signal).chain(&mut job.bands).chain(high).chain(job.coarse.iter_mut().flatten())
}
