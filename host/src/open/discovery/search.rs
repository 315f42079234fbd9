//! Search of the plugin folders.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::candidate::{Candidate, Source};
use super::trust::Trust;
use crate::environment::Environment;
use crate::files;
use crate::names::check_plugin_name;
use crate::open::manifest::{MANIFEST_SUFFIX, Manifest, manifest_path};
use crate::open::problem::{Problem, ProblemKind};
use crate::options::HostOptions;

/// The folder of plugins in a data folder.
const USER_FOLDER: &str = "chipdock/plugins";
/// The folder of plugins beside the executable.
const EXECUTABLE_FOLDER: &str = "plugins";
const LIBRARY_SUFFIX: &str = ".so";

/// Returns every place to search, in the order of rule FIND-D1.
pub(super) fn places(options: &HostOptions) -> Vec<(PathBuf, Source)> {
    let environment = &options.environment;
    let mut places: Vec<(PathBuf, Source)> =
        options.plugin_paths.iter().map(|path| (path.clone(), Source::Option)).collect();
    if let Some(paths) = &environment.plugin_path {
        // An empty entry would be the current directory.
        let paths = std::env::split_paths(paths).filter(|path| !path.as_os_str().is_empty());
        places.extend(paths.map(|path| (path, Source::Variable)));
    }
    places.extend(environment.data_home.iter().map(|folder| (folder.join(USER_FOLDER), Source::User)));
    places.extend(environment.system_folders.iter().map(|folder| (folder.clone(), Source::System)));
    places.extend(
        environment
            .executable_folder
            .iter()
            .map(|folder| (folder.join(EXECUTABLE_FOLDER), Source::Executable)),
    );
    places
}

/// Returns the reason why a place is not searched.
pub(super) fn ignored(environment: &Environment, path: &Path, source: Source) -> Option<String> {
    // The folder beside the executable is the user's, too, where a hard link to the executable
    // lies.
    if environment.raised_privileges && source != Source::System {
        return Some("ignored: the process has more privileges than whoever started it".to_owned());
    }
    if source == Source::Variable && path.is_relative() {
        return Some("ignored: a relative path would depend on the current directory".to_owned());
    }
    match std::fs::metadata(path) {
        // A path that the caller named and that does not exist is a candidate with a reason.
        Err(_) if source == Source::Option => None,
        Err(error) => Some(format!("not searched: {error}")),
        Ok(_) => None,
    }
}

/// Returns every plugin at a place: those of a folder, by name, or the one that the path names.
pub(super) fn candidates(path: &Path, source: Source, trust: &Trust) -> Vec<Candidate> {
    if path.is_dir() {
        return match stems(path) {
            Ok(stems) => {
                stems.into_iter().map(|(stem, met)| candidate(path, &stem, met, source, trust)).collect()
            }
            Err(error) => {
                let message = format!("cannot read the folder: {error}");
                vec![unread(path, source, Problem::new(ProblemKind::NoLibrary, message))]
            }
        };
    }
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    let Some(stem) = path.file_name().and_then(|name| stem_of(name, LIBRARY_SUFFIX)) else {
        let message = match broken_link(path) {
            Some(message) => message,
            None if !is_there(path) => format!("there is no file or folder {}", path.display()),
            None => format!("expected a folder or a file that ends in {LIBRARY_SUFFIX}"),
        };
        return vec![unread(path, source, Problem::new(ProblemKind::NoLibrary, message))];
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let met = Met { library: is_there(path), manifest: is_there(&manifest_path(path)) };
    vec![candidate(folder, &stem, met, source, trust)]
}

#[derive(Clone, Copy, Default)]
struct Met {
    library: bool,
    manifest: bool,
}

fn stems(folder: &Path) -> std::io::Result<BTreeMap<OsString, Met>> {
    let mut stems: BTreeMap<OsString, Met> = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        if let Some(stem) = stem_of(&name, LIBRARY_SUFFIX) {
            stems.entry(stem).or_default().library = true;
        } else if let Some(stem) = stem_of(&name, MANIFEST_SUFFIX) {
            stems.entry(stem).or_default().manifest = true;
        }
    }
    Ok(stems)
}

fn stem_of(name: &OsStr, suffix: &str) -> Option<OsString> {
    let stem = name.as_bytes().strip_suffix(suffix.as_bytes()).filter(|stem| !stem.is_empty())?;
    Some(OsStr::from_bytes(stem).to_os_string())
}

fn with_suffix(folder: &Path, stem: &OsStr, suffix: &str) -> PathBuf {
    let mut name = stem.to_os_string();
    name.push(suffix);
    folder.join(name)
}

/// Makes the candidate of a library or manifest. Rule FIND-D3 comes first: an untrusted file is not
/// read.
fn candidate(folder: &Path, stem: &OsStr, met: Met, source: Source, trust: &Trust) -> Candidate {
    let library = with_suffix(folder, stem, LIBRARY_SUFFIX);
    let manifest_path = met.manifest.then(|| with_suffix(folder, stem, MANIFEST_SUFFIX));
    // A trusted library is trusted whatever its folder is, and its manifest with it.
    let is_trusted = trust.is_trusted(&library);
    let judge = |path: &Path| if is_trusted { None } else { trust.problem(path) };
    let untrusted_manifest = manifest_path.as_deref().and_then(judge);
    let read = manifest_path.as_deref().filter(|_| untrusted_manifest.is_none()).map(Manifest::read_whole);
    let (manifest, manifest_sha256, bad_manifest) = match read {
        None => (None, None, None),
        Some(Ok((manifest, digest))) => (Some(manifest), Some(digest), None),
        Some(Err(error)) => (None, None, Some(Problem::new(ProblemKind::BadManifest, error.to_string()))),
    };
    let no_library = || {
        let missing = || (!met.library).then(|| format!("there is no {}", library.display()));
        missing().or_else(|| broken_link(&library)).map(|why| Problem::new(ProblemKind::NoLibrary, why))
    };
    let no_manifest = || {
        let why = broken_link(manifest_path.as_deref()?)?;
        Some(Problem::new(ProblemKind::Untrusted, why))
    };
    let no_file = || {
        let error = files::check_regular(&library).err()?;
        Some(Problem::new(ProblemKind::CannotOpen, error.message()))
    };
    let problem = no_library()
        .or_else(no_manifest)
        .or_else(|| judge(&library))
        .or(untrusted_manifest)
        .or_else(no_file)
        .or(bad_manifest);
    let name = manifest.as_ref().map_or_else(|| name_of_stem(stem), |manifest| manifest.name.clone());
    Candidate { name, library, manifest_path, manifest, manifest_sha256, source, problem }
}

/// Returns the reason why a link leads nowhere; `None` for anything else.
fn broken_link(path: &Path) -> Option<String> {
    let target = path.read_link().ok()?;
    let error = std::fs::metadata(path).err()?;
    Some(format!("{} is a link to {}, which cannot be examined: {error}", path.display(), target.display()))
}

fn unread(path: &Path, source: Source, problem: Problem) -> Candidate {
    let name = path.file_stem().map_or_else(|| "?".to_owned(), name_of_stem);
    Candidate {
        name,
        library: path.to_owned(),
        manifest_path: None,
        manifest: None,
        manifest_sha256: None,
        source,
        problem: Some(problem),
    }
}

/// Returns a plugin's name by its file alone: `libchipdock_plugin_my_npu` and `my-npu` are
/// `my-npu`.
fn name_of_stem(stem: &OsStr) -> String {
    let stem = stem.to_string_lossy().to_lowercase();
    let name = stem.strip_prefix("lib").unwrap_or(&stem);
    let name = name.strip_prefix("chipdock_plugin_").unwrap_or(name).replace('_', "-");
    if check_plugin_name(&name).is_ok() { name } else { stem }
}
