//! Tests of modules that were not validated: each is written or refused, none makes the writer
//! panic.

use chipdock_codegen_source::{unsupported, write_module};
use chipdock_ir::build;
use chipdock_ir::testing::unvalidated;
use proptest::prelude::*;

use super::by_hand::ALL;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn src_s8_no_module_makes_the_writer_panic(bytes in prop::collection::vec(any::<u8>(), 400)) {
        let g = unvalidated::function("g", &bytes[100..], true);
        let module = build::module([unvalidated::function("f", &bytes, true), g]);
        let found = unsupported(&module, &ALL);
        prop_assert_eq!(write_module(&module, &ALL).is_err(), !found.is_empty());
    }
}
