//! Runs every command beside every fault; `outcomes.toml` contains the expected results. Rules are
//! those of the crate's front page.
//!
//! A run takes a sample of the conformance suite, which is slow, and everything else; a whole run
//! ([`chipdock_test_support::sample`]) takes everything, and then `BLESS=1` writes `RESULTS.md`.
//! `CHIPDOCK_ZOO=TEXT` takes the cells, such as `hangs-in-init run`, whose names contain the text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use chipdock_test_support::sample::Drawn;
use chipdock_test_zoo::cage::{Cage, KINDS, Kind, LONG_DEADLINE, SHORT_DEADLINES, Zoo};
use chipdock_test_zoo::compiled::{self, HEALTHY, here};
use chipdock_test_zoo::files::FILE_FAULTS;
use chipdock_test_zoo::judge::complaints;
use chipdock_test_zoo::table::{End, Table, Wanted};
use chipdock_test_zoo::watch::Ended;

/// So many commands at once: most of them wait, some for a deadline.
const AT_ONCE: usize = 8;

/// A fault of either sort.
struct Fault {
    name: String,
    what: String,
    library: String,
    spoil: fn(&std::path::Path),
    /// Whether it has texts that a person must not be shown as they are.
    is_forged: bool,
}

fn faults() -> Vec<Fault> {
    let sources = compiled::sources().into_iter().map(|source| Fault {
        library: source.name.clone(),
        is_forged: source.text.contains("FORGED") || source.name == HEALTHY,
        name: source.name,
        what: source.what,
        spoil: |_| {},
    });
    let files = FILE_FAULTS.iter().map(|fault| Fault {
        name: fault.name.to_owned(),
        what: fault.what.to_owned(),
        library: fault.library.to_owned(),
        spoil: fault.spoil,
        is_forged: fault.name.contains("forged"),
    });
    sources.chain(files).collect()
}

fn table() -> Table {
    let text = std::fs::read_to_string(here().join("outcomes.toml")).unwrap();
    Table::parse(&text).unwrap_or_else(|error| panic!("outcomes.toml: {error}"))
}

fn cache() -> PathBuf {
    // target/<profile>/deps/<test>
    let binary = std::env::current_exe().unwrap();
    binary.ancestors().nth(2).unwrap().join("zoo")
}

/// A run takes the suite beside one fault in so many.
const SHARE: usize = 20;

/// Result of one command beside one fault.
struct Result {
    cell: String,
    /// End of the command, in the form of the table.
    ended: String,
    took: Duration,
    memory_bytes: u64,
    wrong: Vec<String>,
    shown: String,
}

fn judged(zoo: &Zoo, library: &std::path::Path, fault: &Fault, kinds: &[Kind], table: &Table) -> Vec<Result> {
    let cage = zoo.cage(&fault.name, library, fault.spoil);
    kinds.iter().map(|kind| of_command(&cage, &fault.name, *kind, table)).collect()
}

/// Runs one command. Where its deadline is to end it, a busy machine may reach the deadline before
/// the call that hangs, so that a longer one is tried before the command is called wrong.
fn of_command(cage: &Cage<'_>, fault: &str, kind: Kind, table: &Table) -> Result {
    let wanted = table.wanted(fault, kind.name);
    let is_to_hang = wanted.as_ref().is_some_and(Wanted::hangs);
    let is_to_wait = wanted.as_ref().is_some_and(Wanted::waits);
    let tried = |deadline: u32| {
        let run = cage.run(kind, is_to_hang, deadline);
        let wanted = wanted.as_ref().map(|wanted| wanted.within(deadline));
        (complaints(kind, wanted.as_ref(), &run), run)
    };
    let deadlines = if is_to_wait { SHORT_DEADLINES } else { &[LONG_DEADLINE] };
    let (mut wrong, mut run) = tried(deadlines[0]);
    for deadline in &deadlines[1..] {
        if !wrong.is_empty() {
            println!("{fault} {}: once more within {deadline} s, after: {}", kind.name, wrong.join("; "));
            (wrong, run) = tried(*deadline);
        }
    }
    let cut = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(1500)]).into_owned();
    let (out, err) = (cut(&run.watched.stdout), cut(&run.watched.stderr));
    let is_any = wanted.is_some_and(|wanted| wanted.end == End::Any);
    Result {
        cell: format!("{fault} {}", kind.name),
        ended: if is_any { "any".to_owned() } else { ending(run.watched.ended) },
        took: run.watched.time,
        memory_bytes: run.watched.memory_bytes,
        wrong,
        shown: format!("    {:?}\n    out: {out:?}\n    err: {err:?}", run.watched.ended),
    }
}

fn ending(ended: Ended) -> String {
    match ended {
        Ended::Code(code) => code.to_string(),
        Ended::Signal(libc::SIGSEGV) => "SIGSEGV".to_owned(),
        Ended::Signal(libc::SIGABRT) => "SIGABRT".to_owned(),
        Ended::Signal(libc::SIGKILL) => "SIGKILL".to_owned(),
        Ended::Signal(signal) => format!("signal {signal}"),
        Ended::Never => "hangs".to_owned(),
    }
}

/// Returns the page `RESULTS.md` with the result of every command beside every fault.
fn results_page(faults: &[Fault], results: &[Result]) -> String {
    let ended: BTreeMap<&str, &str> =
        results.iter().map(|result| (result.cell.as_str(), result.ended.as_str())).collect();
    let kinds: Vec<&Kind> = KINDS.iter().filter(|kind| !kind.is_for_text && !kind.is_slow).collect();
    let mut page = "# What each command makes of each fault\n\nGenerated by this crate's test (`BLESS=1 cargo xtask test \
        every_command_does_as_wanted`): the exit code, the signal, or that it hangs; `any` where nothing is promised. Beside each \
        the good plugin was unharmed.\n\n| fault | what is wrong |"
        .to_owned();
    for kind in &kinds {
        page.push_str(&format!(" {} |", kind.name));
    }
    page.push_str(&format!("\n|---|---|{}\n", "---|".repeat(kinds.len())));
    for fault in faults {
        page.push_str(&format!("| {} | {} |", fault.name, fault.what));
        for kind in &kinds {
            let cell = format!("{} {}", fault.name, kind.name);
            page.push_str(&format!(" {} |", ended.get(cell.as_str()).copied().unwrap_or("-")));
        }
        page.push('\n');
    }
    page
}

fn check_results_page(faults: &[Fault], results: &[Result]) {
    let (page, path) = (results_page(faults, results), here().join("RESULTS.md"));
    if chipdock_test_support::is_blessing() {
        return std::fs::write(path, page).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    let changed: Vec<&str> = page.lines().filter(|line| !kept.lines().any(|kept| kept == *line)).collect();
    assert!(
        changed.is_empty(),
        "RESULTS.md has other lines; run with BLESS=1 and look at the diff:\n{changed:#?}"
    );
}

/// Whether a command is run beside a fault at all.
fn applies(fault: &Fault, kind: &Kind) -> bool {
    let only = std::env::var("CHIPDOCK_ZOO").unwrap_or_default();
    (!kind.is_for_text || fault.is_forged) && cell_of(fault, kind).contains(&only)
}

fn cell_of(fault: &Fault, kind: &Kind) -> String {
    format!("{} {}", fault.name, kind.name)
}

/// Runs those commands beside the faults that are taken.
fn results(faults: &[Fault], table: &Table, is_taken: impl Fn(&Fault, &Kind) -> bool + Sync) -> Vec<Result> {
    let libraries = compiled::libraries(&compiled::sources(), &cache());
    let zoo = Zoo::new(&libraries[HEALTHY]);
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
            let kinds: Vec<Kind> = KINDS.iter().filter(|kind| is_taken(fault, kind)).copied().collect();
            if !kinds.is_empty() {
                let done = judged(&zoo, &libraries[&fault.library], fault, &kinds, table);
                results.lock().unwrap().extend(done);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(work);
        }
    });
    results.into_inner().unwrap()
}

#[test]
fn every_command_does_as_wanted_beside_every_fault() {
    let (table, faults, started) = (table(), faults(), Instant::now());
    let results = results(&faults, &table, |fault, kind| !kind.is_slow && applies(fault, kind));
    report(&results, &table, started.elapsed());
    if std::env::var_os("CHIPDOCK_ZOO").is_none() {
        check_results_page(&faults, &results);
    }
}

#[test]
fn the_suite_does_as_wanted_beside_faults() {
    let (table, faults, started) = (table(), faults(), Instant::now());
    let cells = faults.iter().flat_map(|fault| {
        let kinds = KINDS.iter().filter(|kind| kind.is_slow && applies(fault, kind));
        kinds.map(|kind| cell_of(fault, kind))
    });
    // A case each that waits for its deadline takes a minute.
    let waits = |cell: &String| cell.contains("hangs") || cell.contains("forever");
    let (waiting, others): (Vec<String>, Vec<String>) = cells.partition(waits);
    let drawn = Drawn::of("broken plugins under the conformance suite", SHARE, others);
    let drawn_waiting = Drawn::of("plugins that hang, under the conformance suite", waiting.len(), waiting);
    let is_taken = |cell: &String| drawn.has(cell) || drawn_waiting.has(cell);
    let results = results(&faults, &table, |fault, kind| kind.is_slow && is_taken(&cell_of(fault, kind)));
    if !results.is_empty() {
        report(&results, &table, started.elapsed());
    }
}

fn report(results: &[Result], table: &Table, took: Duration) {
    let mut wrong = Vec::new();
    let mut pending = 0;
    for result in results {
        match (result.wrong.is_empty(), table.pending.get(&result.cell)) {
            (true, None) => {}
            (true, Some(_)) => println!("no longer pending: {}", result.cell),
            (false, Some(reason)) => {
                pending += 1;
                println!("pending: {}: {reason}", result.cell);
            }
            (false, None) => {
                wrong.push(format!("{}:\n  {}\n{}", result.cell, result.wrong.join("\n  "), result.shown));
            }
        }
    }
    let slowest = results.iter().max_by_key(|result| result.took).unwrap();
    let largest = results.iter().max_by_key(|result| result.memory_bytes).unwrap();
    println!(
        "{} commands in {:.1} s, {pending} pending; the slowest {} in {:.1} s, the largest {} with {} MiB",
        results.len(),
        took.as_secs_f64(),
        slowest.cell,
        slowest.took.as_secs_f64(),
        largest.cell,
        largest.memory_bytes >> 20
    );
    assert!(
        wrong.is_empty(),
        "{} of {} are not as wanted:\n{}",
        wrong.len(),
        results.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_table_and_the_faults_fit_together() {
    let table = table();
    let names: BTreeMap<String, String> =
        faults().into_iter().map(|fault| (fault.name, fault.what)).collect();
    assert!(names.len() > 80, "a zoo of {} is small", names.len());
    let unknown: Vec<&str> = table.faults().filter(|fault| !names.contains_key(*fault)).collect();
    assert!(unknown.is_empty(), "no such faults: {unknown:?}");
    let what: BTreeSet<&String> = names.values().collect();
    assert_eq!(what.len(), names.len(), "two faults say that the same is wrong");
}
