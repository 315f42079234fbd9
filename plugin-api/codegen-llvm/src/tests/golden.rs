//! Texts against goldens. `BLESS=1` writes the goldens anew.

use std::path::PathBuf;

use chipdock_ir::{DType, Expr, IrModule, build};

use super::support::{lowered, text};

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("goldens").join(format!("{name}.ll"))
}

fn check(name: &str, module: &IrModule) {
    let text = text(module);
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(golden(name).parent().unwrap()).unwrap();
        std::fs::write(golden(name), &text).unwrap();
    }
    let expected = std::fs::read_to_string(golden(name)).unwrap_or_default();
    assert!(text == expected, "{name}: the text has changed; look at it, then run with BLESS=1:\n{text}");
}

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
    let _ = Expr::i32(0);
    build::module([f.finish()])
}

#[test]
fn goldens_are_current() {
    check("vecadd", &lowered(&vecadd()));
}
