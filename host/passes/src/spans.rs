//! The span of a pass (rule PASS-L5).

use std::collections::HashSet;

use chipdock_ir::{Child, Expr, IrModule, Stmt, TargetCapabilities};
use tracing::field::Empty;

use crate::PassError;
use crate::lower::Pass;

/// Runs a pass in its span.
pub(crate) fn run(
    name: &str,
    pass: Pass,
    module: &IrModule,
    capabilities: &TargetCapabilities,
) -> Result<IrModule, PassError> {
    let span = tracing::debug_span!(
        "pass",
        pass = name,
        functions = Empty,
        statements = Empty,
        expressions = Empty,
        functions_after = Empty,
        statements_after = Empty,
        expressions_after = Empty
    );
    if span.is_disabled() {
        return pass(module, capabilities);
    }
    let before = Size::of(module);
    span.record("functions", before.functions);
    span.record("statements", before.statements);
    span.record("expressions", before.expressions);
    // The cost of counting is not part of the pass: the span is entered for its work alone.
    let done = span.in_scope(|| pass(module, capabilities));
    if let Ok(module) = &done {
        let after = Size::of(module);
        span.record("functions_after", after.functions);
        span.record("statements_after", after.statements);
        span.record("expressions_after", after.expressions);
    }
    done
}

/// The size of a module, in nodes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Size {
    functions: u64,
    statements: u64,
    expressions: u64,
}

impl Size {
    fn of(module: &IrModule) -> Self {
        let mut count = Count::default();
        for function in &module.functions {
            count.stmt(&function.body);
        }
        let Count { statements, expressions } = count;
        Self {
            functions: module.functions.len() as u64,
            statements: statements.len() as u64,
            expressions: expressions.len() as u64,
        }
    }
}

/// Addresses of the visited nodes: the number of paths to a shared node may be astronomical.
#[derive(Default)]
struct Count {
    statements: HashSet<usize>,
    expressions: HashSet<usize>,
}

impl Count {
    fn stmt(&mut self, stmt: &Stmt) {
        if self.statements.insert(Stmt::address(stmt)) {
            stmt.for_each_child(&mut |child| match child {
                Child::Expr(expr) => self.expr(expr),
                Child::Stmt(stmt) => self.stmt(stmt),
            });
        }
    }

    fn expr(&mut self, expr: &Expr) {
        if self.expressions.insert(expr.address()) {
            expr.for_each_child(&mut |child| self.expr(child));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chipdock_ir::{BinaryOp, Stage, ThreadAxis, build};
    use chipdock_test_support::spans::seen;
    use tracing::Level;

    use super::*;
    use crate::{DEVICE_PIPELINE, LowerOptions, PIPELINE, lower};

    /// `B = A + A`, in which the load of A is one node.
    fn module() -> IrModule {
        let mut f = build::function("twice");
        let n = f.size("n");
        let a = f.buffer("A", &n, chipdock_ir::DType::FLOAT32);
        let b = f.buffer("B", &n, chipdock_ir::DType::FLOAT32);
        f.grid(["i"], &n, |f, [i]| {
            let x = a.at(&i);
            f.store(&b, &i, x.clone() + x);
        });
        build::module([f.finish()])
    }

    /// PASS-L5.
    #[test]
    fn pass_l5_each_pass_has_its_span() {
        for is_host in [true, false] {
            let stage = if is_host { Stage::Host } else { Stage::Device };
            let thread_axes =
                if is_host { Vec::new() } else { vec![ThreadAxis::BlockX, ThreadAxis::ThreadX] };
            let capabilities = TargetCapabilities::host("toy").with(|it| {
                it.is_host = is_host;
                it.stage = stage;
                it.execution.thread_axes = thread_axes;
            });
            let options = LowerOptions { stage, ..LowerOptions::new(Arc::new(capabilities)) };
            let (lowered, spans) = seen(Level::DEBUG, || lower(&module(), &options).unwrap());
            let mut expected: Vec<&str> =
                PIPELINE.iter().filter(|(at, ..)| *at <= stage).map(|(_, name, _)| *name).collect();
            expected.extend(DEVICE_PIPELINE.iter().filter(|_| !is_host).map(|(name, _)| *name));
            let passes: Vec<_> = spans.iter().filter(|span| span.name == "pass").collect();
            assert_eq!(passes.iter().map(|span| &*span.fields["pass"]).collect::<Vec<_>>(), expected);
            assert!(passes.iter().all(|span| span.within == ["lower"] && span.level == Level::DEBUG));
            for pair in passes.windows(2).take(PIPELINE.iter().filter(|(at, ..)| *at <= stage).count() - 1) {
                assert_eq!(pair[0].fields["expressions_after"], pair[1].fields["expressions"]);
            }
            if is_host {
                let size = Size::of(&lowered.module);
                let last = passes.last().unwrap();
                assert_eq!(last.fields["functions_after"], size.functions.to_string());
                assert_eq!(last.fields["statements_after"], size.statements.to_string());
            }
            let (_, spans) = seen(Level::INFO, || lower(&module(), &options).unwrap());
            assert_eq!(spans.iter().map(|span| span.name).collect::<Vec<_>>(), ["lower"]);
        }
    }

    /// PASS-L5: also where the ways to a node are more than anybody can count.
    #[test]
    fn pass_l5_a_shared_node_is_counted_once() {
        let (one, base) = (Size::of(&module()), Expr::i32(1));
        assert_eq!((one.functions, one.statements), (1, 2), "a loop and a store");
        let mut count = Count::default();
        let shared = (0..100).fold(base, |x, _| Expr::binary(BinaryOp::Add, x.clone(), x));
        count.expr(&shared);
        assert_eq!(count.expressions.len(), 101);
    }
}
