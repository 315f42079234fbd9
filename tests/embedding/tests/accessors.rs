//! The accessors of tensors, under the names of each language: one table, evaluated in all of them.

use std::fmt::Write as _;
use std::process::Command;

use chipdock_host::{Host, HostOptions, Tensor};
use chipdock_test_embedding::{program, run};
use chipdock_test_interop::environment::environment;
use chipdock_test_support::command::{Scratch, built};
use chipdock_test_support::workspace;

/// TVM-FFI's name; the same in Rust, as a number; in C++; in Python. The tensor `t` is a part of a
/// compact one `whole`: every other row, without its first element.
type Row = (&'static str, fn(&Tensor, &Tensor) -> i64, &'static str, &'static str);

/// Returns a number of bytes or elements as what the other languages print.
fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap()
}

const ROWS: &[Row] = &[
    (
        "data_ptr",
        |t, _| number((t.data_ptr().addr() as u64 + t.byte_offset()) % 64),
        "(reinterpret_cast<uintptr_t>(t.data_ptr()) + t.byte_offset()) % 64",
        "t.data_ptr() % 64",
    ),
    ("byte_offset", |_, whole| number(whole.byte_offset()), "whole.byte_offset()", "whole.byte_offset"),
    (
        "device",
        |t, _| i64::from(t.device().number().device_type),
        "t.device().device_type",
        "t.device.dlpack_device_type()",
    ),
    ("dtype", |t, _| i64::from(t.dtype().bits), "t.dtype().bits", "int(str(t.dtype)[-2:])"),
    ("ndim", |t, _| number(t.ndim() as u64), "t.ndim()", "t.ndim"),
    ("dim", |t, _| number(t.ndim() as u64), "t.dim()", "t.ndim"),
    ("shape", |t, _| t.shape()[1], "t.shape()[1]", "t.shape[1]"),
    ("sizes", |t, _| t.shape()[0], "t.sizes()[0]", "t.shape[0]"),
    ("size", |t, _| t.size(-1).unwrap(), "t.size(-1)", "t.size(-1)"),
    (
        "size beyond",
        |t, _| i64::from(t.size(2).is_err()),
        "fails([&] { t.size(2); })",
        "fails(lambda: t.size(2))",
    ),
    ("strides", |t, _| t.strides()[0], "t.strides()[0]", "t.strides[0]"),
    ("stride", |t, _| t.stride(-2).unwrap(), "t.stride(-2)", "t.stride(-2)"),
    (
        "stride beyond",
        |t, _| i64::from(t.stride(-3).is_err()),
        "fails([&] { t.stride(-3); })",
        "fails(lambda: t.stride(-3))",
    ),
    ("numel", |t, _| number(t.numel()), "t.numel()", "t.numel()"),
    ("is_contiguous", |t, _| i64::from(t.is_compact()), "t.is_contiguous()", "t.is_contiguous()"),
    (
        "IsContiguous",
        |_, whole| i64::from(whole.is_compact()),
        "whole.IsContiguous()",
        "whole.is_contiguous()",
    ),
    ("IsAligned", |t, _| i64::from(t.is_aligned(4)), "t.IsAligned(4)", "t.is_aligned(4)"),
    ("is_aligned", |t, _| i64::from(t.is_aligned(8)), "t.is_aligned(8)", "t.is_aligned(8)"),
    ("is_aligned to nothing", |t, _| i64::from(t.is_aligned(0)), "t.is_aligned(0)", "t.is_aligned(0)"),
    (
        "as_strided",
        |t, _| t.strided(&[1], &[1], 1).unwrap().to_vec::<f32>().unwrap()[0] as i64,
        "static_cast<int64_t>(*reinterpret_cast<float *>(static_cast<char *>(t.as_strided({1}, {1}, 1).data_ptr()) + \
         t.as_strided({1}, {1}, 1).byte_offset()))",
        "t.as_strided([1], [1], 1).numpy()[0]",
    ),
    (
        "as_strided beyond",
        |t, _| i64::from(t.strided(&[9], &[9], 0).is_err()),
        "fails([&] { t.as_strided({9}, {9}); })",
        "fails(lambda: t.as_strided([9], [9]))",
    ),
];

/// The elements of the whole tensor, of 4 rows.
const ELEMENTS: [f32; 12] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0];

fn lines(values: impl IntoIterator<Item = i64>) -> String {
    ROWS.iter().zip(values).map(|((name, ..), value)| format!("{name}: {value}\n")).collect()
}

fn in_rust() -> String {
    let host = Host::new(HostOptions::isolated()).unwrap();
    let whole = Tensor::from_slice(&host.device("cpu", 0).unwrap(), &[4, 3], &ELEMENTS).unwrap();
    let t = whole.strided(&[2, 2], &[6, 1], 1).unwrap();
    lines(ROWS.iter().map(|(_, value, ..)| value(&t, &whole)))
}

fn in_cpp() -> String {
    let folder = Scratch::new();
    let mut text = String::from(
        "#include <chipdock_host.h>\n#include <cstdio>\ntemplate <typename Call>\nstatic bool fails(Call call) {\n  try {\n    \
         call();\n  } catch (const chipdock::Error &error) {\n    return error.kind() == \"IndexError\";\n  }\n  return false;\n}\n\
         int main() {\n  const chipdock::Host host(\"{\\\"isolated\\\": true}\");\n  std::vector<float> elements;\n  for (int i = 0; i < \
         12; i++) elements.push_back(static_cast<float>(i));\n  const chipdock::Tensor whole = host.tensor<float>(elements, {4, 3}, \
         \"cpu:0\");\n  const chipdock::Tensor t = whole.as_strided({2, 2}, {6, 1}, 1);\n",
    );
    for (name, _, value, _) in ROWS {
        let _ = writeln!(text, "  std::printf(\"{name}: %lld\\n\", static_cast<long long>({value}));");
    }
    text.push_str("  return 0;\n}\n");
    let source = folder.path("accessors.cpp");
    std::fs::write(&source, text).unwrap();
    let output = run(&mut Command::new(program(&folder, "c++", "c++11", &source)));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn python_program() -> String {
    let mut text = String::from(
        "import numpy, chipdock\ndef fails(call):\n    try:\n        call()\n    except IndexError:\n        return True\n    return \
         False\nwhole = chipdock.from_dlpack(numpy.arange(12, dtype='float32').reshape(4, 3))\n\
         whole = chipdock.empty((4, 3)).copy_from(whole)\nt = whole.as_strided([2, 2], [6, 1], 1)\n",
    );
    for (name, _, _, value) in ROWS {
        let _ = writeln!(text, "print('{name}:', int({value}))");
    }
    text
}

#[test]
fn a_tensor_has_the_accessors_of_tvm_ffi_in_each_language() {
    let expected = in_rust();
    assert!(expected.contains("size: 2\n") && expected.contains("as_strided: 2\n"), "{expected}");
    assert_eq!(in_cpp(), expected);
    let Some(environment) = environment("accessors of tensors in Python") else { return };
    let folder = Scratch::new();
    let (first, last) = (environment.releases.first(), environment.releases.last());
    for release in first.into_iter().chain(last) {
        let package = format!(
            "{}:{}",
            environment.folder.join(release).display(),
            workspace().join("python").display()
        );
        let mut command = Command::new(&environment.python);
        command.args(["-c", &python_program()]).env("PYTHONPATH", package);
        command.env("CHIPDOCK_LIBRARY", built().library()).env("TVM_FFI_CACHE_DIR", folder.path("cache"));
        let output = run(command.env("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{release}: {said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{release}");
    }
}
