//! Enfedaque's blocks of 64 columns, held by a warp, in the variants that the thesis compares.
//!
//! rewrite: a scheme along both axes of an image → blocks of 64 columns that a warp holds, in one of several variants
//!
//! Two columns a lane, blocks of 10 to 70 rows halo included, four warps a block. This is [`warp`] in its original
//! form, with taller blocks than plans consider. Its variants exchange lanes' values through shared memory
//! ([`exchange`]) or hold all samples there ([`in_shared`]). Two kernels for measurements alone only move samples
//! ([`Build::Moves`]) or only lift them ([`lifts`]), and so show what bounds the transform.
//!
//! Source: Enfedaque, Aulí-Llinàs & Moure 2015, "Implementation of the DWT in a GPU through a Register-based Strategy";
//! Enfedaque 2017 (thesis), sections 2.3 and 2.4. Section numbers are the thesis's.

mod exchange;
mod in_shared;
mod lifts;
mod schedule;

pub use schedule::RegisterBlockSchedule;

use lifting_codegen::ir::Kernel;
use lifting_codegen::ir::valid::MAX_SHARED;
use lifting_codegen::schedule::level::{Order, RowAlignment};
use lifting_codegen::schedule::{Arithmetic, Fit as _, Options, ScheduleError, warp};
use lifting_dsl::Scheme;

/// Maximum registers for a block's samples: 70 rows of two columns and some more.
const MAX_REGISTERS: i64 = 160;

/// Exchange between lanes, and storage of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Build {
    /// Samples in registers, exchanged by shuffles.
    Shuffles,
    /// Samples in registers, exchanged through shared memory.
    Exchange,
    /// Samples in shared memory.
    Shared,
    /// Stores the loaded samples without lifting: not a transform.
    Moves,
    /// Lifts with almost no memory accesses: not a transform.
    Lifts,
}

impl Build {
    /// All variants, transforms first.
    pub const ALL: [Build; 5] = [Build::Shuffles, Build::Exchange, Build::Shared, Build::Moves, Build::Lifts];

    /// Whether its kernels are transforms.
    pub fn transforms(self) -> bool {
        !matches!(self, Build::Moves | Build::Lifts)
    }

    /// Suffix of the schedule's name.
    fn name(self) -> &'static str {
        match self {
            Build::Shuffles => "shuffles",
            Build::Exchange => "exchange",
            Build::Shared => "shared",
            Build::Moves => "moves",
            Build::Lifts => "lifts",
        }
    }
}

/// Shape of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterBlockShape {
    /// Rows, halo included; even.
    pub rows: u32,
    /// Warps a thread block.
    pub warps: u32,
    /// The variant.
    pub build: Build,
}

/// A scheme fitted to a block.
#[derive(Clone, Debug)]
pub struct RegisterBlockFit {
    block: warp::WarpFit,
    build: Build,
}

/// Fits a scheme to a block.
///
/// # Errors
/// As for [`warp::fit`], with more registers; and if samples in shared memory exceed it.
pub fn fit(
    scheme: &Scheme,
    options: Options,
    shape: RegisterBlockShape,
    takes: RowAlignment,
) -> Result<RegisterBlockFit, ScheduleError> {
    let block = warp::WarpShape { rows: shape.rows, warps: shape.warps, takes, ..warp::WarpShape::paper() };
    let block = warp::fit_within(scheme, options, block, ("register-blocks", MAX_REGISTERS))?;
    let fit = RegisterBlockFit { block, build: shape.build };
    if shape.build == Build::Shared {
        // Two columns of each row, and the value a thread offers to others.
        let threads = 32 * i64::from(shape.warps);
        let elements = threads * (2 * i64::from(shape.rows) + 1);
        let bytes = elements * Arithmetic::of(scheme, options)?.in_registers().work.bytes() as i64;
        if bytes > MAX_SHARED as i64 {
            let what = "bytes of shared memory for a block's samples";
            let refuse = ScheduleError::limit("register-blocks", scheme);
            return Err(refuse(what, bytes, MAX_SHARED as i64));
        }
    }
    Ok(fit)
}

impl RegisterBlockFit {
    /// Writes the kernel.
    fn kernel(&self, scheme: &Scheme, order: Order) -> Result<Kernel, ScheduleError> {
        let mut kernel = match self.build {
            Build::Moves => self.block.without_steps().kernel(scheme, order)?,
            _ => self.block.kernel(scheme, order)?,
        };
        kernel.name = kernel.name.replacen("warp", &format!("register_blocks_{}", self.build.name()), 1);
        Ok(match self.build {
            Build::Shuffles | Build::Moves => kernel,
            Build::Exchange => exchange::through_shared(kernel),
            Build::Shared => exchange::through_shared(in_shared::in_shared(Kernel { min_blocks: 0, ..kernel })),
            Build::Lifts => lifts::only_lifts(kernel),
        })
    }
}
