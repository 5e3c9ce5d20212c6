//! rewrite: a kernel → one that may run while earlier launches still do, and lets the next one begin
//!
//! Every thread lets the next launch begin, by [`Stmt::AllowLaunch`] or by ending. Before it touches global memory that
//! is not settled, it waits until all earlier launches have ended and their results are visible
//! ([`Stmt::WaitLaunches`]). Until then it can compute, and load settled arrays. So a launch in which some thread
//! touches unsettled memory ends only after all earlier ones. Launched in any other way, it is an ordinary kernel.
//!
//! Threads that touch nothing else need not wait, and do not: waiting costs ten more registers in nvcc. Data may change
//! while a kernel waits, so no load uses the read-only cache.

use crate::ir::visit::{any_stmt, each_stmt_mut};
use crate::ir::*;

/// Overlap of a kernel with the launches before and after it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Overlap {
    /// Arrays that no launch still running writes. The kernel does not wait before it reads them, as long as it has not
    /// touched other arrays.
    pub settled: Vec<ParamId>,
    /// When it lets the next launch begin.
    pub allows: Allows,
}

/// When a kernel lets the next launch begin. Blocks of that launch start, as room permits, when all blocks of this one
/// have allowed it or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Allows {
    /// At their beginning.
    AtOnce,
    /// When the earlier launches have ended.
    AfterWaiting,
    /// When only stores are left. Any earlier, blocks of the next launch might crowd the multiprocessors that are free
    /// first.
    BeforeStoring,
}

/// The overlapping kernel.
pub fn overlap(mut kernel: Kernel, how: &Overlap) -> Kernel {
    each_stmt_mut(&mut kernel.body, &mut |s| {
        if let Stmt::Load { space: Space::Global(_), cache: cache @ Cache::ReadOnly, .. } = s {
            *cache = Cache::Default;
        }
    });
    wait(&mut kernel.body, how, false);
    match how.allows {
        Allows::AtOnce => kernel.body.insert(0, Stmt::AllowLaunch),
        Allows::AfterWaiting => {}
        // Once is enough: threads that end also allow the launch.
        Allows::BeforeStoring => {
            allow_before_storing(&mut kernel.body);
        }
    }
    kernel.settled = how.settled.clone();
    kernel
}

/// Inserts the wait just before the first statement that touches unsettled memory. If something later `touches` such
/// memory, all threads that leave a body have waited.
fn wait(body: &mut Vec<Stmt>, how: &Overlap, touches: bool) {
    let reads = |settled: bool| move |s: &Stmt| s.reads_global().is_some_and(|a| how.settled.contains(&a) == settled);
    let unsettled = |s: &Stmt| s.any(&|s| reads(false)(s) || s.writes_global().is_some());
    let first = body.iter().position(unsettled).unwrap_or(body.len());
    let touches_later = touches || body.iter().skip(first + 1).any(unsettled);
    match body.get_mut(first) {
        None if !touches => return,
        Some(Stmt::Part { body, .. }) => return wait(body, how, touches_later),
        Some(branch @ Stmt::If { .. }) => {
            let reads_settled = branch.any(&reads(true));
            let Stmt::If { then, otherwise, .. } = branch else { unreachable!("it is a branch") };
            let is_all = !touches_later && otherwise.is_empty();
            if is_all || reads_settled {
                wait(then, how, touches_later);
                wait(otherwise, how, touches_later);
                return;
            }
        }
        _ => {}
    }
    let statements = [Some(Stmt::WaitLaunches), (how.allows == Allows::AfterWaiting).then_some(Stmt::AllowLaunch)];
    body.splice(first..first, statements.into_iter().flatten());
}

/// Lets the next launch begin before the first statement that writes global memory and reads none; returns whether
/// there is one.
fn allow_before_storing(body: &mut Vec<Stmt>) -> bool {
    for i in 0..body.len() {
        if let Stmt::Part { body, .. } = &mut body[i] {
            if allow_before_storing(body) {
                return true;
            }
            continue;
        }
        let is = |holds: &dyn Fn(&Stmt) -> bool| any_stmt(&body[i..=i], &|s| holds(s));
        let only_writes = is(&|s| s.writes_global().is_some()) && !is(&|s| s.reads_global().is_some());
        if only_writes && !is(&|s| *s == Stmt::WaitLaunches) {
            body.insert(i, Stmt::AllowLaunch);
            return true;
        }
        let mut found = false;
        body[i].each_body_mut(&mut |body| found = found || allow_before_storing(body));
        if found {
            return true;
        }
    }
    false
}
