//! Launches: the checks of the driver, and the effects of kernels.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::code::{self, Code};
use crate::module::{Action, Function, SHARED_BYTES, SHARED_OPTIN_BYTES};
use crate::queue::lock;
use crate::state::{STATE, State};

const THREADS_MAX: u64 = 1024;
/// Maximum number of threads per block by axis.
pub(crate) const BLOCK_MAX: [u32; 3] = [1024, 1024, 64];
/// Maximum number of blocks per grid by axis.
pub(crate) const GRID_MAX: [u32; 3] = [0x7FFF_FFFF, 65_535, 65_535];
/// Maximum number of blocks of a launch that wait for each other.
const COOPERATIVE_BLOCKS_MAX: u64 = 64;

/// A launch.
#[derive(Clone, Copy)]
pub(crate) struct Launch {
    pub(crate) function: usize,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    pub(crate) is_cooperative: bool,
    pub(crate) stream: usize,
}

fn check(launch: &Launch, function: &Function) -> Result<(), Code> {
    let within = |sizes: [u32; 3], most: [u32; 3]| {
        sizes.iter().zip(most).all(|(size, most)| (1..=most).contains(size))
    };
    let threads: u64 = launch.block.iter().map(|size| u64::from(*size)).product();
    if !within(launch.grid, GRID_MAX) || !within(launch.block, BLOCK_MAX) || threads > THREADS_MAX {
        return Err(code::INVALID_VALUE);
    }
    let kernel = &function.module.kernels[function.index];
    let allowed = function.dynamic_shared_max.load(Ordering::Acquire);
    let dynamic = launch.shared as usize;
    let total = kernel.static_shared + dynamic;
    if (total > SHARED_BYTES && dynamic > allowed) || total > SHARED_OPTIN_BYTES {
        return Err(code::INVALID_VALUE);
    }
    let blocks: u64 = launch.grid.iter().map(|size| u64::from(*size)).product();
    if launch.is_cooperative && blocks > COOPERATIVE_BLOCKS_MAX {
        return Err(code::COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    Ok(())
}

/// Queues a launch.
///
/// # Safety
///
/// * `args` points to as many pointers as the kernel has parameters, each to a value of its size.
pub(crate) unsafe fn queue(state: &mut State, launch: Launch, args: *const *mut c_void) -> Result<(), Code> {
    let function = checked(state, &launch)?;
    // SAFETY: `args` points to a value for each parameter, as this function requires; the driver
    // reads arguments before it returns.
    let values = unsafe { values(&function, args) };
    queue_values(state, launch, values)
}

/// The kernel of a launch that is within the limits.
pub(crate) fn checked(state: &State, launch: &Launch) -> Result<Arc<Function>, Code> {
    let device = state.entered()?;
    let function = match state.functions.get(&launch.function) {
        Some((of, function)) if *of == device => Arc::clone(function),
        _ => return Err(code::INVALID_HANDLE),
    };
    check(launch, &function)?;
    Ok(function)
}

/// The arguments of a kernel.
///
/// # Safety
///
/// * `args` points to as many pointers as the kernel has parameters, each to a value of its size.
pub(crate) unsafe fn values(function: &Function, args: *const *mut c_void) -> Vec<u64> {
    let kernel = &function.module.kernels[function.index];
    let mut values = Vec::with_capacity(kernel.params.len());
    for (index, size) in kernel.params.iter().enumerate() {
        let mut bytes = [0_u8; 8];
        // SAFETY: `args` points to a value for each parameter, as this function requires.
        unsafe { (*args.add(index)).cast::<u8>().copy_to(bytes.as_mut_ptr(), *size) };
        values.push(u64::from_le_bytes(bytes));
    }
    values
}

/// Queues a launch with these arguments.
pub(crate) fn queue_values(state: &State, launch: Launch, values: Vec<u64>) -> Result<(), Code> {
    let function = checked(state, &launch)?;
    let (device, queue) = state.queue(launch.stream)?;
    let poison = Arc::clone(&state.devices[device as usize].poison);
    queue.push(Box::new(move || run(&launch, &function, &values, device, &poison)));
    Ok(())
}

fn run(launch: &Launch, function: &Function, values: &[u64], device: i32, poison: &AtomicU32) {
    if poison.load(Ordering::Acquire) != 0 {
        return;
    }
    let fails = match function.module.kernels[function.index].action {
        Action::Nothing => false,
        Action::Fault => true,
        Action::Record => !record(launch, values, device),
    };
    if fails {
        poison.store(code::ILLEGAL_ADDRESS, Ordering::Release);
    }
}

/// Writes the launch parameters to the address in the first argument.
fn record(launch: &Launch, values: &[u64], device: i32) -> bool {
    let sizes = launch.grid.iter().chain(&launch.block).map(|size| u64::from(*size));
    let further = [u64::from(launch.shared), u64::from(launch.is_cooperative), device as u64];
    let words: Vec<u8> =
        sizes.chain(further).chain(values.iter().copied()).flat_map(u64::to_le_bytes).collect();
    let Some(address) = values.first().and_then(|address| usize::try_from(*address).ok()) else {
        return false;
    };
    let state = lock(&STATE);
    let Some((inner, block)) = state.find(address) else { return false };
    if inner + words.len() > block.size {
        return false;
    }
    // SAFETY: within the block, which is alive under the lock.
    unsafe { block.host.add(inner).copy_from_nonoverlapping(words.as_ptr(), words.len()) };
    true
}
