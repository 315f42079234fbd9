//! Helpers for lowering, compiling and calling without a host.

use std::sync::{Arc, LazyLock};

use chipdock_interpret::Array;
use chipdock_ir::{DType, IrModule, Target, TargetKind, TypeCode};
use chipdock_passes::{LowerOptions, lower};
use chipdock_plugin_api::abi::{
    ChipdockAny, ChipdockAnyValue, ChipdockDataType, ChipdockDevice, ChipdockTensor,
};
use chipdock_plugin_api::source::Written;
use chipdock_plugin_api::{Env, HostRef};
use chipdock_raw_host::{Lent, RawHost, Service};

use crate::codegen::build;
use crate::loader::{CModule, load};

/// The environment of these tests: parallel loops have four threads (RAW-9). Its host is no
/// plugin's.
fn lent() -> &'static Lent {
    static ENV: LazyLock<&Lent> =
        LazyLock::new(|| Lent::with(RawHost::leak(), Service { n_threads: 4, ..Service::default() }));
    &ENV
}

/// Takes the kind and the message of the error that compiled code raised on this thread.
fn take_raised() -> Option<(String, String)> {
    let error = lent().host().take_error()?;
    Some((error.kind().as_str().to_owned(), error.message().into_owned()))
}

/// Tasks that ran on other threads since this thread's last call of a function.
pub(super) fn tasks() -> usize {
    lent().take_n_tasks()
}

/// The environment as a loader is given it.
pub(super) fn env() -> Env {
    // SAFETY: M.4, an environment that lives as long as the process, however often it is released.
    unsafe { Env::new(HostRef::standalone(), lent().table()) }
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
    drop(take_raised());
    let _ = lent().take_n_tasks();
    // SAFETY: a function that target c wrote, with arguments that live for the call.
    let status = unsafe { function(std::ptr::null_mut(), args.as_ptr(), args.len() as i32, &mut result) };
    match status {
        0 => Ok(()),
        _ => Err(take_raised().expect("an error was raised")),
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
