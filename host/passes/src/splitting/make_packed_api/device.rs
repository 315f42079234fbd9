//! The device of a function's tensors, and the preparation of that device by the computation.

use std::sync::Arc;

use chipdock_ir::{
    AttrValue, Attrs, Callee, CompareOp, DType, Expr, ExprKind, PrimFunc, Stmt, StmtKind, TargetCapabilities,
    Var, attr, environment,
};

use super::calls;
use crate::walk::any_stmt;

/// The device of a function's tensors.
pub(super) struct Device {
    /// Name, as in `device_api.<name>`.
    pub(super) name: Arc<str>,
    /// Device type; `None` if the host that runs the code assigns it.
    number: Option<i32>,
    /// Whether data pointers are handles without alignment.
    pub(super) opaque_handles: bool,
}

/// Returns true if the function was compiled for a device, so that its tensors are there.
pub(super) fn is_of_device(function: &PrimFunc) -> bool {
    function.attrs.contains_key(attr::DEVICE)
}

impl Device {
    /// The device that the function was compiled for, otherwise the host's own device.
    pub(super) fn for_function(function: &PrimFunc, capabilities: &TargetCapabilities) -> Self {
        let Some(AttrValue::Map(map)) = function.attrs.get(attr::DEVICE) else {
            let name = capabilities.device.name.as_str().into();
            return Self { name, number: Some(capabilities.device.device_type), opaque_handles: false };
        };
        let name = match map.get("name") {
            Some(AttrValue::Str(name)) => Arc::clone(name),
            _ => "".into(),
        };
        let number = match map.get("type") {
            Some(AttrValue::Int(number)) if *number > 0 => i32::try_from(*number).ok(),
            _ => None,
        };
        Self { name, number, opaque_handles: map.get("opaque_handles") == Some(&AttrValue::Bool(true)) }
    }

    /// The device type, if it is the same on every host.
    pub(super) fn number(&self) -> Option<i32> {
        self.number
    }

    /// The device type as a value, and the statements that compute it.
    pub(super) fn type_value(&self) -> (Stmt, Expr) {
        if let Some(number) = self.number {
            return (Stmt::nop(), Expr::i32(number));
        }
        let var = Var::new("device_type", DType::INT32);
        let value = environment_call(environment::DEVICE_TYPE, vec![Expr::str(&*self.name)]);
        let bind = Stmt::new(StmtKind::Bind { var: var.clone(), value });
        // A valid device type is positive.
        let failed = calls::throw_if(Expr::compare(CompareOp::Lt, var.expr(), Expr::i32(0)));
        (Stmt::seq([bind, failed]), var.expr())
    }
}

fn environment_call(name: &str, args: Vec<Expr>) -> Expr {
    let callee = Callee::Extern { name: name.into(), pure: false };
    Expr::new(ExprKind::Call { callee, args }, DType::INT32)
}

/// Wraps the body of a computation on a device: makes the device current, and allocates temporaries
/// in its memory.
pub(super) fn on_device(
    function: &PrimFunc,
    device_id: Option<&Var>,
    capabilities: &TargetCapabilities,
    body: &Stmt,
) -> Stmt {
    if !is_of_device(function) || device_id.is_none() && !allocates(body) {
        return body.clone();
    }
    let (before, device_type) = Device::for_function(function, capabilities).type_value();
    // Without a tensor argument the device is unknown: the current one is kept.
    let set = device_id.map(|id| {
        let args = vec![device_type.clone(), id.expr()];
        calls::throw_unless_zero(environment_call(environment::SET_DEVICE, args))
    });
    let id = device_id.map_or_else(|| Expr::i32(0), Var::expr);
    let body = with_memory(body, &[AttrValue::Expr(device_type), AttrValue::Expr(id)]);
    Stmt::seq([before].into_iter().chain(set).chain([body]))
}

fn allocates(body: &Stmt) -> bool {
    any_stmt(body, &mut |kind| is_of_device_memory(kind))
}

fn is_of_device_memory(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::AllocBuffer { annotations, .. } if annotations.contains_key(attr::DEVICE_MEMORY))
}

/// Annotates allocations of device memory with the device.
fn with_memory(stmt: &Stmt, device: &[AttrValue; 2]) -> Stmt {
    match &stmt.kind {
        StmtKind::AllocBuffer { buffer, annotations } if annotations.contains_key(attr::DEVICE_MEMORY) => {
            let mut annotations: Attrs = annotations.clone();
            annotations.insert(attr::DEVICE_MEMORY.into(), AttrValue::List(device.to_vec()));
            Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations }).with_span(stmt.span)
        }
        _ => stmt.map_children(&mut Expr::clone, &mut |inner| with_memory(inner, device)),
    }
}
