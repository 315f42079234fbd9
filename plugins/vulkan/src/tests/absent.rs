//! Tests of the errors without a driver or a device, and with a broken one, each in a process of
//! its own.

use chipdock_plugin_api::timer::Timer as _;
use chipdock_plugin_api::{DataSpaceKind, DeviceApi as _, ErrorKind, Stream};

use super::by_hand::{Form, add};
use super::drivers::{Driver, MODE, VARIABLE, named};
use super::modules::Add;
use super::support::{Bench, end, in_child};

const COUNT: &str = "CHIPDOCK_TEST_COUNT";
const QUEUES: &str = "CHIPDOCK_TEST_QUEUES";

#[test]
fn vk_d2_without_a_driver_calls_are_unavailable() {
    in_child("tests::absent::child_without_driver", &[(VARIABLE, "/nonexistent.json")]).unwrap();
}

/// A library that cannot be opened stands for one that is not there: the system's may be.
#[test]
fn vk_d2_without_the_library_calls_are_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("libvulkan.so.1"), "this is no library").unwrap();
    let path = folder.path().display().to_string();
    in_child("tests::absent::child_without_library", &[("LD_LIBRARY_PATH", &path)]).unwrap();
}

/// One driver of several cannot be used: the devices of the others remain (VK-D1), and alone it is
/// named as what fails (VK-D2).
#[test]
fn vk_d1_a_broken_driver_hides_no_other() {
    let Some(bench) = Bench::of_lavapipe() else { return };
    let count = bench.api.device_count().unwrap().to_string();
    let Some(driver) = Driver::new() else { return };
    let lavapipe = std::env::var(VARIABLE).unwrap();
    let of = |name, library| named(driver.folder(), name, library);
    let broken = [
        ("none", of("none", "/nonexistent/libvulkan_broken.so")),
        // A library that is there, and is no driver.
        ("libc", of("libc", "libc.so.6")),
        ("no-instance", driver.file.clone()),
        ("no-device", driver.file.clone()),
    ];
    for (mode, file) in broken {
        for both in [format!("{file}:{lavapipe}"), format!("{lavapipe}:{file}")] {
            let mut both = driver.environment(&both, mode);
            both.push((COUNT, &count));
            in_child("tests::absent::child_with_broken_driver", &both).unwrap();
        }
        let alone = driver.environment(&file, mode);
        in_child("tests::absent::child_without_driver", &alone).unwrap();
    }
}

/// Two copies of one driver's file are two drivers, with a device each (VK-D1).
#[test]
fn two_drivers_are_two_devices() {
    if Bench::of_lavapipe().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let lavapipe = std::env::var(VARIABLE).unwrap();
    let second = folder.path().join("second.json");
    std::fs::copy(&lavapipe, &second).unwrap();
    let both = format!("{lavapipe}:{}", second.display());
    in_child("tests::absent::child_with_two", &[(VARIABLE, &both)]).unwrap();
}

/// VK-D1: drivers that differ in their queues.
#[test]
fn vk_d1_devices_of_one_sort_are_in_the_order_of_the_drivers() {
    if Bench::of_lavapipe().is_none() {
        return;
    }
    let Some(driver) = Driver::new() else { return };
    let (lavapipe, other) = (std::env::var(VARIABLE).unwrap(), &driver.file);
    let queues = |both: String| {
        let file = driver.folder().join("queues");
        let path = file.display().to_string();
        let mut both = driver.environment(&both, "");
        both.push((QUEUES, &path));
        in_child("tests::absent::child_with_queues", &both).unwrap();
        std::fs::read_to_string(file).unwrap()
    };
    let (one, again) = (queues(format!("{lavapipe}:{other}")), queues(format!("{lavapipe}:{other}")));
    let mut swapped = [one.as_str(), &queues(format!("{other}:{lavapipe}"))];
    assert_eq!(one, again);
    // Which of the files is the first driver is the loader's to say.
    swapped.sort_unstable();
    assert_eq!(swapped, ["[1, 4]", "[4, 1]"]);
}

#[test]
#[ignore = "run by the tests above, in a process of its own"]
fn child_without_driver() {
    if std::env::var(VARIABLE).is_ok_and(|drivers| drivers.contains("lvp_icd")) {
        return;
    }
    unavailable(&["libvulkan.so.1", "mesa-vulkan-drivers", "VK_ICD_FILENAMES"]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_without_library() {
    if std::env::var("LD_LIBRARY_PATH").is_ok() {
        unavailable(&["no Vulkan library", "tried libvulkan.so.1", "`libvulkan1`", "mesa-vulkan-drivers"]);
    }
}

/// Every call is refused with these words.
fn unavailable(words: &[&str]) {
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
            for text in words {
                assert!(error.message().contains(text), "{error}");
            }
        }
    }
    bench.api.shutdown().unwrap();
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_with_broken_driver() {
    let Ok(count) = std::env::var(COUNT) else { return };
    let bench = Bench::of_host();
    assert_eq!(bench.api.device_count().unwrap().to_string(), count, "{:?}", std::env::var(MODE));
    let x = bench.with_values(0, &[7_u8; 8]);
    assert_eq!(bench.read::<u8>(0, x, 8, Stream::DEFAULT), [7; 8]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_with_two() {
    if !std::env::var(VARIABLE).is_ok_and(|drivers| drivers.contains("second.json")) {
        return;
    }
    let Some(bench) = Bench::new() else { return };
    assert_eq!(bench.api.device_count().unwrap(), 2);
    each_computes(&bench);
    super::streams::copies_between(&bench, 0, 1);
    super::streams::copies_between(&bench, 1, 0);
    handles_are_the_devices_own(&bench);
    assert_eq!(bench.messages(), 0);
}

/// A kernel on each of them, by one module.
fn each_computes(bench: &Bench) {
    let module = bench.load(&add(Form::Push), None, true).unwrap();
    for id in [0, 1, 0] {
        let (x, y) = (bench.with_values(id, &[2.0_f32; 99]), bench.with_values(id, &[id as f32; 99]));
        bench.add_at(&module, &Add::of(x, y, 99), id, Stream::DEFAULT).unwrap();
        assert_eq!(bench.read::<f32>(id, y, 99, Stream::DEFAULT), [id as f32 + 2.0; 99]);
        bench.free(id, x);
        bench.free(id, y);
    }
}

/// What one device made is refused by the other, which goes on.
fn handles_are_the_devices_own(bench: &Bench) {
    let module = bench.load(&add(Form::Push), None, true).unwrap();
    let (x, y) = (bench.with_values(0, &[1.0_f32; 64]), bench.with_values(1, &[5.0_f32; 64]));
    let (timer, stream) = (crate::timer::VulkanTimer(bench.hardware.clone()), bench.stream(0));
    // SAFETY: handles of the other device, which this one checks.
    let refusals = unsafe {
        let mark = timer.mark(0, stream).unwrap();
        let answers = [
            ("free", bench.api.free_data_space(1, x)),
            ("free a stream", bench.api.free_stream(1, stream)),
            ("sync", bench.api.sync_stream(1, stream)),
            ("wait", bench.api.sync_stream_from_to(1, Stream::DEFAULT, stream)),
            ("copy", bench.copy(1, end(1, x), end(1, y), 64, Stream::DEFAULT)),
            ("copy on a stream", bench.copy(1, end(1, y), end(1, y), 64, stream)),
            ("launch", bench.add_at(&module, &Add::of(x, y, 64), 1, Stream::DEFAULT)),
            ("elapsed", timer.elapsed(1, mark, mark).map(drop)),
            ("free a mark", timer.free_mark(1, mark)),
        ];
        timer.free_mark(0, mark).unwrap();
        answers
    };
    for (what, refusal) in refusals {
        assert_eq!(refusal.expect_err(what).kind(), ErrorKind::WRONG_STATE, "{what}");
    }
    assert_eq!(bench.read::<f32>(0, x, 64, stream), [1.0; 64]);
    assert_eq!(bench.read::<f32>(1, y, 64, Stream::DEFAULT), [5.0; 64]);
    bench.free_stream(0, stream);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_with_queues() {
    let Ok(file) = std::env::var(QUEUES) else { return };
    let queues = |_| {
        let bench = Bench::of_host();
        [0, 1].map(|id| bench.hardware.device(id).unwrap().limits().queues_count)
    };
    let [first, rest @ ..] = [0, 1, 2].map(queues);
    assert_eq!(rest, [first; 2]);
    std::fs::write(file, format!("{first:?}")).unwrap();
}
