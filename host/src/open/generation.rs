//! Makes the manifest of a plugin from its registrations, for its author.

use std::path::Path;
use std::sync::Arc;

use chipdock_plugin_api::names::check_interface;

use crate::boundary::registrar::Entry;
use crate::boundary::services::Services;
use crate::documents::{refuse_unknown, unknown_schema_fields};
use crate::error::{Error, ErrorKind};
use crate::files;
use crate::open::digest_memory::Digests;
use crate::open::loader::{self, Opened, Opening};
use crate::open::manifest::{MANIFEST_SCHEMA, Manifest, Needs, Platform, glibc_floor};
use crate::open::settings::{Settings, unknown_info_fields};

/// Makes a plugin's manifest from its registrations and its author's declarations. Opens the
/// library in this process, whose code stays loaded.
///
/// The manifest has the library's digest: library and manifest belong together, and another file
/// under the same name is refused.
///
/// # Errors
///
/// The reason why the plugin cannot be used, as an error; `ValueError` for needed keys that violate
/// P5.16, and for a schema with an unknown field or word, which a host would pass over (P3.9,
/// P3.10) and an author may have misspelt; `IoError` when the library cannot be read.
pub fn generate(library: &Path, needs: &Needs) -> Result<Manifest, Error> {
    generate_with(library, needs, &[])
}

/// Makes a plugin's manifest as [`generate`] does, with these settings (plugin, key, value) in
/// force. The plugin's registrations do not depend on them (S.10); whether it can be opened may.
///
/// # Errors
///
/// As [`generate`]; `ValueError` for a setting of another plugin, one that it does not declare, or
/// a value of another type.
pub fn generate_with(
    library: &Path,
    needs: &Needs,
    settings: &[(String, String, String)],
) -> Result<Manifest, Error> {
    let services = Services::leaked(Arc::new(|_, _| {}), None);
    let settings = Settings::said(settings);
    services.decide(settings.clone());
    let device_types = Arc::default();
    let name = library.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let opening = Opening {
        name: &name,
        library,
        manifest: None,
        locked: None,
        digests: &Arc::new(Digests::of_process(false)),
        services,
        device_types: &device_types,
        accept: &|_| None,
        // Put back; whoever opens the plugin to use it is told.
        changes: &std::cell::RefCell::default(),
    };
    let opened = loader::open(&opening)
        .map_err(|problem| problem.to_error(&name).at(library.display().to_string()))?;
    opened.instance.shut_down()?;
    settings.check_said(&opened.name, &opened.settings)?;
    manifest_of(library, needs, &opened)
}

/// Makes the manifest of an opened plugin.
fn manifest_of(library: &Path, needs: &Needs, opened: &Opened) -> Result<Manifest, Error> {
    let bytes = files::read_regular(library, files::LIBRARY_BYTES_MAX)
        .map_err(|error| error.while_doing("cannot read the library"))?;
    let mut needs = needs.clone();
    needs.glibc = needs.glibc.or_else(|| glibc_floor(&bytes));
    let entries = &opened.staged.entries;
    let mut kinds = Vec::new();
    for entry in entries.values() {
        let Entry::TargetKind(entry) = entry else { continue };
        entry.kind().map_err(|error| error.at(library.display().to_string()))?;
        let what = || format!("the schema of target kind \"{}\"", entry.declared.name());
        refuse_unknown(&what(), &unknown_schema_fields(&entry.schema)?, Some(&opened.name))
            .map_err(|error| error.at(library.display().to_string()))?;
        kinds.push(entry.declared.clone());
    }
    let unknown =
        unknown_info_fields(&opened.info).map_err(|message| Error::new(ErrorKind::BrokenPlugin, message))?;
    refuse_unknown("the descriptor's info", &unknown, Some(&opened.name))
        .map_err(|error| error.at(library.display().to_string()))?;
    let provides: Vec<String> = entries.keys().cloned().collect();
    let mut interfaces = provides.iter().filter_map(|key| key.split('/').nth(1));
    interfaces
        .try_for_each(|interface| check_interface(interface, &opened.name))
        .map_err(|message| Error::new(ErrorKind::BrokenPlugin, message).at(library.display().to_string()))?;
    needs.check_keys(&provides).map_err(|message| {
        Error::new(ErrorKind::Value, message)
            .at(library.display().to_string())
            .hint("take it out of the needs")
    })?;
    let platform = Platform::current();
    let manifest = Manifest {
        schema: MANIFEST_SCHEMA,
        name: opened.name.clone(),
        version: opened.version.clone(),
        vendor: None,
        licence: None,
        homepage: None,
        support: None,
        // Any minor of the major is accepted; the features that it cannot do without stand in
        // `needs.requires`.
        abi: semver::VersionReq::parse(&opened.abi.0.to_string())
            .map_err(|error| Error::new(ErrorKind::Internal, format!("ABI requirement: {error}")))?,
        os: platform.os,
        arch: platform.arch,
        provides,
        target_kinds: kinds,
        settings: opened.settings.clone(),
        needs,
        sha256: Some(files::sha256_of_bytes(&bytes)),
    };
    manifest.check().map_err(|message| Error::new(ErrorKind::BrokenPlugin, message))?;
    Ok(manifest)
}
