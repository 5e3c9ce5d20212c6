//! Kernels without memory accesses: loads become thread-dependent values, stores become conditional ones that never
//! run.
//!
//! rewrite: loads from global memory → values that depend on the thread; stores to it → stores that never happen
//!
//! A kernel's arithmetic and its overhead remain. The compiler cannot remove them, as whether a result is stored
//! depends on its value.
//!
//! Source: Enfedaque 2017, section 2.4.1, figure 2.8, "arithmetic operations".

use lifting_codegen::ir::{Builtin, Expr, Kernel, Literal, Place, Scalar, Space, Stmt};

/// The kernel with almost no accesses to global memory.
pub fn only_lifts(mut kernel: Kernel) -> Kernel {
    let mut body = std::mem::take(&mut kernel.body);
    walk(&kernel, &mut body);
    kernel.body = body;
    kernel
}

/// A value that no sample reaches, as all loaded values are small.
fn never(scalar: Scalar) -> Expr {
    match scalar {
        Scalar::F32 => Expr::Lit(Literal::F32(1e30)),
        Scalar::F64 => Expr::Lit(Literal::F64(1e30)),
        scalar => Expr::int(32_767, scalar),
    }
}

fn walk(kernel: &Kernel, body: &mut Vec<Stmt>) {
    for mut stmt in std::mem::take(body) {
        stmt.each_body_mut(&mut |body| walk(kernel, body));
        match stmt {
            Stmt::Load { dst, space: Space::Global(_), lanes, .. } => {
                let scalar = kernel.locals[dst.local().0 as usize].scalar;
                for i in 0..lanes as i32 {
                    let value = (Builtin::ThreadX + (7 * i + 1)).cast(scalar);
                    let place = match &dst {
                        Place::Local(id) => Place::Local(*id),
                        Place::Elem(id, first) => Place::Elem(*id, *first + i),
                    };
                    body.push(Stmt::Set(place, value));
                }
            }
            Stmt::Store { space: Space::Global(array), index, values, cache } => {
                let lifting_codegen::ir::ParamKind::Pointer(scalar, _) = kernel.params[array.0 as usize].kind else {
                    unreachable!("stores go to pointers")
                };
                let is_never = |value: Expr| value.eq_(never(scalar));
                let cond = values.iter().copied().map(is_never).reduce(Expr::or).expect("a store has values");
                let then = vec![Stmt::Store { space: Space::Global(array), index, values, cache }];
                body.push(Stmt::If { cond, then, otherwise: Vec::new() });
            }
            stmt => body.push(stmt),
        }
    }
}
