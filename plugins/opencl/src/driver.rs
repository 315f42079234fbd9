//! OpenCL's objects, each released once, and its calls: the only module that calls the driver.
//!
//! Handles passed to a call belong to live objects of this module, so that calls are safe unless
//! they take memory of the host ([`HostMemory`]). OpenCL's calls may be made from any thread at
//! once; only the arguments of a kernel object must not be set on two threads, and
//! [`Kernel::launch`] takes it exclusively.

use core::ffi::{CStr, c_void};
use core::ptr;
use std::sync::Arc;

use opencl3::types::{
    CL_FALSE, CL_TRUE, cl_command_queue, cl_context, cl_device_id, cl_event, cl_int, cl_kernel, cl_map_flags,
    cl_mem, cl_mem_flags, cl_platform_id, cl_program,
};
use opencl3::{command_queue, context, device, event, kernel, memory, platform, program};

/// Result of a call; the error is OpenCL's code.
pub(crate) type Answer<T> = Result<T, cl_int>;

/// Result of queueing a command.
pub(crate) type Queued = Answer<Event>;

macro_rules! owned {
    ($($(#[doc = $doc:literal])* $name:ident($raw:ty) = $release:path;)*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Debug)]
            pub(crate) struct $name($raw);

            // SAFETY: a handle; OpenCL's calls may be made from any thread, except for setting
            // arguments of kernels, which needs `&mut`.
            unsafe impl Send for $name {}
            // SAFETY: as above.
            unsafe impl Sync for $name {}

            impl Drop for $name {
                fn drop(&mut self) {
                    // SAFETY: created by this module and released only here. The driver retains
                    // objects that it still needs.
                    let _ = unsafe { $release(self.0) };
                }
            }
        )*
    };
}

owned! {
    /// The context that owns memory, programs and queues of a device.
    Context(cl_context) = context::context::release_context;
    /// An in-order queue.
    CommandQueue(cl_command_queue) = command_queue::release_command_queue;
    /// A buffer in device memory.
    Buffer(cl_mem) = memory::release_mem_object;
    /// A program for one device.
    Program(cl_program) = program::release_program;
    /// A kernel and its arguments.
    Kernel(cl_kernel) = kernel::release_kernel;
    /// The completion of a command.
    Event(cl_event) = event::release_event;
}

/// A platform: one driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlatformId(cl_platform_id);

/// A device of a platform. It lives as long as the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceId(cl_device_id);

// SAFETY: a handle that is valid as long as the process lives, on any thread.
unsafe impl Send for DeviceId {}
// SAFETY: as above.
unsafe impl Sync for DeviceId {}

/// Memory of the host that commands read and write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostMemory(*mut u8);

impl HostMemory {
    /// Host memory at an address.
    ///
    /// # Safety
    ///
    /// * Until the commands that use it are done, as many bytes as they access are live there, and
    ///   no other code accesses them in a way that races with the commands.
    pub(crate) unsafe fn new(address: *mut u8) -> Self {
        Self(address)
    }

    /// Borrowed bytes, for commands that block.
    fn borrow(bytes: &mut [u8]) -> Self {
        Self(bytes.as_mut_ptr())
    }

    /// Copies bytes immediately.
    pub(crate) fn copy_from(self, source: Self, size_bytes: usize) {
        // SAFETY: both were created with the guarantee of `new`; a copy's ranges do not overlap
        // (D.6), and `copy` allows overlap.
        unsafe { ptr::copy(source.0, self.0, size_bytes) };
    }
}

/// Lists the platforms.
pub(crate) fn platforms() -> Answer<Vec<PlatformId>> {
    Ok(platform::platform::get_platform_ids()?.into_iter().map(PlatformId).collect())
}

/// Opens the library `name`; the error is the dynamic linker's message.
pub(crate) fn open_library(name: &str) -> Result<(), String> {
    // SAFETY: OpenCL's loader runs no code when it is opened; it stays open.
    match unsafe { libloading::Library::new(name) } {
        Ok(library) => {
            core::mem::forget(library);
            Ok(())
        }
        Err(error) => {
            Err(std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string))
        }
    }
}

impl PlatformId {
    /// A text property of the platform.
    pub(crate) fn text(self, key: u32) -> Answer<String> {
        platform::platform::get_platform_data(self.0, key).map(text_of)
    }

    /// Devices of the platform with those types.
    pub(crate) fn devices(self, types: u64) -> Answer<Vec<DeviceId>> {
        Ok(device::get_device_ids(self.0, types)?.into_iter().map(DeviceId).collect())
    }
}

/// Converts the driver's bytes to text.
fn text_of(bytes: Vec<u8>) -> String {
    let text = String::from_utf8_lossy(&bytes);
    text.trim_matches(|character: char| character == '\0' || character.is_whitespace()).to_owned()
}

impl DeviceId {
    /// A text property of the device.
    pub(crate) fn text(self, key: u32) -> Answer<String> {
        device::get_device_data(self.0, key).map(text_of)
    }

    /// A number property of the device, of 4 or 8 bytes.
    pub(crate) fn number(self, key: u32) -> Answer<u64> {
        let bytes = device::get_device_data(self.0, key)?;
        Ok(number_of(&bytes))
    }

    /// A property of the device that is a list of sizes.
    pub(crate) fn sizes(self, key: u32) -> Answer<Vec<u64>> {
        Ok(device::get_device_data(self.0, key)?.chunks(size_of::<usize>()).map(number_of).collect())
    }
}

fn number_of(bytes: &[u8]) -> u64 {
    let mut number = [0; 8];
    let size = bytes.len().min(8);
    number[..size].copy_from_slice(&bytes[..size]);
    u64::from_le_bytes(number)
}

impl Context {
    /// Creates a context with only this device.
    pub(crate) fn new(device: DeviceId) -> Answer<Self> {
        context::context::create_context(&[device.0], ptr::null(), None, ptr::null_mut()).map(Self)
    }

    /// An in-order queue of the context's device; its events record times if `is_timed` and the
    /// driver supports it.
    #[expect(deprecated, reason = "the call that drivers of every version have")]
    pub(crate) fn queue(&self, device: DeviceId, is_timed: bool) -> Answer<CommandQueue> {
        // SAFETY: a live context and its device.
        let make = |flags| unsafe { command_queue::create_command_queue(self.0, device.0, flags) };
        let made = match is_timed {
            true => make(command_queue::CL_QUEUE_PROFILING_ENABLE).or_else(|_| make(0)),
            false => make(0),
        };
        made.map(CommandQueue)
    }

    /// Retains a queue that other code created; `None` if it is not an in-order queue of the device
    /// and the context.
    ///
    /// # Safety
    ///
    /// * `raw` is a live queue of the driver.
    pub(crate) unsafe fn adopt_queue(
        &self,
        device: DeviceId,
        queue: *mut c_void,
    ) -> Answer<Option<CommandQueue>> {
        let raw: cl_command_queue = queue;
        let pointer = |key| -> Answer<usize> {
            Ok(number_of(&command_queue::get_command_queue_data(raw, key)?) as usize)
        };
        let context = pointer(command_queue::CL_QUEUE_CONTEXT)?;
        let of_device = pointer(command_queue::CL_QUEUE_DEVICE)?;
        let flags = pointer(command_queue::CL_QUEUE_PROPERTIES)? as u64;
        let is_ordered = flags & command_queue::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE == 0;
        if context != self.0.addr() || of_device != device.0.addr() || !is_ordered {
            return Ok(None);
        }
        // SAFETY: the caller guarantees a live queue; the retained reference is released once.
        unsafe { command_queue::retain_command_queue(raw) }.map(|()| Some(CommandQueue(raw)))
    }

    /// Creates a buffer over host memory.
    ///
    /// # Safety
    ///
    /// * `size_bytes` bytes at `address` are live as long as the buffer.
    pub(crate) unsafe fn buffer_over(&self, address: *mut c_void, size_bytes: usize) -> Answer<Buffer> {
        let flags = memory::CL_MEM_READ_WRITE | memory::CL_MEM_USE_HOST_PTR;
        // SAFETY: a live context; the caller guarantees that the memory outlives the buffer.
        unsafe { memory::create_buffer(self.0, flags, size_bytes, address) }.map(Buffer)
    }

    /// Creates a buffer in device memory.
    pub(crate) fn buffer(&self, flags: cl_mem_flags, size_bytes: usize) -> Answer<Buffer> {
        // SAFETY: a live context; no memory of the host is used.
        unsafe { memory::create_buffer(self.0, flags, size_bytes, ptr::null_mut()) }.map(Buffer)
    }

    /// An event that the host completes.
    pub(crate) fn user_event(&self) -> Answer<Event> {
        event::create_user_event(self.0).map(Event)
    }

    /// A program from its source, not built.
    pub(crate) fn program_of_source(&self, source: &str) -> Answer<Program> {
        program::create_program_with_source(self.0, &[source]).map(Program)
    }

    /// A program from the result of an earlier [`Program::binary`], not built.
    pub(crate) fn program_of_binary(&self, device: DeviceId, binary: &[u8]) -> Answer<Program> {
        // SAFETY: a live context and its device; the bytes are borrowed for the call.
        unsafe { program::create_program_with_binary(self.0, &[device.0], &[binary]) }.map(Program)
    }
}

/// Memory that host and device access at the same address.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    context: Arc<Context>,
    address: *mut c_void,
    size_bytes: usize,
}

// SAFETY: an address and its context; code that accesses the memory justifies the access.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Allocates memory in a context whose device has fine-grained shared memory.
    pub(crate) fn new(context: &Arc<Context>, size_bytes: usize, alignment_bytes: u32) -> Answer<Self> {
        let flags = memory::CL_MEM_READ_WRITE | memory::CL_MEM_SVM_FINE_GRAIN_BUFFER;
        // SAFETY: a live context, and flags that its device supports.
        let address = unsafe { memory::svm_alloc(context.0, flags, size_bytes, alignment_bytes) }?;
        Ok(Self { context: Arc::clone(context), address, size_bytes })
    }

    /// Address of the memory.
    pub(crate) fn address(&self) -> *mut c_void {
        self.address
    }

    /// The same memory as a buffer, which must be dropped first.
    pub(crate) fn buffer(&self) -> Answer<Buffer> {
        let flags = memory::CL_MEM_READ_WRITE | memory::CL_MEM_USE_HOST_PTR;
        // SAFETY: a live context and memory of it, of that size.
        unsafe { memory::create_buffer(self.context.0, flags, self.size_bytes, self.address) }.map(Buffer)
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: allocated in this context, freed once; the data space is no longer used (D.5).
        let _ = unsafe { memory::svm_free(self.context.0, self.address) };
    }
}

/// An address of memory that the driver mapped for the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MappedAddress(*mut c_void);

// SAFETY: an address; code that accesses the memory justifies the access.
unsafe impl Send for MappedAddress {}
// SAFETY: as above.
unsafe impl Sync for MappedAddress {}

impl MappedAddress {
    /// The address of memory that another value keeps alive.
    pub(crate) fn new(address: *mut c_void) -> Self {
        Self(address)
    }

    /// The address.
    pub(crate) fn get(self) -> *mut c_void {
        self.0
    }
}

impl Buffer {
    /// The driver's handle, borrowed.
    pub(crate) fn native(&self) -> *mut c_void {
        self.0
    }
}

impl CommandQueue {
    /// The driver's handle, borrowed.
    pub(crate) fn native(&self) -> *mut c_void {
        self.0
    }

    /// Returns true if its events record times.
    pub(crate) fn is_timed(&self) -> bool {
        let flags = command_queue::get_command_queue_data(self.0, command_queue::CL_QUEUE_PROPERTIES);
        flags.is_ok_and(|flags| number_of(&flags) & command_queue::CL_QUEUE_PROFILING_ENABLE != 0)
    }

    /// Ensures that queued work begins.
    pub(crate) fn flush(&self) -> Answer<()> {
        command_queue::flush(self.0)
    }

    /// Waits for all queued work.
    pub(crate) fn finish(&self) -> Answer<()> {
        command_queue::finish(self.0)
    }

    /// Writes bytes of the host into a buffer, after `event` if one is given.
    pub(crate) fn write(
        &self,
        to: (&Buffer, usize),
        from: HostMemory,
        size_bytes: usize,
        after: Option<&Event>,
    ) -> Queued {
        let (n_events, events) = list(&after);
        let (buffer, offset) = (to.0.0, to.1);
        // SAFETY: live objects; the host memory was created with the guarantee of
        // [`HostMemory::new`].
        let queued = unsafe {
            let address = from.0.cast();
            command_queue::enqueue_write_buffer(
                self.0, buffer, CL_FALSE, offset, size_bytes, address, n_events, events,
            )
        };
        queued.map(Event)
    }

    /// Reads bytes of a buffer into memory of the host, after `event` if one is given.
    pub(crate) fn read(
        &self,
        from: (&Buffer, usize),
        to: HostMemory,
        size_bytes: usize,
        after: Option<&Event>,
    ) -> Queued {
        let (n_events, events) = list(&after);
        let (buffer, offset) = (from.0.0, from.1);
        // SAFETY: live objects; the host memory was created with the guarantee of
        // [`HostMemory::new`].
        let queued = unsafe {
            let address = to.0.cast();
            command_queue::enqueue_read_buffer(
                self.0, buffer, CL_FALSE, offset, size_bytes, address, n_events, events,
            )
        };
        queued.map(Event)
    }

    /// Copies bytes from buffer to buffer, after `event` if one is given.
    pub(crate) fn copy(
        &self,
        from: (&Buffer, usize),
        to: (&Buffer, usize),
        size_bytes: usize,
        after: Option<&Event>,
    ) -> Queued {
        let (n_events, events) = list(&after);
        // SAFETY: live objects.
        let queued = unsafe {
            command_queue::enqueue_copy_buffer(
                self.0, from.0.0, to.0.0, from.1, to.1, size_bytes, n_events, events,
            )
        };
        queued.map(Event)
    }

    /// Writes bytes into a buffer and waits until it is done.
    pub(crate) fn write_now(&self, to: (&Buffer, usize), bytes: &mut [u8]) -> Answer<()> {
        self.write(to, HostMemory::borrow(bytes), bytes.len(), None)?.wait()
    }

    /// Reads bytes of a buffer and waits until they are there.
    pub(crate) fn read_now(&self, from: (&Buffer, usize), bytes: &mut [u8]) -> Answer<()> {
        self.read(from, HostMemory::borrow(bytes), bytes.len(), None)?.wait()
    }

    /// An event for the completion of all work queued so far.
    pub(crate) fn marker(&self) -> Queued {
        // SAFETY: a live queue.
        unsafe { command_queue::enqueue_marker_with_wait_list(self.0, 0, ptr::null()) }.map(Event)
    }

    /// Makes all work queued from now on wait for the event.
    pub(crate) fn wait_for(&self, event: &Event) -> Queued {
        // SAFETY: live objects.
        unsafe { command_queue::enqueue_barrier_with_wait_list(self.0, 1, &event.0) }.map(Event)
    }

    /// Maps all of a buffer for the host, until it is unmapped. Waits for the mapping.
    pub(crate) fn map(&self, buffer: &Buffer, size_bytes: usize) -> Answer<MappedAddress> {
        let flags: cl_map_flags = memory::CL_MAP_READ | memory::CL_MAP_WRITE;
        let mut address = ptr::null_mut();
        // SAFETY: live objects.
        let queued = unsafe {
            command_queue::enqueue_map_buffer(
                self.0,
                buffer.0,
                CL_TRUE,
                flags,
                0,
                size_bytes,
                &mut address,
                0,
                ptr::null(),
            )
        };
        queued.map(Event).map(|_| MappedAddress(address))
    }

    /// Ends a mapping by [`Self::map`].
    pub(crate) fn unmap(&self, buffer: &Buffer, address: MappedAddress) -> Answer<()> {
        // SAFETY: live objects; an address that is not mapped is refused by the driver.
        let queued =
            unsafe { command_queue::enqueue_unmap_mem_object(self.0, buffer.0, address.0, 0, ptr::null()) };
        queued.map(Event).and_then(|event| event.wait())
    }
}

/// An optional event as a list.
fn list(event: &Option<&Event>) -> (u32, *const cl_event) {
    match event {
        Some(event) => (1, &raw const event.0),
        None => (0, ptr::null()),
    }
}

/// Progress of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Pending,
    Done,
    Failed(cl_int),
}

impl Event {
    /// Returns the progress of the command.
    pub(crate) fn progress(&self) -> Progress {
        match event::get_event_info(self.0, event::CL_EVENT_COMMAND_EXECUTION_STATUS) {
            // The key determines that the result is a `cl_int`.
            Ok(status) => match cl_int::from(status) {
                event::CL_COMPLETE => Progress::Done,
                code if code < 0 => Progress::Failed(code),
                _ => Progress::Pending,
            },
            Err(code) => Progress::Failed(code),
        }
    }

    /// Completion time of the command in nanoseconds of the device's clock; the command must be
    /// done, on a queue that records times.
    pub(crate) fn ended_at(&self) -> Answer<u64> {
        Ok(number_of(&event::get_event_profiling_data(self.0, event::CL_PROFILING_COMMAND_END)?))
    }

    /// Another reference to the same event.
    pub(crate) fn shared(&self) -> Answer<Self> {
        // SAFETY: a live event; the retained reference is released once.
        unsafe { event::retain_event(self.0) }.map(|()| Self(self.0))
    }

    /// Waits for the command.
    pub(crate) fn wait(&self) -> Answer<()> {
        let waited = event::wait_for_events(&[self.0]);
        match self.progress() {
            Progress::Failed(code) => Err(code),
            _ => waited,
        }
    }

    /// Completes a user event as failed.
    pub(crate) fn fail(&self, code: cl_int) -> Answer<()> {
        event::set_user_event_status(self.0, code)
    }
}

impl Program {
    /// Compiles and links the program for its device.
    pub(crate) fn build(&self, device: DeviceId, options: &CStr) -> Answer<()> {
        program::build_program(self.0, &[device.0], options, None, ptr::null_mut())
    }

    /// The compiler's log.
    pub(crate) fn log(&self, device: DeviceId) -> String {
        let log = program::get_program_build_data(self.0, device.0, program::CL_PROGRAM_BUILD_LOG);
        log.map_or_else(|code| format!("(no build log: {})", error_name(code)), text_of)
    }

    /// The built program in the driver's binary form.
    pub(crate) fn binary(&self) -> Answer<Vec<u8>> {
        let binaries = program::get_program_info(self.0, program::CL_PROGRAM_BINARIES)?;
        // The key determines that the result has one entry per device, of which there is one.
        Ok(Vec::<Vec<u8>>::from(binaries).pop().unwrap_or_default())
    }

    /// A kernel of the program, without arguments.
    pub(crate) fn kernel(&self, name: &CStr) -> Answer<Kernel> {
        kernel::create_kernel(self.0, name).map(Kernel)
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument<'a> {
    Buffer(&'a Buffer),
    Null,
    Scalar(&'a [u8]),
    /// Local memory of that many bytes.
    Local(usize),
}

impl Kernel {
    /// Number of arguments of the kernel.
    pub(crate) fn arguments_count(&self) -> Answer<u64> {
        Ok(number_of(&kernel::get_kernel_data(self.0, kernel::CL_KERNEL_NUM_ARGS)?))
    }

    /// A number property of the kernel on a device.
    pub(crate) fn number(&self, device: DeviceId, key: u32) -> Answer<u64> {
        Ok(number_of(&kernel::get_kernel_work_group_data(self.0, device.0, key)?))
    }

    /// Sets an argument.
    pub(crate) fn set(&mut self, index: usize, argument: Argument<'_>) -> Answer<()> {
        let null = ptr::null_mut::<c_void>();
        let (size, value): (usize, *const c_void) = match &argument {
            Argument::Buffer(buffer) => (size_of::<cl_mem>(), (&raw const buffer.0).cast()),
            Argument::Null => (size_of::<cl_mem>(), (&raw const null).cast()),
            Argument::Scalar(bytes) => (bytes.len(), bytes.as_ptr().cast()),
            Argument::Local(size_bytes) => (*size_bytes, ptr::null()),
        };
        // SAFETY: a live kernel that is borrowed exclusively, and a value of that size; the driver
        // copies it.
        unsafe { kernel::set_kernel_arg(self.0, index as u32, size, value) }
    }

    /// Queues a launch with the current arguments, after an event if one is given.
    pub(crate) fn launch(
        &mut self,
        queue: &CommandQueue,
        (global, local): ([usize; 3], [usize; 3]),
        after: Option<&Event>,
    ) -> Queued {
        let (global, local) = (global.as_ptr(), local.as_ptr());
        let (count, list) = list(&after);
        // SAFETY: live objects and lists of three sizes. The artifact answers for the kernel's use
        // of its arguments.
        let queued = unsafe {
            command_queue::enqueue_nd_range_kernel(
                queue.0,
                self.0,
                3,
                ptr::null(),
                global,
                local,
                count,
                list,
            )
        };
        queued.map(Event)
    }
}

/// The name of an error in OpenCL's headers.
pub(crate) fn error_name(code: cl_int) -> String {
    format!("{} ({code})", opencl3::error_codes::error_text(code))
}
