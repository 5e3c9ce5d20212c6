//! Measurement of rows on a device: CUDA, or OpenCL for transforms only.

use super::report::{Found, Tuning};
use super::table::{Usage, What};
use liftc::bench::report::{DeviceInfo, Measurement};
use liftc::bench::{Case, Runner as _, cpu, cuda, opencl};
use liftc::failure::{Outcome, input};
use lifting::Device;

/// Timings of a block shape when shapes are compared.
const TRIALS: usize = 3;

/// A device that measures rows.
pub enum Runner {
    Cuda(cuda::Runner),
    OpenCl(opencl::Runner),
}

impl Runner {
    /// # Errors
    /// If the device is a CPU, or fails.
    pub fn new(device: &Device) -> Outcome<Runner> {
        match device {
            Device::Cuda(device) => cuda::Runner::new(device).map(Runner::Cuda),
            Device::OpenCl(device) => opencl::Runner::new(device).map(Runner::OpenCl),
            other => Err(input(format!("the tables need a GPU, and the device is {other}"))),
        }
    }

    pub fn device(&self) -> DeviceInfo {
        match self {
            Runner::Cuda(runner) => runner.device(),
            Runner::OpenCl(runner) => runner.device(),
        }
    }

    /// Measures a row; the result is empty for rows that only CUDA measures.
    pub fn measure(&mut self, what: &What, repeats: usize) -> Outcome<Found> {
        match (self, what) {
            (runner, What::Transform(cases)) => {
                let (case, tuning) = runner.fastest(cases)?;
                let row = runner.first(case, repeats)?;
                let times = Box::new([row.times().clone(), row.copies().clone()]);
                Ok(Found::Measured { times, schedules: row.schedules().to_vec(), tuning })
            }
            (runner, What::Copy(case)) => {
                let copies = runner.first(case, repeats)?.copies().clone();
                Ok(Found::measured(copies.clone(), copies, Vec::new()))
            }
            (_, What::OnCpu(case)) => {
                let rows = cpu::Runner::new(None)?.measure(case, repeats)?;
                let row = rows.into_iter().next().ok_or_else(|| input("nothing was measured"))?;
                Ok(Found::measured(row.times().clone(), row.copies().clone(), Vec::new()))
            }
            (Runner::Cuda(runner), What::Transfer(transfer)) => {
                let [times, copies] = runner.transfer(*transfer, repeats)?;
                Ok(Found::measured(times, copies, Vec::new()))
            }
            (Runner::Cuda(runner), What::Coder(coder)) => coder.measure(runner, repeats),
            (Runner::Cuda(runner), What::Used { case, of }) => {
                let [registers, occupancy] = runner.usage(case)?;
                Ok(Found::Derived(if *of == Usage::Registers { registers } else { occupancy }))
            }
            (Runner::OpenCl(_), What::Transfer(_) | What::Coder(_) | What::Used { .. }) => Ok(Found::Predicted(None)),
            (_, What::Derived(_) | What::Counted { .. } | What::Coded { .. }) => Err(input("this row is not measured")),
        }
    }

    /// Times of a case's first direction.
    fn first(&mut self, case: &Case, repeats: usize) -> Outcome<Measurement> {
        let rows = match self {
            Runner::Cuda(runner) => runner.measure(case, repeats),
            Runner::OpenCl(runner) => runner.measure(case, repeats),
        };
        rows?.into_iter().next().ok_or_else(|| input("nothing was measured"))
    }

    /// The case in the fastest block shape that holds it.
    fn fastest<'a>(&mut self, cases: &'a [Case]) -> Outcome<(&'a Case, Option<Tuning>)> {
        if let [only] = cases {
            return Ok((only, None));
        }
        let times: Vec<Outcome<f64>> = match self {
            Runner::Cuda(runner) => runner.compare(cases, TRIALS)?,
            Runner::OpenCl(_) => cases.iter().map(|case| Ok(self.first(case, TRIALS)?.times().median)).collect(),
        };
        let of = times.iter().filter(|time| time.is_ok()).count();
        let known = times.iter().zip(cases).filter_map(|(time, case)| Some((time.as_ref().ok()?, case)));
        let Some((_, case)) = known.min_by(|a, b| a.0.total_cmp(b.0)) else {
            return Err(times.into_iter().find_map(Result::err).unwrap_or_else(|| input("no shape was measured")));
        };
        let fastest = match (case.blocks, case.schedule) {
            (Some(blocks), _) => blocks.to_string(),
            (None, schedule) => schedule.name().to_owned(),
        };
        Ok((case, Some(Tuning { of, fastest })))
    }
}
