//! The seed of samples and of property tests, made from the committed files.

use std::hash::{DefaultHasher, Hasher as _};

use crate::commands::{output, root};

/// Variable of proptest that sets the seed of property tests; tests draw their samples by it too.
pub(crate) const VARIABLE: &str = "PROPTEST_RNG_SEED";

/// The records of earlier runs: what is run does not depend on them.
const RECORDS: &str = "\txtask/results/";

/// Returns the seed: the one that the user has set, or a digest of the committed files. So a run
/// can be repeated on the same commit, and the next commit draws other inputs. Changes that are not
/// committed do not count: a test that fails goes on failing while it is mended. Outside a
/// repository of git the seed is always the same.
pub(crate) fn seed() -> String {
    if let Ok(set) = std::env::var(VARIABLE) {
        return set;
    }
    let root = root().to_string_lossy().into_owned();
    let files = output("git", &["-C", &root, "ls-tree", "-r", "HEAD"]);
    if files.is_none() {
        eprintln!("git lists no committed files: the seed is that of an empty list");
    }
    from_files(&files.unwrap_or_default()).to_string()
}

/// A digest of the lines of `git ls-tree -r`, each with the digest and the path of a file.
fn from_files(lines: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    for line in lines.lines().filter(|line| !line.contains(RECORDS)) {
        hasher.write(line.as_bytes());
        hasher.write_u8(b'\n');
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_depends_on_each_file_but_the_records_of_runs() {
        let files = "100644 blob 1a\ta.rs\n100644 blob 2b\ttests/b.rs\n";
        let with_record = format!("{files}100644 blob 3c\txtask/results/gate.md\n");
        assert_eq!(from_files(&with_record), from_files(files));
        assert_ne!(from_files(&files.replace("2b", "2c")), from_files(files));
        assert_ne!(from_files(&files.replace("a.rs", "c.rs")), from_files(files));
    }
}
