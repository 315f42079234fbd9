//! Tests of libraries of the driver's name that are not the driver.

use std::process::Command;

use crate::driver::Driver;

/// One that is too old is not told to be missing.
#[test]
fn a_driver_that_lacks_a_function_is_distinguished_from_none() {
    let folder = tempfile::tempdir().unwrap();
    let made = |name: &str, text: &str| {
        let (source, library) =
            (folder.path().join(format!("{name}.c")), folder.path().join(format!("{name}.so")));
        std::fs::write(&source, text).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
        assert!(compiler.status().unwrap().success());
        library.display().to_string()
    };
    let old = made(
        "old",
        "int cuInit(unsigned flags) { return 0; }\nint cuDriverGetVersion(int *version) { *version = 9000; return 0; }\n",
    );
    let other = made("other", "int something;\n");
    let answer = |names: &[&str]| Driver::open(names).err().unwrap();
    let says = answer(&["libnone.so.1", &old]);
    let expected =
        format!("the CUDA driver {old} of CUDA 9.0 lacks cuGetErrorName, which NVIDIA's drivers since 396");
    assert!(says.starts_with(&expected) && says.contains("update NVIDIA's driver"), "{says}");
    let says = answer(&[&other]);
    assert!(says.starts_with(&format!("the CUDA driver {other} lacks cuInit,")), "{says}");
    let says = answer(&["libnone.so.1"]);
    assert!(
        says.starts_with("no CUDA driver: tried libnone.so.1") && says.contains("nvidia-driver"),
        "{says}"
    );
}
