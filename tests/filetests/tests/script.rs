//! Tests of the positions of nodes in a text, and of the parts that the script reader adds.

use chipdock_ir::{Child, print};
use chipdock_test_support::filetests;

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
fn regions_that_omit_a_buffer_are_added_and_reported() {
    // Rule 8 of the crate.
    let path = filetests().join("corpus/construct/hints.py");
    let text = std::fs::read_to_string(path).unwrap();
    let script = chipdock_script::parse_with_warnings(&text, "hints.py").unwrap();
    let warnings: Vec<String> = script.warnings.iter().map(ToString::to_string).collect();
    let line = |place: &str, function: &str, block: &str, verb: &str, buffers: &str| {
        format!(
            "{place}: in {function}: block `{block}` {verb} {buffers}, which its T.{verb}(...) leaves out; all of it was \
             added"
        )
    };
    // What a block allocates, views and writes it need not say; nor is anything said of regions
    // that are whole.
    assert_eq!(
        warnings,
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
