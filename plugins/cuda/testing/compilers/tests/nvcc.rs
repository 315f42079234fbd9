//! Tests of the program nvcc on the examples, in a process of their own because the environment
//! names nvcc.

use chipdock_cuda_tests::{assemble, compiled_by, has_compiler, host, nvcc};

/// The program nvcc, where it is asked for by name: the same formats, each of every example.
#[test]
fn nvcc_compiles_the_examples() {
    if !has_compiler("compiling with nvcc") {
        return;
    }
    let program = nvcc().expect("beside NVRTC");
    // SAFETY: the only test of this process; no other thread reads the environment, and the plugin
    // does when it is asked.
    unsafe { std::env::set_var("CHIPDOCK_NVCC", program) };
    let host = host();
    let folder = chipdock_test_support::workspace().join("examples/kernels");
    let (mut kernels, mut failed) = (0, Vec::new());
    for file in chipdock_test_support::scripts(&folder, "").expect("the examples") {
        let module = chipdock_script::parse(&file.text, &file.name).expect("the examples are readable");
        for (arch, format) in [("sm_80", "ptx"), ("sm_90", "cubin")] {
            let artifacts = match compiled_by(&host, &module, arch, format, "nvcc") {
                Ok(artifacts) => artifacts,
                Err(error) => {
                    failed.push(format!("{} to {format}: {error}", file.name));
                    continue;
                }
            };
            for artifact in artifacts {
                assert_eq!(artifact.index().format, format);
                let code = artifact.section("code").expect("what nvcc made").data();
                kernels += artifact.index().functions.len();
                let taken = match format {
                    "ptx" => assemble(arch, code),
                    _ if code.starts_with(b"\x7fELF") => Ok(()),
                    _ => Err("no ELF file".to_owned()),
                };
                failed.extend(taken.err().map(|why| format!("{} to {format}: {why}", file.name)));
            }
        }
    }
    println!("{kernels} kernels compiled by nvcc");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(kernels >= 40, "only {kernels} kernels");
}
