//! Tests of the attributes of a device.

use chipdock_plugin_api::{DeviceApi, Shape, attribute};

use super::support::Bench;

/// What lavapipe of Mesa 22.3 reports, where it is the device (VK-D4, VK-D5).
#[test]
fn vk_d5_attributes_are_what_the_driver_reports() {
    let Some(bench) = Bench::of_lavapipe() else { return };
    let value = |key: &str| bench.api.attribute(0, key).unwrap().unwrap_or_else(|| panic!("{key}"));
    let number = |key: &str| value(key).to::<i64>().unwrap();
    let flag = |key: &str| value(key).to::<bool>().unwrap();
    assert!(value("device_name").to::<String>().unwrap().starts_with("llvmpipe"));
    assert_eq!(value("vulkan.driver_name").to::<String>().unwrap(), "llvmpipe");
    assert_eq!(value("vulkan.device_type").to::<String>().unwrap(), "cpu");
    assert_eq!(value(attribute::COMPUTE_VERSION).to::<String>().unwrap(), "1.3");
    assert_eq!(number(attribute::API_VERSION), 1 << 22 | 3 << 12);
    assert_eq!(number("vulkan.max_spirv_version"), 0x0001_0600);
    assert_eq!(number("vulkan.max_push_constants_size"), 128);
    assert_eq!(number("vulkan.max_storage_buffer_range"), 128 << 20);
    assert!(number(attribute::WARP_SIZE) > 1);
    assert_eq!(number("vulkan.supported_subgroup_operations") & 0b1111, 0b1111);
    assert!(number(attribute::MAX_THREADS_PER_BLOCK) >= 128);
    assert!(number(attribute::TOTAL_GLOBAL_MEMORY_BYTES) >= 1 << 30);
    assert_eq!(*value(attribute::MAX_GRID_DIMENSIONS).to::<Shape>().unwrap(), [65535; 3]);
    for key in [
        "vulkan.runs_threads_serially",
        "vulkan.supports_float64",
        "vulkan.supports_int64",
        "vulkan.supports_float32",
    ] {
        assert!(flag(key), "{key}");
    }
    assert!(!flag("vulkan.supports_cooperative_matrix"));
    assert!(bench.api.attribute(0, "no_such_key").unwrap().is_none());
}

/// VK-D4: the table answers by SPIR-V's names, and nothing for a name that it does not have.
#[test]
fn vk_d4_capabilities_are_known_by_name() {
    let Some(bench) = Bench::of_lavapipe() else { return };
    let device = bench.hardware.device(0).unwrap();
    let limits = device.limits();
    for name in ["Shader", "Int64", "Float64", "GroupNonUniformShuffle", "VulkanMemoryModel", "Int8"] {
        assert!(limits.has_capability(name), "{name}");
    }
    for name in ["Kernel", "CooperativeMatrixKHR", "shader", ""] {
        assert!(!limits.has_capability(name), "{name}");
    }
    assert!(limits.has_extension("SPV_KHR_storage_buffer_storage_class"));
    assert!(!limits.has_extension("SPV_KHR_no_such_thing"));
}

/// VK-D5: each option that a device fills in has an attribute, of the option's type.
#[test]
fn vk_d5_every_option_from_a_device_has_its_attribute() {
    let Some(bench) = Bench::of_lavapipe() else { return };
    let kind: serde_json::Value = serde_json::from_str(include_str!("../target_kind.json")).unwrap();
    let mut count = 0;
    for option in kind["options"].as_array().unwrap() {
        let Some(key) = option["from_attribute"].as_str() else { continue };
        let value = bench.api.attribute(0, key).unwrap().unwrap_or_else(|| panic!("{key}"));
        let is_right = match option["type"].as_str().unwrap() {
            "bool" => value.to::<bool>().is_ok(),
            "int" => value.to::<i64>().is_ok(),
            "str" => value.to::<String>().is_ok(),
            "list[int]" => value.to::<Shape>().is_ok(),
            other => panic!("{key}: {other}"),
        };
        assert!(is_right, "{key}: {value:?}");
        count += 1;
    }
    assert!(count > 20, "{count}");
}
