//! Helpers: a host, devices, data spaces, and modules written by hand.

use std::ffi::c_void;
use std::process::Command;
use std::sync::Arc;

use chipdock_plugin_api::abi::{ChipdockArtifact, ChipdockSection};
use chipdock_plugin_api::text::str_out;
use chipdock_plugin_api::{
    Any, AnyView, Artifact, ChipdockDevice, CopyEnd, CopyRequest, DataSpaceKind, DataSpaceRequest, DeviceApi,
    Env, Error, Function, HostRef, HostState as _, Module, ModuleLoader, Stream,
};
use chipdock_raw_host::{Lent, RawHost};
use chipdock_test_support::setup::missing;
use serde_json::{Value, json};

use crate::device_api::OpenClDeviceApi;
use crate::hardware::{DEVICE_TYPE, Hardware};
use crate::loader::OpenClLoader;

/// Everything that one host uses.
pub(super) struct Bench {
    pub(super) host: HostRef,
    env: &'static Lent,
    pub(super) hardware: Arc<Hardware>,
    pub(super) api: OpenClDeviceApi,
}

impl Bench {
    /// For a host of its own; none, said so, where there is no device.
    pub(super) fn new() -> Option<Self> {
        let bench = Self::of_host();
        match bench.api.device_count() {
            Ok(_) => Some(bench),
            Err(error) => {
                missing(&format!("a device for OpenCL: {error}"));
                None
            }
        }
    }

    pub(super) fn of_host() -> Self {
        let own = RawHost::leak();
        let (host, env) = (own.reference(), Lent::new(own));
        let hardware = Arc::new(Hardware::new(host));
        Self { host, env, api: OpenClDeviceApi(Arc::clone(&hardware)), hardware }
    }

    /// Makes a device and a stream current on this thread.
    pub(super) fn make_current(&self, device_id: i32, stream: Stream) {
        self.env.make_current(device_id, stream.into_raw());
    }

    pub(super) fn allocate(&self, device_id: i32, size_bytes: usize) -> *mut c_void {
        self.allocate_kind(device_id, size_bytes, DataSpaceKind::Device).unwrap()
    }

    pub(super) fn allocate_kind(
        &self,
        device_id: i32,
        size_bytes: usize,
        kind: DataSpaceKind,
    ) -> Result<*mut c_void, Error> {
        let request = DataSpaceRequest::new(size_bytes as u64, 64, kind);
        self.api.allocate_data_space(device_id, &request)
    }

    /// A data space with those numbers in it.
    pub(super) fn with<T: Copy>(&self, device_id: i32, values: &[T]) -> *mut c_void {
        let data = self.allocate(device_id, size_of_val(values));
        self.write(device_id, data, values, Stream::DEFAULT);
        self.sync(device_id, Stream::DEFAULT).unwrap();
        data
    }

    pub(super) fn free(&self, device_id: i32, data: *mut c_void) {
        // SAFETY: D.5, the tests free what they allocated, after a sync.
        unsafe { self.api.free_data_space(device_id, data) }.unwrap();
    }

    /// Queues a copy; `values` outlives the next sync.
    pub(super) fn write<T: Copy>(&self, device_id: i32, data: *mut c_void, values: &[T], stream: Stream) {
        let from = host_end(values.as_ptr().cast_mut().cast());
        self.copy(device_id, from, end(device_id, data), size_of_val(values), stream).unwrap();
    }

    pub(super) fn copy(
        &self,
        device_id: i32,
        from: CopyEnd,
        to: CopyEnd,
        size_bytes: usize,
        stream: Stream,
    ) -> Result<(), Error> {
        let copy = CopyRequest::new(from, to, size_bytes as u64);
        // SAFETY: D.6, the tests keep both ends until they have synchronised.
        unsafe { self.api.copy_data(device_id, &copy, stream) }
    }

    pub(super) fn sync(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        // SAFETY: D.7, a stream of the tests.
        unsafe { self.api.sync_stream(device_id, stream) }
    }

    /// What a data space holds, after all that is queued on the stream.
    pub(super) fn read<T: Copy + Default>(
        &self,
        device_id: i32,
        data: *mut c_void,
        count: usize,
        stream: Stream,
    ) -> Vec<T> {
        let mut values = vec![T::default(); count];
        let to = host_end(values.as_mut_ptr().cast());
        self.copy(device_id, end(device_id, data), to, size_of_val(&values[..]), stream).unwrap();
        self.sync(device_id, stream).unwrap();
        values
    }

    /// Loads a module written by hand.
    pub(super) fn load(&self, source: &str, functions: Value) -> Result<Box<dyn Module>, Error> {
        let index = json!({ "module_kind": "opencl", "format": "cl", "functions": functions });
        self.load_index(source, &index)
    }

    pub(super) fn load_index(&self, source: &str, index: &Value) -> Result<Box<dyn Module>, Error> {
        let loader = OpenClLoader { host: self.host, hardware: Arc::clone(&self.hardware) };
        // SAFETY: M.4, an environment that lives as long as the process, however often it is
        // released.
        let env = unsafe { Env::new(self.host, self.env.table()) };
        with_artifact(source, index, |artifact| loader.load(artifact, env))
    }

    /// The one function of a source that has one.
    pub(super) fn kernel(&self, source: &str, function: Value) -> Function {
        let name = function["name"].as_str().unwrap().to_owned();
        self.load(source, json!([function])).unwrap().function(&name).unwrap().unwrap()
    }

    pub(super) fn call(&self, function: &Function, args: &[Any]) -> Result<(), Error> {
        let views: Vec<AnyView<'_>> = args.iter().map(Any::view).collect();
        function.call(self.host, &views).map(drop)
    }
}

/// An artifact of that source.
pub(super) fn with_artifact<R>(source: &str, index: &Value, body: impl FnOnce(&Artifact<'_>) -> R) -> R {
    let index = index.to_string();
    let section = ChipdockSection {
        name: str_out("source"),
        kind: str_out("source"),
        alignment_bytes: 1,
        data: source.as_ptr().cast(),
        size_bytes: source.len() as u64,
    };
    let raw = ChipdockArtifact {
        index_json: str_out(&index),
        sections: &section,
        sections_count: 1,
        next: std::ptr::null(),
    };
    // SAFETY: M.3, all of it lives until `body` returns.
    body(&unsafe { Artifact::from_raw(&raw) }.unwrap())
}

pub(super) fn end(device_id: i32, data: *mut c_void) -> CopyEnd {
    CopyEnd { device: ChipdockDevice { device_type: DEVICE_TYPE, device_id }, data, offset_bytes: 0 }
}

pub(super) fn host_end(data: *mut c_void) -> CopyEnd {
    CopyEnd { device: ChipdockDevice { device_type: 1, device_id: 0 }, data, offset_bytes: 0 }
}

/// A handle as an argument of a kernel.
pub(super) fn pointer(data: *mut c_void) -> Any {
    AnyView::from_opaque(data).to_owned().unwrap()
}

/// Runs one of the ignored tests of this file in a process of its own.
pub(super) fn in_child(test: &str, environment: &[(&str, &str)]) -> Result<(), String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--nocapture"]).envs(environment.iter().copied());
    let output = command.output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let has_run = said.contains("1 passed");
    if output.status.success() && has_run {
        Ok(())
    } else {
        Err(format!("{test}: {}: {said}", output.status))
    }
}
