use super::*;
use crate::{DType, ForKind, StorageScope, print};

fn buffer(name: &str, n: &Var) -> Buffer {
    Buffer::new(name, vec![n.expr()], DType::FLOAT32, StorageScope::GLOBAL)
}

#[test]
fn a_size_changes_the_buffers_that_have_it_once() {
    let n = Var::new("n", DType::INT32);
    let a = buffer("A", &n);
    let store = |i| Stmt::store(&a, vec![Expr::i32(i)], Expr::load(&a, vec![Expr::i32(i + 1)]));
    let body = Stmt::seq([store(0), store(1)]);
    let mut subst = Substitution::new().with_var(&n, Expr::i32(8));
    let new = subst.stmt(&body);
    let mut buffers = Vec::new();
    new.walk_exprs(&mut |e| {
        if let ExprKind::Load { buffer, .. } = &e.kind {
            buffers.push(buffer.clone());
        }
    });
    assert_eq!(buffers.len(), 2);
    assert_eq!(buffers[0], buffers[1]);
    assert_eq!(buffers[0].shape, [Expr::i32(8)]);
    assert_ne!(buffers[0], a);
}

#[test]
fn unchanged_nodes_are_kept() {
    let n = Var::new("n", DType::INT32);
    let a = buffer("A", &n);
    let other = Var::new("m", DType::INT32);
    let i = Var::new("i", DType::INT32);
    let body = Stmt::for_loop(
        i.clone(),
        n.expr(),
        ForKind::Serial,
        Stmt::store(&a, vec![i.expr()], Expr::float(0.0, DType::FLOAT32)),
    );
    let mut subst = Substitution::new().with_var(&other, Expr::i32(1));
    assert!(subst.stmt(&body).same(&body));
}

#[test]
fn copies_of_a_loop_body_bind_their_own() {
    let n = Var::new("n", DType::INT32);
    let x = Var::new("x", DType::INT32);
    let i = Var::new("i", DType::INT32);
    let body = Stmt::seq([
        Stmt::new(StmtKind::AllocBuffer { buffer: buffer("T", &n), annotations: Attrs::new() }),
        Stmt::new(StmtKind::Bind { var: x.clone(), value: &i.expr() + &i.expr() }),
        Stmt::new(StmtKind::Evaluate(&x.expr() + &i.expr())),
    ]);
    let mut subst = Substitution::new().fresh();
    let copies = Stmt::seq([0, 1].map(|k| {
        subst.map_var(&i, Expr::i32(k));
        subst.stmt(&body)
    }));
    assert_eq!(
        print::stmt(&copies),
        "v_T = T.alloc_buffer((n,))\nx: T.let[T.int32] = T.Add(0, 0)\nT.evaluate(x + 0)\n\
         v_T_1 = T.alloc_buffer((n,))\nx_1: T.let[T.int32] = T.Add(1, 1)\nT.evaluate(x_1 + 1)\n"
    );
}

#[test]
fn a_statement_that_stands_twice_is_copied_twice() {
    let x = Var::new("x", DType::INT32);
    let once = Stmt::new(StmtKind::Seq(vec![
        Stmt::new(StmtKind::Bind { var: x.clone(), value: Expr::i32(1) }),
        Stmt::new(StmtKind::Evaluate(&x.expr() + &x.expr())),
    ]));
    let twice = Stmt::new(StmtKind::Seq(vec![once.clone(), once]));
    assert_eq!(
        print::stmt(&Substitution::new().fresh().stmt(&twice)),
        "x: T.let[T.int32] = 1\nT.evaluate(x + x)\nx_1: T.let[T.int32] = 1\nT.evaluate(x_1 + x_1)\n"
    );
}

#[test]
fn shared_expressions_stay_shared() {
    let x = Var::new("x", DType::INT32);
    let mut e = x.expr();
    for _ in 0..200 {
        e = &e + &e;
    }
    let new = Substitution::new().with_var(&x, Expr::i32(1)).expr(&e);
    let ExprKind::Binary(_, a, b) = &new.kind else { panic!("{new:?}") };
    assert!(a.same(b));
}

#[test]
fn a_mapped_buffer_stands_for_the_other() {
    let n = Var::new("n", DType::INT32);
    let (a, b) = (buffer("A", &n), buffer("B", &n));
    let e = Expr::load(&a, vec![Expr::i32(0)]);
    let new = Substitution::new().with_buffer(&a, &b).expr(&e);
    assert_eq!(new, Expr::load(&b, vec![Expr::i32(0)]));
}
