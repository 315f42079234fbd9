//! `chipdock cache`: lists, measures and clears the kept builds.

use std::path::PathBuf;
use std::time::SystemTime;

use chipdock_host::shown::{LINE_CHARS_MAX, shown};
use chipdock_host::{COMPILE_CACHE, CompileCache, KeptBuild};
use chipdock_plugin_api::files::cache::folder_of_process;
use chipdock_plugin_api::files::kept::{Cleared, KeptCache, KeptFile, all_in};
use serde_json::{Value, json};

use super::failure;
use crate::args::{CacheAction, CacheArgs, GlobalArgs};
use crate::report::{Failure, Result};
use crate::{output, table};

/// Greatest number of functions of a build that a row names; `--json` has all of them.
const FUNCTIONS_MAX: usize = 4;

/// Lists, measures or clears. Opens no plugin.
pub(crate) fn run(args: &CacheArgs, global: &GlobalArgs) -> Result<()> {
    let size_bytes_max = CompileCache::size_bytes_max_of_process().map_err(|error| failure(&error))?;
    let folder = folder_of_process();
    let caches = folder.as_deref().map(all_in).unwrap_or_default();
    let all = All { folder, size_bytes_max, caches };
    match args.action {
        CacheAction::List => all.list(global),
        CacheAction::Size => all.size(global),
        CacheAction::Clear => all.clear(global),
    }
}

/// Every cache of this environment.
struct All {
    folder: Option<PathBuf>,
    size_bytes_max: u64,
    caches: Vec<KeptCache>,
}

/// A kept build, with its description where that can be read.
struct Row {
    file: KeptFile,
    build: Option<KeptBuild>,
}

impl All {
    /// Returns the common fields of each form of the answer; `more` adds that form's own.
    fn to_json(&self, action: &str, more: impl FnOnce(&mut Value)) -> Value {
        let mut object = json!({
            "schema": "chipdock.cache/1",
            "action": action,
            "folder": self.folder.as_ref().map(|folder| folder.to_string_lossy()),
            "size_bytes_max": self.size_bytes_max,
        });
        more(&mut object);
        object
    }

    /// Returns the place of the caches in a line, or the reason why there is none.
    fn place(&self) -> String {
        let Some(folder) = &self.folder else {
            return "nothing is kept: CHIPDOCK_CACHE_DIR is empty, or there is no HOME".to_owned();
        };
        let folder = folder.display().to_string();
        format!("in {}", shown(&folder, LINE_CHARS_MAX))
    }

    fn list(&self, global: &GlobalArgs) -> Result<()> {
        let own = self.caches.iter().find(|cache| cache.name() == COMPILE_CACHE);
        let row = |cache: &KeptCache, file: KeptFile| Row { build: KeptBuild::of(cache, &file.name), file };
        let rows: Vec<Row> =
            own.map(|own| own.files().into_iter().map(|file| row(own, file)).collect()).unwrap_or_default();
        if global.json {
            let builds: Vec<Value> = rows.iter().map(Row::to_json).collect();
            return output::print_json(&self.to_json("list", |object| object["builds"] = builds.into()));
        }
        let size_bytes: u64 = rows.iter().map(|row| row.file.size_bytes).sum();
        let mut text = String::new();
        if !rows.is_empty() {
            let mut lines = table::new(&["TARGET", "PLUGIN", "FUNCTIONS", "SIZE", "USED", "KEY"]);
            for row in &rows {
                lines.add_row(row.cells());
            }
            text = table::text(&lines) + "\n";
        }
        let (count, size) = (rows.len() as u64, table::size(size_bytes));
        let most = table::size(self.size_bytes_max);
        text.push_str(&match &self.folder {
            Some(_) => format!("{}, {size} of at most {most}, {}\n", many(count, "build"), self.place()),
            None => self.place() + "\n",
        });
        output::print(&text)
    }

    fn size(&self, global: &GlobalArgs) -> Result<()> {
        let sizes: Vec<(u64, u64)> = self.caches.iter().map(size_of).collect();
        if global.json {
            let one = |(cache, (files, size_bytes)): (&KeptCache, &(u64, u64))| {
                json!({"name": cache.name(), "files": files, "size_bytes": size_bytes,
                       "folder": cache.path().to_string_lossy()})
            };
            let caches: Vec<Value> = self.caches.iter().zip(&sizes).map(one).collect();
            return output::print_json(&self.to_json("size", |object| object["caches"] = caches.into()));
        }
        let mut lines = table::new(&["CACHE", "FILES", "SIZE", "FOLDER"]);
        for (cache, (files, size_bytes)) in self.caches.iter().zip(&sizes) {
            let folder = cache.path().display().to_string();
            lines.add_row([cache.name(), &files.to_string(), &table::size(*size_bytes), &folder]);
        }
        if self.caches.is_empty() {
            let nothing = if self.folder.is_some() { "no caches " } else { "" };
            return output::print(&format!("{nothing}{}\n", self.place()));
        }
        output::print(&table::text(&lines))
    }

    fn clear(&self, global: &GlobalArgs) -> Result<()> {
        let mut all = Cleared::default();
        for cache in &self.caches {
            let cleared = cache.clear();
            all.files += cleared.files;
            all.size_bytes += cleared.size_bytes;
            all.left += cleared.left;
        }
        if all.left > 0 {
            let what = format!("{} of the caches could not be removed", many(all.left, "file"));
            return Err(Failure::work(what).help("see who owns them, and the permissions of their folder"));
        }
        if global.json {
            return output::print_json(&self.to_json("clear", |object| {
                object["removed"] = json!({"files": all.files, "size_bytes": all.size_bytes});
            }));
        }
        if self.folder.is_none() {
            return output::print(&(self.place() + "\n"));
        }
        let size = table::size(all.size_bytes);
        output::print(&format!("removed {}, {size}, {}\n", many(all.files, "file"), self.place()))
    }
}

impl Row {
    /// Returns the digest by which the build is found.
    fn key(&self) -> String {
        let name = self.file.name.to_string_lossy();
        name.split('.').next().unwrap_or_default().to_owned()
    }

    fn age_seconds(&self) -> u64 {
        SystemTime::now().duration_since(self.file.used).map_or(0, |age| age.as_secs())
    }

    fn to_json(&self) -> Value {
        let build = self.build.as_ref();
        json!({
            "key": self.key(),
            "size_bytes": self.file.size_bytes,
            "age_seconds": self.age_seconds(),
            "target_kind": build.map(|build| &build.target_kind),
            "plugin": build.map(|build| &build.plugin),
            "plugin_version": build.map(|build| &build.plugin_version),
            "functions": build.map(|build| &build.functions),
        })
    }

    fn cells(&self) -> [String; 6] {
        // Of another version of Chipdock, or damaged: not used, and removed in its turn.
        let unknown = || "?".to_owned();
        let build = self.build.as_ref();
        [
            build.map_or_else(unknown, |build| build.target_kind.clone()),
            build.map_or_else(unknown, |build| format!("{} {}", build.plugin, build.plugin_version)),
            build.map_or_else(unknown, functions),
            table::size(self.file.size_bytes),
            age(self.age_seconds()),
            self.key().chars().take(12).collect(),
        ]
    }
}

fn functions(build: &KeptBuild) -> String {
    let named = build.functions.iter().take(FUNCTIONS_MAX).cloned().collect::<Vec<_>>().join(" ");
    match build.functions.len().saturating_sub(FUNCTIONS_MAX) {
        0 => named,
        more => format!("{named} … and {more} more"),
    }
}

/// Returns the number of files of a cache, and their total size in bytes.
fn size_of(cache: &KeptCache) -> (u64, u64) {
    let files = cache.files();
    (files.len() as u64, files.iter().map(|file| file.size_bytes).sum())
}

/// Returns a count with its noun.
fn many(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Returns how long ago the last use was, as exactly as its time is kept.
fn age(seconds: u64) -> String {
    match seconds {
        0..600 => "just now".to_owned(),
        600..7200 => format!("{} min ago", seconds / 60),
        7200..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_for_a_person() {
        for (seconds, expected) in [
            (0, "just now"),
            (599, "just now"),
            (600, "10 min ago"),
            (7199, "119 min ago"),
            (7200, "2 h ago"),
            (172_799, "47 h ago"),
            (172_800, "2 days ago"),
        ] {
            assert_eq!(age(seconds), expected);
        }
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!((many(0, "build"), many(1, "build")), ("0 builds".to_owned(), "1 build".to_owned()));
    }

    #[test]
    fn many_functions_are_counted() {
        let build = |count: usize| KeptBuild {
            plugin: String::new(),
            plugin_version: String::new(),
            target_kind: String::new(),
            functions: (0..count).map(|index| format!("f{index}")).collect(),
        };
        assert_eq!(functions(&build(4)), "f0 f1 f2 f3");
        assert_eq!(functions(&build(6)), "f0 f1 f2 f3 … and 2 more");
    }
}
