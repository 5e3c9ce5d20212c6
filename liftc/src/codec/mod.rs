//! `liftc encode`, `decode`, `transcode` and `info`: pictures to streams, and back.

mod decode;
mod encode;
mod field;
mod http;
mod info;
mod jpeg2000;

pub use decode::array;
pub use encode::picture;

use crate::cli::{DecodeArgs, EncodeArgs, InfoArgs, StreamFormat, TranscodeArgs};
use crate::failure::{Failure, Outcome, input, usage};
use crate::media::MAX_UNPACKED;
use crate::output::{check_distinct, create_folder, input_name, is_standard, is_stream, print, why};
use crate::transform::{Progress, is_folder, note_quietly};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

/// `liftc encode`.
pub fn encode(args: &EncodeArgs) -> Outcome {
    let format = stream_format(&args.output, args.format, StreamFormat::Lpc)?;
    let request = encode::Request::new(args, format)?;
    let extension = |_: &Path| format!(".{}", format.name());
    each(&args.inputs, &args.output, args.quiet, args.threads, &extension, |input, output| {
        encode::run(args, &request, input, output)
    })
}

/// `liftc decode`.
pub fn decode(args: &DecodeArgs) -> Outcome {
    let extension = |_: &Path| format!(".{}", args.format.map_or("png", |format| format.name()));
    let device = crate::bench::open(args.device, args.quiet, "decoded")?;
    each(&args.inputs, &args.output, args.quiet, args.threads, &extension, |input, output| {
        decode::run(args, &device, input, output)
    })
}

/// `liftc transcode`.
pub fn transcode(args: &TranscodeArgs) -> Outcome {
    let format = stream_format(&args.output, args.format, StreamFormat::Jph)?;
    let is_named = args.format.is_some() || is_folder(&args.output) || is_standard(&args.output);
    if !is_named && StreamFormat::of(&args.output).is_none() {
        let text = format!("{}: the extension is not a format of JPEG 2000", args.output.display());
        return Err(usage(text).help("end it in .jph, .j2c, .jp2 or .j2k"));
    }
    let extension = |_: &Path| format!(".{}", format.name());
    each(&args.inputs, &args.output, args.quiet, args.threads, &extension, |input, output| {
        jpeg2000::transcode(format, input, output)
    })
}

/// Format of streams, by `--format` or by the extension of the output.
fn stream_format(output: &Path, format: Option<StreamFormat>, otherwise: StreamFormat) -> Outcome<StreamFormat> {
    let said = if is_folder(output) || is_standard(output) { None } else { StreamFormat::of(output) };
    match (format, said) {
        (Some(format), Some(said)) if format != said => {
            let text = format!("{}: the extension contradicts --format {}", output.display(), format.name());
            Err(usage(text).help("change either, or leave out --format"))
        }
        (format, said) => Ok(format.or(said).unwrap_or(otherwise)),
    }
}

/// `liftc info`.
pub fn info(args: &InfoArgs) -> Outcome {
    let several = args.inputs.len() > 1;
    let mut failures = Vec::new();
    for (i, path) in args.inputs.iter().enumerate() {
        let heading =
            if several { format!("{}{}:\n", if i > 0 { "\n" } else { "" }, input_name(path)) } else { String::new() };
        if !path.exists() && path.to_str().is_some_and(|name| lifting_filters::find(name).is_some()) {
            let help = format!("liftc show {}", path.display());
            failures.push(usage(format!("{}: is a wavelet, not a stream", path.display())).help(help));
            continue;
        }
        match read(path).and_then(|stream| info::describe(&stream).map_err(|f| f.at(input_name(path)))) {
            Ok(text) => print(&(heading + &text))?,
            Err(failure) => failures.push(failure),
        }
    }
    all_or(failures)
}

/// Processes each input; a failure does not stop the others.
fn each(
    inputs: &[PathBuf],
    output: &Path,
    quiet: bool,
    threads: Option<u16>,
    extension: &dyn Fn(&Path) -> String,
    one: impl Fn(&Path, &Path) -> Outcome<String> + Sync,
) -> Outcome {
    let several = inputs.len() > 1;
    if is_standard(output) {
        if several {
            return Err(usage("several inputs need a directory, but `-` is the standard output").help("-o DIR"));
        }
        if std::io::stdout().is_terminal() {
            return Err(usage("the standard output is a terminal, which cannot show this")
                .help("write to a file: -o NAME, or pipe it: … -o - | …"));
        }
    } else if several && !is_folder(output) && output.exists() {
        return Err(usage(format!("{}: is a file, but several inputs need a directory", output.display())));
    }
    let named = several || is_folder(output);
    let _folder = (named && !is_standard(output)).then(|| create_folder(output)).transpose()?;
    if inputs.iter().filter(|path| is_standard(path)).count() > 1 {
        return Err(usage("`-` is given twice, but the standard input can be read only once"));
    }
    let place = |input: &Path| {
        if !several && !is_folder(output) {
            return output.to_owned();
        }
        let stem =
            if is_standard(input) { OsStr::new("stdin") } else { input.file_stem().unwrap_or(input.as_os_str()) };
        let mut name = stem.to_owned();
        name.push(extension(input));
        output.join(name)
    };
    let jobs: Vec<(&Path, PathBuf)> = inputs.iter().map(|input| (input.as_path(), place(input))).collect();
    let outputs: Vec<&Path> = jobs.iter().map(|(_, output)| output.as_path()).collect();
    check_distinct(&jobs.iter().map(|(input, _)| *input).collect::<Vec<_>>(), &outputs)?;

    let progress = Progress::new(jobs.len(), quiet);
    let mut failures = Vec::new();
    for (path, output) in &jobs {
        progress.start(path);
        match on_threads(threads, || one(path, output))? {
            // The report must not mix with output on a stream.
            Ok(said) if is_stream(output) => note_quietly(quiet, &said),
            Ok(said) if !quiet => progress.say(&said)?,
            Ok(_) => {}
            Err(Failure::BrokenPipe) => return Err(Failure::BrokenPipe),
            Err(failure) => failures.push(failure),
        }
        progress.done();
    }
    all_or(failures)
}

fn all_or(mut failures: Vec<Failure>) -> Outcome {
    match failures.len() {
        0 => Ok(()),
        1 => Err(failures.remove(0)),
        _ => Err(Failure::Many(failures)),
    }
}

/// Runs work on a pool of `threads` threads, or on the default pool.
fn on_threads<R: Send>(threads: Option<u16>, work: impl FnOnce() -> R + Send) -> Outcome<R> {
    let Some(threads) = threads else { return Ok(work()) };
    // More threads than that only cost the time to start them.
    let threads = usize::from(threads).min(lifting::threads::most());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.map_err(|e| input(format!("cannot start {threads} threads: {e}")))?.install(work))
}

/// Reads a stream from a file or from standard input.
fn read(path: &Path) -> Outcome<Vec<u8>> {
    let at = |f: Failure| f.at(input_name(path));
    let cannot = |e: std::io::Error| at(input(format!("cannot read: {}", why(&e))));
    let mut bytes = Vec::new();
    let mut take = |from: &mut dyn Read| from.take(MAX_UNPACKED + 1).read_to_end(&mut bytes).map_err(cannot);
    if is_standard(path) {
        take(&mut std::io::stdin().lock())?;
    } else {
        let mut file = File::open(path).map_err(cannot)?;
        if file.metadata().map_err(cannot)?.is_dir() {
            return Err(at(input("is a directory, not a stream of the codec")));
        }
        take(&mut file)?;
    }
    if bytes.len() as u64 > MAX_UNPACKED {
        return Err(at(input(format!("is more than {} GiB", MAX_UNPACKED >> 30))));
    }
    if bytes.is_empty() {
        return Err(at(input("is empty")));
    }
    Ok(bytes)
}
