//! What the generator promises (G1 to G4), and that what it draws is worth drawing.

use chipdock_ir::interpret::{Arg, Array, Interpreter};
use chipdock_ir::{Child, DType, ExprKind, ForKind, IrModule, Stage, StmtKind, validate::validate};
use chipdock_test_programs::{Case, Config, program, program_with};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

fn run(case: &Case) -> Result<Vec<Array>, String> {
    let outcome = Interpreter::new(&case.module).run(&case.function, &mut case.args.clone());
    let outcome = outcome.map_err(|error| format!("{error}\n{}", case.text()))?;
    Ok(outcome.outputs.into_iter().map(|output| output.array).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn g1_g2_programs_validate_and_run(case in program()) {
        if let Err(problems) = validate(&case.module, Stage::Blocks) {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            return Err(TestCaseError::fail(problems.join("\n")));
        }
        // The interpreter agrees with itself, with and without bounds.
        let arrays = run(&case).map_err(TestCaseError::fail)?;
        case.check(&arrays).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn g2_shrunk_programs_still_run() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..30 {
        let mut tree = program().new_tree(&mut runner).unwrap();
        for step in 0..200 {
            let case = tree.current();
            assert!(validate(&case.module, Stage::Blocks).is_ok(), "{case:?}");
            run(&case).unwrap();
            let moved = if step % 3 == 0 { tree.complicate() } else { tree.simplify() };
            if !moved && !tree.simplify() {
                break;
            }
        }
    }
}

#[test]
fn g4_a_case_prints_its_inputs_and_its_kernel() {
    let case = program().new_tree(&mut TestRunner::deterministic()).unwrap().current();
    let text = case.text();
    assert!(text.starts_with("# A0 = ") && text.contains("def kernel("), "{text}");
}

/// Which of the things worth drawing a module has.
fn features(module: &IrModule, seen: &mut std::collections::BTreeSet<String>) {
    for function in &module.functions {
        if !function.alloc_buffers.is_empty() {
            seen.insert("allocated tensor".into());
        }
        function.body.walk(&mut |child| {
            if let Child::Stmt(stmt) = child {
                match &stmt.kind {
                    StmtKind::For { kind, extent, .. } => {
                        seen.insert(format!("{kind:?} loop"));
                        if extent.as_int().is_none() {
                            seen.insert("symbolic extent".into());
                        }
                    }
                    StmtKind::BlockRealize { block, predicate, .. } => {
                        seen.insert("block".into());
                        if block.init.is_some() {
                            seen.insert("reduction".into());
                        }
                        if predicate.as_int().is_none() {
                            seen.insert("predicate".into());
                        }
                    }
                    StmtKind::While { .. } => drop(seen.insert("while".into())),
                    StmtKind::If { .. } => drop(seen.insert("if".into())),
                    StmtKind::Bind { .. } => drop(seen.insert("bind".into())),
                    StmtKind::AllocBuffer { .. } => drop(seen.insert("alloc".into())),
                    _ => {}
                }
            }
        });
        function.body.walk_exprs(&mut |expr| {
            seen.insert(format!("a value of type {}", expr.dtype));
            match &expr.kind {
                ExprKind::Select(..) => drop(seen.insert("select".into())),
                ExprKind::Let { .. } => drop(seen.insert("let".into())),
                ExprKind::Cast(from) => drop(seen.insert(format!("cast from {}", from.dtype))),
                ExprKind::Call { callee, .. } => drop(seen.insert(format!("{callee:?}"))),
                ExprKind::Binary(op, ..) => drop(seen.insert(format!("{op:?}"))),
                _ => {}
            }
        });
    }
}

#[test]
fn a_few_hundred_programs_have_it_all() {
    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeSet::new();
    let (mut n_lanes, mut n_unbounded) = (0, 0);
    for _ in 0..400 {
        let case = program().new_tree(&mut runner).unwrap().current();
        features(&case.module, &mut seen);
        for output in case.expected().unwrap().outputs {
            n_lanes += output.array.n_lanes();
            n_unbounded += output.n_unbounded();
        }
    }
    let expected = [
        "Serial loop",
        "Parallel loop",
        "Unrolled loop",
        "Vectorized loop",
        "symbolic extent",
        "block",
        "reduction",
        "predicate",
        "while",
        "if",
        "bind",
        "alloc",
        "allocated tensor",
        "select",
        "let",
        "cast from float16",
        "cast from bool",
        "Op(IfThenElse)",
        "Op(Exp)",
        "Op(Tanh)",
        "Op(Rsqrt)",
        "Op(Sqrt)",
        "Op(ShiftLeft)",
        "FloorDiv",
        "FloorMod",
        "Div",
        "Mod",
        "Max",
        "Min",
    ];
    for feature in expected {
        assert!(seen.contains(feature), "no {feature} in {seen:?}");
    }
    // A bound that says nothing tests nothing.
    assert!(n_unbounded * 10 < n_lanes, "{n_unbounded} of {n_lanes} lanes have no bound");
}

#[test]
fn a_config_is_kept() {
    let config = Config {
        types: vec![DType::FLOAT32],
        vectorized: false,
        while_loops: false,
        symbolic: false,
        special_values: false,
        ..Config::default()
    };
    let mut runner = TestRunner::deterministic();
    for _ in 0..100 {
        let case = program_with(config.clone()).new_tree(&mut runner).unwrap().current();
        let mut seen = std::collections::BTreeSet::new();
        features(&case.module, &mut seen);
        let vectorized = format!("{:?} loop", ForKind::Vectorized);
        assert!(!seen.contains("while") && !seen.contains(&vectorized) && !seen.contains("symbolic extent"));
        for arg in &case.args {
            if let Arg::Tensor(array) = arg {
                assert!(
                    array.dtype == DType::FLOAT32 && array.to_f64().iter().all(|value| value.is_finite())
                );
            }
        }
    }
}
