//! INT-I4: constants (IR-B8).

use chipdock_interpret::{Arg, Array, ErrorKind, Interpreter};
use chipdock_ir::{Buffer, ConstantData, DType, Expr, Op, Stmt, StmtKind, StorageScope, build};

/// ir: IR-B8. The bits arrive as they are, and exactly; a second run gives the same.
#[test]
fn int_i4_constants_have_their_bits() {
    for (dtype, lanes) in [
        (DType::BOOL, vec![1, 0, 1]),
        (DType::INT8, vec![0x80, 0x7f, 0xff]),
        (DType::UINT64, vec![u64::MAX, 1 << 63, 1]),
        (DType::FLOAT16, vec![0x7c00, 0x8000, 0x0001]),
        (DType::BFLOAT16, vec![0xff80, 0x8000, 0x0001]),
        (DType::FLOAT32, vec![0x7fc0_0001, 0x8000_0000, 0x0000_0001]),
        (DType::FLOAT64, vec![0x7ff8_0000_0000_0001, 1 << 63, 1]),
    ] {
        let data = ConstantData::pack(dtype, lanes);
        let mut f = build::function("f");
        let b = f.buffer("B", [3], dtype);
        let k = f.constant("K", [3], dtype, data.clone());
        f.range("i", 3, |f, i| f.store(&b, [i.clone()], Expr::load(&k, vec![i.clone()])));
        let module = build::module([f.finish()]);
        for _ in 0..2 {
            let mut args = [Arg::Tensor(Array::zeros(dtype, &[3]))];
            let ran = Interpreter::new(&module).with_bounds().run("f", &mut args).unwrap();
            assert!(ran.output("B").is_some_and(|output| output.n_unbounded() == 0));
            let [Arg::Tensor(b)] = args else { panic!("a tensor") };
            assert_eq!(b.data, data.bytes(), "{dtype}");
        }
    }
}

/// ir: IR-B8. Elements that share a byte.
#[test]
fn int_i4_constants_of_storage_types_are_packed() {
    let mut f = build::function("f");
    let b = f.buffer("B", [3], DType::INT32);
    let k = f.constant("K", [3], DType::INT4, ConstantData::pack(DType::INT4, [0x8, 0x7, 0xf]));
    f.range("i", 3, |f, i| f.store(&b, [i.clone()], Expr::load(&k, vec![i.clone()]).cast(DType::INT32)));
    let mut args = [Arg::Tensor(Array::zeros(DType::INT32, &[3]))];
    Interpreter::new(&build::module([f.finish()])).run("f", &mut args).unwrap();
    let [Arg::Tensor(b)] = args else { panic!("a tensor") };
    assert_eq!(b.to_int(), [-8, 7, -1]);
}

/// ir: IR-B8. A pointer that no rule sees through.
#[test]
fn int_i4_a_store_to_a_constant_is_an_error() {
    let mut f = build::function("f");
    let b = f.buffer("B", [1], DType::INT32);
    let k = f.constant("K", [2], DType::INT32, ConstantData::new([7; 8]));
    let choice = Expr::compare(chipdock_ir::CompareOp::Lt, Expr::load(&b, vec![Expr::i32(0)]), Expr::i32(1));
    let pointers = vec![choice, k.data.expr(), b.data.expr()];
    let own = Buffer::new("V", vec![Expr::i32(1)], DType::INT32, StorageScope::GLOBAL);
    let data = Some(Expr::call(Op::IfThenElse, pointers, DType::HANDLE));
    f.push(Stmt::new(StmtKind::DeclBuffer { buffer: own.clone(), data }));
    f.store(&own, [0], Expr::i32(1));
    let module = build::module([f.finish()]);
    let mut args = [Arg::Tensor(Array::from_int(DType::INT32, &[1], &[0]))];
    let error = Interpreter::new(&module).run("f", &mut args).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::ConstantWritten { .. }), "{error}");
    let mut args = [Arg::Tensor(Array::from_int(DType::INT32, &[1], &[5]))];
    Interpreter::new(&module).run("f", &mut args).unwrap();
}
