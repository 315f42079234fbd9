//! INT-I11: packed calls. The output of the passes is run in `chipdock-passes` and by its users;
//! here the ops themselves are tested.

use chipdock_interpret::{
    Array, ErrorKind, InterpretError, Interpreter, PackedArg, PackedOutcome, PackedTensor,
};
use chipdock_ir::{
    Attrs, Buffer, BufferNode, CompareOp, DType, Expr, IrModule, Op, Param, PrimFunc, Stmt, StmtKind,
    StorageScope, StructField, Var, build,
};

use crate::floats;

const F32: DType = DType::FLOAT32;
const I32: DType = DType::INT32;
const I64: DType = DType::INT64;
const HANDLE: DType = DType::HANDLE;

fn get(handle: &Expr, index: i32, field: StructField, dtype: DType) -> Expr {
    Expr::call(Op::StructGet, vec![handle.clone(), Expr::i32(index), Expr::i32(field as i32)], dtype)
}

fn set(handle: &Expr, field: StructField, value: Expr) -> Stmt {
    let args = vec![handle.clone(), Expr::i32(0), Expr::i32(field as i32), value];
    Stmt::new(StmtKind::Evaluate(Expr::call(Op::StructSet, args, HANDLE)))
}

fn returns(status: i32) -> Stmt {
    Stmt::new(StmtKind::Return(Some(Expr::i32(status))))
}

/// A packed function of that body over (args, num_args, result).
fn packed(body: impl FnOnce(&mut build::Body, [Expr; 3])) -> IrModule {
    let params = [("self_handle", HANDLE), ("args", HANDLE), ("num_args", I32), ("result", HANDLE)]
        .map(|(name, t)| Var::new(name, t));
    let mut f = build::function("f");
    let [_, args, n, result] = params.clone().map(|var| var.expr());
    body(&mut f, [args, n, result]);
    let body = f.finish().body;
    let params = params.into_iter().map(Param::Var).collect();
    build::module([PrimFunc {
        name: "f".into(),
        params,
        ret: Some(I32),
        attrs: Attrs::new(),
        s_tir: false,
        alloc_buffers: vec![],
        body,
    }])
}

fn run(module: &IrModule, args: &mut [PackedArg]) -> Result<PackedOutcome, InterpretError> {
    assert_eq!(chipdock_ir::validate::validate(module, chipdock_ir::Stage::Scheduled), Ok(()));
    let before = args.to_vec();
    let plain = Interpreter::new(module).run_packed("f", &mut before.clone());
    let outcome = Interpreter::new(module).with_bounds().run_packed("f", args);
    assert_eq!(plain.is_ok(), outcome.is_ok());
    if outcome.is_err() {
        assert_eq!(args, before, "INT-I6: arguments stay as they were");
    }
    outcome
}

/// Doubles the n elements of a tensor, through a pointer of its own.
fn doubles() -> IrModule {
    packed(|f, [args, n, result]| {
        let one = Expr::compare(CompareOp::Eq, n, Expr::i32(1));
        f.push(Stmt::new(StmtKind::Assert {
            condition: one,
            kind: "TypeError".into(),
            message: vec![Expr::str("expected 1 argument")],
        }));
        let is_object =
            Expr::compare(CompareOp::Eq, get(&args, 0, StructField::AnyTypeIndex, I32), Expr::i32(70));
        let offset = Expr::select(is_object, Expr::int(24, I64), Expr::int(0, I64));
        let value = get(&args, 0, StructField::AnyValue, HANDLE);
        let tensor = f.bind("tensor", Expr::call(Op::HandleAddByteOffset, vec![value, offset], HANDLE));
        // ndim, dtype code, bits and lanes at once.
        let header = Expr::call(Op::HandleLoad, vec![tensor.clone(), Expr::int(16, I64)], I64);
        f.push(Stmt::new(StmtKind::Assert {
            condition: Expr::compare(CompareOp::Eq, header, Expr::int(1 | 2 << 32 | 32 << 40 | 1 << 48, I64)),
            kind: "TypeError".into(),
            message: vec![
                Expr::str("expected float32, found bits "),
                get(&tensor, 0, StructField::TypeBits, DType::UINT8),
            ],
        }));
        let shape = f.bind("shape", get(&tensor, 0, StructField::Shape, HANDLE));
        let extent = f.bind("n", get(&shape, 0, StructField::Int64Element, I64));
        let data = Var::pointer("data", F32, StorageScope::GLOBAL);
        let bytes = get(&tensor, 0, StructField::ByteOffset, DType::UINT64).cast(I64);
        let first = vec![get(&tensor, 0, StructField::Data, HANDLE), bytes];
        let value = Expr::call(Op::HandleAddByteOffset, first, HANDLE);
        f.push(Stmt::new(StmtKind::Bind { var: data.clone(), value }));
        let a = Buffer::new("A", vec![extent.clone()], F32, StorageScope::GLOBAL);
        let a = Buffer::from_node(BufferNode { data, ..(*a).clone() });
        f.push(Stmt::new(StmtKind::DeclBuffer { buffer: a.clone(), data: None }));
        f.range("i", extent.clone(), |f, i| f.store(&a, [&i], a.at([&i]) + a.at([&i])));
        f.push(set(&result, StructField::AnyTypeIndex, Expr::i32(1)));
        f.push(set(&result, StructField::AnyValue, extent));
        f.push(returns(0));
    })
}

#[test]
fn int_i11_tensors_come_borrowed_and_in_objects_with_offsets() {
    let array = floats(F32, &[1.0, 2.0, 3.0]);
    for is_object in [false, true] {
        let tensor = PackedTensor { is_object, ..array.clone().into() };
        let mut args = [PackedArg::Tensor(tensor)];
        let outcome = run(&doubles(), &mut args).unwrap();
        assert_eq!(outcome.returned, PackedArg::Int(3));
        assert_eq!(outcome.outputs[0].array.to_f64(), [2.0, 4.0, 6.0]);
        let PackedArg::Tensor(written) = &args[0] else { panic!() };
        assert_eq!(written.array, outcome.outputs[0].array);
    }
    // The last two of three elements.
    let two = Array { shape: vec![2], ..array };
    let mut args = [PackedArg::Tensor(PackedTensor { byte_offset: 4, ..two.into() })];
    let outcome = run(&doubles(), &mut args).unwrap();
    assert_eq!(floats(F32, &[1.0, 4.0, 6.0]).data, outcome.outputs[0].array.data);
}

#[test]
fn int_i11_errors_of_the_function_are_its_own_and_of_pointers_are_found() {
    let error = run(&doubles(), &mut []).unwrap_err();
    assert_eq!(error.to_string(), "in f: assertion failed: TypeError: expected 1 argument");
    let halves = floats(DType::FLOAT16, &[1.0]);
    let error = run(&doubles(), &mut [PackedArg::Tensor(halves.into())]).unwrap_err();
    assert_eq!(error.to_string(), "in f: assertion failed: TypeError: expected float32, found bits 16");
    // A null pointer, an extent past the memory, a missing argument's slot.
    let error = run(&doubles(), &mut [PackedArg::None]).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::OutsideMemory { .. }), "{error}");
    let long = Array { shape: vec![9], ..floats(F32, &[1.0]) };
    let error = run(&doubles(), &mut [PackedArg::Tensor(long.into())]).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::OutsideMemory { offset_bytes: 4, size_bytes: 4, .. }), "{error}");
    let past = packed(|f, [args, _, _]| {
        f.bind("t", get(&args, 1, StructField::AnyTypeIndex, I32));
        f.push(returns(0));
    });
    let error = run(&past, &mut [PackedArg::Int(1)]).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::OutsideMemory { offset_bytes: 16, .. }), "{error}");
    // A status of its own; the error that was raised before.
    let error = run(&packed(|f, _| f.push(returns(7))), &mut []).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Status { status: 7 }));
    let throws = packed(|f, _| {
        f.evaluate(Expr::call(Op::ThrowLastError, vec![], HANDLE));
        f.push(returns(0));
    });
    assert!(matches!(run(&throws, &mut []).unwrap_err().kind, ErrorKind::Status { status: -1 }));
    // Not a packed function.
    let module = build::module([build::function("f").finish()]);
    let error = Interpreter::new(&module).run_packed("f", &mut []).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Argument { .. }), "{error}");
}

#[test]
fn int_i11_scalars_have_the_type_that_their_slot_says() {
    let module = packed(|f, [args, _, result]| {
        let float = get(&args, 0, StructField::AnyValue, DType::FLOAT64);
        let int = get(&args, 1, StructField::AnyValue, I64);
        f.push(set(&result, StructField::AnyTypeIndex, Expr::i32(3)));
        f.push(set(&result, StructField::AnyPadding, Expr::int(0, DType::UINT32)));
        f.push(set(&result, StructField::AnyValue, (float + int.cast(DType::FLOAT64)).cast(F32)));
        f.push(returns(0));
    });
    let outcome = run(&module, &mut [PackedArg::Float(0.5), PackedArg::Int(-3)]).unwrap();
    assert_eq!(outcome.returned, PackedArg::Float(-2.5));
}

#[test]
fn int_i11_workspaces_are_freed_once_and_undefined_until_written() {
    let workspace = |frees: usize, writes: bool| {
        let module = packed(move |f, [_, _, result]| {
            let data = Var::pointer("W", F32, StorageScope::GLOBAL);
            let size = Expr::int(8, DType::UINT64);
            let value = Expr::call(Op::AllocateWorkspace, vec![Expr::i32(1), Expr::i32(0), size], HANDLE);
            f.push(Stmt::new(StmtKind::Bind { var: data.clone(), value }));
            let w = Buffer::new("W", vec![Expr::i32(2)], F32, StorageScope::GLOBAL);
            let w = Buffer::from_node(BufferNode { data: data.clone(), ..(*w).clone() });
            f.push(Stmt::new(StmtKind::DeclBuffer { buffer: w.clone(), data: None }));
            if writes {
                f.store(&w, [1], Expr::float(0.1, F32) + Expr::float(0.2, F32));
            }
            f.push(set(&result, StructField::AnyTypeIndex, Expr::i32(3)));
            f.push(set(&result, StructField::AnyValue, w.at([1]).cast(DType::FLOAT64)));
            for _ in 0..frees {
                let args = vec![Expr::i32(1), Expr::i32(0), data.expr()];
                f.evaluate(Expr::call(Op::FreeWorkspace, args, I32));
            }
            f.push(returns(0));
        });
        run(&module, &mut [])
    };
    assert_eq!(workspace(1, true).unwrap().returned, PackedArg::Float(f64::from(0.1_f32 + 0.2_f32)));
    assert!(matches!(workspace(1, false).unwrap_err().kind, ErrorKind::Uninitialized { .. }));
    for frees in [0, 2] {
        assert!(matches!(workspace(frees, true).unwrap_err().kind, ErrorKind::Workspace { .. }));
    }
}
