//! Test of every error of the target kind against a golden: `goldens/errors.txt`. `BLESS=1`
//! rewrites it.

use std::fmt::Write as _;
use std::path::Path;

use chipdock_plugin_api::{ErrorKind, HostRef, TargetKind as _};
use serde_json::{Value, json};

use super::kinds::target;
use crate::target_kind::LlvmTargetKind;

fn cases() -> Vec<Value> {
    let many: Vec<String> = (0..2000).map(|_| "+avx2".to_owned()).collect();
    let x86 = "x86_64-linux-gnu";
    vec![
        json!({ "mtriple": "" }),
        json!({ "mtriple": "x86_64 linux" }),
        json!({ "mtriple": "x".repeat(200) }),
        json!({ "mtriple": "x86-linux" }),
        json!({ "mtriple": "nosuch-linux" }),
        json!({ "mtriple": "x86_64-pc-lunix-gnu" }),
        json!({ "mtriple": "x86_64-pc-linux-gun" }),
        json!({ "mtriple": "x86_64-pc-linux-gnu-elf" }),
        json!({ "mtriple": "x86_64--linux" }),
        json!({ "mtriple": "s390x-linux-gnu" }),
        json!({ "mtriple": "nvptx64-nvidia-cuda" }),
        json!({ "mtriple": "avr" }),
        json!({ "mtriple": x86, "mcpu": "" }),
        json!({ "mtriple": x86, "mcpu": "sapphirerapid" }),
        json!({ "mtriple": x86, "mcpu": "cortex-a72" }),
        json!({ "mtriple": "wasm32", "mcpu": "nosuch" }),
        json!({ "mtriple": x86, "mcpu": "haswell\u{0}" }),
        json!({ "mtriple": x86, "mcpu": "i486" }),
        json!({ "mtriple": "i686-linux-gnu", "mcpu": "pentium2" }),
        json!({ "mtriple": "riscv64-linux-gnu", "mcpu": "generic-rv32" }),
        json!({ "mtriple": "wasm32", "mcpu": "native" }),
        json!({ "mtriple": x86, "mattr": ["avx2"] }),
        json!({ "mtriple": x86, "mattr": ["nosuch"] }),
        json!({ "mtriple": x86, "mattr": [""] }),
        json!({ "mtriple": x86, "mattr": ["+"] }),
        json!({ "mtriple": x86, "mattr": ["+avx2,+fma"] }),
        json!({ "mtriple": x86, "mattr": ["+avx3"] }),
        json!({ "mtriple": x86, "mattr": ["+neon"] }),
        json!({ "mtriple": x86, "mattr": ["+16bit-mode"] }),
        json!({ "mtriple": x86, "mattr": ["+avx2", "+fma", "-avx2"] }),
        json!({ "mtriple": x86, "mattr": many }),
        json!({ "mtriple": x86, "mattr": ["-sse2"] }),
        json!({ "mtriple": "riscv64-linux-gnu", "mattr": ["+zvbb"] }),
        json!({ "mtriple": "aarch64-linux-gnu", "mattr": ["+reserve-x1"] }),
        json!({ "mtriple": "armv7-linux-gnueabihf", "mattr": ["+noarm"] }),
        json!({ "mtriple": x86, "mabi": "lp64d" }),
        json!({ "mtriple": "riscv64-linux-gnu", "mabi": "lp64x" }),
        json!({ "mtriple": "riscv64-linux-gnu", "mattr": ["-d"], "mabi": "lp64d" }),
        json!({ "mtriple": x86, "mfloat-abi": "hard" }),
        json!({ "mtriple": "armv7-linux-android", "mfloat-abi": "hard" }),
        json!({ "mtriple": "aarch64-linux-gnu", "vector-width": 256 }),
        json!({ "mtriple": x86, "vector-width": 384 }),
        json!({ "mtriple": x86, "pointer-bits": 32 }),
        json!({ "mtriple": "wasm32", "pointer-bits": 48 }),
    ]
}

#[test]
fn every_error_is_its_golden() {
    let mut text = String::new();
    for options in cases() {
        let error = LlvmTargetKind(HostRef::standalone())
            .canonicalize(&target(&options).to_json().to_string())
            .expect_err(&format!("{options} is to be refused"));
        assert_eq!(error.kind(), ErrorKind::VALUE_ERROR, "{options}: {}", error.message());
        let shown: String = options.to_string().chars().take(160).collect();
        writeln!(text, "{shown}\n  {}", error.message()).unwrap();
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("goldens/errors.txt");
    chipdock_test_support::bless(&golden, &text).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_malformed_target_is_a_value_error() {
    for text in ["", "[", "[]", "{}", "{\"kind\": 3}"] {
        let error = LlvmTargetKind(HostRef::standalone()).canonicalize(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::VALUE_ERROR, "{text}");
    }
}
