//! Inspection of the file without running it: exports, manifest, symbols, dependencies.

mod elf;
mod manifest;

pub(super) use manifest::manifest;

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use chipdock_host::manifest::manifest_path;
use object::elf as numbers;

use self::elf::{Image, image};
use crate::stop::ensure;
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

/// Libraries that a plugin may depend on: the loader and the C library of any Linux, and the
/// unwinder that Rust's standard library and C++ share with them. A name must be in this list or
/// begin with one of `SYSTEM_PREFIXES`.
const SYSTEM_LIBRARIES: &[&str] = &[
    "libc.so.6",
    "libm.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "libutil.so.1",
    "libresolv.so.2",
    "libgcc_s.so.1",
];
const SYSTEM_PREFIXES: &[&str] = &["ld-linux", "libc.musl-", "ld-musl-"];
const CPP_RUNTIMES: &[&str] = &["libstdc++.so", "libc++.so", "libc++abi.so"];

const ENTRY: &str = "chipdock_plugin_v1";
const ENTRY_OF_ANY_MAJOR: &str = "chipdock_plugin_v";
/// Symbol under which a Rust plugin exports its layouts (P4.2).
const LAYOUT_CHECK: &str = "_1as_0lib_1header_0root_bmodule_bloader";
const GROUP_OR_OTHERS_WRITE: u32 = 0o022;

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name, clause, body: fn(&Context) -> Verdict| {
        cases.case(Group::Image, name, clause, Subject::Plugin).run(body);
    };
    case("file/shared-object", "P1.6", shared_object);
    case("file/machine", "P1.6", machine);
    case("file/only-its-owner-writes-it", "P1.10", only_its_owner);
    case("exports/entry", "P1.1", entry);
    case("exports/nothing-else", "P1.5", nothing_else);
    case("exports/no-tvm-ffi", "P6.2", no_tvm_ffi);
    case("symbols/none-of-the-host", "P1.7", none_of_the_host);
    case("needed/the-system-alone", "P12.1", the_system_alone);
    case("needed/no-cpp-runtime", "P12.4", no_cpp_runtime);
    case("needed/by-name-not-path", "P1.9", by_name);
    case("needed/search-path", "P1.9", search_path);
    case("memory/stack", "P1.8", stack);
    case("memory/written-or-executed", "P1.8", written_or_executed);
    case("memory/no-relocations-in-code", "P1.8", no_code_relocations);
    case("memory/thread-variables", "P1.14", thread_variables);
    case("loader/nothing-beyond-itself", "P1.13", nothing_beyond);
    manifest::add(cases);
}

fn shared_object(c: &Context) -> Verdict {
    let image = image(c)?;
    let expected = "a shared object (ET_DYN): link it with -shared";
    ensure(image.kind == numbers::ET_DYN, expected, format!("ELF type {}", image.kind))
}

fn machine(c: &Context) -> Verdict {
    let image = image(c)?;
    let expected = if cfg!(target_arch = "aarch64") { numbers::EM_AARCH64 } else { numbers::EM_X86_64 };
    let here = std::env::consts::ARCH;
    let found = format!("machine {}", image.machine);
    ensure(image.machine == expected, format!("a library for {here} (machine {expected})"), found)?;
    let is_known = matches!(image.os_abi, numbers::ELFOSABI_NONE | numbers::ELFOSABI_GNU);
    ensure(is_known, "a library for Linux (OS ABI 0 or 3)", format!("OS ABI {}", image.os_abi))
}

fn only_its_owner(c: &Context) -> Verdict {
    let manifest = manifest_path(c.library());
    for file in [c.library(), manifest.as_path()].into_iter().filter(|file| file.exists()) {
        if is_trusted(c, file) {
            continue;
        }
        let metadata = std::fs::metadata(file).map_err(Stop::suite)?;
        let mode = metadata.mode() & 0o7777;
        let expected = format!("{}: written by its owner alone; chmod go-w", file.display());
        ensure(mode & GROUP_OR_OTHERS_WRITE == 0, expected, format!("mode {mode:o}"))?;
    }
    Ok(())
}

/// Returns true if the user declared that a file's owner and permissions do not matter.
fn is_trusted(c: &Context, file: &Path) -> bool {
    let Ok(file) = file.canonicalize() else { return false };
    let mut trusted = c.trust().iter().filter_map(|path| path.canonicalize().ok());
    trusted.any(|path| file.starts_with(path))
}

fn entry(c: &Context) -> Verdict {
    let image = image(c)?;
    let found = image.exports.iter().find(|symbol| symbol.name == ENTRY);
    let expected = format!("the exported function {ENTRY}");
    let Some(found) = found else {
        let hint = "declare it with CHIPDOCK_EXPORT, or with extern \"C\" in C++";
        return Err(Stop::failed(expected, "no such symbol").note(hint));
    };
    ensure(found.is_function && !found.is_weak, expected, "a symbol of that name that is data, or weak")
}

fn is_entry(name: &str) -> bool {
    let major = name.strip_prefix(ENTRY_OF_ANY_MAJOR);
    major.is_some_and(|major| !major.is_empty() && major.bytes().all(|byte| byte.is_ascii_digit()))
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const N_SHOWN_MAX: usize = 12;
    let all: Vec<&str> = names.collect();
    let more = all.len().saturating_sub(N_SHOWN_MAX);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    all[..all.len() - more].join(", ") + &rest
}

fn nothing_else(c: &Context) -> Verdict {
    let image = image(c)?;
    let others = image.exports.iter().map(|symbol| symbol.name.as_str());
    let others: Vec<&str> = others.filter(|name| !is_entry(name) && *name != LAYOUT_CHECK).collect();
    let expected = format!("no exported symbol but {ENTRY}");
    ensure(others.is_empty(), expected, format!("{} others: {}", others.len(), names(others.iter().copied())))
        .map_err(|stop| {
            stop.note(
                "compile with -fvisibility=hidden; hide what comes from static libraries with \
                 -Wl,--exclude-libs,ALL or a version script",
            )
        })
}

fn no_tvm_ffi(c: &Context) -> Verdict {
    let image = image(c)?;
    let found: Vec<&str> = image.exports.iter().map(|symbol| symbol.name.as_str()).collect();
    let found = found.into_iter().filter(|name| name.starts_with("TVMFFI"));
    let found = names(found);
    ensure(found.is_empty(), "no exported symbol that begins with TVMFFI, which is another library's", found)
}

pub(super) fn is_of_the_system(library: &str) -> bool {
    SYSTEM_LIBRARIES.contains(&library) || SYSTEM_PREFIXES.iter().any(|prefix| library.starts_with(prefix))
}

fn is_cpp_runtime(library: &str) -> bool {
    CPP_RUNTIMES.iter().any(|runtime| library.starts_with(runtime))
}

fn none_of_the_host(c: &Context) -> Verdict {
    let image = image(c)?;
    let strong = image.undefined.iter().filter(|symbol| !symbol.is_weak);
    let unversioned: Vec<&str> =
        strong.filter(|symbol| symbol.from.is_none()).map(|symbol| symbol.name.as_str()).collect();
    // Libraries outside the system are not opened here; depending on one is a failure of its own.
    let has_others = image.needed.iter().any(|library| !is_of_the_system(library));
    if unversioned.is_empty() || has_others {
        return Ok(());
    }
    let libraries = system_libraries(&image);
    let missing = unversioned.iter().filter(|name| {
        // SAFETY: the address of the symbol is looked up and not used.
        libraries.iter().all(|library| unsafe { library.get::<*const ()>(name.as_bytes()) }.is_err())
    });
    let missing = names(missing.copied());
    let expected = "every symbol that it uses defined in it or in a library that it names";
    ensure(missing.is_empty(), expected, format!("undefined: {missing}"))
        .map_err(|stop| stop.note("link with -Wl,-z,defs, which refuses such a library when it is built"))
}

fn system_libraries(image: &Image) -> Vec<libloading::Library> {
    let needed = image.needed.iter().filter(|library| is_of_the_system(library));
    // SAFETY: these are libraries of the system, which every process of this machine opens.
    needed.filter_map(|library| unsafe { libloading::Library::new(library) }.ok()).collect()
}

fn the_system_alone(c: &Context) -> Verdict {
    let image = image(c)?;
    let needed = image.needed.iter().map(String::as_str);
    let others = names(needed.filter(|library| !is_of_the_system(library) && !is_cpp_runtime(library)));
    ensure(others.is_empty(), "only libraries that every Linux has", format!("it links {others}")).map_err(
        |stop| {
            stop.note(
                "open a vendor's library by its SONAME with dlopen on first use, and declare it in needs.json: a host \
                 without it then says what is missing instead of refusing the plugin",
            )
        },
    )
}

fn no_cpp_runtime(c: &Context) -> Verdict {
    let image = image(c)?;
    let runtimes = names(image.needed.iter().map(String::as_str).filter(|library| is_cpp_runtime(library)));
    ensure(runtimes.is_empty(), "its C++ runtime inside", format!("it links {runtimes}")).map_err(|stop| {
        stop.note(
            "link with -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL, or without what is not used",
        )
    })
}

fn by_name(c: &Context) -> Verdict {
    let image = image(c)?;
    let paths = names(image.needed.iter().map(String::as_str).filter(|library| library.contains('/')));
    let expected = "libraries named by their SONAME";
    ensure(paths.is_empty(), expected, format!("paths, which other machines do not have: {paths}"))
}

fn search_path(c: &Context) -> Verdict {
    let image = image(c)?;
    let is_relative = |path: &str| path.starts_with("$ORIGIN") || path.starts_with("${ORIGIN}");
    let absolute = names(image.search_paths.iter().map(String::as_str).filter(|path| !is_relative(path)));
    let expected = "no RPATH or RUNPATH, or one that begins with $ORIGIN";
    ensure(absolute.is_empty(), expected, format!("{absolute:?}: build without -rpath"))
}

fn stack(c: &Context) -> Verdict {
    let image = image(c)?;
    let found = match image.stack {
        Some(false) => return Ok(()),
        Some(true) => "PT_GNU_STACK is executable",
        None => "no PT_GNU_STACK, which means an executable one",
    };
    let hint = "an assembler file without .note.GNU-stack, or a nested function whose address is taken; -z noexecstack";
    Err(Stop::failed("a stack that is not executable", found).note(hint))
}

fn written_or_executed(c: &Context) -> Verdict {
    let image = image(c)?;
    let both: Vec<String> = image.writable_code.iter().map(|address| format!("{address:#x}")).collect();
    let expected = "no segment that is both written and executed";
    ensure(both.is_empty(), expected, format!("segments at {}", both.join(", ")))
}

fn no_code_relocations(c: &Context) -> Verdict {
    let image = image(c)?;
    let expected = "no relocations in code (DT_TEXTREL): compile everything in it with -fPIC";
    ensure(!image.has_code_relocations, expected, "the loader has to write into its code")
}

fn thread_variables(c: &Context) -> Verdict {
    let image = image(c)?;
    let expected =
        "thread variables that are found when they are used (global-dynamic): no -ftls-model=initial-exec";
    ensure(!image.has_static_tls, expected, "DF_STATIC_TLS: opening it late may fail for lack of room")
}

fn nothing_beyond(c: &Context) -> Verdict {
    let image = image(c)?;
    let found = names(image.reaching.iter().map(String::as_str));
    ensure(found.is_empty(), "nothing asked of the loader that reaches beyond the library", found)
}
