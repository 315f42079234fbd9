//! Interface `launch` 1 of a loaded module, called with requests that may be invalid on purpose.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{ChipdockEntry, ChipdockExtension, ChipdockLaunch1, ChipdockLaunchRequest};
use chipdock_plugin_api::{Error, ErrorKind};

use crate::codegen::Chain;
use crate::host::RawHost;
use crate::kind::bytes_out;
use crate::loader::Module;
use crate::stream::Stream;
use crate::timeline::OrderChain;

/// Interface `launch` 1 of one module.
pub struct Launches<'a> {
    table: ChipdockLaunch1,
    self_: *mut c_void,
    host: &'static RawHost,
    _module: &'a Module,
}

/// Owned form of the ABI's launch request.
#[derive(Clone, Debug)]
pub struct LaunchRequest {
    /// Device to launch on.
    pub device_id: i32,
    /// Flag bits, none of which is defined.
    pub flags: u32,
    /// Number of blocks.
    pub grid: [u64; 3],
    /// Number of threads of a block.
    pub block: [u64; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: u64,
    /// Values of the arguments, eight bytes each.
    pub args: Vec<[u8; 8]>,
    /// Names and flags of the request's extensions.
    pub extensions: Vec<(String, u32)>,
}

impl Module {
    /// Returns interface `launch` 1, if the module has it.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised; `BrokenPlugin` for a table of another size or with a null
    /// slot.
    pub fn launches(&self) -> Result<Option<Launches<'_>>, Error> {
        let found = self.query("launch", 1)?;
        if found.table.is_null() {
            return Ok(None);
        }
        let expected = size_of::<ChipdockLaunch1>() as u64;
        let slots = found.table.cast::<*const c_void>();
        // SAFETY: by P3.11, the table has that size; its slots are read as plain pointers, so that
        // null ones are detected.
        let is_whole = found.table_size_bytes == expected
            && (0..size_of::<ChipdockLaunch1>() / size_of::<*const c_void>())
                .all(|index| unsafe { !slots.add(index).read().is_null() });
        if !is_whole {
            let found = found.table_size_bytes;
            let message =
                format!("`launch` 1: expected a table of {expected} bytes without null, found {found}");
            return Err(Error::new(ErrorKind::BROKEN_PLUGIN, message));
        }
        // SAFETY: by P3.11, and the size and slots were just checked.
        let table = unsafe { found.table.cast::<ChipdockLaunch1>().read() };
        Ok(Some(Launches { table, self_: found.self_, host: self.host(), _module: self }))
    }
}

impl Launches<'_> {
    /// Returns the entry of a name; its pointer is null if there is none.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn entry(&self, name: &[u8]) -> Result<ChipdockEntry, Error> {
        // Not null, so that an answer that was not written is detected.
        let mut out =
            ChipdockEntry { entry: ptr::from_ref(self).cast_mut().cast(), device_type: i32::MIN, flags: 0 };
        self.host.begin();
        // SAFETY: the interface is called with its `self_`; the name lives for the call, and there
        // is room for the result.
        let status = unsafe { (self.table.entry)(self.self_, bytes_out(name), &mut out) };
        self.host.check(status, "entry").map(|()| out)
    }

    /// Launches an entry.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn launch(&self, entry: ChipdockEntry, request: &LaunchRequest) -> Result<(), Error> {
        let chain = Chain::new(&request.extensions);
        self.launch_with(entry, request, ptr::null_mut(), chain.first())
    }

    /// Launches an entry on a stream, in the order that timelines give.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn launch_ordered(
        &self,
        entry: ChipdockEntry,
        request: &LaunchRequest,
        stream: &Stream<'_>,
        order: &OrderChain,
    ) -> Result<(), Error> {
        self.launch_with(entry, request, stream.raw(), order.first())
    }

    fn launch_with(
        &self,
        entry: ChipdockEntry,
        request: &LaunchRequest,
        stream: *mut c_void,
        next: *const ChipdockExtension,
    ) -> Result<(), Error> {
        let args: Vec<*const c_void> = request.args.iter().map(|arg| arg.as_ptr().cast()).collect();
        let raw = ChipdockLaunchRequest {
            device_id: request.device_id,
            flags: request.flags,
            stream,
            grid: request.grid,
            block: request.block,
            dynamic_shared_bytes: request.dynamic_shared_bytes,
            args: args.as_ptr(),
            args_count: args.len() as u64,
            next,
        };
        self.host.begin();
        // SAFETY: the interface is called with its `self_`; the entry is valid or null, and the
        // request lives for the call.
        let status = unsafe { (self.table.launch)(self.self_, entry.entry, &raw) };
        self.host.check(status, "launch")
    }
}
