//! `module.load.vulkan`: pipelines for each device that is used, and functions that launch them.

use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use chipdock_plugin_api::graph::Graph;
use chipdock_plugin_api::kernel::{Kernels, Launch};
use chipdock_plugin_api::kit::{KernelModule, LaunchKernel, read, record_launch, write};
use chipdock_plugin_api::timeline::Timelines;
use chipdock_plugin_api::{
    Artifact, ChipdockDevice, Env, Error, HostRef, Module, ModuleLoader, Stream, Verdict,
};

use crate::device::{Device, Gpu, Hardware};
use crate::program::cache;
use crate::program::interface::{ARTIFACT, Code};
use crate::program::launch::Built;
use crate::program::needs;

/// The loader of one host.
pub(crate) struct VulkanLoader {
    pub(crate) host: HostRef,
    pub(crate) hardware: Arc<Hardware>,
}

impl ModuleLoader for VulkanLoader {
    fn check(&self, artifact: &Artifact<'_>, device: ChipdockDevice) -> Result<Verdict, Error> {
        ARTIFACT.check(artifact, |index| {
            let code = Code::of(artifact, index)?;
            if let Some(why) = self.hardware.devices().other_type(device) {
                return Ok(Verdict::Unsupported(why));
            }
            Ok(match self.hardware.device(device.device_id) {
                Ok(device) => needs::missing(&code, device.limits(), device.name())
                    .map_or(Verdict::Runs, Verdict::Unsupported),
                Err(error) => Verdict::Unsupported(error.message().into_owned()),
            })
        })
    }

    fn load(&self, artifact: &Artifact<'_>, env: Env) -> Result<Box<dyn Module>, Error> {
        let index = ARTIFACT.index(artifact)?;
        let code = Code::of(artifact, &index)?;
        // Read now: the host must not be called under the lock of a build.
        let folder = self.host.setting(&cache::FOLDER)?;
        let current = env.current_device(self.hardware.devices().device_type())?;
        let loaded = Loaded::new(&self.hardware, code, folder, true)?;
        // Built now for the current device, so that errors of the driver are not delayed to the
        // first call; other devices build on use.
        let device = self.hardware.device(current)?;
        loaded.built(device, device.open()?.gpu())?;
        Ok(Box::new(KernelModule::new(self.host, env, loaded)))
    }
}

/// A loaded module. Fields are dropped in order: what was built before the devices.
pub(crate) struct Loaded {
    /// By device.
    built: Vec<RwLock<Option<Arc<Built>>>>,
    code: Code,
    folder: Option<PathBuf>,
    is_pushed: bool,
    hardware: Arc<Hardware>,
}

impl Loaded {
    /// A module, built for no device yet; without `is_pushed` descriptors are always written to
    /// sets.
    pub(crate) fn new(
        hardware: &Arc<Hardware>,
        code: Code,
        folder: Option<PathBuf>,
        is_pushed: bool,
    ) -> Result<Self, Error> {
        let built = hardware.devices().all()?.iter().map(|_| RwLock::default()).collect();
        Ok(Self { built, code, folder, is_pushed, hardware: Arc::clone(hardware) })
    }

    /// The module on a device, built by the first call that needs it, and again for a device that
    /// was opened again.
    pub(crate) fn built(&self, device: &Device, gpu: &Arc<Gpu>) -> Result<Arc<Built>, Error> {
        let is_current = |built: &&Arc<Built>| Arc::ptr_eq(&built.gpu, gpu);
        let slot = usize::try_from(device.id()).ok().and_then(|id| self.built.get(id));
        let slot =
            slot.ok_or_else(|| ARTIFACT.error(format_args!("{} came after the module", device.name())))?;
        if let Some(built) = read(slot).as_ref().filter(is_current) {
            return Ok(Arc::clone(built));
        }
        let mut place = write(slot);
        if let Some(built) = place.as_ref().filter(is_current) {
            return Ok(Arc::clone(built));
        }
        let built = Arc::new(Built::new(device, gpu, &self.code, self.folder.clone(), self.is_pushed)?);
        *place = Some(Arc::clone(&built));
        Ok(built)
    }
}

/// A kernel of a module, as launches of it are recorded (N.41).
pub(crate) struct RecordedKernel {
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) position: usize,
}

impl LaunchKernel for Loaded {
    fn device_type(&self) -> i32 {
        self.hardware.devices().device_type()
    }

    fn kernels(&self) -> &Kernels {
        &self.code.kernels
    }

    fn launch(&self, position: usize, device_id: i32, stream: Stream, launch: &Launch) -> Result<(), Error> {
        self.hardware.devices().check_running()?;
        let device = self.hardware.device(device_id)?;
        let queue = device.stream(stream.into_raw().addr())?;
        self.built(device, queue.gpu())?.launch(position, device, &queue, launch)
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
        self.hardware.devices().check_running()?;
        record_launch(&*self.hardware, device_id, graph, launch, |launch| {
            let device = self.hardware.device(device_id)?;
            self.built(device, device.open()?.gpu())?.prepare(position, device, launch)?;
            Ok(RecordedKernel { loaded: Arc::clone(self), position })
        })
    }

    fn timelines(&self) -> Option<&dyn Timelines> {
        Some(&self.hardware)
    }
}
