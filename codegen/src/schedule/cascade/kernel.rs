//! The kernel: its parameters, walks and grid.

use super::strip::Strips;
use super::{CascadeFit, analysis, synthesis};
use crate::ir::build::Builder;
use crate::ir::{Kernel, Launch};
use crate::schedule::level::{Order, Params};
use lifting_dsl::{Direction, Scheme};

/// Writes the kernel of a walk.
pub fn kernel(plan: &CascadeFit, scheme: &Scheme, order: Order) -> Kernel {
    let (options, shape) = (plan.options, plan.shape);
    let (left, useful) = (plan.left, plan.useful);
    let mut builder = Builder::new(options.kernel_name(scheme, "cascade"));
    let b = &mut builder;
    let what = match options.direction {
        Direction::Forward => "Analysis",
        Direction::Inverse => "Synthesis",
    };
    b.doc(format!("{what} of both axes, two levels in one pass: warps walk down strips of columns."));
    b.doc(format!(
        "A strip is {useful} lanes of {} columns (and {left} halo lanes left, {} right); {} steps of four rows in \
         flight; results lag {} steps; border rule {}.",
        shape.columns,
        32 - left - useful,
        shape.ring,
        plan.delay(false),
        options.boundary
    ));
    let params = Params::declare_twice(b, options);
    let strips = Strips::declare(b, plan, &params);
    let pairs = match options.direction {
        Direction::Forward => analysis::walks(b, &strips, order),
        Direction::Inverse => synthesis::walks(b, &strips, order),
    };
    let (strip_columns, chunk) = (plan.strip_columns() as i32, params.chunk);
    let grid = [(params.width + (strip_columns - 1)) / strip_columns, (pairs + chunk - 1) / chunk, params.batch.into()];
    let mut kernel = builder.finish(Launch { block: [32, 1, 1], grid });
    kernel.min_blocks = plan.min_blocks();
    kernel
}
