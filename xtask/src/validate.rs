//! Validation: every emitted text through the real compilers.

use crate::emitted::{self, Emitted};
use crate::nvcc::{self, RECORDED};
use crate::nvrtc::Nvrtc;
use crate::record::{self, Record};
use crate::registers::{self, Usage};
use crate::toolchain::{Toolchain, cuda, has, root, run as run_command, target};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Arguments of the command.
pub struct Options {
    /// Rewrite the table of registers.
    pub bless: bool,
    /// Substring of wavelets' names.
    pub only: String,
    /// The full product of wavelets, border rules and sample types.
    pub full: bool,
    /// Compile recorded kernels too.
    pub afresh: bool,
    /// Seed that selects the recorded kernels to compile.
    pub seed: Option<u64>,
}

impl Options {
    /// Whether the run relies on neither the record nor representatives.
    fn thorough(&self) -> bool {
        self.full || self.afresh
    }
}

/// Emits, compiles and compares.
pub fn run(options: &Options) -> Result<(), String> {
    let start = Instant::now();
    let folder = target().join("validate");
    // Remove earlier output, which could mask missing files.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let toolchain = cuda()?;
    let nvrtc = Nvrtc::new(&toolchain)?;
    let clang = has("clang", "without clang")?;
    let known = if options.thorough() {
        Vec::new()
    } else {
        // Without a table nothing is recorded, and everything is compiled.
        registers::parse(&std::fs::read_to_string(table_path()).unwrap_or_default())
    };
    let seed = options.seed.unwrap_or_else(record::seed_of_commit);
    let record = Record::new(known, &toolchain, seed)?;
    let all = emitted::all(&folder, &record, (&options.only, options.full))?;
    println!("{} wavelets and border rules", all.len());

    let (next, usages, errors) = (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match compile(one, &toolchain, &nvrtc, clang, options) {
                        Ok(found) => {
                            println!("{}: {} kernels", one.name, found.len());
                            usages.lock().expect("no worker panics").extend(found);
                        }
                        Err(e) => errors.lock().expect("no worker panics").push(format!("{}: {e}", one.name)),
                    }
                }
            });
        }
    });
    let mut usages: Vec<Usage> = usages.into_inner().expect("no worker panics");
    let is_recorded = |u: &Usage| RECORDED.iter().any(|a| u.architecture.ends_with(a));
    let compiled = usages.iter().filter(|u| is_recorded(u)).count();
    usages.extend(all.iter().flat_map(|one| one.recorded.iter().cloned()));
    let mut errors = errors.into_inner().expect("no worker panics");
    for u in usages.iter().filter(|u| u.spills > 0) {
        errors.push(format!("{}: {} spills {} bytes on {}", u.file, u.kernel, u.spills, u.architecture));
    }
    if !errors.is_empty() {
        errors.sort();
        return Err(errors.join("\n"));
    }
    usages.retain(is_recorded);
    let kernels = usages.len();
    compare(usages, options)?;
    println!(
        "{kernels} kernels, {compiled} of them compiled by nvcc and NVRTC and the others as recorded (--seed {seed}), \
         {} files by rustc, gcc{}, in {:.0} s",
        all.len(),
        if clang { " and clang" } else { "" },
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

fn compile(
    one: &Emitted,
    toolchain: &Toolchain,
    nvrtc: &Nvrtc,
    clang: bool,
    options: &Options,
) -> Result<Vec<Usage>, String> {
    let full = options.full;
    let object = one.c.with_extension("o");
    // The loops of three instruction sets take an optimiser 15 s a file, and optimisation does not affect acceptance.
    let level = if options.thorough() { "-O2" } else { "-O1" };
    let strict =
        ["-std=c99", "-Wall", "-Wextra", "-Wcast-align", "-Warray-bounds", "-Werror", "-pedantic", level, "-c"];
    for compiler in ["gcc", "clang"].into_iter().filter(|c| *c == "gcc" || clang) {
        run_command(Command::new(compiler).args(strict).arg(&one.c).arg("-o").arg(&object))?;
        let mut with_header = Command::new(compiler);
        let only_syntax = with_header.args(strict).arg("-fsyntax-only").arg("-include").arg(&one.header);
        run_command(only_syntax.arg("-Wmissing-prototypes").arg(&one.c))?;
    }
    let level = if options.thorough() { "-Copt-level=3" } else { "-Copt-level=0" };
    let strict = ["--edition=2021", "--crate-type=lib", "--crate-name=emitted", "-Dwarnings", level];
    run_command(Command::new("rustc").args(strict).arg(&one.rust).arg("-o").arg(one.rust.with_extension("rlib")))?;
    let mut usages: Vec<Usage> = Vec::new();
    // nvcc uses the same assembler as NVRTC, so PTX suffices to test whether NVRTC accepts the text.
    let kind = if full { "sm" } else { "compute" };
    let targets = |architectures: &'static [&str]| architectures.iter().map(move |a| format!("{kind}_{a}"));
    if let Some(cu) = &one.cuda {
        nvrtc.compile(cu, targets(&RECORDED))?;
        let found = nvcc::compile(toolchain, &one.name, cu, Some(&one.header))?;
        usages.extend(found.into_iter().map(|usage| Usage { text: one.cuda_text.clone(), ..usage }));
    }
    if let Some(cu) = &one.fused {
        // NVRTC has the same front end as nvcc, which compiles for both architectures. It lacks only headers, and lacks
        // them for either.
        nvrtc.compile(cu, targets(if full { &RECORDED } else { &RECORDED[1..] }))?;
        for usage in nvcc::compile(toolchain, &one.name, cu, None)? {
            let text = one.fused_texts.get(&usage.kernel).cloned();
            usages.push(Usage { text: text.ok_or_else(|| format!("{} is unexpected", usage.kernel))?, ..usage });
        }
    }
    for planned in &one.planned {
        usages.extend(planned.compile(toolchain)?);
    }
    Ok(usages)
}

fn table_path() -> PathBuf {
    root().join("xtask/registers.txt")
}

fn compare(usages: Vec<Usage>, options: &Options) -> Result<(), String> {
    let path = table_path();
    let found = registers::table(usages);
    if options.bless {
        if !options.only.is_empty() || options.full {
            return Err("--bless writes the whole table: use it without --only and --full".into());
        }
        return std::fs::write(&path, found).map_err(|e| format!("{}: {e}", path.display()));
    }
    if !options.only.is_empty() || options.full {
        return Ok(());
    }
    let expected =
        std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}; make it with --bless", path.display()))?;
    let difference = registers::difference(&expected, &found);
    if difference.is_empty() {
        if expected != found {
            println!("texts have changed, but their usage has not: `cargo xtask validate --bless` records them");
        }
        return Ok(());
    }
    Err(format!(
        "{} has changed; if this is intended, run `cargo xtask validate --bless` and commit it:\n{difference}",
        path.display()
    ))
}
