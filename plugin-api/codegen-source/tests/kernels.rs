//! Kernels in a language of the tests' own: no pointers, buffers and shared memory at module scope,
//! indices of 32 bits.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail their test")]

use chipdock_codegen_source::{
    Access, Allocation, AllocationPlace, Answer, Argument, Assertion, Barrier, Code, Dialect, Expressions,
    OpCall, OpTable, Place, Prelude, Refusal, Signature, Uses, Vector, unsupported, write_module,
};
use chipdock_ir::{
    AttrValue, BinaryOp, Buffer, DType, Expr, ExprKind, ForKind, IrModule, Op, Param, PointerType, PrimFunc,
    Stmt, StmtKind, StorageScope, ThreadAxis, Var, attr, build,
};

/// The language; parts of it can be as in C.
struct Toy {
    is_of_module: bool,
    place: AllocationPlace,
    index_type: DType,
}

const TOY: Toy = Toy { is_of_module: true, place: AllocationPlace::Module, index_type: DType::INT32 };

fn letters(uses: Uses) -> String {
    let all = [(uses.is_read, 'r'), (uses.is_written, 'w'), (uses.is_atomic, 'a'), (uses.is_volatile, 'v')];
    all.into_iter().filter(|(is, _)| *is).map(|(_, letter)| letter).collect()
}

fn no<T>(what: &str) -> Answer<T> {
    Err(Refusal::new(format!("has no {what}")))
}

fn element(access: &Access) -> Answer<String> {
    match &access.place {
        Place::Element(index) => Ok(format!("{}[{}]", access.base.text, index.text)),
        _ => no("vectors"),
    }
}

impl Expressions for Toy {
    fn value_type(&self, dtype: DType, _: &mut Prelude) -> Answer<String> {
        if dtype == DType::INT64 { no("int64") } else { Ok(dtype.to_string()) }
    }
    fn pointer_type(&self, _: Option<&PointerType>, _: &mut Prelude) -> Answer<String> {
        no("pointers")
    }
    fn index_type(&self) -> DType {
        self.index_type
    }
    fn integer(&self, value: i128, _: DType) -> Answer<Code> {
        Ok(Code::primary(value.to_string()))
    }
    fn float(&self, value: f64, _: DType, _: &mut Prelude) -> Answer<Code> {
        Ok(Code::primary(format!("{value:?}")))
    }
    fn cast(&self, value: &Code, _: DType, to: DType, prelude: &mut Prelude) -> Answer<Code> {
        self.value_type(to, prelude)?;
        Ok(Code::call(&to.to_string(), std::slice::from_ref(value)))
    }
    fn cast_bits(&self, value: &Code, to: DType, _: &mut Prelude) -> Answer<Code> {
        Ok(Code::call(&format!("bits_{to}"), std::slice::from_ref(value)))
    }
    fn guarded(&self, _: BinaryOp, _: &Code, _: &Code, _: DType, _: &mut Prelude) -> Answer<Code> {
        no("division")
    }
    fn thread_index(&self, axis: ThreadAxis, dtype: DType, _: &mut Prelude) -> Answer<Code> {
        Ok(Code::primary(format!("{dtype}({axis})")))
    }
    fn load(&self, access: &Access, _: &mut Prelude) -> Answer<Code> {
        Ok(Code::primary(element(access)?))
    }
    fn store(&self, access: &Access, value: &Code, _: &mut Prelude) -> Answer<String> {
        Ok(format!("{} = {};", element(access)?, value.text))
    }
    fn vector(&self, _: Vector<'_>, _: DType, _: &mut Prelude) -> Answer<Code> {
        no("vectors")
    }
    fn ops(&self) -> &OpTable {
        &OpTable { rows: &[] }
    }
    fn op(&self, call: &OpCall<'_>, _: &mut Prelude) -> Option<Answer<Code>> {
        match (call.op, call.args) {
            (Op::AtomicAdd, [Argument::Address(place), Argument::Value(value, _)]) => {
                Some(element(place).map(|element| {
                    Code::primary(format!("add({element} {}, {})", letters(place.uses), value.text))
                }))
            }
            (Op::WarpActivemask, _) => Some(Ok(Code::primary("mask()"))),
            _ => None,
        }
    }
}

impl Dialect for Toy {
    fn is_reserved(&self, name: &str) -> bool {
        matches!(name, "var" | "let")
    }
    fn helper_prefix(&self) -> &str {
        "toy_"
    }
    fn name(&self) -> &str {
        "toy"
    }
    fn header(&self, _: &Prelude) -> String {
        String::new()
    }
    fn allocation(&self, a: &Allocation<'_>, _: &mut Prelude) -> Answer<String> {
        Ok(format!("var<{}> {}: {}[{}] {}", a.buffer.scope, a.name, a.buffer.dtype, a.count, letters(a.uses)))
    }
    fn allocation_place(&self, scope: &StorageScope) -> AllocationPlace {
        if *scope == StorageScope::SHARED { self.place } else { AllocationPlace::Here }
    }
    fn barrier(&self, barrier: &Barrier<'_>, _: &mut Prelude) -> Answer<String> {
        Ok(format!("{}{};", barrier.scope, if barrier.orders_global { "+global" } else { "" }))
    }
    fn are_parameters_of_module(&self, calling_conv: i64) -> bool {
        self.is_of_module && calling_conv == 2
    }
    fn parameter(&self, signature: &Signature, position: usize, _: &mut Prelude) -> Code {
        let param = &signature.params[position];
        if param.dtype.is_handle() || signature.launch.is_none() {
            return Code::primary(&param.name);
        }
        Code::primary(format!("args.{}", param.name))
    }
    fn module_lines(&self, signature: &Signature, _: &mut Prelude) -> Answer<Vec<String>> {
        let line = |param: &chipdock_codegen_source::Parameter| {
            let uses = Uses {
                is_read: param.is_read,
                is_written: param.is_written,
                is_atomic: param.is_atomic,
                is_volatile: false,
                ..Uses::default()
            };
            format!("param {} {}", param.name, letters(uses))
        };
        Ok(signature.params.iter().filter(|param| param.dtype.is_handle()).map(line).collect())
    }
    fn signature(&self, signature: &Signature, _: &mut Prelude) -> Answer<String> {
        let launch = match &signature.launch {
            Some(launch) => {
                let shared = launch.dynamic_shared.as_ref();
                let shared =
                    shared.map(|s| format!(" {}: {}[{:?}]", s.name, s.element, s.count)).unwrap_or_default();
                let warp = if launch.uses_warp { " warp" } else { "" };
                format!("{:?} {}{shared}{warp}", launch.block, launch.axes.len())
            }
            None => "internal".to_owned(),
        };
        Ok(format!("fn {} {launch}", signature.name))
    }
    fn assert(&self, _: &Assertion<'_>, _: &mut Prelude) -> Answer<String> {
        no("errors")
    }
    fn call_extern(&self, _: &str, _: &[(Code, DType)], _: DType, _: &mut Prelude) -> Answer<Code> {
        no("C functions")
    }
}

fn pointer(name: &str, dtype: DType) -> (Var, Buffer) {
    let buffer = Buffer::new(name.to_owned(), vec![Expr::i32(1024)], dtype, StorageScope::GLOBAL);
    (buffer.data.clone(), buffer)
}

fn shared(name: &str, dtype: DType) -> Buffer {
    Buffer::new(name.to_owned(), vec![Expr::i32(64)], dtype, StorageScope::SHARED)
}

fn alloc(buffer: &Buffer) -> Stmt {
    Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Default::default() })
}

fn evaluate(value: Expr) -> Stmt {
    Stmt::new(StmtKind::Evaluate(value))
}

fn barrier(scope: &str) -> Stmt {
    evaluate(Expr::call(Op::StorageSync, vec![Expr::str(scope.to_owned())], DType::HANDLE))
}

/// A kernel of 64 threads, whose index `t` is.
fn kernel(name: &str, params: Vec<Var>, told: &[&str], body: impl FnOnce(Expr) -> Vec<Stmt>) -> PrimFunc {
    let mut f = build::function(name.to_owned()).finish();
    let t = Var::new("t", DType::INT32);
    f.params = params.into_iter().map(Param::Var).collect();
    f.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(2));
    f.attrs.insert(attr::NOALIAS.into(), AttrValue::Bool(true));
    let told = told.iter().map(|text| AttrValue::Str((*text).into())).collect();
    f.attrs.insert(attr::KERNEL_LAUNCH_PARAMS.into(), AttrValue::List(told));
    let body = Stmt::seq(body(t.expr()));
    f.body =
        Stmt::new(StmtKind::LaunchThread { var: t, axis: ThreadAxis::ThreadX, extent: Expr::i32(64), body });
    f.s_tir = false;
    f
}

fn text(module: &IrModule, dialect: &Toy) -> String {
    write_module(module, dialect).unwrap().text
}

const THREADS: &[&str] = &["threadIdx.x"];

fn copy(name: &str) -> PrimFunc {
    let ((a_data, a), (b_data, b)) = (pointer("A", DType::FLOAT32), pointer("B", DType::FLOAT32));
    kernel(name, vec![a_data, b_data], THREADS, |t| {
        let s = shared("S", DType::FLOAT32);
        let read = Expr::load(&s, vec![Expr::i32(63) - t.clone()]);
        let inner = Stmt::seq([
            alloc(&s),
            Stmt::store(&s, vec![t.clone()], Expr::load(&a, vec![t.clone()])),
            barrier("shared"),
            Stmt::store(&b, vec![t.clone()], read),
        ]);
        vec![Stmt::if_then(Expr::bool(true), inner, None)]
    })
}

#[test]
fn src_s9_s10_s11_names_at_module_scope_are_unique_in_the_file() {
    let module = build::module([copy("f_kernel"), copy("g_kernel")]);
    let text = text(&module, &TOY);
    let expected = "\
param A r
param B w
var<shared> S: float32[64] rw
fn f_kernel [Some(64), Some(1), Some(1)] 1 {
    const int32 t = int32(threadIdx.x);
    if (1) {
        S[t] = A[t];
        shared;
        B[t] = S[63 - t];
    }
}
param A_1 r
param B_1 w
var<shared> S_1: float32[64] rw
fn g_kernel [Some(64), Some(1), Some(1)] 1 {";
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines.join("\n").starts_with(expected), "{text}");
    assert!(text.contains("S_1[t] = A_1[t];"), "{text}");
}

#[test]
fn src_s10_allocations_stand_where_the_language_wants_them() {
    let module = build::module([copy("f_kernel")]);
    let place = |place| text(&module, &Toy { place, is_of_module: false, ..TOY });
    let at = |text: &str, part: &str| text.find(part).unwrap();
    for (text, behind, before) in [
        (place(AllocationPlace::Module), "param B", "fn f_kernel"),
        (place(AllocationPlace::Function), "fn f_kernel", "const int32 t"),
        (place(AllocationPlace::Here), "if (1)", "S[t] ="),
    ] {
        let declared = at(&text, "var<shared> S");
        assert!(at(&text, behind) < declared && declared < at(&text, before), "{text}");
        assert_eq!(text.matches("var<shared>").count(), 1, "{text}");
    }
}

#[test]
fn src_s10_dynamic_shared_memory_is_of_the_launch() {
    let dynamic = |n: Expr| Buffer::new("D", vec![n], DType::UINT8, StorageScope::parse("shared.dyn"));
    let of = |buffers: Vec<Buffer>, told: &[&str]| {
        build::module([kernel("f_kernel", vec![], told, |t| {
            let store = |b: &Buffer| Stmt::store(b, vec![t.clone()], Expr::constant(1, DType::UINT8));
            buffers.iter().flat_map(|b| [alloc(b), store(b)]).collect()
        })])
    };
    let told = ["threadIdx.x", "tirx.use_dyn_shared_memory"];
    let module = of(vec![dynamic(Expr::i32(64))], &told);
    let found = text(&module, &TOY);
    assert!(found.contains("1 D: uint8[Some(64)] {") && found.contains("D[t] = 1;"), "{found}");
    assert!(!found.contains("var<"), "{found}");
    // A launch that tells a size has the memory, whether or not the kernel uses it.
    let found = text(&of(vec![], &told), &TOY);
    assert!(found.contains("dynamic_shared: uint8[None]"), "{found}");
    let refused =
        |module: &IrModule| unsupported(module, &TOY).iter().map(|d| d.message.clone()).collect::<String>();
    assert!(
        refused(&of(vec![dynamic(Expr::i32(1)), dynamic(Expr::i32(2))], &told)).contains("merge them first")
    );
    assert!(refused(&of(vec![dynamic(Expr::i32(1))], THREADS)).contains("does not tell the bytes"));
}

#[test]
fn src_s9_an_axis_that_the_launch_does_not_tell_is_refused() {
    let found = unsupported(&build::module([kernel("f_kernel", vec![], &["blockIdx.x"], |_| vec![])]), &TOY);
    assert!(found[0].message.contains("does not tell the extent of threadIdx.x"), "{found:?}");
    let mut internal = kernel("f", vec![], THREADS, |_| vec![]);
    internal.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(0));
    let found = unsupported(&build::module([internal]), &TOY);
    assert!(found[0].message.contains("launches threadIdx.x in kernels alone"), "{found:?}");
}

#[test]
fn src_s11_s12_uses_of_memory_are_told() {
    let (n_data, n) = pointer("N", DType::INT32);
    let add = |buffer: &Buffer, at: Expr| {
        let place = Expr::call(Op::AddressOf, vec![Expr::load(buffer, vec![at])], DType::HANDLE);
        Expr::call(Op::AtomicAdd, vec![place, Expr::i32(1)], DType::INT32)
    };
    let module = build::module([kernel("f_kernel", vec![n_data], THREADS, |t| {
        let (s, mask) = (shared("S", DType::INT32), Var::new("mask", DType::UINT32));
        let value = Expr::call(Op::WarpActivemask, vec![], DType::UINT32);
        vec![
            Stmt::new(StmtKind::AllocBuffer {
                buffer: s.clone(),
                annotations: [("tirx.volatile".into(), AttrValue::Bool(true))].into(),
            }),
            evaluate(add(&s, t.clone())),
            Stmt::new(StmtKind::Bind { var: mask.clone(), value }),
            evaluate(add(&n, mask.expr().cast(DType::INT32))),
        ]
    })]);
    let text = text(&module, &TOY);
    for part in
        ["param N rwa", "int32[64] rwav", "add(S[t] rwav, 1);", "add(N[int32(mask)] rwa, 1);", "1 warp {"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// What stands before and after a barrier, or in a loop around it, is ordered by it.
#[test]
fn src_s12_a_barrier_orders_global_memory_where_it_is_written() {
    let of = |body: &dyn Fn(&Buffer, &Buffer, Expr) -> Vec<Stmt>, is_noalias: bool| {
        let ((a_data, a), (b_data, b)) = (pointer("A", DType::INT32), pointer("B", DType::INT32));
        let mut f = kernel("f_kernel", vec![a_data, b_data], THREADS, |t| body(&a, &b, t));
        f.attrs.insert(attr::NOALIAS.into(), AttrValue::Bool(is_noalias));
        text(&build::module([f]), &TOY).contains("shared+global;")
    };
    let read = |buffer: &Buffer, t: &Expr| Expr::load(buffer, vec![t.clone()]);
    let once = |a: &Buffer, b: &Buffer, t: Expr| {
        let x = Var::new("x", DType::INT32);
        vec![
            Stmt::new(StmtKind::Bind { var: x.clone(), value: read(a, &t) }),
            barrier("shared"),
            Stmt::store(b, vec![t], x.expr()),
        ]
    };
    assert!(!of(&once, true), "each buffer is on one side alone");
    assert!(of(&once, false), "they may be one memory");
    let again = |a: &Buffer, b: &Buffer, t: Expr| {
        let at = vec![t.clone()];
        vec![Stmt::store(b, at.clone(), read(a, &t)), barrier("shared"), Stmt::store(a, at, read(b, &t))]
    };
    assert!(of(&again, true));
    let looped = |_: &Buffer, b: &Buffer, t: Expr| {
        let i = Var::new("i", DType::INT32);
        let body = Stmt::seq([Stmt::store(b, vec![t], i.expr()), barrier("shared")]);
        vec![Stmt::for_loop(i, Expr::i32(4), ForKind::Serial, body)]
    };
    assert!(of(&looped, true));
}

/// 64-bit parts of an index in a language of 32 bits.
#[test]
fn src_s5_a_narrow_index_is_computed_in_its_type() {
    let (a_data, a) = pointer("A", DType::INT32);
    let offset = Var::new("A_elem_offset", DType::INT64);
    let module = build::module([kernel("f_kernel", vec![a_data, offset.clone()], THREADS, |t| {
        let index = (t.clone() * Expr::i32(4)).cast(DType::INT64) + offset.expr();
        vec![Stmt::store(&a, vec![index], Expr::i32(1))]
    })]);
    let text = text(&module, &TOY);
    assert!(text.contains("A[t * 4 + bits_int32(args.A_elem_offset)] = 1;"), "{text}");
}

/// What nobody reads is not declared, and a hint is no call.
#[test]
fn hints_and_dead_threads_leave_no_text() {
    let (a_data, a) = pointer("A", DType::INT32);
    let module = build::module([kernel("f_kernel", vec![a_data], THREADS, |_| {
        let assume = Expr::new(ExprKind::Int(1), DType::BOOL);
        let invariant = Expr::call(Op::ThreadInvariant, vec![Expr::i32(3)], DType::INT32);
        vec![
            evaluate(Expr::call(Op::Assume, vec![assume], DType::HANDLE)),
            Stmt::store(&a, vec![invariant], Expr::i32(1)),
            evaluate(Expr::call(Op::ThreadReturn, vec![], DType::HANDLE)),
        ]
    })]);
    let text = text(&module, &TOY);
    assert!(text.ends_with("1 {\n    A[3] = 1;\n    return;\n}\n"), "{text}");
}
