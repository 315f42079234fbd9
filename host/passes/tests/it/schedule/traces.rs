//! Traces as text, and as attributes of functions.

use std::sync::Arc;

use chipdock_ir::{AttrValue, DType, FloatBits, print};
use chipdock_passes::schedule::{ATTRIBUTE, Schedule, Tail, Trace, Value, from_attribute};
use proptest::prelude::*;

use super::kernels;
use super::{expect, refused};

fn schedule() -> (kernels::Kernel, Schedule) {
    let kernel = kernels::matmul([5, 9, 7], true, DType::INT32, true);
    let mut sch = Schedule::new(&kernel.function);
    let (block, d) = (sch.get_sblock("C").unwrap(), sch.get_sblock("D").unwrap());
    let l = sch.get_loops(&block).unwrap();
    let i = sch.split(&l[0], &[None, Some(4)], Tail::Predicate).unwrap();
    let j = sch.split(&l[1], &[None, Some(8)], Tail::Predicate).unwrap();
    let k = sch.split(&l[2], &[None, Some(3)], Tail::Shrink).unwrap();
    sch.reorder(&[&i[0], &j[0], &k[0], &k[1], &i[1], &j[1]].map(Clone::clone)).unwrap();
    sch.read_at(&k[0], &block, 0, "global", &[k[1].clone(), i[1].clone()], Some(0)).unwrap();
    sch.read_at(&k[0], &block, 1, "global", &[k[1].clone(), j[1].clone()], None).unwrap();
    let made = sch.write_at(&k[0], &block, "local", &[i[1].clone(), j[1].clone()], true).unwrap();
    sch.vectorize(&made.back.loops[1]).unwrap();
    sch.unroll(&made.load.unwrap().loops[0]).unwrap();
    sch.annotate(&i[0], "note", Value::Float(FloatBits::new(-1.5e-9))).unwrap();
    sch.unannotate(&i[0], "note").unwrap();
    sch.get_child_blocks(&j[0]).unwrap();
    sch.get_producers(&d).unwrap();
    sch.get_consumers(&block).unwrap();
    sch.get_output_blocks().unwrap();
    sch.reverse_compute_at(&d, &j[0]).unwrap();
    let outer = sch.fuse(&[i[0].clone(), j[0].clone()]).unwrap();
    sch.parallel(&outer).unwrap();
    (kernel, sch)
}

/// SCHED-4, SCHED-11: read back and applied, the trace makes the same function and the same trace.
#[test]
fn traces_are_read_back_and_applied() {
    let (kernel, sch) = schedule();
    let text = sch.trace().to_string();
    let trace: Trace = text.parse().unwrap();
    assert_eq!(trace, *sch.trace());
    let again = trace.replay(&kernel.function).unwrap();
    assert_eq!(print::function(again.function()), print::function(sch.function()));
    assert_eq!(again.trace(), sch.trace());
}

#[test]
fn attributes_are_applied() {
    let (kernel, sch) = schedule();
    let text = sch.trace().to_string();
    let lines = text.lines().map(|line| AttrValue::Str(line.into())).collect();
    for value in [AttrValue::Str(text.as_str().into()), AttrValue::List(lines)] {
        let mut function = kernel.function.clone();
        function.attrs.insert(ATTRIBUTE.into(), value);
        let applied = from_attribute(&function).unwrap().unwrap();
        assert_eq!(print::function(&applied), print::function(sch.function()));
    }
    assert!(from_attribute(&kernel.function).unwrap().is_none());
    for value in [AttrValue::Int(1), AttrValue::List(vec![AttrValue::Int(1)])] {
        let mut function = kernel.function.clone();
        function.attrs.insert(ATTRIBUTE.into(), value);
        expect(
            &refused(from_attribute(&function)),
            &["\"chipdock.schedule\"", "expected a string or a list"],
        );
    }
}

/// What people write: single quotes, comments, lines that go on, keys.
#[test]
fn other_forms_are_read() {
    let text = r#"
# Tiles.
b = sch.get_sblock('C')  # the product
i, j, k = sch.get_loops(block=b)
i0, i1, = sch.split(loop=i, factors=[
    None,
    4,
], tail="predicate")
sch.annotate(i0, ann_key="\x41\t\"", ann_val=[1, -2.5, True, None, []],)
"#;
    let kernel = kernels::matmul([5, 9, 7], false, DType::INT32, false);
    let sch = text.parse::<Trace>().unwrap().replay(&kernel.function).unwrap();
    let printed = sch.trace().to_string();
    expect(
        &printed,
        &[
            "l4, l5 = sch.split(l1, factors=[None, 4])",
            r#"sch.annotate(l4, "A\t\"", [1, -2.5, True, None, []])"#,
        ],
    );
}

#[test]
fn refusals_of_texts() {
    for (text, wanted) in [
        ("b = sch", "line 1, column 8: expected `.`, found the end of the text"),
        ("b = f.split()", "line 1, column 6: expected a step after `=`"),
        ("b, c", "expected `=`"),
        ("\n  sch.split(1, x=2, 3)", "line 2, column 22: expected `=`"),
        ("sch.split(", "line 1, column 11: expected a value"),
        ("sch.split(\"a", "expected the end of the string"),
        ("sch.split(\"\\q\")", "expected one of the escapes"),
        ("sch.split(99999999999999999999)", "line 1, column 11: expected a number of 64 bits"),
        ("sch.split() sch.split()", "line 1, column 13: expected the end of the line"),
        ("[1]", "line 1, column 1: expected a step"),
    ] {
        expect(&refused(text.parse::<Trace>()), &[wanted]);
    }
    let deep = format!("sch.split({})", "[".repeat(100_000));
    expect(&refused(deep.parse::<Trace>()), &["line 1, column 27: expected a value"]);
}

#[test]
fn refusals_of_steps() {
    let kernel = kernels::matmul([5, 9, 7], false, DType::INT32, false);
    for (text, wanted) in [
        ("sch.bind(l1)", "bind: step 1: there is no such step; the steps are: get_sblock,"),
        ("sch.get_sblock(1)", "get_sblock: step 1: argument name: expected a string, found 1"),
        ("sch.get_sblock()", "expected a string, found nothing"),
        ("sch.get_sblock(\"C\", 2)", "expected at most 1 arguments, found 2"),
        ("sch.get_sblock(\"C\", name=\"C\")", "argument name is given twice"),
        ("sch.get_sblock(nme=\"C\")", "there is no argument nme; expected: name"),
        ("sch.parallel(l1)", "expected the name of a loop that a step before returned, found l1"),
        ("b = sch.get_sblock(\"C\")\nsch.parallel(b)", "step 2: argument loop: expected the name of a loop"),
        (
            "b = sch.get_sblock(\"C\")\ni, j = sch.get_loops(b)",
            "get_loops: step 2: the step returns 3 blocks and loops, found 2",
        ),
        ("b = sch.get_sblock(\"X\")", "get_sblock: step 1: there is no block \"X\""),
        (
            "b = sch.get_sblock(\"C\")\ni, j, k = sch.get_loops(b)\nsch.split(i, [\"a\"])",
            "argument factors: expected integers and None",
        ),
        (
            "b = sch.get_sblock(\"C\")\ni, j, k = sch.get_loops(b)\nsch.split(i, [2], tail=\"x\")",
            "expected \"predicate\" or \"shrink\"",
        ),
    ] {
        let trace: Trace = text.parse().unwrap();
        expect(&refused(trace.apply(&kernel.function)), &[wanted]);
    }
}

fn values() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("None".to_owned()),
        Just("True".to_owned()),
        any::<i64>().prop_map(|value| Value::Int(value).to_string()),
        any::<f64>()
            .prop_filter("finite", |x| x.is_finite())
            .prop_map(|x| Value::Float(FloatBits::new(x)).to_string()),
        any::<String>().prop_map(|text| Value::Str(Arc::from(text)).to_string()),
        "[a-z][a-z0-9_]{0,5}",
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        proptest::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(", ")))
    })
}

proptest! {
    /// SCHED-11.
    #[test]
    fn any_trace_prints_as_it_is_read(
        values in proptest::collection::vec(values(), 0..4),
        key in values(),
        outputs in proptest::collection::vec("[b-l][0-9]{1,3}", 0..4),
        op in prop_oneof![Just("split"), Just("fuse"), Just("get_loops")],
    ) {
        let all: Vec<String> = values.into_iter().chain([format!("key={key}")]).collect();
        let names = if outputs.is_empty() { String::new() } else { format!("{} = ", outputs.join(", ")) };
        let trace: Trace = format!("{names}sch.{op}({})", all.join(", ")).parse().unwrap();
        prop_assert_eq!(&trace.to_string().parse::<Trace>().unwrap(), &trace);
        prop_assert_eq!(trace.steps().len(), 1);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}", glue in "(sch\\.[a-z]{0,8}\\(|[\\[\\]\\(\\),='\"\\\\x -9]|\n|b = ){0,12}") {
        let _ = text.parse::<Trace>();
        let _ = glue.parse::<Trace>();
    }
}
