//! Tests of targets whose code a host launches on a device: every device backend present is checked
//! against the interpreter and against the rules of launches, streams and memory.

mod corpus;
mod crowd;
mod graphs;
mod lowered;
mod misuse;
mod promises;
mod random;
mod streams;
mod timelines;
mod trees;

use chipdock_host::{CompileOptions, Error, Function, Host, Module, Scheduling, Tensor};
use chipdock_ir::IrModule;
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;

/// Functions of a module `Module`, each indented as in a class.
fn parse(functions: &str) -> IrModule {
    let text = format!("@I.ir_module\nclass Module:\n{functions}");
    chipdock_script::parse(&text, "k.py").unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

fn build(host: &Host, backend: &Backend, functions: &str) -> Module {
    run::build(host, backend, &parse(functions))
        .unwrap_or_else(|error| panic!("{}: {error}", backend.target.kind))
}

fn compile(host: &Host, backend: &Backend, functions: &str, schedule: Scheduling) -> Result<(), Error> {
    let options = CompileOptions { schedule, ..CompileOptions::default() };
    host.compile(&parse(functions), &backend.target, &options).map(drop)
}

/// A failure's words, diagnostics with them.
fn words(error: &Error) -> String {
    format!("{error} {:?}", error.diagnostics())
}

/// Expects a failure of that kind whose message holds every word.
fn refused<T>(result: Result<T, Error>, kinds: &[&str], expected: &[&str]) -> String {
    let error = result.err().unwrap_or_else(|| panic!("expected {kinds:?} with {expected:?}, found success"));
    let text = words(&error);
    assert!(
        kinds.contains(&error.kind().as_str()),
        "expected {kinds:?}, found {}: {text}",
        error.kind().as_str()
    );
    for word in expected {
        assert!(text.contains(word), "expected \"{word}\" in: {text}");
    }
    text
}

/// A kernel that needs every thread of a block: what came last goes first, through shared memory.
const REVERSE: &str = "    @T.prim_func(s_tir=True)
    def reverse(A: T.Buffer((\"n\",), \"int32\"), B: T.Buffer((n,), \"int32\")):
        n = T.int32()
        T.func_attr({\"tirx.noalias\": True})
        for bx in T.thread_binding((n + 63) // 64, thread=\"blockIdx.x\"):
            S = T.alloc_buffer((64,), \"int32\", scope=\"shared\")
            for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
                if bx * 64 + tx < n:
                    S[63 - tx] = A[bx * 64 + tx] + 1
                else:
                    S[63 - tx] = 0
                T.tvm_storage_sync(\"shared\")
                if bx * 64 + tx < n:
                    B[bx * 64 + tx] = S[tx]
";

/// Returns the result of [`REVERSE`] for these values.
fn reversed(values: &[i32]) -> Vec<i32> {
    let block = |block: &[i32]| {
        let mut padded: Vec<i32> = block.iter().map(|value| value + 1).collect();
        padded.resize(64, 0);
        padded.reverse();
        padded.truncate(block.len());
        padded
    };
    values.chunks(64).flat_map(block).collect()
}

/// Checks a call of [`REVERSE`].
fn good(backend: &Backend, reverse: &Function, n: i32) {
    let values: Vec<i32> = (0..n).map(|value| value * 3 - 7).collect();
    let a = Tensor::from_slice(&backend.device, &[n.into()], &values).expect("made");
    let b = Tensor::from_slice(&backend.device, &[n.into()], &vec![-1_i32; n as usize]).expect("made");
    reverse.call(&[(&a).into(), (&b).into()]).expect("a good call");
    assert_eq!(b.to_vec::<i32>().expect("read"), reversed(&values), "{n} elements");
}
