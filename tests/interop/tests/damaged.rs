//! Files that are no whole library: what a host says of them, and what stock tvm_ffi does
//! (INTEROP-J2; LIB-2, LIB-4 of `host/src/library`).
//!
//! A host is asked in this process, which a crash would end. Stock tvm_ffi is asked in a process
//! for each file.

use std::path::{Path, PathBuf};

use chipdock_host::{ErrorKind, Host, HostOptions};
use chipdock_test_interop::driver::Plan;
use chipdock_test_interop::environment::environment;
use chipdock_test_support::command::Scratch;
use chipdock_test_support::{bless, workspace};

/// What a host says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// An error of this kind, with these words.
    Refuses(&'static str, &'static str),
    /// It opens the file, whose function can be asked for; another function is refused with these
    /// words, if any.
    Opens(&'static str),
}

use Answer::{Opens, Refuses};

/// A file: its name, what makes it of a whole library (its bytes, and where its blob is), and what
/// a host says of it.
struct Damage {
    name: &'static str,
    make: fn(&[u8], usize) -> Vec<u8>,
    host: Answer,
}

fn cut(bytes: &[u8], to: usize) -> Vec<u8> {
    bytes[..to.min(bytes.len())].to_vec()
}

/// Writes over some of the bytes.
fn with(bytes: &[u8], at: usize, over: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + over.len()].copy_from_slice(over);
    bytes
}

/// A size that no file has.
const HUGE: [u8; 8] = (1_u64 << 48).to_le_bytes();
/// Parts of the blob, in bytes from its beginning: the number of rows, the first import, the kind
/// of the second module.
const ROWS: usize = 8;
const IMPORT: usize = 48;
const KIND_SIZE: usize = 68;
const KIND: usize = KIND_SIZE + 8;

/// Damage to a library without a module.
const DAMAGES: &[Damage] = &[
    Damage { name: "whole", make: |bytes, _| bytes.to_vec(), host: Opens("") },
    Damage {
        name: "an empty file",
        make: |bytes, _| cut(bytes, 0),
        host: Refuses("ValueError", "no built file"),
    },
    Damage {
        name: "cut in its first header",
        make: |bytes, _| cut(bytes, 40),
        host: Refuses("ValueError", "damaged"),
    },
    Damage {
        name: "cut in its headers",
        make: |bytes, _| cut(bytes, 200),
        host: Refuses("ValueError", "damaged"),
    },
    Damage {
        name: "cut in the middle",
        make: |bytes, _| cut(bytes, bytes.len() / 2),
        host: Refuses("ValueError", "damaged"),
    },
    Damage {
        name: "without its last bytes",
        make: |bytes, _| cut(bytes, bytes.len() - 64),
        host: Refuses("ValueError", "damaged"),
    },
    Damage {
        name: "of another processor",
        make: |bytes, _| with(bytes, 18, if cfg!(target_arch = "aarch64") { &[62, 0] } else { &[183, 0] }),
        host: Refuses("ValueError", "this machine is"),
    },
    Damage {
        name: "of 32 bits",
        make: |bytes, _| with(bytes, 4, &[1]),
        host: Refuses("Unsupported", "32 bits"),
    },
    Damage {
        name: "of the other byte order",
        make: |bytes, _| with(bytes, 5, &[2]),
        host: Refuses("Unsupported", "byte order"),
    },
    Damage {
        name: "an object file",
        make: |bytes, _| with(bytes, 16, &[1, 0]),
        host: Refuses("ValueError", "an object file"),
    },
];

/// Damage to the blob of a library that has a module.
const OF_BLOBS: &[Damage] = &[
    Damage { name: "with a module of Chipdock's, whole", make: |bytes, _| bytes.to_vec(), host: Opens("") },
    Damage {
        name: "cut in its blob",
        make: |bytes, blob| cut(bytes, blob + 20),
        host: Refuses("ValueError", "damaged"),
    },
    Damage {
        name: "a blob larger than the file",
        make: |bytes, blob| with(bytes, blob, &HUGE),
        host: Refuses("ValueError", "its embedded modules"),
    },
    Damage {
        name: "a blob of no bytes",
        make: |bytes, blob| with(bytes, blob, &[0; 8]),
        host: Refuses("ValueError", "its embedded modules"),
    },
    Damage {
        name: "a tree of very many rows",
        make: |bytes, blob| with(bytes, blob + ROWS, &HUGE),
        host: Refuses("ValueError", "its embedded modules"),
    },
    Damage {
        name: "an import of a module that is not there",
        make: |bytes, blob| with(bytes, blob + IMPORT, &[9]),
        host: Refuses("ValueError", "imports module 9 of 2"),
    },
    Damage {
        name: "a module's kind larger than the blob",
        make: |bytes, blob| with(bytes, blob + KIND_SIZE, &HUGE),
        host: Refuses("ValueError", "its embedded modules"),
    },
    Damage {
        name: "a changed artifact inside",
        make: |bytes, blob| with(bytes, blob + KIND + 8 + 8 + 40, &[0xff]),
        host: Refuses("ValueError", "an embedded artifact"),
    },
    Damage {
        name: "a module of an unknown kind",
        make: |bytes, blob| with(bytes, blob + KIND, b"quantum8"),
        host: Opens("no loader for embedded modules of kind \"quantum8\""),
    },
];

/// Makes a library without and one with an embedded module, and damaged copies of them.
fn files(folder: &Scratch) -> Vec<(&'static Damage, PathBuf)> {
    folder.kernel("vector_add.py");
    let whole = |target: &str| {
        let built = folder.run(&format!("build vector_add.py --target {target} -o {target}.so"));
        assert_eq!(built.code, Some(0), "{}", built.stderr);
        std::fs::read(folder.path(&format!("{target}.so"))).expect("the library")
    };
    let (plain, bytes) = (whole("c"), whole("metal"));
    let kind = [&8_u64.to_le_bytes()[..], b"chipdock"].concat();
    let kind = bytes.windows(kind.len()).position(|window| window == kind).expect("an embedded module");
    let of_plain = DAMAGES.iter().map(|damage| (damage, (damage.make)(&plain, 0)));
    let of_blobs = OF_BLOBS.iter().map(|damage| (damage, (damage.make)(&bytes, kind - KIND_SIZE)));
    let write = |(damage, bytes): (&'static Damage, Vec<u8>)| {
        let path = folder.path(&format!("{}.so", damage.name.replace(' ', "-")));
        std::fs::write(&path, bytes).expect("written");
        (damage, path)
    };
    of_plain.chain(of_blobs).map(write).collect()
}

#[test]
fn a_host_says_what_is_wrong_with_a_file() {
    let folder = Scratch::new();
    let host = Host::new(HostOptions::isolated()).expect("a host");
    for (damage, path) in files(&folder) {
        let (name, found) = (damage.name, host.open(&path));
        match (damage.host, found) {
            (Refuses(kind, words), Err(error)) => {
                assert_eq!(error.kind().as_str(), kind, "{name}: {error}");
                assert!(error.to_string().contains(words), "{name}: {error}");
            }
            (Opens(words), Ok(module)) => {
                module.function("vector_add").unwrap_or_else(|error| panic!("{name}: {error}"));
                let error = module.function("elsewhere").expect_err("nobody has it");
                let is_unknown = !words.is_empty();
                assert_eq!(*error.kind() == ErrorKind::Unavailable, is_unknown, "{name}: {error}");
                assert!(error.to_string().contains(words), "{name}: {error}");
            }
            (expected, found) => panic!("{name}: expected {expected:?}, found {found:?}"),
        }
    }
}

/// What stock tvm_ffi does with a file: the class of its exception, `loaded`, or how its process
/// ends.
fn stock(python: &Path, release: &Path, path: &Path) -> String {
    let plan = Plan { libraries: vec![("file".to_owned(), path.to_owned())], ..Plan::default() };
    match plan.run(python, release) {
        Ok(answers) => match answers.get("load file") {
            Some(answer) => answer["raised"]["class"].as_str().unwrap_or("no class").to_owned(),
            None => "loaded".to_owned(),
        },
        Err(why) => {
            let signal = why.split("signal: ").nth(1).and_then(|rest| rest.split(" after").next());
            format!("**{}**", signal.unwrap_or("ends"))
        }
    }
}

/// The page of the guide says what stock tvm_ffi does, in its oldest and its newest release. No
/// code of an exported library runs while it is loaded: what ends the process is the dynamic
/// linker's or tvm_ffi's.
#[test]
fn stock_tvm_ffi_does_what_the_guide_says() {
    const PAGE: &str = "guide/docs/exported-libraries.md";
    const BEGIN: &str = "<!-- begin: printed by tests/interop/tests/damaged.rs -->\n";
    const END: &str = "<!-- end of damaged files -->\n";
    let Some(environment) = environment("damaged files in stock tvm_ffi") else { return };
    let ends =
        [environment.releases.first(), environment.releases.last()].map(|name| name.expect("a release"));
    let folder = Scratch::new();
    let mut table = format!(
        "| a file | Chipdock | tvm_ffi {} | tvm_ffi {} |\n| --- | --- | --- | --- |\n",
        ends[0], ends[1]
    );
    for (damage, path) in files(&folder) {
        let [old, new] = ends.map(|name| stock(&environment.python, &environment.folder.join(name), &path));
        let ours = match damage.host {
            Refuses(kind, _) => kind,
            Opens("") => "opened",
            Opens(_) => "opened; its other functions work",
        };
        table.push_str(&format!("| {} | {ours} | {old} | {new} |\n", damage.name));
    }
    let path = workspace().join(PAGE);
    let page = std::fs::read_to_string(&path).expect("the page");
    let (head, rest) = page.split_once(BEGIN).expect("the beginning of the table");
    let (_, tail) = rest.split_once(END).expect("its end");
    bless(&path, &format!("{head}{BEGIN}{table}{END}{tail}")).unwrap_or_else(|error| panic!("{error}"));
}
