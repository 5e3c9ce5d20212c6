//! Devices that execute plans.

use crate::cpu::{Cpu, Tiled};
use crate::data::Expected;
use crate::error::PlanError;
use crate::exec::Executor;
use crate::exec::interp::Interpreter;
use crate::exec::slabs::Slabs;
use crate::sample::Sample;
use lifting_planner::{Machine, Only, Problem, Schedule, Tuning, Wisdom};
use std::sync::Arc;

/// Device that executes a plan. The CPU is always available.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Device {
    /// This machine's processor.
    Cpu {
        /// Maximum number of threads; they are rayon's.
        threads: usize,
    },
    /// The interpreter of GPU kernels on this machine: slow, but it reports every race and stray access.
    Interpreter,
    /// A CUDA device.
    #[cfg(feature = "cuda")]
    Cuda(crate::cuda::CudaDevice),
    /// An OpenCL device.
    #[cfg(feature = "opencl")]
    OpenCl(crate::opencl::OpenClDevice),
    /// Devices that share each array, from [`Device::several`].
    Several(Arc<[Device]>),
}

impl Device {
    /// The CPU, with the threads of rayon's current pool (`RAYON_NUM_THREADS` limits it). Without feature `threads`,
    /// and for small transforms, only the calling thread works.
    pub fn cpu() -> Device {
        Device::Cpu { threads: crate::threads::available() }
    }

    /// The CPU, with at most `threads` threads; 0 counts as 1. The limit is the pool's size, or 64 if that is larger.
    /// With one thread, execution with a workspace allocates nothing.
    pub fn cpu_with_threads(threads: usize) -> Device {
        Device::Cpu { threads: threads.clamp(1, crate::threads::most()) }
    }

    /// CUDA device number `ordinal`, counted from 0.
    ///
    /// ```
    /// use lifting::Device;
    /// match Device::cuda(0) {
    ///     Ok(device) => println!("{device}"),
    ///     Err(why) => println!("{why}"), // the cause and the remedy
    /// }
    /// ```
    ///
    /// # Errors
    /// If there is no driver, it is too old, or the device is missing or busy. The error says what to do.
    pub fn cuda(ordinal: usize) -> Result<Device, PlanError> {
        #[cfg(feature = "cuda")]
        return Ok(Device::Cuda(crate::cuda::CudaDevice::open(ordinal)?));
        #[cfg(not(feature = "cuda"))]
        {
            let _ = ordinal;
            Err(crate::cuda::CudaError::NotBuilt.into())
        }
    }

    /// Opens OpenCL device number `ordinal`, counted from 0 over the devices of all platforms.
    ///
    /// # Errors
    /// If the library or the device is missing, or the device refuses. The error says what to do.
    pub fn opencl(ordinal: usize) -> Result<Device, PlanError> {
        #[cfg(feature = "opencl")]
        return Ok(Device::OpenCl(crate::opencl::OpenClDevice::open(ordinal)?));
        #[cfg(not(feature = "opencl"))]
        {
            let _ = ordinal;
            Err(crate::opencl::OpenClError::NotBuilt.into())
        }
    }

    /// All CUDA devices of this machine as one ([`Device::several`]); a single one as itself.
    ///
    /// # Errors
    /// As for [`Device::cuda`].
    pub fn cuda_all() -> Result<Device, PlanError> {
        #[cfg(feature = "cuda")]
        let count = crate::cuda::CudaDevice::count()?;
        #[cfg(not(feature = "cuda"))]
        let count = 0;
        let first = Device::cuda(0)?;
        match count {
            0 | 1 => Ok(first),
            _ => Device::several(&(0..count).map(Device::cuda).collect::<Result<Vec<_>, _>>()?),
        }
    }

    /// Devices that share each array: one slab each, cut along the outermost axis. A plan gives the same bits as on one
    /// device. They are CUDA devices, or processors for tests. Analysis and synthesis are shared; adjoints and
    /// syntheses to a level run on the first device. Plans with tiles, an extension or several wavelets are refused.
    ///
    /// ```
    /// use lifting::{Device, Plan, catalogue};
    /// let wavelet = catalogue::find("legall53")?;
    /// let builder = Plan::builder(&wavelet).shape(&[37, 20]).levels(3).sample::<i16>();
    /// let image: Vec<i16> = (0..740).collect();
    /// let (mut shared, mut alone) = (vec![0; 740], vec![0; 740]);
    /// let devices = Device::several(&[Device::cpu(), Device::cpu(), Device::cpu()])?;
    /// builder.build(&devices)?.forward(&image, &mut shared)?;
    /// builder.build(&Device::cpu())?.forward(&image, &mut alone)?;
    /// assert_eq!(shared, alone);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are none, or they cannot share arrays.
    pub fn several(devices: &[Device]) -> Result<Device, PlanError> {
        crate::exec::slabs::check(devices)?;
        Ok(Device::Several(devices.into()))
    }

    /// The fastest device of this machine: the first CUDA device that works (with its run-time compiler), else the CPU.
    ///
    /// # Errors
    /// None today; [`Device::best_and_why`] says why the CPU was chosen.
    pub fn best() -> Result<Device, PlanError> {
        Ok(Device::best_and_why().0)
    }

    /// [`Device::best`], and the reason if it is not a CUDA device.
    ///
    /// ```
    /// use lifting::Device;
    /// let (device, why) = Device::best_and_why();
    /// match why {
    ///     None => println!("on {device}"),
    ///     Some(why) => println!("on {device}: {why}"), // the cause and the remedy
    /// }
    /// ```
    pub fn best_and_why() -> (Device, Option<PlanError>) {
        #[cfg(feature = "cuda")]
        let cuda = crate::cuda::compiles().map_err(PlanError::from).and_then(|()| Device::cuda(0));
        #[cfg(not(feature = "cuda"))]
        let cuda = Device::cuda(0);
        match cuda {
            Ok(device) => (device, None),
            Err(why) => (Device::cpu(), Some(why)),
        }
    }
}

/// Settings that affect how a problem is executed, not the result.
#[derive(Clone, Debug)]
pub struct Planning {
    /// Requested schedule.
    pub schedule: Schedule,
    /// Earlier measurements.
    pub wisdom: Arc<Wisdom>,
    /// Choice under measurement.
    pub only: Option<Only>,
}

impl Device {
    /// Makes the executor of a problem on this device, for these layouts of data and coefficients; called only by
    /// [`Sample::executor`].
    pub(crate) fn executor<T: Sample>(
        &self,
        problem: &Arc<Problem>,
        [data, coefficients]: [&Expected; 2],
        planning: &Planning,
    ) -> Result<Box<dyn Executor<T>>, PlanError> {
        if let Device::Several(devices) = self {
            return Ok(Box::new(Slabs::<T>::new(devices, problem, [data, coefficients], planning)?));
        }
        let Planning { schedule, ref wisdom, only } = *planning;
        let problem = problem.clone();
        let tuning =
            |machine, device| Tuning { wisdom: wisdom.clone(), only, ..Tuning::new(schedule, machine, device) };
        Ok(match self {
            Device::Cpu { .. } if schedule != Schedule::Auto => {
                return Err(PlanError::NoSchedule { schedule, device: self.to_string() });
            }
            Device::Cpu { threads } => match problem.parts()? {
                Some(parts) => Box::new(Tiled::<T>::new(parts, *threads)?),
                None => Box::new(Cpu::<T>::new(problem, *threads)?),
            },
            #[cfg(feature = "cuda")]
            Device::Cuda(device) => {
                let properties = device.properties();
                let tuning = tuning(Machine::of(&properties.facts()), properties.kind());
                let span = |e: &Expected| crate::cuda::Span { len: e.span, start: e.start };
                let (data, coefficients) = ((span(data), &*data.strides), (span(coefficients), &*coefficients.strides));
                Box::new(crate::cuda::CudaPlan::<T>::new(device, problem, data, coefficients, &tuning)?)
            }
            #[cfg(feature = "opencl")]
            Device::OpenCl(device) => {
                let mut tuning = tuning(device.machine(), device.name().to_owned());
                if tuning.schedule == Schedule::Auto && !device.takes_shuffles() {
                    tuning.schedule = Schedule::Shared;
                }
                Box::new(crate::opencl::OpenClPlan::<T>::new(device, problem, tuning)?)
            }
            Device::Interpreter => {
                let tuning = tuning(Machine::default(), "interpreter".into());
                Box::new(Interpreter::new::<T>(problem, &data.strides, &coefficients.strides, &tuning)?)
            }
            Device::Several(_) => unreachable!("returned above"),
        })
    }

    /// Whether plans load wisdom by default: only if it holds times of such devices.
    #[cfg(feature = "wisdom")]
    pub(crate) fn has_wisdom(&self) -> bool {
        #[cfg(feature = "opencl")]
        if matches!(self, Device::OpenCl(_)) {
            return false;
        }
        match self {
            Device::Cpu { .. } | Device::Interpreter => false,
            Device::Several(devices) => devices.iter().any(Device::has_wisdom),
            #[cfg(any(feature = "cuda", feature = "opencl"))]
            _ => true,
        }
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Device::Cpu { threads: 1 } => f.write_str("cpu, 1 thread"),
            #[cfg(feature = "cuda")]
            Device::Cuda(device) => device.fmt(f),
            #[cfg(feature = "opencl")]
            Device::OpenCl(device) => device.fmt(f),
            Device::Interpreter => f.write_str("the kernel interpreter"),
            Device::Cpu { threads } => write!(f, "cpu, {threads} threads"),
            Device::Several(devices) => write!(f, "{} devices, the first {}", devices.len(), devices[0]),
        }
    }
}
