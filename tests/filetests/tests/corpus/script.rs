//! Checks the script reader: a module that was read is equal after printing and reading it again.

use chipdock_ir::{Child, Expr, Span, equal, print};
use chipdock_test_support::lists::List;
use chipdock_test_support::{CorpusFile, bless, filetests};

use crate::support::read;

pub(crate) fn tests(list: List, corpus: &[CorpusFile]) -> List {
    list.each("a_module_prints_and_reads_back_equal", corpus, a_module_prints_and_reads_back_equal)
        .each("the_output_is_the_golden", corpus, the_output_is_the_golden)
        .each("every_node_knows_its_place", corpus, every_node_knows_its_place)
}

fn a_module_prints_and_reads_back_equal(file: &CorpusFile) -> Result<(), String> {
    let read = read(file)?;
    let printed = print::module(&read);
    let again = chipdock_script::parse(&printed, "printed.py")
        .map_err(|errors| format!("the printed form is refused:\n{errors}\n{printed}"))?;
    equal::modules(&read, &again).map_err(|why| format!("read back it differs: {why}\n{printed}"))?;
    let twice = print::module(&again);
    if twice == printed { Ok(()) } else { Err(format!("printed again it differs:\n{printed}\n{twice}")) }
}

fn the_output_is_the_golden(file: &CorpusFile) -> Result<(), String> {
    bless(&filetests().join("golden").join(&file.name), &print::module(&read(file)?))
}

/// Rule 5 of the crate.
fn every_node_knows_its_place(file: &CorpusFile) -> Result<(), String> {
    let (mut lost, mut lost_stmts) = (Vec::new(), Vec::new());
    let mut look = |expr: &Expr| {
        if expr.span == Span::NONE {
            lost.push(print::expr_line(expr));
        }
    };
    for function in &read(file)?.functions {
        function.body.walk(&mut |child| match child {
            Child::Expr(expr) => expr.walk(&mut look),
            Child::Stmt(stmt) if stmt.span == Span::NONE => lost_stmts.push(print::stmt_line(stmt)),
            Child::Stmt(_) => {}
        });
    }
    lost.extend(lost_stmts);
    if lost.is_empty() { Ok(()) } else { Err(format!("without a place: {}", lost.join("; "))) }
}
