//! Compilation of textual IR to objects, assembly and optimised IR.

use core::ffi::{c_char, c_void};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use chipdock_plugin_api::{BuildSession, Error, ErrorKind, Severity};
use llvm_sys::LLVMDiagnosticSeverity;
use llvm_sys::analysis::LLVMVerifierFailureAction;
use llvm_sys::prelude::{LLVMContextRef, LLVMDiagnosticInfoRef, LLVMMemoryBufferRef, LLVMModuleRef};
use llvm_sys::target_machine::LLVMCodeGenFileType;

use super::library::{Llvm, c_text};
use super::machine::{Machine, MachineOptions};
use super::worker;

/// Outputs requested from a build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) object: bool,
    pub(crate) assembly: bool,
    /// The optimised IR.
    pub(crate) ir: bool,
}

/// Outputs of a build, as far as they were requested.
#[derive(Clone, Debug, Default)]
pub(crate) struct Output {
    pub(crate) object: Vec<u8>,
    pub(crate) assembly: String,
    pub(crate) ir: String,
    /// LLVM's diagnostics, except errors.
    pub(crate) notes: Vec<Note>,
}

/// A diagnostic of LLVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) severity: Severity,
    pub(crate) message: String,
}

/// Whoever waits for a build.
pub(crate) trait Waiting {
    /// Returns true if the build is to be given up.
    fn is_cancelled(&self) -> bool;

    /// Is told what begins.
    fn step(&self, text: &str) {
        let _ = text;
    }
}

impl<F: Fn() -> bool> Waiting for F {
    fn is_cancelled(&self) -> bool {
        self()
    }
}

impl Waiting for BuildSession<'_> {
    fn is_cancelled(&self) -> bool {
        BuildSession::is_cancelled(self)
    }

    fn step(&self, text: &str) {
        BuildSession::step(self, text);
    }
}

/// Parses, verifies, optimises and emits; the same input gives the same bytes.
///
/// `waiting` is polled and told what begins; LLVM's current step is finished first.
///
/// # Errors
///
/// * `InternalError`: LLVM rejects the IR (LIBLLVM-O7), or gives up (LIBLLVM-O6). `Cancelled`:
///   `is_cancelled` returned true.
/// * Any error of [`Llvm::machine`].
pub(crate) fn compile(
    llvm: &'static Llvm,
    ir: &str,
    options: &MachineOptions,
    wanted: Wanted,
    waiting: &dyn Waiting,
) -> Result<Output, Error> {
    let flag = Arc::new(AtomicBool::new(waiting.is_cancelled()));
    let (steps, told) = channel();
    let watched = Watched { cancelled: Arc::clone(&flag), steps };
    let (text, options) = (ir.to_owned(), options.clone());
    let tell = || told.try_iter().for_each(|step| waiting.step(step));
    let result = worker::run(
        move || Build::new(llvm, &text, &options, watched)?.run(wanted),
        || {
            tell();
            if waiting.is_cancelled() {
                flag.store(true, Ordering::Relaxed);
            }
        },
    );
    tell();
    result.map_err(|error| if error.kind() == ErrorKind::INTERNAL { with_ir(&error, ir) } else { error })
}

/// Like [`compile`], for IR that is only tried: if LLVM rejects it, no file is kept.
///
/// # Errors
///
/// Any error of [`compile`].
pub(crate) fn attempt(
    llvm: &'static Llvm,
    ir: &str,
    options: &MachineOptions,
    wanted: Wanted,
) -> Result<Output, Error> {
    let (text, options) = (ir.to_owned(), options.clone());
    let watched = Watched { cancelled: Arc::default(), steps: channel().0 };
    worker::run(move || Build::new(llvm, &text, &options, watched)?.run(wanted), || {})
}

/// Adds the name of a file with the IR to the error.
fn with_ir(error: &Error, ir: &str) -> Error {
    let kept = tempfile::Builder::new()
        .prefix("chipdock-llvm-")
        .suffix(".ll")
        .tempfile_in(chipdock_plugin_api::process::temporary_folder())
        .and_then(|mut file| file.write_all(ir.as_bytes()).map(|()| file))
        .and_then(|file| file.keep().map_err(|error| error.error));
    let place = match kept {
        Ok((_, path)) => format!("the IR is in {}", path.display()),
        Err(error) => format!("the IR could not be kept: {error}"),
    };
    Error::new(ErrorKind::INTERNAL, format!("{}; {place}", error.message()))
}

/// What the thread of a build shares with whoever waits for it.
struct Watched {
    cancelled: Arc<AtomicBool>,
    steps: Sender<&'static str>,
}

impl Watched {
    fn step(&self, text: &'static str) {
        // Nobody may listen.
        let _ = self.steps.send(text);
    }
}

/// One build: a context, a machine and a module, all disposed of at the end.
struct Build {
    llvm: &'static Llvm,
    context: LLVMContextRef,
    module: LLVMModuleRef,
    machine: Machine,
    opt_level: u8,
    watched: Watched,
    /// Comes from a box; written by the context's diagnostic handler, on this thread.
    notes: *mut Notes,
}

struct Notes {
    llvm: &'static Llvm,
    notes: Vec<(bool, Note)>,
}

extern "C" fn on_diagnostic(info: LLVMDiagnosticInfoRef, notes: *mut c_void) {
    // SAFETY: the pointer given to the context, which only the thread that calls this uses.
    let notes = unsafe { &mut *notes.cast::<Notes>() };
    let api = &notes.llvm.api;
    // SAFETY: the diagnostic lives for the call; the description belongs to this function.
    let (severity, message) = unsafe {
        let message = notes.llvm.take_message((api.LLVMGetDiagInfoDescription)(info));
        ((api.LLVMGetDiagInfoSeverity)(info), message)
    };
    let (is_error, severity) = match severity {
        LLVMDiagnosticSeverity::LLVMDSError => (true, Severity::Error),
        LLVMDiagnosticSeverity::LLVMDSWarning => (false, Severity::Warning),
        LLVMDiagnosticSeverity::LLVMDSNote => (false, Severity::Note),
        // Descriptions of passes, only useful for tuning LLVM.
        LLVMDiagnosticSeverity::LLVMDSRemark => return,
    };
    notes.notes.push((is_error, Note { severity, message }));
}

impl Drop for Build {
    fn drop(&mut self) {
        let api = &self.llvm.api;
        // SAFETY: all belong to this build; the module is disposed of before its context, and the
        // context before its handler's data.
        unsafe {
            if !self.module.is_null() {
                (api.LLVMDisposeModule)(self.module);
            }
            (api.LLVMContextDispose)(self.context);
            drop(Box::from_raw(self.notes));
        }
    }
}

fn refused(llvm: &Llvm, what: &str, why: &str) -> Error {
    Error::new(
        ErrorKind::INTERNAL,
        format!("{llvm} {what}: {}; this is a bug of the code generator, report it", why.trim_end()),
    )
}

impl Build {
    /// Creates a build: parses and verifies the IR.
    fn new(llvm: &'static Llvm, ir: &str, options: &MachineOptions, watched: Watched) -> Result<Self, Error> {
        watched.step("read LLVM IR");
        let machine = llvm.machine(options)?;
        let triple = c_text(&options.triple, "the triple")?;
        let api = &llvm.api;
        let notes = Box::into_raw(Box::new(Notes { llvm, notes: Vec::new() }));
        // SAFETY: a new context; the handler's data lives as long as the build.
        let context = unsafe {
            let context = (api.LLVMContextCreate)();
            (api.LLVMContextSetDiagnosticHandler)(context, Some(on_diagnostic), notes.cast());
            context
        };
        let module = core::ptr::null_mut();
        let opt_level = options.opt_level;
        let mut build = Self { llvm, context, module, machine, opt_level, watched, notes };
        let mut message = core::ptr::null_mut();
        // SAFETY: the buffer copies the text, and belongs to the parser from then on, on failure
        // too.
        let (status, message) = unsafe {
            let buffer = (api.LLVMCreateMemoryBufferWithMemoryRangeCopy)(
                ir.as_ptr().cast(),
                ir.len(),
                c"module".as_ptr(),
            );
            let status = (api.LLVMParseIRInContext)(context, buffer, &raw mut build.module, &raw mut message);
            (status, llvm.take_message(message))
        };
        if status != 0 || build.module.is_null() {
            build.module = core::ptr::null_mut();
            return Err(refused(llvm, "cannot read the IR", &message));
        }
        let mut message = core::ptr::null_mut();
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        // SAFETY: a live module; the message is set on success too.
        let (status, message) = unsafe {
            let status = (api.LLVMVerifyModule)(build.module, action, &raw mut message);
            (status, llvm.take_message(message))
        };
        if status != 0 {
            return Err(refused(llvm, "refuses the IR", &message));
        }
        // SAFETY: live module and machine; the layout is ours.
        unsafe {
            (api.LLVMSetTarget)(build.module, triple.as_ptr());
            build.machine.set_layout_of(build.module);
        }
        Ok(build)
    }

    /// LLVM's diagnostics so far, each with a flag for errors.
    fn notes(&self) -> &[(bool, Note)] {
        // SAFETY: during this borrow no function of LLVM is called, and only LLVM writes to it.
        unsafe { &(*self.notes).notes }
    }

    fn checkpoint(&self, stage: &str) -> Result<(), Error> {
        if self.watched.cancelled.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::CANCELLED, format!("the build was cancelled before {stage}")));
        }
        let errors: Vec<&str> = self
            .notes()
            .iter()
            .filter(|(is_error, _)| *is_error)
            .map(|(_, note)| note.message.as_str())
            .collect();
        if errors.is_empty() { Ok(()) } else { Err(refused(self.llvm, "refuses the IR", &errors.join("; "))) }
    }

    fn run(self, wanted: Wanted) -> Result<Output, Error> {
        self.checkpoint("it was optimised")?;
        if !wanted.ir {
            // Names of values are for readers; passes need not create new ones.
            // SAFETY: a live context.
            unsafe { (self.llvm.api.LLVMContextSetDiscardValueNames)(self.context, 1) };
        }
        self.watched.step("optimise");
        self.optimise()?;
        let mut output = Output::default();
        if wanted.ir {
            // SAFETY: a live module; the string is ours.
            output.ir =
                unsafe { self.llvm.take_message((self.llvm.api.LLVMPrintModuleToString)(self.module)) };
        }
        if wanted.assembly {
            self.checkpoint("assembly was emitted")?;
            self.watched.step("emit assembly");
            // Emission changes the module, so it works on a copy.
            // SAFETY: a live module; the copy is disposed of once.
            let bytes = unsafe {
                let copy = (self.llvm.api.LLVMCloneModule)(self.module);
                let bytes = self.emit(copy, LLVMCodeGenFileType::LLVMAssemblyFile);
                (self.llvm.api.LLVMDisposeModule)(copy);
                bytes?
            };
            output.assembly = String::from_utf8_lossy(&bytes).into_owned();
        }
        if wanted.object {
            self.checkpoint("code was emitted")?;
            self.watched.step("emit code");
            output.object = self.emit(self.module, LLVMCodeGenFileType::LLVMObjectFile)?;
        }
        self.checkpoint("it was delivered")?;
        output.notes = self.notes().iter().map(|(_, note)| note.clone()).collect();
        Ok(output)
    }

    fn optimise(&self) -> Result<(), Error> {
        let passes = match self.opt_level {
            0 => c"default<O0>",
            1 => c"default<O1>",
            2 => c"default<O2>",
            _ => c"default<O3>",
        };
        let api = &self.llvm.api;
        let vectorize = i32::from(self.opt_level >= 2);
        // SAFETY: live module and machine; the options are disposed of once.
        let result = unsafe {
            let options = (api.LLVMCreatePassBuilderOptions)();
            (api.LLVMPassBuilderOptionsSetLoopVectorization)(options, vectorize);
            (api.LLVMPassBuilderOptionsSetSLPVectorization)(options, vectorize);
            (api.LLVMPassBuilderOptionsSetLoopInterleaving)(options, vectorize);
            (api.LLVMPassBuilderOptionsSetLoopUnrolling)(options, i32::from(self.opt_level >= 1));
            let error = (api.LLVMRunPasses)(self.module, passes.as_ptr(), self.machine.raw(), options);
            (api.LLVMDisposePassBuilderOptions)(options);
            self.llvm.take_error(error)
        };
        result.map_err(|why| refused(self.llvm, "cannot optimise the IR", &why))
    }

    fn emit(&self, module: LLVMModuleRef, kind: LLVMCodeGenFileType) -> Result<Vec<u8>, Error> {
        let api = &self.llvm.api;
        let mut message: *mut c_char = core::ptr::null_mut();
        let mut buffer: LLVMMemoryBufferRef = core::ptr::null_mut();
        // SAFETY: live module and machine.
        let status = unsafe {
            (api.LLVMTargetMachineEmitToMemoryBuffer)(
                self.machine.raw(),
                module,
                kind,
                &raw mut message,
                &raw mut buffer,
            )
        };
        // SAFETY: set only on failure, and then owned by this function.
        let message = unsafe { self.llvm.take_message(message) };
        if status != 0 || buffer.is_null() {
            return Err(refused(self.llvm, "cannot emit code", &message));
        }
        // SAFETY: a live buffer of that size, disposed of once.
        unsafe {
            let start = (api.LLVMGetBufferStart)(buffer).cast::<u8>();
            let bytes = core::slice::from_raw_parts(start, (api.LLVMGetBufferSize)(buffer)).to_vec();
            (api.LLVMDisposeMemoryBuffer)(buffer);
            Ok(bytes)
        }
    }
}
