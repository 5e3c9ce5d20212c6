//! Facts for the writers, beyond [`KernelInfo`]: which locals carry sample data, and which parameters are used.

use crate::ir::valid::KernelInfo;
use crate::ir::visit::{each_expr, each_stmt};
use crate::ir::*;

/// Facts about one kernel.
pub struct Facts<'a> {
    kernel: &'a Kernel,
    info: &'a KernelInfo,
    data: Vec<bool>,
    used_params: Vec<bool>,
}

impl<'a> Facts<'a> {
    /// Analyses the kernel.
    pub fn of(kernel: &'a Kernel, info: &'a KernelInfo) -> Facts<'a> {
        let mut facts = Facts {
            kernel,
            info,
            data: vec![false; kernel.locals.len()],
            used_params: vec![false; kernel.params.len()],
        };
        // A loop may carry data backwards, so repeat until nothing changes.
        while facts.spread() {}
        facts.survey();
        facts
    }

    /// Whether the kernel waits for earlier launches or lets the next one begin.
    pub fn overlaps(&self) -> bool {
        self.info.overlaps
    }

    /// The type of an expression.
    pub fn type_of(&self, e: &Expr) -> Scalar {
        self.info.type_of(self.kernel, e)
    }

    /// The declaration of a local.
    pub fn local(&self, id: LocalId) -> &'a Local {
        &self.kernel.locals[id.0 as usize]
    }

    /// Element type of an array in memory.
    pub fn element(&self, space: Space) -> Scalar {
        match space {
            Space::Shared(id) => self.kernel.shared[id.0 as usize].scalar,
            Space::Global(id) => match self.kernel.params[id.0 as usize].kind {
                ParamKind::Scalar(s) | ParamKind::Pointer(s, _) => s,
            },
        }
    }

    /// Whether the value derives from samples in memory. Arithmetic on such values wraps. Index arithmetic never does,
    /// in kernels that stay within their arrays.
    pub fn is_data(&self, e: &Expr) -> bool {
        match e {
            Expr::Local(id) | Expr::Elem(id, _) => self.data[id.0 as usize],
            // The condition does not flow into the value.
            Expr::Select(_, a, b) => self.is_data(a) || self.is_data(b),
            _ => {
                let mut is_data = false;
                e.each_part(&mut |part| is_data = is_data || self.is_data(part));
                is_data
            }
        }
    }

    /// Whether exactly one statement sets a scalar.
    pub fn is_set_once(&self, id: LocalId) -> bool {
        self.info.local(id).writes == 1
    }

    /// Whether a local, or an element of it, is read anywhere.
    pub fn is_read(&self, id: LocalId) -> bool {
        self.info.local(id).reads > 0
    }

    /// Whether the body mentions a parameter.
    pub fn is_param_used(&self, id: ParamId) -> bool {
        self.used_params[id.0 as usize]
    }

    fn mark(&mut self, id: LocalId) -> bool {
        !std::mem::replace(&mut self.data[id.0 as usize], true)
    }

    /// One pass over the kernel; returns whether it found anything new.
    fn spread(&mut self) -> bool {
        let (kernel, mut changed) = (self.kernel, false);
        each_stmt(&kernel.body, &mut |s| {
            changed |= match s {
                Stmt::Let(id, e) => self.is_data(e) && self.mark(*id),
                Stmt::Set(place, e) | Stmt::Shuffle { dst: place, src: e, .. } => {
                    self.is_data(e) && self.mark(place.local())
                }
                // Copied samples count as data when they are loaded from shared memory.
                Stmt::Load { dst, .. } => self.mark(dst.local()),
                _ => false,
            };
        });
        changed
    }

    fn survey(&mut self) {
        let kernel = self.kernel;
        each_stmt(&kernel.body, &mut |s| {
            for id in s.reads_global().into_iter().chain(s.writes_global()) {
                self.used_params[id.0 as usize] = true;
            }
        });
        each_expr(&kernel.body, &mut |e| {
            if let Expr::Param(id) = e {
                self.used_params[id.0 as usize] = true;
            }
        });
    }
}

/// The locals that a body sets; declarations do not count.
pub fn assigned_in(body: &[Stmt]) -> Vec<LocalId> {
    let mut assigned = Vec::new();
    each_stmt(body, &mut |s| assigned.extend(s.sets().map(Place::local)));
    assigned
}
