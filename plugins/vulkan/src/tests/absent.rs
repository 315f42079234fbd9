//! Tests of the errors without a driver or a device, and with a broken one, each in a process of its own.

use std::path::Path;

use chipdock_plugin_api::{DataSpaceKind, DeviceApi, ErrorKind};

use super::support::{Bench, in_child};

const VARIABLE: &str = "VK_ICD_FILENAMES";

#[test]
fn vk_d2_without_a_driver_calls_are_unavailable() {
    in_child("tests::absent::child_without_driver", &[(VARIABLE, "/nonexistent.json")]).unwrap();
}

/// One driver of several cannot be opened: the devices of the others remain (VK-D1).
#[test]
fn vk_d1_a_broken_driver_hides_no_other() {
    let Some(bench) = Bench::of_lavapipe() else { return };
    let count = bench.api.device_count().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let broken = write_driver(folder.path(), "/nonexistent/libvulkan_broken.so");
    let lavapipe = std::env::var(VARIABLE).unwrap();
    let both = [(VARIABLE, format!("{broken}:{lavapipe}")), ("CHIPDOCK_TEST_COUNT", count.to_string())];
    let both: Vec<(&str, &str)> = both.iter().map(|(name, value)| (*name, value.as_str())).collect();
    in_child("tests::absent::child_with_broken_driver", &both).unwrap();
    in_child("tests::absent::child_without_driver", &[(VARIABLE, &broken)]).unwrap();
    // A library that is there, and is no driver.
    let no_driver = write_driver(folder.path(), "libc.so.6");
    in_child("tests::absent::child_without_driver", &[(VARIABLE, &no_driver)]).unwrap();
}

/// Two copies of one driver's file are two drivers, with a device each (VK-D1).
#[test]
fn two_drivers_are_two_devices() {
    let Some(_) = Bench::of_lavapipe() else { return };
    let folder = tempfile::tempdir().unwrap();
    let lavapipe = std::env::var(VARIABLE).unwrap();
    let second = folder.path().join("second.json");
    std::fs::copy(&lavapipe, &second).unwrap();
    let both = format!("{lavapipe}:{}", second.display());
    in_child("tests::absent::child_with_two", &[(VARIABLE, &both)]).unwrap();
}

fn write_driver(folder: &Path, library: &str) -> String {
    let path = folder.join("broken.json");
    let text = format!(
        r#"{{"file_format_version": "1.0.0", "ICD": {{"library_path": "{library}", "api_version": "1.3.0"}}}}"#
    );
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
#[ignore = "run by the tests above, in a process of its own"]
fn child_without_driver() {
    if std::env::var(VARIABLE).is_ok_and(|drivers| drivers.contains("lvp_icd")) {
        return;
    }
    let bench = Bench::of_host();
    for _ in 0..2 {
        let answers = [
            bench.api.device_count().map(drop),
            bench.api.attribute(0, "device_name").map(drop),
            bench.api.create_stream(0).map(drop),
            bench.allocate_kind(0, 64, DataSpaceKind::Device).map(drop),
        ];
        for answer in answers {
            let error = answer.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UNAVAILABLE, "{error}");
            for text in ["libvulkan.so.1", "mesa-vulkan-drivers", "VK_ICD_FILENAMES"] {
                assert!(error.message().contains(text), "{error}");
            }
        }
    }
    bench.api.shutdown().unwrap();
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_with_broken_driver() {
    let Ok(count) = std::env::var("CHIPDOCK_TEST_COUNT") else { return };
    let bench = Bench::of_host();
    assert_eq!(bench.api.device_count().unwrap().to_string(), count);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_with_two() {
    if !std::env::var(VARIABLE).is_ok_and(|drivers| drivers.contains("second.json")) {
        return;
    }
    let Some(bench) = Bench::new() else { return };
    assert_eq!(bench.api.device_count().unwrap(), 2);
    super::streams::copies_between(&bench, 0, 1);
}
