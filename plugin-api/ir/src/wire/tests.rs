mod minors;

use proptest::prelude::*;

use super::*;
use crate::Span;
use crate::validate::validate;
use crate::{DType, Expr, Stage, Stmt, StmtKind, Var, build, equal, print, testing::well_formed};

/// Makes a small module that has most sorts of node.
fn sample() -> IrModule {
    let bytes: Vec<u8> = (0..2000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    well_formed::module(&bytes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// WIRE-W4, WIRE-W7.
    #[test]
    fn a_document_reads_back_to_an_equal_module(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let module = well_formed::module(&bytes);
        prop_assert_eq!(validate(&module, Stage::Blocks), Ok(()), "{}", print::module(&module));
        let text = write(&module).unwrap();
        let back = read(&text).unwrap();
        prop_assert_eq!(equal::modules(&module, &back), Ok(()));
        prop_assert_eq!(&write(&back).unwrap(), &text);
        prop_assert_eq!(print::module(&back), print::module(&module));
        prop_assert_eq!(validate(&back, Stage::Blocks), Ok(()));
    }

    /// WIRE-W9: what was written and read is the same in everything but positions, and has none
    /// here.
    #[test]
    fn an_identity_is_of_the_module_and_not_of_its_memory(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let module = well_formed::module(&bytes);
        let places = WriteOptions { positions: true, ..WriteOptions::default() };
        if write_with(&module, &places).unwrap() == write(&module).unwrap() {
            let back = read(&write(&module).unwrap()).unwrap();
            prop_assert_eq!(identity(&module).unwrap(), identity(&back).unwrap());
        }
    }

    /// WIRE-W6: whatever the document, no panic.
    #[test]
    fn spoilt_documents_are_refused_or_read(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        let mut text = write(&well_formed::module(&bytes)).unwrap().into_bytes();
        for (index, byte) in edits {
            let index = index.index(text.len());
            text[index] = byte;
        }
        if let Some(cut) = cut {
            text.truncate(cut.index(text.len()));
        }
        if let Ok(text) = std::str::from_utf8(&text) {
            take(text);
        }
    }

    /// WIRE-W6: edits that keep the JSON whole go deeper.
    #[test]
    fn spoilt_numbers_and_words_are_refused_or_read(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        which in any::<prop::sample::Index>(),
        with in prop::sample::select(vec![
            "0", "1", "2", "7", "-1", "99999999999", "null", "true", "\"\"", "[]", "{}", "1.5", "\"int32\"",
            "\"float32x4\"", "\"0x7ff8000000000001\"", "\"Add\"", "\"Seq\"", "[0]", "[[0,0]]", "\"exp\"",
        ]),
    ) {
        let text = write(&well_formed::module(&bytes)).unwrap();
        let starts: Vec<usize> = text.match_indices([':', ',', '[']).map(|(at, _)| at + 1).collect();
        let start = starts[which.index(starts.len())];
        let length = text[start..].find([',', ']', '}']).unwrap_or(0);
        let mut spoilt = text.clone();
        spoilt.replace_range(start..start + length, with);
        take(&spoilt);
    }
}

/// Reads a document as a stranger's: what is taken, the rest of the crate takes too.
fn take(text: &str) {
    match read(text) {
        Err(error) => assert!(!error.message.is_empty()),
        Ok(module) => {
            let _ = print::module(&module);
            if validate(&module, Stage::Blocks).is_ok() {
                let again = read(&write(&module).unwrap()).unwrap();
                assert_eq!(equal::modules(&module, &again), Ok(()));
            }
        }
    }
}

#[track_caller]
fn refuses(from: &str, to: &str, expected: &str) {
    let text = write(&sample()).unwrap();
    assert!(text.contains(from), "{from} does not occur");
    let error = read(&text.replacen(from, to, 1)).unwrap_err();
    assert!(error.to_string().contains(expected), "expected \"{expected}\", found \"{error}\"");
}

/// WIRE-W5.
#[test]
fn unknown_versions_nodes_and_fields_are_refused() {
    let wanted = "is not for this reader, which takes 1.0.0; have it written at 1.0.0";
    refuses("\"1.0.0\"", "\"1.1.0\"", &format!("version 1.1.0 {wanted}"));
    refuses("\"1.0.0\"", "\"2.0.0\"", &format!("version 2.0.0 {wanted}"));
    for no_version in ["1.0", "+1.0.0", "1.00.0", "1.0.0.0", ""] {
        let expected = format!("expected a version as \"1.0.0\", found \"{no_version}\"");
        refuses("\"1.0.0\"", &format!("\"{no_version}\""), &expected);
    }
    refuses("\"node\":\"Int\"", "\"node\":\"Integer\"", "unknown node \"Integer\"");
    refuses("\"node\":\"Int\",", "\"node\":\"Int\",\"more\":1,", "Int: unknown field \"more\"");
    refuses("\"node\":\"Int\",\"dtype\":\"int32\",", "\"node\":\"Int\",", "Int: field \"dtype\" is missing");
    refuses("\"functions\":[", "\"more\":[],\"functions\":[", "unknown field \"more\"");
    refuses(
        "\"node\":\"Int\",",
        "\"node\":\"Int\",\"node\":\"Int\",",
        "field \"node\" stands twice in one object",
    );
    assert_eq!(
        write_at(&sample(), "1.7.0").unwrap_err().message,
        "cannot write version 1.7.0; this library knows 1.0.0"
    );
    for version in VERSIONS {
        assert!(read(&write_at(&sample(), version).unwrap()).is_ok());
    }
    assert_eq!(VERSIONS, MINORS.iter().map(|minor| minor.version).collect::<Vec<_>>());
}

/// WIRE-W2: an id refers backwards, to a node of the wanted sort; the error names the node.
#[test]
fn ids_refer_backwards_to_the_right_sort() {
    let document = |nodes: &str| {
        format!("{{\"chipdock_ir\":\"1.0.0\",\"nodes\":[{nodes}],\"functions\":[],\"attrs\":[]}}")
    };
    let message = |nodes: &str| read(&document(nodes)).unwrap_err().to_string();
    let int = r#"{"node":"Int","dtype":"int32","value":"1"}"#;
    assert!(read(&document(int)).is_ok());
    let cast = |id: &str| format!(r#"{int},{{"node":"Cast","dtype":"int32","value":{id}}}"#);
    assert!(read(&document(&cast("0"))).is_ok());
    let expected =
        "IR document, node 1: Cast: field \"value\": expected the id of an earlier node, below 1, found 1";
    assert_eq!(message(&cast("1")), expected);
    assert!(message(&cast("-1")).contains("found -1"));
    assert!(message(&cast("\"0\"")).contains("found \"0\""));
    let stmt = format!(r#"{int},{{"node":"Seq","stmts":[0]}}"#);
    assert!(message(&stmt).contains("expected a statement, found node 0, an expression"));
    assert!(
        message(r#"{"node":"Int","dtype":"int32","value":"01"}"#).contains("a decimal integer in a string")
    );
    assert!(message(r#"{"node":"Int","dtype":"int33","value":"1"}"#).contains("expected a type's name"));
    assert!(message(r#"{"node":"Float","dtype":"float32","bits":"0x1"}"#).contains("0x and 16 hexadecimal"));
    assert!(message("1.5").contains("not a JSON document"));
    assert!(message("3").contains("a node: expected an object, found 3"));
}

/// WIRE-W6.
#[test]
fn depth_and_size_are_bounded() {
    let mut nodes = String::from(r#"{"node":"Int","dtype":"int32","value":"1"}"#);
    for index in 0..100_000 {
        nodes.push_str(&format!(",{{\"node\":\"Cast\",\"dtype\":\"int32\",\"value\":{index}}}"));
    }
    let text = format!("{{\"chipdock_ir\":\"1.0.0\",\"nodes\":[{nodes}],\"functions\":[],\"attrs\":[]}}");
    let error = read(&text).unwrap_err();
    assert_eq!((error.node, &*error.message), (Some(LEVELS_MAX), "nests more than 256 levels deep"));
    // Each list has the one before it twice: 2^40 values.
    let mut nodes = String::from(r#"{"node":"AttrNone"}"#);
    for index in 0..40 {
        nodes.push_str(&format!(",{{\"node\":\"AttrList\",\"items\":[{index},{index}]}}"));
    }
    let text = format!("{{\"chipdock_ir\":\"1.0.0\",\"nodes\":[{nodes}],\"functions\":[],\"attrs\":[]}}");
    assert!(read(&text).unwrap_err().message.contains("attributes have more than"));
    let deep = "[".repeat(100_000);
    assert!(read(&deep).unwrap_err().message.contains("recursion limit"));
    let mut e = Expr::i32(1);
    for _ in 0..3000 {
        e = e.cast(DType::INT64).cast(DType::INT32);
    }
    let mut f = build::function("f");
    f.evaluate(e);
    assert!(write(&build::module([f.finish()])).unwrap_err().message.contains("levels deep"));
}

/// WIRE-W2: what is shared or equal stands once, so that the document is no larger than the module.
#[test]
fn equal_nodes_stand_once() {
    let mut f = build::function("f");
    let x = f.scalar("x", DType::INT32);
    let mut e = x.clone();
    for _ in 0..100 {
        e = &e + &e;
    }
    f.evaluate(e);
    f.evaluate(&x + &x);
    let module = build::module([f.finish()]);
    let text = write(&module).unwrap();
    assert_eq!(text.matches("\"Add\"").count(), 100);
    assert_eq!(equal::modules(&module, &read(&text).unwrap()), Ok(()));
    // Variables have an identity, whatever their names.
    let mut f = build::function("f");
    for _ in 0..2 {
        f.bind("v", 1);
    }
    assert_eq!(write(&build::module([f.finish()])).unwrap().matches("\"Var\"").count(), 2);
}

#[test]
fn a_document_that_is_no_ir_is_not_written() {
    let mut f = build::function("f");
    f.push(Stmt::new(StmtKind::Evaluate(Expr::new(
        crate::ExprKind::Var(Var::new("x", DType::INT32)),
        DType::INT64,
    ))));
    let error = write(&build::module([f.finish()])).unwrap_err();
    assert_eq!(error.message, "variable `x` of type int32 is used as int64");
    let mut f = build::function("f");
    f.evaluate(Expr::new(crate::ExprKind::Int(1), DType { bits: 24, ..DType::INT32 }));
    assert!(write(&build::module([f.finish()])).unwrap_err().message.contains("there is no type"));
}

/// The exact bytes of a small document; a change of them is a change of the format.
#[test]
fn the_bytes_of_a_document() {
    let mut f = build::function("f");
    let n = f.size("n");
    let a = f.buffer("A", [&n], DType::FLOAT32);
    f.store(&a, [0], Expr::float(-0.5, DType::FLOAT32));
    let expected = r#"{"chipdock_ir":"1.0.0",
"nodes":[
{"node":"Var","name":"n","dtype":"int32","pointer":null},
{"node":"Var","name":"A","dtype":"handle","pointer":{"element":"float32","scope":"global"}},
{"node":"Buffer","name":"A","dtype":"float32","shape":[0],"strides":[],"elem_offset":null,"data":1,"scope":"global","data_alignment_bytes":0,"offset_factor":0},
{"node":"Int","dtype":"int32","value":"0"},
{"node":"Float","dtype":"float32","bits":"0xbfe0000000000000"},
{"node":"Store","buffer":2,"indices":[3],"value":4,"predicate":null}
],
"functions":[{"name":"f","params":[2],"ret":null,"attrs":[],"s_tir":true,"alloc_buffers":[],"body":5}],
"attrs":[]}
"#;
    assert_eq!(write(&build::module([f.finish()])).unwrap(), expected);
}

/// WIRE-W9: a document leaves out where equal expressions stand that stand in several places; an
/// identity has each.
#[test]
fn an_identity_has_the_place_of_every_use() {
    let at = |column| Span { line: 3, column };
    // Two equal uses of a variable, two equal sums, and a statement, each in its place.
    let module = |places: [u32; 5], name: &str| {
        let mut f = build::function("f");
        let x = f.scalar(name, DType::INT32);
        let used = |index: usize| x.clone().with_span(at(places[index]));
        let sum = |index: usize| (used(0) + Expr::int(1, DType::INT32)).with_span(at(places[index]));
        let value = Expr::select(used(1).lt(2), sum(2), sum(3));
        f.push(Stmt::new(StmtKind::Evaluate(value)).with_span(at(places[4])));
        build::module([f.finish()])
    };
    let places = [1, 2, 3, 4, 5];
    let first = identity(&module(places, "x")).unwrap();
    assert_eq!(first, identity(&module(places, "x")).unwrap());
    assert_ne!(first, identity(&module(places, "y")).unwrap(), "a name");
    for index in 0..places.len() {
        let mut moved = places;
        moved[index] += 40;
        assert_ne!(first, identity(&module(moved, "x")).unwrap(), "place {index}");
    }
    assert!(read(&first).is_err(), "no document");
}

/// WIRE-W10: a section that is missing, of other bytes or of another size; one that nobody names.
#[test]
fn wire_w10_a_constant_needs_its_section() {
    let data = crate::ConstantData::new([1, 2, 3, 4]);
    let mut f = crate::build::function("f");
    f.constant("K", [4], crate::DType::UINT8, data.clone());
    f.constant("L", [1], crate::DType::FLOAT32, data.clone());
    let module = crate::build::module([f.finish()]);
    assert_eq!(sections(&module), std::slice::from_ref(&data), "equal bytes are one section");
    let text = write(&module).unwrap();
    let given = |bytes: &'static [u8]| read_document_with(&text, &move |_| Some(bytes));
    assert_eq!(crate::equal::modules(&given(&[1, 2, 3, 4]).unwrap().module, &module), Ok(()));
    let more = [crate::ConstantData::new([9]), data];
    assert_eq!(crate::equal::modules(&read_beside(&text, &more).unwrap(), &module), Ok(()));
    let missing = read(&text).unwrap_err().message;
    assert!(missing.contains("is not beside the document") && missing.contains("WIRE-W10"), "{missing}");
    let other = given(&[1, 2, 3, 5]).unwrap_err().message;
    assert!(other.contains("has other bytes") && other.contains("WIRE-W10"), "{other}");
    let longer = text.replace("\"size_bytes\":\"4\"", "\"size_bytes\":\"5\"");
    let size = read_beside(&longer, &more).unwrap_err().message;
    assert!(size.contains("has 4 bytes, the node expects 5") && size.contains("WIRE-W10"), "{size}");
}
