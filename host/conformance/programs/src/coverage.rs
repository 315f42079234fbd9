//! Features of programs: each kind of node, and each op on each type.

use std::collections::BTreeSet;

use chipdock_ir::{
    AttrNode, Block, Callee, Child, DType, Expr, ExprKind, IrModule, IterKind, Op, Param, Stmt, StmtKind,
};

use crate::generate::takes;

/// Features that no generated program has, each with the reason. `exp *` stands for every feature
/// with that prefix.
pub const NEVER: &[(&str, &str)] = &[
    ("expr Str as a value", "IR-E9: a string stands in messages and attributes, which are counted there"),
    ("op tvm_struct_get", "reads a packed argument: after make_packed_api only"),
    ("op tvm_struct_set", "writes a packed argument: after make_packed_api only"),
    ("op handle_load", "reads a packed argument: after make_packed_api only"),
    ("op TVMBackendAllocWorkspace", "needs a run time: lower_workspace makes it"),
    ("op TVMBackendFreeWorkspace", "needs a run time: lower_workspace makes it"),
    ("op tvm_throw_last_error", "needs a run time: lower_workspace and make_packed_api make it"),
    ("op tvm_call_packed", "calls an imported module: there is none"),
    ("op tvm_stack_make_shape", "is of packed calls"),
    ("op tvm_stack_make_array", "is of packed calls"),
    ("op TVMBackendParallelLaunch", "of stage host alone: outline_parallel makes it"),
    ("op isnullptr", "is of workspace and packed arguments; no kernel has a null pointer"),
    ("call of a C function with effect", "the interpreter knows none"),
];

/// Returns every feature that exists, including those that no program has: all that [`features`]
/// may return.
#[must_use]
pub fn possible() -> BTreeSet<String> {
    let mut all: BTreeSet<String> = KINDS.iter().map(|kind| (*kind).to_owned()).collect();
    let arithmetic = ["Add", "Sub", "Mul", "Div", "Min", "Max"];
    for &dtype in DType::SCALARS {
        let compares = ["Eq", "Ne", "Lt", "Le", "Gt", "Ge"];
        all.extend(compares.map(|op| format!("{op} {dtype}")));
        if !dtype.is_bool() {
            all.extend(arithmetic.map(|op| format!("{op} {dtype}")));
        }
        if dtype.is_integer() {
            all.extend(["Mod", "FloorDiv", "FloorMod"].map(|op| format!("{op} {dtype}")));
            all.insert(format!("Ramp {dtype}"));
        }
        for kind in ["Load", "Store", "Select", "Let", "Broadcast", "Shuffle", "Bind", "constant", "vector"] {
            all.insert(format!("{kind} {dtype}"));
        }
        let others = DType::SCALARS.iter().filter(|other| **other != dtype);
        all.extend(others.map(|other| format!("Cast {dtype} to {other}")));
    }
    for &op in Op::ALL {
        let typed = DType::SCALARS.iter().filter(|dtype| takes(op, **dtype));
        let names: Vec<String> = typed.map(|dtype| format!("op {} {dtype}", op.name())).collect();
        if names.is_empty() {
            all.insert(format!("op {}", op.name()));
        } else {
            all.extend(names)
        }
    }
    all
}

/// Kinds of nodes, with their variants.
const KINDS: &[&str] = &[
    "And",
    "Or",
    "Not",
    "Var",
    "predicated load",
    "predicated store",
    "vector load",
    "vector store",
    "vector condition",
    "gathering load",
    "elements that are vectors",
    "call of a function with a result",
    "call of a function without a result",
    "call of a C function",
    "call of a C function with effect",
    "expr Str as a value",
    "stmt Seq",
    "stmt Bind",
    "stmt Store",
    "stmt AllocBuffer",
    "stmt DeclBuffer",
    "stmt DeclBuffer with data",
    "stmt For",
    "stmt While",
    "stmt If",
    "stmt If with else",
    "stmt BlockRealize",
    "stmt Evaluate",
    "stmt Assert",
    "stmt Attr",
    "stmt LaunchThread",
    "stmt Return",
    "stmt Return of a value",
    "stmt Break",
    "stmt Continue",
    "for Serial",
    "for Parallel",
    "for Vectorized",
    "for Unrolled",
    "for ThreadBinding",
    "for with min",
    "for with step",
    "for with annotations",
    "for over int64",
    "for of symbolic extent",
    "axis Spatial",
    "axis Reduce",
    "axis Ordered",
    "axis Opaque",
    "axis with min",
    "block with init",
    "block with predicate",
    "block with regions",
    "block with annotations",
    "block with buffers",
    "block with views",
    "block with strided views",
    "block in a block",
    "attr of a buffer",
    "attr of a variable",
    "attr of nothing",
    "attr of a reducer",
    "allocation of the root block",
    "allocation with annotations",
    "allocation of a dynamic size",
    "allocation larger than a stack holds",
    "scope global",
    "scope local",
    "scope shared",
    "scope shared.dyn",
    "buffer with strides",
    "buffer with offset",
    "buffer of no axes",
    "buffer of three axes",
    "parameter of compound shape",
    "parameter with strides",
    "scalar parameter",
    "pointer parameter",
    "function attributes",
    "several functions",
];

/// Returns the features of a module, out of those of [`possible`].
#[must_use]
pub fn features(module: &IrModule) -> BTreeSet<String> {
    let mut found = Found(BTreeSet::new());
    if module.functions.len() > 1 {
        found.add("several functions");
    }
    for function in &module.functions {
        if !function.attrs.is_empty() {
            found.add("function attributes");
        }
        for param in &function.params {
            found.param(param);
        }
        for buffer in &function.alloc_buffers {
            found.add("allocation of the root block");
            found.buffer(buffer, true);
        }
        function.body.walk(&mut |child| {
            if let Child::Stmt(stmt) = child {
                found.stmt(stmt);
            }
        });
        function.body.walk_exprs(&mut |expr| found.expr(module, expr));
    }
    found.0
}

struct Found(BTreeSet<String>);

impl Found {
    fn add(&mut self, name: impl Into<String>) {
        self.0.insert(name.into());
    }

    fn when(&mut self, holds: bool, name: &str) {
        if holds {
            self.add(name);
        }
    }

    fn param(&mut self, param: &Param) {
        match param {
            Param::Var(var) if var.dtype.is_handle() => self.add("pointer parameter"),
            Param::Var(_) => self.add("scalar parameter"),
            Param::Buffer(buffer) => {
                let compound = |e: &Expr| matches!(e.kind, ExprKind::Binary(..));
                self.when(buffer.shape.iter().any(compound), "parameter of compound shape");
                self.when(!buffer.strides.is_empty(), "parameter with strides");
                self.buffer(buffer, false);
            }
        }
    }

    fn buffer(&mut self, buffer: &chipdock_ir::Buffer, allocated: bool) {
        self.when(!buffer.strides.is_empty(), "buffer with strides");
        self.when(buffer.elem_offset.is_some(), "buffer with offset");
        self.when(buffer.shape.is_empty(), "buffer of no axes");
        self.when(buffer.shape.len() == 3, "buffer of three axes");
        self.when(!buffer.dtype.is_scalar(), "elements that are vectors");
        if allocated {
            self.add(format!("scope {}", buffer.scope));
            let size = buffer.constant_size();
            self.when(size.is_none(), "allocation of a dynamic size");
            let bytes = size.map(|size| size * buffer.dtype.size_bytes() as i128);
            let most = chipdock_ir::limits::STACK_SIZE_BYTES_MAX;
            self.when(bytes.is_some_and(|bytes| bytes > most), "allocation larger than a stack holds");
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let name = format!("{:?}", stmt.kind);
        let name: String = name.chars().take_while(char::is_ascii_alphanumeric).collect();
        self.add(format!("stmt {name}"));
        match &stmt.kind {
            StmtKind::Bind { value, .. } => self.add(format!("Bind {}", value.dtype.scalar())),
            StmtKind::Store { buffer, value, predicate, indices } => {
                self.add(format!("Store {}", buffer.dtype.scalar()));
                let wide = indices.last().is_some_and(|index| !index.dtype.is_scalar());
                self.when(wide && !value.dtype.is_scalar(), "vector store");
                self.when(predicate.is_some(), "predicated store");
            }
            StmtKind::AllocBuffer { buffer, annotations } => {
                self.buffer(buffer, true);
                self.when(!annotations.is_empty(), "allocation with annotations");
            }
            StmtKind::DeclBuffer { buffer, data } => {
                self.buffer(buffer, false);
                self.when(data.is_some(), "stmt DeclBuffer with data");
            }
            StmtKind::For { min, extent, kind, step, annotations, var, .. } => {
                let kind = format!("{kind:?}");
                self.add(format!("for {}", kind.split('(').next().unwrap_or_default()));
                self.when(min.as_int() != Some(0), "for with min");
                self.when(step.is_some(), "for with step");
                self.when(!annotations.is_empty(), "for with annotations");
                self.when(var.dtype == DType::INT64, "for over int64");
                self.when(extent.as_int().is_none(), "for of symbolic extent");
            }
            StmtKind::If { otherwise: Some(_), .. } => self.add("stmt If with else"),
            StmtKind::Return(Some(_)) => self.add("stmt Return of a value"),
            StmtKind::Attr { node, .. } => self.add(match node {
                AttrNode::None => "attr of nothing",
                AttrNode::Buffer(_) => "attr of a buffer",
                AttrNode::Var(_) => "attr of a variable",
                AttrNode::Reducer(_) => "attr of a reducer",
            }),
            StmtKind::BlockRealize { predicate, block, .. } => {
                self.when(predicate.as_int() != Some(1), "block with predicate");
                self.block(block);
            }
            _ => {}
        }
    }

    fn block(&mut self, block: &Block) {
        for axis in &block.iter_vars {
            self.add(match axis.kind {
                IterKind::Spatial => "axis Spatial",
                IterKind::Reduce => "axis Reduce",
                IterKind::Ordered => "axis Ordered",
                IterKind::Opaque => "axis Opaque",
            });
            self.when(axis.min.as_int() != Some(0), "axis with min");
        }
        self.when(block.init.is_some(), "block with init");
        self.when(block.reads.is_some() && block.writes.is_some(), "block with regions");
        self.when(!block.annotations.is_empty(), "block with annotations");
        self.when(!block.alloc_buffers.is_empty(), "block with buffers");
        self.when(!block.match_buffers.is_empty(), "block with views");
        let strided = block.match_buffers.iter().any(|view| !view.buffer.strides.is_empty());
        self.when(strided, "block with strided views");
        block.alloc_buffers.iter().for_each(|buffer| self.buffer(buffer, true));
        block.body.walk(&mut |child| {
            if let Child::Stmt(stmt) = child
                && matches!(stmt.kind, StmtKind::BlockRealize { .. })
            {
                self.add("block in a block");
            }
        });
    }

    fn expr(&mut self, module: &IrModule, expr: &Expr) {
        let dtype = expr.dtype.scalar();
        if !expr.dtype.is_scalar() {
            self.add(format!("vector {dtype}"));
        }
        match &expr.kind {
            ExprKind::Var(_) => self.add("Var"),
            ExprKind::Int(_) | ExprKind::Float(_) => self.add(format!("constant {dtype}")),
            ExprKind::Str(_) => {}
            ExprKind::ConstantData(_) => self.add("constant array"),
            ExprKind::Cast(from) => self.add(format!("Cast {} to {dtype}", from.dtype.scalar())),
            ExprKind::Binary(op, ..) => self.add(format!("{op:?} {dtype}")),
            ExprKind::Compare(op, a, _) => self.add(format!("{op:?} {}", a.dtype.scalar())),
            ExprKind::And(..) => self.add("And"),
            ExprKind::Or(..) => self.add("Or"),
            ExprKind::Not(_) => self.add("Not"),
            ExprKind::Select(condition, ..) => {
                self.add(format!("Select {dtype}"));
                self.when(!condition.dtype.is_scalar(), "vector condition");
            }
            ExprKind::Load { indices, predicate, .. } => {
                self.add(format!("Load {dtype}"));
                self.when(predicate.is_some(), "predicated load");
                if let Some(index) = indices.last().filter(|index| !index.dtype.is_scalar()) {
                    let ramp = matches!(index.kind, ExprKind::Ramp { .. });
                    self.add(if ramp { "vector load" } else { "gathering load" });
                }
            }
            ExprKind::Ramp { .. } => self.add(format!("Ramp {dtype}")),
            ExprKind::Broadcast { .. } => self.add(format!("Broadcast {dtype}")),
            ExprKind::Shuffle { .. } => self.add(format!("Shuffle {dtype}")),
            ExprKind::Let { .. } => self.add(format!("Let {dtype}")),
            ExprKind::Call { callee, args } => self.call(module, expr, callee, args),
        }
    }

    fn call(&mut self, module: &IrModule, expr: &Expr, callee: &Callee, args: &[Expr]) {
        match callee {
            Callee::Op(op) => {
                let operand = match op {
                    Op::IfThenElse => Some(expr.dtype.scalar()),
                    _ => args.first().map(|arg| arg.dtype.scalar()),
                };
                let typed = operand.filter(|dtype| takes(*op, *dtype));
                self.add(match typed {
                    Some(dtype) => format!("op {} {dtype}", op.name()),
                    None => format!("op {}", op.name()),
                });
            }
            Callee::Global(name) => {
                let gives = module.function(name).is_some_and(|function| function.ret.is_some());
                self.add(if gives {
                    "call of a function with a result"
                } else {
                    "call of a function without a result"
                });
            }
            Callee::Extern { pure: true, .. } => self.add("call of a C function"),
            Callee::Extern { .. } => self.add("call of a C function with effect"),
        }
    }
}
