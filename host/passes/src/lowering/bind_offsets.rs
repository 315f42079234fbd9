//! Offset symbols of tensor parameters, for devices whose data pointers are opaque handles.

use chipdock_ir::subst::Substitution;
use chipdock_ir::{Buffer, BufferNode, DType, IrModule, Param, PrimFunc, TargetCapabilities, Var};

use crate::PassError;
use crate::splitting::split_host_device::is_kernel;
use crate::walk::{try_map_functions, unused_name};

/// Gives each tensor parameter a symbol for the element at which it begins, on devices whose data
/// pointers are handles without pointer arithmetic: `A_elem_offset`, int64, or int32 on a device
/// that addresses in 32 bits. A parameter that declares an offset keeps it.
///
/// # Before and after
///
/// ```text
/// A: T.Buffer((16,))    ->    A: T.Buffer((16,), elem_offset=A_elem_offset)
/// ```
///
/// # Requires / # Ensures
///
/// Requires a valid module. On such a device every tensor parameter of a function that is not yet a
/// kernel has an offset; on another device the module is unchanged.
///
/// # Errors
///
/// None.
pub fn bind_offsets(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    if !capabilities.memory.opaque_handles || capabilities.is_host {
        return Ok(module.clone());
    }
    let dtype = if capabilities.memory.pointer_bits == 32 { DType::INT32 } else { DType::INT64 };
    try_map_functions(module, |function| {
        if is_kernel(function) {
            return Ok(function.clone());
        }
        let mut with = Substitution::new();
        for param in &function.params {
            if let Param::Buffer(buffer) = param
                && buffer.elem_offset.is_none()
            {
                let name = unused_name(function, &format!("{}_elem_offset", buffer.name));
                let elem_offset = Some(Var::new(name, dtype).expr());
                let node = BufferNode { elem_offset, ..(**buffer).clone() };
                with.map_buffer(buffer, &Buffer::from_node(node));
            }
        }
        let params = function.params.iter().map(|param| match param {
            Param::Buffer(buffer) => Param::Buffer(with.buffer(buffer)),
            Param::Var(_) => param.clone(),
        });
        let params = params.collect();
        Ok(PrimFunc { params, body: with.stmt(&function.body), ..function.clone() })
    })
}
