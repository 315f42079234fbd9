//! `module.load.cuda`: kernels as CUDA C, PTX or a cubin, loaded by the driver for each device that
//! runs them.
//!
//! Source is compiled for the device's own architecture, PTX by the driver. A device loads the code
//! when the module is loaded, if it is the current device then, otherwise when its first kernel is
//! called there.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use chipdock_plugin_api::graph::Graph;
use chipdock_plugin_api::kernel::{Kernel, KernelArg, Kernels, Launch};
use chipdock_plugin_api::kit::{KernelModule, LaunchKernel, PerDevice, lock, record_launch};
use chipdock_plugin_api::timeline::Timelines;
use chipdock_plugin_api::{
    Artifact, ChipdockDevice, Env, Error, ErrorKind, HostRef, Module, ModuleLoader, Stream, Verdict, bail,
    ensure,
};

use crate::artifact::{ARTIFACT, Code};
use crate::compiler::Settings;
use crate::device_api::{DEVICE_TYPE, NAME};
use crate::hardware::{Device, Hardware, Limits};
use crate::program::{Grid, Image, LoadedKernel};

/// Maximum number of arguments that are stored on the stack.
const INLINE_ARGUMENTS: usize = 32;

/// The loader of one host.
pub(crate) struct CudaLoader {
    pub(crate) host: HostRef,
    pub(crate) hardware: Arc<Hardware>,
}

impl ModuleLoader for CudaLoader {
    fn check(&self, artifact: &Artifact<'_>, device: ChipdockDevice) -> Result<Verdict, Error> {
        ARTIFACT.check(artifact, |index| {
            let code = Code::read(artifact, index)?;
            if let Some(why) = self.hardware.devices.other_type(device) {
                return Ok(Verdict::Unsupported(why));
            }
            match self.hardware.device(device.device_id) {
                Ok(device) => Ok(code.verdict(device.capability()?)),
                Err(error) => Ok(Verdict::Unsupported(error.message().into_owned())),
            }
        })
    }

    fn load(&self, artifact: &Artifact<'_>, env: Env) -> Result<Box<dyn Module>, Error> {
        let index = ARTIFACT.index(artifact)?;
        let code = Code::read(artifact, &index)?;
        let kernels = Kernels::from_index(&index)?;
        let devices = self.hardware.devices.all()?;
        ensure!(!devices.is_empty(), ErrorKind::UNAVAILABLE, "{NAME} has no device here");
        let verdicts = devices.iter().map(|device| Ok(code.verdict(device.capability()?)));
        let verdicts: Vec<Verdict> = verdicts.collect::<Result<_, Error>>()?;
        let runs = |verdict: &Verdict| *verdict == Verdict::Runs;
        if !verdicts.iter().any(runs) {
            let (Verdict::Recompile(why) | Verdict::Unsupported(why)) = &verdicts[0] else {
                bail!(ErrorKind::INTERNAL, "a verdict without a reason; this is a bug");
            };
            bail!(ErrorKind::UNSUPPORTED, "no device of {NAME} here runs this artifact: {why}");
        }
        let current = usize::try_from(env.current_device(DEVICE_TYPE)?).unwrap_or(0);
        let loaded = Loaded {
            hardware: Arc::clone(&self.hardware),
            // Read now: the host must not be called under the lock of a build.
            settings: code.settings(self.host)?,
            code,
            images: PerDevice::new(devices.len()),
            entries: kernels.usable.iter().map(|_| PerDevice::new(devices.len())).collect(),
            kernels,
        };
        if verdicts.get(current).is_some_and(runs) {
            let image = loaded.image(&devices[current])?;
            for kernel in &loaded.kernels.usable {
                entry(&devices[current], image, kernel)?;
            }
        }
        Ok(Box::new(KernelModule::new(self.host, env, loaded)))
    }
}

/// A loaded module.
struct Loaded {
    hardware: Arc<Hardware>,
    settings: Settings,
    code: Code,
    kernels: Kernels,
    images: PerDevice<Arc<Image>>,
    /// Kernels by their position among the usable ones.
    entries: Vec<PerDevice<Ready>>,
}

fn entry(device: &Device, image: &Arc<Image>, kernel: &Kernel) -> Result<LoadedKernel, Error> {
    device.checked(image.entry(&kernel.symbol)).map_err(|error| {
        error.context(format_args!("kernel {}, `{}` of the code", kernel.name, kernel.symbol))
    })
}

/// A kernel on a device, ready for launches.
struct Ready {
    entry: LoadedKernel,
    limits: Limits,
    /// Dynamic shared memory that was allowed for the kernel so far, in bytes.
    dynamic_shared_max: AtomicU32,
    raising: Mutex<()>,
}

impl Loaded {
    fn image(&self, device: &Device) -> Result<&Arc<Image>, Error> {
        self.images.get_or_build(device.id(), || {
            let capability = device.capability()?;
            if let Verdict::Recompile(why) | Verdict::Unsupported(why) = self.code.verdict(capability) {
                bail!(ErrorKind::UNSUPPORTED, "cuda:{} does not run this module: {why}", device.id());
            }
            let bytes = self.code.bytes_for(&self.settings, capability)?;
            // SAFETY: NUL-terminated text, or an ELF file that was checked against its headers: see
            // `Code`.
            let image = unsafe { device.context()?.load(&bytes) };
            device.checked(image).map(Arc::new)
        })
    }

    fn ready(&self, position: usize, device: &Device) -> Result<&Ready, Error> {
        self.entries[position].get_or_build(device.id(), || {
            let entry = entry(device, self.image(device)?, &self.kernels.usable[position])?;
            let limits = device.limits()?;
            let allowed = limits.shared_bytes.saturating_sub(entry.static_shared_bytes);
            let dynamic_shared_max = AtomicU32::new(u32::try_from(allowed).unwrap_or(u32::MAX));
            Ok(Ready { entry, limits, dynamic_shared_max, raising: Mutex::new(()) })
        })
    }
}

impl Loaded {
    /// Looks up the memory of a launch's pointers.
    fn check_args(&self, device: &Device, kernel: &Kernel, launch: &Launch) -> Result<(), Error> {
        for argument in &launch.args {
            let checked = match argument {
                KernelArg::Pointer(pointer) if !pointer.is_null() => {
                    self.hardware.range(device, pointer.addr()).map(drop)
                }
                KernelArg::Pointer(_) | KernelArg::Scalar { .. } => Ok(()),
                other => Err(Error::new(
                    ErrorKind::UNSUPPORTED,
                    format!("expected pointers and scalars for arguments, found {other:?}"),
                )),
            };
            checked.map_err(|error| error.context(format_args!("kernel {}", kernel.name)))?;
        }
        Ok(())
    }
}

/// A launch of a kernel as it was recorded (N.41), without its arguments.
pub(crate) struct RecordedKernel {
    loaded: Arc<Loaded>,
    position: usize,
    grid: Grid,
}

impl RecordedKernel {
    /// The kernel on that device.
    pub(crate) fn entry(&self, device: &Device) -> Result<&LoadedKernel, Error> {
        Ok(&self.loaded.ready(self.position, device)?.entry)
    }

    /// The launch parameters.
    pub(crate) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Looks up the memory of a launch's pointers.
    pub(crate) fn check_args(&self, device: &Device, launch: &Launch) -> Result<(), Error> {
        self.loaded.check_args(device, &self.loaded.kernels.usable[self.position], launch)
    }
}

/// The value of an argument, little-endian in eight bytes.
pub(crate) fn value_of(argument: &KernelArg) -> u64 {
    match argument {
        KernelArg::Pointer(pointer) => pointer.expose_provenance() as u64,
        KernelArg::Scalar { bytes, .. } => u64::from_le_bytes(*bytes),
        // Other arguments were refused by `check_args`.
        _ => 0,
    }
}

impl LaunchKernel for Loaded {
    fn device_type(&self) -> i32 {
        self.hardware.devices.device_type()
    }

    fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    fn launch(&self, position: usize, device_id: i32, stream: Stream, launch: &Launch) -> Result<(), Error> {
        let kernel = &self.kernels.usable[position];
        let device = self.hardware.device(device_id)?;
        device.check()?;
        let ready = self.ready(position, device)?;
        let grid = ready.grid(device, kernel, launch)?;
        self.check_args(device, kernel, launch)?;
        ready.launch(device, kernel, &grid, stream, &launch.args)
    }

    fn records(&self) -> bool {
        true
    }

    fn record(
        self: &Arc<Self>,
        position: usize,
        device_id: i32,
        graph: Graph,
        launch: Option<&Launch>,
    ) -> Result<(), Error> {
        self.hardware.devices.check_running()?;
        record_launch(&*self.hardware, device_id, graph, launch, |launch| {
            let device = self.hardware.device(device_id)?;
            let kernel = &self.kernels.usable[position];
            let grid = self.ready(position, device)?.grid(device, kernel, launch)?;
            self.check_args(device, kernel, launch)?;
            Ok(RecordedKernel { loaded: Arc::clone(self), position, grid })
        })
    }

    fn timelines(&self) -> Option<&dyn Timelines> {
        Some(&self.hardware)
    }
}

impl Ready {
    fn launch(
        &self,
        device: &Device,
        kernel: &Kernel,
        grid: &Grid,
        stream: Stream,
        args: &[KernelArg],
    ) -> Result<(), Error> {
        let stream = device.stream(stream.into_raw())?;
        let queue = |values: &mut [u64], places: &mut [*mut c_void]| {
            for ((place, slot), argument) in places.iter_mut().zip(values).zip(args) {
                *slot = value_of(argument);
                *place = std::ptr::from_mut(slot).cast();
            }
            // SAFETY: an array with a value for each parameter that the index lists, little-endian
            // in eight bytes each; pointers were looked up, and the caller answers for work queued
            // with them (D.5).
            unsafe { self.entry.launch(grid, stream.as_deref(), places) }
        };
        let queued = if args.len() <= INLINE_ARGUMENTS {
            let (mut values, mut places) = ([0; INLINE_ARGUMENTS], [std::ptr::null_mut(); INLINE_ARGUMENTS]);
            queue(&mut values[..args.len()], &mut places[..args.len()])
        } else {
            queue(&mut vec![0; args.len()], &mut vec![std::ptr::null_mut(); args.len()])
        };
        device
            .checked(queued)
            .map_err(|error| error.context(format_args!("kernel {}, {}", kernel.name, shape(grid))))
    }
}

fn shape(grid: &Grid) -> String {
    let ([gx, gy, gz], [bx, by, bz]) = (grid.blocks, grid.threads);
    format!(
        "{gx}x{gy}x{gz} blocks of {bx}x{by}x{bz} threads, {} bytes of dynamic shared memory",
        grid.dynamic_shared_bytes
    )
}

impl Ready {
    /// Checks the launch against the limits of device and kernel.
    ///
    /// # Errors
    ///
    /// `ValueError`: the launch exceeds a limit, which is named with both numbers.
    fn grid(&self, device: &Device, kernel: &Kernel, launch: &Launch) -> Result<Grid, Error> {
        let beyond = |what: &str, most: u64, found: u64| {
            let message = format!(
                "kernel {0}: cuda:{1} has at most {most} {what}, found {found}; launch less, or build the kernel for this device \
                 (--device cuda:{1})",
                kernel.name,
                device.id()
            );
            Error::new(ErrorKind::VALUE_ERROR, message)
        };
        let within = |what: &str, sizes: [u64; 3], most: [u64; 3]| -> Result<[u32; 3], Error> {
            let mut found = [0_u32; 3];
            for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
                let fits = u32::try_from(sizes[axis]).ok().filter(|_| sizes[axis] <= most[axis]);
                let fits =
                    fits.ok_or_else(|| beyond(&format!("{what} on axis {name}"), most[axis], sizes[axis]))?;
                found[axis] = fits;
            }
            Ok(found)
        };
        let blocks = within("blocks of a grid", launch.grid, self.limits.grid)?;
        let threads = within("threads of a block", launch.block, self.limits.block)?;
        let count = launch.block.iter().product();
        let most = self.limits.threads.min(self.entry.threads_max);
        if count > most {
            let what = if most < self.limits.threads {
                "threads of a block with the registers that the kernel uses"
            } else {
                "threads of a block"
            };
            return Err(beyond(what, most, count));
        }
        let bytes = launch.dynamic_shared_bytes;
        let total = bytes.saturating_add(self.entry.static_shared_bytes);
        if total > self.limits.shared_optin_bytes {
            return Err(beyond("bytes of shared memory of a block", self.limits.shared_optin_bytes, total));
        }
        let dynamic_shared_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.allow(device, dynamic_shared_bytes)?;
        Ok(Grid { blocks, threads, dynamic_shared_bytes, is_cooperative: kernel.is_cooperative })
    }

    /// Raises the dynamic shared memory that is allowed for the kernel, if necessary.
    fn allow(&self, device: &Device, bytes: u32) -> Result<(), Error> {
        if bytes <= self.dynamic_shared_max.load(Ordering::Acquire) {
            return Ok(());
        }
        let _raising = lock(&self.raising);
        if bytes > self.dynamic_shared_max.load(Ordering::Acquire) {
            device.checked(self.entry.allow_dynamic_shared(bytes))?;
            self.dynamic_shared_max.store(bytes, Ordering::Release);
        }
        Ok(())
    }
}
