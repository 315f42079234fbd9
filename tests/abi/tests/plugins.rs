//! Calls plugins through the bare tables: both templates and `cpu`, together in one process (P1,
//! P4, P5, P10, D).

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;
use std::sync::LazyLock;

use chipdock_plugin_api::abi::{
    CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, CHIPDOCK_DEVICE_CPU, CHIPDOCK_DEVICE_FIRST_ASSIGNED,
    CHIPDOCK_LAYOUT_HASH, CHIPDOCK_MAGIC, ChipdockCopy, ChipdockCopyEnd, ChipdockPlugin, ChipdockTableSizes,
};
use chipdock_plugin_api::text::{str_in, str_out};
use chipdock_plugin_api::{AnyView, CPU, ErrorKind, Tensor, attestation, attribute};
use chipdock_raw_host::{Device, NO_HINT, Plugin as Opened, RawHost, Space};
use chipdock_test_support::plugins::{build, compile};
use chipdock_test_support::workspace;

struct Plugin {
    path: PathBuf,
    /// Name in the descriptor.
    name: &'static str,
    /// Name of its device API.
    device: &'static str,
    /// Its function that counts elements, if it has one.
    function: Option<&'static str>,
    /// Whether it is written in Rust: then its shims check more.
    is_rust: bool,
}

static PLUGINS: LazyLock<Vec<Plugin>> = LazyLock::new(|| {
    let rust = build(&["chipdock-plugin-template", "chipdock-plugin-cpu-llvm"]);
    let folder = rust[0].with_file_name(format!("abi-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let source = workspace().join("examples/plugin-template-c/template.c");
    let (c, cpp) = (folder.join("template_c.so"), folder.join("template_cpp.so"));
    compile(&["gcc", "-std=c99"], &source, &c);
    compile(&["g++", "-x", "c++", "-std=c++11"], &source, &cpp);
    let plugin = |path: &Path, name, device, function, is_rust| Plugin {
        path: path.to_path_buf(),
        name,
        device,
        function,
        is_rust,
    };
    let plugins = vec![
        plugin(&rust[0], "template", "template", Some("template.element_count"), true),
        plugin(&rust[1], "cpu-llvm", "cpu", None, true),
        plugin(&c, "template-c", "template_c", Some("template_c.element_count"), false),
        plugin(&cpp, "template-c", "template_c", Some("template_c.element_count"), false),
    ];
    // Opened for good, so the files may go.
    for plugin in &plugins {
        let _ = open(&plugin.path);
    }
    plugins
});

/// Removes the compiled templates when everything that looks at the files has run.
fn remove_compiled() {
    if let Some(folder) = PLUGINS[2].path.parent() {
        let _ = std::fs::remove_dir_all(folder);
    }
}

fn end(device: chipdock_plugin_api::ChipdockDevice, data: *mut c_void, offset_bytes: u64) -> ChipdockCopyEnd {
    ChipdockCopyEnd { device, data, offset_bytes }
}

/// Opens a plugin, never to close it, and returns its descriptor (P1.1, P11.1).
fn open(library: &Path) -> &'static ChipdockPlugin {
    Opened::entry(library).unwrap_or_else(|error| panic!("{}: {}", error.clause, error.message))
}

/// Returns the device API of a name.
fn device(opened: &Opened, name: &str) -> Device {
    let found = opened.devices().into_iter().find(|device| device.name == name);
    found.unwrap_or_else(|| panic!("no device API `{name}`"))
}

/// Allocates device memory of scope global.
fn allocate_bytes(device: &Device, size_bytes: u64) -> Result<Space<'_>, chipdock_plugin_api::Error> {
    device.allocate_kind(0, size_bytes, 1, 0, "global")
}

/// Copies between two ends and waits for the copy.
fn copy(
    device: &Device,
    from: ChipdockCopyEnd,
    to: ChipdockCopyEnd,
    size_bytes: u64,
) -> Result<(), chipdock_plugin_api::Error> {
    let copy = ChipdockCopy { from, to, size_bytes, dtype_hint: NO_HINT, flags: 0, next: ptr::null() };
    // SAFETY: D.6, the tests keep both ends alive.
    unsafe { device.copy_raw(0, &copy, ptr::null_mut()) }?;
    device.sync(0, ptr::null_mut())
}

fn kind<T>(result: Result<T, chipdock_plugin_api::Error>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

/// One test in parts, so that the plugins are built and opened once and the files removed
/// afterwards.
#[test]
fn plugins_keep_the_contract() {
    for plugin in PLUGINS.iter() {
        let descriptor = open(&plugin.path);
        p1_descriptor(plugin, descriptor);
        p1_5_exports(&plugin.path);
        p4_attestation(plugin, descriptor);
        let opened = Opened::init(descriptor, RawHost::leak()).expect("init");
        let host = opened.host();
        p5_registration(plugin, &opened);
        let device = device(&opened, plugin.device);
        d_attributes(&device);
        d_memory(&device, plugin.device);
        d_copies(&device);
        d_streams(&device).expect("streams");
        if plugin.is_rust {
            d2_nulls(&device, host);
        }
        function(plugin, host);
        p10_two_hosts(plugin, &opened);
        assert_eq!(host.n_stray_errors(), 0, "an error was raised and not reported (RAW-4)");
        assert_eq!((host.broken(), host.n_not_utf8()), (vec![], 0), "RAW-5, RAW-6");
    }
    remove_compiled();
}

#[test]
fn p8_3_aborting_on_panic_does_not_compile() {
    let scratch = tempfile::tempdir().expect("a folder");
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(workspace())
        .args([
            "check",
            "--quiet",
            "--package",
            "chipdock-plugin-api",
            "--config",
            "profile.dev.panic=\"abort\"",
        ])
        .arg("--target-dir")
        .arg(scratch.path())
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("must be built with panic = \"unwind\""), "{text}");
}

fn p1_descriptor(plugin: &Plugin, descriptor: &'static ChipdockPlugin) {
    assert!(ptr::eq(descriptor, open(&plugin.path)), "P1.2");
    assert_eq!(descriptor.magic, CHIPDOCK_MAGIC);
    assert_eq!((descriptor.abi_major, descriptor.abi_minor), (CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR));
    assert_eq!(descriptor.layout_hash, CHIPDOCK_LAYOUT_HASH);
    assert_eq!(descriptor.table_sizes, ChipdockTableSizes::current());
    // SAFETY: static texts of the descriptor.
    let (name, version) = unsafe { (str_in(descriptor.name, "name"), str_in(descriptor.version, "version")) };
    assert_eq!((name.unwrap(), version.unwrap()), (plugin.name, "0.1.0"));
}

fn p1_5_exports(library: &Path) {
    let output =
        match Command::new("nm").args(["-D", "--defined-only", "--format=posix"]).arg(library).output() {
            Ok(output) => output,
            Err(error) => {
                chipdock_test_support::skipped(&format!(
                    "exports: nm is not there ({error}); install binutils"
                ));
                return;
            }
        };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let symbols = text.lines().filter_map(|line| line.split_whitespace().next());
    let others: Vec<_> =
        symbols.filter(|symbol| !["chipdock_plugin_v1", attestation::SYMBOL].contains(symbol)).collect();
    assert!(text.contains("chipdock_plugin_v1") && others.is_empty(), "{}: {others:?}", library.display());
}

fn p4_attestation(plugin: &Plugin, descriptor: &'static ChipdockPlugin) {
    // SAFETY: a plugin of this repository, which is open for good.
    let library = unsafe { libloading::Library::new(&plugin.path) }.expect("a plugin");
    // SAFETY: only the address is looked at.
    let symbol = unsafe { library.get::<*const c_void>(attestation::SYMBOL.as_bytes()) };
    assert_eq!(symbol.is_ok(), plugin.is_rust, "P4.2");
    let Ok(symbol) = symbol else { return };
    // SAFETY: the address of the symbol, in a library that stays.
    let attested = unsafe { attestation::attest(symbol.into_raw().into_raw()) }.expect("P4.2");
    assert!(ptr::eq(attested, descriptor));
}

fn p5_registration(plugin: &Plugin, opened: &Opened) {
    let keys = opened.keys_with_hooks();
    let mut sorted = keys.clone();
    sorted.sort();
    assert_eq!(keys, sorted, "P5.2");
    let is_cpu = plugin.device == "cpu";
    let mut expected = vec![format!("device_api.{}", plugin.device)];
    expected.extend(plugin.function.map(|name| format!("function.{name}")));
    if is_cpu {
        expected.extend(
            ["module.load.llvm", "module.load.llvm/object/1", "target.build.llvm", "target.kind.llvm"]
                .map(str::to_owned),
        );
    }
    assert_eq!(keys, expected);
    let expected = if is_cpu { CHIPDOCK_DEVICE_CPU } else { CHIPDOCK_DEVICE_FIRST_ASSIGNED };
    assert_eq!(device(opened, plugin.device).device_type, expected, "P5.5");
}

fn d_attributes(device: &Device) {
    assert_eq!(device.count().unwrap(), 1);
    assert!(device.attribute(0, attribute::EXIST).unwrap().to::<bool>().unwrap());
    for absent in [1, -1, i32::MAX] {
        assert!(!device.attribute(absent, attribute::EXIST).unwrap().to::<bool>().unwrap(), "D.3");
        assert_eq!(
            kind(device.attribute(absent, attribute::DEVICE_NAME)),
            Some(ErrorKind::VALUE_ERROR),
            "D.3"
        );
    }
    assert!(device.attribute(0, "no such attribute").unwrap().is_none(), "D.3");
    // Whatever is answered has the type that the table of attributes says, or is None.
    let mut answered = 0;
    for key in attribute::ALL {
        let value = device.attribute(0, key).unwrap();
        answered += usize::from(!value.is_none());
        match *key {
            attribute::DEVICE_NAME | attribute::VENDOR_NAME | attribute::ARCH => {
                assert_ne!(value.to::<Option<String>>().unwrap(), Some(String::new()), "{key}");
            }
            _ => assert!(value.to::<Option<i64>>().unwrap().is_none_or(|number| number > 0), "{key}"),
        }
    }
    assert!(answered >= 2);
}

fn d_memory(device: &Device, name: &str) {
    for size_bytes in [0, 1, 63, 64, 4096, 1 << 20] {
        for alignment_bytes in [1, 8, 64, 4096] {
            let space = device.allocate_kind(0, size_bytes, alignment_bytes, 0, "").unwrap();
            if name == "cpu" {
                assert_eq!(space.data() as u64 % alignment_bytes.max(64), 0, "D.4");
            }
            space.free().unwrap();
        }
    }
    // SAFETY: D.25, null is no data space.
    unsafe { device.free_raw(0, ptr::null_mut()) }.expect("D.25");
    for alignment_bytes in [0, 3, 48] {
        assert_eq!(
            kind(device.allocate_kind(0, 16, alignment_bytes, 0, "")),
            Some(ErrorKind::VALUE_ERROR),
            "D.23"
        );
    }
    for size_bytes in [u64::MAX, u64::MAX / 2, i64::MAX as u64 - 64, 1 << 60] {
        assert_eq!(kind(allocate_bytes(device, size_bytes)), Some(ErrorKind::OUT_OF_MEMORY), "{size_bytes}");
        allocate_bytes(device, 64).expect("P7.7").free().unwrap();
    }
    assert_eq!(kind(device.allocate_kind(0, 16, 8, 0, "texture")), Some(ErrorKind::UNSUPPORTED), "D.9");
    assert_eq!(kind(device.allocate_kind(0, 16, 8, 99, "")), Some(ErrorKind::UNSUPPORTED), "P3.6");
    assert_eq!(kind(device.allocate_kind(7, 16, 8, 0, "")), Some(ErrorKind::VALUE_ERROR));
}

fn d_copies(device: &Device) {
    let source: Vec<u8> = (0..=255).collect();
    let mut target = vec![0_u8; 256];
    let from = end(CPU, source.as_ptr().cast_mut().cast(), 0);
    let to = end(CPU, target.as_mut_ptr().cast(), 0);
    let (first, second) = (allocate_bytes(device, 256).unwrap(), allocate_bytes(device, 256).unwrap());
    let first_end = |offset| first.end(offset);
    let second_end = |offset| second.end(offset);
    copy(device, from, first_end(0), 256).expect("host to device");
    copy(device, first_end(10), second_end(20), 100).expect("device to device");
    copy(device, second_end(20), ChipdockCopyEnd { offset_bytes: 5, ..to }, 100).expect("device to host");
    assert_eq!(target[5..105], source[10..110]);
    assert!(target[..5].iter().chain(&target[105..]).all(|byte| *byte == 0), "nothing beside the range");
    copy(device, end(CPU, ptr::null_mut(), 0), first_end(0), 0).expect("D.37: nothing from nowhere");
    copy(device, first_end(0), to, 256).unwrap();
    assert_eq!(target, source);
    if device.device_type != CHIPDOCK_DEVICE_CPU {
        // These devices know their data spaces, so a range past the end is found.
        assert_eq!(kind(copy(device, from, first_end(1), 256)), Some(ErrorKind::INDEX_ERROR));
        assert_eq!(kind(copy(device, first_end(u64::MAX), to, 2)), Some(ErrorKind::INDEX_ERROR));
    }
    assert_eq!(
        kind(copy(device, end(CPU, ptr::null_mut(), 0), first_end(0), 4)),
        Some(ErrorKind::VALUE_ERROR)
    );
    first.free().unwrap();
    second.free().unwrap();
}

/// Calls every function for streams, in order.
fn d_streams(device: &Device) -> Result<(), chipdock_plugin_api::Error> {
    let stream = device.create_stream(0)?;
    device.default_stream(0).wait_for(&stream)?;
    stream.sync()?;
    stream.free()
}

/// Calls the functions with null for every pointer; returns the statuses. Only for plugins that
/// check pointers (the shim does).
fn call_with_nulls(device: &Device) -> Vec<i32> {
    let (table, self_) = device.table().unwrap();
    // SAFETY: a registered table and its `self_`; null is answered with an error (D.2).
    unsafe {
        vec![
            (table.device_count)(self_, ptr::null_mut()),
            (table.attribute)(self_, 0, str_out("exist"), ptr::null_mut()),
            (table.allocate_data_space)(self_, 0, ptr::null(), ptr::null_mut()),
            (table.copy_data)(self_, 0, ptr::null(), ptr::null_mut()),
            (table.create_stream)(self_, 0, ptr::null_mut()),
            (table.device_count)(ptr::null_mut(), ptr::null_mut()),
        ]
    }
}

fn d2_nulls(device: &Device, host: &RawHost) {
    for status in call_with_nulls(device) {
        assert_ne!(status, 0, "D.2");
    }
    assert_eq!(host.reference().take_error().map(|error| error.kind()), Some(ErrorKind::VALUE_ERROR));
}

fn function(plugin: &Plugin, host: &RawHost) {
    let Some(name) = plugin.function else { return };
    let function = host.function(name).expect("registered");
    let call = |args: &[AnyView<'_>]| function.call(host.reference(), args);
    let tensor = Tensor::from_slice(&[3, 4], &[0_i8; 12]).unwrap();
    for view in [AnyView::from(&tensor), AnyView::from(tensor.view())] {
        assert_eq!(call(&[view]).unwrap().to::<i64>().unwrap(), 12, "V.4");
    }
    for wrong in [&[][..], &[AnyView::from(5)]] {
        let error = call(wrong).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TYPE_ERROR);
        assert!(error.message().contains("argument 0 (`tensor`)"), "{error}");
    }
}

fn p10_two_hosts(plugin: &Plugin, opened: &Opened) {
    let other = Opened::init(opened.raw(), RawHost::leak()).expect("P10.2: once for each host");
    let (first, second) = (opened.host(), other.host());
    let (one, two) = (device(opened, plugin.device), device(&other, plugin.device));
    // Two threads, two hosts: each gets its own errors, P10.4.
    std::thread::scope(|scope| {
        for (host, device, count) in [(first, one.clone(), 200), (second, two.clone(), 300)] {
            scope.spawn(move || {
                for id in 1..count {
                    let error = device.attribute(id, attribute::DEVICE_NAME).unwrap_err();
                    assert!(error.message().contains(&format!(":{id}:")), "{error}");
                    assert!(host.reference().take_error().is_none());
                    allocate_bytes(&device, 64).unwrap().free().unwrap();
                }
            });
        }
    });
    opened.shutdown().expect("shutdown");
    assert_eq!(kind(one.count()), Some(ErrorKind::UNAVAILABLE), "P10.5");
    assert_eq!(kind(allocate_bytes(&one, 1)), Some(ErrorKind::UNAVAILABLE), "P10.5");
    if let Some(function) = plugin.function.and_then(|name| first.function(name)) {
        assert_eq!(kind(function.call(first.reference(), &[])), Some(ErrorKind::UNAVAILABLE), "P10.5");
    }
    assert_eq!(two.count().expect("the other host goes on"), 1);
    other.shutdown().expect("shutdown");
}
