//! The script reader on the corpus: what is read is printed and read again to the same.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use chipdock_filetests::{bless, corpus, root};
use chipdock_ir::{Child, Expr, Span, equal, print};

/// Runs `check` on each file of the corpus and reports every failure.
fn each(check: impl Fn(&chipdock_filetests::CorpusFile) -> Result<(), String>) {
    let files = corpus().unwrap();
    assert!(files.len() > 40, "the corpus is missing: {} files", files.len());
    let failures: Vec<String> = files
        .iter()
        .filter_map(|file| check(file).err().map(|why| format!("{}: {why}", file.name)))
        .collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), files.len(), failures.join("\n"));
}

#[test]
fn what_is_read_prints_and_reads_back_equal() {
    each(|file| {
        let read = chipdock_script::parse(&file.text, &file.name).map_err(|errors| errors.to_string())?;
        let printed = print::module(&read);
        let again = chipdock_script::parse(&printed, "printed.py")
            .map_err(|errors| format!("the printed form is refused:\n{errors}\n{printed}"))?;
        equal::modules(&read, &again).map_err(|why| format!("read back it differs: {why}\n{printed}"))?;
        let twice = print::module(&again);
        if twice == printed { Ok(()) } else { Err(format!("printed again it differs:\n{printed}\n{twice}")) }
    });
}

#[test]
fn what_is_printed_is_the_golden() {
    each(|file| {
        let read = chipdock_script::parse(&file.text, &file.name).map_err(|errors| errors.to_string())?;
        bless(&root().join("golden").join(&file.name), &print::module(&read))
    });
}

#[test]
fn every_node_knows_its_place() {
    // Rule 5 of the crate.
    each(|file| {
        let read = chipdock_script::parse(&file.text, &file.name).map_err(|errors| errors.to_string())?;
        let mut lost = Vec::new();
        let mut look = |expr: &Expr| {
            if expr.span == Span::NONE {
                lost.push(print::expr_line(expr));
            }
        };
        let mut lost_stmts = Vec::new();
        for function in &read.functions {
            function.body.walk(&mut |child| match child {
                Child::Expr(expr) => expr.walk(&mut look),
                Child::Stmt(stmt) if stmt.span == Span::NONE => lost_stmts.push(print::stmt_line(stmt)),
                Child::Stmt(_) => {}
            });
        }
        lost.extend(lost_stmts);
        if lost.is_empty() { Ok(()) } else { Err(format!("without a place: {}", lost.join("; "))) }
    });
}

#[test]
fn places_are_those_of_the_text() {
    let text = "@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((8,), \"float32\")):\n    for i in range(8):\n        A[i] = A[i] + T.exp(A[0])\n";
    let read = chipdock_script::parse(text, "f.py").unwrap();
    let mut places = Vec::new();
    read.functions[0].body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child {
            places.push((stmt.span.line, stmt.span.column));
        }
    });
    read.functions[0].body.walk_exprs(&mut |expr| {
        if let chipdock_ir::ExprKind::Call { .. } = expr.kind {
            places.push((expr.span.line, expr.span.column));
        }
    });
    assert_eq!(places, [(3, 5), (4, 9), (4, 23)]);
}
