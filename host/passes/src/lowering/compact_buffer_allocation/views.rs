//! Views of regions, and notes of blocks about the buffers that they write.

use chipdock_ir::{AttrValue, Block, Buffer, Child, Expr, ExprKind, MatchBufferRegion, StmtKind};

use super::collect::Collector;

impl Collector {
    /// A view of a region: an access to all of it.
    pub(super) fn view(&mut self, view: &MatchBufferRegion) {
        let source = &view.source;
        for range in &source.region {
            self.expr(&range.min);
            self.expr(&range.extent);
        }
        // The strides and the offset of the source change: a view may name them, but know nothing
        // of them, except that elements of the last axis stay adjacent.
        let stated = match view.buffer.strides.split_last() {
            Some((last, rest)) if last.as_int() == Some(1) => rest,
            _ => view.buffer.strides.as_slice(),
        };
        let is_free = |e: &Expr| matches!(&e.kind, ExprKind::Var(var) if self.unique.contains(var));
        if !stated.iter().chain(&view.buffer.elem_offset).all(is_free) {
            self.open(&source.buffer.data);
        }
        self.views.insert(view.buffer.clone());
        // A pointer into the view leads to all of the memory.
        if let Some(at) = self.by_data.get(&source.buffer.data).copied() {
            self.by_data.insert(view.buffer.data.clone(), at);
        }
        let mut region = Vec::with_capacity(source.region.len());
        for range in &source.region {
            let (extent, min) = (self.in_loops(&range.extent), self.in_loops(&range.min));
            let (_, most) = self.all.ranges.of(&extent);
            region.push(self.index(&min, most.max(1) - 1));
        }
        self.accessed(&source.buffer, region);
    }

    /// Alignments of strides: TVM's `storage_align`, of the buffers that the block writes.
    pub(super) fn alignment(&mut self, block: &Block) {
        let Some(AttrValue::List(entries)) = block.annotations.get(super::DIM_ALIGN) else { return };
        for entry in entries {
            let AttrValue::List(entry) = entry else { continue };
            let number = |at: usize| match entry.get(at) {
                Some(AttrValue::Int(value)) => Some(i128::from(*value)),
                Some(AttrValue::Expr(value)) => value.as_int(),
                _ => None,
            };
            let (Some(of), Some(axis), Some(factor), Some(offset)) =
                (number(0), number(1), number(2), number(3))
            else {
                continue;
            };
            let written = usize::try_from(of).ok().and_then(|of| written(block, of));
            let Some(written) = written.and_then(|buffer| self.by_buffer.get(&buffer)) else { continue };
            let Some(candidate) = self.all.candidates.get_mut(*written) else { continue };
            // Elements of the last axis stay adjacent.
            let last = candidate.buffer.shape.len() as i128 - 1;
            if let Some(axis) = usize::try_from(axis).ok().filter(|_| axis < last && factor > 0) {
                candidate.alignment.push((axis, factor, offset));
            }
        }
    }
}

/// A buffer that a block writes, counted as it declares them, or else by their first stores.
fn written(block: &Block, of: usize) -> Option<Buffer> {
    if let Some(declared) = &block.writes {
        return Some(declared.get(of)?.buffer.clone());
    }
    let mut found: Vec<Buffer> = Vec::new();
    for stmt in block.init.iter().chain([&block.body]) {
        stmt.walk(&mut |child| {
            if let Child::Stmt(stmt) = child
                && let StmtKind::Store { buffer, .. } = &stmt.kind
                && !found.contains(buffer)
            {
                found.push(buffer.clone());
            }
        });
    }
    found.get(of).cloned()
}
