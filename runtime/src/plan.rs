//! Plans: made once, executed many times, from any thread.

use crate::data::{Expected, Source, Target};
use crate::error::PlanError;
use crate::exec::slabs::Slabs;
use crate::exec::spare::Spares;
use crate::exec::{Executor, Workspace};
use crate::sample::Sample;
use crate::subband::{Subband, Tile};
use lifting_dsl::Direction;
use lifting_dsl::geometry::{Band, Geometry};
use lifting_planner::{Part, Problem, Recipe};
use std::sync::Arc;

/// Placeholder for the sample type of a builder before `.sample::<T>()`.
#[derive(Clone, Copy, Debug)]
pub struct Unsampled(());

/// A multi-level transform of arrays of one shape and sample type, checked and prepared.
///
/// Immutable, `Send + Sync`, cheap to clone. Execution is out of place ([`Plan::forward`]) or in place
/// ([`Plan::forward_in_place`]). Methods that end in `_with` take a [`Workspace`] and allocate nothing themselves. The
/// others use a workspace that an earlier execution left, if there is one ([`crate::clear_workspaces`]).
///
/// ```
/// use lifting::{Device, Plan, catalogue};
///
/// let wavelet = catalogue::find("legall53")?;
/// let plan = Plan::builder(&wavelet).shape(&[4, 6]).levels(2).sample::<i16>().build(&Device::cpu())?;
///
/// let image: Vec<i16> = (0..24).collect();
/// let mut coefficients = vec![0; 24];
/// plan.forward(&image, &mut coefficients)?;
///
/// let mut back = vec![0; 24];
/// plan.inverse(&coefficients, &mut back)?;
/// assert_eq!(back, image);
///
/// let names: Vec<_> = plan.subbands().map(|band| band.name).collect();
/// assert_eq!(names, ["LL2", "HL2", "LH2", "HH2", "HL1", "LH1", "HH1"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Plan<T = Unsampled>(Arc<Inner<T>>);

pub(crate) struct Inner<T> {
    pub problem: Arc<Problem>,
    pub executor: Box<dyn Executor<T>>,
    pub data: Expected,
    pub coefficients: Expected,
    /// Low bands of all levels; 0 is the whole array.
    pub lows: Vec<Expected>,
    pub recipe: Recipe,
    pub spare: Box<dyn Spares<T>>,
}

impl<T> Clone for Plan<T> {
    fn clone(&self) -> Plan<T> {
        Plan(self.0.clone())
    }
}

impl<T> std::fmt::Debug for Plan<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Plan").field(&self.0.recipe).finish()
    }
}

impl<T: Sample> Plan<T> {
    pub(crate) fn from_inner(inner: Inner<T>) -> Plan<T> {
        Plan(Arc::new(inner))
    }

    #[cfg(test)]
    pub(crate) fn inner(&self) -> &Inner<T> {
        &self.0
    }

    /// Shape of the data.
    pub fn shape(&self) -> &[usize] {
        &self.0.problem.source_shape
    }

    /// Shape of the coefficients: that of the data, unless the plan pads.
    pub fn coefficient_shape(&self) -> &[usize] {
        self.0.problem.geometry.shape()
    }

    pub(crate) fn geometry(&self) -> &Geometry {
        &self.0.problem.geometry
    }

    /// Number of levels, the maximum over the axes.
    pub fn depth(&self) -> u32 {
        self.0.problem.geometry.depth()
    }

    /// Shape of the low band after `level` levels; level 0 is the coefficients' own shape.
    ///
    /// # Errors
    /// If the plan has no such level.
    pub fn level_shape(&self, level: u32) -> Result<&[usize], PlanError> {
        Ok(&self.low(level)?.shape)
    }

    /// Length of a plain slice of data, in samples: exact, or a minimum if strides leave gaps.
    pub fn len(&self) -> usize {
        self.0.data.span
    }

    /// Whether there are no samples; never true, as every axis has at least one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Length of a plain slice of coefficients, in samples: exact, or a minimum if strides leave gaps.
    pub fn coefficient_len(&self) -> usize {
        self.0.coefficients.span
    }

    /// Sub-bands of the coefficients, coarsest first, with their places in a plain slice. With tiles, they are those of
    /// the first tile ([`Plan::tiles`] has all).
    pub fn subbands(&self) -> impl ExactSizeIterator<Item = Subband> + '_ {
        let Inner { problem, coefficients, .. } = &*self.0;
        let first = problem.tile.as_ref().map(|tile| {
            let lengths = tile.iter().zip(problem.geometry.shape()).map(|(&tile, &n)| tile.min(n));
            problem.tile_geometry(&lengths.collect::<Vec<_>>()).expect("the tiles were checked")
        });
        let bands = first.as_ref().unwrap_or(&problem.geometry).bands(problem.layout).into_iter();
        bands.map(|band| Subband::new(band, coefficients.start, &coefficients.strides))
    }

    /// The sub-band with that name.
    pub fn subband(&self, name: &str) -> Option<Subband> {
        self.subbands().find(|band| band.name == name)
    }

    /// Tiles of [`PlanBuilder::tile`] with their sub-bands, grouped by shape, full tiles first. A plan without tiles
    /// has one, the whole array.
    pub fn tiles(&self) -> impl Iterator<Item = Tile> + '_ {
        self.tile_parts().flat_map(move |(part, bands)| {
            let starts = part.starts().collect::<Vec<_>>();
            starts.into_iter().map(move |offset| self.tile(&part, &bands, offset))
        })
    }

    /// The first tile of each shape, in the order of [`Plan::tiles`]: at most 2^axes of them, however many tiles there
    /// are.
    pub fn first_tiles(&self) -> impl Iterator<Item = Tile> + '_ {
        self.tile_parts().filter_map(|(part, bands)| {
            let first = part.starts().next()?;
            Some(self.tile(&part, &bands, first))
        })
    }

    /// Tiles of one shape, and their sub-bands.
    fn tile_parts(&self) -> impl Iterator<Item = (Part, Vec<Band>)> + '_ {
        let problem = &self.0.problem;
        let parts = problem.parts().expect("the tiles were checked").unwrap_or_else(|| vec![Part::whole(problem)]);
        parts.into_iter().map(move |part| {
            let geometry = problem.tile_geometry(&part.shape).expect("the tiles were checked");
            (part, geometry.bands(problem.layout))
        })
    }

    fn tile(&self, part: &Part, bands: &[Band], offset: Vec<usize>) -> Tile {
        let coefficients = &self.0.coefficients;
        let at = offset.iter().zip(&coefficients.strides).map(|(&o, &s)| o as isize * s).sum();
        let start = coefficients.start.wrapping_add_signed(at);
        let own = |band: &Band| {
            let subband = Subband::new(band.clone(), start, &coefficients.strides);
            let offset = subband.offset.iter().zip(&offset).map(|(own, tile)| own + tile).collect();
            Subband { offset, ..subband }
        };
        Tile { shape: part.shape.clone(), subbands: bands.iter().map(own).collect(), offset }
    }

    /// Condition of the borders: the product of the axes' [conditions](lifting_dsl::Scheme::condition), of the worst
    /// tile. 1 to 20 if the border rule suits the wavelet, many thousands if it does not: coefficients at the borders
    /// are then as many times as large as elsewhere, and so are rounding errors.
    pub fn condition(&self) -> f64 {
        let of = |problem: &Problem| -> f64 {
            let Problem { scheme, boundary, geometry, .. } = problem;
            if problem.is_mixed() {
                let level = |level: u32| -> f64 {
                    let (shape, origins) = (geometry.level_shape(level), geometry.level_origins(level));
                    let of_axis = |axis: usize| {
                        let (scheme, boundary) = problem.wavelet(axis, level);
                        scheme.condition(boundary, shape[axis], origins[axis], 1)
                    };
                    geometry.axes_at(level).into_iter().map(of_axis).product()
                };
                return (0..geometry.depth()).map(level).product();
            }
            let axes = geometry.shape().iter().zip(geometry.origins()).zip(geometry.levels());
            axes.map(|((&length, &origin), &levels)| scheme.condition(*boundary, length, origin, levels)).product()
        };
        let problem = &self.0.problem;
        match problem.parts().expect("the tiles were checked") {
            Some(parts) => parts.iter().map(|part| of(&part.problem)).fold(1.0, f64::max),
            None => of(problem),
        }
    }

    /// Recipe: a description of the plan as data.
    pub fn recipe(&self) -> &Recipe {
        &self.0.recipe
    }

    /// The plan on device memory: slices, raw addresses and streams of its CUDA device.
    ///
    /// # Errors
    /// If the plan is for another device.
    #[cfg(feature = "cuda")]
    pub fn cuda(&self) -> Result<&crate::cuda::CudaPlan<T>, PlanError> {
        let not_cuda = || crate::cuda::CudaError::NotCuda { device: self.0.recipe.device.clone() };
        Ok(self.0.executor.as_any().and_then(|executor| executor.downcast_ref()).ok_or_else(not_cuda)?)
    }

    /// The plan on device memory: buffers and queues of its OpenCL device.
    ///
    /// # Errors
    /// If the plan is for another device.
    #[cfg(feature = "opencl")]
    pub fn opencl(&self) -> Result<&crate::opencl::OpenClPlan<T>, PlanError> {
        let other = || crate::opencl::OpenClError::NotOpenCl { device: self.0.recipe.device.clone() };
        Ok(self.0.executor.as_any().and_then(|executor| executor.downcast_ref()).ok_or_else(other)?)
    }

    /// The plan on arrays that several devices share.
    ///
    /// # Errors
    /// If the plan is for one device.
    pub fn slabs(&self) -> Result<&Slabs<T>, PlanError> {
        let alone = || PlanError::SeveralDevices {
            reason: format!("the plan is for one, {}: build it with `Device::several`", self.0.recipe.device),
        };
        self.0.executor.as_any().and_then(|executor| executor.downcast_ref()).ok_or_else(alone)
    }

    /// Time of a transform, on a device whose time can be measured.
    pub(crate) fn microseconds(&self, direction: Direction) -> Option<Result<f64, PlanError>> {
        self.0.executor.microseconds(direction)
    }

    /// Size in bytes of the scratch memory that an execution needs; device memory on a CUDA device.
    pub fn workspace_bytes(&self) -> usize {
        self.0.executor.workspace_bytes()
    }

    /// Scratch for one execution at a time. Make one per thread, and reuse it with the methods that end in `_with`.
    pub fn workspace(&self) -> Workspace<T> {
        Workspace::new(self.0.executor.workspace_size())
    }

    /// Runs work with a workspace that an earlier execution left, or with one that `work` allocates.
    fn lend<R>(&self, work: impl FnOnce(&mut Workspace<T>) -> R) -> R {
        self.0.spare.get().with(|| Workspace::lazy(self.0.executor.workspace_size()), work)
    }

    /// Analysis: data to coefficients.
    ///
    /// # Errors
    /// If a buffer does not fit the plan; nothing is written then.
    pub fn forward<S, D>(&self, src: &S, dst: &mut D) -> Result<(), PlanError>
    where
        S: Source<T> + ?Sized,
        D: Target<T> + ?Sized,
    {
        self.lend(|workspace| self.forward_with(src, dst, workspace))
    }

    /// [`Plan::forward`] with a workspace of this plan.
    ///
    /// # Errors
    /// As for [`Plan::forward`], and if the workspace is another plan's.
    pub fn forward_with<S, D>(&self, src: &S, dst: &mut D, workspace: &mut Workspace<T>) -> Result<(), PlanError>
    where
        S: Source<T> + ?Sized,
        D: Target<T> + ?Sized,
    {
        self.check(workspace)?;
        let (src, dst) = (src.source(&self.0.data)?, dst.target(&self.0.coefficients)?);
        workspace.fill()?;
        // SAFETY: checked views of a shared and of an exclusive borrow, which cannot overlap.
        unsafe { self.0.executor.forward(src, dst, workspace) }
    }

    /// Synthesis: coefficients to data, undoing [`Plan::forward`].
    ///
    /// # Errors
    /// If a buffer does not fit the plan; nothing is written then.
    pub fn inverse<S, D>(&self, src: &S, dst: &mut D) -> Result<(), PlanError>
    where
        S: Source<T> + ?Sized,
        D: Target<T> + ?Sized,
    {
        self.lend(|workspace| self.inverse_with(src, dst, workspace))
    }

    /// [`Plan::inverse`] with a workspace of this plan.
    ///
    /// # Errors
    /// As for [`Plan::inverse`], and if the workspace is another plan's.
    pub fn inverse_with<S, D>(&self, src: &S, dst: &mut D, workspace: &mut Workspace<T>) -> Result<(), PlanError>
    where
        S: Source<T> + ?Sized,
        D: Target<T> + ?Sized,
    {
        self.synthesise(0, &self.0.data, src, dst, workspace)
    }

    /// Synthesises only up to `level`: a picture at reduced resolution, of shape [`Plan::level_shape`], contiguous if
    /// `dst` is a plain slice. Level 0 is [`Plan::inverse`].
    ///
    /// ```
    /// use lifting::{Device, Plan, catalogue};
    /// # let wavelet = catalogue::find("legall53")?;
    /// let plan = Plan::builder(&wavelet).shape(&[100, 61]).levels(3).sample::<i32>().build(&Device::cpu())?;
    /// # let coefficients = vec![0; 6100];
    /// let mut half = vec![0; 50 * 31];
    /// plan.inverse_to(1, &coefficients, &mut half)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the plan lacks this level, or a buffer does not fit.
    pub fn inverse_to<S, D>(&self, level: u32, src: &S, dst: &mut D) -> Result<(), PlanError>
    where
        S: Source<T> + ?Sized,
        D: Target<T> + ?Sized,
    {
        self.lend(|workspace| self.inverse_to_with(level, src, dst, workspace))
    }

    /// [`Plan::inverse_to`] with a workspace of this plan.
    ///
    /// # Errors
    /// As for [`Plan::inverse_to`], and if the workspace is another plan's.
    pub fn inverse_to_with<S, D>(
        &self,
        level: u32,
        src: &S,
        dst: &mut D,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError>
    where
        S: Source<T> + ?Sized,
        D: Target<T> + ?Sized,
    {
        let expected = if level == 0 { &self.0.data } else { self.low(level)? };
        self.synthesise(level, expected, src, dst, workspace)
    }

    /// Analyses in place.
    ///
    /// # Errors
    /// If the data does not fit the plan, or the plan pads.
    pub fn forward_in_place<D: Target<T> + ?Sized>(&self, data: &mut D) -> Result<(), PlanError> {
        self.lend(|workspace| self.forward_in_place_with(data, workspace))
    }

    /// [`Plan::forward_in_place`] with a workspace of this plan.
    ///
    /// # Errors
    /// As for [`Plan::forward_in_place`], and if the workspace is another plan's.
    pub fn forward_in_place_with<D>(&self, data: &mut D, workspace: &mut Workspace<T>) -> Result<(), PlanError>
    where
        D: Target<T> + ?Sized,
    {
        self.check_in_place(workspace)?;
        let data = data.target(&self.0.coefficients)?;
        workspace.grow(self.0.executor.in_place_size())?;
        // SAFETY: a checked view of an exclusive borrow.
        unsafe { self.0.executor.forward_in_place(data, workspace) }
    }

    /// Synthesises in place.
    ///
    /// # Errors
    /// If the data does not fit the plan, or the plan pads.
    pub fn inverse_in_place<D: Target<T> + ?Sized>(&self, data: &mut D) -> Result<(), PlanError> {
        self.lend(|workspace| self.inverse_in_place_with(data, workspace))
    }

    /// [`Plan::inverse_in_place`] with a workspace of this plan.
    ///
    /// # Errors
    /// As for [`Plan::inverse_in_place`], and if the workspace is another plan's.
    pub fn inverse_in_place_with<D>(&self, data: &mut D, workspace: &mut Workspace<T>) -> Result<(), PlanError>
    where
        D: Target<T> + ?Sized,
    {
        self.check_in_place(workspace)?;
        let data = data.target(&self.0.coefficients)?;
        workspace.grow(self.0.executor.in_place_size())?;
        // SAFETY: a checked view of an exclusive borrow.
        unsafe { self.0.executor.inverse_in_place(data, workspace) }
    }

    /// The adjoint (transpose) T* of [`Plan::forward`], T: takes the gradient of a function of the coefficients back to
    /// the data. So ⟨T x, y⟩ = ⟨x, T* y⟩ up to rounding, under every border rule. Real wavelets only. All devices give
    /// the same bits.
    ///
    /// ```
    /// use lifting::{Device, Plan, catalogue};
    ///
    /// let wavelet = catalogue::find("cdf97")?;
    /// let plan = Plan::builder(&wavelet).shape(&[5, 7]).levels(2).sample::<f64>().build(&Device::cpu())?;
    /// let x: Vec<f64> = (0..35).map(f64::from).collect();
    /// let y: Vec<f64> = x.iter().map(|v| (v * 0.7).sin()).collect();
    /// let (mut tx, mut ty) = (vec![0.0; 35], vec![0.0; 35]);
    /// plan.forward(&x, &mut tx)?;
    /// plan.adjoint(&y, &mut ty)?;
    /// let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    /// assert!((dot(&tx, &y) - dot(&x, &ty)).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the wavelet is an integer one, the plan pads, or a buffer does not fit.
    pub fn adjoint<S, D>(&self, src: &S, dst: &mut D) -> Result<(), PlanError>
    where
        S: Source<T> + ?Sized,
        D: Target<T> + ?Sized,
    {
        self.lend(|workspace| self.adjoint_with(src, dst, workspace))
    }

    /// [`Plan::adjoint`] with a workspace of this plan.
    ///
    /// # Errors
    /// As for [`Plan::adjoint`], and if the workspace is another plan's.
    pub fn adjoint_with<S, D>(&self, src: &S, dst: &mut D, workspace: &mut Workspace<T>) -> Result<(), PlanError>
    where
        S: Source<T> + ?Sized,
        D: Target<T> + ?Sized,
    {
        self.check_adjoint(workspace)?;
        let (src, dst) = (src.source(&self.0.coefficients)?, dst.target(&self.0.data)?);
        workspace.fill()?;
        // SAFETY: checked views of a shared and of an exclusive borrow, which cannot overlap.
        unsafe { self.0.executor.adjoint(Direction::Forward, src, dst, workspace) }
    }

    /// The adjoint (transpose) of [`Plan::inverse`]: takes the gradient of a function of the data back to the
    /// coefficients.
    ///
    /// # Errors
    /// As for [`Plan::adjoint`].
    pub fn inverse_adjoint<S, D>(&self, src: &S, dst: &mut D) -> Result<(), PlanError>
    where
        S: Source<T> + ?Sized,
        D: Target<T> + ?Sized,
    {
        self.lend(|workspace| self.inverse_adjoint_with(src, dst, workspace))
    }

    /// [`Plan::inverse_adjoint`] with a workspace of this plan.
    ///
    /// # Errors
    /// As for [`Plan::inverse_adjoint`], and if the workspace is another plan's.
    pub fn inverse_adjoint_with<S, D>(
        &self,
        src: &S,
        dst: &mut D,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError>
    where
        S: Source<T> + ?Sized,
        D: Target<T> + ?Sized,
    {
        self.check_adjoint(workspace)?;
        let (src, dst) = (src.source(&self.0.data)?, dst.target(&self.0.coefficients)?);
        workspace.fill()?;
        // SAFETY: checked views of a shared and of an exclusive borrow, which cannot overlap.
        unsafe { self.0.executor.adjoint(Direction::Inverse, src, dst, workspace) }
    }

    /// The executor, for callers that check views and workspaces themselves.
    pub(crate) fn executor(&self) -> &dyn Executor<T> {
        &*self.0.executor
    }

    fn check_adjoint(&self, workspace: &Workspace<T>) -> Result<(), PlanError> {
        self.0.problem.check_adjoint()?;
        self.check(workspace)
    }

    fn synthesise<S, D>(
        &self,
        level: u32,
        expected: &Expected,
        src: &S,
        dst: &mut D,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError>
    where
        S: Source<T> + ?Sized,
        D: Target<T> + ?Sized,
    {
        self.check(workspace)?;
        let (src, dst) = (src.source(&self.0.coefficients)?, dst.target(expected)?);
        workspace.fill()?;
        // SAFETY: checked views of a shared and of an exclusive borrow, which cannot overlap.
        unsafe { self.0.executor.inverse(level, src, dst, workspace) }
    }

    fn low(&self, level: u32) -> Result<&Expected, PlanError> {
        let missing = || PlanError::NoSuchLevel { level, depth: self.depth() };
        self.0.lows.get(level as usize).ok_or_else(missing)
    }

    fn check(&self, workspace: &Workspace<T>) -> Result<(), PlanError> {
        if workspace.size == self.0.executor.workspace_size() { Ok(()) } else { Err(PlanError::ForeignWorkspace) }
    }

    fn check_in_place(&self, workspace: &Workspace<T>) -> Result<(), PlanError> {
        if self.0.problem.pads() {
            let padded = self.coefficient_shape().to_vec();
            return Err(PlanError::PaddedInPlace { shape: self.shape().to_vec(), padded });
        }
        self.check(workspace)
    }
}
