//! Rounds of blocks counted in int32: right to the last index that an int32 holds.

use chipdock_interpret::{Arg, Interpreter};
use chipdock_ir::{
    AttrValue, Child, DType, Expr, ExprKind, ForKind, Param, Stmt, StmtKind, TargetCapabilities, ThreadAxis,
    Var, attr, build,
};
use chipdock_passes::default_schedule;

use crate::capabilities::narrow;

/// A schedule's condition, the index that it stores, and what both depend on.
struct Scheduled {
    condition: Expr,
    index: Expr,
    rounds: Expr,
    vars: Vec<Var>,
}

fn scheduled(capabilities: &TargetCapabilities) -> Scheduled {
    let n = Var::new("n", DType::INT32);
    let mut f = build::function("f");
    let a = f.buffer("A", [&n.expr()], DType::INT32);
    f.range("i", n.expr(), |f, i| f.store(&a, [&i], i.clone()));
    let mut function = f.finish();
    function.attrs.insert(attr::NOALIAS.into(), AttrValue::Bool(true));
    let module = default_schedule(&build::module([function]), capabilities).unwrap();
    let mut vars = vec![n];
    let (mut condition, mut index, mut rounds) = (None, None, Expr::i32(1));
    module.functions[0].body.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        match &stmt.kind {
            StmtKind::For { var, extent, kind, .. } => {
                if *kind == ForKind::Serial {
                    rounds = extent.clone();
                }
                assert!(matches!(
                    kind,
                    ForKind::Serial | ForKind::ThreadBinding(ThreadAxis::BlockX | ThreadAxis::ThreadX)
                ));
                vars.push(var.clone());
            }
            StmtKind::If { condition: found, .. } => condition = Some(found.clone()),
            StmtKind::Store { value, .. } => index = Some(value.clone()),
            _ => {}
        }
    });
    Scheduled { condition: condition.unwrap(), index: index.unwrap(), rounds, vars }
}

fn value(e: &Expr, vars: &[Var], values: &[i128]) -> i128 {
    let mut f = build::function("value").finish();
    f.ret = Some(e.dtype);
    f.params = vars.iter().cloned().map(Param::Var).collect();
    f.body = Stmt::new(StmtKind::Return(Some(e.clone())));
    f.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(0));
    let mut args: Vec<Arg> = values.iter().copied().map(Arg::Int).collect();
    let outcome = Interpreter::new(&build::module([f])).run("value", &mut args).unwrap();
    outcome.returned.unwrap().0.int(0).unwrap()
}

#[test]
fn rounds_are_counted_without_int64_and_without_wrapping() {
    for (threads, blocks) in [(256, 65_535), (96, 1000), (1, 65_535)] {
        let capabilities = narrow().with(|it| {
            it.limits.threads_per_block_max = Some(threads);
            it.limits.grid_dimensions_max = [Some(blocks), None, None];
        });
        let Scheduled { condition, index, rounds, vars } = scheduled(&capabilities);
        for e in [&condition, &index, &rounds] {
            e.walk(&mut |e| assert!(e.dtype.bits <= 32 && !matches!(e.kind, ExprKind::Cast(_)), "{e:?}"));
        }
        let names: Vec<&str> = vars.iter().map(|var| &*var.name).collect();
        assert_eq!(names, ["n", "bx", "tx", "round"]);
        let most = i128::from(i32::MAX);
        for n in [0, 1, 1000, 16_776_960, 16_776_961, most - 65_536, most - 1, most] {
            let n_rounds = value(&rounds, &vars[..1], &[n]);
            let needed = (n + i128::from(threads) - 1) / i128::from(threads);
            assert_eq!(n_rounds, (needed + i128::from(blocks) - 1) / i128::from(blocks), "{n}");
            let all = |count: i128| {
                [0, 1, count / 2, count - 2, count - 1].into_iter().filter(move |i| (0..count).contains(i))
            };
            for round in all(n_rounds) {
                for (bx, tx) in all(blocks.into()).flat_map(|bx| all(threads.into()).map(move |tx| (bx, tx)))
                {
                    let exact = (round * i128::from(blocks) + bx) * i128::from(threads) + tx;
                    let at = [n, bx, tx, round];
                    assert_eq!(value(&condition, &vars, &at) != 0, exact < n, "{at:?}");
                    if exact < n {
                        assert_eq!(value(&index, &vars, &at), exact, "{at:?}");
                    }
                }
            }
        }
    }
}
