//! Prints modules, functions, declarations of buffers.

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

use super::Printer;
use super::literal::{quoted, var_type};
use super::names::identifier;
use crate::{
    AttrValue, Attrs, Buffer, Child, DType, Expr, ExprKind, IrModule, Param, PrimFunc, Stmt, StmtKind, Var,
};

/// The context of the arguments that describe a buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BufferContext {
    /// The annotation of a parameter.
    Annotation,
    /// A call in the body.
    Call,
}

/// Returns true for a parameter that its annotation describes completely. TVM reads a quoted size
/// as an int32, so that others (`wide`) are declared in the body.
fn is_plain(buffer: &Buffer, wide: &HashSet<Var>) -> bool {
    let mut found = false;
    for extent in &buffer.shape {
        extent.walk(&mut |e| found |= matches!(&e.kind, ExprKind::Var(var) if wide.contains(var)));
    }
    !found && buffer.strides.is_empty() && buffer.elem_offset.is_none()
}

/// Collects the variables of an expression, each once, in order, except those in `seen`.
fn variables(expr: &Expr, seen: &mut HashSet<Var>, out: &mut Vec<Var>) {
    expr.walk(&mut |e| {
        if let ExprKind::Let { var, .. } = &e.kind {
            seen.insert(var.clone());
        }
        if let ExprKind::Var(var) = &e.kind
            && seen.insert(var.clone())
        {
            out.push(var.clone());
        }
    });
}

/// Returns the free variables of the parameters' shapes, strides and offsets.
fn sizes(function: &PrimFunc) -> Vec<Var> {
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for param in &function.params {
        match param {
            Param::Var(var) => seen.insert(var.clone()),
            Param::Buffer(buffer) => seen.insert(buffer.data.clone()),
        };
    }
    for param in &function.params {
        if let Param::Buffer(buffer) = param {
            let parts = buffer.shape.iter().chain(&buffer.strides).chain(&buffer.elem_offset);
            parts.for_each(|part| variables(part, &mut seen, &mut out));
        }
    }
    out
}

/// The variables that expressions of a function bind, each once, in order.
#[derive(Default)]
struct Lets {
    seen: HashSet<Var>,
    vars: Vec<Var>,
}

impl Lets {
    fn function(&mut self, function: &PrimFunc) {
        for param in &function.params {
            if let Param::Buffer(buffer) = param {
                self.buffer(buffer);
            }
        }
        self.attrs(&function.attrs);
        function.alloc_buffers.iter().for_each(|buffer| self.buffer(buffer));
        function.body.walk(&mut |child| match child {
            Child::Expr(expr) => self.expr(expr),
            Child::Stmt(stmt) => self.own(stmt),
        });
    }

    /// Collects the variables in the parts of a statement that are not children.
    fn own(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::AllocBuffer { buffer, annotations } => {
                self.buffer(buffer);
                self.attrs(annotations);
            }
            StmtKind::DeclBuffer { buffer, .. } => self.buffer(buffer),
            StmtKind::For { annotations, .. } => self.attrs(annotations),
            StmtKind::BlockRealize { block, .. } => {
                let regions = block.reads.iter().chain(&block.writes).flatten();
                let sources = block.match_buffers.iter().map(|view| &view.source);
                for range in regions.chain(sources).flat_map(|region| &region.region) {
                    self.expr(&range.min);
                    self.expr(&range.extent);
                }
                let views = block.match_buffers.iter().map(|view| &view.buffer);
                block.alloc_buffers.iter().chain(views).for_each(|buffer| self.buffer(buffer));
                self.attrs(&block.annotations);
            }
            _ => {}
        }
    }

    fn buffer(&mut self, buffer: &Buffer) {
        let parts = buffer.shape.iter().chain(&buffer.strides).chain(&buffer.elem_offset);
        parts.for_each(|part| self.expr(part));
    }

    fn attrs(&mut self, attrs: &Attrs) {
        attrs.values().for_each(|value| self.attr_value(value));
    }

    fn attr_value(&mut self, value: &AttrValue) {
        match value {
            AttrValue::Expr(expr) => self.expr(expr),
            AttrValue::List(items) => items.iter().for_each(|item| self.attr_value(item)),
            AttrValue::Map(map) => self.attrs(map),
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        expr.walk(&mut |e| {
            if let ExprKind::Let { var, .. } = &e.kind
                && self.seen.insert(var.clone())
            {
                self.vars.push(var.clone());
            }
        });
    }
}

impl Printer {
    pub(super) fn module(&mut self, module: &IrModule) {
        self.out.push_str("# from tvm.script import ir as I\n# from tvm.script import tirx as T\n\n");
        self.out.push_str("@I.ir_module\nclass Module:\n");
        self.indent += 1;
        if !module.attrs.is_empty() {
            self.begin();
            self.out.push_str("I.module_attrs(");
            self.attrs(&module.attrs);
            self.out.push_str(")\n");
        }
        if module.functions.is_empty() && module.attrs.is_empty() {
            self.line("pass");
        }
        for (index, function) in module.functions.iter().enumerate() {
            if index > 0 || !module.attrs.is_empty() {
                self.out.push('\n');
            }
            self.function(function);
        }
        self.indent -= 1;
    }

    pub(super) fn function(&mut self, function: &PrimFunc) {
        self.names.open();
        let names: Vec<Arc<str>> = function
            .params
            .iter()
            .map(|param| match param {
                Param::Buffer(buffer) => self.names.declare(buffer),
                Param::Var(var) => self.names.bind(var),
            })
            .collect();
        let sizes = sizes(function);
        sizes.iter().for_each(|var| drop(self.names.bind(var)));
        let wide: HashSet<Var> = sizes.iter().filter(|var| var.dtype != DType::INT32).cloned().collect();
        let mut unbound: HashSet<Var> = sizes.iter().cloned().collect();
        unbound.extend(function.params.iter().filter_map(|param| match param {
            Param::Var(var) => Some(var.clone()),
            Param::Buffer(_) => None,
        }));

        self.line(if function.s_tir { "@T.prim_func(s_tir=True)" } else { "@T.prim_func" });
        self.begin();
        let _ = write!(self.out, "def {}(", identifier(&function.name));
        let mut handles = Vec::new();
        self.list(function.params.iter().zip(&names), |p, (param, name)| match param {
            Param::Buffer(buffer) if is_plain(buffer, &wide) => {
                let _ = write!(p.out, "{name}: T.Buffer(");
                p.describe(buffer, BufferContext::Annotation, None, &mut unbound);
                p.out.push(')');
            }
            Param::Buffer(buffer) => {
                let handle = p.names.take(&format!("{name}_handle"));
                let _ = write!(p.out, "{handle}: T.handle");
                handles.push((Arc::clone(name), handle, buffer));
            }
            Param::Var(var) => {
                unbound.remove(var);
                let _ = write!(p.out, "{name}: {}", var_type(var));
            }
        });
        self.out.push(')');
        if let Some(ret) = function.ret {
            let _ = write!(self.out, " -> T.{ret}");
        }
        self.out.push_str(":\n");
        self.indent += 1;
        self.prologue(function, &sizes, handles);
        self.indent -= 1;
        self.names.close();
    }

    fn prologue(&mut self, function: &PrimFunc, sizes: &[Var], handles: Vec<(Arc<str>, Arc<str>, &Buffer)>) {
        for var in sizes {
            self.declare_var(var);
        }
        let mut lets = Lets::default();
        lets.function(function);
        for var in &lets.vars {
            self.names.bind(var);
            self.declare_var(var);
        }
        for (name, handle, buffer) in handles {
            self.begin();
            let _ = write!(self.out, "{name} = T.match_buffer({handle}, ");
            self.describe(buffer, BufferContext::Call, None, &mut HashSet::new());
            self.out.push_str(")\n");
        }
        if !function.attrs.is_empty() {
            self.begin();
            self.out.push_str("T.func_attr(");
            self.attrs(&function.attrs);
            self.out.push_str(")\n");
        }
        if function.s_tir {
            self.line("# with T.sblock(\"root\"):");
        }
        for buffer in &function.alloc_buffers {
            self.alloc("sblock_alloc_buffer", buffer, &Attrs::new());
        }
        self.body(&function.body);
    }

    /// Prints `n = T.int32()`.
    pub(super) fn declare_var(&mut self, var: &Var) {
        let name = self.names.var(var);
        let text = var_type(var);
        let call = if var.pointer.is_some() { "" } else { "()" };
        self.line(&format!("{name} = {text}{call}"));
    }

    /// Prints `B = T.alloc_buffer(…)`, where `call` is the function's name.
    pub(super) fn alloc(&mut self, call: &str, buffer: &Buffer, annotations: &Attrs) {
        self.buffer_line(buffer, |p| {
            let _ = write!(p.out, "T.{call}(");
            p.describe(buffer, BufferContext::Call, None, &mut HashSet::new());
            p.annotations(annotations);
            p.out.push(')');
        });
    }

    /// Prints `B = T.decl_buffer(…, data=…)`.
    pub(super) fn decl(&mut self, buffer: &Buffer, data: Option<&Expr>) {
        let data = data.cloned().unwrap_or_else(|| buffer.data.expr());
        self.buffer_line(buffer, |p| {
            p.out.push_str("T.decl_buffer(");
            p.elements = Some(buffer.dtype);
            p.extent = buffer.constant_size().and_then(|size| usize::try_from(size).ok());
            p.describe(buffer, BufferContext::Call, Some(&data), &mut HashSet::new());
            (p.elements, p.extent) = (None, None);
            p.out.push(')');
        });
    }

    /// Prints `B = ` and what `value` prints; the buffer is named after that, so that its
    /// description cannot refer to itself.
    pub(super) fn buffer_line(&mut self, buffer: &Buffer, value: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        value(self);
        let text = self.out.split_off(start);
        let name = self.names.declare(buffer);
        self.line(&format!("{name} = {text}"));
    }

    pub(super) fn annotations(&mut self, annotations: &Attrs) {
        if !annotations.is_empty() {
            self.out.push_str(", annotations=");
            self.attrs(annotations);
        }
    }

    /// Prints shape, type and all that is not the default. Variables in `unbound` are quoted at
    /// their first occurrence.
    pub(super) fn describe(
        &mut self,
        buffer: &Buffer,
        form: BufferContext,
        data: Option<&Expr>,
        unbound: &mut HashSet<Var>,
    ) {
        self.tuple(&buffer.shape, unbound);
        if form == BufferContext::Annotation || buffer.dtype != DType::FLOAT32 {
            let _ = write!(self.out, ", \"{}\"", buffer.dtype);
        }
        if let Some(data) = data {
            self.out.push_str(", data=");
            self.expr(data);
        }
        if !buffer.strides.is_empty() {
            self.out.push_str(", strides=");
            self.tuple(&buffer.strides, unbound);
        }
        if let Some(offset) = &buffer.elem_offset {
            self.out.push_str(", elem_offset=");
            self.expr(offset);
        }
        if buffer.scope != crate::StorageScope::GLOBAL {
            let _ = write!(self.out, ", scope={}", quoted(&buffer.scope.to_string()));
        }
        for (name, value) in [("align", buffer.data_alignment_bytes), ("offset_factor", buffer.offset_factor)]
        {
            if value != 0 {
                let _ = write!(self.out, ", {name}={value}");
            }
        }
    }

    fn tuple(&mut self, items: &[Expr], unbound: &mut HashSet<Var>) {
        self.out.push('(');
        self.list(items, |p, item| {
            let mut first = false;
            item.walk(&mut |e| first |= matches!(&e.kind, ExprKind::Var(var) if unbound.remove(var)));
            let start = p.out.len();
            p.expr(item);
            // A text with quotes cannot be quoted.
            if first && !p.out[start..].contains(['"', '\\']) {
                p.out.insert(start, '"');
                p.out.push('"');
            }
        });
        self.out.push_str(if items.len() == 1 { ",)" } else { ")" });
    }
}
