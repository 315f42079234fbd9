//! Tests of rules CLOAD-1, how long a library is open, and CLOAD-2, for which processors.

use std::fs;

use chipdock_ir::{DType, ForKind, IrModule, build};
use chipdock_plugin_api::{ErrorKind, HostRef, Module as _};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::support::{built, env, has_compiler, loaded};
use crate::loader::{load, not_opened};

/// The file that is mapped at an address.
fn file_at(address: usize) -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| {
        let (start, rest) = line.split_once('-').unwrap();
        let (end, _) = rest.split_once(' ').unwrap();
        let number = |text| usize::from_str_radix(text, 16).unwrap();
        (number(start)..number(end)).contains(&address)
    })?;
    line.split_once('/').map(|(_, path)| path.to_owned())
}

fn maps_of(file: &str) -> usize {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.contains(file)).count()
}

fn module() -> IrModule {
    let mut f = build::function("f");
    let b = f.buffer("B", [4], DType::INT32);
    f.for_loop("i", 4, ForKind::Serial, |f, i| f.store(&b, [&i], &i * 2));
    build::module([f.finish()])
}

/// No processor that is sold today has `tbm`, which compilers may use for this one of 2012.
#[cfg(target_arch = "x86_64")]
#[test]
fn cload_2_code_for_another_processor_is_refused_by_name() {
    if !has_compiler() {
        return;
    }
    if std::arch::is_x86_feature_detected!("tbm") {
        return chipdock_test_support::skipped("code for another processor: this one has the extension tbm");
    }
    let mut built = built(&module());
    let load = |index: &serde_json::Value| load(HostRef::standalone(), index, &built.source, env());
    let mut index = std::mem::take(&mut built.index);
    index["options"]["march"] = "bdver2".into();
    let error = load(&index).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UNSUPPORTED);
    for says in ["tbm", "this machine's processor", "march"] {
        assert!(error.message().contains(says), "{error}");
    }
    assert!(!error.message().contains("sse3"), "{error}");
    index["options"]["march"] = "x86-64".into();
    load(&index).unwrap();
}

#[test]
fn cload_1_a_library_is_closed_with_the_last_that_needs_it() {
    if !has_compiler() {
        return;
    }
    let module = module();
    for _ in 0..3 {
        let code = loaded(&module);
        let file = file_at(code.address("f").unwrap() as usize).expect("code lies in a file");
        assert!(maps_of(&file) > 1, "{file}");
        let function = code.function("f").unwrap().unwrap();
        drop(code);
        assert!(maps_of(&file) > 1, "a function keeps it: {file}");
        drop(function);
        assert_eq!(maps_of(&file), 0, "{file}");
    }
}

/// CLOAD-1: where no map is left, the error says so, and not that a folder is mounted noexec.
#[test]
fn cload_1_maps_that_are_used_up_are_named() {
    const PAGE_BYTES: usize = 4096;
    let most: usize = fs::read_to_string("/proc/sys/vm/max_map_count").unwrap().trim().parse().unwrap();
    if most > 1 << 20 {
        return chipdock_test_support::skipped("memory maps used up: the limit of this system is too high");
    }
    let message = || {
        // SAFETY: there is no such library.
        let error = unsafe { Library::open(Some("/nonexistent.so"), RTLD_NOW | RTLD_LOCAL) }.unwrap_err();
        not_opened(&error)
    };
    assert!(message().message().contains("noexec"), "{}", message());
    let size_bytes = PAGE_BYTES * most;
    // SAFETY: address space that nobody uses, each page of which gets another protection than its
    // neighbours: a map each.
    let error = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let start = libc::mmap(std::ptr::null_mut(), size_bytes, libc::PROT_NONE, flags, -1, 0);
        assert_ne!(start, libc::MAP_FAILED);
        let split =
            |page: usize| libc::mprotect(start.byte_add(page * PAGE_BYTES), PAGE_BYTES, libc::PROT_READ) == 0;
        let _ = (1..most).step_by(2).all(split);
        // One map less for what the test itself does.
        libc::munmap(start, 3 * PAGE_BYTES);
        let error = message();
        libc::munmap(start, size_bytes);
        error
    };
    assert_eq!(error.kind(), ErrorKind::OUT_OF_MEMORY);
    assert!(error.message().contains("vm.max_map_count") && !error.message().contains("noexec"), "{error}");
}
