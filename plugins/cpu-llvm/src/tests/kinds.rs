//! Tests of the target kind: the options that it fills in, and rules LLKIND-K1 to LLKIND-K5 of
//! `target_kind`.

use chipdock_codegen_llvm::{CallingConv, FastMath, LlvmTarget as _};
use chipdock_ir::{StorageScope, Target, TargetKind as Schema, ThreadAxis};
use chipdock_plugin_api::{HostRef, TargetKind as _};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::llvm::{HostCpu, library};
use crate::names::Family;
use crate::target::CpuTarget;
use crate::target_kind::{LlvmTargetKind, Surroundings, resolve};
use crate::triple::{ARCHITECTURES, Triple};

pub(super) fn schema() -> Schema {
    serde_json::from_str(include_str!("../target_kind.json")).unwrap()
}

/// A target with these options, as the host hands it to the kind: with the schema's defaults.
pub(super) fn target(options: &Value) -> Target {
    let mut json = json!({ "kind": "llvm", "tag": "", "keys": ["cpu"] });
    for option in schema().options {
        if let Some(default) = option.default {
            json[&option.name] = default;
        }
    }
    for (name, value) in options.as_object().unwrap() {
        json[name] = value.clone();
    }
    Target::from_canonical_json(&json).unwrap()
}

/// The canonical target, which comes out again unchanged (LLKIND-K5).
pub(super) fn canonical(options: Value) -> Target {
    let canonicalize = |text: String| {
        LlvmTargetKind(HostRef::standalone()).canonicalize(&text).unwrap_or_else(|e| panic!("{e:?}"))
    };
    let once = canonicalize(target(&options).to_json().to_string());
    assert_eq!(canonicalize(once.clone()), once, "LLKIND-K5");
    Target::from_canonical_json(&serde_json::from_str(&once).unwrap()).unwrap()
}

fn cpu_target(options: Value) -> CpuTarget {
    CpuTarget::new(library().unwrap(), &canonical(options)).unwrap()
}

fn attribute(target: &CpuTarget, name: &str) -> Option<String> {
    target.function_attributes().into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

#[test]
fn processors_that_divide_fast_do_not_try_32_bits_first() {
    let features = |mattr: &[&str]| {
        let target = cpu_target(json!({"mtriple": "x86_64-linux-gnu", "mcpu": "x86-64-v3", "mattr": mattr}));
        attribute(&target, "target-features").unwrap_or_default()
    };
    assert!(features(&["+avx512vbmi2"]).ends_with(",-idivq-to-divl"));
    assert_eq!(features(&["+avx512vbmi2", "+idivq-to-divl"]), "+avx512vbmi2,+idivq-to-divl");
    assert_eq!(features(&["+avxvnni"]), "+avxvnni");
}

#[test]
fn llkind_k1_a_bare_target_is_this_machine_with_all_its_features() {
    let host = library().unwrap().host();
    for options in [json!({}), json!({"mcpu": "native"}), json!({"mcpu": "host", "mtriple": host.triple})] {
        let target = canonical(options);
        assert_eq!(target.str("mcpu"), Some(host.cpu.as_str()));
        let mut features = target.str_list("mattr");
        assert!(features.is_sorted_by_key(|feature| feature.starts_with('-')), "what is there comes first");
        features.sort_unstable();
        let mut told: Vec<&str> = host.features.split(',').collect();
        told.sort_unstable();
        assert_eq!(features, told);
        assert!(Triple::parse(target.str("mtriple").unwrap()).is_ok());
    }
}

#[test]
fn llkind_k1_features_of_the_user_come_behind_those_of_this_machine() {
    let host = library().unwrap().host();
    let first = host.features.split(',').find(|feature| feature.starts_with('+')).unwrap();
    let off = format!("-{}", &first[1..]);
    let target = canonical(json!({ "mattr": [off] }));
    let features = target.str_list("mattr");
    assert_eq!(features.last(), Some(&off.as_str()));
    assert!(!features.contains(&first));
    assert_eq!(features.len(), host.features.split(',').count());
}

#[test]
fn llkind_k2_a_triple_alone_is_the_generic_processor() {
    for known in ARCHITECTURES {
        let target = canonical(json!({ "mtriple": format!("{}-linux-gnu", known.name) }));
        let expected = format!("{}-unknown-linux-gnu", known.name);
        assert_eq!(target.str("mtriple"), Some(expected.as_str()));
        let cpu = target.str("mcpu").unwrap();
        assert!(known.family.names().processors.contains(cpu), "{}: {cpu}", known.name);
        for feature in target.str_list("mattr") {
            assert!(known.family.names().features.contains(&feature[1..]), "{}: {feature}", known.name);
        }
    }
    let riscv = canonical(json!({ "mtriple": "riscv64-linux-gnu", "mattr": ["+v", "-c"] }));
    assert_eq!(riscv.str_list("mattr"), ["+m", "+a", "+f", "+d", "+v", "-c"]);
    assert!(canonical(json!({ "mtriple": "riscv32-none-elf" })).str_list("mattr").is_empty());
    assert_eq!(canonical(json!({ "mtriple": "i686-linux-gnu" })).str_list("mattr"), ["+sse2"]);
}

#[test]
fn triples_are_read_as_they_are_written_and_written_in_full() {
    for (text, full) in [
        ("aarch64-linux-gnu", "aarch64-unknown-linux-gnu"),
        ("x86_64-pc-linux-gnu", "x86_64-pc-linux-gnu"),
        ("x86_64-alpine-linux-musl", "x86_64-alpine-linux-musl"),
        ("wasm32", "wasm32-unknown-unknown"),
        ("wasm32-wasi", "wasm32-unknown-wasi"),
        ("arm64-apple-macosx14.0", "arm64-apple-macosx14.0"),
        ("x86_64-pc-windows-msvc", "x86_64-pc-windows-msvc"),
        ("thumbv7em-none-eabihf", "thumbv7em-unknown-none-eabihf"),
        ("thumbv7em-eabi", "thumbv7em-unknown-unknown-eabi"),
        ("aarch64-linux-android21", "aarch64-unknown-linux-android21"),
        ("hexagon-unknown-elf", "hexagon-unknown-unknown-elf"),
        ("armv7-unknown-linux-musleabihf", "armv7-unknown-linux-musleabihf"),
        ("x86_64-unknown-none", "x86_64-unknown-none"),
    ] {
        let triple = Triple::parse(text).unwrap().to_string();
        assert_eq!(triple, full);
        assert_eq!(Triple::parse(&triple).unwrap().to_string(), triple);
        let normal = library().unwrap().normalized(&triple).unwrap();
        assert_eq!(normal.replace("-unknown-unknown", ""), triple.replace("-unknown-unknown", ""), "as LLVM");
    }
}

#[test]
fn the_float_abi_is_part_of_the_triple() {
    let of = |triple: &str, abi: &str| {
        let target = canonical(json!({ "mtriple": triple, "mfloat-abi": abi }));
        target.str("mtriple").unwrap().to_owned()
    };
    assert_eq!(of("armv7-linux-gnueabi", "hard"), "armv7-unknown-linux-gnueabihf");
    assert_eq!(of("armv7-linux-gnueabihf", "soft"), "armv7-unknown-linux-gnueabi");
    assert_eq!(of("thumbv7em-none-eabihf", "hard"), "thumbv7em-unknown-none-eabihf");
    assert_eq!(of("armv7l-linux-gnueabihf", "hard"), "armv7l-unknown-linux-gnueabihf");
}

/// LLKIND-K12: names that TVM's tags have.
#[test]
fn llkind_k12_second_names_are_taken_for_the_ones_that_llvm_lists() {
    for (triple, cpu, own) in [
        ("arm64-apple-macos", "apple-m1", "apple-a14"),
        ("arm64-apple-macos", "apple-m2", "apple-a15"),
        ("aarch64-linux-gnu", "grace", "neoverse-v2"),
        ("armv8l-linux-gnueabihf", "cortex-a72", "cortex-a72"),
    ] {
        assert_eq!(canonical(json!({ "mtriple": triple, "mcpu": cpu })).str("mcpu"), Some(own));
    }
    let risc_v =
        |float: &str| json!({ "mtriple": "riscv64-linux-gnu", "mabi": "lp64d", "mfloat-abi": float });
    assert_eq!(canonical(risc_v("hard")).str("mfloat-abi"), Some("hard"));
    let error =
        LlvmTargetKind(HostRef::standalone()).canonicalize(&target(&risc_v("soft")).to_json().to_string());
    assert!(error.unwrap_err().message().contains("option 'mfloat-abi'"));
}

#[test]
fn arm_targets_have_the_features_that_tvm_gives_them() {
    let target = canonical(json!({ "mtriple": "aarch64-linux-gnu", "mcpu": "neoverse-v1" }));
    assert_eq!(target.keys, ["arm_cpu", "cpu"]);
    for (name, value) in [
        ("is_aarch64", true),
        ("has_asimd", true),
        ("has_sve", true),
        ("has_dotprod", true),
        ("has_matmul_i8", true),
        ("has_fp16_simd", true),
        ("has_sme", false),
    ] {
        assert_eq!(target.bool(&format!("feature.{name}")), Some(value), "{name}");
    }
    let old = canonical(json!({ "mtriple": "aarch64-linux-gnu", "mcpu": "cortex-a72" }));
    assert_eq!(old.bool("feature.has_sve"), Some(false));
    let more = json!({ "mtriple": "aarch64-linux-gnu", "mcpu": "cortex-a72", "mattr": ["+sve2"] });
    assert_eq!(canonical(more).bool("feature.has_sve"), Some(true), "what a feature brings along counts");
    let micro = canonical(json!({ "mtriple": "thumbv8.1m.main-none-eabihf", "mcpu": "cortex-m55" }));
    assert_eq!(micro.keys, ["arm_cpu", "cpu"]);
    let features = (micro.bool("feature.has_dsp"), micro.bool("feature.has_mve"));
    assert_eq!(features, (Some(true), Some(true)));
    assert!(!micro.options.contains_key("feature.is_aarch64"));
    let real_time = canonical(json!({ "mtriple": "armv7r-none-eabi", "mcpu": "cortex-r5" }));
    assert_eq!(real_time.keys, ["cpu"]);
}

#[test]
fn options_become_attributes_of_functions() {
    let target =
        cpu_target(json!({ "mtriple": "x86_64-linux-gnu", "mcpu": "znver4", "mattr": ["-avx512bf16"] }));
    assert_eq!(attribute(&target, "target-cpu").as_deref(), Some("znver4"));
    assert_eq!(attribute(&target, "target-features").as_deref(), Some("-avx512bf16"));
    assert_eq!(attribute(&target, "prefer-vector-width").as_deref(), Some("512"));
    let narrow = cpu_target(json!({ "vector-width": 256, "mtriple": "x86_64-linux-gnu" }));
    assert_eq!(attribute(&narrow, "prefer-vector-width").as_deref(), Some("256"));
    let arm = cpu_target(json!({ "mtriple": "aarch64-linux-gnu" }));
    assert_eq!(attribute(&arm, "prefer-vector-width"), None);
    assert_eq!((arm.triple(), arm.pointer_bits()), ("aarch64-unknown-linux-gnu", 64));
    assert!(arm.data_layout().starts_with("e-m:e-"));
    assert_eq!(cpu_target(json!({ "mtriple": "wasm32" })).pointer_bits(), 32);
}

#[test]
fn fast_math_is_all_that_is_not_set_by_itself() {
    assert_eq!(cpu_target(json!({})).fast_math(), FastMath::default());
    let all = cpu_target(json!({ "fast-math": true, "fast-math-nnan": false })).fast_math();
    assert_eq!(
        (all.nnan, all.ninf, all.nsz, all.arcp, all.contract, all.reassoc),
        (false, true, true, true, true, true)
    );
    let one = cpu_target(json!({ "fast-math-reassoc": true })).fast_math();
    assert_eq!(one, FastMath { reassoc: true, ..FastMath::default() });
}

#[test]
fn float16_is_converted_where_there_is_an_instruction() {
    for (options, converts) in [
        (json!({ "mtriple": "x86_64-linux-gnu" }), false),
        (json!({ "mtriple": "x86_64-linux-gnu", "mcpu": "x86-64-v2" }), false),
        (json!({ "mtriple": "x86_64-linux-gnu", "mcpu": "haswell" }), true),
        (json!({ "mtriple": "x86_64-linux-gnu", "mcpu": "haswell", "mattr": ["-avx"] }), false),
        (json!({ "mtriple": "x86_64-linux-gnu", "mattr": ["+f16c"] }), true),
        (json!({ "mtriple": "x86_64-linux-gnu", "mattr": ["+avx512f"] }), true),
        (json!({ "mtriple": "aarch64-linux-gnu" }), true),
        (json!({ "mtriple": "armv7-linux-gnueabihf" }), false),
        (json!({ "mtriple": "armv7-linux-gnueabihf", "mcpu": "cortex-a7" }), true),
        (json!({ "mtriple": "riscv64-linux-gnu" }), false),
        (json!({ "mtriple": "riscv64-linux-gnu", "mattr": ["+zfhmin"] }), true),
        (json!({ "mtriple": "wasm32" }), false),
    ] {
        assert_eq!(cpu_target(options.clone()).converts_float16(), converts, "{options}");
    }
}

#[test]
fn threads_are_refused_with_what_to_do() {
    let target = cpu_target(json!({}));
    for refusal in [
        target.thread_index(ThreadAxis::ThreadX).unwrap_err(),
        target.barrier("shared").unwrap_err(),
        target.address_space(&StorageScope::SHARED).unwrap_err(),
        target.calling_convention(CallingConv::Kernel).unwrap_err(),
    ] {
        assert!(refusal.0.contains("build it for a target that has threads"), "{refusal:?}");
    }
    assert_eq!(target.address_space(&StorageScope::GLOBAL), Ok(0));
    assert_eq!(target.address_space(&StorageScope::LOCAL), Ok(0));
    let unknown = target.address_space(&StorageScope::parse("texture")).unwrap_err();
    assert!(unknown.0.contains("storage scope texture; expected global or local"), "{unknown:?}");
    assert_eq!(target.calling_convention(CallingConv::Packed), Ok(""));
}

#[test]
fn a_target_that_nobody_filled_in_makes_no_code() {
    let made = |options: Value| CpuTarget::new(library().unwrap(), &target(&options)).unwrap_err();
    assert!(made(json!({})).message().contains("option 'mtriple' as nobody fills it in"));
    let wrong = json!({ "mtriple": "mips64el-unknown-linux-gnu", "mcpu": "mips32", "mattr": [] });
    assert!(made(wrong).message().contains("LLVM cannot compile for"), "and the process lives");
    // LLVM gave up over the machine itself: others are still made.
    canonical(json!({ "mtriple": "mips64el-linux-gnu", "mcpu": "octeon" }));
    assert!(
        made(json!({ "mtriple": "x86_64-unknown-linux-gnu", "mcpu": "nosuch", "mattr": [] }))
            .message()
            .contains("'mcpu'")
    );
}

fn around(cpu: &str) -> Surroundings {
    let components = Family::ALL.iter().map(|family| family.component()).collect();
    let host = HostCpu {
        triple: "aarch64-unknown-linux-gnu".into(),
        cpu: cpu.into(),
        features: "-sve,+neon,+aes,-fullfp16".into(),
    };
    Surroundings { host, components }
}

#[test]
fn a_processor_of_this_machine_that_no_table_has_is_taken() {
    let newer = around("neoverse-v9");
    let once = resolve(&target(&json!({})), &newer).unwrap();
    assert_eq!(once.str("mcpu"), Some("neoverse-v9"));
    assert_eq!(once.str_list("mattr"), ["+aes", "+neon", "-fullfp16", "-sve"]);
    assert_eq!(resolve(&once, &newer).unwrap(), once);
    assert!(resolve(&once, &around("neoverse-v2")).unwrap_err().contains("\"neoverse-v9\""));
}

#[test]
fn a_library_without_an_architecture_is_told() {
    let without = Surroundings { components: vec!["X86"], ..around("neoverse-v1") };
    let message = resolve(&target(&json!({})), &without).unwrap_err();
    assert!(message.contains("has no part AArch64") && message.contains("it has X86"), "{message}");
}

fn options() -> impl Strategy<Value = Value> {
    let triples: Vec<String> = ARCHITECTURES
        .iter()
        .flat_map(|known| {
            ["", "-linux-gnu", "-none-eabi", "-unknown-linux-gnueabihf"]
                .map(|rest| format!("{}{rest}", known.name))
        })
        .chain(["x86_64-lunix".into(), "s390x".into()])
        .collect();
    let cpus = ["native", "generic", "haswell", "neoverse-n1", "cortex-m4", "sifive-x280", "nosuch", ""];
    let features =
        ["+avx2", "-avx2", "+sve", "+v", "-neon", "+simd128", "sse2", "+nosuch", "+aes", "-sve", "+"];
    (
        proptest::option::of(proptest::sample::select(triples)),
        proptest::option::of(proptest::sample::select(cpus.to_vec())),
        proptest::option::of(proptest::collection::vec(proptest::sample::select(features.to_vec()), 0..4)),
        proptest::option::of(proptest::sample::select(vec!["hard", "soft"])),
        proptest::option::of(proptest::sample::select(vec!["lp64d", "aapcs", "n64"])),
        proptest::option::of(proptest::sample::select(vec![128, 256, 384, 512])),
    )
        .prop_map(|(triple, cpu, features, float, abi, width)| {
            let mut options = json!({});
            let all = [
                ("mtriple", triple.map(Value::from)),
                ("mcpu", cpu.map(Value::from)),
                ("mattr", features.map(Value::from)),
                ("mfloat-abi", float.map(Value::from)),
                ("mabi", abi.map(Value::from)),
                ("vector-width", width.map(Value::from)),
            ];
            for (name, value) in all {
                if let Some(value) = value {
                    options[name] = value;
                }
            }
            options
        })
}

fn of_the_tables() -> impl Strategy<Value = Value> {
    let numbers = (0..ARCHITECTURES.len(), any::<usize>(), any::<bool>());
    (numbers, proptest::collection::vec((any::<usize>(), any::<bool>()), 0..4)).prop_map(
        |(machine, features)| {
            let (architecture, cpu, has_cpu) = machine;
            let known = ARCHITECTURES[architecture];
            let names = known.family.names();
            let nth = |set: &std::collections::BTreeSet<String>, n: usize| {
                set.iter().nth(n % set.len()).unwrap().clone()
            };
            let mut options = json!({ "mtriple": format!("{}-linux", known.name) });
            if has_cpu {
                options["mcpu"] = nth(&names.processors, cpu).into();
            }
            let features = features
                .iter()
                .map(|(n, plus)| format!("{}{}", if *plus { "+" } else { "-" }, nth(&names.features, *n)));
            options["mattr"] = features.collect::<Vec<_>>().into();
            options
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// LLKIND-K4: processors and features that LLVM knows, in any combination, are taken or
    /// refused, and the process lives.
    #[test]
    fn llkind_k4_no_combination_of_known_names_ends_the_process(options in of_the_tables()) {
        match LlvmTargetKind(HostRef::standalone()).canonicalize(&target(&options).to_json().to_string()) {
            Ok(once) => prop_assert_eq!(LlvmTargetKind(HostRef::standalone()).canonicalize(&once).unwrap(), once),
            Err(error) => {
                prop_assert_eq!(error.kind(), chipdock_plugin_api::ErrorKind::VALUE_ERROR, "{}", error.message());
            }
        }
    }
}

/// Cases of the test above: each compiles, and where LLVM gives up a thread is lost.
const CASES: u32 = 64;

proptest! {
    /// LLKIND-K5, and LLKIND-K3: what is refused names the option.
    #[test]
    fn llkind_k5_a_resolved_target_resolves_to_itself(options in options(), cpu in "[a-z0-9-]{1,12}") {
        for around in [around("neoverse-n1"), around(&cpu)] {
            match resolve(&target(&options), &around) {
                Ok(once) => {
                    prop_assert_eq!(&resolve(&once, &around).unwrap(), &once);
                    for set in ["mtriple", "mcpu", "mattr"] {
                        prop_assert!(once.options.contains_key(set));
                    }
                }
                Err(message) => prop_assert!(message.starts_with("target llvm: option 'm") || message.contains("'vector-width'"), "{}", message),
            }
        }
    }

    /// Any text for a triple is read or refused.
    #[test]
    fn any_text_is_a_triple_or_refused(text in ".{0,40}") {
        if let Ok(triple) = Triple::parse(&text) {
            prop_assert_eq!(Triple::parse(&triple.to_string()).unwrap(), triple);
        }
    }

    /// Words of a triple in any order are read or refused, and what is read is a triple.
    #[test]
    fn any_words_are_a_triple_or_refused(
        words in proptest::collection::vec(
            proptest::sample::select(vec!["x86_64", "armv7", "linux", "gnu", "eabihf", "none", "pc", "", "darwin23.1", "unknown"]),
            1..6,
        )
    ) {
        if let Ok(triple) = Triple::parse(&words.join("-")) {
            prop_assert_eq!(Triple::parse(&triple.to_string()).unwrap(), triple);
        }
    }
}
