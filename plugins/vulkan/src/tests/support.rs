//! Helpers: a host, devices, data spaces, copies.

use std::ffi::c_void;
use std::process::Command;
use std::sync::{Arc, LazyLock};

use chipdock_plugin_api::{
    ChipdockDevice, CopyEnd, CopyRequest, DataSpaceKind, DataSpaceRequest, DeviceApi, Error, ErrorKind,
    HostRef, Stream,
};
use chipdock_raw_host::RawHost;
use chipdock_test_support::setup::missing;

use super::fake::{self, Model};
use crate::device::{DEVICE_TYPE, Hardware, Instance, Means, devices_of};
use crate::device_api::VulkanDeviceApi;

/// The host of these tests.
pub(super) fn host() -> HostRef {
    static HOST: LazyLock<&RawHost> = LazyLock::new(RawHost::leak);
    HOST.reference()
}

/// Everything that one host uses.
pub(super) struct Bench {
    pub(super) hardware: Arc<Hardware>,
    pub(super) api: VulkanDeviceApi,
}

impl Bench {
    /// For a host of its own, under the validation layer; none, said so, where there is no device.
    pub(super) fn new() -> Option<Self> {
        Self::with(Means::ALL)
    }

    /// The same, with some means only.
    pub(super) fn with(means: Means) -> Option<Self> {
        let bench = Self::over(Hardware::with(host(), Some(true), means));
        match bench.api.device_count() {
            Ok(_) => Some(bench),
            Err(error) => {
                missing(&format!("a device for Vulkan, and its validation layer: {error}"));
                None
            }
        }
    }

    /// One for each choice of means.
    pub(super) fn each() -> impl Iterator<Item = Self> {
        [true, false]
            .into_iter()
            .flat_map(|timeline| [true, false].map(|direct| Means { timeline, direct }))
            .filter_map(Self::with)
    }

    /// The same, where the only driver is lavapipe, as the set-up of the tests has it.
    pub(super) fn of_lavapipe() -> Option<Self> {
        let is_alone =
            std::env::var("VK_ICD_FILENAMES").is_ok_and(|drivers| drivers.ends_with("lvp_icd.x86_64.json"));
        if !is_alone {
            missing("VK_ICD_FILENAMES that names the driver lavapipe");
            return None;
        }
        Self::new()
    }

    /// For a host of its own, without the validation layer.
    pub(super) fn of_host() -> Self {
        Self::without_validation(Means::ALL)
    }

    /// The same, with some means only.
    pub(super) fn without_validation(means: Means) -> Self {
        Self::over(Hardware::with(host(), Some(false), means))
    }

    /// Over a driver in software that has these devices.
    pub(super) fn over_fake(models: Vec<Model>) -> Self {
        let entry = fake::entry(models);
        let discover = move |has_validation| devices_of(&Arc::new(Instance::of(&entry, has_validation)?));
        Self::over(Hardware::over(host(), Some(false), Means::ALL, discover))
    }

    /// The kind of error of a new stream.
    pub(super) fn stream_error(&self, device_id: i32) -> ErrorKind {
        self.api.create_stream(device_id).unwrap_err().kind()
    }

    fn over(hardware: Hardware) -> Self {
        let hardware = Arc::new(hardware);
        Self { api: VulkanDeviceApi(Arc::clone(&hardware)), hardware }
    }

    /// The messages of the validation layer so far.
    pub(super) fn messages(&self) -> u64 {
        let device = self.hardware.device(0).unwrap();
        device.found().instance.messages().unwrap().count()
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
    pub(super) fn with_values<T: Copy>(&self, device_id: i32, values: &[T]) -> *mut c_void {
        let data = self.allocate(device_id, size_of_val(values));
        self.write(device_id, data, values, Stream::DEFAULT);
        self.sync(device_id, Stream::DEFAULT).unwrap();
        data
    }

    pub(super) fn free(&self, device_id: i32, data: *mut c_void) {
        // SAFETY: D.5, the tests free what they allocated.
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

    pub(super) fn stream(&self, device_id: i32) -> Stream {
        self.api.create_stream(device_id).unwrap()
    }

    pub(super) fn free_stream(&self, device_id: i32, stream: Stream) {
        // SAFETY: a stream of the tests, freed once.
        unsafe { self.api.free_stream(device_id, stream) }.unwrap();
    }

    pub(super) fn sync(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        // SAFETY: D.7, a stream of the tests.
        unsafe { self.api.sync_stream(device_id, stream) }
    }

    pub(super) fn wait(&self, from: Stream, to: Stream) {
        // SAFETY: D.7, both are live.
        unsafe { self.api.sync_stream_from_to(0, from, to) }.unwrap();
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
}

pub(super) fn end(device_id: i32, data: *mut c_void) -> CopyEnd {
    CopyEnd { device: ChipdockDevice { device_type: DEVICE_TYPE, device_id }, data, offset_bytes: 0 }
}

pub(super) fn host_end(data: *mut c_void) -> CopyEnd {
    CopyEnd { device: ChipdockDevice { device_type: 1, device_id: 0 }, data, offset_bytes: 0 }
}

/// Runs one of the ignored tests of this crate in a process of its own.
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
