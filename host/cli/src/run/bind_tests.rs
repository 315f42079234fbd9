use chipdock_ir::{Attrs, Stmt, StmtKind, StorageScope};

use super::*;
use crate::report::Exit;

fn buffer(name: &str, shape: Vec<Expr>, dtype: DType) -> Buffer {
    Buffer::new(name, shape, dtype, StorageScope::GLOBAL)
}

fn function(params: Vec<Param>) -> PrimFunc {
    PrimFunc {
        name: "f".into(),
        params,
        ret: None,
        attrs: Attrs::new(),
        s_tir: true,
        alloc_buffers: Vec::new(),
        body: Stmt::new(StmtKind::Seq(Vec::new())),
    }
}

/// f(A: [n] float32, B: [n, 2 * n] float32, k: int8)
fn example() -> PrimFunc {
    let n = Var::new("n", DType::INT32);
    function(vec![
        Param::Buffer(buffer("A", vec![n.expr()], DType::FLOAT32)),
        Param::Buffer(buffer("B", vec![n.expr(), &Expr::i32(2) * &n.expr()], DType::FLOAT32)),
        Param::Var(Var::new("k", DType::INT8)),
    ])
}

fn input(buffer: &str, dtype: DType, shape: &[i64]) -> Input {
    let count: i64 = shape.iter().product();
    let bytes = vec![1; usize::try_from(count).unwrap() * dtype.size_bytes()];
    let array = Array { dtype, shape: shape.to_vec(), bytes };
    Input { buffer: buffer.to_owned(), path: format!("{}.npy", buffer.to_lowercase()).into(), array }
}

fn set(text: &str) -> Setting {
    let (name, value) = text.split_once('=').unwrap();
    Setting { name: name.to_owned(), value: value.to_owned() }
}

fn shapes(arguments: &[Argument]) -> Vec<Vec<i64>> {
    let shape = |argument: &Argument| match argument {
        Argument::Tensor { shape, .. } => Some(shape.clone()),
        Argument::Scalar { .. } => None,
    };
    arguments.iter().filter_map(shape).collect()
}

#[test]
fn the_first_input_binds_and_the_rest_is_worked_out() {
    let arguments = bind(&example(), vec![input("A", DType::FLOAT32, &[3])], &[set("k=-5")]).unwrap();
    assert_eq!(shapes(&arguments), [vec![3], vec![3, 6]]);
    let Argument::Tensor { initial, size_bytes, .. } = &arguments[1] else { panic!("a tensor") };
    assert_eq!((initial, *size_bytes), (&None, 72), "without --in it starts as zeros");
    assert!(matches!(arguments[2], Argument::Scalar { value: Scalar::Int(-5), .. }));
}

#[test]
fn a_setting_binds_and_inputs_have_to_agree() {
    let arguments = bind(&example(), Vec::new(), &[set("n=4"), set("k=1")]).unwrap();
    assert_eq!(shapes(&arguments), [vec![4], vec![4, 8]]);
    let failure =
        bind(&example(), vec![input("A", DType::FLOAT32, &[3])], &[set("n=4"), set("k=1")]).unwrap_err();
    let text = failure.render(false);
    assert!(text.contains("axis 0 of A: expected n = 4 (n is 4 by --set n=4), found 3"), "{text}");
}

#[test]
fn disagreeing_inputs_are_both_named() {
    let inputs = vec![input("A", DType::FLOAT32, &[3]), input("B", DType::FLOAT32, &[3, 7])];
    let failure = bind(&example(), inputs, &[set("k=1")]).unwrap_err();
    let text = failure.render(false);
    assert!(
        text.contains("axis 1 of B: expected 2 * n = 6 (n is 3 by axis 0 of A in a.npy), found 7"),
        "{text}"
    );
    assert!(text.contains("--> b.npy"), "{text}");
}

#[test]
fn a_compound_size_is_never_solved() {
    let n = Var::new("n", DType::INT32);
    let f = function(vec![Param::Buffer(buffer("A", vec![&n.expr() * &Expr::i32(2)], DType::FLOAT32))]);
    let text = bind(&f, vec![input("A", DType::FLOAT32, &[6])], &[]).unwrap_err().render(false);
    assert!(text.contains("n has no value") && text.contains("--set n=VALUE"), "{text}");
    assert!(bind(&f, vec![input("A", DType::FLOAT32, &[6])], &[set("n=3")]).is_ok());
}

#[test]
fn a_scalar_parameter_may_be_a_symbol() {
    let n = Var::new("n", DType::INT64);
    let f = function(vec![Param::Var(n.clone()), Param::Buffer(buffer("A", vec![n.expr()], DType::INT8))]);
    let arguments = bind(&f, vec![input("A", DType::INT8, &[9])], &[]).unwrap();
    assert!(matches!(arguments[0], Argument::Scalar { value: Scalar::Int(9), .. }));
}

#[test]
fn wrong_arguments_are_usage_errors() {
    let a = |dtype, shape: &[i64]| vec![input("A", dtype, shape)];
    let good = DType::FLOAT32;
    for (inputs, settings, says) in [
        (a(good, &[3]), vec![], "parameter k: int8 has no value"),
        (a(good, &[3]), vec!["k=128"], "--set k=128: 128 is out of the range of int8"),
        (a(good, &[3]), vec!["m=1"], "no scalar parameter or symbol \"m\"; it has \"k\", \"n\""),
        (vec![input("X", good, &[3])], vec![], "no buffer \"X\"; its buffers are \"A\", \"B\""),
        (a(DType::FLOAT64, &[3]), vec!["k=1"], "buffer A is float32; the file holds float64"),
        (a(good, &[3, 1]), vec!["k=1"], "buffer A has 1 axes, [n]; the file holds [3, 1]"),
        (vec![], vec!["k=1"], "n has no value"),
        (vec![], vec!["k=1", "n=-1"], "it comes to -1; an extent is at least 0"),
        (vec![], vec!["k=1", "n=2147483647"], "4294967294 does not fit into int32"),
    ] {
        let settings: Vec<Setting> = settings.into_iter().map(set).collect();
        let failure = bind(&example(), inputs, &settings).unwrap_err();
        let text = failure.render(false);
        assert!(text.contains(says), "{text} should say {says}");
        assert_eq!(failure.exit, Exit::Input);
    }
}

#[test]
fn bfloat16_takes_its_bits() {
    let f = function(vec![Param::Buffer(buffer("A", vec![Expr::i32(2)], DType::BFLOAT16))]);
    assert!(bind(&f, vec![input("A", DType::UINT16, &[2])], &[]).is_ok());
    let text = bind(&f, vec![input("A", DType::FLOAT32, &[2])], &[]).unwrap_err().render(false);
    assert!(text.contains("buffer A is bfloat16, as uint16 bits; the file holds float32"), "{text}");
}

#[test]
fn an_empty_extent_with_a_huge_one_is_no_overflow() {
    let (m, n) = (Var::new("m", DType::INT64), Var::new("n", DType::INT64));
    let f = function(vec![Param::Buffer(buffer("A", vec![m.expr(), n.expr()], DType::FLOAT64))]);
    let arguments = bind(&f, Vec::new(), &[set("m=9223372036854775807"), set("n=0")]).unwrap();
    assert!(matches!(arguments[0], Argument::Tensor { size_bytes: 0, .. }));
    let failure = bind(&f, Vec::new(), &[set("m=9223372036854775807"), set("n=2")]).unwrap_err();
    assert!(failure.render(false).contains("more than memory can hold"));
}
