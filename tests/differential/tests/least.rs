//! Quotients of numbers that are negations of one another, at the ends of their type, on every
//! backend: the least integer is its own negation (IR-N1), so that its quotients are equal where
//! those of all others differ in sign.

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::DType;
use chipdock_test_backends::{hold, host, on_each, outputs, run};

/// Pairs of terms in `n` and `m`, of which the second is the negation of the first.
const PAIRS: &[(&str, &str)] = &[
    ("n", "0 - n"),
    ("n", "n * -1"),
    ("n", "T.bitwise_not(n) + 1"),
    ("n * 3", "n * -3"),
    ("n - m", "m - n"),
    ("n + 1", "T.bitwise_not(n)"),
    ("n", "T.Select(n < 0, 0 - n, n)"),
    ("n", "T.abs(n)"),
];

/// The quotients and remainders of two terms by constants and by `k`, which follow each other in B.
fn kernel(dtype: &str) -> (String, usize) {
    let mut body = String::new();
    let mut count = 0;
    for (one, other) in PAIRS {
        for op in ["T.floordiv", "T.truncdiv", "T.floormod", "T.truncmod"] {
            for (of, by) in
                [(one, "10"), (other, "10"), (one, "k"), (other, "k"), (one, "0 - k"), (one, "-7")]
            {
                body += &format!("            B[vi + {count}] = {op}({of}, {by})\n");
                count += 1;
            }
        }
    }
    let text = format!(
        "@T.prim_func(s_tir=True)\ndef f(n: T.{dtype}, m: T.{dtype}, k: T.{dtype}, B: T.Buffer(({count},), \"{dtype}\")):\n    \
         for i in range(1):\n        with T.sblock(\"B\"):\n            vi = T.axis.spatial(1, i)\n{body}"
    );
    (text, count)
}

#[test]
fn quotients_of_negated_numbers_at_the_ends() {
    let host = host();
    for dtype in [DType::INT32, DType::INT64] {
        let (text, count) = kernel(&dtype.to_string());
        let module =
            chipdock_script::parse(&text, "k.py").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let (least, most) = dtype.integer_range().expect("an integer");
        let interpreter = Interpreter::new(&module);
        let mut calls = Vec::new();
        for n in [least, least + 1, -1, 0, 12345, most] {
            for (m, k) in [(0, 10), (most, least), (n, -7), (1, 1 << 20)] {
                let mut args =
                    vec![Arg::Int(n), Arg::Int(m), Arg::Int(k), Arg::Tensor(Array::zeros(dtype, &[count]))];
                let given = args.clone();
                calls.push((given, interpreter.run("f", &mut args).expect("interpreted").outputs));
            }
        }
        on_each(&host, |backend| {
            let loaded = run::build(&host, backend, &module).expect("built");
            let f = loaded.function("f").expect("there");
            for (args, expected) in &calls {
                let found = outputs(backend, &f, args).expect("a good call");
                hold(expected, &found).unwrap_or_else(|why| panic!("{:?}: {why}\n{text}", &args[..3]));
            }
        });
    }
}
