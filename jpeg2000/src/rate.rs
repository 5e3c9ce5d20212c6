//! Rate control: quantiser steps by search, and passes by post-compression rate–distortion optimisation.
//!
//! A layer takes the passes that reduce the picture's error most per byte, over all blocks (Taubman, "High performance
//! scalable image compression with EBCOT", IEEE Transactions on Image Processing 9(7), 2000, section III).

use crate::block::Encoded;
use crate::error::Error;

/// Passes of a block on the lower convex hull of its error over its bytes.
struct Piece {
    block: usize,
    /// Passes up to its end.
    passes: usize,
    bytes: usize,
    /// Error reduction per byte.
    slope: f64,
}

fn pieces(index: usize, block: &Encoded, weight: f64) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut from = 0;
    for (k, pass) in block.passes.iter().enumerate() {
        let mut bytes = pass.end.saturating_sub(from);
        let mut gain = weight * pass.gain;
        from = pass.end;
        // A piece that gains more per byte than its predecessor is merged with it.
        while let Some(last) = pieces.pop_if(|last| bytes == 0 || last.slope <= gain / bytes as f64) {
            bytes += last.bytes;
            gain += last.slope * last.bytes as f64;
        }
        pieces.push(Piece { block: index, passes: k + 1, bytes: bytes.max(1), slope: gain / bytes.max(1) as f64 });
    }
    pieces
}

/// Number of passes of each block up to the end of each layer. The last layer takes all, or the best of `bytes` bytes;
/// each one before takes half as many bytes as the next.
pub fn layers(blocks: &[Encoded], weights: &[f64], layers: u32, bytes: Option<usize>) -> Vec<Vec<usize>> {
    let all: Vec<usize> = blocks.iter().map(|block| block.passes.len()).collect();
    if layers == 1 && bytes.is_none() {
        return vec![all];
    }
    let of_block = |(i, (block, &weight)): (usize, (&Encoded, &f64))| pieces(i, block, weight);
    let mut pieces: Vec<Piece> = blocks.iter().zip(weights).enumerate().flat_map(of_block).collect();
    // Stable sort: the pieces of a block keep their order.
    pieces.sort_by(|a, b| b.slope.total_cmp(&a.slope));
    let total = bytes.unwrap_or_else(|| pieces.iter().map(|piece| piece.bytes).sum());
    // With many layers, their sizes are closer together: the first has at least 1/256 of all bytes.
    let ratio = f64::max(0.5, 256f64.powf(-1.0 / f64::from(layers.max(2) - 1)));
    let (mut taken, mut used) = (vec![0; blocks.len()], 0);
    let mut pieces = pieces.into_iter().peekable();
    let layer = |layer: u32| {
        if layer + 1 == layers && bytes.is_none() {
            return all.clone();
        }
        let budget = total as f64 * ratio.powi((layers - 1 - layer) as i32);
        while let Some(piece) = pieces.next_if(|piece| (used + piece.bytes) as f64 <= budget) {
            taken[piece.block] = piece.passes;
            used += piece.bytes;
        }
        taken.clone()
    };
    (0..layers).map(layer).collect()
}

/// Coarsest step whose PSNR reaches `wanted`, to a hundredth of a decibel.
///
/// # Errors
/// [`Error::Setting`] if even the step `finest` does not reach it, or the error of a trial.
pub fn coarsest(
    mut step: f64,
    finest: f64,
    wanted: f64,
    mut psnr: impl FnMut(f64) -> Result<f64, Error>,
) -> Result<f64, Error> {
    let mut good: Option<(f64, f64)> = None;
    let mut bad: Option<(f64, f64)> = None;
    let mut reached = f64::NEG_INFINITY;
    for _ in 0..24 {
        let found = psnr(step)?;
        reached = reached.max(found);
        if found >= wanted {
            good = Some((step, found));
            if found - wanted <= 0.01 {
                break;
            }
        } else if step <= finest {
            break;
        } else {
            bad = Some((step, found));
        }
        step = match (good, bad) {
            (Some((fine, high)), Some((coarse, low))) => {
                if coarse / fine < 1.001 {
                    break;
                }
                let share = if high.is_finite() { (high - wanted - 0.005) / (high - low) } else { 0.5 };
                fine * (coarse / fine).powf(share.clamp(0.05, 0.95))
            }
            // A picture without errors: steps beyond any sample change nothing more.
            (Some((fine, _)), None) if fine > 1e9 => break,
            (Some((fine, high)), None) => fine * (((high - wanted) / 5.0).min(3.0) + 0.02).exp2(),
            (None, _) => (step * (-((wanted - found) / 6.0).min(3.0) - 0.02).exp2()).max(finest),
        };
    }
    let fail =
        || Error::Setting(format!("a PSNR of {wanted} dB; this picture reaches {reached:.2} dB, or be lossless"));
    good.map(|(step, _)| step).ok_or_else(fail)
}

/// Largest stream of at most `budget` bytes, over quantiser steps of at least `finest`.
///
/// # Errors
/// [`Error::Setting`] if the smallest stream is larger, or the error of a trial.
pub fn largest(
    mut step: f64,
    finest: f64,
    budget: usize,
    mut trial: impl FnMut(f64) -> Result<Vec<u8>, Error>,
) -> Result<Vec<u8>, Error> {
    step = step.max(finest);
    let mut fits: Option<(f64, Vec<u8>)> = None;
    let mut beyond: Option<(f64, usize)> = None;
    let mut least = usize::MAX;
    for _ in 0..20 {
        let stream = trial(step)?;
        let length = stream.len();
        least = least.min(length);
        if length <= budget {
            let near = length as f64 >= 0.995 * budget as f64;
            fits = Some((step, stream));
            if near || step <= finest {
                break;
            }
        } else {
            beyond = Some((step, length));
        }
        step = match (&fits, beyond) {
            (Some((coarse, small)), Some((fine, large))) => {
                if coarse / fine < 1.001 {
                    break;
                }
                let (small, large) = ((small.len() as f64).ln(), (large as f64).ln());
                let share = (large - (0.9975 * budget as f64).ln()) / (large - small).max(1e-9);
                fine * (coarse / fine).powf(share.clamp(0.05, 0.95))
            }
            (Some((coarse, small)), None) => {
                (coarse * (small.len() as f64 / budget as f64).powf(1.2).clamp(0.06, 0.9)).max(finest)
            }
            (None, _) if step > 1e9 => break,
            (None, _) => step * (length as f64 / budget.max(1) as f64).powf(1.2).clamp(1.1, 16.0),
        };
    }
    fits.map(|(_, stream)| stream).ok_or_else(|| too_small(budget, least))
}

/// Largest stream of at most `budget` bytes, by leaving out passes of blocks that have `bytes` bytes in all.
///
/// # Errors
/// [`Error::Setting`] if the smallest stream is larger, or the error of a trial.
pub fn truncated(
    budget: usize,
    bytes: usize,
    mut trial: impl FnMut(usize) -> Result<Vec<u8>, Error>,
) -> Result<Vec<u8>, Error> {
    // What the headers take depends little on the passes.
    let mut allowed = bytes.min(budget);
    for _ in 0..24 {
        let stream = trial(allowed)?;
        if stream.len() <= budget {
            return Ok(stream);
        }
        if allowed == 0 {
            return Err(too_small(budget, stream.len()));
        }
        allowed = allowed.saturating_sub(stream.len() - budget);
    }
    let stream = trial(0)?;
    if stream.len() <= budget { Ok(stream) } else { Err(too_small(budget, stream.len())) }
}

fn too_small(budget: usize, least: usize) -> Error {
    Error::Setting(format!("a stream of at most {budget} bytes; the smallest one has {least} bytes"))
}
