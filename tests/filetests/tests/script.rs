//! The script reader on the corpus: what is read is printed and read again to the same.

use chipdock_ir::{Child, Expr, Span, equal, print};
use chipdock_test_support::{bless, corpus, filetests};

/// Runs `check` on each file of the corpus and reports every failure.
fn each(check: impl Fn(&chipdock_test_support::CorpusFile) -> Result<(), String>) {
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
        bless(&filetests().join("golden").join(&file.name), &print::module(&read))
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

#[test]
fn regions_that_leave_a_buffer_out_are_added_and_told() {
    // Rule 8 of the crate.
    let path = filetests().join("corpus/construct/hints.py");
    let text = std::fs::read_to_string(path).unwrap();
    let script = chipdock_script::parse_with_warnings(&text, "hints.py").unwrap();
    let told: Vec<String> = script.warnings.iter().map(ToString::to_string).collect();
    let line = |place: &str, function: &str, block: &str, verb: &str, buffers: &str| {
        format!(
            "{place}: in {function}: block `{block}` {verb} {buffers}, which its T.{verb}(...) leaves out; all of it was \
             added"
        )
    };
    // What a block allocates, views and writes it need not say; nor is anything said of regions that are whole.
    assert_eq!(
        told,
        [
            line("23:18", "nothing_said", "scatter", "reads", "`A`, `I0`"),
            line("23:18", "nothing_said", "scatter", "writes", "`B`"),
            line("32:18", "within", "outer", "writes", "`B`"),
            line("39:26", "within", "inner", "reads", "`A`"),
            line("39:26", "within", "inner", "writes", "`C`"),
        ]
    );
    // What was added is all of the buffer, and then nothing is left out.
    let printed = print::module(&script.module);
    assert!(
        printed.contains("T.reads(A[0:8], I0[0:8])") && printed.contains("T.writes(D[vj], C[0:8])"),
        "{printed}"
    );
    let again = chipdock_script::parse_with_warnings(&printed, "printed.py").unwrap();
    assert!(again.warnings.is_empty(), "{:?}", again.warnings);
}
