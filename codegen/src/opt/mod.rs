//! Passes over kernels. Each file describes one rewrite. [`PASSES`] lists them by name; `liftc --emit ir --after NAME`
//! shows the result of one.
//!
//! Passes run in the order of the table. Some run on every kernel before it is written ([`prepare`]), others only where
//! a plan asks for them. Two rewrites shorten files of many kernels: [`reroll`] makes loops of repeated statements, and
//! [`share`] makes one template of kernels that differ only in constants. `merge` compares for both.

mod dead;
mod kept;
mod merge;
mod overlap;
mod reflect;
mod reroll;
mod share;

pub use dead::dead;
pub use kept::kept;
pub(crate) use merge::{declared_in, decompose};
pub use overlap::{Allows, Overlap, overlap};
pub use reflect::reflect;
pub use reroll::reroll;
pub use share::{Instance, Template, share};

use crate::ir::Kernel;

/// A pass, with its description.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Whether it runs on every kernel, and not only where a plan asks for it.
    pub always: bool,
    run: fn(Kernel) -> Kernel,
}

impl Pass {
    /// The kernel after the pass.
    pub fn run(&self, kernel: Kernel) -> Kernel {
        (self.run)(kernel)
    }
}

/// All passes, in the order in which they run.
pub const PASSES: [Pass; 4] = [
    Pass { name: "kept", about: "keeps results in the cache for the next launch", always: false, run: kept },
    Pass { name: "dead", about: "removes statements that only set unread locals", always: true, run: dead },
    Pass {
        name: "reflect",
        about: "tries one reflection first where that is nearly always enough",
        always: true,
        run: reflect,
    },
    Pass {
        name: "overlap",
        about: "waits for earlier launches, lets the next one begin",
        always: false,
        run: |kernel| overlap(kernel, &Overlap { settled: Vec::new(), allows: Allows::BeforeStoring }),
    },
];

/// The kernel after all passes that run on every kernel.
pub fn prepare(kernel: Kernel) -> Kernel {
    PASSES.iter().filter(|pass| pass.always).fold(kernel, |kernel, pass| pass.run(kernel))
}

/// The kernel after the pass of this name and the earlier passes that run on every kernel; `None` for an unknown name.
pub fn after(mut kernel: Kernel, name: &str) -> Option<Kernel> {
    let last = PASSES.iter().position(|pass| pass.name == name)?;
    for pass in PASSES[..=last].iter().filter(|pass| pass.always || pass.name == name) {
        kernel = pass.run(kernel);
    }
    Some(kernel)
}
