//! A thread's samples moved from registers to its elements of shared memory.
//!
//! rewrite: a thread's samples in registers → the thread's elements of shared memory
//!
//! Element i of all threads is contiguous, so that no two lanes of a warp conflict in a bank. Each read becomes a load
//! before the reading statement, each write a store.
//!
//! Source: Enfedaque 2017, section 2.4: the implementation of figure 2.7 that "does not explicitly use the registers".

use lifting_codegen::ir::{Builtin, Cache, Expr, Kernel, Local, LocalId, Place, Scalar, Shared, SharedId, Space, Stmt};

/// The moved array and its destination.
#[derive(Clone, Copy)]
struct Moved {
    array: LocalId,
    scalar: Scalar,
    shared: SharedId,
    /// Threads of a block.
    threads: i32,
    /// Threads of a row of the block.
    row: i32,
}

/// The register array with most elements: a block's samples.
fn largest(kernel: &Kernel) -> Option<(LocalId, u32)> {
    let arrays = kernel.locals.iter().enumerate().filter_map(|(i, local)| Some((LocalId(i as u32), local.len?)));
    arrays.max_by_key(|&(id, len)| (len, std::cmp::Reverse(id.0)))
}

/// Moves a block's samples into shared memory.
pub fn in_shared(mut kernel: Kernel) -> Kernel {
    let Some((array, len)) = largest(&kernel) else { return kernel };
    let [row, ..] = kernel.launch.block;
    let threads: u32 = kernel.launch.block.iter().product();
    let Local { ref name, scalar, .. } = kernel.locals[array.0 as usize];
    kernel.shared.push(Shared { name: name.clone(), scalar, len: len * threads });
    let shared = SharedId(kernel.shared.len() as u32 - 1);
    let moved = Moved { array, scalar, shared, threads: threads as i32, row: row as i32 };
    let mut body = std::mem::take(&mut kernel.body);
    moved.walk(&mut kernel, &mut body);
    kernel.body = body;
    kernel
}

impl Moved {
    /// Index of a thread's element in shared memory.
    fn at(&self, index: Expr) -> Expr {
        let thread = Builtin::ThreadY * self.row + Builtin::ThreadX;
        index * self.threads + thread
    }

    fn store(&self, index: Expr, value: Expr) -> Stmt {
        Stmt::Store {
            space: Space::Shared(self.shared),
            index: self.at(index),
            values: vec![value],
            cache: Cache::Default,
        }
    }

    fn local(&self, kernel: &mut Kernel, name: &str, len: Option<u32>) -> LocalId {
        kernel.locals.push(Local { name: name.into(), scalar: self.scalar, len });
        LocalId(kernel.locals.len() as u32 - 1)
    }

    /// Replaces the array's elements in an expression by variables, loaded in `before`.
    fn hoist(&self, kernel: &mut Kernel, expr: &mut Expr, before: &mut Vec<Stmt>) {
        expr.each_mut(&mut |e| {
            if let Expr::Elem(id, index) = e
                && *id == self.array
            {
                let local = self.local(kernel, "held", None);
                let index = self.at(**index);
                before.push(Stmt::Declare(local));
                before.push(Stmt::Load {
                    dst: Place::Local(local),
                    space: Space::Shared(self.shared),
                    index,
                    lanes: 1,
                    cache: Cache::Default,
                });
                *e = Expr::Local(local);
            }
        });
    }

    fn walk(&self, kernel: &mut Kernel, body: &mut Vec<Stmt>) {
        for mut stmt in std::mem::take(body) {
            stmt.each_body_mut(&mut |body| self.walk(kernel, body));
            if matches!(&stmt, Stmt::Declare(id) if *id == self.array) {
                continue;
            }
            let mut before = Vec::new();
            stmt.each_expr_mut(&mut |e| self.hoist(kernel, e, &mut before));
            body.append(&mut before);
            match stmt {
                Stmt::Set(Place::Elem(id, index), value) if id == self.array => body.push(self.store(index, value)),
                // Vectors pass through registers.
                Stmt::Load { dst: Place::Elem(id, first), space, index, lanes, cache } if id == self.array => {
                    let raw = self.local(kernel, "loaded", Some(lanes));
                    body.push(Stmt::Declare(raw));
                    body.push(Stmt::Load { dst: Place::Elem(raw, 0.into()), space, index, lanes, cache });
                    for i in 0..lanes as i32 {
                        body.push(self.store(first + i, raw.at(i)));
                    }
                }
                Stmt::Shuffle { dst: Place::Elem(id, index), src, lane } if id == self.array => {
                    let found = self.local(kernel, "found", None);
                    body.push(Stmt::Declare(found));
                    body.push(Stmt::Shuffle { dst: Place::Local(found), src, lane });
                    body.push(self.store(index, found.into()));
                }
                stmt => body.push(stmt),
            }
        }
    }
}
