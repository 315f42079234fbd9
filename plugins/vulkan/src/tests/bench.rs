//! Modules by hand on a device, without the device API: memory that the host reaches too.

use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::Arc;

use chipdock_plugin_api::kernel::Launch;
use chipdock_plugin_api::kit::LaunchKernel as _;
use chipdock_plugin_api::{
    Any, AnyView, ChipdockDevice, DataSpaceKind, DataSpaceRequest, Error, HostRef, HostState as _,
    ModuleLoader as _, Stream, Verdict,
};
use chipdock_test_support::setup::missing;

use super::by_hand::{Form, Parts, THREADS};
use crate::device::{DEVICE_TYPE, Device, Hardware};
use crate::loader::{Loaded, VulkanLoader};
use crate::module::interface::{ARTIFACT, Code};

/// The devices of a host of its own.
pub(super) struct Bench {
    pub(super) hardware: Arc<Hardware>,
}

impl Bench {
    /// None, said so, where there is no device.
    pub(super) fn new() -> Option<Self> {
        let hardware = Arc::new(Hardware::new(HostRef::standalone()));
        match hardware.device(0) {
            Ok(_) => Some(Self { hardware }),
            Err(error) => {
                missing(&format!("a device for Vulkan: {error}"));
                None
            }
        }
    }

    pub(super) fn device(&self) -> &Device {
        self.hardware.device(0).unwrap()
    }

    /// Host-visible memory with those numbers in it.
    pub(super) fn floats(&self, values: &[f32]) -> *mut f32 {
        let request = DataSpaceRequest::new(size_of_val(values) as u64, 64, DataSpaceKind::HostVisible);
        let data: *mut f32 = self.device().allocate(&request).unwrap().cast();
        // SAFETY: host-visible memory of that size.
        unsafe { data.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        data
    }

    pub(super) fn free(&self, data: *mut f32) {
        self.device().spaces.take(data.addr(), "the test").unwrap();
    }

    /// What the memory holds after all work.
    pub(super) fn read(&self, data: *mut f32, count: usize) -> Vec<f32> {
        self.sync().unwrap();
        // SAFETY: host-visible memory of at least that size, which no work uses.
        unsafe { std::slice::from_raw_parts(data, count) }.to_vec()
    }

    pub(super) fn sync(&self) -> Result<(), Error> {
        self.device().open().unwrap().default.sync()
    }

    pub(super) fn check(&self, parts: &Parts, device_type: i32, device_id: i32) -> Verdict {
        let loader = VulkanLoader { host: HostRef::standalone(), hardware: Arc::clone(&self.hardware) };
        parts.with(|artifact| loader.check(artifact, ChipdockDevice { device_type, device_id })).unwrap()
    }

    /// The verdict for the first device.
    pub(super) fn verdict(&self, parts: &Parts) -> Verdict {
        self.check(parts, DEVICE_TYPE, 0)
    }

    /// Loads a module for the first device.
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

    /// Launches `add` of a loaded module.
    pub(super) fn add(&self, module: &Loaded, args: &Add) -> Result<(), Error> {
        let mut values = vec![
            pointer(args.x.cast()),
            pointer(args.y.cast()),
            Any::from(args.n),
            Any::from(args.blocks),
            Any::from(args.threads),
        ];
        if module.kernels()[0].has_dynamic_shared {
            values.push(Any::from(args.shared_bytes));
        }
        let views: Vec<AnyView<'_>> = values.iter().map(Any::view).collect();
        let launch: Launch = module.kernels()[0].call(&views)?.unwrap();
        module.launch(0, 0, Stream::DEFAULT, &launch)
    }
}

/// Arguments of `add`.
#[derive(Clone, Copy)]
pub(super) struct Add {
    pub(super) x: *mut f32,
    pub(super) y: *mut f32,
    pub(super) n: i64,
    pub(super) blocks: i64,
    pub(super) threads: i64,
    pub(super) shared_bytes: i64,
}

impl Add {
    /// Of as many blocks as `n` needs.
    pub(super) fn of(x: *mut f32, y: *mut f32, n: usize) -> Self {
        let blocks = n.div_ceil(THREADS as usize) as i64;
        let threads = i64::from(THREADS);
        Self { x, y, n: n as i64, blocks, threads, shared_bytes: threads * 4 }
    }
}

fn pointer(data: *mut c_void) -> Any {
    AnyView::from_opaque(data).to_owned().unwrap()
}

/// The forms that the device supports.
pub(super) fn forms(bench: &Bench) -> Vec<Form> {
    let has_addresses = bench.device().limits().has_capability("PhysicalStorageBufferAddresses");
    let all = [Form::Push, Form::Uniform, Form::Address, Form::Shared];
    all.into_iter().filter(|form| has_addresses || *form != Form::Address).collect()
}
