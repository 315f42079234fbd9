//! Tests of compilers: available ones, missing ones, and their options.

use std::os::unix::fs::PermissionsExt as _;

use chipdock_plugin_api::{ErrorKind, HostRef};
use chipdock_test_support::setup::missing;
use chipdock_test_support::skipped;
use serde_json::json;

use super::kernels;
use super::support::written;
use crate::codegen::compile;
use crate::compiler::{Choice, Format, Settings, fingerprint, nvcc, nvrtc};

/// What the environment of this process says.
fn settings() -> Settings {
    Settings::read(HostRef::standalone()).unwrap()
}

/// Every name that was tried, why, and the package.
#[test]
fn without_a_library_the_names_are_reported() {
    let message = nvrtc::search(None, Some("/nonexistent".into())).err();
    if let Some(message) = message {
        for part in ["/nonexistent/nvidia/cu13/lib/libnvrtc.so.13: ", "libnvrtc.so.12: ", "nvidia-cuda-nvrtc"]
        {
            assert!(message.contains(part), "{part} in {message}");
        }
    } else {
        skipped("the words of a missing NVRTC: one is installed in the system");
    }
    let message = nvrtc::search(Some("/nonexistent/libnvrtc.so".into()), None).err().unwrap();
    assert!(message.contains("CHIPDOCK_NVRTC or another source") && !message.contains(".so.13"), "{message}");
    let message = nvrtc::search(Some("libc.so.6".into()), None).err().unwrap();
    assert!(message.contains("libc.so.6: it is no NVRTC") && message.contains("nvrtcVersion"), "{message}");
}

#[test]
fn the_compiler_tells_its_architectures() {
    let Some(known) = crate::compiler::architectures(&settings(), Choice::Nvrtc) else {
        return missing("the list of architectures: no NVRTC");
    };
    assert!(known.compiler.starts_with("NVRTC "), "{known:?}");
    for arch in ["sm_80", "sm_90", "sm_90a"] {
        assert!(known.names.iter().any(|name| name == arch), "{known:?}");
    }
    for arch in known.names.iter().filter(|arch| arch.ends_with('a') || arch.ends_with('f')) {
        let options = json!({ "arch": arch });
        let compiled = compile(
            &settings(),
            &written(&kernels::tiles()).source,
            &options,
            Format::Cubin,
            Choice::Nvrtc,
            &|_| (),
        );
        assert!(compiled.is_ok(), "{arch}: {}", compiled.err().unwrap().message());
    }
}

/// C.35 of the contract.
#[test]
fn a_fingerprint_tells_which_compiler_there_is() {
    assert_eq!(fingerprint(&settings(), Choice::None).as_deref(), Some("none"));
    let Some(known) = crate::compiler::architectures(&settings(), Choice::Nvrtc) else {
        return missing("the fingerprint of a compiler: no NVRTC");
    };
    let found = fingerprint(&settings(), Choice::Auto).unwrap();
    assert!(found.starts_with(&known.compiler) && found.contains("libnvrtc"), "{found}");
    assert_eq!(fingerprint(&settings(), Choice::Nvrtc), Some(found));
}

/// What `options` of an index say reaches the compiler, and shows in what it makes.
#[test]
fn options_reach_the_compiler() {
    let source = "extern \"C\" __global__ void k(float* a, float b) { a[0] = a[0] / b + sinf(a[1]); }\n";
    let ptx = |options: serde_json::Value| {
        compile(&settings(), source, &options, Format::Ptx, Choice::Nvrtc, &|_| ())
            .map(|made| String::from_utf8(made.code).unwrap())
    };
    let exact = match ptx(json!({ "arch": "sm_80" })) {
        Err(error) if error.kind() == ErrorKind::UNAVAILABLE => return missing(&error.message()),
        other => other.unwrap(),
    };
    assert!(
        exact.contains("div.rn.f32") && exact.contains(".target sm_80") && !exact.contains(".ftz"),
        "{exact}"
    );
    assert!(!exact.contains(".loc\t") && !exact.ends_with('\0'), "{exact}");
    let fast = ptx(json!({ "arch": "sm_90", "fast-math": true })).unwrap();
    for part in ["div.approx.ftz.f32", "sin.approx.ftz.f32", ".target sm_90"] {
        assert!(fast.contains(part), "{part} in {fast}");
    }
    assert!(ptx(json!({ "arch": "sm_80", "line-info": true })).unwrap().contains(".loc\t"));
    let cubin =
        compile(&settings(), source, &json!({ "arch": "sm_90a" }), Format::Cubin, Choice::Nvrtc, &|_| ())
            .unwrap();
    assert!(
        cubin.code.starts_with(b"\x7fELF")
            && cubin.format == Format::Cubin
            && cubin.compiler.starts_with("NVRTC")
    );
}

/// What the compiler says of a source that it refuses, and of an architecture that it does not
/// have.
#[test]
fn refusals_carry_the_log() {
    let source = "extern \"C\" __global__ void k(float* a) { a[0] = nobody; }\n";
    let error = compile(&settings(), source, &json!({}), Format::Ptx, Choice::Nvrtc, &|_| ()).err().unwrap();
    if error.kind() == ErrorKind::UNAVAILABLE {
        return missing(&error.message());
    }
    assert_eq!(error.kind(), ErrorKind::INTERNAL);
    for part in ["identifier \"nobody\" is undefined", "kernels.cu(1)", "compute_75", "NVRTC"] {
        assert!(error.message().contains(part), "{part} in {}", error.message());
    }
    let error =
        compile(&settings(), source, &json!({ "arch": "sm_31" }), Format::Ptx, Choice::Nvrtc, &|_| ())
            .err()
            .unwrap();
    assert_eq!(error.kind(), ErrorKind::VALUE_ERROR);
    assert!(
        error.message().contains("'arch' as \"sm_31\"") && error.message().contains("sm_90a"),
        "{error:?}"
    );
}

/// A program in the place of nvcc: what it is asked, and what becomes of its answers.
#[test]
fn nvcc_is_asked_alike() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("nvcc");
    let asked = folder.path().join("asked");
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'release 99.1, V99.1.0'; exit 0; fi\n\
         if [ \"$1\" = --list-gpu-code ]; then echo sm_80; echo sm_90a; exit 0; fi\necho \"$@\" > {}\n\
         for last; do :; done\nif grep -q broken \"$last\"; then echo \"$last(1): error: broken\" >&2; exit 2; fi\n\
         while [ \"$1\" != --output-file ]; do shift; done\necho made > \"$2\"\n",
        asked.display()
    );
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let nvcc = nvcc::search(Some(program.into())).unwrap();
    assert_eq!(nvcc.architectures().unwrap().names, ["sm_80", "sm_90a"]);
    let job = |source| crate::compiler::Job {
        source,
        arch: "sm_90a",
        format: Format::Cubin,
        is_fast_math: true,
        has_line_info: true,
    };
    let compiled = nvcc.compile(&job("fine")).unwrap();
    assert_eq!(
        (compiled.code.as_slice(), compiled.compiler.as_str()),
        (&b"made\n"[..], "release 99.1, V99.1.0")
    );
    let asked = std::fs::read_to_string(asked).unwrap();
    for part in
        ["--cubin", "--gpu-architecture=sm_90a", "--use_fast_math", "--generate-line-info", "kernels.cu"]
    {
        assert!(asked.contains(part), "{part} in {asked}");
    }
    let error = nvcc.compile(&job("broken")).err().unwrap();
    assert!(error.message().contains("kernels.cu(1): error: broken"), "{}", error.message());
    let message = nvcc::search(Some("/nonexistent/nvcc".into())).err().unwrap();
    assert!(message.contains("/nonexistent/nvcc: ") && message.contains("CHIPDOCK_NVCC"), "{message}");
}

#[test]
fn no_compiler_is_no_compiler() {
    let error = compile(&settings(), "", &json!({}), Format::Ptx, Choice::None, &|_| ()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::UNAVAILABLE);
    assert!(crate::compiler::architectures(&settings(), Choice::None).is_none());
}
