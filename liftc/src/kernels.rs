//! `liftc kernels`: the CUDA kernels that plans take, as text to compile where there is a compiler and no device.

use crate::bench::{Case, default_sample, with_sample};
use crate::cli::KernelsArgs;
use crate::failure::{Outcome, usage};
use crate::output::{print, write_file};
use crate::{warn, wavelet};
use std::path::Path;

/// Writes the text.
pub fn run(args: &KernelsArgs) -> Outcome {
    let named = wavelet::resolve_one(&args.wavelet)?;
    warn(&named.source.name, &named.source.text, &named.warnings);
    let scheme = named.schemes[0].clone();
    let sample = args.sample.unwrap_or_else(|| default_sample(&scheme));
    let case = Case {
        scheme,
        sample,
        shape: args.batch.iter().chain(&args.shape).copied().collect(),
        batch: args.batch,
        levels: args.levels,
        boundary: args.boundary,
        schedule: args.schedule,
        pitch: args.pitch,
        ways: Vec::new(),
    };
    let text = with_sample!(sample, source(&case, args.multiprocessors))?;
    if text.is_empty() {
        return Err(usage("nothing is transformed, so there are no kernels"));
    }
    if args.output == Path::new("-") {
        return print(&text);
    }
    write_file(&args.output, |out| out.write_all(text.as_bytes()))
}

fn source<T: lifting::Sample>(case: &Case, multiprocessors: u32) -> Outcome<String> {
    case.cuda_source::<T>(multiprocessors)
}
