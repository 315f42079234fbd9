//! State of the fake driver: devices with their contexts, memory, streams, events and modules.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Instant;

use crate::code::{self, Code};
use crate::graph::Graph;
use crate::module::{Function, Module};
use crate::queue::{Queue, lock};

/// Memory of each device.
pub(crate) const MEMORY_BYTES: usize = 256 << 20;
/// Start of the addresses of device memory: no process uses them, so that using one on the host
/// faults.
const DEVICE_BASE: usize = 0x0300_0000_0000;
/// Alignment of device memory: that of the real driver's smallest blocks.
const DEVICE_ALIGNMENT: usize = 512;
const HOST_ALIGNMENT: usize = 4096;

/// Kind of memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Device,
    Pinned,
    Managed,
}

/// A block of memory; queued work keeps it alive.
pub(crate) struct Block {
    pub(crate) host: *mut u8,
    pub(crate) size: usize,
    pub(crate) kind: Kind,
    pub(crate) device: i32,
    /// `None` for registered memory that the driver did not allocate.
    layout: Option<Layout>,
}

// SAFETY: plain memory; the program under test orders its accesses.
unsafe impl Send for Block {}
// SAFETY: plain memory; the program under test orders its accesses.
unsafe impl Sync for Block {}

impl Block {
    fn new(size: usize, kind: Kind, device: i32) -> Option<Self> {
        let layout = Layout::from_size_align(size, HOST_ALIGNMENT).ok()?;
        // SAFETY: the size is not 0: it was checked.
        let host = unsafe { alloc_zeroed(layout) };
        if host.is_null() {
            return None;
        }
        if size <= 1 << 20 {
            // New memory has arbitrary contents; large blocks are left to the system, which clears
            // them on use. SAFETY: as many bytes as were allocated.
            unsafe { host.write_bytes(0xA5, size) };
        }
        Some(Self { host, size, kind, device, layout: Some(layout) })
    }

    /// Returns true if it is registered memory of another owner.
    pub(crate) fn is_registered(&self) -> bool {
        self.layout.is_none()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.host, layout) };
        }
    }
}

/// A device and its primary context.
pub(crate) struct Device {
    pub(crate) n_retained: u32,
    /// Whether it was retained since the last reset.
    pub(crate) is_active: bool,
    pub(crate) used: usize,
    pub(crate) default: Arc<Queue>,
    /// The code that poisoned the context; 0 if it works.
    pub(crate) poison: Arc<AtomicU32>,
}

/// An event of a device: its queue, the number of jobs before it, and the time when they were done,
/// if it records that.
pub(crate) struct Event {
    pub(crate) device: i32,
    pub(crate) recorded: Option<(Arc<Queue>, u64)>,
    pub(crate) time: Option<Arc<Mutex<Option<Instant>>>>,
}

/// State of the whole driver.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) is_initialised: bool,
    pub(crate) devices: Vec<Device>,
    pub(crate) memory: BTreeMap<usize, Arc<Block>>,
    pub(crate) streams: HashMap<usize, (i32, Arc<Queue>)>,
    pub(crate) events: HashMap<usize, Event>,
    pub(crate) modules: HashMap<usize, (i32, Arc<Module>)>,
    pub(crate) functions: HashMap<usize, (i32, Arc<Function>)>,
    pub(crate) graphs: HashMap<usize, Graph>,
    pub(crate) executables: HashMap<usize, Graph>,
    free_addresses: HashMap<usize, Vec<usize>>,
    next_address: usize,
    next_handle: usize,
    /// Number of allocations that will fail.
    pub(crate) n_out_of_memory: u32,
    /// Whether copies between devices are refused.
    pub(crate) refuses_peers: bool,
}

pub(crate) static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);
/// Number of calls of the driver.
pub(crate) static N_CALLS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The device whose primary context is current on this thread; -1 for none.
    static CURRENT: Cell<i32> = const { Cell::new(-1) };
}

/// The device whose context is current on this thread.
pub(crate) fn current() -> i32 {
    CURRENT.get()
}

/// Makes the context of a device current on this thread; -1 for none.
pub(crate) fn set_current(device: i32) {
    CURRENT.set(device);
}

/// The handle of a device's primary context.
pub(crate) fn context_handle(device: i32) -> usize {
    0xC0DE_0000 + 0x100 * (device as usize + 1)
}

impl State {
    /// The device of a context's handle.
    pub(crate) fn device_of(&self, context: usize) -> Option<i32> {
        (0..self.devices.len() as i32).find(|device| context_handle(*device) == context)
    }

    /// Destroys the resources of a device's primary context.
    pub(crate) fn reset(&mut self, device: i32) {
        let Some(known) = self.devices.get_mut(device as usize) else { return };
        let default = std::mem::take(&mut known.default);
        known.poison = Arc::new(AtomicU32::new(0));
        known.used = 0;
        known.is_active = false;
        default.close();
        for (_, queue) in self.streams.extract_if(|_, (of, _)| *of == device) {
            queue.1.close();
        }
        // Addresses are reused, as the real driver often does.
        for (address, block) in self.memory.extract_if(.., |_, block| block.device == device) {
            if block.kind == Kind::Device {
                let rounded = block.size.next_multiple_of(DEVICE_ALIGNMENT);
                self.free_addresses.entry(rounded).or_default().push(address);
            }
        }
        self.events.retain(|_, event| event.device != device);
        self.modules.retain(|_, (of, _)| *of != device);
        self.functions.retain(|_, (of, _)| *of != device);
        self.graphs.retain(|_, graph| graph.device != device);
        self.executables.retain(|_, graph| graph.device != device);
    }

    /// Registers memory that the driver did not allocate.
    pub(crate) fn register(&mut self, address: usize, size: usize) -> Result<(), Code> {
        let device = self.entered()?;
        if address == 0 || size == 0 {
            return Err(code::INVALID_VALUE);
        }
        let end = address.saturating_add(size);
        let before = self.memory.range(..end).next_back();
        if before.is_some_and(|(base, block)| base + block.size > address) {
            return Err(code::ALREADY_REGISTERED);
        }
        let host = std::ptr::with_exposed_provenance_mut(address);
        self.memory.insert(address, Arc::new(Block { host, size, kind: Kind::Pinned, device, layout: None }));
        Ok(())
    }

    /// Returns a new handle, which is never reused.
    pub(crate) fn handle(&mut self) -> usize {
        self.next_handle += 0x10;
        0xFA4E_0000_0000 + self.next_handle
    }

    /// The device whose context is current, if it is retained and not poisoned.
    pub(crate) fn entered(&self) -> Result<i32, Code> {
        let device = current();
        let Some(known) = usize::try_from(device).ok().and_then(|id| self.devices.get(id)) else {
            return Err(code::INVALID_CONTEXT);
        };
        if known.n_retained == 0 || !known.is_active {
            return Err(code::CONTEXT_IS_DESTROYED);
        }
        match known.poison.load(Ordering::Acquire) {
            0 => Ok(device),
            poison => Err(poison),
        }
    }

    /// The queue of a stream in the current context.
    pub(crate) fn queue(&self, stream: usize) -> Result<(i32, Arc<Queue>), Code> {
        let device = self.entered()?;
        // 0 and 1 are the legacy default stream.
        if stream <= 1 {
            return Ok((device, Arc::clone(&self.devices[device as usize].default)));
        }
        match self.streams.get(&stream) {
            Some((of, queue)) if *of == device => Ok((device, Arc::clone(queue))),
            _ => Err(code::INVALID_HANDLE),
        }
    }

    /// All queues of a device.
    pub(crate) fn queues(&self, device: i32) -> Vec<Arc<Queue>> {
        let of_device = self.streams.values().filter(|(of, _)| *of == device).map(|(_, queue)| queue);
        let default = self.devices.get(device as usize).map(|device| &device.default);
        default.into_iter().chain(of_device).cloned().collect()
    }

    /// Allocates memory and returns its address.
    pub(crate) fn allocate(&mut self, size: usize, kind: Kind) -> Result<usize, Code> {
        let device = self.entered()?;
        if size == 0 {
            return Err(code::INVALID_VALUE);
        }
        if self.n_out_of_memory > 0 {
            self.n_out_of_memory -= 1;
            return Err(code::OUT_OF_MEMORY);
        }
        let used = self.devices[device as usize].used;
        if kind != Kind::Pinned && size > MEMORY_BYTES - used {
            return Err(code::OUT_OF_MEMORY);
        }
        let block = Block::new(size, kind, device).ok_or(code::OUT_OF_MEMORY)?;
        let address = match kind {
            Kind::Device => {
                // Freed addresses are reused at once, as the real driver often does.
                let rounded = size.next_multiple_of(DEVICE_ALIGNMENT);
                let again = self.free_addresses.get_mut(&rounded).and_then(Vec::pop);
                again.unwrap_or_else(|| {
                    let address = DEVICE_BASE + self.next_address;
                    self.next_address += rounded + DEVICE_ALIGNMENT;
                    address
                })
            }
            Kind::Pinned | Kind::Managed => block.host.expose_provenance(),
        };
        if kind != Kind::Pinned {
            self.devices[device as usize].used += size;
        }
        self.memory.insert(address, Arc::new(block));
        Ok(address)
    }

    /// Removes a whole block of memory.
    pub(crate) fn free(&mut self, address: usize, is_pinned: bool) -> Result<Arc<Block>, Code> {
        match self.memory.get(&address) {
            Some(block) if (block.kind == Kind::Pinned) == is_pinned => {}
            _ => return Err(code::INVALID_VALUE),
        }
        let Some(block) = self.memory.remove(&address) else { return Err(code::INVALID_VALUE) };
        if !is_pinned && let Some(device) = self.devices.get_mut(block.device as usize) {
            device.used -= block.size;
        }
        if block.kind == Kind::Device {
            let rounded = block.size.next_multiple_of(DEVICE_ALIGNMENT);
            self.free_addresses.entry(rounded).or_default().push(address);
        }
        Ok(block)
    }

    /// The block that contains an address, and the offset of the address in it.
    pub(crate) fn find(&self, address: usize) -> Option<(usize, &Arc<Block>)> {
        let (base, block) = self.memory.range(..=address).next_back()?;
        (address - base < block.size).then_some((address - base, block))
    }
}

/// Runs a call: counts it, and locks the state for it.
pub(crate) fn call(body: impl FnOnce(&mut State) -> Result<(), Code>) -> Code {
    N_CALLS.fetch_add(1, Ordering::Relaxed);
    let mut state = lock(&STATE);
    if !state.is_initialised {
        return code::NOT_INITIALIZED;
    }
    body(&mut state).err().unwrap_or(code::SUCCESS)
}
