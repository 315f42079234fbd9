//! Functions: signatures, attributes of functions and parameters, allocations at their start.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::{
    AttrValue, Callee, Child, DType, Expr, ExprKind, Op, Param, PrimFunc, Stmt, StmtKind, Var, attr,
};

use crate::control::is_streaming;
use crate::module::calling_conv;
use crate::tiles::is_marked;
use crate::types;
use crate::value::Value;
use crate::writer::Writer;
use crate::{CallingConv, Refusal};

/// Facts about a function, from an analysis of its body.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Addresses of pointers with uses other than loads and stores through them.
    escaping: HashSet<usize>,
    /// Addresses of the data variables of memory that the function allocates on its stack.
    own: HashSet<usize>,
    /// Addresses of the parameters.
    pub(crate) params: HashSet<usize>,
    /// Whether every loop ends.
    is_finite: bool,
    /// Whether some stores bypass the caches.
    pub(crate) streams: bool,
    /// Whether loops are marked as products of tiles.
    pub(crate) tiles: bool,
    /// Addresses of innermost loops over statements of vectors.
    pub(crate) vector_loops: HashSet<usize>,
    /// Pointers that a function reads from packed values: name and address of each, in order.
    pub(crate) unpacked: Vec<(Arc<str>, usize)>,
}

impl Facts {
    /// Analyses a body, visiting each node once.
    pub(crate) fn collect(body: &Stmt) -> Self {
        let mut facts = Self { is_finite: true, ..Self::default() };
        let mut seen = HashSet::new();
        let mut stmts = vec![body];
        let mut exprs: Vec<&Expr> = Vec::new();
        while let Some(stmt) = stmts.pop() {
            if !seen.insert(stmt.address()) {
                continue;
            }
            facts.look_at(stmt);
            stmt.for_each_child(&mut |child| match child {
                Child::Stmt(stmt) => stmts.push(stmt),
                Child::Expr(expr) => exprs.push(expr),
            });
        }
        while let Some(expr) = exprs.pop() {
            if !seen.insert(expr.address()) {
                continue;
            }
            facts.look(expr);
            expr.for_each_child(&mut |child| exprs.push(child));
        }
        facts
    }

    /// Returns true for memory of the function's own that is accessed through that data variable
    /// alone.
    pub(crate) fn is_private(&self, address: usize) -> bool {
        self.own.contains(&address) && !self.escaping.contains(&address)
    }

    fn look_at(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::While { .. } => self.is_finite = false,
            StmtKind::AllocBuffer { buffer, .. } => {
                self.own.insert(buffer.data.address());
            }
            StmtKind::Attr { key, value, .. } if &**key == attr::NONTEMPORAL => {
                self.streams |= value.as_int() != Some(0);
            }
            StmtKind::For { annotations, body, .. } => {
                self.streams |= is_streaming(annotations);
                self.tiles |= is_marked(annotations);
                if is_vectors(body) {
                    self.vector_loops.insert(stmt.address());
                }
            }
            StmtKind::Bind { var, value } if var.pointer.is_some() => {
                if matches!(&value.kind, ExprKind::Call { callee: Callee::Op(Op::StructGet), .. }) {
                    self.unpacked.push((Arc::clone(&var.name), var.address()));
                }
            }
            _ => {}
        }
    }

    fn look(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Var(var) if var.dtype.is_handle() => {
                self.escaping.insert(var.address());
            }
            ExprKind::Call { callee: Callee::Op(Op::AddressOf), args } => {
                if let Some(ExprKind::Load { buffer, .. }) = args.first().map(|arg| &arg.kind) {
                    self.escaping.insert(buffer.data.address());
                }
            }
            _ => {}
        }
    }
}

/// Returns true for statements without a loop, some of them of vectors. Only considers the top
/// level.
fn is_vectors(body: &Stmt) -> bool {
    let is_vector = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Store { value, .. } => !value.dtype.is_scalar(),
        StmtKind::Bind { var, .. } => !var.dtype.is_scalar(),
        StmtKind::Attr { key, body, .. } if &**key == attr::NONTEMPORAL => is_vectors(body),
        _ => false,
    };
    match &body.kind {
        StmtKind::Seq(stmts) => {
            stmts.iter().any(is_vector)
                && !stmts.iter().any(|s| matches!(s.kind, StmtKind::For { .. } | StmtKind::While { .. }))
        }
        _ => is_vector(body),
    }
}

impl<'a> Writer<'a> {
    /// Writes the whole definition of the current function.
    pub(crate) fn function(&mut self) -> String {
        let function = self.function;
        let convention = calling_conv(function);
        let keyword = self.keyword(convention);
        self.facts = Facts::collect(&function.body);
        if convention == CallingConv::Packed {
            self.check_packed();
            self.environment();
        }
        let debug = self.subprogram();
        let params = self.params(convention);
        self.separate();
        for buffer in &function.alloc_buffers {
            if let Err(Refusal(message)) = self.allocation(buffer) {
                self.report(chipdock_ir::Span::NONE, buffer.name.to_string(), message);
            }
        }
        if !self.checks() {
            let body = &function.body;
            self.stmt(body);
        }
        if self.is_open() {
            self.leave_function(None);
        }
        self.finish_tails();
        self.finish_failures();
        let ret = function.ret.map_or_else(|| "void".to_owned(), types::register);
        let extension = match function.ret {
            Some(ret) => self.extension(ret),
            None => "",
        };
        let ret = format!("{extension} {ret}");
        let ret = ret.trim_start();
        let linkage = if convention == CallingConv::Internal { "internal " } else { "" };
        let symbol = self.symbols.get(&function.name).cloned().unwrap_or_default();
        format!(
            "define {linkage}{keyword}{ret} @{symbol}({params}){} #0{debug} {{\nentry:\n{}  br label %body\n{}}}\n",
            self.function_notes(),
            self.entry,
            self.text
        )
    }

    fn keyword(&mut self, convention: CallingConv) -> String {
        match self.target.calling_convention(convention) {
            Ok("") => String::new(),
            Ok(keyword) => format!("{keyword} "),
            Err(Refusal(message)) => {
                self.report(chipdock_ir::Span::NONE, String::new(), message);
                String::new()
            }
        }
    }

    fn check_packed(&mut self) {
        let function = self.function;
        let types: Vec<DType> = function.params.iter().map(|param| variable(param).dtype).collect();
        let is_packed = types == [DType::HANDLE, DType::HANDLE, DType::INT32, DType::HANDLE];
        if !is_packed || function.ret != Some(DType::INT32) {
            self.report(
                chipdock_ir::Span::NONE,
                String::new(),
                "has packed functions (handle, handle, int32, handle) -> int32 only; lower with make_packed_api"
                    .to_owned(),
            );
        }
    }

    fn params(&mut self, convention: CallingConv) -> String {
        let function = self.function;
        let mut params = Vec::with_capacity(function.params.len());
        for (number, param) in function.params.iter().enumerate() {
            let var = variable(param);
            let name = format!("%p{number}");
            let notes = self.param_notes(var, convention);
            params.push(format!("{}{notes} {name}", types::register(var.dtype)));
            self.facts.params.insert(var.address());
            self.positions.bind(var);
            self.know(var, Value::new(name, var.dtype));
        }
        params.join(", ")
    }

    /// Attributes of a parameter (rule LLVM-V6).
    fn param_notes(&self, var: &Var, convention: CallingConv) -> String {
        let mut notes = String::from(" noundef");
        if !var.dtype.is_handle() {
            return notes;
        }
        let is_buffer = var.pointer.is_some();
        if is_buffer && self.is_set(attr::NOALIAS) {
            notes.push_str(" noalias");
        }
        let is_kept = self.facts.escaping.contains(&var.address()) || convention == CallingConv::Packed;
        if is_buffer && !is_kept {
            notes.push_str(" nocapture");
            if !self.usage.written.contains(&var.address()) {
                notes.push_str(" readonly");
            }
        }
        if let Some(pointer) = &var.pointer {
            notes.push_str(&format!(" align {}", pointer.element.lane_size_bytes()));
        }
        notes
    }

    /// Attributes of the function itself.
    fn function_notes(&self) -> &'static str {
        if self.is_set(attr::COLD) {
            // Not optimised at all: code that builds error messages must compile quickly.
            return " cold noinline optnone";
        }
        match (self.is_set(attr::NO_INLINE), self.facts.is_finite) {
            (true, true) => " mustprogress noinline",
            (true, false) => " noinline",
            (false, true) => " mustprogress",
            (false, false) => "",
        }
    }

    /// Returns true if an attribute of the current function is set.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        is_attr(self.function, name)
    }
}

/// Returns true if an attribute of a function is set.
pub(crate) fn is_attr(function: &PrimFunc, name: &str) -> bool {
    matches!(function.attrs.get(name), Some(AttrValue::Bool(true) | AttrValue::Int(1)))
}

pub(crate) fn variable(param: &Param) -> &Var {
    match param {
        Param::Buffer(buffer) => &buffer.data,
        Param::Var(var) => var,
    }
}
