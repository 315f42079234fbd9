//! Compares an NVIDIA GPU through Chipdock with its driver: launches, copies, elementwise kernels
//! and matrix products.
//!
//! A figure that cannot be measured here has no value and states the reason.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::time::Instant;

use chipdock_host::{AnyView, Host, Tensor};
use chipdock_ir::DType;
use libloading::Library;

use super::super::Result;
use super::super::contest::{duel, ns_per_call};
use super::super::options::Options;
use super::{ELEMENTS, FROM_DEVICE, Figure, TO_DEVICE, compile, missing, tensors};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;

/// Size of the copy whose rate is measured.
const COPY_BYTES: usize = 64 << 20;
/// Elements of each tensor of an elementwise kernel.
const ADD_ELEMENTS: i64 = 1 << 26;
/// Rows and columns of the matrices of the measured product.
const MATMUL_N: i64 = 4096;
/// File names of cuBLAS, newest first.
const CUBLAS: &[&str] = &["libcublas.so.13", "libcublas.so.12", "libcublas.so.11"];

const KERNELS: &str = "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def add(A: T.Buffer((\"n\",), \"float32\"), B: T.Buffer((n,), \"float32\"), C: T.Buffer((n,), \"float32\")):
        n = T.int32()
        T.func_attr({\"tirx.noalias\": True})
        for i in range(n):
            with T.sblock(\"C\"):
                vi = T.axis.spatial(n, i)
                C[vi] = A[vi] + B[vi]

    @T.prim_func(s_tir=True)
    def matmul(
        A: T.Buffer((4096, 4096), \"float32\"),
        B: T.Buffer((4096, 4096), \"float32\"),
        C: T.Buffer((4096, 4096), \"float32\"),
    ):
        T.func_attr({\"tirx.noalias\": True})
        for i, j, k in T.grid(4096, 4096, 4096):
            with T.sblock(\"C\"):
                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
";

/// Returns true if a backend's driver is CUDA, by DLPack's number of such devices.
pub(super) fn serves(backend: &Backend) -> bool {
    backend.capabilities.device.device_type == 2
}

/// Measures all selected figures.
///
/// # Errors
///
/// The driver cannot be opened. A measurement that fails is a figure without a value.
pub(super) fn measure(options: &Options, host: &Host, backend: &Backend) -> Result<Vec<Figure>> {
    let driver = Driver::open(backend)?;
    let mut figures = Vec::new();
    let mut add = |name: &'static str, measured: Result<Vec<Figure>>| match measured {
        Ok(found) => figures.extend(found),
        Err(why) => figures.push(missing(name, &why)),
    };
    if options.wants("launch") {
        add(LAUNCH, launches(host, backend, &driver));
    }
    if options.wants("copy") {
        add(TO_DEVICE, copies(backend, &driver));
    }
    if options.wants("elementwise") {
        add(ELEMENTWISE, elementwise(host, backend, &driver));
    }
    if options.wants("matmul") {
        add(MATMUL, matmul(host, backend, &driver));
    }
    Ok(figures)
}

const LAUNCH: &str = "a launch, µs more than cuLaunchKernel";
const LAUNCH_WITHOUT: &str = "the same on a thread that has no context, µs more than cuLaunchKernel";
const ELEMENTWISE: &str = "the rate of copies within the device / that of an addition";
const MATMUL: &str = "cuBLAS's rate of a float32 product / ours";

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Compares a launch through a host function with all of its checks with `cuLaunchKernel` of the
/// same code.
fn launches(host: &Host, backend: &Backend, driver: &Driver) -> Result<Vec<Figure>> {
    let artifact = compile(host, backend)?;
    let [device] = artifact.imports() else { return Err("one device module is expected".to_owned()) };
    let code = device.section("code").ok_or("no PTX was made: NVRTC is missing")?.data();
    let info = device.index().functions.first().ok_or("the device module has no kernel")?;
    let bare = driver.kernel(code, &info.symbol, info.args.len())?;
    let loaded = host.load(&artifact).map_err(text)?;
    let add = loaded.function("add").map_err(text)?;
    let tensors = tensors(backend)?;
    let views: Vec<AnyView<'_>> = tensors.iter().map(AnyView::from).collect();
    let mut figures = Vec::new();
    // The driver's own calls need a current context; calls through Chipdock make it current if none
    // is.
    for (name, is_current) in [(LAUNCH, true), (LAUNCH_WITHOUT, false)] {
        let (mut failed, mut bare_failed) = (None, None);
        // A queue holds about a thousand launches; the timed calls must never wait for space in it.
        let ours = || {
            bare_failed = driver.enter(is_current).err().or(bare_failed.take());
            let time = ns_per_call(200, || failed = add.call(&views).err().or(failed.take()));
            failed = backend.device.sync().err().or(failed.take());
            time
        };
        let peer_failed = std::cell::RefCell::new(None);
        let note =
            |result: Result<()>| drop(peer_failed.replace_with(|before| before.take().or(result.err())));
        let peer = || {
            note(driver.enter(true));
            let time = ns_per_call(200, || note(bare.launch()));
            note(driver.wait());
            time
        };
        let (ours, peer, _) = duel(51, ours, peer);
        if let Some(error) = failed.map(text).or(bare_failed).or(peer_failed.take()) {
            return Err(error);
        }
        let more = (ours - peer) / 1e3;
        let measured = format!("{more:.3} ({:.3} µs / {:.3} µs)", ours / 1e3, peer / 1e3);
        figures.push(Figure { name, measured, value: more, goal: Some(0.3) });
    }
    driver.enter(true)?;
    Ok(figures)
}

/// Compares copies of a large tensor from and to the same pageable memory, in both directions.
fn copies(backend: &Backend, driver: &Driver) -> Result<Vec<Figure>> {
    let buffer = driver.memory(COPY_BYTES)?;
    let tensor = Tensor::empty(&backend.device, &[COPY_BYTES as i64], DType::UINT8).map_err(text)?;
    let data = vec![1_u8; COPY_BYTES];
    let failed = std::cell::RefCell::new(None);
    let note = |result: Result<()>| failed.replace_with(|before| before.take().or(result.err()));
    let to_device = duel(
        21,
        || timed(|| drop(note(tensor.copy_from_bytes(&data).map_err(text)))),
        || timed(|| drop(note(buffer.write(&data)))),
    );
    let from_device = duel(
        21,
        || {
            timed(|| {
                drop(note(tensor.to_bytes().map(|bytes| drop(std::hint::black_box(bytes))).map_err(text)))
            })
        },
        || timed(|| drop(note(buffer.read(&mut std::hint::black_box(vec![0; COPY_BYTES]))))),
    );
    let rate = |seconds: f64| COPY_BYTES as f64 / seconds / 1e9;
    let figure = |name, (ours, peer, ratio): (f64, f64, f64)| Figure {
        name,
        // A duel compares times: our time over the driver's is the driver's rate over ours.
        measured: format!("{:.3} ({:.2} GB/s of {:.2} GB/s)", ratio, rate(ours), rate(peer)),
        value: ratio,
        goal: Some(1.0 / 0.95),
    };
    match failed.take() {
        Some(error) => Err(error),
        None => Ok(vec![figure(TO_DEVICE, to_device), figure(FROM_DEVICE, from_device)]),
    }
}

/// Compares an addition with the default schedule, two reads and a write of each element, with a
/// copy, one read and one write.
fn elementwise(host: &Host, backend: &Backend, driver: &Driver) -> Result<Vec<Figure>> {
    let module = chipdock_script::parse(KERNELS, "kernels.py").map_err(text)?;
    let add = run::build(host, backend, &module)?.function("add").map_err(text)?;
    let tensor = || Tensor::zeros(&backend.device, &[ADD_ELEMENTS], DType::FLOAT32).map_err(text);
    let tensors = [tensor()?, tensor()?, tensor()?];
    let views: Vec<AnyView<'_>> = tensors.iter().map(AnyView::from).collect();
    let bytes = ADD_ELEMENTS as usize * 4;
    let (from, to) = (driver.memory(bytes)?, driver.memory(bytes)?);
    let (mut failed, mut bare_failed) = (None, None);
    let ours = || {
        timed(|| {
            let called = (0..10).try_for_each(|_| add.call(&views).map(drop));
            failed = called.and_then(|()| backend.device.sync()).err().or(failed.take());
        })
    };
    let peer = || {
        timed(|| {
            let copied = (0..10).try_for_each(|_| to.copy(&from, bytes));
            bare_failed = copied.and_then(|()| driver.wait()).err().or(bare_failed.take());
        })
    };
    let (ours, peer, _) = duel(11, ours, peer);
    if let Some(error) = failed.map(text).or(bare_failed) {
        return Err(error);
    }
    let (ours, peer) = (30.0 * bytes as f64 / ours / 1e9, 20.0 * bytes as f64 / peer / 1e9);
    let measured = format!("{:.3} ({ours:.1} GB/s of {peer:.1} GB/s)", peer / ours);
    Ok(vec![Figure { name: ELEMENTWISE, measured, value: peer / ours, goal: Some(1.0 / 0.9) }])
}

/// Compares a product with the default schedule with that of cuBLAS.
fn matmul(host: &Host, backend: &Backend, driver: &Driver) -> Result<Vec<Figure>> {
    let module = chipdock_script::parse(KERNELS, "kernels.py").map_err(text)?;
    let matmul = run::build(host, backend, &module)?.function("matmul").map_err(text)?;
    let tensor = || Tensor::zeros(&backend.device, &[MATMUL_N, MATMUL_N], DType::FLOAT32).map_err(text);
    let tensors = [tensor()?, tensor()?, tensor()?];
    let views: Vec<AnyView<'_>> = tensors.iter().map(AnyView::from).collect();
    let mut failed = None;
    let ours =
        || timed(|| failed = matmul.call(&views).and_then(|_| backend.device.sync()).err().or(failed.take()));
    let rate = |seconds: f64| 2.0 * (MATMUL_N as f64).powi(3) / seconds / 1e9;
    let peer = Cublas::open(driver);
    let figure = match &peer {
        Ok(peer) => {
            let mut bare_failed = None;
            let theirs = || timed(|| bare_failed = peer.multiply(driver).err().or(bare_failed.take()));
            let (ours, theirs, ratio) = duel(7, ours, theirs);
            if let Some(error) = bare_failed {
                return Err(error);
            }
            let measured = format!("{ratio:.2} ({:.0} GFLOP/s of {:.0} GFLOP/s)", rate(ours), rate(theirs));
            Figure { name: MATMUL, measured, value: ratio, goal: None }
        }
        Err(why) => {
            let (ours, _, _) = duel(7, ours, || 1.0);
            let measured = format!("ours: {:.0} GFLOP/s; no peer: {why}", rate(ours));
            Figure { name: MATMUL, measured, value: f64::NAN, goal: None }
        }
    };
    match failed {
        Some(error) => Err(text(error)),
        None => Ok(vec![figure]),
    }
}

fn timed(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

/// Turns a result code of the named driver call into a `Result`.
fn check(call: &str, code: c_int) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(format!("{call} answered {code}")) }
}

/// Calls a function of a library by its name and type; the function returns a result code.
macro_rules! call {
    ($library:expr, $name:literal, ($($type:ty),*), $($arg:expr),*) => {{
        // SAFETY: the function has that type, and the arguments meet its requirements: see each
        // call.
        unsafe {
            match $library.get::<unsafe extern "C" fn($($type),*) -> c_int>($name) {
                Ok(function) => check($name, function($($arg),*)),
                Err(error) => Err(format!("{}: {error}", $name)),
            }
        }
    }};
}

/// The driver called without Chipdock, on the primary context of the first device, which stays
/// current on this thread.
struct Driver {
    library: Library,
    launch: Launch,
    context: usize,
}

type Launch = unsafe extern "C" fn(
    usize,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    usize,
    *mut *mut c_void,
    *mut *mut c_void,
) -> c_int;

impl Driver {
    fn open(backend: &Backend) -> Result<Self> {
        // SAFETY: the backend has already loaded this library.
        let library = unsafe { Library::new("libcuda.so.1") }.map_err(text)?;
        // SAFETY: the function of that name has that type.
        let launch = *unsafe { library.get::<Launch>("cuLaunchKernel") }.map_err(text)?;
        let mut driver = Self { library, launch, context: 0 };
        let (mut device, mut context) = (0_i32, 0_usize);
        let id = backend.device.id();
        call!(driver.library, "cuInit", (u32), 0)?;
        call!(driver.library, "cuDeviceGet", (*mut i32, c_int), &mut device, id)?;
        call!(driver.library, "cuDevicePrimaryCtxRetain", (*mut usize, c_int), &mut context, device)?;
        driver.context = context;
        driver.enter(true)?;
        Ok(driver)
    }

    /// Makes the context current on this thread, or makes no context current.
    fn enter(&self, is_current: bool) -> Result<()> {
        let context = if is_current { self.context } else { 0 };
        call!(self.library, "cuCtxSetCurrent", (usize), context)
    }

    fn wait(&self) -> Result<()> {
        call!(self.library, "cuStreamSynchronize", (usize), 0)
    }

    fn memory(&self, bytes: usize) -> Result<Memory<'_>> {
        let mut address = 0;
        call!(self.library, "cuMemAlloc_v2", (*mut u64, usize), &mut address, bytes)?;
        Ok(Memory { driver: self, address })
    }

    fn kernel(&self, code: &[u8], symbol: &str, args_count: usize) -> Result<Kernel<'_>> {
        let (mut module, mut function) = (0_usize, 0_usize);
        let mut image = code.to_vec();
        image.push(0);
        let none = ptr::null_mut::<c_void>();
        call!(
            self.library,
            "cuModuleLoadDataEx",
            (*mut usize, *const c_void, u32, *mut c_void, *mut c_void),
            &mut module,
            image.as_ptr().cast(),
            0,
            none,
            none
        )?;
        let name = CString::new(symbol).map_err(text)?;
        call!(
            self.library,
            "cuModuleGetFunction",
            (*mut usize, usize, *const c_char),
            &mut function,
            module,
            name.as_ptr()
        )?;
        let memory = (0..args_count).map(|_| self.memory(ELEMENTS * 4)).collect::<Result<_>>()?;
        Ok(Kernel { driver: self, function, memory })
    }
}

/// Allocated device memory.
struct Memory<'a> {
    driver: &'a Driver,
    address: u64,
}

impl Memory<'_> {
    fn write(&self, data: &[u8]) -> Result<()> {
        let (from, size) = (data.as_ptr().cast::<c_void>(), data.len());
        call!(
            self.driver.library,
            "cuMemcpyHtoDAsync_v2",
            (u64, *const c_void, usize, usize),
            self.address,
            from,
            size,
            0
        )?;
        self.driver.wait()
    }

    fn read(&self, data: &mut [u8]) -> Result<()> {
        let (to, size) = (data.as_mut_ptr().cast::<c_void>(), data.len());
        call!(
            self.driver.library,
            "cuMemcpyDtoHAsync_v2",
            (*mut c_void, u64, usize, usize),
            to,
            self.address,
            size,
            0
        )?;
        self.driver.wait()
    }

    fn copy(&self, from: &Self, bytes: usize) -> Result<()> {
        let (to, from) = (self.address, from.address);
        call!(self.driver.library, "cuMemcpyDtoDAsync_v2", (u64, u64, usize, usize), to, from, bytes, 0)
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        let _ = call!(self.driver.library, "cuMemFree_v2", (u64), self.address);
    }
}

/// A kernel with pointer parameters only, launched on one block.
struct Kernel<'a> {
    driver: &'a Driver,
    function: usize,
    memory: Vec<Memory<'a>>,
}

impl Kernel<'_> {
    fn launch(&self) -> Result<()> {
        let (mut values, mut places) = ([0_u64; 8], [ptr::null_mut::<c_void>(); 8]);
        for ((value, place), memory) in values.iter_mut().zip(&mut places).zip(&self.memory) {
            *value = memory.address;
            *place = ptr::from_mut(value).cast();
        }
        let none = ptr::null_mut();
        // SAFETY: the kernel takes as many pointers as there are memories, each with as many
        // elements as there are threads.
        let code = unsafe {
            (self.driver.launch)(
                self.function,
                1,
                1,
                1,
                ELEMENTS as u32,
                1,
                1,
                0,
                0,
                places.as_mut_ptr(),
                none,
            )
        };
        check("cuLaunchKernel", code)
    }
}

/// cuBLAS, NVIDIA's own matrix product.
struct Cublas<'a> {
    library: Library,
    handle: usize,
    matrices: [Memory<'a>; 3],
}

impl<'a> Cublas<'a> {
    fn open(driver: &'a Driver) -> Result<Self> {
        let mut reasons = Vec::new();
        for name in CUBLAS {
            // SAFETY: the library is NVIDIA's, opened by its own name.
            match unsafe { Library::new(*name) } {
                Ok(library) => {
                    let mut handle = 0;
                    call!(library, "cublasCreate_v2", (*mut usize), &mut handle)?;
                    let matrix = || driver.memory((MATMUL_N * MATMUL_N) as usize * 4);
                    return Ok(Self { library, handle, matrices: [matrix()?, matrix()?, matrix()?] });
                }
                Err(error) => reasons.push(format!("{name}: {error}")),
            }
        }
        Err(reasons.join("; "))
    }

    /// Computes one product in float32, without the shorter formats of tensor cores.
    fn multiply(&self, driver: &Driver) -> Result<()> {
        let [a, b, c] = &self.matrices;
        let (n, one, zero, no) = (MATMUL_N as c_int, 1.0_f32, 0.0_f32, 0);
        call!(
            self.library,
            "cublasSgemm_v2",
            (
                usize,
                c_int,
                c_int,
                c_int,
                c_int,
                c_int,
                *const f32,
                u64,
                c_int,
                u64,
                c_int,
                *const f32,
                u64,
                c_int
            ),
            self.handle,
            no,
            no,
            n,
            n,
            n,
            &one,
            a.address,
            n,
            b.address,
            n,
            &zero,
            c.address,
            n
        )?;
        driver.wait()
    }
}
