//! Tests of texts against goldens. `BLESS=1` rewrites the goldens.

use std::path::PathBuf;

use chipdock_ir::{CompareOp, DType, Expr, IrModule, build};

use super::modules;
use super::support::{Plain, lowered};
use crate::{Options, write_module};

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("goldens").join(format!("{name}.ll"))
}

fn check(name: &str, module: &IrModule) {
    let options = Options { debug: name == "lines", file: Some("kernels/lines.py") };
    let text = match write_module(module, &Plain::default(), &options) {
        Ok(text) => text.text,
        Err(diagnostics) => {
            let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            panic!("{name}:\n{}", all.join("\n"))
        }
    };
    chipdock_test_support::bless(&golden(name), &text).unwrap_or_else(|error| panic!("{error}"));
}

/// As small as kernels get, with all that the passes put around it.
fn vecadd() -> IrModule {
    let mut f = build::function("vecadd");
    let n = f.size("n");
    let a = f.buffer("A", [&n], DType::FLOAT32);
    let b = f.buffer("B", [&n], DType::FLOAT32);
    let c = f.buffer("C", [&n], DType::FLOAT32);
    f.grid(["i"], [&n], |f, [i]| {
        f.block("C", |f| {
            let vi = f.spatial("vi", &n, &i);
            f.store(&c, [&vi], a.at([&vi]) + b.at([&vi]));
        });
    });
    build::module([f.finish()])
}

/// A reduction over rows, with booleans and a scalar parameter.
fn rows() -> IrModule {
    let mut f = build::function("rows");
    let n = f.size("n");
    let a = f.buffer("A", [&n, &Expr::i32(12)], DType::FLOAT16);
    let b = f.buffer("B", [&n], DType::BOOL);
    let scale = f.scalar("scale", DType::FLOAT32);
    f.grid(["i", "k"], [&n, &Expr::i32(12)], |f, [i, k]| {
        f.block("B", |f| {
            let (vi, vk) = (f.spatial("vi", &n, &i), f.reduce("vk", 12, &k));
            f.init(|f| f.store(&b, [&vi], Expr::bool(false)));
            let product = a.at([&vi, &vk]).cast(DType::FLOAT32) * scale.clone();
            let is_greater = Expr::compare(CompareOp::Gt, product, Expr::float(0.5, DType::FLOAT32));
            f.store(&b, [&vi], b.at([&vi]).or(is_greater));
        });
    });
    build::module([f.finish()])
}

#[test]
fn goldens_are_current() {
    for (name, module) in modules::all() {
        check(name, &module);
    }
    check("vecadd", &lowered(&vecadd()));
    check("rows", &lowered(&rows()));
}

#[test]
fn llvm_v1_the_same_module_gives_the_same_text() {
    let texts = || -> Vec<String> {
        let all = modules::all().into_iter().map(|(_, module)| module);
        all.map(|module| super::support::text(&module)).collect()
    };
    assert_eq!(texts(), texts());
}
