//! Plans over several devices: slabs of one array, halos from the neighbours.
//!
//! `cut` divides the rows and lists the boxes to copy, as data. Each slab is an ordinary problem with an executor on
//! its device. `walk` copies boxes on the host, and `cuda::peer` between CUDA devices. Devices other than CUDA's run
//! their slabs one after the other, in host memory: that is for tests.

mod cut;
#[cfg(test)]
mod tests;
mod walk;

#[cfg(feature = "cuda")]
pub(crate) use walk::Axis;
pub(crate) use walk::Walk;

use crate::data::{Expected, RawView, RawViewMut, Source, Target, contiguous};
use crate::device::{Device, Planning};
use crate::error::PlanError;
use crate::exec::{Executor, Workspace, WorkspaceSize};
use crate::sample::Sample;
use cut::{BoxCopy, Cut, Division, Piece, Side};
use lifting_dsl::Direction;
use lifting_planner::{Choice, Pass, Problem};
use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

#[cfg(feature = "cuda")]
use crate::exec::cuda::{CudaGraph, CudaPlan, CudaWorkspace, Lane, PeerArray};
#[cfg(feature = "cuda")]
use zerocopy::IntoBytes;

/// A plan over several devices; from [`Plan::slabs`](crate::Plan::slabs).
///
/// Each device owns consecutive indices of the outermost axis (of the first axis that is long enough) and the
/// coefficients at these positions. A halo from the neighbours surrounds both. Coarse levels run on the first device.
/// The coefficients have the bits of a plan on one device.
///
/// ```
/// use lifting::{Device, Plan, catalogue};
/// let wavelet = catalogue::find("cdf97")?;
/// let devices = Device::several(&[Device::Interpreter, Device::Interpreter])?;
/// let plan = Plan::builder(&wavelet).shape(&[40, 24]).levels(2).sample::<f32>().build(&devices)?;
/// let image: Vec<f32> = (0..960).map(|i| (i * i % 251) as f32).collect();
///
/// // Arrays that stay on the devices.
/// let slabs = plan.slabs()?;
/// let mut arrays = slabs.arrays()?;
/// slabs.upload(&image, &mut arrays)?;
/// slabs.forward(&mut arrays)?;
/// let mut coefficients = vec![0.0; 960];
/// slabs.download_coefficients(&mut arrays, &mut coefficients)?;
///
/// let mut alone = vec![0.0; 960];
/// let builder = Plan::builder(&wavelet).shape(&[40, 24]).levels(2).sample::<f32>();
/// builder.build(&Device::cpu())?.forward(&image, &mut alone)?;
/// assert_eq!(coefficients, alone);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Slabs<T: Sample> {
    devices: Arc<[Device]>,
    cut: Cut,
    /// Executor of each slab, by stage and device.
    executors: Vec<Vec<Option<Box<dyn Executor<T>>>>>,
    /// Copies before analysis and before synthesis, by stage and receiving device.
    copies: [Vec<Vec<Vec<BoxCopy>>>; 2],
    problem: Arc<Problem>,
    layouts: [Expected; 2],
    planning: Planning,
    /// Executor of the whole on the first device, for transforms that are not shared; made on first use.
    whole: OnceLock<Result<Box<dyn Executor<T>>, PlanError>>,
    /// Arrays between transforms of host data.
    idle: Mutex<Vec<SlabArrays<T>>>,
    identity: Arc<()>,
}

/// Arrays of a [`Slabs`] on its devices: data, coefficients and workspaces.
#[derive(Debug)]
pub struct SlabArrays<T: Sample> {
    /// By stage and device.
    slots: Vec<Vec<Option<Slot<T>>>>,
    /// Streams of each device.
    #[cfg(feature = "cuda")]
    lanes: Vec<Option<Lane>>,
    identity: Arc<()>,
}

/// Arrays of one slab.
#[derive(Debug)]
enum Slot<T: Sample> {
    Host {
        data: Vec<T>,
        coefficients: Vec<T>,
        workspace: Workspace<T>,
    },
    #[cfg(feature = "cuda")]
    Cuda {
        data: PeerArray,
        coefficients: PeerArray,
        graphs: [CudaGraph; 2],
        _workspace: CudaWorkspace,
    },
}

/// The part of an array or band that a device holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlabPart {
    /// Name of the band; empty for data.
    pub name: String,
    /// Address of the first sample, in the memory of the device.
    pub address: u64,
    /// Number of samples along each axis.
    pub shape: Vec<usize>,
    /// Samples from one index to the next along each axis.
    pub strides: Vec<isize>,
    /// Index of the first sample in the whole array, for each axis.
    pub offset: Vec<usize>,
    /// Steps between the samples in the whole array along each axis.
    pub step: Vec<usize>,
}

fn refused(reason: impl Into<String>) -> PlanError {
    PlanError::SeveralDevices { reason: reason.into() }
}

/// Checks devices that share a plan.
pub(crate) fn check(devices: &[Device]) -> Result<(), PlanError> {
    if devices.is_empty() {
        return Err(refused("there are none: give at least one"));
    }
    let memory = |device: &Device| match device {
        #[cfg(feature = "cuda")]
        Device::Cuda(_) => Some(true),
        Device::Cpu { .. } | Device::Interpreter => Some(false),
        _ => None,
    };
    let kinds: Option<Vec<bool>> = devices.iter().map(memory).collect();
    let kinds = kinds.ok_or_else(|| refused("only CUDA devices share arrays, and processors for tests"))?;
    if kinds.contains(&true) && kinds.contains(&false) {
        return Err(refused("CUDA devices share no arrays with processors: give CUDA devices only"));
    }
    Ok(())
}

impl<T: Sample> Slabs<T> {
    pub(crate) fn new(
        devices: &Arc<[Device]>,
        problem: &Arc<Problem>,
        [data, coefficients]: [&Expected; 2],
        planning: &Planning,
    ) -> Result<Slabs<T>, PlanError> {
        let division = Division::of(devices.len());
        Slabs::divided(devices, problem, [data, coefficients], planning, division)
    }

    fn divided(
        devices: &Arc<[Device]>,
        problem: &Arc<Problem>,
        [data, coefficients]: [&Expected; 2],
        planning: &Planning,
        division: Division,
    ) -> Result<Slabs<T>, PlanError> {
        let unsuited = [
            (problem.tile.is_some(), "tiles"),
            (problem.is_mixed(), "several wavelets"),
            (!problem.extended.is_empty(), "an extension"),
        ];
        if let Some((_, what)) = unsuited.iter().find(|(is_set, _)| *is_set) {
            return Err(refused(format!("a plan with {what} runs on one device: build it there")));
        }
        #[cfg(feature = "cuda")]
        {
            let cuda = devices.iter().filter_map(|device| match device {
                Device::Cuda(device) => Some(device),
                _ => None,
            });
            crate::exec::cuda::connect(&cuda.collect::<Vec<_>>())?;
        }
        let cut = Cut::new(problem, division)?;
        let mut executors = Vec::new();
        for stage in &cut.stages {
            let executor = |(slab, device): (&Option<cut::Slab>, &Device)| {
                let Some(slab) = slab else { return Ok(None) };
                let data = Expected::contiguous("the data", &slab.problem.source_shape)?;
                let coefficients = Expected::contiguous("the coefficients", slab.problem.geometry.shape())?;
                T::executor(device, &slab.problem, [&data, &coefficients], planning).map(Some)
            };
            let all = stage.slabs.iter().zip(&**devices).map(executor);
            executors.push(all.collect::<Result<_, PlanError>>()?);
        }
        let by_device = |copies: Vec<BoxCopy>| -> Vec<Vec<BoxCopy>> {
            let of = |device| copies.iter().filter(|copy| copy.to.device == device).cloned().collect();
            (0..devices.len()).map(of).collect()
        };
        let stages = 0..cut.stages.len();
        let copies = [
            stages.clone().map(|stage| by_device(cut.before_analysis(stage))).collect(),
            stages.map(|stage| by_device(cut.before_synthesis(stage))).collect(),
        ];
        Ok(Slabs {
            devices: devices.clone(),
            cut,
            executors,
            copies,
            problem: problem.clone(),
            layouts: [data.clone(), coefficients.clone()],
            planning: planning.clone(),
            whole: OnceLock::new(),
            idle: Mutex::default(),
            identity: Arc::new(()),
        })
    }

    /// The devices, in the order of their slabs.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// The axis along which the data is cut.
    pub fn axis(&self) -> usize {
        self.cut.axis
    }

    /// Indices of the data along the [axis](Slabs::axis) that a device owns; empty if there are more devices than
    /// indices.
    ///
    /// # Panics
    /// If there is no such device.
    pub fn rows(&self, device: usize) -> Range<usize> {
        self.cut.rows(device)
    }

    /// Levels between exchanges: the number of levels of each stage.
    pub fn stages(&self) -> impl Iterator<Item = u32> + '_ {
        self.cut.stages.iter().map(|stage| stage.levels)
    }

    /// Allocates arrays on the devices. Several may be in flight.
    ///
    /// # Errors
    /// If the memory of a device is full.
    pub fn arrays(&self) -> Result<SlabArrays<T>, PlanError> {
        #[cfg(feature = "cuda")]
        let lane = |device: &Device| match device {
            Device::Cuda(device) => Lane::new(device).map(Some),
            _ => Ok(None),
        };
        #[cfg(feature = "cuda")]
        let lanes: Vec<Option<Lane>> = self.devices.iter().map(lane).collect::<Result<_, _>>()?;
        let mut slots = Vec::new();
        for (stage, executors) in self.cut.stages.iter().zip(&self.executors) {
            let mut of_stage = Vec::new();
            for (device, (slab, executor)) in stage.slabs.iter().zip(executors).enumerate() {
                let (Some(slab), Some(executor)) = (slab, executor) else {
                    of_stage.push(None);
                    continue;
                };
                let lengths = [&slab.problem.source_shape[..], slab.problem.geometry.shape()]
                    .map(|shape| shape.iter().product::<usize>());
                of_stage.push(Some(match &self.devices[device] {
                    #[cfg(feature = "cuda")]
                    Device::Cuda(device_of) => {
                        let plan = executor.as_any().and_then(|plan| plan.downcast_ref::<CudaPlan<T>>());
                        let plan = plan.expect("an executor of a CUDA device is a CUDA plan");
                        let array = |length: usize| PeerArray::new(device_of, length * size_of::<T>());
                        let (data, coefficients) = (array(lengths[0])?, array(lengths[1])?);
                        let lane = lanes[device].as_ref().expect("a CUDA device has streams");
                        let (graphs, workspace) = lane.graphs(plan, [&data, &coefficients])?;
                        Slot::Cuda { data, coefficients, graphs, _workspace: workspace }
                    }
                    _ => {
                        let [data, coefficients] = lengths.map(|length| vec![T::default(); length]);
                        Slot::Host { data, coefficients, workspace: Workspace::new(executor.workspace_size()) }
                    }
                }));
            }
            slots.push(of_stage);
        }
        Ok(SlabArrays {
            slots,
            #[cfg(feature = "cuda")]
            lanes,
            identity: self.identity.clone(),
        })
    }

    fn check(&self, arrays: &SlabArrays<T>) -> Result<(), PlanError> {
        if Arc::ptr_eq(&self.identity, &arrays.identity) { Ok(()) } else { Err(PlanError::ForeignWorkspace) }
    }

    /// Analyses the data in the arrays. On CUDA devices it does not wait; [`SlabArrays::synchronize`] does.
    ///
    /// # Errors
    /// If the arrays are another plan's, or a device fails.
    pub fn forward(&self, arrays: &mut SlabArrays<T>) -> Result<(), PlanError> {
        self.check(arrays)?;
        for stage in 0..self.cut.stages.len() {
            self.exchange(&self.copies[0][stage], arrays)?;
            self.run(Direction::Forward, stage, arrays)?;
        }
        Ok(())
    }

    /// Synthesises the coefficients in the arrays. On CUDA devices it does not wait; [`SlabArrays::synchronize`] does.
    ///
    /// # Errors
    /// As for [`Slabs::forward`].
    pub fn inverse(&self, arrays: &mut SlabArrays<T>) -> Result<(), PlanError> {
        self.check(arrays)?;
        for stage in (0..self.cut.stages.len()).rev() {
            self.exchange(&self.copies[1][stage], arrays)?;
            self.run(Direction::Inverse, stage, arrays)?;
        }
        Ok(())
    }

    /// Shape of an array of a slab.
    fn shape(&self, stage: usize, device: usize, side: Side) -> &[usize] {
        let slab = self.cut.stages[stage].slabs[device].as_ref().expect("copies are between slabs");
        match side {
            Side::Data => &slab.problem.source_shape,
            Side::Coefficients => slab.problem.geometry.shape(),
        }
    }

    /// Copies boxes between the arrays.
    fn exchange(&self, copies: &[Vec<BoxCopy>], arrays: &mut SlabArrays<T>) -> Result<(), PlanError> {
        #[cfg_attr(not(feature = "cuda"), allow(unused_variables))]
        for (device, copies) in copies.iter().enumerate() {
            if copies.is_empty() {
                continue;
            }
            let mut sources: Vec<usize> = copies.iter().map(|copy| copy.from.device).collect();
            sources.sort_unstable();
            sources.dedup();
            #[cfg(feature = "cuda")]
            if let Some(lane) = &arrays.lanes[device] {
                lane.after(lane)?;
                for source in sources.iter().filter_map(|source| arrays.lanes[*source].as_ref()) {
                    lane.after(source)?;
                }
            }
            for BoxCopy { from, to, shape } in copies {
                let strides = [from, to].map(|at| contiguous(self.shape(at.stage, at.device, at.side)));
                let walk = Walk::new(shape, (&from.at, &strides[0]), (&to.at, &strides[1]));
                #[cfg(feature = "cuda")]
                if let Some(lane) = &arrays.lanes[device] {
                    let array =
                        |at: &cut::Place| arrays.slots[at.stage][at.device].as_ref().and_then(|s| s.peer(at.side));
                    let (source, target) = (array(from), array(to));
                    let (Some(source), Some(target)) = (source, target) else { continue };
                    // SAFETY: `cut` makes boxes within its slabs; the streams wait for each other before and after.
                    unsafe { lane.copy::<T>(source, target, &walk.in_rows())? };
                    continue;
                }
                // A box may be copied within one array, from one place to another.
                let source = arrays.host(from.stage, from.device, from.side).to_vec();
                let target = arrays.host(to.stage, to.device, to.side);
                // SAFETY: `cut` makes boxes within its slabs, and the source is a copy.
                unsafe { walk.copy(source.as_ptr(), target.as_mut_ptr()) };
            }
            #[cfg(feature = "cuda")]
            if let Some(lane) = &arrays.lanes[device] {
                let others = sources.iter().filter(|source| **source != device);
                lane.copied(others.filter_map(|source| arrays.lanes[*source].as_ref()))?;
            }
        }
        Ok(())
    }

    /// Transforms all slabs of a stage.
    fn run(&self, direction: Direction, stage: usize, arrays: &mut SlabArrays<T>) -> Result<(), PlanError> {
        for device in 0..self.devices.len() {
            let (Some(slot), Some(executor)) = (&mut arrays.slots[stage][device], &self.executors[stage][device])
            else {
                continue;
            };
            match slot {
                Slot::Host { data, coefficients, workspace } => {
                    let (source, target) = match direction {
                        Direction::Forward => (Side::Data, Side::Coefficients),
                        Direction::Inverse => (Side::Coefficients, Side::Data),
                    };
                    let [from, to] = [source, target].map(|side| self.shape(stage, device, side));
                    let (source, target) = match direction {
                        Direction::Forward => (&*data, coefficients),
                        Direction::Inverse => (&*coefficients, data),
                    };
                    let view = RawView::new(source.as_ptr(), from, &contiguous(from));
                    let result = RawViewMut::new(target.as_mut_ptr(), to, &contiguous(to));
                    workspace.fill()?;
                    // SAFETY: two arrays of the executor's shapes, and its own workspace.
                    unsafe {
                        match direction {
                            Direction::Forward => executor.forward(view, result, workspace)?,
                            Direction::Inverse => executor.inverse(0, view, result, workspace)?,
                        }
                    }
                }
                #[cfg(feature = "cuda")]
                Slot::Cuda { graphs, .. } => {
                    let graph = &mut graphs[usize::from(direction == Direction::Inverse)];
                    let lane = arrays.lanes[device].as_ref().expect("a CUDA device has streams");
                    // SAFETY: the arrays belong to these graphs alone; exchanges wait for them.
                    unsafe { lane.launch(graph)? };
                }
            }
        }
        Ok(())
    }

    /// Copies data to the devices, and waits.
    ///
    /// # Errors
    /// If a buffer does not fit the plan, or a device fails.
    pub fn upload<S: Source<T> + ?Sized>(&self, data: &S, arrays: &mut SlabArrays<T>) -> Result<(), PlanError> {
        self.put(data.source(&self.layouts[0])?, arrays, |cut, device| cut.data_piece(device).into_iter().collect())
    }

    /// Copies coefficients to the devices, and waits.
    ///
    /// # Errors
    /// As for [`Slabs::upload`].
    pub fn upload_coefficients<S>(&self, coefficients: &S, arrays: &mut SlabArrays<T>) -> Result<(), PlanError>
    where
        S: Source<T> + ?Sized,
    {
        self.put(coefficients.source(&self.layouts[1])?, arrays, Cut::coefficient_pieces)
    }

    /// Copies data from the devices, after all work on them.
    ///
    /// # Errors
    /// As for [`Slabs::upload`].
    pub fn download<D>(&self, arrays: &mut SlabArrays<T>, data: &mut D) -> Result<(), PlanError>
    where
        D: Target<T> + ?Sized,
    {
        self.get(arrays, data.target(&self.layouts[0])?, |cut, device| cut.data_piece(device).into_iter().collect())
    }

    /// Copies coefficients from the devices, after all work on them.
    ///
    /// # Errors
    /// As for [`Slabs::upload`].
    pub fn download_coefficients<D>(&self, arrays: &mut SlabArrays<T>, coefficients: &mut D) -> Result<(), PlanError>
    where
        D: Target<T> + ?Sized,
    {
        self.get(arrays, coefficients.target(&self.layouts[1])?, Cut::coefficient_pieces)
    }

    /// Data that a device owns, in its array; `None` if it owns none.
    ///
    /// # Panics
    /// If there is no such device.
    pub fn data(&self, arrays: &SlabArrays<T>, device: usize) -> Option<SlabPart> {
        self.cut.data_piece(device).map(|piece| self.part(arrays, piece))
    }

    /// Coefficients that a device owns, by band.
    ///
    /// # Panics
    /// If there is no such device.
    pub fn coefficients(&self, arrays: &SlabArrays<T>, device: usize) -> Vec<SlabPart> {
        self.cut.coefficient_pieces(device).into_iter().map(|piece| self.part(arrays, piece)).collect()
    }

    fn part(&self, arrays: &SlabArrays<T>, piece: Piece) -> SlabPart {
        let Piece { place, shape, offset, step, name } = piece;
        let strides = contiguous(self.shape(place.stage, place.device, place.side));
        let slot = arrays.slots[place.stage][place.device].as_ref().expect("a device with rows has a slab");
        let start: isize = place.at.iter().zip(&strides).map(|(at, stride)| *at as isize * stride).sum();
        let address = slot.address(place.side) + (start as usize * size_of::<T>()) as u64;
        SlabPart { name, address, shape, strides, offset, step }
    }

    /// Pieces of a device, by array.
    fn by_array(&self, device: usize, pieces: Vec<Piece>) -> Vec<((usize, Side), Vec<Piece>)> {
        let mut arrays: Vec<((usize, Side), Vec<Piece>)> = Vec::new();
        for piece in pieces {
            debug_assert_eq!(piece.place.device, device);
            let key = (piece.place.stage, piece.place.side);
            match arrays.iter_mut().find(|(other, _)| *other == key) {
                Some((_, pieces)) => pieces.push(piece),
                None => arrays.push((key, vec![piece])),
            }
        }
        arrays
    }

    /// Copies parts of a host array to the devices.
    fn put(
        &self,
        view: RawView<T>,
        arrays: &mut SlabArrays<T>,
        pieces: impl Fn(&Cut, usize) -> Vec<Piece>,
    ) -> Result<(), PlanError> {
        self.check(arrays)?;
        for device in 0..self.devices.len() {
            for ((stage, side), pieces) in self.by_array(device, pieces(&self.cut, device)) {
                let strides = contiguous(self.shape(stage, device, side));
                arrays.edit(stage, device, side, self.shape(stage, device, side), |local| {
                    for Piece { place, shape, offset, step, .. } in &pieces {
                        let from = strides_of(&view.strides, step);
                        let mut walk = Walk::new(shape, (&vec![0; shape.len()], &from), (&place.at, &strides));
                        walk.from = start_of(&view.strides, offset);
                        // SAFETY: a part of a checked view, and a box within the slab.
                        unsafe { walk.copy(view.ptr, local.as_mut_ptr()) };
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Copies parts of a host array from the devices.
    fn get(
        &self,
        arrays: &mut SlabArrays<T>,
        view: RawViewMut<T>,
        pieces: impl Fn(&Cut, usize) -> Vec<Piece>,
    ) -> Result<(), PlanError> {
        self.check(arrays)?;
        for device in 0..self.devices.len() {
            for ((stage, side), pieces) in self.by_array(device, pieces(&self.cut, device)) {
                let strides = contiguous(self.shape(stage, device, side));
                arrays.show(stage, device, side, self.shape(stage, device, side), |local| {
                    for Piece { place, shape, offset, step, .. } in &pieces {
                        let to = strides_of(&view.strides, step);
                        let mut walk = Walk::new(shape, (&place.at, &strides), (&vec![0; shape.len()], &to));
                        walk.to = start_of(&view.strides, offset);
                        // SAFETY: as above.
                        unsafe { walk.copy(local.as_ptr(), view.ptr) };
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Runs a transform of host data with arrays of its own.
    fn hosted(&self, run: impl FnOnce(&mut SlabArrays<T>) -> Result<(), PlanError>) -> Result<(), PlanError> {
        let idle = || self.idle.lock().unwrap_or_else(|e| e.into_inner());
        let found = idle().pop();
        let mut arrays = found.map_or_else(|| self.arrays(), Ok)?;
        run(&mut arrays)?;
        idle().push(arrays);
        Ok(())
    }

    /// Executor of the whole problem on the first device.
    fn whole(&self) -> Result<&dyn Executor<T>, PlanError> {
        let make = || {
            let [data, coefficients] = &self.layouts;
            T::executor(&self.devices[0], &self.problem, [data, coefficients], &self.planning)
        };
        self.whole.get_or_init(make).as_ref().map(|whole| &**whole).map_err(PlanError::clone)
    }
}

/// Strides of every `step`th sample.
fn strides_of(strides: &[isize], step: &[usize]) -> Vec<isize> {
    strides.iter().zip(step).map(|(stride, step)| stride * *step as isize).collect()
}

/// Offset of the sample with these indices.
fn start_of(strides: &[isize], offset: &[usize]) -> isize {
    strides.iter().zip(offset).map(|(stride, at)| stride * *at as isize).sum()
}

impl<T: Sample> SlabArrays<T> {
    /// Waits for all work on the arrays.
    ///
    /// # Errors
    /// If a device has failed.
    pub fn synchronize(&self) -> Result<(), PlanError> {
        #[cfg(feature = "cuda")]
        for lane in self.lanes.iter().flatten() {
            lane.synchronize()?;
        }
        Ok(())
    }

    /// An array in host memory.
    fn host(&mut self, stage: usize, device: usize, side: Side) -> &mut [T] {
        match (self.slots[stage][device].as_mut(), side) {
            (Some(Slot::Host { data, .. }), Side::Data) => data,
            (Some(Slot::Host { coefficients, .. }), Side::Coefficients) => coefficients,
            _ => &mut [],
        }
    }

    /// Fills parts of an array.
    fn edit(
        &mut self,
        stage: usize,
        device: usize,
        side: Side,
        shape: &[usize],
        fill: impl FnOnce(&mut [T]),
    ) -> Result<(), PlanError> {
        #[cfg(feature = "cuda")]
        if let (Some(slot), Some(lane)) = (&self.slots[stage][device], &self.lanes[device])
            && let Some(array) = slot.peer(side)
        {
            let mut local = vec![T::default(); shape.iter().product()];
            fill(&mut local);
            return Ok(lane.write(local.as_bytes(), array)?);
        }
        let _ = shape;
        fill(self.host(stage, device, side));
        Ok(())
    }

    /// Reads an array, after all work on it.
    fn show(
        &mut self,
        stage: usize,
        device: usize,
        side: Side,
        shape: &[usize],
        read: impl FnOnce(&[T]),
    ) -> Result<(), PlanError> {
        #[cfg(feature = "cuda")]
        if let (Some(slot), Some(lane)) = (&self.slots[stage][device], &self.lanes[device])
            && let Some(array) = slot.peer(side)
        {
            let mut local = vec![T::default(); shape.iter().product()];
            lane.read(array, local.as_mut_bytes())?;
            read(&local);
            return Ok(());
        }
        let _ = shape;
        read(self.host(stage, device, side));
        Ok(())
    }
}

impl<T: Sample> Slot<T> {
    /// An array on a CUDA device.
    #[cfg(feature = "cuda")]
    fn peer(&self, side: Side) -> Option<&PeerArray> {
        match (self, side) {
            (Slot::Cuda { data, .. }, Side::Data) => Some(data),
            (Slot::Cuda { coefficients, .. }, Side::Coefficients) => Some(coefficients),
            _ => None,
        }
    }

    fn address(&self, side: Side) -> u64 {
        #[cfg(feature = "cuda")]
        if let Some(array) = self.peer(side) {
            return array.address();
        }
        match (self, side) {
            (Slot::Host { data, .. }, Side::Data) => data.as_ptr() as u64,
            (Slot::Host { coefficients, .. }, Side::Coefficients) => coefficients.as_ptr() as u64,
            #[cfg(feature = "cuda")]
            _ => 0,
        }
    }
}

impl<T: Sample> Executor<T> for Slabs<T> {
    fn workspace_size(&self) -> WorkspaceSize {
        WorkspaceSize::default()
    }

    fn workspace_bytes(&self) -> usize {
        self.executors.iter().flatten().flatten().map(|executor| executor.workspace_bytes()).sum()
    }

    fn passes(&self) -> Vec<Pass> {
        self.executors.iter().filter_map(|stage| stage[0].as_ref()).flat_map(|first| first.passes()).collect()
    }

    fn choices(&self) -> Vec<Choice> {
        self.executors.iter().filter_map(|stage| stage[0].as_ref()).flat_map(|first| first.choices()).collect()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    unsafe fn forward(&self, src: RawView<T>, dst: RawViewMut<T>, _: &mut Workspace<T>) -> Result<(), PlanError> {
        self.hosted(|arrays| {
            self.put(src, arrays, |cut, device| cut.data_piece(device).into_iter().collect())?;
            Slabs::forward(self, arrays)?;
            self.get(arrays, dst, Cut::coefficient_pieces)
        })
    }

    unsafe fn forward_in_place(&self, data: RawViewMut<T>, workspace: &mut Workspace<T>) -> Result<(), PlanError> {
        // SAFETY: all data is on the devices before a coefficient is written.
        unsafe { Executor::forward(self, data.as_const(), data, workspace) }
    }

    unsafe fn inverse(
        &self,
        level: u32,
        src: RawView<T>,
        dst: RawViewMut<T>,
        _: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        if level > 0 {
            // SAFETY: passed on from the caller.
            return self.alone(|whole, own| unsafe { whole.inverse(level, src, dst, own) });
        }
        self.hosted(|arrays| {
            self.put(src, arrays, Cut::coefficient_pieces)?;
            Slabs::inverse(self, arrays)?;
            self.get(arrays, dst, |cut, device| cut.data_piece(device).into_iter().collect())
        })
    }

    unsafe fn adjoint(
        &self,
        of: Direction,
        src: RawView<T>,
        dst: RawViewMut<T>,
        _: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        // SAFETY: passed on from the caller.
        self.alone(|whole, own| unsafe { whole.adjoint(of, src, dst, own) })
    }

    unsafe fn inverse_in_place(&self, data: RawViewMut<T>, workspace: &mut Workspace<T>) -> Result<(), PlanError> {
        // SAFETY: as for analysis in place.
        unsafe { Executor::inverse(self, 0, data.as_const(), data, workspace) }
    }
}

impl<T: Sample> Slabs<T> {
    /// Runs a transform that is not shared, on the first device.
    fn alone(
        &self,
        run: impl FnOnce(&dyn Executor<T>, &mut Workspace<T>) -> Result<(), PlanError>,
    ) -> Result<(), PlanError> {
        let whole = self.whole()?;
        let mut own = Workspace::lazy(whole.workspace_size());
        own.fill()?;
        run(whole, &mut own)
    }
}
