//! WIRE-W5: minors, up and down, as they are imagined; WIRE-W8: positions.

use std::sync::OnceLock;

use super::super::format::{Field, Format, Shape};
use super::super::imagined::{self, IMAGINED, NATIVE, NEWER, OLDER, read as back, write_at as at};
use super::super::json::node;
use super::super::minors::{Minor, convert};
use super::super::rewrite::{Document, canonical};
use super::*;
use crate::op::Threads;
use crate::{AttrNode, ForKind, IrModule, Op, Reducer, Span, StorageScope, StructField};

const MODULES: &str = imagined::VERSION;

/// The minor of modules.
fn native() -> &'static Format {
    (IMAGINED[NATIVE].format)()
}

fn refused_at(module: &IrModule, version: &str) -> WireError {
    at(module, version).unwrap_err()
}

/// Text and module through every minor, and document to document.
fn through_all(module: &IrModule) {
    for version in imagined::VERSIONS {
        let text = at(module, version).unwrap();
        assert!(text.starts_with(&format!("{{\"chipdock_ir\":\"{version}\"")));
        let again = back(&text).unwrap();
        assert_eq!(equal::modules(module, &again), Ok(()), "{version}");
        assert_eq!(at(&again, version).unwrap(), text, "{version}");
    }
    let document = write::document(module, false, None).unwrap();
    let newest = IMAGINED.len() - 1;
    let oldest = convert(document.clone(), NATIVE, 0, IMAGINED).unwrap();
    let grown = convert(oldest.clone(), 0, newest, IMAGINED).unwrap();
    assert!((IMAGINED[newest].format)().check(&grown).is_ok());
    assert_eq!(write::text(&grown, NEWER), at(module, NEWER).unwrap(), "up, minor by minor");
    assert_eq!(convert(grown, newest, 0, IMAGINED).unwrap(), oldest, "and back");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// WIRE-W5: what the oldest minor has too is equal in all, with the same bytes each time.
    #[test]
    fn modules_go_through_every_minor(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        through_all(&well_formed::module(&bytes));
    }

    /// WIRE-W4: the order and the sharing of a rewritten document are those of a written one.
    #[test]
    fn canonical_order_is_the_writers(bytes in prop::collection::vec(any::<u8>(), 0..400), positions in any::<bool>()) {
        let document = write::document(&well_formed::module(&bytes), positions, None).unwrap();
        prop_assert_eq!(canonical(document.clone(), native()).unwrap(), document);
    }

    /// WIRE-W5: whatever a module has, an older minor has it, has an equal of it, or refuses it by
    /// name; what it takes is valid, and no document of a minor has what the minor lacks.
    #[test]
    fn every_module_is_rewritten_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let module = well_formed::whole_module(&bytes);
        match at(&module, OLDER) {
            Ok(text) => {
                let older = back(&text).unwrap();
                let found = validate(&older, Stage::Blocks).err().unwrap_or_default();
                // `tvm_thread_invariant` of a constant becomes the constant, which IR-E10 checks as
                // an index.
                let had_invariants = at(&module, MODULES).unwrap().contains("tvm_thread_invariant");
                let is_of_index = |message: &str| message.contains("is outside of buffer");
                prop_assert!(
                    found.iter().all(|diagnostic| had_invariants && is_of_index(&diagnostic.message)),
                    "{:?}",
                    found
                );
                prop_assert_eq!(at(&older, OLDER).unwrap(), text);
            }
            Err(error) => {
                let wanted = format!(" has no equal in version {OLDER}; a reader of {MODULES} takes it");
                prop_assert!(error.node.is_some() && error.message.ends_with(&wanted), "{}", error);
                let older = at(&module, MODULES).unwrap().replacen(MODULES, OLDER, 1);
                prop_assert!(back(&older).is_err());
            }
        }
    }
}

/// C.38: as long as the ABI's major, each published version 1.x is written, from 1.0 on.
#[test]
fn c38_every_version_of_major_1_is_written() {
    let module = well_formed::module(&[7; 64]);
    assert_eq!(VERSIONS[0], "1.0.0");
    for version in VERSIONS {
        assert!(version.starts_with("1."), "{version}");
        assert_eq!(equal::modules(&module, &read(&write_at(&module, version).unwrap()).unwrap()), Ok(()));
    }
    assert_eq!(VERSIONS.last(), Some(&VERSION));
}

/// P13.4: every reader of this crate takes at least so much.
#[test]
fn p13_4_no_bound_of_modules_is_below_that_of_the_contract() {
    let bounds = (DOCUMENT_BYTES_MAX, crate::limits::NODES_MAX, crate::limits::DEPTH_MAX);
    assert!(bounds.0 >= 256 << 20 && bounds.1 >= 4_000_000 && bounds.2 >= 256, "{bounds:?}");
}

/// WIRE-W5: a reader of several minors says which, and a writer too.
#[test]
fn a_minor_that_nobody_knows_is_refused() {
    let text = at(&loops(), NEWER).unwrap();
    for unknown in ["1.6.0", "1.10.0", "2.8.0"] {
        assert_eq!(
            back(&text.replacen(NEWER, unknown, 1)).unwrap_err().message,
            format!(
                "version {unknown} is not for this reader, which takes 1.7.0 to 1.9.0; have it written at 1.9.0"
            )
        );
        let known = "this library knows 1.7.0, 1.8.0, 1.9.0";
        assert_eq!(refused_at(&loops(), unknown).message, format!("cannot write version {unknown}; {known}"));
        let error = imagined::schema(unknown).unwrap_err();
        assert_eq!(error.message, format!("cannot give the schema of version {unknown}; {known}"));
    }
    // A patch is of its minor.
    assert!(back(&text.replacen(NEWER, "1.9.4", 1)).is_ok());
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
    let text = at(&module, NEWER).unwrap();
    assert!(text.contains(r#""operand":"#) && text.contains(r#""unroll_max":0,"annotations""#), "{text}");
    let refused = |text: &str| back(text).unwrap_err().to_string();
    // Strict both ways: each minor has its own fields, nothing else.
    let older = at(&module, MODULES).unwrap();
    let wrong = older.replace(MODULES, NEWER);
    assert!(refused(&wrong).contains("Not: field \"operand\" is missing"));
    assert!(refused(&text.replace(NEWER, MODULES)).contains("Not: field \"value\" is missing"));
    let more = refused(&text.replace("\"operand\":", "\"value\":").replace(NEWER, MODULES));
    assert!(more.contains("For: unknown field \"unroll_max\""), "{more}");
    // What the older minor lacks is named, with the function.
    let unrolled = text.replace("\"unroll_max\":0", "\"unroll_max\":8");
    let expected =
        "function \"f\": For with unroll_max 8 has no equal in version 1.8.0; a reader of 1.9.0 takes it";
    assert!(refused(&unrolled).ends_with(expected), "{}", refused(&unrolled));
    let many = refused(&text.replace("\"unroll_max\":0", "\"unroll_max\":1025"));
    assert!(many.contains("field \"unroll_max\": expected a number from 0 to 1024, found 1025"), "{many}");
    assert!(read(&text).unwrap_err().message.contains("version 1.9.0 is not for this reader"));
}

#[test]
fn an_added_node_is_rewritten_or_refused() {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], DType::INT32);
    let x = f.scalar("x", DType::INT32);
    f.store(&a, [1], Expr::i32(0) - x.clone());
    f.store(&a, [2], &x * &x);
    let module = build::module([f.finish()]);
    let newest = at(&module, NEWER).unwrap();
    let start = newest.find("{\"node\":\"Sub\"").unwrap();
    let end = start + newest[start..].find('}').unwrap() + 1;
    let (x_id, negated) = (3, r#"{"node":"Negate","dtype":"int32","value":3}"#);
    assert!(newest[start..end].contains(&format!("\"b\":{x_id}")), "{newest}");
    let negate = newest.replace(&newest[start..end], negated);
    // The zero is not needed any more, and stays away when the document is read and written.
    let read = back(&negate).unwrap();
    assert_eq!(equal::modules(&read, &module), Ok(()));
    assert_eq!(at(&read, NEWER).unwrap(), newest);
    // A node that nothing refers to is of the document all the same.
    let yields = newest.replacen("{\"node\":\"Store\"", "{\"node\":\"Yield\"},{\"node\":\"Store\"", 1);
    assert!(back(&yields).unwrap_err().message.contains("Yield has no equal in version 1.8.0"));
}

/// A function of one statement.
fn evaluates(value: Expr) -> IrModule {
    let mut f = build::function("f");
    f.evaluate(value);
    build::module([f.finish()])
}

/// WIRE-W5: what the older minor has no equal of is named: the node, the op, the function.
#[test]
fn nodes_without_an_equal_in_the_older_minor_are_named() {
    let i32 = Expr::i32;
    let mask = Expr::int(1, DType::UINT32);
    let shuffle = |op| Expr::call(op, vec![mask.clone(), i32(7), i32(1), i32(32), i32(32)], DType::INT32);
    let launch = vec![Expr::str("task"), Expr::str("data"), i32(4)];
    let calls = [
        (Op::ThreadReturn, Expr::call(Op::ThreadReturn, vec![], DType::HANDLE)),
        (Op::WarpActivemask, Expr::call(Op::WarpActivemask, vec![], DType::UINT32)),
        (Op::AtomicAdd, Expr::call(Op::AtomicAdd, vec![Expr::str("p"), i32(1)], DType::INT32)),
        (Op::ThreadAllreduce, Expr::call(Op::ThreadAllreduce, vec![mask.clone()], DType::HANDLE)),
        (Op::ParallelLaunch, Expr::call(Op::ParallelLaunch, launch, DType::INT32)),
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
        let newest = at(&module, MODULES).unwrap();
        let error = refused_at(&module, OLDER);
        let node = error.node.expect("a node");
        assert!(newest.lines().nth(node + 2).unwrap().contains(&format!("\"op\":\"{}\"", op.name())));
        let expected = format!(
            "function \"g\": CallOp {} has no equal in version 1.7.0; a reader of 1.8.0 takes it",
            op.name()
        );
        assert_eq!(error.message, expected);
        // Strict: the same nodes are none of the older minor.
        let older = newest.replace(MODULES, OLDER);
        assert!(back(&older).unwrap_err().message.contains("expected a known op"), "{op:?}");
    }
    // All else is the same document.
    let plain = loops();
    assert_eq!(at(&plain, OLDER).unwrap(), at(&plain, MODULES).unwrap().replace(MODULES, OLDER));
}

/// WIRE-W5: minor by minor, the first on the way that lacks something says so, whichever is wanted.
#[test]
fn the_first_minor_on_the_way_down_refuses() {
    let newest = IMAGINED.len() - 1;
    let document = write::document(&loops(), false, None).unwrap();
    let mut grown = convert(document, NATIVE, newest, IMAGINED).unwrap();
    grown.nodes.push(node!("Yield"));
    let last = grown.nodes.len() - 1;
    for to in 0..newest {
        let error = convert(grown.clone(), newest, to, IMAGINED).unwrap_err();
        let expected = "Yield has no equal in version 1.8.0; a reader of 1.9.0 takes it";
        assert_eq!((error.node, &*error.message), (Some(last), expected));
    }
}

/// WIRE-W5: a minor that rewrites nothing adds what older ones refuse, here a field of the document
/// and one of each loop.
#[test]
fn a_table_alone_makes_a_minor() {
    static FORMAT: OnceLock<Format> = OnceLock::new();
    fn format() -> &'static Format {
        FORMAT.get_or_init(|| {
            let field = |name, optional| Field { name, shape: Shape::Text, optional };
            let mut nodes = native().nodes.clone();
            nodes
                .iter_mut()
                .filter(|node| node.name == "For")
                .for_each(|node| node.fields.push(field("why", true)));
            let mut document = native().document.clone();
            document.extend([field("licence", false), field("comment", true)]);
            Format::new(nodes, document)
        })
    }
    let minors = [
        Minor { version: "1.0.0", format: native, up: None, down: None },
        Minor { version: "1.1.0", format, up: None, down: None },
    ];
    let plain = write::document(&loops(), false, None).unwrap();
    let with = |name: &'static str| {
        let mut document = plain.clone();
        document.rest.push((name.into(), Json::text("x")));
        document
    };
    let down = |document: Document| convert(document, 1, 0, &minors);
    assert_eq!(down(plain.clone()), Ok(plain.clone()));
    assert_eq!(down(with("comment")), Ok(plain.clone()), "an optional field is left out");
    let error = down(with("licence")).unwrap_err();
    let expected =
        "the document: unknown field \"licence\" has no equal in version 1.0.0; a reader of 1.1.0 takes it";
    assert_eq!((error.node, &*error.message), (None, expected));
    let mut annotated = plain.clone();
    for node in annotated.nodes.iter_mut().filter(|node| node.word("node") == "For") {
        let Json::Object(fields) = node else { panic!("a node") };
        fields.push(("why".into(), Json::text("x")));
    }
    let error = down(annotated.clone()).unwrap_err();
    let expected =
        "function \"f\": For with why \"x\" has no equal in version 1.0.0; a reader of 1.1.0 takes it";
    assert_eq!(error.message, expected);
    assert_eq!(convert(annotated.clone(), 0, 1, &minors), Ok(annotated), "up, it is what it was");
}

/// WIRE-W5: what of a node a minor lacks, in words.
#[test]
fn missing_features_of_a_minor_are_spelled_out() {
    let lacks = |node: Json| native().lacks(&node);
    let not = |value: Json| node!("Not", dtype: Json::text("bool"), value: value);
    assert_eq!(lacks(not(Json::id(3))), None);
    assert_eq!(lacks(node!("Yield")).as_deref(), Some("Yield"));
    assert_eq!(lacks(not(Json::Null)).as_deref(), Some("Not with value null"));
    assert_eq!(lacks(node!("Not", dtype: Json::text("bool"))).as_deref(), Some("Not without value"));
    let of = node!("Not", dtype: Json::text("int3"), value: Json::id(3));
    assert_eq!(lacks(of).as_deref(), Some("Not of type int3"));
}

/// WIRE-W5: whether a node has an equal may depend on its parts.
#[test]
fn unsupported_packed_call_arguments_are_named() {
    let zero = Expr::i32(0);
    let mut f = build::function("f");
    let data = f.scalar("data", DType::HANDLE);
    let shape = Expr::call(Op::StackMakeShape, vec![Expr::i32(4)], DType::HANDLE);
    let array = vec![data, shape, zero.clone(), Expr::i32(1), zero.clone(), zero.clone()];
    let array = Expr::call(Op::StackMakeArray, array, DType::HANDLE);
    f.evaluate(Expr::call(Op::CallPacked, vec![Expr::str("g"), array], DType::INT32));
    let set = |value: Expr| {
        let mut g = build::function("g");
        let values = g.scalar("values", DType::HANDLE);
        let set = vec![values, zero.clone(), Expr::i32(StructField::AnyValue as i32), value];
        g.evaluate(Expr::call(Op::StructSet, set, DType::HANDLE));
        build::module([g.finish()])
    };
    let of_text = set(Expr::str("both"));
    for (module, op) in
        [(build::module([f.finish()]), "tvm_stack_make_shape"), (of_text, "tvm_struct_set of a string")]
    {
        assert_eq!(equal::modules(&module, &read(&write(&module).unwrap()).unwrap()), Ok(()), "{op}");
        let error = refused_at(&module, OLDER);
        let expected = format!("CallOp {op} has no equal in version 1.7.0; a reader of 1.8.0 takes it");
        assert!(error.message.ends_with(&expected), "{}", error.message);
    }
    through_all(&set(Expr::i32(3)));
}

/// WIRE-W5: a type that the older minor lacks is named, and no document of the older minor has it.
#[test]
fn a_storage_type_is_named() {
    for &dtype in DType::STORAGE {
        let mut f = build::function("f");
        f.buffer("A", [8], dtype);
        let stored = build::module([f.finish()]);
        let cast = evaluates(Expr::i32(1).cast(dtype).cast(DType::INT32));
        let pointer = format!("Var with pointer {{\"element\":\"{dtype}\",\"scope\":\"global\"}}");
        for (module, what) in [(stored, pointer), (cast, format!("Cast of type {dtype}"))] {
            let newest = at(&module, MODULES).unwrap();
            let wanted = format!("{what} has no equal in version 1.7.0; a reader of 1.8.0 takes it");
            let found = refused_at(&module, OLDER).message;
            assert!(found.ends_with(&wanted), "{found}");
            assert!(back(&newest.replace(MODULES, OLDER)).is_err(), "{dtype}");
            assert!(back(&newest).is_ok(), "{dtype}");
        }
    }
}

/// A result is no storage type in any minor.
#[test]
fn a_result_of_a_storage_type_is_refused() {
    let mut f = build::function("f");
    f.returns(DType::INT32);
    f.return_value(0);
    let text = write(&build::module([f.finish()])).unwrap();
    let spoilt = text.replace("\"ret\":\"int32\"", "\"ret\":\"int4\"");
    assert!(read(&text).is_ok() && spoilt != text);
    assert!(read(&spoilt).unwrap_err().message.contains("expected a type's name"));
}

/// An op is of some minor: that which adds one adds it to the table of a new minor.
#[test]
fn every_op_is_in_the_newest_minor() {
    let newest = (MINORS[MINORS.len() - 1].format)();
    for op in Op::ALL {
        let args = Json::List(Vec::new());
        let call = node!("CallOp", dtype: Json::text("int32"), op: Json::text(op.name()), args: args);
        assert_eq!(newest.lacks(&call), None, "{}", op.name());
    }
}

fn sum_reducer() -> Arc<Reducer> {
    let [a, b] = ["a", "b"].map(|name| Var::new(name, DType::FLOAT32));
    let (result, identity) = (&a.expr() + &b.expr(), Expr::float(0.0, DType::FLOAT32));
    Arc::new(Reducer { lhs: vec![a], rhs: vec![b], result: vec![result], identity: vec![identity] })
}

/// WIRE-W5: a node may be left out, and a part may stand for it.
#[test]
fn notes_are_left_out_of_the_older_minor() {
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
    assert_eq!(at(&noted, OLDER).unwrap(), at(&plain, OLDER).unwrap());
    through_all(&plain);
    assert!(write(&noted).unwrap().contains("\"Reducer\""));
}

/// WIRE-W5: several older nodes may be the equal of a new one.
#[test]
fn an_op_has_an_equal_in_the_older_minor() {
    let module = |is_new: bool| {
        let mut f = build::function("f");
        let a = f.buffer("A", [4], DType::FLOAT32);
        let [x, y] = ["x", "y"].map(|name| f.scalar(name, DType::FLOAT32));
        let call = |op, args: Vec<Expr>| Expr::call(op, args, DType::FLOAT32);
        f.store(
            &a,
            [0],
            match is_new {
                true => call(Op::Hypot, vec![x.clone(), y.clone()]),
                false => call(Op::Sqrt, vec![&x * &x + &y * &y]),
            },
        );
        build::module([f.finish()])
    };
    let older = at(&module(true), OLDER).unwrap();
    assert_eq!(older, at(&module(false), OLDER).unwrap());
    assert_eq!(validate(&back(&older).unwrap(), Stage::Blocks), Ok(()));
    assert!(at(&module(true), MODULES).unwrap().contains("\"hypot\""));
}

fn placed(line: u32, value: i32, a: &crate::Buffer) -> Stmt {
    let value = Expr::i32(value).with_span(Span { line, column: 20 });
    let sum =
        (value + Expr::i32(5).with_span(Span { line, column: 24 })).with_span(Span { line, column: 22 });
    Stmt::store(a, vec![Expr::i32(0)], sum).with_span(Span { line, column: 5 })
}

/// WIRE-W8: each statement has its own position, an expression the one where it stands, if that is
/// one.
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
    let older = WriteOptions { version: OLDER, ..options };
    assert_eq!(imagined::write_with(&module, &older).unwrap(), at(&plain, OLDER).unwrap());
    let none = WriteOptions { file: None, ..options };
    assert_eq!(write_with(&plain, &none).unwrap(), write(&plain).unwrap(), "there are none");
    // A newer minor keeps them.
    let newer = WriteOptions { version: NEWER, ..options };
    let again = imagined::read_document(&imagined::write_with(&module, &newer).unwrap()).unwrap();
    assert_eq!((&*again.version, again.file.as_deref()), (NEWER, Some("k.py")));
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
    let older = back(&text.replace(VERSION, OLDER)).unwrap_err();
    assert!(older.message.contains("unknown field \"positions\""), "{older}");
}

/// WIRE-W6: a rewritten document is held to the same depth.
#[test]
fn depth_is_bounded_after_rewriting() {
    let mut value = Expr::float(1.0, DType::FLOAT32);
    for _ in 0..200 {
        value = Expr::call(Op::Hypot, vec![value.clone(), value], DType::FLOAT32);
    }
    let module = evaluates(value);
    assert!(back(&at(&module, MODULES).unwrap()).is_ok());
    let error = refused_at(&module, OLDER);
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
