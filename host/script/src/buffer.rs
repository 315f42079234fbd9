//! Declarations of buffers: `T.Buffer`, `T.match_buffer`, `T.alloc_buffer`, `T.decl_buffer` and
//! their like.

use std::sync::Arc;

use chipdock_ir::{
    Attrs, Buffer, BufferNode, DType, Expr, ExprKind, MatchBufferRegion, Param, Stmt, StmtKind, StorageScope,
    Var,
};
use rustpython_ruff_python_ast as ast;
use rustpython_ruff_text_size::{Ranged, TextRange, TextSize};

use crate::parser::{Failed, Parser, Result, Slot};
use crate::value::Value;

/// Description of a buffer, as far as the script states it.
#[derive(Clone, Copy, Default)]
pub(crate) struct BufferArgs<'a> {
    pub(crate) shape: Option<&'a ast::Expr>,
    pub(crate) dtype: Option<&'a ast::Expr>,
    pub(crate) data: Option<&'a ast::Expr>,
    pub(crate) strides: Option<&'a ast::Expr>,
    pub(crate) elem_offset: Option<&'a ast::Expr>,
    pub(crate) scope: Option<&'a ast::Expr>,
    pub(crate) align: Option<&'a ast::Expr>,
    pub(crate) offset_factor: Option<&'a ast::Expr>,
}

/// Names of arguments, in TVM's order.
const BUFFER: [&str; 11] = [
    "shape",
    "dtype",
    "data",
    "strides",
    "elem_offset",
    "byte_offset",
    "scope",
    "align",
    "offset_factor",
    "layout",
    "annotations",
];
const MATCH: [&str; 10] = [
    "param",
    "shape",
    "dtype",
    "data",
    "strides",
    "elem_offset",
    "scope",
    "align",
    "offset_factor",
    "layout",
];
const SBLOCK_ALLOC: [&str; 9] =
    ["shape", "dtype", "data", "strides", "elem_offset", "scope", "align", "offset_factor", "layout"];

impl Parser<'_> {
    /// The arguments of `T.Buffer`, `T.decl_buffer`, `T.alloc_buffer`; and `annotations`.
    fn buffer_args<'a>(
        &mut self,
        call: &'a ast::ExprCall,
        path: &str,
    ) -> Result<(BufferArgs<'a>, Option<&'a ast::Expr>)> {
        let [
            shape,
            dtype,
            data,
            strides,
            elem_offset,
            byte_offset,
            scope,
            align,
            offset_factor,
            layout,
            notes,
        ] = self.bind(call, path, BUFFER, 1)?;
        self.unsupported(path, byte_offset, "byte_offset")?;
        self.default_layout(path, layout)?;
        Ok((BufferArgs { shape, dtype, data, strides, elem_offset, scope, align, offset_factor }, notes))
    }

    fn unsupported(&mut self, path: &str, arg: Option<&ast::Expr>, name: &str) -> Result<()> {
        match arg {
            None | Some(ast::Expr::NoneLiteral(_)) => Ok(()),
            Some(arg) => Err(self.fail(arg, format!("{path}: {name} is not supported"))),
        }
    }

    fn default_layout(&mut self, path: &str, layout: Option<&ast::Expr>) -> Result<()> {
        let Some(layout) = layout else { return Ok(()) };
        match self.value(layout)? {
            Value::None => Ok(()),
            Value::Str(text) if &*text == "default" => Ok(()),
            _ => Err(self.fail(layout, format!("{path}: layouts are not supported"))),
        }
    }

    /// Makes the buffer that the arguments describe, with the given data variable, or its own.
    fn describe(&mut self, name: &str, args: BufferArgs<'_>, data: Option<Var>) -> Result<Buffer> {
        let shape = self.shape(self.required(args.shape)?)?;
        let dtype = args.dtype.map_or(Ok(DType::FLOAT32), |dtype| self.dtype(dtype))?;
        if dtype.is_handle() {
            let at = self.required(args.dtype)?;
            return Err(self.fail(at, "a buffer holds numbers or booleans; expected such as \"float32\""));
        }
        let strides = match args.strides {
            None | Some(ast::Expr::NoneLiteral(_)) => Vec::new(),
            Some(strides) => self.shape(strides)?,
        };
        if let Some(at) = args.strides
            && !strides.is_empty()
            && strides.len() != shape.len()
        {
            let message = format!(
                "{} strides for {} axes; expected one per axis, or none (TVM lowers no others)",
                strides.len(),
                shape.len()
            );
            return Err(self.fail(at, message));
        }
        let elem_offset = match args.elem_offset {
            None | Some(ast::Expr::NoneLiteral(_)) => None,
            Some(offset) => Some(self.size(offset)?),
        };
        let scope = match args.scope {
            Some(scope) => StorageScope::parse(&self.string(scope)?),
            None => StorageScope::GLOBAL,
        };
        let data_alignment_bytes = self.small(args.align)?;
        let offset_factor = self.small(args.offset_factor)?;
        // As TVM prints it: where nothing else is stated of the offset, 0 means none.
        let is_said =
            |offset: &Expr| offset_factor != 0 || offset.as_int() != Some(0) || offset.dtype != DType::INT32;
        let elem_offset = elem_offset.filter(is_said);
        let name: Arc<str> = Arc::from(name);
        let data = data.unwrap_or_else(|| Var::pointer(Arc::clone(&name), dtype, scope.clone()));
        let node = BufferNode {
            name,
            dtype,
            shape,
            strides,
            elem_offset,
            data,
            scope,
            data_alignment_bytes,
            offset_factor,
        };
        Ok(Buffer::from_node(node))
    }

    /// A number that is 0 or more; -1 is TVM's word for its default.
    fn small(&mut self, arg: Option<&ast::Expr>) -> Result<u32> {
        let Some(arg) = arg else { return Ok(0) };
        match self.value(arg)? {
            Value::Int(-1) => Ok(0),
            Value::Int(value) if u32::try_from(value).is_ok() => Ok(value as u32),
            other => {
                Err(self.fail(arg, format!("expected an integer, 0 or more, found {}", other.describe())))
            }
        }
    }

    /// Returns extents or strides: a tuple, a list, or a single one.
    pub(crate) fn shape(&mut self, expr: &ast::Expr) -> Result<Vec<Expr>> {
        match expr {
            ast::Expr::Tuple(tuple) => tuple.elts.iter().map(|item| self.size(item)).collect(),
            ast::Expr::List(list) => list.elts.iter().map(|item| self.size(item)).collect(),
            other => match self.value(other)? {
                Value::List(items) => items.iter().map(|item| self.lower(item.clone(), other)).collect(),
                Value::Str(_) => Ok(vec![self.size(other)?]),
                value => Ok(vec![self.lower_size(value, other)?]),
            },
        }
    }

    /// One extent: an integer expression, or a quoted one whose unknown names become sizes.
    fn size(&mut self, expr: &ast::Expr) -> Result<Expr> {
        match expr {
            ast::Expr::StringLiteral(literal) => self.quoted_size(literal),
            other => {
                let value = self.value(other)?;
                self.lower_size(value, other)
            }
        }
    }

    fn lower_size(&mut self, value: Value, at: &ast::Expr) -> Result<Expr> {
        let size = self.lower(value, at)?;
        if size.dtype.is_integer() && size.dtype.is_scalar() {
            return Ok(size);
        }
        Err(self.fail(at, format!("expected an integer as a size, found {}", size.dtype)))
    }

    fn quoted_size(&mut self, literal: &ast::ExprStringLiteral) -> Result<Expr> {
        let [part] = literal.value.as_slice() else {
            return Err(self.fail(literal, "expected one plain string as a size, as \"n\" or \"n + 1\""));
        };
        // Without prefix and escapes the content stands in the text as it is, so that errors in it
        // find their place.
        let range = TextRange::new(
            part.range.start() + TextSize::from(1),
            part.range
                .end()
                .checked_sub(TextSize::from(1))
                .unwrap_or_default()
                .max(part.range.start() + TextSize::from(1)),
        );
        let plain = self.source.text.get(range.start().to_usize()..range.end().to_usize());
        if plain != Some(&*part.value) {
            return Err(self.fail(literal, "expected a plain string as a size, as \"n\" or \"n + 1\""));
        }
        if let Err((_, message)) = crate::guard::check(&part.value) {
            return Err(self.fail(literal, message));
        }
        let parsed = rustpython_ruff_python_parser::parse_expression_range(self.source.text, range);
        let parsed = match parsed {
            Ok(parsed) => parsed,
            Err(error) => {
                let message = format!("a quoted size is an expression: {}", error.error);
                return Err(self.fail(literal, message));
            }
        };
        let body = &parsed.syntax().body;
        for name in names_of(body) {
            let unknown = matches!(self.scopes.find(&name), None | Some(Value::Foreign));
            if unknown && !self.is_import(&name) {
                let dtype = self.function.declared.get(&name).copied().unwrap_or(DType::INT32);
                let var = Var::new(name.as_str(), dtype);
                self.scopes.define(name, Value::Expr(var.expr()));
            }
        }
        let value = self.value(body)?;
        self.lower_size(value, body)
    }

    /// Makes the buffer of a parameter `name: T.Buffer(...)`.
    pub(crate) fn buffer_param(&mut self, name: &str, call: &ast::ExprCall) -> Result<Buffer> {
        let (args, notes) = self.buffer_args(call, "T.Buffer")?;
        self.unsupported("T.Buffer", notes, "annotations")?;
        let data = args.data;
        self.unsupported("T.Buffer of a parameter", data, "data")?;
        self.describe(name, args, None)
    }

    /// Makes the buffer that an assignment `name = T....(...)` declares, with the statement that it
    /// leaves in the sequence; `None` when the call declares none.
    pub(crate) fn declare_buffer(
        &mut self,
        name: &str,
        path: &str,
        call: &ast::ExprCall,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<Value>> {
        match path {
            "T.alloc_buffer" | "T.alloc_local" | "T.alloc_shared" => {
                let (args, notes) = self.buffer_args(call, path)?;
                self.unsupported(path, args.data, "data")?;
                let scope = match path {
                    "T.alloc_local" => Some(StorageScope::LOCAL),
                    "T.alloc_shared" => Some(StorageScope::SHARED),
                    _ => None,
                };
                let buffer = self.describe(name, args, None)?;
                let buffer = match scope.filter(|_| args.scope.is_none()) {
                    Some(scope) => in_scope(&buffer, scope),
                    None => buffer,
                };
                let annotations = notes.map_or(Ok(Attrs::new()), |notes| self.attrs(notes))?;
                self.emit(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations }, call, out);
                Ok(Some(Value::Buffer(buffer)))
            }
            "T.sblock_alloc_buffer" | "T.block_alloc_buffer" => {
                let [shape, dtype, data, strides, elem_offset, scope, align, offset_factor, layout] =
                    self.bind(call, path, SBLOCK_ALLOC, 1)?;
                self.unsupported(path, data, "data")?;
                self.default_layout(path, layout)?;
                let args =
                    BufferArgs { shape, dtype, data, strides, elem_offset, scope, align, offset_factor };
                let buffer = self.describe(name, args, None)?;
                match self.function.blocks.last_mut() {
                    Some(block) => block.alloc_buffers.push(buffer.clone()),
                    None if self.function.s_tir => self.function.alloc_buffers.push(buffer.clone()),
                    None => {
                        let message = format!("{path} needs `@T.prim_func(s_tir=True)`; else T.alloc_buffer");
                        return Err(self.fail(call, message));
                    }
                }
                Ok(Some(Value::Buffer(buffer)))
            }
            crate::constant::ALLOCATE => self.allocate_const(name, call, out).map(Some),
            "T.decl_buffer" | "T.Buffer" => {
                let (args, notes) = self.buffer_args(call, path)?;
                self.unsupported(path, notes, "annotations")?;
                self.decl_buffer(name, path, args, call, out).map(Some)
            }
            "T.match_buffer" => self.match_buffer(name, call).map(|buffer| Some(Value::Buffer(buffer))),
            _ => Ok(None),
        }
    }

    fn emit(&mut self, kind: StmtKind, at: &impl Ranged, out: &mut Vec<Stmt>) {
        out.push(Stmt::new(kind).with_span(self.span(at)));
    }

    fn decl_buffer(
        &mut self,
        name: &str,
        path: &str,
        args: BufferArgs<'_>,
        at: &ast::ExprCall,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let data = match args.data {
            None | Some(ast::Expr::NoneLiteral(_)) => None,
            Some(data) => Some((self.expr(data)?, data)),
        };
        let Some((data, data_at)) = data else {
            let buffer = self.describe(name, args, None)?;
            if path == "T.Buffer" {
                return Ok(Value::Late(buffer));
            }
            // As TVM has it: without memory of another, `T.decl_buffer` allocates.
            let kind = StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() };
            self.emit(kind, at, out);
            return Ok(Value::Buffer(buffer));
        };
        if !data.dtype.is_handle() || matches!(data.kind, ExprKind::Str(_)) {
            let message = format!("expected a pointer as data, found {}", data.dtype);
            return Err(self.fail(data_at, message));
        }
        let (var, data) = match &data.kind {
            ExprKind::Var(var) => (Some(var.clone()), None),
            _ => (None, Some(data)),
        };
        // A view lives where its memory does, unless it says otherwise.
        let scope = var.as_ref().and_then(|var| var.pointer.as_ref()).map(|pointer| pointer.scope.clone());
        let buffer = self.describe(name, args, var)?;
        let buffer = match scope.filter(|_| args.scope.is_none()) {
            Some(scope) if scope != buffer.scope => {
                Buffer::from_node(BufferNode { scope, ..BufferNode::clone(&buffer) })
            }
            _ => buffer,
        };
        self.emit(StmtKind::DeclBuffer { buffer: buffer.clone(), data }, at, out);
        Ok(Value::Buffer(buffer))
    }

    /// `name = A.view(shape...)`: the same memory, compact, in another shape.
    pub(crate) fn view(
        &mut self,
        name: &str,
        source: &Buffer,
        call: &ast::ExprCall,
        out: &mut Vec<Stmt>,
    ) -> Result<Buffer> {
        if let Some(keyword) = call.arguments.keywords.first() {
            return Err(self.fail(keyword, "view takes no keywords here"));
        }
        let mut shape = Vec::new();
        for arg in &call.arguments.args {
            shape.extend(self.shape(arg)?);
        }
        if shape.is_empty() {
            return Err(self.fail(call, "view takes the new extents"));
        }
        let offset = source.elem_offset.as_ref().map(|offset| self.copy(offset, call)).transpose()?;
        let node = BufferNode {
            name: Arc::from(name),
            shape,
            strides: Vec::new(),
            elem_offset: offset,
            ..BufferNode::clone(source)
        };
        let buffer = Buffer::from_node(node);
        self.emit(StmtKind::DeclBuffer { buffer: buffer.clone(), data: None }, call, out);
        Ok(buffer)
    }

    fn match_buffer(&mut self, name: &str, call: &ast::ExprCall) -> Result<Buffer> {
        let [param, shape, dtype, data, strides, elem_offset, scope, align, offset_factor, layout] =
            self.bind(call, "T.match_buffer", MATCH, 1)?;
        self.unsupported("T.match_buffer", data, "data")?;
        self.default_layout("T.match_buffer", layout)?;
        let param = self.required(param)?;
        let args = BufferArgs { shape, dtype, data, strides, elem_offset, scope, align, offset_factor };
        if let ast::Expr::Name(param) = param {
            let slot = self.function.param_names.get(param.id.as_str()).copied();
            let slot = slot.filter(|slot| matches!(self.function.slots.get(*slot), Some(Slot::Handle(_))));
            if let Some(slot) = slot {
                if shape.is_none() {
                    return Err(self.fail(call, "T.match_buffer of a parameter needs the argument shape"));
                }
                let buffer = self.describe(name, args, None)?;
                self.function.slots[slot] = Slot::Param(Param::Buffer(buffer.clone()));
                self.scopes.define(param.id.as_str(), Value::Expr(buffer.data.expr()));
                return Ok(buffer);
            }
        }
        if self.function.blocks.is_empty() {
            let message =
                "expected a parameter of type T.handle, not matched yet; a region is matched in a T.sblock";
            return Err(self.fail(param, message));
        }
        let source = self.region(param)?;
        let buffer = match shape {
            Some(_) => self.describe(name, args, None)?,
            None => {
                let shape = source.region.iter().map(|range| range.extent.clone()).collect();
                Buffer::new(name, shape, source.buffer.dtype, source.buffer.scope.clone())
            }
        };
        let block = self.function.blocks.last_mut().ok_or(Failed)?;
        block.match_buffers.push(MatchBufferRegion { buffer: buffer.clone(), source });
        Ok(buffer)
    }
}

/// Returns the buffer in another scope, with its pointer.
fn in_scope(buffer: &Buffer, scope: StorageScope) -> Buffer {
    let data = Var::pointer(Arc::clone(&buffer.name), buffer.dtype, scope.clone());
    Buffer::from_node(BufferNode { scope, data, ..BufferNode::clone(buffer) })
}

/// Returns the names in an expression, each once, in order.
fn names_of(expr: &ast::Expr) -> Vec<String> {
    use ast::visitor::{Visitor, walk_expr};
    #[derive(Default)]
    struct Names(Vec<String>);
    impl<'a> Visitor<'a> for Names {
        fn visit_expr(&mut self, expr: &'a ast::Expr) {
            if let ast::Expr::Name(name) = expr
                && !self.0.iter().any(|known| known.as_str() == name.id.as_str())
            {
                self.0.push(name.id.to_string());
            }
            walk_expr(self, expr);
        }
    }
    let mut names = Names::default();
    names.visit_expr(expr);
    names.0
}
