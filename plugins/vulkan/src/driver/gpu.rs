//! The logical device: its queues, its memory, the functions of its extensions (VK-D3).

use std::ffi::c_char;
use std::sync::{Arc, Mutex, RwLock};

use ash::{khr, vk};
use chipdock_plugin_api::kit::{lock, read, write};
use chipdock_plugin_api::{Error, ErrorKind};
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use gpu_allocator::{AllocationError, AllocationSizes, AllocatorDebugSettings, MemoryLocation};

use super::entry::{Found, Instance};
use super::error::{OrFailed, failed};
use super::features;
use super::host_memory::HostMemory;

/// Sizes of the first and of later blocks of memory, from which data spaces are cut.
const BLOCK_BYTES_MIN: u64 = 8 << 20;
const DEVICE_BLOCK_BYTES_MAX: u64 = 256 << 20;
const HOST_BLOCK_BYTES_MAX: u64 = 64 << 20;

/// Optional device features that the plugin may use (tests disable them one by one).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Means {
    /// Timeline semaphores; else fences.
    pub(crate) timeline: bool,
    /// Copies by the host where memory is mapped; else through staging memory.
    pub(crate) direct: bool,
}

impl Means {
    pub(crate) const ALL: Self = Self { timeline: true, direct: true };
}

/// A logical device. Everything that is made from it keeps it alive.
pub(crate) struct Gpu {
    raw: ash::Device,
    instance: Arc<Instance>,
    name: Arc<str>,
    /// Empty only while it is dropped.
    allocator: Mutex<Option<Allocator>>,
    /// The queues, each locked while something is submitted to it.
    lanes: Vec<Mutex<vk::Queue>>,
    pub(crate) family: u32,
    timeline: Option<Timeline>,
    push_descriptor: Option<khr::push_descriptor::Device>,
    addresses: Option<Addresses>,
    has_direct_copies: bool,
    nanoseconds_per_tick: f64,
    /// Why the driver lost the device, if it did.
    lost: RwLock<Option<String>>,
}

/// The functions of timeline semaphores, by version.
enum Timeline {
    Core,
    Extension(khr::timeline_semaphore::Device),
}

/// The functions of buffers' addresses, by version.
enum Addresses {
    Core,
    Extension(khr::buffer_device_address::Device),
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // Memory is freed before the device.
        drop(lock(&self.allocator).take());
        // SAFETY: whatever was made from the device kept it alive and is gone; dropped once.
        unsafe { self.raw.destroy_device(None) };
    }
}

impl Gpu {
    /// Makes the logical device, with every feature of the table that the device supports.
    pub(crate) fn new(found: &Found, name: &Arc<str>, means: Means) -> Result<Self, Error> {
        let (limits, functions) = (&found.limits, found.instance.raw());
        let what = || format!("{name}: opening it");
        let priorities = vec![1.0; limits.queues_count as usize];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(limits.family)
            .queue_priorities(&priorities)];
        let extensions: Vec<*const c_char> =
            limits.known.to_enable().into_iter().map(|extension| extension.as_ptr()).collect();
        let raw = features::enabled(functions, found.raw, &limits.known, |features| {
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&extensions)
                .push_next(features);
            // SAFETY: a live description of features and extensions that the device supports.
            unsafe { functions.create_device(found.raw, &info, None) }
        });
        let raw = raw.or_failed(what)?;
        let lane = |index| {
            // SAFETY: a queue that the device was made with.
            Mutex::new(unsafe { raw.get_device_queue(limits.family, index) })
        };
        let has_timeline = means.timeline && limits.has_capability("timelineSemaphore");
        let is_core = limits.known.version >= vk::API_VERSION_1_2;
        let gpu = Self {
            lanes: (0..limits.queues_count).map(lane).collect(),
            timeline: has_timeline.then(|| match is_core {
                true => Timeline::Core,
                false => Timeline::Extension(khr::timeline_semaphore::Device::new(functions, &raw)),
            }),
            push_descriptor: limits
                .has_push_descriptor()
                .then(|| khr::push_descriptor::Device::new(functions, &raw)),
            allocator: Mutex::new(None),
            family: limits.family,
            has_direct_copies: means.direct,
            addresses: limits.has_capability("PhysicalStorageBufferAddresses").then(|| match is_core {
                true => Addresses::Core,
                false => Addresses::Extension(khr::buffer_device_address::Device::new(functions, &raw)),
            }),
            nanoseconds_per_tick: f64::from(limits.properties.limits.timestamp_period),
            lost: RwLock::default(),
            instance: Arc::clone(&found.instance),
            name: Arc::clone(name),
            raw,
        };
        let sizes = AllocationSizes::new(BLOCK_BYTES_MIN, BLOCK_BYTES_MIN)
            .with_max_device_memblock_size(DEVICE_BLOCK_BYTES_MAX)
            .with_max_host_memblock_size(HOST_BLOCK_BYTES_MAX);
        let mut quiet = AllocatorDebugSettings::default();
        quiet.log_leaks_on_shutdown = false;
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: functions.clone(),
            device: gpu.raw.clone(),
            physical_device: found.raw,
            debug_settings: quiet,
            buffer_device_address: gpu.addresses.is_some(),
            allocation_sizes: sizes,
        });
        *lock(&gpu.allocator) = Some(allocator.map_err(|why| no_memory(what(), &why))?);
        Ok(gpu)
    }

    /// The functions of the logical device.
    pub(crate) fn raw(&self) -> &ash::Device {
        &self.raw
    }

    /// Name of the device in errors.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The instance.
    pub(crate) fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// The functions that push descriptors, where the device supports it.
    pub(crate) fn push_descriptor(&self) -> Option<&khr::push_descriptor::Device> {
        self.push_descriptor.as_ref()
    }

    /// Returns true if buffers have addresses.
    pub(crate) fn has_addresses(&self) -> bool {
        self.addresses.is_some()
    }

    /// Returns true if the host copies where memory is mapped.
    pub(crate) fn has_direct_copies(&self) -> bool {
        self.has_direct_copies
    }

    /// The length of a tick of its timestamps.
    pub(crate) fn nanoseconds_per_tick(&self) -> f64 {
        self.nanoseconds_per_tick
    }

    /// Number of queues.
    pub(crate) fn lanes_count(&self) -> usize {
        self.lanes.len()
    }

    /// Returns true if it has timeline semaphores.
    pub(crate) fn has_timeline(&self) -> bool {
        self.timeline.is_some()
    }

    /// Submits to a queue.
    pub(crate) fn submit(
        &self,
        lane: usize,
        info: &vk::SubmitInfo<'_>,
        fence: vk::Fence,
    ) -> Result<(), vk::Result> {
        let queue = lock(&self.lanes[lane % self.lanes.len()]);
        // SAFETY: a queue of this device, which no one else uses now, and a live description.
        let result = unsafe { self.raw.queue_submit(*queue, std::slice::from_ref(info), fence) };
        drop(queue);
        result.inspect_err(|why| self.see(*why))
    }

    /// The value of a timeline semaphore.
    pub(crate) fn value_of(&self, semaphore: vk::Semaphore) -> Result<u64, vk::Result> {
        // SAFETY: a live timeline semaphore of this device.
        let value = unsafe {
            match &self.timeline {
                Some(Timeline::Extension(functions)) => functions.get_semaphore_counter_value(semaphore),
                _ => self.raw.get_semaphore_counter_value(semaphore),
            }
        };
        value.inspect_err(|why| self.see(*why))
    }

    /// Waits until a timeline semaphore has a value; `TIMEOUT` if it does not get it in time.
    pub(crate) fn wait_for(
        &self,
        semaphore: vk::Semaphore,
        value: u64,
        nanoseconds: u64,
    ) -> Result<(), vk::Result> {
        let (semaphores, values) = ([semaphore], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: a live timeline semaphore of this device.
        let waited = unsafe {
            match &self.timeline {
                Some(Timeline::Extension(functions)) => functions.wait_semaphores(&info, nanoseconds),
                _ => self.raw.wait_semaphores(&info, nanoseconds),
            }
        };
        waited.inspect_err(|why| self.see(*why))
    }

    /// Records that the driver lost the device, if a result says so.
    pub(crate) fn see(&self, result: vk::Result) {
        if result == vk::Result::ERROR_DEVICE_LOST {
            write(&self.lost).get_or_insert_with(|| "VK_ERROR_DEVICE_LOST".to_owned());
        }
    }

    /// Why the driver lost the device; `None` if it did not.
    pub(crate) fn lost(&self) -> Option<String> {
        read(&self.lost).clone()
    }

    /// Makes a buffer, of at least one byte.
    pub(crate) fn buffer(self: &Arc<Self>, request: &Request<'_>) -> Result<Buffer, Error> {
        let Request { size_bytes, alignment_bytes, location, what } = *request;
        let mut usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        if self.has_addresses() {
            usage |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        }
        // Vulkan has no empty buffers; sizes are whole words, since narrow elements are accessed by
        // words.
        let size = size_bytes.max(1).checked_next_multiple_of(4).unwrap_or(u64::MAX);
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: a live description.
        let raw = unsafe { self.raw.create_buffer(&info, None) }.or_failed(what)?;
        let mut buffer = Buffer { gpu: Arc::clone(self), raw, size_bytes: size, allocation: None };
        // SAFETY: the buffer that was just made.
        let mut requirements = unsafe { self.raw.get_buffer_memory_requirements(raw) };
        requirements.alignment = requirements.alignment.max(alignment_bytes);
        let allocation = self.allocate(raw, requirements, location).map_err(|why| no_memory(what(), &why))?;
        // SAFETY: the allocation's memory, which it owns, and a new buffer, which is bound once.
        let bound = unsafe { self.raw.bind_buffer_memory(raw, allocation.memory(), allocation.offset()) };
        buffer.allocation = Some(allocation);
        bound.or_failed(what)?;
        Ok(buffer)
    }

    fn allocate(
        &self,
        buffer: vk::Buffer,
        requirements: vk::MemoryRequirements,
        location: MemoryLocation,
    ) -> Result<Allocation, AllocationError> {
        let mut allocator = lock(&self.allocator);
        let Some(allocator) = allocator.as_mut() else { return Err(AllocationError::OutOfMemory) };
        let mut ask = |allocation_scheme| {
            let name = "data space";
            let linear = true;
            allocator.allocate(&AllocationCreateDesc {
                name,
                requirements,
                location,
                linear,
                allocation_scheme,
            })
        };
        match ask(AllocationScheme::GpuAllocatorManaged) {
            // A whole block does not fit; the buffer alone may.
            Err(why) if is_out_of_memory(&why) => ask(AllocationScheme::DedicatedBuffer(buffer)),
            result => result,
        }
    }
}

/// A buffer to be made.
pub(crate) struct Request<'a> {
    pub(crate) size_bytes: u64,
    pub(crate) alignment_bytes: u64,
    pub(crate) location: MemoryLocation,
    /// The attempted operation, for errors.
    pub(crate) what: &'a dyn Fn() -> String,
}

/// A buffer and its memory.
pub(crate) struct Buffer {
    gpu: Arc<Gpu>,
    raw: vk::Buffer,
    size_bytes: u64,
    /// Empty only until it is bound.
    allocation: Option<Allocation>,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: queued work keeps the buffers that it uses, so none uses this one; dropped once.
        unsafe { self.gpu.raw.destroy_buffer(self.raw, None) };
        if let (Some(allocation), Some(allocator)) = (self.allocation.take(), &mut *lock(&self.gpu.allocator))
        {
            // It fails only if the allocation is another allocator's.
            let _ = allocator.free(allocation);
        }
    }
}

impl Buffer {
    /// The driver's buffer.
    pub(crate) fn raw(&self) -> vk::Buffer {
        self.raw
    }

    /// Its size, a whole number of words.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The address at which the host has it, if it can reach it coherently.
    pub(crate) fn mapped(&self) -> Option<*mut u8> {
        let allocation = self.allocation.as_ref()?;
        let is_coherent = self.flags().contains(vk::MemoryPropertyFlags::HOST_COHERENT);
        allocation.mapped_ptr().filter(|_| is_coherent).map(|address| address.as_ptr().cast())
    }

    /// The same, for copies, which the buffer outlives.
    pub(crate) fn host_memory(&self) -> Option<HostMemory> {
        // SAFETY: memory of the buffer's size, which is mapped as long as it lives.
        self.mapped().map(|address| unsafe { HostMemory::new(address) })
    }

    /// Properties of its memory.
    pub(crate) fn flags(&self) -> vk::MemoryPropertyFlags {
        self.allocation.as_ref().map(Allocation::memory_properties).unwrap_or_default()
    }

    /// The address at which the device has it.
    pub(crate) fn address(&self) -> Option<u64> {
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.raw);
        // SAFETY: a live buffer that was made with SHADER_DEVICE_ADDRESS, since the device has
        // addresses.
        self.gpu.addresses.as_ref().map(|functions| unsafe {
            match functions {
                Addresses::Core => self.gpu.raw.get_buffer_device_address(&info),
                Addresses::Extension(functions) => functions.get_buffer_device_address(&info),
            }
        })
    }
}

/// Returns true if the allocator or the driver beneath it has no memory left.
fn is_out_of_memory(why: &AllocationError) -> bool {
    match why {
        AllocationError::OutOfMemory | AllocationError::FailedToMap(_) => true,
        // The crate has a text for every other result of `vkAllocateMemory`.
        AllocationError::Internal(text) => ["OUT_OF_HOST_MEMORY", "TOO_MANY_OBJECTS", "INVALID_EXTERNAL"]
            .iter()
            .any(|name| text.contains(name)),
        _ => false,
    }
}

/// The error of the allocator.
fn no_memory(what: impl std::fmt::Display, why: &AllocationError) -> Error {
    match why {
        AllocationError::Internal(text) if text.contains("DEVICE_LOST") => {
            failed(what, vk::Result::ERROR_DEVICE_LOST)
        }
        _ if is_out_of_memory(why) => {
            Error::new(ErrorKind::OUT_OF_MEMORY, format!("{what}: no memory is left ({why})"))
        }
        AllocationError::NoCompatibleMemoryTypeFound => {
            Error::new(ErrorKind::UNSUPPORTED, format!("{what}: the device has no memory of that kind"))
        }
        _ => Error::new(ErrorKind::INTERNAL, format!("{what}: {why}")),
    }
}
