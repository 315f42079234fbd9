//! Results of functions: the last buffers of a call that leaves them out, allocated here and
//! returned (FFI-9).

use std::collections::HashMap;

use chipdock_abi::{CHIPDOCK_TYPE_DLTENSOR_PTR, CHIPDOCK_TYPE_TENSOR};
use chipdock_host::{Device, Host, Module, Tensor, extents};
use chipdock_ir::{Buffer, ExprKind, Param, PrimFunc, Var, print};
use chipdock_plugin_api::{Any, AnyView, Array, Error, ErrorKind, TensorView};

use crate::objects::raised;
use crate::{graphs, tensors};

/// Returns the signature of a module's function, if the module knows it.
pub(crate) fn signature(module: &Module, name: &str) -> Option<PrimFunc> {
    let artifact = module.artifact();
    let own = match artifact.index().functions.as_slice() {
        [only] if name == "main" => &only.name,
        _ => name,
    };
    if module.function_names().any(|known| known == own) {
        return artifact.signature(own).ok().flatten();
    }
    // The first of the imports that has it, as `Module::function` finds it.
    let imports = module.all_imports();
    let owner = imports.iter().find(|import| import.function(name).is_ok())?;
    signature(owner, name)
}

/// Returns the buffers that a call with that number of arguments leaves out; `None` where it leaves
/// out none, or also a number.
pub(crate) fn left_out(function: &PrimFunc, count: usize) -> Option<Vec<&Buffer>> {
    let rest = function.params.get(count..).filter(|rest| !rest.is_empty() && count > 0)?;
    rest.iter()
        .map(|param| match param {
            Param::Buffer(buffer) => Some(buffer),
            Param::Var(_) => None,
        })
        .collect()
}

/// The values of symbols, as the arguments of a call bind them.
#[derive(Default)]
struct Symbols(HashMap<Var, i128>);

impl Symbols {
    /// Binds what the arguments say. What contradicts itself is left to the function's own checks.
    fn bind(&mut self, function: &PrimFunc, args: &[AnyView<'_>]) {
        for (param, arg) in function.params.iter().zip(args) {
            match param {
                Param::Var(var) => {
                    drop(arg.to::<i64>().map(|value| self.0.insert(var.clone(), value.into())))
                }
                Param::Buffer(buffer) => {
                    let Ok(view) = arg.to::<TensorView<'_>>() else { continue };
                    for (extent, found) in buffer.shape.iter().zip(view.shape()) {
                        if let ExprKind::Var(var) = &extent.kind {
                            self.0.entry(var.clone()).or_insert_with(|| i128::from(*found));
                        }
                    }
                }
            }
        }
    }

    fn shape(&self, buffer: &Buffer) -> Result<Vec<i64>, Error> {
        let extent = |(axis, expr): (usize, _)| {
            let value = extents::evaluate(expr, &|var| {
                self.0.get(var).copied().ok_or_else(|| format!("no argument says what {} is", var.name))
            });
            let value = value.and_then(|value| {
                i64::try_from(value)
                    .ok()
                    .filter(|value| *value >= 0)
                    .ok_or_else(|| format!("it comes to {value}"))
            });
            value.map_err(|why| {
                let text = print::expr(expr);
                let message = format!("axis {axis} of {} is {text}: {why}; pass the tensor", buffer.name);
                Error::new(ErrorKind::VALUE_ERROR, message)
            })
        };
        buffer.shape.iter().enumerate().map(extent).collect()
    }
}

/// Returns the device of the first tensor among the arguments; that of host memory without one.
fn device(host: &Host, args: &[AnyView<'_>]) -> Result<Device, Error> {
    let is_tensor =
        |arg: &&AnyView<'_>| matches!(arg.type_index(), CHIPDOCK_TYPE_DLTENSOR_PTR | CHIPDOCK_TYPE_TENSOR);
    let found = args.iter().find(is_tensor).and_then(|arg| arg.to::<TensorView<'_>>().ok());
    match found {
        Some(view) => host.device_by_number(view.device()).map_err(raised),
        None => host.device(chipdock_plugin_api::cpu::NAME, 0).map_err(raised),
    }
}

/// Calls a function with tensors for the buffers that the call leaves out, and returns them: one,
/// or a list of several.
pub(crate) fn with_results(
    host: &Host,
    function: &PrimFunc,
    buffers: &[&Buffer],
    args: &[AnyView<'_>],
    call: impl FnOnce(&[AnyView<'_>]) -> Result<Any, Error>,
) -> Result<Any, Error> {
    let mut symbols = Symbols::default();
    symbols.bind(function, args);
    let device = device(host, args)?;
    let make = |buffer: &&Buffer| {
        let tensor = Tensor::empty(&device, &symbols.shape(buffer)?, buffer.dtype).map_err(raised)?;
        graphs::keep_where_recorded(&tensor)?;
        tensors::value(&tensor)
    };
    let results: Vec<Any> = buffers.iter().map(make).collect::<Result<_, Error>>()?;
    let whole: Vec<AnyView<'_>> = args.iter().copied().chain(results.iter().map(Any::view)).collect();
    call(&whole)?;
    let mut results = results;
    match (results.pop(), results.is_empty()) {
        (Some(only), true) => Ok(only),
        (last, _) => Ok(Array::new(results.into_iter().chain(last)).into()),
    }
}
