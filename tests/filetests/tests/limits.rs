//! Tests of the limits of the script reader (rule 7 of the crate), each exactly reached and
//! exceeded by one; and of texts that would take forever, or all memory, if parts of them were
//! processed again and again.

use std::time::{Duration, Instant};

use chipdock_ir::limits;
use chipdock_script::parse;

const HEAD: &str = "@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((8,), \"float32\"), n: T.int32):\n";

/// Returns the error of a text in one line; `None` if it can be read.
fn problem(text: &str) -> Option<String> {
    let errors = parse(text, "f.py").err()?;
    Some(errors.to_string().lines().next().unwrap_or_default().to_owned())
}

/// `make(most)` is read; `make(most + 1)` is refused with `message`.
fn exactly(what: &str, most: usize, message: &str, make: impl Fn(usize) -> String) {
    assert_eq!(problem(&make(most)), None, "{what}: {most}");
    let found = problem(&make(most + 1)).unwrap_or_else(|| panic!("{what}: {} is read", most + 1));
    assert!(found.contains(message), "{what}: {found}");
}

fn body(text: &str) -> String {
    format!("{HEAD}    {text}\n")
}

#[test]
fn each_limit_of_the_text_is_where_it_is_stated() {
    exactly("bytes", 4 << 20, "at most 4194304 are read", |n| {
        let text = body("A[0] = 1.0");
        format!("#{}\n{text}", "x".repeat(n - text.len() - 2))
    });
    exactly("brackets", 256, "brackets nest deeper than 256 levels", |n| {
        body(&format!("A[0] = {}1.0{}", "(".repeat(n), ")".repeat(n)))
    });
    // The function, the store and the innermost name are levels too.
    exactly("expressions", 253, "more than 256 levels", |n| body(&format!("A[n] = {}n", "-".repeat(n))));
    // The store in it and its index are levels too.
    exactly("statements", 254, "nests deeper than 256 levels", |n| {
        let mut text = HEAD.to_owned();
        for depth in 1..=n {
            text += &format!("{}while n > 0:\n", " ".repeat(depth));
        }
        text + &" ".repeat(n + 1) + "A[n] = 1.0\n"
    });
    exactly("names and operators", 4096, "longer than 4096 names and operators", |n| {
        // `x`, `=`, a minus for the odd one, and numbers with comparisons between them.
        let sign = "-".repeat(1 - n % 2);
        format!("x = {sign}{}\n{}", vec!["1"; (n - 2).div_ceil(2)].join(" < "), body("A[0] = 1.0"))
    });
    exactly("lambdas", 64, "more than 64 lambdas in one statement", |n| {
        format!("x = [{}]\n{}", "lambda: 1, ".repeat(n), body("A[0] = 1.0"))
    });
    // Each use of the list copies its thousand numbers.
    exactly("copies", 4000, "makes more than 4000000 nodes", |n| {
        let uses = "    A[0] = L[0]\n".repeat(n);
        format!("L = [{}]\n{HEAD}{uses}", "1, ".repeat(1000))
    });
}

#[test]
fn errors_are_reported_up_to_twenty() {
    for (wrong, reported) in [(19, 19), (20, 20), (21, 20), (2000, 20)] {
        let text = format!("{HEAD}{}", "    A[q] = 1.0\n".repeat(wrong));
        assert_eq!(parse(&text, "f.py").unwrap_err().errors().len(), reported);
    }
}

#[test]
fn limits_of_the_ir_hold_for_texts() {
    let lanes = usize::from(limits::LANES_MAX);
    exactly("lanes", lanes, "1 to 1024 lanes", |n| body(&format!("T.evaluate(T.Broadcast(n, {n}))")));
    exactly("axes", limits::RANK_MAX, "at most 32", |n| {
        body(&format!("B = T.alloc_buffer(({}))", "1, ".repeat(n)))
    });
    exactly("bytes of a string", limits::STRING_BYTES_MAX, "65536", |n| {
        body(&format!("T.call_packed(\"{}\")", "x".repeat(n)))
    });
}

/// Names that copy each other, long lists, many names: what would grow without bound or with the
/// square of the text.
fn hostile() -> Vec<(&'static str, String)> {
    let many = |n: usize, f: &dyn Fn(usize) -> String| (0..n).map(f).collect::<String>();
    let before = |i: usize| i.checked_sub(1).map_or("A".to_owned(), |i| format!("B{i}"));
    let function = |i: usize| format!("@T.prim_func\ndef f{i}(x: T.int32):\n    pass\n");
    let strings =
        "{\"type\":\"ir.StringImm\",\"data\":{\"value\":4}},{\"type\":\"ffi.String\",\"data\":\"x\"}";
    let metadata = format!(
        "metadata = tvm.ir.load_json('{{\"root_index\":0,\"nodes\":[{{\"type\":\"ffi.Map\",\"data\":[1,2]}},\
         {{\"type\":\"ffi.String\",\"data\":\"ir.StringImm\"}},{{\"type\":\"ffi.Array\",\"data\":[{}3]}},{strings}]}}')\n",
        "3,".repeat(50_000)
    );
    let grown = |line: &dyn Fn(usize) -> String, n: usize| format!("{HEAD}{}", many(n, line));
    vec![
        ("functions", many(10_000, &function)),
        ("parameters", format!("@T.prim_func\ndef f({}):\n    pass\n", many(30_000, &|i| format!("p{i}: T.int32, ")))),
        (
            "handles",
            format!(
                "@T.prim_func\ndef f({}):\n{}",
                many(10_000, &|i| format!("p{i}: T.handle, ")),
                many(10_000, &|i| format!("    A{i} = T.match_buffer(p{i}, (4,))\n"))
            ),
        ),
        ("sizes", many(50_000, &|i| format!("N{i} = TypeVar('a')\n")) + &many(5_000, &function)),
        ("unknown names", grown(&|i| format!("    v{i}: T.let = n\n    A[q{i}] = 1.0\n"), 20_000)),
        ("unknown ops", grown(&|i| format!("    T.q{i}(n)\n"), 20_000)),
        ("classes", many(30_000, &|i| format!("class C{i}: pass\n")) + HEAD + &"    x.f()\n".repeat(30_000)),
        (
            "shapes that double",
            grown(&|i| format!("    B{i} = T.alloc_buffer(({p}.shape[0] + {p}.shape[0] + n,))\n", p = before(i)), 60),
        ),
        (
            "shapes that deepen",
            grown(
                &|i| format!("    B{i} = T.alloc_buffer(({}.shape[0] + n{},))\n", before(i), " + n".repeat(100)),
                2000,
            ),
        ),
        ("rounding up", body(&format!("A[0] = {}n{}", "T.ceildiv(n, ".repeat(120), ")".repeat(120)))),
        ("chains", body(&format!("A[0] = {}n{}", "(n < ".repeat(120), " < n)".repeat(120)))),
        ("constants", format!("N = T.int32(3)\n{}{HEAD}    A[N] = 1.0\n", "N = N + N\n".repeat(60))),
        ("lists", format!("L = [{}]\n{HEAD}{}", "1, ".repeat(100_000), "    A[L[0]] = 1.0\n".repeat(20_000))),
        (
            "remaps",
            format!("{HEAD}    for i in range({}n):\n", "n * ".repeat(200))
                + &"        with T.sblock('b'):\n            v = T.axis.remap('S', [i])\n            A[v] = 1.0\n"
                    .repeat(10_000),
        ),
        (
            "metadata",
            metadata + HEAD + &"    assert n > 0, ('E', [metadata['ir.StringImm'][7]])\n".repeat(20_000),
        ),
        ("one long line", body(&format!("T.tvm_thread_allreduce({})", "1, ".repeat(200_000)))),
        ("shuffles", format!("L = [{}]\n{HEAD}{}", "0, ".repeat(60_000), "    T.Shuffle([n], L)\n".repeat(20_000))),
    ]
}

#[test]
fn nothing_grows_with_the_square_of_the_text() {
    for (what, text) in hostile() {
        let start = Instant::now();
        let _ = parse(&text, "f.py");
        // Each takes below a second; what is looked at again and again takes minutes.
        assert!(start.elapsed() < Duration::from_secs(30), "{what}: {:?}", start.elapsed());
    }
}
