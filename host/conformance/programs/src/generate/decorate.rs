//! Changes to a finished module that keep its results: loops with other starts and steps, regions,
//! and annotations.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrNode, AttrValue, Attrs, BinaryOp, Block, Buffer, BufferNode, BufferRegion, Child, Expr, ExprKind,
    ForKind, IrModule, IterVar, MatchBufferRegion, PrimFunc, Range, Stmt, StmtKind, Var,
};

use crate::Options;
use crate::choices::Choices;

pub(crate) fn decorate(module: &IrModule, random: &mut Choices<'_>, options: &Options) -> IrModule {
    let mut decorator = Decorator { random, notes: options.exits };
    let functions = module
        .functions
        .iter()
        .map(|function| PrimFunc { body: decorator.stmt(&function.body), ..function.clone() });
    IrModule { functions: functions.collect(), attrs: module.attrs.clone() }
}

struct Decorator<'r, 't> {
    random: &'r mut Choices<'t>,
    notes: bool,
}

impl Decorator<'_, '_> {
    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        let stmt = stmt.map_children(&mut Expr::clone, &mut |inner| self.stmt(inner));
        let stmt = match &stmt.kind {
            StmtKind::For { .. } => self.for_loop(&stmt),
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                self.block(iter_values, predicate, block)
            }
            StmtKind::AllocBuffer { buffer, .. } if self.random.one_in(8) => {
                let annotations = self.annotations();
                return Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations });
            }
            _ => stmt,
        };
        self.noted(stmt)
    }

    fn annotations(&mut self) -> Attrs {
        let value = match self.random.below(4) {
            0 => AttrValue::Int(self.random.between(-2, 40)),
            1 => AttrValue::Str("hint".into()),
            2 => AttrValue::Bool(true),
            _ => AttrValue::List(vec![AttrValue::Int(1), AttrValue::Int(2)]),
        };
        Attrs::from([("pragma_hint".into(), value)])
    }

    /// Wraps a statement in an annotation; leaves out statements that bind names for later ones.
    fn noted(&mut self, stmt: Stmt) -> Stmt {
        let binds = !matches!(
            stmt.kind,
            StmtKind::For { .. } | StmtKind::Store { .. } | StmtKind::If { .. } | StmtKind::While { .. }
        );
        if binds || !self.notes || !self.random.one_in(24) {
            return stmt;
        }
        let node = match (&stmt.kind, self.random.below(3)) {
            (StmtKind::Store { buffer, .. }, 0) => AttrNode::Buffer(buffer.clone()),
            (StmtKind::Store { buffer, .. }, 1) => AttrNode::Var(buffer.data.clone()),
            _ => AttrNode::None,
        };
        let value = if self.random.one_in(2) { Expr::str("as is") } else { Expr::i32(3) };
        Stmt::new(StmtKind::Attr { node, key: "pragma_note".into(), value, body: stmt })
    }

    fn for_loop(&mut self, stmt: &Stmt) -> Stmt {
        let StmtKind::For { var, min, extent, kind, step, annotations, body } = &stmt.kind else {
            return stmt.clone();
        };
        let annotations = if self.random.one_in(8) { self.annotations() } else { annotations.clone() };
        let start = if self.random.one_in(8) { self.random.between(-3, 5) } else { 0 };
        let stride = if self.random.one_in(10) { self.random.between(2, 5) } else { 1 };
        let plain = start == 0 && stride == 1;
        if plain || matches!(kind, ForKind::ThreadBinding(_)) || min.as_int() != Some(0) || step.is_some() {
            let (var, min, extent) = (var.clone(), min.clone(), extent.clone());
            let (step, body) = (step.clone(), body.clone());
            return Stmt::new(StmtKind::For { var, min, extent, kind: *kind, step, annotations, body });
        }
        let new = Var::new(Arc::clone(&var.name), var.dtype);
        let number = |value: i64| Expr::int(value.into(), var.dtype);
        let counted = if start == 0 { new.expr() } else { new.expr() - number(start) };
        let counted =
            if stride == 1 { counted } else { Expr::binary(BinaryOp::FloorDiv, counted, number(stride)) };
        let body = Substitution::new().with_var(var, counted).stmt(body);
        Stmt::new(StmtKind::For {
            var: new,
            min: number(start),
            extent: extent.clone(),
            kind: *kind,
            step: (stride != 1).then(|| number(stride)),
            annotations,
            body,
        })
    }

    fn block(&mut self, iter_values: &[Expr], predicate: &Expr, block: &Arc<Block>) -> Stmt {
        let mut block = Block::clone(block);
        let mut values = iter_values.to_vec();
        if self.random.one_in(8) {
            block.annotations = self.annotations();
        }
        if self.random.one_in(2) {
            let (reads, writes) = accesses(&block);
            block.reads = Some(reads.iter().map(whole).collect());
            block.writes = Some(writes.iter().map(whole).collect());
        }
        if self.random.one_in(2) {
            self.strides(&mut block);
        }
        if self.random.one_in(8) && !block.iter_vars.is_empty() {
            let at = self.random.below(block.iter_vars.len());
            let start = self.random.between(-3, 4);
            moved(&mut block, &mut values, at, start);
        }
        let predicate = predicate.clone();
        Stmt::new(StmtKind::BlockRealize { iter_values: values, predicate, block: Arc::new(block) })
    }

    /// Adds explicit strides to views of compact regions of the same rank.
    fn strides(&mut self, block: &mut Block) {
        for at in 0..block.match_buffers.len() {
            let view = block.match_buffers[at].clone();
            let source = &view.source.buffer;
            let [_, last] = source.shape.as_slice() else { continue };
            if view.buffer.shape.len() != 2 || !source.strides.is_empty() {
                continue;
            }
            let strides = vec![last.clone(), Expr::int(1, last.dtype)];
            let node = BufferNode { strides, offset_factor: 1, ..BufferNode::clone(&view.buffer) };
            let buffer = Buffer::from_node(node);
            block.body = Substitution::new().with_buffer(&view.buffer, &buffer).stmt(&block.body);
            block.match_buffers[at] = MatchBufferRegion { buffer, source: view.source };
        }
    }
}

/// Shifts the start of an axis.
fn moved(block: &mut Block, values: &mut [Expr], at: usize, start: i64) {
    let axis = block.iter_vars[at].clone();
    let start = Expr::int(start.into(), axis.var.dtype);
    let new = Var::new(Arc::clone(&axis.var.name), axis.var.dtype);
    let mut substitution = Substitution::new().with_var(&axis.var, new.expr() - start.clone());
    block.body = substitution.stmt(&block.body);
    block.init = block.init.as_ref().map(|init| substitution.stmt(init));
    let mut regions = |list: &[BufferRegion]| -> Vec<BufferRegion> {
        list.iter().map(|region| substitution.region(region)).collect()
    };
    block.reads = block.reads.as_deref().map(&mut regions);
    block.writes = block.writes.as_deref().map(&mut regions);
    for view in &mut block.match_buffers {
        view.source = substitution.region(&view.source);
    }
    values[at] = values[at].clone() + start.clone();
    block.iter_vars[at] = IterVar { var: new, min: axis.min + start, ..axis };
}

fn whole(buffer: &Buffer) -> BufferRegion {
    let ranges =
        buffer.shape.iter().map(|extent| Range { min: Expr::int(0, extent.dtype), extent: extent.clone() });
    BufferRegion { buffer: buffer.clone(), region: ranges.collect() }
}

/// Returns the outer buffers that a block reads and those that it writes.
fn accesses(block: &Block) -> (Vec<Buffer>, Vec<Buffer>) {
    let mut own: HashSet<Buffer> = block.alloc_buffers.iter().cloned().collect();
    let mut views: HashMap<Buffer, Buffer> = HashMap::new();
    let mut met: Vec<(Buffer, bool)> = Vec::new();
    let mut match_views = |views_of: &[MatchBufferRegion]| {
        for view in views_of {
            views.insert(view.buffer.clone(), view.source.buffer.clone());
        }
    };
    match_views(&block.match_buffers);
    for part in block.init.iter().chain([&block.body]) {
        part.walk(&mut |child| {
            let Child::Stmt(stmt) = child else { return };
            match &stmt.kind {
                StmtKind::AllocBuffer { buffer, .. } | StmtKind::DeclBuffer { buffer, .. } => {
                    own.insert(buffer.clone());
                }
                StmtKind::BlockRealize { block, .. } => {
                    own.extend(block.alloc_buffers.iter().cloned());
                    match_views(&block.match_buffers);
                }
                StmtKind::Store { buffer, .. } => met.push((buffer.clone(), true)),
                _ => {}
            }
        });
        part.walk_exprs(&mut |expr| {
            if let ExprKind::Load { buffer, .. } = &expr.kind {
                met.push((buffer.clone(), false));
            }
        });
    }
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for (mut buffer, is_write) in met {
        while let Some(source) = views.get(&buffer) {
            buffer = source.clone();
        }
        let list = if is_write { &mut writes } else { &mut reads };
        if !own.contains(&buffer) && !list.contains(&buffer) {
            list.push(buffer);
        }
    }
    (reads, writes)
}
