//! CUDA files with launches as plans make them: the default of `liftc`, and `--shape`. A few wavelets are
//! representative. The table holds the maximum usage of each file's kernels.

use crate::nvcc;
use crate::record::Record;
use crate::registers::Usage;
use crate::toolchain::Toolchain;
use lifting_codegen::emit::{self, Request};
use lifting_dsl::Scheme;
use lifting_dsl::geometry::Geometry;
use lifting_planner::emit::{Count, Fixed, General, declarations, fixed, general};
use lifting_planner::{Machine, Problem, Schedule, Tuning, contiguous, sample_of};
use std::path::{Path, PathBuf};

/// Shapes with specialised functions, and their levels: one launch, two levels in one, and many short ones.
const SHAPES: [([usize; 2], u32); 3] = [([8192, 8192], 1), ([4096, 4096], 5), ([1080, 1920], 3)];

/// A file to compile.
pub struct Planned {
    name: String,
    file: PathBuf,
    header: PathBuf,
    /// Digest of the file and its header.
    text: String,
}

/// Writes the files of a wavelet, in its first sample type, unless they are as recorded. Returns these, and the usage
/// of the others.
pub fn write((folder, record): (&Path, &Record), scheme: &Scheme) -> Result<(Vec<Planned>, Vec<Usage>), String> {
    let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", scheme.name());
    let (natural, boundary) = (emit::natural_samples(scheme.domain()), scheme.boundary());
    let request = Request {
        scheme,
        boundary,
        samples: &natural[..1],
        gain: false,
        profile: None,
        prefix: None,
        command: "liftc",
    };
    let tuning = Tuning::new(Schedule::Auto, Machine::default(), String::new());
    let sample = sample_of(natural[0]).expect("files are for sample types");
    let transform = |(shape, levels): ([usize; 2], u32)| {
        let geometry = Geometry::uniform(&shape, levels).expect("shapes are legal");
        let mut problem = Problem::new(scheme.clone(), geometry);
        problem.boundary = boundary;
        let strides = contiguous(&shape);
        let name = format!("{}x{}_l{levels}", shape[0], shape[1]);
        Fixed { name, sample, problem, data: strides.clone(), coefficients: strides }
    };
    let shapes = SHAPES.map(transform);
    let how = General { count: Count::Usual, columns_first: false, tuning: &tuning };
    let any = general(&request, &how).map_err(|e| failed(&e))?.text;
    let few = general(&request, &General { count: Count::Few, ..how }).map_err(|e| failed(&e))?.text;
    let own = fixed(&request, &shapes, &tuning).map_err(|e| failed(&e))?.text;
    let prototypes = declarations(&request, &shapes, &tuning).map_err(|e| failed(&e))?;
    let header = emit::header(&request, &[&emit::CUDA]);
    let files = [
        ("any", any, header.clone()),
        ("few", few, header),
        ("shapes", own, emit::header_with(&request, &[], &prototypes)),
    ];
    let (mut planned, mut recorded) = (Vec::new(), Vec::new());
    for (kind, text, header) in files {
        let name = format!("{}-planned-{kind}", scheme.name());
        let digest = record.digest(&[&text, &header]);
        if let Some(known) = record.recall(&name, &digest) {
            recorded.extend_from_slice(known);
            continue;
        }
        let [file, header] = [("cu", text), ("h", header)].map(|(extension, text)| {
            let path = folder.join(format!("{name}.{extension}"));
            std::fs::write(&path, text).map(|()| path.clone()).map_err(|e| format!("{}: {e}", path.display()))
        });
        planned.push(Planned { name, file: file?, header: header?, text: digest });
    }
    Ok((planned, recorded))
}

impl Planned {
    /// Compiles it; returns the maximum usage of its kernels, per architecture.
    pub fn compile(&self, toolchain: &Toolchain) -> Result<Vec<Usage>, String> {
        let all = nvcc::compile_for(toolchain, &self.name, &self.file, Some(&self.header), &nvcc::ARCHITECTURES)?;
        Ok(most(&self.name, &all).into_iter().map(|usage| Usage { text: self.text.clone(), ..usage }).collect())
    }
}

/// The maximum of each resource over the kernels, per architecture, and the sum of spills.
fn most(name: &str, all: &[Usage]) -> Vec<Usage> {
    let of = |architecture: &str| {
        let own = || all.iter().filter(|usage| usage.architecture == architecture);
        let max = |field: fn(&Usage) -> u32| own().map(field).max().unwrap_or(0);
        Usage {
            registers: max(|usage| usage.registers),
            stack: max(|usage| usage.stack),
            spills: own().map(|usage| usage.spills).sum(),
            shared: max(|usage| usage.shared),
            ..Usage::new(name, &format!("most_of_{}", own().count()), architecture)
        }
    };
    let mut architectures: Vec<&str> = all.iter().map(|usage| &usage.architecture[..]).collect();
    architectures.sort_unstable();
    architectures.dedup();
    architectures.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_of_each_architecture() {
        let of = |kernel: &str, architecture: &str, registers, spills| Usage {
            registers,
            spills,
            ..Usage::new("f", kernel, architecture)
        };
        let all = [of("a", "sm_90", 40, 0), of("b", "sm_75", 90, 4), of("b", "sm_90", 38, 0), of("a", "sm_75", 41, 8)];
        let expected = [of("most_of_2", "sm_75", 90, 12), of("most_of_2", "sm_90", 40, 0)];
        assert_eq!(most("f", &all), expected);
    }
}
