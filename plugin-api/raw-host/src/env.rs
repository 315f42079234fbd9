//! Environment for compiled code that is loaded through the bare tables (RAW-7 to RAW-11).

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use chipdock_abi::{
    CHIPDOCK_DEVICE_CPU, CHIPDOCK_ERROR, CHIPDOCK_OK, ChipdockEnv, ChipdockFunctionObject, ChipdockInterface,
    ChipdockInterrupt1, ChipdockParallelBody,
};
use chipdock_plugin_api::{Error, ErrorKind, Function};

use crate::host::RawHost;

/// Time that a loader may take to release an environment that is no longer used.
const RELEASE_TIME: Duration = Duration::from_secs(2);

/// An environment that counts its releases. It is leaked, so that uses after the release are
/// detected.
pub struct Lent {
    id: usize,
    env: OnceLock<ChipdockEnv>,
    host: &'static RawHost,
    service: Service,
    released: AtomicU32,
    late: AtomicU32,
}

/// What an environment does for compiled code beyond errors and workspace in host memory.
#[derive(Default)]
pub struct Service {
    /// Threads of a parallel loop at most; 0 for one task on the caller's thread (RAW-9).
    pub n_threads: i32,
    /// Whether workspace is freed by the thread that allocated it, in the reverse order of
    /// allocation (RAW-8).
    pub is_ordered: bool,
    /// Functions that are imported, by name.
    pub imports: Vec<(&'static str, Function)>,
    /// Whether it has interface `interrupt` 1 (RAW-11).
    pub interrupts: bool,
}

/// What one thread does with one environment.
struct Work {
    /// Addresses of live workspace, in the order of allocation.
    live: Vec<usize>,
    /// Pieces of workspace that may live at once.
    limit: usize,
    /// Calls of `imported`.
    n_asked: usize,
    /// Tasks of the parallel loops that the thread has run.
    n_tasks: usize,
    /// Source location of the last error raised.
    location: Option<String>,
    /// Device that is current, and the address of its stream.
    current: (i32, usize),
    /// Questions for the interface `interrupt`, and whether to go on.
    questions: (usize, usize),
    /// Questions whether to go on that are answered with yes before one is answered with no.
    patience: usize,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            live: Vec::new(),
            limit: usize::MAX,
            n_asked: 0,
            n_tasks: 0,
            location: None,
            current: (0, 0),
            questions: (0, 0),
            patience: usize::MAX,
        }
    }
}

thread_local! {
    /// What this thread does, by environment.
    static WORK: RefCell<HashMap<usize, Work>> = RefCell::default();
}

impl Lent {
    /// Creates an environment for one load, whose errors are raised with `host`; it is never freed.
    #[must_use]
    pub fn new(host: &'static RawHost) -> &'static Self {
        Self::with(host, Service::default())
    }

    /// Creates an environment with a service; otherwise as [`Lent::new`].
    #[must_use]
    pub fn with(host: &'static RawHost, service: Service) -> &'static Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let (released, late) = (AtomicU32::new(0), AtomicU32::new(0));
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        Box::leak(Box::new(Self { id, env: OnceLock::new(), host, service, released, late }))
    }

    /// Returns the environment as compiled code sees it.
    #[must_use]
    pub fn table(&'static self) -> &'static ChipdockEnv {
        self.env.get_or_init(|| ChipdockEnv {
            version: 1,
            flags: 0,
            self_: ptr::from_ref(self).cast_mut().cast(),
            raise,
            allocate_workspace,
            free_workspace,
            current_stream,
            current_device,
            set_device,
            device_type,
            imported,
            parallel_launch,
            query,
            release,
        })
    }

    /// Returns the host that errors are raised with.
    #[must_use]
    pub fn host(&self) -> &'static RawHost {
        self.host
    }

    /// Returns the number of releases so far.
    #[must_use]
    pub fn released(&self) -> u32 {
        self.released.load(Ordering::SeqCst)
    }

    /// Returns the number of releases, waiting a moment for the first one.
    #[must_use]
    pub fn released_in_time(&self) -> u32 {
        let begun = Instant::now();
        while self.released() == 0 && begun.elapsed() < RELEASE_TIME {
            thread::sleep(Duration::from_millis(1));
        }
        self.released()
    }

    /// Returns the number of uses after the release.
    #[must_use]
    pub fn used_late(&self) -> u32 {
        self.late.load(Ordering::SeqCst)
    }

    /// Returns the number of pieces of workspace that this thread has allocated and not freed.
    #[must_use]
    pub fn live_workspaces(&self) -> usize {
        self.work(|work| work.live.len())
    }

    /// Lets this thread have `pieces` pieces of workspace at once; a further allocation fails.
    pub fn limit_workspaces(&self, pieces: usize) {
        self.work(|work| work.limit = pieces);
    }

    /// Returns how often compiled code on this thread has asked for an imported function.
    #[must_use]
    pub fn n_asked(&self) -> usize {
        self.work(|work| work.n_asked)
    }

    /// Lets this thread go on for so many questions, and then no more (RAW-11).
    pub fn go_on_for(&self, questions: usize) {
        self.work(|work| work.patience = questions);
    }

    /// Returns how often compiled code on this thread has asked for the interface `interrupt`, and
    /// whether to go on, since the last call.
    #[must_use]
    pub fn take_questions(&self) -> (usize, usize) {
        self.work(|work| std::mem::take(&mut work.questions))
    }

    /// Returns the number of tasks that this thread's parallel loops had since the last call, on
    /// threads of their own.
    #[must_use]
    pub fn take_n_tasks(&self) -> usize {
        self.work(|work| std::mem::take(&mut work.n_tasks))
    }

    /// Returns the source location of this thread's last error.
    #[must_use]
    pub fn location(&self) -> Option<String> {
        self.work(|work| work.location.clone())
    }

    /// Makes a device of each type and a stream current on this thread.
    pub fn make_current(&self, device_id: i32, stream: *mut c_void) {
        self.work(|work| work.current = (device_id, stream.expose_provenance()));
    }

    fn work<T>(&self, with: impl FnOnce(&mut Work) -> T) -> T {
        WORK.with_borrow_mut(|all| with(all.entry(self.id).or_default()))
    }

    fn refuse<T>(&self, kind: ErrorKind, message: &'static str, answer: T) -> T {
        self.host.set(Error::new(kind, message));
        answer
    }
}

/// Returns the environment that a function is called with, and notes a use after its release.
fn lent_of<'a>(env: *const ChipdockEnv) -> &'a Lent {
    // SAFETY: compiled code passes the environment that it was given, whose `self_` was leaked.
    let lent = unsafe { &*(*env).self_.cast::<Lent>() };
    if lent.released() > 0 {
        lent.late.fetch_add(1, Ordering::SeqCst);
    }
    lent
}

unsafe extern "C" fn release(env: *const ChipdockEnv) {
    // SAFETY: compiled code passes the environment that it was given, whose `self_` was leaked.
    let lent = unsafe { &*(*env).self_.cast::<Lent>() };
    lent.released.fetch_add(1, Ordering::SeqCst);
}

/// Writes the answer to an output pointer, after checking the pointer.
fn put<T>(lent: &Lent, out: *mut T, value: T) -> i32 {
    if out.is_null() || !out.is_aligned() {
        let message = "the environment was given no place for its answer";
        return lent.refuse(ErrorKind::BROKEN_PLUGIN, message, CHIPDOCK_ERROR);
    }
    // SAFETY: the pointer was just checked, and the caller provides the room behind it.
    unsafe { out.write(value) };
    CHIPDOCK_OK
}

/// Returns a text; `None` for null.
fn optional_text(text: *const c_char) -> Option<String> {
    // SAFETY: the pointer is not null, and its text is NUL-terminated by the environment's
    // contract.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

fn text(text: *const c_char) -> String {
    optional_text(text).unwrap_or_default()
}

unsafe extern "C" fn raise(
    env: *const ChipdockEnv,
    kind: *const c_char,
    message: *const c_char,
    location: *const c_char,
) {
    let lent = lent_of(env);
    lent.host.set(Error::new(ErrorKind::new(text(kind)), text(message)));
    let location = optional_text(location);
    lent.work(|work| work.location = location);
}

unsafe extern "C" fn allocate_workspace(
    env: *const ChipdockEnv,
    device_type: i32,
    _device_id: i32,
    size_bytes: u64,
) -> *mut c_void {
    let lent = lent_of(env);
    let refuse = |kind, message| lent.refuse(kind, message, ptr::null_mut());
    if device_type != CHIPDOCK_DEVICE_CPU {
        return refuse(ErrorKind::UNSUPPORTED, "this environment has workspace in host memory only");
    }
    if lent.work(|work| work.live.len() >= work.limit) {
        return refuse(ErrorKind::MEMORY_ERROR, "no workspace left");
    }
    let Ok(size) = usize::try_from(size_bytes) else {
        return refuse(ErrorKind::OUT_OF_MEMORY, "the workspace is too large");
    };
    let mut data = ptr::null_mut();
    // SAFETY: there is room for the result; 64 is a power of two and a multiple of a pointer's
    // size.
    if unsafe { libc::posix_memalign(&raw mut data, 64, size.max(1)) } != 0 {
        return refuse(ErrorKind::OUT_OF_MEMORY, "no memory for the workspace");
    }
    lent.work(|work| work.live.push(data.addr()));
    data
}

unsafe extern "C" fn free_workspace(
    env: *const ChipdockEnv,
    _device_type: i32,
    _device_id: i32,
    data: *mut c_void,
) -> i32 {
    let lent = lent_of(env);
    let is_last = lent.work(|work| {
        let is_last = work.live.last() == Some(&data.addr());
        if let Some(found) = work.live.iter().rposition(|live| *live == data.addr()) {
            work.live.remove(found);
        }
        is_last
    });
    if lent.service.is_ordered && !is_last {
        return lent.refuse(ErrorKind::RUNTIME_ERROR, "workspace freed out of order", CHIPDOCK_ERROR);
    }
    // SAFETY: `allocate_workspace` made the block, and it is freed once.
    unsafe { libc::free(data) };
    CHIPDOCK_OK
}

unsafe extern "C" fn current_stream(
    env: *const ChipdockEnv,
    _device_type: i32,
    _device_id: i32,
    out_stream: *mut *mut c_void,
) -> i32 {
    let lent = lent_of(env);
    let stream = lent.work(|work| work.current.1);
    put(lent, out_stream, ptr::with_exposed_provenance_mut(stream))
}

unsafe extern "C" fn current_device(
    env: *const ChipdockEnv,
    _device_type: i32,
    out_device_id: *mut i32,
) -> i32 {
    let lent = lent_of(env);
    put(lent, out_device_id, lent.work(|work| work.current.0))
}

unsafe extern "C" fn set_device(env: *const ChipdockEnv, _device_type: i32, _device_id: i32) -> i32 {
    lent_of(env);
    CHIPDOCK_OK
}

unsafe extern "C" fn device_type(
    env: *const ChipdockEnv,
    name: *const c_char,
    _out_device_type: *mut i32,
) -> i32 {
    let message = format!("this environment knows no device \"{}\"", text(name));
    lent_of(env).host.set(Error::new(ErrorKind::NOT_FOUND, message));
    CHIPDOCK_ERROR
}

unsafe extern "C" fn imported(
    env: *const ChipdockEnv,
    name: *const c_char,
    out_function: *mut *const ChipdockFunctionObject,
) -> i32 {
    let (lent, name) = (lent_of(env), text(name));
    lent.work(|work| work.n_asked += 1);
    if let Some((_, function)) = lent.service.imports.iter().find(|(known, _)| *known == name) {
        return put(lent, out_function, function.object().as_ptr().cast::<ChipdockFunctionObject>());
    }
    let message = format!("nothing is imported as \"{name}\"");
    lent.host.set(Error::new(ErrorKind::NOT_FOUND, message));
    CHIPDOCK_ERROR
}

unsafe extern "C" fn query(
    env: *const ChipdockEnv,
    name: *const c_char,
    version: u32,
    out_interface: *mut ChipdockInterface,
) -> i32 {
    let (lent, is_interrupt) = (lent_of(env), text(name) == "interrupt");
    lent.work(|work| work.questions.0 += usize::from(is_interrupt));
    if !is_interrupt || version != 1 || !lent.service.interrupts {
        return put(lent, out_interface, ChipdockInterface::NONE);
    }
    let interface = ChipdockInterface {
        self_: ptr::from_ref(lent).cast_mut().cast(),
        table: ptr::from_ref(&INTERRUPT).cast(),
        table_size_bytes: size_of::<ChipdockInterrupt1>() as u64,
        features: 0,
    };
    put(lent, out_interface, interface)
}

static INTERRUPT: ChipdockInterrupt1 = ChipdockInterrupt1 { go_on };

unsafe extern "C" fn go_on(self_: *mut c_void) -> i32 {
    // SAFETY: the interface's `self_`, which was leaked.
    let lent = unsafe { &*self_.cast::<Lent>() };
    let goes_on = lent.work(|work| {
        work.questions.1 += 1;
        let left = work.patience.checked_sub(1);
        work.patience = if work.patience == usize::MAX { usize::MAX } else { left.unwrap_or(0) };
        left.is_some()
    });
    if goes_on {
        return CHIPDOCK_OK;
    }
    lent.refuse(ErrorKind::CANCELLED, "told to end", CHIPDOCK_ERROR)
}

struct Data(*mut c_void);

// SAFETY: the data of a parallel loop is made for tasks on several threads.
unsafe impl Sync for Data {}

unsafe extern "C" fn parallel_launch(
    env: *const ChipdockEnv,
    body: ChipdockParallelBody,
    data: *mut c_void,
    tasks_max: i32,
) -> i32 {
    let lent = lent_of(env);
    if lent.service.n_threads == 0 {
        // SAFETY: compiled code passes a body together with its data.
        return unsafe { (body.0)(0, 1, data) };
    }
    let (count, data) = (tasks_max.clamp(1, lent.service.n_threads), &Data(data));
    let left = lent.work(|work| {
        work.n_tasks += count as usize;
        work.limit.saturating_sub(work.live.len())
    });
    let task = |id: i32| {
        lent.limit_workspaces(left);
        // SAFETY: compiled code passes a body together with its data.
        let status = unsafe { (body.0)(id, count, data.0) };
        if lent.service.is_ordered && lent.live_workspaces() > 0 {
            drop(lent.host.take_error());
            return Some(Some(Error::new(ErrorKind::RUNTIME_ERROR, "a task leaves workspace behind")));
        }
        (status != CHIPDOCK_OK).then(|| lent.host.take_error())
    };
    let failures: Vec<Option<Error>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|id| scope.spawn(move || task(id))).collect();
        let panicked = || Some(Error::new(ErrorKind::PANIC, "a task of a parallel loop panicked"));
        let ended = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Some(panicked())));
        ended.flatten().collect()
    });
    let Some(first) = failures.into_iter().next() else { return CHIPDOCK_OK };
    if let Some(error) = first {
        lent.host.set(error);
    }
    CHIPDOCK_ERROR
}
