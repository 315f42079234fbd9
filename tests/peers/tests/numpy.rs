//! Compares the interpreter with numpy, ml_dtypes, mpmath and the rules written out in `peer.py`.

use std::collections::BTreeSet;

use chipdock_ir::Stage;
use chipdock_ir::validate::validate;
use chipdock_ir::{BinaryOp, Op};
use chipdock_peers::cases::{Operation, module};
use chipdock_peers::judge::{Summary, hold, interpret};
use chipdock_peers::python::{ask, python};
use chipdock_peers::table::Tables;
use chipdock_peers::{cases, not_computed};

// PEERS-P1.
#[test]
fn every_operation_has_a_case_or_a_reason() {
    let all = cases();
    for op in Op::ALL {
        let has_case = all.iter().any(|case| case.operation == Operation::Op(*op));
        let has_reason = not_computed(*op).is_some();
        assert!(has_case != has_reason, "{}: a case {has_case}, a reason {has_reason}", op.name());
    }
    let names: BTreeSet<String> = all.iter().map(|case| case.name()).collect();
    assert_eq!(names.len(), all.len(), "two cases of one name");
    let module = module(&all, &mut Tables::default());
    validate(&module, Stage::Blocks).expect("every case is well-typed");
    assert!(all.iter().any(|case| case.operation == Operation::Binary(BinaryOp::FloorMod)));
}

// PEERS-P2 to PEERS-P4.
#[test]
fn the_interpreter_agrees() {
    let all = cases();
    let mut tables = Tables::default();
    let Some(python) = python(&format!("the interpreter against numpy: {} operations on types", all.len()))
    else {
        return;
    };
    let answers = ask(&python, &all, &mut tables).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(answers.len(), all.len());
    let mut summary = Summary::default();
    let mut wrong = Vec::new();
    for (case, (answer, peer)) in all.iter().zip(&answers) {
        let table = tables.get(case.table.0, case.table.1);
        match interpret(case, table) {
            Err(error) => wrong.push(format!("{}: {error}", case.name())),
            Ok(output) => {
                let verdict = hold(case, table, &output, answer);
                summary.add(case, peer, &verdict);
                if let Some(first) = &verdict.first {
                    wrong.push(format!(
                        "{}: {} of {} wrong, {first}",
                        case.name(),
                        verdict.n_wrong,
                        verdict.n_rows
                    ));
                }
            }
        }
    }
    println!("{}", summary.text());
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}
