//! Kernels of loaded modules, launched by interface `launch` 1 of their module (K.5 to K.8).

use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::Arc;

use chipdock_abi::{
    ChipdockDevice, ChipdockEntry, ChipdockExtension, ChipdockLaunch1, ChipdockLaunchRequest,
};
use chipdock_plugin_api as api;
use chipdock_plugin_api::kernel::{self, KernelArg};
use chipdock_plugin_api::text::str_out;

use super::capture::{self, Launches, Used};
use super::device::Stream;
use super::module::{Module, ModuleInner};
use super::tables::broken;
use super::tensor::Tensor;
use super::timeline::Order;
use crate::boundary::calling::{Calling, Note};
use crate::boundary::plugin_call::PluginCall;
use crate::boundary::services::{Services, from_api};
use crate::error::{Error, ErrorKind, nearest, quoted};

/// Greatest number of arguments whose addresses are kept on the stack.
const INLINE_ARGUMENTS: usize = 32;

/// A kernel of a loaded module. It keeps its module alive; cloning shares it.
#[derive(Clone)]
pub struct Kernel(Arc<Inner>);

struct Inner {
    /// The kernel as the index describes it.
    described: kernel::Kernel,
    /// The module's table, as it was when it was checked (HOST-A5).
    table: ChipdockLaunch1,
    self_: *mut c_void,
    entry: ChipdockEntry,
    note: &'static Note,
    services: &'static Services,
    module: Arc<ModuleInner>,
}

// SAFETY: P10.1, the functions may be called from any thread; interface and entry live as long as
// the module (K.5).
unsafe impl Send for Inner {}
// SAFETY: P10.1, the functions may be called from any thread; interface and entry live as long as
// the module (K.5).
unsafe impl Sync for Inner {}

/// An argument of [`Kernel::launch`].
#[derive(Clone, Copy, Debug)]
pub enum LaunchArg<'a> {
    /// The address of a tensor's first element; the tensor is on the kernel's device.
    Tensor(&'a Tensor),
    /// A null pointer.
    Null,
    /// A scalar: the bytes of its type, little-endian.
    Scalar(&'a [u8]),
}

impl ModuleInner {
    /// Returns the kernel of that name in this module alone; `None` where the module does not
    /// answer `launch` 1, or has no kernel of that name.
    pub(super) fn own_kernel(self: &Arc<Self>, name: &str) -> Result<Option<Kernel>, Error> {
        let Some((self_, table)) = self.query::<ChipdockLaunch1>("launch", 1)? else { return Ok(None) };
        let mut functions = self.artifact().index().functions.iter();
        let Some(listed) = functions.find(|function| function.name == name) else { return Ok(None) };
        // K.9: one that is not understood is not asked for.
        let described = kernel::Kernel::from_function(listed).map_err(|error| from_api(&error))?;
        let services = self.host().0.services;
        let mut entry = ChipdockEntry { entry: ptr::null_mut(), device_type: 0, flags: 0 };
        services.clear_error();
        let calling = PluginCall::enter(
            services.log,
            Note::of(self.plugin(), &format!("module.load.{}: entry", self.kind())),
        );
        // SAFETY: the interface's `self`, a string that lives for the call, a place to write to.
        let status = unsafe { (table.entry)(self_, str_out(name), &mut entry) };
        drop(calling);
        services.check(status, || format!("`entry` of a module of kind \"{}\"", self.kind()))?;
        if entry.entry.is_null() {
            return Ok(None);
        }
        self.check_entry(name, &entry)?;
        let note = Note::of(self.plugin(), &format!("kernel {name}"));
        let module = Arc::clone(self);
        Ok(Some(Kernel(Arc::new(Inner { described, table, self_, entry, note, services, module }))))
    }
}

impl ModuleInner {
    /// Checks that an entry is on the device that its module was compiled for (HOST-A11): handles
    /// of another device mean nothing there.
    fn check_entry(&self, name: &str, entry: &ChipdockEntry) -> Result<(), Error> {
        let Some((device, expected)) = self.host().device_of_target(self.artifact().target_json())? else {
            return Ok(());
        };
        if entry.device_type == expected {
            return Ok(());
        }
        Err(broken(format!(
            "`entry` of a module of kind \"{}\" gave kernel \"{name}\" devices of type {}; its module was compiled for \
             device_api.{device}, type {expected}",
            self.kind(),
            entry.device_type
        )))
    }
}

impl Module {
    /// Returns the kernel of that name, in this module or one that it imports, to be launched
    /// without the packed call.
    ///
    /// # Errors
    ///
    /// `NotFound` when there is none, or the module that has it does not answer interface `launch`
    /// 1; `Unavailable` when no plugin loads the module that has it.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        self.0.host().0.services.check_process()?;
        let all = self.reached();
        for module in &all {
            if module.function_names().any(|known| known == name)
                && module.missing_loader().is_none()
                && let Some(kernel) = module.0.own_kernel(name)?
            {
                return Ok(kernel);
            }
        }
        // It may be in one of those that are not loaded.
        let may_have = |module: &&Self| {
            module.opaque_error().is_some() || module.function_names().any(|known| known == name)
        };
        if let Some(missing) = all.iter().filter(may_have).find_map(Self::missing_loader) {
            return Err(missing.clone());
        }
        let error = Error::new(ErrorKind::NotFound, format!("the module has no kernel \"{name}\""));
        let known = || all.iter().flat_map(Module::function_names);
        Err(match nearest(name, known()) {
            Some(near) if near != name => error.hint(format!("did you mean \"{near}\"?")),
            _ => error.hint(format!("functions are: {}", quoted(known()))),
        })
    }
}

impl Kernel {
    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.described.name
    }

    /// Returns its arguments, axes and shared memory, as the artifact's index lists them.
    #[must_use]
    pub fn described(&self) -> &kernel::Kernel {
        &self.0.described
    }

    /// Queues a launch on a stream and returns. `launch` gives the blocks of the grid and the
    /// threads of a block along x, y and z, and the bytes of dynamic shared memory.
    ///
    /// # Errors
    ///
    /// * `ValueError`: a stream or tensor of another device, a scalar of another size than its
    ///   type's; a launch that the device refuses, with both numbers.
    /// * `TypeError`: another number of arguments, or a scalar where a pointer is expected.
    /// * An error that earlier work on the stream left.
    ///
    /// # Safety
    ///
    /// * The kernel reads and writes within the tensors that it is given, with those extents.
    /// * Other work that uses these tensors on another stream is ordered with this launch.
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        grid: [u64; 3],
        block: [u64; 3],
        dynamic_shared_bytes: u64,
        args: &[LaunchArg<'_>],
    ) -> Result<(), Error> {
        // SAFETY: as this function requires.
        unsafe { self.launch_in_order(stream, grid, block, dynamic_shared_bytes, args, Order::default()) }
    }

    /// Queues a launch as [`launch`](Self::launch) does, which begins after the values that `order`
    /// waits for, and signals others when it is done.
    ///
    /// # Errors
    ///
    /// As [`launch`](Self::launch), [`Stream::wait`] and [`Stream::signal`]; then nothing is
    /// signalled.
    ///
    /// # Safety
    ///
    /// * As of [`launch`](Self::launch).
    pub unsafe fn launch_in_order(
        &self,
        stream: &Stream,
        grid: [u64; 3],
        block: [u64; 3],
        dynamic_shared_bytes: u64,
        args: &[LaunchArg<'_>],
        order: Order<'_>,
    ) -> Result<(), Error> {
        let inner = &*self.0;
        inner.services.check_process()?;
        let device = stream.device();
        if device.number().device_type != inner.entry.device_type {
            return Err(
                self.wrong(format!("it does not run on {device:?}; launch it on a stream of its device"))
            );
        }
        if args.len() != inner.described.args.len() {
            let (expected, found) = (inner.described.args.len(), args.len());
            let message = format!("kernel {}: expected {expected} arguments, found {found}", self.name());
            return Err(Error::new(ErrorKind::Type, message));
        }
        let read = args.iter().enumerate().map(|(position, arg)| self.argument(position, *arg, stream));
        let read: Vec<KernelArg> = read.collect::<Result<_, _>>()?;
        let launch = kernel::Launch::new(read, grid, block, dynamic_shared_bytes);
        order.queued(stream, |next| {
            let recorded = |capture: &dyn capture::Capture| {
                let used = args.iter().filter_map(LaunchArg::used).collect();
                capture.launch(device.state().at(), self.launches(), &launch, used)
            };
            if let Some(recorded) = capture::current().and_then(recorded) {
                return recorded;
            }
            Launches::queue(inner, device.id(), stream.raw(), &launch, next)
        })
    }

    /// Returns it as a recording keeps it.
    fn launches(&self) -> Arc<dyn Launches> {
        Arc::<Inner>::clone(&self.0)
    }

    fn wrong(&self, what: String) -> Error {
        Error::new(ErrorKind::Value, format!("kernel {}: {what}", self.name()))
    }

    fn argument(&self, position: usize, arg: LaunchArg<'_>, stream: &Stream) -> Result<KernelArg, Error> {
        let dtype = self.0.described.args[position];
        let is_pointer = dtype.code == chipdock_abi::CHIPDOCK_DTYPE_HANDLE;
        let expected = |found: &str| {
            let (name, dtype) = (self.name(), api::dtype::text(dtype));
            let message = format!("kernel {name}, argument {position}: expected {dtype}, found {found}");
            Err(Error::new(ErrorKind::Type, message))
        };
        match arg {
            LaunchArg::Tensor(_) | LaunchArg::Null if !is_pointer => expected("a pointer"),
            LaunchArg::Scalar(_) if is_pointer => expected("a scalar"),
            LaunchArg::Null => Ok(KernelArg::Pointer(ptr::null_mut())),
            LaunchArg::Tensor(tensor) => {
                let (at, view) = (stream.device(), tensor.view());
                if view.device() != at.number() {
                    let found = tensor.device();
                    return Err(self.wrong(format!("argument {position} is on {found:?}; expected {at:?}")));
                }
                if view.byte_offset() != 0 {
                    let offset = view.byte_offset();
                    return Err(self.wrong(format!(
                        "argument {position} begins {offset} bytes after its handle; expected a tensor that begins at its handle"
                    )));
                }
                if !stream.raw().is_null() {
                    at.state().mark(view.data());
                }
                Ok(KernelArg::Pointer(view.data()))
            }
            LaunchArg::Scalar(found) => {
                let (mut bytes, size_bytes) = ([0; 8], usize::from(dtype.bits / 8));
                if found.len() != size_bytes {
                    let dtype = api::dtype::text(dtype);
                    let found = found.len();
                    return Err(self.wrong(format!(
                        "argument {position}: expected the {size_bytes} bytes of {dtype}, found {found}"
                    )));
                }
                bytes[..size_bytes].copy_from_slice(found);
                Ok(KernelArg::Scalar { bytes, size_bytes })
            }
        }
    }

    /// Returns the kernel as a packed function, for compiled code: it launches on the current
    /// device and stream (K.4).
    pub(super) fn into_function(self) -> api::Function {
        let services = self.0.services;
        // SAFETY: H.1, the table of this host lives as long as the process.
        let host = unsafe { api::HostRef::new(services.table()) };
        api::Function::from_fn(host, move |args| {
            let inner = &*self.0;
            let Some(launch) = inner.described.call(args)? else { return Ok(api::Any::NONE) };
            let device_id = services.slots.current_device(inner.entry.device_type);
            let at = ChipdockDevice { device_type: inner.entry.device_type, device_id };
            let recorded = |capture: &dyn capture::Capture| {
                let at = capture::At { host: services.slots.id(), device: at };
                capture.launch(at, self.launches(), &launch, Vec::new())
            };
            if let Some(recorded) = capture::current().and_then(recorded) {
                return recorded.map(|()| api::Any::NONE).map_err(|error| error.to_api());
            }
            let stream = services.slots.current_stream(at);
            let status = inner.status_of(device_id, stream, &launch, ptr::null());
            // The error is passed on as it is (X.9).
            host.check(status, || format!("`launch` of kernel \"{}\"", inner.described.name))?;
            Ok(api::Any::NONE)
        })
    }
}

impl LaunchArg<'_> {
    /// Returns its memory as a recording keeps it; `None` where it has none.
    fn used(&self) -> Option<Used> {
        if let LaunchArg::Tensor(tensor) = self { Some(tensor.used()) } else { None }
    }
}

impl Launches for Inner {
    fn name(&self) -> &str {
        &self.described.name
    }

    fn queue(
        &self,
        device_id: i32,
        stream: *mut c_void,
        launch: &kernel::Launch,
        next: *const ChipdockExtension,
    ) -> Result<(), Error> {
        self.services.clear_error();
        let status = self.status_of(device_id, stream, launch, next);
        self.services.check(status, || format!("`launch` of kernel \"{}\"", self.described.name))
    }
}

impl Inner {
    /// Calls `launch` and returns its status.
    fn status_of(
        &self,
        device_id: i32,
        stream: *mut c_void,
        launch: &kernel::Launch,
        next: *const ChipdockExtension,
    ) -> i32 {
        let count = launch.args.len();
        if count > INLINE_ARGUMENTS {
            let addresses: Vec<_> = launch.args.iter().map(KernelArg::place).collect();
            return self.queue_with(device_id, stream, launch, &addresses, next);
        }
        let mut addresses = [ptr::null(); INLINE_ARGUMENTS];
        for (place, arg) in addresses.iter_mut().zip(&launch.args) {
            *place = arg.place();
        }
        self.queue_with(device_id, stream, launch, &addresses[..count], next)
    }

    fn queue_with(
        &self,
        device_id: i32,
        stream: *mut c_void,
        launch: &kernel::Launch,
        addresses: &[*const c_void],
        next: *const ChipdockExtension,
    ) -> i32 {
        let request = ChipdockLaunchRequest {
            device_id,
            flags: 0,
            stream,
            grid: launch.grid,
            block: launch.block,
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            args: addresses.as_ptr(),
            args_count: addresses.len() as u64,
            next,
        };
        let (kernel, plugin) = (&*self.described.name, self.note.plugin());
        let _span = tracing::trace_span!("launch", kernel, plugin).entered();
        let _calling = Calling::enter(self.note);
        // SAFETY: the interface's `self` and an entry of it, which live as long as the module; the
        // request and what it points to live for the call, as many arguments of the types that the
        // index has.
        unsafe { (self.table.launch)(self.self_, self.entry.entry, &request) }
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({:?}, {})", self.name(), self.0.module.kind())
    }
}
