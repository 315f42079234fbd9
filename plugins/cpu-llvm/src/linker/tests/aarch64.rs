//! A test of objects for AArch64, whose code runs in software.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::Path;
use std::process::{Command, Output};

use chipdock_test_support::setup::missing;

use super::super::place::place;
use super::RICH;
use crate::llvm::plan::Plan;
use crate::llvm::{MachineOptions, Wanted, compile, library};

/// Puts an image where it is for, and calls its function as the test beside LLVM's linker does.
const PROGRAM: &str = r#"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
float own_expf(float x) { return expf(x); }
size_t own_strlen(const char *text) { return strlen(text); }
void *own_memset(void *to, int byte, size_t count) { return memset(to, byte, count); }
void *own_memcpy(void *to, const void *from, size_t count) { return memcpy(to, from, count); }
static char *variables[] = {0};
char **own_environ = variables;
int main(int count, char **words) {
    FILE *file = fopen(words[1], "rb");
    char *base = (char *)strtoull(words[2], 0, 16);
    size_t size = strtoull(words[3], 0, 16), offset = strtoull(words[4], 0, 16);
    int rights = PROT_READ | PROT_WRITE | PROT_EXEC;
    if (mmap(base, size, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != base) return 2;
    if (fread(base, 1, size, file) != size) return 3;
    __builtin___clear_cache(base, base + size);
    double (*rich)(int64_t, char *) = (double (*)(int64_t, char *))(base + offset);
    static char space[100000];
    for (int64_t n = 0; n < 8; n++) printf("%.6f\n", rich(n, space));
    return space[99999] == 7 ? 0 : 4;
}
"#;
/// An address far from the program's.
const BASE: u64 = 0x2000_0000_0000;

fn run(command: &mut Command) -> Option<Output> {
    let output = command.output().ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, text(&output.stderr));
    Some(output)
}

/// The addresses of what the program has in place of the C library's symbols.
fn externals(program: &Path) -> Option<BTreeMap<CString, usize>> {
    let output = run(Command::new("nm").arg(program))?;
    let line = |line: &str| {
        let (address, name) = (line.split(' ').next()?, line.split(" own_").nth(1)?);
        Some((CString::new(name).ok()?, usize::from_str_radix(address, 16).ok()?))
    };
    Some(String::from_utf8(output.stdout).ok()?.lines().filter_map(line).collect())
}

#[test]
fn an_object_for_aarch64_computes_what_it_does_here() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("program.c"), PROGRAM).unwrap();
    let mut compiler = Command::new("aarch64-linux-gnu-gcc");
    compiler.args(["-O1", "-static", "-no-pie", "-o"]).arg(path("program")).arg(path("program.c")).arg("-lm");
    let has_tools = run(Command::new("qemu-aarch64").arg("--version")).and(run(&mut compiler)).is_some();
    let Some(externals) = has_tools.then(|| externals(&path("program"))).flatten() else {
        return missing(
            "qemu-aarch64, aarch64-linux-gnu-gcc or nm (Debian: qemu-user, gcc-aarch64-linux-gnu, binutils)",
        );
    };
    let options = MachineOptions {
        triple: "aarch64-unknown-linux-gnu".to_owned(),
        opt_level: 3,
        ..MachineOptions::default()
    };
    let wanted = Wanted { object: true, ..Wanted::default() };
    let object = match compile(library().unwrap(), RICH, &options, wanted, &|| false) {
        Ok(output) => output.object,
        Err(error) => return chipdock_test_support::skipped(&format!("an object for AArch64: {error}")),
    };
    let plan = Plan::of_another_machine(&object, externals);
    let placed = place(&plan, 1 << 16).unwrap();
    assert!(placed.stubs() >= 3 && placed.entries() > placed.stubs());
    let mut image = vec![0; placed.size_bytes()];
    placed.write(&plan, BASE, &mut image).unwrap();
    std::fs::write(path("image"), &image).unwrap();
    let number = |number: u64| format!("{number:x}");
    let mut command = Command::new("qemu-aarch64");
    command.arg(path("program")).arg(path("image")).args([number(BASE), number(image.len() as u64)]);
    let output = run(command.arg(number(placed.place_of("rich").unwrap() as u64))).unwrap();
    let expected = "7.389056\n5.000000\n42.000000\n3.500000\n1.000000\n3.718282\n-1.000000\n-1.000000\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
