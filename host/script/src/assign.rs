//! Assignments: stores, declarations, lets, local scalars.

use std::sync::Arc;

use chipdock_ir::{Attrs, Buffer, DType, Expr, ExprKind, Stmt, StmtKind, StorageScope, ThreadAxis, Var};
use rustpython_ruff_python_ast as ast;
use rustpython_ruff_text_size::Ranged;

use crate::parser::{Parser, Result};
use crate::stmt::Flow;
use crate::types::convert;
use crate::value::Value;

impl Parser<'_> {
    pub(crate) fn assign(
        &mut self,
        node: &ast::StmtAssign,
        rest: &[ast::Stmt],
        out: &mut Vec<Stmt>,
    ) -> Result<Flow> {
        let [target] = node.targets.as_slice() else {
            return Err(self.fail(node, "x = y = value is not supported; write two assignments"));
        };
        match target {
            ast::Expr::Subscript(subscript) => self.store_to(subscript, &node.value, node, out)?,
            ast::Expr::Name(name) => {
                if let ast::Expr::Call(call) = &*node.value
                    && self.path(&call.func).as_deref() == Some("T.launch_thread")
                {
                    self.launch(Some(name.id.as_str()), call, rest, out)?;
                    return Ok(Flow::Rest);
                }
                self.assign_name(name, &node.value, node, out)?;
                return self.late_notes(name, rest, node, out);
            }
            ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) => {
                self.assign_tuple(elts, &node.value, node, out)?;
            }
            other => return Err(self.fail(other, "expected a name or an element of a buffer before =")),
        }
        Ok(Flow::Next)
    }

    fn assign_tuple(
        &mut self,
        targets: &[ast::Expr],
        value: &ast::Expr,
        at: &ast::StmtAssign,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let mut names = Vec::new();
        for target in targets {
            match target {
                ast::Expr::Name(name) => names.push(name),
                other => return Err(self.fail(other, "expected a name")),
            }
        }
        if let ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) =
            value
        {
            if elts.len() != names.len() {
                let message = format!("{} names for {} values", names.len(), elts.len());
                return Err(self.fail(at, message));
            }
            for (name, value) in names.into_iter().zip(elts) {
                self.assign_name(name, value, at, out)?;
            }
            return Ok(());
        }
        if let ast::Expr::Call(call) = value
            && self.path(&call.func).as_deref() == Some("T.axis.remap")
        {
            return self.remap(&names, call);
        }
        if let ast::Expr::Name(list) = value
            && let Some(Value::List(items)) = self.scopes.find(&list.id).cloned()
        {
            if items.len() != names.len() {
                let message = format!("{} names for {} values", names.len(), items.len());
                return Err(self.fail(at, message));
            }
            for (name, item) in names.into_iter().zip(items.iter()) {
                self.scopes.define(name.id.as_str(), item.clone());
            }
            return Ok(());
        }
        let message = "several names take as many values, or T.axis.remap(kinds, [loops])";
        Err(self.fail(value, message))
    }

    fn assign_name(
        &mut self,
        name: &ast::ExprName,
        value: &ast::Expr,
        at: &ast::StmtAssign,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        if let Some(dtype) = self.declaration(value) {
            return self.declare_size(name, dtype, value);
        }
        if let ast::Expr::Call(call) = value
            && self.assign_call(name, call, out)?
        {
            return Ok(());
        }
        let value_at = value;
        let value = self.value(value)?;
        match value {
            // Another name for the same thing.
            Value::Buffer(_)
            | Value::DType(_)
            | Value::List(_)
            | Value::ThreadAxis(_)
            | Value::Reducer(_)
            | Value::None => {
                self.scopes.define(name.id.as_str(), value);
                return Ok(());
            }
            Value::Handle(pointer) => {
                let var = match pointer {
                    Some(pointer) => Var::pointer(name.id.as_str(), pointer.element, pointer.scope),
                    None => Var::new(name.id.as_str(), DType::HANDLE),
                };
                self.scopes.define(name.id.as_str(), Value::Expr(var.expr()));
                return Ok(());
            }
            _ => {}
        }
        if let Some(Value::Scalar(buffer)) = self.scopes.find(&name.id).cloned() {
            let zero = Expr::i32(0).with_span(self.span(name));
            return self.store(&buffer, vec![zero], value, None, (value_at, at), out);
        }
        if let Some(Value::Buffer(buffer)) = self.scopes.find(&name.id).cloned()
            && buffer.constant_size() == Some(1)
            && buffer.shape.len() == 1
        {
            let zero = Expr::i32(0).with_span(self.span(name));
            return self.store(&buffer, vec![zero], value, None, (value_at, at), out);
        }
        let value = self.lower(value, value_at)?;
        if value.dtype.is_handle() {
            return self.bind_pointer(name, value, at, out);
        }
        let scalar = self.new_scalar(name, value.dtype, at, out);
        let zero = Expr::i32(0).with_span(self.span(name));
        self.store(&scalar, vec![zero], Value::Expr(value), None, (value_at, at), out)
    }

    /// `n = T.int32()`: the size that the parameters name already, or a variable.
    fn declare_size(&mut self, name: &ast::ExprName, dtype: DType, at: &ast::Expr) -> Result<()> {
        if let Some(Value::Expr(known)) = self.scopes.find(&name.id)
            && matches!(known.kind, ExprKind::Var(_))
        {
            if known.dtype == dtype {
                return Ok(());
            }
            let message = format!("{} is a size of type {} already", name.id, known.dtype);
            return Err(self.fail(at, message));
        }
        let var = Var::new(name.id.as_str(), dtype);
        self.scopes.define(name.id.as_str(), Value::Expr(var.expr()));
        Ok(())
    }

    /// `name = ` a call that declares something; false for another call.
    fn assign_call(
        &mut self,
        name: &ast::ExprName,
        call: &ast::ExprCall,
        out: &mut Vec<Stmt>,
    ) -> Result<bool> {
        let id = name.id.as_str();
        let Some(path) = self.path(&call.func) else {
            if let ast::Expr::Attribute(method) = &*call.func
                && method.attr.id.as_str() == "view"
                && let Value::Buffer(source) = self.value(&method.value)?
            {
                let buffer = self.view(id, &source, call, out)?;
                self.scopes.define(id, Value::Buffer(buffer));
                return Ok(true);
            }
            return Ok(false);
        };
        if let Some(buffer) = self.declare_buffer(id, &path, call, out)? {
            self.scopes.define(id, buffer);
            return Ok(true);
        }
        match path.as_str() {
            "T.axis.remap" => self.remap(&[name], call)?,
            "T.env_thread" => {
                let [thread, dtype] = self.bind(call, &path, ["thread_tag", "dtype"], 1)?;
                let _ = dtype;
                let thread = self.required(thread)?;
                let axis: ThreadAxis = match self.string(thread)?.parse() {
                    Ok(axis) => axis,
                    Err(why) => return Err(self.unknown_axis(thread, why)),
                };
                self.scopes.define(id, Value::ThreadAxis(axis));
            }
            "T.bind" | "T.Bind" => {
                self.bind_call(Some(name), &path, call, out)?;
            }
            _ if path.starts_with("T.axis.") => self.axis(name, &path, call)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `name = T.bind(value)`, `name = T.bind(value, T.int32)`, `T.bind(value, var=v)`.
    pub(crate) fn bind_call(
        &mut self,
        name: Option<&ast::ExprName>,
        path: &str,
        call: &ast::ExprCall,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let [value, annotation, var] = self.bind(call, path, ["value", "type_annotation", "var"], 1)?;
        let value_at = self.required(value)?;
        let value = self.expr(value_at)?;
        let var = match (var, annotation, name) {
            (Some(at), None, None) => match &self.expr(at)?.kind {
                ExprKind::Var(var) => var.clone(),
                _ => return Err(self.fail(at, "expected a variable, declared by `v = T.int32()`")),
            },
            (Some(at), _, _) => {
                let message = "T.bind with var= stands alone, without a name before it and without a type";
                return Err(self.fail(at, message));
            }
            (None, Some(annotation), _) => self.annotated(name.map_or("v", |name| &name.id), annotation)?,
            (None, None, Some(name)) => {
                self.bind_value(name, value, call, out);
                return Ok(());
            }
            (None, None, None) => Var::new("v", value.dtype),
        };
        if value.dtype != var.dtype {
            let message = format!("{} is of type {}, the value is {}", var.name, var.dtype, value.dtype);
            return Err(self.fail(value_at, message));
        }
        if let Some(name) = name {
            self.scopes.define(name.id.as_str(), Value::Expr(var.expr()));
        }
        self.emit_at(StmtKind::Bind { var, value }, call, out);
        Ok(())
    }

    /// Makes a variable of the type that an annotation states.
    fn annotated(&mut self, name: &str, annotation: &ast::Expr) -> Result<Var> {
        if let Some(dtype) = self.declaration(annotation) {
            return Ok(Var::new(name, dtype));
        }
        match self.value(annotation)? {
            Value::DType(dtype) => Ok(Var::new(name, dtype)),
            Value::Handle(Some(pointer)) => Ok(Var::pointer(name, pointer.element, pointer.scope)),
            Value::Handle(None) => Ok(Var::new(name, DType::HANDLE)),
            other => {
                let message = format!("expected a type such as T.int32, found {}", other.describe());
                Err(self.fail(annotation, message))
            }
        }
    }

    fn bind_value(&mut self, name: &ast::ExprName, value: Expr, at: &impl Ranged, out: &mut Vec<Stmt>) {
        let var = match &value.kind {
            ExprKind::Var(source) if source.pointer.is_some() => match &source.pointer {
                Some(pointer) => Var::pointer(name.id.as_str(), pointer.element, pointer.scope.clone()),
                None => Var::new(name.id.as_str(), value.dtype),
            },
            _ => Var::new(name.id.as_str(), value.dtype),
        };
        self.scopes.define(name.id.as_str(), Value::Expr(var.expr()));
        self.emit_at(StmtKind::Bind { var, value }, at, out);
    }

    /// `p = A.data`: pointers are never assigned again, so the name is bound to it.
    fn bind_pointer(
        &mut self,
        name: &ast::ExprName,
        value: Expr,
        at: &ast::StmtAssign,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        if matches!(value.kind, ExprKind::Str(_)) {
            return Err(self.fail(at, "a string is no value of a kernel"));
        }
        self.bind_value(name, value, at, out);
        Ok(())
    }

    /// A scalar that may be assigned: a local buffer of one element.
    fn new_scalar(
        &mut self,
        name: &ast::ExprName,
        dtype: DType,
        at: &impl Ranged,
        out: &mut Vec<Stmt>,
    ) -> Buffer {
        let buffer = Buffer::new(name.id.as_str(), vec![Expr::i32(1)], dtype, StorageScope::LOCAL);
        let kind = StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() };
        self.emit_at(kind, at, out);
        self.scopes.define(name.id.as_str(), Value::Scalar(buffer.clone()));
        buffer
    }

    /// `name: T.let[T.int32] = value`, `name: T.int32 = value`, `name: T.float32[4]`.
    pub(crate) fn ann_assign(&mut self, node: &ast::StmtAnnAssign, out: &mut Vec<Stmt>) -> Result<()> {
        let ast::Expr::Name(name) = &*node.target else {
            return Err(self.fail(&*node.target, "expected a name before the annotation"));
        };
        if self.path(&node.annotation).as_deref() == Some("T.let") {
            return self.let_stmt(name, None, node, out);
        }
        if let ast::Expr::Subscript(subscript) = &*node.annotation {
            let path = self.path(&subscript.value).unwrap_or_default();
            if path == "T.let" {
                return self.let_stmt(name, Some(&subscript.slice), node, out);
            }
            if let Some(dtype) = path.strip_prefix("T.").and_then(crate::names::dtype) {
                if let Some(value) = &node.value {
                    return Err(self.fail(&**value, "a local buffer takes no value here"));
                }
                let shape = match self.value(&subscript.slice)? {
                    Value::List(items) => items,
                    one => Arc::new(vec![one]),
                };
                let shape = shape.iter().map(|item| self.lower(item.clone(), &*subscript.slice));
                let shape = shape.collect::<Result<Vec<_>>>()?;
                let buffer = Buffer::new(name.id.as_str(), shape, dtype, StorageScope::LOCAL);
                let kind = StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() };
                self.emit_at(kind, node, out);
                self.scopes.define(name.id.as_str(), Value::Buffer(buffer));
                return Ok(());
            }
        }
        let dtype = match self.value(&node.annotation)? {
            Value::DType(dtype) => dtype,
            Value::Handle(_) => {
                let message = format!("a pointer is bound once; write {}: T.let[T.handle] = ...", name.id);
                return Err(self.fail(&*node.annotation, message));
            }
            other => {
                let message =
                    format!("expected T.let[T.int32] or a type such as T.int32, found {}", other.describe());
                return Err(self.fail(&*node.annotation, message));
            }
        };
        let value = match &node.value {
            Some(value) => Some((self.value(value)?, value)),
            None => None,
        };
        let scalar = self.new_scalar(name, dtype, node, out);
        if let Some((value, at)) = value {
            let zero = Expr::i32(0).with_span(self.span(name));
            self.store(&scalar, vec![zero], value, None, (&**at, node), out)?;
        }
        Ok(())
    }

    fn let_stmt(
        &mut self,
        name: &ast::ExprName,
        annotation: Option<&ast::Expr>,
        node: &ast::StmtAnnAssign,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Some(value_at) = &node.value else {
            return Err(self.fail(node, "T.let needs a value"));
        };
        let value = self.value(value_at)?;
        let Some(annotation) = annotation else {
            let value = self.lower(value, &**value_at)?;
            self.bind_value(name, value, node, out);
            return Ok(());
        };
        let var = self.annotated(&name.id, annotation)?;
        let value = self.lower_like(value, var.dtype, &**value_at)?;
        if value.dtype != var.dtype {
            let message = format!("{} is declared {}, the value is {}", name.id, var.dtype, value.dtype);
            return Err(self.fail(&**value_at, message));
        }
        self.scopes.define(name.id.as_str(), Value::Expr(var.expr()));
        self.emit_at(StmtKind::Bind { var, value }, node, out);
        Ok(())
    }

    /// `target op= value`.
    pub(crate) fn aug_assign(&mut self, node: &ast::StmtAugAssign, out: &mut Vec<Stmt>) -> Result<()> {
        let left = self.value(&node.target)?;
        let right = self.value(&node.value)?;
        let value = self.binary(node.op, (left, &node.target), (right, &node.value), node)?;
        let value = match value {
            Value::Expr(value) if value.span == chipdock_ir::Span::NONE => {
                Value::Expr(value.with_span(self.span(node)))
            }
            value => value,
        };
        match &*node.target {
            ast::Expr::Subscript(subscript) => {
                let buffer = self.stored_buffer(subscript)?;
                let indices = self.indices(&buffer, &subscript.slice)?;
                self.store(&buffer, indices, value, None, (&node.value, node), out)
            }
            ast::Expr::Name(name) => match self.scopes.find(&name.id).cloned() {
                Some(Value::Scalar(buffer)) => {
                    let zero = Expr::i32(0).with_span(self.span(name));
                    self.store(&buffer, vec![zero], value, None, (&node.value, node), out)
                }
                _ => {
                    let message = format!(
                        "{} is no scalar that may be assigned; declare it with {}: T.int32 = ...",
                        name.id, name.id
                    );
                    Err(self.fail(name, message))
                }
            },
            other => Err(self.fail(other, "expected a name or an element of a buffer")),
        }
    }

    fn stored_buffer(&mut self, subscript: &ast::ExprSubscript) -> Result<Buffer> {
        match self.value(&subscript.value)? {
            Value::Late(buffer) => Err(self.late(&buffer, &*subscript.value)),
            Value::Buffer(buffer) | Value::Scalar(buffer) => Ok(buffer),
            other => {
                let message = format!("expected a buffer before [...], found {}", other.describe());
                Err(self.fail(&*subscript.value, message))
            }
        }
    }

    fn store_to(
        &mut self,
        subscript: &ast::ExprSubscript,
        value: &ast::Expr,
        at: &ast::StmtAssign,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let buffer = self.stored_buffer(subscript);
        let value_at = value;
        let value = self.value(value);
        let (buffer, value) = (buffer?, value?);
        let indices = self.indices(&buffer, &subscript.slice)?;
        self.store(&buffer, indices, value, None, (value_at, at), out)
    }

    /// A store; the value is converted to the buffer's type and spread over the index' lanes.
    pub(crate) fn store(
        &mut self,
        buffer: &Buffer,
        indices: Vec<Expr>,
        value: Value,
        predicate: Option<Expr>,
        (value_at, at): (&ast::Expr, &impl Ranged),
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let lanes = indices.last().map_or(1, |index| index.dtype.lanes);
        let wanted = buffer.dtype.with_lanes(buffer.dtype.lanes.saturating_mul(lanes));
        let value = if value.is_literal() {
            self.typed_constant(&value, wanted.scalar(), value_at)?
        } else {
            self.lower(value, value_at)?
        };
        if value.dtype.is_handle() {
            let message = format!("{} holds {}, found a pointer or a string", buffer.name, buffer.dtype);
            return Err(self.fail(value_at, message));
        }
        let value = convert(&value, wanted.scalar());
        let value = if value.dtype.is_scalar() { self.spread(value, wanted.lanes) } else { value };
        if value.dtype != wanted {
            let message = format!("{} takes {wanted} here, found {}", buffer.name, value.dtype);
            return Err(self.fail(value_at, message));
        }
        let kind = StmtKind::Store { buffer: buffer.clone(), indices, value, predicate };
        self.emit_at(kind, at, out);
        Ok(())
    }
}
