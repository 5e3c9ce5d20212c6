//! Expansive levels: one level that keeps every coefficient that depends on the data, like PyWavelets' modes.
//!
//! On CPUs this module extends the array and passes it to an ordinary plan. On other devices plans do both, and
//! [`Expansive::cuda`] executes them on a device's memory.

mod adjoint;
mod by_axis;
mod extend;

use crate::data::{Expected, RawView, RawViewMut, Source, Target, contiguous};
use crate::device::Device;
use crate::error::PlanError;
use crate::exec::{Joins, Workspace, WorkspaceSize};
use crate::plan::Plan;
use crate::sample::Sample;
use by_axis::ByAxis;
use extend::{Margin, margins};
use lifting_dsl::extension::{Extension, Window};
use lifting_dsl::geometry::GeometryError;
use lifting_dsl::{Boundary, Direction, Domain, Scheme};
use lifting_planner::Extended;

/// One level of a real wavelet along some axes of arrays of one shape, extended beyond their ends by an [`Extension`].
///
/// Along each transformed axis of n samples, a band has ⌊(n + L − 1)/2⌋ coefficients for filters of L taps
/// ([`Scheme::filter_length`]). They are those of PyWavelets' `dwt` in the mode of the same name. In
/// [`Extension::Periodization`] a band has ⌈n/2⌉. The array is extended (defined by [`lifting_dsl::oracle::Expansive`])
/// and transformed by a plan; the bands are windows of the result.
///
/// ```
/// use lifting::{Device, Expansive, Extension, catalogue};
///
/// let wavelet = catalogue::find("db2")?;
/// let (length, modes) = (wavelet.filter_length(), [Some(Extension::Symmetric)]);
/// let dwt = Expansive::<f64>::new(&wavelet, length, &[6], &modes, &Device::cpu())?;
/// let mut scratch = vec![0.0; dwt.extended_len()];
/// let mut coefficients = vec![0.0; dwt.extended_len()];
/// dwt.forward(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut coefficients, &mut scratch)?;
/// let [low, high] = [0, 1].map(|band| &coefficients[dwt.offsets(band)[0]..][..dwt.band_shape()[0]]);
/// assert_eq!(low.len(), 4); // ⌊(6 + 4 − 1)/2⌋
///
/// let mut back = vec![0.0; dwt.extended_len()];
/// dwt.inverse(&[Some(low), Some(high)], &mut back, &mut scratch)?;
/// let back = &back[dwt.first()[0]..][..6];
/// assert!(back.iter().zip(1..).all(|(x, i)| (x - f64::from(i)).abs() < 1e-12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Expansive<T: Sample> {
    /// Plan of the extended array on the CPU, of the data elsewhere.
    analysis: Plan<T>,
    synthesis: Plan<T>,
    /// Whether the device is the CPU.
    hosted: bool,
    /// Levels of one axis each, where the extended array would be many times the bands. The plans are then those of the
    /// first axis.
    by_axis: Option<Box<ByAxis<T>>>,
    /// Workspace size for both plans.
    size: WorkspaceSize,
    /// Extension samples before and after the data, for each axis.
    margins: Vec<Vec<Margin<T>>>,
    windows: Vec<Option<Window>>,
    /// Inner parts of the windows that synthesis needs.
    inner: Vec<Option<Window>>,
    shape: Vec<usize>,
    restored: Vec<usize>,
    band_shape: Vec<usize>,
    extended: Vec<usize>,
    strides: Vec<isize>,
}

impl<T: Sample> Expansive<T> {
    /// Makes a level for data of that shape. `filter_length` is the wavelet's [`Scheme::filter_length`], which takes
    /// longer to compute than everything else. `extensions` has an entry for each axis, `None` if it is not
    /// transformed.
    ///
    /// # Errors
    /// If the wavelet or the samples are integer, the filter length is odd or 0, an axis is empty, the number of axes
    /// is wrong, or there are more samples than the machine can index.
    pub fn new(
        scheme: &Scheme,
        filter_length: usize,
        shape: &[usize],
        extensions: &[Option<Extension>],
        device: &Device,
    ) -> Result<Expansive<T>, PlanError> {
        check(scheme, filter_length, shape, extensions)?;
        let window = |n: usize, rule| Window::new(scheme, rule, filter_length, n);
        Expansive::with(scheme, shape, extensions, device, window)
    }

    /// Makes a level for bands of that shape, if the data's shape is not known: it takes the largest that fits.
    ///
    /// # Errors
    /// As for [`Expansive::new`], and if the bands are shorter than any data gives.
    pub fn of_bands(
        scheme: &Scheme,
        filter_length: usize,
        band_shape: &[usize],
        extensions: &[Option<Extension>],
        device: &Device,
    ) -> Result<Expansive<T>, PlanError> {
        check(scheme, filter_length, band_shape, extensions)?;
        for (axis, (&n, rule)) in band_shape.iter().zip(extensions).enumerate() {
            if rule.is_some_and(|rule| rule != Extension::Periodization) && n < filter_length / 2 {
                let wavelet = scheme.name().to_owned();
                return Err(PlanError::ShortBand { wavelet, axis, length: n, needed: filter_length / 2 });
            }
        }
        let window = |n: usize, rule| Window::of_coefficients(scheme, rule, filter_length, n);
        Expansive::with(scheme, band_shape, extensions, device, window)
    }

    fn with(
        scheme: &Scheme,
        given: &[usize],
        extensions: &[Option<Extension>],
        device: &Device,
        window: impl Fn(usize, Extension) -> Option<Window>,
    ) -> Result<Expansive<T>, PlanError> {
        let too_large = || PlanError::TooLarge { shape: given.to_vec() };
        let mut windows: Vec<Option<Window>> = given
            .iter()
            .zip(extensions)
            .map(|(&n, rule)| rule.map(|rule| window(n, rule).ok_or_else(too_large)).transpose())
            .collect::<Result<_, _>>()?;
        if let (Some(Some(window)), Some(Some(rule))) = (windows.last_mut(), extensions.last())
            && *rule != Extension::Periodization
        {
            widen::<T>(window);
        }
        let hosted = matches!(device, Device::Cpu { .. });
        let by_axis = match hosted && by_axis::takes(&windows, given) {
            true => Some(Box::new(ByAxis::new(scheme, &windows, extensions, device)?)),
            false => None,
        };
        if by_axis.is_some() {
            windows.iter_mut().flatten().for_each(|window| *window = by_axis::cropped(window));
        }
        let inner: Vec<Option<Window>> =
            windows.iter().map(|window| window.map(|window| window.of_synthesis(scheme))).collect();
        let shapes = |of: fn(&Window) -> usize| lengths(&windows, given, of);
        let (extended, whole) = (shapes(Window::length), lengths(&inner, given, Window::length));
        let levels: Vec<u32> = windows.iter().map(|window| u32::from(window.is_some())).collect();
        let [shape, restored] = [shapes(|window| window.samples), shapes(|window| window.restored)];
        let band_shape = shapes(|window| window.coefficients);
        let plan = |shape: &[usize], data: &[usize]| {
            let builder = Plan::builder(scheme).shape(shape).levels_per_axis(&levels).boundary(Boundary::Periodic);
            let within = |(window, rule): (&Option<Window>, &Option<Extension>)| {
                window.zip(*rule).map(|(window, rule)| Extended { first: window.first(), rule, is_adjoint: false })
            };
            let builder = match hosted {
                true => builder,
                false => builder.extended(data, windows.iter().zip(extensions).map(within).collect()),
            };
            builder.sample::<T>().build(device)
        };
        let one = by_axis.as_ref().and_then(|by_axis| by_axis.first());
        let analysis = one.map_or_else(|| plan(&extended, &shape), |one| Ok(one.analysis.clone()))?;
        let synthesis = match hosted {
            _ if one.is_some() => analysis.clone(),
            true if whole == extended => analysis.clone(),
            true => plan(&whole, &whole)?,
            false if restored == shape => analysis.clone(),
            false => plan(&extended, &restored)?,
        };
        let size = match &by_axis {
            Some(by_axis) => by_axis.size(),
            None => analysis.executor().workspace_size().max(synthesis.executor().workspace_size()),
        };
        let margins = match &by_axis {
            Some(_) => Vec::new(),
            None => windows.iter().zip(extensions).map(|(window, &rule)| margins(window.as_ref(), rule)).collect(),
        };
        Ok(Expansive {
            size,
            by_axis,
            analysis,
            synthesis,
            hosted,
            shape,
            restored,
            band_shape,
            strides: contiguous(&extended),
            extended,
            margins,
            windows,
            inner,
        })
    }

    /// Shape of the data.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Shape of every band.
    pub fn band_shape(&self) -> &[usize] {
        &self.band_shape
    }

    /// Shape of the result arrays; results are windows of them.
    pub fn extended_shape(&self) -> &[usize] {
        &self.extended
    }

    /// Number of samples of such an array.
    pub fn extended_len(&self) -> usize {
        self.extended.iter().product()
    }

    /// Shape of the synthesised data: that of the data, or one more along odd axes.
    pub fn restored_shape(&self) -> &[usize] {
        &self.restored
    }

    /// Start of the result of [`Expansive::inverse`] within its array, for each axis.
    pub fn first(&self) -> Vec<usize> {
        self.windows.iter().map(|window| window.map_or(0, |w| w.first())).collect()
    }

    /// Number of bands: 2 to the power of the number of transformed axes.
    pub fn bands(&self) -> usize {
        1 << self.windows.iter().flatten().count()
    }

    /// Start of band number `band` within the result of [`Expansive::forward`]. The bits of the number, the highest for
    /// the first transformed axis, say along which axes the band is high.
    pub fn offsets(&self, band: usize) -> Vec<usize> {
        self.offsets_in(&self.windows, band)
    }

    fn offsets_in(&self, windows: &[Option<Window>], band: usize) -> Vec<usize> {
        let mut bit = self.bands();
        let mut offset = |window: &Option<Window>| {
            let Some(window) = window else { return 0 };
            bit /= 2;
            window.bands()[usize::from(band & bit != 0)]
        };
        windows.iter().map(&mut offset).collect()
    }

    /// Scratch for executions, in addition to the arrays.
    pub fn workspace(&self) -> Workspace<T> {
        Workspace::new(self.size)
    }

    /// Scratch that the first execution allocates, after it has checked its arrays.
    pub fn lazy_workspace(&self) -> Workspace<T> {
        Workspace::lazy(self.size)
    }

    /// Scratch in samples that analysis needs: none if axes are extended one by one. Adjoints of analysis need twice
    /// that.
    pub fn analysis_scratch_len(&self) -> usize {
        if self.by_axis.is_some() { 0 } else { self.extended_len() }
    }

    /// Samples in a line of a band.
    fn line(&self) -> usize {
        self.band_shape.last().copied().unwrap_or(0)
    }

    /// Scratch in samples that synthesis needs: a line of zeros if it reads bands in place.
    pub fn synthesis_scratch_len(&self) -> usize {
        match self.hosted {
            true if self.by_axis.is_some() => 0,
            true if self.joins().is_some() => self.line(),
            true => self.synthesis.len(),
            false => self.extended_len(),
        }
    }

    /// Analyses data. `coefficients` has [`Expansive::extended_len`] samples; only the windows of bands are meaningful.
    /// `scratch` has at least the same size.
    ///
    /// # Errors
    /// If an array is unsuitable.
    pub fn forward<S: Source<T> + ?Sized>(
        &self,
        data: &S,
        coefficients: &mut [T],
        scratch: &mut [T],
    ) -> Result<(), PlanError> {
        self.forward_with(data, coefficients, scratch, &mut self.lazy_workspace())
    }

    /// [`Expansive::forward`] with a workspace of this transform.
    ///
    /// # Errors
    /// As for [`Expansive::forward`], and if the workspace belongs to another transform.
    pub fn forward_with<S: Source<T> + ?Sized>(
        &self,
        data: &S,
        coefficients: &mut [T],
        scratch: &mut [T],
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        if let Some(by_axis) = &self.by_axis {
            return self.split_by_axis(by_axis, false, data, coefficients, workspace);
        }
        let expected = Expected::contiguous("the data", &self.shape)?;
        let view = data.source(&expected)?;
        let whole = Expected::contiguous("the coefficients", &self.extended)?;
        if !self.hosted {
            let target = coefficients.target(&whole)?;
            workspace.fill()?;
            // SAFETY: checked views, one of an exclusive borrow, and a workspace of the plan.
            return unsafe { self.analysis.executor().forward(view, target, workspace) };
        }
        let scratch = self.scratch(scratch, self.extended_len(), &self.extended, workspace)?;
        // SAFETY: a checked view of a shared borrow, of the data's shape.
        unsafe { self.fill(0, &view, 0, scratch) };
        self.extend(scratch);
        let (src, dst) = (scratch.source(&whole)?, coefficients.target(&whole)?);
        // SAFETY: checked views of exclusive borrows, and a workspace that is large enough.
        unsafe { self.analysis.executor().forward(src, dst, workspace) }
    }

    /// Synthesises bands in the order of their numbers; missing ones count as zero. `data` has
    /// [`Expansive::extended_len`] samples: the result is the window that starts at [`Expansive::first`] and has
    /// [`Expansive::restored_shape`]. `scratch` has at least [`Expansive::synthesis_scratch_len`] samples.
    ///
    /// # Errors
    /// If an array is unsuitable.
    pub fn inverse<S: Source<T> + ?Sized>(
        &self,
        bands: &[Option<&S>],
        data: &mut [T],
        scratch: &mut [T],
    ) -> Result<(), PlanError> {
        self.inverse_with(bands, data, scratch, &mut self.lazy_workspace())
    }

    /// [`Expansive::inverse`] with a workspace of this transform.
    ///
    /// # Errors
    /// As for [`Expansive::inverse`], and if the workspace belongs to another transform.
    pub fn inverse_with<S: Source<T> + ?Sized>(
        &self,
        bands: &[Option<&S>],
        data: &mut [T],
        scratch: &mut [T],
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        let views = self.views(bands)?;
        if let Some(by_axis) = &self.by_axis {
            return self.join_by_axis(by_axis, false, &views, data, workspace);
        }
        if !self.hosted {
            return self.inverse_on_device(&views, data, scratch, workspace);
        }
        let whole = self.synthesis.shape();
        let array = data.target(&Expected::contiguous("the data", &self.extended)?)?;
        let left = |window: &Option<Window>| window.map_or(0, |window| window.left);
        let skipped = self.windows.iter().zip(&self.inner).map(|(outer, inner)| left(outer) - left(inner));
        let at: usize = skipped.zip(&self.strides).map(|(n, &stride)| n * stride as usize).sum();
        let dst = RawViewMut::new(array.ptr.wrapping_add(at), whole, &self.strides);
        if let Some(joins) = self.joins() {
            let missing = views.iter().any(Option::is_none);
            let line = if missing { self.line() } else { 0 };
            let zeros = self.scratch(scratch, line, whole, workspace)?;
            zeros.fill(T::default());
            // A zero band is one line of zeros with stride 0.
            let mut strides = vec![0; whole.len()];
            strides[whole.len() - 1] = 1;
            let zeros = RawView::new(zeros.as_ptr(), &self.band_shape, &strides);
            let views: Vec<RawView<T>> = views.into_iter().map(|view| view.unwrap_or(zeros)).collect();
            // SAFETY: checked views of shared borrows, and of a part of an exclusive one; a zero band reads one line.
            unsafe { joins.join(&views, dst, workspace) };
            return Ok(());
        }
        let scratch = self.scratch(scratch, whole.iter().product(), whole, workspace)?;
        self.gather(&views, &self.inner, whole, scratch);
        let src = scratch.source(&Expected::contiguous("the scratch", whole)?)?;
        // SAFETY: checked views of exclusive borrows, and a workspace that is large enough.
        unsafe { self.synthesis.executor().inverse(0, src, dst, workspace) }
    }

    /// The level as a plan of the device, or `None` on a CPU. Analysis takes data of [`Expansive::shape`] to an array
    /// of [`Expansive::extended_shape`], which holds the bands as windows ([`Expansive::offsets`]). Synthesis takes
    /// such an array, with zeros around the bands, to [`Expansive::restored_shape`]. The plan is for arrays in a
    /// device's memory.
    pub fn device_plan(&self, direction: Direction) -> Option<&Plan<T>> {
        let plan = if direction == Direction::Forward { &self.analysis } else { &self.synthesis };
        (!self.hosted).then_some(plan)
    }

    /// View of the synthesised data within an array of extended shape.
    fn restored_view(&self, array: RawViewMut<T>) -> RawViewMut<T> {
        RawViewMut::new(array.ptr.wrapping_add(self.start_of_data()), &self.restored, &self.strides)
    }

    /// [`Expansive::inverse_with`] with the device's plan.
    fn inverse_on_device(
        &self,
        views: &[Option<RawView<T>>],
        data: &mut [T],
        scratch: &mut [T],
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        let whole = Expected::contiguous("the data", &self.extended)?;
        let array = data.target(&whole)?;
        let scratch = self.scratch(scratch, self.extended_len(), &self.extended, workspace)?;
        self.gather(views, &self.windows, &self.extended, scratch);
        let (src, dst) = (scratch.source(&whole)?, self.restored_view(array));
        // SAFETY: checked views of exclusive borrows, one of them of a part.
        unsafe { self.synthesis.executor().inverse(0, src, dst, workspace) }
    }

    /// The executor that reads bands in place, if synthesis needs no margins.
    fn joins(&self) -> Option<&dyn Joins<T>> {
        let alone = |window: &Window| window.left + window.right == 0;
        self.synthesis.executor().joins().filter(|_| self.inner.iter().flatten().all(alone))
    }

    /// The first `needed` samples of the scratch, for arrays of that shape, after a check of the workspace.
    fn scratch<'a>(
        &self,
        scratch: &'a mut [T],
        needed: usize,
        shape: &[usize],
        workspace: &mut Workspace<T>,
    ) -> Result<&'a mut [T], PlanError> {
        if workspace.size != self.size {
            return Err(PlanError::ForeignWorkspace);
        }
        let got = scratch.len();
        let short = || PlanError::TooShort { what: "the scratch", shape: shape.to_vec(), needed, got };
        let scratch = scratch.get_mut(..needed).ok_or_else(short)?;
        workspace.fill()?;
        Ok(scratch)
    }

    /// Checked views of bands.
    fn views<S: Source<T> + ?Sized>(&self, bands: &[Option<&S>]) -> Result<Vec<Option<RawView<T>>>, PlanError> {
        if bands.len() != self.bands() {
            return Err(PlanError::BandCount { expected: self.bands(), got: bands.len() });
        }
        let expected = Expected::contiguous("a band", &self.band_shape)?;
        bands.iter().map(|band| band.map(|band| band.source(&expected)).transpose()).collect()
    }

    /// Places bands in an array of that shape, with zeros elsewhere.
    fn gather(&self, bands: &[Option<RawView<T>>], windows: &[Option<Window>], shape: &[usize], array: &mut [T]) {
        let strides = contiguous(shape);
        if bands.iter().any(Option::is_none) {
            array.fill(T::default());
        } else {
            self.clear(0, windows, &strides, array);
        }
        for (band, view) in bands.iter().enumerate() {
            let Some(view) = view else { continue };
            let at = self.offsets_in(windows, band).iter().zip(&strides).map(|(&o, &s)| o * s as usize).sum();
            // SAFETY: a checked view of a shared borrow, as large as the window at that place.
            unsafe { place(0, view, view.ptr, at, &strides, array) };
        }
    }

    /// Offset of an axis' sample 0 in the extended array.
    fn start(&self, axis: usize) -> usize {
        self.windows[axis].map_or(0, |window| window.first()) * self.strides[axis] as usize
    }

    /// Offset of the data's first sample in the extended array.
    fn start_of_data(&self) -> usize {
        (0..self.shape.len()).map(|axis| self.start(axis)).sum()
    }

    /// Copies the data into the middle of the extended array, and extends its rows.
    ///
    /// # Safety
    /// The view must be valid and have the data's shape.
    unsafe fn fill(&self, axis: usize, view: &RawView<T>, from: isize, to: &mut [T]) {
        let start = self.start(axis);
        if axis + 1 == self.shape.len() {
            // SAFETY: passed on from the caller.
            unsafe {
                copy_row(view.ptr.wrapping_offset(from), view.strides[axis], &mut to[start..][..self.shape[axis]])
            };
            self.extend_axis(axis, axis, to);
            return;
        }
        let stride = self.strides[axis] as usize;
        for i in 0..self.shape[axis] {
            // SAFETY: an index of the view.
            unsafe {
                let from = from + i as isize * view.strides[axis];
                self.fill(axis + 1, view, from, &mut to[start + i * stride..][..stride]);
            }
        }
    }

    /// Writes zeros outside the bands.
    fn clear(&self, axis: usize, windows: &[Option<Window>], strides: &[isize], array: &mut [T]) {
        let (stride, n) = (strides[axis] as usize, self.band_shape[axis]);
        let inner = |i: &usize| match &windows[axis] {
            Some(window) => window.bands().iter().any(|first| (*first..first + n).contains(i)),
            None => true,
        };
        if let Some(window) = &windows[axis] {
            let [low, high] = window.bands();
            for gap in [0..low, low + n..high, high + n..window.length()] {
                array[gap.start * stride..gap.end * stride].fill(T::default());
            }
        }
        if axis + 1 < self.shape.len() {
            let lines = array.chunks_exact_mut(stride).enumerate().filter(|(i, _)| inner(i));
            lines.for_each(|(_, line)| self.clear(axis + 1, windows, strides, line));
        }
    }
}

/// Widens the margins of long rows, so that both halves and the kept windows are aligned to vectors. The kept values do
/// not depend on it.
fn widen<T>(window: &mut Window) {
    const VECTOR: usize = 64;
    let step = 2 * VECTOR / size_of::<T>();
    // Lengths beyond an array's limit are refused later.
    if !(16 * step..isize::MAX as usize).contains(&window.length()) {
        return;
    }
    let whole = |n: usize| n.next_multiple_of(step);
    window.left = whole(window.left);
    window.right += whole(window.length()) - window.length();
}

/// Lengths of an array: `of` the windows along transformed axes.
fn lengths(windows: &[Option<Window>], given: &[usize], of: fn(&Window) -> usize) -> Vec<usize> {
    windows.iter().zip(given).map(|(window, &n)| window.as_ref().map_or(n, of)).collect()
}

/// Copies an array into another one, from `at` on.
///
/// # Safety
/// `from` must be a sample of the valid view, with a fixed index along all axes before `axis`.
unsafe fn place<T: Sample>(axis: usize, view: &RawView<T>, from: *const T, at: usize, strides: &[isize], to: &mut [T]) {
    let n = view.shape[axis];
    if axis + 1 == view.rank {
        // SAFETY: passed on from the caller.
        unsafe { copy_row(from, view.strides[axis], &mut to[at..][..n]) };
        return;
    }
    for i in 0..n {
        let from = from.wrapping_offset(i as isize * view.strides[axis]);
        // SAFETY: an index of the view.
        unsafe { place(axis + 1, view, from, at + i * strides[axis] as usize, strides, to) };
    }
}

/// # Safety
/// There must be `to.len()` samples, `stride` apart.
unsafe fn copy_row<T: Sample>(from: *const T, stride: isize, to: &mut [T]) {
    // SAFETY: by the caller's promise; the target is borrowed exclusively and cannot overlap the source.
    unsafe {
        if stride == 1 {
            std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len());
        } else {
            to.iter_mut().enumerate().for_each(|(i, x)| *x = *from.wrapping_offset(i as isize * stride));
        }
    }
}

/// Checks that do not depend on any computed length.
fn check(
    scheme: &Scheme,
    filter_length: usize,
    shape: &[usize],
    extensions: &[Option<Extension>],
) -> Result<(), PlanError> {
    if filter_length < 2 || filter_length % 2 == 1 {
        return Err(PlanError::FilterLength { wavelet: scheme.name().to_owned(), length: filter_length });
    }
    if scheme.domain() == Domain::Integer {
        return Err(PlanError::IntegerExtension { wavelet: scheme.name().to_owned() });
    }
    if extensions.len() != shape.len() {
        return Err(GeometryError::Count { what: "extensions", got: extensions.len(), rank: shape.len() }.into());
    }
    match shape.iter().position(|n| *n == 0) {
        Some(axis) => Err(GeometryError::Empty { axis }.into()),
        None => Ok(()),
    }
}
