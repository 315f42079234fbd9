//! Outlining of one launch: its axes, and its kernel.

use std::collections::BTreeMap;
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrValue, Attrs, BinaryOp, Buffer, BufferNode, Child, DType, Expr, ForKind, Op, Param, PrimFunc, Stmt,
    StmtKind, TargetCapabilities, ThreadAxis, Var, attr, print,
};

use super::scalars::{Passed, passed};
use super::{Constants, PASS};
use crate::PassError;
use crate::simplify;
use crate::splitting::capture::{Captured, copy};
use crate::walk::{is_device_scope, vars_of};

/// Alignment of pieces of dynamic shared memory, in bytes.
const DYNAMIC_ALIGNMENT_BYTES: i128 = 64;

/// A launch and its properties.
pub(super) struct Region<'a> {
    stmt: &'a Stmt,
    captured: Captured,
    /// Each axis with its extent, blocks first.
    axes: BTreeMap<usize, (ThreadAxis, Expr)>,
    dynamic_shared_bytes: Option<Expr>,
}

/// Blocks before threads, x before y before z: the order of launch parameters.
fn position(axis: ThreadAxis) -> Option<usize> {
    const ORDER: [ThreadAxis; 6] = [
        ThreadAxis::BlockX,
        ThreadAxis::BlockY,
        ThreadAxis::BlockZ,
        ThreadAxis::ThreadX,
        ThreadAxis::ThreadY,
        ThreadAxis::ThreadZ,
    ];
    ORDER.iter().position(|known| *known == axis)
}

impl<'a> Region<'a> {
    pub(super) fn of(function: &PrimFunc, stmt: &'a Stmt) -> Result<Self, PassError> {
        let captured = Captured::of(stmt);
        let mut region = Self { stmt, captured, axes: BTreeMap::new(), dynamic_shared_bytes: None };
        let mut binds = Substitution::new();
        let mut problem = None;
        stmt.walk(&mut |child| {
            let Child::Stmt(stmt) = child else { return };
            let found = match &stmt.kind {
                StmtKind::Bind { var, value } => {
                    let value = binds.expr(value);
                    binds.map_var(var, value);
                    Ok(())
                }
                StmtKind::For { kind: ForKind::ThreadBinding(axis), extent, .. }
                | StmtKind::LaunchThread { axis, extent, .. } => region.axis(*axis, &binds.expr(extent)),
                StmtKind::AllocBuffer { buffer, .. } if buffer.scope.is_dynamic_shared() => {
                    let size = buffer.shape.iter().fold(Expr::int(1, DType::INT64), |size, extent| {
                        size * binds.expr(extent).cast(DType::INT64)
                    });
                    region.dynamic(&(size * Expr::int(buffer.dtype.size_bytes() as i128, DType::INT64)))
                }
                _ => Ok(()),
            };
            if let Err(message) = found {
                problem.get_or_insert((message, stmt.span));
            }
        });
        match problem {
            Some((message, span)) => Err(PassError::caller(PASS, &function.name, message).at(span)),
            None => Ok(region),
        }
    }

    /// Variables that the launch uses and does not bind.
    pub(super) fn captured(&self) -> &[Var] {
        &self.captured.vars
    }

    fn is_known(&self, expr: &Expr) -> bool {
        let outer = |var: &Var| self.captured.vars.contains(var);
        vars_of(expr).iter().all(outer) && !crate::walk::depends_on_memory(expr)
    }

    fn axis(&mut self, axis: ThreadAxis, extent: &Expr) -> Result<(), String> {
        let Some(position) = position(axis) else {
            return Err(format!("expected axes of blocks and threads, found a loop bound to {axis}"));
        };
        let extent = simplify::expr(extent);
        if !self.is_known(&extent) {
            return Err(format!(
                "expected an extent of {axis} that is known where the launch starts; compute it before the first loop \
                 that is bound to threads"
            ));
        }
        match self.axes.get(&position) {
            Some((_, known)) if !alike(known, &extent) => Err(format!(
                "expected one extent of {axis} in a launch, found two that differ: {} and {}",
                print::expr_line(known),
                print::expr_line(&extent)
            )),
            Some(_) => Ok(()),
            None => {
                self.axes.insert(position, (axis, extent));
                Ok(())
            }
        }
    }

    fn dynamic(&mut self, size_bytes: &Expr) -> Result<(), String> {
        let size = simplify::expr(size_bytes);
        if !self.is_known(&size) {
            return Err(
                "expected a size of dynamic shared memory that is known where the launch starts".to_owned()
            );
        }
        let sum = match self.dynamic_shared_bytes.take() {
            None => size,
            Some(sum) => {
                let unit = Expr::int(DYNAMIC_ALIGNMENT_BYTES, DType::INT64);
                let over = sum + Expr::int(DYNAMIC_ALIGNMENT_BYTES - 1, DType::INT64);
                Expr::binary(BinaryOp::FloorDiv, over, unit.clone()) * unit + size
            }
        };
        self.dynamic_shared_bytes = Some(simplify::expr(&sum));
        Ok(())
    }

    /// Builds the kernel with that name, and the call that launches it.
    pub(super) fn outlined(
        &self,
        function: &PrimFunc,
        name: &Arc<str>,
        capabilities: &TargetCapabilities,
        constants: &Constants,
    ) -> Result<(PrimFunc, Expr), PassError> {
        let given = self.given(function)?;
        let mut own = Substitution::new();
        let (mut params, mut first, mut args) = (Vec::new(), Vec::new(), vec![Expr::str(Arc::clone(name))]);
        for var in &given {
            if let Some(declared) = constants.get(var) {
                let inner = copy(var);
                own.map_var(var, inner.expr());
                first.extend(declared_again(declared, inner));
                continue;
            }
            match passed(var, function, capabilities) {
                Passed::As(param) => {
                    own.map_var(var, param.expr());
                    args.push(var.expr());
                    params.push(Param::Var(param));
                }
                Passed::MadeOf { parts, value } => {
                    let inner = copy(var);
                    own.map_var(var, inner.expr());
                    first.push(Stmt::new(StmtKind::Bind { var: inner, value }));
                    for (param, arg) in parts {
                        args.push(arg);
                        params.push(Param::Var(param));
                    }
                }
            }
        }
        first.extend(self.captured.declarations().map(|stmt| own.stmt(&stmt)));
        let mut threads = Vec::new();
        for (axis, extent) in self.axes.values() {
            let var = Var::new(axis.name().replace('.', "_"), DType::INT32);
            args.push(Expr::binary(
                BinaryOp::Max,
                extent.clone().cast(DType::INT64),
                Expr::int(0, DType::INT64),
            ));
            threads.push((*axis, var, own.expr(extent).cast(DType::INT32)));
        }
        args.extend(self.dynamic_shared_bytes.clone());
        let body = own.stmt(&unbound(self.stmt, &threads));
        let body = threads.into_iter().rev().fold(body, |body, (axis, var, extent)| {
            Stmt::new(StmtKind::LaunchThread { var, axis, extent: simplify::expr(&extent), body })
        });
        let kernel = PrimFunc {
            name: Arc::clone(name),
            params,
            ret: None,
            attrs: self.attrs(function, capabilities),
            s_tir: function.s_tir,
            alloc_buffers: Vec::new(),
            body: Stmt::seq(first.into_iter().chain([body])),
        };
        let args = args.iter().map(simplify::expr).collect();
        Ok((kernel, Expr::call(Op::CallPacked, args, DType::INT32)))
    }

    /// The kernel's arguments: data pointers in the order of the function's parameters, other
    /// pointers after them, then scalars.
    fn given(&self, function: &PrimFunc) -> Result<Vec<Var>, PassError> {
        let place = |var: &Var| {
            let data = |param: &Param| match param {
                Param::Buffer(buffer) => buffer.data == *var,
                Param::Var(param) => param == var,
            };
            function.params.iter().position(data).unwrap_or(usize::MAX)
        };
        let mut given = self.captured.vars.clone();
        given.sort_by_key(|var| (!var.dtype.is_handle(), place(var)));
        match given.iter().find(|var| !var.dtype.is_scalar()) {
            Some(var) => Err(PassError::target(
                PASS,
                &function.name,
                format!(
                    "expected scalars and pointers as arguments of a kernel, found {} of type {}",
                    var.name, var.dtype
                ),
            )),
            None => Ok(given),
        }
    }

    fn attrs(&self, function: &PrimFunc, capabilities: &TargetCapabilities) -> Attrs {
        let mut params: Vec<AttrValue> =
            self.axes.values().map(|(axis, _)| AttrValue::Str(axis.name().into())).collect();
        if function.attrs.contains_key(attr::COOPERATIVE_LAUNCH) {
            params.push(AttrValue::Str(attr::COOPERATIVE_LAUNCH.into()));
        }
        if self.dynamic_shared_bytes.is_some() {
            params.push(AttrValue::Str(attr::DYNAMIC_SHARED_MEMORY.into()));
        }
        let mut attrs: Attrs = [
            (attr::CALLING_CONV, AttrValue::Int(2)),
            (attr::TARGET, AttrValue::Target(Arc::clone(&capabilities.target))),
            (attr::IS_GLOBAL_FUNC, AttrValue::Bool(true)),
            (attr::KERNEL_LAUNCH_PARAMS, AttrValue::List(params)),
        ]
        .into_iter()
        .map(|(name, value)| (name.into(), value))
        .collect();
        if let Some(noalias) = function.attrs.get(attr::NOALIAS) {
            attrs.insert(attr::NOALIAS.into(), noalias.clone());
        }
        attrs
    }
}

/// Declares a constant once more, under another data variable.
fn declared_again(declared: &Stmt, data: Var) -> Option<Stmt> {
    let StmtKind::DeclBuffer { buffer, data: bytes } = &declared.kind else { return None };
    let buffer = Buffer::from_node(BufferNode { data, ..BufferNode::clone(buffer) });
    let kind = StmtKind::DeclBuffer { buffer, data: bytes.clone() };
    Some(Stmt::new(kind).with_span(declared.span))
}

/// Whether two extents have one value, whatever their types: TVM prints `256` and `T.int64(256)`
/// for one axis.
fn alike(a: &Expr, b: &Expr) -> bool {
    let wide = |extent: &Expr| simplify::expr(&extent.clone().cast(DType::INT64));
    a == b || wide(a) == wide(b)
}

/// Removes the loops over threads from the body, where each variable becomes the thread's index,
/// and the note of a launch of one.
fn unbound(stmt: &Stmt, threads: &[(ThreadAxis, Var, Expr)]) -> Stmt {
    let (var, axis, body) = match &stmt.kind {
        StmtKind::For { var, kind: ForKind::ThreadBinding(axis), body, .. }
        | StmtKind::LaunchThread { var, axis, body, .. } => (var, *axis, body),
        kind @ StmtKind::Attr { body, .. } if is_device_scope(kind) => return unbound(body, threads),
        _ => return stmt.map_children(&mut Expr::clone, &mut |inner| unbound(inner, threads)),
    };
    let body = unbound(body, threads);
    let Some((_, thread, _)) = threads.iter().find(|(known, ..)| *known == axis) else { return body };
    Substitution::new().with_var(var, thread.expr().cast(var.dtype)).stmt(&body)
}
