//! INT-I2: blocks.

use chipdock_interpret::ErrorKind;
use chipdock_ir::{
    BinaryOp, Block, Buffer, BufferRegion, CompareOp, DType, Expr, MatchBufferRegion, Range, Stmt, StmtKind,
    StorageScope, Var, build,
};
use std::sync::Arc;

use crate::{ints, run};

const I32: DType = DType::INT32;

fn less(a: &Expr, b: impl Into<Expr>) -> Expr {
    Expr::compare(CompareOp::Lt, a.clone(), b.into())
}

/// Row sums of A[2, 4] into B[2], the reduction axis bound to `value(k)`, under `predicate(k)`.
fn row_sum(
    value: impl Fn(&Expr) -> Expr,
    predicate: impl Fn(&Expr) -> Expr,
) -> Result<Vec<i128>, chipdock_interpret::InterpretError> {
    let mut f = build::function("f");
    let a = f.buffer("A", [2, 4], I32);
    let b = f.buffer("B", [2], I32);
    f.grid(["i", "k"], [2, 4], |f, [i, k]| {
        f.block("sum", |f| {
            let vi = f.spatial("vi", 2, &i);
            let vk = f.reduce("vk", 4, value(&k));
            f.predicate(predicate(&k));
            f.init(|f| f.store(&b, [&vi], 100));
            f.store(&b, [&vi], b.at([&vi]) + a.at([&vi, &vk]));
        });
    });
    let a = chipdock_interpret::Array::from_int(I32, &[2, 4], &[1, 2, 3, 4, 10, 20, 30, 40]);
    run(f.finish(), vec![a, ints(I32, &[7, 7])]).map(|arrays| arrays[1].to_int())
}

/// ir: IR-B6.
#[test]
fn int_i2_init_runs_at_the_first_value_of_the_reduction() {
    assert_eq!(row_sum(Expr::clone, |_| Expr::bool(true)).unwrap(), [110, 200]);
    // Counting down, the first value comes last and starts over.
    let down = |k: &Expr| Expr::i32(3) - k.clone();
    assert_eq!(row_sum(down, |_| Expr::bool(true)).unwrap(), [101, 110]);
}

/// ir: IR-B5.
#[test]
fn int_i2_nothing_happens_where_the_predicate_is_false() {
    assert_eq!(row_sum(Expr::clone, |k| less(k, 2)).unwrap(), [103, 130]);
    // Not even init.
    assert_eq!(row_sum(Expr::clone, |k| less(&Expr::i32(1), k)).unwrap(), [14, 77]);
    // A value outside of its domain is none where the predicate is false.
    let past = |k: &Expr| k.clone() + Expr::i32(2);
    assert_eq!(row_sum(past, |k| less(k, 2)).unwrap(), [14, 77]);
}

/// ir: IR-B5.
#[test]
fn int_i2_each_axis_value_lies_in_its_domain() {
    let error = row_sum(|k| k.clone() + Expr::i32(2), |_| Expr::bool(true)).unwrap_err();
    let ErrorKind::AxisOutOfDomain { axis, value, min, extent, .. } = &error.kind else { panic!("{error}") };
    assert_eq!((&**axis, *value, *min, *extent), ("vk", 4, 0, 4));
    let text = "in f: block \"sum\": axis vk is bound to 4, outside of its domain of 4 values from 0";
    assert_eq!(error.to_string(), text);
}

/// ir: IR-B5.
#[test]
fn int_i2_a_tile_of_two_loops_covers_a_size_that_it_does_not_divide() {
    let mut f = build::function("f");
    let n = f.size("n");
    let a = f.buffer("A", [&n], I32);
    let b = f.buffer("B", [&n], I32);
    let tiles = Expr::binary(BinaryOp::FloorDiv, n.clone() + Expr::i32(3), Expr::i32(4));
    f.grid(["io", "ii"], [tiles, Expr::i32(4)], |f, [io, ii]| {
        let i = io * Expr::i32(4) + ii;
        f.block("B", |f| {
            let vi = f.spatial("vi", &n, &i);
            f.predicate(less(&i, &n));
            f.store(&b, [&vi], a.at([&vi]) * Expr::i32(2));
        });
    });
    let arrays = run(f.finish(), vec![ints(I32, &[1, 2, 3, 4, 5, 6]), ints(I32, &[0; 6])]).unwrap();
    assert_eq!(arrays[1].to_int(), [2, 4, 6, 8, 10, 12]);
}

fn region(buffer: &Buffer, ranges: Vec<(Expr, i32)>) -> BufferRegion {
    let region = ranges.into_iter().map(|(min, extent)| Range { min, extent: Expr::i32(extent) }).collect();
    BufferRegion { buffer: buffer.clone(), region }
}

/// A block whose body sees row `row` of A[3, 4], columns 1 and 2, as V[2], and stores 10 * V[j]
/// through it.
fn through_a_match(row: i32, matched: Buffer) -> Stmt {
    let a = Buffer::new("A", vec![Expr::i32(3), Expr::i32(4)], I32, StorageScope::GLOBAL);
    let j = Var::new("j", I32);
    let value = matched.at([j.expr()]) * Expr::i32(10);
    let store = Stmt::store(&matched, vec![j.expr()], value);
    let block = Block {
        name: "B".into(),
        iter_vars: vec![],
        reads: None,
        writes: None,
        init: None,
        alloc_buffers: vec![],
        match_buffers: vec![MatchBufferRegion {
            buffer: matched,
            source: region(&a, vec![(Expr::i32(row), 1), (Expr::i32(1), 2)]),
        }],
        annotations: Default::default(),
        body: Stmt::for_loop(j, Expr::i32(2), chipdock_ir::ForKind::Serial, store),
    };
    Stmt::new(StmtKind::BlockRealize {
        iter_values: vec![],
        predicate: Expr::bool(true),
        block: Arc::new(block),
    })
}

fn run_match(stmt: Stmt) -> Result<Vec<i128>, chipdock_interpret::InterpretError> {
    // The buffer that the block matches is the parameter.
    let StmtKind::BlockRealize { block, .. } = &stmt.kind else { unreachable!() };
    let a = block.match_buffers[0].source.buffer.clone();
    let mut function = build::function("f").finish();
    function.params.push(chipdock_ir::Param::Buffer(a));
    function.body = stmt;
    let a = chipdock_interpret::Array::from_int(I32, &[3, 4], &(0..12).collect::<Vec<_>>());
    run(function, vec![a]).map(|arrays| arrays[0].to_int())
}

/// ir: IR-B7.
#[test]
fn int_i2_a_matched_buffer_is_a_view_of_its_region() {
    let matched = Buffer::new("V", vec![Expr::i32(2)], I32, StorageScope::GLOBAL);
    let expected = [0, 1, 2, 3, 4, 5, 6, 7, 8, 90, 100, 11];
    assert_eq!(run_match(through_a_match(2, matched)).unwrap(), expected);
}

/// ir: IR-B1, IR-B7.
#[test]
fn int_i2_a_matched_buffer_binds_its_strides_and_offset() {
    let (stride, offset) = (Var::new("s", I32), Var::new("o", I32));
    let plain = Buffer::new("V", vec![Expr::i32(2)], I32, StorageScope::GLOBAL);
    let node = chipdock_ir::BufferNode {
        strides: vec![stride.expr()],
        elem_offset: Some(offset.expr()),
        ..(*plain).clone()
    };
    let matched = Buffer::from_node(node);
    let StmtKind::BlockRealize { block, .. } = through_a_match(1, matched.clone()).kind.clone() else {
        unreachable!()
    };
    let mut block = (*block).clone();
    // V[0] = s * 100 + o: the stride of the last axis, and where row 1, column 1 starts.
    let value = stride.expr() * Expr::i32(100) + offset.expr();
    block.body = Stmt::store(&matched, vec![Expr::i32(0)], value);
    let realize =
        StmtKind::BlockRealize { iter_values: vec![], predicate: Expr::bool(true), block: Arc::new(block) };
    assert_eq!(run_match(Stmt::new(realize)).unwrap()[5], 105);
}

/// ir: IR-B7.
#[test]
fn int_i2_a_matched_buffer_has_the_strides_and_offset_of_its_region() {
    let plain = Buffer::new("V", vec![Expr::i32(2)], I32, StorageScope::GLOBAL);
    let with = |stride: i32, offset: i32| {
        let (strides, elem_offset) = (vec![Expr::i32(stride)], Some(Expr::i32(offset)));
        Buffer::from_node(chipdock_ir::BufferNode { strides, elem_offset, ..(*plain).clone() })
    };
    assert!(run_match(through_a_match(1, with(1, 5))).is_ok());
    let error = run_match(through_a_match(1, with(1, 4))).unwrap_err();
    assert!(error.to_string().contains("begins at element 4 of its data, found one at 5"), "{error}");
    let error = run_match(through_a_match(1, with(2, 5))).unwrap_err();
    assert!(error.to_string().contains("expected stride 2 along axis 0, found 1"), "{error}");
}

/// ir: IR-B7.
#[test]
fn int_i2_a_matched_region_lies_in_its_source() {
    let matched = Buffer::new("V", vec![Expr::i32(2)], I32, StorageScope::GLOBAL);
    let error = run_match(through_a_match(3, matched)).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::OutOfBounds { .. }), "{error}");
    let matched = Buffer::new("V", vec![Expr::i32(3)], I32, StorageScope::GLOBAL);
    let error = run_match(through_a_match(0, matched)).unwrap_err();
    assert!(error.to_string().contains("expected extent 3 along axis 0, found 2"), "{error}");
}
