//! Shuffles replaced by stores to and loads from a row of shared memory for each warp.
//!
//! rewrite: shuffles → stores to and loads from a row of shared memory for each warp
//!
//! Exchanged values pass through one element a lane, in four steps. All lanes store the values they offer, the warp
//! waits, each lane loads the value it needs, and the warp waits again, so that no lane stores before all have loaded.
//!
//! Source: Enfedaque 2017, section 2.3.3 and figure 2.6, on devices before shuffles.

use lifting_codegen::ir::{Builtin, Cache, Expr, Kernel, Lane, Scalar, Shared, SharedId, Space, Stmt};

/// Replaces shuffles by shared memory, in a kernel whose blocks have a warp in each row of threads.
pub fn through_shared(mut kernel: Kernel) -> Kernel {
    let mut body = std::mem::take(&mut kernel.body);
    walk(&mut kernel, &mut body);
    kernel.body = body;
    kernel
}

/// The exchange array of a type.
fn cells(kernel: &mut Kernel, scalar: Scalar) -> SharedId {
    let name = format!("exchange_{}", scalar.name());
    let known = kernel.shared.iter().position(|shared| shared.name == name);
    let index = known.unwrap_or_else(|| {
        let [x, y, _] = kernel.launch.block;
        kernel.shared.push(Shared { name, scalar, len: x * y });
        kernel.shared.len() - 1
    });
    SharedId(index as u32)
}

fn walk(kernel: &mut Kernel, body: &mut Vec<Stmt>) {
    let warp = kernel.warp as i32;
    let lane_at = Expr::from(Builtin::ThreadX);
    for mut stmt in std::mem::take(body) {
        stmt.each_body_mut(&mut |body| walk(kernel, body));
        let Stmt::Shuffle { dst, src, lane } = stmt else {
            body.push(stmt);
            continue;
        };
        let scalar = kernel.locals[dst.local().0 as usize].scalar;
        let shared = Space::Shared(cells(kernel, scalar));
        let source = match lane {
            // A lane whose source is outside the warp receives its own value.
            Lane::Up(n) => {
                let n = n as i32;
                lane_at.lt(n).select(lane_at, lane_at - n)
            }
            Lane::Down(n) => {
                let n = n as i32;
                lane_at.ge(warp - n).select(lane_at, lane_at + n)
            }
            Lane::Xor(n) => Expr::binary(lifting_codegen::ir::BinOp::Xor, lane_at, Expr::i32(n.into())),
            Lane::Index(index) => index.and(warp - 1),
        };
        let first = Builtin::ThreadY * warp;
        let store = Stmt::Store { space: shared, index: first + lane_at, values: vec![src], cache: Cache::Default };
        let load = Stmt::Load { dst, space: shared, index: first + source, lanes: 1, cache: Cache::Default };
        body.extend([store, Stmt::SyncWarp, load, Stmt::SyncWarp]);
    }
}
