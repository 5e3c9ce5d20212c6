//! Operands of expressions, each stored once.

use super::Expr;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{LazyLock, Mutex, PoisonError};

/// An expression within another one: a handle to a node in an arena, so that expressions are `Copy`.
///
/// Equal expressions have equal handles, so comparison takes constant time. Nodes live as long as the process.
#[derive(Clone, Copy)]
pub struct Operand(&'static Expr);

/// All nodes. An entry is found by its operator and the handles of its operands.
static NODES: LazyLock<Mutex<HashSet<&'static Expr>>> = LazyLock::new(Mutex::default);

impl Operand {
    /// Replaces the expression by an edited one.
    pub fn edit(&mut self, edit: impl FnOnce(&mut Expr)) {
        let mut edited = *self.0;
        edit(&mut edited);
        if edited != *self.0 {
            *self = edited.into();
        }
    }
}

impl From<Expr> for Operand {
    fn from(expr: Expr) -> Operand {
        // An insertion that panics leaves the set as it was.
        let mut nodes = NODES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = nodes.get(&expr) {
            return Operand(node);
        }
        let node = Box::leak(Box::new(expr));
        nodes.insert(node);
        Operand(node)
    }
}

impl Deref for Operand {
    type Target = Expr;

    fn deref(&self) -> &Expr {
        self.0
    }
}

impl AsRef<Expr> for Operand {
    fn as_ref(&self) -> &Expr {
        self.0
    }
}

impl PartialEq for Operand {
    fn eq(&self, other: &Operand) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Operand {}

impl Hash for Operand {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self.0, state);
    }
}

impl std::fmt::Debug for Operand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
