//! The same calls of OpenCL, made directly, without Chipdock.

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::error_codes::ClError;
use opencl3::kernel::Kernel as ClKernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem, cl_mem};
use opencl3::platform::get_platforms;
use opencl3::program::Program as ClProgram;
use opencl3::types::CL_BLOCKING;

use super::super::Result;
use super::{BUFFERS, Direct, DirectBuffer, DirectKernel, ELEMENTS, Program};
use chipdock_test_backends::backends::Backend;

/// Returns true if a backend's driver is OpenCL, by DLPack's number of such devices.
pub(super) fn serves(backend: &Backend) -> bool {
    backend.capabilities.device.device_type == 4
}

fn said(error: ClError) -> String {
    error.to_string()
}

/// A device with a queue of its own.
pub(super) struct Driver {
    context: Context,
    queue: CommandQueue,
}

impl Driver {
    /// Opens the device on which the backend runs.
    pub(super) fn open(backend: &Backend) -> Result<Self> {
        let mut devices = Vec::new();
        for platform in get_platforms().map_err(said)? {
            devices.extend(
                platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default().into_iter().map(Device::new),
            );
        }
        let is_it =
            |device: &&Device| device.name().is_ok_and(|name| name.trim() == backend.device_name.trim());
        let device = devices.iter().find(is_it).or(devices.first()).ok_or("no OpenCL device")?;
        let context = Context::from_device(device).map_err(said)?;
        // SAFETY: the context is live, and the device belongs to it.
        let queue =
            unsafe { CommandQueue::create_with_properties(&context, device.id(), 0, 0) }.map_err(said)?;
        Ok(Self { context, queue })
    }

    fn memory(&self, size_bytes: usize) -> Result<Buffer<u8>> {
        // SAFETY: the context is live, and no host memory is passed.
        unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, size_bytes, std::ptr::null_mut()) }
            .map_err(said)
    }
}

impl Direct for Driver {
    /// Builds the program from source, or loads it from the binary of an earlier build.
    fn kernel<'a>(&'a self, program: &Program, binary: Option<&[u8]>) -> Result<Box<dyn DirectKernel + 'a>> {
        let built = match binary {
            None => {
                let source = String::from_utf8_lossy(&program.code);
                ClProgram::create_and_build_from_source(&self.context, &source, &program.options)?
            }
            Some(binary) => {
                ClProgram::create_and_build_from_binary(&self.context, &[binary], &program.options)
                    .map_err(said)?
            }
        };
        let kernel = ClKernel::create(&built, &program.kernel.symbol).map_err(said)?;
        let buffers = (0..BUFFERS).map(|_| self.memory(ELEMENTS * 4)).collect::<Result<Vec<_>>>()?;
        let args = program.kernel.args.clone();
        Ok(Box::new(Kernel { driver: self, program: built, kernel, buffers, args }))
    }

    fn buffer<'a>(&'a self, size_bytes: usize) -> Result<Box<dyn DirectBuffer + 'a>> {
        Ok(Box::new(OfDriver { driver: self, buffer: self.memory(size_bytes)? }))
    }
}

/// A buffer on the device.
struct OfDriver<'a> {
    driver: &'a Driver,
    buffer: Buffer<u8>,
}

impl DirectBuffer for OfDriver<'_> {
    fn write(&mut self, data: &[u8]) -> Result<()> {
        let queue = &self.driver.queue;
        // SAFETY: the call blocks, and the buffer is as large as the data.
        let written = unsafe { queue.enqueue_write_buffer(&mut self.buffer, CL_BLOCKING, 0, data, &[]) };
        written.map(drop).map_err(said)
    }

    fn read(&self, data: &mut [u8]) -> Result<()> {
        let queue = &self.driver.queue;
        // SAFETY: the call blocks, and the buffer is as large as the data.
        let read = unsafe { queue.enqueue_read_buffer(&self.buffer, CL_BLOCKING, 0, data, &[]) };
        read.map(drop).map_err(said)
    }
}

/// A kernel of three buffers, on one block.
struct Kernel<'a> {
    driver: &'a Driver,
    program: ClProgram,
    kernel: ClKernel,
    buffers: Vec<Buffer<u8>>,
    args: Vec<String>,
}

impl DirectKernel for Kernel<'_> {
    /// Sets every argument and queues the kernel.
    fn launch(&self) -> Result<()> {
        let mut buffers = self.buffers.iter();
        for (index, dtype) in self.args.iter().enumerate() {
            let index = index as u32;
            let set = if dtype == "handle" {
                let buffer: cl_mem = buffers.next().ok_or("more buffers than three")?.get();
                // SAFETY: the parameter is a pointer, and the buffer is live.
                unsafe { self.kernel.set_arg(index, &buffer) }
            } else {
                // SAFETY: the only other parameter type here is int64, the offset at which a tensor
                // begins.
                unsafe { self.kernel.set_arg(index, &0_i64) }
            };
            set.map_err(said)?;
        }
        let (global, local) = ([ELEMENTS], [ELEMENTS]);
        // SAFETY: the kernel is live and has all its arguments; the sizes are of one axis.
        let queued = unsafe {
            self.driver.queue.enqueue_nd_range_kernel(
                self.kernel.get(),
                1,
                std::ptr::null(),
                global.as_ptr(),
                local.as_ptr(),
                &[],
            )
        };
        queued.map(drop).map_err(said)
    }

    fn wait(&self) -> Result<()> {
        self.driver.queue.finish().map_err(said)
    }

    fn binary(&self) -> Result<Vec<u8>> {
        self.program
            .get_binaries()
            .map_err(said)?
            .pop()
            .ok_or_else(|| "the driver gives no binary".to_owned())
    }
}
