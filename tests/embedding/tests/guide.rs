//! The table of the library's functions in the guide, as the library describes them.

use std::fmt::Write as _;
use std::process::Command;

use chipdock_test_embedding::run;
use chipdock_test_interop::environment::environment;
use chipdock_test_support::command::built;
use chipdock_test_support::{bless, workspace};
use serde_json::Value;

const PAGE: &str = "guide/docs/host-library.md";
const BEGIN: &str = "<!-- begin: printed by tests/embedding -->\n";
const END: &str = "<!-- end -->\n";

/// Prints what the library says of its functions.
const ASK: &str = "
import json, sys, tvm_ffi
library = tvm_ffi.load_module(sys.argv[1])
print(json.dumps([library.get_function_doc(name) for name in sys.argv[2:]]))
";

fn names() -> Vec<String> {
    let header =
        std::fs::read_to_string(workspace().join("host/ffi/include/chipdock_host.h")).expect("the header");
    let names = header.split("F(").skip(1).filter_map(|rest| rest.split(')').next());
    names.filter(|name| *name != "F").map(str::to_owned).collect()
}

/// FFI-1: with `BLESS=1` it writes the table.
#[test]
fn the_guide_lists_every_function() {
    let Some(environment) = environment("the table of functions") else { return };
    let newest = environment.releases.last().expect("a release");
    let mut command = Command::new(&environment.python);
    command.args(["-c", ASK]).arg(built().library()).args(names());
    let output = run(command.env("PYTHONPATH", environment.folder.join(newest)));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let docs: Vec<Value> = serde_json::from_slice(&output.stdout).expect("a list");
    let mut table = String::from("| Function | What it does |\n|---|---|\n");
    for doc in &docs {
        let (signature, text) =
            doc.as_str().expect("a text").split_once("\n\n").expect("a signature and a text");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(table, "| `{}` | {} |", signature.replace('|', "\\|"), text.replace('|', "\\|"));
    }
    let path = workspace().join(PAGE);
    let page = std::fs::read_to_string(&path).expect("the page");
    let (head, rest) = page.split_once(BEGIN).expect("the beginning of the table");
    let (_, tail) = rest.split_once(END).expect("the end of the table");
    bless(&path, &format!("{head}{BEGIN}{table}{END}{tail}")).unwrap_or_else(|why| panic!("{why}"));
}
