//! WIRE-W5: minors, up and down; WIRE-W8: positions.

use std::sync::OnceLock;

use super::super::format::{Field, Format, NodeFormat, Shape, Sort};
use super::super::rewrite::{canonical, id, rewrite};
use super::*;
use crate::op::Threads;
use crate::{AttrNode, ForKind, IrModule, Op, Reducer, Span, StorageScope, StructField};

const TEST: &str = "1.5.0";

/// A minor after the newest, as one would add it: `Not` calls its value `operand`, `For` says how often it is unrolled
/// (0 when nobody says), and there are `Negate`, which is 0 less its value, and `Yield`, which nothing is equal to.
fn v1_5() -> &'static Format {
    static FORMAT: OnceLock<Format> = OnceLock::new();
    FORMAT.get_or_init(|| {
        let newest = (MINORS[MINORS.len() - 1].format)();
        let mut nodes = newest.nodes.clone();
        let field = |name, shape| Field { name, shape, optional: false };
        for node in &mut nodes {
            match node.name {
                "Not" => node.fields[1].name = "operand",
                "For" => node.fields.insert(6, field("unroll_max", Shape::Number(0, 1024))),
                _ => {}
            }
        }
        let value = field("value", Shape::Id(Sort::Expr));
        let fields = vec![field("dtype", Shape::DType), value];
        nodes.push(NodeFormat { name: "Negate", sort: Sort::Expr, fields });
        nodes.push(NodeFormat { name: "Yield", sort: Sort::Stmt, fields: Vec::new() });
        Format::new(nodes, newest.document.clone())
    })
}

fn rename(node: &mut Json, from: &str, to: &'static str) {
    if let Json::Object(fields) = node
        && let Some((name, _)) = fields.iter_mut().find(|(name, _)| name == from)
    {
        *name = to.into();
    }
}

fn up(document: Document) -> Result<Document, WireError> {
    let older = (MINORS[MINORS.len() - 1].format)();
    rewrite(document, older, |out, mut node| {
        match node.word("node") {
            "Not" => rename(&mut node, "value", "operand"),
            "For" => {
                if let Json::Object(fields) = &mut node {
                    let at = fields.iter().position(|(name, _)| name == "annotations").unwrap_or(0);
                    fields.insert(at, ("unroll_max".into(), Json::number(0)));
                }
            }
            _ => {}
        }
        Ok(out.add(node))
    })
}

fn down(document: Document) -> Result<Document, WireError> {
    let document = rewrite(document, v1_5(), |out, mut node| {
        match node.word("node") {
            "Not" => rename(&mut node, "operand", "value"),
            "For" => {
                if node.field("unroll_max") != Some(&Json::number(0)) {
                    return Err("For with unroll_max has no equal in version 1.4.0".to_owned());
                }
                if let Json::Object(fields) = &mut node {
                    fields.retain(|(name, _)| name != "unroll_max");
                }
            }
            "Negate" => {
                let dtype = node.word("dtype").to_owned();
                let zero = out.int(&dtype, 0);
                let value = id(&node, "value").unwrap_or_default();
                return Ok(out.pair("Sub", &dtype, zero, value));
            }
            "Yield" => return Err("Yield has no equal in version 1.4.0".to_owned()),
            _ => {}
        }
        Ok(out.add(node))
    })?;
    canonical(document, (MINORS[MINORS.len() - 1].format)())
}

/// Every published minor and the test minor after them, and the place of the one that modules are.
fn grown() -> (Vec<Minor>, usize) {
    let mut minors: Vec<Minor> = MINORS.iter().map(|minor| Minor { ..*minor }).collect();
    minors.push(Minor { version: TEST, format: v1_5, up: Some(up), down: Some(down) });
    (minors, MINORS.len() - 1)
}

fn at(module: &IrModule, version: &str) -> Result<String, WireError> {
    let (minors, native) = grown();
    write_among(module, &WriteOptions { version, ..WriteOptions::default() }, &minors, native)
}

fn back(text: &str) -> Result<IrModule, WireError> {
    let (minors, native) = grown();
    read_among(text, &minors, native).map(|document| document.module)
}

/// Text and module through every minor, and document to document.
fn through_all(module: &IrModule) {
    let (minors, native) = grown();
    for version in ["1.0.0", "1.1.0", "1.2.0", VERSION, TEST] {
        let text = at(module, version).unwrap();
        assert!(text.starts_with(&format!("{{\"chipdock_ir\":\"{version}\"")));
        let again = back(&text).unwrap();
        assert_eq!(equal::modules(module, &again), Ok(()), "{version}");
        assert_eq!(at(&again, version).unwrap(), text, "{version}");
    }
    let document = write::document(module, false, None).unwrap();
    let oldest = convert(document.clone(), native, 0, &minors).unwrap();
    let newest = convert(oldest.clone(), 0, minors.len() - 1, &minors).unwrap();
    assert!(v1_5().check(&newest).is_ok());
    assert_eq!(write::text(&newest, TEST), at(module, TEST).unwrap(), "1.0 to 1.5 minor by minor");
    assert_eq!(convert(newest, minors.len() - 1, 0, &minors).unwrap(), oldest, "and back");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// WIRE-W5: what 1.0 has too is equal in all, with the same bytes each time.
    #[test]
    fn modules_go_through_every_minor(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        through_all(&testing::module(&bytes));
    }

    /// WIRE-W4: the order and the sharing of a rewritten document are those of a written one.
    #[test]
    fn canonical_order_is_the_writers(bytes in prop::collection::vec(any::<u8>(), 0..400), positions in any::<bool>()) {
        let document = write::document(&testing::module(&bytes), positions, None).unwrap();
        let format = (MINORS[MINORS.len() - 1].format)();
        prop_assert_eq!(canonical(document.clone(), format).unwrap(), document);
    }
}

/// A loop around a store of a negation.
fn loops() -> IrModule {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], DType::BOOL);
    let flag = f.scalar("flag", DType::BOOL);
    f.for_loop("i", 4, ForKind::Serial, |f, i| f.store(&a, [&i], flag.clone().logical_not()));
    build::module([f.finish()])
}

/// WIRE-W5: a minor that renames a field, adds one with a default, and adds nodes.
#[test]
fn a_minor_grows_and_shrinks() {
    let module = loops();
    through_all(&module);
    let text = at(&module, TEST).unwrap();
    assert!(text.contains(r#""operand":"#) && text.contains(r#""unroll_max":0,"annotations""#), "{text}");
    let refused = |text: &str| back(text).unwrap_err().to_string();
    // Strict both ways: each minor has its own fields, nothing else.
    let older = at(&module, VERSION).unwrap();
    let wrong = older.replace(VERSION, TEST);
    assert!(refused(&wrong).contains("Not: field \"operand\" is missing"));
    assert!(refused(&text.replace(TEST, VERSION)).contains("Not: field \"value\" is missing"));
    let more = refused(&text.replace("\"operand\":", "\"value\":").replace(TEST, VERSION));
    assert!(more.contains("For: unknown field \"unroll_max\""), "{more}");
    // What the older minor lacks is named, with the function.
    let unrolled = text.replace("\"unroll_max\":0", "\"unroll_max\":8");
    assert!(
        refused(&unrolled).ends_with("function \"f\": For with unroll_max has no equal in version 1.4.0")
    );
    let many = refused(&text.replace("\"unroll_max\":0", "\"unroll_max\":1025"));
    assert!(many.contains("field \"unroll_max\": expected a number from 0 to 1024, found 1025"), "{many}");
    assert!(read(&text).unwrap_err().message.contains("version 1.5.0 is not for this reader"));
}

#[test]
fn an_added_node_is_rewritten_or_refused() {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], DType::INT32);
    let x = f.scalar("x", DType::INT32);
    f.store(&a, [1], Expr::i32(0) - x.clone());
    f.store(&a, [2], &x * &x);
    let module = build::module([f.finish()]);
    let newest = at(&module, TEST).unwrap();
    let start = newest.find("{\"node\":\"Sub\"").unwrap();
    let end = start + newest[start..].find('}').unwrap() + 1;
    let (x_id, negated) = (3, r#"{"node":"Negate","dtype":"int32","value":3}"#);
    assert!(newest[start..end].contains(&format!("\"b\":{x_id}")), "{newest}");
    let negate = newest.replace(&newest[start..end], negated);
    // The zero is not needed any more, and stays away when the document is read and written.
    let read = back(&negate).unwrap();
    assert_eq!(equal::modules(&read, &module), Ok(()));
    assert_eq!(at(&read, TEST).unwrap(), newest);
    // A node that nothing refers to is of the document all the same.
    let yields = newest.replacen("{\"node\":\"Store\"", "{\"node\":\"Yield\"},{\"node\":\"Store\"", 1);
    assert!(back(&yields).unwrap_err().message.contains("Yield has no equal in version 1.4.0"));
}

/// A function of one statement.
fn evaluates(value: Expr) -> IrModule {
    let mut f = build::function("f");
    f.evaluate(value);
    build::module([f.finish()])
}

/// WIRE-W5: what 1.0 has no equal of is named: the node, the op, the function.
#[test]
fn what_1_0_has_no_equal_of_is_named() {
    let i32 = Expr::i32;
    let mask = Expr::int(1, DType::UINT32);
    let shuffle = |op| Expr::call(op, vec![mask.clone(), i32(7), i32(1), i32(32), i32(32)], DType::INT32);
    let calls = [
        (Op::ThreadReturn, Expr::call(Op::ThreadReturn, vec![], DType::HANDLE)),
        (Op::WarpActivemask, Expr::call(Op::WarpActivemask, vec![], DType::UINT32)),
        (Op::AtomicAdd, Expr::call(Op::AtomicAdd, vec![Expr::str("p"), i32(1)], DType::INT32)),
        (Op::ThreadAllreduce, Expr::call(Op::ThreadAllreduce, vec![mask.clone()], DType::HANDLE)),
    ];
    let shuffles = Op::all_where(|op| op.threads == Threads::Shuffle).map(|op| (op, shuffle(op)));
    for (op, call) in calls.into_iter().chain(shuffles) {
        let mut module = evaluates(Expr::i32(1));
        module.functions.extend(
            build::module([{
                let mut g = build::function("g");
                g.evaluate(call);
                g.finish()
            }])
            .functions,
        );
        let newest = write(&module).unwrap();
        let error = write_at(&module, "1.0.0").unwrap_err();
        let node = error.node.expect("a node");
        assert!(newest.lines().nth(node + 2).unwrap().contains(&format!("\"op\":\"{}\"", op.name())));
        let expected = format!(
            "function \"g\": CallOp {} has no equal in version 1.0.0; a reader of 1.1.0 takes it",
            op.name()
        );
        assert_eq!(error.message, expected);
        // Strict: the same nodes are none of 1.0.
        let older = newest.replace(VERSION, "1.0.0");
        assert!(read(&older).unwrap_err().message.contains("expected a known op"), "{op:?}");
    }
}

/// WIRE-W5: what 1.1 has no equal of is named; all else is the same document.
#[test]
fn a_parallel_launch_is_named_where_1_1_is_written() {
    let launch = |body: &str| {
        let mut f = build::function("f");
        let data = f.scalar("data", DType::HANDLE);
        let args = vec![Expr::str(body), data, Expr::i32(4)];
        f.evaluate(Expr::call(Op::ParallelLaunch, args, DType::INT32));
        f.finish()
    };
    let module = build::module([build::function("other").finish(), launch("task")]);
    let newest = write(&module).unwrap();
    for (older, newer) in [("1.1.0", "1.2.0"), ("1.0.0", "1.2.0")] {
        let error = write_at(&module, older).unwrap_err();
        let node = error.node.expect("a node");
        assert!(newest.lines().nth(node + 2).unwrap().contains("\"op\":\"TVMBackendParallelLaunch\""));
        assert_eq!(
            error.message,
            format!(
                "function \"f\": CallOp TVMBackendParallelLaunch has no equal in version 1.1.0; a reader of {newer} \
                 takes it"
            )
        );
        assert!(read(&newest.replace(VERSION, older)).unwrap_err().message.contains("expected a known op"));
    }
    let plain = loops();
    for older in ["1.2.0", "1.1.0"] {
        assert_eq!(write_at(&plain, older).unwrap(), write(&plain).unwrap().replace(VERSION, older));
    }
}

/// WIRE-W5: what 1.2 has no equal of is named: tensors and strings of packed calls.
#[test]
fn what_packed_calls_take_is_named_where_1_2_is_written() {
    let zero = Expr::i32(0);
    let mut f = build::function("f");
    let data = f.scalar("data", DType::HANDLE);
    let shape = Expr::call(Op::StackMakeShape, vec![Expr::i32(4)], DType::HANDLE);
    let array = vec![data, shape, zero.clone(), Expr::i32(1), zero.clone(), zero.clone()];
    let array = Expr::call(Op::StackMakeArray, array, DType::HANDLE);
    f.evaluate(Expr::call(Op::CallPacked, vec![Expr::str("g"), array], DType::INT32));
    let mut g = build::function("g");
    let values = g.scalar("values", DType::HANDLE);
    let set = vec![values, zero, Expr::i32(StructField::AnyValue as i32), Expr::str("both")];
    g.evaluate(Expr::call(Op::StructSet, set, DType::HANDLE));
    for (function, op) in [(f.finish(), "tvm_stack_make_shape"), (g.finish(), "tvm_struct_set")] {
        let module = build::module([function]);
        assert_eq!(equal::modules(&module, &read(&write(&module).unwrap()).unwrap()), Ok(()), "{op}");
        let error = write_at(&module, "1.2.0").unwrap_err();
        let expected = format!("CallOp {op} has no equal in version 1.2.0; a reader of 1.3.0 takes it");
        assert!(error.message.ends_with(&expected), "{}", error.message);
    }
}

/// WIRE-W5: what 1.2 has no equal of is named, and no document of 1.2 has it; all else is the same document.
#[test]
fn a_storage_type_is_named_where_1_2_is_written() {
    for &dtype in DType::STORAGE {
        let mut f = crate::build::function("f");
        f.buffer("A", [8], dtype);
        let module = crate::build::module([f.finish()]);
        let newest = write(&module).unwrap();
        for older in ["1.2.0", "1.1.0", "1.0.0"] {
            let error = write_at(&module, older).unwrap_err();
            let wanted = format!("of type {dtype} has no equal in version 1.2.0; a reader of 1.3.0 takes it");
            assert!(error.message.contains(&wanted), "{}", error.message);
            assert!(read(&newest.replace(VERSION, older)).is_err(), "{dtype} in {older}");
        }
    }
    let plain = loops();
    assert_eq!(write_at(&plain, "1.2.0").unwrap(), write(&plain).unwrap().replace(VERSION, "1.2.0"));
}

/// An op is of some minor: that which adds one adds it to the table of a new minor.
#[test]
fn every_op_is_in_the_newest_minor() {
    let newest = (MINORS[MINORS.len() - 1].format)();
    for op in Op::ALL {
        assert!(newest.has_op(op.name()), "{}", op.name());
    }
}

fn sum_reducer() -> Arc<Reducer> {
    let [a, b] = ["a", "b"].map(|name| Var::new(name, DType::FLOAT32));
    let (result, identity) = (&a.expr() + &b.expr(), Expr::float(0.0, DType::FLOAT32));
    Arc::new(Reducer { lhs: vec![a], rhs: vec![b], result: vec![result], identity: vec![identity] })
}

/// WIRE-W5: notes are dropped for 1.0.
#[test]
fn notes_are_dropped_for_1_0() {
    let build = |notes: bool| {
        let mut f = build::function("f");
        let a = f.buffer("A", [4], DType::INT32);
        let x = f.scalar("x", DType::INT32);
        let positive = || Expr::compare(crate::CompareOp::Gt, x.clone(), Expr::i32(0));
        let assume = || Expr::call(Op::Assume, vec![positive()], DType::HANDLE);
        let same =
            |e: Expr| if notes { Expr::call(Op::ThreadInvariant, vec![e.clone()], e.dtype) } else { e };
        if notes {
            f.evaluate(assume());
        }
        f.store(&a, [0], same(x.clone() + Expr::i32(3)));
        f.push(Stmt::new(StmtKind::Seq(vec![])));
        f.for_loop("i", 4, ForKind::Serial, |f, i| {
            if notes {
                f.evaluate(assume());
            }
            f.store(&a, [&i], x.clone());
        });
        let inner = Stmt::store(&a, vec![Expr::i32(1)], x.clone());
        f.push(if notes {
            Stmt::new(StmtKind::Attr {
                node: AttrNode::Reducer(sum_reducer()),
                key: "reduce_scope".into(),
                value: Expr::i32(0),
                body: inner,
            })
        } else {
            inner
        });
        f.if_then(positive(), |f| {
            if notes {
                f.evaluate(assume())
            }
        });
        build::module([f.finish()])
    };
    let (noted, plain) = (build(true), build(false));
    assert_eq!(validate(&noted, Stage::Blocks), Ok(()));
    assert_eq!(write_at(&noted, "1.0.0").unwrap(), write_at(&plain, "1.0.0").unwrap());
    assert!(write(&noted).unwrap().contains("\"Reducer\""));
}

#[test]
fn access_pointers_have_equals_in_1_0() {
    let pointer = |offset: Expr, moved: bool| {
        let mut f = build::function("f");
        let n = f.scalar("n", DType::INT32);
        let a = f.buffer("A", [64], DType::FLOAT32);
        let offset = if offset.as_int().is_some() { offset } else { n };
        let zero = Expr::float(0.0, DType::FLOAT32);
        let data = a.data.expr();
        let bytes = match offset.as_int() {
            Some(value) => Expr::int(4 * value, DType::INT64),
            None => offset.clone().cast(DType::INT64) * Expr::int(4, DType::INT64),
        };
        let call = if moved {
            Expr::call(Op::HandleAddByteOffset, vec![data, bytes], DType::HANDLE)
        } else {
            let args = vec![zero, data, offset, Expr::i32(4), Expr::i32(1)];
            Expr::call(Op::AccessPtr, args, DType::HANDLE)
        };
        let callee = crate::Callee::Extern { name: "g".into(), pure: false };
        f.evaluate(Expr::new(crate::ExprKind::Call { callee, args: vec![call] }, DType::INT32));
        let module = build::module([f.finish()]);
        assert_eq!(validate(&module, Stage::Blocks), Ok(()), "{}", print::module(&module));
        write_at(&module, "1.0.0").unwrap()
    };
    let variable = Var::new("x", DType::INT32).expr();
    for offset in [Expr::i32(12), Expr::i32(-1), variable] {
        assert_eq!(pointer(offset.clone(), false), pointer(offset, true));
    }
}

fn placed(line: u32, value: i32, a: &crate::Buffer) -> Stmt {
    let value = Expr::i32(value).with_span(Span { line, column: 20 });
    let sum =
        (value + Expr::i32(5).with_span(Span { line, column: 24 })).with_span(Span { line, column: 22 });
    Stmt::store(a, vec![Expr::i32(0)], sum).with_span(Span { line, column: 5 })
}

/// WIRE-W8: each statement has its own position, an expression the one where it stands, if that is one.
#[test]
fn positions_are_written_when_asked_for() {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], DType::INT32);
    f.push(placed(3, 1, &a));
    f.push(placed(4, 1, &a));
    f.push(placed(5, 2, &a));
    let module = build::module([f.finish()]);
    let options = WriteOptions { positions: true, file: Some("k.py"), ..WriteOptions::default() };
    let text = write_with(&module, &options).unwrap();
    assert!(text.contains("\"positions\":{\"file\":\"k.py\",\"nodes\":[["), "{text}");
    assert_eq!(text.matches("\"Store\"").count(), 3, "equal statements of two lines are two");
    let document = read_document(&text).unwrap();
    assert_eq!((&*document.version, document.file.as_deref()), (VERSION, Some("k.py")));
    assert_eq!(equal::modules(&document.module, &module), Ok(()));
    assert_eq!(write_with(&document.module, &options).unwrap(), text, "WIRE-W4");
    let StmtKind::Seq(stmts) = &document.module.functions[0].body.kind else { panic!("a sequence") };
    assert_eq!(stmts.iter().map(|stmt| stmt.span.line).collect::<Vec<_>>(), [3, 4, 5]);
    let spans = stmts.iter().map(|stmt| match &stmt.kind {
        StmtKind::Store { value, .. } => value.span,
        _ => Span::NONE,
    });
    // 1 + 5 stands in two lines, 2 + 5 in one.
    assert_eq!(spans.collect::<Vec<_>>(), [Span::NONE, Span::NONE, Span { line: 5, column: 22 }]);
    // Not asked for, or of an older minor: the same bytes as without.
    let mut plain = build::function("f");
    let a = plain.buffer("A", [4], DType::INT32);
    for value in [1, 1, 2] {
        plain.store(&a, [0], Expr::i32(value) + Expr::i32(5));
    }
    let plain = build::module([plain.finish()]);
    assert_eq!(write(&module).unwrap(), write(&plain).unwrap());
    let older = WriteOptions { version: "1.0.0", ..options };
    assert_eq!(write_with(&module, &older).unwrap(), write_at(&plain, "1.0.0").unwrap());
    let none = WriteOptions { file: None, ..options };
    assert_eq!(write_with(&plain, &none).unwrap(), write(&plain).unwrap(), "there are none");
    // A newer minor keeps them.
    let (minors, native) = grown();
    let newer = write_among(&module, &WriteOptions { version: TEST, ..options }, &minors, native).unwrap();
    let again = read_among(&newer, &minors, native).unwrap();
    assert_eq!(write_with(&again.module, &options).unwrap(), text);
}

/// WIRE-W8.
#[test]
fn positions_that_are_wrong_are_refused() {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], DType::INT32);
    f.push(placed(3, 1, &a));
    let text = write_with(
        &build::module([f.finish()]),
        &WriteOptions { positions: true, ..WriteOptions::default() },
    )
    .unwrap();
    let start = text.find("\"nodes\":[[").unwrap() + "\"nodes\":[".len();
    let end = text.rfind("]]").unwrap() + 1;
    let with = |places: &str| {
        let mut spoilt = text.clone();
        spoilt.replace_range(start..end, places);
        read(&spoilt).map_err(|error| error.to_string())
    };
    assert!(with(&text[start..end]).is_ok());
    assert!(with("").is_ok());
    let refused = |places: &str, says: &str| {
        let message = with(places).unwrap_err();
        assert!(message.contains(says), "{places}: {message}");
    };
    refused("[7,3,5],[7,3,6]", "each id once, in their order");
    refused("[7,3,5],[6,3,6]", "each id once, in their order");
    refused("[7,0,5]", "expected a number from 1 to 4294967295, found 0");
    refused("[7,3]", "expected a list of");
    refused("[7,3,4294967296]", "expected a number from 1");
    refused("[1,3,5]", "a variable has no position");
    refused("[700,3,5]", "there is no node 700");
    let older = text.replace(VERSION, "1.0.0");
    assert!(read(&older).unwrap_err().message.contains("unknown field \"positions\""));
}

/// WIRE-W6: a rewritten document is held to the same depth.
#[test]
fn depth_is_bounded_after_rewriting() {
    let mut value = Expr::i32(1);
    for _ in 0..80 {
        value = Expr::call(
            Op::QMultiplyShift,
            vec![value, Expr::i32(3), Expr::i32(31), Expr::i32(0)],
            DType::INT32,
        );
    }
    let module = evaluates(value);
    assert!(read(&write(&module).unwrap()).is_ok());
    let error = write_at(&module, "1.0.0").unwrap_err();
    assert!(error.message.contains("levels deep when rewritten"), "{error}");
}

/// A scope that a device has of its own stays what it is.
#[test]
fn scopes_are_open() {
    let mut f = build::function("f");
    let scope = StorageScope::parse("texture.nhwc");
    f.alloc("T", [4], DType::INT32, scope);
    through_all(&build::module([f.finish()]));
}
