//! Tests of rules LLLINK-N1 to LLLINK-N7, beside LLVM's linker.

mod aarch64;
mod values;

use chipdock_plugin_api::HostRef;
use proptest::prelude::{any, prop};
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::llvm::jit::Jit;
use crate::llvm::library;
use crate::llvm::naming::Naming;
use crate::llvm::tests::{ADD, object_of};

/// What kernels' objects have: calls of this object and of the C library, a table of functions, a
/// table of jumps, constants, variables with and without a value, one of the C library, alignment.
const RICH: &str = r#"
@__chipdock_env = global ptr null, align 8
@text = private unnamed_addr constant [6 x i8] c"hello\00"
@numbers = private constant [4 x float] [float 1.5, float 2.5, float 3.5, float 4.5], align 64
@table = private constant [2 x ptr] [ptr @through, ptr @callee]
@zeros = internal global [300 x i64] zeroinitializer, align 64
@count = internal global i64 40, align 8
@environ = external global ptr
declare float @expf(float)
declare i64 @strlen(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define internal float @callee(float %x) noinline uwtable {
  %y = call float @expf(float %x)
  ret float %y
}
define internal float @through(float %x) noinline {
  %y = call float @callee(float %x)
  %z = fadd float %y, 1.0
  ret float %z
}
define double @rich(i64 %n, ptr %space) uwtable {
  switch i64 %n, label %other [ i64 0, label %calls  i64 1, label %texts  i64 2, label %variables
                                i64 3, label %memory  i64 4, label %outer i64 5, label %indirect ]
calls:
  %v = call float @callee(float 2.0)
  br label %end
texts:
  %tick = load volatile i64, ptr @count
  %odd = and i64 %tick, 1
  %even = icmp eq i64 %odd, 0
  %string = select i1 %even, ptr @text, ptr %space
  %length = call i64 @strlen(ptr %string)
  %l = uitofp i64 %length to float
  br label %end
variables:
  %old = load volatile i64, ptr @count
  %new = add i64 %old, 2
  store volatile i64 %new, ptr @count
  %place = getelementptr i64, ptr @zeros, i64 %old
  %zero = load volatile i64, ptr %place
  %sum = add i64 %new, %zero
  %u = uitofp i64 %sum to float
  br label %end
memory:
  call void @llvm.memset.p0.i64(ptr %space, i8 7, i64 100000, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %space, ptr @numbers, i64 16, i1 false)
  %third = getelementptr float, ptr %space, i64 2
  %m = load float, ptr %third
  br label %end
outer:
  %pointer = load ptr, ptr @environ
  %is = icmp ne ptr %pointer, null
  %o = uitofp i1 %is to float
  br label %end
indirect:
  %slot = load volatile i64, ptr @count
  %bit = and i64 %slot, 1
  %entry = getelementptr ptr, ptr @table, i64 %bit
  %f = load ptr, ptr %entry
  %i = call float %f(float 1.0)
  br label %end
other:
  br label %end
end:
  %r = phi float [ %v, %calls ], [ %l, %texts ], [ %u, %variables ], [ %m, %memory ], [ %o, %outer ], [ %i, %indirect ], [ -1.0, %other ]
  %d = fpext float %r to double
  ret double %d
}
"#;

type Rich = unsafe extern "C" fn(i64, *mut u8) -> f64;

fn plan<'a>(object: &'a [u8], symbol: &str) -> Plan<'a> {
    Plan::new(object, &[symbol], Naming::off()).unwrap()
}

fn linked(object: &[u8], symbol: &str) -> Linked {
    Linked::new(&plan(object, symbol)).expect("an object that this linker knows")
}

/// Lines of this process' map of memory: first and last address, and rights.
fn map() -> Vec<(usize, usize, String)> {
    let text = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = |line: &str| {
        let (range, rest) = line.split_once(' ').unwrap();
        let (from, to) = range.split_once('-').unwrap();
        let [from, to] = [from, to].map(|text| usize::from_str_radix(text, 16).unwrap());
        (from, to, rest.split(' ').next().unwrap().to_owned())
    };
    text.lines().map(line).collect()
}

fn rights(address: usize) -> Option<String> {
    map().into_iter().find(|(from, to, _)| (*from..*to).contains(&address)).map(|(_, _, rights)| rights)
}

#[test]
fn both_linkers_give_the_same_results() {
    let object = object_of(RICH);
    let own = linked(&object, "rich");
    let llvms = Jit::load(library().unwrap(), &object, &["rich"], core::ptr::null(), Naming::off()).unwrap();
    let all = |address: usize| {
        // SAFETY: the function that `RICH` has.
        let rich: Rich = unsafe { core::mem::transmute(address) };
        let mut space = vec![0; 100_000];
        // SAFETY: the space that it writes to.
        let results: Vec<f64> = (0..8).map(|n| unsafe { rich(n, space.as_mut_ptr()) }).collect();
        (results, space)
    };
    let (found, space) = all(own.addresses()["rich"]);
    assert_eq!((&found, &space), (&all(llvms.address("rich").unwrap()).0, &space));
    let exp = |x: f32| f64::from(x.exp());
    assert_eq!(found[1..5], [5.0, 42.0, 3.5, 1.0]);
    assert!((found[0] - exp(2.0)).abs() < 1e-5 && (found[5] - exp(1.0) - 1.0).abs() < 1e-5, "{found:?}");
    assert_eq!((found[6], space[99_999]), (-1.0, 7));
}

/// LLLINK-N4: the object has what needs entries and stubs, so that the test above is about them.
#[test]
fn lllink_n4_far_symbols_are_reached_through_the_table() {
    let object = object_of(RICH);
    let plan = plan(&object, "rich");
    let placed = place::place(&plan, page_bytes()).unwrap();
    assert!(placed.stubs() >= 3 && placed.entries() > placed.stubs(), "expf, strlen, memset; environ");
}

/// LLLINK-N3, LLLINK-N6: rights of each part while it is linked; nothing is left when it is
/// dropped.
#[test]
fn lllink_n3_n6_no_memory_is_writable_and_executable_and_none_is_left() {
    let object = object_of(RICH);
    let own = linked(&object, "rich");
    let (code, variable) = (own.addresses()["rich"], own.addresses()["__chipdock_env"]);
    assert_eq!(rights(code).as_deref(), Some("r-xp"));
    assert_eq!(rights(variable).as_deref(), Some("rw-p"));
    assert_eq!(variable % 8, 0);
    let between: Vec<String> =
        map().into_iter().filter(|(from, _, _)| (code..variable).contains(from)).map(|it| it.2).collect();
    assert!(between.contains(&"r--p".to_owned()), "constants: {between:?}");
    assert!(map().iter().all(|(_, _, rights)| !(rights.contains('w') && rights.contains('x'))));
    drop(own);
    assert_eq!((rights(code), rights(variable)), (None, None));
}

#[test]
fn lllink_n6_a_thousand_objects_leave_no_memory() {
    let object = object_of(RICH);
    let plan = plan(&object, "rich");
    drop(Linked::new(&plan).unwrap());
    let before = map().len();
    let kept = Linked::new(&plan).unwrap();
    for _ in 0..1000 {
        drop(Linked::new(&plan).unwrap());
    }
    assert!(map().len() <= before + 8, "{} parts of memory, {before} before", map().len());
    drop(kept);
}

/// LLLINK-N5: the object has unwind tables, and is linked without them.
#[test]
fn lllink_n5_unwind_tables_are_not_loaded() {
    let object = object_of(RICH);
    assert!(object.windows(9).any(|window| window == b".eh_frame"));
    let plan = plan(&object, "rich");
    let size = place::place(&plan, 1).unwrap().size_bytes();
    let less = object_of(&RICH.replace(" uwtable", " nounwind"));
    assert_eq!(size, place::place(&self::plan(&less, "rich"), 1).unwrap().size_bytes());
}

#[test]
fn the_environment_is_written_where_the_code_reads_it() {
    let ir = "@__chipdock_env = global ptr null, align 8\ndefine ptr @env() {\n  %x = load ptr, ptr @__chipdock_env\n  \
              ret ptr %x\n}\n";
    let object = object_of(ir);
    let plan = plan(&object, "env");
    let own = Linked::new(&plan).unwrap();
    // SAFETY: the addresses of this object; a function of this type.
    let env = unsafe {
        plan.set_environment(own.addresses(), 64 as *const _);
        let env: extern "C" fn() -> usize = core::mem::transmute(own.addresses()["env"]);
        env()
    };
    assert_eq!(env, 64);
}

/// The places of relocations of a kind, in the bytes of an object's tables.
fn relocations_of(object: &[u8], kind: u32) -> Vec<usize> {
    let number = |at: usize| u64::from_le_bytes(object[at..at + 8].try_into().unwrap()) as usize;
    let short = |at: usize| usize::from(u16::from_le_bytes(object[at..at + 2].try_into().unwrap()));
    let headers = (0..short(60)).map(|index| number(40) + index * 64);
    let tables = headers.filter(|at| object[at + 4..at + 8] == 4_u32.to_le_bytes());
    let entries = tables.flat_map(|at| (number(at + 24)..number(at + 24) + number(at + 32)).step_by(24));
    entries.filter(|at| object[at + 8..at + 12] == kind.to_le_bytes()).collect()
}

/// LLLINK-N2: absolute addresses of 32 bits do not reach this memory; LLVM's linker says so.
#[test]
#[cfg(target_arch = "x86_64")]
fn lllink_n2_objects_that_do_not_fit_are_left_to_llvm() {
    let good = object_of(RICH);
    let places = relocations_of(&good, object::elf::R_X86_64_PLT32);
    assert!(!places.is_empty());
    for kind in [
        object::elf::R_X86_64_32,
        object::elf::R_X86_64_32S,
        object::elf::R_X86_64_GOTPC32,
        object::elf::R_X86_64_GOTOFF64,
    ] {
        let mut object = good.clone();
        object[places[0] + 8..places[0] + 12].copy_from_slice(&kind.to_le_bytes());
        assert!(Linked::new(&plan(&object, "rich")).is_none(), "{kind}");
    }
    // An addend that leads out of reach.
    let mut far = good.clone();
    far[places[0] + 16..places[0] + 24].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    assert!(Linked::new(&plan(&far, "rich")).is_none());
    let why = Jit::load(library().unwrap(), &far, &["rich"], core::ptr::null(), Naming::off()).err().unwrap();
    assert!(why.message().contains("cannot be linked"), "{why}");
}

/// Links what was damaged: any answer but a crash will do.
fn link_damaged(object: &[u8]) {
    if let Ok(plan) = Plan::new(object, &["rich"], Naming::off()) {
        drop(Linked::new(&plan));
    }
}

#[test]
fn lllink_n1_damaged_objects_are_refused_or_linked_and_nothing_crashes() {
    let good = object_of(RICH);
    let mut runner =
        TestRunner::new(Config { cases: 20_000, failure_persistence: None, ..Config::default() });
    let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6);
    let sections = u64::from_le_bytes(good[40..48].try_into().unwrap()) as usize;
    runner
        .run(&damage, |damage| {
            let mut object = good.clone();
            for (index, (place, byte)) in damage.into_iter().enumerate() {
                // Half of the damage is to the headers of sections, where offsets are.
                let place = match index % 2 {
                    0 => place.index(object.len()),
                    _ => sections + place.index(object.len() - sections),
                };
                object[place] ^= byte;
            }
            link_damaged(&object);
            Ok(())
        })
        .unwrap();
}

#[test]
fn lllink_n1_each_byte_may_be_wrong() {
    let good = object_of(RICH);
    for place in 0..good.len() {
        for byte in [0, 0x7f, 0xff, good[place] ^ 1, good[place].wrapping_add(8)] {
            let mut object = good.clone();
            object[place] = byte;
            link_damaged(&object);
        }
    }
    for size in 0..good.len() {
        link_damaged(&good[..size]);
    }
}

/// LLLINK-N7: with gdb's setting LLVM's linker links; with perf's alone this one does.
#[test]
fn lllink_n7_gdb_is_for_llvms_linker() {
    let object = object_of(ADD);
    for (perf, gdb) in [(false, false), (true, false), (false, true), (true, true)] {
        let naming = Naming::with(HostRef::standalone(), perf, gdb);
        let plan = Plan::new(&object, &["add"], naming).unwrap();
        assert_eq!(plan.is_for_llvm(), gdb);
    }
}
