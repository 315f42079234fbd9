//! `T.reads` and `T.writes` that leave out a buffer: to TVM they are hints, to the IR all that a
//! block may access (IR-B5). A buffer that is left out is added whole, with a warning.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::{
    Block, Buffer, BufferRegion, Child, Diagnostic, Expr, ExprKind, MatchBufferRegion, Range, Span, Stmt,
    StmtKind,
};

/// Buffers that a block accesses and does not declare.
#[derive(Default)]
struct LeftOut {
    reads: Vec<Buffer>,
    writes: Vec<Buffer>,
}

/// A surrounding block, with its declarations as validation sees them.
struct Frame<'s> {
    block: &'s Block,
    reads: Option<HashSet<&'s Buffer>>,
    writes: Option<HashSet<&'s Buffer>>,
    own: HashSet<&'s Buffer>,
    views: HashMap<&'s Buffer, &'s Buffer>,
    left_out: LeftOut,
}

#[derive(Default)]
struct Search<'s> {
    frames: Vec<Frame<'s>>,
    /// Buffers that are left out, by the address of the block.
    found: HashMap<*const Block, (Span, LeftOut)>,
}

/// Returns the body of a function, in which each block with declarations declares all that it
/// accesses; and a warning for each list that was extended.
pub(crate) fn widened(body: &Stmt, function: &Arc<str>) -> (Stmt, Vec<Diagnostic>) {
    let mut search = Search::default();
    search.stmt(body);
    if search.found.is_empty() {
        return (body.clone(), Vec::new());
    }
    let mut notes = Vec::new();
    let body = with_all(body, &search.found, function, &mut notes);
    (body, notes)
}

impl<'s> Search<'s> {
    fn stmt(&mut self, stmt: &'s Stmt) {
        match &stmt.kind {
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                iter_values.iter().chain([predicate]).for_each(|expr| self.expr(expr));
                return self.block(block, stmt.span);
            }
            StmtKind::Store { buffer, .. } => self.touch(buffer, true),
            // A block need not declare a buffer that is allocated in it.
            StmtKind::AllocBuffer { buffer, .. } | StmtKind::DeclBuffer { buffer, .. } => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.own.insert(buffer);
                }
            }
            _ => {}
        }
        stmt.for_each_child(&mut |child| match child {
            Child::Expr(expr) => self.expr(expr),
            Child::Stmt(stmt) => self.stmt(stmt),
        });
    }

    fn expr(&mut self, expr: &'s Expr) {
        if self.frames.is_empty() {
            return;
        }
        expr.walk(&mut |expr| {
            if let ExprKind::Load { buffer, .. } = &expr.kind {
                self.touch(buffer, false);
            }
        });
    }

    fn block(&mut self, block: &'s Arc<Block>, span: Span) {
        let sources = block.match_buffers.iter().map(|view| &view.source);
        for region in block.reads.iter().chain(&block.writes).flatten().chain(sources) {
            region
                .region
                .iter()
                .flat_map(|range| [&range.min, &range.extent])
                .for_each(|expr| self.expr(expr));
        }
        for axis in &block.iter_vars {
            [&axis.min, &axis.extent].into_iter().for_each(|expr| self.expr(expr));
        }
        let set = |list: &'s Option<Vec<BufferRegion>>| {
            list.as_ref().map(|list| list.iter().map(|region| &region.buffer).collect())
        };
        let stands_for = |view: &'s MatchBufferRegion| (&view.buffer, &view.source.buffer);
        self.frames.push(Frame {
            block,
            reads: set(&block.reads),
            writes: set(&block.writes),
            own: block.alloc_buffers.iter().collect(),
            views: block.match_buffers.iter().map(stands_for).collect(),
            left_out: LeftOut::default(),
        });
        block.init.iter().chain([&block.body]).for_each(|stmt| self.stmt(stmt));
        if let Some(frame) = self.frames.pop()
            && !(frame.left_out.reads.is_empty() && frame.left_out.writes.is_empty())
        {
            self.found.insert(std::ptr::from_ref(frame.block), (span, frame.left_out));
        }
    }

    /// Records an access: each surrounding block declares the buffer, out to the one that allocates
    /// it.
    fn touch(&mut self, mut buffer: &'s Buffer, writes: bool) {
        for frame in self.frames.iter_mut().rev() {
            if frame.own.contains(buffer) {
                return;
            }
            buffer = frame.views.get(buffer).copied().unwrap_or(buffer);
            let written = frame.writes.as_ref().is_some_and(|list| list.contains(buffer));
            let (list, left_out) = if writes {
                (&mut frame.writes, &mut frame.left_out.writes)
            } else {
                (&mut frame.reads, &mut frame.left_out.reads)
            };
            // What it writes it may read.
            if let Some(list) = list.as_mut().filter(|_| writes || !written)
                && list.insert(buffer)
            {
                left_out.push(buffer.clone());
            }
        }
    }
}

fn with_all(
    stmt: &Stmt,
    found: &HashMap<*const Block, (Span, LeftOut)>,
    function: &Arc<str>,
    notes: &mut Vec<Diagnostic>,
) -> Stmt {
    let left_out = match &stmt.kind {
        StmtKind::BlockRealize { block, .. } => found.get(&Arc::as_ptr(block)),
        _ => None,
    };
    if let Some((span, left_out)) = left_out
        && let StmtKind::BlockRealize { block, .. } = &stmt.kind
    {
        let lists = [(&left_out.reads, "reads"), (&left_out.writes, "writes")];
        for (buffers, verb) in lists.into_iter().filter(|(buffers, _)| !buffers.is_empty()) {
            let names: Vec<String> = buffers.iter().map(|buffer| format!("`{}`", buffer.name)).collect();
            let message = format!(
                "block `{}` {verb} {}, which its T.{verb}(...) leaves out; all of it was added",
                block.name,
                names.join(", ")
            );
            let (function, node) = (Arc::clone(function), String::new());
            notes.push(Diagnostic { function, span: *span, node, message });
        }
    }
    let new = stmt.map_children(&mut Expr::clone, &mut |inner| with_all(inner, found, function, notes));
    match (&new.kind, left_out) {
        (StmtKind::BlockRealize { iter_values, predicate, block }, Some((_, left_out))) => {
            let mut block = Block::clone(block);
            extend(&mut block.reads, &left_out.reads);
            extend(&mut block.writes, &left_out.writes);
            let (iter_values, predicate) = (iter_values.clone(), predicate.clone());
            Stmt::new(StmtKind::BlockRealize { iter_values, predicate, block: Arc::new(block) })
                .with_span(stmt.span)
        }
        _ => new,
    }
}

/// Adds the whole of each buffer.
fn extend(regions: &mut Option<Vec<BufferRegion>>, buffers: &[Buffer]) {
    if let Some(regions) = regions {
        regions.extend(buffers.iter().map(|buffer| {
            let whole = |extent: &Expr| Range { min: Expr::int(0, extent.dtype), extent: extent.clone() };
            BufferRegion { region: buffer.shape.iter().map(whole).collect(), buffer: buffer.clone() }
        }));
    }
}
