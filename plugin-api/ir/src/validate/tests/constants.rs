//! Constants (IR-B8).

use super::*;
use crate::{Buffer, BufferNode, ConstantData};

fn refused(f: build::FunctionBuilder, says: &str) {
    let problems = validate(&build::module([f.finish()]), Stage::Blocks).unwrap_err();
    let found = problems.iter().any(|problem| problem.message.contains(says));
    assert!(found, "expected \"{says}\", found {problems:?}");
}

fn constant(dtype: DType, n: i32, bytes: &[u8]) -> (build::FunctionBuilder, Buffer) {
    let mut f = build::function("f");
    let constant = f.constant("K", [n], dtype, ConstantData::new(bytes.to_vec()));
    (f, constant)
}

/// ir: IR-B8, IR-T6.
#[test]
fn a_constant_has_exactly_the_bytes_of_its_elements() {
    for (dtype, n, size) in [
        (DType::FLOAT32, 3, 12),
        (DType::INT4, 3, 2),
        (DType::UINT1, 9, 2),
        (DType::BOOL, 3, 3),
        (DType::FLOAT64, 0, 0),
        (DType::FLOAT32.with_lanes(4), 1, 16),
    ] {
        let (f, _) = constant(dtype, n, &vec![0; size]);
        assert_eq!(validate(&build::module([f.finish()]), Stage::Blocks), Ok(()), "{dtype}");
        let (f, _) = constant(dtype, n, &vec![0; size + 1]);
        refused(f, &format!("expected {size} bytes, found {} bytes", size + 1));
    }
    refused(constant(DType::BOOL, 2, &[1, 2]).0, "a bool is 0 or 1, found a byte of 2");
    refused(constant(DType::INT4, 3, &[0xff, 0x1f]).0, "unused bits of its last byte are 0");
    refused(constant(DType::UINT1, 3, &[0x08]).0, "unused bits of its last byte are 0");
}

/// ir: IR-B8.
#[test]
fn a_constant_is_compact_and_global() {
    let declared = |change: &dyn Fn(&mut BufferNode), says: &str| {
        let mut f = build::function("f");
        let plain = Buffer::new("K", vec![Expr::i32(2)], DType::UINT8, StorageScope::GLOBAL);
        let mut node = BufferNode::clone(&plain);
        change(&mut node);
        let data = Some(Expr::constant_data(ConstantData::new([1, 2])));
        f.push(Stmt::new(StmtKind::DeclBuffer { buffer: Buffer::from_node(node), data }));
        refused(f, says);
    };
    let shared = |node: &mut BufferNode| {
        node.scope = StorageScope::SHARED;
        node.data = Var::pointer("K", DType::UINT8, StorageScope::SHARED);
    };
    declared(&shared, "expected scope `global`, found `shared`");
    declared(&|node| node.strides = vec![Expr::i32(2)], "has strides or an offset");
    declared(&|node| node.elem_offset = Some(Expr::i32(1)), "has strides or an offset");
    declared(&|node| node.data_alignment_bytes = 8192, "is aligned to 8192 bytes; at most 4096");
    let mut f = build::function("f");
    let n = f.scalar("n", DType::INT32);
    f.constant("K", [n], DType::UINT8, ConstantData::new([1, 2]));
    refused(f, "expected constant extents");
    let mut f = build::function("f");
    f.evaluate(Expr::constant_data(ConstantData::new([1, 2])));
    refused(f, "stand only as the data of a declared buffer");
}

/// ir: IR-B8. Through the buffer, a view of it, a pointer into it, and the view of a block.
#[test]
fn nothing_writes_a_constant() {
    let says = "is a constant, which nothing writes";
    let (mut f, k) = constant(DType::INT32, 2, &[0; 8]);
    f.store(&k, [0], Expr::i32(1));
    refused(f, says);
    let (mut f, k) = constant(DType::INT32, 2, &[0; 8]);
    let view = f.view("V", [1], DType::INT64, &k.data);
    f.store(&view, [0], Expr::int(1, DType::INT64));
    refused(f, says);
    let (mut f, k) = constant(DType::INT32, 2, &[0; 8]);
    let own = Buffer::new("V", vec![Expr::i32(1)], DType::INT32, StorageScope::GLOBAL);
    let second = Expr::call(Op::AddressOf, vec![Expr::load(&k, vec![Expr::i32(1)])], DType::HANDLE);
    let data = Some(second);
    f.push(Stmt::new(StmtKind::DeclBuffer { buffer: own.clone(), data }));
    f.store(&own, [0], Expr::i32(1));
    refused(f, says);
    let (mut f, k) = constant(DType::INT32, 2, &[0; 8]);
    let second = Expr::call(Op::AddressOf, vec![Expr::load(&k, vec![Expr::i32(1)])], DType::HANDLE);
    f.evaluate(Expr::call(Op::AtomicAdd, vec![second, Expr::i32(1)], DType::INT32));
    refused(f, "atomic_add writes a constant");
}
