//! Tests of the argument check of `make_packed_api`, call by call, and of workspace on every exit.
//! Each test file beside this folder runs all of them on kernels that were made callable in its own
//! way.

use std::sync::OnceLock;

use chipdock_abi::{ChipdockAny, ChipdockDataType};
use chipdock_test_packed::{
    FLOAT32, IMPORTS, INT32, Kernels, Raised, Surroundings, Tensor, any, asked, float, go_on_for, int,
    limit_workspaces, live_workspaces, location, take_questions,
};

const SCRIPT: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def add(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32"), C: T.Buffer((n,), "float32")):
        n = T.int32()
        for i in range(n):
            C[i] = A[i] + B[i]

    @T.prim_func
    def fixed(A: T.Buffer((2, 3), "float32"), B: T.Buffer((2, 3), "float32")):
        for i, j in T.grid(2, 3):
            B[i, j] = A[i, j] * T.float32(2)

    @T.prim_func
    def grow(A: T.Buffer(("n",), "float32"), B: T.Buffer((n * 2,), "float32")):
        n = T.int32()
        for i in range(n):
            B[i] = A[i]

    @T.prim_func
    def later(A: T.Buffer((n * 2,), "float32"), B: T.Buffer(("n",), "float32")):
        n = T.int32()
        for i in range(n):
            B[i] = A[i * 2]

    @T.prim_func
    def scalars(B: T.Buffer((4,), "float32"), i: T.int32, b: T.int8, u: T.uint8, p: T.bool, x: T.float32):
        B[0] = T.Cast("float32", i)
        B[1] = T.Cast("float32", b)
        B[2] = T.Cast("float32", u) + T.Cast("float32", p)
        B[3] = x

    @T.prim_func
    def sized(n: T.int32, A: T.Buffer((n,), "float32")):
        for i in range(n):
            A[i] = T.float32(1)

    @T.prim_func
    def strided(a: T.handle, B: T.Buffer((3, 2), "float32")):
        n = T.int32()
        s = T.int32()
        A = T.match_buffer(a, (n, 2), "float32", strides=(s, 1))
        for i, j in T.grid(3, 2):
            B[i, j] = A[i, j]

    @T.prim_func
    def reverse(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32")):
        n = T.int32()
        E = T.alloc_buffer((n,))
        F = T.alloc_buffer((n,))
        for i in range(n):
            E[i] = A[i]
        assert E[0] < T.float32(100), ("ValueError", ["too large"])
        for i in range(n):
            F[i] = E[n - 1 - i]
        for i in range(n):
            B[i] = F[i] + E[i]

    @T.prim_func
    def parallel(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32")):
        n = T.int32()
        E = T.alloc_buffer((n,))
        for i in range(n):
            E[i] = A[i]
        for i in T.parallel(n):
            F = T.alloc_buffer((512,))
            F[0] = E[i]
            assert F[0] < T.float32(100), ("ValueError", ["too large"])
            B[i] = F[0] + T.float32(1)

    @T.prim_func
    def twice(x: T.int32) -> T.int32:
        if x > 100:
            return 200
        return x * 2

    @T.prim_func
    def mean(A: T.Buffer(("n",), "float32")) -> T.float32:
        n = T.int32()
        E = T.alloc_buffer((n,))
        for i in range(n):
            E[i] = A[i]
        assert E[0] < T.float32(100), ("ValueError", ["too large"])
        for i in range(n):
            if i > 0:
                E[0] = E[0] + E[i]
        return E[0] / T.Cast("float32", n)

    @T.prim_func
    def wide(x: T.int64, h: T.float16) -> T.bool:
        return x > T.int64(5) and h > T.float16(0.5)

    @T.prim_func
    def half(h: T.float16) -> T.float16:
        return h * T.float16(3)

    @T.prim_func
    def calls(A: T.Buffer((8,), "int32"), n: T.int32):
        A[0] = Module.twice(n) + 1
        A[1] = T.if_then_else(n > 3, Module.twice(n - 3), -1)
        if n > 0 and Module.twice(n) < 10:
            A[2] = 1
        A[3] = 0
        while Module.twice(A[3]) < 10:
            A[3] = A[3] + 1
        T.evaluate(Module.twice(n))

    @T.prim_func
    def spins(A: T.Buffer((4,), "float32"), n: T.int64):
        E = T.alloc_buffer((2000,))
        for i in range(2000):
            E[i] = A[1]
        for i in range(n):
            A[0] = A[0] * T.float32(0.5) + E[i % T.int64(2000)]

    @T.prim_func
    def turns(A: T.Buffer((4,), "float32"), n: T.int64):
        E = T.alloc_buffer((2000,))
        E[0] = T.Cast("float32", n)
        while E[0] > A[0]:
            A[0] = A[0] + A[1]

    @T.prim_func
    def imports(A: T.Buffer((8,), "int32"), n: T.int32, x: T.float32):
        A[0] = T.tvm_call_packed("imported.sum", n, x, T.bool(True))
        A[1] = T.if_then_else(n > 5, T.tvm_call_packed("nobody"), 7)
        T.evaluate(T.tvm_call_packed("imported.sum", A.data))

    @T.prim_func
    def imports_float(A: T.Buffer((8,), "int32")):
        A[0] = T.tvm_call_packed("imported.float")
"#;

fn kernels() -> &'static Kernels {
    static KERNELS: OnceLock<Kernels> = OnceLock::new();
    KERNELS.get_or_init(|| crate::make(SCRIPT, Surroundings::Host))
}

fn call(name: &str, args: &[ChipdockAny]) -> Result<(), Raised> {
    kernels().call(name, args)
}

const ADD: &str = "add(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))";

/// Asserts that the call was refused with that kind, `what`, the signature, and `expected`.
fn refused(result: Result<(), Raised>, kind: &str, what: &str, expected: &str) {
    let raised = result.expect_err(what);
    let (head, rest) = raised.message.split_once(" when calling:\n  `").expect("the form of TVM's messages");
    let (_, tail) = rest.split_once("`,\n  ").expect("the signature, then what was expected");
    assert_eq!((raised.kind.as_str(), head, tail), (kind, what, expected));
}

/// Three tensors of n elements: 0, 1, 2, ...; all tens; zeros.
fn three(n: i64) -> [Tensor; 3] {
    let counted: Vec<f32> = (0..n).map(|i| i as f32).collect();
    [Tensor::f32(&[n], &counted), Tensor::f32(&[n], &vec![10.0; n as usize]), Tensor::new(FLOAT32, &[n])]
}

fn add([a, b, c]: &mut [Tensor; 3]) -> Result<(), Raised> {
    call("add", &[a.borrowed(), b.borrowed(), c.borrowed()])
}

fn sums(c: &Tensor, n: usize) -> Vec<f32> {
    (0..n).map(|i| c.at(i)).collect()
}

#[test]
fn good_calls_compute() {
    for n in [1, 7, 16, 100] {
        let mut tensors = three(n);
        add(&mut tensors).unwrap();
        let expected: Vec<f32> = (0..n).map(|i| i as f32 + 10.0).collect();
        assert_eq!(sums(&tensors[2], n as usize), expected);
    }
}

#[test]
fn tensors_come_as_objects_too() {
    let [mut a, mut b, mut c] = three(5);
    call("add", &[a.object(), b.borrowed(), c.object()]).unwrap();
    assert_eq!(sums(&c, 5), [10.0, 11.0, 12.0, 13.0, 14.0]);
}

#[test]
fn the_count_is_checked_before_anything_is_read() {
    let message = "Expected 3 arguments";
    refused(kernels().call_with_count("add", std::ptr::null(), 2), "TypeError", message, "but got 2");
    refused(kernels().call_with_count("add", std::ptr::null(), -1), "TypeError", message, "but got -1");
    let null = kernels().call_with_count("add", std::ptr::null(), 3);
    refused(null, "TypeError", "args pointer is NULL", "expected a non-NULL pointer");
}

#[test]
fn a_message_names_the_signature() {
    let raised = kernels().call_with_count("add", std::ptr::null(), 2).unwrap_err();
    assert_eq!(raised.message, format!("Expected 3 arguments when calling:\n  `{ADD}`,\n  but got 2"));
}

/// Any object passed where a Tensor belongs is a TypeError; what it is called is said.
#[test]
fn nothing_but_a_tensor_is_a_tensor() {
    let [mut a, _, mut c] = three(4);
    let found = [
        (0, "None"),
        (1, "int"),
        (2, "bool"),
        (3, "float"),
        (4, "a pointer"),
        (8, "str"),
        (11, "str"),
        (65, "str"),
        (67, "a value with type index 67"),
        (68, "a function"),
        (69, "a value with type index 69"),
        (71, "an array"),
        (-5, "a value with type index -5"),
        (1000, "a value with type index 1000"),
    ];
    for (type_index, name) in found {
        let mut wrong = a.borrowed();
        wrong.type_index = type_index;
        let result = call("add", &[a.borrowed(), wrong, c.borrowed()]);
        let expected = format!("expected Tensor, but got {name}");
        refused(result, "TypeError", "Mismatched type on argument #1", &expected);
    }
    let null = call("add", &[a.borrowed(), any(7, 0), c.borrowed()]);
    refused(null, "TypeError", "Mismatched type on argument #1", "expected Tensor, but got a NULL pointer");
}

#[test]
fn rank_and_dtype_are_checked() {
    let mut tensors = three(4);
    tensors[0] = Tensor::new(FLOAT32, &[2, 2]);
    refused(add(&mut tensors), "ValueError", "Mismatched A.ndim on argument #0", "expected 1, but got 2");
    for (code, bits, lanes, name) in [
        (2, 64, 1, "float64"),
        (2, 16, 1, "float16"),
        (0, 32, 1, "int32"),
        (1, 8, 1, "uint8"),
        (4, 16, 1, "bfloat16"),
        (6, 8, 1, "bool"),
        (2, 32, 4, "dtype code 2 of 32 bits and 4 lanes"),
        (9, 32, 1, "dtype code 9 of 32 bits and 1 lanes"),
    ] {
        let mut tensors = three(4);
        tensors[2].fields().dtype = ChipdockDataType { code, bits, lanes };
        let expected = format!("expected float32, but got {name}");
        refused(add(&mut tensors), "TypeError", "Mismatched C.dtype on argument #2", &expected);
    }
}

#[test]
fn devices_are_checked() {
    let mut tensors = three(4);
    tensors[1].fields().device.device_type = 2;
    let expected = "expected cpu (device type 1), but got device type 2";
    refused(add(&mut tensors), "ValueError", "Mismatched B.device_type on argument #1", expected);
    let mut tensors = three(4);
    tensors[2].fields().device.device_id = 3;
    let expected = "expected to match A.device_id (0), but got 3";
    refused(add(&mut tensors), "ValueError", "Mismatched C.device_id on argument #2", expected);
    // Another number is fine, as long as it is everybody's.
    let mut tensors = three(4);
    tensors.iter_mut().for_each(|tensor| tensor.fields().device.device_id = 3);
    add(&mut tensors).unwrap();
    assert_eq!(sums(&tensors[2], 4), [10.0, 11.0, 12.0, 13.0]);
}

#[test]
fn shapes_are_checked() {
    let mut tensors = three(4);
    tensors[1] = Tensor::new(FLOAT32, &[5]);
    let expected = "expected to match A.shape[0] (4), but got 5";
    refused(add(&mut tensors), "ValueError", "Mismatched B.shape[0] on argument #1", expected);
    let (mut a, mut b) = (Tensor::new(FLOAT32, &[2, 4]), Tensor::new(FLOAT32, &[2, 3]));
    let result = call("fixed", &[a.borrowed(), b.borrowed()]);
    refused(result, "ValueError", "Invalid A.shape[1] on argument #0", "expected 3, but got 4");
    let (mut a, mut b) = (Tensor::new(FLOAT32, &[3]), Tensor::new(FLOAT32, &[5]));
    let result = call("grow", &[a.borrowed(), b.borrowed()]);
    refused(result, "ValueError", "Mismatched B.shape[0] on argument #1", "expected n * 2 (6), but got 5");
    let (mut a, mut b) = (Tensor::new(FLOAT32, &[5]), Tensor::new(FLOAT32, &[3]));
    let result = call("later", &[a.borrowed(), b.borrowed()]);
    refused(result, "ValueError", "Mismatched A.shape[0] on argument #0", "expected n * 2 (6), but got 5");
    let (mut a, mut b) = (Tensor::f32(&[6], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), Tensor::new(FLOAT32, &[3]));
    call("later", &[a.borrowed(), b.borrowed()]).unwrap();
    assert_eq!(sums(&b, 3), [0.0, 2.0, 4.0]);
}

/// Extents are compared as they are, in 64 bits: nothing is cut first.
#[test]
fn extents_that_do_not_fit_are_refused() {
    for extent in [1_i64 << 31, (1 << 32) + 4, i64::MAX, -1, i64::MIN] {
        let mut tensors = three(4);
        tensors.iter_mut().for_each(|tensor| tensor.shape[0] = extent);
        let expected = format!("expected n between 0 and 2147483647 (int32), but got {extent}");
        refused(add(&mut tensors), "ValueError", "Invalid A.shape[0] on argument #0", &expected);
    }
    let mut tensors = three(4);
    tensors[1].shape[0] = (1 << 32) + 4;
    let expected = "expected to match A.shape[0] (4), but got 4294967300";
    refused(add(&mut tensors), "ValueError", "Mismatched B.shape[0] on argument #1", expected);
}

#[test]
fn strides_are_compact_where_they_matter() {
    let mut tensors = three(4);
    tensors[0].strides[0] = 2;
    let expected = "expected to be compact array, that is A.strides[0] = 1, but got 2";
    refused(add(&mut tensors), "ValueError", "Mismatched A.strides on argument #0", expected);
    // Strides may be left out; those of an axis with one element, and of an empty tensor, are never
    // used.
    let mut tensors = three(4);
    tensors.iter_mut().for_each(|tensor| tensor.strides.clear());
    add(&mut tensors).unwrap();
    assert_eq!(sums(&tensors[2], 4), [10.0, 11.0, 12.0, 13.0]);
    for n in [0, 1] {
        let mut tensors = three(n);
        tensors[1].strides[0] = 77;
        add(&mut tensors).unwrap();
        assert_eq!(tensors[2].at(0), if n == 1 { 10.0 } else { 0.0 });
    }
    let (mut a, mut b) = (Tensor::new(FLOAT32, &[2, 3]), Tensor::new(FLOAT32, &[2, 3]));
    b.strides = vec![1, 2];
    let result = call("fixed", &[a.borrowed(), b.borrowed()]);
    let expected = "expected to be compact array, that is B.strides[0] = 3, but got 1";
    refused(result, "ValueError", "Mismatched B.strides on argument #1", expected);
}

#[test]
fn data_may_be_null_only_where_there_is_none() {
    let mut tensors = three(0);
    tensors.iter_mut().for_each(|tensor| tensor.fields().data = std::ptr::null_mut());
    add(&mut tensors).unwrap();
    let mut tensors = three(4);
    tensors[2].fields().data = std::ptr::null_mut();
    let expected = "expected non-NULL data pointer";
    refused(add(&mut tensors), "ValueError", "C data pointer is NULL on argument #2", expected);
    let mut tensors = three(4);
    tensors[1].fields().shape = std::ptr::null_mut();
    let [a, b, c] = &mut tensors;
    let mut args = [a.borrowed(), b.borrowed(), c.borrowed()];
    b.fields().shape = std::ptr::null_mut();
    let expected = "expected 1 extents, but got a NULL pointer";
    refused(call("add", &args), "ValueError", "Mismatched B.shape on argument #1", expected);
    args[1] = b.borrowed();
    call("add", &args).unwrap();
}

/// A tensor that starts at any multiple of its element's size works; one that does not is an error,
/// not a crash.
#[test]
fn any_offset_of_whole_elements_works() {
    for bytes in [4, 8, 12, 20] {
        let mut tensors = three(4);
        for tensor in &mut tensors {
            tensor.fields().byte_offset = bytes;
        }
        let first = bytes as usize / 4;
        (0..4).for_each(|i| tensors[1].set(first + i, 5.0));
        (0..4).for_each(|i| tensors[0].set(first + i, i as f32));
        add(&mut tensors).unwrap();
        assert_eq!(sums(&tensors[2], first + 4)[first..], [5.0, 6.0, 7.0, 8.0]);
        assert_eq!(sums(&tensors[2], first), vec![0.0; first], "nothing before the first element is touched");
    }
    for (bytes, by) in [(1, 1), (2, 2), (7, 3)] {
        let mut tensors = three(4);
        tensors[1].fields().byte_offset = bytes;
        let expected = format!(
            "expected data plus byte_offset to be a multiple of 4 bytes, but got one that is beyond by {by}"
        );
        refused(add(&mut tensors), "ValueError", "Misaligned B.data on argument #1", &expected);
    }
    let mut tensors = three(4);
    let data = tensors[0].fields().data;
    tensors[0].fields().data = data.wrapping_byte_add(2);
    assert_eq!(add(&mut tensors).unwrap_err().kind, "ValueError");
}

fn scalars(values: [ChipdockAny; 5]) -> (Result<(), Raised>, Vec<f32>) {
    let mut b = Tensor::new(FLOAT32, &[4]);
    let mut args = vec![b.borrowed()];
    args.extend(values);
    let result = call("scalars", &args);
    (result, sums(&b, 4))
}

#[test]
fn scalars_are_read_as_declared() {
    let (result, found) = scalars([int(-7), int(-128), int(255), any(2, 1), float(1.5)]);
    result.unwrap();
    assert_eq!(found, [-7.0, -128.0, 256.0, 1.5]);
    // An integer is a float, a boolean an integer.
    let (result, found) = scalars([any(2, 1), int(127), int(0), int(0), int(3)]);
    result.unwrap();
    assert_eq!(found, [1.0, 127.0, 0.0, 3.0]);
    let (result, _) = scalars([int(i64::from(i32::MAX)), int(0), int(0), int(1), any(2, 1)]);
    result.unwrap();
}

#[test]
fn integers_that_do_not_fit_are_refused() {
    let good = || [int(1), int(1), int(1), int(1), float(1.0)];
    for (index, value, name, expected) in [
        (0, 1_i64 << 40, "i", "expected int32 between -2147483648 and 2147483647, but got 1099511627776"),
        (0, i64::MIN, "i", "expected int32 between -2147483648 and 2147483647, but got -9223372036854775808"),
        (1, 128, "b", "expected int8 between -128 and 127, but got 128"),
        (1, -129, "b", "expected int8 between -128 and 127, but got -129"),
        (2, -1, "u", "expected uint8 between 0 and 255, but got -1"),
        (2, 256, "u", "expected uint8 between 0 and 255, but got 256"),
        (3, 2, "p", "expected bool between 0 and 1, but got 2"),
    ] {
        let mut values = good();
        values[index] = int(value);
        let (result, found) = scalars(values);
        refused(result, "ValueError", &format!("Invalid {name} on argument #{}", index + 1), expected);
        assert_eq!(found, [0.0; 4], "nothing was computed");
    }
}

#[test]
fn scalars_of_another_type_are_refused() {
    let good = || [int(1), int(1), int(1), int(1), float(1.0)];
    for (index, wrong, expected) in [
        (0, float(1.0), "expected int, but got float"),
        (3, float(1.0), "expected bool, but got float"),
        (4, any(0, 0), "expected float, but got None"),
        (0, any(70, 0), "expected int, but got Tensor"),
        (2, any(8, 0), "expected int, but got str"),
    ] {
        let mut values = good();
        values[index] = wrong;
        let (result, _) = scalars(values);
        refused(result, "TypeError", &format!("Mismatched type on argument #{}", index + 1), expected);
    }
}

#[test]
fn a_scalar_parameter_is_the_size() {
    let mut a = Tensor::new(FLOAT32, &[3]);
    call("sized", &[int(3), a.borrowed()]).unwrap();
    assert_eq!(sums(&a, 3), [1.0; 3]);
    let expected = "expected to match n (4), but got 3";
    let result = call("sized", &[int(4), a.borrowed()]);
    refused(result, "ValueError", "Mismatched A.shape[0] on argument #1", expected);
}

/// Declared strides are taken from the tensor, or are the compact ones where it states none.
#[test]
fn declared_strides_are_bound() {
    let values: Vec<f32> = (0..15).map(|i| i as f32).collect();
    let mut a = Tensor::f32(&[3, 2], &values);
    let mut b = Tensor::new(FLOAT32, &[3, 2]);
    for (strides, expected) in [
        (vec![2, 1], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        (vec![5, 1], [0.0, 1.0, 5.0, 6.0, 10.0, 11.0]),
        (vec![], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
    ] {
        a.strides = strides;
        call("strided", &[a.borrowed(), b.borrowed()]).unwrap();
        assert_eq!(sums(&b, 6), expected);
    }
    a.strides = vec![5, 2];
    let result = call("strided", &[a.borrowed(), b.borrowed()]);
    refused(
        result,
        "ValueError",
        "Mismatched A.strides on argument #0",
        "expected A.strides[1] = 1, but got 2",
    );
}

#[test]
fn workspace_is_freed_on_every_way_out() {
    let values: Vec<f32> = (0..500).map(|i| i as f32).collect();
    let (mut a, mut b) = (Tensor::f32(&[500], &values), Tensor::new(FLOAT32, &[500]));
    call("reverse", &[a.borrowed(), b.borrowed()]).unwrap();
    assert_eq!((b.at(0), b.at(499), live_workspaces()), (499.0, 499.0, 0));
    // The assertion fails between the two.
    a.set(0, 200.0);
    let raised = call("reverse", &[a.borrowed(), b.borrowed()]).unwrap_err();
    assert_eq!((raised.message.as_str(), live_workspaces()), ("too large", 0));
    // None left for the first, and for the second.
    for pieces in [0, 1] {
        limit_workspaces(pieces);
        let raised = call("reverse", &[a.borrowed(), b.borrowed()]).unwrap_err();
        assert_eq!((raised.message.as_str(), live_workspaces()), ("no workspace left", 0));
    }
    limit_workspaces(usize::MAX);
}

fn value(name: &str, args: &[ChipdockAny]) -> Result<ChipdockAny, Raised> {
    kernels().call_value(name, args.as_ptr(), args.len() as i32)
}

fn integer(value: &ChipdockAny) -> (i32, u32, i64) {
    // SAFETY: any bits are an integer.
    (value.type_index, value.small_length, unsafe { value.value.v_int64 })
}

#[test]
fn returned_values_come_in_the_result() {
    assert_eq!(integer(&value("twice", &[int(21)]).unwrap()), (1, 0, 42));
    assert_eq!(integer(&value("twice", &[int(101)]).unwrap()), (1, 0, 200));
    assert_eq!(integer(&value("wide", &[int(1 << 40), float(0.75)]).unwrap()), (2, 0, 1));
    assert_eq!(integer(&value("wide", &[int(5), float(0.75)]).unwrap()), (2, 0, 0));
    let half = value("half", &[float(0.1)]).unwrap();
    // SAFETY: the type index says that it is a float.
    assert_eq!((half.type_index, unsafe { half.value.v_float64 }), (3, 0.2998046875));
    // By way of the detailed check: an integer for a float.
    let half = value("half", &[int(2)]).unwrap();
    // SAFETY: the type index says that it is a float.
    assert_eq!((half.type_index, unsafe { half.value.v_float64 }), (3, 6.0));
    // Nothing is returned: the result stays as it was.
    let mut tensors = three(4);
    let [a, b, c] = &mut tensors;
    assert_eq!(integer(&value("add", &[a.borrowed(), b.borrowed(), c.borrowed()]).unwrap()), (0, 0, 0));
}

#[test]
fn a_function_with_a_value_fails_as_any_other() {
    let mean = |values: &[f32]| {
        let mut a = Tensor::f32(&[values.len() as i64], values);
        value("mean", &[a.borrowed()])
    };
    let many = vec![2.0; 1000];
    // SAFETY: a float, as is checked.
    let found = mean(&many).map(|found| (found.type_index, unsafe { found.value.v_float64 }));
    assert_eq!(found, Ok((3, 2.0)));
    assert_eq!(mean(&[100.0; 1000]).map(drop).unwrap_err().message, "too large");
    assert_eq!(live_workspaces(), 0);
    let raised = value("twice", &[float(0.5)]).map(drop).unwrap_err();
    assert!(raised.message.contains("`twice(x: int32) -> int32`"), "{}", raised.message);
}

fn ints(a: &Tensor, n: usize) -> Vec<i32> {
    (0..n).map(|i| a.at(i).to_bits() as i32).collect()
}

#[test]
fn functions_call_each_other_for_a_value() {
    let mut a = Tensor::new(INT32, &[8]);
    call("calls", &[a.borrowed(), int(4)]).unwrap();
    assert_eq!(ints(&a, 4), [9, 2, 1, 5]);
    call("calls", &[a.borrowed(), int(2)]).unwrap();
    assert_eq!(ints(&a, 4), [5, -1, 1, 5]);
}

#[test]
fn imported_functions_are_called_through_the_environment() {
    let mut a = Tensor::new(INT32, &[8]);
    call("imports", &[a.borrowed(), int(4), float(2.5)]).unwrap();
    assert_eq!(ints(&a, 2), [7, 7]);
    // X.7: what was asked for once is kept.
    let before = asked();
    call("imports", &[a.borrowed(), int(4), float(2.5)]).unwrap();
    assert_eq!(asked(), before);
    let raised = call("imports", &[a.borrowed(), int(6), float(2.5)]).unwrap_err();
    assert_eq!(raised.message, "nothing is imported as \"nobody\"");
    let raised = call("imports_float", &[a.borrowed()]).unwrap_err();
    let message =
        "expected an integer from the packed function imported.float, found a value with type index 3";
    assert_eq!((raised.kind.as_str(), raised.message.as_str()), ("TypeError", message));
    // X.9: where, as far as it is known.
    assert!(location().is_some_and(|text| text.contains("imports_float")), "{:?}", location());
}

/// X.15, X.16: the interface is asked for once, and what asks whether to go on fails with the error
/// of the answer, frees its workspace, and works afterwards. A short loop asks nothing.
#[test]
fn long_loops_ask_whether_to_go_on() {
    let mut a = Tensor::f32(&[4], &[0.0, 1.0, 0.0, 0.0]);
    call("spins", &[a.borrowed(), int(1000)]).unwrap();
    assert_eq!((a.at(0), take_questions().1), (2.0, 0));
    call("spins", &[a.borrowed(), int(1 << 22)]).unwrap();
    let (_, questions) = take_questions();
    assert!((2..100).contains(&questions), "{questions} questions in 4 million iterations");
    call("spins", &[a.borrowed(), int(1 << 22)]).unwrap();
    assert_eq!(take_questions(), (0, questions), "X.15: the interface was known");
    for name in ["spins", "turns"] {
        for patience in [0, 1, 2] {
            a.set(1, 0.0);
            go_on_for(patience);
            let raised = call(name, &[a.borrowed(), int(1 << 60)]).unwrap_err();
            go_on_for(usize::MAX);
            assert_eq!(
                (raised.kind.as_str(), raised.message.as_str()),
                ("Cancelled", "told to end"),
                "{name}"
            );
            assert_eq!((take_questions().1, live_workspaces()), (patience + 1, 0), "{name}");
        }
        a.set(0, 0.0);
        a.set(1, 1.0);
        call(name, &[a.borrowed(), int(100)]).unwrap();
        assert_eq!(a.at(0), if name == "spins" { 2.0 } else { 100.0 });
    }
}

/// X.9: an assertion says the function, and line and column of the text that the module was read
/// from.
#[test]
fn an_assertion_says_where_it_stands() {
    let text = format!("{IMPORTS}{SCRIPT}");
    let before = text.find("def mean(").unwrap();
    let before = &text[..before + text[before..].find("assert E[0]").unwrap()];
    let (line, column) = (before.lines().count(), before.len() - before.rfind('\n').unwrap());
    let mut a = Tensor::f32(&[2], &[100.0, 2.0]);
    let raised = call("mean", &[a.borrowed()]).unwrap_err();
    assert_eq!((raised.kind.as_str(), raised.message.as_str()), ("ValueError", "too large"));
    let location = location().unwrap();
    assert!(location.contains("mean") && location.ends_with(&format!(": {line}:{column}")), "{location}");
}

#[test]
fn an_iteration_of_a_parallel_loop_that_fails_leaks_nothing() {
    let mut b = Tensor::new(FLOAT32, &[4]);
    let mut a = Tensor::f32(&[4], &[1.0, 2.0, 3.0, 4.0]);
    call("parallel", &[a.borrowed(), b.borrowed()]).unwrap();
    assert_eq!(sums(&b, 4), [2.0, 3.0, 4.0, 5.0]);
    a.set(2, 100.0);
    let raised = call("parallel", &[a.borrowed(), b.borrowed()]).unwrap_err();
    assert_eq!((raised.message.as_str(), live_workspaces()), ("too large", 0));
    for pieces in 0..2 {
        limit_workspaces(pieces);
        let raised = call("parallel", &[a.borrowed(), b.borrowed()]);
        limit_workspaces(usize::MAX);
        assert!(raised.is_err() && live_workspaces() == 0, "{pieces} pieces: {raised:?}");
    }
}
