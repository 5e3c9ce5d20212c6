//! Measures the time of a transform on the device.

use super::plan::{CudaPlan, Transform};
use crate::error::PlanError;
use crate::sample::Sample;
use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{DevicePtr, DevicePtrMut};

/// Minimum number of launches between two time stamps, and number of rounds.
const LAUNCHES: usize = 24;
const ROUNDS: usize = 5;

impl<T: Sample> CudaPlan<T> {
    /// Time of one out-of-place transform in microseconds, replayed as a graph: the median of several rounds. The
    /// arrays together exceed the L2 cache, so no data is found there.
    pub(crate) fn microseconds(&self, transform: Transform) -> Result<f64, PlanError> {
        let stream = self.device().new_stream()?;
        let failed = |e| self.device().error("measure a transform", e);
        let bytes = self.bytes();
        let arrays = (3 * self.device().properties().l2_bytes / (2 * bytes) + 1).clamp(2, LAUNCHES);
        let mut workspace = self.workspace(&stream)?;
        let (mut held, mut graphs) = (Vec::new(), Vec::new());
        for _ in 0..arrays {
            let error = |e| self.device().allocation_error("an array to measure with", bytes, e);
            let source = stream.alloc_zeros::<u8>(bytes).map_err(error)?;
            let mut target = stream.alloc_zeros::<u8>(bytes).map_err(error)?;
            let (from, to) = (source.device_ptr(&stream).0, target.device_ptr_mut(&stream).0);
            // SAFETY: two arrays of the plan's size, used only by this stream until it has been waited for.
            graphs.push(unsafe { self.graph(transform, &stream, from, to, &mut workspace)? });
            held.push((source, target));
        }
        let mut rounds = Vec::new();
        // The first round warms up.
        for round in 0..=ROUNDS {
            let start = stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).map_err(failed)?;
            let mut launches = 0;
            while launches < LAUNCHES {
                for graph in &mut graphs {
                    // SAFETY: as above.
                    unsafe { graph.launch(&stream)? };
                    launches += 1;
                }
            }
            let end = stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).map_err(failed)?;
            let elapsed = f64::from(start.elapsed_ms(&end).map_err(failed)?);
            if round > 0 {
                rounds.push(elapsed * 1000.0 / launches as f64);
            }
        }
        stream.synchronize().map_err(failed)?;
        drop(held);
        rounds.sort_by(f64::total_cmp);
        Ok(rounds[rounds.len() / 2])
    }
}
