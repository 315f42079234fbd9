//! The table of the driver's functions.

use std::ffi::{c_char, c_int, c_uint, c_void};

use cudarc::driver::sys::{CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUmodule, CUstream};
use libloading::Library;

use super::Code;
use crate::graph;
use crate::pools::Pools;

macro_rules! functions {
    ($($field:ident = $symbol:literal ($($type:ty),*);)*) => {
        /// The functions of the driver that are used, each under the symbol version that matches
        /// these types.
        pub(crate) struct Api {
            $(pub(crate) $field: unsafe extern "C" fn($($type),*) -> Code,)*
            pub(crate) pools: Option<Pools>,
            pub(crate) graphs: Option<graph::Functions>,
        }

        impl Api {
            /// An error is the name of a function that it lacks.
            ///
            /// # Safety
            ///
            /// * `library` is the CUDA driver: its symbols have the types of its header.
            pub(super) unsafe fn load(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($field: {
                        // SAFETY: the caller guarantees that the library is the CUDA driver, whose
                        // symbols have these types.
                        *unsafe { library.get($symbol) }.map_err(|_| $symbol)?
                    },)*
                    // SAFETY: as above.
                    pools: unsafe { Pools::load(library) },
                    // SAFETY: as above.
                    graphs: unsafe { graph::Functions::load(library) },
                })
            }
        }
    };
}

functions! {
    init = "cuInit"(c_uint);
    driver_version = "cuDriverGetVersion"(*mut c_int);
    error_name = "cuGetErrorName"(Code, *mut *const c_char);
    error_string = "cuGetErrorString"(Code, *mut *const c_char);
    device_count = "cuDeviceGetCount"(*mut c_int);
    device_get = "cuDeviceGet"(*mut CUdevice, c_int);
    device_name = "cuDeviceGetName"(*mut c_char, c_int, CUdevice);
    device_total_memory = "cuDeviceTotalMem_v2"(*mut usize, CUdevice);
    device_attribute = "cuDeviceGetAttribute"(*mut c_int, u32, CUdevice);
    primary_context_retain = "cuDevicePrimaryCtxRetain"(*mut CUcontext, CUdevice);
    primary_context_release = "cuDevicePrimaryCtxRelease_v2"(CUdevice);
    primary_context_reset = "cuDevicePrimaryCtxReset_v2"(CUdevice);
    context_get = "cuCtxGetCurrent"(*mut CUcontext);
    context_set = "cuCtxSetCurrent"(CUcontext);
    memory_allocate = "cuMemAlloc_v2"(*mut CUdeviceptr, usize);
    memory_free = "cuMemFree_v2"(CUdeviceptr);
    memory_allocate_host = "cuMemHostAlloc"(*mut *mut c_void, usize, c_uint);
    memory_free_host = "cuMemFreeHost"(*mut c_void);
    memory_allocate_managed = "cuMemAllocManaged"(*mut CUdeviceptr, usize, c_uint);
    memory_register = "cuMemHostRegister_v2"(*mut c_void, usize, c_uint);
    memory_unregister = "cuMemHostUnregister"(*mut c_void);
    memory_device_address = "cuMemHostGetDevicePointer_v2"(*mut CUdeviceptr, *mut c_void, c_uint);
    memory_info = "cuMemGetInfo_v2"(*mut usize, *mut usize);
    pointer_attribute = "cuPointerGetAttribute"(*mut c_void, u32, CUdeviceptr);
    copy_to_device = "cuMemcpyHtoDAsync_v2"(CUdeviceptr, *const c_void, usize, CUstream);
    copy_to_host = "cuMemcpyDtoHAsync_v2"(*mut c_void, CUdeviceptr, usize, CUstream);
    copy_within = "cuMemcpyDtoDAsync_v2"(CUdeviceptr, CUdeviceptr, usize, CUstream);
    copy_peer = "cuMemcpyPeerAsync"(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, usize, CUstream);
    copy_any = "cuMemcpyAsync"(CUdeviceptr, CUdeviceptr, usize, CUstream);
    stream_create = "cuStreamCreate"(*mut CUstream, c_uint);
    stream_destroy = "cuStreamDestroy_v2"(CUstream);
    stream_context = "cuStreamGetCtx"(CUstream, *mut CUcontext);
    stream_synchronize = "cuStreamSynchronize"(CUstream);
    stream_wait_event = "cuStreamWaitEvent"(CUstream, CUevent, c_uint);
    event_create = "cuEventCreate"(*mut CUevent, c_uint);
    event_record = "cuEventRecord"(CUevent, CUstream);
    event_query = "cuEventQuery"(CUevent);
    event_synchronize = "cuEventSynchronize"(CUevent);
    event_elapsed = "cuEventElapsedTime"(*mut f32, CUevent, CUevent);
    event_destroy = "cuEventDestroy_v2"(CUevent);
    module_load = "cuModuleLoadDataEx"(*mut CUmodule, *const c_void, c_uint, *mut u32, *mut *mut c_void);
    module_unload = "cuModuleUnload"(CUmodule);
    module_function = "cuModuleGetFunction"(*mut CUfunction, CUmodule, *const c_char);
    function_attribute = "cuFuncGetAttribute"(*mut c_int, u32, CUfunction);
    function_set_attribute = "cuFuncSetAttribute"(CUfunction, u32, c_int);
    launch = "cuLaunchKernel"(
        CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void, *mut *mut c_void
    );
    launch_cooperative = "cuLaunchCooperativeKernel"(
        CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void
    );
}
