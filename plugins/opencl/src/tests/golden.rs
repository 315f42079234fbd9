//! Tests of texts against goldens, which clang also compiles. `BLESS=1` rewrites the goldens.

use std::path::PathBuf;

use chipdock_codegen_source::{unsupported, write_module};
use chipdock_ir::{
    BinaryOp, Buffer, CompareOp, DType, Expr, ExprKind, ForKind, IrModule, Op, Stmt, StmtKind, StorageScope,
    Target, ThreadAxis, Var, build,
};

use serde_json::json;

use super::by_hand::{ALL, alloc, barrier, bind, compiles, declare, evaluate, grid, kernel, launch, pointer};
use crate::codegen::build as build_module;
use crate::dialect::{Features, OpenClDialect};

fn f32s(value: f64) -> Expr {
    Expr::float(value, DType::FLOAT32)
}

fn shared(name: &str, count: i32, dtype: DType) -> Buffer {
    Buffer::new(name.to_owned(), vec![Expr::i32(count)], dtype, StorageScope::SHARED)
}

/// What the passes make of an elementwise kernel: offsets, a size, a guard.
fn elementwise() -> IrModule {
    let ((a_data, a), (b_data, b)) = (pointer("A", DType::FLOAT32), pointer("B", DType::BOOL));
    let (n, offset) = (Var::new("n", DType::INT64), Var::new("A_elem_offset", DType::INT64));
    let (scale, is_on) = (Var::new("scale", DType::FLOAT32), Var::new("is_on", DType::BOOL));
    let (b_index, t) = (Var::new("blockIdx_x", DType::INT32), Var::new("threadIdx_x", DType::INT32));
    let i = (b_index.expr() * Expr::i32(256) + t.expr()).cast(DType::INT64);
    let is_within = Expr::compare(CompareOp::Lt, i.clone(), n.expr());
    let x = Expr::load(&a, vec![i.clone() + offset.expr()]) * scale.expr();
    let is_more = Expr::compare(CompareOp::Gt, x, f32s(0.5)).and(is_on.expr());
    let body = Stmt::if_then(
        Expr::call(Op::Likely, vec![is_within], DType::BOOL),
        Stmt::store(&b, vec![i], is_more),
        None,
    );
    let blocks = Expr::binary(
        BinaryOp::FloorDiv,
        n.expr() + Expr::int(255, DType::INT64),
        Expr::int(256, DType::INT64),
    );
    let body = launch(&t, ThreadAxis::ThreadX, Expr::i32(256), body);
    let body = launch(&b_index, ThreadAxis::BlockX, blocks, body);
    let params = vec![a_data, b_data, n, offset, scale, is_on];
    build::module([kernel(
        "elementwise_kernel",
        params,
        &["blockIdx.x", "threadIdx.x"],
        vec![declare(&a), declare(&b), body],
    )])
}

/// A sum of the threads of a block through shared memory, declared deep within; a result that other
/// threads read again.
fn shared_memory() -> IrModule {
    let ((a_data, a), (b_data, b)) = (pointer("A", DType::FLOAT32), pointer("B", DType::FLOAT32));
    grid("shared_kernel", vec![a_data, b_data], |block, t| {
        let s = shared("S", 64, DType::FLOAT32);
        let step = Var::new("step", DType::INT32);
        let at = |e: Expr| vec![e];
        let width = Expr::call(Op::ShiftRight, vec![Expr::i32(32), step.expr()], DType::INT32);
        let sum = Expr::load(&s, at(t.clone())) + Expr::load(&s, at(t.clone() + width.clone()));
        let fold = Stmt::seq([
            Stmt::if_then(
                Expr::compare(CompareOp::Lt, t.clone(), width),
                Stmt::store(&s, at(t.clone()), sum),
                None,
            ),
            barrier("shared"),
        ]);
        let index = block.clone() * Expr::i32(64) + t.clone();
        let inner = Stmt::seq([
            alloc(&s),
            Stmt::store(&s, at(t.clone()), Expr::load(&a, at(index.clone()))),
            barrier("shared"),
            Stmt::for_loop(step, Expr::i32(6), ForKind::Serial, fold),
            Stmt::store(&b, at(index.clone()), Expr::load(&s, at(Expr::i32(0)))),
            barrier("shared"),
            Stmt::store(&b, at(index), Expr::load(&b, at(block.clone() * Expr::i32(64))) + f32s(1.0)),
        ]);
        vec![Stmt::if_then(Expr::compare(CompareOp::Ge, block.clone(), Expr::i32(0)), inner, None)]
    })
}

/// Dynamic shared memory, seen as two types; a matrix unrolled into registers.
fn dynamic() -> IrModule {
    let ((a_data, a), (b_data, b)) = (pointer("A", DType::INT32), pointer("B", DType::FLOAT32));
    let (n, t) = (Var::new("n", DType::INT32), Var::new("t", DType::INT32));
    let size = n.expr() * Expr::i32(4);
    let s = Buffer::new("buf_dyn", vec![size], DType::UINT8, StorageScope::parse("shared.dyn"));
    let view = |name: &str, dtype: DType| {
        let mut node = (*Buffer::new(name.to_owned(), vec![n.expr()], dtype, s.scope.clone())).clone();
        node.data = s.data.clone();
        Buffer::from_node(node)
    };
    let (ints, halves) = (view("ints", DType::INT32), view("halves", DType::FLOAT16));
    let at = |e: &Expr| vec![e.clone()];
    let t_ = t.expr();
    let reversed = vec![n.expr() - Expr::i32(1) - t_.clone()];
    let body = Stmt::seq([
        alloc(&s),
        declare(&ints),
        declare(&halves),
        Stmt::store(&ints, at(&t_), Expr::load(&a, at(&t_))),
        barrier("shared.dyn"),
        Stmt::store(&b, at(&t_), Expr::load(&ints, reversed).cast(DType::FLOAT32)),
        barrier("shared.dyn"),
        Stmt::store(&halves, at(&t_), Expr::load(&a, at(&t_)).cast(DType::FLOAT16)),
        Stmt::store(&b, at(&t_), Expr::load(&b, at(&t_)) + Expr::load(&halves, at(&t_)).cast(DType::FLOAT32)),
    ]);
    let body = launch(&t, ThreadAxis::ThreadX, n.expr(), body);
    let params = ["threadIdx.x", "tirx.use_dyn_shared_memory"];
    build::module([kernel("dynamic_kernel", vec![a_data, b_data, n], &params, vec![body])])
}

/// Vectors of 4 lanes, of 3, of 5: contiguous, gathered and masked accesses, selects, conversions.
fn vectors() -> IrModule {
    let ((a_data, a), (b_data, b)) = (pointer("A", DType::FLOAT32), pointer("B", DType::FLOAT32));
    let ((idx_data, idx), (h_data, h)) = (pointer("Idx", DType::INT32), pointer("H", DType::FLOAT16));
    grid("vectors_kernel", vec![a_data, b_data, idx_data, h_data], |_, t| {
        [4_u16, 3, 5].into_iter().map(|lanes| vector_body(lanes, t, [&a, &b, &idx, &h])).collect()
    })
}

fn vector_body(lanes: u16, t: &Expr, [a, b, idx, h]: [&Buffer; 4]) -> Stmt {
    let at = (t.clone() * Expr::i32(lanes.into())).ramp(Expr::i32(1), lanes);
    let (x, picked) = (Expr::load(a, vec![at.clone()]), Expr::load(idx, vec![at.clone()]));
    let gathered = Expr::load(a, vec![picked.clone()]);
    let is_less = Expr::compare(CompareOp::Lt, x.clone(), gathered.clone());
    let one = Expr::int(1, DType::INT32.with_lanes(lanes));
    let low = Expr::call(Op::BitwiseAnd, vec![picked.clone(), one.clone()], picked.dtype);
    let is_even = Expr::compare(CompareOp::Eq, low, one - Expr::int(1, picked.dtype));
    let masked =
        ExprKind::Load { buffer: a.clone(), indices: vec![at.clone()], predicate: Some(is_even.clone()) };
    let masked = Expr::new(masked, x.dtype);
    let reversed =
        ExprKind::Shuffle { vectors: vec![x.clone(), gathered.clone()], indices: (0..lanes).rev().collect() };
    let reversed = Expr::new(reversed, x.dtype);
    let chosen = Expr::select(is_less.and(is_even.clone()), x.clone(), gathered) * masked;
    let halves = Expr::load(h, vec![at.clone()]).cast(x.dtype);
    let sum = Expr::binary(BinaryOp::Max, chosen + reversed, halves);
    let root = Expr::call(Op::Sqrt, vec![sum.clone()], sum.dtype);
    let masked_store = StmtKind::Store {
        buffer: b.clone(),
        indices: vec![at.clone()],
        value: picked.clone().cast(x.dtype),
        predicate: Some(is_even),
    };
    let ints = Expr::binary(BinaryOp::FloorDiv, x.cast(picked.dtype), picked.clone());
    Stmt::seq([
        Stmt::store(b, vec![at.clone()], root),
        Stmt::new(masked_store),
        Stmt::store(h, vec![at], ints.cast(DType::FLOAT16.with_lanes(lanes))),
        Stmt::store(b, vec![picked], Expr::float(1.0, DType::FLOAT32.with_lanes(lanes))),
    ])
}

/// Atomic additions of every type, into global and shared memory.
fn atomics() -> IrModule {
    let types = [DType::INT32, DType::UINT32, DType::INT64, DType::FLOAT16, DType::FLOAT32, DType::FLOAT64];
    let (mut params, mut buffers) = (Vec::new(), Vec::new());
    for dtype in types {
        let (data, buffer) = pointer(&format!("to_{dtype}"), dtype);
        params.push(data);
        buffers.push(buffer);
    }
    grid("atomics_kernel", params, |block, t| {
        let mut body = Vec::new();
        for buffer in &buffers {
            let dtype = buffer.dtype;
            let own = shared("own", 3, dtype);
            let one = Expr::constant(1, dtype);
            let add = |buffer: &Buffer, index: &Expr| {
                let place =
                    Expr::call(Op::AddressOf, vec![Expr::load(buffer, vec![index.clone()])], DType::HANDLE);
                Expr::call(Op::AtomicAdd, vec![place, one.clone()], dtype)
            };
            let before = Var::new("before", dtype);
            body.push(alloc(&own));
            body.push(evaluate(add(&own, &Expr::i32(2))));
            body.push(bind(&before, add(buffer, block)));
            body.push(Stmt::store(buffer, vec![t.clone() + Expr::i32(64)], before.expr()));
        }
        body
    })
}

/// Operations of subgroups, as TVM writes a reduction over a warp.
fn warps() -> IrModule {
    let (a_data, a) = pointer("A", DType::FLOAT32);
    grid("warps_kernel", vec![a_data], |_, t| {
        let mask = Var::new("mask", DType::UINT32);
        let x = Expr::load(&a, vec![t.clone()]);
        let shuffle = |op: Op, by: i32| {
            let args = vec![mask.expr(), x.clone(), Expr::i32(by), Expr::i32(32), Expr::i32(32)];
            Expr::call(op, args, DType::FLOAT32)
        };
        let mut body = vec![bind(&mask, Expr::call(Op::WarpActivemask, vec![], DType::UINT32))];
        for op in [Op::WarpShuffle, Op::WarpShuffleUp, Op::WarpShuffleDown, Op::WarpShuffleXor] {
            let got = Var::new("got", DType::FLOAT32);
            body.push(bind(&got, shuffle(op, 1)));
            body.push(barrier("warp"));
            body.push(Stmt::store(&a, vec![t.clone()], got.expr()));
        }
        body
    })
}

/// Integers and floats of every width, with what the IR guards.
fn scalars() -> IrModule {
    let (mut params, mut buffers) = (Vec::new(), Vec::new());
    for dtype in DType::SCALARS.iter().copied().filter(|dtype| !dtype.is_handle()) {
        let (data, buffer) = pointer(&format!("X_{dtype}"), dtype);
        params.push(data);
        buffers.push(buffer);
    }
    grid("scalars_kernel", params, |_, t| {
        let at = vec![t.clone()];
        let mut body = Vec::new();
        for buffer in &buffers {
            let (x, dtype) = (Expr::load(buffer, at.clone()), buffer.dtype);
            let values = if dtype.is_integer() {
                use BinaryOp::*;
                let mut values: Vec<Expr> = [Add, Mul, Div, Mod, FloorDiv, FloorMod, Min]
                    .into_iter()
                    .map(|op| Expr::binary(op, x.clone(), x.clone()))
                    .collect();
                for op in [Op::ShiftLeft, Op::ShiftRight, Op::BitwiseXor] {
                    values.push(Expr::call(op, vec![x.clone(), x.clone()], dtype));
                }
                for op in [Op::Abs, Op::BitwiseNot, Op::Popcount] {
                    values.push(Expr::call(op, vec![x.clone()], dtype));
                }
                values.push(Expr::call(Op::Clz, vec![x.clone()], DType::INT32).cast(dtype));
                values
            } else if dtype.is_float() && dtype.bits > 16 {
                let mut values =
                    vec![x.clone() / x.clone(), Expr::float(f64::NAN, dtype), Expr::float(-1.5, dtype)];
                for op in [Op::Exp, Op::Sqrt, Op::Round, Op::Trunc, Op::Sigmoid] {
                    values.push(Expr::call(op, vec![x.clone()], dtype));
                }
                values.push(Expr::call(Op::Isinf, vec![x.clone()], DType::BOOL).cast(dtype));
                values
            } else {
                vec![x.clone()]
            };
            body.extend(values.into_iter().map(|value| Stmt::store(buffer, at.clone(), value)));
            for other in &buffers {
                body.push(Stmt::store(other, at.clone(), x.clone().cast(other.dtype)));
            }
        }
        body
    })
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("goldens").join(format!("{name}.cl"))
}

fn check(name: &str, module: &IrModule) {
    let text = match write_module(module, &ALL) {
        Ok(source) => source.text,
        Err(diagnostics) => {
            let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            panic!("{name}:\n{}", all.join("\n"))
        }
    };
    chipdock_test_support::bless(&golden(name), &text).unwrap_or_else(|error| panic!("{error}"));
    compiles(name, &text);
}

#[test]
fn goldens_are_current_and_compile() {
    check("elementwise", &elementwise());
    check("shared", &shared_memory());
    check("dynamic", &dynamic());
    check("vectors", &vectors());
    check("atomics", &atomics());
    check("warps", &warps());
    check("scalars", &scalars());
}

/// Everything that is not supported is listed, and each refusal says whose it is and what to do.
#[test]
fn unsupported_nodes_are_listed() {
    let nothing = Features {
        has_float64: false,
        has_int64_atomics: false,
        has_subgroups: false,
        divides: false,
        is_fast: false,
        warp_size: 32,
    };
    let dialect = OpenClDialect { features: nothing };
    let messages = |module: &IrModule| -> Vec<String> {
        unsupported(module, &dialect).into_iter().map(|diagnostic| diagnostic.message).collect()
    };
    for (module, parts) in [
        (atomics(), ["has no atomic_add of int64", "supports_int64_atomics", "supports_float64"]),
        (warps(), ["has no tvm_warp_activemask", "has no tvm_warp_shuffle_xor", "barrier of scope \"warp\""]),
        (scalars(), ["has no float64", "supports_float64", "compute in float32"]),
    ] {
        let found = messages(&module);
        for part in parts {
            assert!(found.iter().any(|message| message.contains(part)), "{part} in {found:#?}");
        }
        assert!(found.iter().all(|message| message.starts_with("target opencl: ")), "{found:#?}");
    }
    // The rest of the language needs nothing of the device.
    let text = write_module(&vectors(), &dialect).unwrap().text;
    assert!(!text.contains("OPENCL EXTENSION") && text.contains("cd_sqrt_f32("), "{text}");
    compiles("without", &text);
}

/// The index says what the loader has to know.
#[test]
fn the_index_has_kernels_options_and_extensions() {
    let target = |options: &str| {
        let json = format!("{{\"kind\": \"opencl\"{options}}}");
        Target::from_canonical_json(&serde_json::from_str(&json).unwrap()).unwrap()
    };
    let index = build_module(&dynamic(), &target("")).unwrap().index;
    assert_eq!(index["options"]["build_options"], json!(["-cl-std=CL1.2"]), "nothing is divided");
    assert_eq!(index["functions"][0]["name"], "dynamic_kernel");
    assert_eq!(index["functions"][0]["args"], json!(["handle", "handle", "int32"]));
    let exact = json!(["-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt"]);
    let index = build_module(&vectors(), &target("")).unwrap().index;
    assert_eq!(index["options"]["build_options"], exact, "it takes square roots");
    let without = ", \"supports_correctly_rounded_divide_sqrt\": false";
    let index = build_module(&vectors(), &target(without)).unwrap().index;
    assert_eq!(index["options"]["build_options"], json!(["-cl-std=CL1.2"]));
    let index = build_module(&atomics(), &target(", \"fast-math\": true")).unwrap().index;
    assert_eq!(index["options"]["build_options"], json!(["-cl-std=CL1.2", "-cl-fast-relaxed-math"]));
    assert_eq!(index["options"]["extensions"], json!(["cl_khr_fp64", "cl_khr_int64_base_atomics"]));
    let index = build_module(&warps(), &target(", \"supports_subgroups\": true")).unwrap().index;
    assert_eq!(index["options"]["build_options"][0], "-cl-std=CL2.0");
}

/// A name that the language has taken is kept for no variable, and refused for a kernel.
#[test]
fn taken_names_are_given_to_nobody() {
    let (data, buffer) = pointer("float4", DType::FLOAT32);
    let module = |name: &str| {
        grid(name, vec![data.clone()], |_, t| vec![Stmt::store(&buffer, vec![t.clone()], f32s(1.0))])
    };
    compiles("names", &write_module(&module("f_kernel"), &ALL).unwrap().text);
    let found = unsupported(&module("vload4"), &ALL);
    assert!(found[0].message.contains("\"vload4\" cannot name a function here"), "{found:?}");
}
