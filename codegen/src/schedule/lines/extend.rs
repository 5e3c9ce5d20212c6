//! Extension of images of whole vectors: lanes beyond a border take samples from other lanes, so that a warp at a
//! border loads like all others.

use super::{Lanes, Row};
use crate::ir::build::Builder;
use crate::ir::{Expr, Lane, LocalId, Scalar};
use lifting_dsl::Boundary;

/// A side of the image.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

impl Lanes {
    /// First column of the vector that a lane loads: its own, or one inside the image.
    pub fn inner_x(&self, b: &mut Builder) -> LocalId {
        let (x, width) = (|| self.x, || self.held.length(0));
        let inner = match self.held.boundary {
            // Whole vectors repeat.
            Boundary::Periodic => self.at_border.select(Expr::wrap(x(), width()), x()),
            _ => x().max(0).min(width() - self.held.columns()),
        };
        b.let_("inner_x", Scalar::I32, inner)
    }

    /// Whether the image is so narrow, at most `halo_lanes` lanes, that [`Lanes::extend`] may not find its sources in
    /// the warp. `None` if that cannot happen.
    pub fn narrow(&self, halo_lanes: i32) -> Option<Expr> {
        match self.held.boundary {
            Boundary::Periodic | Boundary::Zero => None,
            _ => Some(self.held.length(0).le(halo_lanes * self.held.columns())),
        }
    }

    /// Sets the lanes beyond the border by the border rule, where all other lanes hold their own columns. The
    /// image must not be [`Lanes::narrow`]. The steps keep `zero` ([`super::Across`]), and periodic samples were
    /// loaded.
    pub fn extend(&self, b: &mut Builder, rows: &[Row]) {
        if matches!(self.held.boundary, Boundary::Periodic | Boundary::Zero) {
            return;
        }
        let base = self.base;
        b.if_(base.lt(0), |b| self.extend_side(b, rows, Side::Left));
        let ends = (base + b.warp() * self.held.columns()).gt(self.held.length(0));
        b.if_(ends, |b| self.extend_side(b, rows, Side::Right));
    }

    fn extend_side(&self, b: &mut Builder, rows: &[Row], side: Side) {
        let (columns, x) = (self.held.columns(), || self.x);
        b.comment(match side {
            Side::Left => "columns before the first",
            Side::Right => "columns after the last",
        });
        let beyond = match side {
            Side::Left => x().lt(0),
            Side::Right => x().ge(self.held.length(0)),
        };
        let beyond = b.let_("beyond", Scalar::Bool, beyond);
        // For each column: the lane that holds its source, and the source's column there. Positions count from a
        // multiple of a lane's columns.
        let last = Expr::from(b.warp() - 1);
        let sources: Vec<(LocalId, i32)> = (0..columns)
            .map(|c| {
                let (position, column) = match (self.held.boundary, side) {
                    (Boundary::Edge, Side::Left) => (Expr::from(c % 2), c % 2),
                    (Boundary::Edge, Side::Right) => (self.held.length(0) - 2 + c % 2, columns - 2 + c % 2),
                    (Boundary::HalfSymmetric, _) => {
                        // Position and mirror image of the phase's column add up to this.
                        let before = 2 * (c % 2) - 2;
                        let sum = match side {
                            Side::Left => before.into(),
                            Side::Right => self.held.length(0) * 2 + before,
                        };
                        (sum - (x() + c), (before - c).rem_euclid(columns))
                    }
                    (_, Side::Left) => (-(x() + c), (columns - c) % columns),
                    (_, Side::Right) => ((self.held.length(0) - 1) * 2 - (x() + c), (2 * columns - 2 - c) % columns),
                };
                let lane = (position - self.base) >> columns.ilog2() as i32;
                // Lanes inside the image may read any lane.
                (b.let_("lane", Scalar::I32, lane.max(0).min(last)), column)
            })
            .collect();
        for row in rows {
            let images: Vec<LocalId> = sources
                .iter()
                .map(|(lane, column)| {
                    b.shuffle("image", self.held.arith.work, row.at(*column), Lane::Index((*lane).into()))
                })
                .collect();
            row.fill(b, 0..columns, |c| beyond.select(images[c as usize], row.at(c)));
        }
    }
}
