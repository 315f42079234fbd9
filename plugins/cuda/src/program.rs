//! Code loaded on a device, and its kernels.

use std::ffi::{CString, c_int, c_uint, c_void};
use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUfunction, CUmodule};

use crate::driver::{Context, Failure, Stream, raw_stream};

/// Size in bytes of the buffer for the log of the driver's compiler.
const JIT_LOG_BYTES: usize = 16 << 10;

impl Context {
    /// Loads PTX or a cubin; the failure has the log of the driver's compiler.
    ///
    /// # Safety
    ///
    /// * `image` is NUL-terminated text, or an ELF file all of whose parts lie within it.
    pub(crate) unsafe fn load(self: &Arc<Self>, image: &[u8]) -> Result<Image, Failure> {
        use sys::CUjit_option_enum as O;
        let (mut raw, mut log) = (ptr::null_mut(), vec![0_u8; JIT_LOG_BYTES]);
        let mut options = [O::CU_JIT_ERROR_LOG_BUFFER as u32, O::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES as u32];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(JIT_LOG_BYTES)];
        // SAFETY: the caller guarantees a valid image; the log buffer is one byte longer than the
        // size passed.
        let loaded = self.call("cuModuleLoadDataEx", |api| unsafe {
            let (count, image) = (options.len() as c_uint, image.as_ptr().cast());
            (api.module_load)(&mut raw, image, count, options.as_mut_ptr(), values.as_mut_ptr())
        });
        loaded.map_err(|mut failure| {
            let length = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
            let log = String::from_utf8_lossy(&log[..length]);
            if !log.trim().is_empty() {
                failure.text.push_str(&format!("; its compiler says:\n{}", log.trim()));
            }
            failure
        })?;
        Ok(Image { context: Arc::clone(self), raw })
    }
}

/// Code loaded by a context; unloaded when this is dropped.
pub(crate) struct Image {
    context: Arc<Context>,
    raw: CUmodule,
}

// SAFETY: a handle; the driver has its own locks.
unsafe impl Send for Image {}
// SAFETY: as above.
unsafe impl Sync for Image {}

impl Image {
    /// The kernel with that name.
    pub(crate) fn entry(self: &Arc<Self>, symbol: &str) -> Result<LoadedKernel, Failure> {
        let name = CString::new(symbol).unwrap_or_default();
        let mut raw = ptr::null_mut();
        // SAFETY: a valid place to write to, a loaded module and a NUL-terminated text.
        self.context.call("cuModuleGetFunction", |api| unsafe {
            (api.module_function)(&mut raw, self.raw, name.as_ptr())
        })?;
        let ask = |attribute: sys::CUfunction_attribute| {
            let mut value = 0;
            // SAFETY: a valid place to write to and a kernel of a loaded module.
            self.context.call("cuFuncGetAttribute", |api| unsafe {
                (api.function_attribute)(&mut value, attribute as u32, raw)
            })?;
            Ok(u64::try_from(value).unwrap_or(0))
        };
        use sys::CUfunction_attribute_enum as A;
        let threads_max = ask(A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        let static_shared_bytes = ask(A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        Ok(LoadedKernel { image: Arc::clone(self), raw, threads_max, static_shared_bytes })
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: loaded by this value, unloaded once; the driver waits for kernels that still run.
        self.context.release(|api| unsafe { (api.module_unload)(self.raw) });
    }
}

/// A kernel of loaded code.
pub(crate) struct LoadedKernel {
    image: Arc<Image>,
    raw: CUfunction,
    /// Maximum number of threads per block, limited by the registers that the kernel uses.
    pub(crate) threads_max: u64,
    /// Shared memory of constant size per block, in bytes.
    pub(crate) static_shared_bytes: u64,
}

// SAFETY: a handle; the driver has its own locks.
unsafe impl Send for LoadedKernel {}
// SAFETY: as above.
unsafe impl Sync for LoadedKernel {}

/// Launch parameters of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) blocks: [u32; 3],
    pub(crate) threads: [u32; 3],
    pub(crate) dynamic_shared_bytes: u32,
    pub(crate) is_cooperative: bool,
}

impl LoadedKernel {
    /// The driver's handle.
    pub(crate) fn raw(&self) -> CUfunction {
        self.raw
    }

    /// Allows launches with that many bytes of dynamic shared memory.
    pub(crate) fn allow_dynamic_shared(&self, bytes: u32) -> Result<(), Failure> {
        let attribute = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let bytes = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: a kernel of a loaded module.
        self.image.context.call("cuFuncSetAttribute", |api| unsafe {
            (api.function_set_attribute)(self.raw, attribute as u32, bytes)
        })
    }

    /// Queues a launch.
    ///
    /// # Safety
    ///
    /// * `args` points to a value for each parameter of the kernel, with its type; memory that the
    ///   values point to lives, and is used by no other code, until the work is done.
    pub(crate) unsafe fn launch(
        &self,
        grid: &Grid,
        stream: Option<&Stream>,
        args: &mut [*mut c_void],
    ) -> Result<(), Failure> {
        let ([gx, gy, gz], [bx, by, bz]) = (grid.blocks, grid.threads);
        let (shared, stream) = (grid.dynamic_shared_bytes, raw_stream(stream));
        let args = args.as_mut_ptr();
        // SAFETY: the caller guarantees matching arguments; the stream is alive and of this
        // context.
        unsafe {
            if grid.is_cooperative {
                return self.image.context.call("cuLaunchCooperativeKernel", |api| {
                    (api.launch_cooperative)(self.raw, gx, gy, gz, bx, by, bz, shared, stream, args)
                });
            }
            self.image.context.call("cuLaunchKernel", |api| {
                (api.launch)(self.raw, gx, gy, gz, bx, by, bz, shared, stream, args, ptr::null_mut())
            })
        }
    }
}
