//! Calls within a module, results, scalars of every type.

use chipdock_ir::DType;

use super::table::profiles_of;
use super::{numbers, of_type};
use crate::batch::Described;
use crate::script::script;

pub(super) fn add(all: &mut Vec<Described>) {
    for &dtype in DType::SCALARS {
        let mut push = |name: &str, clause, text: &str, sizes: &[(&str, i64)]| {
            let name = format!("{name}/{dtype}");
            all.push(script(name, clause, profiles_of([dtype]), &of_type(text, dtype), sizes));
        };
        push("call/helper", "C.17", HELPER, &[]);
        for value in scalars(dtype) {
            push(&format!("scalar/{value}"), "C.20", SCALAR, &[("x", value)]);
            push(&format!("return/{value}"), "C.17", RETURN, &[("x", value)]);
        }
    }
    for dtype in numbers() {
        let text = of_type(MANY_SCALARS, dtype);
        all.push(script(format!("scalar/many/{dtype}"), "C.20", profiles_of([dtype]), &text, &[]));
    }
    for (name, text) in CALLS {
        all.push(script(format!("call/{name}"), "C.17", None, text, &[]));
    }
}

/// Returns values for a scalar parameter of a type: its extremes, as far as a call can pass them.
fn scalars(dtype: DType) -> Vec<i64> {
    match dtype.integer_range() {
        _ if dtype.is_bool() => vec![0, 1],
        Some((least, greatest)) => {
            let cut = |value: i128| value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
            vec![cut(least), cut(greatest)]
        }
        None => vec![-2, 3],
    }
}

const HELPER: &str = "@I.ir_module
class Module:
    @T.prim_func(private=True)
    def FN_other(x: T.DT) -> T.DT:
        return T.Select(x == ZERO, ONE, x)

    @T.prim_func(s_tir=True)
    def FN(A: T.Buffer((16,), \"DT\"), B: T.Buffer((16,), \"DT\")):
        for i in range(16):
            B[i] = Module.FN_other(A[i])
";

const SCALAR: &str = "@T.prim_func(s_tir=True)
def FN(x: T.DT, B: T.Buffer((2,), \"DT\")):
    B[0] = x
    B[1] = T.Select(x == ZERO, ONE, x)
";

const RETURN: &str = "@T.prim_func(s_tir=True)
def FN(x: T.DT) -> T.DT:
    return x
";

const MANY_SCALARS: &str = "@T.prim_func(s_tir=True)
def FN(a: T.DT, A: T.Buffer((4,), \"DT\"), b: T.DT, n: T.int32, c: T.DT, t: T.bool, d: T.DT):
    if t:
        A[n] = d
        A[0] = a + b * c
";

const CALLS: &[(&str, &str)] = &[
    (
        "chain",
        "@I.ir_module
class Module:
    @T.prim_func(private=True)
    def FN_one(x: T.int32) -> T.int32:
        return x + 1

    @T.prim_func(private=True)
    def FN_two(x: T.int32, y: T.int32) -> T.int32:
        z = Module.FN_one(y)
        return x * z

    @T.prim_func(s_tir=True)
    def FN(A: T.Buffer((16,), \"int32\")):
        for i in range(16):
            A[i] = Module.FN_two(A[i], i)
",
    ),
    (
        "in-condition",
        "@I.ir_module
class Module:
    @T.prim_func(private=True)
    def FN_even(x: T.int32) -> T.bool:
        return x % 2 == 0

    @T.prim_func(s_tir=True)
    def FN(A: T.Buffer((16,), \"int32\"), B: T.Buffer((16,), \"int32\")):
        for i in range(16):
            e = Module.FN_even(A[i])
            if e:
                B[i] = 1
            else:
                B[i] = 0
",
    ),
    (
        "return-on-both-paths",
        "@I.ir_module
class Module:
    @T.prim_func(private=True)
    def FN_sign(x: T.int32) -> T.int32:
        if x < 0:
            return -1
        if x > 0:
            return 1
        return 0

    @T.prim_func(s_tir=True)
    def FN(A: T.Buffer((32,), \"int32\"), B: T.Buffer((32,), \"int32\")):
        for i in range(32):
            B[i] = Module.FN_sign(A[i])
",
    ),
    (
        "of-floats",
        "@I.ir_module
class Module:
    @T.prim_func(private=True)
    def FN_mix(x: T.float32, y: T.float32, t: T.float32) -> T.float32:
        return x + (y - x) * t

    @T.prim_func(s_tir=True)
    def FN(A: T.Buffer((16,), \"float32\"), B: T.Buffer((16,), \"float32\")):
        for i in range(15):
            B[i] = Module.FN_mix(A[i], A[i + 1], T.float32(0.25))
",
    ),
];
