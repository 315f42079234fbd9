//! Tests of wrong calls of a compiled kernel: each raises a typed error that names the parameter
//! and both values, and the kernel stays usable.

use chipdock_host::{Any, AnyView, Device, Error, Function, Tensor};
use chipdock_ir::DType;
use chipdock_test_backends::run;
use chipdock_test_backends::{host, on_each, on_each_host};

const KERNEL: &str = "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def add(A: T.Buffer((\"n\", 4), \"float32\"), B: T.Buffer((n, 4), \"float32\"), c: T.int8, x: T.float32):
        n = T.int32()
        T.func_attr({\"tirx.noalias\": True})
        for i, j in T.grid(n, 4):
            with T.sblock(\"B\"):
                vi, vj = T.axis.remap(\"SS\", [i, j])
                B[vi, vj] = A[vi, vj] * x + T.Cast(\"float32\", c)
";

fn tensor(device: &Device, shape: &[i64], dtype: DType) -> Tensor {
    Tensor::zeros(device, shape, dtype).expect("allocated")
}

fn good(device: &Device, add: &Function) {
    let a = Tensor::from_slice(device, &[2, 4], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).expect("made");
    let b = tensor(device, &[2, 4], DType::FLOAT32);
    add.call(&[AnyView::from(&a), AnyView::from(&b), (-3_i64).into(), 2.0.into()]).expect("a good call");
    assert_eq!(b.to_vec::<f32>().expect("read"), [-1.0, 1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0]);
}

/// Expects a failure of that kind whose message holds every word.
fn refused(result: Result<Any, Error>, kind: &str, words: &[&str]) {
    let error = result.err().unwrap_or_else(|| panic!("expected {kind} with {words:?}, found success"));
    assert_eq!(error.kind().as_str(), kind, "{error}");
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "expected \"{word}\" in: {text}");
    }
}

#[test]
fn wrong_calls_have_typed_errors() {
    let host = host();
    on_each(&host, |backend| {
        let module = chipdock_script::parse(KERNEL, "add.py").expect("a good kernel");
        let loaded = run::build(&host, backend, &module).expect("built");
        let add = loaded.function("add").expect("there");
        let device = &backend.device;
        let (a, b) = (tensor(device, &[2, 4], DType::FLOAT32), tensor(device, &[2, 4], DType::FLOAT32));
        let (a, b) = (AnyView::from(&a), AnyView::from(&b));
        let (c, x): (AnyView<'_>, AnyView<'_>) = (1_i64.into(), 1.0.into());
        good(device, &add);

        refused(add.call(&[a, b, c]), "TypeError", &["4 arguments", "3"]);
        refused(add.call(&[a, c, c, x]), "TypeError", &["argument #1", "Tensor"]);
        refused(add.call(&[a, ().into(), c, x]), "TypeError", &["argument #1", "Tensor"]);
        let text = Any::from("a string that is an object");
        refused(add.call(&[a, text.view(), c, x]), "TypeError", &["argument #1", "Tensor"]);
        let other = tensor(device, &[2, 4, 1], DType::FLOAT32);
        refused(
            add.call(&[a, (&other).into(), c, x]),
            "ValueError",
            &["B.ndim", "argument #1", "expected 2", "3"],
        );
        let other = tensor(device, &[2, 4], DType::FLOAT16);
        refused(add.call(&[a, (&other).into(), c, x]), "TypeError", &["B.dtype", "argument #1", "float32"]);
        let other = tensor(device, &[3, 4], DType::FLOAT32);
        refused(
            add.call(&[a, (&other).into(), c, x]),
            "ValueError",
            &["B.shape[0]", "argument #1", "A.shape[0]", "2", "3"],
        );
        let other = tensor(device, &[2, 5], DType::FLOAT32);
        refused(
            add.call(&[(&other).into(), b, c, x]),
            "ValueError",
            &["A.shape[1]", "argument #0", "4", "5"],
        );
        let wide = tensor(device, &[2, 8], DType::FLOAT32);
        let strided = wide.strided(&[2, 4], &[8, 2], 0).expect("a view");
        refused(
            add.call(&[(&strided).into(), b, c, x]),
            "ValueError",
            &["A.strides", "argument #0", "compact"],
        );
        refused(add.call(&[a, b, 128_i64.into(), x]), "ValueError", &["c", "argument #2", "128"]);
        refused(add.call(&[a, b, x, x]), "TypeError", &["argument #2", "int"]);
        refused(add.call(&[a, b, c, text.view()]), "TypeError", &["argument #3", "float"]);
        good(device, &add);
    });
}

#[test]
fn tensors_may_start_at_any_element_and_be_empty() {
    let host = host();
    on_each(&host, |backend| {
        let module = chipdock_script::parse(KERNEL, "add.py").expect("a good kernel");
        let add = run::build(&host, backend, &module).expect("built").function("add").expect("there");
        let whole: Vec<f32> = (0..13).map(|value| value as f32).collect();
        let whole = Tensor::from_slice(&backend.device, &[13], &whole).expect("made");
        for start in 0..6 {
            let a = whole.strided(&[2, 4], &[4, 1], start).expect("a view");
            let b = tensor(&backend.device, &[2, 4], DType::FLOAT32);
            add.call(&[(&a).into(), (&b).into(), 1_i64.into(), 1_i64.into()])
                .expect("any element may be the first");
            let expected: Vec<f32> = (0..8).map(|value| (value + start + 1) as f32).collect();
            assert_eq!(b.to_vec::<f32>().expect("read"), expected);
        }
        let empty = tensor(&backend.device, &[0, 4], DType::FLOAT32);
        add.call(&[(&empty).into(), (&empty).into(), 1_i64.into(), 1.0.into()]).expect("nothing to do");
    });
}

#[test]
fn a_kernel_may_be_called_from_many_threads() {
    let host = host();
    on_each(&host, |backend| {
        let module = chipdock_script::parse(KERNEL, "add.py").expect("a good kernel");
        let add = run::build(&host, backend, &module).expect("built").function("add").expect("there");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..200).for_each(|_| good(&backend.device, &add)));
            }
        });
    });
}

/// Views of regions whose extents, strides and offset only a call tells.
const VIEWS: &str = "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def views(A: T.Buffer((16, 16), \"int32\"), B: T.Buffer((4,), \"int32\"), n: T.int32, s: T.int32, at: T.int32):
        for i in range(4):
            with T.sblock(\"B\"):
                vi = T.axis.spatial(4, i)
                V = T.match_buffer(A[vi * 4:vi * 4 + 4, 0:16], (n, 16), \"int32\", strides=(s, 1), elem_offset=vi * 64 + at)
                B[vi] = V[n - 1, 1]
";

/// ir: IR-B7.
#[test]
fn views_that_are_not_their_regions_have_typed_errors() {
    let host = host();
    on_each_host(&host, |backend| {
        let module = chipdock_script::parse(VIEWS, "views.py").expect("a good kernel");
        let loaded = run::build(&host, backend, &module).expect("built");
        let views = loaded.function("views").expect("there");
        let values: Vec<i32> = (0..256).collect();
        let a = Tensor::from_slice(&backend.device, &[16, 16], &values).expect("made");
        let b = tensor(&backend.device, &[4], DType::INT32);
        let (a, b_) = (AnyView::from(&a), AnyView::from(&b));
        let call = |n: i64, s: i64, at: i64| views.call(&[a, b_, n.into(), s.into(), at.into()]);
        refused(call(5, 16, 0), "ValueError", &["shape[0] of the view V", "(4), found 5"]);
        refused(call(4, 15, 0), "ValueError", &["strides[0] of the view V", "(16), found 15"]);
        refused(call(4, 16, 3), "ValueError", &["elem_offset of the view V", "(0), found 3"]);
        call(4, 16, 0).expect("a good call");
        assert_eq!(b.to_vec::<i32>().expect("read"), [49, 113, 177, 241]);
    });
}
