//! `module.load.cuda`: kernels of CUDA C, PTX or a cubin, loaded by the driver for each device that runs them.
//!
//! Source is compiled for the device's own architecture, PTX by the driver. A device loads the code when the module is
//! loaded, if it is the one that is current then, else when its first kernel is called there.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use chipdock_plugin_api::kernel::{Kernel, KernelArg, Launch};
use chipdock_plugin_api::launch::{LAUNCH, Launches};
use chipdock_plugin_api::{
    Any, AnyView, Artifact, ChipdockDevice, Env, Error, ErrorKind, Function, HostRef, Interface, Module,
    ModuleLoader, Stream, Verdict, bail, ensure,
};
use serde_json::Value;

use crate::device_api::{DEVICE_TYPE, NAME};
use crate::hardware::{Device, Hardware, Limits, lock};
use crate::image::{self, Code};
use crate::module::{Entry, Grid, Image};

/// Arguments up to so many lie on the stack.
const INLINE_ARGUMENTS: usize = 32;

/// The loader of one host.
pub(crate) struct CudaLoader {
    pub(crate) host: HostRef,
    pub(crate) hardware: Arc<Hardware>,
}

fn index_of(artifact: &Artifact<'_>) -> Result<Value, Error> {
    let index: Value = serde_json::from_str(artifact.index_json())
        .map_err(|error| image::value_error(format!("the index is not JSON: {error}")))?;
    ensure!(index.is_object(), ErrorKind::VALUE_ERROR, "expected a JSON object for an artifact's index");
    Ok(index)
}

impl ModuleLoader for CudaLoader {
    fn check(&self, artifact: &Artifact<'_>, device: ChipdockDevice) -> Result<Verdict, Error> {
        let index = index_of(artifact)?;
        if let Some(why) = image::foreign(&index) {
            return Ok(Verdict::Unsupported(why));
        }
        let code = Code::of(artifact, &index)?;
        if device.device_type != self.hardware.device_type() {
            return Ok(Verdict::Unsupported(format!(
                "expected a device of {NAME} (device type {}), found device type {}",
                self.hardware.device_type(),
                device.device_type
            )));
        }
        match self.hardware.device(device.device_id) {
            Ok(device) => Ok(code.verdict(device.capability()?)),
            Err(error) => Ok(Verdict::Unsupported(error.message().into_owned())),
        }
    }

    fn load(&self, artifact: &Artifact<'_>, env: Env) -> Result<Box<dyn Module>, Error> {
        let index = index_of(artifact)?;
        if let Some(why) = image::foreign(&index) {
            return Err(image::value_error(why));
        }
        let code = Code::of(artifact, &index)?;
        let mut kernels = BTreeMap::new();
        for kernel in Kernel::from_index(&index)? {
            kernels.insert(kernel.name.clone(), kernel);
        }
        let devices = self.hardware.devices()?;
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
        let images = devices.iter().map(|_| Mutex::default()).collect();
        let current = usize::try_from(env.current_device(DEVICE_TYPE)?).unwrap_or(0);
        let shared =
            Arc::new(Shared { host: self.host, hardware: Arc::clone(&self.hardware), code, images, env });
        if verdicts.get(current).is_some_and(runs) {
            let loaded = shared.image(&devices[current])?;
            for kernel in kernels.values() {
                entry(&devices[current], &loaded, kernel)?;
            }
        }
        let mut all = Kernels { device_type: self.hardware.device_type(), ..Kernels::default() };
        for (name, kernel) in kernels {
            let entries = devices.iter().map(|_| OnceLock::new()).collect();
            all.by_name.insert(name, all.all.len());
            all.all.push(Arc::new(Callable { shared: Arc::clone(&shared), kernel, entries }));
        }
        Ok(Box::new(Loaded { host: self.host, kernels: Arc::new(all) }))
    }
}

/// A module that was loaded: its kernels by name.
struct Loaded {
    host: HostRef,
    kernels: Arc<Kernels>,
}

/// The kernels of a module: interface `launch` 1.
#[derive(Default)]
struct Kernels {
    device_type: i32,
    by_name: BTreeMap<String, usize>,
    all: Vec<Arc<Callable>>,
}

impl Launches for Kernels {
    fn device_type(&self) -> i32 {
        self.device_type
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    fn kernel(&self, position: usize) -> Option<&Kernel> {
        self.all.get(position).map(|callable| &callable.kernel)
    }

    fn launch(&self, position: usize, device_id: i32, stream: Stream, launch: &Launch) -> Result<(), Error> {
        match self.all.get(position) {
            Some(callable) => callable.queue(device_id, stream, launch),
            None => bail!(ErrorKind::VALUE_ERROR, "the module has no kernel {position}"),
        }
    }
}

impl Module for Loaded {
    fn query(&self, name: &str, version: u32) -> Option<Interface> {
        LAUNCH.is(name, version).then(|| LAUNCH.of_shared(Arc::clone(&self.kernels) as _))
    }

    fn function(&self, name: &str) -> Result<Option<Function>, Error> {
        Ok(self.kernels.by_name.get(name).map(|position| {
            // What is got keeps what it needs (M.5).
            let kernel = Arc::clone(&self.kernels.all[*position]);
            Function::from_fn(self.host, move |args| kernel.call(args))
        }))
    }
}

/// What the kernels of a module share.
struct Shared {
    host: HostRef,
    hardware: Arc<Hardware>,
    code: Code,
    /// What each device has loaded; a failure is not kept, memory may be had again later.
    images: Vec<Mutex<Option<Arc<Image>>>>,
    env: Env,
}

impl Shared {
    fn image(&self, device: &Device) -> Result<Arc<Image>, Error> {
        let slot = usize::try_from(device.id()).ok().and_then(|id| self.images.get(id));
        let Some(slot) = slot else {
            bail!(ErrorKind::INTERNAL, "cuda:{} appeared after the module; this is a bug", device.id());
        };
        let mut slot = lock(slot);
        if let Some(image) = &*slot {
            return Ok(Arc::clone(image));
        }
        if let Verdict::Recompile(why) | Verdict::Unsupported(why) = self.code.verdict(device.capability()?) {
            bail!(ErrorKind::UNSUPPORTED, "cuda:{} does not run this module: {why}", device.id());
        }
        let bytes = self.code.bytes_for(self.host, device.capability()?)?;
        // SAFETY: text that ends with a zero, or an ELF file that was measured against its headers: see `Code`.
        let image = unsafe { device.context()?.load(&bytes) };
        let image = Arc::new(device.told(image)?);
        *slot = Some(Arc::clone(&image));
        Ok(image)
    }
}

fn entry(device: &Device, image: &Arc<Image>, kernel: &Kernel) -> Result<Entry, Error> {
    device.told(image.entry(&kernel.symbol)).map_err(|error| {
        error.context(format_args!("kernel {}, `{}` of the code", kernel.name, kernel.symbol))
    })
}

/// A kernel on a device, ready to be launched.
struct Ready {
    entry: Entry,
    limits: Limits,
    /// How much dynamic shared memory was allowed it.
    dynamic_shared_max: AtomicU32,
    raising: Mutex<()>,
}

/// A kernel, on whatever device it is called.
struct Callable {
    shared: Arc<Shared>,
    kernel: Kernel,
    entries: Vec<OnceLock<Ready>>,
}

impl Callable {
    fn ready(&self, device: &Device) -> Result<&Ready, Error> {
        let slot = usize::try_from(device.id()).ok().and_then(|id| self.entries.get(id));
        let Some(slot) = slot else {
            bail!(ErrorKind::INTERNAL, "cuda:{} appeared after the module; this is a bug", device.id());
        };
        if let Some(ready) = slot.get() {
            return Ok(ready);
        }
        let entry = entry(device, &self.shared.image(device)?, &self.kernel)?;
        let limits = device.limits()?;
        let allowed = limits.shared_bytes.saturating_sub(entry.static_shared_bytes);
        let dynamic_shared_max = AtomicU32::new(u32::try_from(allowed).unwrap_or(u32::MAX));
        Ok(slot.get_or_init(|| Ready { entry, limits, dynamic_shared_max, raising: Mutex::new(()) }))
    }

    /// Queues a launch on the device and the stream that are current on this thread (K.4).
    fn call(&self, args: &[AnyView<'_>]) -> Result<Any, Error> {
        let Some(launch) = self.kernel.call(args)? else { return Ok(Any::NONE) };
        let Shared { hardware, env, .. } = &*self.shared;
        let device_type = hardware.device_type();
        let device_id = env.current_device(device_type)?;
        let stream = env.current_stream(ChipdockDevice { device_type, device_id })?;
        self.queue(device_id, stream, &launch).map(|()| Any::NONE)
    }

    /// Queues a launch.
    fn queue(&self, device_id: i32, stream: Stream, launch: &Launch) -> Result<(), Error> {
        let hardware = &self.shared.hardware;
        let device = hardware.device(device_id)?;
        device.check()?;
        let ready = self.ready(device)?;
        let grid = ready.grid(device, &self.kernel, launch)?;
        for argument in &launch.args {
            let checked = match argument {
                KernelArg::Pointer(pointer) if !pointer.is_null() => {
                    hardware.range(device, pointer.addr()).map(drop)
                }
                KernelArg::Pointer(_) | KernelArg::Scalar { .. } => Ok(()),
                other => Err(Error::new(
                    ErrorKind::UNSUPPORTED,
                    format!("expected pointers and scalars for arguments, found {other:?}"),
                )),
            };
            checked.map_err(|error| error.context(format_args!("kernel {}", self.kernel.name)))?;
        }
        self.launch(device, ready, &grid, stream, &launch.args)
    }

    fn launch(
        &self,
        device: &Device,
        ready: &Ready,
        grid: &Grid,
        stream: Stream,
        args: &[KernelArg],
    ) -> Result<(), Error> {
        let stream = device.stream(stream.into_raw())?;
        let value = |argument: &KernelArg| match argument {
            KernelArg::Pointer(pointer) => pointer.expose_provenance() as u64,
            KernelArg::Scalar { bytes, .. } => u64::from_le_bytes(*bytes),
            // `queue` has refused it.
            _ => 0,
        };
        let queue = |values: &mut [u64], places: &mut [*mut c_void]| {
            for ((place, slot), argument) in places.iter_mut().zip(values).zip(args) {
                *slot = value(argument);
                *place = std::ptr::from_mut(slot).cast();
            }
            // SAFETY: as many values as the index says that the kernel has parameters, little-endian in eight bytes each;
            // pointers were looked up, and what is queued with them is in the caller's hands (D.5).
            unsafe { ready.entry.launch(grid, stream.as_deref(), places) }
        };
        let queued = if args.len() <= INLINE_ARGUMENTS {
            let (mut values, mut places) = ([0; INLINE_ARGUMENTS], [std::ptr::null_mut(); INLINE_ARGUMENTS]);
            queue(&mut values[..args.len()], &mut places[..args.len()])
        } else {
            queue(&mut vec![0; args.len()], &mut vec![std::ptr::null_mut(); args.len()])
        };
        device
            .told(queued)
            .map_err(|error| error.context(format_args!("kernel {}, {}", self.kernel.name, shape(grid))))
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
    /// The launch, held against the limits of device and kernel.
    ///
    /// # Errors
    ///
    /// `ValueError`: it is beyond one of them, which is named with both numbers.
    fn grid(&self, device: &Device, kernel: &Kernel, launch: &Launch) -> Result<Grid, Error> {
        let beyond = |what: &str, most: u64, found: u64| {
            let message = format!(
                "kernel {}: cuda:{} has at most {most} {what}, found {found}; launch less",
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

    /// Raises what the kernel is allowed, if it is not as much.
    fn allow(&self, device: &Device, bytes: u32) -> Result<(), Error> {
        if bytes <= self.dynamic_shared_max.load(Ordering::Acquire) {
            return Ok(());
        }
        let _raising = lock(&self.raising);
        if bytes > self.dynamic_shared_max.load(Ordering::Acquire) {
            device.told(self.entry.allow_dynamic_shared(bytes))?;
            self.dynamic_shared_max.store(bytes, Ordering::Release);
        }
        Ok(())
    }
}
