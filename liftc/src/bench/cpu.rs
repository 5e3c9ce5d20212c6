//! Measuring on the CPU: calls of a plan, against a memcpy of the same data by as many threads.

use super::case::Case;
use super::data;
use super::report::{DeviceInfo, Measurement, Timed, Verified};
use super::stats::Spread;
use super::{Way, sets, with_sample};
use crate::failure::{Outcome, input};
use lifting::{Device, Sample, Workspace};
use rayon::prelude::*;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// A time is taken over calls that need at least so long together.
const SHORTEST: Duration = Duration::from_millis(1);

/// The CPU, with a number of threads.
pub struct Runner {
    pool: rayon::ThreadPool,
}

impl Runner {
    /// With all threads if nothing is said.
    pub fn new(threads: Option<u16>) -> Outcome<Runner> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, usize::from)).build();
        let few = |_| input("the system does not give so many threads").help("take fewer: --threads N");
        Ok(Runner { pool: pool.map_err(few)? })
    }

    /// Does something with these threads.
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
        input(format!("out of memory: the arrays need {all} bytes and {free} are there")).help("give a smaller --shape")
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

    // The copy is of the samples, whatever the gaps between rows; it is timed in turns with what it is the unit of.
    let image = case.samples();
    let arrays = RefCell::new(arrays);
    let mut measurements = Vec::new();
    for &way in &case.ways {
        let copies = |at: usize| {
            let Set { data, back, .. } = &mut arrays.borrow_mut()[at];
            copy(&data[..image], &mut back[..image]);
            Ok(())
        };
        let calls = |at: usize| match way {
            Way::Forward => forward(&mut arrays.borrow_mut()[at], &mut workspace),
            Way::Inverse => inverse(&mut arrays.borrow_mut()[at], &mut workspace),
        };
        let (copy, time) = in_turns(repeats, Stopwatch::new(count, copies)?, Stopwatch::new(count, calls)?)?;
        let timed = Timed { time, copy, sets: count, rotating: count * pair };
        measurements.push(Measurement::new(case, way, timed, plan.recipe(), plan.workspace_bytes(), &verified));
    }
    Ok(measurements)
}

/// Times of two calls, each time of the one followed by one of the other: what else the machine does slows both.
fn in_turns<F, G>(repeats: usize, mut first: Stopwatch<F>, mut second: Stopwatch<G>) -> Outcome<(Spread, Spread)>
where
    F: FnMut(usize) -> Outcome,
    G: FnMut(usize) -> Outcome,
{
    let times = (0..repeats).map(|_| Ok((first.time()?, second.time()?)));
    let (first, second) = times.collect::<Outcome<Vec<_>>>()?.into_iter().unzip();
    Ok((Spread::of(first), Spread::of(second)))
}

/// Times calls that go round the sets.
struct Stopwatch<F> {
    call: F,
    sets: usize,
    at: usize,
    /// Calls that are timed together.
    calls: usize,
}

impl<F: FnMut(usize) -> Outcome> Stopwatch<F> {
    /// Warms up, and finds out how many calls a time needs.
    fn new(sets: usize, call: F) -> Outcome<Stopwatch<F>> {
        let mut watch = Stopwatch { call, sets, at: 0, calls: 1 };
        loop {
            let micros = watch.time()? * watch.calls as f64;
            if micros >= SHORTEST.as_secs_f64() * 1e6 || watch.calls >= 1 << 20 {
                return Ok(watch);
            }
            watch.calls *= 2;
        }
    }

    /// Microseconds of one call.
    fn time(&mut self) -> Outcome<f64> {
        let begin = Instant::now();
        for _ in 0..self.calls {
            (self.call)(self.at)?;
            self.at = (self.at + 1) % self.sets;
        }
        Ok(begin.elapsed().as_secs_f64() * 1e6 / self.calls as f64)
    }
}

/// By as many threads as the pool has.
fn copy<T: Sample>(from: &[T], to: &mut [T]) {
    let threads = rayon::current_num_threads();
    if threads == 1 {
        return to.copy_from_slice(from);
    }
    let piece = from.len().div_ceil(threads).max(1);
    to.par_chunks_mut(piece).zip(from.par_chunks(piece)).for_each(|(to, from)| to.copy_from_slice(from));
}

/// Bytes of memory that are there to be had, where the system says so.
fn available_memory() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_whole() {
        let from: Vec<i32> = (0..1001).collect();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut to = vec![0; from.len()];
            pool.install(|| copy(&from, &mut to));
            assert_eq!(to, from);
        }
    }

    #[test]
    fn calls_go_round() {
        let mut seen = [0usize; 3];
        let mut watch = Stopwatch {
            call: |at: usize| {
                seen[at] += 1;
                Ok(())
            },
            sets: 3,
            at: 0,
            calls: 4,
        };
        assert!(watch.time().is_ok());
        assert_eq!(seen, [2, 1, 1]);
    }
}
