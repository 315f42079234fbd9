//! Checks SPIR-V with the tools of its makers: `spirv-val` validates words for the environment that
//! their artifact names, `spirv-as` assembles text. Without the tools, which Debian has in
//! `spirv-tools`, a test reports that it was skipped.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

use chipdock_host::Host;
use chipdock_host::artifact::Artifact;
use chipdock_ir::Target;
use serde_json::{Value, json};

/// The options of a target: what lavapipe reports, as Debian 12 has it.
const LAVAPIPE: &str = include_str!("../targets/lavapipe.json");

/// The targets for which everything is built: name, options.
///
/// # Panics
///
/// If the kept options are no JSON object.
#[must_use]
pub fn targets() -> [(&'static str, Value); 4] {
    let lavapipe: Value = serde_json::from_str(LAVAPIPE).expect("a JSON object");
    let mut address = lavapipe.clone();
    address["buffer_access"] = "address".into();
    address["debug_info"] = true.into();
    // What lavapipe lacks for float16 of its own, the other memory model, and arguments in a
    // uniform buffer.
    let mut halves = lavapipe.clone();
    halves["denorm_preserve"] = json!([16, 32, 64]);
    halves["memory_model"] = "glsl450".into();
    halves["max_push_constants_size"] = 0.into();
    // What Vulkan guarantees, which is less than the defaults.
    let minimum = json!({
        "max_num_threads": 128, "max_block_dimensions": [128, 128, 64], "max_per_stage_descriptor_storage_buffer": 4,
    });
    [("lavapipe", lavapipe), ("address", address), ("minimum", minimum), ("halves", halves)]
}

/// Returns the target with these options and host functions in C.
///
/// # Panics
///
/// If there is none.
#[must_use]
pub fn target(host: &Host, options: &Value) -> Arc<Target> {
    let mut json = options.clone();
    json["kind"] = "vulkan".into();
    json["host"] = json!({ "kind": "c" });
    let target = host.target(json.to_string()).unwrap_or_else(|error| panic!("{error}"));
    Arc::clone(target.target())
}

/// Returns the environment that an artifact names, as the tools call it.
///
/// # Errors
///
/// An index without versions, or with versions that the tools do not have together.
pub fn environment(index: &Value) -> Result<&'static str, String> {
    let version = |name: &str| {
        Some([index["options"]["needs"][name][0].as_u64()?, index["options"]["needs"][name][1].as_u64()?])
    };
    match (version("vulkan"), version("spirv")) {
        (Some([1, 1]), Some([1, 3])) => Ok("vulkan1.1"),
        (Some([1, 1]), Some([1, 4])) => Ok("vulkan1.1spv1.4"),
        (Some([1, 2]), Some([1, 3..=5])) => Ok("vulkan1.2"),
        (Some([1, 3 | 4]), Some([1, 3..=6])) => Ok("vulkan1.3"),
        found => Err(format!("no environment of the tools has these versions: {found:?}")),
    }
}

/// Runs a tool on bytes; returns what it writes, or `None` if it is not installed.
///
/// # Errors
///
/// What the tool reports.
fn run(tool: &str, args: &[&str], input: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let mut command = Command::new(tool);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            chipdock_test_support::setup::missing(&format!("{tool}: {error}"));
            return Ok(None);
        }
    };
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    // These tools read everything before they write.
    stdin.write_all(input).map_err(|error| format!("{tool}: {error}"))?;
    drop(stdin);
    let output = child.wait_with_output().map_err(|error| format!("{tool}: {error}"))?;
    if output.status.success() {
        return Ok(Some(output.stdout));
    }
    let said = [output.stderr, output.stdout].concat();
    Err(format!("{tool} {}: {}", args.join(" "), String::from_utf8_lossy(&said).trim()))
}

/// Validates words for an environment.
///
/// # Errors
///
/// What `spirv-val` reports.
pub fn validate(words: &[u8], environment: &str) -> Result<(), String> {
    run("spirv-val", &["--target-env", environment, "-"], words).map(drop)
}

/// Validates the words of an artifact for the environment that it names.
///
/// # Errors
///
/// No words, or as for [`environment`] and [`validate`].
pub fn check(artifact: &Artifact) -> Result<(), String> {
    let index: Value = serde_json::from_str(artifact.index_json()).map_err(|error| error.to_string())?;
    let words = artifact.section("spv").ok_or("the artifact has no section \"spv\"")?;
    validate(words.data(), environment(&index)?)
}

/// Assembles text; returns the words, or `None` if the tool is not installed.
///
/// # Errors
///
/// What `spirv-as` reports.
pub fn assemble(text: &str, environment: &str) -> Result<Option<Vec<u8>>, String> {
    run("spirv-as", &["--preserve-numeric-ids", "--target-env", environment, "-o", "-", "-"], text.as_bytes())
}
