//! Tests of WIRE-W6: damaged documents, and the memory and work that a document costs; counted, not
//! timed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Once;

use chipdock_ir::validate::validate;
use chipdock_ir::wire::{self, WriteOptions, imagined};
use chipdock_ir::{DType, Expr, IrModule, Span, Stage, Stmt, build, equal, limits, print};
use chipdock_test_wire::{Document, all_documents};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

/// Bytes of memory that reading takes at most for each byte of the document.
const FACTOR: usize = 128;
/// And whatever the document.
const BYTES: usize = 64 << 10;
/// Pieces of memory that reading asks for at most for each byte of the document: how much it does.
const PIECES: usize = 2;

/// Memory that this thread holds.
#[derive(Clone, Copy, Default)]
struct Held {
    bytes: usize,
    peak: usize,
    pieces: usize,
}

thread_local! {
    static HELD: Cell<Held> = const { Cell::new(Held { bytes: 0, peak: 0, pieces: 0 }) };
}

fn note(more: usize, less: usize) {
    HELD.with(|held| {
        let mut now = held.get();
        now.bytes = (now.bytes + more).saturating_sub(less);
        now.peak = now.peak.max(now.bytes);
        now.pieces += usize::from(more > 0);
        held.set(now);
    });
}

struct Counting;

// SAFETY: every call goes to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: `layout` is not of size 0, as the trait requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(0, layout.size());
        // SAFETY: `pointer` was allocated here with `layout`, as the trait requires.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both are there while one is copied to the other.
        note(size, 0);
        note(0, layout.size());
        // SAFETY: `pointer` was allocated here with `layout`, and `size` is not 0, as the trait
        // requires.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Runs a piece of work; returns its result, the largest number of bytes held at once, and the
/// number of allocations.
fn measure<T>(work: impl FnOnce() -> T) -> (T, usize, usize) {
    let before = HELD.with(|held| {
        let now = held.get();
        held.set(Held { peak: now.bytes, ..now });
        now
    });
    let result = work();
    let after = HELD.with(Cell::get);
    (result, after.peak.saturating_sub(before.bytes), after.pieces - before.pieces)
}

/// Makes what a process makes once, when it first reads a document of each version, so that no
/// document is charged for it.
fn read_once() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (version, attrs) in wire::VERSIONS.iter().flat_map(|version| [(version, "{}"), (version, "[]")]) {
            let text =
                format!("{{\"chipdock_ir\":\"{version}\",\"nodes\":[],\"functions\":[],\"attrs\":{attrs}}}");
            drop(wire::read(&text));
        }
    });
}

/// Reads as a stranger's: no panic, bounded memory and work; what is read, the rest of the crate
/// takes.
fn take(text: &str) -> Result<IrModule, String> {
    read_once();
    let (read, bytes, pieces) = measure(|| wire::read(text));
    let length = text.len();
    let start: String = text.chars().take(200).collect();
    assert!(bytes <= FACTOR * length + BYTES, "{bytes} bytes of memory for {length} of a document: {start}");
    assert!(pieces <= PIECES * length + 1000, "{pieces} pieces of memory for {length} bytes: {start}");
    match read {
        Err(error) => {
            assert!(!error.message.is_empty() && error.message.len() < 1000, "{error}");
            Err(error.to_string())
        }
        Ok(module) => {
            let _ = print::module(&module);
            if validate(&module, Stage::Blocks).is_ok() {
                let text = wire::write(&module).unwrap();
                let again = wire::read(&text).unwrap();
                assert_eq!(wire::write(&again).unwrap(), text);
                assert_eq!(equal::modules(&module, &again), Ok(()));
                for version in imagined::VERSIONS {
                    if let Ok(text) = imagined::write_at(&module, version) {
                        let again = imagined::read(&text).unwrap();
                        assert_eq!(imagined::write_at(&again, version).unwrap(), text);
                        if *version != imagined::OLDER {
                            assert_eq!(equal::modules(&module, &again), Ok(()));
                        }
                    }
                }
            }
            Ok(module)
        }
    }
}

fn kept() -> Vec<Document> {
    thread_local! {
        static KEPT: Vec<Document> = all_documents().unwrap();
    }
    KEPT.with(Clone::clone)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes changed, put in, taken out, and the end cut off.
    #[test]
    fn wire_w6_spoilt_bytes(
        which in any::<Index>(),
        edits in prop::collection::vec((any::<Index>(), any::<u8>(), 0..4), 1..8),
        cut in prop::option::weighted(0.2, any::<Index>()),
    ) {
        let mut text = which.get(&kept()).text.clone().into_bytes();
        for (at, byte, how) in edits {
            let at = at.index(text.len());
            match how {
                0 => text[at] = byte,
                1 => text[at] = b"\"[]{},:0-e.\\un"[usize::from(byte) % 14],
                2 => text.insert(at, byte),
                _ => drop(text.remove(at)),
            }
        }
        if let Some(cut) = cut {
            text.truncate(cut.index(text.len()));
        }
        let _ = take(&String::from_utf8_lossy(&text));
    }

    /// Values changed for others that are JSON: huge ids, deep lists, long strings, enormous
    /// numbers.
    #[test]
    fn wire_w6_spoilt_values(
        which in any::<Index>(),
        edits in prop::collection::vec((any::<Index>(), 0_usize..24, any::<u32>()), 1..5),
    ) {
        let mut text = which.get(&kept()).text.clone();
        for (at, how, number) in edits {
            let starts: Vec<usize> = text.match_indices([':', ',', '[']).map(|(at, _)| at + 1).collect();
            let start = *at.get(&starts);
            let length = text[start..].find([',', ']', '}']).unwrap_or(0);
            let value = match how {
                0 => number.to_string(),
                1 => (number % 64).to_string(),
                2 => format!("-{number}"),
                3 => "9007199254740993".to_owned(),
                4 => "9223372036854775807".to_owned(),
                5 => "18446744073709551616".to_owned(),
                6 => "9".repeat(5000),
                7 => format!("1e{number}"),
                8 => format!("{}0{}", "[".repeat(100), "]".repeat(100)),
                9 => "[".repeat(1 + number as usize % 50_000),
                10 => format!("\"{}\"", "x".repeat(70_000)),
                11 => format!("\"{}\"", "7".repeat(1 + number as usize % 60)),
                12 => "\"\\u0000\"".to_owned(),
                13 => "\"\\ud800\"".to_owned(),
                14 => "{\"node\":\"Var\"}".to_owned(),
                15 => "\"int32x1024\"".to_owned(),
                16 => "\"uint64x65535\"".to_owned(),
                17 => "{\"node\":1,\"node\":2}".to_owned(),
                18 => format!("[{}]", vec!["0"; number as usize % 3000].join(",")),
                19 => "\"tvm_thread_allreduce\"".to_owned(),
                20 => "\"vthread.z\"".to_owned(),
                21 => "null".to_owned(),
                22 => "true".to_owned(),
                _ => "\"\"".to_owned(),
            };
            text.replace_range(start..start + length, &value);
        }
        let _ = take(&text);
    }

    /// Whole nodes moved, doubled, or of another document.
    #[test]
    fn wire_w6_spoilt_tables(
        which in any::<Index>(),
        other in any::<Index>(),
        edits in prop::collection::vec((any::<Index>(), any::<Index>(), 0..4), 1..6),
    ) {
        let kept = kept();
        let [mut document, other]: [Value; 2] =
            [which, other].map(|which| serde_json::from_str(&which.get(&kept).text).unwrap());
        let others = other["nodes"].as_array().unwrap().clone();
        let nodes = document["nodes"].as_array_mut().unwrap();
        for (from, to, how) in edits {
            if nodes.is_empty() {
                break;
            }
            let (from, to) = (from.index(nodes.len()), to.index(nodes.len()));
            match how {
                0 => nodes.swap(from, to),
                1 => drop(nodes.remove(from)),
                2 => nodes.insert(to, nodes[from].clone()),
                _ if !others.is_empty() => nodes[to] = others[from % others.len()].clone(),
                _ => {}
            }
        }
        let _ = take(&document.to_string());
    }
}

fn document(nodes: &str, functions: &str, attrs: &str) -> String {
    format!(
        "{{\"chipdock_ir\":\"1.0.0\",\"nodes\":[{nodes}],\"functions\":[{functions}],\"attrs\":[{attrs}]}}"
    )
}

/// Documents made to cost much: small things that become large ones.
#[test]
fn wire_w6_documents_that_cost_the_most() {
    let repeat = |what: &str, count: usize| vec![what; count].join(",");
    let target = |options: &str| {
        document(
            &format!("{{\"node\":\"AttrTarget\",\"target\":{{\"kind\":\"k\",\"x\":{options}}}}}"),
            "",
            "[\"t\",0]",
        )
    };
    let int = r#"{"node":"Int","dtype":"int32","value":"1"}"#;
    let mut worst = (0, String::new());
    let count = 60_000;
    for (name, text) in [
        ("numbers", target(&format!("[{}]", repeat("0", count)))),
        ("lists", target(&format!("[{}]", repeat("[]", count)))),
        ("lists of one", target(&format!("[{}]", repeat("[0]", count)))),
        ("lists of five", target(&format!("[{}]", repeat("[0,0,0,0,0]", count)))),
        ("objects of one", target(&format!("[{}]", repeat("{\"\":0}", count)))),
        ("strings", target(&format!("[{}]", repeat("\"\"", count)))),
        ("nodes that are none", document(&repeat("0", count), "", "")),
        ("nodes of nothing", document(&repeat("{\"node\":\"Break\"}", count), "", "")),
        ("empty sequences", document(&repeat("{\"node\":\"Seq\",\"stmts\":[]}", count), "", "")),
        ("equal nodes", document(&repeat(int, count), "", "")),
        (
            "a wide shuffle",
            document(
                &format!(
                    "{int},{{\"node\":\"Shuffle\",\"dtype\":\"int32\",\"vectors\":[{}],\"indices\":[{}]}}",
                    repeat("0", count),
                    repeat("0", count)
                ),
                "",
                "",
            ),
        ),
        (
            "functions",
            document(
                "{\"node\":\"Break\"}",
                &repeat(
                    "{\"name\":\"\",\"params\":[],\"ret\":null,\"attrs\":[],\"s_tir\":true,\"alloc_buffers\":[],\"body\":0}",
                    count,
                ),
                "",
            ),
        ),
        (
            "attributes of one value",
            document("{\"node\":\"AttrList\",\"items\":[]}", "", &repeat("[\"\",0]", 1)),
        ),
    ] {
        let (read, bytes, pieces) = measure(|| wire::read(&text));
        let factor = bytes * 10 / text.len();
        println!(
            "{name}: {}.{} bytes, {} pieces per 100 bytes",
            factor / 10,
            factor % 10,
            pieces * 100 / text.len()
        );
        if factor > worst.0 {
            worst = (factor, name.to_owned());
        }
        drop(read);
        let _ = take(&text);
    }
    println!("worst: {}.{} by {}", worst.0 / 10, worst.0 % 10, worst.1);
}

/// Attributes are values, copied wherever they are referred to: their number is bounded, whatever
/// the document's size.
#[test]
fn wire_w6_copied_attributes_are_bounded() {
    let mut nodes = r#"{"node":"AttrNone"}"#.to_owned();
    for index in 0..60 {
        nodes.push_str(&format!(",{{\"node\":\"AttrList\",\"items\":[{index},{index}]}}"));
    }
    let text = document(&nodes, "", "[\"note\",60]");
    let (read, bytes, _) = measure(|| wire::read(&text));
    assert!(read.unwrap_err().message.contains("attributes have more than"));
    let each = bytes / limits::NODES_MAX as usize;
    assert!(each <= 64, "{each} bytes per value");
}

/// Each is refused for what it is, at once.
#[test]
fn wire_w6_documents_of_spite() {
    let int = r#"{"node":"Int","dtype":"int32","value":"1"}"#;
    let cast = |id: &str| {
        document(&format!("{int},{{\"node\":\"Cast\",\"dtype\":\"int32\",\"value\":{id}}}"), "", "")
    };
    let mut wide = String::from("{");
    for index in 0..2000 {
        wide.push_str(&format!("\"k{index}\":0,"));
    }
    wide.push_str("\"node\":\"Break\"}");
    let deep = |levels: usize| {
        let mut nodes = int.to_owned();
        for id in 0..levels {
            nodes.push_str(&format!(",{{\"node\":\"Not\",\"dtype\":\"bool\",\"value\":{id}}}"));
        }
        document(&nodes, "", "")
    };
    for (text, says) in [
        (String::new(), "not a JSON document"),
        ("\u{feff}{}".to_owned(), "not a JSON document"),
        ("{}".to_owned(), "field \"chipdock_ir\" is missing"),
        ("[".repeat(1_000_000), "recursion limit"),
        ("{\"a\":".repeat(1_000_000), "recursion limit"),
        (cast("99999999999"), "the id of an earlier node, below 1, found 99999999999"),
        (cast("9223372036854775807"), "the id of an earlier node"),
        (cast("9223372036854775808"), "expected a number of 64 bits, signed"),
        (cast("-9223372036854775808"), "expected the id of an expression"),
        (cast("1e400"), "not a JSON document"),
        (cast(&"9".repeat(100_000)), "not a JSON document"),
        (cast("0.0"), "not a JSON document"),
        (cast("-0"), "not a JSON document"),
        (cast("1"), "below 1, found 1"),
        (document(&wide, "", ""), "more than 1024 fields"),
        (document("{\"node\":\"Break\",\"node\":\"Break\"}", "", ""), "stands twice"),
        (deep(100_000), "nests more than 256 levels deep"),
        (document("", "", "") + "x", "not a JSON document"),
        (document("", "", "") + &document("", "", ""), "not a JSON document"),
    ] {
        let error = take(&text).unwrap_err();
        assert!(error.contains(says), "expected \"{says}\", found {error}");
    }
    // As many levels as a valid module may have are read, and no stack overflows.
    assert!(take(&deep(500)).is_ok());
}

/// Statements `A[i] = A[i + 1] * c + i`, no two of them equal; a fifth of them have the same
/// position as others.
fn module(statements: i32) -> IrModule {
    let mut f = build::function("f");
    let a = f.buffer("A", [statements + 1], DType::FLOAT32);
    for i in 0..statements {
        let next = Expr::load(&a, vec![Expr::i32(i + 1)]);
        let factor = Expr::float(f64::from(i) / 8.0, DType::FLOAT32);
        let value = next * factor + Expr::i32(i).cast(DType::FLOAT32);
        let line = 1 + i as u32 / 5 * 4;
        f.push(Stmt::store(&a, vec![Expr::i32(i)], value).with_span(Span { line, column: 5 }));
    }
    build::module([f.finish()])
}

/// Time and memory in proportion to the nodes: the work per node is the same at two sizes. A test
/// that took the time would fail on a busy machine; what is counted is asked for by every step that
/// makes a node.
#[test]
fn wire_w7_work_is_linear_in_the_nodes() {
    let cost = |statements: i32| {
        let module = module(statements);
        let options = WriteOptions { positions: true, file: Some("f.py"), ..WriteOptions::default() };
        let (text, write_bytes, write_pieces) = measure(|| wire::write_with(&module, &options).unwrap());
        let (older, older_bytes, older_pieces) =
            measure(|| imagined::write_at(&module, imagined::OLDER).unwrap());
        let (back, read_bytes, read_pieces) = measure(|| wire::read(&text).unwrap());
        assert_eq!(equal::modules(&module, &back), Ok(()));
        let (_, up_bytes, up_pieces) = measure(|| imagined::read(&older).unwrap());
        let newer = imagined::write_at(&module, imagined::NEWER).unwrap();
        let (_, down_bytes, down_pieces) = measure(|| imagined::read(&newer).unwrap());
        let nodes = text.matches("{\"node\":").count();
        let all = [
            [write_bytes, write_pieces],
            [older_bytes, older_pieces],
            [read_bytes, read_pieces],
            [up_bytes, up_pieces],
            [down_bytes, down_pieces],
            [text.len(), 0],
        ];
        let each: Vec<f64> = all.concat().into_iter().map(|all| all as f64 / nodes as f64).collect();
        println!(
            "{nodes} nodes: {each:.1?} (bytes and pieces: write, write for an older minor, read, read of an older and of a newer; text)"
        );
        (nodes, each)
    };
    let (few, small) = cost(1_430);
    let (many, large) = cost(14_300);
    assert!(few > 10_000 && many > 100_000, "{few} and {many} nodes");
    for (index, (small, large)) in small.iter().zip(large).enumerate() {
        // Tables double when they are full: up to twice as much memory just then.
        assert!(
            large <= small * if index % 2 == 0 { 2.2 } else { 1.1 },
            "{index}: {small} per node, then {large}"
        );
    }
}

/// Names are no part of the cost of others: a thousand variables of one name.
#[test]
fn wire_w7_many_of_one_name() {
    let mut f = build::function("f");
    for _ in 0..1000 {
        f.bind("v", 1);
    }
    let text = wire::write(&build::module([f.finish()])).unwrap();
    assert_eq!(text.matches("\"Var\"").count(), 1000);
    assert_eq!(json!(text.len() / 1000 < 200), json!(true));
    assert!(take(&text).is_ok());
}
