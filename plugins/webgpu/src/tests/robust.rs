//! Tests of modules that were not validated: each is written or refused, none makes the writer
//! panic.

use chipdock_codegen_source::{unsupported, write_module};
use chipdock_ir::testing::unvalidated;
use chipdock_ir::{Target, build};
use proptest::prelude::*;

use crate::codegen;
use crate::dialect::WgslDialect;

fn dialect() -> WgslDialect {
    WgslDialect::new(true, Some(32), true)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn src_s8_no_module_makes_the_writer_panic(bytes in prop::collection::vec(any::<u8>(), 400)) {
        let f = unvalidated::kernel(unvalidated::function("f", &bytes, true));
        let module = build::module([f, unvalidated::function("g", &bytes[100..], true)]);
        let found = unsupported(&module, &dialect());
        prop_assert_eq!(write_module(&module, &dialect()).is_err(), !found.is_empty());
    }
}

/// Deeper than anything that a validator lets pass: refused, on a thread with a usual stack.
#[test]
fn src_s8_depth_is_refused_before_the_stack_ends() {
    for (levels, is_fine) in [(200, true), (1000, false)] {
        for f in unvalidated::deep(levels) {
            let found = unsupported(&build::module([unvalidated::kernel(f)]), &dialect());
            assert_eq!(found.is_empty(), is_fine, "{levels}: {found:#?}");
        }
    }
}

/// STAGE-D15, STAGE-D16: what the passes leave of moved pointers and wide vectors is refused by
/// name.
#[test]
fn pointers_and_lanes_that_are_left_are_refused_by_name() {
    let found = |f| {
        let module = build::module([unvalidated::kernel(f)]);
        unsupported(&module, &dialect()).iter().map(|problem| problem.message.clone()).collect::<String>()
    };
    assert_eq!(found(unvalidated::wide_vector(4)), "");
    let lanes = found(unvalidated::wide_vector(8));
    assert!(lanes.contains("has no vectors of 8 lanes"), "{lanes}");
    let moved = found(unvalidated::moved_pointer());
    assert!(moved.contains("has no pointers that are values"), "{moved}");
}

/// A node that is shared again and again is written once: the text grows with the module, not with
/// its paths.
#[test]
fn src_s7_shared_nodes_do_not_multiply() {
    let module = build::module([unvalidated::kernel(unvalidated::shared(60))]);
    let text = write_module(&module, &dialect()).unwrap().text;
    assert!(text.len() < 20_000, "{} bytes", text.len());
    // The plugin's own build.
    let target = serde_json::json!({ "kind": "webgpu" });
    let target = Target::from_canonical_json(&target).unwrap();
    for module in [module, build::module([unvalidated::kernel(unvalidated::shared_positions(60))])] {
        let built = codegen::build(&module, &target).unwrap().source;
        assert!(built.len() < 20_000, "{} bytes", built.len());
    }
}
