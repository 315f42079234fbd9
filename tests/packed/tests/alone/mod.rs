//! Tests of kernels without a host: `__chipdock_env` is null, and the code works without an
//! environment.

use chipdock_test_packed::{FLOAT32, Surroundings, Tensor, int, live_workspaces, raise_by_tvm_ffi};

const SCRIPT: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def reverse(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32")):
        n = T.int32()
        E = T.alloc_buffer((n,))
        F = T.alloc_buffer((n,))
        for i in range(n):
            E[i] = A[i]
        assert E[0] < T.float32(100), ("ValueError", ["too large"])
        for i in range(n):
            F[n - 1 - i] = E[i]
        for i in range(n):
            B[i] = F[i]

    @T.prim_func
    def parallel(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32")):
        n = T.int32()
        for i in T.parallel(n):
            F = T.alloc_buffer((512,))
            F[0] = A[i]
            assert F[0] < T.float32(100), ("ValueError", ["too large"])
            B[i] = F[0] + T.float32(1)

    @T.prim_func
    def imports(A: T.Buffer((2,), "int32"), n: T.int32):
        A[0] = T.tvm_call_packed("imported.sum", n)

    @T.prim_func
    def huge(A: T.Buffer((1,), "float32"), n: T.int64):
        E = T.alloc_buffer((n,))
        for i in range(n):
            E[i] = A[0]
        A[0] = E[n - T.int64(1)]

    @T.prim_func
    def spins(A: T.Buffer((1,), "float32"), n: T.int64):
        for i in range(n):
            A[0] = A[0] * T.float32(0.5) + T.float32(1)
"#;

/// One test, in parts: whether the process has TVM-FFI's functions is the same for all of it.
#[test]
fn kernels_need_no_host() {
    let kernels = crate::make(SCRIPT, Surroundings::None);
    let values: Vec<f32> = (0..500).map(|i| i as f32).collect();
    let (mut a, mut b) = (Tensor::f32(&[500], &values), Tensor::new(FLOAT32, &[500]));
    // Workspace of their own, aligned for vectors, and given back: many times what memory has.
    for _ in 0..20_000 {
        kernels.call("reverse", &[a.borrowed(), b.borrowed()]).expect("computed without a host");
    }
    assert_eq!((b.at(0), b.at(499), live_workspaces()), (499.0, 0.0, 0));
    // Parallel loops run one iteration after the other.
    let (mut c, mut d) = (Tensor::f32(&[4], &[1.0, 2.0, 3.0, 4.0]), Tensor::new(FLOAT32, &[4]));
    kernels.call("parallel", &[c.borrowed(), d.borrowed()]).expect("computed without a host");
    assert_eq!((0..4).map(|i| d.at(i)).collect::<Vec<_>>(), [2.0, 3.0, 4.0, 5.0]);

    // X.15: nobody is there to be asked.
    let mut one = Tensor::f32(&[1], &[0.0]);
    kernels.call("spins", &[one.borrowed(), int(1 << 23)]).expect("computed without a host");
    assert_eq!(one.at(0), 2.0);

    // Nobody takes an error: the status tells.
    a.set(0, 200.0);
    let (status, _, raised) = kernels.status("reverse", [a.borrowed(), b.borrowed()].as_ptr(), 2);
    assert_eq!((status, raised), (-1, None));

    // A process that has TVM-FFI takes it.
    raise_by_tvm_ffi();
    let raised = kernels.call("reverse", &[a.borrowed(), b.borrowed()]).expect_err("too large");
    assert_eq!((raised.kind.as_str(), raised.message.as_str()), ("ValueError", "too large"));
    c.set(2, 100.0);
    let raised = kernels.call("parallel", &[c.borrowed(), d.borrowed()]).expect_err("too large");
    assert_eq!(raised.message, "too large");
    let raised = kernels.call("reverse", &[int(1), b.borrowed()]).expect_err("no tensor");
    assert!(
        raised.kind == "TypeError" && raised.message.contains("expected Tensor, but got int"),
        "{raised:?}"
    );
    let raised =
        kernels.call("huge", &[Tensor::f32(&[1], &[1.0]).borrowed(), int(1 << 60)]).expect_err("no memory");
    assert!(raised.message.contains("memory"), "{raised:?}");
    let raised = kernels.call("imports", &[c.borrowed(), int(1)]).expect_err("no tensor of that type");
    assert_eq!(raised.kind, "TypeError");
    let mut e = Tensor::new(chipdock_test_packed::INT32, &[2]);
    let raised = kernels.call("imports", &[e.borrowed(), int(1)]).expect_err("no host to call it through");
    assert!(raised.kind == "Unavailable" && raised.message.contains("imported function"), "{raised:?}");
}
