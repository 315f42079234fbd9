//! Plugins that crash, hang, exit, print, fork or change state of the process: none of it reaches
//! the report, and each fault is attributed to the right case (SUITE-S7, SUITE-S9 to SUITE-S12,
//! SUITE-S14, SUITE-S17). The plugins are the C template with one fault each (`bad/bad.c`), and the
//! reference plugin with a fault planted in its code generator.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use chipdock_conformance::case::Seeds;
use chipdock_conformance::expectations::Expectations;
use chipdock_conformance::report::{CaseReport, LevelState};
use chipdock_conformance::run::{Options, Progress, RunError, supervise};
use chipdock_conformance::{Level, Report, Status};
use chipdock_test_support::command::built;

use super::mutants::{planted, reference};

/// Where a bad plugin misbehaves.
const FIRST: &str = "query/exist/first@bad";
/// What is run after it, and has to pass.
const NEXT: &str = "query/exist/past-the-last@bad";

/// One bad plugin in a folder of its own.
struct Bad {
    folder: tempfile::TempDir,
    options: Options,
}

impl Bad {
    fn new(what: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let library = folder.path().join("bad.so");
        let state = folder.path().join("state");
        let mut command = Command::new("cc");
        command.args(["-std=gnu99", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread"]);
        command.arg("-I").arg(root.join("plugin-api/abi/include"));
        command.arg("-I").arg(root.join("examples/plugin-template-c"));
        command.arg(format!("-DBAD=\"{what}\"")).arg(format!("-DSTATE=\"{}\"", state.display()));
        command.arg(root.join("host/conformance/tests/bad/bad.c")).arg("-o").arg(&library).arg("-lm");
        assert!(command.status().expect("a C compiler").success(), "{command:?}");
        Self::over(folder, library)
    }

    /// The reference plugin with a fault planted; kernels of one module for a run over some
    /// examples, of one of its target kinds.
    fn planted(fault: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let library = folder.path().join("planted.so");
        planted(&reference(), fault, &library);
        let mut bad = Self::over(folder, library);
        let kernels = ["add", "compare_select", "saturating_add_u8"];
        bad.options.filters =
            kernels.iter().map(|name| format!("kernel/example/{name}/*@reference")).collect();
        bad.options.level = Level::Codegen;
        bad
    }

    fn over(folder: tempfile::TempDir, library: PathBuf) -> Self {
        let options = Options {
            library,
            settings: Vec::new(),
            worker: (built().command.clone(), vec!["__conformance-worker".to_owned()]),
            level: Level::Full,
            filters: vec!["query/exist/*".to_owned()],
            expectations: Expectations::default(),
            companions: Vec::new(),
            trust: vec![folder.path().to_owned()],
            seeds: Seeds::default(),
            jobs: 2,
            patience: 1.0,
            again: false,
            repro_folder: folder.path().join("repros"),
            repeat: Vec::new(),
        };
        Self { folder, options }
    }

    fn filter(mut self, filter: &str) -> Self {
        self.options.filters = vec![filter.to_owned()];
        self
    }

    fn again(mut self) -> Self {
        self.options.again = true;
        self
    }

    /// For what hangs: with deadlines of a few seconds.
    fn impatient(mut self) -> Self {
        self.options.patience = 0.3;
        self
    }

    fn expecting(mut self, text: &str) -> Self {
        self.options.expectations = Expectations::parse(text).expect("expectations");
        self
    }

    fn run(&self) -> Report {
        self.try_run().expect("a report")
    }

    fn try_run(&self) -> Result<Report, RunError> {
        supervise(&self.options, &mut |_: Progress<'_>| {})
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }
}

fn case<'r>(report: &'r Report, id: &str) -> &'r CaseReport {
    let found = report.cases.iter().find(|case| case.id == id);
    found.unwrap_or_else(|| panic!("no case {id} in {report:#?}"))
}

fn status(report: &Report, id: &str) -> Status {
    case(report, id).status
}

/// The first case ended its process so; the next one passed, and nothing else was charged.
fn dies(what: &str, signal: Option<i32>, exit_code: Option<i32>, says: &str) -> CaseReport {
    let report = Bad::new(what).run();
    let first = case(&report, FIRST);
    let death = first.death.as_ref().unwrap_or_else(|| panic!("no death in {first:#?}"));
    assert_eq!(
        (first.status, death.signal, death.exit_code),
        (Status::Crashed, signal, exit_code),
        "{first:#?}"
    );
    assert!(death.text.contains(says), "{}", death.text);
    assert_eq!(status(&report, NEXT), Status::Passed, "SUITE-S9: the run goes on");
    assert_eq!((report.cases.len(), report.exit), (2, 5), "{report:#?}");
    assert_eq!(report.faults, Vec::<String>::new());
    first.clone()
}

/// Nothing of what the plugin did is to be seen.
fn passes(what: &str) -> (Bad, Report) {
    let bad = Bad::new(what);
    let started = Instant::now();
    let report = bad.run();
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    let unfine: Vec<&CaseReport> = report.unfine().collect();
    assert!(unfine.is_empty(), "{unfine:#?}");
    assert_eq!((report.cases.len(), report.exit, &report.faults), (2, 0, &Vec::new()));
    (bad, report)
}

#[test]
fn suite_s9_a_signal_is_charged_to_the_case_with_its_stack() {
    let first = dies("segfault", Some(libc::SIGSEGV), None, "killed by signal 11 (SIGSEGV)");
    let death = first.death.expect("seen above");
    assert!(death.backtrace[0].starts_with("crash_here +"), "{:#?}", death.backtrace);
    assert!(death.backtrace[0].contains("(bad.so)"), "{:#?}", death.backtrace);
    assert!(death.backtrace.iter().any(|frame| frame.starts_with("bad_attribute")), "{:#?}", death.backtrace);
    assert_eq!(death.backtrace.last().map(String::as_str), Some("called by the suite"));
    assert!(first.repeat.ends_with(&format!("bad.so --filter '{FIRST}'")), "{}", first.repeat);
}

#[test]
fn suite_s9_an_abort_and_a_trap_too() {
    let first = dies("abort", Some(libc::SIGABRT), None, "SIGABRT");
    let backtrace = first.death.expect("seen above").backtrace;
    assert!(backtrace.iter().any(|frame| frame.contains("bad.so")), "{backtrace:#?}");
    #[cfg(target_arch = "x86_64")]
    dies("trap", Some(libc::SIGILL), None, "SIGILL");
}

#[test]
fn suite_s9_an_exit_inside_the_plugin_is_charged_to_the_case() {
    dies("exit0", None, Some(0), "ended its process with code 0");
    dies("exit3", None, Some(3), "ended its process with code 3");
}

#[test]
fn suite_s9_a_hang_is_ended_at_its_deadline_with_its_stack() {
    for what in ["sleep", "spin"] {
        let report = Bad::new(what).impatient().run();
        let first = case(&report, FIRST);
        let death = first.death.as_ref().expect("a death");
        assert_eq!((first.status, report.exit), (Status::Hung, 5), "{first:#?}");
        assert!(death.text.starts_with("silent for "), "{}", death.text);
        assert!(death.backtrace.iter().any(|frame| frame.contains("bad.so")), "{death:#?}");
        assert!(first.seconds >= 1.0 && first.seconds < 30.0, "{}", first.seconds);
        assert_eq!(status(&report, NEXT), Status::Passed, "SUITE-S9: the run goes on");
    }
}

#[test]
fn suite_s9_a_plugin_that_is_not_well_after_a_crash_is_reported() {
    let report = Bad::new("unwell").run();
    let unwell = case(&report, &format!("load/health-after/{FIRST}"));
    let found = &unwell.failure.as_ref().expect("a failure").found;
    assert_eq!(unwell.status, Status::Failed);
    assert!(found.contains("DeviceLost: the device is lost for good"), "{found}");
}

#[test]
fn suite_s9_the_end_of_a_process_is_part_of_a_case_that_ends_it() {
    let bad = Bad::new("destructor").filter("load/end/after-opening");
    let report = bad.run();
    let end = case(&report, "load/end/after-opening");
    let death = end.death.as_ref().expect("a death");
    assert_eq!((end.status, death.exit_code, report.exit), (Status::Crashed, Some(3), 5));
    assert_eq!(death.text, "ended its process with code 3 at the end of its process");
    let report = Bad::new("destructor-hangs").filter("load/end/after-opening").impatient().run();
    assert_eq!((status(&report, "load/end/after-opening"), report.exit), (Status::Hung, 5));
    // Others end without destructors: theirs is not the fault.
    let report = Bad::new("destructor").run();
    assert_eq!(report.exit, 0, "{report:#?}");
}

#[test]
fn suite_s10_a_repeated_failure_is_a_failure() {
    let report = Bad::new("segfault").again().run();
    assert_eq!((status(&report, FIRST), report.exit), (Status::Crashed, 5));
}

#[test]
fn suite_s10_a_case_that_passes_alone_and_in_company_is_flaky() {
    let report = Bad::new("flaky").again().run();
    let first = case(&report, FIRST);
    assert_eq!((first.status, report.exit), (Status::Flaky, 5), "it crashed: {first:#?}");
    assert!(first.death.is_some() && first.reason.contains("passed when it was run again"));
}

#[test]
fn suite_s10_a_case_that_fails_only_after_another_depends_on_the_order() {
    let report = Bad::new("order").again().run();
    let next = case(&report, NEXT);
    assert_eq!(next.status, Status::OrderDependent, "{next:#?}");
    assert_eq!(next.reason, format!("it passes alone, and fails after {FIRST}"));
    assert!(next.repeat.ends_with(&format!("--filter '{FIRST}' --filter '{NEXT}'")), "{}", next.repeat);
    assert_eq!(status(&report, FIRST), Status::Passed);
}

#[test]
fn suite_s11_plugin_output_reaches_no_report() {
    passes("garbage");
    passes("fork-returns");
}

/// SUITE-S12 too: hundreds of megabytes go nowhere.
#[test]
fn suite_s11_a_flood_is_cut() {
    passes("flood");
}

#[test]
fn suite_s11_a_child_that_stays_neither_stalls_nor_survives() {
    let (bad, _) = passes("fork-stays");
    let child = fs::read_to_string(bad.state()).expect("the child's number");
    let is_there = || Path::new("/proc").join(child.trim()).join("cmdline").metadata().is_ok();
    let is_alive = || {
        let status = fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
        is_there() && !status.contains(") Z ")
    };
    let until = Instant::now() + Duration::from_secs(5);
    while is_alive() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!is_alive(), "the child {child} survives");
}

/// One in a session of its own is out of reach; it keeps the pipes, and that stalls nothing.
#[test]
fn suite_s11_a_child_that_goes_its_own_way_does_not_stall() {
    let (bad, _) = passes("fork-detached");
    let child = fs::read_to_string(bad.state()).expect("the child's number");
    let child: i32 = child.trim().parse().expect("a number");
    // SAFETY: the child of this test's own plugin.
    unsafe { libc::kill(child, libc::SIGKILL) };
}

#[test]
fn suite_s11_process_state_is_restored_after_a_case() {
    let report = Bad::new("changes").run();
    let first = case(&report, FIRST);
    let failure = first.failure.as_ref().expect("a failure");
    assert_eq!((first.status, failure.clause.as_deref()), (Status::Failed, Some("P10.10")));
    for what in ["floating-point mode", "umask", "signal mask", "locale", "folder"] {
        assert!(failure.found.contains(what), "{}", failure.found);
    }
    let next = case(&report, NEXT);
    assert_eq!(next.status, Status::Passed, "the plugin sees nothing of it: {next:#?}");
}

#[test]
fn suite_s11_a_closed_pipe_is_charged_to_who_closed_it() {
    dies("close", None, Some(120), "closed descriptors that are not its own");
}

#[test]
fn suite_s11_signal_handlers_hide_nothing() {
    passes("swallow-and-go-on");
    let report = Bad::new("swallow").impatient().run();
    let first = case(&report, FIRST);
    assert_eq!((first.status, status(&report, NEXT)), (Status::Hung, Status::Passed), "{first:#?}");
    let backtrace = &first.death.as_ref().expect("a death").backtrace;
    assert!(backtrace.iter().any(|frame| frame.contains("crash_here")), "{backtrace:#?}");
}

/// SUITE-S14: a plugin that is refused, or ends the process that opens it, is 3, and says under
/// which clause or how.
#[test]
fn suite_s14_a_plugin_that_does_not_open_is_refused() {
    for (what, says) in [
        ("refused", "P5.2: init failed: InternalError: it does not want to"),
        ("init", "the process that opened it was killed by signal 11 (SIGSEGV) in crash_here"),
        ("constructor", "the process that opened it ended its process with code 0"),
    ] {
        let report = Bad::new(what).filter("*").run();
        assert!(report.refused.starts_with(says), "{}", report.refused);
        assert_eq!(report.exit, 3, "{what}");
        assert!(
            report.cases.iter().any(|case| case.id.starts_with("image/")),
            "the file is looked at all the same"
        );
        assert!(report.cases.iter().all(|case| !case.id.contains('@')), "nothing is registered");
        assert!(report.levels.iter().all(|level| level.state == LevelState::NotReached));
    }
}

/// A device that crashes while the probe counts is a crash of the cases that count, not of the
/// plugin.
#[test]
fn suite_s9_a_crash_of_the_probe_affects_only_the_probed_cases() {
    let report = Bad::new("count").filter("query/{exist/first,count/*}@bad").run();
    assert_eq!(report.refused, "");
    assert!(report.notes[0].contains("the probe was killed by signal 11"), "{:?}", report.notes);
    assert_eq!((status(&report, FIRST), report.exit), (Status::Passed, 5));
    assert!(report.cases.iter().any(|case| case.status == Status::Crashed));
}

#[test]
fn suite_s14_a_filter_that_matches_nothing_is_usage() {
    let error = Bad::new("fine").filter("qery/*").try_run().expect_err("nothing matches");
    assert!(matches!(error, RunError::Usage(_)) && error.exit() == 2, "{error}");
    let mut bad = Bad::new("fine");
    bad.options.library = "/nowhere/at-all.so".into();
    assert_eq!(bad.try_run().expect_err("no such file").exit(), 2);
    let mut bad = Bad::new("fine");
    bad.options.worker.0 = "/nowhere/chipdock".into();
    assert_eq!(bad.try_run().expect_err("no worker").exit(), 7);
}

#[test]
fn suite_s7_an_expected_failure_runs_and_fails_no_run() {
    let expected =
        format!("[[case]]\nmatch = \"{FIRST}\"\nstatus = \"crash\"\nreason = \"known\"\nissue = \"#1\"\n");
    let report = Bad::new("segfault").expecting(&expected).run();
    let first = case(&report, FIRST);
    assert_eq!((first.status, report.exit), (Status::Expected, 0), "{first:#?}");
    assert!(first.death.is_some() && first.reason == "known (#1)", "it ran: {first:#?}");
    // Another end than the expected one is a failure.
    let report = Bad::new("exit3").expecting(&expected.replace("\"crash\"", "\"hang\"")).run();
    assert_eq!((status(&report, FIRST), report.exit), (Status::Crashed, 5));
}

#[test]
fn suite_s7_an_expectation_that_does_not_hold_is_stale() {
    let expected =
        format!("[[case]]\nmatch = \"{FIRST}\"\nstatus = \"fail\"\nreason = \"known\"\nissue = \"#1\"\n");
    let report = Bad::new("fine").expecting(&expected).run();
    assert_eq!((status(&report, FIRST), report.exit), (Status::Stale, 6));
    assert_eq!(report.stale.len(), 1, "{:?}", report.stale);
    let nothing = expected.replace(FIRST, "query/no-such-case*");
    let report = Bad::new("fine").expecting(&nothing).run();
    assert_eq!((report.exit, report.stale[0].what.as_str()), (6, "query/no-such-case*"));
    let expired =
        expected.replace("issue = \"#1\"", "until = \"2020-02-29\"").replace("\"fail\"", "\"crash\"");
    let report = Bad::new("segfault").expecting(&expired).run();
    let first = case(&report, FIRST);
    assert_eq!((first.status, report.exit), (Status::Crashed, 5), "the day has passed");
    assert_eq!(first.reason, "it was expected until 2020-02-29: known");
}

/// What ended badly, and how.
fn bad_ends(report: &Report) -> Vec<(&str, Status)> {
    report.unfine().map(|case| (case.id.as_str(), case.status)).collect()
}

/// Among the kernels of one module, those at which the code generator ends the process or hangs.
#[test]
fn suite_s17_the_kernel_that_ends_the_process_is_found_in_a_module() {
    let hanging = "kernel/example/saturating_add_u8/n-7@reference";
    let mut hang = Bad::planted("hangs-at-bytes").impatient();
    hang.options.patience = 0.1;
    hang.options.filters[2] = hanging.to_owned();
    for (bad, status, n_wrong) in
        [(Bad::planted("aborts-at-bytes"), Status::Crashed, 5), (hang, Status::Hung, 1)]
    {
        let report = bad.run();
        assert_eq!(report.cases.len(), 10 + n_wrong, "{status:?}");
        let wrong = bad_ends(&report);
        assert_eq!(wrong.len(), n_wrong, "{wrong:?}");
        let is_right =
            |(id, is): &(&str, Status)| id.starts_with("kernel/example/saturating_add_u8/") && *is == status;
        assert!(wrong.iter().all(is_right), "{wrong:?}");
    }
}

/// No kernel ends it alone: the case that had begun says so.
#[test]
fn suite_s17_an_end_that_needs_several_kernels_is_not_lost() {
    let report = Bad::planted("aborts-at-several").run();
    let wrong = bad_ends(&report);
    let [(id, Status::Crashed)] = wrong[..] else { panic!("{wrong:?}") };
    let text = &case(&report, id).death.as_ref().expect("a death").text;
    assert!(text.contains("SIGABRT") && text.contains("in one module"), "{text}");
    assert_eq!(report.cases.len(), 15);
}

/// Other kernels are computed wrongly where a later one is in their module.
#[test]
fn suite_s10_a_kernel_that_fails_only_with_a_later_one_depends_on_it() {
    let report = Bad::planted("adds-wrongly-beside-bytes").again().run();
    let wrong = bad_ends(&report);
    assert!(!wrong.is_empty(), "{report:#?}");
    for (id, status) in wrong {
        assert!(id.starts_with("kernel/example/add/") && status == Status::OrderDependent, "{id} {status:?}");
        let case = case(&report, id);
        assert!(case.reason.contains("fails together with kernel/example/saturating"), "{}", case.reason);
        assert!(case.repeat.contains("--filter 'kernel/example/saturating"), "{}", case.repeat);
    }
}
