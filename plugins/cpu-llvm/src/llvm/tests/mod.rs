//! Tests of LLVM itself, on IR written by hand.

mod building;
mod chosen;
mod linking;
mod memory;
mod opening;

use std::process::{Command, Output};

use super::jit::Jit;
use super::naming::Naming;
use super::{MachineOptions, Wanted, compile, library};

/// A loop, vectorised from level 2 on.
pub(crate) const ADD: &str = r"
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
";

type Add = unsafe extern "C" fn(*const f32, *const f32, *mut f32, i64);

fn host_options() -> MachineOptions {
    let host = library().unwrap().host();
    MachineOptions {
        triple: host.triple,
        cpu: host.cpu,
        features: host.features,
        opt_level: 3,
        ..MachineOptions::default()
    }
}

pub(crate) fn object_of(ir: &str) -> Vec<u8> {
    let wanted = Wanted { object: true, ..Wanted::default() };
    compile(library().unwrap(), ir, &host_options(), wanted, &|| false).unwrap().object
}

fn load(ir: &str, symbol: &str) -> Jit {
    Jit::load(library().unwrap(), &object_of(ir), &[symbol], core::ptr::null(), Naming::off()).unwrap()
}

fn call_add(jit: &Jit) {
    // SAFETY: the function that `ADD` has.
    let add: Add = unsafe { core::mem::transmute(jit.address("add").unwrap()) };
    let a: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let mut c = vec![0.0; 1000];
    // SAFETY: arrays of that many elements.
    unsafe { add(a.as_ptr(), a.as_ptr(), c.as_mut_ptr(), 1000) };
    assert!(c.iter().enumerate().all(|(i, x)| *x == 2.0 * i as f32));
}

/// Names the part of a test that runs in a process of its own.
const CHILD: &str = "CHIPDOCK_TEST_CHILD";

/// Whether this is the process that [`child`] started.
fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs a test once more, in a process of its own, with variables set.
fn child(test: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("llvm::tests::{test}"), "--nocapture"]).env(CHILD, "1");
    for (name, value) in variables {
        command.env(name, value);
    }
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("1 passed"), "the child ran no test: {}", text(&output.stdout));
    output
}
