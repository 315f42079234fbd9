//! LLVM itself, on IR that is written by hand.

use super::jit::Jit;
use super::{MachineOptions, Wanted, compile, library};

pub(crate) const ADD: &str = r#"
define void @add(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %n) {
entry:
  %none = icmp sle i64 %n, 0
  br i1 %none, label %done, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %pa = getelementptr inbounds float, ptr %a, i64 %i
  %pb = getelementptr inbounds float, ptr %b, i64 %i
  %pc = getelementptr inbounds float, ptr %c, i64 %i
  %x = load float, ptr %pa, align 4
  %y = load float, ptr %pb, align 4
  %z = fadd float %x, %y
  store float %z, ptr %pc, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"#;

pub(crate) fn host_options() -> MachineOptions {
    let host = library().unwrap().host();
    MachineOptions {
        triple: host.triple,
        cpu: host.cpu,
        features: host.features,
        opt_level: 3,
        ..MachineOptions::default()
    }
}

#[test]
fn the_host_compiles_for_itself() {
    let llvm = library().unwrap();
    let all = Wanted { object: true, assembly: true, ir: true };
    let output = compile(llvm, ADD, &host_options(), all, &|| false).unwrap();
    assert_eq!(&output.object[..4], b"\x7fELF");
    assert!(output.assembly.contains("add:"), "{}", output.assembly);
    assert!(output.ir.contains("define"), "{}", output.ir);
    assert!(output.ir.contains("x float>"), "vectorised at level 3: {}", output.ir);
    assert_eq!(output.notes, []);
}

pub(crate) type Add = unsafe extern "C" fn(*const f32, *const f32, *mut f32, i64);

pub(crate) fn object_of(ir: &str) -> Vec<u8> {
    let wanted = Wanted { object: true, ..Wanted::default() };
    compile(library().unwrap(), ir, &host_options(), wanted, &|| false).unwrap().object
}

pub(crate) fn call_add(jit: &Jit) {
    // SAFETY: the function that `ADD` has.
    let add: Add = unsafe { core::mem::transmute(jit.address("add").unwrap()) };
    let a: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let mut c = vec![0.0; 1000];
    // SAFETY: arrays of that many elements.
    unsafe { add(a.as_ptr(), a.as_ptr(), c.as_mut_ptr(), 1000) };
    assert!(c.iter().enumerate().all(|(i, x)| *x == 2.0 * i as f32));
}

#[test]
fn an_object_becomes_callable() {
    let jit = Jit::load(library().unwrap(), &object_of(ADD), &["add"], core::ptr::null()).unwrap();
    call_add(&jit);
    assert_eq!(jit.address("other"), None);
}
