//! Test that a dropped module frees its code, so that memory does not grow.
//!
//! Measured as resident bytes of a process that does nothing else, after a hundred modules and at
//! the end. The bound is the memory of one module in ten if its pages were kept (three pages of
//! code and data at least).

use chipdock_test_support::memory::resident_bytes;

use super::super::{Wanted, compile, library};
use super::{ADD, Jit, Naming, call_add, child, host_options, is_child};

/// Modules that are compiled, loaded, called and dropped.
const MODULES: usize = 1000;
/// Modules before the first measurement.
const WARM: usize = 100;
/// What the process may have grown by at the end.
const GROWTH_MAX_BYTES: usize = MODULES / 10 * 3 * 4096;

fn one(number: usize) {
    // No two modules are the same.
    let ir = ADD.replace(
        "%z = fadd float %x, %y",
        &format!(
            "%w = fadd float %x, %y\n  %k = fadd float %w, {number}.0\n  %z = fsub float %k, {number}.0"
        ),
    );
    let llvm = library().unwrap();
    let wanted = Wanted { object: true, ..Wanted::default() };
    let object = compile(llvm, &ir, &host_options(), wanted, &|| false).unwrap().object;
    let jit = Jit::load(llvm, &object, &["add"], core::ptr::null(), Naming::off()).unwrap();
    call_add(&jit);
}

fn stays_flat(threads: usize) {
    let round = |from: usize, to: usize| {
        std::thread::scope(|scope| {
            for thread in 0..threads {
                scope.spawn(move || (from..to).filter(|number| number % threads == thread).for_each(one));
            }
        });
    };
    round(0, WARM);
    let before = resident_bytes();
    round(WARM, MODULES);
    let after = resident_bytes();
    println!("{threads} threads: {before} bytes after {WARM} modules, {after} after {MODULES}");
    let grown = after.saturating_sub(before);
    assert!(grown <= GROWTH_MAX_BYTES, "grown by {grown} bytes, expected at most {GROWTH_MAX_BYTES}");
}

#[test]
fn a_thousand_modules_leave_memory_flat() {
    match is_child() {
        true => stays_flat(1),
        false => print!(
            "{}",
            String::from_utf8_lossy(&child("memory::a_thousand_modules_leave_memory_flat", &[]).stdout)
        ),
    }
}

#[test]
fn a_thousand_modules_of_eight_threads_leave_memory_flat() {
    match is_child() {
        true => stays_flat(8),
        false => print!(
            "{}",
            String::from_utf8_lossy(
                &child("memory::a_thousand_modules_of_eight_threads_leave_memory_flat", &[]).stdout
            )
        ),
    }
}
