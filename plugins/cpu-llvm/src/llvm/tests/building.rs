//! Tests of rules LIBLLVM-O4 to LIBLLVM-O7.

use std::sync::atomic::{AtomicUsize, Ordering};

use chipdock_plugin_api::{Error, ErrorKind, Severity};

use super::super::{MachineOptions, Wanted, compile, library};
use super::{ADD, call_add, child, host_options, is_child, load, object_of};

const ALL: Wanted = Wanted { object: true, assembly: true, ir: true };

fn build(ir: &str) -> Result<super::super::compile::Output, Error> {
    compile(library().unwrap(), ir, &host_options(), ALL, &|| false)
}

#[test]
fn the_host_compiles_for_itself() {
    let output = build(ADD).unwrap();
    assert_eq!(&output.object[..4], b"\x7fELF");
    assert!(output.assembly.contains("add:"), "{}", output.assembly);
    assert!(output.ir.contains("x float>"), "vectorised at level 3: {}", output.ir);
    assert_eq!(output.notes, []);
}

#[test]
fn levels_are_those_of_llvm() {
    for (opt_level, is_vector, is_plain) in
        [(0, false, true), (1, false, false), (2, true, false), (3, true, false)]
    {
        let options = MachineOptions { opt_level, ..host_options() };
        let ir = compile(library().unwrap(), ADD, &options, ALL, &|| false).unwrap().ir;
        assert_eq!(ir.contains("x float>"), is_vector, "level {opt_level}: {ir}");
        // Level 0 leaves the names and the text as they were.
        assert_eq!(ir.contains("%none = icmp sle i64 %n, 0"), is_plain, "level {opt_level}: {ir}");
    }
}

/// The file that a message names, which is removed.
fn kept_ir(error: &Error) -> String {
    assert_eq!(error.kind(), ErrorKind::INTERNAL, "{error}");
    let message = error.message().into_owned();
    let (_, path) = message.split_once("the IR is in ").unwrap_or_else(|| panic!("names no file: {message}"));
    let text = std::fs::read_to_string(path).unwrap();
    std::fs::remove_file(path).unwrap();
    text
}

#[test]
fn libllvm_o7_ir_that_cannot_be_read_is_our_bug_and_is_kept() {
    let ir = "define void @f() {\n  %x = add i32 1, 1.0\n  ret void\n}\n";
    let error = build(ir).unwrap_err();
    let message = error.message().into_owned();
    assert!(message.contains("cannot read the IR") && message.contains("2:19"), "{message}");
    assert!(message.contains("a bug of the code generator") && message.contains("LLVM 19."), "{message}");
    assert_eq!(kept_ir(&error), ir);
}

#[test]
fn libllvm_o7_ir_that_is_not_valid_is_our_bug_and_is_kept() {
    // A use that its definition does not dominate: only the verifier finds it.
    let ir = "define i32 @f(i1 %c) {\n  br i1 %c, label %a, label %b\na:\n  %x = add i32 1, 2\n  br label %b\nb:\n  ret i32 %x\n}\n";
    let error = build(ir).unwrap_err();
    assert!(error.message().contains("Instruction does not dominate all uses"), "{error}");
    assert_eq!(kept_ir(&error), ir);
}

/// An instruction of another processor: the code generator ends the process over it.
#[cfg(target_arch = "x86_64")]
const FATAL: &str = "declare i32 @llvm.aarch64.crc32b(i32, i32)\ndefine i32 @f(i32 %x) {\n  %y = call i32 \
                     @llvm.aarch64.crc32b(i32 %x, i32 %x)\n  ret i32 %y\n}\n";
#[cfg(not(target_arch = "x86_64"))]
const FATAL: &str = "declare i32 @llvm.x86.sse42.crc32.32.32(i32, i32)\ndefine i32 @f(i32 %x) {\n  %y = call i32 \
                     @llvm.x86.sse42.crc32.32.32(i32 %x, i32 %x)\n  ret i32 %y\n}\n";

#[test]
fn libllvm_o6_where_llvm_gives_up_the_process_lives() {
    for _ in 0..3 {
        let error = build(FATAL).unwrap_err();
        assert!(error.message().contains("LLVM gave up: Cannot select"), "{error}");
        assert_eq!(kept_ir(&error), FATAL);
        call_add(&load(ADD, "add"));
    }
}

#[test]
fn libllvm_o5_diagnostics_become_notes_and_nothing_is_printed() {
    if is_child() {
        let warns = "declare void @g(ptr)\ndefine void @f() \"warn-stack-size\"=\"8\" {\n  %x = alloca [100 x i8]\n  \
                     call void @g(ptr %x)\n  ret void\n}\n";
        let notes = build(warns).unwrap().notes;
        assert!(
            !notes.is_empty() && notes.iter().all(|note| note.severity == Severity::Warning),
            "{notes:?}"
        );
        assert!(notes[0].message.contains("stack frame size"), "{notes:?}");
        let wrong = "define void @f() {\n  call void asm \"not an instruction\", \"\"()\n  ret void\n}\n";
        for ir in [FATAL, wrong, "nonsense"] {
            kept_ir(&build(ir).unwrap_err());
        }
        return;
    }
    let output = child("building::libllvm_o5_diagnostics_become_notes_and_nothing_is_printed", &[]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_build_that_was_given_up_answers_cancelled() {
    let error = compile(library().unwrap(), ADD, &host_options(), ALL, &|| true).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CANCELLED, "{error}");
    // Whenever it is given up, the answer is that or the whole.
    for asked in 1..20 {
        let count = AtomicUsize::new(0);
        let cancelled = || count.fetch_add(1, Ordering::Relaxed) >= asked;
        match compile(library().unwrap(), ADD, &host_options(), ALL, &cancelled) {
            Ok(output) => assert_eq!(output.object, object_of(ADD)),
            Err(error) => assert_eq!(error.kind(), ErrorKind::CANCELLED, "{error}"),
        }
    }
}

#[test]
fn a_triple_that_is_none_is_the_callers_mistake() {
    for (triple, kind) in [
        ("quantum-unknown-linux", ErrorKind::VALUE_ERROR),
        ("", ErrorKind::VALUE_ERROR),
        ("x86_64-unknown\0-linux", ErrorKind::VALUE_ERROR),
    ] {
        let options = MachineOptions { triple: triple.to_owned(), ..MachineOptions::default() };
        assert_eq!(library().unwrap().machine(&options).err().unwrap().kind(), kind, "{triple:?}");
    }
}

#[test]
fn libllvm_o4_threads_compile_at_once_for_several_machines() {
    let of = |triple: &str, opt_level| MachineOptions {
        triple: triple.to_owned(),
        opt_level,
        ..MachineOptions::default()
    };
    let machines = [
        host_options(),
        MachineOptions { opt_level: 1, ..host_options() },
        of("aarch64-unknown-linux-gnu", 3),
        of("riscv64-unknown-linux-gnu", 2),
        of("wasm32-unknown-unknown", 3),
    ];
    let llvm = library().unwrap();
    let targets = llvm.targets();
    let machines: Vec<_> = machines
        .iter()
        .filter(|options| targets.contains(&super::super::machine::architecture(&options.triple).unwrap()))
        .collect();
    let alone: Vec<_> =
        machines.iter().map(|options| compile(llvm, ADD, options, ALL, &|| false).unwrap()).collect();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (machines, alone) = (&machines, &alone);
            scope.spawn(move || {
                for round in 0..5 {
                    let which = (thread + round) % machines.len();
                    let output = compile(llvm, ADD, machines[which], ALL, &|| false).unwrap();
                    assert_eq!(output.object, alone[which].object, "the same input gives the same bytes");
                    assert_eq!((&output.assembly, &output.ir), (&alone[which].assembly, &alone[which].ir));
                }
            });
        }
    });
}
