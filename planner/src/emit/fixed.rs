//! Functions for one shape each: the launches of a plan as a table.

use super::kernels::{Collected, Written};
use super::{File, FileError};
use crate::kernels::{Made, Tuning};
use crate::list::{Arg, Array, Launch, List, Placed, Region, VECTOR};
use crate::overlap::Extent;
use crate::problem::{Problem, contiguous};
use crate::program::Program;
use crate::recipe::Choice;
use crate::scalar::scalar_of;
use lifting_codegen::emit::{self, EmitError, FAST_MATH, Request, Template, codes, sample_type};
use lifting_dsl::Direction;
use lifting_dsl::sample::SampleType;
use std::collections::BTreeSet;

/// A transform with functions for its shape alone.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// The part of its functions' names that tells it apart: `1080x1920_l3`.
    pub name: String,
    /// The type of its samples.
    pub sample: SampleType,
    /// The transform.
    pub problem: Problem,
    /// Strides of the data.
    pub data: Vec<isize>,
    /// Strides of the coefficients.
    pub coefficients: Vec<isize>,
}

/// Launch tables of one transform.
struct Table {
    sample: SampleType,
    /// Bytes of scratch, and the offsets of its parts.
    scratch: usize,
    starts: [usize; Region::COUNT],
    /// Alignment of the arrays, in bytes.
    alignment: u64,
    /// Kernel index in the file, and launch, for analysis and for synthesis.
    lists: [Vec<(usize, Launch)>; 2],
    /// The program of these lists.
    program: Program,
}

const DOC: &str = "\
/* @WAY@ of @WHAT@. `signal` and `bands` are @STRIDES@; they must not overlap.
   `scratch` holds @W@_cuda_scratch_bytes_@NAME@ bytes. All three are device memory, aligned to
   @ALIGNMENT@ bytes; otherwise @U@_MISALIGNED is returned. @LAUNCHES@ queued on `stream`, a cudaStream_t (NULL:
   the default stream), and the call does not wait. Nothing is allocated, so the stream may be captured into a graph.
   Returns @U@_OK or an error code. */";

const SCRATCH_DOC: &str = "/* Scratch memory of the functions for @NAME@, in bytes. */";

/// The prototypes of the functions of [`fixed()`], with their comments.
///
/// # Errors
/// Those of [`fixed()`].
pub fn declarations(request: &Request, transforms: &[Fixed], tuning: &Tuning) -> Result<String, FileError> {
    let mut out = Vec::new();
    for fixed in transforms {
        let table = Table::new(fixed, tuning, &mut Collected::default())?;
        let t = template(request, fixed, &table);
        let way = |way: &str| {
            let t = documented(&t, way, &table);
            t.fill(&format!("{DOC}\nint @W@_cuda_{way}_@NAME@(@ARGUMENTS@);\n"))
        };
        let scratch = t.fill(&format!("{SCRATCH_DOC}\nsize_t @W@_cuda_scratch_bytes_@NAME@(void);\n"));
        out.push([scratch, way("forward"), way("inverse")].join("\n"));
    }
    Ok(out.join("\n"))
}

/// A CUDA file with functions for exactly these transforms: kernels, tables of launches, host functions.
///
/// # Errors
/// If a transform has no program, or a kernel cannot be written.
pub fn fixed(request: &Request, transforms: &[Fixed], tuning: &Tuning) -> Result<File, FileError> {
    if transforms.is_empty() {
        return Err(EmitError::NoSamples.into());
    }
    let mut kernels = Collected::default();
    let tables: Vec<Table> =
        transforms.iter().map(|fixed| Table::new(fixed, tuning, &mut kernels)).collect::<Result<_, _>>()?;
    let written = kernels.write()?;
    let Written { text, calls, names, summary, .. } = &written;
    let multiprocessors = tuning.machine.multiprocessors;
    let mut notes = vec![format!("Launches as planned for a device of {multiprocessors} multiprocessors. Times are")];
    notes.push("predictions; their unit is a copy, the time to read and write a level once.".into());
    notes.extend(request.fast_math(FAST_MATH));
    for (fixed, table) in transforms.iter().zip(&tables) {
        notes.push(format!("{}_{}: {}:", fixed.name, fixed.sample.name(), what(fixed)));
        notes.extend(table.program.choices().iter().map(expected));
    }
    notes.extend(summary.iter().cloned());
    let t = request.template();
    let mut out = request.opening(&notes);
    out += &format!("\n{}\n{text}\n{}", emit::namespace(), emit::namespace_end());
    out += &format!("\n{}#ifndef __CUDACC_RTC__\n\n", super::section(super::HOST));
    out += super::INCLUDES;
    out += &codes(&t);
    out += &format!("\n{}\n", emit::namespace());
    let widest = tables.iter().flat_map(|table| &table.lists).map(|list| widest(list)).max().unwrap_or(1);
    let t = t.with("MOST", kernels.most_parameters().to_string()).with("WIDEST", widest.max(ROOM).to_string());
    out += &t.fill(&[include_str!("launch.cu.in"), include_str!("table.cu.in")].join("\n"));
    for (fixed, table) in transforms.iter().zip(&tables) {
        let t = template(request, fixed, table);
        for (way, list) in ["forward", "inverse"].into_iter().zip(&table.lists) {
            out.push('\n');
            out += &launches(&t, way, table, list, &kernels, calls);
        }
    }
    out += &format!("\n{}", emit::namespace_end());
    for (fixed, table) in transforms.iter().zip(&tables) {
        let t = template(request, fixed, table);
        out.push('\n');
        out += &t.fill(&format!(
            "{SCRATCH_DOC}\nextern \"C\" size_t @W@_cuda_scratch_bytes_@NAME@(void)\n{{\n    return {};\n}}\n",
            table.scratch
        ));
        for (way, list) in ["forward", "inverse"].into_iter().zip(&table.lists) {
            out.push('\n');
            out += &function(&documented(&t, way, table), way, table, list.len());
        }
    }
    out += "\n#endif\n";
    let text = super::with_contents(&emit::in_namespace(request, names, &out));
    Ok(File { text, replaced: Vec::new(), kernels: written.named(request) })
}

/// Room for the dependencies that a caller's graph may have before a transform, so that launches can run concurrently.
const ROOM: usize = 8;

/// The most launches of a list that run concurrently.
fn widest(list: &[(usize, Launch)]) -> usize {
    list.chunk_by(|_, (_, next)| next.beside_previous).map(<[_]>::len).max().unwrap_or(0)
}

/// The transform in words.
pub(super) fn what(fixed: &Fixed) -> String {
    let Problem { geometry, source_shape, gain_shift, .. } = &fixed.problem;
    let sides: Vec<String> = source_shape.iter().map(usize::to_string).collect();
    let levels = geometry.levels();
    let depth = geometry.depth();
    let plural = if depth == 1 { "" } else { "s" };
    let along = if levels.iter().all(|&n| n == depth) {
        String::new()
    } else {
        let axes: Vec<String> = (0..levels.len()).filter(|&a| levels[a] > 0).map(|a| a.to_string()).collect();
        format!(" along axes {}", axes.join(", "))
    };
    let gain = if *gain_shift > 0 { format!(", gain {gain_shift}") } else { String::new() };
    format!("{} samples, {depth} level{plural}{along}{gain}", sides.join(" x "))
}

/// The planner's prediction for a level.
fn expected(choice: &Choice) -> String {
    let way = match choice.direction {
        Direction::Forward => "analysis",
        Direction::Inverse => "synthesis",
    };
    match choice.taken.launches {
        0 => format!("    {way}, level {}: in the launch of the previous level", choice.level),
        _ => format!("    {way}, level {}: {}", choice.level, choice.taken),
    }
}

fn template(request: &Request, fixed: &Fixed, table: &Table) -> Template {
    let dense = contiguous(fixed.problem.geometry.shape());
    let strides = if fixed.data == dense && fixed.coefficients == dense {
        "dense arrays of that shape".to_owned()
    } else {
        let text = |strides: &[isize]| strides.iter().map(isize::to_string).collect::<Vec<_>>().join(", ");
        format!("arrays with strides {} and {}", text(&fixed.data), text(&fixed.coefficients))
    };
    request
        .template()
        .with("NAME", format!("{}_{}", fixed.name, fixed.sample.name()))
        .with("T", sample_type(scalar_of(fixed.sample)))
        .with("WHAT", what(fixed))
        .with("STRIDES", strides)
        .with("ALIGNMENT", table.alignment.to_string())
}

/// The template with the placeholders of one direction.
fn documented(t: &Template, way: &str, table: &Table) -> Template {
    let forward = way == "forward";
    let count = table.lists[usize::from(!forward)].len();
    let launches = if count == 1 { "One launch is".to_owned() } else { format!("{count} launches are") };
    let t = t.clone().with("WAY", if forward { "Analysis" } else { "Synthesis" }).with("LAUNCHES", launches);
    let arguments = t.fill(if forward {
        "const @T@ *signal, @T@ *bands, void *scratch, void *stream"
    } else {
        "const @T@ *bands, @T@ *signal, void *scratch, void *stream"
    });
    t.with("ARGUMENTS", arguments)
}

/// Table of the launches of one direction.
fn launches(
    t: &Template,
    way: &str,
    table: &Table,
    list: &[(usize, Launch)],
    kernels: &Collected,
    names: &[String],
) -> String {
    let forward = way == "forward";
    let mut out = t.fill(&format!("static const launch {way}_@NAME@[] = {{\n"));
    for (kernel, launch) in list {
        let three = |n: [u32; 3]| format!("{{{}, {}, {}}}", n[0], n[1], n[2]);
        let arguments: Vec<String> = launch.args.iter().map(|arg| table.argument(*arg, forward)).collect();
        let head = format!(
            "    {{(const void *)&{}, {}, {}, {}, {}, {}, {},\n",
            names[*kernel],
            three(launch.grid),
            three(kernels.block(*kernel)),
            u8::from(launch.beside_previous),
            u8::from(launch.overlaps),
            launch.cluster,
            arguments.len(),
        );
        out += &head;
        for (i, line) in arguments.chunks(6).enumerate() {
            out += if i == 0 { "     {" } else { ",\n      " };
            out += &line.join(", ");
        }
        out += "}},\n";
    }
    out + "};\n"
}

/// A function of the file: it launches a list of `launches` launches.
fn function(t: &Template, way: &str, table: &Table, launches: usize) -> String {
    let scratch = if table.scratch > 0 { " || scratch == NULL" } else { "" };
    t.fill(&format!(
        "{DOC}\nextern \"C\" int @W@_cuda_{way}_@NAME@(@ARGUMENTS@)\n{{\n    \
             void *const arrays[@W@_cu::ARRAYS] = {{NULL, (void *)signal, (void *)bands, scratch}};\n    \
             if (signal == NULL || bands == NULL{scratch}) return @U@_NULL;\n    \
             if ((((uintptr_t)signal | (uintptr_t)bands | (uintptr_t)scratch) & {}) != 0) return @U@_MISALIGNED;\n    \
             return @W@_cu::launch_all(@W@_cu::{way}_@NAME@, {}, arrays, (cudaStream_t)stream);\n}}\n",
        table.alignment - 1,
        launches,
    ))
}

impl Table {
    fn new(fixed: &Fixed, tuning: &Tuning, kernels: &mut Collected) -> Result<Table, FileError> {
        let Fixed { sample, problem, data, coefficients, .. } = fixed;
        let shape = problem.geometry.shape().to_vec();
        let mut program = Program::new(problem, *sample, data, coefficients, tuning)?;
        let samples = shape.iter().fold(1, |n: usize, &side| n.saturating_mul(side));
        program.arrange(Extent::of(samples, None, &tuning.machine), &tuning.machine)?;
        let all = || program.forward.launches.iter().chain(&program.inverse[0].launches);
        // Regions that only other lists need are left out.
        let used: BTreeSet<usize> = all().flat_map(|launch| &launch.args).filter_map(|arg| region(*arg)).collect();
        let mut regions = program.regions.clone();
        regions.0.iter_mut().enumerate().filter(|(i, _)| !used.contains(i)).for_each(|(_, entry)| *entry = None);
        let Some((starts, scratch)) = regions.layout() else { return Err(FileError::TooLarge { shape }) };
        let settled = |launch: &Launch, alignment: u64| stays(launch, &program.kernels[launch.kernel], alignment);
        let fits = |alignment: &u64| all().all(|launch| settled(launch, *alignment));
        let alignment = [VECTOR, 32, 64, 128, MOST].into_iter().find(fits);
        let alignment = alignment.ok_or_else(|| FileError::Placed { shape: shape.clone(), most: MOST })?;
        let mut taken = |list: &List, way: &str| -> Vec<(usize, Launch)> {
            let purpose = format!("{way} of {}, {}", what(fixed), sample.name());
            let of = |launch: &Launch| {
                let made = &program.kernels[launch.kernel];
                let mut launch = launch.clone();
                if let (Some(placed), Some([aligned, skew])) = (&launch.placed, arguments(&launch, made, |_| 0)) {
                    let at = placed.at;
                    (launch.args[at], launch.args[at + 1]) = (Arg::Int(aligned), Arg::Int(skew));
                }
                (kernels.add(made, &launch, list, &purpose), launch)
            };
            list.launches.iter().map(of).collect()
        };
        let lists = [taken(&program.forward, "analysis"), taken(&program.inverse[0], "synthesis")];
        Ok(Table { sample: *sample, scratch, starts, alignment, lists, program })
    }

    /// An argument as the table spells it.
    fn argument(&self, arg: Arg, forward: bool) -> String {
        let bytes = |array: Array| match array {
            Array::Scratch(region) => self.program.regions.0[region.index()].map_or(1, |(scalar, _)| scalar.bytes()),
            Array::Source | Array::Target => self.sample.bytes(),
        };
        match arg {
            Arg::Int(value) => format!("{{NUMBER, {value}}}"),
            Arg::Pointer(array, offset) => {
                let offset = offset * bytes(array) as i64;
                match array {
                    Array::Scratch(region) => format!("{{SCRATCH, {}}}", offset + self.starts[region.index()] as i64),
                    Array::Source => format!("{{{}, {offset}}}", if forward { "SIGNAL" } else { "BANDS" }),
                    Array::Target => format!("{{{}, {offset}}}", if forward { "BANDS" } else { "SIGNAL" }),
                }
            }
        }
    }
}

/// The part of the workspace that an argument points to.
fn region(arg: Arg) -> Option<usize> {
    match arg {
        Arg::Pointer(Array::Scratch(region), _) => Some(region.index()),
        _ => None,
    }
}

/// The coarsest alignment that a file may ask for, in bytes. Parts of the workspace have it.
const MOST: u64 = 256;

/// The arguments of a launch that depend on array addresses.
fn arguments(launch: &Launch, made: &Made, address: impl Fn(Array) -> u64) -> Option<[i64; 2]> {
    let (placed, fit) = (launch.placed.as_ref()?, made.fit.as_ref()?);
    placed.arguments(&**fit, address)
}

/// Whether a launch is the same for all arrays of this alignment, in bytes.
fn stays(launch: &Launch, made: &Made, alignment: u64) -> bool {
    let Some(Placed { arrays, .. }) = &launch.placed else { return true };
    let expected = arguments(launch, made, |_| 0);
    let moved = |moved: Array, by: u64| arguments(launch, made, |array| if array == moved { by } else { 0 });
    expected.is_some()
        && (1..2 * MOST / alignment).all(|n| arrays.iter().all(|&array| moved(array, n * alignment) == expected))
}
