//! Checks that no wrong input makes the script reader panic. Each file of `bad/` is a test of
//! `corpus`.

use chipdock_ir::{equal, print};
use chipdock_script::parse;
use chipdock_test_support::corpus;
use proptest::prelude::*;

/// A function whose body is given.
fn function(body: &str) -> String {
    let body = body.replace('\n', "\n    ");
    format!("@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((8,), \"float32\"), n: T.int32):\n    {body}\n")
}

/// Returns the first line of the first error of a text.
fn first_error(text: &str) -> String {
    let errors = parse(text, "f.py").expect_err("an error is expected");
    errors.to_string().lines().next().unwrap_or_default().to_owned()
}

#[test]
fn deep_nesting_is_refused() {
    // Rule 7 of the crate: each of these would overflow the stack of a recursive reader.
    let deep = |open: &str, middle: &str, close: &str, times: usize| {
        format!("{}{middle}{}", open.repeat(times), close.repeat(times))
    };
    let (n, m) = (200_000, 10_000);
    let bodies = [
        ("round brackets", format!("A[0] = {}", deep("(", "n", ")", n))),
        ("square brackets", format!("A[0] = {}", deep("[", "n", "]", n))),
        ("open brackets", "(".repeat(n)),
        ("closing brackets", format!("A[0] = {}", deep("( ]", "n", ")", n))),
        ("minus", format!("A[0] = {}n", "-".repeat(n))),
        ("not", format!("A[0] = {}n", "not ".repeat(n))),
        ("await", format!("A[0] = {}n", "await ".repeat(n))),
        ("sum", format!("A[0] = {}n", "n + ".repeat(n))),
        ("shallow sum", format!("A[0] = {}n", "n + ".repeat(1000))),
        ("power", format!("A[0] = {}2", "2 ** ".repeat(n))),
        ("comparison", format!("A[0] = {}n", "n < ".repeat(n))),
        ("and", format!("A[0] = {}n", "n and ".repeat(1000))),
        ("conditional", format!("A[0] = {}n", "n if n else ".repeat(n))),
        ("attributes", format!("A{}", ".data".repeat(n))),
        ("calls", format!("A{}", "()".repeat(n))),
        ("subscripts", format!("A{}", "[0]".repeat(n))),
        ("lambdas", format!("A[0] = {}n", "lambda x, y: ".repeat(m))),
        ("lambdas in a call", format!("g({}n)", "lambda x, y: ".repeat(m))),
        ("one-line ifs", format!("{}pass", "if n, m: ".repeat(n))),
        ("dictionaries", format!("T.func_attr({})", deep("{'a': ", "1", "}", m))),
        ("launches", "t = T.launch_thread('threadIdx.x', 4)\n".repeat(m)),
        ("attributes of statements", "T.attr({'k': 1})\n".repeat(m)),
        ("else-ifs", format!("if n > 0:\n    A[0] = 1.0\n{}", "elif n > 1:\n    A[0] = 1.0\n".repeat(m))),
        ("loops of a grid", format!("for {} in T.grid({}): pass", "i, ".repeat(1000), "8, ".repeat(1000))),
        ("items of a with", format!("with {}T.attr({{'k': 1}}): pass", "T.attr({'k': 1}), ".repeat(1000))),
        ("a quoted size", format!("B = T.alloc_buffer((\"{}\",))", deep("(", "n", ")", n))),
        ("a formatted string", format!("x = {}n{}", "f'{".repeat(n), "}'".repeat(n))),
    ];
    for (what, body) in bodies {
        let message = first_error(&function(&body));
        assert!(message.starts_with("f.py:"), "{what}: {message}");
    }
    let brackets = format!("A[0] = {}", deep("(", "n", ")", 300));
    assert!(first_error(&function(&brackets)).contains("brackets nest deeper than 256 levels"));
    let mut nested = String::new();
    for depth in 0..1000 {
        nested += &format!("{}if n > 0:\n", " ".repeat(depth));
    }
    assert!(first_error(&function(&nested)).contains("deeper than 256"), "ifs");
    let long = format!("# {}\n", "x".repeat(5 << 20));
    assert!(first_error(&long).contains("at most 4194304 are read"), "size");
}

#[test]
fn a_long_flat_document_is_read() {
    let mut body = String::from("A[0] = 1.0\n");
    body += &"A[n] = A[n] + 1.0\n".repeat(5000);
    assert!(parse(&function(&body), "f.py").is_ok());
    let items = "1, ".repeat(20_000);
    assert!(parse(&function(&format!("T.func_attr({{\"a\": [{items}]}})")), "f.py").is_ok());
}

#[test]
fn odd_bytes_are_errors_or_text() {
    for text in [
        "", "\0", "\u{feff}", "\r\r\r", "\\", "\\\n", "'", "\"\"\"", "'''\\", "(", ")", "\u{2028}", "é",
        "\t\x0c", "@", "#",
    ] {
        assert!(parse(text, "f.py").is_err(), "{text:?}");
        let _ = parse(&function(text), "f.py");
        let _ = parse(&format!("{}{text}", function("A[0] = 1.0")), "f.py");
    }
}

/// Pieces that mean something somewhere in a script.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ".",
    "=",
    "==",
    "+",
    "-",
    "*",
    "//",
    "%",
    "<",
    "not ",
    " and ",
    " if ",
    " else ",
    "\n",
    "    ",
    "\"",
    "T.",
    "T.int64",
    "T.int32()",
    "T.float32",
    "T.Ramp(0, 1, 4)",
    "T.axis.spatial",
    "T.sblock(\"x\")",
    "T.init()",
    "T.launch_thread(\"threadIdx.x\", 4)",
    "n",
    "A",
    "0",
    "1.5",
    "-1",
    "True",
    "None",
    "9223372036854775808",
    "\"n\"",
    "é",
    "#",
    "lambda x: ",
    "with ",
    "for i in ",
    "return ",
    "@",
    "...",
    "\\",
    "\0",
];

/// A text with a few pieces cut out, put in, or exchanged.
fn mutated(text: &str, edits: &[(usize, usize, usize)]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for (at, cut, piece) in edits {
        let at = at % (chars.len() + 1);
        let end = (at + cut).min(chars.len());
        let piece = PIECES.get(*piece).copied().unwrap_or_default();
        chars.splice(at..end, piece.chars());
    }
    chars.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(
        file in 0_usize..1000,
        edits in prop::collection::vec((0_usize..100_000, 0_usize..12, 0_usize..60), 1..4),
    ) {
        let files = corpus().unwrap();
        let text = mutated(&files[file % files.len()].text, &edits);
        let lines = text.lines().count().max(1);
        match parse(&text, "f.py") {
            Ok(module) => {
                let printed = print::module(&module);
                let again = parse(&printed, "printed.py")
                    .map_err(|errors| TestCaseError::fail(format!("{errors}\n{printed}")))?;
                prop_assert_eq!(equal::modules(&module, &again), Ok(()), "{}", printed);
            }
            Err(errors) => {
                prop_assert!(!errors.errors().is_empty());
                for error in errors.errors() {
                    prop_assert!(!error.message.contains("a bug of ours"), "{}", errors);
                    prop_assert!(error.line as usize <= lines + 1, "{} of {}: {}", error.line, lines, errors);
                    prop_assert!(error.column as usize <= error.source_line.chars().count() + 2, "{}", errors);
                }
            }
        }
    }
}
