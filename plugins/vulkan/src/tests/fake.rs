//! A driver in software that records, and runs what it recorded as late and in as unlike an order
//! as Vulkan allows: only when the host waits, later queues first, and commands between two
//! barriers backwards. Results are right only if semaphores and barriers order the work.
//!
//! Its devices have no kernels: copies and barriers are its commands. It belongs to the thread that
//! uses it.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use ash::vk;
use ash::vk::Handle as _;

/// A physical device.
#[derive(Clone)]
pub(super) struct Model {
    pub(super) name: &'static CStr,
    pub(super) version: u32,
    pub(super) sort: vk::PhysicalDeviceType,
    /// Numbers of queues by family, and whether they compute.
    pub(super) families: Vec<(u32, bool)>,
    pub(super) extensions: Vec<&'static CStr>,
    pub(super) has_timeline: bool,
    /// Size of the device-local heap.
    pub(super) heap_bytes: u64,
}

impl Model {
    /// A discrete GPU of Vulkan 1.3 with four queues.
    pub(super) fn gpu() -> Self {
        Self {
            name: c"fake",
            version: vk::API_VERSION_1_3,
            sort: vk::PhysicalDeviceType::DISCRETE_GPU,
            families: vec![(1, true), (4, true), (8, false)],
            extensions: Vec::new(),
            has_timeline: true,
            heap_bytes: 1 << 30,
        }
    }
}

#[derive(Clone, Copy)]
enum Command {
    Barrier { is_for_host: bool },
    Copy { from: u64, to: u64, region: vk::BufferCopy },
}

struct Submission {
    waits: Vec<(u64, u64)>,
    commands: Vec<Command>,
    signals: Vec<(u64, u64)>,
    fence: u64,
}

/// Memory, aligned as a driver maps it. Zeros cost nothing until they are used.
struct Memory {
    bytes: Vec<u8>,
    start: usize,
}

impl Memory {
    fn new(size_bytes: u64) -> Self {
        let bytes = vec![0; size_bytes as usize + 4096];
        let start = bytes.as_ptr().align_offset(4096);
        Self { bytes, start }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..]
    }
}

struct Buffer {
    size_bytes: u64,
    place: Option<(u64, u64)>,
}

/// Everything that the driver has.
#[derive(Default)]
pub(super) struct World {
    models: Vec<Model>,
    last: u64,
    memory: BTreeMap<u64, Memory>,
    buffers: BTreeMap<u64, Buffer>,
    /// Values; those of binary semaphores are 0 and 1.
    semaphores: BTreeMap<u64, (bool, u64)>,
    fences: BTreeMap<u64, bool>,
    recorded: BTreeMap<u64, Vec<Command>>,
    queues: BTreeMap<u64, VecDeque<Submission>>,
    /// What the next submission answers.
    pub(super) next_submit: Option<vk::Result>,
    /// Largest allocation that succeeds.
    pub(super) allocation_bytes_max: Option<u64>,
    /// Numbers of submissions by queue.
    pub(super) submissions: BTreeMap<u64, usize>,
    /// What a validation layer would complain about.
    pub(super) violations: Vec<String>,
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::default();
}

/// Calls `body` with the driver of this thread.
pub(super) fn world<R>(body: impl FnOnce(&mut World) -> R) -> R {
    WORLD.with_borrow_mut(body)
}

/// The loader, with these devices behind it.
pub(super) fn entry(models: Vec<Model>) -> ash::Entry {
    world(|world| *world = World { models, ..World::default() });
    // SAFETY: a function of that type, which lives as long as the process.
    unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr }) }
}

impl World {
    fn new_handle(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn model(&self, device: vk::PhysicalDevice) -> &Model {
        &self.models[device.as_raw() as usize - 1]
    }

    fn violate(&mut self, what: String) {
        self.violations.push(what);
    }

    /// Runs until `is_reached`, later queues first; false if nothing more can run.
    fn run(&mut self, is_reached: impl Fn(&Self) -> bool) -> bool {
        while !is_reached(self) {
            let queues: Vec<u64> = self.queues.keys().rev().copied().collect();
            let ready = queues.into_iter().find(|queue| {
                let front = self.queues[queue].front();
                front.is_some_and(|submission| {
                    let has = |(semaphore, value): &(u64, u64)| {
                        self.semaphores.get(semaphore).is_some_and(|(is_timeline, now)| {
                            if *is_timeline { now >= value } else { *now == 1 }
                        })
                    };
                    submission.waits.iter().all(has)
                })
            });
            let Some(submission) = ready.and_then(|queue| self.queues.get_mut(&queue)?.pop_front()) else {
                return false;
            };
            self.execute(submission);
        }
        true
    }

    fn execute(&mut self, submission: Submission) {
        for (semaphore, _) in &submission.waits {
            if let Some((false, value)) = self.semaphores.get_mut(semaphore) {
                *value = 0;
            }
        }
        let is_barrier = |command: &Command| matches!(command, Command::Barrier { .. });
        for part in submission.commands.split(is_barrier) {
            for command in part.iter().rev() {
                if let Command::Copy { from, to, region } = command {
                    self.copy(*from, *to, *region);
                }
            }
        }
        for (semaphore, value) in submission.signals {
            let Some((is_timeline, now)) = self.semaphores.get_mut(&semaphore) else {
                self.violate(format!("semaphore {semaphore} was destroyed before it was signalled"));
                continue;
            };
            let next = if *is_timeline { value } else { 1 };
            let grows = next > *now;
            *now = next;
            if !grows {
                self.violate(format!("semaphore {semaphore} did not grow"));
            }
        }
        if submission.fence != 0 {
            self.fences.insert(submission.fence, true);
        }
    }

    fn copy(&mut self, from: u64, to: u64, region: vk::BufferCopy) {
        let place = |world: &Self, buffer: u64, offset: u64| {
            let buffer = world.buffers.get(&buffer)?;
            let (memory, start) = buffer.place?;
            let fits = offset + region.size <= buffer.size_bytes && world.memory.contains_key(&memory);
            fits.then_some((memory, (start + offset) as usize))
        };
        let (source, destination) =
            (place(self, from, region.src_offset), place(self, to, region.dst_offset));
        let (Some((source, start)), Some((destination, end))) = (source, destination) else {
            return self.violate(format!("a copy uses a buffer or memory that is gone: {from} to {to}"));
        };
        let size = region.size as usize;
        let bytes = self.memory.get_mut(&source).map(|memory| memory.bytes()[start..start + size].to_vec());
        if let (Some(bytes), Some(memory)) = (bytes, self.memory.get_mut(&destination)) {
            memory.bytes()[end..end + size].copy_from_slice(&bytes);
        }
    }
}

const OK: vk::Result = vk::Result::SUCCESS;

/// Writes a list by Vulkan's protocol of two calls.
unsafe fn list<T: Copy>(all: &[T], count: *mut u32, to: *mut T) -> vk::Result {
    // SAFETY: a place for the count, and for as many elements as it says.
    unsafe {
        if !to.is_null() {
            ptr::copy_nonoverlapping(all.as_ptr(), to, all.len().min(*count as usize));
        }
        *count = all.len() as u32;
    }
    OK
}

/// Declares the functions of the driver, and the table of their names.
macro_rules! driver {
    ($($name:literal $($other:literal)* => fn $function:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {
        $(#[allow(unused_variables, clippy::undocumented_unsafe_blocks, reason = "every argument is as Vulkan defines it")]
        unsafe extern "system" fn $function($($arg: $type),*) $(-> $result)? $body)*

        fn function_of(name: &CStr) -> vk::PFN_vkVoidFunction {
            let address = match name.to_str().unwrap_or_default() {
                $($name $(| $other)* => $function as *const (),)*
                _ => return None,
            };
            // SAFETY: a function; who calls it knows its type by its name.
            Some(unsafe { std::mem::transmute::<*const (), unsafe extern "system" fn()>(address) })
        }
    };
}

unsafe extern "system" fn get_instance_proc_addr(
    _: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: a text that ends with a zero.
    function_of(unsafe { CStr::from_ptr(name) })
}

unsafe extern "system" fn get_device_proc_addr(_: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: a text that ends with a zero.
    function_of(unsafe { CStr::from_ptr(name) })
}

type Allocator<'a> = *const vk::AllocationCallbacks<'a>;

driver! {
    "vkGetDeviceProcAddr" => fn device_address(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
        unsafe { get_device_proc_addr(device, name) }
    }
    "vkEnumerateInstanceVersion" => fn version(to: *mut u32) -> vk::Result {
        unsafe { *to = vk::API_VERSION_1_3 };
        OK
    }
    "vkEnumerateInstanceExtensionProperties" => fn instance_extensions(
        layer: *const c_char, count: *mut u32, to: *mut vk::ExtensionProperties
    ) -> vk::Result {
        unsafe { list(&[], count, to) }
    }
    "vkEnumerateInstanceLayerProperties" => fn layers(count: *mut u32, to: *mut vk::LayerProperties) -> vk::Result {
        unsafe { list(&[], count, to) }
    }
    "vkCreateInstance" => fn create_instance(info: *const c_void, a: Allocator<'_>, to: *mut vk::Instance) -> vk::Result {
        unsafe { *to = vk::Instance::from_raw(1) };
        OK
    }
    "vkDestroyInstance" "vkDestroyDevice" => fn destroy(object: u64, a: Allocator<'_>) {}
    "vkEnumeratePhysicalDevices" => fn devices(
        instance: vk::Instance, count: *mut u32, to: *mut vk::PhysicalDevice
    ) -> vk::Result {
        let all: Vec<_> = world(|world| (1..=world.models.len() as u64).map(vk::PhysicalDevice::from_raw).collect());
        unsafe { list(&all, count, to) }
    }
    "vkGetPhysicalDeviceProperties" => fn properties(device: vk::PhysicalDevice, to: *mut vk::PhysicalDeviceProperties) {
        world(|world| {
            let (model, to) = (world.model(device), unsafe { &mut *to });
            *to = vk::PhysicalDeviceProperties { api_version: model.version, device_type: model.sort, ..Default::default() };
            to.limits.buffer_image_granularity = 1;
            for (to, from) in to.device_name.iter_mut().zip(model.name.to_bytes_with_nul()) {
                *to = *from as c_char;
            }
        });
    }
    "vkGetPhysicalDeviceProperties2" => fn properties2(
        device: vk::PhysicalDevice, to: *mut vk::PhysicalDeviceProperties2<'_>
    ) {
        unsafe { properties(device, &mut (*to).properties) }
    }
    "vkGetPhysicalDeviceFeatures2" => fn features(device: vk::PhysicalDevice, to: *mut vk::PhysicalDeviceFeatures2<'_>) {
        let has_timeline = world(|world| world.model(device).has_timeline);
        let mut next = unsafe { (*to).p_next.cast::<vk::BaseOutStructure<'_>>() };
        while let Some(structure) = unsafe { next.as_mut() } {
            if structure.s_type == vk::StructureType::PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES {
                let features = unsafe { &mut *next.cast::<vk::PhysicalDeviceTimelineSemaphoreFeatures<'_>>() };
                features.timeline_semaphore = has_timeline.into();
            }
            next = structure.p_next;
        }
    }
    "vkGetPhysicalDeviceQueueFamilyProperties" => fn families(
        device: vk::PhysicalDevice, count: *mut u32, to: *mut vk::QueueFamilyProperties
    ) {
        let family = |(queue_count, computes): &(u32, bool)| vk::QueueFamilyProperties {
            queue_flags: if *computes { vk::QueueFlags::COMPUTE } else { vk::QueueFlags::TRANSFER },
            queue_count: *queue_count,
            ..Default::default()
        };
        let all: Vec<_> = world(|world| world.model(device).families.iter().map(family).collect());
        let _ = unsafe { list(&all, count, to) };
    }
    "vkGetPhysicalDeviceMemoryProperties" => fn memory(
        device: vk::PhysicalDevice, to: *mut vk::PhysicalDeviceMemoryProperties
    ) {
        use vk::MemoryPropertyFlags as F;
        let to = unsafe { &mut *to };
        *to = vk::PhysicalDeviceMemoryProperties { memory_type_count: 2, memory_heap_count: 2, ..Default::default() };
        let host = F::HOST_VISIBLE | F::HOST_COHERENT | F::HOST_CACHED;
        for (index, property_flags) in [F::DEVICE_LOCAL, host].into_iter().enumerate() {
            to.memory_types[index] = vk::MemoryType { property_flags, heap_index: index as u32 };
        }
        let size = world(|world| world.model(device).heap_bytes);
        to.memory_heaps[0] = vk::MemoryHeap { size, flags: vk::MemoryHeapFlags::DEVICE_LOCAL };
        to.memory_heaps[1].size = 1 << 30;
    }
    "vkEnumerateDeviceExtensionProperties" => fn extensions(
        device: vk::PhysicalDevice, layer: *const c_char, count: *mut u32, to: *mut vk::ExtensionProperties
    ) -> vk::Result {
        let property = |name: &&CStr| {
            let mut property = vk::ExtensionProperties::default();
            for (to, from) in property.extension_name.iter_mut().zip(name.to_bytes_with_nul()) {
                *to = *from as c_char;
            }
            property
        };
        let all: Vec<_> = world(|world| world.model(device).extensions.iter().map(property).collect());
        unsafe { list(&all, count, to) }
    }
    "vkCreateDevice" => fn create_device(
        device: vk::PhysicalDevice, info: *const c_void, a: Allocator<'_>, to: *mut vk::Device
    ) -> vk::Result {
        unsafe { *to = vk::Device::from_raw(1) };
        OK
    }
    "vkGetDeviceQueue" => fn queue(device: vk::Device, family: u32, index: u32, to: *mut vk::Queue) {
        let handle = u64::from(family) << 8 | u64::from(index + 1);
        world(|world| world.queues.entry(handle).or_default().len());
        unsafe { *to = vk::Queue::from_raw(handle) };
    }
    "vkDeviceWaitIdle" => fn wait_idle(device: vk::Device) -> vk::Result {
        world(|world| world.run(|world| world.queues.values().all(VecDeque::is_empty)));
        OK
    }
    "vkCreateBuffer" => fn create_buffer(
        device: vk::Device, info: *const vk::BufferCreateInfo<'_>, a: Allocator<'_>, to: *mut u64
    ) -> vk::Result {
        let size_bytes = unsafe { (*info).size };
        unsafe { *to = world(|world| {
            let handle = world.new_handle();
            world.buffers.insert(handle, Buffer { size_bytes, place: None });
            handle
        }) };
        OK
    }
    "vkDestroyBuffer" => fn destroy_buffer(device: vk::Device, buffer: u64, a: Allocator<'_>) {
        world(|world| world.buffers.remove(&buffer));
    }
    "vkGetBufferMemoryRequirements" => fn requirements(
        device: vk::Device, buffer: u64, to: *mut vk::MemoryRequirements
    ) {
        let size = world(|world| world.buffers[&buffer].size_bytes.next_multiple_of(64));
        unsafe { *to = vk::MemoryRequirements { size, alignment: 64, memory_type_bits: 3 } };
    }
    "vkAllocateMemory" => fn allocate(
        device: vk::Device, info: *const vk::MemoryAllocateInfo<'_>, a: Allocator<'_>, to: *mut u64
    ) -> vk::Result {
        let size = unsafe { (*info).allocation_size };
        world(|world| {
            if world.allocation_bytes_max.is_some_and(|most| size > most) {
                return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
            }
            let handle = world.new_handle();
            world.memory.insert(handle, Memory::new(size));
            unsafe { *to = handle };
            OK
        })
    }
    "vkFreeMemory" => fn free(device: vk::Device, memory: u64, a: Allocator<'_>) {
        world(|world| world.memory.remove(&memory));
    }
    "vkMapMemory" => fn map(
        device: vk::Device, memory: u64, offset: u64, size: u64, flags: u32, to: *mut *mut c_void
    ) -> vk::Result {
        let address = world(|world| world.memory.get_mut(&memory).map_or(ptr::null_mut(), |memory| memory.bytes().as_mut_ptr()));
        unsafe { *to = address.cast() };
        OK
    }
    "vkUnmapMemory" => fn unmap(device: vk::Device, memory: u64) {}
    "vkBindBufferMemory" => fn bind(device: vk::Device, buffer: u64, memory: u64, offset: u64) -> vk::Result {
        world(|world| world.buffers.entry(buffer).and_modify(|buffer| buffer.place = Some((memory, offset))).or_insert_with(
            || Buffer { size_bytes: 0, place: None }
        ).size_bytes);
        OK
    }
    "vkCreateSemaphore" => fn create_semaphore(
        device: vk::Device, info: *const vk::SemaphoreCreateInfo<'_>, a: Allocator<'_>, to: *mut u64
    ) -> vk::Result {
        let is_timeline = unsafe { !(*info).p_next.is_null() };
        unsafe { *to = world(|world| {
            let handle = world.new_handle();
            world.semaphores.insert(handle, (is_timeline, 0));
            handle
        }) };
        OK
    }
    "vkDestroySemaphore" => fn destroy_semaphore(device: vk::Device, semaphore: u64, a: Allocator<'_>) {
        world(|world| world.semaphores.remove(&semaphore));
    }
    "vkGetSemaphoreCounterValue" "vkGetSemaphoreCounterValueKHR" => fn counter(
        device: vk::Device, semaphore: u64, to: *mut u64
    ) -> vk::Result {
        unsafe { *to = world(|world| world.semaphores.get(&semaphore).map_or(0, |(_, value)| *value)) };
        OK
    }
    "vkWaitSemaphores" "vkWaitSemaphoresKHR" => fn wait_semaphores(
        device: vk::Device, info: *const vk::SemaphoreWaitInfo<'_>, timeout: u64
    ) -> vk::Result {
        let (semaphore, value) = unsafe { ((*(*info).p_semaphores).as_raw(), *(*info).p_values) };
        let is_reached = |world: &World| world.semaphores.get(&semaphore).is_some_and(|(_, now)| *now >= value);
        if world(|world| world.run(is_reached)) { OK } else { vk::Result::ERROR_DEVICE_LOST }
    }
    "vkCreateFence" => fn create_fence(
        device: vk::Device, info: *const c_void, a: Allocator<'_>, to: *mut u64
    ) -> vk::Result {
        unsafe { *to = world(|world| {
            let handle = world.new_handle();
            world.fences.insert(handle, false);
            handle
        }) };
        OK
    }
    "vkDestroyFence" => fn destroy_fence(device: vk::Device, fence: u64, a: Allocator<'_>) {
        world(|world| world.fences.remove(&fence));
    }
    "vkGetFenceStatus" => fn fence_status(device: vk::Device, fence: u64) -> vk::Result {
        if world(|world| world.fences.get(&fence) == Some(&true)) { OK } else { vk::Result::NOT_READY }
    }
    "vkWaitForFences" => fn wait_for_fences(
        device: vk::Device, count: u32, fences: *const u64, all: vk::Bool32, timeout: u64
    ) -> vk::Result {
        let fence = unsafe { *fences };
        let is_reached = |world: &World| world.fences.get(&fence) == Some(&true);
        if world(|world| world.run(is_reached)) { OK } else { vk::Result::ERROR_DEVICE_LOST }
    }
    "vkCreateCommandPool" => fn create_pool(
        device: vk::Device, info: *const c_void, a: Allocator<'_>, to: *mut u64
    ) -> vk::Result {
        unsafe { *to = world(World::new_handle) };
        OK
    }
    "vkDestroyCommandPool" => fn destroy_pool(device: vk::Device, pool: u64, a: Allocator<'_>) {}
    "vkAllocateCommandBuffers" => fn allocate_commands(
        device: vk::Device, info: *const c_void, to: *mut vk::CommandBuffer
    ) -> vk::Result {
        unsafe { *to = vk::CommandBuffer::from_raw(world(World::new_handle)) };
        OK
    }
    "vkBeginCommandBuffer" => fn begin(commands: vk::CommandBuffer, info: *const c_void) -> vk::Result {
        world(|world| world.recorded.insert(commands.as_raw(), Vec::new()));
        OK
    }
    "vkEndCommandBuffer" => fn end_commands(commands: vk::CommandBuffer) -> vk::Result { OK }
    "vkCmdPipelineBarrier" => fn barrier(
        commands: vk::CommandBuffer, from: vk::PipelineStageFlags, to: vk::PipelineStageFlags, flags: u32, count: u32,
        barriers: *const c_void, b: u32, buffers: *const c_void, i: u32, images: *const c_void
    ) {
        let is_for_host = to == vk::PipelineStageFlags::HOST;
        world(|world| world.recorded.entry(commands.as_raw()).or_default().push(Command::Barrier { is_for_host }));
    }
    "vkCmdCopyBuffer" => fn copy_buffer(
        commands: vk::CommandBuffer, from: u64, to: u64, count: u32, regions: *const vk::BufferCopy
    ) {
        let region = unsafe { *regions };
        world(|world| world.recorded.entry(commands.as_raw()).or_default().push(Command::Copy { from, to, region }));
    }
    "vkQueueSubmit" => fn submit(
        queue: vk::Queue, count: u32, info: *const vk::SubmitInfo<'_>, fence: u64
    ) -> vk::Result {
        let info = unsafe { &*info };
        let values = unsafe { info.p_next.cast::<vk::TimelineSemaphoreSubmitInfo<'_>>().as_ref() };
        let pairs = |semaphores: *const vk::Semaphore, count: u32, values: Option<*const u64>| {
            (0..count as usize)
                .map(|index| unsafe {
                    let value = values.map_or(0, |values| *values.add(index));
                    ((*semaphores.add(index)).as_raw(), value)
                })
                .collect::<Vec<_>>()
        };
        let waits =
            pairs(info.p_wait_semaphores, info.wait_semaphore_count, values.map(|info| info.p_wait_semaphore_values));
        let signals = pairs(
            info.p_signal_semaphores, info.signal_semaphore_count, values.map(|info| info.p_signal_semaphore_values)
        );
        let commands = unsafe { (*info.p_command_buffers).as_raw() };
        world(|world| {
            if let Some(result) = world.next_submit.take() {
                return result;
            }
            let commands = world.recorded.get(&commands).cloned().unwrap_or_default();
            if !matches!(commands.last(), Some(Command::Barrier { is_for_host: true })) {
                world.violate("a batch that the host may not read".to_owned());
            }
            *world.submissions.entry(queue.as_raw()).or_default() += 1;
            world.queues.entry(queue.as_raw()).or_default().push_back(Submission { waits, commands, signals, fence });
            OK
        })
    }
}
