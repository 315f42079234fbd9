//! INT-I5 of `chipdock_interpret`: no module makes the interpreter panic or run forever, not even
//! one that was never validated. The programs are generated and then corrupted with random nodes.
//! The validator and the printer must handle them too.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use chipdock_interpret::{Interpreter, Limits};
use chipdock_ir::{DType, Expr, ExprKind, IrModule, Op, PrimFunc, Stage, Stmt, print, validate::validate};
use chipdock_programs::{Case, Options, Random, arbitrary};
use proptest::prelude::*;

/// What is put in the place of nodes, and how often.
struct Disorder {
    random: Random,
    one_in: u64,
    /// Expressions met before: of other types, from other scopes.
    met: Vec<Expr>,
}

impl Disorder {
    fn next(&mut self, below: u64) -> u64 {
        self.random.below(below)
    }

    fn expr(&mut self, expr: &Expr) -> Expr {
        let expr = expr.map_children(&mut |child| self.expr(child));
        self.met.push(expr.clone());
        if self.next(self.one_in) != 0 {
            return expr;
        }
        let dtype = DType::SCALARS[self.next(DType::SCALARS.len() as u64) as usize];
        match self.next(7) {
            0 => Expr::new(expr.kind.clone(), dtype),
            1 => Expr::new(expr.kind.clone(), expr.dtype.with_lanes(self.next(4) as u16)),
            2 => Expr::int(i128::from(self.next(u64::MAX)) - (1 << 62), DType::INT64),
            3 => Expr::call(Op::ALL[self.next(Op::ALL.len() as u64) as usize], vec![expr], dtype),
            4 => Expr::new(ExprKind::Int(i128::MAX), DType::HANDLE),
            5 => expr.ramp(Expr::i32(1), self.next(5) as u16),
            _ => {
                let at = self.next(self.met.len() as u64) as usize;
                self.met[at].clone()
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        // Two closures that both need all of it.
        let this = std::cell::RefCell::new(self);
        stmt.map_children(&mut |expr| this.borrow_mut().expr(expr), &mut |stmt| this.borrow_mut().stmt(stmt))
    }
}

/// Programs of the default options. They do not shrink: the reducer does that.
fn program() -> impl Strategy<Value = Case> {
    any::<u64>().no_shrink().prop_map(|seed| arbitrary(seed, &Options::default()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn int_i5_no_module_makes_it_panic(case in program(), seed in any::<u64>(), one_in in 5_u64..80) {
        let mut disorder = Disorder { random: Random::new(seed), one_in, met: vec![Expr::bool(true)] };
        let functions = case.module.functions.iter().map(|function| {
            PrimFunc { body: disorder.stmt(&function.body), ..function.clone() }
        });
        let module = IrModule { functions: functions.collect(), ..case.module.clone() };
        let limits = Limits { steps_max: 20_000, memory_bytes_max: 1 << 22, ..Limits::default() };
        for interpreter in [Interpreter::new(&module), Interpreter::new(&module).with_bounds()] {
            let mut args = case.args.clone();
            if let Err(error) = interpreter.with_limits(limits).run(&case.function, &mut args) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
        let problems = validate(&module, Stage::Blocks).err().unwrap_or_default();
        prop_assert!(problems.iter().all(|problem| !problem.to_string().is_empty()));
        prop_assert!(!print::module(&module).is_empty());
    }
}
