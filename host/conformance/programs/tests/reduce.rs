//! The reducer (PROG-R1 to PROG-R4): the reduced program is short and still fails.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use chipdock_ir::{
    BinaryOp, Child, Expr, ExprKind, IrModule, PrimFunc, Stage, Stmt, print, validate::validate,
};
use chipdock_programs::{Case, Failure, Options, ProgramCheck, arbitrary, reduce, reduce_case};

/// Lines of the kernel itself.
fn n_lines(module: &IrModule) -> usize {
    let text = print::module(module);
    text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#')).count()
}

/// A pass with a bug: floor division of integers becomes truncating division.
fn wrong_pass(module: &IrModule) -> IrModule {
    fn expr(e: &Expr) -> Expr {
        let e = e.map_children(&mut expr);
        match &e.kind {
            ExprKind::Binary(BinaryOp::FloorDiv, a, b) => Expr::binary(BinaryOp::Div, a.clone(), b.clone()),
            _ => e,
        }
    }
    fn stmt(s: &Stmt) -> Stmt {
        s.map_children(&mut expr, &mut stmt)
    }
    let functions =
        module.functions.iter().map(|function| PrimFunc { body: stmt(&function.body), ..function.clone() });
    IrModule { functions: functions.collect(), ..module.clone() }
}

fn check(case: &Case) -> Result<(), Failure> {
    case.check_same(&wrong_pass(&case.module)).map_err(|error| Failure::new("wrong_pass", error))
}

/// PROG-R1, PROG-R2: of every program that shows the bug, a kernel of a few lines is left, which
/// shows it.
#[test]
fn prog_r1_a_bug_is_left_of_it_in_a_few_lines() {
    let options = Options::default();
    let failing: Vec<Case> =
        (0..).map(|seed| arbitrary(seed, &options)).filter(|case| check(case).is_err()).take(12).collect();
    for case in failing {
        let small = reduce_case(&case, &mut |case| check(case).is_err());
        assert!(check(&small).is_err());
        validate(&small.module, Stage::Blocks).unwrap();
        small.run(&small.module).unwrap();
        assert!(n_lines(&small.module) <= 15, "{small:?}");
        let n_values: usize = small.args.len();
        assert!(n_values <= 3, "{small:?}");
    }
}

/// PROG-R1 of a property that is no failure: a loop over vectors.
#[test]
fn prog_r1_any_property_of_a_module_stays() {
    let property = |module: &IrModule| print::module(module).contains("T.vectorized(");
    let options = Options::default();
    let modules = (0..).map(|seed| arbitrary(seed, &options).module).filter(property).take(10);
    for module in modules {
        let small = reduce(&module, &mut |module| property(module));
        assert!(property(&small));
        // Its parameters stay, and no function that it could call.
        let mut n_stmts = 0;
        small.functions[0].body.walk(&mut |child| n_stmts += usize::from(matches!(child, Child::Stmt(_))));
        assert!(small.functions.len() == 1 && n_stmts <= 2, "{}", print::module(&small));
    }
}

/// PROG-R4.
#[test]
fn prog_r4_it_gives_the_same_again() {
    let options = Options::default();
    let case = (0..).map(|seed| arbitrary(seed, &options)).find(|case| check(case).is_err()).unwrap();
    let [a, b] = [(); 2].map(|()| reduce_case(&case, &mut |case| check(case).is_err()).text());
    assert_eq!(a, b);
}

/// A failing check writes the kernel, and says where it is and how to repeat it.
#[test]
fn a_failing_check_leaves_a_kernel_file() {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let failing = ProgramCheck::new("a_failing_check_leaves_a_kernel_file", folder).programs(10_000);
    let panic = catch_unwind(AssertUnwindSafe(|| failing.run(check))).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    let start = message.find(folder).unwrap();
    let path = message[start..].lines().next().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(path.ends_with(".py") && text.contains("wrong_pass"), "{text}");
    assert!(text.contains("# Repeat: CHIPDOCK_PROGRAMS_SEED=") && text.lines().count() <= 30, "{text}");
    // It is a kernel that the script's reader takes as it is.
    let module = chipdock_script::parse(&text, "left.py").unwrap();
    assert!(module.function("kernel").is_some());
    println!("{text}");
}
