//! One test per rule of `chipdock_tidy`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, MetadataCommand, Package, Target};
use chipdock_test_support::{bless, workspace as root};
use chipdock_tidy::{Arrows, Form, Recipe, citations, files, names, recipes, rules, string_literals};

/// Reports every finding at once: a list is mended faster than a first line.
fn check(rule: &str, findings: &[String]) {
    assert!(findings.is_empty(), "{rule}:\n  {}", findings.join("\n  "));
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The folder of a package, relative to the root.
fn folder(package: &Package) -> String {
    let manifest: PathBuf = package.manifest_path.clone().into();
    relative(manifest.parent().expect("a manifest lies in a folder"))
}

/// Returns the packages of this repository on which a folder may depend outside of its tests.
fn allowed(folder: &str) -> &'static [&'static str] {
    match folder {
        "plugin-api/abi" | "plugin-api/ir" | "host/supervise" | "tests/support" | "xtask" => &[],
        "plugin-api" => &["chipdock-abi", "chipdock-ir"],
        "plugin-api/interpret" | "host/passes" => &["chipdock-ir"],
        "plugin-api/codegen-source" => &["chipdock-ir"],
        "plugin-api/raw-host" => &["chipdock-abi", "chipdock-plugin-api"],
        // The environment that compiled code calls is described there.
        "plugin-api/codegen-llvm" => &["chipdock-abi", "chipdock-ir"],
        "host" => &["chipdock-abi", "chipdock-plugin-api", "chipdock-ir", "chipdock-passes"],
        "host/script" | "host/npy" => &["chipdock-ir"],
        "host/ffi" => {
            &["chipdock-abi", "chipdock-plugin-api", "chipdock-host", "chipdock-ir", "chipdock-script"]
        }
        "host/cli" => {
            // The suite is a library that the command runs.
            &[
                "chipdock-abi",
                "chipdock-plugin-api",
                "chipdock-host",
                "chipdock-ir",
                "chipdock-script",
                "chipdock-npy",
                "chipdock-supervise",
                "chipdock-conformance",
            ]
        }
        "host/conformance/programs" => &["chipdock-ir", "chipdock-interpret", "chipdock-passes"],
        "host/conformance" => &[
            "chipdock-abi",
            "chipdock-plugin-api",
            "chipdock-host",
            "chipdock-ir",
            "chipdock-interpret",
            "chipdock-script",
            "chipdock-supervise",
            "chipdock-programs",
            "chipdock-raw-host",
        ],
        _ if is_for_tests(folder) => &["*"],
        _ if folder.starts_with("plugins/") || folder.starts_with("examples/plugin-template") => &[
            "chipdock-abi",
            "chipdock-plugin-api",
            "chipdock-ir",
            "chipdock-codegen-source",
            "chipdock-codegen-llvm",
        ],
        _ => &[],
    }
}

/// Whether a package is there for tests and measurements alone: no user gets it.
fn is_for_tests(folder: &str) -> bool {
    folder.starts_with("tests/")
        || folder.contains("/testing/")
        || ["bench", "bench/demo", "guide/tests"].contains(&folder)
}

#[test]
fn tidy_t1_dependency_arrows() {
    let metadata = MetadataCommand::new().current_dir(root()).no_deps().exec().expect("cargo metadata");
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let from = folder(package);
        for dependency in &package.dependencies {
            let name = dependency.name.as_str();
            if !name.starts_with("chipdock-") {
                continue;
            }
            if name.starts_with("chipdock-plugin-") && name != "chipdock-plugin-api" {
                findings.push(format!("{from} links the plugin {name}; plugins are opened, never linked"));
            }
            if ["chipdock-xtask", "chipdock-bench"].contains(&name) {
                findings.push(format!("{from} depends on {name}; nothing depends on a task"));
            }
            let allowed = allowed(&from);
            let is_test = dependency.kind == DependencyKind::Development;
            let never = from.starts_with("plugin")
                && !is_for_tests(&from)
                && ["chipdock-host", "chipdock-script", "chipdock-npy", "chipdock-cli"].contains(&name);
            if never || !(is_test || allowed.contains(&"*") || allowed.contains(&name)) {
                findings.push(format!("{from} depends on {name}; it may depend on {allowed:?}"));
            }
        }
    }
    check("TIDY-T1", &findings);
}

/// Makes a package as it is built: without the dependencies of its tests, which may see the host's
/// crates.
fn lay_out_without_tests(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder for the package");
    let manifest = fs::read_to_string(from.join("Cargo.toml")).expect("a manifest");
    let tables = manifest.split_inclusive('\n').fold(Vec::<String>::new(), |mut tables, line| {
        match tables.last_mut() {
            Some(table) if !line.starts_with('[') => table.push_str(line),
            _ => tables.push(line.to_owned()),
        }
        tables
    });
    let is_built =
        |table: &&String| !table.starts_with("[dev-dependencies") && !table.starts_with("[[test]]");
    fs::write(to.join("Cargo.toml"), tables.iter().filter(is_built).map(String::as_str).collect::<String>())
        .expect("a manifest");
    for name in ["src", "build.rs"].iter().filter(|name| from.join(name).exists()) {
        std::os::unix::fs::symlink(from.join(name), to.join(name)).expect("a link");
    }
}

#[test]
fn tidy_t2_plugins_resolve_without_the_host() {
    let scratch = std::env::temp_dir().join(format!("chipdock-tidy-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("a folder for the generated workspace");
    let metadata = MetadataCommand::new().current_dir(root()).no_deps().exec().expect("cargo metadata");
    let folders = metadata.packages.iter().map(folder);
    for folder in folders.filter(|folder| folder.starts_with("plugin") && !is_for_tests(folder)) {
        lay_out_without_tests(&root().join(&folder), &scratch.join(&folder));
    }
    fs::copy(root().join("Cargo.lock"), scratch.join("Cargo.lock")).expect("the lock file");
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the root manifest");
    let (head, tail) = manifest.split_once("members = [").expect("members");
    let (members, rest) = tail.split_once(']').expect("the end of members");
    let kept = |member: &&str| member.trim().starts_with("\"plugin") && !member.contains("/testing/");
    let members: Vec<&str> = members.split(',').filter(kept).collect();
    fs::write(scratch.join("Cargo.toml"), format!("{head}members = [{}]{rest}", members.join(",")))
        .expect("a manifest");
    let result =
        MetadataCommand::new().current_dir(&scratch).other_options(vec!["--offline".to_owned()]).exec();
    fs::remove_dir_all(&scratch).expect("removed");
    let packages = result.expect("TIDY-T2: the workspace resolves without host/").packages;
    let plugins = packages.iter().filter(|package| package.name.starts_with("chipdock-plugin-")).count();
    assert!(plugins > 2, "TIDY-T2: found {plugins} plugin packages");
}

#[test]
fn tidy_t3_no_backend_is_named() {
    let mut names: BTreeSet<String> =
        ["llvm", "cuda", "nvptx", "rocm", "vulkan", "opencl", "metal", "webgpu", "hexagon", "hip"]
            .map(String::from)
            .into();
    for plugin in fs::read_dir(root().join("plugins")).expect("plugins/").flatten() {
        names.insert(plugin.file_name().to_string_lossy().into_owned());
    }
    let mut findings = Vec::new();
    for path in ["host", "plugin-api"].iter().flat_map(|folder| files(&root().join(folder), &[".rs"])) {
        if path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs") {
            continue;
        }
        let source = fs::read_to_string(&path).expect("a source file");
        // Arguments of TVM's functions, and of programs that the suite makes, are letters.
        let has_letters =
            ["host/script", "host/conformance"].iter().any(|folder| path.starts_with(root().join(folder)));
        let in_host = path.starts_with(root().join("host")) && !has_letters;
        // What stands behind `llvm.` is a word of LLVM's language, such as `llvm.sqrt`.
        let writes_llvm = path.starts_with(root().join("plugin-api/codegen-llvm"));
        for (line, text) in string_literals(&source) {
            let text = if writes_llvm { text.replace("llvm.", "") } else { text };
            // One letter is a word of its own only where it stands alone or ends a key; a variable
            // may be called so.
            let alone = names.contains(&text) && (text.len() > 1 || in_host);
            let in_key = ["target.kind.", "target.build.", "module.load.", "device_api."]
                .iter()
                .any(|key| text.split_once(key).is_some_and(|(_, name)| names.contains(name)));
            let mut words = text.split(['.', ':', '/', '=', ' ', ',']);
            if alone || in_key || words.any(|word| word.len() > 1 && names.contains(word)) {
                findings.push(format!("{}:{line}: \"{text}\"", relative(&path)));
            }
        }
    }
    check("TIDY-T3: ask for a fact, not for a name", &findings);
}

#[test]
fn tidy_t4_paths_in_the_documents_exist() {
    let mut findings = Vec::new();
    for document in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root().join(document)).expect("the document");
        for (number, line) in text.lines().enumerate() {
            for quoted in line.split('`').skip(1).step_by(2) {
                let is_path =
                    quoted.contains('/') && !quoted.contains(char::is_whitespace) && !quoted.contains("…");
                let is_ours =
                    ["plugin-api", "host", "plugins", "tests", "examples", "bench", "xtask", "guide", ".ci"]
                        .contains(&quoted.split('/').next().unwrap_or_default());
                // Those with `NAME` are TIDY-T12's.
                let is_pattern = quoted.contains(['*', '<', '{'])
                    || ["NAME", "FOLDER"].iter().any(|word| quoted.contains(word));
                if is_path && is_ours && !is_pattern && !root().join(quoted).exists() {
                    findings.push(format!("{document}:{}: `{quoted}`", number + 1));
                }
            }
        }
    }
    check("TIDY-T4: named, but not there", &findings);
}

#[test]
fn tidy_t5_plugins_have_one_shape() {
    let mut findings = Vec::new();
    for plugin in fs::read_dir(root().join("plugins")).expect("plugins/").flatten() {
        let (path, name) = (plugin.path(), plugin.file_name().to_string_lossy().into_owned());
        // Those without a card stand in a list of `host/conformance/tests/in_tree.rs`, each with
        // its reason.
        let in_tree =
            fs::read_to_string(root().join("host/conformance/tests/in_tree.rs")).unwrap_or_default();
        let is_listed = in_tree.contains(&format!("\"{name}\","));
        for file in ["README.md", "expectations.toml", "conformance.card.json", "Cargo.toml", "src/lib.rs"] {
            let may_lack = is_listed && file == "conformance.card.json";
            if !may_lack && !path.join(file).is_file() {
                findings.push(format!("plugins/{name}/{file} is missing"));
            }
        }
        let manifest = fs::read_to_string(path.join("Cargo.toml")).unwrap_or_default();
        if !manifest.contains(&format!("name = \"chipdock-plugin-{name}\"")) {
            findings.push(format!("plugins/{name}: the package is to be called chipdock-plugin-{name}"));
        }
        if !manifest.contains("crate-type = [\"cdylib\"]") {
            findings.push(format!("plugins/{name}: crate-type is to be [\"cdylib\"] and nothing else"));
        }
        let page = fs::read_to_string(path.join("src/lib.rs")).unwrap_or_default();
        let lines = page.lines().filter(|line| !line.starts_with("//!")).count();
        if lines > 60 {
            findings.push(format!(
                "plugins/{name}/src/lib.rs has {lines} lines under its front page; it is a table of contents, 60 at most"
            ));
        }
    }
    check("TIDY-T5", &findings);
}

#[test]
fn tidy_t6_files_are_short() {
    let findings: Vec<String> = files(&root(), &[".rs"])
        .into_iter()
        .filter_map(|path| {
            let lines = fs::read_to_string(&path).ok()?.lines().count();
            (lines > 800).then(|| format!("{} has {lines} lines", relative(&path)))
        })
        .collect();
    check("TIDY-T6: look for the second idea in it", &findings);
}

/// Files that may hold `unsafe`, with the reason.
const UNSAFE: &[&str] = &[
    "plugin-api/abi/src/",            // the boundary itself
    "plugin-api/src/",                // values, shims and the host memory of the CPU
    "plugin-api/raw-host/src/",       // calls the bare tables of any plugin
    "host/src/",                      // checked file by file below
    "host/supervise/src/",            // processes and their signals
    "host/ffi/src/",                  // checked file by file below
    "plugins/",                       // checked file by file below
    "examples/plugin-template-rust/", // a device API
    "tests/",                         // the boundary is what they test
    "host/conformance/",              // calls the bare tables of the plugin that it examines
    "bench/",                         // the driver's own calls, which ours are compared with
    // Its own standard output, before plugins and while they run.
    "host/cli/src/streams.rs",
];

/// Within these folders only files of these names may hold `unsafe`.
const UNSAFE_FILES: &[(&str, &[&str])] = &[
    (
        "host/src/",
        &[
            // Tables and values of plugins, and memory that is lent to compiled code; their texts
            // in `bounds.rs`.
            "boundary/",
            "runtime/",
            "bounds.rs",
            // The calls of TVM-FFI.
            "library/tvm/",
            // Where libraries are opened.
            "loader.rs",
            "load.rs",
            // Symbols in an object of this process.
            "object.rs",
            // A child after `fork`, and fifos of a test.
            "process.rs",
            "files.rs",
        ],
    ),
    // What C, C++ and TVM-FFI call, and what is called of TVM-FFI.
    (
        "host/ffi/src/",
        &[
            "c_api.rs",
            "embedded.rs",
            "entry.rs",
            "functions.rs",
            "process.rs",
            "register.rs",
            "running.rs",
            "side.rs",
            "streams.rs",
        ],
    ),
    // `llvm/` and `driver/`: folders in which a plugin opens the library and calls it; `linker/`:
    // the one in which it makes code of an object.
    (
        "plugins/",
        &[
            "nvrtc.rs",
            "driver.rs",
            "device_api.rs",
            "external.rs",
            "graph.rs",
            "timer.rs",
            "program.rs",
            "module_loader.rs",
            "loader.rs",
            "pools.rs",
            "llvm/",
            "linker/",
            "driver/",
        ],
    ),
];

#[test]
fn tidy_t7_unsafe_is_where_it_belongs() {
    let mut findings = Vec::new();
    for path in files(&root(), &[".rs"]) {
        let source = fs::read_to_string(&path).expect("a source file");
        let uses = |line: &str| {
            let code = line.split("//").next().unwrap_or_default();
            ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "unsafe("]
                .iter()
                .any(|word| code.contains(word))
        };
        if !source.lines().any(uses) {
            continue;
        }
        let path = relative(&path);
        let file = path.rsplit('/').next().unwrap_or_default();
        let is_test =
            ["/tests/", "/testing/"].iter().any(|folder| path.contains(folder)) || path.ends_with("tests.rs");
        let listed = UNSAFE_FILES.iter().find(|(folder, _)| path.starts_with(folder));
        let is_named = |name: &&str| match name.strip_suffix('/') {
            Some(folder) => {
                path.contains(&format!("/src/{folder}/")) || path.ends_with(&format!("/{folder}/{file}"))
            }
            None => *name == file,
        };
        let allowed = UNSAFE.iter().any(|folder| path.starts_with(folder))
            && listed.is_none_or(|(_, names)| names.iter().any(is_named));
        if !allowed && !is_test {
            findings.push(path);
        }
    }
    check("TIDY-T7: unsafe outside of the files that may hold it", &findings);
}

#[test]
fn tidy_t8_no_machine_is_named() {
    let words = [
        concat!("/", "work/"),
        concat!("/", "root/"),
        concat!("/home", "/"),
        concat!("crates", ".io/"),
        concat!("pypi", ".org"),
        concat!("npmjs", ".org"),
        concat!("deb.debian", ".org"),
    ];
    let mut findings = Vec::new();
    for path in
        files(&root(), &[".rs", ".md", ".toml", ".py", ".json", ".c", ".h", ".sh", "run", ".cc", ".cpp"])
    {
        let text = String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned();
        for (number, line) in text.lines().enumerate() {
            if words.iter().any(|word| line.contains(word)) {
                findings.push(format!("{}:{}: {}", relative(&path), number + 1, line.trim()));
            }
        }
    }
    check("TIDY-T8", &findings);
}

#[test]
fn tidy_t9_every_rule_of_the_ir_has_a_test() {
    let front_page = fs::read_to_string(root().join("plugin-api/ir/src/lib.rs")).expect("the front page");
    let rules = rules(&front_page);
    assert!(rules.len() > 40, "TIDY-T9: found {} rules", rules.len());
    let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut findings = Vec::new();
    for path in files(&root(), &[".rs"]) {
        let source = fs::read_to_string(&path).expect("a source file");
        for (test, numbers) in citations(&source, "ir:") {
            for number in numbers {
                if !rules.iter().any(|rule| rule.number == number) {
                    findings.push(format!("{}: {test} cites {number}, which is no rule", relative(&path)));
                }
                tests.entry(number).or_default().insert(format!("`{}` {test}", relative(&path)));
            }
        }
    }
    let mut table = String::from(
        "# The rules of the IR and their tests\n\nGenerated by `tests/tidy` (TIDY-T9); the rules in full \
         are the front page of `chipdock-ir`.\n\n| rule | says | tests |\n|---|---|---|\n",
    );
    for rule in &rules {
        let held: Vec<String> = tests.get(&rule.number).into_iter().flatten().cloned().collect();
        if held.is_empty() {
            findings.push(format!("no test cites {}: {}", rule.number, rule.start));
        }
        let _ = writeln!(table, "| {} | {} | {} |", rule.number, rule.start, held.join("<br>"));
    }
    let path = root().join("plugin-api/ir/RULES.md");
    findings.extend(bless(&path, &table).err());
    check("TIDY-T9", &findings);
}

#[test]
fn tidy_t10_plugins_believe_no_environment_by_themselves() {
    let words =
        ["env::var", "env::temp_dir", "env::home_dir", "getauxval", "getenv", "tempdir()", ".tempfile()"];
    let mut findings = Vec::new();
    for path in ["plugins", "plugin-api"].iter().flat_map(|folder| files(&root().join(folder), &[".rs"])) {
        let name = relative(&path);
        let is_test = ["/tests/", "/testing/", "/examples/"].iter().any(|folder| name.contains(folder))
            || name.ends_with("tests.rs");
        if is_test || name == "plugin-api/src/process.rs" {
            continue;
        }
        let source = fs::read_to_string(&path).expect("a source file");
        let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            let line = line.split("//").next().unwrap_or_default();
            if words.iter().any(|word| line.contains(word)) {
                findings.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    check("TIDY-T10: ask chipdock_plugin_api::process", &findings);
}

#[test]
fn tidy_t11_each_promise_of_security_has_its_test() {
    let text = fs::read_to_string(root().join("SECURITY.md")).expect("SECURITY.md");
    let mut findings = Vec::new();
    let mut n_promises = 0;
    for (number, line) in text.lines().enumerate() {
        // Of the table: its head and the line below it say nothing.
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let is_row = line.starts_with('|') && cells.len() == 2 && cells[0] != "Promise";
        if !is_row || cells[0].starts_with('-') {
            continue;
        }
        n_promises += 1;
        let tests: Vec<&str> = cells[1].split('`').skip(1).step_by(2).collect();
        if tests.is_empty() {
            findings.push(format!("SECURITY.md:{}: no test is named", number + 1));
        }
        for test in tests {
            let (file, name) = test.split_once("::").unwrap_or((test, ""));
            let source = fs::read_to_string(root().join(file)).unwrap_or_default();
            if !source.contains(&format!("fn {name}(")) {
                findings.push(format!("SECURITY.md:{}: there is no test {test}", number + 1));
            }
        }
    }
    assert!(n_promises > 10, "TIDY-T11: found {n_promises} promises");
    check("TIDY-T11", &findings);
}

/// Whether a file names a word, or a file of a folder does.
fn has_name(path: &Path, word: &str) -> bool {
    let is_in = |path: &Path| {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        Form::ALL.iter().any(|form| names(&text, word, *form))
    };
    if path.is_dir() { files(path, &[]).iter().any(|path| is_in(path)) } else { is_in(path) }
}

/// The code of a source file without comments and tests.
fn code(path: &Path) -> String {
    let source = fs::read_to_string(path).unwrap_or_default();
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Returns the path of a row for a thing: `NAME` is its name, `FOLDER` the folder beside others
/// that has a file or a folder of that name; without such a folder it falls away.
fn filled(path: &str, name: &str) -> String {
    let path = path.replace("NAME", name);
    let Some((before, after)) = path.split_once("FOLDER/") else { return path };
    let has_it = |folder: &PathBuf| folder.join(name).is_dir() || folder.join(format!("{name}.rs")).exists();
    let folders = fs::read_dir(root().join(before)).into_iter().flatten().flatten().map(|entry| entry.path());
    let folder = folders.filter(|path| path.is_dir()).find(has_it);
    folder.map_or_else(|| format!("{before}{after}"), |folder| format!("{}/{after}", relative(&folder)))
}

/// TIDY-T12 of one table: what is wrong with its rows, and which product files name the example
/// without being listed.
fn check_recipe(recipe: &Recipe) -> Vec<String> {
    let Recipe { thing, example, rows } = recipe;
    let mut findings = Vec::new();
    for row in rows {
        let path = root().join(filled(&row.path, example));
        let has_placeholder = row.path.contains("NAME");
        if !path.exists() {
            findings.push(format!("{thing}: {} is not there", relative(&path)));
        } else if row.is_always && !has_placeholder && !has_name(&path, example) {
            findings.push(format!("{thing}: {} does not name {example}", relative(&path)));
        }
    }
    // A backend is named within its own folder alone, which TIDY-T3 checks.
    if thing == "backend" {
        return findings;
    }
    let is_listed = |path: &str| {
        rows.iter().any(|row| {
            let listed = filled(&row.path, example);
            // Of plugins one stands for all: the same place in each.
            let in_plugin = |path: &str| {
                path.strip_prefix("plugins/").map(|rest| rest.split_once('/').map(|it| it.1.to_owned()))
            };
            path == listed
                || path.starts_with(&format!("{listed}/"))
                || (in_plugin(&listed).is_some() && in_plugin(path) == in_plugin(&listed))
        })
    };
    for path in ["host", "plugin-api", "plugins", "tests"]
        .iter()
        .flat_map(|folder| files(&root().join(folder), &[".rs"]))
    {
        let name = relative(&path);
        // Tests beside the code need not be touched; those of the whole tree list what is there.
        // These rules name the examples.
        let is_test = ["/testing/", "/reserved", "tests/tidy/"].iter().any(|part| name.contains(part))
            || !name.starts_with("tests/") && name.contains("/tests/")
            || name.ends_with("tests.rs");
        // `erf` may also be a function: the op is `Op::Erf`, or a text.
        let is_named = match thing.as_str() {
            "op" => [Form::Type, Form::Text].iter().any(|form| names(&code(&path), example, *form)),
            _ => Form::ALL.iter().any(|form| names(&code(&path), example, *form)),
        };
        let is_expected = is_listed(&name);
        if !is_test && is_named && !is_expected {
            findings.push(format!("{thing}: {name} names {example}, and is not in the table"));
        }
    }
    findings
}

#[test]
fn tidy_t12_how_to_add_is_true() {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let recipes = recipes(&page);
    let things: Vec<&str> = recipes.iter().map(|recipe| recipe.thing.as_str()).collect();
    assert_eq!(
        things,
        ["op", "pass", "backend", "capability", "option", "attribute"],
        "TIDY-T12: the tables of the page"
    );
    let mut findings: Vec<String> = recipes.iter().flat_map(check_recipe).collect();
    // The last pass that was added is one of the pipeline's, whichever it is.
    let pipeline = fs::read_to_string(root().join("host/passes/src/lower.rs")).expect("the pipeline");
    let passes: BTreeSet<&str> = pipeline
        .lines()
        .filter(|line| line.trim_start().starts_with('(') && line.contains(", crate::"))
        .filter_map(|line| line.split('"').nth(1))
        .collect();
    assert!(passes.len() > 20, "TIDY-T12: found {} passes", passes.len());
    for row in recipes.iter().filter(|recipe| recipe.thing == "pass").flat_map(|recipe| &recipe.rows) {
        for pass in passes.iter().filter(|_| row.is_always) {
            let path = root().join(filled(&row.path, pass));
            // Passes that refuse, and change nothing, share a file and have no result to keep.
            let is_verifier = pass.starts_with("verify_");
            if !row.path.contains("NAME") && !has_name(&path, pass) {
                findings.push(format!("pass: {} does not name {pass}", relative(&path)));
            } else if !path.exists() && !path.with_extension("").is_dir() && !is_verifier {
                findings.push(format!("pass: {} is not there", relative(&path)));
            }
        }
    }
    check("TIDY-T12: CONTRIBUTING.md", &findings);
}

/// The lines of a table of a manifest, comments left out.
fn lints(manifest: &str, table: &str) -> BTreeSet<String> {
    let (_, rest) = manifest.split_once(&format!("\n[{table}]\n")).unwrap_or_default();
    let table = rest.split("\n[").next().unwrap_or_default();
    let lines = table.lines().filter_map(|line| line.split('#').next());
    lines.map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn tidy_t13_every_crate_has_the_lints() {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).expect("the root manifest");
    let panics = ["unwrap_used", "expect_used", "panic"];
    let expected = ["rust", "clippy"].map(|tool| {
        let mut lints = lints(&workspace, &format!("workspace.lints.{tool}"));
        lints.retain(|lint| !panics.iter().any(|panic| lint.starts_with(&format!("{panic} "))));
        lints
    });
    let metadata = MetadataCommand::new().current_dir(root()).no_deps().exec().expect("cargo metadata");
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let manifest = fs::read_to_string(&package.manifest_path).expect("a manifest");
        // A vendor's crate has lints of its own, or none.
        let is_template = folder(package).starts_with("examples/");
        if is_template || manifest.contains("\n[lints]\nworkspace = true\n") {
            continue;
        }
        let own = ["rust", "clippy"].map(|tool| lints(&manifest, &format!("lints.{tool}")));
        if !is_for_tests(&folder(package)) {
            findings.push(format!("{}: write `[lints] workspace = true`", folder(package)));
        } else if own != expected {
            findings.push(format!("{}: expected {expected:?}, found {own:?}", folder(package)));
        }
    }
    check("TIDY-T13", &findings);
}

/// Whether a file has the marks of tests.
fn has_tests(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    ["#[test]", "#[cfg(test)]", "proptest!"].iter().any(|mark| text.contains(mark))
}

#[test]
fn tidy_t14_no_test_is_left_out_of_the_build() {
    let metadata = MetadataCommand::new().current_dir(root()).no_deps().exec().expect("cargo metadata");
    let (mut findings, mut n_files) = (Vec::new(), 0);
    for package in &metadata.packages {
        let own = root().join(folder(package));
        let is_product = |target: &&Target| target.is_lib() || target.is_cdylib() || target.is_bin();
        for target in package.targets.iter().filter(is_product).filter(|target| !target.test) {
            let source: PathBuf = target.src_path.clone().into();
            let within = files(source.parent().expect("it lies in a folder"), &[".rs"]);
            let with_tests = within.iter().filter(|path| has_tests(path));
            findings.extend(
                with_tests.map(|path| format!("{}: the manifest says `test = false`", relative(path))),
            );
        }
        let files = files(&own.join("tests"), &[".rs"]);
        let roots: Vec<PathBuf> =
            package.targets.iter().map(|target| target.src_path.clone().into()).collect();
        let texts: Vec<String> = files.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
        // Folders of tests in which other packages lie are not this one's.
        let is_own = |path: &&PathBuf| {
            path.ancestors().find(|folder| folder.join("Cargo.toml").is_file()) == Some(own.as_path())
        };
        for path in files.iter().filter(is_own).filter(|path| !roots.contains(path)) {
            n_files += 1;
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
            let module = if stem == "mod" { folder.unwrap_or_default() } else { stem };
            let has = |text: &String| text.lines().any(|line| line.ends_with(&format!("mod {module};")));
            if !texts.iter().any(has) {
                findings.push(format!("{}: no `mod {module};` of a test has it", relative(path)));
            }
        }
    }
    assert!(n_files > 100, "{n_files} files of tests are few");
    check("TIDY-T14", &findings);
}

/// The names of the parts of a backend, in the table of CONTRIBUTING.md.
fn parts_of_a_backend(page: &str) -> BTreeSet<&str> {
    let (_, table) = page.split_once("<!-- parts of a backend -->\n").expect("the table of parts");
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn tidy_t15_a_part_has_one_name_in_every_backend() {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let known = parts_of_a_backend(&page);
    assert!(known.len() > 15, "TIDY-T15: found {known:?}");
    let (mut findings, mut users) = (Vec::new(), BTreeMap::<String, Vec<String>>::new());
    for plugin in fs::read_dir(root().join("plugins")).expect("plugins/").flatten() {
        let backend = plugin.file_name().to_string_lossy().into_owned();
        let front = fs::read_to_string(plugin.path().join("src/lib.rs")).expect("a front page");
        let entries = fs::read_dir(plugin.path().join("src")).expect("src/").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let parts: BTreeSet<String> = names
            .filter(|name| !name.ends_with(".json"))
            .map(|name| name.trim_end_matches(".rs").to_owned())
            .collect();
        for part in parts {
            if !["lib", "tests"].contains(&part.as_str()) && !front.contains(&format!("`{part}`")) {
                findings.push(format!("plugins/{backend}/src/lib.rs does not name `{part}`"));
            }
            users.entry(part).or_default().push(backend.clone());
        }
    }
    let unlisted = users.iter().filter(|(part, users)| users.len() > 1 && !known.contains(part.as_str()));
    findings.extend(unlisted.map(|(part, users)| format!("`{part}` of {users:?} is not in CONTRIBUTING.md")));
    let unused = known.iter().filter(|part| !users.contains_key(**part));
    findings.extend(unused.map(|part| format!("CONTRIBUTING.md lists `{part}`, which no backend has")));
    check("TIDY-T15", &findings);
}

/// Greatest number of files of `host/src` in one circle.
const CIRCLE_FILES_MAX: usize = 6;

/// Prints the counts too: `cargo nextest run -p chipdock-tidy tidy_t16 --no-capture`.
#[test]
fn tidy_t16_no_large_circle_of_files() {
    let arrows = Arrows::read(&root().join("host/src"));
    let (rooms, circles) = (arrows.rooms(), arrows.circles());
    assert!(arrows.files.len() > 80, "TIDY-T16: found {} files", arrows.files.len());
    println!("host/src: {} files, {} arrows between them", arrows.files.len(), arrows.arrows.len());
    println!("{} rooms on {} floors, {} arrows between them", rooms.count, rooms.floors, rooms.arrows);
    println!("{} of them back up: {}", rooms.back.len(), rooms.back.join(", "));
    let mut findings = Vec::new();
    for circle in &circles {
        println!("a circle of {} files: {}", circle.len(), circle.join(" "));
        if circle.len() > CIRCLE_FILES_MAX {
            let within = arrows.within(circle);
            let within = within.iter().map(|(from, to)| format!("{from} uses {to}"));
            findings.push(format!("{} files use each other in a circle:", circle.len()));
            findings.extend(within);
        }
    }
    check("TIDY-T16: cut a circle at the arrow that leads back up", &findings);
}

/// TIDY-T16: what counts as an arrow.
#[test]
fn tidy_t16_arrows_are_read_from_paths() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let arrows = Arrows::of_texts(&[
        file("lib.rs", "mod a; mod b; mod c; pub use b::deep::Deep;"),
        file("a.rs", "use crate::b::{self, Known, deep::Deep as D}; // crate::c::not_this"),
        file("b/deep.rs", "fn f() { super::super::c::g(\"crate::a::text\"); mod m { use super::Deep; } }"),
        file("b/mod.rs", "mod deep; mod known; pub use known::Known; const X: char = '\\'; "),
        file("b/known.rs", "#[cfg(test)]\nmod tests { use crate::a::A; }"),
        file("c.rs", "fn g<'a>(of: &'a crate::Deep) { self::h(); b::none(); let x = r\"crate::a\"; }"),
    ]);
    let named: Vec<String> = arrows
        .arrows
        .iter()
        .map(|(from, to)| format!("{} -> {}", arrows.files[*from], arrows.files[*to]))
        .collect();
    let expected = [
        "a.rs -> b/deep.rs",
        "a.rs -> b/mod.rs",
        "a.rs -> b/known.rs",
        "b/deep.rs -> c.rs",
        "c.rs -> b/deep.rs",
    ];
    assert_eq!(named, expected);
    assert_eq!(arrows.circles(), [["b/deep.rs", "c.rs"]]);
    assert_eq!(arrows.within(&["b/deep.rs", "c.rs"]).len(), 2);
    let rooms = arrows.rooms();
    assert_eq!((rooms.count, rooms.arrows, rooms.floors), (3, 3, 3));
    assert_eq!(rooms.back, ["c -> b"]);
}
