//! The rules of the tree, as tests: an invariant untested is a wish.
//!
//! * T1 Dependency arrows: `plugin-api/` never sees `host/`, plugins never see each other, nothing links a plugin.
//! * T2 Without `host/`, the workspace of plugins still resolves.
//! * T3 No backend's name stands in a string of `host/` or `plugin-api/`.
//! * T4 Every path named in README and ARCHITECTURE exists.
//! * T5 Each plugin's folder has one shape.
//! * T6 No source file is longer than 800 lines.
//! * T7 `unsafe` stands only where the boundary needs it (that each block says why is clippy's to check).
//! * T8 Nothing names a machine's path or a package registry's host.

use std::path::{Path, PathBuf};

/// The root of the repository.
///
/// # Panics
///
/// When this crate is not two folders below it.
#[must_use]
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).map(Path::to_path_buf).unwrap_or_default()
}

/// Every file below `folder` with one of the endings, in order of names; folders that hold no source are left out.
#[must_use]
pub fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if path.is_dir() {
            if !["target", ".git", "node_modules", "__pycache__"].contains(&name.as_str()) {
                found.extend(files(&path, endings));
            }
        } else if endings.is_empty() || endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
    found
}

/// The string literals of Rust source, with their lines; comments and everything from `#[cfg(test)]` on left out.
#[must_use]
pub fn string_literals(source: &str) -> Vec<(usize, String)> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let bytes = source.as_bytes();
    let (mut index, mut line, mut found) = (0, 1, Vec::new());
    while index < bytes.len() {
        let rest = &bytes[index..];
        if rest.starts_with(b"//") {
            index += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        } else if rest.starts_with(b"'\"'") || rest.starts_with(b"'\\'") {
            index += 3;
        } else if rest[0] == b'"' {
            let mut end = 1;
            while end < rest.len() && rest[end] != b'"' {
                end += if rest[end] == b'\\' { 2 } else { 1 };
            }
            let text = String::from_utf8_lossy(&rest[1..end.min(rest.len())]).into_owned();
            line += text.matches('\n').count();
            found.push((line, text));
            index += end + 1;
        } else {
            line += usize::from(rest[0] == b'\n');
            index += 1;
        }
    }
    found
}
