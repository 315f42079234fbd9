//! The CUDA driver's interface in software, as far as the plugin `cuda` uses it: for tests without
//! a GPU.
//!
//! Device memory has addresses that no process uses, streams are threads, contexts, events and
//! modules are looked up and counted, launches are checked against limits, and a failure of queued
//! work poisons the context as a real one does. It cannot run kernels; see `module.rs`. It follows
//! the driver's documentation and is independent of the plugin: even the numbers of codes and
//! attributes are written out here.
//!
//! Environment variables set the number of devices (`FAKE_CUDA_DEVICES`, by default 2) and the
//! delay of each piece of work (`FAKE_CUDA_DELAY_US`). Functions whose names begin with
//! `fake_cuda_` are for tests.

mod code;
mod graph;
mod launch;
mod memory;
mod module;
mod queue;
mod state;

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Instant;

use code::Code;
use launch::Launch;
use queue::{Queue, lock};
use state::{Device, Event, N_CALLS, STATE, call};

/// Writes a result to a place that the caller of the driver passed.
///
/// # Safety
///
/// * `place` is null or writable.
unsafe fn put<T>(place: *mut T, value: T) -> Result<(), Code> {
    if place.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: the caller guarantees that `place` is null or writable, and it is not null here.
    unsafe { place.write(value) };
    Ok(())
}

macro_rules! exports {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) $body:block)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// * The requirements of the function in the driver's documentation.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> Code $body
        )*
    };
}

/// The header's flag of an event that records no time.
const DISABLE_TIMING: c_uint = 2;

fn devices_count() -> usize {
    std::env::var("FAKE_CUDA_DEVICES").ok().and_then(|text| text.parse().ok()).unwrap_or(2)
}

exports! {
    /// Initialises the driver.
    fn cuInit(flags: c_uint) {
        N_CALLS.fetch_add(1, Ordering::Relaxed);
        let mut state = lock(&STATE);
        if flags != 0 {
            return code::INVALID_VALUE;
        }
        if devices_count() == 0 {
            return code::NO_DEVICE;
        }
        if !state.is_initialised {
            state.is_initialised = true;
            state.devices = (0..devices_count()).map(|_| Device {
                n_retained: 0, is_active: false, used: 0, default: Arc::default(), poison: Arc::new(AtomicU32::new(0)),
            }).collect();
        }
        code::SUCCESS
    }

    /// The version of the interface.
    fn cuDriverGetVersion(version: *mut c_int) {
        // SAFETY: the caller passes a valid place to write to.
        unsafe { put(version, 13_000) }.err().unwrap_or(code::SUCCESS)
    }

    /// The name of a code.
    fn cuGetErrorName(error: Code, text: *mut *const c_char) {
        let name = code::words(error).map(|(name, _)| name.as_ptr());
        // SAFETY: the caller passes a valid place to write to.
        unsafe { put(text, name.unwrap_or(ptr::null())) }.err().unwrap_or(code::SUCCESS)
    }

    /// The description of a code.
    fn cuGetErrorString(error: Code, text: *mut *const c_char) {
        let meaning = code::words(error).map(|(_, meaning)| meaning.as_ptr());
        // SAFETY: the caller passes a valid place to write to.
        unsafe { put(text, meaning.unwrap_or(ptr::null())) }.err().unwrap_or(code::SUCCESS)
    }

    /// Internal tables of the driver, of which there are none. NVRTC queries one if it finds a
    /// driver, without checking that this function exists.
    fn cuGetExportTable(_table: *mut *const c_void, _id: *const c_void) {
        code::NOT_FOUND
    }

    /// Number of devices.
    fn cuDeviceGetCount(count: *mut c_int) {
        // SAFETY: the caller passes a valid place to write to.
        call(|state| unsafe { put(count, state.devices.len() as c_int) })
    }

    /// A device by its number.
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        call(|state| {
            if usize::try_from(ordinal).is_ok_and(|ordinal| ordinal < state.devices.len()) {
                // SAFETY: the caller passes a valid place to write to.
                unsafe { put(device, ordinal) }
            } else {
                Err(code::INVALID_DEVICE)
            }
        })
    }

    /// Name of a device.
    fn cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) {
        call(|_| {
            let text = format!("Fake CUDA device {device}");
            let length = (length.max(1) as usize - 1).min(text.len());
            // SAFETY: the caller passes a buffer of that size; the last byte is zero.
            unsafe {
                name.cast::<u8>().copy_from(text.as_ptr(), length);
                put(name.add(length), 0)
            }
        })
    }

    /// Total memory of a device.
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) {
        // SAFETY: the caller passes a valid place to write to.
        call(|_| unsafe { put(bytes, state::MEMORY_BYTES) })
    }

    /// An attribute of a device, by the header's number.
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: u32, _device: c_int) {
        call(|_| {
            let found = match attribute {
                1 => 1024,                               // threads of a block
                2..=4 => launch::BLOCK_MAX[attribute as usize - 2] as c_int,
                5..=7 => launch::GRID_MAX[attribute as usize - 5] as c_int,
                8 => module::SHARED_BYTES as c_int,      // shared memory of a block
                10 => 32,                                // threads of a warp
                12 => 65_536,                            // registers of a block
                13 => 1_500_000,                         // clock rate
                16 => 16,                                // multiprocessors
                38 => 4 << 20,                           // second-level cache
                75 => module::CAPABILITY.0,
                76 => module::CAPABILITY.1,
                83 | 89 | 95 => 1,                       // managed memory, used by both at once, cooperative launches
                115 => 1,                                // memory pools
                97 => module::SHARED_OPTIN_BYTES as c_int,
                _ => return Err(code::INVALID_VALUE),
            };
            // SAFETY: the caller passes a valid place to write to.
            unsafe { put(value, found) }
        })
    }

    /// Retains the primary context.
    fn cuDevicePrimaryCtxRetain(context: *mut usize, device: c_int) {
        call(|state| {
            let known = usize::try_from(device).ok().and_then(|id| state.devices.get_mut(id));
            let known = known.ok_or(code::INVALID_DEVICE)?;
            known.n_retained += 1;
            known.is_active = true;
            // SAFETY: the caller passes a valid place to write to.
            unsafe { put(context, state::context_handle(device)) }
        })
    }

    /// Releases the primary context; the last release destroys its resources.
    fn cuDevicePrimaryCtxRelease_v2(device: c_int) {
        call(|state| {
            let known = usize::try_from(device).ok().and_then(|id| state.devices.get_mut(id));
            let known = known.filter(|known| known.n_retained > 0).ok_or(code::INVALID_CONTEXT)?;
            known.n_retained -= 1;
            if known.n_retained > 0 {
                return Ok(());
            }
            state.reset(device);
            Ok(())
        })
    }

    /// Destroys the resources of the primary context, however often it is retained; it is empty
    /// when it is retained again.
    fn cuDevicePrimaryCtxReset_v2(device: c_int) {
        call(|state| {
            if usize::try_from(device).is_ok_and(|id| id < state.devices.len()) {
                state.reset(device);
                return Ok(());
            }
            Err(code::INVALID_DEVICE)
        })
    }

    /// The context that is current on this thread.
    fn cuCtxGetCurrent(context: *mut usize) {
        let current = state::current();
        let handle = if current < 0 { 0 } else { state::context_handle(current) };
        // SAFETY: the caller passes a valid place to write to.
        call(|_| unsafe { put(context, handle) })
    }

    /// Makes a context current on this thread.
    fn cuCtxSetCurrent(context: usize) {
        call(|state| {
            let device = if context == 0 { Some(-1) } else { state.device_of(context) };
            state::set_current(device.ok_or(code::INVALID_CONTEXT)?);
            Ok(())
        })
    }

    /// Makes a stream.
    fn cuStreamCreate(stream: *mut usize, flags: c_uint) {
        call(|state| {
            let device = state.entered()?;
            // Blocking streams wait for the default one; the plugin never requests one.
            if flags != 1 {
                return Err(code::INVALID_VALUE);
            }
            let handle = state.handle();
            state.streams.insert(handle, (device, Arc::<Queue>::default()));
            // SAFETY: the caller passes a valid place to write to.
            unsafe { put(stream, handle) }
        })
    }

    /// Destroys a stream; queued work is still done.
    fn cuStreamDestroy_v2(stream: usize) {
        call(|state| {
            let (_, queue) = state.streams.remove(&stream).ok_or(code::INVALID_HANDLE)?;
            queue.close();
            Ok(())
        })
    }

    /// Waits for a stream.
    fn cuStreamSynchronize(stream: usize) {
        let mut queue = None;
        let found = call(|state| {
            queue = Some(state.queue(stream)?.1);
            Ok(())
        });
        if let Some(queue) = queue {
            queue.synchronize();
            return call(|state| state.entered().map(drop));
        }
        found
    }

    /// The context that a stream is of.
    fn cuStreamGetCtx(stream: usize, context: *mut usize) {
        call(|state| {
            let device = if stream <= 2 { state.entered()? } else {
                state.streams.get(&stream).ok_or(code::INVALID_HANDLE)?.0
            };
            // SAFETY: the caller passes a valid place to write to.
            unsafe { put(context, state::context_handle(device)) }
        })
    }

    /// Makes a stream wait for an event.
    fn cuStreamWaitEvent(stream: usize, event: usize, _flags: c_uint) {
        call(|state| {
            let (_, queue) = state.queue(stream)?;
            let event = state.events.get(&event).ok_or(code::INVALID_HANDLE)?;
            if let Some((of, ticket)) = event.recorded.clone() && !Arc::ptr_eq(&of, &queue) {
                queue.push(Box::new(move || of.wait_for(ticket)));
            }
            Ok(())
        })
    }

    /// Makes an event.
    fn cuEventCreate(event: *mut usize, flags: c_uint) {
        call(|state| {
            let (device, handle) = (state.entered()?, state.handle());
            let time = (flags & DISABLE_TIMING == 0).then(Arc::default);
            state.events.insert(handle, Event { device, recorded: None, time });
            // SAFETY: the caller passes a valid place to write to.
            unsafe { put(event, handle) }
        })
    }

    /// Records an event on a stream.
    fn cuEventRecord(event: usize, stream: usize) {
        call(|state| {
            let (device, queue) = state.queue(stream)?;
            let event = state.events.get_mut(&event).ok_or(code::INVALID_HANDLE)?;
            if event.device != device {
                return Err(code::INVALID_HANDLE);
            }
            if let Some(time) = event.time.clone() {
                queue.push(Box::new(move || *lock(&time) = Some(Instant::now())));
            }
            let ticket = queue.ticket();
            event.recorded = Some((queue, ticket));
            Ok(())
        })
    }

    /// Asks whether an event is reached; one that was never recorded is.
    fn cuEventQuery(event: usize) {
        call(|state| {
            state.entered()?;
            let event = state.events.get(&event).ok_or(code::INVALID_HANDLE)?;
            match &event.recorded {
                Some((queue, ticket)) if !queue.is_done(*ticket) => Err(code::NOT_READY),
                _ => Ok(()),
            }
        })
    }

    /// Waits for an event.
    fn cuEventSynchronize(event: usize) {
        let mut recorded = None;
        let found = call(|state| {
            state.entered()?;
            recorded = state.events.get(&event).ok_or(code::INVALID_HANDLE)?.recorded.clone();
            Ok(())
        });
        if let Some((queue, ticket)) = recorded {
            queue.wait_for(ticket);
            return call(|state| state.entered().map(drop));
        }
        found
    }

    /// Milliseconds from one event to another.
    fn cuEventElapsedTime(milliseconds: *mut f32, from: usize, to: usize) {
        call(|state| {
            state.entered()?;
            let time = |event: usize| {
                let event = state.events.get(&event).ok_or(code::INVALID_HANDLE)?;
                let (Some(time), Some(_)) = (&event.time, &event.recorded) else { return Err(code::INVALID_HANDLE) };
                lock(time).ok_or(code::NOT_READY)
            };
            let (from, to) = (time(from)?, time(to)?);
            let forth = to.saturating_duration_since(from).as_secs_f64();
            let back = from.saturating_duration_since(to).as_secs_f64();
            // SAFETY: the caller passes a valid place to write to.
            unsafe { put(milliseconds, ((forth - back) * 1e3) as f32) }
        })
    }

    /// Destroys an event.
    fn cuEventDestroy_v2(event: usize) {
        call(|state| state.events.remove(&event).map(drop).ok_or(code::INVALID_HANDLE))
    }

    /// Loads PTX.
    fn cuModuleLoadDataEx(
        module: *mut usize, image: *const c_char, count: c_uint, options: *const u32, values: *const *mut c_void
    ) {
        call(|state| {
            let device = state.entered()?;
            // SAFETY: the caller guarantees a NUL-terminated text or an ELF file, which is
            // recognised by its first byte.
            let text = unsafe { CStr::from_ptr(image) };
            if text.to_bytes().first() == Some(&0x7F) {
                return Err(code::NO_BINARY_FOR_GPU);
            }
            let read = text.to_str().map_err(|_| code::INVALID_IMAGE).and_then(|text| {
                module::read(text).map_err(|refused| {
                    // SAFETY: the caller passes valid options and values.
                    unsafe { write_log(&refused.1, count as usize, options, values) };
                    refused.0
                })
            })?;
            let handle = state.handle();
            state.modules.insert(handle, (device, Arc::new(read)));
            // SAFETY: the caller passes a valid place to write to.
            unsafe { put(module, handle) }
        })
    }

    /// Unloads a module, after its running kernels are done.
    fn cuModuleUnload(module: usize) {
        let mut queues = Vec::new();
        let code = call(|state| {
            let (device, unloaded) = state.modules.remove(&module).ok_or(code::INVALID_HANDLE)?;
            state.functions.retain(|_, (_, function)| !Arc::ptr_eq(&function.module, &unloaded));
            queues = state.queues(device);
            Ok(())
        });
        queues.iter().for_each(|queue| queue.synchronize());
        code
    }

    /// A kernel by its name.
    fn cuModuleGetFunction(function: *mut usize, module: usize, name: *const c_char) {
        call(|state| {
            let device = state.entered()?;
            let (of, module) = state.modules.get(&module).ok_or(code::INVALID_HANDLE)?;
            if *of != device {
                return Err(code::INVALID_HANDLE);
            }
            let module = Arc::clone(module);
            // SAFETY: the caller passes a NUL-terminated text.
            let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
            let index = module.kernels.iter().position(|kernel| *kernel.name == *name).ok_or(code::NOT_FOUND)?;
            let handle = state.handle();
            let found = module::Function { module, index, dynamic_shared_max: AtomicUsize::new(module::SHARED_BYTES) };
            state.functions.insert(handle, (device, Arc::new(found)));
            // SAFETY: the caller passes a valid place to write to.
            unsafe { put(function, handle) }
        })
    }

    /// An attribute of a kernel, by the header's number.
    fn cuFuncGetAttribute(value: *mut c_int, attribute: u32, function: usize) {
        call(|state| {
            let (_, function) = state.functions.get(&function).ok_or(code::INVALID_HANDLE)?;
            let found = match attribute {
                0 => 1024,
                1 => function.module.kernels[function.index].static_shared as c_int,
                _ => return Err(code::INVALID_VALUE),
            };
            // SAFETY: the caller passes a valid place to write to.
            unsafe { put(value, found) }
        })
    }

    /// Allows a kernel more dynamic shared memory.
    fn cuFuncSetAttribute(function: usize, attribute: u32, value: c_int) {
        call(|state| {
            let (_, function) = state.functions.get(&function).ok_or(code::INVALID_HANDLE)?;
            let bytes = usize::try_from(value).map_err(|_| code::INVALID_VALUE)?;
            let total = bytes + function.module.kernels[function.index].static_shared;
            if attribute != 8 || total > module::SHARED_OPTIN_BYTES {
                return Err(code::INVALID_VALUE);
            }
            function.dynamic_shared_max.store(bytes, Ordering::Release);
            Ok(())
        })
    }

    /// Launches a kernel.
    fn cuLaunchKernel(
        function: usize, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint,
        stream: usize, args: *const *mut c_void, _extra: *const *mut c_void
    ) {
        let (grid, block) = ([gx, gy, gz], [bx, by, bz]);
        let launch = Launch { function, grid, block, shared, is_cooperative: false, stream };
        // SAFETY: the caller passes an argument for each parameter of the kernel.
        call(|state| unsafe { launch::queue(state, launch, args) })
    }

    /// Launches a kernel whose blocks wait for each other.
    fn cuLaunchCooperativeKernel(
        function: usize, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint,
        stream: usize, args: *const *mut c_void
    ) {
        let (grid, block) = ([gx, gy, gz], [bx, by, bz]);
        let launch = Launch { function, grid, block, shared, is_cooperative: true, stream };
        // SAFETY: the caller passes an argument for each parameter of the kernel.
        call(|state| unsafe { launch::queue(state, launch, args) })
    }

    /// For tests: numbers of calls, retained contexts, memory blocks, streams, events, modules,
    /// functions.
    fn fake_cuda_counts(counts: *mut [u64; 7]) {
        let state = lock(&STATE);
        let retained = state.devices.iter().map(|device| u64::from(device.n_retained)).sum();
        let sizes = [state.memory.len(), state.streams.len(), state.events.len(), state.modules.len(), state.functions.len()];
        let [memory, streams, events, modules, functions] = sizes.map(|size| size as u64);
        let calls = N_CALLS.load(Ordering::Relaxed);
        // SAFETY: the caller passes a valid place to write to.
        unsafe { put(counts, [calls, retained, memory, streams, events, modules, functions]) }.err().unwrap_or(0)
    }

    /// For tests: makes the next `count` allocations fail.
    fn fake_cuda_out_of_memory(count: u32) {
        lock(&STATE).n_out_of_memory = count;
        code::SUCCESS
    }

    /// For tests: sets whether copies between devices are refused.
    fn fake_cuda_refuse_peers(refuses: u32) {
        lock(&STATE).refuses_peers = refuses != 0;
        code::SUCCESS
    }
}

/// Writes the compiler's log to the buffer in the options.
///
/// # Safety
///
/// * `options` and `values` have `count` entries, and the values of known options have the options'
///   types.
unsafe fn write_log(log: &str, count: usize, options: *const u32, values: *const *mut c_void) {
    const ERROR_LOG_BUFFER: u32 = 5;
    const ERROR_LOG_BUFFER_SIZE_BYTES: u32 = 6;
    let (mut buffer, mut size) = (ptr::null_mut::<u8>(), 0);
    for index in 0..count {
        // SAFETY: `options` and `values` have `count` entries, as this function requires.
        let (option, value) = unsafe { (*options.add(index), *values.add(index)) };
        match option {
            ERROR_LOG_BUFFER => buffer = value.cast(),
            ERROR_LOG_BUFFER_SIZE_BYTES => size = value.addr(),
            _ => {}
        }
    }
    if !buffer.is_null() && size > 0 {
        let length = log.len().min(size - 1);
        // SAFETY: the caller passes a buffer of that size.
        unsafe {
            buffer.copy_from(log.as_ptr(), length);
            buffer.add(length).write(0);
        }
    }
}
