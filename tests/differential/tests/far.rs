//! Elements that lie 2^31 elements or more after the start of their memory, on every backend: only
//! a few pages of it are touched.
//!
//! A device that has less memory, or fewer bits in its indices, refuses by name; nothing else
//! passes for a refusal.

use std::collections::BTreeMap;

use chipdock_host::{AnyView, CompileOptions, Host, Tensor};
use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    Buffer, BufferNode, Child, DType, Expr, ExprKind, IrModule, PrimFunc, Stmt, StmtKind, StorageScope, Var,
};
use chipdock_programs::{Options, arbitrary};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::{hold, host, on_each, outputs, run as runner};
use chipdock_test_support::sample;

/// Number of elements in a row that is touched.
const N: usize = 16;

/// The words of a device that has less memory.
const NO_ROOM: &str = "the device allocates at most";

/// Runs `f(A, B, C, more)`: B is to be A, and C -1. The refusal, if it was refused.
fn run(host: &Host, backend: &Backend, text: &str, more: &[AnyView<'_>]) -> Result<(), String> {
    let module = chipdock_script::parse(text, "far.py").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let compiled = host
        .compile(&module, &backend.target, &CompileOptions::default())
        .map_err(|error| format!("{error} {:?}", error.diagnostics()))?;
    let loaded = host.load(&compiled.artifact).expect("loaded");
    let values: Vec<i8> = (1..).take(N).collect();
    let of = |values: &[i8]| Tensor::from_slice(&backend.device, &[N as i64], values).expect("made");
    let (a, b, c) = (of(&values), of(&[0; N]), of(&[0; N]));
    let mut args = vec![AnyView::from(&a), AnyView::from(&b), AnyView::from(&c)];
    args.extend(more.iter().cloned());
    loaded.function("f").expect("there").call(&args).map_err(|error| error.to_string())?;
    assert_eq!(b.to_vec::<i8>().expect("read"), values, "row 0\n{text}");
    assert_eq!(c.to_vec::<i8>().expect("read"), [-1; N], "the far row\n{text}");
    Ok(())
}

/// As [`run`]; a refusal says how many elements or bytes there are, and who has not so many.
fn run_or_refuse(host: &Host, backend: &Backend, text: &str, scalars: &[i64], sizes: &[&str]) {
    let scalars: Vec<AnyView<'_>> = scalars.iter().map(|scalar| AnyView::from(*scalar)).collect();
    let Err(why) = run(host, backend, text, &scalars) else { return };
    let is_by_size = sizes.iter().any(|size| why.contains(size));
    let is_limit = why.contains("elements of buffer S") || why.contains(NO_ROOM);
    assert!(!backend.is_host() && is_by_size && is_limit, "{}: {why}\n{text}", backend.name());
    println!("{}: {why}", backend.name());
}

/// A row near the start and one far from it, written one after the other and read afterwards.
fn rows(declared: &str, dtype: &str, [near, far]: [&str; 2]) -> String {
    let loops = |name: &str, stmt: &str| {
        format!(
            "    for i in range({N}):\n        with T.sblock(\"{name}\"):\n            vi = T.axis.spatial({N}, i)\n            {stmt}\n"
        )
    };
    let stmts = [
        ("near", format!("S[{near}] = T.Cast(\"{dtype}\", A[vi])")),
        ("far", format!("S[{far}] = T.Cast(\"{dtype}\", T.int8(-1))")),
        ("B", format!("B[vi] = T.Cast(\"int8\", S[{near}])")),
        ("C", format!("C[vi] = T.Cast(\"int8\", S[{far}])")),
    ];
    let body: String = stmts.iter().map(|(name, stmt)| loops(name, stmt)).collect();
    format!("{declared}{body}")
}

fn function(scalars: &str, body: &str) -> String {
    let buffer = format!("T.Buffer(({N},), \"int8\")");
    format!(
        "@T.prim_func(s_tir=True)\ndef f(A: {buffer}, B: {buffer}, C: {buffer}{scalars}):\n    \
         T.func_attr({{\"tirx.noalias\": True}})\n{body}"
    )
}

fn allocated(shape: &str, dtype: &str) -> String {
    format!("    S = T.sblock_alloc_buffer(({shape}), \"{dtype}\")\n")
}

#[test]
fn far_rows_of_constant_sizes() {
    let host = host();
    on_each(&host, |backend| {
        for far in ["65536, vi", "40000, vi", "32768, vi", "65536, 65535 - vi"] {
            let body = rows(&allocated("65537, 65536", "int8"), "int8", ["0, vi", far]);
            run_or_refuse(&host, backend, &function("", &body), &[], &["4295032832"]);
        }
        // Fewer than 2^31 elements, of more than 2^32 bytes.
        let body = rows(&allocated("8193, 65536", "int64"), "int64", ["0, vi", "8192, vi"]);
        run_or_refuse(&host, backend, &function("", &body), &[], &["4295491584"]);
    });
}

#[test]
fn far_rows_of_symbolic_sizes() {
    let host = host();
    on_each(&host, |backend| {
        for (n, m, far) in [(65537, 65536, "n - 1, vi"), (40001, 65536, "n - 1, m - 1 - vi")] {
            for dtype in ["int32", "int64"] {
                let scalars = format!(", n: T.{dtype}, m: T.{dtype}");
                let body = rows(&allocated("n, m", "int8"), "int8", ["0, vi", far]);
                let size = (n * m).to_string();
                run_or_refuse(&host, backend, &function(&scalars, &body), &[n, m], &[&size]);
            }
        }
    });
}

/// Two elements a byte: the memory is small enough for devices that allocate no more than 2^31
/// bytes.
#[test]
fn far_rows_of_packed_elements() {
    let host = host();
    on_each(&host, |backend| {
        let values = ["0, vi * 2", "40000, vi * 2"];
        let body = rows(&allocated("40001, 65536", "int4"), "int4", values);
        let body = body.replace("T.Cast(\"int4\", A[vi])", "T.Cast(\"int4\", A[vi] % T.int8(8))");
        let text = function("", &body.replace("B[vi] = T", "B[vi] = A[vi] // T.int8(8) * T.int8(8) + T"));
        run_or_refuse(&host, backend, &text, &[], &["2621505536", "1310752768"]);
    });
}

#[test]
fn far_views() {
    let host = host();
    on_each(&host, |backend| {
        for (shape, far, scalars, sizes) in [
            ("65537, 65536", "65536", "", &[][..]),
            ("n, m", "n - 1", ", n: T.int32, m: T.int32", &[65537, 65536]),
        ] {
            let view = |name: &str, row: &str, stmt: &str| {
                format!(
                    "    for i in range(1):\n        with T.sblock(\"{name}\"):\n            \
                     vi = T.axis.spatial(1, i)\n            \
                     V = T.match_buffer(S[{row} + vi, 0:{N}], ({N},), \"int8\", offset_factor=1)\n            \
                     for j in range({N}):\n                {stmt}\n"
                )
            };
            let mut body = allocated(shape, "int8");
            body += &view("near", "0", "V[j] = A[j]");
            body += &view("far", far, "V[j] = T.int8(-1)");
            body += &view("B", "0", "B[j] = V[j]");
            body += &view("C", far, "C[j] = V[j]");
            run_or_refuse(&host, backend, &function(scalars, &body), sizes, &["4295032832"]);
        }
    });
}

/// Tensors of 4 GiB, of a constant and of a symbolic shape, whole and from their middle on.
#[test]
fn far_elements_of_parameters() {
    let host = host();
    on_each(&host, |backend| {
        let whole = match Tensor::empty(&backend.device, &[65537, 65536], DType::INT8) {
            Ok(whole) => whole,
            Err(error) => {
                let why = error.to_string();
                assert!(why.contains(NO_ROOM) && !backend.is_host(), "{}: {why}", backend.name());
                println!("{}: {why}", backend.name());
                return;
            }
        };
        let part = whole.slice(0, 32768, 32769).expect("rows");
        for (tensor, n) in [(&whole, 65537), (&part, 32769)] {
            for shape in [format!("{n}, 65536"), "n, m".to_owned()] {
                let sizes = if shape == "n, m" { "    n, m = T.int32(), T.int32()\n" } else { "" };
                let declared = format!("{sizes}    S = T.match_buffer(s, ({shape}), \"int8\")\n");
                let far = format!("{}, vi", n - 1);
                let body = rows("", "int8", ["0, vi", &far]);
                let text = function(", s: T.handle", &body).replacen(
                    "    T.func",
                    &format!("{declared}    T.func"),
                    1,
                );
                run(&host, backend, &text, &[AnyView::from(tensor)])
                    .unwrap_or_else(|why| panic!("{}: {why}", backend.name()));
            }
        }
    });
}

/// Random programs of a run, on each backend.
const PROGRAMS: u64 = 24;
/// Random programs of a whole run.
const PROGRAMS_IN_ALL: u64 = 400;

/// The memory that a function allocates once, around its loops.
fn allocations(function: &PrimFunc) -> Vec<Buffer> {
    fn collect(stmt: &Stmt, all: &mut Vec<Buffer>) {
        match &stmt.kind {
            StmtKind::Seq(stmts) => stmts.iter().for_each(|stmt| collect(stmt, all)),
            StmtKind::AllocBuffer { buffer, .. } => all.push(buffer.clone()),
            StmtKind::BlockRealize { block, .. } if block.iter_vars.is_empty() => {
                all.extend(block.alloc_buffers.iter().cloned());
                collect(&block.body, all);
            }
            _ => {}
        }
    }
    let mut all = function.alloc_buffers.clone();
    collect(&function.body, &mut all);
    all.retain(|buffer| {
        let is_plain = buffer.scope == StorageScope::GLOBAL && buffer.elem_offset.is_none();
        is_plain && !is_used_by_address(function, &buffer.data)
    });
    all
}

/// Whether memory is used otherwise than by the buffer that it was allocated for: such a use does
/// not know the offset.
fn is_used_by_address(function: &PrimFunc, data: &Var) -> bool {
    let mut is_used = false;
    function.body.walk(&mut |child| match child {
        Child::Stmt(stmt) => {
            is_used |= matches!(&stmt.kind, StmtKind::DeclBuffer { buffer, .. } if buffer.data == *data);
        }
        Child::Expr(expr) => {
            expr.walk(&mut |e| is_used |= matches!(&e.kind, ExprKind::Var(var) if var == data))
        }
    });
    is_used
}

/// The module with the elements of one allocation, chosen by `seed`, 4 GiB after its beginning
/// (IR-B3); `None` without one.
fn moved_far(module: &IrModule, name: &str, seed: u64) -> Option<IrModule> {
    let function = module.function(name)?;
    let all = allocations(function);
    let buffer = all.get(usize::try_from(seed).ok()? % all.len().max(1))?;
    let offset = (1_i128 << 32) / i128::try_from(buffer.dtype.size_bytes()).ok()?;
    let elem_offset = Some(Expr::int(offset, DType::INT64));
    let far = Buffer::from_node(BufferNode { elem_offset, ..BufferNode::clone(buffer) });
    let mut substitution = Substitution::new();
    substitution.map_buffer(buffer, &far);
    let moved = |of: &PrimFunc| if of.name == function.name { substitution.function(of) } else { of.clone() };
    Some(IrModule { functions: module.functions.iter().map(moved).collect(), ..module.clone() })
}

/// How a random program ends whose memory begins far. Expected is what the interpreter says of the
/// program as it was: it has no room for this one.
fn ended(host: &Host, backend: &Backend, seed: u64) -> Result<&'static str, String> {
    let case = arbitrary(seed, &Options { externs: false, ..Options::default() });
    let Some(module) = moved_far(&case.module, &case.function, seed) else {
        return Ok("without memory of their own");
    };
    let built = match runner::build(host, backend, &module) {
        Err(why) if backend.may_refuse(&why) => return Ok("refused"),
        built => built,
    };
    let run = || {
        let loaded = built?;
        let function = loaded.function(&case.function).map_err(|error| error.to_string())?;
        outputs(backend, &function, &case.args)
    };
    let found = match run() {
        Err(why) if !backend.is_host() && lacks_room(&why) => return Ok("refused"),
        found => found,
    };
    let expected = case.expected().map_err(|error| error.to_string())?.outputs;
    let held = found.and_then(|found| hold(&expected, &found));
    held.map(|()| "right").map_err(|why| format!("{why}\n{}", case.text()))
}

/// Whether a device says that it has not so much memory, or not so many bits in its indices.
fn lacks_room(why: &str) -> bool {
    why.contains(NO_ROOM) || why.contains("elements of buffer")
}

#[test]
fn random_programs_whose_memory_begins_far() {
    let host = host();
    on_each(&host, |backend| {
        let what = format!("random programs whose memory begins far, on {}", backend.name());
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for seed in sample::numbers(&what, PROGRAMS, PROGRAMS_IN_ALL) {
            let end = ended(&host, backend, seed);
            let end = end.unwrap_or_else(|why| panic!("seed {seed}, {}: {why}", backend.name()));
            *counts.entry(end).or_default() += 1;
        }
        println!("{}: {counts:?}", backend.name());
        assert!(!backend.is_host() || counts.contains_key("right"), "{}: {counts:?}", backend.name());
    });
}
