//! Checks that modules compute the same after pointers that are values, and long vectors, have been
//! removed from them.

use chipdock_codegen_source::{with_inlined_buffers, with_lanes_at_most, without_moved_pointers};
use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::validate::validate;
use chipdock_ir::{Child, DType, ExprKind, IrModule, Param, Stage, StmtKind};

const TEXT: &str = r#"
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def inner(r: T.handle("int32", "global"), x: T.int32):
        R = T.decl_buffer((4,), "int32", data=r)
        R[1] = R[0] * x

    @T.prim_func
    def helper(p: T.handle("int32", "global"), n: T.int32, x: T.int32, q: T.handle("int32", "global")):
        P = T.decl_buffer((n,), "int32", data=p)
        Q = T.decl_buffer((n,), "int32", data=q)
        for i in range(n):
            P[i] = Q[i] + x
        Module.inner(T.address_of(P[1]), x)

    @T.prim_func
    def main(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32")):
        Module.helper(B.data, 4, 3, A.data)
        Module.helper(T.address_of(B[4]), 3, A[2], T.address_of(A[B[0]]))
        V = T.decl_buffer((4,), "int32", data=T.handle_add_byte_offset(B.data, T.int64(40)))
        V[0] = A[0]
        V[1] = V[0] + 1
        W = T.decl_buffer((2,), "int32", data=T.address_of(V[2]))
        W[0] = V[1] * 2
        U = T.decl_buffer((2,), "int32", data=T.address_of(B[A[1]]))
        U[0] = 77
"#;

/// Returns the numbers of remaining calls of functions, and of remaining views of pointers that are
/// not variables.
fn left(module: &IrModule) -> (usize, usize) {
    let (mut calls, mut views) = (0, 0);
    for function in &module.functions {
        function.body.walk_exprs(&mut |e| calls += usize::from(e.called().is_some()));
        function.body.walk(&mut |child| {
            if let Child::Stmt(stmt) = child
                && let StmtKind::DeclBuffer { data: Some(data), .. } = &stmt.kind
            {
                views += usize::from(!matches!(data.kind, ExprKind::Var(_)));
            }
        });
    }
    (calls, views)
}

/// Runs `main` and returns the content of its last tensor.
fn run(module: &IrModule) -> Vec<i128> {
    let main = module.function("main").unwrap();
    let array = |(at, param): (usize, &Param)| {
        let Param::Buffer(buffer) = param else { panic!("{} is no tensor", param.name()) };
        let n = usize::try_from(buffer.constant_size().unwrap()).unwrap() * usize::from(buffer.dtype.lanes);
        let values: Vec<i128> = (0..n as i128).map(|i| if at == 0 { i * 7 % 5 + 3 } else { 0 }).collect();
        let flat = Array::from_int(DType::INT32, &[n], &values);
        let shape = vec![n / usize::from(buffer.dtype.lanes)];
        Arg::Tensor(Array { dtype: buffer.dtype, shape, data: flat.data })
    };
    let mut args: Vec<Arg> = main.params.iter().enumerate().map(array).collect();
    Interpreter::new(module).with_bounds().run("main", &mut args).unwrap();
    let Some(Arg::Tensor(found)) = args.pop() else { panic!("no tensor") };
    found.to_int()
}

#[test]
fn inlined_and_moved_blocks_compute_the_same() {
    let module = chipdock_script::parse(TEXT, "pointers.py").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(left(&module), (3, 3));
    let plain = without_moved_pointers(&with_inlined_buffers(&module));
    assert_eq!(plain.functions.len(), 2, "what nothing calls is left out");
    // What is moved by as much as memory says stays: one call, and one view.
    assert_eq!(left(&plain), (1, 1));
    validate(&plain, Stage::Flattened).unwrap();
    assert_eq!(run(&plain), run(&module));
}

const LONG: &str = r#"
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
        B[T.Ramp(0, 1, 16)] = A[T.Ramp(1, 2, 16)] + T.Broadcast(A[3], 16)
        B[T.Ramp(2, 1, 10)] = B[T.Ramp(0, 1, 10)] * T.Cast("int32x10", A[T.Ramp(20, -1, 10)] > T.Broadcast(4, 10))
        B[T.Ramp(40, 1, 8)] = T.Select(A[T.Ramp(0, 1, 8)] < A[T.Ramp(8, 1, 8)], T.Ramp(0, 3, 8), T.Broadcast(7, 8))
        B[T.Ramp(50, 1, 4)] = T.Shuffle([A[T.Ramp(0, 1, 8)], B[T.Ramp(40, 1, 8)]], [7, 9, 0, 15])
        B[T.Ramp(54, 1, 6)] = T.Shuffle([A[T.Ramp(0, 1, 3)], B[T.Ramp(40, 1, 8)]], [5, 4, 3, 2, 1, 0])
        B.vstore([T.Ramp(16, 1, 8)], A.vload([T.Ramp(30, 1, 8)], predicate=T.Ramp(30, 1, 8) < T.Broadcast(35, 8)), predicate=T.Ramp(0, 1, 8) < T.Broadcast(7, 8))
"#;

#[test]
fn long_vectors_in_parts_compute_the_same() {
    let module = chipdock_script::parse(LONG, "long.py").unwrap_or_else(|error| panic!("{error}"));
    let lanes = |module: &IrModule| {
        let mut most = 0;
        module.functions[0].body.walk_exprs(&mut |e| most = most.max(e.dtype.lanes));
        most
    };
    for most in [4, 3, 1] {
        let parted = with_lanes_at_most(&module, most);
        assert_eq!((lanes(&module), lanes(&parted)), (16, most));
        if let Err(problems) = validate(&parted, Stage::Flattened) {
            panic!("{problems:?}");
        }
        assert_eq!(run(&parted), run(&module), "{most}");
    }
}

const ELEMENTS: &str = r#"
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((6,), "int32x10"), N: T.Buffer((6,), "int32"), B: T.Buffer((6,), "int32x10")):
        L = T.alloc_buffer((3,), "int32x10", scope="local")
        for i in range(6):
            L[i % 3] = A[5 - i] * T.Broadcast(3, 10)
            N[i] = 5 - i
            B[N[i]] = L[i % 3] + A[i]
        for i in range(3):
            B[i] = B[i + 3] - T.Ramp(i, 2, 10)
            N[i] = T.Shuffle([A[i]], [7])
"#;

#[test]
fn elements_that_are_long_vectors_are_reached_lane_by_lane() {
    let module = chipdock_script::parse(ELEMENTS, "elements.py").unwrap_or_else(|error| panic!("{error}"));
    for most in [4, 3, 1] {
        let parted = with_lanes_at_most(&module, most);
        let mut longest = 0;
        parted.functions[0].body.walk_exprs(&mut |e| longest = longest.max(e.dtype.lanes));
        assert_eq!(longest, most);
        if let Err(problems) = validate(&parted, Stage::Flattened) {
            panic!("{problems:?}");
        }
        assert_eq!(run(&parted), run(&module), "{most}");
    }
}

/// An expression with an effect is not split into parts, because each part would have the effect
/// once more.
#[test]
fn an_effect_happens_once() {
    let text = r#"
@T.prim_func
def main(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32")):
    B[T.Ramp(0, 1, 8)] = T.Broadcast(T.atomic_add(T.address_of(A[0]), 1), 8)
"#;
    let module = chipdock_script::parse(text, "effect.py").unwrap_or_else(|error| panic!("{error}"));
    let parted = with_lanes_at_most(&module, 4);
    assert_eq!(run(&parted), run(&module));
}
