//! Canonicalization of the target kind: options that must agree, and those that follow from others.
//!
//! * **VKKIND-K1** `max_block_dimensions` and `max_grid_dimensions` have three numbers;
//!   `max_block_size_x`, `_y` and `_z` bound the former, and `max_threads_per_block` bounds
//!   `max_num_threads`. The bounded options are those in effect.
//! * **VKKIND-K2** `thread_warp_size` above 1 needs ballots and shuffles in
//!   `supported_subgroup_operations`.
//! * **VKKIND-K3** What needs a feature is refused without it: `buffer_access` = `address` without
//!   `supports_buffer_device_address`, `memory_model` = `vulkan` without
//!   `supports_vulkan_memory_model`, `native_float16` without `supports_float16`, `debug_info`
//!   before Vulkan 1.3.
//! * **VKKIND-K4** The widths of `denorm_preserve`, `rounding_rte` and
//!   `signed_zero_inf_nan_preserve` are 16, 32 and 64, in ascending order, each once.
//! * **VKKIND-K5** `max_storage_buffers`, if unset, is `max_per_stage_descriptor_storage_buffer`
//!   where buffers are accessed by descriptor, and at most that; where they are accessed by
//!   address, nothing limits their number.
//! * **VKKIND-K6** `native_float16`, if unset, is true if the device computes with float16 and all
//!   three lists of K4 have 16: then every conversion of a float16 is exact.
//! * **VKKIND-K7** Canonicalizing a canonical target leaves it unchanged.

use chipdock_ir::Target;
use chipdock_plugin_api::{Error, ErrorKind, TargetKind};
use serde_json::Value;

/// `VK_SUBGROUP_FEATURE_BALLOT_BIT` and `VK_SUBGROUP_FEATURE_SHUFFLE_BIT`.
const BALLOT_AND_SHUFFLE: i64 = 0x8 | 0x10;
/// Version 1.3 as `VK_MAKE_API_VERSION` packs it.
const VULKAN_1_3: i64 = 1 << 22 | 3 << 12;
/// The lists of widths for which float controls are supported.
const FLOAT_CONTROLS: [&str; 3] = ["denorm_preserve", "rounding_rte", "signed_zero_inf_nan_preserve"];

/// Target kind `vulkan`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VulkanTargetKind;

impl TargetKind for VulkanTargetKind {
    fn canonicalize(&self, target_json: &str) -> Result<String, Error> {
        let target = serde_json::from_str(target_json)
            .map_err(|error| error.to_string())
            .and_then(|json| Target::from_canonical_json(&json))
            .and_then(canonical)
            .map_err(|what| Error::new(ErrorKind::VALUE_ERROR, format!("target vulkan: {what}")))?;
        Ok(target.to_json().to_string())
    }
}

fn canonical(mut target: Target) -> Result<Target, String> {
    bound_sizes(&mut target)?;
    check_features(&target)?;
    sort_widths(&mut target)?;
    count_buffers(&mut target)?;
    if !target.options.contains_key("native_float16") {
        let is_exact = FLOAT_CONTROLS.iter().all(|list| ints(&target, list).contains(&16));
        let has_float16 = target.bool("supports_float16") == Some(true);
        target.options.insert("native_float16".into(), (has_float16 && is_exact).into());
    }
    Ok(target)
}

fn ints(target: &Target, option: &str) -> Vec<i64> {
    let list = target.options.get(option).and_then(Value::as_array);
    list.map(|list| list.iter().filter_map(Value::as_i64).collect()).unwrap_or_default()
}

/// VKKIND-K1.
fn bound_sizes(target: &mut Target) -> Result<(), String> {
    for option in ["max_block_dimensions", "max_grid_dimensions"] {
        let list = target.options.get(option).and_then(Value::as_array);
        if let Some(found) = list.map(Vec::len).filter(|length| *length != 3) {
            return Err(format!("option '{option}': expected 3 numbers, of x, y and z, found {found}"));
        }
    }
    if target.options.contains_key("max_block_dimensions") {
        let bounds = ["max_block_size_x", "max_block_size_y", "max_block_size_z"];
        let sizes = ints(target, "max_block_dimensions").into_iter().zip(bounds);
        let sizes: Vec<i64> =
            sizes.map(|(size, bound)| target.int(bound).map_or(size, |bound| size.min(bound))).collect();
        target.options.insert("max_block_dimensions".into(), sizes.into());
    }
    if let Some(most) = target.int("max_threads_per_block") {
        let most = target.int("max_num_threads").map_or(most, |threads| threads.min(most));
        target.options.insert("max_num_threads".into(), most.into());
    }
    Ok(())
}

/// VKKIND-K2 and VKKIND-K3.
fn check_features(target: &Target) -> Result<(), String> {
    let warp = target.int("thread_warp_size").unwrap_or(1);
    let operations = target.int("supported_subgroup_operations").unwrap_or(0);
    if warp > 1 && operations & BALLOT_AND_SHUFFLE != BALLOT_AND_SHUFFLE {
        return Err(format!(
            "option 'thread_warp_size': {warp} needs ballots and shuffles (8 and 16) in 'supported_subgroup_operations', \
             found {operations}; set both, or expect no warps with 1"
        ));
    }
    for (option, value, feature) in [
        ("buffer_access", Value::from("address"), "supports_buffer_device_address"),
        ("memory_model", Value::from("vulkan"), "supports_vulkan_memory_model"),
        ("native_float16", Value::from(true), "supports_float16"),
    ] {
        if target.options.get(option) == Some(&value) && target.bool(feature) != Some(true) {
            return Err(format!("option '{option}': {value} needs '{feature}', which is false"));
        }
    }
    let version = target.int("vulkan_api_version").unwrap_or(0);
    if target.bool("debug_info") == Some(true) && version < VULKAN_1_3 {
        return Err(format!(
            "option 'debug_info': true needs 'vulkan_api_version' of at least {VULKAN_1_3} (1.3), found {version}"
        ));
    }
    Ok(())
}

/// VKKIND-K4.
fn sort_widths(target: &mut Target) -> Result<(), String> {
    for option in FLOAT_CONTROLS {
        if !target.options.contains_key(option) {
            continue;
        }
        let mut widths = ints(target, option);
        if let Some(found) = widths.iter().find(|width| ![16, 32, 64].contains(*width)) {
            return Err(format!("option '{option}': expected widths 16, 32 or 64, found {found}"));
        }
        widths.sort_unstable();
        widths.dedup();
        target.options.insert(option.into(), widths.into());
    }
    Ok(())
}

/// VKKIND-K5.
fn count_buffers(target: &mut Target) -> Result<(), String> {
    let descriptors = target.int("max_per_stage_descriptor_storage_buffer");
    let Some(most) = descriptors.filter(|_| target.str("buffer_access") != Some("address")) else {
        return Ok(());
    };
    let found = target.int("max_storage_buffers").unwrap_or(most);
    if found > most {
        return Err(format!(
            "option 'max_storage_buffers': expected at most {most}, as 'max_per_stage_descriptor_storage_buffer' is, \
             found {found}; set that one too, to what the device has"
        ));
    }
    target.options.insert("max_storage_buffers".into(), found.into());
    Ok(())
}

#[cfg(test)]
mod tests {
    use chipdock_ir::{DType, DeclaredKind, Op, OptionType};
    use serde_json::json;

    use super::*;

    const KIND: &str = include_str!("target_kind.json");

    fn kind() -> DeclaredKind {
        DeclaredKind::parse(KIND).unwrap()
    }

    /// A target with all defaults, as a host passes it, and these options.
    fn with(options: Value) -> Value {
        let mut target = json!({"kind": "vulkan", "tag": "", "keys": ["vulkan", "gpu"]});
        let defaults = kind().usable().unwrap().options.clone();
        for option in defaults {
            if let Some(default) = option.default {
                target[option.name] = default;
            }
        }
        target.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        target
    }

    /// The canonical target; VKKIND-K7 is checked on the way.
    fn canonical(options: Value) -> Result<Value, String> {
        let once = VulkanTargetKind.canonicalize(&with(options).to_string());
        let once = once.map_err(|error| error.message().into_owned())?;
        assert_eq!(VulkanTargetKind.canonicalize(&once).unwrap(), once);
        Ok(serde_json::from_str(&once).unwrap())
    }

    fn refused(options: Value, says: &[&str]) {
        let error = canonical(options.clone()).unwrap_err();
        assert!(says.iter().all(|word| error.contains(word)), "{options}: {error}");
    }

    /// VKKIND-K1.
    #[test]
    fn sizes_are_bounded() {
        let target = canonical(json!({"max_block_size_x": 32, "max_block_size_z": 1000})).unwrap();
        assert_eq!(target["max_block_dimensions"], json!([32, 256, 64]));
        for (threads, most, found) in [(256, 64, 64), (32, 64, 32)] {
            let target =
                canonical(json!({"max_num_threads": threads, "max_threads_per_block": most})).unwrap();
            assert_eq!(target["max_num_threads"], found);
        }
        refused(json!({"max_grid_dimensions": [1, 2]}), &["'max_grid_dimensions'", "3 numbers", "found 2"]);
        refused(json!({"max_block_dimensions": []}), &["'max_block_dimensions'", "found 0"]);
    }

    /// VKKIND-K2 and VKKIND-K3.
    #[test]
    fn options_that_need_a_feature_are_refused_without_it() {
        for operations in [1, 1 + 8, 1 + 16, 1 + 2 + 4] {
            let options = json!({"thread_warp_size": 8, "supported_subgroup_operations": operations});
            refused(options, &["'thread_warp_size': 8", "'supported_subgroup_operations'"]);
        }
        canonical(json!({"thread_warp_size": 8, "supported_subgroup_operations": 25})).unwrap();
        for (option, value, feature, has) in [
            ("buffer_access", json!("address"), "supports_buffer_device_address", json!(true)),
            ("memory_model", json!("vulkan"), "supports_vulkan_memory_model", json!(true)),
            ("native_float16", json!(true), "supports_float16", json!(true)),
            ("debug_info", json!(true), "vulkan_api_version", json!(VULKAN_1_3)),
        ] {
            refused(json!({option: value}), &[&format!("'{option}'"), &format!("'{feature}'")]);
            assert_eq!(canonical(json!({option: value, feature: has})).unwrap()[option], value);
        }
        canonical(json!({"memory_model": "glsl450", "supports_vulkan_memory_model": true})).unwrap();
        refused(json!({"debug_info": true, "vulkan_api_version": VULKAN_1_3 - 1}), &["'debug_info'"]);
    }

    /// VKKIND-K4.
    #[test]
    fn widths_are_sorted() {
        let target = canonical(json!({"rounding_rte": [64, 16, 64]})).unwrap();
        assert_eq!(target["rounding_rte"], json!([16, 64]));
        refused(json!({"denorm_preserve": [16, 24]}), &["'denorm_preserve'", "found 24"]);
    }

    fn pointers_max(options: Value) -> Option<i64> {
        let target = Target::from_canonical_json(&canonical(options).unwrap()).unwrap();
        kind().usable().unwrap().capabilities(&target.into(), 7).limits.function_pointers_max
    }

    /// VKKIND-K5.
    #[test]
    fn buffers_are_counted_where_they_are_descriptors() {
        assert_eq!(pointers_max(json!({})), Some(16));
        assert_eq!(pointers_max(json!({"max_per_stage_descriptor_storage_buffer": 64})), Some(64));
        assert_eq!(pointers_max(json!({"max_storage_buffers": 3})), Some(3));
        refused(
            json!({"max_storage_buffers": 17}),
            &["'max_storage_buffers': expected at most 16", "found 17", "set that one too"],
        );
        let address = json!({"buffer_access": "address", "supports_buffer_device_address": true});
        assert_eq!(pointers_max(address.clone()), None);
        let mut few = address;
        few["max_storage_buffers"] = 9.into();
        assert_eq!(pointers_max(few), Some(9));
    }

    fn missing(options: Value) -> Vec<DType> {
        let target = Target::from_canonical_json(&canonical(options).unwrap()).unwrap();
        kind().usable().unwrap().capabilities(&target.into(), 7).types.missing_types
    }

    /// VKKIND-K6.
    #[test]
    fn types_are_those_of_the_device() {
        let all = [DType::BFLOAT16, DType::FLOAT16, DType::FLOAT64, DType::INT64, DType::UINT64];
        assert_eq!(missing(json!({})), all);
        assert_eq!(missing(json!({"supports_float64": true, "supports_int64": true})), all[..2]);
        let mut exact = json!({"supports_float16": true});
        for list in FLOAT_CONTROLS {
            assert_eq!(missing(exact.clone()), all, "before {list}");
            exact[list] = json!([16, 32]);
        }
        assert_eq!(missing(exact.clone())[1], DType::FLOAT64);
        exact["native_float16"] = false.into();
        assert_eq!(missing(exact), all);
    }

    /// What TVM's kind has is accepted, without a default that TVM does not state.
    #[test]
    fn targets_of_tvm_are_taken() {
        let bools = "float16 float32 float64 int8 int16 int32 int64 8bit_buffer 16bit_buffer storage_buffer_storage_class \
                     push_descriptor dedicated_allocation integer_dot_product cooperative_matrix";
        let ints = "supported_subgroup_operations max_num_threads max_threads_per_block thread_warp_size max_block_size_x \
                    max_block_size_y max_block_size_z max_push_constants_size max_uniform_buffer_range \
                    max_storage_buffer_range max_per_stage_descriptor_storage_buffer max_shared_memory_per_block \
                    driver_version vulkan_api_version max_spirv_version";
        let bools = bools.split_whitespace().map(|name| (format!("supports_{name}"), OptionType::Bool));
        let ints = ints.split_whitespace().map(|name| (name.to_owned(), OptionType::Int));
        let strings =
            ["device_type", "device_name", "driver_name"].map(|name| (name.into(), OptionType::Str));
        let all = bools.chain(ints).chain(strings).chain([("mattr".into(), OptionType::StrList)]);
        let kind = kind();
        for (name, option_type) in all {
            let found = kind.usable().unwrap().options.iter().find(|option| option.name == name);
            assert_eq!(found.map(|option| option.option_type), Some(option_type), "{name}");
        }
        let target = json!({
            "supports_float16": true, "supports_int8": true, "supports_8bit_buffer": true, "max_num_threads": 1024,
            "thread_warp_size": 32, "supported_subgroup_operations": 255, "vulkan_api_version": 1 << 22,
            "max_spirv_version": 1 << 16, "driver_name": "x", "mattr": ["a"],
        });
        let taken = canonical(target.clone()).unwrap();
        assert!(target.as_object().unwrap().iter().all(|(name, value)| taken[name] == *value), "{taken}");
    }

    #[test]
    fn a_target_without_options_and_one_that_is_none() {
        let bare = json!({"kind": "vulkan", "tag": "", "keys": []}).to_string();
        let once = VulkanTargetKind.canonicalize(&bare).unwrap();
        assert_eq!(VulkanTargetKind.canonicalize(&once).unwrap(), once);
        for text in ["", "[]", "{\"kind\": 3}"] {
            let error = VulkanTargetKind.canonicalize(text).unwrap_err();
            assert!(error.message().starts_with("target vulkan: "), "{}", error.message());
        }
    }

    #[test]
    fn native_ops_are_ops() {
        let kind = kind();
        let kind = kind.usable().unwrap();
        assert!(kind.native_ops.len() == 10 && kind.native_ops.iter().all(|op| Op::by_name(op).is_some()));
    }
}
