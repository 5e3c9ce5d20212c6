//! `liftc kernels`: the CUDA kernels of plans, as text to compile on a machine without a device.

use crate::bench::{Case, default_sample, with_sample};
use crate::cli::KernelsArgs;
use crate::compile::scalar;
use crate::failure::{Outcome, usage};
use crate::output::{print, write_file};
use crate::{warn, wavelet};
use lifting::{SampleType, Schedule};
use lifting_codegen::emit::Request;
use std::path::Path;

/// Writes the kernels.
pub fn run(args: &KernelsArgs) -> Outcome {
    let named = wavelet::resolve_one(&args.wavelet)?;
    warn(&named.source.name, &named.source.text, &named.warnings);
    let scheme = named.schemes[0].clone();
    let sample = args.sample.unwrap_or_else(|| default_sample(&scheme));
    let shape = args.batch.iter().chain(&args.shape).copied().collect();
    let case = Case {
        batch: args.batch,
        boundary: args.boundary,
        schedule: args.schedule,
        pitch: args.pitch,
        ways: Vec::new(),
        ..Case::new(scheme, sample, shape, args.levels)
    };
    let kernels = with_sample!(sample, source(&case, args.multiprocessors))?;
    if kernels.is_empty() {
        return Err(usage("this plan transforms nothing, so it has no kernels"));
    }
    let request = Request {
        scheme: &case.scheme,
        boundary: case.boundary.unwrap_or_else(|| case.scheme.boundary()),
        samples: &[scalar(sample)],
        gain: false,
        profile: None,
        prefix: None,
        command: &command(args, sample),
    };
    let shape: Vec<String> = case.shape.iter().map(usize::to_string).collect();
    let opening = request.opening(&[
        format!("Kernels of a plan for {} samples, {} levels.", shape.join(" x "), case.levels),
        format!("Made for a device of {} multiprocessors; names end in a fingerprint.", args.multiprocessors),
    ]);
    let text = format!("{opening}\n{kernels}");
    if args.output == Path::new("-") {
        return print(&text);
    }
    write_file(&args.output, |out| out.write_all(text.as_bytes()))
}

/// Command for the file's first lines: the options that affect the text, in a fixed order.
fn command(args: &KernelsArgs, sample: SampleType) -> String {
    let sides = |shape: &[usize]| shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
    let mut words = format!("liftc kernels -w {} --sample {}", args.wavelet, sample.name());
    words += &format!(" --shape {}", sides(&args.shape));
    if let Some(batch) = args.batch {
        words += &format!(" --batch {batch}");
    }
    words += &format!(" -l {}", args.levels);
    if let Some(boundary) = args.boundary {
        words += &format!(" --boundary {boundary}");
    }
    if args.schedule != Schedule::Auto {
        words += &format!(" --schedule {}", args.schedule.name());
    }
    if let Some(pitch) = args.pitch {
        words += &format!(" --pitch {pitch}");
    }
    words + &format!(" --multiprocessors {}", args.multiprocessors)
}

fn source<T: lifting::Sample>(case: &Case, multiprocessors: u32) -> Outcome<String> {
    case.cuda_source::<T>(multiprocessors)
}
