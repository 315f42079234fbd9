//! Rules INLINE-B1 to INLINE-B4, MOVED-P1 to MOVED-P3 and WIDE-V1 to WIDE-V4: modules compute the
//! same after pointers that are values, and wide vectors, have been removed from them.

use std::fmt::Write as _;

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::validate::validate;
use chipdock_ir::{BinaryOp, Child, DType, Expr, ExprKind, IrModule, Param, Stage, StmtKind, build};
use chipdock_passes::{inline_buffer_functions, lower_moved_pointers, split_wide_vectors};

use crate::capabilities::{device, host};

/// Inlines functions that take buffers.
fn inlined(module: &IrModule) -> IrModule {
    inline_buffer_functions(module, &device().with(|it| it.memory.scalar_arguments = true)).unwrap()
}

/// Lowers views of moved pointers.
fn unmoved(module: &IrModule) -> IrModule {
    lower_moved_pointers(module, &device().with(|it| it.memory.fixed_pointers = true)).unwrap()
}

/// Splits vectors of more lanes.
fn split(module: &IrModule, most: u16) -> IrModule {
    split_wide_vectors(module, &device().with(|it| it.types.lanes_max = most)).unwrap()
}

fn longest(module: &IrModule) -> u16 {
    let mut most = 0;
    module.functions[0].body.walk_exprs(&mut |e| most = most.max(e.dtype.lanes));
    most
}

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
        let Param::Buffer(buffer) = param else { unreachable!("{} is no tensor", param.name()) };
        let n = usize::try_from(buffer.constant_size().unwrap()).unwrap() * usize::from(buffer.dtype.lanes);
        let values: Vec<i128> = (0..n as i128).map(|i| if at == 0 { i * 7 % 5 + 3 } else { 0 }).collect();
        let flat = Array::from_int(DType::INT32, &[n], &values);
        let shape = vec![n / usize::from(buffer.dtype.lanes)];
        Arg::Tensor(Array { dtype: buffer.dtype, shape, data: flat.data })
    };
    let mut args: Vec<Arg> = main.params.iter().enumerate().map(array).collect();
    Interpreter::new(module).with_bounds().run("main", &mut args).unwrap();
    let Some(Arg::Tensor(found)) = args.pop() else { unreachable!("no tensor") };
    found.to_int()
}

/// INLINE-B1, INLINE-B4, MOVED-P1 to MOVED-P3.
#[test]
fn inlined_and_moved_blocks_compute_the_same() {
    let module = chipdock_script::parse(TEXT, "pointers.py").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(left(&module), (3, 3));
    let plain = unmoved(&inlined(&module));
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

/// WIDE-V1, WIDE-V2.
#[test]
fn long_vectors_in_parts_compute_the_same() {
    let module = chipdock_script::parse(LONG, "long.py").unwrap_or_else(|error| panic!("{error}"));
    for most in [4, 3, 1] {
        let parted = split(&module, most);
        assert_eq!((longest(&module), longest(&parted)), (16, most));
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

/// WIDE-V3.
#[test]
fn elements_that_are_long_vectors_are_reached_lane_by_lane() {
    let module = chipdock_script::parse(ELEMENTS, "elements.py").unwrap_or_else(|error| panic!("{error}"));
    for most in [4, 3, 1] {
        let parted = split(&module, most);
        assert_eq!(longest(&parted), most);
        if let Err(problems) = validate(&parted, Stage::Flattened) {
            panic!("{problems:?}");
        }
        assert_eq!(run(&parted), run(&module), "{most}");
    }
}

/// WIDE-V4: an expression with an effect is not split into parts, because each part would have the
/// effect once more.
#[test]
fn an_effect_happens_once() {
    let text = r#"
@T.prim_func
def main(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32")):
    B[T.Ramp(0, 1, 8)] = T.Broadcast(T.atomic_add(T.address_of(A[0]), 1), 8)
"#;
    let module = chipdock_script::parse(text, "effect.py").unwrap_or_else(|error| panic!("{error}"));
    let parted = split(&module, 4);
    assert_eq!(run(&parted), run(&module));
}

/// Each pass asks for one capability: the others, and that of a host, change nothing.
#[test]
fn forms_that_the_target_has_are_unchanged() {
    for text in [TEXT, LONG, ELEMENTS] {
        let module = chipdock_script::parse(text, "unchanged.py").unwrap_or_else(|error| panic!("{error}"));
        let lacks_all = |it: &mut chipdock_ir::TargetCapabilities| {
            it.memory.scalar_arguments = true;
            it.memory.fixed_pointers = true;
            it.types.lanes_max = 4;
        };
        let all = device().with(lacks_all);
        let has = [
            all.clone().with(|it| it.memory.scalar_arguments = false),
            all.clone().with(|it| it.memory.fixed_pointers = false),
            all.with(|it| it.types.lanes_max = 0),
        ];
        assert_eq!(inline_buffer_functions(&module, &has[0]).unwrap(), module);
        assert_eq!(lower_moved_pointers(&module, &has[1]).unwrap(), module);
        assert_eq!(split_wide_vectors(&module, &has[2]).unwrap(), module);
        for pass in [inline_buffer_functions, lower_moved_pointers, split_wide_vectors] {
            assert_eq!(pass(&module, &host().with(lacks_all)).unwrap(), module);
        }
    }
}

/// INLINE-B3: ten functions that each call the next one three times, 3^10 bodies.
#[test]
fn calls_of_calls_end_at_a_thousand_bodies() {
    let mut text =
        "from tvm.script import ir as I\nfrom tvm.script import tirx as T\n\n@I.ir_module\nclass Module:\n"
            .to_owned();
    for level in 0..=10 {
        write!(
            text,
            "    @T.prim_func\n    def f{level}(p: T.handle(\"int32\", \"global\")):\n        P = T.decl_buffer((4,), \"int32\", data=p)\n"
        )
        .unwrap();
        match level {
            0 => text += "        P[0] = P[0] + 1\n",
            _ => text += &format!("        Module.f{}(p)\n", level - 1).repeat(3),
        }
    }
    text += "    @T.prim_func\n    def main(A: T.Buffer((4,), \"int32\"), B: T.Buffer((4,), \"int32\")):\n        Module.f10(B.data)\n";
    let module = chipdock_script::parse(&text, "levels.py").unwrap_or_else(|error| panic!("{error}"));
    let plain = inlined(&module);
    let mut bodies = 0;
    plain.function("main").unwrap().body.walk(&mut |child| {
        bodies += usize::from(
            matches!(child, Child::Stmt(stmt) if matches!(stmt.kind, StmtKind::DeclBuffer { .. })),
        );
    });
    assert_eq!(bodies, 1000);
    assert_eq!(run(&plain), run(&module));
    assert_eq!(run(&plain)[0], 59049);
}

/// An expression of 60 sums, each of the one before and itself, has 2^60 ways and 61 nodes: no pass
/// walks them one by one.
#[test]
fn shared_nodes_do_not_multiply() {
    let mut f = build::function("main");
    let a = f.buffer("A", [64], DType::INT32);
    let b = f.buffer("B", [64], DType::INT32);
    let start = a.at(Expr::i32(0).ramp(Expr::i32(1), 16));
    let sum = (0..60).fold(start, |x, _| Expr::binary(BinaryOp::Add, x.clone(), x));
    f.store(&b, Expr::i32(0).ramp(Expr::i32(1), 16), sum);
    let module = unmoved(&inlined(&build::module([f.finish()])));
    assert_eq!((longest_node(&module), longest_node(&split(&module, 4))), (16, 4));
}

/// The lanes of the longest value of the only store, and of the first one after it was split.
fn longest_node(module: &IrModule) -> u16 {
    let mut most = 0;
    module.functions[0].body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::Store { value, .. } | StmtKind::Bind { value, .. } = &stmt.kind
        {
            most = most.max(value.dtype.lanes);
        }
    });
    most
}
