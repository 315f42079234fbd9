//! Storage types.

use super::*;

fn refused(f: build::FunctionBuilder, stage: Stage, says: &str) {
    let problems = validate(&build::module([f.finish()]), stage).unwrap_err();
    let found = problems.iter().any(|problem| problem.message.contains(says));
    assert!(found, "expected \"{says}\", found {problems:?}");
}

fn loaded(f: &mut build::FunctionBuilder, dtype: DType) -> Expr {
    let a = f.buffer("A", [4], dtype);
    Expr::load(&a, vec![Expr::i32(0)])
}

/// ir: IR-T5.
#[test]
fn storage_types_are_stored_and_cast() {
    for &dtype in DType::STORAGE {
        let says = format!(
            "{dtype} is a type of memory, which is loaded, stored and cast; cast it to compute with it"
        );
        let makes: [fn(Expr) -> Expr; 5] = [
            |a| a.clone() + a,
            |a| Expr::compare(CompareOp::Lt, a.clone(), a),
            |a| Expr::call(Op::BitwiseNot, vec![a.clone()], a.dtype),
            |a| Expr::call(Op::AddressOf, vec![a], DType::HANDLE),
            |a| Expr::call(Op::Reinterpret, vec![a], DType::UINT8),
        ];
        for make in makes {
            let mut f = build::function("f");
            let a = loaded(&mut f, dtype);
            f.evaluate(make(a));
            refused(f, Stage::Blocks, &says);
        }
        let mut f = build::function("f");
        f.buffer("A", [4], dtype.with_lanes(2));
        refused(f, Stage::Blocks, "elements of a type of memory have one lane");
        let mut f = build::function("f");
        f.scalar("x", dtype);
        refused(f, Stage::Blocks, &format!("parameter `x`: expected a buffer of {dtype}, found a scalar"));
        let mut f = build::function("f");
        let a = loaded(&mut f, dtype);
        let value = Expr::select(Expr::bool(true), a.clone(), a.cast(DType::FLOAT32).cast(dtype));
        f.evaluate(value.clone());
        assert_eq!(validate(&build::module([f.finish()]), Stage::Blocks), Ok(()));
        let mut f = build::function("f");
        let own = f.alloc("own", [4], dtype, StorageScope::LOCAL);
        f.store(&own, [&Expr::i32(0)], Expr::i32(1).cast(dtype));
        refused(f, Stage::Device, "is lowered before this stage");
    }
}

/// ir: IR-T6.
#[test]
fn shared_bytes_have_one_type() {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], DType::INT4);
    let node = BufferNode { dtype: DType::UINT8, shape: vec![Expr::i32(2)], ..(*a).clone() };
    let buffer = Buffer::from_node(node);
    f.push(Stmt::new(StmtKind::DeclBuffer { buffer, data: None }));
    refused(f, Stage::Blocks, "of uint8 is a view of memory of int4");
}

/// ir: IR-B3.
#[test]
fn an_allocation_may_have_a_constant_offset() {
    let allocated = |offset: fn(&Expr) -> Expr| {
        move |f: &mut build::FunctionBuilder| {
            let n = f.size("n");
            let own = Buffer::new("S", vec![Expr::i32(4)], DType::FLOAT32, StorageScope::LOCAL);
            let offset = Some(offset(&n));
            let buffer = Buffer::from_node(BufferNode { elem_offset: offset, ..BufferNode::clone(&own) });
            f.push(Stmt::new(StmtKind::AllocBuffer { buffer, annotations: Attrs::new() }));
        }
    };
    accepts(allocated(|_| Expr::int(0, DType::INT64)));
    accepts(allocated(|_| Expr::i32(8)));
    rejects(allocated(Expr::clone), "buffer `S` is allocated: expected no offset, or a constant, found `n`");
    rejects(allocated(|_| Expr::i32(-1)), "offset of buffer `S` is -1");
}
