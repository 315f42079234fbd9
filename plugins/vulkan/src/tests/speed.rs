//! Cost of launches compared with the same calls of Vulkan made directly. Measured on demand:
//! `cargo test --release -p chipdock-plugin-vulkan speed -- --ignored --nocapture`.

use std::ffi::CStr;
use std::time::{Duration, Instant};

use ash::{khr, vk};
use chipdock_plugin_api::{Any, AnyView, Stream};
use libloading::Library;

use super::by_hand::{Form, add};
use super::modules::Add;
use super::support::{Bench, host};

/// Launches that are queued before a wait.
const QUEUED: usize = 100;

/// The least of several tries, in turn, of each.
fn in_turn<const N: usize>(mut tries: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut least = [Duration::MAX; N];
    for _ in 0..51 {
        for (run, least) in tries.iter_mut().zip(&mut least) {
            let began = Instant::now();
            run();
            *least = (*least).min(began.elapsed());
        }
    }
    least
}

/// Vulkan's objects for the kernel, without Chipdock. They are left to the end of the process.
struct Direct {
    device: ash::Device,
    push: khr::push_descriptor::Device,
    queue: vk::Queue,
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    buffers: [vk::Buffer; 2],
    clock: vk::Semaphore,
    value: u64,
}

impl Direct {
    /// # Safety
    ///
    /// There is a Vulkan library, and its first device is of Vulkan 1.2 and supports push descriptors.
    unsafe fn new() -> Self {
        // SAFETY: the caller's obligations; each call has a live description.
        unsafe {
            let library = Box::leak(Box::new(Library::new("libvulkan.so.1").unwrap()));
            let get_instance_proc_addr = *library.get(c"vkGetInstanceProcAddr").unwrap();
            let entry = ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr });
            let version = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
            let info = vk::InstanceCreateInfo::default().application_info(&version);
            let instance = entry.create_instance(&info, None).unwrap();
            let physical = instance.enumerate_physical_devices().unwrap()[0];
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
            let names = [khr::push_descriptor::NAME.as_ptr()];
            let mut timeline =
                vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .push_next(&mut timeline);
            let device = instance.create_device(physical, &info, None).unwrap();
            let push = khr::push_descriptor::Device::new(&instance, &device);
            let memory = instance.get_physical_device_memory_properties(physical);
            let buffers = [0, 1].map(|_| buffer(&device, &memory));
            let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
            let info = vk::CommandPoolCreateInfo::default().flags(flags);
            let pool = device.create_command_pool(&info, None).unwrap();
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info).unwrap()[0];
            let mut sort = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
            let info = vk::SemaphoreCreateInfo::default().push_next(&mut sort);
            let clock = device.create_semaphore(&info, None).unwrap();
            let (layout, pipeline) = pipeline(&device);
            let queue = device.get_device_queue(0, 0);
            Self { device, push, queue, commands, layout, pipeline, buffers, clock, value: 0 }
        }
    }

    fn begin(&self) {
        let flags = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        let info = vk::CommandBufferBeginInfo::default().flags(flags);
        // SAFETY: the command buffer is in no queue.
        unsafe { self.device.begin_command_buffer(self.commands, &info) }.unwrap();
    }

    /// Records a launch, ordered after the last.
    fn launch(&self) {
        let infos =
            self.buffers.map(|buffer| [vk::DescriptorBufferInfo::default().buffer(buffer).range(256)]);
        let write = |binding: u32| {
            vk::WriteDescriptorSet::default()
                .dst_binding(binding)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&infos[binding as usize])
        };
        let (device, commands, compute) = (&self.device, self.commands, vk::PipelineBindPoint::COMPUTE);
        // SAFETY: a command buffer that is recorded, and live objects that belong together.
        unsafe {
            barrier(device, commands, vk::PipelineStageFlags::COMPUTE_SHADER, vk::AccessFlags::SHADER_READ);
            device.cmd_bind_pipeline(commands, compute, self.pipeline);
            self.push.cmd_push_descriptor_set(commands, compute, self.layout, 0, &[write(0), write(1)]);
            let stage = vk::ShaderStageFlags::COMPUTE;
            device.cmd_push_constants(commands, self.layout, stage, 0, &64_i32.to_le_bytes());
            device.cmd_dispatch(commands, 1, 1, 1);
        }
    }

    fn submit(&mut self) {
        self.value += 1;
        let (commands, semaphores, values) = ([self.commands], [self.clock], [self.value]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let info = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .signal_semaphores(&semaphores)
            .push_next(&mut timeline);
        // SAFETY: the command buffer is recorded, and one thread uses the queue.
        unsafe {
            barrier(&self.device, self.commands, vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ);
            self.device.end_command_buffer(self.commands).unwrap();
            self.device.queue_submit(self.queue, &[info], vk::Fence::null()).unwrap();
        }
    }

    fn wait(&self) {
        let (semaphores, values) = ([self.clock], [self.value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: a live semaphore.
        unsafe { self.device.wait_semaphores(&info, 10_000_000_000) }.unwrap();
    }
}

/// # Safety
///
/// A command buffer of the device that is recorded.
unsafe fn barrier(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    stage: vk::PipelineStageFlags,
    access: vk::AccessFlags,
) {
    let from = vk::PipelineStageFlags::COMPUTE_SHADER;
    let memory =
        vk::MemoryBarrier::default().src_access_mask(vk::AccessFlags::SHADER_WRITE).dst_access_mask(access);
    // SAFETY: the caller's obligation.
    unsafe {
        device.cmd_pipeline_barrier(commands, from, stage, vk::DependencyFlags::empty(), &[memory], &[], &[]);
    }
}

/// # Safety
///
/// The memory's properties are of that device.
unsafe fn buffer(device: &ash::Device, memory: &vk::PhysicalDeviceMemoryProperties) -> vk::Buffer {
    let info = vk::BufferCreateInfo::default().size(256).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
    // SAFETY: live descriptions, and memory of a type that the buffer accepts.
    unsafe {
        let buffer = device.create_buffer(&info, None).unwrap();
        let needs = device.get_buffer_memory_requirements(buffer);
        let fits = |index: &u32| needs.memory_type_bits & (1 << index) != 0;
        let index = (0..memory.memory_type_count).find(fits).unwrap();
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
        let memory = device.allocate_memory(&info, None).unwrap();
        device.bind_buffer_memory(buffer, memory, 0).unwrap();
        buffer
    }
}

/// # Safety
///
/// The device supports push descriptors.
unsafe fn pipeline(device: &ash::Device) -> (vk::PipelineLayout, vk::Pipeline) {
    const SYMBOL: &CStr = c"add_kernel";
    let spv = add(Form::Push).spv;
    let words: Vec<u32> = spv.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let stage = vk::ShaderStageFlags::COMPUTE;
    let bindings = [0, 1].map(|binding| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(binding)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(stage)
    });
    let flags = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
    let info = vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(&bindings);
    // SAFETY: live descriptions.
    unsafe {
        let sets = [device.create_descriptor_set_layout(&info, None).unwrap()];
        let ranges = [vk::PushConstantRange::default().stage_flags(stage).size(4)];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&ranges);
        let layout = device.create_pipeline_layout(&info, None).unwrap();
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let module = device.create_shader_module(&info, None).unwrap();
        let stage = vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(SYMBOL);
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        let made = device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None).unwrap();
        (layout, made[0])
    }
}

fn tell(what: &str, ours: Duration, theirs: Duration) {
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("{what}: {ours:?} against {theirs:?}, ratio {ratio:.3}");
}

#[test]
#[ignore = "a measurement"]
fn launches_beside_vulkans_own() {
    if Bench::new().is_none() {
        return;
    }
    let bench = Bench::of_host();
    let module = bench.module(&add(Form::Push)).unwrap();
    let (function, host) = (module.function("add").unwrap().unwrap(), host());
    let (x, y) = (bench.with_values(0, &[1.0_f32; 64]), bench.with_values(0, &[0.0_f32; 64]));
    let values = Add::of(x, y, 64).values(false);
    let views: Vec<AnyView<'_>> = values.iter().map(Any::view).collect();
    let ours = |count: usize| {
        for _ in 0..count {
            function.call(host, &views).unwrap();
        }
        bench.sync(0, Stream::DEFAULT).unwrap();
    };
    // SAFETY: the bench found a device; lavapipe, for which this is written, has what it needs.
    let direct = std::cell::RefCell::new(unsafe { Direct::new() });
    let theirs = |submissions: usize, each: usize| {
        let mut direct = direct.borrow_mut();
        for _ in 0..submissions {
            direct.begin();
            (0..each).for_each(|_| direct.launch());
            direct.submit();
            direct.wait();
        }
    };
    let [our_one, their_one] = in_turn([&mut || ours(1), &mut || theirs(1, 1)]);
    tell("a launch and a wait", our_one, their_one);
    let [our_many, their_many, their_each] =
        in_turn([&mut || ours(QUEUED), &mut || theirs(1, QUEUED), &mut || theirs(QUEUED, 1)]);
    tell("a hundred queued launches, against one submission", our_many, their_many);
    tell("a hundred queued launches, against a submission and a wait for each", our_many, their_each);
}
