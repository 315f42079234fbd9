//! Prints and reads random modules, which must be equal afterwards; reads random text, which must
//! give an error or a module, never a panic, in short time.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use chipdock_ir::validate::validate;
use chipdock_ir::{IrModule, Stage, equal, print, testing::well_formed};
use chipdock_script::parse_at;
use chipdock_test_support::corpus;
use proptest::prelude::*;

/// Prints, reads, compares, and prints again.
fn round_trip(module: &IrModule, stage: Stage) -> Result<(), String> {
    let printed = print::module(module);
    let read = parse_at(&printed, "printed.py", stage).map_err(|errors| format!("{errors}\n{printed}"))?;
    equal::modules(module, &read).map_err(|why| format!("read back it differs: {why}\n{printed}"))?;
    let twice = print::module(&read);
    if twice == printed { Ok(()) } else { Err(format!("printed again it differs:\n{printed}\n{twice}")) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn modules_of_all_nodes_read_back(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let module = well_formed::whole_module(&bytes);
        prop_assert_eq!(validate(&module, Stage::Blocks), Ok(()));
        round_trip(&module, Stage::Blocks).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn programs_read_back(seed in any::<u64>().no_shrink()) {
        let case = chipdock_programs::arbitrary(seed, &chipdock_programs::Options::default());
        round_trip(&case.module, Stage::Blocks).map_err(TestCaseError::fail)?;
    }
}

fn texts() -> &'static [String] {
    static TEXTS: OnceLock<Vec<String>> = OnceLock::new();
    TEXTS.get_or_init(|| corpus().unwrap().into_iter().map(|file| file.text).collect())
}

/// Reads a text in bounded time; what is read goes around again.
fn survives(text: &str) -> Result<(), TestCaseError> {
    let start = Instant::now();
    match chipdock_script::parse(text, "f.py") {
        Ok(module) => round_trip(&module, Stage::Blocks).map_err(TestCaseError::fail)?,
        Err(errors) => {
            let shown = errors.to_string();
            prop_assert!(!shown.contains("a bug of ours"), "{}", shown);
            prop_assert!(shown.len() < 100_000, "{} bytes of errors", shown.len());
        }
    }
    // The longest script of the corpus takes milliseconds.
    prop_assert!(start.elapsed() < Duration::from_secs(20), "{:?} for {text}", start.elapsed());
    Ok(())
}

/// Words, numbers, strings, spaces and single signs, in order.
fn tokens(text: &str) -> Vec<&str> {
    let kind = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            0
        } else if c == ' ' {
            1
        } else {
            2
        }
    };
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let same = |c: char| kind(c) != kind(first) || kind(c) == 2;
        let end = rest.char_indices().skip(1).find(|(_, c)| same(*c)).map_or(rest.len(), |(at, _)| at);
        let (token, tail) = rest.split_at(end);
        out.push(token);
        rest = tail;
    }
    out
}

/// A change of a text: kind, position, length, and source position.
type Edit = (u8, usize, usize, usize);

/// Deletes, doubles, moves and exchanges items; some of them come from another text.
fn edited<'t>(items: &mut Vec<&'t str>, other: &[&'t str], edits: &[Edit]) {
    for (kind, at, length, from) in edits {
        if items.is_empty() {
            return;
        }
        let at = at % items.len();
        let end = (at + 1 + length % 8).min(items.len());
        match kind % 5 {
            0 => drop(items.drain(at..end)),
            1 => {
                let doubled = items[at..end].to_vec();
                items.splice(at..at, doubled);
            }
            2 => {
                let moved: Vec<&str> = items.drain(at..end).collect();
                let to = from % (items.len() + 1);
                items.splice(to..to, moved);
            }
            3 => {
                let with = from % items.len();
                items.swap(at, with);
            }
            _ if !other.is_empty() => {
                let from = from % other.len();
                let taken = other[from..(from + 1 + length % 8).min(other.len())].to_vec();
                items.splice(at..end, taken);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn edited_lines_are_errors_or_modules(
        file in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        edits in prop::collection::vec(any::<Edit>(), 1..5),
    ) {
        let (text, other) = (file.get(texts()), other.get(texts()));
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        edited(&mut lines, &other.split_inclusive('\n').collect::<Vec<_>>(), &edits);
        survives(&lines.concat())?;
    }

    #[test]
    fn edited_tokens_are_errors_or_modules(
        file in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        edits in prop::collection::vec(any::<Edit>(), 1..6),
    ) {
        let (text, other) = (file.get(texts()), other.get(texts()));
        let mut items = tokens(text);
        edited(&mut items, &tokens(other), &edits);
        survives(&items.concat())?;
    }

    #[test]
    fn edited_bytes_are_errors_or_modules(
        file in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = file.get(texts()).clone().into_bytes();
        for (at, byte) in &edits {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        survives(&String::from_utf8_lossy(&bytes))?;
    }
}
