//! Functions of float64 as compilers may contract them (rule IR-N10): any product, of its own or by
//! name, in any of the sums that it is an operand of.

use std::collections::HashMap;

use chipdock_ir::{BinaryOp, Expr, ExprKind, IrModule, Op, Stmt, Var};
use chipdock_programs::Random;

/// A compiler that contracts.
pub(super) struct Contraction {
    /// Which sums it contracts, of those that it can.
    chosen: Chosen,
    /// Values of names.
    named: HashMap<Var, Expr>,
    /// Sums contracted so far.
    pub(super) count: usize,
}

enum Chosen {
    All { second_first: bool },
    Random(Random),
}

impl Contraction {
    /// Compilers that contract everything, by the first operand or the second, and others that
    /// choose at random.
    pub(super) fn all() -> Vec<Self> {
        let every = [false, true].map(|second_first| Chosen::All { second_first });
        let some = (0..10).map(|seed| Chosen::Random(Random::new(seed)));
        let new = |chosen| Self { chosen, named: HashMap::new(), count: 0 };
        every.into_iter().chain(some).map(new).collect()
    }

    pub(super) fn module(&mut self, module: &IrModule) -> IrModule {
        let mut module = module.clone();
        for function in &mut module.functions {
            function.body = self.stmt(&function.body);
        }
        module
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        let this = std::cell::RefCell::new(self);
        stmt.map_children(&mut |e| this.borrow_mut().expr(e), &mut |s| this.borrow_mut().stmt(s))
    }

    fn expr(&mut self, e: &Expr) -> Expr {
        if let ExprKind::Let { var, value, .. } = &e.kind {
            self.named.insert(var.clone(), value.clone());
        }
        let sum = match &e.kind {
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) if e.dtype.is_float() => {
                self.fused(*op, a, b)
            }
            _ => None,
        };
        sum.unwrap_or_else(|| e.clone()).map_children(&mut |child| self.expr(child))
    }

    /// The factors of a product.
    fn factors(&self, e: &Expr) -> Option<[Expr; 2]> {
        match &e.kind {
            ExprKind::Var(var) => self.factors(self.named.get(var)?),
            ExprKind::Binary(BinaryOp::Mul, a, b) => Some([a.clone(), b.clone()]),
            _ => None,
        }
    }

    fn fused(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Expr> {
        let (first, second) = (self.factors(a), self.factors(b));
        if first.is_none() && second.is_none() {
            return None;
        }
        let second_first = match &mut self.chosen {
            Chosen::All { second_first } => *second_first,
            Chosen::Random(random) => match random.bits_32() >> 30 {
                0 => return None,
                choice => choice == 1,
            },
        };
        self.count += 1;
        let negative = |e: &Expr| if op == BinaryOp::Sub { minus(e) } else { e.clone() };
        let fma = |[x, y]: [Expr; 2], z: Expr| Expr::call(Op::Fma, vec![x, y, z], a.dtype);
        let by_second = |[x, y]: [Expr; 2]| fma([negative(&x), y], a.clone());
        let by_first = |factors: [Expr; 2]| fma(factors, negative(b));
        if second_first {
            second.map(by_second).or_else(|| first.map(by_first))
        } else {
            first.map(by_first).or_else(|| second.map(by_second))
        }
    }
}

fn minus(e: &Expr) -> Expr {
    Expr::float(-0.0, e.dtype) - e.clone()
}
