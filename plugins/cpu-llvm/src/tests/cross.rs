//! Tests of compiling for other machines, by inspection of the objects.

use std::collections::BTreeSet;
use std::sync::Arc;

use chipdock_codegen_llvm::{Options, write_module};
use chipdock_ir::build::Loop;
use chipdock_ir::{AttrValue, DType, Expr, ForKind, IrModule, Op, StorageScope, attr, build};
use chipdock_passes::{LowerOptions, lower};
use object::read::{Object as _, ObjectSection as _, ObjectSymbol as _};
use object::{Architecture, BinaryFormat, SectionKind};
use serde_json::{Value, json};

use super::kinds::{canonical, schema};
use crate::llvm::compile::Output;
use crate::llvm::portable;
use crate::llvm::{Wanted, compile, library};
use crate::target::CpuTarget;

/// What objects may want from whoever links them: C's memory functions, its mathematics, and what
/// looks for TVM-FFI.
const FROM_C: &[&str] = &["malloc", "free", "memcpy", "memmove", "memset", "dlsym", "fmod"];
/// What compilers bring with them for ARM: arithmetic that its processors may not have, by the
/// start of the name.
const FROM_EABI: &[&str] = &["__aeabi_"];
/// The same on other machines of 32 bits: conversions and division of 64-bit integers. And the
/// tables of linkers.
const FROM_COMPILER: &[&str] =
    &["__divdi3", "__udivdi3", "__moddi3", "__umoddi3", "__floatdidf", "_GLOBAL_OFFSET_TABLE_", "_gp_disp"];

/// Symbols of the functions of [`module`].
const FUNCTIONS: &[&str] = &["__tvm_ffi_axpb", "__tvm_ffi_halves", "__tvm_ffi_rests", "__tvm_ffi_reversed"];

/// Functions that between them have errors with numbers in them, workspace, float16, vectors,
/// functions of C, and errors.
pub(super) fn module() -> IrModule {
    let mut f = build::function("axpb");
    let n = f.size("n");
    let a = f.buffer("A", [&n], DType::FLOAT32);
    let b = f.buffer("B", [&n], DType::FLOAT32);
    let (scale, bias) = (f.scalar("scale", DType::FLOAT32), f.scalar("bias", DType::INT32));
    f.for_loop("i", &n, ForKind::Serial, |f, i| {
        f.store(&b, [&i], a.at([&i]) * scale.clone() + bias.cast(DType::FLOAT32));
    });
    let mut g = build::function("halves");
    let m = g.size("m");
    let c = g.buffer("C", [&m], DType::FLOAT16);
    let d = g.buffer("D", [&m], DType::BFLOAT16);
    g.for_loop("i", &m, ForKind::Serial, |g, i| {
        let both = c.at([&i]).cast(DType::FLOAT32) + d.at([&i]).cast(DType::FLOAT32);
        g.store(&c, [&i], both.cast(DType::FLOAT16));
    });
    let mut h = build::function("rests");
    let x = h.buffer("X", [64], DType::FLOAT64);
    let y = h.buffer("Y", [64], DType::FLOAT64);
    h.for_loop("i", 64, ForKind::Serial, |h, i| {
        h.store(
            &y,
            [&i],
            Expr::call(Op::Fmod, vec![x.at([&i]), Expr::float(1.5, DType::FLOAT64)], DType::FLOAT64),
        );
    });
    let mut r = build::function("reversed");
    let u = r.buffer("U", [1024], DType::INT32);
    let v = r.buffer("V", [1024], DType::INT32);
    let w = r.alloc("W", [1024], DType::INT32, StorageScope::GLOBAL);
    r.for_loop("i", 1024, ForKind::Serial, |r, i| r.store(&w, [&i], u.at([&i]) * Expr::i32(3)));
    r.for_loop("i", 1024, ForKind::Serial, |r, i| r.store(&v, [&i], w.at([&(Expr::i32(1023) - i.clone())])));
    build::module([f.finish(), g.finish(), h.finish(), r.finish()])
}

pub(super) fn output(module: &IrModule, options: Value) -> Output {
    let target = Arc::new(canonical(options));
    let capabilities = Arc::new(schema().capabilities(&target, 1));
    let lowered = lower(module, &LowerOptions::new(capabilities)).unwrap().module;
    let llvm = library().unwrap();
    let cpu = CpuTarget::new(llvm, &target).unwrap();
    let text = write_module(&lowered, &cpu, &Options::default())
        .unwrap_or_else(|problems| panic!("{problems:?}"))
        .text;
    let wanted = Wanted { object: true, assembly: true, ..Wanted::default() };
    compile(llvm, &text, cpu.machine_options(), wanted, &|| false).unwrap()
}

struct Expected {
    options: Value,
    architecture: Architecture,
    format: BinaryFormat,
    is_64: bool,
    /// Functions that may be missing besides those of C.
    missing: &'static [&'static str],
    /// Instructions that are to be there.
    instructions: &'static [&'static str],
}

fn elf(options: Value, architecture: Architecture, instructions: &'static [&'static str]) -> Expected {
    Expected { options, architecture, format: BinaryFormat::Elf, is_64: true, missing: &[], instructions }
}

fn narrow(
    options: Value,
    architecture: Architecture,
    missing: &'static [&'static str],
    instructions: &'static [&'static str],
) -> Expected {
    Expected { options, architecture, format: BinaryFormat::Elf, is_64: false, missing, instructions }
}

fn cases() -> Vec<Expected> {
    let riscv = |features: &[&str]| json!({ "mtriple": "riscv64-linux-gnu", "mattr": features });
    vec![
        elf(json!({}), Architecture::X86_64, &[]),
        elf(
            json!({ "mtriple": "x86_64-linux-gnu", "mcpu": "haswell" }),
            Architecture::X86_64,
            &["%ymm", "vcvtph2ps"],
        ),
        elf(
            json!({ "mtriple": "x86_64-linux-gnu", "mcpu": "skylake-avx512" }),
            Architecture::X86_64,
            &["%zmm"],
        ),
        elf(json!({ "mtriple": "aarch64-linux-gnu" }), Architecture::Aarch64, &["fmla\tv", ".4s", "fcvt"]),
        elf(
            json!({ "mtriple": "aarch64-linux-gnu", "mcpu": "neoverse-v1" }),
            Architecture::Aarch64,
            &["ptrue", "z0.s"],
        ),
        elf(riscv(&[]), Architecture::Riscv64, &["fmadd.s"]),
        elf(riscv(&["+v"]), Architecture::Riscv64, &["vsetvli", "vfmadd"]),
        elf(riscv(&["+v", "+zvfhmin", "+zfhmin"]), Architecture::Riscv64, &["vfwcvt.f.f.v"]),
        Expected {
            missing: &[".TOC."],
            ..elf(
                json!({ "mtriple": "powerpc64le-linux-gnu", "mcpu": "pwr9" }),
                Architecture::PowerPc64,
                &["xvmadd"],
            )
        },
        elf(json!({ "mtriple": "loongarch64-linux-gnu" }), Architecture::LoongArch64, &["fmadd.s"]),
        elf(json!({ "mtriple": "mips64el-linux-gnu" }), Architecture::Mips64, &["mul.s"]),
        narrow(json!({ "mtriple": "armv7-linux-gnueabihf" }), Architecture::Arm, FROM_EABI, &["vmla"]),
        narrow(json!({ "mtriple": "thumbv7em-none-eabi" }), Architecture::Arm, FROM_EABI, &[]),
        narrow(json!({ "mtriple": "i686-linux-gnu" }), Architecture::I386, FROM_COMPILER, &["mulps"]),
        narrow(json!({ "mtriple": "riscv32-linux-gnu" }), Architecture::Riscv32, FROM_COMPILER, &["fmadd.s"]),
        narrow(json!({ "mtriple": "mipsel-linux-gnu" }), Architecture::Mips, FROM_COMPILER, &["mul.s"]),
        narrow(json!({ "mtriple": "hexagon" }), Architecture::Hexagon, FROM_COMPILER, &["sfmpy"]),
        Expected {
            format: BinaryFormat::Wasm,
            ..narrow(
                json!({ "mtriple": "wasm32", "mattr": ["+simd128"] }),
                Architecture::Wasm32,
                &["__stack_pointer"],
                &["f32x4.mul"],
            )
        },
    ]
}

/// What is wrong with an object.
fn problems(expected: &Expected, output: &Output) -> Vec<String> {
    let file = object::File::parse(&*output.object).unwrap();
    let mut problems = Vec::new();
    let mut expect = |is: bool, what: String| problems.extend((!is).then_some(what));
    expect(file.format() == expected.format, format!("its format is {:?}", file.format()));
    expect(file.architecture() == expected.architecture, format!("it is for {:?}", file.architecture()));
    expect(file.is_64() == expected.is_64, "the width of its pointers".to_owned());
    expect(file.is_little_endian(), "big-endian".to_owned());
    let code = file.sections().filter(|section| section.kind() == SectionKind::Text);
    let size: u64 = code.map(|section| section.size()).sum();
    expect(size > 500, format!("{size} bytes of code"));
    let names = |is_undefined: bool| -> BTreeSet<String> {
        file.symbols()
            .filter(|symbol| symbol.is_global() && symbol.is_undefined() == is_undefined)
            .filter_map(|symbol| symbol.name().ok().filter(|name| !name.is_empty()).map(str::to_owned))
            .collect()
    };
    let defined = names(false);
    for name in FUNCTIONS.iter().copied().chain(["__chipdock_env"]) {
        expect(defined.contains(name), format!("{name} is not among {defined:?}"));
    }
    let checked = portable::check(&output.object, FUNCTIONS);
    expect(checked.is_ok(), format!("as an object for linkers (LLLOAD-R5): {checked:?}"));
    let is_known = |name: &String| {
        FROM_C.contains(&name.as_str())
            || expected
                .missing
                .iter()
                .any(|known| known == name || known.ends_with('_') && name.starts_with(known))
    };
    let unknown: Vec<String> = names(true).into_iter().filter(|name| !is_known(name)).collect();
    expect(unknown.is_empty(), format!("nobody says that {unknown:?} is there when it is linked"));
    for instruction in expected.instructions {
        expect(output.assembly.contains(instruction), format!("no {instruction}"));
    }
    problems
}

#[test]
fn objects_for_other_machines_have_what_they_should_have() {
    let module = module();
    let mut all = Vec::new();
    for expected in cases() {
        let output = output(&module, expected.options.clone());
        all.extend(
            problems(&expected, &output).into_iter().map(|what| format!("{}: {what}", expected.options)),
        );
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn objects_have_the_format_of_their_system() {
    for (triple, magic) in [
        ("x86_64-pc-windows-msvc", &[0x64, 0x86][..]),
        ("aarch64-pc-windows-msvc", &[0x64, 0xaa]),
        ("arm64-apple-macosx14.0", &[0xcf, 0xfa, 0xed, 0xfe]),
        ("aarch64-linux-android21", b"\x7fELF"),
    ] {
        let output = output(&module(), json!({ "mtriple": triple }));
        assert!(output.object.starts_with(magic), "{triple}: {:?}", &output.object[..4]);
        portable::check(&output.object, FUNCTIONS).unwrap_or_else(|why| panic!("{triple}: {why}"));
    }
}

/// codegen-llvm: LLVM-V12. Vectors that turn out to be aligned go past the caches, and a fence
/// comes before what follows.
#[test]
fn streamed_stores_are_instructions_and_fences() {
    let mut f = build::function("f");
    let n = f.size("n");
    let (a, b) = (f.buffer("A", [&n], DType::FLOAT32), f.buffer("B", [&n], DType::FLOAT32));
    let streamed =
        Loop::serial("i", n.clone() / Expr::i32(16)).annotate(attr::NONTEMPORAL, AttrValue::Int(1));
    f.for_each(streamed, |f, i| {
        let at = (i * Expr::i32(16)).ramp(Expr::i32(1), 16);
        f.store(&b, [&at], Expr::load(&a, vec![at.clone()]));
    });
    let module = build::module([f.finish()]);
    let x86 = |cpu: &str| json!({ "mtriple": "x86_64-linux-gnu", "mcpu": cpu });
    for (options, instructions) in [
        (x86("cascadelake"), &["vmovntps\t%zmm", "sfence"][..]),
        (x86("haswell"), &["vmovntps\t%ymm", "sfence"]),
        (x86("x86-64"), &["movntps\t%xmm", "sfence"]),
        (json!({ "mtriple": "i686-linux-gnu" }), &["movntps\t%xmm", "mfence"]),
        (json!({ "mtriple": "aarch64-linux-gnu" }), &["stnp\t", "dmb\tish"]),
    ] {
        let assembly = output(&module, options.clone()).assembly;
        for instruction in instructions {
            assert!(assembly.contains(instruction), "{options}: no {instruction:?} in\n{assembly}");
        }
        let plain = instructions[1] != "mfence" && assembly.contains("mfence");
        assert!(!plain, "{options}: a fence of everything");
    }
}
