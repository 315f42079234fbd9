//! Tests of modules that were not validated: each is written or refused, none makes the generator
//! panic.

use chipdock_ir::testing::unvalidated;
use chipdock_ir::{DType, Expr, IrModule, StorageScope, Target, build};
use proptest::prelude::*;
use serde_json::json;

use crate::spirv::{Environment, unsupported, write_module};

/// What a device of Vulkan 1.1 has at least, what lavapipe has, and the same with addresses.
fn environments() -> [Environment; 3] {
    let all = json!({
        "kind": "vulkan", "vulkan_api_version": (1 << 22) | (3 << 12), "max_spirv_version": 0x1_0600,
        "supports_int8": true, "supports_int16": true, "supports_int64": true, "supports_float64": true,
        "native_float16": true, "supports_8bit_buffer": true, "supports_16bit_buffer": true,
        "supports_vulkan_memory_model": true, "supports_int64_atomics": true, "thread_warp_size": 8,
        "supported_subgroup_operations": 127, "rounding_rte": [16, 32, 64],
    });
    let mut addresses = all.clone();
    addresses["buffer_access"] = "address".into();
    [json!({ "kind": "vulkan" }), all, addresses]
        .map(|target| Environment::of(&Target::from_canonical_json(&target).unwrap()))
}

fn words(module: &IrModule, environment: &Environment) -> Option<Vec<u32>> {
    write_module(module, environment, Some("kernel.py")).ok().map(|spirv| spirv.words)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spv_11_no_module_makes_the_generator_panic(bytes in prop::collection::vec(any::<u8>(), 400)) {
        let f = unvalidated::kernel(unvalidated::function("f", &bytes, true));
        let module = build::module([f, unvalidated::function("g", &bytes[100..], true)]);
        for environment in environments() {
            let found = unsupported(&module, &environment);
            prop_assert_eq!(words(&module, &environment).is_none(), !found.is_empty());
            // SPV-1
            prop_assert_eq!(words(&module, &environment), words(&module, &environment));
        }
    }
}

/// Deeper than anything that a validator lets pass: refused, on a thread with a usual stack.
#[test]
fn spv_11_depth_is_refused_before_the_stack_ends() {
    for (levels, is_fine) in [(200, true), (1000, false)] {
        for f in unvalidated::deep(levels) {
            for environment in environments() {
                let found = unsupported(&build::module([unvalidated::kernel(f.clone())]), &environment);
                assert_eq!(found.is_empty(), is_fine, "{levels}: {found:#?}");
            }
        }
    }
}

/// STAGE-D15: a moved pointer that the passes leave is refused by name; vectors may have any number
/// of lanes (SPV-2).
#[test]
fn a_moved_pointer_is_refused_by_name() {
    for environment in environments() {
        let found = |f| unsupported(&build::module([unvalidated::kernel(f)]), &environment);
        assert!(found(unvalidated::wide_vector(8)).is_empty());
        let moved = found(unvalidated::moved_pointer());
        assert!(!moved.is_empty());
        assert!(moved[0].message.contains("pointers are no values here"), "{moved:?}");
    }
}

/// A node that is shared again and again is written once: the words grow with the module, not with
/// its paths.
#[test]
fn spv_8_shared_nodes_do_not_multiply() {
    for module in [unvalidated::shared(60), unvalidated::shared_positions(60)] {
        let module = build::module([unvalidated::kernel(module)]);
        for environment in environments() {
            let written = words(&module, &environment).unwrap();
            assert!(written.len() < 10_000, "{} words", written.len());
        }
    }
}

/// The number of conversions between widths of unsigned integers in a kernel that writes one byte
/// of that many.
fn conversions(size: Option<i64>, environment: &Environment) -> usize {
    let mut f = build::function("f");
    let data = f.pointer("A", DType::INT8, StorageScope::GLOBAL);
    let n = f.scalar("n", DType::INT64);
    let size = size.map_or_else(|| n.clone(), |size| Expr::int(size.into(), DType::INT64));
    let bytes = f.view("V", [size], DType::INT8, &data);
    f.store(&bytes, [&n], Expr::int(1, DType::INT8));
    f.lowered();
    let written = words(&build::module([unvalidated::kernel(f.finish())]), environment).expect("written");
    let (mut at, mut count) = (5, 0);
    while let Some(word) = written.get(at) {
        count += usize::from(word & 0xffff == rspirv::spirv::Op::UConvert as u32);
        at += (word >> 16).max(1) as usize;
    }
    count
}

#[test]
fn spv_14_places_of_bytes_beyond_signed_indices_have_64_bits() {
    let [_, descriptors, addresses] = environments();
    let short = conversions(Some(i32::MAX.into()), &descriptors);
    for size in [None, Some(1 << 31), Some((1 << 32) - 1)] {
        assert_eq!(conversions(size, &descriptors), short + 1, "{size:?}");
    }
    // There every index has 64 bits.
    assert_eq!(conversions(None, &addresses), conversions(Some(64), &addresses));
}
