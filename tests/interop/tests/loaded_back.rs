//! Libraries that others made for TVM-FFI, opened by a host (LIB-8, LIB-9, LIB-12 of
//! `host/src/library`): by real TVM, and with the C++ headers of apache-tvm-ffi.
//!
//! Each test is a process of its own (as nextest runs them): a process has at most one libtvm_ffi.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use chipdock_host::{AnyView, ErrorKind, Host, Module, Tensor};
use chipdock_test_interop::tvm::{Tvm, host, ran};

/// A kernel with a parallel loop that needs workspace, of real TVM's target llvm; and one of its
/// target c.
const EXPORTS: &str = r#"
import sys
import tvm
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class M:
    @T.prim_func(s_tir=True)
    def twice(A: T.Buffer((4096,), "float32"), B: T.Buffer((4096,), "float32")):
        T.func_attr({"global_symbol": "twice"})
        W = T.alloc_buffer((4096,), "float32")
        for i in T.parallel(4096):
            with T.sblock("w"):
                vi = T.axis.spatial(4096, i)
                W[vi] = A[vi] * T.float32(2)
        for i in T.parallel(4096):
            with T.sblock("b"):
                vi = T.axis.spatial(4096, i)
                B[vi] = W[4095 - vi] + T.float32(1)

for target in ["llvm", "c"]:
    tvm.compile(M, target=target).export_library(f"{sys.argv[1]}/tvm-{target}.so")
"#;

/// Functions over the C++ headers, and the same as a kernel that is compiled here.
const CPP: &str = r#"
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>
static void twice(tvm::ffi::TensorView a, tvm::ffi::TensorView b) {
  if (a.size(0) != b.size(0)) TVM_FFI_THROW(ValueError) << "expected " << a.size(0) << " elements, found " << b.size(0);
  for (int64_t i = 0; i < a.size(0); ++i) static_cast<float*>(b.data_ptr())[i] = 2 * static_cast<float*>(a.data_ptr())[i];
}
static int64_t add(int64_t a, int64_t b) { return a + b; }
static tvm::ffi::String own_name() { return "a string of more than seven bytes"; }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(twice, twice)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(add, add)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, own_name)
"#;

fn linked(tvm: &Tvm, folder: &Path) -> PathBuf {
    tvm.library_of(folder, "functions", CPP, &[])
}

fn twice(host: &Host, module: &Module, count: i64) -> Result<Vec<f32>, chipdock_host::Error> {
    let device = host.device("cpu", 0)?;
    let values: Vec<f32> = (0..count).map(|index| index as f32).collect();
    let a = Tensor::from_slice(&device, &[count], &values)?;
    let b = Tensor::zeros(&device, &[count], a.dtype())?;
    module.function("twice")?.call(&[AnyView::from(&a), AnyView::from(&b)])?;
    b.to_vec::<f32>()
}

/// LIB-9, LIB-12: its workspace and its parallel loops are the host's; an error of its checks is
/// the host's.
#[test]
fn a_library_of_tvm_computes_on_the_hosts_threads() {
    let Some(tvm) = Tvm::found() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    // A file: TVMScript reads its own source.
    let script = folder.path().join("exports.py");
    std::fs::write(&script, EXPORTS).expect("written");
    ran(Command::new(&tvm.python).arg(&script).arg(folder.path()));
    let host = host(Some(&tvm.library));
    let module = host.open(&folder.path().join("tvm-llvm.so")).expect("opened");
    let before = threads();
    let expected: Vec<f32> = (0..4096).map(|index| (4095 - index) as f32 * 2.0 + 1.0).collect();
    assert!(twice(&host, &module, 4096).expect("computed") == expected);
    assert_eq!(threads() - before, 2, "the host has three threads, one of them this");
    let error = twice(&host, &module, 4095).expect_err("another shape");
    assert!(error.to_string().contains("4096"), "{error}");
    assert_eq!(*error.kind(), ErrorKind::Value, "{error}");
    assert!(twice(&host, &module, 4096).expect("usable after it") == expected);
    // Its target c calls TVM's run time by symbols, and has no parallel loops.
    let module = host.open(&folder.path().join("tvm-c.so")).expect("opened");
    assert!(twice(&host, &module, 4096).expect("computed") == expected);
    let error = twice(&host, &module, 4095).expect_err("another shape");
    assert!(*error.kind() == ErrorKind::Value && error.to_string().contains("4096"), "{error}");
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("threads").count()
}

/// LIB-9: values and errors of C++ code arrive as they are; the process has one libtvm_ffi,
/// whatever is asked for later.
#[test]
fn a_library_of_the_cpp_headers_is_called_with_the_one_libtvm_ffi() {
    let Some(tvm) = Tvm::found() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let library = linked(&tvm, folder.path());
    let host = host(Some(&tvm.library));
    let module = host.open(&library).expect("opened");
    assert_eq!(twice(&host, &module, 3).expect("computed"), [0.0, 2.0, 4.0]);
    let sum = module.function("add").expect("there").call(&[AnyView::from(2_i64), AnyView::from(40_i64)]);
    assert_eq!(sum.expect("a sum").to::<i64>().expect("an integer"), 42);
    let name = module.function("name").expect("there").call(&[]).expect("a string");
    assert_eq!(name.to::<String>().expect("text"), "a string of more than seven bytes");
    let error = module.function("add").expect("there").call(&[AnyView::from(2_i64)]).expect_err("too few");
    assert_eq!(*error.kind(), ErrorKind::Type, "{error}");
    let device = host.device("cpu", 0).expect("the cpu");
    let [a, b] =
        [4, 5].map(|count| Tensor::zeros(&device, &[count], chipdock_ir::DType::FLOAT32).expect("a tensor"));
    let error = module
        .function("twice")
        .expect("there")
        .call(&[AnyView::from(&a), AnyView::from(&b)])
        .expect_err("sizes");
    assert_eq!(
        (error.kind(), error.message()),
        (&ErrorKind::Value, "function \"twice\" says: expected 4 elements, found 5")
    );

    let second = folder.path().join("libtvm_ffi.so");
    std::fs::copy(&tvm.library, &second).expect("a copy");
    let other = chipdock_test_interop::tvm::host(Some(&second));
    let again = other.open(&library).expect("opened by another host");
    assert_eq!(twice(&other, &again, 2).expect("computed"), [0.0, 2.0]);
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the maps");
    let mut files: Vec<&str> = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).collect();
    files.retain(|file| file.ends_with("libtvm_ffi.so"));
    files.dedup();
    assert_eq!(files.len(), 1, "{files:?}");
    drop(name);
}

/// LIB-9: without one the error says what needs it and what to do, and the next call tries again.
#[test]
fn without_libtvm_ffi_the_error_says_what_to_do() {
    let Some(tvm) = Tvm::found() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let library = linked(&tvm, folder.path());
    for (named, says) in [
        (None, "tried libtvm_ffi.so"),
        (Some(Path::new("/nonexistent/libtvm_ffi.so")), "/nonexistent/libtvm_ffi.so"),
        (Some(Path::new("libtvm_ffi.so")), "an absolute path"),
    ] {
        let error = host(named).open(&library).expect_err("there is none");
        let shown = format!("{error} {}", error.advice());
        assert!(shown.contains(says), "{shown}");
    }
    let host = host(Some(&tvm.library));
    let module = host.open(&library).expect("found now");
    assert_eq!(twice(&host, &module, 2).expect("computed"), [0.0, 2.0]);
}

/// LIB-9: tasks that wait for each other get threads of their own.
#[test]
fn tasks_with_a_barrier_run_at_once() {
    let Some(tvm) = Tvm::found() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (source, library) = (folder.path().join("barrier.c"), folder.path().join("barrier.so"));
    let text = r#"
#include <stdint.h>
typedef struct { void *sync; int32_t count; } Group;
typedef struct { int32_t type; uint32_t zero; int64_t value; } Any;
typedef int (*Lambda)(int, Group *, void *);
int (*__TVMBackendParallelLaunch)(Lambda, void *, int) = 0;
int (*__TVMBackendParallelBarrier)(int, Group *) = 0;
static int task(int id, Group *group, void *data) {
    int64_t *there = data;
    __atomic_add_fetch(&there[0], 1, __ATOMIC_SEQ_CST);
    if (__TVMBackendParallelBarrier(id, group)) return -1;
    // Everybody was there before anybody goes on.
    if (__atomic_load_n(&there[0], __ATOMIC_SEQ_CST) == group->count) __atomic_add_fetch(&there[1], 1, __ATOMIC_SEQ_CST);
    return 0;
}
int __tvm_ffi_meet(void *self, const Any *args, int32_t n, Any *result) {
    int64_t there[2] = {0, 0};
    if (__TVMBackendParallelLaunch(task, there, 0)) return -1;
    result->type = 1;
    result->value = there[0] * 100 + there[1];
    return 0;
}
"#;
    std::fs::write(&source, text).expect("written");
    ran(Command::new("cc").args(["-shared", "-fPIC", "-w", "-o"]).arg(&library).arg(&source));
    let module = host(Some(&tvm.library)).open(&library).expect("opened");
    let started = Instant::now();
    let met = module.function("meet").expect("there").call(&[]).expect("met");
    assert_eq!(met.to::<i64>().expect("numbers"), 303, "three came, and all three saw three");
    assert!(started.elapsed().as_secs() < 60);
}
