//! Special values in MSL, bit by bit, as clang reads it (IR-N6, IR-N7, IR-N9).

use chipdock_ir::{DType, Param};
use chipdock_metal_tests as msl;
use chipdock_test_backends::device_code::{build, target};
use chipdock_test_backends::host;
use chipdock_test_backends::specials::{Placed, hold_bits, needs_double, programs};
use chipdock_test_support::setup::missing;

#[test]
fn specials_are_exact_in_msl() {
    let Some(compiler) = msl::Compiler::found().unwrap() else {
        return missing("specials as C++: no clang++");
    };
    let host = host();
    let target = target(&host, "metal");
    let mut wrong = Vec::new();
    for program in programs().unwrap_or_else(|error| panic!("{error}")) {
        let shader = match build(&host, &program.module, &target) {
            Ok(shader) => shader.expect("kernels"),
            Err(why) if needs_double(&program) && why.contains("float64") => continue,
            Err(why) => panic!("{}: {why}", program.name),
        };
        let compiled = msl::Program::new(&compiler, &shader).unwrap_or_else(|error| panic!("{error}"));
        for call in &program.calls {
            let placed =
                Placed::new(&program, call, &shader.module).unwrap_or_else(|error| panic!("{error}"));
            let kernel = shader.module.function(&placed.launch.name).expect("the kernel");
            let types: Vec<DType> = kernel
                .params
                .iter()
                .map(|param| match param {
                    Param::Var(var) => var.dtype,
                    Param::Buffer(_) => DType::HANDLE,
                })
                .collect();
            let found = compiled.run(&placed.launch, &types, false);
            let held = found.and_then(|found| hold_bits(call, &placed.in_order(&found)));
            wrong.extend(held.err().map(|why| format!("{}: {why}", program.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
