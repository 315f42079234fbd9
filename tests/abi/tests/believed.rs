//! Tests of the host's checks of answers: a plugin gives wrong answers, one at a time (rules
//! HOST-A1 to HOST-A9 of the host's front page). Each ends as a broken plugin with a sentence that
//! states the fault, and the next call succeeds.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use chipdock_host::{
    CompileOptions, Compiled, Device, Error, ErrorKind, Host, HostOptions, Subject, Tensor, Verdict,
};
use chipdock_plugin_api::ChipdockDataType;
use chipdock_test_support::memory::resident_bytes;
use chipdock_test_support::plugins::compile;
use chipdock_test_support::workspace;
use serde_json::json;

/// A folder with the plugin, which only its owner may write.
struct Folder(tempfile::TempDir);

impl Folder {
    /// Compiles the plugin with a case of `INIT`.
    fn new(init: u32) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::set_permissions(folder.0.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let define = format!("-DINIT={init}");
        let fixture = workspace().join("tests/abi/fixtures/believed.c");
        compile(&["gcc", "-std=c99", "-pthread", &define], &fixture, &folder.library());
        fs::set_permissions(folder.library(), fs::Permissions::from_mode(0o755)).unwrap();
        folder
    }

    fn library(&self) -> PathBuf {
        self.0.path().join("believed.so")
    }

    fn host(&self) -> Host {
        let plugin_paths = vec![self.0.path().to_owned()];
        Host::new(HostOptions { plugin_paths, ..HostOptions::isolated() }).unwrap()
    }
}

/// The plugin in which nothing is wrong by itself. Tests of this file run in a process each.
static PLUGIN: LazyLock<Folder> = LazyLock::new(|| Folder::new(0));

fn host() -> Host {
    PLUGIN.host()
}

fn call(host: &Host, name: &str, argument: i64) -> Result<chipdock_host::Any, Error> {
    host.function(name).unwrap().unwrap().call(&[argument.into()])
}

fn fault(host: &Host, which: i64) {
    call(host, "believed.fault", which).unwrap();
}

/// Asserts that the error is that of a broken plugin, which ends a command with code 3, and
/// contains `says`.
fn assert_broken(error: &Error, says: &str) {
    assert_eq!(*error.kind(), ErrorKind::BrokenPlugin, "{error}");
    assert_eq!(error.subject(), Some(Subject::Plugin), "{error}");
    assert!(error.to_string().contains(says), "{error:?} should say {says:?}");
    assert!(error.to_string().len() < 200_000, "a text without end");
}

/// Faults of the values that the plugin returns, by number.
const WRONG_VALUES: &[&str] = &[
    "a value of type index 7, which is borrowed",
    "a value of type index 8, which is borrowed",
    "a value of type index 9, which is borrowed",
    "a value of type index 10, which is borrowed",
    "a value of type index -1, which no value has",
    "a value of type index -2147483648, which no value has",
    "a value of type index 13, which no value has",
    "a value of type index 63, which no value has",
    "an object of type index 65 at a null pointer",
    "an object of type index 1000 at a null pointer",
    "a value of type index 70 whose object says that it has type index 65",
    "an object of type index 65 that is not aligned to 8 bytes",
    "an object of type index 65 that was released",
    "a str that is no UTF-8: its byte 11 is wrong",
    "a str of 20 bytes at a null pointer",
    "a str of 9223372036854775808 bytes; expected at most 1073741824",
    "a small string of 8 bytes; expected at most 7",
    "a str that is no UTF-8: its byte 0 is wrong",
    "a bytes of 70368744177664 bytes; expected at most 1073741824",
    "a shape of 2 at 0x0, which is null or not aligned",
    "a shape of 2305843009213693952 extents; expected at most 1048576",
    "a function whose `safe_call` is null",
    "an error whose `update_backtrace` is null",
    "an error's message of 9223372036854775808 bytes; expected at most 1073741824",
    "an error with more than 32 causes",
    "an error's cause is a value of type index 67 whose object says that it has type index 65",
    "an array of -1 elements; expected 0 to 1048576",
    "an array of 2305843009213693952 elements; expected 0 to 1048576",
    "an array of 2 at 0x0, which is null or not aligned",
    "an array whose element 1 is a value of type index 8",
    "arrays within arrays, more than 32 deep",
    "arrays within arrays, more than 32 deep",
    "a tensor of -1 axes; expected 0 to 64",
    "a tensor of 2147483647 axes; expected 0 to 64",
    "a tensor's shape of 2 at 0x0, which is null or not aligned",
    "a tensor's strides of 2 at 0x0, which is null or not aligned",
    "axis 0: expected an extent of 0 or more, found -2",
    "the number of elements does not fit 64 bits",
    "it begins before its data",
    "a tensor of shape [2, 3] and strides [3, 1] whose data is null",
];

/// HOST-A2.
#[test]
fn a_result_that_is_no_value_is_refused() {
    let host = host();
    for (which, says) in (0..).zip(WRONG_VALUES) {
        let error = call(&host, "believed.answer", which).unwrap_err();
        assert_broken(&error, says);
        assert!(error.to_string().contains("function \"believed.answer\" answered"), "{error}");
    }
    let good = call(&host, "believed.answer", WRONG_VALUES.len() as i64).unwrap();
    let tensor: chipdock_plugin_api::Tensor = good.to().unwrap();
    assert_eq!(tensor.view().shape(), [2, 3]);
}

/// HOST-A2: an error is a value too.
#[test]
fn an_error_that_is_none_is_a_broken_plugin() {
    let host = host();
    for (which, says) in (0..).zip(WRONG_VALUES) {
        let error = call(&host, "believed.raise", which).unwrap_err();
        assert_broken(&error, "raise_object was given");
        let is_error = (22..=25).contains(&which);
        assert!(!is_error || error.to_string().contains(says), "{error}");
    }
    assert_broken(&call(&host, "believed.raise", -1).unwrap_err(), "raise_object was given a value at 0x0");
}

/// HOST-A2 and HOST-A4: what an attribute is.
#[test]
fn an_attribute_of_another_type_is_refused() {
    let host = host();
    let device = host.device("believed", 0).unwrap();
    let ask = |which, key: &str| {
        fault(&host, which);
        device.attribute(key)
    };
    for (which, says) in (0..).zip(WRONG_VALUES) {
        assert_broken(&ask(100 + which, "device_name").unwrap_err(), says);
    }
    for (which, key, says) in [
        (1, "device_name", "\"device_name\" of device_api.believed is int 7; expected a str"),
        (1, "exist", "is int 7; expected a bool"),
        (1, "max_grid_dimensions", "is int 7; expected a Shape of three"),
        (2, "warp_size", "is float 7.0; expected an int"),
        (3, "device_name", "a text of 67108864 bytes; expected at most 1048576"),
        (3, "its_own", "a text of 67108864 bytes; expected at most 1048576"),
    ] {
        assert_broken(&ask(which, key).unwrap_err(), says);
    }
    assert_eq!(ask(1, "its_own").unwrap(), Some(json!(7)), "keys that are not known here are its own affair");
    assert_eq!(ask(1, "warp_size").unwrap(), Some(json!(7)));
    // HOST-A1: what a failed call wrote is not looked at.
    assert_eq!(*ask(4, "device_name").unwrap_err().kind(), ErrorKind::Io);
}

/// HOST-A3: 2^31 devices, and less than none.
#[test]
fn a_number_of_devices_has_a_bound() {
    let host = host();
    for (which, found) in [(1, "2147483647"), (2, "-2147483648"), (3, "4097")] {
        fault(&host, which);
        let says = format!("counts {found} devices; expected 0 to 4096");
        assert_broken(&host.device_count("believed").unwrap_err(), &says);
        assert_broken(&host.device("believed", 0).unwrap_err(), &says);
    }
    fault(&host, 4);
    assert_eq!(host.device_count("believed").unwrap(), 4096);
}

const FLOAT32: ChipdockDataType = ChipdockDataType { code: 2, bits: 32, lanes: 1 };

fn empty(device: &Device) -> Result<Tensor, Error> {
    Tensor::empty(device, &[4, 4], chipdock_host::dtype_of(FLOAT32).unwrap())
}

/// HOST-A4: a data space of bytes is not null.
#[test]
fn a_null_data_space_is_refused() {
    let host = host();
    let device = host.device("believed", 0).unwrap();
    fault(&host, 1);
    assert_broken(
        &empty(&device).unwrap_err(),
        "`allocate_data_space` of device_api.believed succeeded and answered null for 64 bytes",
    );
    fault(&host, 2);
    empty(&device).expect("a handle that is no address need not be aligned");
}

/// HOST-A4: where a handle is an address, it is aligned as asked for (D.4).
#[test]
fn a_misaligned_data_space_is_refused() {
    let folder = Folder::new(11);
    let host = folder.host();
    let prefer = vec![("device_api.cpu".to_owned(), "believed".to_owned())];
    let plugin_paths = vec![folder.0.path().to_owned()];
    drop(host);
    let host = Host::new(HostOptions { prefer, plugin_paths, ..HostOptions::isolated() }).unwrap();
    let device = host.device("cpu", 0).unwrap();
    fault(&host, 2);
    assert_broken(&empty(&device).unwrap_err(), "which is not aligned to the 64 bytes asked for");
    fault(&host, 0);
    assert_eq!(Tensor::from_slice(&device, &[2], &[1_i32, 2]).unwrap().to_vec::<i32>().unwrap(), [1, 2]);
}

/// HOST-A4 and HOST-A1: streams.
#[test]
fn a_stream_that_lives_is_not_had_twice() {
    let host = host();
    let device = host.device("believed", 0).unwrap();
    fault(&host, 1);
    let first = device.create_stream().unwrap();
    assert_broken(&device.create_stream().err().unwrap(), "answered 0x40, a stream that lives");
    drop(first);
    device.create_stream().expect("it is free again");
    fault(&host, 2);
    assert_broken(&device.create_stream().err().unwrap(), "returned status -7 and raised no error");
}

/// HOST-A9: the host goes by its own description, and says so once.
#[test]
fn a_description_that_a_call_changed_is_found_out() {
    let host = host();
    let device = host.device("cpu", 0).unwrap();
    let tensor = Tensor::from_slice(&device, &[2, 3], &[1_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let sliced = Tensor::zeros(&device, &[3, 3], tensor.dtype()).unwrap().slice(0, 1, 2).unwrap();
    let eight = Tensor::zeros(&device, &[2, 3, 1, 1, 1, 1, 1, 1], tensor.dtype()).unwrap();
    let change = host.function("believed.change").unwrap().unwrap();
    for tensor in [&tensor, &sliced, &eight] {
        let (shape, strides) = (tensor.shape().to_vec(), tensor.strides().to_vec());
        let elements = tensor.to_vec::<f32>().unwrap();
        for (which, says) in [
            (1, format!("its shape {shape:?} became [1099511627776, 3")),
            (2, format!("its {} axes became 1000000", shape.len())),
            (3, "its element type float32 became float64".to_owned()),
            (4, "where its elements are".to_owned()),
            (5, "where its extents or strides are".to_owned()),
            (6, "its strides".to_owned()),
            (7, "where its elements are".to_owned()),
            (8, "its device".to_owned()),
            (9, format!("its shape {shape:?} became [-1, 3")),
        ] {
            fault(&host, which);
            assert_eq!(change.call(&[tensor.into()]).is_err(), which == 9, "it says that all is well");
            assert_eq!((tensor.shape(), tensor.strides()), (&shape[..], &strides[..]), "the host's own");
            let error = tensor.to_bytes().unwrap_err();
            assert_broken(&error, "a function that a tensor was passed to changed what describes it");
            assert_broken(&error, &says);
            assert_eq!(tensor.to_vec::<f32>().unwrap(), elements, "it was said once");
            // The next function is lent what is right, and it is found out all the same.
            change.call(&[tensor.into()]).ok();
            fault(&host, 0);
            change.call(&[tensor.into()]).unwrap();
            assert_broken(&tensor.check_description().unwrap_err(), "it was put right since");
            tensor.check_description().unwrap();
            tensor.copy_from_bytes(&tensor.to_bytes().unwrap()).unwrap();
        }
    }
}

/// HOST-A6: a registrar that was kept, as a pointer or a copy, from this thread and another.
#[test]
fn a_registrar_that_was_kept_is_closed() {
    let host = host();
    for how in [0, 1] {
        assert_broken(&call(&host, "believed.late", how).unwrap_err(), "a registrar was used after its call");
        assert_eq!(call(&host, "believed.late", how | 4).unwrap().to::<i64>().unwrap(), 34);
    }
    assert!(host.function("believed.late2").unwrap().is_none());
    assert!(host.plugins().iter().all(|plugin| !plugin.provides.iter().any(|key| key == "function.late")));
}

/// HOST-A6: a session that was kept.
#[test]
fn a_session_that_was_kept_is_closed() {
    let host = host();
    build(&host, 0).unwrap();
    for how in (0..3).flat_map(|function| [2 | function << 3, 3 | function << 3]) {
        let error = call(&host, "believed.late", how).unwrap_err();
        assert_broken(&error, "a build session was used after its call");
        assert_eq!(call(&host, "believed.late", how | 4).unwrap().to::<i64>().unwrap(), 34);
    }
    // Those that came after it are not reached through it either, and memory stays flat.
    let before = resident_bytes();
    for _ in 0..600 {
        build(&host, 0).unwrap();
    }
    assert!(resident_bytes() < before + (8 << 20), "{} bytes before, {} after", before, resident_bytes());
    call(&host, "believed.late", 2).unwrap_err();
    call(&host, "believed.late", 3).unwrap_err();
    drop(host);
    let other = PLUGIN.host();
    build(&other, 0).unwrap();
}

fn build(host: &Host, which: i64) -> Result<Compiled, Error> {
    let path = workspace().join("examples/kernels/vector_add.py");
    let module = chipdock_script::parse(&fs::read_to_string(path).unwrap(), "vector_add.py").unwrap();
    let target = host.target(json!({"kind": "believed", "fault": which}))?;
    host.compile(&module, &target, &CompileOptions::default())
}

/// HOST-A3 and HOST-A8: each of these builds returns success.
#[test]
fn a_delivery_that_is_refused_is_a_broken_build() {
    let host = host();
    for (which, says) in [
        (1, "section \"s\" of 70368744177664 bytes makes 70368744177664 with the others; expected at most"),
        (2, "section \"s\" of 9223372036854775808 bytes"),
        (3, "section \"s\" is null with 4 bytes"),
        (4, "section \"s\": alignment 3; expected a power of two up to 65536"),
        (5, "section \"s\": alignment 9223372036854775808; expected a power of two"),
        (6, "section \"s\": alignment 0; expected a power of two"),
        (7, "a section's name: expected UTF-8 text, found an invalid byte at 1"),
        (8, "a section's kind: expected UTF-8 text, found an invalid byte at 2"),
        (9, "a section's name has 9223372036854775808 bytes; expected at most 1024"),
        (10, "section \"s\" is of kind \"co ok\"; expected a word of letters"),
        (11, "section \"s\" is one too many; expected at most 4096"),
        (12, "a section's name has 67108864 bytes; expected at most 1024"),
        (13, "the index has 9223372036854775808 bytes; expected at most 16777216"),
        (14, "the index has 67108864 bytes; expected at most 16777216"),
        (15, "the index is not an artifact's index: expected"),
        (16, "the index is not an artifact's index"),
        (17, "the index of what was built lacks function \"vector_add\", which was compiled"),
        (
            18,
            "says that function \"vector_add\" takes (handle, int32, handle); it takes (handle, handle, handle)",
        ),
        (19, "says that function \"vector_add\" takes (handle)"),
        (20, "has no symbol for function \"vector_add\""),
        (25, "a delivery was refused: section \"s\": no memory for a copy of its 4294967296 bytes"),
        (21, "returned status 2000000000 and raised no error"),
    ] {
        let error = build(&host, which).unwrap_err();
        assert_broken(&error, says);
        assert!(error.to_string().contains("target.build.believed"), "{which}: {error}");
    }
    build(&host, 0).unwrap();
    // HOST-A1: it got over it.
    build(&host, 22).unwrap();
}

/// C.8: what nobody asked for may be listed too; P3.9: fields may be new.
#[test]
fn c8_an_index_may_list_further_functions() {
    let host = host();
    let built = build(&host, 23).unwrap();
    let names: Vec<&str> = built.artifact.index().functions.iter().map(|function| &*function.name).collect();
    assert_eq!(names, ["vector_add", "lion"]);
}

/// P3.19.
#[test]
fn p3_19_an_index_of_a_later_version_is_unavailable() {
    let host = host();
    let error = build(&host, 26).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("an index of version 7; expected one up to 1"), "{error}");
    assert!(error.to_string().contains("target.build.believed"), "{error}");
    build(&host, 0).unwrap();
}

/// P13.2: within the bound only memory decides, and its lack is an error, not the process's end.
#[test]
fn p13_2_a_section_for_which_there_is_no_memory_is_an_error() {
    let host = host();
    let error = build(&host, 24).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::OutOfMemory, "{error}");
    assert!(
        error.to_string().contains("section \"s\": no memory for a copy of its 4294967296 bytes"),
        "{error}"
    );
    build(&host, 0).unwrap();
}

/// HOST-A3: thousands of diagnostics, a million, and diagnostics of 64 MiB.
#[test]
fn diagnostics_have_bounds() {
    let host = host();
    let before = resident_bytes();
    let error = build(&host, 33).unwrap_err();
    assert_eq!((error.kind(), error.diagnostics().len()), (&ErrorKind::Unsupported, 1001));
    assert_eq!(error.diagnostics()[1000].message, "… and 4000 more errors");
    let error = build(&host, 31).unwrap_err();
    assert!(error.to_string().len() < 6 << 20, "{}", error.to_string().len());
    assert!(error.diagnostics()[0].message.ends_with("… (cut: 67108864 bytes in all)"));
    let built = build(&host, 34).unwrap();
    assert_eq!(built.messages.len(), 1001);
    assert_eq!(built.messages[1000].diagnostic.message, "… and 4000 more warnings and notes");
    assert_broken(&build(&host, 30).unwrap_err(), "more than 100000 diagnostics");
    assert_broken(&build(&host, 32).unwrap_err(), "more than 100000 diagnostics");
    assert_broken(&build(&host, 35).unwrap_err(), "the message of a diagnostic has 70368744177664 bytes");
    assert!(resident_bytes() < before + (64 << 20), "{} bytes before, {} after", before, resident_bytes());
}

/// P3.15 to P3.17, C.31: what is no diagnostic is refused, what is extended is taken or refused by
/// name.
#[test]
fn a_diagnostic_is_read_with_care() {
    let host = host();
    for which in [36, 37] {
        assert_broken(&build(&host, which).unwrap_err(), "a diagnostic is null or not aligned");
    }
    // The fixture goes on without the one that was refused.
    assert!(build(&host, 38).unwrap().messages.is_empty());
    let built = build(&host, 39).unwrap();
    let [message] = &built.messages[..] else { panic!("{:?}", built.messages) };
    assert_eq!(
        message.to_string(),
        "warning: plugin \"believed\" says: a lion; feed it",
        "a line without a column is no place"
    );
}

/// HOST-A2 and HOST-A3: what a canonicalizer answers.
#[test]
fn a_canonicalizer_answers_a_text_of_a_size() {
    let host = host();
    let target = |which: i64| host.target(json!({"kind": "believed", "fault": which})).map(drop);
    for (which, says) in (0..).zip(WRONG_VALUES) {
        let error = target(100 + which).unwrap_err();
        assert_broken(&error, says);
        assert_broken(&error, "the canonicalizer of target kind \"believed\"");
    }
    assert_broken(&target(99).unwrap_err(), "answered 67108864 bytes; expected at most 1048576");
    target(0).unwrap();
}

/// HOST-A2: what a loader and its module answer.
#[test]
fn a_loader_and_its_module_answer_what_they_must() {
    let host = host();
    let artifact = Arc::clone(&build(&host, 0).unwrap().artifact);
    let device = host.device("cpu", 0).unwrap();
    let module = host.load(&artifact).unwrap();
    for (which, says) in (0..).zip(WRONG_VALUES) {
        fault(&host, 100 + which);
        assert_broken(&module.function("vector_add").err().unwrap(), says);
        assert_broken(&host.check_artifact(&artifact, &device).unwrap_err(), says);
    }
    fault(&host, 1);
    assert_broken(&module.function("vector_add").err().unwrap(), "expected Function, found int");
    let verdict = host.check_artifact(&artifact, &device).unwrap();
    let Verdict::Unsupported(reason) = verdict else { panic!("{verdict:?}") };
    assert!(reason.starts_with("verdict 17, which this host does not know"), "{reason}");
    fault(&host, 2);
    assert_broken(
        &host.check_artifact(&artifact, &device).unwrap_err(),
        "gave as its reason: expected str, found int",
    );
    assert_broken(&module.function("vector_add").err().unwrap(), "its loader does not have it");
    fault(&host, 3);
    assert_broken(&host.load(&artifact).unwrap_err(), "the module's its table is null");
    fault(&host, 4);
    assert_broken(&host.load(&artifact).unwrap_err(), "slot 1 of its table is null");
}

/// HOST-A5: what was handed over is the host's.
#[test]
fn tables_and_descriptor_may_be_spoiled_later() {
    let host = host();
    let device = host.device("believed", 0).unwrap();
    // SAFETY: the plugin of this test, whose symbol takes and answers nothing.
    unsafe {
        let library = libloading::Library::new(PLUGIN.library()).unwrap();
        library.get::<unsafe extern "C" fn()>(b"spoil").unwrap()();
        std::mem::forget(library);
    }
    assert_eq!(host.device_count("believed").unwrap(), 1);
    empty(&device).unwrap();
    drop((device, host));
}

/// HOST-A3: what is wrong before there is anything to call. None takes memory or time that counts.
#[test]
fn descriptor_and_registrations_have_bounds() {
    for (init, says) in [
        (1, "its name has 9223372036854775808 bytes; expected at most 1024"),
        (2, "its name: expected 8 bytes of text, found a null pointer"),
        (3, "its version has 67108864 bytes; expected at most 1024"),
        (4, "its build id has 70368744177664 bytes; expected at most 1024"),
        (5, "its descriptor is not aligned to 8 bytes"),
        (6, "target.kind.believed: its schema has 33554432 bytes; expected at most 1048576"),
        (7, "is one registration too many; expected at most 4096"),
        (8, "function.?: its name has 67108864 bytes; expected at most 1024"),
        (9, "… (cut: 67108864 bytes in all)"),
        (10, "target.build.believed: its info: expected a JSON object, or no text for none"),
        (12, "target.build.believed: its info: missing field `ir_max`"),
        (13, "module.load.believed: its info: expected a JSON object, or no text for none"),
        (14, "target.build.believed: its info has 33554432 bytes; expected at most 1048576"),
    ] {
        let folder = Folder::new(init);
        let host = folder.host();
        let error = host.open_plugin("believed").unwrap_err();
        assert_eq!(error.subject(), Some(Subject::Plugin), "{error}");
        assert!(error.to_string().contains(says), "{init}: {error}");
        assert!(error.to_string().len() < 100_000);
        host.device("cpu", 0).expect("others are unharmed");
    }
}

/// The fixture's number of wrong values is this file's.
#[test]
fn every_wrong_value_is_tried() {
    let path: &Path = &workspace().join("tests/abi/fixtures/believed.c");
    let define = format!("#define WRONG_VALUES {}\n", WRONG_VALUES.len());
    assert!(fs::read_to_string(path).unwrap().contains(&define));
}
