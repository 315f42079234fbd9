//! Functions of modules and plugins, and their calls. Compiled code checks its own arguments, with
//! messages that the pass `make_packed_api` writes.

use std::fmt;
use std::sync::Arc;

use chipdock_abi::{
    CHIPDOCK_TYPE_DEVICE, CHIPDOCK_TYPE_DLTENSOR_PTR, CHIPDOCK_TYPE_NONE, CHIPDOCK_TYPE_TENSOR, ChipdockAny,
    ChipdockSafeCall,
};
use chipdock_plugin_api as api;

use super::capture;
use super::interrupt::CallOptions;
use super::module::ModuleInner;
use super::tables::answered;
use crate::boundary::calling::{Calling, FUNCTION, Note};
use crate::boundary::slots::Slots;
use crate::error::Error;
use crate::host::Host;
use crate::trace;

/// What [`Function::call_plain`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// It was called, and its result is a plain value, or None.
    Done,
    /// It was called: this status and the result go to [`Function::outcome`].
    Called(i32),
    /// It was not called.
    NotCalled,
}

/// A function that can be called. It keeps its host, and the module that it comes from, alive.
/// Cloning shares it.
#[derive(Clone)]
pub struct Function {
    // Dropped before the module that its code belongs to.
    value: api::Function,
    /// The value's call function, as it was when it was checked (HOST-A5).
    call: ChipdockSafeCall,
    name: Arc<str>,
    module: Option<Arc<ModuleInner>>,
    note: &'static Note,
    host: Host,
}

impl Host {
    /// Returns the plain function that the program ([`Self::register_function`]) or a plugin
    /// registered under that name, or `None`.
    ///
    /// # Errors
    ///
    /// The error with which the plugin that registers it failed to open, or the reason why it was
    /// refused.
    pub fn function(&self, name: &str) -> Result<Option<Function>, Error> {
        let function = self.0.registry.registered_function(name)?;
        let plugin = self.0.registry.plugin_of(&format!("function.{name}"));
        Ok(function.map(|function| Function::new(self, &plugin, name, function)))
    }
}

impl Function {
    pub(crate) fn new(host: &Host, plugin: &str, name: &str, value: api::Function) -> Self {
        let note = Note::of(plugin, &format!("{FUNCTION}{name}"));
        Self { call: value.safe_call(), value, name: name.into(), module: None, note, host: host.clone() }
    }

    pub(super) fn of_module(module: &Arc<ModuleInner>, name: &str, value: api::Function) -> Self {
        let note = Note::of(module.plugin(), &format!("{FUNCTION}{name}"));
        let (call, host) = (value.safe_call(), module.host().clone());
        Self { value, call, name: name.into(), module: Some(Arc::clone(module)), note, host }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls it. Arguments are borrowed, the result is owned.
    ///
    /// Work is queued on the streams that are current on this thread; a function of host memory is
    /// done when it returns.
    ///
    /// # Errors
    ///
    /// The error that it raised: `TypeError` and `ValueError` for arguments that it does not take,
    /// with the parameter's name and both values. `BrokenPlugin` when it failed and raised nothing,
    /// or returned something that is no value.
    pub fn call(&self, args: &[api::AnyView<'_>]) -> Result<api::Any, Error> {
        if trace::is_wanted() {
            return self.call_in_span(args);
        }
        self.call_now(args)
    }

    /// Calls it as [`Self::call`] does; what it does on this thread keeps to the options.
    ///
    /// # Errors
    ///
    /// As of [`Self::call`], and `Cancelled`, `TimeoutError` or the error of
    /// [`CallOptions::on_ask`] where it was to end before it was done (CALL-E1 to CALL-E5).
    pub fn call_with(&self, args: &[api::AnyView<'_>], options: &CallOptions) -> Result<api::Any, Error> {
        options.within(|| self.call(args))?
    }

    #[cold]
    fn call_in_span(&self, args: &[api::AnyView<'_>]) -> Result<api::Any, Error> {
        let _span =
            tracing::trace_span!("call", function = &*self.name, plugin = self.note.plugin()).entered();
        self.call_now(args)
    }

    /// Calls it as [`Self::call`] does; the error of a failure is the object that was raised, with
    /// its traceback and its cause.
    ///
    /// # Errors
    ///
    /// As of [`Self::call`].
    #[inline]
    pub fn call_raising(&self, args: &[api::AnyView<'_>]) -> Result<api::Any, api::Error> {
        let (status, result) = self.status_of(args).map_err(|error| error.to_api())?;
        // SAFETY: the status and the result of one call.
        unsafe { self.outcome(status, result) }
    }

    /// Returns what a call comes to, by its status and what it wrote as its result.
    ///
    /// # Safety
    ///
    /// * They are those of a call of this function, and the result is taken over.
    ///
    /// # Errors
    ///
    /// As of [`Self::call_raising`].
    pub unsafe fn outcome(&self, status: i32, result: ChipdockAny) -> Result<api::Any, api::Error> {
        if status == 0 {
            // SAFETY: on success the result is owned by the caller.
            let answered = unsafe { answered(result, &|| format!("function \"{}\"", self.name)) };
            return answered.map_err(|error| error.to_api());
        }
        let services = self.host.0.services;
        Err(services.take().unwrap_or_else(|| {
            let failed = services.check(status, || format!("function \"{}\"", self.name));
            let internal = || Error::new(crate::error::ErrorKind::Internal, "a call failed without a status");
            failed.err().unwrap_or_else(internal).to_api()
        }))
    }

    /// Calls the function where nothing has to be done but the call, and writes its result where
    /// that is no object: the common call of a kernel, at the least cost. What is left to do, the
    /// answer says. Whatever stood in `result` is overwritten, and not released.
    #[inline]
    pub fn call_plain(&self, args: &[api::AnyView<'_>], result: &mut ChipdockAny) -> Plain {
        let services = self.host.0.services;
        if !Slots::is_quiet() || services.check_process().is_err() {
            return Plain::NotCalled;
        }
        let status = self.enter(args, result);
        match (status, result.type_index) {
            (0, CHIPDOCK_TYPE_NONE..=CHIPDOCK_TYPE_DEVICE) => Plain::Done,
            _ => Plain::Called(status),
        }
    }

    /// Calls the C function, and returns its status; what it writes replaces what stands in
    /// `result`.
    #[inline]
    fn enter(&self, args: &[api::AnyView<'_>], result: &mut ChipdockAny) -> i32 {
        *result = api::Any::NONE.into_raw();
        let num_args = i32::try_from(args.len()).unwrap_or(i32::MAX);
        let self_ = self.value.object().as_ptr();
        let _calling = Calling::enter(self.note);
        // SAFETY: a packed function with its object as `self`; a view is laid out as a value, the
        // result is None.
        unsafe { (self.call.0)(self_.cast(), args.as_ptr().cast(), num_args, result) }
    }

    /// Calls the function without checking whether a program traces calls.
    #[inline]
    pub(crate) fn call_now(&self, args: &[api::AnyView<'_>]) -> Result<api::Any, Error> {
        let (status, result) = self.status_of(args)?;
        if status == 0 {
            // SAFETY: on success the result is owned by the caller.
            return unsafe { answered(result, &|| format!("function \"{}\"", self.name)) };
        }
        let failed = self.host.0.services.slots.check_function(status, &self.name, self.note.plugin());
        failed.map(|()| api::Any::NONE).map_err(|error| error.at(format!("function \"{}\"", self.name)))
    }

    /// Calls the function, and returns its status with what it wrote as its result.
    #[inline]
    fn status_of(&self, args: &[api::AnyView<'_>]) -> Result<(i32, ChipdockAny), Error> {
        let services = self.host.0.services;
        services.check_process()?;
        services.clear_error();
        if !Slots::is_plain() {
            self.expect_recordable()?;
            self.mark(args);
        }
        let mut result = api::Any::NONE.into_raw();
        let status = self.enter(args, &mut result);
        Ok((status, result))
    }

    /// Refuses a kernel that its module's own function would launch, where this thread records a
    /// graph (GRAPH-G4).
    fn expect_recordable(&self) -> Result<(), Error> {
        match &self.module {
            Some(module) if Slots::is_recording() && module.is_of_device()? => {
                let what = format!("kernel \"{}\", called as a function,", self.name);
                capture::refuse(&what).map_err(|error| {
                    error.hint("launch it as a kernel of its module, or call the host function that does")
                })
            }
            _ => Ok(()),
        }
    }

    /// Marks tensors that work on a stream other than their home's may use: they are not handed out
    /// again before that work is done.
    fn mark(&self, args: &[api::AnyView<'_>]) {
        for arg in args {
            if !matches!(arg.type_index(), CHIPDOCK_TYPE_DLTENSOR_PTR | CHIPDOCK_TYPE_TENSOR) {
                continue;
            }
            let Ok(view) = arg.to::<api::TensorView<'_>>() else { continue };
            let device = self.host.0.devices.by_number(view.device());
            if let Some(device) = device.filter(|device| !device.current_stream().is_null()) {
                device.mark(view.data());
            }
        }
    }

    /// Returns the function as a value that belongs to another side than its host (VALUE-F2 of
    /// [`values`](crate::values)). It keeps its module and its host alive.
    #[must_use]
    pub fn for_side(&self, side: api::HostRef) -> api::Function {
        let (function, home) = (self.clone(), self.host.side());
        api::Function::from_fn(side, move |args: &[api::AnyView<'_>]| {
            crate::boundary::values::carrying(args, side, home, |args| function.call_raising(args))
        })
    }

    /// Returns the host that it is a function of.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the function as a value of the boundary, for calls that bypass the host. It must not
    /// outlive this handle's module.
    #[must_use]
    pub fn value(&self) -> &api::Function {
        &self.value
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.module.as_ref().map_or("registered", |module| module.kind());
        write!(f, "Function({:?}, {kind})", self.name)
    }
}
