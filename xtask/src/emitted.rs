//! What is validated: which wavelets with which border rules and sample types stand for all.

use crate::record::Record;
use crate::registers::Usage;
use lifting_codegen::back::{Cuda, Dialect};
use lifting_codegen::emit::{self, Declared, Request};
use lifting_codegen::ir::{Kernel, Scalar, valid::validate};
use lifting_codegen::opt;
use lifting_codegen::schedule::level::Order;
use lifting_codegen::schedule::{
    Direction, Options, ScheduleError, Sides, adjoint, cascade, horizontal, lattice, pyramid, registers, stream, tile,
    vertical, volume, warp,
};
use lifting_dsl::{Boundary, Domain, Scheme};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One wavelet under one border rule, as `liftc` would write it.
pub struct Emitted {
    /// `<wavelet>-<border rule>`.
    pub name: String,
    /// The CUDA file; `None` if it is as recorded, or the wavelet is too long for the schedules, which is told on the
    /// way.
    pub cuda: Option<PathBuf>,
    /// Kernels of both axes at once, which plans have and files have not; `None` if they are as recorded, others stand
    /// for them or none holds the wavelet.
    pub fused: Option<PathBuf>,
    /// Digest of the CUDA file and its header.
    pub cuda_text: String,
    /// Digests of the fused kernels, by name.
    pub fused_texts: BTreeMap<String, String>,
    /// What the kernels use that are as recorded.
    pub recorded: Vec<Usage>,
    /// The C file.
    pub c: PathBuf,
    /// The Rust file.
    pub rust: PathBuf,
    /// The header of C and CUDA.
    pub header: PathBuf,
}

/// The wavelets that stand for the others.
const THREE: [&str; 3] = ["dd137", "legall53", "cdf97"];

/// Border rules and sample types of one wavelet: everything for the three that stand for the others, else the
/// wavelet's own border rule and one type after another.
fn variants(index: usize, scheme: &Scheme, full: bool) -> Vec<(Boundary, Vec<Scalar>)> {
    let samples = match scheme.domain() {
        Domain::Integer => vec![Scalar::I16, Scalar::I32, Scalar::I64],
        Domain::Real => vec![Scalar::F32, Scalar::F64],
    };
    if full || THREE.contains(&scheme.name()) {
        return Boundary::ALL.into_iter().map(|b| (b, samples.clone())).collect();
    }
    vec![(Boundary::ALL[index % 4], vec![samples[index / 4 % samples.len()]])]
}

/// Integer wavelets with the most taps, of which only blocks of `warp` are validated, in 16 bits: they need the most
/// registers.
const WIDE: [&str; 2] = ["fidelity", "cdsy62"];

/// Kernels of both axes take long to compile: without `full`, those of three wavelets, with a border rule that needs
/// nothing while steps run, in all types, and one that does, in the first.
fn stand_for_all<'a>(scheme: &Scheme, boundary: Boundary, samples: &'a [Scalar]) -> &'a [Scalar] {
    match boundary {
        _ if WIDE.contains(&scheme.name()) => &[Scalar::I16],
        _ if !THREE.contains(&scheme.name()) => &[],
        Boundary::WholeSymmetric => samples,
        Boundary::Edge => &samples[..1],
        Boundary::Periodic | Boundary::Zero => &[],
    }
}

/// One for each shape, which its name tells, for whole rows; for other rows one of the first shape, and the taller one
/// that it has there.
fn warp_kernels(scheme: &Scheme, options: Options) -> Vec<Result<Kernel, ScheduleError>> {
    let make = |shape: warp::Shape| {
        let mut kernel = warp::kernel(scheme, options, Order::HorizontalFirst, shape)?;
        let pairs = if shape.packed { "p" } else { "" };
        kernel.name = format!("{}_{}x{}{pairs}", kernel.name, shape.columns, shape.rows);
        Ok(kernel)
    };
    match warp::Shape::proposed(scheme, options) {
        Ok(shapes) => {
            let of_rows = |takes: warp::RowAlignment| {
                let all = shapes.iter().map(move |&shape| warp::Shape { takes, ..shape });
                all.into_iter().find(|&shape| warp::fit(scheme, options, shape).is_ok())
            };
            let others = [warp::RowAlignment::Aligned, warp::RowAlignment::Image, warp::RowAlignment::Any]
                .into_iter()
                .filter_map(of_rows);
            let anywhere = [warp::RowAlignment::Image, warp::RowAlignment::Any].into_iter().filter_map(of_rows);
            let tall = anywhere.filter_map(|shape| shape.for_rows_anywhere(scheme, options, shape.takes, i64::MAX));
            let others = others.chain(tall);
            // Where samples can stand in pairs they do.
            let packed = shapes[0].packed;
            let whole = shapes.iter().filter(|shape| shape.packed == packed);
            let whole = whole.map(|&shape| warp::Shape { takes: warp::RowAlignment::Whole, ..shape });
            whole.chain(others).map(make).collect()
        }
        Err(e) => vec![Err(e)],
    }
}

/// Two levels in one launch, where border rules are extensions, in the first shape, which its name tells: others have
/// another ring, and are the same otherwise. And those with wider lanes, which are measured where plans are tuned.
fn cascade_kernels(scheme: &Scheme, options: Options) -> Vec<Result<Kernel, ScheduleError>> {
    let first = cascade::Shape::for_sample(options.sample, options.direction);
    let wide = cascade::Shape { columns: 2 * first.columns, ..first };
    let wide = (options.sample == Scalar::I16 && THREE.contains(&scheme.name())).then_some(wide);
    let make = |shape: cascade::Shape| {
        let mut kernel = cascade::kernel(scheme, options, Order::HorizontalFirst, shape)?;
        kernel.name = format!("{}_{}x{}", kernel.name, shape.columns, shape.ring);
        Ok(kernel)
    };
    if options.boundary == Boundary::WholeSymmetric {
        [first].into_iter().chain(wide).map(make).collect()
    } else {
        Vec::new()
    }
}

/// For the largest images, few of them and many, which the name tells.
fn pyramid_kernels(scheme: &Scheme, options: Options) -> Vec<Result<Kernel, ScheduleError>> {
    let make = |shape: pyramid::Shape| {
        let mut kernel = pyramid::kernel(scheme, options, Order::HorizontalFirst, shape)?;
        kernel.name = format!("{}_{}x{}", kernel.name, shape.pairs[0], shape.pairs[1]);
        Ok(kernel)
    };
    match pyramid::Shape::proposed(scheme, options) {
        Ok(shapes) => {
            let largest = shapes.iter().map(|shape| shape.side).max();
            shapes.into_iter().filter(|shape| Some(shape.side) == largest).map(make).collect()
        }
        Err(e) => vec![Err(e)],
    }
}

/// Those of a few that are launched where the next level reads what they leave.
fn kept_kernels(made: &[Result<Kernel, ScheduleError>], options: Options) -> Vec<Result<Kernel, ScheduleError>> {
    let stands_for_all =
        options.boundary == Boundary::WholeSymmetric && matches!(options.sample, Scalar::I16 | Scalar::F32);
    let kept = |kernel: &Kernel| Kernel { name: format!("{}_kept", kernel.name), ..opt::kept(kernel.clone()) };
    let kinds = ["_warp_whole_", "_cascade_forward_"];
    let of_kind = |kind: &str| made.iter().flatten().find(|kernel| kernel.name.contains(kind));
    kinds.into_iter().filter(|_| stands_for_all).filter_map(of_kind).map(|kernel| Ok(kept(kernel))).collect()
}

/// One for each kind of rows.
fn stream_kernels(scheme: &Scheme, options: Options) -> [Result<Kernel, ScheduleError>; 3] {
    let shape = stream::Shape::for_sample(options.sample);
    let rows = [stream::RowAlignment::Whole, stream::RowAlignment::Aligned, stream::RowAlignment::Any];
    rows.map(|rows| stream::kernel(scheme, options, Order::HorizontalFirst, shape.for_rows(rows)))
}

/// One for each shape, which its name tells, for aligned rows and for any.
fn tile_kernels(scheme: &Scheme, options: Options) -> Vec<Result<Kernel, ScheduleError>> {
    let make = |shape: tile::Shape| {
        let mut kernel = tile::kernel(scheme, options, Order::HorizontalFirst, shape)?;
        kernel.name = format!("{}_{}x{}x{}", kernel.name, shape.columns, shape.rows, shape.pairs);
        Ok(kernel)
    };
    match tile::Shape::proposed(scheme, options) {
        Ok(shapes) => shapes
            .into_iter()
            .flat_map(|shape| [true, false].map(|aligned| make(tile::Shape { aligned, ..shape })))
            .collect(),
        Err(e) => vec![Err(e)],
    }
}

/// One for each shape, which its name tells, for aligned rows, with whole sectors and without, and for any.
fn volume_kernels(scheme: &Scheme, options: Options) -> Vec<Result<Kernel, ScheduleError>> {
    let make = |shape: volume::Shape| {
        let mut kernel = volume::kernel(scheme, options, shape)?;
        kernel.name = format!("{}_{}x{}x{}", kernel.name, shape.columns, shape.pairs, shape.warps);
        Ok(kernel)
    };
    match volume::Shape::proposed(scheme, options) {
        Ok(shapes) => shapes
            .into_iter()
            .flat_map(|shape| {
                let rows = [(true, true), (true, false), (false, false)];
                rows.map(|(aligned, whole_sectors)| volume::Shape { aligned, whole_sectors, ..shape })
            })
            .filter(|shape| !shape.whole_sectors || options.direction == Direction::Forward)
            .map(make)
            .collect(),
        Err(e) => vec![Err(e)],
    }
}

/// Along rows, aligned, long and short, and not; along columns, as many a lane as can be, and as few.
fn register_kernels(scheme: &Scheme, options: Options) -> Vec<Result<Kernel, ScheduleError>> {
    let sides = Sides::both(options.sample);
    let along_rows = [(true, 8192), (true, 64), (false, 64)].map(|(aligned, length)| {
        let shape = registers::horizontal::Shape::of(sides, aligned, length);
        registers::horizontal::kernel(scheme, options, sides, shape)
    });
    let columns: Vec<u32> = registers::vertical::Shape::candidates(options.direction, sides).collect();
    let along_columns = columns.first().into_iter().chain(columns.last()).map(|&columns| {
        registers::vertical::kernel(scheme, options, sides, registers::vertical::Shape::of(columns, 132))
    });
    along_rows.into_iter().chain(along_columns).collect()
}

/// Of whole rows and columns; and the passes that files have as well, where they have none of this type.
fn lattice_kernels(scheme: &Scheme, options: Options) -> Vec<Result<Kernel, ScheduleError>> {
    let mut made = match lattice::pair(scheme, options, VECTORS) {
        Ok(pair) => pair.map(Ok).into(),
        Err(e) => vec![Err(e)],
    };
    if !emit::natural_samples(scheme.domain()).contains(&options.sample) {
        made.push(horizontal::kernel(scheme, options, horizontal::Shape::default()));
        made.push(vertical::kernel(scheme, options));
    }
    made
}

/// Those of all schedules but `warp`.
fn other_kernels(scheme: &Scheme, options: Options, full: bool) -> Vec<Result<Kernel, ScheduleError>> {
    let mut made = tile_kernels(scheme, options);
    made.extend(volume_kernels(scheme, options));
    made.extend(pyramid_kernels(scheme, options));
    if full || options.sample.bytes() <= 4 {
        // Those of 64 bits take longest to compile of all, and are of the same text.
        made.extend(cascade_kernels(scheme, options));
    }
    if scheme.domain() == Domain::Real {
        made.push(adjoint::kernel(scheme, options));
    }
    let stages = scheme.stages(options.boundary).is_some();
    // The others take long to compile, and differ little from one border rule to the next.
    if stages || options.boundary == Boundary::WholeSymmetric {
        made.extend(stream_kernels(scheme, options));
        made.extend(register_kernels(scheme, options));
    }
    if stages {
        made.extend(lattice_kernels(scheme, options));
    }
    made
}

/// A kernel with a gain, told from the one without.
fn gained(kernel: Result<Kernel, ScheduleError>) -> Result<Kernel, ScheduleError> {
    kernel.map(|kernel| Kernel { name: format!("{}_gain", kernel.name), ..kernel })
}

/// The border rule of the kernels in plans: of wavelets of which one variant is emitted, their own.
fn border_rule(request: &Request) -> Boundary {
    if WIDE.contains(&request.scheme.name()) { request.scheme.boundary() } else { request.boundary }
}

/// The kernels that plans have and files have not.
fn fused(request: &Request, full: bool) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for &sample in request.samples {
        for direction in [Direction::Forward, Direction::Inverse] {
            let boundary = if full { request.boundary } else { border_rule(request) };
            let options = Options { sample, boundary, direction, gain: false };
            let mut made = warp_kernels(request.scheme, options);
            if request.gain {
                // Few plans have gains.
                made.extend(warp_kernels(request.scheme, Options { gain: true, ..options }).into_iter().map(gained));
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

/// The files of long filters, all of one kind of steps: [`REPRESENTATIVE`] stands for them unless a run is full or
/// names a wavelet.
const GENERATED: [&str; 4] = ["biorthogonal.lift", "daubechies.lift", "symlets.lift", "coiflets.lift"];
const REPRESENTATIVE: [&str; 4] = ["rbio3_3", "db4", "sym8", "coif5"];

/// Lengths of rows and columns of the kernels that hold them whole.
const VECTORS: [usize; 2] = [8192, 4096];

/// Lattices that stand for the others, with the sample types of their kernels in plans.
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
            let request = Request { scheme, boundary, samples: &samples, gain, command: &command };
            let in_plans = if full { &samples[..] } else { stand_for_all(scheme, boundary, &samples) };
            let name = format!("{}-{boundary}", entry.name);
            emitted.push(write((folder, record), &name, &request, (in_plans, full))?);
        }
    }
    let (file, source) = ("orthogonal.lift", include_str!("../../lifting-dsl/tests/orthogonal.lift"));
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
        let request = Request { scheme, boundary, samples: in_files, gain: false, command: &command };
        emitted.push(write((folder, record), &emitted_name, &request, (samples, full))?);
    }
    if emitted.is_empty() { Err(format!("no wavelet's name contains `{only}`")) } else { Ok(emitted) }
}

/// Writes the files of one wavelet under one border rule, and one of kernels in plans for samples of these types; CUDA
/// only where it is not as recorded.
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
    // True for what has to be compiled.
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
    let header = emit::header(request, Declared { c: true, cuda: cuda.is_some() });
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
    let c = write("c", &emit::c(request).map_err(|e| format!("{name}: {e}"))?)?;
    let rust = write("rs", &emit::rust(request).map_err(|e| format!("{name}: {e}"))?)?;
    let header = write("h", &header)?;
    let name = name.to_owned();
    Ok(Emitted { name, cuda, fused, cuda_text, fused_texts, recorded, c, rust, header })
}
