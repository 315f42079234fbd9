//! The packed calling convention: an entry that checks its arguments, and the computation.

mod arguments;
mod calls;
mod check;
mod device;
mod entry;
mod packed_call;
mod signature;

use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrValue, Attrs, Buffer, DType, Expr, Functions, IrModule, Param, PrimFunc, Stmt, StmtKind,
    TargetCapabilities, attr,
};

use crate::PassError;
use arguments::Arguments;

const PASS: &str = "make_packed_api";

/// Makes three functions of each function `f`:
///
/// * `__tvm_ffi_f(self_handle, args, num_args, result) -> int32`, the packed entry: checks, for one
///   argument after the other, the conditions that usual arguments satisfy, in wide loads whose
///   differences are joined into few comparisons, and calls the computation. If a condition does
///   not hold it calls the next function.
/// * `f_checked_(args, num_args) -> int32`, marked [`attr::COLD`]: checks everything in TVM's
///   order, and either fails with the first error, or finds that the arguments are valid after all
///   (strides of an axis with one element may be anything, data of an empty tensor may be null, the
///   device need not be the first), and calls the computation.
/// * `f_compute_(pointers, scalars, symbols) -> int32`, the computation: data pointers and scalars
///   in the order of the parameters, then symbols of shapes.
///
/// The tensors of a function with [`attr::DEVICE`], which was compiled for a device, are on that
/// device: its computation takes the id of the first tensor's device too, and makes that device
/// current (`chipdock_set_device(device_type, device_id)`) before anything else; its allocations of
/// device memory name that device. If the host that runs the code assigns the device's number,
/// `chipdock_device_type("name")` returns it. Both are calls of [`chipdock_ir::environment`].
///
/// The computation stores the function's return value through a pointer, its last parameter; the
/// entry (and `f_checked_`, which then takes the result too) stores it into the packed result: an
/// integer, a float or a boolean.
///
/// A call of another function of the module becomes a call of its computation before the statement
/// that contains it; it fails if that computation fails. `T.tvm_call_packed(name, ...)`, an
/// imported function, becomes `T.tvm_call_packed(name, values, count)`: `count` packed values of 16
/// bytes, with room for the result after them; its status is that of the call. Its value is an
/// integer, which is checked. A string is passed as a text that ends with NUL, a tensor
/// (`T.tvm_stack_make_array`) as a borrowed DLTensor on the processor, which lives, as its shape
/// does, as long as the values.
///
/// # Before and after
///
/// ```text
/// def add(A: T.Buffer(("n",)), B: T.Buffer((n,))):
///     B[0] = A[0]
/// ```
/// becomes
/// ```text
/// def __tvm_ffi_add(self_handle, args, num_args, result) -> T.int32:
///     if not likely(num_args == 2 & not isnullptr(args)): return add_checked_(args, num_args)
///     ... the same for the type, the header, the extents and the strides of A, then of B
///     return add_compute_(A, B, n)
/// def add_checked_(args, num_args) -> T.int32:
///     assert num_args == 2 ...
///     return add_compute_(A, B, n)
/// def add_compute_(A: T.handle("float32"), B: T.handle("float32"), n: T.int32) -> T.int32:
///     B[0] = A[0]
///     return 0
/// ```
///
/// # Requires / # Ensures
///
/// Requires flattened buffers and a host target. Every function has one of the three shapes above,
/// or is a cold `f_expected_<type>_(argument, type_index)`, which builds an error message for the
/// check and returns -1.
///
/// # Errors
///
/// The caller's: a function that returns a pointer or a vector; a name that begins with `_`; a
/// symbol of a shape that no parameter determines; a call of a function that takes a buffer, or,
/// within an expression, of one that returns nothing; a packed call with a tensor in a function for
/// a device.
pub fn make_packed_api(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    let mut functions = Vec::with_capacity(module.functions.len() * 4);
    let by_name = module.by_name();
    for function in &module.functions {
        callable(function)?;
        let arguments = Arguments::from_function(function)?;
        let attrs = Attrs::clone(&function.attrs);
        functions.push(entry::function(&arguments, capabilities, is_entry(module, function), &attrs));
        functions.extend(check::functions(&arguments, capabilities, &attrs));
        functions.push(compute(&by_name, function, &arguments, capabilities)?);
    }
    Ok(IrModule { functions, attrs: module.attrs.clone() })
}

fn callable(function: &PrimFunc) -> Result<(), PassError> {
    let refuse = |message: String| Err(PassError::caller(PASS, &function.name, message));
    if let Some(dtype) = function.ret.filter(|dtype| !dtype.is_scalar() || dtype.is_handle()) {
        return refuse(format!(
            "expected a function that returns an integer, a float, a boolean or nothing, found one that returns {dtype}; \
             write the result to a buffer"
        ));
    }
    if function.name.starts_with('_') {
        return refuse(format!(
            "the name {} begins with \"_\", which is kept for symbols of the runtime; rename the function",
            function.name
        ));
    }
    Ok(())
}

fn is_entry(module: &IrModule, function: &PrimFunc) -> bool {
    module.functions.len() == 1 || function.attrs.get(attr::IS_ENTRY_FUNC) == Some(&AttrValue::Bool(true))
}

// The parts of two functions never share a name: each part has its own suffix, and no function's
// name begins with `_`.

/// Name of the function that checks the arguments of `name` in detail.
fn checked_name(name: &str) -> Arc<str> {
    format!("{name}_checked_").into()
}

/// Name of the function that computes `name`.
fn compute_name(name: &str) -> Arc<str> {
    format!("{name}_compute_").into()
}

fn compute(
    by_name: &Functions<'_>,
    function: &PrimFunc,
    arguments: &Arguments,
    capabilities: &TargetCapabilities,
) -> Result<PrimFunc, PassError> {
    let body = calls::rewrite(by_name, function, &function.body)?;
    let body = device::on_device(function, arguments.device_id.as_ref(), capabilities, &body);
    let body = match &arguments.result {
        Some(result) => {
            let declared = Stmt::new(StmtKind::DeclBuffer { buffer: result.clone(), data: None });
            Stmt::seq([declared, returns(&body, Some(result))])
        }
        None => Stmt::seq([returns(&body, None), success()]),
    };
    let mut attrs = function.attrs.clone();
    for name in [attr::GLOBAL_SYMBOL, attr::IS_ENTRY_FUNC, attr::IS_GLOBAL_FUNC] {
        attrs.remove(name);
    }
    attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(0));
    // Out of line, the entry keeps the checked values in few registers and ends with a jump: 5.6 ns
    // instead of 6.3.
    attrs.insert(attr::NO_INLINE.into(), AttrValue::Bool(true));
    // Storage types are bytes at this point, except in the types of parameters.
    let mut as_bytes = Substitution::new();
    let params = arguments.compute_params().into_iter().map(|var| {
        let is_storage = var.pointer.as_ref().is_some_and(|pointer| pointer.element.is_storage());
        if !is_storage {
            return Param::Var(var);
        }
        let bytes = crate::splitting::capture::copy(&var);
        as_bytes.map_var(&var, bytes.expr());
        Param::Var(bytes)
    });
    let params = params.collect();
    let body = as_bytes.stmt(&body);
    Ok(PrimFunc {
        name: compute_name(&function.name),
        params,
        ret: Some(DType::INT32),
        attrs,
        s_tir: false,
        alloc_buffers: Vec::new(),
        body,
    })
}

fn success() -> Stmt {
    Stmt::new(StmtKind::Return(Some(Expr::i32(0))))
}

/// Turns a return into a success; the returned value is stored through the pointer.
fn returns(stmt: &Stmt, result: Option<&Buffer>) -> Stmt {
    match &stmt.kind {
        StmtKind::Return(value) => {
            let store = result.zip(value.clone()).map(|(result, value)| {
                Stmt::store(result, vec![Expr::int(0, DType::INT64)], value).with_span(stmt.span)
            });
            Stmt::seq(store.into_iter().chain([success().with_span(stmt.span)]))
        }
        _ => stmt.map_children(&mut Expr::clone, &mut |s| returns(s, result)),
    }
}
