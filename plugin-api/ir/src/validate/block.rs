//! Checks of blocks: axes, regions, accesses of the body.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::bounds::truth;
use super::expr::is_index;
use super::{Around, At, BlockFrame, Checker};
use crate::{Block, Buffer, BufferRegion, DType, Expr, ExprKind, IterKind, IterVar, Stage, Stmt};

impl Checker<'_> {
    pub(super) fn block(&mut self, at: &Stmt, values: &[Expr], predicate: &Expr, block: &Block) {
        if self.stage >= Stage::Flattened {
            self.at_stmt(at, "there are no blocks at this stage; lower them to loops first");
        }
        self.name(&block.name);
        if values.len() != block.iter_vars.len() {
            let (axes, found) = (block.iter_vars.len(), values.len());
            self.at_stmt(at, format!("block `{}` has {axes} axes, found {found} values", block.name));
        }
        for (axis, value) in block.iter_vars.iter().zip(values) {
            self.typed(value, &format!("value of axis `{}`", axis.var.name), axis.var.dtype);
        }
        self.typed(predicate, "predicate", DType::BOOL);
        for expr in values.iter().chain([predicate]) {
            self.changes_nothing(expr);
        }
        for axis in &block.iter_vars {
            self.axis(axis);
        }
        let may_run = truth(predicate) != Some(false);
        self.scoped(|c| c.reached(may_run, |c| c.block_body(block)));
    }

    fn axis(&mut self, axis: &IterVar) {
        let name = &axis.var.name;
        if !is_index(axis.var.dtype) {
            let text = format!("axis `{name}`: expected int32 or int64, found {}", axis.var.dtype);
            self.at(name, text);
        }
        self.typed(&axis.min, &format!("start of axis `{name}`"), axis.var.dtype);
        self.typed(&axis.extent, &format!("extent of axis `{name}`"), axis.var.dtype);
    }

    fn block_body(&mut self, block: &Block) {
        for axis in &block.iter_vars {
            self.bind(&axis.var);
        }
        let mut frame = BlockFrame {
            name: Arc::clone(&block.name),
            reads: None,
            writes: None,
            own: HashSet::new(),
            views: HashMap::new(),
        };
        for buffer in &block.alloc_buffers {
            self.allocate(buffer);
            frame.own.insert(buffer.clone());
        }
        for view in &block.match_buffers {
            self.region(&view.source);
            self.view(&view.buffer, &view.source);
            self.view_symbols(&view.buffer);
            self.view_of(&view.buffer, &view.source.buffer);
            self.declare(&view.buffer, true);
            frame.views.insert(view.buffer.clone(), view.source.buffer.clone());
        }
        for region in block.reads.iter().chain(&block.writes).flatten() {
            self.region(region);
        }
        let set = |list: &Option<Vec<BufferRegion>>| {
            list.as_ref().map(|list| list.iter().map(|region| region.buffer.clone()).collect())
        };
        frame.reads = set(&block.reads);
        frame.writes = set(&block.writes);
        self.annotations(&block.annotations);
        self.blocks.push(frame);
        let (around, closed) = (self.around, self.closed);
        (self.around, self.closed) = (Around::Closed("a block"), Some("a block"));
        if let Some(init) = &block.init {
            self.init(block, init);
        }
        self.body(&block.body);
        (self.around, self.closed) = (around, closed);
        self.blocks.pop();
    }

    /// Binds the strides and the offset of a view that are bare variables and not bound yet.
    fn view_symbols(&mut self, view: &Buffer) {
        for part in view.strides.iter().chain(&view.elem_offset) {
            if let ExprKind::Var(var) = &part.kind
                && !self.vars.contains(var)
                && super::expr::is_index(var.dtype)
            {
                self.bind(var);
            }
        }
    }

    fn init(&mut self, block: &Block, init: &Stmt) {
        let reductions: Vec<_> = block
            .iter_vars
            .iter()
            .filter(|axis| axis.kind == IterKind::Reduce)
            .map(|axis| axis.var.clone())
            .collect();
        let outer = self.banned.len();
        self.banned.extend(reductions);
        self.body(init);
        self.banned.truncate(outer);
    }

    /// Checks a region: one range per axis of the buffer.
    fn region(&mut self, region: &BufferRegion) {
        let buffer = &region.buffer;
        if !self.buffers.contains(buffer) {
            self.at(
                &buffer.name,
                format!("a region is of buffer `{}`, which is not known here", buffer.name),
            );
        }
        if region.region.len() != buffer.shape.len() {
            let (axes, found) = (buffer.shape.len(), region.region.len());
            let text = format!("a region of buffer `{}`: it has {axes} axes, found {found}", buffer.name);
            self.at(&buffer.name, text);
        }
        for range in &region.region {
            self.value(&range.min);
            self.typed(&range.extent, "extent of a region", range.min.dtype);
            if !range.min.dtype.is_integer() || !range.min.dtype.is_scalar() {
                let text = format!("a region starts at a scalar integer, found {}", range.min.dtype);
                self.at_expr(&range.min, text);
            }
        }
    }

    /// Checks that a view has the trailing extents of its region, and that the leading ones are 1.
    fn view(&mut self, view: &Buffer, source: &BufferRegion) {
        let name = &view.name;
        if view.dtype != source.buffer.dtype || view.scope != source.buffer.scope {
            let text = format!(
                "view `{name}` ({} in `{}`) of buffer `{}` ({} in `{}`): expected the same type and scope",
                view.dtype, view.scope, source.buffer.name, source.buffer.dtype, source.buffer.scope
            );
            self.at(name, text);
        }
        let Some(leading) = source.region.len().checked_sub(view.shape.len()) else {
            return self.at(name, format!("view `{name}` has more axes than its region"));
        };
        for (index, range) in source.region.iter().enumerate() {
            let found = range.extent.as_int();
            let wanted = if index < leading { Some(1) } else { view.shape[index - leading].as_int() };
            if let (Some(found), Some(wanted)) = (found, wanted)
                && found != wanted
            {
                self.at(
                    name,
                    format!(
                        "view `{name}`: axis {index} of its region has extent {found}, expected {wanted}"
                    ),
                );
            }
        }
    }

    /// Checks that each enclosing block that declares regions declares an accessed buffer.
    pub(super) fn declared(&mut self, buffer: &Buffer, at: At<'_>, writes: bool) {
        let mut buffer = buffer;
        let mut missing = None;
        for frame in self.blocks.iter().rev() {
            if frame.own.contains(buffer) {
                break;
            }
            buffer = frame.views.get(buffer).unwrap_or(buffer);
            let has = |list: &Option<HashSet<Buffer>>| list.as_ref().is_none_or(|list| list.contains(buffer));
            // A reduction also reads the elements that it writes.
            let holds = if writes {
                has(&frame.writes)
            } else {
                has(&frame.reads) || frame.writes.as_ref().is_some_and(|list| list.contains(buffer))
            };
            if !holds {
                missing = Some((Arc::clone(&frame.name), Arc::clone(&buffer.name)));
                break;
            }
        }
        if let Some((block, buffer)) = missing {
            let (verb, call) = if writes { ("writes", "writes") } else { ("reads", "reads") };
            self.at_node(
                at,
                format!("block `{block}` {verb} buffer `{buffer}`, which its T.{call}(…) leaves out"),
            );
        }
    }

    /// Checks that an expression has no side effects.
    pub(super) fn changes_nothing(&mut self, expr: &Expr) {
        let mut call = None;
        expr.walk(&mut |e| {
            if let ExprKind::Call { callee, .. } = &e.kind
                && super::call::writes(callee)
            {
                call = Some(e);
            }
        });
        if let Some(call) = call {
            self.at_expr(
                call,
                "a call that changes state cannot stand here; bind its result to a variable before",
            );
        }
    }
}
