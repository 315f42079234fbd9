//! Interface `launch` 1 of a module: kernels without the packed call (K.5 to K.8).

use core::ffi::c_void;
use core::ptr::{null, without_provenance_mut};

use chipdock_abi::{
    CHIPDOCK_DTYPE_HANDLE, ChipdockEntry, ChipdockLaunch1, ChipdockLaunchRequest, ChipdockStr,
};
use chipdock_ir::ThreadAxis;

use crate::device_api::not_null;
use crate::graph::{Chain, Graph, chain_of};
use crate::host::write_out;
use crate::interface::enter;
use crate::kernel::{Kernel, KernelArg, Launch, place};
use crate::text::str_in;
use crate::timeline::Timelines;
use crate::{Error, ErrorKind, InterfaceKind, Stream, extension, timeline};

/// The kernels of a loaded module, which are launched on a device and a stream that the caller
/// names.
///
/// Every method may be called from any thread at once.
pub trait Launches: Send + Sync + 'static {
    /// Returns the type of the devices that the kernels run on.
    fn device_type(&self) -> i32;

    /// Returns the position of the kernel of that name among the kernels, or `None` if there is
    /// none.
    ///
    /// # Errors
    ///
    /// `Unsupported`: it cannot be launched here (K.9).
    fn position(&self, name: &str) -> Result<Option<usize>, Error>;

    /// Returns the kernel at a position that [`position`](Self::position) returned.
    fn kernel(&self, position: usize) -> Option<&Kernel>;

    /// Queues a launch of the kernel at that position and returns. The number of arguments and the
    /// extents are already checked.
    ///
    /// # Errors
    ///
    /// * `ValueError`: there is no such device, or the launch exceeds what the device or the kernel
    ///   supports.
    /// * `WrongState`, `ValueError`: the stream does not exist, or a handle is not of a data space
    ///   there.
    /// * A kept failure of earlier work on the stream (P7.5).
    fn launch(&self, position: usize, device_id: i32, stream: Stream, launch: &Launch) -> Result<(), Error>;

    /// Returns interface `timeline` 1 of the devices, so that launches understand the extensions
    /// that wait for timelines and signal them (N.28). The default is none.
    fn timelines(&self) -> Option<&dyn Timelines> {
        None
    }

    /// Returns true if [`record`](Self::record) adds launches to graphs of the devices, so that the
    /// extension `graph.record` is understood (N.41). The default is false.
    fn records(&self) -> bool {
        false
    }

    /// Adds a launch to a graph, checked as by [`launch`](Self::launch), and queues nothing; `None`
    /// for one of which an extent is 0, which adds nothing, to a graph that is checked all the same
    /// (N.41, N.43).
    ///
    /// # Errors
    ///
    /// * `WrongState`: the graph's recording has ended.
    /// * Those of [`launch`](Self::launch); then the graph is as it was.
    fn record(
        &self,
        position: usize,
        device_id: i32,
        graph: Graph,
        launch: Option<&Launch>,
    ) -> Result<(), Error> {
        let _ = (position, device_id, graph, launch);
        crate::bail!(ErrorKind::UNSUPPORTED, "launches of this module cannot be recorded")
    }
}

impl Kernel {
    /// Reads a launch of interface `launch` 1. Returns `None` if an extent is 0 and nothing is to
    /// be launched (K.2).
    ///
    /// # Errors
    ///
    /// * `TypeError`: a wrong number of arguments.
    /// * `ValueError`: an extent or dynamic shared memory that the kernel does not take, or null
    ///   for a value's address.
    /// * `Unsupported`: an unknown extension that is mandatory (P3.16).
    ///
    /// # Safety
    ///
    /// * `args` of the request are `args_count` addresses, each null or of a value of the type of
    ///   this kernel's argument there.
    pub unsafe fn read(&self, request: &ChipdockLaunchRequest) -> Result<Option<Launch>, Error> {
        // SAFETY: K.8, a live chain or null.
        unsafe { extension::check(request.next, "the launch") }?;
        crate::ensure!(
            request.args_count == self.args.len() as u64,
            ErrorKind::TYPE_ERROR,
            "kernel {}: expected {} arguments, found {}",
            self.name,
            self.args.len(),
            request.args_count
        );
        crate::ensure!(
            self.args.is_empty() || !request.args.is_null(),
            ErrorKind::VALUE_ERROR,
            "kernel {}: the arguments are null",
            self.name
        );
        for (axis, _) in ThreadAxis::ALL {
            let Some((is_grid, index)) = place(*axis) else { continue };
            let extent = if is_grid { request.grid[index] } else { request.block[index] };
            crate::ensure!(
                extent <= 1 || self.axes.contains(axis),
                ErrorKind::VALUE_ERROR,
                "kernel {}: it has no axis {}; expected an extent of 1 there, found {extent}",
                self.name,
                axis.name()
            );
        }
        crate::ensure!(
            request.dynamic_shared_bytes == 0 || self.has_dynamic_shared,
            ErrorKind::VALUE_ERROR,
            "kernel {}: it takes no dynamic shared memory; expected 0 bytes of it, found {}",
            self.name,
            request.dynamic_shared_bytes
        );
        let mut args = Vec::with_capacity(self.args.len());
        for (position, dtype) in self.args.iter().enumerate() {
            // SAFETY: `args` are `args_count` addresses, as this function requires, and `position`
            // is less than that.
            let value = unsafe { request.args.add(position).read() }.cast::<u8>();
            crate::ensure!(
                !value.is_null(),
                ErrorKind::VALUE_ERROR,
                "kernel {}, argument {position}: the address of its value is null",
                self.name
            );
            // SAFETY: `value` is null or points to a value of the argument's type, as this function
            // requires; it may be unaligned.
            args.push(unsafe { argument(value, dtype.code == CHIPDOCK_DTYPE_HANDLE, dtype.bits / 8) });
        }
        let (grid, block) = (request.grid, request.block);
        let is_empty = grid.contains(&0) || block.contains(&0);
        let dynamic_shared_bytes = request.dynamic_shared_bytes;
        Ok((!is_empty).then_some(Launch { args, grid, block, dynamic_shared_bytes }))
    }
}

/// # Safety
///
/// * A pointer can be read at `value` if `is_handle`, else `size_bytes` bytes, at most 8.
unsafe fn argument(value: *const u8, is_handle: bool, size_bytes: u8) -> KernelArg {
    if is_handle {
        // SAFETY: a pointer can be read at `value`, as this function requires.
        return KernelArg::Pointer(unsafe { value.cast::<*mut c_void>().read_unaligned() });
    }
    let (mut bytes, size_bytes) = ([0; 8], usize::from(size_bytes));
    for (index, byte) in bytes.iter_mut().take(size_bytes).enumerate() {
        // SAFETY: `size_bytes` bytes can be read at `value`, as this function requires.
        *byte = unsafe { value.add(index).read() };
    }
    KernelArg::Scalar { bytes, size_bytes }
}

unsafe extern "C" fn entry(self_: *mut c_void, name: ChipdockStr, out_entry: *mut ChipdockEntry) -> i32 {
    // SAFETY: P3.11, the `self_` of the interface, a live string and a place to write to.
    unsafe {
        enter::<dyn Launches>(self_, |module| {
            let position = module.position(str_in(name, "the kernel's name")?)?;
            // Entries are positions counted from 1: null means that there is no such kernel.
            let entry = without_provenance_mut(position.map_or(0, |position| position + 1));
            write_out(out_entry, ChipdockEntry { entry, device_type: module.device_type(), flags: 0 })
        })
    }
}

unsafe extern "C" fn launch(
    self_: *mut c_void,
    entry: *mut c_void,
    request: *const ChipdockLaunchRequest,
) -> i32 {
    // SAFETY: P3.11 and K.8, the `self_` of the interface and a live request.
    unsafe {
        enter::<dyn Launches>(self_, |module| {
            let request = not_null(request, "the launch")?;
            let found = entry.addr().checked_sub(1);
            let found = found.and_then(|position| Some((position, module.kernel(position)?)));
            let (position, kernel) = found.ok_or_else(|| {
                let message = format!("expected an entry of this module, found {}", entry.addr());
                Error::new(ErrorKind::VALUE_ERROR, message)
            })?;
            let timelines = module.timelines();
            let chain = chain_of(request.next, "the launch", timelines.is_some(), module.records())?;
            let request = ChipdockLaunchRequest { next: null(), ..*request };
            let launch = kernel.read(&request)?;
            let (device_id, stream) = (request.device_id, Stream::from_raw(request.stream));
            match chain {
                Chain::Record(graph) => module.record(position, device_id, graph, launch.as_ref()),
                Chain::Queue(order) => {
                    timeline::in_order(timelines, device_id, stream, &order, || match &launch {
                        Some(launch) => module.launch(position, device_id, stream, launch),
                        None => Ok(()),
                    })
                }
            }
        })
    }
}

static TABLE: ChipdockLaunch1 = ChipdockLaunch1 { entry, launch };

/// Interface `launch` 1 of a module, for [`Module::query`](crate::Module::query).
// SAFETY: the table of that name and version, whose functions go through `enter`.
pub const LAUNCH: InterfaceKind<dyn Launches> = unsafe { InterfaceKind::new("launch", 1, &TABLE) };
