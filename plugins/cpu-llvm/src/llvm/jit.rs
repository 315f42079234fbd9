//! Loading of objects in memory, as functions of this process.
//!
//! One session of LLVM's ORC serves the process. A module is one of its libraries: filled with an
//! object and the addresses of its undefined symbols, and cleared when the module is dropped, which
//! frees code and data. Cleared libraries are reused, so that memory does not grow with the number
//! of modules.

use core::cell::RefCell;
use core::ffi::{CStr, c_char, c_void};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::CString;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

use chipdock_plugin_api::abi::ChipdockEnv;
use chipdock_plugin_api::kit::lock;
use chipdock_plugin_api::process::fork_generation;
use chipdock_plugin_api::{Error, ErrorKind};
use llvm_sys::error::LLVMErrorRef;
use llvm_sys::orc2::lljit::LLVMOrcLLJITRef;
use llvm_sys::orc2::{
    LLVMJITEvaluatedSymbol, LLVMJITSymbolFlags, LLVMJITSymbolGenericFlags,
    LLVMOrcCJITDylibSearchOrderElement, LLVMOrcCLookupSetElement, LLVMOrcCSymbolMapPair,
    LLVMOrcCSymbolMapPairs, LLVMOrcExecutionSessionRef, LLVMOrcJITDylibLookupFlags, LLVMOrcJITDylibRef,
    LLVMOrcLookupKind, LLVMOrcSymbolLookupFlags,
};

use super::library::{Llvm, c_text};
use super::machine::MachineOptions;
#[cfg(test)]
use super::naming::Naming;
use super::naming::Shown;
use super::object;
use super::plan::Plan;
use super::worker;

/// Number of dropped modules between two purges of unused names.
const FORGET_EVERY: usize = 64;

/// The session of the process, which is never closed (LIBLLVM-O1).
pub(super) struct Session {
    jit: LLVMOrcLLJITRef,
    state: Mutex<State>,
    /// Generation of the process that made it.
    made_by: u64,
}

#[derive(Default)]
struct State {
    /// Empty libraries for reuse.
    free: Vec<Library>,
    made: usize,
    dropped: usize,
}

/// A library of the session.
struct Library(LLVMOrcJITDylibRef);

// SAFETY: LLVM's session locks itself; a library is used by one module at a time.
unsafe impl Send for Library {}
// SAFETY: the session's functions may be called from any thread.
unsafe impl Send for Session {}
// SAFETY: the session's functions may be called from any thread; fields of this type are behind a
// lock.
unsafe impl Sync for Session {}

/// A loaded object. Dropping it frees its code: the owner of an address must also own this.
pub(crate) struct Jit {
    llvm: &'static Llvm,
    session: &'static Session,
    library: Option<Library>,
    addresses: HashMap<String, usize>,
    shown: Option<Shown>,
}

// SAFETY: addresses of code, and a library that only `drop` accesses.
unsafe impl Sync for Jit {}

thread_local! {
    /// Errors that the session reported on this thread: the reasons for a failed lookup.
    static REPORTED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

extern "C" fn on_reported(llvm: *mut c_void, error: LLVMErrorRef) {
    // SAFETY: the pointer that was given with this function, to data that lives as long as the
    // process; the error is owned here.
    let message = unsafe { (*llvm.cast::<Llvm>()).take_error(error) };
    if let Err(message) = message {
        let _ = REPORTED.try_with(|reported| {
            if let Ok(mut reported) = reported.try_borrow_mut() {
                reported.push(message);
            }
        });
    }
}

/// The error of a failed step, with the session's reports about it.
fn not_linked(step: &str, why: &str) -> Error {
    let mut reasons = REPORTED.with_borrow_mut(core::mem::take);
    reasons.push(why.to_owned());
    Error::new(
        ErrorKind::VALUE_ERROR,
        format!("the object cannot be linked: {step}: {}; build the artifact again", reasons.join("; ")),
    )
}

impl Jit {
    /// Links an object into this process, and points its environment variable, if it has one, to
    /// `env`. Reports its functions to `naming`.
    ///
    /// # Errors
    ///
    /// * `ValueError`: the object is not for this machine, is broken, lacks one of `symbols`, or
    ///   calls a C function that cannot be found. `InternalError`: LLVM gave up. Nothing of the
    ///   object remains.
    #[cfg(test)]
    pub(crate) fn load(
        llvm: &'static Llvm,
        object: &[u8],
        symbols: &[&str],
        env: *const ChipdockEnv,
        naming: Naming,
    ) -> Result<Self, Error> {
        let plan = Plan::new(object, symbols, naming)?;
        Self::link(llvm, &plan, env)
    }

    /// Links the object of a plan.
    ///
    /// # Errors
    ///
    /// As [`Jit::load`].
    pub(crate) fn link(llvm: &'static Llvm, plan: &Plan<'_>, env: *const ChipdockEnv) -> Result<Self, Error> {
        let mut own = plan.object.to_vec();
        object::drop_unwind_tables(&mut own);
        let (externals, wanted) = (plan.externals.clone(), plan.wanted.clone());
        let mut jit = worker::run(
            move || {
                let session = session(llvm)?;
                let library = session.library(llvm)?;
                let mut jit =
                    Self { llvm, session, library: Some(library), addresses: HashMap::new(), shown: None };
                jit.addresses = jit.add(&own, &externals, &wanted)?;
                Ok(jit)
            },
            || {},
        )?;
        // SAFETY: the addresses of this object, linked just now.
        unsafe { plan.set_environment(&jit.addresses, env) };
        plan.tell_perf(&jit.addresses);
        jit.shown = plan.show(llvm, &jit.addresses);
        Ok(jit)
    }

    /// The address of a symbol that was requested in [`Jit::load`].
    pub(crate) fn address(&self, symbol: &str) -> Option<usize> {
        self.addresses.get(symbol).copied()
    }

    fn add(
        &self,
        object: &[u8],
        externals: &BTreeMap<CString, usize>,
        wanted: &BTreeSet<String>,
    ) -> Result<HashMap<String, usize>, Error> {
        let api = &self.llvm.api;
        let library = self.raw();
        REPORTED.with_borrow_mut(Vec::clear);
        self.define(externals)?;
        // SAFETY: live session and library; the buffer is a copy, which the session takes over even
        // on failure.
        let added = unsafe {
            let buffer = (api.LLVMCreateMemoryBufferWithMemoryRangeCopy)(
                object.as_ptr().cast(),
                object.len(),
                c"object".as_ptr(),
            );
            self.llvm.take_error((api.LLVMOrcLLJITAddObjectFile)(self.session.jit, library, buffer))
        };
        added.map_err(|why| not_linked("its symbols", &why))?;
        self.look_up(wanted)
    }

    fn raw(&self) -> LLVMOrcJITDylibRef {
        self.library.as_ref().map_or(core::ptr::null_mut(), |library| library.0)
    }

    /// Defines the addresses of the object's undefined symbols in the library.
    fn define(&self, externals: &BTreeMap<CString, usize>) -> Result<(), Error> {
        if externals.is_empty() {
            return Ok(());
        }
        let api = &self.llvm.api;
        let session = self.session.raw(self.llvm);
        let flags = LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsExported as u8;
        let mut pairs: Vec<LLVMOrcCSymbolMapPair> = externals
            .iter()
            .map(|(name, address)| LLVMOrcCSymbolMapPair {
                // SAFETY: a live session; the name is handed over with its pair.
                Name: unsafe { (api.LLVMOrcExecutionSessionIntern)(session, name.as_ptr()) },
                Sym: LLVMJITEvaluatedSymbol {
                    Address: *address as u64,
                    Flags: LLVMJITSymbolFlags { GenericFlags: flags, TargetFlags: 0 },
                },
            })
            .collect();
        // SAFETY: the pairs are read during the call; a unit that the library does not take over is
        // disposed of.
        let defined = unsafe {
            let unit = (api.LLVMOrcAbsoluteSymbols)(pairs.as_mut_ptr(), pairs.len());
            let error = (api.LLVMOrcJITDylibDefine)(self.raw(), unit);
            if !error.is_null() {
                (api.LLVMOrcDisposeMaterializationUnit)(unit);
            }
            self.llvm.take_error(error)
        };
        defined.map_err(|why| not_linked("the C functions that it calls", &why))
    }

    /// Links the object, and returns the addresses of the names.
    fn look_up(&self, wanted: &BTreeSet<String>) -> Result<HashMap<String, usize>, Error> {
        let api = &self.llvm.api;
        let session = self.session.raw(self.llvm);
        let names: Vec<CString> =
            wanted.iter().map(|name| c_text(name, "a symbol")).collect::<Result<_, _>>()?;
        let mut elements: Vec<LLVMOrcCLookupSetElement> = names
            .iter()
            .map(|name| LLVMOrcCLookupSetElement {
                // SAFETY: a live session; the name is handed over with its element.
                Name: unsafe { (api.LLVMOrcExecutionSessionIntern)(session, name.as_ptr()) },
                LookupFlags: LLVMOrcSymbolLookupFlags::LLVMOrcSymbolLookupFlagsRequiredSymbol,
            })
            .collect();
        let mut order = [LLVMOrcCJITDylibSearchOrderElement {
            JD: self.raw(),
            JDLookupFlags: LLVMOrcJITDylibLookupFlags::LLVMOrcJITDylibLookupFlagsMatchAllSymbols,
        }];
        let (sender, receiver) = channel();
        let answer = Box::into_raw(Box::new(Answer { llvm: self.llvm, sender }));
        // SAFETY: arrays are read during the call; the answer is taken by the one call of
        // `on_found`.
        unsafe {
            (api.LLVMOrcExecutionSessionLookup)(
                session,
                LLVMOrcLookupKind::LLVMOrcLookupKindStatic,
                order.as_mut_ptr(),
                order.len(),
                elements.as_mut_ptr(),
                elements.len(),
                on_found,
                answer.cast(),
            );
        }
        match receiver.recv() {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(why)) => Err(not_linked("its code", &why)),
            Err(_) => Err(Error::new(ErrorKind::INTERNAL, "LLVM's linker has not answered")),
        }
    }
}

/// Receiver of the result of a lookup.
struct Answer {
    llvm: &'static Llvm,
    sender: Sender<Result<HashMap<String, usize>, String>>,
}

extern "C" fn on_found(
    error: LLVMErrorRef,
    pairs: LLVMOrcCSymbolMapPairs,
    count: usize,
    answer: *mut c_void,
) {
    // SAFETY: called once, with the box that was given to the lookup.
    let answer = unsafe { Box::from_raw(answer.cast::<Answer>()) };
    // SAFETY: the error is owned here.
    let result = unsafe { answer.llvm.take_error(error) }.map(|()| {
        let mut found = HashMap::new();
        for index in 0..count {
            // SAFETY: an array of that many pairs, which live for the call, as their names do.
            unsafe {
                let pair = &*pairs.add(index);
                let name: *const c_char = (answer.llvm.api.LLVMOrcSymbolStringPoolEntryStr)(pair.Name);
                let name = CStr::from_ptr(name).to_string_lossy().into_owned();
                found.insert(name, pair.Sym.Address as usize);
            }
        }
        found
    });
    let _ = answer.sender.send(result);
}

impl Drop for Jit {
    fn drop(&mut self) {
        if self.session.made_by != fork_generation() {
            // LIBLLVM-O8: the parent's, whose locks may be locked.
            core::mem::forget(self.shown.take());
            return;
        }
        // Must happen while the code still exists.
        drop(self.shown.take());
        let Some(library) = self.library.take() else { return };
        let api = &self.llvm.api;
        // SAFETY: no other code has an address of it any more.
        let cleared = unsafe { self.llvm.take_error((api.LLVMOrcJITDylibClear)(library.0)) };
        let mut state = lock(&self.session.state);
        // A library that could not be cleared is not reused: its names are taken.
        if cleared.is_ok() {
            state.free.push(library);
        }
        state.dropped += 1;
        if state.dropped.is_multiple_of(FORGET_EVERY) {
            // SAFETY: a live session; names in use are kept.
            unsafe {
                let pool = (api.LLVMOrcExecutionSessionGetSymbolStringPool)(self.session.raw(self.llvm));
                (api.LLVMOrcSymbolStringPoolClearDeadEntries)(pool);
            }
        }
    }
}

impl Session {
    fn raw(&self, llvm: &Llvm) -> LLVMOrcExecutionSessionRef {
        // SAFETY: the session lives as long as the process.
        unsafe { (llvm.api.LLVMOrcLLJITGetExecutionSession)(self.jit) }
    }

    /// Returns an empty library, new or reused.
    fn library(&self, llvm: &Llvm) -> Result<Library, Error> {
        let mut state = lock(&self.state);
        if let Some(library) = state.free.pop() {
            return Ok(library);
        }
        state.made += 1;
        let name = c_text(&format!("module{}", state.made), "a module's name")?;
        // SAFETY: a live session and a name that is new.
        let library =
            unsafe { (llvm.api.LLVMOrcExecutionSessionCreateBareJITDylib)(self.raw(llvm), name.as_ptr()) };
        Ok(Library(library))
    }
}

/// The session, created by the first call.
fn session(llvm: &'static Llvm) -> Result<&'static Session, Error> {
    if let Some(session) = llvm.session.get() {
        return Ok(session);
    }
    let _opening = lock(&llvm.session_opening);
    if let Some(session) = llvm.session.get() {
        return Ok(session);
    }
    let host = llvm.host();
    let machine = llvm.machine(&MachineOptions {
        triple: host.triple,
        cpu: host.cpu,
        features: host.features,
        ..MachineOptions::default()
    })?;
    let api = &llvm.api;
    let mut jit: LLVMOrcLLJITRef = core::ptr::null_mut();
    // Creating the session looks up targets.
    let registry = lock(&llvm.initialized);
    // SAFETY: the builder takes the machine over, and is taken over itself.
    let made = unsafe {
        let machine = (api.LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine)(machine.into_raw());
        let builder = (api.LLVMOrcCreateLLJITBuilder)();
        (api.LLVMOrcLLJITBuilderSetJITTargetMachineBuilder)(builder, machine);
        llvm.take_error((api.LLVMOrcCreateLLJIT)(&raw mut jit, builder))
    };
    drop(registry);
    made.map_err(|why| Error::new(ErrorKind::UNAVAILABLE, format!("{llvm} cannot run code here: {why}")))?;
    let session =
        llvm.session.get_or_init(|| Session { jit, state: Mutex::default(), made_by: fork_generation() });
    let context: *const Llvm = llvm;
    // SAFETY: a live session; the context lives as long as the process.
    unsafe {
        (api.LLVMOrcExecutionSessionSetErrorReporter)(
            session.raw(llvm),
            on_reported,
            context.cast_mut().cast(),
        );
    }
    Ok(session)
}
