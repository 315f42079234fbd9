//! Checks that constructs that a backend for host memory does not support are refused by name,
//! before anything is compiled.

use chipdock_host::{CompileOptions, Error, Host, Scheduling};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::{host, on_each_host};

fn kernel(body: &str) -> String {
    format!(
        "@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def bound(A: T.Buffer((64,), \"float32\"), \
         B: T.Buffer((64,), \"float32\")):\n{body}"
    )
}

fn compile(host: &Host, backend: &Backend, text: &str) -> Result<(), Error> {
    let module = chipdock_script::parse(text, "k.py").unwrap_or_else(|errors| panic!("{errors}"));
    let options = CompileOptions { schedule: Scheduling::None, ..CompileOptions::default() };
    host.compile(&module, &backend.target, &options).map(drop)
}

/// DESIGN §7: thread bindings on a CPU target are rejected, by name.
#[test]
fn kernels_bound_to_threads_are_refused_by_name() {
    let host = host();
    let thread =
        kernel("        for i in T.thread_binding(64, thread=\"threadIdx.x\"):\n            B[i] = A[i]\n");
    let block =
        kernel("        for i in T.thread_binding(64, thread=\"blockIdx.x\"):\n            B[i] = A[i]\n");
    let texture = kernel(
        "        S = T.alloc_buffer((64,), scope=\"texture\")\n        for i in range(64):\n            S[i] = A[i]\n        \
         for i in range(64):\n            B[i] = S[i]\n",
    );
    on_each_host(&host, |backend| {
        for (text, words) in [(&thread, "threadIdx.x"), (&block, "blockIdx.x"), (&texture, "texture")] {
            let error = compile(&host, backend, text).expect_err(words);
            let text = error.to_string() + &format!("{:?}", error.diagnostics());
            assert!(["ValueError", "Unsupported"].contains(&error.kind().as_str()), "{error:?}");
            assert!(
                text.contains(words) && text.contains("bound"),
                "expected {words} and the kernel in: {text}"
            );
        }
    });
}

/// Everything that is refused is told at once.
#[test]
fn every_fault_of_a_kernel_is_reported() {
    let host = host();
    let text = kernel(
        "        for i in T.thread_binding(64, thread=\"threadIdx.x\"):\n            B[i] = A[i]\n        for j in \
         T.thread_binding(64, thread=\"threadIdx.y\"):\n            B[j] = A[j]\n",
    );
    on_each_host(&host, |backend| {
        let error = compile(&host, backend, &text).expect_err("refused");
        let text = error.to_string() + &format!("{:?}", error.diagnostics());
        assert!(text.contains("threadIdx.x") && text.contains("threadIdx.y"), "{text}");
    });
}
