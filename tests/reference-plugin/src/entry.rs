//! The packed entry of a function, made by the passes for a function without work. Run by the
//! interpreter, the entry checks the arguments as compiled code does, with the same messages.

use std::sync::Arc;

use chipdock_ir::{DType, Expr, IrModule, PrimFunc, Stmt, StmtKind, Target, TargetCapabilities};
use chipdock_passes::{PassError, make_packed_api};

use crate::device_api::NAME;

/// The packed entry of a function.
pub(crate) struct PackedEntry {
    /// Module of the entry and of the functions that it calls.
    pub(crate) module: IrModule,
    /// Name of the entry.
    pub(crate) symbol: Arc<str>,
}

/// Returns the capabilities of the host that checks arguments for a device of that number.
fn capabilities(target: &Arc<Target>, device_type: i32) -> TargetCapabilities {
    TargetCapabilities::host(target.kind.as_str()).with(|it| {
        it.target = Arc::clone(target);
        it.device.device_type = device_type;
        it.device.name = NAME.into();
    })
}

fn zero(dtype: DType) -> Expr {
    if dtype.is_float() {
        Expr::float(0.0, dtype)
    } else if dtype.is_bool() {
        Expr::bool(false)
    } else {
        Expr::int(0, dtype)
    }
}

impl PackedEntry {
    /// Creates the packed entry of `function`, for tensors on devices of that number.
    ///
    /// # Errors
    ///
    /// The packed convention cannot pass a parameter or return the result.
    pub(crate) fn new(
        function: &PrimFunc,
        target: &Arc<Target>,
        device_type: i32,
    ) -> Result<Self, PassError> {
        let empty = PrimFunc {
            name: Arc::clone(&function.name),
            params: function.params.clone(),
            ret: function.ret,
            attrs: function.attrs.clone(),
            s_tir: false,
            alloc_buffers: Vec::new(),
            body: match function.ret {
                Some(dtype) if dtype.is_scalar() && !dtype.is_handle() => {
                    Stmt::new(StmtKind::Return(Some(zero(dtype))))
                }
                _ => Stmt::seq([]),
            },
        };
        let module = IrModule { functions: vec![empty], ..IrModule::default() };
        let module = make_packed_api(&module, &capabilities(target, device_type))?;
        let symbol = module.functions.first().map(|entry| Arc::clone(&entry.name)).unwrap_or_default();
        Ok(Self { module, symbol })
    }

    /// Returns the entry itself, whose attributes describe it.
    pub(crate) fn function(&self) -> Option<&PrimFunc> {
        self.module.functions.first()
    }
}
