//! Tests of rules CLOAD-1, how long a library is open, and CLOAD-2, for which processors.

use std::fs;

use chipdock_ir::{DType, ForKind, IrModule, build};
use chipdock_plugin_api::{ErrorKind, HostRef, Module as _};

use super::support::{built, env, has_compiler, loaded};
use crate::loader::load;

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
    if !has_compiler() || std::arch::is_x86_feature_detected!("tbm") {
        return;
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
