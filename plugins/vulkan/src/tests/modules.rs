//! Helpers: modules by hand on a device.

use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::Arc;

use chipdock_plugin_api::kernel::Launch;
use chipdock_plugin_api::kit::LaunchKernel as _;
use chipdock_plugin_api::{
    Any, AnyView, ChipdockDevice, Env, Error, Module, ModuleLoader as _, Stream, Verdict,
};

use super::by_hand::{Form, Parts, THREADS};
use super::support::{Bench, host};
use crate::device::{DEVICE_TYPE, Device};
use crate::loader::{Loaded, VulkanLoader};
use crate::program::interface::{ARTIFACT, Code};

/// Arguments of `add`.
#[derive(Clone, Copy)]
pub(super) struct Add {
    pub(super) x: *mut c_void,
    pub(super) y: *mut c_void,
    pub(super) n: i64,
    pub(super) blocks: i64,
    pub(super) threads: i64,
    pub(super) shared_bytes: i64,
}

impl Add {
    /// Of as many blocks as `n` needs.
    pub(super) fn of(x: *mut c_void, y: *mut c_void, n: usize) -> Self {
        let blocks = n.div_ceil(THREADS as usize) as i64;
        let threads = i64::from(THREADS);
        Self { x, y, n: n as i64, blocks, threads, shared_bytes: threads * 4 }
    }

    /// As a packed call.
    pub(super) fn values(&self, has_dynamic_shared: bool) -> Vec<Any> {
        let mut values = vec![
            pointer(self.x),
            pointer(self.y),
            Any::from(self.n),
            Any::from(self.blocks),
            Any::from(self.threads),
        ];
        values.extend(has_dynamic_shared.then(|| Any::from(self.shared_bytes)));
        values
    }
}

fn pointer(data: *mut c_void) -> Any {
    AnyView::from_opaque(data).to_owned().unwrap()
}

impl Bench {
    pub(super) fn device(&self) -> &Device {
        self.hardware.device(0).unwrap()
    }

    /// The forms that the device supports.
    pub(super) fn forms(&self) -> Vec<Form> {
        let has_addresses = self.device().limits().has_capability("PhysicalStorageBufferAddresses");
        let all = [Form::Push, Form::Uniform, Form::Address, Form::Shared];
        all.into_iter().filter(|form| has_addresses || *form != Form::Address).collect()
    }

    fn loader(&self) -> VulkanLoader {
        VulkanLoader { host: host(), hardware: Arc::clone(&self.hardware) }
    }

    pub(super) fn check(&self, parts: &Parts, device_type: i32, device_id: i32) -> Verdict {
        let loader = self.loader();
        parts.with(|artifact| loader.check(artifact, ChipdockDevice { device_type, device_id })).unwrap()
    }

    /// The verdict for the first device.
    pub(super) fn verdict(&self, parts: &Parts) -> Verdict {
        self.check(parts, DEVICE_TYPE, 0)
    }

    /// Loads a module as a host does.
    pub(super) fn module(&self, parts: &Parts) -> Result<Box<dyn Module>, Error> {
        let loader = self.loader();
        // SAFETY: null, an environment without a host.
        let env = unsafe { Env::new(loader.host, std::ptr::null()) };
        parts.with(|artifact| loader.load(artifact, env))
    }

    /// Loads a module for the first device; without `is_pushed` its descriptors are written to
    /// sets.
    pub(super) fn load(
        &self,
        parts: &Parts,
        folder: Option<PathBuf>,
        is_pushed: bool,
    ) -> Result<Loaded, Error> {
        let code = parts.with(|artifact| Code::of(artifact, &ARTIFACT.index(artifact)?))?;
        let loaded = Loaded::new(&self.hardware, code, folder, is_pushed)?;
        loaded.built(self.device(), self.device().open()?.gpu())?;
        Ok(loaded)
    }

    /// Launches `add` of a loaded module on the default stream.
    pub(super) fn add(&self, module: &Loaded, args: &Add) -> Result<(), Error> {
        self.add_on(module, args, Stream::DEFAULT)
    }

    pub(super) fn add_on(&self, module: &Loaded, args: &Add, stream: Stream) -> Result<(), Error> {
        self.add_at(module, args, 0, stream)
    }

    pub(super) fn add_at(
        &self,
        module: &Loaded,
        args: &Add,
        device_id: i32,
        stream: Stream,
    ) -> Result<(), Error> {
        let kernel = &module.kernels().usable[0];
        let values = args.values(kernel.has_dynamic_shared);
        let views: Vec<AnyView<'_>> = values.iter().map(Any::view).collect();
        let launch: Launch = kernel.call(&views)?.unwrap();
        module.launch(0, device_id, stream, &launch)
    }
}
