//! `chipdock.h` is what cbindgen prints of `chipdock-abi`, and compiles as C99 and C++11 (P2).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn abi_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin-api/abi")
}

fn read(file: &str) -> String {
    let path = abi_folder().join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

struct Layout {
    name: String,
    size: String,
    /// (field, offset)
    fields: Vec<(String, String)>,
}

/// The layouts that `src/layout.rs` asserts: the lines `Name: size { field @ offset, ... }`.
fn layouts() -> Vec<Layout> {
    let source = read("src/layout.rs");
    let (_, block) = source.split_once("\nlayouts! {").expect("the block `layouts!`");
    let (block, _) = block.split_once("\n}").expect("its end");
    let lines = block.lines().filter(|line| line.contains('{'));
    let layouts: Vec<_> = lines
        .map(|line| {
            let (name, rest) = line.trim().split_once(':').expect("a name");
            let (size, fields) = rest.split_once('{').expect("fields");
            let fields = fields.trim_end_matches('}').split(',').filter_map(|field| field.split_once('@'));
            Layout {
                name: name.to_owned(),
                size: size.trim().to_owned(),
                fields: fields.map(|(name, offset)| (name.trim().into(), offset.trim().into())).collect(),
            }
        })
        .collect();
    assert!(layouts.len() > 25, "found {} layouts", layouts.len());
    layouts
}

fn print_header() -> String {
    let layouts = layouts();
    let mut config = cbindgen::Config::from_file(abi_folder().join("cbindgen.toml")).expect("cbindgen.toml");
    config.export.include = layouts.iter().map(|layout| layout.name.clone()).collect();
    config.header = Some(read("header_top.h").trim_end().to_owned());
    config.after_includes = Some(read("header_start.h").trim_end().to_owned());
    let mut end = read("header_end.h");
    for layout in &layouts {
        writeln!(end, "CHIPDOCK_ASSERT_SIZE({}, {});", layout.name, layout.size).expect("written");
        for (field, offset) in &layout.fields {
            writeln!(end, "CHIPDOCK_ASSERT_OFFSET({}, {field}, {offset});", layout.name).expect("written");
        }
    }
    config.trailer = Some(end.trim_end().to_owned());
    let builder = cbindgen::Builder::new().with_config(config).with_crate(abi_folder());
    let mut text = Vec::new();
    builder.generate().expect("cbindgen reads the crate").write(&mut text);
    // Links of rustdoc mean nothing in C.
    String::from_utf8(text).expect("UTF-8").replace("[`", "`").replace("`]", "`")
}

#[test]
fn p2_header_is_current() {
    let path = abi_folder().join("include/chipdock.h");
    let printed = print_header();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &printed).expect("include/chipdock.h is writable");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let differs =
        committed.lines().zip(printed.lines()).position(|(committed, printed)| committed != printed);
    assert!(
        committed == printed,
        "include/chipdock.h is not what chipdock-abi prints, from line {} on: run this test with BLESS=1 and read \
         the difference; a changed table is a new ABI major",
        differs.unwrap_or_else(|| committed.lines().count().min(printed.lines().count())) + 1
    );
}

/// Compiles one file that includes the header; answers what the compiler says.
fn compile(compiler: &str, standard: &str, source: &str, folder: &Path) -> Result<(), String> {
    let output = Command::new(compiler)
        .args([standard, "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I"])
        .arg(abi_folder().join("include"))
        .arg(folder.join(source))
        .output()
        .unwrap_or_else(|error| panic!("{compiler} is needed for this test: {error}"));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(text) }
}

const PLUGIN: &str = r#"
#include <chipdock.h>

static int32_t start(const ChipdockHost *host, const ChipdockRegistrar *registrar, void **out_instance) {
  (void)host;
  (void)registrar;
  (void)out_instance;
  return CHIPDOCK_OK;
}
static int32_t stop(void *instance) {
  (void)instance;
  return CHIPDOCK_OK;
}
static void end(void *instance) {
  (void)instance;
}
static const ChipdockPlugin plugin = CHIPDOCK_PLUGIN("empty", "1.0.0", "", start, stop, end);

const ChipdockPlugin *chipdock_plugin_v1(void) { return &plugin; }
"#;

#[test]
fn p2_header_compiles_as_c_and_cpp() {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, compiler, standards) in [
        ("plugin.c", "gcc", &["-std=c99", "-std=c11", "-std=c17"][..]),
        ("plugin.cc", "g++", &["-std=c++11", "-std=c++17", "-std=c++20"]),
    ] {
        fs::write(folder.path().join(file), PLUGIN).expect("written");
        for standard in standards {
            compile(compiler, standard, file, folder.path())
                .unwrap_or_else(|text| panic!("{compiler} {standard}:\n{text}"));
        }
    }
}

/// The assertions in the header can fail: with one number changed it does not compile.
#[test]
fn p2_header_asserts_its_layouts() {
    let folder = tempfile::tempdir().expect("a folder");
    let header = read("include/chipdock.h");
    for (right, wrong) in [
        ("CHIPDOCK_ASSERT_SIZE(ChipdockAny, 16)", "CHIPDOCK_ASSERT_SIZE(ChipdockAny, 24)"),
        ("CHIPDOCK_ASSERT_OFFSET(DLTensor, shape, 24)", "CHIPDOCK_ASSERT_OFFSET(DLTensor, shape, 32)"),
    ] {
        assert!(header.contains(right), "{right}");
        fs::write(folder.path().join("wrong.c"), header.replace(right, wrong)).expect("written");
        let text = compile("gcc", "-std=c99", "wrong.c", folder.path()).expect_err("a wrong assertion");
        assert!(text.contains("chipdock_assert_"), "{text}");
    }
}
