//! The setting `validator` through a host: what it refuses is not built (VKVAL-2), and is built
//! again without it (VKVAL-3).

use chipdock_host::{CompileOptions, ErrorKind};
use chipdock_test_backends::host_with;

const KERNEL: &str = "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def twice(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):
        for i in T.thread_binding(8, thread=\"threadIdx.x\"):
            B[i] = A[i] * T.float32(2)
";

#[test]
fn vkval_2_a_refused_module_is_not_built() {
    let module = chipdock_script::parse(KERNEL, "twice.py").unwrap_or_else(|errors| panic!("{errors}"));
    let build = |program: &str| {
        let host = host_with(|options| options.setting("vulkan", "validator", program));
        let target = host.target("{\"kind\": \"vulkan\", \"host\": {\"kind\": \"c\"}}").expect("a target");
        host.compile(&module, &target, &CompileOptions::default())
            .map(|compiled| compiled.artifact.to_bytes())
    };
    let found = |error: chipdock_host::Error| (error.kind().clone(), error.to_string());
    let (kind, message) = found(build("false").expect_err("false refuses everything"));
    assert_eq!(kind, ErrorKind::Internal, "{message}");
    assert!(message.contains("false refuses the module for vulkan1.1"), "{message}");
    let (kind, message) = found(build("no-such-validator").expect_err("it cannot be started"));
    assert_eq!(kind, ErrorKind::Unavailable, "{message}");
    let (checked, unchecked) = (build("true").expect("true accepts"), build("").expect("nothing is asked"));
    assert_eq!(checked.expect("bytes"), unchecked.expect("bytes"), "it changes nothing");
}
