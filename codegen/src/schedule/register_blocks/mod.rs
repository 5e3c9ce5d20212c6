//! rewrite: a scheme along both axes of an image → blocks of 64 columns that a warp holds, as Enfedaque's are, in one
//! of the ways that are compared there
//!
//! Two columns a lane, blocks of 10 to 70 rows of which halo is left out, four warps a block of threads. This is
//! [`warp`] in its first form, with taller blocks than plans consider, and with what it is compared with:
//! lanes that exchange through shared memory ([`exchange`]), samples that all stand there ([`in_shared`]), and, for
//! measurements alone, kernels that only move ([`Build::Moves`]) or only lift ([`lifts`]), which show what bounds it.
//!
//! Source: Enfedaque, Aulí-Llinàs & Moure 2015, "Implementation of the DWT in a GPU through a Register-based Strategy";
//! Enfedaque 2017 (thesis), sections 2.3 and 2.4, from which numbers of sections are taken.

mod exchange;
mod in_shared;
mod lifts;
mod schedule;

pub use schedule::Schedule;

use super::level::{Order, RowAlignment};
use super::{Arithmetic, Options, ScheduleError, warp};
use crate::ir::Kernel;
use crate::ir::valid::MAX_SHARED;
use lifting_dsl::Scheme;

/// Most registers that a block's samples may take: 70 rows of two columns, and what comes besides.
const MAX_REGISTERS: i64 = 160;

/// How lanes exchange, and where samples stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Build {
    /// In registers, exchanged by shuffles.
    Shuffles,
    /// In registers, exchanged through shared memory.
    Exchange,
    /// In shared memory.
    Shared,
    /// No step is made: what is loaded is stored. No transform.
    Moves,
    /// Nothing is loaded, and next to nothing stored. No transform.
    Lifts,
}

impl Build {
    /// All of them, those of transforms first.
    pub const ALL: [Build; 5] = [Build::Shuffles, Build::Exchange, Build::Shared, Build::Moves, Build::Lifts];

    /// Whether its kernels are transforms.
    pub fn transforms(self) -> bool {
        !matches!(self, Build::Moves | Build::Lifts)
    }

    /// What it adds to the schedule's name.
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
pub struct Shape {
    /// Rows, halo included; even.
    pub rows: u32,
    /// Warps a block of threads.
    pub warps: u32,
    /// The way.
    pub build: Build,
}

/// How a scheme meets a block.
#[derive(Clone, Debug)]
pub struct Fit {
    block: warp::Fit,
    build: Build,
}

/// Derives how a scheme meets a block.
///
/// # Errors
/// As for [`warp::fit`], with more registers; and if samples that stand in shared memory are more than that holds.
pub fn fit(scheme: &Scheme, options: Options, shape: Shape, takes: RowAlignment) -> Result<Fit, ScheduleError> {
    let block = warp::Shape { rows: shape.rows, warps: shape.warps, takes, ..warp::Shape::paper() };
    let block = warp::fit_within(scheme, options, block, ("register-blocks", MAX_REGISTERS))?;
    let fit = Fit { block, build: shape.build };
    if shape.build == Build::Shared {
        // Two columns of each row, and what a thread offers to others.
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

impl Fit {
    /// The kernel.
    fn kernel(&self, scheme: &Scheme, order: Order) -> Kernel {
        let mut kernel = match self.build {
            Build::Moves => self.block.without_steps().kernel(scheme, order),
            _ => self.block.kernel(scheme, order),
        };
        kernel.name = kernel.name.replacen("warp", &format!("register_blocks_{}", self.build.name()), 1);
        match self.build {
            Build::Shuffles | Build::Moves => kernel,
            Build::Exchange => exchange::through_shared(kernel),
            Build::Shared => exchange::through_shared(in_shared::in_shared(Kernel { min_blocks: 0, ..kernel })),
            Build::Lifts => lifts::only_lifts(kernel),
        }
    }
}
