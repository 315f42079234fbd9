//! The same calls of Vulkan, made directly, without Chipdock.

use std::cell::{Cell, RefCell};
use std::ffi::CString;

use ash::{khr, vk};
use chipdock_test_backends::backends::Backend;
use libloading::Library;

use super::super::Result;
use super::{BUFFERS, Direct, DirectBuffer, DirectKernel, ELEMENTS, Program};

/// Command buffers of a kernel: as many launches as may be under way, each in a submission of its
/// own.
const COMMANDS: usize = 128;
/// Longest wait, in nanoseconds.
const WAIT_NANOSECONDS: u64 = 60_000_000_000;
/// Size in bytes of the header of a pipeline cache.
const HEADER_BYTES: usize = 16 + vk::UUID_SIZE;

/// Returns true if a backend's driver is Vulkan, by DLPack's number of such devices.
pub(super) fn serves(backend: &Backend) -> bool {
    backend.capabilities.device.device_type == 7
}

fn said(error: vk::Result) -> String {
    format!("Vulkan: {error}")
}

/// A logical device with a queue of its own. What is made from it is destroyed with it.
pub(super) struct Driver {
    device: ash::Device,
    push: khr::push_descriptor::Device,
    queue: vk::Queue,
    family: u32,
    memory: vk::PhysicalDeviceMemoryProperties,
    made: RefCell<Vec<Made>>,
    instance: ash::Instance,
    _library: Library,
}

/// What is destroyed with the driver, the last first.
enum Made {
    Buffer(vk::Buffer, vk::DeviceMemory),
    Pool(vk::CommandPool),
    Clock(vk::Semaphore),
    Set(vk::DescriptorSetLayout),
    Layout(vk::PipelineLayout),
    Template(vk::DescriptorUpdateTemplate),
    Shader(vk::ShaderModule),
    Cache(vk::PipelineCache),
    Pipeline(vk::Pipeline),
}

impl Drop for Driver {
    fn drop(&mut self) {
        let device = &self.device;
        // SAFETY: nothing is under way after the wait; each object is this device's and destroyed
        // once, before the device.
        unsafe {
            let _ = device.device_wait_idle();
            for made in self.made.take().into_iter().rev() {
                match made {
                    Made::Buffer(buffer, memory) => {
                        device.destroy_buffer(buffer, None);
                        device.free_memory(memory, None);
                    }
                    Made::Pool(pool) => device.destroy_command_pool(pool, None),
                    Made::Clock(clock) => device.destroy_semaphore(clock, None),
                    Made::Set(set) => device.destroy_descriptor_set_layout(set, None),
                    Made::Layout(layout) => device.destroy_pipeline_layout(layout, None),
                    Made::Template(template) => device.destroy_descriptor_update_template(template, None),
                    Made::Shader(shader) => device.destroy_shader_module(shader, None),
                    Made::Cache(cache) => device.destroy_pipeline_cache(cache, None),
                    Made::Pipeline(pipeline) => device.destroy_pipeline(pipeline, None),
                }
            }
            device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

impl Driver {
    /// Opens the device on which the backend runs, with every feature that it supports but robust
    /// access.
    pub(super) fn open(backend: &Backend) -> Result<Self> {
        // SAFETY: the backend has already loaded this library; the function of that name has that
        // type.
        let (library, entry) = unsafe {
            let library = Library::new("libvulkan.so.1").map_err(|error| error.to_string())?;
            let get = library.get(c"vkGetInstanceProcAddr").map_err(|error| error.to_string())?;
            let entry = ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: *get });
            (library, entry)
        };
        let version = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
        let info = vk::InstanceCreateInfo::default().application_info(&version);
        // SAFETY: a live description.
        let instance = unsafe { entry.create_instance(&info, None) }.map_err(said)?;
        match Self::from_instance(&instance, backend) {
            Ok((device, queue, family, physical)) => Ok(Self {
                push: khr::push_descriptor::Device::new(&instance, &device),
                queue,
                family,
                // SAFETY: a physical device of the instance.
                memory: unsafe { instance.get_physical_device_memory_properties(physical) },
                made: RefCell::default(),
                device,
                instance,
                _library: library,
            }),
            Err(error) => {
                // SAFETY: nothing was made from it; destroyed once.
                unsafe { instance.destroy_instance(None) };
                Err(error)
            }
        }
    }

    fn from_instance(
        instance: &ash::Instance,
        backend: &Backend,
    ) -> Result<(ash::Device, vk::Queue, u32, vk::PhysicalDevice)> {
        // SAFETY: a live instance, its physical devices, and live descriptions.
        unsafe {
            let all = instance.enumerate_physical_devices().map_err(said)?;
            let properties = |device: vk::PhysicalDevice| instance.get_physical_device_properties(device);
            let is_it = |device: &&vk::PhysicalDevice| {
                properties(**device)
                    .device_name_as_c_str()
                    .is_ok_and(|name| name.to_string_lossy().trim() == backend.device_name.trim())
            };
            let physical = *all.iter().find(is_it).ok_or("the device is not among Vulkan's")?;
            if properties(physical).api_version < vk::API_VERSION_1_2 {
                return Err("a device of Vulkan 1.2 is expected".to_owned());
            }
            let families = instance.get_physical_device_queue_family_properties(physical);
            let computes =
                |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
            let family = families.iter().position(computes).ok_or("no queue computes")? as u32;
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let names = [khr::push_descriptor::NAME.as_ptr()];
            let (mut v11, mut v12) = (
                vk::PhysicalDeviceVulkan11Features::default(),
                vk::PhysicalDeviceVulkan12Features::default(),
            );
            let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v11).push_next(&mut v12);
            instance.get_physical_device_features2(physical, &mut features);
            features.features.robust_buffer_access = vk::FALSE;
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .push_next(&mut features);
            let device = instance.create_device(physical, &info, None).map_err(said)?;
            let queue = device.get_device_queue(family, 0);
            Ok((device, queue, family, physical))
        }
    }

    fn keep(&self, made: Made) {
        self.made.borrow_mut().push(made);
    }

    /// A buffer in memory with these properties.
    fn memory(
        &self,
        size_bytes: usize,
        flags: &[vk::MemoryPropertyFlags],
    ) -> Result<(vk::Buffer, vk::DeviceMemory)> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(size_bytes as u64).usage(usage);
        // SAFETY: live descriptions, and memory of a type that the buffer accepts.
        unsafe {
            let buffer = self.device.create_buffer(&info, None).map_err(said)?;
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let types = &self.memory.memory_types[..self.memory.memory_type_count as usize];
            let of = |flags: &vk::MemoryPropertyFlags| {
                (0..).zip(types).find(|(index, kind)| {
                    needs.memory_type_bits & (1 << index) != 0 && kind.property_flags.contains(*flags)
                })
            };
            let allocated = flags.iter().find_map(of).ok_or_else(|| "no memory of that type".to_owned());
            let allocated = allocated.and_then(|(index, _)| {
                let info =
                    vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
                self.device.allocate_memory(&info, None).map_err(said)
            });
            let memory = allocated.inspect_err(|_| self.device.destroy_buffer(buffer, None))?;
            self.keep(Made::Buffer(buffer, memory));
            self.device.bind_buffer_memory(buffer, memory, 0).map_err(said)?;
            Ok((buffer, memory))
        }
    }

    fn commands(&self, count: u32) -> Result<Vec<vk::CommandBuffer>> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(self.family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: live descriptions.
        unsafe {
            let pool = self.device.create_command_pool(&info, None).map_err(said)?;
            self.keep(Made::Pool(pool));
            let info =
                vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(count);
            self.device.allocate_command_buffers(&info).map_err(said)
        }
    }

    fn clock(&self) -> Result<Clock> {
        let mut sort = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut sort);
        // SAFETY: a live description; the feature is enabled, which Vulkan 1.2 demands.
        let semaphore = unsafe { self.device.create_semaphore(&info, None) }.map_err(said)?;
        self.keep(Made::Clock(semaphore));
        Ok(Clock { semaphore, value: Cell::new(0) })
    }

    fn begin(&self, commands: vk::CommandBuffer) -> Result<()> {
        let flags = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        let info = vk::CommandBufferBeginInfo::default().flags(flags);
        // SAFETY: the command buffer is in no submission that is under way.
        unsafe { self.device.begin_command_buffer(commands, &info) }.map_err(said)
    }

    /// Ends a command buffer with a barrier for the host, and submits it; the clock shows its next
    /// value after it.
    fn submit(&self, commands: vk::CommandBuffer, clock: &Clock) -> Result<()> {
        self.barrier(commands, vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ);
        let value = clock.value.get() + 1;
        let (all, semaphores, values) = ([commands], [clock.semaphore], [value]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let info = vk::SubmitInfo::default()
            .command_buffers(&all)
            .signal_semaphores(&semaphores)
            .push_next(&mut timeline);
        // SAFETY: the command buffer is recorded, and one thread uses the queue.
        unsafe {
            self.device.end_command_buffer(commands).map_err(said)?;
            self.device.queue_submit(self.queue, &[info], vk::Fence::null()).map_err(said)?;
        }
        clock.value.set(value);
        Ok(())
    }

    fn wait(&self, clock: &Clock) -> Result<()> {
        let (semaphores, values) = ([clock.semaphore], [clock.value.get()]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: a live semaphore, which a submission sets to that value.
        unsafe { self.device.wait_semaphores(&info, WAIT_NANOSECONDS) }.map_err(said)
    }

    /// Records a barrier after kernels and copies.
    fn barrier(&self, commands: vk::CommandBuffer, to: vk::PipelineStageFlags, access: vk::AccessFlags) {
        let from = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
        let written = vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE;
        let memory = [vk::MemoryBarrier::default().src_access_mask(written).dst_access_mask(access)];
        let none = vk::DependencyFlags::empty();
        // SAFETY: a command buffer that is recorded.
        unsafe { self.device.cmd_pipeline_barrier(commands, from, to, none, &memory, &[], &[]) };
    }
}

/// A timeline semaphore, and the value of the last submission.
struct Clock {
    semaphore: vk::Semaphore,
    value: Cell<u64>,
}

impl Direct for Driver {
    fn kernel<'a>(&'a self, program: &Program, binary: Option<&[u8]>) -> Result<Box<dyn DirectKernel + 'a>> {
        Ok(Box::new(Kernel::new(self, program, binary.unwrap_or_default())?))
    }

    fn buffer<'a>(&'a self, size_bytes: usize) -> Result<Box<dyn DirectBuffer + 'a>> {
        type Flags = vk::MemoryPropertyFlags;
        let coherent = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        let (buffer, _) = self.memory(size_bytes, &[Flags::DEVICE_LOCAL])?;
        // Cached where there is such memory: the host reads it, too.
        let (stage, memory) = self.memory(size_bytes, &[coherent | Flags::HOST_CACHED, coherent])?;
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: memory that the host may see, mapped once.
        let mapped = unsafe { self.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags) }.map_err(said)?;
        let commands = self.commands(1)?;
        let commands = *commands.first().ok_or("no command buffer")?;
        let (mapped, clock) = (mapped.cast(), self.clock()?);
        Ok(Box::new(Buffer { driver: self, buffer, stage, mapped, size_bytes, commands, clock }))
    }
}

/// A buffer on the device, and one that the host maps, of the same size.
struct Buffer<'a> {
    driver: &'a Driver,
    buffer: vk::Buffer,
    stage: vk::Buffer,
    mapped: *mut u8,
    size_bytes: usize,
    commands: vk::CommandBuffer,
    clock: Clock,
}

impl Buffer<'_> {
    /// Copies between the two buffers, and waits.
    fn copy(&self, from: vk::Buffer, to: vk::Buffer) -> Result<()> {
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: self.size_bytes as u64 }];
        self.driver.begin(self.commands)?;
        // SAFETY: a command buffer that is recorded, and live buffers of that size.
        unsafe { self.driver.device.cmd_copy_buffer(self.commands, from, to, &region) };
        self.driver.submit(self.commands, &self.clock)?;
        self.driver.wait(&self.clock)
    }
}

impl DirectBuffer for Buffer<'_> {
    fn write(&mut self, data: &[u8]) -> Result<()> {
        let size = data.len().min(self.size_bytes);
        // SAFETY: mapped memory of at least that size, which nothing uses.
        unsafe { self.mapped.copy_from_nonoverlapping(data.as_ptr(), size) };
        self.copy(self.stage, self.buffer)
    }

    fn read(&self, data: &mut [u8]) -> Result<()> {
        self.copy(self.buffer, self.stage)?;
        let size = data.len().min(self.size_bytes);
        // SAFETY: mapped memory of at least that size, which nothing uses.
        unsafe { data.as_mut_ptr().copy_from_nonoverlapping(self.mapped, size) };
        Ok(())
    }
}

/// A kernel of three buffers, on one block; its offsets are 0.
struct Kernel<'a> {
    driver: &'a Driver,
    layout: vk::PipelineLayout,
    template: vk::DescriptorUpdateTemplate,
    cache: vk::PipelineCache,
    pipeline: vk::Pipeline,
    /// One for each binding.
    buffers: Vec<vk::DescriptorBufferInfo>,
    constants: Vec<u8>,
    commands: Vec<vk::CommandBuffer>,
    /// Whether the first command buffer is recorded.
    is_open: Cell<bool>,
    /// The command buffer of the next submission of one launch.
    next: Cell<usize>,
    clock: Clock,
}

impl<'a> Kernel<'a> {
    fn new(driver: &'a Driver, program: &Program, cached: &[u8]) -> Result<Self> {
        let device = &driver.device;
        let function = &program.index["functions"][0]["options"];
        let places = function["places"].as_array().ok_or("the kernel has no places")?;
        let bindings = places.iter().filter(|place| place["binding"].is_u64()).count();
        if bindings != BUFFERS || function["block"]["in"].as_str().is_some_and(|kind| kind != "push_constant")
        {
            return Err("a kernel of three storage buffers and push constants is expected".to_owned());
        }
        let constants = vec![0; function["block"]["size_bytes"].as_u64().unwrap_or(0) as usize];
        let (layout, template) = Self::layout(driver, bindings as u32, constants.len() as u32)?;
        let words: Vec<u32> =
            program.code.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let symbol = CString::new(program.kernel.symbol.as_str()).map_err(|error| error.to_string())?;
        // SAFETY: live descriptions; the words are those of a code generator, and the data those
        // that this driver wrote.
        let (cache, pipeline) = unsafe {
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            let shader = device.create_shader_module(&info, None).map_err(said)?;
            driver.keep(Made::Shader(shader));
            let info = vk::PipelineCacheCreateInfo::default().initial_data(cached);
            let cache = device.create_pipeline_cache(&info, None).map_err(said)?;
            driver.keep(Made::Cache(cache));
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(shader)
                .name(&symbol);
            let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
            let made = device.create_compute_pipelines(cache, &[info], None);
            let made = made.map_err(|(_, why)| said(why))?;
            let pipeline = *made.first().ok_or("no pipeline")?;
            driver.keep(Made::Pipeline(pipeline));
            (cache, pipeline)
        };
        let buffers = (0..bindings).map(|_| {
            let (buffer, _) = driver.memory(ELEMENTS * 4, &[vk::MemoryPropertyFlags::DEVICE_LOCAL])?;
            Ok(vk::DescriptorBufferInfo::default().buffer(buffer).range(vk::WHOLE_SIZE))
        });
        let buffers = buffers.collect::<Result<_>>()?;
        let (commands, clock) = (driver.commands(COMMANDS as u32)?, driver.clock()?);
        let (is_open, next) = (Cell::new(false), Cell::new(0));
        Ok(Self {
            driver,
            layout,
            template,
            cache,
            pipeline,
            buffers,
            constants,
            commands,
            is_open,
            next,
            clock,
        })
    }

    fn layout(
        driver: &Driver,
        bindings: u32,
        constants_bytes: u32,
    ) -> Result<(vk::PipelineLayout, vk::DescriptorUpdateTemplate)> {
        let (device, stage) = (&driver.device, vk::ShaderStageFlags::COMPUTE);
        let of = |binding| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)
                .stage_flags(stage)
        };
        let all: Vec<_> = (0..bindings).map(of).collect();
        let flags = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
        let info = vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(&all);
        // SAFETY: live descriptions.
        unsafe {
            let set = device.create_descriptor_set_layout(&info, None).map_err(said)?;
            driver.keep(Made::Set(set));
            let (sets, ranges) =
                ([set], [vk::PushConstantRange::default().stage_flags(stage).size(constants_bytes)]);
            let ranges = if constants_bytes == 0 { &ranges[..0] } else { &ranges[..] };
            let info =
                vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(ranges);
            let layout = device.create_pipeline_layout(&info, None).map_err(said)?;
            driver.keep(Made::Layout(layout));
            let entry = |binding: u32| vk::DescriptorUpdateTemplateEntry {
                dst_binding: binding,
                descriptor_count: 1,
                descriptor_type: vk::DescriptorType::STORAGE_BUFFER,
                offset: binding as usize * size_of::<vk::DescriptorBufferInfo>(),
                ..Default::default()
            };
            let entries: Vec<_> = (0..bindings).map(entry).collect();
            let info = vk::DescriptorUpdateTemplateCreateInfo::default()
                .descriptor_update_entries(&entries)
                .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
                .pipeline_bind_point(vk::PipelineBindPoint::COMPUTE)
                .pipeline_layout(layout);
            let template = device.create_descriptor_update_template(&info, None).map_err(said)?;
            driver.keep(Made::Template(template));
            Ok((layout, template))
        }
    }

    /// Records a launch, ordered after the one before.
    fn record(&self, commands: vk::CommandBuffer) {
        let (device, compute) = (&self.driver.device, vk::PipelineBindPoint::COMPUTE);
        let access = vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE;
        self.driver.barrier(commands, vk::PipelineStageFlags::COMPUTE_SHADER, access);
        let infos = self.buffers.as_ptr().cast();
        // SAFETY: a command buffer that is recorded; live objects that belong together; as many
        // descriptors and constants as the layout has.
        unsafe {
            device.cmd_bind_pipeline(commands, compute, self.pipeline);
            let (template, layout) = (self.template, self.layout);
            self.driver.push.cmd_push_descriptor_set_with_template(commands, template, layout, 0, infos);
            if !self.constants.is_empty() {
                let stage = vk::ShaderStageFlags::COMPUTE;
                device.cmd_push_constants(commands, layout, stage, 0, &self.constants);
            }
            device.cmd_dispatch(commands, 1, 1, 1);
        }
    }
}

impl DirectKernel for Kernel<'_> {
    /// Records it; [`Self::wait`] submits all that was recorded.
    fn launch(&self) -> Result<()> {
        let commands = self.commands[0];
        if !self.is_open.replace(true) {
            self.driver.begin(commands)?;
        }
        self.record(commands);
        Ok(())
    }

    fn launch_apart(&self) -> Option<Result<()>> {
        // The first is for launches that are submitted together.
        let commands = self.commands[1 + self.next.get()];
        self.next.set((self.next.get() + 1) % (COMMANDS - 1));
        let launched = self.driver.begin(commands).and_then(|()| {
            self.record(commands);
            self.driver.submit(commands, &self.clock)
        });
        Some(launched)
    }

    fn wait(&self) -> Result<()> {
        if self.is_open.replace(false) {
            self.driver.submit(self.commands[0], &self.clock)?;
        }
        self.driver.wait(&self.clock)
    }

    fn binary(&self) -> Result<Vec<u8>> {
        // SAFETY: a live cache.
        unsafe { self.driver.device.get_pipeline_cache_data(self.cache) }.map_err(said)
    }

    fn remark(&self, binary: &[u8]) -> &'static str {
        if binary.len() <= HEADER_BYTES {
            "; this driver keeps no code in its cache, so both compile"
        } else {
            ""
        }
    }
}
