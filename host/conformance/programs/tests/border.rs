//! The boundary after validation (invariant 7): validation either rejects a module, or all later
//! steps handle it.
//!
//! Random programs with corrupted expressions and statements. Validation never panics. Every module
//! that it accepts is printed, written to the wire and read back, lowered and run without a panic,
//! without a node that the interpreter reports as malformed, and without a pass that reports a bug
//! of its own.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use std::cell::RefCell;

use chipdock_interpret::{ErrorKind, Interpreter, Limits};
use chipdock_ir::validate::validate;
use chipdock_ir::{
    AttrNode, Attrs, Buffer, DType, Expr, ExprKind, ForKind, IrModule, IterKind, Op, PrimFunc, Stage, Stmt,
    StmtKind, TargetCapabilities, ThreadAxis, Var, equal, print, subst::Substitution, wire,
};
use chipdock_passes::{Fault, LowerOptions, lower};
use chipdock_programs::{Case, Options, Random, arbitrary};
use proptest::prelude::*;

/// Puts one node in so many out of order.
struct Disorder {
    random: Random,
    one_in: u64,
    exprs: Vec<Expr>,
    stmts: Vec<Stmt>,
    buffers: Vec<Buffer>,
}

impl Disorder {
    fn next(&mut self, below: u64) -> u64 {
        self.random.below(below)
    }

    fn pick<T: Clone>(&mut self, list: fn(&Self) -> &Vec<T>) -> Option<T> {
        let at = self.next(list(self).len() as u64) as usize;
        list(self).get(at).cloned()
    }

    fn dtype(&mut self) -> DType {
        let scalar = DType::SCALARS[self.next(DType::SCALARS.len() as u64) as usize];
        if self.next(3) == 0 { scalar.with_lanes(self.next(5) as u16) } else { scalar }
    }

    fn expr(&mut self, expr: &Expr) -> Expr {
        let expr = expr.map_children(&mut |child| self.expr(child));
        self.exprs.push(expr.clone());
        if let ExprKind::Load { buffer, .. } = &expr.kind {
            self.buffers.push(buffer.clone());
        }
        if self.next(self.one_in) != 0 {
            return expr;
        }
        let dtype = self.dtype();
        match self.next(16) {
            0 => Expr::new(expr.kind.clone(), dtype),
            1 => Expr::int(i128::from(self.next(u64::MAX)) - (1 << 62), DType::INT64),
            2 => {
                let n_args = self.next(4);
                let args = (0..n_args).map(|_| self.pick(|d| &d.exprs).unwrap_or(expr.clone())).collect();
                Expr::call(Op::ALL[self.next(Op::ALL.len() as u64) as usize], args, dtype)
            }
            3 => Expr::new(ExprKind::Int(i128::MAX), dtype),
            4 => Expr::new(ExprKind::Float(chipdock_ir::FloatBits(self.next(u64::MAX))), dtype),
            5 => expr.ramp(Expr::i32(1), self.next(5) as u16),
            6 => expr.cast(dtype),
            7 => self.pick(|d| &d.exprs).unwrap_or(expr),
            // Of the same type: what validation is likelier to take.
            _ => {
                let same: Vec<Expr> = self.exprs.iter().filter(|e| e.dtype == expr.dtype).cloned().collect();
                same[self.next(same.len() as u64) as usize].clone()
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        let this = RefCell::new(&mut *self);
        let stmt = stmt
            .map_children(&mut |expr| this.borrow_mut().expr(expr), &mut |stmt| this.borrow_mut().stmt(stmt));
        self.stmts.push(stmt.clone());
        if self.next(self.one_in) != 0 {
            return stmt;
        }
        let other = self.pick(|d| &d.exprs).unwrap_or(Expr::i32(0));
        match (self.next(22), &stmt.kind) {
            (0, _) => self.pick(|d| &d.stmts).unwrap_or(stmt),
            (1, StmtKind::Seq(stmts)) => Stmt::new(StmtKind::Seq(stmts.iter().rev().cloned().collect())),
            (2, StmtKind::For { var, min, extent, body, .. }) => Stmt::new(StmtKind::For {
                var: var.clone(),
                min: min.clone(),
                extent: extent.clone(),
                kind: [ForKind::Serial, ForKind::Parallel, ForKind::Vectorized, ForKind::Unrolled]
                    .get(self.next(5) as usize)
                    .copied()
                    .unwrap_or(ForKind::ThreadBinding(ThreadAxis::ThreadX)),
                step: (self.next(2) == 0).then_some(other),
                annotations: Attrs::new(),
                body: body.clone(),
            }),
            (3, StmtKind::BlockRealize { iter_values, predicate, block }) => {
                let mut block = chipdock_ir::Block::clone(block);
                for axis in &mut block.iter_vars {
                    axis.kind = [IterKind::Spatial, IterKind::Reduce, IterKind::Ordered, IterKind::Opaque]
                        [self.next(4) as usize];
                }
                if self.next(2) == 0 {
                    block.reads = None;
                }
                Stmt::new(StmtKind::BlockRealize {
                    iter_values: iter_values.clone(),
                    predicate: predicate.clone(),
                    block: block.into(),
                })
            }
            (4, StmtKind::Store { buffer, indices, value, .. }) => Stmt::new(StmtKind::Store {
                buffer: self.pick(|d| &d.buffers).unwrap_or(buffer.clone()),
                indices: indices.clone(),
                value: value.clone(),
                predicate: (self.next(2) == 0).then_some(other),
            }),
            (5, _) => Stmt::new(StmtKind::While { condition: other, body: stmt }),
            (6, _) => Stmt::new([StmtKind::Break, StmtKind::Continue][self.next(2) as usize].clone()),
            (7, _) => Stmt::new(StmtKind::Return(Some(other))),
            (8, _) => {
                let (var, axis) = (Var::new("t", self.dtype()), ThreadAxis::ThreadX);
                Stmt::new(StmtKind::LaunchThread { var, axis, extent: other, body: stmt })
            }
            (9, _) => match self.pick(|d| &d.buffers) {
                Some(buffer) => Stmt::new(StmtKind::Seq(vec![
                    Stmt::new(StmtKind::AllocBuffer { buffer, annotations: Attrs::new() }),
                    stmt,
                ])),
                None => stmt,
            },
            (10, _) => {
                let node = self.pick(|d| &d.buffers).map_or(AttrNode::None, AttrNode::Buffer);
                Stmt::new(StmtKind::Attr { node, key: "note".into(), value: other, body: stmt })
            }
            (11..16, _) => {
                let other = self.pick(|d| &d.stmts).unwrap_or(stmt.clone());
                Stmt::new(StmtKind::Seq(vec![stmt, Substitution::new().fresh().stmt(&other)]))
            }
            _ => Substitution::new().fresh().stmt(&stmt),
        }
    }
}

/// A host of no particular kind.
fn capabilities() -> TargetCapabilities {
    TargetCapabilities::host("test")
}

/// Everything that takes a validated module.
fn behind_the_border(module: &IrModule, function: &str, args: &[chipdock_interpret::Arg]) {
    let text = print::module(module);
    let read = wire::read_beside(
        &wire::write(module).unwrap_or_else(|error| panic!("{error}\n{text}")),
        &wire::sections(module),
    );
    let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(equal::modules(&read, module), Ok(()), "{text}");
    if let Err(error) = lower(module, &LowerOptions::new(capabilities().into())) {
        assert_ne!(error.fault, Fault::Bug, "{error}\n{text}");
    }
    let limits = Limits { steps_max: 20_000, memory_bytes_max: 1 << 22, ..Limits::default() };
    let mut args = args.to_vec();
    if let Err(error) = Interpreter::new(module).with_limits(limits).run(function, &mut args) {
        assert!(!matches!(error.kind, ErrorKind::Malformed { .. }), "{error}\n{text}");
    }
}

/// Programs of the default options. They do not shrink: the reducer does that.
fn program() -> impl Strategy<Value = Case> {
    any::<u64>().no_shrink().prop_map(|seed| arbitrary(seed, &Options::default()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn valid_modules_never_panic(case in program(), seed in any::<u64>(), one_in in 10_u64..300) {
        let mut disorder =
            Disorder { random: Random::new(seed), one_in, exprs: vec![], stmts: vec![], buffers: vec![] };
        let functions = case.module.functions.iter().map(|function| {
            PrimFunc { body: disorder.stmt(&function.body), ..function.clone() }
        });
        let module = IrModule { functions: functions.collect(), ..case.module.clone() };
        for stage in [Stage::Scheduled, Stage::Flattened, Stage::Device, Stage::Host] {
            let _ = validate(&module, stage);
        }
        if validate(&module, Stage::Blocks).is_ok() {
            behind_the_border(&module, &case.function, &case.args);
        }
    }
}
