//! Memory and copies.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::code::{self, Code};
use crate::put;
use crate::queue::Queue;
use crate::state::{Block, Kind, State, call};

/// One end of a copy.
enum End {
    /// Memory of the process that the driver did not allocate.
    Pageable(usize),
    /// Memory of the driver, and the offset in it.
    Known(Arc<Block>, usize),
}

impl End {
    fn find(state: &State, address: usize, size: usize) -> Result<Self, Code> {
        match state.find(address) {
            Some((inner, block)) if inner + size <= block.size => Ok(Self::Known(Arc::clone(block), inner)),
            Some(_) => Err(code::INVALID_VALUE),
            None => Ok(Self::Pageable(address)),
        }
    }

    fn host(&self) -> *mut u8 {
        match self {
            Self::Pageable(address) => ptr::with_exposed_provenance_mut(*address),
            // SAFETY: the range was checked to lie within the block.
            Self::Known(block, inner) => unsafe { block.host.add(*inner) },
        }
    }

    fn is(&self, of_host: bool) -> bool {
        match self {
            Self::Pageable(_) => of_host,
            Self::Known(block, _) => of_host == (block.kind == Kind::Pinned) || block.kind == Kind::Managed,
        }
    }

    fn device(&self) -> Option<i32> {
        match self {
            Self::Known(block, _) if block.kind != Kind::Pinned => Some(block.device),
            _ => None,
        }
    }
}

/// The memory that a function requires of an end: the host's (`Some(true)`), a device's
/// (`Some(false)`), or any.
type Demand = Option<bool>;

/// Queues a copy between memories of the driver, whichever they are.
pub(crate) fn queue_known(
    state: &mut State,
    (to, from, size): (usize, usize, usize),
    stream: usize,
) -> Result<(), Code> {
    for address in [to, from] {
        if !matches!(End::find(state, address, size)?, End::Known(..)) {
            return Err(code::INVALID_VALUE);
        }
    }
    queue_copy(state, (to, None), (from, None), size, stream).map(drop)
}

fn queue_copy(
    state: &mut State,
    to: (usize, Demand),
    from: (usize, Demand),
    size: usize,
    stream: usize,
) -> Result<Option<Arc<Queue>>, Code> {
    let (device, queue) = state.queue(stream)?;
    let (to_end, from_end) = (End::find(state, to.0, size)?, End::find(state, from.0, size)?);
    let fits = |end: &End, demand: Demand| demand.is_none_or(|of_host| end.is(of_host));
    if !fits(&to_end, to.1) || !fits(&from_end, from.1) {
        return Err(code::INVALID_VALUE);
    }
    // The unified functions assume that an unknown address is host memory and read it, so null and
    // similar addresses are refused.
    if matches!((&to_end, &from_end), (End::Pageable(_), End::Pageable(_))) {
        return Err(code::INVALID_VALUE);
    }
    let poison = Arc::clone(&state.devices[device as usize].poison);
    // Pageable memory is staged before the call returns, and written before it does.
    if let End::Pageable(_) = from_end {
        let mut staged = vec![0_u8; size];
        // SAFETY: the caller's memory, live for the call.
        unsafe { from_end.host().copy_to_nonoverlapping(staged.as_mut_ptr(), size) };
        queue.push(Box::new(move || {
            if is_well(&poison) {
                // SAFETY: within the block, which this closure owns.
                unsafe { to_end.host().copy_from_nonoverlapping(staged.as_ptr(), staged.len()) };
            }
        }));
        return Ok(None);
    }
    let waits = matches!(to_end, End::Pageable(_)).then(|| Arc::clone(&queue));
    queue.push(Box::new(move || {
        if is_well(&poison) {
            // SAFETY: within blocks that this closure owns, or the caller's memory, which lives
            // until the stream was waited for.
            unsafe { to_end.host().copy_from(from_end.host(), size) };
        }
    }));
    Ok(waits)
}

fn is_well(poison: &AtomicU32) -> bool {
    poison.load(Ordering::Acquire) == 0
}

fn copy(to: (usize, Demand), from: (usize, Demand), size: usize, stream: usize) -> Code {
    let mut waits = None;
    let code = call(|state| {
        waits = queue_copy(state, to, from, size, stream)?;
        Ok(())
    });
    if let Some(queue) = waits {
        queue.synchronize();
    }
    code
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
            pub(crate) unsafe extern "C" fn $name($($arg: $type),*) -> Code $body
        )*
    };
}

exports! {
    /// Allocates device memory.
    fn cuMemAlloc_v2(address: *mut u64, size: usize) {
        // SAFETY: the caller passes a valid place to write to.
        call(|state| unsafe { put(address, state.allocate(size, Kind::Device)? as u64) })
    }

    /// Allocates managed memory.
    fn cuMemAllocManaged(address: *mut u64, size: usize, flags: c_uint) {
        if flags != 1 {
            return code::INVALID_VALUE;
        }
        // SAFETY: the caller passes a valid place to write to.
        call(|state| unsafe { put(address, state.allocate(size, Kind::Managed)? as u64) })
    }

    /// Allocates pinned memory.
    fn cuMemHostAlloc(address: *mut usize, size: usize, _flags: c_uint) {
        // SAFETY: the caller passes a valid place to write to.
        call(|state| unsafe { put(address, state.allocate(size, Kind::Pinned)?) })
    }

    /// Allocates device memory for later work on a stream.
    fn cuMemAllocAsync(address: *mut u64, size: usize, stream: usize) {
        call(|state| {
            state.queue(stream)?;
            // SAFETY: the caller passes a valid place to write to.
            unsafe { put(address, state.allocate(size, Kind::Device)? as u64) }
        })
    }

    /// Frees device memory when the work is done that a stream has.
    fn cuMemFreeAsync(address: u64, stream: usize) {
        call(|state| {
            let (_, queue) = state.queue(stream)?;
            let block = state.memory.get(&(address as usize)).filter(|block| block.kind == Kind::Device);
            let block = Arc::downgrade(block.ok_or(code::INVALID_VALUE)?);
            queue.push(Box::new(move || {
                call(|state| {
                    let is_same = |found: &Arc<Block>| std::ptr::eq(Arc::as_ptr(found), block.as_ptr());
                    if state.memory.get(&(address as usize)).is_some_and(is_same) {
                        state.free(address as usize, false)?;
                    }
                    Ok(())
                });
            }));
            Ok(())
        })
    }

    /// Frees device or managed memory, after all queued work.
    fn cuMemFree_v2(address: u64) {
        let mut queues = Vec::new();
        let code = call(|state| {
            let poison = state.entered().err();
            let block = state.free(address as usize, false)?;
            queues = state.queues(block.device);
            poison.map_or(Ok(()), Err)
        });
        queues.iter().for_each(|queue| queue.synchronize());
        code
    }

    /// Frees pinned memory, after all queued work.
    fn cuMemFreeHost(address: usize) {
        let mut queues = Vec::new();
        let code = call(|state| {
            let block = state.free(address, true)?;
            queues = state.queues(block.device);
            Ok(())
        });
        queues.iter().for_each(|queue| queue.synchronize());
        code
    }

    /// Page-locks memory that the driver did not allocate.
    fn cuMemHostRegister_v2(address: usize, size: usize, _flags: c_uint) {
        call(|state| state.register(address, size))
    }

    /// Unregisters memory, after all queued work.
    fn cuMemHostUnregister(address: usize) {
        let mut queues = Vec::new();
        let code = call(|state| {
            let block = state.memory.get(&address).filter(|block| block.is_registered());
            queues = state.queues(block.ok_or(code::NOT_REGISTERED)?.device);
            state.memory.remove(&address);
            Ok(())
        });
        queues.iter().for_each(|queue| queue.synchronize());
        code
    }

    /// The device address of pinned memory, which is the host address.
    fn cuMemHostGetDevicePointer_v2(device: *mut u64, address: usize, _flags: c_uint) {
        call(|state| match state.find(address) {
            // SAFETY: the caller passes a valid place to write to.
            Some((_, block)) if block.kind == Kind::Pinned => unsafe { put(device, address as u64) },
            _ => Err(code::INVALID_VALUE),
        })
    }

    /// Free and total memory.
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        call(|state| {
            let device = state.entered()?;
            let used = state.devices[device as usize].used;
            // SAFETY: the caller passes valid places to write to.
            unsafe {
                put(free, crate::state::MEMORY_BYTES - used)?;
                put(total, crate::state::MEMORY_BYTES)
            }
        })
    }

    /// An attribute of an address, by the header's number.
    fn cuPointerGetAttribute(data: *mut c_void, attribute: u32, address: u64) {
        call(|state| {
            let (inner, block) = state.find(address as usize).ok_or(code::INVALID_VALUE)?;
            let is_host = block.kind == Kind::Pinned;
            // SAFETY: a place of the attribute's size.
            unsafe {
                match attribute {
                    2 => put(data.cast::<u32>(), if is_host { 1 } else { 2 }),
                    8 => put(data.cast::<u32>(), u32::from(block.kind == Kind::Managed)),
                    9 => put(data.cast::<c_int>(), block.device),
                    11 => put(data.cast::<u64>(), address - inner as u64),
                    12 => put(data.cast::<usize>(), block.size),
                    _ => Err(code::INVALID_VALUE),
                }
            }
        })
    }

    /// Copies from the host.
    fn cuMemcpyHtoDAsync_v2(to: u64, from: usize, size: usize, stream: usize) {
        copy((to as usize, Some(false)), (from, Some(true)), size, stream)
    }

    /// Copies to the host.
    fn cuMemcpyDtoHAsync_v2(to: usize, from: u64, size: usize, stream: usize) {
        copy((to, Some(true)), (from as usize, Some(false)), size, stream)
    }

    /// Copies within a device.
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, size: usize, stream: usize) {
        copy((to as usize, Some(false)), (from as usize, Some(false)), size, stream)
    }

    /// Copies from anywhere to anywhere.
    fn cuMemcpyAsync(to: u64, from: u64, size: usize, stream: usize) {
        copy((to as usize, None), (from as usize, None), size, stream)
    }

    /// Copies between devices.
    fn cuMemcpyPeerAsync(to: u64, to_context: usize, from: u64, from_context: usize, size: usize, stream: usize) {
        let checked = call(|state| {
            let (to_device, from_device) = (state.device_of(to_context), state.device_of(from_context));
            if to_device.is_none() || from_device.is_none() {
                return Err(code::INVALID_CONTEXT);
            }
            if state.refuses_peers {
                return Err(code::PEER_ACCESS_UNSUPPORTED);
            }
            let is_of = |address: u64, device| {
                End::find(state, address as usize, size).is_ok_and(|end| end.device() == device)
            };
            if is_of(to, to_device) && is_of(from, from_device) { Ok(()) } else { Err(code::INVALID_VALUE) }
        });
        if checked != code::SUCCESS {
            return checked;
        }
        copy((to as usize, Some(false)), (from as usize, Some(false)), size, stream)
    }
}
