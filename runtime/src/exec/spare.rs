//! Spare workspaces of plans, bounded together: an execution without a workspace takes one that an earlier one left.

use super::Workspace;
use crate::sample::Sample;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Most bytes that the spare workspaces of all plans hold together; others are freed after use.
const MOST: usize = 256 << 20;

/// Bytes that they hold.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// Counts calls of [`clear_workspaces`].
static CLEARED: AtomicUsize = AtomicUsize::new(0);

/// Frees the memory that plans keep between executions, at most 256 MiB in all: each plan's at its next execution, or
/// with the plan.
pub fn clear_workspaces() {
    CLEARED.fetch_add(1, Ordering::Relaxed);
}

/// Workspaces that no execution uses at the moment.
#[derive(Debug)]
pub struct Spare<T: Sample>(Mutex<(usize, Vec<Workspace<T>>)>);

/// Spare workspaces of a plan, whose own type has no bound.
pub(crate) trait Spares<T>: Send + Sync {
    /// The workspaces.
    fn get(&self) -> &Spare<T>
    where
        T: Sample;
}

impl<T: Sample> Spares<T> for Spare<T> {
    fn get(&self) -> &Spare<T> {
        self
    }
}

impl<T: Sample> Default for Spare<T> {
    fn default() -> Spare<T> {
        Spare(Mutex::new((0, Vec::new())))
    }
}

impl<T: Sample> Spare<T> {
    /// Runs work with a spare workspace, or with one that `make` returns.
    pub fn with<R>(&self, make: impl FnOnce() -> Workspace<T>, run: impl FnOnce(&mut Workspace<T>) -> R) -> R {
        let spare = self.spare().pop();
        if let Some(spare) = &spare {
            HELD.fetch_sub(spare.bytes(), Ordering::Relaxed);
        }
        let mut workspace = spare.unwrap_or_else(make);
        let result = run(&mut workspace);
        let bytes = workspace.bytes();
        if HELD.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= MOST {
            self.spare().push(workspace);
        } else {
            HELD.fetch_sub(bytes, Ordering::Relaxed);
        }
        result
    }

    /// The list of workspaces, emptied if they were cleared since.
    fn spare(&self) -> impl std::ops::DerefMut<Target = Vec<Workspace<T>>> {
        let mut locked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cleared = CLEARED.load(Ordering::Relaxed);
        if locked.0 != cleared {
            free(&mut locked.1);
            locked.0 = cleared;
        }
        Guard(locked)
    }
}

/// The list behind a lock.
struct Guard<'a, T: Sample>(std::sync::MutexGuard<'a, (usize, Vec<Workspace<T>>)>);

impl<T: Sample> std::ops::Deref for Guard<'_, T> {
    type Target = Vec<Workspace<T>>;

    fn deref(&self) -> &Vec<Workspace<T>> {
        &self.0.1
    }
}

impl<T: Sample> std::ops::DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut Vec<Workspace<T>> {
        &mut self.0.1
    }
}

impl<T: Sample> Drop for Spare<T> {
    fn drop(&mut self) {
        free(&mut self.0.get_mut().unwrap_or_else(PoisonError::into_inner).1);
    }
}

fn free<T: Sample>(workspaces: &mut Vec<Workspace<T>>) {
    let bytes = workspaces.drain(..).map(|workspace| workspace.bytes()).sum();
    HELD.fetch_sub(bytes, Ordering::Relaxed);
}
