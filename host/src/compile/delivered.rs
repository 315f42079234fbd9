//! Checks a build's result against its module (HOST-A8): the index lists each function with its
//! arguments.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::{AttrValue, Expr, IrModule, PrimFunc, attr};
use chipdock_plugin_api::kernel::argument_type;

use crate::bounds::{self, NAME_BYTES_MAX};
use crate::compile::artifact::{ArtifactIndex, FunctionInfo};

/// A function that callers look up by name, with the types of its arguments.
struct Expected {
    name: String,
    args: Vec<String>,
}

/// Checks that the index lists each function of the module that others call, with the types of its
/// arguments (C.8). It may list more, such as a kernel that prepares weights.
///
/// # Errors
///
/// The first function that is missing or listed otherwise.
pub(crate) fn check_index(module: &IrModule, index: &ArtifactIndex) -> Result<(), String> {
    let expected = expected(module);
    if expected.is_empty() {
        return Ok(());
    }
    let listed: HashMap<&str, &FunctionInfo> =
        index.functions.iter().map(|function| (function.name.as_str(), function)).collect();
    for Expected { name, args } in &expected {
        let Some(found) = listed.get(name.as_str()) else {
            return Err(format!("the index of what was built lacks function \"{name}\", which was compiled"));
        };
        if found.symbol.is_empty() {
            return Err(format!("the index of what was built has no symbol for function \"{name}\""));
        }
        if found.args != *args {
            return Err(format!(
                "the index of what was built says that function \"{name}\" takes ({}); it takes ({})",
                bounds::cut(&found.args.join(", "), NAME_BYTES_MAX),
                args.join(", ")
            ));
        }
    }
    Ok(())
}

/// Returns the functions that an index must list: packed functions at the stage of hosts, kernels
/// at that of devices; before those stages, functions with a public name or, where there is none,
/// those that no other function calls.
fn expected(module: &IrModule) -> Vec<Expected> {
    let with = |key: &str| -> Vec<&PrimFunc> {
        module.functions.iter().filter(|function| function.attrs.contains_key(key)).collect()
    };
    let packed = with(attr::ARG_TYPES);
    if !packed.is_empty() {
        return packed.into_iter().map(packed_function).collect();
    }
    let kernels = with(attr::KERNEL_LAUNCH_PARAMS);
    let named = with(attr::GLOBAL_SYMBOL);
    let others = match (kernels.is_empty(), named.is_empty()) {
        (false, _) => kernels,
        (true, false) => named,
        (true, true) => not_called(module),
    };
    let plain = |function: &PrimFunc| Expected {
        name: function.name.to_string(),
        args: function.params.iter().map(argument_type).collect(),
    };
    others.into_iter().map(plain).collect()
}

/// Returns the functions that no other function of the module calls.
fn not_called(module: &IrModule) -> Vec<&PrimFunc> {
    let mut called: HashSet<Arc<str>> = HashSet::new();
    for function in &module.functions {
        let others = |name: &&Arc<str>| **name != function.name;
        let mut add = |expr: &Expr| called.extend(expr.called().filter(others).cloned());
        function.body.walk_exprs(&mut add);
    }
    module.functions.iter().filter(|function| !called.contains(&function.name)).collect()
}

fn packed_function(function: &PrimFunc) -> Expected {
    let text =
        |value: &AttrValue| if let AttrValue::Str(text) = value { Some(text.to_string()) } else { None };
    let name = function.attrs.get(attr::SOURCE_NAME).and_then(text);
    let name =
        name.unwrap_or_else(|| function.name.strip_prefix("__tvm_ffi_").unwrap_or(&function.name).to_owned());
    let args = match function.attrs.get(attr::ARG_TYPES) {
        Some(AttrValue::List(types)) => types.iter().filter_map(text).collect(),
        _ => Vec::new(),
    };
    Expected { name, args }
}
