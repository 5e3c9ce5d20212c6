//! Pass kernels of a file, along rows and along columns. CUDA kernels have their schedule's usual shape, or else the
//! first other one that holds the wavelet.

use super::{Request, Template};
use crate::ir::{Kernel, Scalar};
use crate::schedule::rows::Margins;
use crate::schedule::{Arithmetic, Options, ScheduleError, horizontal, rows, vertical};
use crate::window::{Halo, Window};
use lifting_dsl::{Direction, Scheme};

/// Shared memory that a block may declare, in bytes.
const SHARED: i64 = crate::ir::valid::MAX_SHARED as i64;

/// Placeholders of the calls of pass kernels.
pub(super) fn with_calls(t: Template) -> Template {
    let [analysis, synthesis] = CALLS.map(|text| t.fill(text));
    t.with("LIFT_ANALYSIS", analysis).with("LIFT_SYNTHESIS", synthesis)
}

/// Calls of the pass kernels, for analysis and synthesis.
const CALLS: [&str; 2] = [
    "        if (axis == l->axes - 1) {
            @HF@src + from, low + to, high + to, length, l->parity[axis], lines, src_pitch,
                to_pitch, to_pitch, src_image, to_image, to_image, batch@GAIN@@HC@);@AFTER@
        } else {
            @VF@src + from, low + to, high + to, length, l->parity[axis], lines, src_pitch,
                to_pitch, to_pitch, src_image, to_image, to_image, batch@GAIN@@VC@);@AFTER@
        }
",
    "        if (axis == l->axes - 1) {
            @HI@low + from_low, high + from_high, dst + to, length, l->parity[axis], lines,
                low_pitch, high_pitch, dst_pitch, low_image, high_image, dst_image, batch@GAIN@@HC@);@AFTER@
        } else {
            @VI@low + from_low, high + from_high, dst + to, length, l->parity[axis], lines,
                low_pitch, high_pitch, dst_pitch, low_image, high_image, dst_image, batch@GAIN@@VC@);@AFTER@
        }
",
];

/// The pass kernels of one sample type.
#[derive(Clone, Debug, PartialEq)]
pub struct Passes {
    /// Analysis along rows and along columns, then synthesis.
    pub kernels: [Kernel; 4],
    /// Kernels in an unusual shape, each with the reason.
    pub replaced: Vec<String>,
}

impl Passes {
    /// The kernels of a CUDA file.
    ///
    /// # Errors
    /// If the sample type is outside the wavelet's domain, or no shape holds the wavelet.
    pub fn cuda(request: &Request, sample: Scalar) -> Result<Passes, ScheduleError> {
        let mut replaced = Vec::new();
        let kernels = both(|direction| {
            let options = request.options(sample, direction);
            Ok([along_rows(request, options, &mut replaced)?, along_columns(request, options, &mut replaced)?])
        })?;
        Ok(Passes { kernels, replaced })
    }

    /// The single-threaded kernels of a C or Rust file.
    ///
    /// # Errors
    /// If the sample type is outside the wavelet's domain, or CPU kernels do not compute in it.
    pub fn c(request: &Request, sample: Scalar) -> Result<Passes, ScheduleError> {
        let kernels = both(|direction| {
            let options = request.options(sample, direction);
            Ok([rows::horizontal(request.scheme, options)?, rows::vertical(request.scheme, options)?])
        })?;
        Ok(Passes { kernels, replaced: Vec::new() })
    }
}

/// The kernels of both directions, from a function for one.
fn both(mut pair: impl FnMut(Direction) -> Result<[Kernel; 2], ScheduleError>) -> Result<[Kernel; 4], ScheduleError> {
    let [[hf, vf], [hi, vi]] = [pair(Direction::Forward)?, pair(Direction::Inverse)?];
    Ok([hf, vf, hi, vi])
}

/// Margin of a phase's scratch row beyond the phase, in samples, in a C or Rust file.
pub(super) fn margin(scheme: &Scheme) -> i32 {
    let extra = |direction: Direction| Margins::of(&direction.steps(scheme)).extra();
    extra(Direction::Forward).max(extra(Direction::Inverse))
}

/// Kernels along rows: slices are longer where the halo exceeds the usual one.
fn along_rows(request: &Request, options: Options, replaced: &mut Vec<String>) -> Result<Kernel, ScheduleError> {
    let scheme = request.scheme;
    let usual = horizontal::HorizontalShape::default();
    let halo = Halo::of(&options.direction.steps(scheme), options.boundary);
    let bytes = Arithmetic::of(scheme, options)?.work.bytes() as i64;
    let holds = |pairs: u32| 2 * (i64::from(pairs) + halo.pairs_before() + halo.pairs_after()) * bytes <= SHARED;
    let longer = [2, 4].map(|times| times * usual.pairs).into_iter().filter(|pairs| holds(*pairs));
    let others = longer.map(|pairs| {
        let kernel = horizontal::kernel(scheme, options, horizontal::HorizontalShape { pairs, ..usual });
        (format!("slices of {pairs} pairs instead of {}", usual.pairs), kernel)
    });
    first(horizontal::kernel(scheme, options, usual), others, replaced)
}

/// Kernels along columns: slabs are narrower where shared memory cannot hold the window.
fn along_columns(request: &Request, options: Options, replaced: &mut Vec<String>) -> Result<Kernel, ScheduleError> {
    let scheme = request.scheme;
    let window = Window::derive(&options.direction.steps(scheme), options.boundary);
    let usual = vertical::VerticalShape::for_window(&window, options.sample);
    let others = [2, 4, 8].map(|part| {
        // The number of threads stays the same.
        let (columns, threads_y) = (usual.columns / part, usual.threads_y * part);
        let kernel = vertical::kernel_with(
            scheme,
            options,
            vertical::VerticalShape { columns, threads_x: columns, threads_y, ..usual },
        );
        (format!("slabs of {columns} columns instead of {}", usual.columns), kernel)
    });
    first(vertical::kernel_with(scheme, options, usual), others, replaced)
}

/// The usual kernel, or the first other one that holds the wavelet.
fn first(
    usual: Result<Kernel, ScheduleError>,
    others: impl IntoIterator<Item = (String, Result<Kernel, ScheduleError>)>,
    replaced: &mut Vec<String>,
) -> Result<Kernel, ScheduleError> {
    let error = match usual {
        Err(error @ ScheduleError::Reach { .. }) => error,
        usual => return usual,
    };
    let Some((what, kernel)) = others.into_iter().find_map(|(what, kernel)| Some((what, kernel.ok()?))) else {
        return Err(error);
    };
    if let ScheduleError::Reach { what: part, required, available, .. } = error {
        replaced.push(format!("{}: {what}: {part} would be {required}, the limit is {available}.", kernel.name));
    }
    Ok(kernel)
}
