//! Threads on which LLVM runs (rule LIBLLVM-O6).

use core::cell::RefCell;
use core::ffi::{CStr, c_char};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use chipdock_plugin_api::kit::lock;
use chipdock_plugin_api::{Error, ErrorKind};

use super::library::Llvm;

/// Stack size: LLVM recurses as deeply as code nests, and the caller's stack may be small. Only touched pages take
/// memory.
const STACK_BYTES: usize = 64 << 20;
/// Interval at which a waiting caller checks whether it should go on.
const POLL: Duration = Duration::from_millis(10);
/// Maximum number of idle threads.
const IDLE_MAX: usize = 16;

type Work = Box<dyn FnOnce() + Send>;
type Tell = Box<dyn Fn(String)>;

thread_local! {
    /// On a thread of this module, during work: the channel that reports to the caller that LLVM has given up.
    static GIVEN_UP: RefCell<Option<Tell>> = const { RefCell::new(None) };
}

static IDLE: Mutex<Vec<Sender<Work>>> = Mutex::new(Vec::new());

/// Redirects a library's fatal errors to the caller that waits for the failing thread; once for each file.
pub(super) fn contain_fatal_errors(llvm: &Llvm) {
    static CONTAINED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());
    let install = llvm.api.LLVMInstallFatalErrorHandler;
    // Two names may refer to one library, which takes one handler.
    if lock(&CONTAINED).insert(install as usize) {
        // SAFETY: the handler follows LLVM's rules: it does not unwind, and on other threads it returns.
        unsafe { install(Some(on_fatal_error)) };
    }
}

extern "C" fn on_fatal_error(reason: *const c_char) {
    // SAFETY: LLVM gives a NUL-terminated text that lives for the call.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned();
    let tell = GIVEN_UP.try_with(|slot| slot.try_borrow_mut().ok().and_then(|mut slot| slot.take()));
    let Ok(Some(tell)) = tell else {
        // A thread of other code in this LLVM: as without a handler, LLVM ends the process on return.
        eprintln!("LLVM ERROR: {reason}");
        return;
    };
    tell(reason);
    drop(tell);
    // Returning would end the process, and unwinding through LLVM's frames would skip their cleanup.
    loop {
        std::thread::park();
    }
}

/// Message of a thread to its caller.
enum Told<T> {
    Done(Result<T, Error>),
    GivenUp(String),
}

/// Runs work on a thread with a large stack, and waits for it. `waiting` is called from time to time meanwhile.
///
/// # Errors
///
/// * Any error of the work. `InternalError`: LLVM gave up. `Panic`: the work panicked. `OutOfMemory`: no thread can be
///   started.
pub(crate) fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    mut waiting: impl FnMut(),
) -> Result<T, Error> {
    let (sender, receiver) = channel();
    let on_given_up = sender.clone();
    let job = move || {
        let tell = Box::new(move |reason| drop(on_given_up.send(Told::GivenUp(reason))));
        GIVEN_UP.with(|slot| *slot.borrow_mut() = Some(tell));
        let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::PANIC, "the work with LLVM panicked; this is a bug of the plugin"))
        });
        GIVEN_UP.with(|slot| *slot.borrow_mut() = None);
        let _ = sender.send(Told::Done(result));
    };
    let thread = hand_over(Box::new(job))?;
    loop {
        match receiver.recv_timeout(POLL) {
            Ok(Told::Done(result)) => {
                let mut idle = lock(&IDLE);
                if idle.len() < IDLE_MAX {
                    idle.push(thread);
                }
                return result;
            }
            Ok(Told::GivenUp(reason)) => {
                return Err(Error::new(
                    ErrorKind::INTERNAL,
                    format!(
                        "LLVM gave up: {reason}; this is a bug of the code generator or of LLVM, report it"
                    ),
                ));
            }
            Err(RecvTimeoutError::Timeout) => waiting(),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::new(ErrorKind::INTERNAL, "the thread that worked with LLVM has ended"));
            }
        }
    }
}

/// Passes work to an idle thread, or to a new one.
fn hand_over(mut work: Work) -> Result<Sender<Work>, Error> {
    loop {
        let Some(thread) = lock(&IDLE).pop() else { break };
        match thread.send(work) {
            Ok(()) => return Ok(thread),
            Err(back) => work = back.0,
        }
    }
    let (thread, works) = channel::<Work>();
    let _ = thread.send(work);
    std::thread::Builder::new()
        .name("chipdock-llvm".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || works.into_iter().for_each(|work| work()))
        .map_err(|error| {
            Error::new(ErrorKind::OUT_OF_MEMORY, format!("no thread to work with LLVM on: {error}"))
        })?;
    Ok(thread)
}
