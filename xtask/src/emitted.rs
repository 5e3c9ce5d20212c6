//! Selection of validated texts: representative wavelets, border rules and sample types.

use crate::planned::{self, Planned};
use crate::record::Record;
use crate::registers::Usage;
use lifting_codegen::back::{Cuda, Dialect};
use lifting_codegen::emit::{self, Request};
use lifting_codegen::ir::{Kernel, Scalar, valid::validate};
use lifting_codegen::opt;
use lifting_codegen::schedule::{
    Along, AxisSchedule, LaunchSchedule, Options, SCHEDULES, ScheduleError, Sides, adjoint, extend, horizontal,
    lattice, registers, vertical, warp,
};
use lifting_dsl::adjoint::{Border, border};
use lifting_dsl::extension::Extension;
use lifting_dsl::{Boundary, Direction, Domain, Scheme};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One wavelet under one border rule, as `liftc` would write it.
pub struct Emitted {
    /// `<wavelet>-<border rule>`.
    pub name: String,
    /// The CUDA file; `None` if it is as recorded, or the wavelet is too long for the schedules, which is printed.
    pub cuda: Option<PathBuf>,
    /// Kernels of both axes at once, which occur only in plans; `None` if they are as recorded, represented by others,
    /// or no such kernel can hold the wavelet.
    pub fused: Option<PathBuf>,
    /// Files whose launches are those of plans, for representative wavelets.
    pub planned: Vec<Planned>,
    /// Digest of the CUDA file and its header.
    pub cuda_text: String,
    /// Digests of the fused kernels, by name.
    pub fused_texts: BTreeMap<String, String>,
    /// Usage of the kernels that are as recorded.
    pub recorded: Vec<Usage>,
    /// The C file.
    pub c: PathBuf,
    /// The Rust file.
    pub rust: PathBuf,
    /// The header of C and CUDA.
    pub header: PathBuf,
}

/// The representative wavelets.
const THREE: [&str; 3] = ["dd137", "legall53", "cdf97"];

/// Wavelets whose files with launches as in plans are compiled: the three, and one with a long chain of steps.
const PLANNED: [&str; 4] = ["dd137", "legall53", "cdf97", "sym8"];

/// Border rules whose kernels the record has; `--full` compiles all. Kernels for `half-symmetric` are those of
/// asymmetric steps under `whole-symmetric`, but for an index.
const RULES: [Boundary; 4] = [Boundary::WholeSymmetric, Boundary::Periodic, Boundary::Edge, Boundary::Zero];

/// Border rules and sample types of one wavelet. Representative wavelets use all of them; others use their own border
/// rule and one type in turn.
fn variants(index: usize, scheme: &Scheme, full: bool) -> Vec<(Boundary, Vec<Scalar>)> {
    let samples = match scheme.domain() {
        Domain::Integer => vec![Scalar::I16, Scalar::I32, Scalar::I64],
        Domain::Real => vec![Scalar::F32, Scalar::F64],
    };
    if full {
        return Boundary::ALL.into_iter().map(|b| (b, samples.clone())).collect();
    }
    if THREE.contains(&scheme.name()) {
        return RULES.into_iter().map(|b| (b, samples.clone())).collect();
    }
    vec![(RULES[index % RULES.len()], vec![samples[index / 4 % samples.len()]])]
}

/// The schedule that is validated for more wavelets, and with gains.
const WARP: &dyn LaunchSchedule = &warp::WarpSchedule;

/// Integer wavelets with the most taps, which need the most registers. Only blocks of `warp` in 16 bits are validated.
const WIDE: [&str; 2] = ["fidelity", "cdsy62"];

/// Sample types whose kernels of both axes are validated without `full`, as these compile slowly. Three wavelets have
/// them: all types under a border rule that needs no work during steps, the first type under one that does.
fn stand_for_all<'a>(scheme: &Scheme, boundary: Boundary, samples: &'a [Scalar]) -> &'a [Scalar] {
    match boundary {
        _ if WIDE.contains(&scheme.name()) => &[Scalar::I16],
        _ if !THREE.contains(&scheme.name()) => &[],
        Boundary::WholeSymmetric => samples,
        Boundary::Periodic | Boundary::Zero => &[],
        _ => &samples[..1],
    }
}

/// Representative kernels of a schedule.
fn kernels_of(schedule: &dyn LaunchSchedule, scheme: &Scheme, options: Options) -> Vec<Result<Kernel, ScheduleError>> {
    match schedule.specimens(scheme, options) {
        Ok(specimens) => specimens.iter().map(|specimen| specimen.kernel(scheme, options)).collect(),
        Err(e) => vec![Err(e)],
    }
}

/// Renames a kernel to distinguish it from the variant without `what`.
fn told_apart(kernel: Kernel, what: &str) -> Kernel {
    Kernel { name: format!("{}_{what}", kernel.name), ..kernel }
}

/// Kernels launched where the next level reads their output, for a few options.
fn kept_kernels(made: &[Result<Kernel, ScheduleError>], options: Options) -> Vec<Result<Kernel, ScheduleError>> {
    let stands_for_all =
        options.boundary == Boundary::WholeSymmetric && matches!(options.sample, Scalar::I16 | Scalar::F32);
    let kept = |kernel: &Kernel| told_apart(opt::kept(kernel.clone()), "kept");
    let kinds = ["_warp_whole_", "_cascade_forward_"];
    let of_kind = |kind: &str| made.iter().flatten().find(|kernel| kernel.name.contains(kind));
    kinds.into_iter().filter(|_| stands_for_all).filter_map(of_kind).map(|kernel| Ok(kept(kernel))).collect()
}

/// Along rows: aligned, long and short, and unaligned. Along columns: the most and the fewest per lane.
fn register_kernels(scheme: &Scheme, options: Options) -> Vec<Result<Kernel, ScheduleError>> {
    let sides = Sides::both(options.sample);
    let along_rows = [(true, 8192), (true, 64), (false, 64)].map(|(aligned, length)| {
        let shape = registers::horizontal::RegisterRowShape::of(sides, aligned, length);
        registers::horizontal::kernel(scheme, options, sides, shape)
    });
    let columns: Vec<u32> = registers::vertical::RegisterColumnShape::candidates(options.direction, sides).collect();
    let along_columns = columns.first().into_iter().chain(columns.last()).map(|&columns| {
        registers::vertical::kernel(scheme, options, sides, registers::vertical::RegisterColumnShape::of(columns, 132))
    });
    along_rows.into_iter().chain(along_columns).collect()
}

/// Kernels of whole rows and columns; and the passes of emitted files, where these lack this type.
fn lattice_kernels(scheme: &Scheme, options: Options) -> Vec<Result<Kernel, ScheduleError>> {
    let mut made = match lattice::pair(scheme, options, VECTORS) {
        Ok(pair) => pair.map(Ok).into(),
        Err(e) => vec![Err(e)],
    };
    if !emit::natural_samples(scheme.domain()).contains(&options.sample) {
        made.push(horizontal::kernel(scheme, options, horizontal::HorizontalShape::default()));
        made.push(vertical::kernel(scheme, options));
    }
    made
}

/// Kernels that plans use only for a paper's named method: one border rule and type represent all.
fn paper_kernels(scheme: &Scheme, options: Options) -> Vec<Result<Kernel, ScheduleError>> {
    let stands_for_all =
        options.boundary == Boundary::WholeSymmetric && matches!(options.sample, Scalar::I16 | Scalar::F32);
    if !stands_for_all {
        return Vec::new();
    }
    let lifts_or_filters =
        |schedule: &&'static dyn AxisSchedule| schedule.has_lifting_bits() || scheme.domain() == Domain::Real;
    let sides = Sides::both(options.sample);
    // The first shape of each method; sliding windows are the passes of plans.
    let methods = papers::passes().into_iter().filter(|(method, _)| *method != "sliding-window");
    let along_axes = methods
        .map(|(_, shapes)| shapes[0])
        .filter(lifts_or_filters)
        .flat_map(|schedule| [Along::Row, Along::Column].map(|along| schedule.kernel(scheme, options, sides, along)));
    // Sliding windows move words of 16-bit samples as no other kernel does.
    let window = papers::sliding_window::SHAPES[0];
    let words = [Along::Row, Along::Column]
        .into_iter()
        .filter(|_| window.width(sides) > 1)
        .map(|along| window.whole_kernel(scheme, options, sides, along));
    // Rows of baselines are the passes of emitted files.
    let of_files = options.kernel_name(scheme, "horizontal");
    let own = along_axes.filter(|made| !made.as_ref().is_ok_and(|kernel| kernel.name.starts_with(&of_files)));
    papers::LAUNCHES
        .iter()
        .flat_map(|schedule| kernels_of(*schedule, scheme, options))
        .chain(own)
        .chain(words)
        .collect()
}

/// Representative kernels of gradients: the wavelet lifted in an adjoint, by all schedules, with ends doubled on load;
/// and lines extended by PyWavelets' modes.
fn adjoint_kernels(scheme: &Scheme, options: Options, full: bool) -> Vec<Result<Kernel, ScheduleError>> {
    let stands_for_all = options.boundary == Boundary::WholeSymmetric && options.sample == Scalar::F32;
    let is_doubled = || border(scheme.steps(), options.boundary) == Border::DoubledEnds;
    let Some(adjoint) = scheme.adjoint().filter(|_| stands_for_all && is_doubled()) else { return Vec::new() };
    let options = Options { doubled_ends: true, ..options };
    let compiled = SCHEDULES.iter().filter(|schedule| schedule.is_representative(&adjoint, options, full));
    let mut made: Vec<_> = compiled
        .flat_map(|schedule| kernels_of(*schedule, &adjoint, options))
        .map(|kernel| kernel.map(|kernel| told_apart(kernel, "doubled")))
        .collect();
    // Forward kernels of a rule go with analysis, backward ones with synthesis, so each occurs once.
    let way =
        if options.direction == Direction::Forward { extend::ExtensionWay::Out } else { extend::ExtensionWay::Back };
    made.extend(Extension::ALL.into_iter().map(|rule| Ok(extend::kernel(rule, way, options.sample))));
    made
}

/// Kernels of all schedules but `warp`.
fn other_kernels(scheme: &Scheme, options: Options, full: bool) -> Vec<Result<Kernel, ScheduleError>> {
    let others = SCHEDULES.iter().filter(|&&schedule| schedule != WARP);
    let compiled = others.filter(|schedule| schedule.is_representative(scheme, options, full));
    let mut made: Vec<_> = compiled.flat_map(|schedule| kernels_of(*schedule, scheme, options)).collect();
    if scheme.domain() == Domain::Real {
        made.push(adjoint::kernel(scheme, options));
    }
    made.extend(paper_kernels(scheme, options));
    made.extend(adjoint_kernels(scheme, options, full));
    let stages = scheme.stages(options.boundary).is_some();
    // The others compile slowly, and differ little between border rules.
    if stages || options.boundary == Boundary::WholeSymmetric {
        made.extend(register_kernels(scheme, options));
    }
    if stages {
        made.extend(lattice_kernels(scheme, options));
    }
    made
}

/// The border rule of the kernels in plans: the wavelet's own, if it is emitted in one variant.
fn border_rule(request: &Request) -> Boundary {
    if WIDE.contains(&request.scheme.name()) { request.scheme.boundary() } else { request.boundary }
}

/// The kernels that occur in plans but not in files.
fn fused(request: &Request, full: bool) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for &sample in request.samples {
        for direction in [Direction::Forward, Direction::Inverse] {
            let boundary = if full { request.boundary } else { border_rule(request) };
            let options = Options::new(sample, boundary, direction);
            let mut made = kernels_of(WARP, request.scheme, options);
            if request.gain {
                // Few plans have gains.
                let with_gain = kernels_of(WARP, request.scheme, Options { gain: true, ..options }).into_iter();
                made.extend(with_gain.map(|kernel| kernel.map(|kernel| told_apart(kernel, "gain"))));
            }
            if full || !WIDE.contains(&request.scheme.name()) {
                made.extend(other_kernels(request.scheme, options, full));
                made.extend(kept_kernels(&made, options));
            }
            for kernel in made {
                match kernel {
                    Ok(kernel) => kernels.push(opt::prepare(kernel)),
                    Err(e) => println!("{}: {e}", request.scheme.name()),
                }
            }
        }
    }
    kernels
}

/// Files of long filters, all of one kind of steps: [`REPRESENTATIVE`] covers them unless a run is full or names a
/// wavelet.
const GENERATED: [&str; 4] = ["biorthogonal.lift", "daubechies.lift", "symlets.lift", "coiflets.lift"];
const REPRESENTATIVE: [&str; 4] = ["rbio3_3", "db4", "sym8", "coif5"];

/// Lengths of rows and columns of the kernels that hold whole lines.
const VECTORS: [usize; 2] = [8192, 4096];

/// Representative lattices, with the sample types of their kernels in plans.
const LATTICES: [(&str, &[Scalar]); 2] = [("db2", &[Scalar::F32, Scalar::F64]), ("sym8", &[Scalar::F16])];

/// Emits everything into a folder.
pub fn all(folder: &Path, record: &Record, (only, full): (&str, bool)) -> Result<Vec<Emitted>, String> {
    let mut emitted = Vec::new();
    for (index, entry) in lifting_filters::CATALOGUE.iter().enumerate() {
        let left_out =
            only.is_empty() && !full && GENERATED.contains(&entry.file) && !REPRESENTATIVE.contains(&entry.name);
        if left_out || !entry.name.contains(only) {
            continue;
        }
        let compiled = lifting_dsl::compile(entry.source).map_err(|e| format!("{}: {e:?}", entry.file))?;
        let scheme = compiled.schemes.iter().find(|s| s.name() == entry.name);
        let scheme = scheme.ok_or_else(|| format!("{} has no wavelet {}", entry.file, entry.name))?;
        for (boundary, samples) in variants(index, scheme, full) {
            let gain = scheme.profiles().iter().any(|p| p.gain_shift > 0);
            let command = format!("liftc {} --boundary {boundary}", entry.file);
            let request =
                Request { scheme, boundary, samples: &samples, gain, profile: None, prefix: None, command: &command };
            let in_plans = if full { &samples[..] } else { stand_for_all(scheme, boundary, &samples) };
            let name = format!("{}-{boundary}", entry.name);
            let mut one = write((folder, record), &name, &request, (in_plans, full))?;
            if PLANNED.contains(&entry.name) && boundary == scheme.boundary() {
                let (planned, recorded) = planned::write((folder, record), scheme)?;
                one.planned = planned;
                one.recorded.extend(recorded);
            }
            emitted.push(one);
        }
    }
    let (file, source) = ("orthogonal.lift", include_str!("orthogonal.lift"));
    for (name, samples) in LATTICES {
        let emitted_name = format!("{name}-lattice-periodic");
        if !emitted_name.contains(only) {
            continue;
        }
        let compiled = lifting_dsl::compile(source).map_err(|e| format!("{file}: {e:?}"))?;
        let scheme = compiled.schemes.iter().find(|s| s.name() == name);
        let scheme = scheme.ok_or_else(|| format!("{file} has no wavelet {name}"))?;
        let (boundary, command) = (Boundary::Periodic, format!("liftc {file}"));
        let in_files = emit::natural_samples(scheme.domain());
        let request = Request {
            scheme,
            boundary,
            samples: in_files,
            gain: false,
            profile: None,
            prefix: None,
            command: &command,
        };
        emitted.push(write((folder, record), &emitted_name, &request, (samples, full))?);
    }
    if emitted.is_empty() { Err(format!("no wavelet's name contains `{only}`")) } else { Ok(emitted) }
}

/// Writes the files of one wavelet under one border rule, and one of kernels in plans for these sample types; CUDA only
/// if it differs from the record.
fn write(
    (folder, record): (&Path, &Record),
    name: &str,
    request: &Request,
    (in_plans, full): (&[Scalar], bool),
) -> Result<Emitted, String> {
    let write = |extension: &str, text: &str| {
        let path = folder.join(format!("{name}.{extension}"));
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok::<_, String>(path)
    };
    let mut recorded = Vec::new();
    // True if the text must be compiled.
    let mut is_due = |digest: &str| match record.recall(name, digest) {
        Some(known) => {
            recorded.extend_from_slice(known);
            false
        }
        None => true,
    };
    let cuda = match emit::cuda(request) {
        Ok(emitted) => Some(emitted.text),
        Err(emit::EmitError::Schedule(e)) => {
            println!("{name}: no CUDA: {e}");
            None
        }
        Err(e) => return Err(format!("{name}: {e}")),
    };
    let declared = [&emit::C, &emit::CUDA];
    let header = emit::header(request, if cuda.is_some() { &declared } else { &declared[..1] });
    let cuda_text = cuda.as_ref().map(|text| record.digest(&[text, &header])).unwrap_or_default();
    let cuda = cuda.filter(|_| is_due(&cuda_text)).map(|text| write("cu", &text)).transpose()?;

    let kernels = fused(&Request { samples: in_plans, ..*request }, full);
    let infos = kernels.iter().map(validate).collect::<Result<Vec<_>, _>>().map_err(|e| format!("{name}: {e:?}"))?;
    let (mut fused_texts, mut due) = (BTreeMap::new(), Vec::new());
    for pair in kernels.iter().zip(&infos) {
        let digest = record.digest(&[&Cuda.write(&[pair]).map_err(|e| format!("{name}: {e}"))?]);
        if is_due(&digest) {
            due.push(pair);
        }
        fused_texts.insert(pair.0.name.clone(), digest);
    }
    let fused = match &due[..] {
        [] => None,
        due => Some(write("fused.cu", &Cuda.write(due).map_err(|e| format!("{name}: {e}"))?)?),
    };
    // The file includes itself, by its usual name.
    let include = |name: &str| format!("_FILE \"{name}.c\"");
    let c = emit::c(request).map_err(|e| format!("{name}: {e}"))?;
    let c = write("c", &c.replace(&include(request.file_name()), &include(name)))?;
    let rust = write("rs", &emit::rust(request).map_err(|e| format!("{name}: {e}"))?)?;
    let header = write("h", &header)?;
    let name = name.to_owned();
    Ok(Emitted { name, cuda, fused, planned: Vec::new(), cuda_text, fused_texts, recorded, c, rust, header })
}
