//! Faults of files: libraries that are not libraries, and manifests with false statements.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::{Value, json};

/// A fault of a library or a manifest.
#[derive(Clone, Copy)]
pub struct FileFault {
    /// Name of the fault in the table.
    pub name: &'static str,
    /// Description of the fault.
    pub what: &'static str,
    /// Name of the library to start from: the healthy one, or one of the faults.
    pub library: &'static str,
    /// Creates the fault, in a folder with `zoo.so` and `zoo.chipdock.json`.
    pub spoil: fn(&Path),
}

const fn library(name: &'static str, what: &'static str, spoil: fn(&Path)) -> FileFault {
    FileFault { name, what, library: crate::compiled::HEALTHY, spoil }
}

const fn manifest(name: &'static str, what: &'static str, spoil: fn(&Path)) -> FileFault {
    library(name, what, spoil)
}

const fn beside(library: &'static str, fault: FileFault) -> FileFault {
    FileFault { library, ..fault }
}

/// All faults of files.
pub const FILE_FAULTS: &[FileFault] = &[
    library("library_empty", "the library is an empty file", |folder| so(folder, b"")),
    library("library_text", "the library is a text", |folder| so(folder, b"lions and tigers\n")),
    library("library_truncated", "half of the library is missing", |folder| {
        let whole = read(&folder.join("zoo.so"));
        so(folder, &whole[..whole.len() / 2]);
    }),
    library("library_header_only", "all but the first page of the library is missing", |folder| {
        let whole = read(&folder.join("zoo.so"));
        so(folder, &whole[..4096]);
    }),
    library("library_fifo", "the library is a FIFO that nobody writes", |folder| {
        fifo(&folder.join("zoo.so"))
    }),
    library("library_endless", "the library is a link to /dev/zero", |folder| zeros(&folder.join("zoo.so"))),
    library("library_dangling", "the library is a link to nowhere", |folder| nowhere(&folder.join("zoo.so"))),
    library("library_folder", "the library is a folder", |folder| {
        remove(&folder.join("zoo.so"));
        make(fs::create_dir(folder.join("zoo.so")));
    }),
    library("library_missing_file", "there is a manifest and no library", |folder| {
        remove(&folder.join("zoo.so"))
    }),
    library("library_writable", "everybody may write the library", |folder| {
        mode(&folder.join("zoo.so"), 0o777);
    }),
    library(
        "library_unreadable_digest",
        "the library was changed after its manifest was written",
        |folder| {
            let mut changed = read(&folder.join("zoo.so"));
            changed.push(b'!');
            make(fs::write(folder.join("zoo.so"), changed));
        },
    ),
    manifest("manifest_missing", "there is no manifest", |folder| remove(&json_of(folder))),
    beside(
        "init_crashes",
        manifest("manifest_missing_crashes", "there is no manifest, and init crashes", |folder| {
            remove(&json_of(folder));
        }),
    ),
    beside(
        "init_hangs",
        manifest("manifest_missing_hangs", "there is no manifest, and init hangs", |folder| {
            remove(&json_of(folder));
        }),
    ),
    beside(
        "init_crashes",
        manifest("manifest_without_schema", "the manifest has no schema, and init crashes", |folder| {
            edit(folder, |json| json["target_kinds"] = json!([]));
        }),
    ),
    manifest("manifest_empty", "the manifest is an empty file", |folder| text(folder, b"")),
    manifest("manifest_no_json", "the manifest is no JSON", |folder| text(folder, b"{\"schema\": 1,")),
    manifest("manifest_array", "the manifest is an array", |folder| text(folder, b"[1, 2, 3]")),
    manifest("manifest_no_text", "the manifest is no UTF-8", |folder| {
        edit(folder, |json| json["name"] = json!("z??"));
        let changed: Vec<u8> =
            read(&json_of(folder)).iter().map(|b| if *b == b'?' { 0xff } else { *b }).collect();
        text(folder, &changed);
    }),
    manifest("manifest_deep", "the manifest is nested 100,000 deep", |folder| {
        text(folder, format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)).as_bytes());
    }),
    manifest("manifest_long", "the manifest is 64 MiB long", |folder| {
        let mut long = read(&json_of(folder));
        long.resize(64 << 20, b' ');
        text(folder, &long);
    }),
    manifest("manifest_fifo", "the manifest is a FIFO that nobody writes", |folder| fifo(&json_of(folder))),
    manifest("manifest_endless", "the manifest is a link to /dev/zero", |folder| zeros(&json_of(folder))),
    manifest("manifest_dangling", "the manifest is a link to nowhere", |folder| nowhere(&json_of(folder))),
    manifest("manifest_folder", "the manifest is a folder", |folder| {
        remove(&json_of(folder));
        make(fs::create_dir(json_of(folder)));
    }),
    manifest("manifest_writable", "everybody may write the manifest", |folder| mode(&json_of(folder), 0o666)),
    manifest("folder_writable", "everybody may write the folder of plugins", |folder| mode(folder, 0o777)),
    manifest("manifest_duplicate_keys", "the manifest says two names", |folder| {
        let once = String::from_utf8_lossy(&read(&json_of(folder))).replacen('{', "{\"name\": \"lion\", ", 1);
        text(folder, once.as_bytes());
    }),
    manifest("manifest_claims_c", "the manifest claims the target kind c", |folder| {
        edit(folder, |json| push(&mut json["provides"], "target.kind.c"));
    }),
    manifest("manifest_claims_cpu", "the manifest claims the device of host memory", |folder| {
        edit(folder, |json| push(&mut json["provides"], "device_api.cpu"));
    }),
    manifest("manifest_claims_all", "the manifest claims all that plugin c brings", |folder| {
        edit(folder, |json| {
            for key in ["module.load.c", "target.build.c", "target.kind.c", "device_api.cpu"] {
                push(&mut json["provides"], key);
            }
        });
    }),
    manifest("manifest_promises_more", "the manifest promises what is not registered", |folder| {
        edit(folder, |json| push(&mut json["provides"], "device_api.unicorn"));
    }),
    manifest("manifest_omits", "the manifest omits what is registered", |folder| {
        edit(folder, |json| {
            let kept = json["provides"].as_array().into_iter().flatten();
            json["provides"] = kept.filter(|key| **key != "function.zoo.answer").cloned().collect();
        });
    }),
    manifest("manifest_provides_nothing", "the manifest provides nothing", |folder| {
        edit(folder, |json| json["provides"] = json!([]));
    }),
    manifest("manifest_other_name", "the manifest has another name than the library", |folder| {
        edit(folder, |json| json["name"] = json!("zoo2"));
    }),
    manifest("manifest_other_version", "the manifest has another version than the library", |folder| {
        edit(folder, |json| json["version"] = json!("2.0.0"));
    }),
    manifest("manifest_bad_version", "the manifest's version is none", |folder| {
        edit(folder, |json| json["version"] = json!("newest"));
    }),
    manifest("manifest_wrong_digest", "the manifest has the digest of another library", |folder| {
        edit(folder, |json| json["sha256"] = json!("0".repeat(64)));
    }),
    manifest("manifest_bad_digest", "the manifest's digest is none", |folder| {
        edit(folder, |json| json["sha256"] = json!("lion"));
    }),
    manifest("manifest_bad_libc", "the manifest's libc floor is no version", |folder| {
        edit(folder, |json| json["needs"]["glibc"] = json!("new enough"));
    }),
    manifest("manifest_future_libc", "the manifest's libc floor is not reached here", |folder| {
        edit(folder, |json| json["needs"]["glibc"] = json!("99.0"));
    }),
    manifest("manifest_other_abi", "the manifest is for another boundary", |folder| {
        edit(folder, |json| json["abi"] = json!("^7"));
    }),
    manifest("manifest_bad_abi", "the manifest's range of boundaries is none", |folder| {
        edit(folder, |json| json["abi"] = json!("all of them"));
    }),
    manifest("manifest_other_os", "the manifest is for another system", |folder| {
        edit(folder, |json| json["os"] = json!("plan9"));
    }),
    manifest("manifest_other_arch", "the manifest is for another machine", |folder| {
        edit(folder, |json| json["arch"] = json!("pdp11"));
    }),
    manifest("manifest_other_schema", "the manifest is written by the rules of another version", |folder| {
        edit(folder, |json| json["schema"] = json!(99));
    }),
    manifest("manifest_name_forged", "the manifest's name clears the screen", |folder| {
        edit(folder, |json| json["name"] = json!(format!("zoo{FORGED}")));
    }),
    manifest("manifest_version_forged", "the manifest's version clears the screen", |folder| {
        edit(folder, |json| json["version"] = json!(format!("1.0.0{FORGED}")));
    }),
    manifest("manifest_key_forged", "a key of the manifest clears the screen", |folder| {
        edit(folder, |json| push(&mut json["provides"], &format!("function.zoo{FORGED}")));
    }),
    manifest("manifest_about_forged", "what the manifest says of its target clears the screen", |folder| {
        edit(folder, |json| json["target_kinds"][0]["doc"] = json!(format!("a zoo{FORGED}")));
    }),
    manifest("manifest_needs_forged", "what the manifest needs clears the screen", |folder| {
        edit(folder, |json| json["needs"]["libraries"] = json!([format!("libzoo{FORGED}.so")]));
    }),
    manifest("manifest_about_long", "what the manifest says of its target is 2 MiB long", |folder| {
        edit(folder, |json| json["target_kinds"][0]["doc"] = json!("x".repeat(2 << 20)));
    }),
    manifest("manifest_many_keys", "the manifest promises 50,000 functions", |folder| {
        edit(folder, |json| {
            for number in 0..50_000 {
                push(&mut json["provides"], &format!("function.zoo.f{number}"));
            }
        });
    }),
    manifest(
        "manifest_other_stage",
        "the manifest's target takes modules at a stage that there is not",
        |folder| {
            edit(folder, |json| json["target_kinds"][0]["stage"] = json!("raw"));
        },
    ),
    manifest("manifest_needs_library", "the manifest needs a library that is not here", |folder| {
        edit(folder, |json| json["needs"]["libraries"] = json!(["libunicorn.so.7"]));
    }),
    manifest("manifest_needs_absurd", "what the manifest needs is of another shape", |folder| {
        edit(folder, |json| json["needs"] = json!("much"));
    }),
];

/// Text with which a manifest tries to deceive the user.
const FORGED: &str = "\u{1b}[2J\rgood\nerror: forged\n  help: forged";

fn make(made: std::io::Result<()>) {
    made.expect("a file is made wrong");
}

fn json_of(folder: &Path) -> std::path::PathBuf {
    folder.join("zoo.chipdock.json")
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).expect("a file of the cage")
}

fn remove(path: &Path) {
    make(fs::remove_file(path));
}

/// Replaces the library; its manifest gets the digest of the new content.
fn so(folder: &Path, content: &[u8]) {
    make(fs::write(folder.join("zoo.so"), content));
    let digest = crate::compiled::hexadecimal(&<sha2::Sha256 as sha2::Digest>::digest(content));
    edit(folder, |json| json["sha256"] = digest.clone().into());
}

fn text(folder: &Path, content: &[u8]) {
    make(fs::write(json_of(folder), content));
}

fn edit(folder: &Path, change: impl FnOnce(&mut Value)) {
    let mut json = serde_json::from_slice(&read(&json_of(folder))).expect("a manifest");
    change(&mut json);
    text(folder, json.to_string().as_bytes());
}

fn push(list: &mut Value, text: &str) {
    if let Some(list) = list.as_array_mut() {
        list.push(text.into());
    }
}

fn fifo(path: &Path) {
    remove(path);
    let name = CString::new(path.as_os_str().as_bytes()).expect("a path");
    // SAFETY: a NUL-terminated path.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0, "no FIFO can be made");
}

fn zeros(path: &Path) {
    remove(path);
    make(symlink("/dev/zero", path));
}

fn nowhere(path: &Path) {
    remove(path);
    make(symlink("/nowhere/at/all", path));
}

fn mode(path: &Path, mode: u32) {
    make(fs::set_permissions(path, fs::Permissions::from_mode(mode)));
}
