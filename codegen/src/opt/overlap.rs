//! rewrite: a kernel → the same one, which may be launched while launches before it still run, and lets the next one
//! begin
//!
//! Every thread lets the next launch come ([`Stmt::AllowLaunch`]), or does so by ending. Before it touches global
//! memory that is not settled it waits until all launches before have ended and what they wrote is there to be read
//! ([`Stmt::WaitLaunches`]); until then there is time to compute, and to load what is settled. So a launch in which
//! some thread touches such memory has ended only when all before it have. Launched in any other way it is a kernel as
//! all others.
//!
//! Threads that touch nothing else need not wait, and shall not: nvcc takes ten registers more for that. What is read
//! may change while a kernel waits, so that no load goes through the cache for constant data.

use crate::ir::visit::{any_stmt, each_stmt_mut};
use crate::ir::*;

/// How a kernel overlaps with the launches before and after it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Overlap {
    /// Arrays that none of the launches writes which may still run: what the kernel reads of them before it reads or
    /// writes others it does not wait for.
    pub settled: Vec<ParamId>,
    /// When it lets the next launch begin.
    pub allows: Allows,
}

/// When a kernel lets the next launch begin, whose blocks then come as soon as there is room for them: when all blocks
/// of this one have said so, or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Allows {
    /// When they begin.
    AtOnce,
    /// When the launches before have ended.
    AfterWaiting,
    /// When they have nothing left to do but to store: earlier, the next launch's blocks might crowd the
    /// multiprocessors that are free first.
    BeforeStoring,
}

/// The kernel that overlaps.
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
        // Once: threads that end without having said so have said it.
        Allows::BeforeStoring => {
            allow_before_storing(&mut kernel.body);
        }
    }
    kernel.settled = how.settled.clone();
    kernel
}

/// Puts the wait just before the first statement that touches what launches before may have touched. All threads that
/// leave a body have waited, if something that follows it `touches`.
fn wait(body: &mut Vec<Stmt>, how: &Overlap, touches: bool) {
    let reads = |settled: bool| move |s: &Stmt| s.reads_global().is_some_and(|a| how.settled.contains(&a) == settled);
    let unsettled = |s: &Stmt| s.any(&|s| reads(false)(s) || s.writes_global().is_some());
    let first = body.iter().position(unsettled).unwrap_or(body.len());
    let touches_later = touches || body.iter().skip(first + 1).any(unsettled);
    match body.get_mut(first) {
        None if !touches => return,
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

/// Lets the next launch begin before the first statement that writes to global memory and reads nothing from it;
/// whether there is one.
fn allow_before_storing(body: &mut Vec<Stmt>) -> bool {
    for i in 0..body.len() {
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
