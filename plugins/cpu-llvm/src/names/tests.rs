//! Tests of the tables against the installed library, which prints its own to standard error of a
//! child process.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::{Family, Names, nearest};
use crate::llvm::{MachineOptions, library};
use crate::triple::{ARCHITECTURES, Triple};

const CHILD: &str = "CHIPDOCK_NAMES_OF";

fn version() -> String {
    let [major, minor, patch] = library().unwrap().version;
    format!("{major}.{minor}.{patch}")
}

/// What the library prints for a family.
fn printed(family: Family) -> Names {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "names::tests::prints_its_names_when_asked", "--nocapture"])
        .env(CHILD, family.component())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{family:?}: {output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    let mut names = Names { version: version(), ..Names::default() };
    let mut list = None;
    for line in text.lines() {
        match line {
            "Available CPUs for this target:" => list = Some(&mut names.processors),
            "Available features for this target:" => list = Some(&mut names.features),
            _ => {
                let name = line.strip_prefix("  ").and_then(|line| line.split_once(" - "));
                if let (Some(list), Some((name, _))) = (&mut list, name) {
                    list.insert(name.trim().to_owned());
                }
            }
        }
    }
    names
}

/// No test of its own: the child of the test below.
#[test]
fn prints_its_names_when_asked() {
    let Ok(component) = std::env::var(CHILD) else { return };
    let family = Family::ALL.into_iter().find(|family| family.component() == component).unwrap();
    // Of MIPS it is the one of 32 bits that makes a machine for a processor that is none.
    let triple = ARCHITECTURES.iter().rfind(|known| known.family == family).unwrap().name.to_owned();
    let options =
        MachineOptions { triple, cpu: "help".into(), features: "+help".into(), ..MachineOptions::default() };
    library().unwrap().machine(&options).map(drop).unwrap();
}

fn written(names: &Names) -> String {
    let mut text = String::from(
        "# Printed by the library; BLESS=1 cargo test -p chipdock-plugin-cpu-llvm names writes it anew.\n",
    );
    let _ = writeln!(text, "LLVM {}", names.version);
    for (title, words) in [("processors", &names.processors), ("features", &names.features)] {
        let _ = write!(text, "{title}:");
        let mut width = usize::MAX;
        for word in words {
            if width.saturating_add(word.len() + 1) > 118 {
                text.push_str("\n ");
                width = 1;
            }
            let _ = write!(text, " {word}");
            width += word.len() + 1;
        }
        text.push('\n');
    }
    text
}

fn path(family: Family) -> PathBuf {
    let name = format!("src/names/{}.txt", family.component().to_lowercase());
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

#[test]
fn tables_are_what_the_library_prints() {
    for family in Family::ALL {
        let printed = printed(family);
        assert!(printed.processors.len() > 2 && printed.features.len() > 10, "{family:?}: {printed:?}");
        if chipdock_test_support::is_blessing() {
            std::fs::write(path(family), written(&printed)).unwrap();
            continue;
        }
        let kept = family.names();
        assert_eq!(written(kept), family.table(), "{family:?}: a table is written as BLESS=1 writes it");
        if kept.version == printed.version {
            assert_eq!(*kept, printed, "{family:?}: BLESS=1 writes the table anew");
            continue;
        }
        // Another minor version may have added names; it has dropped none.
        let lost: Vec<&String> = kept
            .processors
            .difference(&printed.processors)
            .chain(kept.features.difference(&printed.features))
            .collect();
        assert!(lost.is_empty(), "{family:?}: LLVM {} does not know {lost:?}", printed.version);
    }
}

#[test]
fn the_host_is_in_the_tables() {
    let host = library().unwrap().host();
    let family = Triple::parse(&host.triple).unwrap().architecture.family;
    assert!(family.names().processors.contains(&host.cpu), "{host:?}");
    for feature in host.features.split(',').filter(|feature| !feature.is_empty()) {
        assert!(family.names().features.contains(&feature[1..]), "{feature}");
    }
}

#[test]
fn the_library_has_every_architecture() {
    for known in ARCHITECTURES {
        let triple = Triple::parse(known.name).unwrap().to_string();
        let options = MachineOptions { triple, ..MachineOptions::default() };
        let layout = library().unwrap().machine(&options).unwrap().data_layout();
        assert!(layout.starts_with('e'), "{}: little-endian: {layout}", known.name);
        let is_narrow = layout.contains("-p:32:32");
        assert_eq!(known.bits, if is_narrow { 32 } else { 64 }, "{}: {layout}", known.name);
    }
}

#[test]
fn the_nearest_name_is_told_or_all_of_a_few() {
    let known = ["cortex-a53", "cortex-a55", "cortex-a72", "generic", "kryo", "saphira", "tsv110"];
    assert_eq!(nearest("Cortex-A72", known.into_iter()), "; the nearest known one is \"cortex-a72\"");
    assert_eq!(nearest("", known.into_iter()), "");
    assert_eq!(nearest("x", ["a", "b"].into_iter()), "; known are \"a\", \"b\"");
}
