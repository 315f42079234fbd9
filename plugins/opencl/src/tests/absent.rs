//! Tests of the errors without a library, a driver, or a device, each in a process of its own.

use chipdock_plugin_api::{DeviceApi, ErrorKind};
use serde_json::json;

use super::support::{Bench, in_child};

#[test]
fn without_a_driver_calls_are_unavailable() {
    in_child("tests::absent::child_without_driver", &[("OCL_ICD_VENDORS", "/nonexistent")]).unwrap();
}

#[test]
fn without_a_device_calls_are_unavailable() {
    let Some(_) = Bench::new() else { return };
    let nowhere = "/proc/nowhere";
    let environment = [("POCL_CACHE_DIR", nowhere), ("HOME", nowhere), ("XDG_CACHE_HOME", nowhere)];
    in_child("tests::absent::child_without_device", &environment).unwrap();
}

fn is_unavailable(says: &[&str]) {
    let bench = Bench::of_host();
    for _ in 0..2 {
        let answers = [
            bench.api.device_count().map(drop),
            bench.api.attribute(0, "device_name").map(drop),
            bench.api.create_stream(0).map(drop),
            bench.allocate_kind(0, 64, chipdock_plugin_api::DataSpaceKind::Device).map(drop),
            bench.load("__kernel void f() {}", json!([])).map(drop),
        ];
        for answer in answers {
            let error = answer.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UNAVAILABLE, "{error}");
            for text in says {
                assert!(error.message().contains(text), "{error}");
            }
        }
    }
    bench.api.shutdown().unwrap();
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_without_driver() {
    if std::env::var("OCL_ICD_VENDORS").is_ok_and(|vendors| vendors == "/nonexistent") {
        is_unavailable(&["libOpenCL.so.1", "pocl-opencl-icd"]);
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_without_device() {
    if std::env::var("HOME").is_ok_and(|home| home == "/proc/nowhere") {
        is_unavailable(&["POCL_CACHE_DIR", "Portable Computing Language"]);
    }
}
