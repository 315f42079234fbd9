//! The results of a run: saved row by row, and kept for each processor in `bench/results`.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::peaks::peak;
use super::report::Entry;
use super::rows::Work;
use super::streams::Streams;
use super::topi::Kernel;
use crate::Result;

/// Name and version of the schema.
pub const SCHEMA: &str = "chipdock.bench.speed/1";

/// One of the machine's own limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Name of the limited quantity.
    pub name: String,
    /// Number of threads.
    pub threads: usize,
    /// Largest measured value.
    pub value: f64,
    /// Unit: `GB/s`, `GFLOP/s` or `GOP/s`.
    pub unit: String,
}

/// Results of one processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Name and version of the schema, [`SCHEMA`].
    pub schema: String,
    /// Name of the processor's design.
    pub processor: String,
    /// Day in UTC, in the form `2026-05-30`.
    pub date: String,
    /// What the machine is.
    pub machine: BTreeMap<String, String>,
    /// Fingerprint of the plugins and of the peers' scripts.
    pub build: String,
    /// Versions of the peers, as each process of theirs reports it.
    pub peers: Value,
    /// Number of rounds of each contest.
    pub rounds: usize,
    /// The machine's limits.
    pub limits: Vec<Limit>,
    /// Rows.
    pub rows: Vec<Entry>,
    /// Kernels of TOPI.
    pub topi: Vec<Kernel>,
    /// What this processor cannot run, and why.
    pub not_run: BTreeMap<String, String>,
}

impl Results {
    /// Returns the row of that name with that number of threads.
    #[must_use]
    pub fn row(&self, name: &str, threads: usize) -> Option<&Entry> {
        self.rows.iter().find(|entry| entry.name == name && entry.threads == threads)
    }

    /// Returns the value of a limit.
    #[must_use]
    pub fn limit(&self, name: &str, threads: usize) -> Option<f64> {
        let found = self.limits.iter().find(|limit| limit.name == name && limit.threads == threads);
        found.map(|limit| limit.value)
    }

    /// Reads the results of a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has another form.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let results: Self = serde_json::from_str(&text)
            .map_err(|error| format!("{}: {error}; measure anew", path.display()))?;
        if results.schema == SCHEMA {
            Ok(results)
        } else {
            Err(format!("{}: schema {}, expected {SCHEMA}; measure anew", path.display(), results.schema))
        }
    }

    /// Writes the results to a file, whole or not at all.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        write_whole(path, &format!("{text}\n"))
    }
}

/// Writes a file under another name and renames it, so that it is never incomplete.
pub(super) fn write_whole(path: &Path, text: &str) -> Result<()> {
    let fresh = path.with_extension(format!("fresh-{}", std::process::id()));
    fs::write(&fresh, text)
        .and_then(|()| fs::rename(&fresh, path))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns a hash of the contents of these files.
///
/// # Errors
///
/// A file cannot be read.
pub fn fingerprint(files: &[PathBuf]) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    for file in files {
        fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// Returns the folder of the results of all processors.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

/// Reads the results of all processors, in order of their names.
///
/// # Errors
///
/// A file is not readable, or is not named as the processor in it.
pub fn all(folder: &Path) -> Result<Vec<Results>> {
    // No folder: nothing was measured anywhere.
    let found = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_result = |path: &PathBuf| {
        let name = path.to_string_lossy();
        name.ends_with(".json") && !name.ends_with(REASONS)
    };
    let mut paths: Vec<PathBuf> = found.filter(is_result).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let results = Results::read(path)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if results.processor == stem {
            Ok(results)
        } else {
            Err(format!("{} has the results of {}", path.display(), results.processor))
        }
    };
    paths.iter().map(read).collect()
}

/// End of the name of the file that gives, by title, the reason of each row that did not reach its
/// goals.
pub const REASONS: &str = ".reasons.json";

/// Returns the file of a processor's reasons.
#[must_use]
pub fn reasons_file(folder: &Path, processor: &str) -> PathBuf {
    folder.join(format!("{processor}{REASONS}"))
}

/// Reads a file of reasons, by row; none if there is no file.
///
/// # Errors
///
/// The file is not an object of texts.
pub fn reasons(path: &Path) -> Result<BTreeMap<String, String>> {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text)
            .map_err(|error| format!("{}: {error}; expected an object of texts by rows", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Refuses a row that missed a goal without its reason, and a reason without such a row; `file` is
/// that of the reasons (SPEED-11).
///
/// # Errors
///
/// Lists these rows, or names the reason.
pub fn check(rows: &[Entry], reasons: &BTreeMap<String, String>, file: &Path) -> Result<()> {
    let file = file.file_name().unwrap_or_default().to_string_lossy();
    let missed: Vec<String> =
        rows.iter().filter(|entry| !entry.missed().is_empty()).map(Entry::key).collect();
    let has_reason = |key: &&String| reasons.get(*key).is_some_and(|why| !why.trim().is_empty());
    let without: Vec<&str> = missed.iter().filter(|key| !has_reason(key)).map(String::as_str).collect();
    if !without.is_empty() {
        return Err(format!(
            "these did not reach their goals; give the reason of each in {file} and bless again with --resume:\n  {}",
            without.join("\n  ")
        ));
    }
    match reasons.keys().find(|key| !missed.contains(key)) {
        None => Ok(()),
        Some(key) => Err(format!("{file} has a reason for `{key}`, which is no row that missed a goal")),
    }
}

/// Name of the limit of copying memory.
pub const COPY: &str = "copy, 1 read and 1 written";

/// Measures the machine's limits for that number of threads: the best of several.
#[must_use]
pub fn limits(threads: usize) -> Vec<Limit> {
    const BYTES: usize = 64 << 20;
    let mut all = Vec::new();
    for work in [Work::MultiplyAdds(1.0), Work::ByteMultiplyAdds(1.0), Work::Bf16MultiplyAdds(1.0)] {
        let rates = (0..7).filter_map(|_| peak(work, threads));
        if let Some((value, name)) = rates.max_by(|one, other| one.0.total_cmp(&other.0))
            && !all.iter().any(|limit: &Limit| limit.name == name)
        {
            all.push(Limit { name: name.to_owned(), threads, value, unit: work.amount().1.to_owned() });
        }
    }
    let streams = [
        (1, 0, BYTES, "1 read"),
        (0, 1, BYTES, "1 written"),
        (1, 1, BYTES, COPY),
        (2, 1, BYTES, "2 read and 1 written"),
        (1, 2, BYTES, "1 read and 2 written"),
        // As much as an example of 1 Mi float32 moves.
        (1, 1, 6 << 20, "copy within 12 MiB"),
    ];
    for (reads, writes, bytes, name) in streams {
        let ns = Streams::new(reads, writes, bytes, threads).nanoseconds(7);
        let value = ((reads + writes) * bytes) as f64 / ns;
        all.push(Limit { name: name.to_owned(), threads, value, unit: "GB/s".to_owned() });
    }
    all
}

/// Returns what a processor with these features cannot run.
#[must_use]
pub fn not_run(features: &[String]) -> BTreeMap<String, String> {
    let has = |name: &str| features.iter().any(|feature| feature == name);
    let instructions = [
        ("u8 x s8 by vpdpbusd", has("avx512_vnni") || has("avx_vnni"), "no AVX-512 VNNI or AVX-VNNI"),
        ("bf16 by vdpbf16ps", has("avx512_bf16"), "no AVX-512 BF16"),
        ("u8 x s8 by AMX tiles", has("amx_int8"), "no AMX"),
        ("bf16 by AMX tiles", has("amx_bf16"), "no AMX"),
        ("s8 x s8 by sdot", has("asimddp"), "no AArch64 dot products"),
        ("u8 x s8 by usdot", has("i8mm"), "no AArch64 i8mm"),
        ("bf16 by bfdot", has("bf16"), "no AArch64 BF16"),
    ];
    let absent = instructions.into_iter().filter(|(_, is_there, _)| !is_there);
    absent.map(|(what, _, why)| (what.to_owned(), why.to_owned())).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::report::{entry_for_tests as entry, example_for_tests as example};
    use super::super::run::to_json;
    use super::*;
    use crate::contest::spread;

    pub(crate) fn results(rows: Vec<Entry>) -> Results {
        let unit = "GB/s".to_owned();
        let ratio = spread(vec![0.5, 0.5, 0.5]);
        Results {
            schema: SCHEMA.to_owned(),
            processor: "some-lake".to_owned(),
            date: "2026-05-30".to_owned(),
            machine: [("machine".to_owned(), "2 × a processor".to_owned())].into(),
            build: "b".to_owned(),
            peers: serde_json::json!([{"versions": {"numpy": "2.4"}}]),
            rounds: 3,
            limits: vec![Limit { name: COPY.to_owned(), threads: 1, value: 12.5, unit }],
            rows,
            topi: vec![
                Kernel { name: "exp".to_owned(), ours: ratio, tvm: ratio, ratio, failed: String::new() },
                Kernel {
                    name: "sum".to_owned(),
                    ours: None,
                    tvm: None,
                    ratio: None,
                    failed: "why".to_owned(),
                },
            ],
            not_run: not_run(&[]),
        }
    }

    #[test]
    fn results_keep_their_schema_and_are_read_back() {
        let mut rows = vec![entry(1, 10.0, 9.5, 13.0), entry(2, 5.0, 4.8, 6.0)];
        rows[0].absent.insert("torch".to_owned(), "not installed".to_owned());
        rows[0].failed.push("c".to_owned());
        rows.push(example("add_of_tvm", None, &[1.0, 2.0], &[2.0, 2.0]));
        rows.push(example("a figure", Some(1.0), &[1.0, 2.0], &[]));
        let results = results(rows);
        chipdock_test_support::schemas::check(&to_json(&results).expect("JSON"));
        let folder = tempfile::tempdir().expect("a folder");
        results.write(&folder.path().join("some-lake.json")).expect("written");
        assert_eq!(all(folder.path()).expect("read"), std::slice::from_ref(&results));
        results.write(&folder.path().join("other-lake.json")).expect("written");
        assert!(all(folder.path()).expect_err("of another processor").contains("some-lake"));
    }

    #[test]
    fn supported_cases_are_not_listed_as_not_run() {
        let names = |features: &[&str]| -> Vec<String> {
            let features: Vec<String> = features.iter().map(|name| (*name).to_owned()).collect();
            not_run(&features).into_keys().collect()
        };
        assert!(names(&[]).len() == 7);
        let found = names(&["avx512_vnni", "amx_int8", "amx_bf16", "avx512_bf16"]);
        assert_eq!(found, ["bf16 by bfdot", "s8 x s8 by sdot", "u8 x s8 by usdot"]);
    }
}
