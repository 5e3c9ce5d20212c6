//! Passes over kernels. Each has a file that says what it rewrites to what, and stands in [`PASSES`] under the name by
//! which `liftc --emit ir --after NAME` shows what it leaves.
//!
//! Passes run in the order of the table. Some run on every kernel before it is written ([`prepare`]); others where a
//! plan asks for them.

mod dead;
mod kept;
mod overlap;
mod reflect;

pub use dead::dead;
pub use kept::kept;
pub use overlap::{Allows, Overlap, overlap};
pub use reflect::reflect;

use crate::ir::Kernel;

/// A pass, as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Whether it runs on every kernel; else where a plan asks for it.
    pub always: bool,
    run: fn(Kernel) -> Kernel,
}

impl Pass {
    /// What it leaves of a kernel.
    pub fn run(&self, kernel: Kernel) -> Kernel {
        (self.run)(kernel)
    }
}

/// All passes, in the order in which they run.
pub const PASSES: [Pass; 4] = [
    Pass { name: "kept", about: "results stay in the cache for the launch that follows", always: false, run: kept },
    Pass { name: "dead", about: "what only sets what nothing reads goes", always: true, run: dead },
    Pass {
        name: "reflect",
        about: "reflections that nearly always end after one step try that first",
        always: true,
        run: reflect,
    },
    Pass {
        name: "overlap",
        about: "waits for launches before, lets the next one begin",
        always: false,
        run: |kernel| overlap(kernel, &Overlap { settled: Vec::new(), allows: Allows::BeforeStoring }),
    },
];

/// What the passes leave that run on every kernel.
pub fn prepare(kernel: Kernel) -> Kernel {
    PASSES.iter().filter(|pass| pass.always).fold(kernel, |kernel, pass| pass.run(kernel))
}

/// What the pass of this name leaves, after those before it that run on every kernel; `None` if there is no such pass.
pub fn after(mut kernel: Kernel, name: &str) -> Option<Kernel> {
    let last = PASSES.iter().position(|pass| pass.name == name)?;
    for pass in PASSES[..=last].iter().filter(|pass| pass.always || pass.name == name) {
        kernel = pass.run(kernel);
    }
    Some(kernel)
}
