//! Error weights of bands, from which their quantiser steps follow.

use crate::bands::Band;
use crate::colour::Colour;
use crate::error::CodecError;
use crate::quantise::Step;
use lifting::{Domain, Scheme};
use lifting_dsl::analysis::{LevelGains, level_gains};
use lifting_dsl::polyphase::check_expansion;

/// Error weights of a picture's bands.
pub struct Weights {
    colour: Colour,
    gains: Vec<LevelGains>,
    domain: Domain,
}

/// Quantiser step of a quality, for samples of `bits` bits in a band of norm 1.
pub fn step_of_quality(quality: f64, bits: u32) -> f64 {
    ((100.0 - quality) / 8.0 + f64::from(bits) - 8.0).exp2()
}

impl Weights {
    /// Weights of a transform by this wavelet.
    ///
    /// # Errors
    /// If its filters take too long to compute.
    pub fn new(scheme: &Scheme, levels: u32, colour: Colour) -> Result<Weights, CodecError> {
        if levels > 0 {
            check_expansion(scheme).map_err(|e| CodecError::Filters { why: e.to_string() })?;
        }
        Ok(Weights { colour, gains: level_gains(scheme, levels), domain: scheme.domain() })
    }

    /// L2 norm of the picture's error for an error of 1 in a coefficient of a band.
    pub fn norm(&self, component: usize, band: &Band) -> f64 {
        let axis = |high: bool| match (band.level, high) {
            (0, _) => 1.0,
            (level, true) => self.gains[level as usize - 1].high.synthesis_l2,
            (level, false) => self.gains[level as usize - 1].low.synthesis_l2,
        };
        self.colour.norm(component) * axis(band.high[0]) * axis(band.high[1])
    }

    /// Step of a band that affects the picture as `step` does in a band of norm 1. Integers stay unquantised where the
    /// step would be below 1.5.
    pub fn step(&self, step: f64, component: usize, band: &Band) -> Step {
        let wanted = step / self.norm(component, band);
        if self.domain == Domain::Integer && wanted < 1.5 { Step::ONE } else { Step::below(wanted) }
    }
}
