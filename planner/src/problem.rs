//! Problems: everything that determines the coefficients, and nothing about execution.

use crate::error::ProgramError;
use lifting_dsl::adjoint::Border;
use lifting_dsl::extension::Extension;
use lifting_dsl::geometry::{Geometry, Layout};
use lifting_dsl::{Boundary, Domain, Scheme, adjoint};
use std::ops::Range;

/// Maximum number of axes of a plan.
pub const MAX_RANK: usize = 8;

/// Axis lengths or strides, without an allocation.
pub type Dims<V> = [V; MAX_RANK];

/// Border extension of an axis of data whose coefficients are those of a longer axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extended {
    /// Samples before the data.
    pub first: usize,
    /// Rule of the extension before and after the data.
    pub rule: Extension,
    /// Whether it is the adjoint: the extension is zero, and synthesis results there are folded back into the data.
    pub is_adjoint: bool,
}

/// A wavelet of one axis and level, where these differ.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisWavelet {
    /// The wavelet.
    pub scheme: Scheme,
    /// Its border rule.
    pub boundary: Boundary,
}

/// A transform: a scheme on arrays of one shape, with all conventions settled.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The wavelet.
    pub scheme: Scheme,
    /// Border rule: the values that steps read outside the data.
    pub boundary: Boundary,
    /// Geometry of the coefficients, after padding.
    pub geometry: Geometry,
    /// Placement of the coefficients.
    pub layout: Layout,
    /// Shape of the data; smaller than the geometry's if the plan pads.
    pub source_shape: Vec<usize>,
    /// Extension for each axis, if the plan pads; empty to repeat the last sample.
    pub extended: Vec<Option<Extended>>,
    /// Gain shift of the samples at each level, in bits.
    pub gain_shift: u32,
    /// Whether analysis doubles a lone sample at an odd position, as JPEG 2000 does.
    pub double_lone_odd: bool,
    /// Whether this is an adjoint ([`Problem::adjoint`]). Its synthesis doubles a lone
    /// sample, its analysis halves it.
    pub is_adjoint: bool,
    /// Whether the first and last sample of each line of several are doubled before the steps and halved after them,
    /// along each axis of a level. Adjoints need this ([`adjoint::Border::DoubledEnds`]).
    pub doubled_ends: bool,
    /// Lengths of independent tiles along each axis, if the transform has tiles.
    pub tile: Option<Vec<usize>>,
    /// Wavelets of each axis from the finest level on, if they differ: the last one serves all further levels, and an
    /// axis without any takes `scheme`. CPUs only.
    pub wavelets: Vec<Vec<AxisWavelet>>,
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
            is_adjoint: false,
            doubled_ends: false,
            tile: None,
            wavelets: Vec::new(),
        }
    }

    /// Whether axes or levels have wavelets of their own.
    pub fn is_mixed(&self) -> bool {
        !self.wavelets.is_empty()
    }

    /// Wavelet and border rule of an axis at a level; 0 is the finest.
    pub fn wavelet(&self, axis: usize, level: u32) -> (&Scheme, Boundary) {
        let own = self.wavelets.get(axis).and_then(|own| own.get(level as usize).or(own.last()));
        own.map_or((&self.scheme, self.boundary), |own| (&own.scheme, own.boundary))
    }

    /// Checks that all transformed axes have the same wavelet at these levels, as launches over several axes need.
    ///
    /// # Errors
    /// The reason for a refusal, if they differ.
    pub(crate) fn check_one_wavelet(&self, levels: Range<u32>) -> Result<(), String> {
        let whose = if levels.len() == 1 { "the level's" } else { "the levels'" };
        let at = |level: u32| self.geometry.axes_at(level).into_iter().map(move |axis| self.wavelet(axis, level));
        let mut all = levels.flat_map(at);
        let first = all.next();
        match !self.is_mixed() || all.all(|wavelet| Some(wavelet) == first) {
            true => Ok(()),
            false => Err(format!("{whose} axes have several wavelets")),
        }
    }

    /// Checks that the problem has an adjoint.
    ///
    /// # Errors
    /// If the schemes are not linear, or the transform pads by repeating samples.
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

    /// The problem whose synthesis is the adjoint of this one's analysis, and whose analysis is that of its synthesis.
    /// `None` if single taps remain at the borders, axes or levels differ in their wavelets, or there is no adjoint.
    pub fn adjoint(&self) -> Option<Problem> {
        self.check_adjoint().ok()?;
        if self.is_mixed() {
            return None;
        }
        let doubled_ends = match adjoint::border(self.scheme.steps(), self.boundary) {
            Border::Same => false,
            _ if self.reads_nothing_beyond() => false,
            Border::DoubledEnds => true,
            Border::Folded => return None,
        };
        let back = |axis: &Option<Extended>| axis.map(|axis| Extended { is_adjoint: true, ..axis });
        let extended = self.extended.iter().map(back).collect();
        Some(Problem {
            scheme: self.scheme.adjoint()?,
            extended,
            doubled_ends,
            is_adjoint: !self.is_adjoint,
            ..self.clone()
        })
    }

    /// Whether no step of any level reads beyond its line, so borders have no effect.
    fn reads_nothing_beyond(&self) -> bool {
        (0..self.geometry.depth()).all(|level| {
            let (shape, origins) = (self.geometry.level_shape(level), self.geometry.level_origins(level));
            self.geometry.axes_at(level).into_iter().all(|axis| {
                let folds = |step| adjoint::folds(step, self.boundary, shape[axis], origins[axis] & 1);
                shape[axis] < 2 || self.scheme.steps().iter().all(|step| folds(step).is_empty())
            })
        })
    }

    /// Extension of an axis, if any.
    pub(crate) fn extended(&self, axis: usize) -> Option<Extended> {
        self.extended.get(axis).copied().flatten()
    }

    /// Whether coefficients and data differ in shape.
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
