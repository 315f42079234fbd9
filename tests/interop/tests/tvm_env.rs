//! The environment of the real libtvm_ffi: streams, and tensors of the framework's allocator.
//!
//! Each test is a process of its own (as nextest runs them): a process has at most one libtvm_ffi.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use chipdock_host::library::tvm_env;
use chipdock_host::{Device, Host, HostOptions};
use chipdock_plugin_api::abi::{
    CHIPDOCK_DLPACK_READ_ONLY, ChipdockAny, ChipdockDLPackVersion, ChipdockHost,
    ChipdockManagedTensorVersioned, ChipdockObject,
};
use chipdock_plugin_api::exchange::{ExchangeServer, ExchangeTable, SetError};
use chipdock_plugin_api::{
    Any, CPU, ChipdockDataType, ChipdockDevice, ChipdockTensor, Element, EnvTensorAlloc, Error, ErrorKind,
    HostRef, ObjectRef, Tensor, TvmEnv,
};
use chipdock_test_interop::opened::Tvm;
use chipdock_test_support::{command, skipped};

fn handle(number: usize) -> *mut c_void {
    ptr::without_provenance_mut(number)
}

fn device(device_type: i32, device_id: i32) -> ChipdockDevice {
    ChipdockDevice { device_type, device_id }
}

fn environment(what: &str) -> Option<(Tvm, TvmEnv)> {
    assert!(tvm_env().is_none(), "nothing is opened to look for it");
    let tvm = Tvm::opened(what)?;
    Some((tvm, tvm_env().expect("found now")))
}

// ---- Streams ----

/// LIB-13: what one sets the other sees; guards restore; each thread has its own.
#[test]
fn streams_are_set_seen_and_restored() {
    let Some((tvm, env)) = environment("streams of libtvm_ffi") else { return };
    // SAFETY: `c_env_api.h` declares them so.
    let (get, set) = unsafe {
        (
            tvm.function::<unsafe extern "C" fn(i32, i32) -> *mut c_void>("TVMFFIEnvGetStream"),
            tvm.function::<unsafe extern "C" fn(i32, i32, *mut c_void, *mut *mut c_void) -> i32>(
                "TVMFFIEnvSetStream",
            ),
        )
    };
    let there = |device: ChipdockDevice| {
        // SAFETY: any numbers are answered.
        unsafe { get(device.device_type, device.device_id) }.addr()
    };
    let [first, second] = [device(2, 0), device(2, 3)];
    assert_eq!((env.stream(first).expect("known").addr(), there(second)), (0, 0));
    // SAFETY: handles that nobody uses.
    unsafe {
        assert_eq!(set(2, 0, handle(0x10), ptr::null_mut()), 0);
        assert_eq!(env.stream(first).expect("known").addr(), 0x10, "theirs is seen here");
        let outer = env.enter_stream(first, handle(0x20)).expect("set");
        let other = env.enter_stream(second, handle(0x30)).expect("set");
        assert_eq!((there(first), there(second)), (0x20, 0x30), "ours is seen there");
        let inner = env.enter_stream(first, ptr::null_mut()).expect("set");
        assert_eq!(there(first), 0);
        let elsewhere = std::thread::spawn(move || env.stream(device(2, 0)).expect("known").addr());
        assert_eq!(elsewhere.join().expect("ends"), 0, "another thread has none");
        drop(inner);
        assert_eq!(there(first), 0x20);
        drop((other, outer));
        assert_eq!((there(first), there(second)), (0x10, 0), "as it was");
        for (device_type, device_id) in
            [(0, 0), (-1, 0), (2, -1), (i32::MAX, 0), (i32::MIN, i32::MIN), (2, i32::MAX), (4096, 0)]
        {
            let wrong = device(device_type, device_id);
            assert_eq!(
                env.stream(wrong).expect_err("none").kind(),
                ErrorKind::VALUE_ERROR,
                "{device_type}:{device_id}"
            );
            let error = env.enter_stream(wrong, handle(1)).expect_err("none");
            assert_eq!(error.kind(), ErrorKind::VALUE_ERROR, "{device_type}:{device_id}");
        }
    }
    assert!(env.take_error().is_none(), "nothing was left in libtvm_ffi's slot");
}

/// Devices with a number of DLPack's whose plugin shares streams with the driver.
fn sharing(host: &Host) -> Vec<Device> {
    let names = host.device_names().into_iter().filter(|name| name != "cpu");
    let devices = names.filter_map(|name| host.device(&name, 0).ok());
    devices.filter(|device| device.create_stream().is_ok_and(|stream| stream.native().is_ok())).collect()
}

/// LIB-13: the host works on the stream that a framework has set, and tells libraries its own.
#[test]
fn the_host_works_on_the_frameworks_stream() {
    let Some((_tvm, env)) = environment("the host on streams of frameworks") else { return };
    let plugins = vec![command::built().plugins.clone()];
    let host = Host::new(HostOptions { plugin_paths: plugins, ..HostOptions::isolated() }).expect("a host");
    let cpu = host.device("cpu", 0).expect("the cpu");
    // SAFETY: streams that live, or that nobody looks at.
    unsafe {
        let _set = env.enter_stream(CPU, handle(0x99)).expect("set");
        assert!(cpu.tvm_stream().expect("host memory has one order").is_none());
    }
    let devices = sharing(&host);
    if devices.is_empty() {
        skipped("the host on streams of frameworks: no device here shares its streams");
    }
    for device in devices {
        // SAFETY: streams that live as long as they are set.
        unsafe {
            assert!(device.tvm_stream().expect("none is set").is_none(), "{device:?}");
            let framework = device.create_stream().expect("a stream");
            let native = framework.native().expect("shared");
            let set = env.enter_stream(device.number(), native).expect("set");
            let ours = device.tvm_stream().expect("adopted").expect("one is set");
            assert_eq!(ours.native().expect("shared"), native, "{device:?}");
            let inside = ours.enter().expect("entered");
            let tensor = chipdock_host::Tensor::from_slice(&device, &[3], &[1_i32, 2, 3]).expect("a tensor");
            assert_eq!(tensor.to_vec::<i32>().expect("copied"), [1, 2, 3], "{device:?}");
            drop(inside);
            drop((tensor, ours, set));
            assert!(device.tvm_stream().expect("none is set").is_none(), "{device:?}");

            let told = framework.enter_tvm().expect("told").expect("there is one to tell");
            assert_eq!(env.stream(device.number()).expect("known"), native, "{device:?}");
            let default = device.default_stream();
            let inner = default.enter_tvm().expect("told");
            assert!(env.stream(device.number()).expect("known").is_null(), "{device:?}");
            drop(inner);
            drop(told);
            assert!(env.stream(device.number()).expect("known").is_null(), "{device:?}");
        }
    }
}

/// LIB-13: without a libtvm_ffi there is no stream of a framework, and nobody to tell.
#[test]
fn without_libtvm_ffi_there_is_no_stream() {
    let host = Host::new(HostOptions::isolated()).expect("a host");
    let cpu = host.device("cpu", 0).expect("the cpu");
    // SAFETY: there is none.
    assert!(unsafe { cpu.tvm_stream() }.expect("none").is_none());
    assert!(cpu.default_stream().enter_tvm().expect("nobody").is_none());
    assert!(tvm_env().is_none());
}

// ---- Tensors of the framework's allocator ----

static MADE: AtomicUsize = AtomicUsize::new(0);
static DELETED: AtomicUsize = AtomicUsize::new(0);
/// What the allocator does next.
static MODE: AtomicI32 = AtomicI32::new(0);

const COMPACT: i32 = 0;
const NO_STRIDES: i32 = 1;
const READ_ONLY: i32 = 2;
const FAILS: i32 = 3;
const NOTHING: i32 = 4;
const SILENT: i32 = 5;
const OTHER: i32 = 6;

/// A managed tensor with its memory and axes.
#[repr(C)]
struct Made {
    managed: ChipdockManagedTensorVersioned,
    memory: Vec<u64>,
    axes: Vec<i64>,
}

unsafe extern "C" fn delete(managed: *mut ChipdockManagedTensorVersioned) {
    DELETED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: made below, and deleted once.
    drop(unsafe { Box::from_raw(managed.cast::<Made>()) });
}

unsafe extern "C" fn allocate(
    prototype: *mut ChipdockTensor,
    out: *mut *mut ChipdockManagedTensorVersioned,
    context: *mut c_void,
    set_error: Option<SetError>,
) -> i32 {
    let mode = MODE.load(Ordering::Relaxed);
    match mode {
        FAILS => {
            // SAFETY: the caller's function with its context.
            unsafe {
                set_error.expect("there")(context, c"MemoryError".as_ptr(), c"the pool is empty".as_ptr())
            };
            return -1;
        }
        NOTHING => return 0,
        SILENT => return -1,
        _ => {}
    }
    // SAFETY: the caller's prototype.
    let asked = unsafe { *prototype };
    let mut axes = match asked.ndim {
        0 => Vec::new(),
        // SAFETY: the prototype's axes.
        count => unsafe { std::slice::from_raw_parts(asked.shape, count as usize) }.to_vec(),
    };
    if mode == OTHER {
        axes.push(1);
    }
    let ndim = axes.len();
    let count: i64 = axes.iter().product();
    let mut strides = vec![1; ndim];
    for axis in (1..ndim).rev() {
        strides[axis - 1] = strides[axis] * axes[axis];
    }
    axes.extend(strides);
    let bytes = count as usize * usize::from(asked.dtype.bits) / 8;
    let mut made = Box::new(Made {
        managed: ChipdockManagedTensorVersioned {
            version: ChipdockDLPackVersion { major: 1, minor: 0 },
            manager_ctx: ptr::null_mut(),
            deleter: Some(delete),
            flags: if mode == READ_ONLY { CHIPDOCK_DLPACK_READ_ONLY } else { 0 },
            dl_tensor: ChipdockTensor { ndim: ndim as i32, byte_offset: 0, ..asked },
        },
        memory: vec![0; bytes.div_ceil(8).max(1)],
        axes,
    });
    made.managed.dl_tensor.data = made.memory.as_mut_ptr().cast();
    made.managed.dl_tensor.shape = made.axes.as_mut_ptr();
    let strides = made.axes.as_mut_ptr().wrapping_add(ndim);
    made.managed.dl_tensor.strides = if mode == NO_STRIDES { ptr::null_mut() } else { strides };
    MADE.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the caller's place; the managed tensor comes first.
    unsafe { *out = Box::into_raw(made).cast() };
    0
}

static MOVE: std::sync::OnceLock<unsafe extern "C" fn(*mut *mut ChipdockObject)> = std::sync::OnceLock::new();

/// `take_error` of a host whose errors are in libtvm_ffi's slot.
unsafe extern "C" fn take_there(_: *mut c_void, out: *mut ChipdockAny) {
    let mut error = ptr::null_mut();
    // SAFETY: it writes an owned error or null; the caller's place.
    unsafe {
        MOVE.get().expect("set")(&mut error);
        let error = ptr::NonNull::new(error).map(|error| Error::from_object(ObjectRef::from_raw(error)));
        out.write(error.map_or(Any::NONE, Any::from).into_raw());
    }
}

type Ask = Box<dyn Fn(&[i64], ChipdockDataType) -> Result<Tensor, Error>>;

/// Both ways by which a tensor is asked for: through the environment, and as a plugin does whose
/// host raises its errors there.
fn ways(tvm: &Tvm, env: TvmEnv) -> [Ask; 2] {
    // SAFETY: `c_env_api.h` and `c_api.h` declare them so.
    let (alloc, take) = unsafe {
        (tvm.function::<EnvTensorAlloc>("TVMFFIEnvTensorAlloc"), tvm.function("TVMFFIErrorMoveFromRaised"))
    };
    MOVE.get_or_init(|| take);
    let table = ChipdockHost { take_error: take_there, ..*HostRef::standalone().table() };
    // SAFETY: the standalone host's table but for one function, which keeps its contract.
    let host = unsafe { HostRef::new(Box::leak(Box::new(table))) };
    [
        Box::new(move |shape: &[i64], dtype| env.allocate(shape, dtype, CPU)),
        // SAFETY: libtvm_ffi's function.
        Box::new(move |shape: &[i64], dtype| unsafe {
            Tensor::from_env_alloc(host, alloc, shape, dtype, CPU)
        }),
    ]
}

/// `Tensor::FromEnvAlloc`: with an allocator, and what is said without one and by one that fails.
#[test]
fn the_environments_allocator_makes_tensors() {
    let Some((tvm, env)) = environment("the allocator of libtvm_ffi") else { return };
    for ask in ways(&tvm, env) {
        let error = ask(&[2], f32::DTYPE).expect_err("no allocator is set");
        assert_eq!(error.kind(), ErrorKind::RUNTIME_ERROR);
        assert!(error.message().contains("TVMFFIEnvSetDLPackManagedTensorAllocator"), "{error}");
        // SAFETY: an allocator that keeps DLPack's rules, but where a mode says so.
        let guard = unsafe { env.enter_allocator(allocate) }.expect("set");
        let (made, deleted) = (MADE.load(Ordering::Relaxed), DELETED.load(Ordering::Relaxed));
        let with = |mode| MODE.store(mode, Ordering::Relaxed);
        for mode in [COMPACT, NO_STRIDES, READ_ONLY] {
            with(mode);
            for shape in [&[][..], &[3], &[2, 3, 4], &[0, 2], &[1; 9]] {
                let tensor =
                    ask(shape, f64::DTYPE).unwrap_or_else(|error| panic!("{mode} {shape:?}: {error}"));
                assert_eq!(tensor.view().shape(), shape);
                assert!(tensor.view().is_compact() && tensor.view().strides().is_some() | shape.is_empty());
                assert!(tensor.to_vec::<f64>().expect("host memory").iter().all(|value| *value == 0.0));
                let kept = tensor.as_strided(&[0], &[1], 0).expect("a view");
                let before = DELETED.load(Ordering::Relaxed);
                drop(tensor);
                assert_eq!(DELETED.load(Ordering::Relaxed), before, "the view keeps it");
                drop(kept);
                assert_eq!(DELETED.load(Ordering::Relaxed), before + 1);
            }
        }
        assert_eq!(
            (MADE.load(Ordering::Relaxed) - made, DELETED.load(Ordering::Relaxed) - deleted),
            (15, 15)
        );
        with(FAILS);
        let error = ask(&[2], f32::DTYPE).expect_err("it fails");
        assert_eq!((error.kind(), &*error.message()), (ErrorKind::MEMORY_ERROR, "the pool is empty"));
        with(NOTHING);
        assert_eq!(
            ask(&[2], f32::DTYPE).expect_err("null").kind(),
            ErrorKind::RUNTIME_ERROR,
            "TVM-FFI's own"
        );
        with(SILENT);
        assert_eq!(ask(&[2], f32::DTYPE).expect_err("no error").kind(), ErrorKind::BROKEN_PLUGIN);
        with(OTHER);
        assert_eq!(ask(&[2], f32::DTYPE).expect_err("another").kind(), ErrorKind::BROKEN_PLUGIN);
        for shape in [&[-1][..], &[i64::MAX, 2]] {
            with(FAILS);
            assert_eq!(
                ask(shape, f32::DTYPE).expect_err("nonsense").kind(),
                ErrorKind::VALUE_ERROR,
                "not asked"
            );
        }
        with(COMPACT);
        assert_eq!(MADE.load(Ordering::Relaxed), DELETED.load(Ordering::Relaxed));
        let elsewhere = std::thread::spawn(move || env.allocate(&[2], f32::DTYPE, CPU).map(drop));
        let error = elsewhere.join().expect("ends").expect_err("of another thread");
        assert_eq!(error.kind(), ErrorKind::RUNTIME_ERROR);
        drop(guard);
        assert_eq!(ask(&[2], f32::DTYPE).expect_err("as it was").kind(), ErrorKind::RUNTIME_ERROR);
    }
    assert!(env.take_error().is_none(), "nothing was left in libtvm_ffi's slot");
}

struct Ours;

impl ExchangeServer for Ours {
    fn host() -> HostRef {
        HostRef::standalone()
    }

    fn allocate(shape: &[i64], dtype: ChipdockDataType, device: ChipdockDevice) -> Result<Tensor, Error> {
        if device.device_type != CPU.device_type {
            return Err(Error::new(ErrorKind::OUT_OF_MEMORY, "only host memory"));
        }
        assert_eq!(dtype.bits, 32);
        Tensor::from_slice(shape, &vec![0.25_f32; shape.iter().product::<i64>() as usize])
    }

    fn current_work_stream(_: ChipdockDevice) -> Result<*mut c_void, Error> {
        Ok(ptr::null_mut())
    }
}

/// The allocator of a table of ours serves whoever asks libtvm_ffi for a tensor; guards restore the
/// one that was there.
#[test]
fn our_table_serves_the_environment() {
    let Some((_tvm, env)) = environment("an allocator of ours in libtvm_ffi") else { return };
    let ours = ExchangeTable::of::<Ours>().managed_tensor_allocator.expect("there");
    // SAFETY: allocators that keep DLPack's rules.
    let (outer, inner) = unsafe { (env.enter_allocator(allocate), env.enter_allocator(ours)) };
    let tensor = env.allocate(&[2, 2], f32::DTYPE, CPU).expect("made");
    assert_eq!(tensor.to_vec::<f32>().expect("host memory"), [0.25; 4]);
    let error = env.allocate(&[2], f32::DTYPE, device(2, 0)).expect_err("no such memory");
    assert_eq!((error.kind(), &*error.message()), (ErrorKind::MEMORY_ERROR, "only host memory"));
    drop(inner);
    assert_eq!(
        env.allocate(&[2], f32::DTYPE, CPU).expect("the other's").to_vec::<f32>().expect("floats"),
        [0.0; 2]
    );
    assert_eq!((MADE.load(Ordering::Relaxed), DELETED.load(Ordering::Relaxed)), (1, 1));
    drop(outer);
    assert!(env.allocate(&[2], f32::DTYPE, CPU).is_err());
    // Made by an allocator that is no longer set, and still there.
    assert_eq!(tensor.to_vec::<f32>().expect("host memory"), [0.25; 4]);
}
