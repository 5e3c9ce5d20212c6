//! Builder of a plan: checks the user's request and turns it into a problem.

use crate::data::{Expected, contiguous};
use crate::device::{Device, Planning};
use crate::error::PlanError;
use crate::exec::spare::Spare;
use crate::plan::{Inner, Plan, Unsampled};
use crate::sample::Sample;
use lifting_codegen::schedule::Shape as BlockShape;
use lifting_dsl::geometry::{Geometry, GeometryError, Layout};
use lifting_dsl::{Boundary, Direction, Domain, Format, Scheme};
use lifting_planner::emit::Fixed;
use lifting_planner::{
    AxisWavelet, Extended, Machine, Only, Problem, Program, Recipe, Schedule, Tuning, Way, Wisdom, WisdomWarning,
    exactness, source,
};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Growth of the data to a size that the format or the periodic border allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pad {
    /// Repeats the last sample along the axis up to the next multiple of 2^levels; the inverse crops.
    Edge,
}

/// Settings of a plan, collected step by step; made by [`Plan::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `.build(&device)`"]
pub struct PlanBuilder<'a, T = Unsampled> {
    scheme: &'a Scheme,
    shape: Option<Vec<usize>>,
    levels: Option<u32>,
    levels_per_axis: Option<Vec<u32>>,
    axes: Option<Vec<usize>>,
    axis_order: Option<Vec<usize>>,
    origins: Option<Vec<i64>>,
    boundary: Option<Boundary>,
    profile: Option<Format>,
    layout: Layout,
    range: Option<(i64, i64)>,
    pad: Option<Pad>,
    extended: Option<(Vec<usize>, Vec<Option<Extended>>)>,
    tile: Option<Vec<usize>>,
    strides: Option<Vec<isize>>,
    coefficient_strides: Option<Vec<isize>>,
    schedule: Schedule,
    wisdom: Option<Arc<Wisdom>>,
    only: Option<Only>,
    axis_wavelets: Vec<(usize, Vec<&'a Scheme>)>,
    sample: PhantomData<T>,
}

/// Padded size in samples that is never refused: formats ask for padding however small a picture is.
const SMALL_PADDED: u128 = 1 << 16;

/// Refuses padding that multiplies the data because an axis has more levels than its length allows.
fn check_padding(shape: &[usize], padded: &[usize], levels: &[u32]) -> Result<(), PlanError> {
    let samples = |shape: &[usize]| shape.iter().fold(1u128, |product, &n| product.saturating_mul(n as u128));
    if samples(padded) <= samples(shape).saturating_mul(2).max(SMALL_PADDED) {
        return Ok(());
    }
    for (axis, (&length, &levels)) in shape.iter().zip(levels).enumerate() {
        let most = length.next_power_of_two().ilog2().max(1);
        if levels > most {
            let (shape, padded) = (shape.to_vec(), padded.to_vec());
            return Err(PlanError::Padding { shape, padded, axis, length, levels, most });
        }
    }
    Ok(())
}

/// Name of the wavelet, or names of each transformed axis and level: `legall53, dd137+s_transform`.
fn names(problem: &Problem) -> String {
    if !problem.is_mixed() {
        return problem.scheme.name().to_owned();
    }
    let levels = problem.geometry.levels().iter().enumerate().filter(|(_, levels)| **levels > 0);
    let of_axis = |(axis, _): (usize, &u32)| {
        let own = &problem.wavelets[axis];
        let names: Vec<&str> = own.iter().map(|wavelet| wavelet.scheme.name()).collect();
        if names.is_empty() { problem.scheme.name().to_owned() } else { names.join("+") }
    };
    levels.map(of_axis).collect::<Vec<_>>().join(", ")
}

/// Refuses lengths that a border rule does not allow, at any level.
fn check_boundaries(problem: &Problem) -> Result<(), PlanError> {
    let geometry = &problem.geometry;
    if !problem.is_mixed() {
        return Ok(geometry.check_boundary(problem.boundary)?);
    }
    for level in 0..geometry.depth() {
        for axis in geometry.axes_at(level) {
            let length = geometry.level_shape(level)[axis];
            if problem.wavelet(axis, level).1 == Boundary::Periodic && !length.is_multiple_of(2) {
                let multiple = 1 << geometry.levels()[axis];
                return Err(GeometryError::OddPeriodic { axis, level, length, multiple }.into());
            }
        }
    }
    Ok(())
}

impl Plan {
    /// Starts a plan for `scheme`: call at least `.shape(…)` and `.sample::<T>()`, then `.build(&device)`.
    pub fn builder(scheme: &Scheme) -> PlanBuilder<'_> {
        PlanBuilder::new(scheme)
    }
}

impl<'a> PlanBuilder<'a> {
    pub(crate) fn new(scheme: &'a Scheme) -> PlanBuilder<'a> {
        PlanBuilder {
            scheme,
            shape: None,
            levels: None,
            levels_per_axis: None,
            axes: None,
            axis_order: None,
            origins: None,
            boundary: None,
            profile: None,
            layout: Layout::Mallat,
            range: None,
            pad: None,
            extended: None,
            tile: None,
            strides: None,
            coefficient_strides: None,
            schedule: Schedule::Auto,
            wisdom: None,
            only: None,
            axis_wavelets: Vec::new(),
            sample: PhantomData,
        }
    }
}

impl<'a, T> PlanBuilder<'a, T> {
    /// Lengths of the axes of the data, outermost first: `&[height, width]` for an image. Required.
    pub fn shape(mut self, shape: &[usize]) -> Self {
        self.shape = Some(shape.to_vec());
        self
    }

    /// Wavelets of one axis, from the finest level on; the last one serves all further levels. Other axes take the
    /// builder's wavelet. Samples have one type, so all wavelets are integer ones or all are real. Each wavelet keeps
    /// its own border rule unless [`PlanBuilder::boundary`] is set. Such plans run on CPUs, without a profile.
    ///
    /// ```
    /// use lifting::{Device, Plan, catalogue};
    /// // Columns by the 5/3; rows by DD(13,7) at the finest level, and by the S transform at all others.
    /// let [columns, first, other] = ["legall53", "dd137", "s_transform"].map(catalogue::find);
    /// let (columns, first, other) = (columns?, first?, other?);
    /// let builder = Plan::builder(&columns).axis_wavelets(1, &[&first, &other]).shape(&[48, 64]).levels(3);
    /// let plan = builder.sample::<i16>().build(&Device::cpu())?;
    /// let image: Vec<i16> = (0..48 * 64).map(|i| i % 251).collect();
    /// let (mut coefficients, mut back) = (vec![0; image.len()], vec![0; image.len()]);
    /// plan.forward(&image, &mut coefficients)?;
    /// plan.inverse(&coefficients, &mut back)?;
    /// assert_eq!(back, image);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn axis_wavelets(mut self, axis: usize, wavelets: &[&'a Scheme]) -> Self {
        self.axis_wavelets.retain(|(other, _)| *other != axis);
        self.axis_wavelets.push((axis, wavelets.to_vec()));
        self
    }

    /// Number of levels along every transformed axis; 1 by default.
    pub fn levels(mut self, levels: u32) -> Self {
        self.levels = Some(levels);
        self
    }

    /// Number of levels for each axis of the data; axes with 0 are batch. Overrides `levels` and `axes`.
    ///
    /// ```
    /// use lifting::{Device, Plan, catalogue};
    /// // A film of 30 pictures of 480 × 640: two levels along time, four along columns and rows.
    /// let wavelet = catalogue::find("legall53")?;
    /// let builder = Plan::builder(&wavelet).shape(&[30, 480, 640]).levels_per_axis(&[2, 4, 4]).sample::<i16>();
    /// let plan = builder.build(&Device::cpu())?;
    /// assert_eq!(plan.level_shape(1)?, [15, 240, 320]);
    /// assert_eq!(plan.level_shape(4)?, [8, 30, 40]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn levels_per_axis(mut self, levels: &[u32]) -> Self {
        self.levels_per_axis = Some(levels.to_vec());
        self
    }

    /// Axes to transform, all by default; the others are batch.
    pub fn axes(mut self, axes: &[usize]) -> Self {
        self.axes = Some(axes.to_vec());
        self
    }

    /// Order in which analysis takes the axes of a level. The default is innermost (last) first; under the profile
    /// `jpeg2000` it is outermost (vertical) first. Integer transforms depend on it.
    pub fn axis_order(mut self, order: &[usize]) -> Self {
        self.axis_order = Some(order.to_vec());
        self
    }

    /// Position of the first sample along each axis, 0 by default. An odd origin starts with a high sample.
    ///
    /// ```
    /// use lifting::{Device, Plan, catalogue};
    /// // The second tile of a JPEG 2000 picture that is cut at column 5.
    /// let wavelet = catalogue::find("legall53")?;
    /// let builder = Plan::builder(&wavelet).shape(&[4, 7]).origins(&[0, 5]).sample::<i16>();
    /// let plan = builder.build(&Device::cpu())?;
    /// // Columns 5 to 11: three of them are even.
    /// assert_eq!(plan.subband("LL1").expect("there is one").shape, [2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn origins(mut self, origins: &[i64]) -> Self {
        self.origins = Some(origins.to_vec());
        self
    }

    /// Type of samples and coefficients. Required.
    pub fn sample<U: Sample>(self) -> PlanBuilder<'a, U> {
        PlanBuilder {
            scheme: self.scheme,
            shape: self.shape,
            levels: self.levels,
            levels_per_axis: self.levels_per_axis,
            axes: self.axes,
            axis_order: self.axis_order,
            origins: self.origins,
            boundary: self.boundary,
            profile: self.profile,
            layout: self.layout,
            range: self.range,
            pad: self.pad,
            extended: self.extended,
            tile: self.tile,
            strides: self.strides,
            coefficient_strides: self.coefficient_strides,
            schedule: self.schedule,
            wisdom: self.wisdom,
            only: self.only,
            axis_wavelets: self.axis_wavelets,
            sample: PhantomData,
        }
    }

    /// Border extension: the values that steps read outside the data. The default is the profile's rule, else the
    /// wavelet's own.
    pub fn boundary(mut self, boundary: Boundary) -> Self {
        self.boundary = Some(boundary);
        self
    }

    /// Follows a format's conventions bit for bit: border rule, order of axes, gain shift, sizes.
    ///
    /// | | border | order of axes | gain shift | sizes |
    /// |---|---|---|---|---|
    /// | `jpeg2000` | the profile's | outermost (vertical) first | none | any; origins count |
    /// | `vc2` | the profile's | innermost (horizontal) first | the profile's | multiples of 2^levels |
    /// | `ccsds122` | the profile's | innermost (horizontal) first | the profile's | multiples of 2^levels |
    pub fn profile(mut self, format: Format) -> Self {
        self.profile = Some(format);
        self
    }

    /// Placement of the coefficients; [`Layout::Mallat`] by default.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// Range of the sample values. The recipe then says whether any step can wrap.
    pub fn range(mut self, range: RangeInclusive<i64>) -> Self {
        self.range = Some((*range.start(), *range.end()));
        self
    }

    /// Grows the data to multiples of 2^levels along the transformed axes. More levels than an axis needs to reach a
    /// single sample are refused if the padded array exceeds both 65536 samples and twice the data.
    pub fn pad(mut self, pad: Pad) -> Self {
        self.pad = Some(pad);
        self
    }

    /// Data of that shape inside the plan's array, extended by rules on each axis; not for CPUs.
    pub(crate) fn extended(mut self, data: &[usize], axes: Vec<Option<Extended>>) -> Self {
        self.extended = Some((data.to_vec(), axes));
        self
    }

    /// Cuts the data into independent tiles of these lengths, one for each axis. Each tile is transformed with its own
    /// borders, and its coefficients take its place in the array. The last tiles along an axis may be shorter. Lengths
    /// are multiples of 2^levels, or leave the axis whole.
    ///
    /// ```
    /// use lifting::{Device, Plan, catalogue};
    /// let wavelet = catalogue::find("cdf97")?;
    /// let whole = Plan::builder(&wavelet).shape(&[100, 150]).levels(2).sample::<f32>();
    /// let plan = whole.clone().tile(&[64, 64]).build(&Device::cpu())?;
    /// let image: Vec<f32> = (0..15000).map(|i| (i % 97) as f32).collect();
    /// let mut coefficients = vec![0.0; 15000];
    /// plan.forward(&image, &mut coefficients)?;
    ///
    /// // The second tile by itself has the same bits.
    /// let tile = plan.tiles().nth(1).expect("there are six");
    /// assert_eq!((&tile.offset[..], &tile.shape[..]), (&[0, 64][..], &[64, 64][..]));
    /// let alone = whole.shape(&tile.shape).strides(&[150, 1]).coefficient_strides(&[150, 1]).build(&Device::cpu())?;
    /// let mut again = vec![0.0; 15000];
    /// alone.forward(&image[64..], &mut again[64..])?;
    /// let corner = &tile.subbands[0];
    /// assert!(corner.samples(&coefficients).eq(corner.samples(&again)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tile(mut self, lengths: &[usize]) -> Self {
        self.tile = Some(lengths.to_vec());
        self
    }

    /// Strides of data in plain slices: samples from one index to the next along each axis. The default is contiguous,
    /// row-major. Batches and pitches are ordinary strides. With a negative stride, the slice starts at the lowest
    /// address.
    pub fn strides(mut self, strides: &[isize]) -> Self {
        self.strides = Some(strides.to_vec());
        self
    }

    /// Strides of coefficients in plain slices, as [`PlanBuilder::strides`] for data.
    pub fn coefficient_strides(mut self, strides: &[isize]) -> Self {
        self.coefficient_strides = Some(strides.to_vec());
        self
    }

    /// Schedule of kernels on a GPU; [`Schedule::Auto`] by default. All lifting schedules give the same bits. Only
    /// one that filters differs by rounding.
    ///
    /// ```
    /// use lifting::{Device, Plan, PlanError, Schedule, catalogue};
    /// let wavelet = catalogue::find("legall53")?;
    /// let plan = Plan::builder(&wavelet).shape(&[64, 64]).sample::<i16>().schedule(Schedule::STREAM);
    /// let recipe = plan.build(&Device::Interpreter)?.recipe().clone();
    /// assert_eq!(recipe.passes[0].schedule, "stream");
    ///
    /// let line = Plan::builder(&wavelet).shape(&[64]).sample::<i16>().schedule(Schedule::STREAM);
    /// println!("{}", line.build(&Device::Interpreter).unwrap_err()); // which level, and why not
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// Block shape in one direction, for levels that one launch of its schedule takes; tuning measures with it. Other
    /// levels and the other direction take a pass an axis.
    ///
    /// ```
    /// use lifting::{BlockShape, Device, Direction, Plan, catalogue};
    /// let wavelet = catalogue::find("cdf97")?;
    /// let numbers = [("columns", 4), ("warps", 2), ("ring", 8), ("chunk", 16)];
    /// let short = BlockShape::named("stream", numbers.into_iter())?;
    /// let plan = Plan::builder(&wavelet).shape(&[100, 200]).sample::<f32>().blocks(Direction::Forward, short);
    /// let recipe = plan.build(&Device::Interpreter)?.recipe().clone();
    /// let way = recipe.choices[0].taken.way.to_string();
    /// assert_eq!(way, "stream, 4 columns a lane, 2 warps, ring of 8, chunks of 16 row pairs");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn blocks(mut self, direction: Direction, shape: BlockShape) -> Self {
        self.schedule = Schedule::Launch(shape.schedule());
        self.only = Some(Only::Way(direction, Way::Launch(shape)));
        self
    }

    /// Measurements made earlier by [`PlanBuilder::tune`]: levels found there take the fastest schedule. By default, a
    /// plan on a CUDA device reads the file [`Wisdom::default_path`], and other plans go by prediction.
    pub fn wisdom(mut self, wisdom: &Wisdom) -> Self {
        self.wisdom = Some(Arc::new(wisdom.clone()));
        self
    }

    /// A plan of `count` levels of this geometry from `level` on, in contiguous arrays, with one fixed choice.
    pub(crate) fn only_levels(mut self, geometry: &Geometry, (level, count): (u32, u32), only: Only) -> Self {
        let axes = geometry.axes_at(level);
        let shape = geometry.level_shape(level);
        let levels = |axis: usize| if axes.contains(&axis) { count } else { 0 };
        self.levels_per_axis = Some((0..shape.len()).map(levels).collect());
        self.shape = Some(shape);
        self.axis_order = Some(axes);
        self.origins = Some(geometry.level_origins(level));
        (self.layout, self.pad, self.strides, self.coefficient_strides) = (Layout::Mallat, None, None, None);
        self.tile = None;
        (self.schedule, self.range, self.only) = (Schedule::Auto, None, Some(only));
        self
    }

    /// The wisdom for a device, and warnings about entries that were skipped.
    #[cfg_attr(not(feature = "wisdom"), expect(unused_variables, reason = "no file is read without the feature"))]
    fn known(&self, device: &Device) -> (Arc<Wisdom>, Vec<WisdomWarning>) {
        match &self.wisdom {
            Some(wisdom) => (wisdom.clone(), Vec::new()),
            #[cfg(feature = "wisdom")]
            None if device.has_wisdom() && self.only.is_none() => {
                let (wisdom, warnings) = Wisdom::default_path().map(Wisdom::load).unwrap_or_default();
                (Arc::new(wisdom), warnings)
            }
            None => Default::default(),
        }
    }

    /// Resolves the levels per axis of the data.
    fn resolve_levels(&self, rank: usize) -> Result<Vec<u32>, PlanError> {
        if let Some(levels) = &self.levels_per_axis {
            return Ok(levels.clone());
        }
        let mut levels = vec![0; rank];
        let all: Vec<usize> = (0..rank).collect();
        let axes = self.axes.as_ref().unwrap_or(&all);
        for (i, &axis) in axes.iter().enumerate() {
            if axis >= rank || axes[..i].contains(&axis) {
                return Err(PlanError::Axes { axes: axes.clone(), rank });
            }
            levels[axis] = self.levels.unwrap_or(1);
        }
        Ok(levels)
    }

    /// Checks everything that does not depend on the sample type.
    fn problem(&self) -> Result<Problem, PlanError> {
        let scheme = self.scheme;
        let shape = self.shape.clone().ok_or(PlanError::NoShape)?;
        let rank = shape.len();
        let levels = self.resolve_levels(rank)?;
        let origins = self.origins.clone().unwrap_or_else(|| vec![0; rank]);
        let profile = match self.profile {
            Some(format) => Some(scheme.profile(format).ok_or_else(|| PlanError::NoProfile {
                wavelet: scheme.name().into(),
                format,
                available: scheme.profiles().iter().map(|p| p.format).collect(),
            })?),
            None => None,
        };
        let transformed = (0..rank).filter(|&a| levels.get(a).is_some_and(|&l| l > 0));
        let order = match &self.axis_order {
            Some(order) => order.clone(),
            None if self.profile == Some(Format::Jpeg2000) => transformed.collect(),
            None => transformed.rev().collect(),
        };
        // The code below relies on these checks.
        let geometry = Geometry::new(&shape, &origins, &levels, &order)?;

        let mut padded = shape.clone();
        for axis in 0..rank {
            let multiple = 1usize.checked_shl(levels[axis]).unwrap_or(usize::MAX);
            if self.pad == Some(Pad::Edge) {
                let too_large = || PlanError::TooLarge { shape: shape.clone() };
                padded[axis] = shape[axis].checked_next_multiple_of(multiple).ok_or_else(too_large)?;
            }
            if let Some(format @ (Format::Vc2 | Format::Ccsds122)) = self.profile {
                if padded[axis] % multiple != 0 {
                    return Err(PlanError::NotAMultiple { format, axis, length: shape[axis], multiple });
                }
                if origins[axis] != 0 {
                    return Err(PlanError::Origin { format, axis, origin: origins[axis] });
                }
            }
        }
        check_padding(&shape, &padded, &levels)?;
        let geometry = if padded == shape { geometry } else { Geometry::new(&padded, &origins, &levels, &order)? };
        let boundary = self.boundary.or_else(|| profile.and_then(|p| p.boundary)).unwrap_or_else(|| scheme.boundary());
        let wavelets = self.wavelets(rank)?;
        let (source_shape, extended) = self.extended.clone().unwrap_or((shape, Vec::new()));
        let problem = Problem {
            boundary,
            geometry,
            layout: self.layout,
            source_shape,
            extended,
            gain_shift: profile.map_or(0, |p| p.gain_shift),
            double_lone_odd: self.profile == Some(Format::Jpeg2000),
            is_adjoint: false,
            doubled_ends: false,
            scheme: scheme.clone(),
            tile: self.tile.clone(),
            wavelets,
        };
        check_boundaries(&problem)?;
        problem.check_tiles()?;
        Ok(problem)
    }

    /// Wavelets of each axis, if they differ from the builder's.
    fn wavelets(&self, rank: usize) -> Result<Vec<Vec<AxisWavelet>>, PlanError> {
        if self.axis_wavelets.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(format) = self.profile {
            return Err(PlanError::MixedWith { what: format!("profile {}", format.name()) });
        }
        if self.range.is_some() {
            return Err(PlanError::MixedWith { what: "a range of samples".into() });
        }
        let mut all = vec![Vec::new(); rank];
        for (axis, wavelets) in &self.axis_wavelets {
            let own = all.get_mut(*axis).ok_or_else(|| PlanError::Axes { axes: vec![*axis], rank })?;
            let wavelet = |scheme: &&Scheme| AxisWavelet {
                scheme: (*scheme).clone(),
                boundary: self.boundary.unwrap_or_else(|| scheme.boundary()),
            };
            *own = wavelets.iter().map(wavelet).collect();
        }
        Ok(all)
    }
}

impl<T: Sample> PlanBuilder<'_, T> {
    /// CUDA C++ source of all kernels of the plan for a device with this many multiprocessors (132 on an H100, 108 on
    /// an A100, at least 1). Kernels of adjoints are included where they exist. No device is needed. Compile it with
    /// `nvcc -cubin` or `nvcc -ptx` and pass the result to
    /// [`CudaDevice::with_kernels`](crate::cuda::CudaDevice::with_kernels): the device then needs no compiler. Kernel
    /// names end in a fingerprint, so no plan takes a kernel made for another.
    ///
    /// ```
    /// # use lifting::{Plan, catalogue};
    /// let wavelet = catalogue::find("cdf97")?;
    /// let text = Plan::builder(&wavelet).shape(&[1080, 1920]).levels(3).sample::<f32>().cuda_source(132)?;
    /// assert!(text.contains("__global__"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`PlanBuilder::build`].
    pub fn cuda_source(&self, multiprocessors: u32) -> Result<String, PlanError> {
        let problem = self.sampled_problem()?;
        let packed = [contiguous(&problem.source_shape), contiguous(problem.geometry.shape())];
        let (data, coefficients) = self.expected(&problem)?;
        let strided = [data.strides.to_vec(), coefficients.strides.to_vec()];
        let machine = Machine::default().with_multiprocessors(multiprocessors);
        let tuning = Tuning::new(self.schedule, machine, String::new());
        let has_adjoint = problem.check_adjoint().is_ok();
        let mut programs = Vec::new();
        for [data, coefficients] in [strided, packed] {
            programs.push(Program::new(&problem, T::KIND, &data, &coefficients, &tuning)?);
            if has_adjoint {
                programs.push(Program::adjoint(&problem, T::KIND, &data, &coefficients, &tuning)?);
            }
        }
        Ok(source(&programs)?)
    }

    /// The transform under a name, as `lifting_planner::emit` writes it to files.
    ///
    /// # Errors
    /// As for [`PlanBuilder::build`].
    pub fn fixed(&self, name: &str) -> Result<Fixed, PlanError> {
        let problem = self.sampled_problem()?;
        if problem.is_mixed() {
            return Err(PlanError::MixedFile);
        }
        let (data, coefficients) = self.expected(&problem)?;
        let (data, coefficients) = (data.strides.to_vec(), coefficients.strides.to_vec());
        Ok(Fixed { name: name.to_owned(), sample: T::KIND, problem, data, coefficients })
    }

    /// Checks everything, including what depends on the sample type.
    fn sampled_problem(&self) -> Result<Problem, PlanError> {
        let sample = T::KIND;
        let others = self.axis_wavelets.iter().flat_map(|(_, wavelets)| wavelets.iter().copied());
        for scheme in std::iter::once(self.scheme).chain(others) {
            if scheme.domain() != sample.domain() {
                let wavelet = scheme.name().to_owned();
                return Err(PlanError::Domain { wavelet, domain: scheme.domain(), sample });
            }
        }
        let problem = self.problem()?;
        if let (Some(format), shift) = (self.profile, problem.gain_shift)
            && shift as usize + 2 > sample.bytes() * 8
        {
            return Err(PlanError::Gain { format, shift, sample });
        }
        Ok(problem)
    }

    /// Expected shapes and strides of data and coefficients.
    fn expected(&self, problem: &Problem) -> Result<(Expected, Expected), PlanError> {
        let expect = |what, shape: &[usize], strides: &Option<Vec<isize>>| match strides {
            Some(strides) => Expected::strided(what, shape, strides),
            None => Expected::contiguous(what, shape),
        };
        let data = expect("the data", &problem.source_shape, &self.strides)?;
        Ok((data, expect("the coefficients", problem.geometry.shape(), &self.coefficient_strides)?))
    }
}

impl<T> PlanBuilder<'_, T> {
    /// Checks everything and prepares the plan.
    ///
    /// # Errors
    /// A [`PlanError`] that says what is wrong and what to do about it.
    pub fn build(&self, device: &Device) -> Result<Plan<T>, PlanError>
    where
        // The bound is here so that a builder without a sample type gets a clear compile error.
        T: Sample,
    {
        let sample = T::KIND;
        let problem = Arc::new(self.sampled_problem()?);
        let exactness = match self.range {
            None => None,
            Some((low, high)) => {
                let limit = (sample.domain() == Domain::Integer).then(|| 1i128 << (sample.bytes() * 8 - 1));
                if low > high || limit.is_some_and(|l| i128::from(low) < -l || i128::from(high) >= l) {
                    return Err(PlanError::Range { low, high, sample });
                }
                Some(exactness(&problem, sample, low, high))
            }
        };
        let coefficient_shape = problem.geometry.shape().to_vec();
        let (data, coefficients) = self.expected(&problem)?;
        let lows = (0..=problem.geometry.depth())
            .map(|level| Expected::contiguous("the low band", &problem.geometry.level_shape(level)))
            .collect::<Result<_, _>>()?;

        let (wisdom, warnings) = self.known(device);
        let planning = Planning { schedule: self.schedule, wisdom, only: self.only };
        let executor = T::executor(device, &problem, [&data, &coefficients], &planning)?;
        let recipe = Recipe {
            wavelet: names(&problem),
            sample,
            boundary: problem.boundary,
            profile: self.profile,
            layout: self.layout,
            shape: problem.source_shape.clone(),
            coefficient_shape,
            levels: problem.geometry.levels().to_vec(),
            origins: problem.geometry.origins().to_vec(),
            tile: problem.tile.clone(),
            axis_order: problem.geometry.order().to_vec(),
            gain_shift: problem.gain_shift,
            exactness,
            device: device.to_string(),
            passes: executor.passes(),
            choices: executor.choices(),
            warnings,
            workspace_bytes: executor.workspace_bytes(),
        };
        Ok(Plan::from_inner(Inner {
            problem,
            executor,
            data,
            coefficients,
            lows,
            recipe,
            spare: Box::new(Spare::default()),
        }))
    }
}
