//! What is to be computed: everything that decides what the coefficients are, and nothing about how.

use crate::error::ProgramError;
use lifting_dsl::adjoint::Border;
use lifting_dsl::extension::Extension;
use lifting_dsl::geometry::{Geometry, Layout};
use lifting_dsl::{Boundary, Domain, Scheme, adjoint};

/// The most axes that a plan handles.
pub const MAX_RANK: usize = 8;

/// Axis lengths or strides, without an allocation.
pub type Dims<V> = [V; MAX_RANK];

/// How an axis of data goes on beyond its ends, where coefficients are those of a longer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extended {
    /// Samples before the data.
    pub first: usize,
    /// What stands there, and behind the data.
    pub rule: Extension,
    /// Whether it is the adjoint of that: zeros stand there, and what synthesis makes there goes back to the data.
    pub is_adjoint: bool,
}

/// A transform: a scheme on arrays of one shape, with all conventions settled.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The wavelet.
    pub scheme: Scheme,
    /// What steps read outside the data.
    pub boundary: Boundary,
    /// Of the coefficients, that is, after padding.
    pub geometry: Geometry,
    /// Where coefficients are put.
    pub layout: Layout,
    /// Shape of the data; smaller than the geometry's where the plan pads.
    pub source_shape: Vec<usize>,
    /// For each axis, how data goes on where the plan pads; none says that the last sample is repeated.
    pub extended: Vec<Option<Extended>>,
    /// Bits that samples are shifted by at each level.
    pub gain_shift: u32,
    /// Whether analysis doubles a lone sample at an odd position, as reversible JPEG 2000 does.
    pub double_lone_odd: bool,
    /// Whether along each axis of a level the first and the last sample of a line of several are doubled before its
    /// steps, and halved after them, as adjoints ask for ([`adjoint::Border::DoubledEnds`]).
    pub doubled_ends: bool,
    /// Lengths of tiles along each axis, if the transform is of tiles that know nothing of one another.
    pub tile: Option<Vec<usize>>,
}

impl Problem {
    /// The scheme under its own border rule, coefficients in the Mallat layout, and no format's conventions.
    pub fn new(scheme: Scheme, geometry: Geometry) -> Problem {
        let source_shape = geometry.shape().to_vec();
        let (boundary, layout) = (scheme.boundary(), Layout::Mallat);
        Problem {
            scheme,
            boundary,
            geometry,
            layout,
            source_shape,
            extended: Vec::new(),
            gain_shift: 0,
            double_lone_odd: false,
            doubled_ends: false,
            tile: None,
        }
    }

    /// Whether there is an adjoint.
    ///
    /// # Errors
    /// If the scheme is not linear, or the transform pads by repeating samples.
    pub fn check_adjoint(&self) -> Result<(), ProgramError> {
        if self.scheme.domain() == Domain::Integer {
            return Err(ProgramError::IntegerAdjoint { wavelet: self.scheme.name().to_owned() });
        }
        if self.pads() && self.extended.is_empty() {
            let (shape, padded) = (self.source_shape.clone(), self.geometry.shape().to_vec());
            return Err(ProgramError::PaddedAdjoint { shape, padded });
        }
        Ok(())
    }

    /// The problem whose synthesis is the adjoint of this one's analysis, and whose analysis is that of its synthesis;
    /// `None` if single taps remain at the borders, or there is no adjoint.
    pub fn adjoint(&self) -> Option<Problem> {
        self.check_adjoint().ok()?;
        let doubled_ends = match adjoint::border(self.scheme.steps(), self.boundary) {
            Border::Same => false,
            _ if self.reads_nothing_beyond() => false,
            Border::DoubledEnds => true,
            Border::Folded => return None,
        };
        let back = |axis: &Option<Extended>| axis.map(|axis| Extended { is_adjoint: true, ..axis });
        let extended = self.extended.iter().map(back).collect();
        Some(Problem { scheme: self.scheme.adjoint()?, extended, doubled_ends, ..self.clone() })
    }

    /// Whether no step of any level reads beyond its line, so that there are no borders.
    fn reads_nothing_beyond(&self) -> bool {
        (0..self.geometry.depth()).all(|level| {
            let (shape, origins) = (self.geometry.level_shape(level), self.geometry.level_origins(level));
            self.geometry.axes_at(level).into_iter().all(|axis| {
                let folds = |step| adjoint::folds(step, self.boundary, shape[axis], origins[axis] & 1);
                shape[axis] < 2 || self.scheme.steps().iter().all(|step| folds(step).is_empty())
            })
        })
    }

    /// How an axis goes on, if that is said.
    pub(crate) fn extended(&self, axis: usize) -> Option<Extended> {
        self.extended.get(axis).copied().flatten()
    }

    /// Whether coefficients have another shape than the data.
    pub fn pads(&self) -> bool {
        self.source_shape != self.geometry.shape()
    }
}

/// Strides of a row-major array without gaps.
pub fn contiguous(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1isize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    strides
}
