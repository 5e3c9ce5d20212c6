//! Levels of stationary (undecimated) transforms along an axis of contiguous arrays.

use crate::array::Array;
use crate::scheme::Scheme;
use crate::{LiftingError, plan_error};
use lifting::{Lines, Sample, Stationary};
use pyo3::prelude::*;

/// A level for one sample type.
enum Typed {
    F32(Stationary<f32>),
    F64(Stationary<f64>),
}

/// A level of a wavelet's stationary transform, for samples of one type.
#[pyclass(frozen, module = "lifting._lifting")]
pub struct StationaryLevel(Typed);

#[pymethods]
impl StationaryLevel {
    #[new]
    fn new(scheme: &Scheme, dtype: &str) -> PyResult<StationaryLevel> {
        let typed = match dtype {
            "f32" => Stationary::new(&scheme.inner).map(Typed::F32),
            "f64" => Stationary::new(&scheme.inner).map(Typed::F64),
            _ => return Err(LiftingError::new_err(format!("unsupported sample type {dtype}: f32 or f64 is needed"))),
        };
        typed.map(StationaryLevel).map_err(plan_error)
    }

    /// Analysis of `data` into both bands. `lines` has the product of the outer lengths, the length along the axis, the
    /// product of the inner lengths, and the distance between the samples of the level.
    fn forward(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        bands: [Bound<'_, PyAny>; 2],
        lines: [usize; 4],
        gain: f64,
        threads: usize,
    ) -> PyResult<()> {
        match &self.0 {
            Typed::F32(level) => forward(level, py, data, &bands, lines, gain, threads),
            Typed::F64(level) => forward(level, py, data, &bands, lines, gain, threads),
        }
    }

    /// Synthesis of both bands into `data`.
    fn inverse(
        &self,
        py: Python<'_>,
        bands: [Bound<'_, PyAny>; 2],
        data: &Bound<'_, PyAny>,
        lines: [usize; 4],
        gain: f64,
        threads: usize,
    ) -> PyResult<()> {
        match &self.0 {
            Typed::F32(level) => inverse(level, py, &bands, data, lines, gain, threads),
            Typed::F64(level) => inverse(level, py, &bands, data, lines, gain, threads),
        }
    }
}

/// Lines of arrays, whose numbers of samples are checked.
pub fn lines_of<T: Sample>([outer, length, inner, step]: [usize; 4], arrays: &[&Array<T>]) -> PyResult<Lines> {
    let samples = outer.checked_mul(length).and_then(|n| n.checked_mul(inner));
    match arrays.iter().all(|array| Some(array.len()) == samples) {
        true => Ok(Lines { outer, length, inner, step }),
        false => Err(LiftingError::new_err(format!("an array is not {outer} × {length} × {inner} samples"))),
    }
}

/// Lines whose length is a multiple of the level's step.
pub fn whole_lines(lines: Lines) -> PyResult<Lines> {
    match lines.step > 0 && lines.length > 0 && lines.length.is_multiple_of(lines.step) {
        true => Ok(lines),
        false => {
            let (length, step) = (lines.length, lines.step);
            Err(LiftingError::new_err(format!("{length} samples are not a multiple of the level's step {step}")))
        }
    }
}

fn forward<T: Sample>(
    level: &Stationary<T>,
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    bands: &[Bound<'_, PyAny>; 2],
    lines: [usize; 4],
    gain: f64,
    threads: usize,
) -> PyResult<()> {
    let data = Array::<T>::read(data, "the data")?;
    let [mut low, mut high] =
        [Array::<T>::write(&bands[0], "the low band")?, Array::write(&bands[1], "the high band")?];
    if data.meets(&low) || data.meets(&high) || low.meets(&high) {
        return Err(LiftingError::new_err("the data and the bands share memory: use separate arrays"));
    }
    let lines = lines_of(lines, &[&data, &low, &high])?;
    // SAFETY: the arrays share no memory.
    let (data, low, high) =
        unsafe { (data.samples("the data")?, low.slice("the low band")?, high.slice("the high band")?) };
    py.detach(|| level.forward(data, [low, high], &lines, gain, threads));
    Ok(())
}

fn inverse<T: Sample>(
    level: &Stationary<T>,
    py: Python<'_>,
    bands: &[Bound<'_, PyAny>; 2],
    data: &Bound<'_, PyAny>,
    lines: [usize; 4],
    gain: f64,
    threads: usize,
) -> PyResult<()> {
    let [low, high] = [Array::<T>::read(&bands[0], "the low band")?, Array::read(&bands[1], "the high band")?];
    let mut data = Array::<T>::write(data, "the data")?;
    if data.meets(&low) || data.meets(&high) {
        return Err(LiftingError::new_err("the data and a band share memory: use separate arrays"));
    }
    let lines = lines_of(lines, &[&data, &low, &high])?;
    // SAFETY: the target shares no memory with the bands.
    let (low, high, data) =
        unsafe { (low.samples("the low band")?, high.samples("the high band")?, data.slice("the data")?) };
    py.detach(|| level.inverse([low, high], data, &lines, gain, threads));
    Ok(())
}
