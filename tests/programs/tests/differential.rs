//! Random programs through print and parse, and through the passes: the interpreter gives the same before and after.

use std::sync::Arc;

use chipdock_ir::interpret::{Arg, Array, Interpreter};
use chipdock_ir::{IrModule, Stage, Target, TargetFacts, equal, print, validate::validate};
use chipdock_passes::{PIPELINE, lower_intrinsics};
use chipdock_test_programs::{Case, program};
use proptest::prelude::*;

/// A host of no particular kind.
fn facts() -> TargetFacts {
    TargetFacts {
        target: Arc::new(Target { kind: "test".into(), ..Target::default() }),
        device_type: 1,
        device: "cpu".into(),
        stage: Stage::Host,
        is_host: true,
        thread_axes: Vec::new(),
        storage_scopes: vec!["global".into(), "local".into()],
        threads_per_block_max: None,
        shared_memory_bytes_max: None,
        warp_size: None,
        function_args_max: None,
        native_ops: Vec::new(),
    }
}

/// Holds what a module gives for the case's arguments against the case.
fn check(case: &Case, module: &IrModule, after: &str) -> Result<(), TestCaseError> {
    let mut args: Vec<Arg> = case.args.clone();
    let outcome = Interpreter::new(module).run(&case.function, &mut args).map_err(|error| {
        TestCaseError::fail(format!("after {after}: {error}\n{}\n{}", case.text(), print::module(module)))
    })?;
    let arrays: Vec<Array> = outcome.outputs.into_iter().map(|output| output.array).collect();
    case.check(&arrays)
        .map_err(|error| TestCaseError::fail(format!("after {after}: {error}\n{}", print::module(module))))
}

fn valid(module: &IrModule, stage: Stage, after: &str) -> Result<(), TestCaseError> {
    validate(module, stage).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        TestCaseError::fail(format!("after {after}: {}\n{}", problems.join("\n"), print::module(module)))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_programs_read_back_as_they_were(case in program()) {
        let text = print::module(&case.module);
        let read = chipdock_script::parse(&text, "case.py").map_err(|errors| TestCaseError::fail(format!("{errors:?}\n{text}")))?;
        equal::modules(&case.module, &read).map_err(|difference| TestCaseError::fail(format!("{difference}\n{text}")))?;
        check(&case, &read, "print and parse")?;
    }

    #[test]
    fn passes_keep_what_a_program_computes(case in program()) {
        let facts = facts();
        let mut module = case.module.clone();
        let mut path = String::new();
        for (_, name, pass) in PIPELINE.iter().filter(|(stage, ..)| *stage <= Stage::Flattened) {
            module = pass(&module, &facts).map_err(|error| TestCaseError::fail(format!("{name}: {error}\n{case:?}")))?;
            path = format!("{path} {name}");
            check(&case, &module, &path)?;
        }
        valid(&module, Stage::Flattened, &path)?;
        // Of the passes of hosts, the one that keeps the function what it is.
        let lowered = lower_intrinsics(&module, &facts).map_err(|error| TestCaseError::fail(error.to_string()))?;
        check(&case, &lowered, "lower_intrinsics")?;
    }
}
