//! Tests of overlapping parameters: without `tirx.noalias` they are views of the same memory, and a
//! kernel executes its statements one after the other.

use chipdock_host::{AnyView, Tensor};
use chipdock_ir::DType;
use chipdock_test_backends::run;
use chipdock_test_backends::{host, hosts, on_each};

/// `body` over A and B, of 64 elements each.
fn kernel(body: &str) -> String {
    format!(
        "@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def f(A: T.Buffer((64,), \"float32\"), B: \
         T.Buffer((64,), \"float32\")):\n{body}"
    )
}

/// Runs a kernel on every backend with one tensor for both parameters, and holds what it leaves
/// there.
fn in_place(body: &str, start: &[f32], expected: &[f32]) {
    let host = host();
    let text = kernel(body);
    let module = chipdock_script::parse(&text, "alias.py").unwrap_or_else(|errors| panic!("{errors}"));
    on_each(&host, |backend| {
        let loaded = run::build(&host, backend, &module).expect("built");
        let f = loaded.function("f").expect("there");
        let a = Tensor::from_slice(&backend.device, &[64], start).expect("made");
        f.call(&[AnyView::from(&a), AnyView::from(&a)]).expect("a good call");
        assert_eq!(a.to_vec::<f32>().expect("read"), expected);
    });
}

/// ir: IR-B2.
#[test]
fn a_running_sum_in_place() {
    let start = [1.0_f32; 64];
    let body = "        for i in range(63):\n            B[i + 1] = A[i] + T.float32(1)\n";
    let expected: Vec<f32> = (1..=64).map(|n| n as f32).collect();
    in_place(body, &start, &expected);
}

/// ir: IR-B2. Blocks say that spatial iterations are independent, of one buffer; two buffers may
/// still overlap.
#[test]
fn statements_of_two_blocks_in_place() {
    let start: Vec<f32> = (0..64).map(|n| n as f32).collect();
    let body = "        for i in range(64):
            with T.sblock(\"B\"):
                vi = T.axis.spatial(64, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(64):
            with T.sblock(\"A\"):
                vi = T.axis.spatial(64, i)
                A[vi] = B[vi] + T.float32(1)
";
    let expected: Vec<f32> = (0..64).map(|n| 2.0 * n as f32 + 1.0).collect();
    in_place(body, &start, &expected);
}

/// Pointers that are declared anew with another element type, while the memory is also used with
/// its own: as an argument of a function, by way of a second one, bound to a name, as a view.
#[test]
fn memory_with_two_types() {
    const TEXT: &str = r#"
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def negate(p: T.handle("int32"), n: T.int32):
        P = T.decl_buffer((n,), "int32", data=p)
        for i in range(n):
            P[i] = T.bitwise_xor(P[i], -2147483647 - 1)

    @T.prim_func(private=True)
    def negate_again(p: T.handle("int32"), n: T.int32):
        Module.negate(p, n)

    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(8):
            A[i] = T.Cast("float32", i) + T.float32(1)
        Module.negate(A.data, 2)
        Module.negate_again(T.address_of(A[2]), 1)
        p: T.let[T.handle("int32")] = T.address_of(A[4])
        P = T.decl_buffer((1,), "int32", data=p)
        Q = T.decl_buffer((1,), "int32", data=T.address_of(A[5]))
        P[0] = T.bitwise_xor(P[0], -2147483647 - 1)
        Q[0] = T.bitwise_xor(Q[0], -2147483647 - 1)
        for i in range(8):
            B[i] = A[i]
"#;
    let host = host();
    let module = chipdock_script::parse(TEXT, "types.py").unwrap_or_else(|errors| panic!("{errors}"));
    // Functions of memory are the host's.
    for backend in hosts(&host) {
        let loaded = run::build(&host, &backend, &module).expect("built");
        let f = loaded.function("f").expect("there");
        let [a, b] = [(); 2].map(|()| Tensor::zeros(&backend.device, &[8], DType::FLOAT32).expect("made"));
        f.call(&[AnyView::from(&a), AnyView::from(&b)]).expect("a good call");
        assert_eq!(b.to_vec::<f32>().expect("read"), [-1.0, -2.0, -3.0, 4.0, -5.0, -6.0, 7.0, 8.0]);
    }
}
