//! CPU benchmarks: calls of a plan, compared with a memcpy and a non-temporal copy on the same threads.

use super::case::Case;
use super::copies;
use super::data;
use super::report::{DeviceInfo, Measurement, Timed, Verified};
use super::stats::Spread;
use super::{TimedOperation, sets, with_sample};
use crate::failure::{Outcome, input};
use lifting::{Device, Sample, Workspace};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// Shortest measured interval; faster calls are timed together.
const SHORTEST: Duration = Duration::from_millis(1);

/// The CPU, with a number of threads.
pub struct Runner {
    pool: rayon::ThreadPool,
}

impl Runner {
    /// A runner with `threads`, or with all of the machine's.
    pub fn new(threads: Option<u16>) -> Outcome<Runner> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, usize::from)).build();
        let few = |_| input("--threads: the system cannot start this many threads").help("use a smaller --threads");
        Ok(Runner { pool: pool.map_err(few)? })
    }

    /// Runs `work` in the runner's thread pool.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }
}

impl super::Runner for Runner {
    fn device(&self) -> DeviceInfo {
        DeviceInfo::Cpu { threads: self.pool.current_num_threads() }
    }

    fn measure(&mut self, case: &Case, repeats: usize) -> Outcome<Vec<Measurement>> {
        self.pool.install(|| with_sample!(case.sample, measure(case, repeats)))
    }
}

/// One set of arrays.
#[derive(Clone)]
struct Set<T> {
    data: Vec<T>,
    coefficients: Vec<T>,
    back: Vec<T>,
}

fn measure<T: Sample>(case: &Case, repeats: usize) -> Outcome<Vec<Measurement>> {
    let threads = rayon::current_num_threads();
    let plan = case.plan::<T>(&Device::cpu_with_threads(threads))?;
    let rows = case.rows()?;
    let bytes = |samples: usize| samples * size_of::<T>();
    let pair = bytes(plan.len() + plan.coefficient_len());
    let all = pair + bytes(plan.len());
    let free = available_memory().unwrap_or(usize::MAX) / 10 * 9;
    let count = sets(pair, all, free.saturating_sub(plan.workspace_bytes())).ok_or_else(|| {
        input(format!("out of memory: the arrays need {all} bytes and {free} are available"))
            .help("give a smaller --shape")
    })?;
    let first: Vec<T> = data::random(plan.len(), rows);
    let mut arrays: Vec<Set<T>> = (0..count)
        .map(|_| Set {
            data: first.clone(),
            coefficients: data::poisoned(plan.coefficient_len()),
            back: data::poisoned(plan.len()),
        })
        .collect();
    let mut workspace = plan.workspace();
    let forward = |set: &mut Set<T>, workspace: &mut Workspace<T>| {
        plan.forward_with(&set.data[..], &mut set.coefficients[..], workspace).map_err(input)
    };
    let inverse = |set: &mut Set<T>, workspace: &mut Workspace<T>| {
        plan.inverse_with(&set.coefficients[..], &mut set.back[..], workspace).map_err(input)
    };
    let adjoint = |set: &mut Set<T>, workspace: &mut Workspace<T>| {
        plan.adjoint_with(&set.coefficients[..], &mut set.back[..], workspace).map_err(input)
    };
    let inverse_adjoint = |set: &mut Set<T>, workspace: &mut Workspace<T>| {
        plan.inverse_adjoint_with(&set.data[..], &mut set.coefficients[..], workspace).map_err(input)
    };

    for set in &mut arrays {
        forward(set, &mut workspace)?;
        inverse(set, &mut workspace)?;
    }
    let last = &arrays[count - 1];
    let verified = Verified {
        forward_equals: "the oracle",
        forward_shape: data::equals_oracle::<T>(case, &Device::cpu_with_threads(threads))?,
        inverse_error: data::reconstruction(&last.back, &last.data, rows)?,
    };
    if case.ways.iter().any(|way| way.is_adjoint()) {
        let mut set = last.clone();
        adjoint(&mut set, &mut workspace)?;
        let (c, d) = (&last.coefficients[..], &last.data[..]);
        data::transposed("the adjoint", [d, c], [c, &set.back], rows)?;
        inverse_adjoint(&mut set, &mut workspace)?;
        data::transposed("the adjoint of the inverse", [c, &last.back], [d, &set.coefficients], rows)?;
    }

    // The copies move the samples without gaps, and alternate with the calls.
    let image = case.samples();
    let arrays = RefCell::new(arrays);
    let mut measurements = Vec::new();
    for &way in &case.ways {
        let copies = |copy: copies::Copying<T>| {
            let arrays = &arrays;
            move |at: usize| {
                let Set { data, back, .. } = &mut arrays.borrow_mut()[at];
                copy(&data[..image], &mut back[..image]);
                Ok(())
            }
        };
        let calls = |at: usize| match way {
            TimedOperation::Forward => forward(&mut arrays.borrow_mut()[at], &mut workspace),
            TimedOperation::Inverse => inverse(&mut arrays.borrow_mut()[at], &mut workspace),
            TimedOperation::Adjoint => adjoint(&mut arrays.borrow_mut()[at], &mut workspace),
            TimedOperation::InverseAdjoint => inverse_adjoint(&mut arrays.borrow_mut()[at], &mut workspace),
        };
        let mut copy = Stopwatch::new(count, copies(copies::copy))?;
        let mut call = Stopwatch::new(count, calls)?;
        let mut streaming = copies::streaming().map(|copy| Stopwatch::new(count, copies(copy))).transpose()?;
        // Alternating spreads other load of the machine over all three.
        for _ in 0..repeats {
            copy.take()?;
            call.take()?;
            streaming.as_mut().map_or(Ok(()), Stopwatch::take)?;
        }
        let timed = Timed {
            time: Spread::of(call.times),
            copy: Spread::of(copy.times),
            streaming: streaming.map(|watch| Spread::of(watch.times)),
            sets: count,
            rotating: count * pair,
        };
        measurements.push(Measurement::new(case, way, timed, plan.recipe(), plan.workspace_bytes(), &verified));
    }
    Ok(measurements)
}

/// Times calls that rotate through the sets of arrays.
struct Stopwatch<F> {
    call: F,
    sets: usize,
    at: usize,
    /// Calls per measured interval.
    calls: usize,
    /// Measured times of one call, in microseconds.
    times: Vec<f64>,
}

impl<F: FnMut(usize) -> Outcome> Stopwatch<F> {
    /// Warms up, and doubles the calls per interval up to [`SHORTEST`].
    fn new(sets: usize, call: F) -> Outcome<Stopwatch<F>> {
        let mut watch = Stopwatch { call, sets, at: 0, calls: 1, times: Vec::new() };
        loop {
            let micros = watch.time()? * watch.calls as f64;
            if micros >= SHORTEST.as_secs_f64() * 1e6 || watch.calls >= 1 << 20 {
                return Ok(watch);
            }
            watch.calls *= 2;
        }
    }

    /// Records a time.
    fn take(&mut self) -> Outcome {
        let time = self.time()?;
        self.times.push(time);
        Ok(())
    }

    /// Time of one call, in microseconds.
    fn time(&mut self) -> Outcome<f64> {
        let begin = Instant::now();
        for _ in 0..self.calls {
            (self.call)(self.at)?;
            self.at = (self.at + 1) % self.sets;
        }
        Ok(begin.elapsed().as_secs_f64() * 1e6 / self.calls as f64)
    }
}

/// Available memory in bytes, on systems that report it.
fn available_memory() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_rotate_through_the_sets() {
        let mut seen = [0usize; 3];
        let mut watch = Stopwatch {
            call: |at: usize| {
                seen[at] += 1;
                Ok(())
            },
            sets: 3,
            at: 0,
            calls: 4,
            times: Vec::new(),
        };
        assert!(watch.take().is_ok());
        assert_eq!(watch.times.len(), 1);
        assert_eq!(seen, [2, 1, 1]);
    }
}
