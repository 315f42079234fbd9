//! Tests of the names of loaded code, as this process publishes them: rules LLNAME-J1 to LLNAME-J3.

use chipdock_plugin_api::HostRef;

use super::super::jit::Jit;
use super::super::library;
use super::super::tests::{ADD, object_of};
use super::*;

/// Two functions, of which the second is called by nobody else's name.
const TWO: &str = r"
define void @outer(ptr %x) {
  call void @inner(ptr %x)
  ret void
}
define internal void @inner(ptr %x) noinline {
  store i32 7, ptr %x
  ret void
}
";

fn load(ir: &str, symbol: &str, perf: bool, gdb: bool) -> Jit {
    let naming = Naming { host: HostRef::standalone(), perf, gdb };
    Jit::load(library().unwrap(), &object_of(ir), &[symbol], ptr::null(), naming).unwrap()
}

fn lines_of_map() -> Vec<(usize, usize, String)> {
    let text = std::fs::read_to_string(perf_map()).unwrap_or_default();
    let number = |text: &str| usize::from_str_radix(text, 16).unwrap();
    let parts = text.lines().map(|line| line.splitn(3, ' ').collect::<Vec<_>>());
    parts.map(|parts| (number(parts[0]), number(parts[1]), parts[2].to_owned())).collect()
}

/// Whether all of these addresses are code of this process.
fn is_code(begin: usize, size_bytes: usize) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|rights| rights.contains('x'))).any(
        |line| {
            let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
            let [from, to] = [from, to].map(|text| usize::from_str_radix(text, 16).unwrap());
            from <= begin && begin + size_bytes <= to
        },
    )
}

/// What gdb would see: the objects in its list.
fn objects() -> Vec<Vec<u8>> {
    let debugger = Debugger::find(library().unwrap()).unwrap();
    let _list = lock(LIST.of_this());
    let mut found = Vec::new();
    // SAFETY: the list is read under its lock.
    unsafe {
        let mut next = (*debugger.descriptor).first;
        while let Some(entry) = next.as_ref() {
            found.push(core::slice::from_raw_parts(entry.object, entry.size_bytes as usize).to_vec());
            next = entry.next;
        }
    }
    found
}

/// LLNAME-J1, LLNAME-J2: in one test, as the process has one map and one list.
#[test]
fn llname_j1_j2_code_is_named_where_it_is_asked_for() {
    let _ = std::fs::remove_file(perf_map());
    let quiet = load(ADD, "add", false, false);
    assert!(
        !std::path::Path::new(&perf_map()).exists() && objects().is_empty(),
        "off unless it is asked for"
    );
    drop(quiet);

    let two = load(TWO, "outer", true, true);
    let lines = lines_of_map();
    let names: Vec<&str> = lines.iter().map(|(_, _, name)| name.as_str()).collect();
    assert!(names.len() == 2 && names.contains(&"outer") && names.contains(&"inner"), "{lines:?}");
    for (begin, size_bytes, name) in &lines {
        assert!(*size_bytes > 0 && is_code(*begin, *size_bytes), "{name}: {lines:x?}");
        if name == "outer" {
            assert_eq!(Some(*begin), two.address("outer"));
        }
    }
    let of_inner = lines.iter().find(|(_, _, name)| name == "inner").unwrap();
    // The bytes there are those of the object.
    let object = object_of(TWO);
    let functions = object::functions(&object);
    let inner = functions.iter().find(|function| function.name == "inner").unwrap();
    // SAFETY: code of this process, as checked above.
    let bytes = unsafe { core::slice::from_raw_parts(of_inner.0 as *const u8, of_inner.1) };
    assert!(object.windows(bytes.len()).any(|window| window == bytes), "{inner:?}");

    let shown = objects();
    assert_eq!(shown.len(), 1);
    let add = load(ADD, "add", true, true);
    assert_eq!((objects().len(), lines_of_map().len()), (2, 3), "added to, not written anew");
    drop(two);
    assert_eq!(objects().len(), 1, "until its module is dropped");
    drop(add);
    assert!(objects().is_empty());
    assert_eq!(std::fs::metadata(perf_map()).unwrap().mode() & 0o777, 0o600);

    // LLNAME-J3: what is not ours is left alone, and code is loaded all the same.
    std::fs::remove_file(perf_map()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("other");
    std::os::unix::fs::symlink(&target, perf_map()).unwrap();
    assert!(load(ADD, "add", true, false).address("add").is_some());
    assert!(!target.exists());
    std::fs::remove_file(perf_map()).unwrap();
}
