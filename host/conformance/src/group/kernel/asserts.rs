//! Assertions in kernels: a failing one reports its kind and message, and nothing after it is
//! executed.

use chipdock_interpret::{Arg, Array};

use crate::execute::{self, Guards, Ready, Value};
use crate::stop::ensure;
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

/// One case: the function and its `n`, the expected kind and words of the error, and the number of
/// elements written before it.
struct Row {
    name: &'static str,
    function: &'static str,
    n: i64,
    error: Option<(&'static str, &'static str)>,
    n_written: usize,
}

const ROWS: &[Row] = &[
    Row { name: "holds", function: "checked", n: 5, error: None, n_written: 4 },
    Row {
        name: "fails",
        function: "checked",
        n: 100,
        error: Some(("ValueError", "n is too large")),
        n_written: 1,
    },
    Row {
        name: "plain",
        function: "checked",
        n: -2,
        error: Some(("RuntimeError", "n must not be negative")),
        n_written: 0,
    },
    Row {
        name: "kind",
        function: "checked",
        n: 60,
        error: Some(("IndexError", "sixty is not allowed")),
        n_written: 2,
    },
    Row {
        name: "in-loop",
        function: "looped",
        n: 2,
        error: Some(("ValueError", "found the place")),
        n_written: 2,
    },
    Row { name: "in-loop-never", function: "looped", n: 77, error: None, n_written: 4 },
    Row {
        name: "in-callee",
        function: "calls",
        n: 3,
        error: Some(("ValueError", "three is refused")),
        n_written: 1,
    },
    Row { name: "in-callee-holds", function: "calls", n: 4, error: None, n_written: 2 },
];

const MODULE: &str = "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def checked(A: T.Buffer((4,), \"int32\"), n: T.int32):
        assert n >= 0, \"n must not be negative\"
        A[0] = 1
        assert n < 90, (\"ValueError\", [\"n is \", \"too large\"])
        A[1] = 1
        assert n != 60, (\"IndexError\", [\"sixty is not allowed\"])
        A[2] = 1
        A[3] = 1

    @T.prim_func(s_tir=True)
    def looped(A: T.Buffer((4,), \"int32\"), n: T.int32):
        for i in range(4):
            assert i != n, (\"ValueError\", [\"found the place\"])
            A[i] = 1

    @T.prim_func(private=True)
    def callee(n: T.int32) -> T.int32:
        assert n != 3, (\"ValueError\", [\"three is refused\"])
        return 1

    @T.prim_func(s_tir=True)
    def calls(A: T.Buffer((4,), \"int32\"), n: T.int32):
        A[0] = 1
        x = Module.callee(n)
        A[1] = x
";

pub(super) fn add(cases: &mut Cases) {
    for row in ROWS {
        cases
            .case(Group::Kernel, format!("assert/{}", row.name), "C.18", Subject::Codegen)
            .run(move |c| run(c, row));
    }
}

fn run(c: &Context, row: &Row) -> Verdict {
    let ready = c.cached("kernel/assert", || {
        let module = chipdock_script::parse(MODULE, "assert.py").map_err(Stop::suite)?;
        execute::build(c, &module)
    })?;
    let (module, device) = match &*ready {
        Ready::Callable(module, device) => (module, device),
        Ready::Built(why) => {
            c.not_run(why.as_str());
            return Ok(());
        }
    };
    let args =
        [Arg::Tensor(Array::from_int(chipdock_ir::DType::INT32, &[4], &[0; 4])), Arg::Int(row.n.into())];
    let values = execute::upload(device, &args, Guards::BEHIND)?;
    let views: Vec<_> = values.iter().map(Value::view).collect();
    let answer = module.function(row.function)?.call(&views).map(drop);
    match (&answer, row.error) {
        (Ok(()), None) => {}
        (Err(error), Some((kind, words))) => {
            let found = format!("{}: {error}", error.kind().as_str());
            let fits = error.kind().as_str() == kind && error.to_string().contains(words);
            ensure(fits, format!("{kind} that says \"{words}\""), found)?;
        }
        (Ok(()), Some((kind, words))) => {
            return Err(Stop::failed(format!("{kind} that says \"{words}\""), "success"));
        }
        (Err(error), None) => {
            return Err(Stop::failed("success", format!("{}: {error}", error.kind().as_str())));
        }
    }
    let Some(Value::Tensor(tensor)) = values.first() else { return Err(Stop::suite("no tensor")) };
    let written = tensor.read("A")?.to_int();
    // Elements before the failing assertion may or may not be written; those after it must not be.
    let (before, behind) = written.split_at(row.n_written);
    let is_right =
        behind.iter().all(|value| *value == 0) && (answer.is_err() || before.iter().all(|v| *v == 1));
    let n = row.n_written;
    ensure(
        is_right,
        format!("A with 1 in its first {n} elements at most, and 0 behind"),
        format!("{written:?}"),
    )
}
