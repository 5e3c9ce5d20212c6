//! The kernels of a file, each once, with descriptions.

use super::FileError;
use crate::kernels::Made;
use crate::list::{Launch, List};
use lifting_codegen::back::{Cuda, Dialect, comment_line};
use lifting_codegen::emit::{Request, kernel_name};
use lifting_codegen::ir::Kernel;
use lifting_codegen::ir::valid::KernelInfo;
use std::collections::BTreeSet;

/// A kernel of a file.
struct Entry {
    kernel: Kernel,
    info: KernelInfo,
    schedule: &'static str,
    /// Purposes of its launches.
    uses: BTreeSet<String>,
}

/// The kernels of a file, in the order of their first use.
#[derive(Default)]
pub(super) struct Collected(Vec<Entry>);

impl Collected {
    /// Adds the kernel of a launch for this `purpose`; returns its index.
    pub fn add(&mut self, made: &Made, launch: &Launch, list: &List, purpose: &str) -> usize {
        let pass = launch.pass.and_then(|pass| list.passes.get(pass));
        let schedule = pass.map_or("copy", |pass| pass.schedule);
        let level = pass.map_or(String::new(), |pass| format!(", level {}", pass.level));
        self.add_kernel(made, schedule, format!("{purpose}{level}."))
    }

    /// Adds a kernel of a schedule for this `purpose`; returns its index.
    pub fn add_kernel(&mut self, made: &Made, schedule: &'static str, purpose: String) -> usize {
        let index = self.0.iter().position(|entry| entry.kernel == made.kernel).unwrap_or_else(|| {
            let (kernel, info) = (made.kernel.clone(), made.info.clone());
            self.0.push(Entry { kernel, info, schedule, uses: BTreeSet::new() });
            self.0.len() - 1
        });
        self.0[index].uses.insert(purpose);
        index
    }

    /// A kernel and its facts.
    pub fn get(&self, index: usize) -> (&Kernel, &KernelInfo) {
        (&self.0[index].kernel, &self.0[index].info)
    }

    /// All kernels under their names in the file.
    pub fn named(self, request: &Request, names: Vec<String>) -> Vec<(String, Kernel, KernelInfo)> {
        let of = |(name, entry): (String, Entry)| (kernel_name(request, &name), entry.kernel, entry.info);
        names.into_iter().zip(self.0).map(of).collect()
    }

    /// The text of all kernels, and their names.
    pub fn write(&self) -> Result<(String, Vec<String>), FileError> {
        let kernels: Vec<_> = self.0.iter().map(|entry| (&entry.kernel, &entry.info)).collect();
        let (text, names) = Cuda.write_with(&kernels, &mut Cuda.namer())?;
        // Helpers come first; each kernel begins with this head.
        const HEAD: &str = "extern \"C\" __global__";
        let mut parts = text.split(HEAD);
        let mut out = parts.next().unwrap_or_default().to_owned();
        for (part, entry) in parts.zip(&self.0) {
            // The purposes follow the kernel's own comment.
            let uses = entry.uses.iter().map(|line| format!("// Launched for: {}\n", comment_line(line)));
            out.extend(uses.chain([HEAD.to_owned(), part.to_owned()]));
        }
        Ok((out, names))
    }

    /// Schedule and block of each kernel, for the opening comment.
    pub fn summary(&self, names: &[String]) -> Vec<String> {
        let of = |(entry, name): (&Entry, &String)| {
            let [x, y, z] = entry.kernel.launch.block;
            format!(
                "    {name}: {}; {x} x {y} x {z} threads, {} bytes of shared memory",
                entry.schedule, entry.info.shared_bytes
            )
        };
        std::iter::once("Kernels:".to_owned()).chain(self.0.iter().zip(names).map(of)).collect()
    }

    /// Threads per block, by axis.
    pub fn block(&self, index: usize) -> [u32; 3] {
        self.0[index].kernel.launch.block
    }

    /// The most parameters of a kernel; at least 1.
    pub fn most_parameters(&self) -> usize {
        self.0.iter().map(|entry| entry.kernel.params.len()).fold(1, usize::max)
    }
}
