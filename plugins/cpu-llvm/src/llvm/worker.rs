//! Threads on which LLVM runs (rule LIBLLVM-O6).

use core::cell::RefCell;
use core::ffi::{CStr, c_char};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use chipdock_plugin_api::kit::{PerProcess, carried, lock};
use chipdock_plugin_api::{Error, ErrorKind};

use super::library::Llvm;

/// Stack size: LLVM recurses as deeply as code nests, and the caller's stack may be small. Only
/// touched pages take memory.
const STACK_BYTES: usize = 64 << 20;
/// Interval at which a waiting caller checks whether it should go on.
const POLL: Duration = Duration::from_millis(10);
/// Maximum number of idle threads.
const IDLE_MAX: usize = 16;

type Work = Box<dyn FnOnce() + Send>;
type Tell = Box<dyn Fn(String)>;

thread_local! {
    /// On a thread of this module, during work: the channel that reports to the caller that LLVM
    /// has given up.
    static GIVEN_UP: RefCell<Option<Tell>> = const { RefCell::new(None) };
}

/// The threads of this process.
struct Crew {
    idle: Mutex<Vec<Sender<Work>>>,
    /// Number of works that LLVM has now.
    running: AtomicUsize,
    /// Whether LLVM was at work in another thread when this process was forked: its locks stay
    /// locked.
    is_spoilt: bool,
}

static CREW: PerProcess<Crew> = PerProcess::new(|ancestors: Option<&Crew>| Crew {
    idle: Mutex::default(),
    running: AtomicUsize::new(0),
    is_spoilt: ancestors.is_some_and(|crew| crew.is_spoilt || crew.running.load(Ordering::Acquire) > 0),
});

/// A work that LLVM has.
struct Running(&'static Crew);

impl Running {
    /// Begins a work.
    ///
    /// # Errors
    ///
    /// `WrongState`: a forked child in which LLVM cannot work (LIBLLVM-O8).
    fn begin() -> Result<Self, Error> {
        let crew = CREW.of_this();
        if crew.is_spoilt {
            let message = "LLVM was at work in another thread when this process was forked, and cannot work here: fork while \
                           nothing is compiled, or start a new process (in Python, multiprocessing with the start method \
                           \"spawn\")";
            return Err(Error::new(ErrorKind::WRONG_STATE, message));
        }
        crew.running.fetch_add(1, Ordering::AcqRel);
        Ok(Self(crew))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Redirects a library's fatal errors to the caller that waits for the failing thread; once for
/// each file.
pub(super) fn contain_fatal_errors(llvm: &Llvm) {
    // Carried over a fork, as the handler is.
    static CONTAINED: PerProcess<Mutex<BTreeSet<usize>>> = PerProcess::new(carried);
    let install = llvm.api.LLVMInstallFatalErrorHandler;
    // Two names may refer to one library, which takes one handler.
    if lock(CONTAINED.of_this()).insert(install as usize) {
        // SAFETY: the handler follows LLVM's rules: it does not unwind, and on other threads it
        // returns.
        unsafe { install(Some(on_fatal_error)) };
    }
}

extern "C" fn on_fatal_error(reason: *const c_char) {
    // SAFETY: LLVM gives a NUL-terminated text that lives for the call.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned();
    let tell = GIVEN_UP.try_with(|slot| slot.try_borrow_mut().ok().and_then(|mut slot| slot.take()));
    let Ok(Some(tell)) = tell else {
        // A thread of other code in this LLVM: as without a handler, LLVM ends the process on
        // return.
        eprintln!("LLVM ERROR: {reason}");
        return;
    };
    tell(reason);
    drop(tell);
    // Returning would end the process, and unwinding through LLVM's frames would skip their
    // cleanup.
    loop {
        std::thread::park();
    }
}

/// Message of a thread to its caller.
enum Told<T> {
    Done(Result<T, Error>),
    GivenUp(String),
}

/// Runs work on a thread with a large stack, and waits for it. `waiting` is called from time to
/// time meanwhile.
///
/// # Errors
///
/// * Any error of the work.
/// * `WrongState`: a forked child in which LLVM cannot work (LIBLLVM-O8).
/// * `InternalError`: LLVM gave up. `Panic`: the work panicked. `OutOfMemory`: no thread can be
///   started.
pub(crate) fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    mut waiting: impl FnMut(),
) -> Result<T, Error> {
    let running = Running::begin()?;
    let crew = running.0;
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
    let thread = hand_over(crew, Box::new(job))?;
    loop {
        match receiver.recv_timeout(POLL) {
            Ok(Told::Done(result)) => {
                let mut idle = lock(&crew.idle);
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
fn hand_over(crew: &Crew, mut work: Work) -> Result<Sender<Work>, Error> {
    loop {
        let Some(thread) = lock(&crew.idle).pop() else { break };
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
