//! Helpers for lowering, compiling and calling without a host.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use chipdock_interpret::Array;
use chipdock_ir::{DType, IrModule, Target, TargetKind, TypeCode};
use chipdock_passes::{LowerOptions, lower};
use chipdock_plugin_api::abi::{
    ChipdockAny, ChipdockAnyValue, ChipdockDataType, ChipdockDevice, ChipdockEnv, ChipdockFunctionObject,
    ChipdockInterface, ChipdockParallelBody, ChipdockTensor,
};
use chipdock_plugin_api::source::Written;
use chipdock_plugin_api::{Env, HostRef};

use crate::codegen::build;
use crate::loader::{CModule, load};

thread_local! {
    static RAISED: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

unsafe extern "C" fn raise(
    _: *const ChipdockEnv,
    kind: *const c_char,
    message: *const c_char,
    _location: *const c_char,
) {
    // SAFETY: both are NUL-terminated strings of compiled code, live for the call.
    let text = |text: *const c_char| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    RAISED.with_borrow_mut(|raised| *raised = Some((text(kind), text(message))));
}

unsafe extern "C" fn allocate_workspace(
    _: *const ChipdockEnv,
    _: i32,
    _: i32,
    size_bytes: u64,
) -> *mut c_void {
    let layout = std::alloc::Layout::from_size_align(size_bytes as usize + 64, 64).unwrap();
    // SAFETY: the layout is not empty. The test process is small enough to leak it.
    unsafe { std::alloc::alloc(layout).cast() }
}

unsafe extern "C" fn free_workspace(_: *const ChipdockEnv, _: i32, _: i32, _: *mut c_void) -> i32 {
    0
}

unsafe extern "C" fn current_stream(_: *const ChipdockEnv, _: i32, _: i32, out: *mut *mut c_void) -> i32 {
    // SAFETY: a place to write to.
    unsafe { out.write(std::ptr::null_mut()) };
    0
}

unsafe extern "C" fn current_device(_: *const ChipdockEnv, _: i32, out: *mut i32) -> i32 {
    // SAFETY: a place to write to.
    unsafe { out.write(0) };
    0
}

unsafe extern "C" fn set_device(_: *const ChipdockEnv, _: i32, _: i32) -> i32 {
    0
}

unsafe extern "C" fn device_type(_: *const ChipdockEnv, _: *const c_char, _: *mut i32) -> i32 {
    -1
}

unsafe extern "C" fn imported(
    _: *const ChipdockEnv,
    _: *const c_char,
    _: *mut *const ChipdockFunctionObject,
) -> i32 {
    -1
}

unsafe extern "C" fn query(
    _: *const ChipdockEnv,
    _: *const c_char,
    _: u32,
    out: *mut ChipdockInterface,
) -> i32 {
    // SAFETY: a place to write to.
    unsafe { out.write(ChipdockInterface::NONE) };
    0
}

unsafe extern "C" fn release(_: *const ChipdockEnv) {}

thread_local! {
    /// How many tasks ran since the last call of this thread.
    static TASKS: Cell<usize> = const { Cell::new(0) };
}

/// Tasks that ran on other threads since this thread's last call of a function.
pub(super) fn tasks() -> usize {
    TASKS.get()
}

struct Data(*mut c_void);

// SAFETY: what is behind it is made for tasks on several threads.
unsafe impl Sync for Data {}

/// Four tasks on four threads; the first error is the caller's.
unsafe extern "C" fn parallel_launch(
    _: *const ChipdockEnv,
    body: ChipdockParallelBody,
    data: *mut c_void,
    tasks_max: i32,
) -> i32 {
    let (count, data) = (tasks_max.clamp(1, 4), &Data(data));
    TASKS.set(TASKS.get() + count as usize);
    let failures: Vec<_> = std::thread::scope(|scope| {
        let run = |id| {
            scope.spawn(move || {
                // SAFETY: the body of compiled code with its own data.
                let status = unsafe { (body.0)(id, count, data.0) };
                (status != 0).then(|| RAISED.with_borrow_mut(Option::take))
            })
        };
        let threads: Vec<_> = (0..count).map(run).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    let Some(first) = failures.into_iter().next() else { return 0 };
    RAISED.with_borrow_mut(|raised| *raised = first);
    -1
}

pub(super) static ENV: ChipdockEnv = ChipdockEnv {
    version: 1,
    flags: 0,
    self_: std::ptr::null_mut(),
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
};

/// The environment of these tests.
pub(super) fn env() -> Env {
    // SAFETY: a static table, whose `release` does nothing.
    unsafe { Env::new(HostRef::standalone(), &raw const ENV) }
}

pub(super) fn kind() -> TargetKind {
    serde_json::from_str(include_str!("../target_kind.json")).unwrap()
}

pub(super) fn target() -> Arc<Target> {
    Arc::new(Target { kind: "c".into(), ..Target::default() })
}

pub(super) fn lowered(module: &IrModule) -> IrModule {
    let capabilities = Arc::new(kind().capabilities(&target(), 1));
    lower(module, &LowerOptions::new(capabilities)).unwrap().module
}

pub(super) fn built(module: &IrModule) -> Written {
    match build(&lowered(module), &target(), None) {
        Ok(built) => built,
        Err(diagnostics) => {
            let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            panic!("{}", all.join("\n"))
        }
    }
}

/// Compiled with less effort than usual, and with products and sums rounded one by one.
pub(super) fn loaded(module: &IrModule) -> CModule {
    let mut built = built(module);
    built.index["options"]["opt-level"] = 2.into();
    built.index["options"]["further-flags"] = serde_json::json!(["-ffp-contract=off"]);
    load(HostRef::standalone(), &built.index, &built.source, env()).unwrap()
}

/// A function's argument.
pub(super) enum Argument<'a> {
    Tensor(&'a mut Array),
    Int(i64),
    Float(f64),
}

pub(super) fn dl_type(dtype: DType) -> ChipdockDataType {
    let code = match dtype.code {
        TypeCode::Int => 0,
        TypeCode::UInt => 1,
        TypeCode::Float => 2,
        TypeCode::Handle => 3,
        TypeCode::BFloat => 4,
        TypeCode::Bool => 6,
        TypeCode::Float8E4M3Fn => 10,
        TypeCode::Float8E5M2 => 12,
    };
    ChipdockDataType { code, bits: dtype.bits, lanes: dtype.lanes }
}

/// Calls a packed function; the error is its kind and message.
pub(super) fn call(module: &CModule, name: &str, args: &mut [Argument<'_>]) -> Result<(), (String, String)> {
    let mut shapes: Vec<Vec<i64>> = Vec::new();
    for arg in args.iter() {
        shapes.push(match arg {
            Argument::Tensor(array) => array.shape.iter().map(|extent| *extent as i64).collect(),
            _ => Vec::new(),
        });
    }
    let mut tensors: Vec<ChipdockTensor> = Vec::new();
    for (arg, shape) in args.iter_mut().zip(&mut shapes) {
        if let Argument::Tensor(array) = arg {
            tensors.push(ChipdockTensor {
                data: array.data.as_mut_ptr().cast(),
                device: ChipdockDevice { device_type: 1, device_id: 0 },
                ndim: shape.len() as i32,
                dtype: dl_type(array.dtype),
                shape: shape.as_mut_ptr(),
                strides: std::ptr::null_mut(),
                byte_offset: 0,
            });
        }
    }
    let mut tensor = 0;
    let packed: Vec<ChipdockAny> = args
        .iter()
        .map(|arg| match arg {
            Argument::Tensor(_) => {
                tensor += 1;
                any(7, ChipdockAnyValue { v_tensor: &raw mut tensors[tensor - 1] })
            }
            Argument::Int(value) => any(1, ChipdockAnyValue { v_int64: *value }),
            Argument::Float(value) => any(3, ChipdockAnyValue { v_float64: *value }),
        })
        .collect();
    call_packed(module, name, &packed)
}

pub(super) fn any(type_index: i32, value: ChipdockAnyValue) -> ChipdockAny {
    ChipdockAny { type_index, small_length: 0, value }
}

pub(super) fn call_packed(
    module: &CModule,
    name: &str,
    args: &[ChipdockAny],
) -> Result<(), (String, String)> {
    let function = module.address(name).unwrap();
    let mut result = any(0, ChipdockAnyValue { v_int64: 0 });
    RAISED.with_borrow_mut(|raised| *raised = None);
    TASKS.set(0);
    // SAFETY: a function that target c wrote, with arguments that live for the call.
    let status = unsafe { function(std::ptr::null_mut(), args.as_ptr(), args.len() as i32, &mut result) };
    match status {
        0 => Ok(()),
        _ => Err(RAISED.with_borrow_mut(Option::take).expect("an error was raised")),
    }
}

/// Tests need a compiler; where there is none they say so.
pub(super) fn has_compiler() -> bool {
    let found = std::process::Command::new("cc").arg("--version").output().is_ok();
    if !found {
        chipdock_test_support::setup::missing("compiling C: no C compiler `cc` on PATH");
    }
    found
}
