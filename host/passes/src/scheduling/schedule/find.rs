//! Steps that find blocks and loops. They change nothing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::{Block, Callee, Child, Expr, ExprKind, Op, Param, PrimFunc, Stmt, StmtKind, Var};

use super::args::Args;
use super::nest::{Loop, Realized, StmtPath};
use super::{BlockRef, Handle, LoopRef, Schedule, ScheduleError};

impl Schedule {
    /// Finds a block by name.
    ///
    /// # Errors
    ///
    /// There is no such block.
    pub fn get_sblock(&mut self, name: &str) -> Result<BlockRef, ScheduleError> {
        let block = BlockRef(name.into());
        self.run_one("get_sblock", Args::new().with(name), |function| {
            StmtPath::of_block(function, &block)?;
            Ok((function.clone(), vec![Handle::from(&block)]))
        })
    }

    /// Returns the loops around a block, up to the block around it, outermost first.
    ///
    /// # Errors
    ///
    /// The block does not exist.
    pub fn get_loops(&mut self, block: &BlockRef) -> Result<Vec<LoopRef>, ScheduleError> {
        self.run_loops("get_loops", Args::new().with(block), |function| {
            let place = StmtPath::of_block(function, block)?;
            let loops = place.loops().into_iter().filter_map(Loop::from_stmt);
            Ok((function.clone(), loops.map(|l| Handle::Loop(LoopRef(l.var.clone()))).collect()))
        })
    }

    /// Returns the blocks within a block or a loop that are in no further block, in order.
    ///
    /// # Errors
    ///
    /// The block or loop does not exist.
    pub fn get_child_blocks(&mut self, of: impl Into<Handle>) -> Result<Vec<BlockRef>, ScheduleError> {
        let of = of.into();
        self.run_blocks("get_child_blocks", Args::new().with(&of), |function| {
            let place = match &of {
                Handle::Block(block) => StmtPath::of_block(function, block)?,
                Handle::Loop(of) => StmtPath::of_loop(function, of)?,
            };
            let mut found = Vec::new();
            place.stmt().for_each_child(&mut |child| {
                if let Child::Stmt(stmt) = child {
                    outermost_blocks(stmt, &mut found);
                }
            });
            Ok((function.clone(), handles(found)))
        })
    }

    /// Returns the blocks that write what a block reads, in order.
    ///
    /// # Errors
    ///
    /// The block does not exist.
    pub fn get_producers(&mut self, block: &BlockRef) -> Result<Vec<BlockRef>, ScheduleError> {
        self.run_blocks("get_producers", Args::new().with(block), |function| {
            let own = touched_by(function, block)?;
            let blocks = others(function, block, |other| !other.written.is_disjoint(&own.read));
            Ok((function.clone(), handles(blocks)))
        })
    }

    /// Returns the blocks that read what a block writes, in order.
    ///
    /// # Errors
    ///
    /// The block does not exist.
    pub fn get_consumers(&mut self, block: &BlockRef) -> Result<Vec<BlockRef>, ScheduleError> {
        self.run_blocks("get_consumers", Args::new().with(block), |function| {
            let own = touched_by(function, block)?;
            let blocks = others(function, block, |other| !other.read.is_disjoint(&own.written));
            Ok((function.clone(), handles(blocks)))
        })
    }

    /// Returns the blocks that write parameters of the function, in order.
    ///
    /// # Errors
    ///
    /// None.
    pub fn get_output_blocks(&mut self) -> Result<Vec<BlockRef>, ScheduleError> {
        self.run_blocks("get_output_blocks", Args::new(), |function| {
            let params: HashSet<Var> = function
                .params
                .iter()
                .filter_map(|param| match param {
                    Param::Buffer(buffer) => Some(buffer.data.clone()),
                    Param::Var(_) => None,
                })
                .collect();
            let blocks = all_blocks(&function.body)
                .into_iter()
                .filter(|block| !TouchedData::of_block(block).written.is_disjoint(&params));
            Ok((function.clone(), handles(blocks.map(|block| Arc::clone(&block.name)).collect())))
        })
    }
}

fn handles(names: Vec<Arc<str>>) -> Vec<Handle> {
    names.into_iter().map(|name| Handle::Block(BlockRef(name))).collect()
}

fn outermost_blocks(stmt: &Stmt, found: &mut Vec<Arc<str>>) {
    if let Some(realized) = Realized::from_stmt(stmt) {
        found.push(Arc::clone(&realized.block.name));
        return;
    }
    stmt.for_each_child(&mut |child| {
        if let Child::Stmt(inner) = child {
            outermost_blocks(inner, found);
        }
    });
}

/// Every block of a statement, outer ones first.
pub(super) fn all_blocks(stmt: &Stmt) -> Vec<Arc<Block>> {
    let mut blocks = Vec::new();
    stmt.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let Some(realized) = Realized::from_stmt(stmt)
        {
            blocks.push(Arc::clone(realized.block));
        }
    });
    blocks
}

fn touched_by(function: &PrimFunc, block: &BlockRef) -> Result<TouchedData, ScheduleError> {
    Ok(TouchedData::of_block(StmtPath::of_block(function, block)?.as_block()?.block))
}

fn others(function: &PrimFunc, block: &BlockRef, wanted: impl Fn(&TouchedData) -> bool) -> Vec<Arc<str>> {
    let blocks = all_blocks(&function.body).into_iter();
    let other = blocks.filter(|other| other.name != block.0 && wanted(&TouchedData::of_block(other)));
    other.map(|other| Arc::clone(&other.name)).collect()
}

/// Memory that statements touch, by data variable.
#[derive(Default)]
pub(super) struct TouchedData {
    pub(super) read: HashSet<Var>,
    pub(super) written: HashSet<Var>,
    views: HashMap<Var, Var>,
}

impl TouchedData {
    /// What a block touches, views of it resolved.
    pub(super) fn of_block(block: &Block) -> Self {
        let mut memory = Self::default();
        memory.block(block);
        memory
    }

    /// What a statement touches. Calls that touch memory through pointers count as reads and writes
    /// of it.
    pub(super) fn of_stmt(stmt: &Stmt) -> Self {
        let mut memory = Self::default();
        memory.stmt(stmt);
        memory
    }

    fn resolved(&self, data: &Var) -> Var {
        self.views.get(data).unwrap_or(data).clone()
    }

    fn block(&mut self, block: &Block) {
        for view in &block.match_buffers {
            let source = self.resolved(&view.source.buffer.data);
            self.views.insert(view.buffer.data.clone(), source);
        }
        block.init.iter().chain([&block.body]).for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Store { buffer, .. } => {
                self.written.insert(self.resolved(&buffer.data));
            }
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                iter_values.iter().chain([predicate]).for_each(|e| self.expr(e));
                return self.block(block);
            }
            _ => {}
        }
        stmt.for_each_child(&mut |child| match child {
            Child::Stmt(stmt) => self.stmt(stmt),
            Child::Expr(expr) => self.expr(expr),
        });
    }

    fn expr(&mut self, expr: &Expr) {
        expr.walk(&mut |e| match &e.kind {
            ExprKind::Load { buffer, .. } => {
                self.read.insert(self.resolved(&buffer.data));
            }
            // Whoever has the address may write there, as an atomic operation does.
            ExprKind::Call { callee: Callee::Op(Op::AddressOf), args } => {
                if let [place] = args.as_slice()
                    && let ExprKind::Load { buffer, .. } = &place.kind
                {
                    self.written.insert(self.resolved(&buffer.data));
                }
            }
            ExprKind::Var(var) if var.dtype.is_handle() => {
                self.read.insert(self.resolved(var));
                self.written.insert(self.resolved(var));
            }
            _ => {}
        });
    }
}
