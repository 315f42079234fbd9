use super::*;
use crate::{BinaryOp, BufferNode, DType, ExprKind, ForKind, StorageScope, subst::Substitution};

/// `for i in range(n): B[i] = A[i] + x`, with the names and the constant given.
fn module(loop_name: &str, buffer_name: &str, x: f64) -> IrModule {
    let n = Var::new("n", DType::INT32);
    let buffer = |name: &str| Buffer::new(name, vec![n.expr()], DType::FLOAT32, StorageScope::GLOBAL);
    let (a, b) = (buffer("A"), buffer(buffer_name));
    let i = Var::new(loop_name, DType::INT32);
    let value = &Expr::load(&a, vec![i.expr()]) + &Expr::float(x, DType::FLOAT32);
    let store = Stmt::store(&b, vec![i.expr()], value);
    let body = Stmt::for_loop(i, n.expr(), ForKind::Serial, store);
    let function = PrimFunc {
        name: "f".into(),
        params: vec![Param::Buffer(a), Param::Buffer(b)],
        ret: None,
        attrs: Attrs::new(),
        s_tir: true,
        alloc_buffers: vec![],
        body,
    };
    IrModule { functions: vec![function], attrs: Attrs::new() }
}

#[test]
fn names_of_variables_do_not_matter_but_those_of_parameters_do() {
    assert_eq!(modules(&module("i", "B", 1.0), &module("k", "B", 1.0)), Ok(()));
    assert_eq!(
        modules(&module("i", "B", 1.0), &module("i", "C", 1.0)).unwrap_err(),
        "f.params[1].name: \"B\" in the first, \"C\" in the second"
    );
}

#[test]
fn the_place_of_the_difference_is_reported() {
    assert_eq!(
        modules(&module("i", "B", 1.0), &module("i", "B", 2.0)).unwrap_err(),
        "f.body.stmt[0].body.stmt[0].value.right: `T.float32(1.0)` in the first, `T.float32(2.0)` in the second"
    );
    assert!(modules(&module("i", "B", 0.0), &module("i", "B", -0.0)).is_err());
}

#[test]
fn variables_correspond_one_to_one() {
    let [x, y, u] = ["x", "y", "u"].map(|name| Var::new(name, DType::INT32).expr());
    let mut comparer = Comparer::default();
    assert!(comparer.expr(&(&x + &y), &(&u + &u)).is_err());
    let mut comparer = Comparer::default();
    assert!(comparer.expr(&(&x + &x), &(&u + &y)).is_err());
    let mut comparer = Comparer::default();
    assert_eq!(comparer.expr(&(&x + &y), &(&y + &x)), Ok(()));
}

#[test]
fn sequences_are_compared_flat() {
    let one = Stmt::new(StmtKind::Evaluate(Expr::i32(1)));
    let pair = Stmt::new(StmtKind::Seq(vec![one.clone(), Stmt::nop(), one.clone()]));
    let nested = Stmt::new(StmtKind::Seq(vec![Stmt::new(StmtKind::Seq(vec![one.clone()])), one.clone()]));
    assert_eq!(Comparer::default().stmt(&pair, &nested), Ok(()));
    assert!(Comparer::default().stmt(&pair, &one).is_err());
}

#[test]
fn shared_nodes_cost_once_and_depth_is_bounded() {
    let grow = |levels| {
        let mut e = Var::new("x", DType::INT32).expr();
        for _ in 0..levels {
            e = Expr::binary(BinaryOp::Add, e.clone(), e);
        }
        e
    };
    assert_eq!(Comparer::default().expr(&grow(200), &grow(200)), Ok(()));
    assert!(Comparer::default().expr(&grow(4000), &grow(4000)).unwrap_err().contains("nests too deep"));
}

/// ir: IR-S1.
#[test]
fn a_fresh_copy_is_equal_and_shares_no_variable() {
    let original = module("i", "B", 1.0);
    let function = &original.functions[0];
    let mut subst = Substitution::new().fresh();
    for _ in 0..2 {
        let copy = subst.function(function);
        assert_eq!(functions(function, &copy), Ok(()));
        let mut shared = false;
        copy.body.walk_exprs(&mut |e| {
            if let ExprKind::Var(var) = &e.kind {
                function
                    .body
                    .walk_exprs(&mut |e| shared |= matches!(&e.kind, ExprKind::Var(other) if other == var));
            }
        });
        assert!(!shared);
    }
    let two = Param::Buffer(Buffer::from_node(BufferNode {
        data_alignment_bytes: 64,
        ..match &function.params[0] {
            Param::Buffer(buffer) => BufferNode::clone(buffer),
            Param::Var(_) => return,
        }
    }));
    let other = PrimFunc { params: vec![two, function.params[1].clone()], ..function.clone() };
    let message = functions(function, &other).unwrap_err();
    assert!(message.starts_with("f.params[0].data_alignment_bytes: 0"), "{message}");
}
