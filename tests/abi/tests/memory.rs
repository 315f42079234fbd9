//! Kinds of memory as users have them (MEMORY-K1 to MEMORY-K9 of the host): the reference plugin,
//! and OpenCL and Vulkan where they run.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chipdock_host::{
    CompileOptions, Device, ErrorKind, Function, Host, HostOptions, MemoryKind, MemoryOptions, Tensor,
};
use chipdock_ir::DType;
use chipdock_test_support::plugins::build;
use serde_json::json;

const ADD_ONE: &str = r#"
@T.prim_func(s_tir=True)
def add_one(A: T.Buffer(("n",), "int32")):
    n = T.int32()
    for i in range(n):
        with T.sblock("A"):
            vi = T.axis.spatial(n, i)
            A[vi] = A[vi] + 1
"#;

const PACKAGES: [&str; 4] =
    ["chipdock-reference-plugin", "chipdock-plugin-opencl", "chipdock-plugin-vulkan", "chipdock-plugin-c"];

fn plugin_paths() -> &'static [std::path::PathBuf] {
    static PATHS: OnceLock<Vec<std::path::PathBuf>> = OnceLock::new();
    PATHS.get_or_init(|| build(&PACKAGES))
}

fn host() -> Host {
    Host::new(HostOptions { plugin_paths: plugin_paths().to_vec(), ..HostOptions::isolated() }).unwrap()
}

/// The first device of each of these that is here; that of the reference plugin always is.
fn devices(host: &Host) -> Vec<Device> {
    let mut found = vec![host.device("reference", 0).unwrap()];
    for name in ["opencl", "vulkan"] {
        match host.device(name, 0) {
            Ok(device) => found.push(device),
            Err(error) => chipdock_test_support::setup::missing(&format!("a device of {name}: {error}")),
        }
    }
    found
}

fn of(kind: MemoryKind) -> MemoryOptions {
    MemoryOptions { kind, ..MemoryOptions::default() }
}

fn kinds(device: &Device) -> Vec<MemoryKind> {
    device.capabilities().unwrap().memory.iter().map(|memory| memory.kind).collect()
}

/// A kernel for a device, and the module's text compiled for it.
fn add_one(host: &Host, device: &Device) -> Option<Function> {
    let kind = match device.name() {
        "opencl" => "opencl",
        "vulkan" => "vulkan",
        _ => return None,
    };
    let module = chipdock_script::parse(ADD_ONE, "add_one.py").unwrap();
    let target = host.target(&*json!({"kind": kind, "host": "c"}).to_string()).unwrap();
    let compiled = host.compile(&module, &target, &CompileOptions::default()).unwrap();
    Some(host.load(&compiled.artifact).unwrap().function("add_one").unwrap())
}

fn numbers(count: i32) -> Vec<u8> {
    (0..count).flat_map(i32::to_ne_bytes).collect()
}

/// MEMORY-K1, MEMORY-K3, MEMORY-K7: each kind holds what was written, says what it is, and has an
/// address where the boundary promises one.
#[test]
fn memory_k3_each_kind_holds_what_was_written() {
    let host = host();
    for device in devices(&host) {
        let here = kinds(&device);
        println!("{device:?} has {here:?}");
        assert!(here.contains(&MemoryKind::Device) && here.len() > 2, "{here:?}");
        for kind in here {
            let tensor = Tensor::empty_in(&device, &[3, 100], DType::INT32, &of(kind)).unwrap();
            let bytes = numbers(300);
            tensor.copy_from_bytes(&bytes).unwrap();
            assert_eq!(tensor.to_bytes().unwrap(), bytes, "{device:?} {kind}");
            assert_eq!((tensor.memory_kind(), tensor.scope().as_deref()), (Some(kind), Some("global")));
            let is_pinned = kind == MemoryKind::Pinned;
            assert_eq!(tensor.device().name(), if is_pinned { "cpu" } else { device.name() });
            assert_eq!(tensor.host_address().unwrap().is_some(), kind != MemoryKind::Device, "{kind}");
            // A view and a value of it are the same memory.
            let row = tensor.slice(0, 1, 1).unwrap();
            assert_eq!(row.memory_kind(), Some(kind));
            assert_eq!(row.to_bytes().unwrap(), bytes[400..800]);
            let value = Tensor::from_value(&host, tensor.to_value().unwrap()).unwrap();
            assert_eq!(
                (value.memory_kind(), value.host_address().unwrap()),
                (Some(kind), tensor.host_address().unwrap())
            );
            if let (Some(whole), Some(part)) = (tensor.host_address().unwrap(), row.host_address().unwrap()) {
                assert_eq!(part.as_ptr().addr() - whole.as_ptr().addr(), 400);
            }
        }
        let nothing = Tensor::empty_in(&device, &[0], DType::INT32, &of(MemoryKind::Pinned)).unwrap();
        assert!(nothing.to_bytes().unwrap().is_empty() && nothing.map().unwrap().size_bytes() == 0);
    }
}

/// MEMORY-K7: of memory that others allocated nothing is known.
#[test]
fn memory_k7_foreign_memory_has_no_kind() {
    let host = host();
    let foreign = chipdock_plugin_api::Tensor::from_slice(&[2], &[1_i32, 2]).unwrap();
    let foreign = Tensor::from_value(&host, foreign).unwrap();
    assert_eq!((foreign.memory_kind(), foreign.scope()), (None, None));
    assert!(foreign.host_address().unwrap().is_some(), "host memory has its address");
    let own = Tensor::zeros(&host.device("cpu", 0).unwrap(), &[2], DType::INT32).unwrap();
    assert_eq!(own.memory_kind(), Some(MemoryKind::Device));
}

/// MEMORY-K2, D.4, D.9, D.23: alignments are kept or refused, and so are scopes and kinds.
#[test]
fn memory_k2_nothing_is_substituted() {
    let host = host();
    for device in devices(&host) {
        for kind in kinds(&device) {
            for alignment_bytes in [1, 64, 256, 4096] {
                let options = MemoryOptions { alignment_bytes, ..of(kind) };
                match Tensor::empty_in(&device, &[7], DType::INT64, &options) {
                    Ok(tensor) => {
                        if let Some(address) = tensor.host_address().unwrap() {
                            assert_eq!(address.as_ptr().addr() as u64 % alignment_bytes.max(64), 0);
                        }
                        tensor.copy_from_bytes(&[1; 56]).unwrap();
                        assert_eq!(tensor.to_bytes().unwrap(), [1; 56]);
                    }
                    Err(error) => {
                        assert_eq!(*error.kind(), ErrorKind::Unsupported, "{error}");
                        assert!(alignment_bytes > 64, "D.24: {error}");
                    }
                }
            }
            let error = refused(&device, MemoryOptions { scope: "nobody.knows".to_owned(), ..of(kind) });
            assert_eq!(*error.kind(), ErrorKind::Unsupported);
            let advice = format!("{device:?} has memory of these kinds and scopes: device (global)");
            assert!(error.advice().starts_with(&advice), "{}", error.advice());
            let error = refused(&device, MemoryOptions { alignment_bytes: 48, ..of(kind) });
            assert_eq!(*error.kind(), ErrorKind::Value);
        }
    }
    // The plain template of a plugin has kind 0 alone.
    let error = "paged".parse::<MemoryKind>().unwrap_err();
    assert!(error.to_string().contains("device, pinned, host-visible, unified"), "{error}");
}

fn refused(device: &Device, options: MemoryOptions) -> chipdock_host::Error {
    Tensor::empty_in(device, &[7], DType::INT64, &options).unwrap_err()
}

/// MEMORY-K8: a mapping sees what a kernel that was queued before wrote, and a kernel that is
/// queued later sees what was written in place.
#[test]
fn memory_k8_a_mapping_comes_after_the_queued_work() {
    const COUNT: i64 = 1 << 16;
    let host = host();
    for device in devices(&host) {
        let Some(kernel) = add_one(&host, &device) else { continue };
        for kind in kinds(&device) {
            if !matches!(kind, MemoryKind::HostVisible | MemoryKind::Unified) {
                continue;
            }
            let tensor = Tensor::empty_in(&device, &[COUNT], DType::INT32, &of(kind)).unwrap();
            let stream = device.create_stream().unwrap();
            let _current = stream.enter().unwrap();
            {
                let mut mapped = tensor.map_mut().unwrap();
                assert!(mapped.is_writable() && mapped.size_bytes() == 4 << 16);
                // SAFETY: nothing is queued that uses the tensor.
                unsafe { mapped.as_bytes_mut() }.unwrap().copy_from_slice(&numbers(1 << 16));
            }
            for _ in 0..20 {
                kernel.call(&[(&tensor).into()]).unwrap();
            }
            let mapped = tensor.map().unwrap();
            // SAFETY: nothing is queued after the mapping.
            let bytes = unsafe { mapped.as_bytes() };
            let found: Vec<i32> =
                bytes.chunks_exact(4).map(|four| i32::from_ne_bytes(four.try_into().unwrap())).collect();
            let expected: Vec<i32> = (20..20 + (1 << 16)).collect();
            assert!(found == expected, "{device:?} {kind}");
        }
    }
}

/// MEMORY-K8: what cannot be mapped says why.
#[test]
fn memory_k8_what_is_not_reached_is_refused() {
    let host = host();
    for device in devices(&host) {
        let plain = Tensor::empty(&device, &[4], DType::INT32).unwrap();
        let error = plain.map().unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("which are in device memory"), "{error}");
        let pinned = Tensor::empty_in(&device, &[4, 4], DType::INT32, &of(MemoryKind::Pinned)).unwrap();
        assert_eq!(*pinned.slice(1, 0, 2).unwrap().map().unwrap_err().kind(), ErrorKind::Value);
        let first = pinned.map().unwrap();
        let _second = pinned.map().unwrap();
        assert_eq!(*pinned.map_mut().unwrap_err().kind(), ErrorKind::WrongState);
        drop(first);
        assert_eq!(*pinned.map_mut().unwrap_err().kind(), ErrorKind::WrongState, "one is left");
    }
}

/// MEMORY-K8, HOST-W6: another thread's read waits for the mapping; this thread's does not.
#[test]
fn memory_k8_other_threads_wait_for_a_mapping() {
    let host = host();
    let device = host.device("reference", 0).unwrap();
    let tensor = Tensor::empty_in(&device, &[100], DType::INT32, &of(MemoryKind::HostVisible)).unwrap();
    tensor.copy_from_bytes(&[0; 400]).unwrap();
    let is_written = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut mapped = tensor.map_mut().unwrap();
        let reader = scope.spawn(|| {
            let bytes = tensor.to_bytes().unwrap();
            (is_written.load(Ordering::SeqCst), bytes)
        });
        std::thread::sleep(Duration::from_millis(100));
        // SAFETY: nothing is queued, and the reader waits.
        unsafe { mapped.as_bytes_mut() }.unwrap().fill(7);
        assert_eq!(tensor.to_bytes().unwrap(), [7; 400], "its own thread goes on");
        is_written.store(true, Ordering::SeqCst);
        drop(mapped);
        assert_eq!(reader.join().unwrap(), (true, vec![7; 400]));
    });
    // Readers do not wait for readers.
    let _mapped = tensor.map().unwrap();
    std::thread::scope(|scope| scope.spawn(|| tensor.map().unwrap().size_bytes()).join().unwrap());
}

/// MEMORY-K3: a pinned tensor is host memory to every function, and is copied directly.
#[test]
fn memory_k3_pinned_memory_is_host_memory() {
    let host = host();
    let module = chipdock_script::parse(ADD_ONE, "add_one.py").unwrap();
    let target = host.target(r#"{"kind": "c"}"#).unwrap();
    let compiled = host.compile(&module, &target, &CompileOptions::default()).unwrap();
    let on_host = host.load(&compiled.artifact).unwrap().function("add_one").unwrap();
    for device in devices(&host) {
        let pinned = Tensor::empty_in(&device, &[5], DType::INT32, &of(MemoryKind::Pinned)).unwrap();
        pinned.copy_from_bytes(&numbers(5)).unwrap();
        on_host.call(&[(&pinned).into()]).unwrap();
        let there = pinned.to_device(&device).unwrap();
        assert_eq!(there.to_vec::<i32>().unwrap(), [1, 2, 3, 4, 5], "{device:?}");
        if let Some(kernel) = add_one(&host, &device) {
            kernel.call(&[(&there).into()]).unwrap();
            pinned.copy_from(&there).unwrap();
            assert_eq!(pinned.to_vec::<i32>().unwrap(), [2, 3, 4, 5, 6]);
        }
        // It keeps its device and its host.
        let plain = host.device("cpu", 0).unwrap();
        assert_eq!(pinned.to_device(&plain).unwrap().to_bytes().unwrap(), pinned.to_bytes().unwrap());
    }
}

/// MEMORY-K9: copies between kinds of devices, with an address at either end and at none.
#[test]
fn memory_k9_kinds_of_devices_copy_to_each_other() {
    let host = host();
    let all = devices(&host);
    for (from, to) in all.iter().flat_map(|from| all.iter().map(move |to| (from, to))) {
        for (kind, other) in
            kinds(from).into_iter().flat_map(|kind| kinds(to).into_iter().map(move |to| (kind, to)))
        {
            let source = Tensor::empty_in(from, &[300], DType::INT32, &of(kind)).unwrap();
            source.copy_from_bytes(&numbers(300)).unwrap();
            let target = Tensor::empty_in(to, &[300], DType::INT32, &of(other)).unwrap();
            target.copy_from(&source).unwrap();
            assert_eq!(target.to_bytes().unwrap(), numbers(300), "{from:?} {kind} to {to:?} {other}");
        }
    }
}

/// MEMORY-K4: memory that is freed while work uses it keeps its bytes until that work is done, and
/// its next owner comes after it.
#[test]
fn memory_k4_memory_is_freed_while_work_uses_it() {
    const COUNT: i64 = 1 << 18;
    let host = host();
    for device in devices(&host) {
        let Some(kernel) = add_one(&host, &device) else { continue };
        for kind in kinds(&device).into_iter().filter(|kind| *kind != MemoryKind::Pinned) {
            let stream = device.create_stream().unwrap();
            let mut first = None;
            for round in 0..20 {
                let tensor = Tensor::empty_in(&device, &[COUNT], DType::INT32, &of(kind)).unwrap();
                let data = tensor.data_ptr().addr();
                let again = *first.get_or_insert(data) == data;
                assert!(again || kind == MemoryKind::Device, "{device:?} {kind}: it is not cached");
                tensor.copy_from_bytes(&vec![round; 4 << 18]).unwrap();
                let _current = stream.enter().unwrap();
                kernel.call(&[(&tensor).into()]).unwrap();
                // Freed at once; the next one is written by the host without an order of streams.
            }
            let tensor = Tensor::empty_in(&device, &[COUNT], DType::INT32, &of(kind)).unwrap();
            tensor.copy_from_bytes(&vec![0; 4 << 18]).unwrap();
            device.sync().unwrap();
            assert!(tensor.to_bytes().unwrap().iter().all(|byte| *byte == 0), "{device:?} {kind}");
        }
    }
}

/// MEMORY-K5: what is cached goes back to the device.
#[test]
fn memory_k5_trimming_returns_memory() {
    let host = host();
    let device = host.device("reference", 0).unwrap();
    let free = || device.attribute("available_global_memory_bytes").unwrap().unwrap().as_i64().unwrap();
    let before = free();
    for kind in [MemoryKind::Pinned, MemoryKind::HostVisible, MemoryKind::Unified] {
        drop(Tensor::empty_in(&device, &[1 << 20], DType::INT32, &of(kind)).unwrap());
    }
    assert_eq!(before - free(), 3 * (4 << 20), "cached");
    device.trim().unwrap();
    assert_eq!(free(), before);
    // A device without memory left is trimmed, and asked once more.
    let half = 1 << 25;
    drop(Tensor::empty_in(&device, &[half], DType::INT32, &of(MemoryKind::Pinned)).unwrap());
    let whole = Tensor::empty_in(&device, &[2 * half], DType::INT32, &of(MemoryKind::Unified)).unwrap();
    let error = refused(&device, of(MemoryKind::Unified));
    assert_eq!(*error.kind(), ErrorKind::OutOfMemory);
    drop(whole);
}

/// HOST-W4: a child of `fork` is refused, and ends without the parent's memory.
#[test]
fn memory_a_forked_child_is_refused() {
    let host = host();
    let device = host.device("reference", 0).unwrap();
    let tensor = Tensor::empty_in(&device, &[100], DType::INT32, &of(MemoryKind::HostVisible)).unwrap();
    // SAFETY: the child calls nothing but the checks under test and `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = tensor.map().is_err_and(|error| *error.kind() == ErrorKind::WrongState)
            && tensor.host_address().is_err()
            && tensor.memory_kind().is_none()
            && Tensor::empty_in(&device, &[1], DType::INT32, &of(MemoryKind::Pinned)).is_err();
        drop(tensor);
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!refused)) };
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(status, 0, "the child saw another answer");
    assert!(tensor.map().is_ok(), "the parent goes on");
}

/// What a device can do is what it does.
#[test]
fn capabilities_are_what_a_device_has() {
    let host = host();
    let found = host.device("reference", 0).unwrap().capabilities().unwrap();
    assert_eq!(found.memory.iter().map(|memory| memory.kind).collect::<Vec<_>>(), MemoryKind::ALL);
    assert!(found.memory.iter().all(|memory| memory.scopes == ["global"]));
    assert!(found.streams && found.checked_handles);
    for interface in ["external/1", "map/1", "reset/1", "timer/1"] {
        assert!(found.interfaces.iter().any(|have| have == interface), "{:?}", found.interfaces);
    }
    let cpu = host.device("cpu", 0).unwrap().capabilities().unwrap().to_json();
    assert_eq!(cpu["memory"].as_array().unwrap().len(), 4, "all kinds are one there");
    assert_eq!((&cpu["streams"], &cpu["checked_handles"]), (&json!(false), &json!(false)));
}
