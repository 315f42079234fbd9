//! Analysis of the nodes of a statement's expressions that deserve a variable, and of the variables
//! that are used at all.
//!
//! The IR shares nodes; text cannot. Without this a chain of `x = y + y` would double the text at
//! each step.

use std::collections::{HashMap, HashSet};

use crate::limits::DEPTH_MAX;
use crate::{Buffer, Callee, Child, Effect, Expr, ExprKind, Stmt, StmtKind};

/// The size of a node from which it gets a variable; smaller nodes are repeated at every use.
const SIZE_WORTH_A_NAME: u32 = 8;

#[derive(Clone, Copy, Debug)]
struct Node {
    uses: u32,
    size: u32,
    is_pure: bool,
}

/// The use counts of the nodes of one statement's expressions.
#[derive(Debug, Default)]
pub struct Sharing {
    nodes: HashMap<usize, Node>,
}

impl Sharing {
    /// Analyses the expressions of one statement.
    pub fn of<'a>(roots: impl IntoIterator<Item = &'a Expr>) -> Self {
        let mut sharing = Self::default();
        for root in roots {
            sharing.count(root, 0);
        }
        sharing
    }

    /// Returns true for a node that is used more than once and is large enough for a variable.
    pub fn is_shared(&self, e: &Expr) -> bool {
        self.nodes
            .get(&e.address())
            .is_some_and(|node| node.uses > 1 && node.is_pure && node.size >= SIZE_WORTH_A_NAME)
    }

    fn count(&mut self, e: &Expr, depth: usize) -> (u32, bool) {
        if let Some(node) = self.nodes.get_mut(&e.address()) {
            node.uses += 1;
            return (node.size, node.is_pure);
        }
        // Past the writer's own limit nothing is written.
        if depth > DEPTH_MAX {
            return (1, true);
        }
        let (mut size, mut is_pure) = (1_u32, is_pure_node(e));
        e.for_each_child(&mut |child| {
            let (child_size, child_pure) = self.count(child, depth + 1);
            size = size.saturating_add(child_size);
            is_pure &= child_pure;
        });
        self.nodes.insert(e.address(), Node { uses: 1, size, is_pure });
        (size, is_pure)
    }
}

fn is_pure_node(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call { callee: Callee::Op(op), .. } => op.effect() != Effect::Writes,
        ExprKind::Call { callee: Callee::Extern { pure, .. }, .. } => *pure,
        ExprKind::Call { callee: Callee::Global(_), .. } => false,
        _ => true,
    }
}

/// Returns true for an expression without side effects.
pub fn is_pure(e: &Expr) -> bool {
    let mut sharing = Sharing::default();
    sharing.count(e, 0).1
}

/// Variables that a function's text reads, and data variables that it stores through, by address.
#[derive(Debug, Default)]
pub struct Usage {
    /// Variables that are read, by address.
    pub read: HashSet<usize>,
    /// Data variables that are stored through, by address.
    pub written: HashSet<usize>,
    /// Names of functions that it calls, including bodies of parallel launches.
    pub called: HashSet<std::sync::Arc<str>>,
    seen: HashSet<usize>,
}

impl Usage {
    /// Analyses a function's body.
    pub fn of(body: &Stmt) -> Self {
        let mut usage = Self::default();
        usage.stmt(body, 0);
        usage
    }

    /// Returns true for a variable that the body reads or stores through.
    pub fn uses(&self, address: usize) -> bool {
        self.read.contains(&address) || self.written.contains(&address)
    }

    /// Analyses later statements first: a statement that only serves an unused variable is not
    /// needed either.
    fn stmt(&mut self, s: &Stmt, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        match &s.kind {
            StmtKind::Store { buffer, .. } => {
                self.written.insert(buffer.data.address());
                self.buffer(buffer);
            }
            StmtKind::Bind { var, value } if !self.uses(var.address()) && is_pure(value) => return,
            StmtKind::DeclBuffer { buffer, .. } if !self.uses(buffer.data.address()) => return,
            StmtKind::Evaluate(value) if is_pure(value) => return,
            _ => {}
        }
        let mut children = Vec::new();
        s.for_each_child(&mut |child| children.push(child));
        for child in children.into_iter().rev() {
            match child {
                Child::Expr(e) => self.expr(e, 0),
                Child::Stmt(s) => self.stmt(s, depth + 1),
            }
        }
    }

    fn buffer(&mut self, buffer: &Buffer) {
        for e in buffer.strides.iter().chain(&buffer.elem_offset) {
            self.expr(e, 0);
        }
    }

    fn expr(&mut self, e: &Expr, depth: usize) {
        if depth > DEPTH_MAX || !self.seen.insert(e.address()) {
            return;
        }
        match &e.kind {
            ExprKind::Var(var) => {
                self.read.insert(var.address());
            }
            ExprKind::Load { buffer, .. } => {
                self.read.insert(buffer.data.address());
                self.buffer(buffer);
            }
            ExprKind::Call { .. } => self.called.extend(e.called().cloned()),
            ExprKind::Let { var, value, body } => {
                self.expr(body, depth + 1);
                if self.uses(var.address()) || !is_pure(value) {
                    self.expr(value, depth + 1);
                }
                return;
            }
            _ => {}
        }
        e.for_each_child(&mut |child| self.expr(child, depth + 1));
    }
}
