//! Tests of modules that were not validated: each is written or refused, none makes the writer
//! panic.

use chipdock_codegen_source::{unsupported, write_module};
use chipdock_ir::build;
use chipdock_ir::testing::unvalidated;
use proptest::prelude::*;

use crate::dialect::CDialect;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn src_s8_no_module_makes_the_writer_panic(bytes in prop::collection::vec(any::<u8>(), 400)) {
        let f = unvalidated::function("f", &bytes, false);
        let module = build::module([f, unvalidated::function("g", &bytes[100..], false)]);
        let found = unsupported(&module, &CDialect::default());
        prop_assert_eq!(write_module(&module, &CDialect::default()).is_err(), !found.is_empty());
    }
}

/// Deeper than anything that a validator lets pass: refused, on a thread with a usual stack.
#[test]
fn src_s8_depth_is_refused_before_the_stack_ends() {
    for (levels, is_fine) in [(200, true), (1000, false)] {
        for f in unvalidated::deep(levels) {
            let found = unsupported(&build::module([f]), &CDialect::default());
            assert_eq!(found.is_empty(), is_fine, "{levels}: {found:#?}");
        }
    }
}

/// A node that is shared again and again is written once: the text grows with the module, not with
/// its paths.
#[test]
fn src_s7_shared_nodes_do_not_multiply() {
    let module = build::module([unvalidated::shared(60)]);
    let text = write_module(&module, &CDialect::default()).unwrap().text;
    assert!(text.len() < 20_000, "{} bytes", text.len());
}
