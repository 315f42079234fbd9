//! Tests of the JSON Schemas, WIRE-W5: they are printed from the tables that the reader uses, and
//! checked by an independent validator.

use std::fs;

use chipdock_ir::wire::{self, WriteOptions, imagined};
use chipdock_test_wire::{MINORS, documents, folder, modules};
use jsonschema::Validator;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

fn validator(version: &str) -> Validator {
    jsonschema::draft202012::new(&wire::schema(version).unwrap()).expect("a schema of draft 2020-12")
}

/// The open minor by the README, if there is one. The README must list all others as published.
fn open_minor() -> Option<&'static str> {
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    let (all, newest) = (MINORS.iter().map(|(minor, _)| *minor), MINORS[MINORS.len() - 1].0);
    let line = |published: &str, open: &str| format!("\nPublished: {published}. Open: {open}.\n");
    let up_to = |minor: &str| if minor == "1.0" { minor.to_owned() } else { format!("1.0 to {minor}") };
    if readme.contains(&line(&up_to(newest), "none")) {
        return None;
    }
    let before = all.rev().nth(1).map_or("none".to_owned(), up_to);
    assert!(
        readme.contains(&line(&before, newest)),
        "plugin-api/ir/wire/README.md: expected a line `{}`, or `{}` until {newest} is released",
        line(&up_to(newest), "none").trim(),
        line(&before, newest).trim()
    );
    Some(newest)
}

/// With `BLESS=1`, writes the schema of the open minor, and a new one; those of others never
/// change.
#[test]
fn wire_w5_schemas_are_current() {
    let open = open_minor();
    for (minor, version) in MINORS {
        let path = folder().join(format!("chipdock-ir-{minor}.schema.json"));
        let printed = serde_json::to_string_pretty(&wire::schema(version).unwrap()).unwrap() + "\n";
        let is_open = open == Some(*minor);
        if chipdock_test_support::is_blessing() && (is_open || !path.exists()) {
            fs::write(&path, &printed).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        let hint = match is_open {
            true => "run this test with BLESS=1 and read the difference",
            false => {
                "a published minor never changes: make a new one, as plugin-api/ir/wire/README.md describes"
            }
        };
        assert!(kept == printed, "chipdock-ir-{minor}.schema.json is not what the tables print; {hint}");
    }
    assert_eq!(
        wire::schema("1.7.0").unwrap_err().message,
        "cannot give the schema of version 1.7.0; this library knows 1.0.0"
    );
}

/// The schemas of the published minors and of those that are imagined.
fn all_schemas() -> Vec<Value> {
    let published = MINORS.iter().map(|(_, version)| wire::schema(version).unwrap());
    published.chain(imagined::VERSIONS.iter().map(|version| imagined::schema(version).unwrap())).collect()
}

#[test]
fn wire_w5_schemas_are_schemas() {
    for schema in all_schemas() {
        assert!(jsonschema::meta::validate(&schema).is_ok());
        // Each object says what it needs, and takes nothing else.
        fn walk(value: &Value, at: &str) {
            if value["type"] == "object" && value.get("properties").is_some() {
                assert!(
                    value.get("required").is_some() && value.get("additionalProperties").is_some(),
                    "{at}"
                );
            }
            if let Some(object) = value.as_object() {
                object.iter().for_each(|(name, value)| walk(value, &format!("{at}/{name}")));
            }
        }
        walk(&schema, "");
        assert_eq!(schema["$defs"]["Let"]["required"], json!(["node", "dtype", "var", "value", "body"]));
        assert_eq!(schema["$defs"]["Let"]["additionalProperties"], json!(false));
    }
}

/// Every kept document, by its own minor's schema.
#[test]
fn wire_w5_kept_documents_are_accepted() {
    for (minor, version) in MINORS {
        let validator = validator(version);
        for document in documents(minor).unwrap() {
            let json: Value = serde_json::from_str(&document.text).unwrap();
            if let Some(error) = validator.iter_errors(&json).next() {
                panic!("{minor}/{}: {error} at {}", document.name, error.instance_path());
            }
        }
    }
}

/// What is written for a minor, its schema takes; what is new in it, neither reader nor schema of
/// the older minor takes.
#[test]
fn wire_w5_a_document_of_a_newer_minor_is_none_of_the_older() {
    let validators: Vec<Validator> = imagined::VERSIONS
        .iter()
        .map(|version| jsonschema::draft202012::new(&imagined::schema(version).unwrap()).unwrap())
        .collect();
    // Not, For, ops, a Reducer, types and positions: each is of some minor.
    let news =
        [("notes", 1), ("warps", 1), ("allreduce", 1), ("launch", 1), ("packed", 1), ("storage-types", 1)];
    let news = news.into_iter().chain([("positions", 1), ("expressions", 2), ("statements", 2)]);
    for (name, since) in news {
        let module = match name {
            "positions" => modules::placed(),
            name => modules::all().into_iter().find(|kept| kept.name == name).unwrap().module,
        };
        let options = WriteOptions {
            version: imagined::VERSIONS[since],
            positions: name == "positions",
            ..WriteOptions::default()
        };
        let text = imagined::write_with(&module, &options).unwrap();
        let json: Value = serde_json::from_str(&text).unwrap();
        assert!(validators[since].is_valid(&json) && imagined::read(&text).is_ok(), "{name}");
        let older = text.replacen(imagined::VERSIONS[since], imagined::VERSIONS[since - 1], 1);
        assert!(!validators[since - 1].is_valid(&serde_json::from_str(&older).unwrap()), "{name}");
        assert!(imagined::read(&older).is_err(), "{name}");
        // The way back down: the older minor's own document, or a refusal.
        if let Ok(text) = imagined::write_at(&module, imagined::VERSIONS[since - 1]) {
            assert!(validators[since - 1].is_valid(&serde_json::from_str(&text).unwrap()), "{name}");
        }
    }
}

/// Errors of the reader that a schema cannot express: targets of ids, too deep nesting, duplicates.
const BEYOND: &[&str] = &[
    // Constants are read with the sections beside the document.
    "is not beside the document",
    "the id of an earlier node",
    "found node ",
    "levels deep",
    "each id once",
    "each name once",
    "there is no node",
    "has no position",
    "a pointer has type handle",
    "thread_binding alone",
    "a 64-bit integer",
    "more than",
    "stands twice",
    // Of a newer minor that modules cannot hold, which is imagined.
    " has no equal in version ",
];

/// The places in a document where something can be changed, as JSON pointers.
fn places(value: &Value, at: String, out: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| places(item, format!("{at}/{index}"), out));
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                places(item, format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), out);
            }
        }
        _ => {}
    }
    out.push(at);
}

/// One change: a field more, a field less, another value.
fn change(document: &mut Value, place: &Index, how: usize, which: &Index) -> String {
    let mut all = Vec::new();
    places(document, String::new(), &mut all);
    let at = place.get(&all).clone();
    let target = document.pointer_mut(&at).unwrap();
    match (how, target) {
        (0, Value::Object(fields)) => {
            fields.insert("more".into(), json!(0));
            format!("a field more in {at}")
        }
        (1 | 2, Value::Object(fields)) if !fields.is_empty() => {
            let names: Vec<String> = fields.keys().cloned().collect();
            let name = which.get(&names);
            if how == 1 {
                fields.shift_remove(name);
            } else if let Some(value) = fields.shift_remove(name) {
                fields.insert(format!("{name}x"), value);
            }
            format!("field {name} of {at} gone")
        }
        (3, Value::Array(items)) if !items.is_empty() => {
            let index = which.index(items.len());
            items.remove(index);
            format!("item {index} of {at} gone")
        }
        (_, target) => {
            let others = [
                json!(null),
                json!(true),
                json!(-1),
                json!(0),
                json!(3),
                json!(1_000_000),
                json!(""),
                json!("Add"),
                json!("int32"),
                json!("float32x4"),
                json!("int32x0"),
                json!("int32x1024"),
                json!("int32x1025"),
                json!("handlex2"),
                json!("0x7ff8000000000000"),
                json!("0x7FF8000000000000"),
                json!("0x1"),
                json!("7"),
                json!("-7"),
                json!("07"),
                json!("-0"),
                json!("+7"),
                json!("123456789012345678901"),
                json!("exp"),
                json!("serial"),
                json!("threadIdx.x"),
                json!([]),
                json!([0]),
                json!([[0, 1]]),
                json!({}),
                json!({"kind": "k"}),
                json!("int4"),
                json!("1.0.0"),
                json!("1.0.7"),
                json!("1.1.0"),
                json!("1.7.0"),
                json!("1.8.2"),
                json!("1.9.0"),
                json!("1.0"),
            ];
            *target = which.get(&others).clone();
            format!("{at} is {target}")
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// WIRE-W5: reader and schema agree on the structure of every document, changed at random, of
    /// the published minors and of those that are imagined.
    #[test]
    fn wire_w5_reader_and_schema_agree_on_changed_documents(
        (world, minor) in (0..2_usize, any::<Index>()),
        which in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), 0_usize..8, any::<Index>()), 1..3),
    ) {
        thread_local! {
            static WORLDS: [Vec<Kept>; 2] = [published(), imagined_documents()];
        }
        WORLDS.with(|worlds| {
            let kept = &worlds[world];
            let own = minor.get(kept);
            let mut document = which.get(&own.documents).clone();
            let done: Vec<String> =
                changes.iter().map(|(place, how, which)| change(&mut document, place, *how, which)).collect();
            // The reader takes any minor that it knows; the schema is that of the document's.
            let version = document["chipdock_ir"].as_str().unwrap_or_default().to_owned();
            let of_minor = |kept: &&Kept| version.starts_with(kept.version.trim_end_matches('0'));
            let accepted = kept.iter().find(of_minor).unwrap_or(own).validator.is_valid(&document);
            let text = document.to_string();
            match if world == 0 { wire::read(&text) } else { imagined::read(&text) } {
                Ok(_) => prop_assert!(accepted, "read, but the schema refuses: {done:?}"),
                Err(error) => {
                    let beyond = BEYOND.iter().any(|part| error.message.contains(part));
                    prop_assert!(!accepted || beyond, "the schema accepts: {done:?}, but {error}");
                }
            }
            Ok(())
        })?;
    }
}

/// A minor's version, its schema and small documents of it.
struct Kept {
    version: &'static str,
    validator: Validator,
    documents: Vec<Value>,
}

const SMALL_BYTES: usize = 20_000;

fn published() -> Vec<Kept> {
    let kept = MINORS.iter().map(|(minor, version)| {
        let small =
            documents(minor).unwrap().into_iter().filter(|document| document.text.len() < SMALL_BYTES);
        let documents = small.map(|document| serde_json::from_str(&document.text).unwrap()).collect();
        Kept { version, validator: validator(version), documents }
    });
    kept.collect()
}

/// The kept documents as each imagined minor has them.
fn imagined_documents() -> Vec<Kept> {
    let texts = documents(MINORS[MINORS.len() - 1].0).unwrap();
    let small = texts.iter().filter(|document| document.text.len() < SMALL_BYTES);
    // Of constants there is a document alone here, without its sections.
    let small = small.filter(|document| !document.text.contains("\"ConstantData\""));
    let read: Vec<wire::WireDocument> =
        small.map(|document| wire::read_document(&document.text).unwrap()).collect();
    let kept = imagined::VERSIONS.iter().map(|&version| {
        let write = |document: &wire::WireDocument| {
            let options = WriteOptions { version, positions: true, file: document.file.as_deref() };
            imagined::write_with(&document.module, &options).ok()
        };
        let documents: Vec<Value> =
            read.iter().filter_map(write).map(|text| serde_json::from_str(&text).unwrap()).collect();
        assert!(documents.len() > 10, "{version}: {} documents", documents.len());
        let validator = jsonschema::draft202012::new(&imagined::schema(version).unwrap()).unwrap();
        Kept { version, validator, documents }
    });
    kept.collect()
}

/// WIRE-W5: each sort of structural fault, refused by both.
#[test]
fn wire_w5_faults_of_structure_are_refused_by_both() {
    let validator = validator("1.0.0");
    let text = fs::read_to_string(folder().join("corpus/1.0/positions.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert!(validator.is_valid(&document) && wire::read(&text).is_ok());
    let faults: &[(&str, Value)] = &[
        ("/nodes/0/more", json!(1)),
        ("/nodes/0/node", json!("Nothing")),
        ("/nodes/0/node", json!(7)),
        ("/nodes/0", json!([])),
        ("/functions/0/s_tir", json!("yes")),
        ("/functions/0/params", json!({})),
        ("/functions/0/attrs", json!([["name"]])),
        ("/functions/0/more", json!([])),
        ("/attrs", json!(null)),
        ("/positions/file", json!(1)),
        ("/positions/nodes/0", json!([7, 3])),
        ("/positions/nodes/0/1", json!(0)),
        ("/positions/more", json!([])),
        ("/more", json!([])),
        ("/chipdock_ir", json!("2.0.0")),
    ];
    for (at, value) in faults {
        let mut spoilt = document.clone();
        match spoilt.pointer_mut(at) {
            Some(place) => *place = value.clone(),
            None => {
                let (parent, name) = at.rsplit_once('/').unwrap();
                let parent = spoilt.pointer_mut(parent).unwrap().as_object_mut().unwrap();
                parent.insert(name.to_owned(), value.clone());
            }
        }
        assert!(!validator.is_valid(&spoilt), "{at}: the schema takes {value}");
        assert!(wire::read(&spoilt.to_string()).is_err(), "{at}: the reader takes {value}");
    }
}
