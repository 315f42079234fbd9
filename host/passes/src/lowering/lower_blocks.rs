//! Lowering of blocks to the loops around them.

mod init;
mod view;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::{
    AttrNode, AttrValue, Attrs, Block, Buffer, DType, Expr, ExprKind, IrModule, Op, Param, PrimFunc, Stmt,
    StmtKind, TargetCapabilities, Var, attr,
};

use crate::PassError;
use crate::simplify::{self, Ranges};
use crate::walk::{any_stmt, is_thread, try_map_functions};
use chipdock_ir::subst::Substitution;

const PASS: &str = "lower_blocks";

/// Replaces each block by its body: axes by their values, the predicate by an `if`, buffers of the
/// block by allocations at its head, views of regions by buffers with strides and an offset.
///
/// The init of a block runs in loops of its own before the outermost reduction loop if that is
/// equivalent: each reduction axis starts at the first iteration of the loops that it depends on,
/// no other loop or branch depends on them, and no other statement under that loop touches memory
/// that init writes or writes memory that init reads. Otherwise it runs under an `if` that tests
/// for the first iteration. A reduction of no iterations runs no init, in both forms.
///
/// An annotation of a block that is a number, a string or an expression becomes an attribute around
/// it, in terms of the values of its axes; other annotations are dropped. [`attr::NONTEMPORAL`] is
/// about the data variable of each buffer that the block declares to write.
///
/// In a launch that had blocks the attribute [`attr::IMPLICIT_BARRIERS`] records that the barriers
/// for shared memory are still implicit (IR-K5); `thread_sync` inserts them.
///
/// # Before and after
///
/// ```text
/// for i, k in T.grid(16, 77):                        for i in range(16):
///     with T.sblock("S"):                                S[i] = T.float32(0)
///         vi, vk = T.axis.remap("SR", [i, k])    ->      for k in range(77):
///         with T.init():                                     S[i] = S[i] + E[i, k]
///             S[vi] = T.float32(0)
///         S[vi] = S[vi] + E[vi, vk]
/// ```
///
/// # Requires / # Ensures
///
/// Requires a valid module. No block is left, `s_tir` is false, and every buffer that is not a
/// parameter is allocated or declared by a statement.
///
/// # Errors
///
/// The caller's: a view that does not fit its region, or, within a launch, one that is not certain
/// to fit. Outside of launches the function raises a `ValueError` if a view does not fit.
pub fn lower_blocks(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    let launches_tasks = capabilities.execution.has_native(Op::ParallelLaunch);
    try_map_functions(module, |function| {
        let mut lowerer = Lowerer::new(function, launches_tasks);
        let body = lowerer.stmt(&function.body)?;
        let allocations = function.alloc_buffers.iter().map(allocation);
        let body = Stmt::seq(allocations.chain([body]));
        Ok(PrimFunc { s_tir: false, alloc_buffers: Vec::new(), body, ..function.clone() })
    })
}

fn allocation(buffer: &Buffer) -> Stmt {
    Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() })
}

/// Marks the launch: its barriers are not inserted yet.
fn marked(launch: &Stmt) -> Stmt {
    launch.map_children(&mut Expr::clone, &mut |body| {
        let key = attr::IMPLICIT_BARRIERS.into();
        Stmt::new(StmtKind::Attr { node: AttrNode::None, key, value: Expr::i32(1), body: body.clone() })
    })
}

/// A loop or branch around the statement being lowered; frames are ordered outermost first.
enum Frame {
    /// A lowered loop, the original, and the statements that must run before it.
    Loop { lowered: LoopHead, original: Stmt, before: Vec<Stmt> },
    /// A branch or another loop: init does not move across it.
    Barrier,
}

/// A loop without its body.
#[derive(Clone)]
struct LoopHead {
    var: Var,
    min: Expr,
    extent: Expr,
    step: Option<Expr>,
    kind: chipdock_ir::ForKind,
}

struct Lowerer<'a> {
    function: &'a PrimFunc,
    substitution: Substitution,
    ranges: Ranges,
    frames: Vec<Frame>,
    /// Number of frames at which each variable was bound.
    depths: HashMap<Var, usize>,
    /// Variables that are bound by something other than a view.
    named: HashSet<Var>,
    /// Whether the current statement is within a launch of threads.
    is_launched: bool,
    /// Whether the target launches the tasks of parallel loops.
    launches_tasks: bool,
}

impl<'a> Lowerer<'a> {
    fn new(function: &'a PrimFunc, launches_tasks: bool) -> Self {
        let mut depths = HashMap::new();
        for param in &function.params {
            if let Param::Buffer(buffer) = param {
                depths.insert(buffer.data.clone(), 0);
            }
        }
        Self {
            function,
            substitution: Substitution::new(),
            ranges: Ranges::new(),
            frames: Vec::new(),
            depths,
            named: view::named(function),
            is_launched: false,
            launches_tasks,
        }
    }

    fn caller(&self, message: String) -> PassError {
        PassError::caller(PASS, &self.function.name, message)
    }

    fn expr(&mut self, expr: &Expr) -> Expr {
        let replaced = self.substitution.expr(expr);
        if replaced.same(expr) { replaced } else { simplify::expr_with(&replaced, &self.ranges) }
    }

    fn within(&mut self, frame: Frame, body: &Stmt) -> Result<(Stmt, Option<Frame>), PassError> {
        self.frames.push(frame);
        let body = self.stmt(body);
        let frame = self.frames.pop();
        Ok((body?, frame))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        if self.is_launched || !is_thread(stmt) {
            return self.stmt_kind(stmt);
        }
        self.is_launched = true;
        let launch = self.stmt_kind(stmt);
        self.is_launched = false;
        let has_blocks = any_stmt(stmt, &mut |kind| matches!(kind, StmtKind::BlockRealize { .. }));
        launch.map(|launch| if has_blocks { marked(&launch) } else { launch })
    }

    fn stmt_kind(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        let depth = self.frames.len();
        match &stmt.kind {
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                self.block(iter_values, predicate, block).map_err(|error| error.at(stmt.span))
            }
            StmtKind::For { .. } => self.for_loop(stmt),
            StmtKind::Seq(stmts) => {
                let stmts = stmts.iter().map(|s| self.stmt(s)).collect::<Result<Vec<_>, _>>()?;
                Ok(Stmt::seq(stmts))
            }
            StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Attr { .. }
            | StmtKind::LaunchThread { .. } => {
                self.frames.push(Frame::Barrier);
                let result = self.children(stmt);
                self.frames.pop();
                result.map(|stmt| self.with_buffers(&stmt))
            }
            StmtKind::Bind { var, .. } => {
                self.depths.insert(var.clone(), depth);
                self.children(stmt)
            }
            StmtKind::AllocBuffer { buffer, annotations } => {
                let buffer = self.substitution.buffer(buffer);
                self.depths.insert(buffer.data.clone(), depth);
                let annotations = annotations.clone();
                Ok(Stmt::new(StmtKind::AllocBuffer { buffer, annotations }).with_span(stmt.span))
            }
            StmtKind::DeclBuffer { buffer, .. } => {
                if !self.depths.contains_key(&buffer.data) {
                    self.depths.insert(buffer.data.clone(), depth);
                }
                let stmt = self.children(stmt)?;
                Ok(self.with_buffers(&stmt))
            }
            _ => {
                let stmt = self.children(stmt)?;
                Ok(self.with_buffers(&stmt))
            }
        }
    }

    fn children(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        let this = RefCell::new(self);
        stmt.try_map_children(&mut |e| Ok(this.borrow_mut().expr(e)), &mut |s| this.borrow_mut().stmt(s))
    }

    /// Replaces the buffer of a store or declaration, or the buffer of an attribute.
    fn with_buffers(&mut self, stmt: &Stmt) -> Stmt {
        let kind = match &stmt.kind {
            StmtKind::Store { buffer, indices, value, predicate } => StmtKind::Store {
                buffer: self.substitution.buffer(buffer),
                indices: indices.clone(),
                value: value.clone(),
                predicate: predicate.clone(),
            },
            StmtKind::DeclBuffer { buffer, data } => {
                StmtKind::DeclBuffer { buffer: self.substitution.buffer(buffer), data: data.clone() }
            }
            StmtKind::Attr { node, key, value, body } => {
                let node = match node {
                    AttrNode::Buffer(buffer) => AttrNode::Buffer(self.substitution.buffer(buffer)),
                    AttrNode::Var(var) => match self.substitution.var(var).map(|value| &value.kind) {
                        Some(ExprKind::Var(var)) => AttrNode::Var(var.clone()),
                        // The attribute's variable was replaced by another expression.
                        Some(_) => AttrNode::None,
                        None => AttrNode::Var(var.clone()),
                    },
                    AttrNode::None | AttrNode::Reducer(_) => node.clone(),
                };
                StmtKind::Attr { node, key: Arc::clone(key), value: value.clone(), body: body.clone() }
            }
            _ => return stmt.clone(),
        };
        Stmt::new(kind).with_span(stmt.span)
    }

    fn for_loop(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        let StmtKind::For { var, min, extent, kind, step, annotations, body } = &stmt.kind else {
            return Ok(stmt.clone());
        };
        let (min, extent) = (self.expr(min), self.expr(extent));
        let step = step.as_ref().map(|step| self.expr(step));
        self.ranges.set_loop(var, &min, &extent, step.as_ref());
        self.depths.insert(var.clone(), self.frames.len() + 1);
        let lowered = LoopHead {
            var: var.clone(),
            min: min.clone(),
            extent: extent.clone(),
            step: step.clone(),
            kind: *kind,
        };
        let frame = Frame::Loop { lowered, original: stmt.clone(), before: Vec::new() };
        let (body, frame) = self.within(frame, body)?;
        let (var, annotations) = (var.clone(), self.loop_annotations(annotations));
        let new = Stmt::new(StmtKind::For { var, min, extent, kind: *kind, step, annotations, body });
        let before = match frame {
            Some(Frame::Loop { before, .. }) => before,
            _ => Vec::new(),
        };
        Ok(Stmt::seq(before.into_iter().chain([new.with_span(stmt.span)])))
    }

    /// Annotations of a loop in terms of variables that are left. The grain of a parallel loop is
    /// for targets that launch tasks.
    fn loop_annotations(&mut self, annotations: &Attrs) -> Attrs {
        let mut annotations = self.substitution.attrs(annotations);
        if !self.launches_tasks {
            annotations.remove(attr::GRAIN);
        }
        annotations
    }

    fn block(&mut self, values: &[Expr], predicate: &Expr, block: &Arc<Block>) -> Result<Stmt, PassError> {
        let mut starts = Vec::new();
        for (axis, value) in block.iter_vars.iter().zip(values) {
            let value = self.expr(value);
            let start = self.expr(&axis.min);
            self.substitution.map_var(&axis.var, value.clone());
            if axis.kind == chipdock_ir::IterKind::Reduce {
                starts.push((value, start));
            }
        }
        let predicate = self.expr(predicate);
        let always = predicate.as_int() == Some(1);
        let mut parts: Vec<Stmt> = Vec::new();
        let depth = self.frames.len();
        if !always {
            self.frames.push(Frame::Barrier);
        }
        let body = self.block_body(block, &starts, &predicate, depth, &mut parts);
        if !always {
            self.frames.pop();
        }
        parts.push(body?);
        let whole = self.annotated(block, Stmt::seq(parts));
        Ok(if always { whole } else { Stmt::if_then(predicate, whole, None) })
    }

    fn annotated(&mut self, block: &Block, whole: Stmt) -> Stmt {
        let notes = block.annotations.iter().rev().filter_map(|(key, value)| {
            let value = match value {
                AttrValue::Bool(value) => Expr::bool(*value),
                AttrValue::Int(value) => Expr::int((*value).into(), DType::INT64),
                AttrValue::Float(value) => Expr::float(value.value(), DType::FLOAT64),
                AttrValue::Str(value) => Expr::str(Arc::clone(value)),
                AttrValue::Expr(value) => self.expr(value),
                AttrValue::None | AttrValue::List(_) | AttrValue::Map(_) | AttrValue::Target(_) => {
                    return None;
                }
            };
            Some((Arc::clone(key), value))
        });
        let notes: Vec<_> = notes.collect();
        notes.into_iter().fold(whole, |body, (key, value)| {
            let nodes = if *key == *attr::NONTEMPORAL { self.written(block) } else { vec![AttrNode::None] };
            nodes.into_iter().fold(body, |body, node| {
                Stmt::new(StmtKind::Attr { node, key: Arc::clone(&key), value: value.clone(), body })
            })
        })
    }

    /// The memory that a block writes, of which its declaration is a list; nothing in particular
    /// where it has none.
    fn written(&mut self, block: &Block) -> Vec<AttrNode> {
        let mut data: Vec<Var> = Vec::new();
        for region in block.writes.iter().flatten() {
            let var = self.substitution.buffer(&region.buffer).data.clone();
            if !data.contains(&var) {
                data.push(var);
            }
        }
        if data.is_empty() { vec![AttrNode::None] } else { data.into_iter().map(AttrNode::Var).collect() }
    }

    /// Lowers the body of a block: allocations, views and, if it could not move out, init go to
    /// `parts`; returns the body.
    fn block_body(
        &mut self,
        block: &Arc<Block>,
        starts: &[(Expr, Expr)],
        predicate: &Expr,
        depth: usize,
        parts: &mut Vec<Stmt>,
    ) -> Result<Stmt, PassError> {
        for buffer in &block.alloc_buffers {
            let buffer = self.substitution.buffer(buffer);
            self.depths.insert(buffer.data.clone(), self.frames.len());
            parts.push(allocation(&buffer));
        }
        for view in &block.match_buffers {
            self.view(view, parts)?;
        }
        if let Some(init) = &block.init {
            self.frames.push(Frame::Barrier);
            let lowered = self.stmt(init);
            self.frames.pop();
            if let Some(rest) = self.place_init(block, lowered?, starts, predicate, depth) {
                parts.push(rest);
            }
        }
        self.stmt(&block.body)
    }
}
