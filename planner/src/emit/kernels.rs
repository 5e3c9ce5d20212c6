//! The kernels of a file, each once, with descriptions.

use super::FileError;
use crate::kernels::Made;
use crate::list::{Launch, List};
use lifting_codegen::back::{Cuda, Dialect, comment_line, write_templates};
use lifting_codegen::emit::{EmitError, Request, kernel_name};
use lifting_codegen::ir::valid::{KernelInfo, validate};
use lifting_codegen::ir::{Kernel, Literal};
use lifting_codegen::opt::{self, Instance, share};
use lifting_codegen::schedule::Shape;
use std::collections::BTreeSet;

/// A kernel of a file.
struct Entry {
    kernel: Kernel,
    info: KernelInfo,
    schedule: &'static str,
    /// Numbers of its shape, by name.
    numbers: Vec<(&'static str, i64)>,
    /// Purposes of its launches.
    uses: BTreeSet<String>,
}

impl Entry {
    /// The kernel with its loops, under the name that kernels of other shapes share.
    fn instance(&self) -> Instance {
        let mut kernel = opt::reroll(&self.kernel, &self.info);
        // Kernels of plans end with digits of a digest.
        let digest = |end: &str| end.len() == 8 && end.bytes().all(|b| b.is_ascii_hexdigit());
        if let Some((name, end)) = kernel.name.rsplit_once('_')
            && digest(end)
        {
            kernel.name = name.to_owned();
        }
        Instance { kernel, numbers: self.numbers.clone() }
    }
}

/// The text of a file's kernels.
pub(super) struct Written {
    pub text: String,
    /// For each kernel, its name in an expression, with constants.
    pub calls: Vec<String>,
    /// Names of functions.
    pub names: Vec<String>,
    /// The kernels as they are written, under their names in plans.
    pub kernels: Vec<(Kernel, KernelInfo)>,
    /// Lines for the opening comment.
    pub summary: Vec<String>,
}

impl Written {
    /// All kernels under their names in the file.
    pub fn named(self, request: &Request) -> Vec<(String, Kernel, KernelInfo)> {
        let of = |(call, (kernel, info)): (String, (Kernel, KernelInfo))| (kernel_name(request, &call), kernel, info);
        self.calls.into_iter().zip(self.kernels).map(of).collect()
    }
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
        self.add_kernel(made, schedule, None, format!("{purpose}{level}."))
    }

    /// Adds a kernel of a schedule for this `purpose`; returns its index.
    pub fn add_kernel(&mut self, made: &Made, schedule: &'static str, shape: Option<Shape>, purpose: String) -> usize {
        let index = self.0.iter().position(|entry| entry.kernel == made.kernel).unwrap_or_else(|| {
            let (kernel, info) = (made.kernel.clone(), made.info.clone());
            let numbers = shape.iter().flat_map(|shape| shape.numbers()).map(|(name, n)| match name {
                // Blocks have whole pairs of rows, and most lengths are multiples of these.
                "rows" if n % 2 == 0 => ("row_pairs", i64::from(n / 2)),
                name => (name, n.into()),
            });
            self.0.push(Entry { kernel, info, schedule, numbers: numbers.collect(), uses: BTreeSet::new() });
            self.0.len() - 1
        });
        self.0[index].uses.insert(purpose);
        index
    }

    /// A kernel and its facts.
    pub fn get(&self, index: usize) -> (&Kernel, &KernelInfo) {
        (&self.0[index].kernel, &self.0[index].info)
    }

    /// The text of all kernels.
    pub fn write(&self) -> Result<Written, FileError> {
        let instances: Vec<Instance> = self.0.iter().map(Entry::instance).collect();
        let templates = share(&instances);
        let (mut text, texts) = write_templates(&templates, &mut Cuda.namer())?;
        let mut calls = vec![String::new(); self.0.len()];
        let mut kernels: Vec<_> = self.0.iter().map(|entry| (entry.kernel.clone(), entry.info.clone())).collect();
        let mut summary = vec!["Kernels:".to_owned()];
        text += &format!("{}\n", super::section(super::KERNELS));
        for (template, (own, name)) in templates.iter().zip(&texts) {
            text += own;
            text.push('\n');
            for (at, (index, constants)) in template.instances.iter().enumerate() {
                let kernel = Kernel { name: self.0[*index].kernel.name.clone(), ..template.instance(at) };
                kernels[*index] = (kernel.clone(), validate(&kernel).map_err(EmitError::Invalid)?);
                let value = |literal: &Literal| match literal {
                    Literal::Bool(value) => value.to_string(),
                    Literal::Int(value, _) => value.to_string(),
                    Literal::F32(_) | Literal::F64(_) => unreachable!("constants are positions or truths"),
                };
                let list: Vec<String> = constants.iter().map(value).collect();
                calls[*index] = if list.is_empty() { name.clone() } else { format!("{name}<{}>", list.join(", ")) };
            }
            let Entry { kernel, info, schedule, .. } = &self.0[template.instances[0].0];
            let [x, y, z] = kernel.launch.block;
            let count = match template.instances.len() {
                1 => String::new(),
                n => format!("; {n} instances"),
            };
            let shared = match info.shared_bytes {
                0 => String::new(),
                n => format!(", {n} bytes of shared memory"),
            };
            summary.push(format!("    {name}: {schedule}; {x} x {y} x {z} threads{shared}{count}"));
        }
        Ok(Written { text, calls, names: texts.into_iter().map(|(_, name)| name).collect(), kernels, summary })
    }

    /// The purposes of a kernel's launches.
    pub fn uses(&self, index: usize) -> String {
        let uses: Vec<String> = self.0[index].uses.iter().map(|line| comment_line(line)).collect();
        uses.join(" ")
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
