//! Compile command: `.lift` text to CUDA, C, OpenCL, Rust, schemes and kernel IR.

use crate::cli::{CompileArgs, Emit, KernelCount, ScheduleArg};
use crate::failure::{Failure, Outcome, input, usage};
use crate::output::{Files, check_distinct, create_folder, print, why};
use crate::warn;
use crate::wavelet::{self, Named};
use clap::CommandFactory;
use lifting::{Format, SampleType, Scheme};
use lifting_codegen::back::{self, Dialect};
use lifting_codegen::emit::{self, EmitError, Passes, Request, Section, TARGETS, Target};
use lifting_codegen::ir::{self, Feature, Kernel, Scalar};
use lifting_codegen::opt;
use lifting_codegen::schedule::level::Order;
use lifting_codegen::schedule::{Options, ScheduleError, horizontal, lattice, rows, vertical};
use lifting_dsl::suggest::did_you_mean;
use lifting_dsl::{Direction, c_identifier};
use lifting_planner::emit::{self as planner, FileError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

mod fixed;

/// File to write.
struct Product {
    path: PathBuf,
    text: String,
}

/// Compiles all wavelets, and writes files only if all of them compile.
pub fn run(args: &CompileArgs) -> Outcome {
    if args.after.is_some() && args.emit.iter().any(|e| *e != Emit::Ir) {
        return Err(usage("--after needs --emit ir: it shows the kernels after that pass")
            .help("use --emit ir, or leave out --after: other files run all passes"));
    }
    if args.dialect.is_some() && args.emit.iter().any(|e| *e != Emit::Ir) {
        return Err(usage("--dialect needs --emit ir: it sets the language of these kernels")
            .help("use --emit ir, or leave out --dialect: other files have fixed languages"));
    }
    let cuda = args.emit.contains(&Emit::File(&emit::CUDA));
    let shared = args.schedule == [ScheduleArg::Shared];
    let suits = args.schedule.is_empty() || shared && cuda || args.emit.iter().all(|e| *e == Emit::Ir);
    if !suits {
        return Err(usage("--schedule needs --emit ir: other files hold all they need")
            .help("use --emit ir, or leave out --schedule; CUDA files accept --schedule shared"));
    }
    let in_place = args.fixed.in_place;
    if in_place && !args.emit.iter().any(|emit| is_in_place(args, emit)) {
        return Err(usage("--in-place is for functions in C and Rust files").help("add c or rust to --emit"));
    }
    if !args.fixed.shape.is_empty() && !cuda && !in_place {
        return Err(usage("--shape is for functions in CUDA files: other files take any shape")
            .help("add cuda to --emit, or leave out --shape; --in-place is for C and Rust functions of one shape"));
    }
    if shared && !args.fixed.shape.is_empty() {
        return Err(usage(
            "--schedule shared is for functions for any shape: those for one shape have the launches of plans",
        )
        .help("leave out --schedule or --shape"));
    }
    let (mut products, mut failures, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
    let mut names = Vec::new();
    if let [word, rest @ ..] = &args.wavelets[..]
        && let Some(failure) = foreign_command(word, rest)
    {
        return Err(failure);
    }
    for word in &args.wavelets {
        match wavelet::resolve(word) {
            Ok(named) => {
                warn(&named.source.name, &named.source.text, &named.warnings);
                names.extend(named.schemes.iter().map(|scheme| scheme.name().to_owned()));
                if let Err(failure) = compile(args, word, &named, &mut products) {
                    failures.push(failure);
                }
                inputs.push(PathBuf::from(named.source.name));
            }
            Err(failure) => match misspelt_command(word) {
                // The words after a command are not wavelets either.
                Some(command) if inputs.is_empty() && failures.is_empty() => {
                    return Err(usage(format!("no command or wavelet `{word}`"))
                        .help(format!("did you mean the command `{command}`? see `liftc --help`")));
                }
                _ => failures.push(failure),
            },
        }
    }
    if args.prefix.is_some() && names.len() > 1 {
        return Err(usage(format!("--prefix names one wavelet, but there are {}: {}", names.len(), names.join(", ")))
            .help("compile them one by one: FILE.lift#NAME is one wavelet of a file"));
    }
    match failures.len() {
        0 => check_prefixes(args, &names)?,
        1 => return Err(failures.remove(0)),
        _ => return Err(Failure::Many(failures)),
    }
    if args.output == Path::new("-") {
        if args.check {
            return Err(usage("--check compares files: name their directory with -o"));
        }
        return products.iter().try_for_each(|product| print(&product.text));
    }
    if args.check {
        return check(&products);
    }
    let _folder = create_folder(&args.output)?;
    if let Some(path) = &args.depfile {
        let text = dependencies(&products, &inputs);
        products.push(Product { path: path.clone(), text });
    }
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    check_distinct(&inputs, &products.iter().map(|p| p.path.as_path()).collect::<Vec<_>>())?;
    let mut files = Files::default();
    // Files that do not change keep their times, so that nothing is built again.
    for product in products.iter().filter(|product| !is_current(product)) {
        files.add(&product.path, |w| w.write_all(product.text.as_bytes()))?;
    }
    files.commit()
}

/// Whether a file has functions in place, for one shape each.
fn is_in_place(args: &CompileArgs, emit: &Emit) -> bool {
    args.fixed.in_place && [Emit::File(&emit::C), Emit::File(&emit::RUST)].contains(emit)
}

/// Whether a regular file has this text already.
fn is_current(product: &Product) -> bool {
    let is_file = std::fs::metadata(&product.path).is_ok_and(|m| m.is_file() && m.len() == product.text.len() as u64);
    is_file && std::fs::read(&product.path).is_ok_and(|found| found == product.text.as_bytes())
}

/// A rule of make: the files depend on the inputs that exist.
fn dependencies(products: &[Product], inputs: &[PathBuf]) -> String {
    let escaped = |path: &Path| {
        let text = path.display().to_string();
        text.replace('$', "$$").replace('#', "\\#").replace(' ', "\\ ")
    };
    let targets: Vec<String> = products.iter().map(|product| escaped(&product.path)).collect();
    let sources = inputs.iter().filter(|path| path.is_file()).map(|path| format!(" {}", escaped(path)));
    format!("{}:{}\n", targets.join(" "), sources.collect::<String>())
}

/// Refuses wavelets whose C files would define the same names.
fn check_prefixes(args: &CompileArgs, names: &[String]) -> Outcome {
    let is_c = |emit: &Emit| matches!(emit, Emit::File(target) if target.has_header());
    if !args.emit.iter().any(is_c) {
        return Ok(());
    }
    let mut known: BTreeMap<String, &String> = BTreeMap::new();
    for name in names {
        let prefix = c_identifier(name);
        match known.get(&prefix) {
            Some(other) if *other != name => {
                return Err(usage(format!("wavelets `{other}` and `{name}` would share the C prefix `{prefix}`"))
                    .help("compile them one by one, each with its own --prefix, or rename one"));
            }
            _ => known.insert(prefix, name),
        };
    }
    Ok(())
}

/// Failure for a command of other programs, with the equivalent here.
fn foreign_command(word: &str, rest: &[String]) -> Option<Failure> {
    let first = |otherwise| rest.first().map_or(otherwise, String::as_str);
    let (why, help) = match word {
        "compile" | "build" | "emit" | "generate" => {
            (": liftc compiles the wavelets it is given", format!("liftc {} -o kernels/", first("dd137")))
        }
        "forward" | "dwt" | "wavedec" | "decompose" | "analyze" | "analyse" => {
            ("", format!("liftc transform {} -w dd137 -l 3 -o coeffs.npy", first("photo.png")))
        }
        "inverse" | "idwt" | "waverec" | "reconstruct" | "synthesize" | "synthesise" => {
            ("", format!("liftc transform {} --inverse -o back.png", first("coeffs.npy")))
        }
        "compress" => ("", format!("liftc encode {} -o photo.lpc", first("photo.png"))),
        "decompress" => ("", format!("liftc decode {} -o back.png", first("photo.lpc"))),
        "format" | "tidy" => ("", format!("liftc fmt {}", first("my.lift"))),
        "lint" | "validate" => ("", format!("liftc check {}", first("my.lift"))),
        "language-server" | "server" => ("", "liftc lsp".into()),
        "print" | "describe" => ("", format!("liftc show {}", first("dd137"))),
        "draw" | "figure" => ("", format!("liftc plot {0} -o {0}.svg", first("dd137"))),
        "version" => ("", "liftc --version".into()),
        _ => return None,
    };
    Some(usage(format!("no command or wavelet `{word}`{why}")).help(help))
}

/// Command closest to a misspelt word.
fn misspelt_command(word: &str) -> Option<String> {
    let cli = crate::cli::Cli::command();
    did_you_mean(word, cli.get_subcommands().map(|c| c.get_name())).map(str::to_owned)
}

/// Checks that every file is up to date.
fn check(products: &[Product]) -> Outcome {
    let mut failures = Vec::new();
    for Product { path, text } in products {
        match std::fs::read(path) {
            Ok(found) if found == text.as_bytes() => {}
            Ok(found) => {
                let found = String::from_utf8_lossy(&found);
                let line = 1 + found.lines().zip(text.lines()).take_while(|(a, b)| a == b).count();
                failures.push(input(format!("{}: is out of date, from line {line} on", path.display())));
            }
            Err(e) => failures.push(input(format!("{}: cannot read: {}", path.display(), why(&e)))),
        }
    }
    match failures.pop() {
        None => Ok(()),
        Some(last) => {
            failures.push(last.help("regenerate the files with the same command without --check"));
            Err(Failure::Many(failures))
        }
    }
}

fn compile(args: &CompileArgs, word: &str, named: &Named, products: &mut Vec<Product>) -> Outcome {
    for scheme in &named.schemes {
        let place = if word == scheme.name() { word.to_owned() } else { format!("{word}: {}", scheme.name()) };
        let at = |e: &dyn std::fmt::Display| input(e).at(&place);
        let profile = match args.profile {
            None => None,
            Some(format) => Some(scheme.profile(format).ok_or_else(|| {
                let names: Vec<_> = scheme.profiles().iter().map(|p| p.format.name()).collect();
                let has = if names.is_empty() { "none".into() } else { names.join(", ") };
                at(&format!("has no profile {}", format.name())).help(format!("it has {has}"))
            })?),
        };
        let samples = scalars(args, scheme);
        let command = |emit: Emit| command(args, word, emit);
        let request = Request {
            scheme,
            boundary: args.boundary.or(profile.and_then(|p| p.boundary)).unwrap_or_else(|| scheme.boundary()),
            samples: &samples,
            gain: profile.is_some_and(|p| p.gain_shift > 0),
            profile,
            prefix: args.prefix.as_deref(),
            command: "",
        };
        let path = |extension: &str| args.output.join(format!("{}.{extension}", request.file_name()));
        let mut add = |extension: &str, text: String| products.push(Product { path: path(extension), text });
        let wants = |what: Emit| args.emit.contains(&what);
        let fixed = match wants(Emit::File(&emit::CUDA)) || args.fixed.in_place {
            true => fixed::transforms(args, &request).map_err(|e| e.at(&place))?,
            false => Vec::new(),
        };
        let mut sections = Vec::new();
        for target in TARGETS.into_iter().filter(|&target| wants(Emit::File(target))) {
            let command = command(Emit::File(target));
            let request = Request { command: &command, ..request };
            let mut prototypes = String::new();
            let in_place = is_in_place(args, &Emit::File(target));
            let is_fixed = in_place || target == &emit::CUDA && !fixed.is_empty();
            let (text, replaced) = match target {
                _ if in_place => {
                    let (text, declared) = planner::in_place(&request, target, &fixed).map_err(|e| at(&e))?;
                    prototypes = declared;
                    (text, Vec::new())
                }
                _ if is_fixed => {
                    let tuning = fixed::tuning(args);
                    prototypes = planner::declarations(&request, &fixed, &tuning).map_err(|e| at(&e))?;
                    (planner::fixed(&request, &fixed, &tuning).map_err(|e| at(&e))?.text, Vec::new())
                }
                _ if target == &emit::CUDA => cuda(args, &request).map_err(|e| match e {
                    FileError::Emit(e @ EmitError::Schedule(ScheduleError::Reach { .. })) => {
                        at(&e).help("use --emit c or --emit rust: these hold every wavelet")
                    }
                    e => at(&e),
                })?,
                _ => {
                    let emitted = (target.write)(&request).map_err(|e| at(&e))?;
                    (emitted.text, emitted.replaced)
                }
            };
            for line in &replaced {
                eprintln!("{place}: {line}");
            }
            add(target.extension, text);
            if target.has_header() {
                sections.push(Section::new(&request, target, !is_fixed, &prototypes));
            }
        }
        if !sections.is_empty() {
            let sections = with_kept(args, sections, &path("h"))?;
            add("h", emit::header_of(&request, &sections));
        }
        if wants(Emit::Scheme) {
            add("lift", lifting_dsl::print_scheme(scheme));
        }
        if wants(Emit::Ir) {
            let command = command(Emit::Ir);
            let request = Request { command: &command, ..request };
            let kernels = kernels(args, &request).map_err(|e| at(&e))?;
            match args.dialect.as_deref().and_then(back::dialect) {
                None => add("ir", kernels.iter().map(ir::print::kernel).collect::<Vec<_>>().join("\n")),
                Some(dialect) => {
                    let text = written(&request, dialect, kernels).map_err(|e| at(&e))?;
                    add(&format!("kernels.{}", dialect.extension()), text);
                }
            }
        }
    }
    Ok(())
}

/// The sections of a header, with those of files that earlier commands wrote to its folder.
fn with_kept(args: &CompileArgs, new: Vec<Section>, header: &Path) -> Outcome<Vec<Section>> {
    let profile =
        |command: &str| command.split(" --profile ").nth(1).map(|rest| rest.split(' ').next().map(str::to_owned));
    let old = match std::fs::read_to_string(header) {
        Ok(text) if args.output != Path::new("-") => Section::all_of(&text),
        _ => Vec::new(),
    };
    let mut all = new;
    for section in old {
        let exists = header.with_file_name(&section.file).is_file();
        if !exists || all.iter().any(|other| other.file == section.file) {
            continue;
        }
        if profile(section.command()) != profile(all[0].command()) {
            let message = format!("{}: holds functions of {} for another profile", header.display(), section.file);
            return Err(usage(message)
                .help(format!("use another folder, another --prefix, or the profile of `{}`", section.command())));
        }
        all.push(section);
    }
    let place = |section: &Section| {
        let extension = |target: &&Target| section.file.ends_with(&format!(".{}", target.extension));
        TARGETS.iter().rposition(extension)
    };
    all.sort_by_key(place);
    Ok(all)
}

/// CUDA file for any shape, and notes on substitutions in it.
fn cuda(args: &CompileArgs, request: &Request) -> Result<(String, Vec<String>), FileError> {
    if args.schedule == [ScheduleArg::Shared] {
        let emitted = emit::cuda(request)?;
        return Ok((emitted.text, emitted.replaced));
    }
    let count = match args.kernels {
        KernelCount::Few => planner::Count::Few,
        KernelCount::Usual => planner::Count::Usual,
        KernelCount::All => planner::Count::All,
    };
    let columns_first = args.profile == Some(Format::Jpeg2000);
    let general = planner::General { count, columns_first, tuning: &fixed::tuning(args) };
    let file = planner::general(request, &general)?;
    Ok((file.text, file.replaced))
}

/// Requested sample types without duplicates, or those that fit the wavelet.
fn scalars(args: &CompileArgs, scheme: &Scheme) -> Vec<Scalar> {
    let mut scalars = Vec::new();
    for sample in &args.sample {
        let scalar = scalar(*sample);
        if !scalars.contains(&scalar) {
            scalars.push(scalar);
        }
    }
    if scalars.is_empty() { emit::natural_samples(scheme.domain()).to_vec() } else { scalars }
}

/// Sample type of kernels.
pub fn scalar(sample: SampleType) -> Scalar {
    match sample {
        SampleType::I16 => Scalar::I16,
        SampleType::I32 => Scalar::I32,
        SampleType::I64 => Scalar::I64,
        SampleType::F16 => Scalar::F16,
        SampleType::Bf16 => Scalar::Bf16,
        SampleType::F32 => Scalar::F32,
        SampleType::F64 => Scalar::F64,
    }
}

/// Kernels as text in a language, after the passes that run on every kernel.
fn written(request: &Request, dialect: &dyn Dialect, kernels: Vec<Kernel>) -> Result<String, EmitError> {
    let kernels = emit::prepared(kernels)?;
    let pairs: Vec<_> = kernels.iter().map(|(kernel, info)| (kernel, info)).collect();
    let text = dialect.write(&pairs)?;
    Ok(format!("{}\n{text}", request.opening(&[format!("Kernels of schedules, as {}.", dialect.name())])))
}

/// Kernels of the requested schedules, after the requested pass.
fn kernels(args: &CompileArgs, request: &Request) -> Result<Vec<Kernel>, ScheduleError> {
    let scheme = request.scheme;
    let after = |kernel: Kernel| match &args.after {
        Some(name) => opt::after(kernel, name).expect("the command line takes names of passes"),
        None => kernel,
    };
    let mut all = Vec::new();
    for &sample in request.samples {
        if args.schedule.is_empty() {
            // Kernels of the files; for a language, only those for devices or only those for CPUs.
            let threads = args.dialect.as_deref().and_then(back::dialect).map(|d| d.has(Feature::Threads));
            if threads != Some(false) {
                all.extend(Passes::cuda(request, sample)?.kernels.into_iter().map(after));
            }
            if threads != Some(true) {
                all.extend(Passes::c(request, sample)?.kernels.into_iter().map(after));
            }
        }
        for direction in [Direction::Forward, Direction::Inverse] {
            let options = Options { gain: request.gain, ..Options::new(sample, request.boundary, direction) };
            for schedule in &args.schedule {
                let kernels = match schedule {
                    ScheduleArg::Horizontal => {
                        vec![horizontal::kernel(scheme, options, horizontal::HorizontalShape::default())?]
                    }
                    ScheduleArg::Vertical => vec![vertical::kernel(scheme, options)?],
                    ScheduleArg::Shared => {
                        let rows = horizontal::kernel(scheme, options, horizontal::HorizontalShape::default())?;
                        vec![rows, vertical::kernel(scheme, options)?]
                    }
                    ScheduleArg::Rows => vec![rows::horizontal(scheme, options)?, rows::vertical(scheme, options)?],
                    ScheduleArg::Launch(schedule) => {
                        // Shape for large images, and any number of rows where such a kernel exists.
                        let shape = schedule.usual(scheme, options)?;
                        let rows = *schedule.alignments().last().expect("a schedule takes some rows");
                        vec![schedule.fit(scheme, options, shape, rows)?.kernel(scheme, Order::HorizontalFirst)?]
                    }
                    ScheduleArg::Lattice => lattice::pair(scheme, options, [1024, 1024])?.into(),
                };
                all.extend(kernels.into_iter().map(after));
            }
        }
    }
    Ok(all)
}

/// Command for a file's first lines: the options that affect its text, in a fixed order.
fn command(args: &CompileArgs, word: &str, emit: Emit) -> String {
    use clap::ValueEnum;
    let list = |names: Vec<String>| names.join(",");
    let mut words = vec!["liftc".to_owned(), wavelet::without_folders(word)];
    words.extend(emit.to_possible_value().map(|value| format!("--emit {}", value.get_name())));
    if !args.sample.is_empty() {
        words.push(format!("--sample {}", list(args.sample.iter().map(|s| s.name().to_owned()).collect())));
    }
    if let Some(boundary) = args.boundary {
        words.push(format!("--boundary {boundary}"));
    }
    if let Some(profile) = args.profile {
        words.push(format!("--profile {}", profile.name()));
    }
    words.extend(args.prefix.iter().map(|prefix| format!("--prefix {prefix}")));
    let (is_cuda, is_ir) = (emit == Emit::File(&emit::CUDA), emit == Emit::Ir);
    if !args.schedule.is_empty() && (is_cuda || is_ir) {
        words.push(format!("--schedule {}", list(args.schedule.iter().map(|s| s.name().to_owned()).collect())));
    }
    if is_ir {
        words.extend(args.after.iter().map(|pass| format!("--after {pass}")));
        words.extend(args.dialect.iter().map(|word| format!("--dialect {word}")));
    }
    match args.kernels {
        KernelCount::Few if is_cuda => words.push("--kernels few".into()),
        KernelCount::All if is_cuda => words.push("--kernels all".into()),
        _ => {}
    }
    if is_cuda || is_in_place(args, &emit) {
        words.extend(fixed::words(args, is_cuda));
    }
    words.join(" ")
}
