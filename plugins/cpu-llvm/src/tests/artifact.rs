//! Tests of artifacts: their contents (rules LLBUILD-B1 to LLBUILD-B5 of `codegen`), and their
//! loading (rules LLLOAD-R1 to LLLOAD-R5 of `loader`).

use chipdock_plugin_api::abi::CHIPDOCK_DEVICE_CPU;
use chipdock_plugin_api::object_code::Objects as _;
use chipdock_plugin_api::{
    ChipdockDevice, Env, ErrorKind, Function, HostRef, Module as _, ModuleLoader as _, Tensor, Verdict,
};
use serde_json::json;

use super::kinds::canonical;
use super::support::{Built, add, built, request, written};
use crate::llvm::library;
use crate::loader::{LlvmLoader, load};

fn own() -> Built {
    built(&add(), json!({}), &json!({}))
}

fn call_add(function: &Function) {
    let a: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let sum = Tensor::from_slice(&[100], &[0_f32; 100]).unwrap();
    let a = Tensor::from_slice(&[100], &a).unwrap();
    function.call(HostRef::standalone(), &[(&a).into(), (&a).into(), (&sum).into()]).unwrap();
    let sum = sum.to_vec::<f32>().unwrap();
    assert!(sum.iter().enumerate().all(|(i, x)| *x == 2.0 * i as f32), "{sum:?}");
}

#[test]
fn llbuild_b1_b2_an_artifact_says_what_it_is_and_what_for() {
    let built = own();
    assert_eq!((&built.index["module_kind"], &built.index["format"]), (&json!("llvm"), &json!("o")));
    let function = &built.index["functions"][0];
    assert_eq!((&function["name"], &function["symbol"]), (&json!("add"), &json!("__tvm_ffi_add")));
    let target = canonical(json!({}));
    let options = &built.index["options"];
    assert_eq!(options["triple"], *target.str("mtriple").unwrap());
    assert_eq!(options["cpu"], *target.str("mcpu").unwrap());
    assert_eq!(options["features"], target.str_list("mattr").join(","));
    let names: Vec<&str> = built.sections.iter().map(|(name, _, _)| name.as_str()).collect();
    assert_eq!(names, ["code"]);
    assert_eq!(built.sections[0].1, "code");
    assert!(built.section("code").unwrap().starts_with(b"\x7fELF"));
}

#[test]
fn llbuild_b3_words_of_emit_add_sections() {
    for (emit, names) in [
        (json!("ll"), vec!["code", "ll"]),
        (json!("asm"), vec!["code", "asm"]),
        (json!("s"), vec!["code", "s"]),
        (
            json!(["asm", "source", "ll", "ll-unoptimized"]),
            vec!["code", "source", "ll-unoptimized", "ll", "asm"],
        ),
        (json!(["ptx", "unheard-of"]), vec!["code"]),
        (json!([]), vec!["code"]),
        (json!(null), vec!["code"]),
    ] {
        let built = built(&add(), json!({}), &json!({"emit": emit, "unheard-of": 1}));
        let found: Vec<&str> = built.sections.iter().map(|(name, _, _)| name.as_str()).collect();
        assert_eq!(found, names, "{emit}");
        for (name, kind, _) in &built.sections[1..] {
            assert_eq!(kind, "source", "{name}");
        }
        if emit.is_array() && names.len() == 5 {
            assert_eq!(built.text("source"), built.text("ll-unoptimized"));
            assert!(built.text("source").contains("fadd contract float"), "as written");
            assert!(built.text("ll").contains("x float>"), "as optimised");
            assert!(built.text("asm").contains("__tvm_ffi_add:"));
        }
    }
}

#[test]
fn llbuild_b3_b4_options_of_the_wrong_type_are_the_callers_mistake() {
    let target = canonical(json!({}));
    let ir = written(&add(), &target, None);
    for (options, name) in [
        ("{\"emit\": 1}", "'emit'"),
        ("{\"emit\": [1]}", "'emit'"),
        ("{\"debug\": \"yes\"}", "'debug'"),
        ("[]", "build options"),
        ("{", "build options"),
    ] {
        let error = request(&ir, &target, options, false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::VALUE_ERROR, "{error}");
        assert!(error.message().contains(name), "{name}: {error}");
    }
}

#[test]
fn llbuild_b4_code_has_lines_where_the_file_is_known() {
    let target = canonical(json!({}));
    let ir = written(&add(), &target, Some("kernels/add.py"));
    let source = |ir: &str, options: &str| request(ir, &target, options, false).unwrap().text("source");
    let lines = source(&ir, "{\"emit\": \"source\"}");
    assert!(lines.contains("!DIFile(filename: ") && lines.contains("add.py"), "{lines}");
    let without = [
        source(&ir, "{\"emit\": \"source\", \"debug\": false}"),
        source(&written(&add(), &target, None), "{\"emit\": \"source\"}"),
    ];
    assert!(without.iter().all(|text| !text.contains("!DIFile")));
    // They are loaded as those without.
    call_add(&request(&ir, &target, "", false).unwrap().load().unwrap().function("add").unwrap().unwrap());
}

#[test]
fn llbuild_b5_the_same_request_gives_the_same_bytes() {
    let all = json!({"emit": ["source", "ll", "asm"]});
    let first = built(&add(), json!({}), &all);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(built(&add(), json!({}), &all), first));
        }
    });
}

#[test]
fn llbuild_b5_a_build_that_was_given_up_answers_cancelled() {
    let target = canonical(json!({}));
    let error = request(&written(&add(), &target, None), &target, "", true).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CANCELLED, "{error}");
}

#[test]
fn a_malformed_request_is_the_callers_mistake() {
    let target = canonical(json!({}));
    for ir in ["", "{}", "nonsense"] {
        let error = request(ir, &target, "", false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::VALUE_ERROR, "{error}");
        assert!(error.message().starts_with("target llvm: "), "{error}");
    }
}

#[test]
fn llload_r2_code_lives_as_long_as_a_function_of_it() {
    let built = own();
    // SAFETY: no environment.
    let env = unsafe { Env::new(HostRef::standalone(), core::ptr::null()) };
    let module = load(HostRef::standalone(), &built.index, built.section("code").unwrap(), env).unwrap();
    let code = std::sync::Arc::downgrade(&module.kept().0);
    assert!(module.function("sub").unwrap().is_none(), "M.6");
    let function = module.function("add").unwrap().unwrap();
    let other = function.clone();
    drop(module);
    call_add(&function);
    drop(function);
    call_add(&other);
    assert!(code.upgrade().is_some());
    drop(other);
    assert!(code.upgrade().is_none(), "nobody holds it any more");
}

#[test]
fn llload_r4_an_artifact_of_another_kind_is_refused() {
    let good = own();
    good.load().unwrap();
    let with = |key: &str, value: serde_json::Value| {
        let mut bad = good.clone();
        bad.index[key] = value;
        bad
    };
    for (bad, what) in [
        (with("module_kind", json!("c")), "expected an artifact of kind \"llvm\""),
        (with("format", json!("ll")), "format \"o\""),
        (with("functions", json!(1)), "`functions`"),
        (with("functions", json!([{"name": "add"}])), "no name or no symbol"),
        (with("functions", json!([{"name": "add", "symbol": "add"}])), "a function `add`"),
        (with("options", json!({})), "`options.triple`"),
        (good.made_for("triple", "quantum-none"), "the artifact's triple"),
        (good.made_for("features", "+avx2\" evil"), "the artifact"),
        (good.made_for("cpu", "unheard-of"), "\"unheard-of\""),
    ] {
        let error = bad.load().err().unwrap_or_else(|| panic!("{what}"));
        assert!(error.message().contains(what), "{what}: {error}");
        assert!([ErrorKind::VALUE_ERROR, ErrorKind::UNSUPPORTED].contains(&error.kind()), "{error}");
    }
    for foreign in [with("module_kind", json!("c")), with("format", json!("ll"))] {
        assert!(matches!(here(&foreign), Verdict::Unsupported(why) if why.contains("expected an artifact")));
    }
    let mut no_code = good.clone();
    no_code.sections.clear();
    assert_eq!(no_code.load().err().unwrap().kind(), ErrorKind::NOT_FOUND);
    let mut broken = good.clone();
    broken.sections[0].2.truncate(200);
    assert_eq!(broken.load().err().unwrap().kind(), ErrorKind::VALUE_ERROR);
}

fn object(built: &Built) -> Result<Vec<u8>, chipdock_plugin_api::Error> {
    built.with(|artifact| LlvmLoader(HostRef::standalone()).object(artifact))
}

/// M.15 to M.18: what was built, for any machine, as it was built.
#[test]
fn llload_r5_an_object_for_linkers_is_the_code_as_it_was_built() {
    let own = own();
    assert_eq!(object(&own).unwrap(), own.section("code").unwrap());
    for triple in ["aarch64-linux-gnu", "armv7-linux-gnueabihf", "riscv64-linux-gnu"] {
        let other = built(&add(), json!({ "mtriple": triple }), &json!({}));
        assert!(other.load().is_err(), "{triple} is another machine than this");
        assert_eq!(object(&other).unwrap(), other.section("code").unwrap(), "{triple}");
    }
}

#[test]
fn llload_r5_an_object_that_the_index_does_not_describe_is_refused() {
    let good = own();
    let of = |change: &dyn Fn(&mut Built)| {
        let mut bad = good.clone();
        change(&mut bad);
        object(&bad).expect_err("a damaged artifact")
    };
    let code = |change: &dyn Fn(&mut Vec<u8>)| of(&|bad: &mut Built| change(&mut bad.sections[0].2));
    let symbol = |symbol: &str| {
        let functions = json!([{ "name": "add", "symbol": symbol }]);
        of(&|bad: &mut Built| bad.index["functions"] = functions.clone())
    };
    for (error, says) in [
        (of(&|bad| bad.index["module_kind"] = json!("c")), "expected an artifact of kind \"llvm\""),
        (of(&|bad| bad.index["format"] = json!("ll")), "format \"o\""),
        (of(&|bad| bad.index["options"] = json!({})), "`options.triple`"),
        (code(&|code| code.clear()), "expected an object, found 0 bytes"),
        (code(&|code| code.truncate(4)), "class None"),
        (code(&|code| code[16] = 3), "found type 3"),
        (code(&|code| code.truncate(200)), "section `code`"),
        (symbol("__tvm_ffi_sub"), "the visible symbol __tvm_ffi_add"),
        (of(&|bad| bad.index["functions"] = json!([])), "the visible symbol __tvm_ffi_add"),
        (
            of(&|bad| {
                let more = json!({ "name": "sub", "symbol": "__tvm_ffi_sub" });
                bad.index["functions"].as_array_mut().unwrap().push(more);
            }),
            "no visible symbol __tvm_ffi_sub",
        ),
    ] {
        assert_eq!(error.kind(), ErrorKind::VALUE_ERROR, "{error}");
        assert!(error.message().contains(says), "{says}: {error}");
    }
    assert_eq!(of(&|bad| bad.sections.clear()).kind(), ErrorKind::NOT_FOUND);
}

fn verdict(built: &Built, device_type: i32) -> Verdict {
    built
        .with(|artifact| {
            LlvmLoader(HostRef::standalone()).check(artifact, ChipdockDevice { device_type, device_id: 0 })
        })
        .unwrap()
}

fn here(built: &Built) -> Verdict {
    verdict(built, CHIPDOCK_DEVICE_CPU)
}

#[test]
fn llload_r1_an_artifact_runs_where_all_that_it_needs_is_there() {
    let own = own();
    assert_eq!(here(&own), Verdict::Runs);
    let Verdict::Unsupported(why) = verdict(&own, 2) else { panic!("a device that is no cpu") };
    assert!(why.contains("found device type 2"), "{why}");
    let foreign = if cfg!(target_arch = "x86_64") { "aarch64" } else { "x86_64" };
    let Verdict::Unsupported(why) = here(&own.made_for("triple", &format!("{foreign}-unknown-linux-gnu")))
    else {
        panic!("another architecture");
    };
    assert!(why.contains(foreign) && why.contains(std::env::consts::ARCH), "{why}");
    let triple = own.index["options"]["triple"].as_str().unwrap().replace("linux-gnu", "windows-msvc");
    let Verdict::Unsupported(why) = here(&own.made_for("triple", &triple)) else { panic!("another system") };
    assert!(why.contains("windows") && why.contains("linux"), "{why}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn llload_r1_a_processor_that_has_more_is_told_by_what_is_missing() {
    let own = own();
    let named = |cpu: &str, features: &str| own.made_for("cpu", cpu).made_for("features", features);
    for cpu in ["", "x86-64", "x86-64-v2"] {
        assert_eq!(here(&named(cpu, "")), Verdict::Runs, "{cpu:?}");
    }
    // Of features that no table of processors has together, some are missing everywhere.
    let host = library().unwrap().host();
    let absent: Vec<&str> = host.features.split(',').filter_map(|f| f.strip_prefix('-')).collect();
    let missing =
        absent.iter().find(|name| ["amx-tile", "fma4", "tbm", "xop", "sse4a"].contains(name)).unwrap();
    for (cpu, features) in
        [("x86-64", format!("+{missing}")), (host.cpu.as_str(), format!("+sse2,+{missing}"))]
    {
        let Verdict::Recompile(why) = here(&named(cpu, &features)) else { panic!("{cpu} {features}") };
        assert!(why.contains(missing), "{missing}: {why}");
        let error = named(cpu, &features).load().err().unwrap();
        assert_eq!(error.kind(), ErrorKind::UNSUPPORTED);
        assert!(error.message().contains(missing), "{error}");
    }
    // A processor of another maker, whose features nobody writes out: bdver2 has fma4, tbm and xop.
    if absent.contains(&"xop") {
        let Verdict::Recompile(why) = here(&named("bdver2", "")) else { panic!("bdver2") };
        assert!(why.contains("xop") && why.contains("tbm") && !why.contains("amx-tile"), "{why}");
    }
    for (cpu, features) in [("unheard-of", ""), ("x86-64", "+unheard-of")] {
        let Verdict::Recompile(why) = here(&named(cpu, features)) else { panic!("{cpu} {features}") };
        assert!(why.contains("\"unheard-of\", which is not known here"), "{why}");
    }
}
