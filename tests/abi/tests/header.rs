//! Checks that `chipdock.h` is the output of cbindgen for `chipdock-abi`, and compiles as C99 and
//! C++11 (P2).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chipdock_plugin_api::names::{INTERFACES, SpecifiedInterface};
use chipdock_plugin_api::{ErrorKind, SectionKind, attribute};
use chipdock_test_support::{bless, is_blessing};

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

/// The layouts that `src/layout.rs` asserts, the lines `Name: size { field @ offset, ... }` of its
/// lists: those that are frozen, and those of named interfaces.
fn layouts() -> [Vec<Layout>; 2] {
    let source = read("src/layout.rs");
    let lists = source.split("\nlayouts! {").skip(1).map(|list| {
        let (list, _) = list.split_once("\n}").expect("its end");
        list.lines().filter(|line| line.contains('{')).map(layout).collect::<Vec<_>>()
    });
    let lists: [Vec<Layout>; 2] = lists.collect::<Vec<_>>().try_into().ok().expect("two lists");
    assert!(lists[0].len() > 25, "found {} layouts", lists[0].len());
    lists
}

fn layout(line: &str) -> Layout {
    let (name, rest) = line.trim().split_once(':').expect("a name");
    let (size, fields) = rest.split_once('{').expect("fields");
    let fields = fields.trim_end_matches('}').split(',').filter_map(|field| field.split_once('@'));
    Layout {
        name: name.to_owned(),
        size: size.trim().to_owned(),
        fields: fields.map(|(name, offset)| (name.trim().into(), offset.trim().into())).collect(),
    }
}

/// Names that cross as texts: of error kinds, attributes of devices and kinds of sections.
fn names() -> String {
    let mut text = "/* Names of error kinds, for `raise`; the status that goes with each. */\n".to_owned();
    for (name, status) in ErrorKind::known_names() {
        let words = name.replace("OSError", "OsError");
        let macro_name: String = words
            .char_indices()
            .flat_map(|(at, letter)| {
                let is_first = at > 0 && letter.is_uppercase();
                is_first.then_some('_').into_iter().chain([letter.to_ascii_uppercase()])
            })
            .collect();
        writeln!(text, "#define CHIPDOCK_KIND_{macro_name} \"{name}\" /* {status} */").expect("written");
    }
    text += "\n/* Keys of device attributes (D.11). */\n";
    for attribute::Described { key, value_type, meaning } in attribute::TABLE {
        let name = key.to_uppercase();
        writeln!(text, "/* {value_type}: {meaning} */\n#define CHIPDOCK_ATTRIBUTE_{name} \"{key}\"")
            .expect("written");
    }
    text += "/* bool: whether wrong handles and ranges are answered with typed errors (D.19) */\n";
    writeln!(text, "#define CHIPDOCK_ATTRIBUTE_CHECKED_HANDLES \"{}\"", attribute::CHECKED_HANDLES)
        .expect("written");
    text += "\n/* Kinds of sections (C.26). */\n";
    for kind in SectionKind::ALL {
        let name = kind.as_str();
        writeln!(text, "#define CHIPDOCK_SECTION_{} \"{name}\"", name.to_uppercase()).expect("written");
    }
    text + &interfaces()
}

/// The table of named interfaces, as a comment.
fn interfaces() -> String {
    let mut text = "\n/*\n * Named interfaces (P3.11), by the object that has them: asked for with `query`, or offered with \
                    `extend`.\n *\n"
        .to_owned();
    for SpecifiedInterface { owner, name, version, purpose, .. } in INTERFACES {
        let (first, rest) = name.split_at(1);
        let table = format!("Chipdock{}{rest}{version}", first.to_uppercase());
        writeln!(text, " * {owner:<13}  {name:<11} {version}  {table:<20}  {purpose}").expect("written");
    }
    text + " */\n"
}

fn print_header() -> String {
    let layouts: Vec<Layout> = layouts().into_iter().flatten().collect();
    let mut config = cbindgen::Config::from_file(abi_folder().join("cbindgen.toml")).expect("cbindgen.toml");
    config.export.include = layouts.iter().map(|layout| layout.name.clone()).collect();
    config.header = Some(read("header_top.h").trim_end().to_owned());
    config.after_includes = Some(format!("{}\n\n{}", read("header_start.h").trim_end(), names()));
    let mut end = read("header_end.h");
    for layout in &layouts {
        writeln!(end, "CHIPDOCK_ASSERT_SIZE({}, {});", layout.name, layout.size).expect("written");
        for (field, offset) in &layout.fields {
            writeln!(end, "CHIPDOCK_ASSERT_OFFSET({}, {field}, {offset});", layout.name).expect("written");
        }
    }
    // cbindgen's own guard ends before the trailer.
    end += "\n#endif /* CHIPDOCK_H */";
    config.trailer = Some(end);
    let builder = cbindgen::Builder::new().with_config(config).with_crate(abi_folder());
    let mut text = Vec::new();
    builder.generate().expect("cbindgen reads the crate").write(&mut text);
    // Links of rustdoc mean nothing in C.
    let text = String::from_utf8(text).expect("UTF-8").replace("[`", "`").replace("`]", "`");
    text.lines().map(parenthesised).collect::<Vec<_>>().join("\n") + "\n"
}

/// A macro of a negative number in parentheses, so that an operand before it is an error.
fn parenthesised(line: &str) -> String {
    match line.strip_prefix("#define ").and_then(|rest| rest.split_once(" -")) {
        Some((name, number)) if !name.contains(' ') && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("#define {name} (-{number})")
        }
        _ => line.to_owned(),
    }
}

/// Without comments, `struct`, `union` and the names of fields and parameters, which may change.
fn declarations(header: &str) -> BTreeMap<String, String> {
    let code: String =
        header.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let mut found = BTreeMap::new();
    for kind in ["typedef struct ", "typedef union "] {
        for rest in code.split(kind).skip(1) {
            let Some((name, rest)) = rest.split_once(" {") else { continue };
            let Some((body, _)) = rest.split_once(&format!("}} {name};")) else { continue };
            let fields = body.split(';').filter(|field| !field.trim().is_empty()).map(field_type);
            found.insert(name.to_owned(), fields.collect::<Vec<_>>().join(";"));
        }
    }
    for rest in code.split("typedef ").skip(1) {
        let Some((declaration, _)) = rest.split_once(';') else { continue };
        if let Some((_, name)) = declaration.split_once("(*").filter(|_| !declaration.contains('{')) {
            let name = name.split(')').next().unwrap_or_default();
            found.insert(name.to_owned(), field_type(declaration));
        }
    }
    found
}

/// The type of `int32_t (*f)(void *self_, const int64_t *shape)` or of `uint64_t grid[3]`.
fn field_type(field: &str) -> String {
    let Some((result, rest)) = field.split_once("(*") else { return nameless(field) };
    let (_, parameters) = rest.split_once(")(").expect("a function pointer");
    let parameters = parameters.trim_end().trim_end_matches(')').split(',').map(nameless);
    format!("{}(*)({})", spaced(result), parameters.collect::<Vec<_>>().join(","))
}

fn spaced(text: &str) -> String {
    let words = text.replace('*', " * ");
    let words = words.split_whitespace().filter(|word| !["struct", "union"].contains(word));
    words.collect::<Vec<_>>().join(" ")
}

/// A declaration without its name, which is its last word.
fn nameless(declaration: &str) -> String {
    let (declaration, count) = match declaration.split_once('[') {
        Some((declaration, count)) => (declaration, format!("[{count}")),
        None => (declaration, String::new()),
    };
    let text = spaced(declaration);
    if text == "void" {
        return text;
    }
    let (of, _name) = text.rsplit_once(' ').unwrap_or_else(|| panic!("{declaration:?} has no name"));
    format!("{of}{}", count.trim())
}

/// FNV-1a of the types of the frozen structs, in the order of `src/layout.rs`, with their sizes and
/// offsets, and of the function types that they use.
fn hash(header: &str) -> u64 {
    let (declarations, [frozen, _]) = (declarations(header), layouts());
    let mut text = String::new();
    for layout in &frozen {
        let types = declarations.get(&layout.name).unwrap_or_else(|| panic!("{} in the header", layout.name));
        let offsets: Vec<&str> = layout.fields.iter().map(|(_, offset)| offset.as_str()).collect();
        writeln!(text, "{}:{}:{}:{types}", layout.name, layout.size, offsets.join(",")).expect("written");
    }
    for (name, types) in declarations.iter().filter(|(_, types)| types.contains("(*)")) {
        if frozen.iter().all(|layout| layout.name != *name) && text.contains(name.as_str()) {
            text.push_str(&format!("{name}={types}\n"));
        }
    }
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Writes the hash into `src/plugin.rs` where it is blessed.
fn bless_hash(hash: u64) {
    let digits = format!("{hash:016x}");
    let groups: Vec<&str> = (0..4).map(|index| &digits[index * 4..index * 4 + 4]).collect();
    let source = read("src/plugin.rs");
    let (before, rest) = source.split_once("CHIPDOCK_LAYOUT_HASH: u64 = ").expect("the hash");
    let (_, after) = rest.split_once(';').expect("its end");
    let source = format!("{before}CHIPDOCK_LAYOUT_HASH: u64 = 0x{};{after}", groups.join("_"));
    fs::write(abi_folder().join("src/plugin.rs"), source).expect("src/plugin.rs is writable");
}

/// P1.3: one hash for C and Rust. It is of types and their order alone: no name, no comment, no
/// named interface is in it.
#[test]
fn p1_3_the_hash_is_that_of_the_declarations() {
    let header = print_header();
    let expected = hash(&header);
    if is_blessing() {
        bless_hash(expected);
    } else {
        let found = chipdock_plugin_api::abi::CHIPDOCK_LAYOUT_HASH;
        assert_eq!(
            expected, found,
            "the frozen structs are not those of CHIPDOCK_LAYOUT_HASH: a changed table is a new ABI major; before the \
             freeze, run this test with BLESS=1, and then again"
        );
    }
    for (what, from, to, is_same) in [
        ("a parameter's name", "int32_t *out_device_id", "int32_t *out_number", true),
        ("a comment", "// Its functions; static.", "// Its functions.", true),
        (
            "a named interface",
            "int32_t (*reset)(void *self_, int32_t device_id)",
            "int32_t (*reset)(void *self_)",
            true,
        ),
        ("a parameter's type", "int32_t *out_device_id", "int64_t *out_device_id", false),
        ("a field's type", "uint64_t table_size_bytes;", "int64_t table_size_bytes;", false),
        ("a function type", "typedef void (*ChipdockDeleter)(", "typedef int (*ChipdockDeleter)(", false),
    ] {
        assert!(header.contains(from), "{what}: the header has no {from:?}");
        assert_eq!(hash(&header.replace(from, to)) == expected, is_same, "{what}");
    }
}

#[test]
fn p2_header_is_current() {
    bless(&abi_folder().join("include/chipdock.h"), &print_header())
        .unwrap_or_else(|error| panic!("{error}\na changed table is a new ABI major"));
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

/// It includes the header twice, as a plugin of several files does.
const PLUGIN: &str = r#"
#include <chipdock.h>
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
        (
            "CHIPDOCK_ASSERT_OFFSET(ChipdockTensor, shape, 24)",
            "CHIPDOCK_ASSERT_OFFSET(ChipdockTensor, shape, 32)",
        ),
    ] {
        assert!(header.contains(right), "{right}");
        fs::write(folder.path().join("wrong.c"), header.replace(right, wrong)).expect("written");
        let text = compile("gcc", "-std=c99", "wrong.c", folder.path()).expect_err("a wrong assertion");
        assert!(text.contains("chipdock_assert_"), "{text}");
    }
}
