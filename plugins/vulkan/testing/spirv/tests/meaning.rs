//! Words of kernels with barriers, atomic additions, loops and narrow elements: the scopes and
//! semantics that both memory models need, alignment of addresses, and debug information.

use std::path::Path;
use std::sync::Arc;

use chipdock_host::{CompileOptions, Host};
use chipdock_ir::Target;
use chipdock_test_backends::host;
use chipdock_test_support::bless;
use chipdock_vulkan_tests::{check, target, targets};
use serde_json::{Map, Value, json};

/// The name of the file, which debug information has.
const FILE: &str = "kernels.py";

const KERNELS: &str = "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def block(A: T.Buffer((\"n\",), \"float32\"), B: T.Buffer((n,), \"float32\"), C: T.Buffer((4,), \"int32\"), D: T.Buffer((n,), \"uint8\")):
        n = T.int32()
        T.func_attr({\"tirx.noalias\": True})
        for bx in T.thread_binding((n + 63) // 64, thread=\"blockIdx.x\"):
            for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
                S = T.alloc_buffer((64,), \"float32\", scope=\"shared\")
                N = T.alloc_buffer((4,), \"int32\", scope=\"shared\")
                L = T.alloc_buffer((4,), \"float32\", scope=\"local\")
                S[tx] = T.float32(0)
                if tx < 4:
                    N[tx] = 0
                T.tvm_storage_sync(\"shared\")
                if bx * 64 + tx < n:
                    S[tx] = A[bx * 64 + tx]
                T.evaluate(T.atomic_add(T.address_of(N[tx % 4]), tx))
                T.tvm_storage_sync(\"shared\")
                for i in range(4):
                    L[i] = S[63 - tx] * T.Cast(\"float32\", i) + S[tx]
                while L[0] < T.float32(100):
                    L[0] = L[0] * T.float32(2) + T.float32(1)
                if bx * 64 + tx < n:
                    B[bx * 64 + tx] = L[0] + L[3]
                    D[bx * 64 + tx] = T.Cast(\"uint8\", tx)
                T.evaluate(T.atomic_add(T.address_of(C[tx % 4]), N[3]))

    @T.prim_func(s_tir=True)
    def sums(A: T.Buffer((64,), \"float32\"), C: T.Buffer((1,), \"float32\")):
        for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
            T.evaluate(T.atomic_add(T.address_of(C[0]), A[tx]))
";

/// The text for a target, and its artifact's index; the words are valid.
fn text_of(host: &Host, target: &Arc<Target>, kernels: &str, debug: bool) -> (String, Value) {
    let module = chipdock_script::parse(kernels, FILE).unwrap_or_else(|errors| panic!("{errors}"));
    let mut options = Map::new();
    if debug {
        options.insert("debug".into(), true.into());
    }
    let options = CompileOptions { options, file: Some(FILE.to_owned()), ..CompileOptions::default() };
    let compiled = host.compile(&module, target, &options).unwrap_or_else(|error| panic!("{error}"));
    let artifact = compiled.artifact.imports().first().expect("the module of the device");
    check(artifact).unwrap_or_else(|error| panic!("{error}"));
    let index = serde_json::from_str(artifact.index_json()).expect("JSON");
    (artifact.source().expect("a source").to_owned(), index)
}

/// The operands of each instruction of that name, numbers of uint32 constants as they are.
fn operands<'a>(text: &'a str, name: &str) -> Vec<Vec<&'a str>> {
    let is_named = |line: &&str| line.split_whitespace().any(|word| word == name);
    let after = text.lines().filter(is_named).map(|line| {
        let words = line.split_whitespace().skip_while(|word| *word != name).skip(1);
        words.map(|word| word.strip_prefix("%u32_").unwrap_or(word)).collect()
    });
    after.collect()
}

/// The texts of every configuration are the kept ones. SPV-3, SPV-5, SPV-6, SPV-9.
#[test]
fn the_words_of_each_configuration_are_the_kept_ones() {
    let host = host();
    for (configuration, options) in targets() {
        let (text, _) = text_of(&host, &target(&host, &options), KERNELS, false);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("goldens").join(configuration);
        bless(&folder.join("meaning.spvasm"), &text).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// SPV-9: acquire and release of shared memory (0x100), of buffers (0x40) where the function writes
/// one, and, in the Vulkan memory model, availability and visibility (0x6000); atomic additions
/// order nothing else, among the threads of a block or of the device.
#[test]
fn spv_9_barriers_and_atomics_have_their_scopes_in_both_memory_models() {
    let host = host();
    let [(_, lavapipe), (_, address), ..] = targets();
    let read_only = KERNELS.replace("B[bx * 64 + tx] = L[0] + L[3]", "L[1] = L[0] + L[3]");
    let read_only = read_only.replace("D[bx * 64 + tx] = T.Cast(\"uint8\", tx)", "L[2] = L[1]");
    let read_only =
        read_only.replace("T.evaluate(T.atomic_add(T.address_of(C[tx % 4]), N[3]))", "L[3] = L[0]");
    let models = [("vulkan", 0x6000, "5"), ("glsl450", 0, "1")];
    for (options, (model, visible, scope)) in
        [lavapipe, address].into_iter().flat_map(|options| models.map(|model| (options.clone(), model)))
    {
        let mut options = options;
        options["memory_model"] = model.into();
        let made = target(&host, &options);
        for (kernels, semantics) in [(KERNELS, 0x148 | visible), (read_only.as_str(), 0x108 | visible)] {
            let (text, _) = text_of(&host, &made, kernels, false);
            let semantics = semantics.to_string();
            let barriers = operands(&text, "OpControlBarrier");
            assert_eq!(barriers, vec![vec!["2", "2", semantics.as_str()]; 2], "{model}");
        }
        let (text, index) = text_of(&host, &made, KERNELS, false);
        let added = operands(&text, "OpAtomicIAdd");
        let found: Vec<&[&str]> = added.iter().map(|operands| &operands[2..4]).collect();
        assert_eq!(found, [["2", "0"], [scope, "0"]], "{model}: shared memory, and a buffer");
        let exchanged = operands(&text, "OpAtomicCompareExchange");
        assert!(exchanged.iter().all(|one| one[2..5] == [scope, "0", "0"]), "{model}: {exchanged:?}");
        assert_eq!(exchanged.len(), 1, "{model}");
        let declares = text.contains("OpCapability VulkanMemoryModel\n");
        assert_eq!(declares, model == "vulkan");
        let needed = index["options"]["needs"]["capabilities"].as_array().expect("a list");
        assert_eq!(needed.contains(&"VulkanMemoryModel".into()), declares);
        // Barriers order accesses to memory that is written and shared only if they are not
        // private.
        let is_ordered = text.contains("NonPrivatePointer");
        assert_eq!(is_ordered, model == "vulkan");
    }
}

/// A warp's barrier is one of the subgroup.
#[test]
fn spv_9_a_barrier_of_a_warp_is_one_of_the_subgroup() {
    let host = host();
    let [(_, mut options), ..] = targets();
    let kernels = KERNELS.replace("T.tvm_storage_sync(\"shared\")", "T.tvm_storage_sync(\"warp\")");
    for (model, semantics) in [("vulkan", "24904"), ("glsl450", "328")] {
        options["memory_model"] = model.into();
        let (text, _) = text_of(&host, &target(&host, &options), &kernels, false);
        assert_eq!(operands(&text, "OpControlBarrier"), [["3", "3", semantics]; 2], "{model}");
    }
}

/// SPV-13: functions, lines and variables are described; without the option the words are the same
/// as before, and `debug` alone adds lines of the file.
#[test]
fn spv_13_debug_information_has_the_lines_of_the_file() {
    let host = host();
    let [(_, mut options), ..] = targets();
    let made = target(&host, &options);
    let (plain, index) = text_of(&host, &made, KERNELS, false);
    for word in ["OpLine", "OpString", "Debug", "NonSemantic", "SPV_KHR_non_semantic_info"] {
        assert!(!plain.contains(word) && !index.to_string().contains(word), "{word}");
    }
    let (lines, _) = text_of(&host, &made, KERNELS, true);
    let without_lines = |text: &str| {
        let is_code = |line: &&str| !line.contains("OpLine") && !line.contains("OpString");
        text.lines().filter(is_code).count()
    };
    assert_eq!(without_lines(&lines), without_lines(&plain), "debug adds lines only");
    options["debug_info"] = true.into();
    let (described, index) = text_of(&host, &target(&host, &options), KERNELS, false);
    assert!(
        index["options"]["needs"]["extensions"]
            .as_array()
            .expect("a list")
            .contains(&"SPV_KHR_non_semantic_info".into())
    );
    assert!(
        described.contains(&format!("OpString \"{FILE}\""))
            && lines.contains(&format!("OpString \"{FILE}\""))
    );
    // The loop, and the store after it.
    for what in ["T.evaluate(T.atomic_add(T.address_of(N[", "L[i] = S[63 - tx]", "D[bx * 64 + tx] = "] {
        let line = KERNELS.lines().position(|line| line.contains(what)).expect("it stands there") + 1;
        let line = line.to_string();
        let has =
            |found: Vec<Vec<&str>>, at: usize| found.iter().any(|one| one.get(at) == Some(&line.as_str()));
        let of_debug: Vec<Vec<&str>> = operands(&described, "DebugLine");
        assert!(has(of_debug, 1), "{what}: line {line} in {described}");
        assert!(has(operands(&lines, "OpLine"), 1), "{what}: line {line}");
    }
    for name in ["DebugFunctionDefinition", "DebugScope", "DebugLocalVariable", "DebugDeclare", "DebugValue"]
    {
        assert!(described.contains(name), "{name}");
    }
}

/// A target that cannot have debug information says what it needs.
#[test]
fn debug_information_needs_vulkan_1_3() {
    let host = host();
    let refused = |options: Value| host.target(options.to_string()).expect_err("refused").to_string();
    let error = refused(json!({ "kind": "vulkan", "debug_info": true, "vulkan_api_version": 4_202_496 }));
    assert!(error.contains("'debug_info'") && error.contains("1.3"), "{error}");
}

/// A kernel with arguments of several sizes besides its buffers.
const SCALARS: &str = "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def scaled(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\"), x: T.float32, y: T.int8, z: T.int64):
        for tx in T.thread_binding(64, thread=\"threadIdx.x\"):
            B[tx] = A[tx] * x + T.Cast(\"float32\", y) + T.Cast(\"float32\", z)
";

/// VKART-A3: arguments that are longer than the target's push constants are a uniform buffer behind
/// the storage buffers, as long as one may be.
#[test]
fn vkart_a3_arguments_past_the_push_constants_are_a_uniform_buffer() {
    let host = host();
    let [(_, lavapipe), (_, address), ..] = targets();
    for (options, binding) in [(lavapipe, 2), (address, 0)] {
        let with = |pushed: Option<u64>, uniform: u64| {
            let mut options = options.clone();
            if let Some(pushed) = pushed {
                options["max_push_constants_size"] = pushed.into();
            }
            options["max_uniform_buffer_range"] = uniform.into();
            target(&host, &options)
        };
        let block = |target| {
            let (text, index) = text_of(&host, &target, SCALARS, false);
            let is_in = |class: &str| operands(&text, "OpTypePointer").iter().any(|one| one[0] == class);
            assert_ne!(is_in("Uniform"), is_in("PushConstant"), "{text}");
            (
                index["functions"][0]["options"]["block"].clone(),
                index["options"]["needs"]["push_constant_bytes"].clone(),
            )
        };
        let (pushed, size) = block(with(None, 16384));
        assert_eq!((pushed["in"].as_str(), &pushed["size_bytes"]), (Some("push_constant"), &size));
        let bytes = size.as_u64().expect("a number");
        assert_eq!(block(with(Some(bytes), 0)).0, pushed, "as many as there are");
        for (most, uniform) in [(bytes - 1, 16384), (0, bytes)] {
            let (found, needed) = block(with(Some(most), uniform));
            assert_eq!(found, json!({ "in": "uniform", "binding": binding, "size_bytes": bytes }));
            assert_eq!(needed, 0);
        }
        let module = chipdock_script::parse(SCALARS, FILE).unwrap_or_else(|errors| panic!("{errors}"));
        let refused = host.compile(&module, &with(Some(0), bytes - 1), &CompileOptions::default());
        let error = format!("{:?}", refused.expect_err("one byte too many").diagnostics());
        let most = format!("at most {} bytes of arguments", bytes - 1);
        assert!(error.contains(&most) && error.contains("max_uniform_buffer_range"), "{error}");
    }
}
