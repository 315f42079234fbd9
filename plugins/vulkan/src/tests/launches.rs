//! Tests of loaded modules: results, refusals after which the device works, and what stays behind.

use std::ffi::c_void;
use std::fs;
use std::path::{Path, PathBuf};

use chipdock_plugin_api::launch::LAUNCH;
use chipdock_plugin_api::{Any, AnyView, DataSpaceKind, ErrorKind, Stream, Verdict};
use chipdock_test_support::setup::missing;
use serde_json::{Value, json};

use super::by_hand::{Form, Parts, THREADS, add};
use super::modules::Add;
use super::support::{Bench, end, host, in_child};
use crate::device::DEVICE_TYPE;
use crate::program::interface::{ARTIFACT, Code};
use crate::program::{cache, needs};

/// More than a block, and not a whole number of blocks.
const COUNT: usize = 150;

fn numbers(factor: f32) -> Vec<f32> {
    (0..COUNT).map(|i| i as f32 * factor).collect()
}

/// What `add` computes; `elements` is the number of elements of dynamic shared memory.
fn expected(form: Form, elements: usize) -> Vec<f32> {
    let x = |i: usize| if i < COUNT { i as f32 } else { 0.0 };
    let threads = THREADS as usize;
    let of = |i: usize| match form {
        Form::Shared => x(i / threads * threads + threads - 1 - i % threads) + elements as f32,
        _ => x(i),
    };
    (0..COUNT).map(|i| i as f32 * 2.0 + of(i)).collect()
}

fn read(bench: &Bench, data: *mut c_void, count: usize) -> Vec<f32> {
    bench.read(0, data, count, Stream::DEFAULT)
}

/// The device computes, and the validation layer has said nothing.
pub(super) fn works(bench: &Bench) {
    let module = bench.load(&add(Form::Push), None, true).unwrap();
    let (x, y) = (bench.with_values(0, &numbers(1.0)), bench.with_values(0, &numbers(2.0)));
    bench.add(&module, &Add::of(x, y, COUNT)).unwrap();
    assert_eq!(read(bench, y, COUNT), expected(Form::Push, 0));
    bench.free(0, x);
    bench.free(0, y);
    assert_eq!(bench.messages(), 0);
}

#[test]
fn vkmod_m7_every_form_of_a_launch_computes() {
    let Some(bench) = Bench::new() else { return };
    for form in bench.forms() {
        for is_pushed in [true, false] {
            let module = bench.load(&add(form), None, is_pushed).unwrap();
            // A whole number of blocks, so that threads past the end read zeros.
            let whole = COUNT.next_multiple_of(THREADS as usize);
            let mut padded = numbers(1.0);
            padded.resize(whole, 0.0);
            let (x, y) = (bench.with_values(0, &padded), bench.with_values(0, &numbers(2.0)));
            bench.add(&module, &Add::of(x, y, COUNT)).unwrap();
            let found = read(&bench, y, COUNT);
            assert_eq!(found, expected(form, THREADS as usize), "{form:?}, pushed: {is_pushed}");
            bench.free(0, x);
            bench.free(0, y);
        }
    }
}

#[test]
fn vkmod_m5_each_size_of_dynamic_shared_memory_has_its_pipeline() {
    let Some(bench) = Bench::new() else { return };
    let module = bench.load(&add(Form::Shared), None, true).unwrap();
    for shared_bytes in [256, 257, 1024, 256] {
        let mut padded = numbers(1.0);
        padded.resize(COUNT.next_multiple_of(THREADS as usize), 0.0);
        let (x, y) = (bench.with_values(0, &padded), bench.with_values(0, &numbers(2.0)));
        bench.add(&module, &Add { shared_bytes, ..Add::of(x, y, COUNT) }).unwrap();
        let elements = usize::try_from(shared_bytes).unwrap().div_ceil(4);
        assert_eq!(read(&bench, y, COUNT), expected(Form::Shared, elements), "{shared_bytes} bytes");
        bench.free(0, x);
        bench.free(0, y);
    }
}

#[test]
fn vkmod_m7_a_launch_that_cannot_be_is_refused_and_the_next_works() {
    let Some(bench) = Bench::new() else { return };
    let limits = bench.device().limits().properties.limits;
    let module = bench.load(&add(Form::Push), None, true).unwrap();
    let shared = bench.load(&add(Form::Shared), None, true).unwrap();
    let (x, y) = (bench.with_values(0, &numbers(1.0)), bench.with_values(0, &numbers(2.0)));
    let freed = bench.with_values(0, &[0.0_f32; 64]);
    bench.free(0, freed);
    let call = Add::of(x, y, COUNT);
    let most = i64::from(limits.max_compute_work_group_count[0]);
    let shared_bytes = i64::from(limits.max_compute_shared_memory_size);
    let calls = [
        (bench.add(&module, &Add { x: freed, ..call }), ErrorKind::WRONG_STATE, "is no data space"),
        (
            bench.add(&module, &Add { x: x.wrapping_byte_add(4), ..call }),
            ErrorKind::WRONG_STATE,
            "is no data space",
        ),
        (
            bench.add(&module, &Add { y: 0x5A5A_5A50 as *mut c_void, ..call }),
            ErrorKind::WRONG_STATE,
            "is no data space",
        ),
        (bench.add(&module, &Add { threads: 32, ..call }), ErrorKind::VALUE_ERROR, "[64, 1, 1] threads"),
        (bench.add(&module, &Add { blocks: most + 1, ..call }), ErrorKind::VALUE_ERROR, "blocks along x"),
        (bench.add(&module, &Add { blocks: i64::MAX, ..call }), ErrorKind::VALUE_ERROR, "blocks along x"),
        (
            bench.add(&shared, &Add { shared_bytes: shared_bytes + 1, ..call }),
            ErrorKind::VALUE_ERROR,
            "bytes of shared memory",
        ),
        (
            bench.add(&shared, &Add { shared_bytes: i64::MAX, ..call }),
            ErrorKind::VALUE_ERROR,
            "bytes of shared memory",
        ),
        (bench.add(&module, &Add { n: 1 << 31, ..call }), ErrorKind::VALUE_ERROR, "does not fit int32"),
    ];
    for (answer, kind, says) in calls {
        let error = answer.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(says), "{error}");
    }
    assert_eq!(read(&bench, y, COUNT), numbers(2.0));
    bench.add(&module, &call).unwrap();
    assert_eq!(read(&bench, y, COUNT), expected(Form::Push, 0));
    works(&bench);
}

#[test]
fn vkmod_m7_null_pointers_are_bound() {
    let Some(bench) = Bench::new() else { return };
    for form in bench.forms().into_iter().filter(|form| *form != Form::Address) {
        for is_pushed in [true, false] {
            let module = bench.load(&add(form), None, is_pushed).unwrap();
            let null = std::ptr::null_mut();
            bench.add(&module, &Add { n: 0, ..Add::of(null, null, THREADS as usize) }).unwrap();
        }
    }
    works(&bench);
}

#[test]
fn vkmod_m4_a_need_that_the_device_lacks_is_named() {
    let Some(bench) = Bench::new() else { return };
    let good = add(Form::Push);
    assert_eq!(bench.verdict(&good), Verdict::Runs);
    let limits = bench.device().limits();
    let found = &limits.properties;
    let with = |field: &str, value: Value| {
        let mut parts = good.clone();
        parts.index["options"]["needs"][field] = value;
        parts
    };
    let sized = |size: [u32; 3]| {
        let mut parts = good.clone().with_words(|words| {
            let at = words.iter().position(|word| *word == 0x0006_0010).unwrap();
            words[at + 3..at + 6].copy_from_slice(&size);
        });
        parts.index["functions"][0]["options"]["workgroup_size"] = json!(size);
        parts
    };
    let most = found.limits;
    let cases = [
        (with("vulkan", json!([9, 0])), "Vulkan 9.0"),
        (with("storage_buffers", json!(u32::MAX)), "storage buffers"),
        (with("push_constant_bytes", json!(most.max_push_constants_size + 1)), "bytes of push constants"),
        (
            with("shared_memory_bytes", json!(most.max_compute_shared_memory_size + 1)),
            "bytes of shared memory",
        ),
        (with("subgroup_size", json!(found.max_subgroup_size * 2)), "subgroups of"),
        (sized([most.max_compute_work_group_size[0] + 1, 1, 1]), "along x"),
        (sized([64, 64, 64]), "threads of a block"),
        (with_capability(&good), "the capability SampleRateShading"),
    ];
    for (parts, says) in cases {
        let verdict = bench.verdict(&parts);
        let Verdict::Unsupported(why) = &verdict else { panic!("{says}: {verdict:?}") };
        assert!(why.contains(says) && why.contains("vulkan:0"), "{why}");
        let error = bench.load(&parts, None, true).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::UNSUPPORTED, "{error}");
        assert!(error.message().contains(says), "{error}");
    }
    assert_eq!(bench.verdict(&with("subgroup_size", json!(found.subgroup_size))), Verdict::Runs);
    for (device_type, device_id, says) in [(2, 0, "device type 2"), (DEVICE_TYPE, 99, "vulkan:99")] {
        let verdict = bench.check(&good, device_type, device_id);
        assert!(matches!(&verdict, Verdict::Unsupported(why) if why.contains(says)), "{verdict:?}");
    }
    works(&bench);
}

/// The module with another capability, which no device has for compute shaders.
fn with_capability(parts: &Parts) -> Parts {
    const SAMPLE_RATE_SHADING: u32 = 35;
    let mut parts = parts.clone().with_words(|words| {
        words.splice(5..5, [0x0002_0011, SAMPLE_RATE_SHADING]);
    });
    parts.index["options"]["needs"]["capabilities"] = json!(["Shader", "SampleRateShading"]);
    parts
}

/// The capability RoundingModeRTE says nothing of widths: those that the words demand are looked
/// up.
#[test]
fn vkmod_m4_a_float_control_is_needed_by_width() {
    let Some(bench) = Bench::new() else { return };
    let mut limits = bench.device().limits().clone();
    limits.properties.rounding_rte = vec![16, 32];
    for (width, is_missing) in [(16, false), (32, false), (64, true)] {
        let parts = with_rounding(&add(Form::Push), width);
        let code = parts.with(|artifact| Code::of(artifact, &ARTIFACT.index(artifact).unwrap())).unwrap();
        let why = needs::missing(&code, &limits, "it");
        assert_eq!(why.is_some(), is_missing, "{width}: {why:?}");
        let says =
            "RoundingModeRTE of float64 (Vulkan's shaderRoundingModeRTEFloat64; option rounding_rte of";
        assert!(why.is_none_or(|why| why.contains(says)));
    }
}

/// The module with its arithmetic on floats of a width rounded to nearest.
fn with_rounding(parts: &Parts, width: u32) -> Parts {
    const ROUNDING_MODE_RTE: [u32; 2] = [4467, 4462];
    let mut parts = parts.clone().with_words(|words| {
        let at = words.iter().position(|word| *word == 0x0006_0010).unwrap();
        words.splice(at + 6..at + 6, [0x0004_0010, words[at + 1], ROUNDING_MODE_RTE[1], width]);
        let name = b"SPV_KHR_float_controls\0\0";
        let name = name.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
        words.splice(7..7, std::iter::once(0x0007_000A).chain(name));
        words.splice(7..7, [0x0002_0011, ROUNDING_MODE_RTE[0]]);
    });
    parts.index["options"]["needs"]["capabilities"] = json!(["RoundingModeRTE", "Shader"]);
    parts.index["options"]["needs"]["extensions"] = json!(["SPV_KHR_float_controls"]);
    parts
}

#[test]
fn a_host_calls_a_module_and_finds_its_interface() {
    let Some(bench) = Bench::new() else { return };
    let module = bench.module(&add(Form::Push)).unwrap();
    let function = module.function("add").unwrap().unwrap();
    assert!(module.function("add_kernel").unwrap().is_none());
    assert!(module.query(LAUNCH.name(), LAUNCH.version()).is_some());
    let (x, y) = (bench.with_values(0, &numbers(1.0)), bench.with_values(0, &numbers(2.0)));
    let values = Add::of(x, y, COUNT).values(false);
    let views: Vec<AnyView<'_>> = values.iter().map(Any::view).collect();
    function.call(host(), &views).unwrap();
    assert_eq!(read(&bench, y, COUNT), expected(Form::Push, 0));
    let error = function.call(host(), &views[1..]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TYPE_ERROR, "{error}");
    // No block, no thread: nothing is launched.
    let empty = Add { blocks: 0, ..Add::of(x, y, COUNT) }.values(false);
    function.call(host(), &empty.iter().map(Any::view).collect::<Vec<_>>()).unwrap();
    bench.free(0, x);
    bench.free(0, y);
    works(&bench);
}

#[test]
fn vkmod_m7_memory_of_every_kind_is_bound() {
    let Some(bench) = Bench::new() else { return };
    let forms = bench.forms().into_iter().filter(|form| *form != Form::Shared);
    for form in forms {
        let module = bench.load(&add(form), None, true).unwrap();
        for kind in
            [DataSpaceKind::Device, DataSpaceKind::Pinned, DataSpaceKind::HostVisible, DataSpaceKind::Unified]
        {
            let allocated = bench.allocate_kind(0, COUNT * 4, kind);
            let Ok(y) = allocated else {
                assert_eq!(allocated.unwrap_err().kind(), ErrorKind::UNSUPPORTED);
                continue;
            };
            let x = bench.with_values(0, &numbers(1.0));
            let before = numbers(2.0);
            bench.write(0, y, &before, Stream::DEFAULT);
            bench.add(&module, &Add::of(x, y, COUNT)).unwrap();
            assert_eq!(read(&bench, y, COUNT), expected(form, 0), "{form:?}, {kind:?}");
            bench.free(0, x);
            bench.free(0, y);
        }
    }
    works(&bench);
}

#[test]
fn vkmod_m7_a_large_data_space_is_passed_by_address_alone() {
    let Some(bench) = Bench::new() else { return };
    let most = bench.device().limits().properties.limits.max_storage_buffer_range as usize;
    if most > 256 << 20 {
        return missing("a device whose storage buffers are smaller than 256 MiB");
    }
    let large = bench.allocate(0, most + 4);
    let x = bench.with_values(0, &numbers(1.0));
    for form in bench.forms().into_iter().filter(|form| *form != Form::Shared) {
        let module = bench.load(&add(form), None, true).unwrap();
        let answer = bench.add(&module, &Add::of(x, large, COUNT));
        if form == Form::Address {
            answer.unwrap();
            continue;
        }
        let error = answer.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::VALUE_ERROR, "{error}");
        assert!(error.message().contains(&format!("at most {most} bytes")), "{error}");
        assert!(error.message().contains("argument 1"), "{error}");
    }
    bench.sync(0, Stream::DEFAULT).unwrap();
    bench.free(0, large);
    bench.free(0, x);
    works(&bench);
}

/// A kernel on one stream sees what another wrote on the stream that it waits for, and copies see
/// both.
#[test]
fn launches_are_ordered_with_other_work() {
    let Some(bench) = Bench::new() else { return };
    let module = bench.load(&add(Form::Push), None, true).unwrap();
    let (first, second) = (bench.stream(0), bench.stream(0));
    let (x, y, z) = (
        bench.with_values(0, &numbers(1.0)),
        bench.with_values(0, &numbers(2.0)),
        bench.with_values(0, &numbers(0.0)),
    );
    for round in 1..=10 {
        bench.add_on(&module, &Add::of(x, y, COUNT), first).unwrap();
        bench.wait(first, second);
        bench.copy(0, end(0, y), end(0, z), COUNT * 4, second).unwrap();
        bench.add_on(&module, &Add::of(x, z, COUNT), second).unwrap();
        bench.wait(second, first);
        let found: Vec<f32> = bench.read(0, z, COUNT, second);
        assert_eq!(found, numbers(2.0 + round as f32 + 1.0), "round {round}");
    }
    for stream in [first, second] {
        bench.sync(0, stream).unwrap();
        bench.free_stream(0, stream);
    }
    [x, y, z].iter().for_each(|data| bench.free(0, *data));
    works(&bench);
}

/// Launches of one batch bind different buffers and lengths: none sees what a later one binds.
#[test]
fn vkmod_m7_queued_launches_keep_bound_buffers() {
    let Some(bench) = Bench::new() else { return };
    for form in bench.forms().into_iter().filter(|form| *form != Form::Shared) {
        for is_pushed in [true, false] {
            let module = bench.load(&add(form), None, is_pushed).unwrap();
            let x = bench.with_values(0, &[1.0_f32; 64]);
            let all: Vec<*mut c_void> = (0..40).map(|_| bench.with_values(0, &[0.0_f32; 64])).collect();
            for (n, y) in all.iter().enumerate() {
                bench.add(&module, &Add { n: n as i64, blocks: 1, ..Add::of(x, *y, 64) }).unwrap();
            }
            for (n, y) in all.iter().enumerate() {
                let sum: f32 = read(&bench, *y, 64).iter().sum();
                assert_eq!(sum, n as f32, "{form:?}, pushed: {is_pushed}, launch {n}");
            }
            all.iter().chain([&x]).for_each(|data| bench.free(0, *data));
        }
    }
}

#[test]
fn vkmod_m5_a_module_runs_on_a_device_that_was_opened_again() {
    let Some(bench) = Bench::new() else { return };
    for form in bench.forms() {
        let module = bench.load(&add(form), None, false).unwrap();
        let device = bench.hardware.devices().get(0).unwrap();
        let x = bench.with_values(0, &[1.0_f32; 64]);
        bench.add(&module, &Add::of(x, x, 64)).unwrap();
        device.health.lose("a test");
        let error = bench.add(&module, &Add::of(x, x, 64)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DEVICE_LOST, "{error}");
        device.reopen();
        let error = bench.add(&module, &Add::of(x, x, 64)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WRONG_STATE, "a data space that is gone: {error}");
        let (x, y) = (bench.with_values(0, &[1.0_f32; 64]), bench.with_values(0, &[1.0_f32; 64]));
        bench.add(&module, &Add::of(x, y, 64)).unwrap();
        let sum = if form == Form::Shared { 2.0 + THREADS as f32 } else { 2.0 };
        assert_eq!(read(&bench, y, 64), [sum; 64], "{form:?}");
        bench.free(0, x);
        bench.free(0, y);
    }
    works(&bench);
}

#[test]
fn vkmod_m5_threads_launch_at_once() {
    let Some(bench) = Bench::new() else { return };
    let module = bench.load(&add(Form::Shared), None, false).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (bench, module) = (&bench, &module);
            scope.spawn(move || {
                let (x, y) = (bench.with_values(0, &[1.0_f32; 64]), bench.with_values(0, &[0.0_f32; 64]));
                let shared_bytes = 256 + 4 * thread;
                for _ in 0..100 {
                    bench.add(module, &Add { shared_bytes, ..Add::of(x, y, 64) }).unwrap();
                }
                let each = 1.0 + (shared_bytes / 4) as f32;
                assert_eq!(read(bench, y, 64), [100.0 * each; 64]);
                bench.free(0, x);
                bench.free(0, y);
            });
        }
    });
}

#[test]
fn vkmod_m5_a_module_runs_on_each_of_two_devices() {
    if Bench::of_lavapipe().is_none() {
        return;
    }
    let file = std::env::var("VK_ICD_FILENAMES").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("second_icd.json");
    fs::copy(&file, &copy).unwrap();
    let both = format!("{file}:{}", copy.display());
    in_child("tests::launches::child_with_two_devices", &[("VK_ICD_FILENAMES", &both)]).unwrap();
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_with_two_devices() {
    let Some(bench) = Bench::new() else { return };
    if bench.hardware.devices().count().unwrap() < 2 {
        // Not in the process that the test above makes.
        assert!(!std::env::var("VK_ICD_FILENAMES").is_ok_and(|files| files.contains(':')));
        return;
    }
    // Built for the first device, and for the second by its first launch.
    let module = bench.load(&add(Form::Push), None, true).unwrap();
    for device in [1, 0, 1] {
        let (x, y) = (bench.with_values(device, &numbers(1.0)), bench.with_values(device, &numbers(2.0)));
        bench.add_at(&module, &Add::of(x, y, COUNT), device, Stream::DEFAULT).unwrap();
        assert_eq!(bench.read::<f32>(device, y, COUNT, Stream::DEFAULT), expected(Form::Push, 0));
        // A handle of the other device is none of this one.
        let error = bench.add_at(&module, &Add::of(x, y, COUNT), 1 - device, Stream::DEFAULT).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WRONG_STATE, "{error}");
        bench.free(device, x);
        bench.free(device, y);
    }
    let stream = bench.stream(0);
    let null = std::ptr::null_mut();
    let empty = Add { n: 0, ..Add::of(null, null, 64) };
    let error = bench.add_at(&module, &empty, 1, stream).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WRONG_STATE, "a stream of the other device: {error}");
    bench.free_stream(0, stream);
    works(&bench);
}

/// VK-D13: what a batch launched last stays bound, also behind a copy, and nothing else does.
#[test]
fn vkmod_m7_kernels_alternate_in_a_batch() {
    let Some(bench) = Bench::new() else { return };
    let count = THREADS as usize * 2;
    let [push, shared] = [Form::Push, Form::Shared].map(|form| bench.load(&add(form), None, true).unwrap());
    let (x, y) = (bench.with_values(0, &vec![1.0_f32; count]), bench.with_values(0, &vec![0.0_f32; count]));
    let z = bench.allocate(0, count * 4);
    let launch = |module| bench.add(module, &Add::of(x, y, count)).unwrap();
    for module in [&push, &shared, &push, &push] {
        launch(module);
    }
    bench.copy(0, end(0, y), end(0, z), count * 4, Stream::DEFAULT).unwrap();
    launch(&push);
    launch(&shared);
    // One for each launch, and the number of threads for each with shared memory.
    let threads = THREADS as f32;
    assert_eq!(read(&bench, z, count), vec![4.0 + threads; count]);
    assert_eq!(read(&bench, y, count), vec![6.0 + 2.0 * threads; count]);
    assert_eq!(bench.messages(), 0);
}

/// Resident memory of the process in bytes.
fn resident_bytes() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    pages.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn vkmod_m7_ten_thousand_launches_leave_nothing_behind() {
    if Bench::new().is_none() {
        return;
    }
    // The validation layer remembers what it saw.
    let bench = Bench::of_host();
    for (form, is_pushed) in [(Form::Push, true), (Form::Push, false), (Form::Uniform, false)] {
        let module = bench.load(&add(form), None, is_pushed).unwrap();
        let (x, y) = (bench.with_values(0, &[1.0_f32; 64]), bench.with_values(0, &[0.0_f32; 64]));
        let launch = |count: usize| {
            for _ in 0..count {
                bench.add(&module, &Add::of(x, y, 64)).unwrap();
            }
            bench.sync(0, Stream::DEFAULT).unwrap();
        };
        let sets = || {
            let opened = bench.device().open().unwrap();
            module.built(bench.device(), opened.gpu()).unwrap().launchers[0].sets_count()
        };
        launch(5000);
        let (before, sets_before) = (resident_bytes(), sets());
        launch(10_000);
        let grown = resident_bytes().saturating_sub(before);
        assert!(grown < 4 << 20, "{form:?}: {grown} bytes more after 10 000 launches");
        assert!(sets() <= sets_before.max(8192), "{} sets after {sets_before}", sets());
        assert_eq!(read(&bench, y, 64), [15_000.0; 64]);
        bench.free(0, x);
        bench.free(0, y);
    }
}

/// The files of pipelines in a cache folder.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| !file.ends_with("CACHEDIR.TAG"));
    files.sort();
    files
}

#[test]
fn vkmod_m6_a_pipeline_cache_is_read_back_and_a_damaged_one_ignored() {
    let Some(bench) = Bench::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("vulkan");
    let load = || drop(bench.load(&add(Form::Push), Some(folder.path().to_owned()), true).unwrap());
    load();
    let [file] = &files(&own)[..] else { panic!("one file: {:?}", files(&own)) };
    let good = fs::read(file).unwrap();
    let written = fs::metadata(file).unwrap().modified().unwrap();
    load();
    assert_eq!(fs::metadata(file).unwrap().modified().unwrap(), written, "read, and not written again");
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for damaged in [flipped, good[..good.len() - 1].to_vec()] {
        fs::write(file, &damaged).unwrap();
        load();
        assert!(fs::read(file).unwrap() != damaged, "made and written again");
    }
    // Whole files that are no cache of this device's.
    let properties = &bench.device().limits().properties;
    let opened = cache::at(Some(folder.path().to_owned())).unwrap();
    let key = cache::key(add(Form::Push).index["options"]["spv_sha256"].as_str().unwrap(), properties);
    let read = || cache::read(Some(folder.path().to_owned()), &key, properties);
    let header = read().unwrap();
    for at in [0, 4, 8, 12, 16, 31] {
        let mut other = header.clone();
        other[at] ^= 0x55;
        opened.write(&key, &other);
        assert_eq!(read(), None, "byte {at}");
        load();
        assert!(read().is_some(), "byte {at}: made and written again");
    }
    for length in [0, 31] {
        opened.write(&key, &header[..length]);
        assert_eq!(read(), None, "{length} bytes");
    }
    // Another module has another file.
    drop(bench.load(&add(Form::Uniform), Some(folder.path().to_owned()), true).unwrap());
    assert_eq!(files(&own).len(), 2);
    works(&bench);
}
