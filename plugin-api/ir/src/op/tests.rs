//! Checks that the table of ops is complete, and that its columns agree with each other and with
//! the published formats.

use std::collections::HashSet;

use super::*;
use crate::validate::validate;
use crate::{ExprKind, Stage, build};

/// OP1.
#[test]
fn op1_no_two_ops_share_a_name() {
    let mut names = HashSet::new();
    for op in Op::ALL {
        let info = op.info();
        for name in info.aliases.iter().chain([&info.name]) {
            assert!(names.insert(*name), "{name} names two ops");
            assert!(name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()), "{name}");
        }
        assert_eq!(Op::by_name(info.name), Some(*op));
        assert!(info.aliases.iter().all(|alias| Op::by_name(alias).is_none()), "the wire has no aliases");
    }
    let devices: Vec<&str> = Op::ALL.iter().filter_map(|op| op.info().device_name).collect();
    assert_eq!(devices.len(), devices.iter().collect::<HashSet<_>>().len(), "{devices:?}");
}

const WAY_OUT: &str = "A published minor is never changed: give a new op the `wire_minor` of the open minor, or of a new \
    one, made as plugin-api/ir/wire/README.md describes. `BLESS=1 cargo nextest run -p chipdock-test-wire` then writes the \
    open minor's schema and documents";

/// OP2: the schemas of the published minors are kept, and never change.
#[test]
fn op2_the_kept_schemas_have_the_ops_of_their_minor() {
    let schemas = [include_str!("../../wire/chipdock-ir-1.0.schema.json")];
    for (minor, schema) in (0..).zip(schemas) {
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        let mut wanted: Vec<Op> = Op::all_where(|op| op.wire_minor <= minor).collect();
        wanted.sort_by_key(|op| op.info().wire_minor);
        let wanted: Vec<&str> = wanted.iter().map(|op| op.name()).collect();
        assert_eq!(
            ops_of(&schema).unwrap(),
            wanted,
            "chipdock-ir-1.{minor}.schema.json lists other ops than the table of ops has up to minor {minor}. {WAY_OUT}"
        );
    }
    let published = schemas.len() as u64;
    let beyond: Vec<&str> = Op::all_where(|op| op.wire_minor >= published).map(Op::name).collect();
    assert!(beyond.is_empty(), "{beyond:?}: their minor's schema is not in this test's list. {WAY_OUT}");
}

/// The list of words that has an op.
fn ops_of(schema: &serde_json::Value) -> Option<Vec<&str>> {
    match schema {
        serde_json::Value::Array(items) if items.iter().any(|item| item == "acos") => {
            items.iter().map(|item| item.as_str()).collect()
        }
        serde_json::Value::Array(items) => items.iter().find_map(ops_of),
        serde_json::Value::Object(fields) => fields.values().find_map(ops_of),
        _ => None,
    }
}

/// OP3, OP4.
#[test]
fn op3_arguments_and_results_are_stated() {
    for op in Op::ALL {
        let (name, info) = (op.name(), op.info());
        let named: Vec<&str> = info.params.iter().map(|param| param.name).collect();
        let first_unnamed = named.iter().position(|name| name.is_empty()).unwrap_or(named.len());
        assert!(named[first_unnamed..].iter().all(|name| name.is_empty()), "{name}: a name behind none");
        let unique: HashSet<_> = named[..first_unnamed].iter().collect();
        assert_eq!(unique.len(), first_unnamed, "{name}: two parameters of one name");
        let takes_some = !info.params.is_empty() || info.rest.is_some();
        assert_eq!(!info.expects.is_empty(), takes_some, "{name}: its arguments in words");
        for (position, param) in info.params.iter().enumerate() {
            if let Takes::Like(other) | Takes::LanesOf(other, _) = param.takes {
                assert!(other < position, "{name}: argument {position} is as one behind it");
            }
        }
        if let Gives::Like(index) | Gives::LanesOf(index, _) = info.gives {
            assert!(index < op.arity(), "{name} gives the type of an argument that it does not have");
        }
        assert!(
            !info.is_rounding || info.signature == Signature::FloatUnary,
            "{name} rounds what is no float"
        );
        let is_effect = info.gives == Gives::Nothing;
        assert!(!is_effect || info.effect == Effect::Writes, "{name} gives nothing and does nothing");
    }
}

/// OP3: a regular op is well-typed on what its row admits, and on nothing else.
#[test]
fn op3_the_validator_follows_the_row() {
    let mut calls = 0;
    for op in Op::all_where(|op| op.signature != Signature::Custom) {
        for &dtype in DType::SCALARS.iter().chain([&DType::HANDLE]) {
            for count in 1..=3 {
                let mut f = build::function("f");
                let x = f.scalar("x", dtype);
                let args = vec![x; count];
                let result = op.result_dtype(&args).unwrap();
                let fits = op.info().admits(&args);
                assert_eq!(fits, op.takes_first(dtype) && op.takes_count(count), "{} of {dtype}", op.name());
                f.evaluate(Expr::call(op, args, result));
                let valid = validate(&build::module([f.finish()]), Stage::Blocks);
                assert_eq!(valid.is_ok(), fits, "{} of {count} {dtype}: {valid:?}", op.name());
                calls += usize::from(fits);
            }
        }
    }
    assert!(calls > 200, "{calls} calls are well-typed");
}

/// OP5, OP6, OP8.
#[test]
fn op6_the_subject_agrees_with_effect_and_threads() {
    for op in Op::ALL {
        let (name, info) = (op.name(), op.info());
        if info.class == Class::Value {
            assert_eq!(info.effect, Effect::Pure, "{name}");
            assert_eq!(info.threads, Threads::Alone, "{name}");
            assert!(info.gives != Gives::Nothing && info.rest.is_none(), "{name}");
        }
        if info.threads != Threads::Alone {
            assert_eq!((info.class, info.effect), (Class::Thread, Effect::Writes), "{name}");
        }
    }
    let of = |threads: Threads| Op::all_where(move |op| op.threads == threads).count();
    assert_eq!([of(Threads::ActiveMask), of(Threads::Shuffle), of(Threads::Barrier)], [1, 4, 1]);
    for op in Op::all_where(|op| op.threads == Threads::Shuffle) {
        let names: Vec<&str> = op.info().params.iter().map(|param| param.name).collect();
        assert!(matches!(names[..], ["mask", "value", _, "width", "warp_size"]), "{}: {names:?}", op.name());
    }
}

/// OP7.
#[test]
fn op7_elementwise_ops_compute_values_of_vectors() {
    for op in Op::all_where(|op| op.is_elementwise) {
        let info = op.info();
        assert_eq!(info.class, Class::Value, "{}", op.name());
        assert!(info.params.iter().any(|param| !param.takes.is_uniform()), "{}", op.name());
    }
}

/// OP9 to OP12.
#[test]
fn op10_lowering_agrees_with_cost_accuracy_and_c() {
    for op in Op::ALL {
        let (name, info) = (op.name(), op.info());
        if info.cost.is_some() {
            assert_eq!(info.effect, Effect::Pure, "{name} may not run where it need not");
            assert!(matches!(info.lowering, Lowering::Core | Lowering::Arithmetic), "{name} is dear");
        }
        let of_floats = matches!(info.takes(0), Some(Takes::Float | Takes::Number));
        assert!(of_floats || info.ulps == 0.0 && info.c_names.is_empty(), "{name} is of no floats");
        assert!((0.0..=16.0).contains(&info.ulps), "{name}");
        if info.lowering == Lowering::Function {
            assert_eq!(info.class, Class::Value, "{name}");
            assert!(of_floats, "{name}");
        }
        assert_eq!(info.lowering == Lowering::Native, info.threads.is_of_warp(), "{name}");
    }
    let mut names = HashSet::new();
    assert!(
        Op::ALL.iter().flat_map(|op| op.info().c_names).all(|name| names.insert(*name)),
        "two ops, one C name"
    );
}

/// OP13: a call states its type in the text where nothing else tells it.
#[test]
fn op13_a_call_states_its_type_where_nothing_implies_it() {
    for op in Op::ALL {
        let info = op.info();
        let states_type = info.form.type_place(op.arity()).is_some();
        assert_eq!(states_type, info.gives == Gives::Stated, "{}", op.name());
        if let Form::Infix(operator) = info.form {
            assert_eq!(op.arity(), 2, "{operator}");
            let x = crate::Var::new("x", DType::INT32).expr();
            let text = crate::print::expr(&Expr::call(*op, vec![x.clone(), x], DType::INT32));
            assert_eq!(text, format!("x {operator} x"));
        }
    }
}

/// OP3: what an argument of a kind may be is decided by its type, or by the constant that it is.
#[test]
fn op3_kinds_of_arguments() {
    let int = Expr::i32(7);
    let var = crate::Var::new("x", DType::INT32).expr();
    let wide = Expr::int(1, DType::INT64);
    let admits = |takes: Takes, arg: &Expr| takes.admits(arg, std::slice::from_ref(&int));
    assert!(admits(Takes::Constant(DType::INT32), &int) && !admits(Takes::Constant(DType::INT32), &var));
    assert!(admits(Takes::Exactly(DType::INT32), &var) && !admits(Takes::Exactly(DType::INT32), &wide));
    assert!(admits(Takes::Index, &wide) && !admits(Takes::Index, &wide.clone().cast(DType::INT16)));
    assert!(admits(Takes::Zero, &Expr::float(-0.0, DType::FLOAT32)) && !admits(Takes::Zero, &int));
    assert!(admits(Takes::Text, &Expr::str("shared")) && !admits(Takes::Text, &int));
    assert!(admits(Takes::Like(0), &var) && !admits(Takes::Like(0), &wide) && !admits(Takes::Like(1), &var));
    let lanes = var.clone().broadcast(4);
    assert!(admits(Takes::Lanes(DType::INT32), &lanes) && !admits(Takes::Scalar, &lanes));
    assert!(
        !admits(Takes::LanesOf(0, DType::INT32), &lanes) && admits(Takes::LanesOf(0, DType::INT32), &var)
    );
    assert!(matches!(Expr::str("f").kind, ExprKind::Str(_)));
}
