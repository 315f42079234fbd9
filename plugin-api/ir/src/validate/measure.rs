//! Measures depth and size, before anything walks the module recursively.

use std::collections::HashMap;

use crate::limits::{DEPTH_MAX, NODES_MAX};
use crate::{
    AttrNode, AttrValue, Attrs, Buffer, BufferRegion, Diagnostic, Expr, ExprKind, IrModule, Param, PrimFunc,
    Span, Stmt, StmtKind,
};

/// The limit that was exceeded.
enum TooMuch {
    Depth(Span),
    Nodes,
}

type Size = Result<u64, TooMuch>;

/// Returns a diagnostic if the module is too deep or too large.
pub(super) fn module(module: &IrModule) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut total = 0_u64;
    let problem = |function: &str, span, message: String| Diagnostic {
        function: function.into(),
        span,
        node: String::new(),
        message,
    };
    if Measure::default().attrs(&module.attrs, 0).is_err() {
        problems.push(problem("", Span::NONE, too_deep()));
    }
    for function in &module.functions {
        match Measure::default().function(function) {
            Ok(nodes) => total = total.saturating_add(nodes),
            Err(TooMuch::Nodes) => total = u64::MAX,
            Err(TooMuch::Depth(span)) => problems.push(problem(&function.name, span, too_deep())),
        }
    }
    if total > NODES_MAX {
        let message = format!(
            "the module has more than {NODES_MAX} nodes, shared ones counted wherever they stand; split it, or bind \
             shared values to variables"
        );
        problems.push(problem("", Span::NONE, message));
    }
    problems
}

fn too_deep() -> String {
    format!(
        "it nests more than {DEPTH_MAX} levels deep; bind inner values to variables, or split the function"
    )
}

#[derive(Default)]
struct Measure {
    /// Levels and nodes below an expression, including itself; with the expression, so that its
    /// address stays in use.
    exprs: HashMap<usize, (Expr, usize, u64)>,
    buffers: HashMap<Buffer, u64>,
    stmts: HashMap<usize, (Stmt, usize, u64)>,
    in_shape: bool,
}

impl Measure {
    fn function(&mut self, function: &PrimFunc) -> Size {
        let mut nodes = self.attrs(&function.attrs, 0)?;
        for param in &function.params {
            if let Param::Buffer(buffer) = param {
                nodes = nodes.saturating_add(self.buffer(buffer)?);
            }
        }
        for buffer in &function.alloc_buffers {
            nodes = nodes.saturating_add(self.buffer(buffer)?);
        }
        Ok(nodes.saturating_add(self.stmt(&function.body, 0)?.1))
    }

    fn attrs(&mut self, attrs: &Attrs, depth: usize) -> Size {
        attrs.values().try_fold(0_u64, |sum, value| Ok(sum.saturating_add(self.attr_value(value, depth)?)))
    }

    fn attr_value(&mut self, value: &AttrValue, depth: usize) -> Size {
        if depth >= DEPTH_MAX {
            return Err(TooMuch::Depth(Span::NONE));
        }
        match value {
            AttrValue::List(items) => items
                .iter()
                .try_fold(1_u64, |sum, item| Ok(sum.saturating_add(self.attr_value(item, depth + 1)?))),
            AttrValue::Map(map) => Ok(self.attrs(map, depth + 1)?.saturating_add(1)),
            AttrValue::Expr(expr) => Ok(self.expr(expr, depth)?.1),
            AttrValue::Target(target) => {
                let mut host = target.host.as_ref();
                let mut levels = depth;
                while let Some(target) = host {
                    levels += 1;
                    if levels >= DEPTH_MAX {
                        return Err(TooMuch::Depth(Span::NONE));
                    }
                    host = target.host.as_ref();
                }
                Ok(1)
            }
            _ => Ok(1),
        }
    }

    fn buffer(&mut self, buffer: &Buffer) -> Size {
        if let Some(nodes) = self.buffers.get(buffer) {
            return Ok(*nodes);
        }
        let mut nodes = 1_u64;
        self.in_shape = true;
        for part in buffer.shape.iter().chain(&buffer.strides).chain(&buffer.elem_offset) {
            nodes = nodes.saturating_add(self.expr(part, 0)?.1);
        }
        self.in_shape = false;
        self.buffers.insert(buffer.clone(), nodes);
        Ok(nodes)
    }

    /// Returns the levels and nodes of an expression at depth `depth`.
    fn expr(&mut self, expr: &Expr, depth: usize) -> Result<(usize, u64), TooMuch> {
        if let Some((_, levels, nodes)) = self.exprs.get(&expr.address()) {
            let (levels, nodes) = (*levels, *nodes);
            return if depth + levels > DEPTH_MAX {
                Err(TooMuch::Depth(expr.span))
            } else {
                Ok((levels, nodes))
            };
        }
        if depth >= DEPTH_MAX {
            return Err(TooMuch::Depth(expr.span));
        }
        let (mut levels, mut nodes, mut problem) = (0, 1_u64, None);
        // A shape that reads memory is rejected later; following it here could go on without end.
        if let ExprKind::Load { buffer, .. } = &expr.kind
            && !self.in_shape
        {
            self.buffer(buffer)?;
        }
        expr.for_each_child(&mut |child| {
            if problem.is_none() {
                match self.expr(child, depth + 1) {
                    Ok((below, count)) => {
                        levels = levels.max(below);
                        nodes = nodes.saturating_add(count);
                    }
                    Err(too_much) => problem = Some(too_much),
                }
            }
        });
        if let Some(too_much) = problem {
            return Err(too_much);
        }
        if nodes > NODES_MAX {
            return Err(TooMuch::Nodes);
        }
        self.exprs.insert(expr.address(), (expr.clone(), levels + 1, nodes));
        Ok((levels + 1, nodes))
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) -> Result<(usize, u64), TooMuch> {
        let address = Stmt::address(stmt);
        if let Some((_, levels, nodes)) = self.stmts.get(&address) {
            let (levels, nodes) = (*levels, *nodes);
            return if depth + levels > DEPTH_MAX {
                Err(TooMuch::Depth(stmt.span))
            } else {
                Ok((levels, nodes))
            };
        }
        if depth >= DEPTH_MAX {
            return Err(TooMuch::Depth(stmt.span));
        }
        let (mut levels, mut nodes, mut problem) = (0, self.own(stmt)?, None);
        stmt.for_each_child(&mut |child| {
            if problem.is_none() {
                let below = match child {
                    crate::Child::Expr(expr) => self.expr(expr, depth + 1),
                    crate::Child::Stmt(stmt) => self.stmt(stmt, depth + 1),
                };
                match below {
                    Ok((below, count)) => {
                        levels = levels.max(below);
                        nodes = nodes.saturating_add(count);
                    }
                    Err(too_much) => problem = Some(too_much),
                }
            }
        });
        if let Some(too_much) = problem {
            return Err(too_much);
        }
        if nodes > NODES_MAX {
            return Err(TooMuch::Nodes);
        }
        self.stmts.insert(address, (stmt.clone(), levels + 1, nodes));
        Ok((levels + 1, nodes))
    }

    /// Measures the parts of a statement that are not children: buffers, regions, annotations.
    fn own(&mut self, stmt: &Stmt) -> Size {
        let mut nodes = 1_u64;
        let mut add = |size: Size| -> Result<(), TooMuch> {
            nodes = nodes.saturating_add(size?);
            Ok(())
        };
        match &stmt.kind {
            StmtKind::AllocBuffer { buffer, annotations } => {
                add(self.buffer(buffer))?;
                add(self.attrs(annotations, 0))?;
            }
            StmtKind::DeclBuffer { buffer, .. } | StmtKind::Store { buffer, .. } => add(self.buffer(buffer))?,
            StmtKind::For { annotations, .. } => add(self.attrs(annotations, 0))?,
            StmtKind::Attr { node: AttrNode::Reducer(reducer), .. } => {
                for expr in reducer.result.iter().chain(&reducer.identity) {
                    add(self.expr(expr, 0).map(|(_, nodes)| nodes))?;
                }
            }
            StmtKind::BlockRealize { block, .. } => {
                add(self.attrs(&block.annotations, 0))?;
                for buffer in &block.alloc_buffers {
                    add(self.buffer(buffer))?;
                }
                for view in &block.match_buffers {
                    add(self.buffer(&view.buffer))?;
                    add(self.region(&view.source))?;
                }
                for region in block.reads.iter().chain(&block.writes).flatten() {
                    add(self.region(region))?;
                }
            }
            _ => {}
        }
        Ok(nodes)
    }

    fn region(&mut self, region: &BufferRegion) -> Size {
        let mut nodes = self.buffer(&region.buffer)?;
        for range in &region.region {
            nodes = nodes.saturating_add(self.expr(&range.min, 0)?.1);
            nodes = nodes.saturating_add(self.expr(&range.extent, 0)?.1);
        }
        Ok(nodes)
    }
}
