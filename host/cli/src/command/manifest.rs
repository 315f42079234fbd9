//! `chipdock manifest`: makes a plugin's manifest from its registrations.

use std::path::Path;

use chipdock_host::Error;
use chipdock_host::files::read_regular_text;
use chipdock_host::generation::generate_with;
use chipdock_host::manifest::{Manifest, Needs, manifest_path};
use chipdock_host::shown::{LINE_CHARS_MAX, shown};
use serde_json::json;

use super::{alone_on_standard_output, check_named, failure, plugin_failure, settings};
use crate::args::{GlobalArgs, ManifestArgs};
use crate::destination::{self, Destination};
use crate::output;
use crate::report::{Failure, Result};

/// Greatest size of the needs file, that of a manifest, which contains the needs.
const NEEDS_SIZE_BYTES_MAX: u64 = 1 << 20;

/// Writes the manifest beside the plugin, or to the path of `-o`.
pub(crate) fn run(args: &ManifestArgs, global: &GlobalArgs) -> Result<()> {
    if !args.plugin.exists() {
        return Err(Failure::input("no such file; expected a plugin").in_file(&args.plugin));
    }
    let settings = settings(global)?;
    check_named(&[&args.plugin], global)?;
    let needs = args.needs.as_deref().map(read_needs).transpose()?.unwrap_or_default();
    // Before the plugin is opened: it could change the folder.
    let path = args.output.clone().unwrap_or_else(|| manifest_path(&args.plugin));
    let destination = if path.as_os_str() == "-" { None } else { Some(Destination::resolve(&path)?) };
    alone_on_standard_output(&destination, global)?;
    let library = std::path::absolute(&args.plugin).unwrap_or_else(|_| args.plugin.clone());
    let mut manifest = generate_with(&library, &needs, &settings)
        .map_err(|error| opened_failure(&error).in_file(&args.plugin))?;
    manifest.vendor.clone_from(&args.vendor);
    manifest.licence.clone_from(&args.licence);
    manifest.homepage.clone_from(&args.homepage);
    manifest.support.clone_from(&args.support);
    let text = manifest.to_text().map_err(|error| failure(&error))?;
    // As whoever reads it does: what was stated here may be no text of one line (P5.19).
    Manifest::parse(&text).map_err(|error| failure(&error))?;
    let Some(destination) = destination else {
        return output::print_json_text(&text);
    };
    let took_standard_output = destination.is_standard_output();
    destination::write_file(destination, text.as_bytes())?;
    if took_standard_output {
        return Ok(());
    }
    if global.json {
        let path = path.to_string_lossy();
        let written = json!({"schema": "chipdock.manifest/1", "manifest": path, "content": manifest});
        return output::print_json(&written);
    }
    output::print(&format!("{}\n", shown(&path.to_string_lossy(), LINE_CHARS_MAX)))
}

/// Attributes an error of a wrong setting to the user, and all others to the plugin.
fn opened_failure(error: &Error) -> Failure {
    let is_said = error.message().starts_with("--config ") || error.place() == "--config";
    if is_said { failure(error) } else { plugin_failure(error) }
}

fn read_needs(path: &Path) -> Result<Needs> {
    let text = read_regular_text(path, NEEDS_SIZE_BYTES_MAX).map_err(|error| {
        Failure::input(format!("cannot read the needs: {}", error.message())).in_file(path)
    })?;
    Needs::parse(&text).map_err(|error| {
        let place = match error.place() {
            "" => path.display().to_string(),
            position => format!("{}:{position}", path.display()),
        };
        Failure::input(error.message())
            .at(place)
            .help("a JSON object of libraries, driver, cpu_features, programs, glibc, requires, uses, keys")
    })
}
