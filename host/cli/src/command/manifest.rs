//! `chipdock manifest`: a plugin's manifest from what it registers.

use std::fs;
use std::path::Path;

use chipdock_host::manifest::{Needs, generate, manifest_path};
use serde_json::json;

use super::failure;
use crate::args::{GlobalArgs, ManifestArgs};
use crate::output;
use crate::report::{Failure, Result};

/// Writes the manifest beside the plugin, or where `-o` says.
pub(crate) fn run(args: &ManifestArgs, global: &GlobalArgs) -> Result<()> {
    if !args.plugin.is_file() {
        return Err(Failure::input("no such file; expected a plugin").in_file(&args.plugin));
    }
    let needs = args.needs.as_deref().map(read_needs).transpose()?.unwrap_or_default();
    let manifest = generate(&args.plugin, &needs).map_err(|error| failure(&error).in_file(&args.plugin))?;
    let text = manifest.to_text().map_err(|error| failure(&error))?;
    let path = args.output.clone().unwrap_or_else(|| manifest_path(&args.plugin));
    if path.as_os_str() == "-" {
        return output::print(&text);
    }
    output::write_file(&path, text.as_bytes())?;
    if global.json {
        let written = json!({"schema": "chipdock.manifest/1", "manifest": path, "content": manifest});
        return output::print_json(&written);
    }
    output::print(&format!("{}\n", path.display()))
}

fn read_needs(path: &Path) -> Result<Needs> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::input(format!("cannot read the needs: {error}")).in_file(path))?;
    serde_json::from_str(&text).map_err(|error| {
        let place = format!("{}:{}:{}", path.display(), error.line(), error.column());
        Failure::input(format!("not a plugin's needs: {error}"))
            .at(place)
            .help("a JSON object of libraries, driver, cpu_features, programs, glibc, requires, uses")
    })
}
